"""The compiled part of partita. What is meant for users is exported by `partita`."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, Self, TypeAlias, final

from typing_extensions import CapsuleType

__all__ = [
    "Array",
    "ArrayBase",
    "Collective",
    "Device",
    "Distribution",
    "Exporter",
    "Generator",
    "Lending",
    "Link",
    "Loop",
    "Memory",
    "Part",
    "Partition",
    "PendingCollective",
    "SavedState",
    "Selection",
    "Stored",
    "Team",
    "UfuncBase",
    "abort",
    "assigned_whole",
    "choose_default_team",
    "cuda_library",
    "devices",
    "distribution_of",
    "end",
    "forget",
    "get_default_team",
    "leave",
    "live_exports",
    "made",
    "measure_links",
    "mpi_library",
    "nccl_library",
    "neighbors_from_distarray",
    "plain",
    "plain1",
    "read_distarray",
    "read_partitioned",
    "read_view",
    "save_npy",
    "save_state",
    "export_distarray",
    "export_partitioned",
    "set_rules",
    "set_watched",
    "validate_dim_data",
    "validate_dim_dict",
    "validate_distarray",
    "validate_partitioned",
    "version",
]

_Indices: TypeAlias = Any  # a pair (start, stop), or a NumPy array of int64

@final
class Device:
    """A processor with memory of its own."""

    @property
    def name(self) -> str:
        """The name people see."""
    @property
    def kind(self) -> str:
        """'host', 'wgpu', ..."""
    @property
    def is_software(self) -> bool:
        """True for an adapter that is a program on the processor."""
    @property
    def subnormals(self) -> str:
        """'kept', 'flushed' or 'unspecified': what it does with subnormals of float32."""
    @property
    def memory(self) -> dict[str, int | None]:
        """Bytes in use, cached, and the budget (None: no limit of ours)."""
    def set_budget(self, budget_bytes: int | None) -> None:
        """Limits what arrays and temporaries may hold; None leaves it to the driver."""
    def wait(self) -> None:
        """Waits until all queued work is done."""
    @property
    def stream(self) -> int | None:
        """The handle of the CUDA stream on which all work is queued; None on other devices."""
    def __dlpack_device__(self) -> tuple[int, int]:
        """DLPack's (device type, device number)."""
    def __eq__(self, value: object, /) -> bool: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...

_Devices: TypeAlias = str | Device | Sequence[str | Device]

@final
class Team:
    """The ordered members that hold the parts of arrays."""

    def __new__(cls, parts: int | None = None, devices: _Devices | None = None, comm: Any = None) -> Team: ...
    @staticmethod
    def local(parts: int | None = None, devices: _Devices | None = None) -> Team:
        """A team of this process alone, also in a program of several ranks. Not collective."""
    @staticmethod
    def connect(
        parts: int | None = None,
        devices: _Devices | None = None,
        *,
        rank: int | None = None,
        size: int | None = None,
        address: str | None = None,
        secret: str | None = None,
    ) -> Team:
        """A team over processes that TCP connects: all of them pass the same size, address and secret, and each its
        rank. From then on teams of this process span the job. Without arguments they find each other through torchrun's
        store, also on several machines. Collective."""
    @property
    def size(self) -> int:
        """Number of members, and of parts of every array."""
    @property
    def rank(self) -> int:
        """This process among those that the team is over; 0 if it is over this one alone."""
    @property
    def wire(self) -> str | None:
        """The carrier of messages between the processes: ``"TCP"``, or the name of an MPI library. None for one process."""
    @property
    def messages(self) -> int:
        """The number of boxes of cells that have travelled from one member to another so far, on one device or between two, by
        the plans of arrays on this team; equal teams that were made apart count apart. Local."""
    @property
    def ranks(self) -> int:
        """The number of processes of the team."""
    @property
    def local_members(self) -> list[int]:
        """The numbers of this process's members."""
    @property
    def devices(self) -> list[Device]:
        """The device of each of this process's members."""
    @property
    def device_names(self) -> list[str]:
        """The name of the device of every member, with its rank if there are several."""
    def share(self, operation: str, mine: bytes) -> list[bytes]:
        """The bytes of every process of the team, at each of them. Collective."""
    def wait(self) -> None:
        """Waits until all queued work is done on every device of this process."""
    def __len__(self) -> int: ...
    def __eq__(self, value: object, /) -> bool: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __copy__(self) -> Team: ...
    def __deepcopy__(self, _memo: object, /) -> Team: ...
    def __hash__(self) -> int: ...

