"""Engine arrays from NumPy, from parts and from foreign memory (DLPack), and back to NumPy."""

from __future__ import annotations

import operator
import sys
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from .. import _native
from .._native import Device, Distribution, Team
from .dtypes import DType, as_dtype, bfloat16, default
from .watch import step
from .ranks.teams import of_members, of_processes
from ..errors import UnsupportedError

if TYPE_CHECKING:
    import numpy as np

Shape = int | Sequence[int]
#: Ways to give a team: itself, or devices.
OnDevice = Team | Device | str | Sequence[Device | str] | None

NUMBERS = (bool, int, float, complex)
#: Values of Python, which have no type of NumPy's.
_LISTS = (*NUMBERS, list, tuple)


class GatherWarning(UserWarning):
    """A whole array was gathered on the host by a function that does not say so: one of NumPy's that partita does not have, or
    `Array.__dlpack__` of several parts."""


_limit: list[int | None] = [1 << 30]
_warned: set[str] = set()


def set_gather_limit(limit: int | None) -> None:
    """Sets how many bytes functions that do not say so may gather on the host; see `GatherWarning`. Local; all processes pass the
    same.

    Parameters
    ----------
    limit : int or None
        Bytes of all arrays of one call, at the start 2^30. 0 refuses all such functions, None none.

    Examples
    --------
    >>> import numpy as np, partita as pt
    >>> pt.set_gather_limit(0)
    >>> np.sinc(pt.zeros(2)).tolist()                  # is there
    [1.0, 1.0]
    >>> np.i0(pt.zeros(8, bool))                       # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    partita.errors.UnsupportedError: numpy.i0: expected at most 0 B of arrays to gather on the host, given 8 B; ...
    >>> pt.set_gather_limit(1 << 30)
    """
    if limit is not None and limit < 0:
        raise ValueError(f"set_gather_limit: expected a number of bytes or None, given {limit}")
    _limit[0] = limit


def get_gather_limit() -> int | None:
    """The bytes that functions that do not say so may gather on the host; None without a limit. Local."""
    return _limit[0]


def check_gather(name: str, total: int, reason: str, remedy: str, level: int = 5) -> None:
    """Warns of the first gathering by a function, so many calls above, and refuses one above the limit."""
    if _limit[0] is not None and total > _limit[0]:
        text = f"{name}: expected at most {size(_limit[0])} of arrays to gather on the host, given {size(total)}"
        raise UnsupportedError(f"{text}; {reason}: {remedy}, or raise the limit with set_gather_limit")
    if name not in _warned:
        _warned.add(name)
        warnings.warn(f"{name}: {reason}, so {size(total)} are gathered on the host; {remedy} without a warning", GatherWarning, stacklevel=level)


def size(count: int) -> str:
    """Bytes for people: three digits."""
    value, units = float(count), iter(("KiB", "MiB", "GiB", "TiB", "PiB"))
    if value < 1024:
        return f"{count} B"
    unit = "B"
    while value >= 1024:
        value, unit = value / 1024, next(units, "EiB")
    return f"{value:.3g} {unit}"


# DLPack's names of devices: the host, and kinds of memory that are the host's, pinned memory too.
_HOST, _HOST_KINDS = (1, 0), (1, 3)


def team_of(team: Team | None, device: OnDevice) -> Team | None:
    """The team that is meant by a team, or by the array API standard's ``device``."""
    return team if device is None else device if isinstance(device, Team) else Team(None, device)


#: Distributions over default teams, by shape: a few, as programs make many arrays of few shapes.
_places: dict[tuple[int, ...], tuple[Team, Distribution]] = {}
_MOST_PLACES = 64


def placed(name: str, shape: Shape, dist: Distribution | None, team: Team | None) -> Distribution:
    """The distribution to make an array on."""
    extents = shape_of(shape)
    if dist is None and team is not None:
        return Distribution(extents, team=team)
    if dist is None:
        # Not the same for ever: the program may set another, or load MPI.
        team = _native.get_default_team()
        found = _places.get(extents)
        if found is None or found[0] != team:
            if len(_places) >= _MOST_PLACES:
                _places.clear()
            found = _places[extents] = team, Distribution(extents, team=team)
        return found[1]
    if dist.shape != extents:
        given = f"shape {extents} and a distribution of shape {dist.shape}"
        raise ValueError(f"{name}: expected a distribution of the array's shape, given {given}; make it for that shape")
    if team is not None and dist.team != team:
        raise ValueError(f"{name}: expected dist= or team=, given both and different; the distribution has its team")
    return dist


