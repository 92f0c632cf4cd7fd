"""`Methods`: methods of arrays that are NumPy's functions, and NumPy's functions called with our arrays: ours of the same name, and
NumPy's own on gathered copies where there is none."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

from .._core.array import Array, methods
from .._core.base import NAMESPACE, BaseArray
from .._core.dtypes import DType
from .._core.memory import check_gather
from .._core.views.indexing import assign_all, write
from ..errors import NotAnArrayError
from . import elementwise, products, statistics
from .selecting import searching, selection, sorting
from .ufuncs.ufunc import ufunc

#: Why arrays are gathered.
_ABSENT = "partita has no such function"


class Methods(BaseArray):
    """The bodies of what `methods.pyi` declares."""

    __slots__ = ()
    std, var, ptp, cumsum, cumprod = statistics.std, statistics.var, statistics.ptp, statistics.cumsum, statistics.cumprod
    clip, round, dot, trace = elementwise.clip, elementwise.round, products.dot, products.trace
    nonzero, take, put, choose = selection.nonzero, selection.take, selection.put, selection.choose
    argpartition, argsort, searchsorted = sorting.argpartition, sorting.argsort, searching.searchsorted

    def compress(self, condition: Any, axis: int | None = None, out: Any = None) -> Array:
        """As ``partita.compress``, which has the condition first."""
        return selection.compress(condition, self, axis, out)

    def sort(self, axis: int = -1, kind: str | None = None, order: None = None, *, stable: bool | None = None) -> None:
        """Puts the elements of each line in order, in place; see ``partita.sort``. Computes. Collective."""
        assign_all(self, sorting.sort(self, operator.index(axis), kind, order, stable=stable))

    def partition(self, kth: Any, axis: int = -1, kind: str = "introselect", order: None = None) -> None:
        """As ``partita.partition``, in place. Computes. Collective."""
        assign_all(self, sorting.partition(self, kth, operator.index(axis), kind, order))

    def __array_function__(self, function: Callable[..., Any], types: Iterable[type], args: Any, settings: dict[str, Any]) -> Any:
        """NumPy's protocol for its functions of arrays."""
        import numpy as np

        if not all(issubclass(kind, (Array, np.ndarray)) for kind in types):
            return NotImplemented
        home: Any = NAMESPACE
        for name in function.__module__.split(".")[1:]:
            home = getattr(home, name, None)
        ours = getattr(home, function.__name__, None)
        try:
            if ours is not None:
                result = ours(*args, **_given(settings))
                return result.dtype if type(result) is DType else result
        except NotAnArrayError:
            # Texts, None, objects: NumPy makes arrays of them.
            pass
        reason = _ABSENT if ours is None else "an argument is no array of numbers"
        return _gathered(f"{function.__module__}.{function.__name__}", function, args, settings, reason)

    def __array_ufunc__(self, function: Any, method: str, *inputs: Any, **settings: Any) -> Any:
        """NumPy's protocol for its functions of elements, and for its operators with an array of NumPy's on the left."""
        import numpy as np

        known = (Array, np.ndarray, np.generic)
        if any(hasattr(type(x), "__array_ufunc__") and not isinstance(x, known) for x in inputs):
            return NotImplemented
        name = function.__name__
        is_known = getattr(np, name, None) is function or name == "erf"
        ours = getattr(NAMESPACE, name, None) if is_known else None
        settings = _given(settings)
        if isinstance(ours, ufunc):
            return getattr(ours, method)(*inputs, **settings)
        if ours is not None and method == "__call__":
            out = settings.pop("out", (None,))[0]
            result = ours(*inputs, **settings)
            return result if out is None else write(name, out, result)
        call = function if method == "__call__" else getattr(function, method)
        return _gathered(f"{_home_of(function)}{name}", call, inputs, settings)


for _name, _method in vars(Methods).items():
    if isinstance(_method, FunctionType):
        setattr(methods.Methods, _name, _method)


def _given(settings: dict[str, Any]) -> dict[str, Any]:
    import numpy as np

    return {name: value for name, value in settings.items() if value is not np._NoValue}


def _home_of(function: Any) -> str:
    """The module that has a function of elements, with a dot; NumPy's class of such functions does not say."""
    homes = ("numpy", "scipy.special")
    return next((f"{home}." for home in homes if getattr(sys.modules.get(home), function.__name__, None) is function), "")


def _gathered(name: str, function: Callable[..., Any], args: Any, settings: dict[str, Any], reason: str = _ABSENT) -> Any:
    """NumPy's own function of copies on the host, which it cannot write to. Collective."""
    out = settings.pop("out", None)
    arrays: list[Array] = []
    _each(lambda x: arrays.append(x), (args, settings))
    total = sum(x.nbytes for x in arrays)
    check_gather(name, total, reason, "pass u.numpy()", level=4)
    held = {id(x): x.numpy() for x in arrays}
    for host in held.values():
        host.setflags(write=False)
    args, settings = _each(lambda x: held[id(x)], (args, settings))
    result = function(*args, **settings)
    if out is None:
        return result
    return write(name, out[0] if isinstance(out, tuple) else out, NAMESPACE.asarray(result))


def _each(change: Callable[[Array], Any], value: Any) -> Any:
    """The same with every array in lists, tuples and dicts changed."""
    if isinstance(value, Array):
        return change(value)
    if isinstance(value, dict):
        return {key: _each(change, each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)([_each(change, each) for each in value]) if type(value) in (list, tuple) else value
    return value
