"""DLPack: the same memory on both sides, for as long as anybody looks at it, and nothing left afterwards."""

import ctypes
import gc
import resource
import subprocess
import sys
import threading

import numpy as np
import partita as pt
import pytest

HOST, WEBGPU = (1, 0), 15


@pytest.fixture
def grid():
    """8 x 6 over a 2 x 2 grid with a halo, on the host."""
    dist = pt.Distribution((8, 6), team=pt.Team(4, "host"), grid=(2, 2), halo=1, periodic=(False, True))
    return pt.asarray(np.arange(48, dtype=np.float32).reshape(8, 6), dist=dist)


def fields(capsule):
    """What a capsule says, read from its memory."""
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype = ctypes.c_char_p
    api.PyCapsule_GetName.argtypes = [ctypes.py_object]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    name = api.PyCapsule_GetName(capsule)
    head = api.PyCapsule_GetPointer(capsule, name)
    words = (ctypes.c_uint64 * 10).from_address(head)
    versioned = name == b"dltensor_versioned"
    array = 4 if versioned else 0
    rank = words[array + 2] & 0xFFFFFFFF
    element = words[array + 2] >> 32
    shape, strides = words[array + 3], words[array + 4]
    read = lambda at: list((ctypes.c_int64 * rank).from_address(at)) if rank else []  # noqa: E731
    return {
        "name": name.decode(),
        "version": tuple((ctypes.c_uint32 * 2).from_address(head)) if versioned else None,
        "flags": words[3] if versioned else None,
        "data": words[array],
        "device": (words[array + 1] & 0xFFFFFFFF, words[array + 1] >> 32),
        "element": (element & 0xFF, element >> 8 & 0xFF, element >> 16),
        "shape": read(shape),
        "strides": read(strides),
        "offset": words[array + 5],
        "deleter": words[2] if versioned else words[7],
    }


def test_numpy_sees_the_parts_memory(grid):
    for p in grid.parts:
        view, again = np.from_dlpack(p), np.from_dlpack(p)
        (r0, r1), (c0, c1) = p.owned
        np.testing.assert_array_equal(view, grid.numpy()[r0:r1, c0:c1])
        assert view.ctypes.data == again.ctypes.data == np.asarray(p).ctypes.data
        assert not view.flags.writeable and view.shape == p.shape


def test_stored_cells_surround_the_owned_ones_in_one_memory(grid):
    whole = np.pad(grid.numpy(), ((0, 0), (1, 1)), mode="wrap")
    for p in grid.parts:
        stored, owned = np.from_dlpack(p.stored), np.from_dlpack(p)
        (lo, hi), (left, right) = p.stored.halo
        assert stored.shape == p.stored.shape == (owned.shape[0] + lo + hi, owned.shape[1] + left + right)
        inner = stored[lo : lo + owned.shape[0], left : left + owned.shape[1]]
        assert inner.ctypes.data == owned.ctypes.data and inner.strides == owned.strides
        # The halo is current, corners included.
        (r0, r1), (c0, c1) = p.owned
        np.testing.assert_array_equal(stored, whole[r0 - lo : r1 + hi, c0 : c1 + 2])


def test_jax_sees_the_parts_memory(host_team):
    jax = pytest.importorskip("jax")
    u = pt.asarray(np.arange(64, dtype=np.float32), team=host_team)
    for p in u.parts:
        theirs = jax.dlpack.from_dlpack(p)
        assert theirs.unsafe_buffer_pointer() == np.from_dlpack(p).ctypes.data
        np.testing.assert_array_equal(np.asarray(theirs), np.from_dlpack(p))
        del theirs
    back = pt.from_dlpack(jax.numpy.arange(5.0), team=host_team)
    assert back.numpy().tolist() == [0, 1, 2, 3, 4]


def test_rows_with_padding_keep_their_strides_and_jax_gets_a_copy(host_team):
    host = np.arange(6 * 512, dtype=np.float32).reshape(6, 512)
    u = pt.asarray(host, dist=pt.Distribution(host.shape, team=host_team))
    for expression, expected in [(u, host), (u[:, 1:-1] * 2, host[:, 1:-1] * 2), (u[:, :501] + 1, host[:, :501] + 1)]:
        part = expression.eval().parts[-1]  # with two rows at least
        lent = np.from_dlpack(part)
        rows = expected[-lent.shape[0] :]
        assert (lent == rows).all() and lent.strides == (2048, 4)
        assert np.shares_memory(lent, np.asarray(part))
        packed = np.from_dlpack(part, copy=True)
        assert (packed == rows).all() and packed.flags.c_contiguous
        torch = pytest.importorskip("torch")
        assert torch.from_dlpack(part).data_ptr() == lent.__array_interface__["data"][0]
        jax = pytest.importorskip("jax")
        assert (np.asarray(jax.dlpack.from_dlpack(part)) == rows).all()
    # The cells of the slice lie as those of the array that it was computed from, 4 bytes into a line.
    assert np.from_dlpack((u[:, 1:-1] * 2).eval().parts[0]).__array_interface__["data"][0] % 16 == 4


