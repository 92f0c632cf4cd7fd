"""Loops over processes that share CUDA devices' memory: steps have their messages in them, whoever holds the state between runs,
and every process ends when one does. Each process has a device of its own on the simulated driver."""

import os
import subprocess
import sys
import time

import partita as pt
import pytest
from conformance.ranks import run

if not any(device.kind == "cuda" and "simulated" in device.name for device in pt.devices()):
    pytest.skip("the simulated driver is needed", allow_module_level=True)

STEP = """
def heat(u):
    sides = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
    u[1:-1, 1:-1] = 0.125 * sides + 0.5 * u[1:-1, 1:-1]

def begun(kind):
    team = pt.Team(3, [one for one in pt.devices() if one.kind == kind][:1])
    first = np.arange(30 * 20, dtype=np.float32).reshape(30, 20) ** 0.5
    return pt.asarray(first, team=team), pt.Loop(heat)
"""

SETTINGS = {"PARTITA_DEVICE": "cuda", "PARTITA_SIM_DEVICES": "1"}

HELD = """
(u, loop), (v, other) = begun("cuda"), begun("host")
held = []
for turn, count in enumerate((20, 13, 30, 9, 17, 40)):
    # An export or a copy, so that the step is recorded anew, or nothing.
    if turn % 3 < 2:
        held.append(u.parts[0].stored.__dlpack__() if turn % 3 else u.copy())
    loop.run(u, steps=count)
    other.run(v, steps=count)
    assert u.numpy().tobytes() == v.numpy().tobytes(), turn
    held.clear()
loop.run(u, steps=40)
assert "no host waits" in loop.explain(), loop.explain()
print("chained;")
"""


def test_runs_go_on_whoever_holds_the_state():
    assert run(3, STEP + HELD, **SETTINGS).count("chained;") == 3


FAILS = """
u, loop = begun("cuda")
try:
    for _ in range(20):
        loop.run(u, steps=40)
        u.team.wait()
except pt.RankError as error:
    print(error, flush=True)
    held = int(re.search("arrays of Loop [0-9]+ hold step ([0-9]+)", str(error)).group(1))
    part = u.parts[0]
    v = np.arange(30 * 20, dtype=np.float32).reshape(30, 20) ** 0.5
    for _ in range(held):
        heat(v)
    rank, mine = int(os.environ["RANK"]), np.from_dlpack(part, device="cpu")
    assert mine.shape == (10, 20) and np.array_equal(mine, v[10 * rank : 10 * rank + 10]), held
    try:
        u.numpy()
    except pt.RankError:
        print("left whole;", flush=True)
os._exit(0)
"""


def test_the_last_whole_step_is_there_after_a_failure(tmp_path):
    file = tmp_path / "program.py"
    file.write_text("import os\nimport re\nimport numpy as np\nimport partita as pt\n" + STEP + FAILS)
    words = [sys.executable, "-m", "partita", "launch", "-n", "3", str(file)]
    settings = {**os.environ, **SETTINGS, "PARTITA_THREADS": "1", "PARTITA_FAULT": "1:loop-replay:25:error"}
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60, env=settings)
    # The rank at fault has its own error.
    assert done.stdout.count("left whole;") == 2, done.stdout + done.stderr


ENDS = """
import signal
u, loop = begun("cuda")
rank = int(os.environ["RANK"])
loop.run(u, steps=40)
assert "no host waits" in loop.explain(), loop.explain()

def end(done):
    if rank == 1 and done >= 60:
        {what}

loop.run(u, steps=400, callback=end, every=20)
u.numpy()
"""


@pytest.mark.parametrize("what", ["os.kill(os.getpid(), signal.SIGKILL)", "os._exit(3)", "raise RuntimeError('mine')", "raise SystemExit(4)"])
def test_the_end_of_a_process_is_the_end_of_all(what, tmp_path):
    file = tmp_path / "program.py"
    file.write_text("import os\nimport numpy as np\nimport partita as pt\n" + STEP + ENDS.format(what=what))
    begin = time.monotonic()
    words = [sys.executable, "-m", "partita", "launch", "-n", "3", str(file)]
    settings = {**os.environ, **SETTINGS, "PARTITA_THREADS": "1", "PARTITA_DEADLINE_SECONDS": "20"}
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60, env=settings)
    assert done.returncode != 0 and "rank 1" in done.stderr, done.stdout + done.stderr
    assert time.monotonic() - begin < 15, done.stderr