class _Division(Protocol):
    """An entry of ``dims``: an object with ``bounds``, ``block_size``, ``indices_per_part`` and ``one_to_one``, or a mark."""

_Widths: TypeAlias = int | Sequence[int | tuple[int, int]]

@final
class Distribution:
    """The cells of an array that each part of a team owns and stores."""

    def __new__(
        cls,
        shape: int | Sequence[int],
        team: Team | None = None,
        grid: Sequence[int] | None = None,
        dims: Sequence[_Division | None] | None = None,
        halo: _Widths | Sequence[int | tuple[int, int] | Sequence[tuple[int, int]]] | None = None,
        periodic: bool | Sequence[bool] | None = None,
        boundary: _Widths | None = None,
    ) -> Distribution: ...
    @property
    def shape(self) -> tuple[int, ...]:
        """The global shape."""
    @property
    def ndim(self) -> int:
        """Number of dimensions."""
    @property
    def num_parts(self) -> int:
        """Number of parts, empty ones included."""
    @property
    def grid(self) -> tuple[int, ...]:
        """The arrangement of the parts."""
    @property
    def team(self) -> Team:
        """The team whose members hold the parts."""
    @property
    def halo(self) -> tuple[tuple[int, int], ...]:
        """Declared halo widths per dimension, as pairs (below, above); the widest where parts differ."""
    def halo_of(self, part: int) -> tuple[tuple[int, int], ...]:
        """Halo widths of one part per dimension, as pairs (below, above): none where there is nothing to copy."""
    @property
    def boundary(self) -> tuple[tuple[int, int], ...]:
        """Boundary widths per dimension, as pairs (below, above)."""
    @property
    def periodic(self) -> tuple[bool, ...]:
        """The periodic dimensions."""
    @property
    def kinds(self) -> tuple[str, ...]:
        """The kind of map of every dimension: 'block', 'cyclic', 'unstructured', ..."""
    def owned(self, part: int) -> tuple[_Indices, ...]:
        """The cells of a part: per dimension (start, stop), or an index array where they are no range."""
    def chunks(self) -> list[tuple[int, list[tuple[int, int, int]]]]:
        """The pieces of a loop over all cells: which part takes which (start, stop, step) along each dimension."""
    def viewed(self, ranges: Sequence[tuple[int, int, int]]) -> Distribution:
        """The division of the cells at (start, stop, step) along each dimension: every one stays with its part."""
    def resized(self, shape: int | Sequence[int]) -> Distribution:
        """The same division of another shape."""
    def owner(self, index: int | Sequence[int]) -> int:
        """The part that owns a cell."""
    def holders(self, index: int | Sequence[int]) -> list[int]:
        """Every part that holds a cell, the owner first."""
    def to_local(self, index: int | Sequence[int]) -> tuple[int, tuple[int, ...]]:
        """The part that owns a cell, and the cell's place in the part's stored memory, halo included."""
    def to_global(self, part: int, local_index: int | Sequence[int]) -> tuple[int, ...]:
        """The cell at a place of a part's stored memory."""
    def neighbors(self, part: int) -> tuple[tuple[int | None, int | None], ...]:
        """The (left, right) neighbours of a part per dimension; None at an end."""
    def padded(self) -> Distribution:
        """The layout in which every part has its own cells and its halo side by side, so that halos are elements like
        others: what a halo exchange is applied to. Of blocks only."""
    def svg(self) -> str:
        """The drawing of the distribution, as SVG text."""
    def _division(self, d: int, most: int) -> tuple[str, list[list[list[tuple[int, int]]]]]:
        """For drawings: the map of dimension ``d`` in words, and for each of its parts the runs of the cells that it holds and of
        those that it owns, at most ``most`` of each."""
    def _repr_html_(self) -> str: ...
    def __eq__(self, value: object, /) -> bool: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __copy__(self) -> Distribution: ...
    def __deepcopy__(self, _memo: object, /) -> Distribution: ...
    def __hash__(self) -> int: ...

