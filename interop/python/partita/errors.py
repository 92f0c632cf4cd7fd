"""What partita raises besides Python's own exceptions. The texts say operation, expected, given, what to do."""

__all__ = ["AxisError", "DefectError", "DeviceError", "Error", "NoDeviceError", "NotAnArrayError", "OutOfMemoryError", "RankError", "UnsupportedError"]


class Error(Exception):
    """Any error that has no class of Python's own."""


class AxisError(ValueError, IndexError):
    """An axis that the array does not have. Both a ValueError and an IndexError, as in NumPy."""


class NotAnArrayError(TypeError):
    """An argument that no array of numbers can be made of."""


class OutOfMemoryError(Error, MemoryError):
    """A device's memory, or the budget for it, is exhausted. Every array is still readable."""


class NoDeviceError(Error):
    """No device fits the request; the text lists what was searched."""


class UnsupportedError(Error):
    """A device lacks a type or an operation."""


class DeviceError(Error):
    """A device or its driver failed."""


class RankError(Error):
    """Among the processes that run the program together one failed, ended, does something else than the others, or
    did not answer in time; the text says which and where. Nothing more can be computed together."""


class DefectError(Error):
    """The engine made a mistake. Please report it."""
