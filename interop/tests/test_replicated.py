"""Replicated dimensions: a copy per part, reads that send nothing, assignment to all copies, and what other packages are given."""

import copy
import os
import pickle

import numpy as np
import partita as pt
import pytest

HOST = np.arange(12, dtype=np.float64).reshape(3, 4)


def whole(team):
    return pt.Distribution((3, 4), team=team, dims=[pt.Replicated(), None])


@pytest.fixture(params=[1, 2, 3, 4])
def parts(request):
    return request.param


def copies(u):
    """What each part has."""
    return [np.array(np.from_dlpack(part)) for part in u.parts]


def test_every_part_has_a_copy(parts):
    team = pt.Team(parts, "host")
    u = pt.asarray(HOST, dist=whole(team))
    assert len(copies(u)) == parts and all(map(np.array_equal, copies(u), [HOST] * parts))
    addresses = {np.from_dlpack(part).ctypes.data for part in u.parts}
    assert len(addresses) == parts, "copies are in memory of their own"
    assert u.dist.kinds[0] == "replicated" and u.dist.owner((1, 2)) == 0 and u.dist.holders((1, 2)) == list(range(parts))
    assert np.array_equal(u.numpy(), HOST) and float(u.sum()) == HOST.sum() and u[2, 1].item() == HOST[2, 1]


def test_reads_send_nothing(parts):
    """A look-up table beside divided rows: each part reads its own copy. Divided, it would travel."""
    team = pt.Team(parts, "host")
    x = pt.asarray(np.arange(8.0 * 4).reshape(8, 4), team=team)
    row = HOST[1]
    table = pt.asarray(row, dist=pt.Distribution(4, team=team, dims=[pt.Replicated()])).eval()
    before = team.messages
    np.testing.assert_array_equal((x * table + table[2]).eval().numpy(), np.arange(32.0).reshape(8, 4) * row + row[2])
    assert (table * 2 + 1).eval().dist.kinds == ("replicated",)
    assert team.messages == before
    divided = pt.asarray(row, team=team).eval()
    (x * divided).eval()
    assert (team.messages > before) == (parts > 1)


def test_assignment_goes_to_all_copies(parts):
    team = pt.Team(parts, "host")
    u, host = pt.asarray(HOST, dist=whole(team)), HOST.copy()
    for key, value in (((1, 2), -1.0), ((slice(0, 2), 0), 9.0), ((slice(None), slice(1, 3)), np.arange(6.0).reshape(3, 2)), ((2,), np.ones(4))):
        u[key], host[key] = value, value
        assert all(map(np.array_equal, copies(u), [host] * parts)), key
    u += 1
    u[u > 8] = 0
    host += 1
    host[host > 8] = 0
    assert all(map(np.array_equal, copies(u), [host] * parts))


def test_arithmetic_with_other_distributions(parts):
    team = pt.Team(parts, "host")
    u = pt.asarray(HOST, dist=whole(team))
    others = [None, [pt.Cyclic(1), None], [pt.Unstructured([[n for n in range(3) if n % parts == p] for p in range(parts)]), None]]
    for dims in others:
        v = pt.asarray(HOST + 1, dist=pt.Distribution((3, 4), team=team, dims=dims))
        for made in (u + v, v + u, pt.where(u > v, u, v) + HOST):
            np.testing.assert_array_equal(made.numpy(), 2 * HOST + 1)
        np.testing.assert_array_equal(v.redistribute(whole(team)).numpy(), HOST + 1)
        assert all(map(np.array_equal, copies(v.redistribute(whole(team))), [HOST + 1] * parts))
    np.testing.assert_array_equal(u.redistribute(pt.Distribution((3, 4), team=team)).numpy(), HOST)
    np.testing.assert_array_equal((u @ HOST.T).numpy(), HOST @ HOST.T)
    np.testing.assert_array_equal(pt.sort(-u, axis=1).numpy(), np.sort(-HOST, axis=1))
    np.testing.assert_array_equal(u.sum(axis=0).numpy(), HOST.sum(axis=0))
    np.testing.assert_array_equal(u[::-1, ::2].T.numpy(), HOST[::-1, ::2].T)
    z = pt.asarray(HOST * 1j, dist=whole(team))
    z[0, 0] = 3
    assert all(block[0, 0] == 3 and block[1, 1] == 5j for block in copies(z))