class Exporter:
    """The base of classes whose objects are buffers, by a method ``_exported(writable, strided)`` that gives one."""

class ArrayBase(Exporter):
    """The base of arrays, with their fields and operators."""

    #: Absent from a view until it is read, and again when its root was written; see `partita._core.views`.
    _native: Array
    #: The link of a view to its elements; None for arrays with elements of their own.
    _link: Link | None
    #: The number of a scalar, once it was read.
    _value: bool | int | float | complex | None
    #: True if there ever was a view of this array.
    _viewed: bool
    #: Weak references to views of this array that were read since it was last written; None before the first.
    _readers: list[Any] | None
    _readonly: bool

    def __getitem__(self, key: Any, /) -> Self: ...
    def __setitem__(self, key: Any, value: Any, /) -> None: ...
    def __add__(self, other: Any, /) -> Self: ...
    def __radd__(self, other: Any, /) -> Self: ...
    def __sub__(self, other: Any, /) -> Self: ...
    def __rsub__(self, other: Any, /) -> Self: ...
    def __mul__(self, other: Any, /) -> Self: ...
    def __rmul__(self, other: Any, /) -> Self: ...
    def __truediv__(self, other: Any, /) -> Self: ...
    def __rtruediv__(self, other: Any, /) -> Self: ...
    def __floordiv__(self, other: Any, /) -> Self: ...
    def __rfloordiv__(self, other: Any, /) -> Self: ...
    def __mod__(self, other: Any, /) -> Self: ...
    def __rmod__(self, other: Any, /) -> Self: ...
    def __and__(self, other: Any, /) -> Self: ...
    def __rand__(self, other: Any, /) -> Self: ...
    def __or__(self, other: Any, /) -> Self: ...
    def __ror__(self, other: Any, /) -> Self: ...
    def __xor__(self, other: Any, /) -> Self: ...
    def __rxor__(self, other: Any, /) -> Self: ...
    def __lshift__(self, other: Any, /) -> Self: ...
    def __rlshift__(self, other: Any, /) -> Self: ...
    def __rshift__(self, other: Any, /) -> Self: ...
    def __rrshift__(self, other: Any, /) -> Self: ...
    def __neg__(self) -> Self: ...
    def __abs__(self) -> Self: ...
    def __invert__(self) -> Self: ...
    def __lt__(self, other: Any, /) -> Self: ...
    def __le__(self, other: Any, /) -> Self: ...
    def __eq__(self, other: object, /) -> Self: ...  # type: ignore[override]
    def __ne__(self, other: object, /) -> Self: ...  # type: ignore[override]
    def __gt__(self, other: Any, /) -> Self: ...
    def __ge__(self, other: Any, /) -> Self: ...

@final
class Selection:
    """The selection by integers, slices, new dimensions and permutations of dimensions."""

    def __new__(cls, ranges: Sequence[tuple[int, int, int]]) -> Selection:
        """Of each dimension the first element, what the next one adds, and how many."""
    @staticmethod
    def whole(shape: tuple[int, ...]) -> Selection: ...
    @staticmethod
    def of(key: object, shape: tuple[int, ...]) -> Selection | None:
        """The selection of a key of integers, slices, '...' and None; None for other keys."""
    def laid_out(self, layout: Sequence[int | None]) -> Selection:
        """The same elements with other dimensions of the result: the array's, or None for new ones."""
    @property
    def start(self) -> list[int]: ...
    @property
    def steps(self) -> list[int]: ...
    @property
    def counts(self) -> list[int]: ...
    @property
    def layout(self) -> list[int | None]: ...
    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of the result."""
    @property
    def is_element(self) -> bool: ...
    @property
    def is_empty(self) -> bool: ...
    @property
    def is_ordered(self) -> bool:
        """True if the result's dimensions are in the order of the array's."""
    def within(self, outer: Selection) -> Selection | None:
        """This selection of the result of another one, as one of the latter's array. None for nothing of a new dimension."""

