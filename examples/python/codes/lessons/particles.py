"""Particles: gravity, springs, a box with walls, charges on a grid. Each program is a function of an array module."""

import numpy


def gravity(xp, n=100, steps=20, dt=1e-3):
    """Bodies that attract each other, by leapfrog; the energy at the end, and where they are."""
    start = numpy.random.default_rng(1)
    x, v = xp.asarray(start.normal(size=(n, 3))), xp.asarray(0.1 * start.normal(size=(n, 3)))
    m = xp.asarray(start.random(n) / n)

    def acceleration():
        d = x[None, :, :] - x[:, None, :]
        r2 = (d**2).sum(axis=2) + 0.01
        return (m[None, :, None] * d / (r2**1.5)[:, :, None]).sum(axis=1)

    a = acceleration()
    for _ in range(steps):
        v = v + 0.5 * dt * a
        x = x + dt * v
        a = acceleration()
        v = v + 0.5 * dt * a
    return x, 0.5 * (m * (v**2).sum(axis=1)).sum()


def springs(xp, n=100, steps=60, dt=0.01):
    """A net of masses: springs between listed pairs, whose forces are added at both ends."""
    start = numpy.random.default_rng(2)
    pairs = numpy.array([(i, i + 1) for i in range(n - 1)] + [(i, i + 10) for i in range(n - 10)])
    i, j = xp.asarray(pairs[:, 0]), xp.asarray(pairs[:, 1])
    x, v = xp.asarray(numpy.arange(float(n)) + 0.1 * start.normal(size=n)), xp.zeros(n)
    rest = xp.asarray((pairs[:, 1] - pairs[:, 0]).astype(float))
    for _ in range(steps):
        stretch = x[j] - x[i] - rest
        force = xp.zeros(n)
        xp.add.at(force, i, stretch)
        xp.add.at(force, j, -stretch)
        v += dt * (force - 0.1 * v)
        x += dt * v
    return x, v


def box(xp, n=100, steps=100, dt=0.02):
    """Particles that fall and bounce off four walls, found by masks."""
    start = numpy.random.default_rng(3)
    x, v = xp.asarray(start.random((n, 2))), xp.asarray(start.normal(size=(n, 2)))
    for _ in range(steps):
        v[:, 1] -= 0.5 * dt
        x += dt * v
        low, high = x < 0, x > 1
        x[low] = -x[low]
        x[high] = 2 - x[high]
        v[low | high] *= -0.9
    return x, v


def charges(xp, n=100, cells=64, steps=40, dt=0.05):
    """Electrons in a periodic box: charge on a grid by weights, the field by Fourier transforms, and back to the particles."""
    start = numpy.random.default_rng(4)
    x, v = xp.asarray(start.random(n) * cells), xp.asarray(start.normal(size=n))
    k = xp.asarray(2 * numpy.pi * numpy.fft.rfftfreq(cells))
    inverse = xp.asarray(numpy.concatenate([[0], 1 / (2 * numpy.pi * numpy.fft.rfftfreq(cells)[1:]) ** 2]))
    for _ in range(steps):
        left = xp.floor(x).astype(int)
        w = x - left
        left, right = left % cells, (left + 1) % cells
        rho = xp.bincount(left, 1 - w, minlength=cells) + xp.bincount(right, w, minlength=cells) - n / cells
        E = xp.fft.irfft(-1j * k * inverse * xp.fft.rfft(rho), cells)
        v -= dt * (E[left] * (1 - w) + E[right] * w)
        x = (x + dt * v) % cells
    return x, v


PROGRAMS = [gravity, springs, box, charges]
