"""
Life
====

Conway's game on a torus of six parts, with 8-bit integers.
"""

import matplotlib.pyplot as plt
import numpy as np
import partita as pt

cells = np.random.default_rng(3).integers(0, 2, (120, 180)).astype(np.uint8)
dist = pt.Distribution(cells.shape, team=pt.Team(6), grid=(2, 3), periodic=True)
life = pt.asarray(cells, dist=dist)


def step(life):
    rows = life + pt.roll(life, 1, 0) + pt.roll(life, -1, 0)
    count = rows + pt.roll(rows, 1, 1) + pt.roll(rows, -1, 1) - life
    return ((count == 3) | ((count == 2) & (life == 1))).astype(pt.uint8)


pt.Loop(step).run(life, steps=200)

plt.imshow(life.numpy(), cmap="Greys", interpolation="nearest")
plt.axis("off")
plt.show()
