"""The buffer protocol and ``__array_interface__`` of whole arrays: read-only views that keep the value which they were made of."""

import gc
import hashlib
import io
import weakref

import numpy as np
import partita as pt
import pytest

DTYPES = ["bool", "int8", "uint16", "int64", "float16", "float32", "float64", "complex64", "complex128"]
SHAPES = [(), (1,), (5,), (3, 4), (3, 5), (2, 3, 4), (0,), (2, 0)]


class Bare:
    """What an object says of itself, and nothing else."""

    def __init__(self, described):
        self.__array_interface__ = described


@pytest.fixture
def one():
    return pt.Team(1, "host")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_views_have_the_elements(one, shape, dtype):
    host = (np.arange(np.prod(shape, dtype=int)).reshape(shape) % 7).astype(dtype)
    u = pt.asarray(host, team=one)
    view = memoryview(u)
    assert view.readonly and view.shape == shape and view.format == memoryview(host).format and view.itemsize == host.itemsize
    assert view.tobytes() == host.tobytes() == bytes(u * 1 if dtype != "bool" else u) or (not shape and host.dtype.kind in "ui")
    for seen in (np.asarray(view), np.asarray(u), np.asarray(Bare(u.__array_interface__)), np.frombuffer(u, dtype).reshape(shape) if host.size else host):
        assert seen.shape == shape and seen.dtype == host.dtype and seen.tobytes() == host.tobytes()
    assert u.__array_interface__["typestr"] == host.dtype.str and not np.asarray(Bare(u.__array_interface__)).flags.writeable
    # Python's own views index no float16 and no complex numbers.
    with pytest.raises((TypeError, ValueError, NotImplementedError)):
        view[(0,) * len(shape)] = 1
    assert np.array(u).flags.writeable


def test_no_copy_is_made(one):
    u = pt.arange(1 << 16, dtype="float64", team=one).eval()
    device = u.team.devices[0]
    before = device.memory["in_use_bytes"]
    views = [memoryview(u), memoryview(u[100:200]), np.asarray(u)]
    address = np.from_dlpack(u.parts[0]).ctypes.data
    assert [np.asarray(view).ctypes.data for view in views] == [address, address + 800, address] and device.memory["in_use_bytes"] == before


def test_a_view_keeps_its_value(one):
    """Later assignments to the array, and its end, change nothing in a view; and the array is not kept by it."""
    u = pt.ones(1000, team=one)
    inside, view, described = u[10:20], memoryview(u), np.asarray(Bare(u.__array_interface__))
    part = memoryview(inside)
    u[...] = 2
    u += 1
    u[3] = 9
    again = memoryview(u)
    with u.writable() as parts:
        np.from_dlpack(parts[0])[:] = 5
    assert set(view) == set(part) == set(described) == {1.0} and again[3] == 9 and set(again) == {3.0, 9.0} and set(u.tolist()) == {5.0}
    kept = weakref.ref(u)
    del u, inside
    gc.collect()
    assert kept() is None and set(view) == {1.0} and again[3] == 9
    host = np.asarray(pt.full(50, 4.0, team=one) * 2)
    gc.collect()
    assert set(host.tolist()) == {8.0}


def test_many_views_leave_nothing(one):
    u = pt.ones(10_000, team=one).eval()
    device = u.team.devices[0]
    before, exports = device.memory["in_use_bytes"], pt._native.live_exports()
    for k in range(200):
        u[...] = float(k % 2)
        assert memoryview(u)[5] == k % 2 and np.asarray(Bare(u.__array_interface__))[5] == k % 2
    gc.collect()
    assert device.memory["in_use_bytes"] <= before + 2 * u.nbytes and pt._native.live_exports() == exports


def test_consumers_that_take_no_strides(one):
    """Rows that are padded are packed for them."""
    host = np.arange(33 * 130.0).reshape(33, 130)
    u = (pt.asarray(host, team=one)[1:-1, 1:-1] * 2.0).eval()
    expected = (host[1:-1, 1:-1] * 2).tobytes()
    assert hashlib.sha256(u).digest() == hashlib.sha256(expected).digest() and io.BytesIO(u).getvalue() == expected
    assert bytes(memoryview(u)) == bytes(u) == expected and bytearray(u) == expected
    target = io.BytesIO()
    target.write(u)
    assert target.getvalue() == expected


@pytest.mark.parametrize("mode", ["uint8", "float32", "RGB"])
def test_pictures_of_pil(one, mode):
    image = pytest.importorskip("PIL.Image")
    rng = np.random.default_rng(1)
    host = rng.integers(0, 255, (5, 7, 3), "uint8") if mode == "RGB" else (rng.normal(size=(5, 7)) * 50).astype(mode)
    u = pt.asarray(host, team=one)
    picture = image.fromarray(u)
    u[...] = 0
    assert np.array(picture).tobytes() == host.tobytes() and picture.size == (7, 5)


