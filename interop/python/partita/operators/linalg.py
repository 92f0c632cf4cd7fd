"""Linear algebra, by the names and rules of ``numpy.linalg``, and the array API's extension ``linalg``.

Norms, traces, powers and products are sums and matrix products on the array's devices. Factorizations and what is made of them
(`solve`, `inv`, `det`, `qr`, `svd`, `eigh`, ...) are LAPACK's, by NumPy, on the host: an array of one part is copied there, one
of several parts is gathered, with a warning that names the bytes; `set_gather_limit` bounds it. Results are on the team of the
first array: on its distribution where the shape is the same, otherwise in blocks.

>>> import partita as pt
>>> pt.linalg.solve([[2.0, 0], [0, 4]], [2.0, 2]).tolist()
[1.0, 0.5]
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._api.create import asarray
from .._core.array import Array
from .._core.base import array_of, arrays_of, made
from .._core.dtypes import default
from .._core.memory import check_gather
from .._core.rearrange import broadcast_to, expand_dims, moveaxis, squeeze
from .._core.reductions import matmul, matrix_transpose, max, min, sum, tensordot, vecdot
from .._core.views.index import one_axis
from .._core.watch import KINDS, modes
from .._numpy import products
from .._numpy.creation import eye
from ..errors import Missing
from .einsum import einsum
from .._core.rules import conj, real
from .._numpy.ufuncs.table import multiply, sqrt

if TYPE_CHECKING:
    from numpy.linalg import LinAlgError as LinAlgError

__all__ = [
    "LinAlgError", "cholesky", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv", "lstsq", "matmul",
    "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "multi_dot", "norm", "outer", "pinv", "qr", "slogdet", "solve",
    "svd", "svdvals", "tensordot", "tensorinv", "tensorsolve", "trace", "vecdot", "vector_norm",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    # NumPy's own class, so that programs catch it by either name; NumPy is imported when it is needed.
    if name == "LinAlgError":
        import numpy as np

        return np.linalg.LinAlgError
    raise Missing("module 'partita.linalg'", name, __all__)


def _floats(x: Array) -> Array:
    return x if x.dtype.kind in "fc" else x.astype(default.float)


def _host(name: str, *given: Any, **settings: Any) -> Any:
    """NumPy's function of that name, of copies on the host. Collective."""
    import numpy as np

    arrays = [_floats(x) for x in arrays_of(f"linalg.{name}", given)]
    divided = [x.nbytes for x in arrays if x.team.size > 1]
    if divided:
        check_gather(f"linalg.{name}", int(math.fsum(divided)), "this factorization is the host's", "use a team of one part", level=4)
    first = arrays[0]

    def placed(result: Any) -> Any:
        dist = first.dist if result.ndim and result.shape == first.shape else None
        array = asarray(np.asarray(result), dist=dist, team=None if dist is not None else first.team)
        return made(array._native)

    raising = modes.get().raising
    with np.errstate(**{kind: "raise" if kind in raising else "ignore" for kind in KINDS}):  # type: ignore[arg-type]
        result = getattr(np.linalg, name)(*(x.numpy() for x in arrays), **settings)
    if not isinstance(result, tuple):
        return placed(result)
    parts: list[Any] = [placed(x) if isinstance(x, (np.ndarray, np.inexact)) else int(x) for x in result]
    return type(result)(*parts) if hasattr(result, "_fields") else tuple(parts)


# Factorizations.


def solve(a: Any, b: Any) -> Array:
    """The solution ``x`` of ``a @ x = b``. A ``b`` of one dimension is a vector."""
    return _host("solve", a, b)  # type: ignore[no-any-return]


def inv(a: Any) -> Array:
    """The inverses of matrices."""
    return _host("inv", a)  # type: ignore[no-any-return]


def det(a: Any) -> Array:
    """The determinants of matrices."""
    return _host("det", a)  # type: ignore[no-any-return]


def slogdet(a: Any) -> Any:
    """The signs and the logarithms of the absolute values of determinants."""
    return _host("slogdet", a)


def cholesky(a: Any, /, *, upper: bool = False) -> Array:
    """The lower (or upper) triangular factor of Hermitian, positive definite matrices; only that triangle is read."""
    return _host("cholesky", a, upper=upper)  # type: ignore[no-any-return]


def qr(a: Any, mode: str = "reduced") -> Any:
    """Orthonormal columns and an upper triangle; ``mode`` is 'reduced', 'complete', 'r' or 'raw'."""
    return _host("qr", a, mode=mode)


