"""NumPy's file format, read and written part by part: no process holds the whole array.

Files are read by position rather than mapped, so that a file which another program shortens meanwhile is an
exception and not a signal.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar

from .._core.array import Array
from .._core.dtypes import as_dtype
from .._core.memory import host_of, placed
from .._core.teams import of_processes
from .create import asarray, from_parts

if TYPE_CHECKING:
    from .._native import Distribution, Part, Team

__all__ = ["load", "save"]

_Given = TypeVar("_Given")
_Made = TypeVar("_Made")

#: Rows of a part shorter than this are read together with what lies between them.
_SHORT_BYTES = 4096


def save(file: Any, arr: Array) -> None:
    """Writes an array to a ``.npy`` file, which ``numpy.load`` reads. Computes and waits. Collective: several processes
    write to one file, on a file system that they share.

    Every part writes what it owns; several do at a time. The file appears under its name when it is complete.

    Parameters
    ----------
    file : str, path or file
        Its name; ``.npy`` is added if it is not there. To an open binary file, such as a buffer, each process writes the whole
        array, which it gathers.
    arr : Array

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
    kind = _portable(arr)
    if hasattr(file, "write"):
        np.lib.format.write_array(file, arr.numpy(), allow_pickle=False)
        return
    path, team, parts = os.fspath(file), arr.team, arr._native.parts()
    path += "" if path.endswith(".npy") else ".npy"
    first = team.rank == 0
    half = of_processes(team, "save", f"{path}.{os.getpid()}.part")[0]

    def make() -> None:
        np.lib.format.open_memmap(half, mode="w+", dtype=kind, shape=arr.shape)

    def write() -> None:
        mapped = np.lib.format.open_memmap(half, mode="r+")
        flat = mapped.reshape(arr._native.shape)
        _at_once(lambda part: _write(flat, part), parts)
        mapped.flush()

    def name() -> None:
        os.replace(half, path)

    try:
        # What one process cannot do, none goes on from.
        for work, mine in ((make, first), (write, bool(arr.size and parts)), (name, first)):
            _all(team, work if mine else lambda: None)
    finally:
        if first and os.path.exists(half):
            os.remove(half)


def _all(team: Team, work: Callable[[], None]) -> None:
    """Some work of every process of a team; raises on all of them what it raised on one."""
    error: OSError | None = None
    try:
        work()
    except OSError as raised:
        error = raised
    errors = [each for each in of_processes(team, "save", error) if each is not None]
    if errors:
        raise errors[0] if error is None else error


def _portable(arr: Array) -> Any:
    """The element type in the file. bfloat16 has no name there that others know."""
    if arr.dtype == "bfloat16":
        raise TypeError("save: expected a type that .npy files have, given bfloat16; convert it with astype(float32)")
    return arr.dtype.dtype


def _at_once(work: Callable[[_Given], _Made], items: Iterable[_Given]) -> list[_Made]:
    """The work for several items at a time, by threads."""
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(os.cpu_count() or 1, 8)) as pool:
        return list(pool.map(work, items))


def _write(whole: Any, part: Part) -> None:
    import numpy as np

    if all(part.shape):
        owned = part.owned
        ranges = all(isinstance(o, tuple) for o in owned)
        key = tuple(slice(*o) for o in owned) if ranges else np.ix_(*(np.arange(*o) if isinstance(o, tuple) else o for o in owned))
        whole[key] = host_of(part)


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
    team : Team, optional

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
        whole, scalar = placed("load", shape, dist, team)
        reader = _Reader(opened.fileno(), begin, kind, order or (1,), fortran)
        blocks = [whole.owned(part) for part in whole.team.local_members]
        array = from_parts(_at_once(reader.block, blocks), whole)
    array = Array(array._native, scalar)
    return array if dtype is None else array.astype(dtype)


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
