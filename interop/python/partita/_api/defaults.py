"""Defaults: the devices and the type of arrays where a program names neither."""

from __future__ import annotations

from typing import Any

from .. import _native
from .._core import dtypes
from .._core.dtypes import DType, as_dtype
from .._native import Team


def _checked(team: Any) -> Team | None:
    if team is not None and not isinstance(team, Team):
        given = type(team).__name__
        raise TypeError(f"default team: expected a partita.Team or None, given {given}; make one: partita.Team(4)")
    return team


def set_default_team(team: Team | None) -> None:
    """Sets the team of arrays that are made without a team or distribution. Local; all processes pass the same.

    Parameters
    ----------
    team : Team or None
        None for the environment's: ``PARTITA_PARTS`` parts on the devices of ``PARTITA_DEVICE``, by default one per device.

    Examples
    --------
    >>> import partita as pt
    >>> pt.set_default_team(pt.Team(4, "host"))
    >>> len(pt.zeros(10).parts)
    4
    >>> pt.set_default_team(None)
    """
    _native.choose_default_team(_checked(team))


def get_default_team() -> Team:
    """The team of arrays that are made without a team or distribution. Collective the first time.

    Examples
    --------
    >>> import partita as pt
    >>> with pt.default_team(pt.Team(2, "host")):
    ...     len(pt.get_default_team())
    2
    """
    return _native.get_default_team()


class default_team:
    """A block of statements with another default team, in all threads. Local.

    Parameters
    ----------
    team : Team or None
        As for `set_default_team`.

    Examples
    --------
    >>> import partita as pt
    >>> with pt.default_team(pt.Team(3, "host")):
    ...     u = pt.ones(7)
    >>> u.dist.num_parts
    3
    """

    def __init__(self, team: Team | None) -> None:
        self._team, self._before = _checked(team), list[Team | None]()

    def __repr__(self) -> str:
        return f"<partita.default_team {self._team}>"

    def __enter__(self) -> Team | None:
        self._before.append(_native.choose_default_team(self._team))
        return self._team

    def __exit__(self, *error: object) -> None:
        _native.choose_default_team(self._before.pop())


def set_default_dtype(dtype: Any) -> None:
    """Sets the type of floats that no operand or argument decides, and with it the type of complex numbers. Local.

    It is the type of arrays made of shapes, Python's numbers and lists without ``dtype``, of integers divided or met by
    Python's floats, and the widest type that integers become beside floats. With float32, programs run on devices without
    float64.

    Parameters
    ----------
    dtype : float32 or float64
        float64 at the start.

    Examples
    --------
    >>> import partita as pt
    >>> pt.set_default_dtype(pt.float32)
    >>> pt.zeros(3).dtype, (pt.arange(3) / 2).dtype
    (partita.float32, partita.float32)
    >>> pt.set_default_dtype(pt.float64)
    """
    kind = as_dtype(dtype)
    if kind not in (dtypes.float32, dtypes.float64):
        raise ValueError(f"set_default_dtype: expected float32 or float64, given {kind.name}; name other types with dtype=")
    dtypes.default.float = kind


def get_default_dtype() -> DType:
    """The type of floats that no operand or argument decides.

    Examples
    --------
    >>> import partita as pt
    >>> pt.get_default_dtype()
    partita.float64
    """
    return dtypes.default.float
