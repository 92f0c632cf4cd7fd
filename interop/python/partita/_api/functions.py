"""NumPy's functions by NumPy's names. Mathematical functions are within 2 ulp of the exact value, those of complex
numbers within 6 ulp of its magnitude.

Functions that only name an operation of the engine are rows of the tables below: name, docstring, and the engine's
name where it differs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from .._core.array import Array
from .._core.base import array_of
from .._core.dtypes import bool_, int8
from .._core.reductions import all, any, argmax, argmin, max, mean, min, prod, sum
from .._core.rules import Operand, angle, beyond, binary, conj, imag, real, unary, where

__all__ = [
    "abs", "add", "all", "angle", "any", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "argmax",
    "argmin", "bitwise_and", "bitwise_invert", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift",
    "bitwise_xor", "cbrt", "ceil", "clip", "conj", "cos", "cosh", "divide", "equal", "erf", "exp", "expm1", "floor",
    "floor_divide", "greater", "greater_equal", "hypot", "imag", "isfinite", "isinf", "isnan", "less", "less_equal", "log",
    "log10", "log1p", "log2", "logaddexp", "logical_and", "logical_not", "logical_or", "logical_xor", "max",
    "maximum", "mean", "min", "minimum", "multiply", "negative", "not_equal", "positive", "power", "prod", "real",
    "reciprocal", "remainder", "round", "sign", "sin", "sinh", "sqrt", "square", "subtract", "sum", "tan", "tanh",
    "trunc", "where",
]  # fmt: skip

_F = TypeVar("_F", bound=Callable[..., Any])


def _named(function: _F, name: str, doc: str, operation: str | None = None) -> _F:
    # Where a ufunc finds the engine's name.
    vars(function)["operation"] = operation
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def _unary(name: str, doc: str, operation: str | None = None) -> Callable[[Array], Array]:
    operation = operation or name

    def function(x: Array, /) -> Array:
        return unary(operation, x)

    return _named(function, name, doc, operation)


def _binary(name: str, doc: str, operation: str | None = None) -> Callable[[Operand, Operand], Array]:
    operation = operation or name

    def function(a: Operand, b: Operand, /) -> Array:
        return binary(operation, a, b)  # type: ignore[no-any-return]

    return _named(function, name, doc, operation)


def _logical(name: str, doc: str, operation: str) -> Callable[[Operand, Operand], Array]:
    def function(a: Operand, b: Operand, /) -> Array:
        return binary(operation, _truth(a), _truth(b))  # type: ignore[no-any-return]

    return _named(function, name, doc)


abs = _unary("abs", "Magnitudes.", "absolute")
negative = _unary("negative", "Elements with the other sign.")
sqrt = _unary("sqrt", "Square roots, correctly rounded.")
floor = _unary("floor", "Largest integral values not above.")
ceil = _unary("ceil", "Smallest integral values not below.")
trunc = _unary("trunc", "Integral values towards zero.")
round = _unary("round", "Nearest integral values, ties to even.")
isnan = _unary("isnan", "True where the element is NaN.")
exp = _unary("exp", "e to the power of each element.")
expm1 = _unary("expm1", "exp(x) - 1, accurate near 0.")
log = _unary("log", "Natural logarithms.")
log1p = _unary("log1p", "log(1 + x), accurate near 0.")
log2 = _unary("log2", "Logarithms to base 2.")
log10 = _unary("log10", "Logarithms to base 10.")
sin = _unary("sin", "Sines of angles in radians.")
cos = _unary("cos", "Cosines of angles in radians.")
tan = _unary("tan", "Tangents of angles in radians.")
arcsin = _unary("arcsin", "Angles in radians whose sine is x.")
arccos = _unary("arccos", "Angles in radians whose cosine is x.")
arctan = _unary("arctan", "Angles in radians whose tangent is x.")
sinh = _unary("sinh", "Hyperbolic sines.")
cosh = _unary("cosh", "Hyperbolic cosines.")
tanh = _unary("tanh", "Hyperbolic tangents.")
arcsinh = _unary("arcsinh", "Inverse hyperbolic sines.")
arccosh = _unary("arccosh", "Inverse hyperbolic cosines.")
arctanh = _unary("arctanh", "Inverse hyperbolic tangents.")
erf = _unary("erf", "Error function.")
cbrt = _unary("cbrt", "Cube roots.")
bitwise_invert = _unary("bitwise_invert", "The other bits; of bool, logical not.", "invert")

add = _binary("add", "Sums.")
subtract = _binary("subtract", "Differences.")
multiply = _binary("multiply", "Products.")
divide = _binary("divide", "Quotients; integers give float64.")
floor_divide = _binary("floor_divide", "Quotients rounded down.")
remainder = _binary("remainder", "Remainders with the sign of the divisor.")
power = _binary("power", "Powers.")
arctan2 = _binary("arctan2", "Angles in radians of the points (b, a).")
hypot = _binary("hypot", "sqrt(a^2 + b^2) without undue overflow.")
minimum = _binary("minimum", "The smaller of two elements; NaN if either is.")
maximum = _binary("maximum", "The larger of two elements; NaN if either is.")
equal = _binary("equal", "Whether elements are equal.")
not_equal = _binary("not_equal", "Whether elements differ.")
less = _binary("less", "Whether elements of the first are less.")
less_equal = _binary("less_equal", "Whether elements of the first are less or equal.")
greater = _binary("greater", "Whether elements of the first are greater.")
greater_equal = _binary("greater_equal", "Whether elements of the first are greater or equal.")
bitwise_and = _binary("bitwise_and", "Bits of both; of bool, logical and.", "and")
bitwise_or = _binary("bitwise_or", "Bits of either; of bool, logical or.", "or")
bitwise_xor = _binary("bitwise_xor", "Bits of one of both; of bool, logical exclusive or.", "xor")
bitwise_left_shift = _binary(
    "bitwise_left_shift", "Bits shifted to the left; 0 for counts below 0 or from the width on.", "left_shift"
)
bitwise_right_shift = _binary(
    "bitwise_right_shift",
    "Bits shifted to the right; for counts below 0 or from the width on 0, or -1 of negative numbers.",
    "right_shift",
)
logaddexp = _binary("logaddexp", "log(exp(a) + exp(b)) without undue overflow.")

logical_and = _logical("logical_and", "Whether both are nonzero.", "and")
logical_or = _logical("logical_or", "Whether either is nonzero.", "or")
logical_xor = _logical("logical_xor", "Whether one of both is nonzero.", "xor")


def square(x: Array, /) -> Array:
    """Squares; those of bool are int8."""
    x = array_of("square", x)
    x = x.astype(int8) if x.dtype is bool_ else x
    return x * x


def clip(x: Array, /, min: Operand = None, max: Operand = None) -> Array:
    """Elements below ``min`` become ``min``, those above ``max`` become ``max``."""
    x = array_of("clip", x)
    kind = x.dtype
    for bound, nearer, end in ((min, maximum, -1), (max, minimum, 1)):
        # Integers of Python beyond the ends of the type change nothing there.
        is_beyond = type(bound) is int and kind.kind in "iu" and beyond(bound, kind) == end
        x = x if bound is None or is_beyond else nearer(x, bound)
    return x.copy()


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
    return where(isnan(x), x, signs) if x.dtype.kind == "f" else signs


def _truth(x: Operand) -> Operand:
    return bool(x) if isinstance(x, (int, float, complex)) else array_of("logical function", x).astype(bool)


def logical_not(x: Array, /) -> Array:
    """Whether the element is 0."""
    return unary("invert", _truth(x))  # type: ignore[no-any-return]
