"""Programs of several processes without MPI: ``python -m partita launch``, ``torchrun``, and processes that a program
starts itself."""

import contextlib
import importlib.util
import json
import os
import pty
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
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


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_partitions_without_mpi(ranks):
    code, out, _ = launch(ranks, RANKS / "partitions.py")
    assert code == 0 and f"ok: partitions on {ranks} ranks" in out, out


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


ENDS_EARLY = """
import os, sys, partita as pt
t = pt.Team(3); u = pt.ones(9, team=t); float(u.sum())
if t.rank == 1: END
for k in range(1000): float((u + k).sum())
"""


@pytest.mark.parametrize("end, expected", [("sys.exit(3)", 1), ("os._exit(5)", 5), ("os.kill(os.getpid(), 9)", 137)])
def test_exit_codes_of_ranks_that_end_early(tmp_path, end, expected):
    """As the documents say: an early end is an error of the job, whose code is 1, unless the interpreter has no part in it."""
    script = tmp_path / "early.py"
    script.write_text(ENDS_EARLY.replace("END", end))
    code, out, _ = launch(3, script)
    assert code == expected and "rank 1" in out, out


def test_launch_refuses_what_it_cannot_start(tmp_path):
    """Once, before anything starts."""
    (tmp_path / "folder").mkdir()
    for words, reason in [
        ((0, RANKS / "programs.py"), "expected 1 to 1024 processes, given 0"),
        ((10**9, RANKS / "programs.py"), "expected 1 to 1024 processes, given 1000000000"),
        ((2, "no_such_file.py"), "given no_such_file.py, which does not exist"),
        ((2, tmp_path / "folder"), "which has no __main__.py"),
        ((2, "-m", "no_such.module"), "there is no no_such"),
        ((2, "-m", "json.no_such"), "there is no json.no_such"),
        ((2, "-m", "xml"), "given the package xml, which has no __main__"),
    ]:
        code, out, _ = launch(*words)
        assert code == 2 and out.count(reason) == 1 and out.count("\n") == 2, out
    code, out, _ = launch(2, "-m", "json.tool", "--help")
    assert code == 0 and out.count("usage") == 2, out


def job(folder, program, ranks=3, words=(), **options):
    """A job of a script, whose processes write their numbers into files of the folder, and whose temporary files are there."""
    (folder / "temporary").mkdir()
    script = folder / "script.py"
    script.write_text("import os, signal, subprocess, sys, time\nrank = int(os.environ['RANK'])\n" + program)
    environment = {**os.environ, **SETTINGS, "TMPDIR": str(folder / "temporary"), "FOLDER": str(folder)}
    return subprocess.Popen(
        [sys.executable, "-m", "partita", "launch", "-n", str(ranks), *words, script], env=environment, **options
    )


def is_alive(number):
    """Not so that nobody has asked yet how it ended."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    return False


def wait_for(what, seconds):
    end = time.monotonic() + seconds
    while not (found := what()) and time.monotonic() < end:
        time.sleep(0.02)
    return found


FAMILY = """
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], stdout=subprocess.DEVNULL)
def ready():
    with open(os.environ["FOLDER"] + f"/new-{rank}", "w") as file:
        file.write(f"{os.getpid()} {child.pid}")
    os.rename(file.name, os.environ["FOLDER"] + f"/ready-{rank}")
