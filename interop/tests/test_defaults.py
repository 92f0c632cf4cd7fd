"""The default team and the default type of floats, and operands on different teams."""

import os
import subprocess
import sys

import numpy as np
import partita as pt
import pytest


@pytest.fixture(autouse=True)
def defaults_stay():
    yield
    pt.set_default_team(None)
    pt.set_default_dtype(pt.float64)


def parts_of(*arrays):
    return [len(array.parts) for array in arrays]


def test_a_default_team_is_everyones():
    pt.set_default_team(pt.Team(4, "host"))
    assert len(pt.get_default_team()) == 4
    made = [
        pt.zeros(8), pt.full(8, 2), pt.arange(8), pt.asarray(range(8)), pt.array_api.linspace(0, 1, 8), pt.array_api.eye(8),
        pt.random.default_rng(1).random(8), pt.zeros(8, dist=pt.Distribution(8)),
    ]  # fmt: skip
    assert parts_of(*made) == [4] * len(made)
    assert parts_of(pt.zeros(8, team=pt.Team(2, "host")), pt.zeros(8, dist=pt.Distribution(8, team=pt.Team(3, "host")))) == [2, 3]
    with pt.default_team(pt.Team(2, "host")) as team:
        assert team == pt.Team(2, "host") == pt.get_default_team() and parts_of(pt.ones(5)) == [2]
        with pt.default_team(pt.Team(3, "host")):
            assert parts_of(pt.ones(5)) == [3]
        with pytest.raises(KeyError), pt.default_team(None):
            raise KeyError
        assert parts_of(pt.ones(5)) == [2]
    assert parts_of(pt.ones(5)) == [4]
    for wrong in (4, "host"):
        with pytest.raises(TypeError, match="expected a partita.Team"):
            pt.set_default_team(wrong)


def test_the_environment_says_how_many_parts():
    program = "import partita as pt; print(len(pt.zeros(9).parts), len(pt.get_default_team()), len(pt.Team(2).devices))"
    for given, code, text in (("4", 0, "4 4 2"), ("", 0, "1 1 2"), ("0", 1, "PARTITA_PARTS"), ("many", 1, "PARTITA_PARTS")):
        words = {**os.environ, "PARTITA_PARTS": given, "PARTITA_DEVICE": "host"}
        ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=words, timeout=120)
        assert ran.returncode == code and text in ran.stdout + ran.stderr, ran.stdout + ran.stderr


