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

from . import _create, _dtypes, _files, _functions, _linear, _protocols, _rearrange, errors, random
from ._array import Array
from ._create import *
from ._dtypes import *
from ._files import *
from ._functions import *
from ._linear import *
from ._loop import Loop
from ._native import Block, Cyclic, Device, Distribution, Part, Team, Unstructured, devices
from ._native import version as _version
from ._protocols import *
from ._rearrange import *
from .errors import *

__version__ = _version()

# Each module says what of it is public.
__all__ = ["Array", "Block", "Cyclic", "Device", "Distribution", "Loop", "Part", "Team", "Unstructured", "devices", "random"]
__all__ += _create.__all__
__all__ += _dtypes.__all__
__all__ += _files.__all__
__all__ += _functions.__all__
__all__ += _linear.__all__
__all__ += _protocols.__all__
__all__ += _rearrange.__all__
__all__ += errors.__all__
