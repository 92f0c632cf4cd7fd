"""CUDA parts shared with other libraries: pointers, streams and lifetimes. On a simulated driver its memory must not
be read from here, so values go through copies, or through the driver as a consumer would."""

import ctypes
import gc
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import partita as pt
import pytest
import test_domains
from conftest import CUDA
from test_dlpack import Exchange, fields

pytestmark = pytest.mark.skipif(not CUDA, reason="no CUDA driver")
KIND = 2


@pytest.fixture
def u():
    """Four parts on all devices, with halos, assigned to a moment ago."""
    dist = pt.Distribution((8, 6), team=pt.Team(4, CUDA), halo=1)
    u = pt.asarray(np.arange(48, dtype=np.float32).reshape(8, 6), dist=dist)
    u[1:-1] = (u[:-2] + u[2:]) * 0.5 + 0.25
    return u


@pytest.fixture
def expected():
    host = np.arange(48, dtype=np.float32).reshape(8, 6)
    host[1:-1] = (host[:-2] + host[2:]) * np.float32(0.5) + np.float32(0.25)
    return host


class Driver:
    """A consumer that calls the driver itself."""

    def __init__(self):
        # The one that is loaded already; PyTorch's libtorch_cuda.so is none.
        lines = Path("/proc/self/maps").read_text().splitlines()
        self.library = ctypes.CDLL(next(line.split()[-1] for line in lines if "/libcuda.so" in line or "/libsimcuda.so" in line))
        self.call("cuInit", 0)

    def call(self, name, *arguments):
        code = getattr(self.library, name)(*arguments)
        assert code == 0, f"{name}: CUDA error {code}"

    def current(self, number):
        device, primary = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuDeviceGet", ctypes.byref(device), number)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(primary), device)
        self.call("cuCtxSetCurrent", primary)

    def stream(self, number):
        """A stream of device ``number`` that does not wait for the default one."""
        self.current(number)
        stream = ctypes.c_void_p()
        self.call("cuStreamCreate", ctypes.byref(stream), 1)
        return stream.value

    def read(self, address, count, stream):
        """float32 elements, copied behind what the stream has queued."""
        out = np.zeros(count, np.float32)
        pointer = ctypes.c_void_p(out.ctypes.data)
        self.call("cuMemcpyDtoHAsync_v2", pointer, ctypes.c_uint64(address), ctypes.c_size_t(4 * count), ctypes.c_void_p(stream))
        self.call("cuStreamSynchronize", ctypes.c_void_p(stream))
        return out


@pytest.fixture(scope="module")
def driver():
    return Driver()


def test_parts_say_where_they_are(u):
    for p in u.parts:
        number = CUDA.index(p.device)
        said = fields(p.__dlpack__(max_version=(1, 0)))
        assert p.__dlpack_device__() == said["device"] == p.device.__dlpack_device__() == (KIND, number)
        assert said["flags"] == 1 and said["data"] and said["shape"] == list(p.shape)
        assert fields(p.__dlpack__())["name"] == "dltensor"
        around = p.__cuda_array_interface__
        assert around["data"] == (said["data"], True) and around["stream"] == p.device.stream > 2
        assert (around["shape"], around["typestr"], around["version"]) == (p.shape, "<f4", 3)
        assert around["strides"] == tuple(4 * stride for stride in said["strides"])
        stored = fields(p.stored.__dlpack__(max_version=(1, 0)))
        lo, left = (sides[0] for sides in p.stored.halo)
        assert said["data"] - stored["data"] == 4 * (lo * stored["strides"][0] + left)
        assert not hasattr(p, "__array_interface__")


@pytest.mark.requirement("E9")
def test_partitioned_names_the_device_and_shares_its_memory(u):
    described = u.__partitioned__
    for p, entry in zip(u.parts, described["partitions"].values(), strict=True):
        (*_, name), *others = entry["location"]
        assert not others and name == f"kDLCUDA:{CUDA.index(p.device)}"
        given = described["get"](entry["data"])
        pointers = [fields(part.__dlpack__(max_version=(1, 0)))["data"] for part in (given, p)]
        assert given.__dlpack_device__() == p.__dlpack_device__() and pointers[0] == pointers[1]
    assert pt.validate_partitioned(described)[0]


