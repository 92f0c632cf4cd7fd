"""Functions of elements that the engine has no operation for, made of those it has. What takes floats apart (`frexp`,
`ldexp`, `nextafter`, `spacing`) only multiplies by powers of two and adds, which is exact."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..._core.array import Array
from ..._core.base import array_of, arrays_of
from ..._core.dtypes import DType, bool_, complex_for, float16, float32, float64, float_for, int8, int32, int64, result_type, uint8, uint64
from ..._core.rules import Operand, binary, unary, where

#: Binary digits of the fraction with its leading one, and the exponent of the least normal number.
_SHAPES = {"float16": (11, -14), "bfloat16": (8, -126), "float32": (24, -126), "float64": (53, -1022)}


def _real(name: str, x: Any, like: Array | None = None) -> Array:
    """In the type of floats that NumPy computes in."""
    x = array_of(name, x, like)
    if x.dtype.kind == "c":
        raise TypeError(f"{name}: expected real numbers, given {x.dtype.name}; apply it to partita.real(x) or imag(x)")
    return x.astype(float_for(x.dtype))


def _reals(name: str, a: Any, b: Any) -> tuple[Array, Array]:
    """Both in the type of floats that NumPy computes in; numbers of Python follow the other operand."""
    if type(a) in (bool, int, float) and type(b) not in (bool, int, float):
        return _reals(name, b, a)[::-1]
    if type(b) in (bool, int, float):
        a = _real(name, a)
        return a, array_of(name, b, a).astype(a.dtype)
    left, right = (_real(name, x) for x in arrays_of(name, (a, b)))
    common = result_type(left.dtype, right.dtype)
    return left.astype(common), right.astype(common)


def _isnan(x: Array) -> Array:
    return unary("isnan", x)


def rint(x: Any, /) -> Array:
    """Nearest integral values, ties to even, as floats."""
    return unary("round", _real("rint", x))


def fabs(x: Any, /) -> Array:
    """Magnitudes, as floats."""
    return abs(_real("fabs", x))


def exp2(x: Any, /) -> Array:
    """2 to the power of each element."""
    x = array_of("exp2", x)
    return 2.0 ** x.astype(float_for(x.dtype))


def _scaled(name: str, x: Any, number: float, over: float) -> Array:
    """Times a quotient that is rounded to the type, from float32 on."""
    import numpy as np

    x = _real(name, x)
    kind = np.float64 if x.dtype is float64 else np.float32
    factor = float(kind(number) / kind(over))
    return (x.astype(float32) * factor).astype(float16) if x.dtype is float16 else x * factor


def deg2rad(x: Any, /) -> Array:
    """Angles in radians of those in degrees."""
    return _scaled("deg2rad", x, math.pi, 180.0)


def rad2deg(x: Any, /) -> Array:
    """Angles in degrees of those in radians."""
    return _scaled("rad2deg", x, 180.0, math.pi)


def _known(pick: str, name: str, a: Operand, b: Operand) -> Array:
    """The operand that is not NaN; of two numbers the one that ``pick`` picks."""
    best = binary(pick, a, b)
    if best.dtype.kind not in "fc":
        return best
    left, right = (array_of(name, x, best).astype(best.dtype) for x in (a, b))
    return where(_isnan(left), right, where(_isnan(right), left, best))


def fmax(a: Operand, b: Operand, /) -> Array:
    """The larger of two elements; of a NaN and a number the number."""
    return _known("maximum", "fmax", a, b)


def fmin(a: Operand, b: Operand, /) -> Array:
    """The smaller of two elements; of a NaN and a number the number."""
    return _known("minimum", "fmin", a, b)


def fmod(a: Operand, b: Operand, /) -> Array:
    """Remainders with the sign of the dividend; of integers by 0 they are 0."""
    return binary("fmod", a, b)


def heaviside(a: Operand, b: Operand, /) -> Array:
    """0 below 0, 1 above, and ``b`` at 0."""
    x, middle = _reals("heaviside", a, b)
    return where(_isnan(x), x, where(x == 0, middle, (x > 0).astype(x.dtype)))


def signbit(x: Any, /) -> Array:
    """True where elements are negative, -0.0 and negative NaN included."""
    x = array_of("signbit", x)
    if x.dtype.kind == "c":
        raise TypeError(f"signbit: expected real numbers, given {x.dtype.name}; apply it to partita.real(x) or imag(x)")
    if x.dtype.kind != "f":
        return x < 0
    return x.view(f"int{8 * x.dtype.itemsize}") < 0


def copysign(a: Operand, b: Operand, /) -> Array:
    """The magnitude of the first with the sign of the second."""
    x, sign = _reals("copysign", a, b)
    return where(signbit(sign), -abs(x), abs(x))


def _powers(k: Array, kind: DType) -> Array:
    """2 to the power of integers that give normal numbers; exact."""
    scale, steps = k * 0 + 1, abs(k)
    scale = scale.astype(kind)
    for bit in range(10 if kind is float64 else 7):
        by = math.ldexp(1.0, 1 << bit)
        scale = where((steps & (1 << bit)) != 0, scale * where(k < 0, 1 / by, by).astype(kind), scale)
    return scale


def _apart(x: Array) -> tuple[Array, Array]:
    """Mantissas from 0.5 up to 1 and exponents. Of 0, infinities and NaN themselves and 0."""
    kind = x.dtype
    is_number = (x != 0) & (abs(x) < math.inf)
    part = where(is_number, abs(x), 0.5)
    # Subnormal numbers become normal ones first.
    digits, least = _SHAPES[kind.name]
    tiny = part < math.ldexp(1.0, least)
    part, exponent = where(tiny, part * math.ldexp(1.0, digits), part), where(tiny, -digits, 0).astype(int32)
    for bit in reversed(range(10 if kind is float64 else 7)):
        by, steps = math.ldexp(1.0, 1 << bit), 1 << bit
        large, small = part >= by, part < 1 / by
        part = where(large, part * (1 / by), where(small, part * by, part))
        exponent = where(large, exponent + steps, where(small, exponent - steps, exponent))
    # Above 0.25 and below 4 now.
    for _ in range(2):
        large, small = part >= 1, part < 0.5
        part = where(large, part * 0.5, where(small, part * 2.0, part))
        exponent = where(large, exponent + 1, where(small, exponent - 1, exponent))
    return where(is_number, where(x < 0, -part, part), x), exponent


def frexp(x: Any, /) -> tuple[Array, Array]:
    """Mantissas from 0.5 up to 1, and exponents of 2."""
    x = _real("frexp", x)
    part, exponent = _apart(x.astype(float32) if x.dtype is float16 else x)
    return part.astype(x.dtype), exponent


def ldexp(a: Operand, b: Operand, /) -> Array:
    """a 2^b, rounded once."""
    a, count = arrays_of("ldexp", (a, b))
    if count.dtype.kind not in "bui":
        raise TypeError(f"ldexp: expected integers as exponents, given {count.dtype.name}; use exp2")
    x = _real("ldexp", a)
    wide = x.astype(float32) if x.dtype is float16 else x
    least = _SHAPES[wide.dtype.name][1]
    part, exponent = _apart(wide)
    count = binary("minimum", count if count.dtype.itemsize == 8 else count.astype(int64), 5000).astype(int64)
    # From 1 up to 2 times a power: as far down as there are normal numbers, then the rest of the way at once.
    power = exponent - 1 + binary("maximum", count, -5000).astype(int32)
    inner, rest = binary("minimum", binary("maximum", power, least), -least + 2), binary("minimum", power - least, 0)
    rest = binary("maximum", rest, -64)
    half = inner // 2
    result = part * 2.0 * _powers(half, wide.dtype) * _powers(inner - half, wide.dtype) * _powers(rest, wide.dtype)
    return result.astype(x.dtype)


def _unit(x: Array) -> Array:
    """The distance to the next number away from 0."""
    digits, least = _SHAPES[x.dtype.name]
    exponent = binary("maximum", _apart(x.astype(float32) if x.dtype is float16 else x)[1] - 1, least)
    exponent = where(x == 0, least, exponent)
    # 2^(e - digits + 1), of which the second factor may be subnormal.
    kind = float32 if x.dtype is float16 else x.dtype
    return (_powers(exponent, kind) * math.ldexp(1.0, 1 - digits)).astype(x.dtype)


def spacing(x: Any, /) -> Array:
    """The distance to the next number away from 0, with the sign of the element."""
    x = _real("spacing", x)
    unit = _unit(x)
    away = where(abs(x) + unit == math.inf, math.inf, unit)
    away = where(x < 0, -away, away)
    return where(isinf(x) | _isnan(x), math.nan, away)


def nextafter(a: Operand, b: Operand, /) -> Array:
    """The next number after the first towards the second."""
    x, to = _reals("nextafter", a, b)
    digits, least = _SHAPES[x.dtype.name]
    unit, size = _unit(x), abs(x)
    # Below a power of two numbers lie twice as close.
    part = frexp(size)[0]
    below = where((part == 0.5) & (size > math.ldexp(1.0, least)), unit * 0.5, unit)
    largest = math.ldexp(2.0 - math.ldexp(1.0, 1 - digits), -least + 1)
    inner = where(isinf(x), largest, size - below)
    outwards = (to > x) == (x > 0)
    moved = where(outwards, size + unit, inner)
    moved = where(x < 0, -moved, moved)
    moved = where(x == 0, where(to > 0, unit, -unit), moved)
    return where(_isnan(x) | _isnan(to), x + to, where(x == to, to, moved))


def modf(x: Any, /) -> tuple[Array, Array]:
    """Fractions and integral parts, both with the sign of the element."""
    x = _real("modf", x)
    whole = unary("trunc", x)
    return copysign(where(isinf(x), 0.0, x - whole), x), whole


def divmod(a: Operand, b: Operand, /) -> tuple[Array, Array]:
    """Quotients rounded down, and remainders with the sign of the divisor."""
    return binary("floor_divide", a, b), binary("remainder", a, b)


def float_power(a: Operand, b: Operand, /) -> Array:
    """Powers in float64 at least."""
    wide = [x.astype(result_type(x.dtype, float64) if x.dtype.kind != "c" else complex_for(float64)) for x in arrays_of("float_power", (a, b))]
    return binary("power", *wide)


def logaddexp2(a: Operand, b: Operand, /) -> Array:
    """log2(2^a + 2^b) without undue overflow."""
    x, y = _reals("logaddexp2", a, b)
    larger, apart = binary("maximum", x, y), abs(x - y)
    return where(x == y, x + 1.0, larger + unary("log1p", exp2(-apart)) * math.log2(math.e))


def gcd(a: Operand, b: Operand, /) -> Array:
    """Greatest common divisors of integers. Computes: Euclid's steps go on until all are done."""
    x, y = _integers("gcd", a, b)
    while bool((y != 0).any()):
        x, y = where(y != 0, y, x).eval(), where(y != 0, fmod(x, where(y != 0, y, 1)), 0).eval()
    return abs(x)


