"""Scalars, the results without dimensions of operations: they never change, are hashed as their numbers, and stay arrays."""

import copy
import math
import numbers
import operator
import pickle

import numpy as np
import partita as pt
import pytest

MAKERS = {
    "max": lambda u: u.max(), "sum": lambda u: u.sum(), "mean": lambda u: u.mean(), "argmin": lambda u: u.argmin(), "any": lambda u: u.any(),
    "element": lambda u: u[1, 2], "of a row": lambda u: u[1][2], "by (): sum": lambda u: u.sum()[()], "of one": lambda u: (u.max() - u.min()) * 2,
    "of arrays without dimensions": lambda u: pt.zeros((), team=u.team) + 1, "function": lambda u: pt.sqrt(u.max()),
    "copy": lambda u: copy.copy(u.max()), "deep copy": lambda u: copy.deepcopy(u.max()), "pickle": lambda u: pickle.loads(pickle.dumps(u.max())),
    "astype": lambda u: u.max().astype("int16"), "real": lambda u: (u * 1j).max.__self__[0, 1].imag, "comparison": lambda u: u[0, 0] == 1,
    "loop over": lambda u: next(iter(u[0])), "list of indices": lambda u: u.flat[3],
}  # fmt: skip

#: What NumPy gives as scalars, in its own words.
NUMPYS = '''
np.linalg.det(np.eye(2)) | np.linalg.cond(np.eye(2)) | np.linalg.matrix_rank(np.eye(2)) | np.linalg.slogdet(np.eye(2))[0] |
np.linalg.slogdet(np.eye(2))[1] | np.linalg.norm(np.eye(2),2) | np.linalg.norm(np.eye(2),"nuc") | np.linalg.matrix_norm(np.eye(2)) |
np.linalg.vector_norm(np.ones(3)) | np.linalg.trace(np.eye(2)) | np.linalg.vecdot(np.ones(3),np.ones(3)) | np.linalg.eigvalsh(np.eye(2))[0] |
np.linalg.svd(np.eye(2))[1][0] | np.matmul(np.ones(2),np.ones(2)) | np.inner(np.ones(2),np.ones(2)) | np.dot(np.ones(2),np.ones(2)) | np.dot(2,3) |
np.nansum(np.ones(2)) | np.nanmean(np.ones(2)) | np.nanmedian(np.ones(2)) | np.nanstd(np.ones(2)) | np.nanvar(np.ones(2)) | np.nanmin(np.ones(2)) |
np.nanargmax(np.ones(2)) | np.nanpercentile(np.ones(2),5) | np.quantile(np.ones(2),.5) | np.argmin(np.ones(2)) | np.all(np.ones(2)) |
np.var(np.ones(2)) | np.corrcoef(np.ones(3)) | np.interp(1,[1,2],[1,2]) | np.searchsorted(np.ones(3),1) | np.digitize(1.,np.array([1.,2.])) |
np.unwrap(np.ones(3))[0] | np.angle(1j) | np.real(np.ones(3)[0]) | np.sinc(0.) | np.round(1.5) | np.around(np.ones(2)[0]) | np.fix(1.5) |
np.heaviside(0.,1.) | np.gcd(4,6) | np.isclose(1.,1.) | np.isnan(1.) | np.isinf(np.ones(2)[0]) | np.isneginf(1.) | np.isposinf(1.) | np.iscomplex(1.)
| np.logical_and(True,False) | np.logical_and.reduce(np.ones(2)) | np.maximum(1,2) | np.power(2,3) | np.divmod(7,2)[0] | np.modf(1.5)[0] |
np.frexp(1.5)[1] | np.polyval([1,2],3.) | np.roots([1,-3,2])[0] | np.trapezoid([1,2,3]) | np.bincount([0,1])[0] | np.ravel_multi_index((1,1),(2,2)) |
np.count_nonzero(np.ones(3)) | np.ptp(np.ones(3)) | np.average(np.ones(3)) | np.average(np.ones(3),returned=True)[1] | np.median(np.ones(3)) |
np.percentile(np.ones(3),5) | np.histogram(np.ones(3))[0][0] | np.take(np.ones(3),1) | np.choose(0,[1,2]) | np.clip(1,0,2) | np.nan_to_num(np.nan) |
np.conj(1j) | np.abs(-1) | np.deg2rad(180) | np.convolve([1],[1])[0] | np.vdot(np.ones(2),np.ones(2)) | np.einsum("i,i",np.ones(2),np.ones(2)) |
np.add.reduce(np.ones(3)) | np.add.reduce(np.ones(())) | np.cumsum(np.ones(3))[0] | np.diff(np.ones(3))[0] | np.trace(np.ones((3,3))) |
np.linspace(0,1,5)[0] | np.arange(5)[2] | np.array(5)[()] | np.zeros(())[()] | np.zeros((2,2))[0,0] | np.zeros((2,2))[np.array(0),np.array(1)] |
np.zeros(3).flat[1] | np.zeros(3).take(1) | np.zeros((2,2)).max(axis=(0,1)) | np.zeros(3).max(axis=0) | np.zeros((1,3)).sum() | np.sum(5) |
np.sum([1,2]) | np.max([1,2]) | np.mean([]) | np.prod([]) | np.add(1,2) | np.add(np.array(1),2) | -np.array(1) | np.array(1)+1 | np.array(1)==1 |
abs(np.array(-1)) | np.fft.fft([1,2])[0] | np.fft.fftfreq(4)[0] | next(iter(np.ones(3))) | list(np.ones(3))[0] | np.ndarray.max(np.ones(3)) |
np.nanprod(np.ones(3)) | np.vecdot(np.ones(3),np.ones(3)) | np.minimum.reduce(np.ones(3)) | np.add.reduceat(np.ones(3),[0])[0] | np.bitwise_count(3) |
np.ldexp(1.,2) | np.spacing(1.) | np.copysign(1.,-1.) | np.float_power(2,3) | np.sqrt(np.array(4.)) | np.exp(0) | np.sort(np.ones(3))[0] |
np.unique(np.ones(3))[0] | np.array([1,2]).dot([1,2]) | np.array([3])[-1] | np.matvec(np.eye(2),np.ones(2))[0] | np.kron(2,3) | np.stack([1,2])[0] |
np.any(np.array(True)) | np.squeeze(np.ones(2)[0]) | np.transpose(np.ones(2)[0]) | np.reshape(np.ones(2)[0],()) | np.round(np.ones(2)[0],1) |
np.ones(2)[0].conj() | np.ones(2)[0].sum() | np.ones(2)[0].clip(0,1) | np.ones(2)[0].reshape(()) | np.ones(2)[0].squeeze() |
np.ones(2)[0].view("int64") | np.ones(2)[0].T | np.ones(2)[0].real | np.ones(2)[0].imag | np.ones(2)[0][()] | np.cumprod(np.ones(2))[0] |
np.tril(np.ones((2,2)))[0,0] | np.logspace(0,1,3)[0] | np.diag(np.ones(2))[0,0] | np.meshgrid([1],[1])[0][0,0] | np.rint(1.5) | np.std([1,2]) |
np.max(np.array(3)) | np.mean(np.array(3.)) | np.argmax(np.array(3)) | np.inner([1,2],[3,4]) | np.einsum("ii->",np.eye(3)) |
np.einsum("i,i,i",np.ones(2),np.ones(2),np.ones(2)) | np.einsum("i,i->",np.arange(2),np.ones(2)) | np.linalg.slogdet(np.eye(2)).sign |
np.linalg.slogdet(np.eye(2)).logabsdet | np.linalg.cond(np.eye(2),1) | np.linalg.det(np.eye(2)*1j) |
np.linalg.multi_dot([np.ones(2),np.eye(2),np.ones(2)]) | np.linalg.norm(np.ones(3),1)
'''.strip().replace("\n", " ").split(" | ")


