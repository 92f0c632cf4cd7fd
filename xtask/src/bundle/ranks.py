"""Heat steps over six parts by several processes, connected by TCP, that share the devices: the bits must be those of one process.

    python ranks.py [--small] [--processes 1,2,3]
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import time

PARTS = 6


def steps(extent: int, count: int) -> None:
    """In each process: prints a hash of the result, and what a step took."""
    import numpy as np

    import partita as pt

    def heat(u: pt.Array) -> None:
        inner = u[1:-1, 1:-1, 1:-1]
        around = u[:-2, 1:-1, 1:-1] + u[2:, 1:-1, 1:-1] + u[1:-1, :-2, 1:-1] + u[1:-1, 2:, 1:-1]
        u[1:-1, 1:-1, 1:-1] = inner + 0.1 * (around + u[1:-1, 1:-1, :-2] + u[1:-1, 1:-1, 2:] - 6 * inner)

    team = pt.Team(PARTS)
    x = np.random.default_rng(1).random((extent,) * 3, dtype=np.float32)
    u = pt.asarray(x, dist=pt.Distribution(x.shape, team=team, grid=(PARTS, 1, 1)))
    loop = pt.Loop(heat)
    loop.run(u, steps=10)
    start = time.perf_counter()
    loop.run(u, steps=count)
    float(u[0, 0, 0])
    taken = (time.perf_counter() - start) / count
    moved = u.redistribute(pt.Distribution(x.shape, team=team, grid=(1, PARTS, 1)))
    print("bits", hashlib.sha256(moved.numpy().tobytes()).hexdigest()[:16], f"{taken * 1e6:.0f} us a step", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--processes", default="")
    options = parser.parse_args()
    if not options.processes:
        steps(*((24, 5) if options.small else (256, 100)))
        return 0
    found = set()
    for count in options.processes.split(","):
        program = [__file__, *(["--small"] if options.small else [])]
        command = [sys.executable, "-m", "partita", "launch", "-n", count, *program]
        lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
        lines = [line.split("bits ")[1] for line in lines if "bits " in line]
        print(f"{count} processes: {', '.join(lines)}", flush=True)
        found |= {line.split()[0] for line in lines} or {f"none of {count}"}
    return int(len(found) != 1)


if __name__ == "__main__":
    sys.exit(main())
