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

from collections.abc import Sequence
from typing import Any

from .. import _native
from .._core.array import Array
from .._core.dtypes import DType, result_type
from .._core.index import extents_of, one_axis, positions_of, selection_of
from .._core.rules import of_rank, where

__all__ = [
    "broadcast_arrays", "broadcast_to", "concatenate", "expand_dims", "flip", "moveaxis", "pad", "permute_dims", "ravel",
    "repeat", "reshape", "roll", "squeeze", "stack", "swapaxes", "take", "take_along_axis", "tile", "transpose", "unstack",
]  # fmt: skip

Axes = int | Sequence[int] | None


def _given(name: str, x: Any) -> Array:
    if not isinstance(x, Array):
        raise TypeError(f"{name}: expected a partita.Array, given {type(x).__name__}; convert with partita.asarray")
    return x


def _tuple(value: int | Sequence[int]) -> tuple[int, ...]:
    return tuple(value) if isinstance(value, Sequence) else (value,)


def _all_of(shape: tuple[int, ...]) -> list[tuple[int | None, int, int, int]]:
    """Every dimension as it is, in the engine's terms: dimension, start, step, count."""
    return [(d, 0, 1, extent) for d, extent in enumerate(shape)]


def reshape(x: Array, /, shape: int | Sequence[int]) -> Array:
    """The same elements in C order in another shape; one extent may be -1.

    Where every part holds its elements in the order of the new shape, they stay there and memory is shared. Otherwise
    they move, and the first dimension of more than one cell is cut into all parts.
    """
    extents = extents_of("reshape", shape, _given("reshape", x).size)
    return Array(x._native.reshaped(extents or (1,)), scalar=extents == ())


def ravel(x: Array, /) -> Array:
    """All elements in C order, in one dimension."""
    return reshape(x, (-1,) if _given("ravel", x).size else (0,))


def permute_dims(x: Array, /, axes: Sequence[int]) -> Array:
    """Dimension ``axes[d]`` becomes dimension d."""
    order = [one_axis("permute_dims", d, _given("permute_dims", x).ndim) for d in axes]
    if sorted(order) != list(range(x.ndim)):
        raise ValueError(f"permute_dims: expected each of {x.ndim} axes once, given {tuple(axes)}")
    if x.ndim < 2:
        return x.copy()
    whole = _all_of(x.shape)
    return Array(x._native.rearranged([whole[d] for d in order]))


def transpose(x: Array, /, axes: Sequence[int] | None = None) -> Array:
    """The dimensions in the order ``axes``, by default reversed."""
    return permute_dims(x, tuple(reversed(range(_given("transpose", x).ndim))) if axes is None else axes)


def moveaxis(x: Array, source: int | Sequence[int], destination: int | Sequence[int], /) -> Array:
    """The dimensions ``source`` at the places ``destination``, the others in their order."""
    ndim = _given("moveaxis", x).ndim
    from_, to = ([one_axis("moveaxis", d, ndim) for d in _tuple(axes)] for axes in (source, destination))
    if len(from_) != len(to) or len(set(from_)) != len(from_) or len(set(to)) != len(to):
        raise ValueError(f"moveaxis: expected as many different axes on both sides, given {source} and {destination}")
    order = [d for d in range(ndim) if d not in from_]
    for place, d in sorted(zip(to, from_, strict=True)):
        order.insert(place, d)
    return permute_dims(x, order)


def swapaxes(x: Array, a: int, b: int, /) -> Array:
    """Two dimensions in each other's place."""
    order = list(range(_given("swapaxes", x).ndim))
    i, j = one_axis("swapaxes", a, x.ndim), one_axis("swapaxes", b, x.ndim)
    order[i], order[j] = order[j], order[i]
    return permute_dims(x, order)


def expand_dims(x: Array, /, axis: int | Sequence[int] = 0) -> Array:
    """With dimensions of extent 1 at the places ``axis`` of the result."""
    axes = _tuple(axis)
    rank = _given("expand_dims", x).ndim + len(axes)
    places = {one_axis("expand_dims", d, rank) for d in axes}
    if len(places) != len(axes):
        raise ValueError(f"expand_dims: expected every axis once, given {axis}")
    return x[tuple(None if d in places else slice(None) for d in range(rank))]


