"""Teams over communicators of mpi4py, which initialises MPI before us (``first``) or after (``last``)."""

import sys

import partita as pt

if sys.argv[1] == "last":
    assert pt.Team(devices="host").ranks > 1
from mpi4py import MPI  # noqa: E402

comm = MPI.COMM_WORLD
world = pt.Team(3, "host", comm=comm)
assert world == pt.Team(3, "host") and world.ranks == comm.size and world.rank == comm.rank
duplicate = comm.Dup()
assert pt.Team(3, "host", comm=duplicate) != world
duplicate.Free()
assert float(pt.ones(9, team=world).sum()) == 9

# Every second rank by itself, at the same time as the others, in another order than in the world.
color = comm.rank % 2
half = comm.Split(color, key=-comm.rank)
team = pt.Team(devices="host", comm=half)
half.Free()
members = [rank for rank in reversed(range(comm.size)) if rank % 2 == color]
assert (team.rank, team.ranks, team.size) == (members.index(comm.rank), len(members), len(members))
x = pt.arange(10 * (color + 1), team=team)
for _ in range(3 + color):
    x = x + x.sum() * 0 + 1
assert float(x.sum()) == sum(range(10 * (color + 1))) + 10 * (color + 1) * (3 + color)

alone = pt.Team(2, "host", comm=MPI.COMM_SELF)
assert (alone.ranks, alone.size, float(pt.ones(4, team=alone).sum())) == (1, 2, 4)
for wrong in (MPI.COMM_NULL, 7, MPI.GROUP_EMPTY):
    try:
        pt.Team(comm=wrong)
    except TypeError as error:
        assert "communicator of mpi4py" in str(error)
    else:
        raise AssertionError(wrong)
comm.Barrier()
if comm.rank == 0:
    print(f"ok: communicators on {comm.size} ranks")
