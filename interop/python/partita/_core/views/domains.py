"""Domains: index sets of one's own choice that arrays live over, as in Chapel. `Domain` has the indices, `At` reads and writes
by them."""

from __future__ import annotations

import itertools
import math
import operator
import weakref
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ... import _native
from ..base import A, BaseArray, arrays_of, made
from ..dtypes import as_dtype, default
from ..memory import of_host
from . import links
from .index import Selection
from ..watch import in_step

#: The domains of the arrays that were made over one.
_HOMES: dict[int, tuple[weakref.ref[BaseArray], Domain]] = {}


class Domain:
    """A set of indices, one range per dimension, that arrays live over; see Chapel's domains.

    ``pt.Domain[1:n+1, -2:3]`` has the indices from 1 to n and from -2 to 2: bounds may be negative, ranges may have steps, also
    negative ones. Arrays made over a domain, and what is computed from them, are read and written by its indices with
    ``A.at[...]``; ``A[...]`` goes by position, from 0, as always. Arithmetic goes by position, too. Arrays over domains never stretch;
    only numbers, and plain arrays of the same rank with extents of 1, stretch to them. Other unlike shapes are an error, and
    `by_index` takes the common indices. The result is over the domain of the first operand that has one; results of reductions, reshapes
    and joins count from 0.

    Parameters
    ----------
    *ranges : slice, range or int
        One per dimension, at most 8; a number ``n`` means ``0:n``.
    dist : Distribution, optional
        Of the domain's shape: the part that has the index at each position.
    fixed : bool, default False
        The domain does without the list of its arrays, as do those derived from it: `set` is a TypeError.
    **layout
        Otherwise what makes a `Distribution` of this shape: ``team``, ``grid``, ``dims``, ``halo``, ``periodic``.

    Raises
    ------
    TypeError
        For sets, dictionaries and the like: domains are rectangular. Sparse index sets are `Unstructured` dimensions.

    Examples
    --------
    >>> import partita as pt
    >>> D = pt.Domain(slice(0, 5), slice(-1, 4), team=pt.Team(2, "host"))
    >>> A = D.zeros("int64")
    >>> A.at[D.interior((-2, 3))] = 7
    >>> A.at[1, 3].item(), (0, 4) in D, D.low, D.high
    (7, False, (0, -1), (4, 3))
    >>> D.set(slice(1, 3), slice(2, 6))  # resizes A, too
    >>> print(A)
    over {1:3, 2:6}
    [[7 7 0 0]
     [0 0 0 0]]
    """

    __slots__ = ("__weakref__", "_arrays", "_dims", "_dist", "_within")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, *ranges: Any, dist: _native.Distribution | None = None, fixed: bool = False, **layout: Any) -> None:
        self._dims = _ranges_of(ranges)
        shape = tuple(map(len, self.dims))
        if dist is not None and (layout or dist.shape != shape):
            given = f"dist beside {', '.join(layout)}" if layout else f"one of shape {dist.shape}"
            raise ValueError(f"Domain: expected a distribution of shape {shape}, given {given}; leave it out for even blocks")
        self._dist: _native.Distribution | None = _native.Distribution(shape, **layout) if dist is None else dist
        self._arrays: list[weakref.ref[BaseArray]] | None = None if fixed else []
        self._within: tuple[_native.Distribution, tuple[range, ...]] | None = None

    def __class_getitem__(cls, key: Any) -> Domain:
        return cls(*(key if isinstance(key, tuple) else (key,)))

    # What it is.

    @property
    def dims(self) -> tuple[range, ...]:
        """The indices of every dimension, as a range."""
        return self._dims

    @property
    def dist(self) -> _native.Distribution:
        """The part that has the index at each position. Beyond the domain that it was made of, that one's kinds of maps for the new
        size; lists and uneven blocks have no other size, and are an error."""
        if self._dist is None:
            assert self._within is not None
            dist, dims = self._within
            places = [_places_in(r, sub) for r, sub in zip(dims, self.dims, strict=True)]
            self._dist = dist.resized(self.shape) if None in places else dist.viewed(_triples(places))  # type: ignore[arg-type]
        return self._dist

    @property
    def team(self) -> _native.Team:
        """The members that hold the parts."""
        return (self._within[0] if self._within is not None else self.dist).team

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.dims)

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of indices per dimension."""
        return tuple(map(len, self.dims))

    @property
    def size(self) -> int:
        """The number of indices."""
        return math.prod(self.shape)

    @property
    def low(self) -> tuple[int, ...]:
        """The smallest index per dimension; of an empty domain a ValueError."""
        return tuple(map(min, self._filled()))

    @property
    def high(self) -> tuple[int, ...]:
        """The largest index per dimension; of an empty domain a ValueError."""
        return tuple(map(max, self._filled()))

    @property
    def stride(self) -> tuple[int, ...]:
        """The distance of neighbouring indices per dimension."""
        return tuple(r.step for r in self.dims)

    def _filled(self) -> tuple[range, ...]:
        if not self.size:
            raise ValueError(f"Domain: expected one that has indices, given {self}; ask size first")
        return self.dims

    def __len__(self) -> int:
        return self.size

    def __contains__(self, index: Any) -> bool:
        try:
            at = _index_of(index)
        except TypeError:
            return False
        return len(at) == self.ndim and all(i in r for i, r in zip(at, self.dims, strict=True))

    def __iter__(self) -> Iterator[Any]:
        """The indices in C order: numbers of one dimension, otherwise tuples."""
        return iter(self.dims[0]) if self.ndim == 1 else itertools.product(*self.dims)

    def index_order(self, index: Any) -> int:
        """The position of an index in this order, from 0.

        Raises
        ------
        IndexError
            For others.
        """
        return sum(i * math.prod(self.shape[d + 1 :]) for d, i in enumerate(self._place(index)))

    def _place(self, index: Any) -> tuple[int, ...]:
        if index not in self:
            raise IndexError(f"index: expected one of {self}, given {index}; ask 'index in domain' first")
        return tuple(r.index(i) for i, r in zip(_index_of(index), self.dims, strict=True))

    def __eq__(self, other: object) -> bool:
        return self.dims == other.dims and self._division() == other._division() if isinstance(other, Domain) else NotImplemented

    def _division(self) -> Any:
        """The distribution; what it would be made of, where lists and uneven blocks have none for this size."""
        try:
            return self.dist
        except NotImplementedError:
            return self._within

    def __str__(self) -> str:
        return "{" + ", ".join(f"{r.start}:{r.stop}" + (f":{r.step}" if r.step != 1 else "") for r in self.dims) + "}"

    def __repr__(self) -> str:
        return f"partita.Domain[{str(self)[1:-1]}] on {self.team.size} parts"

    # Who has what.

    def owner(self, index: Any) -> int:
        """The part that owns an index. Local: sends nothing."""
        return self.dist.owner(self._place(index))

    def local(self, part: int) -> list[Domain]:
        """The indices that a part owns, as domains that have each of them once: one domain for blocks, one per block for cyclic
        dimensions. Local: sends nothing."""
        part, count = operator.index(part), self.dist.num_parts
        if not 0 <= part < count:
            raise IndexError(f"local: expected a part below {count}, given {part}; count from 0")
        own = [places for owner, places in self.dist.chunks() if owner == part]
        return [self._sub([r[_slice_of(range(*p))] for r, p in zip(self.dims, places, strict=True)]) for places in own]

    # Other domains. Indices of this one stay with their parts, but along dimensions that go down and are not blocks, which are divided
    # evenly; what goes beyond it is divided in the same way.

    def _sub(self, dims: Sequence[range]) -> Domain:
        made = object.__new__(Domain)
        made._dims, made._dist, made._arrays = tuple(dims), None, None if self._arrays is None else []
        # Always of the domain that was made, so that reading a distribution in between changes nothing.
        made._within = (self.dist, self.dims) if self._within is None else self._within
        return made

    def _each(self, name: str, numbers: Any, make: Any) -> Domain:
        given = numbers if isinstance(numbers, Sequence) else (numbers,) * self.ndim
        if len(given) != self.ndim:
            raise ValueError(f"{name}: expected a number, or one for each of {self.ndim} dimensions, given {numbers}; use 0 for none")
        return self._sub([make(r, operator.index(k)) for r, k in zip(self.dims, given, strict=True)])

    def translate(self, offsets: int | Sequence[int]) -> Domain:
        """Every index moved by so much, per dimension or in all."""
        return self._each("translate", offsets, lambda r, k: range(r.start + k, r.stop + k, r.step))

    def expand(self, counts: int | Sequence[int]) -> Domain:
        """So many indices more at both ends, or fewer for negative numbers."""
        return self._each("expand", counts, lambda r, k: _stretched(r, -k, len(r) + k))

    def interior(self, counts: int | Sequence[int]) -> Domain:
        """The so many highest indices; for negative numbers the lowest; all for 0."""
        return self._each("interior", counts, lambda r, k: _end(r, k, False))

    def exterior(self, counts: int | Sequence[int]) -> Domain:
        """The so many indices above the highest; for negative numbers below the lowest; all for 0."""
        return self._each("exterior", counts, lambda r, k: _end(r, k, True))

    def by(self, strides: int | Sequence[int]) -> Domain:
        """Every so many-th index from the first; for negative numbers from the last, downwards."""
        return self._each("by", strides, _by)

    def __and__(self, other: Domain) -> Domain:
        """The common indices, in this domain's order."""
        if not isinstance(other, Domain):
            return NotImplemented
        if other.ndim != self.ndim:
            raise ValueError(f"&: expected domains of as many dimensions, given {self} and {other}; fix an index first")
        return self._sub([_common(a, b) for a, b in zip(self.dims, other.dims, strict=True)])

    # Arrays.

    def full(self, value: Any, dtype: Any = None) -> Any:
        """An array over this domain, filled with a number. `set` resizes it."""
        kind = as_dtype(default.of_python(type(value)) if dtype is None else dtype)
        return self._declared(_native.Array.full(self.dist, kind.name, value))

    def zeros(self, dtype: Any = None) -> Any:
        """An array of zeros over this domain."""
        return self.full(0, default.float if dtype is None else dtype)

    def ones(self, dtype: Any = None) -> Any:
        """An array of ones over this domain."""
        return self.full(1, default.float if dtype is None else dtype)

    def array(self, values: Any, dtype: Any = None) -> Any:
        """An array over this domain with the elements of an array or nested lists of its shape, in order."""
        import numpy as np

        values = values if isinstance(values, BaseArray) else np.asarray(values)
        if values.shape != self.shape:
            raise ValueError(f"Domain.array: expected values of shape {self.shape}, given {values.shape}; slice them")
        given = values if isinstance(values, BaseArray) else BaseArray._class(of_host(values, dist=self.dist))
        given = given if dtype is None else given.astype(dtype)
        moved = given._native if given.dist == self.dist else given._native.redistribute(self.dist)
        return self._declared(moved.copy())

    def _declared(self, native: _native.Array) -> BaseArray:
        """An array of this domain. It is a view of all of another one, to which its views are linked: when the domain changes, it
        shows a new one, and they stay."""
        array: BaseArray = made(native.over_domain(_triples(self.dims)))
        if self._arrays is not None:
            array = links.view(array, Selection.whole(self.shape))
            self._arrays = [*(known for known in self._arrays if known() is not None), weakref.ref(array)]
        key = id(array)
        _HOMES[key] = weakref.ref(array, lambda _: _HOMES.pop(key, None)), self
        return array

    def set(self, *ranges: Any, dist: _native.Distribution | None = None) -> None:
        """Other indices, one range per dimension, for the domain and for every array that was made over it: elements of common
        indices keep their values, others are zero. Views, copies, exports and recorded expressions keep what they had.
        Computes. Collective.

        Parameters
        ----------
        *ranges : slice, range or int
        dist : Distribution, optional
            Of the new shape; by default the same kinds of maps over the same team. Halos that do not fit smaller parts are given up.

        Raises
        ------
        RuntimeError, ValueError
            Inside the step of a Loop, if the memory of an array is lent, and for another number of dimensions.
        TypeError
            For a ``fixed`` domain, such as that of an array that was made over none, but computed.
        NotImplementedError
            For lists and uneven blocks without ``dist``. Nothing has changed after an error.
        """
        if self._arrays is None:
            given = "one made with fixed=True, or of an array that was computed"
            raise TypeError(f"Domain.set: expected a domain that lists its arrays, given {given}; make another domain")
        if in_step():
            raise RuntimeError("Domain.set: expected no Loop to be running, given one; change domains between runs")
        dims = _ranges_of(ranges)
        if len(dims) != self.ndim:
            raise ValueError(f"Domain.set: expected {self.ndim} ranges, given {len(dims)}; make another domain for another rank")
        shape = tuple(map(len, dims))
        target = Domain(*dims, dist=self.dist.resized(shape) if dist is None else dist)
        common = target & self
        arrays = [array for known in self._arrays if (array := known()) is not None]
        fresh: list[Any] = [made(_native.Array.full(target.dist, array.dtype.name, 0).over_domain(_triples(dims))) for array in arrays]
        for new, array in zip(fresh, arrays, strict=True):
            At(new)[common] = At(array)[common]
        for new, array in zip(fresh, arrays, strict=True):
            links.forget(links.root_of(array))
            array._link = links.view(new, Selection.whole(shape))._link
        self._dims, self._dist = dims, target.dist

    def __reduce__(self) -> tuple[Any, ...]:
        return _domain, (self.dims, self.dist, self._arrays is None)


