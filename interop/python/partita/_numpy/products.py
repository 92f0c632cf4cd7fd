"""Products of vectors and matrices, convolutions, interpolation, polynomials."""

from __future__ import annotations

from typing import Any

from .._api.create import asarray, zeros
from .._core.array import Array
from .._core.base import BaseArray, array_of, arrays_of
from .._core.dtypes import default, result_type
from .._core.rearrange import concatenate, expand_dims, moveaxis, pad, ravel, reshape, stack
from .._core.reductions import matmul, sum, tensordot
from .._core.views.indexing import finished
from .._core.rules import conj, where
from .ufuncs.table import isnan, multiply

#: So many terms of a convolution, or rows of a table, are recorded; then they are computed.
_TERMS = 64


def dot(a: Any, b: Any, out: Any = None) -> Array:
    """Sums of products over the last axis of the first and the second-last (or only) one of the second; products with numbers.

    Examples
    --------
    >>> import partita as pt
    >>> pt.dot([[1, 2], [3, 4]], [1, 1]).tolist()
    [3, 7]
    """
    a, b = arrays_of("dot", (a, b))
    if a.ndim == 0 or b.ndim == 0:
        return finished("dot", multiply(a, b), out)
    result = matmul(a, b) if a.ndim <= 2 and b.ndim <= 2 else tensordot(a, b, ([a.ndim - 1], [max(b.ndim - 2, 0)]))
    return finished("dot", result, out)


def vdot(a: Any, b: Any, /) -> Array:
    """The sum of products of all elements, with conjugates of the first."""
    a, b = arrays_of("vdot", (a, b))
    return matmul(conj(ravel(a)), ravel(b))


def inner(a: Any, b: Any, /) -> Array:
    """Sums of products over the last axes of both."""
    a, b = arrays_of("inner", (a, b))
    return multiply(a, b) if not a.ndim or not b.ndim else matmul(a, b) if b.ndim == 1 else tensordot(a, b, ([a.ndim - 1], [b.ndim - 1]))


def outer(a: Any, b: Any, out: Any = None) -> Array:
    """Products of all pairs of elements."""
    a, b = arrays_of("outer", (a, b))
    return finished("outer", multiply(reshape(a, (a.size, 1)), reshape(b, (1, b.size))), out)


def matvec(a: Any, b: Any, /) -> Array:
    """Products of matrices with vectors; other dimensions broadcast."""
    a, b = arrays_of("matvec", (a, b))
    return matmul(a, expand_dims(b, -1))[..., 0]


def vecmat(a: Any, b: Any, /) -> Array:
    """Products of vectors, conjugated, with matrices; other dimensions broadcast."""
    a, b = arrays_of("vecmat", (a, b))
    return matmul(expand_dims(conj(a), -2), b)[..., 0, :]


def kron(a: Any, b: Any) -> Array:
    """The second array once for each element of the first, times that element."""
    a, b = arrays_of("kron", (a, b))
    rank = max(a.ndim, b.ndim)
    a, b = (reshape(x, (1,) * (rank - x.ndim) + x.shape) for x in (a, b))
    product = multiply(expand_dims(a, tuple(range(1, 2 * rank, 2))), expand_dims(b, tuple(range(0, 2 * rank, 2))))
    return reshape(product, tuple(n * m for n, m in zip(a.shape, b.shape, strict=True)))


def trace(
    a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None
) -> Array:
    """Sums of diagonals."""
    return sum(array_of("trace", a).diagonal(offset, axis1, axis2), -1, dtype, out)


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Array:
    """Vector products of vectors of three components."""
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = arrays_of("cross", (a, b))
    a, b = moveaxis(a, axisa, -1), moveaxis(b, axisb, -1)
    if a.shape[-1] != 3 or b.shape[-1] != 3:
        raise ValueError(f"cross: expected vectors of 3 components, given {a.shape[-1]} and {b.shape[-1]}; append zeros")
    parts = [a[..., i] * b[..., j] - a[..., j] * b[..., i] for i, j in ((1, 2), (2, 0), (0, 1))]
    return stack(parts, axisc)


# Lines.


def _lines(name: str, *given: Any) -> list[Array]:
    arrays = arrays_of(name, given)
    for x in arrays:
        if x.ndim > 1 or not x.size:
            raise ValueError(f"{name}: expected lines of at least one element, given shape {x.shape}")
    return [reshape(x, (x.size,)) for x in arrays]


