"""Names that are not there: what to do, or what was meant."""

import ast
import inspect
import pickle
import re
import subprocess
import sys
import traceback
import types
import warnings
from pathlib import Path

import numpy as np
import partita as pt
import pytest


@pytest.mark.parametrize("wrong, right", [("lispace", "linspace"), ("zeroes", "zeros"), ("arrange", "arange"), ("concatinate", "concatenate")])
def test_near_names_are_suggested(wrong, right):
    with pytest.raises(AttributeError, match=f"has no attribute {wrong!r}; did you mean {right}\\?") as raised:
        getattr(pt, wrong)
    assert raised.value.name == wrong and type(raised.value).__name__ == "AttributeError"
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)
    shown = "".join(traceback.format_exception(raised.value)).rstrip()
    assert shown.endswith(f"AttributeError: module 'partita' has no attribute {wrong!r}; did you mean {right}?")
    assert not hasattr(pt, wrong) and getattr(pt, wrong, 3) == 3


def test_near_names_of_arrays_are_suggested_by_python():
    """By the interpreter, which looks for them when it prints an error that nobody caught."""
    u = pt.ones((2, 3), team=pt.Team(1, "host"))
    for owner, text, wrong, right in [(u, "u", "meen", "mean"), (u[1:], "u[1:]", "reshap", "reshape"), (u[0, 0], "u[0, 0]", "is_intger", "is_integer")]:
        with pytest.raises(AttributeError, match=f"'Array' object has no attribute {wrong!r}$") as raised:
            getattr(owner, wrong)
        assert raised.value.name == wrong and raised.value.obj is owner
        program = f"import partita as pt; u = pt.ones((2, 3), team=pt.Team(1, 'host')); {text}.{wrong}"
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=120)
        assert done.stderr.rstrip().endswith(f"'Array' object has no attribute {wrong!r}. Did you mean: {right!r}?")


def test_far_names_are_not():
    u = pt.ones(3, team=pt.Team(1, "host"))
    for owner in (pt, u, u[0]):
        with pytest.raises(AttributeError, match="has no attribute 'qqqzzz'$"):
            owner.qqqzzz
        with pytest.raises(AttributeError, match="has no attribute '__wrong__'$"):
            owner.__wrong__


def test_remedies_can_be_followed():
    """Calls that are recommended work, and what NumPy has not for numbers is not recommended."""
    absent = [name for name in np.__all__ if name != "broadcast" and not hasattr(pt, name)]
    assert len(absent) > 20
    for name in absent:
        with pytest.raises(AttributeError) as raised:
            getattr(pt, name)
        text = str(raised.value)
        assert ": " in text and "did you mean" not in text, text
        follow(text)
    for name in ("float128", "busday_count", "is_busday", "isnat", "str_", "memmap", "test"):
        with pytest.raises(AttributeError, match="^((?!numpy\\.?[a-z]*\\().)*$"):
            getattr(pt, name)


def follow(text):
    """Evaluates what an error recommends to use of NumPy's."""
    names = {"u": pt.ones(3, team=pt.Team(1, "host")), "numpy": np, "asarray": pt.asarray, "M": 5, "beta": 2.0, "seed": 1}
    for word in re.findall(r"use ((?:asarray\()?numpy\.\S+?(?:\([^;]*\))?)(?=[,;]|$)", text):
        eval(word.replace("asarray(", "").replace("(...))", "") if "(...)" in word else word, names)


#: Names of NumPy 1, and what they are called now; None: what is said of them names nothing of Partita's.
FORMER = {
    "in1d": "isin", "product": "prod", "cumproduct": "cumprod", "alltrue": "all", "sometrue": "any", "round_": "round", "NaN": "nan", "Inf": "inf",
    "Infinity": "inf", "infty": "inf", "PINF": "inf", "trapz": "trapezoid", "msort": "sort", "float_": "float64", "complex_": "complex128",
    "cfloat": "complex128", "singlecomplex": "complex64", "obj2sctype": r"dtype\(obj\).type", "issubsctype": "issubdtype", "recfromcsv": "genfromtxt",
    "cast": r"asarray\(arr, dtype=dtype\)", "asfarray": "asarray", "find_common_type": "result_type", "asscalar": r"u.item\(\)", "alen": r"len\(u\)",
    "mat": "arrays and @", "longfloat": "float64", "longcomplex": "complex128", "unicode_": "numbers and bools only", "int": "Python's", "float": "Python's",
    "dual": None, "compat": None, "who": None, "lookfor": None, "add_newdoc": None, "fastCopyAndTranspose": r"arr.T.copy\(\)",
}  # fmt: skip


