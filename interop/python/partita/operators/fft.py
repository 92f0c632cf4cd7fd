"""Discrete Fourier transforms, by the names and rules of ``numpy.fft``.

Transforms run on the array's devices and have the same bits on every number of parts. A line that is transformed lies on
one part; where the transformed axis is divided, elements are redistributed before and after, and only arrays with fewer
lines than parts divide a line. Lengths whose prime factors are at most 11 take passes of these factors (Cooley and Tukey,
Math. Comp. 19, 1965; Stockham's order); other lengths are a convolution (Bluestein, IEEE Trans. Audio Electroacoust. 18,
1970), three to four times the work. All functions record.

>>> import partita as pt
>>> x = pt.cos(2 * pt.pi * 3 * pt.arange(16) / 16)
>>> abs(pt.fft.rfft(x)).round(12).tolist()
[0.0, 0.0, 0.0, 8.0, 0.0, 0.0, 0.0, 0.0, 0.0]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal

from .. import _native
from .._api.create import arange, zeros
from .._core.array import Array
from .._core.base import array_of
from .._core.dtypes import as_dtype, complex64, complex128, float16, float32
from .._core.rearrange import concatenate, roll
from .._core.views.index import one_axis
from .._core.views.indexing import finished
from .._core.watch import in_step, is_watched, watch, watched
from .._core.rules import conj

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift", "ihfft", "irfft", "irfft2",
    "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip

Norm = Literal["backward", "ortho", "forward"] | None
_OPPOSITE: dict[str | None, Norm] = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def _scale(name: str, norm: Norm, cells: int, inverse: bool) -> float:
    """The factor of a transform of so many cells."""
    if norm not in _OPPOSITE:
        raise ValueError(f"{name}: expected norm 'backward', 'ortho' or 'forward', given {norm!r}")
    divides = {None: inverse, "backward": inverse, "forward": not inverse}
    return 1 / math.sqrt(cells) if norm == "ortho" else 1 / cells if divides[norm] else 1.0


def _complex(x: Array) -> Array:
    narrow = x.dtype in (float16, float32, complex64)
    return x.astype(complex64 if narrow else complex128, copy=False)


def _resized(name: str, x: Array, n: int, axis: int) -> Array:
    """The first `n` elements along an axis, with zeros behind those that are there."""
    if n < 1:
        raise ValueError(f"{name}: expected at least one element along the axis, given {n}")
    if n <= x.shape[axis]:
        return x[(*[slice(None)] * axis, slice(n))] if n < x.shape[axis] else x
    more = (*x.shape[:axis], n - x.shape[axis], *x.shape[axis + 1 :])
    return concatenate([x, zeros(more, dtype=x.dtype, team=x.team)], axis)


def _axes(name: str, x: Array, s: Sequence[int | None] | None, axes: Sequence[int] | None) -> list[tuple[int, int]]:
    """Axes with the lengths to be transformed, in order."""
    if axes is None:
        axes = range(x.ndim) if s is None else range(x.ndim - len(s), x.ndim)
    chosen = [one_axis(name, axis, x.ndim) for axis in axes]
    if s is not None and len(s) != len(chosen):
        raise ValueError(f"{name}: expected as many lengths in s as axes, given {len(s)} and {len(chosen)}")
    lengths = [None] * len(chosen) if s is None else list(s)
    return [(axis, x.shape[axis] if n is None or n == -1 else int(n)) for axis, n in zip(chosen, lengths, strict=True)]


def _transformed(name: str, x: Array, axes: list[tuple[int, int]], norm: Norm, inverse: bool) -> Array:
    x = _complex(x)
    for axis, n in axes:
        x = _resized(name, x, n, axis)
    scale, word = _scale(name, norm, math.prod(n for _, n in axes), inverse), "ifft" if inverse else "fft"
    return _checked(word, x, tuple({axis for axis, _ in axes}), lambda: _passes(x, [axis for axis, _ in axes], scale, inverse))


def _checked(word: str, x: Array, axes: tuple[int, ...], transform: Callable[[], Array]) -> Array:
    """A transform of `x` along axes, watched for conditions that raise."""
    if not in_step():
        # Nothing is fused with what is transformed, and short chains are found again in the cache.
        x.eval()
    if watch.count and is_watched():
        return watched(word, (x,), transform, lines={"axis": axes, "keepdims": True})  # type: ignore[no-any-return]
    return transform()


def _passes(x: Array, axes: list[int], scale: float, inverse: bool) -> Array:
    # An axis that is named twice is transformed twice.
    while axes:
        once = list(dict.fromkeys(axes))
        x = Array(x._native.fourier(once, inverse, scale))
        axes = [axis for at, axis in enumerate(axes) if axis in axes[:at]]
        scale = 1.0
    return x


def _given(name: str, a: Any) -> Array:
    x = array_of(name, a)
    if x.ndim == 0:
        raise ValueError(f"{name}: expected at least one dimension, given a number")
    return x  # type: ignore[no-any-return]


def _one(name: str, x: Array, n: int | None, axis: int) -> tuple[int, int]:
    """An axis counted from 0, and the length to be transformed."""
    axis = one_axis(name, axis, x.ndim)
    return axis, x.shape[axis] if n is None or n == -1 else int(n)


def _line(name: str, a: Any, n: int | None, axis: int, norm: Norm, out: Any, inverse: bool) -> Array:
    x = _given(name, a)
    return finished(name, _transformed(name, x, [_one(name, x, n, axis)], norm, inverse), out)


def fft(a: Any, n: int | None = None, axis: int = -1, norm: Norm = None, out: Any = None) -> Array:
    """The transform along an axis: ``X[k] = sum over j of a[j] exp(-2 pi i j k / n)``.

    Recorded; computing it is collective.

    Parameters
    ----------
    n : int, optional
        Length of the transform: elements beyond it are left out, missing ones are zero.

    Returns
    -------
    Array
        complex64 of float16, float32 and complex64, otherwise complex128; on the distribution of ``a``.

    Examples
    --------
    >>> import partita as pt
    >>> pt.fft.fft([1.0, 0, 0, 0]).tolist()
    [(1+0j), (1+0j), (1+0j), (1+0j)]
    """
    return _line("fft.fft", a, n, axis, norm, out, False)


def ifft(a: Any, n: int | None = None, axis: int = -1, norm: Norm = None, out: Any = None) -> Array:
    """The inverse of `fft`."""
    return _line("fft.ifft", a, n, axis, norm, out, True)


def fftn(a: Any, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: Norm = None, out: Any = None) -> Array:
    """`fft` along several axes, by default all, to the lengths ``s``."""
    x = _given("fft.fftn", a)
    return finished("fft.fftn", _transformed("fft.fftn", x, _axes("fft.fftn", x, s, axes), norm, False), out)


def ifftn(a: Any, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: Norm = None, out: Any = None) -> Array:
    """The inverse of `fftn`."""
    x = _given("fft.ifftn", a)
    return finished("fft.ifftn", _transformed("fft.ifftn", x, _axes("fft.ifftn", x, s, axes), norm, True), out)


def rfft(a: Any, n: int | None = None, axis: int = -1, norm: Norm = None, out: Any = None) -> Array:
    """The first ``n // 2 + 1`` elements of `fft` of real numbers, which determine the others."""
    x = _reals("fft.rfft", a)
    axis = one_axis("fft.rfft", axis, x.ndim)
    x = _resized("fft.rfft", x, x.shape[axis] if n is None else n, axis)
    scale, word = _scale("fft.rfft", norm, x.shape[axis], False), f"rfft_n_{'odd' if x.shape[axis] % 2 else 'even'}"
    return finished("fft.rfft", _checked(word, x, (axis,), lambda: Array(x._native.fourier_of_reals(axis, scale))), out)


