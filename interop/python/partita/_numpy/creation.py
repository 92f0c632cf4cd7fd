"""Arrays from shapes, numbers and functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from .. import _native
from .._api.create import arange, asarray, zeros, zeros_like
from .._core.array import Array
from .._core.base import BaseArray, array_of, arrays_of
from .._core.dtypes import as_dtype, default, int64, result_type
from .._core.memory import OnDevice, Shape, placed, team_of
from .._core.rearrange import broadcast_to, concatenate, expand_dims, moveaxis, reshape, stack
from .._native import Distribution, Team
from .._core.rules import where
from .ufuncs.table import floor, power


class _Arrays(type):
    def __instancecheck__(cls, x: object) -> bool:
        return isinstance(x, Array)

    def __subclasscheck__(cls, kind: type) -> bool:
        return issubclass(kind, Array)

    def __call__(cls, shape: Shape, dtype: Any = float, **settings: Any) -> Any:
        return zeros(shape, default.float if dtype is float else dtype, **settings)


class ndarray(Array, metaclass=_Arrays):
    """Arrays by NumPy's name: for ``isinstance(u, ndarray)``, and ``ndarray(shape, dtype)`` is as `zeros`."""

    __slots__ = ()


def array(
    obj: Any, dtype: Any = None, *, copy: bool | None = True, order: str = "K", subok: bool = False, ndmin: int = 0,
    dist: Distribution | None = None, team: Team | None = None, device: OnDevice = None,
) -> Array:  # fmt: skip
    """An array with the elements of ``obj``, by default a copy; see `asarray`. A list of arrays is stacked.

    Parameters
    ----------
    order, subok : optional
        Accepted and without effect.
    ndmin : int, default 0
        Missing dimensions are added in front.
    dist, team, device : optional
        Where the elements go; see `full`.

    Examples
    --------
    >>> import partita as pt
    >>> pt.array([1, 2, 3], ndmin=2).shape
    (1, 3)
    """
    if isinstance(obj, (list, tuple)) and any(isinstance(x, BaseArray) and x.ndim for x in obj):
        obj, copy = stack(obj), None if copy else copy
    made = asarray(obj, dtype, dist, team=team, device=device, copy=copy if isinstance(obj, Array) else None if copy else copy)
    return reshape(made, (1,) * (ndmin - made.ndim) + made.shape) if made.ndim < ndmin else made


def asanyarray(a: Any, dtype: Any = None, order: str = "K", *, device: OnDevice = None, copy: bool | None = None) -> Array:
    """As `asarray`."""
    return array(a, dtype, copy=copy, device=device)


def ascontiguousarray(a: Any, dtype: Any = None) -> Array:
    """As `asarray`, of one dimension at least. Elements that a part owns are in C order."""
    return array(a, dtype, copy=None, ndmin=1)


def asfortranarray(a: Any, dtype: Any = None) -> Array:
    """As `asarray`: the order of the dimensions in memory is partita's."""
    return array(a, dtype, copy=None)


def asarray_chkfinite(a: Any, dtype: Any = None, order: str = "K") -> Array:
    """As `asarray`, but ValueError if an element is NaN or infinite. Computes."""
    made = array(a, dtype, copy=None)
    if made.dtype.kind in "fc" and not (abs(made) < math.inf).all():
        raise ValueError("asarray_chkfinite: expected finite numbers, given NaN or infinities")
    return made


def require(a: Any, dtype: Any = None, requirements: Any = None) -> Array:
    """As `asarray`; of the requirements only a writeable array of its own ('W', 'O') is made if needed."""
    made = array(a, dtype, copy=None)
    wanted = {str(r).upper()[0] for r in requirements or ()}
    return made.copy() if wanted & {"W", "O"} and (not made.flags.writeable or made.base is not None) else made


def copy(a: Any, order: str = "K", subok: bool = False) -> Array:
    """A copy."""
    return array_of("copy", a).copy()


