"""Loops: replayed steps give what running the step again and again gives."""

import os
import signal
import subprocess
import sys
import time
import types

import numpy as np
import partita as pt
import pytest


def start(team, halo=1):
    host = np.random.default_rng(5).normal(size=(40, 9)).astype(np.float32)
    return pt.asarray(host, dist=pt.Distribution((40, 9), team=team, halo=halo))


def heat(u):
    u[1:-1, 1:-1] += 0.1 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] - 4 * u[1:-1, 1:-1])


def steps_of(step, u, count):
    for _ in range(count):
        step(u)
    return u.numpy()


def test_a_loop_is_the_step_again_and_again(team):
    u, v = start(team), start(team)
    loop = pt.Loop(heat)
    loop.run(u, steps=30)
    assert loop.is_replaying
    np.testing.assert_array_equal(u.numpy(), steps_of(heat, v, 30))
    loop.run(u, steps=7)
    np.testing.assert_array_equal(u.numpy(), steps_of(heat, v, 7))


def jacobi(u, norms):
    new = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4
    change = u[1:-1, 1:-1] - new
    norms[0][...], norms[1][...] = abs(change).max(), np.sqrt((change**2).sum())
    u[1:-1, 1:-1] = new


def test_norms_that_a_step_keeps_are_those_of_numbers_read(team):
    u, v = start(team), start(team)
    kept = [pt.zeros((), np.float32, team=team) for _ in range(2)]
    loop = pt.Loop(lambda u, a, b: jacobi(u, (a, b)))
    for steps in (1, 2, 30):
        loop.run(u, *kept, steps=steps)
        read = [pt.zeros((), np.float32, team=team) for _ in range(2)]
        for _ in range(steps):
            jacobi(v, read)
        np.testing.assert_array_equal(u.numpy(), v.numpy())
        assert [float(norm) for norm in kept] == [float(norm) for norm in read]
    assert loop.is_replaying


TRACED = """
import numpy as np, partita as pt
from test_loop import jacobi, start
team = pt.Team(1, "host")
u, norms = start(team), [pt.zeros((), np.float32, team=team) for _ in range(2)]
pt.Loop(lambda u, a, b: jacobi(u, (a, b))).run(u, *norms, steps=40)
"""


def test_a_norm_that_a_step_keeps_is_found_by_the_pass_of_the_step(tmp_path):
    path = tmp_path / "steps.json"
    words = {**os.environ, "PARTITA_TRACE": str(path), "PYTHONPATH": os.pathsep.join([os.path.dirname(__file__), *sys.path])}
    subprocess.run([sys.executable, "-c", TRACED], check=True, env=words)
    names = [line.split('"', 1)[0] for line in path.read_text().split('"name":"')[1:]]
    # One launch over the cells, the border's copies, one launch over the norms.
    step = ["reduce", *4 * ["copy_box"], "fused"]
    assert names[names.index("reduce") : names.index("replayed step")] == 3 * step


def test_python_runs_for_the_first_steps_only(host_team):
    calls = []

    def step(u):
        calls.append(1)
        heat(u)

    pt.Loop(step).run(start(host_team), steps=100)
    assert 2 <= len(calls) < 10


def test_small_windows_and_returned_states(team):
    def small(u):
        u[3] = u[2] + 1

    u, v = start(team), start(team)
    pt.Loop(small).run(u, steps=20)
    np.testing.assert_array_equal(u.numpy(), steps_of(small, v, 20))
    a, b = pt.arange(6, team=team), pt.ones(6, int, team=team)
    pt.Loop(lambda a, b: (b, a + b)).run(a, b, steps=11)
    x, y = np.arange(6), np.ones(6, int)
    for _ in range(11):
        x, y = y, x + y
    assert a.numpy().tolist() == x.tolist() and b.numpy().tolist() == y.tolist()
    pt.Loop(lambda a, b: (b, a)).run(a, b, steps=3)
    assert a.numpy().tolist() == y.tolist() and b.numpy().tolist() == x.tolist()


