"""`partita.operators` against NumPy, and against SciPy where it is installed, on every layout."""

import itertools

import numpy as np
import partita as pt
import pytest
from conftest import CUDA, ON_CUDA
from partita import operators as op

WHERE = "cuda" if ON_CUDA else "host"
DEVICES = CUDA if ON_CUDA else "host"
BOUNDARIES = {name: name for name in ("wrap", "edge", "reflect", "symmetric")}
SCIPY = {"wrap": "wrap", "edge": "nearest", "reflect": "mirror", "symmetric": "reflect"}


def lists(extent, parts):
    order = np.random.default_rng(5).permutation(extent)
    return pt.Unstructured([list(map(int, piece)) for piece in np.array_split(order, parts)])


def one(shape):
    return pt.Distribution(shape, team=pt.Team(1, DEVICES))


def four(shape, **words):
    return pt.Distribution(shape, team=pt.Team(4, DEVICES), **words)


LAYOUTS = {
    "one": one,
    "even": four,
    "columns": lambda shape: four(shape, grid=(1, 4) + (1,) * (len(shape) - 2)) if len(shape) > 1 else four(shape),
    "halo": lambda shape: four(shape, halo=[(1, 1)] + [(0, 0)] * (len(shape) - 1)),
    "bounds": lambda shape: four(shape, dims=[pt.Block([0, 2, 2, 5, shape[0]])] + [None] * (len(shape) - 1)),
    "torus": lambda shape: four(shape, periodic=True),
    "cyclic": lambda shape: four(shape, dims=[pt.Cyclic(2)] + [None] * (len(shape) - 1)),
    "lists": lambda shape: four(shape, dims=[lists(shape[0], 4)] + [None] * (len(shape) - 1)),
}
SHAPES = [(11,), (8, 9), (8, 5, 6)]
CASES = list(itertools.product(LAYOUTS, SHAPES))
on_every_layout = pytest.mark.parametrize(
    "layout, shape", [pytest.param(LAYOUTS[name], shape, id=f"{WHERE}-{name}-{len(shape)}d") for name, shape in CASES]
)


def pair(layout, shape, dtype=np.float64, seed=3):
    """The same numbers in NumPy and in partita."""
    host = np.random.default_rng(seed).normal(size=shape).astype(dtype)
    return host, pt.asarray(host, dist=layout(shape))


def same(ours, theirs):
    """To the bit."""
    assert (ours.shape, ours.dtype.name) == (theirs.shape, theirs.dtype.name)
    assert ours.numpy().tobytes() == np.ascontiguousarray(theirs).tobytes(), np.abs(ours.numpy() - theirs).max()


def windows(host, widths, offsets, mode):
    """NumPy's cells at offsets, with a padded border."""
    padded = host if mode is None else np.pad(host, [(n, n) for n in widths], mode)
    for by in offsets:
        yield padded[tuple(slice(n + o, e - n + o) for n, o, e in zip(widths, by, padded.shape, strict=True))]


@on_every_layout
def test_laplacian_is_that_of_numpy_windows(layout, shape):
    spacing = [0.5, 0.3, 0.7][: len(shape)]
    for boundary, mode in {None: None, **BOUNDARIES}.items():
        host, u = pair(layout, shape)
        widths, zero = [1] * host.ndim, (0,) * host.ndim
        expected = None
        for d, h in enumerate(spacing):
            unit = tuple(int(e == d) for e in range(host.ndim))
            up, middle, down = windows(host, widths, [unit, zero, tuple(-n for n in unit)], mode)
            term = (up - 2 * middle + down) / (h * h)
            expected = term if expected is None else expected + term
        same(op.laplacian(u, spacing, boundary=boundary), expected)


@on_every_layout
def test_gradient_is_numpys(layout, shape):
    for dtype, edge_order in [(np.float64, 1), (np.float32, 2)]:
        host, u = pair(layout, shape, dtype)
        theirs = np.gradient(host, 0.25, edge_order=edge_order)
        ours = op.gradient(u, 0.25, edge_order=edge_order)
        for a, b in zip(ours, theirs if host.ndim > 1 else [theirs], strict=True):
            same(a, b)
    same(op.gradient(u, 2.0, axis=-1)[0], np.gradient(host, 2.0, axis=-1))
    for boundary, mode in BOUNDARIES.items():
        theirs = np.gradient(np.pad(host, [(1, 1)] + [(0, 0)] * (host.ndim - 1), mode), 0.5, axis=0)[1:-1]
        same(op.gradient(u, 0.5, axis=0, boundary=boundary)[0], theirs)


