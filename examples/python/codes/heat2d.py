"""Heat in a plate: the explicit five-point scheme for u_t = alpha (u_xx + u_yy), fixed temperature at the edges.

G. D. Smith, Numerical Solution of Partial Differential Equations, chapter 2; the array form is that of every course.
"""


def start(np):
    """A warm disc in a cold plate of 48 x 40 points."""
    y, x = np.mgrid[0:48, 0:40]
    return (np.where((x - 17) ** 2 + (y - 20) ** 2 < 64, 2.0, 1.0),)


def run(xp, u, steps=40, alpha=0.2):
    """Temperatures after so many steps of alpha dt / h^2 each; stable up to 1/4."""
    for _ in range(steps):
        u[1:-1, 1:-1] = u[1:-1, 1:-1] + alpha * (
            u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1]
        )
    return u