def test_exports_keep_their_values(host_team):
    """What numpy sees of the state between runs is not written by later runs."""
    u = start(host_team)
    loop = pt.Loop(heat)
    expected = start(host_team)
    for count in (20, 20, 1, 1, 1, 20):
        loop.run(u, steps=count)
        steps_of(heat, expected, count)
        views = [np.from_dlpack(p) for p in u.parts]
        kept = [view.copy() for view in views]
        clone, before = u.copy(), u.numpy()
        loop.run(u, steps=5)
        steps_of(heat, expected, 5)
        for view, copy in zip(views, kept, strict=True):
            np.testing.assert_array_equal(view, copy)
        np.testing.assert_array_equal(clone.numpy(), before)
        np.testing.assert_array_equal(u.numpy(), expected.numpy())
        del views, view


def test_clones_and_their_exports_keep_their_values(host_team):
    u = start(host_team)
    loop = pt.Loop(heat)
    loop.run(u, steps=20)
    clone = u.copy()
    before = u.numpy()
    view = np.from_dlpack(clone.parts[0])
    kept = view.copy()
    loop.run(u, steps=20)
    np.testing.assert_array_equal(view, kept)
    np.testing.assert_array_equal(clone.numpy(), before)


def test_a_step_that_returns_a_number_is_refused(host_team):
    u = start(host_team)
    with pytest.raises(TypeError, match="returns None or its state, given int"):
        pt.Loop(lambda u: 3).run(u, steps=2)


def test_exceptions_leave_the_arrays_usable(host_team):
    u = start(host_team)
    before = u.numpy()

    def fails(u):
        heat(u)
        raise KeyError("on purpose")

    with pytest.raises(KeyError, match="on purpose"):
        pt.Loop(fails).run(u, steps=5)
    np.testing.assert_array_equal(u.numpy(), steps_of(heat, start(host_team), 1))
    assert not np.array_equal(u.numpy(), before)
    for reads in (lambda u: float(u.sum()), lambda u: u.parts):
        with pytest.raises(ValueError, match="between runs of the Loop"):
            pt.Loop(reads).run(u, steps=5)
    with pytest.raises(ValueError, match="returns None or its state"):
        pt.Loop(lambda u: u[1:]).run(u, steps=5)
    assert u.shape == (40, 9) and u.numpy().shape == (40, 9)
    pt.Loop(heat).run(u, steps=3)


def test_arrays_are_in_use_while_a_loop_runs(host_team):
    u, v = start(host_team), start(host_team)

    def step(w):
        heat(w)
        with pytest.raises(RuntimeError, match="in use"):
            pt._native.Loop(1).run([w._native, w._native], lambda: None, 1, [])

    pt.Loop(step).run(u, steps=1)
    heat(v)
    np.testing.assert_array_equal(u.numpy(), v.numpy())


@pytest.mark.parametrize("depth", [2, 3, "auto"])
def test_steps_may_share_an_exchange(team, depth):
    """The same bits as an exchange in every step, in runs that end anywhere."""
    u, v = start(team, 0), start(team, 0)
    loop = pt.Loop(heat, depth=depth)
    assert loop.explain() == "not run yet"
    for count in (3, 1, 50):
        loop.run(u, steps=count)
    np.testing.assert_array_equal(u.numpy(), steps_of(heat, v, 54))
    assert "exchange" in loop.explain()
    if depth != "auto":
        assert loop.steps_per_exchange == depth


def test_depths_that_cannot_be_are_refused(host_team):
    for depth in (0, -1, 2.5, True, "deep"):
        with pytest.raises(ValueError, match="depth of at least 1"):
            pt.Loop(heat, depth=depth)
    with pytest.raises(ValueError, match="share an exchange.*wider than a neighbour"):
        pt.Loop(heat, depth=40).run(start(pt.Team(4, "host"), 0), steps=5)


def test_an_exception_in_a_step_leaves_thread_team_and_loop_usable(team):
    for call in (1, 2, 3):
        calls = []

        def fails_once(u, calls=calls, call=call):
            calls.append(1)
            if len(calls) == call:
                raise KeyError("on purpose")
            heat(u)

        u, v = start(team), start(team)
        loop = pt.Loop(fails_once)
        with pytest.raises(KeyError, match="on purpose"):
            loop.run(u, steps=20)
        np.testing.assert_array_equal((u + 1).numpy(), steps_of(heat, v, call - 1) + 1)
        loop.run(u, steps=20)
        np.testing.assert_array_equal(u.numpy(), steps_of(heat, v, 20))


