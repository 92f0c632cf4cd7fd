"""NumPy's rules for operations: which operands, in which type, with which result. Computing is the engine's.

Numbers of Python are weak: they take the type of the array they meet.
"""

from __future__ import annotations

import operator
import sys
from typing import TYPE_CHECKING, Any, NoReturn

# The class and its operators need each other; the class is looked up when it is used.
from .. import _native
from . import array as _array
from .dtypes import (
    DType, as_dtype, bool_, complex_for, float16, float32, float64, float_for, int8, int64, result_type, wide_for,
)  # fmt: skip
from .index import Axis, axes_of

if TYPE_CHECKING:
    from .array import Array

#: What stands beside an array in an expression; arrays of NumPy are copied to the array's team.
Operand = Any

_COMPARISONS = {
    "equal": operator.eq, "not_equal": operator.ne, "less": operator.lt, "less_equal": operator.le,
    "greater": operator.gt, "greater_equal": operator.ge,
}  # fmt: skip
_SHIFTS = ("left_shift", "right_shift")
_BITWISE = ("and", "or", "xor", *_SHIFTS)
#: What NumPy does to bool in place of arithmetic.
_ON_BOOL = {"add": "or", "multiply": "and", "minimum": "and", "maximum": "or"}
#: Operations that NumPy computes in floats whatever they are given.
_FLOAT_PAIRS = ("arctan2", "hypot", "logaddexp")
_FLOATING = ("divide", *_FLOAT_PAIRS)
_UNCHANGED_INTEGERS = ("floor", "ceil", "trunc", "round")
_ANY_KIND = ("negative", "absolute", "invert")
#: What complex numbers have no meaning for; comparisons of size the extension refuses.
_NOT_COMPLEX = ("floor_divide", "remainder", "logaddexp", *_BITWISE)
#: From here on powers of complex numbers go by way of the logarithm, as in NumPy.
_LARGE_POWER = 100


def unary(name: str, operand: Operand) -> Array:
    """A function of one array, in the type that NumPy would compute it in."""
    if not isinstance(operand, _array.Array):
        raise TypeError(f"{name}: expected a partita.Array, given {type(operand).__name__}; convert with partita.asarray")
    array, dtype = operand, operand.dtype
    if dtype.kind == "c":
        # Which functions there are, the extension knows.
        return _array.Array(array._native.op1(name), array._scalar)
    if name == "isnan" and dtype.kind != "f":
        return array != array
    if name in _UNCHANGED_INTEGERS and dtype.kind != "f":
        # NumPy rounds bool as it does numbers with decimals.
        return array.astype(float16) if dtype is bool_ and name == "round" else array.copy()
    if dtype is bool_ and name == "absolute":
        return array.copy()
    if (dtype is bool_ and name == "negative") or (dtype.kind == "f" and name == "invert"):
        _refuse_dtype(name, dtype)
    native = array._native if name in _ANY_KIND else array._native.cast(float_for(dtype).name)
    return _array.Array(native.op1(name), array._scalar)


def _refuse_dtype(name: str, *dtypes: DType) -> NoReturn:
    given = " and ".join(dtype.name for dtype in dtypes)
    raise TypeError(f"{name}: expected a dtype with this operation, given {given}; convert with astype")


def _weak(value: object) -> bool:
    """Python numbers, which take the type of the array they meet."""
    if not isinstance(value, (bool, int, float, complex)):
        return False
    # NumPy's float64 is a float, its complex128 a complex, and yet they have types of their own.
    return "numpy" not in sys.modules or not isinstance(value, sys.modules["numpy"].generic)


def array_operand(value: Operand, like: Array) -> Array | None:
    """An array, or one of NumPy on the same team; None for what is neither."""
    if isinstance(value, _array.Array):
        return value
    if hasattr(value, "__array__") or hasattr(value, "__dlpack__"):
        from .._api.create import asarray

        shape = getattr(value, "shape", None)
        same = shape == like.shape and not like._scalar
        return asarray(value, dist=like.dist) if same else asarray(value, team=like.team)
    return None


def _weak_type(value: bool | int | float | complex, like: DType) -> DType:
    """The type in which a Python number meets an array."""
    if isinstance(value, complex):
        return complex_for(float64 if like.kind in "bui" else like)
    if isinstance(value, bool):
        return like
    if isinstance(value, int):
        return int64 if like is bool_ else like
    return like if like.kind in "fc" else float64


