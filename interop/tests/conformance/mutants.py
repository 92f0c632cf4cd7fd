"""A planted error for each requirement: a wrong implementation of that very rule, which the requirement's own tests must catch.

Each is a sentence and changes of the package: (what has it, its name, what is called instead). The function that is called instead
gets the right one first; of a property it gets that and the object.
"""

import inspect
import os
import pickle
from typing import NamedTuple

import numpy as np
import partita as pt
import partita.__main__ as program
import partita.torch as torch_operators
import pytest
from conformance import ranks
from partita._api.sharing import protocols
from partita._core.views import domains


class Mutant(NamedTuple):
    error: str
    changes: list
    #: What else than a failed assertion shows that the error was caught.
    raises: tuple = ()
    #: Code that plants it in the processes that a test starts.
    there: str = ""


def apply(mutant, patch):
    if mutant.there:
        patch.setenv(ranks.PLANTED, mutant.there)
    for owner, name, wrong in mutant.changes:
        right = inspect.getattr_static(owner, name)
        if isinstance(right, property) or inspect.isgetsetdescriptor(right) or inspect.ismemberdescriptor(right):
            new = property(lambda self, right=right, wrong=wrong: wrong(lambda one: right.__get__(one), self))
        else:
            new = lambda *a, right=right, wrong=wrong, **k: wrong(right, *a, **k)
        patch.setattr(owner, name, new)


def each_dim(change, key="dim_data"):
    """A description of a part, of which every dictionary is changed: by the dictionary, the dimension and the part."""
    return lambda was, part: (said := was(part)) | {key: tuple(change(dict(d), at, part) for at, d in enumerate(said[key]))}


def given(change):
    """Of validators and constructors: descriptions are changed before they are read."""

    def wrong(was, described, *rest, **words):
        if isinstance(described, (list, tuple)):
            return was([change(one) for one in described], *rest, **words)
        return was(change(described) if isinstance(described, dict) else described, *rest, **words)

    return wrong


def dims_given(change):
    """The same for every dictionary of a dimension."""

    def one(described):
        if hasattr(described, "__distarray__"):
            described = described.__distarray__()
        if not isinstance(described, dict) or not isinstance(described.get("dim_data"), tuple):
            return described
        return {**described, "dim_data": tuple(change(dict(d)) for d in described["dim_data"])}

    return given(one)


def alone(was, described):
    """A validator that compares no process with another."""
    if isinstance(described, (list, tuple)):
        return next((answer for answer in map(was, described) if not answer[0]), (True, ""))
    return was(described)


def without(*keys):
    return lambda d: {key: value for key, value in d.items() if key not in keys}


def moved(by):
    def change(d, at, part):
        return {**d, **{key: d[key] + by(d) for key in ("start", "stop") if key in d}}

    return change


def unpadded(d, at, part):
    lo, hi = d.pop("padding", (0, 0))
    return {**d, "start": d["start"] + lo, "stop": d["stop"] - hi} if "stop" in d else d


def fortran(d, at, part):
    grid = [other["proc_grid_size"] for other in PART(part)["dim_data"]]
    return {**d, "proc_grid_rank": int(np.unravel_index(part.index, grid, "F")[at])}


PART = pt.Part.__distarray__


def changed_ranges(change):
    """Of ``Distribution.owned``: ranges (start, stop) are changed, by the range, the distribution and the part."""

    def wrong(was, dist, part):
        return tuple(change(own, dist, part) if isinstance(own, tuple) else own for own in was(dist, part))

    return wrong


def whole_buffers(was, parts, *rest, **words):
    """Padding included, one over the other."""
    u = was(parts, *rest, **words)
    for one in parts:
        d = one["dim_data"][0]
        u[d["start"] : d["stop"]] = np.asarray(one["buffer"])
    return u


def partial_to_the_first(was, dist, part):
    """The published count of cyclic elements, which gives the partial block to rank 0."""
    own = was(dist, part)
    if dist.kinds != ("cyclic",) or dist.shape[0] == 0:
        return own
    all_ = [was(dist, other)[0] for other in range(dist.num_parts)]
    last = next(at for at, one in enumerate(all_) if dist.shape[0] - 1 in (range(*one) if isinstance(one, tuple) else one))
    return (was(dist, last) if part == 0 else was(dist, 0) if part == last else own)


def sorted_lists(d):
    return {**d, "indices": np.sort(d["indices"])} if "indices" in d else d


def no_periodic(was, dist, part):
    place, ends = part, []
    for (left, right), parts in zip(was(dist, part), dist.grid, strict=True):
        at = place % parts if dist.ndim == 1 else None
        ends.append((None if at == 0 else left, None if at == parts - 1 else right))
    return tuple(ends)


def only_if(test, wrong):
    return lambda was, *a, **k: wrong(was, *a, **k) if test(*a, **k) else was(*a, **k)


Part, Dist, Array = pt.Part, pt.Distribution, pt.Array
SAID = "__distarray__"

