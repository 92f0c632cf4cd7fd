"""The Python array API standard, 2024.12, as far as the engine reaches: ``xp = u.__array_namespace__()``.

A ``device`` of the standard is a `Team` here, because an array is on all members of one. Absent are sorting, sets,
``searchsorted``, and the extensions ``linalg`` and ``fft``. Shapes that depend on data
(``nonzero``, boolean indices) are there; they gather the mask on the host.
"""

from __future__ import annotations

import builtins
import math
import operator
from typing import Any, NamedTuple

from . import _native
from ._api.create import (
    arange, asarray, empty, empty_like, from_dlpack, full, full_like, ones, ones_like, zeros, zeros_like,
)  # fmt: skip
from ._api.functions import (
    arccos as acos, arccosh as acosh, arcsin as asin, arcsinh as asinh, arctan as atan, arctan2 as atan2,
    arctanh as atanh, abs, add, bitwise_and, bitwise_invert, bitwise_left_shift, bitwise_or, bitwise_right_shift, bitwise_xor,
    ceil, clip, conj, cos, cosh, divide, equal, exp, expm1, floor, floor_divide, greater, greater_equal, hypot, imag, isfinite,
    isinf, isnan, less, less_equal, log, log1p, log2, log10, logaddexp, logical_and, logical_not, logical_or, logical_xor,
    maximum, minimum, multiply, negative, not_equal, positive, power as pow, real, reciprocal, remainder, round, sign, sin,
    sinh, sqrt, square, subtract, tan, tanh, trunc, where,
)  # fmt: skip
from ._core import dtypes as _dtypes
from ._core import rearrange as _rearrange
from ._core.array import Array
from ._core.dtypes import (
    DType, as_dtype, bool_ as bool, complex64, complex128, float32, float64, int8, int16, int32, int64, uint8, uint16, uint32,
    uint64, wide_for,
)  # fmt: skip
from ._core.views.index import Axis, one_axis
from ._core.memory import OnDevice, team_of
from ._core.rearrange import (
    broadcast_to, concatenate as concat, expand_dims, flip, moveaxis, permute_dims, repeat, reshape, roll, squeeze, stack, take,
    take_along_axis, tile, unstack,
)  # fmt: skip
from ._core.reductions import (
    all, any, argmax, argmin, matmul, matrix_transpose, max, mean, min, prod, sum, tensordot, vecdot,
)  # fmt: skip
from ._native import Distribution, Team

__array_api_version__ = "2024.12"

__all__ = [
    "abs", "acos", "acosh", "add", "all", "any", "arange", "argmax", "argmin", "asarray", "asin", "asinh", "astype",
    "atan", "atan2", "atanh", "bitwise_and", "bitwise_invert", "bitwise_left_shift", "bitwise_or",
    "bitwise_right_shift", "bitwise_xor", "bool", "broadcast_arrays", "broadcast_to", "can_cast", "ceil", "clip",
    "complex128", "complex64", "concat", "conj", "cos", "cosh", "count_nonzero", "cumulative_prod", "cumulative_sum",
    "diff", "divide", "e", "empty",
    "empty_like", "equal", "exp", "expand_dims", "expm1", "eye", "finfo", "flip", "float32", "float64", "floor",
    "floor_divide", "from_dlpack", "full", "full_like", "greater", "greater_equal", "hypot", "iinfo", "imag", "inf", "int16",
    "int32", "int64", "int8", "isdtype", "isfinite", "isinf", "isnan", "less", "less_equal", "linspace", "log",
    "log10", "log1p", "log2", "logaddexp", "logical_and", "logical_not", "logical_or", "logical_xor", "matmul",
    "matrix_transpose", "max", "maximum", "mean", "meshgrid", "min", "minimum", "moveaxis", "multiply", "nan",
    "negative", "newaxis", "nonzero", "not_equal", "ones", "ones_like", "permute_dims", "pi", "positive", "pow", "prod",
    "real", "reciprocal", "remainder", "repeat", "reshape", "result_type", "roll", "round", "sign", "sin", "sinh", "sqrt",
    "square", "squeeze", "stack", "std", "subtract", "sum", "take", "take_along_axis", "tan", "tanh", "tensordot",
    "tile", "tril", "triu", "trunc", "uint16", "uint32", "uint64", "uint8", "unstack", "var", "vecdot", "where",
    "zeros", "zeros_like",
]  # fmt: skip

e, inf, nan, pi, newaxis = math.e, math.inf, math.nan, math.pi, None

_ints, _floats, _complexes = (int8, int16, int32, int64), (float32, float64), (complex64, complex128)
_uints = (uint8, uint16, uint32, uint64)


# Creation.


def eye(n_rows: int, n_cols: int | None = None, /, *, k: int = 0, dtype: Any = None, device: OnDevice = None) -> Array:
    """Ones on a diagonal, zeros elsewhere."""
    shape = (n_rows, n_rows if n_cols is None else n_cols)
    return (_diagonals(Distribution(shape, team=team_of(None, device))) == k).astype(_dtypes.default.float if dtype is None else dtype)


