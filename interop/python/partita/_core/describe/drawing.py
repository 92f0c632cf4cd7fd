"""Drawings of distributions as SVG: one colour per part, halos and copies hatched, boundaries shaded."""

from __future__ import annotations

from itertools import chain

from ... import _native

_COLOURS = (
    "#8fbcd9", "#f4b183", "#a9d18e", "#f4a6a6", "#c5b0d5", "#d9c48f", "#f7c6de", "#b7b7b7", "#d4e07a", "#8fd9d0", "#e0a3c8", "#9fa8da",
)  # fmt: skip
_INK = "#222222"
_SHADE = f'fill="{_INK}" fill-opacity="0.35"'
_FRAME = f'fill="none" stroke="{_INK}" stroke-width="1.6"'
_MARGIN, _CAPTION, _BAR, _SLICES = 24.0, 22.0, 26.0, 6
_MOST_BOXES = 20_000

_Span = tuple[int, int]
_Box = tuple[_Span, _Span]


def _short(value: float) -> str:
    return f"{round(value, 2):.15g}"


def _fill(part: int) -> str:
    return f'fill="{_COLOURS[part % len(_COLOURS)]}"'


def _widened(box: _Box, widths: tuple[_Span, ...], by: int = 1) -> _Box:
    rows, columns = ((start - by * lo, stop + by * hi) for (start, stop), (lo, hi) in zip(box, widths, strict=True))
    return rows, columns


def _ring(outer: _Box, inner: _Box) -> list[_Box]:
    """The cells of ``outer`` that are not in ``inner``, as boxes."""
    ((top, bottom), (left, right)), (rows, (start, stop)) = outer, inner
    return [((top, rows[0]), (left, right)), ((rows[1], bottom), (left, right)), (rows, (left, start)), (rows, (stop, right))]


