"""DistDL's partitions and data movements on arrays: what each member has, from whom, and adjoints."""

import gc
import itertools
import os
import re

import numpy as np
import partita as pt
import pytest

from conformance import ranks
from partita.conformance import goldens

#: The published example: members 1, 2, 3 in a grid of 1 x 3 x 1, members 0 to 11 in one of 2 x 3 x 2.
GROUPS = [[1, 0, 6, 7], [2, 3, 8, 9], [3, 4, 5, 10, 11]]
SUMMED = [[0, 1, 6, 7], [2, 3, 8, 9], [4, 5, 10, 11]]


def world(on, members):
    return pt.Partition(on(members))


def grid(all_, ranks, shape):
    return all_.inclusive(list(ranks)).cartesian(shape)


def over(partition, shape, *bounds):
    """Blocks over a partition's grid, even or with these bounds."""
    dims = [pt.Block(list(ends)) for ends in bounds] or None
    return pt.Distribution(shape, team=partition.team, grid=partition.shape, dims=dims)


def numbers(partition, shape, *bounds, seed=0, dtype="float32"):
    """Small integers, so that sums are exact."""
    host = np.random.default_rng(seed).integers(-9, 10, size=shape).astype(dtype)
    return pt.asarray(host, dist=over(partition, shape, *bounds))


def ids(partition, ndim=1):
    """One element per member: its number."""
    shape = partition.shape + (1,) * (ndim - len(partition.shape))
    return pt.asarray(np.array(partition.members, np.float32).reshape(shape), dist=over(partition, shape))


def held(x):
    """What each member has, by rank."""
    return [np.from_dlpack(part, device="cpu") for part in x.parts]


def of_members(x, partition):
    """The number that each member has, where all have one element."""
    return {member: float(one.item()) for member, one in zip(partition.members, held(x), strict=True)}


def published(on):
    all_ = world(on, 14)
    return grid(all_, [1, 2, 3], (1, 3, 1)), grid(all_, range(12), (2, 3, 2))


def check_dot(operator, x, seed=7):
    """<F x, y> == <x, F* y>, exactly, as all numbers are small integers."""
    made = operator(x)
    y = pt.asarray(np.random.default_rng(seed).integers(-9, 10, made.shape).astype(x.dtype.name), dist=made.dist)
    back = operator.adjoint(y)
    assert back.shape == x.shape and back.dtype == x.dtype and back.team == x.team
    one, other = (made.numpy() * y.numpy()).sum(dtype=float), (x.numpy() * back.numpy()).sum(dtype=float)
    assert one == other, operator
    return one


@pytest.mark.requirement("C1")
def test_one_set_of_names_and_types_on_every_back_end(on):
    a, b = published(on)
    for operator in (pt.collective.broadcast(a, b), pt.collective.sum_reduce(b, a), pt.collective.all_sum_reduce(b, 1), pt.collective.gather(b, 3)):
        x = numbers(operator.source, (2, 6, 4)) if operator.source == b else numbers(a, (2, 6, 2))
        y = operator(x)
        assert type(operator) is type(operator.adjoint) is pt.collective.Collective and type(y) is pt.Array
        assert type(operator.source) is type(operator.target) is pt.Partition and y.team == operator.target.team
        assert type(y.dist) is pt.Distribution and all(type(part) is pt.Part for part in y.parts)
    assert {"broadcast", "sum_reduce", "all_sum_reduce", "repartition", "halo_exchange", "gather", "scatter", "allgather"} <= set(pt.collective.__all__)


SOME = """
everyone = pt.Partition(pt.Team(3))
some = everyone.inclusive([2, 0])
assert (some.size, some.active) == (2, everyone.rank != 1)
if some.active:
    assert some.rank == {2: 0, 0: 1}[everyone.rank] and some.index == (some.rank,)
else:
    # An error, at once, and not a wait for others.
    for use in (lambda: some.rank, lambda: some.index, lambda: some.broadcast_data(1), lambda: some.allgather_data([])):
        try:
            use()
        except ValueError:
            continue
        raise AssertionError("an inactive member was let in")
print("checked")
"""


