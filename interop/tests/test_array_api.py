"""The array API standard: names and signatures against its reference, array_api_strict, and what functions give,
for every type and for drawn arrays and edge values. (The public suite of tests is not on PyPI.)"""

import inspect
import itertools
from pathlib import Path

import numpy as np
import partita as pt
import partita.array_api as xp
import pytest

strict = pytest.importorskip("array_api_strict")
strict.set_array_api_strict_flags(api_version="2024.12")

LINES = (Path(__file__).parent / "array_api_missing.txt").read_text().splitlines()
MISSING = dict(line.split(maxsplit=1) for line in LINES if line and not line.startswith("#"))
#: Not part of the standard, but public in the reference's module.
OURS_ONLY = {"set_array_api_strict_flags", "get_array_api_strict_flags", "reset_array_api_strict_flags", "ArrayAPIStrictFlags", "Device"}
DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]
COMPLEX = ["complex64", "complex128"]


def names():
    return sorted(name for name in strict.__all__ if name not in OURS_ONLY and not name.startswith("__"))


def test_every_name_is_there_or_its_absence_has_a_reason():
    absent = {name for name in names() if not hasattr(xp, name)}
    assert absent == set(MISSING), (absent - set(MISSING), set(MISSING) - absent)
    assert all(reason.strip("() ") for reason in MISSING.values())
    assert set(xp.__all__) <= set(names())
    print(f"\narray API: {len(names()) - len(absent)} of {len(names())} names")


FUNCTIONS = [name for name in names() if name not in MISSING and inspect.isfunction(getattr(strict, name))]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_signatures(name):
    theirs = inspect.signature(getattr(strict, name)).parameters
    ours = inspect.signature(getattr(xp, name)).parameters
    common = [parameter for parameter in ours if parameter in theirs]
    for parameter in common:
        wide = ours[parameter].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
        assert wide or ours[parameter].kind is theirs[parameter].kind, parameter
    required = [p for p in theirs.values() if p.kind not in (p.POSITIONAL_ONLY, p.VAR_POSITIONAL)]
    assert {p.name for p in required} <= set(ours), "a keyword is missing"
    # Ours may be positional where theirs are keywords, behind theirs, as NumPy's are.
    ours, theirs = ([p for p in each.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)] for each in (ours, theirs))
    assert len(theirs) <= len(ours) and all(p.default is not p.empty for p in ours[len(theirs) :])
    assert all(a.kind is a.POSITIONAL_ONLY or a.name == b.name for a, b in zip(theirs, ours, strict=False))


def test_methods_of_arrays():
    theirs = {name for name in dir(strict.ones(1)) if not name.startswith("_") or name.startswith("__") and name.endswith("__")}
    basic = set(dir(object())) | {"__module__", "__dict__", "__annotations__", "__firstlineno__", "__static_attributes__", "__array_ufunc__"}
    absent = theirs - set(dir(pt.ones(1, team=pt.Team(1, "host")))) - basic
    # A matrix product is assigned rather than computed in place.
    assert absent <= {"__imatmul__", "__rmatmul__", "__buffer__"}, absent


def drawn(dtype, shape=(4, 3)):
    rng = np.random.default_rng(len(dtype) + shape[0])
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype in COMPLEX:
        return (rng.normal(size=shape) * 3 + 3j * rng.normal(size=shape)).astype(dtype)
    if dtype.startswith("float"):
        return (rng.normal(size=shape) * 3).astype(dtype)
    return rng.integers(0 if dtype[0] == "u" else -9, 10, shape).astype(dtype)


EDGES = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-40, 1e300, 0.5, -2.5, 3.0])


def close(ours, theirs, name):
    """Equal in type, shape and elements; functions that are not correctly rounded within 4 ulp, of complex numbers of
    their magnitude."""
    host, reference = ours.numpy(), np.asarray(theirs._array)
    assert (host.shape, host.dtype) == (reference.shape, reference.dtype), name
    if host.dtype.kind == "c":
        assert (np.abs(host - reference) <= 4 * np.spacing(np.abs(reference))).all(), (name, host, reference)
        return
    if host.dtype.kind != "f":
        np.testing.assert_array_equal(host, reference, err_msg=name)
        return
    finite = np.isfinite(host) & np.isfinite(reference)
    np.testing.assert_array_equal(np.where(finite, 0, host), np.where(finite, 0, reference), err_msg=name)
    spacing = np.spacing(np.maximum(np.abs(reference[finite]), np.finfo(host.dtype).tiny))
    assert (np.abs(host[finite].astype(float) - reference[finite]) <= 4 * spacing).all(), name


