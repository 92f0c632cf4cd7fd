//! [`Task`]: a step of an evaluation as plain data. Tasks name values by the nodes of their graph, know
//! layouts and kernels, and have neither memory nor devices; they are equal on all ranks.
//!
//! Lowering makes them, `bind` gives them memory, `explain` prints them, the cache keeps them.

use std::sync::Arc;

use partita_kernels::{DType, Verified};

use crate::array::lower::access::OperandAccess;
use crate::array::lower::body::{KernelArguments, Leaf};
use crate::array::lower::footprint::ArrayWindow;
use crate::array::lower::graph::NodeId;
use crate::array::memory::pitch::Pitch;
use crate::array::record::expr::{AxisScan, AxisSort, Reduction, Which};
use crate::index::{Distribution, Index, Region};

/// A step of an evaluation.
pub(crate) enum Task {
    /// Kernels, each one launch per part, whose operands travel in one exchange.
    Compute(Compute),
    /// Reductions in one pass over their operands.
    Reduce(Box<Reduce>),
    /// Elements of a window that lie scattered in the base's memory.
    GatherWindow { result: NodeId, base: NodeId, window: Region, dist: Arc<Distribution>, dtype: DType },
    /// Elements of the base by their number in C order.
    GatherElements { result: NodeId, base: NodeId, which: Which, dist: Arc<Distribution>, dtype: DType },
    /// The base's elements folded along a dimension, up to each.
    Scan { result: NodeId, base: NodeId, scan: AxisScan, dist: Arc<Distribution>, dtype: DType },
    /// The base's elements, of type `dtype`, in order along a dimension, or their positions.
    Sort { result: NodeId, base: NodeId, sort: AxisSort, dist: Arc<Distribution>, dtype: DType },
    /// The elements of the base, which is on another team, by a plan between both.
    Move { result: NodeId, base: NodeId, dist: Arc<Distribution>, dtype: DType },
    /// The base's memory, seen in another shape.
    Alias { result: NodeId, base: NodeId, dist: Arc<Distribution> },
}

/// Kernels and the memory of what they compute.
pub(crate) struct Compute {
    pub results: Vec<ResultMemory>,
    pub kernels: Vec<KernelTask>,
}

/// The memory of one result.
pub(crate) struct ResultMemory {
    pub node: NodeId,
    pub dtype: DType,
    pub storage: ResultStorage,
    /// How the memory is divided, and the distribution of the array that it is for.
    pub memory: Arc<Distribution>,
    pub declared: Arc<Distribution>,
    /// How its rows lie.
    pub pitch: Pitch,
    /// Where the result lies among the cells of its array.
    pub window: ArrayWindow,
    /// The target of the graph that it is, if it is one.
    pub target: Option<usize>,
}

impl ResultMemory {
    /// All of an array that is new, without halos.
    pub fn fresh(node: NodeId, dtype: DType, dist: &Arc<Distribution>, pitch: Pitch) -> ResultMemory {
        ResultMemory {
            node,
            dtype,
            storage: ResultStorage::Fresh,
            memory: Arc::clone(dist),
            declared: Arc::clone(dist),
            pitch,
            window: ArrayWindow::whole(dist),
            target: None,
        }
    }
}

/// Which memory a result takes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum ResultStorage {
    /// New memory of the array's size.
    Fresh,
    /// The memory of the target's array.
    InPlace,
    /// New memory of the window's size; the layout is that of the array's memory.
    Temporary(Arc<Distribution>),
}

/// A kernel over the packed coordinates of a distribution.
#[derive(Clone)]
pub(crate) struct KernelTask {
    pub kernel: Verified,
    pub leaves: Vec<Leaf>,
    /// How each leaf reaches the parts, if these compute what they own; `None` for lists and numbers.
    pub accesses: Vec<Option<OperandAccess>>,
    /// The dimensions along which the kernel needs coordinates.
    pub placed: Vec<bool>,
    pub arguments: KernelArguments,
    pub dist: Arc<Distribution>,
    pub stores: Vec<KernelStore>,
}

/// Where a kernel stores a value: a result, or a window of it.
#[derive(Clone, Debug)]
pub(crate) struct KernelStore {
    pub result: usize,
    pub window: Option<Region>,
}

/// Reductions over the same axes of operands of one layout.
pub(crate) struct Reduce {
    pub members: Vec<ReduceMember>,
    pub axes: Vec<usize>,
    /// That of the operands, and of the results.
    pub dist: Arc<Distribution>,
    pub result: Arc<Distribution>,
    /// The fold on each part.
    pub kernel: Verified,
    pub leaves: Vec<Leaf>,
    pub accesses: Vec<Option<OperandAccess>>,
    pub arguments: KernelArguments,
    /// Combines partial results with later ones.
    pub combine: Verified,
}

/// One reduction.
#[derive(Clone, Debug)]
pub(crate) struct ReduceMember {
    pub node: NodeId,
    pub reduction: Reduction,
    /// The operand's type and shape, and the result's type.
    pub operand: DType,
    pub shape: Index,
    pub dtype: DType,
}

/// The tasks of an evaluation, in order.
pub(crate) struct Lowered {
    pub tasks: Vec<Task>,
    /// The node that holds the result of each target of the graph.
    pub results: Vec<NodeId>,
    /// Why a `Loop` cannot have several steps share an exchange, if it is so.
    pub unsupported: Option<&'static str>,
}

impl Task {
    /// The nodes whose memory it reads.
    pub fn reads(&self) -> Vec<NodeId> {
        let accessed = |accesses: &[Option<OperandAccess>]| {
            accesses.iter().flatten().map(|access| access.node).collect::<Vec<NodeId>>()
        };
        match self {
            Task::Compute(compute) => compute.kernels.iter().flat_map(|k| accessed(&k.accesses)).collect(),
            Task::Reduce(reduce) => accessed(&reduce.accesses),
            Task::GatherWindow { base, .. }
            | Task::GatherElements { base, .. }
            | Task::Scan { base, .. }
            | Task::Sort { base, .. }
            | Task::Move { base, .. }
            | Task::Alias { base, .. } => {
                vec![*base]
            }
        }
    }

    /// The nodes that are memory afterwards.
    pub fn results(&self) -> Vec<NodeId> {
        match self {
            Task::Compute(compute) => compute.results.iter().map(|result| result.node).collect(),
            Task::Reduce(reduce) => reduce.members.iter().map(|member| member.node).collect(),
            Task::GatherWindow { result, .. }
            | Task::GatherElements { result, .. }
            | Task::Scan { result, .. }
            | Task::Sort { result, .. }
            | Task::Move { result, .. }
            | Task::Alias { result, .. } => vec![*result],
        }
    }
}