def of_rank(array: Array, rank: int) -> _native.Array:
    """The engine's array; one without dimensions has at most the rank it is used with."""
    native = array._native
    extra = len(native.shape) - max(rank, 1)
    return native.squeeze(range(extra)) if array._scalar and extra > 0 else native


def _plain(name: str, a: Operand, b: Operand) -> Array | None:
    """The result where no rule has to decide, which is most of the time; it is to cost next to nothing."""
    cls = _array.Array
    if type(a) is cls and not a._scalar:
        if type(b) is not cls:
            native = a._native.plain(name, b, False)
        elif b._scalar:
            return None
        else:
            native = a._native.plain(name, b._native, False)
    elif type(b) is cls and not b._scalar:
        native = None if type(a) is cls else b._native.plain(name, a, True)
    else:
        return None
    return None if native is None else cls(native)


def operate(name: str, a: Operand, b: Operand) -> Array:
    """What an operator of Python gives; NotImplemented for operands that are not known."""
    plain = _plain(name, a, b)
    if plain is not None:
        return plain
    like = a if isinstance(a, _array.Array) else b
    weak = [value for value in (a, b) if _weak(value)]
    if weak:
        common = _weak_type(weak[0], like.dtype)
        scalar = like._scalar
        if name in _COMPARISONS and common.kind in "iu" and beyond(int(weak[0]), common):
            return _all_alike(name, a, b)
        native = [None if _weak(value) else like._native for value in (a, b)]
    else:
        arrays = [array_operand(value, like) for value in (a, b)]
        if arrays[0] is None or arrays[1] is None:
            return NotImplemented  # type: ignore[no-any-return]
        left, right = arrays[0], arrays[1]
        common = result_type(left.dtype, right.dtype)
        if name in _FLOAT_PAIRS:
            common = result_type(float_for(left.dtype), float_for(right.dtype))
        scalar = left._scalar and right._scalar
        rank = max(len(array._native.shape) if scalar else array.ndim for array in (left, right))
        native = [of_rank(left, rank), of_rank(right, rank)]
        if name in _COMPARISONS and {left.dtype.kind, right.dtype.kind} == {"i", "u"} and common.kind == "f":
            return _array.Array(_compare_signed_with_unsigned(name, *native), scalar)
    common = int8 if name == "power" and common is bool_ else common
    if weak and name == "power" and b is weak[0] and isinstance(b, int):
        require_fit(b, common)
        return _integer_power(like.astype(common), b)
    if name == "power" and common.kind in "iu":
        return _integer_powers(*(_integers(value, like, common) for value in (a, b)))
    name, common = _rule(name, common)
    numbers = {id(value): value for value in weak}
    first, second = (
        like._native.constant(common.name, numbers[id(value)]) if array is None else array.cast(common.name)
        for value, array in zip((a, b), native, strict=True)
    )
    if name in _SHIFTS:
        return _array.Array(_shifted(name, common, first, second, numbers.get(id(b))), scalar)
    return _array.Array(_apply(name, common, first, second), scalar)


def beyond(number: int, dtype: DType) -> int:
    """-1 or 1 for numbers below or above all that an integer type holds, else 0."""
    bits = 8 * dtype.itemsize - (dtype.kind == "i")
    return int(number >= 1 << bits) - int(number < (-(1 << bits) if dtype.kind == "i" else 0))


def require_fit(number: int, dtype: DType) -> None:
    """Raises what NumPy raises where an integer type does not hold an integer of Python."""
    if dtype.kind in "iu" and beyond(number, dtype):
        raise OverflowError(f"Python integer {number} out of bounds for {dtype.name}")


def _all_alike(name: str, a: Operand, b: Operand) -> Array:
    """A comparison with an integer that the type does not hold: every element compares as 0 does."""
    array = a if isinstance(a, _array.Array) else b
    left, right = (0 if x is array else x for x in (a, b))
    return _array.Array(array._native.constant("bool", _COMPARISONS[name](left, right)), array._scalar)


def _compare_signed_with_unsigned(name: str, a: _native.Array, b: _native.Array) -> _native.Array:
    """A comparison of integers whose common type is float64, which would round them; NumPy compares their values."""
    signed, order = (b, (0, -1)) if a.dtype == "uint64" else (a, (-1, 0))
    negative = signed.op2("less", signed.constant(signed.dtype, 0))
    return negative.select(
        negative.constant("bool", _COMPARISONS[name](*order)), a.cast("uint64").op2(name, b.cast("uint64"))
    )


