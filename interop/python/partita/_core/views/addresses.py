"""Addresses of elements as NumPy would have them if the roots' elements lay in C order: strides, which arrays share memory,
and flags."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..base import BaseArray
from .index import Selection
from .indexing import check_writeable
from .links import Bits, Component, Diagonal, Op, Reshape, Stretch, root_of, view

if TYPE_CHECKING:
    import numpy as np


def strides_of(x: BaseArray) -> tuple[int, tuple[int, ...]]:
    """Bytes from the root's first element to the first of ``x``, and from one element to the next per dimension."""
    link = x._link
    if link is None:
        return 0, _following(x.shape, x.dtype.itemsize)
    offset, steps = strides_of(link.source)
    op: Op = link.op
    match op:
        case Selection():
            offset += sum(at * step for at, step in zip(op.start, steps, strict=False))
            return offset, tuple(0 if d is None else steps[d] * op.steps[d] for d in op.layout)
        case Reshape(_, strides):
            return offset, strides
        case Bits():
            return offset, steps
        case Component(part):
            return offset + part * x.dtype.itemsize, steps
        case Stretch(axes):
            return offset, tuple(0 if d is None or not steps else steps[d] * step for d, _, step, _ in axes)
        case Diagonal(first, second, by):
            rest = tuple(step for d, step in enumerate(steps) if d not in (first, second))
            return offset + max(-by, 0) * steps[first] + max(by, 0) * steps[second], (*rest, steps[first] + steps[second])


def _following(shape: tuple[int, ...], step: int) -> tuple[int, ...]:
    """The strides of elements of so many bytes that follow each other in C order."""
    steps = []
    for extent in reversed(shape):
        steps.append(step)
        step *= extent
    return tuple(reversed(steps))


def is_contiguous(x: BaseArray) -> bool:
    """True if the elements follow each other in C order, as in NumPy's flag."""
    if x._link is None or x.size == 0:
        return True
    steps = zip(x.shape, strides_of(x)[1], _following(x.shape, x.dtype.itemsize), strict=True)
    return all(extent == 1 or step == follows for extent, step, follows in steps)


def reshaped_strides(x: BaseArray, shape: tuple[int, ...]) -> tuple[int, ...] | None:
    """The strides of ``x`` in another shape, or None where NumPy copies."""
    if x.size == 0:
        return (0,) * len(shape)
    if x._link is None:
        return _following(shape, x.dtype.itemsize)
    old = [(n, step) for n, step in zip(x.shape, strides_of(x)[1], strict=True) if n != 1]
    new = [n for n in shape if n != 1]
    found: list[int] = []
    while old or new:
        # The fewest dimensions of both with as many elements.
        taken, cut = [old.pop(0)], [new.pop(0)]
        while (have := math.prod(n for n, _ in taken)) != (want := math.prod(cut)):
            if have < want:
                taken.append(old.pop(0))
            else:
                cut.append(new.pop(0))
        if any(a[1] != b[0] * b[1] for a, b in zip(taken, taken[1:], strict=False)):
            return None
        found += [taken[-1][1] * math.prod(cut[e + 1 :]) for e in range(len(cut))]
    steps = iter(found)
    return tuple(0 if n == 1 else next(steps) for n in shape)


class _Shadow:
    """Addresses that nobody reads, for NumPy."""

    def __init__(self, x: BaseArray) -> None:
        offset, strides = strides_of(x)
        self.__array_interface__ = {
            "version": 3, "shape": x.shape, "strides": strides, "typestr": f"|V{x.dtype.itemsize}",
            "data": ((1 << 40) + offset, True),
        }  # fmt: skip


def _shadow(x: BaseArray) -> np.ndarray[Any, Any]:
    """A NumPy array at made-up addresses, never to be read."""
    import numpy as np

    return np.asarray(_Shadow(x))


class Flags:
    """NumPy's ``flags`` of an array; ``writeable`` can be set to False.

    Attributes
    ----------
    writeable : bool
        Whether elements can be assigned to; False of views by `broadcast_to` and `diagonal`.
    owndata : bool
        False of views.
    c_contiguous, f_contiguous : bool
        Whether elements would follow each other in NumPy's memory, the last or the first index running fastest.
    """

    __slots__ = ("_array",)

    def __init__(self, array: BaseArray) -> None:
        self._array = array

    @property
    def writeable(self) -> bool:
        return not self._array._readonly

    @writeable.setter
    def writeable(self, value: bool) -> None:
        link = self._array._link
        if value and type(self._array) is BaseArray._scalar_class:
            check_writeable("flags.writeable", self._array)
        if value and link is not None and (link.root._readonly or isinstance(link.op, (Stretch, Diagonal))):
            raise ValueError("flags.writeable: expected False for a view of elements that are read-only, given True; take .copy()")
        self._array._readonly = not value

    @property
    def owndata(self) -> bool:
        return self._array._link is None

    @property
    def c_contiguous(self) -> bool:
        return is_contiguous(self._array)

    @property
    def f_contiguous(self) -> bool:
        x = self._array
        return is_contiguous(view(x, Selection.whole(x.shape).laid_out(list(reversed(range(x.ndim))))))

    def __getitem__(self, name: str) -> bool:
        """By NumPy's other spelling: ``u.flags['WRITEABLE']``."""
        return bool(getattr(self, name.lower()))

    def __repr__(self) -> str:
        names = ("c_contiguous", "f_contiguous", "owndata", "writeable")
        return "\n".join(f"  {name.upper()} : {getattr(self, name)}" for name in names)


def _shares(a: Any, b: Any) -> bool:
    return isinstance(a, BaseArray) and isinstance(b, BaseArray) and root_of(a) is root_of(b)


def shares_memory(a: Any, b: Any, /, max_work: Any = None) -> bool:
    """True if two arrays have an element in common, so that writing to one changes the other. Local.

    Parameters
    ----------
    a, b : Array or object
        Anything that is no Array shares nothing.

    Examples
    --------
    >>> import partita as pt
    >>> u = pt.zeros(10)
    >>> pt.shares_memory(u[::2], u[3:5]), pt.shares_memory(u[::2], u[1::2]), pt.shares_memory(u, u + 1)
    (True, False, False)
    """
    import numpy as np

    return _shares(a, b) and bool(np.shares_memory(_shadow(a), _shadow(b), max_work))


def may_share_memory(a: Any, b: Any, /, max_work: Any = None) -> bool:
    """True if the ranges of two arrays' elements overlap, which takes less time to know; see `shares_memory`. Local.

    Examples
    --------
    >>> import partita as pt
    >>> u = pt.zeros(10)
    >>> pt.may_share_memory(u[::2], u[1::2]), pt.may_share_memory(u[:5], u[5:])
    (True, False)
    """
    import numpy as np

    return _shares(a, b) and bool(np.may_share_memory(_shadow(a), _shadow(b), max_work))
