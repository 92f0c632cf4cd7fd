"""Elements by conditions and indices: which they are, what replaces them, writing to them. Masks stay on the devices; lists of
indices for several dimensions, and for assignment, are the host's."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ..._api.create import arange, asarray, zeros
from ..._core import rearrange, rules
from ..._core.array import Array
from ..._core.base import BaseArray, array_of, arrays_of, made
from ..._core.dtypes import int64, result_type
from ..._core.rearrange import broadcast_arrays, broadcast_to, ravel, stack
from ..._core.views.index import one_axis
from ..._core.views.indexing import finished, kept, write
from ...errors import NotAnArrayError


def _host(x: Any) -> Any:
    import numpy as np

    return x.numpy() if isinstance(x, BaseArray) else np.asarray(x)


def _lines(found: Sequence[Any], like: Array | None = None) -> tuple[Any, ...]:
    """Coordinates that NumPy found; of one element Python's numbers."""
    import numpy as np

    return tuple(asarray(line, int64, team=None if like is None else like.team) if line.ndim else int(line) for line in map(np.asarray, found))


def nonzero(a: Any) -> tuple[Array, ...]:
    """The coordinates of the elements that are not 0. Each part numbers its own; only their counts are read. Collective."""
    a = array_of("nonzero", a)
    if a.ndim == 0:
        raise ValueError("nonzero: expected at least one dimension, given none")
    if a.dtype.kind != "c" and a._is_on_host():
        return tuple(asarray(line, team=a.team) for line in a.numpy().nonzero())
    numbers = kept(arange(a.size, dtype=int64, team=a.team), ravel(a) != 0)
    lines = []
    for d in range(a.ndim):
        inner = math.prod(a.shape[d + 1 :]) or 1
        line = numbers // inner if inner > 1 else numbers
        lines.append(line % a.shape[d] if d else line)
    return tuple(lines)


def flatnonzero(a: Any) -> Array:
    """The numbers of the elements that are not 0, in C order; see `nonzero`."""
    return nonzero(ravel(array_of("flatnonzero", a)))[0]


def argwhere(a: Any) -> Array:
    """The coordinates of the elements that are not 0, one row for each; see `nonzero`."""
    a = array_of("argwhere", a)
    if a.ndim == 0:
        return zeros((int(bool(a != 0)), 0), int64, team=a.team)
    return stack(nonzero(a), 1)


def where(condition: Any, x: Any = None, y: Any = None, /) -> Any:
    """``x`` where the condition is true, else ``y``; shapes broadcast. Without both, `nonzero` of the condition.

    Examples
    --------
    >>> import partita as pt
    >>> pt.where(pt.arange(4) > 1, [1, 2, 3, 4], 0).tolist()
    [0, 0, 3, 4]
    """
    if x is None and y is None:
        return nonzero(condition)
    if x is None or y is None:
        raise ValueError("either both or neither of x and y should be given")
    return asarray(rules.where(condition, x, y))


def take(a: Any, indices: Any, axis: int | None = None, out: Any = None, mode: str = "raise") -> Array:
    """The elements at ``indices`` along an axis (of the flat array if None). Indices beyond the ends raise, or with ``mode`` 'wrap'
    are taken modulo the extent, or with 'clip' are those at the ends."""
    a = array_of("take", a)
    result = rearrange.take(a, _within(indices, a.size if axis is None else a.shape[one_axis("take", axis, a.ndim)], mode), axis)
    return result if out is None else write("take", out, result)


def _within(indices: Any, extent: int, mode: str) -> Any:
    import numpy as np

    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"mode: expected 'raise', 'wrap' or 'clip', given {mode!r}")
    if mode == "raise":
        return indices
    return _host(indices) % extent if mode == "wrap" else np.clip(_host(indices), 0, extent - 1)


def compress(condition: Any, a: Any, axis: int | None = None, out: Any = None) -> Array:
    """The elements along an axis (of the flat array if None) where a line of conditions is true."""
    mask = array_of("compress", condition, a if isinstance(a, Array) else None)
    if mask.ndim != 1:
        raise ValueError(f"compress: expected one dimension of conditions, given {mask.ndim}")
    x = array_of("compress", a, mask)
    x = ravel(x) if axis is None else x
    if x.ndim == 1 and mask.shape == x.shape and x.dtype.kind != "c":
        return finished("compress", kept(x, mask != 0), out)
    return take(x, flatnonzero(mask), axis, out)


