"""The array, with NumPy's rules: promotion, broadcasting, indexing. Computing is the engine's business.

The engine keeps reduced dimensions with extent 1 and has no 0-D arrays over several parts. So an array without
dimensions is an engine array of one element with the flag ``_scalar``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from .. import _native
from .dtypes import DType, as_dtype, can_cast
from .index import selection_of
from .operators import Operators
from .rules import Operand, array_operand, of_rank

if TYPE_CHECKING:
    import numpy as np

__all__ = ["Array"]

#: Functions of NumPy that have another name here.
_UFUNCS = {
    "absolute": "abs", "invert": "bitwise_invert", "left_shift": "bitwise_left_shift", "right_shift": "bitwise_right_shift",
    "rint": "round", "conjugate": "conj",
}  # fmt: skip


class Array(Operators):
    """A distributed N-D array. Made by ``partita.zeros``, ``asarray`` and others.

    Arithmetic only records; reading, ``eval`` and assignment compute. Slices are values, not views: writing to
    one does not change the array it came from. Where the team is over several processes, whatever computes, reads or
    assigns is collective: all of them do it, in the same order. Asking for shape, dtype or distribution is not.
    """

    __slots__ = ("__weakref__", "_native", "_scalar")
    # Elements change, so arrays are no keys.
    __hash__ = None  # type: ignore[assignment]
    def __init__(self, native: _native.Array, scalar: bool = False) -> None:
        self._native, self._scalar = native, scalar

    # What it is.

    @property
    def shape(self) -> tuple[int, ...]:
        """The global shape."""
        return () if self._scalar else self._native.shape

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements of the whole array."""
        size = 1
        for extent in self.shape:
            size *= extent
        return size

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
        """Which part owns which elements. An array without dimensions has that of one element."""
        return self._native.dist

    @property
    def team(self) -> _native.Team:
        """The members that hold the parts."""
        return self._native.team

    @property
    def parts(self) -> list[_native.Part]:
        """This process's parts, in order; each exports its memory by DLPack. An array without dimensions has one part, at
        the process that holds its element. Computes and waits. Collective."""
        return self._native.parts(self._scalar)

    @property
    def device(self) -> _native.Team:
        """The array API standard's device: the team, which holds the array together."""
        return self.team

    def to_device(self, device: Any, /, *, stream: Any = None) -> Array:
        """The array on another team, which may be given as a device or a word such as 'host'."""
        if stream is not None:
            raise ValueError(f"to_device: expected stream=None, given {stream}; partita orders its own work")
        from .._api.create import asarray

        return asarray(self, team=device if isinstance(device, _native.Team) else _native.Team(None, device))

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """`partita.array_api`, the array API standard 2024.12 as far as the engine reaches."""
        if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12"):
            raise ValueError(f"__array_namespace__: expected a version up to 2024.12, given {api_version!r}")
        from .. import array_api

        return array_api

    def __len__(self) -> int:
        if self.ndim == 0:
            raise TypeError("len() of an array without dimensions; use u.size")
        return self.shape[0]

    def __repr__(self) -> str:
        dist = self.dist
        return f"<partita.Array {self.shape} {self.dtype.name}, {dist.num_parts} parts in grid {dist.grid}>"

    def _repr_html_(self) -> str:
        from .show import html_of

        return html_of(self)

    # Values on the host.

    def eval(self) -> Array:
        """Computes the value now, if it is not computed yet. Devices may still be working afterwards."""
        self._native.eval()
        return self

    def numpy(self) -> np.ndarray[Any, Any]:
        """The whole array as a NumPy array: a copy, gathered from all parts, in every process. Computes and waits.
        Collective."""
        import numpy as np

        out = np.empty(self._native.shape, dtype=self.dtype.dtype)
        self._native.read_into(out.reshape(-1).view(np.uint8))
        return out.reshape(self.shape)

    def item(self) -> bool | int | float | complex:
        """The only element, as a Python number."""
        if self.size != 1:
            text = f"item: expected an array of 1 element, given shape {self.shape}; reduce it, or use numpy()"
            raise ValueError(text)
        element: bool | int | float | complex = self.numpy().reshape(-1)[0].item()
        return element

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers."""
        return self.numpy().tolist()

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **settings: Any) -> Any:
        """NumPy's functions of elements, and its operators with an array of NumPy's on the left: partita's of that name."""
        import partita

        name = ufunc.__name__
        ours = getattr(partita, _UFUNCS.get(name, name), None)
        if method == "__call__" and ours is not None and not settings:
            return ours(*inputs)
        given = f"numpy.{name}" if method == "__call__" else f"numpy.{name}.{method}"
        given += f" with {', '.join(settings)}" if settings else ""
        remedy = "use partita's functions and methods, or convert one side: u.numpy(), partita.asarray(x)"
        raise TypeError(f"{given}: expected arrays of NumPy, given a partita.Array; {remedy}")

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        if copy is False:
            raise ValueError("__array__: a whole array is gathered into a copy; for one part without a copy, use .parts")
        gathered = self.numpy()
        return gathered if dtype is None else gathered.astype(dtype, copy=False)

    def __float__(self) -> float:
        return float(self.item())  # type: ignore[arg-type]

    def __int__(self) -> int:
        return int(self.item())  # type: ignore[arg-type]

    def __complex__(self) -> complex:
        return complex(self.item())

    def __bool__(self) -> bool:
        return bool(self.item())

    def __index__(self) -> int:
        if self.ndim or self.dtype.kind not in "ui":
            raise TypeError("only integer arrays without dimensions can be an index")
        return int(self.item())  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[Array]:
        return (self[i] for i in range(len(self)))

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """A DLPack capsule of an array with one part. Others raise BufferError; their ``parts`` export."""
        return self._only_part().__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._only_part().__dlpack_device__()

    def _only_part(self) -> _native.Part:
        if (self.dist.num_parts != 1 and not self._scalar) or self.team.ranks != 1:
            raise BufferError(
                f"__dlpack__: expected an array of one part, given {self.dist.num_parts} parts, each with memory of "
                "its own; export them one by one: [numpy.from_dlpack(p) for p in u.parts], or gather with u.numpy()"
            )
        return self.parts[0]

    def __distarray__(self) -> dict[str, Any]:
        """The Distributed Array Protocol 0.10, of an array with one part in this process; otherwise its parts have it.
        Computes. Collective."""
        parts = self.parts
        if len(parts) != 1:
            raise ValueError(
                f"__distarray__: expected an array of one part in this process, given {len(parts)}; "
                "use [p.__distarray__() for p in u.parts]"
            )
        return parts[0].__distarray__()

    @property
    def __partitioned__(self) -> dict[str, Any]:
        """The array as a grid of boxes, with the memory of this process's parts as data. Computes and waits. Collective."""
        from .._api.protocols import partitioned

        return partitioned(self)

    # Other arrays with the same elements.

    def copy(self) -> Array:
        """The same value under a handle of its own: assigning to one does not change the other."""
        return Array(self._native.copy(), self._scalar)

    def astype(self, dtype: Any) -> Array:
        """Conversion by value: floats to integers truncate and saturate (NaN gives 0), integers wrap. Complex numbers
        become other complex ones, or bool; for their parts see ``partita.real``."""
        return Array(self._native.cast(as_dtype(dtype).name), self._scalar)

    def redistribute(self, dist: _native.Distribution) -> Array:
        """The elements on another distribution of the same shape and team. Computes."""
        if not isinstance(dist, _native.Distribution):
            given = type(dist).__name__
            raise TypeError(f"redistribute: expected a partita.Distribution, given {given}; make one for this shape")
        return Array(self._native.redistribute(dist), self._scalar)

    def explain(self, to: _native.Distribution | None = None, *, html: bool = False) -> str:
        """What computing this array will run: kernels with the bytes they touch at least and their operations, plans
        with the bytes of every link of two parts, and how many cells are computed while these travel. With ``html``
        as a page that draws it. With ``to`` the bytes of every link when it is redistributed to another distribution
        of its team. Sends nothing, computes nothing."""
        if to is None:
            return self._native.explain(None, html)
        return f"{self!r}\nredistribution to {to!r}: {self._native.explain(to)}"

    @property
    def real(self) -> Array:
        """Real parts, as ``partita.real``."""
        from .._api.complex import real

        return real(self)

    @property
    def imag(self) -> Array:
        """Imaginary parts, as ``partita.imag``."""
        from .._api.complex import imag

        return imag(self)

    @property
    def T(self) -> Array:
        """The transpose of an array of two dimensions; of another one see ``permute_dims``."""
        if self.ndim != 2:
            text = f"T: expected an array of 2 dimensions, given {self.ndim}; use partita.permute_dims"
            raise ValueError(text)
        return self.transpose()

    @property
    def mT(self) -> Array:
        """The last two dimensions in each other's place."""
        if self.ndim < 2:
            raise ValueError(f"mT: expected at least 2 dimensions, given {self.ndim}; use partita.reshape first")
        from .._api.rearrange import swapaxes

        return swapaxes(self, -1, -2)

    def transpose(self, axes: Sequence[int] | None = None) -> Array:
        """The dimensions in the order ``axes``, by default reversed. Computes."""
        from .._api.rearrange import transpose

        return transpose(self, axes)

    def reshape(self, *shape: Any) -> Array:
        """The same elements in C order in another shape; one extent may be -1. Computes."""
        from .._api.rearrange import reshape

        return reshape(self, shape[0] if len(shape) == 1 else shape)

    def ravel(self) -> Array:
        """All elements in C order, in one dimension. Computes."""
        from .._api.rearrange import ravel

        return ravel(self)

    def squeeze(self, axis: Any = None) -> Array:
        """Without the dimensions ``axis`` (all that can go if None), which have extent 1. Computes."""
        from .._api.rearrange import squeeze

        return squeeze(self, axis)

    def roll(self, shift: Any, axis: Any = None) -> Array:
        """Element i of the result is element i - shift along each axis, as ``partita.roll``."""
        from .._api.rearrange import roll

        return roll(self, shift, axis)

    def __copy__(self) -> Array:
        return self.copy()

    def __deepcopy__(self, memo: object) -> Array:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the gathered elements, the distribution and its team; see `partita._pickling` for devices that are not
        there again. Both directions are collective where the teams are over several processes."""
        from .pickling import array

        return array, (self.numpy(), self.team if self._scalar else self.dist, self.dtype.name)

    # Parts of it.

    def __getitem__(self, key: Any) -> Array:
        selection = None if self._scalar else selection_of(key, self.shape)
        if selection is None or not selection.layout:
            from .._api.rearrange import select

            return select(self, key)
        return Array(self._native.view(selection.spans))

    def __setitem__(self, key: Any, value: Operand) -> None:
        is_number = isinstance(value, (bool, int, float, complex))
        array = None if is_number else array_operand(value, self)
        if array is None and not is_number:
            raise TypeError(f"assignment: expected an array or a number, given {type(value).__name__}")
        selection = None if self._scalar else selection_of(key, self.shape)
        if selection is None or not selection.is_box or selection.new:
            from .._api.rearrange import assign

            assign(self, key, value if array is None else array)
            return
        start, stop, dropped = selection.start, selection.stop, selection.dropped
        if array is None:
            assigned = self._native.window(start, stop).constant(self.dtype.name, value)
        else:
            engine_array = of_rank(array, len(start)).cast(self.dtype.name)
            assigned = engine_array if array._scalar else _with_dropped(engine_array, dropped, self.ndim)
        self._native.assign(start, stop, assigned)

    def _assign_all(self, result: Array) -> Array:
        if not can_cast(result.dtype, self.dtype):
            given = f"{result.dtype.name} into {self.dtype.name}"
            raise TypeError(f"in-place operation: expected a result of the array's kind, given {given}; use astype")
        self._native.assign([0] * len(self._native.shape), list(self._native.shape), _whole(result, self))
        return self


def _whole(result: Array, target: Array) -> _native.Array:
    """A result that is assigned to a whole array."""
    if not target._scalar and not result._scalar and result.ndim > target.ndim:
        text = f"in-place operation: expected a result of shape {target.shape}, given {result.shape}; use a new array"
        raise ValueError(text)
    return of_rank(result, len(target._native.shape)).cast(target.dtype.name)


def _with_dropped(native: _native.Array, dropped: list[int], ndim: int) -> _native.Array:
    """A value for a window: where a plain index dropped a dimension, one of extent 1."""
    rank = len(native.shape)
    behind = [sum(1 for e in range(d + 1, ndim) if e not in dropped) for d in dropped]
    before = [rank - kept for kept in behind if kept < rank]
    return native.unsqueeze(before) if before else native
