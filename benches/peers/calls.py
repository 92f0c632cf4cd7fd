"""O1: whole calls as users write them, by Partita's Python package beside CuPy, PyTorch and JAX on the same device, and NumPy on
the host.

    python calls.py [--device host|cuda|wgpu] [--small] [--only CALLS] [--libraries NAMES] [--seconds S]

Prints one line of JSON per call and library: seconds of one call, in batches that end with an idle device, or why there are none.
A library that is missing is named with the reason. Results are compared with NumPy's, at both ends of the array.
"""

import argparse
import importlib
import json
import os
import time

import numpy as np

SEED = 20240229
BATCHES, MOST_CALLS = 5, 2000
ENDS = 2048  # elements that are compared at either end
# Shapes by name, of figures and of smoke tests; those of `COMPLEX` hold complex numbers.
LARGE = {"line": (1 << 26,), "short": (1 << 23,), "plane": (1 << 13,) * 2, "signal": (1 << 20,), "cube": (256,) * 3}
LARGE |= {"matrix": (2048,) * 2, "few": (1000,), "moved": (1 << 27,)}
SMALL = {"line": (1 << 14,), "short": (1 << 11,), "plane": (1 << 6,) * 2, "signal": (1 << 8,), "cube": (16,) * 3}
SMALL |= {"matrix": (64,) * 2, "few": (1000,), "moved": (1 << 12,)}
COMPLEX = ("signal", "cube")
ALLOWED = {"cumsum": 1e-2}  # NumPy adds one after another


class Library:
    """A library with NumPy's names. `place` puts host memory on the device, `wait` ends all work, `host` fetches."""

    name, module, is_peer = "numpy", "numpy", True

    def __init__(self, device):
        self.xp, self.device = importlib.import_module(self.module), device
        self.place, self.host = self.xp.asarray, np.asarray
        self.wait, self.compute, self.lent = (lambda result: None), (lambda result: result), (lambda a: a)
        self.turned, self.sort = (lambda a: self.xp.ascontiguousarray(a.T)), self.xp.sort
        self.histogram = lambda a: self.xp.histogram(a, 256, (0, 1))[0]
        self.open()

    def open(self):
        """What is different from NumPy; an ImportError where the device is missing."""

    def normal(self, count):
        return self.xp.random.default_rng(SEED).standard_normal(count, dtype=self.xp.float32)

    def exact_sum(self, a):
        raise NotImplementedError("a sum that is rounded once")


class CuPy(Library):
    name = module = "cupy"

    def open(self):
        if self.device != "cuda" or not self.xp.cuda.runtime.getDeviceCount():
            raise ImportError("CuPy computes on CUDA devices")
        self.host = self.xp.asnumpy
        self.wait = lambda result: self.xp.cuda.get_current_stream().synchronize()


class Torch(Library):
    name = module = "torch"

    def open(self):
        if self.device == "cuda" and not self.xp.cuda.is_available():
            raise ImportError("PyTorch finds no CUDA device")
        self.at = "cuda" if self.device == "cuda" else "cpu"
        self.place = lambda array: self.xp.as_tensor(array, device=self.at)
        self.host = lambda result: result.cpu().numpy()
        if self.at == "cuda":
            self.wait = lambda result: self.xp.cuda.synchronize()
        self.turned, self.sort = (lambda a: a.T.contiguous()), (lambda a: self.xp.sort(a)[0])
        self.histogram = lambda a: self.xp.histc(a, 256, 0, 1)
        self.normal = lambda count: self.xp.randn(count, device=self.at)


class Jax(Library):
    name, module = "jax", "jax.numpy"

    def open(self):
        jax = importlib.import_module("jax")
        jax.config.update("jax_platforms", "cuda" if self.device == "cuda" else "cpu")
        jax.config.update("jax_default_matmul_precision", "highest")
        try:
            jax.devices()
        except (RuntimeError, AssertionError) as reason:  # the second where no plugin knows the platform
            raise ImportError(str(reason) or "JAX finds no such device") from reason
        self.wait, self.turned = jax.block_until_ready, lambda a: self.xp.copy(a.T)
        self.normal = lambda count: jax.random.normal(jax.random.key(SEED), (count,))


