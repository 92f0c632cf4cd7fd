"""The command ``partita``, also ``python -m partita``. ``doctor``: what is here, what is missing, and how to get it; ``doctor
links``: what messages between devices and ranks take. ``demo``: a first program. ``bench``: the benchmark. ``launch``: a script as several processes."""

from __future__ import annotations

import os
import platform
import shutil
import struct
import subprocess
import sys
import sysconfig
import time
import zlib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import partita as pt

from . import _native
from ._core.ranks.launch import launch

_USAGE = """usage: python -m partita doctor [links [--json]]
       python -m partita demo [FILE.png]
       python -m partita bench [run ... | report FILES | list | doctor | --help]
       python -m partita launch -n N [--tag] [-m] SCRIPT [ARGUMENTS]
       python -m partita --version | --help
The program `partita` is the same as `python -m partita`."""

_BENCH = """usage: python -m partita bench [run ... | report FILES | list | doctor | --help]
The benchmark is the program partita-bench, which is in the wheels that `cargo xtask wheel` makes; `pip install ./interop`
installs none. Without words it measures this machine quickly, beside the libraries that are installed, and writes
partita-bench.md."""

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
    library, reason = _native.mpi_library()
    if library is None:
        return f"none: ranks are connected by TCP ({reason}; PARTITA_MPI names a library); {theirs}"
    return f"ranks that mpirun starts are connected by {library.split(',')[0].splitlines()[0]}; {theirs}"


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
        print(f"  {device.name}{software}: {limit}; subnormals {device.subnormals}; {outcome}")
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
    nccl, source = _native.nccl_library()
    print(f"NCCL: {nccl} in {source}" if nccl else f"NCCL: none, GPUs of several ranks do without ({source})")
    return int(failed)


def _links(as_json: bool) -> int:
    """Rank 0 prints what messages take; 1 if other bytes arrived than were sent."""
    report, arrived = _native.measure_links(as_json)
    if report is not None:
        print(report.rstrip())
    return int(not arrived)


def _wave(team: pt.Team, steps: int) -> tuple[pt.Array, pt.Array]:
    """Depth of the sea and height of its surface after a wave has run round an island, on 2 x 2 parts or one."""
    import numpy as np  # noqa: PLC0415 - the package itself is imported without it

    y, x = np.mgrid[:300, :480].astype(np.float32)
    dist = pt.Distribution(y.shape, team=team, grid=(2, 2) if len(team) == 4 else (1, 1))
    island = 1.3 * np.exp(-((x - 290) ** 2 + (y - 165) ** 2) / 4000)
    depth = pt.asarray(np.clip(1 - x / 1600 - island, 0, None), dist=dist)
    down, right = pt.minimum(depth[1:], depth[:-1]), pt.minimum(depth[:, 1:], depth[:, :-1])
    height = pt.asarray(np.exp(-((x - 110) ** 2 + (y - 120) ** 2) / 300), dist=dist)
    speed_down, speed_right = pt.zeros_like(down), pt.zeros_like(right)

    def step(height: pt.Array, speed_down: pt.Array, speed_right: pt.Array) -> None:
        speed_down -= 0.4 * (height[1:] - height[:-1])
        speed_right -= 0.4 * (height[:, 1:] - height[:, :-1])
        flow_down, flow_right = 0.4 * down * speed_down, 0.4 * right * speed_right
        height[:-1] -= flow_down
        height[1:] += flow_down
        height[:, :-1] -= flow_right
        height[:, 1:] += flow_right

    pt.Loop(step).run(height, speed_down, speed_right, steps=steps)
    return depth, height


#: The letters of the title: five bits for each of seven rows, as a digit to the base 32.
_LETTERS = dict(
    zip(
        "AWVEROUNDISL2XPT ",
        "ehhvhhh hhhllla hhhhha4 vgguggv uhhukih ehhhhhe hhhhhhe hhpljhh uhhhhhu e44444e fgge11u ggggggv eh1248v hha4ahh uhhuggg "
        "v444444 0000000".split(),
        strict=True,
    )
)