def squeeze(x: Array, /, axis: Axes = None) -> Array:
    """Without the dimensions ``axis`` (all that can go if None), which have extent 1."""
    shape = _given("squeeze", x).shape
    if axis is None:
        axis = tuple(d for d, extent in enumerate(shape) if extent == 1)
    axes = {one_axis("squeeze", d, x.ndim) for d in _tuple(axis)}
    if any(shape[d] != 1 for d in axes):
        raise ValueError(f"squeeze: expected dimensions of extent 1, given axis {axis} of shape {shape}")
    if not axes:
        return x.copy()
    return x[tuple(0 if d in axes else slice(None) for d in range(x.ndim))]


def flip(x: Array, /, axis: Axes = None) -> Array:
    """The elements in reverse order along ``axis`` (all if None)."""
    every = range(_given("flip", x).ndim) if axis is None else _tuple(axis)
    axes = {one_axis("flip", d, x.ndim) for d in every}
    return x[tuple(slice(None, None, -1) if d in axes else slice(None) for d in range(x.ndim))]


def broadcast_to(x: Array, /, shape: int | Sequence[int]) -> Array:
    """Stretched to ``shape``: dimensions of extent 1 repeat, missing ones are added in front."""
    extents, given = _tuple(shape), _given("broadcast_to", x).shape
    front = len(extents) - len(given)
    fits = front >= 0 and all(a in (1, b) for a, b in zip(given, extents[max(front, 0) :], strict=True))
    if not fits:
        raise ValueError(f"broadcast_to: expected a shape that {given} stretches to, given {extents}")
    if extents == given:
        return x.copy()
    native = x._native.reshaped((1,)) if x._scalar else x._native
    axes: list[tuple[int | None, int, int, int]] = [(None, 0, 0, extent) for extent in extents[:front]]
    if x._scalar:
        axes[-1] = (0, 0, 0, extents[-1])
    for d, (held, wanted) in enumerate(zip(given, extents[front:], strict=True)):
        axes.append((d, 0, 1 if held == wanted else 0, wanted))
    return Array(native.rearranged(axes))


def broadcast_arrays(*arrays: Array) -> tuple[Array, ...]:
    """Stretched to one shape."""
    import numpy as np

    shapes = [_given("broadcast_arrays", x).shape for x in arrays]
    try:
        shape = np.broadcast_shapes(*shapes)
    except ValueError:
        raise ValueError(f"broadcast_arrays: expected shapes that broadcast together, given {shapes}") from None
    return tuple(broadcast_to(x, shape) for x in arrays)


def concatenate(arrays: Sequence[Array], /, axis: int | None = 0) -> Array:
    """The arrays one behind the other along ``axis``; flat ones if None."""
    given = [_given("concatenate", x) for x in arrays]
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
    common = result_type(*(x.dtype for x in given))
    return Array(_native.Array.concatenate([x._native.cast(common.name) for x in given], d))


def stack(arrays: Sequence[Array], /, axis: int = 0) -> Array:
    """The arrays, of one shape, one behind the other along a new dimension ``axis``."""
    given = [_given("stack", x) for x in arrays]
    if not given or any(x.shape != given[0].shape for x in given):
        shapes = ", ".join(str(x.shape) for x in given) or "none"
        raise ValueError(f"stack: expected arrays of one shape, given {shapes}")
    return concatenate([expand_dims(x, axis) for x in given], one_axis("stack", axis, given[0].ndim + 1))


def unstack(x: Array, /, axis: int = 0) -> tuple[Array, ...]:
    """The arrays along a dimension, one for each of its coordinates."""
    d = one_axis("unstack", axis, _given("unstack", x).ndim)
    return tuple(x[(slice(None),) * d + (i,)] for i in range(x.shape[d]))


