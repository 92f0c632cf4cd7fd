"""Where cells lie in flat memory, as text that C and Python read alike."""

from workloads import VIEWS


def flat(places, extents):
    """The position of a cell in an array that is contiguous."""
    text = places[0]
    for place, extent in zip(places[1:], extents[1:]):
        text = f"({text}) * {extent} + {place}"
    return text


def axes(workload):
    """The names of a cell's coordinates, from 0 within what is computed."""
    return "zyx"[3 - workload.rank :]


def input_place(job, array, offset):
    """Where an input is read; broadcast axes at 0."""
    workload, extents = job.workload, job.workload.shape(job.sizes, array)
    shifts = [workload.reach + by for by in offset[3 - workload.rank :]]
    places = ["0" if n == 1 else f"({a} + {by})" for a, n, by in zip(axes(workload), extents, shifts)]
    return flat(VIEWS[dict(workload.seen).get(array)].places(places), extents)


def output_place(job, output):
    """Where an output is written."""
    view = VIEWS[dict(job.workload.written).get(output)]
    reach = job.workload.reach if job.workload.then == "assign" else 0
    places = [f"({axis} + {reach})" for axis in axes(job.workload)]
    return flat(view.places(places), job.workload.result_shape(job.sizes, output))
