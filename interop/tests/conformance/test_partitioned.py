"""``__partitioned__`` on arrays of at least three parts."""

import os
import pickle
import re
import subprocess
import sys
import time
from concurrent.futures import Future

import numpy as np
import partita as pt
import pytest

from conformance import ranks
from partita.conformance import goldens

HOST = np.arange(70, dtype=np.float32).reshape(10, 7)
#: DLPack's numbers of kinds of devices.
KINDS = {1: "kDLCPU", 2: "kDLCUDA", 3: "kDLCUDAHost", 7: "kDLVulkan", 15: "kDLWebGPU"}


def blocks(team, host=HOST, **words):
    return pt.asarray(host, dist=pt.Distribution(host.shape, team=team, **words))


def valid(described):
    answer, reason = pt.validate_partitioned(described)
    assert answer == (not reason)
    return answer


def cells(said, position):
    """What a partition has, copied to the host wherever it is."""
    return np.from_dlpack(said["get"](said["partitions"][position]["data"]), device="cpu")


def layouts(on):
    yield blocks(on(3))
    yield blocks(on(4), grid=(2, 2), halo=1)
    yield blocks(on(4), grid=(1, 4))
    yield blocks(on(8), np.arange(60, dtype=np.float32).reshape(5, 4, 3), grid=(2, 2, 2))


@pytest.mark.requirement("E1", "E3", "E4")
def test_a_property_that_gives_a_dict(on):
    for u in layouts(on):
        said = u.__partitioned__
        assert type(said) is dict and set(said) == {"shape", "partition_tiling", "partitions", "get"} and callable(said["get"])
        assert valid(said) and said["shape"] == u.shape
        assert not any(valid({k: v for k, v in said.items() if k != key}) for key in ("shape", "partition_tiling", "partitions"))
        assert type(said["partition_tiling"]) is tuple and said["partition_tiling"] == u.dist.grid and len(said["partition_tiling"]) == u.ndim
        assert sorted(said["partitions"]) == list(np.ndindex(said["partition_tiling"]))
        assert all(type(key) is tuple for key in said["partitions"])
        some = dict(said["partitions"])
        some.pop(next(iter(some)))
        assert not valid({**said, "partitions": some}) and not valid({**said, "partition_tiling": said["partition_tiling"][:-1]})


READ = """
import pickle, sys
said = pickle.load(sys.stdin.buffer)
data = [said["get"](entry["data"]) for entry in said["partitions"].values()]
print(len(data), sum(float(one.sum()) for one in data), [entry["start"] for entry in said["partitions"].values()])
"""


@pytest.mark.requirement("E2")
def test_another_process_reads_it():
    u = blocks(pt.Team(4, "host"), grid=(2, 2), halo=1)
    text = pickle.dumps(u.__partitioned__)
    np.testing.assert_array_equal(pt.from_partitioned(pickle.loads(text), team=u.team).numpy(), HOST)
    done = subprocess.run([sys.executable, "-c", READ], input=text, capture_output=True, check=False, timeout=60)
    assert done.stdout.decode().strip() == "4 2415.0 [(0, 0), (0, 3), (5, 0), (5, 3)]", done.stderr.decode()


@pytest.mark.requirement("E5", "E6")
def test_partitions_tile_the_array_without_halos(on):
    for u in layouts(on):
        said, count, host = u.__partitioned__, np.zeros(u.shape, int), u.numpy()
        for position, entry in said["partitions"].items():
            box = tuple(slice(start, start + extent) for start, extent in zip(entry["start"], entry["shape"], strict=True))
            count[box] += 1
            assert cells(said, position).shape == entry["shape"] == host[box].shape
            np.testing.assert_array_equal(cells(said, position), host[box])
        assert (count == 1).all()
    first = next(iter(said["partitions"]))
    for key, by in (("start", 1), ("shape", 1), ("shape", -1)):
        entry = said["partitions"][first]
        wrong = {**entry, key: (entry[key][0] + by, *entry[key][1:])}
        assert not valid({**said, "partitions": {**said["partitions"], first: wrong}}), (key, by)


def located(u):
    return [entry["location"] for entry in u.__partitioned__["partitions"].values()]


@pytest.mark.requirement("E7")
def test_locations_of_parts_and_of_all_their_copies(on):
    for locations in located(blocks(on(3))):
        ((address, process, device),) = locations
        assert address == "127.0.0.1" and process == os.getpid() and device.startswith("kDL")
    # Two copies of each of two halves; a consumer takes any of them.
    u = blocks(on(4), grid=(2, 2), dims=[None, pt.Replicated()])
    said = u.__partitioned__
    assert said["partition_tiling"] == (2, 1) and [len(one) for one in located(u)] == [2, 2]
    assert all(place[:2] == ("127.0.0.1", os.getpid()) for one in located(u) for place in one) and valid(said)
    np.testing.assert_array_equal(pt.from_partitioned(said, team=on(2)).numpy(), HOST)
    # The device may be left out: it is the host then.
    host = blocks(pt.Team(3, "host")).__partitioned__
    for entry in host["partitions"].values():
        entry["location"] = [("9.9.9.9", 1, "kDLCPU:0"), ("127.0.0.1", os.getpid())]
    np.testing.assert_array_equal(pt.from_partitioned(host, team=pt.Team(3, "host")).numpy(), HOST)
    for wrong in ([], ["127.0.0.1"], [("127.0.0.1", "x")], [("127.0.0.1",)], [(1, 1)]):
        host["partitions"][(1, 0)]["location"] = wrong
        assert not valid(host), wrong


