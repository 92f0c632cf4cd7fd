"""Runs a program in partita and in NumPy and compares every value that it shows.

Partita goes first, as lazily as the program is written; values that NumPy does not define to the bit are left out.
NumPy follows, and goes on from partita's value of each such statement once it is found to be within its bound: so a
last bit that may differ does not decide about what comes after it, and everything else is compared to the bit.
"""

from __future__ import annotations

import functools
import warnings
from types import CodeType
from typing import Any, NamedTuple

import numpy as np
import partita as pt
from programs.bounds import Undefined, differs
from programs.language import Program, Statement, names_in, resolved


class Failure(NamedTuple):
    """What went wrong, and at which statement."""

    at: int
    #: "mismatch", or the name of the exception that only partita raised.
    kind: str
    text: str


class Shown(NamedTuple):
    """What partita made of a program."""

    #: Per statement that shows or needs a comparison: the value on the host.
    values: dict[int, np.ndarray]
    #: The variables at the end.
    last: dict[str, np.ndarray]
    #: The statement that it refused, if any, and why.
    refused: tuple[int, BaseException] | None


@functools.lru_cache(maxsize=4096)
def _code(text: str, places: tuple[str, ...]) -> CodeType:
    return compile(text.format(**{place: place for place in places}), "<statement>", "exec")


def step(statement: Statement, variables: dict[str, Any], words: dict[str, Any]) -> Any:
    """Carries out one statement; what it made, changed or showed."""
    places = {place: resolved(value, variables) for place, value in statement.places.items() if place != "out"}
    exec(_code(statement.text, tuple(statement.places)), words, places)
    if statement.writes:
        variables[statement.places[statement.writes]] = places[statement.writes]
    return places[statement.writes or "a"]


NUMPY: dict[str, Any] = {
    "xp": np,
    "own": lambda a: np.array(a, order="C"),
    "seen": np.asarray,
    "make": lambda host, layout: host.copy(),
    "moved": lambda a, layout: a.copy(),
    "force": lambda a: None,
    "look": lambda a: None,
}


def _partita(team: pt.Team) -> dict[str, Any]:
    def make(host: np.ndarray, layout: Any) -> pt.Array:
        return pt.asarray(host, dist=layout.build(team)) if layout.shape else pt.asarray(host, team=layout.team(team))

    return {
        "xp": pt,
        "own": pt.asarray,
        "seen": pt.asarray,
        "make": make,
        "moved": lambda a, layout: a.redistribute(layout.build(team)),
        "force": lambda a: a.eval(),
        "look": lambda a: None,
    }


def numpy_step(statement: Statement, variables: dict[str, Any]) -> Any:
    """One statement in NumPy; raises Undefined where NumPy's result means nothing."""
    _defined(statement, variables)
    with np.errstate(all="ignore"):
        return step(statement, variables, NUMPY)


def _defined(statement: Statement, variables: dict[str, Any]) -> None:
    """Floats that do not fit into integers, and shifts by more bits than there are."""
    places = statement.places
    operands = {place: resolved(places[place], variables) for place in ("a", "b") if place in places}
    if "astype" in statement.text:
        _fits(operands["a"], np.dtype(places["dtype"]))
    if "] = {b}" in statement.text and isinstance(operands["b"], np.ndarray):
        _fits(operands["b"], operands["a"].dtype)
    if "where" in statement.text:
        _wraps([resolved(places[place], variables) for place in ("a", "b")])
    if "<<" in statement.text or ">>" in statement.text:
        width = 8 * max(np.asarray(x).dtype.itemsize for x in operands.values() if isinstance(x, np.ndarray))
        if np.any((np.asarray(operands["b"]) < 0) | (np.asarray(operands["b"]) >= width)):
            raise Undefined("shift by more bits than there are")


def _wraps(operands: list[Any]) -> None:
    arrays = [x for x in operands if isinstance(x, np.ndarray)]
    numbers = [x for x in operands if type(x) is int]
    if arrays and numbers and (dtype := np.result_type(*arrays)).kind in "iu":
        if not np.iinfo(dtype).min <= numbers[0] <= np.iinfo(dtype).max:
            raise Undefined("NumPy's where wraps numbers that the type does not hold; partita refuses them")


def _fits(given: np.ndarray, dtype: np.dtype) -> None:
    if given.dtype.kind == "f" and dtype.kind in "iu":
        whole, info = np.trunc(given.astype(np.longdouble)), np.iinfo(dtype)
        if not np.all((whole >= info.min) & (whole <= info.max)):
            raise Undefined("floats out of the range of an integer type")


def shows(statement: Statement) -> bool:
    """Whether its value is compared right where it stands."""
    return statement.rule != "same" or statement.text.startswith("look")


def run_partita(program: Program, team: pt.Team) -> Shown:
    """The program in partita; computed where it says so, and at its end."""
    words, variables = _partita(team), dict[str, Any]()
    kept: dict[int, Any] = {}
    refused = None
    for at, statement in enumerate(program):
        try:
            value = step(statement, variables, words)
            if shows(statement):
                kept[at] = value.numpy() if statement.text.startswith("look") else value.copy()
        except BaseException as error:
            _no_interrupt(error)
            refused = (at, error)
            break
    try:
        last = {name: value.numpy() for name, value in variables.items()}
        values = {at: value if isinstance(value, np.ndarray) else value.numpy() for at, value in kept.items()}
    except BaseException as error:
        _no_interrupt(error)
        return Shown({}, {}, refused or (len(program) - 1, error))
    return Shown(values, last, refused)


def _no_interrupt(error: BaseException) -> None:
    # A panic of the engine is no Exception.
    if isinstance(error, (KeyboardInterrupt, SystemExit, MemoryError)):
        raise error


def failure_of(program: Program, parts: int, devices: Any) -> Failure | None:
    """What differs between partita and NumPy, or None. A program that NumPy refuses has no failure."""
    shown = run_partita(program, pt.Team(parts, devices))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return _compared(program, shown)


def _compared(program: Program, shown: Shown) -> Failure | None:
    variables: dict[str, Any] = {}
    written: dict[str, int] = {}
    for at, statement in enumerate(program):
        operands = [resolved(value, variables) for place, value in statement.places.items() if place != "out"] \
            if _readable(statement, variables) else []  # fmt: skip
        try:
            theirs = numpy_step(statement, variables)
            if statement.writes:
                written[statement.places[statement.writes]] = at
            if at in shown.values:
                wrong = differs(statement.rule, shown.values[at], theirs, operands)
                if wrong:
                    return Failure(at, "mismatch", wrong)
                if statement.rule != "same":
                    variables[statement.places["out"]] = shown.values[at].copy()
        except Exception:
            # Both refuse, or the program leaves what NumPy defines: here the comparison ends.
            return None
        if shown.refused and shown.refused[0] == at:
            error = shown.refused[1]
            return Failure(at, type(error).__name__, str(error))
    for name, ours in shown.last.items():
        wrong = differs("same", ours, variables[name], ())
        if wrong:
            return Failure(written[name], "mismatch", f"{name}: {wrong}")
    return None


def _readable(statement: Statement, variables: dict[str, Any]) -> bool:
    read = [name for place, value in statement.places.items() if place != "out" for name in names_in(value)]
    return all(name in variables for name in read)
