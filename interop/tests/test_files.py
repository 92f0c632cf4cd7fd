"""NumPy's files, written and read part by part."""

import io

import numpy as np
import partita as pt
import pytest


def layouts(team, shape):
    yield pt.Distribution(shape, team=team)
    if len(shape) == 2:
        yield pt.Distribution(shape, team=team, grid=(1, len(team)), halo=1)
        yield pt.Distribution(shape, team=team, dims=[pt.Cyclic(2), None])
        yield pt.Distribution(shape, team=team, grid=(1, len(team)), dims=[None, pt.Cyclic(1)])


@pytest.mark.parametrize("shape", [(7,), (11, 6), (3, 2000), (2, 3, 4), (0, 3), (1,)], ids=str)
def test_round_trips_with_numpy(team, shape, tmp_path):
    host = np.arange(np.prod(shape, dtype=int), dtype=np.int32).reshape(shape) * 3 - 5
    for dist in layouts(team, shape):
        path = tmp_path / "u.npy"
        pt.save(path, pt.asarray(host, dist=dist))
        np.testing.assert_array_equal(np.load(path), host)
        u = pt.load(path, dist=dist)
        assert u.dist == dist and u.dtype == np.int32
        np.testing.assert_array_equal(u.numpy(), host)
        assert [p.name for p in tmp_path.iterdir()] == ["u.npy"]


def test_files_of_numpy(tmp_path):
    team = pt.Team(3, "host")
    for k, host in enumerate([np.float64(3), np.asfortranarray(np.arange(12.0).reshape(3, 4)), np.arange(5, dtype=">f4"), np.array([True, False])]):
        np.save(tmp_path / f"{k}.npy", host)
        u = pt.load(tmp_path / f"{k}.npy", team=team)
        assert u.shape == np.shape(host)
        np.testing.assert_array_equal(u.numpy(), host)
    assert pt.load(tmp_path / "2.npy", pt.float64, team=team).dtype == np.float64
    pt.save(tmp_path / "s.npy", pt.asarray(np.float32(2.5), team=team))
    assert np.load(tmp_path / "s.npy") == np.float32(2.5) and np.load(tmp_path / "s.npy").shape == ()


def test_names_and_buffers_are_numpys(team, tmp_path):
    u = pt.asarray(np.arange(12.0).reshape(4, 3), team=team)
    pt.save(str(tmp_path / "b"), u)
    pt.save(tmp_path / "c.txt", u)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["b.npy", "c.txt.npy"]
    buffer, theirs = io.BytesIO(), io.BytesIO()
    pt.save(buffer, u)
    pt.save(buffer, u[1])
    np.save(theirs, u.numpy())
    np.save(theirs, u[1].numpy())
    assert buffer.getvalue() == theirs.getvalue()
    buffer.seek(0)
    first, second = pt.load(buffer, team=team), pt.load(buffer, "float32", team=team)
    assert (first == u).all() and first.team == team and second.tolist() == [3, 4, 5] and second.dtype == pt.float32
    with open(tmp_path / "b.npy", "rb") as opened:
        assert (pt.load(opened, dist=u.dist) == u).all()
    with pytest.raises(ValueError, match="magic"):
        pt.load(io.BytesIO(b"nothing like it"))
    with pytest.raises(TypeError, match="bfloat16"):
        pt.save(buffer, pt.ones(3, pt.bfloat16, team=team))


def test_what_is_no_such_file(tmp_path):
    team = pt.Team(2, "host")
    good, cut, objects, odd = (tmp_path / name for name in ("good.npy", "cut.npy", "objects.npy", "odd.npy"))
    pt.save(good, pt.ones(100, team=team))
    cut.write_bytes(good.read_bytes()[:-1])
    np.save(objects, np.array([None, 1]))
    odd.write_bytes(b"nothing like it")
    np.save(tmp_path / "long.npy", np.zeros(3, np.clongdouble))
    for path, error, text in [
        (cut, ValueError, "cut off"),
        (objects, ValueError, "objects"),
        (odd, ValueError, "expected a .npy file"),
        (tmp_path / "long.npy", TypeError, "complex256"),
        (tmp_path / "absent.npy", FileNotFoundError, "absent"),
    ]:
        with pytest.raises(error, match=text):
            pt.load(path, team=team)
    with pytest.raises(ValueError, match="shape"):
        pt.load(good, dist=pt.Distribution(99, team=team))
    with pytest.raises(TypeError, match="numpy.save"):
        pt.save(good, np.zeros(3))
    with pytest.raises(TypeError, match="bfloat16"):
        pt.save(good, pt.ones(3, pt.bfloat16, team=team))
    with pytest.raises(FileNotFoundError):
        pt.save(tmp_path / "no" / "folder.npy", pt.ones(3, team=team))
    assert np.load(good).sum() == 100


