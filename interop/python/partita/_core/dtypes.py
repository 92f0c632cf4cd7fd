"""Element types, and NumPy's rules for which type an operation gives."""

from __future__ import annotations

import sys
from typing import Any


class DType:
    """An element type. Equal to NumPy's dtype of the same name, to its name, and usable as NumPy's ``dtype=``. What else NumPy's
    dtypes have (``type``, ``char``, ``str``, ...) is theirs.

    ``partita.dtype(x)`` finds one. Called with a number, one makes NumPy's scalar: ``partita.float32(0.1)``.

    Parameters
    ----------
    dtype : object
        A name, ``bool``, ``int``, ``float``, ``complex``, or a dtype or scalar type of NumPy.

    Attributes
    ----------
    name : str
        NumPy's name, such as ``'float32'``.
    kind : str
        ``'b'`` bool, ``'u'`` and ``'i'`` integers, ``'f'`` floats, ``'c'`` complex numbers.
    itemsize : int
        Bytes of one element.
    """

    __slots__ = ("itemsize", "kind", "name")
    name: str
    kind: str
    itemsize: int

    def __new__(cls, dtype: object, /) -> DType:
        return as_dtype(dtype)

    def __call__(self, value: Any = 0, /) -> Any:
        if hasattr(value, "astype") and hasattr(value, "team"):
            return value.astype(self)
        if isinstance(value, (list, tuple)):
            text = f"given {type(value).__name__}; partita.asarray(x, partita.{self.name}) makes an array"
            raise TypeError(f"{self.name}: expected a number, {text}")
        return self.dtype.type(value)

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        """NumPy's class of dtypes too, for those who ask ``isinstance(u.dtype, numpy.dtype)``; ``type(u.dtype)`` is DType."""
        return sys.modules["numpy"].dtype if "numpy" in sys.modules and self.name != "bfloat16" else DType

    def __instancecheck__(self, value: object) -> bool:
        """True if a value is NumPy's scalar of this type."""
        return "numpy" in sys.modules and isinstance(value, self.dtype.type)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or self is bfloat16:
            raise AttributeError(f"'DType' object has no attribute {name!r}")
        return getattr(self.dtype, name)

    @property
    def dtype(self) -> Any:
        """NumPy's dtype; bfloat16 needs the package ``ml_dtypes``."""
        import numpy as np

        if self is bfloat16:
            try:
                import ml_dtypes
            except ImportError:
                text = "bfloat16 in NumPy: expected the package ml_dtypes, given none; pip install ml_dtypes"
                raise TypeError(text) from None
            return np.dtype(ml_dtypes.bfloat16)
        return np.dtype(self.name)

    #: NumPy 2.4 and later ask for this name.
    __numpy_dtype__ = dtype

    def __eq__(self, other: object) -> bool:
        if isinstance(other, DType):
            return self is other
        try:
            return self is as_dtype(other)
        except TypeError:
            return False

    def __hash__(self) -> int:
        """NumPy's, so that one dict takes both; the first hash of a process imports NumPy."""
        try:
            return hash(self.dtype)
        except TypeError:
            # bfloat16 without ml_dtypes, where NumPy has no equal.
            return hash(self.name)

    def __reduce__(self) -> tuple[Any, ...]:
        return as_dtype, (self.name,)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"partita.{self.name if self.kind != 'b' else 'bool_'}"


def _made(name: str, kind: str, itemsize: int) -> DType:
    made = object.__new__(DType)
    made.name, made.kind, made.itemsize = name, kind, itemsize
    return made


bool_ = _made("bool", "b", 1)
int8, int16, int32, int64 = (_made(f"int{8 * n}", "i", n) for n in (1, 2, 4, 8))
uint8, uint16, uint32, uint64 = (_made(f"uint{8 * n}", "u", n) for n in (1, 2, 4, 8))
float16, float32, float64 = (_made(f"float{8 * n}", "f", n) for n in (2, 4, 8))
bfloat16 = _made("bfloat16", "f", 2)
complex64, complex128 = _made("complex64", "c", 8), _made("complex128", "c", 16)

ALL = (
    bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, bfloat16, float32, float64,
    complex64, complex128,
)  # fmt: skip
_BY_NAME = {dtype.name: dtype for dtype in ALL}
#: By whatever names them: with time NumPy's dtypes, too, which NumPy takes a while to name.
_KNOWN: dict[object, DType] = {bool: bool_, int: int64, float: float64, complex: complex128}
_KNOWN.update(_BY_NAME)


