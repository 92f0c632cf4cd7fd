"""Views are NumPy's: what shares, what is a copy, and who sees a write. Every expression runs in NumPy, too."""

import gc
import itertools
import weakref

import numpy as np
import partita as pt
import pytest

SHAPES = [(), (1,), (7,), (4, 6), (1, 5), (3, 1, 4), (2, 3, 4), (0, 3), (2, 0)]
#: Expressions of an array `u`, most of them views.
EXPRESSIONS = [
    "u[1:-1]", "u[::-2]", "u[None]", "u[...]", "u[0]", "u[-1, ...]", "u[..., 0]", "u[..., 1:]", "u[:, None]", "u[()]", "u[0, 0]",
    "u.T", "u.mT", "xp.transpose(u)", "u.swapaxes(0, -1)", "xp.moveaxis(u, 0, -1)", "xp.flip(u)", "xp.flip(u, 0)",
    "xp.expand_dims(u, 0)", "xp.expand_dims(u, (0, -1))", "xp.squeeze(u)", "u.reshape(-1)", "u.reshape(2, -1)",
    "u.reshape(-1, 2)", "u.reshape(-1, 1)", "u.ravel()", "u.flatten()", "u.copy()", "u + 0", "u[[0]]", "u[u > 2]",
    "xp.broadcast_to(u, (2, *u.shape))", "xp.broadcast_to(u, u.shape)", "u.diagonal()", "u.diagonal(1, -1, 0)", "u.real",
    "u.imag", "u.view('uint64')", "u.view(u.dtype)", "xp.unstack(u)[-1]", "list(u)[0]", "xp.roll(u, 1, 0)", "xp.take(u, xp.asarray([0]), axis=0)",
    "xp.broadcast_arrays(u, u[:1])[1]", "xp.concatenate([u])", "xp.tile(u, 1)", "xp.where(u > 2, u, 0)", "abs(u)",
]  # fmt: skip


def made(shape, dtype="int64"):
    """Different elements, so that none can stand for another."""
    host = np.arange(np.prod(shape, dtype=int)).reshape(shape) + 1
    return np.asarray(host + 1j * (host + 100) if np.dtype(dtype).kind == "c" else host, dtype)


def evaluated(text, xp, u):
    """The value of an expression, or the class of errors that it raises."""
    try:
        return eval(text, {"xp": xp, "u": u})
    except (AttributeError, IndexError, TypeError, ValueError):
        return None


def value(x):
    return x.numpy() if isinstance(x, pt.Array) else np.asarray(x)


def same(ours, theirs, what):
    for a, b in zip(ours, theirs, strict=True):
        a, b = value(a), np.asarray(b)
        assert (a.shape, a.dtype) == (b.shape, b.dtype), what
        np.testing.assert_array_equal(a, b, err_msg=what)


def chains(shape):
    yield from ((one, "u") for one in EXPRESSIONS)
    yield from itertools.product(EXPRESSIONS, EXPRESSIONS)


@pytest.mark.filterwarnings("ignore:future versions will not create a writeable array")
@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_expressions_share_and_write_as_in_numpy(shape, parts):
    team, count, tried = pt.Team(parts, "host"), 0, 0
    for first, second in chains(shape):
        host = made(shape)
        u = pt.asarray(host, team=team)
        theirs = [host, evaluated(first, np, host)]
        if theirs[1] is None or (second != "u" and (tried := tried + 1) % (5 * parts)):
            continue
        theirs.append(evaluated(second, np, theirs[1]))
        # A scalar of NumPy is no array; and its take gives an array without dimensions one.
        if theirs[2] is None or (second != "u" and isinstance(theirs[1], np.generic)) or "take" in first + second and 0 in (host.ndim, theirs[1].ndim):
            continue
        what = f"{shape}: v = {first}; w = {second.replace('u', 'v')}"
        ours = [u, eval(first, {"xp": pt, "u": u})]
        ours.append(eval(second, {"xp": pt, "u": ours[1]}))
        same(ours, theirs, what)
        for i, j in ((0, 1), (0, 2), (1, 2)):
            if all(isinstance(theirs[k], np.ndarray) for k in (i, j)):
                assert pt.shares_memory(ours[i], ours[j]) == np.shares_memory(theirs[i], theirs[j]), (what, i, j)
                assert not np.shares_memory(theirs[i], theirs[j]) or pt.may_share_memory(ours[i], ours[j]), (what, i, j)
        count += 1
        for name, ours_now, theirs_now in zip("vw", ours[1:], theirs[1:], strict=True):
            if not isinstance(theirs_now, np.ndarray):
                continue
            # Writing to the repeated elements of broadcast_arrays is deprecated in NumPy.
            is_open = "broadcast_arrays" in what and not ours_now.flags.writeable
            assert ours_now.flags.writeable == theirs_now.flags.writeable or is_open, (what, name)
            if not ours_now.flags.writeable:
                with pytest.raises(ValueError, match="read-only"):
                    ours_now[...] = 1
                continue
            line = -made(theirs_now.shape[-1:])
            for x, values in ((ours_now, pt.asarray(line, team=team)), (theirs_now, line)):
                x[...] = values
            same(ours, theirs, f"{what}; {name}[...] = ...")
            for x in (ours_now, theirs_now):
                x *= 3
            same(ours, theirs, f"{what}; {name} *= 3")
        for x in (ours[0], theirs[0]):
            x[...] = x + 1000
        same(ours, theirs, f"{what}; u[...] = u + 1000")
    assert count > 20