@pytest.mark.requirement("E8", "E9")
def test_devices_have_the_names_of_dlpack_and_share_their_memory(on):
    u = blocks(on(4), grid=(2, 2))
    said = u.__partitioned__
    for part, entry in zip(u.parts, said["partitions"].values(), strict=True):
        ((address, process, device),) = entry["location"]
        data = said["get"](entry["data"])
        kind, number = data.__dlpack_device__()
        assert re.fullmatch(r"kDL[A-Za-z]+:\d+", device) and device == f"{KINDS[kind]}:{number}" and (address, process) == ("127.0.0.1", os.getpid())
        if kind == 1:
            assert np.from_dlpack(data).ctypes.data == np.from_dlpack(part).ctypes.data
        else:
            assert data.__dlpack_device__() == part.__dlpack_device__()


@pytest.mark.requirement("E10", "E11")
def test_get_takes_one_handle_or_several_of_arrays(on):
    said = blocks(on(3), HOST[:9]).__partitioned__
    data = [entry["data"] for entry in said["partitions"].values()]
    assert [tuple(one.shape) for one in said["get"](data)] == [tuple(said["get"](one).shape) for one in data] == [entry["shape"] for entry in said["partitions"].values()]
    assert all(hasattr(said["get"](one), "__dlpack__") for one in data)

    class Frame:
        """As a data frame: an array may be made of it, but it is none."""

        shape = (3, 7)

        def __array__(self, dtype=None, copy=None):
            return np.zeros((3, 7), np.float32)

        def __dataframe__(self):
            raise NotImplementedError

    frames = [Frame]
    try:
        import pandas

        frames.append(lambda: pandas.DataFrame(np.zeros((3, 7))))
    except ImportError:
        pass
    for frame in frames:
        lost = {**said, "get": lambda handle, frame=frame: frame()}
        with pytest.raises(TypeError, match=r"partitions\[\(0, 0\)\]\['data'\]: expected an array .*given .*Frame"):
            pt.from_partitioned(lost, team=on(3))


@pytest.mark.requirement("E12", "E14")
def test_data_of_others_may_be_missing_and_all_are_of_one_type(on):
    said = blocks(on(4), grid=(4, 1)).__partitioned__

    def changed(locals_, missing, other=None):
        parts = {key: {**entry, "data": None if key[0] in missing else entry["data"]} for key, entry in said["partitions"].items()}
        if other is not None:
            parts[(3, 0)]["data"] = other
        return {**said, "partitions": parts} | ({} if locals_ is None else {"locals": [(at, 0) for at in locals_]})

    assert valid(changed([0, 2], [1, 3])) and valid(changed([0, 2], [])) and valid(changed([3], [0, 1, 2]))
    assert not valid(changed(None, [1])) and not valid(changed([0, 1], [1])) and not valid(changed([0, 4], [1]))
    with pytest.raises(ValueError, match=r"partitions\[\(1, 0\)\]\['data'\]"):
        pt.from_partitioned(changed([0, 2], [1, 3]), team=on(4))
    assert not valid(changed(None, [], Future()))


SPMD = """
team = pt.Team(4)
u = pt.asarray(np.arange(12.0), team=team)
said = u.__partitioned__
mine = [key for key, entry in said["partitions"].items() if entry["data"] is not None]
assert said["locals"] == mine == [(member,) for member in team.local_members] and len(mine) == 2
assert pt.validate_partitioned(said) == (True, "")
assert pt.from_partitioned(said, team=team).tolist() == u.tolist()
print("ok")
"""


@pytest.mark.requirement("E12")
def test_each_of_two_processes_lists_its_own():
    assert ranks.run(2, SPMD).count("ok") == 2


@pytest.mark.requirement("E13")
def test_handles_are_fetched_by_get_alone(on):
    u = blocks(on(3))
    said, fetched = u.__partitioned__, []

    def get(handle):
        fetched.append(handle)
        return handle.result()

    for position, entry in said["partitions"].items():
        handle = Future()
        handle.set_result(cells(said, position))
        entry["data"], entry["location"] = handle, [("9.9.9.9", 1)]
    handles = [entry["data"] for entry in said["partitions"].values()]
    said["get"] = get
    assert valid(said)
    np.testing.assert_array_equal(pt.from_partitioned(said, team=u.team).numpy(), HOST)
    assert fetched == handles


