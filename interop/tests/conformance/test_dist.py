"""The Dist dialect on arrays: who has what, what must be exchanged, and what follows from slices."""

import re
import tempfile

import numpy as np
import partita as pt
import pytest

from conformance import ranks
from conformance.toys import itself
from partita.conformance import _judged as judged, goldens


def line(team, size, **words):
    return pt.asarray(np.arange(float(size), dtype=np.float32) ** 2, dist=pt.Distribution(size, team=team, **words))


def stored(part):
    """All cells of a part, copied to the host wherever it is."""
    return np.from_dlpack(part.stored, device="cpu")


def three(part):
    """The shapes of lower halo, owned part and upper halo, cut in the first dimension."""
    (below, above), (rows, *rest) = part.stored.halo[0], part.stored.shape
    assert all(widths == (0, 0) for widths in part.stored.halo[1:])
    return [[count, *rest] for count in (below, rows - below - above, above)]


SPMD = """
team = pt.Team(3)
u = pt.asarray(np.arange(12.0), team=team)
u[1:-1] = u[:-2] + u[2:]
assert team.ranks == 3 and team.local_members == [team.rank] and [part.index for part in u.parts] == [team.rank]
print("member", team.rank, np.from_dlpack(u.parts[0]).tolist(), float(u.sum()))
"""


@pytest.mark.requirement("D1")
def test_all_members_run_one_program():
    host = np.arange(12.0)
    host[1:-1] = host[:-2] + host[2:]
    expected = [f"member {rank} {host[4 * rank : 4 * rank + 4].tolist()} {host.sum()}" for rank in range(3)]
    assert sorted(one for one in ranks.run(3, SPMD).splitlines() if one) == expected


@pytest.mark.requirement("D3", "D9", "D14")
def test_the_published_members(on):
    for shape in ((44,), (44, 55)):
        u = pt.zeros(shape, pt.float32, team=on(4))
        third = u.parts[2]
        assert [start for start, _ in third.owned] == [22, *([0] * (len(shape) - 1))]
        assert three(third) == [[0, *shape[1:]], [11, *shape[1:]], [0, *shape[1:]]]
    for ndim in range(1, 5):
        u = pt.zeros((6,) * ndim, pt.float32, team=on(3))
        assert all(len(part.owned) == len(u.dist.to_global(part.index, (0,) * ndim)) == ndim for part in u.parts)


@pytest.mark.requirement("D4", "D6", "D7", "D15")
def test_halos_and_owned_parts_are_contiguous_copies(on):
    for halo in (((1, 2),), ((3, 0),), ((0, 1),)):
        u = line(on(4), 23, halo=halo)
        u[1:-1] = u[2:] - u[:-2]
        host = u.numpy()
        for part in u.parts:
            (below, above), (start, stop) = part.stored.halo[0], part.owned[0]
            parts = three(part)
            assert len(parts) == 3 and sum(rows for rows, *_ in parts) == part.stored.shape[0]
            # One range of the array, the offset of which is that of the lower halo.
            cells = [u.dist.to_global(part.index, at)[0] for at in range(part.stored.shape[0])]
            assert cells == list(range(start - below, stop + above)) and u.dist.to_global(part.index, 0) == (start - below,)
            np.testing.assert_array_equal(stored(part), host[cells])
        widths = u.dist.halo[0]
        assert [part.stored.halo[0] for part in u.parts] == [(0, widths[1]), widths, widths, (widths[0], 0)]
    lone = u.sum()
    assert len(lone.parts) == 1 and lone.parts[0].stored.shape == ()


@pytest.mark.requirement("D5", "D8")
def test_parts_may_be_empty_and_arrays_without_dimensions(on):
    view = line(on(4), 44)[:20]
    assert [part.shape for part in view.parts] == [(11,), (9,), (0,), (0,)]
    np.testing.assert_array_equal((view + 1).numpy(), np.arange(20.0) ** 2 + 1)
    assert [part.stored.halo[0] for part in line(on(2), 8, halo=1).parts] == [(0, 1), (1, 0)]
    for lone in (line(on(4), 44)[7], line(on(4), 44).sum(), pt.asarray(2.5, pt.float32, team=on(4))):
        (part,) = lone.parts
        assert part.owned == () and part.stored.halo == () and part.shape == () and lone.dist.shape == () and lone.dist.halo == ()


