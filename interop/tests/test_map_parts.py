"""Functions of one's own on the parts of arrays."""

import traceback

import numpy as np
import partita as pt
import pytest


def padded(block, u):
    """An input with a cell around the owned ones everywhere, zeros beyond the array."""
    missing = [(1 - min(below, 1), 1 - min(above, 1)) for below, above in block.halo]
    return np.pad(np.asarray(u), missing)[tuple(slice(max(below - 1, 0), None) for below, _ in block.halo)]


def neighbours(block, u, total):
    u, total = padded(block, u), np.asarray(total)
    rows, columns = total.shape
    total[...] = u[:rows, 1 : columns + 1] + u[2 : rows + 2, 1 : columns + 1]
    total += u[1 : rows + 1, :columns] + u[1 : rows + 1, 2 : columns + 2]


def expected(host):
    u = np.pad(host, 1)
    return u[:-2, 1:-1] + u[2:, 1:-1] + (u[1:-1, :-2] + u[1:-1, 2:])


@pytest.mark.parametrize("grid", [(1, 1), (3, 1), (2, 2)], ids=str)
@pytest.mark.parametrize("declared", [0, 1, 2])
def test_a_stencil_sees_its_neighbours(grid, declared):
    host = np.random.default_rng(3).random((9, 11))
    dist = pt.Distribution(host.shape, team=pt.Team(grid[0] * grid[1], "host"), grid=grid, halo=declared)
    u = pt.asarray(host, dist=dist)
    for _ in range(3):
        u = pt.map_parts(neighbours, u * 1, halo=1)
        host = expected(host)
    np.testing.assert_array_equal(u.numpy(), host)
    assert u.dist == dist


def test_what_a_block_says():
    dist = pt.Distribution((7, 4), team=pt.Team(3, "host"), grid=(3, 1), periodic=(True, False))
    seen = []
    pt.map_parts(lambda block, u, out: seen.append(block), pt.zeros((7, 4), dist=dist), halo=(2, 0))
    assert [block.number for block in seen] == [0, 1, 2]
    assert [block.box for block in seen] == [dist.owned(part) for part in range(3)]
    assert all(block.halo == ((2, 2), (0, 0)) and block.inner[0].start == 2 for block in seen)
    assert all(block.stream is None and block.device == dist.team.devices[0] for block in seen)


def test_several_results_of_several_types():
    u, v = pt.arange(10.0, team=pt.Team(4, "host")), pt.ones(10, team=pt.Team(4, "host"))
    into = pt.full(10, -1.0, dist=u.dist)
    recorded = into * 2

    def f(block, u, v, is_odd, into):
        np.asarray(is_odd)[...] = np.asarray(u) % 2 == 1
        np.asarray(into)[::2] += (np.asarray(u) + np.asarray(v))[::2]

    is_odd, same = pt.map_parts(f, u, v, out=[pt.bool, into])
    assert same is into and is_odd.dtype == pt.bool
    assert is_odd.tolist() == [n % 2 == 1 for n in range(10)]
    firsts = {at for part in range(4) for at in range(*into.dist.owned(part)[0], 2)}
    assert recorded.tolist() == [-2] * 10 and into.tolist() == [n if n in firsts else -1 for n in range(10)]


def test_an_input_that_is_written_keeps_its_value():
    u = pt.arange(6.0, team=pt.Team(2, "host"))

    def f(block, u, out):
        np.asarray(out)[...] = 9
        np.asarray(out)[...] = np.asarray(u) * 2

    pt.map_parts(f, u, out=u)
    assert u.tolist() == [0, 2, 4, 6, 8, 10]


def test_torch_computes():
    torch = pytest.importorskip("torch")
    u = pt.asarray(np.linspace(-3, 3, 50, dtype=np.float32), team=pt.Team(3, "host"))

    def gelu(block, u, out):
        torch.from_dlpack(out).copy_(torch.nn.functional.gelu(torch.from_dlpack(u)))

    theirs = torch.nn.functional.gelu(torch.from_numpy(u.numpy()))
    np.testing.assert_allclose(pt.map_parts(gelu, u).numpy(), theirs, rtol=1e-6)


def test_inputs_are_read_only_and_errors_keep_their_traceback():
    u = pt.arange(6.0, team=pt.Team(2, "host"))

    def broken(block, u, out):
        np.asarray(u)[0] = 1

    with pytest.raises(ValueError, match="read-only") as caught:
        pt.map_parts(broken, u)
    assert traceback.extract_tb(caught.value.__traceback__)[-1].name == "broken"
    assert u.tolist() == [0, 1, 2, 3, 4, 5]


def test_what_cannot_be():
    team = pt.Team(2, "host")
    u = pt.zeros(8, team=team)
    nothing = lambda *_: None  # noqa: E731
    with pytest.raises(ValueError, match="at least one array"):
        pt.map_parts(nothing)
    with pytest.raises(ValueError, match="one shape"):
        pt.map_parts(nothing, u, pt.zeros(9, team=team))
    with pytest.raises(ValueError, match="one shape"):
        pt.map_parts(nothing, u.sum())
    with pytest.raises(ValueError, match="halo of 0"):
        pt.map_parts(nothing, u, halo=(1, 1))
    with pytest.raises(ValueError, match="redistribute"):
        pt.map_parts(nothing, u, out=pt.zeros(8, dist=pt.Distribution(8, team=team, halo=1)))
    cyclic = pt.zeros(8, dist=pt.Distribution(8, team=team, dims=[pt.Cyclic(2)]))
    with pytest.raises(ValueError, match="blocks"):
        pt.map_parts(nothing, cyclic, halo=1)
    assert pt.map_parts(lambda block, u, out: np.asarray(out).fill(block.number), cyclic).tolist() == [0, 0, 1, 1] * 2
    with pytest.raises(ValueError, match="Loop"):
        pt.Loop(lambda u: pt.map_parts(nothing, u, out=u) and None).run(u, steps=3)
