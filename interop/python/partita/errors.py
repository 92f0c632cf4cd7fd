"""Exceptions that partita raises besides Python's own. The texts say operation, expected, given, what to do."""

__all__ = ["AxisError", "DefectError", "DeviceError", "Error", "NoDeviceError", "NotAnArrayError", "OutOfMemoryError", "RankError", "UnsupportedError"]


class Error(Exception):
    """Any error that has no class of Python's own."""


class AxisError(ValueError, IndexError):
    """An axis that the array does not have. Both a ValueError and an IndexError, as in NumPy."""


class Missing(AttributeError):
    """A name that is not there. The text suggests a near one, which is looked for when somebody reads it."""

    def __init__(self, text: str, name: str, home: object) -> None:
        super().__init__(text, name=name, obj=None)
        self._home = home

    def __str__(self) -> str:
        import difflib

        name, text = str(self.name), str(self.args[0])
        near = [] if name.startswith("_") else difflib.get_close_matches(name, [n for n in dir(self._home) if not n.startswith("_")], 1)
        return f"{text}; did you mean {near[0]}?" if near else text

    def __reduce__(self) -> tuple[type[AttributeError], tuple[str]]:
        return AttributeError, (str(self),)


# What tracebacks show.
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
