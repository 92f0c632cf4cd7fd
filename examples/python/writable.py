"""PyTorch changes the parts of an array in place, between stencils; and an array keeps its value in NumPy's memory.

Without torch the first half says so and does nothing.
"""

import numpy as np
import partita as pt

try:
    import torch
except ImportError as error:
    torch = None
    print(f"skipped: writable, half of it (no PyTorch: {error})")


def relu(u):
    """What is below zero becomes zero, in the memory of the array."""
    with u.writable() as parts:
        for part in parts:
            torch.from_dlpack(part).clamp_(min=0)


def torch_between_stencils():
    team = pt.Team(4, "host")
    u = pt.asarray(np.sin(np.arange(4000.0)), team=team)
    host = u.numpy()
    for _ in range(3):
        u[1:-1] = u[1:-1] + 0.5 * (u[:-2] - u[2:])
        before = u + 1  # recorded: keeps the value that u has now
        relu(u)
        host[1:-1] = host[1:-1] + 0.5 * (host[:-2] - host[2:])
        assert np.array_equal(before.numpy(), host + 1)
        host = np.maximum(host, 0)
    assert np.array_equal(u.numpy(), host)
    return float(u.sum())


def in_the_memory_of_numpy():
    blocks = [np.zeros((50, 60)), np.zeros((50, 60))]
    dist = pt.Distribution((100, 60), team=pt.Team(2, "host"))
    u = pt.from_parts(blocks, dist, writable=True)
    u[0] = 100

    def step(u):
        u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])

    pt.Loop(step).run(u, steps=200)
    assert blocks[1].any() and np.array_equal(np.concatenate(blocks), u.numpy())
    return blocks[0].mean()


if torch is not None:
    print(f"torch between stencils: sum {torch_between_stencils():.6f}")
print(f"ok: NumPy's block after 200 steps has mean {in_the_memory_of_numpy():.6f}")
