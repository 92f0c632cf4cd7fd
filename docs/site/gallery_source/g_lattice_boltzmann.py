"""
Flow past a cylinder by lattice Boltzmann
=========================================

D2Q9 on four parts: nine arrays stream to their neighbours, collide, and bounce back from the cylinder.
"""

import matplotlib.pyplot as plt
import numpy as np
import partita as pt

rows, columns, inflow, viscosity = 80, 240, 0.08, 0.02
omega = 1 / (3 * viscosity + 0.5)
directions = [(0, 0), (0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (1, -1), (-1, -1), (-1, 1)]
weights = [4 / 9] + [1 / 9] * 4 + [1 / 36] * 4
opposite = [directions.index((-dy, -dx)) for dy, dx in directions]

dist = pt.Distribution((rows, columns), team=pt.Team(4), grid=(2, 2), periodic=True)
y, x = np.mgrid[:rows, :columns]
solid = pt.asarray((x - 50) ** 2 + (y - rows / 2 + 3) ** 2 < 81, dist=dist)
edge = pt.asarray((x == 0) | (x == columns - 1), dist=dist)


def equilibrium(density, uy, ux):
    squares = 1.5 * (uy * uy + ux * ux)
    along = [dy * uy + dx * ux for dy, dx in directions]
    return [w * density * (1 + 3 * a + 4.5 * a * a - squares) for w, a in zip(weights, along)]


def moments(f):
    density = sum(f[1:], f[0])
    uy = sum(dy * g for (dy, _), g in zip(directions, f) if dy) / density
    ux = sum(dx * g for (_, dx), g in zip(directions, f) if dx) / density
    return density, uy, ux


one = pt.ones((rows, columns), dtype=pt.float64, dist=dist)
start = [g.copy() for g in equilibrium(one, 0 * one, inflow * one)]


def step(*f):
    f = [pt.roll(g, d, (0, 1)) for g, d in zip(f, directions)]
    rest = equilibrium(*moments(f))
    moved = [g + omega * (e - g) for g, e in zip(f, rest)]
    steady = equilibrium(1.0, 0.0, inflow)
    bounced = [pt.where(solid, f[back], g) for back, g in zip(opposite, moved)]
    return [pt.where(edge, value, g) for value, g in zip(steady, bounced)]


f = start
pt.Loop(step).run(*f, steps=3000)
density, uy, ux = (a.numpy() for a in moments(f))

speed = np.where(solid.numpy(), np.nan, np.hypot(uy, ux))
plt.figure(figsize=(9, 3.2), layout="constrained")
plt.imshow(speed, cmap="viridis")
plt.colorbar(label="speed")
plt.axis("off")
plt.show()
