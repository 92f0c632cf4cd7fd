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
