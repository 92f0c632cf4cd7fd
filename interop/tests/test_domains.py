"""Arrays over domains: index sets, elements by index, arithmetic by position and by index, resizing, loops, maps of one's own."""

import copy
import itertools
import os
import pickle
import random
from pathlib import Path

import numpy as np
import partita as pt
import pytest


#: Where arrays are; the tests of CUDA set it.
DEVICE = "host"


def team_of(parts):
    return pt.Team(parts, DEVICE)


class Thirds(pt.CustomMap):
    """Every third index to a part, in descending order."""

    def __init__(self, size, parts):
        self.size, self.parts = size, parts

    def owner(self, index):
        return index % self.parts

    def local_index(self, index):
        return (self.size - 1 - index) // self.parts


def layouts(draw, extent, parts):
    """A division of one dimension over some parts."""
    cuts = sorted(draw.randrange(extent + 1) for _ in range(parts - 1))
    dealt = [[] for _ in range(parts)]
    for i in draw.sample(range(extent), extent):
        dealt[draw.randrange(parts)].append(i)
    kinds = [None, pt.Block([0, *cuts, extent]), pt.Cyclic(), pt.Cyclic(draw.randint(2, 4)), pt.Unstructured(dealt), Thirds(extent, parts)]
    return draw.choice(kinds)


def any_range(draw, most=7):
    count, step = draw.randint(0, most), draw.choice([1, 1, 1, 2, 3, -1, -2])
    start = draw.randint(-9, 9)
    return range(start, start + count * step, step)


def any_domain(draw, rank, parts):
    dims = tuple(any_range(draw) for _ in range(rank))
    grid = [1] * rank
    grid[draw.randrange(rank)] = parts
    maps = [layouts(draw, len(r), n) if n > 1 else None for r, n in zip(dims, grid, strict=True)]
    return pt.Domain(*dims, team=team_of(parts), grid=tuple(grid), dims=maps)


def content(array):
    """The elements by index, as a dictionary."""
    domain = array.domain
    indices = itertools.product(*domain.dims)
    return dict(zip(indices, array.numpy().ravel().tolist(), strict=True))


# Index sets.


def test_a_domain_is_what_its_ranges_say():
    D = pt.Domain[1:5, -2:3:2]
    assert D.dims == (range(1, 5), range(-2, 3, 2)) and D.ndim == 2 and D.shape == (4, 3) and D.size == len(D) == 12
    assert (D.low, D.high, D.stride) == ((1, -2), (4, 2), (1, 2))
    assert list(D)[:4] == [(1, -2), (1, 0), (1, 2), (2, -2)] and list(pt.Domain[3:6]) == [3, 4, 5]
    assert (2, 0) in D and (2, 1) not in D and 2 not in D and D.index_order((2, 0)) == 4
    assert str(D) == "{1:5, -2:3:2}" and repr(D).startswith("partita.Domain[1:5, -2:3:2] on ")
    assert pt.Domain(4, range(2)).dims == (range(4), range(2))


@pytest.mark.parametrize("step", [1, 3, -1, -2])
def test_derived_domains_are_chapels(step):
    r = range(4, 4 + 6 * step, step)
    D = pt.Domain(r)
    ordered = sorted(r)
    beyond = [ordered[-1] + abs(step) * k for k in (1, 2)]
    below = [ordered[0] - abs(step) * k for k in (2, 1)]
    assert sorted(D.interior(2)) == ordered[-2:] and sorted(D.interior(-2)) == ordered[:2] and D.interior(0).dims == D.dims
    assert sorted(D.exterior(2)) == beyond and sorted(D.exterior(-2)) == below
    assert sorted(D.expand(2)) == below + ordered + beyond and sorted(D.expand(-2)) == ordered[2:-2]
    assert list(D.translate(-7)) == [i - 7 for i in r]
    assert list(D.by(2)) == list(r)[::2] and list(D.by(-1)) == list(r)[::-1]


