"""Arrays from shapes, numbers, NumPy, DLPack and parts. Knows how others say what they hold."""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Sequence
from typing import Any

from .. import _native
from .._core.array import Array
from .._core.dtypes import as_dtype, bfloat16, float64, int64
from .._native import Distribution, Team
from .._core.ranks import of_members, of_processes
from .._core.rules import require_fit

__all__ = [
    "arange", "asarray", "empty", "from_dlpack", "from_parts", "full", "full_like", "ones", "ones_like", "zeros", "zeros_like",
]  # fmt: skip

Shape = int | Sequence[int]
_NUMBERS = (bool, int, float, complex)
# DLPack's names of devices: the host, and kinds of memory that are the host's, pinned memory too.
_HOST, _HOST_KINDS = (1, 0), (1, 3)


def _placed(
    name: str, shape: Shape, dist: Distribution | None, team: Team | None
) -> tuple[Distribution, bool]:
    """The distribution to make an array on, and whether the array has no dimensions."""
    extents = _extents(shape)
    if dist is None:
        return Distribution(extents or (1,), team=team), extents == ()
    if dist.shape != extents:
        given = f"shape {extents} and a distribution of shape {dist.shape}"
        raise ValueError(f"{name}: expected a distribution of the array's shape, given {given}; make it for that shape")
    if team is not None and dist.team != team:
        raise ValueError(f"{name}: expected dist= or team=, given both and different; the distribution has its team")
    return dist, False


def _extents(shape: Shape) -> tuple[int, ...]:
    try:
        return (operator.index(shape),)  # type: ignore[arg-type]
    except TypeError:
        pass
    try:
        return tuple(operator.index(extent) for extent in shape)  # type: ignore[union-attr]
    except TypeError:
        raise TypeError(f"shape: expected an int or several, given {shape!r}; convert it with int()") from None


def _number(name: str, value: Any) -> bool | int | float:
    """A Python number that is real; NumPy's become one."""
    number = _any_number(name, value)
    if isinstance(number, complex):
        raise TypeError(f"{name}: expected a bool, int or float, given complex; make real and imaginary parts")
    return number


def _any_number(name: str, value: Any) -> bool | int | float | complex:
    if not isinstance(value, _NUMBERS) and getattr(value, "ndim", None) == 0:
        value = value.item()
    if not isinstance(value, _NUMBERS):
        given = type(value).__name__
        raise TypeError(f"{name}: expected a bool, int, float or complex, given {given}; convert it first")
    number: bool | int | float | complex = value
    return number


def full(
    shape: Shape, fill_value: bool | int | float | complex, dtype: Any = None, dist: Distribution | None = None,
    *, team: Team | None = None,
) -> Array:  # fmt: skip
    """An array filled with one value.

    Parameters
    ----------
    shape : int or tuple of int
        The global shape.
    fill_value : bool, int, float or complex
    dtype : optional
        As the value in NumPy: bool, int64, float64 or complex128.
    dist : Distribution, optional
        Default: dimension 0 cut over the members of ``team``, the extra rows with the last ones.
    team : Team, optional
        Default: one part on every device that ``PARTITA_DEVICE`` names; in a program of several processes, of each.
    """
    fill_value, kind = _any_number("full", fill_value), getattr(fill_value, "dtype", None)
    if dtype is None:
        dtype = kind if kind is not None else type(fill_value)
    placed, scalar = _placed("full", shape, dist, team)
    return Array(_native.Array.full(placed, as_dtype(dtype).name, fill_value), scalar)


def zeros(shape: Shape, dtype: Any = float64, dist: Distribution | None = None, *, team: Team | None = None) -> Array:
    """An array of zeros (False for bool); see `full`."""
    return full(shape, 0, dtype, dist, team=team)


def ones(shape: Shape, dtype: Any = float64, dist: Distribution | None = None, *, team: Team | None = None) -> Array:
    """An array of ones (True for bool); see `full`."""
    return full(shape, 1, dtype, dist, team=team)


def empty(shape: Shape, dtype: Any = float64, dist: Distribution | None = None, *, team: Team | None = None) -> Array:
    """An array whose elements do not matter; they are zeros. See `full`."""
    return full(shape, 0, dtype, dist, team=team)


def full_like(x: Array, fill_value: bool | int | float | complex, dtype: Any = None) -> Array:
    """An array filled with one value, of the shape, distribution and, unless given, the type of ``x``."""
    kind = x.dtype if dtype is None else as_dtype(dtype)
    return Array(_native.Array.full(x.dist, kind.name, fill_value), x._scalar)


