//! Nodes: recorded or computed values.
//!
//! A node's value never changes. Assignment makes a new node and swaps it into the handle, so an expression
//! recorded earlier still sees the value it was recorded with.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use partita_kernels::{DType, Scalar};

use crate::array::memory::step_numbers::StepNumbers;
use crate::array::memory::storage::Storage;
use crate::array::record::expr::{Pointwise, Reduction, Which, weight_of};
use crate::array::record::map::Map;
use crate::error::{Error, Result};
use crate::index::{Along, Distribution, Index, ProcessGrid, Region};
use crate::team::Team;

/// How a value is to be computed. Operands of `Apply` broadcast: dimensions align at the end, and an
/// extent of 1 stretches.
#[derive(Debug)]
pub(crate) enum Expr {
    /// One value everywhere.
    Fill(Scalar),
    /// The element's own global coordinate in a dimension.
    Coord(usize),
    /// A number of the current step of a `Loop`.
    Number(Arc<StepNumbers>, usize),
    /// One result per point.
    Apply(Pointwise, Operands),
    /// The base's elements where the map says. Beyond the edge of a periodic dimension it wraps.
    View { base: Arc<Node>, map: Arc<Map> },
    /// Folds the marked dimensions away; they stay with extent 1.
    Reduce { operand: Arc<Node>, reduction: Reduction, axes: Vec<usize> },
    /// Boxes that share no element and together are all of it.
    Joined(Vec<Portion>),
    /// The base's elements in C order.
    Listed { base: Arc<Node>, which: Which },
    /// The same, in the base's memory: every part holds them in the order in which it holds the base's.
    Reshaped { base: Arc<Node> },
    /// The elements of an array of another team.
    Moved { base: Arc<Node> },
}

/// A box of a value: the elements from `start` on are another value's.
#[derive(Clone, Debug)]
pub(crate) struct Portion {
    pub start: Index,
    pub value: Arc<Node>,
}

/// One to three operands.
#[derive(Debug)]
pub(crate) enum Operands {
    One([Arc<Node>; 1]),
    Two([Arc<Node>; 2]),
    Three([Arc<Node>; 3]),
}

impl Operands {
    pub fn as_slice(&self) -> &[Arc<Node>] {
        match self {
            Operands::One(nodes) => nodes,
            Operands::Two(nodes) => nodes,
            Operands::Three(nodes) => nodes,
        }
    }
}

impl Expr {
    /// Calls `f` with every operand, until one gives something.
    fn find_operand<T>(&self, mut f: impl FnMut(&Arc<Node>) -> Option<T>) -> Option<T> {
        match self {
            Expr::Fill(_) | Expr::Coord(_) | Expr::Number(..) => None,
            Expr::Apply(_, operands) => operands.as_slice().iter().find_map(f),
            Expr::View { base: node, .. }
            | Expr::Reduce { operand: node, .. }
            | Expr::Listed { base: node, .. }
            | Expr::Reshaped { base: node }
            | Expr::Moved { base: node } => f(node),
            Expr::Joined(portions) => portions.iter().find_map(|portion| f(&portion.value)),
        }
    }

    fn each_operand(&self, mut f: impl FnMut(&Arc<Node>)) {
        self.find_operand(|node| {
            f(node);
            None::<()>
        });
    }

    /// The error of the first operand that carries one.
    fn error(&self) -> Option<Error> {
        self.find_operand(|node| node.error())
    }

    /// The teams but `own` that hold operands, directly or further below.
    fn sources(&self, own: &Team) -> Vec<Team> {
        let mut sources = Vec::new();
        self.each_operand(|node| {
            let is_moved = matches!(self, Expr::Moved { .. });
            for team in is_moved.then_some(&node.team).into_iter().chain(&node.sources) {
                if team != own && !sources.contains(team) {
                    sources.push(team.clone());
                }
            }
        });
        sources
    }
}

/// Which part owns which element of a value that is not computed yet.
#[derive(Clone, Debug)]
pub(crate) enum NodeLayout {
    /// Any will do: constants.
    Free,
    /// This one.
    Known(Arc<Distribution>),
    /// That of another node, as seen through a map: every element where its cell is.
    ViewOf(Arc<Node>, Arc<Map>),
}

#[derive(Debug)]
pub(crate) enum NodeState {
    Lazy { expr: Expr, layout: NodeLayout },
    Ready(Arc<Storage>),
    Failed(Error),
}

