"""What the brief asks for beyond the documents."""

import json
import re
import shutil
import sysconfig
import tempfile
from pathlib import Path

import numpy as np
import partita as pt
import partita.__main__ as program
import pytest
from test_commands import BUILT
from test_dlpack import fields

from conformance import ranks

HOST = np.arange(70, dtype=np.float32).reshape(10, 7)


@pytest.mark.requirement("F1")
def test_parts_are_dlpack_tensors(on):
    """Owned parts and those with halos, versioned and old capsules, each as often as requested."""
    u = pt.asarray(HOST, dist=pt.Distribution((10, 7), team=on(4), grid=(2, 2), halo=1))
    for part in u.parts:
        for memory in (part, part.stored):
            one, again = fields(memory.__dlpack__(max_version=(1, 1))), fields(memory.__dlpack__(max_version=(1, 0)))
            old = fields(memory.__dlpack__())
            assert one["name"] == again["name"] == "dltensor_versioned" and one["version"][0] == 1 and old["name"] == "dltensor"
            for said in (one, again, old):
                assert said["element"] == (2, 32, 1) and said["shape"] == list(memory.shape) and said["device"] == memory.__dlpack_device__()
                assert said["strides"][-1] == 1 and said["strides"][0] >= memory.shape[1] and said["deleter"]
                # Read-only, as a value never changes.
                assert one["flags"] & 1 and (one["data"], one["offset"]) == (again["data"], again["offset"])
        owned = np.from_dlpack(part, device="cpu")
        np.testing.assert_array_equal(owned, HOST[tuple(slice(*own) for own in part.owned)])
        (lo, _), (left, _) = part.stored.halo
        inside = np.from_dlpack(part.stored, device="cpu")[lo : lo + owned.shape[0], left : left + owned.shape[1]]
        np.testing.assert_array_equal(inside, owned)


WIRES = """
team = pt.Team(4)
u = pt.asarray(np.arange(3000.0, dtype=np.float32).reshape(60, 50) ** 0.5, team=team)
for _ in range(3):
    u[1:-1] = 0.5 * (u[:-2] + u[2:]) - 0.25 * u[1:-1]
bits = zlib.crc32(u.numpy().tobytes())
print(f"by {team.wire}: {bits:08x};")
"""


@pytest.mark.requirement("F2")
def test_every_way_between_ranks_gives_the_same_bytes_and_is_named(on):
    """Open MPI, TCP, and between CUDA devices memory of other processes and copies through the host."""
    kind = on(1).devices[0].kind
    mpi = kind != "wgpu" and shutil.which("mpiexec")
    ways = [({}, {}), ({}, {"PARTITA_CUDA_IPC": "0"})] if kind == "cuda" else [({}, {})]
    ways += [({"launcher": ("mpiexec",)}, {})] if mpi else []
    bits = set()
    for words, settings in ways:
        out = ranks.run(2, "import zlib\n" + WIRES, **words, PARTITA_DEVICE=kind, PARTITA_DEBUG="1" if kind == "cuda" else "0", **settings)
        reports = re.findall(r"by ([^:;]*): ([0-9a-f]{8});", out)
        assert len(reports) == 2 and all(wire.startswith("Open MPI" if words else "TCP") for wire, _ in reports), out
        bits |= {one for _, one in reports}
        if kind == "cuda":
            (way,) = re.findall("CUDA memory between ranks: (.*)", out)
            assert ("staged" in way or "device pointers" in way) and ("CUDA IPC" in way) == (not settings), way
    assert len(bits) == 1