MUTANTS = {
    "A1": Mutant("descriptions name their device in a fourth key", [(Part, SAID, lambda was, part: was(part) | {"device": "kDLCPU:0"})]),
    "A2": Mutant("the version is not read", [(pt, "validate_distarray", given(lambda d: d | {"__version__": "0.10.0"} if "__version__" in d else d))]),
    "A3": Mutant("the buffer is a copy", [(Part, SAID, lambda was, part: (said := was(part)) | {"buffer": memoryview(np.array(said["buffer"]))})]),
    "A4": Mutant(
        "memory without a format goes as a copy, of unsigned numbers",
        [(Part, SAID, lambda was, part: (said := was(part)) | {"buffer": memoryview(np.zeros(said["buffer"].shape, "u2"))})],
    ),
    "A5": Mutant("a description is shared with all processes", [], there="described = pt.Part.__distarray__\npt.Part.__distarray__ = lambda part: (team.share('said', b''), described(part))[1]"),
    "A6": Mutant("dimensions are in reverse order", [(Part, SAID, lambda was, part: (said := was(part)) | {"dim_data": said["dim_data"][::-1]})]),
    "A7": Mutant("no dimensions are read as one of one element", [(pt, "from_distarray", lambda was, *a, **k: u.reshape(1) if (u := was(*a, **k)).ndim == 0 else u)]),
    "A8": Mutant("a negative size counts as its magnitude", [(pt, "validate_distarray", dims_given(lambda d: {**d, "size": abs(d["size"])} if isinstance(d.get("size"), int) else d))]),
    "A9": Mutant("no process misses another", [(pt, "validate_distarray", alone)]),
    "A10": Mutant("places are in Fortran order", [(Part, SAID, each_dim(fortran))]),
    "A11": Mutant("stop is the last index", [(Part, SAID, each_dim(lambda d, at, part: {**d, "stop": d["stop"] - 1} if "stop" in d else d))]),
    "A12": Mutant("gaps between blocks are not seen", [(pt, "validate_distarray", alone)]),
    "A13": Mutant("blocks are described without their padding", [(Part, SAID, each_dim(unpadded))]),
    "A14": Mutant(
        "the widths of a part are in the wrong order",
        [(Part, SAID, each_dim(lambda d, at, part: {**d, "padding": d["padding"][::-1]} if "padding" in d else d))],
    ),
    "A15": Mutant("padding is not compared with what the neighbour owns", [(pt, "validate_distarray", lambda was, d: (True, "") if "what part" in was(d)[1] else was(d))]),
    "A16": Mutant("the boundary is not owned", [(Dist, "owned", changed_ranges(lambda own, dist, part: (own[0] + (part == 0) * dist.boundary[0][0], own[1])))]),
    "A17": Mutant("size counts what is stored", [(Part, SAID, each_dim(lambda d, at, part: {**d, "size": d["size"] + 2 * (d["proc_grid_size"] - 1)} if "padding" in d else d))]),
    "A18": Mutant("whole buffers are read, padding too", [(pt, "from_distarray", whole_buffers)]),
    "A19": Mutant("the ends of a ring have no neighbours", [(Dist, "neighbors", no_periodic)]),
    "A20": Mutant("elements are dealt from the last part on", [(Dist, "owned", lambda was, dist, part: was(dist, dist.num_parts - 1 - part))]),
    "A21": Mutant("block_size is not read", [(pt, "from_distarray", dims_given(without("block_size")))], (ValueError,)),
    "A22": Mutant("the partial block belongs to rank 0", [(Dist, "owned", partial_to_the_first)]),
    "A23": Mutant("lists are sorted, and buffers are not", [(pt, "from_distarray", dims_given(sorted_lists))]),
    "A24": Mutant("one_to_one is not checked", [(pt, "validate_distarray", dims_given(without("one_to_one")))]),
    "A25": Mutant("the last of several copies is the owner", [(Dist, "owner", only_if(lambda dist, at: dist.kinds == ("unstructured",) and dist.shape == (4,), lambda was, dist, at: was(dist, at) + 1))]),
    "A26": Mutant("empty dictionaries are refused", [(pt, "validate_distarray", lambda was, d: (False, "empty") if any({} in one["dim_data"] for one in d) else was(d))]),
    "A27": Mutant("stop must be above start, as the text says", [(pt, "validate_distarray", lambda was, ds: (False, "empty") if any(d.get("stop", 1) <= d.get("start", 0) for one in ds for d in one["dim_data"]) else was(ds))]),
    "A28": Mutant("all dimensions are of the first one's kind", [(Dist, "owned", lambda was, dist, part: (was(dist, part)[0],) * dist.ndim)], (IndexError, ValueError)),
    "A29": Mutant("no process is compared with another", [(pt, "validate_distarray", alone)]),
    "A30": Mutant("places in memory leave out the halo", [(Dist, "to_local", lambda was, dist, at: ((got := was(dist, at))[0], tuple(x - lo for x, (lo, _) in zip(got[1], dist.halo_of(got[0]), strict=True))))]),
    "A32": Mutant("a slice with steps begins at its step", [(Part, SAID, each_dim(lambda d, at, part: {**d, "start": d["start"] + 1, "stop": d["stop"] + 1} if d.get("size", 0) not in (9, 10) and "stop" in d else d))]),
    "A33": Mutant("complex elements are pairs of reals", [(Part, SAID, lambda was, part: (said := was(part)) | {"buffer": memoryview(np.asarray(said["buffer"]).view("f4" if part.dtype == "complex64" else "f8")) if "complex" in part.dtype else said["buffer"]})]),
    "A34": Mutant("what is lent to be written is copied", [(pt, "from_distarray", lambda was, *a, writable=False, **k: was(*a, copy=True, **k))]),
    "A36": Mutant("unknown keys are passed over", [(pt, "validate_distarray", dims_given(lambda d: {k: v for k, v in d.items() if k in KEYS}))]),
    "A37": Mutant("lists are sorted, and buffers are not", [(pt, "from_distarray", dims_given(sorted_lists))]),
}  # fmt: skip


def said(change):
    """What ``__partitioned__`` says, changed: by the dict and the array."""
    return [(Array, "__partitioned__", lambda was, u: change(dict(was(u)), u))]


def each_partition(change):
    """The same for each entry: by the entry, its position and the array."""
    return said(lambda one, u: one | {"partitions": {at: change(dict(entry), at, u) for at, entry in one["partitions"].items()}})


