"""Gray-Scott reaction and diffusion on a torus: spots that grow and divide.

J. E. Pearson, Complex patterns in a simple system, Science 261 (1993) 189; the NumPy form is that of N. P. Rougier,
From Python to NumPy, section 4.3, with rolls in place of a copied border.
"""


def start(np):
    """A quiet torus of 40 x 36 cells with a square of the other substance."""
    u, v = np.ones((40, 36)), np.zeros((40, 36))
    u[15:25, 13:23], v[15:25, 13:23] = 0.5, 0.25
    return u, v


def run(xp, u, v, steps=12, du=0.16, dv=0.08, feed=0.035, kill=0.065):
    """The second substance after so many steps."""

    def laplacian(w):
        return xp.roll(w, 1, 0) + xp.roll(w, -1, 0) + xp.roll(w, 1, 1) + xp.roll(w, -1, 1) - 4 * w

    for _ in range(steps):
        reaction = u * v * v
        u, v = u + du * laplacian(u) - reaction + feed * (1 - u), v + dv * laplacian(v) + reaction - (feed + kill) * v
    return v
