"""NumPy's main namespace: the same program with both packages gives the same shape, type and elements; to the bit where NumPy
rounds correctly, otherwise within units of the last place."""

import itertools
import math

import numpy as np
import partita as pt
import pytest

_RNG = np.random.default_rng(19)
#: Arrays by the names that the programs use.
HOSTS = {
    "u": np.arange(12.0).reshape(3, 4), "v": np.array([3.0, -1.5, 0.25, 8.0]), "n": np.array([[1, 5, 2, 0], [7, 3, 9, 4], [6, 8, 10, 11]]),
    "m": np.array([[True, False, True, True], [False] * 4, [True] * 4]), "k": np.array([1, 0, 3, 2]),
    "z": np.array([[1 + 2j, -3j, 0.5], [2, 1j, -1 - 1j]]), "g": np.array([[1.0, np.nan, 3.0, -2.0], [np.nan] * 4, [4.0, 5.0, np.nan, 0.5]]),
    "t": _RNG.normal(size=(2, 3, 4)), "s": _RNG.normal(size=(5, 3)).astype(np.float32), "b": np.array([3, 200, 17, 255], np.uint8),
    "q": np.array([[2.0, 1.0, 0.5], [0.25, -1.0, 4.0], [1.0, 3.0, -2.0]]), "w": np.array([1.0, 2.0, 3.0, 4.0]),
}  # fmt: skip
#: Programs, and for those that are not computed to the bit as NumPy does the units of the last place.
ULPS = 8


#: Where arrays are: a number of parts, every element on another part than the one before, parts in two dimensions, or views with
#: steps, in reverse.
LAYOUTS = [1, 3, "cyclic", "grid", "view"]


def placed(host, layout):
    if isinstance(layout, int):
        return pt.asarray(host, team=pt.Team.local(layout, "host"))
    if layout == "cyclic":
        dims = [pt.Cyclic(), *[None] * (host.ndim - 1)]
        return pt.asarray(host, dist=pt.Distribution(host.shape, team=pt.Team.local(3, "host"), dims=dims))
    if layout == "grid":
        grid = (2, 2, *[1] * (host.ndim - 2)) if host.ndim > 1 else (4,)
        return pt.asarray(host, dist=pt.Distribution(host.shape, team=pt.Team.local(4, "host"), grid=grid))
    odd, reverse = (slice(1, None, 2),) * host.ndim, (slice(None, None, -1),) * host.ndim
    wide = np.zeros([2 * n + 1 for n in host.shape], host.dtype)
    wide[odd] = host[reverse]
    return pt.asarray(wide, team=pt.Team.local(2, "host"))[odd][reverse]


def names_of(xp, layout=None):
    arrays = {name: placed(host, layout) if xp is pt else host.copy() for name, host in HOSTS.items()}
    return {"xp": xp, "np": np, "inf": math.inf, "nan": math.nan, **arrays}


def host_of(x):
    return x.numpy() if isinstance(x, pt.Array) else np.asarray(x)


def compare(ours, theirs, ulps=0):
    """Equal in structure, shape, type and elements."""
    if isinstance(theirs, (tuple, list)):
        assert isinstance(ours, (tuple, list)) and len(ours) == len(theirs)
        for one, other in zip(ours, theirs, strict=True):
            compare(one, other, ulps)
        return
    if not isinstance(theirs, (np.ndarray, np.generic)):
        assert ours == theirs or (ours != ours and theirs != theirs), (ours, theirs)
        return
    ours = host_of(ours)
    assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype), (ours, theirs)
    same = (ours == theirs) | ((ours != ours) & (theirs != theirs))
    if ulps and ours.dtype.kind in "fc":
        with np.errstate(invalid="ignore"):
            scale = np.spacing(np.maximum(np.abs(theirs), np.finfo(theirs.dtype).tiny))
            same |= np.abs(ours - theirs) <= ulps * scale
    assert same.all(), (ours, theirs)


def outcome(program, xp, layout=None):
    names = names_of(xp, layout)
    with np.errstate(all="ignore"):
        if "\n" in program or ";" in program:
            *statements, last = program.split("; ")
            exec("; ".join(statements), names)
            return eval(last, names)
        return eval(program, names)


