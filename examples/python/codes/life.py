"""Conway's game of life in a finite world whose border is dead.

M. Gardner, Scientific American 223 (1970) 120; the array form is that of N. P. Rougier, From Python to NumPy,
section 4.2.
"""


def start(np):
    """A glider and a random soup, in 37 x 44 cells."""
    cells = (np.random.default_rng(4).random((37, 44)) < 0.3).astype(np.int32)
    cells[:8, :8] = 0
    cells[2, 3] = cells[3, 4] = cells[4, 2] = cells[4, 3] = cells[4, 4] = 1
    cells[0], cells[-1], cells[:, 0], cells[:, -1] = 0, 0, 0, 0
    return (cells,)


def run(xp, z, steps=40):
    """The cells after so many generations."""
    for _ in range(steps):
        n = (z[:-2, :-2] + z[:-2, 1:-1] + z[:-2, 2:] + z[1:-1, :-2]
             + z[1:-1, 2:] + z[2:, :-2] + z[2:, 1:-1] + z[2:, 2:])  # fmt: skip
        birth = (n == 3) & (z[1:-1, 1:-1] == 0)
        survive = ((n == 2) | (n == 3)) & (z[1:-1, 1:-1] == 1)
        z[...] = 0
        z[1:-1, 1:-1][birth | survive] = 1
    return z
