"""How an array looks in a notebook: what it is, who holds how much of it, and the picture of its distribution."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .array import Array

_CELL = "padding:1px 14px 1px 0;text-align:left;background:none"
_HEAD = f"{_CELL};font-weight:600;border-bottom:1px solid #8886"


def size(count: int) -> str:
    """Bytes for people: three digits."""
    value, units = float(count), iter(("KiB", "MiB", "GiB", "TiB", "PiB"))
    if value < 1024:
        return f"{count} B"
    unit = "B"
    while value >= 1024:
        value, unit = value / 1024, next(units, "EiB")
    return f"{value:.3g} {unit}"


def numbers(parts: list[int]) -> str:
    """Part numbers, those in a row as a range."""
    runs: list[list[int]] = []
    for part in parts:
        if runs and runs[-1][-1] + 1 == part:
            runs[-1].append(part)
        else:
            runs.append([part])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def table(array: Array) -> list[tuple[str, str, str]]:
    """One row for the parts of one device that hold as much: device, parts, bytes."""
    dist, rows = array.dist, dict[tuple[str, int], list[int]]()
    for part, device in enumerate(dist.team.device_names):
        cells = array.dtype.itemsize
        for owned in dist.owned(part):
            cells *= owned[1] - owned[0] if isinstance(owned, tuple) else len(owned)
        rows.setdefault((device, cells), []).append(part)
    return [(name, numbers(parts), size(held)) for (name, held), parts in rows.items()]


def html_of(array: Array) -> str:
    """The whole of it."""
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
        "<div style='display:flex;flex-wrap:wrap;gap:8px 24px;align-items:flex-start'>"
        f"<table style='border-collapse:collapse;margin:0;font-size:inherit'>{lines}</table>"
        f"<div style='flex:1 1 320px;min-width:200px;max-width:560px'>{picture}</div></div></div>"
    )