def _picture(path: Path, depth: Any, height: Any) -> None:
    """Writes a PNG: crests light, troughs dark, land and what the sea uncovers green, borders between the parts dashed."""
    import numpy as np  # noqa: PLC0415

    shade = np.clip(0.5 + 4 * height, 0, 1)[..., None]
    water = (1 - shade) * (8, 38, 84) + shade * (206, 236, 250)
    pixels = np.where(depth[..., None] > 0.03, water, (118, 138, 84)).astype(np.uint8)
    title = "A WAVE ROUND AN ISLAND ON 2 X 2 PARTS"
    bits = [[int(_LETTERS[letter][y], 32) << 1 >> 5 - x & 1 for letter in title for x in range(6)] for y in range(7)]
    ink = np.array(bits, bool).repeat(2, 0).repeat(2, 1)
    for corner, colour in ((2, (8, 38, 84)), (0, 255)):
        pixels[10 + corner :, 18 + corner :][: ink.shape[0], : ink.shape[1]][ink] = colour
    rows, columns = depth.shape
    pixels[rows // 2, np.arange(columns) % 12 < 6] = pixels[np.arange(rows) % 12 < 6, columns // 2] = 255
    lines = b"".join(b"\0" + row.tobytes() for row in pixels)
    head = struct.pack(">IIBBBBB", columns, rows, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b""))
    packed = (struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(packed))


def _check_place(path: Path) -> None:
    """Refuses what no picture can be written to."""
    if path.suffix.lower() not in (".png", ""):
        raise ValueError(f"demo: expected a name that ends in .png, which the picture is, given {path}; rename it")
    if path.is_dir():
        raise IsADirectoryError(f"demo: expected a file for the picture, given the folder {path}")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"demo: expected a file in a folder that is there, given {path}; make {path.parent}")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise PermissionError(f"demo: expected a file that can be written, given {path}; choose another place")


def _demo(path: Path) -> int:
    """Computes the wave on four parts and on one, and compares; 1 if they differ."""
    import numpy as np  # noqa: PLC0415

    _check_place(path)
    steps = 640
    begin = time.perf_counter()
    depth, height = _wave(pt.Team(4), steps)
    waves = height.numpy()
    seconds = time.perf_counter() - begin
    print(f"A wave round an island: {height.shape[0]} x {height.shape[1]} cells, {steps} steps, {height.team}: {seconds:.2f} s")
    same = np.array_equal(waves, _wave(pt.Team(1), steps)[1].numpy())
    print(f"The same on one part: {'equal, bit for bit' if same else 'DIFFERS'}")
    try:
        _picture(path, depth.numpy(), waves)
    except OSError as error:
        raise OSError(f"demo: the picture {path} could not be written: {error.strerror}; choose another place") from error
    print(f"Picture: {path}; program: `_wave` in {__file__}")
    return int(not same)


def _bench(words: list[str]) -> int:
    """Runs the benchmark's program of the wheel; without words a quick run beside the installed peers, and its page."""
    program = shutil.which("partita-bench", path=sysconfig.get_path("scripts"))
    if program is None:
        if words in (["--help"], ["-h"]):
            print(_BENCH)
            return 0
        remedy = "install the wheel of `cargo xtask wheel` (`pip install ./interop` has no benchmark), or run"
        remedy += " `cargo run --release -p partita-bench` in a clone"
        print(f"bench: expected the program partita-bench beside this Python, given none; {remedy}", file=sys.stderr)
        return 2
    if words:
        return subprocess.call([program, *words])
    saved, page = "partita-bench.jsonl", "partita-bench.md"
    done = subprocess.call([program, "run", "--quick", "--peers", sys.executable, "--save", saved])
    return done or subprocess.call([program, "report", saved, "--out", page])


def _run(arguments: list[str]) -> int:
    match arguments:
        case ["--version" | "-V"]:
            print(f"partita {pt.__version__}")
            return 0
        case ["--help" | "-h"] | ["doctor" | "demo", "--help" | "-h"]:
            print(_USAGE)
            return 0
        case ["doctor"]:
            return _doctor()
        case ["doctor", "links", *words] if words in ([], ["--json"]):
            return _links(bool(words))
        case ["demo"]:
            return _demo(Path("partita-demo.png"))
        case ["demo", name] if not name.startswith("-"):
            return _demo(Path(name))
        case ["bench", *words]:
            return _bench(words)
        case ["launch", *words]:
            return launch(words)
    print(_USAGE, file=sys.stderr)
    return 2


def main(arguments: list[str] | None = None) -> int:
    """Runs the command; 2 for anything else."""
    try:
        code = _run(sys.argv[1:] if arguments is None else arguments)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Who reads the output has seen enough. Nothing is written to it at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 141
    except (pt.Error, OSError, MemoryError, ValueError) as error:
        print(f"partita: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
