"""`Generator`: a stream of random arrays, with a method for each row of the table of distributions."""

from __future__ import annotations

import inspect
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

from .._api.create import asarray
from .._core.array import Array
from .._core.base import made
from .._core.dtypes import as_dtype, default, float32, float64, int64
from .._core.memory import NUMBERS, Shape, placed
from .._core.views.indexing import finished
from .._core.watch import in_step, unwatched
from .._native import Distribution as Layout
from .._native import Team
from ._distributions import DISTRIBUTIONS, RULES, Distribution
from .._numpy.selecting.searching import searchsorted
from .._numpy.selecting.selection import take
from .._numpy.selecting.sorting import argsort
from ._joint import JointDraws
from ._permute import permuted
from ._stream import PCG64, BitGenerator, Draw, Parameter, SeedSequence, absent, refuse_in_step

_Size = Shape | None
Seed = int | Sequence[int] | SeedSequence | BitGenerator | None

_DOC = """{summary}

Parameters
----------
{own}size : int or tuple of int, optional
    The global shape; by default that of the parameters together.
{dtype}dist : Distribution, optional
    By default that of a parameter of this shape, or as in ``partita.zeros``.
team : Team, optional
out : Array, optional
    Gets the numbers, as many as it has elements.

Examples
--------
>>> import partita as pt
>>> pt.random.default_rng(1).{name}({example}).shape
(3,)
"""
_DTYPE = "dtype : optional\n    float32 or float64; by default the default type of floats.\n"
#: Values of parameters in examples, by rule.
_EXAMPLES = {"any": "{n}.0", "least": "{n}.5", "above": "{n}.5", "share": "0.5", "chance": "0.5", "count": "{n}0"}


def _array(value: Any, on: Team | None) -> Any:
    return value.item() if getattr(value, "ndim", None) == 0 else asarray(value, team=on)


def _place(
    name: str, size: _Size, dist: Layout | None, team: Team | None, out: Any, found: dict[str, Parameter], rules: dict[str, str]
) -> Layout:
    """The place of a result, by default that of ``out``. The parameters become numbers or arrays, all tested."""
    arrays, shape = [], getattr(out, "shape", None)
    size, dist = shape if size is None else size, out.dist if dist is None and shape and isinstance(out, Array) else dist
    for key, value in found.items():
        if type(value) not in NUMBERS and not isinstance(value, Array):
            value = found[key] = _array(value, team if team is not None else dist.team if dist is not None else None)
        words, test = RULES[rules[key]]
        if isinstance(value, Array):
            arrays.append(value)
        # A step reads no arrays.
        if not (in_step() or test(value).all() if isinstance(value, Array) else test(value)):
            text = "an element that is not" if isinstance(value, Array) else value
            raise ValueError(f"{name}: expected {key} {words}, given {text}")
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
    return placed(name, () if size is None else size, dist, None if arrays and dist is not None else team)


def _method(name: str, row: Distribution) -> Callable[..., Array]:
    own = list(inspect.signature(row.formula).parameters.values())[1:]
    more = {"size": None, **({} if row.counts else {"dtype": None}), "dist": None}
    named = inspect.Parameter.POSITIONAL_OR_KEYWORD
    signature = inspect.Signature(
        [inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)]
        + [parameter.replace(annotation=inspect.Parameter.empty) for parameter in own]
        + [inspect.Parameter(key, named, default=value) for key, value in more.items()]
        + [inspect.Parameter(key, inspect.Parameter.KEYWORD_ONLY, default=None) for key in ("team", "out")]
    )
    required = [parameter.name for parameter in own if parameter.default is inspect.Parameter.empty]
    keys, positional = [parameter.name for parameter in own], [parameter.name for parameter in own] + list(more)
    defaults = {parameter.name: parameter.default for parameter in own} | more | {"dtype": None, "team": None, "out": None}

    def method(self: Generator, *args: Any, **words: Any) -> Array:
        given = dict(zip(positional, args)) | words
        at = defaults | given
        if len(given) != len(args) + len(words) or len(at) != len(defaults) or not all(key in given for key in required):
            # Says what is wrong.
            signature.bind(self, *args, **words)
        kind = default.float if at["dtype"] is None else as_dtype(at["dtype"])
        if kind not in (float32, float64):
            raise TypeError(f"{name}: expected float32 or float64, given {kind.name}; convert the result with astype")
        found, out = {key: at[key] for key in keys}, at["out"]
        whole = _place(name, at["size"], at["dist"], at["team"], out, found, row.rules)
        for key, value in found.items():
            if isinstance(value, Array):
                found[key] = value.astype(kind)
        drawn: Array = row.formula(Draw(self._stream, whole, kind, name), **found)
        return finished(name, drawn.astype(int64) if row.counts else drawn, out)

    values = [_EXAMPLES[row.rules[key]].format(n=n + 1) for n, key in enumerate(required)]
    method.__name__, method.__qualname__ = name, f"Generator.{name}"
    method.__signature__ = signature  # type: ignore[attr-defined]
    method.__doc__ = _DOC.format(
        summary=row.formula.__doc__, name=name, example=", ".join([*values, "size=3"]), dtype="" if row.counts else _DTYPE,
        own="".join(f"{key} : number or Array\n    {RULES[rule][0].capitalize()}.\n" for key, rule in row.rules.items()),
    )  # fmt: skip
    return unwatched(method)