@pytest.mark.parametrize("name", FORMER)
def test_former_names_of_numpy_have_the_right_remedy(name):
    """Not by a name that looks like them."""
    with pytest.raises(AttributeError) as raised:
        getattr(pt, name)
    text, now = str(raised.value), FORMER[name]
    if now is None:
        assert "did you mean" not in text
    else:
        assert re.search(f"(did you mean |[: `]){now}\\b|{now}", text.partition("no attribute")[2]), text
    follow(text)


@pytest.mark.parametrize("owner, wrong, right", [
    ("random", "PCG46", "PCG64"), ("random", "norml", "normal"), ("random.RandomState(1)", "rnad", "rand"), ("random.default_rng(1)", "intgers", "integers"),
    ("random.PCG64(1)", "stat", "state"), ("random.PCG64(1)", "random_rwa", "random_raw"), ("linalg", "slove", "solve"), ("lib", "stride_trics", "stride_tricks"),
])  # fmt: skip
def test_near_names_of_modules_and_generators_are_suggested(owner, wrong, right):
    with pytest.raises(AttributeError, match=f"has no attribute {wrong!r}; did you mean {right}\\?$") as raised:
        getattr(eval(f"pt.{owner}", {"pt": pt}), wrong)
    assert raised.value.name == wrong and "_api" not in str(raised.value) and "operators" not in str(raised.value)


@pytest.mark.parametrize("owner, name, remedy", [
    ("lib", "scimath", "numpy.lib.scimath"), ("lib", "npyio", "numpy.lib.npyio"), ("random", "set_bit_generator", r"Generator\(PCG64\(seed\)\)"),
    ("random", "get_bit_generator", r"Generator\(PCG64\(seed\)\)"), ("random.RandomState(1)", "tomaxint", r"integers\(2\*\*63\)"),
    ("random", "random_integers", "endpoint=True"), ("random.RandomState(1)", "random_integers", "endpoint=True"), ("random", "zipf", r"default_rng\(seed\).zipf"),
    ("random.PCG64(1)", "jumped", "use spawn"), ("random.PCG64(1)", "advance", "use spawn"), ("random.PCG64(1)", "ctypes", "use spawn"),
])  # fmt: skip
def test_absent_names_of_modules_and_generators_have_remedies(owner, name, remedy):
    with pytest.raises(AttributeError, match=f"has no attribute {name!r}: .*{remedy}") as raised:
        getattr(eval(f"pt.{owner}", {"pt": pt}), name)
    follow(str(raised.value))


def test_warnings_of_gathered_arrays_are_true(host_team):
    special = pytest.importorskip("scipy.special")
    u = pt.arange(4.0, team=host_team)
    pt._core.memory._warned.clear()
    with pytest.warns(pt.GatherWarning, match="^scipy.special.iv: partita has no such function"):
        special.iv(1, u)
    with pytest.warns(pt.GatherWarning, match="^numpy.i0: partita has no such function"):
        np.i0(u)
    with pytest.warns(pt.GatherWarning, match="^numpy.append: an argument is no array of numbers, so"):
        assert np.append(u, None).tolist() == [0, 1, 2, 3, None]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(None, u) is np.array_equal("text", u) is False
        for x in np.broadcast_arrays(u, 1.0, np.ma.ones(4), subok=True):
            assert isinstance(x, pt.Array) and x.shape == (4,)


def test_matplotlib_fills_between(host_team):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    u = pt.arange(7.0, team=host_team) / 6
    with warnings.catch_warnings():
        warnings.simplefilter("error", pt.GatherWarning)
        figure, axes = pyplot.subplots()
        for where in (None, u > 0.3, (u > 0.3).numpy()):
            for low in (0, u * u, -u):
                made = axes.fill_between(u, u * 2, low, where=where)
        axes.fill_betweenx(u, u * 2, 0.5)
    theirs = axes.fill_between(u.numpy(), u.numpy() * 2, -u.numpy(), where=(u > 0.3).numpy())
    assert np.array_equal(made.get_paths()[0].vertices, theirs.get_paths()[0].vertices)
    pyplot.close(figure)


def test_tools_that_read_the_source_see_every_name():
    """No name comes from a star or from a table that is read when the package is imported; methods have signatures of their own."""
    package = Path(pt.__file__).parent
    assert not [path for path in package.rglob("*.py") if re.search(r"^\s*from .* import \*", path.read_text(), re.M)]
    statements = ast.parse((package / "__init__.py").read_text()).body
    written = {alias.asname for node in statements if isinstance(node, ast.ImportFrom) for alias in node.names}
    public = {name for name, value in vars(pt).items() if not name.startswith("_") and not isinstance(value, types.ModuleType)}
    assert public <= written, public - written
    for name, method in inspect.getmembers(pt.Array, inspect.isfunction):
        kinds = [parameter.kind.name for parameter in inspect.signature(method).parameters.values()]
        assert name.startswith("_") or "VAR_KEYWORD" not in kinds, name