def test_jax_bfloat16_and_bool():
    jax = pytest.importorskip("jax")
    team = pt.Team(1, "host")
    for dtype in (pt.bfloat16, pt.bool_, pt.float16, pt.int8):
        u = pt.asarray(np.array([0, 1, 1, 0]), dtype, team=team)
        theirs = jax.dlpack.from_dlpack(u)
        assert theirs.dtype.name == dtype.name and theirs.astype("int32").tolist() == [0, 1, 1, 0]
        assert pt.from_dlpack(theirs, team=team).dtype is dtype
        del theirs


def test_torch_sees_the_parts_memory(host_team):
    torch = pytest.importorskip("torch")
    u = pt.asarray(np.arange(64, dtype=np.float32), team=host_team)
    for p in u.parts:
        theirs = torch.from_dlpack(p)
        assert theirs.data_ptr() == np.from_dlpack(p).ctypes.data
    with pytest.raises(BufferError, match="resolve_conj"):
        pt.from_dlpack(torch.ones(2, dtype=torch.complex64).conj())
    with pytest.raises(BufferError, match="detach"):
        pt.from_dlpack(torch.ones(2, requires_grad=True))


@pytest.mark.parametrize("dtype", pt._core.dtypes.ALL, ids=lambda dtype: dtype.name)
def test_capsules_describe_dtype_shape_and_device(dtype):
    codes = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
    u = pt.ones((3, 4), dtype, team=pt.Team(1, "host"))
    code = 4 if dtype is pt.bfloat16 else codes[dtype.kind]
    for max_version, name in [(None, "dltensor"), ((0, 8), "dltensor"), ((1, 0), "dltensor_versioned"), ((2, 7), "dltensor_versioned")]:
        capsule = u.__dlpack__(max_version=max_version)
        said = fields(capsule)
        assert said["name"] == name and said["element"] == (code, 8 * dtype.itemsize, 1)
        assert (said["shape"], said["strides"], said["offset"], said["device"]) == ([3, 4], [4, 1], 0, HOST)
        assert said["data"] % 256 == 0 and said["deleter"]
        if name == "dltensor_versioned":
            assert said["version"] == (1, 0) and said["flags"] == 1


def test_no_cells_no_dimensions_and_one_cell():
    team = pt.Team(1, "host")
    empty = fields(pt.zeros((0, 3), team=team).__dlpack__())
    assert (empty["data"], empty["shape"]) == (0, [0, 3])
    assert np.from_dlpack(pt.zeros((0, 3), team=team)).shape == (0, 3)
    assert np.from_dlpack(pt.full((), 7, team=team)) == 7 and np.from_dlpack(pt.full((), 7, team=team)).shape == ()
    assert np.from_dlpack(pt.arange(5, team=team).sum()).shape == ()
    assert np.from_dlpack(pt.full((1, 1), 7, team=team)).tolist() == [[7]]
    # Three parts of two own nothing.
    shapes = [np.from_dlpack(p).shape for p in pt.zeros((1, 2), team=pt.Team(4, "host")).parts]
    assert sorted(shapes) == [(0, 2), (0, 2), (0, 2), (1, 2)]


def test_copies_are_the_consumers(grid):
    p = grid.parts[0]
    copy = np.from_dlpack(p, copy=True)
    assert copy.flags.writeable and copy.ctypes.data != np.from_dlpack(p).ctypes.data and copy.ctypes.data % 64 == 0
    copy[...] = -1
    assert grid.numpy()[0, 0] == 0
    said = fields(p.__dlpack__(copy=True, max_version=(1, 0)))
    assert said["flags"] == 2 and said["strides"] == [3, 1]
    assert np.from_dlpack(p, copy=False).ctypes.data == np.from_dlpack(p).ctypes.data


