"""Floating-point conditions in NumPy's words: `errstate`, and which elements of a result meet a condition.

Devices report none. Where a condition raises, operations therefore record checks of their operands and results, and the end of the
block computes these; see `partita._core.watch`."""

from __future__ import annotations

import cmath
import functools
import operator
from collections.abc import Callable, Iterator
from contextlib import ContextDecorator
from typing import Any

from ... import _native
from ..._core.array import Array
from ..._core.base import array_of
from ..._core.dtypes import float16
from ..._core.watch import KINDS, Checks, Modes, modes, set_modes, watch
from ...errors import UnsupportedError
from ..types import iinfo
from .table import abs, isfinite, isinf, isnan, trunc
from ..._core.reductions import any

_SILENT, _UNSUPPORTED = ("ignore", "warn"), ("call", "log", "print")


def _settings(all: str | None, given: dict[str, str | None]) -> dict[str, str]:
    """The words that were set. Underflow is not watched for, so ``all='raise'`` leaves it silent."""
    chosen = {name: how or ("ignore" if (name, all) == ("under", "raise") else all) for name, how in given.items()}
    for name, how in chosen.items():
        if how in _UNSUPPORTED or (name, how) == ("under", "raise"):
            remedy = "leave it out: no device reports underflow" if name == "under" else "use 'raise' and catch FloatingPointError"
            raise UnsupportedError(f"errstate: expected 'ignore', 'warn' or 'raise', given {name}={how!r}; {remedy}")
        if how not in (None, "raise", *_SILENT):
            raise ValueError(f"errstate: expected 'ignore', 'warn' or 'raise', given {name}={how!r}")
    return {name: how for name, how in chosen.items() if how is not None}


def seterr(
    all: str | None = None, divide: str | None = None, over: str | None = None, under: str | None = None, invalid: str | None = None
) -> dict[str, str]:
    """Sets what operations that this thread records do when they divide by zero, overflow or have an invalid result: 'ignore' and
    'warn' are silent, 'raise' raises FloatingPointError, in a block of `errstate` at its end. Outside of blocks each operation then
    computes at once. Others of NumPy's words, and ``under='raise'``, are an UnsupportedError.

    Returns
    -------
    dict
        What was set before.
    """
    before = modes.get()
    set_modes(before._replace(words=before.words | _settings(all, {"divide": divide, "over": over, "under": under, "invalid": invalid})))
    return dict(before.words)


def geterr() -> dict[str, str]:
    """The settings of `seterr` and `errstate` for this thread."""
    return dict(modes.get().words)


class errstate(ContextDecorator):
    """A block of statements, or as a decorator a function, with other settings of `seterr`.

    Where a condition is 'raise', the end of the block computes what was recorded in it, and raises FloatingPointError for the first
    operation that divided a finite number by zero, made infinity of finite numbers or NaN of no NaN; on all ranks alike. The end
    is then collective. A `Loop` that runs in the block raises at the end of ``run``.

    Parameters
    ----------
    all : str, optional
        For all conditions: 'ignore' or 'warn', which are silent, or 'raise'.
    divide, over, under, invalid : str, optional
        For one; underflow cannot raise.
    call : optional
        Accepted and without effect.

    Examples
    --------
    >>> import partita as pt
    >>> try:
    ...     with pt.errstate(divide="raise"):
    ...         inverse = 1 / pt.zeros(3)
    ... except FloatingPointError as error:
    ...     print(error)
    divide by zero encountered in divide
    """

    def __init__(self, *, call: Any = None, all: str | None = None, **settings: str | None) -> None:
        unknown = set(settings) - set(KINDS)
        if unknown:
            raise TypeError(f"errstate: expected {', '.join(KINDS)}, given {', '.join(sorted(unknown))}")
        self._words = _settings(all, {kind: settings.get(kind) for kind in KINDS})
        self._before: Modes | None = None

    def _recreate_cm(self) -> errstate:
        return errstate(**self._words)

    def __enter__(self) -> None:
        if self._before is not None:
            raise TypeError("errstate: expected a block that was not entered yet, given one twice; make another")
        before = modes.get()
        self._before = set_modes(Modes(before.words | self._words, Checks()))

    def __exit__(self, kind: type[BaseException] | None, *error: object) -> None:
        assert self._before is not None
        block = set_modes(self._before)
        if kind is None and block.checks is not None:
            block.checks.report()

    def __repr__(self) -> str:
        return f"partita.errstate({', '.join(f'{name}={how!r}' for name, how in self._words.items())})"