def both(host, team):
    return pt.asarray(host, team=team), strict.asarray(host)


def compared(name, hosts, team, *arguments, **keywords):
    """Our result and the reference's; both refuse, or ours is the same."""
    ours, theirs = zip(*(both(host, team) for host in hosts), strict=True)
    try:
        with np.errstate(all="ignore"):
            expected = getattr(strict, name)(*theirs, *arguments, **keywords)
    except (TypeError, ValueError):
        return
    close(getattr(xp, name)(*ours, *arguments, **keywords), expected, f"{name} {[h.dtype for h in hosts]} {keywords}")


UNARY = """abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp expm1 floor imag isfinite isinf isnan log
log1p log2 log10 logical_not negative positive real reciprocal round sign signbit sin sinh square sqrt tan tanh trunc""".split()
BINARY = """add atan2 copysign nextafter bitwise_and bitwise_or bitwise_xor divide equal floor_divide greater greater_equal hypot less
less_equal logaddexp logical_and logical_or logical_xor maximum minimum multiply not_equal remainder subtract""".split()


@pytest.mark.parametrize("name", UNARY)
def test_unary(name, host_team):
    for dtype in DTYPES + COMPLEX:
        compared(name, [drawn(dtype)], host_team)
    for dtype in ("float32", "float64"):
        with np.errstate(over="ignore"):
            compared(name, [EDGES.astype(dtype)], host_team)


@pytest.mark.parametrize("name", BINARY)
def test_binary(name, host_team):
    for a, b in itertools.product(DTYPES + COMPLEX, DTYPES + COMPLEX):
        left, right = drawn(a), drawn(b, (1, 3))
        if name in ("divide", "floor_divide", "remainder") and right.dtype.kind in "iu":
            right = np.where(right == 0, 1, right).astype(b)
        compared(name, [left, right], host_team)
    if name == "remainder" or name == "floor_divide":
        pairs = np.array([[7.5, -7.5, 1, -1, 5], [2, 2, -3, 4, 0.5]])
    else:
        pairs = np.array(list(itertools.product(EDGES, EDGES))).T.copy()
    for dtype in ("float32", "float64"):
        with np.errstate(over="ignore"):
            compared(name, list(pairs.astype(dtype)), host_team)


def test_powers_and_shifts(host_team):
    for dtype in DTYPES[1:]:
        base, exponent = drawn(dtype), np.abs(drawn(dtype, (1, 3)))
        compared("pow", [base, exponent], host_team)
        if dtype[0] in "iu":
            compared("bitwise_left_shift", [base, exponent % 7], host_team)
            compared("bitwise_right_shift", [base, exponent % 7], host_team)
    x, reference = both(drawn("float64"), host_team)
    for name in ("add", "subtract", "multiply", "maximum", "less", "atan2"):
        close(getattr(xp, name)(x, 2), getattr(strict, name)(reference, 2.0), name)
        close(getattr(xp, name)(2.5, x), getattr(strict, name)(2.5, reference), name)


REDUCTIONS = ["all", "any", "argmax", "argmin", "count_nonzero", "max", "mean", "min", "prod", "std", "sum", "var"]


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name, host_team):
    for dtype, axis, keepdims in itertools.product(DTYPES + COMPLEX, (None, 0, -1, (0, 1)), (False, True)):
        if name.startswith("arg") and isinstance(axis, tuple):
            continue
        compared(name, [drawn(dtype)], host_team, axis=axis, keepdims=keepdims)
    for name, keywords in [("sum", {"dtype": "float64"}), ("prod", {"dtype": "int64"}), ("var", {"correction": 1}), ("std", {"correction": 2})]:
        given = {key: getattr(xp, value) if isinstance(value, str) else value for key, value in keywords.items()}
        reference = {key: getattr(strict, value) if isinstance(value, str) else value for key, value in keywords.items()}
        ours, theirs = both(drawn("float32" if "dtype" not in keywords else "int8"), host_team)
        close(getattr(xp, name)(ours, **given), getattr(strict, name)(theirs, **reference), name)


