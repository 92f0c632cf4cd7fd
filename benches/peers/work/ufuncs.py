"""A formula as calls of ufuncs with `out=`, and folds, for every library that has NumPy's names for them.

Each result of a ufunc goes into memory that no later call reads any more; the last into the output.
"""

NAMES = {
    "+": "add",
    "-": "subtract",
    "*": "multiply",
    "/": "divide",
    "sqrt": "sqrt",
    "exp": "exp",
    "sin": "sin",
}


def ufunc_calls(job, xp, empty, copy):
    """A function that, for inputs and targets, gives a run. `empty(shape, dtype)` makes a temporary, and all
    sets of arrays share them, as they would in a program that computes one set after another."""
    steps, outputs = job.trace.steps, job.trace.outputs
    last = {}  # the last step that reads a step's value
    for place, step in enumerate(steps):
        if step.op not in ("cell", "number"):
            last.update(dict.fromkeys(step.arguments, place))
    last.update({output: len(steps) for output in outputs if output in last})
    temporaries, free, owned = {}, [], {}  # by the step whose value they hold
    for place, step in enumerate(steps):
        if step.op not in ("cell", "number") and (place not in outputs or place in last):
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
                calls.append((getattr(xp, NAMES[step.op]), arguments, out))
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
