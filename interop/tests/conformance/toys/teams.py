"""Teams, slices and ranges as lists of numbers: DistDL's groups, the Dist dialect's arithmetic, Chapel's ranges."""

import numpy as np


def union(a, b):
    return a + [member for member in b if member not in a]


def padded_shape(shape, ndim):
    assert len(shape) <= ndim, "more dimensions"
    return [1] * (ndim - len(shape)) + list(shape)


def source_of(place, shape):
    """The place in a source grid that is broadcast to a place in the target grid."""
    return tuple(0 if extent == 1 else at for at, extent in zip(place, shape, strict=True))


def check_extents(shape, target):
    assert all(extent in (1, other) for extent, other in zip(shape, target, strict=True)), "extents"


def broadcast_groups(source, shape, target, target_shape):
    shape = padded_shape(shape, len(target_shape))
    check_extents(shape, target_shape)
    groups = {root: [root] for root in source}
    for place, member in zip(np.ndindex(*target_shape), target, strict=True):
        root = source[int(np.ravel_multi_index(source_of(place, shape), shape))]
        groups[root] += [member] if member != root else []
    return list(groups.values())


def sum_reduce_groups(source, shape, target, target_shape):
    return broadcast_groups(target, target_shape, source, shape)


def kept(place, axes):
    return tuple(at for d, at in enumerate(place) if d not in axes)


def all_sum_reduce_groups(members, shape, axes):
    groups = {}
    for place, member in zip(np.ndindex(*shape), members, strict=True):
        groups.setdefault(kept(place, axes), []).append(member)
    return list(groups.values())


def cartesian_index(shape, rank):
    return np.unravel_index(rank, shape)


def neighbor_ranks(shape, rank):
    place, found = list(cartesian_index(shape, rank)), []
    for d, extent in enumerate(shape):
        sides = [[*place[:d], place[d] + by, *place[d + 1 :]] for by in (-1, 1)]
        found.append(tuple(int(np.ravel_multi_index(side, shape)) if 0 <= side[d] < extent else None for side in sides))
    return found


def cuts(members, extent):
    """The sizes of all members' parts: the last ones have one more."""
    return [extent // members + (rank >= members - extent % members) for rank in range(members)]


def default_partition(members, rank, shape):
    sizes = cuts(members, shape[0])
    return [sum(sizes[:rank])] + [0] * (len(shape) - 1), [sizes[rank], *shape[1:]]


def first_offset(offset, below):
    """The offset is that of the first part, the lower halo."""
    return offset - below


def local_parts(members, rank, shape, halo):
    (offset, *rest), (extent, *others) = default_partition(members, rank, shape)
    below, above = min(halo, offset), min(halo, shape[0] - offset - extent)
    if offset == 0:
        below = 0
    sizes = [[below] + (others if below else [0] * len(others)), [extent, *others], [above] + (others if above else [0] * len(others))]
    return [first_offset(offset, below), *rest], sizes


def cells(offset, size, stride):
    return range(offset, offset + size * stride, stride)


def local_target_of_slice(part, extent, offsets, sizes, strides):
    inside = [
        [cell - low for cell in cells(*one) if low <= cell < low + count]
        for low, count, *one in zip(part, extent, offsets, sizes, strides, strict=True)
    ]
    return [mine[0] if mine else 0 for mine in inside], [len(mine) for mine in inside]


def local_target_size_of_slice(*given):
    return local_target_of_slice(*given)[1]


def required(offset, size, stride, at, extent):
    """What of a view is in a target, as global (start, stop)."""
    first, last = at, min(at + extent, size)
    start = offset + stride * first
    return (start, offset + stride * (last - 1) + 1) if last > first else (start, start)


def hull(box, earlier):
    if box[0] == box[1] or earlier[0] == earlier[1]:
        return earlier if box[0] == box[1] else box
    return min(box[0], earlier[0]), max(box[1], earlier[1])


def common(box, earlier):
    start, stop = max(box[0], earlier[0]), min(box[1], earlier[1])
    return start, max(start, stop)


def local_bounding_box(offsets, sizes, strides, at, extent, box=None, box_sizes=None, inner=False):
    found = [required(*one) for one in zip(offsets, sizes, strides, at, extent, strict=True)]
    if box is not None:
        earlier = [(start, start + count) for start, count in zip(box, box_sizes, strict=True)]
        found = [(common if inner else hull)(one, other) for one, other in zip(found, earlier, strict=True)]
    return [start for start, _ in found], [stop - start for start, stop in found]


def local_core(owned, counts, offsets, sizes, strides, at, extent, core=None, core_sizes=None):
    found = [
        common(required(*one), (low, low + count))
        for low, count, *one in zip(owned, counts, offsets, sizes, strides, at, extent, strict=True)
    ]
    if core is not None:
        found = [common(one, (low, low + count)) for one, low, count in zip(found, core, core_sizes, strict=True)]
    return [start for start, _ in found], [stop - start for start, stop in found]


def index_order(whole, index):
    low, high, stride = whole
    order, rest = divmod(index - low, stride)
    return order if not rest and 0 <= order <= (high - low) // stride else -1


def densify(sub, whole):
    low, high, stride = sub
    return [index_order(whole, low), index_order(whole, high), stride // whole[2]]


def undensify(sub, whole):
    return [whole[0] + sub[0] * whole[2], whole[0] + sub[1] * whole[2], sub[2] * whole[2]]


def rank_change(left, right):
    return [[one if isinstance(one, list) else [one, one] for one in side] for side in (left, right)]
