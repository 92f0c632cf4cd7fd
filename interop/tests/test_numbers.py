"""Python's numbers beside arrays, those above all that a type cannot hold, against NumPy: the same values in the same
type, or an exception of the same class."""

import math
import operator
import os
import resource
import subprocess
import sys

import numpy as np
import partita as pt
import pytest

TYPES = [dtype.name for dtype in pt._core.dtypes.ALL if dtype is not pt.bfloat16]
INTEGERS = [name for name in TYPES if name.strip("u").startswith("int")]
NUMBERS = [
    0, 1, -1, 2, 7, 8, 9, 63, 64, 65, 127, 128, -128, -129, 255, 256, 300, 2**31 - 1, 2**31, -(2**31) - 1, 2**32, 2**63 - 1, 2**63,
    -(2**63), -(2**63) - 1, 2**64 - 1, 2**64, 10**30, 0.0, -0.0, 0.5, -0.5, 1.5, -1.5, 300.7, 1e30, math.inf, -math.inf, math.nan,
    True, False, 1j, 0.5 - 2j,
]  # fmt: skip
BINARY = {
    name: (getattr(operator, name), getattr(operator, name))
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "or_", "xor", "lshift", "rshift", "lt", "le", "gt",
                 "ge", "eq", "ne")
}  # fmt: skip
BINARY |= {
    name: (getattr(pt, name), getattr(np, name))
    for name in ("minimum", "maximum", "arctan2", "hypot", "logaddexp", "logical_and", "logical_or", "logical_xor")
}
#: Computed by other formulas than NumPy's: within so many units of the last place.
ROUNDED = {"pow": 4, "arctan2": 4, "hypot": 2, "logaddexp": 8}
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
ORDERS = ("lt", "le", "gt", "ge", "minimum", "maximum")
IN_PLACE = ["iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow", "iand", "ior", "ixor", "ilshift", "irshift"]


def elements(name):
    """The least, the largest and a few others."""
    kind = np.dtype(name)
    if kind.kind == "b":
        return np.array([True, False])
    if kind.kind in "fc":
        return np.array([0.0, -1.5, 3.0, 100.0], kind)
    ends = np.iinfo(kind)
    return np.array([0, 1, 3, 100, ends.max, ends.min], kind)


def outcome(call):
    """An array, or the class of an exception."""
    try:
        with np.errstate(all="ignore"):
            result = call()
    except (TypeError, ValueError, OverflowError) as error:
        return next(kind for kind in (TypeError, OverflowError, ValueError) if isinstance(error, kind))
    return result.numpy() if isinstance(result, pt.Array) else np.asarray(result)


def difference(ours, theirs, ulp=0):
    """What a reader wants to know of two outcomes that are not the same; empty if they are."""
    if isinstance(ours, type) or isinstance(theirs, type):
        return "" if ours is theirs else f"{ours} instead of {theirs}"
    if ours.dtype != theirs.dtype or ours.shape != theirs.shape:
        return f"{ours.dtype} {ours.shape} instead of {theirs.dtype} {theirs.shape}"
    same = ours == theirs
    if ours.dtype.kind in "fc":
        same |= np.isnan(ours) & np.isnan(theirs)
    if ulp and ours.dtype.kind == "f":
        same |= np.abs(ours - theirs) <= ulp * np.abs(np.spacing(theirs))
    if ulp and ours.dtype.kind == "c":
        # exp(b log a) has the error of its exponent, at most 89 or 710; which parts overflow with others is no rule.
        close = (4e-5 if ours.dtype == np.complex64 else 1e-12) * np.abs(theirs)
        same |= (np.abs(ours - theirs) <= close) | (~np.isfinite(ours) & ~np.isfinite(theirs))
    return "" if same.all() else f"{ours} instead of {theirs}"


def differences(cases):
    """Of (text, our call, NumPy's, units of the last place) those whose outcomes are not the same."""
    with np.errstate(all="ignore"):
        compared = ((text, difference(outcome(ours), outcome(theirs), ulp)) for text, ours, theirs, ulp in cases)
        return [f"{text}: {difference}" for text, difference in compared if difference]


