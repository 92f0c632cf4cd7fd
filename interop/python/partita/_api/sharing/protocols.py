"""``__distarray__`` and ``__partitioned__``: arrays from what other packages say of their parts."""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from typing import Any

from ... import _native
from ..._core.array import Array
from ..._core.describe import address, device_of, get
from ..._core.memory import host_of, refuse_copies
from ..._core.ranks.teams import of_members, of_processes
from ..._native import Team
from ..create import asarray, from_parts


def _is_this_host(address: str) -> bool:
    """True if a network address is one of this machine's: others cannot be bound to."""
    try:
        with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.bind((address, 0))
    except (OSError, ValueError):
        return False
    return True


def _check_location(position: tuple[int, ...], locations: Any, data: Any) -> None:
    """Refuses data that are here, although the description says that they are elsewhere. Ranks and names, which other
    dialects have in place of (IP, PID[, device]), say nothing that can be compared."""
    here = device_of(data)
    processes = [place for place in locations if isinstance(place, tuple)] if isinstance(locations, (list, tuple)) else []

    def is_here(place: tuple[Any, ...]) -> bool:
        device = str(place[2]) if len(place) > 2 else "kDLCPU"
        # A kind without a number is any device of the kind; pinned memory is the host's.
        same = device in (here, here.partition(":")[0])
        pinned = here.startswith(("kDLCUDAHost", "kDLROCMHost")) and device.startswith("kDLCPU")
        return (same or pinned) and place[1] == os.getpid() and _is_this_host(str(place[0]))

    if processes and not any(map(is_here, processes)):
        ours = (address(1), os.getpid(), here)
        text = f"expected a location of the data, which are in this process, {ours}, given {locations}"
        remedy = "describe where they are, or pass handles that `get` brings here"
        raise ValueError(f"__partitioned__: partitions[{position}]['location']: {text}; {remedy}")


def from_distarray(obj: Any, team: Team | None = None, *, copy: bool | None = None, writable: bool = False) -> Array:
    """An array from objects with ``__distarray__``; padding is not needed. Collective.

    Parameters
    ----------
    obj : object, dict, or a sequence of them
        What has ``__distarray__``, or what it returned; of all parts of this process, in the order of their ranks (in
        one process in any order).
    team : Team, optional
        With one member per part; by default over the devices that ``PARTITA_DEVICE`` names, of all processes.
    copy : bool, optional
        As in `from_parts`: the memory of all parts is used where it is if it can be, which is then not to be written.
    writable : bool, optional
        Assignments to the array change the memory of the parts, as in `from_dlpack`; nothing is copied.

    Raises
    ------
    ValueError
        If a description is malformed, or they do not make one array; the text names the key and the reason.
    BufferError
        With ``copy=False``, if a part must be copied.
    """
    refuse_copies("from_distarray", copy, writable)
    copy = False if writable else copy
    given = list(obj) if isinstance(obj, Sequence) else [obj]
    described = [part.__distarray__() if hasattr(part, "__distarray__") else part for part in given]
    over = team or _native.Team()
    if any(lone for each in of_processes(over, "from_distarray", [_is_zero_d(d) for d in described]) for lone in each):
        return _zero_d(described, over, team, copy)
    if over.ranks == 1:
        described.sort(key=_place)
    if over.ranks > 1 and len(described) != len(over.local_members):
        expected = f"{len(over.local_members)} parts, as many as this process has members"
        raise ValueError(f"from_distarray: expected {expected}, given {len(described)}; pass team=")
    everyone = described if over.ranks == 1 else of_members(over, "from_distarray", [_outline(d) for d in described])
    if over.ranks > 1:
        everyone = [_with_cells(d) for d in everyone]
    dist = _native.read_distarray(everyone, over if over.ranks > 1 else team)
    blocks = []
    for part, description in zip(dist.team.local_members, described, strict=True):
        owned, buffer = dist.owned(part), description["buffer"]
        extents = [o[1] - o[0] if isinstance(o, tuple) else len(o) for o in owned]
        if hasattr(buffer, "__dlpack__") and list(getattr(buffer, "shape", ())) == extents:
            # Nothing to leave out, so it may stay where it is.
            blocks.append(buffer)
            continue
        host = _memory(buffer)
        first = [o[0] if isinstance(o, tuple) else int(o[0]) for o in owned] if all(extents) else None
        offset = dist.to_local(first)[1] if first is not None else (0,) * len(extents)
        inner = tuple(slice(at, at + extent) for at, extent in zip(offset, extents, strict=True))
        blocks.append(host[inner].reshape(extents))
    return from_parts(blocks, dist, copy=copy, writable=writable)


def _is_zero_d(described: Any) -> bool:
    return isinstance(described, dict) and described.get("dim_data") == ()


def _zero_d(described: list[Any], over: Team, team: Team | None, copy: bool | None) -> Array:
    """The array without dimensions that one process has, in all of them."""
    everyone = described
    if over.ranks > 1:
        outlines = of_processes(over, "from_distarray", [_outline(d) for d in described])
        everyone = [_with_cells(d) for each in outlines for d in each]
    _native.read_distarray(everyone, _native.Team.local(1, "host"))
    return _shared_element([_memory(d["buffer"]) for d in described], over, team, copy)


