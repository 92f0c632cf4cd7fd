"""Random programs against NumPy: 2,000 seeds that stay, and 500 that change with every commit and are printed.

``PARTITA_PROGRAMS=FIRST:COUNT`` runs those seeds in place of the commit's. A failing program is shrunk and printed as a
script; planted bugs prove that failures are found and become small.
"""

import os
import subprocess
import sys
import warnings
from collections import Counter

import numpy as np
import partita as pt
import pytest
from conftest import CUDA, ON_CUDA
from partita._core import array as _array
from partita._core import rearrange as _rearrange
from partita._core import reductions as _reductions
from partita._core import rules as _rules
from partita._core.views import index as _index
from partita._core.views import indexing as _indexing
from partita._core.views import links as _links
from programs import bounds, vocabulary
from programs.check import Failure, failure_of, numpy_step
from programs.generate import Draft, draft
from programs.language import Key, Name, Statement
from programs.layouts import Layout, plain
from programs.script import script
from programs.shrink import shrunk

#: Functions of elements of the array API, and others that the engine has.
FUNCTIONS = """
    abs add all angle any arccos arccosh arcsin arcsinh arctan arctan2 arctanh argmax argmin bitwise_and bitwise_invert
    bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor cbrt ceil clip conj cos cosh divide equal erf exp
    expm1 floor floor_divide greater greater_equal hypot imag isfinite isinf isnan less less_equal log log10 log1p log2
    logaddexp logical_and logical_not logical_or logical_xor max maximum mean min minimum multiply negative not_equal
    positive power prod real reciprocal remainder round sign sin sinh sqrt square subtract sum tan tanh trunc where
""".split()
FIXED, NEW = 2000, 500
WHERE = "cuda" if ON_CUDA else "host"
DEVICES = CUDA if ON_CUDA else "host"


def new_seeds():
    """Seeds from the hash of the commit's tree: who tests one tree runs the same programs, a failure can be repeated."""
    asked = os.environ.get("PARTITA_PROGRAMS")
    if asked:
        first, count = map(int, asked.split(":"))
    else:
        command = ["git", "-C", os.path.dirname(__file__), "rev-parse", "HEAD^{tree}"]
        found = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        first, count = 10**6 + int(found, 16) % 10**12, NEW
    return range(first, first + count)


def fails(candidate):
    return failure_of(*candidate, DEVICES)


def report(seed):
    """The shrunk program of a failing seed, as a script."""
    small, failure = shrunk(draft(seed), fails)
    said = f"seed {seed}: {failure.kind} in statement {failure.at}: {failure.text}"
    return f"{said}\n\n{script(small, failure, seed, WHERE)}"


def run(seeds):
    """Every program once: those that differ from NumPy, shrunk, and what kinds of distributions occurred."""
    wrong, kinds = [], Counter()
    for seed in seeds:
        made = draft(seed)
        layouts = [v for s in made.program for v in s.places.values() if isinstance(v, Layout)]
        kinds.update({kind for layout in layouts for kind in layout.kinds()})
        if fails(made) is not None:
            wrong.append(report(seed))
        if len(wrong) == 3:
            break
    return wrong, kinds


@pytest.mark.parametrize("where", [WHERE])
def test_fixed_seeds(where, capsys):
    wrong, kinds = run(range(FIXED))
    assert not wrong, "\n\n".join(wrong)
    every = {"even", "block", "cyclic", "unstructured", "copies", "replicated", "halo", "periodic", "other team"}
    assert set(kinds) == every and min(kinds.values()) > FIXED / 20, kinds
    with capsys.disabled():
        print(f"\nran: {where}-programs {FIXED}")


@pytest.mark.parametrize("where", [WHERE])
def test_new_seeds(where, capsys):
    seeds = new_seeds()
    with capsys.disabled():
        print(f"\nprograms: new seeds PARTITA_PROGRAMS={seeds.start}:{len(seeds)} on {where}")
    wrong, _ = run(seeds)
    assert not wrong, "\n\n".join(wrong)
    with capsys.disabled():
        print(f"ran: {where}-programs {len(seeds)}")


# What is in the programs.


def test_every_function_occurs_or_is_left_out_with_a_reason(capsys):
    lines = "\n".join(s.text for seed in range(FIXED) for s in draft(seed).program)
    public = {*FUNCTIONS, *_rearrange.__all__, "matmul"} - {
        # Written as operators, or as methods of arrays, and the same code.
        "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "equal", "not_equal", "less",
        "less_equal", "greater", "greater_equal", "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_invert",
        "bitwise_left_shift",
        "bitwise_right_shift", "matmul", "unstack", "broadcast_arrays",
    }  # fmt: skip
    missing = {name for name in public if f"xp.{name}(" not in lines}
    assert missing == set(vocabulary.LEFT_OUT) & public, missing ^ (set(vocabulary.LEFT_OUT) & public)
    in_place = ("+=", "-=", "*=", "/=", "//=", "%=", "&=", "|=", "^=")
    signs = [f" {sign} " for sign in (*vocabulary.OPERATORS, "@", *in_place)]
    assert not [sign for sign in signs if sign not in lines]
    with capsys.disabled():
        for name, reason in vocabulary.LEFT_OUT.items():
            print(f"\nleft out of random programs: {name} ({reason})", end="")


