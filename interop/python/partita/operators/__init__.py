"""Finite differences, convolutions and boundary conditions, written with nothing but the package's public surface:
slices, arithmetic, assignment, ``pad`` and ``roll``. Halos follow from the slices.

Let u be samples of a function at points that are h apart along each dimension, u_i = f(i h). ``spacing`` is that
distance, one number or one per dimension, in any unit of length; results are per that unit (or its square).

What lies beyond the ends is the ``boundary``:

=============  =====================  ==================  ===========================================
boundary       cells beyond a b c d   scipy.ndimage mode  meaning
=============  =====================  ==================  ===========================================
``None``       none                                       only cells with all neighbours are computed
a number v     v v | a b c d | v v    constant            known outside
"wrap"         c d | a b c d | a b    wrap                periodic
"edge"         a a | a b c d | d d    nearest             constant beyond the ends
"reflect"      c b | a b c d | c b    mirror              reflected at the last point
"symmetric"    b a | a b c d | d c    reflect             reflected behind the last point
=============  =====================  ==================  ===========================================

The names are those of ``numpy.pad`` and `pad`.

Results are those of the same NumPy program to the bit, on every distribution. Everything but the boundary conditions
only records. Along dimensions whose distribution is periodic, boundary "wrap" is read from halos; for other boundaries
but None a padded copy is made when the result is needed, in which every cell is where it was.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from .._api.create import zeros_like
from .._core.array import Array
from .._core.dtypes import float64
from .._core.views.index import one_axis
from .._core.rearrange import pad, roll

__all__ = [
    "convolve", "curl", "dirichlet", "divergence", "gradient", "laplacian", "mirror", "neumann", "periodic",
]  # fmt: skip

Boundary = str | int | float | None
Spacing = float | Sequence[float]
Axes = int | Sequence[int] | None

_PADS = ("wrap", "edge", "reflect", "symmetric")
_SIDES = {"low": (True, False), "high": (False, True), None: (True, True)}


def _axes(name: str, u: Array, axis: Axes) -> list[int]:
    if not isinstance(u, Array):
        raise TypeError(f"{name}: expected a partita.Array, given {type(u).__name__}; convert with partita.asarray")
    given = range(u.ndim) if axis is None else [axis] if isinstance(axis, int) else list(axis)
    axes = [one_axis(name, d, u.ndim) for d in given]
    if len(set(axes)) != len(axes):
        raise ValueError(f"{name}: expected different axes, given {axis}; name each once")
    return axes


def _spacings(name: str, spacing: Spacing, count: int) -> list[float]:
    spacings = [spacing] * count if isinstance(spacing, (int, float)) else list(spacing)
    if len(spacings) != count or any(h <= 0 for h in spacings):
        expected = f"a positive distance, or one for each of {count} axes"
        raise ValueError(f"{name}: expected as spacing {expected}, given {spacing}; name the axes with axis=")
    return spacings


def _at(d: int, *spans: slice | int) -> Iterator[tuple[slice | int, ...]]:
    """Keys that take a span of one dimension and all of those before and behind it."""
    for span in spans:
        yield (*(slice(None),) * d, span)


def _floats(u: Array) -> Array:
    return u if u.dtype.kind == "f" else u.astype(float64)


def _padded(name: str, u: Array, widths: Sequence[int], boundary: Boundary) -> Array:
    """With so many cells on both sides along each dimension."""
    if isinstance(boundary, (int, float)):
        return pad(u, [(n, n) for n in widths], constant_values=boundary)
    if not isinstance(boundary, str) or boundary not in _PADS:
        raise ValueError(f"{name}: expected a boundary of {', '.join(_PADS)}, a number or None, given {boundary!r}")
    return pad(u, [(n, n) for n in widths], boundary)


def _window(padded: Array, offsets: Sequence[int], widths: Sequence[int]) -> Array:
    """The cells so far from each, where there were ``widths`` more of them on both sides."""
    spans = zip(offsets, widths, padded.shape, strict=True)
    return padded[tuple(slice(n + by, extent - n + by) for by, n, extent in spans)]


def _neighbours(
    name: str, u: Array, widths: Sequence[int], offsets: Iterable[Sequence[int]], boundary: Boundary
) -> Iterator[Array]:
    """For each offset the array of the cells that are so far away, all of the result's shape."""
    if boundary == "wrap" and all(u.dist.periodic[d] for d, n in enumerate(widths) if n):
        for by in offsets:
            yield roll(u, [-n for n in by], list(range(u.ndim)))
        return
    held = u if boundary is None else _padded(name, u, widths, boundary)
    if any(extent < 2 * n + 1 for n, extent in zip(widths, held.shape, strict=True)):
        given = f"shape {u.shape}"
        raise ValueError(f"{name}: expected at least {[2 * n + 1 for n in widths]} cells, given {given}; set boundary=")
    for by in offsets:
        yield _window(held, by, widths)


