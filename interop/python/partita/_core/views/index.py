"""Indices and axes as NumPy writes them, in the engine's terms. Knows shapes only."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from ..._native import Selection as Selection
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


def selection_of(key: Any, shape: tuple[int, ...]) -> Selection | None:
    """The selection of a key; None for keys with arrays, lists or bools in them."""
    selection = Selection.of(key, shape)
    if selection is not None:
        return selection
    keys = key if isinstance(key, tuple) else (key,)
    if not all(map(_is_plain, keys)):
        return None
    return Selection.of(tuple(k if k is None or k is Ellipsis or isinstance(k, slice) else operator.index(k) for k in keys), shape)


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

    if isinstance(key, list) and len(shape) == 1:
        try:
            key = np.asarray(key)
        except ValueError:
            return None
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
    extents = [operator.index(n) for n in (shape if isinstance(shape, (tuple, Sequence)) else (shape,))]
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
