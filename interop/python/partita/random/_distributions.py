"""Distributions: what is drawn for one element, out of uniform, normal and gamma distributed numbers.

A distribution is a function of a `Draw` and parameters; `DISTRIBUTIONS` has all of them, and `_generator` makes methods of
them. All are exact up to the rounding of their arithmetic. Most invert their distribution function, or transform several
uniform numbers; three reject: gamma (and what is made of it), counts of a mean of 10 or more, and angles of von Mises. These
go on until every element has accepted an attempt, which computes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from .._core.array import Array
from .._core.rules import where
from .._core.watch import in_step
from ._stream import Draw, Parameter
from .._numpy.ufuncs.table import abs, arccos, ceil, cos, exp, expm1, floor, log, log1p, maximum, minimum, sign, sqrt, tan

#: Conditions of parameters: in words, and as a test of them. NaN passes none.
RULES: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "any": ("not NaN", lambda x: x == x),
    "least": ("at least 0", lambda x: x >= 0),
    "above": ("above 0", lambda x: x > 0),
    "share": ("from 0 to 1", lambda x: (x >= 0) & (x <= 1)),
    "chance": ("above 0 and at most 1", lambda x: (x > 0) & (x <= 1)),
    "count": ("a count of at least 0", lambda x: (x >= 0) & (x == x // 1)),
}


_Formula = Callable[..., Any]


class Distribution(NamedTuple):
    """A row of the table."""

    formula: _Formula
    #: The rule of each parameter, by name.
    rules: dict[str, str]
    #: True if the results are int64; they are floats otherwise.
    counts: bool


DISTRIBUTIONS: dict[str, Distribution] = {}


def _row(counts: bool = False, **rules: str) -> Callable[[_Formula], _Formula]:
    def enter(formula: _Formula) -> Callable[..., Array]:
        DISTRIBUTIONS[formula.__name__] = Distribution(formula, rules, counts)
        return formula

    return enter


# Transformed uniform and normal numbers.


@_row(low="any", high="any")
def uniform(draw: Draw, low: Parameter = 0.0, high: Parameter = 1.0) -> Any:
    """Floats from ``low`` up to ``high``."""
    if not isinstance(high - low, Array) and not math.isfinite(high - low):
        raise OverflowError(f"uniform: expected a finite range, given {low} to {high}; scale the numbers afterwards")
    return draw.uniform() * (high - low) + low


@_row(loc="any", scale="least")
def normal(draw: Draw, loc: Parameter = 0.0, scale: Parameter = 1.0) -> Any:
    """Normally distributed floats of mean ``loc`` and standard deviation ``scale``."""
    return draw.normal() * scale + loc


@_row()
def standard_normal(draw: Draw) -> Any:
    """Normally distributed floats of mean 0 and standard deviation 1."""
    return draw.normal()


@_row(mean="any", sigma="least")
def lognormal(draw: Draw, mean: Parameter = 0.0, sigma: Parameter = 1.0) -> Any:
    """Floats whose logarithms are normally distributed, of mean ``mean`` and standard deviation ``sigma``."""
    return exp(normal(draw, mean, sigma))


@_row(scale="least")
def exponential(draw: Draw, scale: Parameter = 1.0) -> Any:
    """Exponentially distributed floats of mean ``scale``."""
    return draw.exponential() * scale


@_row()
def standard_exponential(draw: Draw) -> Any:
    """Exponentially distributed floats of mean 1."""
    return draw.exponential()


@_row(loc="any", scale="least")
def laplace(draw: Draw, loc: Parameter = 0.0, scale: Parameter = 1.0) -> Any:
    """Floats of Laplace's distribution: exponential to both sides of ``loc``."""
    u = draw.inner() - 0.5
    return loc - sign(u) * log1p(abs(u) * -2.0) * scale


@_row(loc="any", scale="least")
def logistic(draw: Draw, loc: Parameter = 0.0, scale: Parameter = 1.0) -> Any:
    """Floats of the logistic distribution about ``loc``."""
    u = draw.inner()
    return log(u / (1.0 - u)) * scale + loc


@_row(loc="any", scale="least")
def gumbel(draw: Draw, loc: Parameter = 0.0, scale: Parameter = 1.0) -> Any:
    """Floats of Gumbel's distribution of largest values, whose mode is ``loc``."""
    return loc - log(-log(draw.inner())) * scale


@_row(scale="least")
def rayleigh(draw: Draw, scale: Parameter = 1.0) -> Any:
    """Floats of Rayleigh's distribution, whose mode is ``scale``."""
    return sqrt(draw.exponential() * 2.0) * scale


@_row(a="above")
def weibull(draw: Draw, a: Parameter) -> Any:
    """Floats of Weibull's distribution of shape ``a`` and scale 1."""
    return draw.exponential() ** (1.0 / a)


@_row(a="above")
def pareto(draw: Draw, a: Parameter) -> Any:
    """Floats of the Pareto distribution of shape ``a``, from 0 on (Lomax); add 1 for the classical one."""
    return expm1(draw.exponential() / a)


