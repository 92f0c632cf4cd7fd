"""Elements by conditions and indices: which they are, what replaces them, writing to them. Where a result's shape depends on
elements, the mask is gathered on the host; lists of indices are the host's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .._api import functions
from .._api.create import asarray, zeros
from .._core import rearrange
from .._core.array import Array
from .._core.base import BaseArray, array_of, arrays_of
from .._core.dtypes import as_dtype, can_cast, int64, result_type
from .._core.rearrange import broadcast_arrays, broadcast_to, ravel, reshape, stack
from .._core.views.index import one_axis
from .._core.views.indexing import write

__all__ = [
    "argwhere", "choose", "compress", "copyto", "diag_indices", "diag_indices_from", "extract", "fill_diagonal", "flatnonzero", "mask_indices",
    "nonzero", "piecewise", "place", "put", "put_along_axis", "putmask", "ravel_multi_index", "select", "take", "tril_indices",
    "tril_indices_from", "triu_indices", "triu_indices_from", "unravel_index", "where",
]  # fmt: skip


def _host(x: Any) -> Any:
    import numpy as np

    return x.numpy() if isinstance(x, BaseArray) else np.asarray(x)


def _lines(found: Sequence[Any], like: Array | None = None) -> tuple[Array, ...]:
    """Coordinates that NumPy found."""
    return tuple(asarray(line, int64, team=None if like is None else like.team) for line in found)


def nonzero(x: Any, /) -> tuple[Array, ...]:
    """The coordinates of the elements that are not 0. The mask is gathered on the host. Collective."""
    import numpy as np

    x = array_of("nonzero", x)
    if x.ndim == 0:
        raise ValueError("nonzero: expected at least one dimension, given none")
    return _lines(np.nonzero((x != 0).numpy()), x)


def flatnonzero(x: Any, /) -> Array:
    """The numbers of the elements that are not 0, in C order; see `nonzero`."""
    return nonzero(ravel(array_of("flatnonzero", x)))[0]


def argwhere(x: Any, /) -> Array:
    """The coordinates of the elements that are not 0, one row for each; see `nonzero`."""
    import numpy as np

    x = array_of("argwhere", x)
    return asarray(np.argwhere((x != 0).numpy()), int64, team=x.team)


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
    return functions.where(condition, x, y)


def take(x: Any, indices: Any, /, axis: int | None = None, out: Any = None, mode: str = "raise") -> Array:
    """The elements at ``indices`` along an axis (of the flat array if None). Indices beyond the ends raise, or with ``mode`` 'wrap'
    are taken modulo the extent, or with 'clip' are those at the ends."""
    x = array_of("take", x)
    result = rearrange.take(x, _within(indices, x.size if axis is None else x.shape[one_axis("take", axis, x.ndim)], mode), axis)
    return result if out is None else write("take", out, result)


def _within(indices: Any, extent: int, mode: str) -> Any:
    import numpy as np

    if mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"mode: expected 'raise', 'wrap' or 'clip', given {mode!r}")
    if mode == "raise":
        return indices
    return _host(indices) % extent if mode == "wrap" else np.clip(_host(indices), 0, extent - 1)


def compress(condition: Any, x: Any, /, axis: int | None = None, out: Any = None) -> Array:
    """The elements along an axis (of the flat array if None) where a line of conditions is true."""
    import numpy as np

    mask = _host(condition)
    if mask.ndim != 1:
        raise ValueError(f"compress: expected one dimension of conditions, given {mask.ndim}")
    return take(x, np.flatnonzero(mask), axis, out)


def extract(condition: Any, x: Any, /) -> Array:
    """The elements of the flat array where the condition is true."""
    return compress(_host(condition).reshape(-1), x)


def choose(a: Any, choices: Any, /, out: Any = None, mode: str = "raise") -> Array:
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
        result = functions.where(number >= n, x.astype(common), result)
    return result.copy() if out is None else write("choose", out, result)


def select(conditions: Sequence[Any], choices: Sequence[Any], default: Any = 0) -> Array:
    """Of each element the choice of the first condition that is true, otherwise ``default``."""
    if len(conditions) != len(choices) or not len(conditions):
        raise ValueError(f"select: expected as many conditions as choices, given {len(conditions)} and {len(choices)}")
    *given, last = arrays_of("select", [*choices, default])
    masks = arrays_of("select", conditions)
    common = result_type(*(x.dtype for x in given)) if isinstance(default, (bool, int, float, complex)) else last.dtype
    common = result_type(common, *(x.dtype for x in given), (given[0].astype(common) * default).dtype if not isinstance(default, bool) else common)
    result = last.astype(common)
    for mask, x in reversed(list(zip(masks, given, strict=True))):
        if mask.dtype != bool:
            raise TypeError(f"select: expected conditions of bool, given {mask.dtype.name}")
        result = functions.where(mask, x.astype(common), result)
    return result


def piecewise(x: Any, conditions: Any, functions_: Sequence[Any], /, *args: Any, **words: Any) -> Array:
    """Functions (or numbers) of the elements where their condition is true, one more for the others (otherwise 0). Functions are
    called with all elements."""
    x = array_of("piecewise", x)
    is_one = isinstance(conditions, BaseArray) or not len(conditions) or not isinstance(conditions[0], (BaseArray, list, tuple)) and _host(conditions[0]).ndim == 0
    masks = [array_of("piecewise", c, x).astype(bool) for c in ([conditions] if is_one and x.ndim else conditions)]
    if len(functions_) not in (len(masks), len(masks) + 1):
        raise ValueError(f"piecewise: expected {len(masks)} functions or one more, given {len(functions_)}")
    values = [f(x, *args, **words) if callable(f) else f for f in functions_]
    result: Any = x * 0 if len(values) == len(masks) else array_of("piecewise", values[-1], x).astype(x.dtype)
    result = broadcast_to(result, x.shape)
    for mask, value in zip(masks, values, strict=False):
        result = functions.where(mask, array_of("piecewise", value, x).astype(x.dtype), result)
    return result


# Writing.


def _target(name: str, x: Any) -> Array:
    if not isinstance(x, Array):
        raise TypeError(f"{name}: expected a partita.Array to write to, given {type(x).__name__}")
    return x


def _takes(kind: str, number: str) -> bool:
    """Whether a type of a kind takes a number of Python's of a kind."""
    return number in {"b": "b", "u": "bi", "i": "bi", "f": "bif", "c": "bifc"}[kind]


