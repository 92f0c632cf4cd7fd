"""PyTorch: eager, with `out=`, and compiled by TorchInductor into preallocated outputs. CPU or GPU."""

import itertools
import os
import types

import torch

from apps import NumpyLibrary
from by_numpy import Program, ufunc_calls
from overheads import Repeated


def warm(peer):
    """Loads the compiler, and starts no thread: forks come after this."""
    if peer == "torch.compile":
        torch.compile(lambda a: a + 1)(torch.zeros(4))


def device():
    name = os.environ["PEERS_DEVICE"]
    if name == "cuda" and not torch.cuda.is_available():
        raise ImportError("PyTorch finds no CUDA device")
    if name == "cpu":
        torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    return name


def wait(_=None):
    if os.environ["PEERS_DEVICE"] == "cuda":
        torch.cuda.synchronize()


def bind_eager(job):
    return bind(job, None)


COUNT = itertools.count()


def bind_compiled(job):
    return bind(job, lambda function: torch.compile(own_code(function), dynamic=False))


def own_code(function):
    """The function with code of its own: what is compiled is looked up by it, and only so often for the same."""
    code = function.__code__.replace(co_name=f"{function.__name__}_{next(COUNT)}")
    return types.FunctionType(code, function.__globals__, code.co_name, function.__defaults__, function.__closure__)


def bind(job, compiled):
    place = device()
    put = lambda array: torch.tensor(array, device=place)  # noqa: E731
    match job.kind:
        case "workload":
            return bind_workload(job, place, compiled)
        case "app":
            return Program(job, NumpyLibrary(torch), put, compiled or (lambda step: step), wait)
        case "move":
            given, output = put(job.given), put(job.output)
            move = lambda given, output: output.copy_(given.permute(job.axes))  # noqa: E731
            run = compiled(move) if compiled else move
            return waited(lambda: run(given, output) is None or [output], ())
        case "overhead":
            return Repeated(compiled(job.work) if compiled else job.work, [put(a) for a in job.inputs], wait)
    return None


def waited(run, arguments):
    def call():
        result = run(*arguments)
        wait()
        return result if isinstance(result, list) else [result]

    return call


def bind_workload(job, place, compiled):
    # On the CPU they are the arrays themselves, with their large pages.
    seen = lambda arrays: [torch.as_tensor(array, device=place) for array in arrays]  # noqa: E731
    if job.workload.folds:
        run = compiled(fold(job)) if compiled else fold(job)
        return lambda arrays: waited(run, seen(arrays.inputs))
    calls = into(job, place, compiled)

    def of(arrays):
        outputs = seen(arrays.outputs)
        call = calls(seen(arrays.inputs), outputs)
        return waited(lambda: call() or outputs, ())

    return of


def into(job, place, compiled):
    """Of inputs and outputs: a call that computes these."""
    if compiled is None:
        empty = lambda shape, dtype: torch.empty(shape, dtype=dtype, device=place)  # noqa: E731
        calls = ufunc_calls(job, torch, empty, lambda out, value: out.copy_(value))
        return lambda inputs, outputs: calls(inputs, job.targets(outputs))

    def function(inputs, outputs):
        for target, value in zip(job.targets(outputs), job.values(inputs, torch)):
            target.copy_(value)

    function = compiled(function)
    return lambda inputs, outputs: lambda: function(inputs, outputs)


def fold(job):
    kind, axes = job.workload.then, job.workload.axes
    result_type = getattr(torch, job.result_type)
    formula = job.workload.formula

    def function(*arrays):
        (value,) = formula(lambda array, offset: arrays[array], torch)
        if kind == "max":
            return value.max()
        total = value.sum(dim=axes, dtype=result_type) if axes else value.sum(dtype=result_type)
        return total.sqrt() if kind == "norm" else total

    return function


CONTENDERS = {"torch": bind_eager, "torch.compile": bind_compiled}
