"""A step that is recorded once and replayed."""

from __future__ import annotations

import operator
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from itertools import dropwhile
from traceback import walk_tb
from typing import Any, Literal, Protocol

from .. import _native
from .._core.array import Array
from .._core.dtypes import DType, as_dtype, bool_, float64, int64
from .._core.views.index import Selection
from .._core.views.indexing import check_writeable
from .._core.views.links import forget, put, root_of
from .._core.watch import PACKAGE, Checks, Constants, Step, modes
from .._core.watch import step as running
from .._native import Distribution


#: So many steps get their numbers at once.
_ROWS = 1024
#: Functions that users know by other names; None for those that only stand before the one they know.
_SPOKEN = {
    "select": "u[key]", "assign": "u[key] = value", "__bool__": "bool", "__float__": "float", "__int__": "int", "method": None,
    "function": None, "array_function": None, "array_ufunc": None, "silent": None, "watched": None,
}  # fmt: skip
#: Seconds between two looks of the bar.
_BETWEEN = 0.1


class _Bar(Protocol):
    def update(self, steps: int, /) -> Any: ...
    def close(self) -> Any: ...


class _Line:
    """A line on the standard error stream that is written again and again."""

    def __init__(self, steps: int) -> None:
        self._steps, self._done, self._begun = steps, 0, time.perf_counter()

    def update(self, steps: int) -> None:
        self._done += steps
        rate = self._done / max(time.perf_counter() - self._begun, 1e-9)
        sys.stderr.write(f"\r{self._done}/{self._steps} steps, {rate:.4g} steps/s   ")
        sys.stderr.flush()

    def close(self) -> None:
        sys.stderr.write("\n")


def _bar_of(steps: int) -> _Bar:
    """tqdm's bar where it is installed."""
    try:
        tqdm = import_module("tqdm").tqdm
    except ImportError:
        return _Line(steps)
    bar: _Bar = tqdm(total=steps, unit="step")
    return bar


def _typed(number: Any, real: DType) -> tuple[str, Any]:
    """A number with the name of its type: NumPy's have one, Python's float is ``real``."""
    if isinstance(number, bool):
        return bool_.name, number
    if hasattr(number, "dtype") and getattr(number, "shape", None) == () and not isinstance(number, Array):
        return as_dtype(number.dtype).name, number.item()
    if isinstance(number, int):
        return int64.name, number
    if isinstance(number, float):
        return real.name, number
    given = type(number).__name__
    raise TypeError(f"Loop.run: expected numbers that are bool, int or float, given {given}; convert them first")


def _row(numbers: Any, real: DType) -> list[tuple[str, Any]]:
    several = numbers if isinstance(numbers, (tuple, list)) else (numbers,)
    return [_typed(number, real) for number in several]


def _become(state: Sequence[Array], new: Sequence[Any], shapes: list[tuple[tuple[int, ...], DType]]) -> None:
    """Gives the state the values that a step returned."""
    wrong = [type(array).__name__ for array in new if not isinstance(array, Array)]
    if wrong:
        raise TypeError(f"Loop: expected a step that returns None or its state, given {', '.join(wrong)}")
    if [(array.shape, array.dtype) for array in new] != shapes:
        given = [(array.shape, array.dtype.name) for array in new]
        raise ValueError(f"Loop: expected a step that returns None or its state, given {given}")
    # All are taken before any is replaced: a step may swap its arrays.
    for array, value in zip(state, [result._native.copy() for result in new], strict=True):
        if array._link is None:
            forget(array)
            array._native.replace(value)
        else:
            put(array, Selection.whole(array.shape), value)


