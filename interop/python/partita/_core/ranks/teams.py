"""Teams over several processes: exchange of small Python values between these, and how pickled devices and teams are
made again.

A device is found again by its kind, name and number; the host is any host. A team of one process has its members on
the same devices again. A team of several processes is made again over all processes of the program that unpickles it,
with as many members, on devices of the kinds that the pickling process had in it.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import TypeVar

from ... import _native
from ..._native import Device, Team
from ...errors import NoDeviceError

_Value = TypeVar("_Value")


def of_members(team: Team, operation: str, mine: Sequence[_Value]) -> list[_Value]:
    """The values of every member of a team, in their order; each process passes what its own members have. Collective."""
    if team.ranks == 1:
        return list(mine)
    packed = pickle.dumps(list(zip(team.local_members, mine, strict=True)))
    pairs = [pair for each in team.share(operation, packed) for pair in pickle.loads(each)]
    return [item for _, item in sorted(pairs, key=lambda pair: pair[0])]


def of_processes(team: Team, operation: str, mine: _Value) -> list[_Value]:
    """The values of every process of a team, by rank. Collective."""
    if team.ranks == 1:
        return [mine]
    return [pickle.loads(each) for each in team.share(operation, pickle.dumps(mine))]


def device(kind: str, number: int, name: str) -> Device:
    """The device that was pickled, or NoDeviceError."""
    here = _native.devices()
    alike = [other for other in here if other.kind == kind]
    named = [other for other in alike if other.name == name]
    numbered = [other for other in named if other.__dlpack_device__()[1] == number]
    found = numbered or named or (alike if kind == "host" else [])
    if not found:
        given = ", ".join(other.name for other in here)
        remedy = "unpickle where it is, or pickle u.numpy() and make the array on other devices"
        raise NoDeviceError(f"unpickling: expected the device {name}, given {given}; {remedy}")
    return found[0]


def team(ranks: int, size: int, devices: list[Device]) -> Team:
    """The team of so many members, each on its device; over several processes on devices of the same kinds. Collective
    over several processes."""
    if ranks == 1:
        return Team.local(size, devices)
    return Team(size, sorted({one.kind for one in devices}) or None)
