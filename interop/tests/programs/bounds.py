"""How far a result may be from NumPy's: the sources of the bounds, and the comparison.

Where NumPy rounds correctly nothing may differ. Elsewhere the reference is not NumPy's result but the same thing
computed in `numpy.longdouble` from the same operands (64 bits of significand, so its own error is far below).

* A mathematical function: 2 ulp at the exact value, as `kernels/src/math/ACCURACY.md` claims.
* A sum of N terms: (log2 N + 4) u sum |x|, u half the distance from 1 to the next number. A mean divides once more.
* A product of N factors: ((1 + u)^N - 1) |p|, N - 1 roundings and one of the result.
* An inner product of N terms: a sum whose terms were rounded once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Wide = np.longdouble


class Undefined(Exception):
    """The result depends on what NumPy does not define, or on an overflow within a sum."""


def spacing(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Distance of the type's neighbours at exact values."""
    info = np.finfo(dtype)
    held = np.clip(np.abs(x), 0, float(info.max)).astype(dtype)
    return np.maximum(np.spacing(held), info.smallest_subnormal).astype(Wide)


def _function(name: str) -> Callable[..., tuple[np.ndarray, np.ndarray]]:
    def rule(dtype: np.dtype, *operands: Any) -> tuple[np.ndarray, np.ndarray]:
        # Operands are converted first, to the type in which NumPy computes.
        exact = getattr(np, name)(*(np.asarray(x, dtype).astype(Wide) for x in operands))
        return exact, 2 * spacing(exact, dtype)

    return rule


def _sum(dtype: np.dtype, a: np.ndarray, axis: Any, keepdims: bool) -> tuple[np.ndarray, np.ndarray]:
    wide = a.astype(Wide)
    exact, size = (np.sum(x, axis=axis, keepdims=keepdims) for x in (wide, _sizes(wide)))
    return exact, _sum_bound(size, _count(a.shape, axis), dtype)


def _sizes(wide: np.ndarray) -> np.ndarray:
    # Without infinities: finite terms may overflow on their own before an infinite one of the other sign comes.
    return np.where(np.isfinite(wide), np.abs(wide), 0)


def _sum_bound(size: np.ndarray, count: int, dtype: np.dtype) -> np.ndarray:
    info = np.finfo(dtype)
    if np.any(size > float(info.max)):
        raise Undefined("a partial sum may overflow")
    return (np.log2(max(count, 1)) + 4) * float(info.eps) / 2 * size


def _mean(dtype: np.dtype, a: np.ndarray, axis: Any, keepdims: bool) -> tuple[np.ndarray, np.ndarray]:
    count = _count(a.shape, axis)
    exact, bound = _sum(dtype, a.astype(dtype), axis, keepdims)
    return exact / count, bound / count + spacing(exact / count, dtype)


def _product(dtype: np.dtype, a: np.ndarray, axis: Any, keepdims: bool) -> tuple[np.ndarray, np.ndarray]:
    info, wide = np.finfo(dtype), a.astype(Wide)
    exact = np.prod(wide, axis=axis, keepdims=keepdims)
    # Any order of the factors stays within the type if those above one do together, and those below.
    size = np.abs(wide)
    most = np.prod(np.where(size > 1, size, 1), axis=axis, keepdims=keepdims)
    least = np.prod(np.where((size < 1) & (size > 0), size, 1), axis=axis, keepdims=keepdims)
    if np.any(np.isfinite(most) & (most > float(info.max))) or np.any(least < float(info.tiny)):
        raise Undefined("a partial product may overflow or underflow")
    count = _count(a.shape, axis)
    return exact, np.abs(exact) * np.expm1(count * np.log1p(Wide(info.eps) / 2))


def _matmul(dtype: np.dtype, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    wide = [x.astype(Wide) for x in (a, b)]
    exact, size = wide[0] @ wide[1], _sizes(wide[0]) @ _sizes(wide[1])
    if np.any(size > float(np.finfo(dtype).max)):
        raise Undefined("a product overflows by itself, but not where it is fused with the sum")
    products = a.shape[-1] * float(np.finfo(dtype).smallest_subnormal)
    return exact, _sum_bound(size, 2 * a.shape[-1], dtype) + products


def _count(shape: tuple[int, ...], axis: Any) -> int:
    axes = range(len(shape)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    return int(np.prod([shape[d] for d in axes]))


#: Of floats: the exact result and how far one may be from it, from the result's type and the operands.
RULES: dict[str, Callable[..., tuple[np.ndarray, np.ndarray]]] = {
    "sum": _sum,
    "mean": _mean,
    "prod": _product,
    "matmul": _matmul,
}


def differs(rule: str, ours: np.ndarray, theirs: np.ndarray, operands: Sequence[Any]) -> str | None:
    """What is wrong with a result, or None. ``theirs`` is NumPy's."""
    if (ours.shape, ours.dtype) != (theirs.shape, theirs.dtype):
        return f"expected {theirs.dtype} of shape {theirs.shape}, given {ours.dtype} of shape {ours.shape}"
    if rule in ("same", "sign") or theirs.dtype.kind != "f":
        wrong = ~_equal(ours, theirs, signs=rule == "same")
        return _first(wrong, ours, theirs, "the same bits")
    exact, bound = (_function(rule.split()[1]) if rule.startswith("ulp") else RULES[rule])(theirs.dtype, *operands)
    rounded = np.asarray(exact).astype(theirs.dtype)
    # Infinities and NaN are the same, and what is close to the largest number may become infinite.
    near = np.abs(ours.astype(Wide) - exact) <= bound
    limit = np.abs(exact) + bound >= float(np.finfo(theirs.dtype).max)
    near |= limit & np.isinf(ours) & (np.sign(ours) == np.sign(exact))
    return _first(~(near | _equal(ours, rounded, signs=False)), ours, rounded, f"the bound of {rule}")


def _equal(a: np.ndarray, b: np.ndarray, signs: bool) -> np.ndarray:
    same = a == b
    if a.dtype.kind == "f":
        same = (same & (np.signbit(a) == np.signbit(b))) if signs else same
        same |= np.isnan(a) & np.isnan(b)
    return np.asarray(same)


def _first(wrong: np.ndarray, ours: np.ndarray, theirs: np.ndarray, within: str) -> str | None:
    if not wrong.any():
        return None
    at = tuple(map(int, np.argwhere(wrong)[0]))
    return f"expected {theirs[at]!r} within {within}, given {ours[at]!r} at {at} ({int(wrong.sum())} of {wrong.size})"
