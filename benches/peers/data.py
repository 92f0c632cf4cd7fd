"""One workload in one type: its inputs, the memory for its results, and what the results must be in f64.

Uses NumPy only.
"""

import functools
import sys
from dataclasses import dataclass
from math import prod

import numpy as np

from workloads import DTYPES, VIEWS, Windows, window

SEED = 20240229
SAMPLES = 4096
POOL = 1_000_003  # random numbers, which arrays repeat; a prime, so that no two rows or planes are alike
BLOCK = 4096  # numbers that may be added one after another


def unwritten(shape, dtype):
    """Memory on a 64-byte boundary, for which NumPy asks for large pages."""
    dtype = np.dtype(dtype)
    size = prod(shape)
    raw = np.empty(size + 64 // dtype.itemsize, dtype)
    start = -(raw.ctypes.data // dtype.itemsize) % (64 // dtype.itemsize)
    return raw[start : start + size].reshape(shape)


def aligned(shape, dtype, value=0):
    """All of one value, written, so that no run is the first to touch a page."""
    array = unwritten(shape, dtype)
    array.fill(value)
    return array


@functools.cache
def pool():
    """Random numbers between 0.5 and 1.5, twice in a row."""
    numbers = np.random.default_rng(SEED).random(POOL, dtype=np.float32) + np.float32(0.5)
    return np.concatenate([numbers, numbers])


IS_SHARED = False  # one process has all peers, which read the same inputs
FOLDED = {}  # what their folds must be


def shared(make):
    """A function whose arrays are made once where all peers are in one process, and anew otherwise."""
    kept = functools.cache(make)
    return functools.wraps(make)(lambda *what: (kept if IS_SHARED else make)(*what))


def random(shape, dtype, rng, is_written=False):
    """Numbers of the pool from some place on, because making new ones takes longer than most turns."""
    make = numbers.__wrapped__ if is_written else numbers
    return make(tuple(shape), dtype, int(rng.integers(POOL)))


@shared
def numbers(shape, dtype, first):
    array = unwritten(shape, dtype)
    flat = array.reshape(-1)
    for start in range(0, flat.size, POOL):
        part = flat[start : start + POOL]
        part[...] = pool()[first : first + part.size]
    return array


def compared(want, got, allowed):
    """The largest error, relative to what is expected or absolute below 1."""
    want, got = np.asarray(want, np.float64), np.asarray(got, np.float64)
    if want.shape != got.shape:
        raise ArithmeticError(f"shape {got.shape} instead of {want.shape}")
    error = float(np.max(np.abs(got - want) / np.maximum(np.abs(want), 1.0)))
    if not error <= allowed:
        raise ArithmeticError(f"wrong: relative error {error:.2g}, allowed {allowed:.1g}")
    return error


@dataclass
class Arrays:
    """One set of host arrays. A peer goes through several, so that caches hold none of them."""

    inputs: list
    outputs: list


class Job:
    """A workload of the table. A peer binds it once, and gives a run for each set of its arrays."""

    kind, offered = "workload", True

    def __init__(self, workload, dtype):
        self.rng = np.random.default_rng(SEED)
        self.workload, self.name, self.dtype = workload, workload.name, dtype
        self.type, self.result_type = DTYPES[dtype], DTYPES[workload.result_dtype(dtype)]
        self.formula, self.inner = workload.formula, workload.inner
        self.sets = 0
        self.cells = [self.rng.integers(0, n, min(SAMPLES, prod(self.inner))) for n in self.inner]

    def arrays(self):
        """A new set, with other numbers than those before. What is to be computed is not a number yet."""
        # The numbers of a set and an input are the same in every job, so that jobs of one process share them.
        rng = np.random.default_rng([SEED, self.sets])
        self.sets += 1
        inputs = [random(shape, self.type, rng) for shape in self.workload.shapes]
        if self.workload.then == "assign":  # its rim is kept
            outputs = [random(shape, self.type, self.rng, is_written=True) for shape in self.workload.results]
            self.targets(outputs)[0].fill(np.nan)
            return Arrays(inputs, outputs)
        return Arrays(inputs, [aligned(shape, self.result_type, np.nan) for shape in self.workload.results])

    def type_of(self, xp):
        """The type as the library names it."""
        return getattr(xp, self.type)

    def targets(self, outputs):
        """Where the formula's values go, as windows of the outputs."""
        reach = self.workload.reach if self.workload.then == "assign" else 0
        views = self.workload.written
        return [window(VIEWS[views.get(k)].of(output), reach) for k, output in enumerate(outputs)]

    def seen(self, inputs):
        """Inputs as the formula sees them."""
        views = self.workload.seen
        return [VIEWS[views.get(k)].of(array) for k, array in enumerate(inputs)]

    def windows(self, inputs):
        return Windows(self.seen(inputs), self.workload.reach)

    def values(self, inputs, xp):
        """The formula over arrays of any library."""
        return self.workload.formula(self.windows(inputs), xp)

    def allowed(self):
        """Roundings of the formula, and of additions one after another: those wander like the root of
        their number, up to the length of a block, because a good sum adds blocks."""
        operations = sum(step.computes for step in self.formula.steps)
        added = 0
        if self.workload.then in ("sum", "norm"):
            shape = self.workload.shapes[0]
            added = prod(shape[axis] for axis in self.workload.axes or range(len(shape)))
        return float(np.finfo(self.type).eps) * (9 + operations + min(added, BLOCK) ** 0.5)

    def check(self, arrays, results):
        """The largest error of a sample of the results."""
        if self.workload.folds:
            key = (self.name, self.dtype, *(array.ctypes.data for array in arrays.inputs))
            want = FOLDED.get(key) if IS_SHARED else None
            want = FOLDED[key] = self.folded(arrays.inputs) if want is None else want
            return compared(want, results[0], self.allowed())
        at = tuple(cells + self.workload.reach for cells in self.cells)
        wanted = self.workload.formula(lambda k, by: self.cell(arrays.inputs, k, at, by), np)
        given = [picked(target, self.cells) for target in self.targets(results)]
        return max(compared(want, got, self.allowed()) for want, got in zip(wanted, given, strict=True))

    def cell(self, inputs, array, at, by):
        array = VIEWS[self.workload.seen.get(array)].of(inputs[array])
        shifts = by[3 - array.ndim :]
        at = tuple(0 if n == 1 else cells + shift for n, cells, shift in zip(array.shape, at, shifts))
        return array[at].astype(np.float64)

    def folded(self, inputs):
        a, axes = inputs[0], self.workload.axes or None
        match self.workload.then:
            case "sum" if len(inputs) == 1:
                return a.sum(axis=axes, dtype=np.float64)
            case "sum":
                return product_sum(a, inputs[1])
            case "max":
                return a.max()
            case "norm":
                return np.sqrt(product_sum(a, a))


def picked(array, cells):
    """Some elements of an array of any library, on the host."""
    library = sys.modules[type(array).__module__.partition(".")[0]]
    if hasattr(library, "as_tensor"):  # PyTorch
        return array[tuple(library.as_tensor(at, device=array.device) for at in cells)].cpu().numpy()
    found = array[tuple(getattr(library, "asarray", np.asarray)(at) for at in cells)]
    return found.get() if hasattr(found, "get") else np.asarray(found)


def product_sum(a, b):
    """In f64, in pieces, so that no f64 copy of the whole is made."""
    pieces = (slice(start, start + (1 << 20)) for start in range(0, a.size, 1 << 20))
    return sum(float(a[piece].astype(np.float64) @ b[piece].astype(np.float64)) for piece in pieces)