def _diagonals(dist: Distribution) -> Array:
    """The number of the diagonal that each element of the last two dimensions is on."""
    row, column = (Array(_native.Array.coordinate(dist, d, "int64")) for d in (dist.ndim - 2, dist.ndim - 1))
    return column - row


def linspace(
    start: complex, stop: complex, /, num: int, *, dtype: Any = None, device: OnDevice = None, endpoint: builtins.bool = True
) -> Array:
    """``num`` numbers at equal distances, from ``start`` to ``stop`` (without it unless ``endpoint``)."""
    if num < 0:
        raise ValueError(f"linspace: expected at least 0 numbers, given {num}")
    gaps = num - 1 if endpoint else num
    numbers = arange(num, dtype=_dtypes.default.float, device=device)
    step = (stop - start) / gaps if gaps > 0 else math.nan
    line = numbers * step + start if gaps > 0 else numbers * 0.0 + start
    if endpoint and num > 1:
        line = where(numbers == num - 1, stop if isinstance(stop, complex) else float(stop), line)
    return line if dtype is None else line.astype(dtype)


def meshgrid(*arrays: Array, indexing: str = "xy") -> list[Array]:
    """Coordinates of a grid, from those of its axes."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: expected indexing 'xy' or 'ij', given {indexing!r}")
    rank = len(arrays)
    order = list(range(rank))
    if indexing == "xy" and rank > 1:
        order[:2] = [1, 0]
    shape = tuple(arrays[d].size for d in order)
    lines = (x.reshape((1,) * order[d] + (-1,) + (1,) * (rank - order[d] - 1)) for d, x in enumerate(arrays))
    return [broadcast_to(line, shape).copy() for line in lines]


def tril(x: Array, /, *, k: int = 0) -> Array:
    """Zeros above a diagonal of the last two dimensions."""
    return where(_diagonals(_matrix("tril", x).dist) <= k, x, zeros_like(x))


def triu(x: Array, /, *, k: int = 0) -> Array:
    """Zeros below a diagonal of the last two dimensions."""
    return where(_diagonals(_matrix("triu", x).dist) >= k, x, zeros_like(x))


def _matrix(name: str, x: Array) -> Array:
    if x.ndim < 2:
        raise ValueError(f"{name}: expected at least 2 dimensions, given {x.ndim}")
    return x


# Types.


def astype(x: Array, dtype: Any, /, *, copy: builtins.bool = True, device: OnDevice = None) -> Array:
    """Conversion by value."""
    x = x if device is None else x.to_device(device)
    same = x.dtype == dtype
    return x.astype(dtype) if not same else x.copy() if copy else x


def can_cast(from_: Any, to: Any, /) -> builtins.bool:
    """Whether promotion leads from one type to the other."""
    source = from_.dtype if isinstance(from_, Array) else as_dtype(from_)
    return _dtypes.result_type(source, as_dtype(to)) is as_dtype(to)


class _Float(NamedTuple):
    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType


class _Int(NamedTuple):
    bits: int
    max: int
    min: int
    dtype: DType


def finfo(type: Any, /) -> _Float:
    """What a type of floats can hold; of complex numbers, their parts."""
    kind = _dtypes.real_of(type.dtype if isinstance(type, Array) else as_dtype(type))
    digits = {float32: (24, 128), float64: (53, 1024), _dtypes.float16: (11, 16), _dtypes.bfloat16: (8, 128)}
    if kind not in digits:
        raise TypeError(f"finfo: expected a type of floats, given {kind.name}; use iinfo")
    precision, top = digits[kind]
    largest = math.ldexp(2.0 - math.ldexp(1.0, 1 - precision), top - 1)
    return _Float(8 * kind.itemsize, math.ldexp(1.0, 1 - precision), largest, -largest, math.ldexp(1.0, 2 - top), kind)


def iinfo(type: Any, /) -> _Int:
    """What a type of integers can hold."""
    kind = type.dtype if isinstance(type, Array) else as_dtype(type)
    if kind.kind not in "iu":
        raise TypeError(f"iinfo: expected a type of integers, given {kind.name}; use finfo")
    bits = 8 * kind.itemsize
    low = 0 if kind.kind == "u" else -(2 ** (bits - 1))
    return _Int(bits, 2**bits - 1 + low, low, kind)


_KINDS: dict[str, tuple[DType, ...]] = {
    "bool": (bool,),
    "signed integer": _ints,
    "unsigned integer": _uints,
    "integral": _ints + _uints,
    "real floating": _floats,
    "complex floating": _complexes,
    "numeric": _ints + _uints + _floats + _complexes,
}


def isdtype(dtype: Any, kind: Any) -> builtins.bool:
    """Whether a type is of a kind, or one of several."""
    if isinstance(kind, tuple):
        return builtins.any(isdtype(dtype, one) for one in kind)
    if isinstance(kind, str):
        if kind not in _KINDS:
            raise ValueError(f"isdtype: expected one of {', '.join(_KINDS)}, given {kind!r}")
        return as_dtype(dtype) in _KINDS[kind]
    return as_dtype(dtype) is as_dtype(kind)


def result_type(*arrays_and_dtypes: Any) -> DType:
    """The type that an operation on these gives. Python's numbers take the type of the others."""
    strong = [x.dtype if isinstance(x, Array) else as_dtype(x) for x in arrays_and_dtypes if not _is_number(x)]
    if not strong:
        raise ValueError("result_type: expected an array or a type at least, given none")
    common = _dtypes.result_type(*strong)
    for number in filter(_is_number, arrays_and_dtypes):
        common = _dtypes.default.float if isinstance(number, (float, complex)) and common.kind not in "fc" else common
        common = _dtypes.complex_for(common) if isinstance(number, complex) else common
    return common