def shape_of(shape: Shape) -> tuple[int, ...]:
    if not isinstance(shape, tuple):
        try:
            return (operator.index(shape),)  # type: ignore[arg-type]
        except TypeError:
            pass
    try:
        return tuple(map(operator.index, shape))  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"shape: expected an int or several, given {shape!r}; convert it with int()") from None


def to_host(native: _native.Array) -> Any:
    """A NumPy array of all elements. Collective."""
    import numpy as np

    out = np.empty(native.shape, as_dtype(native.dtype).dtype)
    native.read_into(out.reshape(-1).view(np.uint8))
    return out


def _packed(host: Any) -> Any:
    """The bytes in C order and in this machine's byte order."""
    import numpy as np

    return np.ascontiguousarray(host, dtype=host.dtype.newbyteorder("=")).reshape(-1).view(np.uint8)


def of_elements(elements: Any, dtype: DType, dist: Distribution | None = None, team: Team | None = None) -> _native.Array:
    """A copy of one of NumPy's arrays, of a type of ours."""
    whole = placed("asarray", elements.shape, dist, team)
    running, data = step.get(), _packed(elements)
    return running.constants.array(whole, dtype.name, data) if running else _native.Array.from_bytes(whole, dtype.name, data)


def of_host(obj: Any, dtype: Any = None, dist: Distribution | None = None, team: Team | None = None) -> _native.Array:
    """A copy of anything that NumPy makes an array of."""
    import numpy as np

    # NumPy refuses numbers that the type does not hold; arrays are converted by value.
    are_numbers = dtype is not None and isinstance(obj, _LISTS) and as_dtype(dtype) is not bfloat16
    host = np.asarray(obj, as_dtype(dtype).dtype if are_numbers else None)
    kind = as_dtype(host.dtype)
    if dtype is None and isinstance(obj, _LISTS) and not isinstance(obj, np.generic) and kind.kind in "fc":
        kind = default.float if kind.kind == "f" else default.complex
        host = host.astype(kind.dtype, copy=False)
    whole = placed("asarray", host.shape, dist, team)
    if not host.ndim and kind.kind in "biufc" and kind is not bfloat16 and host == host:
        # A number, which the engine knows as a constant. NaN go by their bits.
        native = _native.Array.full(whole, kind.name, host.item())
        return native if dtype is None else native.cast(as_dtype(dtype).name)
    native = of_elements(host, kind, whole)
    return native if dtype is None else native.cast(as_dtype(dtype).name)


# Parts.


def of_parts(parts: Sequence[Any], dist: Distribution, copy: bool | None, writable: bool = False) -> _native.Array:
    """An array of what each part owns; see `partita.from_parts`."""
    here = dist.team.local_members
    if len(parts) != len(here):
        whose = "" if dist.team.ranks == 1 else " of this process"
        raise ValueError(f"from_parts: expected {len(here)} parts, given {len(parts)}; pass one per part of dist{whose}")
    if copy is not True or writable:
        shared = _used(parts, dist, must=copy is False or writable, writable=writable)
        if shared is not None:
            return shared
    hosts = [host_of(part) for part in parts]
    kind = _one_kind(of_members(dist.team, "from_parts", [as_dtype(host.dtype).name for host in hosts]))
    for part, host in zip(here, hosts, strict=True):
        extents = tuple(o[1] - o[0] if isinstance(o, tuple) else len(o) for o in dist.owned(part))
        if host.shape != extents:
            raise ValueError(f"from_parts: expected shape {extents} for part {part}, given {host.shape}")
    return _native.Array.from_pieces(dist, kind, [_packed(host) for host in hosts])


def _one_kind(names: Sequence[str]) -> str:
    kinds = sorted(set(names))
    if len(kinds) != 1:
        given = ", ".join(kinds)
        raise TypeError(f"from_parts: expected parts of one dtype, given {given}; convert them first")
    return kinds[0]