def laplacian(u: Array, spacing: Spacing = 1.0, *, axis: Axes = None, boundary: Boundary = None) -> Array:
    """Second derivatives summed over ``axis`` (all dimensions if None), with an error of order h^2.

    sum over d of (u[i + e_d] - 2 u[i] + u[i - e_d]) / h_d^2

    Parameters
    ----------
    u : Array
        Integers are taken as float64.
    spacing : float or sequence of float
        Distance of the points, or one for each of ``axis``; the result is per its square.
    boundary : optional
        See the module. None: the result has two cells fewer along each of ``axis``.
    """
    axes = _axes("laplacian", u, axis)
    spacings = _spacings("laplacian", spacing, len(axes))
    u = _floats(u)
    widths = [int(d in axes) for d in range(u.ndim)]
    unit = [tuple(int(e == d) for e in range(u.ndim)) for d in axes]
    offsets = [(0,) * u.ndim, *(by for e in unit for by in (e, tuple(-n for n in e)))]
    centre, *around = _neighbours("laplacian", u, widths, offsets, boundary)
    seconds = ((around[2 * n] - 2 * centre + around[2 * n + 1]) / (h * h) for n, h in enumerate(spacings))
    return functools.reduce(operator.add, seconds) if axes else u * 0


def _derivative(name: str, u: Array, d: int, h: float, edge_order: int, boundary: Boundary) -> Array:
    """The first derivative along one dimension."""
    u = _floats(u)
    if boundary is not None:
        widths = [int(e == d) for e in range(u.ndim)]
        up, down = _neighbours(name, u, widths, [widths, [-n for n in widths]], boundary)
        return (up - down) / (2 * h)
    if u.shape[d] < edge_order + 1:
        given = f"{u.shape[d]} along axis {d}"
        raise ValueError(f"{name}: expected at least {edge_order + 1} cells, given {given}; set boundary=")
    out = zeros_like(u)
    inner, above, below = _at(d, slice(1, -1), slice(2, None), slice(None, -2))
    first, second, last, before = _at(d, 0, 1, -1, -2)
    if u.shape[d] > 2:
        out[inner] = (u[above] - u[below]) / (2.0 * h)
    if edge_order == 1:
        out[first], out[last] = (u[second] - u[first]) / h, (u[last] - u[before]) / h
    else:
        third, further = _at(d, 2, -3)
        out[first] = -1.5 / h * u[first] + 2.0 / h * u[second] + -0.5 / h * u[third]
        out[last] = 0.5 / h * u[further] + -2.0 / h * u[before] + 1.5 / h * u[last]
    return out


def gradient(
    u: Array, spacing: Spacing = 1.0, *, axis: Axes = None, edge_order: int = 1, boundary: Boundary = None
) -> tuple[Array, ...]:
    """First derivatives along ``axis`` (all dimensions if None), one array of the shape of ``u`` for each.

    (u[i + e_d] - u[i - e_d]) / (2 h_d), with an error of order h^2

    With boundary None the ends are as in ``numpy.gradient``: (u[1] - u[0]) / h, of order h (``edge_order`` 1), or
    (-3 u[0] + 4 u[1] - u[2]) / (2 h), of order h^2 (``edge_order`` 2); the other end likewise.
    """
    axes = _axes("gradient", u, axis)
    if edge_order not in (1, 2):
        raise ValueError(f"gradient: expected an edge_order of 1 or 2, given {edge_order}")
    spacings = _spacings("gradient", spacing, len(axes))
    return tuple(_derivative("gradient", u, d, h, edge_order, boundary) for d, h in zip(axes, spacings, strict=True))


