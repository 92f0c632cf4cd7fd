"""NumPy's functions of elements by all their names, as `ufunc` objects."""

from __future__ import annotations

import math

from ..._api import functions
from . import floats
from .ufunc import ufunc

__all__ = [
    "abs", "absolute", "acos", "acosh", "add", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh",
    "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and", "bitwise_count", "bitwise_invert", "bitwise_left_shift",
    "bitwise_not", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "cbrt", "ceil", "conj", "conjugate", "copysign",
    "cos", "cosh", "deg2rad", "degrees", "divide", "divmod", "equal", "erf", "exp", "exp2", "expm1", "fabs", "float_power",
    "floor", "floor_divide", "fmax", "fmin", "fmod", "frexp", "gcd", "greater", "greater_equal", "heaviside", "hypot",
    "invert", "isfinite", "isinf", "isnan", "lcm", "ldexp", "left_shift", "less", "less_equal", "log", "log10", "log1p",
    "log2", "logaddexp", "logaddexp2", "logical_and", "logical_not", "logical_or", "logical_xor", "maximum", "minimum",
    "mod", "modf", "multiply", "negative", "nextafter", "not_equal", "positive", "pow", "power", "rad2deg", "radians",
    "reciprocal", "remainder", "right_shift", "rint", "sign", "signbit", "sin", "sinh", "spacing", "sqrt", "square",
    "subtract", "tan", "tanh", "true_divide", "trunc",
]  # fmt: skip

absolute = abs = ufunc("absolute", functions.abs, 1)
negative = ufunc("negative", functions.negative, 1)
positive = ufunc("positive", functions.positive, 1)
sqrt = ufunc("sqrt", functions.sqrt, 1)
square = ufunc("square", functions.square, 1)
cbrt = ufunc("cbrt", functions.cbrt, 1)
reciprocal = ufunc("reciprocal", functions.reciprocal, 1)
floor = ufunc("floor", functions.floor, 1)
ceil = ufunc("ceil", functions.ceil, 1)
trunc = ufunc("trunc", functions.trunc, 1)
rint = ufunc("rint", floats.rint, 1)
fabs = ufunc("fabs", floats.fabs, 1)
sign = ufunc("sign", functions.sign, 1)
isnan = ufunc("isnan", functions.isnan, 1)
isinf = ufunc("isinf", functions.isinf, 1)
isfinite = ufunc("isfinite", functions.isfinite, 1)
signbit = ufunc("signbit", floats.signbit, 1)
conjugate = conj = ufunc("conjugate", functions.conj, 1)
exp = ufunc("exp", functions.exp, 1)
exp2 = ufunc("exp2", floats.exp2, 1)
expm1 = ufunc("expm1", functions.expm1, 1)
log = ufunc("log", functions.log, 1)
log1p = ufunc("log1p", functions.log1p, 1)
log2 = ufunc("log2", functions.log2, 1)
log10 = ufunc("log10", functions.log10, 1)
sin = ufunc("sin", functions.sin, 1)
cos = ufunc("cos", functions.cos, 1)
tan = ufunc("tan", functions.tan, 1)
arcsin = asin = ufunc("arcsin", functions.arcsin, 1)
arccos = acos = ufunc("arccos", functions.arccos, 1)
arctan = atan = ufunc("arctan", functions.arctan, 1)
sinh = ufunc("sinh", functions.sinh, 1)
cosh = ufunc("cosh", functions.cosh, 1)
tanh = ufunc("tanh", functions.tanh, 1)
arcsinh = asinh = ufunc("arcsinh", functions.arcsinh, 1)
arccosh = acosh = ufunc("arccosh", functions.arccosh, 1)
arctanh = atanh = ufunc("arctanh", functions.arctanh, 1)
erf = ufunc("erf", functions.erf, 1)
deg2rad, radians = (ufunc(name, floats.deg2rad, 1) for name in ("deg2rad", "radians"))
rad2deg, degrees = (ufunc(name, floats.rad2deg, 1) for name in ("rad2deg", "degrees"))
spacing = ufunc("spacing", floats.spacing, 1)
logical_not = ufunc("logical_not", functions.logical_not, 1)
invert = bitwise_not = bitwise_invert = ufunc("invert", functions.bitwise_invert, 1)
bitwise_count = ufunc("bitwise_count", floats.bitwise_count, 1)

add = ufunc("add", functions.add, 2, identity=0)
subtract = ufunc("subtract", functions.subtract, 2)
multiply = ufunc("multiply", functions.multiply, 2, identity=1)
divide = true_divide = ufunc("divide", functions.divide, 2)
floor_divide = ufunc("floor_divide", functions.floor_divide, 2)
remainder = mod = ufunc("remainder", functions.remainder, 2)
fmod = ufunc("fmod", floats.fmod, 2)
power = pow = ufunc("power", functions.power, 2)
float_power = ufunc("float_power", floats.float_power, 2)
arctan2 = atan2 = ufunc("arctan2", functions.arctan2, 2)
hypot = ufunc("hypot", functions.hypot, 2, identity=0)
minimum = ufunc("minimum", functions.minimum, 2)
maximum = ufunc("maximum", functions.maximum, 2)
fmin = ufunc("fmin", floats.fmin, 2)
fmax = ufunc("fmax", floats.fmax, 2)
logaddexp = ufunc("logaddexp", functions.logaddexp, 2, identity=-math.inf)
logaddexp2 = ufunc("logaddexp2", floats.logaddexp2, 2, identity=-math.inf)
equal = ufunc("equal", functions.equal, 2)
not_equal = ufunc("not_equal", functions.not_equal, 2)
less = ufunc("less", functions.less, 2)
less_equal = ufunc("less_equal", functions.less_equal, 2)
greater = ufunc("greater", functions.greater, 2)
greater_equal = ufunc("greater_equal", functions.greater_equal, 2)
logical_and = ufunc("logical_and", functions.logical_and, 2, identity=True)
logical_or = ufunc("logical_or", functions.logical_or, 2, identity=False)
logical_xor = ufunc("logical_xor", functions.logical_xor, 2, identity=False)
bitwise_and = ufunc("bitwise_and", functions.bitwise_and, 2, identity=-1)
bitwise_or = ufunc("bitwise_or", functions.bitwise_or, 2, identity=0)
bitwise_xor = ufunc("bitwise_xor", functions.bitwise_xor, 2, identity=0)
left_shift = bitwise_left_shift = ufunc("left_shift", functions.bitwise_left_shift, 2)
right_shift = bitwise_right_shift = ufunc("right_shift", functions.bitwise_right_shift, 2)
heaviside = ufunc("heaviside", floats.heaviside, 2)
copysign = ufunc("copysign", floats.copysign, 2)
nextafter = ufunc("nextafter", floats.nextafter, 2)
ldexp = ufunc("ldexp", floats.ldexp, 2)
gcd = ufunc("gcd", floats.gcd, 2, identity=0)
lcm = ufunc("lcm", floats.lcm, 2)

frexp = ufunc("frexp", floats.frexp, 1, 2)
modf = ufunc("modf", floats.modf, 1, 2)
divmod = ufunc("divmod", floats.divmod, 2, 2)
