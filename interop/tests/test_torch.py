"""PyTorch differentiates through the operators between partitions; skipped where it is not installed."""

import numpy as np
import partita as pt
import partita.torch as operators
import pytest
from partita._api import collective as _local


def world():
    return pt.Partition(pt.Team(4, "host"))


def grid():
    return world().cartesian((2, 2))


def halo():
    return operators.halo_exchange(grid(), pt.Distribution((4, 5), team=grid().team, grid=(2, 2), halo=1))


# Every operator, and the shapes of the blocks it is applied to.
CASES = {
    "broadcast": (lambda: operators.broadcast(world().inclusive([2]), world()), [(3,)]),
    "sum_reduce": (lambda: operators.sum_reduce(world(), world().inclusive([1])), [(3,)] * 4),
    "all_sum_reduce": (lambda: operators.all_sum_reduce(grid(), 1), [(2, 3), (2, 3), (1, 3), (1, 3)]),
    "halo_exchange": (halo, [(3, 3), (3, 4), (3, 3), (3, 4)]),
    "repartition": (lambda: operators.repartition(world().inclusive([3, 1]), world()), [(4, 2), (2, 2)]),
    "gather": (lambda: operators.gather(grid(), 3), [(2, 1), (2, 2), (1, 1), (1, 2)]),
    "scatter": (lambda: operators.scatter(grid(), 0), [(3, 4)]),
    "allgather": (lambda: operators.allgather(grid(), 0), [(2, 1), (2, 2), (1, 1), (1, 2)]),
}


