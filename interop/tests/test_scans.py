"""Cumulative sums, products and extremes against NumPy's: integers exactly, floats the same on every number of parts."""

import numpy as np
import pytest

import partita as pt

TYPES = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"]


def cases(count):
    random = np.random.default_rng(7)
    for n in range(count):
        shape = (int(random.integers(200, 9000)),) if n % 7 == 0 else tuple(random.integers(1, 40, size=random.integers(1, 4)))
        yield random.integers(0, 100, size=shape).astype(random.choice(TYPES)), int(random.integers(len(shape)))


def test_500_random_arrays_of_integers_are_numpys():
    count = 0
    for array, axis in cases(500):
        for name in ("cumsum", "cumprod"):
            expected, given = getattr(np, name)(array, axis=axis), getattr(pt, name)(pt.asarray(array), axis=axis)
            assert given.dtype == expected.dtype
            np.testing.assert_array_equal(given.numpy(), expected)
        for name in ("add", "multiply", "minimum", "maximum"):
            expected = getattr(np, name).accumulate(array, axis=axis)
            given = getattr(pt, name).accumulate(pt.asarray(array), axis=axis)
            assert given.dtype == expected.dtype
            np.testing.assert_array_equal(given.numpy(), expected)
        count += 1
    assert count == 500


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_floats_have_the_same_bits_on_every_number_of_parts(dtype):
    array = np.random.default_rng(3).normal(size=(5, 1111)).astype(dtype)
    results = []
    for parts in (1, 2, 3, 4, 7, 8):
        team = pt.Team.local(parts)
        for grid in ((1, parts), (parts, 1)):
            x = pt.asarray(array, dist=pt.Distribution(array.shape, grid=grid, team=team))
            results.append(pt.cumsum(x, axis=1).numpy())
    assert all(result.tobytes() == results[0].tobytes() for result in results)
    exact = np.cumsum(array.astype("f8"), axis=1)
    np.testing.assert_allclose(results[0], exact, rtol=0, atol=float(np.finfo(dtype).eps) * 12 * np.abs(exact).max())


def test_complex_numbers_and_nan():
    z = np.random.default_rng(5).normal(size=(3, 40)) * (1 + 2j)
    np.testing.assert_allclose(pt.cumsum(pt.asarray(z), axis=1).numpy(), np.cumsum(z, axis=1), rtol=1e-13)
    np.testing.assert_allclose(pt.cumprod(pt.asarray(z), axis=0).numpy(), np.cumprod(z, axis=0), rtol=1e-13)
    x = np.array([3.0, 1.0, np.nan, 2.0])
    np.testing.assert_array_equal(pt.minimum.accumulate(pt.asarray(x)).numpy(), np.minimum.accumulate(x))
    np.testing.assert_array_equal(pt.nancumsum(pt.asarray(x)).numpy(), np.nancumsum(x))