def test_a_seed_is_a_program():
    for seed in (0, 17, 1999):
        assert [s.line() for s in draft(seed).program] == [s.line() for s in draft(seed).program]
    assert len({"\n".join(s.line() for s in draft(seed).program) for seed in range(200)}) == 200


def test_programs_are_defined():
    """What NumPy refuses or leaves undefined would end a comparison early: nothing of it is in a program."""
    for seed in range(300):
        variables = {}
        for statement in draft(seed).program:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                numpy_step(statement, variables)


def test_bounds_refuse_what_is_too_far():
    """The bounds themselves: just inside and just outside, of sums, functions and bits."""
    x = np.linspace(0.1, 3, 50, dtype=np.float32)
    total, exact = x.sum(), x.astype(np.longdouble).sum()
    limit = (np.log2(50) + 4) * np.finfo(np.float32).eps / 2 * float(np.abs(x).sum())
    for factor, is_wrong in ((0.9, False), (1.2, True)):
        ours = np.float32(float(exact) + factor * limit)
        assert bool(bounds.differs("sum", np.array(ours), np.array(total), [x, None, False])) == is_wrong
    exact = np.sin(x.astype(np.float64)).astype(np.float32)
    for steps, is_wrong in ((1, False), (4, True)):
        ours = exact
        for _ in range(steps):
            ours = np.nextafter(ours, np.float32(9))
        assert bool(bounds.differs("ulp sin", ours, exact, [x])) == is_wrong
    assert bounds.differs("same", np.array([0.0]), np.array([-0.0]), [])
    assert not bounds.differs("sign", np.array([0.0]), np.array([-0.0]), [])
    assert not bounds.differs("same", np.array([np.nan]), np.array([-np.nan]), [])
    assert bounds.differs("same", np.array([1]), np.array([1.0]), [])


def test_bounds_leave_open_what_the_order_decides():
    """Two large terms may be infinite before the infinite one of the other sign is added; else it decides."""
    large = np.finfo(np.float64).max
    for first, is_open in ((large, True), (1.0, False)):
        terms = np.array([first, first, 0.0, -np.inf])
        for ours in (np.nan, 2.0):
            given = ("sum", np.array(ours), np.array(-np.inf), [terms, None, False])
            if is_open:
                with pytest.raises(bounds.Undefined):
                    bounds.differs(*given)
            else:
                assert bounds.differs(*given)


# Planted bugs: each is found soon, and what remains of the program is small.


def in_python(monkeypatch):
    """All slices are Python's."""
    monkeypatch.setattr(pt.Array, "__getitem__", _indexing.select)
    monkeypatch.setattr(pt.Array, "__setitem__", _indexing.assign)


def off_by_one(monkeypatch):
    """Slices with a step of 2 start one too late where they can."""
    in_python(monkeypatch)
    real = _index.selection_of

    def selection_of(key, shape):
        selection = real(key, shape)
        if selection is None:
            return None
        ranges = list(zip(selection.start, selection.steps, selection.counts, strict=True))
        for d, (start, step, count) in enumerate(ranges):
            if step == 2 and start + 2 * (count - 1) + 1 < shape[d]:
                ranges[d] = (start + 1, step, count)
        return _index.Selection(ranges).laid_out(selection.layout)

    monkeypatch.setattr(_indexing, "selection_of", selection_of)


def wrong_axis(monkeypatch):
    """Reductions over the last axis reduce the first."""
    real = _reductions.axes_of
    monkeypatch.setattr(_reductions, "axes_of", lambda name, axis, ndim: real(name, 0 if axis == -1 else axis, ndim))


def stale_halo(monkeypatch):
    """After an assignment, windows that are read at once see the old cells of the parts they reach into."""
    assign, window = _array.Array.__setitem__, _array.Array.__getitem__
    before = {}

    def setitem(self, key, value):
        old = self.numpy()
        assign(self, key, value)
        before[id(self)] = (self, old)

    def stale(self, key):
        fresh, selection = window(self, key), _index.selection_of(key, self.shape) if self.ndim else None
        if id(self) not in before or selection is None or set(selection.steps) - {1} or fresh.ndim != self.ndim:
            return fresh
        old = before[id(self)][1][key]
        # A cell of the window is computed by the part that owns the cell of the same number.
        cells, owner = np.ndindex(*fresh.shape), self.dist.owner
        reach = np.array([owner(at) != owner(tuple(np.add(at, selection.start))) for at in cells], bool)
        return pt.asarray(np.where(reach.reshape(fresh.shape), old, fresh.numpy()), team=self.team)

    monkeypatch.setattr(_array.Array, "__setitem__", setitem)
    monkeypatch.setattr(_array.Array, "__getitem__", stale)


