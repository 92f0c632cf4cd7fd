"""Complex numbers against NumPy's: arithmetic and functions on several distributions, views, interchange without a
copy, and what is refused by name.

Bounds. Sums, differences, negatives, conjugates, comparisons and everything that moves elements are exact. Products
and quotients are within 2 units of the last place of their magnitude, because NumPy's loops fuse some of theirs;
functions within 6. Infinities and NaN are compared where NumPy's C library follows annex G of C99."""

import copy
import functools
import math
import operator
import pickle

import numpy as np
import partita as pt
import pytest
from conftest import _teams
from partita import array_api as xp

KINDS = ["complex64", "complex128"]


def drawn(kind, shape, seed=0):
    rng = np.random.default_rng([seed, len(shape)])
    return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(kind)


def close(ours, expected, ulp, name=""):
    """Within so many units of the last place of the magnitude."""
    theirs = np.asarray(expected)
    host = ours.numpy()
    assert (host.shape, host.dtype) == (theirs.shape, theirs.dtype), name
    error = np.abs(host - theirs) / np.spacing(np.maximum(np.abs(theirs), np.finfo(host.dtype).tiny))
    assert not (error > ulp).any() and not np.isnan(error).any(), (name, error.max())


def same(ours, expected, name=""):
    theirs = np.asarray(expected)
    assert (ours.shape, ours.dtype.name) == (theirs.shape, theirs.dtype.name), name
    np.testing.assert_array_equal(ours.numpy(), theirs, err_msg=str(name))


