"""Random numbers: the same stream everywhere, distributions against SciPy's, permutations."""

import collections
import copy
import itertools
import pickle

import numpy as np
import partita as pt
import pytest
from partita.random import RandomState, default_rng
from partita.random._distributions import DISTRIBUTIONS


@pytest.mark.parametrize("draw", [
    lambda rng, shape, dist: rng.random(shape, dist=dist),
    lambda rng, shape, dist: rng.random(shape, pt.float32, dist=dist),
    lambda rng, shape, dist: rng.normal(2, 3, shape, dist=dist),
    lambda rng, shape, dist: rng.integers(-5, 17, shape, pt.int16, dist=dist),
    lambda rng, shape, dist: rng.choice(100, shape, replace=False, dist=dist),
    lambda rng, shape, dist: rng.choice(3, shape, p=[0.2, 0.5, 0.3], dist=dist),
], ids=["float64", "float32", "normal", "integers", "distinct", "weighted"])  # fmt: skip
def test_one_stream_for_every_layout(draw, team):
    shape = (9, 8)
    reference = draw(default_rng(5), shape, pt.Distribution(shape, team=pt.Team(1, "host"))).numpy()
    layouts = [
        pt.Distribution(shape, team=team),
        pt.Distribution(shape, team=team, grid=(1, len(team))),
        pt.Distribution(shape, team=team, dims=[pt.Cyclic(2), None]),
    ]
    for dist in layouts:
        assert draw(default_rng(5), shape, dist).numpy().tobytes() == reference.tobytes()
    assert draw(default_rng(6), shape, layouts[0]).numpy().tobytes() != reference.tobytes()


def test_calls_go_on_and_seeds_differ():
    rng, again = default_rng(2**100 + 1), default_rng(2**100 + 1)
    first, second = rng.random(50), rng.random(50)
    assert (first == again.random(50)).numpy().all() and (second == again.random(50)).numpy().all()
    assert not (first == second).numpy().any()
    drawn = {default_rng(seed).integers(2**62).item() for seed in [0, 1, 2**32, 2**33, 2**64, 2**32 + 1, 2**96]}
    assert len(drawn) == 7
    assert default_rng().random().shape == ()


def test_moments():
    rng = default_rng(1)
    uniform, normal = rng.random(200_000).numpy(), rng.normal(size=200_000).numpy()
    # Five standard deviations of each figure.
    assert abs(uniform.mean() - 0.5) < 5 * np.sqrt(1 / 12 / 200_000) and 0 <= uniform.min() and uniform.max() < 1
    assert abs(normal.mean()) < 5 / np.sqrt(200_000) and abs(normal.var() - 1) < 5 * np.sqrt(2 / 200_000)
    assert abs((normal**4).mean() - 3) < 5 * np.sqrt(96 / 200_000)
    counts = np.bincount(rng.integers(10, size=200_000).numpy(), minlength=10)
    assert ((counts - 20_000) ** 2 / 20_000).sum() < 40
    half = rng.uniform(-1, 3, 1000, pt.float32).numpy()
    assert half.dtype == np.float32 and half.min() >= -1 and half.max() < 3
    spread = np.corrcoef(uniform[:-1], uniform[1:])[0, 1]
    assert abs(spread) < 5 / np.sqrt(200_000)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint32", "int64", "uint64", "bool"])
def test_whole_ranges_of_integers(dtype):
    bounds = (0, 1) if dtype == "bool" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    drawn = default_rng(8).integers(int(bounds[0]), int(bounds[1]), 2000, dtype, endpoint=True).numpy()
    assert drawn.dtype == dtype
    middle = bounds[0] // 2 + bounds[1] // 2
    assert 800 < (drawn.astype(object) > middle).sum() < 1200


@pytest.mark.parametrize("misuse, error, text", [
    (lambda rng: rng.random(3, "int32"), TypeError, "use integers"),
    (lambda rng: rng.normal(size=3, dtype="float16"), TypeError, "astype"),
    (lambda rng: rng.normal(scale=-1), ValueError, "at least 0"),
    (lambda rng: rng.gamma(0), ValueError, "above 0"),
    (lambda rng: rng.gamma([1.0, -1.0]), ValueError, "an element that is not"),
    (lambda rng: rng.binomial(2.5, 0.5), ValueError, "a count"),
    (lambda rng: rng.normal([1, 2], size=3), ValueError, "broadcast to one size"),
    (lambda rng: rng.triangular(1, 0, 2), ValueError, "left <= mode"),
    (lambda rng: rng.uniform(-1e308, 1e308), OverflowError, "finite range"),
    (lambda rng: rng.choice(3, 4, replace=False), ValueError, "at most 3"),
    (lambda rng: rng.choice(3, 2, False, [0.2, 0.3, 0.5]), NotImplementedError, "sort"),
    (lambda rng: rng.choice(3, 2, p=[0.2, 0.3]), ValueError, "3 probabilities"),
    (lambda rng: rng.integers(5, 5), ValueError, "low below high"),
    (lambda rng: rng.integers(300, dtype="int8"), ValueError, "another dtype"),
    (lambda rng: rng.integers(3, dtype="float32"), TypeError, "use random"),
    (lambda rng: default_rng(-1), ValueError, "at least 0"),
])  # fmt: skip
def test_misuse(misuse, error, text):
    with pytest.raises(error, match=text):
        misuse(default_rng(0))