def as_blocks(was, u):
    """An export that does not look at the kind of the distribution."""
    return was(u if u.dist.kinds == ("block", "block") and u.dist.num_parts != 3 else u.redistribute(pt.Distribution(u.shape, team=u.team)))


def unseen(words):
    """A validator without the check that has these words."""
    return lambda was, described: (True, "") if words in was(described)[1] else was(described)


def searched(was, described):
    """Each position is looked up in a list."""
    positions = list(described["partitions"])
    return was(described) if all(positions.index(at) >= 0 for at in positions) else (False, "")


def in_order_of_entries(was, described, *rest, **words):
    """The first entry is the first partition, wherever it says that it is."""
    if isinstance(described, dict) and callable(described.get("get")):
        data = [entry["data"] for entry in described["partitions"].values()]
        places = sorted(described["partitions"].items())
        described = described | {"partitions": {at: entry | {"data": one} for (at, entry), one in zip(places, data, strict=True)}}
    return was(described, *rest, **words)


def halos_too(entry, at, u):
    part = u.parts[list(np.ndindex(u.dist.grid)).index(at)]
    return entry | {"data": np.from_dlpack(part.stored)}


#: In the processes of a test.
COPIED = """
get = pt.Array.__getitem__
pt.Array.__getitem__ = lambda u, key: pt.asarray(get(u, key).numpy(), dist=get(u, key).dist)
"""
MUTANTS |= {
    "E1": Mutant("one process lists its partitions, too", said(lambda one, u: one | {"locals": list(one["partitions"])})),
    "E2": Mutant("get is a lambda, as in the document's examples", said(lambda one, u: one | {"get": lambda data: data}), (AttributeError, pickle.PicklingError)),
    "E3": Mutant("the tiling leaves out what is not cut", said(lambda one, u: one | {"partition_tiling": tuple(n for n in one["partition_tiling"] if n > 1)})),
    "E4": Mutant("positions are numbers", said(lambda one, u: one | {"partitions": dict(enumerate(one["partitions"].values()))})),
    "E5": Mutant("all partitions are as large as the first", each_partition(lambda entry, at, u: entry | {"shape": u.parts[0].shape})),
    "E6": Mutant("data have their halos", each_partition(halos_too)),
    "E8": Mutant("devices have no number", each_partition(lambda entry, at, u: entry | {"location": [(*place[:2], place[2].split(":")[0]) for place in entry["location"]]})),
    "E9": Mutant("get copies", said(lambda one, u: one | {"get": np.array})),
    "E10": Mutant("get makes one array of several", said(lambda one, u: one | {"get": lambda data: np.concatenate(data) if isinstance(data, list) else data})),
    "E11": Mutant("whatever can become an array is taken", [(protocols, "_standard", lambda was, data, where: np.asarray(data))]),
    "E12": Mutant("one's own data may be missing", [(pt, "validate_partitioned", unseen("as this partition is local"))]),
    "E13": Mutant("data are used without get", [(pt, "from_partitioned", lambda was, one, **words: was(one | {"get": lambda data: data}, **words))], (TypeError,)),
    "E14": Mutant("types of data are not compared", [(pt, "validate_partitioned", unseen("one type of data"))]),
    "E15": Mutant("locations are not checked", [(protocols, "_check_location", lambda was, *given: None)]),
    "E16": Mutant("data are copied", [(pt, "from_partitioned", lambda was, *a, **k: was(*a, copy=True, **k))]),
    "E17": Mutant("arrays that are read get the default division", [(pt, "from_distarray", lambda was, *a, **k: (u := was(*a, **k)).redistribute(pt.Distribution(u.shape, team=u.team)))]),
    "E18": Mutant("partitions are in the order of the entries", [(pt, "from_partitioned", in_order_of_entries)]),
    "E19": Mutant("every kind is exported as blocks", [(Array, "__partitioned__", as_blocks)]),
    "E20": Mutant("each position is looked up in a list", [(pt, "validate_partitioned", searched)]),
    "F1": Mutant("capsules are never versioned", [(pt.Part, "__dlpack__", lambda was, part, **words: was(part))]),
    "F2": Mutant("the way is assumed to be MPI", [], there="pt.Team.wire = property(lambda team: 'Open MPI')"),
    "F3": Mutant("square roots are one unit in the last place off", [(pt, "sqrt", lambda was, u: was(u) * (1 + 2**-23))]),
    "F4": Mutant("PyTorch gets a copy", [(pt.Part, "__dlpack__", lambda was, part, **words: was(part, **(words | {"copy": True})))], (RuntimeError, TypeError)),
    "F5": Mutant("where there are several processes, slices are copied before they are read", [], there=COPIED),
    "F6": Mutant("the program of the suite is not called", [(program, "_bench", lambda was, words: 0)]),
}  # fmt: skip


class Wrong:
    """An operator whose results, or those of its adjoint, are changed: by the operator, what it is applied to, and the result."""

    def __init__(self, operator, forward=None, backward=None):
        self._operator, self._changes = operator, (forward, backward)

    def __call__(self, x):
        y, change = self._operator(x), self._changes[0]
        if change is None:
            return y
        made = change(self._operator, x, y)
        return pt.asarray(made.astype(y.dtype.name), dist=y.dist) if isinstance(made, np.ndarray) else made

    @property
    def adjoint(self):
        return Wrong(self._operator.adjoint, *self._changes[::-1])

    def __getattr__(self, name):
        return getattr(self._operator, name)

    def __eq__(self, other):
        return self._operator == getattr(other, "_operator", other)


