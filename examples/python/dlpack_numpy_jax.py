"""One memory, three libraries: NumPy and JAX look at the parts of an array without a copy.

Without JAX it says so and does nothing.
"""

import sys

import numpy as np
import partita as pt

try:
    import jax
except ImportError as error:
    print(f"skipped: dlpack_numpy_jax (no JAX: {error})")
    print("ok: nothing to do")
    sys.exit()

u = pt.arange(1_000_000, dtype=pt.float32, team=pt.Team(4, "host"))
for p in u.parts:
    in_numpy, in_jax = np.from_dlpack(p), jax.dlpack.from_dlpack(p)
    assert in_numpy.ctypes.data == in_jax.unsafe_buffer_pointer(), "a copy was made"
    assert not in_numpy.flags.writeable, "values of ours never change"
    print(f"part {p.index}: cells {p.owned} at {in_numpy.ctypes.data:#x}, JAX's mean {float(in_jax.mean()):.1f}")

# What they compute comes back: part by part, on the same distribution, in JAX's own memory.
roots = [jax.numpy.sqrt(jax.dlpack.from_dlpack(p)) for p in u.parts]
v = pt.from_parts(roots, u.dist, copy=False)
error = float(pt.abs(v * v - u).max() / u.max())
assert error < 1e-6, error

# Assignment to u makes a new value; who still looks at the old one sees the old one.
before = np.from_dlpack(u.parts[0])
u[0] = -1
assert before[0] == 0 and float(u[0]) == -1
print(f"ok: same addresses, roots squared are back within {error:.1e}")