/// A value: shape, type, team, and either how to compute it or where it is.
#[derive(Debug)]
pub(crate) struct Node {
    pub shape: Index,
    pub dtype: DType,
    pub team: Team,
    /// The other teams whose devices computing it may use.
    sources: Vec<Team>,
    state: Mutex<NodeState>,
    /// Whether it was made to carry an error, so that recording with it takes no lock.
    is_failed: bool,
    depth: AtomicU32,
    work: AtomicU32,
}

/// What is recorded below a node and not computed yet, the node included. It counts from when the node was
/// recorded, so it may be too large, never too small.
#[derive(Clone, Copy, Default)]
pub(crate) struct RecordedCost {
    /// The longest chain of nodes, one computed from the other.
    pub depth: u32,
    /// Instructions per element if every value is computed for each of its readers.
    pub work: u32,
}

impl RecordedCost {
    fn of(expr: &Expr) -> RecordedCost {
        if matches!(expr, Expr::Fill(_) | Expr::Number(..)) {
            return RecordedCost::default();
        }
        let mut below = RecordedCost::default();
        expr.each_operand(|node| below = below.with(node.recorded()));
        RecordedCost { depth: below.depth.saturating_add(1), work: below.work.saturating_add(weight(expr)) }
    }

    fn with(self, other: RecordedCost) -> RecordedCost {
        RecordedCost { depth: self.depth.max(other.depth), work: self.work.saturating_add(other.work) }
    }
}

/// About how many instructions an expression takes per element, without its operands.
fn weight(expr: &Expr) -> u32 {
    match expr {
        Expr::Apply(op, _) => weight_of(*op),
        Expr::Coord(_) => 1,
        Expr::Fill(_) | Expr::Number(..) | Expr::View { .. } | Expr::Reduce { .. } => 0,
        Expr::Joined(_) | Expr::Listed { .. } | Expr::Reshaped { .. } | Expr::Moved { .. } => 0,
    }
}

impl Node {
    /// A value to be computed; it carries the error of the first operand that has one.
    pub fn lazy(shape: Index, dtype: DType, team: &Team, expr: Expr, layout: NodeLayout) -> Arc<Node> {
        match expr.error() {
            None => {
                let (recorded, sources) = (RecordedCost::of(&expr), expr.sources(team));
                Node::new((shape, dtype, team, sources), NodeState::Lazy { expr, layout }, recorded)
            }
            Some(error) => {
                let failed = NodeState::Failed(error);
                Node::new((shape, dtype, team, Vec::new()), failed, RecordedCost::default())
            }
        }
    }

    fn new(
        (shape, dtype, team, sources): (Index, DType, &Team, Vec<Team>),
        state: NodeState,
        recorded: RecordedCost,
    ) -> Arc<Node> {
        let RecordedCost { depth, work } = recorded;
        let (depth, work) = (AtomicU32::new(depth), AtomicU32::new(work));
        let is_failed = matches!(state, NodeState::Failed(_));
        let (team, state) = (team.clone(), Mutex::new(state));
        Arc::new(Node { shape, dtype, team, sources, state, is_failed, depth, work })
    }

    pub fn ready(dtype: DType, team: &Team, storage: Storage) -> Arc<Node> {
        Node::shared(dtype, team, Arc::new(storage))
    }

    /// A computed value whose memory others may hold too.
    pub fn shared(dtype: DType, team: &Team, storage: Arc<Storage>) -> Arc<Node> {
        let shape = storage.declared.shape();
        Node::new((shape, dtype, team, Vec::new()), NodeState::Ready(storage), RecordedCost::default())
    }

    /// A value that carries an error, of the shape of another one.
    pub fn failed(like: &Node, dtype: DType, error: Error) -> Arc<Node> {
        let of = (like.shape, dtype, &like.team, Vec::new());
        Node::new(of, NodeState::Failed(error), RecordedCost::default())
    }

    pub fn recorded(&self) -> RecordedCost {
        RecordedCost { depth: self.depth.load(Ordering::Relaxed), work: self.work.load(Ordering::Relaxed) }
    }

    fn record(&self, RecordedCost { depth, work }: RecordedCost) {
        self.depth.store(depth, Ordering::Relaxed);
        self.work.store(work, Ordering::Relaxed);
    }