class _Default:
    """The type of floats that no operand decides; see `partita.set_default_dtype`."""

    __slots__ = ("float",)

    def __init__(self) -> None:
        self.float = float64

    @property
    def complex(self) -> DType:
        """The type of complex numbers that no operand decides."""
        return complex64 if self.float is float32 else complex128

    def of_python(self, kind: type) -> DType:
        """The type of arrays made of Python's numbers of a kind."""
        return self.float if kind is float else self.complex if kind is complex else as_dtype(kind)


default = _Default()


def as_dtype(dtype: object) -> DType:
    """The DType for a DType, a name, ``bool``, ``int``, ``float``, ``complex``, or a dtype or scalar type of NumPy."""
    if isinstance(dtype, DType):
        return dtype
    try:
        found = _KNOWN.get(dtype)
        if found is None and "numpy" in sys.modules and dtype is not None:
            import numpy as np

            found = _KNOWN[dtype] = _BY_NAME[np.dtype(dtype).name]  # type: ignore[call-overload]
    except (KeyError, TypeError, ValueError):
        found = None
    if found is None:
        names, name = ", ".join(_BY_NAME), getattr(dtype, "__name__", str(dtype))
        raise TypeError(f"dtype: expected one of {names}, given {name}; convert it first")
    return found


def result_type(*dtypes: DType) -> DType:
    """The type that holds the values of all, as in NumPy, which promotes floats before integers: int8 and uint8 both fit
    into float16, but not their common type, int16."""
    common, *others = sorted(dtypes, key=lambda dtype: dtype.kind not in "fc")
    for dtype in others:
        common = _promoted(common, dtype)
    return common


def _promoted(a: DType, b: DType) -> DType:
    if a is b or b is bool_:
        return a
    if a is bool_:
        return b
    if "c" in (a.kind, b.kind):
        return complex_for(_promoted(real_of(a), real_of(b)))
    if a.kind == b.kind == "f":
        # Neither of the two 16-bit floats holds the other.
        return float32 if a.itemsize == b.itemsize else max(a, b, key=lambda dtype: dtype.itemsize)
    if a.kind == b.kind:
        return max(a, b, key=lambda dtype: dtype.itemsize)
    if "f" in (a.kind, b.kind):
        floating, integer = (a, b) if a.kind == "f" else (b, a)
        needed = _float_bytes(integer)
        return floating if floating.itemsize >= needed else _BY_NAME[f"float{8 * needed}"]
    signed, unsigned = (a, b) if a.kind == "i" else (b, a)
    if signed.itemsize > unsigned.itemsize:
        return signed
    return default.float if unsigned.itemsize == 8 else _BY_NAME[f"int{16 * unsigned.itemsize}"]


def real_of(dtype: DType) -> DType:
    """The type of real and imaginary parts; other types are their own."""
    return (float32 if dtype is complex64 else float64) if dtype.kind == "c" else dtype


def complex_for(dtype: DType) -> DType:
    """The type of complex numbers that holds the values of another."""
    return dtype if dtype.kind == "c" else complex64 if result_type(dtype, float32) is float32 else complex128


def float_for(dtype: DType) -> DType:
    """The type in which NumPy computes functions such as sqrt."""
    return dtype if dtype.kind in "fc" else _BY_NAME[f"float{8 * _float_bytes(dtype)}"]


def _float_bytes(integer: DType) -> int:
    """Of the floats that integers or bool become."""
    return {1: 2, 2: 4}.get(integer.itemsize, default.float.itemsize)


def wide_for(dtype: DType) -> DType:
    """The type in which integers and bool are summed; others are their own."""
    return {"b": int64, "i": int64, "u": uint64}.get(dtype.kind, dtype)


def number_of(value: Any, dtype: DType) -> Any:
    """A scalar of NumPy's as the Python number that an array of the type stores when NumPy assigns the scalar; other values as
    they are."""
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(value, numpy.generic) or value.dtype.kind not in "biufc":
        return value
    if dtype is bfloat16:
        return value.item()
    cell = numpy.empty((), dtype.name)
    cell[()] = value
    return cell.item()


def can_cast(source: DType, target: DType, casting: str = "same_kind") -> bool:
    """NumPy's rules; results may be assigned in place by 'same_kind'."""
    match casting:
        case "no" | "equiv":
            return source is target
        case "safe":
            return result_type(source, target) is target
        case "same_kind":
            return "buifc".index(source.kind) <= "buifc".index(target.kind)
        case "unsafe":
            return True
    expected = "'no', 'equiv', 'safe', 'same_kind' or 'unsafe'"
    raise ValueError(f"casting: expected {expected}, given {casting!r}")
