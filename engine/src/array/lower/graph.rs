//! [`Graph`]: recorded expressions as plain data, the input of lowering and the key of the cache. One walk
//! from the targets makes it, numbers the nodes in the order in which it meets them, and notes the memory
//! that the computed ones stand for.
//!
//! Invariants: every value has a dimension, those without are lines of one cell; a graph contains everything
//! that lowering reads of nodes, memory and targets. Graphs of equal programs are equal on all ranks.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use partita_kernels::{DType, Scalar};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use crate::array::memory::storage::{HaloWidths, Pitch, Storage};
use crate::array::record::expr::{DistKey, Expr, Map, NodeLayout, Portion, Slot, UpdatedCells, WholeOp};
use crate::array::record::node::{Node, NodeState, distribution};
use crate::error::Result;
use crate::index::{Along, Distribution, Index, Region};
use crate::team::Team;

/// So many nodes are computed again by the way.
const MOST_REPEATED: usize = 32;
/// The shortest chain whose end is then kept, and the most ends.
const LEAST_CHAIN: u32 = 16;
const MOST_ENDS: usize = 4;

/// The longest list of positions in a graph that is cached.
const MOST_POSITIONS: usize = 512;

/// A node of a graph.
pub(crate) type NodeId = u32;

/// The expression of a node of a graph. Plain numbers are not part of it.
pub(crate) type GraphExpr = Expr<NodeId, Slot>;

#[derive(Clone, Default, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Graph {
    pub nodes: Vec<GraphNode>,
    pub targets: Vec<GraphTarget>,
    /// Members of the team, the same for every graph of a team.
    pub parts: usize,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct GraphNode {
    pub shape: Index,
    pub dtype: DType,
    pub value: GraphValue,
}

/// The expression of a value, or its memory. The base of [`Expr::Moved`] is memory: it is evaluated before.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum GraphValue {
    Lazy(GraphExpr, NodeLayout<NodeId>),
    Memory(MemoryState),
}

/// The layout of a computed value's memory, its own distribution, and the valid widths of its halo.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct MemoryState {
    pub dist: DistKey,
    pub declared: DistKey,
    pub pitch: Pitch,
    pub valid: HaloWidths,
}

/// A node to compute.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct GraphTarget {
    pub node: NodeId,
    /// Of an update.
    pub old: OldElements,
}

/// Who needs the elements of the array that an update is an update of.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum OldElements {
    /// Other values, or other owners of the memory.
    Kept,
    /// Nobody once the new elements are computed.
    UntilComputed,
    /// Nobody, the new elements neither.
    Unneeded,
}

/// An update to be lowered.
#[derive(Clone)]
pub(crate) struct Update {
    pub node: NodeId,
    pub base: NodeId,
    pub value: NodeId,
    pub cells: UpdatedCells,
    pub old: OldElements,
}

impl MemoryState {
    fn of(storage: &Storage) -> MemoryState {
        // Without dimensions it is the line that its memory is.
        let declared = if storage.declared.rank() == 0 { &storage.dist } else { &storage.declared };
        let [dist, declared] = [&storage.dist, declared].map(|dist| DistKey(Arc::clone(dist)));
        MemoryState { dist, declared, pitch: storage.pitch, valid: storage.valid_halo() }
    }
}

impl Graph {
    /// Appends a node.
    pub fn push(
        &mut self,
        shape: Index,
        dtype: DType,
        expr: GraphExpr,
        layout: NodeLayout<NodeId>,
    ) -> NodeId {
        self.nodes.push(GraphNode { shape, dtype, value: GraphValue::Lazy(expr, layout) });
        (self.nodes.len() - 1) as NodeId
    }

    /// Whether a list says which elements it takes.
    pub fn has_positions(&self) -> bool {
        let listed = |node: &GraphNode| match &node.value {
            GraphValue::Lazy(expr, _) => expr.positions().is_some(),
            GraphValue::Memory(_) => false,
        };
        self.nodes.iter().any(listed)
    }

    pub fn shape(&self, node: NodeId) -> &Index {
        &self.nodes[node as usize].shape
    }

