"""`errstate`: floating-point conditions raise as NumPy's do in the same programs, at the end of the block."""

import itertools
import os
import subprocess
import sys
import threading

import numpy as np
import partita as pt
import pytest

KINDS = ("divide", "over", "invalid")
ONE = [
    "sqrt", "cbrt", "square", "reciprocal", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "arcsin",
    "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "absolute", "fabs", "negative", "sign", "floor", "rint",
    "deg2rad", "rad2deg", "spacing", "isnan", "signbit", "frexp", "modf",
]  # fmt: skip
TWO = [
    "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "fmod", "power", "float_power", "arctan2", "hypot", "minimum",
    "fmax", "logaddexp", "equal", "less", "copysign", "heaviside", "divmod",
]  # fmt: skip
SPECIAL = {
    "float64": [0.0, -0.0, 1.0, -1.0, 0.5, 1.5e308, -1.5e308, 5e-324, 710.0, np.inf, -np.inf, np.nan],
    "float32": [0.0, 1.0, -1.0, 3e38, 1e-45, 89.0, np.inf, np.nan],
    "int64": [0, 1, -1, 5, -(2**63)],
}
#: What NumPy's own code meets on its way to a result that is none: quotients that overflow are multiplied by 0, numbers far apart
#: are subtracted, and 1 / 0 of integers is converted.
DETOURS = {("floor_divide", "invalid"), ("divmod", "invalid"), ("logaddexp", "invalid"), ("logaddexp", "over"), ("reciprocal", "invalid")}


def kinds_of(package, function, *args):
    """The conditions that raise, each alone, and the words."""
    found, words = set(), set()
    for kind in KINDS:
        try:
            with package.errstate(all="ignore"), package.errstate(**{kind: "raise"}):
                function(*args)
        except FloatingPointError as error:
            found.add(kind)
            words.add(str(error))
    return found, words


@pytest.mark.parametrize("name", ONE + TWO)
def test_the_same_conditions_as_numpys(name):
    """Of special values one by one."""
    team, seen = pt.Team(1, "host"), 0
    for dtype, values in SPECIAL.items():
        if dtype == ("int64" if name == "power" else "float32" if name in TWO else None):
            continue
        for operands in itertools.product(values, repeat=1 if name in ONE else 2):
            hosts = [np.array([x], dtype) for x in operands]
            theirs, words = kinds_of(np, getattr(np, name), *hosts)
            mine, said = kinds_of(pt, getattr(pt, name), *(pt.asarray(host, team=team) for host in hosts))
            detours = {kind for kind in KINDS if (name, kind) in DETOURS}
            if name in ("power", "float_power") and np.isinf(operands[1]):
                theirs = set()  # IEEE 754: exact; on some processors NumPy's code meets conditions on its way
            assert mine - detours == theirs - detours, (name, operands, dtype, mine, theirs)
            assert said <= words or mine & detours, (said, words)
            seen += len(mine)
    silent = ("arctan arcsinh cbrt tanh absolute fabs negative sign floor rint deg2rad spacing isnan signbit frexp modf arctan2 minimum fmax "
              "equal less copysign heaviside logaddexp").split()  # fmt: skip
    assert bool(seen) != (name in silent)