@pytest.mark.requirement("F3")
def test_kernels_give_the_same_bits_on_every_device(on):
    """Arithmetic and a stencil, bit by bit what IEEE 754 says, which NumPy computes."""
    random = np.random.default_rng(3)
    a, b = (random.normal(size=(40, 33)).astype(np.float32) for _ in range(2))
    dist = pt.Distribution(a.shape, team=on(4), grid=(2, 2))
    u, v = pt.asarray(a, dist=dist), pt.asarray(b, dist=dist)
    for ours, theirs in ((u + v, a + b), (u * v - u, a * b - a), (u / v, a / b), (pt.sqrt(abs(u)), np.sqrt(abs(a))), (pt.maximum(u, v), np.maximum(a, b))):
        assert ours.numpy().tobytes() == theirs.tobytes()
    quarter, w = np.float32(0.25), u.copy()
    w[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
    inner = quarter * (a[:-2, 1:-1] + a[2:, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:])
    assert w.numpy()[1:-1, 1:-1].tobytes() == inner.tobytes()


@pytest.mark.requirement("F4")
def test_pytorch_gets_the_memory_itself():
    torch = pytest.importorskip("torch")
    u = pt.asarray(HOST, team=pt.Team(3, "host"))
    tensors = [torch.from_dlpack(part) for part in u.parts]
    assert [one.data_ptr() for one in tensors] == [np.from_dlpack(part).ctypes.data for part in u.parts]
    with u.writable() as parts:
        for part in parts:
            torch.from_dlpack(part).mul_(2)
    np.testing.assert_array_equal(u.numpy(), 2 * HOST)
    own = [torch.full((2, 3), float(k)) for k in range(3)]
    v = pt.from_parts(own, pt.Distribution((6, 3), team=pt.Team(3, "host")), copy=False)
    assert [np.from_dlpack(part).ctypes.data for part in v.parts] == [one.data_ptr() for one in own]


PLAN = """
HOST = np.arange(70, dtype=np.float32).reshape(10, 7) % 11

def program(team):
    u = pt.asarray(HOST, dist=pt.Distribution((10, 7), team=team, grid=(2, 2), halo=((1, 1), (0, 0))))
    u[1:-1] = u[:-2] + 0.5 * u[2:]
    said = (u[2:, 1:] - u[:-2, :-1]).explain().splitlines()
    # What goes by which link; the way there is the devices' own.
    plan = [line.split(" bytes,")[0] for line in said if " -> " in line or line.startswith("plan")]
    return u.numpy().tobytes().hex(), plan
"""


@pytest.mark.requirement("F5")
def test_one_plan_on_one_device_and_on_several(on):
    """On one device, on all at hand in turn, on the host, and in two processes: the same exchanges and bits."""
    exec(PLAN, scope := {"np": np, "pt": pt})
    bits, plan = scope["program"](on(4))
    assert any(" -> " in line for line in plan)
    assert all(scope["program"](team) == (bits, plan) for team in (pt.Team(4, [*on(1).devices, *pt.devices()[:1]]), pt.Team(4, "host")))
    said = ranks.run(2, PLAN + "team = pt.Team(4)\nassert team.ranks == 2\nprint(program(team), flush=True)")
    assert said.count(str((bits, plan))) == 2, said


@pytest.mark.requirement("F6")
def test_the_benchmark_measures_each_family_beside_a_copy():
    """`python -m partita bench`: time, bandwidth and error of workloads on three parts, and a page of them. The smoke extents, so no times."""
    if not (BUILT / "partita-bench").exists():
        pytest.skip("partita-bench is not built")
    kinds = {"E1": "triad", "E2": "strided", "R1": "sum", "S1": "stencil5"}
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        saved, page = Path(folder) / "saved.jsonl", Path(folder) / "page.md"
        patch.setattr(sysconfig, "get_path", lambda name: str(BUILT))
        words = ["run", "--smoke", "--filter", ",".join(f"={one}" for one in kinds.values()), "--dtype", "f32", "--device", "host", "--parts", "3"]
        assert program._run(["bench", *words, "--save", str(saved)]) == 0 and saved.exists()
        assert program._run(["bench", "report", str(saved), "--out", str(page)]) == 0 and page.exists()
        (machine, *records), said = map(json.loads, saved.read_text().splitlines()), page.read_text()
    found = {one["group"]: one for one in records if one["group"] != "ceiling"}
    assert machine["parts"] == 3 and {group: one["workload"] for group, one in found.items()} == kinds
    assert all(one["time"]["median_s"] > 0 and 0 < one["gb_s"] and one["copy_gb_s"] > 0 and one["error"] < 1e-6 for one in found.values())
    assert all(name in said for name in kinds.values())
