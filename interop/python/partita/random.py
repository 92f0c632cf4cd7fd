"""Random numbers that depend on the seed and on where an element is, not on how the array is divided or computed.

Element number n, in C order, is what the block cipher Threefry-2x32 with 20 rounds (Salmon, Moraes, Dror and Shaw,
"Parallel random numbers: as easy as 1, 2, 3", 2011) makes of n. It is written as array arithmetic on coordinates,
so that numbers are made where they are needed, in the kernel that uses them.
"""

from __future__ import annotations

import math
import operator
from typing import Any

from . import _native
from ._api.functions import cos, log, sqrt
from ._core.array import Array
from ._core.dtypes import as_dtype, bool_, default, float32, float64, int64, uint32, uint64
from ._core.memory import Shape, placed
from ._native import Distribution, Team

__all__ = ["Generator", "default_rng"]

_ROTATIONS = (13, 15, 26, 6, 17, 29, 16, 24)
#: So that a key of zeros is no fixed point.
_PARITY = 0x1BD11BDA
_WORD = 0xFFFFFFFF
_TAU = 6.283185307179586


def threefry(key: tuple[int, int], first: Any, second: Any) -> tuple[Any, Any]:
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


class Generator:
    """A stream of random arrays; made by `default_rng`. Every call goes on with new numbers.

    Shapes are global. Arrays are distributed as by ``partita.zeros``. The same seed and calls give the same elements
    on every team, distribution and device; normal numbers too, because the functions they are made with are
    partita's own.
    """

    def __init__(self, seed: int) -> None:
        low, high = seed & _WORD, seed >> 32
        key = (low, 0)
        # Seeds of any length, 32 bits at a time.
        while True:
            key = threefry(key, high & _WORD, 0)
            high >>= 32
            if not high:
                break
        self._key, self._calls = key, 0

    def _words(self, shape: Shape, dist: Distribution | None, team: Team | None) -> tuple[Array, Array]:
        """Two random words of 32 bits per element."""
        whole, scalar = placed("random", shape, dist, team)
        key = threefry(self._key, self._calls & _WORD, self._calls >> 32)
        self._calls += 1
        word = uint32 if math.prod(whole.shape) <= _WORD else uint64
        number = None
        for d, extent in enumerate(whole.shape):
            line = Array(_native.Array.coordinate(whole, d, word.name))
            number = line if number is None else number * extent + line
        assert number is not None
        low = number.astype(uint32)
        high = (number >> 32).astype(uint32) if word is uint64 else low * 0
        first, second = threefry(key, low, high)
        return (Array(first._native, scalar), Array(second._native, scalar))

    def random(
        self, size: Shape = (), dtype: Any = None, dist: Distribution | None = None, *, team: Team | None = None
    ) -> Array:
        """Floats from 0 up to and without 1: 53 random bits in float64, 24 in float32, 11 in float16."""
        kind = default.float if dtype is None else as_dtype(dtype)
        first, second = self._words(size, dist, team)
        if kind is float64:
            return ((first >> 5).astype(float64) * 67108864.0 + (second >> 6).astype(float64)) * 2.0**-53
        if kind.kind != "f":
            raise TypeError(f"random: expected a type of floats, given {kind.name}; use integers")
        bits = {"float32": 24, "float16": 11, "bfloat16": 8}[kind.name]
        return (first >> (32 - bits)).astype(kind) * 2.0**-bits

    def uniform(
        self, low: float = 0.0, high: float = 1.0, size: Shape = (), dtype: Any = None,
        dist: Distribution | None = None, *, team: Team | None = None,
    ) -> Array:  # fmt: skip
        """Floats from ``low`` up to ``high``."""
        if not math.isfinite(high - low):
            raise OverflowError(f"uniform: expected a finite range, given {low} to {high}; scale the numbers afterwards")
        return self.random(size, dtype, dist, team=team) * (high - low) + low

    def normal(
        self, loc: float = 0.0, scale: float = 1.0, size: Shape = (), dtype: Any = None,
        dist: Distribution | None = None, *, team: Team | None = None,
    ) -> Array:  # fmt: skip
        """Normally distributed floats of mean ``loc`` and standard deviation ``scale``, by Box and Muller's formula."""
        kind = default.float if dtype is None else as_dtype(dtype)
        if kind not in (float32, float64):
            raise TypeError(f"normal: expected float32 or float64, given {kind.name}; convert the result with astype")
        if scale < 0:
            raise ValueError(f"normal: expected a scale of at least 0, given {scale}")
        radius = self.random(size, kind, dist, team=team)
        angle = self.random(size, kind, dist, team=team)
        # 1 - u is never 0, whose logarithm is infinite.
        return sqrt(log(1.0 - radius) * -2.0) * cos(angle * _TAU) * scale + loc

    def standard_normal(
        self, size: Shape = (), dtype: Any = None, dist: Distribution | None = None, *, team: Team | None = None
    ) -> Array:
        """Normally distributed floats of mean 0 and standard deviation 1."""
        return self.normal(0.0, 1.0, size, dtype, dist, team=team)

    def integers(
        self, low: int, high: int | None = None, size: Shape = (), dtype: Any = int64,
        dist: Distribution | None = None, *, team: Team | None = None, endpoint: bool = False,
    ) -> Array:  # fmt: skip
        """Integers from ``low`` (0 if only one is given) up to and without ``high`` (with it if ``endpoint``).

        They are remainders of 64 random bits, so small ones are likelier by at most (high - low) / 2^64.
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
        upper, lower = self._words(size, dist, team)
        drawn = (upper.astype(uint64) << 32) | lower.astype(uint64)
        if last - first < 2**64:
            drawn = drawn % (last - first)
        if kind is bool_:
            return drawn + first > 0
        # Wraps round twice for negative numbers, and so arrives.
        return (drawn + (first & (2**64 - 1))).astype(kind)


def default_rng(seed: int | None = None) -> Generator:
    """A stream of random arrays that begins anew.

    Parameters
    ----------
    seed : int, optional
        At least 0. None takes one from the operating system.
    """
    if seed is None:
        import secrets

        seed = secrets.randbits(64)
    value = operator.index(seed)
    if value < 0:
        raise ValueError(f"default_rng: expected a seed of at least 0, given {seed}")
    return Generator(value)