@pytest.mark.parametrize("parts", [1, 3])
def test_views_as_another_type_are_of_the_same_bits(parts):
    for dtype, other in itertools.product("? i1 u1 i2 u2 f2 i4 u4 f4 i8 u8 f8".split(), repeat=2):
        numbers = [0, 1, 2, 100, -1, -128, 77, 3] if dtype[0] in "iu" else [0, 1, 2, 100, -1, -0.0, np.nan, np.inf]
        # float16 has one NaN here: others than that do not keep their bits.
        host = np.array([abs(x) for x in numbers] if dtype in ("i2", "u2") else numbers).astype(dtype)
        u = pt.asarray(host, team=pt.Team(parts, "host"))
        if np.dtype(dtype).itemsize != np.dtype(other).itemsize:
            with pytest.raises(TypeError, match=f"view: expected a type of {u.itemsize} bytes"):
                u.view(other)
            continue
        v, theirs = u.view(other), host.view(other)
        assert v.dtype == other and v.base is (u if dtype != other else v.base) and pt.shares_memory(u, v)
        if not (other == "?" and dtype != "?"):
            # NumPy's bool has all bits of a byte, ours is 0 or 1.
            assert v.numpy().tobytes() == theirs.tobytes()
        v[1:3] = v[:2].copy()
        theirs[1:3] = theirs[:2].copy()
        if "?" not in (dtype, other):
            assert u.numpy().tobytes() == host.tobytes(), (dtype, other)
    with pytest.raises(TypeError, match="not complex"):
        pt.zeros(2, complex).view(float)


@pytest.mark.parametrize("parts", [1, 3])
def test_elements_of_pending_views_are_read_where_they_are(parts):
    """The view is not computed for that."""
    host = np.arange(24.0).reshape(4, 6)
    for kind in ("f8", "c16", "i2", "?"):
        mine = host.astype(kind)
        u = pt.asarray(mine, team=pt.Team(parts, "host"))
        for text in ("u[2, 3]", "u.T[5, 1]", "u[::-2, 1:][0, -1]", "u[1:3][1][2:][0]", "u[:, None, ::-1][3, 0, 0]", "pt.roll(u, 1, 0)[0, 0]", "(u + u)[1, 1]"):
            pending = eval(text, {"pt": pt, "u": u})
            assert pending.item() == eval(text, {"pt": np, "u": mine}).item() and type(pending.item()) is type(mine[0, 0].item()), text
            assert "+" in text or "roll" in text or not pending._native.is_computed(), text
        seen = u[1, 1]
        u[...] = 0
        assert seen.item() == mine[1, 1].item() and u[1, 1].item() == 0


@pytest.mark.parametrize("parts", [1, 3])
def test_real_and_imaginary_parts_are_views(parts):
    for shape, first in itertools.product([(), (5,), (3, 4)], ["u", "u[1:]", "u.T", "u[::-1]", "u.reshape(-1)", "u[..., None]"]):
        for text in (
            "v.real[...] = 7", "v.imag[...] = v.real", "v.real[..., 1:] = 5", "v.imag += 2", "v.real = -v.imag",
            "v.imag.T[...] = 9", "v.real.reshape(-1)[:] = 4", "v.real[v.imag > 104] = 0",
        ):  # fmt: skip
            results = []
            for xp, u in ((np, made(shape, "complex128")), (pt, pt.asarray(made(shape, "complex128"), team=pt.Team(parts, "host")))):
                v = evaluated(first, xp, u)
                if v is None:
                    continue
                try:
                    exec(text, {"xp": xp, "v": v})
                except IndexError:
                    continue
                results.append((u, v, pt.shares_memory(u, v.imag) if xp is pt else np.shares_memory(u, v.imag)))
            if results:
                same(results[1], results[0], f"{shape} v = {first}; {text}")
    x = pt.ones(3)
    assert x.real is x and not x.imag.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        x.imag[0] = 1


