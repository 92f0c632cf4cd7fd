"""Indices of every kind and the functions that put elements elsewhere, against NumPy."""

import copy
import pickle

import numpy as np
import partita as pt
import pytest
from partita._core.base import BaseArray


def same(ours, expected):
    theirs = np.asarray(expected)
    assert (ours.shape, ours.dtype.name) == (theirs.shape, theirs.dtype.name)
    np.testing.assert_array_equal(ours.numpy(), theirs)


def numbered(*shape, dtype=np.int32):
    return np.arange(np.prod(shape, dtype=int), dtype=dtype).reshape(shape)


@pytest.fixture(params=["whole", "grid", "cyclic", "halo", "lists"])
def layout(request, team):
    """Distributions of a shape over the team."""
    def make(shape):
        parts = len(team)
        if request.param == "whole" or len(shape) < 2:
            return pt.Distribution(shape, team=team)
        if request.param == "grid":
            return pt.Distribution(shape, team=team, grid=(1, parts) + (1,) * (len(shape) - 2))
        if request.param == "cyclic":
            return pt.Distribution(shape, team=team, dims=[pt.Cyclic(2)] + [None] * (len(shape) - 1))
        if request.param == "lists":
            order = np.random.default_rng(5).permutation(shape[0])
            lists = [list(map(int, piece)) for piece in np.array_split(order, parts)]
            return pt.Distribution(shape, team=team, dims=[pt.Unstructured(lists)] + [None] * (len(shape) - 1))
        return pt.Distribution(shape, team=team, halo=1)

    return make


BASIC = [
    np.s_[::2], np.s_[::-1], np.s_[1::3, ::-2], np.s_[-1:0:-4], np.s_[5:1], np.s_[7:2:-1, 1], np.s_[None], np.s_[:, None, 1:3],
    np.s_[2, None], np.s_[..., None], np.s_[3, 4, None, None], np.s_[..., ::-1], np.s_[2, ::3], np.s_[None, ..., 2], np.s_[-2::-1, None, ::4],
    np.s_[100::2], np.s_[1:2:5],
]  # fmt: skip


@pytest.mark.parametrize("key", BASIC, ids=str)
def test_steps_and_new_dimensions(layout, key):
    host = numbered(11, 6)
    u = pt.asarray(host, dist=layout((11, 6)))
    same(u[key], host[key])
    for value in (-1, -2 - host[key], -5 - host[key][..., :1] if host[key].ndim else -7):
        expected = host.copy()
        expected[key] = value
        assigned = u.copy()
        assigned[key] = value
        same(assigned, expected)
    same(u, host)


ADVANCED = [
    [1, 5, 5, -1], ([0, 3], [2, 2]), ([[0], [3]], [1, 4]), np.s_[1:9:2, [4, 0]], np.s_[[2, 2], ::-1], (np.array(3), [1, 2]), np.s_[[], :],
    np.arange(11) % 3 == 0, (np.arange(11) % 3 == 0, 2), np.s_[:, [True, False] * 3], True, False, np.s_[None, [1], ..., None], np.zeros((11, 6), bool),
    np.s_[3, [1, -6]], np.array([[1, 2], [3, 4]], np.uint8),
]  # fmt: skip


@pytest.mark.parametrize("key", ADVANCED, ids=lambda key: str(key).replace("\n", ""))
def test_arrays_as_indices(layout, key):
    host = numbered(11, 6, dtype=np.float32)
    u = pt.asarray(host, dist=layout((11, 6)))
    same(u[key], host[key])
    for value in (-1.5, host[key] * -3):
        expected = host.copy()
        expected[key] = value
        assigned = u.copy()
        assigned[key] = value
        same(assigned, expected)