def numpys(name, function, a, b):
    """NumPy's outcome, or what ours is where NumPy refuses although the answer is known, or answers what we refuse."""
    if name in ORDERS and any(np.iscomplexobj(x) for x in (a, b)):
        raise TypeError("complex numbers have no order")
    huge = any(type(x) is int and not -(2**63) <= x < 2**63 for x in (a, b))
    if huge and name.startswith("logical"):
        a, b = (bool(x) if type(x) is int else x for x in (a, b))
    if huge and name in COMPARISONS and any(getattr(x, "dtype", None) == bool for x in (a, b)):
        a, b = (x.astype(int) if isinstance(x, np.ndarray) else x for x in (a, b))
    return function(a, b)


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("dtype", TYPES)
def test_an_array_and_a_number(dtype, name):
    host = elements(dtype)
    u = pt.asarray(host, team=pt.Team.local(2, "host"))
    ours, theirs = BINARY[name]
    ulp, cases = ROUNDED.get(name, 0), []
    for n in NUMBERS:
        for a, b, x, y in ((u, n, host, n), (n, u, n, host)):
            mine, expected = (lambda a=a, b=b: ours(a, b)), (lambda x=x, y=y: numpys(name, theirs, x, y))
            cases.append((f"{name}({x!r}, {y!r})", mine, expected, ulp))
    assert differences(cases) == []


def changed(make, change):
    """A copy, changed in place."""
    copy = make()
    change(copy)
    return copy


@pytest.mark.parametrize("name", IN_PLACE)
@pytest.mark.parametrize("dtype", TYPES)
def test_in_place(dtype, name):
    host = elements(dtype)
    u = pt.asarray(host, team=pt.Team.local(2, "host"))
    apply, cases = getattr(operator, name), []
    for n in NUMBERS:
        if dtype == "bool" and name == "ipow" and type(n) is int and n < 0:
            # Refused by both: NumPy sees first that integers do not go into bool, partita that the power is negative.
            continue
        mine, theirs = (lambda n=n: changed(u.copy, lambda x: apply(x, n))), (lambda n=n: changed(host.copy, lambda x: apply(x, n)))
        cases.append((f"{name}({host!r}, {n!r})", mine, theirs, 4 * (name == "ipow")))
    assert differences(cases) == []


def kept(n, dtype):
    """A number as NumPy assigns it to an array of that type, or what it raises."""
    return changed(lambda: np.zeros(1, dtype), lambda x: x.__setitem__(0, n))[0]


KEYS = {"element": 1, "slice": np.s_[1:], "steps": np.s_[::2], "all": ..., "list": [0, 2], "mask": np.array([True, False, True, False])}


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize("dtype", TYPES)
def test_assigned_numbers(dtype, key):
    host = elements(dtype)
    host = np.concatenate([host, host])[:4]
    u = pt.asarray(host, team=pt.Team.local(2, "host"))
    ours = pt.asarray(key, team=u.team) if isinstance(key, np.ndarray) else key
    cases = []
    for n in NUMBERS:
        mine = lambda n=n: changed(u.copy, lambda x: x.__setitem__(ours, n))
        theirs = lambda n=n: changed(host.copy, lambda x: x.__setitem__(key, n))
        cases.append((f"{host!r}[{key}] = {n!r}", mine, theirs, 0))
    assert differences(cases) == []


def test_a_mask_leaves_the_other_integers_as_they_are():
    host = np.array([2**62 + 1, 5, -(2**62) - 1])
    u = pt.asarray(host, team=pt.Team.local(2, "host"))
    u[u == 5] = 0.5
    assert u.tolist() == [2**62 + 1, 0, -(2**62) - 1]