class _Sheet:
    """An SVG document under way; its size grows with the panels and captions."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.hatches: dict[int, None] = {}
        self.width = self.height = 0.0

    def text(self, x: float, y: float, text: object, size: float = 13.0, anchor: str = "start") -> None:
        style = f'font-size="{_short(size)}" text-anchor="{anchor}" fill="{_INK}"'
        self.lines.append(f'<text x="{_short(x)}" y="{_short(y)}" {style}>{text}</text>')

    def finish(self) -> str:
        width, height = _short(self.width + _MARGIN), _short(self.height + _MARGIN)
        patterns = [
            f'<pattern id="hatch{colour}" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="6" '
            f'height="6" fill="#ffffff" fill-opacity="0.5"/><rect width="3" height="6" {_fill(colour)}/></pattern>'
            for colour in self.hatches
        ]
        head = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="sans-serif"'
        background = '<rect width="100%" height="100%" fill="#ffffff"/>'
        return "\n".join(
            [f'<svg xmlns="http://www.w3.org/2000/svg" {head}>', "<defs>", *patterns, "</defs>", background, *self.lines, "</svg>", ""]
        )


class _Panel:
    """A grid of cells on a sheet. Boxes are spans of rows and of columns."""

    def __init__(self, sheet: _Sheet, x: float, y: float, cell: tuple[float, float]) -> None:
        self.sheet, self.x, self.y, self.cell = sheet, x, y, cell

    def place(self, row: float, column: float) -> tuple[float, float]:
        return self.x + column * self.cell[1], self.y + row * self.cell[0]

    def box(self, box: _Box, style: str) -> None:
        (top, bottom), (left, right) = box
        if top < bottom and left < right:
            (x, y), (x1, y1) = self.place(top, left), self.place(bottom, right)
            size = f'width="{_short(x1 - x)}" height="{_short(y1 - y)}"'
            self.sheet.lines.append(f'<rect x="{_short(x)}" y="{_short(y)}" {size} {style}/>')

    def hatch(self, box: _Box, part: int) -> None:
        self.sheet.hatches[part % len(_COLOURS)] = None
        self.box(box, f'fill="url(#hatch{part % len(_COLOURS)})" stroke="{_INK}" stroke-width="0.6"')

    def plane(self, parts: list[tuple[_Box, int]], whole: _Box, inside: _Box) -> None:
        """Boxes in the colours of their parts; the boundary around ``inside`` shaded; lines and numbers where there is room."""
        for box, part in parts:
            self.box(box, _fill(part))
        for box in _ring(whole, inside):
            self.box(box, _SHADE)
        (_, rows), (_, columns) = whole
        right, bottom = self.place(rows, columns)
        path = "".join(f"M{_short(self.place(0, k)[0])} {_short(self.y)}V{_short(bottom)}" for k in range(1, columns * (self.cell[1] >= 6)))
        path += "".join(f"M{_short(self.x)} {_short(self.place(k, 0)[1])}H{_short(right)}" for k in range(1, rows * (self.cell[0] >= 6)))
        if path:
            self.sheet.lines.append(f'<path d="{path}" stroke="#ffffff" stroke-width="0.8" fill="none"/>')
        self.box(whole, _FRAME)
        for (row, column), part in parts:
            side = min((row[1] - row[0]) * self.cell[0], (column[1] - column[0]) * self.cell[1])
            if side >= 9.0:
                (x, y), size = self.place(sum(row) / 2, sum(column) / 2), min(side * 0.6, 14.0)
                self.sheet.text(x, y + size / 3, part, size, "middle")
        self.sheet.width, self.sheet.height = max(self.sheet.width, right), max(self.sheet.height, bottom)


def _cell(rows: int, columns: int, panel: float) -> tuple[float, float]:
    """Height and width of a cell: a square, unless that made a panel more than 8 times as long as it is wide."""
    cell = min(36.0, panel / max(rows, columns, 1))
    least = max(rows, columns) * cell / 8
    height, width = (cell * max(least / (extent * cell), 1.0) if extent else cell for extent in (rows, columns))
    return height, width


def _refused(text: str) -> NotImplementedError:
    return NotImplementedError(f"Distribution.svg: expected {text}; draw a slice, or a smaller shape of the same kind")


def svg(dist: _native.Distribution) -> str:
    """The drawing of who owns what, in global coordinates. One dimension: the whole, and below it one row per part with its halo
    and its copies. Two: a map, with the halo of the part in the middle. Three: maps without halo, for slices along dimension 0."""
    if not 1 <= dist.ndim <= 3:
        raise _refused(f"one to three dimensions, given {dist.ndim}")
    divisions = [dist._division(d, _MOST_BOXES + 1) for d in range(dist.ndim)]
    # A line is a plane of one row.
    line, blocks = dist.ndim == 1, set(dist.kinds) == {"block"}
    (height, width), periodic = (1, *dist.shape)[-2:], (False, *dist.periodic)[-2:]
    halo, boundary = ((0, 0), *dist.halo)[-2:], ((0, 0), *dist.boundary)[-2:]
    rows, columns = ([[(0, 1)]], *([once for _, once in parts] for _, parts in divisions))[-2:]
    drawn = sum(map(len, rows)) * sum(map(len, columns)) + line * sum(len(held) for held, _ in divisions[0][1])
    if drawn > _MOST_BOXES:
        raise _refused(f"at most {_MOST_BOXES} boxes, given {drawn} or more")
    spans = [(y, x) for y in chain(*rows) for x in chain(*columns)]
    whole = ((0, height), (0, width))
    sheet, inside = _Sheet(), _widened(whole, boundary, -1)

    def plane(x: float, y: float, cell: tuple[float, float], *at: int) -> _Panel:
        panel = _Panel(sheet, x, y, cell)
        panel.plane([(box, dist.owner((*at, box[0][0], box[1][0])[-dist.ndim :])) for box in spans], whole, inside)
        return panel

    def hatch_halo(panel: _Panel, box: _Box, part: int) -> None:
        for each in _ring(_widened(box, ((0, 0), *dist.halo_of(part))[-2:]), box):
            panel.hatch(each, part)

    whose = ""
    if dist.ndim == 3:
        cell = _cell(height, width, 200.0)
        for n in range(count := min(dist.shape[0], _SLICES)):
            x = _MARGIN + n % 3 * (width * cell[1] + _MARGIN)
            y = _MARGIN + n // 3 * (height * cell[0] + _MARGIN + _CAPTION)
            at = (2 * n + 1) * dist.shape[0] // (2 * count)
            sheet.text(x, y + 10, f"slice {at}")
            plane(x, y + _CAPTION, cell, at)
    else:
        cell = (_BAR, min(36.0, 480 / max(width, 1))) if line else _cell(height, width, 480.0)
        # Halos of periodic dimensions reach beyond the ends.
        (above, below), (before, after) = (
            (lo * size * wraps, hi * size * wraps) for (lo, hi), size, wraps in zip(halo, cell, periodic, strict=True)
        )
        x, y = _MARGIN + before + 44 * line, _MARGIN + above
        panel = plane(x, y, cell)
        if line:
            sheet.text(_MARGIN, y + 17, "whole", 12)
            for part, (held, once) in enumerate(divisions[0][1]):
                y += _BAR + 8
                panel = _Panel(sheet, x, y, cell)
                sheet.text(_MARGIN, y + 17, f"part {part}", 12)
                for run in held:
                    panel.hatch(((0, 1), run), part)
                for run in once:
                    panel.box(((0, 1), run), _fill(part))
                    if blocks:
                        hatch_halo(panel, ((0, 1), run), part)
        elif blocks and (middle := [part[n // 2] for part, n in zip((rows, columns), dist.grid, strict=True)]) and all(middle):
            box = (middle[0][0], middle[1][0])
            part = dist.owner((box[0][0], box[1][0]))
            hatch_halo(panel, box, part)
            panel.box(box, _FRAME)
            whose = f" of part {part}"
        sheet.width, sheet.height = sheet.width + after, max(sheet.height, y + cell[0] * line) + below
    (lo, hi), (first, last) = ([tuple(pair[side] for pair in widths) for side in (0, 1)] for widths in (dist.halo, dist.boundary))
    captions = {
        f"shape {dist.shape}, grid {dist.grid}, maps {' x '.join(name for name, _ in divisions)}": True,
        f"hatched: halo{whose}, up to {lo} below and {hi} above": any(lo + hi),
        f"shaded: boundary, {first} below and {last} above": any(first + last),
        "hatched: copies": line and any(held != once for held, once in divisions[0][1]),
        f"periodic along dimension {' and '.join(str(d) for d, wraps in enumerate(dist.periodic) if wraps)}": any(dist.periodic),
    }
    sheet.height += 8
    for text in filter(captions.__getitem__, captions):
        sheet.height += _CAPTION - 4
        sheet.text(_MARGIN, sheet.height, text)
        # Letters of this size are not wider on average.
        sheet.width = max(sheet.width, _MARGIN + 7 * len(text))
    return sheet.finish()