def test_operands_come_from_other_teams():
    """The result is on the team of the first array; values are NumPy's."""
    one, three = pt.Team(1, "host"), pt.Team(3, "host")
    host, other = np.arange(24.0).reshape(4, 6), np.arange(6.0)
    mask = host > 7
    for first, second in ((one, three), (three, one)):
        u, v, m = pt.asarray(host, team=first), pt.asarray(other, team=second), pt.asarray(mask, team=second)
        results = {
            "u + v": (u + v, host + other), "v * u": (v * u, other * host), "where": (pt.where(m, u, 0), np.where(mask, host, 0)),
            "where of scalars": (pt.where(u > 3, v, v.sum()), np.where(host > 3, other, other.sum())),
            "maximum": (pt.maximum(u, v), np.maximum(host, other)), "arctan2": (pt.arctan2(v, u), None),
            "u @ v": (u @ v, host @ other), "stack": (pt.stack([u[0], v]), np.stack([host[0], other])),
            "concatenate": (pt.concatenate([v, u[1]]), np.concatenate([other, host[1]])), "mask": (u[m], host[mask]),
            "take": (pt.take(u, pt.asarray([2, 0], team=second), axis=1), host[:, [2, 0]]), "==": (u == v, host == other),
            "//": (u // (v + 1), host // (other + 1)), "power": (u ** v, None), "vecdot": (pt.vecdot(u, v), host @ other),
            "broadcast": (pt.broadcast_arrays(u, v)[1] + u, other + host), "number": (u * v[2], host * other[2]),
        }  # fmt: skip
        for name, (ours, theirs) in results.items():
            if theirs is not None:
                np.testing.assert_array_equal(ours.numpy(), theirs, err_msg=name)
        assert results["u + v"][0].team == first and results["v * u"][0].team == second
        w, expected = u.copy(), host.copy()
        for x, y, z in ((w, v, m), (expected, other, mask)):
            x[1] = y
            x += y
            x[z] = -1
            x[:, 1:3] *= y[:2]
            x[[0, 2]] = y
            x.T[0] = y[:4]
        np.testing.assert_array_equal(w.numpy(), expected)
        assert w.team == first


def test_arrays_go_to_other_teams():
    host = np.arange(20.0).reshape(4, 5)
    u = pt.asarray(host, team=pt.Team(1, "host"))
    dist = pt.Distribution((4, 5), team=pt.Team(4, "host"), grid=(2, 2), halo=1)
    for moved, parts in ((u.redistribute(dist), 4), (u[:, ::-1].redistribute(dist), 4), (pt.asarray(u, team=pt.Team(3, "host")), 3),
                         (u.to_device(pt.Team(2, "host")), 2), (pt.asarray(u, dist=dist), 4)):  # fmt: skip
        assert moved.dist.num_parts == parts and (moved.numpy() == host).sum() in (20, 4)
    assert u.redistribute(dist).dist == dist
    assert float(u.sum().to_device(pt.Team(3, "host"))) == host.sum()


def test_a_default_dtype():
    pt.set_default_dtype(pt.float32)
    assert pt.get_default_dtype() is pt.float32
    ints, rng = pt.arange(6), pt.random.default_rng(2)
    made = {
        "zeros": pt.zeros(3), "ones": pt.ones(3), "full": pt.full(3, 1.5), "arange": pt.arange(0.0, 1.0, 0.25), "list": pt.asarray([1.0, 2.0]),
        "number": pt.asarray(2.5), "linspace": pt.array_api.linspace(0, 1, 5), "eye": pt.array_api.eye(3), "random": rng.random(4),
        "normal": rng.normal(size=4), "uniform": rng.uniform(size=4), "divide": ints / 2, "times": ints * 0.5, "mean": ints.mean(),
        "sqrt": pt.sqrt(ints), "with": ints + pt.ones(6), "mixed": ints.astype("uint64") + ints, "std": pt.array_api.std(pt.ones(3)),
        "bool": pt.asarray([True, False]) * 0.5, "mean of none": ints.mean(axis=()),
    }  # fmt: skip
    assert {name: x.dtype.name for name, x in made.items()} == dict.fromkeys(made, "float32")
    assert [x.dtype for x in (pt.asarray([1j]), pt.full(2, 1j), ints * 1j)] == [pt.complex64] * 3
    assert pt.array_api.__array_namespace_info__().default_dtypes()["real floating"] is pt.float32
    kept = [pt.asarray(np.ones(2)), pt.zeros(2, "float64"), pt.zeros(2, float), pt.zeros(2, "float64") * ints[:2], pt.asarray(np.float64(2))]
    assert [x.dtype for x in kept] == [pt.float64] * len(kept)
    assert [x.dtype for x in (ints, pt.asarray([1, 2]), ints.sum())] == [pt.int64] * 3
    np.testing.assert_array_equal(made["divide"].numpy(), np.arange(6, dtype=np.float32) / np.float32(2))
    np.testing.assert_array_equal(made["arange"].numpy(), np.arange(0, 1, 0.25, dtype=np.float32))
    for wrong in ("int64", "float16"):
        with pytest.raises(ValueError, match="float32 or float64"):
            pt.set_default_dtype(wrong)
    pt.set_default_dtype("float64")
    assert pt.zeros(2).dtype is (ints / 2).dtype is pt.float64
