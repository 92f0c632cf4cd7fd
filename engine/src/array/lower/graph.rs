//! [`Graph`]: recorded expressions as plain data, the input of lowering and the key of the cache. Nodes are
//! numbered in the order in which a walk from the targets meets them; shapes, maps and distributions stand in
//! lists of their own.
//!
//! Invariant: a graph contains everything that lowering reads of nodes, memory and targets, except the
//! contents of index lists and the numbers of a `Loop`'s step; a graph with one of these is not cached.
//! Graphs of equal programs are equal on all ranks.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use partita_kernels::{DType, Scalar};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use crate::array::memory::step_numbers::StepNumbers;
use crate::array::memory::storage::{HaloWidths, Storage};
use crate::array::record::expr::{Pointwise, Reduction, Which, weight_of};
use crate::array::record::map::Map;
use crate::array::record::node::{Expr, Node, NodeLayout, NodeState, Operands, Portion, balanced, viewed};
use crate::error::Result;
use crate::index::{Along, Distribution, Index, Region};
use crate::team::Team;

/// A node of a graph.
pub(crate) type NodeId = u32;

/// A place in one of a graph's lists.
pub(crate) type Position = u32;

#[derive(Clone, Default, Debug)]
pub(crate) struct Graph {
    pub nodes: Vec<GraphNode>,
    pub targets: Vec<GraphTarget>,
    pub indices: Vec<Index>,
    pub maps: Vec<Arc<Map>>,
    pub dists: Vec<Arc<Distribution>>,
    /// Index lists and tables of numbers: no part of the key.
    pub elements: Vec<Which>,
    pub numbers: Vec<Arc<StepNumbers>>,
    /// Members of the team, the same for every graph of a team.
    pub parts: usize,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct GraphNode {
    pub shape: Position,
    pub dtype: DType,
    pub value: GraphValue,
}

/// An [`crate::array::record::node::Expr`], or memory.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum GraphValue {
    Fill(Scalar, GraphLayout),
    Coord(usize, GraphLayout),
    /// A table of the graph, and which number of it.
    Number(Position, usize),
    Apply(Pointwise, [Option<NodeId>; 3], GraphLayout),
    View {
        base: NodeId,
        map: Position,
        layout: GraphLayout,
    },
    Reduce {
        operand: NodeId,
        reduction: Reduction,
        axes: Vec<usize>,
        layout: GraphLayout,
    },
    /// Starts and values.
    Joined(Vec<(Position, NodeId)>, GraphLayout),
    /// Elements of the base, an entry of the graph's lists.
    Listed {
        base: NodeId,
        which: Position,
        layout: GraphLayout,
    },
    Reshaped {
        base: NodeId,
        layout: GraphLayout,
    },
    /// Elements of an array of another team; the base is memory there, whose evaluation comes before.
    Moved {
        base: NodeId,
        layout: GraphLayout,
    },
    Memory(MemoryState),
}

/// How a computed value lies in memory, its own distribution, and how much of its halo is valid.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct MemoryState {
    pub dist: Position,
    pub declared: Position,
    pub lo: Position,
    pub hi: Position,
    pub corners: bool,
}

/// A [`crate::array::record::node::NodeLayout`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum GraphLayout {
    Free,
    Known(Position),
    ViewOf(NodeId, Position),
}

/// What to compute, and which memory the result takes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct GraphTarget {
    pub node: NodeId,
    pub placement: Placement<GraphWindow>,
}

/// Where a result is stored. `W` names a window of an array: a node, or data of a graph.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Placement<W> {
    /// In memory of its own.
    Fresh,
    /// In a window of fresh memory for the whole array.
    WindowOfFresh(W),
    /// In a window of the array's own memory, whose old elements nobody needs, this result neither.
    InPlace(W),
    /// In memory of the size of a window.
    Temporary(W),
}

impl<W> Placement<W> {
    pub fn window(&self) -> Option<&W> {
        match self {
            Placement::Fresh => None,
            Placement::WindowOfFresh(window) | Placement::InPlace(window) | Placement::Temporary(window) => {
                Some(window)
            }
        }
    }

    /// The same with another name of the window.
    pub fn try_map<V>(&self, name: impl FnOnce(&W) -> Result<V>) -> Result<Placement<V>> {
        Ok(match self {
            Placement::Fresh => Placement::Fresh,
            Placement::WindowOfFresh(window) => Placement::WindowOfFresh(name(window)?),
            Placement::InPlace(window) => Placement::InPlace(name(window)?),
            Placement::Temporary(window) => Placement::Temporary(name(window)?),
        })
    }
}

