"""Reductions, which are functions and methods of arrays alike, and products of vectors and matrices: broadcast, multiplied
and summed in one kernel, which reads what it needs of both. That is a plain sum of products, not a tuned matrix product."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..errors import AxisError
from .base import A, array_of, arrays_of, made
from .dtypes import DType, as_dtype, bfloat16, bool_, default, float16, float32, float64, float_for, wide_for
from .views.index import Axis, axes_of, one_axis
from . import rules
from .rearrange import broadcast_to, moveaxis, pad, reshape, swapaxes
from .rules import binary, conj
from .views.indexing import select, write
from .watch import is_watched, watch, watched


#: The replacement of masked elements, and the function that adds an initial value.
_UNITS: dict[str, Any] = {"sum": 0, "sum_reproducible": 0, "prod": 1, "all": True, "any": False}
_COMBINED = {"sum": "add", "sum_reproducible": "add", "prod": "multiply", "min": "minimum", "max": "maximum"}


def reduce(
    name: str, array: A, axis: Axis, keepdims: bool, *, dtype: Any = None, out: Any = None, initial: Any = None, where: Any = True
) -> A:
    """A reduction in NumPy's words: over all axes if None, over none if ``()``; of the elements where the mask ``where``
    is true, and of ``initial``."""
    if watch.count and is_watched() and name.startswith(("sum", "prod", "mean")):
        given, lines = (array,) if initial is None else (array, initial), {"axis": axis, "keepdims": keepdims, "where": where}

        def quiet() -> Any:
            return reduce(name, array, axis, keepdims, dtype=dtype, initial=initial, where=where)

        result: A = watched("reduce", given, quiet, lines=lines)
        return result if out is None else write(name, out, result)
    array = array_of(name, array)
    if dtype is not None:
        kind = as_dtype(dtype)
        result = reduce(name, array.astype(kind), axis, keepdims, initial=initial, where=where).astype(kind)
    elif where is not True:
        result = _masked(name, array, axis, keepdims, initial, where)
    elif initial is not None:
        axes = axes_of(name, axis, array.ndim)
        if name in ("min", "max") and 0 in array.shape:
            array = pad(array, [(0, int(d in axes and n == 0)) for d, n in enumerate(array.shape)], constant_values=initial)
        result = _reduced(name, array, axis, keepdims)
        result = binary(_COMBINED[name], result, initial).astype(result.dtype)
    else:
        result = _reduced(name, array, axis, keepdims)
    return result if out is None else write(name, out, result)


def _masked(name: str, array: A, axis: Axis, keepdims: bool, initial: Any, mask: Any) -> A:
    if name.startswith("mean"):
        total = reduce(name.replace("mean", "sum"), array.astype(float_for(array.dtype)), axis, keepdims, where=mask)
        counted = broadcast_to(array_of(name, mask, array).astype(bool_), array.shape)
        return binary("divide", total, reduce("sum", counted, axis, keepdims).astype(total.dtype))  # type: ignore[no-any-return]
    unit = _UNITS.get(name, initial)
    if unit is None:
        raise ValueError(f"{name}: expected initial= beside where=, given none; what is the {name} of no elements?")
    chosen: A = rules.where(mask, array, unit)
    return reduce(name, chosen, axis, keepdims, initial=initial)


def _reduced(name: str, array: A, axis: Axis, keepdims: bool) -> A:
    """Of all elements, in the type of the function."""
    axes = axes_of(name, axis, array.ndim)
    if not axes and array.ndim:
        return array.astype(_reduced_type(name, array.dtype))
    if name.startswith("mean") and array.dtype.kind in "bui" and default.float is not float64:
        array = array.astype(default.float)
    if name in ("min", "max", "argmin", "argmax") and 0 in (array.shape[d] for d in axes):
        raise ValueError(f"{name}: expected at least one element to reduce, given shape {array.shape}")
    if name == "prod" and array.dtype.kind == "c":
        return _complex_product(array, axes, keepdims)
    return made(array._native.reduce(name, [] if len(axes) == array.ndim else axes, keepdims))  # type: ignore[no-any-return]


def _reduced_type(name: str, dtype: DType) -> DType:
    """The type of a reduction of elements of a type."""
    if name in ("all", "any"):
        return bool_
    if name.startswith("mean") and dtype.kind in "bui":
        return default.float
    return wide_for(dtype) if name.startswith(("sum", "prod")) else dtype


def _complex_product(x: A, axes: Sequence[int], keepdims: bool) -> A:
    """Products over axes, of halves by halves: the extension has no fold of pairs. Computes every half."""
    x = x.copy()
    if x.ndim == 0:
        return x
    for d in axes:
        front = (slice(None),) * d
        while x.shape[d] != 1:
            if x.shape[d] % 2 or x.shape[d] == 0:
                x = pad(x, [(0, int(e == d)) for e in range(x.ndim)], constant_values=1)
                continue
            half = x.shape[d] // 2
            halves = (select(x, (*front, slice(None, half))), select(x, (*front, slice(half, None))))
            x = binary("multiply", *halves).eval()
    return x if keepdims else select(x, tuple(0 if d in axes else slice(None) for d in range(x.ndim)))


# Parameters are NumPy's, in NumPy's order. ``where`` selects elements by a mask, ``initial`` is one more element, ``out`` an
# array that takes the result.


def sum(
    a: A, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None,
    where: Any = True, *, reproducible: bool = False,
) -> A:  # fmt: skip
    """Sums over ``axis`` (all if None). Integers and bool sum in 64 bits, or in ``dtype``.

    With ``reproducible`` the exact sum is rounded once, so that its bits depend neither on how the array
    is divided, nor on the order of its elements, nor on the kind of device. Such a sum of floats computes
    at once.
    """
    name = "sum_reproducible" if reproducible else "sum"
    return reduce(name, a, axis, keepdims, dtype=dtype, out=out, initial=initial, where=where)


def prod(
    a: A, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True
) -> A:
    """Products over ``axis`` (all if None). Integers and bool multiply in 64 bits, or in ``dtype``."""
    return reduce("prod", a, axis, keepdims, dtype=dtype, out=out, initial=initial, where=where)


def min(a: A, axis: Axis = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> A:
    """The smallest elements over ``axis`` (all if None); NaN wins."""
    return reduce("min", a, axis, keepdims, out=out, initial=initial, where=where)


def max(a: A, axis: Axis = None, out: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> A:
    """The largest elements over ``axis`` (all if None); NaN wins."""
    return reduce("max", a, axis, keepdims, out=out, initial=initial, where=where)


def mean(
    a: A, axis: Axis = None, dtype: Any = None, out: Any = None, keepdims: bool = False, *, where: Any = True,
    reproducible: bool = False,
) -> A:  # fmt: skip
    """Arithmetic means over ``axis`` (all if None), in ``dtype`` if given. Integers give the default type of floats. ``reproducible`` as for
    sums."""
    return reduce("mean_reproducible" if reproducible else "mean", a, axis, keepdims, dtype=dtype, out=out, where=where)


def all(a: A, axis: Axis = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> A:
    """True where all elements over ``axis`` (all if None) are nonzero."""
    return reduce("all", a, axis, keepdims, out=out, where=where)


def any(a: A, axis: Axis = None, out: Any = None, keepdims: bool = False, *, where: Any = True) -> A:
    """True where any element over ``axis`` (all if None) is nonzero."""
    return reduce("any", a, axis, keepdims, out=out, where=where)


def argmin(a: A, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> A:
    """The index of the smallest element: along ``axis``, or in the array flattened in C order."""
    return reduce("argmin", a, axis, keepdims, out=out)


def argmax(a: A, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> A:
    """The index of the largest element: along ``axis``, or in the array flattened in C order."""
    return reduce("argmax", a, axis, keepdims, out=out)


# Products.


def matrix_transpose(x: A, /) -> A:
    """The last two dimensions in each other's place."""
    x = array_of("matrix_transpose", x)
    if x.ndim < 2:
        raise ValueError(f"mT: expected at least 2 dimensions, given {x.ndim}; use partita.reshape first")
    return swapaxes(x, -1, -2)


