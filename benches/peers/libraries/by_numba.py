"""numba: parallel loops into preallocated outputs, with NumPy's rules for division.

The loops' bodies are the formulas, written out; no fastmath but for sums, which may be reordered. It has
no f16 on the CPU.
"""

import os

import numba
import numpy as np

import kept
from data import BLOCK

REORDERED = {"reassoc", "nsz"}


def warm(peer):
    """Loads the compiler, and starts no thread: forks come after this."""
    numba.njit(lambda a: a[0] + 1)(np.zeros(1))


def bind(job):
    if job.dtype == "f16":
        return None
    match job.kind:
        case "workload":
            return bind_fold(job) if job.workload.folds else bind_workload(job)
        case "app" if job.name != "gradients":
            return bind_app(job)
        case "move":
            return bind_move(job)
    return None


def jit(text, name, numbers, fastmath=False):
    """Compiles a function from its text, or finds it compiled; then its numbers are the same, too."""
    space, path = {"__name__": __name__, "np": np, "prange": numba.prange, **numbers}, None
    if where := os.environ.get("NUMBA_CACHE_DIR"):
        path = kept.text_file(where, text, ".py", name, sorted(numbers.items()), fastmath)
    exec(compile(text, path or "<text>", "exec"), space)  # noqa: S102: our own text
    options = {"fastmath": fastmath, "error_model": "numpy", "cache": path is not None}
    return numba.njit(parallel=True, **options)(space[name])


def body(trace, formula_type, shapes, rank, reach):
    """Lines that compute the formula at the inner cell (z, y, x), the names of its values, and its numbers."""
    numbers = {}
    made = np.dtype(formula_type).type
    axes = "zyx"[3 - rank :]

    def cell(array, offset):
        shifts = [reach + by for by in offset[3 - rank :]]
        places = [f"{a} + {by}" if by else a for a, by in zip(axes, shifts)]
        places = ["0" if n == 1 else place for place, n in zip(places, shapes[array])]
        return f"a{array}[{', '.join(places)}]"

    def number(value):  # as a literal it would be f64, and with it everything else
        name = f"k{len(numbers)}"
        numbers[name] = made(value)
        return name

    lines, outputs = trace.lines(cell, number, lambda f, argument: f"np.{f}({argument})")
    return [f"{name} = {text}" for name, text in lines], outputs, numbers


def kernel(trace, job_type, shapes, rank, reach, is_whole, outputs, extra=()):
    """A loop nest over the inner cells. An output is as large as these, or `is_whole`, as the inputs."""
    lines, values, numbers = body(trace, job_type, shapes, rank, reach)
    axes = "zyx"[3 - rank :]
    arrays = [f"a{k}" for k in range(len(shapes))] + [f"o{k}" for k in range(outputs)]
    text = (
        [f"def run({', '.join(arrays)}):", " change = np.float64(0)"]
        if extra
        else [f"def run({', '.join(arrays)}):"]
    )
    # From 0 on, and with offsets that are not negative: then numba sees that no index is, and vectorises.
    for depth, axis in enumerate(axes):
        loop = "prange" if depth == 0 else "range"
        less = f" - {2 * reach}" if is_whole and reach else ""
        text.append(f"{' ' * (depth + 1)}for {axis} in {loop}(o0.shape[{depth}]{less}):")
    indent = " " * (rank + 1)
    place = ", ".join(f"{axis} + {reach}" if is_whole and reach else axis for axis in axes)
    text += [indent + line for line in lines]
    text += [f"{indent}o{k}[{place}] = {value}" for k, value in enumerate(values)]
    text += [indent + line.format(value=values[0]) for line in extra]
    if extra:
        text.append(" return change")
    return jit("\n".join(text) + "\n", "run", numbers, REORDERED if extra else False)


