"""The Distributed Array Protocol on arrays of at least three parts."""

import itertools

import numpy as np
import partita as pt
import pytest
from test_layouts import PADDING, column, described

from conformance import ranks
from partita.conformance import goldens

HOST = np.arange(70, dtype=np.float32).reshape(10, 7)


def blocks(team, host=HOST, **words):
    return pt.asarray(host, dist=pt.Distribution(host.shape, team=team, **words))


def said(u):
    return [part.__distarray__() for part in u.parts]


def dims_of(u, d=0):
    return [one["dim_data"][d] for one in said(u)]


def valid(described):
    """True or False; a refusal has a reason."""
    answer, reason = pt.validate_distarray(described)
    assert answer == (not reason)
    return answer


def line(dims, values=None):
    """Descriptions of a line of parts, each with memory of the size that its dictionary says."""
    counts = [extent(dim) for dim in dims]
    ends = np.cumsum(counts)
    values = np.arange(float(sum(counts))) if values is None else values
    return [
        {"__version__": "0.10.0", "buffer": values[end - count : end].copy(), "dim_data": (dim,)}
        for dim, count, end in zip(dims, counts, ends, strict=True)
    ]


def extent(dim):
    if "stop" in dim:
        return dim["stop"] - dim["start"]
    if "indices" in dim:
        return len(dim["indices"])
    block, size, parts = dim.get("block_size", 1), dim["size"], dim["proc_grid_size"]
    return sum((i // block) % parts == dim["proc_grid_rank"] for i in range(size))


def dim(kind, rank, parts, size, **own):
    return {"dist_type": kind, "size": size, "proc_grid_size": parts, "proc_grid_rank": rank, **own}


def cuts(bounds, **own):
    size, parts = bounds[-1], len(bounds) - 1
    return [dim("b", rank, parts, size, start=bounds[rank], stop=bounds[rank + 1], **own) for rank in range(parts)]


def lists(size, *given, **own):
    return [dim("u", rank, len(given), size, indices=np.array(one), **own) for rank, one in enumerate(given)]


def owned_set(dist, part):
    return [list(range(*o)) if isinstance(o, tuple) else list(map(int, o)) for o in dist.owned(part)]


def held(part):
    """What a part owns, copied to the host wherever it is."""
    return np.from_dlpack(part, device="cpu")


@pytest.mark.requirement("A1", "A2")
def test_three_keys_and_a_version(on):
    u = blocks(on(3), halo=1)
    for one in said(u):
        assert set(one) == {"__version__", "buffer", "dim_data"} and one["__version__"] == "0.10.0"
        assert valid(one) and not valid({**one, "device": "kDLCPU"})
        assert not any(valid({k: v for k, v in one.items() if k != key}) for key in one)
        assert [valid({**one, "__version__": v}) for v in ("0.9.0", "0.99.1", "1.0.0", "2.10.0", "0.10", 1)] == [True, True, False, False, False, False]
    for v, taken in (("0.7.3", True), ("1.0.0", False)):
        changed = [{**one, "__version__": v} for one in said(u)]
        if taken:
            np.testing.assert_array_equal(pt.from_distarray(changed, team=u.team).numpy(), HOST)
        else:
            with pytest.raises(ValueError, match="version"):
                pt.from_distarray(changed, team=u.team)


@pytest.mark.requirement("A3")
def test_host_buffers_are_the_memory_itself():
    u = blocks(pt.Team(3, "host"), halo=1)
    for one, part in zip(said(u), u.parts, strict=True):
        assert isinstance(one["buffer"], memoryview) and one["buffer"].readonly
        assert np.asarray(one["buffer"]).ctypes.data == np.from_dlpack(part.stored).ctypes.data
    with blocks(pt.Team(3, "host")).writable() as parts:
        memory = [np.asarray(part.__distarray__()["buffer"]) for part in parts]
        for part, cells in zip(parts, memory, strict=True):
            cells[0] = -part.index
            assert (np.asarray(part)[0] == -part.index).all()


@pytest.mark.requirement("A4")
def test_memory_without_a_format_goes_by_dlpack(on):
    pytest.importorskip("ml_dtypes")
    u = pt.asarray(HOST, pt.bfloat16, team=on(3))
    for one in said(u):
        assert hasattr(one["buffer"], "__dlpack__") and one["buffer"].__dlpack_device__() is not None
        with pytest.raises(TypeError):
            memoryview(one["buffer"])
    v = pt.from_distarray(said(u), team=u.team)
    assert v.dtype is pt.bfloat16 and (v == u).all()


LOCAL = """
team = pt.Team(4)
u = pt.asarray(np.arange(16.0), dist=pt.Distribution(16, team=team, halo=1))
# Filling halos is collective, describing is not: it would wait until its deadline.
part, _ = u.parts
if team.rank == 1:
    said = part.__distarray__()
    assert pt.validate_distarray(said) == (True, "") and np.asarray(said["buffer"]).tolist() == [7, 8, 9, 10, 11, 12]
    print("described", said["dim_data"][0]["start"])
"""


@pytest.mark.requirement("A5")
def test_one_process_alone_describes_its_part():
    assert ranks.run(2, LOCAL).strip() == "described 7"


@pytest.mark.requirement("A6", "A7")
def test_a_dictionary_per_dimension_and_the_global_size(on):
    team = on(4)
    for shape, grid in (((10,), (4,)), ((10, 7), (2, 2)), ((5, 3, 4), (1, 2, 2))):
        u = blocks(team, np.zeros(shape, np.float32), grid=grid)
        for one in said(u):
            assert type(one["dim_data"]) is tuple and len(one["dim_data"]) == len(one["buffer"].shape)
            assert tuple(d["size"] for d in one["dim_data"]) == shape
            assert tuple(d["proc_grid_size"] for d in one["dim_data"]) == grid
        assert u.size == np.prod([d["size"] for d in said(u)[0]["dim_data"]])
    one = {"__version__": "0.10.0", "buffer": np.array(2.5), "dim_data": ()}
    lone = pt.from_distarray(one, team=team)
    assert lone.shape == () and lone.size == 1 and lone.numpy() == 2.5 and said(lone)[0]["dim_data"] == ()
    assert not valid({**one, "dim_data": ({},)}) and not valid({**one, "buffer": np.zeros(1)})


@pytest.mark.requirement("A8")
def test_common_keys_have_types_and_ranges(on):
    u = blocks(on(4), grid=(2, 2))
    for one in said(u):
        for d in one["dim_data"]:
            assert d["dist_type"] in "bcu" and all(type(d[key]) is int for key in ("size", "proc_grid_size", "proc_grid_rank"))
            assert d["size"] >= 0 and 0 <= d["proc_grid_rank"] < d["proc_grid_size"]
    good = said(blocks(on(3), grid=(3, 1)))[1]
    wrong = {
        "dist_type": ["x", "", None, 3], "size": [-10, "10", 1.5, None], "proc_grid_size": [0, -1, 1, "3"], "proc_grid_rank": [-1, 3, 0.5, None],
    }  # fmt: skip
    for key, values in wrong.items():
        for value in values:
            assert not valid({**good, "dim_data": ({**good["dim_data"][0], key: value}, good["dim_data"][1])}), (key, value)
        assert not valid({**good, "dim_data": ({k: v for k, v in good["dim_data"][0].items() if k != key}, {})}), key


@pytest.mark.requirement("A9", "A10")
def test_places_in_the_process_grid_in_c_order(on):
    for grid in ((4, 1), (2, 2), (1, 4), (3, 2), (2, 3), (2, 2, 2)):
        count = int(np.prod(grid))
        u = blocks(on(count), np.zeros((6,) * len(grid), np.float32), grid=grid)
        places = [tuple(d["proc_grid_rank"] for d in one["dim_data"]) for one in said(u)]
        assert all(np.prod([d["proc_grid_size"] for d in one["dim_data"]]) == count for one in said(u))
        assert places == list(np.ndindex(grid))
        assert [part.grid_index for part in u.parts] == places
    all_ = said(blocks(on(4), grid=(2, 2)))
    assert valid(all_) and not valid(all_[:3]) and not valid([*all_, all_[0]]) and not valid([all_[0], all_[2], all_[1], all_[3]])


@pytest.mark.requirement("A11", "A12", "A13")
def test_blocks_begin_where_others_end_or_before(on):
    for words in ({}, {"dims": [pt.Block([0, 1, 7, 10]), None]}, {"halo": ((1, 2), 0)}, {"dims": [pt.Block([0, 4, 6, 10]), None], "halo": 1}):
        u = blocks(on(3), grid=(3, 1), **words)
        dims = dims_of(u)
        for one, d in zip(said(u), dims, strict=True):
            assert 0 <= d["start"] <= d["stop"] <= d["size"] == 10 and tuple(one["buffer"].shape)[0] == d["stop"] - d["start"]
        for left, right in itertools.pairwise(dims):
            overlap = left["stop"] - right["start"]
            assert overlap == left.get("padding", (0, 0))[1] + right.get("padding", (0, 0))[0]
            assert (overlap > 0) == ("halo" in words)
    assert [owned_set(u.dist, part)[0] for part in range(3)] == [[0, 1, 2, 3], [4, 5], [6, 7, 8, 9]]
    assert valid(line(cuts([0, 3, 4, 9])))
    for starts in ([0, 4, 6], [0, 2, 6]):
        bad = [{**d, "start": start} for d, start in zip(cuts([0, 3, 6, 9]), starts, strict=True)]
        assert not valid(line(bad)), starts
    short = line(cuts([0, 3, 6, 9]))
    short[1]["buffer"] = short[1]["buffer"][:-1]
    assert not valid(short)


def four(padding, periodic=False):
    counts = [9, 5, 6, 7]
    return column(np.cumsum(counts) - counts, np.cumsum(counts), padding, 27, periodic)


@pytest.mark.requirement("A14", "A15")
def test_padding_per_seam(on):
    host = np.arange(27.0, dtype=np.float32) ** 2
    u = pt.from_distarray(described(host, [four(PADDING)]), team=on(4))
    assert [d["padding"] for d in dims_of(u)] == PADDING
    np.testing.assert_array_equal(u.numpy(), host)
    np.testing.assert_array_equal((u[3:] - u[:-3]).numpy(), host[3:] - host[:-3])
    assert all("padding" not in d or d["padding"] == (0, 0) for d in dims_of(blocks(on(4))))
    for padding in ([(4, 1), (2, 2), (2, 3), (3, 0)], [(4, -1), (-1, 2), (2, 3), (3, 0)]):
        assert not valid(described(host, [four(padding)])), padding
    widest = [(4, 5), (5, 5), (5, 3), (3, 0)]
    assert valid(described(host, [four(widest)])) and not valid(described(host, [four([(4, 6), (6, 5), (5, 3), (3, 0)])]))


@pytest.mark.requirement("A17")
def test_what_is_stored_without_communication_padding_is_owned(on):
    host = np.arange(27.0, dtype=np.float32)
    for u in (pt.from_distarray(described(host, [four(PADDING)]), team=on(4)), blocks(on(4), host, halo=1)):
        dims = dims_of(u)
        owned = [d["stop"] - d["start"] - (d["padding"][0] if at else 0) - (d["padding"][1] if at < 3 else 0) for at, d in enumerate(dims)]
        assert owned == [len(owned_set(u.dist, part)[0]) for part in range(4)] == [part.shape[0] for part in u.parts]
        assert all(sum(owned) == u.size == d["size"] for d in dims)


@pytest.mark.requirement("A16")
def test_the_first_and_the_last_padding_are_boundary(on):
    for boundary, size in (((1, 1), 18), ((2, 0), 12)):
        u = blocks(on(3), np.arange(float(size), dtype=np.float32), boundary=(boundary,), halo=1)
        dims = dims_of(u)
        assert (dims[0]["padding"][0], dims[2]["padding"][1]) == boundary and dims[0]["start"] == 0 and dims[2]["stop"] == size == dims[0]["size"]
        assert [owned_set(u.dist, part)[0] for part in range(3)] == [list(range(size))[size // 3 * k : size // 3 * (k + 1)] for k in range(3)]
        v = pt.from_distarray(said(u), team=u.team)
        assert v.dist.boundary == u.dist.boundary == (boundary,) and v.size == size


@pytest.mark.requirement("A18")
def test_padding_is_never_the_owners_value(on):
    host = np.arange(27.0, dtype=np.float32)
    given = described(host, [four(PADDING)])
    for one in given:
        d = one["dim_data"][0]
        rank, (lo, hi), cells = d["proc_grid_rank"], d["padding"], one["buffer"]
        cells[: lo if rank else 0] = -1
        cells[len(cells) - (hi if rank < 3 else 0) :] = -2
    u = pt.from_distarray(given, team=on(4))
    np.testing.assert_array_equal(u.numpy(), host)
    np.testing.assert_array_equal((u[1:] + u[:-1]).numpy(), host[1:] + host[:-1])


@pytest.mark.requirement("A19")
def test_periodic_dimensions_join_the_ends(on):
    u = blocks(on(3), np.arange(9.0, dtype=np.float32), halo=1, periodic=True)
    assert [(d["size"], d["start"], d["stop"], d["periodic"]) for d in dims_of(u)] == [(11, 0, 5, True), (11, 3, 8, True), (11, 6, 11, True)]
    assert u.dist.neighbors(0) == ((2, 1),) and u.dist.neighbors(2) == ((1, 0),)
    assert [u.dist.to_global(part, 0) for part in range(3)] == [(8,), (2,), (5,)]
    assert not any(d.get("periodic", False) for d in dims_of(blocks(on(3), halo=1)))
    v = pt.from_distarray(said(u), team=u.team)
    assert v.dist.periodic == (True,) and v.dist == u.dist
    # One process, joined to itself.
    alone = {"__version__": "0.10.0", "buffer": np.arange(10.0), "dim_data": (dim("b", 0, 1, 10, start=0, stop=10, padding=(2, 2), periodic=True),)}
    w = pt.from_distarray(alone, team=on(1))
    assert w.tolist() == [2, 3, 4, 5, 6, 7] and w.dist.neighbors(0) == ((0, 0),) and w.dist.periodic == (True,)


@pytest.mark.requirement("A20", "A21", "A22")
def test_cyclic_dimensions_are_dealt_in_turn(on):
    for size, block in itertools.product((0, 1, 2, 5, 7, 12), (1, 2, 4)):
        u = blocks(on(3), np.arange(float(size), dtype=np.float32), dims=[pt.Cyclic(block)])
        for part in range(3):
            assert owned_set(u.dist, part)[0] == [i for i in range(size) if i // block % 3 == part], (size, block, part)
            np.testing.assert_array_equal(held(u.parts[part]), [i for i in range(size) if i // block % 3 == part])
    for d in dims_of(blocks(on(3), np.arange(10.0, dtype=np.float32), dims=[pt.Cyclic(1)])):
        mine = list(range(10)[d["start"] :: d["proc_grid_size"]])
        assert d.get("block_size", 1) == 1 and d["dist_type"] == "c" and mine == [i for i in range(10) if i % 3 == d["proc_grid_rank"]]
    # Without block_size; as the even block; in blocks.
    for own, expected in (({}, [0, 3, 6]), ({"block_size": 3}, [0, 1, 2]), ({"block_size": 2}, [0, 1, 6, 7])):
        step = own.get("block_size", 1)
        u = pt.from_distarray(line([dim("c", rank, 3, 9, start=step * rank, **own) for rank in range(3)]), team=on(3))
        assert owned_set(u.dist, 0)[0] == expected
    # The published count gives 3 and 0 elements here.
    u = pt.from_distarray(line([dim("c", rank, 2, 3, start=2 * rank, block_size=2) for rank in range(2)]), team=on(2))
    assert [part.shape for part in u.parts] == [(2,), (1,)]


@pytest.mark.requirement("A23", "A24", "A25")
def test_listed_dimensions(on):
    names = pt.from_distarray(line(lists(6, [40, -7], [1 << 40, -8], [3, 0])), team=on(3))
    # Elements are in the order of their labels: -8, -7, 0, 3, 40, 2**40.
    assert names.tolist() == [3, 1, 5, 4, 0, 2] and names.dist.kinds == ("unstructured",)
    assert not valid(line(lists(4, [0, 0], [1, 2], [3])))
    assert valid(line(lists(4, [0, 2], [1], [3], one_to_one=True)))
    twice = lists(4, [0, 2], [2, 1], [3])
    assert valid(line(twice)) and not valid(line([{**d, "one_to_one": True} for d in twice]))
    u = pt.from_distarray(line(twice, np.array([0.0, 2, 2, 1, 3])), team=on(3))
    assert u.shape == (4,) and u.dist.owner(2) == 0 and u[2] == 2
    u[2] = 7
    assert u.tolist() == [0, 1, 7, 3]
    # Every copy was written.
    assert held(u.parts[0]).tolist() == [0, 7] and 7 in held(u.parts[1].stored if u.parts[1].shape == (1,) else u.parts[1]).tolist()


@pytest.mark.requirement("A26", "A27")
def test_dimensions_that_are_not_cut_and_parts_without_elements(on):
    ways = [{}, *cuts([0, 6]), dim("c", 0, 1, 6, start=0, block_size=4), *lists(6, [0, 1, 2, 3, 4, 5])]
    for way in ways:
        rows = [{"__version__": "0.10.0", "buffer": np.full((1, 6), rank, np.float32), "dim_data": (cuts([0, 1, 2, 3])[rank], way)} for rank in range(3)]
        assert valid(rows), way
        u = pt.from_distarray(rows, team=on(3))
        assert u.dist.grid == (3, 1) and owned_set(u.dist, 1) == [[1], list(range(6))] and u.tolist() == [[0] * 6, [1] * 6, [2] * 6]
    empty = [
        cuts([0, 0, 0, 0]), cuts([0, 3, 3, 3]), cuts([0, 2, 2, 4]), [dim("c", rank, 3, 1, start=min(rank, 1)) for rank in range(3)],
        lists(2, [1, 0], [], []),
    ]  # fmt: skip
    for dims in empty:
        dims = [{**d, "indices": np.array(d["indices"], int)} if "indices" in d else d for d in dims]
        assert valid(line(dims)), dims
        u = pt.from_distarray(line(dims), team=on(3))
        assert any(not owned_set(u.dist, part)[0] for part in range(3)) and (u + 1).sum() == u.size * (u.size + 1) / 2
        assert all(part.shape == (0,) for part in u.parts if not owned_set(u.dist, part.index)[0])


KINDS = {
    "b": lambda n: None, "irregular": lambda n: pt.Block([0, 1, n]), "c": lambda n: pt.Cyclic(1), "bc": lambda n: pt.Cyclic(2),
    "u": lambda n: pt.Unstructured([list(range(n - 1, 2, -1)), [1, 0, 2]]),
}  # fmt: skip


@pytest.mark.requirement("A28")
def test_every_dimension_has_its_own_kind(on):
    team = on(4)
    for a, b in itertools.product(KINDS, KINDS):
        u = blocks(team, grid=(2, 2), dims=[KINDS[a](10), KINDS[b](7)])
        v = pt.from_distarray(said(u), team=team)
        assert [owned_set(v.dist, part) for part in range(4)] == [owned_set(u.dist, part) for part in range(4)], (a, b)
        for part in u.parts:
            np.testing.assert_array_equal(held(part), HOST[np.ix_(*owned_set(u.dist, part.index))])
    host = np.arange(60, dtype=np.float32).reshape(5, 4, 3)
    w = blocks(on(8), host, grid=(2, 2, 2), dims=[pt.Cyclic(1), None, pt.Cyclic(1)])
    np.testing.assert_array_equal((pt.from_distarray(said(w), team=w.team) + blocks(on(8), host)).numpy(), 2 * host)


@pytest.mark.requirement("A29")
def test_processes_of_one_grid_rank_say_the_same(on):
    for words in ({"halo": 1}, {"dims": [pt.Cyclic(1), pt.Block([0, 3, 7])]}):
        all_ = said(blocks(on(4), grid=(2, 2), **words))
        for one, other in itertools.combinations(all_, 2):
            for a, b in zip(one["dim_data"], other["dim_data"], strict=True):
                assert a == b or a["proc_grid_rank"] != b["proc_grid_rank"]
    all_ = said(blocks(on(4), grid=(2, 2)))
    other = {**all_[3], "dim_data": ({**all_[3]["dim_data"][0], "start": 6}, all_[3]["dim_data"][1]), "buffer": np.zeros((4, 4), np.float32)}
    assert valid(all_) and valid(other) and not valid([*all_[:3], other])


@pytest.mark.requirement("A30")
def test_places_follow_from_indices_and_back(on):
    layouts = [
        {"halo": 1}, {"grid": (2, 2), "halo": ((1, 0), (0, 2))}, {"grid": (2, 2), "dims": [pt.Cyclic(2), pt.Block([0, 3, 7])]},
        {"grid": (4, 1), "dims": [pt.Unstructured([[0, 9, 4], [1, 2], [3, 5, 8], [6, 7]]), None]},
    ]  # fmt: skip
    for words in layouts:
        u = blocks(on(4), **words)
        memory = [np.from_dlpack(part.stored, device="cpu") for part in u.parts]
        for index in np.ndindex(u.shape):
            part, place = u.dist.to_local(index)
            assert part == u.dist.owner(index) and u.dist.to_global(part, place) == index
            assert memory[part][place] == HOST[index], (words, index)


@pytest.mark.requirement("A31")
def test_neighbours_follow_from_one_description(on):
    """What each part finds from its own dictionary is what the distribution, which knows all parts, says."""
    for grid, periodic in (((4, 1), False), ((2, 2), (True, False)), ((1, 4), True), ((4, 1), True)):
        u = blocks(on(4), grid=grid, halo=1, periodic=periodic)
        for part in u.parts:
            assert pt.neighbors_from_distarray(part.__distarray__()) == u.dist.neighbors(part.index), (grid, periodic)
    dealt = blocks(on(3), dims=[pt.Cyclic(1), None])
    assert pt.neighbors_from_distarray(said(dealt)[1]) == ((0, 2), (None, None))
    ring = blocks(on(3), np.arange(9.0, dtype=np.float32), halo=1, periodic=True)
    assert [pt.neighbors_from_distarray(one) for one in said(ring)] == [((2, 1),), ((0, 2),), ((1, 0),)]


@pytest.mark.requirement("A35")
def test_validators_of_arrays_dimensions_and_one_dimension(on):
    described_ = said(blocks(on(4), grid=(2, 2), halo=1))
    for one in described_:
        assert pt.validate_distarray(one) == pt.validate_dim_data(one["dim_data"]) == (True, "")
        assert all(pt.validate_dim_dict(d) == (True, "") for d in one["dim_data"])
    good = described_[3]["dim_data"]
    for key, value in (("dist_type", "x"), ("size", -1), ("proc_grid_size", 0), ("proc_grid_rank", 2), ("start", 11), ("stop", 2), ("padding", (9, 9)), ("owner", 1)):
        bad = {**good[0], key: value}
        for answer, reason in (pt.validate_dim_dict(bad), pt.validate_dim_data((good[1], bad)), pt.validate_distarray({**described_[3], "dim_data": (bad, good[1])})):
            assert answer is False and key in reason, (key, reason)


@pytest.mark.requirement("A32")
def test_views_and_slices_are_described(on):
    u = blocks(on(4), grid=(2, 2), halo=1)
    keys = [(slice(1, None),), (slice(None, None, 3), slice(2, 5)), (slice(None, None, -1),), (slice(0, 3),), (slice(4, 4),), (slice(1, 9, 4), slice(None, None, 2))]
    for key in keys:
        view, host = u[key], HOST[key]
        assert valid(sorted(said(view), key=lambda one: [d.get("proc_grid_rank", 0) for d in one["dim_data"]])), key
        assert all(tuple(d["size"] for d in one["dim_data"]) == host.shape for one in said(view))
        np.testing.assert_array_equal(pt.from_distarray(view.parts, team=view.team).numpy(), host)
    assert 0 in [part.shape[0] for part in u[:3].parts]
    w = blocks(on(4), np.arange(20.0, dtype=np.float32))[1::3]
    assert [d["start"] for d in dims_of(w)] == [0, 2, 3, 5] and [d["stop"] for d in dims_of(w)] == [2, 3, 5, 7]


@pytest.mark.requirement("A33")
def test_complex_elements_and_unstructured_arrays(on):
    formats = {"complex64": "Zf", "complex128": "Zd", "float32": "f", "int32": "i", "bool": "?"}
    for name, text in formats.items():
        host = (np.arange(9) * (1 + 2j if "complex" in name else 1)).astype(name)
        u = blocks(pt.Team(3, "host"), host, dims=[pt.Unstructured([[8, 0], [1, 7, 2], [3, 4, 5, 6]])])
        for one, part in zip(said(u), u.parts, strict=True):
            assert memoryview(one["buffer"]).format == text and memoryview(one["buffer"]).shape == part.shape
        v = pt.from_distarray(said(u), team=on(3))
        assert v.dtype == u.dtype and v.tolist() == host.tolist()


@pytest.mark.requirement("A34")
def test_a_consumer_updates_in_place():
    host = np.arange(3 * 2**7, dtype=np.float32).reshape(3, *(2,) * 7)
    memory = [host[k : k + 1].copy() for k in range(3)]
    dims = [(cuts([0, 1, 2, 3])[rank], *({} for _ in range(7))) for rank in range(3)]
    given = [{"__version__": "0.10.0", "buffer": memory[rank], "dim_data": dims[rank]} for rank in range(3)]
    u = pt.from_distarray(given, team=pt.Team(3, "host"), writable=True)
    assert u.ndim == 8 and [np.from_dlpack(part).ctypes.data for part in u.parts] == [one.ctypes.data for one in memory]
    u[1:, 0] = u[:-1, 1] * 2 + 1
    host[1:, 0] = host[:-1, 1] * 2 + 1
    np.testing.assert_array_equal(np.concatenate(memory), host)
    np.testing.assert_array_equal(u.numpy(), host)


@pytest.mark.requirement("A36")
def test_unknown_kinds_and_keys_are_refused_with_words(on):
    one = said(blocks(on(3)))[0]
    for change in ({"dist_type": "n"}, {"dist_type": "block"}, {"owner": 3}, {"Start": 0}):
        described_ = {**one, "dim_data": ({**one["dim_data"][0], **change}, one["dim_data"][1])}
        answer, reason = pt.validate_distarray(described_)
        assert answer is False and "dim_data[0]" in reason and next(iter(change)) in reason, change
        with pytest.raises(ValueError, match="dim_data"):
            pt.from_distarray([described_, *said(blocks(on(3)))[1:]], team=on(3))


@pytest.mark.requirement("A37")
def test_the_nine_published_examples_are_arrays(on):
    """Their kind, their parts and what each has, over the devices at hand; and back."""
    examples = [golden for golden in goldens("distarray") if golden["requirement"] == "A37"]
    assert len(examples) == 9
    for golden in examples:
        (given,), expected = golden["arguments"], np.array(golden["expected"])
        u = pt.from_distarray(given, team=on(len(given)))
        np.testing.assert_array_equal(u.numpy(), expected)
        for one, part in zip(given, u.parts, strict=True):
            np.testing.assert_array_equal(held(part), np.asarray(one["buffer"]))
        assert valid(said(u))
        np.testing.assert_array_equal((u * 2 - u).numpy(), expected)
