"""Elements of lines in order, and their order."""

from __future__ import annotations

from typing import Any

from ..._core.array import Array
from ..._core.base import array_of
from ..._core.dtypes import complex64, complex128, int8
from ..._core.rearrange import ravel, take, take_along_axis
from ..._core.views.index import one_axis
from ..._core.rules import imag, real
from ..ufuncs.table import isnan


def sort(
    a: Any, axis: int | None = -1, kind: str | None = None, order: None = None, *, stable: bool | None = None, descending: bool = False
) -> Array:
    """A copy with the elements of each line along an axis in order. NaN is last, also when descending.

    Always stable. On devices the elements are sorted on the host. Complex numbers are ordered by their real, then by their
    imaginary parts, and their order is read on the host. Recorded, of complex numbers computed; computing is collective.

    Parameters
    ----------
    axis : int or None, default -1
        Which lines; None sorts all elements as one line.
    kind : str, optional
        NumPy's names of algorithms, without effect.
    order : None
        Arrays have no fields.
    descending : bool, default False
        Whether the largest elements come first; equal ones keep their order.

    Returns
    -------
    Array
        Of the shape and distribution of ``a``.

    Examples
    --------
    >>> import partita as pt
    >>> pt.sort([[3, 1, 2], [0, 5, 4]]).tolist(), pt.sort([1.0, pt.nan, 2.0], descending=True).tolist()
    ([[1, 2, 3], [0, 4, 5]], [2.0, 1.0, nan])
    """
    x, d = _lines("sort", a, axis, kind, order, stable)
    if x.dtype.kind == "c":
        return along(x, _order(x, d, descending), d)
    return Array(x._native.sort(d, bool(descending), False))


def argsort(
    a: Any, axis: int | None = -1, kind: str | None = None, order: None = None, *, stable: bool | None = None, descending: bool = False
) -> Array:
    """The indices along an axis of the elements of `sort`.

    Recorded, of complex numbers computed; computing is collective.

    Returns
    -------
    Array
        Of int64, of the shape and distribution of ``a``.

    Examples
    --------
    >>> import partita as pt
    >>> pt.argsort([3, 1, 3, 2]).tolist(), pt.argsort([3, 1, 3, 2], descending=True).tolist()
    ([1, 3, 0, 2], [0, 2, 3, 1])
    """
    x, d = _lines("argsort", a, axis, kind, order, stable)
    return _order(x, d, descending)


def _lines(name: str, a: Any, axis: int | None, kind: str | None, order: Any, stable: bool | None) -> tuple[Array, int]:
    """The array, a line if there is no axis, and the axis counted from 0."""
    x = array_of(name, a)
    if order is not None:
        raise ValueError(f"{name}: expected order=None, given {order!r}; arrays have no fields")
    if kind is not None and stable is not None:
        raise ValueError(f"{name}: expected kind or stable, given both; use one")
    if kind is not None and (not isinstance(kind, str) or kind[:1].lower() not in ("q", "m", "h", "s")):
        raise ValueError(f"{name}: expected kind 'quicksort', 'mergesort', 'heapsort' or 'stable', given {kind!r}")
    return (ravel(x), 0) if axis is None else (x, one_axis(name, axis, x.ndim))


def _order(x: Array, d: int, descending: bool) -> Array:
    if x.dtype.kind != "c":
        return Array(x._native.sort(d, bool(descending), True))
    # NumPy's order: first what has no NaN, then what has one as imaginary part, as real part, as both.
    re, im = real(x), imag(x)
    order = _order(im, d, descending)
    order = along(order, _order(along(re, order, d), d, descending), d)
    unknown = isnan(im).astype(int8) + 2 * isnan(re).astype(int8)
    return along(order, _order(along(unknown, order, d), d, False), d)


def along(x: Array, order: Array, d: int) -> Array:
    """Lines in an order. The order of several lines is read on the host."""
    return take(x, order) if x.ndim == 1 else take_along_axis(x, order, d)


def sort_complex(a: Any) -> Array:
    """All lines along the last axis sorted, as complex numbers. Collective."""
    x = sort(a)
    small = x.dtype.kind in "iu" and x.dtype.itemsize < 4
    return x if x.dtype.kind == "c" else x.astype(complex64 if small else complex128)


def _check(name: str, x: Array, kth: Any, axis: int | None) -> None:
    import numpy as np

    extent = x.size if axis is None else x.shape[one_axis(name, axis, x.ndim)]
    places = np.asarray(kth)
    if places.dtype.kind not in "iu":
        raise TypeError(f"{name}: expected integers as kth, given {places.dtype}; convert them")
    if ((places < -extent) | (places >= extent)).any():
        raise ValueError(f"{name}: expected kth within {extent} elements, given {kth}; count from 0")


def partition(a: Any, kth: Any, axis: int | None = -1, kind: str = "introselect", order: None = None) -> Array:
    """A copy in which the elements ``kth`` of each line are where `sort` has them, with none larger before and none smaller behind.

    All elements are sorted. Collective.

    Parameters
    ----------
    axis : int or None, default -1
        Which lines; None takes all elements as one line.
    kind : str
        Without effect.
    order : None
        Arrays have no fields.

    Examples
    --------
    >>> import partita as pt
    >>> pt.partition([3, 1, 2], 1).tolist()
    [1, 2, 3]
    """
    x = array_of("partition", a)
    _check("partition", x, kth, axis)
    return sort(x, axis, order=order)


def argpartition(a: Any, kth: Any, axis: int | None = -1, kind: str = "introselect", order: None = None) -> Array:
    """The indices along an axis of the elements of `partition`.

    All elements are sorted. Collective.

    Returns
    -------
    Array
        Of int64.

    Examples
    --------
    >>> import partita as pt
    >>> pt.argpartition([3, 1, 2], 1).tolist()
    [1, 2, 0]
    """
    x = array_of("argpartition", a)
    _check("argpartition", x, kth, axis)
    return argsort(x, axis, order=order)
