"""CuPy and Partita in one loop: CuPy heats a spot with a kernel of its own, Partita spreads the heat.

Each reads what the other wrote, where it is; DLPack orders their streams. Needs CuPy and a GPU that is none
of a simulated driver; otherwise it says so and does nothing.
"""

import sys

import partita as pt


def without(reason):
    """Ends a program that cannot run here."""
    print(f"skipped: cupy_loop ({reason})")
    print("ok: nothing to do")
    sys.exit()


try:
    import cupy
except ImportError as error:
    without(f"no CuPy: {error}")

gpus = [device for device in pt.devices() if device.kind == "cuda" and not device.is_software]
if not gpus:
    without("no CUDA device")

team, size, steps = pt.Team(1, gpus[0]), 1024, 50
u = pt.zeros((size, size), pt.float32, team=team)
yy, xx = cupy.mgrid[:size, :size].astype(cupy.float32) / size - 0.5
spot = cupy.exp(-200 * (xx * xx + yy * yy))

for _ in range(steps):
    heated = cupy.from_dlpack(u.parts[0]) + 0.1 * spot
    u = pt.from_dlpack(heated, copy=False)
    u[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])

v = cupy.zeros((size, size), cupy.float32)
for _ in range(steps):
    v += 0.1 * spot
    v[1:-1, 1:-1] = 0.25 * (v[:-2, 1:-1] + v[2:, 1:-1] + v[1:-1, :-2] + v[1:-1, 2:])
error = float(abs(cupy.asnumpy(v) - u.numpy()).max())
assert error < 1e-5, error
print(f"ok: {steps} steps of both on {gpus[0].name}, largest difference from CuPy alone {error:.1e}")
