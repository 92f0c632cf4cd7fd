"""Einstein's summation, ``partita.einsum``, by the forms of NumPy's: pairs of operands are contracted one after the other.

A contraction of two operands is a batched `matmul` of their axes in another order, or, if they share no summed label, a product
of elements. Subscripts become lists of labels: a letter or number per axis, and ``-n`` for the axis that the ellipsis has
n-th from its end.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from .._core.array import Array
from .._core.base import arrays_of, made
from .._core.dtypes import as_dtype, can_cast, result_type
from .._core.rearrange import expand_dims, reshape, squeeze, transpose
from .._core.reductions import matmul, sum
from .._core.rules import binary
from .._core.views.indexing import finished

__all__ = ["einsum", "einsum_path"]

Label = str | int
#: An operand and a label for each of its axes.
Term = tuple[Array, list[Label]]


def _symbols(text: str) -> list[Any]:
    """The labels of one operand, `Ellipsis` among them."""
    before, dots, after = text.partition("...")
    symbols: list[Any] = [*before, *([Ellipsis] if dots else []), *after]
    for symbol in symbols:
        if symbol is not Ellipsis and not (symbol.isascii() and symbol.isalpha()):
            raise ValueError(f"einsum: expected letters and at most one '...' per operand, given {text!r}")
    return symbols


def _parsed(operands: Sequence[Any]) -> tuple[list[Any], list[list[Any]], list[Any] | None]:
    """Operands, the symbols of each, and those of the result, if they are given."""
    if operands and isinstance(operands[0], str):
        inputs, arrow, output = operands[0].replace(" ", "").partition("->")
        return list(operands[1:]), [_symbols(term) for term in inputs.split(",")], _symbols(output) if arrow else None
    pairs = len(operands) // 2
    lists = [list(labels) for labels in operands[1 : 2 * pairs : 2]]
    for label in (label for labels in lists for label in labels):
        if label is not Ellipsis and not (isinstance(label, int) and 0 <= label < 52):
            raise ValueError(f"einsum: expected labels from 0 to 51 or Ellipsis, given {label!r}")
    return list(operands[: 2 * pairs : 2]), lists, list(operands[-1]) if len(operands) % 2 else None


def _labels(symbols: list[Any], rank: int) -> list[Label]:
    """A label for each axis of an operand."""
    rest = rank - len(symbols) + symbols.count(Ellipsis)
    if rest < 0 or (rest and Ellipsis not in symbols):
        raise ValueError(f"einsum: expected as many labels as dimensions, given {len(symbols)} for {rank}; add '...'")
    if symbols.count(Ellipsis) > 1:
        raise ValueError("einsum: expected at most one '...' per operand, given more")
    at = symbols.index(Ellipsis) if Ellipsis in symbols else len(symbols)
    return [*symbols[:at], *range(-rest, 0), *symbols[at + 1 :]]


def _result(inputs: list[list[Label]], symbols: list[Any] | None) -> list[Label]:
    """The labels of the result: those given, or those of the ellipsis and, sorted, those that occur once."""
    every = [label for labels in inputs for label in labels]
    dots: list[Label] = sorted({label for label in every if isinstance(label, int) and label < 0})
    if symbols is None:
        return dots + sorted(label for label in set(every) - set(dots) if every.count(label) == 1)
    if dots and Ellipsis not in symbols:
        raise ValueError("einsum: expected '...' in the result as in an operand, given none; add it, or sum over named labels")
    at = symbols.index(Ellipsis) if Ellipsis in symbols else len(symbols)
    labels = [*symbols[:at], *(dots if Ellipsis in symbols else []), *symbols[at + 1 :]]
    for label in labels:
        if labels.count(label) > 1 or label not in every:
            raise ValueError(f"einsum: expected labels of operands in the result, each once, given {label!r}")
    return labels


def _extents(terms: Iterable[Term]) -> dict[Label, int]:
    extents: dict[Label, int] = {}
    for x, labels in terms:
        for label, extent in zip(labels, x.shape, strict=True):
            known = extents.setdefault(label, extent)
            if 1 not in (known, extent) and known != extent:
                raise ValueError(f"einsum: expected one extent for label {label!r}, given {known} and {extent}")
            extents[label] = extent if known == 1 else known
    return extents


def _plain(term: Term, extents: dict[Label, int]) -> Term:
    """An operand with each label once, and without axes that broadcast."""
    x, labels = term
    broadcast = [axis for axis, label in enumerate(labels) if x.shape[axis] != extents[label]]
    x = squeeze(x, tuple(broadcast)) if broadcast else x
    labels = [label for axis, label in enumerate(labels) if axis not in broadcast]
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            first = labels.index(label)
            second = labels.index(label, first + 1)
            x = x.diagonal(0, first, second)
            labels = [each for axis, each in enumerate(labels) if axis not in (first, second)] + [label]
    return x, labels


def _summed(term: Term, kept: set[Label]) -> Term:
    """An operand summed over the labels that nobody else has."""
    x, labels = term
    axes = tuple(axis for axis, label in enumerate(labels) if label not in kept)
    return (sum(x, axes).astype(x.dtype, copy=False) if axes else x), [label for label in labels if label in kept]


def _ordered(term: Term, groups: Sequence[list[Label]]) -> Array:
    """An operand with its axes in the order of the labels; those of the last two groups are one axis each."""
    x, labels = term
    wanted = [label for group in groups for label in group]
    x = x if wanted == labels else transpose(x, [labels.index(label) for label in wanted])
    batch = x.shape[: len(groups[0])]
    middle = len(groups[0]) + len(groups[1])
    if len(groups[1]) == len(groups[2]) == 1:
        return x
    return reshape(x, (*batch, math.prod(x.shape[len(batch) : middle]), math.prod(x.shape[middle:])))


def _spread(term: Term, labels: list[Label]) -> Array:
    """An operand with an axis for each of the labels, which broadcasts where it has none."""
    x, own = term
    wanted = [label for label in labels if label in own]
    x = x if wanted == own else transpose(x, [own.index(label) for label in wanted])
    missing = tuple(axis for axis, label in enumerate(labels) if label not in own)
    return expand_dims(x, missing) if missing else x


def _contracted(a: Term, b: Term, kept: set[Label]) -> Term:
    """Two operands to one, summed over the labels that are not kept."""
    a, b = _summed(a, kept | set(b[1])), _summed(b, kept | set(a[1]))
    shared = [label for label in a[1] if label in b[1]]
    inner = [label for label in shared if label not in kept]
    batch = [label for label in shared if label in kept]
    rows = [label for label in a[1] if label not in shared]
    columns = [label for label in b[1] if label not in shared]
    labels = batch + rows + columns
    if not inner:
        product: Array = binary("multiply", _spread(a, labels), _spread(b, labels))
        return product, labels
    shape = {label: n for x, own in (a, b) for label, n in zip(own, x.shape, strict=True)}
    product = matmul(_ordered(a, (batch, rows, inner)), _ordered(b, (batch, inner, columns)))
    return (product if len(rows) == len(columns) == 1 else reshape(product, tuple(shape[label] for label in labels))), labels


def _path(operands: Sequence[Any], arrays: list[Array], optimize: Any) -> tuple[list[Any], str]:
    """NumPy's, of shapes without elements."""
    import numpy as np

    stand_ins = iter([np.broadcast_to(np.zeros(()), x.shape) for x in arrays])
    words = isinstance(operands[0], str)
    paired = len(operands) // 2 * 2
    is_array = [at > 0 if words else at % 2 == 0 and at < paired for at in range(len(operands))]
    given: list[Any] = [next(stand_ins) if here else x for here, x in zip(is_array, operands, strict=True)]
    path, text = np.einsum_path(*given, optimize=optimize)
    return list(path), text