def svd(a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False) -> Any:
    """The singular value decomposition: left vectors, singular values in descending order, right vectors as rows."""
    return _host("svd", a, full_matrices=full_matrices, compute_uv=compute_uv, hermitian=hermitian)


def svdvals(x: Any, /) -> Array:
    """Singular values, in descending order."""
    return _host("svdvals", x)  # type: ignore[no-any-return]


def eig(a: Any) -> Any:
    """Eigenvalues and right eigenvectors. Complex unless all of them are real, as NumPy's."""
    return _host("eig", a)


def eigvals(a: Any) -> Array:
    """Eigenvalues."""
    return _host("eigvals", a)  # type: ignore[no-any-return]


def eigh(a: Any, UPLO: str = "L") -> Any:
    """Eigenvalues, in ascending order, and eigenvectors of Hermitian matrices, of which one triangle is read."""
    return _host("eigh", a, UPLO=UPLO)


def eigvalsh(a: Any, UPLO: str = "L") -> Array:
    """Eigenvalues of Hermitian matrices, in ascending order."""
    return _host("eigvalsh", a, UPLO=UPLO)  # type: ignore[no-any-return]


def lstsq(a: Any, b: Any, rcond: float | None = None) -> tuple[Array, Array, int, Array]:
    """The least-squares solution of ``a @ x = b``, the sums of squared residuals, the rank and the singular values of ``a``."""
    return _host("lstsq", a, b, rcond=rcond)  # type: ignore[no-any-return]


def _tolerance(rtol: Any) -> Any:
    return rtol.numpy() if isinstance(rtol, Array) else rtol


def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Array:
    """Pseudo-inverses; singular values below ``rtol`` (or ``rcond``) times the largest count as zero."""
    words = {} if rtol is None else {"rtol": _tolerance(rtol)}
    return _host("pinv", a, **({"rcond": _tolerance(rcond)} if rcond is not None else words), hermitian=hermitian)  # type: ignore[no-any-return]


def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Array:
    """The number of singular values above ``tol``, or above ``rtol`` times the largest."""
    return _host("matrix_rank", A, tol=_tolerance(tol), hermitian=hermitian, rtol=_tolerance(rtol))  # type: ignore[no-any-return]


def cond(x: Any, p: Any = None) -> Array:
    """Condition numbers by the norm ``p``, that of singular values by default."""
    return _host("cond", x, p=p)  # type: ignore[no-any-return]


def tensorsolve(a: Any, b: Any, axes: Sequence[int] | None = None) -> Array:
    """The solution ``x`` of ``tensordot(a, x, x.ndim) = b``."""
    return _host("tensorsolve", a, b, axes=axes)  # type: ignore[no-any-return]


def tensorinv(a: Any, ind: int = 2) -> Array:
    """The inverse of ``tensordot(a, x, ind)``."""
    return _host("tensorinv", a, ind=ind)  # type: ignore[no-any-return]


# Norms.


def _vector_norm(x: Array, ord: Any, axis: Any, keepdims: bool) -> Array:
    if ord == 2:
        squares = multiply(x, x) if x.dtype.kind == "f" else real(multiply(x, conj(x)))
        return sqrt(sum(squares, axis, keepdims=keepdims))
    size = abs(x)
    if ord == math.inf:
        return max(size, axis, keepdims=keepdims)
    if ord == -math.inf:
        return min(size, axis, keepdims=keepdims)
    if ord == 0:
        return sum((x != 0).astype(size.dtype), axis, keepdims=keepdims)
    if isinstance(ord, str):
        raise ValueError(f"linalg.norm: expected a number as the norm of vectors, given {ord!r}")
    return sum(size, axis, keepdims=keepdims) if ord == 1 else sum(size**ord, axis, keepdims=keepdims) ** (1 / ord)


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Array:
    """Norms of vectors along one or several axes, by default of all elements."""
    return _vector_norm(_floats(array_of("linalg.vector_norm", x)), ord, axis, keepdims)


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Array:
    """Norms of matrices: 'fro', 'nuc', 1, -1, 2, -2, inf or -inf. Those of singular values ('nuc', 2, -2) are the host's."""
    x = _floats(array_of("linalg.matrix_norm", x))
    if x.ndim < 2:
        raise ValueError(f"linalg.matrix_norm: expected at least 2 dimensions, given {x.ndim}")
    if ord is None or ord == "fro":
        return _vector_norm(x, 2, (-2, -1), keepdims)
    if ord in ("nuc", 2, -2):
        values = svdvals(x)
        result: Array = sum(values, -1) if ord == "nuc" else max(values, -1) if ord == 2 else min(values, -1)
        return expand_dims(result, (-2, -1)) if keepdims else result
    if ord not in (1, -1, math.inf, -math.inf):
        raise ValueError(f"linalg.matrix_norm: expected 'fro', 'nuc', 1, -1, 2, -2, inf or -inf, given {ord!r}")
    sums = sum(abs(x), -2 if ord in (1, -1) else -1, keepdims=True)
    result = (max if ord > 0 else min)(sums, (-2, -1), keepdims=True)
    return result if keepdims else squeeze(result, (-2, -1))