def lcm(a: Operand, b: Operand, /) -> Array:
    """Least common multiples of integers. Computes, as `gcd`."""
    x, y = _integers("lcm", a, b)
    common = gcd(x, y)
    return x // where(common == 0, 1, common) * y


def _integers(name: str, a: Operand, b: Operand) -> tuple[Array, Array]:
    """Magnitudes in the common type, with one shape."""
    zero = binary("add", a, b) * 0
    if zero.dtype.kind not in "ui":
        raise TypeError(f"{name}: expected integers, given {zero.dtype.name}; convert with astype")
    return abs(zero + a), abs(zero + b)


def bitwise_count(x: Any, /) -> Array:
    """The number of bits of the magnitude that are 1."""
    x = array_of("bitwise_count", x)
    if x.dtype is bool_:
        return x.astype(uint8)
    if x.dtype.kind not in "ui":
        raise TypeError(f"bitwise_count: expected integers, given {x.dtype.name}; convert with astype")
    bits = 8 * x.dtype.itemsize
    # Sums of neighbouring bits, of pairs, of fours; then a product adds the bytes.
    count = abs(x).astype({8: "uint8", 16: "uint16", 32: "uint32", 64: "uint64"}[bits]).astype(uint64)
    count = count - ((count >> 1) & 0x5555555555555555)
    count = (count & 0x3333333333333333) + ((count >> 2) & 0x3333333333333333)
    count = (count + (count >> 4)) & 0x0F0F0F0F0F0F0F0F
    return ((count * 0x0101010101010101) >> 56).astype(uint8)


