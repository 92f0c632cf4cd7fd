"""The package itself: import, the doctor, stubs, types, examples."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import partita as pt
import pytest
from partita.__main__ import main

ROOT = Path(__file__).parents[2]


def python(*arguments, cwd=ROOT, **environment):
    full = {**os.environ, **environment}
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=False, env=full, cwd=cwd)
    return done.returncode, done.stdout, done.stderr


def test_import_is_fast_and_starts_no_device(tmp_path):
    program = """
import sys, time
begin = time.perf_counter(); import partita; seconds = time.perf_counter() - begin
maps = open('/proc/self/maps').read() if sys.platform.startswith('linux') else ''
print(min(seconds, 9.9), 'numpy' in sys.modules, 'libvulkan' in maps)
"""
    # An installed package is compiled to bytecode; here the first run does that.
    compiled = {"PYTHONPYCACHEPREFIX": str(tmp_path), "PYTHONDONTWRITEBYTECODE": ""}
    runs = [python("-c", program, **compiled)[1].split() for _ in range(4)]
    assert min(float(run[0]) for run in runs) < 0.3
    assert all(run[1:] == ["False", "False"] for run in runs)


def test_doctor():
    code, out, err = python("-m", "partita", "doctor")
    assert code == 0, err
    assert "host" in out and "works" in out and "numpy" in out
    for device in pt.devices():
        assert re.search(rf"{re.escape(device.name)}.*; subnormals {device.subnormals}; works", out)
    assert "ranks that mpirun starts are connected by " in out and "mpi4py" in out
    code, out, _ = python("-m", "partita", "doctor", PARTITA_MPI="off")
    assert code == 0 and "MPI: none: ranks are connected by TCP (PARTITA_MPI=off" in out
    assert python("-m", "partita", "surgeon")[0] == 2


def test_the_command_says_what_it_is_and_takes(capsys):
    """The program ``partita`` calls `main`, too."""

    def command(*words):
        return main(list(words)), *capsys.readouterr()

    assert python("-m", "partita", "--version") == command("--version") == command("-V") == (0, f"partita {pt.__version__}\n", "")
    code, usage, _ = command("--help")
    assert code == 0 and all(word in usage for word in ("doctor", "demo", "bench", "launch", "--version"))
    assert command("demo", "--help") == (0, usage, "")
    for words in ([], ["surgeon"], ["doctor", "x"], ["demo", "a", "b"], ["demo", "--x"], ["--version", "x"]):
        assert command(*words) == (2, "", usage)


def test_the_benchmark_is_in_wheels_alone():
    """The package that is tested here is none."""
    code, out, _ = python("-m", "partita", "bench", "--help")
    assert code == 0 and "partita-bench" in out and "`pip install ./interop`\ninstalls none" in out
    code, out, err = python("-m", "partita", "bench", "list")
    assert (code, out) == (2, "") and "cargo xtask wheel" in err and "`pip install ./interop` has no benchmark" in err


@pytest.mark.parametrize(("name", "reason"), [
    ("/no_such/x.png", "given /no_such/x.png; make /no_such"), (".", "given the folder ."), ("no_such/x.png", "make no_such"),
    ("a.xyz", "ends in .png"), ("no_such/a.JPG", "ends in .png"), (f"{'x' * 300}", "File name too long"),
])  # fmt: skip
def test_a_demo_without_a_place_for_its_picture_fails_before_it_computes(name, reason):
    code, out, err = python("-m", "partita", "demo", name)
    assert (code, out) == (1, "") and reason in err and err.count("\n") == 1, err


def test_the_command_ends_in_one_line_whatever_goes_wrong(tmp_path):
    code, _, err = python("-m", "partita", "doctor", PARTITA_DEVICE="abacus")
    assert code == 1 and "PARTITA_DEVICE: expected auto" in err and err.count("\n") == 1, err
    code, _, err = python("-m", "partita", "demo", "/dev/full")
    assert code == 1 and "/dev/full could not be written: No space left" in err and err.count("\n") == 1, err
    program = "import os; ends = os.pipe(); os.close(ends[0]); os.dup2(ends[1], 1); from partita.__main__ import main; exit(main())"
    assert python("-c", program, "doctor") == (141, "", "")


def test_demo_writes_a_picture(tmp_path):
    code, out, err = python("-m", "partita", "demo", "wave.png", cwd=tmp_path)
    assert code == 0 and "equal, bit for bit" in out, out + err
    pixels = pytest.importorskip("matplotlib.image").imread(tmp_path / "wave.png")
    assert pixels.shape == (300, 480, 3) and pixels.std() > 0.05


def test_looking_for_devices_prints_nothing_without_a_window_system():
    without = {name: value for name, value in os.environ.items() if name not in ("XDG_RUNTIME_DIR", "WAYLAND_DISPLAY", "DISPLAY")}
    program = [sys.executable, "-c", "import partita as pt; pt.devices()"]
    done = subprocess.run(program, capture_output=True, text=True, check=False, env=without, cwd=ROOT)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_no_device_is_an_error_with_a_remedy():
    with pytest.raises(pt.NoDeviceError, match="abacus.*present: host"):
        pt.Team.local(1, "abacus")


@pytest.mark.parametrize("call", ["pt.zeros(3)", "pt.devices()", "pt.Team(2, 'host')"])
def test_an_environment_that_is_not_understood_is_an_error_of_the_first_call(call):
    code, _, err = python("-c", f"import partita as pt; {call}", PARTITA_DEVICE="abacus")
    assert code == 1 and "ValueError: PARTITA_DEVICE: expected auto, host, cuda or wgpu, given `abacus`" in err, err
    name = "_".join(["PARTITA", "CHEKC"])
    code, _, err = python("-c", f"import partita as pt; {call}", **{name: "1"})
    assert code == 1 and "did you mean PARTITA_CHECK?" in err, err


def test_docstrings_run():
    modules = ("partita", *(f"partita.{name}" for name in (
        "_api.defaults", "_core.base", "_core.rearrange", "_core.rules", "_core.views.addresses", "_numpy.creation",
        "_numpy.elementwise", "_numpy.joining", "_numpy.products", "_numpy.selecting.selection", "_numpy.statistics", "_numpy.types",
        "_numpy.ufuncs.ufunc", "random._generator", "random._legacy",
        "_api.create", "_api.files", "_api.sharing.map_parts", "_api.stride_tricks", "_core.array", "_core.memory",
        "_numpy.applying", *(["einops"] if importlib.util.find_spec("einops") else []),
    )))  # fmt: skip
    lines = "".join(f"print(doctest.testmod(importlib.import_module({name!r})))\n" for name in modules)
    code, out, _ = python("-c", f"import doctest, importlib\n{lines}")
    assert code == 0 and out.count("failed=0") == len(modules), out
    attempted = [int(count) for count in re.findall(r"attempted=(\d+)", out)]
    assert attempted[0] >= 6 and min(attempted) >= 2, out


@pytest.mark.parametrize(("document", "least"), [("README.md", 2), ("docs/python.md", 3), ("docs/numpy.md", 1)])
def test_the_documents_programs_run(document, least, tmp_path):
    """One after the other, as a reader types them; what they say that they print is what they print."""
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / document).read_text(), re.M | re.S)
    assert len(blocks) >= least
    code, out, err = python("-c", "\n".join(blocks), cwd=tmp_path)
    assert code == 0, err
    said = re.findall(r"print\(.*\) +# (.*)", "\n".join(blocks))
    assert said or document == "README.md"
    assert all(line in out.splitlines() for line in said), (said, out)


def test_stubs_say_what_the_extension_has():
    pytest.importorskip("mypy")
    code, out, err = python("-m", "mypy.stubtest", "partita", "--ignore-disjoint-bases")
    assert code == 0, out + err


def test_types_are_strict():
    pytest.importorskip("mypy")
    code, out, _ = python("-m", "mypy", "--config-file", "interop/pyproject.toml", "--no-incremental")
    assert code == 0, out


EXAMPLES = ROOT / "examples/python"


@pytest.mark.parametrize("example", ["codes/lessons/factors.py"] + sorted(
    str(path.relative_to(EXAMPLES)) for folder in (EXAMPLES, *(EXAMPLES / name for name in ("domains", "packages", "ranks"))) for path in folder.glob("*.py")
))  # fmt: skip
def test_examples(example):
    code, out, err = python(f"examples/python/{example}")
    assert code == 0 and out.splitlines()[-1].startswith("ok"), out + err
    reasons = [line for line in out.splitlines() if line.startswith("skipped: ")]
    if reasons:
        pytest.skip(reasons[0].removeprefix("skipped: "))


def test_the_notebook():
    """It runs, checks its result, and shows an array, a picture and a distribution."""
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(ROOT / "examples/python/heat.ipynb", as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "outputs are not kept in git"
    kernel = nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3")
    outputs = [output for cell in kernel.execute().cells for output in cell.get("outputs", [])]
    shown = [kind for output in outputs for kind in output.get("data", {})]
    assert shown.count("image/png") == 1 and shown.count("text/html") == 2
    assert any("ok: equal" in output.get("text", "") for output in outputs)
