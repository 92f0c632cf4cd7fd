"""Five NumPy codes from textbooks, run with NumPy and with partita, unchanged: heat, wave, Gray-Scott, life, Jacobi.

    python examples/python/codes/compare.py [PARTS...]
    PARTITA_DEVICE=cuda PARTITA_TRACE=codes.json python examples/python/codes/compare.py 4

Each is a function of an array module. Elementwise results are NumPy's to the bit; the norms of Jacobi's iteration are
sums, which may differ within their bound. On several CUDA devices the trace says how much of the exchanges was hidden.
"""

import os
import sys

import gray_scott
import heat2d
import jacobi
import life
import numpy as np
import partita as pt
import wave2d


#: Where arrays are, by default.
DEVICES = os.environ.get("PARTITA_DEVICE", "host")


def on_parts(code, parts, devices=DEVICES, **layout):
    """What a code gives with its arrays over so many parts."""
    team = pt.Team(parts, devices)
    hosts = code.start(np)
    arrays = [pt.asarray(host, dist=pt.Distribution(host.shape, team=team, **layout)) for host in hosts]
    return code.run(pt, *arrays)


def norm_bound(terms):
    """How far two norms of so many terms may be apart, relative to their size: a term is rounded once (the differences
    are the same), each sum is off by (log2 N + 4) u at most, a root halves that and rounds."""
    u = np.finfo(float).eps / 2
    return 2 * ((np.log2(terms) + 4) * u / 2 + 2 * u)


def check(code, parts, **layout):
    """Compares a code on parts with NumPy; what was found, in words."""
    theirs, ours = code.run(np, *code.start(np)), on_parts(code, parts, **layout)
    if not isinstance(theirs, tuple):
        theirs, ours = (theirs, []), (ours, [])
    assert ours[0].numpy().tobytes() == theirs[0].tobytes(), f"{code.__name__} on {parts} parts differs from NumPy"
    assert len(ours[1]) == len(theirs[1]), f"{code.__name__} on {parts} parts: another number of iterations"
    far = max((abs(a - b) / b for a, b in zip(ours[1], theirs[1], strict=True)), default=0.0)
    assert far <= norm_bound(theirs[0].size), f"{code.__name__} on {parts} parts: a norm differs by {far}"
    return f"{len(theirs[1])} norms within {far:.1e}" if theirs[1] else f"sum {float(ours[0].sum()):.6g}"


CODES = [heat2d, wave2d, gray_scott, life, jacobi]

if __name__ == "__main__":
    for code in CODES:
        for parts in map(int, sys.argv[1:] or ("1", "2", "3", "4", "8")):
            print(f"{code.__name__} on {parts} parts: equal to NumPy bit for bit, {check(code, parts)}")
    print("ok: five NumPy codes, unchanged")
