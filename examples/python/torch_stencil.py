"""PyTorch in, PyTorch out: a distributed stencil between two tensors of torch, with no copy at either end.

Runs on the CUDA devices that torch sees, otherwise on the host. Without torch it says so and does nothing.
"""

import sys

import partita as pt

try:
    import torch
except ImportError as error:
    print(f"skipped: torch_stencil (no PyTorch: {error})")
    print("ok: nothing to do")
    sys.exit()

# One block of rows per device, made by torch where it is.
places = [f"cuda:{n}" for n in range(torch.cuda.device_count())] or ["cpu"]
kinds = {"cuda" if place.startswith("cuda") else "host" for place in places}
team = pt.Team(len(places), [device for device in pt.devices() if device.kind in kinds][: len(places)])
rows, columns = 256, 512
blocks = [torch.rand(rows, columns, device=place) for place in places]

dist = pt.Distribution((rows * len(places), columns), team=team)
u = pt.from_parts(blocks, dist, copy=False)

# Rows of other devices are fetched where the slices reach for them.
smooth = u.copy()
smooth[1:-1, 1:-1] = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])

results = [torch.from_dlpack(p) for p in smooth.parts]
for block, result in zip(blocks, results):
    assert result.device == block.device, (result.device, block.device)

# The same in torch, gathered.
whole = torch.cat([block.cpu() for block in blocks])
expected = whole.clone()
expected[1:-1, 1:-1] = 0.25 * (whole[:-2, 1:-1] + whole[2:, 1:-1] + whole[1:-1, :-2] + whole[1:-1, 2:])
error = float((torch.cat([result.cpu() for result in results]) - expected).abs().max())
assert error < 1e-6, error
print(f"ok: {len(places)} blocks on {', '.join(places)}, largest difference from torch {error:.1e}")