@pytest.mark.requirement("C2")
def test_a_process_that_is_no_member_gets_errors():
    assert ranks.run(3, SOME).count("checked") == 3


@pytest.mark.requirement("C3", "C12", "C13", "C14")
def test_places_neighbours_and_sub_topologies(on):
    all_ = world(on, 12)
    three_ = all_.inclusive([8, 2, 5])
    assert three_.shape == (3,) and three_.size == len(three_) == 3 and [three_.cartesian_index(rank) for rank in range(3)] == [(0,), (1,), (2,)]
    six = grid(all_, [9, 3, 7, 1, 8, 2], (2, 3))
    assert six.shape == (2, 3) and [six.cartesian_index(rank) for rank in range(6)] == list(np.ndindex(2, 3))
    # The place of a rank is where its part of an array is.
    assert [part.grid_index for part in ids(six).parts] == [six.cartesian_index(rank) for rank in range(6)]
    assert six.neighbor_ranks(1) == ((None, 4), (0, 2)) and six.neighbor_ranks(3) == ((0, None), (None, 4))
    assert six.neighbor_ranks(3, periodic=(True, True)) == ((0, 0), (5, 4))
    for goldens_of in ("cartesian_index", "neighbor_ranks"):
        for golden in goldens("distdl"):
            if golden["function"] == goldens_of:
                (shape, rank), expected = golden["arguments"], golden["expected"]
                found = getattr(all_.inclusive(list(range(int(np.prod(shape))))).cartesian(shape), goldens_of)(rank)
                assert [list(one) if isinstance(one, tuple) else one for one in found] == expected
    with pytest.raises(IndexError):
        six.cartesian_index(6)
    cube = grid(all_, range(12), (2, 3, 2))
    plane = cube.sub_topology((True, False, True), 3)
    assert (plane.members, plane.shape) == ((2, 3, 8, 9), (2, 2)) and cube.sub_topology((False,) * 3, 3).members == (3,)
    assert cube.sub_topology((True,) * 3, 3) == cube and ids(plane).tolist() == [[2, 3], [8, 9]]


VALUES = """
everyone = pt.Partition(pt.Team(3))
rank = everyone.rank
some = everyone.inclusive([2, 1])
# Who receives gives None: it knows neither type nor shape.
for value in (np.arange(6, dtype=np.int16).reshape(2, 3), np.array(2.5 + 1j), np.zeros((0, 4), bool)):
    for root in range(3):
        given = everyone.broadcast_data(value if rank == root else None, root)
        assert (given.dtype, given.shape) == (value.dtype, value.shape) and np.array_equal(given, value)
    # The root's number is that in the sub-partition, of which 2 and 1 are members, and 0 is not.
    for root, member in ((0, 2), (1, 1)):
        given = everyone.broadcast_data(value if rank == member else None, root, some)
        assert (given.dtype, given.shape) == (value.dtype, value.shape) and np.array_equal(given, value)
assert everyone.broadcast_data({"a": [1, "two", rank]} if rank == 2 else None, 2) == {"a": [1, "two", 2]}
for outside in (lambda: everyone.broadcast_data(1, 2, some), lambda: everyone.broadcast_data(1, 3)):
    try:
        outside()
    except ValueError:
        continue
    raise AssertionError("a root outside was taken")
assert [one.tolist() for one in everyone.allgather_data([np.full(rank, rank)])] == [[], [1], [2, 2]]
if some.active:
    assert some.allgather_data([f"of {rank}"]) == ["of 2", "of 1"]
print("checked")
"""


@pytest.mark.requirement("C9", "C10", "C11")
def test_values_go_between_processes():
    """Receivers know neither type nor shape; a root is inside; what is gathered is in the order of ranks."""
    assert ranks.run(3, VALUES).count("checked") == 3


