"""Partitions: who is where; small data between members; boxes on request; operators that are started and finished; sums in place."""

import gc

import numpy as np
import partita as pt
import pytest


def world(count=6):
    return pt.Partition(pt.Team(count, "host"))


def test_places_in_the_grid():
    line, grid = world(), world().cartesian((2, 3))
    assert (line.size, line.shape, grid.size, grid.shape, len(grid)) == (6, (6,), 6, (2, 3), 6)
    assert line.active and line.inclusive([4]).active
    assert [grid.cartesian_index(rank) for rank in range(6)] == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]
    # Without a grid the place is the rank.
    assert [line.cartesian_index(rank) for rank in range(6)] == [(rank,) for rank in range(6)]
    lone = line.inclusive([4]).cartesian((1, 1))
    assert (lone.rank, lone.index, lone.members) == (0, (0, 0), (4,))


def test_neighbours():
    grid = world().cartesian((2, 3))
    assert grid.neighbor_ranks(1) == ((None, 4), (0, 2)) and grid.neighbor_ranks(5) == ((2, None), (4, None))
    assert grid.neighbor_ranks(5, periodic=(True, True)) == ((2, 2), (4, 3))
    assert grid.neighbor_ranks(0, periodic=(False, True)) == ((None, 3), (2, 1))
    assert world(1).neighbor_ranks() == ((None, None),) and world(1).neighbor_ranks(periodic=[True]) == ((0, 0),)
    for rank in range(6):
        for d, (left, right) in enumerate(grid.neighbor_ranks(rank)):
            for other, step in ((left, -1), (right, 1)):
                moved = [at + step * (e == d) for e, at in enumerate(grid.cartesian_index(rank))]
                assert (other is None) == (not 0 <= moved[d] < grid.shape[d])
                assert other is None or list(grid.cartesian_index(other)) == moved


def test_neighbours_are_those_of_distributions():
    grid = world().cartesian((2, 3))
    dist = pt.Distribution((8, 9), team=grid.team, grid=(2, 3), periodic=(True, False))
    assert [grid.neighbor_ranks(rank, periodic=dist.periodic) for rank in range(6)] == [dist.neighbors(rank) for rank in range(6)]


def test_sub_topologies():
    """As MPI_Cart_sub: rows and columns of the grid, and arrays on them."""
    grid = world().inclusive([5, 3, 1, 0, 2, 4]).cartesian((2, 3))
    rows = [grid.sub_topology((False, True), rank) for rank in range(6)]
    assert [row.members for row in rows] == [(5, 3, 1)] * 3 + [(0, 2, 4)] * 3 and rows[0].shape == (3,)
    assert [grid.sub_topology((True, False), rank).members for rank in range(3)] == [(5, 0), (3, 2), (1, 4)]
    assert grid.sub_topology((True, True), 4) == grid and grid.sub_topology((False, False), 4).members == (2,)
    row = rows[3]
    sums = pt.collective.all_sum_reduce(row, 0)(pt.arange(6, dtype=pt.float64, team=row.team))
    assert sums.tolist() == [6, 9] * 3
    lone = world().inclusive([2]).cartesian((1, 1))
    assert lone.sub_topology((True, False)).shape == (1,)