def set_rules(classes: tuple[type, type, type], functions: tuple[Callable[..., Any], ...]) -> None:
    """The classes of results, views and scalars; what decides where a rule of NumPy's has to: functions of one argument and of two,
    selecting, assigning; and what reads a view."""

@final
class Link:
    """The link of a view to its elements: `op`, a `partita._core.views.links.Op`, says which of `source`. `root` is the array that holds them."""

    def __new__(cls, source: Any, op: Any) -> Self: ...
    @property
    def source(self) -> Any: ...
    @property
    def op(self) -> Any: ...
    @property
    def root(self) -> Any: ...

def read_view(view: Any) -> Array:
    """The elements of a view as they are now, which it keeps until its root is written."""

def forget(root: Any) -> None:
    """Views read the root's elements anew from now on."""

def set_watched(watched: bool) -> None:
    """True if floating-point conditions may have to raise, which the rules see to."""

def made(native: Array) -> Any:
    """What Python has of a result of an operation: without dimensions a scalar, as in NumPy."""

def assigned_whole(x: object, value: object) -> bool:
    """``x[...] = value`` of a number of Python's or an array of the same type and shape; false where Python decides."""

def plain1(name: str, a: object) -> Any:
    """A function of one array, where no rule of NumPy's has to decide. None for all else."""

def plain(name: str, a: object, b: object) -> Any:
    """A function of two arguments, of which one is an array, where no rule of NumPy's has to decide. None for all else."""

class UfuncBase:
    """The base of functions of elements: calls with arrays alone, where no rule of NumPy's has to decide."""

    def __new__(cls, _name: str, function: Callable[..., Any], *_rest: Any, **_words: Any) -> Self: ...
    def __call__(self, *args: Any, **settings: Any) -> Any: ...

class Memory:
    """Cells in one device's memory that other packages can read."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the cells."""
    @property
    def dtype(self) -> str:
        """The name of the dtype."""
    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> CapsuleType:
        """A DLPack capsule of the cells."""
    @property
    def __array_interface__(self) -> dict[str, Any]:
        """NumPy's description of host memory, read-only."""
    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The CUDA Array Interface, version 3, of CUDA memory; not to be written."""
    __dlpack_c_exchange_api__: CapsuleType
    def __dlpack_device__(self) -> tuple[int, int]:
        """DLPack's (device type, device number)."""

@final
class Stored(Memory):
    """A part with its halo: its memory is all cells it stores."""

    @property
    def halo(self) -> tuple[tuple[int, int], ...]:
        """Widths of the halo per dimension, as pairs (below, above)."""

@final
class Part(Memory):
    """The part of an array that one member of the team holds. Its memory is the cells it owns."""

    @property
    def index(self) -> int:
        """Its number."""
    @property
    def grid_index(self) -> tuple[int, ...]:
        """Its place in the grid of parts."""
    @property
    def owned(self) -> tuple[_Indices, ...]:
        """The cells it owns: per dimension (start, stop), or an index array."""
    @property
    def device(self) -> Device:
        """The device that holds it."""
    @property
    def stored(self) -> Stored:
        """The part with its halo."""
    def __distarray__(self) -> dict[str, Any]:
        """The part in the words of the Distributed Array Protocol 0.10, its halo as padding."""

