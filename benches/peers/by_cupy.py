"""CuPy, in every way it offers: ufuncs with `out=`, fuse, ElementwiseKernel, RawKernel, and CUB for folds."""

import cupy as cp

from apps import NumpyLibrary
from by_numpy import Program
from cuda_text import c_lines, raw_kernel
from overheads import exchange
from ufuncs import ufunc_calls

try:
    cp.cuda.runtime.getDeviceCount()
except cp.cuda.runtime.CUDARuntimeError as reason:
    raise ImportError(f"CuPy finds no CUDA device: {reason}") from reason


def waited(run):
    def call():
        result = run()
        cp.cuda.get_current_stream().synchronize()
        return result

    return call


def arrays(job):
    """Inputs and outputs on the GPU, and the outputs' windows that are computed."""
    outputs = [cp.asarray(output) for output in job.outputs]
    for target in job.targets(outputs):
        target.fill(cp.nan)
    return [cp.asarray(a) for a in job.inputs], outputs, job.targets(outputs)


def bind_ufuncs(job):
    match job.kind:
        case "workload" if job.workload.folds:
            return bind_fold(job, ["cutensor"])  # CuPy's own reductions
        case "workload":
            inputs, outputs, targets = arrays(job)
            run = ufunc_calls(job, cp, inputs, targets, cp.empty, cp.copyto)
            return waited(lambda: run() or outputs)
        case "app":
            return waited(Program(job, NumpyLibrary(cp), cp.array))
        case "move":
            view, output = cp.asarray(job.given).transpose(job.axes), cp.asarray(job.output)
            return waited(lambda: cp.copyto(output, view) or [output])
        case "overhead" if job.exchanges:
            return exchange(job, [cp.asarray(array) for array in job.inputs], cp.from_dlpack, cp.asnumpy)
    return None


def bind_cub(job):
    return bind_fold(job, ["cub"]) if job.kind == "workload" and job.workload.folds else None


def bind_fold(job, accelerators):
    """Over everything or one axis, by CUB or by CuPy's own kernels."""
    a, axes = cp.asarray(job.inputs[0]), job.workload.axes or None
    square = cp.empty_like(a) if job.workload.then == "norm" else None

    def fold():
        match job.workload.then:
            case "max":
                return [a.max()]
            case "sum":
                return [a.sum(axis=axes, dtype=job.result_type)]
            case "norm":
                return [cp.sqrt(cp.multiply(a, a, out=square).sum(dtype=job.result_type))]

    def call():
        cp._core.set_routine_accelerators(accelerators)
        cp._core.set_reduction_accelerators(accelerators)
        return fold()

    return waited(call)


def bind_fuse(job):
    """One kernel of a function over whole arrays; the functions that a stencil reads are views."""
    if job.kind != "workload" or job.workload.folds or job.workload.outputs > 1:
        return None
    inputs, outputs, (target,) = arrays(job)
    windows, cells = job.windows(inputs), [s for s in job.trace.steps if s.op == "cell"]
    order = {step.arguments: k for k, step in enumerate(cells)}
    names = ", ".join(f"x{k}" for k in range(len(cells)))
    space = {"formula": job.workload.formula, "order": order, "cp": cp}
    # cp.fuse counts the arguments of a function, so their number is written out.
    exec(
        f"def fused({names}):\n values = ({names},)\n"
        " return formula(lambda a, by=(0, 0, 0): values[order[a, by]], cp)[0]\n",
        space,
    )
    fused = cp.fuse(space["fused"], kernel_name=job.name)
    views = [windows(*step.arguments) for step in cells]
    if job.name == "copy":
        return None  # a function that returns its argument is no kernel
    result = [target]

    def call():
        result[0] = fused(*views)  # it makes its own output, from CuPy's pool
        return result if job.workload.then != "assign" else (cp.copyto(target, result[0]) or outputs)

    return waited(call)


def bind_elementwise(job):
    """ElementwiseKernel over views."""
    if job.kind != "workload" or job.workload.folds:
        return None
    inputs, outputs, targets = arrays(job)
    windows, views, names = job.windows(inputs), [], []

    def cell(array, offset):
        views.append(windows(array, offset))
        names.append(f"T x{len(names)}")
        return names[-1][2:]

    lines, values = c_lines(job.trace, cell, job.dtype)
    results = [f"T y{k}" for k in range(len(targets))]
    text = lines + [f"y{k} = static_cast<T>({value});" for k, value in enumerate(values)]
    preamble = "#include <cuda_fp16.h>" if job.dtype == "f16" else ""
    kernel = cp.ElementwiseKernel(
        ", ".join(names), ", ".join(results), "\n".join(text), job.name, preamble=preamble
    )
    return waited(lambda: kernel(*views, *targets) and None or outputs)


def bind_raw(job):
    """RawKernel: one thread per cell, 32-bit indices, as one writes it by hand."""
    if job.kind != "workload" or job.workload.folds:
        return None
    inputs, outputs, targets = arrays(job)
    text, grid, block = raw_kernel(job)
    kernel = cp.RawKernel(text, job.name, options=("-std=c++17",))
    arguments = (*inputs, *outputs)
    return waited(lambda: kernel(grid, block, arguments) or outputs)


CONTENDERS = {
    "cupy": bind_ufuncs,
    "cupy.fuse": bind_fuse,
    "cupy.Elementwise": bind_elementwise,
    "cupy.RawKernel": bind_raw,
    "cub": bind_cub,
}
