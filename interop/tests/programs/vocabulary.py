"""The words of random programs: each makes one statement from what the program has so far, or None if nothing fits.

Weights stand beside the words. What NumPy refuses, or leaves undefined, `generate` throws away, so words may guess.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
from programs.language import Key, Name, Statement

Variables = dict[str, Any]
Word = Callable[[random.Random, Variables], Statement | None]

DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
)  # fmt: skip
EXTENTS = (0, 1, 1, 2, 3, 3, 4, 5, 6, 7)
OPERATORS = ("+", "-", "*", "/", "//", "%", "&", "|", "^", "<<", ">>", "==", "!=", "<", "<=", ">", ">=")
EXACT = (
    "floor", "ceil", "trunc", "round", "sqrt", "square", "isnan", "isinf", "isfinite", "sign", "logical_not",
    "negative", "abs", "positive",
)  # fmt: skip
SMOOTH = (
    "exp", "expm1", "log", "log1p", "log2", "log10", "sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh",
    "tanh", "arcsinh", "arccosh", "arctanh", "cbrt",
)  # fmt: skip
#: What no program does, each with its reason; `test_programs` prints it and compares with what is public.
LEFT_OUT = {
    "angle": "programs have no complex numbers; test_complex.py has",
    "conj": "as angle",
    "imag": "as angle",
    "real": "as angle",
    "u[i] += x": "at a single element NumPy computes with a scalar, whose type may change; an array's may not",
    "bfloat16": "NumPy has no such type",
    "erf": "NumPy has no such function",
    "logaddexp": "composed of several functions; no bound is claimed",
    "reciprocal": "of integers NumPy divides integers, the array API is followed instead",
    "tensordot": "made of matmul, reshape and moveaxis",
    "vecdot": "made of * and sum",
}


def values(rng: random.Random, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """Small numbers, and now and then the ends of the type, infinities and NaN."""
    kind, count = np.dtype(dtype).kind, int(np.prod(shape))
    if kind == "b":
        drawn: list[Any] = [rng.random() < 0.5 for _ in range(count)]
    elif kind == "f":
        drawn = [rng.randint(-16, 16) / rng.choice((1, 2, 4, 3, 10)) for _ in range(count)]
        edges = [np.nan, np.inf, -np.inf, -0.0, float(np.finfo(dtype).max), float(np.finfo(dtype).smallest_subnormal)]
    else:
        drawn = [rng.randint(0 if kind == "u" else -9, 9) for _ in range(count)]
        edges = [int(np.iinfo(dtype).max), int(np.iinfo(dtype).min)]
    if kind != "b" and count and rng.random() < 0.1:
        for _ in range(rng.randint(1, 3)):
            drawn[rng.randrange(count)] = rng.choice(edges)
    return np.array(drawn, dtype).reshape(shape)


def shape(rng: random.Random) -> tuple[int, ...]:
    """Up to four dimensions, some of them empty."""
    return tuple(rng.choice(EXTENTS) for _ in range(rng.choice((0, 1, 1, 2, 2, 2, 3, 3, 4))))


def number(rng: random.Random) -> bool | int | float:
    """A number of Python, which takes the type of what it meets."""
    return rng.choice((0, 1, 2, 3, -1, -2, 5, 0.5, -1.5, 0.1, 2.0, True, rng.randint(-300, 300)))


def some(rng: random.Random, variables: Variables, fits: Callable[[Any], bool] = lambda value: True) -> Name | None:
    """A variable, the younger the likelier."""
    names = [name for name, value in variables.items() if fits(value)]
    return Name(names[max(rng.randrange(len(names)), rng.randrange(len(names)))]) if names else None


def broadcasts(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Whether two shapes stretch to one."""
    return all(a == b or 1 in (a, b) for a, b in zip(reversed(one), reversed(other), strict=False))


