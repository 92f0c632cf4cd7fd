"""What sorts, against NumPy: random arrays with ties, NaN and -0.0, on several numbers of parts and distributions."""

import itertools

import numpy as np
import pytest

import partita as pt

REAL = ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]
COMPLEX = ["c8", "c16"]


def made(rng, dtype, shape):
    """Few different numbers, so that many are equal."""
    host = rng.integers(0, 2 if dtype == "?" else 9, shape).astype(dtype)
    if dtype[0] in "if":
        host -= np.array(4, dtype)
    if dtype[0] == "c":
        host = host + 1j * rng.integers(-2, 3, shape).astype(host.real.dtype)
        host.real[rng.random(shape) < 0.1] = np.nan
        host.imag[rng.random(shape) < 0.1] = np.nan
    if dtype[0] == "f":
        host[rng.random(shape) < 0.1] *= -0.0
        host[rng.random(shape) < 0.1] = np.nan
        host[rng.random(shape) < 0.05] = np.inf
    return host


def placed(rng, host):
    """The array on some number of parts, in blocks or dealt out."""
    team = pt.Team.local(int(rng.choice([1, 3, 4])))
    kind = int(rng.integers(3))
    if kind == 0 or host.ndim == 0:
        return pt.asarray(host, team=team)
    axis = int(rng.integers(host.ndim))
    grid = tuple(team.size if d == axis else 1 for d in range(host.ndim))
    dims = [pt.Cyclic(2) if d == axis and kind == 2 else None for d in range(host.ndim)]
    return pt.asarray(host, dist=pt.Distribution(host.shape, team=team, grid=grid, dims=dims))


def cases(seed, dtypes, count, most=3, sizes=(1, 14)):
    rng = np.random.default_rng(seed)
    for dtype in dtypes:
        for _ in range(count):
            shape = tuple(int(n) for n in rng.integers(*sizes, rng.integers(1, most + 1)))
            host = made(rng, dtype, shape)
            yield rng, host, placed(rng, host)


def same(given, expected, signs=True):
    """Type, shape and elements; also the signs of zeros."""
    expected = np.asarray(expected)
    assert given.dtype == expected.dtype and given.shape == expected.shape, (given.dtype, given.shape, expected.dtype, expected.shape)
    np.testing.assert_array_equal(given.numpy(), expected)
    if signs and expected.dtype.kind == "f":
        known = ~np.isnan(expected)
        np.testing.assert_array_equal(np.signbit(given.numpy()[known]), np.signbit(expected[known]))


def test_sort_and_argsort_are_numpys():
    for rng, host, u in cases(1, REAL + COMPLEX, 6):
        axis = int(rng.integers(-host.ndim, host.ndim))
        for d in (axis, None):
            same(pt.argsort(u, d), np.argsort(host, d, kind="stable"))
            same(pt.sort(u, d), np.sort(host, d, kind="stable"))
        same(u.argsort(axis=axis), np.argsort(host, axis, kind="stable"))
        assert pt.sort(u, axis).dist == u.dist or host.dtype.kind == "c"


def test_descending_keeps_the_order_of_equal_elements_and_nan_last():
    for rng, host, u in cases(2, REAL, 3):
        axis = int(rng.integers(host.ndim))
        # Ranks of the different numbers, from the largest; NaN, the last, stay the last.
        values, rank = np.unique(host, return_inverse=True)
        known = int((~np.isnan(values)).sum()) if host.dtype.kind == "f" else len(values)
        rank = np.where(rank < known, known - 1 - rank, rank).reshape(host.shape)
        order = np.argsort(rank, axis, kind="stable")
        same(pt.argsort(u, axis, descending=True), order)
        same(pt.sort(u, axis, descending=True), np.take_along_axis(host, order, axis))
    z = np.array([1 + 1j, 2, 1 + 2j, np.nan, 2])
    assert pt.argsort(z, descending=True).tolist() == [1, 4, 2, 0, 3]


def test_sort_in_place_writes_through_views():
    for rng, host, u in cases(3, ["i4", "f8", "c16"], 4):
        axis = int(rng.integers(host.ndim))
        twin, half = host.copy(), (slice(None, None, 2),)
        u[half].sort(axis=axis)
        twin[half].sort(axis=axis, kind="stable")
        same(u, twin)
        u.T.sort()
        twin.T.sort(kind="stable")
        same(u, twin)
        assert u.sort(0) is None
        u.partition(0, axis=-1)
        same(u, np.sort(np.sort(twin, 0, kind="stable"), -1, kind="stable"))
    frozen = pt.zeros(3)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        frozen.sort()


