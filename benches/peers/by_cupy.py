"""CuPy, in every way it offers: ufuncs with `out=`, fuse, ElementwiseKernel, RawKernel, and CUB for folds."""

import cupy as cp

from apps import NumpyLibrary
from by_numpy import Program
from cuda_text import c_lines, raw_kernel
from overheads import exchange
from ufuncs import fold_of, ufunc_calls

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


def on_gpu(job, arrays):
    """Inputs and outputs on the GPU, and the outputs' windows that are computed."""
    outputs = [cp.asarray(output) for output in arrays.outputs]
    return [cp.asarray(a) for a in arrays.inputs], outputs, job.targets(outputs)


def bind_ufuncs(job):
    match job.kind:
        case "workload" if job.workload.folds:
            return bind_fold(job, ["cutensor"])  # CuPy's own reductions
        case "workload":
            calls = ufunc_calls(job, cp, cp.empty, cp.copyto)
            return lambda arrays: run_of(calls, *on_gpu(job, arrays))
        case "app":
            return waited(Program(job, NumpyLibrary(cp), cp.array))
        case "move":
            view, output = cp.asarray(job.given).transpose(job.axes), cp.asarray(job.output)
            return waited(lambda: cp.copyto(output, view) or [output])
        case "overhead" if job.exchanges:
            return exchange(job, [cp.asarray(array) for array in job.inputs], cp.from_dlpack, cp.asnumpy)
    return None


def run_of(calls, inputs, outputs, targets):
    run = calls(inputs, targets)
    return waited(lambda: run() or outputs)


def bind_cub(job):
    """Where there is one input: CUB has no dot product."""
    if job.kind != "workload" or not job.workload.folds or job.workload.inputs > 1:
        return None
    return bind_fold(job, ["cub"])


def bind_fold(job, accelerators):
    """By CUB, or by CuPy's own kernels; its dot product is cuBLAS's."""
    fold = fold_of(job, cp)

    def of(arrays):
        inputs = [cp.asarray(array) for array in arrays.inputs]

        def call():
            cp._core.set_routine_accelerators(accelerators)
            cp._core.set_reduction_accelerators(accelerators)
            return fold(*inputs)

        return waited(call)

    return of


def bind_fuse(job):
    """One kernel of a function over whole arrays; the functions that a stencil reads are views."""
    if job.kind != "workload" or job.workload.folds or job.workload.outputs > 1:
        return None
    if job.name == "copy":
        return None  # a function that returns its argument is no kernel
    cells = [step.arguments for step in job.trace.steps if step.op == "cell"]
    order = {place: k for k, place in enumerate(cells)}
    names = ", ".join(f"x{k}" for k in range(len(cells)))
    space = {"formula": job.workload.formula, "order": order, "cp": cp}
    # cp.fuse counts the arguments of a function, so their number is written out.
    exec(
        f"def fused({names}):\n values = ({names},)\n"
        " return formula(lambda a, by=(0, 0, 0): values[order[a, by]], cp)[0]\n",
        space,
    )
    fused = cp.fuse(space["fused"], kernel_name=job.name)

    def of(arrays):
        inputs, outputs, (target,) = on_gpu(job, arrays)
        windows = job.windows(inputs)
        views = [windows(*place) for place in cells]

        def call():
            result = fused(*views)  # it makes its own output, from CuPy's pool
            return [result] if job.workload.then != "assign" else (cp.copyto(target, result) or outputs)

        return waited(call)

    return of


def bind_elementwise(job):
    """ElementwiseKernel over views."""
    if job.kind != "workload" or job.workload.folds:
        return None
    cells = []

    def cell(array, offset):
        cells.append((array, offset))
        return f"x{len(cells) - 1}"

    lines, values = c_lines(job.trace, cell, job.dtype)
    text = lines + [f"y{k} = static_cast<T>({value});" for k, value in enumerate(values)]
    kernel = cp.ElementwiseKernel(
        ", ".join(f"T x{k}" for k in range(len(cells))),
        ", ".join(f"T y{k}" for k in range(len(values))),
        "\n".join(text),
        job.name,
        preamble="#include <cuda_fp16.h>" if job.dtype == "f16" else "",
    )

    def of(arrays):
        inputs, outputs, targets = on_gpu(job, arrays)
        windows = job.windows(inputs)
        operands = *(windows(*place) for place in cells), *targets
        return waited(lambda: kernel(*operands) and None or outputs)

    return of


def bind_raw(job):
    """RawKernel: one thread per cell, 32-bit indices, as one writes it by hand."""
    if job.kind != "workload" or job.workload.folds:
        return None
    text, grid, block = raw_kernel(job)
    kernel = cp.RawKernel(text, job.name, options=("-std=c++17",))

    def of(arrays):
        inputs, outputs, _ = on_gpu(job, arrays)
        operands = (*inputs, *outputs)
        return waited(lambda: kernel(grid, block, operands) or outputs)

    return of


CONTENDERS = {
    "cupy": bind_ufuncs,
    "cupy.fuse": bind_fuse,
    "cupy.Elementwise": bind_elementwise,
    "cupy.RawKernel": bind_raw,
    "cub": bind_cub,
}
