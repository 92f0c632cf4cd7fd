"""Draws docs/speed.svg from the first table of this folder's README.md: ``python benches/results/plot.py``."""

import re
from pathlib import Path

import matplotlib as mpl

mpl.use("svg")
import matplotlib.pyplot as plt

HERE = Path(__file__).parent
LIBRARIES = {"Partita, host": "#0b5fa5", "JAX": "#8fa3ad", "numba": "#b7791f", "torch.compile": "#c05640", "NumPy": "#c9ced1"}
ROWS = {
    "copy": "copy", "triad `a + s*b`": "a + s*b", "fused, 8 operations": "8 operations", "`exp(a) * sin(b)`": "exp(a) * sin(b)",
    "sum": "sum", "2-D, 5 points": "2-D stencil,\n5 points", "3-D, 7 points": "3-D stencil,\n7 points",
    "3-D, 27 points": "3-D stencil,\n27 points",
}  # fmt: skip


def table() -> dict[str, dict[str, float]]:
    """Fraction of the copy, by row and library."""
    lines = (HERE / "README.md").read_text().splitlines()
    start = next(at for at, line in enumerate(lines) if line.startswith("| GB/s | Partita, host | JAX"))
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[start:]]
    head, rows = cells[0], {}
    for row in cells[2:]:
        if len(row) != len(head):
            break
        fractions = [re.search(r"\(([\d.]+)\)", cell) for cell in row]
        rows[row[0]] = {name: float(found[1]) for name, found in zip(head, fractions, strict=True) if found}
    return rows


def main() -> None:
    rows = table()
    mpl.rcParams.update({"svg.hashsalt": "partita", "svg.fonttype": "path", "font.size": 10})
    figure, axes = plt.subplots(figsize=(9, 3.6), layout="constrained")
    figure.patch.set_facecolor("white")
    width = 0.16
    for number, (library, colour) in enumerate(LIBRARIES.items()):
        places = [at + (number - 2) * width for at in range(len(ROWS))]
        axes.bar(places, [rows[row].get(library, 0) for row in ROWS], width * 0.92, color=colour, label=library)
    axes.axhline(1, color="#444444", linewidth=0.8, linestyle=(0, (4, 3)))
    axes.text(len(ROWS) - 0.5, 1.01, "copy speed", ha="right", va="bottom", fontsize=9, color="#444444")
    axes.set_xticks(range(len(ROWS)), list(ROWS.values()))
    axes.set_ylabel("fraction of the copy speed")
    axes.set_ylim(0, 1.15)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(ncols=len(LIBRARIES), frameon=False, loc="outside upper center")
    figure.savefig(HERE.parents[1] / "docs/speed.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()