def extract(condition: Any, arr: Any) -> Array:
    """The elements of the flat array where the condition is true."""
    x = array_of("extract", arr)
    return compress(ravel(array_of("extract", condition, x)), ravel(x))


def choose(a: Any, choices: Any, out: Any = None, mode: str = "raise") -> Array:
    """Of several arrays the element of that which ``a`` has the number of. With ``mode`` 'raise' computes, to check them."""
    given = arrays_of("choose", (a, *choices))
    number, *rest = broadcast_arrays(*given)
    count = len(rest)
    if number.dtype.kind not in "bui":
        raise TypeError(f"choose: expected integers, given {number.dtype.name}; convert with astype")
    if mode == "raise" and number.size and bool(((number < 0) | (number >= count)).any()):
        raise ValueError("invalid entry in choice array")
    number = number.astype(int64)
    number = number % count if mode == "wrap" else number
    common = result_type(*(x.dtype for x in rest))
    result = rest[0].astype(common)
    for n, x in enumerate(rest[1:], 1):
        result = rules.where(number >= n, x.astype(common), result)
    return result.copy() if out is None else write("choose", out, result)


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Array:
    """Of each element the choice of the first condition that is true, otherwise ``default``."""
    if len(condlist) != len(choicelist) or not len(condlist):
        raise ValueError(f"select: expected as many conditions as choices, given {len(condlist)} and {len(choicelist)}")
    *given, last = arrays_of("select", [*choicelist, default])
    masks = arrays_of("select", condlist)
    common = result_type(*(x.dtype for x in given)) if isinstance(default, (bool, int, float, complex)) else last.dtype
    common = result_type(common, *(x.dtype for x in given), (given[0].astype(common) * default).dtype if not isinstance(default, bool) else common)
    result = last.astype(common)
    for mask, x in reversed(list(zip(masks, given, strict=True))):
        if mask.dtype != bool:
            raise TypeError(f"select: expected conditions of bool, given {mask.dtype.name}")
        result = rules.where(mask, x.astype(common), result)
    return result


def piecewise(x: Any, condlist: Any, funclist: Sequence[Any], *args: Any, **words: Any) -> Array:
    """Functions (or numbers) of the elements where their condition is true, one more for the others (otherwise 0). Functions are
    called with all elements."""
    x = array_of("piecewise", x)
    is_one = isinstance(condlist, BaseArray) or not len(condlist) or not isinstance(condlist[0], (BaseArray, list, tuple)) and _host(condlist[0]).ndim == 0
    masks = [array_of("piecewise", c, x).astype(bool) for c in ([condlist] if is_one and x.ndim else condlist)]
    if len(funclist) not in (len(masks), len(masks) + 1):
        raise ValueError(f"piecewise: expected {len(masks)} functions or one more, given {len(funclist)}")
    values = [f(x, *args, **words) if callable(f) else f for f in funclist]
    result: Any = x * 0 if len(values) == len(masks) else array_of("piecewise", values[-1], x).astype(x.dtype)
    result = broadcast_to(result, x.shape)
    for mask, value in zip(masks, values, strict=False):
        result = rules.where(mask, array_of("piecewise", value, x).astype(x.dtype), result)
    return result


# Writing.


def _target(name: str, x: Any) -> Array:
    if not isinstance(x, Array):
        raise NotAnArrayError(f"{name}: expected a partita.Array to write to, given {type(x).__name__}")
    return x


def _takes(kind: str, number: str) -> bool:
    """True if a type of a kind takes a number of Python's of a kind."""
    return number in {"b": "b", "u": "bi", "i": "bi", "f": "bif", "c": "bifc"}[kind]


def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    """Assigns elements, those where a mask is true. Computes."""
    target = dst if isinstance(dst, Array) else None
    value = array_of("copyto", src, target)
    if target is not None and isinstance(src, (bool, int, float, complex)) and _takes(target.dtype.kind, value.dtype.kind):
        # Numbers of Python take the array's type.
        value = asarray(src, target.dtype, team=target.team)
    write("copyto", dst, value, where, casting)


def put(a: Array, ind: Any, v: Any, mode: str = "raise") -> None:
    """Assigns to the elements with these numbers in C order; values repeat. Computes."""
    import numpy as np

    numbers = _within(_host(ind).reshape(-1), _target("put", a).size, mode)
    given = array_of("put", v, a).reshape(-1)
    if numbers.size and given.size:
        at = np.unravel_index(np.where(numbers < 0, numbers + a.size, numbers), a.shape)
        a[at if a.ndim else ...] = given[np.arange(numbers.size) % given.size].astype(a.dtype)


