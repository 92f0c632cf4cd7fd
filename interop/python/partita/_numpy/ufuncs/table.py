"""The table of NumPy's functions of elements. Each row makes a `ufunc` and says its other names.

Columns: the name; the kinds of types that it takes (b bool, i signed and u unsigned integers, f floats, c complex numbers); a
sentence, if the engine has the function, or the function that computes it; an example; if there is one, the operator; the engine's
name if it is another; and the reduction of nothing. Mathematical functions are within 2 ulp of the exact value, those of complex
numbers within 6 ulp of its magnitude. interop/tests/test_operations.py compares the engine, the operators, the stub and
docs/numpy.md with the table.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

from ..._core import rules
from ..._core.array import Array
from ..._core.rules import Operand, binary, unary
from . import floats
from .ufunc import ufunc


def _recorded(operation: str, nin: int, doc: str) -> Callable[..., Any]:
    """The function that is an operation of the engine."""

    def one(x: Any, /) -> Array:
        return unary(operation, x)

    def two(a: Operand, b: Operand, /) -> Array:
        return binary(operation, a, b)

    function: Any = one if nin == 1 else two
    # The extension finds the engine's name here.
    function.operation, function.__doc__ = operation, doc
    return function


def _one(name: str, kinds: str, what: Any, example: str, sign: str = "", operation: str = "", nin: int = 1, **settings: Any) -> ufunc:
    function = _recorded(operation or name, nin, what) if isinstance(what, str) else what
    return ufunc(name, function, nin, kinds=kinds, example=example, sign=sign, **settings)


_two = functools.partial(_one, nin=2)

absolute = abs = _one("absolute", "biufc", "Magnitudes.", "abs([-1.5, 2.0]) => [1.5, 2.0]", sign="abs")
negative = _one("negative", "iufc", "Elements with the other sign.", "negative([1, -2]) => [-1, 2]", sign="-")
positive = _one("positive", "iufc", floats.positive, "positive([1, -2]) => [1, -2]", sign="+")
sqrt = _one("sqrt", "biufc", "Square roots, correctly rounded.", "sqrt([4.0, 9.0]) => [2.0, 3.0]")
square = _one("square", "biufc", floats.square, "square([2, 3]) => [4, 9]")
cbrt = _one("cbrt", "biuf", "Cube roots.", "cbrt([8.0, -27.0]) => [2.0, -3.0]")
reciprocal = _one("reciprocal", "biufc", floats.reciprocal, "reciprocal([2.0, 4.0]) => [0.5, 0.25]")
floor = _one("floor", "biuf", "Largest integral values not above.", "floor([1.2, -1.2]) => [1.0, -2.0]")
ceil = _one("ceil", "biuf", "Smallest integral values not below.", "ceil([1.2, -1.2]) => [2.0, -1.0]")
trunc = _one("trunc", "biuf", "Integral values towards zero.", "trunc([1.7, -1.7]) => [1.0, -1.0]")
rint = _one("rint", "biuf", floats.rint, "rint([1.5, 2.5]) => [2.0, 2.0]")
fabs = _one("fabs", "biuf", floats.fabs, "fabs([-1, 2]) => [1.0, 2.0]")
sign = _one("sign", "iufc", floats.sign, "sign([-3, 0, 2]) => [-1, 0, 1]")
isnan = _one("isnan", "biufc", "True where the element is NaN.", "isnan([1.0, pt.nan]) => [False, True]")
isinf = _one("isinf", "biufc", floats.isinf, "isinf([1.0, -pt.inf]) => [False, True]")
isfinite = _one("isfinite", "biufc", floats.isfinite, "isfinite([1.0, pt.inf, pt.nan]) => [True, False, False]")
signbit = _one("signbit", "biuf", floats.signbit, "signbit([-0.0, 0.0, -pt.nan]) => [True, False, True]")
conjugate = conj = _one("conjugate", "biufc", rules.conj, "conj([1 + 2j, 3.0]) => [(1-2j), (3-0j)]")
exp = _one("exp", "biufc", "e to the power of each element.", "exp([0.0, 1.0]).round(3) => [1.0, 2.718]")
exp2 = _one("exp2", "biufc", floats.exp2, "exp2([0.0, 3.0]) => [1.0, 8.0]")
expm1 = _one("expm1", "biufc", "exp(x) - 1, accurate near 0.", "expm1([0.0, 1.0]).round(3) => [0.0, 1.718]")
log = _one("log", "biufc", "Natural logarithms.", "log([1.0, 2.0]).round(3) => [0.0, 0.693]")
log1p = _one("log1p", "biufc", "log(1 + x), accurate near 0.", "log1p([0.0, 1.0]).round(3) => [0.0, 0.693]")
log2 = _one("log2", "biufc", "Logarithms to base 2.", "log2([1.0, 8.0]) => [0.0, 3.0]")
log10 = _one("log10", "biufc", "Logarithms to base 10.", "log10([1.0, 1000.0]) => [0.0, 3.0]")
sin = _one("sin", "biufc", "Sines of angles in radians.", "sin([0.0, 1.0]).round(3) => [0.0, 0.841]")
cos = _one("cos", "biufc", "Cosines of angles in radians.", "cos([0.0, 1.0]).round(3) => [1.0, 0.54]")
tan = _one("tan", "biufc", "Tangents of angles in radians.", "tan([0.0, 1.0]).round(3) => [0.0, 1.557]")
arcsin = asin = _one("arcsin", "biufc", "Angles in radians whose sine is x.", "arcsin([0.0, 1.0]).round(3) => [0.0, 1.571]")
arccos = acos = _one("arccos", "biufc", "Angles in radians whose cosine is x.", "arccos([1.0, 0.0]).round(3) => [0.0, 1.571]")
arctan = atan = _one("arctan", "biufc", "Angles in radians whose tangent is x.", "arctan([0.0, 1.0]).round(3) => [0.0, 0.785]")
sinh = _one("sinh", "biufc", "Hyperbolic sines.", "sinh([0.0, 1.0]).round(3) => [0.0, 1.175]")
cosh = _one("cosh", "biufc", "Hyperbolic cosines.", "cosh([0.0, 1.0]).round(3) => [1.0, 1.543]")
tanh = _one("tanh", "biufc", "Hyperbolic tangents.", "tanh([0.0, 1.0]).round(3) => [0.0, 0.762]")
arcsinh = asinh = _one("arcsinh", "biufc", "Inverse hyperbolic sines.", "arcsinh([0.0, 1.0]).round(3) => [0.0, 0.881]")
arccosh = acosh = _one("arccosh", "biufc", "Inverse hyperbolic cosines.", "arccosh([1.0, 2.0]).round(3) => [0.0, 1.317]")
arctanh = atanh = _one("arctanh", "biufc", "Inverse hyperbolic tangents.", "arctanh([0.0, 0.5]).round(3) => [0.0, 0.549]")
erf = _one("erf", "biuf", "Error function.", "erf([0.0, 1.0]).round(3) => [0.0, 0.843]")
deg2rad = _one("deg2rad", "biuf", floats.deg2rad, "deg2rad([0.0, 180.0]).round(3) => [0.0, 3.142]")
radians = _one("radians", "biuf", floats.deg2rad, "radians([0.0, 180.0]).round(3) => [0.0, 3.142]")
rad2deg = _one("rad2deg", "biuf", floats.rad2deg, "rad2deg([0.0, 1.0]).round(3) => [0.0, 57.296]")
degrees = _one("degrees", "biuf", floats.rad2deg, "degrees([0.0, 1.0]).round(3) => [0.0, 57.296]")
spacing = _one("spacing", "biuf", floats.spacing, "spacing([1.0]) => [2.220446049250313e-16]")
logical_not = _one("logical_not", "biufc", floats.logical_not, "logical_not([0, 2]) => [True, False]")
invert = bitwise_not = bitwise_invert = _one(
    "invert", "biu", "The other bits; of bool, logical not.", "invert([0, 5]) => [-1, -6]", sign="~"
)  # fmt: skip
bitwise_count = _one("bitwise_count", "biu", floats.bitwise_count, "bitwise_count([7, 8]) => [3, 1]")

add = _two("add", "biufc", "Sums.", "add([1, 2], [10, 20]) => [11, 22]", sign="+", identity=0)
subtract = _two("subtract", "iufc", "Differences.", "subtract([1, 2], 3) => [-2, -1]", sign="-")
multiply = _two("multiply", "biufc", "Products.", "multiply([1, 2], 3) => [3, 6]", sign="*", identity=1)
divide = true_divide = _two("divide", "biufc", "Quotients; integers give float64.", "divide([1, 2], 4) => [0.25, 0.5]", sign="/")
floor_divide = _two("floor_divide", "biuf", "Quotients rounded down.", "floor_divide([7, -7], 2) => [3, -4]", sign="//")
remainder = mod = _two("remainder", "biuf", "Remainders with the sign of the divisor.", "remainder([7, -7], 3) => [1, 2]", sign="%")
fmod = _two("fmod", "biuf", floats.fmod, "fmod([7, -7], 3) => [1, -1]")
power = pow = _two("power", "biufc", "Powers.", "power([2, 3], 2) => [4, 9]", sign="**")
float_power = _two("float_power", "biufc", floats.float_power, "float_power([2, 3], 2) => [4.0, 9.0]")
arctan2 = atan2 = _two(
    "arctan2", "biuf", "Angles in radians of the points (b, a).", "arctan2([1.0, -1.0], [1.0, 1.0]).round(3) => [0.785, -0.785]"
)  # fmt: skip
hypot = _two("hypot", "biuf", "sqrt(a^2 + b^2) without undue overflow.", "hypot([3.0, 5.0], [4.0, 12.0]) => [5.0, 13.0]", identity=0)
minimum = _two("minimum", "biuf", "The smaller of two elements; NaN if either is.", "minimum([1, 5], [3, 2]) => [1, 2]")
maximum = _two("maximum", "biuf", "The larger of two elements; NaN if either is.", "maximum([1, 5], [3, 2]) => [3, 5]")
fmin = _two("fmin", "biuf", floats.fmin, "fmin([1.0, pt.nan], [3.0, 2.0]) => [1.0, 2.0]")
fmax = _two("fmax", "biuf", floats.fmax, "fmax([1.0, pt.nan], [3.0, 2.0]) => [3.0, 2.0]")
logaddexp = _two(
    "logaddexp", "biuf", "log(exp(a) + exp(b)) without undue overflow.",
    "logaddexp([0.0, 1.0], 0.0).round(3) => [0.693, 1.313]", identity=-math.inf
)  # fmt: skip
logaddexp2 = _two("logaddexp2", "biuf", floats.logaddexp2, "logaddexp2([0.0, 1.0], 0.0).round(3) => [1.0, 1.585]", identity=-math.inf)
equal = _two("equal", "biufc", "True where elements are equal.", "equal([1, 2], [1, 3]) => [True, False]", sign="==")
not_equal = _two("not_equal", "biufc", "True where elements differ.", "not_equal([1, 2], [1, 3]) => [False, True]", sign="!=")
less = _two("less", "biuf", "True where elements of the first are less.", "less([1, 2], [2, 2]) => [True, False]", sign="<")
less_equal = _two(
    "less_equal", "biuf", "True where elements of the first are less or equal.", "less_equal([1, 3], [1, 2]) => [True, False]", sign="<="
)  # fmt: skip
greater = _two("greater", "biuf", "True where elements of the first are greater.", "greater([1, 2], [1, 1]) => [False, True]", sign=">")
greater_equal = _two(
    "greater_equal", "biuf", "True where elements of the first are greater or equal.",
    "greater_equal([1, 2], [1, 3]) => [True, False]", sign=">="
)  # fmt: skip
logical_and = _two("logical_and", "biufc", floats.logical_and, "logical_and([0, 1], [1, 1]) => [False, True]", identity=True)
logical_or = _two("logical_or", "biufc", floats.logical_or, "logical_or([0, 1], [0, 0]) => [False, True]", identity=False)
logical_xor = _two("logical_xor", "biufc", floats.logical_xor, "logical_xor([0, 1], [1, 1]) => [True, False]", identity=False)
bitwise_and = _two(
    "bitwise_and", "biu", "Bits of both; of bool, logical and.", "bitwise_and([6, 3], 5) => [4, 1]", sign="&", operation="and", identity=-1
)  # fmt: skip
bitwise_or = _two(
    "bitwise_or", "biu", "Bits of either; of bool, logical or.", "bitwise_or([6, 3], 8) => [14, 11]", sign="|", operation="or", identity=0
)  # fmt: skip
bitwise_xor = _two(
    "bitwise_xor", "biu", "Bits of one of both; of bool, logical exclusive or.",
    "bitwise_xor([6, 3], 5) => [3, 6]", sign="^", operation="xor", identity=0
)  # fmt: skip
left_shift = bitwise_left_shift = _two(
    "left_shift", "biu", "Bits shifted to the left; 0 for counts below 0 or from the width on.",
    "left_shift([1, 2], 3) => [8, 16]", sign="<<"
)  # fmt: skip
right_shift = bitwise_right_shift = _two(
    "right_shift", "biu", "Bits shifted to the right; for counts below 0 or from the width on 0, or -1 of negative numbers.",
    "right_shift([16, 9], 2) => [4, 2]", sign=">>"
)  # fmt: skip
heaviside = _two("heaviside", "biuf", floats.heaviside, "heaviside([-1.0, 0.0, 2.0], 0.5) => [0.0, 0.5, 1.0]")
copysign = _two("copysign", "biuf", floats.copysign, "copysign([1.0, 2.0], -0.0) => [-1.0, -2.0]")
nextafter = _two("nextafter", "biuf", floats.nextafter, "nextafter([1.0], 2.0) => [1.0000000000000002]")
ldexp = _two("ldexp", "biuf", floats.ldexp, "ldexp([1.0, 0.5], [3, 1]) => [8.0, 1.0]")
gcd = _two("gcd", "biu", floats.gcd, "gcd([12, 18], 8) => [4, 2]", identity=0)
lcm = _two("lcm", "biu", floats.lcm, "lcm([4, 6], 10) => [20, 30]")

frexp = _one("frexp", "biuf", floats.frexp, "frexp([8.0, 0.75]) => [[0.5, 0.75], [4, 0]]", nout=2)
modf = _one("modf", "biuf", floats.modf, "modf([1.25, -0.5]) => [[0.25, -0.5], [1.0, -0.0]]", nout=2)
divmod = _two("divmod", "biuf", floats.divmod, "divmod([7, -7], 3) => [[2, -3], [1, 2]]", sign="divmod", nout=2)