def test_broadcast_partitions_of_the_document():
    """1x3x1 (workers 1, 2, 3) to 2x3x2: who receives from whom, on an array; worker 3 sends third and receives second."""
    everyone = world(12)
    source, target = everyone.inclusive([1, 2, 3]).cartesian((1, 3, 1)), everyone.cartesian((2, 3, 2))
    x = pt.asarray(np.array([1.0, 2.0, 3.0]).reshape(1, 3, 1), dist=pt.Distribution((1, 3, 1), team=source.team, grid=(1, 3, 1)))
    copies = pt.collective.broadcast(source, target)
    y = copies(x)
    groups = {n: {target.members[part.index] for part in y.parts if np.from_dlpack(part).item() == n} for n in (1, 2, 3)}
    assert groups == {1: {0, 1, 6, 7}, 2: {2, 3, 8, 9}, 3: {4, 5, 10, 11}}
    # Ten of the twelve get what they have not: two roots are among their own receivers.
    assert copies.explain(x).startswith("3 parts to 12: 10 moves, 80 bytes between parts, 2 moves, 16 bytes within parts"), copies.explain(x)
    # Its own adjoint sums to the same roots.
    np.testing.assert_array_equal(copies.adjoint(y).numpy().ravel(), [4, 8, 12])
    (one, two) = world().inclusive([1]), world().inclusive([1, 2])
    assert pt.collective.broadcast(one, two)(pt.ones(1, team=one.team)).tolist() == [1, 1]


def test_small_data_of_members():
    everyone = world(3)
    assert everyone.allgather_data([1, "two", {"three": np.arange(3)}])[:2] == [1, "two"]
    some = everyone.inclusive([2, 0])
    assert some.allgather_data([(2,), None]) == [(2,), None]
    value = np.arange(6, dtype=np.int16).reshape(2, 3)
    for given in (everyone.broadcast_data(value), everyone.broadcast_data(value, 1), everyone.broadcast_data(value, 1, some)):
        assert given.dtype == np.int16 and np.array_equal(given, value) and given is not value


def test_thousands_of_partitions_come_and_go():
    everyone = world(4)
    held = []
    for n in range(10_000):
        part = everyone.inclusive([n % 4, (n + 1) % 4]).union(everyone.inclusive([(n + 2) % 4])).cartesian((3, 1))
        held.append(part.sub_topology((True, False), 1))
        if n % 7 == 0:
            held = held[::-2]
    assert len(everyone.allgather_data([1] * 4)) == 4 and pt.ones(8, team=held[-1].team).sum().item() == 8


def test_messages_are_counted():
    team = pt.Team(3, "host")
    u = pt.arange(9, team=team).eval()
    before = team.messages
    (u + 1).eval()
    assert team.messages == before == u.team.messages
    (u[1:] + u[:-1]).eval()
    assert team.messages == before + 2
    with pytest.raises(AttributeError):
        team.messages = 0


@pytest.mark.parametrize("dtype", ["float32", "complex128", "int8"])
def test_resized(team, dtype):
    host = np.arange(15).reshape(3, 5).astype(dtype)
    for dims, halo in ((None, 0), (None, 1), ([pt.Cyclic(2), None], 0), ([pt.Replicated(), None], 0)):
        try:
            u = pt.asarray(host, dist=pt.Distribution((3, 5), team=team, dims=dims, halo=halo))
        except (NotImplementedError, TypeError):
            assert dtype == "complex128", "wgpu adapters may have no float64"
            continue
        for shape in ((6, 2), (1, 9), (3, 5), (0, 4)):
            expected = np.zeros(shape, dtype)
            expected[:3, :5] = host[: shape[0], : shape[1]]
            made = u.resized(shape)
            np.testing.assert_array_equal(made.numpy(), expected)
            assert made.dist.kinds == u.dist.kinds and made.dtype == u.dtype
    np.testing.assert_array_equal(u.numpy(), host)
    assert pt.ones(3).resized(5).tolist() == [1, 1, 1, 0, 0]