def test_a_dimension_may_be_divided_beside_it():
    team = pt.Team(4, "host")
    dist = pt.Distribution((4, 6), team=team, grid=(2, 2), dims=[None, pt.Replicated()])
    host = np.arange(24.0).reshape(4, 6)
    u = pt.asarray(host, dist=dist)
    assert dist.holders((3, 0)) == [2, 3] and dist.owned(3) == ((2, 4), (0, 6))
    assert [block.tolist() for block in copies(u)] == [host[:2].tolist()] * 2 + [host[2:].tolist()] * 2
    np.testing.assert_array_equal((u[1:] - u[:-1]).numpy(), np.diff(host, axis=0))
    blocks = [np.array(block) for block in copies(u)]
    np.testing.assert_array_equal(pt.from_parts(blocks, dist).numpy(), host)


def test_partitioned_names_every_location(parts):
    """Boxes, each with as many locations as copies; here in one process."""
    u = pt.asarray(HOST, dist=whole(pt.Team(parts, "host")))
    described = u.__partitioned__
    assert pt.validate_partitioned(described) == (True, "") and described["partition_tiling"] == (1, 1)
    (entry,) = described["partitions"].values()
    assert entry["location"] == [("127.0.0.1", os.getpid(), "kDLCPU:0")] * parts and entry["shape"] == (3, 4)
    assert entry["data"].ctypes.data == np.from_dlpack(u.parts[0]).ctypes.data
    back = pt.from_partitioned(u)
    assert back.dist.num_parts == 1
    np.testing.assert_array_equal(back.numpy(), HOST)
    # Of several locations one is this process: that is enough.
    entry["location"] = [("192.0.2.7", 1), *entry["location"]]
    np.testing.assert_array_equal(pt.from_partitioned(described).numpy(), HOST)
    team = pt.Team(4, "host")
    u = pt.asarray(HOST, dist=pt.Distribution((3, 4), team=team, grid=(2, 2), dims=[pt.Replicated(), None]))
    described = u.__partitioned__
    assert described["partition_tiling"] == (1, 2) and [len(e["location"]) for e in described["partitions"].values()] == [2, 2]
    np.testing.assert_array_equal(pt.from_partitioned(u).numpy(), HOST)


def test_distarray_says_lists_with_copies(parts):
    """The protocol has no kind of its own: every part lists all indices, which is not one to one."""
    u = pt.asarray(HOST, dist=whole(pt.Team(parts, "host")))
    described = [part.__distarray__() for part in u.parts]
    assert pt.validate_distarray(described) == (True, "")
    dim = described[-1]["dim_data"][0]
    assert dim["dist_type"] == "u" and dim["indices"].tolist() == [0, 1, 2] and dim.get("one_to_one", False) is (parts == 1)
    back = pt.from_distarray(u.parts)
    np.testing.assert_array_equal(back.numpy(), HOST)
    assert back.dist.holders((0, 0)) == list(range(parts))
    ring = pt.Distribution(4, team=u.team, dims=[pt.Replicated()], periodic=True)
    with pytest.raises(ValueError, match=r"dim_data\[0\]: expected boundary and periodicity only along block maps"):
        pt.zeros(4, dist=ring).parts[0].__distarray__()


def test_text_pictures_and_pickles(parts):
    team = pt.Team(parts, "host")
    dist = whole(team)
    assert repr(pt.Replicated()) == "partita.Replicated()" and "replicated x block" in repr(dist) and "replicated" in str(dist)
    line = pt.Distribution(4, team=team, dims=[pt.Replicated()])
    assert "replicated" in line.svg() and ("hatched: copies" in line.svg()) == (parts > 1)
    assert "replicated" in dist.svg() and "replicated" in repr(pt.zeros((3, 4), dist=dist)) + dist._repr_html_()
    for again in (pickle.loads(pickle.dumps(dist)), copy.deepcopy(dist)):
        assert again == dist and again.kinds == dist.kinds and hash(again) == hash(dist)
    assert pickle.loads(pickle.dumps(pt.Replicated())) == pt.Replicated()
    u = pickle.loads(pickle.dumps(pt.asarray(HOST, dist=dist)))
    assert u.dist == dist and all(map(np.array_equal, copies(u), [HOST] * parts))


def test_what_is_no_division_is_refused():
    with pytest.raises(TypeError, match="a Block, Cyclic, Unstructured, Replicated, CustomMap or None per dimension"):
        pt.Distribution(4, team=pt.Team(2, "host"), dims=["replicated"])


def test_on_every_device(team):
    u = pt.asarray(HOST.astype(np.float32), dist=whole(team))
    x = pt.ones((3, 4), pt.float32, team=team)
    u[1] = 7
    before = team.messages
    made = (x + u).eval()
    assert team.messages == before
    expected = HOST.astype(np.float32)
    expected[1] = 7
    np.testing.assert_array_equal(made.numpy(), 1 + expected)
    np.testing.assert_array_equal(u.numpy(), expected)