def _domain(dims: tuple[range, ...], dist: _native.Distribution, fixed: bool = False) -> Domain:
    return Domain(*dims, dist=dist, fixed=fixed)


class At:
    """The elements of an array by the indices of its domain: ``A.at[-1, 2:5]``, ``A.at[D]``; to be read and assigned to.

    Per dimension an index, a slice or range of indices, or ``...``; or a domain alone. Numbers are indices, negative ones too; steps are
    distances of indices, and what a slice leaves out is the domain's end in their direction. An index that the domain does not have
    is an IndexError.
    """

    __slots__ = ("_array",)

    def __init__(self, array: Any) -> None:
        self._array = array

    #: Python would count from 0, by position.
    __contains__ = None

    def __repr__(self) -> str:
        return f"<partita elements by index of {self._array!r}>"

    def __iter__(self) -> Iterator[Any]:
        return iter(self._array)

    def __getitem__(self, key: Any) -> Any:
        return self._array[self._places(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._array[self._places(key)] = value

    def _places(self, key: Any) -> tuple[Any, ...]:
        domain = domain_of(self._array)
        keys = key.dims if isinstance(key, Domain) else key if isinstance(key, tuple) else (key,)
        # Of arrays `==` is an array.
        places = [n for n, k in enumerate(keys) if k is ...]
        if len(places) > 1 or len(keys) - len(places) > domain.ndim:
            raise IndexError(f"at: expected at most one '...' and {domain.ndim} indices, given {len(keys)}; drop some")
        missing = (slice(None),) * (domain.ndim - len(keys) + len(places))
        dots = places[0] if places else len(keys)
        full = (*keys[:dots], *missing, *keys[dots + 1 :])
        return tuple(_places_of(k, r, d, domain) for d, (k, r) in enumerate(zip(full, domain.dims, strict=True)))


def _places_of(key: Any, r: range, d: int, domain: Domain) -> Any:
    """An index or indices as positions."""
    if isinstance(key, slice):
        step = r.step if key.step is None else operator.index(key.step)
        along = r if (step > 0) == (r.step > 0) else r[::-1]
        start, stop = (end if given is None else operator.index(given) for given, end in ((key.start, along.start), (key.stop, along.stop)))
        key = range(start, stop, step)
    single = not isinstance(key, range)
    if single and (not hasattr(key, "__index__") or getattr(key, "ndim", None)):
        expected = "an index, a slice or range of indices, '...', or a Domain alone"
        raise TypeError(f"at: expected {expected}, given {type(key).__name__}; masks and lists go by position: A[mask]")
    places = _places_in(r, range(operator.index(key), operator.index(key) + 1) if single else key)
    if places is None:
        given = key if single else f"{key.start}:{key.stop}:{key.step}"
        raise IndexError(f"at: expected indices of {domain}, given {given} in dimension {d}; intersect the domains with &")
    return places[0] if single else _slice_of(places)


def domain_of(x: BaseArray) -> Domain:
    """The domain of an array: the one that it was made over, otherwise one with its indices on its distribution."""
    known = _HOMES.get(id(x))
    if known is not None and known[0]() is x:
        return known[1]
    triples = x._native.domain()
    dims = [range(n) for n in x.shape] if triples is None else [range(*triple) for triple in triples]
    return Domain(*dims, dist=x.dist, fixed=True)


def joined(x: A, domain: Domain) -> A:
    """The array as one that was made over the domain, whose copies are unpickled together."""
    return domain._declared(x._native)  # type: ignore[return-value]


def reindex(x: A, domain: Domain | None) -> A:
    """The elements under other indices, of a domain of the array's shape; None counts from 0. Copies nothing."""
    return made(x._native.over_domain(None if domain is None else _triples(domain.dims)))  # type: ignore[no-any-return]


def by_index(*arrays: A) -> list[A]:
    """The elements of all arrays at the indices that all of them have, in the order of the first: views, for arithmetic by index
    rather than by position.

    Examples
    --------
    >>> import partita as pt
    >>> A, B = pt.Domain[0:4].array([1, 2, 3, 4]), pt.Domain[2:6].array([10, 20, 30, 40])
    >>> a, b = pt.by_index(A, B)
    >>> print(a + b)
    over {2:4}
    [13 24]
    """
    arrays = tuple(arrays_of("by_index", arrays))
    if not arrays:
        return []
    common = domain_of(arrays[0])
    for x in arrays[1:]:
        common = common & domain_of(x)
    return [At(x)[common] if x._native.domain() is not None else reindex(At(x)[common], common) for x in arrays]


def _triples(dims: Iterable[range]) -> list[tuple[int, int, int]]:
    return [(r.start, r.start + len(r) * r.step, r.step) for r in dims]


def _ranges_of(given: Sequence[Any]) -> tuple[range, ...]:
    if len(given) == 1 and isinstance(given[0], (tuple, Domain)):
        given = given[0].dims if isinstance(given[0], Domain) else given[0]
    return tuple(map(_range_of, given))


def _range_of(given: Any) -> range:
    if isinstance(given, range):
        return given
    if isinstance(given, slice) and given.stop is not None and given.step != 0:
        return range(*(usual if end is None else operator.index(end) for end, usual in zip((given.start, given.stop, given.step), (0, 0, 1), strict=True)))
    if hasattr(given, "__index__"):
        return range(operator.index(given))
    expected = "ranges such as 1:n+1, because domains are rectangular"
    raise TypeError(f"Domain: expected {expected}, given {given!r}; use partita.Unstructured for a sparse dimension")


def _index_of(index: Any) -> tuple[int, ...]:
    return tuple(map(operator.index, index if isinstance(index, tuple) else (index,)))


def _places_in(r: range, sub: range) -> range | None:
    """The places of indices in a range; None if it lacks one."""
    if not sub:
        return range(0)
    if sub[0] not in r or sub[-1] not in r or (len(sub) > 1 and sub.step % r.step):
        return None
    first, step = r.index(sub[0]), sub.step // r.step or 1
    return range(first, first + len(sub) * step, step)


def _slice_of(places: range) -> slice:
    stop = places[-1] + (1 if places.step > 0 else -1) if places else places.start
    return slice(places.start, None if stop < 0 else stop, places.step)


def _stretched(r: range, first: int, stop: int) -> range:
    """The indices from place ``first`` to before place ``stop``, which may lie beyond the ends."""
    start = r.start + first * r.step
    return range(start, start + max(stop - first, 0) * r.step, r.step)


def _by(r: range, stride: int) -> range:
    if stride == 0:
        raise ValueError("by: expected strides other than 0, given 0; use 1 to take every index")
    return r[::stride]


def _end(r: range, count: int, beyond: bool) -> range:
    """The so many indices at the high end, at the low one for negative numbers, or as many beyond it; all for 0."""
    many, is_last = abs(count), (count > 0) == (r.step > 0)
    if not beyond and many > len(r):
        raise ValueError(f"interior: expected at most the {len(r)} indices of {r.start}:{r.stop}, given {count}; take fewer")
    first = (len(r) if beyond else len(r) - many) if is_last else (-many if beyond else 0)
    return _stretched(r, first, first + many) if count else r


def _common(a: range, b: range) -> range:
    """The common members of two ranges, in the order of the first."""
    if not a or not b:
        return a[:0]
    divisor = math.gcd(a.step, b.step)
    if (b.start - a.start) % divisor:
        return a[:0]
    # The places in `a` of members of `b`, one and their distance; see the Chinese remainder theorem.
    period = abs(b.step) // divisor
    place = (b.start - a.start) // divisor * pow(a.step // divisor, -1, period) % period if period > 1 else 0
    met = a[place::period]
    first, last = (min(b), max(b)) if met.step > 0 else (max(b), min(b))
    return met[max(0, -((met.start - first) // met.step)) : max(0, (last - met.start) // met.step + 1)]
