"""Output of several processes, in whole lines: this process reads their pipes, and it alone writes.

The bytes of each process stay as they are and in their order. A newline is added only where another process follows a line
that has none.
"""

from __future__ import annotations

import errno
import os
import re
import select
import selectors
from collections.abc import Callable
from dataclasses import dataclass, field

#: The longest line that stays whole, in bytes.
_LONGEST = 1 << 24


class _Sink:
    """Standard output or error of this process."""

    def __init__(self, number: int) -> None:
        self.number, self.is_terminal = number, os.isatty(number)
        #: The pipe whose unfinished line is the last.
        self.unfinished: int | None = None


@dataclass
class _Pipe:
    sink: _Sink
    tag: bytes
    kept: bytearray = field(default_factory=bytearray)


class Output:
    """The pipes of all processes. ``is_over`` says that a reader who takes nothing is waited for no longer."""

    def __init__(self, is_over: Callable[[], bool]) -> None:
        self._is_over, self._selector = is_over, selectors.DefaultSelector()
        # One pipe for both streams of a process, where both go to one place, keeps their order.
        self._sinks = [_Sink(number) for number in ((1,) if os.path.sameopenfile(1, 2) else (1, 2))]
        #: Why lines could not be written.
        self.failure: OSError | None = None

    @property
    def is_watched(self) -> bool:
        """True if standard output is a terminal."""
        return self._sinks[0].is_terminal

    def pipes(self, tag: str) -> list[int]:
        """Ends for the output and the errors of a new process, or one for both. The caller closes them when the process has them."""
        ends = []
        for sink in self._sinks:
            read, write = os.pipe()
            os.set_blocking(read, False)
            self._selector.register(read, selectors.EVENT_READ, _Pipe(sink, tag.encode()))
            ends.append(write)
        return ends

    def pass_on(self, seconds: float) -> None:
        """Writes the lines that come within this time. If none come, terminals get unfinished ones: questions, progress bars."""
        ready = self._selector.select(seconds)
        for key, _ in ready:
            self._read(key.fd, key.data)
        for fd, pipe in [] if ready else self._pipes():
            if pipe.sink.is_terminal:
                self._write(fd, pipe, len(pipe.kept))

    def close(self) -> None:
        """Writes what the pipes hold, unfinished lines too."""
        for fd, pipe in self._pipes():
            while self._read(fd, pipe):
                pass
        for fd, pipe in self._pipes():
            self._end(fd, pipe)
        self._selector.close()

    def _pipes(self) -> list[tuple[int, _Pipe]]:
        return [(key.fd, key.data) for key in self._selector.get_map().values()]

    def _read(self, fd: int, pipe: _Pipe) -> bool:
        """True if there may be more."""
        if fd not in self._selector.get_map():
            return False
        try:
            data = os.read(fd, 1 << 16)
        except BlockingIOError:
            return False
        if not data:
            self._end(fd, pipe)
            return False
        before = len(pipe.kept)
        pipe.kept += data
        whole = 1 + pipe.kept.rfind(b"\n", before)
        if pipe.sink.is_terminal:
            # Progress bars. A newline may follow the last byte.
            whole = max(whole, 1 + pipe.kept.rfind(b"\r", max(0, before - 1), len(pipe.kept) - 1))
        self._write(fd, pipe, len(pipe.kept) if len(pipe.kept) - whole > _LONGEST else whole)
        return True

    def _end(self, fd: int, pipe: _Pipe) -> None:
        self._write(fd, pipe, len(pipe.kept))
        if fd in self._selector.get_map():
            self._selector.unregister(fd)
            os.close(fd)

    def _write(self, fd: int, pipe: _Pipe, count: int) -> None:
        """Writes so many of the bytes that are kept."""
        text, sink = bytes(pipe.kept[:count]), pipe.sink
        del pipe.kept[:count]
        if not text:
            return
        before, sink.unfinished = sink.unfinished, None if text.endswith(b"\n") else fd
        if pipe.tag:
            text = re.sub(rb"\n(?=.)", b"\n" + pipe.tag, text, flags=re.S)
        begins = b"" if before == fd else pipe.tag if before is None else b"\n" + pipe.tag
        rest = memoryview(begins + text)
        try:
            while rest:
                if select.select([], [sink.number], [], 0.1)[1]:
                    rest = rest[os.write(sink.number, rest[: select.PIPE_BUF]) :]
                elif self._is_over():
                    break
        except OSError as error:
            # Nobody reads any more, or there is no room: the processes find their pipes closed.
            self.failure = self.failure if error.errno == errno.EPIPE else error
            for other, data in self._pipes():
                if data.sink is sink:
                    self._selector.unregister(other)
                    os.close(other)
