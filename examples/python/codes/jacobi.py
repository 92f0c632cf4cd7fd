"""Laplace's equation by Jacobi's iteration, with the norm of the change as the test for its end.

Y. Saad, Iterative Methods for Sparse Linear Systems, section 4.1; the array form is Prabhu Ramachandran's, in
"Performance of NumPy and friends" (laplace.py).
"""


def start(np):
    """A square of 33 x 35 points whose upper edge is at 1."""
    u = np.zeros((33, 35))
    u[0] = 1
    return (u,)


def run(xp, u, tolerance=1e-2, steps=400):
    """Potentials, and the norm of every change until it is at most the tolerance."""
    norms = []
    for _ in range(steps):
        old = u.copy()
        u[1:-1, 1:-1] = (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]) / 4
        norms.append(float(xp.sqrt(xp.sum((u - old) ** 2))))
        if norms[-1] <= tolerance:
            break
    return u, norms