"""
LIVES = {
    "sleep": FAMILY + "ready()\ntime.sleep(60)",
    "ignore": FAMILY + "for number in (1, 2, 3, 15): signal.signal(number, signal.SIG_IGN)\nready()\ntime.sleep(60)",
    "wait for each other": "import partita as pt\nu = pt.ones(9, team=pt.Team(3))\nfloat(u.sum())" + FAMILY
    + "ready()\nif rank == 1: time.sleep(60)\nfloat(u.sum())",
}  # fmt: skip


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc says who lives")
@pytest.mark.parametrize("life", LIVES)
@pytest.mark.parametrize("name", ["TERM", "HUP", "QUIT", "KILL"])
def test_the_end_of_the_launcher_ends_all_processes(name, life, tmp_path):
    """Also what they have started; nothing is left in the folder of temporary files."""
    launcher = job(tmp_path, LIVES[life], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert wait_for(lambda: len(list(tmp_path.glob("ready-*"))) == 3, 60)
    numbers = [int(number) for file in tmp_path.glob("ready-*") for number in file.read_text().split()]
    assert all(map(is_alive, numbers)) and list((tmp_path / "temporary").glob("partita-*"))
    launcher.send_signal(getattr(signal, f"SIG{name}"))
    died = wait_for(lambda: not any(map(is_alive, numbers)), 2)
    for number in filter(is_alive, numbers):
        os.kill(number, signal.SIGKILL)
    assert died
    code = getattr(signal, f"SIG{name}")
    assert launcher.wait(10) == (-code if name == "KILL" else 128 + code)
    assert not list((tmp_path / "temporary").glob("partita-*"))


def test_an_interrupt_reaches_all_processes(tmp_path):
    launcher = job(tmp_path, FAMILY + "ready()\ntime.sleep(60)", stderr=subprocess.DEVNULL)
    assert wait_for(lambda: len(list(tmp_path.glob("ready-*"))) == 3, 60)
    launcher.send_signal(signal.SIGINT)
    assert launcher.wait(10) == 130


def test_signals_that_are_ignored_do_not_end_the_job(tmp_path):
    """As under ``nohup``."""
    text = f"{FAMILY}child.kill()\nready()\ntime.sleep(0.5)"
    launcher = job(tmp_path, text, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    assert wait_for(lambda: len(list(tmp_path.glob("ready-*"))) == 3, 60)
    launcher.send_signal(signal.SIGHUP)
    assert launcher.wait(20) == 0


WRITES = """
for k in range(400):
    for stream in (sys.stdout, sys.stderr):
        for piece in ("<", str(rank), "x" * (37 * k % 5000), str(k), ">", chr(10)):
            stream.write(piece)
            stream.flush()
