"""Counts of elements in bins. On the host NumPy counts, and adds weights in the order of the elements, whatever the parts. On devices bins
are reductions, and many of them are counted in a sorted line; weights are added in the order of `sum`: the same counts everywhere, and sums
of weights within the bounds of sums. Edges are few and the host's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..._api.create import arange, asarray, zeros
from ..._core.array import Array
from ..._core.base import BaseArray, array_of
from ..._core.dtypes import float64, int64, result_type, wide_for
from ..._core.memory import of_elements
from ..._core.rearrange import concatenate, ravel, reshape
from ..._core.reductions import max, mean, min, sum
from .searching import searchsorted
from .sorting import sort
from ..._core.rules import where
from ..._core.views.on_host import elements_of

#: Bins that are counted by one reduction; of more numbers sorting is less work.
_TOGETHER = 1 << 10


def bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Array:
    """The count of each number among integers of at least 0, or the sum of its weights.

    On devices more than 1024 numbers are counted in sorted order, and with weights the work is the product of elements and numbers.
    Computes. Collective.

    Parameters
    ----------
    x : Array of int
        Of one dimension.
    minlength : int, default 0
        The least length of the result.

    Returns
    -------
    Array
        Of int64; of float64 with weights.

    Examples
    --------
    >>> import partita as pt
    >>> pt.bincount([1, 3, 1]).tolist(), pt.bincount([1, 3, 1], [0.5, 2, 1], minlength=5).tolist()
    ([0, 2, 0, 1], [0.0, 1.5, 0.0, 2.0, 0.0])
    """
    line = array_of("bincount", x)
    if line.ndim != 1:
        raise ValueError(f"bincount: expected a line, given {line.ndim} dimensions; flatten it")
    if minlength < 0:
        raise ValueError("'minlength' must not be negative")
    if line.size and (line.dtype.kind not in "biu" or line.dtype.name == "uint64"):
        raise TypeError(f"bincount: expected integers that int64 holds, given {line.dtype.name}; convert them with astype")
    if line._is_on_host():
        import numpy as np

        w = None if weights is None else elements_of(array_of("bincount", weights, line))
        counts = np.bincount(elements_of(line).astype(np.int64, copy=False), w, minlength)
        return Array(of_elements(counts, int64 if w is None else float64, team=line.team))
    line = line.astype(int64)
    if line.size and bool(min(line) < 0):
        raise ValueError("'x' argument must have no negative elements")
    count = int(max(line)) + 1 if line.size else 0
    w = None if weights is None else array_of("bincount", weights, line)
    if w is not None and w.shape != line.shape:
        raise ValueError("The weights and list don't have the same length.")
    return _counted(line, count if count > minlength else minlength, w if w is None else w.astype(float64))


def _counted(numbers: Array, count: int, weights: Array | None) -> Array:
    """The count of each number below ``count`` in a line, or the sum of its weights."""
    if weights is None and count > _TOGETHER:
        starts = searchsorted(sort(numbers), arange(count + 1, dtype=int64, team=numbers.team))
        return starts[1:] - starts[:-1]
    # Once, rather than in every bin.
    numbers, weights = numbers.eval(), None if weights is None else weights.eval()
    pieces = []
    for first in range(0, count, _TOGETHER):
        last = count if count < first + _TOGETHER else first + _TOGETHER
        bins = arange(first, last, dtype=int64, team=numbers.team)
        found = numbers[:, None] == bins[None, :]
        pieces.append(sum(found if weights is None else where(found, weights[:, None], 0), 0).eval())
    if not pieces:
        return zeros(0, int64 if weights is None else weights.dtype, team=numbers.team)
    return concatenate(pieces) if len(pieces) > 1 else pieces[0]


# Edges.


def _ends(x: Array, limits: Any) -> tuple[Any, Any]:
    """The first and the last edge, as NumPy's scalars or as they were given."""
    if limits is not None:
        first, last = limits
        if first > last:
            raise ValueError("max must be larger than min in range parameter.")
    elif x.size == 0:
        first, last = 0, 1
    else:
        first, last = min(x).numpy()[()], max(x).numpy()[()]
    if not (math.isfinite(first) and math.isfinite(last)):
        what = "autodetected range" if limits is None else "supplied range"
        raise ValueError(f"{what} of [{first}, {last}] is not finite")
    return (first - 0.5, last + 0.5) if first == last else (first, last)


def _width(rule: str, x: Array, ends: tuple[Any, Any]) -> float:
    """The width of bins by a rule of statistics."""
    size, reach = x.size, float(max(x)) - float(min(x))
    if rule == "sqrt":
        return reach / math.sqrt(size)
    if rule == "sturges":
        return reach / (math.log2(size) + 1.0)
    if rule == "rice":
        return reach / (2.0 * size ** (1.0 / 3))
    from ..statistics import std

    deviation = float(std(x))
    if rule == "scott":
        return float((24.0 * math.pi**0.5 / size) ** (1.0 / 3.0)) * deviation
    if rule == "doane":
        if size <= 2 or deviation == 0:
            return 0.0
        skew = math.sqrt(6.0 * (size - 2) / ((size + 1.0) * (size + 3)))
        third = float(mean(((x - mean(x)) / deviation) ** 3))
        return reach / (1.0 + math.log2(size) + math.log2(1.0 + abs(third) / skew))
    raise ValueError(f"{rule!r} is not a valid estimator for `bins`")