def _used(parts: Sequence[Any], dist: Distribution, must: bool, writable: bool) -> _native.Array | None:
    """The memory of all parts where it is, or None if one in any process must be copied; then BufferError if it must
    not."""
    made, refusal = None, None
    try:
        wanted = [device.__dlpack_device__() for device in dist.team.devices]
        lent = [_lent(x, at) for x, at in zip(parts, wanted, strict=True)]
        made = _native.Array.over(dist, None, lent, writable) if lent else None
    except BufferError as error:
        refusal = error
    answers = of_processes(dist.team, "from_parts", (made and made.dtype, refusal and str(refusal)))
    refusals = [text for _, text in answers if text]
    if refusals and must:
        raise refusal or BufferError(refusals[0])
    if refusals:
        return None
    # A process without parts learns the type from the others.
    kind = _one_kind([kind for kind, _ in answers if kind])
    return made or _native.Array.over(dist, kind, [], writable)


def host_of(part: Any) -> Any:
    """A part, or any array, as a NumPy array, which may share its memory."""
    import numpy as np

    if not isinstance(part, _native.Memory):
        # NumPy asks neither memory elsewhere nor objects with DLPack alone for a copy.
        only_dlpack = hasattr(part, "__dlpack__") and not hasattr(part, "__array__")
        is_elsewhere = _where(part)[0] not in _HOST_KINDS
        return np.from_dlpack(part, device="cpu") if only_dlpack or is_elsewhere else np.asarray(part)
    if part.dtype != "bfloat16":
        return np.from_dlpack(part, device="cpu")
    # NumPy's from_dlpack does not support bfloat16.
    return to_host(of_dlpack(part, None, Team.local(1, "host"), None))


class Section(NamedTuple):
    """A piece of a requested box, from ``start`` to ``stop``: what the part owns of it, or what lies on one side of that in each
    dimension. ``memory`` exports DLPack, that of what the part owns is the array's own; None of an empty piece."""

    start: tuple[int, ...]
    stop: tuple[int, ...]
    memory: _native.Memory | None


class Requested(NamedTuple):
    """The box of cells that a part has from `Array.request`. In one dimension its sections are left halo, own cells and right halo;
    there are three per dimension, in C order, empty ones included."""

    part: int
    dtype: DType
    sections: list[Section]

    @property
    def offset(self) -> tuple[int, ...] | None:
        """The first cell of the box; None of an empty one."""
        return next((section.start for section in self.sections if section.memory is not None), None)

    def numpy(self) -> np.ndarray[Any, Any]:
        """A copy of the box as one NumPy array. Local."""
        import numpy as np

        first, last = self.sections[0].start, self.sections[-1].stop
        whole = np.empty([stop - start for start, stop in zip(first, last, strict=True)], self.dtype.dtype)
        for start, stop, memory in (section for section in self.sections if section.memory is not None):
            whole[tuple(slice(a - o, b - o) for a, b, o in zip(start, stop, first, strict=True))] = host_of(memory)
        return whole


def write_all(file: Any, data: bytes) -> None:
    """Writes to an open file, of which one without a buffer takes some bytes at a time."""
    left = memoryview(data)
    while left:
        left = left[file.write(left) or len(left) :]


# DLPack.


def of_dlpack(x: Any, dist: Distribution | None, team: Team | None, copy: bool | None, writable: bool = False) -> _native.Array:
    """An array over or of foreign memory; see `partita.from_dlpack`."""
    if dist is not None and team is not None and dist.team != team:
        raise ValueError("from_dlpack: expected dist= or team=, given both and different")
    if copy is not True or writable:
        shared = _shared(x, dist, team, must=copy is False or writable, writable=writable)
        if shared is not None:
            return shared
    capsule = x if _is_capsule(x) else _exported(x)
    if dist is None and team is None:
        team = _team_of(x) or Team.local(1, "host")
    return _native.Array.from_capsule(capsule, dist, team)


def refuse_copies(name: str, copy: bool | None, writable: bool) -> None:
    """Memory that assignments land in is not copied."""
    if copy and writable:
        raise ValueError(f"{name}: expected copy=True or writable=True, given both; a copy has memory of its own")


def _is_capsule(x: Any) -> bool:
    return type(x).__name__ == "PyCapsule"


