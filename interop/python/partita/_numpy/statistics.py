"""Reductions and scans made of the engine's: variance, averages, what leaves out NaN, cumulative sums, differences."""

from __future__ import annotations

import math
import operator
from typing import Any

from .._api.create import full
from .._core.array import Array
from .._core.base import array_of
from .._core.dtypes import as_dtype, default, float16, float32, float_for, real_of, result_type, wide_for
from .._core.rearrange import broadcast_to, concatenate, line_along, moveaxis, reshape
from .._core.reductions import all, argmax, argmin, max, mean, min, prod, sum
from .._core.views.index import Axis, axes_of, one_axis
from .._core.views.indexing import finished
from .._core.watch import is_watched, unwatched, watch
from .ufuncs.ufunc import scanned
from .._core.rules import conj, where
from .ufuncs.table import abs, isnan, multiply, not_equal, sqrt

amax, amin = max, min


def var(
    a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False, *, where: Any = True,
    mean: Any = None, correction: float | None = None,
) -> Array:  # fmt: skip
    """Mean squares of the distances from the mean, of N - ``ddof`` elements (``correction`` is another name of it).

    Examples
    --------
    >>> import partita as pt
    >>> pt.var([1, 2, 3, 6]).item(), pt.var([1.0, 2.0], ddof=1).item()
    (3.5, 0.5)
    """
    ddof = ddof if correction is None else correction
    a = array_of("var", a)
    axes = axes_of("var", axis, a.ndim)
    kind = float_for(a.dtype) if dtype is None and a.dtype.kind in "fc" else default.float if dtype is None else as_dtype(dtype)
    a = a.astype(float32 if kind is float16 else kind)
    if mean is not None:
        middle: Any = array_of("var", mean, a)
    else:
        middle = _mean(a, tuple(axes), where, keepdims=True) if a.ndim else a
    away = a - middle
    squares = away * away if a.dtype.kind != "c" else away.real * away.real + away.imag * away.imag
    total = sum(squares, tuple(axes), keepdims=keepdims, where=where)
    if where is True:
        count: Any = math.prod(a.shape[d] for d in axes)
        left: Any = count - ddof if count > ddof else 0.0
    else:
        count = sum(broadcast_to(array_of("var", where, a).astype(bool), a.shape), tuple(axes), keepdims=keepdims)
        left = _at_least_zero(count - ddof).astype(total.dtype)
    result = total / left
    return finished("var", result.astype(real_of(kind)), out)


def _mean(x: Array, axes: tuple[int, ...], mask: Any, keepdims: bool) -> Array:
    return mean(x, axes, keepdims=keepdims, where=mask)


def _at_least_zero(x: Array) -> Array:
    return where(x > 0, x, 0)


def std(
    a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False, *, where: Any = True,
    mean: Any = None, correction: float | None = None,
) -> Array:  # fmt: skip
    """Square roots of `var`, with its parameters."""
    squares = var(a, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction)
    return finished("std", sqrt(squares), out)


def ptp(a: Any, axis: Axis = None, out: Any = None, keepdims: bool = False) -> Array:
    """The largest less the smallest element."""
    a = array_of("ptp", a)
    return finished("ptp", max(a, axis, keepdims=keepdims) - min(a, axis, keepdims=keepdims), out)


def count_nonzero(a: Any, axis: Axis = None, *, keepdims: bool = False) -> Array:
    """The number of elements that are not 0."""
    return sum(array_of("count_nonzero", a) != 0, axis, keepdims=keepdims)


def average(a: Any, axis: Axis = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False) -> Any:
    """Means, weighted if ``weights`` are given: of the shape of ``a``, or of its extent along one ``axis``. With ``returned``
    also the sums of the weights."""
    a = array_of("average", a)
    if weights is None:
        result = mean(a, axis, keepdims=keepdims)
        count = a.size // (result.size or 1)
        return (result, result * 0 + count) if returned else result
    w = array_of("average", weights, a)
    if w.shape != a.shape:
        axes = axes_of("average", axis, a.ndim)
        if axis is None or w.shape != tuple(a.shape[d] for d in axes):
            raise ValueError(f"average: expected weights of shape {a.shape}, or of its extents along axis, given {w.shape}")
        w = reshape(w, tuple(n if d in axes else 1 for d, n in enumerate(a.shape)))
    w = broadcast_to(w, a.shape).astype(result_type(a.dtype, w.dtype, default.float if a.dtype.kind in "bui" else a.dtype))
    scale = sum(w, axis, keepdims=keepdims)
    if (scale == 0).any():
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    result = sum(multiply(a, w), axis, keepdims=keepdims) / scale
    return (result, scale) if returned else result