def pad(x: Array, width: Any, mode: str = "constant", constant_values: bool | int | float | complex = 0) -> Array:
    """With cells around: ``width`` is a number, a pair (before, after), or one pair per dimension.

    Modes are those of ``numpy.pad`` that need no arithmetic: 'constant', 'edge', 'wrap', 'reflect', 'symmetric'.
    """
    import numpy as np

    modes = ("constant", "edge", "wrap", "reflect", "symmetric")
    if mode not in modes:
        raise NotImplementedError(f"pad: expected a mode of {', '.join(modes)}, given {mode!r}")
    try:
        pairs = np.broadcast_to(np.asarray(width), (_given("pad", x).ndim, 2)).tolist()
    except ValueError:
        raise ValueError(f"pad: expected a number, a pair, or {x.ndim} pairs as width, given {width}") from None
    if any(n < 0 for pair in pairs for n in pair):
        raise ValueError(f"pad: expected widths of at least 0, given {width}")
    for d, pair in enumerate(pairs):
        if mode != "constant" and any(pair) and x.shape[d] == 0:
            raise ValueError(f"pad: expected cells to repeat in dimension {d}, given shape {x.shape}")
    if x._scalar:
        return x.copy()
    return Array(x._native.pad([tuple(pair) for pair in pairs], mode, constant_values))


