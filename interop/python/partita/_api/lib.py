"""NumPy's ``lib``: the names in it that programs use."""

from __future__ import annotations

from collections.abc import Sequence

from .._core.array import Array
from .._core.rearrange import stack
from .._core.views.index import Axis, one_axis

__all__ = ["stride_tricks"]


class stride_tricks:
    """NumPy's ``lib.stride_tricks``. Strides of one's own (``as_strided``) are not there: parts lie apart."""

    @staticmethod
    def sliding_window_view(x: Array, window_shape: int | Sequence[int], axis: Axis = None) -> Array:
        """All windows of a shape, which slide over the array: new dimensions at the end, recorded and not stored.

        NumPy's is a view; this is a copy as soon as it is computed, but reductions of it compute without one.

        Parameters
        ----------
        x : Array
        window_shape : int or tuple of int
            Extents along ``axis``.
        axis : int or tuple of int, optional
            By default all.

        Returns
        -------
        Array

        Examples
        --------
        >>> import partita as pt
        >>> pt.lib.stride_tricks.sliding_window_view(pt.arange(5), 3).tolist()
        [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
        """
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
