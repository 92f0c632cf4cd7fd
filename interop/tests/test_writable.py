"""Memory that is lent to be written, both ways: recorded values stay, and what is written is what arrays have."""

import ctypes
import gc
import os

import numpy as np
import partita as pt
import pytest
from conftest import CUDA, ON_CUDA

torch = pytest.importorskip("torch")

#: Random sequences; a longer run is `PYTEST_SEQUENCES=100000 pytest test_writable.py -k sequences`.
SEQUENCES = int(os.environ.get("PYTEST_SEQUENCES", "240"))
SEED = int(os.environ.get("PYTEST_SEED", "7"))


def team_of(parts):
    return pt.Team(parts, CUDA if ON_CUDA else "host")


def teams():
    kind = "cuda" if ON_CUDA else "host"
    return [pytest.param(parts, id=f"{kind}-{parts}") for parts in (1, 3, 4)]


class Driver:
    """A consumer of CUDA memory with a stream of its own."""

    def __init__(self):
        with open("/proc/self/maps") as maps:
            names = [line.split()[-1] for line in maps if "/libcuda.so" in line or "/libsimcuda.so" in line]
        self.library = ctypes.CDLL(names[0])

    def call(self, name, *arguments):
        code = getattr(self.library, name)(*arguments)
        assert code == 0, f"{name}: CUDA error {code}"

    def write(self, part, values):
        number = part.__dlpack_device__()[1]
        device, primary, stream = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), number)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(primary), device)
        self.call("cuCtxSetCurrent", primary)
        self.call("cuStreamCreate", ctypes.byref(stream), 1)
        # Taking the memory orders our stream behind the producer's.
        part.__dlpack__(stream=stream.value, max_version=(1, 0))
        said = part.__cuda_array_interface__
        assert said["data"][1] is False and said["stream"] == part.device.stream
        for row, line in enumerate(values):
            line = np.ascontiguousarray(line)
            address = ctypes.c_uint64(said["data"][0] + row * said["strides"][0])
            self.call("cuMemcpyHtoDAsync_v2", address, ctypes.c_void_p(line.ctypes.data), ctypes.c_size_t(line.nbytes), stream)
        self.call("cuStreamSynchronize", stream)
        self.call("cuStreamDestroy_v2", stream)


def write(random, part, values):
    """Puts values into the memory of a part, as some consumer."""
    if ON_CUDA:
        Driver().write(part, values)
        return
    match random.integers(4):
        case 0:
            np.from_dlpack(part)[...] = values
        case 1:
            np.asarray(part)[...] = values
        case 2:
            torch.from_dlpack(part).copy_(torch.from_numpy(np.ascontiguousarray(values)))
        case _:
            halo, (rows, columns) = part.stored.halo, part.shape
            whole = np.from_dlpack(part.stored)
            whole[halo[0][0] : halo[0][0] + rows, halo[1][0] : halo[1][0] + columns] = values


def box(part):
    return tuple(slice(*owned) for owned in part.owned)