class Generator(JointDraws):
    """A stream of random arrays; made by `default_rng`. Every call goes on with new numbers.

    Shapes are global. The same seed and calls give the same elements on every team, distribution and device, because the
    functions they are made with are Partita's own. Parameters of distributions are numbers or arrays, which broadcast. Drawing
    is recorded like arithmetic, except where a method says that it computes; arrays as parameters are tested, which
    computes them, except inside the step of a `Loop`.

    Parameters
    ----------
    bit_generator : BitGenerator or a seed, optional
        A seed is an int or several, at least 0, or a `SeedSequence`. None takes one from the operating system at the first
        draw, which is then collective.

    Examples
    --------
    >>> import partita as pt
    >>> rng = pt.random.default_rng(7)
    >>> bool((rng.random(4) == pt.random.default_rng(7).random(4, team=pt.Team(3))).all())
    True
    """

    def __init__(self, bit_generator: Seed = None) -> None:
        self._stream = bit_generator if isinstance(bit_generator, BitGenerator) else PCG64(bit_generator)

    __getattr__ = absent

    @property
    def bit_generator(self) -> BitGenerator:
        """The stream, with its state."""
        return self._stream

    def spawn(self, n_children: int) -> list[Generator]:
        """Generators of independent streams, further ones with each call; this one's draws go on as if there were none.

        Parameters
        ----------
        n_children : int

        Returns
        -------
        list of Generator

        Examples
        --------
        >>> import partita as pt
        >>> one, other = pt.random.default_rng(1).spawn(2)
        >>> bool(one.random() == other.random())
        False
        """
        return [type(self)(stream) for stream in self._stream.spawn(n_children)]

    def __repr__(self) -> str:
        return f"<partita.random.{type(self).__name__}>"

    (
        uniform, normal, standard_normal, lognormal, exponential, standard_exponential, laplace, logistic, gumbel,
        rayleigh, weibull, pareto, power, standard_cauchy, triangular, wald, gamma, standard_gamma, chisquare, f,
        standard_t, beta, vonmises, geometric, poisson, binomial, negative_binomial,
    ) = (_method(name, row) for name, row in DISTRIBUTIONS.items())  # fmt: skip

    def random(
        self, size: _Size = None, dtype: Any = None, dist: Layout | None = None, *, team: Team | None = None, out: Array | None = None
    ) -> Array:
        """Floats from 0 up to and without 1: 53 random bits in float64, 24 in float32, 11 in float16.

        Parameters
        ----------
        dist : Distribution, optional
        team : Team, optional

        Examples
        --------
        >>> import partita as pt
        >>> pt.random.default_rng(1).random((2, 3)).shape
        (2, 3)
        """
        kind = default.float if dtype is None else as_dtype(dtype)
        if kind.kind != "f":
            raise TypeError(f"random: expected a type of floats, given {kind.name}; use integers")
        whole = _place("random", size, dist, team, out, {}, {})
        return finished("random", Draw(self._stream, whole, kind).uniform(), out)

    def integers(
        self, low: int, high: int | None = None, size: _Size = None, dtype: Any = int64, dist: Layout | None = None, *,
        team: Team | None = None, endpoint: bool = False,
    ) -> Array:  # fmt: skip
        """Integers from ``low`` (0 if only one is given) up to and without ``high`` (with it if ``endpoint``).

        Each is the upper word of the product of 64 random bits and the number of choices, so chances differ by at most
        (high - low) / 2^64 of each other.

        Parameters
        ----------
        low, high : int
        dtype : optional
            A type of integers, or bool.
        dist : Distribution, optional
        team : Team, optional
        endpoint : bool, optional

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
            expected, remedy = f"low below high, within {kind.name}", "another dtype" if first < last else "other ends"
            raise ValueError(f"integers: expected {expected}, given {first} and {last}; choose {remedy}")
        whole = placed("integers", () if size is None else size, dist, team)
        # Modulo 2^64 both; the engine takes no count for all of them.
        native = self._stream.of(whole).integers(whole, kind.name, first % 2**64, (last - first) % 2**64)
        return made(native)  # type: ignore[no-any-return]

    @unwatched
    def choice(
        self, a: Any, size: _Size = None, replace: bool = True, p: Sequence[float] | None = None, axis: int = 0, *,
        dist: Layout | None = None, team: Team | None = None, shuffle: bool = True,
    ) -> Array:  # fmt: skip
        """Elements of ``a`` along ``axis``, or integers below ``a``, with or without repetition.

        Without repetition they are those with the smallest of random numbers, sorted; more than 2^20 choices that are many
        more than the elements are the first ones of a random permutation instead, which computes.

        Parameters
        ----------
        a : int or Array
        size : int or tuple of int, optional
            By default one.
        replace : bool, optional
            Whether elements may come several times.
        p : sequence of float, optional
            The probability of each. Without repetition one element after the other is chosen, by the probabilities of the rest.
        axis : int, optional
        dist, team : optional
            Where the integers are made.
        shuffle : bool, optional
            Without effect: what is chosen is in random order.

        Examples
        --------
        >>> import partita as pt
        >>> sorted(pt.random.default_rng(1).choice(5, 5, replace=False).tolist())
        [0, 1, 2, 3, 4]
        """
        if not replace or p is not None or not isinstance(a, int):
            refuse_in_step("choice", remedy="choose with repetition, of integers and without p, or ")
        source = a if isinstance(a, (int, Array)) else asarray(a, team=team)
        count = source if isinstance(source, int) else source.shape[axis]
        shape = () if size is None else size
        if count < 1 and 0 not in ([shape] if isinstance(shape, int) else list(shape)):
            raise ValueError("choice: expected at least one element to choose from, given none; pass others, or size=0")
        if dist is None and team is None and isinstance(source, Array):
            team = source.team
        whole = placed("choice", shape, dist, team)
        if not replace and math.prod(whole.shape) > count:
            raise ValueError(f"choice: expected at most {count} elements with replace=False, given size {size}")
        chances = None if p is None else _chances(count, p)
        if replace:
            index = self.integers(0, count, shape, dist=dist, team=team) if chances is None else self._weighted(chances, whole)
        elif count > 2**20 and count > 64 * math.prod(whole.shape) and chances is None:
            draw = Draw(self._stream.branch(whole, "choice"), whole, default.float)
            index = permuted(draw.number(), count, draw.stream).astype(int64)
        else:
            index = self._first(count, chances, whole)
        return index if isinstance(source, int) else take(source, index, axis=axis)

    def _weighted(self, chances: Any, whole: Layout) -> Array:
        """Inversion of the sums of the probabilities."""
        sums = chances.cumsum()
        return searchsorted(asarray(sums[:-1] / sums[-1], team=whole.team), Draw(self._stream, whole, float64).uniform(), "right")

    def _first(self, count: int, chances: Any, whole: Layout) -> Array:
        """The places of the smallest of random numbers. With probabilities these are times of first events, of which each
        next one comes with the probability among those that are left (Efraimidis and Spirakis, 2006)."""
        line = Draw(self._stream, Layout(count, team=whole.team), float64)
        order = argsort(line.word() if chances is None else line.exponential() / asarray(chances, dist=line.dist))
        number = math.prod(whole.shape)
        if whole == line.dist:
            return order
        chosen = order[:number].redistribute(Layout(number, team=whole.team)) if number < count else order
        return chosen[0] if not whole.shape else chosen.reshape(whole.shape).redistribute(whole)

    def permutation(self, x: Any, axis: int = 0, *, team: Team | None = None) -> Array:
        """The integers below ``x`` in random order, or a copy of an array with its slices along ``axis`` in random order.

        Parameters
        ----------
        x : int or Array
        axis : int, optional
        team : Team, optional
            Of the integers.

        Examples
        --------
        >>> import partita as pt
        >>> sorted(pt.random.default_rng(1).permutation(4).tolist())
        [0, 1, 2, 3]
        """
        refuse_in_step("permutation")
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
        refuse_in_step("shuffle")
        x[...] = self.permutation(x, axis)


def _chances(count: int, p: Any) -> Any:
    import numpy as np

    chances = np.asarray(p, np.float64)
    if chances.shape != (count,) or not (chances >= 0).all() or abs(chances.sum() - 1) > 1e-8:
        given = f"{chances.size} of sum {chances.sum()}"
        raise ValueError(f"choice: expected {count} probabilities whose sum is 1, given {given}")
    return chances


def default_rng(seed: Seed | Generator = None) -> Generator:
    """A stream of random arrays that begins anew.

    Parameters
    ----------
    seed : int, sequence of int, SeedSequence, BitGenerator or Generator, optional
        At least 0. None takes one from the operating system. A Generator is returned as it is.

    Examples
    --------
    >>> import partita as pt
    >>> bool(pt.random.default_rng(3).random() == pt.random.default_rng(3).random())
    True
    """
    return seed if isinstance(seed, Generator) else Generator(seed)