# Distributions: parameters, and SciPy's name for them with its parameters.

CONTINUOUS = {
    "uniform": ((2.0, 5.0), "uniform", (2, 3)),
    "normal": ((1.0, 2.0), "norm", (1, 2)),
    "standard_normal": ((), "norm", ()),
    "lognormal": ((0.0, 0.5), "lognorm", (0.5,)),
    "exponential": ((2.0,), "expon", (0, 2)),
    "standard_exponential": ((), "expon", ()),
    "laplace": ((1.0, 2.0), "laplace", (1, 2)),
    "logistic": ((1.0, 2.0), "logistic", (1, 2)),
    "gumbel": ((1.0, 2.0), "gumbel_r", (1, 2)),
    "rayleigh": ((2.0,), "rayleigh", (0, 2)),
    "weibull": ((1.7,), "weibull_min", (1.7,)),
    "pareto": ((3.0,), "lomax", (3,)),
    "power": ((2.5,), "powerlaw", (2.5,)),
    "standard_cauchy": ((), "cauchy", ()),
    "triangular": ((1.0, 2.0, 4.0), "triang", (1 / 3, 1, 3)),
    "wald": ((2.0, 3.0), "invgauss", (2 / 3, 0, 3)),
    "gamma": ((2.5, 1.5), "gamma", (2.5, 0, 1.5)),
    "standard_gamma": ((0.3,), "gamma", (0.3,)),
    "chisquare": ((3.0,), "chi2", (3,)),
    "f": ((3.0, 7.0), "f", (3, 7)),
    "standard_t": ((3.0,), "t", (3,)),
    "beta": ((0.4, 0.7), "beta", (0.4, 0.7)),
    "vonmises": ((0.0, 3.0), "vonmises", (3, 0)),
}
COUNTS = [
    ("geometric", (0.2,), "geom", (0.2,)),
    ("geometric", (1.0,), "geom", (1.0,)),
    ("poisson", (0.0,), "poisson", (0,)),
    ("poisson", (3.0,), "poisson", (3,)),
    ("poisson", (10.5,), "poisson", (10.5,)),
    ("poisson", (200.0,), "poisson", (200,)),
    ("binomial", (20, 0.3), "binom", (20, 0.3)),
    ("binomial", (100, 0.3), "binom", (100, 0.3)),
    ("binomial", (100, 0.85), "binom", (100, 0.85)),
    ("binomial", (5000, 0.5), "binom", (5000, 0.5)),
    ("negative_binomial", (4.0, 0.3), "nbinom", (4, 0.3)),
]


def test_every_distribution_is_tested():
    assert {*CONTINUOUS, *(row[0] for row in COUNTS)} == set(DISTRIBUTIONS) and len(DISTRIBUTIONS) == 27


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", CONTINUOUS)
def test_distributions_are_scipys(name, dtype):
    """Kolmogorov and Smirnov's test, of which each figure is below 0.001 once in a thousand seeds; and the moments."""
    stats = pytest.importorskip("scipy.stats")
    given, theirs, parameters = CONTINUOUS[name]
    expected = getattr(stats, theirs)(*parameters)
    drawn = getattr(default_rng(11), name)(*given, size=(500, 100), dtype=dtype).numpy()
    assert drawn.dtype == dtype and drawn.shape == (500, 100)
    values = drawn.astype(np.float64).ravel()
    assert stats.kstest(values, expected.cdf).pvalue > 0.001
    mean, deviation = expected.mean(), expected.std()
    if np.isfinite(deviation):
        assert abs(values.mean() - mean) < 5 * deviation / np.sqrt(values.size)
    assert not stats.kstest(values[:5000] * 1.1 + 0.1, expected.cdf).pvalue > 0.001


@pytest.mark.parametrize(("name", "given", "theirs", "parameters"), COUNTS)
def test_counts_are_scipys(name, given, theirs, parameters):
    """Pearson's test of the counts of which at least five are expected, and the moments."""
    stats = pytest.importorskip("scipy.stats")
    expected = getattr(stats, theirs)(*parameters)
    drawn = getattr(default_rng(12), name)(*given, size=40_000).numpy()
    assert drawn.dtype == np.int64
    values, found = np.unique(drawn, return_counts=True)
    chances = expected.pmf(values) * drawn.size
    often = chances > 5
    if often.sum() > 1:
        measure = ((found - chances)[often] ** 2 / chances[often]).sum()
        assert stats.chi2.sf(measure, often.sum() - 1) > 0.001
        assert abs(drawn.mean() - expected.mean()) < 5 * expected.std() / np.sqrt(drawn.size)
        assert abs(drawn.var() / expected.var() - 1) < 0.1
    assert found[often].sum() > 0.99 * drawn.size