def test_values_of_members(on):
    """The same in one process, which has all members."""
    all_ = world(on, 5)
    some = all_.inclusive([3, 1])
    for value in (np.arange(6, dtype=np.int16).reshape(2, 3), np.array(2.5 + 1j), np.zeros((0, 4), bool)):
        for given in (all_.broadcast_data(value), all_.broadcast_data(value, 4), all_.broadcast_data(value, 1, some)):
            assert given is not value and (given.dtype, given.shape) == (value.dtype, value.shape) and np.array_equal(given, value)
    assert all_.broadcast_data({"a": [1, "two", None]}, 2) == {"a": [1, "two", None]}
    for outside in (lambda: all_.broadcast_data(1, 2, some), lambda: some.broadcast_data(1, 0, all_), lambda: all_.broadcast_data(1, 5)):
        with pytest.raises(ValueError):
            outside()
    lines = [np.full(rank, rank) for rank in range(5)]
    assert [one.tolist() for one in all_.allgather_data(lines)] == [one.tolist() for one in lines]
    assert some.allgather_data(["of 3", "of 1"]) == ["of 3", "of 1"]


@pytest.mark.requirement("C4", "C5", "C6")
def test_partitions_of_listed_members_and_their_union(on):
    all_ = world(on, 9)
    five = all_.inclusive([8, 2, 5, 0, 1])
    assert five.members == (8, 2, 5, 0, 1) and five.inclusive([3, 0, 2]).members == (0, 8, 5) and five.team.size == 5
    # Members of arrays over them are in that order, too.
    assert of_members(ids(five), five) == {8: 8, 2: 2, 5: 5, 0: 0, 1: 1} and ids(five).tolist() == [8, 2, 5, 0, 1]
    for numbers_ in ([0, 0], [5], []):
        with pytest.raises(ValueError):
            five.inclusive(numbers_)
    a, b = all_.inclusive([4, 1]), all_.inclusive([0, 1, 5])
    assert a.union(b).members == (4, 1, 0, 5) and b.union(a).members == (0, 1, 5, 4) and a.union(b) != b.union(a)
    assert ids(b.union(a)).tolist() == [0, 1, 5, 4]
    with pytest.raises(ValueError, match="one world"):
        a.union(world(on, 3))


@pytest.mark.requirement("C7", "C8")
def test_cartesian_topologies_and_equality(on):
    all_ = world(on, 6)
    assert all_.cartesian((2, 3)).shape == (2, 3) and len(all_.cartesian((3, 2))) == 6
    for shape in ((2, 2), (6, 2), (5,), (0, 6)):
        with pytest.raises(ValueError):
            all_.cartesian(shape)
    a = all_.inclusive([0, 1, 2])
    assert a == all_.inclusive([0, 1, 2]) and hash(a) == hash(all_.inclusive([0, 1, 2]))
    assert a != all_.inclusive([0, 2, 1]) and a != all_.inclusive([3, 4, 5]) and a != a.cartesian((1, 3)) and all_.cartesian((2, 3)) != all_.cartesian((3, 2))


@pytest.mark.requirement("C15")
def test_ten_thousand_partitions_leave_nothing_open(on):
    def files():
        return len(os.listdir("/proc/self/fd"))

    all_ = world(on, 12).cartesian((2, 3, 2))
    ids(all_.inclusive([3, 1]))
    before, kept = files(), []
    for k in range(10_000):
        kept.append(all_.inclusive([k % 12, (k + 5) % 12]).union(all_) if k % 3 else pt.Partition(all_.team, (4, 3)))
        if len(kept) > 64:
            kept.pop(k % 64)
    assert files() == before and all(len(one) == 12 for one in kept)
    kept.clear()
    gc.collect()
    assert files() == before and ids(all_.inclusive([1, 3])).tolist() == [1, 3]


