"""NumPy's ``lib``: the names in it that programs use."""

from . import stride_tricks as stride_tricks

__all__ = ["stride_tricks"]
