"""``python -m partita launch -n 4 script.py``: a script as several processes of this machine, without MPI.

The processes find each other through a file in a folder that this user alone can read, which is deleted at the end.
They get the variables that ``torchrun`` sets, too.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time

#: How long the others may live on after one has failed, to print their errors, in seconds.
_GRACE = 5.0


def launch(arguments: list[str]) -> int:
    """Starts the processes and waits for them; the exit code of the first that failed, or 0."""
    parser = argparse.ArgumentParser("python -m partita launch", description="Run a script as several processes of this machine.")
    parser.add_argument("-n", type=int, required=True, metavar="N", help="number of processes")
    parser.add_argument("-m", action="store_true", help="the script is a module's name")
    parser.add_argument("script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    given = parser.parse_args(arguments)
    if given.n < 1:
        parser.error(f"-n: expected at least 1 process, given {given.n}")
    command = [sys.executable, *(["-m"] if given.m else []), given.script, *given.arguments]
    threads = max(1, len(os.sched_getaffinity(0)) // given.n) if hasattr(os, "sched_getaffinity") else 1
    with tempfile.TemporaryDirectory(prefix="partita-") as folder:
        shared = {"WORLD_SIZE": str(given.n), "LOCAL_WORLD_SIZE": str(given.n), "PARTITA_ADDRESS": f"{folder}/job"}
        shared["PARTITA_THREADS"] = os.environ.get("PARTITA_THREADS", str(threads))
        environments = ({**os.environ, **shared, "RANK": str(rank), "LOCAL_RANK": str(rank)} for rank in range(given.n))
        return _wait([subprocess.Popen(command, env=environment) for environment in environments])


def _wait(processes: list[subprocess.Popen[bytes]]) -> int:
    failed, end = 0, None
    # The terminal interrupts all processes of its group; each ends by itself.
    before = signal.signal(signal.SIGINT, lambda *_: None)
    try:
        while any(process.poll() is None for process in processes):
            if failed == 0:
                failed = next((code for process in processes if (code := process.poll())), 0)
                end = time.monotonic() + _GRACE if failed else None
            if end is not None and time.monotonic() > end:
                _end(processes)
            time.sleep(0.02)
    finally:
        signal.signal(signal.SIGINT, before)
    failed = failed or next((code for process in processes if (code := process.poll())), 0)
    # A process that a signal ended, as shells count.
    return 128 - failed if failed < 0 else failed


def _end(processes: list[subprocess.Popen[bytes]]) -> None:
    """Ends what still runs, first gently. A stopped process gets the gentle signal only when it goes on."""
    running = [process for process in processes if process.poll() is None]
    for process in running:
        process.terminate()
    for process in running:
        try:
            process.wait(1)
        except subprocess.TimeoutExpired:
            process.kill()
