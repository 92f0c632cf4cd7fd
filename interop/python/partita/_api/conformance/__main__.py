"""The program ``python -m partita.conformance``."""

from __future__ import annotations

import importlib
import sys

from . import DOCUMENTS, run

_USAGE = "usage: python -m partita.conformance [-q] MODULE [DOCUMENT ...]\nDocuments: " + ", ".join(DOCUMENTS)


def main(words: list[str]) -> int:
    """Prints a line per golden, with -q of those that failed alone; 1 if one did."""
    quiet = words[:1] == ["-q"]
    words = words[quiet:]
    if not words or words[0].startswith("-") or set(words[1:]) - set(DOCUMENTS):
        print(_USAGE)
        return 2
    sys.path.insert(0, "")
    outcomes = run(importlib.import_module(words[0]), tuple(words[1:]) or DOCUMENTS)
    for golden, state, why in outcomes:
        if not quiet or state == "failed":
            name = f"{golden['requirement']} {golden['function']}: {golden['name']}"
            print(f"{state:11} {name}" + (f"\n            {why}" if why else ""))
    counts = [sum(state == one for _, state, _ in outcomes) for one in ("passed", "failed", "not offered")]
    print("{} passed, {} failed, {} not offered".format(*counts))
    return int(counts[1] > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
