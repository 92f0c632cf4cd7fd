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
from .base import A, BaseArray, checked
from .dtypes import can_cast, result_type
from .index import extents_of, one_axis, positions_of, selection_of
from .memory import NUMBERS
from .rules import array_operand, of_rank, where

__all__ = [
    "broadcast_arrays", "broadcast_to", "concatenate", "expand_dims", "flip", "moveaxis", "pad", "permute_dims", "ravel",
    "repeat", "reshape", "roll", "squeeze", "stack", "swapaxes", "take", "take_along_axis", "tile", "transpose", "unstack",
]  # fmt: skip

Axes = int | Sequence[int] | None


def _tuple(value: int | Sequence[int]) -> tuple[int, ...]:
    return tuple(value) if isinstance(value, Sequence) else (value,)


def _all_of(shape: tuple[int, ...]) -> list[tuple[int | None, int, int, int]]:
    """Every dimension as it is, in the engine's terms: dimension, start, step, count."""
    return [(d, 0, 1, extent) for d, extent in enumerate(shape)]


def reshape(x: A, /, shape: int | Sequence[int], *, copy: bool | None = None) -> A:
    """The same elements in C order in another shape; one extent may be -1. ``copy=False`` is refused.

    Where every part holds its elements in the order of the new shape, they stay there and memory is shared. Otherwise
    they move, and the first dimension of more than one cell is cut into all parts.
    """
    if copy is False:
        raise ValueError("reshape: expected copy=None or True, given False; the elements move between parts")
    extents = extents_of("reshape", shape, checked("reshape", x).size)
    return type(x)(x._native.reshaped(extents or (1,)), scalar=extents == ())


def ravel(x: A, /) -> A:
    """All elements in C order, in one dimension."""
    return reshape(x, (-1,) if checked("ravel", x).size else (0,))


def permute_dims(x: A, /, axes: Sequence[int]) -> A:
    """Dimension ``axes[d]`` becomes dimension d."""
    order = [one_axis("permute_dims", d, checked("permute_dims", x).ndim) for d in axes]
    if sorted(order) != list(range(x.ndim)):
        raise ValueError(f"permute_dims: expected each of {x.ndim} axes once, given {tuple(axes)}")
    if x.ndim < 2:
        return x.copy()
    whole = _all_of(x.shape)
    return type(x)(x._native.rearranged([whole[d] for d in order]))


def transpose(x: A, /, axes: Sequence[int] | None = None) -> A:
    """The dimensions in the order ``axes``, by default reversed."""
    return permute_dims(x, tuple(reversed(range(checked("transpose", x).ndim))) if axes is None else axes)


def moveaxis(x: A, source: int | Sequence[int], destination: int | Sequence[int], /) -> A:
    """The dimensions ``source`` at the places ``destination``, the others in their order."""
    ndim = checked("moveaxis", x).ndim
    from_, to = ([one_axis("moveaxis", d, ndim) for d in _tuple(axes)] for axes in (source, destination))
    if len(from_) != len(to) or len(set(from_)) != len(from_) or len(set(to)) != len(to):
        raise ValueError(f"moveaxis: expected as many different axes on both sides, given {source} and {destination}")
    order = [d for d in range(ndim) if d not in from_]
    for place, d in sorted(zip(to, from_, strict=True)):
        order.insert(place, d)
    return permute_dims(x, order)


def swapaxes(x: A, a: int, b: int, /) -> A:
    """Two dimensions in each other's place."""
    order = list(range(checked("swapaxes", x).ndim))
    i, j = one_axis("swapaxes", a, x.ndim), one_axis("swapaxes", b, x.ndim)
    order[i], order[j] = order[j], order[i]
    return permute_dims(x, order)


def expand_dims(x: A, /, axis: int | Sequence[int] = 0) -> A:
    """With dimensions of extent 1 at the places ``axis`` of the result."""
    axes = _tuple(axis)
    rank = checked("expand_dims", x).ndim + len(axes)
    places = {one_axis("expand_dims", d, rank) for d in axes}
    if len(places) != len(axes):
        raise ValueError(f"expand_dims: expected every axis once, given {axis}")
    return select(x, tuple(None if d in places else slice(None) for d in range(rank)))


