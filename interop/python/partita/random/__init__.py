"""Random numbers in NumPy's words, the same on every team, distribution and device.

New programs make a stream with `default_rng`. The functions of this module are the methods of one `RandomState`, as in
NumPy. The numbers are Partita's own: a seed gives others than in NumPy.
"""

from typing import Any, NoReturn

from ..errors import Missing
from ._generator import Generator, default_rng
from ._legacy import NAMES, RandomState
from ._stream import MT19937, PCG64, PCG64DXSM, SFC64, BitGenerator, Philox, REMEDIES, SeedSequence

__all__ = [
    "Generator", "RandomState", "default_rng", "BitGenerator", "MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64", "SeedSequence",
    "seed", "rand", "randn", "randint", "random", "random_sample", "ranf", "sample", "choice", "permutation", "shuffle", "bytes",
    "dirichlet", "get_state", "multinomial", "multivariate_normal", "set_state", "uniform", "normal", "standard_normal", "lognormal",
    "exponential", "standard_exponential", "laplace", "logistic", "gumbel", "rayleigh", "weibull", "pareto", "power",
    "standard_cauchy", "triangular", "wald", "gamma", "standard_gamma", "chisquare", "f", "standard_t", "beta", "vonmises",
    "geometric", "poisson", "binomial", "negative_binomial",
]  # fmt: skip

_one: Any = RandomState()
(
    seed, rand, randn, randint, random, random_sample, ranf, sample, choice, permutation, shuffle, bytes, dirichlet,
    get_state, multinomial, multivariate_normal, set_state, uniform, normal,
    standard_normal, lognormal, exponential, standard_exponential, laplace, logistic, gumbel, rayleigh, weibull, pareto,
    power, standard_cauchy, triangular, wald, gamma, standard_gamma, chisquare, f, standard_t, beta, vonmises,
    geometric, poisson, binomial, negative_binomial,
) = (getattr(_one, name) for name in NAMES)  # fmt: skip


def __getattr__(name: str) -> NoReturn:
    raise Missing("module 'partita.random'", name, __all__, REMEDIES.get(name))
