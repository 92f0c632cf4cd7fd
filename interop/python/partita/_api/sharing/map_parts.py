"""``map_parts``: functions of one's own, in any package, on the parts of arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

from ..._core.array import Array
from ..._core.domains import At, Domain
from ..._native import Device, Distribution
from ..create import zeros
from ..dims import Block

Widths = int | Sequence[int]


class Stream(NamedTuple):
    """A stream of a CUDA device, by the protocol ``__cuda_stream__``."""

    #: The driver's handle.
    handle: int

    def __cuda_stream__(self) -> tuple[int, int]:
        """The protocol's version, and the handle."""
        return 0, self.handle


class PartBlock(NamedTuple):
    """The place of a part: `map_parts` passes it beside the views."""

    #: Its number.
    number: int
    #: The cells that the part owns: per dimension (start, stop), or an index array where they are no range.
    box: tuple[Any, ...]
    #: Per dimension how many cells of neighbours the inputs have (below, above) those of the part.
    halo: tuple[tuple[int, int], ...]
    device: Device
    #: The stream on which the device computes; None on the host, and with ``streams=False``.
    stream: Stream | None
    #: The indices that the part owns of the domain that `map_parts` goes over, if it was given one; see `Domain.local`.
    domains: list[Domain] | None = None

    @property
    def inner(self) -> tuple[slice, ...]:
        """The cells of the inputs that the part owns."""
        extents = (o[1] - o[0] if isinstance(o, tuple) else len(o) for o in self.box)
        return tuple(slice(below, below + extent) for (below, _), extent in zip(self.halo, extents, strict=True))


