"""Makes a failing program small: fewer statements, simpler distributions, smaller arrays, plainer values.

Every candidate is run; it is kept if it fails in the same way (a mismatch, or the same exception). What NumPy refuses
fails in no way, so candidates may be nonsense.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from programs.check import Failure, numpy_step
from programs.generate import Draft
from programs.language import Key, Name, Program, Statement
from programs.layouts import Layout, plain

Runs = Callable[[Draft], Failure | None]


def shrunk(draft: Draft, runs: Runs, tries: int = 3000) -> tuple[Draft, Failure]:
    """A small program that fails like this one. Gives up looking after so many tries."""
    failure = runs(draft)
    assert failure is not None, "only failing programs can be shrunk"
    goes_on = True
    while goes_on and tries > 0:
        goes_on = False
        for candidate in _candidates(draft, failure):
            tries -= 1
            found = runs(candidate)
            if found is not None and found.kind == failure.kind:
                draft, failure, goes_on = candidate, found, True
                break
            if tries <= 0:
                break
    return draft, failure


def _candidates(draft: Draft, failure: Failure) -> Iterator[Draft]:
    """Simpler programs, the boldest steps first."""
    program = draft.program
    if failure.at + 1 < len(program):
        yield draft._replace(program=program[: failure.at + 1])
    for size in (8, 4, 2, 1):
        for at in range(len(program) - size, -1, -1):
            yield draft._replace(program=program[:at] + program[at + size :])
    for at, statement in enumerate(program):
        for simpler in _known(program, at, draft.parts):
            yield draft._replace(program=[*program[:at], simpler, *program[at + 1 :]])
    yield from _fewer_parts(draft)
    for at, statement in enumerate(program):
        for simpler in _statements(statement, program[:at], draft.parts):
            yield draft._replace(program=[*program[:at], simpler, *program[at + 1 :]])


def _known(program: Program, at: int, parts: int) -> Iterator[Statement]:
    """In place of a computed value an array that is made with it."""
    statement = program[at]
    if "out" not in statement.places or "make(" in statement.text:
        return
    variables: dict[str, Any] = {}
    try:
        for earlier in program[: at + 1]:
            value = numpy_step(earlier, variables)
    except Exception:
        return
    places = {"out": statement.places["out"], "host": value, "layout": plain(value.shape, parts)}
    yield Statement("{out} = make({host}, {layout})", places)


def _fewer_parts(draft: Draft) -> Iterator[Draft]:
    """All layouts plain, on fewer parts; or every layout on one part less, along the first dimension."""
    for parts in (1, 2, 3, draft.parts):
        if parts <= draft.parts:
            yield from _different(draft, Draft([_plainly(s, parts) for s in draft.program], parts))


def _different(draft: Draft, candidate: Draft) -> Iterator[Draft]:
    if candidate.parts != draft.parts or [s.line() for s in candidate.program] != [s.line() for s in draft.program]:
        yield candidate


def _plainly(statement: Statement, parts: int) -> Statement:
    layout = statement.places.get("layout")
    return statement if layout is None else statement.with_place("layout", plain(layout.shape, parts))


def _statements(statement: Statement, before: Program, parts: int) -> Iterator[Statement]:
    """One place of a statement simplified."""
    for place, value in statement.places.items():
        if isinstance(value, np.ndarray) and "layout" in statement.places:
            yield from _arrays(statement, value, parts)
        elif isinstance(value, Layout):
            yield from (statement.with_place(place, simpler) for simpler in _layouts(value, parts))
        elif isinstance(value, Key):
            yield from (statement.with_place(place, Key(simpler)) for simpler in _keys(value))
        elif isinstance(value, Name) and place != "out" and statement.writes != place:
            names = [s.places["out"] for s in before if "out" in s.places]
            yield from (statement.with_place(place, name) for name in names[: names.index(value)] if value in names)
        elif isinstance(value, list) and len(value) > 1 and isinstance(value[0], Name):
            yield from (statement.with_place(place, value[:at] + value[at + 1 :]) for at in range(len(value)))


def _arrays(statement: Statement, host: np.ndarray, parts: int) -> Iterator[Statement]:
    """Smaller extents (on a layout of their own if the old one does not fit), plainer types and values."""
    layout = statement.places["layout"]
    for d, extent in enumerate(host.shape):
        for fewer in {extent // 2, extent - 1} - {extent, -1}:
            less = host[(slice(None),) * d + (slice(0, fewer),)]
            for fitting in (_resized(layout, d, fewer), plain(less.shape, parts)):
                yield statement.with_place("host", less).with_place("layout", fitting)
    if host.ndim and host.shape[0] == 1:
        yield statement.with_place("host", host[0]).with_place("layout", plain(host.shape[1:], parts))
    # Numbers that are their own positions, or zeros, are the easiest to read.
    counted = np.arange(host.size).reshape(host.shape)
    for plainer in (counted.astype("int64"), counted.astype("float64"), counted.astype(host.dtype)):
        if host.dtype != bool and not _same(plainer, host) and not _plainer(host, plainer):
            yield statement.with_place("host", plainer)
    nonzero = np.argwhere(host != 0)
    if not _plainer(host, counted) and len(nonzero):
        yield statement.with_place("host", np.zeros_like(host))
        for at in nonzero[:16]:
            zeroed = host.copy()
            zeroed[tuple(at)] = 0
            yield statement.with_place("host", zeroed)


def _same(a: np.ndarray, b: np.ndarray) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and bool(np.array_equal(a, b))


def _plainer(host: np.ndarray, than: np.ndarray) -> bool:
    """Whether the values are positions already, in a type that stands before the other's."""
    order = ("int64", "float64")
    counted = np.arange(host.size).reshape(host.shape)
    rank = {name: at for at, name in enumerate(order)}
    return bool(np.array_equal(host, counted)) and rank.get(host.dtype.name, 2) <= rank.get(than.dtype.name, 2)


