"""Products of vectors and matrices: broadcast, multiplied and summed in one kernel, which reads what it needs of both.
That is a plain sum of products, not a tuned matrix product."""

from __future__ import annotations

from collections.abc import Sequence

from .._core.array import Array
from .complex import conj
from .._core.dtypes import bfloat16, float16, float32
from .._core.index import one_axis
from .rearrange import _given, expand_dims, moveaxis, reshape, swapaxes
from ..errors import AxisError

__all__ = ["matmul", "matrix_transpose", "tensordot", "vecdot"]


def matrix_transpose(x: Array, /) -> Array:
    """The last two dimensions in each other's place."""
    return _given("matrix_transpose", x).mT


def vecdot(a: Array, b: Array, /, *, axis: int = -1) -> Array:
    """Sums of products along ``axis``, which counts from the end; shapes broadcast. Of complex numbers, with conjugates of
    the first."""
    rank = min(_given("vecdot", a).ndim, _given("vecdot", b).ndim)
    if not -rank <= axis < 0:
        raise AxisError(f"vecdot: expected an axis from {-rank} to -1, given {axis}; count from the end")
    if a.shape[axis] != b.shape[axis]:
        expected = "arrays of one extent along the axis"
        raise ValueError(f"vecdot: expected {expected}, given {a.shape} and {b.shape} along {axis}; reshape them")
    return _sum_of_products(conj(a), b, axis)


def _sum_of_products(a: Array, b: Array, axis: int) -> Array:
    """In the type of the products; those of 16 bits are made and added in 32, where they do not overflow early."""
    dtype = (a * b).dtype
    if dtype in (float16, bfloat16):
        a, b = a.astype(float32), b.astype(float32)
    return (a * b).sum(axis=axis).astype(dtype)


def matmul(a: Array, b: Array, /) -> Array:
    """Matrix products of the last two dimensions, the others broadcast; a single dimension is a row on the left and
    a column on the right."""
    if not isinstance(a, Array) or not isinstance(b, Array):
        raise TypeError(f"matmul: expected partita.Arrays, given {type(a).__name__} and {type(b).__name__}; use asarray")
    inner = b.shape[-2] if b.ndim > 1 else b.shape[-1] if b.ndim else None
    if a.ndim == 0 or b.ndim == 0 or a.shape[-1] != inner:
        given = f"{a.shape} and {b.shape}"
        raise ValueError(f"matmul: expected the last extent of the first to be the inner one of the second, given {given}; transpose one")
    left = a if a.ndim > 1 else expand_dims(a, 0)
    right = b if b.ndim > 1 else expand_dims(b, -1)
    result = _sum_of_products(expand_dims(left, -2), expand_dims(swapaxes(right, -1, -2), -3), -1)
    key: list[slice | int] = [slice(None)] * result.ndim
    if a.ndim == 1:
        key[-2] = 0
    if b.ndim == 1:
        key[-1] = 0
    return result[tuple(key)] if 0 in key else result


def tensordot(a: Array, b: Array, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2) -> Array:
    """Sums of products over pairs of axes: the last ``axes`` of the first with as many first of the second, or lists."""
    ranks = (_given("tensordot", a).ndim, _given("tensordot", b).ndim)
    if isinstance(axes, int):
        if not 0 <= axes <= min(ranks):
            raise ValueError(f"tensordot: expected at most {min(ranks)} axes, given {axes}")
        axes = (range(ranks[0] - axes, ranks[0]), range(axes))
    left, right = ([one_axis("tensordot", d, rank) for d in side] for side, rank in zip(axes, ranks, strict=True))
    if [a.shape[d] for d in left] != [b.shape[d] for d in right]:
        given = f"{a.shape} and {b.shape} over {left} and {right}"
        raise ValueError(f"tensordot: expected extents that agree along the axes, given {given}")
    rows = tuple(n for d, n in enumerate(a.shape) if d not in left)
    columns = tuple(n for d, n in enumerate(b.shape) if d not in right)
    inner = 1
    for d in left:
        inner *= a.shape[d]
    a = moveaxis(a, left, range(ranks[0] - len(left), ranks[0])) if left else a
    b = moveaxis(b, right, range(len(right))) if right else b
    size = [1, 1]
    for k, extents in enumerate((rows, columns)):
        for n in extents:
            size[k] *= n
    return reshape(matmul(reshape(a, (size[0], inner)), reshape(b, (inner, size[1]))), rows + columns)