@pytest.mark.parametrize("name", CASES)
def test_gradients(name):
    torch = pytest.importorskip("torch")
    make, shapes = CASES[name]
    operator = make()
    blocks = [torch.rand(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
    assert torch.autograd.gradcheck(operator, blocks)


@pytest.mark.parametrize("name", CASES)
def test_results_are_the_memory_of_arrays(name, monkeypatch):
    """Forward and back: a tensor is the memory of the part that was computed, alone, as long as the tensor lives."""
    torch = pytest.importorskip("torch")
    make, shapes = CASES[name]
    addresses = []

    def apply(*given):
        parts, layout = _local.apply(*given)
        addresses.extend(np.from_dlpack(part).ctypes.data for part in parts)
        return parts, layout

    monkeypatch.setattr(operators, "apply", apply)
    blocks = [torch.rand(shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
    results = make()(*blocks)
    assert [tensor.data_ptr() for tensor in results] == addresses and all(tensor.is_contiguous() for tensor in results)
    addresses.clear()
    gradients = torch.autograd.grad([tensor.sum() for tensor in results], blocks)
    assert [gradient.data_ptr() for gradient in gradients] == addresses
    # Nobody else has it: not the blocks, nor what is computed next, whatever is written.
    before = [block.detach().clone() for block in blocks]
    tensors = [tensor.detach() for tensor in (*results, *gradients)]
    for n, tensor in enumerate(tensors):
        tensor.fill_(n)
    others = make()(*blocks)
    assert all(bool((tensor == n).all()) for n, tensor in enumerate(tensors)) and len(others) == len(results)
    assert all(map(torch.equal, blocks, before))


def test_results_are_not_their_operands_memory():
    """Where every element stays where it is, too: writing to the result leaves the operand as it is."""
    torch = pytest.importorskip("torch")
    everyone = world()
    for operator in (operators.repartition(everyone, everyone), operators.all_sum_reduce(everyone, ())):
        blocks = [torch.arange(2.0) + 2 * n for n in range(4)]
        for block, result in zip(blocks, operator(*blocks), strict=True):
            result.fill_(-1)
            assert block.min() >= 0


def test_weights_get_the_sum_of_their_copies_gradients():
    torch = pytest.importorskip("torch")
    weight = torch.tensor([1.0, 2.0], requires_grad=True)
    copies = operators.broadcast(world().inclusive([0]), world())(weight)
    sum(((rank + 1) * copy).sum() for rank, copy in enumerate(copies)).backward()
    np.testing.assert_array_equal(weight.grad.numpy(), [10, 10])


@pytest.mark.parametrize("name", CASES)
def test_every_case_is_one_of_its_operator(name):
    """Without torch: the blocks fit the operator, and the adjoint gives blocks like them."""
    make, shapes = CASES[name]
    operator = make().operator
    blocks = [np.random.default_rng(at).random(shape) for at, shape in enumerate(shapes)]
    made, layout = _local.apply(operator, blocks, None)
    back, _ = _local.apply(operator.adjoint, [np.from_dlpack(part) for part in made], layout)
    assert [part.shape for part in back] == shapes
    forward = sum((np.from_dlpack(part) ** 2).sum() for part in made)
    backward = sum((block * np.from_dlpack(part)).sum() for block, part in zip(blocks, back, strict=True))
    assert forward > 0.01 and abs(forward - backward) < 1e-12 * forward


KINDS = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32", "float64"]


@pytest.mark.parametrize("kind", KINDS)
def test_tensors_in_and_out(kind):
    """Each is the other's memory, of every type, with no dimensions, no elements, and in other orders a copy."""
    torch = pytest.importorskip("torch")
    dtype = getattr(torch, kind)
    t = torch.arange(2, 14).remainder(7).to(dtype).reshape(3, 4)
    u = pt.from_dlpack(t, copy=False)
    back = torch.from_dlpack(u)
    assert u.dtype.name == kind and back.dtype is dtype and back.data_ptr() == t.data_ptr()
    assert torch.equal(back, t)
    for view in (t.T, t[::2, 1:], t[1, 2], t[:0]):
        assert torch.equal(torch.from_dlpack(pt.from_dlpack(view)), view) and pt.from_dlpack(view).shape == tuple(view.shape)
    with pytest.raises(BufferError, match="C order"):
        pt.from_dlpack(t.T, copy=False)


def test_parts_and_halos_become_tensors(team):
    torch = pytest.importorskip("torch")
    host = np.arange(48, dtype=np.float32).reshape(8, 6)
    u = pt.asarray(host, dist=pt.Distribution((8, 6), team=team, halo=1))
    seen = [p for p in u.parts if p.__dlpack_device__() == (1, 0)]
    if not seen:
        pytest.skip("no part is in memory that the processor reads")
    for p in seen:
        owned, stored = torch.from_dlpack(p), torch.from_dlpack(p.stored)
        assert owned.data_ptr() == np.from_dlpack(p).ctypes.data and tuple(owned.shape) == p.shape
        below = p.stored.halo[0][0]
        assert torch.equal(stored[below : below + p.shape[0]], owned)
    gathered = torch.cat([torch.from_dlpack(p) for p in seen])
    del u, seen, p
    # The tensors keep the memory, whatever becomes of the array.
    others = [pt.full((8, 6), n, pt.float32, team=team).eval() for n in range(5)]
    assert len(others) == 5 and torch.equal(gathered, torch.from_numpy(host))
    assert torch.equal(owned, torch.from_numpy(host)[-owned.shape[0] :])


def test_a_stencil_between_tensors():
    """Blocks of torch's in, a stencil over all of them, tensors out: no copy at either end."""
    torch = pytest.importorskip("torch")
    team = pt.Team(2, "host")
    blocks = [torch.rand(4, 9, dtype=torch.float64) for _ in range(2)]
    u = pt.from_parts(blocks, pt.Distribution((8, 9), team=team), copy=False)
    assert [np.from_dlpack(p).ctypes.data for p in u.parts] == [block.data_ptr() for block in blocks]
    v = u[:-2] + u[2:] - 2 * u[1:-1]
    results = [torch.from_dlpack(p) for p in v.parts]
    whole = torch.cat(blocks)
    assert torch.equal(torch.cat(results), whole[:-2] + whole[2:] - 2 * whole[1:-1])
    assert [r.data_ptr() for r in results] == [np.from_dlpack(p).ctypes.data for p in v.parts]


def test_complex_tensors_share_memory():
    torch = pytest.importorskip("torch")
    z = torch.complex(torch.arange(4.0), torch.arange(4.0) + 1)
    with pytest.raises(BufferError, match="resolve_conj"):
        pt.from_dlpack(z.conj())
    u = pt.from_dlpack(z, copy=False)
    assert u.dtype == "complex64" and np.from_dlpack(u).ctypes.data == z.data_ptr()
    made = pt.conj(u).eval()
    seen = torch.from_dlpack(made)
    assert torch.equal(seen, z.conj().resolve_conj()) and seen.data_ptr() == np.from_dlpack(made).ctypes.data
    # As pairs of floats, too.
    pairs = pt.from_dlpack(torch.view_as_real(z), copy=False)
    assert pairs.shape == (4, 2) and np.from_dlpack(pairs).ctypes.data == z.data_ptr()


def test_a_distributed_layer_learns_as_one_would():
    """A moving average over blocks with halos, its weight on one member: the loss falls as that of the whole tensor."""
    torch = pytest.importorskip("torch")
    team = pt.Team(4, "host")
    everyone, dist = pt.Partition(team), pt.Distribution(16, team=team, halo=1, periodic=True)
    spread, exchange = operators.broadcast(everyone.inclusive([0]), everyone), operators.halo_exchange(everyone, dist)
    widths = [p.stored.halo[0] for p in pt.zeros(16, pt.float64, dist=dist).parts]
    signal = torch.sin(torch.arange(16, dtype=torch.float64))
    wanted = 0.25 * signal.roll(1) + 0.5 * signal + 0.25 * signal.roll(-1)
    blocks = [block.clone() for block in signal.split(4)]
    padded = [torch.nn.functional.pad(block, width) for block, width in zip(blocks, widths, strict=True)]

    def parted(weight):
        total = 0
        for k, block, want in zip(spread(weight), exchange(*padded), wanted.split(4), strict=True):
            total = total + ((k[0] * block[:-2] + k[1] * block[1:-1] + k[2] * block[2:] - want) ** 2).sum()
        return total

    def whole(weight):
        made = weight[0] * signal.roll(1) + weight[1] * signal + weight[2] * signal.roll(-1)
        return ((made - wanted) ** 2).sum()

    losses = []
    for loss in (parted, whole):
        weight = torch.tensor([1.0, -1.0, 0.5], dtype=torch.float64, requires_grad=True)
        descent = torch.optim.SGD([weight], lr=0.02)
        losses.append([])
        for _ in range(80):
            descent.zero_grad()
            now = loss(weight)
            now.backward()
            descent.step()
            losses[-1].append(now.item())
    np.testing.assert_allclose(*losses, rtol=1e-10)
    assert losses[0][-1] < losses[0][0] / 50
