"""Programs over all ranks of a job, each compared with the same program in one process: run by ``test_mpi.py`` under
``mpiexec``. Whatever fails raises, which ends the job. The last line counts what ran."""

import os
import pickle
import sys

import numpy as np
import partita as pt
from partita._api import collective as _local

HOST = np.arange(70, dtype=np.float32).reshape(10, 7)


def heat(team):
    dist = pt.Distribution((20, 30), team=team, halo=1)
    u = pt.zeros(dist.shape, dtype=pt.float32, dist=dist)
    u[0, :] = 100

    def step(u):
        u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])

    pt.Loop(step).run(u, steps=40)
    return u.numpy(), float(u.max())


def layouts(team):
    u = pt.asarray(HOST, dist=pt.Distribution((10, 7), team=team, dims=[pt.Cyclic(2), None]))
    v = u.redistribute(pt.Distribution((10, 7), team=team, grid=(1, team.size), halo=1))
    return (u + v).numpy(), (v[::2, ::-1] * 2).numpy(), u.sum(axis=0).numpy(), v.reshape(7, 10).T.numpy()


def indices(team):
    u = pt.asarray(HOST, team=team)
    u[u > 60] = -1
    u[[1, 8], 3:5] = 7
    return u.numpy(), u[[5, 2, 9]].numpy(), pt.concatenate([u[:3], u[7:]]).numpy(), int(u.argmax()), float(u[3, 4])


def numbers(team):
    rng = pt.random.default_rng(7)
    x = rng.normal(size=(9, 5), team=team)
    return x.numpy(), (x @ pt.ones(5, team=team)).numpy(), x.tolist()


def shown(team):
    u = pt.asarray(HOST, team=team)
    dealt = pt.asarray(HOST, dist=pt.Distribution((10, 7), team=team, dims=[pt.Cyclic(2), None]))
    for one in (u, dealt, u.sum()):
        again = pickle.loads(pickle.dumps(one))
        assert again.team == team and again.shape == one.shape
        assert one.ndim == 0 or again.dist == one.dist
        assert same(again.numpy(), one.numpy())
    # Local: a process says which parts it has, and reads none of them.
    assert (" here" in repr(u)) == (u.team.ranks > 1) == ("[" not in repr(u)), repr(u)
    assert str(u) == str(u.numpy())
    # One process shows the elements, several do not.
    return str(u.numpy()), pickle.loads(pickle.dumps(u)).numpy()


def collectives(team):
    """<F x, y> == <x, F* y>, and the results themselves."""
    world = pt.Partition(team)
    some = world.inclusive([team.size - 1, 0]) if team.size > 1 else world
    results = []
    for operator in (
        pt.collective.broadcast(world.inclusive([0]), world), pt.collective.sum_reduce(world, world.inclusive([team.size - 1])),
        pt.collective.all_sum_reduce(world, 0), pt.collective.repartition(some, world), pt.collective.gather(world, 0), pt.collective.scatter(world, 0), pt.collective.allgather(world, 0),
    ):  # fmt: skip
        x = pt.arange(4 * team.size, dtype=pt.float64, team=operator.source.team) + 1
        fx = operator(x)
        y = fx * 2 + 1
        back = operator.adjoint(y)
        assert float((fx * y).sum()) == float((x * back).sum()), operator
        results += [fx.numpy(), back.numpy()]
    return results


PROGRAMS = [heat, layouts, indices, numbers, shown, collectives]


