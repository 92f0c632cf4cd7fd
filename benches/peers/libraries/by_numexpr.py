"""numexpr: each formula as one string over views, evaluated into the output. It has no f16."""

import os

import numexpr as ne
import numpy as np

from overheads import Repeated, ten


def bind(job):
    if job.kind == "overhead":
        return bind_overhead(job)
    if job.kind != "workload" or job.dtype == "f16" or job.workload.then in ("max", "norm"):
        return None  # its max takes no whole array in parallel either, and a norm is no string
    if job.name == "d3q19":
        return None  # more arrays than it takes, and a string that names each of them many times
    if job.workload.folds:
        return bind_sum(job)
    ne.set_num_threads(int(os.environ.get("NUMEXPR_NUM_THREADS", "1")))
    return lambda arrays: run_of(job, arrays)


def run_of(job, arrays):
    windows, names = job.windows(arrays.inputs), {}
    made = np.dtype(job.type).type

    def named(value):
        name = f"x{len(names)}"
        names[name] = value
        return name

    # A literal 1.5 would be f64, and with it everything else.
    lines, outputs = job.formula.lines(
        cell=lambda array, offset: named(windows(array, offset)),
        number=lambda value: named(made(value)),
        call=lambda function, argument: f"{function}({argument})",
    )
    formulas = [nested(lines, output) for output in outputs]
    pairs = list(zip(formulas, job.targets(arrays.outputs)))

    def call():
        for formula, target in pairs:
            ne.evaluate(formula, local_dict=names, global_dict={}, out=target)
        return arrays.outputs

    return call


def bind_overhead(job):
    """A formula of ten operations in one string; one operation alone is what NumPy is for."""
    if job.work is not ten:
        return None
    ne.set_num_threads(1)
    formula = "a"
    for _ in range(5):
        formula = f"({formula}) * a + b"
    names = dict(zip("ab", job.inputs))
    return Repeated(lambda a, b: ne.evaluate(formula, local_dict=names, global_dict={}), job.inputs)


def nested(lines, output):
    """One string; a value that is used twice is written twice, and numexpr finds it again."""
    texts = {}
    for name, text in lines:
        words = [texts.get(word, word) for word in text.replace("(", "( ").replace(")", " )").split()]
        texts[name] = words[0] if len(words) == 1 else f"({' '.join(words)})"
    return texts[output]


def bind_sum(job):
    axes = job.workload.axes
    # It adds one element after another: in f32 a long sum would stop at 2^25, so this one is f64.
    value = "a * one * b" if job.workload.inputs == 2 else "a * one"
    text = f"sum({value}, axis={axes[0]})" if axes else f"sum({value})"

    def of(arrays):
        names = {**dict(zip("ab", arrays.inputs)), "one": np.float64(1)}
        return lambda: [ne.evaluate(text, local_dict=names, global_dict={})]

    return of


CONTENDERS = {"numexpr": bind}
