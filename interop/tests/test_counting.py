"""Masks, numbers, searches and counts of random arrays: NumPy's results to the bit, on any number of parts."""

import numpy as np
import partita as pt
import pytest
from partita._core.base import BaseArray


@pytest.mark.parametrize("by", ["numpy", "kernels"])
@pytest.mark.parametrize("parts", [1, 2, 3, 8])
def test_random_arrays(parts, by, monkeypatch):
    if by == "kernels":
        # As on other devices, where NumPy reads no memory.
        monkeypatch.setattr(BaseArray, "_is_on_host", lambda array: False)
    rng = np.random.default_rng(parts)
    team = pt.Team.local(parts, "host")
    for _ in range(40):
        shape = tuple(rng.integers(1, 7, rng.integers(1, 4)).tolist())
        host = rng.integers(-4, 5, shape).astype(rng.choice(["i1", "i4", "i8", "f4", "f8"]))
        dims = [pt.Cyclic(), *[None] * (len(shape) - 1)] if rng.random() < 0.5 else None
        u = pt.asarray(host, dist=pt.Distribution(shape, team=team, dims=dims))
        assert (u[u > 1].numpy() == host[host > 1]).all()
        assert all((x.numpy() == y).all() for x, y in zip(pt.nonzero(u), np.nonzero(host), strict=True))
        numbers = rng.integers(-host.size, host.size, rng.integers(1, 9, 2))
        assert (u.ravel()[pt.asarray(numbers, team=team)].numpy() == host.ravel()[numbers]).all()
        line = np.sort(rng.integers(-4, 5, rng.integers(0, 9))).astype("f8")
        for side in ("left", "right"):
            assert (pt.searchsorted(line, u, side).numpy() == np.searchsorted(line, host, side)).all()
        counts, edges = pt.histogram(u, 5)
        expected = np.histogram(host, 5)
        assert (counts.numpy() == expected[0]).all() and (edges.numpy() == expected[1]).all()
        whole = (host.ravel() + 4).astype(int)
        assert (pt.bincount(pt.asarray(whole, team=team)).numpy() == np.bincount(whole)).all()
        # Many numbers are counted in sorted order.
        assert (pt.bincount(pt.asarray(whole, team=team), minlength=1100).numpy() == np.bincount(whole, minlength=1100)).all()
        counts, edges = pt.histogram(u, 1037, (-3, 4.5))
        assert (counts.numpy() == np.histogram(host, 1037, (-3, 4.5))[0]).all()


@pytest.mark.parametrize("parts", [1, 3])
def test_of_an_element_that_is_named_several_times_the_last_value_stays(parts):
    rng, team = np.random.default_rng(parts), pt.Team.local(parts, "host")
    # Ascending, few of many elements, and many of few, which takes a table.
    for size, numbers in [(90, np.arange(0, 90, 7)), (900, rng.integers(0, 20, 50)), (20, rng.integers(0, 20, 50)), (1, np.zeros(3, int))]:
        host, values = np.zeros(size), np.arange(1.0, numbers.size + 1)
        u = pt.asarray(host, team=team)
        host[numbers], u[pt.asarray(numbers, team=team)] = values, values
        assert (u.numpy() == host).all()


@pytest.mark.parametrize("parts", [1, 3])
def test_numbers_beyond_the_ends_are_refused(parts, monkeypatch):
    u = pt.arange(5, team=pt.Team.local(parts, "host"))
    for beyond in ([5], [0, -6], [2**40]):
        with pytest.raises(IndexError, match=r"expected indices that fit shape \(5,\); index -?\d+ is out of bounds"):
            u[pt.asarray(beyond, team=u.team)]
        # Many are looked at by the devices.
        with monkeypatch.context() as elsewhere, pytest.raises(IndexError, match="expected indices from -5 to 4"):
            elsewhere.setattr(BaseArray, "_is_on_host", lambda array: False)
            u[pt.asarray(beyond * 600, team=u.team)]
        with pytest.raises(IndexError, match=r"expected indices that fit shape \(5,\); index -?\d+ is out of bounds"):
            u[pt.asarray(beyond * 600, team=u.team)]
    with pytest.raises(ValueError, match="negative"):
        pt.bincount([1, -1])


@pytest.mark.parametrize("trial", range(60))
def test_sums_at_listed_elements_are_numpys_on_the_host(trial):
    """Elements that are listed several times, numbers and arrays, few elements and so many that the parts' memory is written."""
    rng = np.random.default_rng(trial)
    shape = tuple(rng.integers(1, 9, rng.integers(1, 4))) if trial % 3 else (int(rng.integers(5000, 9000)),)
    kind, count = str(rng.choice(["float64", "float32", "int32", "uint8"])), int(rng.integers(0, 40))
    host = (rng.random(shape) * 10).astype(kind)
    places = tuple(rng.integers(0, n, count) for n in shape) if len(shape) > 1 else rng.integers(-shape[0], shape[0], count)
    values = [(rng.random(count) * 5).astype(kind), 3, rng.integers(0, 5, count).astype(kind)][trial % 3]
    u = pt.asarray(host, team=pt.Team(int(rng.integers(1, 5)), "host"))
    before, name = u.copy(), str(rng.choice(["add", "multiply", "maximum", "subtract"]))
    expected = host.copy()
    with np.errstate(all="ignore"):
        getattr(np, name).at(expected, places, values)
    getattr(pt, name).at(u, places, pt.asarray(values, team=u.team) if trial % 2 else values)
    np.testing.assert_array_equal(u.numpy(), expected)
    np.testing.assert_array_equal(before.numpy(), host)


