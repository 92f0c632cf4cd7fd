"""Loops: replayed steps give what running the step again and again gives."""

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
            inner.run(w, w)

    inner = pt.Loop(lambda a, b: None)
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