def test_common_indices_are_those_of_sets():
    draw, line = random.Random(1), {n: pt.Distribution(n, team=team_of(1)) for n in range(13)}
    for _ in range(3000):
        a, b = any_range(draw, 12), any_range(draw, 12)
        common = (pt.Domain(a, dist=line[len(a)]) & pt.Domain(b, dist=line[len(b)])).dims[0]
        assert list(common) == [i for i in a if i in set(b)], (a, b)


def test_indices_stay_with_their_parts_in_derived_domains():
    draw = random.Random(2)
    for _ in range(150):
        parts = draw.randint(1, 7)
        D = any_domain(draw, draw.randint(1, 2), parts)
        if not D.size:
            continue
        E = D & pt.Domain(*(any_range(draw, 12) for _ in D.dims))
        assert all(E.owner(i) == D.owner(i) for i in E) or any(r.step < 0 for r in D.dims + E.dims), (D, E)
        found = [i for part in range(parts) for piece in D.local(part) for i in piece]
        assert sorted(found) == sorted(D)
        for part in range(parts):
            assert all(D.owner(i) == part for piece in D.local(part) for i in piece)


def test_wrong_domains_say_what_to_do():
    D = pt.Domain[1:4, 0:2]
    for error, text, do in [
        (TypeError, "rectangular, given {1, 2}; use partita.Unstructured", lambda: pt.Domain({1, 2})),
        (TypeError, "rectangular, given 'ab'", lambda: pt.Domain("ab")),
        (ValueError, "expected a distribution of shape (3, 2), given one of shape (2,)", lambda: pt.Domain(*D.dims, dist=pt.Distribution(2))),
        (IndexError, "expected one of {1:4, 0:2}, given (4, 0)", lambda: D.index_order((4, 0))),
        (IndexError, "expected one of {1:4, 0:2}, given 1", lambda: D.owner(1)),
        (ValueError, "a number, or one for each of 2 dimensions, given (1,)", lambda: D.expand((1,))),
        (ValueError, "at most the 2 indices of 0:2, given 3", lambda: D.interior(3)),
        (ValueError, "as many dimensions, given {1:4, 0:2} and {0:3}", lambda: D & pt.Domain[0:3]),
        (ValueError, "that has indices, given {0:0}", lambda: pt.Domain[0:0].low),
        (ValueError, "values of shape (3, 2), given (2,)", lambda: D.array([1, 2])),
        (ValueError, "expected 2 ranges, given 1", lambda: D.set(slice(0, 3))),
        (ValueError, "a domain alone", lambda: pt.zeros(D, team=team_of(2))),
        (TypeError, "", lambda: hash(D)),
        (IndexError, "indices of {1:4, 0:2}, given 0 in dimension 0", lambda: D.zeros().at[0, 0]),
        (IndexError, "indices of {1:4, 0:2}, given 0:4:1 in dimension 0", lambda: D.zeros().at[0:4]),
        (IndexError, "at most one '...' and 2 indices, given 3", lambda: D.zeros().at[1, 0, 0]),
        (ValueError, "over: expected a domain of shape (3), given {0:2}", lambda: pt.zeros(3).reindex(pt.Domain[0:2])),
    ]:
        with pytest.raises(error) as raised:
            do()
        assert text in str(raised.value), str(raised.value)


def test_maps_of_ones_own_say_what_is_wrong():
    def made(**methods):
        return pt.Distribution(4, team=team_of(2), dims=[type("Mine", (pt.CustomMap,), {"size": 4, "parts": 2, **methods})()])

    assert [list(made(owner=lambda self, i: i % 2).owned(p)[0]) for p in (0, 1)] == [[0, 2], [1, 3]]
    for error, text, methods in [
        (NotImplementedError, "Mine to have a method owner", {}),
        (ValueError, "owner(0) = 2; correct Mine.owner", {"owner": lambda self, i: 2}),
        (ValueError, "given 0 for 0 and 1 of part 0", {"owner": lambda self, i: 0, "local_index": lambda self, i: 0}),
        (ValueError, "given 5 to 8 for the 4 indices", {"owner": lambda self, i: 0, "local_index": lambda self, i: i + 5}),
    ]:
        with pytest.raises(error) as raised:
            made(**methods)
        assert text in str(raised.value), str(raised.value)