PROGRAMS = {
    "operator": lambda np: 1 / np.zeros(7),
    "reflected": lambda np: np.float64(3) / np.zeros(7) if np is pt else 3 / np.zeros(7),
    "in place": lambda np: np.zeros(7).__itruediv__(0),
    "power": lambda np: np.zeros(7) ** -1,
    "square": lambda np: np.full(7, 1e200) ** 2,
    "other power": lambda np: np.zeros(7) ** -3,
    "root": lambda np: np.full(7, -1.0) ** 0.5,
    "number": lambda np: np.full(7, 1e300) * 1e300,
    "sum": lambda np: np.full((3, 4), 1e308).sum(axis=1),
    "sum of both infinities": lambda np: np.array([np.inf, -np.inf]).sum(),
    "sum of infinity": lambda np: np.array([np.inf, 1]).sum(),
    "prod": lambda np: np.prod(np.full(9, 1e60)),
    "mean": lambda np: np.full(9, 1e308).mean(),
    "cumsum": lambda np: np.cumsum(np.full(9, 1e308)),
    "cumprod": lambda np: np.cumprod(np.full(9, 1e60)),
    "reduce": lambda np: np.add.reduce(np.full(9, 1e308)),
    "accumulate": lambda np: np.multiply.accumulate(np.full(9, 1e60)),
    "outer": lambda np: np.divide.outer([1.0, 2.0], np.array([0.0, 1.0])),
    "matmul": lambda np: np.full((3, 3), 1e200) @ np.full((3, 3), 1e200),
    "cast": lambda np: np.full(3, 1e300).astype("float32"),
    "cast of NaN": lambda np: np.full(3, np.nan).astype("int32"),
    "cast of numbers": lambda np: np.full(3, -3.5).astype("int8"),
    "where": lambda np: np.divide(1.0, np.array([0.0, 2.0]), out=np.zeros(2), where=np.array([False, True])),
    "where not": lambda np: np.divide(1.0, np.array([0.0, 2.0]), out=np.zeros(2), where=np.array([True, True])),
    "isclose": lambda np: np.isclose(np.array([np.inf, 1]), np.inf),
    "nanmean": lambda np: np.nanmean(np.array([[np.nan, 1], [2, 3]]), axis=0),
    "nanmean of NaN": lambda np: np.nanmean(np.full(3, np.nan)),
    "nanmean of much": lambda np: np.nanmean(np.full(9, 1e308)),
    "nanstd of NaN alone": lambda np: np.nanstd(np.array([[np.nan, np.nan], [1.0, 2.0]]), axis=1),
    "nanvar": lambda np: np.nanvar(np.array([1e300, -1e300, np.nan])),
    "std": lambda np: np.array([1.0, np.inf]).std(),
    "var": lambda np: np.var(np.array([1.0, 2.0, 3.0])),
    "linspace": lambda np: np.linspace(0, 1, 9),
    "gradient": lambda np: np.gradient(np.array([1.0, 2.0, 4.0])),
    "comparison": lambda np: np.array([np.nan, 1]) < 1,
    "maximum": lambda np: np.maximum(np.array([np.nan, 1]), 1),
    "integers": lambda np: np.array([1, 2]) // np.array([0, 1]),
    "remainder of integers": lambda np: np.array([1, 2]) % 0,
    "negative root": lambda np: np.sqrt(np.array([1.0, -1.0])),
    "assigned": lambda np: np.zeros(3, "float32").__setitem__(slice(None), np.full(3, 1e300)),
    "assigned NaN": lambda np: np.zeros(3, "int32").__setitem__(slice(1, None), np.full(2, np.nan)),
    "assigned number": lambda np: np.zeros(3, "float32").__setitem__(0, 1e300),
    "assigned where true": lambda np: np.zeros(3, "float32").__setitem__(np.array([True, False, True]), 1e300),
    "assigned by indices": lambda np: np.zeros(3, "float32").__setitem__([0, 2], np.full(2, 1e300)),
    "assigned infinity": lambda np: np.zeros(3, "float32").__setitem__(0, np.inf),
    "assigned of the type": lambda np: np.zeros(3).__setitem__(slice(2), np.full(2, 1e300)),
    "fill": lambda np: np.zeros(3, "float16").fill(1e30),
    "filled": lambda np: np.full(3, 1e300, dtype="float32"),
    "filled with infinity": lambda np: np.full(3, np.inf, dtype="float32"),
    "numbers": lambda np: np.asarray([1e300, 1.0], dtype="float32"),
    "concatenate": lambda np: np.concatenate([np.full(3, 1e300), np.ones(2)], dtype="float32", casting="unsafe"),
    "cast of integers": lambda np: np.full(3, 10**6).astype("float16"),
    "asarray": lambda np: np.asarray(np.full(2, np.nan), dtype="int32"),
    "nextafter to NaN": lambda np: np.nextafter(np.ones(2), np.nan),
    "nextafter": lambda np: np.nextafter(np.full(3, 1.7976931348623157e308), np.inf),
}


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("parts", [1, 3])
def test_programs_raise_what_numpys_do(parts, name):
    with pt.default_team(pt.Team(parts, "host")):
        mine, words = kinds_of(pt, PROGRAMS[name], pt)
    theirs, said = kinds_of(np, PROGRAMS[name], np)
    assert (mine, words) == (theirs, said)


