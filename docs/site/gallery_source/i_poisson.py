"""
Poisson's equation by Fourier transforms
========================================

The transform of a distributed array is distributed, too. In the transform, the operator is a multiplication.
"""

import math

import matplotlib.pyplot as plt
import partita as pt

n = 240
dist = pt.Distribution((n, n), team=pt.Team(4), grid=(2, 2))
x = pt.broadcast_to(2 * math.pi * pt.arange(n, team=dist.team) / n, (n, n)).redistribute(dist)
y = x.T.redistribute(dist)
exact = pt.sin(3 * x) * pt.exp(pt.cos(y))
exact = exact - exact.mean()
f = pt.sin(3 * x) * pt.exp(pt.cos(y)) * (9 - pt.sin(y) ** 2 + pt.cos(y))

ky = pt.fft.fftfreq(n, 1 / n, device=dist.team)[:, None]
kx = pt.fft.rfftfreq(n, 1 / n, device=dist.team)
squares = ky**2 + kx**2
u = pt.fft.irfft2(pt.where(squares > 0, pt.fft.rfft2(f) / pt.maximum(squares, 1), 0), f.shape)
print(f"largest error {float(pt.max(abs(u - exact))):.1e}")

figure, axes = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
for axis, values, title in zip(axes, (f, u), ("source", "solution")):
    axis.imshow(values.numpy(), cmap="RdBu")
    axis.set_title(title)
    axis.axis("off")
plt.show()
