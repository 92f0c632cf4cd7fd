"""The same bits on 1 to 4 ranks, whoever starts them: ``torchrun``, ``mpiexec`` of Open MPI and of MPICH, ``python -m partita
launch``. A 7-point ``Loop`` in both precisions and the tsunami, on the host and on the simulated CUDA driver."""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import partita as pt
import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = Path(__file__).parent / "ranks/same_bits.py"
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
TSUNAMI, DRIVER = TARGET / "debug/examples/tsunami", ROOT / "target/simcuda"
MPICH = Path(sys.prefix) / "mpich/bin/mpiexec"

SETTINGS = {
    "PARTITA_THREADS": "1", "PARTITA_DEADLINE_SECONDS": "60", "PARTITA_DEVICE": "auto", "OMP_NUM_THREADS": "1",
    "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
}  # fmt: skip

LAUNCHERS = {
    "partita": lambda ranks: [sys.executable, "-m", "partita", "launch", "-n", ranks],
    "torchrun": lambda ranks: [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", ranks],
    "Open MPI": lambda ranks: ["mpiexec", "-n", ranks, sys.executable],
    "MPICH": lambda ranks: [str(MPICH), "-n", ranks, sys.executable],
}
MISSING = {
    "torchrun": importlib.util.find_spec("torch") is None,
    "Open MPI": shutil.which("mpiexec") is None,
    "MPICH": shutil.which(MPICH) is None,
}


def output(words, *arguments, **environment):
    """Of a job with the simulated driver, where there is one."""
    environment = {**os.environ, **SETTINGS, "PARTITA_SIM_DEVICES": "4", **environment}
    if (DRIVER / "libcuda.so.1").exists():
        environment["LD_LIBRARY_PATH"] = f"{DRIVER}:{environment.get('LD_LIBRARY_PATH', '')}"
    words = [*words, str(PROGRAM), *map(str, arguments)]
    done = subprocess.run(
        words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=300, env=environment
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def bits(words):
    return dict(re.findall(r"(float\d\d on \w+): (\w{64});", output(words)))


def surface(words, folder, device, parts, **environment):
    """The tsunami's, on so many parts per rank."""
    file = folder / f"{device}.npy"
    options = ["--parts", parts, "--device", device, "--scale", 1, "--steps", 40, "--frames", 0, "--dump", file]
    output(words, TSUNAMI, *options, **environment)
    return np.load(file).tobytes()


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """One process without a launcher; all kinds of devices give the same bits."""
    loops = bits([sys.executable])
    by_dtype = {name.split()[0]: found for name, found in loops.items()}
    assert by_dtype.keys() == {"float32", "float64"} and all(by_dtype[name.split()[0]] == found for name, found in loops.items())
    wave = surface([sys.executable], tmp_path_factory.mktemp("alone"), "host", 1) if TSUNAMI.exists() else None
    return by_dtype, list(loops), wave


@pytest.mark.parametrize("launcher", LAUNCHERS)
@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
def test_launchers_give_the_same_bits(launcher, ranks, expected, tmp_path):
    if MISSING.get(launcher):
        pytest.skip(f"no {launcher}")
    by_dtype, names, wave = expected
    words = LAUNCHERS[launcher](str(ranks))
    assert bits(words) == {name: by_dtype[name.split()[0]] for name in names}
    if wave is None:
        pytest.skip(f"{TSUNAMI} is not built; the loops gave the same bits")
    # The example may be linked with Open MPI; then ranks of MPICH's launcher connect by TCP.
    way = {"PARTITA_MPI": "off"} if launcher == "MPICH" else {}
    assert surface(words, tmp_path, "host", 2, **way) == wave
    if any("cuda" in name for name in names):
        assert surface(words, tmp_path, "cuda", 2, **way) == wave