def test_arrays_of_ours_as_indices(layout):
    host = numbered(11, 6, dtype=np.float32)
    u = pt.asarray(host, dist=layout((11, 6)))
    same(u[u > 20], host[host > 20])
    same(u[pt.asarray(np.array([4, 1]), team=u.team)], host[[4, 1]])
    same(u[u.argmax(axis=0), 2], host[host.argmax(axis=0), 2])
    u[u > 20] = -1
    host[host > 20] = -1
    same(u, host)
    u[u < 0] = pt.arange(45, dtype=pt.float32, team=u.team)
    host[host < 0] = np.arange(45)
    same(u, host)
    u[(u > 3) & (u < 9)] += 100
    host[(host > 3) & (host < 9)] += 100
    same(u, host)


def test_of_several_values_for_one_place_the_last_counts(team):
    u = pt.zeros(7, team=team)
    u[[3, 1, 3, 3]] = np.array([1.0, 2.0, 3.0, 4.0])
    assert u.numpy().tolist() == [0, 2, 0, 4, 0, 0, 0]


def test_random_keys(host_team):
    """Keys of slices, integers, new dimensions and arrays in any order, read and assigned through."""
    rng = np.random.default_rng(11)
    shape = (5, 4, 6)
    host = numbered(*shape)
    u = pt.asarray(host, dist=pt.Distribution(shape, team=host_team, grid=(1, len(host_team), 1)))

    def entry(extent):
        kind = rng.integers(5)
        ends = [int(n) for n in rng.integers(-extent - 2, extent + 3, 2)]
        if kind == 0:
            return int(rng.integers(-extent, extent))
        if kind == 1:
            return [int(i) for i in rng.integers(-extent, extent, 3)]
        step = int(rng.choice([-3, -2, -1, 1, 2, 3]))
        return slice(*ends, step) if kind < 4 else slice(None, None, step)

    for _ in range(150):
        key = [entry(extent) for extent in shape[: rng.integers(1, 4)]]
        for _ in range(rng.integers(3)):
            key.insert(rng.integers(len(key) + 1), None)
        key = tuple(key)
        same(u[key], host[key])
        expected, assigned = host.copy(), u.copy()
        value = rng.integers(100, 200, host[key].shape).astype(np.int32)
        if not any(isinstance(k, list) for k in key):
            expected[key] = value
            assigned[key] = value
            same(assigned, expected)


def test_functions(layout):
    host = numbered(8, 3, 4)
    u = pt.asarray(host, dist=layout((8, 3, 4)))
    for name, *arguments in [
        ("reshape", (4, 24)), ("reshape", (-1,)), ("reshape", (2, 2, 2, -1)), ("reshape", 96), ("ravel",), ("transpose",),
        ("transpose", (1, 0, 2)), ("permute_dims", (2, 0, 1)), ("moveaxis", 0, -1), ("moveaxis", (0, 1), (2, 0)), ("swapaxes", 0, 2),
        ("expand_dims", 1), ("expand_dims", (0, -1)), ("flip",), ("flip", 1), ("flip", (0, -1)), ("roll", 5), ("roll", -3, 0),
        ("roll", (1, 2), (0, 2)), ("roll", 2, (0, 1)), ("broadcast_to", (2, 8, 3, 4)), ("pad", 1), ("pad", ((0, 2), (1, 0), (0, 0))),
        ("pad", (1, 2), "edge"), ("pad", 2, "wrap"), ("pad", 1, "reflect"), ("pad", 2, "symmetric"), ("take", [3, 1, -1], 0),
        ("take", [3, 50]), ("repeat", 2), ("repeat", [1, 0, 3], 1), ("tile", 2), ("tile", (2, 1, 1, 3)), ("squeeze",),
    ]:  # fmt: skip
        same(getattr(pt, name)(u, *arguments), getattr(np, name)(host, *arguments))
    same(pt.pad(u, 1, constant_values=7), np.pad(host, 1, constant_values=7))
    same(pt.squeeze(u[:, :1, :1], 1), host[:, :1, :1].squeeze(1))
    same(u.mT, host.mT)
    same(u[0].T, host[0].T)
    same(u.reshape(4, -1), host.reshape(4, -1))
    order = np.argsort(host % 5, axis=1)
    same(pt.take_along_axis(u, order, axis=1), np.take_along_axis(host, order, axis=1))
    for ours, theirs in zip(pt.unstack(u, axis=1), np.unstack(host, axis=1), strict=True):
        same(ours, theirs)


