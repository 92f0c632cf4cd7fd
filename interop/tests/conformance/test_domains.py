"""Chapel's domains: index sets with bounds and strides, the pieces that loops are divided into, assignment, and copies in all processes."""

import gc
import itertools
import pickle
import random
import weakref

import numpy as np
import partita as pt
import pytest

from conformance import ranks
from conformance.test_chapel import HOST, MAPS, held


class Dealt(pt.CustomMap):
    """An author's map: every third index to a part."""

    def __init__(self, size, parts=3):
        self.size, self.parts = size, parts

    def owner(self, index):
        return index % self.parts


class Backwards(Dealt):
    """An author's layout, too: the last index of a part comes first."""

    def local_index(self, index):
        return (self.size - 1 - index) // self.parts


ALL = MAPS | {"own": Dealt, "own layout": Backwards}
#: Ten indices, with strides of either sign, and seven of the second dimension.
RANGES, COLUMNS = (range(-2, 8), range(5, 35, 3), range(9, -1, -1), range(11, -19, -3)), range(3, -4, -1)
EVERY = list(itertools.product(ALL, RANGES))


def dist_of(on, name, rows=10, columns=7):
    return pt.Distribution((rows, columns), team=on(3), grid=(3, 1), dims=[ALL[name](rows), None])


def domain(on, name, rows, columns=COLUMNS):
    return pt.Domain(rows, columns, dist=dist_of(on, name, len(rows), len(columns)))


def content(u):
    """The elements by index."""
    return dict(zip(itertools.product(*u.domain.dims), u.numpy().ravel().tolist(), strict=True))


def sub_ranges(draw, r):
    """Any indices of a range, in steps of either sign."""
    first, last, step = draw.randrange(len(r)), draw.randrange(len(r)), draw.choice([1, 2, 3])
    return r[first : last + 1 : step] if first <= last else r[first : last - 1 if last else None : -step]


@pytest.mark.requirement("B19", "B20")
def test_arrays_over_unlike_domains_are_combined_by_position(on):
    draw = random.Random(19)
    for (name, rows), (other, others) in zip(EVERY, draw.sample(EVERY, len(EVERY)), strict=True):
        A, B = domain(on, name, rows).array(HOST), domain(on, other, others, range(50, 64, 2)).array(HOST[::-1].copy())
        C = A * 2 + B
        assert C.domain.dims == (rows, COLUMNS) and content(C) == {i: 2 * a + b for (i, a), b in zip(content(A).items(), content(B).values(), strict=True)}
        at = A.at[rows[2:9:3], 3:-4:-2] - B.at[others[1:8:3], 50:64:4]
        np.testing.assert_array_equal(at.numpy(), HOST[2:9:3, ::2] - HOST[::-1][1:8:3, ::2])
        assert at.domain.dims == (rows[2:9:3], range(3, -4, -2))
        B.at[others, :] = A
        np.testing.assert_array_equal(B.numpy(), HOST)
        # Unlike shapes are errors, also those that NumPy would broadcast.
        for dims, host in (((range(9), COLUMNS), HOST[:9]), ((range(1), COLUMNS), HOST[:1]), ((COLUMNS,), HOST[0]), ((rows, range(1)), HOST[:, :1])):
            E = pt.Domain(*dims, team=on(3)).array(host.copy())
            for combine in (lambda: A + E, lambda: E + A, lambda: A.__setitem__(slice(None), E)):  # noqa: B023
                with pytest.raises(ValueError, match="one shape|broadcasts to"):
                    combine()
        np.testing.assert_array_equal(A.numpy(), HOST)


@pytest.mark.requirement("B24", "B27")
def test_elements_and_owners_by_index_of_the_domain(on):
    for name, rows in EVERY:
        D = domain(on, name, rows)
        A, host, parts = D.array(HOST), HOST.copy(), [held(part) for part in D.array(HOST).parts]
        for n, i in enumerate(rows):
            for m, j in enumerate(COLUMNS):
                owner = D.owner((i, j))
                # No element is there twice, so its part has it or not.
                assert (i, j) in {index for piece in D.local(owner) for index in piece} and HOST[n, m] in parts[owner]
                assert float(A.at[i, j]) == HOST[n, m]
        for n, m in ((0, 0), (3, 6), (9, 2), (5, 0)):
            A.at[rows[n], COLUMNS[m]] = host[n, m] = host[n, m] * 2 + 1
            A.at[rows[n], COLUMNS[m]] += 3
            host[n, m] += 3
        np.testing.assert_array_equal(A.numpy(), host)
        with pytest.raises(IndexError):
            A.at[rows[-1] + rows.step, 0]