def _shared_element(mine: list[Any], over: Team, team: Team | None, copy: bool | None) -> Array:
    if copy is False:
        raise BufferError("from_dlpack: expected at least one dimension, given none; allow a copy")
    everywhere = [one for each in of_processes(over, "an array without dimensions", mine) for one in each]
    return asarray(everywhere[0], team=team)


def _place(described: Any) -> int:
    """The place of a part in the process grid, in C order; parts of flipped and transposed arrays come in others. What
    is malformed is refused later."""
    place = 0
    try:
        for dim in described["dim_data"]:
            place = place * int(dim.get("proc_grid_size", 1)) + int(dim.get("proc_grid_rank", 0))
    except (AttributeError, KeyError, TypeError, ValueError):
        return 0
    return place


def _outline(described: Any) -> Any:
    """A description without its memory, for other processes; what is none is theirs to refuse, too."""
    if not isinstance(described, dict) or "buffer" not in described:
        return described
    host = _memory(described["buffer"])
    return {**described, "buffer": (host.shape, host.dtype.str)}


def _with_cells(outline: Any) -> Any:
    """The description with memory of that shape, which takes none."""
    import numpy as np

    if not isinstance(outline, dict) or "buffer" not in outline:
        return outline
    shape, kind = outline["buffer"]
    return {**outline, "buffer": np.broadcast_to(np.zeros((), kind), shape)}


def _memory(buffer: Any) -> Any:
    """Anything with a buffer or DLPack as a NumPy array."""
    import numpy as np

    try:
        return np.asarray(memoryview(buffer))
    except TypeError:
        return host_of(_standard(buffer, "__distarray__: buffer"))


def _standard(data: Any, where: str) -> Any:
    """The same, if it is an array of the kinds that both protocols speak of."""
    frame = hasattr(data, "__dataframe__") or hasattr(data, "__arrow_c_stream__")
    if not frame and any(hasattr(data, name) for name in ("__dlpack__", "__array__", "__array_interface__")):
        return data
    try:
        memoryview(data)
    except TypeError:
        text = f"expected an array with a buffer, DLPack or __array__, given {type(data).__name__}"
        raise TypeError(f"{where}: {text}; convert it with numpy.asarray") from None
    return data


def from_partitioned(obj: Any, team: Team | None = None, *, copy: bool | None = None, writable: bool = False) -> Array:
    """An array from an object with ``__partitioned__``, of any dialect. Collective.

    Parameters
    ----------
    obj : object or dict
        The partitions of this process's members must have data here, in a single process all of them.
    team : Team, optional
        With one member per partition; by default over the devices that ``PARTITA_DEVICE`` names, of all processes.
    copy : bool, optional
        As in `from_parts`: the memory of all partitions is used where it is if it can be, which is then not to be
        written.
    writable : bool, optional
        Assignments to the array change the memory of the partitions, as in `from_dlpack`; nothing is copied.

    Raises
    ------
    ValueError
        If the description is malformed, or says of data that are here that they are at another address, in another
        process or on another device; the text names the key and the reason. Handles may be anywhere.
    TypeError
        If data are no array, such as a data frame.
    BufferError
        With ``copy=False``, if a partition must be copied.
    """
    refuse_copies("from_partitioned", copy, writable)
    copy = False if writable else copy
    if not isinstance(obj, dict) and not hasattr(obj, "__partitioned__"):
        given = type(obj).__name__
        raise TypeError(f"from_partitioned: expected a dict or an object with __partitioned__, given {given}; use asarray")
    described = obj if isinstance(obj, dict) else obj.__partitioned__
    is_zero_d = isinstance(described, dict) and described.get("shape") == ()
    dist = _native.read_partitioned(described, _native.Team.local(1, "host") if is_zero_d else team)
    fetch = described.get("get") or get

    def fetched(position: tuple[int, ...], entry: dict[str, Any]) -> Any:
        if _is_array(entry["data"]):
            _check_location(position, entry["location"], entry["data"])
        return _standard(fetch(entry["data"]), f"__partitioned__: partitions[{position}]['data']")

    entries = sorted(described["partitions"].items())
    if is_zero_d:
        over = team or _native.Team()
        here = [_memory(fetched(*entry)) for entry in entries if entry[1]["data"] is not None]
        if not any(of_processes(over, "from_partitioned", bool(here))):
            raise ValueError("__partitioned__: partitions[()]['data']: expected data in some process, given None")
        return _shared_element(here, over, team, copy)
    blocks = []
    for position, entry in (entries[member] for member in dist.team.local_members):
        if entry["data"] is None:
            text = f"expected data of the partitions of this process's members; given None at {position}"
            raise ValueError(f"__partitioned__: partitions[{position}]['data']: {text}")
        blocks.append(fetched(position, entry))
    return from_parts(blocks, dist, copy=copy, writable=writable)


def _is_array(data: Any) -> bool:
    try:
        return _standard(data, "") is data
    except TypeError:
        return False
