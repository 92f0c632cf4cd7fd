"""Random permutations without a sort: every element computes its own place."""

from __future__ import annotations

from .._core.array import Array
from .._core.rules import where
from ._stream import BitGenerator
from .._numpy.ufuncs.table import maximum


def _mixed(word: Array) -> Array:
    """SplitMix64's last step, of which every bit depends on every bit of the word (Steele, Lea and Flood, 2014)."""
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9
    word = (word ^ (word >> 27)) * 0x94D049BB133111EB
    return word ^ (word >> 31)


def permuted(index: Array, count: int, stream: BitGenerator) -> Array:
    """The places of these indices in a random permutation of ``count`` (uint64). Computes.

    The permutation is the shuffle swap-or-not (Hoang, Morris and Rogaway, "An enciphering scheme based on a card shuffle",
    2012). In each round, x and K - x change places or do not, by a random bit for every such pair, with a new K and new bits.
    After a round half of all elements are anywhere; the rounds here leave less than 2^-32 of any bias of one element, and less
    of the others'. A stream has at most 2^64 of them, fewer than there are permutations of 21.
    """
    for turn in range(32 + 4 * count.bit_length()):
        pivot = stream.of(index.dist).bits() % count
        other = where(index <= pivot, pivot - index, pivot + count - index)
        swaps = _mixed(maximum(index, other) + stream.of(index.dist).bits()) & 1
        index = where(swaps == 1, other, index)
        # Longer recordings make larger kernels, and are no faster.
        index = index.eval() if turn % 8 == 7 else index
    return index
