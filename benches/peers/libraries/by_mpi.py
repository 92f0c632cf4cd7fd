"""MPI: ping-pong between two ranks of this machine, in C's own Send and Recv through mpi4py's buffers.

Started by this file as `mpirun -n 2 python by_mpi.py BYTES TRIPS`; a line of input starts a round.
"""

import shutil
import subprocess
import sys

from overheads import TRIPS


def bind(job):
    if job.kind != "message":
        return None
    import mpi4py  # noqa: F401: missing, it is named before anything is started

    mpirun = shutil.which("mpirun")
    if mpirun is None:
        raise ImportError("no mpirun")
    return PingPong(mpirun, job.bytes)


class PingPong:
    """Two ranks that wait for a line."""

    share = 1 / (2 * TRIPS)

    def __init__(self, mpirun, size):
        command = [mpirun, "--oversubscribe", "--allow-run-as-root", "-n", "2"]
        command += [sys.executable, __file__, str(size), str(TRIPS)]
        self.ranks = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def __call__(self):
        try:
            print("go", file=self.ranks.stdin, flush=True)
            answer = self.ranks.stdout.readline().strip()
        except OSError as reason:
            raise RuntimeError(f"the ranks ended: {reason}") from reason
        if answer != "done":
            raise RuntimeError(f"the ranks answered {answer!r}")

    def __del__(self):
        self.ranks.stdin.close()
        self.ranks.wait()


def rank(size, trips):
    import numpy as np
    from mpi4py import MPI

    world, buffer = MPI.COMM_WORLD, np.zeros(size, np.uint8)
    me, other = world.rank, 1 - world.rank
    while True:
        going = world.bcast(sys.stdin.readline() if me == 0 else None)
        if not going:
            return
        right = True
        for trip in range(trips):
            if me == 0:
                buffer[0] = buffer[-1] = trip % 251
                world.Send(buffer, other)
                world.Recv(buffer, other)
            else:
                world.Recv(buffer, other)
                right = right and buffer[0] == buffer[-1] == trip % 251
                world.Send(buffer, other)
        all_right = world.reduce(bool(right), MPI.LAND)
        if me == 0:
            print("done" if all_right else "wrong", flush=True)


if __name__ == "__main__":
    rank(int(sys.argv[1]), int(sys.argv[2]))

CONTENDERS = {"mpi": bind}
