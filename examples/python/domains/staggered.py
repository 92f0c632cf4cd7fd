"""Flow through a channel on a staggered grid with half indices: velocities live on faces, the pressure in cells (the MAC grid of Harlow
and Welch, 1965). Fluid that enters evenly has the parabola's profile at the end of the channel.

Indices count half cells: even ones are centres, odd ones are faces. Cell ``(2i, 2j)`` has the faces ``u[2i-1, 2j]`` and
``u[2i+1, 2j]`` in x, ``v[2i, 2j-1]`` and ``v[2i, 2j+1]`` in y. Every difference reads half a cell to both sides; neighbours of one
kind are 2 apart. Rows and columns beyond the cells are the walls' mirror images.
"""

import partita as pt

n, m, viscosity, steps, sweeps = 24, 12, 1.0, 60, 120
h, team = 1 / m, pt.Team(3, "host")
dt = 0.2 * h * h / viscosity

cells = pt.Domain(slice(2, 2 * n + 1, 2), slice(2, 2 * m + 1, 2), team=team)
u = pt.Domain(slice(1, 2 * n + 2, 2), slice(0, 2 * m + 3, 2), team=team).zeros()
v = pt.Domain(slice(0, 2 * n + 3, 2), slice(1, 2 * m + 2, 2), team=team).zeros()
phi = cells.expand(1).zeros()  # the pressure times dt
# Faces with a cell on both sides.
inner_u, inner_v = (cells.translate(half) & cells.translate((-half[0], -half[1])) for half in ((1, 0), (0, 1)))

columns, y = cells.dims[1], (pt.arange(m, team=team) + 0.5) * h
u.at[1, columns] = 1.0  # in
u.at[2 * n + 1, columns] = 6 * y * (1 - y)  # out


def around(x, where):
    """The sum of the four neighbours."""
    return sum(x.at[where.translate(by)] for by in ((2, 0), (-2, 0), (0, 2), (0, -2)))


def across(x, where, half):
    """The difference from half a cell before to half a cell behind."""
    return x.at[where.translate(half)] - x.at[where.translate((-half[0], -half[1]))]


def divergence(u, v):
    """What flows out of each cell."""
    return across(u, cells, (1, 0)) + across(v, cells, (0, 1))


def step(u, v, phi):
    """Friction, then the pressure that lets no cell gain or lose fluid."""
    for x, where in ((u, inner_u), (v, inner_v)):
        x.at[where] = x.at[where] + dt * viscosity / h**2 * (around(x, where) - 4 * x.at[where])
    source = divergence(u, v) * h
    source.eval()
    for _ in range(sweeps):
        phi.at[cells] = 0.25 * (around(phi, cells) - source)
        phi.at[0], phi.at[2 * n + 2] = phi.at[2], phi.at[2 * n]
        phi.at[:, 0], phi.at[:, 2 * m + 2] = phi.at[:, 2], phi.at[:, 2 * m]
    u.at[inner_u] = u.at[inner_u] - across(phi, inner_u, (1, 0)) / h
    v.at[inner_v] = v.at[inner_v] - across(phi, inner_v, (0, 1)) / h
    # Walls: no flow along them half a cell away.
    u.at[:, 0], u.at[:, 2 * m + 2] = -u.at[:, 2], -u.at[:, 2 * m]


loop = pt.Loop(step)
loop.run(u, v, phi, steps=steps)
lost, profile = float(abs(divergence(u, v)).max()) / h, 6 * y * (1 - y)
error = float(abs(u.at[4 * n // 3 + 1, columns] - profile).max())
print(f"{n} x {m} cells on {team.size} parts: divergence {lost:.1e}, difference from the parabola {error:.1e}")
assert lost < 0.05 and error < 0.05
print("ok")
