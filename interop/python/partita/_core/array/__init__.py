"""`Array`: Python's operators, indexing and methods, bound to the functions with NumPy's rules that lie below."""

from __future__ import annotations

import math
import numbers
import operator
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar

from ... import _native
from .. import rearrange, reductions, rules
from ..base import NAMESPACE, BaseArray, made
from ..views.domains import At, Domain, domain_of, joined, reindex
from ..describe import html_of, partitioned, representation, summary, text_of
from ..dtypes import as_dtype, bfloat16, bool_, int8
from ..memory import NUMBERS, OnDevice, of_host, team_of, write_all
from ..rules import Operand, operate
from ..views import indexing
from ..views.addresses import Flags, strides_of
from ..views.links import Bits, read, view
from ..views.writable import Loan, writable
from ..watch import in_step
from .methods import Methods

_Method = Callable[[Any, Operand], "Array"]
_M = TypeVar("_M", bound=Callable[..., Any])


def _named(method: _M, name: str) -> _M:
    method.__name__, method.__qualname__ = name, f"Array.{name}"
    return method


def _in_place(name: str) -> _Method:
    """The method of ``a += b`` and the like."""
    combine = getattr(operator, f"__{name}__")

    def method(self: Array, other: Operand) -> Array:
        result = combine(self, other)
        return self if _native.assigned_whole(self, result) else indexing.assign_all(self, result)

    return _named(method, f"__i{name}__")


