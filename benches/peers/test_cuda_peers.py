"""The peers for CUDA, on a processor: what stands in for CuPy, NCCL and nvcc is in `pretence`, and Triton
interprets its kernels. Every line of their scripts runs, every kernel's text is compiled, and every result is
checked; that real ones understand the same is only seen on a GPU.

Run as a script, by a Python that has NumPy, where g++ is. What is missing is printed, not passed.
"""

import importlib.util
import os
import shutil
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

HERE = Path(__file__).resolve().parent
PRETENCE = HERE / "pretence"
spec = importlib.util.spec_from_file_location("suite", HERE / "__main__.py")
suite = importlib.util.module_from_spec(spec)
spec.loader.exec_module(suite)
sys.path.insert(0, str(PRETENCE))
os.environ["TRITON_INTERPRET"] = "1"
suite.prepare("cuda", min(2, suite.available_cores()))

from workloads import DTYPES, WORKLOADS, Sizes  # noqa: E402

# No multiple of a block or of its pieces, but a cube that can be cut in eight.
SIZES = Sizes(2055, 70, 16)
ALL_TYPES = ("triad", "step7", "dot")
FOLDS = [name for name, workload in WORKLOADS.items() if workload.folds]
MAPS = [name for name in WORKLOADS if name not in FOLDS]
OFFERED = {
    "cupy": [name for name in suite.USUAL if name not in ("record", "flush")],
    "cupy.fuse": [name for name in MAPS if name != "copy" and WORKLOADS[name].outputs == 1],
    "cupy.Elementwise": MAPS,
    "cupy.RawKernel": MAPS,
    "cub": [name for name in FOLDS if WORKLOADS[name].inputs == 1],
    "nccl": list(suite.MESSAGES),
    "nvcc": "copy scale triad fused8 expsin stencil5 stencil7 stencil13 stencil25 stencil27".split(),
    "triton": [*MAPS, "sum", "max", "norm"],
}


class CudaPeers(unittest.TestCase):
    def is_right(self, peer):
        """Every workload that it has; and it says of no other that it has it."""
        for name in suite.EVERYTHING:
            for dtype in DTYPES if name in ALL_TYPES else ["f32"]:
                with self.subTest(peer=peer, workload=name, dtype=dtype):
                    outcome = suite.turn(peer, name, dtype, SIZES, "cuda", 1, 0.0, 2)
                    if name in OFFERED[peer]:
                        self.assertIn("timed", outcome)
                    else:
                        self.assertEqual(outcome, {"skipped": "not offered"})
        print(f"{peer}: right")

    def without(self, what):
        """Where something is missing, its name."""
        print(f"skipped: {self.id().split('.')[-1]} ({what})")
        self.skipTest(what)

    def test_cupy_in_all_its_forms_and_nccl(self):
        if shutil.which("g++") is None:
            self.without("no g++")
        for peer in ("cupy", "cupy.fuse", "cupy.Elementwise", "cupy.RawKernel", "cub", "nccl"):
            self.is_right(peer)

    def test_the_reference_for_nvcc(self):
        if shutil.which("g++") is None:
            self.without("no g++")
        with tempfile.TemporaryDirectory() as folder:
            nvcc = Path(folder) / "nvcc"
            nvcc.write_text(f'#!/bin/sh\nexec {sys.executable} {PRETENCE / "compiling.py"} "$@"\n')
            nvcc.chmod(0o755)
            path = f"{folder}{os.pathsep}{os.environ['PATH']}"
            with mock.patch.dict(os.environ, {"PATH": path, "XDG_CACHE_HOME": folder}):
                self.is_right("nvcc")

    def test_triton_interpreted(self):
        try:
            import torch
            import triton  # noqa: F401
        except Exception as reason:  # libraries fail in many ways where a part of them is missing
            self.without(suite.first_line(reason))
        here = lambda make: lambda *words, device, **more: make(*words, **more)  # noqa: E731
        ours = {"tensor": here(torch.tensor), "empty": here(torch.empty)}
        with mock.patch.multiple(torch, **ours), mock.patch.multiple(
            torch.cuda, is_available=lambda: True, synchronize=lambda: None
        ):
            self.is_right("triton")


if __name__ == "__main__":
    unittest.main()