def test_a_number_that_changes_is_an_error_that_names_it(team):
    u, k = start(team), 0.0

    def step(u):
        nonlocal k
        k += 1.0
        u[:] = u + k

    with pytest.raises(ValueError, match=r"does the same every time, given 1\.0:f32.*2\.0:f32.*numbers=f"):
        pt.Loop(step).run(u, steps=100)


def driven(u, t, k):
    heat(u)
    u[1:-1] = u[1:-1] * t + k.astype("float32")


@pytest.mark.parametrize("depth", [1, 2])
def test_numbers_of_each_step_give_the_bits_of_plain_numbers(team, depth):
    calls = []

    def step(u, t, k):
        calls.append(1)
        driven(u, t, k)

    def plain(u, t, k):
        heat(u)
        u[1:-1] = u[1:-1] * t + k

    def number(k):
        return 0.01 * k, k % 7

    for given in (number, [number(k) for k in range(50)]):
        u, v = start(team, 0), start(team, 0)
        loop = pt.Loop(step, depth=depth)
        calls.clear()
        for _ in range(2):
            loop.run(u, steps=40, numbers=given)
            for k in range(40):
                plain(v, *number(k))
        np.testing.assert_array_equal(u.numpy(), v.numpy())
        assert loop.is_replaying and len(calls) < 12


def test_integers_and_types_of_numpy_are_kept(host_team):
    a = pt.zeros(4, pt.uint64, team=host_team)
    b = pt.zeros(4, pt.int64, team=host_team)

    def step(a, b, seed, k):
        a[:] = seed
        b[:] = k

    def number(k):
        return np.uint64(2**64 - 1 - k), -(2**63) + k

    pt.Loop(step).run(a, b, steps=1500, numbers=number)
    assert a.numpy().tolist() == [2**64 - 1500] * 4
    assert b.numpy().tolist() == [-(2**63) + 1499] * 4


def test_numbers_that_do_not_fit_are_refused(host_team):
    u = start(host_team)

    def step(u, *numbers):
        heat(u)

    with pytest.raises(ValueError, match="numbers for 5 steps, given 2"):
        pt.Loop(step).run(u, steps=5, numbers=[1, 2])
    with pytest.raises(TypeError, match="bool, int or float, given str"):
        pt.Loop(step).run(u, steps=5, numbers=lambda k: "a")
    with pytest.raises(ValueError, match="types of the first step"):
        pt.Loop(step).run(u, steps=5, numbers=lambda k: 1 if k else 1.5)
    with pytest.raises(ZeroDivisionError):
        pt.Loop(step).run(u, steps=5, numbers=lambda k: 1 / (k - 3))
    assert np.isfinite(u.numpy()).all()


def test_a_callback_sees_every_so_many_steps_and_may_end_the_run(team):
    u, v, seen = start(team), start(team), []
    pt.Loop(heat).run(u, steps=25, callback=lambda done: seen.append((done, u.numpy())), every=10)
    assert [done for done, _ in seen] == [10, 20, 25]
    before = 0
    for done, value in seen:
        np.testing.assert_array_equal(value, steps_of(heat, v, done - before))
        before = done

    def ends(done):
        raise StopIteration(done)

    loop = pt.Loop(heat)
    with pytest.raises(StopIteration, match="4"):
        loop.run(u, steps=25, callback=ends, every=4)
    loop.run(u, steps=3, numbers=None)
    np.testing.assert_array_equal(u.numpy(), steps_of(heat, v, 7))
    with pytest.raises(ValueError, match="every 1 step or more"):
        loop.run(u, callback=ends, every=0)


class Bar:
    """Stands in for tqdm's bar."""

    bars: list = []

    def __init__(self, total, unit):
        self.total, self.done, self.closed = total, 0, False
        self.bars.append(self)

    def update(self, steps):
        self.done += steps

    def close(self):
        self.closed = True


def test_progress_is_shown_by_tqdm_or_a_line(host_team, capsys, monkeypatch):
    for tqdm in (types.SimpleNamespace(tqdm=Bar), None):
        monkeypatch.setitem(sys.modules, "tqdm", tqdm)
        u, v = start(host_team), start(host_team)
        pt.Loop(heat).run(u, steps=300, progress=True)
        assert ("300/300" in capsys.readouterr().err) == (tqdm is None)
        np.testing.assert_array_equal(u.numpy(), steps_of(heat, v, 300))
    bar = Bar.bars.pop()
    assert (bar.total, bar.done, bar.closed) == (300, 300, True)