def square(x: Array, /) -> Array:
    """Squares; those of bool are int8."""
    x = array_of("square", x)
    x = x.astype(int8) if x.dtype is bool_ else x
    return x * x


def isinf(x: Array, /) -> Array:
    """True where the element is infinite."""
    x = array_of("isinf", x)
    if x.dtype.kind == "c":
        return isinf(x.real) | isinf(x.imag)
    return unary("absolute", x) == float("inf")


def isfinite(x: Array, /) -> Array:
    """True where the element is neither infinite nor NaN."""
    x = array_of("isfinite", x)
    if x.dtype.kind == "c":
        return isfinite(x.real) & isfinite(x.imag)
    return unary("absolute", x) < float("inf")


def positive(x: Array, /) -> Array:
    """The same elements."""
    x = array_of("positive", x)
    if x.dtype is bool_:
        raise TypeError("positive: expected a dtype with this operation, given bool; convert with astype")
    return +x


def reciprocal(x: Array, /) -> Array:
    """1 / x; of integers without its decimals, of 0 then 0."""
    x = array_of("reciprocal", x)
    x = x.astype(int8) if x.dtype is bool_ else x
    return where(abs(x) == 1, x, 0) if x.dtype.kind in "iu" else 1 / x


def sign(x: Array, /) -> Array:
    """-1, 0 or 1 as the element is less than, equal to or greater than 0; NaN stays. Of complex numbers, x / abs(x)."""
    x = array_of("sign", x)
    if x.dtype.kind == "c":
        return where(x == 0, 0, x / abs(x))
    signs = (x > 0).astype(x.dtype) - (x < 0).astype(x.dtype)
    return where(_isnan(x), x, signs) if x.dtype.kind == "f" else signs


def _truth(x: Operand) -> Operand:
    return bool(x) if isinstance(x, (int, float, complex)) else array_of("logical function", x).astype(bool)


def _logical(operation: str, doc: str) -> Callable[[Operand, Operand], Array]:
    def function(a: Operand, b: Operand, /) -> Array:
        return binary(operation, _truth(a), _truth(b))

    function.__doc__ = doc
    return function


logical_and = _logical("and", "True where both are nonzero.")
logical_or = _logical("or", "True where either is nonzero.")
logical_xor = _logical("xor", "True where one of both is nonzero.")


def logical_not(x: Array, /) -> Array:
    """True where the element is 0."""
    return unary("invert", _truth(x))