def zeros_like(x: Array, dtype: Any = None) -> Array:
    """Zeros; see `full_like`."""
    return full_like(x, 0, dtype)


def ones_like(x: Array, dtype: Any = None) -> Array:
    """Ones; see `full_like`."""
    return full_like(x, 1, dtype)


def arange(
    start: int | float, stop: int | float | None = None, step: int | float = 1, dtype: Any = None,
    dist: Distribution | None = None, *, team: Team | None = None,
) -> Array:  # fmt: skip
    """The numbers from ``start`` (0 if only one is given) up to and without ``stop``, in steps of ``step``."""
    if stop is None:
        start, stop = 0, start
    start, stop, step = (_number("arange", value) for value in (start, stop, step))
    if step == 0:
        raise ValueError("arange: expected a step other than 0, given 0")
    count = max(0, math.ceil((stop - start) / step))
    if count >= 1 << 63:
        raise ValueError(f"arange: expected fewer than 2**63 elements, given {count}; use a larger step")
    if dtype is None:
        dtype = float if any(isinstance(value, float) for value in (start, stop, step)) else int
    kind = as_dtype(dtype)
    for number in (start, start + step)[:count]:
        require_fit(int(number), kind)
    placed, scalar = _placed("arange", count, dist, team)
    ints = all(isinstance(value, int) for value in (start, step))
    wide = int64 if ints else float64
    numbers = Array(_native.Array.coordinate(placed, 0, wide.name), scalar) * step + start
    # Beyond the ends of a type integers wrap, floats would not.
    return (numbers.astype(int64) if kind.kind in "iu" and kind.itemsize < 8 else numbers).astype(kind)


def asarray(obj: Any, dtype: Any = None, dist: Distribution | None = None, *, team: Team | None = None) -> Array:
    """An array with the elements of ``obj``: an Array (redistributed if need be, else the same), or anything that
    NumPy makes an array of, which is copied to the parts."""
    if isinstance(obj, Array):
        if team is not None and obj.team != team:
            return asarray(obj.numpy(), dtype, dist, team=team)
        moved = obj if dist is None or dist == obj.dist else obj.redistribute(dist)
        return moved if dtype is None or as_dtype(dtype) is moved.dtype else moved.astype(dtype)
    import numpy as np

    # NumPy refuses numbers that the type does not hold; arrays are converted by value.
    are_numbers = dtype is not None and isinstance(obj, (*_NUMBERS, list, tuple)) and as_dtype(dtype) is not bfloat16
    host = np.asarray(obj, as_dtype(dtype).dtype if are_numbers else None)
    native = as_dtype(host.dtype)
    placed, scalar = _placed("asarray", host.shape, dist, team)
    # In C order and in this machine's byte order.
    packed = np.ascontiguousarray(host, dtype=host.dtype.newbyteorder("="))
    array = Array(_native.Array.from_bytes(placed, native.name, packed.reshape(-1).view(np.uint8)), scalar)
    return array if dtype is None else array.astype(dtype)


def from_parts(parts: Sequence[Any], dist: Distribution, *, copy: bool | None = True) -> Array:
    """An array from what each part owns. Collective where the team is over several processes.

    Parameters
    ----------
    parts : sequence of arrays
        One per part of this process, in the shape that it owns: anything NumPy makes an array of, and parts of arrays.
    dist : Distribution
    copy : bool, optional
        False uses the memory of all parts where it is, as in `from_dlpack`, or raises BufferError; None copies where
        that cannot be.
    """
    import numpy as np

    here = dist.team.local_members
    if len(parts) != len(here):
        whose = "" if dist.team.ranks == 1 else " of this process"
        raise ValueError(f"from_parts: expected {len(here)} parts, given {len(parts)}; pass one per part of dist{whose}")
    if copy is not True:
        shared = _used(parts, dist, must=copy is False)
        if shared is not None:
            return Array(shared)
    hosts = [_host(part) for part in parts]
    kind = _one_kind(of_members(dist.team, "from_parts", [as_dtype(host.dtype).name for host in hosts]))
    pieces = []
    for part, host in zip(here, hosts, strict=True):
        extents = tuple(o[1] - o[0] if isinstance(o, tuple) else len(o) for o in dist.owned(part))
        if host.shape != extents:
            raise ValueError(f"from_parts: expected shape {extents} for part {part}, given {host.shape}")
        packed = np.ascontiguousarray(host, dtype=host.dtype.newbyteorder("="))
        pieces.append(packed.reshape(-1).view(np.uint8))
    return Array(_native.Array.from_pieces(dist, kind, pieces))


