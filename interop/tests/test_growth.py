"""What a long program leaves behind: statements with new numbers, draws, slices, masks and lengths of transforms."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from conftest import CUDA

#: `cargo xtask soak` runs a million.
STATEMENTS = int(os.environ.get("STATEMENTS", "12000"))
#: Growth after a warm-up, in MiB.
MOST_MIB = 10

PROGRAM = textwrap.dedent(
    """
    import gc, os, random, sys
    import partita as np

    def resident():
        gc.collect()
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

    count, kind = int(sys.argv[1]), sys.argv[2]
    np.set_default_team(np.Team(1, kind))
    choose, rng = random.Random(5), np.random.default_rng(3)
    u, v = np.zeros(100), np.linspace(0.0, 1.0, 100)
    plate, line = np.ones((24, 24)), np.zeros(20000)

    def new_number(k):
        u[k % 100] = float(k)
    def new_places(k):
        for j in range(10 if kind == "host" else 1):
            line[(10 * k + j) % 20000] = float(k)
    def new_step(k):
        dt = choose.choice([0.0, 1.0, 0.5, choose.random()])
        u[1:-1] += dt * (v[2:] - 2 * v[1:-1] + v[:-2])
    def sliced(k):
        start = choose.randrange(50)
        u[start:start + 40] = choose.random() * v[start + 3:start + 43] + 1
    def draw(k):
        u[:] = rng.normal(size=100) + rng.random(100)
    def draw_one(k):
        v[3] = float(rng.random()) * choose.random()
    def masked(k):
        u[u > choose.random()] = choose.random()
        float(u[v > choose.random()].sum())
    def indexed(k):
        u[[choose.randrange(100) for _ in range(5)]] = choose.random()
    def clipped(k):
        np.clip(u, -choose.random(), 1e6 * choose.random(), out=u)
    def transformed(k):
        n = choose.randrange(2, 90) if kind == "host" else choose.choice([7, 16, 60])
        u[:n] = np.fft.ifft(np.fft.fft(u[:n])).real
    def powers(k):
        u[:] = np.abs(u + 1e-3) ** choose.uniform(0.1, 2.0) + v ** choose.choice([2, 3, -1])
    def two_dimensional(k):
        plate[1:-1, 1:-1] = 0.25 * (plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:]) + choose.random()
        plate[plate > 3] = 0

    many = [new_number, new_places, new_step, sliced, draw, draw_one, indexed, clipped, powers, two_dimensional]
    few = [masked, transformed]
    def run(first, last):
        for k in range(first, last):
            (choose.choice(few) if k % 20 == 0 else choose.choice(many))(k)
            if k % 512 == 0:
                np.nan_to_num(u, copy=False, nan=0.5, posinf=1.0, neginf=-1.0)
                u.eval(), v.eval(), plate.eval()
        u.eval(), v.eval(), plate.eval()

    warm = min(count // 2, 20000)
    run(0, warm)
    print("warm", flush=True)
    before = resident()
    run(warm, count)
    print("grown", resident() - before)
    """
)


def grown(tmp_path: Path, kind: str, count: int) -> tuple[float, list[str]]:
    """MiB that the program grew by after its warm-up, and the lines of its driver's log after it."""
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    log = {"PARTITA_SIM_TRACE": "1"} if kind == "cuda" else {}
    done = subprocess.run(
        [sys.executable, script, str(count), kind],
        env={**os.environ, **log}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=36000, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]
    warm = done.stdout.partition("warm\n")[2]
    found = re.search(r"grown (-?[\d.]+)", warm)
    assert found, done.stdout[-3000:]
    return float(found[1]), warm.splitlines()


def test_statements_with_new_numbers_leave_nothing_behind(tmp_path: Path) -> None:
    if not Path("/proc/self/statm").exists():
        pytest.skip("memory in use is read from /proc")
    mib, _ = grown(tmp_path, "host", STATEMENTS)
    print(f"{STATEMENTS} statements, grown {mib:.1f} MiB")
    assert mib < MOST_MIB


@pytest.mark.skipif(not CUDA, reason="no CUDA driver")
def test_statements_with_new_numbers_load_no_modules_on_cuda(tmp_path: Path) -> None:
    """Counted on the simulated driver, which prints its calls."""
    _, calls = grown(tmp_path, "cuda", 1200)
    if not any("simcuda: cuLaunchKernel" in call for call in calls):
        pytest.skip("the driver does not print its calls")
    loaded = [call for call in calls if "cuModuleLoad" in call or "cuLibraryLoad" in call]
    assert not loaded, loaded[:5]
