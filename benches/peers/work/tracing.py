"""A formula as a list of single operations, from which the peers that compile text get their text.

`Trace.lines` takes functions that write a cell, a number and a function in the peer's language.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Step:
    """`op` is "cell" (arguments: array, offset), "number" (a float), an operator, or a function's name."""

    op: str
    arguments: tuple


@dataclass
class Trace:
    """Steps in order, none twice; an argument of an operation is the place of an earlier step."""

    steps: list = field(default_factory=list)
    places: dict = field(default_factory=dict)
    outputs: list = field(default_factory=list)

    def place(self, op, *arguments):
        step = Step(op, arguments)
        if step not in self.places:
            self.places[step] = len(self.steps)
            self.steps.append(step)
        return self.places[step]

    def value(self, op, *arguments):
        return Value(self, self.place(op, *arguments))

    def __call__(self, array, offset=(0, 0, 0)):
        return self.value("cell", array, offset)

    def lines(self, cell, number, call):
        """(name, text) of each step that is no number; then the names of the outputs."""
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


OPERATORS = "+-*/"


class Value:
    """A step's result, with arithmetic that writes further steps."""

    def __init__(self, trace, place):
        self.trace, self.place = trace, place

    def then(self, op, other):
        if not isinstance(other, Value):
            other = self.trace.value("number", float(other))
        return self.trace.value(op, self.place, other.place)

    def __add__(self, other):
        return self.then("+", other)

    def __sub__(self, other):
        return self.then("-", other)

    def __mul__(self, other):
        return self.then("*", other)

    def __truediv__(self, other):
        return self.then("/", other)


class Functions:
    """The namespace of a traced formula."""

    @staticmethod
    def sqrt(value):
        return value.trace.value("sqrt", value.place)

    @staticmethod
    def exp(value):
        return value.trace.value("exp", value.place)

    @staticmethod
    def sin(value):
        return value.trace.value("sin", value.place)


def traced(formula):
    trace = Trace()
    trace.outputs = [value.place for value in formula(trace, Functions)]
    return trace
