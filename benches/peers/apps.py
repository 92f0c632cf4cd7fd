"""Steps of whole programs and repartitions, each written once for any array library, and their checks.

A step gets the program's formula, the state and `lib`: `lib.xp` has the functions, `lib.assign(array, reach, values)`
gives the array with new inner cells, `lib.sum` is over everything. Checks use NumPy.
"""

import numpy as np

from data import BLOCK, SEED, aligned, compared, random
from workloads import CUBE, DTYPES, Windows, window

CHECKED_STEPS = 3
TINY = 1e-30  # so that nothing divides by zero once the residual has vanished


def jacobi(formula, state, lib):
    u, _ = state
    (new,) = formula(Windows([u], 1), lib.xp)
    change = new - window(u, 1)
    norm = lib.sum(change * change)
    return lib.assign(u, 1, new), norm


def reaction(formula, state, lib):
    next_u, next_v = formula(Windows(state, 1), lib.xp)
    return lib.assign(state[0], 1, next_u), lib.assign(state[1], 1, next_v)


def shot(formula, state, lib):
    now, before, speed = state
    (new,) = formula(Windows(state, 4), lib.xp)
    return lib.assign(before, 4, new), now, speed


def gradients(formula, state, lib):
    x, r, p, q, squared = state
    q = lib.assign(q, 1, formula(Windows([p], 1), lib.xp)[0])
    alpha = squared / (lib.sum(p * q) + TINY)
    x, r = x + alpha * p, r - alpha * q
    next_squared = lib.sum(r * r)
    return x, r, r + (next_squared / (squared + TINY)) * p, q, next_squared


STEPS = {step.__name__: step for step in (jacobi, reaction, shot, gradients)}


class NumpyLibrary:
    """The plainest `lib`, for peers whose arrays can be assigned to."""

    def __init__(self, xp):
        self.xp = xp

    @staticmethod
    def assign(array, reach, values):
        window(array, reach)[...] = values
        return array

    @staticmethod
    def sum(array):
        return array.sum()


class AppJob:
    """A program. `state` is where it starts, on the host; peers copy it."""

    kind = "app"

    def __init__(self, app, dtype):
        rng = np.random.default_rng(SEED)
        self.app, self.name, self.dtype, self.type = app, app.name, dtype, DTYPES[dtype]
        self.offered = (app.name, dtype) != ("gradients", "f16")  # its sums leave the type's range
        self.state = []
        for offset, scale in app.start:
            array = random(app.shape, self.type, rng, is_written=True)
            array *= np.dtype(self.type).type(scale)
            array += np.dtype(self.type).type(offset)
            self.state.append(array)
        zero = np.zeros((), self.type)
        if app.name == "jacobi":
            self.state.append(zero)
        if app.name == "gradients":
            self.state = self.conjugate(self.state[0])

    def conjugate(self, b):
        """x = 0, r = p = b with a rim of zeros, q = 0, and r r."""
        r = aligned(b.shape, self.type)
        window(r, 1)[...] = window(b, 1)
        squared = np.array(sum(dot(plane, plane) for plane in r), self.type)
        return [aligned(b.shape, self.type), r, r.copy(), aligned(b.shape, self.type), squared]

    def step(self, state, lib):
        return STEPS[self.name](self.app.formula, state, lib)

    def epsilon(self):
        return float(np.finfo(self.type).eps)

    def check(self, before, after):
        """Of the states before and after the last of `CHECKED_STEPS` steps: the largest error."""
        if self.name == "gradients":
            return self.check_gradients(after)
        # In f64 on a block around the centre, whose rim is wrong.
        reach, extent = self.app.reach, self.state[0].shape[0]
        side = min(2 * reach + 7, extent)
        first = (extent - side) // 2
        block = (slice(first, first + side),) * self.app.rank
        state = [a[block].astype(np.float64) if a.ndim else np.float64(0) for a in before]
        inner = (slice(reach, side - reach),) * self.app.rank
        pairs = [(w, g) for w, g in zip(self.step(state, NumpyLibrary(np)), after) if w.ndim]
        error = max(compared(w[inner], g[block][inner], 400 * self.epsilon()) for w, g in pairs)
        if self.name == "jacobi":
            change = sum(dot(d, d) for d in map(difference, after[0], before[0]))
            allowed = self.epsilon() * (200 + BLOCK**0.5) * max(1.0, float(np.max(after[0])) ** 2)
            error = max(error, compared(change, after[1], allowed))
        return error

    def check_gradients(self, state):
        """The recurrence's residual is the true one, and orthogonal to the solution so far."""
        x, r = state[:2]
        b = self.state[1]
        worst = dots = rr = xx = 0.0
        for z in range(1, x.shape[0] - 1):
            planes = x[z - 1 : z + 2].astype(np.float64)
            applied = self.app.formula(Windows([planes], 1), np)[0][0]
            inside = (slice(1, -1),) * 2
            true = b[z][inside].astype(np.float64) - applied
            worst = max(worst, float(np.max(np.abs(true - r[z][inside]))))
            dots, rr, xx = dots + dot(r[z], x[z]), rr + dot(r[z], r[z]), xx + dot(x[z], x[z])
        error = max(worst, abs(dots) / max((rr * xx) ** 0.5, 1e-300))
        if not (xx > 0 and error <= 4000 * self.epsilon()):
            raise ArithmeticError(
                f"wrong: b - A x differs from r, or r is not orthogonal to x, by {error:.2g}"
            )
        return error