def boxes_of(rng, shape, periodic, count):
    def span(n, wraps):
        a, b = sorted(rng.integers(-2 * wraps, n + 2 * wraps + 1, 2))
        return int(a), int(min(b, a + n))

    return [[span(n, wraps) for n, wraps in zip(shape, periodic, strict=True)] for _ in range(count)]


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
@pytest.mark.parametrize("shape, periodic", [((17,), (False,)), ((17,), (True,)), ((7, 9), (False, True)), ((4, 5, 6), (False,) * 3)])
def test_requested_boxes(team, shape, periodic, dtype):
    """Boxes that overlap, are empty, lie elsewhere, or wrap around."""
    rng = np.random.default_rng(len(shape))
    host = (rng.integers(0, 99, shape) * (1 + (1j if dtype == "complex64" else 0))).astype(dtype)
    u = pt.asarray(host, dist=pt.Distribution(shape, team=team, periodic=periodic, halo=1))
    for boxes in [boxes_of(rng, shape, periodic, len(team)) for _ in range(5)] + [[[(0, 0)] * len(shape)] * len(team), [[(0, n) for n in shape]] * len(team)]:
        got = u.request(boxes)
        assert [one.part for one in got] == team.local_members
        for one, box in zip(got, boxes, strict=True):
            wrapped = np.ix_(*([at % n for at in range(start, stop)] for n, (start, stop) in zip(shape, box, strict=True)))
            np.testing.assert_array_equal(one.numpy(), host[wrapped] if host[wrapped].size else np.empty([b - a for a, b in box], dtype))
            assert len(one.sections) == 3 ** len(shape) and one.dtype == u.dtype
            assert one.offset == (tuple(start for start, _ in box) if one.numpy().size else None)


def test_a_started_request_has_the_values_of_the_beginning(team):
    """Boxes of the start, whatever is computed, assigned and requested before the end, in any order; and once."""
    host = np.arange(21, dtype=np.float32).reshape(7, 3)
    for parts in (1, 2, 3):
        over = pt.Team(parts, team.devices[0])
        for dtype in ("float32", "complex64"):
            u = pt.asarray(host.astype(dtype), team=over)
            everyone = [[(0, 7), (0, 3)]] * parts
            first = u.start_request(everyone)
            doubled = (u * 2).eval()
            second = u.start_request([[(n, n + 2), (1, 3)] for n in range(parts)])
            u[:] = -1
            third = doubled.start_request(everyone)
            for n, (one, two, three) in enumerate(zip(second.finish(), first.finish(), third.finish(), strict=True)):
                np.testing.assert_array_equal(one.numpy(), host[n : n + 2, 1:3])
                np.testing.assert_array_equal(two.numpy(), host)
                np.testing.assert_array_equal(three.numpy(), 2 * host)
                assert one.part == two.part == n and two.dtype == u.dtype
            with pytest.raises(ValueError, match="one that was finished; start it again"):
                first.finish()
            assert (u.numpy() == -1).all() and "under way" in repr(third)
            u.start_request(everyone)
            gc.collect()
            assert u.request(everyone)[0].numpy()[0, 0] == -1


def test_requested_cells_of_the_part_stay_where_they_are():
    team = pt.Team(3, "host")
    u = pt.arange(12, dtype=pt.float64, team=team)
    first = [np.from_dlpack(part).ctypes.data for part in u.parts]
    before = team.messages
    got = u.request([[(0, 6)], [(3, 10)], [(2, 3)]])
    assert team.messages == before + 4, "halves of what the neighbours own, and one box from elsewhere"
    left, own, right = got[1].sections
    assert (left.start, left.stop, own.start, own.stop, right.start, right.stop) == ((3,), (4,), (4,), (8,), (8,), (10,))
    assert np.from_dlpack(own.memory).ctypes.data == first[1] and got[0].sections[0].memory is None
    own_of_first = np.from_dlpack(got[0].sections[1].memory)
    assert own_of_first.ctypes.data == first[0] and not own_of_first.flags.writeable
    # What is assigned later does not change what was requested; the array's memory is kept as long as a box needs it.
    u[:] = -1
    assert got[0].numpy().tolist() == [0, 1, 2, 3, 4, 5] and got[2].numpy().tolist() == [2]
    del got, own, left, right, u
    gc.collect()
    assert own_of_first.tolist() == [0, 1, 2, 3]


