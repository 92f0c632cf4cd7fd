"""NumPy's ``lib.stride_tricks``."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .._core.array import Array
from .._core.base import array_of
from .._core.rearrange import broadcast_arrays, broadcast_to, ravel, stack
from .._core.views.addresses import strides_of
from .._core.views.index import Axis, one_axis
from .._core.views.links import root_of
from .._numpy.joining import broadcast_shapes

__all__ = ["as_strided", "broadcast_arrays", "broadcast_shapes", "broadcast_to", "sliding_window_view"]


def sliding_window_view(
    x: Array, window_shape: int | Sequence[int], axis: Axis = None, *, subok: bool = False, writeable: bool = False
) -> Array:
    """All windows of a shape, which slide over the array: new dimensions at the end, recorded and not stored.

    NumPy's is a view; this is a copy as soon as it is computed, but reductions of it compute without one. Recorded; computing it is
    collective.

    Parameters
    ----------
    x : Array
    window_shape : int or tuple of int
        Extents along ``axis``.
    axis : int or tuple of int, optional
        By default all.
    subok, writeable : bool, optional
        ``writeable=True`` is refused; ``subok`` is without effect.

    Returns
    -------
    Array

    Examples
    --------
    >>> import partita as pt
    >>> pt.lib.stride_tricks.sliding_window_view(pt.arange(5), 3).tolist()
    [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
    """
    if writeable:
        raise ValueError("sliding_window_view: expected writeable=False, given True; windows are copies: assign to slices of the array")
    x = array_of("sliding_window_view", x)
    window = (window_shape,) if isinstance(window_shape, int) else tuple(window_shape)
    given_axes = range(x.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    axes = [one_axis("sliding_window_view", d, x.ndim) for d in given_axes]
    if len(axes) != len(window) or any(not 0 < w <= x.shape[d] for w, d in zip(window, axes, strict=False)):
        given = f"window {window} along {tuple(axes)} of shape {x.shape}"
        raise ValueError(f"sliding_window_view: expected a window no larger than the array, given {given}")
    for width, d in zip(window, axes, strict=True):
        count = x.shape[d] - width + 1
        front = (slice(None),) * d
        x = stack([x[(*front, slice(start, start + count))] for start in range(width)], axis=-1)
    return x


def as_strided(
    x: Array, shape: Sequence[int] | None = None, strides: Sequence[int] | None = None, subok: bool = False, writeable: bool = True
) -> Array:
    """Elements by strides of one's own, as a copy that cannot be written to: parts have memory of their own. Elements beyond the
    ends raise IndexError, where NumPy reads other memory. The positions take 8 bytes per element on the host. Collective.

    Parameters
    ----------
    x : Array
    shape : tuple of int, optional
        By default that of ``x``.
    strides : tuple of int, optional
        Bytes from one element to the next per dimension, multiples of the size of an element; by default those of ``x``.
    subok, writeable : bool, optional
        Without effect.

    Returns
    -------
    Array

    Examples
    --------
    >>> import partita as pt
    >>> pt.lib.stride_tricks.as_strided(pt.arange(4), (3, 2), (8, 8)).tolist()
    [[0, 1], [1, 2], [2, 3]]
    """
    import numpy as np

    x = array_of("as_strided", x)
    shape = x.shape if shape is None else tuple(shape)
    offset, own = strides_of(x)
    steps = own if strides is None else tuple(strides)
    root: Any = root_of(x)
    size = x.dtype.itemsize
    if len(steps) != len(shape) or root.dtype is not x.dtype or any(step % size for step in steps):
        given = f"{steps} for shape {shape} of {x.dtype.name}"
        raise ValueError(f"as_strided: expected a whole number of elements as stride per dimension, given {given}")
    positions = np.full(shape, offset // size, np.int64)
    for d, step in enumerate(steps):
        positions += (np.arange(shape[d]) * (step // size)).reshape((-1,) + (1,) * (len(shape) - d - 1))
    if math.prod(shape) and not 0 <= positions.min() <= positions.max() < root.size:
        raise IndexError(f"as_strided: expected strides within the {root.size} elements of the array, given {steps} for shape {shape}")
    result: Array = ravel(root)[positions]
    result.flags.writeable = False
    return result