def _reals(name: str, a: Any) -> Array:
    x = _given(name, a)
    if x.dtype in (complex64, complex128):
        raise TypeError(f"{name}: expected real numbers, given {x.dtype}; use fft")
    return x


def irfft(a: Any, n: int | None = None, axis: int = -1, norm: Norm = None, out: Any = None) -> Array:
    """The inverse of `rfft`: ``n`` real numbers, by default ``2 * (m - 1)`` of ``m`` elements."""
    return _mirrored("fft.irfft", a, n, axis, norm, out)


def _mirrored(name: str, a: Any, n: int | None, axis: int, norm: Norm, out: Any) -> Array:
    """The real inverse transform of the first half of a spectrum."""
    x = _complex(_given(name, a))
    axis = one_axis(name, axis, x.ndim)
    n = 2 * (x.shape[axis] - 1) if n is None else n
    if n < 1:
        raise ValueError(f"{name}: expected at least one element along the axis, given {n}")
    half, scale = _resized(name, x, n // 2 + 1, axis), _scale(name, norm, n, True)
    return finished(name, _checked("irfft", half, (axis,), lambda: Array(half._native.fourier_to_reals(axis, n, scale))), out)


def rfftn(a: Any, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: Norm = None, out: Any = None) -> Array:
    """`rfft` along the last of the axes, and `fft` along the others."""
    x = _reals("fft.rfftn", a)
    *others, (last, n) = _axes("fft.rfftn", x, s, axes)
    x = rfft(x, n, last, norm)
    return finished("fft.rfftn", _transformed("fft.rfftn", x, others, norm, False), out)


def irfftn(a: Any, s: Sequence[int] | None = None, axes: Sequence[int] | None = None, norm: Norm = None, out: Any = None) -> Array:
    """The inverse of `rfftn`; the last length is that of the result."""
    x = _given("fft.irfftn", a)
    *others, (last, n) = _axes("fft.irfftn", x, s, axes)
    x = _transformed("fft.irfftn", x, others, norm, True)
    return _mirrored("fft.irfftn", x, None if s is None or s[-1] in (None, -1) else n, last, norm, out)


def fft2(a: Any, s: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1), norm: Norm = None, out: Any = None) -> Array:
    """`fftn` along two axes."""
    return fftn(a, s, axes, norm, out)


