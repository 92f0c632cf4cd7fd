"""Arrays of integers, masks and lists as indices, applied by NumPy to parts in the memory of this process's host. Of an array of one
part it reads and writes that part; of several it reads a copy of all, or few elements part by part."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from ... import _native
from ..base import A, BaseArray
from ..memory import of_elements, of_host
from .index import Selection, positions_of
from .links import forget, put

#: So many elements are copied as fast as a few are found in their parts.
FEW = 4096


def elements_of(x: BaseArray) -> Any:
    """The elements as a NumPy array that nobody writes to: the memory of the only part, or a copy."""
    part = x._native.lone_part()
    return x.numpy() if part is None else seen_by_numpy(part)


def seen_by_numpy(part: _native.Part) -> Any:
    """The memory of a part."""
    import numpy as np

    return np.from_dlpack(part)


def _rows_of(host: tuple[Any, ...], memory: Any) -> Any | None:
    """The numbers of whole rows that a key names, if it is one array of those; None of memory with gaps. NumPy copies rows that it
    takes, or puts, several times as fast as rows that are indexed."""
    import numpy as np

    rows, count = host[0] if len(host) == 1 else None, len(memory) if memory.ndim > 1 else 0
    if not isinstance(rows, np.ndarray) or rows.dtype.kind != "i" or not memory.size or not memory.flags.c_contiguous:
        return None
    return rows if count and rows.size and -count <= rows.min() and rows.max() < count else None


def _put_rows(memory: Any, rows: Any, given: Any) -> bool:
    """Whether all rows are given in order, and so are put. Of a row that is named several times the last counts."""
    import numpy as np

    if rows is None or not isinstance(given, np.ndarray) or given.dtype != memory.dtype or not given.flags.c_contiguous:
        return False
    if given.shape != rows.shape + memory.shape[1:] or np.may_share_memory(memory, given):
        return False
    row = np.dtype((np.void, memory[0].nbytes))
    np.put(memory.reshape(len(memory), -1).view(row), rows, given.reshape(rows.size, -1).view(row))
    return True


def host_key(key: Any) -> Any:
    if isinstance(key, BaseArray):
        return (elements_of(key),)
    keys = key if isinstance(key, tuple) else (key,)
    return tuple(elements_of(k) if isinstance(k, BaseArray) else k for k in keys)


def pieces(places: Sequence[Any], parts: Sequence[_native.Part]) -> Iterator[tuple[Any, Any, tuple[Any, ...]]]:
    """Of each part its memory, which of the elements at some coordinates it has, and the coordinates of those in its memory."""
    import numpy as np

    for part in parts:
        inside: Any = np.ones(places[0].shape, bool)
        for at, (start, stop) in zip(places, part.owned, strict=True):
            inside &= (at >= start) & (at < stop)
        chosen = slice(None) if inside.all() else inside
        yield seen_by_numpy(part), chosen, tuple(at[chosen] - start for at, (start, _) in zip(places, part.owned, strict=True))


def _is_ours(x: BaseArray) -> bool:
    return x._is_on_host() and x.team.ranks == 1 and x.ndim > 0


def _has_few(host: tuple[Any, ...], x: BaseArray) -> bool:
    """True if a key is arrays or lists of few of the many elements of several parts."""
    import numpy as np

    if x.size <= FEW or x.team.size == 1 or len(host) != x.ndim or x._link is not None or set(x.dist.kinds) - {"block"}:
        return False
    sizes = [np.size(k) for k in host if isinstance(k, (np.ndarray, list)) and np.asarray(k).dtype.kind in "iu"]
    return len(sizes) == x.ndim and 64 * max(sizes) < x.size


def taken(x: A, key: Any) -> A | None:
    """``x[key]``; None where NumPy does not see the memory."""
    if not _is_ours(x):
        return None
    import numpy as np

    host, part = host_key(key), x._native.lone_part()
    if part is None and _has_few(host, x):
        numbers = positions_of(host, x.shape)
        found = np.empty(numbers.shape, x.dtype.dtype)
        for memory, chosen, at in pieces(np.unravel_index(numbers, x.shape), x.parts):
            found[chosen] = memory[at]
    else:
        try:
            memory = x.numpy() if part is None else seen_by_numpy(part)
            rows = _rows_of(host, memory)
            found = np.asarray(memory[host]) if rows is None else memory.take(rows, axis=0)
        except IndexError as error:
            raise beyond(x, error) from None
    by = key[0] if isinstance(key, tuple) and len(key) == 1 else key
    if isinstance(by, BaseArray) and x.ndim == 1 and by.shape == found.shape:
        return type(x)(of_elements(found, x.dtype, by.dist))
    team, dist = x.team, None
    if team.size > 1 and found.ndim > 1:
        # As the engine divides what lists select.
        first = next((d for d, n in enumerate(found.shape) if n != 1), 0)
        dist = _native.Distribution(found.shape, team=team, grid=[team.size if d == first else 1 for d in range(found.ndim)])
    return type(x)(of_elements(found, x.dtype, dist, team))


def assigned(x: BaseArray, key: Any, value: Any) -> bool:
    """``x[key] = value``, of a number or an array of ours; false where NumPy does not see the memory."""
    if not _is_ours(x) or (isinstance(value, BaseArray) and not value._native.is_on_host()):
        return False
    import numpy as np

    given = value
    if isinstance(value, BaseArray):
        value = value.astype(x.dtype, copy=False)
        given = elements_of(value)
    host = host_key(key)
    try:
        if x._link is None and x._native.lone_part() is not None:
            with Lent(x) as parts:
                memory = seen_by_numpy(parts[0])
                if not _put_rows(memory, _rows_of(host, memory), given):
                    memory[host] = given
        elif _has_few(host, x):
            numbers = positions_of(host, x.shape)
            each = np.broadcast_to(np.asarray(given, x.dtype.dtype), numbers.shape)
            places = np.unravel_index(numbers, x.shape)
            with Lent(x) as parts:
                for memory, chosen, at in pieces(places, parts):
                    memory[at] = each[chosen]
        else:
            elements = x.numpy()
            elements[host] = given
            changed = of_host(elements, dist=x.dist)
            if x._link is None and x._native.domain() is None:
                forget(x)
                x._native.replace(changed)
            else:
                put(x, Selection.whole(x.shape), changed)
    except IndexError as error:
        raise beyond(x, error) from None
    except (TypeError, ValueError):
        if isinstance(value, BaseArray) and math.prod(value.shape) != 1:
            wanted = positions_of(host, x.shape).shape
            raise ValueError(f"assignment: expected a value that broadcasts to {wanted}, given shape {value.shape}") from None
        raise
    return True


class Lent:
    """The memory of an array that is no view, while it is written."""

    def __init__(self, x: BaseArray) -> None:
        forget(x)
        self._lending = x._native.lend()

    def __enter__(self) -> list[_native.Part]:
        return self._lending.parts()

    def __exit__(self, *error: object) -> None:
        self._lending.end()


def beyond(x: BaseArray, error: IndexError) -> IndexError:
    return IndexError(f"index: expected indices that fit shape {x.shape}; {error}")
