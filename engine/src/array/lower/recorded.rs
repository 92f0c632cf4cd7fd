//! From recorded nodes to a [`Graph`]: one walk from the targets, which also notes the memory that the
//! graph's computed nodes stand for.

use std::collections::HashMap;
use std::sync::Arc;

use crate::array::lower::graph::{
    Graph, GraphLayout, GraphNode, GraphTarget, GraphValue, GraphWindow, MemoryState, MixBuildHasher, NodeId,
    Placement,
};
use crate::array::memory::halo::HaloWidths;
use crate::array::memory::storage::Storage;
use crate::array::record::node::{Expr, Operands, Portion};
use crate::array::record::node::{Node, NodeLayout, NodeState};
use crate::error::Result;
use crate::index::Index;
use crate::team::Team;

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
    numbers: HashMap<*const Node, NodeId, MixBuildHasher>,
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
        let numbers = HashMap::with_capacity_and_hasher(USUAL, MixBuildHasher::default());
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
