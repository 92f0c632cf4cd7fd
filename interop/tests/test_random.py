"""Random numbers: the cipher against JAX's, the same stream everywhere, and the moments of what is drawn."""

import numpy as np
import partita as pt
import pytest
from partita.random import default_rng, threefry


def test_the_cipher_is_threefry_2x32():
    """Published answers of the Random123 library, and JAX's implementation."""
    for key, words, expected in [
        ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
        ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
        ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
    ]:
        assert threefry(key, *words) == expected
        ours = threefry(key, *(pt.full(3, word, pt.uint32, team=pt.Team(1, "host")) for word in words))
        assert [word.numpy().tolist() for word in ours] == [[word] * 3 for word in expected]


@pytest.mark.parametrize("draw", [
    lambda rng, shape, dist: rng.random(shape, dist=dist),
    lambda rng, shape, dist: rng.random(shape, pt.float32, dist=dist),
    lambda rng, shape, dist: rng.normal(2, 3, shape, dist=dist),
    lambda rng, shape, dist: rng.integers(-5, 17, shape, pt.int16, dist=dist),
], ids=["float64", "float32", "normal", "integers"])  # fmt: skip
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
    (lambda rng: rng.integers(5, 5), ValueError, "low below high"),
    (lambda rng: rng.integers(300, dtype="int8"), ValueError, "another dtype"),
    (lambda rng: rng.integers(3, dtype="float32"), TypeError, "use random"),
    (lambda rng: default_rng(-1), ValueError, "at least 0"),
])  # fmt: skip
def test_misuse(misuse, error, text):
    with pytest.raises(error, match=text):
        misuse(default_rng(0))