@pytest.mark.parametrize("name", [*DISTRIBUTIONS, "permutation"])
def test_distributions_are_one_stream_for_every_layout(name):
    """Rejection too: an element's attempts do not depend on the others."""
    given = dict((row[0], row[1]) for row in COUNTS) | {key: row[0] for key, row in CONTINUOUS.items()} | {"permutation": (35,)}
    size = {} if name == "permutation" else {"size": (7, 5)}
    teams = [pt.Team(parts, "host") for parts in (1, 3, 4)]
    drawn = {getattr(default_rng(5), name)(*given[name], **size, team=team).numpy().tobytes() for team in teams}
    assert len(drawn) == 1
    if size:
        longer = getattr(default_rng(5), name)(*given[name], size=(20, 5)).numpy()
        assert longer[:7].tobytes() in drawn


def test_parameters_are_arrays():
    means = pt.asarray([0.0, 1.0, 50.0], team=pt.Team(3, "host"))
    counts = default_rng(3).poisson(means, size=(2000, 3))
    assert counts.team == means.team
    host = counts.numpy()
    assert (host[:, 0] == 0).all() and abs(host[:, 1].mean() - 1) < 0.15 and abs(host[:, 2].var() - 50) < 10
    drawn = default_rng(4).normal([0.0, 100.0], [[1.0], [0.0]])
    assert drawn.shape == (2, 2) and drawn[1].tolist() == [0, 100]
    assert default_rng(4).gamma(means + 1).dist == means.dist
    chosen = default_rng(4).binomial([5, 60, 0], [0.0, 1.0, 0.5])
    assert chosen.tolist() == [0, 60, 0]


def test_permutations():
    rng = default_rng(21)
    few = collections.Counter(tuple(rng.permutation(3).tolist()) for _ in range(150))
    assert set(few) == set(itertools.permutations(range(3))) and max(few.values()) < 45
    many = rng.permutation(50_000, team=pt.Team(3, "host")).numpy()
    places = np.arange(50_000)
    assert (np.sort(many) == places).all() and (many == places).sum() < 8
    assert abs(np.corrcoef(many, places)[0, 1]) < 0.02 and abs(np.corrcoef(many[1:], many[:-1])[0, 1]) < 0.02
    # Neighbours of a random permutation go up as often as down.
    assert abs((np.diff(many) > 0).mean() - 0.5) < 5 * np.sqrt(1 / 12 / 50_000)
    distinct = rng.choice(10**15, 1000, replace=False).numpy()
    assert len(set(distinct.tolist())) == 1000 and abs(distinct.mean() / 10**15 - 0.5) < 0.05
    u = pt.arange(12, team=pt.Team(2, "host")).reshape(4, 3)
    other = rng.permutation(u, axis=1)
    assert u.tolist() == np.arange(12).reshape(4, 3).tolist() and sorted(other[0].tolist()) == [0, 1, 2]
    rng.shuffle(u)
    assert sorted(u.tolist()) == np.arange(12).reshape(4, 3).tolist()
    assert set(rng.choice([1.5, 2.5], 50).tolist()) == {1.5, 2.5}
    shares = np.bincount(rng.choice(4, 20_000, p=[0.1, 0.2, 0.3, 0.4]).numpy()) / 20_000
    assert np.abs(shares - [0.1, 0.2, 0.3, 0.4]).max() < 0.02


def test_the_older_names():
    pt.random.seed(5)
    first = (pt.random.rand(2, 3), pt.random.randn(4), pt.random.randint(3, 9, size=7), pt.random.random_sample(2))
    again = RandomState(5)
    for ours, theirs in zip(first, (again.rand(2, 3), again.randn(4), again.randint(3, 9, 7), again.random((2,))), strict=True):
        assert ours.tolist() == theirs.tolist()
    assert first[0].shape == (2, 3) and pt.random.rand().shape == () and pt.random.normal(size=(2,)).shape == (2,)
    assert all(hasattr(pt.random, name) and hasattr(np.random, name) for name in pt.random.__all__)
    pt.random.seed(None)
    assert pt.random.rand(3).tolist() != pt.random.rand(3).tolist()


@pytest.mark.parametrize("again", [copy.deepcopy, lambda rng: pickle.loads(pickle.dumps(rng))], ids=["copied", "pickled"])
@pytest.mark.parametrize("seed", [None, 5])
def test_copies_of_a_generator_go_on_from_where_it_is(again, seed):
    rng = default_rng(seed)
    rng.random(3)
    other = again(rng)
    expected = rng.normal(size=4).tolist()
    assert other.normal(size=4).tolist() == expected != rng.normal(size=4).tolist()