def test_started_operators_overlap_and_give_the_same():
    grid = world().cartesian((2, 3))
    for dtype in ("float64", "complex64"):
        x = pt.asarray(np.arange(36.0).reshape(6, 6).astype(dtype), dist=pt.Distribution((6, 6), team=grid.team, grid=(2, 3)))
        for operator in (pt.collective.all_sum_reduce(grid, 1), pt.collective.gather(grid, 4), pt.collective.allgather(grid, (0, 1))):
            expected = operator(x).numpy()
            first, second = operator.start(x), operator.start(x)
            y = (x * 2).eval()
            kept = x.copy()
            x[0, 0] = 100
            np.testing.assert_array_equal(second.finish().numpy(), expected)
            made = first.finish()
            np.testing.assert_array_equal(made.numpy(), expected)
            assert isinstance(made, pt.Array) and made.team == operator.target.team and y[0, 0].item() == 0
            x = kept
            with pytest.raises(ValueError, match="one that was finished; start it again"):
                first.finish()
            del first, second
            operator.start(x)
            gc.collect()


def test_sums_in_place(team):
    """The sum is where the array was, on every device; who has the old value keeps it."""
    u = pt.asarray(np.arange(3 * len(team), dtype=np.float32), team=team).eval()
    expected = np.tile(u.numpy().reshape(len(team), 3).sum(axis=0), len(team))
    on_host = team.devices[0].kind == "host"
    before = [np.from_dlpack(part).ctypes.data for part in u.parts] if on_host else []
    old, recorded = u.numpy(), u + 0
    recorded.eval()
    gc.collect()
    assert pt.collective.all_reduce_(u) is u
    np.testing.assert_array_equal(u.numpy(), expected)
    np.testing.assert_array_equal(recorded.numpy(), old)
    assert not on_host or [np.from_dlpack(part).ctypes.data for part in u.parts] == before
    kept, lazy, view = u.copy(), u * 2, u[1:]
    pt.collective.all_reduce_(u)
    np.testing.assert_array_equal(u.numpy(), len(team) * expected)
    np.testing.assert_array_equal(kept.numpy(), expected)
    np.testing.assert_array_equal(lazy.numpy(), 2 * expected)
    np.testing.assert_array_equal(view.numpy(), len(team) * expected[1:])


def test_sums_in_place_along_axes_and_in_memory_of_others():
    grid = world().cartesian((2, 3))
    host = np.arange(24.0).reshape(4, 6)
    for halo in (0, 1):
        u = pt.asarray(host, dist=pt.Distribution((4, 6), team=grid.team, grid=(2, 3), halo=halo))
        pt.collective.all_reduce_(u, grid, 0)
        np.testing.assert_array_equal(u.numpy(), np.tile(host[:2] + host[2:], (2, 1)))
        np.testing.assert_array_equal((u[1:] - u[:-1]).numpy(), np.diff(np.tile(host[:2] + host[2:], (2, 1)), axis=0))
    blocks = [np.full(2, float(n)) for n in range(3)]
    v = pt.from_parts(blocks, pt.Distribution(6, team=pt.Team(3, "host")), writable=True)
    pt.collective.all_reduce_(v)
    assert [block.tolist() for block in blocks] == [[3.0, 3.0]] * 3 and v.tolist() == [3] * 6
    blocks[0][0] = 3
    shared = pt.from_parts(blocks, pt.Distribution(6, team=pt.Team(3, "host")), copy=False)
    pt.collective.all_reduce_(shared)
    assert blocks[0].tolist() == [3, 3] and shared.tolist() == [9] * 6, "memory that is only read is not written"

    def step(w):
        pt.collective.all_reduce_(w)
        w[:] = w / 3

    w = pt.asarray(np.arange(6.0), team=pt.Team(3, "host"))
    pt.Loop(step).run(w, steps=5)
    np.testing.assert_allclose(w.numpy(), [2, 3] * 3)


