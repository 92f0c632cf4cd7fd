"""NumPy's ``lib``: the names in it that programs use."""

from typing import NoReturn

from ..errors import Missing
from . import stride_tricks as stride_tricks

__all__ = ["stride_tricks"]
_HOSTS = {name: f"it is not there; use numpy.lib.{name}, which works on the host" for name in "array_utils format mixins npyio scimath".split()}


def __getattr__(name: str) -> NoReturn:
    raise Missing("module 'partita.lib'", name, __all__, _HOSTS.get(name))