@pytest.mark.requirement("D11")
def test_halos_have_faces_edges_and_corners(on):
    u = pt.asarray(np.arange(729, dtype=np.float32).reshape(9, 9, 9), dist=pt.Distribution((9, 9, 9), team=on(27), grid=(3, 3, 3), halo=1))
    u[1:] = u[1:] * 2 - u[:-1]
    host, part = u.numpy(), u.parts[13]
    cells = stored(part)
    assert part.stored.halo == ((1, 1),) * 3 and cells.shape == (5, 5, 5)
    outside = sum((np.indices(cells.shape)[d] % 4 == 0).astype(int) for d in range(3))
    assert [int((outside == count).sum()) for count in range(4)] == [27, 6 * 9, 12 * 3, 8]
    np.testing.assert_array_equal(cells, host[2:7, 2:7, 2:7])
    plane = pt.asarray(np.arange(16, dtype=np.float32).reshape(4, 4), dist=pt.Distribution((4, 4), team=on(4), grid=(2, 2), halo=1))
    assert stored(plane.parts[0])[2, 2] == 10 and stored(plane.parts[3])[0, 0] == 5


@pytest.mark.requirement("D12")
def test_members_have_devices_of_their_own(on):
    devices = [*{*on(2).devices, *pt.devices()}]
    team = pt.Team(2 * len(devices), devices)
    u = line(team, 24)
    u[1:] = u[1:] - u[:-1]
    # A device may have several members, and each has its own part there.
    assert [part.device for part in u.parts] == team.devices and {*team.devices} == {*devices}
    np.testing.assert_array_equal(u.numpy()[1:], (np.arange(24.0) ** 2)[1:] - (np.arange(24.0) ** 2)[:-1])


@pytest.mark.requirement("D13")
def test_an_array_of_parts_that_are_there():
    memory = [np.arange(4.0) + 10 * k for k in range(3)]
    u = pt.from_parts(memory, pt.Distribution(12, team=pt.Team(3, "host")), copy=False)
    assert [np.from_dlpack(part).ctypes.data for part in u.parts] == [one.ctypes.data for one in memory]
    assert u.tolist() == np.concatenate(memory).tolist() and u.dist == pt.Distribution(12, team=u.team)
    with pytest.raises(ValueError, match="shape"):
        pt.from_parts([memory[0][:3], *memory[1:]], u.dist)


@pytest.mark.requirement("D16", "D17")
def test_the_default_partition(on):
    """The published numbers, and that parts of arrays are such."""
    rows = [golden for golden in goldens("dist") if golden["function"] == "default_partition"]
    assert len(rows) == 16
    for golden in rows:
        (members, member, shape), (offsets, sizes) = golden["arguments"], golden["expected"]
        part = pt.zeros(tuple(shape), pt.float32, team=on(members)).parts[member]
        assert list(part.shape) == sizes and [start for start, _ in part.owned][: len(offsets)] == offsets, golden["name"]
    for size in range(20):
        counts = [part.shape[0] for part in pt.zeros(size, pt.float32, team=on(3)).parts]
        assert counts == sorted(counts) and counts[-1] - counts[0] <= 1 and sum(counts) == size


@pytest.mark.requirement("D18", "D19")
def test_members_request_regions(on):
    """They overlap, are empty, and lie elsewhere; what is owned stays where it is, the rest comes from its owners."""
    u = pt.asarray(np.arange(48, dtype=np.float32).reshape(8, 6), dist=pt.Distribution((8, 6), team=on(4), halo=((1, 0), (0, 0))))
    host = u.numpy()
    boxes = [[(0, 5), (0, 6)], [(0, 0), (0, 0)], [(0, 2), (1, 3)], [(3, 8), (0, 6)]]
    got = u.request(boxes)
    memory = [np.from_dlpack(part, device="cpu") for part in u.parts]
    own = [part.__dlpack_device__()[0] == 1 and np.from_dlpack(part).ctypes.data for part in u.parts]
    u[:] = -1
    for one, box in zip(got, boxes, strict=True):
        np.testing.assert_array_equal(one.numpy(), host[tuple(slice(*span) for span in box)])
        assert len(one.sections) == 9 and one.offset == (tuple(start for start, _ in box) if one.numpy().size else None)
        middle = one.sections[4]
        if middle.memory is not None:
            rows = slice(middle.start[0], middle.stop[0])
            np.testing.assert_array_equal(np.from_dlpack(middle.memory, device="cpu"), host[rows])
            assert not own[one.part] or np.from_dlpack(middle.memory).ctypes.data == own[one.part]
    # Members 0 and 3 request what they own, too, and member 2 something of others alone.
    assert [one.part for one in got if one.sections[4].memory is not None] == [0, 3] and len(memory) == 4
    for wrong in (boxes[:3], [[(0, 9), (0, 6)], *boxes[1:]]):
        with pytest.raises((ValueError, IndexError)):
            u.request(wrong)