@final
class Array:
    """A handle to a value; assignment gives it another one. Empty while a Loop runs on it."""

    @staticmethod
    def full(dist: Distribution, dtype: str, value: complex) -> Array: ...
    @staticmethod
    def coordinate(dist: Distribution, dimension: int, dtype: str) -> Array: ...
    @staticmethod
    def from_bytes(dist: Distribution, dtype: str, data: Any, in_step: bool = False) -> Array: ...
    @staticmethod
    def from_pieces(dist: Distribution, dtype: str, pieces: Sequence[Any]) -> Array: ...
    @staticmethod
    def over(dist: Distribution, dtype: str | None, capsules: Sequence[object], writable: bool = False) -> Array: ...
    @staticmethod
    def on_host(object: object, must: bool) -> Array | None: ...
    @staticmethod
    def from_capsule(capsule: object, dist: Distribution | None = None, team: Team | None = None) -> Array: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> str: ...
    @property
    def dist(self) -> Distribution: ...
    @property
    def team(self) -> Team: ...
    def copy(self) -> Array: ...
    def replace(self, other: Array) -> None: ...
    def eval(self) -> None: ...
    def item(self) -> bool | int | float | complex: ...
    def read_into(self, out: Any) -> None: ...
    def explain(self, to: Distribution | None = None) -> str: ...
    def boxes(self) -> list[str]: ...
    def parts(self) -> list[Part]: ...
    def lone_part(self) -> Part | None: ...
    def lend(self, view: Callable[[], Array] | None = None) -> Lending: ...
    def constant(self, dtype: str, value: complex) -> Array: ...
    def cast(self, dtype: str) -> Array: ...
    def bitcast(self, dtype: str) -> Array: ...
    def op1(self, name: str) -> Array: ...
    def op2(self, name: str, other: Array) -> Array: ...
    def select(self, yes: Array, no: Array) -> Array: ...
    def reduce(self, name: str, axes: Sequence[int], keepdims: bool = False) -> Array: ...
    def scan(self, name: str, axis: int) -> Array: ...
    def sort(self, axis: int, descending: bool, positions: bool) -> Array: ...
    def view(self, selection: Selection) -> Array: ...
    def assign_view(
        self, selection: Selection, value: Array, part: int | None = None
    ) -> None: ...
    def diagonal(self, offset: int) -> Array: ...
    def is_computed(self) -> bool: ...
    def is_on_host(self) -> bool: ...
    def is_constant(self) -> bool: ...
    def is_recorded_as(self, other: Array) -> bool: ...
    def is_in_memory(self) -> bool: ...
    @staticmethod
    def stack(arrays: Sequence[Array], axis: int) -> Array: ...
    @staticmethod
    def concatenate(arrays: Sequence[Array], axis: int) -> Array: ...
    def pad(self, widths: Sequence[tuple[int, int]], mode: str, value: complex) -> Array: ...
    def roll(self, offsets: Sequence[int]) -> Array: ...
    def squeeze(self, axes: Sequence[int]) -> Array: ...
    def redistribute(self, dist: Distribution) -> Array: ...
    def over_domain(self, ranges: Sequence[tuple[int, int, int]] | None) -> Array: ...
    def domain(self) -> list[tuple[int, int, int]] | None: ...
    def resized(self, shape: Sequence[int]) -> Array: ...
    def request(
        self,
        boxes: Sequence[Sequence[tuple[int, int]]],
        show: Callable[[list[tuple[int, list[tuple[list[int], list[int], Memory | None]]]]], Any],
    ) -> PendingCollective: ...
    def rearranged(self, axes: Sequence[tuple[int | None, int, int, int]]) -> Array: ...
    def fourier(self, axes: Sequence[int], inverse: bool, scale: float) -> Array: ...
    def fourier_of_reals(self, axis: int, scale: float) -> Array: ...
    def fourier_to_reals(self, axis: int, n: int, scale: float) -> Array: ...
    def reshaped(self, shape: Sequence[int]) -> Array: ...
    def gathered(self, shape: Sequence[int], positions: Any) -> Array: ...
    def compressed(self, mask: Array) -> Array: ...
    def taken(self, indices: Array) -> Array: ...
    def scatter(self, positions: Any, value: Array) -> None: ...

@final
class Generator:
    """A stream of random arrays."""

    def __new__(cls, seed: Sequence[int]) -> Generator: ...
    def __getnewargs__(self) -> tuple[list[int]]: ...
    def __getstate__(self) -> list[int]: ...
    def __setstate__(self, state: Sequence[int]) -> None: ...
    def branch(self) -> Generator: ...
    def bits(self) -> int: ...
    def spawned(self, n: int) -> Generator: ...
    def words(self, dist: Distribution, dtype: str) -> Array: ...
    def integers(self, dist: Distribution, dtype: str, low: int, count: int) -> Array: ...
    def uniform(self, dist: Distribution, dtype: str) -> Array: ...
    def normal(self, dist: Distribution, dtype: str) -> Array: ...
    def exponential(self, dist: Distribution, dtype: str) -> Array: ...