@pytest.mark.requirement("C16", "C18", "C19")
def test_broadcast_has_the_published_groups(on):
    a, b = published(on)
    heard = of_members(pt.collective.broadcast(a, b)(ids(a)), b)
    groups = [[root, *(member for member in b.members if heard[member] == root and member != root)] for root in a.members]
    # Member 3 sends in one group and hears member 2 in another.
    assert [sorted(group) for group in groups] == [sorted(group) for group in GROUPS] and heard[3] == 2
    assert len(groups) == np.prod(a.shape) and heard == {member: group[0] for group in GROUPS for member in group if (member, group[0]) != (3, 3)}
    assert (heard[1], heard[2]) == (1, 2)
    # Roots are the members with the data, not the lowest.
    all_ = world(on, 6)
    high, low = grid(all_, [5, 4], (2, 1)), grid(all_, [0, 1, 4, 5], (2, 2))
    assert of_members(pt.collective.broadcast(high, low)(ids(high)), low) == {0: 5, 1: 5, 4: 4, 5: 4}


def links(text):
    """(sender, receiver, bytes) of each link, by ranks."""
    return [tuple(map(int, one)) for one in re.findall(r"^  (\d+) -> (\d+): \d+ moves, (\d+) bytes", text, re.M)]


@pytest.mark.requirement("C17")
def test_every_member_receives_once(on):
    a, b = published(on)
    sent = links(pt.collective.broadcast(a, b).explain(ids(a)))
    assert sorted(receiver for _, receiver, _ in sent) == list(range(12)) and {size for *_, size in sent} == {4}
    # Each sends in one group: its receivers are those of its own.
    assert {sender: [b.members[at] for one, at, _ in sent if one == sender] for sender in range(3)} == {0: [0, 1, 6, 7], 1: [2, 3, 8, 9], 2: [4, 5, 10, 11]}
    received = links(pt.collective.sum_reduce(b, a).explain(ids(b)))
    assert sorted(sender for sender, _, _ in received) == list(range(12))


@pytest.mark.requirement("C20", "C29")
def test_members_apart_overlapping_equal_and_in_any_order(on):
    all_ = world(on, 8)
    four = grid(all_, [4, 5, 6, 7], (2, 2))
    for two_of, expected in (([1, 2], {4: 1, 5: 2, 6: 1, 7: 2}), ([5, 0], {4: 5, 5: 0, 6: 5, 7: 0})):
        two = grid(all_, two_of, (1, 2))
        assert of_members(pt.collective.broadcast(two, four)(ids(two)), four) == expected
    assert of_members(pt.collective.broadcast(four, four)(ids(four)), four) == {4: 4, 5: 5, 6: 6, 7: 7}
    random = np.random.default_rng(2)
    results = []
    for order in (range(8), *(random.permutation(8) for _ in range(3))):
        order = list(map(int, order))
        big, small = grid(all_, order, (2, 2, 2)), grid(all_, order[5:7], (1, 2, 1))
        x, y = numbers(small, (2, 6, 3), seed=4), numbers(big, (4, 6, 2), seed=5)
        operators = [pt.collective.broadcast(small, big)(x), pt.collective.sum_reduce(big, small)(y), pt.collective.all_sum_reduce(big, (0, 2))(y)]
        moved = pt.collective.repartition(small, big)(x)
        results.append([*(one.tolist() for one in operators), moved.tolist()])
        assert moved.tolist() == x.tolist()
        # What stands at a place of the grid is with the member that is there.
        assert [float(one.item()) for one in held(ids(big))] == order
    assert all(one == results[0] for one in results)