REDUCTIONS = """
xp.sum(u, 0, np.float32); xp.sum(n, axis=1, dtype="int8"); xp.sum(u, where=m); xp.sum(u, axis=1, initial=2.5, keepdims=True)
xp.sum(n, initial=3, where=m); xp.prod(n, axis=0, where=m); xp.prod(v, initial=2); xp.max(u, where=m, initial=-1.0)
xp.max(n, axis=1, initial=6); xp.min(u, axis=0, initial=2.0, where=m, keepdims=True); xp.max(u[:0], axis=0, initial=5.0); xp.min(u[:0], initial=1.0)
xp.amax(u, 1); xp.amin(n); xp.mean(u, where=m); xp.mean(u, axis=0, where=m); xp.mean(n, dtype=np.float32); xp.all(n, axis=1); xp.any(m, where=[True, False, False, False])
xp.all(u, where=m); xp.ptp(u, axis=1); xp.ptp(n); xp.count_nonzero(n, axis=0); xp.count_nonzero(m); xp.count_nonzero(u, keepdims=True)
xp.nansum(g); xp.nansum(g, axis=0); xp.nanprod(g, axis=1); xp.nanmax(g, axis=0); xp.nanmin(g); xp.nanmax(g, axis=1); xp.nanmin(g, axis=0, keepdims=True)
xp.nanargmax(g[::2], axis=1); xp.nanargmin(g); xp.nanmean(g, axis=0); xp.nanmean(g); xp.nansum(n, axis=0); xp.nanmax(n)
u.sum(0, np.float32); u.mean(1, keepdims=True); u.max(0, initial=9.0); u.all(axis=1); n.sum(dtype=float)
xp.average(u); xp.average(u, axis=0); xp.average(u, axis=1, weights=w); xp.average(u, weights=n, returned=True); xp.average(n, axis=0, weights=[1, 2, 4])
"""
ROUNDED_REDUCTIONS = """
xp.var(u); xp.var(u, axis=0); xp.var(n, 1, ddof=1); xp.var(v, dtype=np.float32); xp.var(u, axis=1, keepdims=True); xp.var(u, where=m); xp.var(z)
xp.var(z, axis=0); xp.var(s, axis=0); xp.std(u); xp.std(t, axis=(0, 2)); xp.std(n, axis=0, ddof=1); xp.std(u, correction=1); xp.std(s)
xp.nanvar(g, axis=1); xp.nanstd(g, ddof=1); xp.nanstd(g, axis=0); xp.cov(q); xp.cov(u, rowvar=False); xp.cov(v, w); xp.corrcoef(q); xp.cov(v, ddof=0); xp.cov(q, fweights=[1, 2, 3]); xp.cov(q, aweights=[1.0, 0.5, 2.0]); xp.cov(q, fweights=[1, 2, 3], aweights=[1.0, 0.5, 2.0], ddof=0); xp.nanvar(g[::2], axis=1, mean=xp.nanmean(g[::2], axis=1, keepdims=True))
xp.cumsum(w / 3); xp.cumsum(t, axis=1); xp.cumprod(v); xp.cumsum(s, axis=0, dtype=float); xp.nancumsum(g, axis=1); xp.nancumprod(g); xp.logaddexp.reduce(v)
"""
SCANS = """
xp.cumsum(n); xp.cumsum(n, axis=0); xp.cumsum(b); xp.cumprod(n, axis=1); xp.cumsum(m, axis=1); xp.cumsum(b, dtype="uint8"); xp.cumulative_sum(k)
xp.cumulative_sum(n, axis=1, include_initial=True); xp.cumulative_prod(k, dtype=float); xp.cumsum(u)
xp.diff(u); xp.diff(n, axis=0); xp.diff(v, n=2); xp.diff(m); xp.diff(v, prepend=0, append=[1.0, 2.0]); xp.diff(u, axis=0, prepend=1.0); xp.ediff1d(v)
xp.ediff1d(n, to_begin=-1, to_end=[5, 6]); xp.gradient(v); xp.gradient(u); xp.gradient(u, 2.0, axis=1); xp.gradient(v, k * 2.0 + xp.arange(4) * 4)
xp.gradient(v, edge_order=2); xp.gradient(u, 0.5, [0.0, 1.0, 4.0, 5.0]); xp.trapezoid(v); xp.trapezoid(u, dx=0.5, axis=0); xp.trapezoid(u, x=w); xp.trapezoid(n, axis=0)
"""
UFUNCS = """
xp.add(u, v); xp.add(u, 1, dtype=np.float32); xp.multiply(n, 2.5); xp.subtract(n, k, out=n * 0); xp.sqrt(u, u * 0); xp.add(u, v, u * 0)
xp.add(u, v, where=m, out=u * 1); xp.exp2(k); xp.negative(n, where=m, out=n * 1); xp.add.reduce(u); xp.add.reduce(u, axis=None); xp.add.reduce(n, axis=(0, 1), keepdims=True)
xp.multiply.reduce(n, axis=1); xp.maximum.reduce(u, axis=1); xp.minimum.reduce(n, initial=-3); xp.logical_and.reduce(n, axis=0); xp.logical_or.reduce(m, axis=1)
xp.subtract.reduce(u, axis=1); xp.bitwise_and.reduce(n, axis=0); xp.bitwise_or.reduce(n, axis=1); xp.bitwise_xor.reduce(n, axis=None); xp.logical_xor.reduce(m, axis=0)
xp.gcd.reduce([12, 18, 30]); xp.lcm.reduce([2, 3, 4]); xp.fmax.reduce(g, axis=1); xp.fmin.reduce(g, axis=None); xp.divide.reduce(w); xp.power.reduce([2, 3, 2])
xp.add.reduce(u, where=m); xp.add.reduce(n, dtype=float, axis=1); xp.add.reduce([True, True]); xp.bitwise_or.reduce(n, axis=0, where=m, initial=0)
xp.add.accumulate(n, axis=1); xp.maximum.accumulate(n); xp.minimum.accumulate(u, axis=1); xp.multiply.accumulate([1, 2, 3, 4]); xp.subtract.accumulate(n, axis=1)
xp.logical_or.accumulate(m, axis=0); xp.add.outer(v, w); xp.multiply.outer([1, 2], n); xp.maximum.outer(k, k); xp.less.outer(v, w); xp.power.outer([2, 3], [0, 1, 2])
xp.add.reduceat(xp.arange(8), [0, 4, 1, 5]); xp.add.reduceat(u, [0, 2], axis=1); xp.maximum.reduceat(v, [0, 3, 1])
xp.add.at(v, [0, 1, 1, 1, 3], [1, 2, 3, 4, 5]); v
xp.multiply.at(n, (slice(None), [0, 0, 2]), 3); n
xp.negative.at(k, [0, 2]); k
xp.maximum.at(u, (xp.array([0, 0, 2]), [1, 1, 3]), [50, 40, 60]); u
xp.absolute(v); xp.abs(n); xp.fabs(n); xp.rint(v); xp.rint(n); xp.conjugate(z); xp.conj(v); xp.square(n); xp.true_divide(n, 4); xp.mod(n, 4); xp.mod(v, -2); xp.fmod(v, 2)
xp.fmod(-n, 4); xp.fmod(n, 0); xp.floor_divide(n, 4); xp.divmod(n, 4); xp.divmod(v, 0.5); xp.modf(v); xp.modf([inf, -inf, nan, -0.0]); xp.frexp(v); xp.frexp([0.0, inf, 5e-324])
xp.ldexp(v, k); xp.ldexp(1.0, [-1074, -1075, 1023]); xp.signbit([-0.0, 0.0, -3.0, inf]); xp.signbit([nan, -nan]); xp.signbit(xp.array([-nan, nan, -1], "f2")); xp.signbit(-g); xp.copysign([1.0, 2.0], [nan, -nan]); xp.copysign(v, -1); xp.copysign([1, -2], [-0.0, 0.0]); xp.heaviside(v, 0.5)
xp.heaviside([0, 1, -1], 2); xp.fmax(g, 1); xp.fmin(g, u); xp.fmax(n, 3); xp.nextafter(v, 0); xp.nextafter(np.float32(1), [2, 0]); xp.nextafter([0.0, -0.0, inf], [1, -1, 0])
xp.spacing(v); xp.spacing(s); xp.deg2rad(v); xp.radians(s); xp.rad2deg(v); xp.degrees(s); xp.float_power(k, 2); xp.float_power(n, [1, 2, 0, 1]); xp.gcd(n, 6); xp.lcm(n, [4, 6, 8, 3])
xp.gcd(-12, [8, 0]); xp.bitwise_count(n); xp.bitwise_count(b); xp.bitwise_count([-1, 7]); xp.left_shift(n, 2); xp.right_shift(n, 1); xp.bitwise_not(n); xp.invert(m)
xp.bitwise_invert(b); xp.pow(k, 2); xp.power(n, 2); xp.logical_not(n); xp.isnan(g); xp.reciprocal(v); xp.reciprocal(k + 1); xp.positive(v); xp.sign(z * 0); xp.trunc(v)
xp.remainder(n, 5); xp.maximum(g, 0); xp.equal(n, k); xp.isfinite(g); xp.isinf(g); xp.hypot(3, [4.0]); xp.cbrt(xp.array([8.0, 64.0]))
"""
ROUNDED_UFUNCS = """
xp.exp2(v); xp.logaddexp2(v, w); xp.logaddexp2(s, 1); xp.acos([0.5]); xp.asin([0.5]); xp.atan(v); xp.acosh(w); xp.asinh(v); xp.atanh([0.5]); xp.atan2(v, w)
xp.arctan2(v, 1); xp.logaddexp(v, w); xp.float_power(w, 0.5); xp.exp(s, dtype=float); xp.hypot.reduce(v); xp.sin(v); xp.tan(n)
"""
CREATION = """
xp.array([1, 2, 3]); xp.array([[1.5, 2]], ndmin=3); xp.array(u, dtype=np.float32); xp.array([v, w]); xp.asanyarray([1]); xp.ascontiguousarray(5.0); xp.copy(u)
xp.eye(3); xp.eye(2, 4, 1); xp.eye(3, k=-1, dtype=int); xp.identity(3); xp.tri(3, 4, -1); xp.tril(n); xp.triu(u, 1); xp.tril(v); xp.triu(t, -1); xp.diag(v); xp.diag(v, 1)
xp.diag(n); xp.diag(n, -1); xp.diag(k, -2); xp.diagflat(q); xp.vander([1, 2, 3]); xp.vander(v, 3); xp.vander(k, increasing=True)
xp.linspace(0, 1); xp.linspace(2, -3, 7); xp.linspace(0, 1, 5, endpoint=False); xp.linspace(0, 10, 4, dtype=int); xp.linspace(0, 1, 3, retstep=True); xp.linspace(1, 1, 1)
xp.linspace(v, w, 3); xp.linspace([0, 1], 5, 4, axis=1); xp.linspace(0, 1j, 3); xp.linspace(0, 1, 0); xp.meshgrid(v, w); xp.meshgrid(k, [1, 2], indexing="ij")
xp.meshgrid(v, w, sparse=True); xp.indices((2, 3)); xp.indices((2, 3), sparse=True); xp.mgrid[0:3, 0:2]; xp.mgrid[0:1:5j]; xp.mgrid[0:3:0.5, 1:4]; xp.ogrid[0:3, 0:2]
xp.r_[1:4, 0, 7]; xp.r_[v, 1.5, 0:1:3j]; xp.c_[v, w]; xp.r_[u, u]; xp.c_[k, k + 1]; xp.s_[1:, ::2]; xp.fromfunction(lambda i, j: i + j, (3, 3), dtype=int)
xp.frombuffer(b"abcd", dtype=np.uint8); xp.fromiter(range(5), float); xp.require([1, 2], float); xp.astype(n, np.float32); xp.asarray_chkfinite([1.0, 2])
isinstance(u[1:], xp.ndarray); isinstance(3, xp.ndarray); xp.ndarray((2, 3), dtype="i4") * 0; xp.zeros((2, 3), int); xp.ones(3, np.float32); xp.full((2, 2), 7); xp.empty_like(n) * 0; xp.zeros_like(u, dtype=int); xp.full_like(n, 2.7); xp.ones_like([1, 2]); xp.zeros_like(u, shape=(2, 5)); xp.full_like(n, 3, shape=4, order="C"); xp.arange(3, 10, 2)
"""
ROUNDED_CREATION = """
xp.logspace(0, 2, 5); xp.logspace(0, 3, 4, base=2.0); xp.geomspace(1, 1000, 4); xp.geomspace(-1, -8, 4); xp.geomspace(256, 1, num=9); xp.logspace(1, 2, 3, endpoint=False)
"""
SELECTION = """
xp.nonzero(n); xp.flatnonzero(n); xp.argwhere(m); xp.where(m); xp.where(m, u, -1); xp.where(n > 4, n, v); u[xp.nonzero(n > 4)]; xp.take(v, [3, 0]); xp.take(u, [1, -1], axis=1)
xp.take(v, [5, -7], mode="wrap"); xp.take(v, [9, -2], mode="clip"); xp.take(u, 2); xp.compress([True, False, True], u, axis=0); xp.compress([0, 1, 1], n, 1); xp.extract(m, u)
xp.choose(k, [v, w, v * 2, w * 3]); xp.choose([0, 5], [[1, 2], [3, 4]], mode="clip"); xp.choose(k % 2, [10, v]); xp.select([u > 5, u > 2], [u, u * 10], -1)
xp.select([n > 4], [n]); xp.select([v > 0, v < -1], [1, 2.5]); xp.piecewise(v, [v < 0, v >= 1], [-1, 1]); xp.piecewise(v, [v < 0], [lambda x: -x, lambda x: x * 2])
xp.copyto(u, v); u
xp.copyto(u, 3, where=m); u
xp.copyto(b, 4); b
xp.put(u, [0, -1, 5], [10, 20]); u
xp.put(k, [6], 9, mode="wrap"); k
xp.place(u, u > 5, [1, 2, 3]); u
xp.putmask(u, u > 5, -u); u
xp.putmask(n, n > 3, [1, 2]); n
xp.put_along_axis(u, xp.argmax(n, axis=1, keepdims=True), 99, axis=1); u
xp.fill_diagonal(u, 5); u
xp.fill_diagonal(q, [7, 8, 9]); q
xp.ravel_multi_index(([1, 2], [3, 0]), (3, 4)); xp.unravel_index([5, 11], (3, 4)); xp.unravel_index(7, (3, 4)); xp.diag_indices(3); xp.tril_indices(3, -1); xp.triu_indices(2, 1, 4); xp.mask_indices(3, xp.triu)
xp.tril_indices_from(q); xp.triu_indices_from(q, 1); xp.diag_indices_from(q); u[xp.ix_([0, 2], [1, 3])]; u[xp.index_exp[1:, ::2]]
"""
COUNTING = """
xp.bincount(k); xp.bincount([1, 3, 1], minlength=6); xp.bincount(n.ravel() % 5); xp.bincount(b); xp.bincount(xp.zeros(0, int)); xp.bincount(k, v); xp.bincount([0, 1, 1], [1, 2, 4], 4); xp.bincount(m.ravel())
xp.searchsorted(w, v); xp.searchsorted(w, [2, 3.5, nan], side="right"); xp.searchsorted([1.0, 2.0, nan, nan], [nan, 2.0]); xp.searchsorted(k, n, sorter=[1, 0, 3, 2]); xp.searchsorted([], v); xp.searchsorted(w, 2); xp.searchsorted([1, 1, 3], u.astype("i1"), "right")
xp.digitize(u, w); xp.digitize(u, w, right=True); xp.digitize(v, [4.0, 2.0, 0.0]); xp.digitize(v, [4.0, 2.0, 2.0], True); xp.digitize(g, [0, 1]); xp.digitize(2, [1, 2, 3]); xp.digitize(n, xp.arange(0, 12, 3)); xp.digitize(v, [])
xp.histogram(n); xp.histogram(u, 4); xp.histogram(t, bins=7, range=(-1, 1)); xp.histogram(v, [0, 1, 3, 8]); xp.histogram(b, "sturges"); xp.histogram(t, "rice"); xp.histogram(s, "sqrt"); xp.histogram(n, "sqrt"); xp.histogram(m); xp.histogram([]); xp.histogram([1.0, 1.0], 2)
xp.histogram(u, 3, weights=n); xp.histogram(v, [-2.0, 0, 9], weights=k); xp.histogram(s, [0, 0, 1]); xp.histogram(g, [0.0, 2.0, 5.0]); xp.histogram(u, 3, (2, 7), weights=n.astype("f4")); xp.histogram(v, [0, 1], weights=v * 1j); xp.histogram(k, xp.arange(5), density=True)
xp.histogram_bin_edges(t, 5); xp.histogram_bin_edges(n, [1, 2, 4]); xp.histogram_bin_edges(t, "sturges", (-1, 0.5)); xp.histogram2d(v, w, 3); xp.histogram2d(v, k, [2, 3], [[0, 4], [0, 2]]); xp.histogram2d(v, w, [0, 2, 9]); xp.histogram2d(v, w, [[0, 1, 9], 2], weights=w)
xp.histogramdd(s, 2); xp.histogramdd(s[:, :2], (2, [-1, 0, 2])); xp.histogramdd([v, w, k], 2, weights=w); xp.histogramdd(v, [3]); u[n % 3]; v[n % 4]; v[-1 - k]; u[m]; t[t > 0]; n[n > 50]; v[xp.zeros((0, 2), int)]; v[[[1, 2]]]; xp.argwhere(t > 0); xp.nonzero(t > 1)
xp.argwhere(3.0); xp.extract(v > 0, v); xp.extract([1, 0, 1], v); xp.compress(v > 0, v); xp.compress([False, True], t, 1); xp.flatnonzero(t < 0); xp.nonzero(z); z[z != 2]; xp.take(v, n % 4); xp.take(u, k); xp.compress([1, 0], v); xp.where(b > 5); v[v > 0] * 2; xp.nonzero(n[:0]); u[:0][m[:0]]
"""
JOINING = """
xp.hstack([v, w]); xp.hstack([u, n]); xp.vstack([v, w]); xp.vstack([u, v]); xp.dstack([v, w]); xp.dstack([u, n]); xp.column_stack([v, w, u.T]); xp.row_stack([v, k]); xp.concat([v, k])
xp.block([[xp.eye(2), xp.zeros((2, 3))], [xp.ones((3, 2)), q]]); xp.block([v, w]); xp.block([[v], [w]]); xp.block(3.0); xp.append(v, [1, 2]); xp.append(u, [v], axis=0); xp.append(u, 5)
xp.delete(v, 1); xp.delete(u, [0, 2], axis=1); xp.delete(u, slice(0, 3, 2), axis=0); xp.delete(v, [True, False, False, True]); xp.insert(v, 1, 9); xp.insert(u, 1, 5, axis=1)
xp.insert(v, [0, 2], [7, 8]); xp.insert(u, 1, [1, 2, 3], axis=1); xp.insert(u, [1, 2], v, axis=0); xp.insert(v, -1, [1, 2]); xp.resize(v, (2, 3)); xp.resize(u, 5); xp.resize(k, (3, 4))
xp.split(v, 2); xp.split(u, [1, 3], axis=1); xp.array_split(v, 3); xp.array_split(u, 2, axis=0); xp.hsplit(u, 2); xp.vsplit(n, [1]); xp.dsplit(t, 2); xp.hsplit(v, [1, 2])
xp.rot90(u); xp.rot90(u, 2); xp.rot90(t, 3, axes=(1, 2)); xp.rot90(u, -1); xp.fliplr(u); xp.flipud(v); xp.roll(u, (1, 2)); xp.roll(u, (1, -1), axis=(0, 1)); xp.roll(v, 7); xp.rollaxis(t, 2)
xp.rollaxis(t, 0, 3); xp.atleast_1d(3.0); xp.atleast_2d(v); xp.atleast_3d(v); xp.atleast_3d(u); xp.atleast_2d(1, v); xp.trim_zeros(xp.array([0, 0, 1, 2, 0, 3, 0])); xp.trim_zeros(xp.array([0, 1, 0]), "b"); xp.trim_zeros(xp.array([0, 0]))
xp.broadcast_shapes((2, 1), (3,)); xp.concatenate([v, k], dtype=np.float32); xp.concatenate([u, v], axis=None); xp.stack([v, w], axis=1, out=xp.zeros((4, 2))); xp.tile(u, (2, 1)); xp.repeat(u, [1, 2, 0], axis=0)
xp.reshape(u, (2, 6), order="F"); u.reshape(4, -1, order="F"); xp.ravel(u, order="F"); u.flatten("F"); xp.transpose(t, (1, 0, 2)); t.transpose(1, 0, 2); xp.squeeze(u[:1]); xp.swapaxes(t, 0, 2)
xp.pad(v, 2); xp.pad(u, 1, "constant", constant_values=3); xp.pad(u, ((1, 2), (0, 1)), constant_values=((1, 2), (3, 4))); xp.pad(v, (2, 1), "linear_ramp"); xp.pad(u, 1, "linear_ramp", end_values=(5, -4))
xp.pad(n, 2, "maximum"); xp.pad(n, 1, "minimum", stat_length=2); xp.pad(u, ((1, 0), (2, 1)), "mean"); xp.pad(n, 1, "mean"); xp.pad(n, ((1, 2), (1, 0)), "mean", stat_length=((2, 1), (3, 2))); xp.pad(u, {1: 2}, "edge")
xp.pad(v, 2, "reflect"); xp.pad(u, {0: (1, 2)}, "wrap"); xp.pad(k, (3, 2), "symmetric"); xp.pad(n, 3, "linear_ramp", end_values=1)
"""
ELEMENTWISE = """
xp.round(z * 1.25); xp.round(z * 1.2345, 2); xp.around(z * 0.5); xp.round(v * 1.2345, 2); xp.round([15, 25, -35], -1); xp.round(n, 2); xp.around(v, 1); xp.round([0.5, 1.5, -2.5]); v.round(1); xp.fix(v); xp.clip(n, 3, 8); xp.clip(v, None, 2); xp.clip(v, max=1.0); xp.clip(v, min=0); xp.clip(v, a_min=0, a_max=2)
xp.packbits(m); xp.packbits(n, axis=1); xp.packbits(m, axis=0, bitorder="little"); xp.unpackbits(b); xp.unpackbits(b, count=13); xp.unpackbits(b, bitorder="little", count=40); xp.unpackbits(b[None], axis=0); xp.unpackbits(b, count=-3)
list(xp.ndenumerate(k)); xp.isfortran(u.T); xp.isfortran(v)
xp.clip(n, [1, 2, 3, 4], 9); xp.clip(u, 2, 5, out=u); xp.nan_to_num(g); xp.nan_to_num([inf, -inf, nan]); xp.nan_to_num([inf, -inf, nan], nan=1.0, posinf=2.0, neginf=3.0); xp.nan_to_num(n); xp.isposinf([inf, -inf, 1]); xp.isneginf([inf, -inf, 1])
xp.isreal(z); xp.iscomplex(z); xp.isreal(v); xp.real_if_close(z); xp.real_if_close(z.real + 0j); xp.angle([1.0, -2.0]); xp.real(z); xp.imag(v)
xp.isclose(v, v + 1e-9); xp.isclose(g, g, equal_nan=True); xp.isclose([inf, -inf, nan, 1], [inf, inf, nan, 1]); xp.isclose(n, n + 1, atol=1); xp.isclose(1e10, [1.00001e10, 1.0001e10])
xp.allclose(v, v); xp.allclose(g, g); xp.allclose(g, g, equal_nan=True); xp.allclose(n, k); xp.array_equal(n, n); xp.array_equal(v, u); xp.array_equal(g, g, equal_nan=True); xp.array_equiv(v, [v, v]); xp.array_equiv(v, w); xp.array_equiv(v, u[0, :3])
xp.ndim(u); xp.ndim([[1]]); xp.shape(u); xp.shape(3); xp.size(u); xp.size(u, 1); xp.size([1, 2]); xp.unwrap([0, 3, 6, 9, 12], period=8); xp.bartlett(5); xp.apply_along_axis(xp.sum, 1, u); xp.apply_over_axes(xp.sum, t * 0, [0, 2])
xp.apply_along_axis(lambda x: x[::-1], 0, u); xp.apply_along_axis(xp.diag, 1, n); xp.typename("d"); xp.base_repr(5, 2); list(xp.ndindex(2, 2)); xp.array2string(n); xp.array_str(v); xp.geterr()["over"] in ("warn", "ignore")
"""
ROUNDED_ELEMENTWISE = """
xp.sinc(v); xp.angle(z); xp.angle(z, deg=True); xp.unwrap(w * 2.5); xp.hanning(8); xp.hamming(5); xp.blackman(7) + 1; xp.hanning(1); xp.unwrap([0.0, 7.0, 13.0, 2.0])
"""
PRODUCTS = """
xp.dot(n, k); xp.dot(k, k); xp.dot(n, n.T); xp.dot(3, v); xp.dot(n, 2); xp.vdot(k, n[0]); xp.inner(k, n); xp.inner(n, n); xp.inner(2, v); xp.outer(k, v); xp.outer(n, [1, 2]); xp.kron(k, [1, 10]); xp.kron(xp.eye(2, dtype=int), n)
xp.trace(n); xp.trace(n, 1); xp.trace(n, dtype=float); xp.cross([1, 2, 3], [4, 5, 6]); xp.cross(q, [1.0, 0.0, 2.0]); xp.cross(q, q.T, axis=0); xp.convolve([1, 2, 3], [0, 1, 2]); xp.convolve(k, [1, -1], "same")
xp.convolve(xp.arange(200) % 7, xp.arange(150) % 5); xp.convolve(xp.arange(90), xp.arange(1100) % 9, "same"); xp.convolve(n[0], [1, 2], "valid"); xp.convolve([1, 2], [1, 2, 3, 4], "same"); xp.correlate(k, [1, 2]); xp.correlate([1, 2, 3], [0, 1, 5], "full"); xp.correlate([1, 2], [1, 2, 3, 4], "same"); xp.correlate([1j, 2], [1, 1 + 1j], "full"); xp.correlate([1, 2], [1, 2, 3], "full")
xp.tensordot(n, n, (1, 1)); xp.tensordot(n, n, axes=([0, 1], [0, 1])); xp.matmul(n, k); xp.matmul(n, k, xp.zeros(3, int)); xp.matvec(n, k); xp.vecmat([1, 2, 3], n); xp.vecdot(n, n); xp.polyval([1, 2, 3], k); xp.polyadd([1, 2], [3, 4, 5])
xp.polysub([1, 2], [3]); xp.polymul([1, 2], [1, 3]); xp.polyder([1, 2, 3, 4]); xp.polyint([3.0, 2.0, 1.0]); xp.polyder([1.0, 2, 3], 2); xp.polyint([6, 2], 2, [1, 2])
xp.poly([1, 2, -3]); xp.poly([[2.0, 0.0], [0.0, 3.0]]); xp.polydiv([1.0, 5.0, 6.0, 1.0], [1.0, 2.0]); xp.poly([])
"""
ROUNDED_PRODUCTS = """
xp.interp(u / 12, xp.arange(1500) / 1500, xp.arange(1500) % 11); xp.dot(u, v); xp.dot(t * 0 + 2, u.T); xp.vdot(z, z); xp.inner(u, v); xp.convolve(v, w); xp.correlate(v, w, "full"); xp.interp([0.5, 1.0, 2.5, 9, -1], w, v); xp.interp(u, [0, 5, 11], [1, 2, -3]); xp.interp(v, w, u[0], left=-9, right=9)
xp.interp([0.5, nan, 370], [10, 100, 350], [1, 2, 3], period=360); xp.interp(2, [1, 3], [1j, 2]); xp.polyval(v, w); xp.cross(q, q[::-1]); xp.outer(v, w)
xp.roots([1, -3, 2, 0]); xp.roots([1.0, 0.0, 1.0]); xp.roots([3])
"""
METHODS = """
v.clip(0, 3); n.clip(max=4); u.cumsum(0); n.cumprod(axis=1); v.dot(w); n.dot(k); n.trace(); n.nonzero(); u.take([1, 3], axis=1); k.choose([v, w, v, w]); u.repeat(2, axis=1); u.compress([1, 0, 1], axis=0)
z.conj(); v.conjugate(); v.round(); u.itemsize; u.strides; u.T.strides; n.astype(float, copy=False); n.astype("i8", casting="safe"); u.copy("F"); u.view(); u.tobytes(); divmod(n, 3); divmod(7, k + 1)
u.transpose(); t.transpose((2, 0, 1)); t.reshape((3, 8)); u.flat[5]; u.T.flat[3]; len(u.flat); [float(x) for x in v.flat]; n.flat[[1, 5]]
u.flat[2] = 7; u
u.T.flat[1:4] = [7, 8, 9]; u
u.flat = [1, 2]; u
u.fill(3); u
n.put([0, 3], [-1, -2]); n
n[1].fill(0); n
u.shape = (4, 3); u
n.shape = 12; n
v.shape = (2, -1); v
"""
ROUNDED_METHODS = """
u.std(); n.var(axis=0, ddof=1); s.std(0); t.var((0, 1), keepdims=True)
"""
KEYWORDS = """
xp.linspace(start=0, stop=1, num=3); xp.tile(v, reps=2); xp.eye(N=2, M=3); xp.take(v, indices=[1]); xp.moveaxis(t, source=0, destination=2); xp.sum(a=u); xp.zeros((2, 2), order="F"); xp.asarray([1], order="C")
xp.repeat(v, repeats=2); xp.swapaxes(t, axis1=0, axis2=1); xp.split(v, indices_or_sections=2); xp.append(v, values=1); xp.roll(v, shift=1); xp.mean(a=u, axis=0); xp.pad(array=v, pad_width=1); xp.flip(m=v)
xp.select(condlist=[v > 0], choicelist=[v]); xp.interp([1.5], xp=[1, 2], fp=[3, 4]); xp.full((2, 2), [1, 2]); xp.full_like(u, v); xp.full(shape=2, fill_value=1.5); xp.std(a=[1.0, 1.0]); xp.dot(a=n, b=k); xp.where(m, 1, n)
"""
TYPES = """
xp.result_type(u, 1).name; xp.result_type("i1", np.uint8).name; xp.result_type(n, 1.5).name; xp.result_type(1, 2.0).name; xp.result_type(m, 3).name; xp.result_type(s, 1j).name
xp.promote_types("f4", "i4").name; xp.can_cast("i4", "f4"); xp.can_cast("i4", "f8"); xp.can_cast("f8", "f4", "same_kind"); xp.can_cast(xp.uint8, xp.int8); xp.can_cast("i8", "u1", casting="unsafe")
xp.min_scalar_type(255).name; xp.min_scalar_type(-1).name; xp.min_scalar_type(1e50).name; xp.dtype(xp.common_type(n, s)).name; xp.dtype(xp.common_type(z)).name
xp.issubdtype(u.dtype, xp.floating); xp.issubdtype(n.dtype, xp.inexact); xp.issubdtype(xp.int8, xp.integer); xp.issubdtype("f4", np.number); xp.issubdtype(xp.floating, xp.number)
xp.iscomplexobj(z); xp.isrealobj(u); xp.isscalar(3.0); xp.isscalar(u); xp.isdtype(u.dtype, "real floating"); xp.iscomplexobj([1j])
xp.float32(2.5); xp.int8(3); xp.float64(1) + xp.float32(2); isinstance(xp.float32(1), xp.float32); xp.dtype("f4").name; xp.dtype(float).itemsize; u.dtype.type(2); u.dtype.char; xp.bool(True)
xp.finfo(u.dtype).eps; float(xp.finfo(xp.float32).tiny); xp.finfo("f4").nmant; xp.finfo(np.float16).maxexp; xp.finfo(float).precision; xp.finfo(z.dtype).bits; xp.iinfo(n.dtype).max
xp.iinfo("u1").max; xp.iinfo(xp.int16).min; xp.iinfo(int).bits; xp.pi; xp.e; xp.euler_gamma; xp.inf; xp.newaxis; xp.True_; xp.single is xp.float32; xp.intp is xp.int64
"""