#: Programs of a state `u` of 6 x 8 floats, with the names that are compared at the end.
PROGRAMS = {
    "a row's element": "u[0][0] = 5",
    "a named window": "c = u[1:-1, 1:-1]\nfor _ in range(4):\n    work = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1])\n    c[:] = work",
    "a mask of a window": "u[1:-1, 1:-1][u[1:-1, 1:-1] > 20] = 1",
    "an index array of a window": "u[1:-1, 1:-1][[0, 2], [1, 1]] = -1",
    "a row of the transpose": "u.T[0] = 7",
    "an element of the flat array": "u.ravel()[9] = -3",
    "rows": "for row in u:\n    row[:] = row[::-1] * 2",
    "windows in place": "v = u[1:, ::2]\nv += 1\nv -= u[:-1, ::2]\nv *= 2\nv /= 4\nv //= 1\nv %= 7",
    "an index in place": "u[1:3] += 1\nu[2, 3] *= 2\nu[1:][0] -= 4",
    "overlap": "u[1:] = u[:-1]\nu[:, ::-1][:, :3] = u[:, :3]",
    "overlap in place": "u[1:] += u[:-1]",
    "a value before a write": "w = u[1:] * 2\nv = u[1:].copy()\nu[...] = 0\nw2 = w + 1",
    "a view after a write": "v = u[2]\nw = v + 1\nu[2] = 8\nx = v + 1",
    "two views": "v, w = u[:, 1:], u[1:, :]\nv[0] = 1\nw[:, 0] = 2\nv[...] = v + 1\nw[...] = w * 2",
    "a swap": "u[0], u[1] = u[1].copy(), u[0].copy()",
    "a lost swap": "u[0], u[1] = u[1], u[0]",
    "a view of a temporary": "v = (u + 1)[2:]\nw = v[0]\nv[...] = 3",
    "an element is a value": "x = u[0, 0]\ny = u[0, 0, ...]\nu[0, 0] = 99",
    "a list of views": "rows = [u[i] for i in range(6)]\nrows[0][:] = rows[5]\nrows[3][1:] = rows[0][:-1]\nu *= 2\nw = rows[3] + 0",
    "blocks": "v = u.reshape(3, 2, 4, 2)\nv[:, 0, :, 1] = 0\nv.swapaxes(1, 2)[0] = 5",
    "a column of a reshape": "v = u[2:5].reshape(4, 6)\nv[:, 1] = -1",
    "a view of itself": "u[...] = u.T.copy().T\nu[:] = u[::-1]",
    "deep": "v = u\nfor _ in range(3):\n    v = v[1:].T\nv[...] = 0",
    "new dimensions": "v = u[:, None, :, None]\nv[:, 0, :, 0] = v[:, 0, :, 0] + 1\nv[0] = 4",
    "numbers": "v = u[1:2, 3:4]\nv[0, 0] = 2.5\nw = v.reshape(())\nw[...] = 7",
    "no elements": "v = u[3:3]\nv[...] = 4\nv += 1\nu[:, 8:] = 3",
}


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("layout", [{}, {"halo": 1}, {"dims": "cyclic"}, {"grid": "columns"}], ids=str)
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_are_numpys(name, layout, parts):
    host = made((6, 8), "float64")
    words = dict(layout)
    if "dims" in words:
        words["dims"] = [pt.Cyclic(2), pt.Cyclic(1)]
    if "grid" in words:
        words["grid"] = (1, parts)
    u = pt.asarray(host, dist=pt.Distribution(host.shape, team=pt.Team(parts, "host"), **words))
    names = [{"u": u, "xp": pt}, {"u": host, "xp": np}]
    for scope in names:
        exec(PROGRAMS[name], scope)
    arrays = [key for key, x in names[1].items() if isinstance(x, (np.ndarray, np.generic))]
    same([names[0][key] for key in arrays], [names[1][key] for key in arrays], name)
    assert u.dist == names[0]["u"].dist


