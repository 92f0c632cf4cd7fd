"""Element types: what they hold, what operations on them give, their kinds and other names; constants."""

from __future__ import annotations

import builtins
import math
from typing import Any

from .._core import dtypes
from .._core.base import BaseArray
from .._core.dtypes import (
    DType, as_dtype, bfloat16, bool_, complex64, complex128, float16, float32, float64, int8, int16, int32, int64, uint8, uint16,
    uint32, uint64,
)  # fmt: skip

e, inf, nan, pi, newaxis = math.e, math.inf, math.nan, math.pi, None
euler_gamma = 0.5772156649015329
True_, False_ = True, False

# NumPy's other names of the same types, as on Linux.
dtype, bool = DType, bool_
byte, short, intc, int_, intp, long, longlong = int8, int16, int32, int64, int64, int64, int64
ubyte, ushort, uintc, uint, uintp, ulong, ulonglong = uint8, uint16, uint32, uint64, uint64, uint64, uint64
half, single, double, csingle, cdouble = float16, float32, float64, complex64, complex128


class generic:
    """A kind of types, as ``partita.floating``; for `issubdtype`."""

    #: NumPy's letters of the types.
    kinds = "biufc"


def _kind(name: str, base: type[Any], kinds: str) -> type[Any]:
    return type(name, (base,), {"kinds": kinds, "__doc__": generic.__doc__, "__module__": __name__})


number = _kind("number", generic, "iufc")
integer, inexact = _kind("integer", number, "iu"), _kind("inexact", number, "fc")
signedinteger, unsignedinteger = _kind("signedinteger", integer, "i"), _kind("unsignedinteger", integer, "u")
floating, complexfloating = _kind("floating", inexact, "f"), _kind("complexfloating", inexact, "c")


def _kind_of(x: Any) -> DType:
    return x.dtype if isinstance(x, BaseArray) else as_dtype(getattr(x, "dtype", x) if not isinstance(x, (DType, type)) else x)


def issubdtype(arg1: Any, arg2: Any) -> builtins.bool:
    """True if a type is another, or of a kind such as ``partita.floating`` (or NumPy's).

    Examples
    --------
    >>> import partita as pt
    >>> pt.issubdtype(pt.float32, pt.floating), pt.issubdtype("int8", pt.float64)
    (True, False)
    """
    if isinstance(arg1, type) and issubclass(arg1, generic):
        return isinstance(arg2, type) and issubclass(arg1, arg2)
    kind = as_dtype(arg1)
    if isinstance(arg2, type) and issubclass(arg2, generic):
        return kind.kind in arg2.kinds
    if isinstance(arg2, DType):
        return kind is arg2
    import numpy as np

    return np.issubdtype(kind.dtype, arg2)


_KINDS: dict[str, tuple[DType, ...]] = {
    "bool": (bool_,),
    "signed integer": (int8, int16, int32, int64),
    "unsigned integer": (uint8, uint16, uint32, uint64),
    "real floating": (float32, float64),
    "complex floating": (complex64, complex128),
}
_KINDS["integral"] = _KINDS["signed integer"] + _KINDS["unsigned integer"]
_KINDS["numeric"] = _KINDS["integral"] + _KINDS["real floating"] + _KINDS["complex floating"]


def isdtype(dtype: Any, kind: Any) -> builtins.bool:
    """True if a type is of a kind of the array API standard, or one of several."""
    if isinstance(kind, tuple):
        return builtins.any(isdtype(dtype, one) for one in kind)
    if isinstance(kind, str) and kind in _KINDS:
        return as_dtype(dtype) in _KINDS[kind]
    if isinstance(kind, str):
        raise ValueError(f"isdtype: expected one of {', '.join(_KINDS)}, given {kind!r}")
    return as_dtype(dtype) is as_dtype(kind)


def iscomplexobj(x: Any) -> builtins.bool:
    """True if the type is one of complex numbers."""
    kind = getattr(x, "dtype", None)
    if kind is None:
        import numpy as np

        return np.iscomplexobj(x)
    return builtins.bool(kind.kind == "c")


def isrealobj(x: Any) -> builtins.bool:
    """True if the type is not one of complex numbers."""
    return not iscomplexobj(x)


def isscalar(element: Any) -> builtins.bool:
    """True if it is a number of Python or NumPy, or a scalar; arrays without dimensions are not."""
    import numpy as np

    return np.isscalar(element)


# Promotion.


def _is_number(x: Any) -> builtins.bool:
    return type(x) in (builtins.bool, int, float, complex)