def programs(text):
    """Lines that end in an array are one program with statements."""
    for line in text.strip().splitlines():
        is_one = line.endswith(("; u", "; n", "; b", "; k", "; q", "; v"))
        yield from [line] if is_one else line.split("; ")


TEXTS = {
    0: [REDUCTIONS, SCANS, UFUNCS, CREATION, SELECTION, COUNTING, JOINING, ELEMENTWISE, PRODUCTS, METHODS, KEYWORDS, TYPES],
    ULPS: [ROUNDED_REDUCTIONS, ROUNDED_UFUNCS, ROUNDED_CREATION, ROUNDED_ELEMENTWISE, ROUNDED_PRODUCTS, ROUNDED_METHODS],
}
CASES = [pytest.param(program, ulps, id=program) for ulps, texts in TEXTS.items() for text in texts for program in programs(text)]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("program", "ulps"), CASES)
def test_programs(program, ulps, layout):
    if layout == "view" and any(word in program for word in ("strides", "isfortran", ".shape =")):
        # About memory, which views with steps have in another order than what they are compared with.
        layout = 2
    with pt.default_team(pt.Team.local(layout if isinstance(layout, int) else 2, "host")):
        ours = outcome(program, pt, layout)
    compare(ours, outcome(program, np), ulps)


def test_limits_print_as_numpys():
    for kind in ("f2", "f4", "f8", "c8"):
        ours, theirs = pt.finfo(kind), np.finfo(kind)
        assert kind == "f2" or repr(ours) == repr(theirs)
        for name in ("max", "min", "tiny", "smallest_normal", "smallest_subnormal", "eps", "epsneg", "resolution"):
            assert str(getattr(ours, name)) == str(getattr(theirs, name)) and isinstance(getattr(ours, name), float), (kind, name)
            assert float(getattr(ours, name)) == pytest.approx(float(getattr(theirs, name)), rel=1e-3)


