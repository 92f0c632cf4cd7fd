"""Descriptions of arrays and parts: printed, in a notebook, in ``__distarray__`` and in ``__partitioned__``. `drawing` draws
distributions.

Parts on the host give a memoryview or a NumPy view of their memory, read-only and without a copy. Others, and
bfloat16, which has no PEP 3118 format, give an object with ``__dlpack__``: an extension of both protocols.
"""

from __future__ import annotations

import html
import importlib.util
import os
import socket
from typing import Any

from ... import _native
from ..base import BaseArray
from ..dtypes import bfloat16, float32
from ..memory import size, to_host
from ..ranks.teams import of_members, of_processes
from ..watch import in_step

_CELL = "padding:1px 14px 1px 0;text-align:left;background:none"
_HEAD = f"{_CELL};font-weight:600;border-bottom:1px solid #8886"


def text_of(array: BaseArray, **words: Any) -> str:
    """The elements as NumPy prints them, with ``words`` for `numpy.array2string`; of a large array only those at the ends are read.
    Computes. Collective."""
    import numpy as np

    if not array.ndim:
        return str(np.array(array.item(), array.dtype.dtype))
    options = np.get_printoptions()
    edge = max(int(options["edgeitems"]), 1)
    if array.size <= options["threshold"]:
        return np.array2string(array.numpy(), **words) if words else str(array.numpy())
    native = array.eval()._native
    for d, extent in enumerate(array.shape):
        if extent > 2 * edge:
            # One element more than is shown, so that NumPy writes dots.
            ends = [(0, 1, edge + 1), (extent - edge, 1, edge)]
            others = [(0, 1, count) for count in native.shape]
            pieces = [native.view(_native.Selection([*others[:d], end, *others[d + 1 :]])) for end in ends]
            native = _native.Array.concatenate(pieces, d)
    return np.array2string(to_host(native), threshold=0, **words)


def _division(array: BaseArray) -> str:
    count = array.dist.num_parts if array.ndim else 1
    return "1 part" if count == 1 else f"{count} parts in grid {array.dist.grid}"


def representation(array: BaseArray) -> str:
    """The text of ``repr``. Local, and never fails."""
    try:
        elements = shown(array, separator=", ", prefix="Array(", suffix=",")
        if elements is None:
            return summary(array)
        shape = "" if array.size or array.shape == (0,) else f"shape={array.shape}, "
        return f"Array({elements}, {shape}{array.dtype.name}, {_division(array)})"
    except Exception as error:
        # Of arrays that a Loop has, whose memory is lent, or that could not be computed.
        return f"<partita.Array, {type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}>"


def summary(array: BaseArray) -> str:
    """Shape, type and distribution; whether it is computed, and which parts are here. Local."""
    team, facts = array.team, ""
    if team.ranks > 1:
        facts = f", parts {numbers(team.local_members) or 'none'} here"
    facts += "" if is_computed(array) and not in_step() else ", not computed"
    return f"<partita.Array {array.shape} {array.dtype.name}, {_division(array)}{facts}>"


def is_computed(array: BaseArray) -> bool:
    """True if reading computes nothing but a copy."""
    return (array if array._link is None else array._link.root)._native.is_in_memory()


def shown(array: BaseArray, **words: Any) -> str | None:
    """The elements in words: of few the values, which are computed if need be; of many those at the ends, if they are computed.
    None of arrays over several processes, and inside the step of a Loop."""
    if array.team.ranks > 1 or in_step():
        return None
    import numpy as np

    if array.size > np.get_printoptions()["threshold"] and not is_computed(array):
        return None
    if array.dtype is bfloat16 and importlib.util.find_spec("ml_dtypes") is None:
        array = array.astype(float32)
    return text_of(array, **words)


def numbers(parts: list[int]) -> str:
    """Part numbers, those in a row as a range."""
    runs: list[list[int]] = []
    for part in parts:
        if runs and runs[-1][-1] + 1 == part:
            runs[-1].append(part)
        else:
            runs.append([part])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def table(array: BaseArray) -> list[tuple[str, str, str]]:
    """One row for the parts of one device that hold as much: device, parts, bytes."""
    dist, rows = array.dist, dict[tuple[str, int], list[int]]()
    for part, device in enumerate(dist.team.device_names):
        cells = array.dtype.itemsize
        for owned in dist.owned(part):
            cells *= owned[1] - owned[0] if isinstance(owned, tuple) else len(owned)
        rows.setdefault((device, cells), []).append(part)
    return [(name, numbers(parts), size(held)) for (name, held), parts in rows.items()]


def html_of(array: BaseArray) -> str:
    """The whole of it. Local, and never fails."""
    try:
        values = shown(array) or ("on several processes" if is_computed(array) and not in_step() else "not computed")
        return _page(array, values)
    except Exception:
        return f"<pre>{html.escape(representation(array))}</pre>"