def _edges(x: Array, bins: Any, limits: Any, weights: Array | None) -> tuple[Any, tuple[Any, Any] | None]:
    """The edges, a line of NumPy's, and the first and last one if all bins are alike."""
    import numpy as np

    if isinstance(bins, str):
        if weights is not None:
            raise TypeError("Automated estimation of the number of bins is not supported for weighted data")
        ends = _ends(x, limits)
        within = x if limits is None else x[(x >= ends[0]) & (x <= ends[1])]
        width = _width(bins, within, ends) if within.size else 0.0
        if width and x.dtype.kind in "iu" and width < 1:
            width = 1.0
        count = int(math.ceil((float(ends[1]) - float(ends[0])) / width)) if width else 1
    elif isinstance(bins, (Sequence, BaseArray, np.ndarray)) and np.ndim(bins) == 1:
        edges = bins.numpy() if isinstance(bins, BaseArray) else np.asarray(bins)
        if (edges[:-1] > edges[1:]).any():
            raise ValueError("`bins` must increase monotonically, when an array")
        return edges, None
    elif np.ndim(bins) == 0:
        try:
            count = int(np.asarray(bins).__index__())
        except TypeError:
            raise TypeError("`bins` must be an integer, a string, or an array") from None
        if count < 1:
            raise ValueError("`bins` must be positive, when an integer")
        ends = _ends(x, limits)
    else:
        raise ValueError("`bins` must be 1d, when an array")
    kind = np.result_type(*ends, np.dtype(x.dtype.name))
    kind = np.result_type(kind, float) if np.issubdtype(kind, np.integer) else kind
    edges = np.linspace(*ends, count + 1, endpoint=True, dtype=kind)
    if (edges[:-1] >= edges[1:]).any():
        raise ValueError(f"Too many bins for data range. Cannot create {count} finite-sized bins.")
    return edges, ends


def _flat(name: str, a: Any, weights: Any) -> tuple[Array, Array | None]:
    x = array_of(name, a)
    if x.dtype.kind == "c":
        raise TypeError(f"{name}: expected real numbers, given complex ones; use their parts")
    w = None if weights is None else array_of(name, weights, x)
    if w is not None and w.shape != x.shape:
        raise ValueError("weights should have the same shape as a.")
    x = ravel(x)
    return x.astype("uint8") if x.dtype.kind == "b" else x, None if w is None else ravel(w)


def histogram_bin_edges(a: Any, bins: Any = 10, range: tuple[float, float] | None = None, weights: Any = None) -> Array:
    """The edges that `histogram` would use.

    Computes. Collective.

    Parameters
    ----------
    bins : int, sequence or str, default 10
        How many bins, their edges, or a rule: 'sqrt', 'sturges', 'rice', 'scott' or 'doane'.
    range : (float, float), optional
        The first and the last edge; by default the least and the largest element.
    weights : Array, optional
        Without effect.

    Examples
    --------
    >>> import partita as pt
    >>> pt.histogram_bin_edges([0, 1, 4], bins=2).tolist()
    [0.0, 2.0, 4.0]
    """
    x, w = _flat("histogram_bin_edges", a, weights)
    return asarray(_edges(x, bins, range, w)[0], team=x.team)


def _bins(x: Array, edges: Any) -> Array:
    """The number of each element's bin, -1 outside of all. The last bin has its last edge."""
    line, last = asarray(edges, team=x.team), len(edges) - 2
    place = searchsorted(line, x, "right") - 1
    place = where(x == line[-1], last, place)
    return where((x >= line[0]) & (x <= line[-1]), place, -1).eval()


