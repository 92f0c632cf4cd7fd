"""Views: arrays without elements of their own. A view says which elements of another array it has; reading takes them
from there, and writing goes there.

A view keeps the engine's array that it was read as until its root is written. The root therefore lists its views that
hold one. Memory that nobody else refers to can then be written in place.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ... import _native
from ..base import A, BaseArray, made
from ..._native import Link as Link, forget as forget
from .index import Selection

#: Axes in the engine's terms: dimension (None: a new one), start, step, count.
Strides = list[tuple[int | None, int, int, int]]


class Reshape(NamedTuple):
    """The elements in C order in another shape, where NumPy needs no copy."""

    shape: tuple[int, ...]
    #: Bytes from one element to the next, per dimension.
    strides: tuple[int, ...]


class Component(NamedTuple):
    """Real (0) or imaginary (1) parts."""

    part: int


class Stretch(NamedTuple):
    """Repeated elements. Read-only."""

    axes: Strides


class Diagonal(NamedTuple):
    """The elements of two dimensions whose coordinates differ by ``offset``, as the last dimension. Read-only."""

    first: int
    second: int
    offset: int


class Bits(NamedTuple):
    """The bits of the elements as those of another type of as many bytes."""

    dtype: str


Op = Selection | Reshape | Component | Stretch | Diagonal | Bits


def root_of(x: BaseArray) -> BaseArray:
    """The array that holds the elements of ``x``, which may be ``x``."""
    return x if x._link is None else x._link.root


def holder_of(x: BaseArray) -> BaseArray:
    """The array whose elements ``x`` has all of, in order, as the arrays of domains have; else ``x``."""
    link = x._link
    is_whole = link is not None and isinstance(link.op, Selection) and link.op == Selection.whole(link.source.shape)
    return link.source if is_whole and link is not None else x


def view(x: A, op: Op, *, readonly: bool = False, source: BaseArray | None = None) -> A:
    """The elements of ``x`` that ``op`` says, as an array; ``op`` may also be said of another ``source``."""
    if type(x) is BaseArray._scalar_class:
        # Scalars never change, and have no views.
        result: A = made(read(x if source is None else source, op))
        result._readonly = result._readonly or readonly
        return result
    link = x._link
    composed = op.within(link.op) if link is not None and isinstance(op, Selection) and isinstance(link.op, Selection) else None
    if link is not None and composed is not None:
        source, op = link.source, composed
    elif source is None:
        source = holder_of(x)
    new: A = object.__new__(x._view_class)
    new._link, new._readonly = Link(source, op), readonly or x._readonly
    return new


def read(source: BaseArray, op: Op) -> _native.Array:
    """The engine's array of a view."""
    native = source._native
    match op:
        case Selection():
            return _selected(native, op)
        case Reshape(shape):
            return native.reshaped(shape)
        case Component(part):
            return native.op1("imag" if part else "real")
        case Bits(dtype):
            return as_bits(native, dtype)
        case Stretch(axes):
            return native.rearranged(axes)
        case Diagonal(first, second, offset):
            rest = [d for d in range(source.ndim) if d not in (first, second)]
            order = [first, second, *rest]
            return native.rearranged([(d, 0, 1, source.shape[d]) for d in order]).diagonal(offset)


def as_bits(native: _native.Array, dtype: str) -> _native.Array:
    """The bits as those of another type of as many bytes; a bool is a byte."""
    if "bool" not in (native.dtype, dtype):
        return native.bitcast(dtype)
    return native.cast(dtype) if dtype == "bool" else native.cast("uint8").bitcast(dtype)


def _selected(native: _native.Array, op: Selection) -> _native.Array:
    if op.is_ordered:
        return native.view(op)
    kept = sorted(d for d in op.layout if d is not None)
    native = native.view(op.laid_out(list(kept)))
    axes: Strides = [(None, 0, 0, 1) if d is None else (kept.index(d), 0, 1, op.counts[d]) for d in op.layout]
    return native.rearranged(axes)


# Writing.


def put(x: BaseArray, selection: Selection, value: _native.Array, part: int | None = None) -> None:
    """Replaces the elements of ``x``, or their real or imaginary parts, by those of an engine's array of its type that
    broadcasts. The root of a view gets them."""
    link = x._link
    if selection.is_empty:
        return
    if link is None:
        forget(x)
        _assign(x._native, selection, value, part)
        return
    match link.op:
        case Selection():
            composed = selection.within(link.op)
            assert composed is not None
            put(link.source, composed, value, part)
        case Component(of):
            put(link.source, selection, value, of)
        case Bits():
            put(link.source, selection, as_bits(value, link.source._native.dtype))
        case _:
            elements = x._native.copy()
            _assign(elements, selection, value, part)
            put(link.source, Selection.whole(link.source.shape), elements.reshaped(link.source.shape))


def _assign(native: _native.Array, selection: Selection, value: _native.Array, part: int | None) -> None:
    """To an array with elements of its own."""
    if not selection.is_ordered:
        # The value's dimensions in the order of the array's.
        rank, shape = len(selection.layout), value.shape
        front = rank - len(shape)
        order = sorted(range(rank), key=lambda e: -1 if (d := selection.layout[e]) is None else d)
        value = value.rearranged([(e - front, 0, 1, shape[e - front]) if e >= front else (None, 0, 0, 1) for e in order])
        selection = selection.laid_out([selection.layout[e] for e in order])
    native.assign_view(selection, value, part)


def scatter(x: BaseArray, positions: Any, line: _native.Array) -> None:
    """Replaces the elements with these numbers in C order."""
    if x._link is None:
        forget(x)
        x._native.scatter(positions, line)
        return
    elements = x._native.copy()
    elements.scatter(positions, line)
    put(x, Selection.whole(x.shape), elements)