MOVES = [
    ("broadcast_to", ((2, 4, 3),), {}), ("concat", "list", {"axis": 1}), ("concat", "list", {"axis": None}), ("expand_dims", (), {"axis": 1}),
    ("flip", (), {}), ("flip", (), {"axis": 1}), ("moveaxis", (0, 1), {}), ("permute_dims", ((1, 0),), {}), ("repeat", (3,), {"axis": 0}),
    ("reshape", ((2, -1),), {}), ("roll", (2,), {}), ("roll", ((1, 1),), {"axis": (0, 1)}), ("stack", "list", {"axis": -1}), ("tile", ((2, 1),), {}),
    ("tril", (), {"k": 1}), ("triu", (), {"k": -1}), ("cumulative_sum", (), {"axis": 0}), ("cumulative_sum", (), {"axis": 1, "include_initial": True}),
    ("cumulative_prod", (), {"axis": 1}), ("diff", (), {}), ("diff", (), {"axis": 0, "n": 2}), ("matrix_transpose", (), {}),
    ("clip", (-1, 2), {}), ("astype", ("float64",), {}), ("astype", ("uint8",), {}),
]  # fmt: skip


@pytest.mark.parametrize("name, arguments, keywords", MOVES, ids=lambda value: str(value))
def test_moves(name, arguments, keywords, host_team):
    for dtype in DTYPES[1:] + COMPLEX:
        if name == "clip" and dtype[0] in "uc":
            continue
        host = drawn(dtype) if name != "astype" else np.abs(drawn(dtype))
        ours, theirs = both(host, host_team)
        if arguments == "list":
            close(getattr(xp, name)([ours, ours], **keywords), getattr(strict, name)([theirs, theirs], **keywords), name)
            continue
        named = [[getattr(module, a) if isinstance(a, str) else a for a in arguments] for module in (xp, strict)]
        close(getattr(xp, name)(ours, *named[0], **keywords), getattr(strict, name)(theirs, *named[1], **keywords), name)


def test_indices_products_and_choices(host_team):
    x, x_ = both(drawn("float64"), host_team)
    y, y_ = both(drawn("float64", (3, 5)), host_team)
    i, i_ = both(np.array([2, 0, 1]), host_team)
    close(xp.take(x, i, axis=0), strict.take(x_, i_, axis=0), "take")
    along, along_ = both(np.array([[0, 2], [1, 1], [2, 0], [0, 0]]), host_team)
    close(xp.take_along_axis(x, along, axis=1), strict.take_along_axis(x_, along_, axis=1), "take_along_axis")
    for name, pair, pair_ in [("matmul", (x, y), (x_, y_)), ("vecdot", (x, x), (x_, x_))]:
        np.testing.assert_allclose(getattr(xp, name)(*pair).numpy(), np.asarray(getattr(strict, name)(*pair_)._array), rtol=1e-14)
    np.testing.assert_allclose(xp.tensordot(x, y, axes=1).numpy(), np.asarray(strict.tensordot(x_, y_, axes=1)._array), rtol=1e-14)
    close(xp.where(x > 0, x, y.T[:1, :3] * 0), strict.where(x_ > 0, x_, y_.T[:1, :3] * 0.0), "where")
    for ours, theirs in zip(xp.nonzero(x > 0), strict.nonzero(x_ > 0), strict=True):
        close(ours, theirs, "nonzero")
    for ours, theirs in zip(xp.meshgrid(i, i[:2]), strict.meshgrid(i_, i_[:2]), strict=True):
        close(ours, theirs, "meshgrid")
    for ours, theirs in zip(xp.unstack(x, axis=1), strict.unstack(x_, axis=1), strict=True):
        close(ours, theirs, "unstack")
    close(x[1:, None, ::-1], x_[1:, None, ::-1], "index")
    close(x[x > 0], x_[x_ > 0], "mask")