/// A window of an array: its distribution, the layout of its memory, and the window's first cell.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct GraphWindow {
    pub dist: Position,
    pub memory: Position,
    pub start: Position,
}

impl PartialEq for Graph {
    fn eq(&self, other: &Graph) -> bool {
        self.nodes == other.nodes
            && self.targets == other.targets
            && self.indices == other.indices
            && self.maps == other.maps
            && self.dists.len() == other.dists.len()
            && self.dists.iter().zip(&other.dists).all(|(a, b)| is_same(a, b))
    }
}

/// Distributions take no part: few graphs differ in them alone.
impl Hash for Graph {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.nodes.hash(state);
        self.targets.hash(state);
        self.indices.iter().for_each(|index| index.iter().for_each(|&value| state.write_i64(value)));
        self.maps.iter().for_each(|map| map.axes().hash(state));
        state.write_usize(self.dists.len());
    }
}

/// Whether distributions are equal and of the same kinds of maps: a cyclic map of one block per part divides
/// like blocks, but its memory has no halos.
fn is_same(a: &Distribution, b: &Distribution) -> bool {
    let kind = |dist: &Distribution, d: usize| std::mem::discriminant(dist.map(d));
    a == b && (0..a.rank()).all(|d| kind(a, d) == kind(b, d))
}

fn position<T>(list: &mut Vec<T>, known: Option<usize>, item: impl FnOnce() -> T) -> Position {
    known.unwrap_or_else(|| {
        list.push(item());
        list.len() - 1
    }) as Position
}

impl Graph {
    pub fn intern_index(&mut self, index: &Index) -> Position {
        let known = self.indices.iter().rposition(|other| other == index);
        position(&mut self.indices, known, || *index)
    }

    pub fn intern_map(&mut self, map: &Arc<Map>) -> Position {
        let known = self.maps.iter().rposition(|other| other == map);
        position(&mut self.maps, known, || Arc::clone(map))
    }

    pub fn intern_dist(&mut self, dist: &Arc<Distribution>) -> Position {
        let known = self.dists.iter().position(|other| is_same(other, dist));
        position(&mut self.dists, known, || Arc::clone(dist))
    }

    /// Appends a node.
    pub fn push(&mut self, shape: &Index, dtype: DType, value: GraphValue) -> NodeId {
        let shape = self.intern_index(shape);
        self.nodes.push(GraphNode { shape, dtype, value });
        (self.nodes.len() - 1) as NodeId
    }

    pub fn shape(&self, node: NodeId) -> &Index {
        &self.indices[self.nodes[node as usize].shape as usize]
    }

    pub fn rank(&self, node: NodeId) -> usize {
        self.shape(node).rank()
    }

    pub fn dtype(&self, node: NodeId) -> DType {
        self.nodes[node as usize].dtype
    }

    pub fn value(&self, node: NodeId) -> &GraphValue {
        &self.nodes[node as usize].value
    }

    pub fn index(&self, at: Position) -> &Index {
        &self.indices[at as usize]
    }

    pub fn map(&self, at: Position) -> &Arc<Map> {
        &self.maps[at as usize]
    }

    pub fn dist(&self, at: Position) -> &Arc<Distribution> {
        &self.dists[at as usize]
    }

    pub fn bytes(&self, node: NodeId) -> Result<u64> {
        Ok(Region::from_shape(self.shape(node))?.volume()? as u64 * self.dtype(node).size_bytes() as u64)
    }

    /// The layout of a computed node's memory.
    pub fn memory(&self, node: NodeId) -> Option<&Arc<Distribution>> {
        match self.value(node) {
            GraphValue::Memory(state) => Some(self.dist(state.dist)),
            _ => None,
        }
    }

    pub fn is_memory(&self, node: NodeId) -> bool {
        matches!(self.value(node), GraphValue::Memory(_))
    }

    /// How much of a computed node's halo is valid.
    pub fn valid_halo(&self, node: NodeId) -> Option<HaloWidths> {
        match self.value(node) {
            GraphValue::Memory(MemoryState { lo, hi, corners, .. }) => {
                Some(HaloWidths { lo: *self.index(*lo), hi: *self.index(*hi), corners: *corners })
            }
            _ => None,
        }
    }

    /// The node is computed from here on.
    pub fn set_memory(
        &mut self,
        node: NodeId,
        (dist, declared): (&Arc<Distribution>, &Arc<Distribution>),
        valid: &HaloWidths,
    ) {
        let (dist, declared) = (self.intern_dist(dist), self.intern_dist(declared));
        let (lo, hi) = (self.intern_index(&valid.lo), self.intern_index(&valid.hi));
        let state = MemoryState { dist, declared, lo, hi, corners: valid.corners };
        self.nodes[node as usize].value = GraphValue::Memory(state);
    }

