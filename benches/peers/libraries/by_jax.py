"""JAX: jitted functions that write into the previous result, because a donated buffer spares fresh pages."""

import os

import jax
import jax.numpy as jnp
import numpy as np

from by_numpy import Program
from overheads import Repeated, ten

jax.config.update("jax_enable_x64", True)


def bind(job):
    try:
        jax.devices()
    except (RuntimeError, AssertionError) as reason:  # the second where no plugin knows the platform
        raise ImportError(str(reason) or f"JAX finds no {os.environ['JAX_PLATFORMS']}") from reason
    match job.kind:
        case "workload":
            return bind_workload(job)
        case "app":
            return bind_app(job)
        case "move":
            moved = lambda a, _: jnp.copy(a.reshape(job.shape).transpose(job.axes))  # noqa: E731
            return into(moved, 1, 1)([jnp.asarray(job.given)], [job.output])
        case "overhead":
            work = jax.jit(job.work) if job.work is ten else job.work
            return Repeated(work, [jnp.asarray(array) for array in job.inputs], jax.block_until_ready)
    return None


def into(function, inputs, outputs):
    """Of a function whose last arguments are donated, the outputs of the call before: runs, by arrays."""
    donated = tuple(range(inputs, inputs + outputs))
    compiled = jax.jit(function, donate_argnums=donated, keep_unused=True)

    def of(inputs, outputs):
        last = [jnp.array(output, copy=True) for output in outputs]  # never one of ours

        def call():
            nonlocal last
            last = jax.block_until_ready(compiled(*inputs, *last))
            last = last if isinstance(last, (list, tuple)) else [last]
            return last

        return call

    return of


def bind_workload(job):
    workload, count = job.workload, job.workload.inputs
    put = lambda arrays: [jnp.asarray(array) for array in arrays.inputs]  # noqa: E731
    if workload.folds:
        fold = jax.jit(lambda *arrays: folded(job, arrays))
        return lambda arrays: run_of(fold, put(arrays))
    turned = workload.written

    def assigned(*arrays):
        (value,) = job.values(arrays[:count], jnp)
        if workload.written:
            return arrays[count].at[..., ::2].set(value)
        return Library.assign(arrays[count], workload.reach, value)

    def values(*arrays):
        made = job.values(arrays[:count], jnp)
        return [jnp.copy(value.T if k in turned else value) for k, value in enumerate(made)]

    runs = into(assigned if workload.then == "assign" else values, count, workload.outputs)
    return lambda arrays: runs(put(arrays), arrays.outputs)


def run_of(fold, inputs):
    return lambda: [fold(*inputs).block_until_ready()]


def folded(job, arrays):
    (value,) = job.values(arrays, jnp)
    axes = job.workload.axes or None
    if job.workload.then == "max":
        return jnp.max(value)
    total = jnp.sum(value, axis=axes, dtype=job.result_type)
    return jnp.sqrt(total) if job.workload.then == "norm" else total


class Library:
    xp = jnp

    @staticmethod
    def assign(array, reach, values):
        return array.at[(slice(reach, -reach),) * array.ndim].set(values)

    @staticmethod
    def sum(array):
        return jnp.sum(array)


def bind_app(job):
    compiled = lambda step: jax.jit(step, donate_argnums=0)  # noqa: E731
    put = lambda array: jnp.array(array, copy=True)  # noqa: E731
    return Program(job, Library, put, compiled, jax.block_until_ready)


CONTENDERS = {"jax": bind}
