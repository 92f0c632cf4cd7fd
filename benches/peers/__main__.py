"""Times what a user would take instead of Partita, on the same work: same bytes, same answer, checked.

    python FOLDER --serve --peers numpy [--device cpu|cuda]
    python FOLDER --serve --together --peers torch,jax [--device cpu|cuda]
    python FOLDER --list

Run by the benchmark, which unpacks these files into one folder, beside `table.json` with all formulas and extents.

`--serve` takes one turn per line of input, such as `--only triad --dtype f32 --repeat 9 --seconds 0.5 --sets 3`, and
answers each with one line of JSON. `--list` prints the peers and their workloads; it does not need NumPy.

A line that ends with `--compile` takes lists, makes every peer compile every workload, and is answered by how many did.

With `--together`, as on CUDA devices, whose driver does not survive a fork, all peers are in one process: loading a library and
compiling take longer than all turns, so everything is compiled first and timed afterwards.

Otherwise every turn is a fork of its own: no library's threads or memory are beside another's work, and a peer that dies fails
alone. On the CPU the parent has loaded the peer's library, because loading takes longer than most turns.

A turn uses as many sets of arrays as --sets says, or as it has time to warm up, but two, in rotation, so that caches
hold none of them. Times follow a warm-up, with an idle device before and after each. Every result is checked against
f64 arithmetic first. Each peer has one file, by_NAME.py, which only its own turns load.
"""

import argparse
import contextlib
import importlib
import importlib.metadata
import json
import os
import signal
import sys
import tempfile
import time
import warnings

import kept
from workloads import APPS, DTYPES, WORKLOADS

CPU = {
    "numpy": "by_numpy",
    "numba": "by_numba",
    "jax": "by_jax",
    "torch": "by_torch",
    "torch.compile": "by_torch",
    "c_nt": "by_c",
}
CUDA = {
    "cupy": "by_cupy",
    "cupy.RawKernel": "by_cupy",
    "cub": "by_cupy",
    "torch": "by_torch",
    "torch.compile": "by_torch",
    "jax": "by_jax",
    "nvcc": "by_nvcc",
}
LIBRARIES = "numpy numba jax cupy-cuda13x cupy-cuda12x torch".split()  # as they are distributed
OVERHEADS = ("record", "flush")
REPARTITIONS = ("slab_slab", "slab_pencil", "pencil_pencil", "slab_slab_c")
EVERYTHING = (*WORKLOADS, *REPARTITIONS, *APPS, *OVERHEADS)
OFFERED = {"c_nt": ("copy",)}  # others: everything
TIMEOUT = 600  # seconds, for one turn
LEAST = 3  # runs of a turn


def available_cores():
    """The cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def prepare(device, threads):
    """Gives every library the same device and threads. Only works before they are imported."""
    os.environ["PEERS_DEVICE"] = os.environ["JAX_PLATFORMS"] = device
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"  # the GPU is shared with the benchmark itself
    if hasattr(os, "sched_setaffinity"):  # XLA sizes its pool by the cores it may use
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    for name in ("NUMBA_NUM_THREADS", "OMP_NUM_THREADS"):
        os.environ[name] = str(threads)
    kept.prepare()
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"  # no compiler processes beside the work
    flags = f"--xla_cpu_multi_thread_eigen={'true' if threads > 1 else 'false'}"
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {flags}".strip()


def binding(peer, device):
    """The function by which a peer binds a job, or why there is none."""
    try:
        return importlib.import_module((CUDA if device == "cuda" else CPU)[peer]).CONTENDERS[peer]
    except Exception as reason:  # libraries fail in many ways where a part of them is missing
        return {"skipped": first_line(reason)}


def turn(peer, name, dtype, device, repeats, seconds, sets=1):
    """One peer's times at one workload, or why there are none."""
    bind = binding(peer, device)
    if isinstance(bind, dict):
        return bind
    try:
        job, bound = bound_job(bind, name, dtype)
        if bound is None:
            return {"skipped": "not offered"}
        if job.kind == "workload":
            return {"timed": in_turns(job, bound, repeats, seconds, sets)}
        error = checked(job, bound)
        return {"timed": {"seconds": times_of(bound, repeats, seconds), "error": error}}
    except ImportError as reason:
        return {"skipped": first_line(reason)}
    except Exception as reason:  # of any library: it is the peer's failure, whatever it is
        return {"failed": f"{type(reason).__name__}: {first_line(reason)}"}


