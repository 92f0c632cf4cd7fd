"""Arrays joined, split, padded and turned, in NumPy's words."""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Sequence
from typing import Any

from .._api.create import asarray, full, zeros
from .._core import rearrange
from .._core.array import Array
from .._core.base import array_of, arrays_of
from .._core.rearrange import concatenate, flip, moveaxis, reshape, swapaxes
from .._core.reductions import max, mean, min
from .._core.rules import unary
from .._core.views.index import Axis, one_axis
from .creation import linspace

concat = concatenate


def broadcast_shapes(*shapes: int | Sequence[int]) -> tuple[int, ...]:
    """The shape that arrays of these shapes broadcast to."""
    import numpy as np

    return np.broadcast_shapes(*shapes)


# Dimensions.


def _at_least(name: str, rank: int, arrays: tuple[Any, ...]) -> Any:
    results = []
    for x in arrays_of(name, arrays):
        if rank == 3 and x.ndim < 3:
            x = x[None, :, None] if x.ndim == 1 else x[:, :, None] if x.ndim == 2 else reshape(x, (1, 1, 1))
        results.append(reshape(x, (1,) * (rank - x.ndim) + x.shape) if x.ndim < rank else x)
    return results[0] if len(results) == 1 else tuple(results)


def atleast_1d(*arrays: Any) -> Any:
    """Arrays of one dimension at least."""
    return _at_least("atleast_1d", 1, arrays)


def atleast_2d(*arrays: Any) -> Any:
    """Arrays of two dimensions at least, new ones in front."""
    return _at_least("atleast_2d", 2, arrays)


def atleast_3d(*arrays: Any) -> Any:
    """Arrays of three dimensions at least: a line becomes the middle one, a matrix the first two."""
    return _at_least("atleast_3d", 3, arrays)


def rollaxis(a: Any, axis: int, start: int = 0) -> Array:
    """A dimension moved to before another; `moveaxis` is clearer."""
    a = array_of("rollaxis", a)
    d = one_axis("rollaxis", axis, a.ndim)
    to = start + a.ndim if start < 0 else start
    return moveaxis(a, d, to - 1 if d < to else to)


def fliplr(m: Any) -> Array:
    """The second dimension in reverse order."""
    return flip(m, 1)


def flipud(m: Any) -> Array:
    """The first dimension in reverse order."""
    return flip(m, 0)


