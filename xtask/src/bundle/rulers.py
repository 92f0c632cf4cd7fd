"""What PyTorch's own kernels reach on this GPU: `copy_` and `sum` over 2 GiB of f32. Rulers for ours."""

from __future__ import annotations

import statistics
import sys

COUNT = 1 << 29


def main() -> int:
    try:
        import torch
    except ImportError as error:
        print(f"skipped: rulers ({error})")
        return 0
    if not torch.cuda.is_available():
        print("skipped: rulers (PyTorch sees no GPU)")
        return 0
    count = int(sys.argv[1]) if len(sys.argv) > 1 else COUNT
    source = torch.rand(count, device="cuda")
    target = torch.empty_like(source)
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)

    def seconds(work: "callable", times: int = 5) -> float:
        begin.record()
        for _ in range(times):
            work()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) / 1e3 / times

    for name, size, work in (
        ("copy_", 8 * count, lambda: target.copy_(source)),
        ("sum", 4 * count, lambda: source.sum()),
    ):
        seconds(work)
        taken = statistics.median(seconds(work) for _ in range(7))
        print(f"torch {name}: {taken * 1e6:.1f} us, {size / taken / 1e9:.0f} GB/s")
    print("ran: rulers 2")
    return 0


if __name__ == "__main__":
    sys.exit(main())
