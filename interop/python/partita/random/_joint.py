"""Draws of several numbers that depend on each other: `JointDraws`, the part of `Generator` that has them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from .._api.create import asarray
from .._core.array import Array
from .._core.dtypes import float64, uint8
from .._core.memory import Shape, placed, shape_of
from .._core.rearrange import stack, take_along_axis
from .._core.views.indexing import finished
from .._core.watch import unwatched
from .._numpy.selecting.sorting import argsort
from ._stream import BitGenerator, Draw, refuse_in_step
from .._numpy.ufuncs.table import exp, log

_Size = Shape | None


class JointDraws:
    """Draws of several numbers by a stream."""

    _stream: BitGenerator

    @unwatched
    def multivariate_normal(
        self, mean: Any, cov: Any, size: _Size = None, check_valid: str = "warn", tol: float = 1e-8, *, method: str = "svd"
    ) -> Array:
        """Normally distributed vectors. The covariances are factored on the host, by NumPy's LAPACK.

        Parameters
        ----------
        mean : sequence of float
        cov : sequence of sequence of float
            Covariances, symmetric and positive semidefinite.
        size : int or tuple of int, optional
            The shape without that of a vector; by default one vector.
        check_valid : str, default 'warn'
            'raise', 'warn' or 'ignore' where ``cov`` is no covariance within ``tol``.
        tol : float, optional
        method : str, default 'svd'
            'svd', 'eigh' or 'cholesky', which takes positive definite covariances only.

        Examples
        --------
        >>> import partita as pt
        >>> pt.random.default_rng(1).multivariate_normal([0, 1], [[2, 1], [1, 2]], 5).shape
        (5, 2)
        """
        import numpy as np

        refuse_in_step("multivariate_normal")
        middle, square = np.asarray(mean, np.float64), np.asarray(cov, np.float64)
        if middle.ndim != 1 or square.shape != (middle.size, middle.size):
            given = f"shapes {middle.shape} and {square.shape}"
            raise ValueError(f"multivariate_normal: expected a vector as mean and a square matrix of its size as cov, given {given}")
        if method == "cholesky":
            factor = np.linalg.cholesky(square)
        elif method in ("svd", "eigh"):
            values, vectors = np.linalg.eigh((square + square.T) / 2)
            scale = max(abs(values).max(initial=0.0), 1.0) * tol
            if check_valid != "ignore" and (values.min(initial=0.0) < -scale or not np.allclose(square, square.T, rtol=tol, atol=tol)):
                text = "multivariate_normal: expected cov symmetric and positive semidefinite, given another; raise tol or mend it"
                if check_valid == "raise":
                    raise ValueError(text)
                warnings.warn(text, RuntimeWarning, stacklevel=2)
            factor = vectors * np.sqrt(values.clip(0))
        else:
            raise ValueError(f"multivariate_normal: expected method 'svd', 'eigh' or 'cholesky', given {method!r}")
        whole = placed("multivariate_normal", (*shape_of(() if size is None else size), middle.size), None, None)
        normal = Draw(self._stream, whole, float64).normal()
        rows: Array = (normal[..., None, :] * asarray(factor, team=whole.team)).sum(axis=-1) + asarray(middle, team=whole.team)
        return rows

    @unwatched
    def multinomial(self, n: Any, pvals: Any, size: _Size = None) -> Array:
        """The count of each of several results in ``n`` trials (int64), by a binomial count for each. Computes.

        Parameters
        ----------
        n : int or Array
        pvals : sequence of float, or of such sequences
            The probabilities of the results, along the last dimension; the last one is what the others leave.
        size : int or tuple of int, optional
            The shape without that of the results; by default that of ``n`` and the lines of ``pvals``, broadcast.

        Examples
        --------
        >>> import partita as pt
        >>> pt.random.default_rng(1).multinomial(20, [0.2, 0.3, 0.5], 4).sum(axis=1).tolist()
        [20, 20, 20, 20]
        """
        import numpy as np

        refuse_in_step("multinomial")
        chances = np.asarray(pvals, np.float64)
        is_chance = chances.ndim and chances.shape[-1] and ((chances >= 0) & (chances <= 1)).all()
        if not is_chance or (chances[..., :-1].sum(axis=-1) > 1 + 1e-12).any():
            expected = "probabilities along the last dimension, whose sum is at most 1"
            raise ValueError(f"multinomial: expected {expected}, given {pvals}; divide them by their sum")
        lines = chances.shape[:-1]
        shape = np.broadcast_shapes(np.shape(n), lines) if size is None else size
        left, counts, rest = n, [], np.ones(lines)
        for chance in np.moveaxis(chances, -1, 0)[:-1]:
            share = np.clip(np.divide(chance, rest, out=np.zeros(lines), where=rest > 0), 0.0, 1.0)
            counts.append(self.binomial(left, share if lines else share.item(), shape))  # type: ignore[attr-defined]
            left, rest = left - counts[-1], rest - chance
        last = left if counts else asarray(np.broadcast_to(n, shape), "int64")
        rows: Array = stack([*counts, last], axis=-1)
        return rows

    @unwatched
    def dirichlet(self, alpha: Sequence[float], size: _Size = None) -> Array:
        """Positive numbers of sum 1: shares of gamma distributed numbers of these shapes. Computes.

        Parameters
        ----------
        alpha : sequence of float
            Above 0.
        size : int or tuple of int, optional
            The shape without that of ``alpha``; by default none.

        Examples
        --------
        >>> import partita as pt
        >>> bool((abs(pt.random.default_rng(1).dirichlet([1, 2, 0.5], 4).sum(axis=1) - 1) < 1e-12).all())
        True
        """
        import numpy as np

        refuse_in_step("dirichlet")
        shapes = np.asarray(alpha, np.float64)
        if shapes.ndim != 1 or not (shapes > 0).all():
            raise ValueError(f"dirichlet: expected a sequence of numbers above 0, given {alpha}")
        whole = placed("dirichlet", (*shape_of(() if size is None else size), shapes.size), None, None)
        # By logarithms, because all of them may be too small for a float.
        x, more = Draw(self._stream, whole, float64, "dirichlet").gamma(asarray(np.broadcast_to(shapes, whole.shape), dist=whole))
        logarithm = (log(x) + more).eval()
        shares = exp(logarithm - logarithm.max(axis=-1, keepdims=True))
        return shares / shares.sum(axis=-1, keepdims=True)

    def permuted(self, x: Any, *, axis: int | None = None, out: Array | None = None) -> Array:
        """A copy of an array, each line of it along ``axis`` in a random order of its own. Local; with ``out`` it computes, and is
        collective.

        Parameters
        ----------
        x : Array
        axis : int, optional
            None takes all elements as one line.
        out : Array, optional
            Gets the elements; it may be ``x``.

        Returns
        -------
        Array

        Examples
        --------
        >>> import partita as pt
        >>> u = pt.random.default_rng(1).permuted(pt.arange(6).reshape(2, 3), axis=1)
        >>> pt.sort(u, axis=1).tolist()
        [[0, 1, 2], [3, 4, 5]]
        """
        refuse_in_step("permuted")
        source = x if isinstance(x, Array) else asarray(x)
        lines = source.reshape(-1) if axis is None else source
        words = Draw(self._stream, lines.dist, float64).word()
        mixed = take_along_axis(lines, argsort(words, axis=-1 if axis is None else axis), -1 if axis is None else axis)
        return finished("permuted", mixed.reshape(source.shape), out)

    def bytes(self, length: int) -> bytes:
        """Random bytes, on the host. Computes.

        Parameters
        ----------
        length : int

        Examples
        --------
        >>> import partita as pt
        >>> len(pt.random.default_rng(1).bytes(10))
        10
        """
        refuse_in_step("bytes")
        drawn: bytes = self.integers(0, 256, length, uint8).numpy().tobytes()  # type: ignore[attr-defined]
        return drawn
