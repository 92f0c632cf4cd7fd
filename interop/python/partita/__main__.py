"""``python -m partita doctor``."""

import sys


def main(arguments: list[str]) -> int:
    """Runs the command; 2 for anything else than ``doctor``."""
    if arguments != ["doctor"]:
        print("usage: python -m partita doctor", file=sys.stderr)
        return 2
    from ._api.doctor import main as doctor

    return doctor()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
