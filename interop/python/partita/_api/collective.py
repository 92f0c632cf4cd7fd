"""Linear operators between arrays over partitions of a team, each with its adjoint.

An array over a partition is made on the partition's team, in the partition's grid. It is what its members hold, side by
side: where members hold copies, the global array has the copies side by side too, so that they may differ, as gradients
do. Then ``<F(x), y> == <x, F.adjoint(y)>`` with the ordinary sums over all elements. Where PyTorch is to differentiate
through the operators, see ``partita.torch``.

>>> import partita as pt
>>> everyone = pt.Partition(pt.Team(2, "host"))
>>> copies = pt.collective.broadcast(everyone.inclusive([0]), everyone)
>>> copies.adjoint(copies(pt.ones(2, team=everyone.inclusive([0]).team))).tolist()
[2.0, 2.0]
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from .. import _native
from .._core.array import Array
from .._core.dtypes import bool_
from .._core.ranks.teams import of_members
from .._core.views.indexing import assign, check_writeable
from .._core.views.links import forget, holder_of
from .._native import Distribution, Partition, PendingCollective
from .create import from_parts
from .dims import Block

__all__ = [
    "Collective", "Partition", "PendingCollective", "all_reduce_", "all_sum_reduce", "allgather", "broadcast", "gather", "halo_exchange", "repartition",
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

    def start(self, x: Array) -> PendingCollective:
        """Begins to apply it: ``finish()`` of what this returns gives the result, and work that is queued before runs while
        elements travel. Computes ``x``. Both are collective over the world that the partitions are of."""
        return self._native.start(self._checked(x))

    def _checked(self, x: Array) -> _native.Array:
        name = self._native.name
        if not isinstance(x, Array):
            raise TypeError(f"{name}: expected a partita.Array, given {type(x).__name__}; convert with partita.asarray")
        if not x.ndim:
            text = "expected an array of at least one dimension, given one without; reshape it to (1,)"
            raise ValueError(f"{name}: {text}")
        if x.dtype is bool_ and "sum" in name:
            raise TypeError(f"{name}: expected numbers, given bool; convert with astype('int64')")
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


def _made(
    name: str, source: object, target: object, numbers: Any = (), *, halo: object = None, **layouts: Any
) -> Collective:
    """The operator of a name; ``numbers`` are axes of the grid, or the rank of the root."""
    for given in (source, target):
        if not isinstance(given, Partition):
            text = f"expected a partita.Partition, given {type(given).__name__}; make one with partita.Partition(team)"
            raise TypeError(f"{name}: {text}")
    if not isinstance(halo, Distribution) and name == "halo_exchange":
        text = f"expected a partita.Distribution, given {type(halo).__name__}; make one for the partition's team"
        raise TypeError(f"{name}: {text}")
    try:
        counted = [operator.index(n) for n in (numbers if isinstance(numbers, Sequence) else (numbers,))]
    except TypeError:
        is_root = name in ("gather", "scatter")
        expected = f"the rank of a member, given {numbers[0]!r}" if is_root else f"an axis of the grid, or several, given {numbers!r}"
        raise TypeError(f"{name}: expected {expected}; count from 0") from None
    return Collective(_native.Collective(name, source, target, counted, halo, **layouts))  # type: ignore[arg-type]


def broadcast(source: Partition, target: Partition) -> Collective:
    """Every member of ``target`` gets a copy of what one member of ``source`` holds. Its adjoint sums.

    Along each dimension of the grids, compared from the last on, ``source`` has as many members as ``target``, or one;
    otherwise ValueError. Applying it is collective over their world.
    """
    return _made("broadcast", source, target)


def sum_reduce(source: Partition, target: Partition) -> Collective:
    """Every member of ``target`` gets the sum of what several members of ``source`` hold: the adjoint of a broadcast from
    ``target``. Sums are made in the order of the members. Applying it is collective over their world."""
    return _made("sum_reduce", source, target)


def all_sum_reduce(over: Partition, axes: int | Sequence[int]) -> Collective:
    """Every member gets the sum over all members that differ from it along ``axes`` of the grid alone. Its own adjoint.
    Applying it is collective over its world."""
    return _made("all_sum_reduce", over, over, axes)


def all_reduce_(x: Array, over: Partition | None = None, axes: int | Sequence[int] | None = None) -> Array:
    """What `all_sum_reduce` makes of ``x``, written to the memory of ``x``, which stays where it is unless something else, such as
    a copy or a part, still has the old value. By default over all members of its team, in the grid of its distribution, along all
    axes; members hold blocks of one shape. Gives ``x`` itself. Computes. Collective over the world."""
    if not isinstance(x, Array):
        raise TypeError(f"all_reduce_: expected a partita.Array, given {type(x).__name__}; convert with partita.asarray")
    over = over or Partition(x.team, x.dist.grid if x.ndim else None)
    operator = all_sum_reduce(over, range(len(over.shape)) if axes is None else axes)
    check_writeable("all_reduce_", x)
    held: Any = holder_of(x)
    if held._link is None:
        forget(held)
        operator._native.overwrite(operator._checked(held))
    else:
        assign(x, ..., operator(x))
    return x


def halo_exchange(over: Partition, dist: Distribution) -> Collective:
    """Every member gets the values of its halo from their owners.

    Applied to arrays distributed as ``dist.padded()``: what a member holds is its own cells and its halo. What the halo
    held before is lost; the adjoint adds it to the owners' cells and leaves zeros. ``dist`` is of blocks in the
    partition's grid, otherwise ValueError. Applying it is collective over its world.
    """
    return _made("halo_exchange", over, over, halo=dist)


def repartition(
    source: Partition, target: Partition, *, layout: Distribution | None = None, adjoint_layout: Distribution | None = None
) -> Collective:
    """The same array divided over other members, as ``layout`` says, or evenly. The adjoint brings it back, divided as
    ``adjoint_layout`` says, or evenly. Arrays may be divided in any way, cyclic and listed ones too. Applying it is
    collective over their world."""
    return _made("repartition", source, target, layout=layout, adjoint_layout=adjoint_layout)


def gather(source: Partition, root: int, *, adjoint_layout: Distribution | None = None) -> Collective:
    """The whole array at the member of rank ``root``. The adjoint scatters it, as ``adjoint_layout`` says, or evenly.
    Applying it is collective over its world."""
    return _made("gather", source, source, (root,), adjoint_layout=adjoint_layout)


def scatter(target: Partition, root: int, *, layout: Distribution | None = None) -> Collective:
    """An array of the one member of rank ``root`` divided over all, as ``layout`` says, or evenly: the adjoint of
    ``gather``. Applying it is collective over its world."""
    return _made("scatter", target, target, (root,), layout=layout)


def allgather(
    over: Partition, axes: int | Sequence[int], *, adjoint_layout: Distribution | None = None
) -> Collective:
    """Every member gets, side by side, what all members hold that differ from it along ``axes`` alone. The adjoint sums
    what the members hold of each element, and gives every member its share, divided as ``adjoint_layout`` says, or evenly.
    Applying it is collective over its world."""
    return _made("allgather", over, over, axes, adjoint_layout=adjoint_layout)


# Blocks of other packages, which have DLPack: what the members hold.


def apply(
    collective: Collective, blocks: Sequence[Any], wanted: Distribution | None
) -> tuple[list[_native.Part], Distribution]:
    """The operator's result, in parts, and how the blocks were divided: those of this process's members. ``wanted`` is
    the division of the result, where the operator is free to choose. Collective."""
    shapes = [tuple(block.shape) for block in blocks]
    team = collective.source.team
    if len(blocks) != len(team.local_members):
        expected = f"{len(team.local_members)} blocks, given {len(blocks)}"
        raise ValueError(f"{collective._native.name}: expected {expected}; pass one per member, by rank")
    dist = layout_of(collective, of_members(team, collective._native.name, shapes))
    made = collective(from_parts(blocks, dist, copy=None))
    if wanted is not None and made.dist != wanted:
        made = made.redistribute(wanted)
    return made.parts, dist


def layout_of(collective: Collective, shapes: Sequence[tuple[int, ...]]) -> Distribution:
    """The blocks side by side in the grid of the operator's source."""
    over = collective.source
    name = collective._native.name
    if len(shapes) != len(over):
        raise ValueError(f"{name}: expected {len(over)} blocks, given {len(shapes)}; pass one per member, by rank")
    # Members on a line divide the first dimension.
    grid = over.shape + (1,) * (len(shapes[0]) - 1 if len(over.shape) == 1 else 0)
    if any(len(shape) != len(grid) for shape in shapes):
        raise ValueError(f"{name}: expected blocks of {len(grid)} dimensions, given {shapes[0]}; arrange members so")
    bounds = []
    step = len(shapes)
    for d, parts in enumerate(grid):
        step //= parts
        extents = [shapes[at * step][d] for at in range(parts)]
        if any(shape[d] != extents[rank // step % parts] for rank, shape in enumerate(shapes)):
            raise ValueError(f"{name}: expected blocks that fit side by side in a grid of {grid}, given {list(shapes)}")
        bounds.append([sum(extents[:at]) for at in range(parts + 1)])
    shape = tuple(ends[-1] for ends in bounds)
    dims = [Block(ends) for ends in bounds]
    return Distribution(shape, team=over.team, grid=grid, dims=dims)
