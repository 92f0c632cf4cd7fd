"""DLPack structs of other producers, made here field by field: what can be is read as NumPy reads it, what cannot be
is refused with its reason, and every struct that was handed over is ended exactly once."""

import ctypes
import gc
import math

import numpy as np
import partita as pt
import pytest

VALID, MALFORMED = 3000, 10_000


class Array(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_uint64), ("kind", ctypes.c_int32), ("number", ctypes.c_int32), ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
        ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64),
    )  # fmt: skip


END = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Legacy(ctypes.Structure):
    _fields_ = (("array", Array), ("owner", ctypes.c_void_p), ("deleter", END))


class Versioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("owner", ctypes.c_void_p), ("deleter", END),
        ("flags", ctypes.c_uint64), ("array", Array),
    )  # fmt: skip


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
NAMES = {Legacy: b"dltensor", Versioned: b"dltensor_versioned"}
CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
DTYPES = [np.dtype(name) for name in ("bool", *(f"{sign}int{8 * n}" for sign in ("", "u") for n in (1, 2, 4, 8)), "float16", "float32", "float64", "complex64", "complex128")]


class Producer:
    """Exports one description as often as it is asked, and counts what becomes of the structs."""

    handed, ended = 0, 0

    def __init__(self, form, memory, fields, shape, strides, major=1):
        self.form, self.fields, self.memory, self.major = form, fields, memory, major
        listed = lambda values: None if values is None else (ctypes.c_int64 * max(len(values), 1))(*values)  # noqa: E731
        self.extents, self.distances, self.shape = listed(shape), listed(strides), tuple(shape or ())

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **request):
        array = Array(shape=ctypes.addressof(self.extents) if self.extents else None, strides=ctypes.addressof(self.distances) if self.distances else None)
        for name, value in self.fields.items():
            setattr(array, name, value)
        struct = self.form(array=array, deleter=END(self.end))
        if self.form is Versioned:
            struct.major, struct.minor = self.major, 3
        Producer.handed += 1
        ALIVE[ctypes.addressof(struct)] = (struct, self)
        return new_capsule(ctypes.addressof(struct), NAMES[self.form], None)

    @staticmethod
    def end(struct):
        # Not there the second time: an exception in a deleter is printed and fails the test.
        Producer.ended += 1
        del ALIVE[struct]


ALIVE = {}


@pytest.fixture(autouse=True)
def structs_end():
    Producer.handed = Producer.ended = 0
    yield
    gc.collect()
    assert Producer.handed == Producer.ended > 0 and not ALIVE


def described(random):
    """A description that can be, and what NumPy sees there."""
    dtype = DTYPES[random.integers(len(DTYPES))]
    shape = [int(random.integers(5)) if random.integers(12) == 0 else int(random.integers(1, 5)) for _ in range(random.integers(6))]
    if random.integers(2):
        strides = [math.prod(shape[d + 1 :]) for d in range(len(shape))]
    else:
        strides = [int(random.integers(-9, 10)) for _ in shape]
    reached = [(extent - 1) * stride for extent, stride in zip(shape, strides, strict=True)] if all(shape) else []
    low, high = sum(n for n in reached if n < 0), sum(n for n in reached if n > 0)
    before, size = int(random.integers(20)), dtype.itemsize
    memory = random.integers(0, 256, before + (high - low + 1) * size, np.uint8)
    if dtype.kind == "b" and random.integers(2):
        memory &= 1
    start = before - low * size
    shown = np.ndarray(shape, dtype, memory, start, [stride * size for stride in strides])
    split = int(random.integers(start + 1))
    packed = strides == [math.prod(shape[d + 1 :]) for d in range(len(shape))]
    fields = {
        "data": memory.ctypes.data + split, "byte_offset": start - split, "kind": int(random.choice([1, 1, 3])), "ndim": len(shape),
        "code": CODES[dtype.kind], "bits": 8 * size, "lanes": 1,
    }  # fmt: skip
    if not all(shape) and random.integers(2):
        fields["data"] = fields["byte_offset"] = 0
    form = Versioned if random.integers(2) else Legacy
    # Older producers leave the strides of packed memory out.
    return Producer(form, memory, fields, shape, None if packed and random.integers(2) else strides), shown


def bits(array):
    """What is compared: NaN by its bits, and bools by what they mean."""
    flat = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return (flat != 0 if array.dtype.kind == "b" else flat).tolist()


def test_what_can_be_is_read_as_numpy_reads_it(capsys):
    random, team, shared = np.random.default_rng(5), pt.Team(1, "host"), 0
    for _ in range(VALID):
        producer, shown = described(random)
        for copy in (None, True):
            u = pt.from_dlpack(producer, team=team, copy=copy)
            assert (u.shape, u.dtype.name) == (shown.shape, shown.dtype.name)
            assert bits(u.numpy()) == bits(shown), (producer.fields, shown.shape, shown.strides)
        try:
            shared += np.from_dlpack(pt.from_dlpack(producer, copy=False)).ctypes.data == shown.ctypes.data
        except BufferError:
            pass
        del u
    assert shared > VALID / 8
    with capsys.disabled():
        print(f"\nran: dlpack-foreign {VALID}")


def spoil(random, producer):
    """Makes one field what it cannot be, and says which."""
    fields, rank, far = producer.fields, producer.fields["ndim"], 1 << 62
    cells = all(producer.shape)
    pick = lambda *values: int(values[random.integers(len(values))])  # noqa: E731
    at = random.integers(rank) if rank else 0
    spoilt = {
        "code": lambda: fields.update(code=pick(3, 7, 17, 255)),
        "bits": lambda: fields.update(bits=pick(0, 1, 4, 7, 24, 80, 96, 255)),
        "lanes": lambda: fields.update(lanes=pick(0, 2, 4, 65535)),
        "ndim": lambda: fields.update(ndim=pick(-1, 9, 64, 65, 2**31 - 1, -(2**31))),
        "kind": lambda: fields.update(kind=pick(0, 2, 4, 7, 13, 15, -1)),
    }
    if producer.form is Versioned:
        spoilt["major"] = lambda: setattr(producer, "major", pick(0, 2, 9, 2**32 - 1))
    if rank:
        spoilt["shape"] = lambda: setattr(producer, "extents", None)
        spoilt["extent"] = lambda: producer.extents.__setitem__(at, pick(-1, -7, far, -far, 2**63 - 1))
    if cells:
        spoilt["data"] = lambda: fields.update(data=0, byte_offset=pick(0, 8))
        spoilt["byte_offset"] = lambda: fields.update(byte_offset=2**64 - 1 - pick(0, 8, 4096))
        if producer.distances and producer.extents[at] > 1:
            spoilt["stride"] = lambda: producer.distances.__setitem__(at, pick(far, -far, 2**63 - 1, -(2**55)))
    where = list(spoilt)[random.integers(len(spoilt))]
    spoilt[where]()
    return where


def test_what_cannot_be_is_refused(capsys):
    random, team, found = np.random.default_rng(6), pt.Team(1, "host"), {}
    for _ in range(MALFORMED):
        producer, _ = described(random)
        before = dict(producer.fields)
        where = spoil(random, producer)
        copy = (None, True, False)[random.integers(3)]
        with pytest.raises(BufferError, match=r"^from_dlpack: expected .*given .*; ") as caught:
            pt.from_dlpack(producer, team=team, copy=copy)
        found.setdefault(where, str(caught.value))
        assert producer.memory is not None, before
    assert len(found) == 11, found
    with capsys.disabled():
        print(f"\nran: dlpack-malformed {MALFORMED}")
