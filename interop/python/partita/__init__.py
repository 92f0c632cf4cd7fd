"""Partita: distributed arrays on GPUs and hosts, in NumPy's words.

>>> import partita as pt
>>> dist = pt.Distribution((100, 100), team=pt.Team(4, "host"), grid=(2, 2), halo=1)
>>> u = pt.zeros((100, 100), dtype=pt.float32, dist=dist)
>>> u[0, :] = 1
>>> u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
>>> float(u.sum())
124.5

Importing starts no device. Exceptions are Python's own where they fit, otherwise subclasses of `Error`.
"""

import atexit as _atexit

# What is public each module says itself, in its `__all__`.
from . import errors as errors
from . import random as random
from ._core.array import *
from ._api.collective import *
from ._api.complex import *
from ._api.create import *
from ._core.dtypes import *
from ._api.files import *
from ._api.functions import *
from ._api.linear import *
from ._core.loop import *
from ._native import Block as Block
from ._native import Cyclic as Cyclic
from ._native import Device as Device
from ._native import Distribution as Distribution
from ._native import Part as Part
from ._native import Team as Team
from ._native import Unstructured as Unstructured
from ._native import devices as devices
from ._native import end as _end
from ._native import version as _version
from ._api.protocols import *
from ._api.rearrange import *
from .errors import *

__version__ = _version()

# Drivers do not outlive the process; threads that are at work on them may.
_atexit.register(_end)

# Built from all of the above.
from . import operators as operators  # noqa: E402