    /// Counts again, from its operands' counts.
    pub fn recount(&self) {
        let recorded = match &*self.state() {
            NodeState::Lazy { expr, .. } => RecordedCost::of(expr),
            NodeState::Ready(_) | NodeState::Failed(_) => RecordedCost::default(),
        };
        self.record(recorded);
    }

    pub fn state(&self) -> MutexGuard<'_, NodeState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn set_ready(&self, storage: Arc<Storage>) {
        // The old state may hold the last reference to a long chain: drop it outside the lock.
        let old = std::mem::replace(&mut *self.state(), NodeState::Ready(storage));
        self.record(RecordedCost::default());
        drop_iteratively(old);
    }

    /// What was a number of a `Loop`'s step, and is not computed yet, stays the number that it was.
    pub fn become_number(&self, number: Scalar) {
        if let NodeState::Lazy { expr: expr @ Expr::Number(..), .. } = &mut *self.state() {
            *expr = Expr::Fill(number);
        }
    }

    pub fn storage(&self) -> Option<Arc<Storage>> {
        match &*self.state() {
            NodeState::Ready(storage) => Some(Arc::clone(storage)),
            NodeState::Lazy { .. } | NodeState::Failed(_) => None,
        }
    }

    pub fn error(&self) -> Option<Error> {
        if !self.is_failed {
            return None;
        }
        match &*self.state() {
            NodeState::Failed(error) => Some(error.clone()),
            NodeState::Lazy { .. } | NodeState::Ready(_) => None,
        }
    }

    /// What a view that is not computed yet is a view of, through all views in between, and where its
    /// elements are in that.
    pub fn seen(self: &Arc<Node>) -> Option<(Arc<Node>, Map)> {
        let (mut node, mut map) = (Arc::clone(self), Map::identity(self.rank()));
        loop {
            let (base, view) = match &*node.state() {
                NodeState::Lazy { expr: Expr::View { base, map: view }, .. }
                    if !map.leaves(&self.shape, view, &node.shape, &base.shape) =>
                {
                    (Arc::clone(base), map.through(view))
                }
                NodeState::Lazy { .. } | NodeState::Ready(_) | NodeState::Failed(_) => break,
            };
            (node, map) = (base, view);
        }
        (!Arc::ptr_eq(&node, self)).then_some((node, map))
    }

    pub fn rank(&self) -> usize {
        self.shape.rank()
    }

    /// The teams whose devices computing it may use.
    pub fn teams(&self) -> impl Iterator<Item = &Team> + Clone {
        std::iter::once(&self.team).chain(&self.sources)
    }

    /// The value as an operand beside `like`: itself if both are on one team, otherwise a value of the team
    /// of `like`, distributed as that if the shapes are equal.
    ///
    /// # Errors
    /// Teams over different ranks.
    pub fn beside(self: &Arc<Node>, operation: &'static str, like: &Node) -> Result<Arc<Node>> {
        if self.team == like.team {
            return Ok(Arc::clone(self));
        }
        if self.team.wire() != like.team.wire() {
            let given = format!("operands on {} and on {}", like.team, self.team);
            let remedy = "make both teams with Team::world, or one of members of the other";
            return Err(Error::invalid(operation, "operands on teams over the same ranks", given, remedy));
        }
        if let NodeState::Lazy { expr: Expr::Fill(value), .. } = &*self.state() {
            let fill = Expr::Fill(*value);
            return Ok(Node::lazy(self.shape, self.dtype, &like.team, fill, NodeLayout::Free));
        }
        let base = match self.rank() {
            // A value without dimensions is on one part; several parts need a dimension.
            0 => {
                let map = Arc::new(Map::from_fn(0, |_| Along::Pinned(0)));
                let layout = NodeLayout::ViewOf(Arc::clone(self), Arc::clone(&map));
                let expr = Expr::View { base: Arc::clone(self), map };
                Node::lazy(Index::filled(1, 1), self.dtype, &self.team, expr, layout)
            }
            _ => Arc::clone(self),
        };
        let layout = if base.shape == like.shape { like.layout() } else { NodeLayout::Free };
        Ok(Node::lazy(base.shape, base.dtype, &like.team, Expr::Moved { base }, layout))
    }

    /// The layout to record in a node computed from this one point by point.
    pub fn layout(&self) -> NodeLayout {
        match &*self.state() {
            NodeState::Lazy { layout, .. } => layout.clone(),
            NodeState::Ready(storage) => NodeLayout::Known(Arc::clone(&storage.declared)),
            NodeState::Failed(_) => NodeLayout::Free,
        }
    }

    /// How memory for another value of this array is best laid out: as its own memory, with the halos that
    /// reads have needed so far.
    pub fn memory_layout(&self) -> Result<Arc<Distribution>> {
        self.storage().map_or_else(|| self.distribution(), |storage| Ok(Arc::clone(&storage.dist)))
    }

    /// The distribution the value has or will have.
    pub fn distribution(&self) -> Result<Arc<Distribution>> {
        let mut views = Vec::new();
        let (mut layout, mut shape) = (self.layout(), self.shape);
        let dist = loop {
            match layout {
                NodeLayout::Known(dist) => break dist,
                NodeLayout::Free => break balanced(self.team.size(), &shape)?,
                NodeLayout::ViewOf(base, map) => {
                    views.push((shape, base.shape, map));
                    (layout, shape) = (base.layout(), base.shape);
                }
            }
        };
        viewed(dist, views)
    }
}

