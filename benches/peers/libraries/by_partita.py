"""Partita from Python, to see what the language costs: the package `partita`, where it is installed."""

import partita

from overheads import Repeated, exchange


def bind(job):
    if job.kind != "overhead":
        return None  # the benchmark itself measures them
    team = partita.Team(1, "host")
    inputs = [partita.asarray(array, team=team) for array in job.inputs]
    if job.exchanges:
        return exchange(job, inputs, partita.from_dlpack, lambda array: array.numpy())
    # Results are computed before they are read: recording alone is what "record" counts.
    work = job.work if job.name == "record" else lambda a, b: job.work(a, b).eval()
    return Repeated(work, inputs, lambda result: result.eval())


CONTENDERS = {"partita (Python)": bind}