def astype(x: Array, dtype: Any, /, *, copy: bool = True, device: OnDevice = None) -> Array:
    """Conversion by value."""
    x = array_of("astype", x)
    x = x if device is None else x.to_device(device)
    return x.astype(dtype) if x.dtype != dtype else x.copy() if copy else x


def frombuffer(buffer: Any, dtype: Any = float, count: int = -1, offset: int = 0) -> Array:
    """A copy of the elements in a buffer."""
    import numpy as np

    return asarray(np.frombuffer(buffer, as_dtype(dtype).dtype, count, offset))


def fromiter(iterable: Iterable[Any], dtype: Any, count: int = -1) -> Array:
    """The elements of an iterator, which are read in this process."""
    import numpy as np

    return asarray(np.fromiter(iterable, as_dtype(dtype).dtype, count))


def fromfunction(function: Callable[..., Any], shape: Shape, *, dtype: Any = float, **words: Any) -> Any:
    """A function of the coordinates of a grid."""
    return function(*indices(shape, dtype), **words)


# Matrices.


def eye(
    N: int, M: int | None = None, k: int = 0, dtype: Any = None, order: str = "C", *, device: OnDevice = None,
    team: Team | None = None,
) -> Array:  # fmt: skip
    """Ones on a diagonal, zeros elsewhere."""
    shape = (N, N if M is None else M)
    dist = placed("eye", shape, None, team_of(team, device))
    return (_diagonals(dist) == k).astype(default.float if dtype is None else dtype)


def identity(n: int, dtype: Any = None) -> Array:
    """The identity matrix."""
    return eye(n, dtype=dtype)


def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = float) -> Array:
    """Ones on and below a diagonal, zeros elsewhere."""
    shape = (N, N if M is None else M)
    return (_diagonals(Distribution(shape)) <= k).astype(default.float if dtype is float else dtype)


def _diagonals(dist: Distribution) -> Array:
    """The number of the diagonal that each element of the last two dimensions is on."""
    row, column = (Array(_native.Array.coordinate(dist, d, "int64")) for d in (dist.ndim - 2, dist.ndim - 1))
    return column - row


def tril(m: Array, k: int = 0) -> Array:
    """Zeros above a diagonal of the last two dimensions."""
    m = _matrix("tril", m)
    return where(_diagonals(m.dist) <= k, m, zeros_like(m))


def triu(m: Array, k: int = 0) -> Array:
    """Zeros below a diagonal of the last two dimensions."""
    m = _matrix("triu", m)
    return where(_diagonals(m.dist) >= k, m, zeros_like(m))


def _matrix(name: str, x: Any) -> Array:
    """Of two dimensions at least; a line as the rows of a square, as in NumPy."""
    x = array_of(name, x)
    if x.ndim == 0:
        raise ValueError(f"{name}: expected at least 1 dimension, given 0")
    return broadcast_to(x, (x.size, x.size)).copy() if x.ndim == 1 else x


def diag(v: Any, k: int = 0) -> Array:
    """A matrix with a line as its diagonal, or the diagonal of a matrix (a read-only view)."""
    v = array_of("diag", v)
    if v.ndim == 2:
        return v.diagonal(k)
    if v.ndim != 1:
        raise ValueError(f"diag: expected 1 or 2 dimensions, given {v.ndim}")
    n = v.size + abs(k)
    square = zeros((n, n), v.dtype, team=v.team)
    if v.size:
        rows, columns = slice(max(-k, 0), max(-k, 0) + v.size), slice(max(k, 0), max(k, 0) + v.size)
        square[rows, columns] = where(_diagonals(Distribution((v.size, v.size), team=v.team)) == 0, v, zeros((), v.dtype, team=v.team))
    return square


