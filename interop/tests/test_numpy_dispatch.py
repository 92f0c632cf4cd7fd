"""NumPy's own functions given our arrays: ours of that name, on the device; what is not there gathers with one warning, up to a
limit. And a sample of the namespace on every kind of device."""

import inspect
import pickle
import warnings

import numpy as np
import partita as pt
import pytest
from numpy._core.overrides import array_function_dispatch
from test_numpy_names import compare

HOST = np.arange(12.0).reshape(3, 4)
#: Programs that never gather: `u` is ours.
STAYS = [
    "np.sum(u)", "np.sum(u, axis=0, keepdims=True)", "np.mean(u, 1)", "np.std(u, axis=0)", "np.var(u, ddof=1)", "np.max(u, axis=1, initial=3.0)", "np.cumsum(u, 1)",
    "np.concatenate([u, h])", "np.concatenate([h, u], axis=1)", "np.stack([u, u])", "np.hstack([u, h])", "np.vstack((u, u))", "np.where(u > 2, u, 0)", "np.where(h > 2, u, h)",
    "np.roll(u, 1, axis=0)", "np.reshape(u, (4, 3))", "np.transpose(u)", "np.tile(u, 2)", "np.zeros_like(u)", "np.full_like(u, 3)", "np.dot(u, h.T)", "np.outer(u[0], h[1])",
    "np.clip(u, 2, 5)", "np.diff(u)", "np.gradient(u)", "np.isclose(u, h)", "np.allclose(u, h)", "np.array_equal(u, h)", "np.nan_to_num(u)", "np.tensordot(u, h, ([1], [1]))",
    "np.shape(u)", "np.ndim(u)", "np.size(u)", "np.pad(u, 1)", "np.flip(u, 0)", "np.average(u, axis=0)", "np.round(u / 3, 2)", "np.linspace(u[0], 5, 3)", "np.nonzero(u > 3)",
    "np.sin(u)", "np.add(u, 1)", "np.add(h, u)", "h + u", "h @ u.T", "np.matmul(h, u.T)", "np.add.reduce(u, axis=1)", "np.add.outer(u[0], h[0])", "np.maximum.accumulate(u, axis=1)",
    "np.multiply.reduce(h * u)", "np.sqrt(u, where=u > 4, out=u * 0)", "np.divmod(u, 5)", "np.modf(u / 8)", "np.less(h, u)", "np.add(u, 1, dtype=np.float32)", "np.abs(u)", "np.absolute(u)",
    "np.unravel_index(u.astype(int), (5, 5))[1]", "np.may_share_memory(u, u)", "np.result_type(u, np.float32)", "np.iscomplexobj(u)", "np.count_nonzero(u)", "np.broadcast_to(u, (2, 3, 4))", "np.atleast_3d(u)", "np.ptp(u)",
]  # fmt: skip
CHANGES = [
    "np.add(u, 1, out=u)", "np.add.at(u, ([0, 1, 1], [0, 2, 2]), 10)", "np.copyto(u, h[0])", "np.put(u, [0, 1], [8, 9])", "np.putmask(u, u > 5, 0)", "np.place(u, h > 5, [1, 2])",
    "np.fill_diagonal(u, 7)", "np.sqrt(h, out=u)", "np.sum(h, axis=0, out=u[0])", "np.multiply(u, 2, out=u, where=h > 4)", "np.clip(u, 2, 5, out=u)", "np.negative.at(u, (0, [1, 2]))",
]  # fmt: skip


@pytest.fixture(autouse=True)
def no_gathering():
    """A function that gathers fails, unless a test allows it."""
    pt._core.memory._warned.clear()
    limit = pt.get_gather_limit()
    pt.set_gather_limit(0)
    yield
    pt.set_gather_limit(limit)


@pytest.mark.parametrize("program", STAYS)
def test_numpys_functions_are_ours(program, host_team):
    ours = eval(program, {"np": np, "u": pt.asarray(HOST, team=host_team), "h": HOST.copy()})
    theirs = eval(program, {"np": np, "u": HOST.copy(), "h": HOST.copy()})
    for one in ours if isinstance(ours, tuple) else (ours,):
        if not isinstance(one, (bool, int, np.dtype)):
            assert isinstance(one, pt.Array) and one.team == host_team
    compare(ours, theirs, 2)


@pytest.mark.parametrize("change", CHANGES)
def test_numpys_functions_change_ours(change, host_team):
    u, host = pt.asarray(HOST, team=host_team), HOST.copy()
    exec(change, {"np": np, "u": u, "h": HOST.copy()})
    exec(change, {"np": np, "u": host, "h": HOST.copy()})
    compare(u, host)


def test_results_go_to_an_array_of_numpys(host_team):
    u, host = pt.asarray(HOST, team=host_team), HOST.copy()
    host += u
    np.multiply(u, 2, out=host[0:3], where=HOST > 4)
    np.testing.assert_array_equal(host, np.where(HOST > 4, 2 * HOST, HOST + HOST))
    with pytest.raises(TypeError, match="same_kind"):
        np.add(u, 0.5, out=np.zeros((3, 4), int))


def test_what_is_not_there_gathers_with_one_warning(host_team):
    pt.set_gather_limit(1 << 20)
    u = pt.asarray(HOST[::-1].copy(), team=host_team)
    with pytest.warns(pt.GatherWarning, match="numpy.i0: partita has no such function, so 96 B are gathered") as caught:
        np.testing.assert_array_equal(np.i0(u), np.i0(HOST[::-1]))
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.i0(u)

    # As NumPy's functions are made, with a name that is not here.
    @array_function_dispatch(lambda a, axis=None, out=None: (a, out), module="numpy")
    def middle(a, axis=None, out=None):
        return np.median(a, axis, out)

    out = pt.zeros(4, team=host_team)
    with pytest.warns(pt.GatherWarning, match="numpy.middle"):
        assert middle(u, axis=0, out=out) is out
    np.testing.assert_array_equal(out.numpy(), np.median(HOST, axis=0))


