"""Programs of several processes in tests."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

#: Code that plants an error in each process; in the environment, because programs run elsewhere. Not of Partita's names, which it checks.
PLANTED = "PLANTED_ERROR"
HEAD = f'import os\nimport numpy as np\nimport partita as pt\nexec(os.environ.get("{PLANTED}", ""))\n'


def run(count, program, launcher=(sys.executable, "-m", "partita", "launch"), **environment):
    """What a program printed, as so many processes; if it fails, so does an assertion."""
    settings = {"PARTITA_DEVICE": "host", "PARTITA_THREADS": "1", "PARTITA_DEADLINE_SECONDS": "20"}
    settings |= {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "program.py"
        file.write_text(HEAD + program)
        words = [*launcher, "-n", str(count), *([] if "launch" in launcher else [sys.executable]), str(file)]
        done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=90, env={**os.environ, **settings, **environment})
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr
