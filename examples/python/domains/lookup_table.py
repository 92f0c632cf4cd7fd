"""A look-up table that every part has whole: particles on all parts take their masses from it, and nothing travels.

The table is a replicated array, of which each part reads its own copy; assignment reaches all copies. The particles are divided in
blocks. `explain` says what would travel if the table were, too.
"""

import numpy as np

import partita as pt

team, kinds, count = pt.Team(4, "host"), 8, 20_000
values = np.linspace(1, 2, kinds)
numbers = np.random.default_rng(1).integers(0, kinds, count)
kind = pt.asarray(numbers, team=team)


def masses(table):
    """The mass of every particle, one kind after the other."""
    mass = pt.zeros(count, team=team)
    for number in range(kinds):
        mass = pt.where(kind == number, table[number : number + 1], mass)
    return mass


table = pt.asarray(values, dist=pt.Distribution(kinds, team=team, dims=[pt.Replicated()]))
divided = pt.asarray(values, team=team)
plans = ["plan" in masses(each).explain() for each in (table, divided)]
print(f"{count} particles on {team.size} parts; kind 3 is held by parts {table.dist.holders((3,))}; plans {plans}")
assert plans == [False, True]
assert np.array_equal(masses(table).numpy(), values[numbers])

table[3] = 10
assert [float(np.from_dlpack(part)[3]) for part in table.parts] == [10.0] * 4
assert float(masses(table).max()) == 10
print("ok")
