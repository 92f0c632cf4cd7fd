"""Streams of random numbers: NumPy's bit generators and `SeedSequence`, and `Draw`, the uniform, normal and gamma distributed
numbers that others are made of.

The mapping from a seed and an element's number in C order to its bits is the engine's (`kernels/src/random.rs`), one for all names
of bit generators. Draws are recorded, so that numbers are made where they are needed, in the kernel that uses them.
"""

from __future__ import annotations

import operator
import secrets
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn, Self

from .. import _native
from .._core.array import Array
from .._core.base import made
from .._core.dtypes import DType, float64
from .._core.rules import where
from .._core.watch import in_step
from .._core.ranks.teams import of_processes
from .._native import Distribution, Team
from ..errors import Missing
from .._numpy.ufuncs.table import log, sqrt, trunc

#: A parameter of a distribution: a number for all elements, or an array with one for each.
Parameter = Any


def _words(entropy: int | Sequence[int]) -> list[int]:
    """The words of 32 bits of a seed, the lowest first; those of several numbers one after the other."""
    numbers = [entropy] if isinstance(entropy, int) else list(entropy)
    return [number >> at & 0xFFFFFFFF for number in numbers for at in range(0, max(number.bit_length(), 1), 32)]


#: Replacements of names of NumPy's.
REMEDIES = {name: remedy.format(name) for names, remedy in {
    "get_bit_generator set_bit_generator": "make a Generator(PCG64(seed)), and use its methods",
    "tomaxint": "use integers(2**63)", "random_integers": "use integers(low, high, endpoint=True)",
    "advance capsule cffi ctypes jumped": "use spawn for other streams, Generator for numbers, or numpy.random on the host",
    "hypergeometric logseries multivariate_hypergeometric noncentral_chisquare noncentral_f zipf":
        "it is not there; use asarray(numpy.random.default_rng(seed).{}(...)), which draws on the host",
}.items() for name in names.split()}  # fmt: skip


def absent(stream: Any, name: str) -> NoReturn:
    """The error of a name that a class here does not have."""
    raise Missing(f"{type(stream).__name__!r} object", name, type(stream), REMEDIES.get(name))


def refuse_in_step(name: str, given: str = "a draw", remedy: str = "") -> None:
    """Raises inside the step of a `Loop`: for draws that read or order elements, or whose parameters come from the host."""
    if in_step():
        expected = "expected a step that only computes, because a replay cannot repeat what the host does"
        raise ValueError(f"{name}: {expected}, given {given} inside a Loop's step; {remedy}draw before the Loop or between its runs")


class SeedSequence:
    """A seed, and the seeds that are spawned from it, as NumPy's. The words that it generates are Partita's own.

    Parameters
    ----------
    entropy : int or sequence of int, optional
        Each at least 0. None takes one from the operating system, in each process another.
    spawn_key : sequence of int, optional
        The numbers of the spawned sequences that lead here.
    pool_size : int, optional
        Without effect.
    n_children_spawned : int, optional

    Examples
    --------
    >>> import partita as pt
    >>> parent = pt.random.SeedSequence(7)
    >>> [child.spawn_key for child in parent.spawn(2)], parent.n_children_spawned
    ([(0,), (1,)], 2)
    """

    def __init__(
        self, entropy: int | Sequence[int] | None = None, *, spawn_key: Sequence[int] = (), pool_size: int = 4, n_children_spawned: int = 0
    ) -> None:
        given = secrets.randbits(128) if entropy is None else entropy
        # Arrays without dimensions are numbers.
        several = given if isinstance(given, Iterable) and getattr(given, "ndim", 1) > 0 else None
        self.entropy: int | list[int] = _seed(given) if several is None else [_seed(number) for number in several]
        self.spawn_key, self.pool_size = tuple(map(operator.index, spawn_key)), pool_size
        self.n_children_spawned = n_children_spawned

    def __repr__(self) -> str:
        return f"SeedSequence(entropy={self.entropy}, spawn_key={self.spawn_key})"

    @property
    def state(self) -> dict[str, Any]:
        """The arguments that make another one like it."""
        return {name: getattr(self, name) for name in ("entropy", "spawn_key", "pool_size", "n_children_spawned")}

    def spawn(self, n_children: int) -> list[SeedSequence]:
        """Seeds of independent streams; further ones with each call."""
        first = self.n_children_spawned
        self.n_children_spawned += n_children
        keys = ((*self.spawn_key, number) for number in range(first, first + n_children))
        return [SeedSequence(self.entropy, spawn_key=key, pool_size=self.pool_size) for key in keys]

    def generate_state(self, n_words: int, dtype: Any = "uint32") -> Any:
        """NumPy's array of random words, uint32 or uint64. Local."""
        import numpy as np

        kind, native = np.dtype(dtype), self._native()
        if kind not in (np.uint32, np.uint64):
            raise ValueError(f"generate_state: expected uint32 or uint64, given {kind}; convert the words")
        return np.array([native.bits() for _ in range(n_words)], np.uint64).astype(kind)

    def _native(self) -> _native.Generator:
        """The engine's stream of this seed."""
        stream = _native.Generator(_words(self.entropy))
        for number in self.spawn_key:
            stream = stream.spawned(number)
        return stream


