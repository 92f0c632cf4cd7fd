"""Partitions of the members of several processes, of which some take no part; replicated arrays, boxes on request, operators that are
started, and sums in place between processes: run by ``test_launch.py`` and ``test_mpi.py``. Whatever fails raises, which ends the job."""

import os

import numpy as np
import partita as pt

team = pt.Team(devices="host")
world, rank, ranks = pt.Partition(team), team.rank, team.ranks
assert (world.size, world.rank, world.index, world.active) == (ranks, rank, (rank,), True) and team.size == ranks


def refused(operation, text, *kinds):
    try:
        operation()
    except (kinds or ValueError) as error:
        assert text in str(error), error
        return
    raise AssertionError("not refused")


# Small data: from anyone, of any kind, to all.
assert world.allgather_data([{"rank": rank, "data": np.arange(rank)}])[ranks - 1]["data"].tolist() == list(range(ranks - 1))
for root in range(ranks):
    value = world.broadcast_data(("from", root, np.full(3, root)) if rank == root else None, root)
    assert value[:2] == ("from", root) and value[2].tolist() == [root] * 3

# Those that have no member know so at once, and nobody waits for them.
some = world.inclusive([ranks - 1, 0])
if some.active:
    assert rank in (0, ranks - 1) and some.rank == (0 if rank else 1) and some.size == 2 and some.neighbor_ranks() == (((None, 1), (0, None))[some.rank],)
    assert some.allgather_data([rank * 10]) == [(ranks - 1) * 10, 0]
    assert some.broadcast_data(rank, 1) == 0
    # A part of it knows; the others of it learn.
    assert some.broadcast_data("root" if rank else None, 0, world.inclusive([ranks - 1])) == "root"
else:
    for operation in (lambda: some.rank, lambda: some.index, some.neighbor_ranks, lambda: some.sub_topology([True])):
        refused(operation, "expected a process with one member, given one with ranks []")
    refused(lambda: some.allgather_data([]), "expected a process that has a member")
    refused(lambda: some.broadcast_data(1), "expected a process that has a member")
refused(lambda: world.broadcast_data(1, ranks), "below")
assert world.allgather_data([rank]) == list(range(ranks))

# Thousands of partitions leave nothing behind; those that are used, too.
before = len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task"))
held = []
for n in range(10_000):
    held.append(world.inclusive([n % ranks, (n + 1) % ranks]))
    if n % 500 == 0 and held[-1].active:
        assert held[-1].allgather_data([n]) == [n, n]
    held = held[::-2] if n % 11 == 0 else held
assert before == (len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task")))

# A line of members as a grid, and its rows.
grid = world.cartesian((1, ranks))
assert grid.index == (0, rank) and grid.neighbor_ranks(periodic=(True, True))[1] == ((rank - 1) % ranks, (rank + 1) % ranks)
column = grid.sub_topology((True, False))
assert column.members == (rank,) and column.rank == 0 and column.allgather_data([rank]) == [rank]

# A look-up table at each process: reads send nothing, a write goes to all.
table = pt.asarray(np.arange(4.0), dist=pt.Distribution(4, team=team, dims=[pt.Replicated()]))
x = pt.asarray(np.ones((2 * ranks, 4)), team=team).eval()
table[1] = 7
sent = team.messages
(x * table).eval()
assert team.messages == sent and np.from_dlpack(table.parts[0]).tolist() == [0, 7, 2, 3]
assert (x * table).sum().item() == 2 * ranks * 12
described = table.__partitioned__
(entry,) = described["partitions"].values()
assert len({pid for _, pid, _ in entry["location"]}) == ranks and entry["data"].tolist() == [0, 7, 2, 3] and described["locals"] == [(0,)]
assert pt.validate_partitioned(described) == (True, "")
np.testing.assert_array_equal(pt.from_distarray(table, team=team).numpy(), [0, 7, 2, 3])

# Each process asks for a box of its own.
u = pt.arange(4 * ranks, dtype=pt.float64, team=team)
mine = (max(4 * rank - 1, 0), 4 * rank + 4) if rank % 2 == 0 else (0, 1)
(got,) = u.request([[mine]])
assert got.part == rank and got.numpy().tolist() == list(range(*mine)) and got.offset == (mine[0],)
if rank % 2 == 0:
    own = next(section.memory for section in got.sections if section.start == (4 * rank,) and section.memory is not None)
    assert np.from_dlpack(own).ctypes.data == np.from_dlpack(u.parts[0]).ctypes.data
else:
    u.parts
assert len(world.allgather_data([team.messages])) == ranks and len(set(world.allgather_data([team.messages]))) == 1

# A request that is started: others, and work, before its end; what is assigned meanwhile does not change it.
v = pt.arange(4 * ranks, dtype=pt.float64, team=team) + 0
pending = v.start_request([[(0, 4 * ranks)]])
doubled, another = (v * 2).eval(), v.start_request([mine_of_two := [(4 * rank, 4 * rank + 2)]])
v[:] = -1
assert float(doubled.sum()) == 4 * ranks * (4 * ranks - 1)
assert another.finish()[0].numpy().tolist() == list(range(*mine_of_two[0])) and pending.finish()[0].numpy().tolist() == list(range(4 * ranks))
v.start_request([[(0, 4 * ranks)]])
assert v.request([[(0, 4 * ranks)]])[0].numpy().tolist() == [-1] * 4 * ranks

# Work between start and finish; others meanwhile.
everyone = pt.collective.all_sum_reduce(world, 0)
first, second = everyone.start(u), pt.collective.gather(world, 0).start(u)
y = (u * 2).eval()
total = u.numpy().reshape(ranks, 4).sum(axis=0)
np.testing.assert_array_equal(first.finish().numpy(), np.tile(total, ranks))
np.testing.assert_array_equal(second.finish().numpy(), u.numpy())
assert float(y.sum()) == 2 * u.numpy().sum()

# The sum is where the array was.
del first, second, got
if rank % 2 == 0:
    del own
address = np.from_dlpack(u.parts[0]).ctypes.data
pt.collective.all_reduce_(u)
assert np.from_dlpack(u.parts[0]).ctypes.data == address
np.testing.assert_array_equal(u.numpy(), np.tile(total, ranks))
assert u.resized(2).numpy().tolist() == total[:2].tolist()
if rank == 0:
    print(f"ok: partitions on {ranks} ranks")
