"""Indices and axes as NumPy writes them, in the engine's terms. Knows shapes only."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

from ...errors import AxisError

Axis = int | tuple[int, ...] | None


def one_axis(name: str, axis: int, ndim: int) -> int:
    """An axis counted from 0."""
    try:
        axis = operator.index(axis)
    except TypeError:
        raise TypeError(f"{name}: expected an axis that is an int, given {axis!r}; convert it with int()") from None
    if not -ndim <= axis < ndim:
        raise AxisError(f"{name}: expected an axis within {ndim} dimensions, given {axis}; count from 0 or from -1")
    return axis % ndim


def axes_of(name: str, axis: Axis, ndim: int) -> list[int]:
    """Axes counted from 0, ascending."""
    if axis is None:
        return list(range(ndim))
    given = axis if isinstance(axis, tuple) else (axis,)
    if name.startswith("arg") and len(given) != 1:
        raise ValueError(f"{name}: expected one axis, or None for all, given {axis}")
    axes = {one_axis(name, d, ndim) for d in given}
    if len(axes) != len(given):
        raise ValueError(f"{name}: expected every axis once, given {axis}")
    return sorted(axes)


class Selection(NamedTuple):
    """What integers, slices, new dimensions and permutations of dimensions select."""

    #: Per dimension of the array: the first element, what the next one adds, and how many there are.
    start: list[int]
    steps: list[int]
    counts: list[int]
    #: Per dimension of the result: the array's dimension, or None for a new one.
    layout: list[int | None]

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of the result."""
        return tuple(1 if d is None else self.counts[d] for d in self.layout)

    @property
    def is_ordered(self) -> bool:
        """Whether the result's dimensions are in the order of the array's."""
        last = -1
        for d in self.layout:
            if d is not None:
                if d < last:
                    return False
                last = d
        return True

    def within(self, outer: Selection) -> Selection | None:
        """What this selects of the result of another selection, as one selection of the latter's array. None for nothing
        of a new dimension, which no selection says."""
        if any(d is None and not count for d, count in zip(outer.layout, self.counts, strict=True)):
            return None
        start, steps, counts = outer.start.copy(), outer.steps.copy(), outer.counts.copy()
        for e, d in enumerate(outer.layout):
            if d is not None:
                count = self.counts[e]
                start[d] += outer.steps[d] * self.start[e] if count else 0
                steps[d] = outer.steps[d] * self.steps[e] if count > 1 else 1
                counts[d] = count
        layout = [None if e is None else outer.layout[e] for e in self.layout]
        return Selection(start, steps, counts, layout)

    @property
    def spans(self) -> list[int | tuple[int, int, int] | None]:
        """The same in the engine's terms: a number drops a dimension, None is a new one."""
        ranges = list(zip(self.start, self.steps, self.counts, strict=True))
        if len(self.layout) == len(ranges) and None not in self.layout:
            return ranges  # type: ignore[return-value]
        spans: list[int | tuple[int, int, int] | None] = []
        d = 0
        for entry in self.layout:
            if entry is None:
                spans.append(None)
                continue
            spans += [*self.start[d:entry], ranges[entry]]
            d = entry + 1
        return [*spans, *self.start[d:]]


def whole(shape: tuple[int, ...]) -> Selection:
    """Everything."""
    rank = len(shape)
    return Selection([0] * rank, [1] * rank, list(shape), list(range(rank)))


