//! [`Step`]: a part of an evaluation as plain data. Steps name memory by numbers ([`MemoryId`]), know layouts
//! and kernels, and have neither memory nor devices; they are equal on all ranks.
//!
//! Lowering makes a [`StepList`], `bind` gives its steps memory, `run` executes them in order, `explain`
//! prints them, and the cache keeps them.

use std::ops::Range;
use std::sync::Arc;

use partita_kernels::{DType, Scalar, Verified};

use crate::array::lower::body::Leaf;
use crate::array::lower::graph::NodeId;
use crate::array::lower::steps::window::WindowIndices;
use crate::array::memory::index_lists::IndexList;
use crate::array::memory::step_numbers::StepNumbers;
use crate::array::memory::storage::{HaloWidths, Pitch, moving_plan};
use crate::array::memory::window::{ArrayWindow, RegionBox};
use crate::array::record::expr::{AxisSort, Slot, StridedWindow};
use crate::error::Result;
use crate::index::{Distribution, Index, Region};
use crate::plan::Plan;
use crate::team::Team;

/// A step of an evaluation.
pub(crate) enum Step {
    /// Memory for an array.
    Allocate(StoredArray),
    /// Elements travel by plans within the team; launches follow.
    Exchange(PlanExchange),
    /// One kernel, whose operands are on their devices.
    Launch(KernelLaunch),
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
    /// Those that it owns.
    Owned,
    /// Those that it owns and what is current of the halo, which is current in the target, too.
    Current,
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

/// Temporary memory: boxes of cells of parts, in C order; none is empty.
pub(crate) struct Boxes {
    pub dtype: DType,
    pub cells: Vec<(usize, Region)>,
}

/// Steps in order, and the temporary memory that they name.
#[derive(Default)]
pub(crate) struct StepList {
    pub steps: Vec<Step>,
    pub boxes: Vec<Boxes>,
    /// During lowering a team between ranks, of which only this rank's launches and boxes are listed.
    pub own_of: Option<Team>,
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

/// The transfers of one exchange, and the launches that follow: of these the *core*, which needs nothing of
/// what travels, may run meanwhile.
pub(crate) struct PlanExchange {
    pub fields: Vec<ExchangeField>,
    pub launches: Vec<KernelLaunch>,
}

/// The elements of one array that travel.
pub(crate) struct ExchangeField {
    /// As errors and traces call the exchange.
    pub operation: &'static str,
    /// As `explain` calls the elements.
    pub what: &'static str,
    pub plan: Arc<Plan>,
    pub from: MemoryId,
    pub to: MemoryId,
    pub dtype: DType,
    /// That of the array.
    pub shape: Index,
    /// The widths of the array's halo that are current afterwards, if it is its halo that travels.
    pub halo: Option<HaloWidths>,
}

impl PlanExchange {
    /// As errors and traces call it.
    pub fn operation(&self) -> &'static str {
        let first = self.fields.first().map_or("", |field| field.operation);
        match self.fields.iter().all(|field| field.operation == first) {
            true => first,
            false => "exchange of operands",
        }
    }
}

/// A kernel, its operands and results in the order of its parameters, and what each part computes of it.
pub(crate) struct KernelLaunch {
    pub kernel: Verified,
    /// The array that is computed, for people.
    pub layout: Arc<Distribution>,
    pub operands: Vec<LaunchOperand>,
    /// In order; a part may have several, or none. Between ranks those of this rank, but for `explain`.
    pub launches: Vec<PartLaunch>,
    /// The expression that it was made of, if it was made of one.
    pub fused: Option<Box<FusedKernel>>,
}

/// The expression of a fused kernel, as `explain`, ranks that compare what they compute, and the analysis of
/// a `Loop`'s step need it.
pub(crate) struct FusedKernel {
    pub leaves: Vec<Leaf>,
    /// The dimensions along which the kernel needs coordinates.
    pub placed: Vec<bool>,
    /// The memory of what it computes. None if others compute parts of the same result.
    pub results: Vec<ResultMemory>,
    /// How far beyond what parts own the results are computed.
    pub grow: HaloWidths,
    /// The arguments that are plain numbers of the recorded program, and which of them.
    pub numbers: Arc<[(usize, Slot)]>,
    /// Whether it folds: then a part computes everything by one launch.
    pub is_fold: bool,
    pub read_bytes: u64,
    pub written_bytes: u64,
    /// Of operands that are blocks, the smallest box around the cells that each part reads; for `explain`.
    pub reads: Vec<(NodeId, Vec<Region>)>,
    /// The hash of the kernel, of its arguments and of what is folded; between ranks.
    pub hash: Option<u64>,
}

/// The memory of one result.
#[derive(Clone)]
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

/// One launch of a part.
pub(crate) struct PartLaunch {
    pub part: usize,
    /// The box around all cells that are computed; operands are anchored at its first cell.
    pub region: Region,
    /// The boxes that are computed, if not all of the region is at the coordinates of its owner.
    pub pieces: Vec<RegionBox>,
    /// The cells that need nothing of what travels in the exchange before.
    pub core: Region,
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
        PartLaunch { part: 0, region, pieces: Vec::new(), core: region, arguments, memory: Vec::new() }
    }
}

