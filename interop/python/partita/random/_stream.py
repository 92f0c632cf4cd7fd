"""Random bits, and the uniform, normal and gamma distributed numbers that others are made of.

Element number n, in C order, is what the block cipher Threefry-2x32 with 20 rounds (Salmon, Moraes, Dror and Shaw,
"Parallel random numbers: as easy as 1, 2, 3", 2011) makes of n. It is written as array arithmetic on coordinates,
so that numbers are made where they are needed, in the kernel that uses them.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable
from typing import Any

from .. import _native
from .._api.functions import cos, log, log1p, sqrt, trunc
from .._core.array import Array
from .._core.dtypes import DType, float64, uint32, uint64
from .._core.rules import where
from .._core.teams import of_processes
from .._native import Distribution, Team

_ROTATIONS = (13, 15, 26, 6, 17, 29, 16, 24)
#: So that a key of zeros is no fixed point.
_PARITY = 0x1BD11BDA
_WORD = 0xFFFFFFFF
_TAU = 6.283185307179586

Key = tuple[int, int]
#: A parameter of a distribution: a number for all elements, or an array with one for each.
Parameter = Any


def threefry(key: Key, first: Any, second: Any) -> tuple[Any, Any]:
    """Two words of 32 bits, enciphered: arrays of uint32, or numbers of Python."""

    def cut(word: Any) -> Any:
        return word & _WORD if isinstance(word, int) else word

    keys = (*key, _PARITY ^ key[0] ^ key[1])
    first, second = cut(first + keys[0]), cut(second + keys[1])
    for turn in range(20):
        by = _ROTATIONS[turn % 8]
        first = cut(first + second)
        second = cut(second << by | second >> (32 - by)) ^ first
        if turn % 4 == 3:
            block = turn // 4 + 1
            first = cut(first + keys[block % 3])
            second = cut(second + (keys[(block + 1) % 3] + block & _WORD))
    return first, second


class Stream:
    """Keys, one after the other, each for an array of random words."""

    def __init__(self, seed: int | None) -> None:
        self._key = None if seed is None else _key_of(seed)
        self._calls = 0

    def key(self, team: Team) -> Key:
        """The next key. Without a seed the first one is the operating system's, of the team's first process."""
        if self._key is None:
            self._key = _key_of(of_processes(team, "random", secrets.randbits(64))[0])
        self._calls += 1
        return threefry(self._key, (self._calls - 1) & _WORD, (self._calls - 1) >> 32)

    def branch(self, team: Team) -> Stream:
        """A stream of its own, for as many keys as it takes: this one advances by one."""
        stream = Stream(None)
        stream._key = self.key(team)
        return stream


def _key_of(seed: int) -> Key:
    key = (seed & _WORD, 0)
    # Seeds of any length, 32 bits at a time.
    while True:
        seed >>= 32
        key = threefry(key, seed & _WORD, 0)
        if seed >> 32 == 0:
            return key


class Draw:
    """Random numbers for the elements of one array: what distributions are made of."""

    def __init__(self, stream: Stream, dist: Distribution, scalar: bool, kind: DType) -> None:
        self.stream, self.dist, self.scalar, self.kind = stream, dist, scalar, kind

    def number(self) -> Array:
        """The number of each element in C order: uint32, or uint64 where that is too small."""
        number, word = None, uint32 if math.prod(self.dist.shape) <= _WORD else uint64
        for d, extent in enumerate(self.dist.shape):
            line = Array(_native.Array.coordinate(self.dist, d, word.name))
            number = line if number is None else number * extent + line
        assert number is not None
        return Array(number._native, self.scalar)

    def words(self) -> tuple[Array, Array]:
        """Two random words of 32 bits per element."""
        key, number = self.stream.key(self.dist.team), self.number()
        high = (number >> 32).astype(uint32) if number.dtype is uint64 else number * 0
        return threefry(key, number.astype(uint32), high)

    def uniform(self) -> Array:
        """From 0 up to and without 1: 53 random bits in float64, 24 in float32, 11 in float16."""
        first, second = self.words()
        if self.kind is float64:
            return ((first >> 5).astype(float64) * 67108864.0 + (second >> 6).astype(float64)) * 2.0**-53
        bits = {"float32": 24, "float16": 11, "bfloat16": 8}[self.kind.name]
        return (first >> (32 - bits)).astype(self.kind) * 2.0**-bits

    def inner(self) -> Array:
        """Uniform from 0 to 1 without either, symmetric about the middle."""
        bits = 52 if self.kind is float64 else 23
        return (trunc(self.uniform() * 2.0**bits) + 0.5) * 2.0**-bits

    def exponential(self) -> Array:
        """Of mean 1, by inversion."""
        return -log1p(-self.uniform())

    def normal(self) -> Array:
        """Of mean 0 and deviation 1, by Box and Muller's formula."""
        radius, angle = self.uniform(), self.uniform()
        # 1 - u is never 0, whose logarithm is infinite.
        return sqrt(log(1.0 - radius) * -2.0) * cos(angle * _TAU)

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