@on_every_layout
def test_divergence_and_curl_are_made_of_numpys_gradients(layout, shape):
    rank = len(shape)
    fields = [pair(layout, shape, seed=n) for n in range(rank)]
    hosts, ours = [h for h, _ in fields], [u for _, u in fields]
    h = [0.5, 0.25, 2.0][:rank]

    def along(part, d):
        return np.gradient(hosts[part], h[d], axis=d)

    expected = along(0, 0)
    for d in range(1, rank):
        expected = expected + along(d, d)
    same(op.divergence(ours, h), expected)
    if rank == 2:
        same(op.curl(ours, h), along(1, 0) - along(0, 1))
    if rank == 3:
        for c, component in enumerate(op.curl(ours, h)):
            same(component, along((c + 2) % 3, (c + 1) % 3) - along((c + 1) % 3, (c + 2) % 3))


def kernel_of(rank, extents=3):
    kernel = np.random.default_rng(9).normal(size=(extents,) * rank)
    kernel[(0,) * rank] = 0
    return kernel


@on_every_layout
def test_convolution_is_the_sum_of_numpy_windows(layout, shape):
    host, u = pair(layout, shape)
    kernel = kernel_of(len(shape))
    for boundary, mode in {None: None, **BOUNDARIES, 1.5: "constant"}.items():
        words = {"constant_values": 1.5} if mode == "constant" else {}
        padded = host if mode is None else np.pad(host, 1, mode, **words)
        expected = 0
        for at in np.ndindex(*kernel.shape):
            if kernel[at]:
                key = tuple(slice(2 - k, n - k) for k, n in zip(at, padded.shape, strict=True))
                expected = expected + kernel[at] * padded[key]
        same(op.convolve(u, kernel, boundary=boundary), expected)


@on_every_layout
def test_boundary_conditions_are_numpys_pads(layout, shape):
    host, u = pair(layout, shape)
    inner = host[(slice(1, -1),) * host.ndim]
    for apply, mode in [
        (lambda v: op.periodic(v), "wrap"),
        (lambda v: op.mirror(v), "reflect"),
        (lambda v: op.mirror(v, about="face"), "symmetric"),
        (lambda v: op.neumann(v), "edge"),
    ]:
        v = u.copy()
        apply(v)
        same(v, np.pad(inner, 1, mode))
    v = u.copy()
    op.dirichlet(v, 2.5)
    same(v, np.pad(inner, 1, constant_values=2.5))
    v, expected = u.copy(), host.copy()
    op.neumann(v, slope=3.0, spacing=0.5, axis=0)
    expected[0], expected[-1] = expected[1] + 1.5, expected[-2] + 1.5
    same(v, expected)
    op.neumann(v, slope=host[0], axis=0, side="high")
    expected[-1] = expected[-2] + host[0]
    op.dirichlet(v, host[0] * 2, axis=0, side="low")
    expected[0] = host[0] * 2
    same(v, expected)
    same(u, host)


@pytest.mark.parametrize("where", [WHERE])
def test_wide_borders(where):
    host, u = pair(LAYOUTS["even"], (12, 9))
    for apply, mode in [(op.periodic, "wrap"), (op.mirror, "reflect")]:
        v = u.copy()
        apply(v, width=2)
        same(v, np.pad(host[2:-2, 2:-2], 2, mode))
    v = u.copy()
    op.dirichlet(v, 7, axis=1, width=3)
    same(v, np.pad(host[:, 3:-3], [(0, 0), (3, 3)], constant_values=7))


def test_scipy_agrees():
    """SciPy adds in another order: within n u of the sum of the magnitudes, n the terms and their factors."""
    ndimage, signal = pytest.importorskip("scipy.ndimage"), pytest.importorskip("scipy.signal")
    u_ = np.finfo(float).eps / 2
    for shape in SHAPES:
        host, u = pair(LAYOUTS["even"], shape)
        kernel = kernel_of(len(shape), 5)
        kernel[..., 0] = 0
        for boundary, mode in SCIPY.items():
            size = ndimage.convolve(np.abs(host), np.abs(kernel), mode=mode)
            far = np.abs(op.convolve(u, kernel, boundary=boundary).numpy() - ndimage.convolve(host, kernel, mode=mode))
            assert (far <= 2 * (kernel.size + 1) * u_ * size).all(), (boundary, shape)
            far = np.abs(op.laplacian(u, boundary=boundary).numpy() - ndimage.laplace(host, mode=mode))
            largest = 4 * host.ndim * np.abs(host).max()
            assert (far <= 2 * (3 * host.ndim + 1) * u_ * largest).all(), (boundary, shape)
        size = signal.convolve(np.abs(host), np.abs(kernel), mode="valid", method="direct")
        far = np.abs(op.convolve(u, kernel).numpy() - signal.convolve(host, kernel, mode="valid", method="direct"))
        assert (far <= 2 * (kernel.size + 1) * u_ * size).all(), shape