def _dists(team):
    parts = len(team)
    grid = (2, 2) if parts == 4 else (parts, 1)
    lists = [list(range(p, 12, parts))[::-1] for p in range(parts)]
    yield "rows", pt.Distribution((12, 7), team=team)
    yield "blocks", pt.Distribution((12, 7), team=team, grid=grid, halo=[(1, 2), 1], periodic=(True, False))
    bounds = [0, *(p * p // 2 + 1 for p in range(1, parts)), 12]
    yield "uneven", pt.Distribution((12, 7), team=team, dims=[pt.Block(bounds), None])
    yield "cyclic", pt.Distribution((12, 7), team=team, grid=(1, parts), dims=[None, pt.Cyclic(2)])
    yield "lists", pt.Distribution((12, 7), team=team, dims=[pt.Unstructured(lists), None])


def _places():
    """Layouts of four parts on the host, two of one part, and two on every other kind of device."""
    names = ["rows", "blocks", "uneven", "cyclic", "lists"]
    for team in _teams():
        parts, devices = team.values[0]
        chosen = names if devices[0].kind != "wgpu" and parts == 4 else ["blocks", "cyclic"] if parts == 4 else ["blocks"]
        yield from (pytest.param((team.values[0], name), id=f"{team.id}-{name}") for name in chosen)


@pytest.fixture(params=_places())
def dist(request):
    (parts, devices), name = request.param
    return dict(_dists(pt.Team(parts, devices)))[name]


# Who has what.


@pytest.mark.parametrize("kind", KINDS)
def test_what_it_is(kind, dist):
    host = drawn(kind, (12, 7))
    z = pt.asarray(host, dist=dist)
    assert (z.shape, z.ndim, z.size, z.nbytes, z.dtype) == ((12, 7), 2, 84, host.nbytes, getattr(pt, kind))
    assert z.dtype == kind == z.dtype.dtype and z.dtype.itemsize == host.itemsize and z.dist == dist
    same(z, host)
    for p in z.parts:
        assert p.dtype == kind and len(p.owned) == len(p.grid_index) == 2
        cells = np.ix_(*(np.arange(*o) if isinstance(o, tuple) else o for o in p.owned))
        assert p.shape == host[cells].shape
        np.testing.assert_array_equal(np.from_dlpack(p, device="cpu"), host[cells])
    # What is made of it stays where it is.
    made_of_it = (z + 1, z * z, z / (2 + z), pt.exp(z), -z, pt.conj(z), pt.where(z == 0, z, 2j), z.astype("complex128"))
    for made in (*made_of_it, pt.zeros_like(z)):
        assert made.dist == dist, made
    assert pt.asarray(host.real.copy(), dist=dist).astype(kind).dist == dist


def test_halos_hold_neighbours():
    host = drawn("complex64", (8, 3))
    z = pt.asarray(host, dist=pt.Distribution((8, 3), team=pt.Team(4, "host"), halo=[1, 0]))
    for p in z.parts:
        (start, stop), _ = p.owned
        np.testing.assert_array_equal(np.from_dlpack(p.stored), host[max(start - 1, 0) : stop + 1])
        assert p.stored.shape == (min(stop + 1, 8) - max(start - 1, 0), 3)
        assert p.stored.halo == ((int(start > 0), int(stop < 8)), (0, 0))


# Arithmetic.

OPERATORS = {
    "add": (operator.add, 0), "sub": (operator.sub, 0), "mul": (operator.mul, 2), "truediv": (operator.truediv, 2),
    "eq": (operator.eq, 0), "ne": (operator.ne, 0),
}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", OPERATORS)
def test_operators(kind, name, dist):
    op, ulp = OPERATORS[name]
    a, b = drawn(kind, (12, 7)), drawn(kind, (12, 7), 1)
    b[::3] = a[::3]
    z, w = pt.asarray(a, dist=dist), pt.asarray(b, dist=dist)
    compare = same if ulp == 0 else lambda ours, theirs: close(ours, theirs, ulp)
    compare(op(z, w), op(a, b))
    compare(op(z, w[3]), op(a, b[3]))
    for number in (2, 0.5, 1 - 2j, True):
        compare(op(z, number), op(a, number))
        compare(op(number, z), op(number, a))
    real = a.real.copy()
    compare(op(pt.asarray(real, dist=dist), z), op(real, a))
    compare(op(z, pt.asarray(real, dist=dist)), op(a, real))


def test_types_are_numpys(host_team):
    names = [dtype.name for dtype in pt._core.dtypes.ALL if dtype is not pt.bfloat16]
    for name in names:
        host = np.ones(3, name)
        u = pt.asarray(host, team=host_team)
        for number in (1j, 2 + 0j):
            assert (u + number).dtype == (host + number).dtype, name
        for kind in KINDS:
            assert (u * pt.ones(3, kind, team=host_team)).dtype == (host * np.ones(3, kind)).dtype, (name, kind)
            assert pt.where(u == 1, u, pt.ones(3, kind, team=host_team)).dtype == np.result_type(name, kind)
        same(u.astype("complex64"), host.astype("complex64"))
    same(pt.full(3, 1 - 2j, team=host_team), np.full(3, 1 - 2j))
    same(pt.asarray(1 - 2j, team=host_team), np.asarray(1 - 2j))
    same(pt.asarray([1, 2j], dtype="complex64", team=host_team), np.asarray([1, 2j], "complex64"))
    same(xp.eye(3, dtype=pt.complex64, device=host_team), np.eye(3, dtype=np.complex64))
    same(pt.asarray(np.array([0, 1j, np.nan]), team=host_team).astype(bool), np.array([False, True, True]))


INVERSE = ["arccos", "arcsin", "arctan", "arccosh", "arcsinh", "arctanh"]
OTHERS = ["tan", "tanh", "expm1", "log1p", "log2", "log10"]
FUNCTIONS = ["exp", "log", "sqrt", "sin", "cos", "sinh", "cosh", "abs", "angle", "square", "reciprocal", "sign", *INVERSE, *OTHERS]


EXACT = [*INVERSE, *OTHERS]


def exact(name, host):
    """By mpmath, with so many bits that 1 + z is exact."""
    pytest.importorskip("mpmath")
    return np.array(_exact(name, host.dtype.name, host.tobytes())).reshape(host.shape)


@functools.cache
def _exact(name, kind, data):
    import mpmath as mp

    of = {"log1p": lambda z: mp.log(1 + z), "log2": lambda z: mp.log(z) / mp.log(2), "log10": lambda z: mp.log(z) / mp.log(10)}
    function = of.get(name) or getattr(mp, name.replace("arc", "a"))
    host = np.frombuffer(data, kind)
    sizes = np.maximum(abs(host.real), abs(host.imag))
    with mp.workprec(2400 if float(sizes.max()) > 1e40 or float(sizes.min()) < 1e-40 else 400):
        return [complex(function(mp.mpc(float(z.real), float(z.imag)))) for z in host]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(kind, name, team):
    rng = np.random.default_rng(5)
    for scale in (0.1, 1, 10, 1e-30, 1e30):
        host = drawn(kind, (40, 5)) * np.asarray(scale, kind)
        host.imag *= 10 ** rng.uniform(-5, 0, host.shape)
        if name in ("exp", "expm1", "sin", "cos", "tan", "sinh", "cosh", "tanh", "square") and scale > 10:
            continue
        with np.errstate(all="ignore"):
            # In more digits, because the C library's float functions are not closer themselves; its log1p has none near 0.
            wide = getattr(np, name)(host.astype(np.clongdouble)) if name not in EXACT else exact(name, host)
        kind_out = host.real.dtype if wide.dtype.kind == "f" else host.dtype
        close(getattr(pt, name)(pt.asarray(host, team=team)), wide.astype(kind_out), 6, (name, scale))


@pytest.mark.parametrize("kind", KINDS)
def test_close_to_the_unit_circle_and_to_the_ends(kind, host_team):
    eps = np.finfo(kind).eps
    near = np.array([1 + 3 * eps + 2j * eps, 1 - eps, -1 + 1j * eps, 1j * (1 + eps), 1 + 1e-4j], kind)
    largest, least = np.finfo(kind).max, np.finfo(kind).tiny
    ends = np.array([largest + 1j * largest, largest / 2 - 1j, least + 1j * least, least / 16 + 0j, -1j * least / 4], kind)
    for name in ("log", "sqrt"):
        for host in (near, ends):
            expected = getattr(np, name)(host.astype(np.clongdouble)).astype(kind)
            close(getattr(pt, name)(pt.asarray(host, team=host_team)), expected, 4, (name, host))
    # e^x overflows before e^x cos y does.
    top = math.log(float(largest))
    host = np.array([top + 0.3 + 1.5j, top + 2 + 1e-20j, -top - 9 + 1j], kind)
    for name in ("exp", "sinh", "cosh"):
        with np.errstate(all="ignore"):
            expected = getattr(np, name)(host.astype(np.clongdouble)).astype(kind)
        ours = getattr(pt, name)(pt.asarray(host, team=host_team)).numpy()
        np.testing.assert_allclose(ours.real, expected.real, rtol=20 * eps, atol=least)
        np.testing.assert_allclose(ours.imag, expected.imag, rtol=20 * eps, atol=least)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", EXACT)
def test_close_to_cuts_and_poles_and_far_away(name, kind, host_team):
    """At 0, at the ends of the cuts, at multiples of a right angle, on the unit circle, and at magnitudes of all kinds."""
    eps, largest = float(np.finfo(kind).eps), float(np.finfo(kind).max)
    rng = np.random.default_rng(3)

    def near(middle):
        return middle + rng.choice([-1, 1], 12) * eps ** rng.uniform(0, 1.2, 12) + 1j * eps ** rng.uniform(0, 3, 12)

    lists = [near(middle) for middle in (0, 1, -1, 1j, -1j, -2, math.pi / 2, 1j * math.pi / 2, 1j * math.pi)]
    lists += [np.exp(1j * rng.uniform(0, 7, 12)), 40 * rng.normal(size=12) + 1j * rng.normal(size=12)]
    if name not in ("tan", "tanh", "expm1"):
        lists += [rng.normal(size=12) * size + 1j * rng.normal(size=12) for size in (1e5, largest / 8, 8 / largest)]
        lists += [rng.normal(size=12) + 1j * rng.normal(size=12) * size for size in (1e9, largest / 8)]
    host = np.concatenate(lists).astype(kind)
    close(getattr(pt, name)(pt.asarray(host, team=host_team)), exact(name, host).astype(kind), 6, name)


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 7, -1, -3, 2.0, 0.5, 1 + 1j, 150])
def test_powers(exponent, host_team):
    host = drawn("complex128", (9, 4))
    z = pt.asarray(host, team=host_team)
    expected = host.astype(np.clongdouble) ** exponent
    close(z**exponent, expected.astype("complex128"), 40 + 4 * abs(exponent))
    zeros = np.array([0, 0, 1j])
    exponents = np.array([0, 2, 0.5], complex)
    close(pt.asarray(zeros, team=host_team) ** pt.asarray(exponents, team=host_team), zeros**exponents, 4)