@pytest.mark.requirement("E15")
def test_a_consumer_checks_places_and_types():
    u = blocks(pt.Team(3, "host"))
    own = located(u)[0][0]
    for wrong in [("9.9.9.9", *own[1:])], [(own[0], own[1] + 1, own[2])], [(*own[:2], "kDLROCM:3")], [(*own[:2], "kDLCPU:1")]:
        said = u.__partitioned__
        said["partitions"][(1, 0)]["location"] = wrong
        with pytest.raises(ValueError, match=r"partitions\[\(1, 0\)\]\['location'\]: expected"):
            pt.from_partitioned(said, team=u.team)
    for data in (object(), "text", {"a": 1}):
        said = u.__partitioned__
        for entry in said["partitions"].values():
            entry["data"] = data
        with pytest.raises((TypeError, ValueError)):
            pt.from_partitioned(said, team=u.team)


def addresses(u):
    return [np.from_dlpack(part).ctypes.data for part in u.parts]


@pytest.mark.requirement("E16")
def test_reading_moves_no_data():
    team, rows = pt.Team(3, "host"), [HOST[:4].copy(), HOST[4:7].copy(), HOST[7:].copy()]
    heat = {
        "shape": (10, 7), "partition_tiling": (3, 1), "locals": [(0, 0), (1, 0), (2, 0)], "get": lambda data: data,
        "partitions": {(n, 0): {"start": (start, 0), "shape": rows[n].shape, "data": rows[n], "location": [n], "dtype": np.float32, "device": "cpu"}
                       for n, start in enumerate((0, 4, 7))},
    }  # fmt: skip
    u = pt.from_partitioned(heat, team=team)
    again = pt.from_partitioned(u, team=team)
    assert addresses(u) == addresses(again) == [row.ctypes.data for row in rows]
    np.testing.assert_array_equal(u.numpy(), HOST)


@pytest.mark.requirement("E17")
def test_both_protocols_say_the_same_of_regular_grids(on):
    for u in layouts(on):
        v = pt.from_distarray(u.parts, team=u.team)
        w = pt.from_partitioned(v.__partitioned__, team=u.team)
        boxes = [[(entry["start"], entry["shape"]) for entry in one.__partitioned__["partitions"].values()] for one in (u, v, w)]
        assert boxes[0] == boxes[1] == boxes[2] and v.__partitioned__["partition_tiling"] == u.dist.grid
        np.testing.assert_array_equal(w.numpy(), u.numpy())


@pytest.mark.requirement("E18")
def test_the_three_examples_are_arrays(on):
    """With handles that give numbers, over the devices at hand."""
    examples = [golden for golden in goldens("partitioned") if golden["requirement"] == "E18"]
    assert len(examples) == 3
    for golden in examples:
        (said,) = golden["arguments"]
        assert valid(said)
        host = np.arange(64.0).reshape(said["shape"])
        for entry in said["partitions"].values():
            handle = Future()
            handle.set_result(host[tuple(slice(at, at + n) for at, n in zip(entry["start"], entry["shape"], strict=True))])
            entry["data"] = handle
        u = pt.from_partitioned({**said, "get": lambda handle: handle.result()}, team=on(4))
        np.testing.assert_array_equal(u.numpy(), host)
        assert u.dist.grid == said["partition_tiling"] and u.dist.num_parts == 4
    assert said["locals"] == [(0, 0), (2, 0)]


@pytest.mark.requirement("E19")
def test_what_the_draft_leaves_out_is_refused(on):
    for words, why in (
        ({"dims": [pt.Cyclic(1), None]}, "cyclic"), ({"dims": [pt.Cyclic(2), None]}, "cyclic 2"), ({"dims": [pt.Block([0, 1, 9, 10]), None]}, "irregular"),
        ({"dims": [pt.Unstructured([[9, 0, 1], [2, 3, 4, 5], [6, 7, 8]]), None]}, "unstructured"),
    ):  # fmt: skip
        u = blocks(on(3), grid=(3, 1), **words)
        with pytest.raises(ValueError, match=rf"partition_tiling.*{why}"):
            str(u.__partitioned__)


def many(count):
    data = np.zeros(4)
    entries = {(n,): {"start": (4 * n,), "shape": (4,), "data": data, "location": [0]} for n in range(count)}
    return {"shape": (4 * count,), "partition_tiling": (count,), "partitions": entries, "get": len}


@pytest.mark.requirement("E20")
def test_ten_thousand_partitions_take_no_quadratic_time():
    def seconds(count, tries):
        described, taken = many(count), []
        for _ in range(tries):
            begin = time.thread_time()
            assert valid(described)
            taken.append(time.thread_time() - begin)
        return min(taken)

    # Twenty times as many; quadratic would be 400 times as long.
    few, lots = seconds(500, 5), seconds(10_000, 1)
    assert lots < 200 * few, f"{few} s and {lots} s"
    said = many(10_000)
    said["locals"] = [(7777,)]
    for key, entry in said["partitions"].items():
        entry["data"] = entry["data"] if key == (7777,) else None
    assert valid(said)