"""


@pytest.mark.parametrize("tag", [(), ("--tag",)])
def test_lines_of_processes_stay_whole(tag, tmp_path):
    """Of both streams, where they go to one place and where they do not."""
    for errors in (subprocess.PIPE, subprocess.STDOUT):
        folder = tmp_path / str(errors)
        folder.mkdir()
        launcher = job(folder, WRITES, words=tag, stdout=subprocess.PIPE, stderr=errors)
        texts = [text.decode() for text in launcher.communicate(timeout=60) if text]
        assert len(texts) == (1 if errors == subprocess.STDOUT else 2)
        for text in texts:
            found = [re.fullmatch(r"(?:\[(\d)\] )?<(\d)x*?(\d+)>", line) for line in text.splitlines()]
            assert all(found) and all(bool(tag) == bool(line[1]) and line[1] in (None, line[2]) for line in found)
            times = 2 // len(texts)
            assert Counter((line[2], line[3]) for line in found) == {(str(r), str(k)): times for r in range(3) for k in range(400)}


def test_output_of_one_process_is_kept_to_the_byte(tmp_path):
    """Also without a last newline, and what it writes to both streams in its order."""
    data = os.urandom(1 << 20)
    (tmp_path / "data").write_bytes(data)
    text = "if rank == 0: sys.stdout.buffer.write(open(os.environ['FOLDER'] + '/data', 'rb').read())"
    launcher = job(tmp_path, text, stdout=subprocess.PIPE)
    assert launcher.communicate(timeout=60)[0] == data
    (tmp_path / "one").mkdir()
    text = "for k in range(1000): os.write(1 + k % 2, b'%d ' % k)"
    launcher = job(tmp_path / "one", text, ranks=1, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    assert launcher.communicate(timeout=60)[0] == b"".join(b"%d " % k for k in range(1000))


def test_unfinished_lines_come_at_the_end_each_on_its_own(tmp_path):
    launcher = job(tmp_path, "sys.stdout.write(f'mean {rank}')", stdout=subprocess.PIPE, text=True)
    assert sorted(launcher.communicate(timeout=60)[0].split("\n")) == ["mean 0", "mean 1", "mean 2"]


def test_the_first_process_has_the_standard_input(tmp_path):
    launcher = job(tmp_path, "print(rank, repr(sys.stdin.read()))", stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert sorted(launcher.communicate("words", timeout=60)[0].splitlines()) == ["0 'words'", "1 ''", "2 ''"]


@pytest.mark.parametrize("place", ["/dev/full", "nobody"])
def test_output_that_nobody_takes_ends_the_job(place, tmp_path):
    """As it ends one program: each process finds its output closed."""
    ours, theirs = os.pipe()
    with open("/dev/full", "w") as full:
        sink = full if place == "/dev/full" else theirs
        launcher = job(tmp_path, "while True: print('x' * 100)", stdout=sink, stderr=subprocess.PIPE, text=True)
    os.close(theirs)
    if place == "nobody":
        assert os.read(ours, 10) == b"x" * 10
    os.close(ours)
    errors = launcher.communicate(timeout=60)[1]
    assert launcher.returncode == 1 and "BrokenPipeError" in errors and "output.py" not in errors
    assert ("launch: the output could not be written: No space left" in errors) == (place == "/dev/full")


def test_closed_streams_are_no_pipes_of_processes(tmp_path):
    text = "print(rank, flush=True); open(os.environ['FOLDER'] + f'/{rank}', 'w').write('x')"
    launcher = job(tmp_path, text, preexec_fn=lambda: [os.close(number) for number in range(3)])
    assert launcher.wait(60) == 0 and all((tmp_path / str(rank)).exists() for rank in range(3))


def test_a_terminal_gets_lines_when_they_are_printed(tmp_path):
    """And questions before their answer."""
    ours, theirs = pty.openpty()
    text = "print('line', rank); sys.stdout.write(f'question {rank}?'); time.sleep(60)"
    launcher = job(tmp_path, text, ranks=2, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = b""
    while shown.count(b"?") < 2:
        shown += os.read(ours, 1000)
    launcher.terminate()
    assert launcher.wait(10) == 143
    lines = shown.decode().split("\r\n")
    assert sorted(lines) == ["line 0", "line 1", "question 0?", "question 1?"], shown


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


@pytest.mark.parametrize("ranks", [2, 3])
def test_ranks_say_and_raise_the_same(ranks):
    """Representations, hashes, buffers and floating-point conditions of arrays over several processes."""
    code, out, _ = launch(ranks, RANKS / "scalars.py")
    assert code == 0 and out.count("ok: rank ") == ranks, out


def links(ranks, **environment):
    """The links that rank 0 prints as JSON."""
    words = ["-m", "partita", "doctor", "links", "--json"]
    code, out, _ = launch(ranks, *words, **environment) if ranks > 1 else run(*words, **environment)
    assert code == 0, out
    return json.loads(out)


@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_links_between_ranks_are_measured(ranks):
    """Every pair once; the ways of pairs; figures that mean something."""
    said = links(ranks)
    assert (said["ranks"], said["wire"], said["simulated"], said["warnings"]) == (ranks, "TCP" if ranks > 1 else None, False, [])
    assert [device["rank"] for device in said["devices"]] == list(range(ranks))
    assert [(link["from"], link["to"]) for link in said["links"]] == [(a, b) for a in range(ranks) for b in range(a, ranks)]
    for link in said["links"]:
        (way,) = link["ways"]
        assert link["chosen"] == way["way"] == ("kernel" if link["from"] == link["to"] else "in place"), link
        assert way["arrived"] and 0 < way["latency_us"] < 1e6 and way["gb_per_s"] > 0 and link["why"], link


def test_links_are_printed_as_a_table():
    code, out, _ = launch(2, "-m", "partita", "doctor", "links")
    assert code == 0 and out.startswith("2 devices of 2 ranks, connected by TCP\n"), out
    assert re.search(r"\n +0 - 1  in place +[\d.]+ us +[\d.]+ GB/s  TCP reads and writes host memory\n", out), out
    code, out, _ = run("-m", "partita", "doctor", "links", "--yaml")
    assert code == 2 and "doctor [links [--json]]" in out, out


EXPLAINS = """
import partita as pt
t = pt.Team(4)
u = pt.zeros(100, team=t, dtype=pt.float32)
u[:] = 1
u.eval()
if t.rank == 0:
    print((u[1:] - u[:-1]).explain())
    print(u.sum().explain())