    /// The node becomes another name of `base`.
    pub fn set_alias(&mut self, node: NodeId, base: NodeId) {
        let layout = self.layout(node);
        let map = self.intern_map(&Arc::new(Map::identity(self.rank(node))));
        self.nodes[node as usize].value = GraphValue::View { base, map, layout };
    }

    /// The nodes that a node is computed from.
    pub fn operands(&self, node: NodeId) -> Vec<NodeId> {
        match self.value(node) {
            GraphValue::Apply(_, operands, _) => operands.iter().flatten().copied().collect(),
            GraphValue::View { base: node, .. }
            | GraphValue::Reduce { operand: node, .. }
            | GraphValue::Listed { base: node, .. }
            | GraphValue::Reshaped { base: node, .. }
            | GraphValue::Moved { base: node, .. } => vec![*node],
            GraphValue::Joined(portions, _) => portions.iter().map(|(_, value)| *value).collect(),
            GraphValue::Fill(..) | GraphValue::Coord(..) | GraphValue::Number(..) | GraphValue::Memory(_) => {
                Vec::new()
            }
        }
    }

    /// Whether it is a pointwise operation that is not computed yet.
    pub fn is_operation(&self, node: NodeId) -> bool {
        matches!(self.value(node), GraphValue::Apply(..))
    }

    /// Whether it is a reduction that is not computed yet.
    pub fn is_reduction(&self, node: NodeId) -> bool {
        matches!(self.value(node), GraphValue::Reduce { .. })
    }

    /// About how many instructions it takes per element, without its operands.
    pub fn weight(&self, node: NodeId) -> u32 {
        match self.value(node) {
            GraphValue::Apply(op, ..) => weight_of(*op),
            GraphValue::Coord(..) => 1,
            _ => 0,
        }
    }

    pub fn layout(&self, node: NodeId) -> GraphLayout {
        match self.value(node) {
            GraphValue::Fill(_, layout)
            | GraphValue::Coord(_, layout)
            | GraphValue::Apply(_, _, layout)
            | GraphValue::View { layout, .. }
            | GraphValue::Reduce { layout, .. }
            | GraphValue::Joined(_, layout)
            | GraphValue::Listed { layout, .. }
            | GraphValue::Reshaped { layout, .. }
            | GraphValue::Moved { layout, .. } => *layout,
            GraphValue::Number(..) => GraphLayout::Free,
            GraphValue::Memory(state) => GraphLayout::Known(state.declared),
        }
    }

    /// The distribution that the node's value has or will have.
    pub fn distribution(&self, node: NodeId) -> Result<Arc<Distribution>> {
        let mut views = Vec::new();
        let (mut layout, mut shape) = (self.layout(node), *self.shape(node));
        let dist = loop {
            match layout {
                GraphLayout::Known(dist) => break Arc::clone(self.dist(dist)),
                GraphLayout::Free => break balanced(self.parts, &shape)?,
                GraphLayout::ViewOf(base, map) => {
                    views.push((shape, *self.shape(base), Arc::clone(self.map(map))));
                    (layout, shape) = (self.layout(base), *self.shape(base));
                }
            }
        };
        viewed(dist, views)
    }

    /// Everything below some nodes, without what is reached through `without` alone.
    pub fn reached(&self, roots: impl IntoIterator<Item = NodeId>, without: Option<NodeId>) -> Reached {
        let mut reached = Reached::default();
        let mut seen: FxHashSet<NodeId> = without.into_iter().collect();
        // A node is met a second time after all its operands.
        let mut pending: Vec<(NodeId, bool)> = roots.into_iter().map(|root| (root, false)).collect();
        while let Some((node, again)) = pending.pop() {
            if again {
                reached.lazy.push(node);
            } else if seen.insert(node) {
                if self.is_memory(node) {
                    reached.memory.insert(node);
                    continue;
                }
                pending.push((node, true));
                pending.extend(self.operands(node).into_iter().map(|operand| (operand, false)));
            }
        }
        reached
    }
}

/// What an expression consists of.
#[derive(Default)]
pub(crate) struct Reached {
    /// The nodes that are not computed yet, operands before those that use them.
    pub lazy: Vec<NodeId>,
    /// The computed ones.
    pub memory: FxHashSet<NodeId>,
}

/// A result to compute.
pub(crate) struct Target {
    pub node: Arc<Node>,
    pub placement: Placement<NodeWindow>,
}

