"""Distributions of arrays in memory: halos that differ from part to part, halos that reads need beside those declared,
and slices. What is exported comes back as it was, and computes as NumPy does."""

import itertools

import numpy as np
import partita as pt
import pytest

# The Distributed Array Protocol's own example: boundary of 4 cells, then seams 1, 2 and 3 cells wide.
PADDING = [(4, 1), (1, 2), (2, 3), (3, 0)]


def column(starts, stops, padding, size, periodic=False):
    """The dimension dictionaries of a line of parts; starts and stops are those of what each part owns."""
    starts, stops, last = [int(at) for at in starts], [int(at) for at in stops], len(padding) - 1
    before, after = (padding[0][0], padding[last][1]) if periodic else (0, 0)
    dims = []
    for rank, (start, stop, (lo, hi)) in enumerate(zip(starts, stops, padding, strict=True)):
        # Padding at the ends of a line is boundary, which the part owns.
        lower = lo if rank > 0 or periodic else 0
        upper = hi if rank < last or periodic else 0
        dims.append({
            "dist_type": "b", "size": size + before + after, "proc_grid_size": last + 1, "proc_grid_rank": rank,
            "start": start - lower + before, "stop": stop + upper + before, "padding": (lo, hi), "periodic": periodic,
        })  # fmt: skip
    return dims


def described(host, columns):
    """What all parts say, each with memory of its own; halos hold what their owners have."""
    parts = []
    for dims in itertools.product(*columns):
        cells = []
        for dim, size in zip(dims, host.shape, strict=True):
            before = columns_before(columns, dim, size)
            cells.append(np.arange(dim["start"] - before, dim["stop"] - before) % max(size, 1))
        parts.append({"__version__": "0.10.0", "buffer": host[np.ix_(*cells)].copy(), "dim_data": dims})
    return parts


def columns_before(columns, dim, size):
    """How many copies of the other end lie before the first cell, in a ring."""
    first = next(dims[0] for dims in columns if any(dim is other for other in dims))
    return first["padding"][0] if dim["periodic"] else 0


def unequal(random):
    """A line of parts whose seams have halos of their own widths; at least as many cells as copies."""
    counts = random.integers(1, 7, size=random.integers(2, 6))
    stops = np.cumsum(counts)
    starts, size = stops - counts, int(stops[-1])
    seams = [int(random.integers(0, min(pair) + 1)) for pair in itertools.pairwise(counts)]
    periodic = bool(random.random() < 0.3)
    edge = [int(random.integers(0, count + 1)) for count in ((counts[-1], counts[0]) if periodic else (counts[0], counts[-1]))]
    padding = list(zip([edge[0], *seams], [*seams, edge[1]], strict=True))
    return column(starts, stops, padding, size, periodic), size


def in_c_order(said):
    """By place in the process grid: parts of flipped and transposed arrays come in another order."""
    return sorted(said, key=lambda d: [dim["proc_grid_rank"] for dim in d["dim_data"]])


def check_export(u, host):
    """Everything that exports says the same elements, and they come back."""
    said = [p.__distarray__() for p in u.parts]
    assert pt.validate_distarray(said) == (True, "")
    for source in (said, u.parts):
        v = pt.from_distarray(source, team=u.team)
        np.testing.assert_array_equal(v.numpy(), host)
        assert [repr(v.dist.owned(p)) for p in range(u.dist.num_parts)] == [repr(u.dist.owned(p)) for p in range(u.dist.num_parts)]
    for part in u.parts:
        whole, (below, above) = np.from_dlpack(part.stored), zip(*part.stored.halo, strict=True)
        inner = tuple(slice(lo, n - hi) for lo, hi, n in zip(below, above, whole.shape, strict=True))
        np.testing.assert_array_equal(whole[inner], np.from_dlpack(part))
    return said


def check_halos(u, host):
    """Every stored cell has its owner's value."""
    for part in u.parts:
        stored = np.from_dlpack(part.stored)
        for at in np.ndindex(stored.shape):
            assert stored[at] == host[u.dist.to_global(part.index, at)]


def step(u):
    u[1:-1] = 0.5 * (u[2:] + u[:-2]) + u[1:-1]


def run_in_numpy(host, steps):
    host = host.copy()
    for _ in range(steps):
        host[1:-1] = 0.5 * (host[2:] + host[:-2]) + host[1:-1]
    return host


def check_computing(u, host):
    for shift in (1, 2):
        if host.shape[0] > shift:
            np.testing.assert_array_equal((u[shift:] - u[:-shift]).numpy(), host[shift:] - host[:-shift])
            assert "kernel" in (u[shift:] + u[:-shift]).explain()
    if host.shape[0] > 2:
        v = u.copy()
        pt.Loop(step).run(v, steps=3)
        np.testing.assert_allclose(v.numpy(), run_in_numpy(host, 3), rtol=1e-12)
        assert v.dist == u.dist


