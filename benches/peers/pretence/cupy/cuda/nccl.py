"""Messages between communicators of one process; those of a group meet at its end."""

import ctypes

available, DEVICES, NCCL_UINT8 = True, 2, 1
group = []


def groupStart():
    group.clear()


def groupEnd():
    sent = {(source, target): (memory, size) for what, source, target, memory, size in group if what == "send"}
    for what, target, source, memory, size in group:
        if what == "recv":
            given, length = sent[source, target]
            assert length == size
            ctypes.memmove(memory, given, size)


class NcclCommunicator:
    def __init__(self, rank):
        self.rank = rank

    @staticmethod
    def initAll(devices):
        return [NcclCommunicator(rank) for rank in devices]

    def send(self, memory, count, kind, peer, stream):
        group.append(("send", self.rank, peer, memory, count))

    def recv(self, memory, count, kind, peer, stream):
        group.append(("recv", self.rank, peer, memory, count))
