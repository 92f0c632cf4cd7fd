"""Functions of elements that are no ufuncs in NumPy: rounding, limits, comparisons with tolerance, windows."""

from __future__ import annotations

import builtins
import math
from typing import Any

from .._api.create import arange, asarray, zeros_like
from .._core import rules
from .._core.array import Array
from .._core.base import array_of, arrays_of
from .._core.dtypes import default, float_for, real_of, uint8
from .._core.rearrange import broadcast_arrays, concatenate, moveaxis, pad
from .._core.reductions import all, sum
from .._core.rules import unary, where
from .._core.views.index import one_axis
from .._core.views.indexing import finished
from ..errors import NotAnArrayError
from .ufuncs.conditions import errstate
from .statistics import cumsum, diff
from .types import finfo
from .ufuncs.table import abs, arctan2, cos, isfinite, isnan, maximum, minimum, remainder, sin, trunc

real, imag = rules.real, rules.imag


def ndim(a: Any) -> int:
    """Number of dimensions."""
    return array_of("ndim", a).ndim


def shape(a: Any) -> tuple[int, ...]:
    """The extents."""
    return array_of("shape", a).shape


def size(a: Any, axis: int | tuple[int, ...] | None = None) -> int:
    """Number of elements, or the extent along axes."""
    a = array_of("size", a)
    if axis is None:
        return a.size
    return math.prod(a.shape[one_axis("size", d, a.ndim)] for d in (axis if isinstance(axis, tuple) else (axis,)))


def isfortran(a: Any) -> bool:
    """True if elements would follow each other in NumPy's memory with the first index running fastest, and not the last."""
    flags = array_of("isfortran", a).flags
    return flags.f_contiguous and not flags.c_contiguous


def ndenumerate(arr: Any) -> Any:
    """Pairs of an index and its element; the whole array is read first. Collective."""
    import numpy as np

    return np.ndenumerate(array_of("ndenumerate", arr).numpy())


def nditer(op: Any, flags: Any = (), op_flags: Any = None, *args: Any, **words: Any) -> Any:
    """The elements one after the other, as NumPy's arrays without dimensions; the whole arrays are read first. They cannot be
    written to: assign to the array itself; an operand of None becomes NumPy's array of results. See ``numpy.nditer``. Collective."""
    import numpy as np

    if any(word in str(op_flags) for word in ("readwrite", "writeonly")):
        raise ValueError("nditer: expected op_flags that only read, given others; elements are copies: assign to the array itself")
    hosts = tuple(None if x is None else array_of("nditer", x).numpy() for x in op) if isinstance(op, (list, tuple)) and any(isinstance(x, Array) for x in op) \
        else array_of("nditer", op).numpy()  # fmt: skip
    return np.nditer(hosts, flags, op_flags, *args, **words)


# Bits.


def _bits(a: Array, bitorder: str) -> Array:
    """The places of the bits of a byte: the first is the highest unless ``bitorder`` is 'little'."""
    if bitorder not in ("big", "little"):
        raise ValueError(f"bitorder: expected 'big' or 'little', given {bitorder!r}")
    order = range(8) if bitorder == "little" else range(7, -1, -1)
    return asarray(list(order), uint8, team=a.team)


