"""
Mandelbrot's set
================

Arithmetic alone: sixty iterations become a few kernels.
"""

import matplotlib.pyplot as plt
import numpy as np
import partita as pt

team = pt.Team(4)
y, x = np.meshgrid(np.linspace(-1.2, 1.2, 400), np.linspace(-2.2, 0.8, 500), indexing="ij")
a, b = pt.asarray(x, team=team), pt.asarray(y, team=team)
re, im, count = pt.zeros_like(a), pt.zeros_like(a), pt.zeros_like(a)
for _ in range(60):
    inside = re * re + im * im < 4
    re, im = pt.where(inside, re * re - im * im + a, re), pt.where(inside, 2 * re * im + b, im)
    count = count + inside

plt.imshow(count.numpy(), cmap="twilight_shifted")
plt.axis("off")
plt.show()