def test_an_array_of_several_parts_is_gathered(grid):
    """By every library that takes DLPack; the first time with a warning, above the limit and for copy=False not at all."""
    jax, torch = pytest.importorskip("jax.numpy"), pytest.importorskip("torch")
    host, limit = grid.numpy(), pt.get_gather_limit()
    pt._core.memory._warned.clear()
    assert grid.__dlpack_device__() == HOST
    with pytest.warns(pt.GatherWarning, match=f"__dlpack__: .* {host.nbytes} B are gathered.*export u.parts one by one"):
        assert (np.from_dlpack(grid) == host).all()
    for ask in (np.from_dlpack, jax.from_dlpack, jax.asarray, torch.from_dlpack, torch.as_tensor, torch.tensor, pt.from_dlpack):
        assert np.array_equal(np.asarray(ask(grid)), host), ask
        assert np.array_equal(np.asarray(ask(grid * 2)), host * 2), ask
    with pytest.raises(BufferError, match="u.parts"):
        np.from_dlpack(grid, copy=False)
    pt.set_gather_limit(0)
    assert pt.from_dlpack(grid).dist == grid.dist and pt.from_dlpack(grid, team=pt.Team(1, "host")).team.size == 1
    try:
        pt.set_gather_limit(host.nbytes - 1)
        with pytest.raises(pt.UnsupportedError, match="export u.parts one by one, or raise the limit"):
            np.from_dlpack(grid)
    finally:
        pt.set_gather_limit(limit)


def test_requests_that_cannot_be_met():
    p = pt.zeros(3, team=pt.Team(1, "host")).parts[0]
    assert p.__dlpack_device__() == HOST
    for request in [{"stream": 1}, {"stream": -1}, {"dl_device": (2, 0)}, {"dl_device": (WEBGPU, 0)}]:
        with pytest.raises(BufferError):
            p.__dlpack__(**request)
    assert p.__dlpack__(stream=None, dl_device=HOST) is not None


def test_views_outlive_arrays_and_see_no_assignment():
    u = pt.arange(100, team=pt.Team(1, "host"))
    view = np.from_dlpack(u)
    u[:2] = -1
    u[10:] = -2
    assert view.tolist() == list(range(100)) and u.numpy()[:3].tolist() == [-1, -1, 2]
    del u
    others = [pt.full(100, n, team=pt.Team(1, "host")).eval() for n in range(5)]
    assert view.tolist() == list(range(100)) and len(others) == 5
    assert pt._native.live_exports() >= 1


def test_deleters_run_on_any_thread():
    u = pt.arange(1000, team=pt.Team(4, "host"))
    views = [np.from_dlpack(p) for _ in range(50) for p in u.parts]
    before = pt._native.live_exports()
    del u

    def drop(part):
        while part:
            part.pop()

    threads = [threading.Thread(target=drop, args=(views[i::4],)) for i in range(4)]
    views.clear()
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    gc.collect()
    assert pt._native.live_exports() <= before - 100


def test_exports_may_be_alive_at_exit():
    program = "import partita as pt, numpy as np; u = pt.arange(9, team=pt.Team(1, 'host')); import builtins; \
builtins.kept = [np.from_dlpack(u), u.__dlpack__(), u]; print('end')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "end\n"), done.stderr


def test_capsules_are_taken_once():
    u = pt.arange(4, team=pt.Team(1, "host"))
    for max_version in (None, (1, 0)):
        capsule = u.__dlpack__(max_version=max_version)
        assert pt.from_dlpack(capsule, team=u.team).numpy().tolist() == [0, 1, 2, 3]
        with pytest.raises(ValueError, match="used"):
            pt.from_dlpack(capsule, team=u.team)
        # A capsule that nobody takes ends its loan.
        u.__dlpack__(max_version=max_version)


def foreign():
    """NumPy arrays in every form that exports, the last ones not contiguous."""
    base = np.arange(60, dtype=np.float64).reshape(3, 4, 5)
    yield from (base, base.T, base[::2, ::-1], base[:, 1:3, ::2], base[1, 1, 1:2], base[:0], np.array(5.0))
    yield from (np.broadcast_to(np.arange(3), (4, 3)), np.array([True, False]), np.arange(3, dtype=np.uint16))
    yield from (np.arange(4, dtype=np.float16), np.frombuffer(b"abcdefghi", np.uint8, offset=1).view(np.uint32))