def test_joining(layout):
    a, b = numbered(8, 3), numbered(5, 3, dtype=np.float32)
    u, v = pt.asarray(a, dist=layout((8, 3))), pt.asarray(b, dist=layout((5, 3)))
    same(pt.concatenate([u, v]), np.concatenate([a, b]))
    same(pt.concatenate([u, u, u[:, :0]], axis=1), np.concatenate([a, a], axis=1))
    same(pt.concatenate([u, v], axis=None), np.concatenate([a, b], axis=None))
    for axis in (0, 1, -1):
        same(pt.stack([u, -u], axis=axis), np.stack([a, -a], axis=axis))
    for ours, theirs in zip(pt.broadcast_arrays(u, v[:1]), np.broadcast_arrays(a, b[:1]), strict=True):
        same(ours, theirs)


def test_nothing_and_single_elements(team):
    none, one = pt.zeros((0, 3), team=team), pt.asarray(np.float32(7), team=team)
    assert pt.reshape(none, (3, 0)).shape == (3, 0)
    assert (none[::2].shape, none.T.shape, pt.flip(none).shape) == ((0, 3), (3, 0), (0, 3))
    assert none[[], :].shape == (0, 3)
    same(one[None], np.float32(7)[None])
    same(one[..., None, None], np.float32(7)[None, None])
    same(pt.reshape(one, (1, 1)), np.full((1, 1), np.float32(7)))
    same(pt.broadcast_to(one, (3, 2)), np.full((3, 2), np.float32(7)))
    same(pt.reshape(pt.ones((1, 1), team=team), ()), np.float64(1))
    one[...] = 8
    one[()] = one + 1
    same(one, np.float32(9))


def test_steps_keep_elements_on_their_parts():
    """Every second row of four parts is on the same four parts."""
    u = pt.arange(16, team=pt.Team(4, "host"))
    even = u[::2]
    assert [even.dist.owned(p) for p in range(4)] == [((2 * p, 2 * p + 2),) for p in range(4)]


def test_rearranging_inside_a_loop(host_team):
    u, host = pt.asarray(numbered(6, 6) * 1.0, team=host_team), numbered(6, 6) * 1.0

    def step(u):
        u[::2, 1:] = u.T[::2, :-1] * 0.5
        u[1::2] += pt.flip(u, 0)[1::2]

    pt.Loop(step).run(u, steps=7)
    for _ in range(7):
        host[::2, 1:] = host.T[::2, :-1].copy() * 0.5
        host[1::2] += host[::-1][1::2].copy()
    same(u, host)


def test_copies_and_pickles(team):
    host = numbered(5, 3)
    u = pt.asarray(host, team=team)
    for other in (copy.copy(u), copy.deepcopy(u), u.copy(), pickle.loads(pickle.dumps(u))):
        other[0] = -1
        same(other[1:], host[1:])
    same(u, host)
    same(pickle.loads(pickle.dumps(u.sum())), host.sum())
    assert [float(row.sum()) for row in u] == host.sum(axis=1).tolist()