def protocols(team):
    """Each process says what it has, and receives the same."""
    for dist in (pt.Distribution((10, 7), team=team, halo=1), pt.Distribution((10, 7), team=team, dims=[pt.Cyclic(2), None])):
        u = pt.asarray(HOST, dist=dist)
        parts = u.parts
        assert [p.index for p in parts] == team.local_members == [m for m in range(team.size) if m * team.ranks // team.size == team.rank]
        # Describing and reading local parts is a local operation: if it were collective, this would wait until its deadline.
        if team.rank == 0:
            for p in parts:
                assert pt.validate_distarray(p.__distarray__())[0] and np.from_dlpack(p.stored).shape == p.stored.shape
        np.testing.assert_array_equal(pt.from_distarray(parts, team=team).numpy(), HOST)
        if team.size == team.ranks:
            described = u.__distarray__()
            assert described["dim_data"][0]["proc_grid_rank"] == parts[0].index and pt.validate_distarray(described)[0]
            np.testing.assert_array_equal(pt.from_distarray(u, team=team).numpy(), HOST)
        back = pt.from_parts([np.from_dlpack(p) for p in parts], dist)
        np.testing.assert_array_equal(back.numpy(), HOST)
    u = pt.asarray(HOST, team=team)
    described = u.__partitioned__
    assert pt.validate_partitioned(described) == (True, ""), pt.validate_partitioned(described)
    here = [entry["data"] is not None for entry in described["partitions"].values()]
    assert sum(here) == len(team.local_members)
    if team.ranks > 1:
        assert described["locals"] == [key for key, entry in described["partitions"].items() if entry["data"] is not None]
    pids = {entry["location"][0][1] for entry in described["partitions"].values()}
    assert len(pids) == min(team.ranks, team.size) and (os.getpid() in pids) == bool(team.local_members)
    np.testing.assert_array_equal(pt.from_partitioned(u, team=team).numpy(), HOST)
    # Without dimensions it is in one process, and comes into all.
    lone = pt.asarray(3.5, team=team)
    for back in (pt.from_distarray(lone.parts, team=team), pt.from_partitioned(lone.__partitioned__, team=team)):
        assert back.shape == () and back.team == team and back.numpy() == 3.5
    # Memory that is used where it is, also where a process has none.
    blocks = [np.full((2, 3), float(m)) for m in team.local_members]
    shared = pt.from_parts(blocks, pt.Distribution((2 * team.size, 3), team=team), copy=False)
    assert [np.from_dlpack(p).ctypes.data for p in shared.parts] == [block.ctypes.data for block in blocks]
    assert float(shared.sum()) == 6 * sum(range(team.size))


def blocks(team):
    """Operators on what the members of each process hold, in arrays of another package."""
    world = pt.Partition(team)
    for operator, shape in ((pt.collective.all_sum_reduce(world, 0), (3,)), (pt.collective.broadcast(world.inclusive([team.size - 1]), world), (2,))):
        given = [np.full(shape, m + 1.0) for m in operator.source.team.local_members]
        made, layout = _local.apply(operator, given, None)
        assert [p.index for p in made] == team.local_members and [p.shape for p in made] == [shape] * len(made)
        back, _ = _local.apply(operator.adjoint, [np.from_dlpack(p) for p in made], layout)
        assert [p.shape for p in back] == [block.shape for block in given]
        # The members of the source hold 1, 2, ... by their rank in it.
        total = sum(range(1, team.size + 1)) if shape == (3,) else 1
        assert all((np.from_dlpack(p) == total).all() for p in made)
        assert all((np.from_dlpack(p) == total * team.size).all() for p in back)


def files(team, folder):
    path = os.path.join(folder, "u.npy")
    u = pt.asarray(HOST, dist=pt.Distribution((10, 7), team=team, dims=[pt.Cyclic(2), None]))
    pt.save(path, u)
    np.testing.assert_array_equal(np.load(path), HOST)
    np.testing.assert_array_equal(pt.load(path, team=team).numpy(), HOST)
    try:
        pt.save(os.path.join(folder, "no", "folder.npy"), u)
    except FileNotFoundError:
        assert sorted(set(os.listdir(folder)) - {"state"}) == ["u.npy"]
    else:
        raise AssertionError("saved to a folder that is not there")
    state = os.path.join(folder, "state")
    pt.save_state(state, {"u": u, "parts": team.size})
    again = pt.load_state(state, {"u": pt.Distribution((10, 7), team=team, grid=(1, team.size), halo=1)})
    assert again["parts"] == team.size
    np.testing.assert_array_equal(again["u"].numpy(), HOST)


def misuse(team):
    """All ranks refuse alike, and go on."""
    u = pt.asarray(HOST, team=team)
    mixed = lambda: u + pt.zeros(HOST.shape, team=pt.Team.local(2, "host"))
    if team.ranks == 1:
        # Teams of the same ranks mix: the operand is moved.
        np.testing.assert_array_equal(mixed().numpy(), HOST)
    for wrong, error in (
        (lambda: u[10, 0], IndexError), (lambda: u + pt.zeros(3, team=team), ValueError), (lambda: float(u), TypeError),
        (lambda: pt.from_parts([], u.dist) if team.local_members else [][0], (ValueError, IndexError)),
        (lambda: u.__setitem__(0, "x"), TypeError), *([(mixed, ValueError)] if team.ranks > 1 else []),
    ):  # fmt: skip
        try:
            wrong()
        except error:
            continue
        raise AssertionError("not refused")
    assert float(u.sum()) == HOST.sum()


def same(a, b):
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(same, a, b))
    return a.shape == b.shape and a.tobytes() == b.tobytes() if isinstance(a, np.ndarray) else a == b


def main(folder):
    ran = 0
    ranks = pt.Team().ranks
    # As many members as ranks, more and fewer; few programs where many processes share the cores.
    for parts in {1: (1, 4), 2: (2, 5, 1), 3: (3, 4)}.get(ranks, (ranks,)):
        team = pt.Team(parts, "host")
        alone = pt.Team.local(team.size, "host")
        assert team.size == parts and alone.ranks == 1 and (team == alone) == (team.ranks == 1)
        for program in PROGRAMS:
            assert same(program(team), program(alone)), f"{program.__name__}: rank {team.rank} reads something else"
            ran += 1
        protocols(team)
        blocks(team)
        files(team, folder)
        misuse(team)
        ran += 4
    assert pt.zeros(3).team == pt.Team(), "the default team is over all ranks"
    if team.rank == 0:
        print(f"ok: {ran} programs on {team.ranks} ranks by {team.wire}")


main(sys.argv[1])