@pytest.mark.parametrize("call, error, text", [
    (lambda u: pt.sort(u, 2), ValueError, "sort: expected an axis within 2"),
    (lambda u: pt.argsort(u, kind="bubble"), ValueError, "argsort: expected kind 'quicksort'"),
    (lambda u: pt.sort(u, kind="stable", stable=True), ValueError, "sort: expected kind or stable"),
    (lambda u: pt.sort(u, order="x"), ValueError, "no fields"),
    (lambda u: pt.sort(3), ValueError, "sort: expected an axis within 0"),
    (lambda u: u.sort(None), TypeError, "NoneType"),
    (lambda u: pt.partition(u, 3), ValueError, "partition: expected kth within 3"),
    (lambda u: pt.argpartition(u, 0.5), TypeError, "argpartition: expected integers"),
    (lambda u: pt.lexsort([]), TypeError, "lexsort: expected at least one key"),
    (lambda u: pt.unique(u, axis=2), ValueError, "unique: expected an axis within 2"),
    (lambda u: pt.median(u + 1j), TypeError, "median: expected real numbers"),
    (lambda u: pt.quantile(u, 1.5), ValueError, r"Quantiles must be in the range \[0, 1\]"),
    (lambda u: pt.percentile(u, 101), ValueError, r"Percentiles must be in the range \[0, 100\]"),
    (lambda u: pt.quantile(u, 0.5, method="next"), ValueError, "quantile: expected a method"),
    (lambda u: pt.quantile(pt.zeros(0), 0.5), IndexError, "quantile: expected at least one element"),
])  # fmt: skip
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call(pt.asarray([[3, 1, 2], [1, 2, 3]]))


def test_partition_has_elements_in_their_places():
    for rng, host, u in cases(4, ["i4", "f8"], 3):
        k = int(rng.integers(host.shape[-1]))
        expected = np.partition(host, k)[..., k]
        same(pt.partition(u, k)[..., k], expected, signs=False)
        same(pt.take_along_axis(u, pt.argpartition(u, k), -1)[..., k], expected, signs=False)
        same(u.argpartition(k, axis=None), np.argsort(host, None, kind="stable"))


def test_lexsort_and_sort_complex_are_numpys():
    for rng, host, u in cases(5, ["u1", "f4", "i8"], 3, most=2):
        second = made(rng, "f8", host.shape)
        same(pt.lexsort([u, second, u]), np.lexsort([host, second, host]))
        same(pt.lexsort((second, u), axis=0), np.lexsort((second, host), axis=0))
        same(pt.sort_complex(u), np.sort_complex(host))


def test_unique_is_numpys():
    for rng, host, u in cases(6, REAL + COMPLEX, 4):
        if rng.random() < 0.1:
            host, u = host[:0], u[:0]
        for equal_nan in (True, False):
            results = pt.unique(u, True, True, True, equal_nan=equal_nan)
            for given, expected in zip(results, np.unique(host, True, True, True, equal_nan=equal_nan), strict=True):
                same(given, expected)
            same(pt.unique(u, equal_nan=equal_nan), np.unique(host, equal_nan=equal_nan), signs=False)
        for name in ("unique_all", "unique_counts", "unique_inverse"):
            given, expected = getattr(pt, name)(u), getattr(np, name)(host)
            assert given._fields == expected._fields
            for field, ours, theirs in zip(given._fields, given, expected, strict=True):
                if name == "unique_inverse" and field == "inverse_indices":
                    # NumPy's numbers of NaN are in any order here.
                    np.testing.assert_array_equal(given.values.numpy()[ours.numpy()], host)
                    ours, theirs = pt.sort(ours, None), np.sort(theirs, None)
                same(ours, theirs, signs=False)
        same(pt.unique_values(u), np.sort(np.unique_values(host)), signs=False)
    same(pt.unique([3, 1, 3], axis=0), np.unique([3, 1, 3], axis=0))


def test_unique_slices_are_numpys():
    for rng, host, u in cases(16, ["?", "i1", "f8", "c16"], 4, sizes=(1, 6)):
        axis = int(rng.integers(-host.ndim, host.ndim))
        host, u = (host % 2, u % 2) if host.dtype.kind in "if" else (host, u)
        results = pt.unique(u, True, True, True, axis=axis)
        for given, expected in zip(results, np.unique(host, True, True, True, axis=axis), strict=True):
            same(given, expected)
    for shape in [(3, 0), (0, 3), (0, 0)]:
        same(pt.unique(pt.zeros(shape), axis=0), np.unique(np.zeros(shape), axis=0))


def test_complex_places_are_numpys():
    for rng, host, u in cases(17, COMPLEX, 4, most=2):
        line = np.sort(made(rng, host.dtype.str[1:], 9))
        for side in ("left", "right"):
            same(pt.searchsorted(line, u, side), np.searchsorted(line, host, side))


