"""The Python array API standard, 2024.12, as far as the engine reaches: ``xp = u.__array_namespace__()``.

A ``device`` of the standard is a `Team` here, because an array is on all members of one. Shapes that depend on data
(``nonzero``, boolean indices, ``unique_values``) are there.
"""

from __future__ import annotations

from typing import Any

from . import _native
from ._api.create import (
    arange, asarray, empty, empty_like, from_dlpack, full, full_like, ones, ones_like, zeros, zeros_like,
)  # fmt: skip
from ._core import dtypes as _dtypes
from ._core import rearrange as _rearrange
from ._core.array import Array
from ._core.dtypes import (
    DType, bool_ as bool, complex64, complex128, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
)  # fmt: skip
from ._core.rearrange import (
    broadcast_to, concatenate as concat, expand_dims, flip, moveaxis, permute_dims, repeat, reshape, roll, squeeze, stack, take,
    take_along_axis, tile, unstack,
)  # fmt: skip
from ._core.reductions import (
    all, any, argmax, argmin, matmul, matrix_transpose, max, mean, min, prod, sum, tensordot, vecdot,
)  # fmt: skip
from ._core.rules import imag, real, where
from ._native import Team
from .operators import fft, linalg
from ._numpy.elementwise import clip, round
from ._numpy.creation import astype, eye, linspace, meshgrid, tril, triu
from ._numpy.selecting.searching import searchsorted
from ._numpy.selecting.selection import nonzero
from ._numpy.selecting.sets import unique_all, unique_counts, unique_inverse, unique_values
from ._numpy.selecting.sorting import argsort, sort
from ._numpy.statistics import count_nonzero, cumulative_prod, cumulative_sum, diff, std, var
from ._numpy.ufuncs.table import (
    abs, acos, acosh, add, asin, asinh, atan, atan2, atanh, bitwise_and, bitwise_invert, bitwise_left_shift, bitwise_or,
    bitwise_right_shift, bitwise_xor, ceil, conj, copysign, cos, cosh, divide, equal, exp, expm1, floor, floor_divide, greater,
    greater_equal, hypot, isfinite, isinf, isnan, less, less_equal, log, log1p, log2, log10, logaddexp, logical_and, logical_not,
    logical_or, logical_xor, maximum, minimum, multiply, negative, nextafter, not_equal, positive, pow, reciprocal, remainder, sign,
    signbit, sin, sinh, sqrt, square, subtract, tan, tanh, trunc,
)  # fmt: skip
from ._numpy.types import can_cast, e, finfo, iinfo, inf, isdtype, nan, newaxis, pi, result_type

__array_api_version__ = "2024.12"

__all__ = [
    "abs", "acos", "acosh", "add", "all", "any", "arange", "argmax", "argmin", "argsort", "asarray", "asin", "asinh", "astype", "atan",
    "atan2", "atanh", "bitwise_and", "bitwise_invert", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift",
    "bitwise_xor", "bool", "broadcast_arrays", "broadcast_to", "can_cast", "ceil", "clip", "complex128", "complex64",
    "concat", "conj", "copysign", "cos", "cosh", "count_nonzero", "cumulative_prod", "cumulative_sum", "diff", "divide",
    "e", "empty", "empty_like", "equal", "exp", "expand_dims", "expm1", "eye", "fft", "finfo", "flip", "float32", "float64",
    "floor", "floor_divide", "from_dlpack", "full", "full_like", "greater", "greater_equal", "hypot", "iinfo", "imag",
    "inf", "int16", "int32", "int64", "int8", "isdtype", "isfinite", "isinf", "isnan", "less", "less_equal", "linalg",
    "linspace",
    "log", "log10", "log1p", "log2", "logaddexp", "logical_and", "logical_not", "logical_or", "logical_xor", "matmul",
    "matrix_transpose", "max", "maximum", "mean", "meshgrid", "min", "minimum", "moveaxis", "multiply", "nan", "negative",
    "newaxis", "nextafter", "nonzero", "not_equal", "ones", "ones_like", "permute_dims", "pi", "positive", "pow", "prod",
    "real", "reciprocal", "remainder", "repeat", "reshape", "result_type", "roll", "round", "searchsorted", "sign", "signbit", "sin",
    "sinh", "sort", "sqrt", "square", "squeeze", "stack", "std", "subtract", "sum", "take", "take_along_axis", "tan", "tanh",
    "tensordot", "tile", "tril", "triu", "trunc", "uint16", "uint32", "uint64", "uint8", "unique_all", "unique_counts",
    "unique_inverse", "unique_values", "unstack", "var", "vecdot",
    "where", "zeros", "zeros_like",
]  # fmt: skip



_numbers = (int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32, float64, complex64, complex128)


def broadcast_arrays(*arrays: Array) -> list[Array]:
    """Stretched to one shape. NumPy gives a tuple, the standard a list."""
    return list(_rearrange.broadcast_arrays(*arrays))


class _Info:
    """The abilities of the namespace."""

    def __repr__(self) -> str:
        return "partita.__array_namespace_info__()"

    def capabilities(self) -> dict[str, Any]:
        """The optional features, and the largest rank."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 8}

    def default_device(self) -> Team:
        """One part on every device that ``PARTITA_DEVICE`` names."""
        return Team()

    def default_dtypes(self, *, device: Any = None) -> dict[str, DType]:
        """The types of arrays made without one."""
        default = _dtypes.default
        return {"real floating": default.float, "complex floating": default.complex, "integral": int64, "indexing": int64}

    def devices(self) -> list[Team]:
        """A team of one part on each device."""
        return [Team.local(1, device) for device in _native.devices()]

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, DType]:
        """The types that arrays can have, by name."""
        every = {dtype.name: dtype for dtype in (bool, *_numbers)}
        return every if kind is None else {name: dtype for name, dtype in every.items() if isdtype(dtype, kind)}


def __array_namespace_info__() -> _Info:
    """The abilities of the namespace."""
    return _Info()
