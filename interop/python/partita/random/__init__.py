"""Random numbers in NumPy's words, the same on every team, distribution and device.

New programs make a stream with `default_rng`. The functions of this module are the methods of one `RandomState`, as in
NumPy. The numbers are Partita's own: a seed gives others than in NumPy.
"""

from typing import Any

from ._generator import Generator, default_rng
from ._legacy import NAMES, RandomState

__all__ = [
    "Generator", "RandomState", "default_rng", "seed", "rand", "randn", "randint", "random", "random_sample", "ranf",
    "sample", "choice", "permutation", "shuffle", "uniform", "normal", "standard_normal", "lognormal", "exponential",
    "standard_exponential", "laplace", "logistic", "gumbel", "rayleigh", "weibull", "pareto", "power",
    "standard_cauchy", "triangular", "wald", "gamma", "standard_gamma", "chisquare", "f", "standard_t", "beta",
    "vonmises", "geometric", "poisson", "binomial", "negative_binomial",
]  # fmt: skip

_one: Any = RandomState()
(
    seed, rand, randn, randint, random, random_sample, ranf, sample, choice, permutation, shuffle, uniform, normal,
    standard_normal, lognormal, exponential, standard_exponential, laplace, logistic, gumbel, rayleigh, weibull, pareto,
    power, standard_cauchy, triangular, wald, gamma, standard_gamma, chisquare, f, standard_t, beta, vonmises,
    geometric, poisson, binomial, negative_binomial,
) = (getattr(_one, name) for name in NAMES)  # fmt: skip
