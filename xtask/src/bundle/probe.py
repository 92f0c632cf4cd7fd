"""Plays recorded launches on a GPU, through the driver alone: what each case's kernels take, before anything else
of the project has to work there.

    python3 probe.py RECORD [--filter WORDS] [--dtype NAMES] [--seconds S] [--once] [--save FILE]

RECORD is a folder with texts, `HASH.ptx`, and `launches.jsonl`: per launch its text, entry, grid, block, parameters
and the memory that these point into; after the launches of a case a line that names it. Parameters hold addresses
of the machine that recorded: here every one is replaced. Memory holds ordinary positive numbers. Prints the fraction of
`cuMemcpyDtoDAsync` over 1 GiB too, where a case says how many bytes it has to move. `--once` launches each kernel a
single time, for `ncu`.
"""

from __future__ import annotations

import argparse
import ctypes as c
import json
import statistics
import struct
import sys
from pathlib import Path

COPY_BYTES = 1 << 30
DONE, NOT_FOUND = 0, 500
# CU_JIT_INFO_LOG_BUFFER, its size, CU_JIT_ERROR_LOG_BUFFER, its size, CU_JIT_LOG_VERBOSE
JIT_OPTIONS = (3, 4, 5, 6, 12)
LOG_BYTES = 8192
# What a launch may give a block of shared memory without an attribute of its function, CU_FUNC_ATTRIBUTE_..., that asks for more.
USUAL_SHARED_BYTES, MAX_DYNAMIC_SHARED_SIZE_BYTES = 48 << 10, 8


class Driver:
    """The few calls of the driver that a probe needs; every failure is an exception that names it."""

    def __init__(self) -> None:
        self.library = c.CDLL("libcuda.so.1")
        self("cuInit", 0)
        device, context = c.c_int(), c.c_void_p()
        self("cuDeviceGet", c.byref(device), 0)
        self("cuDevicePrimaryCtxRetain", c.byref(context), device)
        self("cuCtxSetCurrent", context)
        name = c.create_string_buffer(200)
        self("cuDeviceGetName", name, len(name), device)
        self.name = name.value.decode()
        self.stream = c.c_void_p()
        self("cuStreamCreate", c.byref(self.stream), 1)
        self.events = [c.c_void_p(), c.c_void_p()]
        for event in self.events:
            self("cuEventCreate", c.byref(event), 0)

    def __call__(self, call: str, *arguments: object) -> None:
        code = getattr(self.library, call)(*arguments)
        if code != DONE:
            text = c.c_char_p()
            self.library.cuGetErrorName(code, c.byref(text))
            raise RuntimeError(f"{call}: {(text.value or b'?').decode()}")

    def allocate(self, size: int) -> int:
        """Memory with ordinary positive numbers in it, whichever float type they are taken for."""
        address = c.c_uint64()
        self("cuMemAlloc_v2", c.byref(address), c.c_size_t(size))
        # About 0.6 as f16, 2e-4 as f32 and bf16, 2e-33 as f64: nothing subnormal, also when it is squared.
        pattern = bytes.fromhex("00393f39263926393f393f3926392639") * (1 << 16)
        done = min(len(pattern), size)
        self("cuMemcpyHtoDAsync_v2", address, pattern, c.c_size_t(done), self.stream)
        while done < size:
            count, to = min(done, size - done), c.c_uint64(address.value + done)
            self("cuMemcpyDtoDAsync_v2", to, address, c.c_size_t(count), self.stream)
            done += count
        self("cuStreamSynchronize", self.stream)
        return address.value

    def free(self, address: int) -> None:
        # After a fault the driver refuses this too, which says nothing new.
        self.library.cuMemFree_v2(c.c_uint64(address))

    def load(self, text: bytes, entry: str) -> tuple[c.c_void_p, str]:
        """An entry, and what the driver's compiler says of it."""
        said, wrong = c.create_string_buffer(LOG_BYTES), c.create_string_buffer(LOG_BYTES)
        options = (c.c_uint * 5)(*JIT_OPTIONS)
        values = (c.c_void_p * 5)(c.addressof(said), LOG_BYTES, c.addressof(wrong), LOG_BYTES, 1)
        module, function = c.c_void_p(), c.c_void_p()
        try:
            self("cuModuleLoadDataEx", c.byref(module), text + b"\0", 5, options, values)
        except RuntimeError as error:
            raise RuntimeError(f"{error}: {wrong.value.decode(errors='replace')}") from None
        self("cuModuleGetFunction", c.byref(function), module, entry.encode())
        return function, " ".join(said.value.decode(errors="replace").split())

    def launch(self, play: "Play") -> None:
        pointers = (c.c_void_p * 1)(c.addressof(play.parameters))
        shape = [c.c_uint(n) for n in (*play.grid, *play.block, play.shared_bytes)]
        self("cuLaunchKernel", play.function, *shape, self.stream, pointers, None)

    def seconds(self, work: "callable", times: int) -> float:
        """Of one of so many runs in a row, between two events."""
        begin, end = self.events
        self("cuEventRecord", begin, self.stream)
        for _ in range(times):
            work()
        self("cuEventRecord", end, self.stream)
        self("cuEventSynchronize", end)
        milliseconds = c.c_float()
        self("cuEventElapsedTime", c.byref(milliseconds), begin, end)
        return milliseconds.value / 1e3 / times

    def measure(self, work: "callable", seconds: float) -> float:
        """The median of seven rounds that take so long together, after two that do not count."""
        once = max(min(self.seconds(work, 1), self.seconds(work, 1)), 1e-7)
        times = max(1, min(1000, round(seconds / 7 / once)))
        return statistics.median(self.seconds(work, times) for _ in range(7))

    def copy_gb_s(self, seconds: float, size: int) -> float:
        """What `cuMemcpyDtoDAsync` reads and writes in a second."""
        source, target = self.allocate(size), self.allocate(size)

        def copy() -> None:
            self("cuMemcpyDtoDAsync_v2", c.c_uint64(target), c.c_uint64(source), c.c_size_t(size), self.stream)

        try:
            return 2 * size / self.measure(copy, seconds) / 1e9
        finally:
            self.free(source)
            self.free(target)


