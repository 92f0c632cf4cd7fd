"""For `test_memory.py`: runs each operation in children whose address space may grow by less and less, and
prints each child that neither succeeds nor raises an error of memory, or is not what it was afterwards.

    little_memory.py PARTS [OPERATION]
"""

import os
import resource
import signal
import sys

import numpy as np

import partita as pt

N = 2**20
MIB = 2**20
# Of an array's 8 MiB: halves, so that small objects have room.
ARRAYS = (0.5, 1.5, 2.5, 3.5, 6.5, 9.5, 14.5, 40.5)

OPERATIONS = """
pt.sort(u).eval()
pt.argsort(u).eval()
pt.unique(u)
pt.percentile(u, 5).item()
pt.isin(u, u).eval()
pt.lexsort((u, u)).eval()
pt.random.default_rng(1).permutation(N).eval()
pt.random.default_rng(1).shuffle(u)
pt.random.default_rng(1).choice(N, N // 2, replace=False).eval()
u[i].eval()
u[k].eval()
z[k].eval()
u.__setitem__(k, 1.0)
u.__setitem__(i, 1.0)
u.__setitem__(k, v)
z.__setitem__(k, 1j)
pt.take_along_axis(u, i, 0).eval()
pt.put_along_axis(u, i, 1.0, 0)
pt.bincount(i)
pt.repeat(u, 2).eval()
pt.add.at(u, i, 1.0)
pt.add.at(u, k, 1.0)
pt.fft.fft(u).eval()
pt.fft.rfft(u).eval()
pt.fft.fft(u[1:]).eval()
pt.fft.fft(pt.zeros(2**45)).eval()
pt.asarray(h > 0.5).eval()
u.numpy()
pt.Distribution((N,), dims=[pt.Unstructured(lists)])
u.redistribute(listed).eval()
w.numpy()
w[5:].copy().eval()
(w + u).eval()
w.__setitem__(slice(None, None, 3), 1.0)
""".split("\n")[1:-1]
EXCEPTIONS = (MemoryError, pt.OutOfMemoryError)


def limit(more: float) -> None:
    size = int(next(line for line in open("/proc/self/status") if line.startswith("VmSize")).split()[1]) * 1024
    most = size + int(more * MIB) if more else resource.RLIM_INFINITY
    resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))


def child(parts: int, operation: str, more: float) -> int:
    signal.alarm(60)
    pt.set_default_team(pt.Team(parts, "host"))
    names = {"pt": pt, "np": np, "N": N, "h": np.linspace(0.0, 1.0, N), "k": np.arange(N) * 7 % N}
    u = names["u"] = pt.asarray(names["h"])
    names["v"], names["z"] = (u * 2).eval(), (u + 0j).eval()
    i = names["i"] = pt.asarray(names["k"])
    (u + i).sum().item()
    if any(name in operation for name in ("listed", "lists", "w")):
        lists = names["lists"] = [names["k"][part::parts] for part in range(parts)]
        names["listed"] = pt.Distribution((N,), dims=[pt.Unstructured(lists)])
        names["w"] = u.redistribute(names["listed"]).eval()
    limit(more)
    try:
        eval(operation, names)
    except EXCEPTIONS as error:
        limit(0)
        if "__setitem__" in operation or "shuffle" in operation or "at(" in operation:
            same = (u.numpy() == names["h"]).all()
        else:
            same = u.sum().item() == names["h"].sum() or abs(u.sum().item() - N / 2) < 1
        if more == 8 * ARRAYS[0] and "2**45" not in operation:
            eval(operation, names)
        return 1 if same else 3
    except OSError as error:
        return 1 if error.errno == 12 else 2
    except BaseException as error:
        limit(0)
        print(f"{operation}: {type(error).__name__}: {error}"[:300], flush=True)
        return 2
    return 0


def main(parts: int, operations: list[str]) -> None:
    refused = 0
    for operation in operations:
        for arrays in ARRAYS:
            pid = os.fork()
            if pid == 0:
                os._exit(child(parts, operation, 8 * arrays))
            status = os.waitpid(pid, 0)[1]
            if os.WIFSIGNALED(status):
                print(f"{operation}: signal {os.WTERMSIG(status)} with {arrays} arrays' memory", flush=True)
                break
            code = os.WEXITSTATUS(status)
            if code > 1:
                print(f"{operation}: ended with {code} with {arrays} arrays' memory", flush=True)
            if code == 0:
                break
            refused += 1
    print(refused, len(operations))


main(int(sys.argv[1]), sys.argv[2:] or OPERATIONS)