def test_products_of_matrices(host_team):
    rng = np.random.default_rng(3)
    a, b, c = rng.integers(-4, 5, (6, 5)), rng.integers(-4, 5, (5, 7)), rng.integers(-4, 5, (2, 1, 5, 3))
    u, v, w = (pt.asarray(x, team=host_team) for x in (a, b, c))
    same(u @ v, a @ b)
    same(u[0] @ v, a[0] @ b)
    same(v.T @ u[2], b.T @ a[2])
    same(u[0] @ u[1], a[0] @ a[1])
    same(u @ w, a @ c)
    same(pt.vecdot(u, u[:1]), np.vecdot(a, a[:1]))
    same(pt.tensordot(u, v, axes=1), np.tensordot(a, b, axes=1))
    same(pt.tensordot(u, w, axes=((1,), (2,))), np.tensordot(a, c, axes=((1,), (2,))))
    same(pt.tensordot(u, u), np.tensordot(a, a))
    same(pt.tensordot(u[0], u[0], axes=0), np.tensordot(a[0], a[0], axes=0))


def test_shifts_of_bits(host_team):
    a = np.array([5, -6, 7, 1 << 20], np.int32)
    u = pt.asarray(a, team=host_team)
    same(u << 3, a << 3)
    same(u >> 2, a >> 2)
    same(1 << (u & 7), 1 << (a & 7))


def test_layouts_of_results():
    """Views stay on their parts, other results are blocks; what is assigned to keeps its distribution."""
    team = pt.Team(3, "host")
    cyclic = pt.Distribution((8, 5), team=team, grid=(1, 3), dims=[None, pt.Cyclic(1)])
    a = numbered(8, 5)
    u = pt.asarray(a, dist=cyclic)
    assert u[::2].dist.grid == (1, 3) and u[::2].dist.kinds == ("block", "cyclic")
    assert u.T.dist.grid == (3, 1) and u.T[::2, None].dist.kinds == ("cyclic", "block", "block")
    assert u[:, ::-1].dist.kinds == ("block", "block"), "flipped, a cyclic dimension is divided evenly"
    assert u[[0, 1]].dist.kinds == ("block", "block")
    u[1::3, ::-2] = -1
    u[[0, 2], [4, 1]] = pt.asarray(np.array([7, 8], np.int32), team=team)
    u[u == 3] = 9
    a[1::3, ::-2] = -1
    a[[0, 2], [4, 1]] = [7, 8]
    a[a == 3] = 9
    same(u, a)
    assert u.dist == cyclic


def test_parts_of_views_are_the_array_s_memory():
    """Views export valid metadata, empty parts included, and memory with strides."""
    team = pt.Team(4, "host")
    a = numbered(14, 6)
    u = pt.asarray(a, dist=pt.Distribution((14, 6), team=team))
    bases = [np.from_dlpack(p).ctypes.data for p in u.parts]
    for view, expected in [(u[1:9:3, 2:], a[1:9:3, 2:]), (u.T[::2, None], a.T[::2, None]), (u[5], a[5])]:
        filled = 0
        for part, base in zip(view.parts, bases, strict=True):
            valid, reason = pt.validate_distarray(part.__distarray__())
            assert valid, reason
            if 0 in (held := np.from_dlpack(part)).shape:
                continue
            filled += 1
            offset = held.ctypes.data - base
            assert 0 <= offset < 14 * 6 * a.itemsize and offset % a.itemsize == 0
            owned = tuple(slice(start, stop) for start, stop in part.owned)
            assert np.array_equal(held, expected[owned])
        assert 0 < filled <= 4
        back = pt.from_distarray([part.__distarray__() for part in view.parts])
        same(back, expected)
    # What was handed on keeps its values.
    held = [np.from_dlpack(p) for p in u[::2].parts]
    u[...] = 0
    assert sum(int(piece.sum()) for piece in held) == a[::2].sum()