def histogram(
    a: Any, bins: Any = 10, range: tuple[float, float] | None = None, density: bool | None = None, weights: Any = None
) -> tuple[Array, Array]:
    """The number of elements in each bin, or the sums of their weights, and the edges of the bins.

    On the host as NumPy's. On devices each part reads all edges, the elements stay, and weights are added in the order of `sum`.
    Computes. Collective.

    Parameters
    ----------
    bins : int, sequence or str, default 10
        How many bins, their edges, or a rule of `histogram_bin_edges`.
    range : (float, float), optional
        The first and the last edge; by default the least and the largest element.
    density : bool, optional
        Whether the result is divided by its sum and by the widths of the bins.

    Returns
    -------
    tuple of Array
        The counts and the edges.

    Examples
    --------
    >>> import partita as pt
    >>> counts, edges = pt.histogram([1, 2, 1, 4], bins=3)
    >>> counts.tolist(), edges.tolist()
    ([2, 1, 1], [1.0, 2.0, 3.0, 4.0])
    """
    import numpy as np

    x, w = _flat("histogram", a, weights)
    if x._is_on_host():
        bins = bins.numpy() if isinstance(bins, BaseArray) else bins
        found = np.histogram(x.numpy(), bins, range, density, None if w is None else w.numpy())
        return asarray(found[0], team=x.team), asarray(found[1], team=x.team)
    edges, ends = _edges(x, bins, range, w)
    count = len(edges) - 1
    if count < 1:
        counts = zeros(0, int64 if w is None else w.dtype, team=x.team)
    elif w is None:
        counts = _counted(_bins(x, edges), count, None)
    else:
        # With edges of different widths in the type of NumPy's cumulative sums.
        kind = w.dtype if ends is not None else result_type(w.dtype, wide_for(w.dtype))
        counts = _counted(_bins(x, edges), count, w.astype(float64 if w.dtype.kind != "c" else w.dtype)).astype(kind)
    line = asarray(edges, team=x.team)
    if density:
        widths = asarray(np.diff(edges).astype(float), team=x.team)
        return counts / widths / sum(counts), line
    return counts, line


def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None
) -> tuple[Array, tuple[Array, ...]]:
    """`histogram` of points in several dimensions.

    Computes. Collective.

    Parameters
    ----------
    sample : Array or list of Array
        One row for each point, or a list of one line of coordinates for each dimension.
    bins : int or sequence, default 10
        How many bins or their edges, for all dimensions or one each.
    range : sequence of (float, float), optional
        First and last edge of each dimension, or None.
    density : bool, optional
        Whether the result is divided by its sum and by the volumes of the bins.

    Returns
    -------
    tuple
        The counts, of float64, and a tuple of lines of edges.

    Examples
    --------
    >>> import partita as pt
    >>> counts, edges = pt.histogramdd(pt.array([[0.0, 0.0], [1.0, 0.2], [0.9, 1.0]]), bins=2)
    >>> counts.tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """
    import numpy as np

    if len(getattr(sample, "shape", ())) == 2:
        points = array_of("histogramdd", sample)
        lines = [points[:, d] for d in np.arange(points.shape[1]).tolist()]
    elif hasattr(sample, "shape") or not np.ndim(sample[0]):
        lines = [array_of("histogramdd", sample)]
    else:
        lines = [array_of("histogramdd", line) for line in sample]
    rank = len(lines)
    if not hasattr(bins, "__len__"):
        bins = [bins] * rank
    if len(bins) != rank:
        raise ValueError("The dimension of bins must be equal to the dimension of the sample x.")
    limits = [None] * rank if range is None else list(range)
    if len(limits) != rank:
        raise ValueError("range argument must have one entry per dimension")
    number: Any = 0
    inside: Any = True
    edges = []
    for line, count, limit in zip(lines, bins, limits, strict=True):
        if np.ndim(count) == 0 and count < 1:
            raise ValueError("`bins` must be positive, when an integer")
        ours = np.linspace(*_ends(line, limit), int(count) + 1) if np.ndim(count) == 0 else _edges(line, count, limit, None)[0]
        place = _bins(line, ours)
        number, inside = number * (len(ours) - 1) + place, inside & (place >= 0)
        edges.append(ours)
    shape = tuple(len(ours) - 1 for ours in edges)
    w = None if weights is None else array_of("histogramdd", weights, lines[0]).astype(float64)
    counts = reshape(_counted(where(inside, number, -1), math.prod(shape), w).astype(float64), shape)
    if density:
        total = sum(counts)
        for d, ours in enumerate(edges):
            widths = np.diff(ours).reshape((-1,) + (1,) * (rank - d - 1))
            counts = counts / asarray(widths, team=counts.team)
        counts = counts / total
    return counts, tuple(asarray(ours, team=counts.team) for ours in edges)


def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None
) -> tuple[Array, Array, Array]:
    """`histogram` of points in two dimensions.

    Computes. Collective.

    Parameters
    ----------
    x, y : Array
        Coordinates of the points.
    bins : int, line of edges, or one of these for each dimension, default 10
    range : two pairs of float, optional
        First and last edges.
    density : bool, optional
        Whether the result is divided by its sum and by the areas of the bins.

    Returns
    -------
    tuple of Array
        The counts, of float64, and the edges of both dimensions.

    Examples
    --------
    >>> import partita as pt
    >>> pt.histogram2d([0.0, 1.0, 0.9], [0.0, 0.2, 1.0], bins=2)[0].tolist()
    [[1.0, 0.0], [1.0, 1.0]]
    """
    lines = [array_of("histogram2d", line) for line in (x, y)]
    if lines[0].shape != lines[1].shape:
        raise ValueError("x and y must have the same length.")
    try:
        count = len(bins)
    except TypeError:
        count = 1
    if count not in (1, 2):
        bins = [bins, bins]
    counts, edges = histogramdd(lines, bins, range, density, weights)
    return counts, edges[0], edges[1]
