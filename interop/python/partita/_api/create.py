"""Arrays from shapes, numbers, NumPy, DLPack and parts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from .. import _native
from .._core.array import Array
from .._core.base import array_of
from .._core.views.domains import Domain
from .._core.dtypes import as_dtype, default, int64
from .._core.memory import NUMBERS, OnDevice, Shape, of_dlpack, of_host, of_parts, placed, refuse_copies, team_of
from .._core.rules import require_fit
from .._core.watch import is_watched, watch
from .._native import Distribution, Team

Number = bool | int | float | complex


def _number(name: str, value: Any, *, real: bool) -> Any:
    """A Python number; NumPy's become one."""
    if not isinstance(value, NUMBERS) and getattr(value, "ndim", None) == 0:
        value = value.item()
    if not isinstance(value, NUMBERS):
        given = type(value).__name__
        raise TypeError(f"{name}: expected a bool, int, float or complex, given {given}; convert it first")
    if real and isinstance(value, complex):
        raise TypeError(f"{name}: expected a bool, int or float, given complex; make real and imaginary parts")
    return value


def _has_dimensions(value: Any) -> bool:
    return isinstance(value, (list, tuple)) or bool(getattr(value, "shape", None))


def full(
    shape: Shape | Domain | None, fill_value: Any, dtype: Any = None, dist: Distribution | None = None, *, team: Team | None = None,
    device: OnDevice = None, order: str = "C",
) -> Array:  # fmt: skip
    """An array filled with one value.

    Parameters
    ----------
    shape : int, tuple of int or Domain
        Over a `Domain` as `Domain.full`; it has a distribution of its own.
    dtype : optional
        As the value in NumPy: bool, int64, float64 or complex128; see also ``set_default_dtype``.
    team : Team, optional
        Default: that of ``set_default_team``; without one ``PARTITA_PARTS`` parts, by default one on every device that
        ``PARTITA_DEVICE`` names; in a program of several processes, of each.
    """
    if isinstance(shape, Domain):
        if dist is not None or team is not None or device is not None:
            raise ValueError("full: expected a domain alone, which has a distribution, given dist, team or device too; give it to the domain")
        return shape.full(fill_value, default.of_python(type(fill_value)) if dtype is None else dtype)  # type: ignore[no-any-return]
    if shape is None:
        raise TypeError("full: expected a shape or a domain, given none; pass one")
    whole = placed("full", shape, dist, team if device is None else team_of(team, device))
    is_plain = isinstance(fill_value, NUMBERS)
    if not is_plain and _has_dimensions(fill_value):
        made = full(shape, 0, array_of("full", fill_value).dtype if dtype is None else dtype, dist, team=team, device=device)
        made[...] = fill_value
        return made
    kind = getattr(fill_value, "dtype", None) if dtype is None else None
    if not is_plain:
        fill_value = _number("full", fill_value, real=False)
    if dtype is None:
        dtype = kind if kind is not None else default.of_python(type(fill_value))
    if watch.count and is_watched() and isinstance(fill_value, float):
        return Array(_native.Array.full(whole, "float64", fill_value)).astype(dtype, copy=False)
    return Array(_native.Array.full(whole, as_dtype(dtype).name, fill_value))


def zeros(
    shape: Shape | Domain | None = None, dtype: Any = None, dist: Distribution | None = None, *, team: Team | None = None,
    device: OnDevice = None, order: str = "C", domain: Domain | None = None,
) -> Array:  # fmt: skip
    """An array of zeros (False for bool), by default of floats; see `full`."""
    return full(_place("zeros", shape, domain), 0, default.float if dtype is None else dtype, dist, team=team, device=device)


def ones(
    shape: Shape | Domain | None = None, dtype: Any = None, dist: Distribution | None = None, *, team: Team | None = None,
    device: OnDevice = None, order: str = "C", domain: Domain | None = None,
) -> Array:  # fmt: skip
    """An array of ones (True for bool), by default of floats; see `full`."""
    return full(_place("ones", shape, domain), 1, default.float if dtype is None else dtype, dist, team=team, device=device)


def _place(name: str, shape: Shape | Domain | None, domain: Domain | None) -> Shape | Domain | None:
    """The shape or the domain, of which one was given."""
    if domain is not None and shape not in (None, domain.shape):
        raise ValueError(f"{name}: expected a shape or a domain, given {shape} and {domain}; leave one out")
    return shape if domain is None else domain


def full_like(
    x: Array, fill_value: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Shape | None = None, *,
    device: OnDevice = None,
) -> Array:  # fmt: skip
    """An array filled with one value, of the shape and, unless given, the type and the distribution of ``x``. ``order`` and
    ``subok`` are accepted and without effect."""
    x = array_of("full_like", x)
    kind = x.dtype if dtype is None else as_dtype(dtype)
    if device is not None or (shape is not None and shape != x.shape):
        return full(x.shape if shape is None else shape, fill_value, kind, team=None if device else x.team, device=device)
    if _has_dimensions(fill_value):
        return full(x.shape, fill_value, kind, x.dist, team=x.team)
    made = Array(_native.Array.full(x.dist, kind.name, _number("full_like", fill_value, real=False)))
    return made if x._native.domain() is None else made.reindex(x.domain)


def zeros_like(
    x: Array, dtype: Any = None, order: str = "K", subok: bool = True, shape: Shape | None = None, *, device: OnDevice = None
) -> Array:
    """Zeros; see `full_like`."""
    return full_like(x, 0, dtype, shape=shape, device=device)


