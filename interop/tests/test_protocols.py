"""`__distarray__` and `__partitioned__` out and in, and what is refused."""

import os
import pickle
import socket

import numpy as np
import partita as pt
import pytest

HOST = np.arange(70, dtype=np.float32).reshape(10, 7)
LISTS = [[0, 9, 4], [1, 2], [3, 5, 8], [6, 7]]


def dists(team):
    n = team.size
    yield pt.Distribution((10, 7), team=team)
    yield pt.Distribution((10, 7), team=team, grid=(1, n), halo=1)
    yield pt.Distribution((10, 7), team=team, grid=(n, 1), halo=(1, 0), boundary=((1, 1), (0, 0)))
    yield pt.Distribution((10, 7), team=team, grid=(n, 1), dims=[pt.Cyclic(2), None])
    if n == 4:
        yield pt.Distribution((10, 7), team=team, grid=(2, 2), dims=[pt.Block([0, 3, 10]), pt.Cyclic(1)])
        yield pt.Distribution((10, 7), team=team, grid=(4, 1), dims=[pt.Unstructured(LISTS), None])


def test_distarray_round_trip(team):
    for dist in dists(team):
        u = pt.asarray(HOST, dist=dist)
        described = [p.__distarray__() for p in u.parts]
        assert pt.validate_distarray(described) == (True, "")
        for source in (described, u.parts):
            v = pt.from_distarray(source, team=team)
            np.testing.assert_array_equal(v.numpy(), HOST)
            assert [repr(v.dist.owned(p)) for p in range(team.size)] == [repr(dist.owned(p)) for p in range(team.size)]
            assert v.dist.boundary == dist.boundary


def test_distarray_describes_one_part_as_the_protocol_requires():
    u = pt.asarray(HOST, dist=pt.Distribution((10, 7), team=pt.Team(4, "host"), grid=(2, 2), halo=1))
    described = u.parts[3].__distarray__()
    assert described["__version__"] == "0.10.0"
    assert described["dim_data"][0] == {
        "dist_type": "b", "size": 10, "proc_grid_size": 2, "proc_grid_rank": 1, "start": 4, "stop": 10, "padding": (1, 0),
    }  # fmt: skip
    buffer = described["buffer"]
    assert isinstance(buffer, memoryview) and buffer.shape == (6, 5) and buffer.readonly
    # The buffer is the part's memory, halo included.
    assert np.asarray(buffer).ctypes.data == np.from_dlpack(u.parts[3].stored).ctypes.data
    with pytest.raises(ValueError, match="u.parts"):
        u.__distarray__()
    one = pt.asarray(HOST, team=pt.Team(1, "host"))
    np.testing.assert_array_equal(np.asarray(one.__distarray__()["buffer"]), HOST)
    np.testing.assert_array_equal(pt.from_distarray(one, team=one.team).numpy(), HOST)


def test_neighbours_follow_from_one_description():
    """Of every part, from what it says alone; as the distribution knows them, which needs all."""
    for grid, periodic in (((2, 2), False), ((4, 1), True), ((1, 4), (True, False)), ((2, 2), (False, True))):
        dist = pt.Distribution((10, 7), team=pt.Team(4, "host"), grid=grid, halo=1, periodic=periodic)
        for n, part in enumerate(pt.asarray(HOST, dist=dist).parts):
            assert pt.neighbors_from_distarray(part.__distarray__()) == dist.neighbors(n), (grid, periodic, n)
    dealt = pt.Distribution((10, 7), team=pt.Team(3, "host"), dims=[pt.Cyclic(), None])
    assert pt.neighbors_from_distarray(pt.zeros((10, 7), dist=dealt).parts[1].__distarray__()) == ((0, 2), (None, None))
    alone = pt.asarray(HOST, dist=pt.Distribution((10, 7), team=pt.Team(1, "host"), periodic=True))
    assert pt.neighbors_from_distarray(alone.__distarray__()) == ((0, 0), (0, 0))
    assert pt.neighbors_from_distarray(pt.asarray(1.5).parts[0].__distarray__()) == ()
    with pytest.raises(ValueError, match="__distarray__: "):
        pt.neighbors_from_distarray({**alone.__distarray__(), "dim_data": ({}, {"dist_type": "n"})})


