"""What is computed: workloads and programs, which the benchmark describes in `table.json`, each with its formula.

A formula is a list of single operations. Peers evaluate it over arrays of any library, or compile its text.
"""

import json
import operator
import os
from dataclasses import dataclass
from math import prod
from types import SimpleNamespace

DTYPES = {"f16": "float16", "f32": "float32", "f64": "float64"}
OPERATORS = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}


@dataclass(frozen=True)
class Step:
    """`op` is "cell" (arguments: array, offset), "number" (a float), an operator or a function of earlier steps."""

    op: str
    arguments: tuple

    @property
    def computes(self):
        return self.op not in ("cell", "number")


class Formula:
    """Steps in order, none twice, and the places of the steps that are outputs."""

    def __init__(self, steps, outputs):
        self.steps = [Step(op, tuple(arguments)) for op, arguments in steps]
        self.outputs = outputs
        self.last = {}  # the last step that reads a step's value
        for place, step in enumerate(self.steps):
            if step.computes:
                self.last.update(dict.fromkeys(step.arguments, place))
        self.last.update({output: len(self.steps) for output in outputs if output in self.last})

    def __call__(self, c, xp):
        """The outputs, of what `c` gives for the cells of an input at an offset (z, y, x), and `xp`'s functions."""
        values = {}
        for place, step in enumerate(self.steps):
            if step.op == "cell":
                values[place] = c(*step.arguments)
            elif step.op == "number":
                (values[place],) = step.arguments
            else:
                function = OPERATORS.get(step.op) or getattr(xp, step.op)
                values[place] = function(*(values[argument] for argument in step.arguments))
                for argument in {a for a in step.arguments if self.last[a] == place}:
                    del values[argument]  # its memory is free again
        return [values[output] for output in self.outputs]

    def lines(self, cell, number, call):
        """(name, text) of each step that is no number, then the names of the outputs; by functions that write a
        cell, a number and a function in the peer's language."""
        names, lines = [], []
        for place, step in enumerate(self.steps):
            if step.op == "number":
                names.append(number(*step.arguments))
                continue
            if step.op == "cell":
                text = cell(*step.arguments)
            elif step.op in OPERATORS:
                text = f" {step.op} ".join(names[argument] for argument in step.arguments)
            else:
                text = call(step.op, names[step.arguments[0]])
            names.append(f"v{place}")
            lines.append((names[place], text))
        return lines, [names[place] for place in self.outputs]


@dataclass(frozen=True)
class View:
    """Elements at other places than those next to each other."""

    of: object  # an array seen through it
    places: object  # names of coordinates, as text: where what is seen there lies


VIEWS = {
    None: View(lambda a: a, lambda places: places),
    "second": View(lambda a: a[..., ::2], lambda places: [*places[:-1], f"({places[-1]}) * 2"]),
    "turned": View(lambda a: a.T, lambda places: places[::-1]),
}


@dataclass(frozen=True)
class Workload:
    """A formula over all cells at least `reach` from the rim; `then` is keep, assign, sum, max or norm."""

    name: str
    formula: Formula
    rank: int
    reach: int
    then: str
    axes: tuple  # that are folded; none for all
    shapes: list  # of the inputs; one cell long where they are broadcast
    seen_shapes: list  # of what the formula sees
    inner: tuple  # for which the formula is evaluated
    results: list  # the shapes of the outputs
    seen: dict  # the view through which the formula sees an input
    written: dict  # the view through which an output is written

    @property
    def inputs(self):
        return len(self.shapes)

    @property
    def outputs(self):
        return len(self.results)

    @property
    def folds(self):
        return self.then in ("sum", "max", "norm")

    def result_dtype(self, dtype):
        """f16 is summed in f32: its largest number is 65504."""
        return "f32" if self.then in ("sum", "norm") and dtype == "f16" else dtype

    def input_place(self, array, offset):
        """Where an input is read in flat memory, as text that C and Python read alike; broadcast axes at 0."""
        shifts = [self.reach + by for by in offset[3 - self.rank :]]
        places = [f"({axis} + {by})" for axis, by in zip("zyx"[3 - self.rank :], shifts)]
        extents = self.shapes[array]
        places = ["0" if n == 1 else place for n, place in zip(extents, places)]
        return flat(VIEWS[self.seen.get(array)].places(places), extents)

    def output_place(self, output):
        """Where an output is written."""
        reach = self.reach if self.then == "assign" else 0
        places = [f"({axis} + {reach})" for axis in "zyx"[3 - self.rank :]]
        return flat(VIEWS[self.written.get(output)].places(places), self.results[output])


def flat(places, extents):
    """The position of a cell in an array that is contiguous."""
    text = places[0]
    for place, extent in zip(places[1:], extents[1:]):
        text = f"({text}) * {extent} + {place}"
    return text


def read_workload(name, formula, **more):
    lists = {key: [tuple(shape) for shape in more.pop(key)] for key in ("shapes", "seen_shapes", "results")}
    views = {key: dict(more.pop(key)) for key in ("seen", "written")}
    tuples = {key: tuple(more.pop(key)) for key in ("axes", "inner")}
    return Workload(name, Formula(*formula), **lists, **views, **tuples, **more)


def read_app(name, formula, shape, **more):
    return SimpleNamespace(name=name, formula=Formula(*formula), shape=tuple(shape), **more)


with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "table.json"), encoding="ascii") as file:
    TABLE = json.load(file)
CUBE = TABLE["cube"]  # the extent of three-dimensional arrays
WORKLOADS = {name: read_workload(name, **given) for name, given in TABLE["workloads"].items()}
APPS = {name: read_app(name, **given) for name, given in TABLE["apps"].items()}


class Windows:
    """Arrays as a formula sees them: windows that are `reach` smaller on every side."""

    def __init__(self, inputs, reach):
        self.inputs, self.reach = inputs, reach

    def __call__(self, array, offset):
        return window(self.inputs[array], self.reach, offset)


def window(array, reach, offset=(0, 0, 0)):
    if not reach:
        return array
    shifts = offset[3 - len(array.shape) :]
    return array[tuple(slice(reach + by, n - reach + by) for by, n in zip(shifts, array.shape))]
