"""nvcc: `reference.cu`, written by hand and compiled here for the GPU that is here; called through ctypes."""

import ctypes
import functools
import os
import shutil
import subprocess
import tempfile

import numpy as np

import kept

OFFERED = "copy scale triad fused8 expsin stencil5 stencil7 stencil13 stencil25 stencil27".split()


def bind(job):
    return functools.partial(Reference, job) if job.name in OFFERED else None


@functools.cache
def library():
    """Compiled once for these GPUs, and kept where there is a place for it."""
    nvcc = shutil.which("nvcc") or shutil.which("nvcc", path="/usr/local/cuda/bin")
    if nvcc is None:
        raise ImportError("no nvcc")
    source = os.path.join(os.path.dirname(os.path.abspath(kept.__file__)), "reference.cu")

    def make(binary):
        options = "-O3 -std=c++17 -arch=native -shared -Xcompiler -fPIC".split()
        built = subprocess.run([nvcc, *options, source, "-o", binary], capture_output=True, text=True)
        if built.returncode != 0:
            raise ImportError(f"nvcc cannot compile the reference: {built.stderr.strip()[-200:]}")

    with open(source, encoding="utf-8") as file:
        what = file.read(), nvcc, gpus()
    with tempfile.TemporaryDirectory(prefix="peers-nvcc-") as nowhere:
        where = os.path.join(kept.folder() or nowhere, "nvcc")
        loaded = ctypes.CDLL(kept.made(kept.named(where, ".so", *what), make))
    loaded.peer_new.restype, loaded.peer_new.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
    loaded.peer_free.argtypes = [ctypes.c_void_p]
    loaded.peer_move.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
    loaded.peer_error.restype = ctypes.c_char_p
    return loaded


def gpus():
    """Their names, as the driver's program gives them."""
    try:
        return subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True).stdout
    except OSError:
        return ""


def must(code):
    if code:
        raise RuntimeError(f"CUDA: {library().peer_error(code).decode()}")


class OnGpu:
    """An array of the reference's own; `get` reads it."""

    def __init__(self, array):
        self.like, self.memory = array, library().peer_new(array.nbytes)
        if not self.memory:
            raise MemoryError(f"CUDA: no {array.nbytes} bytes")
        must(library().peer_move(self.memory, array.ctypes.data, array.nbytes))

    def get(self):
        host = np.empty_like(self.like)
        must(library().peer_move(host.ctypes.data, self.memory, host.nbytes))
        return host

    def __del__(self):
        if self.memory:
            library().peer_free(self.memory)


class Reference:
    """A call is one launch, then the device is idle."""

    def __init__(self, job, arrays):
        self.run = getattr(library(), f"{job.name}_{job.dtype}")
        self.inputs, self.outputs = [OnGpu(a) for a in arrays.inputs], [OnGpu(a) for a in arrays.outputs]
        pointers = lambda arrays: (ctypes.c_void_p * len(arrays))(*(a.memory for a in arrays))  # noqa: E731
        shape = job.workload.shapes[0]
        self.arguments = (pointers(self.inputs), pointers(self.outputs), (ctypes.c_long * len(shape))(*shape))

    def __call__(self):
        must(self.run(*self.arguments))
        must(library().peer_wait())
        return self.outputs


CONTENDERS = {"nvcc": bind}
