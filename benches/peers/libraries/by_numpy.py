"""NumPy: ufuncs with `out=` and as few temporaries as the formula needs; programs as they are written. Also for
every library that has NumPy's names."""

import numpy as np

from apps import NumpyLibrary
from overheads import Repeated


def bind(job):
    match job.kind:
        case "workload":
            return bind_workload(job)
        case "app":
            return Program(job, NumpyLibrary(np), np.array)
        case "move":
            return lambda: copied(job.output, job.given.transpose(job.axes))
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


NAMES = {"+": "add", "-": "subtract", "*": "multiply", "/": "divide"}  # of ufuncs; functions have their own


def ufunc_calls(job, xp, empty, copy):
    """A function that, for inputs and targets, gives a run of ufuncs. Each result goes into memory that no later call
    reads any more, the last into the target. `empty(shape, dtype)` makes a temporary; all sets of arrays share them."""
    steps, outputs, last = job.formula.steps, job.formula.outputs, job.formula.last
    temporaries, free, owned = {}, [], {}  # by the step whose value they hold
    for place, step in enumerate(steps):
        if step.computes and (place not in outputs or place in last):
            # Memory that this very call reads last may also be written: ufuncs go element by element.
            free += [owned.pop(a) for a in set(step.arguments) if last[a] == place and a in owned]
            owned[place] = temporaries[place] = free.pop() if free else empty(job.inner, job.type_of(xp))

    def of(inputs, targets):
        windows, values, calls = job.windows(inputs), {}, []
        for place, step in enumerate(steps):
            if step.op == "cell":
                values[place] = windows(*step.arguments)
            elif step.op == "number":
                (values[place],) = step.arguments
            else:
                arguments = [values[argument] for argument in step.arguments]
                out = values[place] = (
                    temporaries[place] if place in temporaries else targets[outputs.index(place)]
                )
                calls.append((getattr(xp, NAMES.get(step.op, step.op)), arguments, out))
        for output, target in zip(outputs, targets):
            if values[output] is not target:
                calls.append((lambda value, out: copy(out, value), [values[output]], target))

        def run():
            for function, arguments, out in calls:
                function(*arguments, out=out)

        return run

    return of


def fold_of(job, xp):
    """A function that folds everything, or an axis. Products go into memory that is made once."""
    workload, axes = job.workload, job.workload.axes or None
    # A dot product of f16 would be added in f16.
    has_dot = workload.inputs == 2 and job.dtype != "f16"
    has_products = workload.then == "norm" or (workload.inputs == 2 and not has_dot)
    products = xp.empty(job.inner, job.type) if has_products else None

    def fold(a, b=None):
        match workload.then:
            case "max":
                return [a.max()]
            case "sum" if b is None:
                return [a.sum(axis=axes, dtype=job.result_type)]
            case "sum" if has_dot:
                return [xp.dot(a, b)]
            case "sum":
                return [xp.multiply(a, b, out=products).sum(dtype=job.result_type)]
            case "norm":
                return [xp.sqrt(xp.multiply(a, a, out=products).sum(dtype=job.result_type))]

    return fold


class Program:
    """A program in a library; a call is one step, then the device is idle."""

    def __init__(self, job, lib, put, compiled=lambda step: step, wait=lambda state: None):
        self.state, self.wait = tuple(put(array) for array in job.state), wait
        self.step = compiled(lambda state: tuple(job.step(state, lib)))

    def __call__(self):
        self.state = self.step(self.state)
        self.wait(self.state)
        return self.state


CONTENDERS = {"numpy": bind}
