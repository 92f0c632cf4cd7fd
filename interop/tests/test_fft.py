"""`partita.fft` against ``numpy.fft``: every function, type and normalisation, on every team."""

import inspect

import array_api_strict
import numpy as np
import partita as pt
import pytest

TYPES = ["int32", "float32", "float64", "complex64", "complex128"]
#: Lengths of passes of every radix, of primes, and of both; lines along either end.
SHAPES = [(1,), (2,), (7,), (13,), (60,), (97,), (128,), (4, 5), (11, 9), (3, 8, 5)]
REAL_ONLY = {"rfft", "rfft2", "rfftn", "ihfft"}
HELPERS = {"fftfreq", "rfftfreq", "fftshift", "ifftshift"}


def numbers(shape, dtype, seed=3):
    generator = np.random.default_rng(seed)
    values = 5 * generator.normal(size=shape) + 5j * generator.normal(size=shape)
    return (values if "complex" in dtype else values.real).astype(dtype)


def keywords(name, shape):
    """The ways to name axes and lengths."""
    if name.endswith("2"):
        return [{}, {"s": (3, 6)}, {"axes": (1, 0)}] if len(shape) > 1 else []
    if name.endswith("n"):
        several = [{"axes": (1, 0)}, {"s": (2, 7), "axes": (0, 1)}, {"axes": (0, 0)}] if len(shape) > 1 else []
        return [{}, {"s": (shape[-1] + 1,), "axes": (-1,)}, *several]
    return [{}, {"n": max(1, shape[-1] - 1)}, {"n": shape[-1] + 3}, {"axis": 0}]


def error(found, expected):
    return np.linalg.norm(found - expected) / max(np.linalg.norm(expected), 1e-30)


@pytest.mark.parametrize("name", sorted(set(pt.fft.__all__) - HELPERS))
def test_functions_are_numpys(team, name):
    theirs, ours = getattr(np.fft, name), getattr(pt.fft, name)
    count = 0
    # Every length is kernels of its own, which adapters take long to compile; engine/tests/fourier.rs runs them there, too.
    on_host = team.devices[0].kind == "host"
    for shape in SHAPES if on_host else [(13,), (4, 5)]:
        for dtype in TYPES if on_host else ["float32", "complex64"]:
            if "complex" in dtype and name in REAL_ONLY:
                continue
            a = numbers(shape, dtype)
            u = pt.asarray(a, team=team)
            for words in keywords(name, shape):
                for norm in (None, "ortho", "forward"):
                    try:
                        expected = theirs(a, norm=norm, **words)
                    except ValueError:
                        with pytest.raises(ValueError, match="at least one element"):
                            ours(u, norm=norm, **words)
                        continue
                    found = ours(u, norm=norm, **words)
                    assert (found.shape, str(found.dtype)) == (expected.shape, str(expected.dtype))
                    # The error of a sum by halves, in units of the last place: Gentleman and Sande, 1966.
                    allowed = 4 * np.finfo(expected.dtype).eps * (1 + np.log2(max(expected.size, 2)))
                    assert error(found.numpy(), expected) < allowed, (shape, dtype, words, norm)
                    count += 1
    assert count >= (50 if on_host else 6)


def owned(dist, part):
    return [list(range(*indices)) if isinstance(indices, tuple) else list(indices) for indices in dist.owned(part)]


def test_results_have_the_same_bits_and_the_distribution_of_what_is_transformed():
    for shape, axes in [((1000,), (0,)), ((24, 35), (0, 1)), ((24, 34), (0,)), ((6, 9, 10), (2,)), ((211,), (0,))]:
        a = numbers(shape, "complex128")
        bits = set()
        for parts in (1, 2, 3, 4, 7, 8):
            team = pt.Team(parts, "host")
            dists = [
                pt.Distribution(shape, team=team),
                pt.Distribution(shape, team=team, grid=(1,) * (len(shape) - 1) + (parts,)),
                pt.Distribution(shape, team=team, dims=[pt.Cyclic(2)] + [pt.Block()] * (len(shape) - 1)),
                pt.Distribution(shape, team=team, halo=1 if min(shape) >= 2 * parts else 0),
            ]
            for dist in dists:
                found = pt.fft.fftn(pt.asarray(a, dist=dist), axes=axes)
                assert all(owned(found.dist, part) == owned(dist, part) for part in range(parts))
                bits.add(found.numpy().tobytes())
        assert len(bits) == 1, shape