@pytest.mark.requirement("C21")
def test_shapes_follow_the_broadcast_rules(on):
    all_ = world(on, 24)
    b = grid(all_, range(12), (2, 3, 2))
    for shape in ((2,), (1,), (3, 1), (1, 2), (3, 2), (2, 1, 2), (2, 3, 1), (1, 1, 1)):
        a = grid(all_, range(12, 12 + int(np.prod(shape))), shape)
        made = pt.collective.broadcast(a, b)
        assert made.source == a and made.target == b
        expected = np.broadcast_to(np.array(a.members).reshape(shape), b.shape)
        assert made(ids(a)).tolist() == expected.tolist() and list(of_members(made(ids(a)), b).values()) == list(expected.ravel())
    for shape in ((3,), (2, 2), (1, 2, 1), (1, 1, 1, 1)):
        with pytest.raises(ValueError, match="extents, from the last on, are 1 or those of"):
            pt.collective.broadcast(grid(all_, range(12, 12 + int(np.prod(shape))), shape), b)


@pytest.mark.requirement("C22", "C23")
def test_members_have_their_roots_part_and_the_adjoint_sums(on):
    a, b = published(on)
    x = numbers(a, (2, 7, 3), [0, 2], [0, 1, 3, 7], [0, 3])
    y = pt.collective.broadcast(a, b)(x)
    assert y.team == b.team and y.dist.num_parts == 12 and y.shape == (4, 7, 6)
    for member, block in zip(b.members, held(y), strict=True):
        root = next(number for number, group in enumerate(SUMMED) if member in group)
        np.testing.assert_array_equal(block, held(x)[root])
    operator = pt.collective.broadcast(a, b)
    assert operator.adjoint == pt.collective.sum_reduce(b, a) and check_dot(operator, x) != 0
    np.testing.assert_array_equal(operator.adjoint(y).numpy(), 4 * x.numpy())


@pytest.mark.requirement("C24", "C25")
def test_sum_reduce_adds_each_share_once(on):
    a, b = published(on)
    powers = pt.asarray(np.array([2.0**member for member in b.members], np.float32).reshape(b.shape), dist=over(b, b.shape))
    operator = pt.collective.sum_reduce(b, a)
    sums = of_members(operator(powers), a)
    assert sums == {root: float(sum(2**member for member in group)) for root, group in zip(a.members, SUMMED, strict=True)}
    assert operator.adjoint == pt.collective.broadcast(a, b) and operator.target == a
    x = numbers(b, (4, 6, 8))
    blocks = held(x)
    for root, group in enumerate(SUMMED):
        np.testing.assert_array_equal(held(operator(x))[root], sum(blocks[member] for member in group))
    y = numbers(a, (2, 6, 4), seed=3)
    for member, block in zip(b.members, held(operator.adjoint(y)), strict=True):
        np.testing.assert_array_equal(block, held(y)[next(number for number, group in enumerate(SUMMED) if member in group)])


@pytest.mark.requirement("C26", "C27", "C28")
def test_all_sum_reduce_sums_over_groups(on):
    _, b = published(on)
    x = numbers(b, (4, 9, 6))
    blocks = held(x)
    for axes in ((0, 2), (1,), (0, 1, 2), ()):
        operator = pt.collective.all_sum_reduce(b, axes)
        groups = {}
        for member in b.members:
            at = np.unravel_index(member, b.shape)
            groups.setdefault(tuple(at[d] for d in range(3) if d not in axes), []).append(member)
        assert len(groups) == np.prod([b.shape[d] for d in range(3) if d not in axes])
        assert axes != (0, 2) or list(groups.values()) == SUMMED
        y = operator(x)
        for group in groups.values():
            for member in group:
                np.testing.assert_array_equal(held(y)[member], sum(blocks[other] for other in group))
        assert operator.adjoint == operator and check_dot(operator, x) == check_dot(operator, x)
    np.testing.assert_array_equal(pt.collective.all_sum_reduce(b, ())(x).numpy(), x.numpy())
    roots = grid(pt.Partition(b.team), [0, 2, 4], (1, 3, 1))
    same = grid(pt.Partition(b.team), range(12), (2, 3, 2))
    z = pt.asarray(x.numpy(), dist=over(same, x.shape))
    twice = pt.collective.broadcast(roots, same)(pt.collective.sum_reduce(same, roots)(z))
    np.testing.assert_array_equal(twice.numpy(), pt.collective.all_sum_reduce(same, (0, 2))(z).numpy())