PROGRAM = """
import os, signal, sys, threading, time
import partita as pt
team = pt.Team(2, pt.devices()[int(sys.argv[2])])
u, other = pt.zeros((400, 400), "float32", team=team), pt.ones(5, team=team)

def step(u):
    u += 1

def interrupt():
    time.sleep(1)
    global asked
    asked = time.perf_counter()
    os.kill(os.getpid(), signal.SIGINT)

loop, asked = pt.Loop(step), None
loop.run(u, steps=10)
threading.Thread(target=interrupt).start()
try:
    if sys.argv[1] == "loop":
        loop.run(u, steps=10**9)
    elif sys.argv[1] == "numbers":
        pt.Loop(lambda u, t: u + t).run(u, steps=10**9, numbers=lambda k: 1.0)
    elif sys.argv[1] == "sum":
        pt.zeros(2**50, "float32", team=team).sum().eval()
    else:
        values = [pt.ones((300, 300 + n % 50), "float32", team=team) for n in range(400)]
        for n in range(10**9):
            values[n % 400].sum().eval()
except KeyboardInterrupt:
    took = time.perf_counter() - asked
assert (u == u.max()).all() and other.numpy().sum() == 5
if sys.argv[1] == "loop":
    before = u.max().item()
    loop.run(u, steps=5)
    assert u.max().item() == before + 5 and before > 20, before
print("took", took)
"""


@pytest.mark.parametrize("work", ["loop", "numbers", "evaluations"])
@pytest.mark.parametrize("device", range(min(len(pt.devices()), 2)))
def test_ctrl_c_ends_long_work_soon_and_leaves_everything_usable(work, device):
    command = [sys.executable, "-c", PROGRAM, work, str(device)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, env=dict(os.environ))
    assert ended.returncode == 0, ended.stderr
    took = float(ended.stdout.split()[-1])
    print(f"{work}, {pt.devices()[device].name}: KeyboardInterrupt after {1000 * took:.0f} ms")
    assert took < 2


def test_ctrl_c_ends_a_sum_of_more_cells_than_memory_holds():
    host = next(n for n, device in enumerate(pt.devices()) if device.kind == "host")
    command = [sys.executable, "-c", PROGRAM, "sum", str(host)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, env=dict(os.environ))
    assert ended.returncode == 0, ended.stderr
    assert float(ended.stdout.split()[-1]) < 1, ended.stdout


def test_ctrl_c_during_a_callback_is_an_ordinary_exception(host_team):
    u, v = start(host_team), start(host_team)

    def press(done):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(1)

    loop = pt.Loop(heat)
    with pytest.raises(KeyboardInterrupt):
        loop.run(u, steps=100, callback=press, every=10)
    np.testing.assert_array_equal(u.numpy(), steps_of(heat, v, 10))


@pytest.mark.parametrize("parts", [1, 2, 3])
def test_a_loop_replays_whatever_needs_no_host(devices, parts):
    """A Poisson solve by transforms, a scan, a redistribution, a gather, reductions and an assignment."""
    n, team = 16, pt.Team(parts, devices)
    rows = pt.Distribution((n, n), team=team, grid=(parts, 1))
    columns = pt.Distribution((n, n), team=team, grid=(1, parts))
    waves = np.fft.fftfreq(n).astype("float32")
    square = waves[:, None] ** 2 + waves[None, :] ** 2
    square[0, 0] = 1
    divisor, backwards = pt.array(square, dist=rows), np.arange(n)[::-1].copy()
    start = pt.array(np.random.default_rng(1).random((n, n), dtype="float32"), dist=rows)
    order = pt.array(np.random.default_rng(2).permutation(n), dist=pt.Distribution((n,), team=team))

    def step(u):
        solved = pt.fft.ifftn(pt.fft.fftn(u) / divisor).real
        summed = pt.cumsum(solved, axis=0).redistribute(columns)
        turned = pt.take(summed.redistribute(rows), backwards, axis=1)
        centred = turned - turned.sum(axis=0) / n
        result = (centred / (pt.abs(centred).max() + 1)).astype("float32")
        result[1:-1] = result[1:-1] * 0.5
        result[0] = result[0][order] - result[-1][(result[-1] * n).astype(int) % n]
        return result

    single, looped, loop = start, start.copy(), pt.Loop(step)
    for _ in range(9):
        single = step(single)
    for steps in (4, 5):
        loop.run(looped, steps=steps)
    assert loop.is_replaying, loop
    np.testing.assert_array_equal(looped.numpy(), single.numpy())