def _rng(np):
    return np.random.default_rng(1)


INF = float("inf")
#: Calls of `fft`, `linalg` and `random`: NumPy's transforms and determinants report, LAPACK's errors are errors always, and draws
#: report nothing.
CALLS = {
    "fft of infinity": lambda np: np.fft.fft(np.array([1, INF, 2, -INF])),
    "fft": lambda np: np.fft.fft(np.full(4, 1e308)),
    "fft of numbers": lambda np: np.fft.fft(np.array([1.0, 2.0, -3.0])),
    "fft of NaN": lambda np: np.fft.fft(np.array([1, INF - INF, 2])),
    "ifft": lambda np: np.fft.ifft(np.full(7, 1.7e308)),
    "fft2": lambda np: np.fft.fft2(np.full((4, 4), INF)),
    "fftn": lambda np: np.fft.fftn(np.full((3, 3), 1.7e308)),
    "fft of other lengths": lambda np: np.fft.fft(np.full((3, 127), INF), axis=1),
    "rfft": lambda np: np.fft.rfft(np.array([1, INF, -INF])),
    "even rfft": lambda np: np.fft.rfft(np.array([1, INF, -INF, 2])),
    "irfft": lambda np: np.fft.irfft(np.full(3, 1e308)),
    "hfft": lambda np: np.fft.hfft(np.full(4, 1.7e308)),
    "det": lambda np: np.linalg.det(np.eye(2) * 1e200),
    "det of infinity": lambda np: np.linalg.det(np.full((2, 2), INF)),
    "slogdet": lambda np: np.linalg.slogdet(np.zeros((2, 2))),
    "inv": lambda np: np.linalg.inv(np.zeros((2, 2))),
    "small inv": lambda np: np.linalg.inv(np.eye(2) * 1e-310),
    "small pinv": lambda np: np.linalg.pinv(np.eye(2) * 1e-310),
    "solve": lambda np: np.linalg.solve(np.zeros((2, 2)), np.ones(2)),
    "cholesky": lambda np: np.linalg.cholesky(-np.eye(2)),
    "matrix_power": lambda np: np.linalg.matrix_power(np.full((2, 2), 1e200), 2),
    "vector norm": lambda np: np.linalg.vector_norm(np.full(2, 1e200)),
    "cond": lambda np: np.linalg.cond(np.zeros((2, 2))),
    "normal": lambda np: _rng(np).normal(0, INF, size=100),
    "exponential": lambda np: _rng(np).exponential(1e308, size=1000),
    "lognormal": lambda np: _rng(np).lognormal(1000, 1, size=100),
    "pareto": lambda np: _rng(np).pareto(1e-3, size=100),
    "beta": lambda np: _rng(np).beta(1e-300, 1e-300, size=100),
    "standard_t": lambda np: _rng(np).standard_t(1e-3, size=100),
    "dirichlet": lambda np: _rng(np).dirichlet([1e-3] * 3, size=10),
    "multivariate_normal": lambda np: _rng(np).multivariate_normal([INF, 0], [[1, 0], [0, 1]], size=10),
    "choice": lambda np: _rng(np).choice(5, 10, p=[0.5, 0.5, 0, 0, 0]),
    "legacy": lambda np: np.random.RandomState(1).lognormal(1000, 1, 9),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.filterwarnings("ignore")
def test_transforms_factorizations_and_draws_raise_what_numpys_do(parts, name):
    def outcome(np):
        try:
            return kinds_of(np, CALLS[name], np)
        except np.linalg.LinAlgError as error:
            return str(error)

    with pt.default_team(pt.Team(parts, "host")):
        assert outcome(pt) == outcome(np)


def test_the_end_of_the_block_raises_the_first(host_team):
    u, reached = pt.asarray([0.0, 1.0, -1.0], team=host_team), []
    with pytest.raises(FloatingPointError, match="^divide by zero encountered in log\n") as raised:
        with pt.errstate(divide="raise", invalid="raise"):
            good = pt.sqrt(u + 4)
            pt.log(abs(u))
            reached.append(1)
            pt.sqrt(u)
            reached.append(2)
    assert reached == [1, 2] and raised.value.__notes__[0].startswith(f"recorded in {__file__}, line ")
    np.testing.assert_array_equal(good.numpy(), np.sqrt(np.array([4.0, 5.0, 3.0])))
    with pytest.raises(KeyError):
        with pt.errstate(all="raise"):
            1 / u
            raise KeyError


def test_modes_are_those_of_the_recording(host_team):
    """Neither what was recorded before, nor reading after the block, nor an inner block that is silent raises."""
    u = pt.zeros(5, team=host_team)
    before = 1 / u
    with pt.errstate(all="raise"):
        before.eval()
        with pt.errstate(divide="ignore"):
            inner = 2 / u
        inner.numpy()
    assert (1 / u).numpy().tolist() == [np.inf] * 5
    with pytest.raises(FloatingPointError):
        with pt.errstate(divide="raise"):
            with pt.errstate(invalid="raise"):
                1 / u
            pytest.fail("the inner block has the outer one's words")


def test_many_operations_hold_no_memory(host_team):
    """Blocks of many operations compute in between, and name the first all the same."""
    u = pt.ones(10_000, team=host_team).eval()
    device = u.team.devices[0]
    before, most = device.memory["in_use_bytes"], 0
    with pytest.raises(FloatingPointError, match="divide by zero"):
        with pt.errstate(all="raise"):
            for k in range(400):
                v = (u * 3.0 + k) / (u - 1.0 if k == 200 else u)
                if k == 300:
                    pt.exp(u * 1e4)
                most = max(most, device.memory["in_use_bytes"] - before)
    assert v.size and most < 100 * u.nbytes


def test_settings_are_numpys(host_team):
    assert pt.geterr() == {"divide": "ignore", "over": "ignore", "under": "ignore", "invalid": "ignore"}
    with pt.errstate(all="raise", over="warn"):
        assert pt.geterr() == {"divide": "raise", "over": "warn", "under": "ignore", "invalid": "raise"}
        assert pt.seterr(all="ignore")["divide"] == "raise"
    assert set(pt.geterr().values()) == {"ignore"}
    u = pt.zeros(3, team=host_team)
    before = pt.seterr(divide="raise")
    try:
        # Outside of blocks operations raise where they are.
        with pytest.raises(FloatingPointError):
            1 / u
    finally:
        pt.seterr(**before)
    1 / u
    for wrong, error in [
        ({"under": "raise"}, pt.UnsupportedError), ({"divide": "call"}, pt.UnsupportedError), ({"all": "log"}, pt.UnsupportedError),
        ({"over": "print"}, pt.UnsupportedError), ({"over": "shout"}, ValueError),
    ]:  # fmt: skip
        for function in (pt.seterr, pt.errstate):
            with pytest.raises(error, match="expected 'ignore', 'warn' or 'raise'"):
                function(**wrong)
    with pytest.raises(TypeError, match="given colour"):
        pt.errstate(colour="raise")
    block = pt.errstate(all="ignore")
    with block, pytest.raises(TypeError, match="twice"):
        block.__enter__()


def test_decorators_and_threads(host_team):
    u, found = pt.zeros(3, team=host_team), []

    @pt.errstate(divide="raise")
    def inverse(x):
        return 1 / x

    for _ in range(2):
        with pytest.raises(FloatingPointError):
            inverse(u)
    assert inverse(u + 1).tolist() == [1, 1, 1]

    def other():
        found.append((pt.geterr()["divide"], (1 / u).tolist()))

    with pt.errstate(all="raise"):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert found == [("ignore", [np.inf] * 3)]


_KERNELS = """
import sys, numpy as np, partita as pt
def halve(v):
    v *= 0.5
def compute():
    u = pt.asarray(np.arange(1.0, 7.0), "float32", team=pt.Team(2, sys.argv[1]))
    for x in (pt.sqrt(1 / u), (u * u).sum(), u.astype("int32"), pt.cumsum(u), u @ u, u.mean(), u // 2 + pt.exp(u)):
        x.eval()
    pt.Loop(halve).run(u, steps=5)
if sys.argv[2] == "after a block":
    with pt.errstate(all="raise"):
        compute()
print("begin", file=sys.stderr, flush=True)
compute()
"""


@pytest.mark.parametrize("kind", ["host", "wgpu"])
def test_kernels_outside_of_blocks_are_as_ever(kind):
    """The text of each, also in the language of a GPU."""
    if kind not in {device.kind for device in pt.devices()}:
        pytest.skip(f"no {kind}")

    def texts(words):
        environment = {**os.environ, "PARTITA_DEBUG": "3"}
        done = subprocess.run([sys.executable, "-c", _KERNELS, kind, words], env=environment, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr[-2000:]
        return [{text for text in part.split("[partita] ") if text.startswith("compile for")} for part in done.stderr.split("begin\n")]

    (none, plain), (inside, after) = texts("alone"), texts("after a block")
    assert not none and len(plain) > 5 and all("kernel " in text for text in plain) and (kind == "host" or all("workgroup" in text for text in plain))
    # A kernel that is kept is not compiled again.
    assert len(inside - plain) > 5 and after <= plain <= inside | after


def test_numpys_errstate_is_of_numpys_arrays_alone(host_team):
    u = pt.zeros(3, team=host_team)
    with np.errstate(all="raise"):
        assert (1 / u).tolist() == [np.inf] * 3
    with np.errstate(all="ignore"), pytest.raises(FloatingPointError), pt.errstate(divide="raise"):
        1 / u


def test_loops_raise_at_the_end_of_run(host_team):
    def step(u, v):
        u -= 1.0
        v[:] = 1.0 / u

    def state(first):
        return pt.asarray([first, 400.5, 300.25], team=host_team), pt.zeros(3, team=host_team)

    loop, (u, v) = pt.Loop(step), state(100.5)
    with pt.errstate(divide="raise"):
        loop.run(u, v, steps=1)
        loop.run(u, v, steps=50)
        assert loop.is_replaying and u.tolist() == [49.5, 349.5, 249.25] and v[0] == 1 / 49.5
        u[0], done = 25.0, []
        with pytest.raises(FloatingPointError, match="^divide by zero encountered in divide\n") as raised:
            loop.run(u, v, steps=40, callback=done.append, every=10)
        assert done == [10, 20, 30, 40] and u[0] == -15 and raised.value.__notes__[0].startswith(f"recorded in {__file__}, line ")
        loop.run(u, v, steps=40)
    # Without conditions that raise, and with others, the step is another.
    for words in ({}, {"over": "raise"}):
        u, v = state(25.0)
        with pt.errstate(**words):
            loop.run(u, v, steps=40)
        assert u[0] == -15


def test_a_block_inside_a_step_is_refused_unless_the_run_is_in_one(host_team):
    def step(u):
        with pt.errstate(divide="raise"):
            u /= u - u

    u = pt.ones(4, team=host_team)
    with pytest.raises(pt.UnsupportedError, match="the block around Loop.run"):
        pt.Loop(step).run(u, steps=3)
    u = pt.ones(4, team=host_team)
    with pytest.raises(FloatingPointError, match="in divide"):
        with pt.errstate(invalid="raise"):
            pt.Loop(step).run(u, steps=3)
