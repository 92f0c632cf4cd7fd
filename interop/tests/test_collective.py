"""Operators between partitions: what they give, and that <F(x), y> == <x, F.adjoint(y)>."""

import numpy as np
import partita as pt
import pytest
from partita._api import collective as _local


def world():
    return pt.Partition(pt.Team(6, "host"))


def halo():
    over = world().cartesian((2, 3))
    dist = pt.Distribution((8, 9), team=over.team, grid=(2, 3), halo=((1, 2), (1, 1)), periodic=(True, False))
    return pt.collective.halo_exchange(over, dist), dist.padded()


def uneven(grid_of, *bounds):
    shape = tuple(b[-1] for b in bounds)
    return pt.Distribution(shape, team=grid_of.team, grid=grid_of.shape, dims=[pt.Block(b) for b in bounds])


def case(name):
    """An operator and the distribution of what it is applied to."""
    all_ = world()
    grid, column, one = all_.cartesian((2, 3)), all_.inclusive([4, 1]).cartesian((2, 1)), all_.inclusive([3]).cartesian((1, 1))
    match name:
        case "broadcast":
            return pt.collective.broadcast(column, grid), uneven(column, [0, 3, 7], [0, 5])
        case "sum_reduce":
            return pt.collective.sum_reduce(grid, column), uneven(grid, [0, 3, 7], [0, 4, 8, 12])
        case "all_sum_reduce":
            return pt.collective.all_sum_reduce(grid, 1), uneven(grid, [0, 3, 7], [0, 4, 8, 12])
        case "all_sum_reduce of all":
            return pt.collective.all_sum_reduce(grid, (0, 1)), uneven(grid, [0, 3, 6], [0, 4, 8, 12])
        case "halo_exchange":
            return halo()
        case "repartition":
            return pt.collective.repartition(column, grid), uneven(column, [0, 2, 8], [0, 9])
        case "repartition of lists":
            lists = pt.Unstructured([[7, 0, 3], [1, 2, 4, 5, 6]])
            return pt.collective.repartition(column, grid), pt.Distribution(
                (8, 9), team=column.team, grid=(2, 1), dims=[lists, None]
            )
        case "gather":
            return pt.collective.gather(grid, 5), uneven(grid, [0, 3, 8], [0, 4, 4, 9])
        case "scatter":
            return pt.collective.scatter(grid, 3), uneven(one, [0, 8], [0, 9])
        case "allgather":
            return pt.collective.allgather(grid, 1), uneven(grid, [0, 3, 8], [0, 4, 5, 9])


NAMES = [
    "broadcast", "sum_reduce", "all_sum_reduce", "all_sum_reduce of all", "halo_exchange", "repartition", "repartition of lists",
    "gather", "scatter", "allgather",
]  # fmt: skip


def numbers(seed, dist, dtype):
    values = np.random.default_rng(seed).standard_normal(dist.shape).astype(dtype)
    return pt.asarray(values, dist=dist), values.astype(np.float64)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", NAMES)
def test_the_adjoint_is_the_transpose(name, dtype):
    operator, dist = case(name)
    x, x_host = numbers(1, dist, dtype)
    made = operator(x)
    assert made.dtype.name == dtype and made.team == operator.target.team
    y, y_host = numbers(2, made.dist, dtype)
    back = operator.adjoint(y)
    assert back.shape == x.shape and back.team == x.team
    forward, backward = (made.numpy() * y_host).sum(), (x_host * back.numpy()).sum()
    tolerance = 1e-5 if dtype == "float32" else 1e-13
    assert abs(forward - backward) < tolerance * np.abs(made.numpy() * y_host).sum()
    assert abs(forward) > 0.01, "a dot product near 0 tells nothing"
    assert operator.adjoint.adjoint == operator and operator.adjoint.source == operator.target


def test_broadcast_and_sums():
    all_ = world()
    root, line = all_.inclusive([2]), all_.cartesian((6,))
    x = pt.asarray(np.array([1.0, 2.0]), team=root.team)
    copies = pt.collective.broadcast(root, line)
    np.testing.assert_array_equal(copies(x).numpy(), [1, 2] * 6)
    y = pt.arange(12, dtype=pt.float64, team=line.team)
    np.testing.assert_array_equal(copies.adjoint(y).numpy(), [30, 36])
    np.testing.assert_array_equal(pt.collective.sum_reduce(line, root)(y).numpy(), [30, 36])
    np.testing.assert_array_equal(pt.collective.all_sum_reduce(line, 0)(y).numpy(), [30, 36] * 6)


