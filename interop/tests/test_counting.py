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
def test_numbers_beyond_the_ends_are_refused(parts):
    u = pt.arange(5, team=pt.Team.local(parts, "host"))
    for beyond in ([5], [0, -6], [2**40]):
        with pytest.raises(IndexError, match=r"expected indices that fit shape \(5,\); index -?\d+ is out of bounds"):
            u[pt.asarray(beyond, team=u.team)]
        # Many are looked at by the devices.
        with pytest.raises(IndexError, match="expected indices from -5 to 4"):
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
