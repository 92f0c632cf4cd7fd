"""dask divides the work, Partita computes the blocks: chunks of a dask array are arrays of two parts each.

Without dask it says so and does nothing.
"""

import sys

import numpy as np
import partita as pt

try:
    import dask.array as da
except ImportError as error:
    print(f"skipped: dask_blocks (no dask: {error})")
    print("ok: nothing to do")
    sys.exit()

team = pt.Team(2, "host")
host = np.random.default_rng(2).normal(size=(600, 400))
blocks = da.from_array(host, chunks=(200, 200)).map_blocks(lambda block: pt.asarray(block, team=team), meta=pt.ones((0, 0)))

smooth = blocks.map_overlap(lambda u: (u + pt.roll(u, 1, 0) + pt.roll(u, -1, 0)) / 3, depth=1, boundary="periodic")
one = smooth.blocks[1, 1].compute()
assert isinstance(one, pt.Array) and one.dist.num_parts == 2

expected = (host + np.roll(host, 1, 0) + np.roll(host, -1, 0)) / 3
assert np.allclose(np.asarray(smooth.sum().compute()), expected.sum())
assert np.allclose(np.asarray((smooth + 1).mean(axis=0).compute()), expected.mean(0) + 1)
print(f"ok: {blocks.npartitions} blocks, each a {type(one).__name__} on {one.dist.num_parts} parts")
