"""Times what a user would take instead of Partita, on the same work: same bytes, same answer, checked.

    python benches/peers [--device cpu|cuda] [--json] [--only a,b] [--dtype f32,f64] [--peers numpy,jax] ...
    python benches/peers --serve
    python benches/peers --probe

The first prints a table; with --json the last line is one JSON object. The second answers requests
"workload dtype repeats seconds" on stdin, one per line, each with one line of JSON, so that another process
can interleave its own measurements with these; arrays and compiled code stay warm until another workload is
asked for. The third needs no NumPy: it prints what the formulas give for made-up cells.

Times are medians after a warm-up, the device idle before and after each; every result is checked against
f64 arithmetic first. Each peer has one file, by_NAME.py, that is loaded when it is first asked to compute.
"""

import argparse
import importlib
import importlib.metadata
import importlib.util
import json
import math
import os
import statistics
import sys
import time

from workloads import DTYPES, WORKLOADS, Sizes

CPU = {
    "numpy": "by_numpy",
    "numexpr": "by_numexpr",
    "numba": "by_numba",
    "jax": "by_jax",
    "torch": "by_torch",
    "torch.compile": "by_torch",
    "c_nt": "by_c",
    "mpi": "by_mpi",
    "partita (Python)": "by_partita",
}
CUDA = {
    "cupy": "by_cupy",
    "cupy.fuse": "by_cupy",
    "cupy.Elementwise": "by_cupy",
    "cupy.RawKernel": "by_cupy",
    "cub": "by_cupy",
    "torch": "by_torch",
    "torch.compile": "by_torch",
    "triton": "by_triton",
    "jax": "by_jax",
    "nvcc": "by_nvcc",
    "mpi": "by_mpi",
    "nccl": "by_nccl",
}
LIBRARIES = (
    "numpy numexpr numba jax cupy-cuda13x cupy-cuda12x torch triton mpi4py".split()  # as they are distributed
)
MESSAGES = ("message", "message_1MiB")
OVERHEADS = ("record", "flush")
APPS = ("jacobi", "reaction", "shot", "gradients")
REPARTITIONS = ("slab_slab", "slab_pencil", "pencil_pencil", "same_parts")
EVERYTHING = (*WORKLOADS, *REPARTITIONS, *APPS, *MESSAGES, *OVERHEADS)


def available_cores():
    """The cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def prepare(device, threads):
    """Gives every library the same device and threads. Only works before they are imported."""
    os.environ["PEERS_DEVICE"] = os.environ["JAX_PLATFORMS"] = device
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"  # the GPU is shared with the benchmark itself
    if hasattr(os, "sched_setaffinity"):  # XLA sizes its pool by the cores it may use
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    for name in ("NUMBA_NUM_THREADS", "NUMEXPR_NUM_THREADS", "NUMEXPR_MAX_THREADS", "OMP_NUM_THREADS"):
        os.environ[name] = str(threads)
    os.environ["OMP_WAIT_POLICY"] = "passive"  # workers that spin would slow the next peer down
    flags = f"--xla_cpu_multi_thread_eigen={'true' if threads > 1 else 'false'}"
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {flags}".strip()


class Bound:
    """One workload in one type, and every peer's way to run it."""

    def __init__(self, name, dtype, sizes, peers):
        self.name, self.dtype = name, dtype
        self.job = make_job(name, dtype, sizes)
        self.runs, self.errors, self.without = {}, {}, {}
        for peer, module in peers.items():
            self.bind(peer, module)

    def bind(self, peer, module):
        try:
            bind = loaded(module)[peer]
            run = bind(self.job) if self.job.offered else None
            if run is None:
                self.without[peer] = {"skipped": "not offered"}
                return
            self.errors[peer] = checked(self.job, run)
            self.runs[peer] = run
        except ImportError as reason:
            self.without[peer] = {"skipped": first_line(reason)}
        except Exception as reason:  # of any library, none of which may end the others' measurements
            self.without[peer] = {"failed": f"{type(reason).__name__}: {first_line(reason)}"}

    def measure(self, repeats, seconds):
        """All peers in turn, `repeats` times round or until a peer has had its seconds."""
        times, spent = {peer: [] for peer in self.runs}, dict.fromkeys(self.runs, 0.0)
        for _ in range(repeats):
            for peer, run in self.runs.items():
                if times[peer] and spent[peer] >= seconds:
                    continue
                start = time.perf_counter()
                run()
                spent[peer] += (taken := time.perf_counter() - start)
                times[peer].append(taken * getattr(run, "share", 1.0))
        timed = {peer: {"timed": {"seconds": s, "error": self.errors[peer]}} for peer, s in times.items()}
        return timed | self.without


