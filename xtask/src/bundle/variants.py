"""Plays recorded kernels in many variants, by editing their text: registers, blocks side by side, shapes of blocks,
cache hints. Finds what to try next; what is ahead has to be built into the kernels.

    python3 variants.py RECORD [--filter WORDS] [--dtype NAMES] [--seconds S] [--limit S] [--save FILE]

RECORD is what probe.py plays. Variants are assembled by ptxas (`--ptxas FILE`) on all cores; a simulated driver gets the
text itself. Every case is played as it is first and last; after `--limit` seconds what is left is left out. Results are
those of memory with ordinary numbers: variants of other block shapes may compute other points than the kernel.
"""

from __future__ import annotations

import argparse
import ctypes as c
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import probe

COMPUTE_CAPABILITY = (75, 76)  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, ..._MINOR
HINTS = {
    "streaming stores": (r"st\.global\.", r"st.global.cs."),
    "L2::256B": (r"ld\.global(\.nc)?\.", r"ld.global\1.L2::256B."),
    "L2::128B": (r"ld\.global(\.nc)?\.", r"ld.global\1.L2::128B."),
    "no_allocate": (r"ld\.global\.nc\.", r"ld.global.nc.L1::no_allocate."),
    "evict_last": (r"ld\.global\.nc\.", r"ld.global.nc.L1::evict_last."),
}
REGISTERS = {"planes": (48, 56, 64, 72, 80, 96, 112), "streaming": (64, 72, 80, 96)}
BLOCKS = {"planes": (), "streaming": (1, 2, 3)}
SHAPES = {"planes": ((32, 8), (32, 2), (64, 4), (64, 2), (16, 8), (128, 1), (256, 1))}
SAID = {"registers": "registers", "spilled": "bytes spill stores"}


def edited(text: str, variant: dict) -> str:
    """The text of a variant: one entry, with one `.maxntid`."""
    if "hint" in variant:
        text = re.sub(*HINTS[variant["hint"]], text)
    for name, directive in [("registers", ".maxnreg"), ("blocks", ".minnctapersm")]:
        if name in variant:
            text = re.sub(r"\.minnctapersm \d+\n", "", text)
            line = f"{directive} {variant[name]}\n" if variant[name] else ""
            text = re.sub(r"(\.maxntid [^\n]*\n)", lambda found: found.group(1) + line, text)
    return text


def variants(entry: str) -> list[dict]:
    """What is tried of an entry; {} is the kernel as it is."""
    kind = entry.split("_")[0]
    found = [{}, *({"hint": hint} for hint in HINTS)]
    found += [{"registers": count} for count in REGISTERS.get(kind, ())]
    found += [{"blocks": count} for count in BLOCKS.get(kind, (0, 3, 4, 5, 6, 8))]
    found += [{"shape": shape} for shape in SHAPES.get(kind, ())]
    return [*found, {}]


