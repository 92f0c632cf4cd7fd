"""What is seen at the prompt: NumPy's text of the elements, without reading more than is shown."""

import numpy as np
import partita as pt
import pytest

SHAPES = [(), (1,), (0,), (5,), (999,), (1001,), (4, 6), (2000, 2), (3, 2000), (40, 30, 2), (7, 8, 9, 10), (2, 0, 3), (6, 200)]


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float32", "float64", "complex128"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_print_is_numpys(shape, dtype, parts):
    rng = np.random.default_rng(len(shape))
    host = np.asarray(rng.normal(size=shape) * 10.0 ** rng.integers(-3, 9)).astype(dtype)
    u = pt.asarray(host, team=pt.Team(parts, "host"))
    assert str(u) == f"{u}" == str(host)
    assert str(u.T) == str(host.T)
    with np.printoptions(threshold=5, edgeitems=2, precision=3, suppress=True):
        assert str(u) == str(host)


def test_a_large_array_is_read_at_its_corners():
    u = pt.zeros((3000, 3000), team=pt.Team(2, "host")).eval()
    device = u.team.devices[0]
    before = device.memory["in_use_bytes"]
    u[0, 0] = 7
    text = str(u)
    assert text.startswith("[[7. 0. 0. ... 0. 0. 0.]") and device.memory["in_use_bytes"] - before < 10_000


def test_repr_computes_nothing():
    u = pt.asarray(np.arange(6.0).reshape(2, 3), team=pt.Team(2, "host"))
    assert repr(u) == "<partita.Array (2, 3) float64, 2 parts in grid (2, 1)>\n[[0. 1. 2.]\n [3. 4. 5.]]"
    v = u + 1
    for x in (v, v[0], v.T):
        assert repr(x).endswith("not computed>") and "not computed" in x._repr_html_()
    assert not v._native.is_computed()
    v.eval()
    assert repr(v[0]).endswith("\n[1. 2. 3.]") and "[1. 2. 3.]" in v[0]._repr_html_()
    assert repr(v.sum()).endswith("not computed>")

    def step(u):
        u += 1
        assert repr(u).startswith("<partita.Array (2, 3)")

    pt.Loop(step).run(u, steps=3)
    assert float(u[0, 0]) == 3


def test_numbers_are_pythons():
    u = pt.asarray(np.arange(12.0).reshape(3, 4), team=pt.Team(3, "host"))
    mean = u.mean()
    assert f"{mean:.3f}" == "5.500" and f"{mean}" == "5.5" == str(mean)
    assert round(mean) == 6 and round(u[1, 1] / 3, 2) == 1.67 and isinstance(round(mean), int)
    assert 3.0 in u and 3.5 not in u and int(u[2, 3]) == 11 and float(mean) == 5.5 and bool(u[0, 1])
    assert u.item(5) == 5.0 and u.item(1, 2) == 6.0 and u.item((2, 0)) == 8.0 and u[1].item(2) == 6.0 and u.item(-1) == 11.0
    assert [float(row.sum()) for row in u] == [6.0, 22.0, 38.0] and len(u) == 3 and u[0].tolist() == [0, 1, 2, 3]
    with pytest.raises(TypeError):
        f"{u:.3f}"
    with pytest.raises(TypeError, match="1 element"):
        round(u)


def test_what_people_type(host_team):
    """Elements of computed arrays show their values; numbers made of arrays are Python's; errors name what was typed."""
    u = pt.asarray(np.arange(6.0).reshape(2, 3), team=host_team)
    assert repr(u[1, 2]).endswith("\n5.0") and not u[1, 2]._native.is_computed()
    assert repr((u + 1)[1, 2]).endswith("not computed>") and repr(u.T[2]).endswith("\n[2. 5.]")
    for call, error, text in [
        (bool, ValueError, r"bool: expected an array of 1 element, given shape \(2, 3\); use u.any\(\) or u.all\(\)"),
        (int, TypeError, "int: .*astype"), (float, TypeError, "float: .*astype"), (complex, TypeError, "complex: .*astype"),
        (round, TypeError, r"round: .*u.round\(\)"), (lambda u: u.item(), ValueError, "item: .*reduce it"),
        (lambda u: list(u.sum()), TypeError, "iteration over"), (lambda u: f"{u:.2f}", TypeError, "format its elements"),
        (hash, TypeError, "unhashable"), (lambda u: len(u.sum()), TypeError, "u.size"),
    ]:  # fmt: skip
        with pytest.raises(error, match=text):
            call(u)
    k = pt.asarray([3, 4], team=host_team)
    assert (list(range(k[0])), [10, 20, 30, 40][k[0]], hex(k[1]), f"{k[1] / 8:.2f}", "%d" % k[0]) == ([0, 1, 2], 40, "0x4", "0.50", "3")
    assert [int(x) for x in reversed(k)] == [4, 3] and max(k).item() == 4 and sum(k).item() == 7 and round(u.mean(), 1) == 2.5
    assert 4 in k and 5 not in k and 2.0 in u * 2
