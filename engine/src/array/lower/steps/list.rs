//! [`Step`]: a part of an evaluation as plain data. Steps name memory by numbers ([`MemoryId`]), know layouts
//! and kernels, and have neither memory nor devices; they are equal on all ranks.
//!
//! Lowering makes a [`StepList`], `bind` gives its steps memory, `run` executes them in order, `explain`
//! prints them, and the cache keeps them.

use std::ops::Range;
use std::sync::Arc;

use partita_kernels::{DType, Scalar, Verified};

use crate::array::lower::access::OperandAccess;
use crate::array::lower::body::{KernelArguments, Leaf};
use crate::array::lower::graph::NodeId;
use crate::array::lower::steps::window::WindowIndices;
use crate::array::memory::pitch::Pitch;
use crate::array::memory::plans::moving_plan;
use crate::array::memory::window::ArrayWindow;
use crate::array::record::expr::{AxisSort, StridedWindow};
use crate::error::Result;
use crate::index::{Distribution, Index, Region};
use crate::plan::Plan;
use crate::team::Team;

/// A step of an evaluation.
pub(crate) enum Step {
    /// Fused kernels, each one launch per part, whose operands travel in one exchange.
    Compute(Compute),
    /// Memory for an array.
    Allocate(StoredArray),
    /// Elements travel by plans within the team.
    Exchange(PlanExchange),
    /// One kernel, at most one launch per part, whose operands are on their devices.
    Launch(KernelLaunch),
    /// Another array of the same elements, with what is current of their halos.
    Duplicate { from: NodeId, to: NodeId, dtype: DType },
    /// Cells of an array, from each part to itself.
    Copy { from: NodeId, to: NodeId, dtype: DType, cells: CopiedCells },
    /// A sort of what each part has, by the host.
    Sort(HostSort),
    /// Elements of the base, which may be on another team, by this plan or the one that moves them all.
    Move { result: NodeId, base: NodeId, dist: Arc<Distribution>, dtype: DType, plan: Option<Arc<Plan>> },
    /// The base's memory, viewed in another shape.
    Alias { result: NodeId, base: NodeId, dist: Arc<Distribution> },
    /// The memory of one array is another one's from here on.
    Donate { from: NodeId, to: NodeId },
}

/// The cells that are copied on each part.
pub(crate) enum CopiedCells {
    /// Its own cells outside of a window, and as much of the halo as is current in the target.
    Outside(Region),
    /// An array of the size of a window, to the window's cells, and what is current of its halo.
    Window(StridedWindow),
}

/// Memory that steps read and write.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum MemoryId {
    /// That of an array.
    Array(NodeId),
    /// That of temporary boxes, by their number in the list.
    Boxes(usize),
}

/// Temporary memory: a box of cells per part, in C order; where it is empty, none.
pub(crate) struct Boxes {
    pub dtype: DType,
    pub cells: Vec<Region>,
}

/// Steps in order, and the temporary memory that they name.
#[derive(Default)]
pub(crate) struct StepList {
    pub steps: Vec<Step>,
    pub boxes: Vec<Boxes>,
}

/// An array that is memory when the steps that name it run.
#[derive(Clone)]
pub(crate) struct StoredArray {
    pub node: NodeId,
    pub shape: Index,
    pub dtype: DType,
    /// That of its memory, and its own.
    pub dist: Arc<Distribution>,
    pub declared: Arc<Distribution>,
    pub pitch: Pitch,
}

impl StoredArray {
    pub fn memory(&self) -> MemoryId {
        MemoryId::Array(self.node)
    }
}

/// The transfers of one exchange.
pub(crate) struct PlanExchange {
    /// As errors and traces call it.
    pub operation: &'static str,
    /// As `explain` calls it.
    pub what: &'static str,
    pub fields: Vec<ExchangeField>,
}

/// The elements of one array that travel.
pub(crate) struct ExchangeField {
    pub plan: Arc<Plan>,
    pub from: MemoryId,
    pub to: MemoryId,
    pub dtype: DType,
    /// That of the array.
    pub shape: Index,
}

