"""
Conjugate gradients
===================

Poisson's equation with two point sources. The whole iteration is one loop step: its scalars are arrays of one element, so that
nothing is read on the host between iterations.
"""

import matplotlib.pyplot as plt
import numpy as np
import partita as pt

n = 160
dist = pt.Distribution((n, n), team=pt.Team(4), grid=(2, 2))
b = pt.zeros((n, n), dtype=pt.float64, dist=dist)
b[40, 50], b[110, 120] = 1.0, -1.0


def laplacian(u):
    wide = pt.pad(u, 1)
    return 4 * u - wide[:-2, 1:-1] - wide[2:, 1:-1] - wide[1:-1, :-2] - wide[1:-1, 2:]


def step(x, r, p, rr):
    ap = laplacian(p)
    alpha = rr / (p * ap).sum(keepdims=True)
    r_next = r - alpha * ap
    rr_next = (r_next * r_next).sum(keepdims=True)
    return x + alpha * p, r_next, r_next + rr_next / rr * p, rr_next


x, r, p = pt.zeros_like(b), b.copy(), b.copy()
rr = (b * b).sum(keepdims=True)
loop, history = pt.Loop(step), []
for _ in range(60):
    loop.run(x, r, p, rr, steps=10)
    history.append(float(pt.linalg.vector_norm(b - laplacian(x))))
print(f"residual {history[-1]:.1e} after 600 iterations")
assert history[-1] < 1e-8

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
left.imshow(x.numpy(), cmap="RdBu")
left.set_title("solution")
right.semilogy(np.arange(10, 601, 10), history)
right.set_xlabel("iteration")
right.set_ylabel("residual")
plt.show()