def squeeze(x: A, /, axis: Axes = None) -> A:
    """Without the dimensions ``axis`` (all that can go if None), which have extent 1."""
    shape = checked("squeeze", x).shape
    if axis is None:
        axis = tuple(d for d, extent in enumerate(shape) if extent == 1)
    axes = {one_axis("squeeze", d, x.ndim) for d in _tuple(axis)}
    if any(shape[d] != 1 for d in axes):
        raise ValueError(f"squeeze: expected dimensions of extent 1, given axis {axis} of shape {shape}")
    if not axes:
        return x.copy()
    return select(x, tuple(0 if d in axes else slice(None) for d in range(x.ndim)))


def flip(x: A, /, axis: Axes = None) -> A:
    """The elements in reverse order along ``axis`` (all if None)."""
    every = range(checked("flip", x).ndim) if axis is None else _tuple(axis)
    axes = {one_axis("flip", d, x.ndim) for d in every}
    return select(x, tuple(slice(None, None, -1) if d in axes else slice(None) for d in range(x.ndim)))


def broadcast_to(x: A, /, shape: int | Sequence[int]) -> A:
    """Stretched to ``shape``: dimensions of extent 1 repeat, missing ones are added in front."""
    extents, given = _tuple(shape), checked("broadcast_to", x).shape
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
    return type(x)(native.rearranged(axes))


def broadcast_arrays(*arrays: A) -> tuple[A, ...]:
    """Stretched to one shape."""
    import numpy as np

    shapes = [checked("broadcast_arrays", x).shape for x in arrays]
    try:
        shape = np.broadcast_shapes(*shapes)
    except ValueError:
        raise ValueError(f"broadcast_arrays: expected shapes that broadcast together, given {shapes}") from None
    return tuple(broadcast_to(x, shape) for x in arrays)


def concatenate(arrays: Sequence[A], /, axis: int | None = 0) -> A:
    """The arrays one behind the other along ``axis``; flat ones if None."""
    given = [checked("concatenate", x) for x in arrays]
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
    common = result_type(*(x.dtype for x in given)).name
    return type(first)(_native.Array.concatenate([x._native.cast(common) for x in given], d))


def stack(arrays: Sequence[A], /, axis: int = 0) -> A:
    """The arrays, of one shape, one behind the other along a new dimension ``axis``."""
    given = [checked("stack", x) for x in arrays]
    if not given or any(x.shape != given[0].shape for x in given):
        shapes = ", ".join(str(x.shape) for x in given) or "none"
        raise ValueError(f"stack: expected arrays of one shape, given {shapes}")
    return concatenate([expand_dims(x, axis) for x in given], one_axis("stack", axis, given[0].ndim + 1))


def unstack(x: A, /, axis: int = 0) -> tuple[A, ...]:
    """The arrays along a dimension, one for each of its coordinates."""
    d = one_axis("unstack", axis, checked("unstack", x).ndim)
    return tuple(select(x, (slice(None),) * d + (i,)) for i in range(x.shape[d]))


def pad(x: A, width: Any, mode: str = "constant", constant_values: bool | int | float | complex = 0) -> A:
    """With cells around: ``width`` is a number, a pair (before, after), or one pair per dimension.

    Modes are those of ``numpy.pad`` that need no arithmetic: 'constant', 'edge', 'wrap', 'reflect', 'symmetric'.
    """
    import numpy as np

    modes = ("constant", "edge", "wrap", "reflect", "symmetric")
    if mode not in modes:
        raise NotImplementedError(f"pad: expected a mode of {', '.join(modes)}, given {mode!r}")
    try:
        pairs = np.broadcast_to(np.asarray(width), (checked("pad", x).ndim, 2)).tolist()
    except ValueError:
        raise ValueError(f"pad: expected a number, a pair, or {x.ndim} pairs as width, given {width}") from None
    if any(n < 0 for pair in pairs for n in pair):
        raise ValueError(f"pad: expected widths of at least 0, given {width}")
    for d, pair in enumerate(pairs):
        if mode != "constant" and any(pair) and x.shape[d] == 0:
            raise ValueError(f"pad: expected cells to repeat in dimension {d}, given shape {x.shape}")
    if x._scalar:
        return x.copy()
    return type(x)(x._native.pad([tuple(pair) for pair in pairs], mode, constant_values))