def _is_number(x: Any) -> builtins.bool:
    return isinstance(x, (builtins.bool, int, float, complex))


def broadcast_arrays(*arrays: Array) -> list[Array]:
    """Stretched to one shape. NumPy gives a tuple, the standard a list."""
    return list(_rearrange.broadcast_arrays(*arrays))


# Reductions and scans.


def count_nonzero(x: Array, /, *, axis: Axis = None, keepdims: builtins.bool = False) -> Array:
    """How many elements are not 0."""
    return (x != 0).sum(axis, keepdims)


def nonzero(x: Array, /) -> tuple[Array, ...]:
    """The coordinates of the elements that are not 0. The mask is gathered on the host."""
    import numpy as np

    if x.ndim == 0:
        raise ValueError("nonzero: expected at least one dimension, given none")
    found = np.nonzero((x != 0).numpy())
    return tuple(asarray(line.astype(np.int64), team=x.team) for line in found)


def cumulative_sum(x: Array, /, *, axis: int | None = None, dtype: Any = None, include_initial: builtins.bool = False) -> Array:
    """Sums of all elements up to each."""
    return _scan("cumulative_sum", x, axis, dtype, include_initial, 0)


def cumulative_prod(x: Array, /, *, axis: int | None = None, dtype: Any = None, include_initial: builtins.bool = False) -> Array:
    """Products of all elements up to each."""
    return _scan("cumulative_prod", x, axis, dtype, include_initial, 1)


def _scan(name: str, x: Array, axis: int | None, dtype: Any, initial: builtins.bool, unit: int) -> Array:
    if axis is None and x.ndim != 1:
        raise ValueError(f"{name}: expected an axis for {x.ndim} dimensions, given none")
    d = one_axis(name, 0 if axis is None else axis, x.ndim)
    combine = operator.add if unit == 0 else operator.mul
    result = x.astype(wide_for(x.dtype) if dtype is None else dtype)
    result = result.copy()
    front: tuple[slice, ...] = (slice(None),) * d
    # After k rounds, each element holds what 2^k elements come to.
    reach = 1
    while reach < x.shape[d]:
        result[(*front, slice(reach, None))] = combine(result[(*front, slice(reach, None))], result[(*front, slice(None, -reach))])
        reach *= 2
    if initial:
        first = full((*x.shape[:d], 1, *x.shape[d + 1 :]), unit, result.dtype, team=x.team)
        result = concat([first, result], d)
    return result


def var(x: Array, /, *, axis: Axis = None, correction: int | float = 0.0, keepdims: builtins.bool = False) -> Array:
    """Mean squares of the distances from the mean, of N - ``correction`` elements."""
    if x.dtype.kind == "c":
        raise TypeError(f"var: expected real numbers, given {x.dtype.name}; add those of its real and imaginary parts")
    middle = x.mean(axis, True) if not x._scalar else x
    count = x.size / builtins.max(1, middle.size)
    return square(x - middle).sum(axis, keepdims) / (count - correction if count > correction else 0.0)


def std(x: Array, /, *, axis: Axis = None, correction: int | float = 0.0, keepdims: builtins.bool = False) -> Array:
    """Square roots of `var`."""
    return sqrt(var(x, axis=axis, correction=correction, keepdims=keepdims))


def diff(x: Array, /, *, axis: int = -1, n: int = 1, prepend: Array | None = None, append: Array | None = None) -> Array:
    """Differences of neighbours along an axis, ``n`` times."""
    if n < 0:
        raise ValueError(f"diff: expected n of at least 0, given {n}")
    d = one_axis("diff", axis, x.ndim)
    x = concat([piece for piece in (prepend, x, append) if piece is not None], d)
    front: tuple[slice, ...] = (slice(None),) * d
    for _ in range(n):
        after, before = x[(*front, slice(1, None))], x[(*front, slice(None, -1))]
        x = not_equal(after, before) if x.dtype is bool else after - before
    return x


class _Info:
    """What the namespace can do."""

    def capabilities(self) -> dict[str, Any]:
        """What is there, and the largest rank."""
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
        every = {dtype.name: dtype for dtype in (bool, *_ints, *_uints, *_floats, *_complexes)}
        return every if kind is None else {name: dtype for name, dtype in every.items() if isdtype(dtype, kind)}


def __array_namespace_info__() -> _Info:
    """What the namespace can do."""
    return _Info()
