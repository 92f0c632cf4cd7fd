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
import sys as _sys

# What is public each module says itself, in its `__all__`.
from . import errors as errors
from ._api.collective import Collective as Collective
from ._api.collective import Partition as Partition
from ._api.create import *
from ._api.defaults import *
from ._api.dims import *
from ._api.files import *
from ._api.loop import *
from ._api.sharing.map_parts import *
from ._api.sharing.protocols import *
from ._core.array import *
from ._core.dtypes import *
from ._core.rearrange import *
from ._core.reductions import *
from ._core.views.addresses import *
from ._numpy import dispatch as _dispatch
from ._numpy.applying import *
from ._numpy.creation import *
from ._numpy.dispatch import *
from ._numpy.elementwise import *
from ._numpy.host import *
from ._numpy.joining import *
from ._numpy.products import *
from ._numpy.selecting.histograms import *
from ._numpy.selecting.quantiles import *
from ._numpy.selecting.searching import *
from ._numpy.selecting.selection import *
from ._numpy.selecting.sets import *
from ._numpy.selecting.sorting import *
from ._numpy.statistics import *
from ._numpy.types import *
from ._numpy.ufuncs.conditions import *
from ._numpy.ufuncs.ufunc import *
from ._numpy.ufuncs.names import *
from ._native import Device as Device
from ._native import Distribution as Distribution
from ._native import Part as Part
from ._native import Team as Team
from ._native import devices as devices
from ._native import end as _end
from ._native import version as _version
from .errors import *

__version__ = _version()

# Drivers do not outlive the process; threads that are at work on them may.
_atexit.register(_end)

# Modules built from all of the above.
from . import array_api as array_api  # noqa: E402
from ._api import lib as lib  # noqa: E402
from .array_api import __array_api_version__ as __array_api_version__  # noqa: E402
from .array_api import __array_namespace_info__ as __array_namespace_info__  # noqa: E402
from ._api import collective as collective  # noqa: E402
from . import operators as operators  # noqa: E402
from .operators import fft as fft  # noqa: E402
from .operators import linalg as linalg  # noqa: E402
from .operators.einsum import *  # noqa: E402
from .operators.polynomials import *  # noqa: E402
from . import random as random  # noqa: E402
from ._api.documents import describe as _describe  # noqa: E402
from ._core.base import BaseArray as _BaseArray  # noqa: E402

# By NumPy's paths.
_sys.modules |= {f"{__name__}.collective": collective, f"{__name__}.fft": fft, f"{__name__}.linalg": linalg, f"{__name__}.lib": lib, f"{__name__}.lib.stride_tricks": lib.stride_tricks}

Array._functions, Array._dispatch = _sys.modules[__name__], _dispatch

_describe(_sys.modules[__name__], {
    "collective.": collective, "fft.": fft, "linalg.": linalg, "operators.": operators, "Array.": Array, "Array. ": _BaseArray, "ufunc.": ufunc, "Loop.": Loop, "random.": random, "Generator.": random.Generator,
})  # fmt: skip

# Last, because it looks into NumPy for what is not there.
from ._numpy.applying import missing as __getattr__  # noqa: E402
