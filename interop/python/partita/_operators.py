"""What arrays do in expressions: Python's operators, and reductions as methods. Their rules are in `_rules`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from ._dtypes import bool_, int8
from ._index import Axis
from ._rules import Operand, operate, reduce, unary

if TYPE_CHECKING:
    from ._array import Array


class Operators:
    """The operators of `Array`, which is the only class that has them."""

    __slots__ = ()

    def _assign_all(self, result: Array) -> Array:
        raise NotImplementedError

    def __add__(self, other: Operand) -> Array:
        return operate("add", self, other)

    def __radd__(self, other: Operand) -> Array:
        return operate("add", other, self)

    def __iadd__(self, other: Operand) -> Array:
        return self._assign_all(self + other)

    def __sub__(self, other: Operand) -> Array:
        return operate("subtract", self, other)

    def __rsub__(self, other: Operand) -> Array:
        return operate("subtract", other, self)

    def __isub__(self, other: Operand) -> Array:
        return self._assign_all(self - other)

    def __mul__(self, other: Operand) -> Array:
        return operate("multiply", self, other)

    def __rmul__(self, other: Operand) -> Array:
        return operate("multiply", other, self)

    def __imul__(self, other: Operand) -> Array:
        return self._assign_all(self * other)

    def __truediv__(self, other: Operand) -> Array:
        return operate("divide", self, other)

    def __rtruediv__(self, other: Operand) -> Array:
        return operate("divide", other, self)

    def __itruediv__(self, other: Operand) -> Array:
        return self._assign_all(self / other)

    def __floordiv__(self, other: Operand) -> Array:
        return operate("floor_divide", self, other)

    def __rfloordiv__(self, other: Operand) -> Array:
        return operate("floor_divide", other, self)

    def __mod__(self, other: Operand) -> Array:
        return operate("remainder", self, other)

    def __rmod__(self, other: Operand) -> Array:
        return operate("remainder", other, self)

    def __pow__(self, other: Operand) -> Array:
        base = cast("Array", self)
        # NumPy's operator squares bool in int8, its function does not.
        squares_bool = type(other) is int and other == 2 and base.dtype is bool_
        return operate("power", base.astype(int8) if squares_bool else base, other)

    def __rpow__(self, other: Operand) -> Array:
        return operate("power", other, self)

    def __and__(self, other: Operand) -> Array:
        return operate("and", self, other)

    def __rand__(self, other: Operand) -> Array:
        return operate("and", other, self)

    def __or__(self, other: Operand) -> Array:
        return operate("or", self, other)

    def __ror__(self, other: Operand) -> Array:
        return operate("or", other, self)

    def __xor__(self, other: Operand) -> Array:
        return operate("xor", self, other)

    def __rxor__(self, other: Operand) -> Array:
        return operate("xor", other, self)

    def __eq__(self, other: Operand) -> Array:  # type: ignore[override]
        return operate("equal", self, other)

    def __ne__(self, other: Operand) -> Array:  # type: ignore[override]
        return operate("not_equal", self, other)

    def __lt__(self, other: Operand) -> Array:
        return operate("less", self, other)

    def __le__(self, other: Operand) -> Array:
        return operate("less_equal", self, other)

    def __gt__(self, other: Operand) -> Array:
        return operate("greater", self, other)

    def __ge__(self, other: Operand) -> Array:
        return operate("greater_equal", self, other)

    def __lshift__(self, other: Operand) -> Array:
        return operate("left_shift", self, other)

    def __rlshift__(self, other: Operand) -> Array:
        return operate("left_shift", other, self)

    def __rshift__(self, other: Operand) -> Array:
        return operate("right_shift", self, other)

    def __rrshift__(self, other: Operand) -> Array:
        return operate("right_shift", other, self)

    def __matmul__(self, other: Array) -> Array:
        from ._linear import matmul

        return matmul(cast("Array", self), other)

    def __neg__(self) -> Array:
        return unary("negative", self)

    def __pos__(self) -> Array:
        return cast("Array", self).copy()

    def __abs__(self) -> Array:
        return unary("absolute", self)

    def __invert__(self) -> Array:
        return unary("invert", self)

    def __ifloordiv__(self, other: Operand) -> Array:
        return self._assign_all(self // other)

    def __imod__(self, other: Operand) -> Array:
        return self._assign_all(self % other)

    def __ipow__(self, other: Operand) -> Array:
        return self._assign_all(self ** other)

    def __iand__(self, other: Operand) -> Array:
        return self._assign_all(self & other)

    def __ior__(self, other: Operand) -> Array:
        return self._assign_all(self | other)

    def __ixor__(self, other: Operand) -> Array:
        return self._assign_all(self ^ other)

    def __ilshift__(self, other: Operand) -> Array:
        return self._assign_all(self << other)

    def __irshift__(self, other: Operand) -> Array:
        return self._assign_all(self >> other)

    # Reductions. NumPy's functions of the same names pass ``dtype=`` and ``out=``; there is no result to write to.

    def sum(
        self, axis: Axis = None, keepdims: bool = False, *, dtype: Any = None, out: None = None, reproducible: bool = False
    ) -> Array:
        """Sums over ``axis`` (all if None). Integers and bool sum in 64 bits, or in ``dtype``.

        With ``reproducible`` the exact sum is rounded once, so that its bits depend neither on how the array
        is divided, nor on the order of its elements, nor on the kind of device.
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
