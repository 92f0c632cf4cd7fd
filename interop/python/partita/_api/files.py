"""NumPy's file format, read and written part by part: no process holds the whole array.

Files are read by position rather than mapped, so that a file which another program shortens meanwhile is an
exception and not a signal.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

from .. import _native
from .._core.array import Array
from .._core.dtypes import as_dtype
from .._core.memory import placed, write_all
from .._native import Team
from .create import asarray, from_parts

if TYPE_CHECKING:
    from .._native import Distribution

_Given = TypeVar("_Given")
_Made = TypeVar("_Made")

#: Rows of a part shorter than this are read together with what lies between them.
_SHORT_BYTES = 4096


def save(file: Any, arr: Array) -> None:
    """Writes an array to a ``.npy`` file, which ``numpy.load`` reads. Computes and waits. Collective: several processes
    write to one file, on a file system that they share.

    Every part writes what it owns. The file appears under its name when it is whole and on the disk: after an error, or an end of any
    process at any moment, the name stands for the file that was there before or for the new one. A process that is killed may leave a
    file beside it whose name ends in ``.part``.

    Parameters
    ----------
    file : str, path or file
        Its name; ``.npy`` is added if it is not there. To an open binary file, such as a buffer, each process writes the whole
        array, which it gathers.

    Raises
    ------
    OSError
        If the file cannot be written, on all processes: with the system's number, such as ``errno.ENOSPC``, and the file's name.

    Examples
    --------
    >>> import io
    >>> import partita as pt
    >>> buffer = io.BytesIO()
    >>> pt.save(buffer, pt.arange(3))
    >>> pt.load(io.BytesIO(buffer.getvalue())).tolist()
    [0, 1, 2]
    """
    import numpy as np

    if not isinstance(arr, Array):
        raise TypeError(f"save: expected a partita.Array, given {type(arr).__name__}; use numpy.save")
    if arr.dtype == "bfloat16":
        raise TypeError("save: expected a type that .npy files have, given bfloat16; convert it with astype(float32)")
    if hasattr(file, "write"):
        host = np.asarray(arr.numpy(), order="C")
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(host))
        # Not by numpy.save, which hears nothing of what the system refuses at the end.
        write_all(file, host.tobytes())
        return
    path = os.fspath(file)
    _native.save_npy(arr.team, path if path.endswith(".npy") else f"{path}.npy", arr._native)


def _at_once(work: Callable[[_Given], _Made], items: Iterable[_Given]) -> list[_Made]:
    """The work for several items at a time, by threads."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(os.cpu_count() or 1, 8)) as pool:
        return list(pool.map(work, items))


def load(
    file: Any, dtype: Any = None, dist: Distribution | None = None, *, team: Team | None = None
) -> Array:
    """The array in a ``.npy`` file, read part by part; each process reads those of its members. Collective.

    Parameters
    ----------
    file : str, path or file
        Of an open binary file, such as a buffer, each process reads all.
    dtype : optional
        To convert to; by default the file's.
    dist : Distribution, optional
        Of the file's shape; by default as in `zeros`.

    Raises
    ------
    ValueError
        If the file is no such file, is too short, or needs Python objects.
    """
    import numpy as np

    if hasattr(file, "read"):
        return asarray(np.lib.format.read_array(file, allow_pickle=False), dtype, dist, team=team)
    with open(file, "rb") as opened:
        try:
            version = np.lib.format.read_magic(opened)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, fortran, kind = read(opened)
        except ValueError as error:
            raise ValueError(f"load: expected a .npy file, given {os.fspath(file)}: {error}") from None
        if kind.hasobject:
            raise ValueError(f"load: expected numbers, given Python objects in {os.fspath(file)}; load it with NumPy")
        as_dtype(kind.newbyteorder("="))
        begin, order = opened.tell(), shape[::-1] if fortran else shape
        expected = begin + kind.itemsize * int(np.prod(shape, dtype=object))
        given = os.fstat(opened.fileno()).st_size
        if given < expected:
            raise ValueError(f"load: expected {expected} bytes in {os.fspath(file)}, given {given}; it was cut off")
        if dist is not None and dist.shape != shape:
            raise ValueError(f"load: expected a distribution of the file's shape {shape}, given {dist.shape}")
        if not shape:
            return asarray(np.load(file, allow_pickle=False), dtype, dist, team=team)
        whole = placed("load", shape, dist, team)
        reader = _Reader(opened.fileno(), begin, kind, order, fortran)
        blocks = [whole.owned(part) for part in whole.team.local_members]
        array = from_parts(_at_once(reader.block, blocks), whole)
    return array if dtype is None else array.astype(dtype)


