"""`ufunc`: functions of elements as objects, with NumPy's keywords and methods."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ... import _native
from ..._core.array import Array
from ..._core.base import array_of, arrays_of
from ..._core.dtypes import as_dtype, bool_, can_cast, wide_for
from ..._core.memory import of_host
from ..._core.rearrange import broadcast_to, concatenate, reshape, unstack
from ..._core.reductions import all, any, max, min, prod, sum
from ..._core.rules import where as select
from ..._core.views.index import Axis, axes_of, one_axis, positions_of
from ..._core.views.indexing import assign_all, check_writeable, write
from ..._core.views.links import scatter
from ..._core.views.masked import masked_of
from ..._core.views.on_host import FEW, Lent, beyond, elements_of, host_key, pieces, seen_by_numpy
from ..._core.watch import in_step, is_watched, watch, watched
from ..._native import Distribution

#: Functions whose reductions the engine has.
_REDUCTIONS: dict[str, Callable[..., Any]] = {
    "add": sum, "multiply": prod, "minimum": min, "maximum": max, "logical_and": all, "logical_or": any,
}  # fmt: skip
#: Whose results may be grouped in any way: halves are reduced with halves. Others go through the elements one by one.
_ASSOCIATIVE = (
    *_REDUCTIONS, "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor", "fmin", "fmax", "gcd", "lcm", "hypot", "logaddexp",
    "logaddexp2",
)  # fmt: skip

#: Those that the engine scans: kinds of types, and the engine's name. Its scans need a dimension of their own.
_SCANS = {"add": ("iufc", "sum"), "multiply": ("iuf", "prod"), "minimum": ("biuf", "min"), "maximum": ("biuf", "max")}
_MOST_DIMENSIONS = 8


class ufunc(_native.UfuncBase):
    """A function of elements: ``f(x, y, out=None, *, where=True, dtype=None, casting='same_kind')``. Records.

    Parameters
    ----------
    x, y : Array, number or list
        Shapes broadcast.
    out : Array or tuple of Array, optional
        Takes the result, which is converted by the rule ``casting``.
    where : Array, optional
        A mask. Elements elsewhere keep the value of ``out``; without ``out`` they are 0, where NumPy's have any value.
    dtype : optional
        The type to compute in.
    order, subok : optional
        Accepted and without effect.

    Examples
    --------
    >>> import partita as pt
    >>> pt.add.outer([1, 2], [10, 20]).tolist(), pt.multiply.reduce([2, 3, 4]).item(), pt.maximum.accumulate([3, 1, 5]).tolist()
    ([[11, 21], [12, 22]], 24, [3, 3, 5])
    """

    def __init__(
        self, name: str, function: Callable[..., Any], nin: int, nout: int = 1, identity: Any = None, kinds: str = "", example: str = "",
        sign: str = "",
    ) -> None:  # fmt: skip
        self.__name__ = self.__qualname__ = name
        self.__doc__, self.__module__ = f"{function.__doc__}\n\nA `partita.ufunc`, with NumPy's keywords and methods.", "partita"
        if example:
            call, _, result = example.partition(" => ")
            shown = f"pt.{call}.tolist()" if nout == 1 else f"[x.tolist() for x in pt.{call}]"
            self.__doc__ += f"\n\nExamples\n--------\n>>> import partita as pt\n>>> {shown}\n{result}"
        self._kinds, self._sign = kinds, sign
        self._function, self.nin, self.nout, self.identity = function, nin, nout, identity
        self.nargs, self.signature = nin + nout, None

    if TYPE_CHECKING:

        def __call__(self, *args: Any, **settings: Any) -> Array: ...

    @property
    def __signature__(self) -> Any:
        """The signature for ``inspect.signature``, as of NumPy's."""
        import inspect

        names = ["x"] if self.nin == 1 else [f"x{n + 1}" for n in range(self.nin)]
        parameter = inspect.Parameter
        settings = {"where": True, "casting": "same_kind", "order": "K", "dtype": None, "subok": True}
        return inspect.Signature([
            *(parameter(name, parameter.POSITIONAL_ONLY) for name in names),
            parameter("out", parameter.POSITIONAL_OR_KEYWORD, default=None),
            *(parameter(name, parameter.KEYWORD_ONLY, default=default) for name, default in settings.items()),
        ])  # fmt: skip

    def __repr__(self) -> str:
        return f"<ufunc '{self.__name__}'>"

    def __reduce__(self) -> str:
        return self.__name__

    @property
    def types(self) -> list[str]:
        """NumPy's loops over types that are here, such as ``'dd->d'``; others are converted to these."""
        import numpy as np

        # Where NumPy has no such function: as its functions of floats.
        theirs = getattr(np, self.__name__, np.cbrt)
        return [loop for loop in theirs.types if not set(loop) & set("gGOSUVMm")]

    @property
    def ntypes(self) -> int:
        """The number of loops in `types`."""
        return len(self.types)

    def _called(
        self, *args: Any, out: Any = None, where: Any = True, dtype: Any = None, casting: str = "same_kind", order: str = "K",
        subok: bool = True,
    ) -> Any:  # fmt: skip
        name, count = self.__name__, self.nin
        chosen = masked_of(args) if in_step() else None
        if chosen is not None and self.nout == 1 and out is None and where is True and dtype is None:
            return chosen.of_all(self, *args)
        if not count <= len(args) <= self.nargs or (len(args) > count and out is not None):
            raise TypeError(f"{name}: expected {count} operands and out once, given {len(args)} arguments; name out=")
        outs = args[count:] if len(args) > count else out if isinstance(out, tuple) else (out,)
        outs = (*outs, *(None,) * (self.nout - len(outs)))
        operands = self._converted(args[:count], dtype, casting)
        if watch.count and is_watched():
            results = watched(name, operands, self._function, *operands, where=where)
        else:
            results = self._function(*operands)
        finished = []
        for result, target in zip(results if self.nout > 1 else (results,), outs, strict=True):
            if dtype is not None and self.nout == 1 and result.dtype is not as_dtype(dtype):
                raise TypeError(f"{name}: expected a dtype that it gives, as {result.dtype.name}, given {as_dtype(dtype).name}; use astype")
            if target is not None:
                result = write(name, target, result, where, casting)
            elif where is not True:
                result = select(where, result, False)
            finished.append(result)
        return tuple(finished) if self.nout > 1 else finished[0]

    def _converted(self, args: tuple[Any, ...], dtype: Any, casting: str) -> tuple[Any, ...]:
        """The operands in the type to compute in; results of bool say nothing of their operands."""
        kind = None if dtype is None else as_dtype(dtype)
        if kind is None or kind is bool_:
            return args
        given = arrays_of(self.__name__, args)
        for x in given:
            if not can_cast(x.dtype, kind, casting):
                text = f"expected operands that can be cast to {kind.name} with {casting!r}, given {x.dtype.name}"
                raise TypeError(f"{self.__name__}: {text}; use astype")
        return tuple(x.astype(kind) for x in given)

    def _pairwise(self, method: str) -> str:
        if self.nin != 2 or self.nout != 1:
            raise ValueError(f"{self.__name__}.{method}: expected a function of two operands with one result; {method} takes no other")
        return f"{self.__name__}.{method}"

    # Methods.

    def reduce(
        self, array: Any, axis: Axis = 0, dtype: Any = None, out: Any = None, keepdims: bool = False, initial: Any = None,
        where: Any = True,
    ) -> Array:  # fmt: skip
        """The function of all elements along ``axis``; see ``numpy.ufunc.reduce``."""
        name = self._pairwise("reduce")
        x = array_of(name, array)
        out = out[0] if isinstance(out, tuple) else out
        axis = None if x.ndim == 0 else axis
        if self.__name__ in _REDUCTIONS:
            words = {"axis": axis, "keepdims": keepdims, "out": out, "where": where}
            words |= {} if dtype is None else {"dtype": dtype}
            return _REDUCTIONS[self.__name__](x, **words, **({} if initial is None else {"initial": initial}))
        if where is not True:
            unit = self.identity if initial is None else initial
            if unit is None:
                raise ValueError(f"{name}: expected initial= beside where=, given none; it has no identity")
            x = select(where, x, unit)
        x = x if dtype is None else x.astype(dtype)
        for d in reversed(axes_of(name, axis, x.ndim)):
            x = self._folded(x, d)
            x = x if keepdims else x[(slice(None),) * d + (0,)]
        x = x if initial is None else self(x, initial)
        return x if out is None else write(name, out, x)

    def _folded(self, x: Array, d: int) -> Array:
        """One element along an axis."""
        front = (slice(None),) * d
        if x.shape[d] == 0:
            if self.identity is None:
                raise ValueError(f"{self.__name__}.reduce: expected at least one element, given shape {x.shape}; it has no identity")
            shape = (*x.shape[:d], 1, *x.shape[d + 1 :])
            return Array(_native.Array.full(Distribution(shape, team=x.team), x.dtype.name, self.identity))
        if self.__name__ not in _ASSOCIATIVE:
            return functools.reduce(self, (x[(*front, slice(i, i + 1))] for i in range(x.shape[d])))
        while (n := x.shape[d]) > 1:
            halves = self(x[(*front, slice(None, n // 2))], x[(*front, slice(n // 2, n // 2 * 2))])
            x = concatenate([halves, x[(*front, slice(n - 1, None))]], d) if n % 2 else halves
        return x

    def accumulate(self, array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Array:
        """The function of all elements up to each; see ``numpy.ufunc.accumulate``."""
        name = self._pairwise("accumulate")
        x = array_of(name, array)
        d = one_axis(name, axis, x.ndim)
        if dtype is None and self.__name__ in ("add", "multiply"):
            dtype = wide_for(x.dtype)
        x = scanned(self.__name__, self, x if dtype is None else x.astype(dtype), d)
        return x if out is None else write(name, out[0] if isinstance(out, tuple) else out, x)

    def reduceat(self, array: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Array:
        """Reductions of ranges that begin at ``indices``; see ``numpy.ufunc.reduceat``."""
        name = self._pairwise("reduceat")
        x, at = array_of(name, array), [int(i) for i in array_of(name, indices).numpy()]
        d = one_axis(name, axis, x.ndim)
        front, ends = (slice(None),) * d, [*at[1:], x.shape[d]]
        pieces = [x[(*front, slice(i, j if j > i else i + 1))] for i, j in zip(at, ends, strict=True)]
        result = concatenate([self.reduce(piece, d, dtype, keepdims=True) for piece in pieces], d)
        return result if out is None else write(name, out[0] if isinstance(out, tuple) else out, result)

    def outer(self, a: Any, b: Any, /, **settings: Any) -> Any:
        """The function of all pairs of elements; see ``numpy.ufunc.outer``."""
        left, right = arrays_of(self._pairwise("outer"), (a, b))
        return self(reshape(left, left.shape + (1,) * right.ndim), reshape(right, (1,) * left.ndim + right.shape), **settings)

    def at(self, a: Array, indices: Any, b: Any = None, /) -> None:
        """Changes the elements at ``indices`` in place, each as often as it is listed, in the order of the list; see
        ``numpy.ufunc.at``. The indices are the host's. Computes. Collective."""
        import numpy as np

        if not isinstance(a, Array):
            raise TypeError(f"{self.__name__}.at: expected a partita.Array, given {type(a).__name__}")
        check_writeable(f"{self.__name__}.at", a)
        if b is not None and isinstance(function := getattr(np, self.__name__, None), np.ufunc) and _at_on_host(function, a, indices, b):
            return
        places = positions_of(indices, a.shape)
        numbers = np.ascontiguousarray(places, dtype=np.int64).reshape(-1)
        others = () if self.nin == 1 else (reshape(broadcast_to(array_of(f"{self.__name__}.at", b, a), places.shape), -1),)
        # The first time that each element is listed, then the second, and so on.
        order = np.argsort(numbers, kind="stable")
        ranked = numbers[order]
        starts = np.flatnonzero(np.r_[True, ranked[1:] != ranked[:-1]]) if ranked.size else ranked
        turn = np.empty_like(order)
        turn[order] = np.arange(ranked.size) - np.repeat(starts, np.diff(np.r_[starts, ranked.size]))
        for k in range(int(turn.max()) + 1 if turn.size else 0):
            now = np.flatnonzero(turn == k)
            held = Array(a._native.gathered((now.size,), numbers[now]))
            scatter(a, numbers[now], self(held, *(x[now] for x in others)).astype(a.dtype)._native)


def _at_on_host(function: Any, a: Array, indices: Any, b: Any) -> bool:
    """NumPy's `at` where it sees the memory; false where it cannot do it."""
    import numpy as np

    kind = a.dtype
    if kind.kind not in "biuf" or not a._is_on_host() or a._link is not None:
        return False
    is_lone = a._native.lone_part() is not None
    if not is_lone and set(a.dist.kinds) - {"block"}:
        return False
    values = elements_of(b) if isinstance(b, Array) else np.asarray(b)
    # A number takes part by NumPy's rules for numbers.
    values = values if values.ndim else values[()]
    if values.dtype != kind.dtype:
        if values.dtype.kind not in "biuf" or not np.can_cast(np.result_type(kind.dtype, values), kind.dtype, "same_kind"):
            return False
    with np.errstate(all="ignore"):
        if is_lone:
            key = host_key(indices)
            with Lent(a) as parts:
                try:
                    function.at(seen_by_numpy(parts[0]), key, values)
                except IndexError as error:
                    raise beyond(a, error) from None
            return True
        numbers = positions_of(indices, a.shape)
        each = np.broadcast_to(values, numbers.shape)
        if a.size <= FEW:
            elements = a.numpy()
            function.at(elements.reshape(-1), numbers, each if isinstance(values, np.ndarray) else values)
            assign_all(a, Array(of_host(elements, dist=a.dist)))
            return True
        numbers, each = numbers.reshape(-1), each.reshape(-1)
        places = np.unravel_index(numbers, a.shape)
        with Lent(a) as parts:
            for memory, chosen, at in pieces(places, parts):
                function.at(memory, at, each[chosen])
    return True


def scanned(name: str, combine: Callable[[Any, Any], Any], x: Array, d: int) -> Array:
    """The function called ``name``, which is ``combine``, of all elements up to each along an axis. Records where the
    engine has the scan; computes otherwise."""
    if watch.count and is_watched() and name in ("add", "multiply"):
        return watched("accumulate", (x,), scanned, name, combine, x, d, lines={"axis": d, "keepdims": True})
    front = (slice(None),) * d
    kinds, fold = _SCANS.get(name, ("", ""))
    if x.dtype.kind in kinds and x.ndim + (x.dtype.kind == "c") < _MOST_DIMENSIONS:
        return Array(x._native.scan(fold, d))
    if name not in _ASSOCIATIVE:
        results: list[Array] = []
        for piece in unstack(x, d):
            results.append(combine(results[-1], piece) if results else piece)
        return concatenate([r[(*front, None)] for r in results], d) if results else x.copy()
    result = x.copy()
    # After k rounds, each element holds what 2^k elements come to.
    reach = 1
    while reach < x.shape[d]:
        after, before = (*front, slice(reach, None)), (*front, slice(None, -reach))
        result[after] = combine(result[before], result[after])
        reach *= 2
    return result
