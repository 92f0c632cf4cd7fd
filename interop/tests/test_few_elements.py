"""Elements of small arrays by our own masks and indices, which the extension reads and writes by itself, beside NumPy."""

import numpy as np
import partita as pt
import pytest

KINDS = ["float64", "float32", "int64", "uint8", "bool", "complex128"]


def numbers(rng, shape, kind):
    values = rng.integers(0, 2 if kind == "bool" else 100, shape).astype(kind)
    return values + 1j * rng.integers(0, 9, shape) if kind == "complex128" else values


def keys(rng, shape):
    """A mask of all, one of rows, indices in one and two dimensions."""
    yield rng.random(shape) < 0.4
    yield rng.random(shape[0]) < 0.5
    if shape[0]:
        yield rng.integers(-shape[0], shape[0], rng.integers(1, 9))
        yield rng.integers(0, shape[0], (2, 3)).astype(rng.choice(["int8", "int32", "uint16"]))


@pytest.mark.parametrize("parts", [1, 3])
def test_elements_are_numpys(parts):
    team, compared = pt.Team(parts, "host"), 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        shape = tuple(rng.integers(0 if seed % 10 == 0 else 1, 7, rng.integers(1, 4)).tolist())
        host = numbers(rng, shape, KINDS[seed % len(KINDS)])
        u = pt.asarray(host, team=team)
        for key in keys(rng, shape):
            ours = pt.asarray(key, team=team)
            np.testing.assert_array_equal(u[ours].numpy(), host[key])
            assert u[ours].dtype.name == host.dtype.name
            # Of an index that is named twice the last value stays.
            value = numbers(rng, host[key].shape, host.dtype.name)
            for new in (value, value.ravel()[0].item() if value.size else 1):
                changed, before, view = u.copy(), host.copy(), None
                view = changed[: shape[0] // 2] if shape[0] > 1 else None
                changed[ours] = pt.asarray(new, team=team) if isinstance(new, np.ndarray) else new
                before[key] = new
                np.testing.assert_array_equal(changed.numpy(), before)
                np.testing.assert_array_equal(u.numpy(), host)
                assert changed.dist == u.dist
                if view is not None:
                    np.testing.assert_array_equal(view.numpy(), before[: shape[0] // 2])
                compared += 1
    print(f"ran: few-elements {compared}")
    assert compared > 400


@pytest.mark.parametrize("parts", [1, 3])
def test_what_does_not_fit_is_an_error_and_changes_nothing(parts):
    u = pt.arange(5.0, team=pt.Team(parts, "host"))
    for key, value, error, text in [
        ([0, 5], 1.0, IndexError, "index 5 is out of bounds"),
        ([-6], 1.0, IndexError, "index -6 is out of bounds"),
        ([0, 1], [1.0, 2.0, 3.0], ValueError, r"broadcasts to \(2,\), given shape \(3,\)"),
        ([True, False], 1.0, IndexError, "boolean index did not match"),
        ([0], "one", TypeError, "expected an array or a number"),
    ]:
        ours = pt.asarray(key, team=u.team)
        with pytest.raises(error, match=text):
            u[ours] = pt.asarray(value, team=u.team) if isinstance(value, list) else value
        if error is IndexError:
            with pytest.raises(error, match=text):
                u[ours]
        assert u.tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="read-only"):
        pt.broadcast_to(u, (2, 5))[pt.asarray([0], team=u.team)] = 1.0


def test_numbers_go_by_the_type_of_the_array():
    u = pt.asarray([1, 2, 3], dtype="int8")
    key = pt.asarray([0, 2])
    u[key] = 7.9
    assert u.tolist() == [7, 2, 7]
    for number, error in [(300, OverflowError), (float("nan"), ValueError), (1j, TypeError)]:
        with pytest.raises(error):
            u[key] = number
    assert u.tolist() == [7, 2, 7]
    u[key] = pt.asarray([1.5, -2.5])
    assert u.tolist() == [1, 2, -2]


def test_domains_halos_and_results_of_the_step_of_a_loop():
    D = pt.Domain(slice(3, 8))
    A = D.array(np.arange(5.0))
    A[pt.asarray([0, 4])] = 9.0
    assert A.domain is D and A.tolist() == [9, 1, 2, 3, 9]
    team = pt.Team(2, "host")
    u = pt.zeros(8, dist=pt.Distribution(8, team=team, halo=1))
    u[pt.asarray([3, 4], team=team)] = pt.asarray([1.0, 2.0], team=team)
    assert (u[2:] - u[:-2]).tolist() == [0, 1, 2, -1, -2, 0] and u.dist.halo == ((1, 1),)
    v, index = pt.arange(6.0), pt.asarray([0, 5])

    def step(v):
        v[index] = v[index] + 1.0

    pt.Loop(step).run(v, steps=3)
    assert v.tolist() == [3, 1, 2, 3, 4, 8]


def test_mixed_numbers_have_numpys_types():
    """Sums of complex and real numbers, floats and integers, which the extension records without rules."""
    rng = np.random.default_rng(5)
    arrays = [rng.integers(1, 9, 7).astype(kind) for kind in ("float64", "float32", "int64", "int8", "uint64", "bool")]
    arrays += [rng.random(7) + 1j * rng.random(7), (rng.random(7) + 1j * rng.random(7)).astype("complex64")]
    operations = [np.add, np.subtract, np.multiply, np.divide, np.less, np.equal, np.floor_divide, np.remainder, np.power, np.maximum]
    compared = 0
    for a in arrays:
        for b in [*arrays, 3, 2.5, 1.5 - 2j]:
            for f in operations:
                with np.errstate(all="ignore"):
                    try:
                        wanted = f(a, b)
                    except TypeError:
                        continue
                if f in (np.less, np.maximum) and "c" in (a.dtype.kind, np.result_type(b).kind):
                    # NumPy orders complex numbers.
                    continue
                ours = getattr(pt, f.__name__)(pt.asarray(a), pt.asarray(b) if isinstance(b, np.ndarray) else b)
                assert ours.dtype.name == wanted.dtype.name, (f, a.dtype, b)
                np.testing.assert_allclose(ours.numpy(), wanted, rtol=5e-6 if wanted.real.dtype.itemsize < 8 else 1e-13, err_msg=f"{f} {a} {b}")
                compared += 1
    assert compared > 400
