"""Other packages with arrays on one and on three parts: their results are those with NumPy's arrays, and stay on the parts."""

import numpy as np
import partita as pt
import pytest


@pytest.fixture(params=[1, 3], ids=["host-1", "host-3"])
def pair(request):
    """An array, and NumPy's of the same elements."""
    host = np.random.default_rng(8).normal(size=(6, 8))
    return pt.asarray(host, team=pt.Team(request.param, "host")), host


def test_einops(pair):
    einops = pytest.importorskip("einops")
    pytest.importorskip("partita.einops")
    u, host = pair
    for function, pattern, words in [
        (einops.rearrange, "(a b) c -> a (b c)", {"a": 2}),
        (einops.rearrange, "a b -> b a", {}),
        (einops.repeat, "a b -> a r b", {"r": 3}),
        *((einops.reduce, "(a b) c -> a c", {"reduction": name, "a": 3}) for name in ("mean", "sum", "max", "min", "prod")),
    ]:
        ours = function(u, pattern, **words)
        assert isinstance(ours, pt.Array) and ours.team == u.team, pattern
        np.testing.assert_allclose(ours.numpy(), function(host, pattern, **words), rtol=1e-13)
    packed, shapes = einops.pack([u, u[:, :3]], "a *")
    assert packed.shape == (6, 11) and isinstance(packed, pt.Array)
    assert (einops.unpack(packed, shapes, "a *")[1] == u[:, :3]).all()
    assert einops.asnumpy(u).tobytes() == host.tobytes() and einops.parse_shape(u, "a b") == {"a": 6, "b": 8}


@pytest.mark.parametrize(("window", "axis"), [(3, 0), (8, 1), ((2, 3), None), ((3, 2), (1, 0)), (4, -1)])
def test_sliding_windows(pair, window, axis):
    u, host = pair
    ours = pt.lib.stride_tricks.sliding_window_view(u, window, axis)
    expected = np.lib.stride_tricks.sliding_window_view(host, window, axis)
    assert ours.numpy().tobytes() == expected.tobytes() and ours.shape == expected.shape
    assert np.allclose(ours.sum(-1).numpy(), expected.sum(-1))


def test_windows_larger_than_the_array():
    with pytest.raises(ValueError, match="no larger than the array, given window \\(7,\\) along \\(0,\\)"):
        pt.lib.stride_tricks.sliding_window_view(pt.ones(6), 7, 0)


@pytest.mark.parametrize("name", ["jax.numpy", "torch"])
def test_conversions_of_several_parts(pair, name):
    """Whole arrays by way of the host, parts without a copy, and back."""
    import importlib

    pytest.importorskip(name.split(".")[0])
    library = importlib.import_module(name)
    u, host = pair
    whole = library.asarray(u.numpy())
    assert np.allclose(np.asarray(whole), host)
    assert np.allclose(pt.asarray(whole, team=u.team).numpy(), host)
    parts = [np.from_dlpack(p) for p in u.parts]
    theirs = [library.asarray(p.copy()) for p in parts]
    again = pt.from_parts(theirs, u.dist)
    assert again.dist == u.dist and np.allclose(again.numpy(), host)
