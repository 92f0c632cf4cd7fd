"""Programs of several processes without MPI: ``python -m partita launch``, ``torchrun``, and processes that a program
starts itself."""

import importlib.util
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

HERE = Path(__file__).parent
RANKS = HERE / "ranks"
DOCUMENT = HERE.parents[1] / "docs/ranks.md"
SETTINGS = {"PARTITA_THREADS": "1", "PARTITA_DEADLINE_SECONDS": "20", "PARTITA_DEVICE": "host"}

needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="no torch")


def run(*words, **environment):
    """Exit code, output and seconds of a command of Python."""
    begin = time.perf_counter()
    done = subprocess.run(
        [sys.executable, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=120,
        env={**os.environ, **SETTINGS, **environment},
    )  # fmt: skip
    return done.returncode, done.stdout, time.perf_counter() - begin


def launch(ranks, *words, **environment):
    return run("-m", "partita", "launch", "-n", ranks, *words, **environment)


@pytest.mark.parametrize("ranks, count", [(1, 20), (3, 20)])
def test_programs_without_mpi(ranks, count, tmp_path):
    code, out, _ = launch(ranks, RANKS / "programs.py", tmp_path)
    assert code == 0 and f"ok: {count} programs on {ranks} ranks" in out, out


@pytest.mark.parametrize("kind, others", [("raise", "compute"), ("raise", "sleep"), ("raise", "catch"), ("exit", "compute"), ("return", "compute")])
def test_ends_without_mpi(kind, others):
    """Whatever the others do, the job ends, and who failed is reported by all ranks."""
    code, out, seconds = launch(3, RANKS / "ends.py", kind, others)
    assert code != 0 and seconds < 15, out
    if kind == "raise":
        assert "rank 2 failed in" in out and "ValueError: the third rank gives up" in out
    if others in ("compute", "catch"):
        for rank in (0, 1):
            assert f"[partita] on rank {rank} of 3: rank 2 failed in " in out, out
    if others == "catch":
        assert len(re.findall(r"rank [01] caught: rank 2 failed in ", out)) == 2, out


def test_launch_refuses_what_it_cannot_start():
    code, out, _ = launch(0, RANKS / "programs.py")
    assert code == 2 and "expected at least 1 process, given 0" in out, out
    code, out, _ = launch(2, "no_such_file.py")
    assert code == 2 and "no_such_file.py" in out, out


TORCHRUN = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")

BESIDE_TORCH = """
import torch, torch.distributed as dist
import partita as pt
dist.init_process_group("gloo")
team = {team}
u = pt.arange(10, dtype=pt.float64, team=team)
ones = torch.ones(1)
dist.all_reduce(ones)
assert (float(u.sum()), float(ones), team.ranks, team.size) == (45, 2, 2, 4)
print(f"ok: rank {{team.rank}}")
dist.destroy_process_group()
"""


@needs_torch
@pytest.mark.parametrize("team", ["pt.Team(4)", "pt.Team.connect(4)"])
def test_torchrun(team, tmp_path):
    """Beside a process group of PyTorch; by the variables of torchrun, and by its store."""
    script = tmp_path / "script.py"
    script.write_text(BESIDE_TORCH.format(team=team))
    code, out, _ = run(*TORCHRUN, script)
    assert code == 0 and all(f"ok: rank {rank}" in out for rank in (0, 1)), out


def test_the_documents_program_of_processes(tmp_path):
    block = re.search(r"```python\n(import multiprocessing.*?)```", DOCUMENT.read_text(), re.S)
    script = tmp_path / "script.py"
    script.write_text(block[1] + "    assert [rank.exitcode for rank in ranks] == [0, 0]\n    print('ok')\n")
    code, out, _ = run(script)
    assert code == 0 and out.endswith("ok\n"), out


def test_connect_says_what_is_missing():
    code, out, _ = run("-c", "import partita as pt; pt.Team.connect()")
    assert code == 1 and "expected a process that torchrun started, given one without RANK" in out, out
    code, out, _ = run("-c", "import partita as pt; pt.Team.connect(rank=0)")
    assert code == 1 and "expected rank, size and address, given some of them" in out, out
    code, out, _ = run("-c", "import partita as pt; pt.Team.connect(rank=0, size=2, address='0.0.0.0:0')")
    assert code == 1 and "needs a secret" in out, out
    code, out, _ = run("-c", "import partita as pt; pt.ones(3)", RANK="1", WORLD_SIZE="2", LOCAL_WORLD_SIZE="1")
    assert code == 1 and "PARTITA_ADDRESS=HOST:PORT of rank 0 and PARTITA_SECRET" in out, out


FORKS = """
import multiprocessing, os, signal, sys, time
import partita as pt

team = pt.Team(3)
u = pt.ones(40, team=team)
assert float(u.sum()) == 40

def forked(work):
    child = os.fork()
    if child == 0:
        work()
        sys.exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

def uses():
    for work in (lambda: float(u.sum()), lambda: pt.ones(3), lambda: pt.Team(3)):
        try:
            work()
        except pt.DeviceError as error:
            assert "this process was forked" in str(error), error
        else:
            raise AssertionError("not refused")

def fails():
    raise ValueError("the forked process gives up")

def square(x):
    return float(pt.full(1, x, team=pt.Team.local(1, "host"))[0]) ** 2

begin = time.perf_counter()
if team.rank == 1:
    assert forked(lambda: None) == 0
    assert forked(uses) == 0
    assert forked(fails) == 1
    assert forked(lambda: os.kill(os.getpid(), signal.SIGTERM)) == -signal.SIGTERM
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(square, [1, 2, 3]) == [1, 4, 9]
assert float((u * 2).sum()) == 80 and time.perf_counter() - begin < 15
print("went on", flush=True)
"""


def test_forked_processes_do_not_speak_for_their_rank(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(FORKS)
    code, out, _ = launch(3, script)
    assert code == 0 and out.count("went on") == 3, out
    assert "the forked process gives up" in out and "rank 1 failed" not in out, out
    assert "another rank died" not in out and "SIGTERM" not in out, out


FORK_WHILE_COMPUTING = """
import os, threading, time
import partita as pt

u, v = pt.ones(1 << 18, team=pt.Team.local(2, "host")), pt.ones(1 << 18, team=pt.Team.local(2, "host"))
u.eval(), v.eval()
over = threading.Event()

def computes():
    while not over.is_set():
        (v * 2 + 1).sum().item()

thread = threading.Thread(target=computes, daemon=True)
thread.start()
codes = []
for _ in range(10):
    time.sleep(0.02)
    child = os.fork()
    if child == 0:
        try:
            value = float((u + 1).sum())
        except pt.DeviceError as error:
            os._exit(7 if "another thread computed" in str(error) else 8)
        os._exit(0 if value == 1 << 19 else 9)
    for _ in range(500):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        time.sleep(0.02)
    else:
        os.kill(child, 9)
        os.waitpid(child, 0)
        status = 99 << 8
    codes.append(os.waitstatus_to_exitcode(status))
    if codes[-1] == 99:
        break
over.set()
print("codes", *sorted(set(codes)))
"""


def test_a_process_forked_while_another_thread_computes_does_not_hang():
    code, out, _ = run("-c", FORK_WHILE_COMPUTING, PARTITA_THREADS="2")
    assert code == 0 and out in ("codes 7\n", "codes 0 7\n"), out


def test_a_search_for_mpi_that_failed_is_not_repeated():
    """The loader says for which files it searches."""
    script = "import partita as pt; pt.zeros(8); print('warm', flush=True); [pt.zeros(8) for _ in range(100)]; pt.Team(2)"
    alone = {name: value for name, value in os.environ.items() if not name.startswith(("OMPI", "PMI", "PARTITA"))}
    done = subprocess.run(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True, timeout=60,
        env={**alone, "PARTITA_DEVICE": "host", "LD_DEBUG": "libs"},
    )  # fmt: skip
    if "find library=" not in done.stdout:
        pytest.skip("the loader does not say what it does")
    before, after = done.stdout.split("warm\n")
    assert before.count("find library=libmpi") <= 8 and after.count("find library=libmpi") == 0, after[:2000]


def test_mpi_that_is_loaded_later_is_found():
    """By mpi4py, after arrays were made without: that its MPI has ended is an error then."""
    pytest.importorskip("mpi4py")
    script = """
import partita as pt
assert (pt.zeros(8) + 1).sum().item() == 8
from mpi4py import MPI
MPI.Finalize()
try:
    pt.zeros(8)
except ValueError as error:
    print("found:", error)
"""
    code, out, _ = run("-c", script, MPI4PY_MPIABI="openmpi", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    assert code == 0 and "found: MPI: expected MPI that has not ended" in out, out