def test_entries_are_validated_without_a_buffer():
    described = pt.asarray(HOST, dist=pt.Distribution((10, 7), team=pt.Team(4, "host"), grid=(2, 2), halo=1)).parts[3].__distarray__()
    dim_data = described["dim_data"]
    assert pt.validate_dim_data(dim_data) == (True, "") == pt.validate_dim_data(()) == pt.validate_dim_data(({}, {}))
    assert all(pt.validate_dim_dict(dim) == (True, "") for dim in (*dim_data, {}))
    lists = {"dist_type": "u", "size": 4, "proc_grid_size": 2, "proc_grid_rank": 0, "indices": np.array([3, 1])}
    assert pt.validate_dim_dict(lists) == (True, "") and pt.validate_dim_data((lists, dim_data[0])) == (True, "")
    for key, value in (("dist_type", "x"), ("size", -1), ("proc_grid_size", 0), ("proc_grid_rank", 2), ("start", 11), ("stop", 9), ("padding", (9, 9)), ("other", 1)):
        valid, reason = pt.validate_dim_dict({**dim_data[0], key: value})
        assert valid is False and key in reason, reason
        valid, reason = pt.validate_dim_data((dim_data[1], {**dim_data[0], key: value}))
        assert valid is False and "dim_data[1]" in reason and key in reason, reason


def test_partitioned_round_trip(team):
    n = team.size
    for dist in (pt.Distribution((10, 7), team=team), pt.Distribution((10, 7), team=team, grid=(1, n), halo=1)):
        u = pt.asarray(HOST, dist=dist)
        described = u.__partitioned__
        assert pt.validate_partitioned(described) == (True, "")
        assert described["shape"] == (10, 7) and described["partition_tiling"] == dist.grid
        for source in (u, described):
            np.testing.assert_array_equal(pt.from_partitioned(source, team=team).numpy(), HOST)
    with pytest.raises(ValueError, match="partition_tiling"):
        pt.asarray(HOST, dist=pt.Distribution((10, 7), team=team, grid=(n, 1), dims=[pt.Unstructured(
            [list(range(9, -1, -1))] if n == 1 else LISTS), None])).__partitioned__


def test_partitioned_on_the_host_shares_memory_and_can_be_pickled():
    u = pt.asarray(HOST, team=pt.Team(4, "host"))
    described = u.__partitioned__
    for p, entry in zip(u.parts, described["partitions"].values(), strict=True):
        assert described["get"](entry["data"]).ctypes.data == np.from_dlpack(p).ctypes.data
        (start, stop), columns = p.owned
        assert entry["start"] == (start, columns[0]) and entry["shape"] == (stop - start, columns[1])
    there = pickle.loads(pickle.dumps(described))
    np.testing.assert_array_equal(pt.from_partitioned(there, team=u.team).numpy(), HOST)


def test_bfloat16_survives_a_distarray_round_trip():
    pytest.importorskip("ml_dtypes")
    u = pt.asarray(HOST, pt.bfloat16, team=pt.Team(4, "host"))
    buffer = u.parts[0].__distarray__()["buffer"]
    assert isinstance(buffer, pt._native.Stored)
    # A dtype without a PEP 3118 format is exported by DLPack instead, without a hidden copy.
    with pytest.raises(TypeError, match="bytes-like"):
        memoryview(buffer)
    assert hasattr(buffer, "__dlpack__") and pt.from_distarray(u.parts, team=u.team).dtype is pt.bfloat16
    data = u.__partitioned__["partitions"][(1, 0)]["data"]
    assert isinstance(data, pt.Part)


def test_heats_dialect():
    described = {
        "shape": (10, 7),
        "partition_tiling": (2, 1),
        "partitions": {
            (0, 0): {"start": (0, 0), "shape": (5, 7), "data": HOST[:5], "location": [0], "dtype": np.float32, "device": "cpu"},
            (1, 0): {"start": (5, 0), "shape": (5, 7), "data": HOST[5:], "location": [1], "dtype": np.float32, "device": "cpu"},
        },
        "locals": [(0, 0), (1, 0)],
        "get": lambda x: x,
    }
    assert pt.validate_partitioned(described) == (True, "")
    np.testing.assert_array_equal(pt.from_partitioned(described, team=pt.Team(2, "host")).numpy(), HOST)
    described["get"] = lambda x: x[1:]
    with pytest.raises(ValueError, match="part 0"):
        pt.from_partitioned(described, team=pt.Team(2, "host"))


def addresses(parts):
    return [np.asarray(part).ctypes.data for part in parts]


