"""Names that are not there: what to do, or what was meant."""

import pickle
import subprocess
import sys
import traceback
import warnings

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
    """No type or class is called with an array, and what NumPy has not for numbers is not recommended."""
    absent = [name for name in np.__all__ if name != "broadcast" and not hasattr(pt, name)]
    assert len(absent) > 20
    for name in absent:
        with pytest.raises(AttributeError) as raised:
            getattr(pt, name)
        text = str(raised.value)
        assert ": " in text and "did you mean" not in text, text
        if "(u.numpy())" in text:
            assert name in ("i0", "kaiser", "test", "ctypeslib") and not isinstance(getattr(np, name), type), text
    for name in ("float128", "busday_count", "is_busday", "isnat", "str_", "memmap"):
        with pytest.raises(AttributeError, match="^((?!numpy\\().)*$"):
            getattr(pt, name)


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
