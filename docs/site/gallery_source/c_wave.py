"""
Waves and two receivers
=======================

A pulse in a medium with two velocities; two receivers record it.
"""

import matplotlib.pyplot as plt
import numpy as np
import partita as pt

dist = pt.Distribution((160, 240), team=pt.Team(4), grid=(2, 2))
y, x = np.mgrid[:160, :240].astype(np.float32)
courant2 = pt.asarray(np.where(x > 140, 0.4, 0.12).astype(np.float32), dist=dist)
now = pt.asarray(np.exp(-((x - 70) ** 2 + (y - 80) ** 2) / 20).astype(np.float32), dist=dist)
before = now.copy()


def step(now, before):
    after = 2 * now - before
    after[1:-1, 1:-1] += courant2[1:-1, 1:-1] * (
        now[2:, 1:-1] + now[:-2, 1:-1] + now[1:-1, 2:] + now[1:-1, :-2] - 4 * now[1:-1, 1:-1]
    )
    return after, now


traces = []
loop = pt.Loop(step)
for _ in range(60):
    loop.run(now, before, steps=4)
    traces.append((float(now[80, 40]), float(now[80, 200])))

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
left.imshow(now.numpy(), cmap="RdBu", vmin=-0.1, vmax=0.1)
left.plot([40, 200], [80, 80], "k^")
right.plot(np.arange(60) * 4, traces, label=["left receiver", "right receiver"])
right.set_xlabel("step")
right.legend()
plt.show()
