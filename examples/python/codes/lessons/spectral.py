"""Spectral codes: Burgers' equation, Schroedinger's, Chebyshev points, a vortex. Each program is a function of an array module."""

import numpy


def burgers(xp, n=100, steps=50, dt=2e-3, nu=0.05):
    """u_t + u u_x = nu u_xx on a circle: derivatives by Fourier transforms, steps by Runge and Kutta."""
    x = numpy.arange(n) * 2 * numpy.pi / n
    u, k = xp.asarray(numpy.sin(x) + 0.5), xp.asarray(numpy.fft.rfftfreq(n, 1 / n))

    def rate(u):
        w = xp.fft.rfft(u)
        return nu * xp.fft.irfft(-(k**2) * w, n) - u * xp.fft.irfft(1j * k * w, n)

    for _ in range(steps):
        half = u + 0.5 * dt * rate(u)
        u = u + dt * rate(half)
    return (u,)


def schroedinger(xp, n=100, steps=50, dt=0.01):
    """A packet in a well, by split steps: the probability."""
    x = (numpy.arange(n) - n / 2) * 0.2
    k = 2 * numpy.pi * numpy.fft.fftfreq(n, 0.2)
    psi = xp.asarray(numpy.exp(-((x - 1) ** 2) + 1j * x))
    well, free = xp.asarray(numpy.exp(-0.25j * dt * x**2)), xp.asarray(numpy.exp(-0.5j * dt * k**2))
    for _ in range(steps):
        psi = well * xp.fft.ifft(free * xp.fft.fft(well * psi))
    return (xp.abs(psi) ** 2,)


def chebyshev(xp, n=63, steps=100, dt=2e-6):
    """Heat between walls on Chebyshev points: the derivative is a matrix (L. N. Trefethen, Spectral Methods in MATLAB, cheb.m)."""
    x = numpy.cos(numpy.pi * numpy.arange(n + 1) / n)
    c = numpy.r_[2, numpy.ones(n - 1), 2] * (-1) ** numpy.arange(n + 1)
    d = x[:, None] - x[None, :] + numpy.eye(n + 1)
    D = numpy.outer(c, 1 / c) / d
    D -= numpy.diag(D.sum(axis=1))
    D2, u = xp.asarray((D @ D)[1:-1]), xp.asarray(numpy.sin(numpy.pi * x) + x)
    for _ in range(steps):
        u[1:-1] += dt * (D2 @ u)
    return (u,)


def vortex(xp, n=32, steps=20, dt=0.01, nu=1e-3):
    """Vorticity on a torus: the velocity from it by Fourier transforms, in every step."""
    y, x = numpy.mgrid[0:n, 0:n] * 2 * numpy.pi / n
    w = xp.asarray(numpy.sin(x) * numpy.cos(y) + 0.3 * numpy.cos(2 * x + y))
    kx, ky = xp.asarray(numpy.fft.rfftfreq(n, 1 / n)[None, :]), xp.asarray(numpy.fft.fftfreq(n, 1 / n)[:, None])
    k2 = kx**2 + ky**2
    inverse = 1 / xp.where(k2 == 0, 1, k2)
    for _ in range(steps):
        W = xp.fft.rfft2(w)
        psi = W * inverse
        u, v = xp.fft.irfft2(1j * ky * psi), xp.fft.irfft2(-1j * kx * psi)
        w = w + dt * (xp.fft.irfft2(-nu * k2 * W) - u * xp.fft.irfft2(1j * kx * W) - v * xp.fft.irfft2(1j * ky * W))
    return (w,)


PROGRAMS = [burgers, schroedinger, chebyshev, vortex]