COMPILED = {}  # jobs, each with what a peer made of it, by peer, workload and type


def bound_job(bind, name, dtype):
    """A job, and what the peer made of it; nothing where it does not offer this."""
    if (bind, name, dtype) in COMPILED:
        return COMPILED[bind, name, dtype]
    job = make_job(name, dtype)
    return job, bind(job) if job.offered else None


def compile_all(options):
    """Runs every workload by every peer once; those that fail do so again in their turn, which says why."""
    count = 0
    for name in (name for name in options.only if name in WORKLOADS):
        for dtype in options.dtype:
            for peer in (peer for peer in options.peers if name in OFFERED.get(peer, EVERYTHING)):
                bind = binding(peer, options.device)
                with contextlib.suppress(Exception):
                    job, bound = bound_job(bind, name, dtype)
                    arrays = job.arrays()
                    bound(arrays)()
                    COMPILED[bind, name, dtype] = job, bound
                    count += 1
    return {"compiled": count}


def in_turns(job, bound, repeats, seconds, sets):
    """Times of runs over one set of arrays after the other. The first result and the last are compared."""
    arrays, runs, spent, job.sets = [], [], 0.0, 0
    read = on_host if job.workload.folds else readable
    while len(runs) < min(2, sets) or (len(runs) < sets and spent < seconds):
        arrays.append(job.arrays())
        runs.append(bound(arrays[-1]))
        taken, results = timed(runs[-1])
        if len(runs) == 1:  # and compiles
            error = job.check(arrays[0], [read(array) for array in results])
        else:
            spent += taken
    times, spent, results = [], 0.0, None
    while not is_enough(len(times), spent, repeats, seconds):
        results = None  # whose memory a run may want again
        taken, results = timed(runs[len(times) % len(runs)])
        times.append(taken)
        spent += taken
    last = arrays[(len(times) - 1) % len(runs)]
    error = max(error, job.check(last, [read(array) for array in results]))
    return {"seconds": times, "error": error, "sets": len(runs)}


def is_enough(count, spent, repeats, seconds):
    """A median needs some runs, however slow, and some time, however quick they are."""
    if count < min(LEAST, repeats):
        return False
    return spent >= seconds or (count >= repeats and spent >= seconds / 4)


def times_of(run, repeats, seconds):
    """Seconds of each run: `repeats` of them, or as many as the peer has time for."""
    times, spent = [], 0.0
    while not is_enough(len(times), spent, repeats, seconds):
        times.append(timed(run)[0])
        spent += times[-1]
    return [taken * getattr(run, "share", 1.0) for taken in times]


def timed(run):
    """The seconds that a run takes, and its results."""
    start = time.perf_counter()
    results = run()
    return time.perf_counter() - start, results


def expendable():
    """Where memory runs out, the system ends this process and no other; a peer that hangs ends by itself."""
    try:
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
            file.write("1000")
    except OSError:
        pass  # not Linux
    if hasattr(signal, "alarm"):
        signal.alarm(TIMEOUT)


def first_line(reason):
    return (str(reason).strip().splitlines() or [type(reason).__name__])[0][:300]


def make_job(name, dtype):
    from apps import AppJob, MoveJob
    from data import Job
    from overheads import OverheadJob

    if name in WORKLOADS:
        return Job(WORKLOADS[name], dtype)
    if name in OVERHEADS:
        return OverheadJob(name, dtype)
    return AppJob(APPS[name], dtype) if name in APPS else MoveJob(name, dtype)


def checked(job, run):
    """Warms up and compares with f64; programs after a few steps."""
    if job.kind == "app":
        from apps import CHECKED_STEPS

        before = None
        for step in range(CHECKED_STEPS):
            state = run()
            before = before if step + 1 == CHECKED_STEPS else [on_host(array).copy() for array in state]
        return job.check(before, [on_host(array) for array in state])
    return job.check([on_host(array) for array in run()])


def readable(result):
    """A result whose elements `data.picked` fetches, or all of it on the host."""
    return result if hasattr(result, "__dlpack__") and getattr(result, "ndim", 0) else on_host(result)


