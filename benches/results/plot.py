"""Draws docs/speed.svg from the newest table of gpu.md in this folder: ``python benches/results/plot.py``."""

from pathlib import Path

import matplotlib as mpl

mpl.use("svg")
import matplotlib.pyplot as plt

HERE = Path(__file__).parent
SERIES = {
    "H100 f32": ("Partita, H100", "#0b5fa5"), "H200 f32": ("Partita, H200", "#7fb2dc"),
    "torch.compile, H100 f32": ("torch.compile, H100", "#c05640"), "JAX, H100 f32": ("JAX, H100", "#8fa3ad"),
}  # fmt: skip
CASES = {
    "copy": "copy", "fused8": "8 opera-\ntions", "expsin": "exp(a)\n* sin(b)", "sum": "sum", "sum_columns": "column\nsums",
    "stencil5": "2-D,\n5 points", "stencil7": "3-D,\n7 points", "stencil13": "3-D,\n13 points", "stencil25": "3-D,\n25 points",
    "stencil27": "3-D,\n27 points", "gray_scott": "Gray-\nScott", "wave": "wave,\norder 8",
}  # fmt: skip


def table() -> tuple[str, dict[str, dict[str, str]]]:
    """The title of the newest section with a table of cases, and that table by case and column."""
    lines = (HERE / "gpu.md").read_text().splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith("| case | H100 f32 "))
    title = next(line.strip("# ") for line in reversed(lines[:start]) if line.startswith("## "))
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[start:]]
    end = next(at for at, row in enumerate(cells) if len(row) != len(cells[0]))
    return title, {row[0]: dict(zip(cells[0], row, strict=True)) for row in cells[2:end]}


def main() -> None:
    title, rows = table()
    mpl.rcParams.update({"svg.hashsalt": "partita", "svg.fonttype": "path", "font.size": 10})
    figure, axes = plt.subplots(figsize=(10, 3.6), layout="constrained")
    figure.patch.set_facecolor("white")
    width = 0.2
    for number, (column, (label, colour)) in enumerate(SERIES.items()):
        measured = [(at, rows[case][column]) for at, case in enumerate(CASES) if rows[case][column]]
        places, fractions = zip(*((at + (number - 1.5) * width, float(cell)) for at, cell in measured), strict=True)
        axes.bar(places, fractions, width * 0.92, color=colour, label=label)
    axes.axhline(1, color="#444444", linewidth=0.8, linestyle=(0, (4, 3)))
    axes.text(len(CASES) - 0.5, 1.03, "cuMemcpyDtoDAsync", ha="right", va="bottom", fontsize=9, color="#444444")
    axes.set_xticks(range(len(CASES)), list(CASES.values()), fontsize=9)
    axes.set_ylabel("fraction of the copy speed")
    axes.set_ylim(0, 1.15)
    axes.set_xlim(-0.6, len(CASES) - 0.4)
    axes.set_title(f"f32, {title[0].lower()}{title[1:]}; no bar: not measured", fontsize=9, color="#444444", loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(ncols=len(SERIES), frameon=False, loc="outside upper center")
    figure.savefig(HERE.parents[1] / "docs/speed.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
