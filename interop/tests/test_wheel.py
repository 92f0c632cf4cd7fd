"""A wheel of the library that is already built, in a fresh environment without Rust. `cargo xtask wheel` does the same with
the wheel that is published."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_a_wheel_runs_in_a_fresh_environment_without_rust(tmp_path):
    pytest.importorskip("maturin")
    if shutil.which("cargo") is None:
        pytest.skip("no cargo to pack a wheel with")
    build = [sys.executable, "-m", "maturin", "build", "--quiet", "--manifest-path", "interop/Cargo.toml"]
    subprocess.run([*build, "--interpreter", sys.executable, "--out", tmp_path, "--auditwheel", "skip"], check=True, cwd=ROOT)
    (wheel,) = tmp_path.glob("partita-*-cp311-abi3-*.whl")
    bench = shutil.copy(ROOT / "target/debug/partita-bench", tmp_path)
    if strip := shutil.which("strip"):
        subprocess.run([strip, bench], check=True)
    subprocess.run([sys.executable, ROOT / "interop/tests/wheel/add_program.py", wheel, bench], check=True)
    install = [sys.executable, ROOT / "interop/tests/wheel/install.py", wheel, "--offline"]
    done = subprocess.run(install, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
    print(done.stdout)