def test_the_protocols_padding_example_computes_explains_loops_and_exports():
    counts = [9, 5, 6, 7]
    stops = np.cumsum(counts)
    host = np.arange(27.0) ** 2
    dims = column(stops - counts, stops, PADDING, 27)
    given = described(host, [dims])
    u = pt.from_distarray(given)
    dist = u.dist
    said = check_export(u, host)
    assert [d["dim_data"][0]["padding"] for d in said] == PADDING
    check_halos(u, host)
    np.testing.assert_array_equal((u[2:] + u[:-2]).numpy(), host[2:] + host[:-2])
    np.testing.assert_array_equal((u[3:] - u[:-3]).numpy(), host[3:] - host[:-3])
    check_computing(u, host)
    assert u.dist == dist
    # Reads that were wider than some part's halo left the description as it was.
    assert [d["dim_data"][0]["padding"] for d in check_export(u, host)] == PADDING
    check_halos(u, host)


def test_random_descriptions_with_unequal_seams_come_back_compute_and_loop():
    random, unlike = np.random.default_rng(16), 0
    for case in range(300):
        rank = int(random.choice([1, 1, 2, 2, 3]))
        lines = [unequal(random) for _ in range(rank)]
        while np.prod([len(dims) for dims, _ in lines]) > 12:
            lines = [unequal(random) for _ in range(rank)]
        host = random.integers(-9, 9, size=[size for _, size in lines]).astype(float)
        columns = [dims for dims, _ in lines]
        given = described(host, columns)
        assert pt.validate_distarray(given) == (True, ""), case
        u = pt.from_distarray(given)
        said = check_export(u, host)
        assert [d["dim_data"] for d in said] == [
            tuple({k: v for k, v in dim.items() if (k, v) not in (("padding", (0, 0)), ("periodic", False))} for dim in d["dim_data"])
            for d in given
        ], case  # fmt: skip
        unlike += any(len({u.dist.halo_of(p)[d] for p in range(u.dist.num_parts)}) > 2 for d in range(rank))
        dist = u.dist
        check_computing(u, host)
        assert u.dist == dist, case
        check_export(u, host)
        if case % 10 == 0:
            check_halos(u, host)
    assert unlike > 100


def test_reading_never_changes_a_distribution():
    host = np.arange(40.0).reshape(20, 2)
    for halo in (None, 1, ((2, 1), 0), ((0, 1), 0)):
        dist = pt.Distribution((20, 2), team=pt.Team(4, "host"), halo=halo)
        u = pt.asarray(host, dist=dist)
        before = dist.halo
        for read in (
            lambda u=u: u[1:] - u[:-1], lambda u=u: u[3:] + u[:-3], lambda u=u: u[4:-1] * u[:-5], lambda u=u: u[2:] - u[:-2],
        ):  # fmt: skip
            float(read().sum())
            assert u.dist == dist and u.dist.halo == before
            assert all(d["dim_data"] == e["dim_data"] for d, e in zip(
                check_export(u, host), [p.__distarray__() for p in pt.asarray(host, dist=dist).parts], strict=True))  # fmt: skip
        assert u.redistribute(dist).dist == dist
        # What is computed from it has its declared halo too, and so has what is assigned to.
        assert (u * 2).eval().dist == dist
        u[1:-1] = u[2:] - u[:-2]
        assert u.dist == dist
        check_export(u, u.numpy())
        check_halos(u, u.numpy())


def test_a_loop_leaves_the_distribution_of_its_state():
    for depth in (None, 3):
        dist = pt.Distribution((24,), team=pt.Team(3, "host"), halo=((1, 0),))
        u = pt.asarray(np.arange(24.0), dist=dist)
        loop = pt.Loop(step) if depth is None else pt.Loop(step, depth=depth)
        loop.run(u, steps=12)
        assert u.dist == dist
        np.testing.assert_allclose(u.numpy(), run_in_numpy(np.arange(24.0), 12), rtol=1e-12)
        check_export(u, u.numpy())


@pytest.mark.parametrize("halo", [((2, 1),), ((1, 0),), ((0, 2),), ((1, 3),)])
@pytest.mark.parametrize("periodic", [False, True])
def test_one_sided_halos_export_what_both_sides_of_a_seam_have(halo, periodic):
    host = np.arange(12.0)
    u = pt.asarray(host, dist=pt.Distribution((12,), team=pt.Team(3, "host"), halo=halo, periodic=periodic))
    said = check_export(u, host)
    common = min(halo[0])
    inner = [(d["dim_data"][0]["padding"] if "padding" in d["dim_data"][0] else (0, 0)) for d in said]
    assert all(hi == common for _, hi in inner[:-1]) and all(lo == common for lo, _ in inner[1:])
    # The buffer is a window of the part's memory.
    for d, part in zip(said, u.parts, strict=True):
        if d["dim_data"][0].get("padding", (0, 0))[0] == part.stored.halo[0][0]:
            assert np.asarray(d["buffer"]).ctypes.data == np.from_dlpack(part.stored).ctypes.data
        assert np.shares_memory(np.asarray(d["buffer"]), np.from_dlpack(part.stored))


