"""`BaseArray`: what an array is, and its elements on the host. NumPy's rules and functions take and give such arrays; the
class with operators, `partita.Array`, lies above them.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

from .. import _native
from .._native import made as made
from ..errors import NotAnArrayError
from .dtypes import DType, as_dtype, bfloat16, can_cast
from .memory import NUMBERS, Requested, Section, check_gather, host_of, of_host, shape_of, to_host
from .ranks.teams import of_members
from .watch import in_step, is_watched, watch, watched

if TYPE_CHECKING:
    import numpy as np

#: The package, whose functions lie above.
NAMESPACE: Any = sys.modules[__name__.partition(".")[0]]
#: Some class of arrays: functions give what they are given.
A = TypeVar("A", bound="BaseArray")


class BaseArray(_native.ArrayBase):
    """Shape, type, place and elements of an array."""

    __slots__ = ("__weakref__",)
    # `_native` of a view is empty until it is read, and again when its root was written; see `partita._core.views`.
    #: The class of the arrays that functions make of their arguments, and that of views, which have more to do for an attribute.
    _class: ClassVar[type[Any]]
    _view_class: ClassVar[type[Any]]
    #: That of results without dimensions.
    _scalar_class: ClassVar[type[Any]]

    def __init__(self, native: _native.Array) -> None:
        self._native = native

    @property
    def shape(self) -> tuple[int, ...]:
        """The global shape."""
        return self._native.shape

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements of the whole array."""
        return math.prod(self.shape)

    @property
    def dtype(self) -> DType:
        """Element type."""
        return as_dtype(self._native.dtype)

    @property
    def __numpy_dtype__(self) -> np.dtype[Any]:
        """The element type for ``numpy.result_type(u)`` and the like; see NumPy 2.4."""
        return self.dtype.dtype  # type: ignore[no-any-return]

    @property
    def nbytes(self) -> int:
        """Bytes of all elements, halos not counted."""
        return self.size * self.dtype.itemsize

    @property
    def dist(self) -> _native.Distribution:
        """The distribution of the elements over the parts. An array without dimensions is on one of them."""
        return self._native.dist

    @property
    def team(self) -> _native.Team:
        """The members that hold the parts."""
        return self._native.team

    @property
    def device(self) -> _native.Team:
        """The array API standard's device: the team, which holds the array together."""
        return self.team

    @property
    def parts(self) -> list[_native.Part]:
        """This process's parts, in order; each exports its memory by DLPack. An array without dimensions has one part, at
        the process that holds its element. Computes and waits. Collective."""
        return self._native.parts()

    def __len__(self) -> int:
        if self.ndim == 0:
            raise TypeError("len() of an array without dimensions; use u.size")
        return self.shape[0]

    # Values on the host.

    def eval(self) -> Self:
        """Computes the value now, if it is not computed yet. Devices may still be working afterwards."""
        if self._link is None or not self._link.root._native.is_computed():
            self._native.eval()
        return self

    def numpy(self) -> np.ndarray[Any, Any]:
        """The whole array as a NumPy array: a copy, gathered from all parts, in every process. Computes and waits.
        Collective."""
        return to_host(self._native)  # type: ignore[no-any-return]

    def item(self, *at: Any) -> bool | int | float | complex:
        """An element as a Python number. Computes and waits. Collective.

        Parameters
        ----------
        *at : int or tuple of int
            Its index, or its number in C order; nothing for the only one.

        Returns
        -------
        bool, int, float or complex

        Examples
        --------
        >>> import partita as pt
        >>> u = pt.arange(6).reshape(2, 3)
        >>> u.item(4), u.item(0, 2), u.sum().item()
        (4, 2, 15)
        """
        if at:
            key = at[0] if len(at) == 1 else at
            number = isinstance(key, int) and self.ndim != 1
            array: Any = self
            return (array.reshape(-1) if number else array)[key].item()  # type: ignore[no-any-return]
        return self._only("item", ValueError, "reduce it, or use numpy()")

    def _only(self, name: str, error: type[Exception], remedy: str) -> bool | int | float | complex:
        """The only element, which a function asks for."""
        if self.size != 1:
            raise error(f"{name}: expected an array of 1 element, given shape {self.shape}; {remedy}")
        return self._native.item()

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers."""
        return self.numpy().tolist()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if copy is False:
            raise ValueError("__array__: a whole array is gathered into a copy; for one part without a copy, use .parts")
        gathered = self.numpy()
        return gathered if dtype is None else gathered.astype(dtype, copy=False)

    def __float__(self) -> float:
        return float(self._only("float", TypeError, "use u.astype(float)"))  # type: ignore[arg-type]

    def __int__(self) -> int:
        return int(self._only("int", TypeError, "use u.astype(int)"))  # type: ignore[arg-type]

    def __complex__(self) -> complex:
        return complex(self._only("complex", TypeError, "use u.astype(complex)"))

    def __bool__(self) -> bool:
        return bool(self._only("bool", ValueError, "use u.any() or u.all()"))

    def __round__(self, digits: int | None = None) -> Any:
        return round(self._only("round", TypeError, "use u.round()"), digits)  # type: ignore[arg-type]

    def __format__(self, how: str) -> str:
        if how and self.ndim:
            raise TypeError(f"format: expected an array without dimensions for {how!r}, given shape {self.shape}; format its elements")
        return format(self.item(), how) if how else str(self)

    def __bytes__(self) -> bytes:
        """As NumPy's: of an integer without dimensions so many zeros."""
        return bytes(int(self)) if not self.ndim and self.dtype.kind in "ui" else self.numpy().tobytes()

    def __index__(self) -> int:
        if self.ndim or self.dtype.kind not in "ui":
            raise TypeError("only integer arrays without dimensions can be an index")
        return int(self.item())  # type: ignore[arg-type]

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A DLPack capsule: of an array of one part over its memory, otherwise of a copy that is gathered on the host of every
        process, with a `partita.GatherWarning`; ``copy=False`` then raises BufferError. Computes and waits. Collective."""
        whole: BaseArray = self
        if not self._is_one_part():
            given = f"{self.dist.num_parts} parts, each with memory of its own"
            if copy is False:
                remedy = "export them one by one: [numpy.from_dlpack(p) for p in u.parts], or allow a copy"
                raise BufferError(f"__dlpack__: expected an array of one part for copy=False, given {given}; {remedy}")
            check_gather("__dlpack__", self.nbytes, "an array of several parts has no memory of its own", "export u.parts one by one")
            whole = type(self)(of_host(self.numpy(), team=_native.Team.local(1, "host")))
            copy = None
        return whole.parts[0].__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        """The device of the memory that `__dlpack__` exports: the device of the only part, otherwise the host."""
        return self.parts[0].__dlpack_device__() if self._is_one_part() else (1, 0)

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """NumPy's description of an array of one part on the host, whose data is read-only and keeps its value; of others an
        AttributeError. Computes and waits."""
        try:
            view = self._exported(False, False)
        except BufferError as error:
            raise AttributeError(str(error).replace("buffer:", "__array_interface__:"), name="__array_interface__", obj=None) from None
        return {"version": 3, "shape": view.shape, "typestr": view.dtype.str, "data": Export(view)}

    def _exported(self, writable: bool, strided: bool) -> Any:
        """The memory of the only part for the buffer protocol, or BufferError. Values never change once they are computed, so the
        consumer has what the array has now; where it takes no strides and rows are padded, a copy."""
        given, remedy = None, "pass u.numpy(), or u.parts one by one"
        if self.team.ranks > 1 or not self._is_one_part():
            given = f"{self.dist.num_parts} parts" + (f" over {self.team.ranks} processes" if self.team.ranks > 1 else "")
        elif self.dtype is bfloat16:
            given, remedy = "bfloat16, which has no format of buffers", "pass u.astype('float32'), or use __dlpack__"
        elif self.team.devices[0].kind != "host":
            given, remedy = f"one on {self.team.devices[0].name}", "pass u.numpy(), or use __dlpack__"
        elif writable:
            given, remedy = "a consumer that writes", "use u.writable(), or pass u.numpy()"
        if given is not None:
            raise BufferError(f"buffer: expected an array of one part on the host, and a consumer that reads, given {given}; {remedy}")
        import numpy as np

        view = np.from_dlpack(self.parts[0])
        view = view if strided else np.ascontiguousarray(view).reshape(view.shape)
        view.flags.writeable = False
        return view

    def _is_on_host(self) -> bool:
        """True if NumPy can do what scatters or counts: the memory is the host's, in types that it has, and nobody watches or records."""
        native = self._native
        return native.is_on_host() and native.dtype != "bfloat16" and not in_step() and not (watch.count and is_watched())

    def _is_one_part(self) -> bool:
        return (not self.ndim or self.dist.num_parts == 1) and self.team.ranks == 1

    # Other arrays with the same elements.

    def copy(self, order: str = "C") -> Self:
        """The same value under a handle of its own: assigning to one does not change the other."""
        return type(self)(self._native.copy())

    __copy__ = copy

    def __pos__(self) -> Self:
        return made(self._native.copy())  # type: ignore[no-any-return]

    def _summary(self) -> str:
        raise NotImplementedError

    def __deepcopy__(self, memo: object) -> Self:
        return self.copy()

    def astype(
        self, dtype: Any, order: str = "K", casting: str = "unsafe", subok: bool = True, copy: bool = True
    ) -> Self:
        """Conversion by value: floats to integers truncate and saturate (NaN gives 0), integers wrap. Complex numbers
        become other complex ones, or bool; for their parts see ``partita.real``. With ``copy=False`` the array itself if it has
        that type. ``order`` and ``subok`` are without effect."""
        kind = as_dtype(dtype)
        if not copy and kind is self.dtype:
            return self
        if watch.count and is_watched():
            return watched("cast", (self,), self.astype, kind, order, casting, subok, copy)  # type: ignore[no-any-return]
        if casting != "unsafe" and not can_cast(self.dtype, kind, casting):
            raise TypeError(f"astype: expected a type for casting {casting!r}, given {kind.name} for {self.dtype.name}")
        return type(self)(self._native.cast(kind.name))

    def redistribute(self, dist: _native.Distribution) -> Self:
        """The elements on another distribution, which may be over another team of the same processes. Recorded, computing it is
        collective; over another team it computes at once.

        Parameters
        ----------
        dist : Distribution
            Of the array's shape.

        Examples
        --------
        >>> import partita as pt
        >>> u = pt.ones(6, team=pt.Team(1, "host"))
        >>> u.redistribute(pt.Distribution(6, team=pt.Team(3, "host"))).dist.num_parts
        3
        """
        if not isinstance(dist, _native.Distribution):
            given = type(dist).__name__
            raise TypeError(f"redistribute: expected a partita.Distribution, given {given}; make one for this shape")
        return type(self)(self._native.redistribute(dist))

    def resized(self, shape: int | Sequence[int]) -> Self:
        """An array of another shape of as many dimensions, divided in the same way: elements at indices of both shapes are kept, the
        others are zero. Blocks at given bounds, and lists, say nothing of another shape: NotImplementedError. Declared halos are left
        out. Computes. Collective."""
        return made(self._native.resized(list(shape_of(shape))))  # type: ignore[no-any-return]

    def request(self, boxes: Sequence[Sequence[tuple[int, int]]]) -> list[Requested]:
        """Fetches a box of cells for each part; ``numpy()`` of each result is the box. Cells that the part owns stay where they are,
        others are copies from their owners. The values are those at the time of the call. Computes. Collective.

        Parameters
        ----------
        boxes : sequence of boxes
            One per part of this process, in order: (start, stop) per dimension. Boxes may overlap, be empty, or lie elsewhere than
            the part; along periodic dimensions they may go beyond the ends, along others that is an IndexError. Dimensions that
            are not blocks raise NotImplementedError.
        """
        return self.start_request(boxes).finish()  # type: ignore[no-any-return]

    def start_request(self, boxes: Sequence[Sequence[tuple[int, int]]]) -> _native.PendingCollective:
        """Begins a `request`: ``finish()`` of what this returns gives the boxes, and work that is queued before runs while cells
        travel. Waits for the other processes' boxes alone. Computes. Both are collective.

        Examples
        --------
        >>> import partita as pt
        >>> u = pt.arange(6, team=pt.Team(3, "host"))
        >>> pending = u.start_request([[(0, 3)], [(1, 5)], [(3, 6)]])  # each part with its neighbours
        >>> inner = (u * 2).eval()
        >>> [box.numpy().tolist() for box in pending.finish()]
        [[0, 1, 2], [1, 2, 3, 4], [3, 4, 5]]
        """
        if not self.ndim:
            raise ValueError("request: expected an array of at least one dimension, given one without; use u.item()")
        here = len(self.team.local_members)
        if len(boxes) != here:
            expected = f"{here} boxes, one per part of this process"
            raise ValueError(f"request: expected {expected}, given {len(boxes)}; pass (start, stop) per dimension")
        everyone = of_members(self.team, "request", [[(start, stop) for start, stop in box] for box in boxes])
        return self._native.request(
            everyone, lambda found: [Requested(n, self.dtype, [Section(tuple(a), tuple(b), cells) for a, b, cells in own]) for n, own in found]
        )

    def explain(self, to: _native.Distribution | None = None) -> str:
        """The work of computing this array: kernels with the bytes they touch at least and their operations, plans
        with the bytes of every link of two parts, and how many cells are computed while these travel. With ``to``
        the bytes of every link when it is redistributed to another distribution of its team. Sends nothing, computes
        nothing."""
        if to is None:
            return self._native.explain()
        return f"{self._summary()}\nredistribution to {to!r}: {self._native.explain(to)}"


