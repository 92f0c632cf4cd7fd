"""Distributed arrays as lists of NumPy arrays: ``__distarray__`` and ``__partitioned__``."""

import itertools

import numpy as np

COMMON = {"dist_type", "size", "proc_grid_size", "proc_grid_rank"}
OWN = {"b": {"start", "stop", "padding", "periodic"}, "c": {"start", "block_size"}, "u": {"indices", "one_to_one"}}


def undistributed(dim, extent):
    return dim or {"dist_type": "b", "size": extent, "proc_grid_size": 1, "proc_grid_rank": 0, "start": 0, "stop": extent}


def widths(dim):
    """Padding that copies what others own; at the ends of a line it is boundary, which is owned."""
    low, high = dim.get("padding", (0, 0))
    inside = dim.get("periodic", False)
    return low if dim["proc_grid_rank"] > 0 or inside else 0, high if dim["proc_grid_rank"] < dim["proc_grid_size"] - 1 or inside else 0


def stored(dim):
    """The global indices of what the buffer has, in order."""
    if dim["dist_type"] == "b":
        return list(range(dim["start"], dim["stop"]))
    if dim["dist_type"] == "u":
        return [int(index) for index in dim["indices"]]
    block, parts = dim.get("block_size", 1), dim["proc_grid_size"]
    return [i for i in range(dim["size"]) if i // block % parts == dim["proc_grid_rank"]]


def kept(dim):
    """Which part of the buffer is owned."""
    low, high = widths(dim) if dim["dist_type"] == "b" else (0, 0)
    return slice(low, len(stored(dim)) - high)


def owned(dim):
    """A ring is described with copies of its ends, which are no indices of it."""
    shift = dim["padding"][0] if dim.get("periodic") and dim.get("padding") else 0
    return [index - shift for index in stored(dim)[kept(dim)]]


def owned_indices(dims):
    return [sorted(owned(dim)) for dim in dims]


def to_local(dims, index):
    for rank, dim in enumerate(dims):
        if index in owned(dim):
            return rank, kept(dim).start + owned(dim).index(index)
    raise IndexError(index)


def whole(number):
    return isinstance(number, int) and not isinstance(number, bool) and number >= 0


def check_version(version):
    assert isinstance(version, str) and len(version.split(".")) == 3 and version.split(".")[0] == "0", "version"


def check_keys(said):
    assert set(said) == {"__version__", "buffer", "dim_data"}, "keys"


def check_block(dim):
    assert whole(dim["start"]) and whole(dim["stop"]) and dim["start"] <= dim["stop"] <= dim["size"], "start and stop"
    padding = dim.get("padding", (0, 0))
    assert len(padding) == 2 and all(map(whole, padding)), "padding"


def check_extent(dim, extent):
    assert len(stored(dim)) == extent, "extent of the buffer"


def check_list(dim):
    assert len(set(stored(dim))) == len(stored(dim)), "indices of one process differ"


def check_dim(dim, extent):
    if not dim:
        return
    assert dim.get("dist_type") in OWN and COMMON <= set(dim) <= COMMON | OWN[dim["dist_type"]], "keys of a dimension"
    assert all(whole(dim[key]) for key in COMMON - {"dist_type"}) and dim["proc_grid_rank"] < dim["proc_grid_size"], "common keys"
    if dim["dist_type"] == "b":
        check_block(dim)
    if dim["dist_type"] == "c":
        assert whole(dim["start"]) and dim.get("block_size", 1) >= 1, "cyclic keys"
    if dim["dist_type"] == "u":
        check_list(dim)
    check_extent(dim, extent)


def check_neighbours(left, right):
    """The seam between two blocks."""
    a, b = left.get("padding", (0, 0))[1], right.get("padding", (0, 0))[0]
    assert a == b, "padding of both sides"
    assert left["stop"] - a == right["start"] + b, "a gap or an overlap"


def check_widths(dims):
    for at, dim in enumerate(dims):
        low, high = dim.get("padding", (0, 0))
        for width, neighbour in ((low, at - 1), (high, at + 1)):
            assert not 0 <= neighbour < len(dims) or width <= len(owned(dims[neighbour])), "wider than the neighbour"


def check_line(dims):
    if dims[0]["dist_type"] == "b" and not dims[0].get("periodic"):
        for left, right in itertools.pairwise(dims):
            check_neighbours(left, right)
        check_widths(dims)
    if dims[0].get("one_to_one"):
        check_one_to_one(dims)


def check_one_to_one(dims):
    indices = [index for dim in dims for index in owned(dim)]
    assert len(set(indices)) == len(indices), "one to one"


def check_places(every):
    grid = [dim["proc_grid_size"] for dim in every[0]]
    assert [tuple(dim["proc_grid_rank"] for dim in dims) for dims in every] == list(np.ndindex(*grid)), "places in C order"


def check_alike(every):
    for dims, others in itertools.combinations(every, 2):
        for dim, other in zip(dims, others, strict=True):
            same = {key: value for key, value in dim.items() if key not in ("padding", "indices")} == {
                key: value for key, value in other.items() if key not in ("padding", "indices")
            }
            assert same or dim["proc_grid_rank"] != other["proc_grid_rank"], "one grid rank"


def check_all(given):
    for said in given:
        check_keys(said)
        check_version(said["__version__"])
        assert isinstance(said["dim_data"], tuple) and len(said["dim_data"]) == said["buffer"].ndim, "dim_data"
        for dim, extent in zip(said["dim_data"], said["buffer"].shape, strict=True):
            check_dim(dim, extent)
    if len(given) > 1:
        every = [[undistributed(dim, extent) for dim, extent in zip(said["dim_data"], said["buffer"].shape, strict=True)] for said in given]
        check_places(every)
        check_alike(every)
        for d in range(len(every[0])):
            check_line([next(dims[d] for dims in every if dims[d]["proc_grid_rank"] == rank) for rank in range(every[0][d]["proc_grid_size"])])


def judged(check, given):
    try:
        check(given)
    except (AssertionError, KeyError, TypeError, AttributeError) as error:
        return False, str(error)
    return True, ""


def validate_distarray(described):
    return judged(check_all, [described] if isinstance(described, dict) else described)


def from_distarray(given):
    assert validate_distarray(given)[0]
    every = [[undistributed(dim, extent) for dim, extent in zip(said["dim_data"], said["buffer"].shape, strict=True)] for said in given]
    shape = [1 + max(index for dims in every for index in owned(dims[d])) for d in range(len(every[0]))]
    out = np.zeros(shape, given[0]["buffer"].dtype)
    for said, dims in zip(given, every, strict=True):
        out[np.ix_(*map(owned, dims))] = np.asarray(said["buffer"])[tuple(map(kept, dims))]
    return out


def check_described(said):
    assert {"shape", "partition_tiling", "partitions", "get"} <= set(said) <= {"shape", "partition_tiling", "partitions", "get", "locals"}
    shape, tiling, partitions = said["shape"], said["partition_tiling"], said["partitions"]
    assert len(shape) == len(tiling)
    check_positions(partitions, tiling)
    check_tiles(partitions, shape)
    check_data(partitions, said.get("locals"))
    for entry in partitions.values():
        for place in entry["location"]:
            assert not isinstance(place, tuple) or (isinstance(place[0], str) and isinstance(place[1], int))


def check_positions(partitions, tiling):
    assert set(partitions) == set(np.ndindex(*tiling))


def check_tiles(partitions, shape):
    count = np.zeros(shape, int)
    for entry in partitions.values():
        box = tuple(slice(at, at + extent) for at, extent in zip(entry["start"], entry["shape"], strict=True))
        assert count[box].shape == tuple(entry["shape"]), "beyond the shape"
        count[box] += 1
    assert (count == 1).all()


def check_data(partitions, local):
    for position, entry in partitions.items():
        assert entry["data"] is not None or (local is not None and position not in local)
    check_types(partitions)


def check_types(partitions):
    assert len({type(entry["data"]) for entry in partitions.values()} - {type(None)}) <= 1


def validate_partitioned(described):
    return judged(check_described, described)


def from_partitioned(said):
    out = np.zeros(said["shape"])
    for entry in said["partitions"].values():
        out[tuple(slice(at, at + extent) for at, extent in zip(entry["start"], entry["shape"], strict=True))] = said["get"](entry["data"])
    return out


def same(data):
    return data


def partitioned(array, tiling):
    partitions = {}
    for position in np.ndindex(*tiling):
        start = tuple(at * extent // parts for at, extent, parts in zip(position, array.shape, tiling, strict=True))
        stop = tuple((at + 1) * extent // parts for at, extent, parts in zip(position, array.shape, tiling, strict=True))
        data = array[tuple(map(slice, start, stop))]
        partitions[position] = {"start": start, "shape": data.shape, "data": data, "location": [("127.0.0.1", 1)]}
    return {"shape": array.shape, "partition_tiling": tiling, "partitions": partitions, "get": same}
