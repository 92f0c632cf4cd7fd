"""Installs a wheel into a fresh environment without Rust and uses it there: ``python install.py WHEEL [--offline]``.

Offline, NumPy and pytest are linked from the environment of this program; otherwise pip fetches them."""

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

TESTS = Path(__file__).parents[1]

# Tests of the package's tests that needs NumPy and pytest alone.
SLICE = ("test_dist.py",)

# What a wheel says about itself.
METADATA = (
    "License-Expression: MIT OR Apache-2.0", "License-File: LICENSE-MIT", "License-File: LICENSE-APACHE",
    "Author: The Partita developers", "Project-URL: Changelog", "Keywords: ", "Provides-Extra: torch", "Provides-Extra: mpi",
    "Provides-Extra: docs", "Provides-Extra: test", "Description-Content-Type: text/markdown", "# Partita",
)  # fmt: skip

LINKED = ("numpy", "numpy.libs", "pytest", "_pytest", "pluggy", "iniconfig", "py", "packaging", "pygments", "ml_dtypes")


def inspect(wheel: Path) -> None:
    """Metadata and licence texts."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        (metadata,) = (archive.read(name).decode() for name in names if name.endswith(".dist-info/METADATA"))
    missing = [line for line in METADATA if f"\n{line}" not in metadata]
    assert not missing, f"{wheel.name}: METADATA lacks {missing}"
    for text in ("LICENSE-MIT", "LICENSE-APACHE", "py.typed", "_native.pyi"):
        assert any(name.endswith(f"/{text}") for name in names), f"{wheel.name} lacks {text}"


def link_packages(site: Path) -> None:
    """The dependencies, as they are in the environment of this program."""
    (here,) = (Path(path) for path in sys.path if path.endswith("site-packages") and sys.prefix in path)
    for entry in here.iterdir():
        if entry.name.removesuffix(".py").partition("-")[0].lower() in LINKED:
            (site / entry.name).symlink_to(entry)


def use(wheel: Path, offline: bool) -> None:
    """Runs the demo, the doctor, the benchmark and some tests of the wheel, in a folder that holds nothing else."""
    inspect(wheel)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", home / "venv"], check=True)
        python = home / "venv/bin/python"
        if offline:
            (site,) = (home / "venv/lib").glob("python*/site-packages")
            link_packages(site)
        install = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, *(["--no-index", wheel] if offline else [wheel, "pytest"])], check=True)
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "CARGO", "RUST"))}
        environment = {**inherited, "PATH": str(python.parent), "PARTITA_DEVICE": "host"}
        assert shutil.which("cargo", path=environment["PATH"]) is None

        def run(*arguments: str | Path) -> str:
            done = subprocess.run(
                [python, *arguments], cwd=home, env=environment, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, f"{arguments}: {done.stdout}{done.stderr}"
            return done.stdout

        where = Path(run("-c", "import partita; print(partita.__file__)").strip())
        assert where.is_relative_to(home), f"imported from {where}"
        assert "bit for bit" in run("-m", "partita", "demo")
        said = run("-c", "import subprocess, sys; subprocess.run([sys.argv[1], '--version'], check=True)", home / "venv/bin/partita")
        assert said == run("-m", "partita", "--version")
        assert (home / "partita-demo.png").read_bytes().startswith(b"\x89PNG")
        assert "host" in run("-m", "partita", "doctor")
        quick = ("run", "--quick", "--filter", "=triad", "--samples", "2", "--save", "run.jsonl")
        assert "triad" in run("-m", "partita", "bench", *quick)
        run("-m", "partita", "bench", "report", "run.jsonl", "run.jsonl", "--out", "two.md")
        assert "triad" in (home / "two.md").read_text()
        shutil.copytree(TESTS, home / "tests", ignore=shutil.ignore_patterns("__pycache__", "malformed"))
        print(run("-m", "pytest", "-q", "-p", "no:cacheprovider", *(f"tests/{name}" for name in SLICE)).splitlines()[-1])


if __name__ == "__main__":
    use(Path(sys.argv[1]).resolve(), "--offline" in sys.argv[2:])
