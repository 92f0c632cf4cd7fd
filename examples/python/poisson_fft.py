"""Poisson's equation with periodic ends, solved by Fourier transforms.

Solves ``-laplacian(u) = f`` on a square of side 2 pi for an ``f`` of which the solution is known: in the transform, the
operator is a multiplication by ``kx**2 + ky**2``. The array is divided among four parts; nothing in the program says how
the transforms travel. The error is that of rounding, because a smooth periodic function has no other.
"""

import math

import partita as pt


def solve(f, side=2 * math.pi):
    """The solution of mean 0; ``f`` has mean 0."""
    rows, columns = f.shape
    ky = pt.fft.fftfreq(rows, side / (2 * math.pi * rows), device=f.team)[:, None]
    kx = pt.fft.rfftfreq(columns, side / (2 * math.pi * columns), device=f.team)
    squares = ky**2 + kx**2
    spectrum = pt.where(squares > 0, pt.fft.rfft2(f) / pt.maximum(squares, 1), 0)
    return pt.fft.irfft2(spectrum, f.shape)


def main():
    """Solves and compares."""
    n = 240
    dist = pt.Distribution((n, n), team=pt.Team(4, "host"), grid=(2, 2))
    x = pt.broadcast_to(2 * math.pi * pt.arange(n, team=dist.team) / n, (n, n)).redistribute(dist)
    y = x.T.redistribute(dist)
    exact = pt.sin(3 * x) * pt.exp(pt.cos(y))
    exact = exact - exact.mean()
    # By hand: the second derivatives of both factors.
    f = pt.sin(3 * x) * pt.exp(pt.cos(y)) * (9 - pt.sin(y) ** 2 + pt.cos(y))
    error = float(pt.max(abs(solve(f) - exact)))
    print(f"{n} x {n} cells on {dist.num_parts} parts: error {error:.1e}")
    assert error < 1e-13
    print("ok")


if __name__ == "__main__":
    main()