def test_bases_and_flags():
    u = pt.zeros((4, 6), team=pt.Team(3, "host"))
    assert u.base is None and u[1:].base is u and u[1:].T[0].base is u and u[0, ...].base is u
    assert u.copy().base is None and u[0, 0].base is None and (u[1:] + 1).base is None and u[[0]].base is None
    host = np.zeros((4, 6))
    for text in ("u", "u.T", "u[1:]", "u[:, 1:]", "u[:1, 2:3]", "u[::2]", "u.reshape(3, 8)", "u.diagonal()"):
        ours, theirs = eval(text, {"u": u}).flags, eval(text, {"u": host}).flags
        for flag in ("writeable", "owndata", "c_contiguous", "f_contiguous"):
            expected = getattr(theirs, flag)
            assert getattr(ours, flag) == expected and ours[flag.upper()] == expected, (text, flag)
    assert "C_CONTIGUOUS : True" in repr(u.flags)
    v = u[0]
    u.flags.writeable = False
    assert not u[1:].flags.writeable and v.flags.writeable
    for write in ("u[0] = 1", "u += 1", "u[u > 1] = 2", "u[1:] *= 2", "u[[0]] = 3"):
        with pytest.raises(ValueError, match="read-only"):
            exec(write, {"u": u})
    with pytest.raises(ValueError, match="read-only"):
        u[1:].flags.writeable = True
    u.flags.writeable = True
    u[0] = 1
    assert float(u.sum()) == 6


def test_a_window_is_written_in_place():
    """A view that was read holds the old memory of its root no longer than until the root is written."""
    team = pt.Team(1, "host")
    u = pt.ones((600, 600), team=team)
    u.eval()
    inner, edge = u[1:-1, 1:-1], u[0]
    device, most = team.devices[0], 0
    before = device.memory["in_use_bytes"]
    for step in range(5):
        assert float(inner[0, 0]) == (1 if step == 0 else step - 1) and float(edge[0]) == 1
        inner[:] = float(step)
        most = max(most, device.memory["in_use_bytes"] - before)
    assert most < u.nbytes / 2, most


def test_views_go_when_nobody_has_them():
    u = pt.zeros(1000)
    for _ in range(10_000):
        u[1:] + u[:-1]
    assert len(u._readers) < 200
    row = weakref.ref(u[3:])
    gc.collect()
    assert row() is None
    v = (pt.ones(5) + 1)[2:]
    assert v.base is not None and v.tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("parts", [1, 3])
def test_a_loop_writes_through_views(parts):
    host = np.random.default_rng(3).random((9, 7))
    ours = pt.asarray(host, team=pt.Team(parts, "host"))

    def heat(u):
        inner = u[1:-1, 1:-1]
        inner[:] = inner + 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] - 2 * inner)
        u[0][1:] = u[1][:-1]
        u.T[0] += 0.5

    loop = pt.Loop(heat)
    outside, row = ours[1:-1], ours[4]
    for steps in (7, 5):
        loop.run(ours, steps=steps)
        for _ in range(steps):
            heat(host)
        same([ours, outside, row], [host, host[1:-1], host[4]], "loop")
    assert loop.is_replaying


@pytest.mark.parametrize("parts", [1, 3])
def test_views_that_are_older_than_the_loop_or_its_state(parts):
    host = np.arange(40.0).reshape(8, 5)
    ours = pt.asarray(host, team=pt.Team(parts, "host"))
    results = []
    for run, u in ((lambda step, *s: pt.Loop(step).run(*s, steps=6), ours), (lambda step, *s: [step(*s) for _ in range(6)], host)):
        inner, odd = u[1:-1], u[::2, 1:]

        def older(u, inner=inner):
            inner[...] = inner * 0.5 + u[2:]

        def of_a_view(v):
            v[:, 1:] = v[:, :-1] + 1
            v *= 0.5

        def of_both(v, w):
            v += 1
            w[...] = w * 2

        run(older, u)
        run(of_a_view, odd)
        run(of_both, u[:4], u[2:, 0])
        results.append((u, inner, odd))
    same(*results, "loops")
    v = ours[1:3]
    pt.Loop(lambda v: v * 2).run(v, steps=2)
    host[1:3] *= 4
    same([ours, v], [host, host[1:3]], "a step that returns its state")