    pub fn rank(&self, node: NodeId) -> usize {
        self.shape(node).rank()
    }

    pub fn dtype(&self, node: NodeId) -> DType {
        self.nodes[node as usize].dtype
    }

    /// The expression of a node; `None` if it is computed.
    pub fn expr(&self, node: NodeId) -> Option<&GraphExpr> {
        match &self.nodes[node as usize].value {
            GraphValue::Lazy(expr, _) => Some(expr),
            GraphValue::Memory(_) => None,
        }
    }

    /// The memory of a computed node.
    pub fn memory_state(&self, node: NodeId) -> Option<&MemoryState> {
        match &self.nodes[node as usize].value {
            GraphValue::Lazy(..) => None,
            GraphValue::Memory(state) => Some(state),
        }
    }

    pub fn bytes(&self, node: NodeId) -> Result<u64> {
        Ok(Region::from_shape(self.shape(node))?.volume()? as u64 * self.dtype(node).size_bytes() as u64)
    }

    /// The layout of a computed node's memory.
    pub fn memory(&self, node: NodeId) -> Option<&Arc<Distribution>> {
        self.memory_state(node).map(|state| &*state.dist)
    }

    pub fn is_memory(&self, node: NodeId) -> bool {
        self.memory_state(node).is_some()
    }

    /// The node is computed from here on.
    pub fn set_memory(
        &mut self,
        node: NodeId,
        (dist, declared): (&Arc<Distribution>, &Arc<Distribution>),
        pitch: Pitch,
        valid: HaloWidths,
    ) {
        let [dist, declared] = [dist, declared].map(|dist| DistKey(Arc::clone(dist)));
        self.nodes[node as usize].value = GraphValue::Memory(MemoryState { dist, declared, pitch, valid });
    }

    /// The node becomes another name of `base`.
    pub fn set_alias(&mut self, node: NodeId, base: NodeId) {
        let (layout, map) = (self.layout(node), Arc::new(Map::identity(self.rank(node))));
        self.nodes[node as usize].value = GraphValue::Lazy(Expr::View { base, map }, layout);
    }

    /// A node as an update, if it is one that is not computed yet.
    pub fn update(&self, node: NodeId, old: OldElements) -> Option<Update> {
        match self.expr(node)? {
            Expr::Whole(WholeOp::Update(cells), operands) => {
                Some(Update { node, base: operands[0], value: operands[1], cells: cells.clone(), old })
            }
            _ => None,
        }
    }

    /// The nodes that a node is computed from.
    pub fn operands(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
        self.expr(node).into_iter().flat_map(|expr| expr.operands().copied())
    }

    /// Whether it is a pointwise operation that is not computed yet.
    pub fn is_operation(&self, node: NodeId) -> bool {
        matches!(self.expr(node), Some(Expr::Apply(..)))
    }

    /// Whether it is a reduction that is not computed yet.
    pub fn is_reduction(&self, node: NodeId) -> bool {
        matches!(self.expr(node), Some(Expr::Reduce { .. }))
    }

    /// Whether it is computed by steps of its own, which never share a kernel with others, and is not yet.
    pub fn is_apart(&self, node: NodeId) -> bool {
        match self.expr(node) {
            None | Some(Expr::Fill(_) | Expr::Constant(_) | Expr::Coord(_) | Expr::Number(..)) => false,
            Some(Expr::Apply(..) | Expr::View { .. } | Expr::Reshaped { .. } | Expr::Reduce { .. }) => false,
            Some(Expr::Joined(_) | Expr::Moved { .. } | Expr::Whole(..)) => true,
        }
    }

    /// About how many instructions it takes per element, without its operands.
    pub fn weight(&self, node: NodeId) -> u32 {
        self.expr(node).map_or(0, Expr::weight)
    }

    pub fn layout(&self, node: NodeId) -> NodeLayout<NodeId> {
        match &self.nodes[node as usize].value {
            GraphValue::Lazy(_, layout) => layout.clone(),
            GraphValue::Memory(state) => NodeLayout::Known(state.declared.clone()),
        }
    }