@pytest.mark.parametrize("dtype", TYPES)
def test_filled_and_padded_with_numbers(dtype):
    """NumPy's assignment is the rule for all; its own `full` and `pad` wrap floats, and `pad` integers, without a word."""
    host = elements(dtype)
    u = pt.asarray(host, team=pt.Team.local(2, "host"))
    cases = []
    for n in NUMBERS:
        def line(n=n):
            return np.full(3, kept(n, dtype))

        def padded(n=n):
            return np.pad(host, 1, constant_values=kept(n, dtype))

        cases += [
            (f"full(3, {n!r}, {dtype})", lambda n=n: pt.full(3, n, dtype, team=u.team), line, 0),
            (f"full_like({dtype}, {n!r})", lambda n=n: pt.full_like(u[:3], n), lambda line=line: line()[: len(host)], 0),
            (f"pad({dtype}, {n!r})", lambda n=n: pt.pad(u, 1, constant_values=n), padded, 0),
        ]
    assert differences(cases) == []


@pytest.mark.parametrize("dtype", TYPES)
def test_chosen_and_clipped_numbers(dtype):
    host = elements(dtype)
    u = pt.asarray(host, team=pt.Team.local(2, "host"))
    cases = []
    for n in NUMBERS:
        def chosen(n=n):
            # NumPy's `where` wraps such integers without a word, but its operators refuse them.
            return np.where(host != 0, host, np.add(np.zeros(1, dtype), n) if type(n) is int else n)

        cases.append((f"where(, {dtype}, {n!r})", lambda n=n: pt.where(u != 0, u, n), chosen, 0))
        if dtype.startswith("complex") or isinstance(n, complex):
            continue
        for low, high in ((None, n), (n, None), (0, n), (n, 100)):
            mine, theirs = (lambda a=low, b=high: pt.clip(u, a, b)), (lambda a=low, b=high: np.clip(host, a, b))
            cases.append((f"clip({dtype}, {low!r}, {high!r})", mine, theirs, 0))
    assert differences(cases) == []


@pytest.mark.parametrize("dtype", INTEGERS)
def test_ranges_of_numbers(dtype):
    team = pt.Team.local(2, "host")
    cases = []
    for words in ((300,), (250, 260), (-1, 3), (0.5, 3), (0.0, 300.0), (10, -5, -1), (0, 1000, 300), (2**31 - 2, 2**31 + 2), (5, 5)):
        cases.append((f"arange{words}", lambda w=words: pt.arange(*w, dtype=dtype, team=team), lambda w=words: np.arange(*w, dtype=dtype), 0))
    assert differences(cases) == []


@pytest.mark.parametrize("dtype", TYPES)
def test_lists_of_numbers(dtype):
    team, cases = pt.Team.local(2, "host"), []
    for n in NUMBERS:
        for made in (n, [n], [[0, n], (1, 2)]):
            mine, theirs = (lambda m=made: pt.asarray(m, dtype, team=team)), (lambda m=made: np.asarray(m, dtype))
            cases.append((f"asarray({made!r}, {dtype})", mine, theirs, 0))
    assert differences(cases) == []


def test_random_bounds_that_a_type_does_not_hold():
    rng, numpys = pt.random.default_rng(1), np.random.default_rng(1)
    for low, high in ((0, 300), (-1, 5), (0, 2**70)):
        for generator in (rng, numpys):
            with pytest.raises(ValueError):
                generator.integers(low, high, 3, "uint8")
    for generator in (rng, numpys):
        with pytest.raises(OverflowError, match="range"):
            generator.uniform(-1e308, 1e308, 3)
    assert set(rng.integers(254, 256, 50, "uint8").numpy().tolist()) == {254, 255}


def close_elements(name):
    """Also integers that float64 does not tell apart."""
    close = np.array([2**63 - 1, 2**63 - 2, 2**63 - 7], name) if name in ("int64", "uint64") else np.array([], name)
    return np.concatenate([elements(name), close])