class Partita(Library):
    name, module, is_peer = "Partita", "partita", False

    def open(self):
        found = [each for each in self.xp.devices() if each.kind == self.device]
        if not found:
            raise ImportError(f"Partita finds no device of kind {self.device}")
        team = self.xp.Team(1, found[:1])
        self.place = lambda array: self.xp.asarray(array, team=team).eval()
        self.wait, self.host = (lambda result: team.wait()), lambda result: result.numpy()
        self.compute, self.lent = (lambda result: result.eval()), lambda a: a.parts[0]
        self.turned, self.exact_sum = (lambda a: a.T + 0), lambda a: self.xp.sum(a, reproducible=True)
        rng, real = self.xp.random.default_rng, self.xp.float32
        self.normal = lambda count: rng(SEED).normal(size=count, dtype=real, team=team)


LIBRARIES = {library.name: library for library in (Partita, CuPy, Torch, Jax, Library)}

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
    "host to device": ("moved", None),
    "device to host": ("moved", lambda lib, a: lib.host(a)),
}
PARTNERS = ("numpy", "cupy", "torch", "jax")
LENT = {f"lend to {name}": name for name in PARTNERS}
TAKEN = {f"take from {name}": name for name in PARTNERS}
CALLS |= {name: ("few", lambda lib, a: lib.partner.xp.from_dlpack(lib.lent(a))) for name in LENT}
CALLS |= {name: ("few", lambda lib, a: lib.xp.from_dlpack(lib.theirs)) for name in TAKEN}
UNCOMPUTED = ("small float(sum)", "device to host", *LENT, *TAKEN)  # whose result is no array that waits


def arrays(shapes):
    """The host's arrays by name, made when they are wanted; the latest is kept."""
    kept = {}

    def of(name):
        if name not in kept:
            kept.clear()
            array = np.random.default_rng(SEED).random(shapes[name], dtype=np.float32)
            if name in ("line", "plane"):
                array -= np.float32(0.5)  # whose sums stay small: f32 holds a running sum of 2^26 numbers only so
            kept[name] = array.astype(np.complex64) if name in COMPLEX else array
        return kept[name]

    return of