    /// The distribution that the node's value has or will have.
    pub fn distribution(&self, node: NodeId) -> Result<Arc<Distribution>> {
        let of = |&node: &NodeId| (self.layout(node), *self.shape(node));
        distribution(self.parts, of(&node), of)
    }

    /// Everything below some nodes, without what is reached through `without` alone.
    pub fn reached(&self, roots: impl IntoIterator<Item = NodeId>, without: Option<NodeId>) -> Reached {
        let all = post_order(roots, without, |node| self.operands(node).collect());
        let (memory, lazy): (Vec<NodeId>, _) = all.into_iter().partition(|&node| self.is_memory(node));
        Reached { lazy, memory: memory.into_iter().collect() }
    }

    /// Whether a view of shape `shape` is a window of a node that is no box in its memory: along unordered
    /// lists. Windows that wrap around never are; other views than windows are gathered by their kernels.
    pub fn is_scattered(&self, base: NodeId, shape: &Index, view: &Map) -> Result<bool> {
        let Some(start) = view.as_window(shape.rank()) else { return Ok(false) };
        let dist = self.distribution(base)?;
        if dist.is_block() {
            return Ok(false);
        }
        let window = Region::from_shape(shape)?.shift(&start)?;
        Ok(dist.global().contains_region(&window) && !dist.is_box(&window))
    }

    /// The cells of a joined value that one of its boxes is.
    pub fn box_region(&self, portion: &Portion<NodeId>) -> Result<Region> {
        Ok(Region::from_shape(self.shape(portion.value))?.shift(&portion.start)?)
    }

    /// A view of shape `shape` of a joined value as a view of one of its boxes, if it lies within that.
    pub fn view_within_box(&self, base: NodeId, shape: &Index, view: &Map) -> Option<(NodeId, Map)> {
        let Some(Expr::Joined(boxes)) = self.expr(base) else { return None };
        if shape.contains(&0) {
            return None;
        }
        let cells = Region::from_fn(self.rank(base), |d| match view.axes()[d] {
            Along::Pinned(at) => (at, at + 1),
            Along::Dim { dim, .. } => view.axes()[d].span(0, shape[dim]),
        });
        let contains = |portion: &&Portion<NodeId>| {
            self.box_region(portion).is_ok_and(|region| region.contains_region(&cells))
        };
        let Portion { start, value } = boxes.iter().find(contains)?;
        let along = |d: usize| match view.axes()[d] {
            Along::Pinned(at) => Along::Pinned(at - start[d]),
            Along::Dim { dim, offset, step } => Along::Dim { dim, offset: offset - start[d], step },
        };
        Some((*value, Map::from_fn(view.axes().len(), along)))
    }
}

/// The nodes reached from some nodes over their operands, without `without`: operands, the first ones first,
/// before those that use them.
pub(crate) fn post_order(
    roots: impl IntoIterator<Item = NodeId>,
    without: Option<NodeId>,
    operands: impl Fn(NodeId) -> Vec<NodeId>,
) -> Vec<NodeId> {
    let mut order = Vec::new();
    let mut seen: FxHashSet<NodeId> = without.into_iter().collect();
    // A node is met a second time after all its operands.
    let mut pending: Vec<(NodeId, bool)> = roots.into_iter().map(|root| (root, false)).collect();
    pending.reverse();
    while let Some((node, again)) = pending.pop() {
        if again {
            order.push(node);
        } else if seen.insert(node) {
            pending.push((node, true));
            pending.extend(operands(node).into_iter().rev().map(|operand| (operand, false)));
        }
    }
    order
}

/// The nodes of an expression.
pub(crate) struct Reached {
    /// The nodes that are not computed yet, operands before those that use them.
    pub lazy: Vec<NodeId>,
    /// The computed ones.
    pub memory: FxHashSet<NodeId>,
}

/// A result to compute.
pub(crate) struct Target {
    pub node: Arc<Node>,
    pub old: OldElements,
}

impl Target {
    pub fn fresh(node: &Arc<Node>) -> Target {
        Target { node: Arc::clone(node), old: OldElements::Kept }
    }
}

