"""What is computed: the benchmark's workloads by name, with the shapes of their arrays.

The table repeats the binary's own; a test there compares shapes, formulas and bytes.
"""

from dataclasses import dataclass

import formulas

DTYPES = {"f16": "float16", "f32": "float32", "f64": "float64"}
SIZE = {"f16": 2, "f32": 4, "f64": 8}


@dataclass(frozen=True)
class Sizes:
    line: int
    plane: int
    cube: int

    def shape(self, rank):
        return {1: (self.line,), 2: (self.plane,) * 2, 3: (self.cube,) * 3}[rank]


def prime_below(n):
    is_prime = lambda p: all(p % d for d in range(2, int(p**0.5) + 1))  # noqa: E731
    return next(filter(is_prime, range(n - 1, 1, -1)), n)


EXTENTS = {
    "usual": lambda *shape: shape,
    "prime": lambda *shape: [prime_below(n) for n in shape],
    "half": lambda *shape: [n // 2 for n in shape],
    "flat": lambda z, y, x: (z // 4, 2 * y, 2 * x),
}


@dataclass(frozen=True)
class View:
    """Elements at other places than those next to each other."""

    of: object  # an array seen through it
    shape: object
    places: object  # names of coordinates, as text: where what is seen there lies


VIEWS = {
    None: View(lambda a: a, lambda shape: shape, lambda places: places),
    "second": View(
        lambda a: a[..., ::2],
        lambda shape: (*shape[:-1], (shape[-1] + 1) // 2),
        lambda places: [*places[:-1], f"({places[-1]}) * 2"],
    ),
    "turned": View(lambda a: a.T, lambda shape: shape[::-1], lambda places: places[::-1]),
}


@dataclass(frozen=True)
class Workload:
    """A formula over all cells at least `reach` from the rim; `then` is keep, assign, sum, max or norm."""

    name: str
    formula: object
    rank: int = 1
    inputs: int = 1
    outputs: int = 1
    reach: int = 0
    then: str = "keep"
    axes: tuple = ()  # that are folded; none for all
    thin: tuple = ()  # (input, axis) that is one cell long, and broadcast
    extents: str = "usual"  # or the largest "prime" below, "half" of it, or as many cells in "flat" planes
    seen: tuple = ()  # (input, view) that the formula sees; "second" or "turned"
    written: tuple = ()  # (output, view) that values are written through

    @property
    def folds(self):
        return self.then in ("sum", "max", "norm")

    def shape(self, sizes, array=None):
        shape = EXTENTS[self.extents](*sizes.shape(self.rank))
        return tuple(1 if (array, axis) in self.thin else n for axis, n in enumerate(shape))

    def seen_shape(self, sizes, array=None):
        return VIEWS[dict(self.seen).get(array)].shape(self.shape(sizes, array))

    def inner(self, sizes):
        """For which the formula is evaluated."""
        shapes = zip(*(self.seen_shape(sizes, array) for array in range(self.inputs)))
        return tuple(max(extents) - 2 * self.reach for extents in shapes)

    def result_shape(self, sizes, output=0):
        shape = self.shape(sizes)
        if self.folds:
            return tuple(n for axis, n in enumerate(shape) if self.axes and axis not in self.axes)
        if self.then == "assign":
            return shape
        inner = self.inner(sizes)
        return inner[::-1] if dict(self.written).get(output) == "turned" else inner

    def result_dtype(self, dtype):
        """f16 is summed in f32: its largest number is 65504."""
        return "f32" if self.then in ("sum", "norm") and dtype == "f16" else dtype

    def bytes(self, sizes, dtype):
        """What is seen of every input read once, every result written once; a rim that is kept does not count."""
        read = sum(product(self.seen_shape(sizes, array)) for array in range(self.inputs)) * SIZE[dtype]
        written = product(self.result_shape(sizes) if self.folds else self.inner(sizes))
        return read + self.outputs * written * SIZE[self.result_dtype(dtype)]


def product(numbers):
    result = 1
    for number in numbers:
        result *= number
    return result


def stencil(name, rank, reach, **more):
    return Workload(name, getattr(formulas, name), rank=rank, reach=reach, **more)


def fold(name, formula, then, **more):
    return Workload(name, formula, then=then, **more)


ROW, COLUMN = ((1, 0),), ((1, 1),)
SECOND = ((0, "second"),)
WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload("copy", formulas.copy),
        Workload("scale", formulas.scale),
        Workload("triad", formulas.triad, inputs=2),
        Workload("fused8", formulas.fused8, inputs=2),
        Workload("expsin", formulas.expsin, inputs=2),
        Workload("offset", formulas.offset, inputs=2, reach=1),
        Workload("odd_line", formulas.triad, inputs=2, extents="prime"),
        Workload("odd_plane", formulas.stencil5, rank=2, reach=1, extents="prime"),
        Workload("odd_cube", formulas.stencil7, rank=3, reach=1, extents="prime"),
        Workload("strided", formulas.scale, seen=SECOND),
        Workload("spread", formulas.scale, seen=SECOND, written=SECOND, then="assign"),
        Workload("turned", formulas.add, rank=2, inputs=2, seen=((0, "turned"),)),
        Workload("turned_too", formulas.add_twice, rank=2, inputs=2, outputs=2, written=((1, "turned"),)),
        Workload("row", formulas.add, rank=2, inputs=2, thin=ROW),
        Workload("column", formulas.add, rank=2, inputs=2, thin=COLUMN),
        Workload("outer", formulas.add, rank=2, inputs=2, thin=((0, 1), (1, 0))),
        fold("sum", formulas.copy, "sum"),
        fold("max", formulas.copy, "max"),
        fold("norm", formulas.square, "norm"),
        fold("dot", formulas.product_of, "sum", inputs=2),
        fold("sum_rows", formulas.copy, "sum", rank=2, axes=(1,)),
        fold("sum_columns", formulas.copy, "sum", rank=2, axes=(0,)),
        stencil("stencil5", 2, 1),
        stencil("stencil9", 2, 1),
        stencil("stencil7", 3, 1),
        Workload("step7", formulas.stencil7, rank=3, reach=1, then="assign"),
        Workload("flat7", formulas.stencil7, rank=3, reach=1, extents="flat"),
        stencil("stencil13", 3, 2),
        stencil("stencil25", 3, 4),
        stencil("stencil27", 3, 1),
        stencil("gray_scott", 3, 1, inputs=2, outputs=2),
        stencil("wave", 3, 4, inputs=3),
        stencil("heat", 3, 1, inputs=2),
        stencil("d3q19", 3, 1, inputs=19, outputs=19, extents="half"),
    )
}


class Windows:
    """Arrays as a formula sees them: windows that are `reach` smaller on every side."""

    def __init__(self, inputs, reach):
        self.inputs, self.reach = inputs, reach

    def __call__(self, array, offset=(0, 0, 0)):
        return window(self.inputs[array], self.reach, offset)


def window(array, reach, offset=(0, 0, 0)):
    if not reach:
        return array
    shifts = offset[3 - len(array.shape) :]
    return array[tuple(slice(reach + by, n - reach + by) for by, n in zip(shifts, array.shape))]
