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
        lambda: u.sum(out=s),
    ):  # fmt: skip
        with pytest.raises(TypeError, match="given a scalar, which never changes"):
            change()
    assert s.item() == value


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