/// A graph and what its nodes stand for.
pub(crate) struct RecordedGraph {
    pub graph: Graph,
    /// By the nodes' numbers.
    pub nodes: Vec<Arc<Node>>,
    /// The computed nodes in the order in which they were met.
    pub memory: Vec<(NodeId, Arc<Storage>)>,
    /// The plain numbers, by their slots: one for each node that is one, also where they are equal.
    pub numbers: Vec<Scalar>,
    /// Whether an evaluation of this graph can be kept for the next one that is equal: not with elements by
    /// their numbers, or numbers of a `Loop`'s step.
    pub is_cacheable: bool,
    /// The number of nodes that were computed before as intermediate values.
    repeats: usize,
    /// The bases of moves, mostly of other teams, that are not computed yet: they are evaluated before.
    pub pending: Vec<Arc<Node>>,
}

/// The map of a view of or as a value without dimensions. The cell of a line of one cell is the line.
fn in_line(view: &Node, base: &Node, map: &Arc<Map>) -> Arc<Map> {
    let last = base.rank().saturating_sub(1);
    match view.rank() == 0 && base.shape.last().is_none_or(|&extent| extent == 1) {
        true => Arc::new(map.in_memory().with(last, Along::same(0))),
        false if base.rank() == 0 => Arc::new(map.in_memory()),
        false => Arc::clone(map),
    }
}

/// The numbers of the nodes met so far, and the nodes that were met since they were last taken away.
struct Numbering {
    numbers: FxHashMap<*const Node, NodeId>,
    met: Vec<Arc<Node>>,
}

impl Numbering {
    fn number(&mut self, node: &Arc<Node>) -> NodeId {
        let next = self.numbers.len() as NodeId;
        *self.numbers.entry(Arc::as_ptr(node)).or_insert_with(|| {
            self.met.push(Arc::clone(node));
            next
        })
    }
}

impl RecordedGraph {
    /// Values to be computed beside the targets, because much that leads to them was computed before, by way
    /// of other values: a chain that a program goes on with and never asks for would be computed from its
    /// beginning every time.
    pub fn repeated(&self) -> Vec<Arc<Node>> {
        if self.repeats < MOST_REPEATED {
            return Vec::new();
        }
        let again: Vec<bool> = self.nodes.iter().map(|node| node.is_repeated()).collect();
        let new = self.graph.nodes.iter().zip(&again).filter(|&(_, again)| !again);
        let operands = new.flat_map(|(node, _)| match &node.value {
            GraphValue::Lazy(expr, _) => expr.operands().copied().collect(),
            GraphValue::Memory(_) => Vec::new(),
        });
        // A value that is moved from another team is computed there.
        let is_here = |at: NodeId| matches!(self.graph.nodes[at as usize].value, GraphValue::Lazy(..));
        let is_long = |&at: &NodeId| {
            again[at as usize] && is_here(at) && self.nodes[at as usize].depth() >= LEAST_CHAIN
        };
        let ends: BTreeSet<NodeId> = operands.filter(is_long).collect();
        let cells = |at: &NodeId| self.graph.shape(*at).iter().product::<i64>();
        let most = self.graph.targets.iter().map(|target| 2 * cells(&target.node)).max().unwrap_or(0);
        if ends.len() > MOST_ENDS || ends.iter().any(|at| cells(at) > most) {
            return Vec::new();
        }
        ends.into_iter().map(|at| Arc::clone(&self.nodes[at as usize])).collect()
    }

