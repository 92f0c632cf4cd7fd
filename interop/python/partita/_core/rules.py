"""NumPy's rules for operations: which operands, in which type, with which result. Computing is the engine's.

Numbers of Python are weak: they take the type of the array they meet.
"""

from __future__ import annotations

import operator
import sys
from typing import Any, NoReturn

from .. import _native
from .base import A, BaseArray, array_of, made, operand
from .dtypes import (
    ALL, DType, bool_, complex_for, default, float16, float_for, int8, int64, result_type,
)  # fmt: skip
from .views.links import Component, view
from .watch import is_watched, watch, watched

#: Operands beside an array in an expression; arrays of NumPy are copied to the array's team.
Operand = Any

_COMPARISONS = {
    "equal": operator.eq, "not_equal": operator.ne, "less": operator.lt, "less_equal": operator.le,
    "greater": operator.gt, "greater_equal": operator.ge,
}  # fmt: skip
_SHIFTS = ("left_shift", "right_shift")
_BITWISE = ("and", "or", "xor", *_SHIFTS)
#: Powers that NumPy's operator computes by other functions, which its texts name.
_POWERS = {-1: "reciprocal", 0.5: "sqrt", 2: "square"}
#: NumPy's operations on bool in place of arithmetic.
_ON_BOOL = {"add": "or", "multiply": "and", "minimum": "and", "maximum": "or"}
#: Operations that NumPy computes in floats whatever they are given.
_FLOAT_PAIRS = ("arctan2", "hypot", "logaddexp")
_FLOATING = ("divide", *_FLOAT_PAIRS)
_UNCHANGED_INTEGERS = ("floor", "ceil", "trunc", "round")
_ANY_KIND = ("negative", "absolute", "invert")
#: Operations that complex numbers do not have; comparisons of size the extension refuses.
_NOT_COMPLEX = ("fmod", "floor_divide", "remainder", "logaddexp", *_BITWISE)
#: The types of NumPy's numbers that arrays have too.
_NUMBERS = frozenset(dtype.name for dtype in ALL)
#: Types that NumPy compares with every element, of which none is equal.
_NEVER_EQUAL = (str, bytes, type(None), dict, set, frozenset)
#: From here on powers of complex numbers go by way of the logarithm, as in NumPy.
_LARGE_POWER = 100


def unary(name: str, array: A) -> A:
    """A function of one array, in the type that NumPy would compute it in."""
    plain = _native.plain1(name, array)
    return unary_by_rules(name, array) if plain is None else plain


def unary_by_rules(name: str, array: A) -> A:
    """`unary` where a rule of NumPy's decides, or a condition may have to raise."""
    if watch.count and is_watched():
        return watched(name, (array,), unary_by_rules, name, array)  # type: ignore[no-any-return]
    array = array_of(name, array)
    dtype = array.dtype
    if dtype.kind == "c":
        # Which functions there are, the extension knows.
        return made(array._native.op1(name))  # type: ignore[no-any-return]
    if name == "isnan" and dtype.kind != "f":
        return operate("not_equal", array, array)  # type: ignore[no-any-return]
    if name in _UNCHANGED_INTEGERS and dtype.kind != "f":
        # NumPy rounds bool as it does numbers with decimals.
        return array.astype(float16) if dtype is bool_ and name == "round" else +array
    if dtype is bool_ and name == "absolute":
        return +array
    if (dtype is bool_ and name == "negative") or (dtype.kind == "f" and name == "invert"):
        _refuse_dtype(name, dtype)
    native = array._native if name in _ANY_KIND else array._native.cast(float_for(dtype).name)
    return made(native.op1(name))  # type: ignore[no-any-return]


def _refuse_dtype(name: str, *dtypes: DType) -> NoReturn:
    given = " and ".join(dtype.name for dtype in dtypes)
    raise TypeError(f"{name}: expected a dtype with this operation, given {given}; convert with astype")


def _weak(value: object) -> bool:
    """Python numbers, which take the type of the array they meet."""
    if not isinstance(value, (bool, int, float, complex)):
        return False
    # NumPy's float64 is a float, its complex128 a complex, and yet they have types of their own.
    return "numpy" not in sys.modules or not isinstance(value, sys.modules["numpy"].generic)


def _weak_type(value: bool | int | float | complex, like: DType) -> DType:
    """The type in which a Python number meets an array."""
    if isinstance(value, complex):
        return complex_for(default.float if like.kind in "bui" else like)
    if isinstance(value, bool):
        return like
    if isinstance(value, int):
        return int64 if like is bool_ else like
    return like if like.kind in "fc" else default.float