def test_on_every_device(team):
    line = pt.Partition(team)
    root = line.inclusive([len(line) - 1])
    host = np.arange(3, dtype=np.float32)
    copies = pt.collective.broadcast(root, line)(pt.asarray(host, team=root.team))
    np.testing.assert_array_equal(copies.numpy(), np.tile(host, len(line)))
    np.testing.assert_array_equal(pt.collective.sum_reduce(line, root)(copies).numpy(), len(line) * host)
    np.testing.assert_array_equal(pt.collective.all_sum_reduce(line, 0)(copies).numpy(), np.tile(len(line) * host, len(line)))
    np.testing.assert_array_equal(pt.collective.allgather(line, 0)(copies).numpy(), np.tile(copies.numpy(), len(line)))
    np.testing.assert_array_equal(pt.collective.gather(line, 0)(copies).numpy(), copies.numpy())
    halo = pt.Distribution(12, team=team, halo=1, periodic=True)
    u = pt.ones(halo.padded().shape, dtype=pt.float32, dist=halo.padded())
    assert float(pt.collective.halo_exchange(line, halo).adjoint(u).sum()) == u.size


def test_halos_come_from_their_owners():
    over = world().inclusive([1, 0, 4])
    dist = pt.Distribution(9, team=over.team, halo=1)
    u = pt.asarray(np.array([0, 1, 2, -1, -1, 3, 4, 5, -1, -1, 6, 7, 8.0]), dist=dist.padded())
    exchange = pt.collective.halo_exchange(over, dist)
    np.testing.assert_array_equal(exchange(u).numpy(), [0, 1, 2, 3, 2, 3, 4, 5, 6, 5, 6, 7, 8])
    ones = pt.ones(13, dtype=pt.float64, dist=dist.padded())
    np.testing.assert_array_equal(exchange.adjoint(ones).numpy(), [1, 1, 2, 0, 0, 2, 1, 2, 0, 0, 2, 1, 1])


def test_arrays_travel_whole():
    grid = world().cartesian((2, 3))
    host = np.arange(42.0).reshape(6, 7)
    u = pt.asarray(host, dist=pt.Distribution(host.shape, team=grid.team, grid=(2, 3)))
    collected = pt.collective.gather(grid, 4)(u)
    assert collected.team == grid.inclusive([4]).team and collected.dist.num_parts == 1
    np.testing.assert_array_equal(collected.numpy(), host)
    layout = pt.Distribution(host.shape, team=grid.team, grid=(2, 3), dims=[None, pt.Cyclic(1)])
    dealt = pt.collective.scatter(grid, 4, layout=layout)(collected)
    assert dealt.dist.kinds[1] == "cyclic"
    np.testing.assert_array_equal(dealt.numpy(), host)
    np.testing.assert_array_equal(pt.collective.allgather(grid, (1,))(u).numpy(), np.tile(host, 3))
    line = world()
    moved = pt.collective.repartition(grid, line, layout=pt.Distribution(host.shape, team=line.team, grid=(1, 6)))(u)
    assert moved.dist.grid == (1, 6)
    np.testing.assert_array_equal(moved.numpy(), host)


def test_partitions():
    all_ = world()
    a, b = all_.inclusive([4, 1]), all_.inclusive([0, 1, 5]).cartesian((3, 1))
    assert a.union(b).members == (4, 1, 0, 5) and len(a) == 2 and b.shape == (3, 1)
    assert all_.team == pt.Team(6, "host") and a.team.size == 2
    assert pt.Partition(all_.team, (2, 3)) == all_.cartesian((2, 3)) != all_
    assert hash(all_.inclusive([1, 2])) == hash(all_.inclusive([1, 2]))
    assert repr(b) == "<partita.Partition of members [0, 1, 5] in grid (3, 1)>"
    copies = pt.collective.broadcast(all_.inclusive([0]), all_)
    assert repr(copies.adjoint) == "<partita.Collective sum_reduce from grid (6) to grid (1)>"


def test_explain_names_the_messages():
    all_ = world()
    x = pt.ones(4, dtype=pt.float32, team=all_.inclusive([0]).team)
    text = pt.collective.broadcast(all_.inclusive([0]), all_).explain(x)
    assert text.startswith("1 parts to 6: 5 moves, 80 bytes between parts, 1 moves, 16 bytes within parts")


