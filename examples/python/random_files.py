"""A Monte Carlo estimate whose numbers do not depend on the layout, and a file written and read part by part."""

import math
import os
import tempfile

import numpy as np
import partita as pt


def inside(team):
    """Points in the unit square, and which are in the quarter circle."""
    rng = pt.random.default_rng(2024)
    x, y = rng.random(200_000, team=team), rng.random(200_000, team=team)
    return x * x + y * y < 1


four, one = inside(pt.Team(4, "host")), inside(pt.Team(1, "host"))
assert (four.numpy() == one.numpy()).all(), "the numbers depend on the layout"
estimate = 4 * float(four.sum()) / four.size
assert abs(estimate - math.pi) < 5 * math.sqrt(math.pi * (4 - math.pi) / four.size), estimate

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "inside.npy")
    pt.save(path, four)
    again = pt.load(path, team=pt.Team(3, "host"))
    assert np.array_equal(np.load(path), again.numpy()) and bool((again.numpy() == four.numpy()).all())
    print(f"{os.path.getsize(path):,} bytes by 4 parts, read by 3")
print(f"ok: pi is about {estimate:.3f}, from the same points on one part and on four")