def test_arguments_that_are_no_numbers_are_numpys(host_team):
    pt.set_gather_limit(None)
    u = pt.asarray(HOST, team=host_team)
    with pytest.warns(pt.GatherWarning):
        ours = np.broadcast_arrays(u, None)
    assert all(np.array_equal(a, b) for a, b in zip(ours, np.broadcast_arrays(HOST, None), strict=True))
    assert isinstance(u.dtype, np.dtype) and isinstance(u.dtype, pt.DType) and type(u.dtype) is pt.DType


def test_indices_of_ours_write_to_arrays_of_numpys(host_team):
    pt.set_gather_limit(None)
    host = np.zeros(4)
    with pytest.warns(pt.GatherWarning, match="numpy.put"):
        np.put(host, pt.asarray([1, 3], team=host_team), [5, 6])
    assert host.tolist() == [0, 5, 0, 6]


def test_above_the_limit_it_is_refused(host_team):
    u = pt.asarray(HOST, team=host_team)
    for limit in (0, 95):
        pt.set_gather_limit(limit)
        with pytest.raises(pt.UnsupportedError, match=rf"numpy.i0: expected at most {limit} B .* given 96 B; .*u.numpy\(\).*set_gather_limit"):
            np.i0(u)
    with pytest.raises(ValueError, match="set_gather_limit: expected a number of bytes or None"):
        pt.set_gather_limit(-1)
    assert np.asarray(u).shape == (3, 4), "what says that it gathers does"


def test_gathered_copies_cannot_be_written_to(host_team):
    pt.set_gather_limit(None)
    u = pt.asarray(HOST, team=host_team)

    def write(x):
        x[0] = 1

    dispatched = pt._numpy.dispatch
    with pytest.warns(pt.GatherWarning), pytest.raises(ValueError, match="read-only"):
        dispatched._gathered("write", write, (u,), {})


class Other:
    """A foreign array that wants to do the work."""

    def __array_ufunc__(self, ufunc, method, *inputs, **settings):
        return "theirs"

    def __array_function__(self, function, types, args, settings):
        return "theirs"


def test_other_packages_have_their_turn():
    u = pt.asarray(HOST)
    assert np.add(u, Other()) == "theirs"
    assert np.concatenate([u, Other()]) == "theirs"


# ufunc objects.


def test_every_ufunc_of_numpys_is_one_with_its_attributes():
    names = [name for name in np.__all__ if isinstance(getattr(np, name), np.ufunc) and name not in ("isnat", "matmul", "matvec", "vecdot", "vecmat")]
    assert len(names) > 95
    for name in names:
        ours, theirs = getattr(pt, name), getattr(np, name)
        assert isinstance(ours, pt.ufunc) and (ours.nin, ours.nout, ours.nargs, ours.signature) == (theirs.nin, theirs.nout, theirs.nargs, None), name
        assert ours.__name__ == theirs.__name__, name
        assert ours.identity == theirs.identity, (name, ours.identity, theirs.identity)
        assert ours.__doc__ and ours.ntypes == len(ours.types) > 0
        words = list(inspect.signature(ours).parameters)[-6:]
        assert words == ["out", "where", "casting", "order", "dtype", "subok"]
        assert pickle.loads(pickle.dumps(ours)) is ours
    assert getattr(pt, "abs") is pt.absolute and pt.bitwise_invert is pt.invert and repr(pt.add) == "<ufunc 'add'>"


def test_reading_of_a_type():
    assert pt.add.types[:2] == ["??->?", "bb->b"] and not any(set("OgM") & set(loop) for loop in pt.add.types)


# A sample, on every kind of device.

SAMPLE = """
xp.add(u, v, where=u > 2, out=u * 0); xp.nan_to_num([1, xp.nan]); xp.hypot(n, n.T[0, 0]); xp.copysign(v, -1); xp.nextafter(v, 0); xp.frexp(v); xp.gcd(n, 6); xp.bitwise_count(n); xp.maximum.accumulate(n, axis=1)
xp.add.at(v, [0, 1, 1], 2); xp.cumsum(n, axis=0); xp.var(n); xp.average(u, weights=n); xp.nanmax(u, axis=1); xp.linspace(0, 1, 7); xp.tril(n); xp.eye(3, k=1); xp.meshgrid(v, v); xp.r_[v, 1:3]
xp.where(n > 4); xp.choose(n % 2, [u, -u]); xp.insert(v, 1, 9); xp.rot90(n); xp.pad(n, 1, "maximum"); xp.isclose(u, n, atol=5); xp.round(v, 1); xp.dot(n, n.T); xp.kron(v, [1, 2]); xp.convolve(v, [1, 2]); xp.interp(v, [0, 2], [1, 5])
""".replace("\n", "; ").strip("; ").split("; ")


@pytest.mark.parametrize("program", SAMPLE)
def test_a_sample_on_every_device(program, team):
    hosts = {"u": HOST, "v": np.array([3.0, -1.5, 0.25, 8.0]), "n": np.arange(12).reshape(3, 4) * 7 % 11}
    with pt.default_team(team):
        ours = eval(program, {"xp": pt, **{name: pt.asarray(host) for name, host in hosts.items()}})
    compare(ours, eval(program, {"xp": np, **{name: host.copy() for name, host in hosts.items()}}), 8)
