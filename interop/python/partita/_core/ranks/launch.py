"""``python -m partita launch -n 4 script.py``: a script as several processes of this machine, without MPI.

The processes find each other through a file in a folder that this user alone can read. They get the variables that
``torchrun`` sets, too. They are one process group, whose first member, the guard, outlives a launcher that is killed: it
removes the folder and ends the others.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import MutableSequence
from importlib.machinery import PathFinder

from .output import Output

#: The most processes: more are a slip of the hand on one machine.
_MOST = 1024
#: Seconds that the others may live on after one has failed, to print their errors.
_GRACE = 5.0
#: Seconds that they may take to end when they are asked to.
_GENTLY = 1.0
#: Seconds that processes started by ranks, such as Python's trackers of resources, may take after them.
_AFTER = 0.2

_ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


def launch(arguments: list[str]) -> int:
    """Starts the processes and waits for them; the exit code of the first that failed, or 0."""
    parser = argparse.ArgumentParser(
        "python -m partita launch",
        description="Run a script as several processes of this machine. Process 0 has the standard input, unless that is a terminal.",
    )
    parser.add_argument("-n", type=int, required=True, metavar="N", help="number of processes")
    parser.add_argument("-m", action="store_true", help="the script is a module's name")
    parser.add_argument("--tag", action="store_true", help="begin each line of output with the number of its process")
    parser.add_argument("script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    given = parser.parse_args(arguments)
    if not 1 <= given.n <= _MOST:
        parser.error(f"-n: expected 1 to {_MOST} processes, given {given.n}")
    if wrong := _wrong_module(given.script) if given.m else _wrong_script(given.script):
        parser.error(wrong)
    command = [sys.executable, *(["-m"] if given.m else []), given.script, *given.arguments]
    _open_streams()
    try:
        return _Job().run(command, given.n, given.tag)
    except OSError as error:
        print(f"launch: {error}", file=sys.stderr)
        return 1


def _wrong_script(script: str) -> str | None:
    if not os.path.exists(script):
        return f"expected a script, given {script}, which does not exist"
    if os.path.isdir(script) and not os.path.exists(os.path.join(script, "__main__.py")):
        return f"expected a script, given the folder {script}, which has no __main__.py"
    return None if os.access(script, os.R_OK) else f"expected a script, given {script}, which this user may not read"


def _wrong_module(name: str) -> str | None:
    """Looks where Python will, without importing anything."""
    inside: MutableSequence[str] | None = [os.getcwd(), *sys.path]
    for end in range(1, name.count(".") + 2):
        whole = ".".join(name.split(".")[:end])
        try:
            found = PathFinder.find_spec(whole, inside or []) or (importlib.util.find_spec(whole) if end == 1 else None)
        except (ImportError, ValueError):
            found = None
        if found is None:
            return f"-m: expected a module, given {name}: there is no {whole}"
        inside = found.submodule_search_locations
    if inside is not None and PathFinder.find_spec(f"{name}.__main__", inside) is None:
        return f"-m: expected a module, given the package {name}, which has no __main__"
    return None


def _open_streams() -> None:
    """Standard streams that are closed would become pipes of the processes."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