def test_a_map_of_ones_own_is_asked_once():
    asked = []
    wrong = type("Mine", (pt.CustomMap,), {"size": 4, "parts": 2, "owner": lambda self, i: asked.append(i) or i})()
    with pytest.raises(ValueError, match="correct Mine.owner"):
        pt.Distribution(4, team=team_of(2), dims=[wrong])
    assert asked == [0, 1, 2]


def test_domains_without_a_distribution_are_compared():
    D = pt.Domain(slice(0, 5), team=team_of(2), dims=[pt.Block([0, 1, 5])])
    with pytest.raises(NotImplementedError):
        D.expand(1).dist
    others = [D, D.expand(2), pt.Domain(slice(-1, 6), team=team_of(2)), pt.Domain(slice(0, 5), team=team_of(2)).expand(1)]
    assert D.expand(1) == D.expand(1) == D.translate(0).expand(1) and all(D.expand(1) != other for other in others)


# Arrays.


def test_what_an_array_says_of_itself_is_no_domain_to_set():
    A = pt.Domain(slice(0, 4), team=team_of(2)).ones()
    for said in [(A + 1).domain, A[1:].domain, A.copy().domain, pt.arange(3).domain]:
        with pytest.raises(TypeError, match="that lists its arrays, given .* of an array that was computed"):
            said.set(slice(0, 2))
    E = (A + 1).domain
    B = pt.Domain(*E.dims, dist=E.dist).zeros()
    B.domain.set(slice(0, 2))
    assert B.shape == B.domain.shape == (2,) and A.shape == E.shape == (4,)


@pytest.mark.parametrize("parts", [1, 3])
def test_complex_arrays_live_over_domains(parts):
    D = pt.Domain(slice(1, 5), slice(-1, 2), team=team_of(parts))
    z = (np.arange(12) + 1j * np.arange(12)[::-1]).reshape(4, 3)
    A, B, real = D.array(z), pt.zeros(domain=D, dtype=pt.complex64), D.array(z.real)
    assert A.domain is D and B.domain is D and A.at[2, 0].item() == z[1, 1] and B.dtype is pt.complex64
    assert str(B).startswith("over {1:5, -1:2}")
    for ours, theirs in [
        (A * A, z * z), (A / (A + 1), z / (z + 1)), (2j - A, 2j - z), (A * real, z * z.real), (real + A, z.real + z), (real * 1j, z.real * 1j),
        (A * pt.asarray(z, team=A.team), z * z), (np.exp(A), np.exp(z)), (A.conj(), z.conj()), (abs(A), abs(z)), (A.real, z.real),
        (A.imag, z.imag), (A == A, z == z), (A ** 2, z ** 2), (pt.where(real > 3, A, -A), np.where(z.real > 3, z, -z)), (+A, z), (A.astype(bool), z != 0),
        (real.astype(complex), z.real), (pt.zeros_like(A), 0 * z), (A - A.mean(axis=0, keepdims=True), z - z.mean(axis=0)), (A * pt.ones((4, 1)), z),
    ]:  # fmt: skip
        assert ours.domain.dims == D.dims, (ours, theirs)
        np.testing.assert_allclose(ours.numpy(), theirs, rtol=1e-12)
    assert A.sum().item() == z.sum() and A.T.domain.dims == D.dims[::-1] and A.at[2:4, 0].domain.dims == (range(2, 4),)
    assert A.reindex(None).domain.dims == (range(4), range(3)) and (A @ A.T).domain.dims == (range(4), range(4))
    again = pickle.loads(pickle.dumps(A))
    assert again.domain == D and (again.numpy() == z).all()
    for wrong in [lambda: A + A[:3], lambda: A * A[:3], lambda: A * np.ones(3)]:
        with pytest.raises(ValueError, match="go by position"):
            wrong()
    a, b = pt.by_index(A, A.reindex(D.translate((1, 0))))
    np.testing.assert_array_equal((a * b).numpy(), z[1:] * z[:-1])
    B.at[D.interior((1, 0))] = 1 + 2j
    A.at[3, ...] = A.at[1, ...] * 1j
    z[2] = z[0] * 1j
    D.set(slice(2, 6), slice(0, 3))
    kept = np.zeros((4, 3), complex)
    kept[:3, :2] = z[1:, 1:]
    assert (A.numpy() == kept).all() and B.at[4, 1].item() == 1 + 2j and B.numpy().sum() == 2 + 4j and A.domain is D