def _components(name: str, field: Sequence[Array], ranks: Sequence[int]) -> list[Array]:
    parts = list(field)
    if len(parts) not in ranks or any(p.shape != parts[0].shape or p.ndim != len(parts) for p in parts):
        shapes = [p.shape for p in parts]
        counts = " or ".join(map(str, ranks))
        raise ValueError(f"{name}: expected {counts} arrays of one shape of as many dimensions, given {shapes}")
    return parts


def divergence(
    field: Sequence[Array], spacing: Spacing = 1.0, *, edge_order: int = 1, boundary: Boundary = None
) -> Array:
    """sum over d of the derivative of ``field[d]`` along dimension d, which is computed as in `gradient`.

    ``field`` has one array for each of its dimensions, all of one shape, which is the result's.
    """
    parts = _components("divergence", field, (1, 2, 3, 4, 5, 6, 7, 8))
    spacings = _spacings("divergence", spacing, len(parts))
    along = enumerate(zip(parts, spacings, strict=True))
    return functools.reduce(operator.add, (_derivative("divergence", part, d, h, edge_order, boundary) for d, (part, h) in along))


def curl(
    field: Sequence[Array], spacing: Spacing = 1.0, *, edge_order: int = 1, boundary: Boundary = None
) -> Array | tuple[Array, Array, Array]:
    """The curl of a field of two components, one array, or of three, three arrays; derivatives are those of `gradient`.

    Of two: d field[1] / dx_0 - d field[0] / dx_1. Of three: component c is d field[c + 2] / dx_{c + 1} -
    d field[c + 1] / dx_{c + 2}, counted modulo 3.
    """
    parts = _components("curl", field, (2, 3))
    spacings = _spacings("curl", spacing, len(parts))

    def along(part: int, d: int) -> Array:
        return _derivative("curl", parts[part], d, spacings[d], edge_order, boundary)

    if len(parts) == 2:
        return along(1, 0) - along(0, 1)
    first, second, third = (along((c + 2) % 3, (c + 1) % 3) - along((c + 1) % 3, (c + 2) % 3) for c in range(3))
    return first, second, third


