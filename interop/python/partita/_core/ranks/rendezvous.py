"""The rendezvous of processes that ``torchrun`` started: through its store, which all of them reach."""

from __future__ import annotations

import os
import secrets
import socket

_NEEDED = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")


def of_torchrun() -> tuple[int, int, str, str]:
    """Rank, size, where rank 0 listens, and a secret that it has made."""
    absent = [name for name in _NEEDED if name not in os.environ]
    if absent:
        text = f"Team.connect: expected a process that torchrun started, given one without {', '.join(absent)}"
        raise ValueError(f"{text}; pass rank, size, address and secret")
    from torch.distributed import TCPStore  # type: ignore[attr-defined]

    rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    host, port = os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"])
    store = TCPStore(host, port, is_master=False)
    # Of a job that was restarted there is an older one.
    key = f"partita/{os.environ.get('TORCHELASTIC_RESTART_COUNT', '0')}"
    if rank == 0:
        store.set(key, f"{_free_address(host)} {secrets.token_hex(32)}")
    address, secret = store.get(key).decode().split()
    return rank, size, address, secret


def _free_address(peer: str) -> str:
    """An address of this machine, as machines that reach that peer reach it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as towards:
        # A datagram socket that is connected sends nothing.
        towards.connect((peer, 9))
        here = towards.getsockname()[0]
    with socket.socket() as listening:
        listening.bind((here, 0))
        return f"{here}:{listening.getsockname()[1]}"
