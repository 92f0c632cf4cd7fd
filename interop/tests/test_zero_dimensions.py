"""Arrays without dimensions go out of and come into every protocol as such, on teams of any size."""

import array
import os

import numpy as np
import partita as pt
import pytest


def lone(team, number=2.5, dtype=pt.float32):
    return pt.asarray(number, dtype, team=team)


@pytest.mark.parametrize("make", [
    lambda t: pt.asarray(3, team=t), lambda t: pt.asarray(2.5, team=t), lambda t: pt.asarray(np.float64(7), team=t),
    lambda t: pt.asarray(np.array(-1, "i2"), team=t), lambda t: pt.asarray(1 + 2j, team=t), lambda t: pt.full((), 4, team=t),
    lambda t: pt.arange(9, team=t)[7], lambda t: pt.arange(12, team=t).reshape(3, 4)[2, 1], lambda t: pt.arange(5, team=t).sum(),
    lambda t: pt.ones((3, 4), team=t).max(),
])  # fmt: skip
def test_every_protocol_says_no_dimensions(host_team, make):
    u = make(host_team)
    value = u.numpy()
    assert u.shape == () and value.shape == ()
    (part,) = u.parts
    assert part.shape == () and part.stored.shape == () and part.owned == () and part.grid_index == ()
    for exported in (np.from_dlpack(part), np.from_dlpack(part.stored), np.from_dlpack(u), np.asarray(part)):
        assert exported.shape == () and exported.dtype == value.dtype and exported == value
    said = part.__distarray__()
    assert said["dim_data"] == () and said["buffer"].shape == () and pt.validate_distarray(said) == (True, "")
    assert u.__distarray__()["dim_data"] == ()
    for source in (u, u.parts, said, [said]):
        v = pt.from_distarray(source)
        assert v.shape == () and v.dtype == u.dtype and v.numpy() == value
    described = u.__partitioned__
    assert described["shape"] == () and described["partition_tiling"] == () and list(described["partitions"]) == [()]
    entry = described["partitions"][()]
    assert entry["start"] == () and entry["shape"] == () and entry["data"].shape == ()
    assert pt.validate_partitioned(described) == (True, "")
    for source in (u, described):
        v = pt.from_partitioned(source, team=host_team)
        assert v.shape == () and v.team == host_team and v.numpy() == value
    with pytest.raises(BufferError, match="at least one dimension"):
        pt.from_distarray(u, copy=False)


def test_on_devices_too(team):
    u = lone(team)
    (part,) = u.parts
    assert part.shape == () and np.from_dlpack(part, device="cpu") == 2.5
    assert pt.from_distarray(u, team=team).numpy() == 2.5
    assert pt.from_partitioned(u.__partitioned__, team=team).numpy() == 2.5


BUFFERS = [np.array(5.0), memoryview(np.array(5.0)), np.float64(5), np.float32(5), np.array(5, "u1"), np.int64(5), np.array(5 + 0j)]


@pytest.mark.parametrize("buffer", BUFFERS, ids=lambda b: type(b).__name__)
def test_buffers_without_dimensions_are_taken(buffer):
    said = {"__version__": "0.10.0", "buffer": buffer, "dim_data": ()}
    assert pt.validate_distarray(said) == (True, "")
    u = pt.from_distarray(said)
    assert u.shape == () and u.numpy() == 5 and u.dtype == np.asarray(buffer).dtype
    where = (("127.0.0.1", os.getpid()),)
    entry = {"start": (), "shape": (), "data": buffer, "location": list(where)}
    v = pt.from_partitioned({"shape": (), "partition_tiling": (), "partitions": {(): entry}, "get": lambda x: x})
    assert v.shape == () and v.numpy() == 5


def test_what_is_none_is_refused():
    for buffer, dims in ((5.0, ()), (np.zeros(1), ()), (array.array("d", [1]), ()), (np.array(5.0), ({},)), ("text", ())):
        said = {"__version__": "0.10.0", "buffer": buffer, "dim_data": dims}
        assert pt.validate_distarray(said)[0] is False
        with pytest.raises(ValueError, match="buffer|dim_data"):
            pt.from_distarray(said)


def test_one_part_has_the_element(host_team):
    import pickle

    u = pt.arange(9, team=host_team)
    for x in (u[7], u[0], u.sum(), u.reshape(3, 3).max(), u[7] + u[0], pt.zeros((), team=host_team)):
        assert x.dist.shape == () and x.dist.num_parts == host_team.size and len(x.parts) == 1
        y = pickle.loads(pickle.dumps(x))
        assert type(y) is type(x) and y.dist == x.dist and y.numpy() == x.numpy()
        assert x.redistribute(u[-1].dist).dist == u[-1].dist
    assert u[7].dist != u[0].dist or host_team.size == 1
    z = pt.asarray(3 - 4j, team=host_team) * u[2]
    assert z.dist.shape == () and z == 6 - 8j and z.sum() == z and abs(z) == 10 and z.any()