@pytest.fixture
def u(host_team):
    return pt.asarray(np.arange(6.0).reshape(2, 3), team=host_team)


@pytest.mark.parametrize("how", MAKERS)
def test_scalars_are_immutable_and_hashable(u, how):
    s = MAKERS[how](u)
    assert s.shape == () and isinstance(s, pt.Array) and isinstance(s, numbers.Number) and pt.isscalar(s) and np.isscalar(s)
    value = s.item()
    assert hash(s) == hash(value) == hash(MAKERS[how](u))
    assert s in {value, 77} and s in [value] and {s: 1}[value] == 1 and {value: 2}[s] == 2 and len({s, value, MAKERS[how](u)}) == 1
    assert not s.flags.writeable
    for change in (
        lambda: operator.setitem(s, ..., 1), lambda: operator.setitem(s, (), 1), lambda: s.fill(1), lambda: pt.add(s, 1, out=s),
        lambda: np.add(s, 1, out=s), lambda: pt.copyto(s, 1), lambda: pt.add.at(s, (), 1), lambda: setattr(s, "real", 1),
        lambda: setattr(s, "shape", (1,)), lambda: s.writable().__enter__(), lambda: pt.Loop(lambda x: None).run(s),
        lambda: u.sum(out=s), lambda: s.setflags(write=True), lambda: setattr(s.flags, "writeable", True),
    ):  # fmt: skip
        with pytest.raises(TypeError, match="given a scalar, which never changes"):
            change()
    s.setflags(write=False)
    assert s.item() == value and not s.flags.writeable