@pytest.mark.requirement("C30", "C33", "C34", "C35")
def test_a_transpose_moves_an_array_within_the_union(on):
    all_ = world(on, 7)
    a, b = grid(all_, [5, 1, 2], (3, 1)), grid(all_, [0, 2, 4, 6], (2, 2))
    assert a.union(b).members == (5, 1, 2, 0, 4, 6)
    x = numbers(a, (9, 5), [0, 1, 4, 9], [0, 5])
    operator = pt.collective.repartition(a, b)
    y = operator(x)
    # Who is in the target has its blocks, even ones: 9 are 4 and 5; others have none.
    np.testing.assert_array_equal(y.numpy(), x.numpy())
    assert y.team == b.team and [one.shape for one in held(y)] == [(4, 2), (4, 3), (5, 2), (5, 3)]
    for block, (rows, columns) in zip(held(y), itertools.product((slice(0, 4), slice(4, 9)), (slice(0, 2), slice(2, 5))), strict=True):
        np.testing.assert_array_equal(block, x.numpy()[rows, columns])
    assert [one.shape for one in held(x)] == [(1, 5), (3, 5), (5, 5)]
    asked = over(b, (9, 5), [0, 1, 9], [0, 5, 5])
    assert pt.collective.repartition(a, b, layout=asked)(x).dist == asked
    back = pt.collective.repartition(a, b, adjoint_layout=x.dist).adjoint(y)
    assert back.dist == x.dist and check_dot(operator, x) != 0
    np.testing.assert_array_equal(back.numpy(), x.numpy())
    assert operator.adjoint == pt.collective.repartition(b, a)
    np.testing.assert_array_equal(pt.collective.gather(b, 2)(y).numpy(), x.numpy())


def two_to_three(on):
    all_ = world(on, 3)
    a, b = grid(all_, [0, 1], (2, 1)), grid(all_, [2, 1, 0], (3, 1))
    return a, pt.collective.repartition(a, b)


PAIRS = """
everyone = pt.Partition(pt.Team(3))
a, b = everyone.inclusive([0, 1]).cartesian((2, 1)), everyone.inclusive([2, 1, 0]).cartesian((3, 1))
operator = pt.collective.repartition(a, b)
for dtype in ("float32", "float64", "int16"):
    x = pt.asarray(np.arange(30).reshape(6, 5).astype(dtype), dist=pt.Distribution((6, 5), team=a.team, grid=(2, 1))).eval()
    operator(x).eval()
    # 1 keeps row 3: 0 -> 2, 0 -> 1 and 1 -> 0 are sent.
    before = x.team.messages
    y = operator(x).eval()
    assert x.team.messages - before == 3, x.team.messages - before
    got = [np.from_dlpack(part).tolist() for part in y.parts]
    start = {2: 0, 1: 2, 0: 4}[everyone.rank]
    assert got == [np.arange(30).reshape(6, 5)[start : start + 2].tolist()]
print("checked")
"""


@pytest.mark.requirement("C31")
def test_what_stays_is_no_message():
    assert ranks.run(3, PAIRS).count("checked") == 3


@pytest.mark.requirement("C31")
def test_records_are_counted_by_pairs_of_members(on):
    a, operator = two_to_three(on)
    for dtype, size in (("float32", 4), ("float64", 8), ("int16", 2)):
        x = numbers(a, (6, 5), dtype=dtype)
        text = operator.explain(x)
        assert links(text) == [(0, 0, 10 * size), (0, 1, 5 * size), (1, 1, 5 * size), (1, 2, 10 * size)]
        # Member 1 is the target's second, too: this link stays where it is, and is counted apart.
        assert f"3 moves, {25 * size} bytes between parts, 1 moves, {5 * size} bytes within parts" in text