def operate(name: str, a: Operand, b: Operand) -> Any:
    """The result of an operator of Python; NotImplemented for operands that are not known."""
    plain = _native.plain(name, a, b)
    return by_rules(name, a, b) if plain is None else plain


def by_rules(name: str, a: Operand, b: Operand) -> Any:
    """`operate` where a rule of NumPy's decides, or a condition may have to raise."""
    if watch.count and is_watched():
        short = _POWERS.get(b) if name == "power" and _weak(b) else None
        return watched(short or name, (a,) if short else (a, b), by_rules, name, a, b)
    like: BaseArray = a if isinstance(a, BaseArray) else b
    weak = [value for value in (a, b) if _weak(value)]
    if weak:
        common = _weak_type(weak[0], like.dtype)
        if name in _COMPARISONS and common.kind in "iu" and beyond(int(weak[0]), common):
            return _all_alike(name, a, b, like)
        native = [None if _weak(value) else like._native for value in (a, b)]
    else:
        arrays = [_strong(value, like) for value in (a, b)]
        if arrays[0] is None or arrays[1] is None:
            if name in ("equal", "not_equal") and isinstance(b if like is a else a, _NEVER_EQUAL):
                return made(like._native.constant("bool", name == "not_equal"))
            return NotImplemented
        left, right = arrays[0], arrays[1]
        common = result_type(left.dtype, right.dtype)
        if name in _FLOAT_PAIRS:
            common = result_type(float_for(left.dtype), float_for(right.dtype))
        native = [left._native, right._native]
        if name in _COMPARISONS and {left.dtype.kind, right.dtype.kind} == {"i", "u"} and common.kind == "f":
            return made(_compare_signed_with_unsigned(name, left._native, right._native))
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
        return made(_shifted(name, common, first, second, numbers.get(id(b))))
    return made(first.op2(name, second))


def _strong(value: Operand, like: A) -> A | None:
    """An operand that is no number of Python as an array. A number of NumPy's is one beside ``like``, and no data."""
    if not isinstance(value, BaseArray) and "numpy" in sys.modules and isinstance(value, sys.modules["numpy"].generic):
        name = value.dtype.name
        if name in _NUMBERS:
            return made(like._native.constant(name, value.item()))  # type: ignore[no-any-return]
    return operand(value, like)  # type: ignore[no-any-return]


def beyond(number: int, dtype: DType) -> int:
    """-1 or 1 for numbers below or above all that an integer type holds, else 0."""
    bits = 8 * dtype.itemsize - (dtype.kind == "i")
    return int(number >= 1 << bits) - int(number < (-(1 << bits) if dtype.kind == "i" else 0))


def require_fit(number: int, dtype: DType) -> None:
    """Raises what NumPy raises where an integer type does not hold an integer of Python."""
    if dtype.kind in "iu" and beyond(number, dtype):
        raise OverflowError(f"Python integer {number} out of bounds for {dtype.name}")


def _all_alike(name: str, a: Operand, b: Operand, array: A) -> A:
    """A comparison with an integer that the type does not hold: every element compares as 0 does."""
    left, right = (0 if x is array else x for x in (a, b))
    return made(array._native.constant("bool", _COMPARISONS[name](left, right)))  # type: ignore[no-any-return]


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
        name, common = _ON_BOOL.get(name, name), int8 if name in ("floor_divide", "remainder", "fmod", "power") else common
    if common.kind == "c":
        if name in _NOT_COMPLEX:
            _refuse_dtype(name, common)
        return name, common
    if name in _FLOATING and common.kind != "f":
        common = default.float if name == "divide" else float_for(common)
    if (name in _BITWISE and common.kind == "f") or (name == "power" and common.kind != "f"):
        _refuse_dtype(name, common)
    return name, common


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


def _integer_power(base: A, exponent: int) -> A:
    """Powers by multiplication for small exponents and integers, as NumPy gives them for squares."""
    if base.dtype.kind == "c" and not -_LARGE_POWER < exponent < _LARGE_POWER:
        return operate("power", base, complex(exponent))  # type: ignore[no-any-return]
    if base.dtype.kind == "c" and exponent < 0:
        return operate("divide", 1, _integer_power(base, -exponent))  # type: ignore[no-any-return]
    if base.dtype.kind == "f" and exponent not in (0, 1, 2):
        return operate("power", base, float(exponent))  # type: ignore[no-any-return]
    if exponent < 0:
        if base.size:
            raise ValueError("Integers to negative integer powers are not allowed.")
        return base.copy()
    result: A | None = made(base._native.constant(base.dtype.name, 1)) if exponent == 0 else None
    while exponent:
        if exponent & 1:
            result = base if result is None else operate("multiply", result, base)
        exponent >>= 1
        base = operate("multiply", base, base) if exponent else base
    assert result is not None
    return result