def index_of(array):
    return np.random.default_rng(SEED).integers(0, array.size, array.size // 4)


def batches(call, wait, seconds):
    """Seconds of one call, by batches of which each ends with an idle device; and the last result."""
    wait(call())

    def batch(count):
        start = time.perf_counter()
        for _ in range(count):
            result = call()
        wait(result)
        return (time.perf_counter() - start) / count, result

    count = max(1, min(MOST_CALLS, int(seconds / BATCHES / max(batch(1)[0], 1e-7))))
    times = []
    while len(times) < BATCHES and (len(times) < 2 or sum(times) * count < 2 * seconds):
        taken, result = batch(count)
        times.append(taken)
    return times, result


def ends(lib, result):
    """Both ends of a result, on the host."""
    if not isinstance(result, (float, np.ndarray)):
        if result.ndim:
            flat = result.reshape(-1)
            return np.concatenate([lib.host(lib.compute(part)) for part in (flat[:ENDS], flat[-ENDS:])])
        result = lib.host(result)
    flat = np.asarray(result).reshape(-1)
    return np.concatenate([flat[:ENDS], flat[-ENDS:]])


def error_of(want, got, allowed):
    """The largest error, relative to the largest value; sums and transforms of f32 differ in their order."""
    if want.shape != got.shape:
        raise ArithmeticError(f"wrong: {got.shape} instead of {want.shape} compared elements")
    error = float(np.max(np.abs(got.astype(np.complex128) - want)) / max(np.max(np.abs(want)), 1.0))
    if not error <= allowed:
        raise ArithmeticError(f"wrong: error {error:.1g}, allowed {allowed:.1g}")
    return error


def measured(lib, name, host, wanted, seconds):
    """What became of one call by one library; `wanted` gives NumPy's result."""
    array, work = CALLS[name]
    try:
        if name in LENT or name in TAKEN:
            lib.partner = lib.others.get(LENT.get(name) or TAKEN[name])
            if lib.partner is None:
                raise NotImplementedError("the other library, or memory of it on this device, is not here")
            lib.theirs = lib.partner.place(host(array))
        given = host(array)
        lib.index = lib.place(index_of(given)) if name == "a[idx]" else None
        a = lib.place(given)
        finish = (lambda result: result) if name in UNCOMPUTED else lib.compute
        call = (lambda: finish(work(lib, a))) if work else lambda: lib.place(given)
        times, result = batches(call, lib.wait, seconds)
        got = ends(lib.partner if name in LENT else lib, result)
        if name == "normal":  # every library has its own
            return {"timed": {"seconds": times, "error": error_of(np.ones(1), np.std(got, keepdims=True), 0.1)}}
        return {"timed": {"seconds": times, "error": error_of(wanted(name), got, ALLOWED.get(name, 1e-4))}}
    except (AttributeError, BufferError, NotImplementedError) as reason:
        return {"skipped": f"not offered: {first_line(reason)}"}
    except Exception as reason:  # of any library: it is its failure, whatever it is
        return {"failed": f"{type(reason).__name__}: {first_line(reason)}"}


def expected(host):
    """Both ends of NumPy's results, each computed once."""
    numpy, results = Library("host"), {}

    def of(name):
        if name not in results:
            array, work = CALLS[name]
            given = host(array)
            numpy.index = index_of(given) if name == "a[idx]" else None
            if name == "sum reproducible":
                given = given.sum(dtype=np.float64)
            is_same = work is None or name in (*LENT, *TAKEN, "sum reproducible")
            results[name] = ends(numpy, given if is_same else work(numpy, given))
        return results[name]

    return of


def first_line(reason):
    return (str(reason).strip().splitlines() or [type(reason).__name__])[0][:200]


def opened(names, device):
    """The libraries that are here, each with the others on its device; each missing one is said with the reason."""
    found = {}
    for name in names:
        try:
            found[name] = LIBRARIES[name]("host" if name == "numpy" else device)
        except Exception as reason:  # libraries fail in many ways where a part of them is missing
            say(call="every call", who=name, outcome={"skipped": first_line(reason)})
    for lib in found.values():
        lib.others = {k: other for k, other in found.items() if other.device == lib.device and other is not lib}
    return found


def say(*, is_peer=True, moved=0, **line):
    print(json.dumps({"is_peer": is_peer, "bytes": moved, **line}), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", choices=("host", "cuda", "wgpu"), default="host")
    parser.add_argument("--small", action="store_true", help="tiny arrays, to see that everything runs")
    parser.add_argument("--only", default=",".join(CALLS), help="calls, comma separated")
    parser.add_argument("--libraries", default=",".join(LIBRARIES), help="comma separated")
    parser.add_argument("--seconds", type=float, default=0.25, help="for a call and a library")
    options = parser.parse_args()
    names, libraries = options.only.split(","), options.libraries.split(",")
    for unknown in [name for name in names if name not in CALLS] + [n for n in libraries if n not in LIBRARIES]:
        parser.error(f"nothing is called {unknown!r}; there are {', '.join([*CALLS, *LIBRARIES])}")
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")  # the libraries share the device
    host = arrays(SMALL if options.small else LARGE)
    wanted, found = expected(host), opened(libraries, options.device)
    for name in names:
        for lib in found.values():
            outcome = measured(lib, name, host, wanted, options.seconds)
            moved = host("moved").nbytes if CALLS[name][0] == "moved" else 0
            say(call=name, who=lib.name, is_peer=lib.is_peer, moved=moved, outcome=outcome)


if __name__ == "__main__":
    main()
