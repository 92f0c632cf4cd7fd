"""A random program from a seed: the same for ever, on every device, as long as the words stay the same."""

from __future__ import annotations

import random
import warnings
from typing import Any, NamedTuple

from programs import vocabulary
from programs.check import numpy_step
from programs.language import Name, Program, Statement
from programs.layouts import random_layout

#: Values of more elements are thrown away.
LARGEST = 500
RANK = 5


class Draft(NamedTuple):
    """A program and the number of parts of its team."""

    program: Program
    parts: int


def draft(seed: int) -> Draft:
    """The program of a seed."""
    rng = random.Random(seed)
    parts = rng.choice((1, 2, 2, 3, 3, 4, 4, 5, 6, 7, 8))
    program: Program = []
    variables: dict[str, Any] = {}
    for _ in range(rng.randint(1, 3)):
        _add(program, variables, _made(rng, variables, parts))
    words = [word for _, word in vocabulary.WORDS]
    weights = [weight for weight, _ in vocabulary.WORDS]
    wanted = len(program) + rng.randint(3, 10)
    for _ in range(4 * wanted):
        if len(program) >= wanted:
            break
        chance = rng.random()
        if chance < 0.04:
            statement = _made(rng, variables, parts)
        elif chance < 0.1:
            statement = _moved(rng, variables, parts)
        else:
            statement = rng.choices(words, weights)[0](rng, variables)
        if statement is not None:
            _add(program, variables, statement)
    return Draft(program, parts)


def _made(rng: random.Random, variables: dict[str, Any], parts: int) -> Statement:
    """A new array, often of a shape that meets another's."""
    shape = vocabulary.shape(rng)
    if variables and rng.random() < 0.6:
        like = variables[rng.choice(list(variables))].shape
        shape = tuple(1 if rng.random() < 0.15 else n for n in like[rng.randint(0, min(1, len(like))) :])
    host = vocabulary.values(rng, rng.choice(vocabulary.DTYPES + ("float32", "float64", "int64")), shape)
    return Statement("{out} = make({host}, {layout})", {"host": host, "layout": random_layout(rng, shape, parts)})


def _moved(rng: random.Random, variables: dict[str, Any], parts: int) -> Statement | None:
    a = vocabulary.some(rng, variables, lambda value: value.ndim > 0)
    if a is None:
        return None
    layout = random_layout(rng, variables[a].shape, parts)
    return Statement("{out} = moved({a}, {layout})", {"a": a, "layout": layout})


def _add(program: Program, variables: dict[str, Any], statement: Statement) -> None:
    """Appends what NumPy can do; the rest is forgotten."""
    if "{out}" in statement.text:
        statement = statement.with_place("out", Name(f"v{len(program)}"))
    try:
        _run(statement, variables)
        if all(value.size <= LARGEST and value.ndim <= RANK for value in variables.values()):
            program.append(statement)
            return
    except Exception:
        pass
    # Views see each other's writes, so the variables as they were before are made anew.
    variables.clear()
    for earlier in program:
        _run(earlier, variables)


def _run(statement: Statement, variables: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        numpy_step(statement, variables)