def reshaped(launch: dict, variant: dict) -> dict:
    """A launch of as many threads along x and y, in blocks of another shape."""
    if "shape" not in variant:
        return launch
    shape, (grid, block) = variant["shape"], (launch["grid"], launch["block"])
    blocks = [-(-grid[k] * block[k] // shape[k]) for k in range(2)]
    return {**launch, "grid": [*blocks, grid[2]], "block": [*shape, 1]}


def assembled(texts: set[str], ptxas: str | None, arch: str) -> dict[str, tuple[bytes | None, str]]:
    """Texts as code of this GPU, and what ptxas says of each; without it the texts themselves."""
    if ptxas is None:
        return {text: (text.encode(), "") for text in texts}
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(os.cpu_count()) as pool:

        def one(text: str) -> tuple[bytes | None, str]:
            source = Path(folder) / f"{abs(hash(text)):x}.ptx"
            source.write_text(text)
            code = source.with_suffix(".cubin")
            command = [ptxas, "-v", f"-arch={arch}", str(source), "-o", str(code)]
            ran = subprocess.run(command, capture_output=True, text=True, check=False)
            return (code.read_bytes() if ran.returncode == 0 else None), ran.stderr

        return dict(zip(texts, pool.map(one, texts), strict=True))


def target(driver: probe.Driver) -> str:
    numbers = [c.c_int(), c.c_int()]
    for number, attribute in zip(numbers, COMPUTE_CAPABILITY, strict=True):
        driver("cuDeviceGetAttribute", c.byref(number), attribute, 0)
    return f"sm_{numbers[0].value}{numbers[1].value}"


def played(driver: probe.Driver, options: argparse.Namespace, launches: list[dict]) -> list[dict]:
    """The rows of a case's variants, which concern its largest launch."""
    largest = max(launches, key=lambda launch: math.prod(launch["grid"] + launch["block"]))
    text = (options.record / f"{largest['ptx']}.ptx").read_text()
    wanted = [(variant, edited(text, variant)) for variant in variants(largest["entry"])]
    # A hint that nothing in the text takes is the kernel as it is.
    wanted = [(variant, other) for variant, other in wanted if other != text or "hint" not in variant]
    codes = assembled({other for _, other in wanted}, options.ptxas, options.arch)
    rows: list[dict] = []
    memory: dict[int, tuple[int, int]] = {}

    def play(launch: dict, variant: dict, code: bytes) -> probe.Play:
        mine = (reshaped(launch, variant), memory, code) if launch is largest else (launch, memory)
        return probe.Play(driver, options.record, *mine)

    try:
        for base, length in {(base, length) for launch in launches for base, length in launch["memory"]}:
            memory[base] = (length, driver.allocate(length))
        for variant, other in wanted:
            code, said = codes[other]
            numbers = {name: re.search(rf"(\d+) {words}", said) for name, words in SAID.items()}
            row = {"variant": variant, **{name: int(number[1]) for name, number in numbers.items() if number}}
            try:
                if code is None or time.monotonic() > options.end:
                    raise RuntimeError(said[-200:] if code is None else "no time was left")
                plays = [play(launch, variant, code) for launch in launches]
                row["seconds"] = driver.measure(lambda plays=plays: [driver.launch(each) for each in plays], options.seconds)
                driver("cuStreamSynchronize", driver.stream)
            except RuntimeError as error:
                row["left_out"] = str(error)
            rows.append(row)
    finally:
        for _, here in memory.values():
            driver.free(here)
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("record", type=Path)
    for name, meaning in [("--filter", "names of cases, between commas"), ("--dtype", "types, between commas")]:
        parser.add_argument(name, default="", help=meaning)
    parser.add_argument("--seconds", type=float, default=0.012, help="how long a variant is measured")
    parser.add_argument("--limit", type=float, default=20, help="seconds in all")
    parser.add_argument("--copy-bytes", type=int, default=probe.COPY_BYTES)
    parser.add_argument("--ptxas", default=shutil.which("ptxas"))
    parser.add_argument("--save", type=Path)
    options = parser.parse_args()
    options.end = time.monotonic() + options.limit
    driver = probe.Driver()
    is_simulated = driver.name.startswith("simulated ")
    if options.ptxas is None and not is_simulated:
        print("skipped: variants (ptxas is not installed)")
        return 0
    copy = driver.copy_gb_s(options.seconds, options.copy_bytes)
    print(f"{driver.name}: cuMemcpyDtoDAsync {copy:.0f} GB/s")
    words, dtypes = ([word for word in text.split(",") if word] for text in (options.filter, options.dtype))
    saved = [{"device": driver.name, "copy_gb_s": copy}]
    options.ptxas, options.arch = None if is_simulated else options.ptxas, target(driver)
    for case, launches in probe.cases(options.record):
        if (words and case["case"] not in words) or (dtypes and case["dtype"] not in dtypes):
            continue
        rows = played(driver, options, launches)
        saved += [{"case": case["case"], "dtype": case["dtype"], **row} for row in rows]
        timed = sorted((row for row in rows if "seconds" in row), key=lambda row: row["seconds"])
        parts = [(f"{case.get('bytes', 0) / row['seconds'] / 1e9 / copy:.3f}", row["variant"]) for row in timed]
        as_is = "/".join(part for part, variant in parts if not variant)
        best = "; ".join(f"{part} {variant or 'as it is'}" for part, variant in parts[:5])
        print(f"{case['case']:16} {case['dtype']:5} as it is {as_is} | {best}", flush=True)
    if options.save:
        options.save.write_text("".join(json.dumps(line) + "\n" for line in saved))
    print(f"ran: variants {sum('seconds' in row for row in saved)}")
    return int(not any("seconds" in row for row in saved))


if __name__ == "__main__":
    sys.exit(main())
