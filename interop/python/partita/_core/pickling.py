"""How pickled devices, teams and arrays are made again. Both directions are collective for what is over several
processes.

A device is found again by its kind, name and number; the host is any host. A team of one process has its members on
the same devices again. A team of several processes is made again over all processes of the program that unpickles it,
with as many members, on devices of the kinds that the pickling process had in it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _native
from ..errors import NoDeviceError

if TYPE_CHECKING:
    from .array import Array


def device(kind: str, number: int, name: str) -> _native.Device:
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


def team(ranks: int, size: int, devices: list[_native.Device]) -> _native.Team:
    """The team of so many members, each on its device; over several processes on devices of the same kinds."""
    if ranks == 1:
        return _native.Team.local(size, devices)
    return _native.Team(size, sorted({one.kind for one in devices}) or None)


def array(elements: Any, where: _native.Distribution | _native.Team, dtype: str) -> Array:
    """The array of these elements on a distribution; without dimensions on a team."""
    from .._api.create import asarray

    if isinstance(where, _native.Team):
        return asarray(elements, dtype, team=where)
    return asarray(elements, dtype, dist=where)