def convolve(u: Array, kernel: Any, *, boundary: Boundary = None) -> Array:
    """The convolution with a small constant kernel of as many dimensions: sum over j of kernel[j] u[i - j].

    Parameters
    ----------
    kernel : array_like of numbers
        On the host. Each of its numbers becomes a constant of the generated kernel, zeros vanish, and the terms are
        added in the order of its elements.
    boundary : optional
        None gives what ``scipy.signal.convolve(mode="valid")`` gives: only complete sums, so that each extent
        shrinks by the kernel's less one. Others give the shape of ``u``, with the kernel centred, as
        ``scipy.ndimage.convolve`` does; the kernel's extents must then be odd.
    """
    import numpy as np

    weights = np.asarray(kernel)
    if weights.ndim != len(_axes("convolve", u, None)) or weights.dtype.kind not in "buif" or weights.size == 0:
        given = f"{weights.dtype} of shape {weights.shape}"
        raise ValueError(f"convolve: expected as kernel numbers of {u.ndim} dimensions, given {given}; reshape it")
    if boundary is not None and any(extent % 2 == 0 for extent in weights.shape):
        raise ValueError(f"convolve: expected odd extents of a centred kernel, given {weights.shape}; pad it with zeros")
    # Complete sums begin where the kernel's last element meets the array's first.
    places = [tuple(map(int, at)) for at in np.ndindex(*weights.shape) if weights[at] != 0]
    numbers: list[float] = [weights[at].item() for at in places]
    if boundary is None:
        terms = _complete(u, weights.shape, places)
    else:
        widths = [extent // 2 for extent in weights.shape]
        offsets = [[n - k for n, k in zip(widths, at, strict=True)] for at in places]
        terms = _neighbours("convolve", u, widths, offsets, boundary)
    products = (number * term for number, term in zip(numbers, terms, strict=True))
    if (first := next(products, None)) is not None:
        return sum(products, first)
    # Of zeros alone.
    return next(_complete(u, weights.shape, [(0,) * u.ndim])) * 0 if boundary is None else u * 0


def _complete(u: Array, extents: Sequence[int], places: Sequence[Sequence[int]]) -> Iterator[Array]:
    """For each place in the kernel what it is multiplied with, where the kernel lies within the array."""
    if any(n < extent for n, extent in zip(u.shape, extents, strict=True)):
        raise ValueError(f"convolve: expected at least {tuple(extents)} cells, given shape {u.shape}; set boundary=")
    for at in places:
        starts = [extent - 1 - k for extent, k in zip(extents, at, strict=True)]
        spans = zip(starts, u.shape, extents, strict=True)
        yield u[tuple(slice(start, start + n - extent + 1) for start, n, extent in spans)]


# Boundary conditions: the outermost cells of an array are assigned to, in place.


def _border(name: str, u: Array, axis: Axes, side: str | None, least: int) -> Iterator[tuple[int, bool, bool]]:
    """Each axis, and which of its ends are meant."""
    if side not in _SIDES:
        raise ValueError(f"{name}: expected as side 'low', 'high' or None for both, given {side!r}")
    for d in _axes(name, u, axis):
        if u.shape[d] < least:
            raise ValueError(f"{name}: expected at least {least} cells along axis {d}, given {u.shape[d]}")
        yield d, *_SIDES[side]


def dirichlet(u: Array, value: Any = 0, *, axis: Axes = None, side: str | None = None, width: int = 1) -> None:
    """Known values: the outermost ``width`` cells along ``axis`` (all if None) become ``value``, a number or an array
    that broadcasts to them."""
    for d, low, high in _border("dirichlet", u, axis, side, width):
        for is_meant, key in zip((low, high), _at(d, slice(0, width), slice(u.shape[d] - width, None)), strict=True):
            if is_meant and width:
                u[key] = value


def neumann(u: Array, slope: Any = 0, spacing: Spacing = 1.0, *, axis: Axes = None, side: str | None = None) -> None:
    """Known outward derivatives: u[0] = u[1] + h slope, and likewise at the other end.

    The difference is of order h at the outermost point, of order h^2 half a cell inside of it, where cell-centred
    schemes have their wall. ``slope`` is per unit of ``spacing``: a number, or an array that broadcasts to the
    outermost layer without its axis.
    """
    axes = _axes("neumann", u, axis)
    spacings = _spacings("neumann", spacing, len(axes))
    for (d, low, high), h in zip(_border("neumann", u, axis, side, 2), spacings, strict=True):
        first, second, last, before = _at(d, 0, 1, -1, -2)
        if low:
            u[first] = u[second] + slope * h
        if high:
            u[last] = u[before] + slope * h


def periodic(u: Array, *, axis: Axes = None, width: int = 1) -> None:
    """The ends meet: the outermost ``width`` cells become what lies inside of the other end's.

    u[:w] = u[-2 w : -w] and u[-w:] = u[w : 2 w], one axis after the other, which also fills the corners: the array is
    then ``numpy.pad(inner, w, "wrap")``. Arrays on periodic distributions need no such cells: ``roll`` wraps.
    """
    for d, _, _ in _border("periodic", u, axis, None, 3 * width):
        n = u.shape[d]
        low, inner_high, high, inner_low = _at(
            d, slice(0, width), slice(n - 2 * width, n - width), slice(n - width, n), slice(width, 2 * width)
        )
        if width:
            u[low] = u[inner_high]
            u[high] = u[inner_low]


def mirror(u: Array, *, axis: Axes = None, side: str | None = None, width: int = 1, about: str = "point") -> None:
    """No flow through the ends: the outermost ``width`` cells become the inner ones in reverse order.

    About "point": reflected at the first inner cell w, u[w - k] = u[w + k], as ``numpy.pad(inner, w, "reflect")``; the
    derivative at that point is 0 to order h^2. About "face": reflected between the cells w - 1 and w, u[w - k] =
    u[w + k - 1], as ``numpy.pad(inner, w, "symmetric")``.
    """
    if about not in ("point", "face"):
        raise ValueError(f"mirror: expected about='point' or 'face', given {about!r}")
    skipped = int(about == "point")
    for d, low, high in _border("mirror", u, axis, side, 3 * width + skipped):
        n, first = u.shape[d], width + skipped
        to_low, from_low, to_high, from_high = _at(
            d,
            slice(0, width),
            slice(first + width - 1, first - 1, -1),
            slice(n - width, n),
            slice(n - first - 1, n - first - width - 1, -1),
        )
        if low and width:
            u[to_low] = u[from_low]
        if high and width:
            u[to_high] = u[from_high]
