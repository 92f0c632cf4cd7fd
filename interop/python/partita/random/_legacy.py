"""NumPy's older interface: `RandomState`, and the functions of the module, which are the methods of one."""

from __future__ import annotations

import operator
from typing import Any

from .._core.array import Array
from .._core.dtypes import int64
from .._core.memory import Shape
from .._native import Distribution, Team
from ._distributions import DISTRIBUTIONS
from ._generator import Generator, Seed
from ._stream import MT19937, BitGenerator


class RandomState(Generator):
    """A `Generator` with NumPy's older names.

    Parameters
    ----------
    seed : int, sequence of int or BitGenerator, optional
        At least 0; see `default_rng`.

    Examples
    --------
    >>> import partita as pt
    >>> pt.random.RandomState(1).rand(2, 3).shape
    (2, 3)
    """

    def __init__(self, seed: Seed = None) -> None:
        self.seed(seed)

    def seed(self, seed: Seed = None) -> None:
        """Begins anew; None takes a seed from the operating system. Local."""
        self._stream = seed if isinstance(seed, BitGenerator) else MT19937(seed)

    def get_state(self, legacy: bool = True) -> dict[str, Any]:
        """The state of the stream, for `set_state`: a dict, whatever ``legacy``. Local.

        Parameters
        ----------
        legacy : bool, optional
            Without effect.

        Returns
        -------
        dict

        Examples
        --------
        >>> import partita as pt
        >>> state = pt.random.get_state()
        >>> first = float(pt.random.rand())
        >>> pt.random.set_state(state)
        >>> first == float(pt.random.rand())
        True
        """
        return self._stream.state

    def set_state(self, state: dict[str, Any]) -> None:
        """Goes on from what `get_state` gave. Local.

        Parameters
        ----------
        state : dict

        Examples
        --------
        >>> import partita as pt
        >>> pt.random.set_state(pt.random.get_state())
        """
        self._stream.state = state

    def rand(self, *shape: int) -> Array:
        """Floats from 0 up to and without 1."""
        return self.random(shape)

    def randn(self, *shape: int) -> Array:
        """Normally distributed floats of mean 0 and standard deviation 1."""
        return self.normal(size=shape)

    def randint(
        self, low: int, high: int | None = None, size: Shape | None = None, dtype: Any = int64,
        dist: Distribution | None = None, *, team: Team | None = None,
    ) -> Array:  # fmt: skip
        """Integers from ``low`` (0 if only one is given) up to and without ``high``; see `Generator.integers`."""
        return self.integers(operator.index(low), high, size, dtype, dist, team=team)

    random_sample = ranf = sample = Generator.random


#: Methods of one stream that are functions of the module.
NAMES = (
    "seed", "rand", "randn", "randint", "random", "random_sample", "ranf", "sample", "choice", "permutation", "shuffle",
    "bytes", "dirichlet", "get_state", "multinomial", "multivariate_normal", "set_state", *DISTRIBUTIONS,
)  # fmt: skip
