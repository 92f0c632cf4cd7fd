"""`partita.linalg` against ``numpy.linalg``: backward errors of factorizations, norms, types, batches and parts."""

import warnings

import array_api_strict
import numpy as np
import partita as pt
import pytest

TYPES = ["float32", "float64", "complex64", "complex128"]
SIZES = [0, 1, 2, 5, 17]


@pytest.fixture(autouse=True)
def gathers_are_allowed():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pt.GatherWarning)
        yield


def matrices(shape, dtype, seed=1):
    generator = np.random.default_rng(seed)
    values = generator.normal(size=shape) + 1j * generator.normal(size=shape)
    return (values if "complex" in dtype else values.real).astype(dtype)


def positive(shape, dtype):
    a = matrices(shape, dtype)
    return a @ a.conj().swapaxes(-1, -2) + np.eye(shape[-1], dtype=dtype)


def small(residual, *factors):
    """Backward stable: the residual is within units of the last place of the product of the norms, times the extent."""
    size = np.prod([np.linalg.norm(x) for x in factors])
    assert np.linalg.norm(residual) <= 5 * max(factors[0].shape[-1], 1) * np.finfo(residual.dtype).eps * size


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("parts", [1, 3, 4])
def test_factorizations_multiply_to_the_matrix(parts, dtype):
    team = pt.Team(parts, "host")
    for n in [*SIZES, 200] if parts == 3 else SIZES:
        for batch in [(), (3,), (2, 2)] if n < 200 else [()]:
            a, h = matrices((*batch, n, n), dtype), positive((*batch, n, n), dtype)
            u, v = pt.asarray(a, team=team), pt.asarray(h, team=team)
            lower = pt.linalg.cholesky(v)
            assert lower.dist == v.dist and str(lower.dtype) == dtype
            lower = lower.numpy()
            small(lower @ lower.conj().swapaxes(-1, -2) - h, h)
            q, r = (x.numpy() for x in pt.linalg.qr(u))
            small(q @ r - a, a)
            left, values, right = (x.numpy() for x in pt.linalg.svd(u, full_matrices=False))
            small(left * values[..., None, :] @ right - a, a)
            values, vectors = (x.numpy() for x in pt.linalg.eigh(v))
            small(h @ vectors - vectors * values[..., None, :], h)
            b = matrices((*batch, n, 2), dtype, 2)
            x = pt.linalg.solve(v, pt.asarray(b, team=team)).numpy()
            small(h @ x - b, h, x)


CALLS = [
    "inv(h)", "det(a)", "slogdet(a).logabsdet", "slogdet(a)[0]", "svdvals(a)", "eigvalsh(h)", "eigvalsh(h, 'U')", "pinv(h)", "cond(h)", "cond(h, 1)",
    "matrix_rank(a)", "matrix_rank(h, hermitian=True)", "lstsq(a[0], a[1])[0]", "lstsq(a[0], a[1])[3]", "norm(a)", "norm(a[0], 1)", "norm(a[0], 'nuc')",
    "norm(a[0], -2)", "norm(a, np.inf, axis=(0, 2))", "norm(a, -1, axis=(2, 0), keepdims=True)", "norm(a, axis=1)", "norm(a, 3, axis=1)", "norm(a, 0, 1)",
    "norm(a, -np.inf, 1, True)", "norm(a[0, 0], 1)", "vector_norm(a)", "vector_norm(a, axis=(0, 1), ord=1)", "matrix_norm(a)", "matrix_norm(a, ord=2, keepdims=True)",
    "matrix_norm(a, ord=-np.inf)", "matrix_power(a, 5)", "matrix_power(a, 0)", "matrix_power(h, -2)", "multi_dot([a[0], a[1], a[2, 0]])", "multi_dot([a[0, 0], a[1], a[2, 0]])",
    "diagonal(a, offset=1)", "trace(a)", "outer(a[0, 0], a[0, 1])", "cross(a[:, :, :3], a[:, :, 1:])", "matrix_transpose(a)", "tensordot(a, a, axes=1)",
    "solve(h, a)", "solve(h[0], a[0, 0])", "cholesky(h, upper=True)", "qr(a, 'r')", "inv(k)", "det(k)", "tensorinv(h[0], 1)", "tensorsolve(h[0], a[0, 0])", "pinv(h, rtol=1e-3)",
]  # fmt: skip