@final
class Lending:
    """An array's memory while others write it."""

    def parts(self) -> list[Part]: ...
    def end(self) -> None: ...

@final
class Partition:
    """Some members of a team, in an order and a grid, over which arrays are divided."""

    def __new__(cls, team: Team, grid: Sequence[int] | None = None) -> Partition: ...
    @property
    def size(self) -> int:
        """Number of members. Local, as is all but what says otherwise: every process knows every partition."""
    @property
    def active(self) -> bool:
        """True if this process has a member. One that has none cannot communicate in the partition: an error."""
    @property
    def rank(self) -> int:
        """The rank of this process's member; ValueError if it has none, or several."""
    @property
    def index(self) -> tuple[int, ...]:
        """The place of this process's member in the grid: on a line its rank alone; ValueError as for `rank`."""
    def cartesian_index(self, rank: int | None = None) -> tuple[int, ...]:
        """The place of a rank in the grid, by default that of this process's member."""
    def neighbor_ranks(
        self, rank: int | None = None, periodic: Sequence[bool] | None = None
    ) -> tuple[tuple[int | None, int | None], ...]:
        """The ranks (left, right) of a rank per dimension of the grid, by default of this process's member. None at the ends of
        dimensions that are not `periodic`, of which there is a bool for each."""
    def sub_topology(self, keep: Sequence[bool], rank: int | None = None) -> Partition:
        """The members that differ from a rank, by default that of this process's member, along the dimensions of the grid that
        are kept alone, in a grid of these; as `MPI_Cart_sub`."""
    def broadcast_data(self, value: Any, root: int = 0, source: Partition | None = None) -> Any:
        """A small object, which pickle takes, of the member of rank ``root`` of this partition, or of ``source``, a part of it, at all
        members. Collective over the processes that have members; in others ValueError."""
    def allgather_data(self, values: Sequence[Any]) -> list[Any]:
        """Small objects of all members at each of them, by rank; ``values`` are those of this process's members. Collective over the
        processes that have members; in others ValueError."""
    def inclusive(self, ranks: Sequence[int]) -> Partition:
        """The members with these ranks, in the order of the list, on a line."""
    def union(self, other: Partition) -> Partition:
        """The members of this one in their order, then those of the other that are new; on a line."""
    def cartesian(self, shape: Sequence[int]) -> Partition:
        """The same members in a grid, in C order."""
    @property
    def members(self) -> tuple[int, ...]:
        """The numbers of its members in the team it was made from, by rank."""
    @property
    def shape(self) -> tuple[int, ...]:
        """The extents of its grid."""
    @property
    def team(self) -> Team:
        """Its members as a team of their own: arrays over the partition are made on it."""
    def __len__(self) -> int: ...
    def __eq__(self, value: object, /) -> bool: ...
    def __ne__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...

def save_npy(team: Team, file: str, array: Array) -> None: ...
def save_state(team: Team, folder: str, items: Sequence[tuple[str, Array | bool | float | str]]) -> None: ...

@final
class SavedState:
    """A state that was saved."""

    def __new__(cls, team: Team, folder: str) -> SavedState: ...
    def items(self) -> list[tuple[str, tuple[list[int], str] | bool | float | str]]: ...
    def array(self, name: str, dist: Distribution) -> Array: ...

@final
class Collective:
    """A linear operator from arrays over one partition to arrays over another: call it."""

    def __new__(
        cls,
        name: str,
        source: Partition,
        target: Partition,
        numbers: Sequence[int],
        halo: Distribution | None = None,
        layout: Distribution | None = None,
        adjoint_layout: Distribution | None = None,
    ) -> Collective: ...
    @property
    def adjoint(self) -> Collective:
        """The transposed operator: <F x, y> == <x, F.adjoint y>, as sums over all elements."""
    @property
    def source(self) -> Partition:
        """The partition of the arrays it is applied to."""
    @property
    def target(self) -> Partition:
        """The partition of the arrays it makes."""
    @property
    def name(self) -> str:
        """The name."""
    def forward(self, x: Array) -> Array: ...
    def overwrite(self, x: Array) -> None: ...
    def start(self, x: Array) -> PendingCollective: ...
    def explain(self, x: Array) -> str: ...
    def __eq__(self, value: object, /) -> bool: ...
    def __ne__(self, value: object, /) -> bool: ...
    __hash__ = None  # type: ignore[assignment]