LOADED = {}  # the contenders of each file, or why it cannot be loaded


def loaded(module):
    """Loads a file once: a library that failed to load says something else the second time."""
    if module not in LOADED:
        try:
            LOADED[module] = importlib.import_module(module).CONTENDERS
        except Exception as reason:  # libraries fail in many ways where a part of them is missing
            LOADED[module] = ImportError(first_line(reason))
    if isinstance(LOADED[module], ImportError):
        raise LOADED[module]
    return LOADED[module]


def first_line(reason):
    return (str(reason).strip().splitlines() or [type(reason).__name__])[0][:300]


def make_job(name, dtype, sizes):
    from apps import APPS as apps
    from apps import AppJob, MoveJob
    from data import Job
    from messages import MessageJob
    from overheads import OverheadJob

    if name in WORKLOADS:
        return Job(WORKLOADS[name], sizes, dtype)
    if name in MESSAGES:
        return MessageJob(name)
    if name in OVERHEADS:
        return OverheadJob(name, dtype)
    return AppJob(apps[name], sizes, dtype) if name in apps else MoveJob(name, sizes, dtype)


def checked(job, run):
    """Warms up and compares with f64; programs after a few steps."""
    if job.kind == "app":
        from apps import CHECKED_STEPS

        before = None
        for step in range(CHECKED_STEPS):
            state = run()
            before = before if step + 1 == CHECKED_STEPS else [on_host(array).copy() for array in state]
        return job.check(before, [on_host(array) for array in state])
    if job.kind == "message":
        return job.check(run)
    run()
    job.spoil()
    return job.check([on_host(array) for array in run()])


def on_host(result):
    """A result of any library as a NumPy array."""
    import numpy as np

    for method in ("get", "cpu"):  # CuPy's and PyTorch's ways
        if hasattr(result, method):
            result = getattr(result, method)()
    return np.asarray(result)


class Bench:
    """The peers that were asked for, bound to one workload at a time, because arrays are large."""

    def __init__(self, sizes, device, only=None):
        peers = CUDA if device == "cuda" else CPU
        self.peers = {peer: module for peer, module in peers.items() if only is None or peer in only}
        self.sizes, self.bound = sizes, None

    def measure(self, name, dtype, repeats, seconds):
        if self.bound is None or (self.bound.name, self.bound.dtype) != (name, dtype):
            self.bound = None  # its memory first
            self.bound = Bound(name, dtype, self.sizes, self.peers)
        return self.bound.measure(repeats, seconds)


def versions():
    """What was installed, by distribution; None for what is missing."""
    found = {"python": sys.version.split()[0]}
    for name in LIBRARIES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = None
    return found


def probe():
    """Every formula's values for cells that are a function of array and offset, and how many it has."""

    def cell(array, offset=(0, 0, 0)):
        z, y, x = offset
        return 1.5 + math.sin(7.0 * array + 1.1 * z + 2.3 * y + 3.7 * x)

    import formulas

    sizes = Sizes(1000, 100, 20)
    shown = {name: w.formula(cell, math) for name, w in WORKLOADS.items()}
    shown |= {name: getattr(formulas, name)(cell, math) for name in ("jacobi", "minus_laplacian")}
    counted = {name: [w.bytes(sizes, dtype) for dtype in DTYPES] for name, w in WORKLOADS.items()}
    return {"values": shown, "bytes": counted, "names": EVERYTHING}