def test_the_adjoint_is_the_inverse_times_the_number_of_cells(team):
    for shape in [(12, 10), (13, 5)]:
        x, y = (pt.asarray(numbers(shape, "complex128", seed), team=team) for seed in (1, 2))
        there = complex(pt.vdot(pt.fft.fftn(x), y))
        back = complex(pt.vdot(x, pt.fft.ifftn(y) * (shape[0] * shape[1])))
        assert abs(there - back) < 1e-12 * abs(there)


def test_real_signals_and_their_spectra_go_back_and_forth(team):
    for n in (2, 5, 8, 13):
        a = numbers((3, n), "float64")
        u = pt.asarray(a, team=team)
        assert error(pt.fft.irfft(pt.fft.rfft(u), n).numpy(), a) < 1e-14
        assert error(pt.fft.hfft(pt.fft.ihfft(u), n).numpy(), a) < 1e-14
        assert error(pt.fft.irfftn(pt.fft.rfftn(u), (3, n), axes=(0, 1)).numpy(), a) < 1e-14


def test_frequencies_and_shifts(team):
    with pt.default_team(team):
        for n in (1, 2, 7, 8):
            for name in ("fftfreq", "rfftfreq"):
                assert np.allclose(getattr(pt.fft, name)(n, 0.3), getattr(np.fft, name)(n, 0.3), rtol=1e-15)
        assert pt.fft.fftfreq(4, dtype=pt.float32).dtype == pt.float32
        a = numbers((5, 4), "float64")
        for axes in (None, 0, -1, (0, 1)):
            for name in ("fftshift", "ifftshift"):
                assert (getattr(pt.fft, name)(a, axes).numpy() == getattr(np.fft, name)(a, axes)).all()


def test_results_are_assigned_to_out(team):
    a = numbers((8, 3), "complex128")
    out = pt.zeros((8, 3), dtype=pt.complex128, team=team)
    assert pt.fft.fft(pt.asarray(a, team=team), axis=0, out=out) is out
    assert error(out.numpy(), np.fft.fft(a, axis=0)) < 1e-14


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda f: f.fft(3.0), ValueError, "at least one dimension"),
        (lambda f: f.fft([1.0], 0), ValueError, "at least one element"),
        (lambda f: f.fft([1.0], axis=1), IndexError, "fft.fft"),
        (lambda f: f.fft([1.0], norm="none"), ValueError, "'backward', 'ortho' or 'forward', given 'none'"),
        (lambda f: f.hfft([1.0], norm="none"), ValueError, "fft.hfft: expected norm"),
        (lambda f: f.fftn([[1.0]], s=(1,), axes=(0, 1)), ValueError, "as many lengths"),
        (lambda f: f.rfft([1j]), TypeError, "expected real numbers, given complex128; use fft"),
        (lambda f: f.irfft([1.0]), ValueError, "at least one element"),
    ],
)
def test_what_cannot_be_transformed(call, kind, text):
    with pytest.raises(kind, match=text):
        call(pt.fft)


def test_the_standards_extension_is_there():
    assert pt.array_api.fft is pt.fft
    theirs = {name: function for name, function in vars(array_api_strict.fft).items() if name in array_api_strict.fft.__all__}
    assert len(theirs) == 14
    for name, function in theirs.items():
        wanted, ours = (inspect.signature(f).parameters for f in (function, getattr(pt.fft, name)))
        named = [p.name for p in wanted.values() if p.kind is not p.POSITIONAL_ONLY]
        assert named == [p for p in ours if p in named], name


@pytest.mark.parametrize("n", [1408, 1409])
def test_a_loop_replays_transforms(n):
    """Whose tables the first step makes; docs/python.md says so."""
    start = numbers((n,), "complex128")
    u, calls = pt.asarray(start, team=pt.Team(2, "host")), []

    def step(u):
        calls.append(1)
        u[:] = pt.fft.fft(u) / 38

    pt.Loop(step).run(u, steps=9)
    for _ in range(9):
        start = np.fft.fft(start) / 38
    assert error(u.numpy(), start) < 1e-12 and len(calls) < 9


def test_explain_prints_the_steps_of_a_transform():
    u = pt.ones((8, 8), team=pt.Team(2, "host"))
    for made in (pt.fft.fft(u + 1, axis=1), pt.fft.fft2(u), pt.fft.rfft(u, axis=0)):
        assert "kernel" in made.explain()
