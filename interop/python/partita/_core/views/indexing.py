"""Indexing and assignment as in NumPy, where the extension leaves it to Python's part. Basic indices give views; masks and
arrays of integers copy."""

from __future__ import annotations

from typing import Any

from ... import _native
from ..base import A, BaseArray, made, operand
from ..dtypes import bool_, can_cast, number_of
from . import on_host
from .index import Selection, positions_of, selection_of
from ..memory import NUMBERS
from ..rules import where
from ..watch import in_step, is_watched, watch
from .links import Link, Strides, put, read, scatter, view
from .masked import Masked, selected

#: The elements of a mask, or of indices, that the host reads: one small read, where devices take several launches and a read.
_FEW = 512


def select(x: A, key: Any) -> A:
    """``x[key]``."""
    selection = None if isinstance(key, BaseArray) and key.ndim else selection_of(key, x.shape)
    if selection is None:
        chosen: Any = on_host.taken(x, key)
        if chosen is None:
            chosen = _by_array(x, key[0] if isinstance(key, tuple) and len(key) == 1 else key)
        if chosen is not None:
            return chosen  # type: ignore[no-any-return]
        numbers = positions_of(key, x.shape)
        return made(x._native.gathered(numbers.shape, _contiguous(numbers)))  # type: ignore[no-any-return]
    if not selection.is_element:
        return view(x, selection)
    # As in NumPy, an index of integers alone gives the element as it is now, one with '...' a view of it.
    return view(x, selection) if _has_dots(key) else made(read(x, selection))


def kept(line: A, mask: BaseArray) -> A:
    """The elements of a one-dimensional array where a mask is true. Computes; of complex numbers the mask is read on the host."""
    return select(line, mask) if line.dtype.kind == "c" else type(line)(line._native.compressed(mask._native))


def _by_array(x: A, key: Any) -> Any:
    """The selection of one of our arrays on the devices: a mask of all elements, or indices into one dimension; None for other keys.
    In the step of a `Loop` a `Masked`."""
    if not isinstance(key, BaseArray):
        return None
    is_mask = key.dtype is bool_ and key.shape == x.shape
    if is_mask and in_step() and not key._native.is_constant():
        return selected(x, key)
    if not x.ndim or 0 in x.shape:
        return None
    if x.dtype.kind == "c":
        return None
    if is_mask:
        flat = (x.size,)
        if x.size <= _FEW or in_step():
            import numpy as np

            numbers = np.flatnonzero(key.numpy())
            return type(x)(x._native.gathered(numbers.shape, numbers))
        return type(x)(x._native.reshaped(flat).compressed(key._native.reshaped(flat)))
    # A few indices are read on the host, too.
    if key.dtype.kind in "iu" and x.ndim == 1 and key.ndim and (key.size > _FEW or (key.size and in_step())):
        return type(x)(x._native.taken(key._native))
    return None


def _has_dots(key: Any) -> bool:
    return key is Ellipsis or (isinstance(key, tuple) and any(k is Ellipsis for k in key))


def _contiguous(numbers: Any) -> Any:
    import numpy as np

    return np.ascontiguousarray(numbers, dtype=np.int64).reshape(-1)


def assign(x: A, key: Any, value: Any) -> None:
    """``x[key] = value``."""
    check_writeable("assignment", x)
    if isinstance(value, Masked):
        key, value = ..., value.assign_to(x, key[0] if isinstance(key, tuple) and len(key) == 1 else key)
    value = value if isinstance(value, (BaseArray, bool, int, float)) else number_of(value, x.dtype)
    is_number = isinstance(value, NUMBERS)
    array = None if is_number else operand(value, x)
    if array is None and not is_number:
        raise TypeError(f"assignment: expected an array or a number, given {type(value).__name__}")
    if watch.count and is_watched():
        if isinstance(value, float):
            # A number, too, may be beyond what the array holds.
            array = made(_native.Array.full(_native.Distribution((), team=x.team), "float64", value))
        array = None if array is None else array.astype(x.dtype, copy=False)
    selection = selection_of(key, x.shape)
    if selection is None:
        _assign_at(x, key, value if array is None else array)
        return
    target = None if array is None else _as_shape(array, selection.shape)
    if selection.is_empty:
        return
    if array is not None and array._link is not None and _is_view_by(array._link, x, selection):
        # The end of `x[key] += value`, which has written there.
        return
    if target is None:
        target = read(x, selection).constant(x._native.dtype, value)
    put(x, selection, target.cast(x._native.dtype))


