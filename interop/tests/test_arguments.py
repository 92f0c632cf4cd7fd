"""Numbers, nested lists and NumPy's arrays wherever NumPy takes arrays: the same program with both packages, the same
shape, type and elements."""

import numpy as np
import partita as pt
import pytest

HOST = np.arange(6.0).reshape(2, 3)
#: With `u` an array of the package `xp`, and `h` one of NumPy.
CALLS = [
    "u + [1, 2, 3]", "[1, 2, 3] * u", "u - ((1,), (2,))", "u + range(3)", "u == [0, 1, 5]", "[[0], [3]] != u", "u < [1.5]",
    "u / h", "h / u", "h - u", "u > h", "u @ h.T", "h.T @ u", "u @ [1, 2, 3]", "[1, 2] @ u", "u + np.float32(1)", "np.float64(2) * u",
    "u + np.int8(3)", "u ** [1, 2, 3]", "u // [[2], [3]]", "u % h.max()",
    "xp.sqrt(2.0)", "xp.sqrt([1, 4])", "xp.sin(h)", "xp.add(1, 2.5)", "xp.add(2.5, 1)", "xp.add(True, 1)", "xp.maximum([1, 5], 3)",
    "xp.maximum(3, [1, 5])", "xp.arctan2(1, [1.0, 2.0])", "xp.logical_and([0, 1], True)", "xp.isfinite([1.0, np.inf])", "xp.sign([-2, 0])",
    "xp.square([1, 2])", "xp.clip([1, 5, 9], 2, 6)", "xp.clip(u, [1, 1, 2], 4)", "xp.reciprocal([2.0, 4.0])", "xp.positive([1, 2])",
    "xp.sum([1.0, 2])", "xp.sum(h, axis=0)", "xp.mean([1, 2, 4])", "xp.max([[1, 2], [3, 0]], axis=1)", "xp.any([0, 0])", "xp.argmax([3, 9, 1])",
    "xp.concatenate([u, h])", "xp.concatenate([h, u])", "xp.concatenate([[1, 2], [3.5]])", "xp.stack([[1, 2], [3, 4]])", "xp.stack([u[0], [1, 2, 3]])",
    "xp.where([True, False, True], u, 0)", "xp.where(u > 2, [1, 2, 3], h)", "xp.where([True, False], [1, 2], 3.5)", "xp.where(True, u, u + 1)",
    "xp.roll([1, 2, 3], 1)", "xp.flip(h)", "xp.transpose([[1, 2]])", "xp.reshape(range(6), (2, 3))", "xp.tile([1, 2], 2)", "xp.repeat([1, 2], [2, 1])",
    "xp.take([5, 6, 7], [2, 0])", "xp.pad([1, 2], 1)", "xp.tensordot(u, h, ([1], [1]))", "xp.matmul(h, u.T)", "xp.broadcast_to([1, 2], (2, 2))",
    "xp.real([1 + 2j])", "xp.expand_dims([1, 2], 0)", "xp.squeeze([[1, 2]])", "xp.moveaxis(h, 0, 1)", "xp.swapaxes([[1, 2]], 0, 1)",
]  # fmt: skip
CHANGES = [
    "u[0] = [1, 2, 3]", "u[:] = [[1], [2]]", "u[1, 1:] = (7, 8)", "u[u > 2] = [9, 8, 7]", "u[[0, 1], [1, 2]] = [5, 6]", "u[0] = h[1]",
    "u += [1, 2, 3]", "u *= h", "u -= range(3)", "u[0] += [1, 1, 1]", "u.T[0] = [1, 2]", "u[1] /= [1.0, 2.0, 4.0]", "u[...] = np.float32(2)",
]  # fmt: skip


def same(ours, theirs):
    theirs = np.asarray(theirs)
    assert isinstance(ours, pt.Array)
    assert (ours.shape, ours.dtype.name) == (theirs.shape, theirs.dtype.name)
    np.testing.assert_array_equal(ours.numpy(), theirs)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("parts", [1, 3])
def test_calls(call, parts):
    with pt.default_team(pt.Team.local(parts, "host")) as team:
        ours = eval(call, {"xp": pt, "np": np, "u": pt.asarray(HOST), "h": HOST})
        assert ours.team == team
    same(ours, eval(call, {"xp": np, "np": np, "u": HOST.copy(), "h": HOST}))


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("parts", [1, 3])
def test_changes(change, parts):
    u, host = pt.asarray(HOST, team=pt.Team.local(parts, "host")), HOST.copy()
    exec(change, {"u": u, "np": np, "h": HOST})
    exec(change, {"u": host, "np": np, "h": HOST})
    same(u, host)


def test_operands_come_to_the_team_of_the_array():
    team = pt.Team.local(3, "host")
    u = pt.zeros(4, team=team)
    for made in (u + [1, 2, 3, 4], [1, 2, 3, 4] + u, pt.where([True] * 4, 1, u), pt.stack([[1, 2, 3, 4], u]), pt.maximum(1, u)):
        assert made.team == team