def _seed(number: Any) -> int:
    if not hasattr(number, "__index__"):
        expected = "expected an int of at least 0 as a seed, several, a SeedSequence or a bit generator of partita.random"
        raise TypeError(f"default_rng: {expected}, given {number!r}; use int(seed), or a name such as partita.random.PCG64")
    value = operator.index(number)
    if value < 0:
        raise ValueError(f"default_rng: expected a seed of at least 0, given {number}")
    return value


class BitGenerator:
    """A stream of random bits. Each of NumPy's names is one: all of them make the same numbers of a seed, Partita's own.

    Parameters
    ----------
    seed : int, sequence of int or SeedSequence, optional
        None takes one from the operating system at the first draw, which is then collective. Of a SeedSequence of NumPy's the
        entropy and the spawn key are taken; the numbers are Partita's own.

    Examples
    --------
    >>> import partita as pt
    >>> rng = pt.random.Generator(pt.random.PCG64(7))
    >>> bool(rng.random() == pt.random.default_rng(7).random())
    True
    """

    def __init__(self, seed: int | Sequence[int] | SeedSequence | None = None) -> None:
        if not isinstance(seed, SeedSequence) and hasattr(seed, "spawn_key"):
            seed = SeedSequence(**seed.state)  # type: ignore[union-attr]
        self._seed_seq = seed if isinstance(seed, SeedSequence) or seed is None else SeedSequence(seed)
        self._generator = None if self._seed_seq is None else self._seed_seq._native()
        self.lock = threading.RLock()

    def __repr__(self) -> str:
        return f"<partita.random.{type(self).__name__}>"

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key != "lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, lock=threading.RLock())

    __getattr__ = absent

    def of(self, dist: Distribution) -> _native.Generator:
        """The engine's stream. Without a seed it begins with one of the operating system's, of the team's first process."""
        return self._generator or self._begin(dist.team)

    def _begin(self, team: Team) -> _native.Generator:
        if self._generator is None:
            self._seed_seq = SeedSequence(of_processes(team, "random", secrets.randbits(128))[0])
            self._generator = self._seed_seq._native()
        return self._generator

    def branch(self, dist: Distribution, name: str) -> BitGenerator:
        """A stream of its own, for as many draws as it takes: this one goes on by one. Not inside the step of a Loop."""
        refuse_in_step(name)
        stream = BitGenerator()
        stream._generator = self.of(dist).branch()
        return stream

    @property
    def seed_seq(self) -> SeedSequence:
        """The seed. Of a stream without a seed it takes one, which is collective."""
        self._begin(_native.get_default_team())
        if self._seed_seq is None:
            raise TypeError("seed_seq: expected a stream that was made of a seed, given one whose state was set; make it of a seed")
        return self._seed_seq

    @property
    def state(self) -> dict[str, Any]:
        """The key and the number of draws so far, to be set in another stream. Of a stream without a seed it takes one, which is
        collective."""
        key, draws = self._begin(_native.get_default_team()).__getstate__()
        return {"bit_generator": type(self).__name__, "state": {"key": key, "draws": draws}}

    @state.setter
    def state(self, state: dict[str, Any]) -> None:
        try:
            values = [operator.index(state["state"][name]) for name in ("key", "draws")]
        except (TypeError, KeyError, IndexError):
            text = "expected a state with key and draws, given another; NumPy's states are of other generators"
            raise ValueError(f"{type(self).__name__}.state: {text}") from None
        self._generator = self._generator or _native.Generator([0])
        self._generator.__setstate__(values)

    def spawn(self, n_children: int) -> list[Self]:
        """Independent streams, by the seed's `SeedSequence.spawn`."""
        refuse_in_step("spawn")
        return [type(self)(seed) for seed in self.seed_seq.spawn(n_children)]

    def random_raw(self, size: int | Sequence[int] | None = None, output: bool = True) -> Any:
        """Random words of 64 bits: a number, or NumPy's array. Local with a seed."""
        import numpy as np

        refuse_in_step("random_raw")
        native = self._begin(_native.get_default_team())
        words = [native.bits() for _ in range(1 if size is None else int(np.prod(size)))]
        return None if not output else words[0] if size is None else np.array(words, np.uint64).reshape(size)