def roll(x: A, /, shift: int | Sequence[int], axis: Axes = None) -> A:
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
    offsets = [0] * checked("roll", x).ndim
    for d, by in zip(axes * (count // len(axes)), shifts * (count // len(shifts)), strict=True):
        offsets[one_axis("roll", d, x.ndim)] += by
    # Less than once around, in the direction that was given: short ways are read from halos.
    turns = [by if abs(by) < n else by % max(n, 1) for by, n in zip(offsets, x.shape, strict=True)]
    return x.copy() if x._scalar else type(x)(x._native.roll([-by for by in turns]))


def take(x: A, indices: Any, /, axis: int | None = None) -> A:
    """The elements at ``indices`` along an axis (of the flat array if None). The indices are the host's."""
    import numpy as np

    host = _indices("take", indices)
    if axis is None:
        x, axis = ravel(checked("take", x)), 0
    d = one_axis("take", axis, checked("take", x).ndim)
    return select(x, (slice(None),) * d + (np.atleast_1d(host) if host.ndim else int(host),))


def _indices(name: str, indices: Any) -> Any:
    import numpy as np

    host = indices.numpy() if isinstance(indices, BaseArray) else np.asarray(indices)
    if host.dtype.kind not in "iu":
        if host.size:
            raise TypeError(f"{name}: expected integers as indices, given {host.dtype}; convert them with astype")
        host = host.astype(np.int64)
    return host


def take_along_axis(x: A, indices: Any, /, axis: int = -1) -> A:
    """Element by element the one at that index along the axis. The indices are the host's."""
    import numpy as np

    host = _indices("take_along_axis", indices)
    d = one_axis("take_along_axis", axis, checked("take_along_axis", x).ndim)
    if host.ndim != x.ndim:
        raise ValueError(f"take_along_axis: expected indices of {x.ndim} dimensions, given {host.ndim}")
    shape = np.broadcast_shapes(x.shape[:d] + (1,) + x.shape[d + 1 :], host.shape)
    key = [np.arange(n).reshape((-1,) + (1,) * (x.ndim - e - 1)) if x.shape[e] != 1 else 0 for e, n in enumerate(shape)]
    key[d] = np.broadcast_to(host, shape)
    return select(x, tuple(key))


def repeat(x: A, repeats: Any, /, axis: int | None = None) -> A:
    """Every element ``repeats`` times, along an axis (of the flat array if None)."""
    import numpy as np

    if axis is None:
        x, axis = ravel(checked("repeat", x)), 0
    d = one_axis("repeat", axis, checked("repeat", x).ndim)
    counts = repeats.numpy() if isinstance(repeats, BaseArray) else np.asarray(repeats)
    if counts.size and (counts.dtype.kind not in "iu" or counts.min() < 0):
        raise ValueError(f"repeat: expected counts of at least 0, given {repeats}")
    return take(x, np.repeat(np.arange(x.shape[d]), counts), axis=d)


def tile(x: A, repetitions: int | Sequence[int], /) -> A:
    """The array, so many times along each dimension."""
    counts = _tuple(repetitions)
    rank = max(len(counts), checked("tile", x).ndim)
    counts = (1,) * (rank - len(counts)) + counts
    x = reshape(x, (1,) * (rank - x.ndim) + x.shape) if rank > x.ndim else x
    for d, count in enumerate(counts):
        x = concatenate([x] * count, d) if count else select(x, (slice(None),) * d + (slice(0),))
    return x.copy()


# Indexing.


def select(x: A, key: Any) -> A:
    """``x[key]``."""
    selection = selection_of(key, x.shape)
    if selection is None:
        numbers = positions_of(key, x.shape)
        native = x._native.gathered(numbers.shape or (1,), _contiguous(numbers))
        return type(x)(native, scalar=numbers.ndim == 0)
    if x._scalar:
        return type(x)(x._native.reshaped(selection.shape)) if selection.layout else x.copy()
    if not selection.layout:
        return type(x)(x._native.view([(at, 1, 1) for at in selection.start]), scalar=True)
    return type(x)(x._native.view(selection.spans))


def _contiguous(numbers: Any) -> Any:
    import numpy as np

    return np.ascontiguousarray(numbers, dtype=np.int64).reshape(-1)


def assign(x: A, key: Any, value: Any) -> None:
    """``x[key] = value``."""
    is_number = isinstance(value, NUMBERS)
    array = None if is_number else array_operand(value, x)
    if array is None and not is_number:
        raise TypeError(f"assignment: expected an array or a number, given {type(value).__name__}")
    selection = selection_of(key, x.shape)
    if selection is None:
        _assign_at(x, key, value if array is None else array)
        return
    target = None if array is None else _as_shape(array, selection.shape)
    if 0 in selection.counts:
        return
    # The engine assigns to arrays of one dimension at least.
    single = x._scalar or not selection.layout
    cells: list[int | tuple[int, int, int] | None] = [(at, 1, 1) for at in selection.start or (0,) * len(x._native.shape)]
    spans = cells if single else selection.spans
    if target is None:
        native = x._native.view(spans).constant(x.dtype.name, value)
    else:
        native = (target.reshaped([1] * len(spans)) if single else target).cast(x.dtype.name)
    x._native.assign_view(spans, native)


def assign_all(x: A, result: A) -> A:
    """The array, which now has the elements of the result of an operation in place."""
    if not can_cast(result.dtype, x.dtype):
        given = f"{result.dtype.name} into {x.dtype.name}"
        raise TypeError(f"in-place operation: expected a result of the array's kind, given {given}; use astype")
    if not x._scalar and not result._scalar and result.ndim > x.ndim:
        text = f"in-place operation: expected a result of shape {x.shape}, given {result.shape}; use a new array"
        raise ValueError(text)
    native = of_rank(result, len(x._native.shape)).cast(x.dtype.name)
    x._native.assign_view([(0, 1, extent) for extent in x._native.shape], native)
    return x


def _as_shape(value: BaseArray, wanted: tuple[int, ...]) -> _native.Array:
    """A value that broadcasts to the shape, without the dimensions of extent 1 that it has too many."""
    extra = 0 if value._scalar else max(value.ndim - len(wanted), 0)
    shape = value.shape[extra:]
    fits = all(n in (1, w) for n, w in zip(reversed(shape), reversed(wanted), strict=False))
    if not fits or any(n != 1 for n in value.shape[:extra]):
        raise ValueError(f"assignment: expected a value that broadcasts to {wanted}, given shape {value.shape}")
    native = of_rank(value, len(wanted))
    return native.squeeze(range(extra)) if extra and len(native.shape) > extra else native


def _assign_at(x: A, key: Any, value: Any) -> None:
    """Assignment of a number or an array where a key with arrays in it selects."""
    mask = key[0] if isinstance(key, tuple) and len(key) == 1 else key
    array = value if isinstance(value, BaseArray) else None
    if isinstance(mask, type(x)) and mask.dtype == bool and mask.shape == x.shape and (array is None or array.ndim == 0):
        # Stays on the devices, in the type of the array.
        filled = type(x)(x._native.constant(x.dtype.name, value), x._scalar) if array is None else array.astype(x.dtype)
        assign(x, ..., where(mask, filled, x))
        return
    numbers = positions_of(key, x.shape)
    if numbers.size == 0:
        return
    if array is None:
        line = _native.Array.full(_native.Distribution((numbers.size,), team=x.team), x.dtype.name, value)
    else:
        front = array.ndim - numbers.ndim
        array = reshape(array, array.shape[front:]) if front > 0 and set(array.shape[:front]) == {1} else array
        try:
            line = ravel(broadcast_to(array.astype(x.dtype), numbers.shape))._native
        except ValueError:
            given = f"shape {array.shape}"
            raise ValueError(f"assignment: expected a value that broadcasts to {numbers.shape}, given {given}") from None
    x._native.scatter(_contiguous(numbers), line)