@pytest.mark.requirement("D30")
def test_the_runtime_layer(on):
    team = on(3)
    assert (team.size, team.rank, team.ranks, team.local_members) == (3, 0, 1, [0, 1, 2])
    u = line(team, 12, halo=1).eval()
    # An operator is started and finished; what is assigned meanwhile does not change it.
    everyone = pt.Partition(team)
    handle = pt.collective.all_sum_reduce(everyone, 0).start(u)
    host, total = u.numpy(), u.numpy().reshape(3, 4).sum(axis=0)
    doubled = (u * 2).eval()
    u[0] = 100
    assert handle.finish().tolist() == [*total.tolist()] * 3 and doubled.tolist() == (2 * host).tolist()
    with pytest.raises(ValueError, match="finished"):
        handle.finish()
    # A sum in place: the same handle, and on the host the same memory.
    v = line(team, 12).eval()
    before = [np.from_dlpack(part).ctypes.data for part in v.parts] if team.devices[0].kind == "host" else []
    assert pt.collective.all_reduce_(v) is v and v.tolist() == [*total.tolist()] * 3
    assert not before or [np.from_dlpack(part).ctypes.data for part in v.parts] == before
    # Halos are kept: reading them again sends nothing.
    w = line(team, 12, halo=1).eval()
    (w[1:] - w[:-1]).eval()
    sent = w.team.messages
    (w[1:] * w[:-1]).eval()
    assert w.team.messages == sent > 0
    fresh = line(team, 12)
    assert re.search(r"9 of 11 cells need nothing", (fresh[1:] + fresh[:-1]).explain())


OVERLAP = """
import pathlib, time

team = pt.Team(3)
flags, rank = pathlib.Path(os.environ["FLAGS"]), team.rank
u = pt.asarray(np.arange(6.0), team=team).eval()
gather = pt.collective.allgather(pt.Partition(team), 0)
# The first time the processes compare what they do.
gather.start(u).finish()
u.start_request([[(0, 6)]]).finish()

def raised(name):
    (flags / f"{name} {rank}").touch()

def seen(name, *ranks):
    end = time.monotonic() + 10
    while not all((flags / f"{name} {one}").exists() for one in ranks):
        assert time.monotonic() < end, f"rank {rank} waits for {name} of {ranks}"
        time.sleep(0.002)

# Process 1 begins when the others have begun, and computed, too.
if rank == 1:
    seen("begun", 0, 2)
sent = team.messages
handle = gather.start(u)
assert team.messages > sent
assert np.from_dlpack((u * 2).eval().parts[0]).tolist() == [4.0 * rank, 4 * rank + 2.0]
raised("begun")
# It has what the others sent, which they have not ended.
if rank != 1:
    seen("ended", 1)
assert np.from_dlpack(handle.finish().parts[0]).tolist() == list(range(6))
raised("ended")
# Boxes are compared, so all begin; what travels does not wait for the end.
handle = u.start_request([[(0, 6)]])
if rank != 1:
    seen("boxes", 1)
assert handle.finish()[0].numpy().tolist() == list(range(6))
raised("boxes")
print("overlapped")
"""


@pytest.mark.requirement("D30")
def test_what_was_started_is_under_way_before_others_begin():
    """One process starts an operator before another has begun, which then ends before the first does."""
    with tempfile.TemporaryDirectory() as folder:
        assert ranks.run(3, OVERLAP, FLAGS=folder).count("overlapped") == 3