def test_parts_are_copied_to_the_host_on_request(u, expected):
    gathered = [np.from_dlpack(p, device="cpu") for p in u.parts]
    np.testing.assert_array_equal(np.concatenate(gathered), expected)
    said = fields(u.parts[0].__dlpack__(dl_device=(1, 0), max_version=(1, 0)))
    assert said["device"] == (1, 0) and said["flags"] == 2
    with pytest.raises(BufferError, match="allow a copy"):
        u.parts[0].__dlpack__(dl_device=(1, 0), copy=False)


def test_copies_on_the_device(u, driver, expected):
    p = u.parts[0]
    stream = driver.stream(CUDA.index(p.device))
    capsule = p.__dlpack__(copy=True, max_version=(1, 0), stream=stream)
    said = fields(capsule)
    assert said["device"] == p.__dlpack_device__() and said["flags"] == 2 and said["strides"] == [6, 1]
    assert said["data"] != fields(p.__dlpack__())["data"]
    np.testing.assert_array_equal(driver.read(said["data"], 12, stream), expected[:2].reshape(-1))


@pytest.mark.requirement("F4")
def test_the_consumers_stream_waits_for_the_producer(driver):
    """A kernel that takes its time, and a copy behind it on a stream of the consumer's."""
    team = pt.Team(1, CUDA[:1])
    stream = driver.stream(0)

    class Stream:
        def __cuda_stream__(self):
            return (0, stream)

    for ask in (stream, Stream()):
        u = pt.arange(5000, dtype=pt.float32, team=team)
        for _ in range(5):
            u = pt.sqrt(u * u + 1)
        p = u.parts[0]
        capsule = p.__dlpack__(stream=ask, max_version=(1, 0))
        read = driver.read(fields(capsule)["data"], 5000, stream)
        assert read.tobytes() == u.numpy().tobytes()


@pytest.mark.requirement("F4")
def test_the_producers_stream_is_waited_for():
    """A producer is asked with the stream that reads: ours."""
    asked = []

    class Producer:
        def __init__(self, part):
            self.part = part

        def __dlpack__(self, **request):
            asked.append(request)
            return self.part.__dlpack__(**request)

        def __dlpack_device__(self):
            return self.part.__dlpack_device__()

        shape = (64,)

    p = pt.arange(64, dtype=pt.float32, team=pt.Team(1, CUDA[-1:])).parts[0]
    v = pt.from_dlpack(Producer(p), copy=False)
    assert asked == [{"stream": CUDA[-1].stream, "max_version": (1, 0)}]
    assert v.team.devices == CUDA[-1:] and v.parts[0].__cuda_array_interface__["data"] == p.__cuda_array_interface__["data"]
    assert (v * 2).numpy().tolist() == (np.arange(64) * 2).tolist()
    v[:2] = -1
    assert p.__cuda_array_interface__["data"] != v.parts[0].__cuda_array_interface__["data"]
    assert np.from_dlpack(p, device="cpu")[0] == 0
    pt.from_dlpack(Producer(p), team=pt.Team(1, "host"))
    assert asked[-1]["dl_device"] == (1, 0)


def test_parts_become_parts():
    team = pt.Team(4, CUDA)
    u = pt.arange(10, dtype=pt.float32, team=team)
    v = pt.from_parts(u.parts, u.dist, copy=False)
    pointers = [[p.__cuda_array_interface__["data"] for p in x.parts] for x in (u, v)]
    assert pointers[0] == pointers[1] and v.numpy().tolist() == list(range(10))


@pytest.mark.parametrize("stream", [0, -2, "x", 1.5])
def test_streams_that_are_none(u, stream):
    with pytest.raises(BufferError, match="stream"):
        u.parts[0].__dlpack__(stream=stream)


@pytest.mark.parametrize("stream", [None, 1, 2, -1])
def test_streams_without_a_handle(u, stream):
    assert u.parts[0].__dlpack__(stream=stream) is not None


