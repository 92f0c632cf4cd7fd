"""The operators of ``partita`` between partitions as functions that PyTorch differentiates through.

    copies = partita.torch.broadcast(root, everyone)
    weights = copies(weight)                 # a tensor in, one tensor per member out
    loss(*weights).backward()                # weight.grad is the sum over the members

Tensors are what this process's members hold, by rank, each where its member's device is: on the host or on a CUDA device. Importing this
imports no torch; applying an operator does.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any, ParamSpec

from ._api import collective as _collective
from ._api.collective import Collective, apply

__all__ = [
    "Differentiable", "all_sum_reduce", "allgather", "broadcast", "gather", "halo_exchange", "repartition", "scatter",
    "sum_reduce",
]  # fmt: skip

P = ParamSpec("P")


class Differentiable:
    """An operator on tensors: one per member of its source in, one per member of its target out, of this process's
    members. Applying it and going back through it are collective over the world that the partitions are of."""

    __slots__ = ("operator",)

    def __init__(self, operator: Collective) -> None:
        self.operator = operator

    def __call__(self, *blocks: Any) -> tuple[Any, ...]:
        """The results, by rank of the target's members, where they were computed. A process that has none of them gets one
        empty tensor, through which it takes part in going back: let its loss depend on it, and go back on all processes."""
        # Without tensors of its own a process would not be asked to go back, and the others would wait for it.
        anchor = _torch().empty(0, requires_grad=self.operator.source.team.ranks > 1)
        made: tuple[Any, ...] = _function().apply(self.operator, anchor, *blocks)
        return made

    def __repr__(self) -> str:
        return f"partita.torch.Differentiable({self.operator!r})"


def _torch() -> Any:
    return importlib.import_module("torch")


def _forward(ctx: Any, operator: Collective, anchor: Any, *blocks: Any) -> tuple[Any, ...]:
    parts, ctx.layout = apply(operator, [block.detach().contiguous() for block in blocks], None)
    ctx.operator = operator
    return _owned(parts) or (anchor.new_empty(0),)


def _backward(ctx: Any, *gradients: Any) -> tuple[Any, ...]:
    mine = gradients[: len(ctx.operator.target.team.local_members)]
    parts, _ = apply(ctx.operator.adjoint, [g.detach().contiguous() for g in mine], ctx.layout)
    return (None, None, *_owned(parts))


def _owned(parts: list[Any]) -> tuple[Any, ...]:
    # Torch may write to what it gets: results are in fresh memory, which nothing else has any more. People expect to reshape them.
    return tuple(_torch().from_dlpack(part).contiguous() for part in parts)


#: The function of autograd, once torch is there to make it of.
_made: Any = None


def _function() -> Any:
    global _made
    if _made is None:
        methods = {"forward": staticmethod(_forward), "backward": staticmethod(_backward)}
        _made = type("Operator", (_torch().autograd.Function,), methods)
    return _made


def _wrapped(make: Callable[P, Collective]) -> Callable[P, Differentiable]:
    @functools.wraps(make)
    def made(*args: P.args, **kwargs: P.kwargs) -> Differentiable:
        return Differentiable(make(*args, **kwargs))

    return made


broadcast = _wrapped(_collective.broadcast)
sum_reduce = _wrapped(_collective.sum_reduce)
all_sum_reduce = _wrapped(_collective.all_sum_reduce)
halo_exchange = _wrapped(_collective.halo_exchange)
repartition = _wrapped(_collective.repartition)
gather = _wrapped(_collective.gather)
scatter = _wrapped(_collective.scatter)
allgather = _wrapped(_collective.allgather)