def on_host(result):
    """A result of any library as a NumPy array."""
    import numpy as np

    for method in ("get", "cpu"):  # CuPy's and PyTorch's ways
        if hasattr(result, method):
            result = getattr(result, method)()
    return np.asarray(result)


def versions():
    """What was installed, by distribution; None for what is missing."""
    found = {"python": sys.version.split()[0]}
    for name in LIBRARIES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = None
    return found


def listed(device):
    """Which peers there are, and the workloads that each may have."""
    peers = {peer: OFFERED.get(peer, EVERYTHING) for peer in (CUDA if device == "cuda" else CPU)}
    return {"versions": versions(), "peers": peers}


def serve(arguments):
    """A turn for every line of further arguments, answered by one line."""
    options = parse(arguments)
    prepare(options.device, options.threads)
    if options.together:
        import data

        data.IS_SHARED = True
    elif options.device == "cpu":  # a CUDA driver does not survive a fork
        (peer,) = options.peers
        warnings.simplefilter("ignore")  # JAX warns of forks, but nothing of it has started
        with contextlib.suppress(Exception):  # each turn reports it
            getattr(importlib.import_module(CPU[peer]), "warm", lambda peer: None)(peer)
    for line in sys.stdin:
        try:
            asked = parse([*arguments, *line.split()])
            if options.together:
                answer = compile_all(asked) if asked.compile else one_turn(asked)
            else:
                answer = in_a_fork(asked)
        except SystemExit:  # of the parser, which has said why
            answer = {"failed": f"not a turn: {line.strip()}"}
        print(json.dumps(answer), flush=True)


def in_a_fork(options):
    """What became of a turn in a fork of this process; if it died, its last words."""
    reading, writing = os.pipe()
    with open(os.devnull, "rb") as nothing, tempfile.TemporaryFile() as words:
        child = os.fork()
        if child == 0:
            for ours, number in ((nothing, 0), (words, 1), (words, 2)):  # the others are the protocol's
                os.dup2(ours.fileno(), number)
            os.write(writing, json.dumps(one_turn(options)).encode())
            os._exit(0)
        os.close(writing)
        with open(reading, encoding="ascii") as pipe:
            answer = pipe.read()
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        words.seek(0)
        try:
            return json.loads(answer)
        except ValueError:
            last = (words.read().decode(errors="replace").strip().splitlines() or ["no last words"])[-1]
            return {"failed": f"ended with {code}: {last[:300]}"}


def one_turn(options):
    """One peer at one workload."""
    (peer,), (name,), (dtype,) = options.peers, options.only, options.dtype
    if not options.together:  # a process that has nothing else to do
        expendable()
    if os.environ.get("PEERS_FAULT") == peer:  # for tests
        print(f"{peer} ends on purpose", file=sys.stderr, flush=True)
        os.kill(os.getpid(), signal.SIGKILL)
    return turn(peer, name, dtype, options.device, options.repeat, options.seconds, options.sets)


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
    parser.add_argument("--threads", type=positive, default=available_cores(), help="the same for every peer")
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu", help="where the peers compute")
    parser.add_argument("--dtype", type=words(DTYPES), default=["f32"], help="f16, f32, f64")
    parser.add_argument("--only", type=words(EVERYTHING), help="the workload of a turn")
    parser.add_argument("--peers", type=words({**CPU, **CUDA}), help="the peer")
    parser.add_argument("--repeat", type=positive, default=9, help="timed rounds")
    parser.add_argument("--seconds", type=float, default=5.0, help="enough for one peer and workload")
    parser.add_argument("--sets", type=positive, default=1, help="of arrays, which take turns")
    parser.add_argument("--serve", action="store_true", help="one peer, a turn for every line of arguments")
    parser.add_argument("--together", action="store_true", help="all peers in one process")
    parser.add_argument("--compile", action="store_true", help="run every workload by every peer once")
    parser.add_argument("--list", action="store_true", help="say which peers there are")
    return parser.parse_args(arguments)


def main():
    options = parse(sys.argv[1:])
    if options.serve:
        return serve(sys.argv[1:])
    print(json.dumps(listed(options.device)))


if __name__ == "__main__":
    main()
