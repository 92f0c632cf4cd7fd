"""Different elements and sets, by sorting: neighbours of a sorted line are compared where they are."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..._api.create import full, zeros
from ..._core.array import Array
from ..._core.base import array_of, arrays_of
from ..._core.dtypes import bool_, int64, result_type
from ..._core.rearrange import concatenate, moveaxis, ravel, reshape, take
from ..._core.reductions import any
from ..._core.views.index import one_axis
from ..._core.views.indexing import kept
from .quantiles import lexsort
from .searching import searchsorted
from .selection import flatnonzero
from .sorting import argsort, sort
from ..statistics import cumsum
from ..ufuncs.table import logical_not, minimum


class UniqueAll(NamedTuple):
    """The result of `unique_all`."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCounts(NamedTuple):
    """The result of `unique_counts`."""

    values: Array
    counts: Array


class UniqueInverse(NamedTuple):
    """The result of `unique_inverse`."""

    values: Array
    inverse_indices: Array


def _firsts(line: Array, equal_nan: bool) -> Array:
    """The mask of the elements of a sorted line that differ from the one before."""
    after, before = line[1:], line[:-1]
    differ = after != before
    if equal_nan and line.dtype.kind in "fc":
        differ = differ & ((after == after) | (before == before))
    return concatenate([full(min(line.size, 1), True, bool_, team=line.team), differ])


def unique(
    ar: Any, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False, axis: int | None = None, *,
    equal_nan: bool = True, sorted: bool = True,
) -> Any:  # fmt: skip
    """The different elements, sorted, as a line; with ``axis`` the different slices across it.

    The order of complex numbers and of slices is read on the host. Computes. Collective.

    Parameters
    ----------
    ar : Array
        Of any type and shape.
    return_index, return_inverse, return_counts : bool, default False
        Whether also the number of the first of each, the number of each element's value, and how many there are, follow.
    axis : int, optional
        Compares the slices across this axis, element by element, and keeps the others; all elements by themselves if None.
    equal_nan : bool, default True
        Whether all NaN are one value; slices with NaN are always different.
    sorted : bool, default True
        Without effect.

    Returns
    -------
    Array or tuple of Array

    Examples
    --------
    >>> import partita as pt
    >>> [x.tolist() for x in pt.unique([3, 1, 3], return_inverse=True, return_counts=True)]
    [[1, 3], [1, 0, 1], [1, 2]]
    """
    x = array_of("unique", ar)
    if axis is None or x.ndim == 1:
        if axis is not None:
            one_axis("unique", axis, 1)
        line = ravel(x)
        order = argsort(line) if return_index or return_inverse else None
        line = (sort(line) if order is None else take(line, order)).eval()
        first, inverse, d = _firsts(line, equal_nan).eval(), x.shape, 0
    else:
        d = one_axis("unique", axis, x.ndim)
        rows = reshape(moveaxis(x, d, 0), (x.shape[d], -1)) if x.size else zeros((x.shape[d], 1), x.dtype, team=x.team)
        order = lexsort([rows[:, k] for k in range(rows.shape[1] - 1, -1, -1)])
        line, sorted_rows = take(x, order, d), take(rows, order, 0)
        differ = any(sorted_rows[1:] != sorted_rows[:-1], axis=1)
        first, inverse = concatenate([full(min(x.shape[d], 1), True, bool_, team=x.team), differ]).eval(), (x.shape[d],)
    results = [kept(line, first) if line.ndim == 1 else take(line, flatnonzero(first), d)]
    if order is not None and return_index:
        results.append(kept(order.astype(int64), first))
    if order is not None and return_inverse:
        number = cumsum(first) - 1
        results.append(reshape(take(number, argsort(order)), inverse))
    if return_counts:
        starts = flatnonzero(first)
        results.append(concatenate([starts[1:], full(min(starts.size, 1), first.size, int64, team=x.team)]) - starts)
    return tuple(results) if len(results) > 1 else results[0]


def unique_all(x: Any, /) -> UniqueAll:
    """The different elements, the number of the first of each, of each element's value, and how many there are. NaN are different.
    Computes. Collective."""
    return UniqueAll(*unique(x, True, True, True, equal_nan=False))


def unique_counts(x: Any, /) -> UniqueCounts:
    """The different elements, and how many there are of each. NaN are different. Computes. Collective."""
    return UniqueCounts(*unique(x, return_counts=True, equal_nan=False))


def unique_inverse(x: Any, /) -> UniqueInverse:
    """The different elements, and the number of each element's value. NaN are different. Computes. Collective."""
    return UniqueInverse(*unique(x, return_inverse=True, equal_nan=False))


def unique_values(x: Any, /) -> Array:
    """The different elements, sorted. NaN are different. Computes. Collective."""
    return unique(x, equal_nan=False)


def isin(element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *, kind: str | None = None) -> Array:
    """True where elements are among others. Each part reads all of the others. Computes. Collective.

    Parameters
    ----------
    test_elements : Array
        The others.
    assume_unique : bool, default False
        Without effect.
    invert : bool, default False
        Whether the result says which are not.
    kind : str, optional
        Without effect.

    Returns
    -------
    Array
        Of bool.

    Examples
    --------
    >>> import partita as pt
    >>> pt.isin([1, 2, 3], [3, 1]).tolist()
    [True, False, True]
    """
    x, others = arrays_of("isin", (element, test_elements))
    common = result_type(x.dtype, others.dtype)
    x, line = x.astype(common), sort(ravel(others.astype(common)))
    if line.size == 0:
        found = (x != x) & False
    else:
        found = take(line, minimum(searchsorted(line, x), line.size - 1)) == x
    return logical_not(found) if invert else found


def _line(x: Array, assume_unique: bool) -> Array:
    return ravel(x) if assume_unique else unique(x)


def union1d(ar1: Any, ar2: Any) -> Array:
    """The different elements of both, sorted. Computes. Collective."""
    return unique(concatenate(arrays_of("union1d", (ar1, ar2)), axis=None))


def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Array:
    """The different elements of the first that are not in the second, sorted. Computes. Collective."""
    first, second = arrays_of("setdiff1d", (ar1, ar2))
    line = _line(first, assume_unique)
    return kept(line, isin(line, second, invert=True))


def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Array:
    """The different elements of one that are not in the other, sorted. Computes. Collective."""
    given = arrays_of("setxor1d", (ar1, ar2))
    first, second = (_line(x, assume_unique) for x in given)
    return sort(concatenate([kept(first, isin(first, second, invert=True)), kept(second, isin(second, first, invert=True))]))


def intersect1d(ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False) -> Any:
    """The different elements of both, sorted; with ``return_indices`` also the numbers of the first of each in both. Computes.
    Collective."""
    given = [ravel(x) for x in arrays_of("intersect1d", (ar1, ar2))]
    if not return_indices:
        line = unique(given[0])
        line = kept(line, isin(line, given[1])).astype(result_type(*(x.dtype for x in given)))
        return line
    (first, here), (second, there) = (unique(x, return_index=True) for x in given)
    both, back = isin(first, second), isin(second, first)
    common = result_type(first.dtype, second.dtype)
    return kept(first, both).astype(common), kept(here, both), kept(there, back)
