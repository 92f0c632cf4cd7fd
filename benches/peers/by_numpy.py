"""NumPy: ufuncs with `out=` and as few temporaries as the formula needs; programs as they are written."""

import numpy as np

from apps import NumpyLibrary
from overheads import Repeated, exchange
from ufuncs import ufunc_calls


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
        return bind_fold(job)
    calls = ufunc_calls(job, np, np.empty, np.copyto)

    def of(arrays):
        run = calls(arrays.inputs, job.targets(arrays.outputs))
        return lambda: run() or arrays.outputs

    return of


def bind_fold(job):
    axes, products = job.workload.axes or None, None
    if job.workload.then == "norm" or job.workload.inputs == 2:
        products = np.empty(job.inner, job.type)

    def fold(a, b=None):
        match job.workload.then:
            case "max":
                return [a.max()]
            case "sum" if b is None:
                return [a.sum(axis=axes, dtype=job.result_type)]
            case "sum" if job.dtype == "f16":  # its dot product would be added in f16
                return [np.multiply(a, b, out=products).sum(dtype=job.result_type)]
            case "sum":
                return [np.dot(a, b)]
            case "norm":
                return [np.sqrt(np.multiply(a, a, out=products).sum(dtype=job.result_type))]

    return lambda arrays: lambda: fold(*arrays.inputs)


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
