"""einops on arrays of several parts: an image cut into patches, their means, and the image of the means.

Without einops it says so and does nothing.
"""

import sys

import numpy as np
import partita as pt

try:
    import einops
    import partita.einops
except ImportError as error:
    print(f"skipped: einops_patches (no einops: {error})")
    print("ok: nothing to do")
    sys.exit()

image = pt.random.default_rng(4).random((64, 96, 3), team=pt.Team(4, "host"))
patches = einops.rearrange(image, "(y dy) (x dx) c -> (y x) (dy dx c)", dy=8, dx=8)
small = einops.reduce(image, "(y dy) (x dx) c -> y x c", "mean", dy=8, dx=8)
large = einops.repeat(small, "y x c -> (y dy) (x dx) c", dy=8, dx=8)
assert all(isinstance(u, pt.Array) and u.team == image.team for u in (patches, small, large))

host = image.numpy().reshape(8, 8, 12, 8, 3)
assert (patches.numpy() == host.transpose(0, 2, 1, 3, 4).reshape(96, 192)).all()
assert np.allclose(small.numpy(), host.mean((1, 3)))
assert abs(float(large.mean() - image.mean())) < 1e-12
print(f"ok: {patches.shape[0]} patches of {patches.shape[1]} numbers, on {patches.dist.num_parts} parts")