/// A kernel, its operands and results in the order of its parameters, and what each part computes of it.
pub(crate) struct KernelLaunch {
    pub kernel: Verified,
    /// The array that is computed, for people.
    pub layout: Arc<Distribution>,
    pub operands: Vec<LaunchOperand>,
    /// In order; a part may have several, or none.
    pub launches: Vec<PartLaunch>,
}

/// One launch of a part.
pub(crate) struct PartLaunch {
    pub part: usize,
    pub region: Region,
    pub arguments: Vec<LaunchArgument>,
    pub memory: Vec<PartCells>,
}

/// Cells, from the first one on, in the memory of a part on the same device.
#[derive(Clone, Copy)]
pub(crate) struct PartCells {
    pub memory: MemoryId,
    pub part: usize,
    pub first: Index,
}

impl PartLaunch {
    /// The launch of a part that [`StepList::launch`] names.
    pub fn new(region: Region, arguments: Vec<LaunchArgument>) -> PartLaunch {
        PartLaunch { part: 0, region, arguments, memory: Vec::new() }
    }
}

/// An operand or a result of a kernel. `first` and `positions` have an entry per part.
pub(crate) enum LaunchOperand {
    /// Cells: that of the first point, and for each dimension of the kernel the dimension of memory along
    /// which it goes, with its step.
    Cells { memory: MemoryId, first: Vec<Index>, axes: Vec<Option<(usize, i64)>> },
    /// Elements as they follow each other in memory, from the one with this number on.
    Line { memory: MemoryId, first: Vec<i64> },
    /// The cells that each launch has at this place of its list.
    OfLaunch(usize),
    /// Elements by their numbers, from that of a cell on or from the begin of memory. Parts that have one of
    /// the fetched boxes read that instead.
    Numbered { memory: MemoryId, fetched: Option<MemoryId>, from: Option<Index> },
    /// For each point the number, in an operand's memory, of the element at a position in C order.
    Positions { positions: Vec<PositionRange>, of: usize, shape: Index, dtype: DType },
    /// Along a dimension, where the coordinates of a window lie among those that a part holds.
    WindowList { indices: Arc<WindowIndices>, dim: usize },
}

impl LaunchOperand {
    /// The memory that it is, unless it is a list.
    pub fn memory(&self) -> Option<MemoryId> {
        match self {
            LaunchOperand::Cells { memory, .. }
            | LaunchOperand::Line { memory, .. }
            | LaunchOperand::Numbered { memory, .. } => Some(*memory),
            LaunchOperand::OfLaunch(_)
            | LaunchOperand::Positions { .. }
            | LaunchOperand::WindowList { .. } => None,
        }
    }
}

/// Positions of a part.
#[derive(Clone)]
pub(crate) struct PositionRange {
    pub all: Arc<Vec<i64>>,
    pub range: Range<usize>,
}

impl PositionRange {
    pub fn positions(&self) -> &[i64] {
        &self.all[self.range.clone()]
    }
}

/// A number that a launch is given.
#[derive(Clone, Copy)]
pub(crate) enum LaunchArgument {
    Number(Scalar),
    /// The distance of neighbours along a dimension of an operand's memory.
    Stride {
        operand: usize,
        dim: usize,
        dtype: DType,
    },
    /// The distance of a coordinate from the first one in an operand's memory.
    Distance {
        operand: usize,
        dim: usize,
        coordinate: i64,
        dtype: DType,
    },
}

/// The host's work of a sort, part by part.
pub(crate) struct HostSort {
    pub sort: AxisSort,
    /// That of the elements, and how they are divided.
    pub dtype: DType,
    pub dist: Arc<Distribution>,
    pub from: SortInput,
    pub to: Pieces,
}

/// The input of a sort.
pub(crate) enum SortInput {
    Elements(MemoryId),
    /// Sorted pieces, and those of other parts that are merged with them in a round.
    Merged {
        own: Pieces,
        other: Pieces,
        round: Round,
    },
}

/// Sorted pieces of lines, and where they are carried along, their positions.
#[derive(Clone, Copy)]
pub(crate) struct Pieces {
    pub values: MemoryId,
    pub positions: Option<MemoryId>,
}

