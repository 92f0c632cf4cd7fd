"""Misuse: the class of the exception, and a text that says what to do."""

import threading

import numpy as np
import partita as pt
import pytest


@pytest.fixture
def u():
    return pt.arange(12, dtype=pt.float32, team=pt.Team(4, "host"))


REFUSED = [
    (lambda u: u[12], IndexError, "out of bounds"),
    (lambda u: u[0, 0], IndexError, "too many indices"),
    (lambda u: u[..., ...], IndexError, "at most one"),
    (lambda u: u[::0], ValueError, "zero"),
    (lambda u: u[None, 1, 2], IndexError, "too many indices"),
    (lambda u: u[u[:3] > 3], IndexError, "fit shape"),
    (lambda u: u[[1, 12]], IndexError, "fit shape"),
    (lambda u: u[[1.0, 2.0]], IndexError, "fit shape"),
    (lambda u: u[1.0], IndexError, "convert it with int"),
    (lambda u: u["x"], IndexError, "given str"),
    (lambda u: u[np.float32(2)], IndexError, "fit shape"),
    (lambda u: u.reshape(5, 2), ValueError, "12 elements"),
    (lambda u: u.reshape(-1, -1), ValueError, "at most one extent"),
    (lambda u: u.reshape(5, -1), ValueError, "divide 12"),
    (lambda u: u.reshape(2.5), TypeError, "integer"),
    (lambda u: pt.broadcast_to(u, (2, 12)).__setitem__(0, 1), ValueError, "read-only"),
    (lambda u: u.mT, ValueError, "at least 2"),
    (lambda u: pt.permute_dims(u, (0, 0)), ValueError, "once"),
    (lambda u: pt.permute_dims(u, (1,)), ValueError, "within 1 dimensions"),
    (lambda u: pt.moveaxis(u, 0, (0, 0)), ValueError, "both sides"),
    (lambda u: pt.expand_dims(u, (0, 0)), ValueError, "once"),
    (lambda u: pt.expand_dims(u, 3), IndexError, "within 2 dimensions"),
    (lambda u: pt.squeeze(u, 0), ValueError, "extent 1"),
    (lambda u: pt.flip(u, 1), ValueError, "within 1 dimensions"),
    (lambda u: pt.flip({1, 2}), TypeError, "flip: expected an array, a number or a list .* given set; .*asarray"),
    (lambda u: pt.broadcast_to(u, (3, 5)), ValueError, "stretches"),
    (lambda u: pt.broadcast_arrays(u, u[:5]), ValueError, "broadcast together"),
    (lambda u: pt.concatenate([]), ValueError, "at least one"),
    (lambda u: pt.concatenate([u.sum()]), ValueError, "use stack"),
    (lambda u: pt.concatenate([u, u[None]]), ValueError, "agree"),
    (lambda u: pt.stack([u, u[:3]]), ValueError, "one shape"),
    (lambda u: pt.pad(u, -1), ValueError, "at least 0"),
    (lambda u: pt.pad(u, (1, 2, 3)), ValueError, "pair"),
    (lambda u: pt.pad(u, 1, "median"), NotImplementedError, "median"),
    (lambda u: pt.pad(u, 1, "edge", end_values=2), ValueError, "no words but None, given end_values"),
    (lambda u: pt.roll(u, (1, 2, 3), (0, 1)), ValueError, "as many shifts"),
    (lambda u: pt.take(u, [0.5]), TypeError, "astype"),
    (lambda u: pt.take(u, [12]), IndexError, "fit shape"),
    (lambda u: pt.take_along_axis(u, [[1]]), ValueError, "1 dimensions"),
    (lambda u: pt.repeat(u, -1), ValueError, "at least 0"),
    (lambda u: u @ u[:5], ValueError, "inner one"),
    (lambda u: u @ u.sum(), ValueError, "inner one"),
    (lambda u: pt.vecdot(u, u, axis=0), ValueError, "from the end"),
    (lambda u: pt.tensordot(u, u, axes=2), ValueError, "at most 1"),
    (lambda u: u << 1, TypeError, "float32"),
    (lambda u: u.astype("int32") << 1.5, TypeError, "float64"),
    (lambda u: u.__setitem__([1, 2], np.zeros(3)), ValueError, "broadcasts to"),
    (lambda u: u.__setitem__(slice(None, None, 2), np.zeros(5)), ValueError, "broadcasts to"),
    (lambda u: u.__setitem__(slice(None, None, 2), "x"), TypeError, "given str"),
    (lambda u: u.__setitem__(u > 3, np.zeros(3)), ValueError, "broadcasts to"),
    (lambda u: u + pt.zeros(5, team=u.team), ValueError, "broadcast"),
    (lambda u: u + "text", TypeError, "unsupported operand"),
    (lambda u: u & u, TypeError, "float32"),
    (lambda u: ~u, TypeError, "float32"),
    (lambda u: -(u > 0), TypeError, "bool"),
    (lambda u: (u > 0) - (u > 0), TypeError, "bool"),
    (lambda u: u.astype("int8") + 300, OverflowError, "out of bounds for int8"),
    (lambda u: pt.maximum("a", 2), TypeError, "maximum: expected an array, .* given str"),
    (lambda u: pt.maximum(u, "x"), TypeError, "str"),
    (lambda u: pt.where({1: 2}, u, u), TypeError, "where: expected an array, .* given dict"),
    (lambda u: u.sum(axis=1), ValueError, "axis"),
    (lambda u: u.sum(axis=(0, 0)), ValueError, "once"),
    (lambda u: u[3:3].max(), ValueError, "at least one element"),
    (lambda u: u[3:3].argmin(), ValueError, "at least one element"),
    (lambda u: float(u), TypeError, "1 element"),
    (lambda u: bool(u), ValueError, "1 element"),
    (lambda u: len(u.sum()), TypeError, "without dimensions"),
    (lambda u: [1][u[0]], TypeError, "index"),
    (lambda u: u.astype("complex256"), TypeError, "expected one of .*complex128, given complex256; "),
    (lambda u: u.astype("complex64").astype(float), TypeError, r"^astype: .* given float64; take partita.real\(x\)"),
    (lambda u: u.astype(complex).max(), TypeError, "^max: expected real numbers, given complex128; "),
    (lambda u: u.astype(complex) < u, TypeError, "^less: expected real numbers, given complex128; "),
    (lambda u: u.astype(complex) // 2, TypeError, "^floor_divide: expected .*given complex128; "),
    (lambda u: pt.floor(u.astype(complex)), TypeError, r"^floor: .*given complex128; apply it to partita.real\(x\), "),
    (lambda u: pt.issubdtype(u.dtype, "float33"), TypeError, "float33"),
    (lambda u: pt.zeros((1,) * 8, complex), ValueError, "."),
    (lambda u: u.__setitem__(0, 1j), TypeError, "^number for float32: expected a bool, int or float, given complex"),
    (lambda u: pt.asarray(np.array(["a"])), TypeError, "expected one of"),
    (lambda u: pt.zeros(12, dist=pt.Distribution(11, team=u.team)), ValueError, "shape"),
    (lambda u: u.redistribute(pt.Distribution(11, team=u.team)), ValueError, "shape"),
    (lambda u: pt.convolve(u, np.ones((2, 2))), ValueError, "convolve: expected lines"),
    (lambda u: np.asarray(u, copy=False), ValueError, "copy"),
    (lambda u: pt.from_parts([np.zeros(3)] * 3, u.dist), ValueError, "4 parts"),
    (lambda u: pt.from_parts([np.zeros(4)] * 4, u.dist), ValueError, "part 0"),
    (lambda u: pt.from_parts([np.zeros(3), np.zeros(3, int)] * 2, u.dist), TypeError, "one dtype"),
    (lambda u: pt.arange(0, 1, 0), ValueError, "step"),
    (lambda u: np.sin(u, out=np.zeros(12, np.int8)), TypeError, "same_kind"),
    (lambda u: np.add.reduce(u, axis=5), ValueError, "sum: expected an axis within 1 dimensions"),
    (lambda u: pt.sqrt(u, u, out=u), TypeError, "sqrt: expected 1 operands and out once"),
    (lambda u: pt.sin.reduce(u), ValueError, "sin.reduce: expected a function of two operands"),
    (lambda u: pt.i0(u), AttributeError, r"'i0': it is not there; use numpy.i0\(u.numpy\(\)\)"),
    (lambda u: pt.frompyfunc(u), AttributeError, "use vectorize"),
    (lambda u: pt.nditer(u, op_flags=["readwrite"]), ValueError, "nditer: expected op_flags that only read"),
    (lambda u: u.reshape((1,) * 8 + (12,)), ValueError, "reshape: expected at most 8 dimensions, given 9"),
    (lambda u: pt.lib.stride_tricks.as_strided(u, (4, 4), (32, 8)), IndexError, "within the 12 elements"),
    (lambda u: pt.lib.stride_tricks.as_strided(u, (4,), (3,)), ValueError, "whole number of elements"),
    (lambda u: pt.lib.stride_tricks.sliding_window_view(u, 3, writeable=True), ValueError, "windows are copies"),
    (lambda u: u.byteswap(), AttributeError, r"'byteswap': it is not there; use u.numpy\(\).byteswap"),
    (lambda u: u[1:].sorted, AttributeError, "no attribute 'sorted'$"),
    (lambda u: pt.concatenate(5), TypeError, "concatenate: expected several arrays, given int"),
    (lambda u: pt.put(np.zeros(3), 0, 1), TypeError, "put: expected a partita.Array to write to, given ndarray"),
    (lambda u: pt.Team(4, "host", comm=7), TypeError, "communicator of mpi4py, given int"),
    # The engine's names as they are called here.
    (lambda u: pt.Team(0, "host"), ValueError, "^Team: "),
    (lambda u: pt.zeros((-1, 2), team=u.team), ValueError, "^(?!.*::)"),
    (lambda u: pt.zeros((2**40, 2**40), team=u.team).eval(), ValueError, "^shape: "),
    (lambda u: pt.Team(2, []), ValueError, "partita.devices"),
    (lambda u: pt.Partition(u.team).inclusive([9]), ValueError, "^Partition.inclusive: "),
    # What was given is the user's text, as it is.
    (lambda u: pt.Team.connect(parts=1, rank=0, size=2, address="[::1]:0x", secret="s"), ValueError, r"given address \[::1\]:0x on"),
    (lambda u: pt.ones((2, 3)).T.resize, AttributeError, "use u.numpy"),
    (lambda u: pt.save_state("state", {"a::to_vec `cast`": u}), ValueError, 'given "a::to_vec `cast`"; rename it'),
    (lambda u: pt.full(3, 2**70, int), OverflowError, "out of bounds"),
    (lambda u: pt.tile(u, (2**40, 2**40)), pt.OutOfMemoryError, r"^tile: .* given 58028439341502200385896448 bytes in"),
    (lambda u: pt.random.default_rng(1).choice(u[:0]), ValueError, "^choice: expected at least one element .* given none"),
    (lambda u: pt.random.default_rng(1).choice(0, 3), ValueError, "^choice: expected at least one element .* given none"),
    (lambda u: pt.Loop(lambda: None).run(), ValueError, "at least one array"),
    (lambda u: pt.Loop(lambda a: None).run(u.numpy()), TypeError, "partita.Arrays"),
    (lambda u: pt.Loop(3), TypeError, "^Loop: expected a function, given int; "),
    (lambda u: pt.Loop(lambda a: None).run(u, steps="x"), TypeError, "^Loop.run: expected steps an int, given 'x'; "),
    (lambda u: pt.Team(-1), ValueError, "^Team: expected parts of at least 0, given -1; "),
    (lambda u: pt.Team("a"), TypeError, "^Team: expected parts an int, given a; "),
    (lambda u: pt.Team(10**9, "host"), ValueError, "^Team: expected at most 1048576 parts, given 1000000000; "),
    (lambda u: pt.Team(2, 7), TypeError, "given 7; see partita.devices"),
    (lambda u: pt.zeros(3.5), TypeError, "^shape: expected an int or several, given 3.5; "),
    (lambda u: pt.zeros((2, "a")), TypeError, r"^shape: expected an int or several, given \(2, 'a'\); "),
    (lambda u: pt.full(3, "x"), TypeError, "^full: expected a bool, int, float or complex, given str; "),
    (lambda u: pt.arange(3j), TypeError, "^arange: expected a bool, int or float, given complex; "),
    (lambda u: pt.arange("a"), TypeError, "^arange: expected a bool, int, float or complex, given str; "),
    (lambda u: pt.arange(1e30), ValueError, "^arange: expected fewer than"),
    (lambda u: u.sum(axis="x"), TypeError, "^sum: expected an axis that is an int, given 'x'; "),
    (lambda u: u.mean(axis=1.5), TypeError, "^mean: expected an axis that is an int, given 1.5; "),
    (lambda u: u.redistribute(3), TypeError, "^redistribute: expected a partita.Distribution, given int; "),
    (lambda u: u.dist.neighbors(-1), IndexError, "below 4, given -1; "),
    (lambda u: u.dist.owner("a"), TypeError, "^Distribution.owner: expected an int, or one per dimension, given a; "),
    (lambda u: u.dist.to_local(1.5), TypeError, "^Distribution.to_local: expected an int.*given 1.5; "),
    (lambda u: pt.from_partitioned(3), TypeError, "^from_partitioned: expected .*given int; "),
    (lambda u: pt.from_distarray(3), ValueError, "expected a dict; given 3"),
]


@pytest.mark.parametrize("misuse, error, text", REFUSED, ids=[str(n) for n in range(len(REFUSED))])
def test_misuse(u, misuse, error, text):
    with pytest.raises(error, match=text):
        misuse(u)
    assert u.numpy().tolist() == list(range(12))


def test_failed_assignments_change_nothing(u):
    for key, value, error in [(np.s_[3:5], np.zeros(3), ValueError), (np.s_[99], 1, IndexError), (np.s_[:2], "x", TypeError)]:
        with pytest.raises(error):
            u[key] = value
    assert u.numpy().tolist() == list(range(12))


def test_out_of_memory_names_the_budget():
    device = pt.devices()[0]
    held = device.memory["in_use_bytes"]
    device.set_budget(held + 10_000)
    try:
        with pytest.raises(MemoryError, match="budget") as caught:
            pt.zeros(1_000_000, team=pt.Team(1, device)).eval()
        assert isinstance(caught.value, pt.OutOfMemoryError) and isinstance(caught.value, pt.Error)
    finally:
        device.set_budget(None)
    assert float(pt.ones(10, team=pt.Team(1, device)).sum()) == 10


def test_the_interpreter_runs_while_the_engine_computes():
    """A counter in another thread goes on during a computation of a second or so."""
    u = pt.asarray(np.linspace(0, 1, 200_000), team=pt.Team(2, "host"))
    for _ in range(20):
        u = pt.sin(u) + pt.cos(u)
    ticks, done = 0, threading.Event()

    def compute():
        u.eval()
        done.set()

    worker = threading.Thread(target=compute)
    worker.start()
    while not done.wait(0.001):
        ticks += 1
    worker.join()
    assert ticks >= 5


def test_threads_share_arrays():
    u = pt.zeros((64, 8), pt.int64, team=pt.Team(4, "host"))
    errors = []

    def work(n):
        try:
            for i in range(30):
                u[n] = i
                assert (u[n] >= 0).all()
                u.parts[n % 4].stored.shape
                float(u.sum())
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not errors
    assert u.numpy()[:8].tolist() == [[29] * 8] * 8