def vecdot(a: A, b: A, /, out: Any = None, *, axis: int = -1) -> A:
    """Sums of products along ``axis``, which counts from the end; shapes broadcast. Of complex numbers, with conjugates of
    the first."""
    if watch.count and is_watched():
        result: A = watched("vecdot", (a, b), lambda: vecdot(a, b, axis=axis), lines={})
        return result if out is None else write("vecdot", out, result)
    a, b = arrays_of("vecdot", (a, b))
    ranks = (a.ndim, b.ndim)
    least = ranks[0] if ranks[0] < ranks[1] else ranks[1]
    if not -least <= axis < 0:
        raise AxisError(f"vecdot: expected an axis from {-least} to -1, given {axis}; count from the end")
    if a.shape[axis] != b.shape[axis]:
        expected = "arrays of one extent along the axis"
        raise ValueError(f"vecdot: expected {expected}, given {a.shape} and {b.shape} along {axis}; reshape them")
    result = _sum_of_products(conj(a), b, axis)
    return result if out is None else write("vecdot", out, result)


def _sum_of_products(a: A, b: A, axis: int) -> A:
    """In the type of the products; those of 16 bits are made and added in 32, where they do not overflow early."""
    products: A = binary("multiply", a, b)
    dtype = products.dtype
    if dtype in (float16, bfloat16):
        products = binary("multiply", a.astype(float32), b.astype(float32))
    return sum(products, axis=axis).astype(dtype)


