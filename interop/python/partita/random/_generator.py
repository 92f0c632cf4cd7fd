"""`Generator`: a stream of random arrays, with a method for each row of the table of distributions."""

from __future__ import annotations

import inspect
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

from .._api.create import asarray
from .._core.array import Array
from .._core.dtypes import as_dtype, bool_, default, float32, float64, int64, uint64
from .._core.memory import NUMBERS, Shape, placed
from .._native import Distribution as Layout
from .._native import Team
from ._distributions import DISTRIBUTIONS, RULES, Distribution
from ._permute import permuted
from ._stream import Draw, Parameter, Stream

_Size = Shape | None

_DOC = """{summary}

Parameters
----------
{own}size : int or tuple of int, optional
    The global shape; by default that of the parameters together.
{dtype}dist : Distribution, optional
    By default that of a parameter of this shape, or as in ``partita.zeros``.
team : Team, optional

Returns
-------
Array

Examples
--------
>>> import partita as pt
>>> pt.random.default_rng(1).{name}({example}).shape
(3,)
"""
_DTYPE = "dtype : optional\n    float32 or float64; by default the default type of floats.\n"
#: Values of parameters in examples, by rule.
_EXAMPLES = {"any": "{n}.0", "least": "{n}.5", "above": "{n}.5", "share": "0.5", "chance": "0.5", "count": "{n}0"}


def _place(
    name: str, size: _Size, dist: Layout | None, team: Team | None, given: dict[str, Parameter], rules: dict[str, str]
) -> tuple[Layout, bool, dict[str, Parameter]]:
    """Where a result goes, whether it has no dimensions, and the parameters as numbers or arrays, all of them tested."""
    found: dict[str, Parameter] = {}
    on = team if team is not None else dist.team if dist is not None else None
    for key, value in given.items():
        if not isinstance(value, (*NUMBERS, Array)):
            value = value.item() if getattr(value, "ndim", None) == 0 else asarray(value, team=on)
        words, test = RULES[rules[key]]
        passed = test(value)
        if not (passed.all() if isinstance(passed, Array) else passed):
            text = "an element that is not" if isinstance(value, Array) else value
            raise ValueError(f"{name}: expected {key} {words}, given {text}")
        found[key] = value
    arrays = [value for value in found.values() if isinstance(value, Array)]
    if arrays:
        import numpy as np

        shapes = [array.shape for array in arrays]
        try:
            size = np.broadcast_shapes(*shapes) if size is None else np.broadcast_shapes(size)
            fits = np.broadcast_shapes(*shapes, size) == size
        except ValueError:
            fits = False
        if not fits:
            raise ValueError(f"{name}: expected parameters that broadcast to one size, given shapes {shapes} and size {size}")
        if dist is None and team is None:
            alike = (array.dist for array in arrays if array.shape and array.shape == size)
            dist, team = next(alike, None), arrays[0].team
    whole, scalar = placed(name, () if size is None else size, dist, team if dist is None else None)
    return whole, scalar, found


def _method(name: str, row: Distribution) -> Callable[..., Array]:
    own = list(inspect.signature(row.formula).parameters.values())[1:]
    more = {"size": None, **({} if row.counts else {"dtype": None}), "dist": None}
    named = inspect.Parameter.POSITIONAL_OR_KEYWORD
    signature = inspect.Signature(
        [inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)]
        + [parameter.replace(annotation=inspect.Parameter.empty) for parameter in own]
        + [inspect.Parameter(key, named, default=value) for key, value in more.items()]
        + [inspect.Parameter("team", inspect.Parameter.KEYWORD_ONLY, default=None)]
    )

    def method(*args: Any, **kwargs: Any) -> Array:
        call = signature.bind(*args, **kwargs)
        call.apply_defaults()
        at = call.arguments
        kind = default.float if at.get("dtype") is None else as_dtype(at["dtype"])
        if kind not in (float32, float64):
            raise TypeError(f"{name}: expected float32 or float64, given {kind.name}; convert the result with astype")
        given = {parameter.name: at[parameter.name] for parameter in own}
        whole, scalar, found = _place(name, at["size"], at["dist"], at["team"], given, row.rules)
        found = {key: value.astype(kind) if isinstance(value, Array) else value for key, value in found.items()}
        drawn: Array = row.formula(Draw(at["self"]._stream, whole, scalar, kind), **found)
        return drawn.astype(int64) if row.counts else drawn

    required = [parameter.name for parameter in own if parameter.default is inspect.Parameter.empty]
    values = [_EXAMPLES[row.rules[key]].format(n=n + 1) for n, key in enumerate(required)]
    method.__name__, method.__qualname__ = name, f"Generator.{name}"
    method.__signature__ = signature  # type: ignore[attr-defined]
    method.__doc__ = _DOC.format(
        summary=row.formula.__doc__, name=name, example=", ".join([*values, "size=3"]), dtype="" if row.counts else _DTYPE,
        own="".join(f"{key} : number or Array\n    {RULES[rule][0].capitalize()}.\n" for key, rule in row.rules.items()),
    )  # fmt: skip
    return method


