"""PyTorch differentiates through the operators between partitions; skipped where it is not installed."""

import numpy as np
import partita as pt
import partita.torch as operators
import pytest
from partita import _local


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
