"""``python -m partita doctor``: what is here, what is missing, and how to get it."""

from __future__ import annotations

import platform
import sys
import time
from importlib.metadata import PackageNotFoundError, version

import partita as pt

from . import _native

_PEERS = {
    "numpy": "needed to read arrays on the host",
    "ml_dtypes": "needed for bfloat16 in NumPy",
    "jax": "DLPack peer",
    "torch": "DLPack peer",
    "cupy": "DLPack peer",
}


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _check(device: pt.Device) -> str:
    """A sum over four parts on the device, against its known value."""
    begin = time.perf_counter()
    try:
        numbers = pt.arange(1000, dtype=pt.int32, team=pt.Team.local(4, device))
        total = int(pt.sum(numbers * 2))
    except pt.Error as error:
        return f"FAILED: {error}"
    seconds = time.perf_counter() - begin
    return f"works ({seconds:.2f} s)" if total == 999000 else f"FAILED: a sum gave {total} instead of 999000"


def _mpi() -> str:
    peer = _version("mpi4py")
    theirs = f"mpi4py {peer}" if peer else "mpi4py not installed"
    if _native.has_mpi():
        library = (_native.mpi_library() or "").split(",")[0].splitlines()[0]
        return f"built into the engine ({library}); {theirs}"
    remedy = 'pip install ./interop --config-settings=build-args="--features mpi"'
    return f"not built in: one process ({remedy}); {theirs}"


def _doctor() -> int:
    """Prints the report; 1 if a device gave a wrong result."""
    print(f"partita {pt.__version__}, Python {platform.python_version()}, {platform.platform()}")
    print("\ndevices")
    failed = False
    for device in pt.devices():
        outcome = _check(device)
        failed |= outcome.startswith("FAILED")
        software = ", a program on the processor" if device.is_software else ""
        budget = device.memory["budget_bytes"]
        limit = "no budget" if budget is None else f"budget {budget / 2**20:.0f} MiB"
        print(f"  {device.name}{software}: {limit}; {outcome}")
    for kind in ("cuda", "wgpu"):
        try:
            pt.Team.local(1, kind)
        except pt.NoDeviceError as error:
            print(f"  no {kind}: {error}")
    print(f"  used without a team: {', '.join(device.name for device in pt.Team.local().devices)} (PARTITA_DEVICE)")
    if (library := _native.cuda_library()) is not None:
        print(f"  CUDA driver: {library}")
    print("\npackages")
    for name, purpose in _PEERS.items():
        found = _version(name)
        print(f"  {name}: {found or f'not installed, {purpose}; pip install {name}'}")
    print(f"\nMPI: {_mpi()}")
    return int(failed)


def main(arguments: list[str]) -> int:
    """Runs the command; 2 for anything else than ``doctor``."""
    if arguments != ["doctor"]:
        print("usage: python -m partita doctor", file=sys.stderr)
        return 2
    return _doctor()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