@pytest.mark.filterwarnings("ignore::partita.GatherWarning")
@pytest.mark.parametrize("parts", [1, 3])
def test_fits_are_numpys(parts):
    rng, team = np.random.default_rng(2), pt.Team.local(parts, "host")
    x, y, w = rng.normal(size=40), rng.normal(size=(40, 2)), rng.random(40)
    ours = [pt.asarray(host, team=team) for host in (x, y, w)]
    for column, settings in itertools.product((0, slice(None)), ({}, {"w": 2}, {"cov": True}, {"cov": "unscaled"}, {"full": True})):
        words = [{name: z[2] if name == "w" else value for name, value in settings.items()} for z in (ours, (x, y, w))]
        fit, expected = pt.polyfit(ours[0], ours[1][:, column], 3, **words[0]), np.polyfit(x, y[:, column], 3, **words[1])
        pairs = zip(fit, expected, strict=True) if isinstance(expected, tuple) else [(fit, expected)]
        for given, wanted in pairs:
            np.testing.assert_allclose(np.asarray(given), wanted, rtol=1e-9)
    with pytest.warns(np.exceptions.RankWarning):
        pt.polyfit([1.0, 1.0], [1.0, 2.0], 1)
    with pytest.raises(TypeError, match="as many values"):
        pt.polyfit([1.0, 2.0], [1.0], 1)


