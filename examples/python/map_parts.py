"""Functions of one's own on the parts of arrays: a stencil by PyTorch, and Newton's iteration by Numba.

What is not installed says so and is left out. NumPy checks the results.
"""

import numpy as np
import partita as pt


def by_torch(torch):
    """The mean of nine cells, by a convolution of torch on each part with its halo."""
    host = np.random.default_rng(1).random((300, 200), dtype=np.float32)
    dist = pt.Distribution(host.shape, team=pt.Team(4, "host"), grid=(2, 2), halo=1, periodic=True)

    def mean(block, u, out):
        around = torch.from_dlpack(u)[None, None]
        torch.from_dlpack(out).copy_(torch.nn.functional.avg_pool2d(around, 3, stride=1)[0, 0])

    result = pt.map_parts(mean, pt.asarray(host, dist=dist), halo=1)
    shifted = (np.roll(host, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1))
    return float(np.abs(result.numpy() - sum(shifted) / 9).max())


def by_numba(numba):
    """Roots of x**3 - x = c, with as many steps as each element needs."""

    @numba.njit
    def newton(c, x):
        for k in range(c.size):
            x[k] = 2.0
            for _ in range(100):
                step = (x[k] ** 3 - x[k] - c[k]) / (3 * x[k] ** 2 - 1)
                x[k] -= step
                if abs(step) < 1e-14:
                    break

    c = pt.asarray(np.linspace(1, 50, 10_000), team=pt.Team(3, "host"))
    x = pt.map_parts(lambda block, c, x: newton(np.asarray(c), np.asarray(x)), c)
    return float(abs(x**3 - x - c).max())


for name, example in (("torch", by_torch), ("numba", by_numba)):
    try:
        package = __import__(name)
    except ImportError as error:
        print(f"skipped: map_parts by {name} ({error})")
        continue
    error = example(package)
    assert error < 1e-5, error
    print(f"{name}: largest error {error:.1e}")
print("ok: functions of one's own on 3 and 4 parts")