@pytest.mark.skipif(len(CUDA) < 2, reason="one device")
def test_memory_of_another_device_is_refused():
    class Liar:
        """Says device 0 of memory on device 1."""

        def __init__(self, part):
            self.part = part
            self.shape = part.shape

        def __dlpack__(self, **request):
            capsule = self.part.__dlpack__(max_version=(1, 0))
            api = ctypes.pythonapi
            api.PyCapsule_GetPointer.restype = ctypes.c_void_p
            api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
            head = api.PyCapsule_GetPointer(capsule, b"dltensor_versioned")
            (ctypes.c_uint32 * 20).from_address(head)[11] = 0
            return capsule

        def __dlpack_device__(self):
            return (KIND, 0)

    part = pt.arange(8, team=pt.Team(1, CUDA[1:2])).parts[0]
    with pytest.raises(BufferError, match="reads where it is"):
        pt.from_dlpack(Liar(part), copy=False)
    with pytest.raises(BufferError, match="expected memory on device"):
        pt.from_dlpack(part, team=pt.Team(1, CUDA[:1]), copy=False)


def test_lent_memory_is_not_used_again(driver):
    team = pt.Team(1, CUDA[:1])
    stream = driver.stream(0)
    u = pt.arange(100, dtype=pt.float32, team=team)
    before = pt._native.live_exports()
    capsule = u.parts[0].__dlpack__(stream=stream, max_version=(1, 0))
    u[:50] = -1
    del u
    others = [pt.full(100, n, pt.float32, team=team).eval() for n in range(5)]
    read = driver.read(fields(capsule)["data"], 100, stream)
    assert read.tolist() == list(range(100)) and len(others) == 5
    del capsule
    gc.collect()
    assert pt._native.live_exports() == before


def test_the_c_exchange_table(u):
    table = Exchange(pt.Part)
    for p in u.parts:
        out = ctypes.c_uint64()
        kind, number = p.__dlpack_device__()
        assert table.stream(kind, number, ctypes.addressof(out)) == 0 and out.value == p.device.stream
        code, head = table.lend(p)
        assert code == 0 and (ctypes.c_uint64 * 10).from_address(head)[4] == p.__cuda_array_interface__["data"][0]
        shown = table.show(head)
        np.testing.assert_array_equal(shown.numpy(), np.from_dlpack(p, device="cpu"))
        assert shown.team.devices == [p.device]


def test_functions_of_ones_own_queue_work_on_the_streams(u, expected, driver):
    kept = []

    def negative(block, u, out):
        source, said, stream = u.__cuda_array_interface__, out.__cuda_array_interface__, block.stream
        assert source["stream"] == stream.__cuda_stream__()[1] == block.device.stream and source["data"][1] and not said["data"][1]
        driver.current(u.__dlpack_device__()[1])
        rows, columns = block.inner
        for row in range(out.shape[0]):
            address = source["data"][0] + (rows.start + row) * source["strides"][0] + columns.start * 4
            kept.append(-driver.read(address, out.shape[1], stream.handle))
            place = ctypes.c_uint64(said["data"][0] + row * said["strides"][0])
            count = ctypes.c_size_t(kept[-1].nbytes)
            driver.call("cuMemcpyHtoDAsync_v2", place, ctypes.c_void_p(kept[-1].ctypes.data), count, ctypes.c_void_p(stream.handle))

    np.testing.assert_array_equal((pt.map_parts(negative, u) * 2).numpy(), -2 * expected)


@pytest.mark.parametrize("seed", range(10_000, 10_040))
def test_random_programs_over_domains(seed, monkeypatch):
    monkeypatch.setattr(test_domains, "DEVICE", CUDA)
    test_domains.check_program(seed)