/// The distribution of a value that any distribution suits.
pub(crate) fn balanced(parts: usize, shape: &Index) -> Result<Arc<Distribution>> {
    let grid = ProcessGrid::balanced(parts, shape)?;
    Ok(Arc::new(Distribution::builder(shape).grid(grid.shape()).build()?))
}

/// A distribution as seen through views, the outermost first: shape, shape of the base, and map of each.
pub(crate) fn viewed(
    mut dist: Arc<Distribution>,
    views: Vec<(Index, Index, Arc<Map>)>,
) -> Result<Arc<Distribution>> {
    for (shape, base, map) in views.into_iter().rev() {
        dist = match map.as_window(shape.rank()) {
            Some(_) if base == shape => dist,
            Some(start) => Arc::new(dist.restricted(&Region::from_shape(&shape)?.shift(&start)?)?),
            None => Arc::new(dist.viewed(&shape, map.axes())?),
        };
    }
    Ok(dist)
}

/// A chain of a million nodes must not overflow the stack when it is dropped.
impl Drop for Node {
    fn drop(&mut self) {
        if let Some(state) = self.take_operands() {
            drop_iteratively(state);
        }
    }
}

impl Node {
    /// Takes out of a node that nobody else can see what holds on to other nodes.
    fn take_operands(&mut self) -> Option<NodeState> {
        /// Holds on to nothing.
        const HOLLOW: NodeState = NodeState::Lazy { expr: Expr::Coord(0), layout: NodeLayout::Free };
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        match state {
            NodeState::Lazy {
                expr: Expr::Fill(_) | Expr::Coord(_) | Expr::Number(..),
                layout: NodeLayout::Free | NodeLayout::Known(_),
            } => None,
            NodeState::Lazy { .. } => Some(std::mem::replace(state, HOLLOW)),
            NodeState::Ready(_) | NodeState::Failed(_) => None,
        }
    }
}

/// Drops an expression and the nodes that only it holds on to. A chain needs no memory for that, only what
/// branches does.
fn drop_iteratively(state: NodeState) {
    let (mut next, mut pending) = (Some(state), Vec::new());
    while let Some(state) = next.take().or_else(|| pending.pop()) {
        let NodeState::Lazy { expr, layout } = state else { continue };
        let mut release = |mut node: Arc<Node>| {
            let Some(state) = Arc::get_mut(&mut node).and_then(Node::take_operands) else { return };
            if let Some(waiting) = next.replace(state) {
                pending.push(waiting);
            }
        };
        match expr {
            Expr::Fill(_) | Expr::Coord(_) | Expr::Number(..) => {}
            Expr::Apply(_, Operands::One(nodes)) => nodes.into_iter().for_each(&mut release),
            Expr::Apply(_, Operands::Two(nodes)) => nodes.into_iter().for_each(&mut release),
            Expr::Apply(_, Operands::Three(nodes)) => nodes.into_iter().for_each(&mut release),
            Expr::View { base, .. } => release(base),
            Expr::Reduce { operand, .. } => release(operand),
            Expr::Joined(portions) => portions.into_iter().for_each(|portion| release(portion.value)),
            Expr::Listed { base, .. } | Expr::Reshaped { base } | Expr::Moved { base } => release(base),
        }
        if let NodeLayout::ViewOf(node, _) = layout {
            release(node);
        }
    }
}
