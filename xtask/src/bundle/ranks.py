"""Heat steps over six parts by several processes that share the devices, connected by TCP: the bits of one process.

    python ranks.py [--small] [--processes 1,2,3]
"""

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
    print("bits", hashlib.sha256(moved.numpy().tobytes()).hexdigest()[:16], f"{taken * 1e6:.0f} us", flush=True)


def main(words: list[str]) -> int:
    small = [word for word in words if word == "--small"]
    if "--processes" not in words:
        return steps(*((24, 5) if small else (256, 100))) or 0
    found = set()
    for count in words[words.index("--processes") + 1].split(","):
        command = [sys.executable, "-m", "partita", "launch", "-n", count, __file__, *small]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        lines = [line.split("bits ")[1] for line in text.splitlines() if "bits " in line]
        print(f"{count} processes, a step: {', '.join(lines)}", flush=True)
        found |= {line.split()[0] for line in lines} or {f"none of {count}"}
    return int(len(found) != 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
