"""CuPy: ufuncs with `out=`, RawKernel, and CUB for folds."""

import cupy as cp

from apps import NumpyLibrary
from by_numpy import Program, fold_of, ufunc_calls

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


TYPES = {"f16": "__half", "f32": "float", "f64": "double"}


def raw_kernel(job):
    """Text, grid and block of a kernel with one thread per computed cell, inputs before outputs."""
    workload, real, names = job.workload, TYPES[job.dtype], "zyx"[3 - job.workload.rank :]
    computed = "double" if real == "double" else "float"  # f16 is read and written as it is
    suffix = "f" if computed == "float" else ""
    lines, values = job.formula.lines(
        cell=lambda k, by: f"static_cast<{computed}>(a{k}[{workload.input_place(k, by)}])",
        number=lambda value: f"{value!r}{suffix}",
        call=lambda function, argument: f"{function}{suffix}({argument})",
    )
    parameters = [f"const {real}* __restrict__ a{k}" for k in range(workload.inputs)]
    parameters += [f"{real}* __restrict__ o{k}" for k in range(workload.outputs)]
    text = ["#include <cuda_fp16.h>"] if job.dtype == "f16" else []
    text.append(f'extern "C" __global__ void {job.name}({", ".join(parameters)}) {{')
    for axis, d in zip(reversed(names), "xyz"):
        text.append(f"const int {axis} = blockIdx.{d} * blockDim.{d} + threadIdx.{d};")
    text.append(f"if ({' || '.join(f'{axis} >= {n}' for axis, n in zip(names, job.inner))}) return;")
    text += [f"const {computed} {name} = {value};" for name, value in lines]
    text += [f"o{k}[{workload.output_place(k)}] = static_cast<{real}>({value});" for k, value in enumerate(values)]
    block = {1: (256,), 2: (64, 4), 3: (64, 4, 1)}[workload.rank]
    grid = tuple(-(-n // b) for n, b in zip(reversed(job.inner), block))
    return "\n".join([*text, "}"]), grid, block


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
    "cupy.RawKernel": bind_raw,
    "cub": bind_cub,
}
