"""NumPy's functions by NumPy's names. Mathematical functions are within 2 ulp of the exact value, those of complex
numbers within 6 ulp of its magnitude."""

from __future__ import annotations

from ._array import Array
from ._dtypes import DType, bool_, int8
from ._index import Axis
from ._rules import Operand, beyond, binary, unary, where

__all__ = [
    "abs", "bitwise_and", "bitwise_invert", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor",
    "equal", "greater", "greater_equal", "less", "less_equal", "logaddexp", "logical_and", "logical_not", "logical_or",
    "logical_xor", "not_equal", "positive", "reciprocal", "sign",
    "add",
    "all",
    "any",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "argmax",
    "argmin",
    "cbrt",
    "ceil",
    "clip",
    "cos",
    "cosh",
    "divide",
    "erf",
    "exp",
    "expm1",
    "floor",
    "floor_divide",
    "hypot",
    "isfinite",
    "isinf",
    "isnan",
    "log",
    "log10",
    "log1p",
    "log2",
    "max",
    "maximum",
    "mean",
    "min",
    "minimum",
    "multiply",
    "negative",
    "power",
    "prod",
    "remainder",
    "round",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "subtract",
    "sum",
    "tan",
    "tanh",
    "trunc",
    "where",
]  # fmt: skip


def abs(x: Array, /) -> Array:
    """Magnitudes."""
    return unary("absolute", x)


def negative(x: Array, /) -> Array:
    """Elements with the other sign."""
    return unary("negative", x)


def sqrt(x: Array, /) -> Array:
    """Square roots, correctly rounded."""
    return unary("sqrt", x)


def floor(x: Array, /) -> Array:
    """Largest integral values not above."""
    return unary("floor", x)


def ceil(x: Array, /) -> Array:
    """Smallest integral values not below."""
    return unary("ceil", x)


def trunc(x: Array, /) -> Array:
    """Integral values towards zero."""
    return unary("trunc", x)


def round(x: Array, /) -> Array:
    """Nearest integral values, ties to even."""
    return unary("round", x)


def isnan(x: Array, /) -> Array:
    """True where the element is NaN."""
    return unary("isnan", x)


def exp(x: Array, /) -> Array:
    """e to the power of each element."""
    return unary("exp", x)


def expm1(x: Array, /) -> Array:
    """exp(x) - 1, accurate near 0."""
    return unary("expm1", x)


def log(x: Array, /) -> Array:
    """Natural logarithms."""
    return unary("log", x)


def log1p(x: Array, /) -> Array:
    """log(1 + x), accurate near 0."""
    return unary("log1p", x)


def log2(x: Array, /) -> Array:
    """Logarithms to base 2."""
    return unary("log2", x)


def log10(x: Array, /) -> Array:
    """Logarithms to base 10."""
    return unary("log10", x)


def sin(x: Array, /) -> Array:
    """Sines of angles in radians."""
    return unary("sin", x)


def cos(x: Array, /) -> Array:
    """Cosines of angles in radians."""
    return unary("cos", x)


def tan(x: Array, /) -> Array:
    """Tangents of angles in radians."""
    return unary("tan", x)


def arcsin(x: Array, /) -> Array:
    """Angles in radians whose sine is x."""
    return unary("arcsin", x)


def arccos(x: Array, /) -> Array:
    """Angles in radians whose cosine is x."""
    return unary("arccos", x)


def arctan(x: Array, /) -> Array:
    """Angles in radians whose tangent is x."""
    return unary("arctan", x)


def sinh(x: Array, /) -> Array:
    """Hyperbolic sines."""
    return unary("sinh", x)


def cosh(x: Array, /) -> Array:
    """Hyperbolic cosines."""
    return unary("cosh", x)


def tanh(x: Array, /) -> Array:
    """Hyperbolic tangents."""
    return unary("tanh", x)


def arcsinh(x: Array, /) -> Array:
    """Inverse hyperbolic sines."""
    return unary("arcsinh", x)


def arccosh(x: Array, /) -> Array:
    """Inverse hyperbolic cosines."""
    return unary("arccosh", x)


def arctanh(x: Array, /) -> Array:
    """Inverse hyperbolic tangents."""
    return unary("arctanh", x)