class Export(_native.Exporter):
    """Memory that NumPy has, for consumers that hold nothing else of an array."""

    __slots__ = ("_view",)

    def __init__(self, view: np.ndarray[Any, Any]) -> None:
        self._view = view

    def _exported(self, writable: bool, strided: bool) -> Any:
        return self._view


def operand(value: object, like: BaseArray | None = None) -> Any:
    """An argument as an array: numbers, nested sequences, and whatever NumPy or DLPack makes an array of, copied to the team
    of ``like`` (by default the default team). None for anything else."""
    if isinstance(value, BaseArray):
        return value
    is_plain = isinstance(value, NUMBERS) or (isinstance(value, Sequence) and not isinstance(value, (str, bytes)))
    if not is_plain and not hasattr(value, "__array__") and not hasattr(value, "__dlpack__"):
        return None
    host = value if is_plain else host_of(value)
    if like is None:
        return BaseArray._class(of_host(host))
    same = getattr(host, "shape", None) == like.shape
    return BaseArray._class(of_host(host, dist=like.dist) if same else of_host(host, team=like.team))


def array_of(name: str, x: A, like: BaseArray | None = None) -> A:
    """The argument of a function as an array; see `operand`."""
    array = x if isinstance(x, BaseArray) else operand(x, like)
    if array is None:
        raise NotAnArrayError(f"{name}: expected an array, a number or a list of numbers, given {type(x).__name__}; convert it with asarray")
    return array


def arrays_of(name: str, values: Iterable[A]) -> list[A]:
    """Several arguments as arrays; what is none goes to the team of the first that is one."""
    if not isinstance(values, Iterable):
        raise NotAnArrayError(f"{name}: expected several arrays, given {type(values).__name__}; put them into a list")
    given = list(values)
    like = next((x for x in given if isinstance(x, BaseArray)), None)
    return [array_of(name, x, like) for x in given]