REFUSED = [
    (lambda p: p.rank, ValueError, "Partition.rank: expected a process with one member"),
    (lambda p: p.index, ValueError, "Partition.index: expected a process with one member, given one with ranks [0, 1, 2, 3, 4, 5]; name a rank"),
    (lambda p: p.neighbor_ranks(), ValueError, "Partition.neighbor_ranks"),
    (lambda p: p.neighbor_ranks(6), IndexError, "below 6"),
    (lambda p: p.neighbor_ranks(0, periodic=(True, True)), ValueError, "1"),
    (lambda p: p.cartesian_index(-1), ValueError, "count from 0"),
    (lambda p: p.cartesian_index(6), IndexError, "below 6"),
    (lambda p: p.sub_topology((True,)), ValueError, "Partition.sub_topology"),
    (lambda p: p.sub_topology((True, False), 0), ValueError, "Partition.sub_topology"),
    (lambda p: p.broadcast_data(1, 6), ValueError, "below 6"),
    (lambda p: p.inclusive([1]).broadcast_data(1, 0, p), ValueError, "inside"),
    (lambda p: p.broadcast_data(1, 0, world(2)), ValueError, "one world"),
    (lambda p: p.allgather_data([1]), ValueError, "expected 6 values, given 1; pass one per member of this process"),
    (lambda p: p.broadcast_data(lambda: 1), (AttributeError, __import__("pickle").PicklingError), "pickle"),
    (lambda p: pt.ones(6, team=p.team).resized((2, 3)), ValueError, "resized"),
    (lambda p: pt.ones(6, team=p.team).resized((-1,)), ValueError, "-1"),
    (lambda p: pt.ones(6, team=p.team).resized(2.5), TypeError, "an int or several"),
    (lambda p: pt.ones(6, dist=pt.Distribution(6, team=p.team, dims=[pt.Block([0, 0, 2, 3, 4, 5, 6])])).resized(7), NotImplementedError, "a rule for any size"),
    (lambda p: pt.ones(6, team=p.team).request([3]), TypeError, "given [3]; pass [[(0, 3)], ...]"),
    (lambda p: pt.ones(6, team=p.team).request(None), TypeError, "process, given None"),
    (lambda p: pt.ones(6, team=p.team).request([[(0, 1)]]), ValueError, "expected 6 boxes, one per part of this process, given 1"),
    (lambda p: pt.ones(6, team=p.team).request([[(0, 7)]] * 6), IndexError, "clip the region to the array"),
    (lambda p: pt.ones(6, team=p.team).request([[(0, 1), (0, 1)]] * 6), ValueError, "request"),
    (lambda p: pt.ones(6, dist=pt.Distribution(6, team=p.team, dims=[pt.Cyclic()])).request([[(0, 1)]] * 6), NotImplementedError, "block"),
    (lambda p: pt.ones(6, team=p.team).sum().request([()] * 6), ValueError, "at least one dimension"),
    (lambda p: pt.collective.all_reduce_(np.ones(6)), TypeError, "partita.asarray"),
    (lambda p: pt.collective.all_reduce_(pt.ones(6, team=p.team).sum()), TypeError, "given a scalar, which never changes"),
    (lambda p: pt.collective.all_reduce_(pt.ones(7, team=p.team)), ValueError, "evenly"),
    (lambda p: pt.collective.all_reduce_(pt.ones(12, dist=pt.Distribution(12, team=p.team, dims=[pt.Cyclic()]))), ValueError, "overwrite"),
    (lambda p: pt.collective.all_reduce_(pt.ones(6, team=p.team), axes=1), ValueError, "below 1"),
    (lambda p: pt.collective.gather(p, 0).start(np.ones(6)), TypeError, "partita.asarray"),
    (lambda p: pt.collective.gather(p, 0).start(pt.ones(6, team=pt.Team(2, "host"))), ValueError, "the partition's team"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_misuse(number):
    misuse, expected, text = REFUSED[number]
    with pytest.raises(expected) as raised:
        misuse(world())
    assert text in str(raised.value), str(raised.value)