def test_import_reads_every_form(host_team):
    for x in foreign():
        u = pt.from_dlpack(x, team=host_team)
        assert (u.shape, u.dtype.name) == (x.shape, x.dtype.name)
        np.testing.assert_array_equal(u.numpy(), x)
    dist = pt.Distribution((8, 6), team=host_team, grid=(1, host_team.size))
    assert pt.from_dlpack(np.ones((8, 6)), dist).dist == dist


def test_import_refuses():
    class Old:
        """An exporter from before version 1."""

        def __dlpack__(self, stream=None):
            return np.arange(3).__dlpack__()

        def __dlpack_device__(self):
            return HOST

    class Elsewhere(Old):
        def __dlpack_device__(self):
            return (2, 0)

    team = pt.Team(1, "host")
    assert pt.from_dlpack(Old(), team=team).numpy().tolist() == [0, 1, 2]
    for x, error, text in [
        (Elsewhere(), BufferError, "move it to the host"),
        ([1, 2], TypeError, "__dlpack__"),
        (np.zeros((1,) * 8, complex), BufferError, "0 to 7 dimensions, given 8; reshape"),
        (np.zeros((1,) * 9), BufferError, "0 to 8 dimensions, given 9; reshape"),
    ]:
        with pytest.raises(error, match=text):
            pt.from_dlpack(x, team=team)
    with pytest.raises(ValueError, match="shape"):
        pt.from_dlpack(np.zeros(2), pt.Distribution(3, team=team))


def test_memory_of_others_is_used_where_it_is():
    for x in (np.arange(12.0).reshape(3, 4), np.arange(3, dtype=np.uint8)[1:], np.array([True, False]), np.zeros((0, 3)), np.ones((1, 4))[::-1]):
        u = pt.from_dlpack(x, copy=False)
        assert (u.shape, u.dtype.name, u.team.devices[0].kind) == (x.shape, x.dtype.name, "host")
        np.testing.assert_array_equal(u.numpy(), x)
        if x.size:
            assert np.from_dlpack(u).ctypes.data == x.ctypes.data
            assert np.from_dlpack(pt.from_dlpack(x)).ctypes.data == x.ctypes.data
            assert np.from_dlpack(pt.from_dlpack(x, copy=True)).ctypes.data != x.ctypes.data
        np.testing.assert_array_equal((u + u).numpy(), x + x)
        np.testing.assert_array_equal(pt.concatenate([u, u]).numpy(), np.concatenate([x, x]))


def test_memory_of_others_is_never_written():
    x = np.arange(200.0)
    u = pt.from_dlpack(x, copy=False)
    u[3] = -1
    u[10:] = -2
    u += 1
    u[::2] = 7
    u[[1, 5]] = 8
    v = pt.from_dlpack(x, copy=False)

    def step(v):
        v[1:-1] = v[:-2] + v[2:]
        v[5] = 0

    pt.Loop(step).run(v, steps=9)
    v.eval()
    assert x.tolist() == list(range(200)) and u.numpy()[:4].tolist() == [7, 8, 7, 0]


def test_memory_of_others_lives_as_long_as_it_is_used():
    """The owner goes with the last array, expression or export, and not before."""
    import weakref

    class Owner(np.ndarray):
        pass

    x = np.arange(1000.0).view(Owner)
    gone = weakref.ref(x)
    u = pt.from_dlpack(x, copy=False)
    del x
    doubled, view = u * 2, np.from_dlpack(u)
    del u
    gc.collect()
    assert gone() is not None and view[999] == 999
    assert float(doubled.sum()) == 999000.0
    del view
    gc.collect()
    # The computed value no longer needs what it was computed from.
    doubled.eval()
    gc.collect()
    assert gone() is None
    assert pt._native.Device.__name__ and doubled.numpy()[1] == 2


def test_parts_of_others_are_used_where_they_are():
    team = pt.Team(2, "host")
    blocks = [np.arange(6.0).reshape(2, 3), np.arange(6.0, 9).reshape(1, 3)]
    dist = pt.Distribution((3, 3), team=team, dims=[pt.Block([0, 2, 3]), None])
    u = pt.from_parts(blocks, dist, copy=False)
    assert [np.from_dlpack(p).ctypes.data for p in u.parts] == [b.ctypes.data for b in blocks]
    assert u.numpy().tolist() == np.arange(9.0).reshape(3, 3).tolist()
    assert pt.from_parts([b.T.copy().T for b in blocks], dist, copy=None).numpy().tolist() == u.numpy().tolist()
    copied = pt.from_parts(blocks, dist)
    assert np.from_dlpack(copied.parts[0]).ctypes.data != blocks[0].ctypes.data
    for refused, text in [
        ([blocks[0], blocks[1].astype(np.float32)], "one dtype"),
        ([blocks[0], blocks[0]], "shape"),
        ([blocks[0].T.copy().T, blocks[1]], "C order"),
        ([blocks[0].tolist(), blocks[1]], "__dlpack__"),
    ]:
        with pytest.raises(BufferError, match=text):
            pt.from_parts(refused, dist, copy=False)
    with pytest.raises(BufferError, match="halo"):
        pt.from_parts(blocks, pt.Distribution((3, 3), team=team, dims=[pt.Block([0, 2, 3]), None], halo=1), copy=False)