def test_numba_indexes_iterates_and_takes_len_of_buffers(one):
    numba = pytest.importorskip("numba")

    def by_index(x):
        result = 0 * x[0]
        for k in range(len(x)):
            result += x[k]
        return result

    def by_iteration(x):
        result = 0 * x[0]
        for element in x:
            result += element
        return result

    for function in map(numba.njit, (by_index, by_iteration)):
        for dtype in ("int64", "float32", "float64", "complex128"):
            u = pt.arange(5, dtype=dtype, team=one)
            assert function(u) == function(u[1:]) == 10
    corner = numba.njit(lambda x: x[0, 1])
    u = pt.asarray(np.arange(15, dtype="float32").reshape(3, 5), team=one)
    assert corner(u) == 1 and corner(u[1:, 1:]) == 7


def test_numba_does_the_rest_with_a_view_of_numpys(one):
    numba = pytest.importorskip("numba")
    u = pt.arange(1 << 16, dtype="float64", team=one).eval()
    device = u.team.devices[0]
    before, view = device.memory["in_use_bytes"], np.asarray(u)
    assert numba.njit(lambda x: (x.shape[0], x.sum(), x.ctypes.data))(view) == (1 << 16, float(u.sum()), np.asarray(memoryview(u)).ctypes.data)
    assert device.memory["in_use_bytes"] == before
    assert (numba.njit(lambda x: x * 2 + np.sqrt(x))(view) == view * 2 + np.sqrt(view)).all()
    assert numba.njit(lambda x: x[2] and not x[1] and x.size == 5)(np.asarray(pt.arange(5, team=one) > 1))


def test_what_has_no_memory_of_its_own_is_refused_with_a_remedy(one):
    several = pt.ones((4, 2), team=pt.Team(2, "host"))
    short = pt.ones(3, "bfloat16", team=one)
    for u, text in ((several, r"given 2 parts; pass u.numpy\(\), or u.parts one by one"), (short, r"given bfloat16, .*; pass u.astype\('float32'\)")):
        with pytest.raises(BufferError, match="buffer: expected an array of one part on the host.*" + text):
            memoryview(u)
        with pytest.raises(AttributeError, match="__array_interface__: expected an array of one part.*" + text):
            u.__array_interface__
        assert not hasattr(u, "__array_interface__") and not hasattr(u[1:], "__array_interface__")
    assert np.asarray(several).tolist() == several.tolist() and np.asarray(several).flags.writeable
    with pytest.raises(TypeError):
        io.BytesIO(bytes(24)).readinto(pt.zeros(3, team=one))
    with pytest.raises(BufferError, match="given a consumer that writes; use u.writable"):
        pt.zeros(3, team=one)._exported(True, True)
    # An element has one part, wherever the array's are.
    assert memoryview(several.sum()).tolist() == 8.0


def test_a_step_lends_nothing(one):
    def step(u):
        with pytest.raises(ValueError, match="step"):
            memoryview(u)
        u += 1

    pt.Loop(step).run(pt.ones(3, team=one), steps=3)


def test_devices_have_none(wgpu_team):
    with pytest.raises(BufferError, match="expected an array of one part on the host"):
        memoryview(pt.ones(4, "float32", team=wgpu_team))


def test_bytes_are_numpys(host_team):
    for host in (np.ones(1), np.arange(6, dtype="int16").reshape(2, 3), np.array(3), np.array(2.5), np.array([True])):
        assert bytes(pt.asarray(host, team=host_team)) == bytes(host)
    assert bytes(pt.asarray([7, 3], team=host_team)[1]) == bytes(np.int64(3))


def test_numpys_frombuffer_keeps_what_it_views(team):
    u = pt.asarray(np.ones(10**5), team=pt.Team(1, "host"))
    seen = np.frombuffer(u)
    u[:] = 2
    other = pt.full(10**5, 7.0, team=pt.Team(1, "host")).eval()
    assert (seen == 1).all() and other[0] == 7
    # As of NumPy's arrays: elements that do not lie one after another are none of its business.
    turned = pt.asarray(np.arange(12.0).reshape(3, 4), team=pt.Team(1, "host")).T
    with pytest.raises(BufferError, match="contiguous"):
        np.frombuffer(turned)


def test_bools_that_were_written_as_other_bytes_are_one():
    for parts in (1, 3, 5):
        team = pt.Team(parts, "host")
        u = pt.zeros(5, bool, team=team)
        with u.writable() as blocks:
            for block in blocks:
                np.asarray(block).view(np.uint8)[...] = 7
        assert (int(u.sum()), int((u == True).sum()), bytes(u.numpy())) == (5, 5, b"\1" * 5)  # noqa: E712
        made = pt.map_parts(
            lambda block, x, out: np.asarray(out).view(np.uint8).__setitem__(..., 7), pt.zeros(5, team=team), out="bool"
        )
        assert (int(made.sum()), int((made == True).sum())) == (5, 5)  # noqa: E712