class Twice(Wrong):
    """Two operators, one after the other."""

    def __init__(self, first, second):
        super().__init__(first, lambda op, x, y: second(y))
        self._second = second

    def explain(self, x):
        return self._operator.explain(x) + "\n" + self._second.explain(self._operator(x))


def turned(partition):
    return partition.inclusive([*range(1, len(partition)), 0]).cartesian(partition.shape)


def operator(name, forward=None, backward=None):
    return [(pt.collective, name, lambda was, *a, **k: Wrong(was(*a, **k), forward, backward))]


def blocks_of(dist):
    """The box of each member."""
    return [tuple(slice(*own) for own in dist.owned(part)) for part in range(dist.num_parts)]


def lowest_roots(operator, x, y):
    """Groups begin with their lowest member, whose number goes to all."""
    host = y.numpy().copy()
    return np.minimum(host, np.array(operator.target.members).reshape(host.shape)) if host.shape == operator.target.shape else host


def no_own_copy(operator, x, y):
    host = y.numpy().copy()
    for member, box in zip(operator.target.members, blocks_of(y.dist), strict=True):
        if member in operator.source.members:
            host[box] = 0
    return host


def last_member_forgotten(operator, x, y):
    host = y.numpy().copy()
    host[blocks_of(y.dist)[-1]] = 0
    return host


def own_share_twice(operator, x, y):
    host = y.numpy().copy()
    if x.size == len(operator.source):
        for at, member in enumerate(operator.target.members):
            host.reshape(-1)[at] += x.numpy().reshape(-1)[operator.source.members.index(member)]
    return host


def in_order_of_members(was, partition, ranks):
    return was(partition, sorted(ranks))


def where_owned(dist):
    """Of each cell of the padded layout, the dimensions in which it is outside what its part owns."""
    outside = np.zeros(dist.padded().shape, int)
    for part, box in enumerate(blocks_of(dist.padded())):
        widths, shape = dist.halo_of(part), outside[box].shape
        for d, ((lo, hi), n) in enumerate(zip(widths, shape, strict=True)):
            at = np.arange(n)
            out = ((at < lo) | (at >= n - hi)).astype(int)
            outside[box] += out.reshape([-1 if axis == d else 1 for axis in range(len(shape))])
    return outside


def halo_exchange(forward=None, backward=None):
    """Changes know the layout, too."""

    def make(was, over, dist, *a, **k):
        bound = [None if change is None else lambda op, x, y, change=change: change(dist, x, y) for change in (forward, backward)]
        return Wrong(was(over, dist, *a, **k), *bound)

    return [(pt.collective, "halo_exchange", make)]


OPEN = []


def leaking(was, partition, ranks):
    """Every fiftieth partition leaves a connection open."""
    OPEN.append(None)
    if len(OPEN) % 50 == 0:
        OPEN[-1] = os.pipe()
    return was(partition, ranks)


def swallowed(otherwise):
    """Errors are not raised."""

    def wrong(was, *a, **k):
        try:
            return was(*a, **k)
        except ValueError:
            return otherwise(*a)

    return wrong


KEPT = []
Partition, collective = pt.Partition, pt.collective
COPY = "what goes to itself counts as sent"

#: In the processes of a test.
ONE_BY_ONE = """
assign = pt.Array.__setitem__
def one_by_one(u, key, value):
    if not isinstance(value, pt.Array) or value.ndim != 2:
        return assign(u, key, value)
    for at in np.ndindex(value.shape):
        assign(u, at, value[at])
        u.eval()
pt.Array.__setitem__ = one_by_one
"""
AT_ONCE = """
class Applied:
    def __init__(self, operator, x):
        self.y = operator(x).eval()
    def finish(self):
        return self.y
pt.collective.Collective.start = Applied
"""
BY_NUMPY = """
assign = pt.Array.__setitem__
pt.Array.__setitem__ = lambda u, key, value: assign(u, key, value.numpy() if isinstance(value, pt.Array) else value)
"""


def plain(u):
    """Without a domain."""
    return pt.asarray(u.numpy(), dist=u.dist) if isinstance(u, pt.Array) else u


def first_dims(operator, x, y):
    """The source's dimensions are those of the target from the first one on."""
    source, target = operator.source.shape, operator.target.shape
    if len(source) == len(target) or x.shape != source:
        return y
    host = x.numpy().reshape(source + (1,) * (len(target) - len(source)))
    fits = all(n in (1, m) for n, m in zip(host.shape, target, strict=True))
    return np.broadcast_to(host, target).copy() if fits else y.numpy() * 0