def test_what_cannot_be_shared():
    odd = np.frombuffer(b"abcdefghi", np.uint8, offset=1).view(np.uint32)
    strange = np.array([0, 1, 2], np.uint8).view(bool)
    for x, text in [
        (np.arange(6).reshape(2, 3).T, "C order"),
        (np.arange(6)[::2], "C order"),
        (odd, "multiple of 4"),
        (strange, "0 and 1"),
        (np.array(3.0), "at least one dimension"),
        (np.zeros((2, 2), complex).T, "C order"),
    ]:
        with pytest.raises(BufferError, match=text):
            pt.from_dlpack(x, copy=False)
    with pytest.raises(BufferError, match="2 parts"):
        pt.from_dlpack(np.zeros(4), team=pt.Team(2, "host"), copy=False)
    with pytest.raises(BufferError, match="bare capsule"):
        pt.from_dlpack(np.zeros(4).__dlpack__(), copy=False)
    capsule = np.zeros(4).__dlpack__()
    assert pt.from_dlpack(capsule, pt.Distribution(4, team=pt.Team(1, "host")), copy=False).numpy().tolist() == [0] * 4
    assert pt.from_dlpack(strange).numpy().tolist() == [False, True, True]
    assert pt.from_dlpack(odd).numpy().tolist() == odd.tolist()


def test_jax_memory_is_shared():
    jax = pytest.importorskip("jax")
    theirs = jax.numpy.arange(64, dtype="float32") * 2
    u = pt.from_dlpack(theirs, copy=False)
    assert np.from_dlpack(u).ctypes.data == theirs.unsafe_buffer_pointer()
    assert u.numpy().tolist() == (np.arange(64) * 2).tolist()


def test_numpy_reads_the_array_interface(grid):
    for p in grid.parts:
        view = np.asarray(p)
        assert view.ctypes.data == np.from_dlpack(p).ctypes.data and not view.flags.writeable
        assert np.asarray(p.stored).shape == p.stored.shape
        assert not hasattr(p, "__cuda_array_interface__")
    assert np.asarray(pt.zeros((0, 3), team=pt.Team(1, "host")).parts[0]).shape == (0, 3)
    assert not hasattr(pt.ones(3, pt.bfloat16, team=pt.Team(1, "host")).parts[0], "__array_interface__")


class Exchange:
    """The C table, called as a consumer written in C does."""

    def __init__(self, kind):
        api = ctypes.pythonapi
        api.PyCapsule_GetPointer.restype = ctypes.c_void_p
        api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
        words = (ctypes.c_uint64 * 7).from_address(
            api.PyCapsule_GetPointer(kind.__dlpack_c_exchange_api__, b"dlpack_exchange_api")
        )
        pointer = ctypes.c_void_p
        self.version, self.previous, self.view = (words[0] & 0xFFFFFFFF, words[0] >> 32), words[1], words[5]
        self.report = ctypes.CFUNCTYPE(None, pointer, ctypes.c_char_p, ctypes.c_char_p)
        self.allocate = ctypes.CFUNCTYPE(ctypes.c_int, pointer, pointer, pointer, self.report)(words[2])
        self.from_object = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, pointer)(words[3])
        self.to_object = ctypes.PYFUNCTYPE(ctypes.c_int, pointer, pointer)(words[4])
        self.stream = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int32, pointer)(words[6])

    def lend(self, part):
        out = ctypes.c_uint64()
        return self.from_object(part, ctypes.addressof(out)), out.value

    @staticmethod
    def end(head):
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)((ctypes.c_uint64 * 10).from_address(head)[2])(head)

    def show(self, head):
        out = ctypes.py_object()
        assert self.to_object(head, ctypes.addressof(out)) == 0
        shown = out.value
        # The reference that the table gave away is ours.
        ctypes.pythonapi.Py_DecRef(ctypes.py_object(shown))
        return shown


