"""Random bits, and the uniform, normal and gamma distributed numbers that others are made of.

The bits are the engine's (`engine/src/operators/random.rs`): a cipher of each element's number in C order, recorded as
arithmetic, so that numbers are made where they are needed, in the kernel that uses them.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

from .. import _native
from .._api.functions import log, sqrt, trunc
from .._core.array import Array
from .._core.dtypes import DType, float64
from .._core.rules import where
from .._core.ranks.teams import of_processes
from .._native import Distribution, Team

#: A parameter of a distribution: a number for all elements, or an array with one for each.
Parameter = Any


class Stream:
    """The engine's stream of a seed."""

    def __init__(self, seed: int | None) -> None:
        self._generator = None if seed is None else _generator(seed)

    def of(self, team: Team) -> _native.Generator:
        """The stream. Without a seed it begins with one of the operating system's, of the team's first process."""
        if self._generator is None:
            self._generator = _generator(of_processes(team, "random", secrets.randbits(64))[0])
        return self._generator

    def branch(self, team: Team) -> Stream:
        """A stream of its own, for as many draws as it takes: this one goes on by one."""
        stream = Stream(None)
        stream._generator = self.of(team).branch()
        return stream


def _generator(seed: int) -> _native.Generator:
    return _native.Generator([seed >> at & 0xFFFFFFFF for at in range(0, max(seed.bit_length(), 1), 32)])


class Draw:
    """Random numbers for the elements of one array: what distributions are made of."""

    def __init__(self, stream: Stream, dist: Distribution, scalar: bool, kind: DType) -> None:
        self.stream, self.dist, self.scalar, self.kind = stream, dist, scalar, kind

    def number(self) -> Array:
        """The number of each element in C order (uint64)."""
        number = None
        for d, extent in enumerate(self.dist.shape):
            line = Array(_native.Array.coordinate(self.dist, d, "uint64"))
            number = line if number is None else number * extent + line
        assert number is not None
        return Array(number._native, self.scalar)

    def words(self) -> tuple[Array, Array]:
        """Two random words of 32 bits per element."""
        first, second = self.stream.of(self.dist.team).words(self.dist)
        return Array(first, self.scalar), Array(second, self.scalar)

    def _drawn(self, native: Callable[[Distribution, str], _native.Array]) -> Array:
        return Array(native(self.dist, self.kind.name), self.scalar)

    def uniform(self) -> Array:
        """From 0 up to and without 1: 53 random bits in float64, 24 in float32, 11 in float16."""
        return self._drawn(self.stream.of(self.dist.team).uniform)

    def inner(self) -> Array:
        """Uniform from 0 to 1 without either, symmetric about the middle."""
        bits = 52 if self.kind is float64 else 23
        return (trunc(self.uniform() * 2.0**bits) + 0.5) * 2.0**-bits

    def exponential(self) -> Array:
        """Of mean 1, by inversion."""
        return self._drawn(self.stream.of(self.dist.team).exponential)

    def normal(self) -> Array:
        """Of mean 0 and deviation 1, by Box and Muller's formula."""
        return self._drawn(self.stream.of(self.dist.team).normal)

    def constant(self, value: Parameter) -> Array:
        """A parameter as an array."""
        if isinstance(value, Array):
            return value
        return Array(_native.Array.full(self.dist, self.kind.name, value), self.scalar)

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
        """What the first attempt gives that each element accepts. An element's attempts have numbers of their own, so
        that it is the same whatever the others are. Computes, and reads one truth value per attempt."""
        draw = Draw(self.stream.branch(self.dist.team), self.dist, self.scalar, self.kind)
        value, accepts = attempt(draw)
        while not accepts.eval().all():
            value = value.eval()
            other, also = attempt(draw)
            value, accepts = where(accepts, value, other), accepts | also
        return value.eval()
