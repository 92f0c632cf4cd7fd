"""Monte Carlo: the circle's area, random walks, a magnet, a Markov chain. Each program is a function of an array module, which draws
its own random numbers: results agree within what chance allows."""

import numpy


def circle(xp, n=100, rounds=100):
    """Points in a square, counted in the circle."""
    rng, inside = xp.random.default_rng(1), 0
    for _ in range(rounds):
        x, y = rng.random(n), rng.random(n)
        inside += int((x**2 + y**2 < 1).sum())
    return 4 * inside / (n * rounds), 5 * 1.65 / (n * rounds) ** 0.5


def walks(xp, n=100, steps=100):
    """The mean square of where walkers get to."""
    rng, x = xp.random.default_rng(2), xp.zeros(n)
    for _ in range(steps):
        x += rng.normal(size=n)
    return float((x**2).mean()) / steps, 5 * (2 / n) ** 0.5


def magnet(xp, n=10, sweeps=50, coupling=0.2):
    """Ising's model on a torus, black and white cells in turns: the mean energy per cell."""
    rng, total = xp.random.default_rng(3), 0.0
    y, x = numpy.mgrid[0:n, 0:n]
    spins = xp.ones((n, n))
    colours = [xp.asarray((x + y) % 2 == c) for c in (0, 1)]
    for sweep in range(sweeps):
        for colour in colours:
            near = xp.roll(spins, 1, 0) + xp.roll(spins, -1, 0) + xp.roll(spins, 1, 1) + xp.roll(spins, -1, 1)
            flips = colour & (rng.random((n, n)) < xp.exp(-2 * coupling * spins * near))
            spins[flips] *= -1
        if sweep >= 10:
            total -= float((spins * (xp.roll(spins, 1, 0) + xp.roll(spins, 1, 1))).mean())
    return total / (sweeps - 10), 0.25


def metropolis(xp, n=300):
    """A Markov chain through a normal distribution, a number at a time, kept element by element."""
    rng, chain, x = xp.random.default_rng(4), xp.zeros(n), 0.0
    for k in range(n):
        y = x + float(rng.normal())
        if float(rng.random()) < numpy.exp(0.5 * (x * x - y * y)):
            x = y
        chain[k] = x
    return float(chain.std()), 0.6


#: Element by element.
metropolis.by_element = True

PROGRAMS = [circle, walks, magnet, metropolis]