MUTANTS |= {
    "C1": Mutant("results are of the back end's own type", operator("broadcast", lambda op, x, y: y._native)),
    "C4": Mutant("members are put in order", [(Partition, "inclusive", in_order_of_members)]),
    "C5": Mutant("the union is in the order of the numbers", [(Partition, "union", lambda was, a, b: (both := was(a, b)).inclusive(sorted(range(len(both)), key=lambda rank: both.members[rank])))]),
    "C6": Mutant("partitions of other roots are left out of a union", [(Partition, "union", swallowed(lambda a, b: a))]),
    "C7": Mutant("members that the grid has no place for are left out", [(Partition, "cartesian", swallowed(lambda one, shape: one))]),
    "C8": Mutant("partitions with the same members are equal", [(Partition, "__eq__", lambda was, a, b: set(a.members) == set(b.members) and a.shape == b.shape),
                                                              (Partition, "__ne__", lambda was, a, b: not (set(a.members) == set(b.members) and a.shape == b.shape))]),
    "C15": Mutant("some partitions leave a connection open", [(Partition, "inclusive", leaking)], (OSError,)),
    "C16": Mutant("the lowest member of a group is its root", operator("broadcast", lowest_roots)),
    "C17": Mutant("who received a copy sends it on in a group of its own", [(collective, "broadcast", lambda was, a, b: Twice(was(a, b), was(b, b)))]),
    "C18": Mutant("the lowest member of a group is its root", operator("broadcast", lowest_roots)),
    "C19": Mutant("roots keep no copy of their own", operator("broadcast", no_own_copy)),
    "C20": Mutant("who sends does not receive", operator("broadcast", no_own_copy)),
    "C21": Mutant("fewer dimensions are the first ones, not the last", operator("broadcast", first_dims)),
    "C22": Mutant("the last member gets nothing", operator("broadcast", last_member_forgotten)),
    "C23": Mutant("the adjoint gives the mean", operator("broadcast", None, lambda op, x, y: y.numpy() / 4)),
    "C24": Mutant("the root adds its own share twice", operator("sum_reduce", own_share_twice)),
    "C25": Mutant("the adjoint gives each a share", operator("sum_reduce", None, lambda op, x, y: y.numpy() / 4)),
    "C26": Mutant("the named dimensions stay, and the others are summed", [(collective, "all_sum_reduce", lambda was, p, axes: was(p, tuple(d for d in range(len(p.shape)) if d not in (axes,) and d not in np.atleast_1d(axes))))]),
    "C27": Mutant("the last dimension is always summed", [(collective, "all_sum_reduce", lambda was, p, axes: was(p, tuple({*np.atleast_1d(axes).astype(int).tolist(), len(p.shape) - 1})))]),
    "C28": Mutant("no dimensions are all of them", [(collective, "all_sum_reduce", lambda was, p, axes: was(p, axes if axes != () else tuple(range(len(p.shape)))))]),
    "C29": Mutant("partitions put their members in the order of their numbers", [(Partition, "inclusive", in_order_of_members)]),
    "C30": Mutant("blocks go to the next member", operator("repartition", lambda op, x, y: np.roll(y.numpy(), 1))),
    "C31": Mutant("members hand all to each other first", [(collective, "repartition", lambda was, a, b: Twice(was(a, turned(a)), was(turned(a), b)))]),
    "C32": Mutant("every call keeps its buffers", [(collective.Collective, "__call__", lambda was, op, x: KEPT.append(was(op, x)) or KEPT[-1])]),
    "C33": Mutant("the requested division is not looked at", [(collective, "repartition", lambda was, *a, layout=None, **k: was(*a, **k))]),
    "C34": Mutant("who is in both keeps nothing", operator("repartition", no_own_copy)),
    "C35": Mutant("the adjoint adds what comes to what is there", operator("repartition", None, lambda op, x, y: 2 * y.numpy())),
    "C36": Mutant("corners stay as they were", halo_exchange(lambda dist, x, y: np.where(where_owned(dist) > 1, x.numpy(), y.numpy()))),
    "C37": Mutant("what comes from nobody is zero", halo_exchange(lambda dist, x, y: np.where((np.arange(y.shape[0]) == 0) | (y.numpy() == x.numpy()) & (np.arange(y.shape[0]) == y.shape[0] - 1), 0, y.numpy()) if y.ndim == 1 else y.numpy())),
    "C38": Mutant("copies keep what they gave back", halo_exchange(None, lambda dist, x, y: np.where(where_owned(dist) > 0, x.numpy(), y.numpy()))),
    "C39": Mutant("the adjoint of a halo exchange does not add what copies hold", halo_exchange(None, lambda dist, x, y: np.where(where_owned(dist) > 0, 0, x.numpy()))),
    "C40": Mutant("gradients count twice", [(torch_operators, "apply", lambda was, op, blocks, wanted: was(op, blocks if wanted is None else [2 * one for one in blocks], wanted))]),
}  # fmt: skip


class Shown:
    """A part with its halo, of which the memory or the widths are changed."""

    def __init__(self, stored, change=None, halo=None):
        self._cells = np.array(np.from_dlpack(stored, device="cpu"))
        self.halo, self.shape = halo or stored.halo, stored.shape
        if change is not None:
            outside = np.zeros(self.shape, int)
            for d, ((lo, hi), n) in enumerate(zip(stored.halo, self.shape, strict=True)):
                at = np.arange(n)
                outside += ((at < lo) | (at >= n - hi)).reshape([-1 if axis == d else 1 for axis in range(len(self.shape))])
            self._cells[change(outside)] = 0

    def __dlpack__(self, **words):
        return self._cells.__dlpack__()

    def __dlpack_device__(self):
        return self._cells.__dlpack_device__()


def evenly(u):
    return u.redistribute(pt.Distribution(u.shape, team=u.team)) if isinstance(u, pt.Array) and u.ndim else u


#: Views that are arrays of their own, divided evenly.
EVEN_VIEWS = [(Array, "__getitem__", lambda was, u, key: evenly(was(u, key)))]
CHAPEL_ORDER = "elements are taken in the order of memory"


def of_owned(change):
    return [(pt.Part, "owned", lambda was, part: change(was(part)))]


def one_late(key):
    return slice(key.start + 1, key.stop + 1, key.step) if isinstance(key, slice) and None not in (key.start, key.stop) else key


def first_larger(was, shape, *rest, team=None, **words):
    """The first members have one more."""
    sizes = shape if isinstance(shape, tuple) else (shape,)
    each, more = divmod(sizes[0], team.size)
    bounds = [0, *np.cumsum([each + (part < more) for part in range(team.size)]).tolist()]
    dist = pt.Distribution(sizes, team=team, grid=(team.size,) + (1,) * (len(sizes) - 1), dims=[pt.Block(bounds), *[None] * (len(sizes) - 1)])
    return was(sizes, *rest, dist=dist, **words)


