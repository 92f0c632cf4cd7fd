"""What Partita offers, each function by arrays over real parts: groups are heard by members, boxes are what parts own."""

import re

import numpy as np
import partita as pt
from partita import validate_distarray, validate_partitioned

__all__ = ["validate_distarray", "validate_partitioned"]


def team(members):
    return pt.Team(members, "host")


def from_distarray(given):
    return pt.from_distarray(given, team=team(len(given)))


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
    return pt.from_partitioned(said, team=team(len(said["partitions"])))


def partitioned(array, tiling):
    dist = pt.Distribution(array.shape, team=team(int(np.prod(tiling))), grid=tiling)
    return pt.asarray(array, dist=dist)


def world(*members):
    return pt.Partition(team(1 + max(map(max, members))))


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
    part = pt.zeros(tuple(shape), team=team(members)).parts[rank]
    return [start for start, _ in part.owned], part.shape


def local_parts(members, rank, shape, halo):
    dist = pt.Distribution(tuple(shape), team=team(members), halo=(halo, *[0] * (len(shape) - 1)))
    part = pt.zeros(dist.shape, dist=dist).parts[rank]
    below, above = part.stored.halo[0]
    parts = [(width, *part.shape[1:]) if width else (0,) * len(shape) for width in (below, above)]
    return dist.to_global(rank, (0,) * len(shape)), [parts[0], part.shape, parts[1]]


def cartesian_index(shape, rank):
    return pt.Partition(team(int(np.prod(shape))), shape).cartesian_index(rank)


def neighbor_ranks(shape, rank):
    return pt.Partition(team(int(np.prod(shape))), shape).neighbor_ranks(rank)


def rank_change(left, right):
    raise NotImplementedError("numbers stay numbers: they are indices of `at`, and no range of one element is made of them")


# Chapel: an array over the whole range is read, by index or by position; three parts.


def range_of(low, high, stride):
    return range(low, high + (1 if stride > 0 else -1), stride)


def triple(r):
    return [r[0], r[-1], r.step]


def positions(whole):
    """An array over a range, of the positions."""
    return pt.Domain(range_of(*whole), team=team(3)).array(np.arange(len(range_of(*whole))))


def densify(sub, whole):
    places = positions(whole).at[range_of(*sub)].tolist()
    return [places[0], places[-1], places[1] - places[0]]


def undensify(sub, whole):
    places = range_of(*sub)
    return triple(positions(whole)[slice(places.start, None if places.stop < 0 else places.stop, places.step)].domain.dims[0])


def index_order(whole, index):
    u = positions(whole)
    return int(u.at[index]) if index in u.domain else -1


# Dist: what arrays have, and what the planner decides for the second of three members.


def cut(start, stop, extent, members=3):
    """An array of its own indices, of which the second member owns those from start to stop."""
    return pt.asarray(np.arange(float(extent), dtype=np.float32), dist=pt.Distribution(extent, team=team(members), dims=[pt.Block([0, start, stop, extent])]))


def local_slice(offset, size, first, count, stride):
    u = cut(offset, offset + size, max(offset + size, first + stride * count) + 4)
    return u[first : first + stride * count : stride].parts[1]


def local_target_of_slice(offsets, sizes, starts, counts, strides):
    part = local_slice(offsets[0], sizes[0], starts[0], counts[0], strides[0])
    return [int(np.from_dlpack(part)[0]) - offsets[0]], part.shape


def local_target_size_of_slice(offsets, sizes, starts, counts, strides):
    return local_slice(offsets[0], sizes[0], starts[0], counts[0], strides[0]).shape


def planned(target, size, views):
    """A sum of views, each (array, offset), of so many elements, of which the second member computes those of the target. Gives the sum, and
    what the planner says of that member: the target, the core, and the box of each array that is read."""
    stop = min(target[0] + target[1], size)
    total = cut(min(target[0], size), max(stop, min(target[0], size)), size)
    for u, offset in views:
        total = total + u[offset : offset + size]
    kernels = [said for said in total._native.boxes() if said != "[]"]
    assert len(kernels) <= 1, "one kernel computes the sum"
    said = re.search(r"part: 1, target: (\S+), core: (\S+), reads: \[(.*?)\] }", "".join(kernels))
    spans = lambda text: [tuple(map(int, span)) for span in re.findall(r"(-?\d+):(-?\d+)", text)]
    return total, said and [spans(text) for text in said.groups()]


def local_bounding_box(offsets, sizes, strides, starts, counts, earlier=None, extents=None, inner=False):
    (offset, size, target), own = (offsets[0], sizes[0], (starts[0], counts[0])), cut(4, 8, 24)
    views = [(own, offset)]
    computed = max(0, min(sum(target), size) - target[0])
    if inner:
        # What the member owns of the box; what lies before the box is left to the first member, which computes with it.
        own = cut(max(earlier[0], target[0]), earlier[0] + extents[0], 24)
        _, (_, ((first, last),), _) = planned(target, size, [(own, offset)])
        return [offset + first], [last - first]
    if earlier and extents[0]:
        if not computed:
            raise NotImplementedError("views in one expression have one target: none is empty beside others that are not")
        # The views of the same target that the earlier box is of.
        views = [*((own, at) for at in sorted({earlier[0] - target[0], earlier[0] + extents[0] - computed - target[0]})), *views]
    total, said = planned(target, size, views)
    if said is None:
        first, last = total.dist.owned(1)[0]
        if not size:
            raise NotImplementedError("a view without elements lies nowhere")
        return [offset + first], [last - first]
    first, last = said[2][-1]
    return [first], [last - first]


def local_core(owned, extents, offsets, sizes, strides, starts, counts, earlier=None, cores=None):
    own = [cut(owned[0], owned[0] + extents[0], 24)]
    if earlier is not None:
        # Another operand, of which the member owns no more than the earlier core.
        own.append(cut(earlier[0], earlier[0] + cores[0], 24))
    _, (_, ((first, last),), _) = planned((starts[0], counts[0]), sizes[0], [(u, offsets[0]) for u in own])
    return [offsets[0] + first], [last - first]
