"""Triton: one kernel per formula over blocks of 1024 cells of rows, and folds in two passes.

A kernel is text in a file, because Triton reads its source.
"""

import atexit
import importlib.util
import os
import shutil
import tempfile
from math import prod

import torch
import triton

BLOCK = 1024
FOLDER = tempfile.mkdtemp(prefix="peers-triton-")
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)


def bind(job):
    if job.kind != "workload":
        return None
    if not torch.cuda.is_available():
        raise ImportError("PyTorch finds no CUDA device")
    if job.workload.folds:
        return bind_fold(job)
    kernel = compiled(kernel_text(job), job.name, job.dtype)
    grid = (triton.cdiv(job.inner[-1], BLOCK) * prod(job.inner[:-1]),)

    def of(arrays):
        inputs = [torch.tensor(array, device="cuda") for array in arrays.inputs]
        outputs = [torch.tensor(array, device="cuda") for array in arrays.outputs]

        def call():
            kernel[grid](*inputs, *outputs, BLOCK=BLOCK)
            torch.cuda.synchronize()
            return outputs

        return call

    return of


def compiled(text, name, dtype):
    path = os.path.join(FOLDER, f"{name}_{dtype}.py")
    with open(path, "w", encoding="ascii") as file:
        file.write(text)
    spec = importlib.util.spec_from_file_location(f"{name}_{dtype}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.kernel


HEAD = "import triton\nimport triton.language as tl\n\n\n@triton.jit\n"
COMPUTED = {"f16": "tl.float32", "f32": "tl.float32", "f64": "tl.float64"}


def kernel_text(job):
    """A program computes a piece of a row; (z, y) is the row."""
    workload, inner, real = job.workload, job.inner, COMPUTED[job.dtype]
    arrays = [f"a{k}" for k in range(workload.inputs)] + [f"o{k}" for k in range(workload.outputs)]

    def cell(array, offset):
        is_one = workload.shapes[array][-1] == 1
        mask = "" if is_one else ", inside, 1.0"
        return f"tl.load(a{array} + {workload.input_place(array, offset)}{mask}).to({real})"

    lines, values = job.formula.lines(cell, repr, lambda f, argument: f"tl.{f}({argument})")
    text = [f"def kernel({', '.join(arrays)}, BLOCK: tl.constexpr):"]
    # Along one axis of the grid, because CUDA's others end at 65535.
    pieces = triton.cdiv(inner[-1], BLOCK)
    text.append(f"x = tl.program_id(0) % {pieces} * BLOCK + tl.arange(0, BLOCK)")
    text += [f"inside = x < {inner[-1]}", f"row = tl.program_id(0) // {pieces}"]
    if workload.rank == 2:
        text.append("y = row")
    if workload.rank == 3:
        text += [f"z = row // {inner[1]}", f"y = row % {inner[1]}"]
    text += [f"{name} = {line}" for name, line in lines]
    text += [f"tl.store(o{k} + {workload.output_place(k)}, {value}, inside)" for k, value in enumerate(values)]
    return HEAD + "\n    ".join(text) + "\n"


FOLD = """def kernel(a, out, n, BLOCK: tl.constexpr):
    first = tl.program_id(0).to(tl.int64) * {many} * BLOCK
    total = tl.full((BLOCK,), {start}, {real})
    for part in range({many}):
        at = first + part * BLOCK + tl.arange(0, BLOCK)
        value = tl.load(a + at, at < n, {start}).to({real})
        total = {add}
    tl.store(out + tl.program_id(0), tl.{fold}(total, 0))
"""
MANY = 16  # blocks of one program


def bind_fold(job):
    """Over everything: one number per program, then PyTorch folds those. Along an axis, or of two arrays: not
    offered."""
    kind = job.workload.then
    if job.workload.axes or job.workload.inputs > 1:
        return None
    is_max = kind == "max"
    value = "value * value" if kind == "norm" else "value"
    words = {
        "many": MANY,
        "real": COMPUTED[job.dtype],
        "start": 'float("-inf")' if is_max else "0.0",
        "add": "tl.maximum(total, value)" if is_max else f"total + {value}",
        "fold": "max" if is_max else "sum",
    }
    kernel = compiled(HEAD + FOLD.format(**words), job.name, job.dtype)
    real = torch.float64 if job.dtype == "f64" else torch.float32

    def of(arrays):
        a = torch.tensor(arrays.inputs[0], device="cuda")
        programs = triton.cdiv(a.numel(), MANY * BLOCK)
        parts = torch.empty(programs, dtype=real, device="cuda")

        def call():
            kernel[(programs,)](a, parts, a.numel(), BLOCK=BLOCK)
            result = parts.max() if is_max else parts.sum()
            result = result.sqrt() if kind == "norm" else result
            torch.cuda.synchronize()
            return [result]

        return call

    return of


CONTENDERS = {"triton": bind}