def _one_kind(names: Sequence[str]) -> str:
    kinds = sorted(set(names))
    if len(kinds) != 1:
        given = ", ".join(kinds)
        raise TypeError(f"from_parts: expected parts of one dtype, given {given}; convert them first")
    return kinds[0]


def _used(parts: Sequence[Any], dist: Distribution, must: bool) -> _native.Array | None:
    """The memory of all parts where it is, or None if one in any process must be copied; then BufferError if it must
    not."""
    made, refusal = None, None
    try:
        wanted = [device.__dlpack_device__() for device in dist.team.devices]
        lent = [_lent(x, at) for x, at in zip(parts, wanted, strict=True)]
        made = _native.Array.over(dist, None, lent) if lent else None
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
    return made or _native.Array.over(dist, kind, [])


def _host(part: Any) -> Any:
    import numpy as np

    if not isinstance(part, (_native.Part, _native.Stored)):
        # NumPy asks neither memory elsewhere nor objects with DLPack alone for a copy.
        only_dlpack = hasattr(part, "__dlpack__") and not hasattr(part, "__array__")
        return np.from_dlpack(part, device="cpu") if only_dlpack or _is_elsewhere(part) else np.asarray(part)
    if part.dtype != "bfloat16":
        return np.from_dlpack(part, device="cpu")
    # NumPy's from_dlpack does not support bfloat16.
    return from_dlpack(part, team=Team.local(1, "host")).numpy()


def _is_elsewhere(x: Any) -> bool:
    """On a device whose memory is not the host's or its pinned memory."""
    return hasattr(x, "__dlpack_device__") and int(x.__dlpack_device__()[0]) not in _HOST_KINDS


def from_dlpack(
    x: Any, dist: Distribution | None = None, *, team: Team | None = None, copy: bool | None = None
) -> Array:
    """An array with the elements of any array that exports DLPack.

    Memory in C order on the one device of the result is used where it is. It must then not be written while the
    array, its copies, or expressions with it are in use; the array itself is assigned to in other memory. Everything
    else is copied, by way of the host.

    Parameters
    ----------
    x : object
        With ``__dlpack__`` and ``__dlpack_device__``, or a capsule.
    dist : Distribution, optional
        Where the elements go; by default one part on the device that has them, the host if that is not known.
    team : Team, optional
        The same with the default partition.
    copy : bool, optional
        True always copies, False raises BufferError where a copy would be needed.
    """
    if dist is not None and team is not None and dist.team != team:
        raise ValueError("from_dlpack: expected dist= or team=, given both and different")
    if copy is not True:
        shared = _shared(x, dist, team, must=copy is False)
        if shared is not None:
            return shared
    capsule = x if type(x).__name__ == "PyCapsule" else _exported(x)
    if dist is None and team is None:
        team = _team_of(x) or Team.local(1, "host")
    native = _native.Array.from_capsule(capsule, dist, team) if _rank_fits(x, dist) else None
    if native is not None:
        return Array(native)
    # Without dimensions, on a team of any size.
    single = _native.Array.from_capsule(capsule, None, Team.local(1, "host"))
    return asarray(Array(single).numpy(), team=team)


def _shared(x: Any, dist: Distribution | None, team: Team | None, must: bool) -> Array | None:
    """The memory of ``x`` where it is, or None if it must be copied; then BufferError if it must not."""
    if type(x).__name__ == "PyCapsule":
        # A capsule can be taken once, so there is no second try.
        return _over(x, dist, team or Team.local(1, "host")) if must else None
    shape = getattr(x, "shape", None)
    try:
        if shape is None or (tuple(shape) == () and dist is None):
            raise BufferError("from_dlpack: expected at least one dimension, given none; allow a copy")
        placed = dist.team if dist is not None else team
        if placed is None and _where(x)[0] in _HOST_KINDS:
            return Array(_native.Array.over(_host_line(tuple(shape)), None, [_lent(x, _HOST)]))
        placed = placed or _team_of(x)
        if placed is None or len(placed) != 1 or placed.ranks != 1:
            parts = "no team of ours" if placed is None else f"{len(placed)} parts over {placed.ranks} processes"
            raise BufferError(f"from_dlpack: expected a team of one part for copy=False, given {parts}; allow a copy")
        dist = dist if dist is not None else _line(tuple(shape), placed)
        lent = _lent(x, placed.devices[0].__dlpack_device__())
        return Array(_native.Array.over(dist, None, [lent]))
    except BufferError:
        if must:
            raise
        return None