def result_type(*arrays_and_dtypes: Any) -> DType:
    """The type that an operation on these gives. Python's numbers take the type of the others.

    Examples
    --------
    >>> import partita as pt
    >>> pt.result_type(pt.int8, pt.uint8), pt.result_type(pt.zeros(2, "float32"), 1.0)
    (partita.int16, partita.float32)
    """
    strong = [_kind_of(x) for x in arrays_and_dtypes if not _is_number(x)]
    numbers = [x for x in arrays_and_dtypes if _is_number(x)]
    if not arrays_and_dtypes:
        raise ValueError("result_type: expected an array or a type at least, given none")
    if not strong:
        return dtypes.result_type(*(dtypes.default.of_python(type(x)) for x in numbers))
    common = dtypes.result_type(*strong)
    for x in numbers:
        if isinstance(x, complex):
            common = dtypes.complex_for(common if common.kind in "fc" else dtypes.default.float)
        elif isinstance(x, float):
            common = common if common.kind in "fc" else dtypes.default.float
        elif not isinstance(x, builtins.bool) and common is bool_:
            common = int64
    return common


def promote_types(a: Any, b: Any, /) -> DType:
    """The smallest type that both can be converted to safely."""
    return dtypes.result_type(as_dtype(a), as_dtype(b))


def can_cast(from_: Any, to: Any, casting: str = "safe") -> builtins.bool:
    """True if a conversion is allowed by a rule: 'no', 'equiv', 'safe', 'same_kind' or 'unsafe'."""
    if _is_number(from_):
        raise TypeError("can_cast() does not support Python ints, floats, and complex because the result used to depend on the value.")
    return dtypes.can_cast(_kind_of(from_), as_dtype(to), casting)


def common_type(*arrays: Any) -> DType:
    """The type of floats or complex numbers that holds the values of all arrays."""
    common = float16
    for x in arrays:
        kind = _kind_of(x)
        if kind is bool_:
            raise TypeError("common_type: expected arrays of numbers, given bool; convert with astype")
        common = dtypes.result_type(common, float64 if kind.kind in "iu" else kind)
    return common


def min_scalar_type(x: Any, /) -> DType:
    """The smallest type that holds a number; of an array with dimensions its own."""
    if isinstance(x, BaseArray):
        return x.dtype if x.ndim else min_scalar_type(x.item())
    import numpy as np

    return as_dtype(np.min_scalar_type(x))


# Limits.


class _Limit(float):
    """A number that prints as NumPy's number of its type does: ``1.1920929e-07``."""

    _shown: str

    def __new__(cls, kind: DType, value: float) -> _Limit:
        made = super().__new__(cls, value)
        made._shown = str(kind(value))
        return made

    def __repr__(self) -> str:
        return self._shown


class finfo:
    """The limits of a type of floats; of complex numbers, their parts.

    Attributes
    ----------
    bits, dtype
        Width and type.
    max, min, smallest_normal, tiny, smallest_subnormal : float
        The largest number, its negative, and the smallest numbers above 0 (``tiny`` is normal).
    eps, epsneg : float
        From 1 to the next number above and below.
    resolution, precision : float
        10 to the power of -precision, the number of decimal digits.
    nmant, nexp, machep, negep, iexp, minexp, maxexp : int
        As in ``numpy.finfo``.
    """

    def __init__(self, type: Any, /) -> None:
        kind = _kind_of(type)
        if kind.kind not in "fc":
            raise TypeError(f"finfo: expected a type of floats, given {kind.name}; use iinfo")
        self.dtype = kind = dtypes.real_of(kind)
        digits, self.maxexp = {float16: (11, 16), bfloat16: (8, 128), float32: (24, 128), float64: (53, 1024)}[kind]
        self.bits, self.nmant, self.machep, self.negep = 8 * kind.itemsize, digits - 1, 1 - digits, -digits
        self.minexp = 2 - self.maxexp
        self.nexp = self.iexp = self.bits - digits
        self.eps, self.epsneg = math.ldexp(1.0, self.machep), math.ldexp(1.0, self.negep)
        self.max = math.ldexp(2.0 - self.eps, self.maxexp - 1)
        self.min = -self.max
        self.tiny = self.smallest_normal = math.ldexp(1.0, self.minexp)
        self.smallest_subnormal = math.ldexp(1.0, self.minexp - self.nmant)
        self.precision = int(self.nmant * math.log10(2))
        self.resolution = 10.0**-self.precision
        if kind is not bfloat16:
            for name, value in vars(self).items():
                setattr(self, name, _Limit(kind, value) if isinstance(value, float) else value)

    def __repr__(self) -> str:
        return f"finfo(resolution={self.resolution}, min={self.min}, max={self.max}, dtype={self.dtype.name})"


class iinfo:
    """The limits of a type of integers.

    Attributes
    ----------
    bits, dtype
        Width and type.
    max, min : int
        The largest and the smallest number.
    """

    def __init__(self, type: Any, /) -> None:
        self.dtype = kind = _kind_of(type)
        if kind.kind not in "iu":
            raise TypeError(f"iinfo: expected a type of integers, given {kind.name}; use finfo")
        self.kind, self.bits = kind.kind, 8 * kind.itemsize
        self.min = 0 if kind.kind == "u" else -(2 ** (self.bits - 1))
        self.max = 2**self.bits - 1 + self.min

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype.name})"
