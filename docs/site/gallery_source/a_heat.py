"""
Heat in a plate, on one part and on four
========================================

The same bits, whatever the number of parts.
"""

import matplotlib.pyplot as plt
import numpy as np
import partita as pt


def plate(parts, grid):
    dist = pt.Distribution((200, 300), team=pt.Team(parts), grid=grid)
    u = pt.zeros(dist.shape, dtype=pt.float32, dist=dist)
    u[0, :] = 100

    def step(u):
        u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])

    pt.Loop(step).run(u, steps=500)
    return u.numpy()


four = plate(4, (2, 2))
assert np.array_equal(four, plate(1, (1, 1)))

plt.imshow(four, vmax=40)
plt.colorbar(label="temperature")
plt.show()