def save_state(folder: str | os.PathLike[str], state: Mapping[str, Any]) -> None:
    """Saves arrays and single values under names, from which `load_state` starts a program again. Computes and waits. Collective:
    all processes pass the same names and values, and share the folder.

    When it returns, on any process, the state is in the files, whatever ends the program or the machine afterwards. Until then the
    state that was saved there last is. After an error, or an end of any process at any moment, `load_state` finds one of the two, whole.

    Each array is a file that ``numpy.load`` reads, in a folder that ``manifest`` names, with its checksum. ``partita.saving`` names the
    folders that saves make and remove; nothing else in the folder is ever removed or replaced.

    Parameters
    ----------
    folder : str or path
        Made if it is not there. Several programs may save into it, one at a time; each replaces the state of the last.
    state : mapping of str to Array, bool, int, float or str
        Names have letters, digits, ``_``, ``-`` and ``.``. Of an int all of 64 bits, of a float all bits are kept.

    Raises
    ------
    OSError
        On all processes, if a file cannot be written, if another program saves into the folder meanwhile, or if its ``manifest`` is
        that of something else. The state that was saved last, or this one, is there.

    Examples
    --------
    >>> import tempfile
    >>> import partita as pt
    >>> folder = tempfile.mkdtemp()
    >>> pt.save_state(folder, {"u": pt.arange(4), "step": 40})
    >>> state = pt.load_state(folder)
    >>> state["u"].tolist(), state["step"]
    ([0, 1, 2, 3], 40)
    """
    arrays = [value for value in state.values() if isinstance(value, Array)]
    team = arrays[0].team if arrays else Team(None)
    items = [_item(name, value) for name, value in state.items()]
    _native.save_state(team, os.fspath(folder), items)


def _item(name: str, value: Any) -> tuple[str, Any]:
    import numpy as np

    if isinstance(value, Array):
        return name, value._native
    value = value.item() if isinstance(value, np.generic) else value
    if not isinstance(value, (bool, int, float, str)):
        expected = "an Array, bool, int, float or str"
        raise TypeError(f"save_state: expected {expected} as {name!r}, given {type(value).__name__}; convert it first")
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
        raise OverflowError(f"save_state: expected an int of 64 bits as {name!r}, given {value}; save it as str")
    return name, value


