"""O1: whole calls as users write them, by Partita's Python package beside CuPy, PyTorch and JAX on the same device, and NumPy on
the host.

    python calls.py [--device host|cuda|wgpu] [--small] [--only CALLS] [--libraries NAMES] [--seconds S]

Prints one line of JSON per call and library: seconds of one call, in batches that end with an idle device, or why there are none.
A library that is missing is named once, with the reason. Results are compared with NumPy's, at both ends of the array.
"""

import argparse
import importlib
import json
import os
import time
from types import SimpleNamespace

import numpy as np

SEED = 20240229
BATCHES, MOST_CALLS = 5, 2000
ENDS = 2048  # elements that are compared at either end
LARGE = SimpleNamespace(line=1 << 26, short=1 << 23, plane=1 << 13, signal=1 << 20, cube=256, matrix=2048, moved=1 << 27)
SMALL = SimpleNamespace(line=1 << 14, short=1 << 11, plane=1 << 6, signal=1 << 8, cube=16, matrix=64, moved=1 << 12)


class Library:
    """A library with NumPy's names. `place` puts host memory on the device, `wait` ends all work, `host` fetches."""

    is_peer = True

    def __init__(self, device):
        self.xp = importlib.import_module(self.module)
        self.device = device

    def place(self, array):
        return self.xp.asarray(array)

    def wait(self, result=None):
        pass

    def host(self, result):
        return np.asarray(result)

    def compute(self, result):
        return result

    def turned(self, a):
        return self.xp.ascontiguousarray(a.T)

    def sort(self, a):
        return self.xp.sort(a)

    def histogram(self, a):
        return self.xp.histogram(a, 256, (0, 1))[0]

    def normal(self, count):
        return self.xp.random.default_rng(SEED).standard_normal(count, dtype=self.xp.float32)

    def lent(self, a):
        """What another library takes."""
        return a

    def exact_sum(self, a):
        raise NotImplementedError("a sum that is rounded once")


class NumPy(Library):
    name, module = "numpy", "numpy"


class CuPy(Library):
    name, module = "cupy", "cupy"

    def __init__(self, device):
        if device != "cuda":
            raise ImportError("CuPy computes on CUDA devices")
        super().__init__(device)
        self.xp.cuda.runtime.getDeviceCount()

    def wait(self, result=None):
        self.xp.cuda.get_current_stream().synchronize()

    def host(self, result):
        return self.xp.asnumpy(result)


class Torch(Library):
    name, module = "torch", "torch"

    def __init__(self, device):
        super().__init__(device)
        if device == "cuda" and not self.xp.cuda.is_available():
            raise ImportError("PyTorch finds no CUDA device")
        self.at = "cuda" if device == "cuda" else "cpu"

    def place(self, array):
        return self.xp.as_tensor(array, device=self.at)

    def wait(self, result=None):
        if self.at == "cuda":
            self.xp.cuda.synchronize()

    def host(self, result):
        return result.cpu().numpy()

    def turned(self, a):
        return a.T.contiguous()

    def sort(self, a):
        return self.xp.sort(a)[0]

    def histogram(self, a):
        return self.xp.histc(a, 256, 0, 1)

    def normal(self, count):
        return self.xp.randn(count, device=self.at)


class Jax(Library):
    name, module = "jax", "jax.numpy"

    def __init__(self, device):
        os.environ.setdefault("JAX_PLATFORMS", "cuda" if device == "cuda" else "cpu")
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        super().__init__(device)
        self.jax = importlib.import_module("jax")
        self.jax.config.update("jax_default_matmul_precision", "highest")
        try:
            self.jax.devices()
        except (RuntimeError, AssertionError) as reason:  # the second where no plugin knows the platform
            raise ImportError(str(reason) or f"JAX finds no {os.environ['JAX_PLATFORMS']}") from reason

    def wait(self, result=None):
        if result is not None:
            self.jax.block_until_ready(result)

    def turned(self, a):
        return self.xp.copy(a.T)

    def normal(self, count):
        return self.jax.random.normal(self.jax.random.key(SEED), (count,))