def program(*words, **environment):
    """Exit code and output of Python on CUDA devices, a rank's share of them on each of two ranks."""
    settings = {"PARTITA_DEVICE": "cuda", "PARTITA_THREADS": "1", "PARTITA_MPI": "off", "PARTITA_DEADLINE_SECONDS": "20"}
    done = subprocess.run(
        [sys.executable, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, timeout=120,
        env={**os.environ, **settings, **environment},
    )  # fmt: skip
    return done.returncode, done.stdout


LINKS = ["-m", "partita", "doctor", "links", "--json"]
TWO_RANKS = ["-m", "partita", "launch", "-n", "2"]


def test_links_of_the_devices_of_a_process():
    code, out = program(*LINKS)
    said = json.loads(out)
    count = len(said["devices"])
    assert code == 0 and (said["ranks"], said["wire"], len(said["links"])) == (1, None, count * (count + 1) // 2)
    assert said["simulated"] == all("simulated" in device["name"] for device in said["devices"])
    for link in said["links"]:
        ways = ["kernel"] if link["from"] == link["to"] else ["peer", "staged"]
        assert [way["way"] for way in link["ways"]] == ways and link["chosen"] == ways[0], link
        assert all(way["arrived"] and way["latency_us"] > 0 and way["gb_per_s"] > 0 for way in link["ways"]), link


def test_links_between_ranks_and_what_changes_their_choice():
    """CUDA IPC is chosen; where it is off, messages are staged, and a warning says so."""
    for setting, chosen, others in (("1", "CUDA IPC", ["staged"]), ("0", "staged", [])):
        code, out = program(*TWO_RANKS, *LINKS, PARTITA_CUDA_IPC=setting)
        assert code == 0, out
        said = json.loads(out)
        between = [link for link in said["links"] if len({said["devices"][link[end]]["rank"] for end in ("from", "to")}) == 2]
        assert between and said["wire"] == "TCP"
        for link in between:
            assert link["chosen"] == chosen and [way["way"] for way in link["ways"]] == [chosen, *others], link
            assert ("PARTITA_CUDA_IPC=0 on rank 0" in link["why"]) == (setting == "0"), link
        assert any("is staged by sockets" in warning for warning in said["warnings"]) == (setting == "0"), said


def test_a_link_that_fails_is_an_error():
    if "simulated" not in CUDA[-1].name:
        pytest.skip("faults are planted in the simulated driver")
    code, out = program(*LINKS, PARTITA_SIM_FAIL="cuMemcpyDtoHAsync_v2:3:launch_failed")
    assert code == 1 and "partita: " in out and "LAUNCH_FAILED" in out.upper(), out


EXPLAINS = """
import partita as pt
t = pt.Team(2)
u = pt.zeros(100, team=t, dtype=pt.float32)
u[:] = 1
u.eval()
print((u[1:] - u[:-1]).explain().splitlines()[2])
float(u.sum())
print((u[1:] - u[:-1]).explain().splitlines()[2])
"""


def test_explain_names_the_way_of_each_message(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(EXPLAINS)
    devices = min(2, sum(device.kind == "cuda" for device in pt.devices()))
    code, out = program(script)
    assert code == 0 and out == 2 * f"  0 -> 1: 4 bytes, {'peer' if devices == 2 else 'kernel'}\n", out
    code, out = program(*TWO_RANKS, script)
    assert code == 0 and out.count("  0 -> 1: 4 bytes, CUDA IPC, NCCL, device pointers or staged, as the first exchange finds\n") == 2, out
    assert out.count("  0 -> 1: 4 bytes, CUDA IPC\n") == 2, out


FACES = """
import partita as pt
team = pt.Team({parts}, [next(d for d in pt.devices() if d.kind == "cuda")])
u = pt.ones((12, 12, 12), dtype="float32", dist=pt.Distribution((12, 12, 12), team=team, grid={grid}))
v = pt.zeros_like(u)
for _ in range({steps}):
    u[...] = u * 2
    v[1:-1, 1:-1, 1:-1] = (u[2:, 1:-1, 1:-1] + u[:-2, 1:-1, 1:-1] + u[1:-1, 2:, 1:-1] + u[1:-1, :-2, 1:-1]
                           + u[1:-1, 1:-1, 2:] + u[1:-1, 1:-1, :-2])  # fmt: skip
v.eval()
"""


@pytest.mark.parametrize(("parts", "grid"), [(2, (2, 1, 1)), (8, (2, 2, 2))])
def test_the_faces_of_all_parts_of_a_device_are_one_launch(parts, grid, tmp_path):
    """An exchange packs nothing: faces go from part to halo, all of them in one launch."""
    trace = tmp_path / "trace.json"
    env = {**os.environ, "PARTITA_TRACE": str(trace)}
    subprocess.run([sys.executable, "-c", FACES.format(parts=parts, grid=grid, steps=3)], env=env, check=True, timeout=120)
    names = re.findall(r'"name":"([^"]*)"', trace.read_text())
    # Kernels over the boxes of a part, or of several, are launches of boxes, too.
    assert len([name for name in names if re.match("copy_(boxes|words)", name)]) == 3, names
