"""Linear operators between arrays over partitions of a team, each with its adjoint, after DistDL (Hewett and Grady 2020).

>>> import partita as pt
>>> everyone = pt.Partition(pt.Team(2, "host"))
>>> copies = pt.collective.broadcast(everyone.inclusive([0]), everyone)
>>> copies.adjoint(copies(pt.ones(2, team=everyone.inclusive([0]).team))).tolist()
[2.0, 2.0]
"""

from ._api.collective import *
from ._api.collective import __all__ as __all__
