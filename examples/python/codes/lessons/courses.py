"""First lessons of courses, 31 to 101 cells: convection, diffusion, a potential, a tridiagonal system. Each program is a function of an
array module."""

import numpy


def convection(xp, n=41, steps=50, dt=0.01):
    """u_t + u u_x = 0, backward in space (L. A. Barba's 12 steps to Navier-Stokes, step 2)."""
    dx = 2 / (n - 1)
    u = xp.ones(n)
    u[int(0.5 / dx) : int(1 / dx + 1)] = 2
    for _ in range(steps):
        un = u.copy()
        u[1:] = un[1:] - un[1:] * dt / dx * (un[1:] - un[:-1])
    return (u,)


def diffusion(xp, n=101, steps=100, r=0.4):
    """A rod whose ends are kept warm and insulated."""
    u = xp.zeros(n)
    for _ in range(steps):
        u[0], u[-1] = 1.0, u[-2]
        u[1:-1] += r * (u[2:] - 2 * u[1:-1] + u[:-2])
    return (u,)


def potential(xp, n=31, steps=60):
    """Laplace's equation in a square with an insulated edge, and how much the last sweep changed."""
    p, y = xp.zeros((n, n)), xp.linspace(0, 1, n)
    p[:, -1] = y
    change = 1.0
    for _ in range(steps):
        old = p.copy()
        p[1:-1, 1:-1] = 0.25 * (old[1:-1, 2:] + old[1:-1, :-2] + old[2:, 1:-1] + old[:-2, 1:-1])
        p[0, :], p[-1, :] = p[1, :], p[-2, :]
        change = float(xp.abs(p - old).sum() / xp.abs(old).sum())
    return p, change


def tridiagonal(xp, n=31):
    """Thomas's algorithm, element by element."""
    lower, upper, d = xp.full(n, -1.0), xp.full(n, -1.0), xp.full(n, 2.5)
    x = xp.linspace(0, 1, n)
    for i in range(1, n):
        w = lower[i] / d[i - 1]
        d[i] = d[i] - w * upper[i - 1]
        x[i] = x[i] - w * x[i - 1]
    x[-1] = x[-1] / d[-1]
    for i in range(n - 2, -1, -1):
        x[i] = (x[i] - upper[i] * x[i + 1]) / d[i]
    return (x,)


#: Element by element.
tridiagonal.by_element = True

PROGRAMS = [convection, diffusion, potential, tridiagonal]