    /// # Errors
    /// That of a failed node.
    pub fn of(team: &Team, targets: &[Target]) -> Result<RecordedGraph> {
        const USUAL: usize = 28;
        let graph = Graph { nodes: Vec::with_capacity(USUAL), parts: team.size(), ..Graph::default() };
        let numbers = HashMap::with_capacity_and_hasher(USUAL, FxBuildHasher);
        let mut numbering = Numbering { numbers, met: Vec::new() };
        let mut nodes: Vec<Arc<Node>> = Vec::with_capacity(USUAL);
        let (memory, numbers, pending) = (Vec::new(), Vec::new(), Vec::new());
        let mut recorded = RecordedGraph {
            graph,
            nodes: Vec::new(),
            memory,
            numbers,
            is_cacheable: true,
            repeats: 0,
            pending,
        };
        for target in targets {
            let node = numbering.number(&target.node);
            recorded.graph.targets.push(GraphTarget { node, old: target.old });
        }
        // The bases of moves.
        let mut sources: Vec<NodeId> = Vec::new();
        loop {
            nodes.append(&mut numbering.met);
            let Some(node) = nodes.get(recorded.graph.nodes.len()) else { break };
            recorded.repeats += usize::from(node.is_repeated());
            let is_source = sources.contains(&(recorded.graph.nodes.len() as NodeId));
            let value = match is_source && node.storage().is_none() {
                true => recorded.pending(node)?,
                false => recorded.value(node, &mut numbering)?,
            };
            if let GraphValue::Lazy(Expr::Moved { base, .. }, _) = value {
                sources.push(base);
            }
            let shape = if node.rank() == 0 { Index::filled(1, 1) } else { node.shape };
            recorded.graph.nodes.push(GraphNode { shape, dtype: node.dtype, value });
        }
        // Others may need a source of the same team, too, and it may have been met before.
        for source in sources {
            if !recorded.graph.is_memory(source) {
                recorded.graph.nodes[source as usize].value = recorded.pending(&nodes[source as usize])?;
            }
        }
        Ok(RecordedGraph { nodes, ..recorded })
    }

    /// The number of a computed node, which is part of the graph from now on.
    pub fn number(&mut self, node: &Arc<Node>, storage: Arc<Storage>) -> NodeId {
        if let Some(at) = self.nodes.iter().position(|other| Arc::ptr_eq(other, node)) {
            return at as NodeId;
        }
        let (at, value) = (self.nodes.len() as NodeId, GraphValue::Memory(MemoryState::of(&storage)));
        self.graph.nodes.push(GraphNode { shape: node.shape, dtype: node.dtype, value });
        self.nodes.push(Arc::clone(node));
        self.memory.push((at, storage));
        at
    }

    /// A base of a move, as the memory that it will be.
    fn pending(&mut self, node: &Arc<Node>) -> Result<GraphValue> {
        node.error().map_or(Ok(()), Err)?;
        self.pending.push(Arc::clone(node));
        let dist = DistKey(node.distribution()?.in_memory());
        let valid = HaloWidths { corners: false, ..HaloWidths::zero(dist.rank()) };
        let pitch = Pitch::of(node.dtype);
        Ok(GraphValue::Memory(MemoryState { declared: dist.clone(), dist, pitch, valid }))
    }

    fn value(&mut self, node: &Arc<Node>, numbering: &mut Numbering) -> Result<GraphValue> {
        Ok(match &*node.state() {
            NodeState::Failed(error) => return Err(error.clone()),
            NodeState::Ready(storage) => {
                self.memory.push((self.graph.nodes.len() as NodeId, Arc::clone(storage)));
                GraphValue::Memory(MemoryState::of(storage))
            }
            NodeState::Lazy { expr, layout } => {
                // Long lists are compared no faster than they are lowered.
                let is_long = expr.positions().is_some_and(|positions| positions.len() > MOST_POSITIONS);
                self.is_cacheable &= !is_long && !matches!(expr, Expr::Number(..));
                let layout = match layout {
                    NodeLayout::Free => NodeLayout::Free,
                    NodeLayout::Known(dist) => NodeLayout::Known(DistKey(dist.in_memory())),
                    NodeLayout::ViewOf(base, map) => {
                        NodeLayout::ViewOf(numbering.number(base), in_line(node, base, map))
                    }
                };
                let slot = |number: &Scalar| {
                    self.numbers.push(*number);
                    (self.numbers.len() - 1) as Slot
                };
                let expr = match expr {
                    Expr::View { base, map } => {
                        Expr::View { base: numbering.number(base), map: in_line(node, base, map) }
                    }
                    expr => expr.map(|operand| numbering.number(operand), slot),
                };
                GraphValue::Lazy(expr, layout)
            }
        })
    }
}