/// An operand or a result of a kernel. `first` and `positions` have an entry per part.
pub(crate) enum LaunchOperand {
    /// Cells: that of the first point, and the dimensions of the kernel that go along some of memory.
    Cells { memory: MemoryId, first: Vec<Index>, axes: Vec<LaunchAxis> },
    /// Elements as they follow each other in memory, from the one with this number on.
    Line { memory: MemoryId, first: Vec<i64> },
    /// The cells that each launch has at this place of its list; one cell along the folded dimensions.
    OfLaunch { at: usize, folded: Vec<usize> },
    /// Elements by their numbers, from that of a cell on or from the begin of memory. Parts that have one of
    /// the fetched boxes read that instead.
    Numbered { memory: MemoryId, fetched: Option<MemoryId>, from: Option<Index> },
    /// For each point the number, in an operand's memory, of the element at a position in C order.
    Positions { positions: Vec<PositionRange>, of: usize, shape: Index, dtype: DType },
    /// Along a dimension, where the coordinates of a window lie among those that a part holds.
    WindowList { indices: Arc<WindowIndices>, dim: usize },
    /// A list along a dimension of the launch's layout.
    List { list: IndexList, dim: usize },
    /// One of the numbers of a `Loop`'s step.
    StepNumber(Arc<StepNumbers>, usize),
}

/// A dimension of a kernel that goes along one of memory, with its step.
#[derive(Clone, Copy)]
pub(crate) struct LaunchAxis {
    pub dim: usize,
    pub along: usize,
    pub step: i64,
}

impl LaunchAxis {
    /// Each dimension of a kernel along the same one of memory.
    pub fn same(rank: usize) -> Vec<LaunchAxis> {
        (0..rank).map(|dim| LaunchAxis { dim, along: dim, step: 1 }).collect()
    }
}

impl LaunchOperand {
    /// The memory that it is, unless it is a list.
    pub fn memory(&self) -> Option<MemoryId> {
        match self {
            LaunchOperand::Cells { memory, .. }
            | LaunchOperand::Line { memory, .. }
            | LaunchOperand::Numbered { memory, .. } => Some(*memory),
            LaunchOperand::OfLaunch { .. }
            | LaunchOperand::Positions { .. }
            | LaunchOperand::WindowList { .. }
            | LaunchOperand::List { .. }
            | LaunchOperand::StepNumber(..) => None,
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
    /// A plain number of the recorded program.
    Recorded(Slot),
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
        let has = |(part, cells): &(usize, Region)| !cells.is_empty() && self.lists(*part);
        let cells = cells.into_iter().enumerate().filter(has).collect();
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
        let (from, to, operation) = (source.0, target.0, "redistribution");
        let field = ExchangeField { operation, what, plan, from, to, dtype, shape, halo: None };
        self.exchange(vec![field]);
        Ok(())
    }

    /// Has elements travel.
    pub fn exchange(&mut self, fields: Vec<ExchangeField>) {
        self.steps.push(Step::Exchange(PlanExchange { fields, launches: Vec::new() }));
    }

    /// Whether the launches and boxes of a part are listed.
    pub fn lists(&self, part: usize) -> bool {
        self.own_of.as_ref().is_none_or(|team| team.is_here(part))
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
        if parts.iter().any(Option::is_some) {
            let own = parts.into_iter().enumerate().filter(|(part, _)| self.lists(*part));
            let launches = own.filter_map(of_part).collect();
            let layout = Arc::clone(layout);
            self.steps.push(Step::Launch(KernelLaunch { kernel, layout, operands, launches, fused: None }));
        }
    }
}

/// The steps of an evaluation.
pub(crate) struct Lowered {
    pub list: StepList,
    /// The targets of the graph.
    pub results: Vec<NodeId>,
    /// Why a `Loop` cannot have several steps share an exchange, if it is so.
    pub unsupported: Option<&'static str>,
    /// The number of fused kernels with results: a `Loop` may prescribe an [`Extension`] for each.
    ///
    /// [`Extension`]: crate::array::recorder::recording::Extension
    pub extended: usize,
}

impl Step {
    /// The memory that it reads.
    pub fn reads(&self) -> Vec<MemoryId> {
        match self {
            Step::Allocate(_) => Vec::new(),
            Step::Exchange(exchange) => {
                let fields = exchange.fields.iter().map(|field| field.from);
                fields.chain(exchange.launches.iter().flat_map(KernelLaunch::memory)).collect()
            }
            Step::Launch(launch) => launch.memory(),
            Step::Sort(sort) => sort.reads(),
            Step::Copy { from: base, .. }
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
            Step::Allocate(StoredArray { node, .. })
            | Step::Copy { to: node, .. }
            | Step::Donate { to: node, .. }
            | Step::Move { result: node, .. }
            | Step::Alias { result: node, .. } => vec![MemoryId::Array(*node)],
            Step::Exchange(exchange) => {
                let fields = exchange.fields.iter().map(|field| field.to);
                fields.chain(exchange.launches.iter().flat_map(KernelLaunch::memory)).collect()
            }
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
