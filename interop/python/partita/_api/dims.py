"""Divisions of one dimension: the entries of ``Distribution(dims=...)``."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class Block:
    """One dimension cut into contiguous ranges: evenly, or at ``bounds``, from 0 to the extent."""

    bounds: Sequence[int] | None = None

    def __post_init__(self) -> None:
        if self.bounds is not None:
            object.__setattr__(self, "bounds", [operator.index(n) for n in self.bounds])

    def __repr__(self) -> str:
        return f"partita.Block({'' if self.bounds is None else self.bounds})"


@dataclass(frozen=True)
class Cyclic:
    """One dimension whose blocks are dealt out in turn."""

    block_size: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "block_size", operator.index(self.block_size))

    def __repr__(self) -> str:
        return f"partita.Cyclic({self.block_size})"


@dataclass(frozen=True)
class Unstructured:
    """One dimension of which every part lists what it holds."""

    indices_per_part: Iterable[Iterable[int]]
    one_to_one: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "indices_per_part", [[operator.index(i) for i in part] for part in self.indices_per_part])

    def __repr__(self) -> str:
        return f"partita.Unstructured(<{len(list(self.indices_per_part))} parts>, one_to_one={self.one_to_one})"


@dataclass(frozen=True)
class Replicated:
    """One dimension that every part along it has whole, without halo. Operations read the part's own copy, assignment changes all. The
    first of the parts owns the elements; `Distribution.holders` names all. The copies that `from_parts` takes should be equal."""

    _is_replicated: ClassVar[bool] = True

    def __repr__(self) -> str:
        return "partita.Replicated()"


class CustomMap:
    """A division of one dimension of one's own. A subclass has ``size``, the extent, ``parts``, and the method ``owner``, which gives
    the part of an index; it may have ``local_index``, the index's place among those of its part, by default in ascending order.
    Both are asked once for every index when a distribution is made, in every process, and must answer alike.

    Examples
    --------
    >>> import partita as pt
    >>> class Halves(pt.CustomMap):  # of even indices and of odd ones, the latter backwards
    ...     def __init__(self, size):
    ...         self.size, self.parts = size, 2
    ...     def owner(self, index):
    ...         return index % 2
    ...     def local_index(self, index):
    ...         return index // 2 if index % 2 == 0 else (self.size - 1 - index) // 2
    >>> pt.Distribution(6, team=pt.Team(2, "host"), dims=[Halves(6)]).owned(1)
    (array([5, 3, 1]),)
    """

    one_to_one = True
    size: int
    parts: int

    def __repr__(self) -> str:
        return f"<partita.CustomMap {type(self).__name__}>"

    def owner(self, index: int) -> int:
        """The part that owns an index."""
        raise NotImplementedError(f"CustomMap: expected {type(self).__name__} to have a method owner(index); write it")

    def local_index(self, index: int) -> int | None:
        """The place of an index in its part; None for ascending order."""
        return None

    @property
    def indices_per_part(self) -> list[list[int]]:
        """The indices of each part, in its order."""
        found: list[dict[int, int]] = [{} for _ in range(operator.index(self.parts))]
        name = type(self).__name__
        for index in range(operator.index(self.size)):
            part = operator.index(self.owner(index))
            if not 0 <= part < len(found):
                raise ValueError(f"CustomMap: expected a part below {len(found)}, given owner({index}) = {part}; correct {name}.owner")
            given = self.local_index(index)
            place = len(found[part]) if given is None else operator.index(given)
            if place in found[part]:
                both = f"{found[part][place]} and {index} of part {part}"
                raise ValueError(f"CustomMap: expected places of their own, given {place} for {both}; correct {name}.local_index")
            found[part][place] = index
        for part, places in enumerate(found):
            if places and (min(places) < 0 or max(places) >= len(places)):
                ends = f"{min(places)} to {max(places)} for the {len(places)} indices of part {part}"
                raise ValueError(f"CustomMap: expected places from 0 on without gaps, given {ends}; correct {name}.local_index")
        return [[places[n] for n in range(len(places))] for places in found]
