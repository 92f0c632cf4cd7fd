"""Random numbers: the same stream everywhere, distributions against SciPy's, permutations."""

import collections
import copy
import itertools
import os
import pathlib
import pickle
import re
import subprocess
import sys

import numpy as np
import partita as pt
import pytest
from partita.random import PCG64, Philox, RandomState, SeedSequence, default_rng
from partita.random._distributions import DISTRIBUTIONS


# The mapping from seeds and cells to numbers, which does not change.


def threefry(key, counter):
    """Threefry-2x32 with 20 rounds (Salmon et al., 2011), of uint32 arrays."""
    keys = [*key, np.uint32(0x1BD11BDA) ^ key[0] ^ key[1]]
    x, y = counter[0] + keys[0], counter[1] + keys[1]
    for turn in range(20):
        x, by = x + y, (13, 15, 26, 6, 17, 29, 16, 24)[turn % 8]
        y = ((y << np.uint32(by)) | (y >> np.uint32(32 - by))) ^ x
        if turn % 4 == 3:
            n = turn // 4 + 1
            x, y = x + keys[n % 3], y + keys[(n + 1) % 3] + np.uint32(n)
    return x, y


def words_of(numbers):
    return np.asarray(numbers, np.uint64).astype(np.uint32), (np.asarray(numbers, np.uint64) >> np.uint64(32)).astype(np.uint32)


