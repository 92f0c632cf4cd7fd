"""Adds a program to a wheel, as a script: ``python add_program.py WHEEL PROGRAM``. pip installs it beside Python."""

import base64
import hashlib
import sys
import zipfile
from pathlib import Path


def add_program(wheel: Path, program: Path) -> None:
    """Rewrites the wheel with the program and its line in RECORD."""
    content = program.read_bytes()
    home = "-".join(wheel.name.split("-")[:2])
    name = f"{home}.data/scripts/{program.name}"
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    made = wheel.with_suffix(".new")
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.infolist():
            data = old.read(entry)
            if entry.filename == f"{home}.dist-info/RECORD":
                data += f"{name},sha256={digest},{len(content)}\n".encode()
            new.writestr(entry, data)
        script = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        script.external_attr = 0o100755 << 16
        script.compress_type = zipfile.ZIP_DEFLATED
        new.writestr(script, content)
    made.replace(wheel)


if __name__ == "__main__":
    add_program(Path(sys.argv[1]), Path(sys.argv[2]))
