"""Twenty small programs, with NumPy and with Partita: equal results, and how long each takes beside NumPy.

    python examples/python/codes/lessons/factors.py [PARTS] [ROUNDS]

Both run each program in turns, in one process; the factor is that of the medians of processor time.
"""

import statistics
import sys
import time

import chains
import courses
import finite_volume
import numpy as np
import particles
import partita as pt
import spectral

PROGRAMS = [p for kind in (particles, chains, spectral, finite_volume, courses) for p in kind.PROGRAMS]


def check(program):
    """The results with both modules, which must agree."""
    ours, theirs = program(pt), program(np)
    if program in chains.PROGRAMS:
        assert abs(ours[0] - theirs[0]) < 2 * theirs[1], f"{program.__name__}: {ours[0]} and {theirs[0]}"
        return
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(np.asarray(a), b, rtol=1e-9, atol=1e-9, err_msg=program.__name__)


def _seconds(program, xp):
    begin = time.process_time()
    for result in program(xp):
        if isinstance(result, pt.Array):
            result.eval()
    return time.process_time() - begin


def factor(program, rounds):
    """Partita's time beside NumPy's."""
    pairs = [(_seconds(program, pt), _seconds(program, np)) for _ in range(rounds)]
    ours, theirs = (statistics.median(times) for times in zip(*pairs, strict=True))
    return ours / theirs, ours, theirs


if __name__ == "__main__":
    parts, rounds = (int(n) for n in (sys.argv[1:] + ["1", "5"][len(sys.argv) - 1 :])[:2])
    pt.set_default_team(pt.Team(parts, "host"))
    for program in PROGRAMS:
        check(program)
        times, ours, theirs = factor(program, rounds)
        note = ", element by element" if hasattr(program, "by_element") else ""
        print(f"{program.__name__:14} {ours * 1e3:8.2f} ms, NumPy {theirs * 1e3:8.2f} ms, factor {times:5.1f}{note}", flush=True)
    print(f"ok: {len(PROGRAMS)} programs, with either module")
