"""Programs as data: statements, and what stands in their places. Knows neither NumPy's words nor how to run them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from programs.layouts import Layout


class Name(str):
    """A variable of the program, where a statement reads or writes one."""

    __slots__ = ()


class Key(tuple):
    """An index: integers, slices, None, '...', arrays and names."""

    __slots__ = ()


class Statement(NamedTuple):
    """A line of Python with places, such as ``{out} = own({a}[{key}])``.

    ``own`` lays a result of NumPy's in C order, as partita's are, and ``seen`` makes an array of NumPy's scalar and leaves
    views what they are; ``make``, ``moved``, ``force`` and ``look`` place an array, redistribute it, compute it and show it.
    """

    text: str
    #: What stands in each place: a Name, a Key, a Layout, a list of Names, or a literal.
    places: dict[str, Any]
    #: How far apart the results may be, a name in `bounds.RULES`; "same" means to the bit.
    rule: str = "same"

    @property
    def writes(self) -> str | None:
        """The place of the variable that it makes or changes."""
        return "out" if "out" in self.places else "a" if self.text.startswith(("{a}", "for ")) else None

    def with_place(self, place: str, value: Any) -> Statement:
        """With something else in one place."""
        return self._replace(places={**self.places, place: value})

    def line(self) -> str:
        """The line as people would write it."""
        return self.text.format(**{place: written(value) for place, value in self.places.items()})


Program = list[Statement]


def names_in(value: Any) -> list[Name]:
    """The variables that something in a place reads."""
    if isinstance(value, Name):
        return [value]
    return [name for item in value for name in names_in(item)] if isinstance(value, (Key, list, tuple)) else []


def resolved(value: Any, variables: dict[str, Any]) -> Any:
    """What stands in a place, with the values of its variables."""
    if isinstance(value, Name):
        return variables[value]
    if isinstance(value, Key):
        return tuple(resolved(item, variables) for item in value)
    return [resolved(item, variables) for item in value] if isinstance(value, list) else value


def written(value: Any) -> str:
    """Source text of what stands in a place."""
    if isinstance(value, Name):
        return str(value)
    if isinstance(value, Key):
        return ", ".join(map(written, value)) if value else "()"
    if isinstance(value, slice):
        start, stop, step = ("" if n is None else str(n) for n in (value.start, value.stop, value.step))
        return f"{start}:{stop}" + (f":{step}" if step else "")
    if isinstance(value, np.ndarray):
        zeros = f"np.zeros({value.shape}, {value.dtype.name!r})"
        return zeros if 0 in value.shape else f"np.array({value.tolist()}, {value.dtype.name!r})"
    if isinstance(value, Layout):
        return value.source()
    if isinstance(value, list):
        return f"[{', '.join(map(written, value))}]"
    return "..." if value is Ellipsis else repr(value)
