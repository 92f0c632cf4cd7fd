"""What single ranks may say of arrays over several, and conditions that raise on all of them alike; started by `test_launch.py`."""

import sys

import numpy as np
import partita as pt

team = pt.get_default_team()
assert team.ranks > 1
u = pt.asarray(np.arange(8.0) - 3.0)

# Only one rank asks: nothing is computed and nobody is waited for.
v = u + 1
if team.rank == 0:
    for x in (v, v.sum(), v[2], v[1:]):
        assert repr(x).startswith("<partita.Array (") and "here" in repr(x) and repr(x).endswith(", not computed>"), repr(x)
        assert "not computed" in x._repr_html_()
    assert not v._native.is_computed()
try:
    memoryview(v)
    raise SystemExit("a buffer over several processes")
except BufferError as error:
    assert f"parts over {team.ranks} processes" in str(error), error
assert not hasattr(v, "__array_interface__")

# A number that was not read is none of this process's; one that was is everywhere.
largest = v.max()
try:
    hash(largest)
    raise SystemExit("a hash of a number that is elsewhere")
except TypeError as error:
    assert f"one over {team.ranks} processes that was not read yet" in str(error), error
assert float(largest) == 5 and hash(largest) == hash(5.0) and {largest: 1}[5.0] == 1
if team.rank == 0:
    assert float(largest) == 5.0 and largest in {5.0}


def raised(function):
    try:
        with pt.errstate(all="raise"):
            function()
        return None
    except FloatingPointError as error:
        return str(error)


def loop():
    state = pt.asarray(np.arange(8.0) + 5.0)

    def step(x):
        x -= 1.0
        x /= pt.where(x == 0, 0.0, 1.0)

    pt.Loop(step).run(state, steps=9)


# Only one part has the element, and all ranks hear of it.
said = [raised(f) for f in (lambda: 1 / u, lambda: pt.log(u[4:]), lambda: pt.sqrt(u), lambda: pt.exp(u * 300), lambda: u + 1, loop)]
expected = [
    "divide by zero encountered in divide", None, "invalid value encountered in sqrt", "overflow encountered in exp", None,
    "invalid value encountered in divide",
]  # fmt: skip
assert said == expected, said
assert float(u.sum()) == 4.0
sys.stdout.write(f"ok: rank {team.rank}\n")