PRINTED = """
team = pt.Team(3)
for dims in (None, pt.Cyclic(1), pt.Unstructured([[9, 0], [1, 2, 3, 4, 5, 6], [8, 7]])):
    D = pt.Domain(range(5, 35, 3), range(2, -1, -1), dist=pt.Distribution((10, 3), team=team, grid=(3, 1), dims=[dims, None]))
    A = D.array(np.arange(30).reshape(10, 3))
    # What is written is put together by all; one writes.
    assert str(D) == "{5:35:3, 2:-1:-1}" and "5:35:3, 2:-1:-1" in repr(D)
    said = str(A)
    assert said.endswith(str(np.arange(30).reshape(10, 3)))
    if team.rank == 0:
        print(D)
        print(said, flush=True)
    assert set(team.share("said", said.encode())) == {said.encode()}
"""


@pytest.mark.requirement("B22")
def test_one_process_writes_domains_and_arrays():
    out = ranks.run(3, PRINTED)
    assert out.count("{5:35:3, 2:-1:-1}") == 6 and out.count(str(np.arange(30).reshape(10, 3))) == 3, out


@pytest.mark.requirement("B1", "B6", "B23")
def test_arrays_know_their_domain_and_domains_their_map(on):
    pt.set_default_team(on(3))
    try:
        assert pt.Domain[0:9, -1:4].team.size == pt.Distribution((9, 5)).team.size == pt.zeros((9, 5)).team.size == 3
    finally:
        pt.set_default_team(None)
    for name, rows in EVERY:
        dist = dist_of(on, name)
        D = pt.Domain(rows, COLUMNS, dist=dist)
        A = D.array(HOST)
        assert D.dist == dist and D.ndim == 2 and D.stride == (rows.step, -1) and D.team == dist.team
        assert A.domain is D and A.dist == dist and A.dtype.name == "float32" and D.zeros("int32").dtype.name == "int32"
        assert [D.owner((i, 0)) for i in rows] == [dist.owner((n, 3)) for n in range(10)]


@pytest.mark.requirement("B2", "B30")
def test_maps_layouts_and_those_of_an_author_have_one_interface(on):
    for rows in RANGES:
        maps = [dist_of(on, name) for name in ALL] + [pt.Distribution((10, 7), team=on(1)), pt.Distribution((10, 7), team=on(3), dims=[pt.Replicated(), None])]
        for dist in maps:
            D = pt.Domain(rows, COLUMNS, dist=dist)
            A = D.array(HOST)
            assert sorted(i for part in range(dist.num_parts) for piece in D.local(part) for i in piece) == sorted(D)
            A.at[rows[4], 0] = -1
            B = A.at[rows[2:8:2], 1:-2:-1] * 2 + 1
            assert A.numpy()[4, 3] == -1 and float(A.sum()) == HOST.sum() - HOST[4, 3] - 1
            np.testing.assert_array_equal(B.numpy(), A.numpy()[2:8:2, 2:5] * 2 + 1)
        # Layouts are the author's: that is how parts are stored.
        for name, order in (("own", 1), ("own layout", -1)):
            parts = pt.Domain(rows, COLUMNS, dist=dist_of(on, name)).array(HOST).parts
            for part in parts:
                np.testing.assert_array_equal(held(part), HOST[part.index :: 3][::order], err_msg=f"part {part.index} of {name}")