def test_importing_partitioned_copies_nothing_when_memory_is_local():
    """From Heat's dict, from ours, from one protocol to the other, and back."""
    team, rows = pt.Team(2, "host"), [HOST[:5].copy(), HOST[5:].copy()]
    heats = {(n, 0): {"start": (5 * n, 0), "shape": (5, 7), "data": rows[n], "location": [n]} for n in range(2)}
    described = {"shape": (10, 7), "partition_tiling": (2, 1), "partitions": heats, "locals": list(heats), "get": lambda x: x}
    u = pt.from_partitioned(described, team=team)
    assert addresses(u.parts) == addresses(rows)
    for again in (
        pt.from_partitioned(u, team=team),
        pt.from_distarray(u.parts, team=team),
        pt.from_distarray([p.__distarray__() for p in pt.from_partitioned(u.__partitioned__, team=team).parts], team=team, copy=False),
    ):
        assert addresses(again.parts) == addresses(rows)
        again[3] = -1
        assert float(again.min()) == -1
    np.testing.assert_array_equal(u.numpy(), HOST)
    for copied in (pt.from_partitioned(u, team=team, copy=True), pt.from_distarray(u.parts, team=team, copy=True)):
        assert not set(addresses(copied.parts)) & set(addresses(rows))
        np.testing.assert_array_equal(copied.numpy(), HOST)
    padded = pt.asarray(HOST, dist=pt.Distribution((10, 7), team=team, grid=(1, 2), halo=1))
    with pytest.raises(BufferError, match="C order|halo"):
        pt.from_distarray(padded.parts, team=team, copy=False)
    np.testing.assert_array_equal(pt.from_distarray(padded.parts, team=team).numpy(), HOST)


class Future:
    """A handle, as of Ray or Dask: it has no data, and its owner gives them once."""

    def __init__(self, data):
        self.data, self.fetched = data, 0


def fetch(handles):
    """One handle or several."""
    if not isinstance(handles, Future):
        return [fetch(handle) for handle in handles]
    handles.fetched += 1
    return handles.data


def test_partitioned_data_may_be_handles_resolved_by_get():
    u = pt.asarray(HOST, team=pt.Team(2, "host"))
    said = u.__partitioned__
    data = [entry["data"] for entry in said["partitions"].values()]
    assert addresses(said["get"](data)) == addresses(data) == addresses([said["get"](d) for d in data])
    for entry in said["partitions"].values():
        entry["data"] = Future(entry["data"])
    said["get"] = fetch
    assert pt.validate_partitioned(said) == (True, "")
    v = pt.from_partitioned(said, team=u.team)
    assert addresses(v.parts) == addresses(u.parts)
    assert [entry["data"].fetched for entry in said["partitions"].values()] == [1, 1]

    class Frame:
        """As a data frame: columns with names, and no array."""

        shape = (5, 7)

    def lost(handle):
        raise KeyError("this object was lost")

    for get, error, text in [
        (lambda handle: Frame(), TypeError, r"partitions\[\(0, 0\)\]\['data'\]: expected an array .*given Frame; convert"),
        (lambda handle: "text", TypeError, "given str"),
        (lambda handle: handle, TypeError, "given Future"),
        (lambda handle: HOST, ValueError, r"expected shape \(5, 7\) for part 0"),
        (lambda handle: np.zeros((5, 7), "U1"), TypeError, "expected one of"),
        (lost, KeyError, "lost"),
    ]:
        said["get"] = get
        with pytest.raises(error, match=text):
            pt.from_partitioned(said, team=u.team)


def test_data_that_are_said_to_be_elsewhere_are_refused_by_name():
    """A consumer verifies the locations: local data cannot have the location of another process."""
    u = pt.asarray(HOST, team=pt.Team(2, "host"))
    own = u.__partitioned__["partitions"][(0, 0)]["location"][0]
    address, pid, device = own
    assert (pid, device) == (os.getpid(), "kDLCPU:0")
    taken = [
        [own], [(address, pid)], [(address, pid, "kDLCPU")], [(socket.gethostname(), pid)], [("9.9.9.9", 1), own], ((address, pid),),
    ]  # fmt: skip
    wrong = [
        [("9.9.9.9", pid, device)], [(address, pid + 1, device)], [(address, pid, "kDLROCM:3")], [("9.9.9.9", 12345, "kDLROCM:3")],
        [(address, pid, "kDLCPU:1")], [(address, pid, "kDLCUDA")], [("no such host", pid)], [("2001:db8::1", pid)],
        [("9.9.9.9", pid), (address, pid + 1)],
    ]  # fmt: skip
    for location in taken + wrong:
        said = u.__partitioned__
        said["partitions"][(1, 0)]["location"] = location
        assert pt.validate_partitioned(said) == (True, "")
        if location in taken:
            np.testing.assert_array_equal(pt.from_partitioned(said, team=u.team).numpy(), HOST)
            continue
        with pytest.raises(ValueError, match=r"partitions\[\(1, 0\)\]\['location'\]: expected .* given ") as error:
            pt.from_partitioned(said, team=u.team)
        assert str(location) in str(error.value)
        # What a handle stands for `get` brings from wherever it is.
        for entry in said["partitions"].values():
            entry["data"] = Future(entry["data"])
        said["get"] = fetch
        np.testing.assert_array_equal(pt.from_partitioned(said, team=u.team).numpy(), HOST)


class Hostile:
    """Raises wherever it is touched."""

    def __getattr__(self, name):
        raise RuntimeError(name)

    def __index__(self):
        raise RuntimeError("index")

    def __eq__(self, other):
        raise RuntimeError("eq")

    __hash__ = None


