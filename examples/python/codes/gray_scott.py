"""Gray-Scott reaction and diffusion in a dish whose border stays as it is: spots that grow and divide.

J. E. Pearson, Complex patterns in a simple system, Science 261 (1993) 189; the NumPy form is that of N. P. Rougier,
From Python to NumPy, section 4.3, whose views of the inner cells are written in place.
"""


def start(np):
    """A quiet dish of 40 x 36 cells with a square of the other substance."""
    u, v = np.zeros((40, 36)), np.zeros((40, 36))
    u[1:-1, 1:-1] = 1.0
    u[15:25, 13:23], v[15:25, 13:23] = 0.5, 0.25
    return u, v


def run(xp, U, V, steps=12, Du=0.16, Dv=0.08, F=0.035, k=0.065):
    """The second substance after so many steps."""
    u, v = U[1:-1, 1:-1], V[1:-1, 1:-1]
    for _ in range(steps):
        Lu = (U[0:-2, 1:-1] + U[1:-1, 0:-2] - 4 * U[1:-1, 1:-1]
              + U[1:-1, 2:] + U[2:, 1:-1])  # fmt: skip
        Lv = (V[0:-2, 1:-1] + V[1:-1, 0:-2] - 4 * V[1:-1, 1:-1]
              + V[1:-1, 2:] + V[2:, 1:-1])  # fmt: skip
        uvv = u * v * v
        u += Du * Lu - uvv + F * (1 - u)
        v += Dv * Lv + uvv - (F + k) * v
    return V