def roll(x: Array, /, shift: int | Sequence[int], axis: Axes = None) -> Array:
    """Element i of the result is element i - shift along each axis, wrapping around; of the flat array if None.

    Of blocks the result is a view; where the distribution is periodic, a halo holds the elements that wrap around.
    """
    if axis is None:
        if isinstance(shift, Sequence):
            raise ValueError(f"roll: expected one shift for the flat array, given {shift}; name as many axes")
        return reshape(roll(ravel(x), shift, 0), x.shape)
    axes, shifts = _tuple(axis), _tuple(shift)
    if len(axes) != len(shifts) and 1 not in (len(axes), len(shifts)):
        raise ValueError(f"roll: expected as many shifts as axes, given {shift} and {axis}")
    count = max(len(axes), len(shifts))
    offsets = [0] * _given("roll", x).ndim
    for d, by in zip(axes * (count // len(axes)), shifts * (count // len(shifts)), strict=True):
        offsets[one_axis("roll", d, x.ndim)] += by
    # Less than once around, in the direction that was given: short ways are read from halos.
    turns = [by if abs(by) < n else by % max(n, 1) for by, n in zip(offsets, x.shape, strict=True)]
    return x.copy() if x._scalar else Array(x._native.roll([-by for by in turns]))


def take(x: Array, indices: Any, /, axis: int | None = None) -> Array:
    """The elements at ``indices`` along an axis (of the flat array if None). The indices are the host's."""
    import numpy as np

    host = _indices("take", indices)
    if axis is None:
        x, axis = ravel(_given("take", x)), 0
    d = one_axis("take", axis, _given("take", x).ndim)
    return x[(slice(None),) * d + (np.atleast_1d(host),)] if host.ndim else x[(slice(None),) * d + (int(host),)]


def _indices(name: str, indices: Any) -> Any:
    import numpy as np

    host = indices.numpy() if isinstance(indices, Array) else np.asarray(indices)
    if host.dtype.kind not in "iu":
        if host.size:
            raise TypeError(f"{name}: expected integers as indices, given {host.dtype}; convert them with astype")
        host = host.astype(np.int64)
    return host


def take_along_axis(x: Array, indices: Any, /, axis: int = -1) -> Array:
    """Element by element the one at that index along the axis. The indices are the host's."""
    import numpy as np

    host = _indices("take_along_axis", indices)
    d = one_axis("take_along_axis", axis, _given("take_along_axis", x).ndim)
    if host.ndim != x.ndim:
        raise ValueError(f"take_along_axis: expected indices of {x.ndim} dimensions, given {host.ndim}")
    shape = np.broadcast_shapes(x.shape[:d] + (1,) + x.shape[d + 1 :], host.shape)
    key = [np.arange(n).reshape((-1,) + (1,) * (x.ndim - e - 1)) if x.shape[e] != 1 else 0 for e, n in enumerate(shape)]
    key[d] = np.broadcast_to(host, shape)
    return x[tuple(key)]


def repeat(x: Array, repeats: Any, /, axis: int | None = None) -> Array:
    """Every element ``repeats`` times, along an axis (of the flat array if None)."""
    import numpy as np

    if axis is None:
        x, axis = ravel(_given("repeat", x)), 0
    d = one_axis("repeat", axis, _given("repeat", x).ndim)
    counts = repeats.numpy() if isinstance(repeats, Array) else np.asarray(repeats)
    if counts.size and (counts.dtype.kind not in "iu" or counts.min() < 0):
        raise ValueError(f"repeat: expected counts of at least 0, given {repeats}")
    return take(x, np.repeat(np.arange(x.shape[d]), counts), axis=d)


def tile(x: Array, repetitions: int | Sequence[int], /) -> Array:
    """The array, so many times along each dimension."""
    counts = _tuple(repetitions)
    rank = max(len(counts), _given("tile", x).ndim)
    counts = (1,) * (rank - len(counts)) + counts
    x = reshape(x, (1,) * (rank - x.ndim) + x.shape) if rank > x.ndim else x
    for d, count in enumerate(counts):
        x = concatenate([x] * count, d) if count else x[(slice(None),) * d + (slice(0),)]
    return x.copy()


# What indices do to arrays.


def select(x: Array, key: Any) -> Array:
    """``x[key]`` for keys that are no box."""
    selection = selection_of(key, x.shape)
    if selection is None:
        numbers = positions_of(key, x.shape)
        native = x._native.gathered(numbers.shape or (1,), _contiguous(numbers))
        return Array(native, scalar=numbers.ndim == 0)
    if x._scalar:
        return Array(x._native.reshaped(selection.shape)) if selection.layout else x.copy()
    if not selection.layout:
        return Array(x._native.window(selection.start, selection.stop), scalar=True)
    return Array(x._native.view(selection.spans))


def _contiguous(numbers: Any) -> Any:
    import numpy as np

    return np.ascontiguousarray(numbers, dtype=np.int64).reshape(-1)


def assign(x: Array, key: Any, value: Any) -> None:
    """``x[key] = value`` for keys that are no box. The value is a number or an array."""
    selection = selection_of(key, x.shape)
    if selection is None:
        _assign_at(x, key, value)
        return
    if 0 in selection.counts:
        return
    if isinstance(value, Array):
        native = _as_shape(value, selection.shape).cast(x.dtype.name)
    else:
        native = _native.Array.full(_native.Distribution((1,), team=x.team), x.dtype.name, value)
    if x._scalar:
        x._native.assign([0] * len(x._native.shape), [1] * len(x._native.shape), native.reshaped((1,) * len(x._native.shape)))
        return
    x._native.assign_view(selection.spans, native)


def _as_shape(value: Array, wanted: tuple[int, ...]) -> _native.Array:
    """A value that broadcasts to the shape, without the dimensions of extent 1 that it has too many."""
    extra = 0 if value._scalar else max(value.ndim - len(wanted), 0)
    shape = value.shape[extra:]
    fits = all(n in (1, w) for n, w in zip(reversed(shape), reversed(wanted), strict=False))
    if not fits or any(n != 1 for n in value.shape[:extra]):
        raise ValueError(f"assignment: expected a value that broadcasts to {wanted}, given shape {value.shape}")
    native = of_rank(value, len(wanted))
    return native.squeeze(range(extra)) if extra and len(native.shape) > extra else native


def _assign_at(x: Array, key: Any, value: Any) -> None:
    mask = key[0] if isinstance(key, tuple) and len(key) == 1 else key
    if isinstance(mask, Array) and mask.dtype == bool and mask.shape == x.shape and _is_single(value):
        # Stays on the devices, in the type of the array.
        native = None if isinstance(value, Array) else x._native.constant(x.dtype.name, value)
        x[...] = where(mask, value.astype(x.dtype) if native is None else Array(native, x._scalar), x)
        return
    numbers = positions_of(key, x.shape)
    if numbers.size == 0:
        return
    if isinstance(value, Array):
        front = value.ndim - numbers.ndim
        value = reshape(value, value.shape[front:]) if front > 0 and set(value.shape[:front]) == {1} else value
        try:
            line = ravel(broadcast_to(value.astype(x.dtype), numbers.shape))._native
        except ValueError:
            given = f"shape {value.shape}"
            raise ValueError(f"assignment: expected a value that broadcasts to {numbers.shape}, given {given}") from None
    else:
        dist = _native.Distribution((numbers.size,), team=x.team)
        line = _native.Array.full(dist, x.dtype.name, value)
    native = x._native
    native.scatter(_contiguous(numbers), line)


def _is_single(value: Any) -> bool:
    return not isinstance(value, Array) or value.ndim == 0
