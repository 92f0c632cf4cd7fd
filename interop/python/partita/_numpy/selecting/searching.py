"""Searches in sorted lines: one probe of every element at a time, all on the devices."""

from __future__ import annotations

from typing import Any

from ..._core.array import Array
from ..._core.base import array_of
from ..._core.dtypes import int8, int64, result_type
from ..._core.memory import host_of
from ..._core.rearrange import take
from ..._core.rules import imag, real, where
from ..ufuncs.table import isnan, logical_not, minimum


def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Array:
    """The indices at which elements would be inserted into a sorted line to keep it sorted; NaN is last.

    Each part reads the whole line ``a``. The elements ``v`` stay on their parts. Computes. Collective.

    Parameters
    ----------
    a : Array
        Of one dimension, sorted, or in the order that ``sorter`` says.
    v : Array or number
        Complex numbers are ordered as `sort` does.
    side : str, default 'left'
        Of equal elements 'left' finds the place before the first, 'right' that behind the last.
    sorter : Array of int, optional
        Numbers of the elements of ``a`` in sorted order, as `argsort` gives.

    Returns
    -------
    Array
        Of int64, of the shape and distribution of ``v``.

    Examples
    --------
    >>> import partita as pt
    >>> pt.searchsorted([11, 12, 12, 14], [12, 10, 20]).tolist(), pt.searchsorted([11, 12, 12, 14], 12, side="right").item()
    ([1, 0, 4], 3)
    """
    line = array_of("searchsorted", a, v if isinstance(v, Array) else None)
    wanted = array_of("searchsorted", v, line)
    if line.ndim != 1:
        raise ValueError(f"searchsorted: expected a line to search, given {line.ndim} dimensions; flatten it")
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: expected side 'left' or 'right', given {side!r}")
    if sorter is not None:
        order = array_of("searchsorted", sorter, line)
        if order.dtype.kind not in "iu":
            raise TypeError(f"searchsorted: expected integers as sorter, given {order.dtype.name}")
        if order.shape != line.shape:
            raise ValueError(f"searchsorted: expected a sorter of {line.size} numbers, given shape {order.shape}")
        line = take(line, order)
    common = result_type(line.dtype, wanted.dtype)
    common = int8 if common.kind == "b" else common
    return _places(line.astype(common), wanted.astype(common), side == "left")


def _places(line: Array, wanted: Array, is_left: bool) -> Array:
    """The number of elements of a sorted line that are before each of others."""
    is_complex = line.dtype.kind == "c"
    keys = [x.eval() for x in ((real(line), imag(line)) if is_complex else (line,))]
    given = [x.eval() for x in ((real(wanted), imag(wanted)) if is_complex else (wanted,))]
    below = (given[0] != given[0]).astype(int64) * 0
    step = 1 << (line.size.bit_length() - 1) if line.size else 0
    while step:
        place = below + step
        probe = [take(key, minimum(place, line.size) - 1) for key in keys]
        is_before = _before(probe, given) if is_left else logical_not(_before(given, probe))
        below = where(is_before & (place <= line.size), place, below).eval()
        step //= 2
    return below


def _before(x: list[Array], y: list[Array]) -> Array:
    """True where elements sort before others: by their real, then by their imaginary parts, behind them what has NaN."""
    if len(x) == 1:
        return (x[0] < y[0]) | ((x[0] == x[0]) & (y[0] != y[0])) if x[0].dtype.kind == "f" else x[0] < y[0]
    unknown = [isnan(im).astype(int8) + 2 * isnan(re).astype(int8) for re, im in (x, y)]
    less = (x[0] < y[0]) | (logical_not(y[0] < x[0]) & (x[1] < y[1]))
    return (unknown[0] < unknown[1]) | ((unknown[0] == unknown[1]) & less)


def digitize(x: Any, bins: Any, right: bool = False) -> Array:
    """The numbers of the bins that elements are in: 0 before the first bin, ``len(bins)`` behind the last.

    Each part reads all of ``bins``. Computes. Collective.

    Parameters
    ----------
    x : Array
        Real numbers.
    bins : Array
        Edges, which rise or fall.
    right : bool, default False
        Whether the right edge belongs to a bin rather than the left one.

    Returns
    -------
    Array
        Of int64, of the shape of ``x``.

    Examples
    --------
    >>> import partita as pt
    >>> pt.digitize([0.2, 6.4, 3.0, 1.6], [0.0, 1.0, 2.5, 4.0, 10.0]).tolist()
    [1, 4, 3, 2]
    """
    x = array_of("digitize", x)
    edges = array_of("digitize", bins, x)
    if x.dtype.kind == "c":
        raise TypeError("digitize: expected real numbers, given complex ones; use their parts")
    if edges.ndim != 1:
        raise ValueError(f"digitize: expected a line of bins, given {edges.ndim} dimensions; flatten it")
    side = "left" if right else "right"
    import numpy as np

    host = edges.numpy() if isinstance(bins, Array) else host_of(bins) if hasattr(bins, "__dlpack__") else np.asarray(bins)
    if (host[1:] >= host[:-1]).all():
        return searchsorted(edges, x, side)
    if not (host[1:] <= host[:-1]).all():
        raise ValueError("bins must be monotonically increasing or decreasing")
    return edges.size - searchsorted(edges[::-1], x, side)