def map_parts(
    f: Callable[..., object], *arrays: Array, out: Any = None, halo: Widths = 0, streams: bool = True,
    domain: Domain | None = None,
) -> Any:  # fmt: skip
    """Calls a function for each part of this process, with the memory of the arrays' parts. Computes. Collective.

    ``f(block, *inputs, *outputs)`` gets the parts of ``arrays``, read-only and with current halos, and the parts of the
    results, to be written; both export DLPack, ``__array_interface__`` on the host and ``__cuda_array_interface__`` on CUDA
    devices. Any package may compute: Numba, PyTorch, CuPy, Triton. `PartBlock` says which part it is. Results start as
    zeros; arrays that are passed as ``out`` start as they are, and inputs keep their values even if they are written
    as ``out``, too.

    Parameters
    ----------
    f : callable
        Its result is not used. An exception ends the call, and arrays passed as ``out`` keep what was written.
    *arrays : Array
        Of one shape, on one team. Those on another distribution than the first are redistributed.
    out : dtype, Array, or a sequence of these, optional
        The type of a new result, or an array to be written, of the shape and distribution of the first array. Default:
        one new array of the first array's type.
    halo : int or sequence of int, optional
        How many cells of neighbours the inputs have at least, in all dimensions or per dimension. If the first array's
        distribution declares no such halo, the inputs are copied to one that does. There is no halo beyond the ends of
        the array, unless they are periodic.
    streams : bool, optional
        On CUDA devices True gives the stream of each device: work that is queued there needs no synchronization.
        With False the devices are idle when ``f`` is called, so that it may use any stream.
    domain : Domain, optional
        The indices to go over: ``f`` gets the arrays' elements there, new results are over it, and ``block.domains`` has the
        indices of the part. Each part goes over what it owns of the first array: Chapel's leader; the others follow.

    Returns
    -------
    Array or tuple of Array
        What ``out`` is: one, or several.

    Raises
    ------
    ValueError
        For arrays of several shapes or teams, halos of dimensions that are not blocks, and inside the step of a Loop.
    BufferError
        For parts on wgpu adapters.

    Examples
    --------
    >>> import numpy as np
    >>> import partita as pt
    >>> def smooth(block, u, mean):
    ...     ends = [(1 - below, 1 - above) for below, above in block.halo]  # the array's ends have no neighbours
    ...     u = np.pad(np.asarray(u), ends, mode="edge")
    ...     np.asarray(mean)[...] = (u[:-2] + u[1:-1] + u[2:]) / 3
    >>> u = pt.asarray([0.0, 3, 6, 3, 0, 0], team=pt.Team(2, "host"))
    >>> print(pt.map_parts(smooth, u, halo=1))
    [1. 3. 4. 3. 1. 0.]
    """
    several = isinstance(out, (tuple, list))
    wanted: list[Any] = list(out) if several else [out]
    given = [*arrays, *(x for x in wanted if isinstance(x, Array))]
    if not given:
        raise ValueError("map_parts: expected at least one array, given none; pass one, or one as out")
    first = given[0]
    for x in given:
        if x.shape != first.shape or x.team != first.team or not x.ndim:
            kinds = f"{x.shape} on {x.team} beside {first.shape} on {first.team}"
            raise ValueError(f"map_parts: expected arrays of one shape with dimensions, on one team, given {kinds}")
    if domain is not None:
        # Each part goes over what it owns of the first one's elements there.
        there = [At(x)[domain] for x in given]
        leader = Domain(*domain.dims, dist=there[0].dist)
        call = f

        def f(block: PartBlock, *views: Any) -> None:
            call(block._replace(domains=leader.local(block.number)), *views)

        targets = [At(x) if isinstance(x, Array) else None for x in wanted]
        arrays = tuple(there[: len(arrays)])
        wanted = [x if target is None else target[domain].redistribute(leader.dist).copy() for x, target in zip(wanted, targets, strict=True)]
        first = there[0]
    dist = first.dist
    wide = _wide(dist, halo)
    results = [x if isinstance(x, Array) else zeros(dist.shape, first.dtype if x is None else x, dist) for x in wanted]
    for x in results:
        if x.dist != dist:
            raise ValueError(f"map_parts: expected out on the distribution of the first array, given {x.dist}; redistribute it")
    # Exports of the inputs keep their values, also where an array is written as `out`.
    inputs = [(x if x.dist == wide else x.redistribute(wide)).parts for x in arrays]
    with ExitStack() as loans:
        outputs = [loans.enter_context(x.writable()) for x in results]
        if not streams:
            dist.team.wait()
        for n, part in enumerate((inputs or outputs)[0]):
            views = [parts[n].stored for parts in inputs]
            device = part.device
            handle = device.stream if streams else None
            edges = views[0].halo if views else ((0, 0),) * len(dist.shape)
            block = PartBlock(part.index, dist.owned(part.index), edges, device, None if handle is None else Stream(handle))
            f(block, *views, *(parts[n] for parts in outputs))
    if domain is not None:
        for n, target in enumerate(targets):
            if target is not None:
                target[domain] = results[n]
            results[n] = results[n].reindex(domain) if target is None else target[domain]
    return tuple(results) if several else results[0]


def _wide(dist: Distribution, halo: Widths) -> Distribution:
    """The distribution with at least such halos."""
    rank = dist.ndim
    widths = [halo] * rank if isinstance(halo, int) else list(halo)
    if len(widths) != rank or any(width < 0 for width in widths):
        raise ValueError(f"map_parts: expected a halo of 0 or more cells per dimension, {rank} of them, given {halo}")
    if all(min(has) >= width for has, width in zip(dist.halo, widths, strict=True)):
        return dist
    if set(dist.kinds) != {"block"}:
        raise ValueError(f"map_parts: expected blocks for a halo, given dimensions that are {dist.kinds}; redistribute the array")
    dims = []
    for d, parts in enumerate(dist.grid):
        # The parts along this dimension, first in all others.
        step = 1
        for count in dist.grid[d + 1 :]:
            step *= count
        ends = [dist.owned(at * step)[d] for at in range(parts)]
        bounds = [0, *(int(end[1]) for end in ends)]
        dims.append(Block(bounds))
    pairs = [(max(has[0], width), max(has[1], width)) for has, width in zip(dist.halo, widths, strict=True)]
    return Distribution(dist.shape, team=dist.team, grid=dist.grid, dims=dims, halo=pairs, periodic=dist.periodic, boundary=dist.boundary)