VALUES = {"step": 40, "time": 0.1, "tiny": 5e-324, "done": False, "note": "two\nlines", "low": -(1 << 63)}


def test_states_are_loaded_on_other_parts(tmp_path):
    team, other = pt.Team(4, "host"), pt.Team(3, "host")
    hosts = {
        "u": np.arange(70.0).reshape(10, 7), "c": np.arange(6).reshape(2, 3) * (1 - 2j), "mask": np.arange(9) % 2 == 0,
        "lone": np.float32(2.5), "z": np.complex64(1 + 2j), "none": np.zeros((0, 3), np.int16),
    }  # fmt: skip
    arrays = {name: pt.asarray(host, team=team) for name, host in hosts.items()}
    arrays["u"] = arrays["u"].redistribute(pt.Distribution((10, 7), team=team, dims=[pt.Cyclic(2), None]))
    arrays["b"] = pt.asarray(hosts["u"], team=team).astype(pt.bfloat16)
    pt.save_state(tmp_path, {**arrays, **VALUES, "np": np.int32(3)})
    dist = pt.Distribution((10, 7), team=other, grid=(1, 3), halo=1)
    state = pt.load_state(tmp_path, {"u": dist}, team=other)
    assert list(state) == [*arrays, *VALUES, "np"] and state["np"] == 3
    assert {name: state[name] for name in VALUES} == VALUES and type(state["done"]) is bool and type(state["step"]) is int
    assert state["u"].dist == dist and state["c"].team == other
    for name, host in hosts.items():
        given = state[name].numpy()
        assert given.dtype == host.dtype and given.shape == host.shape and (given == host).all(), name
    assert state["b"].dtype == "bfloat16" and (state["b"].astype(pt.float32).numpy() == hosts["u"]).all()
    (folder,) = (path for path in tmp_path.iterdir() if path.is_dir())
    for name, host in hosts.items():
        read = np.load(folder / f"{name}.npy")
        assert read.dtype == host.dtype and read.shape == host.shape and (read == host).all()
    pt.save_state(tmp_path, {"step": 41})
    assert pt.load_state(str(tmp_path)) == {"step": 41}


def test_states_that_cannot_be_saved_or_loaded(tmp_path):
    team = pt.Team(2, "host")
    with pytest.raises(FileNotFoundError, match="^load_state: .*manifest.*; name the folder"):
        pt.load_state(tmp_path / "none", team=team)
    u = pt.ones(100, team=team)
    pt.save_state(tmp_path, {"u": u, "t": 1.5})
    for state, error, text in [
        ({"u": np.ones(3)}, TypeError, "expected an Array, bool, int, float or str as 'u', given ndarray"),
        ({"k": 1 << 63}, OverflowError, "64 bits"),
        ({"a/b": 1}, ValueError, "different names"),
    ]:
        with pytest.raises(error, match=text):
            pt.save_state(tmp_path, state)
    with pytest.raises(ValueError, match="names of arrays in dist, given t"):
        pt.load_state(tmp_path, {"t": u.dist})
    with pytest.raises(ValueError, match="shape"):
        pt.load_state(tmp_path, {"u": pt.Distribution(99, team=team)})
    assert pt.load_state(tmp_path, team=team)["t"] == 1.5
    (path,) = tmp_path.glob("*/u.npy")
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + b"\x01")
    with pytest.raises(ValueError, match=r"u\.npy: its elements were changed"):
        pt.load_state(tmp_path, team=team)
    path.write_bytes(whole[:-1])
    with pytest.raises(ValueError, match=r"u\.npy: expected 928 bytes, given 927"):
        pt.load_state(tmp_path, team=team)
    path.unlink()
    with pytest.raises(FileNotFoundError, match=r"u\.npy"):
        pt.load_state(tmp_path, team=team)