impl Target {
    pub fn fresh(node: &Arc<Node>) -> Target {
        Target { node: Arc::clone(node), placement: Placement::Fresh }
    }
}

/// A window of a recorded array, from an index on.
pub(crate) type NodeWindow = (Arc<Node>, Index);

/// A graph and what its nodes stand for.
pub(crate) struct RecordedGraph {
    pub graph: Graph,
    /// By the nodes' numbers.
    pub nodes: Vec<Arc<Node>>,
    /// The computed nodes in the order in which they were met.
    pub memory: Vec<(NodeId, Arc<Storage>)>,
    /// Whether an evaluation of this graph can be kept for the next one that is equal.
    pub is_cacheable: bool,
    /// Operands on other teams that are not computed yet: their evaluations come before.
    pub pending: Vec<Arc<Node>>,
}

/// The walk.
struct Walk {
    graph: Graph,
    nodes: Vec<Arc<Node>>,
    numbers: FxHashMap<*const Node, NodeId>,
    memory: Vec<(NodeId, Arc<Storage>)>,
    is_cacheable: bool,
    /// Operands on other teams, and those of them that are not computed yet.
    sources: Vec<NodeId>,
    pending: Vec<Arc<Node>>,
}

impl RecordedGraph {
    /// # Errors
    /// That of a failed node.
    pub fn of(team: &Team, targets: &[Target]) -> Result<RecordedGraph> {
        const USUAL: usize = 28;
        let graph = Graph { nodes: Vec::with_capacity(USUAL), parts: team.size(), ..Graph::default() };
        let numbers = HashMap::with_capacity_and_hasher(USUAL, FxBuildHasher);
        let nodes = Vec::with_capacity(USUAL);
        let (memory, sources, pending) = (Vec::new(), Vec::new(), Vec::new());
        let mut walk = Walk { graph, nodes, numbers, memory, is_cacheable: true, sources, pending };
        for target in targets {
            let placement = target.placement.try_map(|window| walk.window(window))?;
            let node = walk.node(&target.node);
            walk.graph.targets.push(GraphTarget { node, placement });
        }
        while walk.graph.nodes.len() < walk.nodes.len() {
            let node = Arc::clone(&walk.nodes[walk.graph.nodes.len()]);
            let value = walk.value(&node)?;
            let shape = walk.graph.intern_index(&node.shape);
            walk.graph.nodes.push(GraphNode { shape, dtype: node.dtype, value });
        }
        let Walk { graph, nodes, memory, is_cacheable, pending, .. } = walk;
        Ok(RecordedGraph { graph, nodes, memory, is_cacheable, pending })
    }
}

impl Walk {
    fn node(&mut self, node: &Arc<Node>) -> NodeId {
        *self.numbers.entry(Arc::as_ptr(node)).or_insert_with(|| {
            self.nodes.push(Arc::clone(node));
            (self.nodes.len() - 1) as NodeId
        })
    }

    fn window(&mut self, (base, start): &NodeWindow) -> Result<GraphWindow> {
        let (dist, memory) = (base.distribution()?, base.memory_layout()?);
        let (dist, memory) = (self.graph.intern_dist(&dist), self.graph.intern_dist(&memory));
        Ok(GraphWindow { dist, memory, start: self.graph.intern_index(start) })
    }

    fn layout(&mut self, layout: &NodeLayout) -> GraphLayout {
        match layout {
            NodeLayout::Free => GraphLayout::Free,
            NodeLayout::Known(dist) => GraphLayout::Known(self.graph.intern_dist(dist)),
            NodeLayout::ViewOf(node, map) => GraphLayout::ViewOf(self.node(node), self.graph.intern_map(map)),
        }
    }

