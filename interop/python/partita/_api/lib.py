"""NumPy's ``lib``: the names in it that programs use."""

import sys
from typing import NoReturn

from ..errors import Missing
from . import stride_tricks as stride_tricks

__all__ = ["stride_tricks"]


def __getattr__(name: str) -> NoReturn:
    import numpy as np

    remedy = f"it is not there; use numpy.lib.{name}, which works on the host" if hasattr(np.lib, name) else ""
    raise Missing("module 'partita.lib'", name, sys.modules[__name__], remedy)
