"""The table of requirements, the tests that carry their numbers, and the document that says which shows what.

    python interop/tests/conformance/kit.py

writes docs/conformance.md from requirements.json, the markers ``@pytest.mark.requirement``, mutants.py, and ran.json: the
devices on which tests passed, which ``UPDATE_GOLDEN=1 pytest interop/tests/conformance`` brings up to date.
"""

import ast
import functools
import json
import sys
from pathlib import Path

HERE = Path(__file__).parent
DOCUMENT = HERE.parents[2] / "docs/conformance.md"
MARK = "<!-- From here on written by interop/tests/conformance/kit.py -->\n"
RAN = HERE / "ran.json"
TABLE = json.loads((HERE / "requirements.json").read_text())
ROWS = {row["id"]: row for row in TABLE["rows"]}


@functools.cache
def marked():
    """The names of the tests of each requirement, those of this folder first."""
    found = {number: [] for number in ROWS}
    for file in [*sorted(HERE.glob("test_*.py")), *sorted(HERE.parent.glob("test_*.py"))]:
        name = str(file.relative_to(HERE.parent))
        for function in ast.parse(file.read_text()).body:
            for mark in getattr(function, "decorator_list", []):
                if ast.unparse(mark).startswith("pytest.mark.requirement("):
                    for number in mark.args:
                        found[number.value].append(f"{name}::{function.name}")
    return found


def devices(tests):
    ran = json.loads(RAN.read_text()) if RAN.exists() else {}
    return sorted({device for test in tests for device in ran.get(test, [])}, key=lambda name: (name != "host", name))


def states():
    """Of each requirement: shown, outside or missing; its tests; and what its row says of them."""
    from conformance.mutants import MUTANTS

    tests, of = marked(), {}
    for number, row in ROWS.items():
        if "outside" in row:
            of[number] = "outside", tests[number], row["outside"]
        elif tests[number] and number in MUTANTS and "missing" not in row:
            of[number] = "shown", tests[number], MUTANTS[number].error
        else:
            of[number] = "missing", tests[number], row.get("missing", "no test" if not tests[number] else "no planted error")
    return of


def text():
    of = states()
    counts = {state: sum(one[0] == state for one in of.values()) for state in ("shown", "outside", "missing")}
    lines = [
        f"{len(of)} requirements: {counts['shown']} shown, {counts['outside']} out of scope, {counts['missing']} missing. "
        "Tests are below `interop/tests`.\n"
    ]
    for letter, title in TABLE["documents"].items():
        own = {number: one for number, one in of.items() if number.startswith(letter)}
        shown = sum(one[0] == "shown" for one in own.values())
        lines += [f"\n## {letter}. {title}: {shown} of {len(own)}\n\n", "| | requirement | section | shown by | on | planted error |\n", "|---|---|---|---|---|---|\n"]
        for number, (state, tests, note) in own.items():
            row = ROWS[number]
            names = "<br>".join(f"`{test.replace('conformance/', '')}`" for test in tests)
            shown_by = {"shown": names, "outside": f"out of scope: {note}", "missing": f"**missing**: {note}"}[state]
            sentence = row["sentence"] + (f" *Out of scope:* {row['except']}" if "except" in row else "")
            on = ", ".join(devices(tests)) + (f"; {row['hardware']}" if "hardware" in row else "")
            cells = [number, sentence, row["section"], shown_by, on if state == "shown" else "", note if state == "shown" else ""]
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n")
    return "".join(lines)


if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parent))
    above = DOCUMENT.read_text().split(MARK)[0]
    DOCUMENT.write_text(above + MARK + text())