@pytest.mark.requirement("C32")
def test_buffers_are_kept_from_call_to_call(on):
    a, operator = two_to_three(on)
    device = a.team.devices[0]

    def used(rows, dtype="float32"):
        x = numbers(a, (rows, 5), seed=rows, dtype=dtype)
        np.testing.assert_array_equal(operator(x).numpy(), x.numpy())
        device.wait()
        return device.memory["in_use_bytes"] + device.memory["cached_bytes"]

    first = [used(6000) for _ in range(3)][-1]
    assert [used(6000) for _ in range(5)] == [first] * 5 and used(7000) >= first and used(6000) >= first
    # Another type is twice as large, and is kept, too; the first one's results are what they were.
    wide = [used(6000, "float64") for _ in range(3)][-1]
    assert [used(6000, "float64") for _ in range(3)] == [wide] * 3 and [used(6000, "int32"), used(6000)]


def halos(on, **words):
    line = world(on, 6)
    over_ = grid(line, [5, 3, 1, 0, 2, 4], (3, 2))
    dist = pt.Distribution((9, 8), team=over_.team, grid=(3, 2), halo=((1, 2), (2, 1)), **words)
    return over_, dist


def cells(dist):
    """For each cell of the padded layout: the value of the cell that it stands for, and whether its part owns that."""
    padded = dist.padded()
    values, own = np.zeros(padded.shape, np.float32), np.zeros(padded.shape, bool)
    for part in range(dist.num_parts):
        box = tuple(slice(*one) for one in padded.owned(part))
        for at in np.ndindex(tuple(one.stop - one.start for one in box)):
            place = tuple(i + one.start for i, one in zip(at, box, strict=True))
            i, j = dist.to_global(part, at)
            values[place], own[place] = 10 * i + j, dist.owner((i, j)) == part and dist.to_local((i, j)) == (part, at)
    return padded, values, own


@pytest.mark.requirement("C36", "C38")
def test_halos_are_filled_with_corners_and_given_back(on):
    for periodic in ((False, False), (True, False), (True, True)):
        over_, dist = halos(on, periodic=periodic)
        padded, values, own = cells(dist)
        operator = pt.collective.halo_exchange(over_, dist)
        x = pt.asarray(np.where(own, values, -1).astype(np.float32), dist=padded)
        assert (~own).sum() > 90 and not (x.numpy() == values).all()
        np.testing.assert_array_equal(operator(x).numpy(), values)
        # Back: each owner gets what all copies hold, and copies are zero.
        y = numbers(over_, padded.shape)
        y = pt.asarray(y.numpy(), dist=padded)
        expected = np.zeros(padded.shape, np.float32)
        for value in np.unique(values):
            expected[(values == value) & own] = y.numpy()[values == value].sum()
        np.testing.assert_array_equal(operator.adjoint(y).numpy(), expected)
        assert check_dot(operator, x) != 0


@pytest.mark.requirement("C37")
def test_sides_without_neighbours_stay_as_they_are(on):
    over_ = world(on, 3).inclusive([1, 0, 2])
    dist = pt.Distribution(9, team=over_.team, halo=1)
    x = pt.asarray(np.array([0, 1, 2, -1, -1, 3, 4, 5, -1, -1, 6, 7, 8], np.float32), dist=dist.padded())
    assert pt.collective.halo_exchange(over_, dist)(x).tolist() == [0, 1, 2, 3, 2, 3, 4, 5, 6, 5, 6, 7, 8]
    one = world(on, 4).inclusive([2])
    alone = pt.Distribution(4, team=one.team, halo=((2, 1),))
    x = pt.asarray(np.arange(float(alone.padded().shape[0]), dtype=np.float32) + 5, dist=alone.padded())
    for operator in (pt.collective.halo_exchange(one, alone), pt.collective.halo_exchange(one, alone).adjoint):
        assert operator(x).tolist() == x.tolist()