class Partita(Library):
    name, module, is_peer = "Partita", "partita", False

    def __init__(self, device):
        super().__init__(device)
        found = [each for each in self.xp.devices() if each.kind == device]
        if not found:
            raise ImportError(f"Partita finds no device of kind {device}")
        self.team = self.xp.Team(1, found[:1])

    def place(self, array):
        return self.xp.asarray(array, team=self.team).eval()

    def wait(self, result=None):
        self.team.wait()

    def host(self, result):
        return result.numpy()

    def compute(self, result):
        return result.eval()

    def turned(self, a):
        return a.T + 0

    def normal(self, count):
        return self.xp.random.default_rng(SEED).normal(size=count, dtype=self.xp.float32, team=self.team)

    def lent(self, a):
        return a.parts[0]

    def exact_sum(self, a):
        return self.xp.sum(a, reproducible=True)


LIBRARIES = {library.name: library for library in (Partita, CuPy, Torch, Jax, NumPy)}


# Name, the array that it begins with, the call; none where placing the array is the call.
CALLS = {
    "a*2+1": ("line", lambda lib, a: a * 2 + 1),
    "sqrt(a*a+1)": ("line", lambda lib, a: lib.xp.sqrt(a * a + 1)),
    "a[::2]*1": ("line", lambda lib, a: a[::2] * 1),
    "transpose": ("plane", lambda lib, a: lib.turned(a)),
    "sum": ("line", lambda lib, a: lib.xp.sum(a)),
    "sum axis 0": ("plane", lambda lib, a: lib.xp.sum(a, 0)),
    "sum axis 1": ("plane", lambda lib, a: lib.xp.sum(a, 1)),
    "sum reproducible": ("line", lambda lib, a: lib.exact_sum(a)),
    "cumsum": ("line", lambda lib, a: lib.xp.cumsum(a, 0)),
    "a[a>.5]": ("short", lambda lib, a: a[a > 0.5]),
    "a[idx]": ("short", lambda lib, a: a[lib.index]),
    "sort": ("short", lambda lib, a: lib.sort(a)),
    "histogram": ("short", lambda lib, a: lib.histogram(a)),
    "fft": ("signal", lambda lib, a: lib.xp.fft.fft(a)),
    "fftn": ("cube", lambda lib, a: lib.xp.fft.fftn(a)),
    "a@a": ("matrix", lambda lib, a: a @ a),
    "normal": ("line", lambda lib, a: lib.normal(a.shape[0])),
    "small a*2+1": ("few", lambda lib, a: a * 2 + 1),
    "small float(sum)": ("few", lambda lib, a: float(lib.xp.sum(a))),
    "lend": ("few", lambda lib, a: lib.partner.xp.from_dlpack(lib.lent(a))),
    "take": ("few", lambda lib, a: lib.xp.from_dlpack(lib.theirs)),
    "host to device": ("moved", None),
    "device to host": ("moved", lambda lib, a: lib.host(a)),
}