def place(arr: Array, mask: Any, vals: Any) -> None:
    """Assigns to the elements where a mask is true, one value after the other; values repeat. Computes."""
    import numpy as np

    put(_target("place", arr), np.flatnonzero(_host(mask)), vals)


def putmask(x: Array, mask: Any, values: Any) -> None:
    """Assigns to the elements where a mask is true those of ``values`` with the same number; values repeat. Computes."""
    import numpy as np

    at = np.flatnonzero(_host(mask))
    given = array_of("putmask", values, _target("putmask", x)).reshape(-1)
    if at.size and given.size:
        put(x, at, given[at % given.size])


def put_along_axis(arr: Array, indices: Any, values: Any, axis: int | None) -> None:
    """Assigns element by element to the one at that index along the axis. Computes."""
    import numpy as np

    host = _host(indices)
    if axis is None:
        put(_target("put_along_axis", arr), host, values)
        return
    d = one_axis("put_along_axis", axis, _target("put_along_axis", arr).ndim)
    key: list[Any] = [np.arange(n).reshape((-1,) + (1,) * (arr.ndim - e - 1)) for e, n in enumerate(arr.shape)]
    key[d] = host
    arr[tuple(key)] = values


def fill_diagonal(a: Array, val: Any, wrap: bool = False) -> None:
    """Assigns to the main diagonal. Computes."""
    import numpy as np

    if _target("fill_diagonal", a).ndim < 2 or (a.ndim > 2 and len(set(a.shape)) != 1):
        raise ValueError(f"fill_diagonal: expected two dimensions, or more of one extent, given shape {a.shape}")
    step = a.shape[1] + 1 if a.ndim == 2 else 1 + int(np.cumprod(a.shape[:-1]).sum())
    put(a, np.arange(0, a.size if wrap or a.ndim > 2 else min(a.size, a.shape[1] * a.shape[1]), step), val)


# Lists of indices.


def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C") -> Array:
    """The numbers of elements with these coordinates. The coordinates are the host's."""
    import numpy as np

    found = np.ravel_multi_index(tuple(_host(line) for line in multi_index), dims, mode, order)  # type: ignore[call-overload]
    like = next((line.team for line in multi_index if isinstance(line, Array)), None)
    return made(asarray(found, int64, team=like)._native)


def unravel_index(indices: Any, shape: Any, order: str = "C") -> tuple[Array, ...]:
    """The coordinates of elements with these numbers. The numbers are the host's."""
    import numpy as np

    like = indices if isinstance(indices, Array) else None
    return _lines(np.unravel_index(_host(indices), shape, order), like)  # type: ignore[call-overload]


def diag_indices(n: int, ndim: int = 2) -> tuple[Array, ...]:
    """The coordinates of a main diagonal."""
    import numpy as np

    return _lines(np.diag_indices(n, ndim))


def diag_indices_from(arr: Any) -> tuple[Array, ...]:
    """The coordinates of the main diagonal of an array."""
    import numpy as np

    shape = array_of("diag_indices_from", arr).shape
    if len(shape) < 2 or len(set(shape)) != 1:
        raise ValueError(f"diag_indices_from: expected two dimensions or more of one extent, given shape {shape}")
    return _lines(np.diag_indices(shape[0], len(shape)), arr if isinstance(arr, Array) else None)


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, ...]:
    """The coordinates on and below a diagonal."""
    import numpy as np

    return _lines(np.tril_indices(n, k, m))


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, ...]:
    """The coordinates on and above a diagonal."""
    import numpy as np

    return _lines(np.triu_indices(n, k, m))


def tril_indices_from(arr: Any, k: int = 0) -> tuple[Array, ...]:
    """The coordinates on and below a diagonal of a matrix."""
    n, m = array_of("tril_indices_from", arr).shape
    return tril_indices(n, k, m)


def triu_indices_from(arr: Any, k: int = 0) -> tuple[Array, ...]:
    """The coordinates on and above a diagonal of a matrix."""
    n, m = array_of("triu_indices_from", arr).shape
    return triu_indices(n, k, m)


def mask_indices(n: int, mask_func: Callable[..., Any], k: Any = 0) -> tuple[Array, ...]:
    """The coordinates of a square where a function such as `triu` leaves ones."""
    return nonzero(mask_func(zeros((n, n), int64) + 1, k))
