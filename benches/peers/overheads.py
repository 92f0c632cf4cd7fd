"""Work so small that a library's own cost is all there is, on eight elements."""

import numpy as np

OPERATIONS = {"record": 1, "flush": 10}
CALLS = 100  # of the work, in one run
DTYPE = "f32"


def one(a, b):
    return a * b


def ten(a, b):
    x = a
    for _ in range(5):
        x = x * a + b
    return x


class OverheadJob:
    """A run does the work `CALLS` times; a peer's time is that of one call."""

    kind, offered = "overhead", True

    def __init__(self, name, dtype):
        self.name, self.dtype = name, dtype
        self.offered = dtype == DTYPE
        self.work = one if OPERATIONS[name] == 1 else ten
        self.inputs = [np.arange(8, dtype=np.float32) / 8, np.full(8, 0.5, np.float32)]

    def check(self, results):
        arrays = [array.astype(np.float64) for array in self.inputs]
        error = float(np.max(np.abs(np.asarray(results[0], np.float64) - self.work(*arrays))))
        if not error <= 1e-6:
            raise ArithmeticError(f"wrong: error {error:.2g}")
        return error


class Repeated:
    """A run of a peer: `work` again and again, then `wait` for the last result."""

    share = 1 / CALLS

    def __init__(self, work, inputs, wait=lambda result: None):
        self.work, self.inputs, self.wait = work, inputs, wait

    def __call__(self):
        work, (a, b) = self.work, self.inputs
        for _ in range(CALLS):
            result = work(a, b)
        self.wait(result)
        return [result]
