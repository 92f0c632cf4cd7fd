"""What compilers make is kept on disk from one turn and one run to the next: compiling is no part of any
figure, and takes longer than most turns.

Each library takes its folder from an environment variable.
"""

import hashlib
import os

VARIABLES = {
    "NUMBA_CACHE_DIR": "numba",
    "JAX_COMPILATION_CACHE_DIR": "jax",
    "TORCHINDUCTOR_CACHE_DIR": "torch",
    "CUPY_CACHE_DIR": "cupy",
}


def folder():
    """This user's; none where there is none to be had."""
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    path = os.path.join(caches, "partita-bench")
    try:
        os.makedirs(path, exist_ok=True)
    except OSError:
        return None
    return path if os.access(path, os.W_OK) else None


def prepare():
    """Sets every library's folder, unless its user has set it. Only works before they are imported."""
    if (path := folder()) is not None:
        for variable, name in VARIABLES.items():
            os.environ.setdefault(variable, os.path.join(path, name))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")  # it keeps slow ones only


def named(where, ending, *what):
    """A file in a folder, named by everything that its meaning depends on."""
    os.makedirs(where, exist_ok=True)
    return os.path.join(where, hashlib.sha256(repr(what).encode()).hexdigest()[:32] + ending)


def made(path, make):
    """The path, where `make` has written a file; at once, because another process may be reading."""
    if not os.path.exists(path):
        make(written := f"{path}.{os.getpid()}")
        os.replace(written, path)
    return path


def text_file(where, text, ending, *other):
    """A file of this text, which may mean something else together with others."""

    def make(path):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    return made(named(where, ending, text, *other), make)