def _rule(name: str, common: DType) -> tuple[str, DType]:
    """The operation and the type it is computed in."""
    if name in _COMPARISONS:
        return name, common
    if common is bool_:
        if name == "subtract":
            _refuse_dtype(name, common)
        if name in _SHIFTS:
            common = int8
        name, common = _ON_BOOL.get(name, name), int8 if name in ("floor_divide", "remainder", "power") else common
    if common.kind == "c":
        if name in _NOT_COMPLEX:
            _refuse_dtype(name, common)
        return name, common
    if name in _FLOATING and common.kind != "f":
        common = float64 if name == "divide" else float_for(common)
    if (name in _BITWISE and common.kind == "f") or (name == "power" and common.kind != "f"):
        _refuse_dtype(name, common)
    return name, common


def _apply(name: str, common: DType, a: _native.Array, b: _native.Array) -> _native.Array:
    if name == "logaddexp":
        larger, apart = a.op2("maximum", b), a.op2("subtract", b).op1("absolute")
        # Equal infinities have no difference.
        lost = apart.op1("isnan").op2("and", larger.op1("isnan").op1("invert"))
        return lost.select(larger, larger.op2("add", apart.op1("negative").op1("exp").op1("log1p")))
    if name not in ("floor_divide", "remainder"):
        return a.op2(name, b)
    if common is float16:
        # Rounded once, at the end.
        return _apply(name, float32, a.cast("float32"), b.cast("float32")).cast("float16")
    # The engine's remainder has the sign of the dividend, NumPy's that of the divisor.
    remainder = a.op2("fmod", b)
    zero = remainder.constant(common.name, 0)
    crosses = remainder.op2("not_equal", zero)
    crosses = crosses.op2("and", remainder.op2("less", zero).op2("xor", b.op2("less", b.constant(common.name, 0))))
    if name == "remainder":
        moved = crosses.select(remainder.op2("add", b), remainder)
        if common.kind != "f":
            return moved
        negative = b.op2("less", b.constant(common.name, 0))
        return _with_zeros(moved, negative.select(zero.constant(common.name, -0.0), zero))
    ratio = a.op2("divide", b)
    quotient = a.op2("subtract", remainder).op2("divide", b).op1("round") if common.kind == "f" else ratio
    quotient = crosses.select(quotient.op2("subtract", quotient.constant(common.name, 1)), quotient)
    if common.kind != "f":
        return quotient
    by_zero = b.op2("equal", b.constant(common.name, 0))
    return by_zero.select(ratio, _with_zeros(quotient, ratio.op2("multiply", zero)))


def _shifted(name: str, common: DType, a: _native.Array, b: _native.Array, count: int | None) -> _native.Array:
    """Shifts by any count, of which the engine takes the remainder by the width. From the width on nothing but zeros or
    signs is left; negative counts are as large, as in NumPy. What a plain number asks for is known now."""
    bits = 8 * common.itemsize
    keeps_sign = name == "right_shift" and common.kind == "i"
    if count is not None and 0 <= count < bits:
        return a.op2(name, b)
    if count is not None:
        return a.op2(name, a.constant(common.name, bits - 1)) if keeps_sign else a.constant(common.name, 0)
    unsigned = b.cast(f"uint{bits}")
    within = unsigned.op2("less", unsigned.constant(unsigned.dtype, bits))
    if keeps_sign:
        return a.op2(name, within.select(b, b.constant(common.name, bits - 1)))
    return within.select(a.op2(name, b), b.constant(common.name, 0))


def _with_zeros(result: _native.Array, zeros: _native.Array) -> _native.Array:
    """Zeros with the sign that NumPy gives them: that of the divisor, or that of the exact quotient."""
    return result.op2("equal", result.constant(result.dtype, 0)).select(zeros, result)


def _integer_power(base: Array, exponent: int) -> Array:
    """Powers by multiplication for small exponents and integers, as NumPy gives them for squares."""
    if base.dtype.kind == "c" and not -_LARGE_POWER < exponent < _LARGE_POWER:
        return operate("power", base, complex(exponent))
    if base.dtype.kind == "c" and exponent < 0:
        return 1 / _integer_power(base, -exponent)
    if base.dtype.kind == "f" and exponent not in (0, 1, 2):
        return operate("power", base, float(exponent))
    if exponent < 0:
        if base.size:
            raise ValueError("Integers to negative integer powers are not allowed.")
        return base.copy()
    result = _array.Array(base._native.constant(base.dtype.name, 1), base._scalar) if exponent == 0 else None
    while exponent:
        if exponent & 1:
            result = base if result is None else result * base
        exponent >>= 1
        base = base * base if exponent else base
    assert result is not None
    return result