class Play:
    """A launch, with addresses of this machine."""

    def __init__(self, driver: Driver, folder: Path, launch: dict, memory: dict[int, tuple[int, int]]) -> None:
        text = (folder / f"{launch['ptx']}.ptx").read_bytes()
        self.function, self.said = driver.load(text, launch["entry"])
        self.entry, self.grid, self.block = launch["entry"], launch["grid"], launch["block"]
        self.shared_bytes = launch.get("shared_bytes", 0)
        if self.shared_bytes > USUAL_SHARED_BYTES:
            driver("cuFuncSetAttribute", self.function, MAX_DYNAMIC_SHARED_SIZE_BYTES, self.shared_bytes)
        parameters = bytearray.fromhex(launch["params"])
        for at in range(0, len(parameters) - 7, 8):
            (word,) = struct.unpack_from("<Q", parameters, at)
            for base, (size, here) in memory.items():
                if base <= word < base + size:
                    struct.pack_into("<Q", parameters, at, here + word - base)
                    break
        self.parameters = c.create_string_buffer(bytes(parameters), max(1, len(parameters)))


def cases(folder: Path) -> list[tuple[dict, list[dict]]]:
    """The cases of a record, each with its launches; what comes before a line without a name prepares."""
    found, launches = [], []
    for text in (folder / "launches.jsonl").read_text().splitlines():
        line = json.loads(text)
        if "ptx" in line:
            launches.append(line)
        else:
            if "case" in line:
                found.append((line, launches))
            launches = []
    return found


def play(driver: Driver, folder: Path, case: dict, launches: list[dict], options: argparse.Namespace) -> dict:
    """What a case takes, and what the compiler says of its kernels."""
    memory: dict[int, tuple[int, int]] = {}
    try:
        for base, size in {(base, size) for launch in launches for base, size in launch["memory"]}:
            memory[base] = (size, driver.allocate(size))
        plays = [Play(driver, folder, launch, memory) for launch in launches]

        def work() -> None:
            for each in plays:
                driver.launch(each)

        if options.once:
            work()
            seconds = 0.0
        else:
            seconds = driver.measure(work, options.seconds)
        driver("cuStreamSynchronize", driver.stream)
        kernels = [{"entry": each.entry, "said": each.said} for each in plays]
        return {**case, "seconds": seconds, "kernels": kernels}
    finally:
        for _, here in memory.values():
            driver.free(here)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("record", type=Path)
    parser.add_argument("--filter", default="", help="names of cases, between commas")
    parser.add_argument("--dtype", default="", help="types, between commas")
    parser.add_argument("--seconds", type=float, default=0.1, help="how long a case is measured")
    parser.add_argument("--once", action="store_true")
    parser.add_argument("--copy-bytes", type=int, default=COPY_BYTES)
    parser.add_argument("--save", type=Path)
    options = parser.parse_args()
    words, dtypes = ([word for word in text.split(",") if word] for text in (options.filter, options.dtype))
    driver = Driver()
    copy = 0.0 if options.once else driver.copy_gb_s(options.seconds, options.copy_bytes)
    print(f"{driver.name}: cuMemcpyDtoDAsync {copy:.0f} GB/s" if copy else driver.name)
    saved, failed = [{"device": driver.name, "copy_gb_s": copy}], 0
    for case, launches in cases(options.record):
        if (words and case["case"] not in words) or (dtypes and case["dtype"] not in dtypes):
            continue
        label = f"{case['case']:16} {case['dtype']:5}"
        try:
            row = play(driver, options.record, case, launches, options)
        except RuntimeError as error:
            failed += 1
            print(f"{label} FAILED: {error}")
            continue
        rate = case.get("bytes", 0) / max(row["seconds"], 1e-12) / 1e9
        fraction = f"{rate:7.0f} GB/s {rate / copy:5.2f}" if copy and rate else ""
        print(f"{label} {row['seconds'] * 1e6:10.1f} us {fraction} {', '.join(k['entry'] for k in row['kernels'])}")
        saved.append(row)
    if options.save:
        options.save.write_text("".join(json.dumps(line) + "\n" for line in saved))
    played = len(saved) - 1
    print(f"ran: probe {played}")
    return int(failed > 0 or played == 0)


if __name__ == "__main__":
    sys.exit(main())