def test_elements_are_read_and_assigned_by_index():
    D = pt.Domain(slice(-1, 4), slice(5, 1, -1), team=team_of(3))
    A = D.array(np.arange(20.0).reshape(5, 4))
    assert A.at[-1, 5] == 0 and A.at[3, 2] == 19 and A.at[0, 4] == 5
    A.at[0, 4] = 50
    A.at[2:4, 5] = -1
    assert A.numpy()[1, 1] == 50 and (A.numpy()[3:, 0] == -1).all()
    row = A.at[..., 3]
    assert row.domain.dims == (range(-1, 4),) and row.at[-1] == 2
    row.at[0] = 7  # A view, written through.
    assert A.at[0, 3] == 7
    A.at[D.interior((1, 1))] = A.at[D.interior((-1, -1))] + 0.5
    assert A.at[3, 5] == 3.5
    assert A.at[range(3, -2, -2), 2].numpy().tolist() == A.numpy()[4::-2, 3].tolist()
    assert A[0, 0] == A.at[-1, 5] and A.at[4:4].shape == (0, 4)


def test_results_are_over_the_domain_of_the_first_operand_that_has_one():
    D, E = pt.Domain(slice(1, 5), team=team_of(3)), pt.Domain(range(9, 1, -2), team=team_of(2), dims=[pt.Cyclic()])
    A, B, plain = D.array([1.0, 2, 3, 4]), E.array([10.0, 20, 30, 40]), pt.arange(4.0, team=team_of(4))
    for result, domain, elements in [
        (A + B, D, [11, 22, 33, 44]), (B - A, E, [9, 18, 27, 36]), (plain + A, D, [1, 3, 5, 7]), (2 * A, D, [2, 4, 6, 8]),
        (pt.sqrt(A * A), D, [1, 2, 3, 4]), (pt.where(A > 2, A, B), D, [10, 20, 3, 4]), (A.astype("int32"), D, [1, 2, 3, 4]),
        (A.cumsum(), D, [1, 3, 6, 10]), (A + np.arange(4), D, [1, 3, 5, 7]), (A.copy(), D, [1, 2, 3, 4]), (A.redistribute(plain.dist), D, [1, 2, 3, 4]),
        (A[1:3], pt.Domain[2:4], [2, 3]), (B[::-1], pt.Domain(range(3, 10, 2)), [40, 30, 20, 10]), (abs(-A), D, [1, 2, 3, 4]),
    ]:  # fmt: skip
        assert result.domain.dims == domain.dims and result.numpy().tolist() == elements
    table = pt.Domain[1:3, 5:8].array([[1, 2, 3], [4, 5, 6]])
    assert table.T.domain.dims == (range(5, 8), range(1, 3)) and table.T.at[6, 2] == 5
    for counts_from_0 in [table.sum(axis=0), table.reshape(3, 2), pt.concatenate([A, A]), A.reindex(None), table[:, None]]:
        assert counts_from_0.domain.dims == tuple(map(range, counts_from_0.shape))