def test_the_c_exchange_table(grid):
    table = Exchange(pt.Part)
    assert (table.version, table.previous, table.view) == ((1, 3), 0, 0)
    before = pt._native.live_exports()
    for p in [*grid.parts, grid.parts[0].stored]:
        code, head = table.lend(p)
        words = (ctypes.c_uint64 * 10).from_address(head)
        assert code == 0 and words[4] == np.from_dlpack(p).ctypes.data and words[3] == 1
        table.end(head)
    code, head = table.lend(pt.arange(6.0, team=pt.Team(1, "host")).parts[0])
    shown = table.show(head)
    assert isinstance(shown, pt.Array) and shown.numpy().tolist() == [0, 1, 2, 3, 4, 5]
    code, head = table.lend(pt.asarray([1, 2j], team=pt.Team(1, "host")).parts[0])
    words = (ctypes.c_uint64 * 10).from_address(head)
    assert words[6] >> 32 == 5 | 128 << 8 | 1 << 16
    shown = table.show(head)
    assert shown.dtype == "complex128" and shown.numpy().tolist() == [1, 2j]
    del shown
    gc.collect()
    assert pt._native.live_exports() == before
    with pytest.raises(TypeError, match="partita's"):
        table.lend(np.zeros(3))
    out = ctypes.c_uint64(7)
    assert table.stream(1, 0, ctypes.addressof(out)) == 0 and out.value == 0
    with pytest.raises(BufferError, match="devices"):
        table.stream(9, 3, ctypes.addressof(out))


def test_memory_from_the_c_exchange_table():
    table = Exchange(pt.Part)
    said = []
    report = table.report(lambda _, kind, text: said.append((kind, text)))
    shape = (ctypes.c_int64 * 2)(3, 4)
    prototype = (ctypes.c_uint64 * 6)(0, 1, 2 | (2 | 32 << 8 | 1 << 16) << 32, ctypes.addressof(shape), 0, 0)
    out = ctypes.c_uint64()
    assert table.allocate(ctypes.addressof(prototype), ctypes.addressof(out), None, report) == 0
    words = (ctypes.c_uint64 * 10).from_address(out.value)
    assert ctypes.string_at(words[4], 48) == bytes(48) and words[4] % 64 == 0 and words[3] == 2
    table.end(out.value)
    prototype[2] = 2 | (5 | 64 << 8 | 1 << 16) << 32
    assert table.allocate(ctypes.addressof(prototype), ctypes.addressof(out), None, report) == 0
    words = (ctypes.c_uint64 * 10).from_address(out.value)
    assert ctypes.string_at(words[4], 96) == bytes(96) and words[6] >> 32 == 5 | 64 << 8 | 1 << 16
    table.end(out.value)
    prototype[1] = 2
    assert table.allocate(ctypes.addressof(prototype), ctypes.addressof(out), None, report) == -1
    assert said[0][0] == b"BufferError" and b"host memory" in said[0][1]


def resident_kib():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * resource.getpagesize() // 1024


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_a_million_round_trips_leave_nothing():
    team = pt.Team(1, "host")
    p = pt.arange(1000, team=team).parts[0]
    empty, single = pt.zeros((0, 3), team=team).parts[0], pt.full((1, 1), 3, team=team).parts[0]
    refused, read = np.zeros((1,) * 9), np.arange(2.0)
    line = pt.Distribution(2, team=team)

    def trips(count):
        for _ in range(count // 12):
            p.__dlpack__(max_version=(1, 0))  # nobody takes it
            p.__dlpack__()
            p.stored.__dlpack__(max_version=(1, 0))
            p.__dlpack__(copy=True, max_version=(1, 0))
            np.from_dlpack(p)
            np.from_dlpack(p.stored)
            np.from_dlpack(empty)
            np.from_dlpack(single)
            try:
                p.__dlpack__(stream=1)
            except BufferError:
                pass
            try:
                pt._native.Array.from_capsule(refused.__dlpack__(), None, team)
            except BufferError:
                pass
            pt._native.Array.from_capsule(read.__dlpack__(), None, team)
            pt._native.Array.over(line, None, [read.__dlpack__()])

    trips(20_000)
    before, live = resident_kib(), pt._native.live_exports()
    trips(1_000_000)
    assert pt._native.live_exports() == live
    assert resident_kib() - before < 2048