CREATED = [
    ("arange", (5,), {}), ("arange", (1, 9, 2), {}), ("arange", (0.5, 3), {}), ("arange", (5, 0, -2), {"dtype": "int32"}), ("eye", (3,), {}),
    ("eye", (2, 4), {"k": 1, "dtype": "float32"}), ("full", ((2, 3), 7), {}), ("full", ((), True), {}), ("linspace", (0, 1, 7), {}),
    ("linspace", (3, -2, 4), {"endpoint": False, "dtype": "float32"}), ("linspace", (1, 2, 1), {}), ("ones", (3,), {}), ("zeros", ((2, 0),), {"dtype": "uint8"}),
]  # fmt: skip


@pytest.mark.parametrize("name, arguments, keywords", CREATED, ids=str)
def test_creation(name, arguments, keywords):
    ours, theirs = (
        getattr(module, name)(*arguments, **{k: getattr(module, v) if k == "dtype" else v for k, v in keywords.items()})
        for module in (xp, strict)
    )
    close(ours, theirs, name)
    for like in ("zeros_like", "ones_like"):
        close(getattr(xp, like)(ours), getattr(strict, like)(theirs), like)


def test_types():
    for a, b in itertools.product(DTYPES + COMPLEX, DTYPES + COMPLEX):
        left, right = getattr(xp, a), getattr(xp, b)
        try:
            expected = strict.result_type(getattr(strict, a), getattr(strict, b))
        except TypeError:
            continue
        assert xp.result_type(left, right) == np.dtype(str(expected).split(".")[-1].strip("')")), (a, b)
        assert xp.can_cast(left, right) == strict.can_cast(getattr(strict, a), getattr(strict, b)), (a, b)
    for kind in ("bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating", "numeric"):
        for name in DTYPES + COMPLEX:
            assert xp.isdtype(getattr(xp, name), kind) == strict.isdtype(getattr(strict, name), kind)
    for name in DTYPES[1:9]:
        ours, theirs = xp.iinfo(getattr(xp, name)), strict.iinfo(getattr(strict, name))
        assert (ours.bits, ours.min, ours.max) == (theirs.bits, theirs.min, theirs.max)
    for name in DTYPES[9:] + COMPLEX:
        ours, theirs = xp.finfo(getattr(xp, name)), strict.finfo(getattr(strict, name))
        assert (ours.bits, ours.eps, ours.max, ours.min, ours.smallest_normal) == (theirs.bits, theirs.eps, theirs.max, theirs.min, theirs.smallest_normal)


def test_lists_where_the_standard_has_lists_and_tuples_where_numpy_has_tuples():
    u, v = xp.arange(3), xp.ones((2, 3))
    assert type(xp.meshgrid(u, u)) is list and type(xp.broadcast_arrays(u, v)) is list
    assert type(xp.__array_namespace_info__().devices()) is list
    assert type(pt.broadcast_arrays(u, v)) is tuple and type(np.broadcast_arrays(np.arange(3), np.ones((2, 3)))) is tuple


def test_no_axes_reduce_over_nothing():
    host = np.array([[1.5, 2.0], [4.0, -1.0]])
    x = xp.asarray(host)
    for name in ("sum", "prod", "max", "min", "mean", "std", "var", "all", "any"):
        ours, theirs = getattr(xp, name)(x, axis=()), getattr(np, name)(host, axis=())
        assert ours.dtype == theirs.dtype and ours.tolist() == theirs.tolist(), name
    assert xp.count_nonzero(x, axis=()).tolist() == [[1, 1], [1, 1]]


def test_namespace_and_devices():
    u = pt.ones((4, 2), team=pt.Team(2, "host"))
    assert u.__array_namespace__() is pt is u.__array_namespace__(api_version="2024.12")
    assert all(hasattr(pt, name) for name in (*xp.__all__, "__array_api_version__", "__array_namespace_info__"))
    with pytest.raises(ValueError, match="2024.12"):
        u.__array_namespace__(api_version="2031.12")
    assert u.device == u.team and u.to_device("host").team.size == 1
    assert xp.zeros(3, device=u.device).device == u.device
    with pytest.raises(ValueError, match="stream"):
        u.to_device("host", stream=1)
    info = xp.__array_namespace_info__()
    assert info.capabilities()["max dimensions"] == 8 and info.default_dtypes()["real floating"] is pt.float64
    assert set(info.dtypes()) == set(DTYPES + COMPLEX) and set(info.dtypes(kind="bool")) == {"bool"}
    assert all(isinstance(team, pt.Team) for team in info.devices()) and isinstance(info.default_device(), pt.Team)
