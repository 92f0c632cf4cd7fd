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
