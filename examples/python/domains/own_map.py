"""A map of one's own: rows of a triangle, dealt so that all parts have as many elements to work on.

Row ``i`` of the triangle has ``i + 1`` elements. Blocks would give the last part most of the work; `Folded` gives each part a row
from the top together with one from the bottom. Arrays on it do whatever arrays do.
"""

import numpy as np

import partita as pt


class Folded(pt.CustomMap):
    """Pairs of rows, one from each end, in turn."""

    def __init__(self, size, parts):
        self.size, self.parts = size, parts

    def owner(self, index):
        return min(index, self.size - 1 - index) % self.parts


n, team = 60, pt.Team(3, "host")
folded = pt.Distribution((n, n), team=team, grid=(3, 1), dims=[Folded(n, 3), None])
blocks = pt.Distribution((n, n), team=team, grid=(3, 1))


def work(dist):
    """The elements of the triangle that each part has."""
    rows = [dist.owned(part)[0] for part in range(3)]
    return [int(sum(np.arange(*own) + 1 if isinstance(own, tuple) else own + 1)) for own in rows]


print(f"elements per part: {work(blocks)} in blocks, {work(folded)} folded")
assert max(work(folded)) - min(work(folded)) == 0

rows, columns = pt.indices((n, n))
triangle = pt.where(columns <= rows, 1.0 + rows + columns, 0).redistribute(folded)
below = triangle[1:] - triangle[:-1]  # rows of other parts are fetched
assert np.array_equal(below.numpy(), np.diff(triangle.numpy(), axis=0))
total = float(triangle.sum())
print(f"sum {total:.0f} on {triangle.dist.kinds[0]} rows")
assert total == sum(1 + i + j for i in range(n) for j in range(i + 1))
print("ok")