def serve(bench):
    """Answers until the input ends: {"peers": {peer: {"timed" | "skipped" | "failed"}}} or {"error"}."""
    print(json.dumps({"versions": versions(), "workloads": EVERYTHING}), flush=True)
    for line in sys.stdin:
        try:
            name, dtype, repeats, seconds = line.split()
            if name not in EVERYTHING or dtype not in DTYPES:
                raise ValueError(
                    f"no workload is called {name!r} {dtype!r}; there are {', '.join(EVERYTHING)}"
                )
            answer = {"peers": bench.measure(name, dtype, positive(repeats), float(seconds))}
        except (ValueError, MemoryError, argparse.ArgumentTypeError) as reason:
            answer = {"error": first_line(reason)}
        print(json.dumps(answer), flush=True)


def positive(text):
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, not {value}")
    return value


def words(known):
    def parse(text):
        for name in (names := text.split(",")):
            if name not in known:
                raise argparse.ArgumentTypeError(f"nothing is called {name!r}; there are {', '.join(known)}")
        return names

    return parse


def parse(arguments):
    parser = argparse.ArgumentParser("peers", description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=positive, default=1 << 26, help="elements of one-dimensional arrays")
    parser.add_argument("--plane", type=positive, default=1 << 13, help="extent of two-dimensional arrays")
    parser.add_argument("--cube", type=positive, default=512, help="extent of three-dimensional arrays")
    parser.add_argument("--threads", type=positive, default=available_cores(), help="the same for every peer")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="where the peers compute")
    parser.add_argument("--dtype", type=words(DTYPES), default=["f32"], help="f16, f32, f64")
    parser.add_argument("--only", type=words(EVERYTHING), default=list(EVERYTHING), help="workloads")
    parser.add_argument("--peers", type=words({**CPU, **CUDA}), help="some peers, instead of all")
    parser.add_argument("--repeat", type=positive, default=9, help="timed rounds")
    parser.add_argument("--seconds", type=float, default=5.0, help="enough for one peer and workload")
    parser.add_argument("--json", action="store_true", help="end with one line of JSON")
    parser.add_argument("--serve", action="store_true", help="answer requests on stdin")
    parser.add_argument("--probe", action="store_true", help="print what the formulas give")
    options = parser.parse_args(arguments)
    if options.cube < 9 or options.plane < 3 or options.n < 3:
        parser.error("the widest stencil needs --cube of at least 9; --plane and --n are at least 3")
    return options


def show(name, dtype, bench, answers):
    """One line per peer, the fastest first."""
    medians = {p: statistics.median(a["timed"]["seconds"]) for p, a in answers.items() if "timed" in a}
    for peer, median in sorted(medians.items(), key=lambda item: item[1]):
        timed = answers[peer]["timed"]
        speed = bench.bound.job.bytes / median / 1e9
        print(
            f"{name:14}{dtype:4} {peer:17}{1e3 * median:11.4f} ms{speed:9.2f} GB/s {timed['error']:8.0e}"
        )
    for peer, answer in answers.items():
        for what in ("skipped", "failed"):
            if what in answer:
                print(f"{name:14}{dtype:4} {peer:17}{what}: {answer[what]}")


def main():
    options = parse(sys.argv[1:])
    if options.probe:
        return print(json.dumps(probe()))
    prepare(options.device, options.threads)
    if importlib.util.find_spec("numpy") is None:
        sys.exit("peers: NumPy is needed to make the inputs and to check results")
    bench = Bench(Sizes(options.n, options.plane, options.cube), options.device, options.peers)
    if options.serve:
        return serve(bench)
    results = {}
    for name in options.only:
        for dtype in options.dtype if name not in (*MESSAGES, *OVERHEADS) else ["f32"]:
            answers = bench.measure(name, dtype, options.repeat, options.seconds)
            show(name, dtype, bench, answers)
            results[f"{name} {dtype}"] = answers
    if options.json:
        print(json.dumps(results))


if __name__ == "__main__":
    main()