def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Array:
    """Norms of vectors (one axis) or matrices (two axes); of all elements without ``ord`` and ``axis``."""
    x = _floats(array_of("linalg.norm", x))
    if axis is None and (ord is None or x.ndim == 1):
        return _vector_norm(x, 2 if ord is None else ord, None, keepdims)
    axes = [axis] if isinstance(axis, int) else list(range(x.ndim) if axis is None else axis)
    axes = [one_axis("linalg.norm", d, x.ndim) for d in axes]
    if len(axes) == 1:
        return _vector_norm(x, 2 if ord is None else ord, axes[0], keepdims)
    if len(axes) != 2 or axes[0] == axes[1]:
        raise ValueError(f"linalg.norm: expected one or two different axes, given {axes}; name them with axis=")
    result = matrix_norm(moveaxis(x, axes, (-2, -1)), keepdims=keepdims, ord=ord)
    return moveaxis(result, (-2, -1), axes) if keepdims else result


# Products and diagonals.


def matrix_power(a: Any, n: int) -> Array:
    """Powers of square matrices by repeated squaring; a negative one is that of the inverse."""
    x = array_of("linalg.matrix_power", a)
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise __getattr__("LinAlgError")(f"linalg.matrix_power: expected square matrices, given shape {x.shape}")
    if not isinstance(n, int):
        raise TypeError(f"linalg.matrix_power: expected an int as the power, given {type(n).__name__}")
    if n == 0:
        return broadcast_to(eye(x.shape[-1], dtype=x.dtype, team=x.team), x.shape)
    x, n = (inv(x), -n) if n < 0 else (x, n)
    result: Array | None = None
    while n:
        if n % 2:
            result = x if result is None else matmul(result, x)
        n //= 2
        x = matmul(x, x).eval() if n else x
    assert result is not None
    return result


def multi_dot(arrays: Sequence[Any], *, out: Any = None) -> Array:
    """The product of several matrices in a cheap order; the first and the last may be vectors."""
    given = arrays_of("linalg.multi_dot", arrays)
    if len(given) < 2:
        raise ValueError(f"linalg.multi_dot: expected at least two arrays, given {len(given)}")
    ranks = [x.ndim for x in given]
    if any(rank != 2 for rank in ranks[1:-1]) or not {ranks[0], ranks[-1]} <= {1, 2}:
        raise __getattr__("LinAlgError")(f"linalg.multi_dot: expected matrices, vectors only at the ends, given dimensions {ranks}")
    lists = [[n, n + 1] for n in range(len(given))]
    lists[0] = lists[0][-ranks[0] :]
    lists[-1] = lists[-1][: ranks[-1]]
    result = [0] * (ranks[0] - 1) + [len(given)] * (ranks[-1] - 1)
    return einsum(*(each for pair in zip(given, lists, strict=True) for each in pair), result, out=out)


def diagonal(x: Any, /, *, offset: int = 0) -> Array:
    """Diagonals of matrices in the last two dimensions."""
    return array_of("linalg.diagonal", x).diagonal(offset, -2, -1)  # type: ignore[no-any-return]


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Array:
    """Sums of the diagonals of matrices in the last two dimensions."""
    return products.trace(x, offset, -2, -1, dtype)


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Array:
    """Vector products of vectors of three components along an axis; other dimensions broadcast."""
    return products.cross(x1, x2, axis=axis)


def outer(x1: Any, x2: Any, /) -> Array:
    """Products of all pairs of elements of two vectors."""
    a, b = arrays_of("linalg.outer", (x1, x2))
    if a.ndim != 1 or b.ndim != 1:
        raise ValueError(f"linalg.outer: expected two vectors, given {a.ndim} and {b.ndim} dimensions; ravel them")
    return products.outer(a, b)