def bind_workload(job):
    workload = job.workload
    shapes = workload.seen_shapes
    # An array that keeps its faces is written where it is: its inside alone would be a loop over strides.
    keeps = workload.then == "assign" and workload.reach > 0
    run = kernel(job.formula, job.type, shapes, workload.rank, workload.reach, keeps, workload.outputs)

    def of(arrays):
        operands = *job.seen(arrays.inputs), *(arrays.outputs if keeps else job.targets(arrays.outputs))
        return lambda: run(*operands) or arrays.outputs

    return of


def total(name, arguments, value, then=""):
    """A sum of `value`, whose braces are arrays: in their type within a block, in f64 between blocks."""
    in_block = " ".join(f"{a}_block = {a}[{BLOCK} * block:{BLOCK} * block + {BLOCK}];" for a in arguments)
    return f"""
def {name}({", ".join(arguments)}):
    blocks = a.size // {BLOCK}
    total = np.float64(0)
    for i in range(blocks * {BLOCK}, a.size):
        total += {value.format(*arguments)}
    for block in prange(blocks):
        part = zero
        {in_block}
        for i in range({BLOCK}):
            part += {value.format(*(f"{a}_block" for a in arguments))}
        total += part
    return {then}(total)
"""


TOTALS = (
    total("sum", "a", "{}[i]")
    + total("norm", "a", "{0}[i] * {0}[i]", "np.sqrt")
    + total("dot", "ab", "{}[i] * {}[i]")
)
FOLDS = """
def largest_of(a):
    largest = a[0]
    for i in prange(a.size):
        largest = max(largest, a[i])
    return largest

def sum_rows(a, out):
    for y in prange(a.shape[0]):
        part = zero
        for x in range(a.shape[1]):
            part += a[y, x]
        out[y] = part

def sum_columns(a, out):
    strips = (a.shape[1] + 1023) // 1024
    for strip in prange(strips):
        first, last = strip * 1024, min(strip * 1024 + 1024, a.shape[1])
        sums = out[first:last]
        sums[:] = zero
        for y in range(a.shape[0]):
            row = a[y, first:last]
            for x in range(last - first):
                sums[x] += row[x]
"""


def bind_fold(job):
    fastmath = False if job.workload.then == "max" else REORDERED
    # No exact sum: as for the other libraries, the plain one stands beside it.
    name = {"max": "largest_of", "sum_exact": "sum"}.get(job.name, job.name)
    run = jit(TOTALS + FOLDS, name, {"zero": np.dtype(job.type).type(0)}, fastmath)
    if not job.workload.axes:
        return lambda arrays: lambda: [run(*arrays.inputs)]
    return lambda arrays: lambda: run(*arrays.inputs, *arrays.outputs) or arrays.outputs


def bind_app(job):
    """Two sets of arrays that change places; the norm is summed in the same loop."""
    arrays = [array for array in job.state if array.ndim]
    shapes = [array.shape for array in arrays]
    outputs = 2 if job.name == "reaction" else 1
    change = "({value} - a0[y + 1, x + 1])"
    extra = (f"change += {change} * {change}",) if job.name == "jacobi" else ()
    run = kernel(job.app.formula, job.type, shapes, job.app.rank, job.app.reach, True, outputs, extra)
    now = [array.copy() for array in arrays]
    after = [array.copy() for array in arrays[:outputs]]

    def call():
        nonlocal now, after
        if job.name == "shot":  # a cell of the field before is read once, where the new one is written
            run(*now, now[1])
            now = [now[1], now[0], now[2]]
            return now
        norm = run(*now, *after)
        now, after = after, now
        return [*now, np.float64(norm)] if extra else now

    return call


MOVES = """
def move(a, out):
    for block in prange(out.shape[0]):
        out[block] = a[block]
"""


def bind_move(job):
    run = jit(MOVES, "move", {})
    view = job.given.transpose(job.axes)

    def call():
        run(view, job.output)
        return [job.output]

    return call


CONTENDERS = {"numba": bind}
