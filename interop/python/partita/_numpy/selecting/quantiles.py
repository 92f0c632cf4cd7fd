"""Medians and quantiles, by sorting along axes, and orders by several keys."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..._api.create import arange
from ..._core.array import Array
from ..._core.base import array_of, arrays_of
from ..._core.dtypes import default
from ..._core.rearrange import moveaxis, reshape, stack
from ..._core.reductions import sum
from ..._core.views.index import Axis, axes_of, one_axis
from ..._core.views.indexing import finished
from .sorting import along, argsort, sort
from ..._core.rules import where
from ..ufuncs.table import isnan

#: Of methods that interpolate everywhere, NumPy's alpha and beta.
_METHODS = {
    "linear": (1.0, 1.0), "weibull": (0.0, 0.0), "hazen": (0.5, 0.5), "interpolated_inverted_cdf": (0.0, 1.0),
    "median_unbiased": (1 / 3.0, 1 / 3.0), "normal_unbiased": (3 / 8.0, 3 / 8.0),
}  # fmt: skip
#: Of methods that take elements as they are, or the middle of two: by count and q the place, a number whose part behind the point
#: is the share of the way; by this share and the number of the element below how far to go to the one above.
_PLACES: dict[str, Callable[[Any, float], Any]] = {
    "inverted_cdf": lambda count, q: count * q - 1, "averaged_inverted_cdf": lambda count, q: count * q - 1,
    "closest_observation": lambda count, q: count * q - 1.5,
    **dict.fromkeys(("lower", "higher", "midpoint", "nearest"), lambda count, q: (count - 1) * q),
}  # fmt: skip
_STEPS: dict[str, Callable[[Any, Any], Any]] = {
    "lower": lambda share, below: 0.0 * share, "higher": lambda share, below: 1.0 * (share > 0),
    "midpoint": lambda share, below: 0.5 * (share > 0),
    "nearest": lambda share, below: 1.0 * ((share > 0.5) | ((share == 0.5) & (below % 2 == 1))),
    "inverted_cdf": lambda share, below: 1.0 * (share > 0), "averaged_inverted_cdf": lambda share, below: 0.5 + 0.5 * (share > 0),
    "closest_observation": lambda share, below: 1.0 * ((share > 0) | (below % 2 == 0)),
}  # fmt: skip


def _sorted(name: str, a: Any, axis: Axis) -> tuple[Array, list[int], tuple[int, ...]]:
    """Sorted along a last dimension that holds those of the axes, these axes, and the shape with extents of 1 in their place."""
    x = array_of(name, a)
    axes = axes_of(name, axis, x.ndim)
    kept = tuple(1 if d in axes else n for d, n in enumerate(x.shape))
    rest = tuple(n for d, n in enumerate(x.shape) if d not in axes)
    x = moveaxis(x, tuple(axes), tuple(range(x.ndim - len(axes), x.ndim)))
    x = reshape(x, (*rest, math.prod(x.shape[len(rest) :])))
    if x.dtype.kind == "c":
        raise TypeError(f"{name}: expected real numbers, given complex ones; use their parts")
    return sort(x if x.dtype.kind == "f" else x.astype(default.float), axis=-1), axes, kept


def _known(line: Array, without_nan: bool) -> tuple[Array, Any, Any]:
    """The sorted lines without NaN, how many elements count in each, and where the result is NaN."""
    unknown = isnan(line)
    if not without_nan:
        return line, line.shape[-1], unknown[..., -1]
    count = line.shape[-1] - sum(unknown, -1)
    return where(unknown, 0.0, line).astype(line.dtype), count, count == 0


def _at(line: Array, place: Any) -> Array:
    """Along the last dimension the elements with a number, which may be another for each line."""
    if not isinstance(place, Array):
        return line[..., int(place)]
    return sum(where(arange(line.shape[-1], team=line.team) == place[..., None], line, 0.0), -1)


def _between(low: Array, high: Array, share: Any) -> Array:
    """NumPy's interpolation, which rounds alike from both ends."""
    reach = high - low
    if isinstance(share, Array):
        share = share.astype(low.dtype)
        return where(share >= 0.5, high - reach * (1 - share), low + reach * share)
    return high - reach * (1 - share) if share >= 0.5 else low + reach * share


def _within(number: Any, count: Any) -> Any:
    """A number of an element, moved to the first or the last one if there is none."""
    if isinstance(count, Array):
        last = where(count > 0, count - 1, 0)
        return where(number < 0, 0, where(number > last, last, number))
    return max(min(number, count - 1), 0)


def _one(line: Array, q: float, method: str, count: Any) -> Array:
    """The quantile ``q`` of the first elements of each line."""
    if method in _METHODS:
        alpha, beta = _METHODS[method]
        place = (count - 1) * q if method == "linear" else count * q + (alpha + q * (1 - alpha - beta)) - 1
    elif method in _PLACES:
        place = _PLACES[method](count, q)
    else:
        raise ValueError(f"quantile: expected a method of {', '.join((*_METHODS, *_PLACES))}, given {method!r}")
    below = place // 1 if isinstance(count, Array) else math.floor(place)
    share = place - below
    low, high = _within(below, count), _within(below + 1, count)
    if method in _METHODS:
        return _between(_at(line, low), _at(line, high), share)
    step = _STEPS[method](share, below)
    if method in ("midpoint", "averaged_inverted_cdf"):
        return _between(_at(line, low), _at(line, high), step)
    return _at(line, where(step > 0, high, low) if isinstance(step, Array) else high if step else low)