def test_unlike_shapes_are_errors_only_over_domains():
    A = pt.Domain[1:4, 0:2].ones()
    assert (pt.ones((3, 2)) + pt.ones(2)).shape == (3, 2)
    for do in [lambda: A + pt.ones(2), lambda: A.at[1:2] * A, lambda: A.at[1:2] + pt.ones((3, 2)), lambda: pt.where(A > 0, A, pt.ones(2)), lambda: A.at[...].__iadd__(A[:1])]:
        with pytest.raises(ValueError, match=r"one shape, because arrays over domains go by position, given .*\{1:"):
            do()
    with pytest.raises(ValueError, match="one shape, because arrays over domains go by position"):
        A.at[1:3] = pt.ones(2)
    A.at[1:3] = 5
    assert (A - A.mean(axis=0, keepdims=True)).domain.dims == A.domain.dims and (A * pt.ones((1, 2))).shape == (3, 2)
    assert float((A + pt.float64(1)).sum()) == 4 * 6 + 2 * 2


def test_by_index_takes_the_common_indices():
    A, B = pt.Domain(slice(0, 8), team=team_of(3)).array(np.arange(8)), pt.Domain(range(12, 1, -3), team=team_of(2)).array([120, 90, 60, 30])
    a, b = pt.by_index(A, B)
    assert list(a.domain) == [3, 6] and content(a + b) == {(3,): 33, (6,): 66}
    c, d = pt.by_index(B, pt.arange(7))
    assert list(c.domain) == list(d.domain) == [6, 3] and (c - d).numpy().tolist() == [54, 27]
    a[...] = 0
    assert A.numpy().tolist() == [0, 1, 2, 0, 4, 5, 0, 7]


def test_a_domain_resizes_its_arrays_and_nothing_else():
    D = pt.Domain(slice(0, 4), slice(-1, 2), team=team_of(3), dims=[pt.Cyclic(), None])
    A, B = D.array(np.arange(12).reshape(4, 3)), D.ones()
    view, slice_, expression, twin, flat = A.at[1:3], A[0], A * 2, A.copy(), A.reshape(-1)
    exported = [np.asarray(part) for part in B.parts]
    gone = D.zeros()
    del gone
    D.set(slice(2, 7), slice(-3, 1))
    assert A.shape == B.shape == D.shape == (5, 4) and A.domain is D and B.domain is D
    assert content(A) == {(i, j): (3 * i + j + 1 if i < 4 and -1 <= j else 0) for i in range(2, 7) for j in range(-3, 1)}
    assert A.dtype is pt.int64 and A.dist.kinds == ("cyclic", "block")
    assert view.numpy().tolist() == [[3, 4, 5], [6, 7, 8]] and slice_.numpy().tolist() == [0, 1, 2]
    assert expression.numpy().tolist() == (2 * np.arange(12).reshape(4, 3)).tolist() == (2 * twin.numpy()).tolist()
    assert flat.numpy().tolist() == list(range(12)) and all((part == 1).all() for part in exported)
    view[...] = -1
    A.at[2, -3] = 5
    assert A.numpy()[0].tolist() == [5, 0, 6, 7] and A.at[2:4].domain.dims[0] == range(2, 4)
    D.set(range(0), range(3))
    assert A.shape == (0, 3) and B.size == 0


def test_an_error_while_resizing_changes_nothing():
    D = pt.Domain(slice(0, 4), team=team_of(2))
    A, B = D.ones(), D.ones()
    with B.writable(), pytest.raises((RuntimeError, ValueError)):
        D.set(slice(0, 9))
    assert A.shape == B.shape == D.shape == (4,)
    E = pt.Domain(slice(0, 4), team=team_of(2), dims=[pt.Block([0, 1, 4])])
    C = E.ones()
    with pytest.raises(NotImplementedError, match="a rule for any size"):
        E.set(slice(0, 5))
    assert C.shape == (4,) and E.expand(1).size == 6
    E.set(slice(-1, 4), dist=pt.Distribution(5, team=team_of(2), dims=[pt.Block([0, 5, 5])]))
    assert C.numpy().tolist() == [0, 1, 1, 1, 1] and E.owner(3) == 0

    def step(u):
        D.set(slice(0, 9))

    with pytest.raises(RuntimeError, match="expected no Loop to be running"):
        pt.Loop(step).run(A)
    assert A.shape == (4,)