SPECIAL = [0.0, -0.0, 1.0, -2.0, math.inf, -math.inf, math.nan]


@pytest.mark.parametrize("kind", KINDS)
def test_the_sign_of_zeros_is_a_positive_zero(kind, host_team):
    host = np.array([complex(re, im) for re in (0.0, -0.0) for im in (0.0, -0.0)], kind)
    signs = pt.sign(pt.asarray(host, team=host_team)).numpy()
    assert signs.tobytes() == np.zeros(4, kind).tobytes() == np.sign(host).tobytes()


@pytest.mark.parametrize("kind", KINDS)
def test_special_values(kind, host_team):
    """Both parts of every pair of special values: NaN where NumPy has NaN, infinities and zeros with their signs."""
    host = np.array([complex(re, im) for re in SPECIAL for im in SPECIAL], kind)
    z = pt.asarray(host, team=host_team)
    for name in ("isnan", "isinf", "isfinite", "abs", "conj", "negative", "real", "imag", "positive"):
        same(getattr(pt, name)(z), getattr(np, name)(host), name)
    for name in ("exp", "log", "sqrt", "sin", "cos", "sinh", "cosh", *EXACT):
        with np.errstate(all="ignore"):
            # NumPy's expm1 is not the standard's where e^x is infinite or 0; its exponential is.
            expected = getattr(np, name)(host) if name != "expm1" else np.where(abs(host) < 3, np.expm1(host), np.exp(host) - 1)
        ours = getattr(pt, name)(z).numpy()
        for which in ("real", "imag"):
            got, wanted = getattr(ours, which), getattr(expected, which)
            wrong = ~((np.isnan(got) & np.isnan(wanted)) | np.isclose(got, wanted, rtol=1e-6))
            # Signs of zeros and infinities that C99 leaves open differ between C libraries.
            wrong &= ~(np.isinf(got) & np.isinf(wanted) & ~np.isfinite(host.imag if name in ("exp", "sinh", "cosh") else host.real))
            assert not wrong.any(), (name, which, host[wrong], got[wrong], wanted[wrong])
    roots = pt.sqrt(pt.asarray(np.array([complex(-1, 0.0), complex(-1, -0.0)], kind), team=host_team)).numpy()
    assert roots.imag.tolist() == [1, -1]
    # NumPy's products and quotients are the plain formulas: infinities may become NaN.
    a, b = np.meshgrid(host, host)
    with np.errstate(all="ignore"):
        for op in (operator.mul, operator.truediv, operator.add):
            got, wanted = op(pt.asarray(a, team=host_team), pt.asarray(b, team=host_team)).numpy(), op(a, b)
            for which in ("real", "imag"):
                np.testing.assert_array_equal(getattr(got, which), getattr(wanted, which), err_msg=f"{op} {which}")