class _Job:
    """Processes that end with this one, and their folder."""

    def __init__(self) -> None:
        self.processes: list[subprocess.Popen[bytes]] = []
        #: The signal that ended the job.
        self.signal = 0
        #: The time at which running ranks are ended, and whether they were asked to end.
        self.deadline, self.is_asked, self.is_interrupted = float("inf"), False, False

    def run(self, command: list[str], count: int, is_tagged: bool) -> int:
        tempfile.gettempdir()  # Says what is wrong with it.
        handlers = {signal.SIGINT: self.interrupt, signal.SIGTSTP: self.pause, **dict.fromkeys(_ENDING, self.end)}
        # Who starts a program with signals ignored, as `nohup` does, wants it to go on.
        handlers = {number: handler for number, handler in handlers.items() if signal.getsignal(number) != signal.SIG_IGN}
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, handlers)
        self.guard, folder, line = _start_guard()
        before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        self.output, code = Output(lambda: self.is_asked), 1
        try:
            self.start(command, count, folder, is_tagged)
            code = self.wait()
        finally:
            # Of a job that went well, what its processes have started lives on, as under a shell.
            (os.killpg if code else os.kill)(self.guard, signal.SIGKILL)
            for process in self.processes:
                process.wait()
            self.output.close()
            os.waitpid(self.guard, 0)
            line.close()
            shutil.rmtree(folder, ignore_errors=True)
            for number, handler in before.items():
                signal.signal(number, handler)
        if failure := self.output.failure:
            print(f"launch: the output could not be written: {failure.strerror}", file=sys.stderr)
            return code or 1
        return code

    def start(self, command: list[str], count: int, folder: str, is_tagged: bool) -> None:
        threads = max(1, len(os.sched_getaffinity(0)) // count) if hasattr(os, "sched_getaffinity") else 1
        shared = {"WORLD_SIZE": str(count), "LOCAL_WORLD_SIZE": str(count), "PARTITA_ADDRESS": f"{folder}/job"}
        defaults = {"PARTITA_THREADS": str(threads), **({"PYTHONUNBUFFERED": "1"} if self.output.is_watched else {})}
        for rank in range(count):
            if self.is_asked:
                return
            environment = {**defaults, **os.environ, **shared, "RANK": str(rank), "LOCAL_RANK": str(rank)}
            # The processes are in the background, where a terminal cannot be read.
            stdin = None if rank == 0 and not os.isatty(0) else subprocess.DEVNULL
            ends: list[int] = []
            try:
                ends = self.output.pipes(f"[{rank}] " if is_tagged else "")
                process = subprocess.Popen(
                    command, env=environment, stdin=stdin, stdout=ends[0], stderr=ends[-1], process_group=self.guard
                )
            except OSError as error:
                raise OSError(f"process {rank} of {count} does not start: {error.strerror}; ask for fewer") from error
            finally:
                for end in ends:
                    os.close(end)
            self.processes.append(process)

    def wait(self) -> int:
        """Until all processes have ended; the exit code of the job."""
        failed = 0
        while any(process.poll() is None for process in self.processes):
            self.output.pass_on(0.05)
            if failed == 0 and (failed := self.failed()):
                self.deadline = min(self.deadline, time.monotonic() + _GRACE)
            if time.monotonic() > self.deadline:
                self.ask(signal.SIGKILL if self.is_asked else signal.SIGTERM)
        failed = failed or self.failed()
        end = time.monotonic() + (_AFTER if failed or self.signal else 0)
        while (left := end - time.monotonic()) > 0:
            self.output.pass_on(left)
        # A process that a signal ended, as shells count.
        return 128 + self.signal if self.signal else 128 - failed if failed < 0 else failed

    def failed(self) -> int:
        return next((code for process in self.processes if (code := process.poll())), 0)

    def ask(self, number: int) -> None:
        """Asks all processes to end, with a moment for it. A stopped process gets a gentle signal only when it goes on."""
        self.is_asked, self.deadline = True, time.monotonic() + _GENTLY
        os.killpg(self.guard, number)

    def end(self, number: int, _: object) -> None:
        self.signal = self.signal or number
        self.ask(number)

    def interrupt(self, number: int, _: object) -> None:
        """Each process ends by itself, or is ended the second time."""
        if self.is_interrupted:
            self.end(number, _)
        self.is_interrupted = True
        os.killpg(self.guard, number)

    def pause(self, number: int, _: object) -> None:
        os.killpg(self.guard, number)
        os.kill(os.getpid(), signal.SIGSTOP)
        os.killpg(self.guard, signal.SIGCONT)


def _start_guard() -> tuple[int, str, socket.socket]:
    """The first of the processes' group, a new folder, and the line whose end tells it that this process is dead.

    Signals that are blocked here stay blocked there.
    """
    here, there = socket.socketpair()
    guard = os.fork()
    if guard == 0:
        try:
            here.close()
            os.setpgid(0, 0)
            # Readers of the output wait for nobody but the launcher.
            null = os.open(os.devnull, os.O_RDWR)
            for number in range(3):
                os.dup2(null, number)
            folder = tempfile.mkdtemp(prefix="partita-")
            there.send(os.fsencode(folder))
            there.recv(1)
            # Under its old name no process writes into it any more.
            os.rename(folder, f"{folder}-")
            shutil.rmtree(f"{folder}-", ignore_errors=True)
        finally:
            os.killpg(0, signal.SIGTERM)
            time.sleep(_GENTLY)
            os.killpg(0, signal.SIGKILL)
    there.close()
    if not (made := here.recv(4096)):
        os.waitpid(guard, 0)
        raise OSError(f"a folder for temporary files cannot be made in {tempfile.gettempdir()}")
    return guard, os.fsdecode(made), here