def erf(x: Array, /) -> Array:
    """Error function."""
    return unary("erf", x)


def cbrt(x: Array, /) -> Array:
    """Cube roots."""
    return unary("cbrt", x)


def add(a: Operand, b: Operand, /) -> Array:
    """Sums."""
    return binary("add", a, b)


def subtract(a: Operand, b: Operand, /) -> Array:
    """Differences."""
    return binary("subtract", a, b)


def multiply(a: Operand, b: Operand, /) -> Array:
    """Products."""
    return binary("multiply", a, b)


def divide(a: Operand, b: Operand, /) -> Array:
    """Quotients; integers give float64."""
    return binary("divide", a, b)


def floor_divide(a: Operand, b: Operand, /) -> Array:
    """Quotients rounded down."""
    return binary("floor_divide", a, b)


def remainder(a: Operand, b: Operand, /) -> Array:
    """Remainders with the sign of the divisor."""
    return binary("remainder", a, b)


def power(a: Operand, b: Operand, /) -> Array:
    """Powers."""
    return binary("power", a, b)


def arctan2(a: Operand, b: Operand, /) -> Array:
    """Angles in radians of the points (b, a)."""
    return binary("arctan2", a, b)


def hypot(a: Operand, b: Operand, /) -> Array:
    """sqrt(a^2 + b^2) without undue overflow."""
    return binary("hypot", a, b)


def minimum(a: Operand, b: Operand, /) -> Array:
    """The smaller of two elements; NaN if either is."""
    return binary("minimum", a, b)


def maximum(a: Operand, b: Operand, /) -> Array:
    """The larger of two elements; NaN if either is."""
    return binary("maximum", a, b)


def sum(x: Array, /, axis: Axis = None, keepdims: bool = False) -> Array:
    """Sums over ``axis`` (all if None). Integers and bool sum in 64 bits."""
    return x.sum(axis, keepdims)


def prod(x: Array, /, axis: Axis = None, keepdims: bool = False) -> Array:
    """Products over ``axis`` (all if None). Integers and bool multiply in 64 bits."""
    return x.prod(axis, keepdims)


def min(x: Array, /, axis: Axis = None, keepdims: bool = False) -> Array:
    """The smallest elements over ``axis`` (all if None); NaN wins."""
    return x.min(axis, keepdims)


def max(x: Array, /, axis: Axis = None, keepdims: bool = False) -> Array:
    """The largest elements over ``axis`` (all if None); NaN wins."""
    return x.max(axis, keepdims)


def mean(x: Array, /, axis: Axis = None, keepdims: bool = False) -> Array:
    """Arithmetic means over ``axis`` (all if None). Integers give float64."""
    return x.mean(axis, keepdims)


def all(x: Array, /, axis: Axis = None, keepdims: bool = False) -> Array:
    """True where all elements over ``axis`` (all if None) are nonzero."""
    return x.all(axis, keepdims)


def any(x: Array, /, axis: Axis = None, keepdims: bool = False) -> Array:
    """True where any element over ``axis`` (all if None) is nonzero."""
    return x.any(axis, keepdims)


def argmin(x: Array, /, axis: int | None = None, keepdims: bool = False) -> Array:
    """Where the smallest element is: along ``axis``, or in the array flattened in C order."""
    return x.argmin(axis, keepdims)


def argmax(x: Array, /, axis: int | None = None, keepdims: bool = False) -> Array:
    """Where the largest element is: along ``axis``, or in the array flattened in C order."""
    return x.argmax(axis, keepdims)


def square(x: Array, /) -> Array:
    """Squares; those of bool are int8."""
    x = x.astype(int8) if x.dtype is bool_ else x
    return x * x


def clip(x: Array, /, low: Operand = None, high: Operand = None) -> Array:
    """Elements below ``low`` become ``low``, those above ``high`` become ``high``."""
    # Integers of Python beyond the ends of the type change nothing there.
    lifted = x if low is None or _is_beyond(low, x.dtype, -1) else maximum(x, low)
    limited = lifted if high is None or _is_beyond(high, x.dtype, 1) else minimum(lifted, high)
    return limited.copy() if limited is x else limited