def convolve(a: Any, v: Any, mode: str = "full") -> Array:
    """Sums of products of a line with another in reverse: ``c[n] = sum over k of a[n - k] v[k]``. Takes as many operations as NumPy's,
    the product of both lengths, added in the order of the shorter line. With ``mode`` 'same' as many as the longer one has, with 'valid'
    complete sums only. Computes if the shorter line has more than 64 elements."""
    a, v = _lines("convolve", a, v)
    a, v = (v, a) if v.size > a.size else (a, v)
    n, m = a.size, v.size
    common = result_type(a.dtype, v.dtype)
    a, v = a.astype(common), v.astype(common)
    lows = {"full": (0, n + m - 1), "same": ((m - 1) // 2, n), "valid": (m - 1, n - m + 1)}
    if mode not in lows:
        raise ValueError(f"convolve: expected a mode 'full', 'same' or 'valid', given {mode!r}")
    first, count = lows[mode]
    wide = pad(a, [(m - 1, m - 1)])
    terms = (wide[m - 1 - k + first : m - 1 - k + first + count] * v[k] for k in reversed(range(m)))
    total = next(terms)
    for number, term in enumerate(terms, 2):
        total = total + term if number % _TERMS else (total + term).eval()
    return total


def correlate(a: Any, v: Any, mode: str = "valid") -> Array:
    """Sums of products of a line with another at all distances: ``c[k] = sum over n of a[n + k] conj(v[n])``; see `convolve`."""
    a, v = _lines("correlate", a, v)
    if v.size > a.size:
        return conj(correlate(v, a, mode)[::-1])
    return convolve(a, conj(v)[::-1], mode)


def interp(x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: float | None = None) -> Array:
    """Values between those of a table by straight lines. ``xp`` ascends; tables are the host's. Every row takes an operation on every
    element. Computes if there are more than 64."""
    import numpy as np

    places, values = (np.asarray(t.numpy() if isinstance(t, BaseArray) else t) for t in (xp, fp))
    x = array_of("interp", x)
    if places.ndim != 1 or values.shape != places.shape or not places.size:
        given = f"{places.shape} and {values.shape}"
        raise ValueError(f"interp: expected xp and fp of one length of at least 1, given shapes {given}")
    x, places = x.astype(default.float), places.astype(np.float64)
    if period is not None:
        if period == 0:
            raise ValueError("period must be a non-zero value")
        period = abs(period)
        x, places = x % period, places % period
        order = np.argsort(places)
        places, values = places[order], values[order]
        places = np.concatenate([places[-1:] - period, places, places[:1] + period])
        values = np.concatenate([values[-1:], values, values[:1]])
        left = right = None
    values = values.astype(np.complex128 if np.iscomplexobj(values) else np.float64)
    with np.errstate(all="ignore"):
        slopes = np.append(np.diff(values) / np.diff(places), 0.0)
    # The row below each place.
    at, value, slope = (where(x == x, t[0].item(), t[0].item()) for t in (places, values, slopes))
    for row, (p, f, s) in enumerate(zip(places[1:].tolist(), values[1:].tolist(), slopes[1:].tolist(), strict=True), 1):
        beyond = x >= p
        at, value, slope = where(beyond, p, at), where(beyond, f, value), where(beyond, s, slope)
        if row % _TERMS == 0:
            at, value, slope = at.eval(), value.eval(), slope.eval()
    result = where(x == at, value, slope * (x - at) + value)
    result = where(x < places[0].item(), values[0].item() if left is None else left, result)
    result = where(x > places[-1].item(), values[-1].item() if right is None else right, result)
    return where(isnan(x), x, result).astype(default.complex if values.dtype.kind == "c" else default.float)


# Polynomials: their coefficients in a line, that of the highest power first.


def polyval(p: Any, x: Any) -> Array:
    """The values of a polynomial, by Horner's scheme."""
    x, p = arrays_of("polyval", (x, p))
    value = x * 0
    for k in range(p.size):
        value = value * x + p[k]
    return value


def _sum(name: str, a: Any, b: Any, sign: int) -> Array:
    a, b = _lines(name, a, b)
    rank = max(a.size, b.size)
    a, b = (concatenate([zeros(rank - x.size, x.dtype, team=x.team), x]) if x.size < rank else x for x in (a, b))
    return a + b if sign > 0 else a - b


def polyadd(a1: Any, a2: Any) -> Array:
    """The sum of two polynomials."""
    return _sum("polyadd", a1, a2, 1)


def polysub(a1: Any, a2: Any) -> Array:
    """The difference of two polynomials."""
    return _sum("polysub", a1, a2, -1)


def polymul(a1: Any, a2: Any) -> Array:
    """The product of two polynomials."""
    return convolve(a1, a2)


def polyder(p: Any, m: int = 1) -> Array:
    """The derivative of a polynomial, ``m`` times."""
    (p,) = _lines("polyder", p)
    for _ in range(m):
        n = p.size - 1
        p = p[:-1] * asarray(list(range(n, 0, -1)), p.dtype if p.dtype.kind in "fc" else None, team=p.team)
    return p


def polyint(p: Any, m: int = 1, k: Any = None) -> Array:
    """The integral of a polynomial, ``m`` times, with constants ``k`` (0 by default)."""
    (p,) = _lines("polyint", p)
    constants = [0.0] * m if k is None else [float(c) for c in (k if hasattr(k, "__len__") else [k] * m)]
    for c in constants:
        divided = p / asarray(list(range(p.size, 0, -1)), team=p.team)
        p = concatenate([divided, asarray([c], divided.dtype, team=p.team)])
    return p
