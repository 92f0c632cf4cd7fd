"""Functions of the user's applied along axes, and names that are not here."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from .._api.create import asarray
from .._core.array import Array
from .._core.base import NAMESPACE, array_of
from .._core.memory import check_gather
from .._core.rearrange import expand_dims, moveaxis, reshape, stack
from .._core.views.index import one_axis
from ..errors import Missing


def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **words: Any) -> Array:
    """A function of lines, for each line along an axis: one call and some recorded operations each."""
    arr = array_of("apply_along_axis", arr)
    d = one_axis("apply_along_axis", axis, arr.ndim)
    outer = arr.shape[:d] + arr.shape[d + 1 :]
    if 0 in outer:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    rows = moveaxis(arr, d, -1).reshape(-1, arr.shape[d])
    results = [array_of("apply_along_axis", func1d(rows[i], *args, **words), arr) for i in range(rows.shape[0])]
    inner = results[0].shape
    made = reshape(stack(results), outer + inner)
    return moveaxis(made, tuple(range(len(outer), len(outer) + len(inner))), tuple(range(d, d + len(inner)))) if inner else made


def apply_over_axes(func: Callable[..., Any], a: Any, axes: int | Sequence[int]) -> Array:
    """A reduction by one axis after the other, which keep extent 1."""
    a = array_of("apply_over_axes", a)
    for axis in (axes,) if isinstance(axes, int) else axes:
        d = one_axis("apply_over_axes", axis, a.ndim)
        result = array_of("apply_over_axes", func(a, d), a)
        a = result if result.ndim == a.ndim else expand_dims(result, d)
    return a


class vectorize:
    """A Python function of single numbers as a function of arrays: every array is gathered on the host, where it is called once per
    element, with a `partita.GatherWarning`. Operations on whole arrays are thousands of times as fast. See ``numpy.vectorize``.

    Parameters
    ----------
    pyfunc : callable
        Can be left out, to be used as a decorator with settings.
    otypes, doc, excluded, cache, signature : optional
        As in NumPy.

    Returns
    -------
    callable
        Its results are on the team of the first array. Collective.

    Examples
    --------
    >>> import math, partita as pt
    >>> pt.vectorize(math.gcd)([4, 6, 9], 6).tolist()
    [2, 6, 3]
    """

    def __init__(self, pyfunc: Callable[..., Any] | None = None, *settings: Any, **words: Any) -> None:
        import numpy as np

        self._settings = settings, words
        self._host = None if pyfunc is None else np.vectorize(pyfunc, *settings, **words)
        self.pyfunc, self.__doc__, self.__name__ = pyfunc, getattr(self._host, "__doc__", None), getattr(pyfunc, "__name__", "vectorize")

    def __repr__(self) -> str:
        return f"<partita.vectorize of {self.__name__}>"

    def __call__(self, *args: Any, **words: Any) -> Any:
        if self._host is None:
            settings, named = self._settings
            return vectorize(args[0], *settings, **named)
        arrays = [x for x in (*args, *words.values()) if isinstance(x, Array)]
        if arrays:
            check_gather("vectorize", sum(x.nbytes for x in arrays), "Python functions of single elements run on the host", "pass u.numpy()")
        host = [x.numpy() if isinstance(x, Array) else x for x in args]
        results = self._host(*host, **{name: x.numpy() if isinstance(x, Array) else x for name, x in words.items()})
        team = arrays[0].team if arrays else None
        return tuple(asarray(x, team=team) for x in results) if isinstance(results, tuple) else asarray(results, team=team)


#: NumPy's own, which take numbers, names and shapes rather than arrays.
_NUMPYS = """
base_repr binary_repr dtypes exceptions format_float_positional format_float_scientific get_include info iterable little_endian mintypecode
ndindex show_config show_runtime testing typecodes typename
""".split()
#: Replacements of names.
_REMEDIES = {name: remedy for names, remedy in {
    "matrix asmatrix mat": "use arrays and @", "bmat": "use block", "poly1d polynomial": "use polyval",
    "frompyfunc": "there are numbers only; use vectorize(f, otypes=[float])",
    "datetime64 timedelta64 object_ object str_ str unicode_ bytes_ string_ void character flexible record recarray rec char strings fromregex isnat "
    "busday_count busday_offset busdaycalendar is_busday datetime_as_string datetime_data":
        "arrays hold numbers and bools only; use NumPy's arrays",
    "longdouble longfloat float128": "no device computes with such numbers; use float64",
    "clongdouble clongfloat longcomplex complex256": "no device computes with such numbers; use complex128",
    "ma": "use where(mask, u, nan) and the functions whose names begin with nan, or numpy.ma of u.numpy()",
    "emath": "convert to complex128 first: sqrt(u.astype(complex))", "memmap": "use partita.load, which reads parts of files",
    "flatiter nested_iters": "use u.flat or ndindex",
    "geterrcall seterrcall": "use errstate(divide='raise')", "getbufsize setbufsize": "there are no such buffers",
    "kaiser": "it is not there; use asarray(numpy.kaiser(M, beta)), which works on the host", "test": "use pytest in Partita's repository",
    # Names of NumPy 1 for which NumPy has no remedy, or one by names that are not here.
    "in1d": "use isin", "product": "use prod", "cumproduct": "use cumprod", "asscalar": "use u.item()", "alen": "use len(u)",
    "float int complex": "use Python's own, or a type with its size", "source who lookfor": "use Python's help or debugger",
}.items() for name in names.split()}  # fmt: skip


#: Names that are in the module `collective` now.
_MOVED = frozenset("all_sum_reduce allgather broadcast gather halo_exchange repartition scatter sum_reduce".split())


def missing(name: str) -> Any:
    """The attribute of `partita` that was not found: NumPy's if it is about no arrays, otherwise an error that says what to do."""
    if name in _NUMPYS:
        import numpy as np

        return getattr(np, name)
    if name in _MOVED:
        import warnings

        warnings.warn(f"partita.{name} is partita.collective.{name} now", DeprecationWarning, stacklevel=2)
        return getattr(NAMESPACE.collective, name)
    remedy = _REMEDIES.get(name, "")
    if not remedy and not name.startswith("_"):
        import numpy as np

        if name in np.__all__:
            # Functions work on copies; types and modules take no arrays.
            is_function = callable(getattr(np, name)) and not isinstance(getattr(np, name), type)
            remedy = f"it is not there; use numpy.{name}{'(u.numpy())' if is_function else ''}, which works on the host"
        elif old := getattr(np, "__expired_attributes__", {}).get(name, ""):
            now = re.sub(r"np\.([\w.]*\w)", lambda found: found[1] if hasattr(NAMESPACE, found[1]) else f"numpy.{found[1]}", old)
            remedy = now[0].lower() + now[1:].rstrip(".")
    raise Missing("module 'partita'", name, NAMESPACE, remedy)