class Sequence:
    """One array, everything that was made of it, and what NumPy says that they are."""

    def __init__(self, random, parts, imported):
        self.random, self.imported = random, imported
        rows, columns = (int(n) for n in random.integers(parts + 4, parts + 11, 2))
        halo = 0 if imported else int(random.integers(2))
        dist = pt.Distribution((rows, columns), team=team_of(parts), grid=(parts, 1), halo=halo)
        self.twin = random.integers(-50, 50, (rows, columns)).astype(np.float32)
        if imported and ON_CUDA:
            # Another array's memory, as a library's.
            self.lender = pt.asarray(self.twin, dist=dist)
            self.loan = self.lender.writable()
            self.u = pt.from_parts(list(self.loan.__enter__()), dist, writable=True)
        elif imported:
            cuts = [slice(*dist.owned(part)[0]) for part in range(parts)]
            self.lenders = [self.twin[cut].copy() for cut in cuts]
            self.u = pt.from_parts(self.lenders, dist, writable=True)
        else:
            self.u = pt.asarray(self.twin, dist=dist)
        self.kept = []

    def some(self, shape):
        return self.random.integers(-50, 50, shape).astype(np.float32)

    def window(self):
        first = [int(self.random.integers(0, extent - 1)) for extent in self.twin.shape]
        last = [int(self.random.integers(at + 1, extent + 1)) for at, extent in zip(first, self.twin.shape, strict=True)]
        return tuple(slice(at, stop) for at, stop in zip(first, last, strict=True))

    def lend(self):
        with self.u.writable() as parts:
            for part in parts:
                if self.random.integers(3):
                    values = self.some(part.shape)
                    write(self.random, part, values)
                    self.twin[box(part)] = values
            if self.random.integers(3) == 0:
                with pytest.raises(RuntimeError, match="lent"):
                    self.u + 1

    def lend_view(self):
        at = int(self.random.integers(1, 3))
        view, host = self.u[at:, :-1], self.twin[at:, :-1]
        with view.writable() as parts:
            for part in parts:
                if part.shape[0]:
                    values = self.some(part.shape)
                    write_view(part, values)
                    host[box(part)] = values
        self.same(view, host)

    def assign(self):
        window = self.window()
        values = self.some(self.twin[window].shape)
        self.u[window] = values
        self.twin[window] = values

    def update(self):
        self.u += 2
        self.twin += 2

    def record(self):
        self.kept.append((self.u[:-2] + 2 * self.u[2:], self.twin[:-2] + 2 * self.twin[2:]))

    def copy(self):
        self.kept.append((self.u.copy(), self.twin.copy()))

    def reshape(self):
        self.kept.append((self.u.reshape(-1) + 0, self.twin.reshape(-1).copy()))

    def stencil(self):
        self.u[1:-1] = 0.5 * (self.u[:-2] + self.u[2:])
        self.twin[1:-1] = np.float32(0.5) * (self.twin[:-2] + self.twin[2:])

    def loop(self):
        def step(u):
            u[1:-1] = 0.5 * (u[:-2] + u[2:])

        pt.Loop(step).run(self.u, steps=4)
        for _ in range(4):
            self.twin[1:-1] = np.float32(0.5) * (self.twin[:-2] + self.twin[2:])

    def export(self):
        if not self.imported and not ON_CUDA:
            part = self.u.parts[0]
            self.kept.append((np.from_dlpack(part), self.twin[box(part)].copy()))

    def same(self, array, host):
        seen = array if isinstance(array, np.ndarray) else array.numpy()
        np.testing.assert_array_equal(seen, host)

    def check(self):
        self.same(self.u, self.twin)
        if self.imported and not ON_CUDA:
            np.testing.assert_array_equal(np.concatenate(self.lenders), self.twin)
        if self.kept and self.random.integers(2):
            self.same(*self.kept.pop(int(self.random.integers(len(self.kept)))))

    def run(self):
        actions = [self.lend, self.lend, self.lend_view, self.assign, self.update, self.record, self.copy]
        actions += [self.reshape, self.stencil, self.loop, self.export]
        for _ in range(8):
            actions[self.random.integers(len(actions))]()
            self.check()
        for pair in self.kept:
            self.same(*pair)
        if self.imported and ON_CUDA:
            self.u = None
            self.loan.__exit__(None, None, None)
            self.same(self.lender, self.twin)


def write_view(part, values):
    if ON_CUDA:
        Driver().write(part, values)
    else:
        np.from_dlpack(part)[...] = values


@pytest.mark.parametrize("parts", teams())
@pytest.mark.parametrize("imported", [False, True], ids=["own", "imported"])
def test_random_sequences(parts, imported, capsys):
    # The simulated driver takes its time.
    count = SEQUENCES // (24 if ON_CUDA else 6)
    with capsys.disabled():
        print(f"\nrandom sequences: seed {SEED}, {count} of them")
    gc.collect()
    used = [device.memory["in_use_bytes"] for device in pt.devices()]
    for number in range(count):
        Sequence(np.random.default_rng([SEED, parts, number]), parts, imported).run()
    gc.collect()
    assert [device.memory["in_use_bytes"] for device in pt.devices()] == used


def test_torch_writes_and_the_next_stencil_sees_it():
    dist = pt.Distribution((8, 4), team=pt.Team(2, "host"), halo=1)
    u = pt.zeros((8, 4), dtype=pt.float32, dist=dist)
    ahead = u[:-2] + u[2:]
    ahead.eval()
    with u.writable() as parts:
        for part in parts:
            torch.from_dlpack(part).add_(part.index + 1)
    np.testing.assert_array_equal((u[:-2] + u[2:]).numpy()[:, 0], [2, 2, 3, 3, 4, 4])
    assert not ahead.numpy().any()