@contextmanager
def _named_errors() -> Iterator[None]:
    """Lets errors of what a step must not do begin with the function that the step called."""
    try:
        yield
    except ValueError as error:
        codes = [frame.f_code for frame, _ in walk_tb(error.__traceback__)]
        called = dropwhile(lambda code: code.co_filename.startswith(PACKAGE), codes)
        ours = (code.co_name for code in called if code.co_filename.startswith(PACKAGE))
        spoken = (_SPOKEN.get(name, None if name.startswith("_") else name) for name in ours)
        name = next(filter(None, spoken), None)
        text = str(error)
        if "expected a step that" in text and name is not None and not text.startswith(f"{name}:"):
            error.args = (f"{name}: {text}",)
        raise


class Loop:
    """Runs a step function again and again; after a few steps without Python.

    The step is called with the arrays of the state and assigns to them in place, or returns as many new
    arrays, which become the state. It must read no array on the host and do the same every time: Python
    numbers in it are those of the recorded steps, and a number that differs between these is a ValueError of
    :meth:`run`. Numbers that change from step to step are given by ``numbers`` of :meth:`run`.

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
    >>> wave = Loop(lambda u, t: u + pt.sin(t))                      # doctest: +SKIP
    >>> wave.run(u, steps=1000, numbers=lambda k: k * 0.01)          # doctest: +SKIP
    """

    def __init__(self, step: Callable[..., Any], *, depth: int | Literal["auto"] = 1) -> None:
        if depth != "auto" and (not isinstance(depth, int) or isinstance(depth, bool) or depth < 1):
            raise ValueError(f'Loop: expected a depth of at least 1 or "auto", given {depth!r}')
        if not callable(step):
            raise TypeError(f"Loop: expected a function, given {type(step).__name__}; pass the step, not its result")
        self._step, self._depth = step, None if depth == "auto" else depth
        self._loop, self._raising, self._checked = _native.Loop(self._depth), frozenset[str](), None
        self._constants = Constants()

    def __repr__(self) -> str:
        name = getattr(self._step, "__name__", type(self._step).__name__)
        state = "replays" if self.is_replaying else "not recorded yet"
        return f"<partita.Loop of {name}, {state}, steps per exchange: {self.steps_per_exchange}>"

    #: The flags of conditions that raise while the step is replayed, and their meanings; see `partita.errstate`.
    _checked: tuple[_native.Array, Checks] | None

    @property
    def steps_per_exchange(self) -> int:
        """The number of steps that share an exchange of halos from now on."""
        return self._loop.steps_per_exchange

    def explain(self) -> str:
        """The number of steps that share an exchange, their halos and the reason, in words. Local."""
        return self._loop.explain() or "not run yet"

    @property
    def is_replaying(self) -> bool:
        """True if the next step is replayed rather than run through Python."""
        return self._loop.is_replaying

    def run(
        self,
        *state: Array,
        steps: int = 1,
        numbers: Callable[[int], Any] | Sequence[Any] | None = None,
        progress: bool = False,
        callback: Callable[[int], Any] | None = None,
        every: int = 1,
    ) -> None:
        """The same as calling the step ``steps`` times with ``state``. Devices may still be working afterwards.

        Ctrl-C ends the run after a whole step; the arrays are those after it, and a further run goes on. One
        launch is not interrupted, and only the main thread hears of Ctrl-C. Collective.

        Parameters
        ----------
        *state : Array
        steps : int, default 1
        numbers : callable or sequence, optional
            What the step gets besides the state, as arrays without dimensions: in step ``k`` of this run, counted
            from 0, ``numbers(k)`` or ``numbers[k]``, a number or a tuple of numbers: ``step(u, t)`` or
            ``step(u, t, k)``. An int is an int64, a float has the type of the first array of floats in ``state``
            (float64 without one), NumPy's numbers keep their type. Replayed steps find them on the device; a
            function is called for up to 1024 steps ahead. All processes pass the same.
        progress : bool, default False
            Shows how many steps are done: by tqdm where it is installed, otherwise by a line on ``sys.stderr``.
        callback : callable, optional
            Called as ``callback(done)`` after every ``every`` steps and after the last one, with the number of
            steps that this run has done. It may read the arrays. What it raises ends the run.
        every : int, default 1

        The arrays are in use meanwhile: other threads that touch them get a RuntimeError. A run goes on where
        the one before stopped if the arrays were not assigned to meanwhile and neither a copy nor a DLPack export of
        them is alive; otherwise the step is recorded anew.
        """
        try:
            steps = operator.index(steps)
        except TypeError:
            raise TypeError(f"Loop.run: expected steps an int, given {steps!r}; convert it with int()") from None
        if steps < 0 or steps >= 2**64:
            raise ValueError(f"Loop.run: expected at least 0 steps and fewer than 2**64, given {steps}")
        if every < 1:
            raise ValueError(f"Loop.run: expected a callback after every 1 step or more, given {every}")
        if numbers is not None and not callable(numbers) and len(numbers) < steps:
            raise ValueError(f"Loop.run: expected numbers for {steps} steps, given {len(numbers)}; pass more, or a function")
        for array in state:
            if not isinstance(array, Array):
                raise TypeError(f"Loop.run: expected partita.Arrays as state, given {type(array).__name__}")
            if isinstance(array, Array._scalar_class):
                check_writeable("Loop.run", array)
        shapes = [(array.shape, array.dtype) for array in state]
        # Views are in the state by the arrays that hold their elements.
        roots = list({id(root): root for root in (root_of(array) for array in state)}.values())

        hidden, checks = self._conditions(roots) if roots else (None, None)

        def step(*values: _native.Array) -> None:
            token = running.set(Step(checks, self._constants))
            try:
                recorded(*values)
                self._constants.is_first = False
                if hidden is not None and checks is not None:
                    hidden.replace(checks.code(hidden.copy()))
            finally:
                running.reset(token)

        def recorded(*values: _native.Array) -> None:
            # The engine has given the roots other values.
            for root in roots:
                forget(root)
            with _named_errors():
                results = self._step(*state, *(Array(value) for value in values))
            if results is not None:
                _become(state, results if isinstance(results, (tuple, list)) else (results,), shapes)
            for root in roots:
                forget(root)

        real = next((array.dtype for array in state if array.dtype.kind == "f"), float64)
        row = numbers if callable(numbers) or numbers is None else numbers.__getitem__
        bar = _bar_of(steps) if progress else None
        done, most = 0, 1 if progress else steps
        self._constants.is_first = True
        try:
            while True:
                count = min(steps - done, most)
                if callback is not None:
                    count = min(count, every - done % every)
                rows = []
                if row is not None:
                    count = min(count, _ROWS)
                    rows = [_row(row(k), real) for k in range(done, done + count)]
                begun = time.perf_counter()
                for root in roots:
                    forget(root)
                self._loop.run([*(root._native for root in roots), *((hidden,) if hidden else ())], step, count, rows)
                done += count
                if bar is not None:
                    bar.update(count)
                    slow = time.perf_counter() - begun > _BETWEEN / 2
                    most = max(most // 2, 1) if slow else most * 2
                if callback is not None and count and (done % every == 0 or done == steps):
                    callback(done)
                if done == steps:
                    break
            if hidden is not None and checks is not None:
                checks.report_code(int(hidden.item()))  # type: ignore[arg-type]
                self._checked = hidden, checks
        finally:
            for root in roots:
                forget(root)
            if bar is not None:
                bar.close()

    def _conditions(self, roots: Sequence[Any]) -> tuple[_native.Array, Checks] | tuple[None, None]:
        """The state that keeps floating-point conditions, if there are any that raise. Such steps share no exchange of halos."""
        if modes.get().raising != self._raising:
            self._raising, self._checked = modes.get().raising, None
            self._loop = _native.Loop(1 if self._raising else self._depth)
        if not self._raising:
            return None, None
        kept, self._checked = self._checked, None
        return kept or (_native.Array.full(Distribution((1,), team=roots[0].team), "int32", -1), Checks())