def arrays(sizes):
    """The host's arrays by name, made when they are wanted; the latest is kept."""
    shapes = {
        "line": (sizes.line,),
        "short": (sizes.short,),
        "plane": (sizes.line // sizes.plane, sizes.plane),
        "signal": (sizes.signal,),
        "cube": (sizes.cube,) * 3,
        "matrix": (sizes.matrix,) * 2,
        "few": (1000,),
        "moved": (sizes.moved,),
    }
    kept = {}

    def of(name):
        if name not in kept:
            kept.clear()
            array = np.random.default_rng(SEED).random(shapes[name], dtype=np.float32)
            kept[name] = array.astype(np.complex64) if name in ("signal", "cube") else array
        return kept[name]

    return of


def batches(call, wait, seconds):
    """Seconds of one call, by batches of which each ends with an idle device."""
    result = call()
    wait(result)
    start = time.perf_counter()
    result = call()
    wait(result)
    once = max(time.perf_counter() - start, 1e-7)
    count = max(1, min(MOST_CALLS, int(seconds / BATCHES / once)))
    times = []
    while len(times) < BATCHES and (len(times) < 2 or sum(times) * count < 2 * seconds):
        start = time.perf_counter()
        for _ in range(count):
            result = call()
        wait(result)
        times.append((time.perf_counter() - start) / count)
    return times, result


def ends(lib, result):
    """Both ends of a result, on the host."""
    if isinstance(result, (float, np.ndarray)) or not result.ndim:
        flat = np.asarray(result if isinstance(result, (float, np.ndarray)) else lib.host(result)).reshape(-1)
        return np.concatenate([flat[:ENDS], flat[-ENDS:]])
    flat = result.reshape(-1)
    return np.concatenate([lib.host(lib.compute(part)) for part in (flat[:ENDS], flat[-ENDS:])])


def error_of(want, got, allowed):
    """The largest error, relative to the largest value; sums and transforms of f32 differ in their order."""
    if want.shape != got.shape:
        raise ArithmeticError(f"wrong: {got.shape} instead of {want.shape} compared elements")
    error = float(np.max(np.abs(got.astype(np.complex128) - want)) / max(np.max(np.abs(want)), 1.0))
    if not error <= allowed:
        raise ArithmeticError(f"wrong: error {error:.1g}, allowed {allowed:.1g}")
    return error


UNCOMPUTED = ("small float(sum)", "lend", "take", "device to host")  # whose result is no array that waits


def measured(lib, name, host, wanted, seconds):
    """What became of one call by one library; `wanted` gives NumPy's result."""
    array, work = CALLS[name]
    try:
        if name in ("lend", "take") and lib.partner is None:
            return {"skipped": "no other library that is here has memory on this device"}
        if name == "take":
            lib.theirs = lib.partner.place(host(array))
        if name == "a[idx]":
            lib.index = lib.place(index_of(host(array)))
        given = host(array)
        a = lib.place(given)
        if work is None:
            call = lambda: lib.place(given)  # noqa: E731
        elif name in UNCOMPUTED:
            call = lambda: work(lib, a)  # noqa: E731
        else:
            call = lambda: lib.compute(work(lib, a))  # noqa: E731
        times, result = batches(call, lib.wait, seconds)
        got = ends(lib.partner if name == "lend" else lib, result)
        if name == "normal":  # every library has its own
            got, want = np.std(got, keepdims=True), np.ones(1)
        else:
            want = wanted(name)
        return {"timed": {"seconds": times, "error": error_of(want, got, 0.1 if name == "normal" else 1e-4)}}
    except (AttributeError, BufferError, NotImplementedError) as reason:
        return {"skipped": f"not offered: {first_line(reason)}"}
    except Exception as reason:  # of any library: it is its failure, whatever it is
        return {"failed": f"{type(reason).__name__}: {first_line(reason)}"}


def index_of(array):
    return np.random.default_rng(SEED).integers(0, array.size, array.size // 4)


def expected(host):
    """Both ends of NumPy's results, each computed once."""
    numpy, results = NumPy("host"), {}

    def of(name):
        if name not in results:
            array, work = CALLS[name]
            given = host(array)
            numpy.index = index_of(given) if name == "a[idx]" else None
            if name == "sum reproducible":
                given = given.sum(dtype=np.float64)
            is_same = work is None or name in ("lend", "take", "sum reproducible")
            results[name] = ends(numpy, given if is_same else work(numpy, given))
        return results[name]

    return of


def first_line(reason):
    return (str(reason).strip().splitlines() or [type(reason).__name__])[0][:200]


def opened(names, device):
    """The libraries that are here; each missing one is printed with the reason."""
    found = {}
    for name in names:
        try:
            found[name] = LIBRARIES[name]("host" if name == "numpy" else device)
        except Exception as reason:  # libraries fail in many ways where a part of them is missing
            say(call="every call", who=name, outcome={"skipped": first_line(reason)})
    for lib in found.values():
        others = [found[name] for name in ("torch", "cupy", "jax") if name in found and found[name] is not lib]
        lib.partner = others[0] if others and lib.name != "numpy" else NumPy("host") if lib.device == "host" else None
    return found


def say(*, is_peer=True, moved=0, **line):
    print(json.dumps({"is_peer": is_peer, "bytes": moved, **line}), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=("host", "cuda", "wgpu"), default="host")
    parser.add_argument("--small", action="store_true", help="tiny arrays, to see that everything runs")
    parser.add_argument("--only", help="calls, comma separated")
    parser.add_argument("--libraries", default=",".join(LIBRARIES), help="comma separated")
    parser.add_argument("--seconds", type=float, default=0.25, help="for a call and a library")
    options = parser.parse_args()
    names = options.only.split(",") if options.only else list(CALLS)
    for known, given in ((CALLS, names), (LIBRARIES, options.libraries.split(","))):
        for unknown in (name for name in given if name not in known):
            parser.error(f"nothing is called {unknown!r}; there are {', '.join(known)}")
    host = arrays(SMALL if options.small else LARGE)
    wanted = expected(host)
    libraries = opened(options.libraries.split(","), options.device)
    for name in names:
        for lib in libraries.values():
            outcome = measured(lib, name, host, wanted, options.seconds)
            moved = host("moved").nbytes if CALLS[name][0] == "moved" else 0
            say(call=name, who=lib.name, is_peer=lib.is_peer, moved=moved, outcome=outcome)


if __name__ == "__main__":
    main()