def _integers(value: Operand, like: Array, common: DType) -> Array:
    if _weak(value):
        return _array.Array(like._native.constant(common.name, value), like._scalar)
    array = array_operand(value, like)
    assert array is not None
    return array.astype(common)


def _integer_powers(base: Array, exponent: Array) -> Array:
    """Powers of integers by repeated squaring; they wrap around. Computes the exponents."""
    result = base * 0 + exponent * 0 + 1
    if exponent.dtype.kind == "i" and result.size and bool((exponent < 0).any()):
        raise ValueError("Integers to negative integer powers are not allowed.")
    for _ in range(int(exponent.max()).bit_length() if exponent.size else 0):
        result = where((exponent & 1) != 0, result * base, result)
        exponent, base = exponent >> 1, base * base
    return result


def binary(name: str, a: Operand, b: Operand) -> Array:
    """A function of two operands, of which one is an array at least."""
    if not isinstance(a, _array.Array) and not isinstance(b, _array.Array):
        given = f"{type(a).__name__} and {type(b).__name__}"
        raise TypeError(f"{name}: expected a partita.Array, given {given}; convert with partita.asarray")
    result = operate(name, a, b)
    if result is NotImplemented:
        raise TypeError(f"{name}: expected arrays or numbers, given {type(a).__name__} and {type(b).__name__}")
    return result


def where(condition: Array, x: Operand, y: Operand) -> Array:
    """``x`` where the condition is true, else ``y``; shapes broadcast."""
    if not isinstance(condition, _array.Array):
        raise TypeError(f"where: expected a partita.Array as condition, given {type(condition).__name__}")
    arrays = [None if _weak(value) else array_operand(value, condition) for value in (x, y)]
    strong = [array for array in arrays if array is not None]
    weak = [value for value in (x, y) if _weak(value)]
    if len(strong) + len(weak) != 2:
        raise TypeError(f"where: expected arrays or numbers, given {type(x).__name__} and {type(y).__name__}")
    common = result_type(bool_, *(array.dtype for array in strong))
    for value in weak:
        common = _weak_type(value, common)
    scalar = condition._scalar and all(array._scalar for array in strong)
    everything = [condition, *strong]
    rank = max(len(array._native.shape) if scalar else array.ndim for array in everything)
    mask = of_rank(condition, rank).cast("bool")
    yes, no = (
        mask.constant(common.name, value) if array is None else of_rank(array, rank).cast(common.name)
        for value, array in zip((x, y), arrays, strict=True)
    )
    return _array.Array(mask.select(yes, no), scalar)


def reduce(name: str, array: Operand, axis: Axis, keepdims: bool, *, dtype: Any = None, out: Any = None) -> Array:
    """A reduction in NumPy's words: over all axes if None, over none if ``()``."""
    if out is not None:
        raise TypeError(f"{name}: expected out=None, given {type(out).__name__}; assign the result: out[...] = ...")
    if dtype is not None:
        kind = as_dtype(dtype)
        return reduce(name, array.astype(kind), axis, keepdims).astype(kind)
    axes = axes_of(name, axis, array.ndim)
    if not axes and array.ndim:
        return _array.Array(array._native.cast(_reduced_type(name, array.dtype).name))
    if name in ("min", "max", "argmin", "argmax") and any(array.shape[d] == 0 for d in axes):
        raise ValueError(f"{name}: expected at least one element to reduce, given shape {array.shape}")
    if name == "prod" and array.dtype.kind == "c":
        from .._api.complex import product

        return product(array, axes, keepdims)
    engine_axes = list(range(len(array._native.shape))) if array._scalar else axes
    whole = len(axes) == array.ndim
    native = array._native.reduce(name, [] if whole else engine_axes)
    if whole and not (keepdims and not array._scalar):
        return _array.Array(native, scalar=len(native.shape) > 0)
    return _array.Array(native if keepdims or array._scalar else native.squeeze(axes), array._scalar)


def _reduced_type(name: str, dtype: DType) -> DType:
    """What a reduction makes of elements of a type."""
    if name in ("all", "any"):
        return bool_
    if name.startswith("mean") and dtype.kind in "bui":
        return float64
    if name.startswith(("sum", "prod")):
        return wide_for(dtype)
    return dtype