def compared_by_value(team, dtype, others):
    """What differs from NumPy when every element of one type is compared with every one of the others."""
    left = close_elements(dtype)
    for other in others:
        right = close_elements(other)
        a, b = pt.asarray(left, team=team)[:, None], pt.asarray(right, team=team)[None, :]
        for name in COMPARISONS:
            # Complex numbers have no order here, as in the array API standard.
            if "complex" not in dtype + other or name in ("eq", "ne"):
                ours, theirs = BINARY[name]
                found = difference(outcome(lambda: ours(a, b)), theirs(left[:, None], right[None, :]))  # noqa: B023
                yield f"{name} of {dtype} and {other}: {found}" if found else ""


@pytest.mark.parametrize("dtype", TYPES)
def test_arrays_of_two_types_compare_by_value(host_team, dtype):
    """Also int64 with uint64, whose common type, float64, would round them."""
    differences = list(compared_by_value(host_team, dtype, TYPES))
    assert differences and not any(differences), "\n".join(differences)


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint64"])
def test_signed_and_unsigned_integers_compare_by_value(team, dtype):
    differences = list(compared_by_value(team, dtype, ["int64", "uint64"]))
    assert differences and not any(differences), "\n".join(differences)


def test_the_texts_are_numpys():
    u, host = pt.zeros(2, pt.uint8, team=pt.Team.local(1, "host")), np.zeros(2, np.uint8)
    for call in (
        lambda x: x + 300, lambda x: -1 - x, lambda x: x**300, lambda x: x << 300, lambda x: x.__iadd__(300), lambda x: x.__setitem__(0, -1),
        lambda x: x.__setitem__(0, 300.7), lambda x: x.__setitem__(..., math.nan), lambda x: x.__setitem__(0, math.inf),
    ):  # fmt: skip
        texts = []
        for array in (u, host):
            with pytest.raises((OverflowError, ValueError)) as raised:
                call(array)
            texts.append(str(raised.value))
        assert texts[0] == texts[1]


@pytest.mark.parametrize("counts", INTEGERS)
@pytest.mark.parametrize("dtype", INTEGERS)
def test_shifts_by_arrays_of_any_count(team, dtype, counts):
    host, by = elements(dtype), np.array([0, 1, 7, 8, 9, 15, 16, 31, 32, 33, 63, 64, 65, 100, 127], counts)
    by = np.concatenate([by, -by]) if counts.startswith("i") else by
    host, by = (x.reshape(-1) for x in np.broadcast_arrays(host[:, None], by))
    u, v = pt.asarray(host, team=team), pt.asarray(by, team=team)
    cases = [
        (f"{dtype} << {counts}", lambda: u << v, lambda: host << by, 0),
        (f"{dtype} >> {counts}", lambda: u >> v, lambda: host >> by, 0),
    ]
    assert differences(cases) == []


NUMPY_KINDS = ["bool", "uint8", "int32", "int64", "float16", "float32", "float64", "complex64", "complex128"]


@pytest.mark.parametrize("kind", NUMPY_KINDS)
def test_numbers_of_numpy_are_numbers(kind):
    """They have types of their own, and are no data that travels."""
    for dtype in NUMPY_KINDS:
        host = np.arange(6).astype(dtype)
        u = pt.asarray(host)
        for number in np.array([0, 1, 3]).astype(kind):
            for given, expected in (
                (u + number, host + number),
                (number * u, number * host),
                (u == number, host == number),
                (pt.where(u == 1, number, u), np.where(host == 1, number, host)),
            ):
                assert given.dtype == expected.dtype, (dtype, number)
                np.testing.assert_array_equal(given.numpy(), expected)
    v = pt.zeros(1000) + 1
    v.numpy()
    assert "8000 bytes read" in (v * np.dtype(kind).type(1)).explain()