class _Flat:
    """The elements in C order, to be read, changed and gone through, as NumPy's ``flat``."""

    __slots__ = ("_array",)

    def __init__(self, array: Array) -> None:
        self._array = array

    def __repr__(self) -> str:
        return f"<partita elements in C order of {self._array!r}>"

    def __getitem__(self, key: Any) -> Array:
        return self._array.ravel()[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        import numpy as np

        self._array.put(np.arange(self._array.size)[key.numpy() if isinstance(key, Array) else key], value)

    def __len__(self) -> int:
        return self._array.size

    def __iter__(self) -> Iterator[Array]:
        return iter(self._array.ravel())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self._array.ravel().__array__(dtype, copy)


class _Absent:
    """An attribute that NumPy's arrays have and ours have not: asking for it says what to do."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, array: Any, kind: type) -> NoReturn:
        text = f"it is not there; use u.numpy().{self._name}, which works on the host"
        raise AttributeError(f"'Array' object has no attribute {self._name!r}: {text}")


def _unpickled(
    elements: Any, where: _native.Distribution | _native.Team, dtype: str, is_scalar: bool = False, domain: Domain | None = None
) -> Array:
    """The array of these elements on a distribution; of no dimensions on a team, too, and maybe a scalar. Collective."""
    at = {"team": where} if isinstance(where, _native.Team) else {"dist": where}
    array = (_Scalar if is_scalar else Array)(of_host(elements, dtype, **at))
    return array if domain is None else joined(array, domain)


class Array(Methods):
    """A distributed N-D array. Made by ``partita.zeros``, ``asarray`` and others.

    Arithmetic only records; reading, ``eval`` and assignment compute. Slices, transposes and the like are views, as in
    NumPy: writing to one changes the array it came from. Where the team is over several processes, whatever computes, reads or
    assigns is collective: all of them do it, in the same order. Asking for shape, dtype or distribution is not.
    """

    __slots__ = ()
    # Elements change, so arrays are no keys; scalars are.
    __hash__ = None  # type: ignore[assignment]
    #: Before lists and NumPy's arrays, where packages ask for it.
    __array_priority__ = 100.0

    # Operators.

    __iadd__, __isub__, __imul__, __itruediv__ = map(_in_place, ("add", "sub", "mul", "truediv"))
    __ifloordiv__, __imod__, __ipow__ = map(_in_place, ("floordiv", "mod", "pow"))
    __iand__, __ior__, __ixor__ = map(_in_place, ("and", "or", "xor"))
    __ilshift__, __irshift__ = map(_in_place, ("lshift", "rshift"))

    def __divmod__(self, other: Operand) -> tuple[Array, Array]:
        return self // other, self % other

    def __rdivmod__(self, other: Operand) -> tuple[Array, Array]:
        return other // self, other % self

    def __pow__(self, other: Operand) -> Array:
        plain = _native.plain("power", self, other)
        if plain is not None:
            return plain  # type: ignore[no-any-return]
        # NumPy's operator squares bool in int8, its function does not.
        squares_bool = type(other) is int and other == 2 and self.dtype is bool_
        return rules.by_rules("power", self.astype(int8) if squares_bool else self, other)  # type: ignore[no-any-return]

    def __rpow__(self, other: Operand) -> Array:
        return operate("power", other, self)  # type: ignore[no-any-return]

    __matmul__ = reductions.matmul

    def __rmatmul__(self, other: Operand) -> Self:
        return reductions.matmul(other, self)  # type: ignore[no-any-return]

    def __imatmul__(self, other: Operand) -> Self:  # type: ignore[misc]
        product: Self = reductions.matmul(self, other)
        return indexing.assign_all(self, product)

    # Elements.

    def __iter__(self) -> Iterator[Self]:
        if self.ndim == 0:
            raise TypeError("iteration over an array without dimensions; use u.item()")
        return (self[i] for i in range(len(self)))

    def __reversed__(self) -> Iterator[Self]:
        return (self[i] for i in reversed(range(len(self))))

    # Functions that are methods, too.

    sum, prod, mean = reductions.sum, reductions.prod, reductions.mean
    min, max, argmin, argmax = reductions.min, reductions.max, reductions.argmin, reductions.argmax
    all, any = reductions.all, reductions.any
    squeeze, ravel, roll, swapaxes = rearrange.squeeze, rearrange.ravel, rearrange.roll, rearrange.swapaxes
    diagonal, repeat = rearrange.diagonal, rearrange.repeat
    conj = conjugate = rules.conj

    byteswap, ctypes, data, dump, dumps, resize = map(_Absent, ("byteswap", "ctypes", "data", "dump", "dumps", "resize"))

    def transpose(self, *axes: Any) -> Self:
        """The dimensions in the order of ``axes``, numbers or one tuple; by default reversed."""
        return rearrange.transpose(self, axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None)

    def reshape(self, *shape: Any, order: str = "C", copy: bool | None = None) -> Self:
        """The same elements in C order in another shape; one extent may be -1. See ``partita.reshape``."""
        return rearrange.reshape(self, shape[0] if len(shape) == 1 else shape, order, copy=copy)

    def flatten(self, order: str = "C") -> Self:
        """A copy of all elements in C order, in one dimension."""
        return rearrange.reshape(self, (self.size,), order, copy=True)

    def fill(self, value: Operand) -> None:
        """Assigns one number to all elements. Computes."""
        self[...] = value

    def view(self, dtype: Any = None, type: Any = None) -> Self:
        """A view: the bits of the elements as those of another type of as many bytes."""
        kind = self.dtype if dtype is None or dtype is Array else as_dtype(dtype)
        if kind is self.dtype:
            return self[...]
        if kind.itemsize != self.dtype.itemsize or "c" in (kind.kind, self.dtype.kind):
            text = f"expected a type of {self.dtype.itemsize} bytes that is not complex, given {kind.name} for {self.dtype.name}"
            raise TypeError(f"view: {text}; elements lie on several parts: use real, imag, or u.numpy().view")
        return view(self, Bits(kind.name))

    @property
    def flat(self) -> _Flat:
        """The elements in C order: ``u.flat[3] = 1``."""
        return _Flat(self)

    @flat.setter
    def flat(self, values: Operand) -> None:
        self.put(range(self.size), values)

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.dtype.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one element to the next per dimension, if the array were NumPy's."""
        return strides_of(self)[1]

    def setflags(self, write: bool | None = None, align: Any = None, uic: Any = None) -> None:
        """Lets elements be assigned to, or not."""
        if write is not None:
            self.flags.writeable = write

    def tobytes(self, order: str = "C") -> bytes:
        """The bytes of all elements. Collective."""
        return self.numpy().tobytes(order)  # type: ignore[arg-type]

    def tofile(self, file: Any, sep: str = "", format: str = "%s") -> None:
        """Writes all elements, as NumPy does; what a full disk refuses is an OSError. Collective."""
        host = self.numpy()
        # NumPy hears nothing of what the system refuses when it closes the file.
        data = sep.join(format % (x,) for x in host.ravel().tolist()).encode() if sep else host.tobytes()
        if hasattr(file, "write"):
            return write_all(file, data)
        with open(file, "wb") as opened:
            write_all(opened, data)

    @property
    def real(self) -> Self:
        """Real parts, as ``partita.real``."""
        return rules.real(self)

    @real.setter
    def real(self, value: Operand) -> None:
        self.real[...] = value

    @property
    def imag(self) -> Self:
        """Imaginary parts, as ``partita.imag``."""
        return rules.imag(self)

    @imag.setter
    def imag(self, value: Operand) -> None:
        self.imag[...] = value

    @property
    def T(self) -> Self:
        """A view with the dimensions in reverse order."""
        return self.transpose()

    @property
    def base(self) -> Array | None:
        """The array that holds the elements of a view; None of an array that holds its own."""
        return None if self._link is None else self._link.root

    @property
    def flags(self) -> Flags:
        """NumPy's flags: whether the array is writeable, a view, contiguous; see `partita._core.views.addresses.Flags`."""
        return Flags(self)

    @property
    def mT(self) -> Self:
        """The last two dimensions in each other's place."""
        return reductions.matrix_transpose(self)

    @property
    def domain(self) -> Domain:
        """The indices of the elements: from 0, unless the array was made over another domain, or computed from one that was."""
        return domain_of(self)

    @property
    def at(self) -> At:
        """The elements by the indices of the domain: ``A.at[-1, 2:5]``, ``A.at[D]``, to be read and assigned to."""
        return At(self)

    def reindex(self, domain: Domain | None) -> Self:
        """The same elements under the indices of a domain of this shape; None counts from 0. Copies nothing.

        Examples
        --------
        >>> import partita as pt
        >>> A = pt.arange(4).reindex(pt.Domain[-2:2])
        >>> A.at[-2:0].tolist(), A.reindex(None).domain.dims
        ([0, 1], (range(0, 4),))
        """
        return reindex(self, domain)

    # Other packages and other places.

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        """`partita`, which has the names of the array API standard 2024.12 beside NumPy's; `partita.array_api` has no others."""
        if api_version not in (None, "2021.12", "2022.12", "2023.12", "2024.12"):
            raise ValueError(f"__array_namespace__: expected a version up to 2024.12, given {api_version!r}")
        return NAMESPACE

    def to_device(self, device: OnDevice, /, *, stream: Any = None) -> Self:
        """The array on another team, which may be given as a device or a word such as 'host'."""
        if stream is not None:
            raise ValueError(f"to_device: expected stream=None, given {stream}; partita orders its own work")
        team = team_of(None, device)
        if team is None or team == self.team:
            return self
        if team.ranks != self.team.ranks:
            return type(self)(of_host(self.numpy(), team=team))
        return type(self)(self._native.redistribute(_native.Distribution(self.shape, team=team)))

    def writable(self) -> Loan:
        """The memory of the parts, to be written by other packages: ``with u.writable() as parts``. Collective.

        Copies of the array, and expressions that were recorded, keep the value that they have: if there are any, or
        parts that other packages still have, the array moves to memory of its own first. A view lends the memory of
        its array. Inside the context the array and its views are not used: that is a RuntimeError. Afterwards they have
        what was written to the owned cells; what was written to halos has no effect. On CUDA devices consumers' streams
        wait for ours when they take a part, and leaving waits for all work on the devices. Memory must not be written
        after leaving; exports made then are read-only.

        Returns
        -------
        context manager
            Gives this process's parts, in order, which export writable memory by DLPack, ``__array_interface__``,
            ``__cuda_array_interface__`` and ``__distarray__``; together they have ``__partitioned__``.

        Raises
        ------
        ValueError
            For read-only views, views whose elements are not where their array has them, replicated dimensions, and
            inside the step of a Loop.
        BufferError
            For parts on wgpu adapters; when JAX, whose arrays never change, takes a part.

        Examples
        --------
        >>> import numpy as np
        >>> import partita as pt
        >>> u = pt.zeros(6, team=pt.Team(2, "host"))
        >>> before = u + 1
        >>> with u.writable() as parts:
        ...     for part in parts:
        ...         np.from_dlpack(part)[...] = part.index + 1
        >>> print(u, before)
        [1. 1. 1. 2. 2. 2.] [1. 1. 1. 1. 1. 1.]
        """
        return writable(self)

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
        return partitioned(self)

    def __contains__(self, element: Operand) -> bool:
        """True if an element is equal. Computes. Collective."""
        return bool((self == element).any())

    def __str__(self) -> str:
        """The elements as NumPy prints them. Computes. Collective."""
        return text_of(self)

    def __repr__(self) -> str:
        """The elements as in NumPy, then type and parts. Of more elements than NumPy's ``threshold`` those at the ends, if they are
        computed. An array over several processes, and one inside the step of a `Loop`, shows no elements: local."""
        return representation(self)

    def _summary(self) -> str:
        return summary(self)

    def _repr_html_(self) -> str:
        return html_of(self)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the gathered elements, the distribution and its team; see `partita._core.ranks.teams` for devices that are not
        there again. Both directions are collective where the teams are over several processes."""
        domain = None if self._native.domain() is None else domain_of(self)
        return _unpickled, (self.numpy(), self.dist, self.dtype.name, isinstance(self, _Scalar), domain)


def _set_shape(self: Array, shape: Any) -> None:
    """Another shape in place, as in NumPy; of arrays of which there were no views yet."""
    indexing.check_writeable("shape", self) if isinstance(self, _Scalar) else None
    if self._viewed:
        raise AttributeError("shape: expected an array without views, given one that has some; use u = u.reshape(...)")
    twin: Array = self.copy()
    if self._link is not None:
        twin = object.__new__(self._view_class)
        twin._link, twin._readonly = self._link, self._readonly
    other = rearrange.reshape(twin, shape, copy=False)
    if self._link is not None:
        self._link = other._link
    self._native = other._native


if not TYPE_CHECKING:
    Array.shape = property(BaseArray.shape.fget, _set_shape)


class _Scalar(Array):
    """The result without dimensions of an operation, such as ``u.max()`` or ``u[0]``: as NumPy's scalars it never changes, and its
    hash is that of its number."""

    __slots__ = ()
    # In-place operators bind the name anew.
    __iadd__, __isub__, __imul__, __itruediv__ = Array.__add__, Array.__sub__, Array.__mul__, Array.__truediv__
    __ifloordiv__, __imod__, __ipow__ = Array.__floordiv__, Array.__mod__, Array.__pow__
    __iand__: Any = Array.__and__
    __ior__: Any = Array.__or__
    __ixor__: Any = Array.__xor__
    __ilshift__, __irshift__ = Array.__lshift__, Array.__rshift__

    def __imatmul__(self, other: Operand) -> Self:  # type: ignore[misc,override]
        product: Self = reductions.matmul(self, other)
        return product

    def __new__(cls, native: _native.Array) -> Array:  # type: ignore[misc]
        return made(native)  # type: ignore[no-any-return]

    def __hash__(self) -> int:  # type: ignore[override]
        """That of the number, which is read. Where other processes may have it, and inside the step of a `Loop`, it must have been
        read before."""
        if self._value is None and (self.team.ranks > 1 or in_step()):
            given = "one inside the step of a Loop" if in_step() else f"one over {self.team.ranks} processes that was not read yet"
            raise TypeError(f"hash: expected a number that this process has, given {given}; use u.item(), which all processes call")
        return hash(self.item())

    def __eq__(self, other: object) -> Array:  # type: ignore[override]
        """As that of arrays. Of numbers that were read, which containers compare after their hashes, local."""
        scalars = [x for x in (self, other) if isinstance(x, _Scalar)]
        if not all(x._value is not None and x.dtype is not bfloat16 for x in scalars) or not isinstance(other, (_Scalar, *NUMBERS)):
            return super().__eq__(other)
        numbers = [x.dtype.type(x._value) for x in scalars]
        same = bool(numbers[0] == (other if len(numbers) == 1 else numbers[1]))
        result: _Scalar = made(self._native.constant("bool", same))
        result._value = same
        return result

    def _only(self, name: str, error: type[Exception], remedy: str) -> bool | int | float | complex:
        if self._value is None:
            self._value = self._native.item()
        return self._value

    def __trunc__(self) -> int:
        return math.trunc(self.item())  # type: ignore[arg-type]

    def is_integer(self) -> bool:
        """True if the number is integral, as Python's ``float.is_integer``. Computes. Collective."""
        value = self.item()
        return isinstance(value, int) or value.is_integer()  # type: ignore[union-attr]

    def as_integer_ratio(self) -> tuple[int, int]:
        """As Python's ``float.as_integer_ratio``. Computes. Collective."""
        return self.item().as_integer_ratio()  # type: ignore[union-attr]

    def bit_count(self) -> int:
        """As Python's ``int.bit_count``. Computes. Collective."""
        return self.item().bit_count()  # type: ignore[union-attr]


class _View(Array):
    """An array whose elements are another's. What is made of it has elements of its own, and so is a plain Array."""

    __slots__ = ()

    def __new__(cls, native: _native.Array) -> Array:  # type: ignore[misc]
        return Array(native)

    def __getattr__(self, name: str) -> Any:
        """The elements, which were not read since they were written last; nothing else is missing."""
        if name != "_native" or self._link is None:
            for kind in type(self).__mro__:
                if name in kind.__dict__:
                    # Its own error was taken for a name that is not there.
                    return kind.__dict__[name].__get__(self, type(self))
            raise AttributeError(f"'Array' object has no attribute {name!r}", name=name, obj=self)
        return _native.read_view(self)


for _kind in (_View, _Scalar):
    _kind.__name__ = _kind.__qualname__ = "Array"
BaseArray._class, BaseArray._view_class, BaseArray._scalar_class = Array, _View, _Scalar
_native.set_rules(
    (Array, _View, _Scalar), (rules.unary_by_rules, rules.by_rules, indexing.select, indexing.assign, read)
)
numbers.Number.register(_Scalar)
