"""The end of a process that runs a program with others: never so that the others wait for it.

An exception that nobody catches is reported to all ranks and ends them; so does the end of a process while others wait for
it. The engine sends the report.
"""

from __future__ import annotations

import atexit
import os
import sys
import threading
import traceback
from collections.abc import Callable
from types import TracebackType
from typing import Any

from ... import _native

#: The process that watches: one forked from it ends alone.
_watching: int | None = None


def watch() -> None:
    """From now on this process does not end without the other ranks. A second call changes nothing."""
    global _watching
    if _watching is not None:
        return
    _watching = os.getpid()
    sys.excepthook = _ends_all(sys.excepthook, sys.__excepthook__)
    in_threads = threading.excepthook

    def thread_ended(raised: threading.ExceptHookArgs) -> None:
        # Threads may exit; that is no failure.
        if _watching != os.getpid():
            in_threads(raised)
        elif raised.exc_type is not SystemExit and raised.exc_value is not None:
            show = None if in_threads is threading.__excepthook__ else lambda *_: in_threads(raised)
            _end_all(raised.exc_type, raised.exc_value, raised.exc_traceback, show)

    threading.excepthook = thread_ended
    atexit.register(_leave)


def _ends_all(before: Callable[..., Any], default: Callable[..., Any]) -> Callable[..., Any]:
    show = None if before is default else before

    def ended(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        # At a prompt the program goes on.
        if _watching != os.getpid() or hasattr(sys, "ps1") or sys.flags.interactive:
            before(kind, error, trace)
        else:
            _end_all(kind, error, trace, show)

    return ended


def _end_all(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None, show: Callable[..., Any] | None
) -> None:
    if show is None:
        # In one piece: the ranks share a terminal.
        _write("".join(traceback.format_exception(kind, error, trace)))
    else:
        show(kind, error, trace)
    frames = traceback.extract_tb(trace)
    place = f" ({os.path.basename(frames[-1].filename)}, line {frames[-1].lineno})" if frames else ""
    _abort("".join(traceback.format_exception_only(kind, error)).strip() + place)


def _leave() -> None:
    """At the end of the interpreter, before mpi4py ends MPI: waits for the others, or ends them."""
    if _watching == os.getpid() and not _native.leave():
        _abort("it ended while others went on")


def _abort(reason: str) -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            # Closed, or none at all.
            continue
    _native.abort(reason)


def _write(text: str) -> None:
    try:
        sys.stdout.flush()
        os.write(2, text.encode(errors="backslashreplace"))
    except (AttributeError, OSError, ValueError):
        sys.stderr.write(text)