def rot90(m: Any, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Array:
    """Turned by k times 90 degrees in a plane, from the first towards the second of its axes."""
    m = array_of("rot90", m)
    first, second = (one_axis("rot90", d, m.ndim) for d in axes)
    if first == second:
        raise ValueError("Axes must be different.")
    match k % 4:
        case 0:
            return m[...]
        case 1:
            return swapaxes(flip(m, second), first, second)
        case 2:
            return flip(m, (first, second))
    return flip(swapaxes(m, first, second), second)


# Joining.


def hstack(tup: Sequence[Any], *, dtype: Any = None, casting: str = "same_kind") -> Array:
    """One behind the other along the second dimension, lines along the first."""
    given = [atleast_1d(x) for x in arrays_of("hstack", tup)]
    return concatenate(given, 0 if given and given[0].ndim == 1 else 1, dtype=dtype, casting=casting)


def vstack(tup: Sequence[Any], *, dtype: Any = None, casting: str = "same_kind") -> Array:
    """One behind the other along the first dimension, lines as rows."""
    return concatenate([atleast_2d(x) for x in arrays_of("vstack", tup)], 0, dtype=dtype, casting=casting)


row_stack = vstack


def dstack(tup: Sequence[Any]) -> Array:
    """One behind the other along the third dimension."""
    return concatenate([atleast_3d(x) for x in arrays_of("dstack", tup)], 2)


def column_stack(tup: Sequence[Any]) -> Array:
    """Lines as columns, matrices side by side."""
    return concatenate([x if x.ndim > 1 else reshape(x, (x.size, 1)) for x in arrays_of("column_stack", tup)], 1)


def block(arrays: Any) -> Array:
    """Nested lists of blocks joined: the innermost along the last dimension, and so on."""

    def depth(x: Any) -> int:
        return 1 + depth(x[0]) if isinstance(x, list) and x else 0

    def leaves(x: Any) -> Any:
        return itertools.chain.from_iterable(map(leaves, x)) if isinstance(x, list) else [x]

    levels = depth(arrays)
    flat = arrays_of("block", leaves(arrays))
    rank, made = builtins.max(levels, *(x.ndim for x in flat)), iter(flat)

    def joined(x: Any, level: int) -> Array:
        if not isinstance(x, list):
            one = next(made)
            return reshape(one, (1,) * (rank - one.ndim) + one.shape)
        return concatenate([joined(each, level + 1) for each in x], rank - levels + level)

    return joined(arrays, 0)


def append(arr: Any, values: Any, axis: int | None = None) -> Array:
    """Values behind an array along an axis; both flat if None."""
    return concatenate(arrays_of("append", (arr, values)), axis)


def delete(arr: Any, obj: Any, axis: int | None = None) -> Array:
    """Without the elements at an index, slice, list or mask along an axis (of the flat array if None)."""
    import numpy as np

    arr, d = rearrange.line_along("delete", arr, axis)
    return rearrange.take(arr, np.delete(np.arange(arr.shape[d]), obj.numpy() if isinstance(obj, Array) else obj), d)


def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Array:
    """With values before the elements at an index, slice or list along an axis (of the flat array if None)."""
    import numpy as np

    arr, d = rearrange.line_along("insert", arr, axis)
    where_ = obj.numpy() if isinstance(obj, Array) else obj
    given = array_of("insert", values, arr).astype(arr.dtype)
    # The numbers of elements, and behind them those of inserted values; NumPy says where each goes.
    n = arr.shape[d]
    is_one = not isinstance(where_, slice) and np.ndim(where_) == 0
    if is_one:
        given = moveaxis(reshape(given, (1,) * (arr.ndim - given.ndim) + given.shape), 0, d) if given.ndim else given
        count = given.shape[d] if given.ndim else 1
    else:
        count = len(range(n)[where_]) if isinstance(where_, slice) else np.count_nonzero(where_) if np.asarray(where_).dtype == bool else np.size(where_)
    order = np.insert(np.arange(n), where_, np.arange(n, n + count) if not is_one or count != 1 else n)
    shape = (*arr.shape[:d], count, *arr.shape[d + 1 :])
    return rearrange.take(concatenate([arr, rearrange.broadcast_to(given, shape)], d), order, d)


def resize(a: Any, new_shape: int | Sequence[int]) -> Array:
    """As many elements as the shape has, the array's over and over."""
    import numpy as np

    a = array_of("resize", a).reshape(-1)
    shape = (new_shape,) if isinstance(new_shape, int) else tuple(new_shape)
    count = int(np.prod(shape, dtype=np.int64))
    if not count or not a.size:
        return zeros(shape, a.dtype, team=a.team)
    return reshape(rearrange.tile(a, -(-count // a.size))[:count], shape)


# Splitting.


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """Views of ranges along an axis: as many as a number says, the first ones larger, or cut at indices."""
    ary = array_of("array_split", ary)
    d = one_axis("array_split", axis, ary.ndim)
    n, at = ary.shape[d], indices_or_sections
    if isinstance(at, int):
        if at < 1:
            raise ValueError("number sections must be larger than 0.")
        large = n % at
        cuts = [i * (n // at) + (i if i < large else large) for i in range(at + 1)]
    else:
        cuts = [0, *(int(i) for i in (at.tolist() if hasattr(at, "tolist") else at)), n]
    return [ary[(slice(None),) * d + (slice(a, b),)] for a, b in itertools.pairwise(cuts)]


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """As `array_split`, of parts of one extent if a number is given."""
    ary = array_of("split", ary)
    n = ary.shape[one_axis("split", axis, ary.ndim)]
    if isinstance(indices_or_sections, int) and n % indices_or_sections:
        raise ValueError("array split does not result in an equal division")
    return array_split(ary, indices_or_sections, axis)


def hsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """`split` along the second dimension, of lines along the first."""
    ary = array_of("hsplit", ary)
    return split(ary, indices_or_sections, 1 if ary.ndim > 1 else 0)


def vsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """`split` along the first of two or more dimensions."""
    return split(_of_rank("vsplit", ary, 2), indices_or_sections, 0)


def dsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """`split` along the third dimension."""
    return split(_of_rank("dsplit", ary, 3), indices_or_sections, 2)


def _of_rank(name: str, x: Any, rank: int) -> Array:
    x = array_of(name, x)
    if x.ndim < rank:
        raise ValueError(f"{name} only works on arrays of {rank} or more dimensions")
    return x


def trim_zeros(filt: Any, trim: str = "fb", axis: Axis = None) -> Array:
    """Without the zeros in front ('f') and behind ('b') along the axes (all if None). Reads where there are others."""
    import numpy as np

    filt = array_of("trim_zeros", filt)
    found = np.nonzero((filt != 0).numpy())
    axes = range(filt.ndim) if axis is None else [one_axis("trim_zeros", d, filt.ndim) for d in (axis if isinstance(axis, tuple) else (axis,))]
    key = [slice(None)] * filt.ndim
    for d in axes:
        line = found[d]
        low, high = (int(line.min()), int(line.max()) + 1) if line.size else (0, 0)
        key[d] = slice(low if "f" in trim.lower() or not line.size else None, high if "b" in trim.lower() or not line.size else None)
    return filt[tuple(key)]


# Padding.

_STATISTICS: dict[str, Any] = {"maximum": max, "minimum": min, "mean": mean}


def pad(array: Any, pad_width: Any, mode: str = "constant", **words: Any) -> Array:
    """With cells around: ``pad_width`` is a number, a pair (before, after), one pair per dimension, or a dict of axes.

    Parameters
    ----------
    pad_width : int, pairs or dict
    mode : str
        'constant', 'edge', 'wrap', 'reflect', 'symmetric', 'linear_ramp', 'maximum', 'minimum', 'mean' or 'empty' (zeros).
    **words : optional
        The words below, each for its mode.
    constant_values, end_values : optional
        Numbers of 'constant' and 'linear_ramp': one, a pair, or pairs.
    stat_length : optional
        How many cells at each end the statistics are of; all by default.

    Examples
    --------
    >>> import partita as pt
    >>> pt.pad([1, 2], (1, 2), constant_values=9).tolist()
    [9, 1, 2, 9, 9]
    """
    import numpy as np

    known = {"constant": "constant_values", "linear_ramp": "end_values", **dict.fromkeys(_STATISTICS, "stat_length")}.get(mode)
    if set(words) - {known} - ({"reflect_type"} if words.get("reflect_type") == "even" else set()):
        raise ValueError(f"pad: expected for mode {mode!r} no words but {known}, given {', '.join(words)}")
    array = array_of("pad", array)
    if isinstance(pad_width, dict):
        pad_width = [pad_width.get(d, pad_width.get(d - array.ndim, 0)) for d in range(array.ndim)]
        pad_width = [(n, n) if isinstance(n, int) else n for n in pad_width]
    given: Any = words.get(known or "")
    is_number = given is None or isinstance(given, (bool, int, float, complex))
    if mode in ("edge", "wrap", "reflect", "symmetric") or (mode == "constant" and is_number):
        return rearrange.pad(array, pad_width, mode, 0 if given is None else given)
    if mode == "empty":
        return rearrange.pad(array, pad_width)
    if mode not in ("constant", "linear_ramp", *_STATISTICS):
        return rearrange.pad(array, pad_width, mode)
    widths = np.broadcast_to(np.asarray(pad_width), (array.ndim, 2)).tolist()
    values = np.broadcast_to(np.asarray(0 if given is None else given), (array.ndim, 2)).tolist()
    for d in range(array.ndim):
        if any(widths[d]):
            array = concatenate([_side(array, d, mode, widths[d], values[d], 0, given), array, _side(array, d, mode, widths[d], values[d], 1, given)], d)
    return array.copy()


def _side(x: Array, d: int, mode: str, widths: Any, values: Any, side: int, given: Any) -> Array:
    """The cells on one side along a dimension."""
    count, n, front = widths[side], x.shape[d], (slice(None),) * d
    shape = (*x.shape[:d], count, *x.shape[d + 1 :])
    if mode == "constant":
        return full(shape, asarray(values[side]).astype(x.dtype).item(), x.dtype, team=x.team)
    if mode == "linear_ramp":
        edge = x[(*front, 0 if side == 0 else -1)]
        ramp = linspace(values[side], edge, count, endpoint=False, dtype=x.dtype, axis=d)
        return flip(ramp, d) if side else ramp
    length = n if given is None else values[side] if values[side] < n else n
    one = _STATISTICS[mode](x[(*front, slice(length) if side == 0 else slice(n - length, None))], d, keepdims=True)
    if mode == "mean" and x.dtype.kind in "iu":
        one = unary("round", one)
    return rearrange.broadcast_to(one.astype(x.dtype), shape)
