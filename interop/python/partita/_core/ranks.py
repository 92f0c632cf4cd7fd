"""Exchange of small Python values between the processes of a team."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import TypeVar

from .._native import Team

_Value = TypeVar("_Value")


def of_members(team: Team, operation: str, mine: Sequence[_Value]) -> list[_Value]:
    """What every member of a team has, in their order; each process passes what its own members have. Collective."""
    if team.ranks == 1:
        return list(mine)
    packed = pickle.dumps(list(zip(team.local_members, mine, strict=True)))
    pairs = [pair for each in team.share(operation, packed) for pair in pickle.loads(each)]
    return [item for _, item in sorted(pairs, key=lambda pair: pair[0])]


def of_processes(team: Team, operation: str, mine: _Value) -> list[_Value]:
    """What every process of a team has, by rank. Collective."""
    if team.ranks == 1:
        return [mine]
    return [pickle.loads(each) for each in team.share(operation, pickle.dumps(mine))]
