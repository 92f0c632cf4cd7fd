"""Finite volumes: advection, a shock tube, a limiter, shallow water; the time step is read in every step. Each program is a function of
an array module."""

import numpy


def advection(xp, n=100, steps=80):
    """A pulse around a circle, upwind."""
    x = (numpy.arange(n) + 0.5) / n
    u, dx = xp.asarray(numpy.exp(-100 * (x - 0.3) ** 2)), 1 / n
    speed = xp.asarray(1 + 0.5 * numpy.sin(2 * numpy.pi * x))
    for _ in range(steps):
        dt = 0.5 * dx / float(speed.max())
        flux = speed * u
        u = u - dt / dx * (flux - xp.roll(flux, 1))
    return (u,)


def shock_tube(xp, n=100, steps=60, gamma=1.4):
    """Sod's problem, by Rusanov's fluxes: density, momentum, energy."""
    left = numpy.arange(n) < n // 2
    q = xp.asarray(numpy.stack([numpy.where(left, 1, 0.125), numpy.zeros(n), numpy.where(left, 2.5, 0.25)]))
    dx = 1 / n
    for _ in range(steps):
        u = q[1] / q[0]
        p = (gamma - 1) * (q[2] - 0.5 * q[0] * u**2)
        speed = xp.abs(u) + xp.sqrt(gamma * p / q[0])
        dt = 0.4 * dx / float(speed.max())
        f = xp.stack([q[1], q[1] * u + p, (q[2] + p) * u])
        fastest = xp.maximum(speed[1:], speed[:-1])
        flux = 0.5 * (f[:, 1:] + f[:, :-1]) - 0.5 * fastest * (q[:, 1:] - q[:, :-1])
        q[:, 1:-1] -= dt / dx * (flux[:, 1:] - flux[:, :-1])
    return (q,)


def limited(xp, n=100, steps=60):
    """Burgers' equation with slopes that the minmod limiter allows."""
    x = (numpy.arange(n) + 0.5) / n
    u, dx = xp.asarray(numpy.where((x > 0.2) & (x < 0.5), 1.0, 0.1)), 1 / n
    for _ in range(steps):
        dt = 0.4 * dx / float(xp.abs(u).max())
        a, b = u - xp.roll(u, 1), xp.roll(u, -1) - u
        slope = xp.where(a * b > 0, xp.where(xp.abs(a) < xp.abs(b), a, b), 0.0)
        edge = u + 0.5 * slope * (1 - dt / dx * u)
        flux = 0.5 * edge**2
        u = u - dt / dx * (flux - xp.roll(flux, 1))
    return (u,)


def shallow_water(xp, n=100, steps=60, g=9.81):
    """A dam breaks: heights and flow, by Lax and Friedrichs."""
    h, hu, dx = xp.asarray(numpy.where(numpy.arange(n) < n // 2, 2.0, 1.0)), xp.zeros(n), 1 / n
    for _ in range(steps):
        u = hu / h
        dt = 0.4 * dx / float((xp.abs(u) + xp.sqrt(g * h)).max())
        f, k = hu * u + 0.5 * g * h**2, 0.5 * dt / dx
        new_h = 0.5 * (h[2:] + h[:-2]) - k * (hu[2:] - hu[:-2])
        new_hu = 0.5 * (hu[2:] + hu[:-2]) - k * (f[2:] - f[:-2])
        h[1:-1], hu[1:-1] = new_h, new_hu
        h[0], h[-1] = h[1], h[-2]
    return h, hu


PROGRAMS = [advection, shock_tube, limited, shallow_water]
