"""Linear operators between arrays over partitions of a team, each with its adjoint.

An array over a partition is made on the partition's team, in the partition's grid. It is what its members hold, side by
side: where members hold copies, the global array has the copies side by side too, so that they may differ, as gradients
do. Then ``<F(x), y> == <x, F.adjoint(y)>`` with the ordinary sums over all elements. Where PyTorch is to differentiate
through the operators, see ``partita.torch``.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence

from .. import _native
from .._core.array import Array
from .._native import Distribution, Partition

__all__ = [
    "Collective", "Partition", "all_sum_reduce", "allgather", "broadcast", "gather", "halo_exchange", "repartition",
    "scatter", "sum_reduce",
]  # fmt: skip


class Collective:
    """A linear operator from arrays over one partition to arrays over another. A value; call it.

    Calling it computes, and is collective over the world that the partitions are of. An array that is not over
    ``source`` raises ValueError.
    """

    __slots__ = ("_native",)

    def __init__(self, native: _native.Collective) -> None:
        self._native = native

    def __call__(self, x: Array) -> Array:
        """Applies it. Computes; collective over the world that the partitions are of."""
        return Array(self._native.forward(self._checked(x)))

    def _checked(self, x: Array) -> _native.Array:
        name = self._native.name
        if not isinstance(x, Array):
            raise TypeError(f"{name}: expected a partita.Array, given {type(x).__name__}; convert with partita.asarray")
        if x._scalar:
            text = "expected an array of at least one dimension, given one without; reshape it to (1,)"
            raise ValueError(f"{name}: {text}")
        return x._native

    @property
    def adjoint(self) -> Collective:
        """The transposed operator."""
        return Collective(self._native.adjoint)

    @property
    def source(self) -> Partition:
        """The partition of the arrays it is applied to."""
        return self._native.source

    @property
    def target(self) -> Partition:
        """The partition of the arrays it makes."""
        return self._native.target

    def explain(self, x: Array) -> str:
        """The bytes of every link that applying it to ``x`` takes. Not collective; sends nothing."""
        return self._native.explain(self._checked(x))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Collective) and self._native == other._native

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self._native)


def _partition(name: str, given: object) -> Partition:
    if not isinstance(given, Partition):
        text = f"expected a partita.Partition, given {type(given).__name__}; make one with partita.Partition(team)"
        raise TypeError(f"{name}: {text}")
    return given


def _axes(name: str, axes: int | Sequence[int]) -> list[int]:
    try:
        return [operator.index(d) for d in (axes if isinstance(axes, Sequence) else (axes,))]
    except TypeError:
        raise TypeError(f"{name}: expected an axis of the grid, or several, given {axes!r}; count from 0") from None


def _rank(name: str, root: int) -> int:
    try:
        return operator.index(root)
    except TypeError:
        raise TypeError(f"{name}: expected the rank of a member, given {root!r}; count from 0") from None


def _layout(name: str, given: object) -> Distribution:
    if not isinstance(given, Distribution):
        text = f"expected a partita.Distribution, given {type(given).__name__}; make one for the partition's team"
        raise TypeError(f"{name}: {text}")
    return given


def broadcast(source: Partition, target: Partition) -> Collective:
    """Every member of ``target`` gets a copy of what one member of ``source`` holds. Its adjoint sums.

    Along each dimension of the grids, compared from the last on, ``source`` has as many members as ``target``, or one;
    otherwise ValueError. Applying it is collective over their world.
    """
    return Collective(_native.broadcast(_partition("broadcast", source), _partition("broadcast", target)))


def sum_reduce(source: Partition, target: Partition) -> Collective:
    """Every member of ``target`` gets the sum of what several members of ``source`` hold: the adjoint of a broadcast from
    ``target``. Sums are made in the order of the members. Applying it is collective over their world."""
    return Collective(_native.sum_reduce(_partition("sum_reduce", source), _partition("sum_reduce", target)))


def all_sum_reduce(over: Partition, axes: int | Sequence[int]) -> Collective:
    """Every member gets the sum over all members that differ from it along ``axes`` of the grid alone. Its own adjoint.
    Applying it is collective over its world."""
    return Collective(_native.all_sum_reduce(_partition("all_sum_reduce", over), _axes("all_sum_reduce", axes)))


def halo_exchange(over: Partition, dist: Distribution) -> Collective:
    """Every member gets the values of its halo from their owners.

    Applied to arrays distributed as ``dist.padded()``: what a member holds is its own cells and its halo. What the halo
    held before is lost; the adjoint adds it to the owners' cells and leaves zeros. ``dist`` is of blocks in the
    partition's grid, otherwise ValueError. Applying it is collective over its world.
    """
    return Collective(_native.halo_exchange(_partition("halo_exchange", over), _layout("halo_exchange", dist)))


def repartition(
    source: Partition,
    target: Partition,
    *,
    layout: Distribution | None = None,
    adjoint_layout: Distribution | None = None,
) -> Collective:
    """The same array divided over other members, as ``layout`` says, or evenly. The adjoint brings it back, divided as
    ``adjoint_layout`` says, or evenly. Arrays may be divided in any way, cyclic and listed ones too. Applying it is
    collective over their world."""
    name = "repartition"
    return Collective(_native.repartition(_partition(name, source), _partition(name, target), layout, adjoint_layout))


def gather(source: Partition, root: int, *, adjoint_layout: Distribution | None = None) -> Collective:
    """The whole array at the member of rank ``root``. The adjoint scatters it, as ``adjoint_layout`` says, or evenly.
    Applying it is collective over its world."""
    return Collective(_native.gather(_partition("gather", source), _rank("gather", root), adjoint_layout))


def scatter(target: Partition, root: int, *, layout: Distribution | None = None) -> Collective:
    """An array of the one member of rank ``root`` divided over all, as ``layout`` says, or evenly: the adjoint of
    ``gather``. Applying it is collective over its world."""
    return Collective(_native.scatter(_partition("scatter", target), _rank("scatter", root), layout))


def allgather(
    over: Partition, axes: int | Sequence[int], *, adjoint_layout: Distribution | None = None
) -> Collective:
    """Every member gets, side by side, what all members hold that differ from it along ``axes`` alone. The adjoint sums
    what the members hold of each element, and gives every member its share, divided as ``adjoint_layout`` says, or evenly.
    Applying it is collective over its world."""
    return Collective(_native.allgather(_partition("allgather", over), _axes("allgather", axes), adjoint_layout))