def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    """Assigns elements, those where a mask is true. Computes."""
    target = dst if isinstance(dst, Array) else None
    value = array_of("copyto", src, target)
    if target is not None and isinstance(src, (bool, int, float, complex)) and _takes(target.dtype.kind, value.dtype.kind):
        # Numbers of Python take the array's type.
        value = asarray(src, target.dtype, team=target.team)
    write("copyto", dst, value, where, casting)


def put(x: Array, indices: Any, values: Any, mode: str = "raise") -> None:
    """Assigns to the elements with these numbers in C order; values repeat. Computes."""
    import numpy as np

    numbers = _within(_host(indices).reshape(-1), _target("put", x).size, mode)
    given = array_of("put", values, x).reshape(-1)
    if numbers.size and given.size:
        at = np.unravel_index(np.where(numbers < 0, numbers + x.size, numbers), x.shape)
        x[at if x.ndim else ...] = given[np.arange(numbers.size) % given.size].astype(x.dtype)


def place(x: Array, mask: Any, values: Any) -> None:
    """Assigns to the elements where a mask is true, one value after the other; values repeat. Computes."""
    import numpy as np

    put(_target("place", x), np.flatnonzero(_host(mask)), values)


def putmask(x: Array, mask: Any, values: Any) -> None:
    """Assigns to the elements where a mask is true those of ``values`` with the same number; values repeat. Computes."""
    import numpy as np

    at = np.flatnonzero(_host(mask))
    given = array_of("putmask", values, _target("putmask", x)).reshape(-1)
    if at.size and given.size:
        put(x, at, given[at % given.size])