def test_loops_run_on_arrays_over_domains():
    D = pt.Domain(slice(-1, 9), team=team_of(3))
    inner = D.interior(9).interior(-8)

    def step(u):
        u.at[inner] = 0.5 * (u.at[inner.translate(-1)] + u.at[inner.translate(1)])

    A, B = D.array(np.arange(10.0) ** 2), D.array(np.arange(10.0) ** 2)
    loop = pt.Loop(step)
    loop.run(A, steps=12)
    for _ in range(12):
        step(B)
    assert loop.is_replaying and (A.numpy() == B.numpy()).all() and A.at[inner].domain.dims == inner.dims and A.domain is D


def test_functions_go_over_the_indices_of_their_part():
    D = pt.Domain(slice(-2, 9), team=team_of(3), dims=[pt.Cyclic(2)])
    A, seen = D.array(np.arange(11.0)), []

    def double(block, a, out):
        np.asarray(out)[...] = 2 * np.asarray(a)
        seen.extend(i for piece in block.domains for i in piece)
        assert all(D.owner(i) == block.number for piece in block.domains for i in piece)

    B = pt.map_parts(double, A, domain=D.interior(7))
    assert content(B) == {(i,): 2.0 * (i + 2) for i in range(2, 9)} and sorted(seen) == list(range(2, 9))
    pt.map_parts(double, A, out=A, domain=pt.Domain(range(-2, 9, 5)))
    assert A.numpy().tolist() == [0, 1, 2, 3, 4, 10, 6, 7, 8, 9, 20]


def test_domains_and_their_arrays_are_pickled_and_printed():
    D = pt.Domain(slice(1, 3), slice(-1, 2), team=team_of(2))
    A = D.array([[1, 2, 3], [4, 5, 6]])
    assert str(A) == "over {1:3, -1:2}\n[[1 2 3]\n [4 5 6]]" and "over {1:3, -1:2}, int64, 2 parts" in repr(A)
    assert pickle.loads(pickle.dumps(D)) == D == copy.deepcopy(D) and pt.Domain[0:2] != D
    again, twin = pickle.loads(pickle.dumps((A, D)))
    assert again.domain is twin
    twin.set(slice(0, 3), slice(-1, 1))
    assert content(again) == {(i, j): (3 * i + j - 1 if i else 0) for i in range(3) for j in (-1, 0)} and A.shape == (2, 3)
    again = pickle.loads(pickle.dumps(A))
    assert again.domain.dims == D.dims and again.at[2, 0] == 5 and copy.deepcopy(A).domain.dims == D.dims


def test_descriptions_send_nothing():
    D = pt.Domain(slice(0, 40), slice(-3, 9), team=team_of(3), dims=[pt.Cyclic(), None])
    A = D.zeros()
    A.eval()
    for _ in range(2):
        before = messages(D.team)
        assert D.owner(D.low) == 0 and D.local(1) and A.domain is D and A.dist.owner((0, 0)) == 0 and D.expand(1).shape and D & D.by(2)
        assert messages(D.team) == before
        D.set(slice(2, 50), slice(0, 4))


def messages(team):
    return getattr(team, "messages", 0)


