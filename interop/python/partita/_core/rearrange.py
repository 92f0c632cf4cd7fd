"""Arrays of the same elements in other places. What each function does is NumPy's.

All of them only record. Steps, flips, transposition, new and dropped dimensions and stretched ones are views: every
element stays on its part, and what computes with the result reads it where it is. Joined, padded and rolled arrays are
put together when they are needed, each piece computed straight into the result; cells of the largest piece stay on their
parts if that leaves none with more than twice its share. Other shapes and elements at lists of positions are moved when
they are needed; of them the first dimension of more than one cell is cut evenly. There an array with a cyclic or listed
dimension is first moved to the default partition (dimension 0 cut evenly). Masks and lists of indices are read when
they are given. Assignment computes and keeps the array's distribution, whatever it is. An array on the parts of another
distribution comes from ``redistribute``.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

from .. import _native
from ..errors import OutOfMemoryError
from .base import A, BaseArray, array_of, arrays_of
from .dtypes import as_dtype, can_cast, result_type
from .views.index import Selection, extents_of, one_axis
from .views.addresses import is_contiguous, reshaped_strides
from .views.indexing import select, write
from .views.links import Diagonal, Reshape, Stretch, Strides, holder_of, view

__all__ = [
    "broadcast_arrays", "broadcast_to", "concatenate", "diagonal", "expand_dims", "flip", "moveaxis", "permute_dims", "ravel",
    "repeat", "reshape", "roll", "squeeze", "stack", "swapaxes", "take_along_axis", "tile", "transpose", "unstack",
]  # fmt: skip

Axes = int | Sequence[int] | None


def _tuple(value: Any) -> tuple[int, ...]:
    if hasattr(value, "tolist"):
        value = value.tolist()
    return tuple(value) if isinstance(value, Sequence) else (value,)


def reshape(x: A, /, shape: int | Sequence[int], order: str = "C", *, copy: bool | None = None) -> A:
    """The same elements in C order in another shape: a view where NumPy gives one, otherwise a copy.

    Parts that hold their elements in the order of the new shape keep them. Other elements move when they are needed, and
    the first dimension of more than one cell is cut into all parts.

    Parameters
    ----------
    shape : int or tuple of int
        One extent may be -1.
    order : str, default 'C'
        'F' reads and fills with the first index running fastest; 'A' and 'K' are 'C'.
    copy : bool, optional
        True always copies, False raises ValueError where a copy would be needed.

    Examples
    --------
    >>> import partita as pt
    >>> u = pt.arange(6)
    >>> u.reshape(2, 3)[0, 0] = 7
    >>> u.tolist()
    [7, 1, 2, 3, 4, 5]
    """
    x = array_of("reshape", x)
    extents = extents_of("reshape", shape, x.size)
    if order == "F":
        return transpose(reshape(transpose(x), extents[::-1], copy=copy))
    strides = None if copy else reshaped_strides(x, extents)
    if strides is None:
        if copy is False:
            raise ValueError(f"reshape: expected copy=None or True for a view of shape {x.shape}, given False; allow a copy")
        return type(x)(x._native.reshaped(extents))
    selection = _with_other_ones(x.shape, extents)
    if selection is not None:
        return view(x, selection)
    source = x._link.source if x._link is not None and isinstance(x._link.op, Reshape) else holder_of(x)
    return view(x, Reshape(extents, strides), source=source)


def _with_other_ones(shape: tuple[int, ...], wanted: tuple[int, ...]) -> Selection | None:
    """The selection that gives another shape if only dimensions of extent 1 come and go."""
    kept = [d for d, extent in enumerate(shape) if extent != 1]
    if [shape[d] for d in kept] != [extent for extent in wanted if extent != 1]:
        return None
    dims = iter(kept)
    return Selection.whole(shape).laid_out([None if extent == 1 else next(dims) for extent in wanted])


def ravel(a: A, order: str = "C") -> A:
    """All elements in C order, in one dimension: a view where they follow each other in NumPy's memory, otherwise a copy.

    Examples
    --------
    >>> import partita as pt
    >>> u = pt.zeros((2, 3))
    >>> u.ravel()[4] = 1
    >>> u.tolist()
    [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    a = array_of("ravel", a)
    a = transpose(a) if order == "F" else a
    return reshape(a, (a.size,), copy=not is_contiguous(a))


def line_along(name: str, x: Any, axis: int | None) -> tuple[Any, int]:
    """An argument and the axis, counted from 0; all elements as one line if there is no axis."""
    x = array_of(name, x)
    return (ravel(x), 0) if axis is None else (x, one_axis(name, axis, x.ndim))


def permute_dims(a: A, axes: Sequence[int]) -> A:
    """Dimension ``axes[d]`` becomes dimension d."""
    a = array_of("permute_dims", a)
    order = [one_axis("permute_dims", d, a.ndim) for d in axes]
    if sorted(order) != list(range(a.ndim)):
        raise ValueError(f"permute_dims: expected each of {a.ndim} axes once, given {tuple(axes)}")
    return view(a, Selection.whole(a.shape).laid_out(list(order)))


def transpose(a: A, axes: Sequence[int] | None = None) -> A:
    """The dimensions in the order ``axes``, by default reversed."""
    a = array_of("transpose", a)
    return permute_dims(a, tuple(reversed(range(a.ndim))) if axes is None else axes)


def moveaxis(a: A, source: int | Sequence[int], destination: int | Sequence[int]) -> A:
    """The dimensions ``source`` at the places ``destination``, the others in their order.

    Parameters
    ----------
    source, destination : int or sequence of int
        The axes as they are, and where they go.
    """
    a = array_of("moveaxis", a)
    ndim = a.ndim
    from_, to = ([one_axis("moveaxis", d, ndim) for d in _tuple(axes)] for axes in (source, destination))
    if len(from_) != len(to) or len(set(from_)) != len(from_) or len(set(to)) != len(to):
        raise ValueError(f"moveaxis: expected as many different axes on both sides, given {source} and {destination}")
    order = [d for d in range(ndim) if d not in from_]
    for place, d in sorted(zip(to, from_, strict=True)):
        order.insert(place, d)
    return permute_dims(a, order)


def swapaxes(a: A, axis1: int, axis2: int) -> A:
    """Two dimensions in each other's place."""
    a = array_of("swapaxes", a)
    order = list(range(a.ndim))
    i, j = one_axis("swapaxes", axis1, a.ndim), one_axis("swapaxes", axis2, a.ndim)
    order[i], order[j] = order[j], order[i]
    return permute_dims(a, order)


def expand_dims(a: A, axis: int | Sequence[int] = 0) -> A:
    """With dimensions of extent 1 at the places ``axis`` of the result."""
    a = array_of("expand_dims", a)
    axes = _tuple(axis)
    rank = a.ndim + len(axes)
    places = {one_axis("expand_dims", d, rank) for d in axes}
    if len(places) != len(axes):
        raise ValueError(f"expand_dims: expected every axis once, given {axis}")
    return select(a, tuple(None if d in places else slice(None) for d in range(rank)))


def squeeze(a: A, axis: Axes = None) -> A:
    """Without the dimensions ``axis`` (all that can go if None), which have extent 1."""
    a = array_of("squeeze", a)
    shape = a.shape
    if axis is None:
        axis = tuple(d for d, extent in enumerate(shape) if extent == 1)
    axes = {one_axis("squeeze", d, a.ndim) for d in _tuple(axis)}
    if any(shape[d] != 1 for d in axes):
        raise ValueError(f"squeeze: expected dimensions of extent 1, given axis {axis} of shape {shape}")
    layout: list[int | None] = [d for d in range(a.ndim) if d not in axes]
    return view(a, Selection.whole(shape).laid_out(layout))


def flip(m: A, axis: Axes = None) -> A:
    """The elements in reverse order along ``axis`` (all if None)."""
    m = array_of("flip", m)
    every = range(m.ndim) if axis is None else _tuple(axis)
    axes = {one_axis("flip", d, m.ndim) for d in every}
    return select(m, tuple(slice(None, None, -1) if d in axes else slice(None) for d in range(m.ndim)))


def broadcast_to(array: A, shape: int | Sequence[int]) -> A:
    """Stretched to ``shape``: dimensions of extent 1 repeat, missing ones are added in front. A read-only view.

    Examples
    --------
    >>> import partita as pt
    >>> pt.broadcast_to(pt.arange(3), (2, 3)).tolist()
    [[0, 1, 2], [0, 1, 2]]
    """
    array = array_of("broadcast_to", array)
    extents, given = _tuple(shape), array.shape
    front = len(extents) - len(given)
    fits = front >= 0 and all(a in (1, b) for a, b in zip(given, extents[max(front, 0) :], strict=True))
    if not fits:
        raise ValueError(f"broadcast_to: expected a shape that {given} stretches to, given {extents}")
    if extents == given:
        return view(array, Selection.whole(given), readonly=True)
    axes: Strides = [(None, 0, 0, extent) for extent in extents[:front]]
    for d, (held, wanted) in enumerate(zip(given, extents[front:], strict=True)):
        axes.append((d, 0, 1 if held == wanted else 0, wanted))
    return view(array, Stretch(axes), readonly=True)


def broadcast_arrays(*arrays: A, subok: bool = False) -> tuple[A, ...]:
    """Stretched to one shape."""
    import numpy as np

    given = arrays_of("broadcast_arrays", arrays)
    shapes = [x.shape for x in given]
    try:
        shape = np.broadcast_shapes(*shapes)
    except ValueError:
        raise ValueError(f"broadcast_arrays: expected shapes that broadcast together, given {shapes}") from None
    return tuple(x if x.shape == shape else broadcast_to(x, shape) for x in given)


def diagonal(a: A, offset: int = 0, axis1: int = 0, axis2: int = 1) -> A:
    """The elements whose coordinate along ``axis2`` is ``offset`` larger than that along ``axis1``, as the last dimension. A
    read-only view.

    Examples
    --------
    >>> import partita as pt
    >>> pt.arange(9).reshape(3, 3).diagonal(1).tolist()
    [1, 5]
    """
    a = array_of("diagonal", a)
    if a.ndim < 2:
        raise ValueError(f"diagonal: expected an array of 2 dimensions or more, given {a.ndim}; use partita.reshape first")
    first, second = (one_axis("diagonal", d, a.ndim) for d in (axis1, axis2))
    if first == second:
        raise ValueError(f"diagonal: expected two different axes, given {axis1} and {axis2}")
    # One that begins outside is empty, however far.
    return view(a, Diagonal(first, second, min(max(operator.index(offset), -a.shape[first]), a.shape[second])), readonly=True)


def concatenate(
    arrays: Sequence[A], /, axis: int | None = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind"
) -> A:
    """The arrays one behind the other along ``axis``; flat ones if None. In ``dtype``, or in the array ``out``, by the rule
    ``casting``."""
    given = arrays_of("concatenate", arrays)
    if not given:
        raise ValueError("concatenate: expected at least one array, given none")
    if axis is None:
        given, axis = [ravel(x) for x in given], 0
    first = given[0]
    if first.ndim == 0:
        raise ValueError("concatenate: expected arrays of at least one dimension, given one without; use stack")
    d = one_axis("concatenate", axis, first.ndim)
    rest = [x.shape[:d] + x.shape[d + 1 :] for x in given]
    if any(x.ndim != first.ndim or other != rest[0] for x, other in zip(given, rest, strict=True)):
        shapes = ", ".join(str(x.shape) for x in given)
        raise ValueError(f"concatenate: expected shapes that agree in all dimensions but {d}, given {shapes}")
    made = type(first)(_native.Array.concatenate(_in_one_type("concatenate", given, dtype, casting), d))
    return made if out is None else write("concatenate", out, made, casting=casting)


def _in_one_type(name: str, arrays: Sequence[A], dtype: Any, casting: str) -> list[_native.Array]:
    """The arrays in ``dtype``, by the rule ``casting``, or in the type that holds the values of all."""
    dtypes = [x.dtype for x in arrays]
    if dtype is None and dtypes.count(dtypes[0]) == len(dtypes):
        return [x._native for x in arrays]
    common = result_type(*dtypes) if dtype is None else as_dtype(dtype)
    if dtype is not None and not all(can_cast(kind, common, casting) for kind in dtypes):
        raise TypeError(f"{name}: expected arrays that can be cast to {common.name} with {casting!r}, given others; use astype")
    return [x.astype(common, copy=False)._native for x in arrays]


def stack(
    arrays: Sequence[A], axis: int = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind"
) -> A:
    """The arrays, of one shape, one behind the other along a new dimension ``axis``; as `concatenate`."""
    given = arrays_of("stack", arrays)
    if not given or any(x.shape != given[0].shape for x in given):
        shapes = ", ".join(str(x.shape) for x in given) or "none"
        raise ValueError(f"stack: expected arrays of one shape, given {shapes}")
    at = one_axis("stack", axis, given[0].ndim + 1)
    made = type(given[0])(_native.Array.stack(_in_one_type("stack", given, dtype, casting), at))
    return made if out is None else write("stack", out, made, casting=casting)


def unstack(x: A, /, axis: int = 0) -> tuple[A, ...]:
    """The arrays along a dimension, one for each of its coordinates."""
    x = array_of("unstack", x)
    d = one_axis("unstack", axis, x.ndim)
    return tuple(select(x, (slice(None),) * d + (i,)) for i in range(x.shape[d]))


def pad(array: A, pad_width: Any, mode: str = "constant", constant_values: bool | int | float | complex = 0) -> A:
    """With cells around: ``pad_width`` is a number, a pair (before, after), or one pair per dimension.

    Modes are those of ``numpy.pad`` that need no arithmetic: 'constant', 'edge', 'wrap', 'reflect', 'symmetric'.
    """
    import numpy as np

    array = array_of("pad", array)
    modes = ("constant", "edge", "wrap", "reflect", "symmetric")
    if mode not in modes:
        raise NotImplementedError(f"pad: expected a mode of {', '.join(modes)}, given {mode!r}")
    try:
        pairs = np.broadcast_to(np.asarray(pad_width), (array.ndim, 2)).tolist()
    except ValueError:
        raise ValueError(f"pad: expected a number, a pair, or {array.ndim} pairs as width, given {pad_width}") from None
    if any(n < 0 for pair in pairs for n in pair):
        raise ValueError(f"pad: expected widths of at least 0, given {pad_width}")
    for d, pair in enumerate(pairs):
        if mode != "constant" and any(pair) and array.shape[d] == 0:
            raise ValueError(f"pad: expected cells to repeat in dimension {d}, given shape {array.shape}")
    if not array.ndim:
        return array.copy()
    return type(array)(array._native.pad([tuple(pair) for pair in pairs], mode, constant_values))


def roll(a: A, shift: int | Sequence[int], axis: Axes = None) -> A:
    """Element i of the result is element i - shift along each axis, wrapping around; of the flat array if None.

    Of blocks the result is a view; where the distribution is periodic, a halo holds the elements that wrap around.
    """
    a = array_of("roll", a)
    if axis is None and a.ndim != 1:
        return reshape(roll(ravel(a), sum(_tuple(shift)), 0), a.shape)
    axes, shifts = _tuple(0 if axis is None else axis), _tuple(shift)
    if len(axes) != len(shifts) and 1 not in (len(axes), len(shifts)):
        raise ValueError(f"roll: expected as many shifts as axes, given {shift} and {axis}")
    count = max(len(axes), len(shifts))
    offsets = [0] * a.ndim
    for d, by in zip(axes * (count // len(axes)), shifts * (count // len(shifts)), strict=True):
        offsets[one_axis("roll", d, a.ndim)] += by
    # Less than once around, in the direction that was given: short ways are read from halos.
    turns = [by if abs(by) < n else by % max(n, 1) for by, n in zip(offsets, a.shape, strict=True)]
    return type(a)(a._native.roll(turns))


def take(a: A, indices: Any, axis: int | None = None) -> A:
    """The elements at ``indices`` along an axis (of the flat array if None). Of lines they stay on the devices."""
    import numpy as np

    a, d = line_along("take", a, axis)
    if a.ndim == 1 and isinstance(indices, BaseArray) and indices.ndim and indices.dtype.kind in "iu":
        return select(a, indices)
    host = _indices("take", indices)
    key = (slice(None),) * d
    return select(a, (*key, np.atleast_1d(host))) if host.ndim else select(a, (*key, int(host))).copy()


def _indices(name: str, indices: Any) -> Any:
    import numpy as np

    host = indices.numpy() if isinstance(indices, BaseArray) else np.asarray(indices)
    if host.dtype.kind not in "iu":
        if host.size:
            raise TypeError(f"{name}: expected integers as indices, given {host.dtype}; convert them with astype")
        host = host.astype(np.int64)
    return host


def take_along_axis(arr: A, indices: Any, axis: int = -1) -> A:
    """Element by element the one at that index along the axis. The indices are the host's."""
    import numpy as np

    arr = array_of("take_along_axis", arr)
    host = _indices("take_along_axis", indices)
    d = one_axis("take_along_axis", axis, arr.ndim)
    if host.ndim != arr.ndim:
        raise ValueError(f"take_along_axis: expected indices of {arr.ndim} dimensions, given {host.ndim}")
    shape = np.broadcast_shapes(arr.shape[:d] + (1,) + arr.shape[d + 1 :], host.shape)
    key = [np.arange(n).reshape((-1,) + (1,) * (arr.ndim - e - 1)) if arr.shape[e] != 1 else 0 for e, n in enumerate(shape)]
    key[d] = np.broadcast_to(host, shape)
    return select(arr, tuple(key))


def repeat(a: A, repeats: Any, axis: int | None = None) -> A:
    """Every element ``repeats`` times, along an axis (of the flat array if None)."""
    import numpy as np

    a, d = line_along("repeat", a, axis)
    counts = repeats.numpy() if isinstance(repeats, BaseArray) else np.asarray(repeats)
    if counts.size and (counts.dtype.kind not in "iu" or counts.min() < 0):
        raise ValueError(f"repeat: expected counts of at least 0, given {repeats}")
    return take(a, np.repeat(np.arange(a.shape[d]), counts), axis=d)


def tile(x: A, /, reps: int | Sequence[int]) -> A:
    """The array, so many times along each dimension."""
    x = array_of("tile", x)
    counts = _tuple(reps)
    rank = max(len(counts), x.ndim)
    counts = (1,) * (rank - len(counts)) + counts
    x = reshape(x, (1,) * (rank - x.ndim) + x.shape) if rank > x.ndim else x
    size = math.prod(counts) * math.prod(x.shape) * x.dtype.itemsize
    if size >= 1 << 62:
        raise OutOfMemoryError(f"tile: expected an array that memory holds, given {size} bytes in {counts} copies; repeat less")
    for d, count in enumerate(counts):
        x = _times(x, count, d) if count else select(x, (slice(None),) * d + (slice(0),))
    return x.copy()


def _times(x: A, count: int, d: int) -> A:
    """The array so many times along a dimension. Many times are made of halves, so that few operations are recorded."""
    if count <= 1024:
        return concatenate([x] * count, d)
    half = _times(x, count // 2, d)
    return concatenate([half, half, x] if count % 2 else [half, half], d)