def test_blocks_of_others_stand_in_for_arrays():
    """What partita.torch does, with NumPy in torch's place."""
    operator, dist = case("allgather")
    x, host = numbers(3, dist, "float32")
    blocks = [np.array(np.from_dlpack(p)) for p in x.parts]
    made, layout = _local.apply(operator, blocks, None)
    for block, p in zip(made, operator(x).parts, strict=True):
        np.testing.assert_array_equal(np.from_dlpack(block), np.from_dlpack(p))
    assert layout == x.dist
    back, _ = _local.apply(operator.adjoint, [np.from_dlpack(block) for block in made], layout)
    assert [block.shape for block in back] == [block.shape for block in blocks]
    np.testing.assert_allclose(np.from_dlpack(back[0]), 3 * blocks[0], rtol=1e-6)


REFUSED = [
    (lambda p: pt.Partition(3), TypeError, "Team"),
    (lambda p: pt.Partition(p.team, (4,)), ValueError, "grid of 6 members"),
    (lambda p: p.inclusive([6]), ValueError, "below 6"),
    (lambda p: p.inclusive([-1]), ValueError, "from 0"),
    (lambda p: p.inclusive([1, 1]), ValueError, "different ranks"),
    (lambda p: p.cartesian((5,)), ValueError, "product of the grid"),
    (lambda p: p.union(pt.Partition(pt.Team(3, "host"))), ValueError, "one world"),
    (lambda p: pt.collective.broadcast(p.team, p), TypeError, "partita.Partition(team)"),
    (lambda p: pt.collective.broadcast(p, p.cartesian((2, 3))), ValueError, "another grid"),
    (lambda p: pt.collective.sum_reduce(p, None), TypeError, "given NoneType"),
    (lambda p: pt.collective.all_sum_reduce(p, 1), ValueError, "below 1"),
    (lambda p: pt.collective.all_sum_reduce(p, -1), ValueError, "from 0"),
    (lambda p: pt.collective.all_sum_reduce(p, "0"), TypeError, "axis of the grid"),
    (lambda p: pt.collective.halo_exchange(p, (3,)), TypeError, "partita.Distribution"),
    (lambda p: pt.collective.halo_exchange(p, pt.Distribution(4, team=pt.Team(2, "host"))), ValueError, "for the partition"),
    (lambda p: pt.Distribution(9, team=p.team, dims=[pt.Cyclic(1)]).padded(), NotImplementedError, "redistribute first"),
    (lambda p: pt.collective.gather(p, 6), ValueError, "below 6"),
    (lambda p: pt.collective.gather(p, 1.5), TypeError, "rank of a member"),
    (lambda p: pt.collective.scatter(p, -2), ValueError, "from 0"),
    (lambda p: pt.collective.allgather(p, 0)(np.zeros(6)), TypeError, "partita.asarray"),
    (lambda p: pt.collective.allgather(p, 0)(pt.sum(pt.ones(6, team=p.team))), ValueError, "at least one dimension"),
    (lambda p: pt.collective.gather(p, 0)(pt.ones(6, team=pt.Team(2, "host"))), ValueError, "the partition's team"),
    (lambda p: pt.collective.all_sum_reduce(p, 0)(pt.ones(7, team=p.team)), ValueError, "repartition the array evenly"),
    (lambda p: pt.collective.repartition(p, p, layout=pt.Distribution(7, team=pt.Team(2, "host")))(pt.ones(7, team=p.team)), ValueError,
     "over the partition"),
    (lambda p: _local.apply(pt.collective.allgather(p, 0), [np.zeros(2)] * 5, None), ValueError, "6 blocks"),
    (lambda p: _local.apply(pt.collective.all_sum_reduce(p.cartesian((2, 3)), 0), [np.zeros(2)] * 6, None), ValueError, "2 dimensions"),
    (lambda p: _local.apply(pt.collective.gather(p.cartesian((2, 3)), 0), [np.zeros((n, 1)) for n in range(6)], None), ValueError, "side by side"),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(REFUSED)))
def test_misuse(number):
    misuse, expected, text = REFUSED[number]
    with pytest.raises(expected) as raised:
        misuse(world())
    assert text in str(raised.value), str(raised.value)


def test_read_only_arrays_are_not_reduced_in_place():
    u = pt.ones(6, team=pt.Team(3, "host"))
    u.flags.writeable = False
    for one in (u, u[...]):
        with pytest.raises(ValueError, match="read-only"):
            pt.collective.all_reduce_(one)
    assert u.tolist() == [1] * 6
