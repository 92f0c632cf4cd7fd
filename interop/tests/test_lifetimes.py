"""Who ends when: threads that share arrays, whatever is dropped first, threads that know no Python, and the end of the
interpreter."""

import ctypes
import gc
import itertools
import subprocess
import sys
import threading

import numpy as np
import partita as pt
import pytest
from conftest import ADAPTERS, ON_CUDA
from test_dlpack import fields

ROUNDS, THREADS = 12, 8


def seen(part):
    """A part's memory, or a copy where it is not the process's."""
    return np.from_dlpack(part, device="cpu")


def together(work):
    """Runs ``work(n)`` in threads that begin at once, and raises what one of them raised."""
    errors, start = [], threading.Barrier(THREADS)

    def run(n):
        start.wait()
        try:
            work(n)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(n,)) for n in range(THREADS)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    if errors:
        raise errors[0]


def test_threads_evaluate_read_and_export_the_same_arrays(team):
    """Each array is recorded once, and computed by whoever comes first while the others want it too."""
    host = np.arange(640, dtype=np.float32).reshape(80, 8)
    for n in range(ROUNDS):
        u = pt.asarray(host, dist=pt.Distribution(host.shape, team=team, halo=1))
        v = u * 2 + n
        w = v[1:] - v[:-1]
        expected = host * 2 + n

        def work(thread, u=u, v=v, w=w, expected=expected, n=n):
            turn = (thread + n) % 4
            if turn == 0:
                assert float(v.sum()) == expected.sum()
            elif turn == 1:
                np.testing.assert_array_equal(np.concatenate([seen(p) for p in v.parts]), expected)
            elif turn == 2:
                np.testing.assert_array_equal(w.numpy(), np.full((79, 8), 16))
            else:
                copy = v.copy()
                copy[3] = -1
                assert seen(v.parts[0])[-1, 0] != -1 and copy.numpy()[3].tolist() == [-1] * 8
            assert float((u - v).max()) == (host - expected).max()

        together(work)


def test_threads_drop_what_others_made(team):
    """Views, arrays and parts end on other threads than began them, while new ones are made from the same pool."""
    pile, lock = [], threading.Lock()

    def work(n):
        random = np.random.default_rng(n)
        for _ in range(40):
            value = int(random.integers(1 << 20))
            u = pt.full(512, value, pt.int32, team=team)
            with lock:
                pile.append((value, [seen(p) for p in u.parts], u))
                value, views, u = pile.pop(random.integers(len(pile)))
            assert all((view == value).all() for view in views) and int(u.max()) == value
            u[:] = -1
            assert all((view == value).all() for view in views)

    together(work)


def test_whatever_is_dropped_first_the_others_stay():
    """A chain from NumPy through two of our arrays: dropped in every order, each link reads right to its end."""
    team = pt.Team(1, "host")
    before = pt._native.live_exports()
    for order in itertools.permutations(range(5)):
        x = np.arange(7.0)
        u = pt.from_dlpack(x, copy=False)
        p = u.parts[0]
        view = np.from_dlpack(p)
        v = pt.from_dlpack(view, copy=False)
        links = {0: x, 1: u, 2: p, 3: view, 4: v}
        del x, u, p, view, v
        for link in order:
            del links[link]
            # What would be overwritten if the memory were free.
            pt.full(7, -5.0, team=team).eval()
            np.full(7, -6.0)
            for left in links.values():
                assert [float(n) for n in np.from_dlpack(left)] == list(range(7)), (order, link)
    gc.collect()
    assert pt._native.live_exports() == before


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="calls pthread_create")
def test_threads_without_python_end_exports(team):
    """The deleter is the start of a thread of the C library, which Python has never heard of."""
    api, threads = ctypes.pythonapi, []
    libc = ctypes.CDLL(None)
    libc.pthread_create.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]
    libc.pthread_join.argtypes = [ctypes.c_ulong, ctypes.c_void_p]
    api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
    used = b"used_dltensor_versioned"
    before = pt._native.live_exports()
    for _ in range(20):
        u = pt.arange(100, dtype=pt.int32, team=team) + 1
        for p in u.parts:
            capsule = p.__dlpack__(max_version=(1, 0), dl_device=(1, 0))
            deleter = fields(capsule)["deleter"]
            struct = api.PyCapsule_GetPointer(capsule, b"dltensor_versioned")
            api.PyCapsule_SetName(capsule, used)
            thread = ctypes.c_ulong()
            assert libc.pthread_create(ctypes.byref(thread), None, deleter, struct) == 0
            threads.append(thread)
        del u, p
    assert all(libc.pthread_join(thread, None) == 0 for thread in threads)
    assert pt._native.live_exports() == before


