"""Flow through a channel on a staggered grid: velocities live on faces, the pressure in cells, each over a domain of its own.

Cell ``(i, j)`` has the faces ``u[i-1, j]`` and ``u[i, j]`` in x, ``v[i, j-1]`` and ``v[i, j]`` in y (the MAC grid of Harlow and
Welch, 1965). Indices name the same place in all arrays, so the program reads as the formulas do; rows and columns beyond the
cells are the walls' mirror images. Fluid that enters evenly has the parabola's profile at the end of the channel.
"""

import partita as pt

n, m, viscosity, steps, sweeps = 24, 12, 1.0, 60, 120
h, team = 1 / m, pt.Team(3, "host")
dt = 0.2 * h * h / viscosity

cells = pt.Domain(slice(1, n + 1), slice(1, m + 1), team=team)
u = pt.Domain(slice(0, n + 1), slice(0, m + 2), team=team).zeros()
v = pt.Domain(slice(0, n + 2), slice(0, m + 1), team=team).zeros()
phi = cells.expand(1).zeros()  # the pressure times dt
inner_u, inner_v = cells & cells.translate((-1, 0)), cells & cells.translate((0, -1))

y = (pt.arange(m, team=team) + 0.5) * h
u.at[0, 1 : m + 1] = 1.0  # in
u.at[n, 1 : m + 1] = 6 * y * (1 - y)  # out


def around(x, where):
    """The sum of the four neighbours."""
    return sum(x.at[where.translate(by)] for by in ((1, 0), (-1, 0), (0, 1), (0, -1)))


def divergence(u, v):
    """What flows out of each cell, through its own faces and those of the cells before it."""
    return u.at[cells] - u.at[cells.translate((-1, 0))] + v.at[cells] - v.at[cells.translate((0, -1))]


def step(u, v, phi):
    """Friction, then the pressure that lets no cell gain or lose fluid."""
    for x, where in ((u, inner_u), (v, inner_v)):
        x.at[where] = x.at[where] + dt * viscosity / h**2 * (around(x, where) - 4 * x.at[where])
    source = divergence(u, v) * h
    source.eval()
    for _ in range(sweeps):
        phi.at[cells] = 0.25 * (around(phi, cells) - source)
        phi.at[0], phi.at[n + 1] = phi.at[1], phi.at[n]
        phi.at[:, 0], phi.at[:, m + 1] = phi.at[:, 1], phi.at[:, m]
    u.at[inner_u] = u.at[inner_u] - (phi.at[inner_u.translate((1, 0))] - phi.at[inner_u]) / h
    v.at[inner_v] = v.at[inner_v] - (phi.at[inner_v.translate((0, 1))] - phi.at[inner_v]) / h
    # Walls: no flow along them half a cell away.
    u.at[:, 0], u.at[:, m + 1] = -u.at[:, 1], -u.at[:, m]


loop = pt.Loop(step)
loop.run(u, v, phi, steps=steps)
lost = float(abs(divergence(u, v)).max()) / h
profile = 6 * y * (1 - y)
error = float(abs(u.at[2 * n // 3, 1 : m + 1] - profile).max())
print(f"{n} x {m} cells on {team.size} parts: divergence {lost:.1e}, difference from the parabola {error:.1e}")
assert lost < 0.05 and error < 0.05
print("ok")