def _quantiles(name: str, a: Any, q: Any, axis: Axis, out: Any, method: str, keepdims: bool, without_nan: bool) -> Array:
    import numpy as np

    given = q.numpy() if isinstance(q, Array) else q
    asked = np.asarray(np.true_divide(given, 100) if "percentile" in name else given, float)
    if not ((asked >= 0) & (asked <= 1)).all():
        raise ValueError("Quantiles must be in the range [0, 1]" if "quantile" in name else "Percentiles must be in the range [0, 100]")
    line, axes, kept = _sorted(name, a, axis)
    if line.shape[-1] == 0:
        raise IndexError(f"{name}: expected at least one element along the axes, given none")
    data, count, bad = _known(line, without_nan)
    results = [where(bad, math.nan, _one(data, p, method, count)).astype(line.dtype) for p in asked.reshape(-1).tolist()]
    shaped = [reshape(r, kept) if keepdims else r for r in results]
    made = reshape(stack(shaped), (*asked.shape, *shaped[0].shape)) if asked.ndim else shaped[0]
    return finished(name, made, out)


def quantile(
    a: Any, q: Any, axis: Axis = None, out: Any = None, overwrite_input: bool = False, method: str = "linear", keepdims: bool = False
) -> Array:
    """Elements below which shares ``q`` of all are; NaN where one is.

    Of integers in the default type of floats. Computes. Collective.

    Parameters
    ----------
    a : Array
        Real numbers.
    q : float or sequence of float
        From 0 to 1; read on the host.
    method : str, default 'linear'
        One of NumPy's.

    Returns
    -------
    Array
        Dimensions of ``q`` come first.

    Examples
    --------
    >>> import partita as pt
    >>> pt.quantile([4.0, 1.0, 3.0, 2.0], 0.5).item()
    2.5
    """
    return _quantiles("quantile", a, q, axis, out, method, keepdims, False)


def nanquantile(
    a: Any, q: Any, axis: Axis = None, out: Any = None, overwrite_input: bool = False, method: str = "linear", keepdims: bool = False
) -> Array:
    """`quantile` of what is not NaN.

    Of integers in the default type of floats. Computes. Collective.

    Examples
    --------
    >>> import partita as pt
    >>> pt.nanquantile([4.0, 1.0, pt.nan, 2.0], 0.5).item()
    2.0
    """
    return _quantiles("nanquantile", a, q, axis, out, method, keepdims, True)


def percentile(
    a: Any, q: Any, axis: Axis = None, out: Any = None, overwrite_input: bool = False, method: str = "linear", keepdims: bool = False
) -> Array:
    """`quantile` with shares in hundredths.

    Of integers in the default type of floats. Computes. Collective.

    Parameters
    ----------
    q : float or sequence of float
        From 0 to 100; read on the host.

    Examples
    --------
    >>> import partita as pt
    >>> pt.percentile([4.0, 1.0, 3.0, 2.0], 50).item()
    2.5
    """
    return _quantiles("percentile", a, q, axis, out, method, keepdims, False)


def nanpercentile(
    a: Any, q: Any, axis: Axis = None, out: Any = None, overwrite_input: bool = False, method: str = "linear", keepdims: bool = False
) -> Array:
    """`percentile` of what is not NaN.

    Of integers in the default type of floats. Computes. Collective.

    Parameters
    ----------
    q : float or sequence of float
        From 0 to 100; read on the host.

    Examples
    --------
    >>> import partita as pt
    >>> pt.nanpercentile([4.0, 1.0, pt.nan, 2.0], 50).item()
    2.0
    """
    return _quantiles("nanpercentile", a, q, axis, out, method, keepdims, True)


def median(a: Any, axis: Axis = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False) -> Array:
    """The middle elements, or the means of both; NaN where one is. Computes. Collective."""
    return _median("median", a, axis, out, keepdims, False)


def nanmedian(a: Any, axis: Axis = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False) -> Array:
    """`median` of what is not NaN. Computes. Collective."""
    return _median("nanmedian", a, axis, out, keepdims, True)


def _median(name: str, a: Any, axis: Axis, out: Any, keepdims: bool, without_nan: bool) -> Array:
    line, axes, kept = _sorted(name, a, axis)
    extent = line.shape[-1]
    if extent == 0:
        result = sum(line, -1) * math.nan
    else:
        data, count, bad = _known(line, without_nan)
        low, high = (count - 1) // 2, count // 2
        low = where(low < 0, 0, low) if isinstance(low, Array) else low
        pair = (_at(data, low), _at(data, high))
        middle = (pair[0] + pair[1]) / 2 if isinstance(low, Array) or low != high else pair[0]
        result = where(bad, math.nan, middle).astype(line.dtype)
    return finished(name, reshape(result, kept) if keepdims else result, out)


def lexsort(keys: Any, axis: int = -1) -> Array:
    """The order by several keys, of which the last counts first. That of keys of several dimensions is read on the host. Computes.
    Collective."""
    given = arrays_of("lexsort", list(keys))
    if not given:
        raise TypeError("lexsort: expected at least one key, given none")
    d = one_axis("lexsort", axis, given[0].ndim)
    order = argsort(given[0], axis=d)
    for key in given[1:]:
        order = along(order, argsort(along(key, order, d), axis=d), d)
    return order