def _is_beyond(bound: Operand, dtype: DType, end: int) -> bool:
    """Whether an integer of Python is below (-1) or above (1) all that an integer type holds."""
    return type(bound) is int and dtype.kind in "iu" and beyond(bound, dtype) == end


def isinf(x: Array, /) -> Array:
    """True where the element is infinite."""
    if x.dtype.kind == "c":
        return isinf(x.real) | isinf(x.imag)
    return unary("absolute", x) == float("inf")


def isfinite(x: Array, /) -> Array:
    """True where the element is neither infinite nor NaN."""
    if x.dtype.kind == "c":
        return isfinite(x.real) & isfinite(x.imag)
    return unary("absolute", x) < float("inf")


def equal(a: Operand, b: Operand, /) -> Array:
    """Whether elements are equal."""
    return binary("equal", a, b)


def not_equal(a: Operand, b: Operand, /) -> Array:
    """Whether elements differ."""
    return binary("not_equal", a, b)


def less(a: Operand, b: Operand, /) -> Array:
    """Whether elements of the first are less."""
    return binary("less", a, b)


def less_equal(a: Operand, b: Operand, /) -> Array:
    """Whether elements of the first are less or equal."""
    return binary("less_equal", a, b)


def greater(a: Operand, b: Operand, /) -> Array:
    """Whether elements of the first are greater."""
    return binary("greater", a, b)


def greater_equal(a: Operand, b: Operand, /) -> Array:
    """Whether elements of the first are greater or equal."""
    return binary("greater_equal", a, b)


def bitwise_and(a: Operand, b: Operand, /) -> Array:
    """Bits of both; of bool, logical and."""
    return binary("and", a, b)


def bitwise_or(a: Operand, b: Operand, /) -> Array:
    """Bits of either; of bool, logical or."""
    return binary("or", a, b)


def bitwise_xor(a: Operand, b: Operand, /) -> Array:
    """Bits of one of both; of bool, logical exclusive or."""
    return binary("xor", a, b)


def bitwise_left_shift(a: Operand, b: Operand, /) -> Array:
    """Bits shifted to the left, zeros behind them: from counts of the width on nothing is left, nor of negative ones."""
    return binary("left_shift", a, b)


def bitwise_right_shift(a: Operand, b: Operand, /) -> Array:
    """Bits shifted to the right; from counts of the width on, and of negative ones, 0 is left, or -1 of negative numbers."""
    return binary("right_shift", a, b)


def bitwise_invert(x: Array, /) -> Array:
    """The other bits; of bool, logical not."""
    return unary("invert", x)


def positive(x: Array, /) -> Array:
    """The same elements."""
    return x.copy()


def reciprocal(x: Array, /) -> Array:
    """1 / x."""
    return 1 / x


def sign(x: Array, /) -> Array:
    """-1, 0 or 1 as the element is less than, equal to or greater than 0; NaN stays. Of complex numbers, x / abs(x)."""
    if x.dtype.kind == "c":
        return where(x == 0, 0, x / abs(x))
    signs = (x > 0).astype(x.dtype) - (x < 0).astype(x.dtype)
    return where(isnan(x), x, signs) if x.dtype.kind == "f" else signs


def _truth(x: Operand) -> Operand:
    return bool(x) if isinstance(x, (int, float, complex)) else x.astype(bool) if hasattr(x, "astype") else x


def logical_and(a: Operand, b: Operand, /) -> Array:
    """Whether both are nonzero."""
    return binary("and", _truth(a), _truth(b))


def logical_or(a: Operand, b: Operand, /) -> Array:
    """Whether either is nonzero."""
    return binary("or", _truth(a), _truth(b))


def logical_xor(a: Operand, b: Operand, /) -> Array:
    """Whether one of both is nonzero."""
    return binary("xor", _truth(a), _truth(b))


def logical_not(x: Array, /) -> Array:
    """Whether the element is 0."""
    return unary("invert", _truth(x))


def logaddexp(a: Operand, b: Operand, /) -> Array:
    """log(exp(a) + exp(b)) without undue overflow."""
    return binary("logaddexp", a, b)
