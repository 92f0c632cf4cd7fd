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


@pytest.mark.parametrize("ranks", [2, 3])
def test_ranks_say_and_raise_the_same(ranks):
    """Representations, hashes, buffers and floating-point conditions of arrays over several processes."""
    code, out, _ = launch(ranks, RANKS / "scalars.py")
    assert code == 0 and out.count("ok: rank ") == ranks, out
