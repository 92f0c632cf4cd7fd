"""Random arguments for the command lines: whatever they are, a program ends in time and says what is wrong, without a traceback, a
panic or an abort. ``COMMANDS=SEED:COUNT`` in the environment repeats a run or lengthens it; `cargo xtask soak` does.
Whole calls from Python, as the benchmark makes them, are right."""

import json
import os
import random
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILT = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "debug"
SEED, COUNT = map(int, os.environ.get("COMMANDS", "35:6").split(":"))

NUMBERS = ["0", "1", "2", "3", "-1", "1000000", "99999999999999", "9223372036854775807", "18446744073709551615", "1e308", "nan", "inf", "0x10"]
WORDS = ["", " ", "-", "--", "---", "=", "é", "\udcff", "x" * 5000, "%s", "a\nb", "'", "auto", "None", "--no-such", "-q"]
PLACES = ["/proc", ".", "/dev/null", "/dev/full", "/dev/zero", "/proc/self/mem", "/proc/none/x", "{home}/new", "{home}/script.py", "{home}/binary"]
VALUES = [*NUMBERS, *WORDS, *PLACES]
ENDLESS = ("/dev/zero", "/dev/full")

#: Nothing that would rightly take minutes is offered: large arrays that fit, many steps.
TSUNAMI = {
    "--device": ["host", "auto", "wgpu", "cuda", "abacus"], "--parts": NUMBERS, "--grid": ["1x1", "2x2", "0x0", "-1x-1", "x", "1x1x1", "99999999999x99999999999"],
    "--scale": ["1", "2", *(n for n in NUMBERS if len(n) > 4)], "--dtype": ["f32", "f64", "f16"], "--steps": ["0", "1", "3", "-1", "nan", "1e3"],
    "--frames": NUMBERS, "--out": PLACES, "--dump": PLACES, "--data": PLACES, "--json": None, "--rest": None, "--help": None,
}  # fmt: skip
RUN = {
    "--device": ["host", "wgpu", "cuda", "host,host", "abacus", ","], "--filter": ["=copy", "=sum", "zzz", "", ",", "="], "--dtype": ["f16", "f32", "f64", "f32,f32", "i8"],
    "--n": ["9", "1000", *(n for n in NUMBERS if n != "1000000")], "--plane": ["9", "100", "99999999999999"], "--cube": ["9", "20", "99999999999999"],
    "--samples": NUMBERS, "--parts": ["1", "3", "0", "1000000", "-1", "99999999999999"], "--budget": NUMBERS, "--peers": PLACES, "--beside": WORDS,
    "--json": None, "--save": PLACES, "--quick": None, "--help": None,
}  # fmt: skip


def options(draw, known, fixed, most):
    """Some of a program's options, now and then with a value that is for another, or none."""
    given = dict(fixed)
    for name in draw.sample(sorted(known), draw.randint(0, most)):
        values = known[name]
        given[name] = None if values is None else draw.choice(values if draw.random() < 0.8 else VALUES)
    words = [word for name, value in given.items() for word in ([name] if value is None else [name, value])]
    if draw.random() < 0.1:
        words.insert(draw.randrange(len(words) + 1), draw.choice(VALUES))
    return words


def partita(draw):
    match draw.choice(["launch"] * 6 + ["demo", "doctor", "bench", "--version", "no"]):
        case "launch":
            count = draw.choice(["1", "2", "2", draw.choice([*NUMBERS[4:], *WORDS])])
            # Python itself reads a script without an end for ever.
            scripts = [["{home}/script.py"], ["-m", "json.tool", "--help"], [draw.choice([value for value in VALUES if value not in ENDLESS])]]
            return ["launch", "-n", count, *draw.choice([[], ["--tag"], ["-m"]]), *draw.choice(scripts), *more(draw)]
        case "no":
            return more(draw)
        case "demo":
            return ["demo", draw.choice(VALUES), *more(draw)]
        case word:
            return [word, *more(draw)]


def more(draw):
    return [draw.choice(VALUES) for _ in range(draw.choice([0, 0, 1, 2]))]


def tsunami(draw):
    fixed = {"--scale": "1", "--steps": "2", "--frames": "1", "--out": "{home}/out", "--device": "host"}
    return options(draw, TSUNAMI, fixed, 4)


def bench(draw):
    match draw.choice(["run"] * 6 + ["report", "list", "facts", "calls", "no"]):
        case "run":
            return ["run", "--smoke", *options(draw, RUN, {"--filter": "=copy"}, 3)]
        case "report":
            return ["report", *(draw.choice(PLACES) for _ in range(draw.randint(0, 2))), "--out", draw.choice(PLACES)]
        case "facts":
            return ["facts", "--target", draw.choice(VALUES), *(draw.choice(VALUES) for _ in range(draw.randint(0, 2)))]
        case "calls":
            return ["calls", "--smoke", "--python", draw.choice(VALUES), "--device", draw.choice(RUN["--device"]), "--only", draw.choice(VALUES)]
        case "list":
            return ["list", *draw.choice([["--help"], more(draw)])]
    return more(draw)


PROGRAMS = {
    "partita": ([sys.executable, "-m", "partita"], partita),
    "tsunami": ([BUILT / "examples/tsunami"], tsunami),
    "partita-bench": ([BUILT / "partita-bench"], bench),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_any_arguments_end_in_words(name, tmp_path):
    program, arguments = PROGRAMS[name]
    if not Path(program[0]).exists():
        pytest.skip(f"{program[0]} is not built")
    environment = {**os.environ, "RUST_BACKTRACE": "0", "PARTITA_DEADLINE_SECONDS": "20"}
    for number in range(COUNT):
        draw = random.Random(f"{SEED + number} {name}")
        home = tmp_path / str(number)
        home.mkdir()
        (home / "script.py").write_text("print('ok')\n")
        (home / "binary").write_bytes(bytes(range(256)))
        words = [word.replace("{home}", str(home)) for word in arguments(draw)]
        # Longer runs show that they go on.
        print(f"{name} {words!a:.150}", flush=True)
        said = f"COMMANDS={SEED + number}:1, {name} {words}"
        try:
            done = subprocess.run(
                [*program, *words], cwd=home, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=120, check=False
            )
        except subprocess.TimeoutExpired:
            pytest.fail(f"{said}: still running after 120 s")
        text = (done.stdout + done.stderr).decode(errors="replace")
        assert 0 <= done.returncode < 126, f"{said}: {done.returncode}\n{text}"
        assert not re.search(r"Traceback|panicked|stack backtrace|memory allocation of", text), f"{said}\n{text}"
        assert done.returncode == 0 or done.stderr.strip(), f"{said}: {done.returncode} without a word"


def test_whole_calls_from_python_are_right(tmp_path):
    """The family O1 of the benchmark, by this package and whatever is here of the libraries beside it."""
    program, saved = BUILT / "partita-bench", tmp_path / "calls.jsonl"
    if not program.exists():
        pytest.skip(f"{program} is not built")
    command = [program, "calls", "--smoke", "--python", sys.executable, "--save", saved]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [json.loads(line) for line in saved.read_text().splitlines()]
    here = {line["who"] for line in lines if line["kind"] == "record"} & {"numpy", "cupy", "torch", "jax"}
    ours = {line["workload"] for line in lines if line["kind"] == "record" and line["who"] == "Partita, host"}
    calls = runpy.run_path(str(ROOT / "benches/peers/calls.py"))
    partners = {**calls["LENT"], **calls["TAKEN"]}
    assert ours == {name for name in calls["CALLS"] if partners.get(name, "numpy") in here}