@pytest.mark.parametrize("parts", [1, 3])
def test_functions_of_single_elements(parts):
    """`nditer` and `vectorize` read the whole array first; the second one warns."""
    host, team = HOSTS["n"], pt.Team.local(parts, "host")
    n = pt.asarray(host, team=team)
    assert [x.item() for x in pt.nditer(n)] == [x.item() for x in np.nditer(host)]
    assert [(x.item(), y.item()) for x, y in pt.nditer([n, n[0]])] == [(x.item(), y.item()) for x, y in np.nditer([host, host[0]])]
    sums = pt.nditer([n, n[0], None])
    for x, y, z in sums:
        z[...] = x + y
    assert (sums.operands[2] == host + host[0]).all()
    places = pt.nditer(n, flags=["multi_index"])
    assert [places.multi_index for _ in places] == list(np.ndindex(host.shape))
    pt._core.memory._warned.clear()
    with pytest.warns(pt.GatherWarning, match="vectorize: .*run on the host, so 96 B are gathered"):
        ours = pt.vectorize(lambda a, b: a if a > b else -b)(n, 4)
    assert ours.team == team and ours.dtype == np.int64
    assert (ours.numpy() == np.where(host > 4, host, -4)).all()

    @pt.vectorize(otypes=[float, int])
    def both(a):
        return a / 2, int(a)

    assert [x.tolist() for x in both(n)] == [(host / 2).tolist(), host.tolist()]