class PCG64(BitGenerator):
    """See `BitGenerator`."""


class PCG64DXSM(BitGenerator):
    """See `BitGenerator`."""


class MT19937(BitGenerator):
    """See `BitGenerator`."""


class Philox(BitGenerator):
    """See `BitGenerator`."""


class SFC64(BitGenerator):
    """See `BitGenerator`."""


class Draw:
    """Random numbers for the elements of one array: what distributions are made of."""

    def __init__(self, stream: BitGenerator, dist: Distribution, kind: DType, name: str = "random") -> None:
        self.stream, self.dist, self.kind, self.name = stream, dist, kind, name

    def number(self) -> Array:
        """The number of each element in C order (uint64)."""
        number = made(_native.Array.full(self.dist, "uint64", 0))
        for d, extent in enumerate(self.dist.shape):
            line = Array(_native.Array.coordinate(self.dist, d, "uint64"))
            number = line if d == 0 else number * extent + line
        return number  # type: ignore[no-any-return]

    def word(self) -> Array:
        """64 random bits per element (uint64)."""
        return made(self.stream.of(self.dist).words(self.dist, "uint64"))  # type: ignore[no-any-return]

    def uniform(self) -> Array:
        """From 0 up to and without 1: 53 random bits in float64, 24 in float32, 11 in float16."""
        return made(self.stream.of(self.dist).uniform(self.dist, self.kind.name))  # type: ignore[no-any-return]

    def inner(self) -> Array:
        """Uniform from 0 to 1 without either, symmetric about the middle."""
        bits = 52 if self.kind is float64 else 23
        return (trunc(self.uniform() * 2.0**bits) + 0.5) * 2.0**-bits

    def exponential(self) -> Array:
        """Of mean 1, by inversion."""
        return made(self.stream.of(self.dist).exponential(self.dist, self.kind.name))  # type: ignore[no-any-return]

    def normal(self) -> Array:
        """Of mean 0 and deviation 1, by Box and Muller's formula."""
        return made(self.stream.of(self.dist).normal(self.dist, self.kind.name))  # type: ignore[no-any-return]

    def constant(self, value: Parameter) -> Array:
        """A parameter as an array."""
        if isinstance(value, Array):
            return value
        return made(_native.Array.full(self.dist, self.kind.name, value))  # type: ignore[no-any-return]

    def has(self, test: Callable[..., Any], *parameters: Parameter) -> bool:
        """True if numbers, in this type, or some elements of arrays pass a test. Arrays are read, so not inside a step."""
        if any(isinstance(x, Array) for x in parameters):
            refuse_in_step(self.name, "an array", "pass numbers whose mean is below 10, or ")
            return bool(test(*map(self.constant, parameters)).any())
        import numpy as np

        with np.errstate(all="ignore"):
            return bool(test(*map(np.dtype(self.kind.name).type, parameters)))

    def gamma(self, shape: Parameter) -> tuple[Array, Array]:
        """Of scale 1, by rejection (Marsaglia and Tsang, 2000): x and l, of which x * e^l is so distributed. Computes."""
        shape = self.constant(shape)
        d = where(shape < 1, shape + 1, shape) - 1 / 3

        def attempt(draw: Draw) -> tuple[Array, Array]:
            x, u = draw.normal(), draw.uniform()
            v = x / sqrt(d * 9) + 1.0
            v = v * v * v
            return v * d, (v > 0) & (log(1.0 - u) < x * x * 0.5 + d - d * v + d * log(v))

        return self.accepted(attempt), where(shape < 1, log(1.0 - self.uniform()) / shape, 0.0)

    def accepted(self, attempt: Callable[[Draw], tuple[Array, Array]]) -> Array:
        """The result of the first attempt that each element accepts. An element's attempts have numbers of their own, so
        that it is the same whatever the others are. Computes, and reads one truth value per attempt."""
        draw = Draw(self.stream.branch(self.dist, self.name), self.dist, self.kind, self.name)
        value, accepts = attempt(draw)
        while not accepts.eval().all():
            value = value.eval()
            other, also = attempt(draw)
            value, accepts = where(accepts, value, other), accepts | also
        return value.eval()