@pytest.mark.parametrize(
    ("work", "period"),
    [
        (lambda u, k: u.__setitem__(k % 8, 5.0 + u[7 - k % 8]), 8),
        (lambda u, k: u.__setitem__(slice(k % 4, k % 4 + 3), u[k % 4 : k % 4 + 3] * 0.5), 4),
        (lambda u, k: u.__setitem__(slice(0, 3), u[k % 4 : k % 4 + 3] * 0.5), 4),
        (lambda u, k: u.__setitem__(slice(0, 2), u[[k % 8, (k + 3) % 8]]), 8),
        (lambda u, k: u.__setitem__([k % 8, (k + 3) % 8], u[:2]), 8),
        (lambda u, k: u.__setitem__(slice(None), u + 1 if k % 3 else u * 0.5), 3),
        (lambda u, k: u.__setitem__(k, 5.0), None),
    ],
)
def test_a_step_that_changes_is_replayed_only_once_it_repeats(team, work, period):
    single, calls = np.linspace(0, 1, 70), []

    def step(u):
        calls.append(1)
        work(u, len(calls))

    u, loop = pt.asarray(single, team=team), pt.Loop(step)
    loop.run(u, steps=60)
    assert (loop.is_replaying, len(calls) < 60) == (period is not None,) * 2
    assert period is None or 2 * period < len(calls) < 4 * period + 4
    calls = []
    np.testing.assert_array_equal(u.numpy(), steps_of(step, pt.asarray(single, team=team), 60))


def test_lists_and_arrays_of_numpy_in_a_step_are_made_once(team):
    host = np.linspace(0, 1, 12)

    def step(u):
        u[:3] = u[:3] * [1.0, 0.5, 0.25] + np.array([1, 2, 3])
        u[3:] = np.hypot(u[3:], host[3:]) / np.linspace(1, 2, 9)
        u[...] = pt.convolve(u, [0.25, 0.5, 0.25], "same")

    u, loop = pt.asarray(host, team=team), pt.Loop(step)
    loop.run(u, steps=1)
    loop.run(u, steps=11)
    assert loop.is_replaying
    np.testing.assert_array_equal(u.numpy(), steps_of(step, pt.asarray(host, team=team), 12))
    # Assigned to meanwhile, it is recorded anew, with the same arrays.
    u[0] = 3.0
    v = pt.asarray(u.numpy(), team=team)
    loop.run(u, steps=9)
    np.testing.assert_array_equal(u.numpy(), steps_of(step, v, 9))


def test_arrays_that_change_from_step_to_step_are_refused(team):
    u, k = pt.zeros(4, team=team), []

    def step(u):
        k.append(1.0)
        u[: len(k)] = u[: len(k)] + k

    with pytest.raises(ValueError, match=r"\+|add|making an array from elements: .*other elements than in the step before; .*numbers=f"):
        pt.Loop(step).run(u, steps=3)
    assert len(k) == 2


@pytest.mark.parametrize(
    ("name", "work"),
    [
        ("sort", lambda u: u.__setitem__(..., np.sort(u))), ("histogram", lambda u: pt.histogram(u)), ("bincount", lambda u: np.bincount(u.astype(int))),
        (r"len\(u\[mask\]\)", lambda u: len(u[u > 0.5])), (r"u\[key\] = value", lambda u: u.__setitem__(pt.argsort(u), 0.0)),
        ("float", lambda u: float(u[0])), ("bool", lambda u: 1 if u[0] > 0 else 0), ("solve", lambda u: pt.linalg.solve(pt.eye(6), u)),
        ("nonzero", lambda u: pt.nonzero(u)), ("item", lambda u: u[0].item()), ("tolist", lambda u: u.tolist()),
    ],
)  # fmt: skip
def test_what_a_step_must_not_do_is_refused_by_the_name_that_it_called(host_team, name, work):
    def step(u):
        work(u)

    with pytest.raises(ValueError, match=f"^{name}: .*a step that only computes.*; [a-z]"):
        pt.Loop(step).run(pt.linspace(0, 1, 6, device=host_team), steps=3)