impl Pieces {
    pub fn memory(self) -> impl Iterator<Item = MemoryId> {
        [Some(self.values), self.positions].into_iter().flatten()
    }
}

impl HostSort {
    pub fn reads(&self) -> Vec<MemoryId> {
        match &self.from {
            SortInput::Elements(memory) => vec![*memory],
            SortInput::Merged { own, other, .. } => own.memory().chain(other.memory()).collect(),
        }
    }

    pub fn results(&self) -> Vec<MemoryId> {
        self.to.memory().collect()
    }
}

/// One round of exchanges, by part: what it gets of another part and whether it keeps the smaller half;
/// `None` for a part that keeps what it has.
pub(crate) type Round = Vec<Option<(Region, bool)>>;

impl StepList {
    /// Temporary boxes.
    pub fn boxes(&mut self, dtype: DType, cells: Vec<Region>) -> MemoryId {
        self.boxes.push(Boxes { dtype, cells });
        MemoryId::Boxes(self.boxes.len() - 1)
    }

    /// Temporary memory for all elements of an array on a distribution.
    pub fn temporary(&mut self, dtype: DType, dist: &Distribution) -> MemoryId {
        let pitch = Pitch::of(dtype);
        self.boxes(dtype, (0..dist.parts()).map(|part| pitch.room(&dist.owned(part))).collect())
    }

    /// Memory for an array.
    pub fn allocate(&mut self, array: &StoredArray) {
        self.steps.push(Step::Allocate(array.clone()));
    }

    /// Has all elements of an array travel to memory on another distribution.
    pub fn redistribute(
        &mut self,
        team: &Team,
        what: &'static str,
        [source, target]: [(MemoryId, &Distribution); 2],
        (dtype, shape): (DType, Index),
    ) -> Result<()> {
        let plan = moving_plan(source.1, target.1, (team, team))?;
        let field = ExchangeField { plan, from: source.0, to: target.0, dtype, shape };
        self.exchange("redistribution", what, field);
        Ok(())
    }

    /// Has the elements of one array travel.
    pub fn exchange(&mut self, operation: &'static str, what: &'static str, field: ExchangeField) {
        self.steps.push(Step::Exchange(PlanExchange { operation, what, fields: vec![field] }));
    }

    /// Has a kernel run, if any part computes something.
    pub fn launch(
        &mut self,
        kernel: Verified,
        layout: &Arc<Distribution>,
        operands: Vec<LaunchOperand>,
        parts: Vec<Option<PartLaunch>>,
    ) {
        let of_part = |(part, launch): (usize, Option<PartLaunch>)| Some(PartLaunch { part, ..launch? });
        let launches: Vec<PartLaunch> = parts.into_iter().enumerate().filter_map(of_part).collect();
        if !launches.is_empty() {
            let layout = Arc::clone(layout);
            self.steps.push(Step::Launch(KernelLaunch { kernel, layout, operands, launches }));
        }
    }
}

/// Kernels and the memory of what they compute.
pub(crate) struct Compute {
    pub results: Vec<ResultMemory>,
    pub kernels: Vec<ComputeKernel>,
}

impl Compute {
    /// Whether it computes only some of the elements of a result.
    pub fn is_part_of(&self, node: NodeId) -> bool {
        self.results.iter().any(|result| result.node == node && result.rest_of.is_some())
    }
}

/// The memory of one result.
pub(crate) struct ResultMemory {
    pub node: NodeId,
    pub dtype: DType,
    pub storage: ResultStorage,
    /// The division of the memory, and the distribution of the array that it is for.
    pub memory: Arc<Distribution>,
    pub declared: Arc<Distribution>,
    /// The pitch of its rows.
    pub pitch: Pitch,
    /// The place of the result among the cells of its array.
    pub window: ArrayWindow,
    /// The array whose elements outside of the window it gets afterwards.
    pub rest_of: Option<NodeId>,
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
            rest_of: None,
        }
    }
}

/// Which memory a result takes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum ResultStorage {
    /// New memory of the array's size.
    Fresh,
    /// Memory that the result has already.
    InPlace,
    /// New memory of the window's size; the layout is that of the array's memory.
    Temporary(Arc<Distribution>),
}