def _integers(value: Operand, like: A, common: DType) -> A:
    if _weak(value):
        return made(like._native.constant(common.name, value))  # type: ignore[no-any-return]
    return _strong(value, like).astype(common)  # type: ignore[union-attr]


def _integer_powers(base: A, exponent: A) -> A:
    """Powers of integers by repeated squaring; they wrap around. Computes the exponents."""
    result: A = operate("add", operate("add", operate("multiply", base, 0), operate("multiply", exponent, 0)), 1)
    least, most = (int(BaseArray(exponent._native.reduce(name, []))) for name in ("min", "max")) if result.size else (0, 0)
    if least < 0:
        raise ValueError("Integers to negative integer powers are not allowed.")
    for _ in range(most.bit_length()):
        is_odd = operate("not_equal", operate("and", exponent, 1), 0)
        result = where(is_odd, operate("multiply", result, base), result)
        exponent, base = operate("right_shift", exponent, 1), operate("multiply", base, base)
    return result


def binary(name: str, a: Operand, b: Operand) -> Any:
    """A function of two operands; its class of arrays."""
    if not isinstance(a, BaseArray) and not isinstance(b, BaseArray):
        a, b = (a, array_of(name, b)) if _weak(a) and not _weak(b) else (array_of(name, a), b)
    result = operate(name, a, b)
    if result is NotImplemented:
        raise TypeError(f"{name}: expected arrays or numbers, given {_names(a, b)}")
    return result


def _names(a: object, b: object) -> str:
    return f"{type(a).__name__} and {type(b).__name__}"


def where(condition: A, x: Operand, y: Operand, /) -> A:
    """``x`` where the condition is true, else ``y``; shapes broadcast."""
    if isinstance(condition, BaseArray) and isinstance(x, BaseArray) and isinstance(y, BaseArray):
        mask, yes, no = condition._native, x._native, y._native
        if mask.dtype == "bool" and yes.dtype == no.dtype and condition.ndim:
            # No rule has to decide.
            return type(condition)(mask.select(yes, no))
    like = next((value for value in (condition, x, y) if isinstance(value, BaseArray)), None)
    condition = array_of("where", condition, like)
    arrays: list[Any] = [None if _weak(value) else _strong(value, condition if like is None else like) for value in (x, y)]
    strong = [array for array in arrays if array is not None]
    weak = [value for value in (x, y) if _weak(value)]
    if len(strong) + len(weak) != 2:
        raise TypeError(f"where: expected arrays or numbers, given {_names(x, y)}")
    common = result_type(bool_, *(array.dtype for array in strong))
    for value in weak:
        common = _weak_type(value, common)
    mask = condition._native.cast("bool")
    yes, no = (
        mask.constant(common.name, value) if array is None else array._native.cast(common.name)
        for value, array in zip((x, y), arrays, strict=True)
    )
    return made(mask.select(yes, no))  # type: ignore[no-any-return]


def real(val: A) -> A:
    """Real parts, a view; real arrays are their own.

    Examples
    --------
    >>> import partita as pt
    >>> z = pt.asarray([1 + 2j, 3 + 4j])
    >>> z.real[0] = 7
    >>> z.tolist()
    [(7+2j), (3+4j)]
    """
    val = array_of("real", val)
    return view(val, Component(0)) if val.dtype.kind == "c" else val


def imag(val: A) -> A:
    """Imaginary parts, a view; those of real arrays are zeros, read-only.

    Examples
    --------
    >>> import partita as pt
    >>> pt.imag(pt.asarray([1 + 2j, 3 + 4j])).tolist()
    [2.0, 4.0]
    """
    val = array_of("imag", val)
    if val.dtype.kind == "c":
        return view(val, Component(1))
    zeros = type(val)(val._native.constant(val.dtype.name, 0))
    zeros._readonly = True
    return zeros


def conj(x: A, /) -> A:
    """Complex conjugates. Real arrays are their own."""
    x = array_of("conj", x)
    return unary("conj", x) if x.dtype.kind == "c" else +x


def angle(z: A) -> A:
    """Arguments of complex numbers, in radians from -pi to pi."""
    z = array_of("angle", z)
    if z.dtype.kind != "c":
        raise TypeError(f"angle: expected complex numbers, given {z.dtype.name}; use arctan2(0 * x, x)")
    return unary("angle", z)