def random_dist(random, team, shape):
    grids = {1: [(n,) for n in (team.size,)], 2: [(4, 1), (1, 4), (2, 2)], 3: [(4, 1, 1), (2, 1, 2), (1, 2, 2)]}[len(shape)]
    grid = grids[random.integers(len(grids))]
    dims, halo, periodic = [], [], []
    for extent, parts in zip(shape, grid, strict=True):
        kind = random.integers(4)
        if kind == 0:
            dims.append(pt.Cyclic(int(random.integers(1, 4))))
        elif kind == 1:
            owner = random.integers(parts, size=extent)
            dims.append(pt.Unstructured([[int(i) for i in np.flatnonzero(owner == p)] for p in range(parts)]))
        elif kind == 2:
            dims.append(pt.Block([0, *sorted(int(i) for i in random.integers(0, extent + 1, size=parts - 1)), extent]))
        else:
            dims.append(None)
        block = kind == 3
        halo.append((int(random.integers(0, 3)), int(random.integers(0, 3))) if block else (0, 0))
        periodic.append(bool(block and random.random() < 0.3))
    try:
        return pt.Distribution(shape, team=team, grid=grid, dims=dims, halo=halo, periodic=periodic)
    except ValueError:
        return pt.Distribution(shape, team=team, grid=grid, dims=dims, periodic=periodic)


def random_key(random, shape):
    key = []
    for extent in shape:
        kind = random.integers(5)
        if kind == 0:
            key.append(slice(None))
        elif kind == 1:
            start, stop = sorted(int(i) for i in random.integers(0, extent + 1, size=2))
            key.append(slice(start, stop, int(random.integers(1, 3))))
        elif kind == 2:
            key.append(slice(None, None, -1))
        elif kind == 3 and len(shape) > 1 and not any(isinstance(k, int) for k in key):
            key.append(int(random.integers(0, extent)))
        else:
            key.append(slice(int(random.integers(0, 2)), None))
    return tuple(key)


def test_random_layouts_and_slices_come_back():
    random, team = np.random.default_rng(61), pt.Team(4, "host")
    whole = 0
    for case in range(1500):
        rank = int(random.integers(1, 4))
        shape = tuple(int(n) for n in random.integers(4, 9, size=rank))
        host = random.integers(-99, 99, size=shape).astype(np.float32)
        u = pt.asarray(host, dist=random_dist(random, team, shape))
        key = random_key(random, shape)
        if all(k == slice(None) for k in key):
            whole += 1
        view = u[key]
        v = pt.from_distarray(view.parts, team=team)
        np.testing.assert_array_equal(v.numpy(), host[key], err_msg=f"{case} {u.dist!r} {key}")
        said = [p.__distarray__() for p in view.parts]
        assert pt.validate_distarray(in_c_order(said)) == (True, ""), case
        np.testing.assert_array_equal(pt.from_distarray(said, team=team).numpy(), host[key])
        np.testing.assert_array_equal(u[:].numpy(), host)
        if case % 3 == 0:
            check_export(u[:], host)
    assert whole > 20


def test_a_whole_slice_lends_the_memory_of_its_array():
    host = np.arange(12.0)
    u = pt.asarray(host, dist=pt.Distribution((12,), team=pt.Team(3, "host"), halo=1)).eval()
    at = [np.from_dlpack(p.stored).ctypes.data for p in u.parts]
    assert [np.from_dlpack(p.stored).ctypes.data for p in u[:].parts] == at
    check_halos(u[:], host)


def test_halo_widths_may_be_given_per_part():
    team = pt.Team(4, "host")
    dist = pt.Distribution((27,), team=team, dims=[pt.Block([0, 9, 14, 20, 27])], halo=[[(0, 1), (1, 2), (2, 3), (3, 0)]])
    assert dist.halo == ((3, 3),)
    assert [dist.halo_of(p) for p in range(4)] == [((0, 1),), ((1, 2),), ((2, 3),), ((3, 0),)]
    host = np.arange(27.0)
    u = pt.asarray(host, dist=dist)
    check_export(u, host)
    check_computing(u, host)
    two = pt.Distribution((6, 8), team=team, grid=(2, 2), halo=[(1, 1), [(0, 2), (1, 0)]])
    assert two.halo_of(0) == ((0, 1), (0, 2)) and two.halo_of(3) == ((1, 0), (1, 0))
    with pytest.raises(ValueError, match="2 pairs"):
        pt.Distribution((6, 8), team=team, grid=(2, 2), halo=[1, [(0, 2), (1, 0), (1, 1)]])
