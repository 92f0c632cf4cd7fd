"""
Gray-Scott: spots that divide
=============================

Two substances react and diffuse on a periodic square, over four parts.
"""

import matplotlib.pyplot as plt
import numpy as np
import partita as pt

n = 192
dist = pt.Distribution((n, n), team=pt.Team(4), grid=(2, 2), periodic=True)
u = pt.ones((n, n), dtype=pt.float32, dist=dist)
v = pt.zeros((n, n), dtype=pt.float32, dist=dist)
rng = np.random.default_rng(1)
for row, column in rng.integers(10, n - 10, (12, 2)).tolist():
    u[row : row + 8, column : column + 8] = 0.5
    v[row : row + 8, column : column + 8] = 0.25


def laplacian(a):
    return pt.roll(a, 1, 0) + pt.roll(a, -1, 0) + pt.roll(a, 1, 1) + pt.roll(a, -1, 1) - 4 * a


def step(u, v):
    reaction = u * v * v
    du = 0.16 * laplacian(u) - reaction + 0.035 * (1 - u)
    dv = 0.08 * laplacian(v) + reaction - 0.1 * v
    return u + du, v + dv


pt.Loop(step).run(u, v, steps=4000)

plt.imshow(v.numpy(), cmap="magma")
plt.axis("off")
plt.show()
