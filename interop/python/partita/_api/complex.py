"""Complex numbers: their parts, and what becomes of them. Arithmetic with them is the extension's, which holds each as
two floats side by side; see `interop/src/complex`."""

from __future__ import annotations

from collections.abc import Sequence

from .._core.array import Array
from .._core.rules import unary

__all__ = ["angle", "conj", "imag", "real"]


def _given(name: str, x: Array) -> Array:
    if not isinstance(x, Array):
        raise TypeError(f"{name}: expected a partita.Array, given {type(x).__name__}; convert with partita.asarray")
    return x


def real(x: Array, /) -> Array:
    """Real parts: a value like a slice, not a view to assign to. Real arrays are their own."""
    return unary("real", x) if _given("real", x).dtype.kind == "c" else x.copy()


def imag(x: Array, /) -> Array:
    """Imaginary parts: a value like a slice, not a view to assign to. Those of real arrays are zeros."""
    from .create import zeros_like

    return unary("imag", x) if _given("imag", x).dtype.kind == "c" else zeros_like(x)


def conj(x: Array, /) -> Array:
    """Complex conjugates. Real arrays are their own."""
    return unary("conj", x) if _given("conj", x).dtype.kind == "c" else x.copy()


def angle(x: Array, /) -> Array:
    """Arguments of complex numbers, in radians from -pi to pi."""
    if _given("angle", x).dtype.kind != "c":
        raise TypeError(f"angle: expected complex numbers, given {x.dtype.name}; use arctan2(0 * x, x)")
    return unary("angle", x)


def product(x: Array, axes: Sequence[int], keepdims: bool) -> Array:
    """Products over axes, of halves by halves: the extension has no fold of pairs. Computes every half."""
    if x.ndim == 0:
        return x.copy()
    for d in axes:
        x = _product_along(x, d)
    return x if keepdims else x[tuple(0 if d in axes else slice(None) for d in range(x.ndim))]


def _product_along(x: Array, d: int) -> Array:
    from .rearrange import pad

    front = (slice(None),) * d
    while x.shape[d] != 1:
        if x.shape[d] % 2 or x.shape[d] == 0:
            x = pad(x, [(0, int(e == d)) for e in range(x.ndim)], constant_values=1)
            continue
        half = x.shape[d] // 2
        x = (x[(*front, slice(None, half))] * x[(*front, slice(half, None))]).eval()
    return x
