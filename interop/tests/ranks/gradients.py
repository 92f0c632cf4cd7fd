"""PyTorch goes back through operators between the members of several processes, of which some have no tensors."""

import partita as pt
import partita.torch as operators
import torch

torch.set_num_threads(1)
world = pt.Partition(pt.Team(devices="host"))
rank, ranks = world.team.rank, world.team.ranks
root, last = world.inclusive([0]), world.inclusive([ranks - 1])

# A weight at the root, used everywhere; its gradient is the sum.
weights = [torch.tensor([1.0, 2.0], requires_grad=True)] if rank == 0 else []
(copy,) = operators.broadcast(root, world)(*weights)
((rank + 1) * copy).sum().backward()
assert all(weight.grad.tolist() == [sum(range(1, ranks + 1))] * 2 for weight in weights)

# Tensors everywhere, their sum at the last process alone; all get its gradient.
x = torch.full((3,), rank + 1.0, requires_grad=True)
(total,) = operators.sum_reduce(world, last)(x)
assert total.tolist() == ([sum(range(1, ranks + 1))] * 3 if rank == ranks - 1 else [])
(total * total).sum().backward()
assert x.grad.tolist() == [2.0 * sum(range(1, ranks + 1))] * 3
if rank == 0:
    print(f"ok: gradients on {ranks} ranks")
