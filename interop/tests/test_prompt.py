"""What is seen at the prompt: NumPy's text of the elements, without reading more than is shown."""

import re

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


def test_repr_shows_values_then_type_and_parts():
    u = pt.asarray(np.arange(6.0).reshape(2, 3), team=pt.Team(2, "host"))
    v, text = u + 1, "Array([[1., 2., 3.],\n       [4., 5., 6.]], float64, 2 parts in grid (2, 1))"
    assert repr(v) == f"{v!r}" == "%r" % v == text and v._native.is_computed() and "[[1. 2. 3.]\n [4. 5. 6.]]" in (u + 1)._repr_html_()
    assert repr([v.max(), v.min()]) == "[Array(6.0, float64, 1 part), Array(1.0, float64, 1 part)]"
    assert repr({"max": v.max(), "at": v.argmax()}) == "{'max': Array(6.0, float64, 1 part), 'at': Array(5, int64, 1 part)}"
    assert repr(v[0] + 1) == "Array([2., 3., 4.], float64, 2 parts in grid (2,))"
    one = pt.asarray([1.5, -2.0], "float32", team=pt.Team(1, "host"))
    assert repr(one) == "Array([ 1.5, -2. ], float32, 1 part)" and repr(one > 0) == "Array([ True, False], bool, 1 part)"
    assert repr(pt.zeros((0, 3), team=one.team)) == "Array([], shape=(0, 3), float64, 1 part)"
    assert repr(pt.zeros((8, 8), dist=pt.Distribution((8, 8), team=pt.Team(4, "host"), grid=(2, 2)))).endswith(", float64, 4 parts in grid (2, 2))")


@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "float32", "complex128"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_values_in_a_repr_are_numpys(shape, dtype):
    host = np.asarray(np.random.default_rng(3).normal(size=shape) * 9).astype(dtype)
    u = pt.asarray(host, team=pt.Team(2, "host")).eval()
    with np.printoptions(threshold=50):
        values = repr(u).removeprefix("Array(").rsplit(f", {dtype}, ", 1)[0]
        theirs = str(host) if shape == () else np.array2string(host, separator=", ", prefix="Array(", suffix=",")
    assert values == theirs + (f", shape={shape}" if 0 in shape and shape != (0,) else "")


def test_a_repr_of_many_elements_computes_nothing():
    """Of more than NumPy's threshold; what is computed shows its ends."""
    u = pt.asarray(np.arange(2000.0), team=pt.Team(2, "host"))
    v = u + 1
    for x in (v, v[:-1], v.reshape(40, 50)):
        assert repr(x).startswith("<partita.Array (") and repr(x).endswith(", not computed>")
        assert "not computed" in x._repr_html_()
    assert not v._native.is_computed()
    assert repr(v.eval()) == "Array([1.000e+00, 2.000e+00, 3.000e+00, ..., 1.998e+03, 1.999e+03,\n       2.000e+03], float64, 2 parts in grid (2,))"
    with np.printoptions(threshold=3000):
        assert repr(u + 1).startswith("Array([1.000e+00, 2.000e+00, 3.000e+00, 4.000e+00, ")


def test_a_repr_in_a_step_computes_nothing():
    u, said = pt.ones(3, team=pt.Team(2, "host")), []

    def step(u):
        u += 1
        said.extend((repr(u), repr(u.sum()), u._repr_html_()))

    pt.Loop(step).run(u, steps=3)
    assert u.tolist() == [4, 4, 4] and said and all("not computed" in text for text in said)


def test_a_repr_never_fails(monkeypatch):
    """Not even of arrays that are in use, or that cannot be computed."""
    u = pt.ones(3, team=pt.Team(2, "host"))
    with u.writable() as parts:
        assert "RuntimeError" in repr(u) and "in use" in repr(u) and "in use" in u._repr_html_() and repr(parts)

    def fails(self):
        raise pt.OutOfMemoryError("evaluating: expected memory\nfor 3 elements")

    monkeypatch.setattr(pt.Array, "numpy", fails)
    assert repr(u + 1) == "<partita.Array, OutOfMemoryError: evaluating: expected memory>" and "OutOfMemoryError" in (u + 1)._repr_html_()


def test_everything_public_has_a_readable_repr():
    """All classes that the package exports, by an instance or more of each."""
    team = pt.Team(2, "host")
    u = pt.ones(4, team=team)
    partition = pt.Partition(team)
    block = pt.errstate(divide="raise")
    instances = [
        u, u[1:], u[0], u.flat, u.flags, u.dtype, u.dist, u.team, u.team.devices[0], u.parts[0], u.parts[0].stored, u.writable(),
        pt.Loop(lambda u: None), pt.Loop(max), pt.default_team(team), block, pt.vectorize(max), pt.finfo("float32"),
        pt.iinfo("int8"), pt.add, pt.Block(), pt.Block([0, 2, 4]), pt.Cyclic(2), pt.Unstructured([[0, 1], [2, 3]]), pt.Replicated(), pt.CustomMap(), pt.Domain[1:3], u.at,
        partition,
        pt.collective.broadcast(partition, partition), pt.collective.broadcast(partition, partition).start(u), pt.mgrid, pt.ogrid, pt.r_, pt.c_, pt.s_, pt.index_exp, pt.unique_all(u),
        pt.unique_counts(u), pt.unique_inverse(u), pt.linalg.eigh(pt.ones((2, 2))), pt.linalg.svd(pt.ones((2, 2))),
        pt.random.default_rng(1), pt.random.RandomState(1), pt.random.SeedSequence(1), pt.random.BitGenerator(1), pt.random.PCG64(1),
        pt.random.PCG64DXSM(), pt.random.Philox(1), pt.random.SFC64(1), *pt.random.MT19937(1).spawn(1), pt.Error("text"), pt.__array_namespace_info__(), pt.lib, pt.ndarray(3),
    ]  # fmt: skip
    shown = {type(x).__name__ for x in instances}
    # Other modules are there once something imports them.
    modules = [pt, pt.random, pt.fft, pt.linalg, pt.lib, pt.lib.stride_tricks, pt.operators, pt.collective, pt.array_api]
    public = {name: value for module in modules for name, value in vars(module).items() if name in getattr(module, "__all__", vars(module))}
    for name, made in public.items():
        is_ours = isinstance(made, type) and made.__module__.startswith("partita")
        if is_ours and not name.startswith("_") and not issubclass(made, (Exception, pt.generic)):
            assert made.__name__ in shown | {"ndarray", "PartBlock", "Stream"}, f"an instance of {name} is missing above"
    for name, value in {**{str(n): x for n, x in enumerate(instances)}, **public}.items():
        if not name.startswith("_") and not callable(value) or name.isdigit():
            assert not re.search(r" at 0x[0-9a-f]+>", repr(value)), (name, repr(value))


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
    assert repr(u[1, 2]) == "Array(5.0, float64, 1 part)" == repr((u + 1)[1, 1]) and repr(u.T[2]).startswith("Array([2., 5.], float64, ")
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