def _line(shape: tuple[int, ...], team: Team) -> Distribution:
    try:
        return Distribution(shape, team=team)
    except ValueError as error:
        raise BufferError(f"from_dlpack: {error}") from None


# Distributions of whole arrays on the host: values, and making one takes longer than sharing memory.
_HOST_LINES: dict[tuple[int, ...], Distribution] = {}


def _host_line(shape: tuple[int, ...]) -> Distribution:
    """On a team of the host's one part."""
    if shape not in _HOST_LINES:
        if len(_HOST_LINES) >= 256:
            _HOST_LINES.clear()
        _HOST_LINES[shape] = _line(shape, Team.local(1, "host"))
    return _HOST_LINES[shape]


def _over(capsule: Any, dist: Distribution | None, team: Team) -> Array:
    if dist is None:
        text = "from_dlpack: expected dist= with copy=False, given a bare capsule, whose shape is not known"
        raise BufferError(f"{text}; pass the object itself")
    return Array(_native.Array.over(dist, None, [capsule]))


def _team_of(x: Any) -> Team | None:
    """One part on the device that holds the memory, if it is one of ours."""
    where = _where(x)
    if where[0] in _HOST_KINDS:
        return Team.local(1, "host")
    found = [device for device in _native.devices() if device.__dlpack_device__() == tuple(where)]
    return Team.local(1, found[0]) if found else None


def _where(x: Any) -> tuple[int, int]:
    """The device of what has none is the host."""
    device = getattr(x, "__dlpack_device__", None)
    return _HOST if device is None else device()


def _lent(x: Any, wanted: tuple[int, int]) -> Any:
    """A capsule of the memory where it is, ordered before what our device does from now on."""
    if not hasattr(x, "__dlpack__") or not hasattr(x, "__dlpack_device__"):
        raise BufferError(f"from_dlpack: expected an object with __dlpack__, given {type(x).__name__}; allow a copy")
    _check_torch(x)
    kind, number = x.__dlpack_device__()
    where = (int(kind), int(number))
    if where != wanted and not (where[0] == 3 and wanted[0] == 1):
        raise BufferError(f"from_dlpack: expected memory on device {wanted}, given {where}; allow a copy")
    request: dict[str, Any] = {}
    if wanted[0] == 2:
        device = next(device for device in _native.devices() if device.__dlpack_device__() == wanted)
        request["stream"] = device.stream
    try:
        return x.__dlpack__(max_version=(1, 0), **request)
    except TypeError:
        # Exporters from before version 1.
        return x.__dlpack__(**request)


def _rank_fits(x: Any, dist: Distribution | None) -> bool:
    return dist is not None or getattr(x, "shape", None) != ()


def _exported(x: Any) -> Any:
    """The capsule of a foreign array on the host."""
    if not hasattr(x, "__dlpack__") or not hasattr(x, "__dlpack_device__"):
        raise TypeError(f"from_dlpack: expected an object with __dlpack__, given {type(x).__name__}; use asarray")
    _check_torch(x)
    # Other places than the host (1) and its pinned memory (3) are requested as a copy on the host.
    elsewhere = x.__dlpack_device__()[0] not in _HOST_KINDS
    request: dict[str, Any] = {"max_version": (1, 0)}
    if elsewhere:
        request["dl_device"] = (1, 0)
    try:
        return x.__dlpack__(**request)
    except TypeError:
        if elsewhere:
            text = f"{type(x).__name__} on a device, whose exporter cannot copy to the host"
            raise BufferError(f"from_dlpack: expected host memory, given {text}; move it to the host first") from None
        # Exporters from before version 1 know no arguments.
        return x.__dlpack__()


def _check_torch(x: Any) -> None:
    """Views whose elements torch computes when they are read: some of its exports hand out the memory as it is."""
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(x, torch.Tensor):
        return
    for flag, remedy in (("is_conj", "resolve_conj()"), ("is_neg", "resolve_neg()")):
        if getattr(x, flag)():
            raise BufferError(f"from_dlpack: expected plain elements, given a torch view with {flag}(); use {remedy}")
    if x.requires_grad:
        raise BufferError("from_dlpack: expected a tensor without gradient, given requires_grad; use detach()")


