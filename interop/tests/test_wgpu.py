"""Memory of wgpu adapters: seen where it is if it is the process's too, as on every adapter that is a program, and
otherwise copied on request."""

import gc
import subprocess
import sys
from pathlib import Path

import numpy as np
import partita as pt
import pytest
from test_dlpack import HOST, fields


def test_wgpu_parts_are_copied_on_request(wgpu_team, monkeypatch):
    """Where the adapter's memory is not the process's, as on graphics cards."""
    program = """
import numpy as np, partita as pt
from test_dlpack import HOST, WEBGPU, fields
from test_wgpu import refused
for parts in (1, 4):
    u = pt.arange(12, dtype=pt.int32, team=pt.Team(parts, "wgpu"))
    gathered = []
    for p in u.parts:
        assert p.__dlpack_device__()[0] == WEBGPU and not hasattr(p, "__array_interface__")
        assert "dl_device=(1, 0)" in refused(lambda: np.from_dlpack(p))
        assert "allow a copy" in refused(lambda: p.__dlpack__(dl_device=HOST, copy=False))
        said = fields(p.__dlpack__(dl_device=HOST, max_version=(1, 0)))
        assert said["device"] == HOST and said["flags"] == 2
        gathered += np.from_dlpack(p, device="cpu").tolist()
    assert gathered == list(range(12))
    host = pt.from_dlpack(u.parts[0], team=pt.Team(1, "host"))
    assert host.numpy().tolist() == gathered[: u.parts[0].shape[0]]
print("copied")
"""
    monkeypatch.setenv("PARTITA_WGPU_VISIBLE", "0")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=Path(__file__).parent)
    assert (done.returncode, done.stdout) == (0, "copied\n"), done.stderr


def refused(ask):
    """The text of a BufferError."""
    with pytest.raises(BufferError) as caught:
        ask()
    return str(caught.value)


@pytest.fixture
def seen_team(wgpu_team):
    """On an adapter whose memory is the process's, too, as that of every adapter that is a program should be."""
    if not wgpu_team.devices[0].is_software and pt.zeros(3, team=wgpu_team).parts[0].__dlpack_device__() != HOST:
        pytest.skip("the adapter has memory of its own")
    return wgpu_team


def test_wgpu_memory_is_seen_where_it_is(seen_team):
    n = seen_team.size
    u = pt.asarray(np.arange(48.0, dtype=np.float32).reshape(8, 6), dist=pt.Distribution((8, 6), team=seen_team, halo=1))
    u = pt.sqrt(u * u) + 1
    expected = np.arange(48.0, dtype=np.float32).reshape(8, 6) + 1
    for p in u.parts:
        view, again, whole = np.from_dlpack(p), np.from_dlpack(p), np.from_dlpack(p.stored)
        assert p.__dlpack_device__() == p.stored.__dlpack_device__() == HOST and not view.flags.writeable
        addresses = {view.ctypes.data, again.ctypes.data, p.__array_interface__["data"][0], fields(p.__dlpack__())["data"]}
        assert len(addresses) == 1 and np.shares_memory(view, whole)
        (start, stop), _ = p.owned
        np.testing.assert_array_equal(view, expected[start:stop])
        np.testing.assert_array_equal(whole, expected[max(start - 1, 0) : stop + 1] if n > 1 else expected)
        copy = np.from_dlpack(p, copy=True)
        assert copy.flags.writeable and not np.shares_memory(copy, view)


def test_wgpu_exports_wait_for_the_device(seen_team):
    """A view taken while the adapter computes shows the result, whatever is queued behind it."""
    u = pt.ones(300_000, pt.float32, team=seen_team)
    for _ in range(5):
        for _ in range(4):
            u = pt.sin(u) * pt.cos(u) + 1
        # Queued, not computed.
        u.eval()
        views = [np.from_dlpack(p) for p in u.parts]
        later = (u * 0).eval()
        # The first look, before anything else makes the process wait.
        first = np.concatenate(views)
        np.testing.assert_array_equal(first, u.numpy())
        assert float(later.sum()) == 0


def test_wgpu_views_keep_their_values(seen_team):
    """Assignments, a loop, and new arrays of the same size go to other memory while a view is alive."""
    u = pt.arange(4000, dtype=pt.int32, team=seen_team)
    views = [np.from_dlpack(p) for p in u.parts]
    u[:] = -1

    def step(v):
        v[1:-1] = v[:-2] + v[2:]

    pt.Loop(step).run(u, steps=5)
    del u
    others = [pt.full(4000, n, pt.int32, team=seen_team).eval() for n in range(6)]
    assert np.concatenate(views).tolist() == list(range(4000)) and len(others) == 6


def test_wgpu_memory_becomes_an_array_on_the_host(seen_team):
    u = pt.arange(100, dtype=pt.float32, team=seen_team)
    p = u.parts[0]
    host = pt.from_dlpack(p, copy=False)
    assert host.team.devices[0].kind == "host" and np.from_dlpack(host).ctypes.data == np.from_dlpack(p).ctypes.data
    del u, p
    gc.collect()
    length = host.shape[0]
    assert float((host * 2).sum()) == length * (length - 1)