def test_open_slices_and_foreign_keys():
    A = pt.Domain(slice(1, 6), team=team_of(2)).array(np.arange(1, 6))
    down = A[::-1]
    for x, key, expected in [
        (A, slice(None, None, -1), [5, 4, 3, 2, 1]), (A, slice(3, None), [3, 4, 5]), (A, slice(4, None, -2), [4, 2]), (A, slice(None, 3), [1, 2]),
        (down, slice(None, None, 2), [1, 3, 5]), (down, slice(None), [5, 4, 3, 2, 1]), (down, slice(3, None), [3, 2, 1]), (A, slice(None, None, 2), [1, 3, 5]),
    ]:  # fmt: skip
        assert x.at[key].tolist() == expected, key
    assert [int(x) for x in A.at] == [1, 2, 3, 4, 5] and "a" not in A.domain and 1.5 not in A.domain
    with pytest.raises(TypeError, match="given ndarray; masks and lists go by position"):
        A.at[np.array([True] * 5)]
    with pytest.raises(TypeError, match="given Array; masks"):
        A.at[A > 2]
    with pytest.raises(TypeError, match="or a Domain alone, given Domain"):
        pt.Domain[0:2, 0:2].zeros().at[pt.Domain[0:1], 0]
    with pytest.raises(TypeError):
        3 in A.at
    with pytest.raises(AttributeError):
        A.domain.dims = (range(3),)
    with pytest.raises(IndexError, match="a part below 2, given 9"):
        A.domain.local(9)
    with pytest.raises(ValueError, match="a shape or a domain"):
        pt.zeros((4,), domain=A.domain)
    assert pt.zeros_like(A).domain.dims == A.domain.dims and A.domain.full(7).dtype is pt.int64 and A.domain.zeros().dtype is pt.float64


def test_asking_for_a_distribution_changes_none():
    D = pt.Domain(slice(0, 6), team=team_of(3), dims=[pt.Cyclic()])
    asked, silent = D.expand(1), D.expand(1)
    asked.owner(0)
    assert [(asked & D).owner(i) for i in D] == [(silent & D).owner(i) for i in D] == [D.owner(i) for i in D]


def test_unpickled_even_blocks_have_other_sizes():
    D = pickle.loads(pickle.dumps(pt.Domain(slice(0, 6), team=team_of(3))))
    A = D.ones()
    D.set(slice(0, 8))
    assert A.shape == (8,) and A.sum() == 6 and D.expand(1).zeros().shape == (10,)
    assert pickle.loads(pickle.dumps(pt.arange(6, team=team_of(3)))).dist.resized((9,)).shape == (9,)


def test_sums_in_place_reach_the_array_that_a_view_shows():
    D = pt.Domain(slice(1, 7), team=team_of(2))
    A, u = D.array(np.arange(6.0)), pt.arange(6.0, team=team_of(2))
    view = A.at[1:4]
    pt.collective.all_reduce_(A)
    assert A.numpy().tolist() == [3, 5, 7] * 2 and view.numpy().tolist() == [3, 5, 7]
    A.at[1] = -5
    assert A.numpy().tolist() == [-5, 5, 7, 3, 5, 7]
    pt.collective.all_reduce_(u[:])
    assert u.numpy().tolist() == [3, 5, 7] * 2
    with pytest.raises(TypeError, match="expected numbers, given bool"):
        pt.collective.all_reduce_(pt.ones(4, bool, team=team_of(2)))


# Programs, beside a dictionary.

PROGRAMS = int(os.environ.get("PARTITA_DOMAIN_PROGRAMS", 300))


@pytest.mark.parametrize("seed", range(PROGRAMS))
def test_random_programs_are_those_of_dictionaries(seed):
    check_program(seed)