def dot(a, b):
    return float(np.vdot(a.astype(np.float64), b.astype(np.float64)))


def difference(a, b):
    return a.astype(np.float64) - b.astype(np.float64)


# Eight slabs, or 2 x 4 pencils, one contiguous block after another: where each axis of the moved array
# comes from. A moved cube is a reshape, a permutation of axes, and a copy.
def slab_slab(n):
    return (n, n, 8, n // 8), (2, 0, 1, 3)


def slab_pencil(n):
    return (n, 2, n // 2, 4, n // 4), (1, 3, 0, 2, 4)


def pencil_pencil(n):
    """From blocks (2, 4) of (n/2, n/4, n) to blocks (2, 4) of (n/2, n, n/4)."""
    return (2, 4, n // 2, n // 4, 4, n // 4), (0, 4, 2, 1, 3, 5)


REPARTITIONS = {f.__name__: f for f in (slab_slab, slab_pencil, pencil_pencil)} | {"slab_slab_c": slab_slab}
COMPLEX = {"f32": "complex64", "f64": "complex128"}


class MoveJob:
    """A repartition between blocks of one memory. `given` is the cube as the first blocks have it."""

    kind = "move"

    def __init__(self, name, dtype):
        n = CUBE
        self.name, self.dtype, self.type = name, dtype, DTYPES[dtype]
        is_complex = name == "slab_slab_c"
        self.offered = n % 8 == 0 and not (is_complex and dtype not in COMPLEX)
        self.shape, self.axes = REPARTITIONS[name](n)
        if self.offered:
            self.source = random((n, n, n, 2 if is_complex else 1), self.type, np.random.default_rng(SEED))
            self.type = COMPLEX[dtype] if is_complex else self.type
            self.source = self.source.view(self.type)[..., 0]
            self.given = self.source.reshape(self.shape)
            if name == "pencil_pencil":  # the cube (z, y, x), cut along z and y
                cut = self.source.reshape(2, n // 2, 4, n // 4, n).transpose(0, 2, 1, 3, 4)
                self.given = np.ascontiguousarray(cut).reshape(self.shape)
            self.output = aligned(tuple(self.shape[axis] for axis in self.axes), self.type, np.nan)

    def check(self, results):
        """Every cell of the cube, put together from the moved blocks: a copy is exact."""
        (moved,) = results
        n = CUBE
        match self.name:
            case "slab_slab" | "slab_slab_c":
                whole = np.concatenate(list(moved), axis=2)
            case "slab_pencil":
                whole = np.concatenate([np.concatenate(list(row), axis=2) for row in moved], axis=1)
            case "pencil_pencil":
                blocks = moved.reshape(2, 4, n // 2, n, n // 4)
                whole = np.concatenate([np.concatenate(list(row), axis=2) for row in blocks], axis=0)
            case _:
                whole = moved
        if not np.array_equal(whole.reshape(n, n, n), self.source):
            raise ArithmeticError("wrong: a cell did not arrive")
        return 0.0
