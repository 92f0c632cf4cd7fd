"""CUDA C text of the formulas, for the peers that compile it.

f16 is read and written as it is and computed in f32.
"""

from flat import axes, input_place, output_place

TYPES = {"f16": "__half", "f32": "float", "f64": "double"}
COMPUTED = {"f16": "float", "f32": "float", "f64": "double"}


def c_lines(trace, cell, dtype):
    """Statements that compute the formula, and the names of its values."""
    real = COMPUTED[dtype]
    suffix = "f" if real == "float" else ""
    lines, values = trace.lines(
        cell=lambda *place: f"static_cast<{real}>({cell(*place)})",
        number=lambda value: f"{value!r}{suffix}",
        call=lambda function, argument: f"{function}{suffix}({argument})",
    )
    return [f"const {real} {name} = {text};" for name, text in lines], values


def raw_kernel(job):
    """Text, grid and block of a kernel with one thread per computed cell, inputs before outputs."""
    workload, real, names = job.workload, TYPES[job.dtype], axes(job.workload)
    lines, values = c_lines(job.trace, lambda k, by: f"a{k}[{input_place(job, k, by)}]", job.dtype)
    parameters = [f"const {real}* __restrict__ a{k}" for k in range(workload.inputs)]
    parameters += [f"{real}* __restrict__ o{k}" for k in range(workload.outputs)]
    text = ["#include <cuda_fp16.h>"] if job.dtype == "f16" else []
    text.append(f'extern "C" __global__ void {job.name}({", ".join(parameters)}) {{')
    for axis, d in zip(reversed(names), "xyz"):
        text.append(f"const int {axis} = blockIdx.{d} * blockDim.{d} + threadIdx.{d};")
    text.append(f"if ({' || '.join(f'{axis} >= {n}' for axis, n in zip(names, job.inner))}) return;")
    text += lines
    text += [f"o{k}[{output_place(job, k)}] = static_cast<{real}>({value});" for k, value in enumerate(values)]
    block = {1: (256,), 2: (64, 4), 3: (64, 4, 1)}[workload.rank]
    grid = tuple(-(-n // b) for n, b in zip(reversed(job.inner), block))
    return "\n".join([*text, "}"]), grid, block