def matmul(a: A, b: A, /, out: Any = None, *, dtype: Any = None, casting: str = "same_kind") -> A:
    """Matrix products of the last two dimensions, the others broadcast; a single dimension is a row on the left and
    a column on the right."""
    if watch.count and is_watched():
        result: A = watched("matmul", (a, b), lambda: matmul(a, b, dtype=dtype, casting=casting), lines={})
        return result if out is None else write("matmul", out, result, casting=casting)
    a, b = arrays_of("matmul", (a, b))
    a, b = (a, b) if dtype is None else (a.astype(dtype), b.astype(dtype))
    inner = b.shape[-2] if b.ndim > 1 else b.shape[-1] if b.ndim else None
    if a.ndim == 0 or b.ndim == 0 or a.shape[-1] != inner:
        shapes = f"{a.shape} and {b.shape}"
        raise ValueError(f"matmul: expected the last extent of the first to be the inner one of the second, given {shapes}; transpose one")
    columns = swapaxes(b, -1, -2) if b.ndim > 1 else b
    if a.ndim == 1 == b.ndim:
        result = _sum_of_products(a[None], b, -1)[0]
    elif a.ndim == 1 or b.ndim == 1:
        ones = (None,) * abs(a.ndim - columns.ndim)
        result = _sum_of_products(a[ones], columns, -1) if a.ndim == 1 else _sum_of_products(a, columns[ones], -1)
    else:
        result = _sum_of_products(a[..., None, :], columns[..., None, :, :], -1)
    return result if out is None else write("matmul", out, result, casting=casting)


def tensordot(a: A, b: A, axes: int | Sequence[int | Sequence[int]] = 2) -> A:
    """Sums of products over pairs of axes: the last ``axes`` of the first with as many first of the second, or lists."""
    a, b = arrays_of("tensordot", (a, b))
    ranks = sorted((a.ndim, b.ndim))
    if isinstance(axes, int):
        if not 0 <= axes <= ranks[0]:
            raise ValueError(f"tensordot: expected at most {ranks[0]} axes, given {axes}")
        axes = (range(a.ndim - axes, a.ndim), range(axes))
    left, right = ([one_axis("tensordot", d, x.ndim) for d in (side if isinstance(side, Sequence) else (side,))] for side, x in zip(axes, (a, b), strict=True))
    if [a.shape[d] for d in left] != [b.shape[d] for d in right]:
        shapes = f"{a.shape} and {b.shape} over {left} and {right}"
        raise ValueError(f"tensordot: expected extents that agree along the axes, given {shapes}")
    rows = tuple(n for d, n in enumerate(a.shape) if d not in left)
    columns = tuple(n for d, n in enumerate(b.shape) if d not in right)
    inner = math.prod(a.shape[d] for d in left)
    a = moveaxis(a, left, range(a.ndim - len(left), a.ndim)) if left else a
    b = moveaxis(b, right, range(len(right))) if right else b
    product = matmul(reshape(a, (math.prod(rows), inner)), reshape(b, (inner, math.prod(columns))))
    return reshape(product, rows + columns)