@pytest.mark.parametrize("text", NUMPYS)
@pytest.mark.filterwarnings("ignore")
def test_what_numpy_gives_as_scalars_is_one(host_team, text):
    with pt.default_team(host_team):
        s, theirs = eval(text, {"np": pt}), eval(text, {"np": np})
    assert isinstance(theirs, np.generic) and isinstance(s, pt.Array) and s.dtype == theirs.dtype
    assert hash(s) == hash(s.item()) and not s.flags.writeable
    np.testing.assert_allclose(s.item(), theirs, rtol=1e-14)
    with pytest.raises(TypeError, match="given a scalar, which never changes"):
        s[()] = 1


@pytest.mark.parametrize("draw", ["random", "normal", "standard_exponential", "integers", "poisson"])
def test_single_random_numbers_are_scalars(draw):
    rng = pt.random.default_rng(5)
    number = getattr(rng, draw)(*{"integers": (9,)}.get(draw, ()))
    assert number.shape == () and hash(number) == hash(number.item()) and {number: 1}[number.item()] == 1
    with pytest.raises(TypeError, match="a scalar, which never changes"):
        number[()] = 1


def test_in_place_operators_bind_the_name_anew(u):
    for name in ("iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow"):
        s = before = u.max()
        expected = getattr(operator, name)(np.float64(5), 2)
        s = getattr(operator, name)(s, 2)
        assert s is not before and s.item() == expected and before.item() == 5 and hash(s) == hash(float(expected))
    k = first = pt.asarray([6, 3], team=u.team)[0]
    for name in ("iand", "ior", "ixor", "ilshift", "irshift"):
        k = getattr(operator, name)(k, 3)
    assert first == 6 and hash(k) == hash(k.item())
    u[0, 0] += 4
    assert u[0, 0] == 4
    # The type is that of the new number.
    small = pt.ones(2, "float32", team=u.team)[0]
    small += pt.asarray([1.5], team=u.team)[0]
    assert small.dtype == pt.float64


def test_arrays_without_dimensions_stay_arrays(host_team):
    u = pt.arange(6.0, team=host_team)
    for z in (pt.zeros((), team=host_team), pt.asarray(0.0, team=host_team), u[..., 0], u[:1].reshape(()), pt.asarray(u[0]), pt.array(u.min()), pt.zeros_like(u[0])):
        assert z.shape == () and not pt.isscalar(z)
        same = z
        z += 2
        z[...] = z + 1
        assert same is z and z.item() == 3
        u[0] = 0.0
        with pytest.raises(TypeError, match="unhashable"):
            hash(z)
    for x in (u, u[1:2], u.sum(keepdims=True)):
        with pytest.raises(TypeError, match="unhashable"):
            hash(x)
    assert u.min() == 0 and not isinstance(u, numbers.Number)


def test_numbers_methods(u):
    assert u.max().is_integer() and not (u.max() / 2).is_integer() and u.argmax().is_integer()
    assert (u.max() / 2).as_integer_ratio() == (5, 2) and u.argmax().bit_count() == 2
    assert math.trunc(u[1, 2] / 2) == 2 and math.floor(-u[0, 1] / 2) == -1 and math.isclose(u[0, 1], 1.0)
    nan = pt.asarray([np.nan], team=u.team)[0]
    assert hash(nan) == hash(nan.item()) and not nan.is_integer()


def test_hash_raises_where_a_step_is_recorded(u):
    said, known = [], u.max()
    assert hash(known) == hash(5.0)

    def step(x):
        with pytest.raises(TypeError, match="hash: expected a number that this process has, given one inside the step of a Loop"):
            hash(x.max())
        said.append(hash(known))
        x += 1

    pt.Loop(step).run(u, steps=4)
    assert u[0, 0] == 4 and set(said) == {hash(5.0)}


def test_nothing_equals_none(u):
    for nothing in (None, "text", b"bytes"):
        for x in (u, u[0, 0], u[0]):
            assert (x == nothing).shape == x.shape and not (x == nothing).any() and (nothing != x).all() and not (nothing == x).any()
        assert pt.array_equal(nothing, u) is pt.array_equal(u, nothing) is np.array_equal(nothing, u) is False
        assert not pt.array_equiv(nothing, u)
    assert (u == object()) is False