@pytest.mark.parametrize("by", ["numpy", "kernels"])
def test_joining_only_records(by, monkeypatch):
    if by == "kernels":
        # As on other devices, where NumPy reads no memory.
        monkeypatch.setattr(BaseArray, "_is_on_host", lambda array: False)
    team = pt.Team(4, "host")
    host = numbered(12, 6)
    u = pt.asarray(host, dist=pt.Distribution((12, 6), team=team, grid=(2, 2)))
    made = {
        "joined": [pt.concatenate([u, u[::-1]], axis=1), pt.stack([u, u * 2]), pt.pad(u, 2, "reflect")],
        "fused": [pt.roll(u, (1, 2), (0, 1)), pt.pad(u, 2, "wrap")],
        "gather_elements": [u[[3, 1, 3]], u[host % 5 == 0], pt.repeat(u, 2, axis=0)],
        "reshape": [pt.reshape(u, (8, 9), copy=True)],
    }
    expected = {
        "joined": [np.concatenate([host, host[::-1]], axis=1), np.stack([host, host * 2]), np.pad(host, 2, "reflect")],
        "fused": [np.roll(host, (1, 2), (0, 1)), np.pad(host, 2, "wrap")],
        "gather_elements": [host[[3, 1, 3]], host[host % 5 == 0], np.repeat(host, 2, axis=0)],
        "reshape": [host.reshape(8, 9)],
    }
    u[...] = -1  # What was recorded before sees the old elements.
    for name, arrays in made.items():
        for ours, theirs in zip(arrays, expected[name], strict=True):
            if by == "numpy" and name == "gather_elements":
                # What lists and masks select, NumPy reads at once.
                assert "nothing will run" in ours.explain()
                same(ours, theirs)
                continue
            # Nothing has been computed yet, and telling does not compute.
            assert f"kernel {name} on" in ours.explain() and ours.explain() == ours.explain()
            same(ours, theirs)
            assert "nothing will run" in ours.explain()
    # Cells stay where they are; the padding is their neighbours'.
    padded = pt.pad(u, 1, "edge")
    assert "plan" not in padded.explain() and padded.dist.owned(3) == ((7, 14), (4, 8))


def test_explain_names_the_moves():
    team = pt.Team(2, "host")
    u = pt.zeros(8, dtype=pt.float32, dist=pt.Distribution(8, team=team, halo=1))
    assert "computed" in u.eval().explain()
    slope = u[1:] - u[:-1]
    assert "plan halo of f32 (8): 4 bytes over 1 links" in slope.explain()
    assert "kernel fused on 2 parts" in slope.explain()
    assert "computed" in slope.eval().explain()
    cyclic = pt.Distribution(8, team=team, dims=[pt.Cyclic(1)])
    assert "redistribution to <partita.Distribution (8), 2 parts" in u.explain(cyclic)
    assert "0 -> 1: 1 moves, 8 bytes" in u.explain(cyclic)
    with pytest.raises(ValueError, match="the array's team"):
        u.explain(pt.Distribution(8, team=pt.Team(1, "host")))


def test_many_copies_are_made_of_few_operations():
    host = np.arange(6).reshape(2, 3)
    for team in (pt.Team.local(1), pt.Team.local(3)):
        u = pt.asarray(host, team=team)
        for counts in [(1024,), (1025,), (3, 2501), (5000, 1)]:
            np.testing.assert_array_equal(pt.tile(u, counts).numpy(), np.tile(host, counts))


@pytest.mark.parametrize("offset", [2**64, -(2**64), 2**63, 2**62, -(2**31), 4, -3, 3, -2])
def test_diagonals_far_away_are_empty(host_team, offset):
    u = pt.asarray(np.arange(12.0).reshape(3, 4), team=host_team)
    near = max(min(offset, 9), -9)
    for x, host in ((u, u.numpy()), (u[None] + 1, u.numpy()[None] + 1)):
        assert x.diagonal(offset, -2, -1).tolist() == host.diagonal(near, -2, -1).tolist()
        assert pt.trace(x, offset, -2, -1).tolist() == np.trace(host, near, -2, -1).tolist()
    assert pt.diag(u, offset).tolist() == np.diag(u.numpy(), near).tolist()
    with pytest.raises(TypeError):
        u.diagonal(1.5)
