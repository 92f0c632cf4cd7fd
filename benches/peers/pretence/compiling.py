"""CUDA's text compiled by a C++ compiler, for tests on a processor. As a program it stands in for nvcc:

    python compiling.py [OPTIONS] SOURCE -o BINARY
"""

import ctypes
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
# A launch, and its arguments.
LAUNCH = re.compile(r"(\w+(?:<[\w, ]+>)?)<<<(.*?)>>>\((.*?)\);", re.DOTALL)


def built(text, binary):
    """A library of the text."""
    text, source = LAUNCH.sub(r"pretence::launch(\2, [&] { \1(\3); });", text), f"{binary}.cpp"
    with open(source, "w", encoding="utf-8") as file:
        file.write("#include <cuda_runtime.h>\n" + text)
    command = ["g++", "-std=c++17", "-O0", "-fno-strict-aliasing", "-w", "-shared", "-fPIC", "-I", HERE]
    subprocess.run([*command, source, "-o", binary], check=True)


def loaded(text):
    """The library of the text; nothing of it stays on disk."""
    with tempfile.TemporaryDirectory(prefix="peers-") as folder:
        built(text, binary := os.path.join(folder, "kernel.so"))
        return ctypes.CDLL(binary)


if __name__ == "__main__":
    *_, source, option, binary = sys.argv
    if option != "-o":
        sys.exit(f"expected -o BINARY at the end, not {option}")
    with open(source, encoding="utf-8") as file:
        built(file.read(), binary)