@pytest.mark.parametrize("kind", KINDS)
def test_reductions(kind, dist):
    host = drawn(kind, (12, 7))
    host[5, 2] = 0
    z = pt.asarray(host, dist=dist)
    wide = host.astype(np.clongdouble)
    for axis in (None, 0, 1, (0, 1)):
        for keepdims in (False, True):
            for name, ulp in (("sum", 40), ("mean", 40), ("prod", 400)):
                expected = np.asarray(getattr(wide, name)(axis=axis, keepdims=keepdims)).astype(kind)
                got = getattr(z, name)(axis, keepdims=keepdims)
                assert np.abs(got.numpy() - expected).max() <= ulp * np.finfo(kind).eps * max(1, np.abs(expected).max()), name
                assert got.shape == expected.shape and got.dtype == kind
            for name in ("all", "any"):
                same(getattr(z, name)(axis, keepdims=keepdims), getattr(host, name)(axis=axis, keepdims=keepdims), name)
    assert z.sum(reproducible=True).item() == pt.asarray(host, team=z.team).sum(reproducible=True).item()
    assert pt.zeros((0, 3), kind, team=z.team).prod(0).numpy().tolist() == [1, 1, 1]


def test_products_of_matrices(team):
    a, b = drawn("complex64", (5, 6)), drawn("complex64", (6, 4), 1)
    u, v = pt.asarray(a, team=team), pt.asarray(b, team=team)
    np.testing.assert_allclose((u @ v).numpy(), a @ b, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose((u @ v[:, 1]).numpy(), a @ b[:, 1], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(pt.tensordot(u, v, axes=1).numpy(), np.tensordot(a, b, 1), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(pt.vecdot(u, u[::-1]).numpy(), (a.conj() * a[::-1]).sum(-1), rtol=1e-5, atol=1e-5)


# Elements in other places.

MASK = np.random.default_rng(3).integers(0, 2, (12, 7)).astype(bool)
VIEWS = {
    "steps": lambda x, xp: x[1::3, ::2], "flips": lambda x, xp: x[::-1, ::-2], "row": lambda x, xp: x[3],
    "one": lambda x, xp: x[3, -1], "new": lambda x, xp: x[:, None, 2:5], "empty": lambda x, xp: x[4:4],
    "transpose": lambda x, xp: x.T, "cut": lambda x, xp: x[2:9, 1:], "listed": lambda x, xp: x[[3, 0, 3, 11]],
    "point": lambda x, xp: x[[3], [2]], "points": lambda x, xp: x[[3, 0], [-1, 2]], "mask": lambda x, xp: x[MASK], "rows": lambda x, xp: x[MASK[:, 0]],
    "reshape": lambda x, xp: x.reshape(3, 4, -1), "ravel": lambda x, xp: x.ravel(), "two": lambda x, xp: xp.reshape(x[:1, :1], (1, 1, 1)),
    "concatenate": lambda x, xp: xp.concatenate([x, x[:, 2:] * 2], 1), "stack": lambda x, xp: xp.stack([x, -x], -1),
    "pad": lambda x, xp: xp.pad(x, ((1, 2), (0, 3)), constant_values=2 - 1j), "zeros": lambda x, xp: xp.pad(x, 1),
    "wrap": lambda x, xp: xp.pad(x, 2, mode="wrap"), "reflect": lambda x, xp: xp.pad(x, ((3, 0), (1, 1)), mode="reflect"),
    "roll": lambda x, xp: xp.roll(x, (2, -3), (0, 1)), "roll all": lambda x, xp: xp.roll(x, 5),
    "broadcast": lambda x, xp: xp.broadcast_to(x[:, :1], (2, 12, 4)), "take": lambda x, xp: xp.take(x, [1, 5, 5], 1),
    "tile": lambda x, xp: xp.tile(x, (1, 2)), "repeat": lambda x, xp: xp.repeat(x, 2, 0), "moved": lambda x, xp: xp.moveaxis(x[None], 0, -1),
    "real": lambda x, xp: x.real, "imag": lambda x, xp: x[::2].imag, "where": lambda x, xp: xp.where(x.real > 0, x, 0),
    "stencil": lambda x, xp: x[:-2] + x[2:] * 2 - x[1:-1],
}  # fmt: skip


@pytest.mark.parametrize("name", VIEWS)
def test_views(name, dist):
    host = drawn("complex64", (12, 7))
    z = pt.asarray(host, dist=dist)
    ours = VIEWS[name](z, pt)
    same(ours, VIEWS[name](host, np), name)
    # Real and imaginary part are on one part, also of a single element.
    assert ours.ndim == 0 or ours.dist.shape == ours.shape
    # Of something that is not computed yet.
    same(VIEWS[name](z + 0, pt), VIEWS[name](host, np), name)


@pytest.mark.parametrize(
    "key", [np.s_[2], np.s_[1:9:3, ::-1], np.s_[...], np.s_[3, 2], np.s_[:, 1:4], ([3, 1], [0, 6]), MASK, np.s_[5:5]], ids=str
)
def test_assignment(key, dist):
    host = drawn("complex128", (12, 7))
    z = pt.asarray(host, dist=dist)
    other = drawn("complex64", host[key].shape, 9)
    for value in (1 - 2j, 3, other, other.real.copy()):
        array = isinstance(value, np.ndarray)
        host[key] = value
        z[key] = pt.asarray(value, team=z.team) if array and value.ndim else value
        same(z, host)
        assert z.dist == dist
    z[key] += 1j
    host[key] += 1j
    same(z, host)
    z *= 2
    same(z, host * 2)


def test_moving_house(team):
    host = drawn("complex64", (12, 7))
    layouts = dict(_dists(team))
    z = pt.asarray(host, dist=layouts["rows"])
    for dist in layouts.values():
        z = z.redistribute(dist)
        assert z.dist == dist
        same(z, host)
        assert "0 -> " in z.explain(layouts["rows"]) or dist == layouts["rows"] or len(team) == 1
    moved = pt.asarray(z, team=pt.Team(2, "host"))
    same(moved, host)


def test_collectives(host_team):
    """Linear operators take real and imaginary parts alike."""
    world = pt.Partition(host_team)
    host = drawn("complex64", (24,))
    z = pt.asarray(host, team=world.team)
    total = pt.collective.all_sum_reduce(world, [0])(z)
    assert total.dtype == "complex64"
    np.testing.assert_allclose(total.numpy(), np.tile(host.reshape(len(host_team), -1).sum(0), len(host_team)), rtol=1e-5)
    root = pt.collective.gather(world, 0)
    same(root(z), host)
    same(root.adjoint(root(z)), host)
    assert "48 bytes" in root.explain(z) or len(host_team) == 1


def test_one_part_costs_one_part():
    """Real parts of products are three operations per element; the imaginary ones are not computed beside them."""
    z = pt.ones((64, 64), complex, team=pt.Team(1, "host")) + 0j
    product = z.eval() * z
    assert f"{3 * 64 * 64} operations" in product.real.explain() and f"{3 * 64 * 64} operations" not in product.explain()


def test_loop(team):
    host = drawn("complex64", (16, 3)) / 4
    u = pt.asarray(host, dist=pt.Distribution((16, 3), team=team, halo=1))

    def step(x):
        x[1:-1] = 0.5 * (x[:-2] + x[2:]) + x[1:-1] * x[1:-1] * 0.1j

    for _ in range(6):
        step(host)
    pt.Loop(step).run(u, steps=6)
    close(u, host, 40)


# What Python asks of it.


def test_python(host_team):
    host = drawn("complex128", (3,))
    z = pt.asarray(host, team=host_team)
    assert [complex(x) for x in z] == host.tolist() == z.tolist() and z[1].item() == host[1] == complex(z[1])
    assert repr(z).endswith(" part)" if len(host_team) == 1 else " parts in grid (4,))") and "complex128, " in repr(z) and f"48 B in {len(host_team)} part" in z._repr_html_()
    for again in (pickle.loads(pickle.dumps(z)), copy.deepcopy(z), pt.asarray(z)):
        same(again, host)
    same(np.conjugate(z), host.conj())
    same(host + z, host + host)
    same(np.exp(z) * 0, host * 0)
    np.testing.assert_array_equal(np.asarray(z), host)
    assert bool(z[0]) and not bool(pt.zeros((), complex, team=host_team))
    with pytest.raises(TypeError):
        float(z[0])
    with pytest.raises(TypeError):
        z[0] < 1  # noqa: B015
    info = xp.finfo(pt.complex64)
    assert (info.bits, info.dtype) == (32, pt.float32) and xp.isdtype(z.dtype, "complex floating")


REFUSED = {
    "less": lambda z: z < z, "greater_equal": lambda z: z >= 1, "floor_divide": lambda z: z // 2, "remainder": lambda z: z % z,
    "minimum": lambda z: pt.minimum(z, z), "max": lambda z: z.max(), "argmin": lambda z: z.argmin(), "floor": pt.floor,
    "trunc": pt.trunc, "arctan2": lambda z: pt.arctan2(z, z), "hypot": lambda z: pt.hypot(z, 1), "erf": pt.erf, "cbrt": pt.cbrt,
    "and": lambda z: z & z, "invert": lambda z: ~z, "left_shift": lambda z: z << 1,
    "maximum": lambda z: pt.clip(z, 0, 1), "astype": lambda z: z.astype(float),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused_by_name(name, host_team):
    z = pt.ones(3, complex, team=host_team)
    with pytest.raises(TypeError, match=rf"^{name}: expected .*, given .*(complex128|float64).*; \w"):
        REFUSED[name](z)


# Files and memory.


def test_files(dist, tmp_path):
    host = drawn("complex64", (12, 7))
    pt.save(tmp_path / "z.npy", pt.asarray(host, dist=dist))
    np.testing.assert_array_equal(np.load(tmp_path / "z.npy"), host)
    for order in ("C", "F"):
        np.save(tmp_path / "y.npy", np.asarray(host, order=order))
        loaded = pt.load(tmp_path / "y.npy", dist=dist)
        assert loaded.dist == dist
        same(loaded, host)


@pytest.mark.parametrize("kind", KINDS)
def test_memory_is_shared_with_numpy_both_ways(kind):
    team = pt.Team(1, "host")
    for shape in [(3, 4), (5,), (0, 2), (2, 1, 1), (1,)]:
        host = drawn(kind, shape)
        z = pt.from_dlpack(host, copy=False)
        same(z, host)
        seen = np.from_dlpack(z)
        assert seen.dtype == kind and seen.shape == shape and (not seen.flags.writeable or not seen.size)
        if seen.size:
            assert seen.ctypes.data == host.ctypes.data == np.asarray(z.parts[0]).ctypes.data
        made = pt.asarray(host, team=team)
        view = np.from_dlpack(made)
        assert view.strides == host.strides or min(shape) < 2
        assert np.from_dlpack(made, copy=True).flags.writeable
        np.testing.assert_array_equal(view, host)
    scalar = pt.asarray(2 - 1j, team=team)
    assert np.from_dlpack(scalar).shape == () and np.from_dlpack(scalar) == 2 - 1j
    assert pt.from_dlpack(np.array(2 - 1j)).item() == 2 - 1j


def test_views_are_shared_where_pairs_stay_together():
    z = pt.asarray(drawn("complex64", (8, 6)), team=pt.Team(1, "host"))
    base = np.from_dlpack(z)
    for key in [np.s_[2:5, 1:], np.s_[::2, ::3], np.s_[3], np.s_[:, 4]]:
        seen = np.from_dlpack(z[key])
        np.testing.assert_array_equal(seen, base[key])
        assert seen.ctypes.data == base[key].ctypes.data and seen.strides == base[key].strides
    turned = np.from_dlpack(z.T)
    assert turned.ctypes.data == base.ctypes.data and turned.strides == base.T.strides
    # Parts of the numbers are floats, two apart.
    real, imag = np.from_dlpack(z.real), np.from_dlpack(z.imag)
    assert (real.ctypes.data, imag.ctypes.data) == (base.ctypes.data, base.ctypes.data + 4) and real.strides == base.strides
    np.testing.assert_array_equal(imag, base.imag)
    # Flipped elements are copied, as those of real arrays are.
    np.testing.assert_array_equal(np.from_dlpack(z[::-1]), base[::-1])
    described = z.parts[0].__array_interface__
    assert (described["typestr"], described["shape"], described["strides"]) == ("<c8", (8, 6), (48, 8))


def test_foreign_strides(host_team):
    host = drawn("complex128", (6, 8))
    for view in (host[::2, ::-1], host.T, host[:, 3:4], host[1:1], np.broadcast_to(host[0], (3, 8))):
        same(pt.from_dlpack(view, team=host_team), view)
    with pytest.raises(BufferError, match="C order"):
        pt.from_dlpack(host.T, copy=False)
    # Aligned as floats are, which is all that pairs need.
    memory = np.zeros(13, np.float32)
    odd = memory[1:].view(np.complex64)
    odd[:] = drawn("complex64", (6,))
    z = pt.from_dlpack(odd, copy=False)
    same(z, odd)


@pytest.mark.parametrize("kind", KINDS)
def test_memory_is_shared_with_jax(kind):
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    host = drawn(kind, (4, 5))
    theirs = jax.numpy.asarray(host)
    z = pt.from_dlpack(theirs, copy=False)
    assert np.from_dlpack(z).ctypes.data == theirs.unsafe_buffer_pointer()
    same(z * 1, host)
    ours = pt.asarray(host, team=pt.Team(1, "host"))
    there = jax.dlpack.from_dlpack(ours)
    assert there.dtype == kind and there.unsafe_buffer_pointer() == np.from_dlpack(ours).ctypes.data
    np.testing.assert_array_equal(np.asarray(there), host)


def test_device_memory_says_what_it_is(team):
    z = pt.asarray(drawn("complex128", (8, 3)), dist=pt.Distribution((8, 3), team=team, halo=[1, 0]))
    for p in z.parts:
        if p.device.kind != "cuda":
            assert not hasattr(p, "__cuda_array_interface__")
            continue
        described = p.__cuda_array_interface__
        assert (described["typestr"], described["shape"], described["strides"]) == ("<c16", p.shape, (48, 16))
        assert p.stored.__cuda_array_interface__["shape"] == p.stored.shape


def test_parts_of_several(team):
    host = drawn("complex64", (12, 7))
    dist = dict(_dists(team))["uneven"]
    parts = [np.from_dlpack(p, device="cpu") for p in pt.asarray(host, dist=dist).parts]
    same(pt.from_parts(parts, dist), host)
    if team.devices[0].kind == "host":
        shared = pt.from_parts(parts, dist, copy=False)
        same(shared, host)
        assert [np.asarray(p).ctypes.data for p in shared.parts] == [p.ctypes.data for p in parts]


def test_protocols():
    host = drawn("complex128", (12, 7))
    team = pt.Team(4, "host")
    for name in ("rows", "blocks", "uneven", "cyclic"):
        z = pt.asarray(host, dist=dict(_dists(team))[name])
        if name in ("rows", "blocks"):
            described = z.__partitioned__
            assert pt.validate_partitioned(described) == (True, "")
            same(pt.from_partitioned(described, team=team), host)
        if name == "blocks":
            z = z.redistribute(pt.Distribution((12, 7), team=team, grid=(2, 2), halo=1))
        described = [p.__distarray__() for p in z.parts]
        assert described[0]["buffer"].format == "Zd" and pt.validate_distarray(described) == (True, "")
        same(pt.from_distarray(described, team=team), host)