MASK, PLACES, TABLE = np.arange(24) % 3 == 0, np.array([3, 1, 20, 7]), np.linspace(0, 1, 5)


def _by_names(np, u, mask, places):
    chosen = u > 0.25
    u[chosen] = np.sqrt(u[chosen]) * 0.5 + 1 / (1 + u[chosen])
    u[u < 0] *= -1
    u[mask] = u[mask] * 0.5
    return u


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize(
    "work",
    [
        lambda np, u, mask, places: u.__setitem__(u > 0.5, 0.25),
        lambda np, u, mask, places: u.__setitem__((u > 0.2) & (u < 0.8), u[(u > 0.2) & (u < 0.8)] + 0.1),
        lambda np, u, mask, places: u.__setitem__(u > 0.5, (u * 0.5)[u > 0.5]),
        lambda np, u, mask, places: u.__setitem__(mask, 1 - u[mask]),
        lambda np, u, mask, places: u.__setitem__(places, 0.5 * u[places]),
        lambda np, u, mask, places: u - u[u > 0.3].max() * 0.1 + u[u > 0.3].min() * 0.01,
        lambda np, u, mask, places: np.where(u[u > 0].any() & (u[u > 0] < 9).all(), u * 0.5, u),
        lambda np, u, mask, places: u + 0.1 * np.gradient(u, 0.5),
        lambda np, u, mask, places: np.interp(u, [0, 0.25, 0.5, 0.75, 1], TABLE),
        lambda np, u, mask, places: u * 0.5 + 0.1 * np.digitize(u, [1, 0.4, 0.1]),
        lambda np, u, mask, places: np.fft.irfft(np.fft.rfft(u[:23]), n=23).sum() * 0.01 + u * 0.5,
        lambda np, u, mask, places: u * 0.5 + [0.25] * 24,
        _by_names,
    ],
)
def test_everyday_statements_of_a_step_are_those_of_numpy(devices, parts, work):
    host = np.random.default_rng(3).normal(size=24)
    u = pt.asarray(host, dist=pt.Distribution((24,), team=pt.Team(parts, devices)))
    mask, places = pt.asarray(MASK, dist=u.dist), pt.asarray(PLACES, team=u.team)
    for _ in range(11):
        changed = work(np, host, MASK, PLACES)
        host = host if changed is None else changed
    loop = pt.Loop(lambda u: work(pt, u, mask, places))
    loop.run(u, steps=11)
    assert loop.is_replaying
    np.testing.assert_allclose(u.numpy(), host, rtol=1e-12, atol=1e-15)


def test_elements_by_a_mask_in_a_step_know_their_mask_only(host_team):
    def run(work):
        pt.Loop(lambda u: work(u) and None).run(pt.linspace(0, 1, 6, device=host_team), steps=2)

    with pytest.raises(ValueError, match=r"^u\[mask\] = v\[mask\]: expected the same mask .*; name it once"):
        run(lambda u: u.__setitem__(u > 0.5, u[u > 0.25]))
    with pytest.raises(ValueError, match=r"^u\[mask\]: expected numbers .*given those of another mask; name"):
        run(lambda u: u[u > 0.5] + u[u > 0.25])
    with pytest.raises(ValueError, match=r"^u\[mask\].sort: expected arithmetic, .*; use where"):
        run(lambda u: u[u > 0.5].sort())


@pytest.mark.parametrize("kind", ["int16", "uint8", "bool", "float32"])
def test_extremes_by_a_mask_that_selects_nothing_are_those_of_the_type(host_team, kind):
    u, low, high = pt.ones(4, dtype=kind, device=host_team), pt.zeros(1, dtype=kind, device=host_team), pt.zeros(1, dtype=kind, device=host_team)

    def step(u, low, high):
        nothing = u[u == 0]
        low[...], high[...] = nothing.min(), nothing.max()

    pt.Loop(step).run(u, low, high, steps=2)
    limits = {"bool": (True, False), "float32": (np.inf, -np.inf)}
    expected = limits[kind] if kind in limits else (np.iinfo(kind).max, np.iinfo(kind).min)
    assert (low.item(), high.item()) == expected