def put_along_axis(x: Array, indices: Any, values: Any, axis: int | None) -> None:
    """Assigns element by element to the one at that index along the axis. Computes."""
    import numpy as np

    host = _host(indices)
    if axis is None:
        put(_target("put_along_axis", x), host, values)
        return
    d = one_axis("put_along_axis", axis, _target("put_along_axis", x).ndim)
    key: list[Any] = [np.arange(n).reshape((-1,) + (1,) * (x.ndim - e - 1)) for e, n in enumerate(x.shape)]
    key[d] = host
    x[tuple(key)] = values


def fill_diagonal(x: Array, value: Any, wrap: bool = False) -> None:
    """Assigns to the main diagonal. Computes."""
    import numpy as np

    if _target("fill_diagonal", x).ndim < 2 or (x.ndim > 2 and len(set(x.shape)) != 1):
        raise ValueError(f"fill_diagonal: expected two dimensions, or more of one extent, given shape {x.shape}")
    step = x.shape[1] + 1 if x.ndim == 2 else 1 + int(np.cumprod(x.shape[:-1]).sum())
    put(x, np.arange(0, x.size if wrap or x.ndim > 2 else min(x.size, x.shape[1] * x.shape[1]), step), value)


# Lists of indices.


def ravel_multi_index(multi_index: Any, dims: Any, mode: Any = "raise", order: str = "C") -> Array:
    """The numbers of elements with these coordinates. The coordinates are the host's."""
    import numpy as np

    found = np.ravel_multi_index(tuple(_host(line) for line in multi_index), dims, mode, order)  # type: ignore[call-overload]
    return asarray(found, int64)


def unravel_index(indices: Any, shape: Any, order: str = "C") -> tuple[Array, ...]:
    """The coordinates of elements with these numbers. The numbers are the host's."""
    import numpy as np

    return _lines(np.unravel_index(_host(indices), shape, order))  # type: ignore[call-overload]


def diag_indices(n: int, ndim: int = 2) -> tuple[Array, ...]:
    """The coordinates of a main diagonal."""
    import numpy as np

    return _lines(np.diag_indices(n, ndim))


def diag_indices_from(x: Any, /) -> tuple[Array, ...]:
    """The coordinates of the main diagonal of an array."""
    import numpy as np

    shape = array_of("diag_indices_from", x).shape
    if len(shape) < 2 or len(set(shape)) != 1:
        raise ValueError(f"diag_indices_from: expected two dimensions or more of one extent, given shape {shape}")
    return _lines(np.diag_indices(shape[0], len(shape)), x if isinstance(x, Array) else None)


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, ...]:
    """The coordinates on and below a diagonal."""
    import numpy as np

    return _lines(np.tril_indices(n, k, m))


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, ...]:
    """The coordinates on and above a diagonal."""
    import numpy as np

    return _lines(np.triu_indices(n, k, m))


def tril_indices_from(x: Any, /, k: int = 0) -> tuple[Array, ...]:
    """The coordinates on and below a diagonal of a matrix."""
    n, m = array_of("tril_indices_from", x).shape
    return tril_indices(n, k, m)


def triu_indices_from(x: Any, /, k: int = 0) -> tuple[Array, ...]:
    """The coordinates on and above a diagonal of a matrix."""
    n, m = array_of("triu_indices_from", x).shape
    return triu_indices(n, k, m)


def mask_indices(n: int, mask_func: Callable[..., Any], k: Any = 0) -> tuple[Array, ...]:
    """The coordinates of a square where a function such as `triu` leaves ones."""
    return nonzero(mask_func(zeros((n, n), int64) + 1, k))