def _page(array: BaseArray, values: str) -> str:
    word = "part" if array.dist.num_parts == 1 else "parts"
    facts = f"{array.shape} {array.dtype.name}, {size(array.nbytes)} in {array.dist.num_parts} {word}"
    rows = [("device", word, "bytes of each"), *table(array)]
    lines = "".join(
        "<tr style='background:none'>" + "".join(f"<td style='{_CELL if n else _HEAD}'>{html.escape(text)}</td>" for text in row) + "</tr>"
        for n, row in enumerate(rows)
    )
    picture = array.dist._repr_html_().replace("<svg ", "<svg style='max-width:100%;max-height:300px;height:auto;width:auto' ", 1)
    return (
        "<div style='font-family:sans-serif;font-size:13px;line-height:1.45'>"
        f"<div style='margin-bottom:6px'><b>partita.Array</b> {html.escape(facts)}</div>"
        f"<pre style='margin:0 0 8px;line-height:1.3;max-height:320px;overflow:auto'>{html.escape(values)}</pre>"
        "<div style='display:flex;flex-wrap:wrap;gap:8px 24px;align-items:flex-start'>"
        f"<table style='border-collapse:collapse;margin:0;font-size:inherit'>{lines}</table>"
        f"<div style='flex:1 1 320px;min-width:200px;max-width:560px'>{picture}</div></div></div>"
    )


# The two protocols.


def address(ranks: int) -> str:
    """The address at which others reach this process: on the machine itself, or on the machine's network."""
    try:
        return "127.0.0.1" if ranks == 1 else socket.gethostbyname(socket.gethostname())
    except OSError:
        return "127.0.0.1"


def _visible(part: _native.Memory) -> Any:
    """The memory as NumPy sees it, or the object that exports it."""
    if part.__dlpack_device__()[0] != 1 or part.dtype == "bfloat16":
        return part
    import numpy as np

    return np.from_dlpack(part)


def distarray(part: _native.Part) -> dict[str, Any]:
    """A part's description in ``__distarray__``. Its halo is padding, at each seam as wide as both sides have it; the buffer
    is that window of the part's memory."""
    described, shape, memory = _native.export_distarray(part)
    seen = _visible(memory)
    if tuple(seen.shape) != shape and not isinstance(seen, _native.Stored):
        # A part that owns nothing has no memory, of any shape.
        seen = seen.reshape(shape)
    described["buffer"] = seen if isinstance(seen, _native.Stored) else memoryview(seen)
    return described


# DLPack's numbers of the kinds of device, and their names.
_KINDS = {
    1: "kDLCPU", 2: "kDLCUDA", 3: "kDLCUDAHost", 4: "kDLOpenCL", 7: "kDLVulkan", 8: "kDLMetal", 9: "kDLVPI", 10: "kDLROCM",
    11: "kDLROCMHost", 12: "kDLExtDev", 13: "kDLCUDAManaged", 14: "kDLOneAPI", 15: "kDLWebGPU", 16: "kDLHexagon",
    17: "kDLMAIA", 18: "kDLTrn",
}  # fmt: skip


def device_of(data: Any) -> str:
    """The device of an array in DLPack's words; the host if it does not say."""
    kind, number = data.__dlpack_device__() if hasattr(data, "__dlpack_device__") else (1, 0)
    return f"{_KINDS.get(int(kind), int(kind))}:{int(number)}"


def get(data: Any) -> Any:
    """The object that ``data`` stands for, which here is itself."""
    return data


def partitioned(array: BaseArray, shown: list[_native.Part] | None = None) -> dict[str, Any]:
    """``__partitioned__`` of an array, by these parts if they are given; the data of other processes' parts is None.
    Collective."""
    dist, team = array.dist, array.team
    parts = {part.index: part for part in (array.parts if shown is None else shown)}
    mine = [(address(team.ranks), os.getpid(), device_of(part)) for part in parts.values()]
    if array.ndim:
        everyone = of_members(team, "__partitioned__", mine)
    else:
        # Of an array without dimensions one process has all.
        dist = _native.Distribution((), team=_native.Team.local(1, "host"))
        everyone = [place for each in of_processes(team, "__partitioned__", mine) for place in each]
    described, holders = _native.export_partitioned(dist, everyone)
    described["get"] = get
    local = []
    # Where something is replicated there are fewer boxes than parts, and any copy is as good.
    for (position, entry), held in zip(described["partitions"].items(), holders, strict=True):
        here = next((part for part in held if part in parts), None)
        if here is not None:
            entry["data"] = _visible(parts[here])
            local.append(position)
    if team.ranks > 1:
        described["locals"] = local
    return described
