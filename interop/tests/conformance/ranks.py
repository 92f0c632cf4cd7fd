"""Programs of several processes in tests."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

#: Code that plants an error in each process; in the environment, because programs run elsewhere.
PLANTED = "PARTITA_TEST_PLANTED"
HEAD = f'import os\nimport numpy as np\nimport partita as pt\nexec(os.environ.get("{PLANTED}", ""))\n'


def run(count, program):
    """What a program printed, as so many processes; if it fails, so does an assertion."""
    settings = {"PARTITA_DEVICE": "host", "PARTITA_THREADS": "1", "PARTITA_DEADLINE_SECONDS": "20"}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "program.py"
        file.write_text(HEAD + program)
        done = subprocess.run(
            [sys.executable, "-m", "partita", "launch", "-n", str(count), str(file)], capture_output=True, text=True, check=False, timeout=60,
            env={**os.environ, **settings},
        )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
