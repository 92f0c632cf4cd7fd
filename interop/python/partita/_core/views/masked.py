"""`Masked`: ``x[mask]`` in the step of a `Loop`, where nobody knows how many elements a mask selects: all elements, and the mask."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NoReturn

from ..base import BaseArray, made
from ..dtypes import bfloat16, float16, float32, float64
from ..memory import NUMBERS
from ..rules import where
from ..watch import is_watched, watch


def _method(name: str) -> Callable[[Any, Any], Any]:
    combine: Callable[[Any, Any], Any] = getattr(operator, f"__{name}__")
    return lambda self, other: self.of_all(combine, self, other)


def _turned(name: str) -> Callable[[Any, Any], Any]:
    combine: Callable[[Any, Any], Any] = getattr(operator, f"__{name}__")
    return lambda self, other: self.of_all(lambda a, b: combine(b, a), self, other)


def _alone(name: str) -> Callable[[Any], Any]:
    function: Callable[[Any], Any] = getattr(operator, f"__{name}__")
    return lambda self: self.of_all(function, self)


class Masked:
    """The elements of an array where a mask is true, inside the step of a `Loop`. It is computed with numbers, arrays without
    dimensions and others selected by the same mask, it has sums and extremes, and it is assigned to where the mask is true."""

    __slots__ = ("mask", "whole")
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, whole: BaseArray, mask: BaseArray) -> None:
        self.whole, self.mask = whole, mask

    __add__, __sub__, __mul__, __truediv__ = map(_method, ("add", "sub", "mul", "truediv"))
    __floordiv__, __mod__, __pow__ = map(_method, ("floordiv", "mod", "pow"))
    __and__, __or__, __xor__ = map(_method, ("and", "or", "xor"))
    __lshift__, __rshift__ = map(_method, ("lshift", "rshift"))
    __radd__, __rsub__, __rmul__, __rtruediv__ = map(_turned, ("add", "sub", "mul", "truediv"))
    __rfloordiv__, __rmod__, __rpow__ = map(_turned, ("floordiv", "mod", "pow"))
    __rand__, __ror__, __rxor__ = map(_turned, ("and", "or", "xor"))
    __lt__, __le__, __gt__, __ge__ = map(_method, ("lt", "le", "gt", "ge"))
    __neg__, __pos__, __abs__, __invert__ = map(_alone, ("neg", "pos", "abs", "invert"))

    def __eq__(self, other: object) -> Any:
        return self.of_all(operator.eq, self, other)

    def __ne__(self, other: object) -> Any:
        return self.of_all(operator.ne, self, other)

    def __repr__(self) -> str:
        return f"<the elements of an array of shape {self.whole.shape} where a mask is true, in the step of a Loop>"

    def of_all(self, function: Callable[..., Any], *operands: Any) -> Masked:
        """What a function of elements gives."""
        return Masked(function(*(self._whole_of(x) for x in operands)), self.mask)

    def _has(self, mask: Any) -> bool:
        """True if it is the same mask, or was recorded in the same way."""
        return isinstance(mask, BaseArray) and self.mask._native.is_recorded_as(mask._native)

    def _whole_of(self, other: Any) -> Any:
        if isinstance(other, Masked) and self._has(other.mask):
            # Elements that the mask leaves out raise no errors.
            return where(self.mask, other.whole, 1) if watch.count and is_watched() else other.whole
        is_other = isinstance(other, Masked)
        if isinstance(other, NUMBERS) or (not is_other and getattr(other, "shape", None) == ()):
            return other
        given = "those of another mask" if is_other else f"{type(other).__name__} of shape {getattr(other, 'shape', '()')}"
        expected = "numbers and elements of the same mask beside u[mask] in the step of a Loop"
        _refuse("u[mask]", expected, given, "name the mask once, m = u > 0; u[m] = v[m] * 2; or use where")

    def assign_to(self, x: BaseArray, mask: BaseArray) -> BaseArray:
        """The array with these elements where the mask, which must be the same, is true."""
        if not self._has(mask):
            _refuse("u[mask] = v[mask]", "the same mask on both sides", "another one", "name it once, m = u > 0; u[m] = v[m] * 2; or use where")
        if x.shape != mask.shape:
            _refuse("u[mask] = v[mask]", f"an array of the mask's shape {mask.shape}", f"shape {x.shape}", "select of arrays of one shape, or use where")
        return where(mask, self.whole.astype(x.dtype), x)

    def _of_line(self, name: str, fill: Any, axis: Any, others: dict[str, Any]) -> Any:
        """A reduction of the elements, which are a line."""
        given = [f"{key}={value!r}" for key, value in others.items() if value is not None]
        if axis not in (None, 0, -1) or given:
            _refuse(f"u[mask].{name}", "no arguments but axis=0 in the step of a Loop", ", ".join(given) or f"axis={axis!r}", "leave it out, or use where")
        return getattr(where(self.mask, self.whole, fill), name)()

    def sum(self, axis: int | None = None, **others: Any) -> Any:
        """The sum of the elements."""
        return self._of_line("sum", 0, axis, others)

    def prod(self, axis: int | None = None, **others: Any) -> Any:
        """The product of the elements."""
        return self._of_line("prod", 1, axis, others)

    def mean(self, axis: int | None = None, **others: Any) -> Any:
        """The sum divided by the number of elements, in the type of floats; NaN where there are none."""
        kind = self.whole.dtype
        wide = self.whole.astype(float32) if kind in (float16, bfloat16) else self.whole
        total = Masked(wide, self.mask)._of_line("sum", 0, axis, others)
        return (total / Masked(self.mask, self.mask).sum()).astype(kind if kind.kind in "fc" else float64)

    def min(self, axis: int | None = None, **others: Any) -> Any:
        """The least element; the largest number of the type where there are none."""
        return self._of_line("min", self._limits()[1], axis, others)

    def max(self, axis: int | None = None, **others: Any) -> Any:
        """The largest element; the least number of the type where there are none."""
        return self._of_line("max", self._limits()[0], axis, others)

    def all(self, axis: int | None = None, **others: Any) -> Any:
        """True if all elements are."""
        return self._of_line("all", True, axis, others)

    def any(self, axis: int | None = None, **others: Any) -> Any:
        """True if some element is."""
        return self._of_line("any", False, axis, others)

    def _limits(self) -> tuple[Any, Any]:
        kind = self.whole.dtype
        if kind.kind == "f":
            return float("-inf"), float("inf")
        if kind.kind == "b":
            return False, True
        half = 1 << 8 * kind.itemsize - 1
        return (0, 2 * half - 1) if kind.kind == "u" else (-half, half - 1)

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        _refuse(f"u[mask].{name}", "arithmetic, sums, extremes and assignment by the mask", f"{name}, for which the elements are counted",
               "use where, or select between runs")  # fmt: skip

    def __getitem__(self, key: Any) -> NoReturn:
        _refuse("u[mask][key]", "arithmetic, sums, extremes and assignment by the mask", "a key", "join both masks, u[mask & other]")

    def __bool__(self) -> NoReturn:
        _refuse("bool(u[mask])", "a step that only computes", "a condition on what a mask selects", "use where")

    def __len__(self) -> int:
        _refuse("len(u[mask])", "a step that only computes", "the number of elements, which only the host can know", "use mask.sum()")


def _refuse(name: str, expected: str, given: str, remedy: str) -> NoReturn:
    """Raises what a step cannot do."""
    raise ValueError(f"{name}: expected {expected}, given {given}; {remedy}")


def masked_of(values: tuple[Any, ...]) -> Masked | None:
    """The first operand that is one."""
    return next((value for value in values if isinstance(value, Masked)), None)


def selected(x: BaseArray, mask: BaseArray) -> Masked:
    """``x[mask]`` in a step."""
    return Masked(made(x._native.copy()), made(mask._native.copy()))
