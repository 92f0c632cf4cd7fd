"""Operators applied to the blocks that the members hold, in the arrays of another package. Knows DLPack, no package."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _native
from .collective import Collective
from .create import from_parts
from .._native import Distribution, Partition
from .._core.ranks import of_members


def apply(
    operator: Collective, blocks: Sequence[Any], wanted: Distribution | None
) -> tuple[list[_native.Part], Distribution]:
    """The operator's result, in parts, and how the blocks were divided: those of this process's members. ``wanted`` is
    the division of the result, where the operator is free to choose. Collective."""
    shapes = [tuple(block.shape) for block in blocks]
    team = operator.source.team
    if len(blocks) != len(team.local_members):
        expected = f"{len(team.local_members)} blocks, given {len(blocks)}"
        raise ValueError(f"{operator._native.name}: expected {expected}; pass one per member, by rank")
    dist = layout_of(operator, of_members(team, operator._native.name, shapes))
    made = operator(from_parts(blocks, dist, copy=None))
    if wanted is not None and made.dist != wanted:
        made = made.redistribute(wanted)
    return made.parts, dist


def layout_of(operator: Collective, shapes: Sequence[tuple[int, ...]]) -> Distribution:
    """The blocks side by side in the grid of the operator's source."""
    over: Partition = operator.source
    name = operator._native.name
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
    dims = [_native.Block(ends) for ends in bounds]
    return Distribution(shape, team=over.team, grid=grid, dims=dims)
