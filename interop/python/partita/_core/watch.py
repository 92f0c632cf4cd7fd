"""The watch for floating-point conditions: which of them raise, and checks of what was recorded since. Which elements meet a
condition is NumPy's rule, in `partita._numpy.ufuncs.conditions`. Also whether this thread runs the step of a `Loop`."""

from __future__ import annotations

import functools
import hashlib
import sys
import threading
from collections.abc import Callable
from contextvars import ContextVar
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from .. import _native
from ..errors import UnsupportedError

_F = TypeVar("_F", bound=Callable[..., Any])
KINDS = ("divide", "over", "under", "invalid")
_TEXTS = {"divide": "divide by zero", "over": "overflow", "invalid": "invalid value"}
PACKAGE = str(Path(__file__).parents[1])
#: So many checks hold their operands before they are computed.
_MOST = 64


class Checks:
    """The checks recorded in a block or a step: flags, each of one element, and what a flag that is set means."""

    def __init__(self) -> None:
        self._meanings: dict[tuple[str, str], int] = {}
        self._flags: list[tuple[int, _native.Array]] = []
        self._codes: dict[_native.Team, _native.Array] = {}

    def add(self, kind: str, name: str, flag: _native.Array) -> None:
        meaning = (f"{_TEXTS[kind]} encountered in {name}", _place())
        self._flags.append((self._meanings.setdefault(meaning, len(self._meanings)), flag))

    def code(self, code: _native.Array) -> _native.Array:
        """The number of the first flag that is set, as int32; ``code`` if that is one already, or if none is. Forgets the flags."""
        found = code.constant("int32", -1)
        for number, flag in reversed(self._flags):
            found = flag.select(found.constant("int32", number), found)
        self._flags = []
        return code.op2("less", code.constant("int32", 0)).select(found, code)

    def shorten(self) -> None:
        """Computes many flags, so that their operands are free."""
        if len(self._flags) >= _MOST:
            self._compute()

    def _compute(self) -> None:
        flags, groups = self._flags, dict[_native.Team, list[tuple[int, _native.Array]]]()
        for number, flag in flags:
            groups.setdefault(flag.team, []).append((number, flag))
        for team, self._flags in groups.items():
            code = self._codes.get(team)
            self._codes[team] = self.code(self._flags[0][1].constant("int32", -1) if code is None else code)
            self._codes[team].eval()

    def report(self) -> None:
        """Raises what the first flag that is set means. Computes. Collective."""
        self._compute()
        codes = [int(code.item()) for code in self._codes.values()]  # type: ignore[arg-type]
        self.report_code(min((code for code in codes if code >= 0), default=-1))

    def report_code(self, code: int) -> None:
        """Raises what a number from `code` means."""
        if code >= 0:
            text, place = list(self._meanings)[code]
            error = FloatingPointError(text)
            error.add_note(f"recorded in {place}")
            raise error


class Modes(NamedTuple):
    """The settings of `errstate` in one context."""

    words: dict[str, str]
    #: Of the block that the context is in; None outside of blocks, where operations are checked at once.
    checks: Checks | None = None

    @property
    def raising(self) -> frozenset[str]:
        """The conditions that raise."""
        return frozenset(kind for kind, how in self.words.items() if how == "raise")


class Constants:
    """Arrays of lists and of NumPy's arrays in a step, which are made in the first step of a run and found in the others."""

    _MOST = 64

    def __init__(self) -> None:
        self._known: list[tuple[_native.Distribution, str, bytes, _native.Array]] = []
        #: True if the first step of a run is under way.
        self.is_first = True

    def array(self, dist: _native.Distribution, dtype: str, data: Any) -> _native.Array:
        """The array of these bytes; an error in a later step, if those before had no such array."""
        digest = hashlib.blake2b(data, digest_size=16).digest()
        for known in self._known:
            if known[1:3] == (dtype, digest) and known[0] == dist:
                return known[3].copy()
        if not self.is_first:
            given = "an array of other elements than in the step before"
            remedy = "pass numbers that change by Loop.run(..., numbers=f), or keep them in an array of the state"
            raise ValueError(f"making an array from elements: expected a step that does the same every time, given {given}; {remedy}")
        if len(self._known) == self._MOST:
            self._known.clear()
        native = _native.Array.from_bytes(dist, dtype, data, in_step=True)
        self._known.append((dist, dtype, digest, native))
        return native.copy()


class Step(NamedTuple):
    """A step of a `Loop` that runs; without checks if the loop has no memory for them."""

    checks: Checks | None
    constants: Constants


SILENT = Modes(dict.fromkeys(KINDS, "ignore"))
modes: ContextVar[Modes] = ContextVar("partita.errstate", default=SILENT)
step: ContextVar[Step | None] = ContextVar("partita.step", default=None)


def in_step() -> bool:
    """True if this thread runs the step of a `Loop`, which cannot read."""
    return step.get() is not None


class _Watch:
    """The number of contexts with conditions that raise: operations look at it, since it costs next to nothing. ``masks(name, inputs,
    result, lines)`` gives pairs of a condition and the elements that meet it."""

    __slots__ = ("count", "lock", "masks")
    masks: Callable[..., Any]

    def __init__(self) -> None:
        self.count, self.lock = 0, threading.Lock()


watch = _Watch()


def set_modes(new: Modes) -> Modes:
    """Sets what this context's operations are watched for; gives what was set before."""
    before = modes.get()
    modes.set(new)
    with watch.lock:
        watch.count += bool(new.raising) - bool(before.raising)
        _native.set_watched(watch.count > 0)
    return before


def is_watched() -> bool:
    """True if what this context records is checked."""
    return bool(modes.get().raising)


def unwatched(function: _F) -> _F:
    """The function, none of whose operations is checked."""

    @functools.wraps(function)
    def silent(*args: Any, **words: Any) -> Any:
        if not watch.count:
            return function(*args, **words)
        token = modes.set(SILENT)
        try:
            return function(*args, **words)
        finally:
            modes.reset(token)

    return silent  # type: ignore[return-value]


def watched(
    name: str, inputs: tuple[Any, ...], function: Callable[..., Any], *args: Any, where: Any = True, lines: dict[str, Any] | None = None
) -> Any:
    """The result of an operation, which is checked where ``where`` is true; what it is made of is not. ``lines`` are the words of
    the reduction of ``inputs`` to the result's elements, None of functions of elements."""
    before, running = modes.get(), step.get()
    token = modes.set(SILENT)
    try:
        result = function(*args)
        if result is NotImplemented:
            return result
        if running is not None and running.checks is None:
            expected = "expected the block around Loop.run, given one inside the step of a Loop that began outside"
            raise UnsupportedError(f"errstate: {expected}; move it")
        checks = before.checks if running is None else running.checks
        checks = Checks() if checks is None else checks
        for kind, flag in watch.masks(name, inputs, result, lines, where):
            if kind in before.raising:
                checks.add(kind, name, flag)
        if before.checks is None and running is None:
            checks.report()
        elif running is None:
            checks.shorten()
        return result
    finally:
        modes.reset(token)


def _place() -> str:
    """The line of the program that called the package."""
    frame = sys._getframe(3)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}, line {frame.f_lineno}"
