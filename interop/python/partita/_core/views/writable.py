"""Memory of arrays that other packages write: ``u.writable()``."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from ... import _native
from ..base import BaseArray
from ..describe import partitioned
from .indexing import check_writeable
from .links import forget, read, root_of


class WritableParts(list[_native.Part]):
    """This process's parts of an array, in order, while their memory may be written. The parts export it by DLPack, as
    ``__array_interface__`` or ``__cuda_array_interface__``, and by ``__distarray__``; all of them together by
    ``__partitioned__``."""

    def __init__(self, array: BaseArray, parts: list[_native.Part]) -> None:
        super().__init__(parts)
        self._array = array

    @property
    def __partitioned__(self) -> dict[str, Any]:
        """The parts as partitions, whose data may be written. Collective."""
        return partitioned(self._array, list(self))


class _Frame(BaseArray):
    """The facts of an array while its handle is empty."""

    __slots__ = ("_facts",)
    _facts: tuple[tuple[int, ...], _native.Distribution, _native.Team]

    def __init__(self, array: BaseArray) -> None:
        self._facts = (array.shape, array.dist, array.team)

    @property
    def shape(self) -> tuple[int, ...]:
        return self._facts[0]

    @property
    def dist(self) -> _native.Distribution:
        return self._facts[1]

    @property
    def team(self) -> _native.Team:
        return self._facts[2]


class Loan:
    """The context of ``with u.writable() as parts``."""

    def __init__(self, array: BaseArray) -> None:
        self._array, self._root = array, root_of(array)
        self._lending: _native.Lending | None = None

    def __repr__(self) -> str:
        return f"<partita loan of an array's memory, {'not begun' if self._lending is None else 'begun'}>"

    def __enter__(self) -> WritableParts:
        array, root, link = self._array, self._root, self._array._link
        frame = _Frame(array)
        forget(root)
        view = None if link is None else lambda: read(link.source, link.op)
        self._lending = root._native.lend(view)
        # Views in between were read while the loan began.
        forget(root)
        return WritableParts(frame, self._lending.parts())

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._lending is not None:
            self._lending.end()


def writable(array: BaseArray) -> Loan:
    """See `partita.Array.writable`."""
    check_writeable("writable", array)
    return Loan(array)