def shared_handle(monkeypatch):
    """Functions that copy give the array itself, so that assigning to one changes the other."""
    rolled = _rearrange.roll
    monkeypatch.setattr(pt, "positive", lambda x: x)
    monkeypatch.setattr(pt, "roll", lambda x, shift, axis=None: rolled(x, shift, axis) if shift else x)


def stale_view(monkeypatch):
    """Views that were read once do not see later writes."""
    in_python(monkeypatch)
    monkeypatch.setattr(_links, "forget", lambda root: None)


def lost_write(monkeypatch):
    """Writes to every second element through a view go to neighbours."""
    in_python(monkeypatch)
    real = _links.put

    def put(x, selection, value, part=None):
        found = selection.within(x._link.op) if x._link is not None and isinstance(x._link.op, _index.Selection) else None
        if found is None or 2 not in found.steps:
            return real(x, selection, value, part)
        steps = [1 if step == 2 else step for step in found.steps]
        near = _index.Selection(list(zip(found.start, steps, found.counts, strict=True))).laid_out(found.layout)
        return real(x._link.source, near, value, part)

    monkeypatch.setattr(_links, "put", put)
    monkeypatch.setattr(_indexing, "put", put)


def rounded_last_bit(monkeypatch):
    """Products of float32 are one bit too large."""
    real = pt.Array.__mul__

    def multiply(a, b):
        result = real(a, b)
        return real(result, 1 + 2**-23) if result.dtype is pt.float32 else result

    monkeypatch.setattr(pt.Array, "__mul__", multiply)


def forgotten_keepdims(monkeypatch):
    """Positions and sums over an axis lose it whatever is asked."""
    real = _reductions.reduce

    def reduce(name, array, axis, keepdims, **words):
        return real(name, array, axis, keepdims and not isinstance(axis, int), **words)

    monkeypatch.setattr(_reductions, "reduce", reduce)


def wide_sum(monkeypatch):
    """Sums of floats are off by a hundred times what their bound allows."""
    real = _reductions.reduce

    def reduce(name, array, axis, keepdims, **words):
        result = real(name, array, axis, keepdims, **words)
        return result * (1 + 2.0**-9) if name == "sum" and array.dtype.kind == "f" else result

    monkeypatch.setattr(_reductions, "reduce", reduce)


PLANTED = [off_by_one, wrong_axis, stale_halo, shared_handle, stale_view, lost_write, rounded_last_bit, forgotten_keepdims, wide_sum]


@pytest.mark.skipif(ON_CUDA, reason="planted in Python, which is the same on every device")
@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.__name__)
def test_planted_bugs_are_found_and_shrunk(plant, monkeypatch, capsys):
    plant(monkeypatch)
    seed = next((seed for seed in range(FIXED) if fails(draft(seed)) is not None), None)
    assert seed is not None, f"not found in {FIXED} programs"
    small, failure = shrunk(draft(seed), fails)
    assert len(small.program) <= 4, [s.line() for s in small.program]
    assert failure.at == len(small.program) - 1 or small.program[failure.at].writes
    text = script(small, failure, seed)
    # The script shows the bug while it is there, and nothing once it is gone.
    with pytest.raises(AssertionError if failure.kind == "mismatch" else ValueError):
        exec(compile(text, "script", "exec"), {})
    monkeypatch.undo()
    exec(compile(text, "script", "exec"), {})
    with capsys.disabled():
        left = f"{plant.__name__}: seed {seed}, {len(small.program)} statements left"
        print(f"\nplanted: {left}\nran: planted-program-bugs 1")


def test_exceptions_are_found_and_shrunk(monkeypatch):
    def flip(x, axis=None):
        raise RuntimeError("planted")

    monkeypatch.setattr(pt, "flip", flip)
    seed = next(seed for seed in range(600) if fails(draft(seed)) is not None)
    small, failure = shrunk(draft(seed), fails)
    assert failure.kind == "RuntimeError" and [s.text for s in small.program][1:] == ["{out} = seen(xp.flip({a}, {x}))"]


def test_scripts_run_by_themselves(tmp_path):
    """A script is a program: it needs nothing of this folder, and fails if the packages differ."""
    a, out = Name("v0"), Name("v1")
    program = [
        Statement("{out} = make({host}, {layout})", {"out": a, "host": np.arange(6.0), "layout": plain((6,), 3)}),
        Statement("{a}[{key}] = {a}[{one}]", {"a": a, "key": Key([slice(1, None)]), "one": Key([slice(None, -1)])}),
        Statement("{out} = own(xp.sum({a}, axis={axis}, keepdims={keepdims}))",
                  {"out": out, "a": a, "axis": None, "keepdims": False}, "sum"),
    ]  # fmt: skip
    assert failure_of(program, 3, "host") is None
    text = script(Draft(program, 3), Failure(2, "mismatch", "expected float64"), 0)
    for given, code in [(text, 0), (text.replace("np, lambda x: np.array(x", "np, lambda x: np.array(x + 1"), 1)]:
        path = tmp_path / f"{code}.py"
        path.write_text(given)
        ran = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=300)
        assert ran.returncode == code and ("AssertionError" in ran.stderr) == bool(code), ran.stderr