/// A kernel over the packed coordinates of a distribution.
#[derive(Clone)]
pub(crate) struct ComputeKernel {
    pub kernel: Verified,
    pub leaves: Vec<Leaf>,
    /// The access to each leaf by parts that compute what they own; `None` for lists and numbers.
    pub accesses: Vec<Option<OperandAccess>>,
    /// The dimensions along which the kernel needs coordinates.
    pub placed: Vec<bool>,
    pub arguments: KernelArguments,
    pub dist: Arc<Distribution>,
    pub stores: Vec<KernelStore>,
    /// Of a reduction, which stores nothing else.
    pub folds: Option<Folds>,
}

/// The target of a kernel's store: a result, or a window of it.
#[derive(Clone, Debug)]
pub(crate) struct KernelStore {
    pub result: usize,
    pub window: Option<Region>,
}

/// The folds of a kernel that stores no value per point.
#[derive(Clone)]
pub(crate) struct Folds {
    pub axes: Vec<usize>,
    /// The results of all parts together, for people.
    pub result: Arc<Distribution>,
    pub results: Vec<DType>,
    /// Per output and part the memory of what the part finds, with the folded dimensions at `0..1`; `None`
    /// for parts that fold nothing.
    pub memory: Vec<Vec<Option<MemoryId>>>,
}

/// The steps of an evaluation.
pub(crate) struct Lowered {
    pub list: StepList,
    /// The targets of the graph.
    pub results: Vec<NodeId>,
    /// Why a `Loop` cannot have several steps share an exchange, if it is so.
    pub unsupported: Option<&'static str>,
}

impl Step {
    /// The memory that it reads.
    pub fn reads(&self) -> Vec<MemoryId> {
        let accessed = |accesses: &[Option<OperandAccess>]| {
            accesses.iter().flatten().map(|access| MemoryId::Array(access.node)).collect::<Vec<MemoryId>>()
        };
        match self {
            Step::Compute(compute) => compute.kernels.iter().flat_map(|k| accessed(&k.accesses)).collect(),
            Step::Allocate(_) => Vec::new(),
            Step::Exchange(exchange) => exchange.fields.iter().map(|field| field.from).collect(),
            Step::Launch(launch) => launch.memory(),
            Step::Sort(sort) => sort.reads(),
            Step::Duplicate { from: base, .. }
            | Step::Copy { from: base, .. }
            | Step::Move { base, .. }
            | Step::Alias { base, .. }
            | Step::Donate { from: base, .. } => {
                vec![MemoryId::Array(*base)]
            }
        }
    }

    /// The memory that it writes, or that is there afterwards.
    pub fn results(&self) -> Vec<MemoryId> {
        match self {
            Step::Compute(Compute { results, kernels }) => {
                let folds = kernels.iter().flat_map(|kernel| &kernel.folds);
                let folded = folds.flat_map(|folds| folds.memory.iter().flatten().flatten().copied());
                results.iter().map(|result| MemoryId::Array(result.node)).chain(folded).collect()
            }
            Step::Allocate(StoredArray { node, .. })
            | Step::Duplicate { to: node, .. }
            | Step::Copy { to: node, .. }
            | Step::Donate { to: node, .. }
            | Step::Move { result: node, .. }
            | Step::Alias { result: node, .. } => vec![MemoryId::Array(*node)],
            Step::Exchange(exchange) => exchange.fields.iter().map(|field| field.to).collect(),
            // Which of them it reads, its kernel says.
            Step::Launch(launch) => launch.memory(),
            Step::Sort(sort) => sort.results(),
        }
    }
}

impl KernelLaunch {
    /// The memory of its operands and results.
    fn memory(&self) -> Vec<MemoryId> {
        let mut memory = Vec::new();
        for operand in &self.operands {
            memory.extend(operand.memory());
            if let LaunchOperand::Numbered { fetched, .. } = operand {
                memory.extend(*fetched);
            }
        }
        let named = self.launches.iter().flat_map(|launch| &launch.memory);
        memory.extend(named.map(|cells| cells.memory));
        memory
    }
}
