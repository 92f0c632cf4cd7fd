"""Pickles and copies of arrays and of what they are made of keep team and distribution."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import partita as pt
import pytest

HOST = np.arange(70, dtype=np.float32).reshape(10, 7)
LISTS = [[0, 9, 4], [1, 2], [3, 5, 8], [6, 7]]


def again(thing):
    return [pickle.loads(pickle.dumps(thing, protocol)) for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1)]


def ways(thing):
    return [*again(thing), copy.copy(thing), copy.deepcopy(thing)]


def dists(team):
    yield pt.Distribution((10, 7), team=team)
    yield pt.Distribution((10, 7), team=team, grid=(1, 4), halo=(0, (1, 0)), periodic=(False, True))
    yield pt.Distribution((10, 7), team=team, grid=(2, 2), dims=[pt.Block([0, 3, 10]), pt.Cyclic(2)], boundary=((1, 2), (0, 0)))
    yield pt.Distribution((10, 7), team=team, grid=(4, 1), dims=[pt.Unstructured(LISTS), None])
    yield pt.Distribution((10, 7), team=team, grid=(4, 1), halo=[[(0, 1), (1, 2), (2, 1), (1, 0)], 0])


def test_arrays_and_distributions_come_back_on_team_and_distribution(team):
    if team.size != 4:
        team = pt.Team(4, team.devices)
    for dist in dists(team):
        assert all(other == dist and repr(other) == repr(dist) and other.team == team for other in ways(dist))
        u = pt.asarray(HOST, dist=dist)
        for v in ways(u):
            assert v.dist == dist and v.team == team and v.dtype is u.dtype and v.dist.kinds == dist.kinds
            np.testing.assert_array_equal(v.numpy(), HOST)
            v[0] = -1
        np.testing.assert_array_equal(u.numpy(), HOST)
        # Distributions of slices, flips and transposes, too.
        for view in (u[1::2], u[:, ::-1], u.T, u[::-3, 2:], u[4:6], u[3]):
            for other in ways(view):
                assert other.dist == view.dist
                np.testing.assert_array_equal(other.numpy(), view.numpy())


def test_names_of_unstructured_dimensions_come_back():
    names = [[-5, 40], [7], [1000, 3]]
    dims = [{"dist_type": "u", "size": 5, "proc_grid_size": 3, "proc_grid_rank": r, "indices": np.array(names[r])} for r in range(3)]
    u = pt.from_distarray([
        {"__version__": "0.10.0", "buffer": np.full(len(names[r]), float(r)), "dim_data": (dims[r],)} for r in range(3)
    ])  # fmt: skip
    for v in ways(u):
        assert v.dist == u.dist
        assert [p.__distarray__()["dim_data"][0]["indices"].tolist() for p in v.parts] == names


@pytest.mark.parametrize("dtype", [pt.float64, pt.complex64, pt.bool_, pt.int8, pt.bfloat16], ids=repr)
def test_types_and_arrays_without_dimensions_come_back(dtype):
    if dtype is pt.bfloat16:
        pytest.importorskip("ml_dtypes")
    team = pt.Team(3, "host")
    for u in (pt.ones((4, 3), dtype, team=team), pt.ones((), dtype, team=team), pt.ones(0, dtype, team=team)):
        for v in ways(u):
            assert v.dtype is dtype and v.shape == u.shape and v.team == team and v.dist == u.dist
    assert all(other is dtype for other in again(dtype))


def test_teams_devices_and_divisions_come_back():
    host = pt.devices()[0]
    for team in (pt.Team(1, "host"), pt.Team(5, [host]), pt.Team.local(3, pt.devices()), pt.Team.local(2, list(reversed(pt.devices())))):
        for other in ways(team):
            assert other == team and other.devices == team.devices and other.device_names == team.device_names
        assert copy.deepcopy(team) is team and copy.copy(team) is team
    assert all(other == device for device in pt.devices() for other in again(device))
    for bounds in (None, [0, 3, 9]):
        assert all(other.bounds == bounds for other in ways(pt.Block(bounds)))
    assert all(other.block_size == 3 for other in ways(pt.Cyclic(3)))
    lists = pt.Unstructured([[0, 2], [1, 2]], one_to_one=False)
    assert all(other.indices_per_part == [[0, 2], [1, 2]] and not other.one_to_one for other in ways(lists))


def test_another_process_makes_the_same_layout(tmp_path):
    dist = pt.Distribution((10, 7), team=pt.Team(4, "host"), grid=(2, 2), dims=[None, pt.Cyclic(2)], halo=(1, 0))
    (tmp_path / "u").write_bytes(pickle.dumps(pt.asarray(HOST, dist=dist)))
    code = f"import pickle; u = pickle.load(open({str(tmp_path / 'u')!r}, 'rb')); print(u.dist, u.dist.kinds, u.team.size, u.numpy().sum())"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60).stdout
    assert printed.strip() == f"{dist} {dist.kinds} 4 {HOST.sum()}"


def test_a_device_that_is_not_there_is_named():
    make, (kind, number, name) = pt.devices()[0].__reduce__()
    assert make("host", 0, "host of another machine") == pt.devices()[0]
    with pytest.raises(pt.NoDeviceError, match=r"expected the device cuda:7 \(H900\).*given .*pickle u.numpy"):
        make("cuda", 7, "cuda:7 (H900)")
    assert (kind, number, name) == ("host", 0, pt.devices()[0].name)