def load_state(
    folder: str | os.PathLike[str], dist: Mapping[str, Distribution] | None = None, *, team: Team | None = None
) -> dict[str, Any]:
    """The state that `save_state` saved last in a folder, on any number of parts and processes. Each process reads what it holds.
    Another program may save there meanwhile: one whole state is loaded. Collective.

    Parameters
    ----------
    folder : str or path
    dist : mapping of str to Distribution, optional
        Of arrays by name; others are distributed as in `zeros`.
    team : Team, optional
        Of arrays that ``dist`` does not name.

    Returns
    -------
    dict of str to Array, bool, int, float or str

    Raises
    ------
    FileNotFoundError
        If nothing was saved there: a first start.
    ValueError
        If a file of the state is missing, was cut off or changed; the error names it.
    OutOfMemoryError
        If the arrays do not fit.

    Examples
    --------
    >>> import tempfile
    >>> import partita as pt
    >>> folder = tempfile.mkdtemp()
    >>> pt.save_state(folder, {"u": pt.arange(4), "step": 40})
    >>> pt.load_state(folder, team=pt.Team(3, "host"))["u"].dist.grid
    (3,)
    """
    dist = dist or {}
    team = team or next((one.team for one in dist.values()), None) or Team(None)
    saved = _native.SavedState(team, os.fspath(folder))
    items = dict(saved.items())
    unknown = sorted(set(dist) - {name for name, what in items.items() if isinstance(what, tuple)})
    if unknown:
        raise ValueError(f"load_state: expected names of arrays in dist, given {', '.join(unknown)}; use names that were saved")
    state: dict[str, Any] = {}
    for name, what in items.items():
        if isinstance(what, tuple):
            whole = placed("load_state", what[0], dist.get(name), None if name in dist else team)
            state[name] = Array(saved.array(name, whole))
        else:
            state[name] = what
    return state


class _Reader:
    """Blocks of an array in a file, whose last dimension varies fastest."""

    def __init__(self, number: int, begin: int, kind: Any, shape: tuple[int, ...], turned: bool) -> None:
        self.number, self.begin, self.kind, self.shape, self.turned = number, begin, kind, shape, turned

    def block(self, owned: tuple[Any, ...]) -> Any:
        """The elements at ranges or index arrays, one per dimension of the array."""
        import numpy as np

        owned = owned[::-1] if self.turned else owned
        empty = [o[1] <= o[0] if isinstance(o, tuple) else len(o) == 0 for o in owned]
        hulls = [o if isinstance(o, tuple) else (int(min(o)), int(max(o)) + 1) for o in owned] if not any(empty) else []
        if not hulls:
            shape = tuple(o[1] - o[0] if isinstance(o, tuple) else len(o) for o in owned)
            return np.zeros(shape[::-1] if self.turned else shape, self.kind.newbyteorder("="))
        box = self._box(hulls)
        box = box[np.ix_(*(np.arange(*o) - o[0] if isinstance(o, tuple) else np.asarray(o) - h[0] for o, h in zip(owned, hulls, strict=True)))]
        native = box.astype(self.kind.newbyteorder("="), copy=False)
        return native.T if self.turned else native

    def _box(self, hulls: list[tuple[int, int]]) -> Any:
        """A box, by the longest runs of elements that lie together."""
        import numpy as np

        inner = len(hulls) - 1
        while inner and hulls[inner] == (0, self.shape[inner]):
            inner -= 1
        row = self.kind.itemsize
        for extent in self.shape[inner + 1 :]:
            row *= extent
        # Short runs are read together with what lies between them.
        while inner and (hulls[inner][1] - hulls[inner][0]) * row < _SHORT_BYTES:
            row *= self.shape[inner]
            inner -= 1
        start, stop = hulls[inner]
        outer = hulls[:inner]
        read = [*(b - a for a, b in outer), stop - start, *self.shape[inner + 1 :]]
        out: Any = np.empty(read, self.kind)
        flat = memoryview(out.reshape(-1).view(np.uint8))
        run = (stop - start) * row
        for k, at in enumerate(itertools.product(*(range(a, b) for a, b in outer))):
            number = 0
            for extent, coordinate in zip(self.shape[: inner + 1], (*at, start), strict=True):
                number = number * extent + coordinate
            self._exactly(flat[k * run : (k + 1) * run], self.begin + number * row)
        within = tuple(slice(None) if d <= inner else slice(*hull) for d, hull in enumerate(hulls))
        return out[within]

    def _exactly(self, into: memoryview, offset: int) -> None:
        done = 0
        while done < len(into):
            read = os.preadv(self.number, [into[done:]], offset + done)
            if read == 0:
                raise ValueError(f"load: expected {len(into)} bytes at {offset}, given {done}; the file was cut off")
            done += read