def nested():
    cycle = []
    cycle.append(cycle)
    return cycle


STRANGE = [
    None, True, 3, 2.5, "text", b"bytes", [], (), {}, [None], [{}], object(), Hostile(), nested(), np.zeros(3), len,
    2**200, {"__version__": 1}, {1: 2}, {(0, 0): Hostile()}, {"a": nested()}, "\ud800", float("nan"),
]  # fmt: skip


@pytest.mark.parametrize("at", range(len(STRANGE)))
def test_validators_refuse_anything_strange_and_never_raise(at):
    # No dimensions, and one that is not divided, are well-formed.
    is_empty = type(STRANGE[at]) in (tuple, dict) and not STRANGE[at]
    for validate in (pt.validate_distarray, pt.validate_partitioned, *([] if is_empty else [pt.validate_dim_data, pt.validate_dim_dict])):
        valid, reason = validate(STRANGE[at])
        assert valid is False and len(reason) > 10


def places(described):
    """Every place in a nested description, as a path of keys."""
    stack = [()]
    while stack:
        path = stack.pop()
        value = described
        for key in path:
            value = value[key]
        if isinstance(value, dict):
            stack += [(*path, key) for key in value]
        elif isinstance(value, (tuple, list)):
            stack += [(*path, i) for i in range(len(value))]
        yield path


def replaced(described, path, new):
    """A copy with the value at a path replaced."""
    if not path:
        return new
    if isinstance(described, dict):
        return {key: replaced(value, path[1:], new) if key == path[0] else value for key, value in described.items()}
    return type(described)(replaced(value, path[1:], new) if i == path[0] else value for i, value in enumerate(described))


@pytest.mark.parametrize("protocol", ["distarray", "partitioned"])
def test_every_place_of_a_description_is_checked(protocol):
    """Whatever stands in place of a value is refused, or is another way to say something valid."""
    u = pt.asarray(HOST, dist=pt.Distribution((10, 7), team=pt.Team(4, "host"), grid=(2, 2), halo=1 if protocol == "distarray" else None))
    if protocol == "distarray":
        described, validate = u.parts[1].__distarray__(), pt.validate_distarray
    else:
        described, validate = u.__partitioned__, pt.validate_partitioned
    assert validate(described)[0]
    refused = 0
    # `get` may be any function; a box without data is one that is elsewhere.
    for path in places(described):
        for strange in (None, -1, 2**70, 0.5, True, "x", [], {}, Hostile(), nested()):
            valid, reason = validate(replaced(described, path, strange))
            allowed = (
                (path[-1:] == ("data",) and protocol == "partitioned")
                or (path[-1:] == ("periodic",) and strange is True)
                # An empty dict is a dimension that is not distributed.
                or (path[:-1] == ("dim_data",) and isinstance(strange, dict))
                or (path[-2:-1] == ("location",) or path[-3:-2] == ("location",))
            )
            assert allowed or not valid, (path, strange)
            refused += not valid
            assert valid or reason.startswith(f"__{protocol}__")
    assert refused > 150


def test_bools_of_other_bytes_become_0_and_1(tmp_path):
    """Kernels rely on bools of 0 and 1; NumPy's arrays may hold others."""
    host = np.array([0, 1, 2, 255, 7, 0, 128, 1, 3], np.uint8).view(bool)
    expected = host.view(np.uint8) != 0
    np.save(tmp_path / "a.npy", host)
    for parts in (1, 2, 3, 5):
        team = pt.Team.local(parts, "host")
        dist = pt.Distribution(host.shape, team=team)
        blocks = [host[slice(*dist.owned(part)[0])] for part in range(parts)]
        made = {
            "asarray": pt.asarray(host, team=team),
            "reversed": pt.asarray(host[::-1], team=team)[::-1],
            "from_parts": pt.from_parts(blocks, dist),
            "copied parts": pt.from_parts(blocks, dist, copy=True),
            "from_dlpack": pt.from_dlpack(host),
            "load": pt.load(tmp_path / "a.npy", team=team),
            "assigned": pt.zeros(9, bool, team=team),
            "concatenated": pt.concatenate([pt.asarray(host[:4], team=team), pt.asarray(host[4:], team=team)]),
        }
        made["assigned"][:] = host
        for name, u in made.items():
            assert int(u.sum()) == 7, (name, parts)
            assert u.astype("int32").tolist() == expected.astype(int).tolist(), (name, parts)
            assert (u == pt.asarray(expected, team=u.team)).all(), (name, parts)
            assert u.numpy().view(np.uint8).max() == 1, (name, parts)
        with pytest.raises(BufferError, match="bools of 0 and 1"):
            pt.from_parts(blocks, dist, copy=False)