def test_sets_are_numpys():
    for rng, host, u in cases(7, REAL + COMPLEX, 3, most=2):
        other = made(rng, str(rng.choice(REAL + COMPLEX)) if host.dtype != bool else "?", int(rng.integers(0, 9)))
        v = placed(rng, other) if other.size else pt.asarray(other, team=u.team)
        if u.team != v.team:
            v = pt.asarray(other, team=u.team)
        for invert in (False, True):
            same(pt.isin(u, v, invert=invert), np.isin(host, other, invert=invert))
        for name in ("union1d", "setdiff1d", "setxor1d", "intersect1d"):
            same(getattr(pt, name)(u, v), getattr(np, name)(host, other), signs=False)
        for given, expected in zip(pt.intersect1d(u, v, return_indices=True), np.intersect1d(host, other, return_indices=True), strict=True):
            same(given, expected, signs=False)
        a, b = np.unique(host), np.unique(other)
        for name in ("setdiff1d", "setxor1d", "intersect1d"):
            ours = getattr(pt, name)(pt.asarray(a, team=u.team), pt.asarray(b, team=u.team), assume_unique=True)
            same(ours, getattr(np, name)(a, b, assume_unique=True), signs=False)


METHODS = ["linear", "weibull", "hazen", "interpolated_inverted_cdf", "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint"]
METHODS += ["nearest", "inverted_cdf", "averaged_inverted_cdf", "closest_observation"]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_medians_and_quantiles_are_numpys():
    for rng, host, u in cases(8, ["i2", "i8", "u4", "f2", "f4", "f8"], 4):
        host = np.where(np.isinf(host), 7, host).astype(host.dtype)
        if host.dtype.kind == "f" and rng.random() < 0.5:
            host = np.where(np.isnan(host), 5, host).astype(host.dtype)
        u = pt.asarray(host, dist=u.dist)
        axis = [None, int(rng.integers(host.ndim)), tuple(range(host.ndim))[:2]][int(rng.integers(3))]
        keepdims, method = bool(rng.integers(2)), str(rng.choice(METHODS))
        q = float(rng.random()) if rng.random() < 0.5 else [0.0, 0.25, 1.0, float(rng.random())]
        for name in ("median", "nanmedian"):
            expected = getattr(np, name)(host, axis=axis, keepdims=keepdims)
            same(getattr(pt, name)(u, axis=axis, keepdims=keepdims), expected, signs=False)
        for name, scale in (("quantile", 1), ("nanquantile", 1), ("percentile", 100), ("nanpercentile", 100)):
            asked = (np.asarray(q) * scale).tolist()
            expected = np.asarray(getattr(np, name)(host, asked, axis=axis, method=method, keepdims=keepdims))
            given = getattr(pt, name)(u, asked, axis=axis, method=method, keepdims=keepdims)
            kind = host.dtype if host.dtype.kind == "f" else np.dtype("f8")
            assert given.dtype == kind and given.shape == expected.shape
            np.testing.assert_allclose(given.numpy(), expected, rtol=0, atol=64 * np.finfo(kind).eps)
    u, line = pt.arange(6, dtype=float), np.arange(6.0)
    for method, q in itertools.product(METHODS, [0, 0.1, 1 / 6, 0.25, 0.3, 0.5, 0.7, 0.75, 5 / 6, 0.9, 1]):
        np.testing.assert_allclose(pt.quantile(u, q, method=method).item(), np.quantile(line, q, method=method), atol=1e-14)
        np.testing.assert_allclose(pt.nanquantile(u[:5], q, method=method).item(), np.quantile(line[:5], q, method=method), atol=1e-14)
    out = pt.zeros(3)
    assert pt.median([[1, 5, 3], [2, 2, 2]], axis=0, out=out) is out and out.tolist() == [1.5, 3.5, 2.5]


def test_numpys_functions_call_ours_and_do_not_gather():
    pt.set_gather_limit(0)
    try:
        u = pt.asarray([3.0, 1.0, 2.0], team=pt.Team.local(3))
        for name in ("sort", "argsort", "unique", "median"):
            given = getattr(np, name)(u)
            assert isinstance(given, pt.Array)
            same(given, getattr(np, name)(u.numpy()))
    finally:
        pt.set_gather_limit(1 << 30)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shape", [(64, 33), (300, 301)])
def test_rows_with_padding_are_sorted_without_it(shape, dtype):
    """On the simulated CUDA driver reading what nobody has written is a fault."""
    host = np.random.default_rng(3).integers(0, 99, shape).astype(dtype)
    kinds = [device for device in pt.devices() if device.kind == "cuda" or (device.kind == "host")]
    for device, parts in itertools.product(kinds, (1, 2, 3)):
        u = pt.asarray(host, team=pt.Team.local(parts, device))
        for axis in (0, 1):
            same(pt.sort(u, axis=axis), np.sort(host, axis=axis))
            same(pt.argsort(u, axis=axis), np.argsort(host, axis=axis, kind="stable"))
            same(pt.median(u, axis=axis), np.median(host, axis=axis).astype(dtype))
        same(pt.unique(u), np.unique(host))
