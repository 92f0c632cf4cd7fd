"""Operations under limits of memory: an error that Python catches, never the end of the process."""

import subprocess
import sys
from pathlib import Path

import pytest

CHILD = Path(__file__).parent / "little_memory.py"


@pytest.mark.parametrize("parts", [1, 3])
def test_too_little_memory_is_an_error(parts: int) -> None:
    if sys.platform != "linux":
        pytest.skip("limits of the address space are Linux's")
    command = [sys.executable, str(CHILD), str(parts)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    *failures, summary = done.stdout.splitlines()
    refused, operations = map(int, summary.split())
    assert not failures, "\n".join(failures)
    assert refused >= operations, "limits that refuse nothing show nothing"
