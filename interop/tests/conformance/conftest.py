"""Where conformance is shown: the host and every wgpu adapter; with ``PARTITA_TEST_DEVICES=cuda`` the CUDA devices."""

import json
import os

import partita as pt
import pytest
from conftest import ADAPTERS, CUDA, ON_CUDA

from conformance import kit

PLACES = {"cuda": CUDA} if ON_CUDA else {"host": pt.devices()[:1]} | {f"wgpu-{at}": [one] for at, one in enumerate(ADAPTERS)}


@pytest.fixture(params=PLACES)
def on(request):
    """Makes teams of as many members as it is given."""
    return lambda parts: pt.Team(parts, PLACES[request.param])


def label(place):
    """What the document calls a device."""
    if place == "host":
        return place
    name = PLACES[place][0].name
    if place == "cuda":
        return "simulated CUDA" if "simcuda" in str(pt._native.cuda_library()) else name
    return "lavapipe" if "llvmpipe" in name else name


def pytest_sessionfinish(session):
    """Adds where tests passed to ran.json."""
    if "UPDATE_GOLDEN" not in os.environ:
        return
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    known = {test for tests in kit.marked().values() for test in tests}
    ran = json.loads(kit.RAN.read_text()) if kit.RAN.exists() else {}
    ran = {test: places for test, places in ran.items() if test in known}
    for report in reporter.stats.get("passed", []):
        test, _, given = report.nodeid.removeprefix("tests/").partition("[")
        if test in known:
            first = given.rstrip("]")
            place = next((place for place in PLACES if first == place or first.startswith(f"{place}-")), None if ON_CUDA else "host")
            if place is None:
                # A test without ``on``, which does not run on CUDA devices.
                continue
            ran[test] = sorted({*ran.get(test, []), label(place)})
    kit.RAN.write_text(json.dumps(ran, indent=1, sort_keys=True) + "\n")