def test_every_protocol_says_that_it_may_be_written():
    u = pt.zeros((6, 2), team=pt.Team(2, "host"))
    with u.writable() as parts:
        assert parts[0].__array_interface__["data"][1] is False and np.from_dlpack(parts[0]).flags.writeable
        memoryview(parts[0].__distarray__()["buffer"])[0, 0] = 3.0
        parts.__partitioned__["partitions"][(1, 0)]["data"][...] = 4
    assert u.numpy().tolist() == [[3, 0], [0, 0], [0, 0], [4, 4], [4, 4], [4, 4]]
    assert parts[0].__array_interface__["data"][1] is True and not np.from_dlpack(parts[0]).flags.writeable


def test_the_array_comes_back_after_an_error():
    u = pt.zeros(4, team=pt.Team(2, "host"))
    with pytest.raises(ZeroDivisionError), u.writable() as parts:
        np.from_dlpack(parts[0])[0] = 5
        1 / 0  # noqa: B018
    assert u.numpy().tolist() == [5, 0, 0, 0]


def test_the_memory_is_not_moved_without_need():
    u = pt.zeros(1000, team=pt.Team(1, "host"))
    u.eval()
    with u.writable() as parts:
        first = np.from_dlpack(parts[0]).ctypes.data
    del parts
    with u.writable() as parts:
        assert np.from_dlpack(parts[0]).ctypes.data == first


def test_what_cannot_be_lent():
    team = pt.Team(2, "host")
    u = pt.arange(8, team=team)
    with pytest.raises(ValueError, match="read-only"):
        pt.broadcast_to(u, (2, 8)).writable()
    with pytest.raises(ValueError, match="in their order"), u[::-1].writable():
        pass
    spread = pt.Distribution((4,), team=team, dims=[pt.Replicated()])
    with pytest.raises(ValueError, match="replicated"), pt.zeros(4, dist=spread).writable():
        pass

    def step(u):
        with u.writable():
            pass

    with pytest.raises(ValueError, match="Loop"):
        pt.Loop(step).run(u, steps=3)
    assert u.numpy().tolist() == list(range(8))


def test_jax_refuses():
    jnp = pytest.importorskip("jax.numpy")
    with pt.zeros(4, team=pt.Team(1, "host")).writable() as parts, pytest.raises(BufferError, match="never change"):
        jnp.from_dlpack(parts[0])
    with pytest.raises(BufferError, match="never change"):
        pt.from_dlpack(jnp.arange(4.0), writable=True)


def test_assignments_land_in_the_lenders_memory():
    a = np.zeros((3, 4))
    u = pt.from_dlpack(a, writable=True)
    double, row = u * 2, u[1]
    u[1:] = 7
    assert a.tolist() == [[0] * 4, [7] * 4, [7] * 4] and not double.numpy().any()
    row[:2] = 1
    u += 1
    pt.add(u, u, out=u)
    assert a[:, 0].tolist() == [2, 4, 16] == u.numpy()[:, 0].tolist()
    with u.writable() as parts:
        assert np.from_dlpack(parts[0]).ctypes.data == a.ctypes.data
        a[0, 0] = -1
    assert u.numpy()[0, 0] == -1


def test_lenders_of_both_protocols():
    team = pt.Team(2, "host")
    source = pt.arange(8.0, team=team)
    blocks = [np.array(part) for part in (np.from_dlpack(part) for part in source.parts)]
    described = [{**part.__distarray__(), "buffer": block} for part, block in zip(source.parts, blocks, strict=True)]
    u = pt.from_distarray(described, team, writable=True)
    u[...] = 5
    assert np.concatenate(blocks).tolist() == [5] * 8
    partitioned = source.__partitioned__
    for (at,), entry in partitioned["partitions"].items():
        entry["data"] = blocks[at]
    v = pt.from_partitioned(partitioned, team, writable=True)
    v += u
    assert np.concatenate(blocks).tolist() == [10] * 8


def test_memory_that_is_not_to_be_written():
    a = np.zeros(4)
    a.flags.writeable = False
    with pytest.raises(BufferError, match="read-only"):
        pt.from_dlpack(a, writable=True)
    b = np.zeros(6)
    dist = pt.Distribution(8, team=pt.Team(2, "host"))
    with pytest.raises(BufferError, match="overlap"):
        pt.from_parts([b[:4], b[2:]], dist, writable=True)
    with pytest.raises(ValueError, match="both"):
        pt.from_dlpack(b, copy=True, writable=True)
    with pytest.raises(BufferError, match="C order"):
        pt.from_dlpack(np.zeros((3, 4)).T, writable=True)