def fits_in(given: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Whether a shape stretches to another."""
    return len(given) <= len(wanted) and all(a in (1, b) for a, b in zip(given[::-1], wanted[::-1], strict=False))


# Indices.


def span(rng: random.Random, extent: int) -> slice:
    """A slice of any step."""
    ends = [None, None, *range(-extent - 1, extent + 2)]
    step = rng.choice((None, None, None, 1, 2, 3, -1, -1, -2, -3))
    return slice(rng.choice(ends), rng.choice(ends), step)


def basic(rng: random.Random, extents: tuple[int, ...]) -> Key:
    """Slices, integers, new dimensions and an ellipsis."""
    key: list[Any] = []
    for extent in extents:
        if extent and rng.random() < 0.2:
            key.append(rng.randrange(-extent, extent))
        else:
            key.append(slice(None) if rng.random() < 0.3 else span(rng, extent))
    if rng.random() < 0.2:
        at = rng.randint(0, len(key))
        key[at : rng.randint(at, len(key))] = [Ellipsis]
    elif rng.random() < 0.3:
        key = key[: rng.randint(0, len(key))]
    if rng.random() < 0.2:
        key.insert(rng.randint(0, len(key)), None)
    return Key(key)


def fancy(rng: random.Random, name: str, variables: Variables) -> Key:
    """Masks and arrays of integers, some of them variables of the program."""
    extents = variables[name].shape
    masks = [
        n for n, v in variables.items() if v.dtype == bool and v.ndim and v.shape == extents[: v.ndim]
    ]
    if masks and rng.random() < 0.4:
        return Key([Name(rng.choice(masks))])
    if not extents or rng.random() < 0.2:
        return Key([values(rng, "bool", extents)])
    key: list[Any] = [slice(None) if rng.random() < 0.6 else span(rng, extent) for extent in extents]
    picked = rng.sample(range(len(key)), rng.choice((1, 1, min(2, len(key)))))
    places = rng.choice(((3,), (2,), (1,), (2, 2), (0,)))
    for d in picked:
        if extents[d] == 0:
            continue
        if len(picked) == 1 and rng.random() < 0.2:
            key[d] = values(rng, "bool", (extents[d],))
        else:
            drawn = [rng.randrange(-extents[d], extents[d]) for _ in range(int(np.prod(places)))]
            key[d] = np.array(drawn, np.int64).reshape(places)
    return Key(key)


def any_key(rng: random.Random, name: str, variables: Variables) -> Key:
    """An index of either sort."""
    return basic(rng, variables[name].shape) if rng.random() < 0.75 else fancy(rng, name, variables)


def shifted(rng: random.Random, extents: tuple[int, ...], count: int) -> list[Key]:
    """Windows of one shape at several places, as stencils read them; now and then one is turned round."""
    keys: list[list[slice]] = [[] for _ in range(count)]
    for extent in extents:
        width = rng.randint(max(0, extent - 2), extent)
        for key in keys:
            start = rng.randint(0, extent - width)
            if width and rng.random() < 0.08:
                key.append(slice(start + width - 1, start - 1 if start else None, -1))
            else:
                key.append(slice(start, start + width - extent or None))
    return [Key(key) for key in keys]


# Words.


def view(rng: random.Random, v: Variables) -> Statement | None:
    a = some(rng, v)
    if a is None:
        return None
    key = any_key(rng, a, v)
    # NumPy's copies are not always in C order.
    kind = "own" if any(isinstance(k, (Name, np.ndarray)) for k in key) else "seen"
    return Statement(f"{{out}} = {kind}({{a}}[{{key}}])", {"a": a, "key": key})


def unary(rng: random.Random, v: Variables) -> Statement | None:
    a = some(rng, v)
    if a and rng.random() < 0.6:
        return Statement(f"{{out}} = own(xp.{rng.choice(EXACT)}({{a}}))", {"a": a})
    name = rng.choice(SMOOTH)
    return a and Statement(f"{{out}} = own(xp.{name}({{a}}))", {"a": a}, f"ulp {name}")


def _pair(rng: random.Random, v: Variables) -> tuple[Any, Any] | None:
    a = some(rng, v)
    if a is None:
        return None
    b = number(rng) if rng.random() < 0.25 else some(rng, v, lambda value: broadcasts(value.shape, v[a].shape))
    return (a, b) if rng.random() < 0.8 else (b, a)


def operator(rng: random.Random, v: Variables) -> Statement | None:
    pair = _pair(rng, v)
    return pair and Statement(f"{{out}} = own({{a}} {rng.choice(OPERATORS)} {{b}})", {"a": pair[0], "b": pair[1]})


def function(rng: random.Random, v: Variables) -> Statement | None:
    pair = _pair(rng, v)
    if pair is None:
        return None
    name, rule = rng.choice((
        ("minimum", "sign"), ("maximum", "sign"), ("logical_and", "same"), ("logical_or", "same"),
        ("logical_xor", "same"), ("hypot", "ulp hypot"), ("arctan2", "ulp arctan2"), ("power", "ulp power"),
    ))  # fmt: skip
    return Statement(f"{{out}} = own(xp.{name}({{a}}, {{b}}))", {"a": pair[0], "b": pair[1]}, rule)


def choice(rng: random.Random, v: Variables) -> Statement | None:
    pair = _pair(rng, v)
    if pair is None:
        return None
    extents = np.broadcast_shapes(*(v[x].shape if isinstance(x, Name) else () for x in pair))
    m = some(rng, v, lambda value: broadcasts(value.shape, extents))
    return m and Statement("{out} = own(xp.where({m}, {a}, {b}))", {"m": m, "a": pair[0], "b": pair[1]})


def clip(rng: random.Random, v: Variables) -> Statement | None:
    a = some(rng, v, lambda value: value.dtype != bool)
    return a and Statement("{out} = own(xp.clip({a}, {low}, {high}))", {"a": a, "low": -2, "high": 3}, "sign")


def cast(rng: random.Random, v: Variables) -> Statement | None:
    a = some(rng, v)
    return a and Statement("{out} = own({a}.astype({dtype}))", {"a": a, "dtype": rng.choice(DTYPES)})


def _axes(rng: random.Random, rank: int) -> int | tuple[int, ...] | None:
    if rank == 0 or rng.random() < 0.25:
        return None
    if rng.random() < 0.6:
        return rng.randrange(-rank, rank)
    return tuple(rng.sample(range(rank), rng.randint(1, rank)))


def reduction(rng: random.Random, v: Variables) -> Statement | None:
    a = some(rng, v)
    if a is None:
        return None
    rules = {"sum": "sum", "prod": "prod", "mean": "mean", "min": "sign", "max": "sign"}
    name = rng.choice(("sum", "sum", "prod", "mean", "min", "max", "all", "any"))
    places = {"a": a, "axis": _axes(rng, v[a].ndim), "keepdims": rng.random() < 0.3}
    text = f"{{out}} = own(xp.{name}({{a}}, axis={{axis}}, keepdims={{keepdims}}))"
    return Statement(text, places, rules.get(name, "same"))


def position(rng: random.Random, v: Variables) -> Statement | None:
    a = some(rng, v)
    if a is None:
        return None
    axis = rng.choice((None, *range(-v[a].ndim, v[a].ndim)))
    text = f"{{out}} = own(xp.{rng.choice(('argmin', 'argmax'))}({{a}}, axis={{axis}}))"
    return Statement(text, {"a": a, "axis": axis})


def product(rng: random.Random, v: Variables) -> Statement | None:
    a = some(rng, v, lambda value: value.ndim > 0)
    inner = v[a].shape[-1] if a else 0
    b = a and some(rng, v, lambda value: value.ndim > 0 and value.shape[-2 if value.ndim > 1 else -1] == inner)
    return b and Statement("{out} = own({a} @ {b})", {"a": a, "b": b}, "matmul")


def _of_axes(rng: random.Random, rank: int) -> list[tuple[str, Any]]:
    """Rearrangements that name axes: the call, and what it is given."""
    order = rng.sample(range(rank), rank)
    some_axes = tuple(rng.sample(range(rank), rng.randint(1, rank)))
    return [
        ("xp.permute_dims({a}, {x})", tuple(order)),
        ("xp.flip({a}, {x})", some_axes),
        ("xp.roll({a}, {x}, %d)" % rng.randrange(rank), rng.randint(-8, 8)),
        ("xp.roll({a}, {x}, %r)" % (some_axes,), tuple(rng.randint(-4, 4) for _ in some_axes)),
        ("xp.moveaxis({a}, {x}, %d)" % rng.randrange(rank), rng.randrange(-rank, rank)),
        ("xp.swapaxes({a}, {x}, %d)" % rng.randrange(rank), rng.randrange(-rank, rank)),
        ("xp.repeat({a}, {x}, axis=%d)" % rng.randrange(rank), rng.randint(0, 3)),
        ("xp.transpose({a})", None),
        ("{a}.T", None),
        *([("xp.diagonal({a}, {x}, %d, %d)" % (0, rng.choice((1, -1))), rng.randint(-2, 2))] if rank > 1 else []),
    ]


#: Rearrangements of which NumPy makes copies.
COPIES = ("roll", "repeat", "tile")


def rearrangement(rng: random.Random, v: Variables) -> Statement | None:
    a = some(rng, v)
    if a is None:
        return None
    rank, extents = v[a].ndim, v[a].shape
    calls: list[tuple[str, Any]] = [
        ("xp.ravel({a})", None),
        ("xp.roll({a}, {x})", rng.randint(-8, 8)),
        ("xp.expand_dims({a}, {x})", rng.randint(-rank - 1, rank)),
        ("xp.squeeze({a})", None),
        ("xp.tile({a}, {x})", tuple(rng.randint(0, 2) for _ in range(rng.randint(1, rank + 1)))),
        ("xp.broadcast_to({a}, {x})", (rng.randint(1, 3), *(n if n != 1 else rng.randint(1, 4) for n in extents))),
        ("xp.reshape({a}, {x})", _reshaped(rng, v[a].size)),
        ("xp.reshape({a}, {x})", _reshaped(rng, v[a].size)),
    ]
    if rank:
        calls += _of_axes(rng, rank)
    call, x = rng.choice(calls)
    kind = "own" if call.startswith(tuple(f"xp.{name}" for name in COPIES)) else "seen"
    return Statement(f"{{out}} = {kind}({call})", {"a": a, "x": x} if "{x}" in call else {"a": a})


def _reshaped(rng: random.Random, size: int) -> tuple[int, ...]:
    """Extents whose product is the size."""
    if size == 0:
        return rng.choice(((0,), (0, 3), (2, 0), (1, 0, 2)))
    extents = [1] * rng.randint(1, 4)
    prime = 2
    while size > 1:
        if size % prime:
            prime += 1
            continue
        extents[rng.randrange(len(extents))] *= prime
        size //= prime
    if rng.random() < 0.3:
        extents[rng.randrange(len(extents))] = -1
    return tuple(extents)


def joined(rng: random.Random, v: Variables) -> Statement | None:
    a = some(rng, v, lambda value: value.ndim > 0)
    if a is None:
        return None
    axis = rng.randrange(v[a].ndim)
    rest = v[a].shape[:axis] + v[a].shape[axis + 1 :]
    fits = [Name(n) for n, x in v.items() if x.ndim == v[a].ndim and x.shape[:axis] + x.shape[axis + 1 :] == rest]
    alike = [Name(n) for n, x in v.items() if x.shape == v[a].shape]
    name, group = rng.choice((("concatenate", fits), ("stack", alike)))
    arrays = [a, *(rng.choice(group) for _ in range(rng.randint(0, 2)))]
    return Statement(f"{{out}} = own(xp.{name}({{arrays}}, axis={{axis}}))", {"arrays": arrays, "axis": axis})


def padded(rng: random.Random, v: Variables) -> Statement | None:
    a = some(rng, v, lambda value: value.ndim > 0)
    if a is None:
        return None
    width = [[rng.randint(0, 3), rng.randint(0, 3)] for _ in range(v[a].ndim)]
    mode = rng.choice(("constant", "edge", "wrap", "reflect", "symmetric"))
    return Statement("{out} = own(xp.pad({a}, {width}, mode={mode}))", {"a": a, "width": width, "mode": mode})


def pieced(rng: random.Random, v: Variables) -> Statement | None:
    """Neighbours among joined, padded, rolled and picked arrays, without a name for these."""
    a = some(rng, v, lambda value: value.ndim > 0)
    if a is None:
        return None
    rank, extents = v[a].ndim, v[a].shape
    axis = rng.randrange(rank)
    mode = rng.choice(("constant", "edge", "wrap", "reflect", "symmetric"))
    order = np.array([rng.randrange(extents[axis]) for _ in range(2 * extents[axis])], np.int64)
    held, larger = rng.choice((
        (f"xp.pad({{a}}, 1, mode={mode!r})", tuple(n + 2 for n in extents)),
        (f"xp.concatenate([{{a}}, {{a}} * 2], axis={axis})", extents[:axis] + (2 * extents[axis],) + extents[axis + 1 :]),
        (f"xp.roll({{a}} + 1, {rng.randint(-4, 4)}, {axis})", extents),
        (f"xp.take({{a}}, {{x}}, axis={axis})", extents[:axis] + (2 * extents[axis],) + extents[axis + 1 :]),
    ))  # fmt: skip
    one, two = shifted(rng, larger, 2)
    places: dict[str, Any] = {"a": a, "one": one, "two": two, "c": rng.choice((0.5, 2, 3))}
    places |= {"x": order} if "{x}" in held else {}
    return Statement(f"{{out}} = own({{c}} * {held}[{{one}}] - {held}[{{two}}])", places)


def taken(rng: random.Random, v: Variables) -> Statement | None:
    a = some(rng, v, lambda value: value.ndim > 0)
    if a is None:
        return None
    axis = rng.randrange(v[a].ndim)
    extent = v[a].shape[axis]
    if extent and rng.random() < 0.5:
        indices = np.array([rng.randrange(-extent, extent) for _ in range(rng.randint(0, 4))], np.int64)
        return Statement("{out} = own(xp.take({a}, {x}, axis={axis}))", {"a": a, "x": indices, "axis": axis})
    text = "{out} = own(xp.take_along_axis({a}, xp.argmin({a}, axis={axis}, keepdims=True), axis={axis}))"
    return Statement(text, {"a": a, "axis": axis})


def assignment(rng: random.Random, v: Variables) -> Statement | None:
    a = some(rng, v)
    if a is None:
        return None
    key = any_key(rng, a, v)
    sign = rng.choice(("=", "=", "=", "+=", "-=", "*="))
    try:
        selected = v[a][tuple(v[k] if isinstance(k, Name) else k for k in key)]
    except IndexError:
        return None
    # Of a single element NumPy makes a scalar, whose type an operator may change; ours is an array.
    sign = "=" if isinstance(selected, np.generic) else sign
    wanted = selected.shape
    b = number(rng) if rng.random() < 0.3 else some(rng, v, lambda value: fits_in(value.shape, wanted))
    return None if b is None else Statement(f"{{a}}[{{key}}] {sign} {{b}}", {"a": a, "key": key, "b": b})


def through_view(rng: random.Random, v: Variables) -> Statement | None:
    """Writes through views that have no name."""
    a = some(rng, v, lambda value: value.ndim > 0)
    if a is None:
        return None
    seen, places = rng.choice((
        ("{a}[{one}]", {"one": basic(rng, v[a].shape)}),
        ("{a}[{one}]", {"one": basic(rng, v[a].shape)}),
        ("{a}.T", {}),
        ("{a}.ravel()", {}),
        ("{a}.reshape({x})", {"x": _reshaped(rng, v[a].size)}),
        ("{a}.swapaxes({x}, 0)", {"x": rng.randrange(v[a].ndim)}),
        ("{a}[...]", {}),
    ))  # fmt: skip
    try:
        named = {place: tuple(value) if isinstance(value, Key) else value for place, value in places.items()}
        inner = eval(seen.replace("{one}", "*{one}").format(a="a", one="one", x="x"), {"a": v[a], **named})
    except (IndexError, ValueError):
        return None
    if not isinstance(inner, np.ndarray):
        return None
    if rng.random() < 0.15:
        return Statement(f"for row in {seen}: row[...] = {{c}}", {"a": a, "c": rng.randint(0, 3), **places})
    if rng.random() < 0.2:
        return Statement(f"{seen}[{seen} > {{c}}] = {{b}}", {"a": a, "b": rng.randint(0, 3), "c": rng.randint(-2, 3), **places})
    key = basic(rng, inner.shape)
    sign = rng.choice(("=", "=", "+=", "*="))
    selected = inner[tuple(key)]
    sign = "=" if isinstance(selected, np.generic) else sign
    b = number(rng) if rng.random() < 0.4 else some(rng, v, lambda value: fits_in(value.shape, selected.shape))
    if b is None:
        return None
    return Statement(f"{seen}[{{key}}] {sign} {{b}}", {"a": a, "key": key, "b": b, **places})


def overlapping(rng: random.Random, v: Variables) -> Statement | None:
    """Reads and writes of one array that overlap, as in ``u[1:] = u[:-1]``."""
    a = some(rng, v, lambda value: value.ndim > 0)
    if a is None:
        return None
    key, one, two = shifted(rng, v[a].shape, 3)
    if rng.random() < 0.4:
        return Statement("{a}[{key}] = {a}[{one}]", {"a": a, "key": key, "one": one})
    sign = rng.choice("+-*")
    places = {"a": a, "key": key, "one": one, "two": two}
    return Statement(f"{{a}}[{{key}}] = {{a}}[{{one}}] {sign} {{a}}[{{two}}]", places)


def stencil(rng: random.Random, v: Variables) -> Statement | None:
    a = some(rng, v, lambda value: value.ndim > 0)
    if a is None:
        return None
    one, two, three = shifted(rng, v[a].shape, 3)
    places = {"a": a, "one": one, "two": two, "three": three, "c": rng.choice((0.5, 0.25, 2, 3))}
    return Statement("{out} = own({c} * ({a}[{one}] + {a}[{two}]) + {a}[{three}])", places)


def in_place(rng: random.Random, v: Variables) -> Statement | None:
    a = some(rng, v)
    b = a and (number(rng) if rng.random() < 0.3 else some(rng, v, lambda value: fits_in(value.shape, v[a].shape)))
    sign = rng.choice(("+=", "-=", "*=", "/=", "//=", "%=", "&=", "|=", "^="))
    return None if b is None else Statement(f"{{a}} {sign} {{b}}", {"a": a, "b": b})


def compute(rng: random.Random, v: Variables) -> Statement | None:
    a = some(rng, v)
    return a and Statement(rng.choice(("force({a})", "look({a})")), {"a": a})


WORDS: list[tuple[int, Word]] = [
    (14, view), (9, unary), (14, operator), (5, function), (5, choice), (2, clip), (5, cast), (8, reduction),
    (3, position), (3, product), (12, rearrangement), (4, joined), (4, padded), (4, pieced), (4, taken),
    (9, assignment), (8, through_view), (8, overlapping), (8, stencil), (6, in_place), (6, compute),
]  # fmt: skip
