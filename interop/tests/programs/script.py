"""A failing program as a script of its own, which needs NumPy and partita and nothing of this folder."""

from __future__ import annotations

from programs.check import Failure
from programs.generate import Draft
from programs.language import Name

HEAD = '''\
import numpy as np
import partita as pt
from numpy import inf, nan

team = pt.Team({parts}, {devices})


def program(xp, own, seen, make, moved, force, look):
{lines}
    return {result}


def make(host, dist):
    return pt.asarray(host, team=team) if dist is None else pt.asarray(host, dist=dist)


# Results of partita are in C order.
with np.errstate(all="ignore"):
    theirs = program(
        np, lambda x: np.array(x, order="C"), np.asarray, lambda x, d: x.copy(), lambda x, d: x.copy(), lambda x: x, lambda x: x
    )
ours = program(pt, pt.asarray, pt.asarray, make, lambda x, d: x.redistribute(d), lambda x: x.eval(), lambda x: x.numpy())
ours = ours.numpy()
print("NumPy:", theirs.dtype, theirs.shape, theirs, "partita:", ours.dtype, ours.shape, ours, sep="\\n")
assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype), "shape or type"
{check}
'''
SAME = """\
np.testing.assert_array_equal(ours, theirs)
assert ours.dtype.kind != "f" or (np.signbit(ours) == np.signbit(theirs))[ours == 0].all(), "zeros"\
"""
CLOSE = "eps = 8 * np.finfo(theirs.dtype).eps\nnp.testing.assert_allclose(ours, theirs, rtol=eps, atol=eps)"


def script(draft: Draft, failure: Failure, seed: int, devices: str = "host") -> str:
    """The text of the script; it ends with an error where the program fails."""
    statement = draft.program[failure.at]
    place = statement.writes or "a"
    result = statement.places.get(place)
    lines = "\n".join(f"    {statement.line()}" for statement in draft.program)
    words = '[d for d in pt.devices() if d.kind == "cuda"]' if devices == "cuda" else repr(devices)
    is_close = statement.rule != "same" and "float" in failure.text
    return f"# Seed {seed}, statement {failure.at}: {failure.text}\n" + HEAD.format(
        parts=draft.parts,
        devices=words,
        lines=lines,
        result=result if isinstance(result, Name) else None,
        check=CLOSE if is_close else SAME,
    )
