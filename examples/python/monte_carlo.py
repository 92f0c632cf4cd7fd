"""The price of an option by a million random walks' ends, on 1 and on 4 parts: the same bits, close to the formula's."""

import math

import partita as pt

SPOT, STRIKE, RATE, SIGMA, YEARS, PATHS = 100.0, 105.0, 0.03, 0.2, 1.5, 1_000_000


def price(team):
    ends = pt.random.default_rng(2026).standard_normal(PATHS, team=team)
    growth = pt.exp((RATE - SIGMA**2 / 2) * YEARS + SIGMA * math.sqrt(YEARS) * ends)
    gains = pt.maximum(SPOT * growth - STRIKE, 0.0) * math.exp(-RATE * YEARS)
    mean = gains.mean(reproducible=True)
    return float(mean), float(pt.sqrt(pt.square(gains - mean).mean() / PATHS))


def normal(x):
    return 0.5 * (1 + math.erf(x / math.sqrt(2)))


root = SIGMA * math.sqrt(YEARS)
d = (math.log(SPOT / STRIKE) + (RATE + SIGMA**2 / 2) * YEARS) / root
exact = SPOT * normal(d) - STRIKE * math.exp(-RATE * YEARS) * normal(d - root)
(one, error), (four, _) = price(pt.Team(1)), price(pt.Team(4))
assert one == four, "not the same bits"
assert abs(one - exact) < 4 * error, (one, exact, error)
print(f"ok: {one:.4f} +- {error:.4f} on 1 and 4 parts, by the formula {exact:.4f}")
