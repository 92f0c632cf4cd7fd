"""A drum: leapfrog in time and central differences in space for u_tt = c^2 (u_xx + u_yy), clamped edges.

H. P. Langtangen and S. Linge, Finite Difference Computing with PDEs, section 2.11.
"""


def start(np):
    """A bump, and the same a step earlier: at rest."""
    y, x = np.mgrid[0:41, 0:50]
    bump = np.exp(-((x - 20.0) ** 2 + (y - 15.0) ** 2) / 18)
    bump[0], bump[-1], bump[:, 0], bump[:, -1] = 0, 0, 0, 0
    return bump, bump.copy()


def run(xp, u, before, steps=40, courant2=0.3):
    """Elevations after so many steps; ``courant2`` is (c dt / h)^2, stable up to 1/2."""
    for _ in range(steps):
        after = xp.zeros_like(u)
        after[1:-1, 1:-1] = 2 * u[1:-1, 1:-1] - before[1:-1, 1:-1] + courant2 * (
            u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        )
        before, u = u, after
    return u