def operators(on):
    """Every operator, on partitions apart, overlapping and equal, and what it is applied to."""
    all_ = world(on, 9)
    big = grid(all_, [7, 3, 5, 0, 2, 6, 1, 4], (2, 2, 2))
    for small in (grid(all_, [8, 6], (1, 2, 1)), grid(all_, [5], (1, 1, 1)), big):
        yield pt.collective.broadcast(small, big), small, tuple(3 * n for n in small.shape)
        yield pt.collective.sum_reduce(big, small), big, (4, 6, 2)
        yield pt.collective.repartition(small, big), small, (4, 6, 5)
    for axes in ((), (0,), (1, 2), (0, 1, 2)):
        yield pt.collective.all_sum_reduce(big, axes), big, (4, 6, 2)
        yield pt.collective.allgather(big, axes), big, (4, 5, 3)
    yield pt.collective.gather(big, 5), big, (3, 4, 5)
    yield pt.collective.scatter(big, 5), big.inclusive([5]).cartesian((1, 1, 1)), (3, 4, 5)


@pytest.mark.requirement("C39")
def test_every_operator_passes_the_dot_test(on):
    for dtype in ("float32", "float64"):
        dots = [check_dot(operator, numbers(source, shape, dtype=dtype)) for operator, source, shape in operators(on)]
        over_, dist = halos(on, periodic=(True, False))
        x = pt.asarray(numbers(over_, dist.padded().shape, dtype=dtype).numpy(), dist=dist.padded())
        assert len(dots) == 19 and sum(map(bool, dots)) > 15 and check_dot(pt.collective.halo_exchange(over_, dist), x) != 0


@pytest.mark.requirement("C40")
def test_devices_give_the_hosts_results(on):
    """Every operator and its adjoint, over devices of two kinds where there are two."""
    mixed = [*on(1).devices, *pt.devices()[:1]]
    teams = [lambda n: pt.Team(n, "host"), on, lambda n: pt.Team(n, [mixed[k % 2] for k in range(n)])]
    results = []
    for team in teams:
        made = []
        for operator, source, shape in operators(team):
            y = operator(numbers(source, shape))
            back = operator.adjoint(y)
            assert [part.device for part in y.parts] == y.team.devices and [part.device for part in back.parts] == back.team.devices
            made += [y.tolist(), back.tolist()]
        results.append(made)
    assert results[0] == results[1] == results[2]


@pytest.mark.requirement("C40")
def test_torch_goes_back_through_every_operator():
    torch = pytest.importorskip("torch")
    import partita.torch as operators_

    all_ = pt.Partition(pt.Team(4, "host"))
    square = all_.cartesian((2, 2))
    for operator, shapes in (
        (operators_.broadcast(all_.inclusive([2]), all_), [(3,)]), (operators_.sum_reduce(all_, all_.inclusive([1])), [(3,)] * 4),
        (operators_.all_sum_reduce(square, 1), [(2, 3), (2, 3), (1, 3), (1, 3)]), (operators_.gather(square, 3), [(2, 1), (2, 2), (1, 1), (1, 2)]),
        (operators_.repartition(all_.inclusive([3, 1]), all_), [(4, 2), (2, 2)]),
        (operators_.allgather(square, 0), [(2, 3), (2, 3), (1, 3), (1, 3)]), (operators_.scatter(square, 3), [(3, 3)]),
        (operators_.halo_exchange(all_, pt.Distribution(8, team=all_.team, halo=1)), [(3,), (4,), (4,), (3,)]),
    ):  # fmt: skip
        blocks = [torch.rand(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
        assert torch.autograd.gradcheck(operator, blocks, raise_exception=False), operator
    weight = torch.tensor([1.0, 2.0], requires_grad=True)
    copies = operators_.broadcast(all_.inclusive([0]), all_)(weight)
    sum(((rank + 1) * copy).sum() for rank, copy in enumerate(copies)).backward()
    assert weight.grad.tolist() == [10, 10]