# Masks of the elements that meet a condition.

#: Operations that a pole makes infinite, and where it is.
_POLES: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("divide", "floor_divide", "divmod"), lambda a, b: b == 0),
    **dict.fromkeys(("log", "log2", "log10", "reciprocal"), lambda x: x == 0),
    **dict.fromkeys(("power", "float_power"), lambda a, b: a == 0),
    "log1p": lambda x: x == -1, "arctanh": lambda x: abs(x) == 1,
}  # fmt: skip
#: Integers by zero, and the only ones beyond their type.
_OF_INTEGERS = ("floor_divide", "remainder", "fmod", "divmod", "reciprocal")


def _is_float(x: Any) -> bool:
    return isinstance(x, (float, complex)) or (isinstance(x, Array) and x.dtype.kind in "fc")


def _finite(x: Any) -> Any:
    return (isfinite(x) if isinstance(x, Array) else cmath.isfinite(x)) if _is_float(x) else True


def _missing(x: Any) -> Any:
    return (isnan(x) if isinstance(x, Array) else cmath.isnan(x)) if _is_float(x) else False


def _not(x: Any) -> Any:
    return ~x if isinstance(x, Array) else not x


def _masks(name: str, inputs: tuple[Any, ...], result: Array) -> Iterator[tuple[str, Any]]:
    """Of a function of elements."""
    if result.dtype.kind in "iu" and name in _OF_INTEGERS:
        yield "divide", inputs[-1] == 0
        if name in ("floor_divide", "divmod"):
            yield "over", (inputs[0] == iinfo(result.dtype).min) & (inputs[1] == -1 if result.dtype.kind == "i" else False)
    if result.dtype.kind not in "fc" or name == "spacing":
        return
    missing = functools.reduce(operator.or_, map(_missing, inputs))
    # The other operand says where to go.
    inputs = inputs[:1] if name == "nextafter" else inputs
    pole = _POLES[name](*inputs) if name in _POLES else False
    infinite = functools.reduce(operator.and_, map(_finite, inputs), isinf(result))
    yield "divide", infinite & pole
    yield "over", infinite & _not(pole)
    yield "invalid", isnan(result) & _not(missing)


def _cast(x: Any, result: Array) -> Iterator[tuple[str, Any]]:
    """Of a conversion: integers hold neither NaN nor what is beyond their ends."""
    if x.dtype.kind not in "fc" and result.dtype is not float16:
        return
    if result.dtype.kind in "iu":
        limits, whole = iinfo(result.dtype), trunc(x)
        yield "invalid", _not((whole >= float(limits.min)) & (whole < float(limits.max + 1)))
    elif result.dtype.kind in "fc":
        yield "over", isinf(result) & isfinite(x)


def _of_lines(inputs: tuple[Any, ...], result: Array, lines: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Of sums and products of many elements."""

    def none(mask: Any) -> Any:
        return ~any(mask, **lines) if isinstance(mask, Array) else not mask

    yield "over", functools.reduce(operator.and_, (none(_not(_finite(x))) for x in inputs), isinf(result))
    yield "invalid", functools.reduce(operator.and_, (none(_missing(x)) for x in inputs), isnan(result))


def _flags(name: str, inputs: Any, result: Any, lines: dict[str, Any] | None, where: Any) -> Iterator[tuple[str, _native.Array]]:
    """Pairs of a condition and whether an element meets it."""
    for one in result if isinstance(result, tuple) else (result,):
        if not isinstance(one, Array) or not (one.dtype.kind in "fc" or name in _OF_INTEGERS or name == "cast"):
            continue
        given = tuple(x if isinstance(x, (Array, float, complex, int)) else array_of(name, x, one) for x in inputs)
        masks = _cast(given[0], one) if name == "cast" else _masks(name, given, one) if lines is None else _of_lines(given, one, lines)
        for kind, mask in masks:
            if mask is not False:
                met = array_of(name, mask, one)
                yield kind, any(met if where is True else met & where)._native


watch.masks = _flags