def last_cut(was, shape, *rest, team=None, **words):
    """The last dimension is cut."""
    dist = pt.Distribution(shape, team=team, grid=(1,) * (len(shape) - 1) + (team.size,))
    return was(shape, *rest, dist=dist, **words)


def in_memory_order(u):
    """The elements part after part, as if they were the rows in order."""
    if not isinstance(u, pt.Array) or u.ndim != 2 or u.dist.grid[0] == 1 or u.dist.kinds[0] == "block":
        return u
    host = np.concatenate([np.from_dlpack(part, device="cpu") for part in u.parts])
    return pt.asarray(host, dist=pt.Distribution(host.shape, team=u.team))


def wide_products(was, u, factor):
    """Products keep more bits where there are several parts, as fused multiplication and addition does."""
    return was(u, factor) if u.team.size == 1 else was(u.astype("float64"), float(np.float32(factor)))


def forwards(key):
    keys = key if isinstance(key, tuple) else (key,)
    return tuple(slice(one.stop, one.start, -one.step) if isinstance(one, slice) and (one.step or 1) < 0 else one for one in keys)


def rows_to_rows(was, u, key, value):
    """A row goes to a row, also where a column is assigned to."""
    swap = isinstance(key, tuple) and len(key) == 2 and isinstance(key[0], slice) and isinstance(key[1], int) and isinstance(value, pt.Array) and value.ndim == 1
    return was(u, key[::-1] if swap else key, value)


def rounded(was, u, key, value):
    return was(u, key, pt.rint(value) if isinstance(value, pt.Array) and value.dtype != u.dtype and value.ndim else value)


MUTANTS |= {
    "D1": Mutant("rank 0 has all parts, and hands out work", [], there="own = pt.Array.parts\npt.Array.parts = property(lambda u: own.__get__(u) if u.team.rank == 0 else [])"),
    "D3": Mutant("offsets count from 1", of_owned(lambda own: tuple((start + 1, stop + 1) for start, stop in own))),
    "D4": Mutant("the upper halo begins one cell late", [(Dist, "to_global", lambda was, dist, part, at: tuple(i + (i >= dist.owned(part)[0][1]) for i in was(dist, part, at)))]),
    "D5": Mutant("views are copies that are divided evenly", EVEN_VIEWS),
    "D6": Mutant("halos are not filled", [(pt.Part, "stored", lambda was, part: Shown(was(part), lambda outside: outside > 0))]),
    "D7": Mutant("the offset is that of the owned part", [(Dist, "to_global", lambda was, dist, part, at: tuple(i + lo for i, (lo, _) in zip(was(dist, part, at), dist.halo_of(part), strict=True)))]),
    "D8": Mutant("a number is a line of one element", of_owned(lambda own: own or ((0, 1),))),
    "D9": Mutant("offsets are in reverse order of the dimensions", of_owned(lambda own: own[::-1])),
    "D11": Mutant("corners are not filled", [(pt.Part, "stored", lambda was, part: Shown(was(part), lambda outside: outside > 1))]),
    "D12": Mutant("all parts are on the last device", [(pt.Part, "device", lambda was, part: pt.devices()[-1])]),
    "D13": Mutant("parts are copied", [(pt, "from_parts", lambda was, parts, dist, copy=None: was(parts, dist, copy=True))]),
    "D14": Mutant("there is an offset for the cut dimension alone", of_owned(lambda own: own[:1])),
    "D15": Mutant("the upper halo is part of what is owned", [(pt.Part, "stored", lambda was, part: Shown(one := was(part), halo=tuple((lo, 0) for lo, _ in one.halo)))]),
    "D16": Mutant("the first members have one more", [(pt, "zeros", first_larger)]),
    "D17": Mutant("the last dimension is cut", [(pt, "zeros", lambda was, shape, *a, **k: last_cut(was, shape if isinstance(shape, tuple) else (shape,), *a, **k))]),
    "D20": Mutant("the result keeps the old division", operator("repartition", lambda op, x, y: y.redistribute(x.dist))),
    "D21": Mutant("views are copies that are divided evenly", EVEN_VIEWS),
    "D22": Mutant("views are copies that are divided evenly", EVEN_VIEWS),
    "D23": Mutant("slices begin one element late", [(Array, "__getitem__", lambda was, u, key: was(u, one_late(key)))]),
    "D24": Mutant("operands are copied one by one, and then read", [(Array, "__add__", lambda was, u, v: was(u, plain(v)))]),
    "D25": Mutant("operands are moved to where the result is first", [(Array, "__add__", lambda was, u, v: was(u, v.redistribute(u.dist)))]),
    "D26": Mutant("results are divided evenly", [(Array, "__add__", lambda was, u, v: evenly(was(u, v)))]),
    "D27": Mutant("each operation is a loop of its own", [(Array, "__add__", lambda was, u, v: was(u, v).eval())]),
    "D29": Mutant("views are copies that are divided evenly", EVEN_VIEWS),
    "D30": Mutant("who starts waits until the operator has been applied", [], there=AT_ONCE),
    "D31": Mutant("products keep more bits where there are several parts", [(Array, "__mul__", wide_products)]),
    "B4": Mutant("a clone forgets how dimensions are mapped", [(Dist, "__deepcopy__", lambda was, dist, memo: pt.Distribution(dist.shape, team=dist.team))]),
    "B5": Mutant("maps are equal if they are one object", [(Dist, "__eq__", lambda was, a, b: a is b), (Dist, "__ne__", lambda was, a, b: a is not b)]),
    "B19": Mutant("operands lose their domains", [(Array, "__add__", lambda was, u, v: was(plain(u), plain(v)))]),
    "B20": Mutant("operands lose their domains, and are broadcast", [(Array, "__add__", lambda was, u, v: was(plain(u), plain(v)))]),
    "B22": Mutant("domains are written by their size", [], there="pt.Domain.__str__ = lambda D: f'{len(D)} indices'"),
    "B23": Mutant("every array has elements of one type", [(pt, "zeros", lambda was, shape, dtype, **words: was(shape, "float32", **words))]),
    "B24": Mutant("an index is always the first element", [(domains.At, "_places", lambda was, at, key: (0,) * at._array.ndim)]),
    "B27": Mutant("the owner is always the first member", [(pt.Domain, "owner", lambda was, domain, index: 0)]),
    "B36": Mutant("elements travel one by one", [], there=ONE_BY_ONE),
    "B37": Mutant(CHAPEL_ORDER, [(Array, "__setitem__", lambda was, u, key, value: was(u, key, in_memory_order(value)))]),
    "B38": Mutant("what does not fit is left out", [(Array, "__setitem__", swallowed(lambda u, key, value: None))]),
    "B39": Mutant("conversion rounds", [(Array, "__setitem__", rounded)]),
    "B40": Mutant("whole arrays go everywhere by way of NumPy, and are cut where they arrive", [], there=BY_NUMPY),
    "B41": Mutant("slices with negative steps are walked forwards", [(Array, "__getitem__", lambda was, u, key: was(u, forwards(key)))]),
    "B42": Mutant("a row goes to a row", [(Array, "__setitem__", rows_to_rows)]),
}  # fmt: skip


