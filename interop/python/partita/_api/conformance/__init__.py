"""Goldens of five documents about distributed arrays, which any module can be run against.

``python -m partita.conformance MODULE`` imports the module and calls those of the functions below that it has. Each golden has
passed, failed, or is not offered: its function is not there, or raises NotImplementedError. The exit status is 1 if one failed. Sequences
may be lists or tuples in results; members, ranks and indices are numbers from 0; a dimension has the dictionaries of all its
processes, in order.

=============================================================== ==========================================================
function                                                        result
=============================================================== ==========================================================
validate_distarray(description or list of all)                  a bool, or (bool, reason)
from_distarray(descriptions)                                    the global array: with ``tolist()``, or for NumPy
owned_indices(dimension)                                        the global indices that each process owns, ascending
to_local(dimension, index)                                      (rank, place in its buffer)
validate_partitioned(described)                                 a bool, or (bool, reason)
from_partitioned(described)                                     the global array
partitioned(array, tiling)                                      an object with ``__partitioned__``, or that dictionary
union(members, members)                                         members
broadcast_groups(source, shape, target, shape)                  per source the root and its receivers, in any order
sum_reduce_groups(source, shape, target, shape)                 per target the root and its senders, in any order
all_sum_reduce_groups(members, shape, axes)                     the groups, in any order
cartesian_index(shape, rank), neighbor_ranks(shape, rank)       the index; (left, right) per dimension, None at edges
default_partition(members, rank, shape)                         (offsets, sizes)
local_parts(members, rank, shape, halo)                         (offsets, shapes of lower halo, owned part, upper halo)
local_target_of_slice(part offsets, sizes,                      (offsets, sizes), relative to the part
slice offsets, sizes, strides)
local_target_size_of_slice(the same)                            the sizes alone, where nothing is local
local_bounding_box(offsets, sizes, strides, target offsets,     (offsets, sizes)
sizes[, box offsets, sizes[, inner]])
local_core(owned offsets, sizes, slice offsets, sizes, strides, (offsets, sizes)
target offsets, sizes[, core offsets, sizes])
densify(sub, whole), undensify(sub, whole)                      a range; ranges are [low, high, stride], high included
index_order(range, index)                                       the position, or -1
rank_change(dimensions, dimensions)                             both sides with ranges of one element for numbers
=============================================================== ==========================================================

The files beside this one are plain JSON. ``{"$tuple": []}`` is a tuple, ``{"$array": [], "dtype": ""}`` and ``{"$zeros": shape,
"dtype": ""}`` are NumPy arrays, ``{"$dict": [[key, value]]}`` has keys that are no text, ``{"$get": true}`` is a function that gives what it
is given, ``{"$handle": ""}`` an object that stands for data, ``{"$here": true}`` the location of this process; as an expected result
``{"$raises": true}`` is any exception.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["DOCUMENTS", "goldens", "run"]

DOCUMENTS = ("distarray", "chapel", "distdl", "dist", "partitioned")


class _Handle:
    """Stands for data that are elsewhere."""


def _same(data: Any) -> Any:
    return data


def _decoded(value: Any) -> Any:
    if isinstance(value, list):
        return [_decoded(one) for one in value]
    if not isinstance(value, dict):
        return value
    match next(iter(value), None):
        case "$tuple":
            return tuple(_decoded(value["$tuple"]))
        case "$array":
            import numpy as np

            return np.array(value["$array"], value["dtype"])
        case "$zeros":
            import numpy as np

            return np.zeros(value["$zeros"], value["dtype"])
        case "$dict":
            return {_decoded(key): _decoded(one) for key, one in value["$dict"]}
        case "$get":
            return _same
        case "$handle":
            return _Handle()
        case "$here":
            return "127.0.0.1", os.getpid()
    return {key: _decoded(one) for key, one in value.items()}


def goldens(document: str) -> list[dict[str, Any]]:
    """The goldens of a document: dicts of ``requirement``, ``name``, ``function``, ``arguments`` and ``expected``."""
    rows: list[dict[str, Any]] = json.loads((Path(__file__).parent / f"{document}.json").read_text())["goldens"]
    return [{**row, "arguments": _decoded(row["arguments"])} for row in rows]


def _plain(value: Any) -> Any:
    """As JSON has it: lists, numbers, text, None."""
    if isinstance(value, (list, tuple, range)):
        return [_plain(one) for one in value]
    if not hasattr(value, "tolist") and (hasattr(value, "__array__") or hasattr(value, "__dlpack__")):
        import numpy as np

        value = np.asarray(value)
    return value.tolist() if hasattr(value, "tolist") else value


def _tiles(value: Any) -> dict[str, Any]:
    """What ``__partitioned__`` says, without places."""
    said = value if isinstance(value, dict) else value.__partitioned__
    entries = sorted(said["partitions"].items())
    tiles = [[at, entry["start"], entry["shape"], said["get"](entry["data"])] for at, entry in entries]
    return {"shape": _plain(said["shape"]), "partition_tiling": _plain(said["partition_tiling"]), "partitions": _plain(tiles)}


def _truth(value: Any) -> bool:
    return bool(value[0] if isinstance(value, tuple) else value)


def _rooted(value: Any) -> list[list[int]]:
    return [[group[0], *sorted(group[1:])] for group in _plain(value)]


#: How results get one form, where there are several.
_FORMS: dict[str, Callable[[Any], Any]] = {
    "validate_distarray": _truth,
    "validate_partitioned": _truth,
    "partitioned": _tiles,
    "broadcast_groups": _rooted,
    "sum_reduce_groups": _rooted,
    "all_sum_reduce_groups": lambda value: sorted(sorted(group) for group in _plain(value)),
}


def run(module: Any, documents: tuple[str, ...] = DOCUMENTS) -> list[tuple[dict[str, Any], str, str]]:
    """Each golden, whether the module passed, failed or does not offer it, and how it failed."""
    return [(golden, *_judged(module, golden)) for document in documents for golden in goldens(document)]


def _judged(module: Any, golden: dict[str, Any]) -> tuple[str, str]:
    function = getattr(module, golden["function"], None)
    if function is None:
        return "not offered", ""
    form, expected = _FORMS.get(golden["function"], _plain), golden["expected"]
    if golden["function"] == "all_sum_reduce_groups":
        expected = form(expected)
    raises = isinstance(expected, dict) and "$raises" in expected
    try:
        given = form(function(*golden["arguments"]))
    except Exception as error:
        if isinstance(error, NotImplementedError) and not raises:
            return "not offered", str(error)
        return ("passed", "") if raises else ("failed", f"{type(error).__name__}: {error}")
    return ("passed", "") if not raises and given == expected else ("failed", f"expected {expected}, given {given}")