def _key(rng, shape):
    """A key with arrays in it, and the same in Partita's terms: one function of how an array is written."""
    def numbers(extent, shape):
        return rng.integers(-extent, extent, shape)

    count = tuple(rng.integers(0, 6, rng.integers(1, 3)))
    match int(rng.integers(0, 7)):
        case 0:
            lines = [numbers(n, count) for n in shape]
            return lambda array: tuple(array(line) for line in lines)
        case 1:
            mask = rng.random(shape) < 0.5
            return lambda array: array(mask)
        case 2:
            line = numbers(shape[0], count)
            return lambda array: array(line)
        case 3:
            line = numbers(shape[-1], count)
            return lambda array: (..., array(line))
        case 4:
            line = numbers(shape[0], 4).tolist()
            return lambda array: line
        case 5:
            mask = rng.random(shape[0]) < 0.5
            return lambda array: (array(mask), *[slice(None, None, 2)] * (len(shape) - 1))
        case _:
            line = numbers(shape[0], (2, 1))
            return lambda array: (array(line), *[0] * (len(shape) - 1))


@pytest.mark.parametrize("trial", range(160))
def test_keys_with_arrays_are_numpys_on_the_host(trial):
    """Few elements and many, of one part and several, of views and domains; older values keep their elements."""
    rng = np.random.default_rng(trial)
    shape = tuple(rng.integers(1, 9, rng.integers(1, 4))) if trial % 3 else ((9000,), (80, 90))[trial % 2]
    kind = str(rng.choice(["float64", "float32", "int32", "uint8", "bool", "complex128"]))
    host, team = (rng.random(shape) * 10).astype(kind), pt.Team(1 + trial // 3 % 4, "host")
    dims = [pt.Cyclic(), *[None] * (len(shape) - 1)] if trial % 5 == 0 else None
    halo = int(dims is None and host.size > 500 and trial % 2)
    u = pt.asarray(host, dist=pt.Distribution(shape, team=team, dims=dims, halo=halo))
    if trial % 7 == 0:
        host, u = host[::-1], u[::-1]
    before, pending, old = u.copy(), u[..., :1] * 2, host.copy()
    for _ in range(4):
        key = _key(rng, shape)
        theirs, ours = key(np.asarray), key(np.asarray if rng.random() < 0.5 else lambda line: pt.asarray(line, team=team))
        found = host[theirs]
        assert u[ours].dtype.name == kind
        np.testing.assert_array_equal(u[ours].numpy(), found)
        values = (rng.random(found.shape if rng.random() < 0.5 else found.shape[-1:]) * 9).astype(rng.choice(["float64", kind]))
        values = 3 if rng.random() < 0.3 or (values.dtype.kind == "c" and kind != values.dtype) else values.astype(kind)
        host[theirs], u[ours] = values, values if isinstance(values, int) or rng.random() < 0.5 else pt.asarray(values, team=team)
        np.testing.assert_array_equal(u.numpy(), host)
    np.testing.assert_array_equal(before.numpy(), old)
    np.testing.assert_array_equal(pending.numpy(), old[..., :1] * 2 if kind != "bool" else old[..., :1].astype(int) * 2)


@pytest.mark.parametrize("parts", [1, 3])
def test_what_is_assigned_by_indices_is_read_before_it_is_written(parts):
    for size in (6, 9000):
        host, team = np.arange(size), pt.Team(parts, "host")
        u, numbers = pt.asarray(host, team=team), np.arange(size)[::-1].copy()
        u[numbers], host[numbers] = u, host.copy()
        np.testing.assert_array_equal(u.numpy(), host)
        u[u], host[host.copy()] = u[::-1], host[::-1].copy()
        np.testing.assert_array_equal(u.numpy(), host)
        v = u[numbers[:3]]
        u[[0, -1]] = 7
        v[[0]] = 5
        assert (u[[0, -1]].tolist(), u.numpy()[1:-1].tolist(), v.tolist()[1:]) == ([7, 7], host[1:-1].tolist(), host[numbers[:3]].tolist()[1:])


@pytest.mark.parametrize("parts", [1, 3])
def test_what_does_not_fit_is_refused_and_changes_nothing(parts):
    for size in (5, 9000):
        u = pt.arange(size, dtype="uint8", team=pt.Team.local(parts, "host"))
        old = u.numpy()
        for key, value, error, text in [
            ([0, 1], [1, 2, 3], ValueError, r"assignment: expected a value that broadcasts to \(2,\), given shape \(3,\)"),
            ([0, size], 1, IndexError, rf"index: expected indices that fit shape \({size},\); index {size} is out of bounds"),
            ([0, 1], 256, OverflowError, "256 out of bounds for uint8"),
            (np.ones(size + 1, bool), 1, IndexError, "index: expected indices that fit shape"),
            (np.array([0.5]), 1, IndexError, "must be of integer"),
        ]:
            with pytest.raises(error, match=text):
                u[key] = value
            np.testing.assert_array_equal(u.numpy(), old)


@pytest.mark.parametrize("parts", [1, 3])
def test_arrays_over_domains_stay_over_them(parts):
    for size in (5, 9000):
        D = pt.Domain(slice(1, size + 1), team=pt.Team(parts, "host"))
        A = D.zeros()
        A[[0, 2]] = [5, 6]
        assert (A.at[1].item(), A.at[3].item(), A[[2, 1]].tolist(), (A + A).at[3].item()) == (5, 6, [6, 0], 12)
        D.set(slice(1, size + 3))
        assert A.shape == (size + 2,)
