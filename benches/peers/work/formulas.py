"""The formulas, each written once, the same as the benchmark's own (a test compares them cell by cell).

A formula takes `c`, which gives the cells of an input at an offset (z, y, x), and `xp`, which has sqrt, exp
and sin. Both may be of any kind: arrays of NumPy, CuPy, JAX or PyTorch, plain numbers, or the values that
`tracing` writes down.
"""

from functools import reduce
from itertools import product
from operator import add as plus

HERE = (0, 0, 0)
DIFFUSION = 0.1
# Second derivatives of order 4 and 8: the centre, then by distance.
ORDER4 = (-5 / 2, 4 / 3, -1 / 12)
ORDER8 = (-205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560)


def copy(c, xp):
    return [c(0)]


def scale(c, xp):
    return [c(0) * 1.5]


def triad(c, xp):
    return [c(0) + c(1) * 1.5]


def offset(c, xp):
    return [c(0, (0, 0, 1)) + c(1, (0, 0, -1)) * 1.5]


def add(c, xp):
    return [c(0) + c(1)]


def add_twice(c, xp):
    s = c(0) + c(1)
    return [s, s]


def fused8(c, xp):
    a, b = c(0), c(1)
    return [xp.sqrt(a * a + b * b) * (a - b) + a / b]


def expsin(c, xp):
    return [xp.exp(c(0)) * xp.sin(c(1))]


def product_of(c, xp):
    return [c(0) * c(1)]


def square(c, xp):
    a = c(0)
    return [a * a]


def star(rank, distance):
    """Neighbours along the last `rank` axes, `distance` away."""
    for d, by in product(range(3 - rank, 3), (-distance, distance)):
        yield tuple(by if axis == d else 0 for axis in range(3))


def shell(rank, axes):
    """Cells of the cube around the centre that differ from it along `axes` axes, of the last `rank`."""
    for at in product((-1, 0, 1), repeat=3):
        if not any(at[: 3 - rank]) and sum(map(abs, at)) == axes:
            yield at


def total(c, array, offsets):
    return reduce(plus, (c(array, at) for at in offsets))


def diffusion(c, array, rank, k):
    centre = c(array)
    return centre + (total(c, array, star(rank, 1)) - centre * (2.0 * rank)) * k


def laplacian(c, array, weights):
    parts = (total(c, array, star(3, k)) * weights[k] for k in range(1, len(weights)))
    return reduce(plus, parts, c(array) * (3 * weights[0]))


def stencil5(c, xp):
    return [diffusion(c, 0, 2, DIFFUSION)]


def stencil9(c, xp):
    edges, corners = total(c, 0, shell(2, 1)), total(c, 0, shell(2, 2))
    return [c(0) * 0.4 + edges * 0.1 + corners * 0.05]


def stencil7(c, xp):
    return [diffusion(c, 0, 3, DIFFUSION)]


def stencil13(c, xp):
    return [laplacian(c, 0, ORDER4)]


def stencil25(c, xp):
    return [laplacian(c, 0, ORDER8)]


def stencil27(c, xp):
    faces, edges, corners = (total(c, 0, shell(3, axes)) for axes in (1, 2, 3))
    return [c(0) * 0.38 + (faces * 0.05 + edges * 0.02 + corners * 0.01)]


def gray_scott(c, xp):
    u, v = c(0), c(1)
    reaction = u * v * v
    fed = (u * -1.0 + 1.0) * 0.035
    return [diffusion(c, 0, 3, 0.16) - reaction + fed, diffusion(c, 1, 3, 0.08) + reaction - v * 0.1]


def wave(c, xp):
    propagated = laplacian(c, 0, ORDER8) * c(2)
    return [c(0) * 2.0 - c(1) + propagated * 0.1]


def heat(c, xp):
    u, k = c(0), c(1)
    flows = reduce(plus, ((c(1, at) + k) * (c(0, at) - u) for at in star(3, 1)))
    return [u + flows * (0.5 * DIFFUSION)]


def jacobi(c, xp):
    return [total(c, 0, star(2, 1)) * 0.25]


def minus_laplacian(c, xp):
    return [c(0) * 6.0 - total(c, 0, star(3, 1))]


# The directions in which populations travel: none, along an axis, along two; and the equilibrium's weights
# by how many axes that is.
DIRECTIONS = (HERE, *star(3, 1), *shell(3, 2))
WEIGHTS = (1 / 3, 1 / 18, 1 / 36)
RELAXATION = 0.8


def d3q19(c, xp):
    """Populations come from their neighbours and collide; opposite directions share what they can."""
    come = [c(k, tuple(-d for d in by)) for k, by in enumerate(DIRECTIONS)]
    density = reduce(plus, come)
    towards = lambda d, sign: reduce(plus, (f for by, f in zip(DIRECTIONS, come) if by[d] == sign))  # noqa: E731
    velocity = [(towards(d, 1) - towards(d, -1)) / density for d in range(3)]
    resting = reduce(plus, (v * v for v in velocity)) * -1.5 + 1.0
    weights = [density * (RELAXATION * weight) for weight in WEIGHTS]
    kept = lambda k: come[k] * (1.0 - RELAXATION)  # noqa: E731
    after = [None] * len(DIRECTIONS)
    for k, by in enumerate(DIRECTIONS):
        axes = [d for d in range(3) if by[d]]
        weighted = weights[len(axes)]
        if not axes:
            after[k] = kept(k) + resting * weighted
        elif by[axes[0]] > 0:
            across = velocity[axes[0]]
            for d in axes[1:]:
                across = across + velocity[d] if by[d] > 0 else across - velocity[d]
            even = (across * across * 4.5 + resting) * weighted
            odd = across * weighted * 3.0
            back = DIRECTIONS.index(tuple(-d for d in by))
            after[k], after[back] = kept(k) + even + odd, kept(back) + even - odd
    return after
