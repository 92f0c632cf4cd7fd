"""Exceptions that partita raises besides Python's own. The texts say operation, expected, given, what to do."""

__all__ = ["AxisError", "DefectError", "DeviceError", "Error", "NoDeviceError", "NotAnArrayError", "OutOfMemoryError", "RankError", "UnsupportedError"]


class Error(Exception):
    """Any error that has no class of Python's own."""


class AxisError(ValueError, IndexError):
    """An axis that the array does not have. Both a ValueError and an IndexError, as in NumPy."""


class Missing(AttributeError):
    """A name that is not there. The text has the remedy, or suggests a near name, which is looked for when somebody reads it."""

    def __init__(self, whose: str, name: str, home: list[str] | object, remedy: str | None = None) -> None:
        super().__init__(f"{whose} has no attribute {name!r}" + (f": {remedy}" if remedy else ""), name=name, obj=None)
        self._home = [] if remedy or name.startswith("_") else home

    def __str__(self) -> str:
        import difflib

        names = self._home if isinstance(self._home, list) else [n for n in dir(self._home) if not n.startswith("_")]
        near = difflib.get_close_matches(str(self.name), names, 1, 0.7)
        return f"{self.args[0]}; did you mean {near[0]}?" if near else str(self.args[0])

    def __reduce__(self) -> tuple[type[AttributeError], tuple[str]]:
        return AttributeError, (str(self),)


# Tracebacks show these names.
Missing.__module__, Missing.__name__, Missing.__qualname__ = "builtins", "AttributeError", "AttributeError"


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
