"""The table "What small things cost" of docs/numpy.md: small statements with Partita and with NumPy, in one run.

    python interop/tests/small_costs.py [ROUNDS]

Both run each statement in turns, in one process; a cell is the best of all rounds in microseconds per statement. Build the
package with ``--release`` first.
"""

from __future__ import annotations

import platform
import sys
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy

import partita

_ENOUGH_SECONDS = 0.004


def _statements(xp: ModuleType) -> dict[str, Callable[[int], Any]]:
    """Each statement as a function of a counter, which gives it a number that it never had before."""
    small = xp.asarray(numpy.linspace(0.0, 1.0, 8))
    some = xp.asarray(numpy.linspace(0.0, 1.0, 60))
    lesson = xp.asarray(numpy.linspace(0.0, 1.0, 101))
    plate = xp.asarray(numpy.linspace(0.0, 1.0, 41 * 41).reshape(41, 41))
    index = xp.asarray(numpy.arange(60)[::-1].copy())
    listed = [5, 3, 59, 0]
    rng = xp.random.default_rng(1)
    done: Callable[[Any], Any] = partita.Array.eval if xp is partita else lambda array: array

    def assign(k: int) -> None:
        small[1:-1] = 0.5 * (small[2:] + small[:-2])

    def diffuse(k: int) -> None:
        lesson[1:-1] += 0.1 * (lesson[2:] - 2 * lesson[1:-1] + lesson[:-2])

    def laplace(k: int) -> None:
        plate[1:-1, 1:-1] = 0.25 * (plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:])

    def step(k: int) -> None:
        lesson[1:-1] = lesson[1:-1] + (0.1 + 1e-9 * k) * (lesson[2:] - lesson[:-2])

    def element(k: int) -> None:
        small[3] = 1.0

    def new_element(k: int) -> None:
        small[3] = float(k)

    def masked(k: int) -> None:
        some[some > 2.0] = 0.0

    def scattered(k: int) -> None:
        xp.add.at(some, index, 0.0)

    def put(k: int) -> None:
        some[index] = some

    return {
        "`a + b`, recorded": lambda k: small + small,
        "`-a`, recorded": lambda k: -small,
        "`sin(a)`, recorded": lambda k: xp.sin(small),
        "`a % 2.0`, recorded": lambda k: small % 2.0,
        "`a[1:]`": lambda k: small[1:],
        "`a.reshape(2, 4)`": lambda k: small.reshape(2, 4),
        "`(a + b).eval()`, 8 elements": lambda k: done(small + small),
        "the same with a new number, `a * c + b`": lambda k: done(small * (1.5 + k) + small),
        "`float(u[3])`": lambda k: float(small[3]),
        "`u[3] = 1.0`": element,
        "`u[3] = x`, a new number": new_element,
        "`u[1:-1] = 0.5 * (u[2:] + u[:-2])`, 8 elements": assign,
        "`u[1:-1] += 0.1 * (...)`, 101 elements": diffuse,
        "the same with a new time step": step,
        "a Laplace step, 41 x 41": laplace,
        "`zeros(8)`": lambda k: xp.zeros(8),
        "`arange(8)`": lambda k: xp.arange(8),
        "`sqrt(2.0)`": lambda k: xp.sqrt(2.0),
        "`asarray([1, 2, 3])`": lambda k: xp.asarray([1, 2, 3]),
        "`u.sum()` as a float, 60 elements": lambda k: float(some.sum()),
        "`float(random.rand())`": lambda k: float(xp.random.rand()),
        "`rng.random()` as a float": lambda k: float(rng.random()),
        "`rng.normal(size=1000)`": lambda k: done(rng.normal(size=1000)),
        "`rng.permutation(100)`": lambda k: done(rng.permutation(100)),
        "`u[u > 0.5]`, 60 elements": lambda k: done(some[some > 0.5]),
        "`u[u > 2] = 0`, 60 elements": masked,
        "`u[[5, 3, 59, 0]]`": lambda k: done(some[listed]),
        "`u[idx]`, 60 elements": lambda k: done(some[index]),
        "`u[idx] = v`, 60 elements": put,
        "`add.at(u, idx, v)`, 60 elements": scattered,
        "`cumsum`, 60 elements": lambda k: done(xp.cumsum(some)),
        "`sort`, 60 elements": lambda k: done(xp.sort(some)),
        "`fft.rfft`, 60 elements": lambda k: done(xp.fft.rfft(some)),
        "`repr(u)`, 8 elements": lambda k: repr(small),
    }


class _Timed:
    """A statement, how often it runs at a time, and its best time."""

    def __init__(self, statement: Callable[[int], Any]) -> None:
        self.statement, self.count, self.ran, self.best = statement, 1, 0, float("inf")

    def once(self) -> None:
        begin = time.perf_counter()
        for k in range(self.ran, self.ran + self.count):
            self.statement(k)
        seconds = time.perf_counter() - begin
        self.ran += self.count
        self.best = min(self.best, seconds / self.count)
        if seconds < _ENOUGH_SECONDS and self.count < 4096:
            self.count *= 2


def measured(rounds: int) -> list[tuple[str, float, float]]:
    """Words of each statement, and its microseconds with Partita and with NumPy."""
    both = {name: (_Timed(statement), _Timed(_statements(numpy)[name])) for name, statement in _statements(partita).items()}
    for _ in range(rounds):
        for pair in both.values():
            for timed in pair:
                timed.once()
    return [(name, ours.best * 1e6, theirs.best * 1e6) for name, (ours, theirs) in both.items()]


def main() -> None:
    """Prints the table."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    partita.set_default_team(partita.Team(1, "host"))
    print(f"Python {platform.python_version()}, NumPy {numpy.__version__}, one part on the host, best of {rounds} rounds.\n")
    print("| statement | Partita, us | NumPy, us | factor |\n|---|---|---|---|")
    for name, ours, theirs in measured(rounds):
        print(f"| {name} | {ours:.2f} | {theirs:.2f} | {ours / theirs:.1f} |")


if __name__ == "__main__":
    main()
