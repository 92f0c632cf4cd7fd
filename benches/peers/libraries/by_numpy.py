"""NumPy: ufuncs with `out=` and as few temporaries as the formula needs; programs as they are written."""

import numpy as np

from apps import NumpyLibrary
from overheads import Repeated, exchange
from ufuncs import fold_of, ufunc_calls


def bind(job):
    match job.kind:
        case "workload":
            return bind_workload(job)
        case "app":
            return Program(job, NumpyLibrary(np), np.array)
        case "move":
            return lambda: copied(job.output, job.given.transpose(job.axes))
        case "overhead" if job.exchanges:
            return exchange(job, job.inputs, np.from_dlpack, np.copy)
        case "overhead":
            return Repeated(job.work, job.inputs)
    return None


def copied(output, view):
    np.copyto(output, view)
    return [output]


def bind_workload(job):
    if job.workload.folds:
        fold = fold_of(job, np)
        return lambda arrays: lambda: fold(*arrays.inputs)
    calls = ufunc_calls(job, np, np.empty, np.copyto)

    def of(arrays):
        run = calls(arrays.inputs, job.targets(arrays.outputs))
        return lambda: run() or arrays.outputs

    return of


class Program:
    """A program in a library; a call is one step, then the device is idle."""

    def __init__(self, job, lib, put, compiled=lambda step: step, wait=lambda state: None):
        self.state, self.wait = tuple(put(array) for array in job.state), wait
        self.step = compiled(lambda state: tuple(job.app.step(state, lib)))

    def __call__(self):
        self.state = self.step(self.state)
        self.wait(self.state)
        return self.state


CONTENDERS = {"numpy": bind}