def test_old_values_stay():
    """An expression is a value: writes to what it was recorded from come after it."""
    for parts in (1, 3):
        u = pt.asarray(np.arange(10.0), team=pt.Team(parts, "host"))
        v = u[2:5]
        double, later = v * 2, v
        v[0] = -1
        u[4] = -5
        assert double.tolist() == [4, 6, 8] and later.tolist() == [-1, 3, -5]
        exported = np.from_dlpack(u.parts[0])
        kept = exported.copy()
        v[...] = 100
        np.testing.assert_array_equal(exported, kept)


FRESH = [
    "xp.take(u, 1, axis=0)", "xp.take(u, 0, axis=1)", "xp.prod(u[:1], axis=0)", "xp.prod(u[:1], axis=0, keepdims=True)",
    "xp.sum(u[:1], axis=0)", "xp.max(abs(u[:1]), axis=0)", "xp.sum(u, axis=())", "xp.conj(u)", "xp.positive(u)", "+u", "xp.roll(u, 0, 0)",
    "xp.roll(u, 0)", "xp.pad(u, 0)", "xp.repeat(u, 1, axis=0)", "xp.tile(u, ())", "u.astype(u.dtype)", "xp.where(u == u, u, u)",
    "xp.concatenate([u])", "xp.stack([u])[0]", "u[0] @ u[1]", "u[:1, :1] @ u[:1]", "xp.tensordot(u[:1], u[:1], axes=([0], [0]))",
    "xp.clip(abs(u), 0, 99)", "xp.round(abs(u))", "xp.reciprocal(u + 1)", "u.copy()", "u.flatten()", "u[[0, 1]]", "u[u != 3]",
    "xp.asarray(u, copy=True)",
]  # fmt: skip


@pytest.mark.parametrize("parts", [1, 3])
@pytest.mark.parametrize("dtype", ["int64", "float64", "complex128"])
@pytest.mark.parametrize("text", FRESH)
def test_results_are_new_arrays(text, dtype, parts):
    """Writing to them changes no operand, and is not refused."""
    host = made((2, 3), dtype)
    for xp, u in ((np, host.copy()), (pt, pt.asarray(host, team=pt.Team(parts, "host")))):
        result = eval(text, {"xp": xp, "u": u})
        if getattr(result, "ndim", 0):
            result[...] = 77
        np.testing.assert_array_equal(value(u), host)


def test_grids_are_new_arrays():
    x, y = pt.arange(3), pt.arange(4)
    for grid in pt.array_api.meshgrid(x, y):
        grid[...] = 5
        assert grid.tolist() == [[5] * 3] * 4
    assert x.tolist() == [0, 1, 2] and y.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("kind", ["float64", "float32", "int8", "bool", "complex128"])
@pytest.mark.parametrize("shape", [(50, 8), (50, 3), (7, 4, 5), (5, 1), (6, 0)])
def test_whole_rows_by_numbers_are_numpy_s(host_team, kind, shape):
    rng = np.random.default_rng(3)
    host = (5 * rng.normal(size=shape)).astype(kind)
    for rows in (rng.integers(-len(host), len(host), 30), rng.integers(0, len(host), (4, 6)), np.array([], int), np.array([3], "u1")):
        u = pt.asarray(host, team=host_team)
        taken = u[rows]
        assert taken.shape == host[rows].shape
        np.testing.assert_array_equal(taken.numpy(), host[rows])
        given = (5 * rng.normal(size=taken.shape)).astype(kind)
        for value in (given, pt.asarray(given, team=host_team), 1, given[..., :1]):
            changed, v = host.copy(), pt.asarray(host, team=host_team)
            changed[rows] = value.numpy() if isinstance(value, pt.Array) else value
            v[rows] = value
            np.testing.assert_array_equal(v.numpy(), changed)


def test_rows_beyond_the_ends_change_nothing_and_rows_of_the_array_itself_are_old_ones(host_team):
    host = np.arange(24.0).reshape(6, 4)
    u, back = pt.asarray(host, team=host_team), np.array([5, 4, 3, 2, 1, 0])
    for rows in ([0, 6], [1, -7]):
        with pytest.raises(IndexError):
            u[np.array(rows)]
        with pytest.raises(IndexError):
            u[np.array(rows)] = np.ones((2, 4))
    np.testing.assert_array_equal(u.numpy(), host)
    u[back] = u
    np.testing.assert_array_equal(u.numpy(), host[::-1])