def packbits(a: Any, /, axis: int | None = None, bitorder: str = "big") -> Array:
    """Bytes of eight bits each, which are 1 where the element is not 0; of the flat array if there is no axis."""
    a = array_of("packbits", a)
    if a.dtype.kind not in "bui":
        raise TypeError(f"packbits: expected integers or bool, given {a.dtype.name}; compare with 0")
    a, d = (a.reshape(-1), 0) if axis is None else (a, one_axis("packbits", axis, a.ndim))
    line = moveaxis((a != 0).astype(uint8), d, -1)
    line = pad(line, [(0, 0)] * (line.ndim - 1) + [(0, -line.shape[-1] % 8)])
    parts = line.reshape(*line.shape[:-1], line.shape[-1] // 8, 8) << _bits(a, bitorder)
    return moveaxis(sum(parts, -1, uint8), -1, d)


def unpackbits(a: Any, /, axis: int | None = None, count: int | None = None, bitorder: str = "big") -> Array:
    """The bits of bytes, each as a byte, along an axis (of the flat array if None); ``count`` of them, negative without so many."""
    a = array_of("unpackbits", a)
    if a.dtype is not uint8:
        raise TypeError(f"unpackbits: expected uint8, given {a.dtype.name}; convert with astype")
    a, d = (a.reshape(-1), 0) if axis is None else (a, one_axis("unpackbits", axis, a.ndim))
    line = moveaxis(a, d, -1)
    bits = (line[..., None] >> _bits(a, bitorder) & 1).reshape(*line.shape[:-1], line.shape[-1] * 8)
    if count is not None:
        bits = pad(bits, [(0, 0)] * (bits.ndim - 1) + [(0, builtins.max(count - bits.shape[-1], 0))])[..., :count]
    return moveaxis(bits, -1, d)


# Rounding and limits.


def round(a: Any, decimals: int = 0, out: Any = None) -> Array:
    """Nearest numbers of so many decimals, ties to even; of negative ``decimals`` multiples of powers of ten."""
    a = array_of("round", a)
    if a.dtype.kind == "c":
        return finished("round", round(a.real, decimals) + 1j * round(a.imag, decimals), out)
    if decimals == 0:
        return finished("round", unary("round", a), out)
    if a.dtype.kind != "f":
        if decimals > 0:
            return finished("round", a.copy(), out)
        wide = a.astype(default.float)
        return finished("round", (unary("round", wide / 10.0**-decimals) * 10.0**-decimals).astype(a.dtype), out)
    power = 10.0 ** builtins.abs(decimals)
    result = unary("round", a * power) / power if decimals > 0 else unary("round", a / power) * power
    return finished("round", result, out)


around = round


def fix(x: Any, out: Any = None) -> Array:
    """Integral values towards zero."""
    return finished("fix", trunc(x), out)


def clip(
    a: Any, min: Any = None, max: Any = None, out: Any = None, *, a_min: Any = None, a_max: Any = None, dtype: Any = None
) -> Array:
    """Elements below ``min`` (or ``a_min``) become it, those above ``max`` (or ``a_max``) become that.

    Examples
    --------
    >>> import partita as pt
    >>> pt.clip([1, 5, 9], 2, 6).tolist(), pt.clip([1, 5, 9], max=4).tolist()
    ([2, 5, 6], [1, 4, 4])
    """
    low, high = a_min if min is None else min, a_max if max is None else max
    a = array_of("clip", a)
    a = a if dtype is None else a.astype(dtype)
    given = [b if b is None or type(b) in (bool, int, float, complex) else array_of("clip", b, a) for b in (low, high)]
    kind, result = a.dtype, a
    for bound, nearer, end in zip(given, (maximum, minimum), (-1, 1), strict=True):
        # Integers of Python beyond the ends of the type change nothing there.
        is_beyond = type(bound) is int and kind.kind in "iu" and rules.beyond(bound, kind) == end
        result = result if bound is None or is_beyond else nearer(result, bound)
    return finished("clip", result.copy(), out)


def nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Array:
    """Numbers in place of NaN and infinities (by default 0 and the largest and smallest numbers). With ``copy=False`` in place."""
    x = array_of("nan_to_num", x)
    if x.dtype.kind not in "fc":
        return x.copy() if copy else x
    if x.dtype.kind == "c":
        result = x.copy() if copy else x
        result.real = nan_to_num(x.real, True, nan, posinf, neginf)
        result.imag = nan_to_num(x.imag, True, nan, posinf, neginf)
        return result
    limits = finfo(x.dtype)
    result = where(isnan(x), nan, x)
    result = where(x == math.inf, limits.max if posinf is None else posinf, result)
    result = where(x == -math.inf, limits.min if neginf is None else neginf, result)
    if copy:
        return result
    x[...] = result
    return x


def isposinf(x: Any, out: Any = None) -> Array:
    """True where the element is positive infinity."""
    return finished("isposinf", array_of("isposinf", x) == math.inf, out)


def isneginf(x: Any, out: Any = None) -> Array:
    """True where the element is negative infinity."""
    return finished("isneginf", array_of("isneginf", x) == -math.inf, out)


# Complex numbers.


def isreal(x: Any) -> Array:
    """True where the imaginary part is 0."""
    return imag(array_of("isreal", x)) == 0


def iscomplex(x: Any) -> Array:
    """True where the imaginary part is not 0."""
    return imag(array_of("iscomplex", x)) != 0


def angle(z: Any, deg: bool = False) -> Array:
    """Arguments of complex numbers, in radians from -pi to pi, or in degrees; of real numbers 0 or pi."""
    z = array_of("angle", z)
    result = rules.angle(z) if z.dtype.kind == "c" else arctan2(zeros_like(z), z)
    return result * (180 / math.pi) if deg else result


def real_if_close(a: Any, tol: float = 100) -> Array:
    """Real parts, if no imaginary part is larger than ``tol`` times the type's distance of numbers at 1. Computes."""
    a = array_of("real_if_close", a)
    if a.dtype.kind != "c":
        return a
    tol = tol * finfo(real_of(a.dtype)).eps if tol > 1 else tol
    return a.real if bool(all(abs(a.imag) < tol)) else a


def unwrap(p: Any, discont: float | None = None, axis: int = -1, *, period: Any = 2 * math.pi) -> Array:
    """Angles along an axis without jumps of more than half a period. Computes."""
    p = array_of("unwrap", p)
    d = one_axis("unwrap", axis, p.ndim)
    steps, half = diff(p, axis=d), period / 2
    discont = half if discont is None else discont
    if steps.dtype.kind in "iu" and isinstance(period, int):
        low, is_boundary = -(period // 2) if period % 2 == 0 else -((period + 1) // 2) + 1, period % 2 == 0
    else:
        low, is_boundary = -half, True
        p = p.astype(float_for(p.dtype))
    turned = remainder(steps - low, period) + low
    if is_boundary:
        turned = where((turned == low) & (steps > 0), -low, turned)
    correction = where(abs(steps) < discont, 0, turned - steps)
    front = (slice(None),) * d
    return concatenate([p[(*front, slice(None, 1))], p[(*front, slice(1, None))] + cumsum(correction, d)], d)


# Comparisons.


def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Array:
    """True where elements differ by at most ``atol + rtol * abs(b)``.

    Examples
    --------
    >>> import partita as pt
    >>> pt.isclose([1.0, 2.0], [1.0 + 1e-9, 2.1]).tolist()
    [True, False]
    """
    x, y = arrays_of("isclose", (a, b))
    with errstate(all="ignore"):
        y = y if y.dtype.kind in "fc" else y.astype(default.float)
        near = (abs(x - y) <= atol + rtol * abs(y)) & isfinite(y) | (x == y)
        return near | (isnan(x) & isnan(y)) if equal_nan else near


def allclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> bool:
    """True if all elements are close; see `isclose`. Computes. Collective."""
    return bool(all(isclose(a, b, rtol, atol, equal_nan)))


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    """True if two arrays have one shape and equal elements. Computes. Collective."""
    try:
        x, y = arrays_of("array_equal", (a1, a2))
    except (NotAnArrayError, TypeError):
        return False
    if x.shape != y.shape:
        return False
    same = x == y
    return bool(all(same | (isnan(x) & isnan(y)) if equal_nan else same))


def array_equiv(a1: Any, a2: Any) -> bool:
    """True if two arrays broadcast to one shape and have equal elements. Computes. Collective."""
    try:
        x, y = broadcast_arrays(*arrays_of("array_equiv", (a1, a2)))
    except (ValueError, NotAnArrayError):
        return False
    return bool(all(x == y))


# Functions.


def sinc(x: Any) -> Array:
    """sin(pi x) / (pi x), which is 1 at 0."""
    x = array_of("sinc", x)
    x = x.astype(float_for(x.dtype))
    y = math.pi * where(x == 0, 1.0, x)
    return where(x == 0, 1.0, sin(y) / y)


def _window(n: int, *weights: float) -> Array:
    """Sums of cosines over so many points."""
    if n < 1:
        return arange(0, dtype=default.float)
    if n == 1:
        return arange(1, 2, dtype=default.float)
    at = arange(1 - n, n, 2, dtype=default.float)
    line = weights[0] + weights[1] * cos(math.pi * at / (n - 1))
    return line + weights[2] * cos(2.0 * math.pi * at / (n - 1)) if len(weights) > 2 else line


def hanning(M: int) -> Array:
    """The window of Hann."""
    return _window(int(M), 0.5, 0.5)


def hamming(M: int) -> Array:
    """The window of Hamming."""
    return _window(int(M), 0.54, 0.46)


def blackman(M: int) -> Array:
    """The window of Blackman."""
    return _window(int(M), 0.42, 0.5, 0.08)


def bartlett(M: int) -> Array:
    """The triangular window."""
    if M <= 1:
        return _window(int(M), 1.0)
    at = arange(1 - int(M), int(M), 2, dtype=default.float)
    return where(at <= 0, 1 + at / (M - 1), 1 - at / (M - 1))