def _resized(layout: Layout, d: int, extent: int) -> Layout:
    """The layout with another extent; maps that name cells lose those that are gone."""
    map_ = layout.dims[d]
    if map_ and map_[0] == "Block":
        map_ = ("Block", [min(bound, extent) for bound in map_[1]])
    elif map_ and map_[0] == "Unstructured":
        map_ = ("Unstructured", [[i for i in part if i < extent] for part in map_[1]], map_[2])
    shape = layout.shape[:d] + (extent,) + layout.shape[d + 1 :]
    return layout._replace(shape=shape, dims=layout.dims[:d] + (map_,) + layout.dims[d + 1 :])


def _layouts(layout: Layout, parts: int) -> Iterator[Layout]:
    """Without this or that."""
    rank = len(layout.shape)
    simple = plain(layout.shape, parts)
    yield from (candidate for candidate in (
        simple,
        layout._replace(dims=simple.dims),
        layout._replace(halo=simple.halo),
        layout._replace(periodic=simple.periodic),
    ) if candidate != layout)  # fmt: skip
    for d in range(rank):
        if layout.dims[d]:
            yield layout._replace(dims=layout.dims[:d] + (None,) + layout.dims[d + 1 :])
        if any(layout.halo[d]):
            yield layout._replace(halo=layout.halo[:d] + ((0, 0),) + layout.halo[d + 1 :])
        if layout.periodic[d]:
            yield layout._replace(periodic=layout.periodic[:d] + (False,) + layout.periodic[d + 1 :])


def _keys(key: Key) -> Iterator[list[Any]]:
    """Without an entry at the end, with whole dimensions, without steps."""
    if key and (key[-1] is Ellipsis or (isinstance(key[-1], slice) and key[-1] == slice(None))):
        yield list(key[:-1])
    for at, entry in enumerate(key):
        simpler: list[Any] = []
        if isinstance(entry, slice) and entry != slice(None):
            simpler = [slice(None), slice(entry.start, entry.stop), slice(entry.start, None), slice(None, entry.stop)]
        elif isinstance(entry, np.ndarray) and entry.ndim and entry.shape[0] > 1 and entry.dtype != bool:
            simpler = [entry[:1], entry[: len(entry) // 2]]
        for other in simpler:
            if type(other) is not type(entry) or not isinstance(entry, slice) or other != entry:
                yield [*key[:at], other, *key[at + 1 :]]
