"""As much of CuPy as the peers use, over NumPy and a C++ compiler, for tests on a processor: every line of a
script runs, every kernel's text is compiled, and results are right or wrong. Says nothing of speed.
"""

import ctypes
import types

import numpy as np
from compiling import loaded

from . import cuda  # noqa: F401

REALS = {"float16": "__half", "float32": "float", "float64": "double"}


class Array(np.ndarray):
    """An array that no function of NumPy's own arrays may meet."""

    def __array_ufunc__(self, ufunc, method, *inputs, out=(), **wishes):
        must_be_ours(*inputs, *out)
        plain = lambda a: a.view(np.ndarray) if isinstance(a, np.ndarray) else a  # noqa: E731
        wishes = {**wishes, "out": tuple(map(plain, out))} if out else wishes
        result = getattr(ufunc, method)(*map(plain, inputs), **wishes)
        return out[0] if out else result.view(Array) if isinstance(result, np.ndarray) else result

    def get(self):
        return np.array(self.view(np.ndarray))

    @property
    def data(self):
        return types.SimpleNamespace(ptr=self.ctypes.data)


def must_be_ours(*arrays):
    for array in arrays:
        if isinstance(array, np.ndarray) and array.ndim and not isinstance(array, Array):
            raise TypeError(f"Unsupported type {type(array)}")


def asarray(array):
    return np.array(array).view(Array)


array = asarray


def empty(shape, dtype):
    return np.full(shape, np.nan, dtype).view(Array)


def full(shape, value, dtype):
    return np.full(shape, value, dtype).view(Array)


def zeros(shape, dtype):
    return full(shape, 0, dtype)


def copyto(target, source):
    must_be_ours(target, source)
    np.copyto(target.view(np.ndarray), np.asarray(source))


def dot(a, b):
    must_be_ours(a, b)
    return np.dot(a.view(np.ndarray), b.view(np.ndarray))


def from_dlpack(lent):
    return np.from_dlpack(lent).view(Array)


def asnumpy(array):
    return array.get()


def fuse(function, kernel_name):
    return function


def __getattr__(name):
    """Types, and functions over whole arrays."""
    found = getattr(np, name)
    if not isinstance(found, (np.ufunc, type)):
        raise AttributeError(name)
    return found


class ElementwiseKernel:
    """The text in a loop over cells, one after another."""

    def __init__(self, inputs, outputs, text, name, preamble=""):
        parsed = lambda words: [word.split() for word in words.split(", ")]  # noqa: E731
        self.inputs, self.outputs = parsed(inputs), parsed(outputs)
        self.text, self.name, self.preamble = text, name, preamble

    def __call__(self, *operands):
        must_be_ours(*operands)
        (real,) = {operand.dtype.name for operand in operands}
        count = len(self.inputs)
        shape = operands[count].shape
        given = [np.ascontiguousarray(np.broadcast_to(a, shape)) for a in operands[:count]]
        made = [np.full(shape, np.nan, real) for _ in self.outputs]
        names = [name for kind, name in self.inputs + self.outputs if kind == "T"]
        cells = " ".join(f"T& {name} = static_cast<T*>(a[{k}])[i];" for k, name in enumerate(names))
        body = f"for (long i = 0; i < n; i++) {{ {cells} {self.text} }}"
        head = f"{self.preamble}\nusing T = {REALS[real]};\n"
        text = f'{head}extern "C" void run(long n, void** a) {{ {body} }}\n'
        arrays = [*given, *made]
        pointers = (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
        loaded(text).run(ctypes.c_long(made[0].size), pointers)
        for values, target in zip(made, operands[count:], strict=True):
            target.view(np.ndarray)[...] = values


class RawKernel:
    def __init__(self, text, name, options=()):
        launch = f"pretence::launch_pointers(dim3(g[0], g[1], g[2]), dim3(b[0], b[1], b[2]), {name}, a);"
        run = f'extern "C" void run(unsigned* g, unsigned* b, void** a) {{ {launch} }}'
        self.run = loaded(f"{text}\n{run}\n").run

    def __call__(self, grid, block, operands):
        must_be_ours(*operands)
        extents = [(ctypes.c_uint * 3)(*extents, *(1,) * (3 - len(extents))) for extents in (grid, block)]
        self.run(*extents, (ctypes.c_void_p * len(operands))(*(operand.ctypes.data for operand in operands)))


def choose(names):
    if not set(names) <= {"cub", "cutensor", "cutensornet"}:
        raise ValueError(f"Unknown accelerator among {names}")


_core = types.SimpleNamespace(set_routine_accelerators=choose, set_reduction_accelerators=choose)