@pytest.mark.parametrize("kind", [*NUMPY_KINDS, "uint64"])
@pytest.mark.filterwarnings("ignore:Casting complex values")
def test_numbers_of_numpy_are_assigned_as_numbers(monkeypatch, kind):
    """As NumPy stores them, with its errors, and without an array made of them."""
    cases = []
    for dtype in NUMPY_KINDS:
        host = np.arange(6).astype(dtype)
        u = pt.asarray(host)
        for number in np.array([0, 1, 200]).astype(kind):
            for key in (2, np.s_[1:3], ...):
                mine = lambda u=u, key=key, n=number: changed(u.copy, lambda x: x.__setitem__(key, n))
                theirs = lambda host=host, key=key, n=number: changed(host.copy, lambda x: x.__setitem__(key, n))
                cases.append((f"{dtype}[{key}] = {number!r}", mine, theirs, 0))
    assert differences(cases) == []
    monkeypatch.setattr("partita._core.base.of_host", lambda *_, **__: pytest.fail("an array was made of a number"))
    u = pt.zeros(8, kind)
    u[2:4] = np.ones(1, kind)[0]
    assert u.numpy().tolist() == [0, 0, 1, 1, 0, 0, 0, 0]


_EQUAL = """
import sys, numpy as np, partita as pt
h = np.linspace(0.1, 1, 9)
u = pt.asarray(h, team=pt.Team(int(sys.argv[1]), "host"))
def compare(a, b):
    for ours, theirs in ((u * a + b, h * a + b), ((u - a) * (u + b), (h - a) * (h + b)), (pt.where(u > a, b, a), np.where(h > a, b, a)),
                         (a / (u + b), a / (h + b)), (pt.minimum(u * a, u * b), np.minimum(h * a, h * b))):
        np.testing.assert_allclose(ours.numpy(), theirs, rtol=1e-14)
compare(FIRST)
print("warm", file=sys.stderr, flush=True)
for numbers in ((2.0, 3.0), (3.0, 2.0), (0.0, -0.0), (-0.0, 0.0), (1.0, 1.0), (0.0, 1.0), (1.0, 0.5), (-1.0, 1.0), (2, 2), (2, 3.5)):
    compare(*map(float, numbers))
"""


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("first", ["2.5, 2.5", "1.0, 1.0", "0.0, -0.0", "0.5, 3.0"])
def test_numbers_are_never_merged_because_they_are_equal(first, parts):
    """Kernels that were made for two equal numbers compute with different ones, and none is compiled for them."""
    environment = {**os.environ, "PARTITA_DEBUG": "2"}
    program = [sys.executable, "-c", _EQUAL.replace("FIRST", first), str(parts)]
    done = subprocess.run(program, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    before, after = done.stderr.split("warm\n")
    assert before.count("compile for") == 5 and after.count("compile for") == 0, after[:2000]


def test_new_numbers_take_no_memory():
    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * resource.getpagesize()

    u = pt.zeros(100, dtype="float32")

    def run(steps):
        for k in steps:
            u[k % 100] = float(k)
            v = (u * (0.25 + k) + k) / (1.0 + k)
            v.numpy()

    run(range(300))
    before = resident()
    run(range(300, 2300))
    assert resident() - before < 4 << 20
    assert u.numpy().tolist() == [float(k) for k in range(2200, 2300)]


def test_nan_of_half_precision_keep_their_bits(team):
    """Numbers are arguments of kernels by their bits: all 2046 on the host, some on slower devices."""
    patterns = np.array([sign | nan for sign in (0, 0x8000) for nan in range(0x7C01, 0x8000)], np.uint16)
    patterns = patterns[:: 1 if team.devices[0].kind == "host" else 61]
    u, host = pt.zeros(len(patterns), "float16", team=team), np.zeros(len(patterns), "float16")
    for k, nan in enumerate(patterns.view(np.float16)):
        u[k] = host[k] = nan
    filled = [pt.full(3, nan, team=team).numpy().view(np.uint16)[1] for nan in patterns.view(np.float16)]
    doubles = [pt.full(3, float(nan), "float16", team=team).numpy().view(np.uint16)[1] for nan in patterns.view(np.float16)]
    assert host.view(np.uint16).tolist() == patterns.tolist()
    assert u.numpy().view(np.uint16).tolist() == filled == doubles == patterns.tolist()