class Generator:
    """A stream of random arrays; made by `default_rng`. Every call goes on with new numbers.

    Shapes are global. The same seed and calls give the same elements on every team, distribution and device, because the
    functions they are made with are Partita's own. Parameters of distributions are numbers or arrays, which broadcast. Drawing
    is recorded like arithmetic, except where a method says that it computes; arrays as parameters are tested, which
    computes them.

    Parameters
    ----------
    seed : int, optional
        At least 0. None takes one from the operating system at the first draw, which is then collective.

    Examples
    --------
    >>> import partita as pt
    >>> rng = pt.random.default_rng(7)
    >>> bool((rng.random(4) == pt.random.default_rng(7).random(4, team=pt.Team(3))).all())
    True
    """

    def __init__(self, seed: int | None = None) -> None:
        self._stream = Stream(seed)

    def __repr__(self) -> str:
        return f"<partita.random.{type(self).__name__}>"

    (
        uniform, normal, standard_normal, lognormal, exponential, standard_exponential, laplace, logistic, gumbel,
        rayleigh, weibull, pareto, power, standard_cauchy, triangular, wald, gamma, standard_gamma, chisquare, f,
        standard_t, beta, vonmises, geometric, poisson, binomial, negative_binomial,
    ) = (_method(name, row) for name, row in DISTRIBUTIONS.items())  # fmt: skip

    def random(self, size: _Size = None, dtype: Any = None, dist: Layout | None = None, *, team: Team | None = None) -> Array:
        """Floats from 0 up to and without 1: 53 random bits in float64, 24 in float32, 11 in float16.

        Parameters
        ----------
        size : int or tuple of int, optional
            The global shape; by default none.
        dtype : optional
            A type of floats.
        dist : Distribution, optional
        team : Team, optional

        Returns
        -------
        Array

        Examples
        --------
        >>> import partita as pt
        >>> pt.random.default_rng(1).random((2, 3)).shape
        (2, 3)
        """
        kind = default.float if dtype is None else as_dtype(dtype)
        if kind.kind != "f":
            raise TypeError(f"random: expected a type of floats, given {kind.name}; use integers")
        whole, scalar = placed("random", () if size is None else size, dist, team)
        return Draw(self._stream, whole, scalar, kind).uniform()

    def integers(
        self, low: int, high: int | None = None, size: _Size = None, dtype: Any = int64, dist: Layout | None = None, *,
        team: Team | None = None, endpoint: bool = False,
    ) -> Array:  # fmt: skip
        """Integers from ``low`` (0 if only one is given) up to and without ``high`` (with it if ``endpoint``).

        They are remainders of 64 random bits, so small ones are likelier by at most (high - low) / 2^64.

        Parameters
        ----------
        low, high : int
        size : int or tuple of int, optional
            The global shape; by default none.
        dtype : optional
            A type of integers, or bool.
        dist : Distribution, optional
        team : Team, optional
        endpoint : bool, optional

        Returns
        -------
        Array

        Examples
        --------
        >>> import partita as pt
        >>> int(pt.random.default_rng(1).integers(1, 6, 100, endpoint=True).max())
        6
        """
        kind = as_dtype(dtype)
        first, last = (0, operator.index(low)) if high is None else (operator.index(low), operator.index(high))
        last += 1 if endpoint else 0
        bits = 8 * kind.itemsize
        bounds = {"u": (0, 2**bits), "i": (-(2 ** (bits - 1)), 2 ** (bits - 1)), "b": (0, 2)}.get(kind.kind)
        if bounds is None:
            raise TypeError(f"integers: expected a type of integers, given {kind.name}; use random")
        if not bounds[0] <= first < last <= bounds[1]:
            expected = f"low below high, within {kind.name}"
            raise ValueError(f"integers: expected {expected}, given {first} and {last}; choose another dtype")
        whole, scalar = placed("integers", () if size is None else size, dist, team)
        upper, lower = Draw(self._stream, whole, scalar, default.float).words()
        drawn = (upper.astype(uint64) << 32) | lower.astype(uint64)
        if last - first < 2**64:
            drawn = drawn % (last - first)
        if kind is bool_:
            return drawn + first > 0
        # Wraps round twice for negative numbers, and so arrives.
        return (drawn + (first & (2**64 - 1))).astype(kind)

    def choice(
        self, a: Any, size: _Size = None, replace: bool = True, p: Sequence[float] | None = None, axis: int = 0, *,
        dist: Layout | None = None, team: Team | None = None,
    ) -> Array:  # fmt: skip
        """Elements of ``a`` along ``axis``, or integers below ``a``, with or without repetition.

        Without repetition they are the first ones of a permutation, see `permutation`.

        Parameters
        ----------
        a : int or Array
            Chosen elements of an array are read by the index, which is the host's.
        size : int or tuple of int, optional
            By default one.
        replace : bool, optional
            Whether elements may come several times.
        p : sequence of float, optional
            The probability of each; only with ``replace``.
        axis : int, optional
        dist, team : optional
            Where the integers are made.

        Returns
        -------
        Array

        Examples
        --------
        >>> import partita as pt
        >>> sorted(pt.random.default_rng(1).choice(5, 5, replace=False).tolist())
        [0, 1, 2, 3, 4]
        """
        source = a if isinstance(a, (int, Array)) else asarray(a, team=team)
        count = source if isinstance(source, int) else source.shape[axis]
        shape = () if size is None else size
        if count < 1 and math.prod((shape,) if isinstance(shape, int) else shape):
            raise ValueError("choice: expected at least one element to choose from, given none; pass others, or size=0")
        if p is not None:
            index = self._weighted(count, shape, replace, p, dist, team)
        elif replace:
            index = self.integers(0, count, shape, dist=dist, team=team)
        else:
            whole, scalar = placed("choice", shape, dist, team)
            draw = Draw(self._stream.branch(whole.team), whole, scalar, default.float)
            if math.prod(whole.shape) > count:
                raise ValueError(f"choice: expected at most {count} elements with replace=False, given size {size}")
            index = permuted(draw.number(), count, draw.stream).astype(int64)
        if isinstance(source, int):
            return index
        key: tuple[Any, ...] = (slice(None),) * (axis % source.ndim)
        return source[(*key, index.numpy())] if index.ndim else source[(*key, int(index))].copy()

    def _weighted(self, count: int, shape: Shape, replace: bool, p: Any, dist: Layout | None, team: Team | None) -> Array:
        """Inversion of the sums of the probabilities: as many comparisons as there are, per element."""
        import numpy as np

        if not replace:
            text = "choice: expected replace=True with p, because False needs a sort, given False; use numpy.random"
            raise NotImplementedError(text)
        chances = np.asarray(p, np.float64)
        if chances.shape != (count,) or not (chances >= 0).all() or abs(chances.sum() - 1) > 1e-8:
            given = f"{chances.size} of sum {chances.sum()}"
            raise ValueError(f"choice: expected {count} probabilities whose sum is 1, given {given}")
        u = self.random(shape, dist=dist, team=team)
        index, sums = (u * 0.0).astype(int64), np.cumsum(chances)
        for bound in (sums / sums[-1])[:-1].tolist():
            index = index + (u >= bound)
        return index

    def permutation(self, x: Any, axis: int = 0, *, team: Team | None = None) -> Array:
        """The integers below ``x`` in random order, or a copy of an array with its slices along ``axis`` in random order.
        Computes.

        Parameters
        ----------
        x : int or Array
        axis : int, optional
        team : Team, optional
            Of the integers.

        Returns
        -------
        Array

        Examples
        --------
        >>> import partita as pt
        >>> sorted(pt.random.default_rng(1).permutation(4).tolist())
        [0, 1, 2, 3]
        """
        count = x if isinstance(x, int) else x.shape[axis]
        return self.choice(x, count, False, axis=axis, team=team)

    def shuffle(self, x: Array, axis: int = 0) -> None:
        """Puts the slices of an array along ``axis`` in random order, in place. Computes.

        Parameters
        ----------
        x : Array
        axis : int, optional

        Examples
        --------
        >>> import partita as pt
        >>> u = pt.arange(5)
        >>> pt.random.default_rng(1).shuffle(u)
        >>> sorted(u.tolist())
        [0, 1, 2, 3, 4]
        """
        x[...] = self.permutation(x, axis)


def default_rng(seed: int | Generator | None = None) -> Generator:
    """A stream of random arrays that begins anew.

    Parameters
    ----------
    seed : int, optional
        At least 0. None takes one from the operating system.

    Returns
    -------
    Generator

    Examples
    --------
    >>> import partita as pt
    >>> bool(pt.random.default_rng(3).random() == pt.random.default_rng(3).random())
    True
    """
    if isinstance(seed, Generator):
        return seed
    value = None if seed is None else operator.index(seed)
    if value is not None and value < 0:
        raise ValueError(f"default_rng: expected a seed of at least 0, given {seed}")
    return Generator(value)
