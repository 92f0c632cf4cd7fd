"""A step that is recorded once and replayed."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Literal

from . import _native
from ._array import Array

__all__ = ["Loop"]


class Loop:
    """Runs a step function again and again; after a few steps without Python.

    The step is called with the arrays of the state and assigns to them in place, or returns as many new
    arrays, which become the state. It must read no array on the host and do the same every time: Python
    numbers in it are those of the recorded steps.

    Parameters
    ----------
    step : callable
    depth : int or "auto", default 1
        How many steps share one exchange of halos. Halos are as wide as so many steps need, and the parts
        compute those cells of each other themselves: the results are the same to the bit, with fewer and
        longer messages. ``"auto"`` takes what some dozens of timed steps show to be fastest, and 1 where steps
        cannot share an exchange. A number that is not possible is a ValueError of :meth:`run`, after two steps.

    Examples
    --------
    >>> heat = Loop(step)                       # doctest: +SKIP
    >>> heat.run(u, steps=1000)                 # doctest: +SKIP
    """

    def __init__(self, step: Callable[..., Any], *, depth: int | Literal["auto"] = 1) -> None:
        if depth != "auto" and (not isinstance(depth, int) or isinstance(depth, bool) or depth < 1):
            raise ValueError(f'Loop: expected a depth of at least 1 or "auto", given {depth!r}')
        if not callable(step):
            raise TypeError(f"Loop: expected a function, given {type(step).__name__}; pass the step, not its result")
        self._step, self._loop = step, _native.Loop(None if depth == "auto" else depth)

    @property
    def steps_per_exchange(self) -> int:
        """How many steps share an exchange of halos from now on."""
        return self._loop.steps_per_exchange

    def explain(self) -> str:
        """How many steps share an exchange, with which halos, and why, in words."""
        return self._loop.explain() or "not run yet"

    @property
    def is_replaying(self) -> bool:
        """Whether the next step is replayed rather than run through Python."""
        return self._loop.is_replaying

    def run(self, *state: Array, steps: int = 1) -> None:
        """The same as calling the step ``steps`` times with ``state``. Devices may still be working afterwards.

        The arrays are in use meanwhile: other threads that touch them get a RuntimeError. A run goes on where
        the one before stopped if the arrays were not assigned to meanwhile and neither a copy nor a DLPack export of
        them is alive; otherwise the step is recorded anew.
        """
        try:
            steps = operator.index(steps)
        except TypeError:
            raise TypeError(f"Loop.run: expected steps an int, given {steps!r}; convert it with int()") from None
        if steps < 0:
            raise ValueError(f"Loop.run: expected at least 0 steps, given {steps}")
        for array in state:
            if not isinstance(array, Array):
                raise TypeError(f"Loop.run: expected partita.Arrays as state, given {type(array).__name__}")
        shapes = [(array.shape, array.dtype) for array in state]

        def step() -> None:
            results = self._step(*state)
            if results is None:
                return
            new = results if isinstance(results, (tuple, list)) else (results,)
            wrong = [type(array).__name__ for array in new if not isinstance(array, Array)]
            if wrong:
                raise TypeError(f"Loop: expected a step that returns None or its state, given {', '.join(wrong)}")
            if [(array.shape, array.dtype) for array in new] != shapes:
                given = [(array.shape, array.dtype.name) for array in new]
                raise ValueError(f"Loop: expected a step that returns None or its state, given {given}")
            # All are taken before any is replaced: a step may swap its arrays.
            for array, value in zip(state, [result._native.copy() for result in new], strict=True):
                array._native.replace(value)

        self._loop.run([array._native for array in state], step, steps)