@pytest.mark.requirement("D20")
def test_without_a_request_the_result_has_the_default_partition(on):
    team = on(3)
    u = pt.asarray(np.arange(33, dtype=np.float32).reshape(11, 3), dist=pt.Distribution((11, 3), team=team, dims=[pt.Block([0, 7, 8, 11]), None]))
    everyone = pt.Partition(team)
    moved = pt.collective.repartition(everyone, everyone)(u)
    assert moved.dist == pt.Distribution((11, 3), team=team) != u.dist and moved.tolist() == u.tolist()


@pytest.mark.requirement("D21")
def test_what_a_member_has_of_a_slice(on):
    """Nothing moves: the elements of a slice are where they were, in the order of the slice."""
    random = np.random.default_rng(21)
    for case in range(120):
        parts, size = int(random.integers(3, 6)), int(random.integers(8, 30))
        u = line(on(parts), size)
        start, step = int(random.integers(0, size)), int(random.integers(1, 6))
        stop = int(random.integers(start, size + 1))
        view, cells = u[start:stop:step], list(range(start, stop, step))
        for part in range(parts):
            low, high = u.dist.owned(part)[0]
            mine = [at for at, cell in enumerate(cells) if low <= cell < high]
            first, last = view.dist.owned(part)[0]
            assert list(range(first, last)) == mine, (case, part)
            assert np.from_dlpack(view.parts[part], device="cpu").tolist() == [float(cells[at]) ** 2 for at in mine]
    # The dialect's own cases: a slice before the part, across it, after it, and with steps beyond it.
    u = line(on(2), 16)
    assert [u[key].dist.owned(1)[0] for key in (slice(0, 8, 2), slice(3, 16, 3), slice(9, 13))] == [(4, 4), (2, 5), (0, 4)]


# What the document's operations give, in ten lines; the published numbers are its proof, and the plans of arrays are compared with it.


def box(offset, stride, target):
    """The bounding box of a view's elements in a target, as (start, stop)."""
    first, last = target
    return (offset + stride * first, offset + stride * (last - 1) + 1) if last > first else (offset + stride * first,) * 2


def hull(boxes):
    full = [one for one in boxes if one[1] > one[0]] or boxes[:1]
    return min(start for start, _ in full), max(stop for _, stop in full)


def core(offsets, owned, target):
    """The elements of the target whose operands all are owned."""
    return [at for at in range(*target) if all(owned[0] <= offset + at < owned[1] for offset in offsets)]