    fn value(&mut self, node: &Arc<Node>) -> Result<GraphValue> {
        let is_source = self.sources.contains(&(self.graph.nodes.len() as NodeId));
        if is_source && node.storage().is_none() {
            return node.error().map_or_else(|| self.pending_source(node), Err);
        }
        Ok(match &*node.state() {
            NodeState::Failed(error) => return Err(error.clone()),
            NodeState::Ready(storage) => {
                self.memory.push((self.graph.nodes.len() as NodeId, Arc::clone(storage)));
                let HaloWidths { lo, hi, corners } = storage.valid_halo();
                let graph = &mut self.graph;
                let (dist, declared) =
                    (graph.intern_dist(&storage.dist), graph.intern_dist(&storage.declared));
                let (lo, hi) = (graph.intern_index(&lo), graph.intern_index(&hi));
                GraphValue::Memory(MemoryState { dist, declared, lo, hi, corners })
            }
            NodeState::Lazy { expr, layout } => {
                let layout = self.layout(layout);
                match expr {
                    Expr::Fill(scalar) => GraphValue::Fill(*scalar, layout),
                    Expr::Coord(dim) => GraphValue::Coord(*dim, layout),
                    Expr::Apply(op, operands) => GraphValue::Apply(*op, self.operands(operands), layout),
                    Expr::View { base, map } => {
                        GraphValue::View { base: self.node(base), map: self.graph.intern_map(map), layout }
                    }
                    Expr::Reduce { operand, reduction, axes } => GraphValue::Reduce {
                        operand: self.node(operand),
                        reduction: *reduction,
                        axes: axes.clone(),
                        layout,
                    },
                    Expr::Joined(portions) => {
                        let portion = |Portion { start, value }: &Portion| {
                            (self.graph.intern_index(start), self.node(value))
                        };
                        GraphValue::Joined(portions.iter().map(portion).collect(), layout)
                    }
                    Expr::Listed { base, which } => {
                        self.is_cacheable = false;
                        self.graph.elements.push(which.clone());
                        let which = (self.graph.elements.len() - 1) as u32;
                        GraphValue::Listed { base: self.node(base), which, layout }
                    }
                    Expr::Number(numbers, which) => {
                        self.is_cacheable = false;
                        self.graph.numbers.push(Arc::clone(numbers));
                        GraphValue::Number((self.graph.numbers.len() - 1) as u32, *which)
                    }
                    Expr::Reshaped { base } => GraphValue::Reshaped { base: self.node(base), layout },
                    Expr::Moved { base } => {
                        let base = self.node(base);
                        self.sources.push(base);
                        GraphValue::Moved { base, layout }
                    }
                }
            }
        })
    }

    /// An operand on another team that is not computed yet stands for the memory that it will be.
    fn pending_source(&mut self, node: &Arc<Node>) -> Result<GraphValue> {
        self.pending.push(Arc::clone(node));
        let dist = self.graph.intern_dist(&node.distribution()?);
        let none = self.graph.intern_index(&Index::zeros(node.rank()));
        let (declared, lo, hi, corners) = (dist, none, none, false);
        Ok(GraphValue::Memory(MemoryState { dist, declared, lo, hi, corners }))
    }

    fn operands(&mut self, operands: &Operands) -> [Option<NodeId>; 3] {
        let mut numbers = [None; 3];
        for (number, node) in numbers.iter_mut().zip(operands.as_slice()) {
            *number = Some(self.node(node));
        }
        numbers
    }
}

/// Whether a view is a window of a node that is no box in its memory: along unordered lists. Windows that
/// wrap around never are; other views than windows are gathered by their kernels.
pub(crate) fn is_scattered(graph: &Graph, base: NodeId, shape: &Index, view: &Map) -> Result<bool> {
    let Some(start) = view.as_window(shape.rank()) else { return Ok(false) };
    let dist = graph.distribution(base)?;
    if dist.is_block() {
        return Ok(false);
    }
    let window = Region::from_shape(shape)?.shift(&start)?;
    Ok(dist.global().contains_region(&window) && !dist.is_box(&window))
}

/// The cells of a joined value that one of its boxes is.
pub(crate) fn box_region(graph: &Graph, start: &Index, value: NodeId) -> Result<Region> {
    Ok(Region::from_shape(graph.shape(value))?.shift(start)?)
}

/// A view of shape `shape` of a joined value as a view of one of its boxes, if it lies within that.
pub(crate) fn view_within_box(
    graph: &Graph,
    base: NodeId,
    shape: &Index,
    view: &Map,
) -> Option<(NodeId, Map)> {
    let GraphValue::Joined(boxes, _) = graph.value(base) else { return None };
    if shape.contains(&0) {
        return None;
    }
    let cells = Region::from_fn(graph.rank(base), |d| match view.axes()[d] {
        Along::Pinned(at) => (at, at + 1),
        Along::Dim { dim, .. } => view.axes()[d].span(0, shape[dim]),
    });
    let contains = |start: &Index, value: NodeId| {
        box_region(graph, start, value).is_ok_and(|region| region.contains_region(&cells))
    };
    let found = boxes.iter().map(|&(start, value)| (graph.index(start), value));
    let (start, value) = found.into_iter().find(|&(start, value)| contains(start, value))?;
    let along = |d: usize| match view.axes()[d] {
        Along::Pinned(at) => Along::Pinned(at - start[d]),
        Along::Dim { dim, offset, step } => Along::Dim { dim, offset: offset - start[d], step },
    };
    Some((value, Map::from_fn(view.axes().len(), along)))
}