# Without NaN.


def _filled(name: str, x: Any, value: Any) -> tuple[Array, Any]:
    """With a value in place of NaN, and where there was none; None of types without NaN."""
    x = array_of(name, x)
    if x.dtype.kind not in "fc":
        return x, None
    known = ~isnan(x)
    return where(known, x, value), known


def nansum(
    a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
) -> Array:
    """Sums of what is not NaN."""
    return sum(_filled("nansum", a, 0)[0], axis, dtype, out, keepdims, initial, where)


def nanprod(
    a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
) -> Array:
    """Products of what is not NaN."""
    return prod(_filled("nanprod", a, 1)[0], axis, dtype, out, keepdims, initial, where)


def _nanextreme(name: str, pick: Any, worst: float, x: Any, axis: Axis, out: Any, keepdims: bool, initial: Any, mask: Any) -> Array:
    x, known = _filled(name, x, worst)
    result = pick(x, axis, None, keepdims, initial, mask)
    if known is not None:
        counted = known if mask is True else known & mask
        some = sum(counted, axis, keepdims=keepdims) > 0
        result = where(some, result, math.nan if initial is None else result)
    return finished(name, result, out)


def nanmax(a: Any, axis: Axis = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Array:
    """The largest elements that are not NaN; NaN if all are."""
    return _nanextreme("nanmax", max, -math.inf, a, axis, out, keepdims, initial, where)


def nanmin(a: Any, axis: Axis = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Array:
    """The smallest elements that are not NaN; NaN if all are."""
    return _nanextreme("nanmin", min, math.inf, a, axis, out, keepdims, initial, where)


def nanmean(a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> Array:
    """Means of what is not NaN."""
    filled, known = _filled("nanmean", a, 0)
    mask = where if known is None else known if where is True else known & where
    if watch.count and is_watched():
        # A line of NaN alone divides by no count, which is no fault; a sum may overflow.
        sum(filled, axis, dtype, keepdims=keepdims, where=True if mask is None else mask)
    return unwatched(mean)(filled, axis, dtype, out, keepdims, where=True if mask is None else mask)


def nanvar(
    a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False, *, where: Any = True,
    mean: Any = None, correction: float | None = None,
) -> Array:  # fmt: skip
    """`var` of what is not NaN; NaN where no element more than ``ddof`` is."""
    filled, known = _filled("nanvar", a, 0)
    mask = where if known is None else known if where is True else known & where
    by = ddof if correction is None else correction
    if watch.count and is_watched():
        # As in `nanmean`: too few elements are no fault, squares may overflow.
        var(filled, axis, dtype, keepdims=keepdims)
    result = unwatched(var)(filled, axis, dtype, None, by, keepdims, where=mask, mean=mean)
    if mask is not True:
        counted = sum(broadcast_to(array_of("nanvar", mask), filled.shape), axis, keepdims=keepdims)
        result = _where(counted > by, result, math.nan)
    return finished("nanvar", result, out)


_where = where


def nanstd(
    a: Any, axis: Axis = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False, *, where: Any = True,
    mean: Any = None, correction: float | None = None,
) -> Array:  # fmt: skip
    """Square roots of `nanvar`."""
    return finished("nanstd", sqrt(nanvar(a, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction)), out)


def _nanplace(name: str, pick: Any, worst: float, x: Any, axis: int | None, out: Any, keepdims: bool) -> Array:
    filled, known = _filled(name, x, worst)
    if known is not None and not all(sum(known, axis) > 0):
        raise ValueError("All-NaN slice encountered")
    return pick(filled, axis, out, keepdims=keepdims)


def nanargmax(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Array:
    """The index of the largest element that is not NaN. Computes, to refuse lines of NaN alone."""
    return _nanplace("nanargmax", argmax, -math.inf, a, axis, out, keepdims)


def nanargmin(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Array:
    """The index of the smallest element that is not NaN. Computes, to refuse lines of NaN alone."""
    return _nanplace("nanargmin", argmin, math.inf, a, axis, out, keepdims)


# Scans.


def _scan(name: str, x: Any, axis: int | None, dtype: Any, out: Any, initial: bool, unit: int) -> Array:
    x, d = line_along(name, x, axis)
    name_of, combine = ("multiply", operator.mul) if unit else ("add", operator.add)
    result = scanned(name_of, combine, x.astype(wide_for(x.dtype) if dtype is None else dtype), d)
    if initial:
        first = full((*x.shape[:d], 1, *x.shape[d + 1 :]), unit, result.dtype, team=x.team)
        result = concatenate([first, result], d)
    return finished(name, result, out)


def cumulative_sum(x: Any, /, *, axis: int | None = None, dtype: Any = None, out: Any = None, include_initial: bool = False) -> Array:
    """Sums of all elements up to each. Records."""
    return _scan("cumulative_sum", _one_line("cumulative_sum", x, axis), axis or 0, dtype, out, include_initial, 0)


def cumulative_prod(x: Any, /, *, axis: int | None = None, dtype: Any = None, out: Any = None, include_initial: bool = False) -> Array:
    """Products of all elements up to each. Records, of complex elements computes."""
    return _scan("cumulative_prod", _one_line("cumulative_prod", x, axis), axis or 0, dtype, out, include_initial, 1)


def _one_line(name: str, x: Any, axis: int | None) -> Array:
    x = array_of(name, x)
    if axis is None and x.ndim != 1:
        raise ValueError(f"{name}: expected an axis for {x.ndim} dimensions, given none")
    return x


def cumsum(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Array:
    """Sums of all elements up to each along ``axis`` (of the flat array if None). Records."""
    return _scan("cumsum", a, axis, dtype, out, False, 0)


def cumprod(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Array:
    """Products of all elements up to each along ``axis`` (of the flat array if None). Records; of complex elements computes."""
    return _scan("cumprod", a, axis, dtype, out, False, 1)


def nancumsum(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Array:
    """`cumsum`, NaN counting as 0."""
    return cumsum(_filled("nancumsum", a, 0)[0], axis, dtype, out)


def nancumprod(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Array:
    """`cumprod`, NaN counting as 1."""
    return cumprod(_filled("nancumprod", a, 1)[0], axis, dtype, out)


# Differences.


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Array:
    """Differences of neighbours along an axis, ``n`` times."""
    if n < 0:
        raise ValueError(f"diff: expected n of at least 0, given {n}")
    a = array_of("diff", a)
    if n == 0:
        return a
    d = one_axis("diff", axis, a.ndim)
    ends = [None if end is None else array_of("diff", end, a) for end in (prepend, append)]
    thin = (*a.shape[:d], 1, *a.shape[d + 1 :])
    first, last = (broadcast_to(end, thin) if end is not None and end.ndim == 0 else end for end in ends)
    if first is not None or last is not None:
        a = concatenate([piece for piece in (first, a, last) if piece is not None], d)
    front: tuple[slice, ...] = (slice(None),) * d
    for _ in range(n):
        after, before = a[(*front, slice(1, None))], a[(*front, slice(None, -1))]
        a = not_equal(after, before) if a.dtype == bool else after - before
    return a


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Array:
    """Differences of neighbours of the flat array, with elements before and behind."""
    line = diff(array_of("ediff1d", ary).reshape(-1))
    ends = [None if end is None else array_of("ediff1d", end, line).reshape(-1).astype(line.dtype) for end in (to_begin, to_end)]
    pieces = [piece for piece in (ends[0], line, ends[1]) if piece is not None]
    return concatenate(pieces) if len(pieces) > 1 else line


def gradient(f: Any, *varargs: Any, axis: Axis = None, edge_order: int = 1) -> Any:
    """Derivatives by central differences inside and one-sided ones at the ends; ``varargs`` are distances or coordinates, one
    for all axes or one each. One array, or a tuple of one per axis."""
    f = array_of("gradient", f)
    axes = axes_of("gradient", axis, f.ndim) if not isinstance(axis, tuple) else [one_axis("gradient", d, f.ndim) for d in axis]
    spacings = list(varargs) * len(axes) if len(varargs) == 1 else list(varargs) or [1.0] * len(axes)
    if len(spacings) != len(axes) or edge_order not in (1, 2):
        raise TypeError(f"gradient: expected {len(axes)} distances, one or none, and edge_order 1 or 2, given {len(varargs)}, {edge_order}")
    f = f if f.dtype.kind in "fc" else f.astype(default.float)
    results = tuple(_gradient(f, d, h, edge_order) for d, h in zip(axes, spacings, strict=True))
    return results[0] if len(results) == 1 else results


def _gradient(f: Array, d: int, spacing: Any, order: int) -> Array:
    if f.shape[d] < order + 1:
        raise ValueError(f"gradient: expected at least {order + 1} elements along axis {d}, given {f.shape[d]}")
    f = moveaxis(f, d, 0)
    h = spacing if isinstance(spacing, (int, float)) else array_of("gradient", spacing, f)
    if not isinstance(h, Array) or h.ndim == 0:
        h = float(h)
        inner = (f[2:] - f[:-2]) / (2.0 * h)
        if order == 1:
            ends = [(f[1:2] - f[0:1]) / h, (f[-1:] - f[-2:-1]) / h]
        else:
            a, b, c = -1.5 / h, 2.0 / h, -0.5 / h
            ends = [a * f[0:1] + b * f[1:2] + c * f[2:3], -c * f[-3:-2] + -b * f[-2:-1] + -a * f[-1:]]
    else:
        if h.shape != f.shape[:1]:
            raise ValueError(f"gradient: expected {f.shape[0]} coordinates along axis {d}, given shape {h.shape}")
        steps = diff(h.astype(f.dtype if f.dtype.kind == "f" else default.float)).reshape((-1,) + (1,) * (f.ndim - 1))
        before, after = steps[:-1], steps[1:]
        left, right = -after / (before * (before + after)), before / (after * (before + after))
        inner = left * f[:-2] + (after - before) / (before * after) * f[1:-1] + right * f[2:]
        ends = [(f[1:2] - f[0:1]) / steps[0:1], (f[-1:] - f[-2:-1]) / steps[-1:]]
        if order == 2:
            p, q = steps[0:1], steps[1:2]
            r, s = steps[-2:-1], steps[-1:]
            ends = [
                -(2.0 * p + q) / (p * (p + q)) * f[0:1] + (p + q) / (p * q) * f[1:2] + -p / (q * (p + q)) * f[2:3],
                s / (r * (r + s)) * f[-3:-2] + -(s + r) / (r * s) * f[-2:-1] + (2.0 * s + r) / (s * (r + s)) * f[-1:],
            ]
    return moveaxis(concatenate([ends[0], inner, ends[1]], 0), 0, d)


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Array:
    """Integrals along an axis by the trapezoidal rule; ``x`` are the places of the elements, ``dx`` their distance."""
    y = array_of("trapezoid", y)
    d = one_axis("trapezoid", axis, y.ndim)
    if x is not None:
        dx = array_of("trapezoid", x, y)
        dx = reshape(diff(dx), (-1,) + (1,) * (y.ndim - d - 1)) if dx.ndim == 1 else diff(dx, axis=d)
    front = (slice(None),) * d
    return sum(dx * (y[(*front, slice(1, None))] + y[(*front, slice(None, -1))]) / 2.0, d)


def cov(
    m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: int | None = None, fweights: Any = None,
    aweights: Any = None, *, dtype: Any = None,
) -> Array:  # fmt: skip
    """Covariances of the rows (columns unless ``rowvar``) of a matrix, and of ``y``. Columns count ``fweights`` times, or by their
    importance ``aweights``."""
    rows = [array_of("cov", x) for x in (m, y) if x is not None]
    rows = [reshape(x, (1, x.size)) if x.ndim < 2 else x if rowvar else x.T for x in rows]
    x = concatenate(rows) if len(rows) > 1 else rows[0]
    x = x.astype(dtype) if dtype is not None else x if x.dtype.kind in "fc" else x.astype(default.float)
    ddof = ddof if ddof is not None else 0 if bias else 1
    weights = [array_of("cov", w, x).astype(real_of(x.dtype)) for w in (fweights, aweights) if w is not None]
    if any(w.shape != x.shape[1:] for w in weights):
        raise ValueError(f"cov: expected one weight for each of {x.shape[1]} columns, given shapes {[w.shape for w in weights]}")
    if not weights:
        x = x - mean(x, 1, keepdims=True)
        left: Any = float(x.shape[1] - ddof) if x.shape[1] > ddof else 0.0
        return ((x @ conj(x.T)) / left).squeeze()
    w = weights[0] * weights[1] if len(weights) == 2 else weights[0]
    total = sum(w)
    x = x - sum(x * w, 1, keepdims=True) / total
    left = total - ddof if aweights is None else total - ddof * sum(w * weights[-1]) / total
    return ((x @ conj((x * w).T)) / _at_least_zero(left)).squeeze()


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Array:
    """Covariances divided by the standard deviations of both."""
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    deviations = sqrt(c.diagonal().real)
    c = c / deviations[:, None] / deviations[None, :]
    return where(abs(c) > 1, where(c > 0, 1.0, -1.0), c) if c.dtype.kind == "f" else c