def _operands(operands: Sequence[Any]) -> tuple[list[Array], list[list[Any]], list[Any] | None]:
    given, inputs, output = _parsed(operands)
    if not given or len(given) != len(inputs):
        raise ValueError(f"einsum: expected subscripts for each operand, given {len(inputs)} for {len(given)}")
    return list(arrays_of("einsum", tuple(given))), inputs, output


def einsum_path(*operands: Any, optimize: Any = "greedy", einsum_call: bool = False) -> tuple[list[Any], str]:
    """The order in which `einsum` contracts its operands, and a text about its cost: NumPy's. Reads no elements."""
    if einsum_call:
        raise ValueError("einsum_path: expected einsum_call False, given True; it is NumPy's own")
    arrays, _, _ = _operands(operands)
    return _path(operands, arrays, optimize)


def einsum(
    *operands: Any, out: Any = None, dtype: Any = None, order: str = "K", casting: str = "safe", optimize: Any = False
) -> Array:
    """Einstein's summation: products of the operands, summed over the labels that the result does not have. Pairs of operands are
    contracted as matrix products, by default in the greedy order; ``optimize`` gives another order or a path."""
    arrays, symbols, output = _operands(operands)
    common = result_type(*(x.dtype for x in arrays)) if dtype is None else as_dtype(dtype)
    for x in arrays:
        if not can_cast(x.dtype, common, casting):
            raise TypeError(f"einsum: expected operands that cast to {common} by the rule {casting!r}, given {x.dtype}; use another casting")
    inputs = [_labels(each, x.ndim) for each, x in zip(symbols, arrays, strict=True)]
    result = _result(inputs, output)
    extents = _extents(zip(arrays, inputs, strict=True))
    terms = [_plain((x.astype(common, copy=False), labels), extents) for x, labels in zip(arrays, inputs, strict=True)]
    chosen = "greedy" if optimize in (False, True, None) else optimize
    for together in _path(operands, arrays, chosen)[0][1:] if len(terms) > 2 else [tuple(range(len(terms)))]:
        group = [terms[n] for n in sorted(together)]
        terms = [term for n, term in enumerate(terms) if n not in together]
        others = {label for _, labels in terms for label in labels} | set(result)
        total = group[0]
        for n, term in enumerate(group[1:], 2):
            total = _contracted(total, term, others | {label for _, labels in group[n:] for label in labels})
        terms.append(_summed(total, others))
    summed = _spread(terms[0], result)
    return finished("einsum", summed if result else made(summed._native), out)