BEGIN = """
import atexit, builtins, ctypes, gc, sys, threading
import numpy as np, partita as pt
team = pt.Team(2, "DEVICE")
u = pt.arange(4000, dtype=pt.float32, team=team)
"""

ENDS = {
    "exports are alive": "builtins.kept = [np.from_dlpack(p, device='cpu') for p in u.parts] + [u.parts[0].__dlpack__(dl_device=(1, 0)), u]",
    "imports are alive": "x = np.arange(9.0); builtins.kept = [pt.from_dlpack(x, copy=False), pt.from_dlpack(x, team=team)]; del x",
    "something is recorded and not computed": "builtins.kept = pt.sqrt(u * 2)",
    "a cycle holds arrays": "class A: pass\na = A(); a.a, a.u, a.v = a, u, np.from_dlpack(u.parts[0], device='cpu'); del a",
    "the last words compute": "atexit.register(lambda: float((u * 2).sum()))",
    "a destructor computes": "class A:\n    def __del__(self): self.doubled = (self.u * 2).eval()\nbuiltins.kept = A(); kept.u = u",
    "a thread computes": """
def forever():
    while True:
        v = pt.sin(u) + 1
        v.eval(); np.from_dlpack(v.parts[0], device='cpu'); float(v.sum())
threading.Thread(target=forever, daemon=True).start()
while not pt.devices()[0].memory: pass
import time; time.sleep(0.05)
""",
    "the C library ends exports afterwards": """
libc = ctypes.CDLL(None)
libc.strdup.restype = ctypes.c_void_p
libc.__cxa_atexit.argtypes = [ctypes.c_void_p] * 3
# What is registered last runs first: the deleters, then this.
libc.__cxa_atexit(ctypes.cast(libc.puts, ctypes.c_void_p), libc.strdup(b'and after'), None)
from test_dlpack import fields
x = np.arange(9.0)
for capsule in [p.__dlpack__(max_version=(1, 0), dl_device=(1, 0)) for p in (*u.parts, *pt.from_dlpack(x, copy=False).parts)]:
    deleter = fields(capsule)['deleter']
    struct = ctypes.pythonapi.PyCapsule_GetPointer(ctypes.py_object(capsule), b'dltensor_versioned')
    ctypes.pythonapi.PyCapsule_SetName(ctypes.py_object(capsule), b'used_dltensor_versioned')
    libc.__cxa_atexit(deleter, struct, None)
del x, capsule
""",
}


KINDS = ["cuda"] if ON_CUDA else ["host", *["wgpu"][: len(ADAPTERS)]]


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("kind", KINDS, ids=[f"{kind}-2" for kind in KINDS])
def test_the_interpreter_ends(end, kind):
    """Without a word on standard error and with code 0, whatever is still there."""
    program = BEGIN.replace("DEVICE", kind) + ENDS[end] + "\nprint('end', flush=True)"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60, cwd=__file__.rpartition("/")[0]
    )
    after = "and after\n" if end.startswith("the C library") else ""
    assert (done.returncode, done.stdout, done.stderr) == (0, "end\n" + after, "")


@pytest.mark.parametrize("kind", KINDS, ids=[f"{kind}-2" for kind in KINDS])
def test_no_thread_is_on_a_device_when_the_process_ends(kind):
    program = """
import atexit, threading, time
calls = 0
def look():
    # Registered before partita's, so it runs after that. The call that was waited for is counted soon.
    time.sleep(0.1)
    before = calls
    time.sleep(0.2)
    print(calls - before, flush=True)
    assert float((u * 0).sum()) == 0, "the thread that ends the process may compute"
atexit.register(look)
import partita as pt
u = pt.arange(4000, dtype=pt.float32, team=pt.Team(2, "DEVICE"))
def forever():
    global calls
    while True:
        (pt.sin(u) + 1).eval()
        calls += 1
threading.Thread(target=forever, daemon=True).start()
while calls < 5: time.sleep(0.01)
"""
    done = subprocess.run(
        [sys.executable, "-c", program.replace("DEVICE", kind)], capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "0\n", "")
