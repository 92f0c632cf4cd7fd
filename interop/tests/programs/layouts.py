"""Random distributions of every kind as data, so that they can be simplified and printed."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

import partita as pt


class Layout(NamedTuple):
    """A distribution of a shape over the program's team; None for an array without dimensions."""

    shape: tuple[int, ...]
    grid: tuple[int, ...]
    #: Per dimension None, or the name of a map and what it is called with.
    dims: tuple[tuple[Any, ...] | None, ...]
    halo: tuple[tuple[int, int], ...]
    periodic: tuple[bool, ...]

    #: The parts of another team than the program's, if it is over one.
    parts: int | None = None

    def team(self, team: pt.Team) -> pt.Team:
        """The program's team, or the other one on its devices."""
        return team if self.parts is None else pt.Team(self.parts, team.devices)

    def build(self, team: pt.Team) -> pt.Distribution | None:
        """The distribution itself."""
        if not self.shape:
            return None
        team = self.team(team)
        dims = [None if d is None else getattr(pt, d[0])(*d[1:]) for d in self.dims]
        return pt.Distribution(
            self.shape, team=team, grid=self.grid, dims=dims, halo=self.halo, periodic=self.periodic
        )

    def source(self) -> str:
        """How people would write it."""
        if not self.shape:
            return "None"
        team = "team" if self.parts is None else f"pt.Team({self.parts}, team.devices)"
        words = [f"{self.shape}, team={team}, grid={self.grid}"]
        if any(self.dims):
            maps = ("None" if d is None else f"pt.{d[0]}({', '.join(map(repr, d[1:]))})" for d in self.dims)
            words.append(f"dims=[{', '.join(maps)}]")
        if any(map(any, self.halo)):
            words.append(f"halo={self.halo}")
        if any(self.periodic):
            words.append(f"periodic={self.periodic}")
        return f"pt.Distribution({', '.join(words)})"

    def kinds(self) -> set[str]:
        """What is special about it, for the count of what ran."""
        found = {d[0].lower() if d[0] != "Unstructured" or d[2] else "copies" for d in self.dims if d}
        found |= {"halo"} if any(map(any, self.halo)) else set()
        found |= {"other team"} if self.parts is not None else set()
        return found | ({"periodic"} if any(self.periodic) else set()) or {"even"}


def plain(shape: tuple[int, ...], parts: int) -> Layout:
    """The default partition."""
    return Layout(
        shape,
        (parts,) + (1,) * (len(shape) - 1) if shape else (),
        (None,) * len(shape),
        ((0, 0),) * len(shape),
        (False,) * len(shape),
    )


def random_layout(rng: random.Random, shape: tuple[int, ...], parts: int) -> Layout:
    """One of any kind, now and then over a team of its own."""
    if shape and rng.random() < 0.1:
        other = rng.choice((1, 2, 3, 5))
        return _over(rng, shape, other)._replace(parts=other)
    return _over(rng, shape, parts)


def _over(rng: random.Random, shape: tuple[int, ...], parts: int) -> Layout:
    if not shape:
        return plain(shape, parts)
    grid = _grid(rng, parts, len(shape))
    dims, halo, periodic = [], [], []
    for extent, along in zip(shape, grid, strict=True):
        kind = rng.choice(("even", "even", "bounds", "cyclic", "lists", "copies", "replicated"))
        map_, smallest = _map(rng, kind, extent, along)
        dims.append(map_)
        # A halo is as wide as the smallest part at most.
        widest = min(smallest, 3) if rng.random() < 0.6 else 0
        halo.append((rng.randint(0, widest), rng.randint(0, widest)))
        periodic.append(rng.random() < 0.25)
    return Layout(shape, grid, tuple(dims), tuple(halo), tuple(periodic))


def _grid(rng: random.Random, parts: int, rank: int) -> tuple[int, ...]:
    grid = [1] * rank
    for prime in (2, 3, 5, 7):
        while parts % prime == 0:
            grid[rng.randrange(rank)] *= prime
            parts //= prime
    return tuple(grid)


def _map(rng: random.Random, kind: str, extent: int, along: int) -> tuple[tuple[Any, ...] | None, int]:
    """A map of one dimension, and the cells that its smallest part owns (0 where it has no halo)."""
    if kind == "even":
        return None, extent // along
    if kind == "bounds":
        bounds = [0, *sorted(rng.randint(0, extent) for _ in range(along - 1)), extent]
        return ("Block", bounds), min(b - a for a, b in zip(bounds, bounds[1:], strict=False))
    if kind == "cyclic":
        return ("Cyclic", rng.randint(1, 3)), 0
    if kind == "replicated":
        return ("Replicated",), 0
    owner = [rng.randrange(along) for _ in range(extent)]
    order = rng.sample(range(extent), extent)
    lists = [[i for i in order if owner[i] == part] for part in range(along)]
    if kind == "copies":
        for part in lists:
            part.extend(i for i in range(extent) if i not in part and rng.random() < 0.2)
    return ("Unstructured", lists, kind != "copies"), 0