@pytest.mark.parametrize("layout", [1, 3, 4, "cyclic"])
@pytest.mark.parametrize("dtype", ["float64", "complex64"])
def test_calls_are_numpys(layout, dtype):
    team = pt.Team(3 if layout == "cyclic" else layout, "host")
    arrays = {"a": matrices((4, 4, 4), dtype), "h": positive((4, 4, 4), dtype), "k": np.array([[2, 1], [1, 3]])}
    dims = [pt.Cyclic(1), pt.Block(), pt.Block()]
    ours = {name: pt.asarray(x, dist=pt.Distribution(x.shape, team=team, dims=dims[: x.ndim])) if layout == "cyclic" else pt.asarray(x, team=team) for name, x in arrays.items()}
    for call in CALLS:
        expected = eval(f"np.linalg.{call}", {"np": np}, arrays)
        found = eval(f"pt.linalg.{call}", {"np": np, "pt": pt}, ours)
        expected = np.asarray(expected)
        assert isinstance(found, pt.Array) and (found.shape, str(found.dtype)) == (expected.shape, str(expected.dtype)), call
        np.testing.assert_allclose(found.numpy(), expected, rtol=2e-4 if dtype == "complex64" else 1e-10, atol=1e-3 if dtype == "complex64" else 1e-10, err_msg=call)


def test_results_have_names_and_ranks_are_ints():
    u = pt.asarray([[2.0, 0], [0, 4]])
    for name in ("qr", "svd", "eigh", "eig", "slogdet"):
        assert getattr(pt.linalg, name)(u)._fields == getattr(np.linalg, name)(u.numpy())._fields
    assert pt.linalg.lstsq(u, pt.ones(2))[2] == 2
    assert isinstance(np.linalg.inv(u), pt.Array)


def test_singular_matrices_raise_numpys_error():
    assert pt.linalg.LinAlgError is np.linalg.LinAlgError
    for call, text in [
        (lambda: pt.linalg.inv([[1.0, 1], [1, 1]]), "Singular matrix"),
        (lambda: pt.linalg.cholesky([[-1.0]]), "not positive definite"),
        (lambda: pt.linalg.solve(pt.ones((2, 3)), pt.ones(2)), "square"),
        (lambda: pt.linalg.matrix_power(pt.ones((2, 3)), 2), "expected square matrices"),
        (lambda: pt.linalg.multi_dot([pt.ones(2), pt.ones(2), pt.ones(2)]), "vectors only at the ends"),
    ]:
        with pytest.raises(np.linalg.LinAlgError, match=text):
            call()
    with pytest.raises(ValueError, match="different axes"):
        pt.linalg.norm(pt.ones((2, 2)), axis=(0, 0))
    with pytest.raises(ValueError, match="'fro', 'nuc'"):
        pt.linalg.matrix_norm(pt.ones((2, 2)), ord=3)


def test_several_parts_gather_within_the_limit_and_one_part_copies():
    limit = pt.get_gather_limit()
    pt.set_gather_limit(100)
    try:
        with pytest.raises(pt.UnsupportedError, match=r"linalg.inv: expected at most 100 B .* given 128 B"):
            pt.linalg.inv(pt.eye(4, team=pt.Team(2, "host")))
        assert (pt.linalg.inv(pt.eye(4, team=pt.Team(1, "host"))) == pt.eye(4)).all()
        assert float(pt.linalg.norm(pt.eye(4, team=pt.Team(2, "host")))) == 2
    finally:
        pt.set_gather_limit(limit)


def test_the_warning_names_bytes_and_the_callers_line():
    pt._core.memory._warned.discard("linalg.eigvalsh")
    with pytest.warns(pt.GatherWarning, match="linalg.eigvalsh: .* so 72 B are gathered") as caught:
        pt.linalg.eigvalsh(pt.eye(3, team=pt.Team(2, "host")))
    assert caught[0].filename == __file__


def test_the_standards_extension_is_there():
    assert pt.array_api.linalg is pt.linalg
    assert set(array_api_strict.linalg.__all__) - set(pt.linalg.__all__) == set()


def test_arrays_of_devices_are_taken(team):
    a = positive((4, 4), "float32")
    u = pt.asarray(a, team=team)
    for call in ("inv(u)", "cholesky(u)", "norm(u)", "norm(u, 1)", "matrix_power(u, 3)", "multi_dot([u, u, u])", "det(u)"):
        found = eval(f"pt.linalg.{call}", {"pt": pt}, {"u": u})
        assert found.team == team and found.dtype == pt.float32
        np.testing.assert_allclose(found.numpy(), eval(f"np.linalg.{call}", {"np": np}, {"u": a}), rtol=1e-4, atol=1e-4)
