"""Teams to test on: the host and every wgpu adapter, with 1 and 4 parts; with ``PARTITA_TEST_DEVICES=cuda`` the
CUDA devices instead, one part on the first and four parts on all. The summary counts what ran where, in the words
that `cargo xtask test` reads: `ran: NAME N` and `skipped: NAME (reason)`."""

import gc
import os
import signal

import partita as pt
import pytest
from partita import array_api

ON_CUDA = os.environ.get("PARTITA_TEST_DEVICES") == "cuda"
CUDA = [device for device in pt.devices() if device.kind == "cuda"]
ADAPTERS = [device for device in pt.devices() if device.kind == "wgpu"]

# A shell that starts tests in the background lets them, and their children, ignore Ctrl-C.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Not even collected without a driver: one line says so.
collect_ignore = [] if CUDA else ["test_cuda.py"]


def _teams():
    if ON_CUDA:
        yield pytest.param((1, CUDA[:1]), id="cuda-1")
        yield pytest.param((4, CUDA), id="cuda-4")
        return
    for device in [pt.devices()[0], *ADAPTERS]:
        name = device.kind if device.kind == "host" else f"{device.kind}-{ADAPTERS.index(device)}"
        for parts in (1, 4):
            yield pytest.param((parts, [device]), id=f"{name}-{parts}")


@pytest.fixture(params=_teams())
def team(request):
    parts, devices = request.param
    return pt.Team(parts, devices)


@pytest.fixture(params=[param for param in _teams() if param.id.startswith("wgpu")])
def wgpu_team(request):
    parts, devices = request.param
    return pt.Team(parts, devices)


@pytest.fixture(params=[param for param in _teams() if param.id.endswith("-1")])
def devices(request):
    return request.param[1]


@pytest.fixture(params=[1, 4], ids=["host-1", "host-4"])
def host_team(request):
    return pt.Team(request.param, "host")


@pytest.fixture(autouse=True)
def exports_end():
    """Every test leaves no more live exports than it found."""
    before = pt._native.live_exports()
    yield
    if pt._native.live_exports() > before:
        gc.collect()
    assert pt._native.live_exports() <= before


def pytest_terminal_summary(terminalreporter):
    passed = [report.nodeid for report in terminalreporter.stats.get("passed", [])]
    on_wgpu = sum("wgpu-" in nodeid for nodeid in passed)
    on_cuda = sum("cuda" in nodeid for nodeid in passed)
    of_standard = sum("test_array_api.py" in nodeid for nodeid in passed)
    of_ranks = sum("test_mpi.py" in nodeid for nodeid in passed)
    counts = {
        "python-tests": len(passed) - on_wgpu - on_cuda - of_ranks,
        "wgpu-python-tests": on_wgpu,
        "cuda-python-tests": on_cuda,
        "array-api-tests": of_standard,
        "mpi-python-tests": of_ranks,
        "array-api-names": len(array_api.__all__) if of_standard else 0,
    }
    for name, count in counts.items():
        if count:
            terminalreporter.write_line(f"ran: {name} {count}")
    if not CUDA:
        terminalreporter.write_line("skipped: test_cuda.py (no CUDA driver)")
    if not ADAPTERS and not ON_CUDA:
        terminalreporter.write_line("skipped: wgpu (no adapter answered)")
    for report in terminalreporter.stats.get("skipped", []):
        name, reason = report.nodeid.split("::")[-1], report.longrepr[2].removeprefix("Skipped: ")
        terminalreporter.write_line(f"skipped: {name} ({reason})")