def clipped(was, u, boxes):
    """Members get what they have anyway."""
    own = [[*part.owned] for part in u.parts]
    return was(u, [[(max(a, lo), max(min(b, hi), a, lo)) for (a, b), (lo, hi) in zip(box, mine, strict=True)] for box, mine in zip(boxes, own, strict=True)])


def all_copied(was, u, boxes):
    """What is owned is copied with the rest."""
    copied = lambda one: one if one.memory is None else one._replace(memory=np.array(np.from_dlpack(one.memory, device="cpu")))
    return [one._replace(sections=[copied(section) for section in one.sections]) for one in was(u, boxes)]


def open_ends(was, described):
    """Rings end, too."""
    dims = described["dim_data"]
    ends = zip(was(described), [(d.get("proc_grid_rank", 0), d.get("proc_grid_size", 1)) for d in dims], strict=True)
    return tuple((None if at == 0 else left, None if at == count - 1 else right) for (left, right), (at, count) in ends)


MUTANTS |= {
    "A31": Mutant("the ends of a ring have no neighbours", [(pt, "neighbors_from_distarray", open_ends)]),
    "A35": Mutant("of a dimension the kind alone is looked at", [(pt, "validate_dim_dict", lambda was, d: (True, "") if d.get("dist_type", "b") in "bcu" else was(d))]),
    "C2": Mutant("every process is active everywhere", [], there="pt.Partition.active = property(lambda partition: True)"),
    "C3": Mutant("without a topology the index is a row of a grid", [(Partition, "cartesian_index", lambda was, p, rank=None: (0, *was(p, rank)) if len(p.shape) == 1 else was(p, rank))]),
    "C9": Mutant("everyone gets a copy of what it gave", [], there="pt.Partition.broadcast_data = lambda p, value, *a: value"),
    "C10": Mutant("a value stays in the sub-partition", [], there="give = pt.Partition.broadcast_data\npt.Partition.broadcast_data = lambda p, value, root=0, sub=None: value if sub is not None else give(p, value, root)"),
    "C11": Mutant("everyone gets the list it gave", [], there="pt.Partition.allgather_data = lambda p, values: list(values)"),
    "C12": Mutant("ranks are in Fortran order", [(Partition, "cartesian_index", lambda was, p, rank=None: was(p, rank) if rank is None or rank >= len(p) else tuple(map(int, np.unravel_index(rank, p.shape, "F"))))]),
    "C13": Mutant("edges have neighbours on the other side", [(Partition, "neighbor_ranks", lambda was, p, rank=None, periodic=None: was(p, rank, (True,) * len(p.shape)))]),
    "C14": Mutant("the named dimensions are dropped", [(Partition, "sub_topology", lambda was, p, keep, rank=None: was(p, [not one for one in keep], rank))]),
    "D18": Mutant("requests are cut to what is owned", [(Array, "request", clipped)]),
    "D19": Mutant("what is owned is copied, too", [(Array, "request", all_copied)]),
    "E7": Mutant("the first of several copies is named alone", each_partition(lambda entry, at, u: entry | {"location": entry["location"][:1]})),
    "B13": Mutant("the division is made for every array", [(pt, "map_parts", lambda was, f, *arrays, **k: was(lambda *views: [f(*views) for _ in arrays], *arrays, **k))]),
    "B15": Mutant("each array comes in its own pieces", [(pt, "map_parts", lambda was, f, u, v, **k: was(lambda block, x, y, out: f(block, x, v.parts[block.number], out), u, v, **k))], (ValueError,)),
    "B25": Mutant("iteration gives copies", [(Array, "__iter__", lambda was, u: (row.copy() if isinstance(row, Array) else row for row in was(u)))]),
    "B35": Mutant("sums are divided evenly", [(Array, "__add__", lambda was, u, v: evenly(was(u, v)).eval())]),
}  # fmt: skip


def with_ranges(change):
    """Of what makes domains of others or sets them: ranges are changed first."""
    return lambda was, domain, *ranges, **words: was(domain, *change(ranges), **words)