"""


def test_explain_names_the_way_of_each_message():
    """Two parts of one rank are on one device, others between ranks."""
    code, out, _ = script_on_ranks(2, EXPLAINS)
    assert code == 0 and "  0 -> 1: 4 bytes, kernel\n  1 -> 2: 4 bytes, in place by TCP\n  2 -> 3: 4 bytes, kernel\n" in out, out
    assert re.search(r"plan partial results.*\n  2 -> 0: \d+ bytes, in place by TCP\n", out), out


def script_on_ranks(ranks, text, **environment):
    """A program of several processes, from its text."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "script.py"
        script.write_text(text)
        return launch(ranks, script, **environment)


SUM_OF_RANKS = "import partita as pt; t = pt.Team(2); s = float((pt.ones(40, team=t) * 2).sum()); "
SUM_OF_RANKS += "__import__('os').write(1, f'sum {s} {t.rank} {t.ranks}\\n'.encode())"


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def recipe(kind, first):
    """A block of the document, whose first line is this."""
    return re.search(rf"```{kind}\n({re.escape(first)}.*?)```", DOCUMENT.read_text(), re.S)[1]


def test_the_recipe_for_slurm_runs_with_stand_ins_of_its_commands(tmp_path):
    """`srun` gives two tasks their variables on two machines, as SLURM does."""
    (tmp_path / "script.py").write_text(SUM_OF_RANKS)
    (tmp_path / "scontrol").write_text('#!/bin/sh\n[ "$*" = "show hostnames n[1-2]" ] && printf "localhost\\nother\\n"\n')
    task = "SLURM_PROCID={0} SLURM_LOCALID=0 SLURM_STEP_NUM_TASKS=2 SLURM_STEP_TASKS_PER_NODE='1(x2)' SLURM_NTASKS_PER_NODE=1 \"$@\" &"
    (tmp_path / "srun").write_text("#!/bin/sh\n" + "".join(task.format(rank) + "\n" for rank in (0, 1)) + "wait\n")
    (tmp_path / "python").symlink_to(sys.executable)
    for name in ("srun", "scontrol"):
        (tmp_path / name).chmod(0o755)
    (tmp_path / "job.sh").write_text(recipe("sh", "#!/bin/sh").replace("29400", str(free_port())))
    settings = SETTINGS | {"PATH": f"{tmp_path}:{os.environ['PATH']}", "SLURM_JOB_NODELIST": "n[1-2]", "PARTITA_MPI": "off"}
    settings["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(["sh", "job.sh"], cwd=tmp_path, env={**os.environ, **settings}, capture_output=True, text=True, timeout=60, check=False)
    assert sorted(done.stdout.splitlines()) == ["sum 80.0 0 2", "sum 80.0 1 2"], done


def test_the_recipe_for_kubernetes_runs_by_its_variables(tmp_path):
    """Each pod has its index; the job's address and secret are those of the recipe."""
    (tmp_path / "script.py").write_text(SUM_OF_RANKS)
    (tmp_path / "python").symlink_to(sys.executable)
    text = recipe("yaml", "apiVersion: batch/v1")
    command = re.search(r'command: \[sh, -c, "(.*)"\]', text)[1]
    settings = SETTINGS | {"PATH": f"{tmp_path}:{os.environ['PATH']}", "PARTITA_ADDRESS": f"localhost:{free_port()}", "PARTITA_SECRET": "word"}
    settings["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    assert {"PARTITA_ADDRESS", "PARTITA_SECRET"} == set(re.findall(r"name: (PARTITA_\w+)", text))
    pods = [
        subprocess.Popen(["sh", "-c", command], cwd=tmp_path, stdout=subprocess.PIPE, text=True, env={**os.environ, **settings, "JOB_COMPLETION_INDEX": str(pod)})
        for pod in range(4)
    ]  # fmt: skip
    assert [pod.communicate(timeout=60)[0] for pod in pods] == [f"sum 80.0 {rank} 4\n" for rank in range(4)]