def diagflat(v: Any, k: int = 0) -> Array:
    """A matrix with all elements on a diagonal."""
    return diag(array_of("diagflat", v).ravel(), k)


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Array:
    """Powers of the elements in columns, by multiplication, the largest first unless ``increasing``."""
    x = array_of("vander", x)
    if x.ndim != 1:
        raise ValueError(f"vander: expected one dimension, given {x.ndim}")
    x, count = x.astype(result_type(x.dtype, int64)), x.size if N is None else N
    columns: list[Array] = []
    for _ in range(count):
        columns.append(columns[-1] * x if columns else x * 0 + 1)
    if not columns:
        return zeros((x.size, 0), x.dtype, team=x.team)
    return stack(columns if increasing else columns[::-1], 1)


# Lines.


def linspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None, axis: int = 0, *,
    device: OnDevice = None,
) -> Any:  # fmt: skip
    """``num`` numbers at equal distances, from ``start`` to ``stop`` (without it unless ``endpoint``), which may be arrays: then
    along a new ``axis``. With ``retstep`` also the distance."""
    if num < 0:
        raise ValueError(f"linspace: expected at least 0 numbers, given {num}")
    gaps = num - 1 if endpoint else num
    like = next((x for x in (start, stop) if isinstance(x, Array)), None)
    numbers = arange(num, dtype=default.float, team=like.team if like is not None and device is None else None, device=device)
    if not all(isinstance(x, (int, float, complex)) for x in (start, stop)):
        start, stop = arrays_of("linspace", (start, stop))
        start, stop = (x.astype(x.dtype if x.dtype.kind in "fc" else default.float) for x in (start, stop))
        numbers = reshape(numbers, (num,) + (1,) * max(start.ndim, stop.ndim))
    step = (stop - start) / gaps if gaps > 0 else math.nan
    line = numbers * step + start if gaps > 0 else numbers * 0.0 + start + (stop - stop)
    if endpoint and num > 1:
        line = where(numbers == num - 1, float(stop) if isinstance(stop, int) else stop, line)
    if dtype is not None:
        kind = as_dtype(dtype)
        line = (floor(line) if kind.kind in "iu" else line).astype(kind)
    line = moveaxis(line, 0, axis) if axis != 0 else line
    return (line, step) if retstep else line


def logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None, axis: int = 0
) -> Array:
    """Numbers whose logarithms to ``base`` are at equal distances; see `linspace`."""
    line = power(base, linspace(start, stop, num, endpoint, axis=axis))
    return line if dtype is None else line.astype(dtype)


def geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Array:
    """Numbers of which each is the same multiple of the one before; real, and not 0."""
    import numpy as np

    first, last = (np.asarray(x.numpy() if isinstance(x, Array) else x) for x in (start, stop))
    if (first == 0).any() or (last == 0).any():
        raise ValueError("geomspace: expected ends that are not 0, given 0")
    if np.iscomplexobj(first) or np.iscomplexobj(last) or (np.sign(first) != np.sign(last)).any():
        raise ValueError("geomspace: expected real ends of one sign; use logspace")
    sign = (np.sign(first) + 0.0).tolist() if first.ndim == 0 else np.sign(first) + 0.0
    first, last = (abs(end).tolist() if end.ndim == 0 else abs(end) for end in (first, last))
    low, high = (np.log10(end).tolist() if np.ndim(end) == 0 else np.log10(end) for end in (first, last))
    line = power(10.0, linspace(low, high, num, endpoint))
    wide = reshape(arange(num), (num,) + (1,) * np.ndim(first))
    line = where(wide == 0, first + 0.0, line) if num else line
    line = (where(wide == num - 1, last + 0.0, line) if endpoint and num > 1 else line) * sign
    line = moveaxis(line, 0, axis) if axis != 0 else line
    return line if dtype is None else line.astype(dtype)


# Grids.


