"""What Partita offers, each function by arrays over real parts: groups are heard by members, boxes are what parts own."""

import numpy as np
import partita as pt
from partita import validate_distarray, validate_partitioned

__all__ = ["validate_distarray", "validate_partitioned"]


def from_distarray(given):
    return pt.from_distarray(given, team=pt.Team(len(given), "host"))


def distribution(dims):
    """That of a line of parts, whose memory holds zeros."""
    counts = [dim["stop"] - dim["start"] if "stop" in dim else len(dim["indices"]) if "indices" in dim else cyclic(dim) for dim in dims]
    return from_distarray([{"__version__": "0.10.0", "buffer": np.zeros(count), "dim_data": (dim,)} for dim, count in zip(dims, counts, strict=True)]).dist


def cyclic(dim):
    block = dim.get("block_size", 1)
    return sum(i // block % dim["proc_grid_size"] == dim["proc_grid_rank"] for i in range(dim["size"]))


def owned_indices(dims):
    dist = distribution(dims)
    return [list(range(*own)) if isinstance(own, tuple) else sorted(own.tolist()) for (own,) in map(dist.owned, range(dist.num_parts))]


def to_local(dims, index):
    part, (place,) = distribution(dims).to_local(index)
    return part, place


def from_partitioned(said):
    return pt.from_partitioned(said, team=pt.Team(len(said["partitions"]), "host"))


def partitioned(array, tiling):
    dist = pt.Distribution(array.shape, team=pt.Team(int(np.prod(tiling)), "host"), grid=tiling)
    return pt.asarray(array, dist=dist)


def world(*members):
    return pt.Partition(pt.Team(1 + max(map(max, members)), "host"))


def union(a, b):
    all_ = world(a, b)
    return all_.inclusive(a).union(all_.inclusive(b)).members


def ids(partition, ndim):
    """One element per member: two to its number, so that sums tell who is in them."""
    shape = (1,) * (ndim - len(partition.shape)) + partition.shape
    over = partition.cartesian(shape)
    return over, pt.asarray(np.array([2.0**member for member in partition.members]).reshape(shape), dist=pt.Distribution(shape, team=over.team, grid=shape))


def broadcast_groups(source, shape, target, target_shape):
    all_ = world(source, target)
    a, b = all_.inclusive(source).cartesian(shape), all_.inclusive(target).cartesian(target_shape)
    pt.collective.broadcast(a, b)
    over, x = ids(a, len(target_shape))
    heard = pt.collective.broadcast(over, b)(x).numpy().ravel().tolist()
    return [[root, *(member for member, what in zip(target, heard, strict=True) if what == 2.0**root and member != root)] for root in source]


def members_of(total):
    return [member for member in range(64) if int(total) >> member & 1]


def sum_reduce_groups(source, shape, target, target_shape):
    all_ = world(source, target)
    a, b = all_.inclusive(source).cartesian(shape), all_.inclusive(target).cartesian(target_shape)
    _, x = ids(a, len(shape))
    sums = pt.collective.sum_reduce(a, b)(x).numpy().ravel().tolist()
    return [[root, *(member for member in members_of(total) if member != root)] for root, total in zip(target, sums, strict=True)]


def all_sum_reduce_groups(members, shape, axes):
    a = world(members).inclusive(members).cartesian(shape)
    _, x = ids(a, len(shape))
    return {tuple(members_of(total)) for total in pt.collective.all_sum_reduce(a, tuple(axes))(x).numpy().ravel().tolist()}


def default_partition(members, rank, shape):
    part = pt.zeros(tuple(shape), team=pt.Team(members, "host")).parts[rank]
    return [start for start, _ in part.owned], part.shape


def local_parts(members, rank, shape, halo):
    dist = pt.Distribution(tuple(shape), team=pt.Team(members, "host"), halo=(halo, *[0] * (len(shape) - 1)))
    part = pt.zeros(dist.shape, dist=dist).parts[rank]
    below, above = part.stored.halo[0]
    parts = [(width, *part.shape[1:]) if width else (0,) * len(shape) for width in (below, above)]
    return dist.to_global(rank, (0,) * len(shape)), [parts[0], part.shape, parts[1]]