def test_a_step_reads_what_never_changes_and_nothing_else(host_team):
    constant, table, u = pt.asarray([0.5, 2.0], device=host_team), pt.asarray([0.0, 64.0], device=host_team), pt.ones(4, device=host_team)
    pt.Loop(lambda u: u.__imul__(float(constant.numpy()[1]))).run(u, steps=5)
    assert u.tolist() == [32.0] * 4
    pt.Loop(lambda u: u.__setitem__(..., pt.interp(u, table, table) + 1)).run(u, steps=5)
    assert u.tolist() == [37.0] * 4
    kept = pt.zeros(1, device=host_team)

    def step(u):
        u += float(kept[0])
        kept[...] = u[0]

    with pytest.raises(ValueError, match="^float: .*what never changes before them"):
        pt.Loop(step).run(u, steps=5)


def _in_step(team, work, *arrays):
    """What a function of one step of a loop leaves of its arguments."""
    state = [pt.asarray(np.array(one), team=team) for one in arrays]
    pt.Loop(work).run(*state, steps=1)
    return [one.tolist() for one in state]


def test_elements_by_a_mask_in_a_step_are_those_of_that_time(host_team):
    def changed(u, mask, total):
        kept = u[mask]
        mask[...] = ~mask
        total[...] = kept.sum()

    u, mask = [1.0, 2.0, 3.0, 4.0], [True, False, True, False]
    assert _in_step(host_team, changed, u, mask, [0.0])[2] == [4.0]

    def swapped(u, mask):
        kept = u[mask]
        mask[...] = ~mask
        u[mask] = kept * 10

    with pytest.raises(ValueError, match="the same mask on both sides"):
        _in_step(host_team, swapped, u, mask)


def test_elements_by_a_mask_in_a_step_follow_the_rules_outside(host_team):
    def wide(u, v):
        mask = v > 0
        u[mask] = v[mask]

    with pytest.raises(ValueError, match=r"expected an array of the mask's shape \(3,\), given shape \(3, 3\)"):
        _in_step(host_team, wide, np.zeros((3, 3)), [1.0, 2.0, -3.0])

    def scaled(u, v):
        mask = u > 1
        u[mask] = u[mask] * np.float32(2) + np.array(1.0) - np.int64(1)
        v[...] = u[u > 1].sum(axis=0)

    assert _in_step(host_team, scaled, [1.0, 2.0, 3.0], [0.0]) == [[1.0, 4.0, 6.0], [10.0]]
    for shape in ((0,), (1,)):
        def halved(u):
            mask = u > 0
            u[mask] = u[mask] * 0.5

        assert _in_step(host_team, halved, np.ones(shape)) == [[0.5] * shape[0]]
    means = []

    def typed(u):
        means.append(u[u > 0].mean())
        u[...] = u + means[-1].astype(u.dtype)

    for kind in ("float16", "float32", "float64"):
        _in_step(host_team, typed, np.array([1, 2], kind))
        assert means[-1].dtype == getattr(pt, kind)


def test_errors_of_elements_that_a_mask_leaves_out_are_not_raised_in_a_step(host_team):
    def divided(u, v):
        mask = v != 0
        u[mask] = u[mask] / v[mask]

    with pt.errstate(divide="raise"):
        assert _in_step(host_team, divided, [1.0, 2.0, 3.0, 4.0], [0.0, 1.0, 0.0, 2.0])[0] == [1.0, 2.0, 3.0, 2.0]

    def all_of_them(u, v):
        mask = v < 9
        u[mask] = u[mask] / v[mask]

    with pytest.raises(FloatingPointError), pt.errstate(divide="raise"):
        _in_step(host_team, all_of_them, [1.0, 2.0], [0.0, 1.0])


@pytest.mark.parametrize(("work", "said"), [
    (lambda u: u[u > 0].sum(axis=1), r"u\[mask\].sum: expected no arguments but axis=0"),
    (lambda u: u[u > 0].max(initial=3), r"u\[mask\].max: expected no arguments .*given initial=3"),
    (lambda u: bool(u[u > 0]), r"bool\(u\[mask\]\): "),
    (lambda u: u[u > 0][0], r"u\[mask\]\[key\]: "),
    (lambda u: u.request([[(0, 1)]]), r"request: expected an array outside the step of a Loop"),
])  # fmt: skip
def test_refusals_of_what_a_mask_selects_say_why(work, said):
    u = pt.ones(3, team=pt.Team(1, "host"))
    with pytest.raises(ValueError, match=said):
        pt.Loop(lambda u: work(u) and None).run(u, steps=1)