@_row(a="above")
def power(draw: Draw, a: Parameter) -> Any:
    """Floats from 0 to 1 of density ``a x^(a-1)``."""
    return (1.0 - draw.uniform()) ** (1.0 / a)


@_row()
def standard_cauchy(draw: Draw) -> Any:
    """Floats of Cauchy's distribution: quotients of two normally distributed numbers."""
    return tan((draw.inner() - 0.5) * math.pi)


@_row(left="any", mode="any", right="any")
def triangular(draw: Draw, left: Parameter, mode: Parameter, right: Parameter) -> Any:
    """Floats from ``left`` to ``right`` whose density is a triangle with its top at ``mode``."""
    ordered = (left <= mode) & (mode <= right) & (left < right)
    if not (in_step() or ordered.all() if isinstance(ordered, Array) else ordered):
        raise ValueError(f"triangular: expected left <= mode <= right and left < right, given {left}, {mode}, {right}")
    u, whole = draw.uniform(), right - left
    rising = left + sqrt(u * (whole * (mode - left)))
    return where(u * whole <= mode - left, rising, right - sqrt((1.0 - u) * (whole * (right - mode))))


@_row(mean="above", scale="above")
def wald(draw: Draw, mean: Parameter, scale: Parameter) -> Any:
    """Floats of the inverse Gaussian distribution of mean ``mean`` and shape ``scale``."""
    n = draw.normal()
    q = n * n * (mean / scale * 0.5)
    # The smaller of two roots whose product is mean^2.
    x = mean / (1.0 + q + sqrt(q * (q + 2.0)))
    return where(draw.uniform() * (x + mean) <= mean, x, mean * mean / x)


# Made of gamma distributed numbers.


@_row(shape="above", scale="least")
def gamma(draw: Draw, shape: Parameter, scale: Parameter = 1.0) -> Any:
    """Floats of the gamma distribution of that ``shape`` and ``scale``. Computes."""
    x, boost = draw.gamma(shape)
    return x * exp(boost) * scale


@_row(shape="above")
def standard_gamma(draw: Draw, shape: Parameter) -> Any:
    """Floats of the gamma distribution of that ``shape`` and of scale 1. Computes."""
    return gamma(draw, shape)


@_row(df="above")
def chisquare(draw: Draw, df: Parameter) -> Any:
    """Sums of squares of ``df`` normally distributed numbers. Computes."""
    return gamma(draw, df * 0.5, 2.0)


@_row(dfnum="above", dfden="above")
def f(draw: Draw, dfnum: Parameter, dfden: Parameter) -> Any:
    """Floats of Fisher's distribution: quotients of mean squares of so many normally distributed numbers. Computes."""
    return (chisquare(draw, dfnum) / dfnum) / (chisquare(draw, dfden) / dfden)


@_row(df="above")
def standard_t(draw: Draw, df: Parameter) -> Any:
    """Floats of Student's distribution of ``df`` degrees of freedom. Computes."""
    return draw.normal() / sqrt(chisquare(draw, df) / df)


@_row(a="above", b="above")
def beta(draw: Draw, a: Parameter, b: Parameter) -> Any:
    """Floats from 0 to 1 of density ``x^(a-1) (1-x)^(b-1)``, up to a factor. Computes."""
    # By logarithms, because both may be too small for a float, and their quotient is not.
    (x, more), (y, also) = draw.gamma(a), draw.gamma(b)
    return 1.0 / (1.0 + exp((log(y) + also) - (log(x) + more)))


@_row(mu="any", kappa="least")
def vonmises(draw: Draw, mu: Parameter, kappa: Parameter) -> Any:
    """Angles from -pi to pi about ``mu``, the closer the larger ``kappa``, by rejection (Best and Fisher, 1979). Computes."""
    k = maximum(draw.constant(kappa), 1e-8)
    root = 1.0 + sqrt(1.0 + 4.0 * k * k)
    rho = (root - sqrt(2.0 * root)) / (2.0 * k)
    s = where(k < 1e-5, 1.0 / k + k, (1.0 + rho * rho) / (2.0 * rho))

    def attempt(one: Draw) -> tuple[Array, Array]:
        z, u = cos(one.inner() * math.pi), one.inner()
        w = (1.0 + s * z) / (s + z)
        y = k * (s - w)
        return w, (y * (2.0 - y) >= u) | (log(y / u) + 1.0 >= y)

    turn = arccos(minimum(maximum(draw.accepted(attempt), -1.0), 1.0))
    turn = where(draw.uniform() < 0.5, -turn, turn) + mu
    return (turn + math.pi) % (2 * math.pi) - math.pi


# Counts.


@_row(counts=True, p="chance")
def geometric(draw: Draw, p: Parameter) -> Any:
    """Numbers of trials up to the first success, which has the probability ``p``; at least 1."""
    return maximum(ceil(draw.exponential() / -log1p(-draw.constant(p))), 1.0)