@final
class PendingCollective:
    """An operator that is being applied, or a request: work that is queued before `finish` runs while elements travel. The array may
    be assigned to meanwhile."""

    def finish(self) -> Any:
        """Waits for what is under way, and gives the result, once. Collective over the world."""

@final
class Loop:
    """A step that is recorded once and replayed."""

    def __new__(cls, depth: int | None) -> Loop: ...
    @property
    def is_replaying(self) -> bool: ...
    @property
    def steps_per_exchange(self) -> int: ...
    def explain(self) -> str | None: ...
    def run(
        self, state: Sequence[Array], step: Callable[..., object], count: int, rows: Sequence[Sequence[tuple[str, Any]]]
    ) -> None: ...

def cuda_library() -> str | None:
    """The file that was loaded as the CUDA driver; None without one."""

def devices() -> list[Device]:
    """Every device of this process, the host first. Opens the adapters."""

def measure_links(as_json: bool) -> tuple[str | None, bool]:
    """The links between the devices of all ranks, as text or as JSON, of rank 0 alone; and whether all messages arrived as they were
    sent."""

def mpi_library() -> tuple[str | None, str]:
    """The text in which the MPI library that is loaded, or can be, names itself; None and the reason without one."""

def leave() -> bool:
    """Ends this process's part in the program: whether all ranks came to their end. Collective."""

def abort(reason: str) -> None:
    """Lets all ranks know why this one cannot go on, and ends all processes. Does not return."""

def end() -> None:
    """For the end of the process: waits for the calls of other threads, of which none begins any more."""

def nccl_library() -> tuple[str | None, str]:
    """The version and the file of the NCCL that is loaded, or can be; None, and why there is none."""

def live_exports() -> int:
    """DLPack exports that no consumer has released yet."""

def distribution_of(team: Team, facts: Any) -> Distribution:
    """The distribution of pickled facts over a team."""

def export_distarray(part: Part) -> tuple[dict[str, Any], tuple[int, ...], Stored]:
    """A part's description in `__distarray__`, its buffer None; that buffer's shape, and its memory."""

def export_partitioned(dist: Distribution, locations: Sequence[tuple[str, int, str]]) -> tuple[dict[str, Any], list[list[int]]]:
    """`__partitioned__` of a distribution, with None as data and `get`; and the parts that hold each entry."""

def read_distarray(parts: list[Any], team: Team | None = None) -> Distribution:
    """The distribution that the descriptions of all parts, in order, describe together."""

def read_partitioned(described: Any, team: Team | None = None) -> Distribution:
    """The distribution that a `__partitioned__` describes."""

def validate_distarray(described: Any) -> tuple[bool, str]:
    """Whether a description, or a list of those of all parts, is well-formed; and why not."""

def validate_dim_data(dim_data: Any) -> tuple[bool, str]:
    """Whether a dim_data, all entries of a part, is well-formed without its buffer; and why not. Local."""

def validate_dim_dict(dim_dict: Any) -> tuple[bool, str]:
    """Whether one entry of a dim_data is well-formed; and why not. Local."""

def neighbors_from_distarray(described: Any) -> tuple[tuple[int | None, int | None], ...]:
    """The ranks of a part's (left, right) neighbours per dimension, from its own description alone; None at the ends of
    dimensions that are not periodic. ValueError for what is malformed. Local."""

def validate_partitioned(described: Any) -> tuple[bool, str]:
    """Whether a description is well-formed; and why not."""

def get_default_team() -> Team: ...
def choose_default_team(team: Team | None) -> Team | None: ...
def version() -> str:
    """The version of the package."""
