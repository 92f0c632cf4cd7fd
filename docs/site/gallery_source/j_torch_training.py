"""
PyTorch learns a stencil through a halo exchange
================================================

``partita.torch`` makes collective operators differentiable. The forward pass brings the halos; the backward pass adds the
gradients of the halos to the cells that they copy. Two layers of 3 x 3 learn one step of diffusion on four parts.
"""

import matplotlib.pyplot as plt
import numpy as np
import partita as pt
import partita.torch as operators
import torch

n = 64
everyone = pt.Partition(pt.Team(4, "host"))
dist = pt.Distribution((n, n), team=everyone.team, grid=(2, 2), halo=1, periodic=True)
fetch = operators.halo_exchange(everyone.cartesian((2, 2)), dist)

torch.manual_seed(1)
field = torch.rand(n, n)
target = field + 0.2 * sum(torch.roll(field, by, d) - field for by in (1, -1) for d in (0, 1))
owned = [np.s_[r * 32 : r * 32 + 32, c * 32 : c * 32 + 32] for r in (0, 1) for c in (0, 1)]
kernels = [torch.nn.Parameter(torch.randn(1, 1, 3, 3) * 0.3) for _ in range(2)]


def network(blocks):
    for kernel in kernels:
        wide = fetch(*(torch.nn.functional.pad(block, (1, 1, 1, 1)) for block in blocks))
        blocks = [torch.nn.functional.conv2d(block[None, None], kernel)[0, 0] for block in wide]
    return blocks


blocks = [field[cells] for cells in owned]
optimiser, losses = torch.optim.Adam(kernels, lr=0.05), []
for _ in range(120):
    results = network(blocks)
    loss = sum(((result - target[cells]) ** 2).mean() for result, cells in zip(results, owned))
    optimiser.zero_grad()
    loss.backward()
    optimiser.step()
    losses.append(loss.item())
print(f"loss {losses[0]:.2f} before, {losses[-1]:.5f} after")
assert losses[-1] < losses[0] / 50

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(10, 2.9), layout="constrained")
left.imshow(target)
left.set_title("one step of diffusion")
learned = torch.cat([torch.cat(results[:2], 1), torch.cat(results[2:], 1)])
middle.imshow(learned.detach())
middle.set_title("learned, on four parts")
right.semilogy(losses)
right.set_xlabel("iteration")
right.set_ylabel("loss")
plt.show()