def ones_like(
    x: Array, dtype: Any = None, order: str = "K", subok: bool = True, shape: Shape | None = None, *, device: OnDevice = None
) -> Array:
    """Ones; see `full_like`."""
    return full_like(x, 1, dtype, shape=shape, device=device)


#: Elements that do not matter are zeros.
empty, empty_like = zeros, zeros_like


def arange(
    start: int | float, stop: int | float | None = None, step: int | float = 1, dtype: Any = None,
    dist: Distribution | None = None, *, team: Team | None = None, device: OnDevice = None,
) -> Array:  # fmt: skip
    """The numbers from ``start`` (0 if only one is given) up to and without ``stop``, in steps of ``step``."""
    if stop is None:
        start, stop = 0, start
    start, stop, step = _number("arange", start, real=True), _number("arange", stop, real=True), _number("arange", step, real=True)
    if step == 0:
        raise ValueError("arange: expected a step other than 0, given 0")
    count = max(0, math.ceil((stop - start) / step))
    if count >= 1 << 63:
        raise ValueError(f"arange: expected fewer than 2**63 elements, given {count}; use a larger step")
    ints = isinstance(start, int) and isinstance(step, int)
    kind = (int64 if ints and isinstance(stop, int) else default.float) if dtype is None else as_dtype(dtype)
    if kind.kind in "iu":
        for number in (start, start + step)[:count]:
            require_fit(int(number), kind)
    line = placed("arange", count, dist, team_of(team, device))
    numbers = Array(_native.Array.coordinate(line, 0, (int64 if ints else default.float).name)) * step + start
    # Beyond the ends of a type integers wrap, floats would not.
    numbers = numbers.astype(int64, copy=False) if kind.kind in "iu" and kind.itemsize < 8 else numbers
    return numbers.astype(kind, copy=False)


def asarray(
    obj: Any, dtype: Any = None, dist: Distribution | None = None, *, team: Team | None = None, device: OnDevice = None,
    copy: bool | None = None, order: str = "K",
) -> Array:  # fmt: skip
    """An array with the elements of ``obj``: an Array (redistributed if need be, else the same), or anything that
    NumPy makes an array of, which is copied to the parts. ``copy=True`` always gives another handle, ``copy=False`` refuses
    what must be copied. Of a scalar, an array without dimensions."""
    team = team_of(team, device)
    if copy is False and not (isinstance(obj, Array) and (dtype is None or obj.dtype == dtype)):
        raise ValueError(f"asarray: expected an array of that type for copy=False, given {type(obj).__name__}; allow a copy")
    if not isinstance(obj, Array):
        is_float = getattr(getattr(obj, "dtype", None), "kind", None) == "f"
        if watch.count and is_watched() and dtype is not None and (is_float or as_dtype(dtype).kind == "f"):
            return Array(of_host(obj, None, dist, team)).astype(dtype, copy=False)
        return Array(of_host(obj, dtype, dist, team))
    moved = obj if team is None else obj.to_device(team)
    moved = moved if dist is None or dist == moved.dist else moved.redistribute(dist)
    array = moved if dtype is None or as_dtype(dtype) is moved.dtype else moved.astype(dtype)
    if isinstance(array, Array._scalar_class):
        return Array(array._native.copy())
    return array.copy() if copy else array


def from_parts(
    parts: Sequence[Any], dist: Distribution, *, copy: bool | None = True, writable: bool = False
) -> Array:
    """An array from what each part owns. Collective where the team is over several processes.

    Parameters
    ----------
    parts : sequence of arrays
        One per part of this process, in the shape that it owns: anything NumPy makes an array of, and parts of arrays.
    dist : Distribution
    copy : bool, optional
        False uses the memory of all parts where it is, as in `from_dlpack`, or raises BufferError; None copies where
        that cannot be.
    writable : bool, optional
        Assignments to the array change the memory of the parts, see `from_dlpack`; nothing is copied.
    """
    return Array(of_parts(parts, dist, None if writable and copy else copy, writable))


def from_dlpack(
    x: Any, dist: Distribution | None = None, *, team: Team | None = None, device: OnDevice = None,
    copy: bool | None = None, writable: bool = False,
) -> Array:  # fmt: skip
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
    team, device : optional
        The same with the default partition; see `full`.
    copy : bool, optional
        True always copies, False raises BufferError where a copy would be needed.
    writable : bool, optional
        Assignments to the array, of all kinds, change the memory of ``x``, when they return. Copies of the array, and
        expressions that were recorded, keep their value. Whoever else writes that memory does so inside
        ``with u.writable()``. Never copies.

    Raises
    ------
    BufferError
        If memory cannot be used as requested: with ``writable=True`` also memory that is read-only, and that of JAX's
        arrays, which never change.

    Examples
    --------
    >>> import numpy as np
    >>> import partita as pt
    >>> a = np.zeros(4)
    >>> u = pt.from_dlpack(a, writable=True)
    >>> u[1:3] = 7
    >>> a
    array([0., 7., 7., 0.])
    """
    refuse_copies("from_dlpack", copy, writable)
    if isinstance(x, Array) and not x._is_one_part():
        # One of ours is not gathered.
        if writable:
            raise BufferError("from_dlpack: expected one part for writable=True, given several; use u.writable()")
        return asarray(x, None, dist, team=team, device=device, copy=copy)
    if copy is not True and not writable and dist is None and team is None and device is None:
        # The most common call, in one.
        native = _native.Array.on_host(x, copy is False)
        if native is not None:
            return Array(native)
    return Array(of_dlpack(x, dist, team_of(team, device), copy, writable))