@pytest.mark.parametrize("parts", [1, 3])
def test_strides(parts):
    from partita.lib import stride_tricks
    from partita.lib.stride_tricks import as_strided, sliding_window_view

    host = np.arange(20).reshape(4, 5)
    u = pt.asarray(host, team=pt.Team.local(parts, "host"))
    for shape, strides in [((3, 3), (40, 16)), ((2, 2, 2), (8, 0, 40)), ((4,), (48,)), (None, None), ((2, 0), (8, 8))]:
        ours, theirs = as_strided(u, shape, strides), np.lib.stride_tricks.as_strided(host, shape, strides)
        assert ours.shape == theirs.shape and (ours.numpy() == theirs).all()
        assert not ours.flags.writeable
    ours = as_strided(u[1:, ::2], (2, 2), (-40, 8))
    assert (ours.numpy() == np.lib.stride_tricks.as_strided(host[1:, ::2], (2, 2), (-40, 8))).all()
    assert sliding_window_view([1, 2, 3], 2).tolist() == [[1, 2], [2, 3]] and stride_tricks is pt.lib.stride_tricks


def test_what_is_absent():
    """Every name that is not here answers with a remedy."""
    absent = [name for name in np.__all__ if name != "broadcast" and not hasattr(pt, name)]
    with pytest.warns(DeprecationWarning, match="partita.broadcast is partita.collective.broadcast now"):
        assert pt.broadcast is pt.collective.broadcast
    print(f"\nNumPy's main namespace: {len(np.__all__) - len(absent)} of {len(np.__all__)} names")
    assert len(absent) <= 0.2 * len(np.__all__)
    for name in absent:
        if name != "__array_namespace_info__":
            with pytest.raises(AttributeError, match=f"'{name}': (it is not there; use numpy.{name}|.*use |convert |there are)"):
                getattr(pt, name)
    with pytest.raises(AttributeError, match="no attribute 'linspac'; did you mean linspace\\?$"):
        pt.linspac  # noqa: B018


