"""Programs on a small stack: what is nested deeply, and what has much to hold, needs no more of it than the interpreter itself."""

import subprocess
import sys

import pytest

PROGRAMS = {
    "a deep expression": """
x = u
for k in range(10_000):
    x = x * 0.5 + u
assert x.sum().item() == 16
""",
    "a deep expression that nobody computes": """
x = u
for k in range(100_000):
    x = pt.negative(x) if k % 3 else pt.maximum(x, u)
del x
""",
    "many operands": """
rows = [u * float(k) for k in range(1000)]
while len(rows) > 1:
    rows = [a + b for a, b in zip(rows[::2], rows[1::2])] + rows[len(rows) // 2 * 2:]
assert rows[0].sum().item() == 8 * 499_500
assert "kernel" in str(sum(u for k in range(3000)).explain())
""",
    "the operators": """
x = pt.asarray(np.random.rand(20_011))
assert (pt.sort(x).numpy() == np.sort(x.numpy())).all()
assert abs(pt.fft.ifft(pt.fft.fft(x)) - x).max().item() < 1e-12
y = x[:20_000].reshape(100, 200)
assert np.allclose(pt.gradient(y)[0].numpy(), np.gradient(y.numpy())[0])
assert abs(pt.cumsum(x)[-1].item() - x.numpy().sum()) < 1e-8
assert pt.random.default_rng(1).normal(size=100).size == len(pt.unique(pt.arange(100)).numpy())
assert pt.einsum("ij,jk->ik", pt.ones((50, 50)), pt.ones((50, 50))).sum().item() == 125_000
assert pt.linalg.solve(pt.asarray(np.eye(5)), pt.ones(5)).tolist() == [1] * 5
assert x[pt.asarray(np.arange(50))].size == 50 and repr(x[:9])
""",
    "a loop": """
def step(u):
    u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
loop = pt.Loop(step)
loop.run(u, steps=100)
assert loop.is_replaying
""",
}


@pytest.mark.parametrize("kib", [128, 256, 1024])
@pytest.mark.parametrize("name", PROGRAMS)
def test_a_small_stack_is_enough(name, kib):
    """Of 64 KiB the interpreter itself does not start."""
    program = f"import numpy as np, partita as pt\nu = pt.ones(8)\n{PROGRAMS[name]}print('done')"
    shell = ["bash", "-c", f'ulimit -s {kib} && exec "$0" "$@"', sys.executable, "-c", program]
    done = subprocess.run(shell, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
