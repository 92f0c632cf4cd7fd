"""Five NumPy codes from textbooks (examples/python/codes), unchanged, over parts: NumPy's results."""

import importlib
import json
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import partita as pt
import pytest
from conftest import CUDA, ON_CUDA

FOLDER = pathlib.Path(__file__).parents[2] / "examples/python/codes"
NAMES = ["heat2d", "wave2d", "gray_scott", "life", "jacobi"]
WHERE = "cuda" if ON_CUDA else "host"
DEVICES = CUDA if ON_CUDA else "host"
LAYOUTS = {
    "even": {},
    "columns": {"grid": (1, 4)},
    "halo": {"grid": (2, 2), "halo": 1},
    "torus": {"grid": (4, 1), "halo": 2, "periodic": True},
    "cyclic": {"grid": (2, 2), "dims": [pt.Cyclic(5), pt.Cyclic(1)]},
}


@pytest.fixture(scope="module")
def codes():
    sys.path.insert(0, str(FOLDER))
    yield importlib.import_module("compare")
    sys.path.remove(str(FOLDER))


@pytest.mark.parametrize("where", [WHERE])
@pytest.mark.parametrize("parts", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("name", NAMES)
def test_textbook_codes_are_numpys_on_parts(codes, name, parts, where):
    assert codes.check(importlib.import_module(name), parts, devices=DEVICES)


@pytest.mark.parametrize("where", [WHERE])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", NAMES)
def test_textbook_codes_are_numpys_on_layouts(codes, name, layout, where):
    assert codes.check(importlib.import_module(name), 4, devices=DEVICES, **LAYOUTS[layout])


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("name", NAMES)
def test_whole_codes_run_with_either_module(codes, name, parts):
    """The start, too, with nothing but another module and a default team. Random numbers are Partita's, exp is within 2 ulp."""
    code = importlib.import_module(name)
    with pt.default_team(pt.Team.local(parts, "host")):
        state = code.start(pt)
        assert all(isinstance(u, pt.Array) and u.dist.num_parts == parts for u in state)
        hosts, numpys = [u.numpy() for u in state], code.start(np)
        assert [(u.shape, u.dtype) for u in hosts] == [(u.shape, u.dtype) for u in numpys]
        assert name == "life" or all(np.allclose(a, b, rtol=4 * np.finfo(float).eps, atol=0) for a, b in zip(hosts, numpys, strict=True))
        ours, theirs = code.run(pt, *state), code.run(np, *hosts)
        ours, theirs = (x[0] if isinstance(x, tuple) else x for x in (ours, theirs))
        assert ours.numpy().tobytes() == theirs.tobytes() and ours.dist.num_parts == parts


@pytest.mark.parametrize("name", NAMES)
def test_codes_say_nothing_of_parts(name):
    """No word of distributions stands in them, and they import nothing."""
    text = (FOLDER / f"{name}.py").read_text().lower()
    words = ("halo", "ghost", "part", "dist", "team", "import ")
    assert not [word for word in words if word in text.replace("partial", "")]


def test_the_comparison_sees_one_wrong_bit(codes, monkeypatch):
    """A window that is one row off, and a last bit."""
    heat2d = importlib.import_module("heat2d")
    run = heat2d.run

    def one_bit_off(xp, u):
        u = run(xp, u, steps=3)
        if xp is pt:
            u[20, 20] = float(np.nextafter(u[20, 20].item(), 9))
        return u

    monkeypatch.setattr(heat2d, "run", one_bit_off)
    with pytest.raises(AssertionError, match="differs from NumPy"):
        codes.check(heat2d, 3)


def test_the_comparison_sees_a_wrong_norm(codes, monkeypatch):
    jacobi = importlib.import_module("jacobi")
    run = jacobi.run

    def far_norm(xp, u):
        u, norms = run(xp, u, steps=3)
        return u, [n * (1 + 2 * codes.norm_bound(u.size)) if xp is pt else n for n in norms]

    monkeypatch.setattr(jacobi, "run", far_norm)
    with pytest.raises(AssertionError, match="a norm differs"):
        codes.check(jacobi, 3)


def test_the_comparison_is_a_program():
    ran = subprocess.run([sys.executable, FOLDER / "compare.py", "3"], capture_output=True, text=True, timeout=300)
    assert ran.returncode == 0 and "ok: five NumPy codes" in ran.stdout, ran.stdout + ran.stderr


# Within one device, and on the host, nothing travels: the run on several CUDA devices has this one more.
if ON_CUDA and len(CUDA) > 1:

    def test_the_trace_of_codes_on_cuda_says_what_was_hidden(tmp_path):
        path = tmp_path / "codes.json"
        words = {**os.environ, "PARTITA_DEVICE": "cuda", "PARTITA_TRACE": str(path)}
        command = [sys.executable, FOLDER / "compare.py", "4"]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=300, env=words)
        assert ran.returncode == 0, ran.stderr
        said = re.search(r"exchanges took ([\d.]+) ms of devices, ([\d.]+) % beside computation", ran.stderr)
        assert said and float(said[1]) > 0 and 0 < float(said[2]) <= 100, ran.stderr
        # Chrome's format lets the list stay open.
        events = json.loads(path.read_text().rstrip().rstrip(",").rstrip("]") + "]")
        assert len({event["tid"] for event in events if event["tid"].endswith(" exchange")}) == 4
        shares = [re.fullmatch(r"exchange [\d.]+ us, ([\d.]+) % beside computation", event["name"]) for event in events]
        assert sum(float(share[1]) > 0 for share in shares if share) > 100