@_row(counts=True, lam="least")
def poisson(draw: Draw, lam: Parameter = 1.0) -> Any:
    """Poisson distributed counts of mean ``lam``. Computes where one is 10 or more."""
    mean = draw.constant(lam)
    small, large = minimum(mean, 10.0), maximum(mean, 10.0)
    few = _sequential(draw, exp(-small), lambda k: small / k)
    if not draw.has(lambda mean: mean >= 10.0, lam):
        return few
    b = sqrt(large) * 2.53 + 0.931
    a = b * 0.02483 - 0.059

    def weight(k: Array) -> Array:
        return k * log(large) - large - _log_factorial(k)

    shape = _Hat(a, b, large + 0.43, 1.1239 + 1.1328 / (b - 3.4), 0.9277 - 3.6224 / (b - 2.0))
    return where(mean < 10.0, few, _transformed(draw, shape, weight, float("inf")))


@_row(counts=True, n="count", p="share")
def binomial(draw: Draw, n: Parameter, p: Parameter) -> Any:
    """Numbers of successes of probability ``p`` in ``n`` trials. Computes where the mean is 10 or more."""
    is_large = draw.has(lambda n, p: (n * p >= 10.0) & (n * (1.0 - p) >= 10.0), n, p)
    n, p = draw.constant(n), draw.constant(p)
    is_likely = p > 0.5
    q = where(is_likely, 1.0 - p, p)
    is_small = n * q < 10.0
    few = _sequential(draw, exp(n * log1p(-where(is_small, q, 0.0))), lambda k: (n - k + 1.0) / k * (q / (1.0 - q)))
    if is_large:
        # Where the mean is small another is taken, whose results are not.
        n_large, q_large = where(is_small, 20.0, n), where(is_small, 0.5, q)
        deviation = sqrt(n_large * q_large * (1.0 - q_large))
        b = deviation * 2.53 + 1.15
        a = b * 0.0248 - 0.0873 + q_large * 0.01
        odds, mode = log(q_large / (1.0 - q_large)), floor((n_large + 1.0) * q_large)
        most = _log_factorial(mode) + _log_factorial(n_large - mode)

        def weight(k: Array) -> Array:
            return most - _log_factorial(k) - _log_factorial(n_large - k) + (k - mode) * odds

        shape = _Hat(a, b, n_large * q_large + 0.5, deviation * (5.1 / b + 2.83), 0.92 - 4.2 / b)
        few = where(is_small, few, _transformed(draw, shape, weight, n_large))
    return where(is_likely, n - few, few)


@_row(counts=True, n="above", p="chance")
def negative_binomial(draw: Draw, n: Parameter, p: Parameter) -> Any:
    """Numbers of failures before the ``n``-th success, which has the probability ``p``. Computes."""
    return poisson(draw, gamma(draw, n, (1.0 - p) / p))


#: Counts of a mean below 10 are below this, if the uniform number has at most 53 bits.
_MOST = 50


def _sequential(draw: Draw, chance: Array, ratio: Callable[[float], Array]) -> Array:
    """Inversion: how many of the sums of chances are at most a uniform number. ``ratio(k)`` is that of the chances of k and
    k - 1."""
    u, total, found = draw.uniform(), chance, draw.constant(0.0)
    for k in range(1, _MOST):
        found = where(u >= total, float(k), found)
        chance = chance * ratio(float(k))
        total = total + chance
    return found


class _Hat(NamedTuple):
    """Numbers of a transformed rejection: a curve above the weights of all counts, and a box below it."""

    a: Array
    b: Array
    middle: Array
    height: Array
    inside: Array


def _transformed(draw: Draw, hat: _Hat, weight: Callable[[Array], Array], end: Parameter) -> Array:
    """Counts up to ``end`` of these logarithms of weights, by transformed rejection (Hoermann, 1993). Computes."""

    def attempt(one: Draw) -> tuple[Array, Array]:
        u, v = one.inner() - 0.5, 1.0 - one.uniform()
        edge = 0.5 - abs(u)
        k = floor((hat.a * 2.0 / edge + hat.b) * u + hat.middle)
        possible = (k >= 0) & (k <= end)
        below = log(v * hat.height / (hat.a / (edge * edge) + hat.b)) <= weight(where(possible, k, 0.0))
        return k, possible & (((edge >= 0.07) & (v <= hat.inside)) | below)

    return draw.accepted(attempt)


def _log_factorial(k: Array) -> Array:
    """log k!, by Stirling's series from 8 places further on."""
    product = k + 1.0
    for step in range(2, 9):
        product = product * (k + float(step))
    x = k + 9.0
    y = 1.0 / (x * x)
    series = ((((y / 1188 - 1 / 1680) * y + 1 / 1260) * y - 1 / 360) * y + 1 / 12) / x
    return (x - 0.5) * log(x) - x + (0.5 * math.log(2 * math.pi)) + series - log(product)