@pytest.mark.requirement("D23", "D24")
def test_the_planner_decides_the_published_boxes(on):
    """The second of three members computes the published target from published views of an array that it owns a part of."""
    rows = [golden for golden in goldens("dist") if golden["function"] == "local_bounding_box"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(itself, "team", on)
        given = {golden["name"]: judged(itself, golden) for golden in rows}
        assert [name for name, (state, _) in given.items() if state == "passed"] == [golden["name"] for golden in rows if golden["name"] not in NOWHERE], given
        # Who computes nothing reads nothing.
        for size, target in ((0, (4, 4)), (8, (4, 0))):
            own = itself.cut(4, 8, 24)
            assert itself.planned(target, size, [(own, 0)])[1] is itself.planned(target, size, [(own, 0), (own, 1)])[1] is None


#: The published boxes of views without elements: such a view lies nowhere, and is not empty beside others that are not.
NOWHERE = {"0,0 | 4,4", "hull of 0,8 | 4,0 and 4,4"}


def test_the_model_gives_the_published_boxes():
    rows = [golden for golden in goldens("dist") if golden["function"] == "local_bounding_box"]
    assert len(rows) == 14
    for golden in rows:
        given, ((start,), (count,)) = golden["arguments"], golden["expected"]
        (offset,), (size,), (stride,), (at,), (extent,) = given[:5]
        one = box(offset, stride, (at, min(at + extent, size)))
        if len(given) > 5:
            earlier = (given[5][0], given[5][0] + given[6][0])
            one = (max(one[0], earlier[0]), min(one[1], earlier[1])) if len(given) > 7 else hull([one, earlier])
        assert (one[0], max(one[1] - one[0], 0)) == (start, count), golden["name"]


def shifted(on, random):
    """Views of one array, shifted and as long as they can be; and what is computed with them."""
    parts, size = int(random.integers(3, 6)), int(random.integers(24, 40))
    u = line(on(parts), size)
    shifts = sorted({0, *map(int, random.integers(0, 4, size=3))})
    random.shuffle(shifts)
    extent = size - max(shifts)
    total = u[shifts[0] : shifts[0] + extent]
    for shift in shifts[1:]:
        total = total + u[shift : shift + extent]
    return u, shifts, total


def received(text):
    """The bytes that come to each part."""
    coming = {}
    for receiver, count in re.findall(r"^  \d+ -> (\d+): (\d+) bytes", text, re.M):
        coming[int(receiver)] = coming.get(int(receiver), 0) + int(count)
    return coming


@pytest.mark.requirement("D22", "D29")
def test_an_exchange_brings_the_hull_of_all_operands(on):
    """Each part receives what is in the hull of its boxes and not its own, once, in one exchange."""
    random, several = np.random.default_rng(22), 0
    for _ in range(60):
        u, shifts, total = shifted(on, random)
        text = total.explain()
        expected = {}
        for part in range(u.dist.num_parts):
            target, owned = total.dist.owned(part)[0], u.dist.owned(part)[0]
            low, high = hull([box(shift, 1, target) for shift in shifts])
            outside = [cell for cell in range(low, high) if not owned[0] <= cell < owned[1]]
            expected |= {part: 4 * len(outside)} if outside else {}
        assert received(text) == expected and text.count("plan ") == bool(expected), text
        several += len(shifts) > 2
        host = u.numpy()
        np.testing.assert_array_equal(total.numpy(), sum(host[shift : shift + total.size] for shift in shifts))
    assert several > 20
    u[1:-1] = u[2:] - u[:-2]
    again = (u[2:] + u[:-2] + u[1:-1]).explain()
    assert again.count("plan ") <= 1


@pytest.mark.requirement("D25", "D26", "D27")
def test_the_core_is_what_needs_nothing_of_others(on):
    """A chain lies where its first operand does, is one kernel, and its core has the bounds that fit all operands."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(itself, "team", on)
        published = [judged(itself, golden) for golden in goldens("dist") if golden["function"] == "local_core"]
    assert published == [("passed", "")] * 3, published
    random, cores = np.random.default_rng(25), 0
    for _ in range(60):
        u, shifts, total = shifted(on, random)
        first = u[shifts[0] : shifts[0] + total.size]
        assert all(total.dist.owned(part) == first.dist.owned(part) for part in range(u.dist.num_parts))
        text = total.explain()
        assert len(re.findall("^kernel fused", text, re.M)) == (len(shifts) > 1)
        said = re.search(r"(\d+) of (\d+) cells need nothing", text)
        if said:
            bounds = [core(shifts, u.dist.owned(part)[0], total.dist.owned(part)[0]) for part in range(u.dist.num_parts)]
            assert int(said[1]) == sum(map(len, bounds)) and int(said[2]) == total.size
            cores += 1
    assert cores > 30


@pytest.mark.requirement("D31")
def test_stencils_of_slices_give_the_same_bits_on_any_number_of_members(on):
    random = np.random.default_rng(31)
    for shape, grids in (((29,), [(1,), (3,), (5,)]), ((13, 11), [(1, 1), (4, 1), (2, 3)]), ((7, 8, 9), [(1, 1, 1), (3, 1, 2), (2, 2, 2)])):
        host = random.random(shape, dtype=np.float32)
        inner, below, above = (tuple(slice(k, n - 2 + k) for n in shape) for k in (1, 0, 2))
        expected = host.copy()
        for _ in range(3):
            expected[inner] = np.float32(0.5) * (expected[below] + expected[above]) - expected[inner] * np.float32(0.3)
        for grid in grids:
            u = pt.asarray(host, dist=pt.Distribution(shape, team=on(int(np.prod(grid))), grid=grid))
            for _ in range(3):
                u[inner] = 0.5 * (u[below] + u[above]) - u[inner] * 0.3
            assert u.numpy().tobytes() == expected.tobytes(), grid
