"""NCCL, through CuPy: messages between two GPUs, or from one GPU to itself where there is only one."""

import cupy as cp
from cupy.cuda import nccl

from overheads import TRIPS

if not getattr(nccl, "available", False):
    raise ImportError("CuPy finds no NCCL")


def bind(job):
    return PingPong(job.bytes) if job.kind == "message" else None


class PingPong:
    """One communicator per GPU, all in this process."""

    share = 1 / (2 * TRIPS)

    def __init__(self, size):
        count = min(2, cp.cuda.runtime.getDeviceCount())
        self.size, self.ends = size, []
        for gpu, link in enumerate(nccl.NcclCommunicator.initAll(list(range(count)))):
            with cp.cuda.Device(gpu):
                stream = cp.cuda.Stream(non_blocking=True)
                self.ends.append(
                    (gpu, link, stream, cp.full(size, gpu + 1, cp.uint8), cp.zeros(size, cp.uint8))
                )

    def send(self, source, target):
        """One message between two of the ends."""
        nccl.groupStart()
        gpu, link, stream, sent, _ = self.ends[source]
        with cp.cuda.Device(gpu):
            link.send(sent.data.ptr, self.size, nccl.NCCL_UINT8, target, stream.ptr)
        gpu, link, stream, _, received = self.ends[target]
        with cp.cuda.Device(gpu):
            link.recv(received.data.ptr, self.size, nccl.NCCL_UINT8, source, stream.ptr)
        nccl.groupEnd()

    def __call__(self):
        for _ in range(TRIPS):
            self.send(0, len(self.ends) - 1)
            self.send(len(self.ends) - 1, 0)
        for _, _, stream, _, _ in self.ends:
            stream.synchronize()
        for k, (gpu, _, _, _, received) in enumerate(self.ends):
            if int(received[-1]) != len(self.ends) - k:
                raise ArithmeticError(f"GPU {gpu} received {int(received[-1])}")


CONTENDERS = {"nccl": bind}