def _is_view_by(link: Link, x: BaseArray, selection: Selection) -> bool:
    """True if a view is what the selection gives of an array."""
    if link.source is x:
        return bool(link.op == selection)
    outer = x._link
    if outer is None or link.source is not outer.source or not isinstance(outer.op, Selection):
        return False
    return bool(link.op == selection.within(outer.op))


def check_writeable(operation: str, x: BaseArray) -> None:
    if type(x) is BaseArray._scalar_class:
        text = "expected an array, given a scalar, which never changes; assign to the name, or make an array with asarray"
        raise TypeError(f"{operation}: {text}")
    if x._readonly:
        given = "a read-only view" if x._link is not None else "a read-only one"
        raise ValueError(f"{operation}: expected a writeable array, given {given}; assignment destination is read-only, take .copy()")


def assign_all(x: A, result: A) -> A:
    """The array, which now has the elements of the result of an operation in place."""
    check_writeable("in-place operation", x)
    if not can_cast(result.dtype, x.dtype):
        given = f"{result.dtype.name} into {x.dtype.name}"
        raise TypeError(f"in-place operation: expected a result of the array's kind, given {given}; use astype")
    if x.ndim and result.ndim > x.ndim:
        text = f"in-place operation: expected a result of shape {x.shape}, given {result.shape}; use a new array"
        raise ValueError(text)
    put(x, Selection.whole(x.shape), _as_shape(result.astype(x.dtype, copy=False), x.shape))
    return x


def write(name: str, out: Any, result: A, where_: Any = True, casting: str = "same_kind") -> Any:
    """The results of a function in the array that was given as ``out``: one of ours, or one of NumPy's in every process."""
    if not isinstance(out, BaseArray):
        import numpy as np

        if not isinstance(out, np.ndarray):
            raise TypeError(f"{name}: expected an array as out, given {type(out).__name__}")
        np.copyto(out, result.numpy(), casting, where=np.asarray(where_))  # type: ignore[arg-type]
        return out
    check_writeable(name, out)
    if not can_cast(result.dtype, out.dtype, casting):
        given = f"{result.dtype.name} into {out.dtype.name} with casting {casting!r}"
        raise TypeError(f"{name}: expected an out= that takes the result, given {given}; use another dtype")
    value = result.astype(out.dtype)
    assign(out, ..., value if where_ is True else where(where_, value, out))
    return out


def finished(name: str, result: A, out: Any) -> A:
    """The result, in the array that was given as ``out`` if there was one."""
    return result if out is None else write(name, out, result)


def _as_shape(value: BaseArray, wanted: tuple[int, ...]) -> _native.Array:
    """A value that broadcasts to the shape, without the dimensions of extent 1 that it has too many."""
    if value.shape == wanted:
        return value._native
    extra = max(value.ndim - len(wanted), 0)
    shape = value.shape[extra:]
    fits = all(n in (1, w) for n, w in zip(reversed(shape), reversed(wanted), strict=False))
    if not fits or any(n != 1 for n in value.shape[:extra]):
        raise ValueError(f"assignment: expected a value that broadcasts to {wanted}, given shape {value.shape}")
    return value._native.squeeze(range(extra)) if extra else value._native


def _assign_at(x: A, key: Any, value: Any) -> None:
    """Assignment of a number or an array where a key with arrays in it selects."""
    mask = key[0] if isinstance(key, tuple) and len(key) == 1 else key
    array = value if isinstance(value, BaseArray) else None
    if isinstance(mask, BaseArray) and mask.dtype is bool_ and mask.shape == x.shape and (array is None or array.ndim == 0):
        # Stays on the devices, in the type of the array.
        filled = type(x)(x._native.constant(x.dtype.name, value)) if array is None else array.astype(x.dtype)
        assign(x, ..., where(mask, filled, x))
        return
    if on_host.assigned(x, key, value):
        return
    numbers = positions_of(key, x.shape)
    if numbers.size == 0:
        if array is not None:
            _as_shape(array, numbers.shape)
        return
    if array is None:
        line = _native.Array.full(_native.Distribution((numbers.size,), team=x.team), x.dtype.name, value)
    else:
        given, wanted = _as_shape(array, numbers.shape).cast(x.dtype.name), numbers.shape or (1,)
        if given.shape == wanted and len(wanted) == 1:
            scatter(x, _contiguous(numbers), given)
            return
        front = len(wanted) - len(given.shape)
        kept = enumerate(zip(given.shape, wanted[front:], strict=True))
        stretched: Strides = [(None, 0, 0, count) for count in wanted[:front]]
        stretched += [(d, 0, int(held == count), count) for d, (held, count) in kept]
        line = given.rearranged(stretched).reshaped((numbers.size,))
    scatter(x, _contiguous(numbers), line)
