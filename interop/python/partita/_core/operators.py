"""What arrays do in expressions: Python's operators, and reductions as methods. Their rules are in `_rules`."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from .dtypes import bool_, int8
from .index import Axis
from .rules import Operand, operate, reduce, unary

if TYPE_CHECKING:
    from .array import Array


_Method = Callable[[Any, Operand], "Array"]


def _named(method: _Method, name: str) -> _Method:
    method.__name__, method.__qualname__ = name, f"Operators.{name}"
    return method


def _arithmetic(name: str, operation: str) -> tuple[_Method, _Method, _Method]:
    """The methods of ``a + b``, of ``b + a`` for another class's ``b``, and of ``a += b``."""
    combine = getattr(operator, f"__{name}__")

    def forward(self: Operators, other: Operand) -> Array:
        return operate(operation, self, other)

    def reflected(self: Operators, other: Operand) -> Array:
        return operate(operation, other, self)

    def in_place(self: Operators, other: Operand) -> Array:
        return self._assign_all(combine(self, other))

    methods = (forward, f"__{name}__"), (reflected, f"__r{name}__"), (in_place, f"__i{name}__")
    first, second, third = (_named(method, dunder) for method, dunder in methods)
    return first, second, third


def _comparison(name: str, operation: str) -> _Method:
    def method(self: Operators, other: Operand) -> Array:
        return operate(operation, self, other)

    return _named(method, f"__{name}__")


class Operators:
    """The operators of `Array`, which is the only class that has them."""

    __slots__ = ()

    def _assign_all(self, result: Array) -> Array:
        raise NotImplementedError

    __add__, __radd__, __iadd__ = _arithmetic("add", "add")
    __sub__, __rsub__, __isub__ = _arithmetic("sub", "subtract")
    __mul__, __rmul__, __imul__ = _arithmetic("mul", "multiply")
    __truediv__, __rtruediv__, __itruediv__ = _arithmetic("truediv", "divide")
    __floordiv__, __rfloordiv__, __ifloordiv__ = _arithmetic("floordiv", "floor_divide")
    __mod__, __rmod__, __imod__ = _arithmetic("mod", "remainder")
    __and__, __rand__, __iand__ = _arithmetic("and", "and")
    __or__, __ror__, __ior__ = _arithmetic("or", "or")
    __xor__, __rxor__, __ixor__ = _arithmetic("xor", "xor")
    __lshift__, __rlshift__, __ilshift__ = _arithmetic("lshift", "left_shift")
    __rshift__, __rrshift__, __irshift__ = _arithmetic("rshift", "right_shift")

    __eq__ = _comparison("eq", "equal")  # type: ignore[assignment]
    __ne__ = _comparison("ne", "not_equal")  # type: ignore[assignment]
    __lt__ = _comparison("lt", "less")
    __le__ = _comparison("le", "less_equal")
    __gt__ = _comparison("gt", "greater")
    __ge__ = _comparison("ge", "greater_equal")

    def __pow__(self, other: Operand) -> Array:
        base = cast("Array", self)
        # NumPy's operator squares bool in int8, its function does not.
        squares_bool = type(other) is int and other == 2 and base.dtype is bool_
        return operate("power", base.astype(int8) if squares_bool else base, other)

    def __rpow__(self, other: Operand) -> Array:
        return operate("power", other, self)

    def __ipow__(self, other: Operand) -> Array:
        return self._assign_all(self**other)

    def __matmul__(self, other: Array) -> Array:
        from .._api.linear import matmul

        return matmul(cast("Array", self), other)

    def __neg__(self) -> Array:
        return unary("negative", self)

    def __pos__(self) -> Array:
        return cast("Array", self).copy()

    def __abs__(self) -> Array:
        return unary("absolute", self)

    def __invert__(self) -> Array:
        return unary("invert", self)

    # Reductions. NumPy's functions of the same names pass ``dtype=`` and ``out=``; there is no result to write to.

    def sum(
        self, axis: Axis = None, keepdims: bool = False, *, dtype: Any = None, out: None = None, reproducible: bool = False
    ) -> Array:
        """Sums over ``axis`` (all if None). Integers and bool sum in 64 bits, or in ``dtype``.

        With ``reproducible`` the exact sum is rounded once, so that its bits depend neither on how the array
        is divided, nor on the order of its elements, nor on the kind of device. Such a sum of floats computes
        at once.
        """
        return reduce("sum_reproducible" if reproducible else "sum", self, axis, keepdims, dtype=dtype, out=out)

    def prod(self, axis: Axis = None, keepdims: bool = False, *, dtype: Any = None, out: None = None) -> Array:
        """Products over ``axis`` (all if None). Integers and bool multiply in 64 bits, or in ``dtype``."""
        return reduce("prod", self, axis, keepdims, dtype=dtype, out=out)

    def min(self, axis: Axis = None, keepdims: bool = False, *, out: None = None) -> Array:
        """The smallest elements over ``axis`` (all if None); NaN wins."""
        return reduce("min", self, axis, keepdims, out=out)

    def max(self, axis: Axis = None, keepdims: bool = False, *, out: None = None) -> Array:
        """The largest elements over ``axis`` (all if None); NaN wins."""
        return reduce("max", self, axis, keepdims, out=out)

    def mean(
        self, axis: Axis = None, keepdims: bool = False, *, dtype: Any = None, out: None = None, reproducible: bool = False
    ) -> Array:
        """Arithmetic means over ``axis`` (all if None), in ``dtype`` if given. Integers give float64. ``reproducible``
        as for sums."""
        return reduce("mean_reproducible" if reproducible else "mean", self, axis, keepdims, dtype=dtype, out=out)

    def all(self, axis: Axis = None, keepdims: bool = False, *, out: None = None) -> Array:
        """True where all elements over ``axis`` (all if None) are nonzero."""
        return reduce("all", self, axis, keepdims, out=out)

    def any(self, axis: Axis = None, keepdims: bool = False, *, out: None = None) -> Array:
        """True where any element over ``axis`` (all if None) is nonzero."""
        return reduce("any", self, axis, keepdims, out=out)

    def argmin(self, axis: int | None = None, keepdims: bool = False, *, out: None = None) -> Array:
        """Where the smallest element is: along ``axis``, or in the array flattened in C order."""
        return reduce("argmin", self, axis, keepdims, out=out)

    def argmax(self, axis: int | None = None, keepdims: bool = False, *, out: None = None) -> Array:
        """Where the largest element is: along ``axis``, or in the array flattened in C order."""
        return reduce("argmax", self, axis, keepdims, out=out)
