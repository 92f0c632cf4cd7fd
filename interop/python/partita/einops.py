"""einops of arrays: after ``import partita.einops``, its functions take them, and give arrays that stay on their parts.

>>> import einops
>>> import partita as pt
>>> import partita.einops
>>> u = pt.arange(12).reshape(6, 2)
>>> einops.rearrange(u, "(a b) c -> a (b c)", a=2).shape
(2, 6)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from einops import _backends  # type: ignore[import-not-found, unused-ignore]

from ._api.create import arange, asarray
from ._core.array import Array
from ._core.base import NAMESPACE
from ._core.rearrange import concatenate, expand_dims, stack, tile


class Backend(_backends.AbstractBackend):  # type: ignore[misc, unused-ignore]
    """The functions that einops calls; it finds this by looking for subclasses."""

    framework_name = "partita"

    def is_appropriate_type(self, tensor: Any) -> bool:
        """True if it is an array of ours."""
        return isinstance(tensor, Array)

    def from_numpy(self, x: Any) -> Array:
        """An array of the same elements."""
        return asarray(x)

    def to_numpy(self, x: Array) -> Any:
        """The elements on the host. Collective."""
        return x.numpy()

    def arange(self, start: int, stop: int) -> Array:
        """Integers."""
        return arange(start, stop)

    def stack_on_zeroth_dimension(self, tensors: Sequence[Array]) -> Array:
        """Side by side along a new dimension."""
        return stack(tensors)

    def add_axis(self, x: Array, new_position: int) -> Array:
        """A dimension of extent 1."""
        return expand_dims(x, new_position)

    def tile(self, x: Array, repeats: Sequence[int]) -> Array:
        """So many copies along each dimension."""
        return tile(x, repeats)

    def concat(self, tensors: Sequence[Array], axis: int) -> Array:
        """One behind the other."""
        return concatenate(tensors, axis)

    def is_float_type(self, x: Array) -> bool:
        """True if means are of the same type."""
        return x.dtype.kind in "fc"

    def einsum(self, pattern: str, *x: Array) -> Any:
        """Sums of products."""
        return NAMESPACE.einsum(pattern, *x)