def _shared(
    x: Any, dist: Distribution | None, team: Team | None, must: bool, writable: bool
) -> _native.Array | None:
    """The memory of ``x`` where it is, or None if it must be copied; then BufferError if it must not."""
    if _is_capsule(x):
        # A capsule can be taken once, so there is no second try.
        if must and dist is None:
            text = "from_dlpack: expected dist= with copy=False, given a bare capsule, whose shape is not known"
            raise BufferError(f"{text}; pass the object itself")
        return _native.Array.over(dist, None, [x], writable) if must and dist is not None else None
    try:
        shape = getattr(x, "shape", None)
        if shape is None or (tuple(shape) == () and dist is None):
            raise BufferError("from_dlpack: expected at least one dimension, given none; allow a copy")
        where = (dist.team if dist is not None else team) or _team_of(x)
        if where is None or len(where) != 1 or where.ranks != 1:
            parts = "no team of ours" if where is None else f"{len(where)} parts over {where.ranks} processes"
            raise BufferError(f"from_dlpack: expected a team of one part for copy=False, given {parts}; allow a copy")
        dist = dist if dist is not None else _line(tuple(shape), where)
        return _native.Array.over(dist, None, [_lent(x, where.devices[0].__dlpack_device__())], writable)
    except BufferError:
        if must:
            raise
        return None


def _line(shape: tuple[int, ...], team: Team) -> Distribution:
    try:
        return Distribution(shape, team=team)
    except ValueError as error:
        raise BufferError(f"from_dlpack: {error}") from None


def _where(x: Any) -> tuple[int, int]:
    """The device of what has none is the host."""
    kind, number = x.__dlpack_device__() if hasattr(x, "__dlpack_device__") else _HOST
    return int(kind), int(number)


def _device_at(where: tuple[int, int]) -> Device | None:
    return next((device for device in _native.devices() if device.__dlpack_device__() == where), None)


def _team_of(x: Any) -> Team | None:
    """One part on the device that holds the memory, if it is one of ours."""
    where = _where(x)
    device = "host" if where[0] in _HOST_KINDS else _device_at(where)
    return Team.local(1, device) if device else None


def _lent(x: Any, wanted: tuple[int, int]) -> Any:
    """A capsule of the memory where it is, ordered before what our device does from now on."""
    _check_exporter(x, BufferError, "allow a copy")
    where = _where(x)
    if where != wanted and not (where[0] == 3 and wanted[0] == 1):
        raise BufferError(f"from_dlpack: expected memory on device {wanted}, given {where}; allow a copy")
    device = _device_at(wanted) if wanted[0] == 2 else None
    request: dict[str, Any] = {"stream": device.stream} if device else {}
    try:
        return x.__dlpack__(max_version=(1, 0), **request)
    except TypeError:
        # Exporters from before version 1.
        return x.__dlpack__(**request)


def _exported(x: Any) -> Any:
    """The capsule of a foreign array on the host."""
    _check_exporter(x, TypeError, "use asarray")
    # Other places than the host and its pinned memory are requested as a copy on the host.
    elsewhere = _where(x)[0] not in _HOST_KINDS
    request: dict[str, Any] = {"dl_device": _HOST} if elsewhere else {}
    try:
        return x.__dlpack__(max_version=(1, 0), **request)
    except TypeError:
        if elsewhere:
            text = f"{type(x).__name__} on a device, whose exporter cannot copy to the host"
            raise BufferError(f"from_dlpack: expected host memory, given {text}; move it to the host first") from None
        # Exporters from before version 1 know no arguments.
        return x.__dlpack__()


def _check_exporter(x: Any, error: type[Exception], remedy: str) -> None:
    """Refuses what has no DLPack, and views whose elements torch computes when they are read: some of its exports hand out
    the memory as it is."""
    if not hasattr(x, "__dlpack__") or not hasattr(x, "__dlpack_device__"):
        raise error(f"from_dlpack: expected an object with __dlpack__, given {type(x).__name__}; {remedy}")
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(x, torch.Tensor):
        return
    for flag, resolved in (("is_conj", "resolve_conj()"), ("is_neg", "resolve_neg()")):
        if getattr(x, flag)():
            raise BufferError(f"from_dlpack: expected plain elements, given a torch view with {flag}(); use {resolved}")
    if x.requires_grad:
        raise BufferError("from_dlpack: expected a tensor without gradient, given requires_grad; use detach()")