def check_program(seed):
    """Elements, assignments, arithmetic and resizing by index, in a random order."""
    draw = random.Random(seed)
    rank, parts = draw.randint(1, 3), draw.randint(1, 7)
    domains = [any_domain(draw, rank, parts) for _ in range(2)]
    arrays, models = [], []
    for n in range(3):
        D = domains[n % 2]
        values = np.array([draw.randint(-9, 9) for _ in range(D.size)], "int64").reshape(D.shape)
        arrays.append(D.array(values))
        models.append(dict(zip(itertools.product(*D.dims), values.ravel().tolist(), strict=True)))
    for _ in range(8):
        n = draw.randrange(3)
        A, model, D = arrays[n], models[n], domains[n % 2]
        match draw.randrange(6):
            case 0 if D.size:
                index = draw.choice(list(itertools.product(*D.dims)))
                A.at[index] = 5
                model[index] = 5
            case 1:
                sub = D & pt.Domain(*(any_range(draw, 9) for _ in D.dims))
                A.at[sub] = A.at[sub] * 3 - 1
                for index in itertools.product(*sub.dims):
                    model[index] = model[index] * 3 - 1
            case 2:
                other = draw.randrange(3)
                a, b = pt.by_index(A, arrays[other])
                expected = {i: models[n][i] + models[other][i] for i in models[n] if i in models[other]}
                assert content(a + b) == expected
            case 3:
                dims = [any_range(draw) for _ in D.dims]
                try:
                    D.set(*dims)
                except NotImplementedError:
                    # Lists and uneven blocks have no other size.
                    D.set(*dims, dist=pt.Distribution(tuple(map(len, dims)), team=D.team))
                for m in range(n % 2, 3, 2):
                    models[m] = {i: models[m].get(i, 0) for i in itertools.product(*dims)}
            case 4 if D.size:
                # A dimension dropped, and assigned from another place.
                d = draw.randrange(rank)
                i, j = draw.choice(D.dims[d]), draw.choice(D.dims[d])
                key = [slice(None)] * rank
                to, of = tuple(key[:d] + [i] + key[d + 1 :]), tuple(key[:d] + [j] + key[d + 1 :])
                A.at[to] = A.at[of]
                changed = {(*at[:d], i, *at[d + 1 :]): v for at, v in model.items() if at[d] == j}
                model.update(changed)
            case _:
                other = draw.choice([m for m in range(3) if m % 2 == n % 2])
                A[...] = A - arrays[other] * 2
                models[n] = {i: model[i] - models[other][i] * 2 for i in model}
        assert content(arrays[n]) == models[n], seed
    for A, model in zip(arrays, models, strict=True):
        assert content(A) == model


@pytest.mark.parametrize("parts", [1, 3])
def test_the_staggered_example_computes_what_numpy_does(parts):
    """The flow through the channel, with half indices, against slices of NumPy arrays."""
    text = (Path(__file__).parents[2] / "examples/python/domains/staggered.py").read_text()
    assert 'pt.Team(3, "host")' in text
    exec(text.replace('pt.Team(3, "host")', f"pt.Team({parts}, {DEVICE!r})").replace("steps, sweeps = 24, 12, 1.0, 60, 120", "steps, sweeps = 24, 12, 1.0, 60, 40").replace("lost < 0.05 and error < 0.05", "True"), given := {})
    n, m, h, dt = (given[name] for name in ("n", "m", "h", "dt"))
    u, v, phi = np.zeros((n + 1, m + 2)), np.zeros((n + 2, m + 1)), np.zeros((n + 2, m + 2))
    y = (np.arange(m) + 0.5) * h
    u[0, 1:-1], u[n, 1:-1] = 1, 6 * y * (1 - y)
    around = lambda x: x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, 2:] + x[1:-1, :-2]
    for _ in range(60):
        for x in (u, v):
            x[1:-1, 1:-1] += dt / h**2 * (around(x) - 4 * x[1:-1, 1:-1])
        source = (u[1:, 1:-1] - u[:-1, 1:-1] + v[1:-1, 1:] - v[1:-1, :-1]) * h
        for _ in range(40):
            phi[1:-1, 1:-1] = 0.25 * (around(phi) - source)
            phi[0], phi[-1] = phi[1], phi[-2]
            phi[:, 0], phi[:, -1] = phi[:, 1].copy(), phi[:, -2].copy()
        u[1:-1, 1:-1] -= (phi[2:-1, 1:-1] - phi[1:-2, 1:-1]) / h
        v[1:-1, 1:-1] -= (phi[1:-1, 2:-1] - phi[1:-1, 1:-2]) / h
        u[:, 0], u[:, -1] = -u[:, 1], -u[:, -2]
    for name, expected in (("u", u), ("v", v), ("phi", phi)):
        np.testing.assert_allclose(given[name].numpy(), expected, rtol=1e-9, atol=1e-12)