def reference(seed, draws, what, kind, cells):
    """What a generator of a small seed draws after so many draws for these cells, by the documents."""
    with np.errstate(over="ignore"):
        key = threefry(threefry(words_of(seed), words_of(0)), words_of(draws))
        block = lambda numbers: threefry(key, words_of(numbers))
        word = np.where(cells % 2 == 0, *block(cells // 2))
        first, second = block(cells)
    if what == "uniform":
        wide = ((first >> 5).astype(float) * 2.0**26 + (second >> 6)) * 2.0**-53
        return wide if kind == "float64" else ((word >> 8) * 2.0**-24).astype(kind)
    if what == "exponential":
        wide = (first >> 1) * 2.0**31 + (second >> 1) if kind == "float64" else (word >> 1) * 2.0**31
        return -np.log(wide * 2.0**-62 + 2.0 ** (-63 if kind == "float64" else -32))
    length, angle = (block(cells & ~1), block(cells | 1)) if kind == "float64" else [(w, w * np.uint32(0)) for w in block(cells // 2)]
    half = 2.0 ** (-63 if kind == "float64" else -32)
    radius = np.sqrt(-2 * np.log(((length[0] >> 1) * 2.0**31 + (length[1] >> 1)) * 2.0**-62 + half))
    turn = (angle[0] + angle[1] * 2.0**-32) * 2.0**-32 * 2 * np.pi
    return radius * np.where(cells % 2 == 0, np.cos(turn), np.sin(turn))


@pytest.mark.parametrize("kind", ["float32", "float64"])
@pytest.mark.parametrize("what", ["uniform", "exponential", "normal"])
def test_numbers_are_those_of_the_documents(what, kind):
    rng, cells = default_rng(3), np.arange(3001)
    rng.random()
    drawn = {"uniform": lambda: rng.random(3001, kind), "exponential": lambda: rng.standard_exponential(3001, kind)}.get(
        what, lambda: rng.standard_normal(3001, kind)
    )()
    expected = reference(3, 1, what, kind, cells)
    if what == "uniform":
        np.testing.assert_array_equal(drawn.numpy(), expected)
    np.testing.assert_allclose(drawn.numpy(), expected, rtol=0, atol=1e-13 if kind == "float64" else 4e-6)


GOLDEN = pathlib.Path(__file__).parents[2] / "engine/tests/data/random_numbers.txt"


def golden():
    """The first eight numbers of each distribution for two seeds, by their bits."""
    arguments = dict((row[0], row[1]) for row in COUNTS) | {key: row[0] for key, row in CONTINUOUS.items()}
    draws = {f"{name} {kind}": (name, arguments[name], {"size": 8, "dtype": kind}) for name in CONTINUOUS for kind in ("float32", "float64")}
    draws |= {name: (name, arguments[name], {"size": 8}) for name, *_ in COUNTS}
    draws |= {f"random {kind}": ("random", (), {"size": 8, "dtype": kind}) for kind in ("float16", "bfloat16", "float32", "float64")}
    draws |= {f"integers {kind}": ("integers", (3, 100), {"size": 8, "dtype": kind}) for kind in ("int8", "uint32", "int64")}
    draws |= {"integers all": ("integers", (-(2**63), 2**63), {"size": 8}), "integers wide": ("integers", (-(2**60), 2**62), {"size": 8})}
    draws |= {"permutation": ("permutation", (8,), {}), "choice few": ("choice", (2**40, 8, False), {})}
    draws |= {"choice weighted": ("choice", (3, 8, True, [0.2, 0.5, 0.3]), {}), "choice weighted first": ("choice", (8, 8, False, [0.125] * 8), {})}
    for seed in (7, 2**70 + 3):
        for label, (name, given, words) in draws.items():
            drawn = getattr(default_rng(seed), name)(*given, **words)
            host = drawn.numpy()
            yield f"{seed} {label}: {' '.join(format(int(x), 'x') for x in np.asarray(host).view(f'u{host.itemsize}'))}"


def test_numbers_never_change():
    """Programs compare results of years. `python interop/tests/test_random.py` rewrites the file."""
    assert list(golden()) == GOLDEN.read_text().splitlines()


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
    assert not stats.kstest(values * 1.1 + 0.1, expected.cdf).pvalue > 0.001


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


def test_spawned_streams_are_apart_and_do_not_move_their_parents():
    rng, same = default_rng(8), default_rng(8)
    streams = [*rng.spawn(3), *rng.spawn(2), *rng.spawn(1)[0].spawn(2), rng]
    drawn = [stream.random(20).numpy() for stream in streams]
    assert all(not set(a).intersection(b) for a, b in itertools.combinations([x.tolist() for x in drawn], 2))
    assert drawn[-1].tolist() == same.random(20).tolist()
    again = [default_rng(seed).random(20).tolist() for seed in SeedSequence(8).spawn(3)]
    assert again == [x.tolist() for x in drawn[:3]]
    children = SeedSequence(5).spawn(2)
    assert children[1].spawn_key == (1,) and children[1].spawn(1)[0].spawn_key == (1, 0)
    words = children[0].generate_state(4)
    assert words.dtype == np.uint32 and len(set(words.tolist()) | set(children[1].generate_state(4).tolist())) == 8
    assert default_rng(SeedSequence(5)).random() == default_rng(5).random() == default_rng([5]).random()


@pytest.mark.parametrize("name", ["PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"])
def test_bit_generators_are_seeds_by_numpys_names(name):
    made = getattr(pt.random, name)(11)
    rng = pt.random.Generator(made)
    assert rng.bit_generator is made and isinstance(made, pt.random.BitGenerator)
    assert rng.normal(size=5).tolist() == default_rng(11).normal(size=5).tolist()
    state = made.state
    assert state["bit_generator"] == name and state["state"]["draws"] == 1
    expected = rng.random(4).tolist()
    made.state = state
    assert rng.random(4).tolist() == expected
    assert made.seed_seq.entropy == 11 and len(made.spawn(2)) == 2 and isinstance(made.random_raw(), int)
    with pytest.raises(ValueError, match="of other generators"):
        made.state = np.random.PCG64(1).state
    old = RandomState(made)
    saved = old.get_state()
    expected = old.rand(3).tolist()
    old.set_state(saved)
    assert old.rand(3).tolist() == expected


@pytest.mark.parametrize("method", ["svd", "eigh", "cholesky"])
def test_multivariate_normal(method):
    cov = np.array([[2.0, 0.6, 0.0], [0.6, 1.0, -0.3], [0.0, -0.3, 0.5]])
    drawn = [default_rng(2).multivariate_normal([1, 0, -2], cov, (200, 100), method=method).numpy() for _ in range(2)]
    assert drawn[0].shape == (200, 100, 3) and drawn[0].tolist() == drawn[1].tolist()
    rows = drawn[0].reshape(-1, 3)
    assert np.abs(rows.mean(axis=0) - [1, 0, -2]).max() < 5 * np.sqrt(2 / 20_000)
    assert np.abs(np.cov(rows.T) - cov).max() < 0.1
    assert default_rng(2).multivariate_normal([0], [[1]]).shape == (1,)
    with pytest.warns(RuntimeWarning, match="positive semidefinite"):
        default_rng(2).multivariate_normal([0, 0], [[1, 2], [2, 1]])
    with pytest.raises(ValueError, match="a square matrix"):
        default_rng(2).multivariate_normal([0, 0], [[1, 2, 3]])


def test_multinomial_and_dirichlet():
    stats = pytest.importorskip("scipy.stats")
    chances = [0.2, 0.5, 0.0, 0.3]
    counts = default_rng(4).multinomial(30, chances, 20_000).numpy()
    assert counts.shape == (20_000, 4) and (counts.sum(axis=1) == 30).all() and (counts[:, 2] == 0).all()
    expected = stats.multinomial(30, chances).cov()
    assert np.abs(counts.mean(axis=0) - 30 * np.array(chances)).max() < 0.1 and np.abs(np.cov(counts.T) - expected).max() < 0.3
    assert default_rng(4).multinomial(5, [1.0]).tolist() == [5] and default_rng(4).multinomial(5, [0.5, 0.5]).sum() == 5
    lines = np.array([[0.1, 0.9, 0.0], [0.5, 0.25, 0.25]])
    counts = default_rng(4).multinomial([[10], [40]], lines, (20_000, 2, 2)).numpy()
    assert counts.shape == (20_000, 2, 2, 3) and (counts.sum(axis=-1) == [[10, 10], [40, 40]]).all()
    assert np.abs(counts.mean(axis=0) - np.multiply.outer([10, 40], lines)).max() < 0.2
    assert default_rng(4).multinomial([1, 2], lines).sum(axis=1).tolist() == [1, 2]
    assert default_rng(4).multinomial(3, lines).shape == np.random.default_rng(4).multinomial(3, lines).shape == (2, 3)
    with pytest.raises(ValueError, match="sum is at most 1"):
        default_rng(4).multinomial(3, [[0.5, 0.5], [0.9, 0.9], [1.1, 0.0]])
    alpha = np.array([0.01, 2.0, 5.0])
    shares = default_rng(4).dirichlet(alpha, 20_000).numpy()
    assert shares.shape == (20_000, 3) and np.allclose(shares.sum(axis=1), 1) and (shares >= 0).all()
    assert np.abs(shares.mean(axis=0) - alpha / alpha.sum()).max() < 0.01
    assert stats.kstest(shares[:, 1], stats.beta(2, 5.01).cdf).pvalue > 0.001


def test_permuted_choices_and_bytes():
    rng = default_rng(5)
    u = pt.arange(40, team=pt.Team(2, "host")).reshape(4, 10)
    mixed = rng.permuted(u, axis=1).numpy()
    assert (np.sort(mixed, axis=1) == u.numpy()).all() and len({tuple(row % 10) for row in mixed}) == 4
    assert sorted(rng.permuted(u).numpy().ravel()) == list(range(40))
    assert rng.permuted(u, axis=0, out=u) is u and (np.sort(u.numpy(), axis=0) == np.arange(40).reshape(4, 10)).all()
    assert len(rng.bytes(33)) == 33 and rng.bytes(8) != rng.bytes(8)
    # One after the other, by the probabilities of the rest.
    firsts = collections.Counter(tuple(rng.choice(3, 2, False, [0.5, 0.4, 0.1]).tolist()) for _ in range(1500))
    assert all(a != b for a, b in firsts)
    assert abs(firsts[0, 1] / 1500 - 0.5 * 0.8) < 0.07 and abs(firsts[1, 0] / 1500 - 0.4 * 0.5 / 0.6) < 0.07
    table = pt.asarray([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    assert rng.choice(table, (2, 5), axis=0).shape == (2, 5, 2) and rng.choice(table, axis=1).shape == (3,)


@pytest.mark.parametrize("seed", [
    np.random.PCG64(1), np.random.MT19937(1), np.random.default_rng(1), np.random.RandomState(1), 1.5, [1, 2.5], "seed", np.ones(2),
], ids=str)  # fmt: skip
@pytest.mark.parametrize("make", [default_rng, pt.random.Generator, RandomState, PCG64, SeedSequence, pt.random.BitGenerator])
def test_what_is_no_seed_is_refused_with_a_remedy(make, seed):
    with pytest.raises(TypeError, match=r"expected an int of at least 0 as a seed, several, .*, given .*; .*partita.random"):
        make(seed)


def test_scalars_and_arrays_without_dimensions_are_seeds():
    expected = pt.random.default_rng(5).random()
    for seed in (pt.asarray([5])[0], pt.asarray(5), np.array(5), np.int64(5)):
        assert pt.random.default_rng(seed).random() == expected


def test_seed_sequences_of_numpys_are_seeds():
    """Their entropy is taken, and where they were spawned."""
    theirs, ours = np.random.SeedSequence([3, 4]), SeedSequence([3, 4])
    for seed, same in [(theirs, ours), *zip(theirs.spawn(2), ours.spawn(2), strict=True)]:
        for make in (default_rng, RandomState, Philox):
            assert make(seed).spawn(1)[0].random_raw() == make(same).spawn(1)[0].random_raw() if make is Philox else make(seed).random() == make(same).random()
    assert default_rng(np.random.SeedSequence(7)).random() == default_rng(7).random() and SeedSequence(theirs.entropy).state == SeedSequence([3, 4]).state


@pytest.mark.parametrize("name, given", [("random", ()), ("standard_normal", ()), ("standard_exponential", ()), ("standard_gamma", (2.0,))])
def test_numbers_go_into_out(host_team, name, given):
    u = pt.zeros((3, 4), team=host_team)
    before = u
    assert getattr(default_rng(3), name)(*given, out=u) is u is before
    assert u.tolist() == getattr(default_rng(3), name)(*given, size=(3, 4)).tolist()
    assert getattr(default_rng(3), name)(*given, size=(3, 4), out=u) is u
    single = pt.zeros(5, "float32", team=host_team)
    getattr(default_rng(3), name)(*given, dtype="float32", out=single)
    assert single.dtype == pt.float32 and single.all()
    for size in (5, 4, (1, 4)):
        with pytest.raises(ValueError, match="expected"):
            getattr(default_rng(3), name)(*given, size=size, out=u)
    host, zero = np.zeros((3, 4)), pt.zeros((), team=host_team)
    getattr(default_rng(3), name)(*given, out=host)
    assert host.tolist() == u.tolist() and getattr(default_rng(3), name)(*given, out=zero) is zero and zero == u[0, 0]


def test_choices_may_be_unshuffled():
    """Without effect: any order of a sample will do."""
    assert sorted(default_rng(1).choice(5, 5, replace=False, shuffle=False).tolist()) == [0, 1, 2, 3, 4]


_DRAWS = """
import partita as pt
rng = pt.random.default_rng(3)
u = pt.arange(30)
n = 0
def draw(k):
    global n
    for kind in ("float32", "float64"):
        rng.random(1000, kind).eval()
        rng.normal(k / 3, 1 + k, 1000, kind).eval()
        rng.uniform(-k, k + 1, 1000, kind).eval()
        rng.exponential(k + 0.5, 1000, kind).eval()
        rng.lognormal(k / 9, 0.5, 1000, kind).eval()
        rng.weibull(k + 0.5, 1000, kind).eval()
    rng.random().eval()
    rng.integers(-k, 100 + 7 * k, 1000).eval()
    rng.choice(50 + k, 1000).eval()
    rng.permutation(100).eval()
    rng.shuffle(u)
    u.eval()
    rng.poisson(0.5 + k / 9, 1000).eval()
    n += 1
"""


def test_draws_compile_nothing_new():
    """The engine says what it compiles; the counters and keys of draws are no part of it."""
    program = _DRAWS + "for k in range(4): draw(k)\nprint('warm', file=sys.stderr, flush=True)\nfor k in range(4, 14): draw(k)\n"
    environment = {**os.environ, "PARTITA_DEBUG": "2", "PARTITA_PARTS": "1"}
    done = subprocess.run([sys.executable, "-c", "import sys\n" + program], env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    before, after = done.stderr.split("warm\n")
    assert before.count("compile for") > 10 and after.count("compile for") == 0, after[:2000]


def test_draws_add_no_memory():
    program = _DRAWS + """
import resource
def grown(count):
    before = int(open("/proc/self/statm").read().split()[1])
    for k in range(count): draw(k % 20)
    return (int(open("/proc/self/statm").read().split()[1]) - before) * resource.getpagesize()
grown(40)
print(grown(150), n)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    # 20 draws each; a kernel takes 10 KiB and more.
    assert int(done.stdout.split()[0]) < 2**20, done.stdout


@pytest.mark.parametrize("parts", [1, 2, 3])
def test_draws_in_a_loop(team, parts):
    team = pt.Team(parts, team.devices[:1])
    kind = "float32" if team.devices[0].kind == "wgpu" else "float64"

    def stepper(rng):
        def step(u):
            u += 0.5 * rng.normal(size=20, dtype=kind, team=team)
            u[3:] *= rng.uniform(0.5, 1.0, 20, kind, team=team)[:-3]

        return step

    looped, plain = default_rng(6), default_rng(6)
    u, v = pt.zeros(20, kind, team=team), pt.zeros(20, kind, team=team)
    loop, step = pt.Loop(stepper(looped)), stepper(plain)
    for count in (1, 14, 30):
        loop.run(u, steps=count)
        for _ in range(count):
            step(v)
        assert u.numpy().tobytes() == v.numpy().tobytes()
        assert looped.bit_generator.state == plain.bit_generator.state
        assert looped.random(3, team=team).tolist() == plain.random(3, team=team).tolist()
    assert loop.is_replaying
    looped.bit_generator.state = plain.bit_generator.state = default_rng(9).bit_generator.state
    loop.run(u, steps=3)
    for _ in range(3):
        step(v)
    assert u.numpy().tobytes() == v.numpy().tobytes()


#: What a step may draw: of a generator and the state, 20 elements.
REPLAYED = {
    "random": lambda g, u: g.random(20), "integers": lambda g, u: g.integers(0, 9, 20), "choice": lambda g, u: g.choice(9, 20),
    "uniform": lambda g, u: g.uniform(u, u + 1.0), "normal": lambda g, u: g.normal(0.0, u * u), "exponential": lambda g, u: g.exponential(u * u + 1.0),
    "triangular": lambda g, u: g.triangular(u - 1.0, u, u + 1.0), "wald": lambda g, u: g.wald(1.0, 2.0, 20), "pareto": lambda g, u: g.pareto(u * u + 1.0),
    "geometric": lambda g, u: g.geometric(0.3, 20), "one number": lambda g, u: g.normal(), "lognormal": lambda g, u: g.lognormal(size=20),
    "poisson": lambda g, u: g.poisson(9.5, 20), "poisson of 0": lambda g, u: g.poisson(0, 20), "a numpy number": lambda g, u: g.poisson(np.float32(2), 20),
    "binomial": lambda g, u: g.binomial(5, 0.4, 20), "binomial of many": lambda g, u: g.binomial(1000, 0.995, 20), "of NumPy's": lambda g, u: g.rayleigh(2.0, (20,)),
}  # fmt: skip
#: What it may not, by the name that the error begins with.
REFUSED = {
    "gamma": lambda g, u: g.gamma(2.0, size=20), "standard_t": lambda g, u: g.standard_t(3.0, 20), "vonmises": lambda g, u: g.vonmises(0.0, 1.0, 20),
    "poisson: .*step; .*below 10": lambda g, u: g.poisson(u * u), "poisson": lambda g, u: g.poisson(10, 20), "binomial: .*step; .*below 10": lambda g, u: g.binomial(u * 0 + 5, 0.5),
    "binomial": lambda g, u: g.binomial(50, 0.5, 20), "negative_binomial": lambda g, u: g.negative_binomial(3, 0.5, 20),
    "multinomial": lambda g, u: g.multinomial(5, [0.5, 0.5]), "dirichlet": lambda g, u: g.dirichlet([1, 2]), "multivariate_normal": lambda g, u: g.multivariate_normal([0], [[1]]),
    "choice: .*step; .*without p": lambda g, u: g.choice(2, 20, p=[0.5, 0.5]), "choice": lambda g, u: g.choice(u, 20), "choice: .*step; .*of integers": lambda g, u: g.choice(30, 20, replace=False),
    "permutation": lambda g, u: g.permutation(20), "permuted": lambda g, u: g.permuted(u), "shuffle": lambda g, u: g.shuffle(u), "bytes": lambda g, u: g.bytes(3),
    "spawn": lambda g, u: g.spawn(1), "random_raw": lambda g, u: g.bit_generator.random_raw(),
}  # fmt: skip


@pytest.mark.parametrize("name", REPLAYED)
def test_a_loop_draws_what_single_steps_draw(host_team, name):
    """Parameters that are arrays are not read inside a step, so not tested either."""
    with pt.default_team(host_team):
        looped, plain, drawn = default_rng(6), default_rng(6), REPLAYED[name]
        u, v = (pt.arange(20) / 20 for _ in range(2))

        def step(x):
            x += 0.25 * drawn(looped, x)

        loop = pt.Loop(step)
        loop.run(u, steps=9)
        assert loop.is_replaying
        for _ in range(9):
            v += 0.25 * drawn(plain, v)
        assert u.numpy().tobytes() == v.numpy().tobytes() and (u[1] == 0.05) == (name == "poisson of 0")
        assert looped.bit_generator.state == plain.bit_generator.state


@pytest.mark.parametrize("name", REFUSED)
def test_what_computes_is_refused_in_a_loop_by_name(host_team, name):
    """With the reason and what to do."""
    rng = default_rng(1)
    with pt.default_team(host_team), pytest.raises(ValueError, match=f"^{name.split(':')[0]}: .*replay.*inside a Loop's step; .*draw before the Loop") as raised:
        pt.Loop(lambda u: [REFUSED[name](rng, u)] and None).run(pt.zeros(20), steps=5)
    assert re.match(name, str(raised.value))


def test_counts_are_those_of_large_means_at_the_edge():
    """Numbers are compared with 10 as elements of an array are, in its type."""
    of_numbers, of_arrays, mean = default_rng(2), default_rng(2), 10 - 2.0**-30
    draws = [lambda g, x: g.poisson(x(mean), 50), lambda g, x: g.binomial(x(20), x(mean / 20), 50), lambda g, x: g.binomial(20, x(1 - mean / 20), 50)]
    try:
        for dtype in ("float64", "float32"):
            pt.set_default_dtype(dtype)
            for draw in draws:
                assert draw(of_numbers, float).tolist() == draw(of_arrays, lambda n: pt.full(50, n)).tolist()
    finally:
        pt.set_default_dtype("float64")


if __name__ == "__main__":
    GOLDEN.write_text("".join(f"{line}\n" for line in golden()))