def test_in_a_loop():
    """Functions record inside of a step, those that write to `out`, too."""
    team = pt.Team.local(3, "host")

    def step(u, t):
        pt.add(u, pt.clip(pt.roll(u, 1), 0, 2), out=u)
        pt.multiply(u, 0.5, out=u, where=u > 3)
        u[...] = pt.where(pt.isclose(u, 1.0), pt.nan_to_num(u), pt.hypot(u, t)) + pt.var(u) + pt.maximum.reduce(u) * 1e-3

    ours, host = pt.arange(9.0, team=team), np.arange(9.0)
    pt.Loop(step).run(ours, steps=7, numbers=lambda k: (0.1 * k,))
    for k in range(7):
        np.add(host, np.clip(np.roll(host, 1), 0, 2), out=host)
        np.multiply(host, 0.5, out=host, where=host > 3)
        host = np.where(np.isclose(host, 1.0), np.nan_to_num(host), np.hypot(host, 0.1 * k)) + np.var(host) + np.maximum.reduce(host) * 1e-3
    np.testing.assert_allclose(ours.numpy(), host, rtol=1e-13)


def test_a_shape_is_set_in_place_where_no_view_would_notice():
    u = pt.arange(6, team=pt.Team.local(3, "host"))
    rows = u.reshape(2, 3)
    with pytest.raises(AttributeError, match=r"shape: expected an array without views, .* use u = u.reshape"):
        u.shape = (3, 2)
    rows.shape = (3, 2)
    rows[2, 0] = 40
    assert rows.tolist() == [[0, 1], [2, 3], [40, 5]] and u.tolist() == [0, 1, 2, 3, 40, 5] and rows.base is u
    with pytest.raises(ValueError, match="copy"):
        view = pt.zeros((2, 3)).T
        view.shape = 6
    grid = pt.mgrid[0:2, 0:3][1]
    grid.shape = 6
    assert grid.tolist() == [0, 1, 2, 0, 1, 2]