def ifft2(a: Any, s: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1), norm: Norm = None, out: Any = None) -> Array:
    """`ifftn` along two axes."""
    return ifftn(a, s, axes, norm, out)


def rfft2(a: Any, s: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1), norm: Norm = None, out: Any = None) -> Array:
    """`rfftn` along two axes."""
    return rfftn(a, s, axes, norm, out)


def irfft2(a: Any, s: Sequence[int] | None = None, axes: Sequence[int] = (-2, -1), norm: Norm = None, out: Any = None) -> Array:
    """`irfftn` along two axes."""
    return irfftn(a, s, axes, norm, out)


def hfft(a: Any, n: int | None = None, axis: int = -1, norm: Norm = None, out: Any = None) -> Array:
    """The transform of a signal of which the half is given, because the other is its conjugate: real numbers."""
    _scale("fft.hfft", norm, 1, False)
    return _mirrored("fft.hfft", conj(_given("fft.hfft", a)), n, axis, _OPPOSITE[norm], out)


def ihfft(a: Any, n: int | None = None, axis: int = -1, norm: Norm = None, out: Any = None) -> Array:
    """The inverse of `hfft`."""
    _scale("fft.ihfft", norm, 1, False)
    return finished("fft.ihfft", conj(rfft(a, n, axis, _OPPOSITE[norm])), out)


def fftfreq(n: int, d: float = 1.0, *, dtype: Any = None, device: _native.Team | None = None) -> Array:
    """The frequencies of `fft`'s ``n`` elements of samples ``d`` apart, in cycles per unit of ``d``."""
    return _frequencies((arange(n, team=device) + n // 2) % n - n // 2, n, d, dtype)


def rfftfreq(n: int, d: float = 1.0, *, dtype: Any = None, device: _native.Team | None = None) -> Array:
    """The frequencies of `rfft`'s elements."""
    return _frequencies(arange(n // 2 + 1, team=device), n, d, dtype)


def _frequencies(numbers: Array, n: int, d: float, dtype: Any) -> Array:
    frequencies = numbers * (1.0 / (n * d))
    return frequencies if dtype is None else frequencies.astype(as_dtype(dtype), copy=False)


def _shifted(name: str, x: Any, axes: int | Sequence[int] | None, by: Callable[[int], int]) -> Array:
    x = array_of(name, x)
    chosen = range(x.ndim) if axes is None else [axes] if isinstance(axes, int) else axes
    chosen = [one_axis(name, axis, x.ndim) for axis in chosen]
    rolled: Array = roll(x, [by(x.shape[axis]) for axis in chosen], chosen)
    return rolled


def fftshift(x: Any, axes: int | Sequence[int] | None = None) -> Array:
    """The element of frequency zero moves to the middle."""
    return _shifted("fft.fftshift", x, axes, lambda n: n // 2)


def ifftshift(x: Any, axes: int | Sequence[int] | None = None) -> Array:
    """The inverse of `fftshift`."""
    return _shifted("fft.ifftshift", x, axes, lambda n: -(n // 2))
