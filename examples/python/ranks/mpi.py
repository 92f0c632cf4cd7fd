"""The same program in one process and in many: python mpi.py, or mpiexec -n 3 python mpi.py.

Every process holds some parts and computes on them; what it reads of the whole array is the same everywhere.
"""

import numpy as np
import partita as pt

team = pt.Team(parts=6)
dist = pt.Distribution((120, 90), team=team, grid=(3, 2), halo=1, periodic=True)
u = pt.zeros(dist.shape, dtype=pt.float32, dist=dist)
u[40:80, 30:60] = 1

# Every process counts in the memory of its own parts; an operator sums what all members have.
warm = [np.array([float((np.from_dlpack(p) > 0).sum())]) for p in u.parts]
counts = pt.from_parts(warm, pt.Distribution(team.size, team=team))
total = pt.collective.all_sum_reduce(pt.Partition(team), 0)
assert (total(counts).numpy() == 40 * 30).all()


def step(u):
    u[:] = u + 0.1 * (u.roll(1, 0) + u.roll(-1, 0) + u.roll(1, 1) + u.roll(-1, 1) - 4 * u)


pt.Loop(step).run(u, steps=100)
heat = float(u.sum())
assert abs(heat - 1200) < 0.05, heat
if team.rank == 0:
    print(f"ok: {team.ranks} processes with {team.size} parts; heat {heat:.2f} after 100 steps")
