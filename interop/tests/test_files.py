"""NumPy's files, written and read part by part; saved states; disks that are full."""

import errno
import io
import os
import subprocess
import sys

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
    with pytest.raises(FileNotFoundError, match="^load_state: .*manifest: nothing was saved there; name a file or folder that is there"):
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
    # No first start: the documented restart does not take it for one.
    path.unlink()
    with pytest.raises(ValueError, match=r"u\.npy: it is missing, though the manifest names it"):
        pt.load_state(tmp_path, team=team)


FULL = """
import io, numpy as np, partita as pt, sys
team, (folder, device) = pt.Team(3, "host"), sys.argv[1:]
large, small = pt.ones(100000, team=team), pt.arange(64.0, team=team)
def refused(name, write):
    try:
        write()
    except OSError as error:
        print(name, error.errno, error)
        return
    print(name, "nothing was said")
if folder:
    path = f"{folder}/a.npy"
    pt.save(path, small)
    pt.save_state(f"{folder}/state", {"u": small, "step": 1})
    refused("save", lambda: pt.save(path, large))
    refused("save_state", lambda: pt.save_state(f"{folder}/state", {"u": large, "step": 2}))
    assert (np.load(path) == small.numpy()).all()
    state = pt.load_state(f"{folder}/state", team=team)
    assert state["step"] == 1 and (state["u"] == small).all()
    refused("savez", lambda: pt.savez(f"{folder}/b.npz", u=large))
    refused("savetxt", lambda: pt.savetxt(f"{folder}/b.txt", large))
    refused("tofile", lambda: large.tofile(f"{folder}/b.bin"))
def opened(write):
    with open(device, "wb") as file:
        write(file)
for u in (small, large):
    refused("save", lambda: opened(lambda file: pt.save(file, u)))
    refused("savez", lambda: opened(lambda file: pt.savez(file, u)))
    refused("savetxt", lambda: pt.savetxt(device, u))
    refused("tofile", lambda: u.tofile(device))
    refused("tofile", lambda: u.tofile(device, ","))
    refused("tofile", lambda: opened(u.tofile))
"""


def full(folder, device):
    """What writers said; they run in another process, which a signal would end."""
    run = subprocess.run([sys.executable, "-c", FULL, folder, device], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    return [line.split(" ", 2) for line in run.stdout.splitlines()]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_files_that_take_nothing_raise(tmp_path):
    said = full("", "/dev/full")
    assert len(said) == 12
    assert all(number == str(errno.ENOSPC) for _, number, _ in said), said


def test_a_full_disk_raises_and_changes_nothing(tmp_path):
    mounted = ["mount", "-t", "tmpfs", "-o", "size=64k", "none", tmp_path]
    if not sys.platform.startswith("linux") or subprocess.run(mounted, capture_output=True).returncode:
        pytest.skip("mounting a small disk needs root")
    try:
        said = full(str(tmp_path), "/dev/full")[:5]
        assert sorted(os.listdir(tmp_path))[:2] == ["a.npy", "b.bin"]
    finally:
        subprocess.run(["umount", tmp_path], check=True)
    assert [(name, number) for name, number, _ in said] == [
        (name, str(errno.ENOSPC)) for name in ("save", "save_state", "savez", "savetxt", "tofile")
    ]
    assert "a.npy: No space left on device" in said[0][2] and "u.npy: No space left on device" in said[1][2]


def test_tofile_writes_what_numpy_does(tmp_path):
    for host in (np.arange(6.0).reshape(2, 3), np.arange(3) * 1j, np.array([True, False]), np.float32(1.5)):
        for words in ((), (",",), ("; ", "%r")):
            np.asarray(host).tofile(tmp_path / "theirs", *words)
            pt.asarray(host).tofile(tmp_path / "ours", *words)
            assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()


def test_a_file_that_is_replaced_keeps_its_link_and_its_permissions(tmp_path):
    path, link = tmp_path / "u.npy", tmp_path / "link.npy"
    pt.save(path, pt.ones(3))
    path.chmod(0o600)
    link.symlink_to(path)
    pt.save(link, pt.zeros(3))
    assert link.is_symlink() and np.load(path).tolist() == [0, 0, 0] and path.stat().st_mode & 0o777 == 0o600
    (tmp_path / "folder.npy").mkdir()
    with pytest.raises(OSError, match="folder.npy: it is no regular file"):
        pt.save(tmp_path / "folder.npy", pt.ones(3))