@pytest.mark.requirement("B30")
def test_what_an_author_left_out_is_named(on):
    class Nothing(pt.CustomMap):
        def __init__(self, size):
            self.size, self.parts = size, 3

    class Owned(Nothing):
        owner = lambda self, index: (index // 2) % 3

    with pytest.raises(NotImplementedError, match=r"Nothing to have a method owner"):
        pt.Domain(range(10), team=on(3), dims=[Nothing(10)])
    D = pt.Domain(range(5, 15), team=on(3), dims=[Owned(10)])
    A = D.array(np.arange(10, dtype=np.float32))
    A.at[6:15] = A.at[5:14] + A.at[6:15]
    assert A.tolist() == [0, 1, 3, 5, 7, 9, 11, 13, 15, 17] and [D.owner(i) for i in D] == [0, 0, 1, 1, 2, 2, 0, 0, 1, 1]


@pytest.mark.requirement("B7")
def test_other_kinds_of_domains_are_refused(on):
    for kind in ({1, 2, 5}, frozenset({1}), {"a": 1}, {1: 2}, [1, 4, 6], "abc", None, 1.5, slice(1, None)):
        with pytest.raises(TypeError, match=r"domains are rectangular, given .*Unstructured"):
            pt.Domain(kind, team=on(3))
        with pytest.raises(TypeError, match="domains are rectangular"):
            pt.Domain[0:5, 1:5].set(range(5), kind)


@pytest.mark.requirement("B8", "B9")
def test_a_map_makes_domains_of_any_rank_stride_and_kind_of_index(on):
    for name, rows in EVERY:
        for dims in ((rows,), (rows, COLUMNS), (rows, range(4, 1, -2), COLUMNS)):
            dist = pt.Distribution(tuple(map(len, dims)), team=on(3), grid=(3,) + (1,) * (len(dims) - 1), dims=[ALL[name](10)] + [None] * (len(dims) - 1))
            D = pt.Domain(*dims, dist=dist)
            assert [(r.start, r.stop, r.step) for r in D.dims] == [(r.start, r.stop, r.step) for r in dims] and D.dist == dist
            for same in (pt.Domain(D.dims, dist=dist), pt.Domain(D, dist=dist), pt.Domain(*(slice(np.int64(r.start), np.int32(r.stop), r.step) for r in dims), dist=dist)):
                assert same == D and same.dims == D.dims
            with pytest.raises(ValueError, match="expected a distribution of shape"):
                pt.Domain(*dims, range(3), dist=dist)


@pytest.mark.requirement("B10", "B11", "B26")
def test_indices_are_set_from_domains_and_from_ranges(on):
    for name, rows in EVERY:
        for new in ((range(0, 12), COLUMNS), (range(20, -4, -3), range(-3, 6)), (range(2), range(40, 44)), (range(0), COLUMNS)):
            dist = dist_of(on, name, len(new[0]), len(new[1])) if len(new[0]) == 12 else pt.Distribution(tuple(map(len, new)), team=on(3))
            for given in ((pt.Domain(*new, dist=dist),), new):
                D = domain(on, name, rows)
                A, B = D.array(HOST), D.ones("int32")
                old = content(A)
                D.set(*given, dist=dist)
                assert D.dims == new and A.domain is D and B.domain is D and A.shape == B.shape == D.shape and A.dist == B.dist == D.dist == dist
                assert content(A) == {i: old.get(i, 0) for i in D} and content(B) == {i: int(i in old) for i in D}
    D = domain(on, "block", RANGES[1])
    A = D.array(HOST)
    for other in ((range(5),), (pt.Domain[0:5],), (range(5), range(5), range(5))):
        with pytest.raises(ValueError, match="expected 2 ranges, given"):
            D.set(*other)
    assert D.dims == (RANGES[1], COLUMNS) and A.tolist() == HOST.tolist()


@pytest.mark.requirement("B12")
def test_domains_are_walked_in_order(on):
    for name, rows in EVERY:
        line = pt.Domain(rows, team=on(3), dims=[ALL[name](10)])
        assert list(line) == list(rows) and all(type(i) is int for i in line)
        D = domain(on, name, rows)
        assert list(D) == [(i, j) for i in rows for j in COLUMNS]
        assert [float(A) for A in D.array(HOST).at[rows[3], :]] == HOST[3].tolist()


@pytest.mark.requirement("B14", "B16", "B17", "B18")
def test_pieces_are_walked_by_position_whoever_made_them(on):
    """A piece is described by its positions in its own domain; any other domain of that shape takes them, in that order."""
    draw = random.Random(14)
    for (name, rows), (other, others) in zip(EVERY, draw.sample(EVERY, len(EVERY)), strict=True):
        D, E = domain(on, name, rows), domain(on, other, others, range(50, 64, 2))
        A, B, at = D.array(HOST), E.array(HOST + 100), D.array(np.arange(70, dtype=np.int32).reshape(10, 7))
        # Of the whole the positions are 0, 1, 2, ...
        assert [D.index_order(i) for i in D] == [E.index_order(i) for i in E] == list(range(70)) == at.at[D].numpy().ravel().tolist()
        leaders = [draw.choice(D.local(part)) for part in range(3)]
        anyone = [D & pt.Domain(sub_ranges(draw, rows), sub_ranges(draw, COLUMNS)) if n else D.by((-2, 3)) for n in range(3)]
        anyone += [pt.Domain(sub_ranges(draw, rows), sub_ranges(draw, COLUMNS)) for _ in range(3)]
        for piece in leaders + anyone:
            # From indices to positions, and back.
            positions = [D.index_order(i) for i in piece]
            assert at.at[piece].numpy().ravel().tolist() == positions and [list(D)[n] for n in positions] == list(piece)
            assert piece not in leaders or positions == sorted(positions)
            # The other domain's indices there: from positions, range by range.
            there = pt.Domain(*(whole[to_slice([r.index(i) for i in one])] for whole, r, one in zip(E.dims, D.dims, piece.dims, strict=True)))
            assert [E.index_order(i) for i in there] == positions
            follow = A.at[piece] + B.at[there]
            assert follow.domain.dims == piece.dims and B.at[there].domain.dims == there.dims
            assert follow.numpy().ravel().tolist() == [2 * n + 100 for n in positions]


def to_slice(places):
    step = places[1] - places[0] if len(places) > 1 else 1
    stop = places[-1] + (1 if step > 0 else -1)
    return slice(places[0], None if stop < 0 else stop, step)


@pytest.mark.requirement("B21")
def test_loops_over_one_domain_have_the_elements_of_all_pieces():
    on = lambda parts: pt.Team(parts, "host")
    for name, rows in EVERY:
        D = domain(on, name, rows)
        pieces, called, calls = {part: [i for piece in D.local(part) for i in piece] for part in range(3)}, {}, []
        assert sorted(itertools.chain(*pieces.values())) == sorted(D) and all(D.owner(i) == part for part, own in pieces.items() for i in own)

        def double(block, a, out, called=called, calls=calls):
            called[block.number] = [i for piece in block.domains for i in piece]
            calls.append(block.number)
            np.asarray(out)[...] = 2 * np.asarray(a)

        B = pt.map_parts(double, D.array(HOST), domain=D)
        assert {part: sorted(own) for part, own in called.items()} == {part: sorted(own) for part, own in pieces.items()} and len(calls) == len(set(calls))
        assert content(B) == {i: 2 * D.index_order(i) for i in D}


@pytest.mark.requirement("B28")
def test_a_domain_tells_its_bounds_and_its_members(on):
    for name, rows in EVERY:
        D = domain(on, name, rows)
        assert D.dims == (rows, COLUMNS) and (D.low, D.high) == ((min(rows), -3), (max(rows), 3)) and D.stride == (rows.step, -1)
        assert D.size == len(D) == len(list(D)) == 70 and D.shape == (10, 7)
        members = set(D)
        box = list(itertools.product(range(-25, 40), range(-5, 6)))
        assert [i in D for i in box] == [i in members for i in box] and 3 not in D and (3, 0, 0) not in D
        assert [D.index_order(i) for i in D] == list(range(70))
        for index in ((100, 0), (rows[0], 4), 3):
            with pytest.raises(IndexError, match="expected one of"):
                D.index_order(index)


@pytest.mark.requirement("B29")
def test_domains_hold_no_arrays(on):
    D = domain(on, "cyclic", RANGES[0])
    A, B = D.array(HOST), D.zeros("float32")
    seen = weakref.ref(B)
    made = [D.expand(1), D & D.by(2), D.translate(3), pickle.loads(pickle.dumps(D)), (A + 1).domain]
    others = [(A + 1).eval(), A.copy(), A.at[D.interior((2, 2))]]
    del B
    gc.collect()
    assert seen() is None
    D.set(range(0, 12), range(3))
    # What was only derived follows nobody: it does without.
    assert A.shape == (12, 3) and [u.shape for u in others] == [(10, 7), (10, 7), (2, 2)] and [E.shape[1] for E in made] == [9, 4, 7, 7, 7]
    # Arrays keep their domains, domains their maps.
    rows = D.dims
    del D, made
    gc.collect()
    assert A.domain.dims == rows and A.domain.owner((0, 0)) == 0 and A.domain.dist == A.dist


@pytest.mark.requirement("B29")
def test_a_domain_does_without_the_list_of_its_arrays(on):
    for name, rows in EVERY:
        D = pt.Domain(rows, COLUMNS, dist=dist_of(on, name), fixed=True)
        A, listed = D.array(HOST), domain(on, name, rows).array(HOST)
        # A list refers to its arrays.
        assert weakref.getweakrefcount(A) == weakref.getweakrefcount(listed) - 1
        A.at[rows[2], 0] = -1
        assert A.domain is D and A.at[rows[2], 0].item() == -1 and content(A + 1) == {i: 1 + a for i, a in content(A).items()}
        before = content(A)
        for fixed in (D, D.translate(1), D.by(2) & D, pickle.loads(pickle.dumps(D)), pickle.loads(pickle.dumps(A)).domain):
            dims = fixed.dims
            with pytest.raises(TypeError, match="Domain.set: expected a domain that lists its arrays, given one made with fixed=True"):
                fixed.set(range(3), range(3))
            assert fixed.dims == dims and content(A) == before
        # Another domain of the same indices lists its own.
        E = pt.Domain(D, dist=D.dist)
        B = E.array(A)
        E.set(range(2), range(2), dist=pt.Distribution((2, 2), team=on(3)))
        assert B.shape == (2, 2) and A.shape == (10, 7)


ALONE = """
team = pt.Team(3)
before = team.messages
if team.rank == 1:
    # The others have neither this map nor this domain: where making or asking were collective, it would wait until its deadline.
    D = pt.Domain(range(9, -1, -1), dist=pt.Distribution(10, team=team, dims=[pt.Cyclic(2)]))
    assert [D.owner(i) for i in D] == [0, 0, 1, 1, 2, 2, 0, 0, 1, 1] and [len(D.local(part)) for part in range(3)] == [2, 2, 1]
    assert D.by(2).expand(1).owner(7) == 1 and D.dist.owned(2)
assert team.messages == before
# Others, and arrays, do not need it.
E = pt.Domain(range(-3, 9), team=team)
print("same", E.ones("float32").sum().item(), E.owner(0))
"""


@pytest.mark.requirement("B31")
def test_one_process_may_have_descriptions_alone():
    assert ranks.run(3, ALONE, PARTITA_DEADLINE_SECONDS="8").count("same 12.0 0") == 3


COPIES = """
import pickle
team = pt.Team(3)
dims = range(9, -1, -1)
made = pt.Domain(dims, dist=pt.Distribution(10, team=team, dims=[pt.Cyclic(2)])) if team.rank == 0 else None
# All that a copy needs is in one message.
said = team.share("domain", pickle.dumps(made) if team.rank == 0 else b"")[0]
before = team.messages
D = pickle.loads(said)
for copy in (D, pickle.loads(pickle.dumps(D))):
    assert copy.dims == (dims,) and copy.team == team and copy.dist == pt.Distribution(10, team=team, dims=[pt.Cyclic(2)])
    assert [copy.owner(i) for i in dims] == [0, 0, 1, 1, 2, 2, 0, 0, 1, 1] and [list(piece) for piece in copy.local(2)] == [[5, 4]]
assert team.messages == before
A = D.array(np.arange(10, dtype="float32"))
assert np.from_dlpack(A.parts[0]).tolist() == [[0, 1, 6, 7], [2, 3, 8, 9], [4, 5]][team.rank]
print("copied")
"""


@pytest.mark.requirement("B32")
def test_a_copy_is_made_of_one_message():
    assert ranks.run(3, COPIES).count("copied") == 3


CHANGED = """
import pickle
team = pt.Team(3)
D = pt.Domain(range(9, -1, -1), dist=pt.Distribution(10, team=team, dims=[pt.Cyclic(2)]))
A, B = D.array(np.arange(10, dtype="float32")), D.ones("float32")
copies = pickle.loads(pickle.dumps(D)), A.domain, B.domain

def reads(rows):
    before = team.messages
    assert A.domain is D and B.domain is D and D.dims == (rows,) and A.dist == B.dist == D.dist and A.shape == D.shape == (len(rows),)
    assert [D.owner(i) for i in rows] == [A.domain.owner(i) for i in rows] == [A.dist.owner((n,)) for n in range(len(rows))] == [n // 2 % 3 for n in range(len(rows))]
    assert sorted(i for part in range(3) for piece in B.domain.local(part) for i in piece) == sorted(rows) and D.expand(1).size == len(rows) + 2
    assert A.domain.dist.team == A.team == team and D.dist.neighbors(1) is not None
    again = pickle.loads(pickle.dumps(D))
    assert again.dims == D.dims and again.dist == D.dist
    assert team.messages == before, "reading descriptions sends"

reads(range(9, -1, -1))
D.set(range(-2, 12))
reads(range(-2, 12))
assert A.tolist() == [0, 0, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0] and copies[0].dims == (range(9, -1, -1),)
D.set(pt.Domain(range(0, 12, 2), team=team))
reads(range(0, 12, 2))
(U, E), E0 = pickle.loads(pickle.dumps((A, A.domain))), D
assert U.domain.dims == E.dims == D.dims and U.domain.dist == U.dist == E.dist and E is not D and U.domain is not D
E.set(range(3))
assert D.dims == (range(0, 12, 2),) and A.tolist() == [9, 7, 5, 3, 1, 0]
print("changed")
"""


@pytest.mark.requirement("B33", "B34")
def test_after_a_change_every_process_knows_the_indices_and_sends_nothing_for_them():
    assert ranks.run(3, CHANGED).count("changed") == 3