def selection_of(key: Any, shape: tuple[int, ...]) -> Selection | None:
    """What a key selects; None for keys with arrays, lists or bools in them."""
    keys = list(key) if isinstance(key, tuple) else [key]
    at, new = len(keys), 0
    for n, k in enumerate(keys):
        # The kinds that need no look first.
        if type(k) is slice or type(k) is int:
            continue
        if not _is_plain(k):
            return None
        new += k is None
        if k is Ellipsis:
            if at < n:
                raise IndexError("index: expected at most one '...', given several")
            at = n
    rest = len(shape) - (len(keys) - new - (at < len(keys)))
    if rest < 0:
        raise IndexError(f"too many indices: the array has {len(shape)} dimensions, {len(shape) - rest} were given")
    if rest or at < len(keys):
        keys[at : at + 1] = [slice(None)] * rest
    start: list[int] = []
    steps: list[int] = []
    counts: list[int] = []
    layout: list[int | None] = []
    for k in keys:
        if k is None:
            layout.append(None)
            continue
        d = len(start)
        if type(k) is slice:
            first, last, step = k.indices(shape[d])
            count = last - first if step == 1 else max((last - first + step - (1 if step > 0 else -1)) // step, 0)
            layout.append(d)
        else:
            first, step, count = _within(operator.index(k), d, shape[d]), 1, 1
        if count < 2:
            first, step, count = (first, 1, 1) if count == 1 else (0, 1, 0)
        start.append(first)
        steps.append(step)
        counts.append(count)
    return Selection(start, steps, counts, layout)


def _is_plain(k: Any) -> bool:
    if k is None or k is Ellipsis or isinstance(k, slice):
        return True
    if isinstance(k, bool) or getattr(k, "dtype", None) == bool:
        return False
    # An array without dimensions is an integer if it is of integers.
    if hasattr(k, "ndim") and k.ndim > 0:
        return False
    try:
        operator.index(k)
    except TypeError:
        if isinstance(k, (list, tuple)) or hasattr(k, "__array__"):
            return False
        expected = "integers, slices, '...', None and arrays of integers or bools"
        raise IndexError(f"index: expected {expected}, given {type(k).__name__}; convert it with int()") from None
    return True


def _within(i: int, d: int, extent: int) -> int:
    if not -extent <= i < extent:
        raise IndexError(f"index {i} is out of bounds for dimension {d} of extent {extent}")
    return i % extent


def positions_of(key: Any, shape: tuple[int, ...]) -> Any:
    """The numbers, in C order, of the elements that a key with arrays in it selects: a NumPy array of int64.

    NumPy itself indexes coordinates that are broadcast to the shape, which take no memory.
    """
    import numpy as np

    keys = key if isinstance(key, tuple) else (key,)
    host = tuple(k.numpy() if hasattr(k, "_native") else k for k in keys)
    numbers = _of_one(host[0], shape) if len(host) == 1 else None
    if numbers is not None:
        return numbers
    for d, extent in enumerate(shape):
        line = np.arange(extent, dtype=np.int64).reshape((1,) * d + (extent,) + (1,) * (len(shape) - d - 1))
        try:
            chosen = np.broadcast_to(line, shape)[host]
        except IndexError as error:
            raise IndexError(f"index: expected indices that fit shape {shape}; {error}") from None
        numbers = chosen if numbers is None else numbers * extent + chosen
    return np.zeros((), np.int64)[host] if numbers is None else numbers


def _of_one(key: Any, shape: tuple[int, ...]) -> Any:
    """The positions that one mask of all elements or a list of indices into a line selects; None for other keys."""
    import numpy as np

    if not isinstance(key, np.ndarray):
        return None
    if key.dtype == bool and key.shape == shape and shape:
        return np.flatnonzero(key)
    if key.dtype.kind not in "iu" or len(shape) != 1 or key.size == 0:
        return None
    low, high = key.min(), key.max()
    if low < -shape[0] or high >= shape[0]:
        return None
    key = key.astype(np.int64, copy=False)
    return key if low >= 0 else np.where(key < 0, key + shape[0], key)


def check_rank(name: str, rank: int) -> None:
    """Raises beyond the engine's most dimensions."""
    if rank > 8:
        raise ValueError(f"{name}: expected at most 8 dimensions, given {rank}; merge dimensions, or use several arrays")


def extents_of(name: str, shape: int | Sequence[int], size: int) -> tuple[int, ...]:
    """A shape of as many elements, of which one extent may be -1."""
    extents = [operator.index(n) for n in (shape if isinstance(shape, Sequence) else (shape,))]
    check_rank(name, len(extents))
    given = f"{name}: expected a shape of {size} elements, given {tuple(extents)}"
    if extents.count(-1) > 1 or any(n < -1 for n in extents):
        raise ValueError(f"{given}; leave out at most one extent, as -1")
    product = 1
    for n in extents:
        product *= n if n != -1 else 1
    if -1 in extents:
        if product == 0 or size % product:
            raise ValueError(f"{given}; the other extents must divide {size}")
        extents[extents.index(-1)] = size // product
    elif product != size:
        raise ValueError(f"{given}; check the product of the extents")
    return tuple(extents)
