"""Roots, quotients and fits of polynomials. Coefficients are few, stand in a line from the highest power down, and are read on the
host; the points of a fit are not.

>>> import partita as pt
>>> pt.roots([1, -3, 2]).tolist()
[2.0, 1.0]
"""

from __future__ import annotations

from typing import Any

from .._api.create import asarray
from .._core.array import Array
from .._core.base import array_of, arrays_of
from .._core.dtypes import default
from .._core.reductions import matmul, sum
from .._numpy.creation import vander
from . import linalg
from .._core.rules import conj
from .._numpy.ufuncs.table import sqrt

__all__ = ["poly", "polydiv", "polyfit", "roots"]


def roots(p: Any) -> Array:
    """The roots of a polynomial, as eigenvalues of its companion matrix. Collective."""
    import numpy as np

    line = array_of("roots", p)
    return asarray(np.roots(line.numpy()), team=line.team)


def poly(seq_of_zeros: Any) -> Array:
    """The polynomial with these roots, or the characteristic polynomial of a matrix. Collective.

    Parameters
    ----------
    seq_of_zeros : Array
        A line of roots, or a square matrix.

    Returns
    -------
    Array
        The coefficients, of which the first is 1.

    Examples
    --------
    >>> import partita as pt
    >>> pt.poly([1, 2]).tolist()
    [1.0, -3.0, 2.0]
    """
    import numpy as np

    given = array_of("poly", seq_of_zeros)
    line = given if given.ndim < 2 else linalg.eigvals(given)
    return asarray(np.poly(line.numpy()), team=given.team)


def polydiv(u: Any, v: Any) -> tuple[Array, Array]:
    """The quotient and the remainder of two polynomials. Collective."""
    import numpy as np

    dividend, divisor = arrays_of("polydiv", (u, v))
    quotient, rest = np.polydiv(dividend.numpy(), divisor.numpy())
    return asarray(quotient, team=dividend.team), asarray(rest, team=dividend.team)


def polyfit(x: Any, y: Any, deg: int, rcond: float | None = None, full: bool = False, w: Any = None, cov: bool | str = False) -> Any:
    """The polynomial of degree ``deg`` with the least sum of squared differences from points; columns of ``y`` each have their own.

    The powers of ``x`` go through `linalg.lstsq`. Collective.

    Parameters
    ----------
    x : Array
        A line of places.
    y : Array
        The values there, a line or one line per column.
    deg : int
        The highest power.
    rcond : float, optional
        Singular values below this share of the largest count as zero; by default the number of points times epsilon.
    full : bool, default False
        Whether the sums of squared differences, the rank, the singular values and ``rcond`` follow.
    w : Array, optional
        Weights of the differences.
    cov : bool or 'unscaled', default False
        Whether the covariance of the coefficients follows, scaled by the differences or not.

    Returns
    -------
    Array or tuple
        The coefficients.

    Examples
    --------
    >>> import partita as pt
    >>> pt.polyfit([0.0, 1, 2, 3], [1.0, 3, 5, 7], 1).round(9).tolist()
    [2.0, 1.0]
    """
    import numpy as np

    count = int(deg) + 1
    if deg < 0:
        raise ValueError("expected deg >= 0")
    place, value = (z if z.dtype.kind in "fc" else z.astype(default.float) for z in arrays_of("polyfit", (x, y)))
    if place.ndim != 1 or place.size == 0 or value.ndim not in (1, 2) or value.shape[0] != place.size:
        text = f"a line of places and as many values, given shapes {place.shape} and {value.shape}"
        raise TypeError(f"polyfit: expected {text}; flatten them")
    rcond = place.size * float(np.finfo(place.dtype.name).eps) if rcond is None else rcond
    powers = vander(place, count)
    if w is not None:
        weights = array_of("polyfit", w, place)
        if weights.shape != place.shape:
            raise TypeError(f"polyfit: expected one weight for each of {place.size} points, given shape {weights.shape}")
        powers, value = powers * weights[:, None], value * (weights if value.ndim == 1 else weights[:, None])
    # Columns of length 1 are the best conditioned.
    scale = sqrt(sum(powers * conj(powers), 0))
    powers = powers / scale
    solved, rest, rank, singular = linalg.lstsq(powers, value, rcond)
    fit = solved / (scale if value.ndim == 1 else scale[:, None])
    if full:
        return fit, rest, rank, singular, rcond
    if rank != count:
        import warnings

        warnings.warn("Polyfit may be poorly conditioned", np.exceptions.RankWarning, stacklevel=2)
    if not cov:
        return fit
    base = linalg.inv(matmul(powers.T, powers)) / (scale[:, None] * scale)
    if cov != "unscaled":
        if place.size <= count:
            raise ValueError("the number of data points must exceed order to scale the covariance matrix")
        rest = rest / (place.size - count)
        rest = rest[0] if value.ndim == 1 else rest
    factor = 1 if cov == "unscaled" else rest
    return fit, base * factor if value.ndim == 1 else base[:, :, None] * factor
