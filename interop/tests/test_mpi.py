"""Python programs of several processes, started by ``mpiexec``: what they compute, and how they end."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

RANKS = Path(__file__).parent / "ranks"
EXAMPLES = Path(__file__).parents[2] / "examples/python"

if shutil.which("mpiexec") is None:
    pytest.skip("no mpiexec", allow_module_level=True)

needs_mpi4py = pytest.mark.skipif(importlib.util.find_spec("mpi4py") is None, reason="no mpi4py")


def job(ranks, script, *arguments, launcher="mpiexec", **environment):
    """Exit code, output and seconds of a job."""
    # As root in containers, more ranks than cores, one thread each; mpi4py finds the library of the launcher.
    settings = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "PARTITA_THREADS": "1"}
    settings |= {"OMPI_MCA_rmaps_base_oversubscribe": "1", "PARTITA_DEADLINE_SECONDS": "20", "PARTITA_DEVICE": "host"}
    settings |= {"MPI4PY_MPIABI": "openmpi"}
    words = [launcher, "-n", str(ranks), sys.executable, str(script), *map(str, arguments)]
    begin = time.perf_counter()
    done = subprocess.run(
        words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=120,
        env={**os.environ, **settings, **environment},
    )  # fmt: skip
    return done.returncode, done.stdout, time.perf_counter() - begin


@pytest.mark.parametrize("ranks, count", [(1, 20), (2, 30), (3, 20), (4, 10)])
def test_mpi_programs(ranks, count, tmp_path):
    code, out, _ = job(ranks, RANKS / "programs.py", tmp_path)
    assert code == 0 and f"ok: {count} programs on {ranks} ranks by {'None' if ranks == 1 else 'Open MPI'}" in out, out


MPICH = Path(sys.prefix) / "mpich"


@pytest.mark.parametrize("launcher, library, wire", [
    ("mpiexec", "off", "TCP"), (MPICH / "bin/mpiexec", "auto", "MPICH"), (MPICH / "bin/mpiexec", MPICH / "lib/libmpi.so.12", "MPICH"),
    (MPICH / "bin/mpiexec", "off", "TCP"),
])  # fmt: skip
def test_mpi_libraries_are_found_at_run_time(launcher, library, wire, tmp_path):
    """Through the standard interface (``libmpi_abi.so``, which comes first) and MPICH's own; Open MPI's is that of all other tests."""
    if shutil.which(launcher) is None:
        pytest.skip("no MPICH")
    code, out, _ = job(3, RANKS / "programs.py", tmp_path, launcher=str(launcher), PARTITA_MPI=str(library))
    assert code == 0 and f"ok: 20 programs on 3 ranks by {wire}" in out, out


def test_mpi_is_not_loaded_before_it_is_needed():
    program = "import partita as pt; pt.Team(2, 'host'); print('libmpi' in open('/proc/self/maps').read())"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout == "False\n"


ENDS = [
    ("raise", "compute"), ("raise", "sleep"), ("raise", "catch"), ("step", "compute"), ("thread", "compute"), ("exit", "compute"),
    ("return", "compute"), pytest.param("raise", "receive", marks=needs_mpi4py), ("exit", "catch"),
    pytest.param("foreign", "compute", marks=needs_mpi4py),
]  # fmt: skip


@pytest.mark.parametrize("kind, others", ENDS)
def test_mpi_ends(kind, others):
    """Whatever the others do, the job ends, and who failed is reported by all ranks."""
    code, out, seconds = job(3, RANKS / "ends.py", kind, others)
    assert code != 0 and seconds < 10, out
    if kind in ("raise", "step", "thread"):
        # The traceback in one piece.
        assert re.search(r'ends.py", line \d+, in fail\n(?:.*\n){1,2}ValueError: the third rank gives up\n', out), out
        assert "rank 2 failed in" in out and "ValueError: the third rank gives up" in out
    if others in ("compute", "catch"):
        for rank in (0, 1):
            assert f"[partita] on rank {rank} of 3: rank 2 failed in " in out, out
    if others == "catch":
        assert len(re.findall(r"rank [01] caught: rank 2 failed in ", out)) == 2, out


@needs_mpi4py
@pytest.mark.parametrize("order", ["first", "last"])
def test_mpi_communicators(order):
    code, out, _ = job(3, RANKS / "communicators.py", order)
    assert code == 0 and "ok: communicators on 3 ranks" in out, out


@pytest.mark.parametrize("ranks", [2, 3])
def test_mpi_partitions(ranks):
    code, out, _ = job(ranks, RANKS / "partitions.py")
    assert code == 0 and f"ok: partitions on {ranks} ranks" in out, out


def test_mpi_gradients():
    """Processes with and without members go back together."""
    pytest.importorskip("torch")
    code, out, _ = job(3, RANKS / "gradients.py")
    assert code == 0 and "ok: gradients on 3 ranks" in out, out


@pytest.mark.parametrize("example", ["heat.py", "ranks/mpi.py"])
def test_mpi_examples(example):
    code, out, _ = job(3, EXAMPLES / example)
    assert code == 0 and out.count("ok: ") >= 1 and "Traceback" not in out, out