def meshgrid(*arrays: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> list[Array]:
    """Coordinates of a grid, from those of its axes."""
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: expected indexing 'xy' or 'ij', given {indexing!r}")
    given = arrays_of("meshgrid", arrays)
    rank = len(given)
    order = list(range(rank))
    if indexing == "xy" and rank > 1:
        order[:2] = [1, 0]
    shape = tuple(given[d].size for d in order)
    lines = [x.reshape((1,) * order[d] + (-1,) + (1,) * (rank - order[d] - 1)) for d, x in enumerate(given)]
    lines = lines if sparse else [broadcast_to(line, shape) for line in lines]
    return [line.copy() for line in lines] if copy else lines


def indices(dimensions: Shape, dtype: Any = int, sparse: bool = False) -> Any:
    """The coordinates of a grid, along a new first dimension; with ``sparse`` one array per dimension."""
    shape = placed("indices", dimensions, None, None).shape if dimensions != () else ()
    lines = [reshape(arange(n, dtype=dtype), (1,) * d + (n,) + (1,) * (len(shape) - d - 1)) for d, n in enumerate(shape)]
    if sparse:
        return tuple(lines)
    return stack([broadcast_to(line, shape) for line in lines]) if lines else zeros((0,), dtype)


def ix_(*lines: Any) -> tuple[Any, ...]:
    """Lists of indices (of masks: of where they are true) that select a grid; on the host, where indices are read."""
    import numpy as np

    return np.ix_(*(x.numpy() if isinstance(x, Array) else x for x in lines))


class _Grid:
    """Grids by slices: ``mgrid[0:3, 0:1:5j]``; an imaginary step is a number of points."""

    def __init__(self, sparse: bool) -> None:
        self._sparse = sparse

    def __repr__(self) -> str:
        return f"partita.{'ogrid' if self._sparse else 'mgrid'}"

    def __getitem__(self, key: Any) -> Any:
        keys = key if isinstance(key, tuple) else (key,)
        lines = [_line(k) for k in keys]
        common = result_type(*(line.dtype for line in lines))
        lines = [line.astype(common) for line in lines]
        if not isinstance(key, tuple):
            return lines[0]
        grids = meshgrid(*lines, sparse=self._sparse, indexing="ij")
        return tuple(grids) if self._sparse else stack(grids)


def _line(span: slice) -> Array:
    first, step = span.start or 0, 1 if span.step is None else span.step
    if isinstance(step, complex):
        return linspace(first, span.stop, int(abs(step)))
    return arange(first, span.stop, step)


mgrid, ogrid = _Grid(False), _Grid(True)


class _Joiner:
    """Arrays and ranges by an index: ``r_[1:4, 0, u]``. Of NumPy's directives only a number, the axis, is there."""

    def __init__(self, axis: int, ndmin: int = 1) -> None:
        self._axis, self._ndmin = axis, ndmin

    def __repr__(self) -> str:
        return f"partita.{'r_' if self._axis == 0 else 'c_'}"

    def __getitem__(self, key: Any) -> Array:
        keys, axis = key if isinstance(key, tuple) else (key,), self._axis
        if keys and isinstance(keys[0], str):
            try:
                keys, axis = keys[1:], int(keys[0])
            except ValueError:
                raise ValueError(f"r_: expected an axis as directive, given {keys[0]!r}; use concatenate") from None
        pieces = []
        for piece in arrays_of("r_", [_line(k) if isinstance(k, slice) else k for k in keys]):
            piece = reshape(piece, (1,)) if piece.ndim == 0 else piece
            pieces.append(expand_dims(piece, tuple(range(piece.ndim, self._ndmin))) if piece.ndim < self._ndmin else piece)
        return concatenate(pieces, axis)


class _Index:
    """The index itself: ``s_[1:, ::2]``."""

    def __init__(self, always_tuple: bool) -> None:
        self._always_tuple = always_tuple

    def __repr__(self) -> str:
        return f"partita.{'index_exp' if self._always_tuple else 's_'}"

    def __getitem__(self, key: Any) -> Any:
        return (key,) if self._always_tuple and not isinstance(key, tuple) else key


r_, c_ = _Joiner(0), _Joiner(-1, 2)
s_, index_exp = _Index(False), _Index(True)
