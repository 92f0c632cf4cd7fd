"""
A tsunami runs round an island
==============================

Nonlinear shallow water in a closed basin, on six parts: mass is kept to the last digits of float32. The main example of the
repository does this over measured bathymetry.
"""

import matplotlib.pyplot as plt
import numpy as np
import partita as pt

rows, columns = 180, 270
dist = pt.Distribution((rows, columns), team=pt.Team(6), grid=(2, 3))
y, x = np.mgrid[:rows, :columns].astype(np.float32)
bottom = -50 + 48 * np.exp(-((x - 170) ** 2 + (y - 90) ** 2) / 900) + np.float32(0.1) * np.maximum(x - 180, 0)
height = 3 * np.exp(-((x - 40) ** 2 + (y - 70) ** 2) / 120)

depth = pt.asarray(-bottom.astype(np.float32), dist=dist)
h = pt.asarray(height.astype(np.float32), dist=dist)  # surface above the sea at rest
u, v = pt.zeros_like(h), pt.zeros_like(h)  # flow through the left and the upper face of each cell
gravity, dt, dx = 9.81, 1.0, 50.0


def step(h, u, v):
    u[:, 1:] = u[:, 1:] - dt * gravity / dx * (h[:, 1:] - h[:, :-1])
    v[1:, :] = v[1:, :] - dt * gravity / dx * (h[1:, :] - h[:-1, :])
    water = depth + h
    across, down = pt.zeros_like(u), pt.zeros_like(v)
    across[:, 1:] = u[:, 1:] * 0.5 * (water[:, 1:] + water[:, :-1])
    down[1:, :] = v[1:, :] * 0.5 * (water[1:, :] + water[:-1, :])
    h[:, :-1] = h[:, :-1] - dt / dx * across[:, 1:]
    h[:, :] = h + dt / dx * across
    h[:-1, :] = h[:-1, :] - dt / dx * down[1:, :]
    h[:, :] = h + dt / dx * down


before = float(h.sum())
loop = pt.Loop(step)
figure, axes = plt.subplots(1, 3, figsize=(10, 2.6), layout="constrained")
for axis, steps in zip(axes, (60, 120, 180)):
    loop.run(h, u, v, steps=60)
    axis.imshow(h.numpy(), cmap="RdBu", vmin=-0.6, vmax=0.6)
    axis.contour(bottom, levels=[-30, -10], colors="k", linewidths=0.6)
    axis.set_title(f"after {steps} s")
    axis.axis("off")
print(f"water: {before:.2f} at the start, {float(h.sum()):.2f} at the end")
plt.show()