def order_of(error):
    """The order of accuracy between two resolutions, a factor of 2 apart."""
    return np.log2(error(40) / error(80))


def test_orders_of_accuracy():
    """Errors for smooth functions shrink as documented when the distance is halved."""
    team = pt.Team(3, "host")

    def line(n):
        x = np.linspace(0, 1, n + 1)
        return x, 1 / n, pt.asarray(np.sin(3 * x + 0.2), team=team)

    def laplacian(n):
        x, h, u = line(n)
        return np.abs(op.laplacian(u, h).numpy() + 9 * np.sin(3 * x + 0.2)[1:-1]).max()

    def gradient(n, edge_order=2, cells=slice(None)):
        x, h, u = line(n)
        return np.abs(op.gradient(u, h, edge_order=edge_order)[0].numpy() - 3 * np.cos(3 * x + 0.2))[cells].max()

    def slope_at_wall(n, about):
        # A cosine with its top at the wall, whose outermost cell is replaced by the condition.
        h = 1 / n
        x = (np.arange(n) - (1 if about == "point" else 0.5)) * h
        u = pt.asarray(np.cos(2 * x) + x**3, team=team)
        op.mirror(u, side="low", about=about)
        return abs(float(u[0]) - (np.cos(2 * x[0]) + x[0] ** 3))

    assert abs(order_of(laplacian) - 2) < 0.1
    assert abs(order_of(gradient) - 2) < 0.1
    assert abs(order_of(lambda n: gradient(n, 1, slice(1, -1))) - 2) < 0.1
    assert abs(order_of(lambda n: gradient(n, 1, [0, -1])) - 1) < 0.1
    # The replaced value is off by the odd part of the function, of third order: the derivative by one order less.
    assert abs(order_of(lambda n: slope_at_wall(n, "point")) - 3) < 0.1
    assert abs(order_of(lambda n: slope_at_wall(n, "face")) - 3) < 0.1


REFUSED = [
    (lambda u: op.laplacian(u.numpy()), TypeError, "partita.asarray"),
    (lambda u: op.laplacian(u, boundary="nearest"), ValueError, "wrap, edge, reflect, symmetric"),
    (lambda u: op.laplacian(u, [1.0]), ValueError, "one for each of 2 axes"),
    (lambda u: op.laplacian(u, 0.0), ValueError, "positive"),
    (lambda u: op.laplacian(u[:2]), ValueError, "set boundary"),
    (lambda u: op.laplacian(u, axis=(0, -2)), ValueError, "different axes"),
    (lambda u: op.gradient(u, edge_order=3), ValueError, "1 or 2"),
    (lambda u: op.gradient(u[:1]), ValueError, "at least 2 cells"),
    (lambda u: op.divergence([u]), ValueError, "as many dimensions"),
    (lambda u: op.curl([u, u[1:]]), ValueError, "one shape"),
    (lambda u: op.convolve(u, [1.0]), ValueError, "2 dimensions"),
    (lambda u: op.convolve(u, [[1.0, 2.0]], boundary=0), ValueError, "odd extents"),
    (lambda u: op.convolve(u, np.ones((9, 1))), ValueError, "set boundary"),
    (lambda u: op.dirichlet(u, 0, side="left"), ValueError, "'low', 'high'"),
    (lambda u: op.mirror(u, about="cell"), ValueError, "'point' or 'face'"),
    (lambda u: op.periodic(u, width=3), ValueError, "at least 9 cells"),
]


@pytest.mark.parametrize("misuse, error, text", REFUSED, ids=[str(n) for n in range(len(REFUSED))])
def test_misuse_of_operators(misuse, error, text):
    u = pt.asarray(np.arange(40.0).reshape(8, 5), team=pt.Team(2, "host"))
    with pytest.raises(error, match=text):
        misuse(u)
    assert u.numpy().tolist() == np.arange(40.0).reshape(8, 5).tolist()


def test_periodic_operators_on_a_torus_only_record():
    """No padded copy: the same distribution, and nothing computed before it is read."""
    u = pt.asarray(np.arange(40.0).reshape(8, 5), dist=four((8, 5), periodic=True))
    for result in (op.laplacian(u, boundary="wrap"), op.convolve(u, np.ones((3, 3)), boundary="wrap")):
        assert result.dist == u.dist