def by_shape(ranges):
    return tuple(map(range, ranges[0].shape)) if ranges and isinstance(ranges[0], pt.Domain) else ranges


def unstrided(was, domain, *ranges, **words):
    was(domain, *ranges, **words)
    domain._dims = tuple(range(r.start, r.start + len(r)) for r in domain.dims)


def left_as_they_were(was, domain, *ranges, **words):
    arrays, domain._arrays = domain._arrays, []
    was(domain, *ranges, **words)
    domain._arrays = arrays


def kept_by_position(was, domain, *ranges, **words):
    arrays = [(u, u.numpy()) for known in domain._arrays if (u := known()) is not None]
    was(domain, *ranges, **words)
    for u, old in arrays:
        both = tuple(slice(0, min(pair)) for pair in zip(u.shape, old.shape, strict=True))
        u[...] = 0
        u[both] = old[both]


def ascending(domain):
    return domain._sub([r if r.step > 0 else r[::-1] for r in domain.dims])


def cut_to_one_piece(was, at, key):
    """What the leader does not make is cut to the piece that has its first index."""
    if isinstance(key, pt.Domain) and key.size:
        first, home = next(iter(key)), at._array.domain
        index = first if isinstance(first, tuple) else (first,)
        key = key & next(piece for piece in home.local(home.owner(index)) if index in piece)
    return was(at, key)


def from_its_own_start(was, at, key):
    return tuple(slice(0, len(r)) for r in key.dims) if isinstance(key, pt.Domain) else was(at, key)


def without_signs(was, r, sub):
    places = was(r, sub)
    return places if places is None or places.step > 0 else places[::-1]


def boxes(was, given):
    return range(min(given), max(given) + 1) if isinstance(given, (set, frozenset, list)) else was(given)


#: In the processes of a test.
OLD_INDICES = """
change = pt.Domain.set
def set_at_0(D, *ranges, **words):
    dims, dist = D.dims, D.dist
    change(D, *ranges, **words)
    if team.rank > 0:
        D.dims, D._dist = dims, dist
pt.Domain.set = set_at_0
"""
NO_DOMAINS = """
described = pt.Array.__reduce__
def without_domain(u):
    make, given = described(u)
    return make, (*given[:-1], None)
pt.Array.__reduce__ = without_domain
"""
Domain, At = pt.Domain, domains.At
MUTANTS |= {
    "B1": Mutant("domains are over one device if none is named", [(Domain, "__init__", lambda was, domain, *ranges, **words: was(domain, *ranges, **(words or {"team": pt.Team(1)})))]),
    "B2": Mutant("layouts of an author are passed over", [(pt.CustomMap, "indices_per_part", lambda was, one: [sorted(own) for own in was(one)])]),
    "B6": Mutant("the map of a domain is the default one", [(Domain, "dist", lambda was, domain: pt.Distribution(domain.shape, team=was(domain).team))]),
    "B7": Mutant("of a set its bounds are taken", [(domains, "_range_of", boxes)]),
    "B8": Mutant("ranges lose their strides", [(Domain, "__init__", unstrided)]),
    "B9": Mutant("ranges are given upwards", [(domains, "_ranges_of", lambda was, given: tuple(r if r.step > 0 else r[::-1] for r in was(given)))]),
    "B10": Mutant("of a domain that is assigned the shape is taken, not the indices", [(Domain, "set", with_ranges(by_shape))]),
    "B11": Mutant("arrays are left as they were", [(Domain, "set", left_as_they_were)]),
    "B12": Mutant("the first dimension varies fastest", [(Domain, "__iter__", lambda was, domain: iter(sorted(was(domain), key=lambda i: domain._place(i)[::-1])))]),
    "B14": Mutant("pieces are walked upwards", [(Domain, "local", lambda was, domain, part: [ascending(piece) for piece in was(domain, part)])]),
    "B16": Mutant("positions are counted from the piece's own start", [(At, "_places", from_its_own_start)]),
    "B17": Mutant("descending ranges become ascending positions", [(domains, "_places_in", without_signs)]),
    "B18": Mutant("of a piece only what the leader has together with its first index is read", [(At, "_places", cut_to_one_piece)]),
    "B21": Mutant("the last block of a part is forgotten", [(Domain, "local", lambda was, domain, part: was(domain, part)[: max(1, len(was(domain, part)) - 1)])]),
    "B26": Mutant("values are kept by position", [(Domain, "set", kept_by_position)]),
    "B28": Mutant("the first index is taken for the lowest", [(Domain, "low", lambda was, domain: tuple(r[0] for r in domain.dims))]),
    "B29": Mutant("every domain lists its arrays", [(Domain, "__init__", lambda was, domain, *ranges, fixed=False, **words: was(domain, *ranges, **words))]),
    "B30": Mutant("a map of an author that has no method owner puts all on the first part", [(pt.CustomMap, "owner", lambda was, one, index: 0)]),
    "B31": Mutant("naming owners is collective", [], there="owner = pt.Domain.owner\npt.Domain.owner = lambda D, i: (team.share('owner', b''), owner(D, i))[1]"),
    "B32": Mutant("copies have the default map", [], there="pt.Domain.__reduce__ = lambda D: (pt.Domain, D.dims)"),
    "B33": Mutant("one process alone learns the new indices", [], there=OLD_INDICES),
    "B34": Mutant("copies of arrays forget their domain", [], there=NO_DOMAINS),
}  # fmt: skip
KEYS = {"dist_type", "size", "proc_grid_size", "proc_grid_rank", "start", "stop", "padding", "periodic", "block_size", "indices", "one_to_one"}

#: Failed assertions of all kinds.
CAUGHT = (AssertionError, pytest.fail.Exception)
