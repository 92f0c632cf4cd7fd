"""NumPy's names in a table: what is there, what differs, what is not there and why.

    python interop/tests/numpy_table.py

writes the lower part of docs/numpy.md, from both packages and from numpy_names.txt; a test compares. Names come from one
version of NumPy, because each has others.
"""

import re
import textwrap
import warnings
from pathlib import Path

import numpy as np
import partita as pt

NUMPY = "2.4"
DOCUMENT = Path(__file__).parents[2] / "docs/numpy.md"
MARK = "<!-- From here on written by interop/tests/numpy_table.py -->\n"
_HERE = Path(__file__).parent / "numpy_names.txt"
#: NumPy's own tools, and names that only some machines have: no part of the comparison.
_TOOLS = {"testing", "typing", "exceptions", "dtypes", "emath", "float128", "complex256"}


def has(ours, name):
    """Whether NumPy's name is there; one that is deprecated is something else."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", DeprecationWarning)
        try:
            return hasattr(ours, name)
        except DeprecationWarning:
            return False


def spaces():
    """What is compared: a heading, how a name is written, the names, and whether one is there."""

    def public(names):
        return sorted({name for name in names if not name.startswith("_")} - _TOOLS)

    main = [name for name in public(np.__all__) if not isinstance(getattr(np, name), type(np))]
    kinds = {
        "Functions of elements (ufuncs)": [name for name in main if isinstance(getattr(np, name), np.ufunc)],
        "Types": [name for name in main if isinstance(getattr(np, name), type) and issubclass(getattr(np, name), np.generic)],
    }
    kinds["Functions, classes and constants"] = [name for name in main if not any(name in names for names in kinds.values())]
    kinds["Modules"] = [name for name in public(np.__all__) if isinstance(getattr(np, name), type(np))]
    yield from ((title, "", names, pt) for title, names in kinds.items())
    yield "Methods and attributes of arrays", "ndarray.", public(dir(np.ndarray)), pt.Array
    yield "`numpy.random`", "random.", public(set(np.random.__all__) - {"Generator"}), pt.random
    yield "`numpy.fft`", "fft.", public(np.fft.__all__), pt.fft
    yield "`numpy.linalg`", "linalg.", public(np.linalg.__all__), pt.linalg
    yield "Methods of `Generator`", "Generator.", public(dir(np.random.Generator)), pt.random.Generator


def reasons():
    """Why names are not there, and how others differ."""
    lines = [line for line in _HERE.read_text().splitlines() if line and not line.startswith("#")]
    lines = re.sub(r"\n\+ ", " ", "\n".join(lines)).splitlines()
    pairs = (line.split(": ") for line in lines if not line.startswith("differs "))
    absent = {name: reason for reason, names in pairs for name in names.split()}
    differs = dict(line.removeprefix("differs ").split(": ", 1) for line in lines if line.startswith("differs "))
    return absent, differs


def operations():
    """Functions of elements as rows of a table, from the package's."""
    yield from ("| name | other names | operator | types | result |", "|---|---|---|---|---|")
    named = {}
    for name, value in vars(pt).items():
        if isinstance(value, pt.ufunc):
            named.setdefault(value, set()).add(name)
    for row in sorted(named, key=lambda row: row.__name__):
        others = ", ".join(f"`{name}`" for name in sorted(named[row] - {row.__name__}))
        sign = f"`{row._sign}`".replace("|", "\\|") if row._sign else ""
        what = row.__doc__.splitlines()[0].replace("|", "\\|")
        yield f"| `{row.__name__}` | {others} | {sign} | {row._kinds} | {what} |"


def text():
    """The generated part of the document."""
    absent, differs = reasons()
    rows, lists, why = ["| | NumPy's names | there |", "|---|---|---|"], [], {}
    for title, prefix, names, ours in spaces():
        there = [name for name in names if has(ours, name)]
        rows.append(f"| {title} | {len(names)} | {len(there)} |")
        marked = (f"`{name}`" + ("*" if prefix + name in differs else "") for name in there)
        lists += ["", textwrap.fill(f"**{title}**: {', '.join(marked)}.", 120)]
        for name in names:
            if name not in there:
                why.setdefault(absent.get(prefix + name, "no reason given"), []).append(prefix + name)
    absences = [f"| {reason} | {', '.join(f'`{name}`' for name in names)} |" for reason, names in sorted(why.items())]
    different = [f"| `{name}` | {how} |" for name, how in sorted(differs.items())]
    return "\n".join([
        f"\n## Names of NumPy {NUMPY}\n", *rows,
        "\n## What is not there\n", "| why | names |", "|---|---|", *absences,
        "\n## What differs\n", "| name | how |", "|---|---|", *different,
        "\n## What is there\n", "A star: it differs, see above.", *lists,
        "\n## Functions of elements\n", "Kinds of types: b bool, i signed and u unsigned integers, f floats, c complex numbers.\n", *operations(), "",
    ])  # fmt: skip


def main():
    """Writes it."""
    above = DOCUMENT.read_text().split(MARK)[0]
    DOCUMENT.write_text(above + MARK + text())


if __name__ == "__main__":
    main()
