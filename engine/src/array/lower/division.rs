//! Passes over the graph that choose the values to be computed once and stored, and their order. They decide
//! cost, never results, and depend on the recorded graph alone, so that they are the same on every rank.
//!
//! [`stages`] divides large expressions, so that no value is computed again and again and no kernel grows
//! without bound. A value that is read through several maps, or by several kernels, is computed for each of
//! them. The pass walks once over the recorded operations, users before operands, and counts how often each
//! would be computed. Where too much would be computed again, it cuts at the narrowest place above: all
//! values that cross the cut are stored. Time and memory are linear in the number of operations.
//! [`common_to_kernels`] finds what several kernels of an evaluation would compute.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::array::lower::graph::{Graph, NodeId, post_order};
use crate::array::record::expr::{Expr, Map};
use crate::error::Result;

/// Instructions of one kernel, about: a kernel of more is divided where few values cross.
const MOST_INSTRUCTIONS: u32 = 3600;

/// The instructions that a plain number counts as: a kernel takes no more than 256 numbers (`lower/body.rs`),
/// and one that is cut there computes much again.
const INSTRUCTIONS_OF_NUMBER: u32 = 15;

/// Kernels that wait for each other within one stage: reductions of reductions and the like.
const MOST_LEVELS: u32 = 16;

/// A value that is broadcast is read from a cache, so it does not count as computed more often than this.
const MOST_REPEATS: i64 = 16;

/// The inner values to compute first, stage by stage: those of a stage need only earlier stages and memory.
/// None for expressions that are as well computed at once.
pub(crate) fn stages(graph: &Graph, roots: &[NodeId]) -> Vec<Vec<NodeId>> {
    let mut order = WorkList::of(graph, roots);
    if order.work() <= WORTH_STORING {
        return Vec::new();
    }
    let stored = StageScan::new(graph, &mut order).run();
    let mut stages: Vec<Vec<NodeId>> = Vec::new();
    for stage in stored.into_iter().rev().filter(|stage| !stage.is_empty()) {
        stages.push(stage.into_iter().rev().map(|at| order.items[at].node).collect());
    }
    stages
}

/// About half of an expression that grew deep: the values that cross the narrowest place above its middle.
pub(crate) fn lower_half(graph: &Graph, root: NodeId) -> Vec<NodeId> {
    let WorkList { items, .. } = WorkList::of(graph, &[root]);
    let count = items.len();
    let (mut is_open, mut open, mut best) = (vec![false; count], 0, None);
    for at in (1.max(count / 2)..count).rev() {
        open -= usize::from(std::mem::take(&mut is_open[at]));
        for edge in &items[at].edges {
            open += usize::from(!std::mem::replace(&mut is_open[edge.to], true));
        }
        if at <= count - count / 4 && open > 0 && best.is_none_or(|(width, _)| open < width) {
            best = Some((open, at));
        }
    }
    let Some((_, place)) = best else { return Vec::new() };
    let crosses =
        |item: &WorkItem| item.edges.iter().map(|edge| edge.to).filter(|&to| to < place).collect::<Vec<_>>();
    let mut crossing: Vec<usize> = items[place..].iter().flat_map(crosses).collect();
    crossing.sort_unstable();
    crossing.dedup();
    crossing.into_iter().map(|at| items[at].node).collect()
}

/// An operand of an item: another item, as seen through a map. No map means the same point.
struct Edge {
    to: usize,
    map: Option<Arc<Map>>,
}

/// The kind of kernel that computes an item.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WorkKind {
    /// In the kernels of its readers.
    Pointwise,
    /// In a kernel of its own, which reductions of operands of one shape share.
    Reduction,
    /// In kernels of its own, one per operand: joined arrays, elements by number.
    Apart,
}

/// An operation, or something else that is computed. Views are edges.
struct WorkItem {
    node: NodeId,
    edges: Vec<Edge>,
    /// About how many instructions it takes per element.
    weight: u32,
    /// Plain numbers among its operands.
    numbers: u32,
    kind: WorkKind,
    cells: i64,
    is_root: bool,
    is_stored: bool,
    /// The kernels that compute it, and where each reads it.
    readers: Vec<(usize, Map)>,
}

/// The source of a node's elements.
#[derive(Clone)]
enum ElementSource {
    /// An item, or a view of one.
    Item(usize, Option<Arc<Map>>),
    /// Memory and constants, which need not be computed.
    Given,
}

/// Everything to be computed for some roots, operands before those that use them.
struct WorkList {
    items: Vec<WorkItem>,
    origins: FxHashMap<NodeId, ElementSource>,
}

/// The operands that a node is computed from.
enum Below {
    Nothing,
    View(NodeId, Arc<Map>),
    Operands(Vec<NodeId>, WorkKind),
}

impl WorkList {
    fn of(graph: &Graph, roots: &[NodeId]) -> WorkList {
        let mut order = WorkList { items: Vec::new(), origins: FxHashMap::default() };
        let operands = |node: NodeId| match below(graph, node) {
            Below::Nothing => Vec::new(),
            Below::View(base, _) => vec![base],
            Below::Operands(operands, _) => operands,
        };
        for node in post_order(roots.iter().copied(), None, operands) {
            let origin = order.origin(graph, node, &below(graph, node));
            order.origins.insert(node, origin);
        }
        for root in roots {
            if let Some(ElementSource::Item(at, _)) = order.origins.get(root) {
                order.items[*at].is_root = true;
            }
        }
        order
    }

    /// Instructions per element if every value is computed for each of its readers.
    fn work(&self) -> u32 {
        let mut work = vec![0u32; self.items.len()];
        for (at, item) in self.items.iter().enumerate() {
            work[at] = item.edges.iter().fold(item.weight, |sum, edge| sum.saturating_add(work[edge.to]));
        }
        let roots = self.items.iter().zip(&work).filter(|(item, _)| item.is_root);
        roots.fold(0u32, |sum, (_, work)| sum.saturating_add(*work))
    }

    fn origin(&mut self, graph: &Graph, node: NodeId, below: &Below) -> ElementSource {
        match below {
            Below::Nothing => ElementSource::Given,
            Below::View(base, map) => self.seen(graph, *base, node, map),
            Below::Operands(operands, kind) => {
                let mut edges = Vec::with_capacity(operands.len());
                let shape = graph.shape(node);
                for operand in operands {
                    let Some(ElementSource::Item(to, through)) = self.origins.get(operand) else { continue };
                    let stretches = *kind == WorkKind::Pointwise && graph.shape(*operand) != shape;
                    let map = stretches
                        .then(|| Map::identity(shape.rank()).broadcast(shape, graph.shape(*operand)));
                    let map = match (map, through) {
                        (Some(map), Some(through)) => Some(Arc::new(map.through(through))),
                        (map, through) => map.map(Arc::new).or_else(|| through.clone()),
                    };
                    edges.push(Edge { to: *to, map });
                }
                self.add(graph, node, edges, *kind)
            }
        }
    }

    fn add(&mut self, graph: &Graph, node: NodeId, edges: Vec<Edge>, kind: WorkKind) -> ElementSource {
        let is_number = |&operand: &NodeId| matches!(graph.expr(operand), Some(Expr::Fill(_)));
        let numbers = graph.operands(node).filter(is_number);
        self.items.push(WorkItem {
            node,
            edges,
            weight: graph.weight(node),
            numbers: numbers.count() as u32,
            kind,
            cells: graph.shape(node).iter().product::<i64>().max(1),
            is_root: false,
            is_stored: false,
            readers: Vec::new(),
        });
        ElementSource::Item(self.items.len() - 1, None)
    }

    /// The origin of a view. Of a slice that is rolled the slice is computed: its neighbours are other cells.
    fn seen(&mut self, graph: &Graph, base: NodeId, view: NodeId, map: &Arc<Map>) -> ElementSource {
        let Some(ElementSource::Item(at, through)) = self.origins.get(&base).cloned() else {
            return ElementSource::Given;
        };
        let Some(through) = through else { return ElementSource::Item(at, Some(Arc::clone(map))) };
        let item = self.items[at].node;
        if map.leaves(graph.shape(view), &through, graph.shape(base), graph.shape(item)) {
            let edge = Edge { to: at, map: Some(through) };
            let slice = self.add(graph, base, vec![edge], WorkKind::Apart);
            self.origins.insert(base, slice);
            return ElementSource::Item(self.items.len() - 1, Some(Arc::clone(map)));
        }
        ElementSource::Item(at, Some(Arc::new(map.through(&through))))
    }
}

fn below(graph: &Graph, node: NodeId) -> Below {
    let Some(expr) = graph.expr(node) else { return Below::Nothing };
    match expr {
        Expr::Fill(_) | Expr::Constant(_) | Expr::Number(..) => Below::Nothing,
        Expr::Coord(_) => Below::Operands(Vec::new(), WorkKind::Pointwise),
        Expr::Apply(..) => Below::Operands(graph.operands(node).collect(), WorkKind::Pointwise),
        Expr::View { base, map } => match graph.view_within_box(*base, graph.shape(node), map) {
            Some((value, within)) => Below::View(value, Arc::new(within)),
            None => Below::View(*base, Arc::clone(map)),
        },
        Expr::Reduce { operand, .. } => Below::Operands(vec![*operand], WorkKind::Reduction),
        Expr::Whole(..) | Expr::Reshaped { .. } | Expr::Moved { .. } | Expr::Joined(_) => {
            Below::Operands(graph.operands(node).collect(), WorkKind::Apart)
        }
    }
}

/// A kernel, as far as the plan knows it.
struct KernelEstimate {
    /// An item of the shape of its results.
    of: usize,
    is_shared: bool,
    /// The number of kernels of the stage that wait for this one, one for the other.
    level: u32,
}

/// A place between two items where the expression can be cut.
#[derive(Clone, Copy)]
struct CutPoint {
    /// The items below have smaller numbers.
    below: usize,
    /// The values that would have to be stored.
    width: usize,
    /// The number of items reached by then, and the stage's instructions.
    reached: usize,
    instructions: u32,
}

/// The walk over the items, the last one first.
struct StageScan<'a> {
    graph: &'a Graph,
    items: &'a mut [WorkItem],
    kernels: Vec<KernelEstimate>,
    /// Items with readers, in the order in which they got the first.
    reached: Vec<usize>,
    /// Of these, those that were not met yet and would have to be stored.
    open: usize,
    /// Instructions of the stage, and those of them that compute again what another reader computes too.
    instructions: u32,
    repeated: u32,
    /// Whether some value is computed more than twice.
    is_repeated: bool,
    deepest: u32,
    /// Of this stage, one after every item.
    places: Vec<CutPoint>,
    stored: Vec<Vec<usize>>,
}

impl<'a> StageScan<'a> {
    fn new(graph: &'a Graph, order: &'a mut WorkList) -> StageScan<'a> {
        StageScan {
            graph,
            items: &mut order.items,
            kernels: Vec::new(),
            reached: Vec::new(),
            open: 0,
            instructions: 0,
            repeated: 0,
            is_repeated: false,
            deepest: 0,
            places: Vec::new(),
            stored: vec![Vec::new()],
        }
    }

    /// The items to store, by stage; the roots' own stage comes first.
    fn run(mut self) -> Vec<Vec<usize>> {
        let mut next = self.items.len();
        while next > 0 {
            next -= 1;
            self.meet(next);
            if self.is_too_much() && next > 0 {
                let place = self.narrowest().unwrap_or_else(|| self.place(next));
                self.cut(place);
                next = place.below;
            } else {
                let place = self.place(next);
                self.places.push(place);
            }
        }
        self.stored
    }

    fn place(&self, below: usize) -> CutPoint {
        CutPoint { below, width: self.open, reached: self.reached.len(), instructions: self.instructions }
    }

    /// The last of the narrowest places of the stage's second half: near its beginning, few values are
    /// known to be needed and cuts would follow each other closely.
    fn narrowest(&self) -> Option<CutPoint> {
        let is_late = |place: &&CutPoint| place.instructions >= self.instructions / 2;
        let late = self.places.iter().rev().filter(is_late).min_by_key(|place| place.width);
        late.or(self.places.last()).copied()
    }

    fn is_too_much(&self) -> bool {
        (self.is_repeated && self.repeated > WORTH_STORING)
            || self.instructions > MOST_INSTRUCTIONS
            || self.deepest > MOST_LEVELS
    }

    /// A kernel whose results have the shape of item `of`; one that is there if it may be shared.
    fn kernel(&mut self, of: usize, level: u32, is_shared: bool) -> usize {
        let shape = self.graph.shape(self.items[of].node);
        let is_like = |kernel: &KernelEstimate| {
            kernel.is_shared && kernel.level == level && self.graph.shape(self.items[kernel.of].node) == shape
        };
        if let Some(known) = self.kernels.iter().position(|kernel| is_shared && is_like(kernel)) {
            return known;
        }
        self.kernels.push(KernelEstimate { of, is_shared, level });
        self.deepest = self.deepest.max(level);
        self.kernels.len() - 1
    }

    /// Counts what an item costs, and tells its operands who reads them.
    fn meet(&mut self, at: usize) {
        let mut readers = std::mem::take(&mut self.items[at].readers);
        let WorkItem { is_root, is_stored, kind, weight, numbers, cells, .. } = self.items[at];
        if is_root || is_stored {
            let own = (self.kernel(at, 0, true), Map::identity(self.graph.rank(self.items[at].node)));
            if !readers.contains(&own) {
                readers.push(own);
            }
        } else {
            self.open -= 1;
        }
        if let Some(stage) = self.stored.last_mut().filter(|_| is_stored) {
            stage.push(at);
        }
        let edges = std::mem::take(&mut self.items[at].edges);
        if kind == WorkKind::Pointwise {
            let repeats =
                |kernel: usize| (self.items[self.kernels[kernel].of].cells / cells).clamp(1, MOST_REPEATS);
            let times = readers.iter().map(|(kernel, _)| repeats(*kernel) as u32).sum::<u32>();
            self.is_repeated |= times > 2;
            self.repeated = self.repeated.saturating_add(times.saturating_sub(1).saturating_mul(weight));
            // Its constants and loads are instructions too.
            let instructions = (readers.len() as u32).saturating_mul(weight + 1);
            let instructions = instructions.saturating_add(numbers * INSTRUCTIONS_OF_NUMBER);
            self.instructions = self.instructions.saturating_add(instructions);
            for edge in &edges {
                for (kernel, map) in &readers {
                    let map = edge.map.as_ref().map_or(*map, |edge| map.through(edge));
                    self.read(edge.to, (*kernel, map));
                }
            }
        } else {
            let level = readers.iter().map(|(kernel, _)| self.kernels[*kernel].level).max().unwrap_or(0) + 1;
            for Edge { to, map } in &edges {
                let kernel = self.kernel(*to, level, kind == WorkKind::Reduction);
                let identity = || Map::identity(self.graph.rank(self.items[*to].node));
                let map = map.as_deref().copied().unwrap_or_else(identity);
                self.read(*to, (kernel, map));
            }
        }
        self.items[at].edges = edges;
    }

    fn read(&mut self, to: usize, reader: (usize, Map)) {
        let item = &mut self.items[to];
        if item.is_stored {
            return;
        }
        if item.readers.is_empty() {
            self.reached.push(to);
            self.open += usize::from(!item.is_root);
        }
        if !item.readers.contains(&reader) {
            item.readers.push(reader);
        }
    }

    /// Begins a stage below a place: what crosses it is stored.
    fn cut(&mut self, place: CutPoint) {
        for &at in &self.reached[place.reached..] {
            self.items[at].readers.clear();
        }
        // Those met since are met again.
        self.stored.iter_mut().for_each(|stage| stage.retain(|&at| at >= place.below));
        let crossing: Vec<usize> =
            self.reached[..place.reached].iter().copied().filter(|&at| at < place.below).collect();
        for at in crossing {
            self.items[at].readers.clear();
            self.items[at].is_stored = true;
        }
        self.reached.clear();
        self.kernels.clear();
        (self.open, self.instructions, self.repeated) = (0, 0, 0);
        (self.is_repeated, self.deepest) = (false, 0);
        self.places.clear();
        self.stored.push(Vec::new());
    }
}

/// The least number of instructions of a value that is stored: about as many as a large GPU runs while it
/// writes and reads back four bytes.
pub(crate) const WORTH_STORING: u32 = 64;

/// The largest expressions that two or more of the kernels of `roots` have in common, in any order.
pub(crate) fn common_to_kernels(graph: &Graph, roots: &[NodeId]) -> Result<Vec<NodeId>> {
    Ok(common_to(graph, &kernels(graph, roots)?))
}

/// The same of kernels, each given by its results.
pub(crate) fn common_to(graph: &Graph, kernels: &[Vec<NodeId>]) -> Vec<NodeId> {
    if kernels.len() < 2 {
        return Vec::new();
    }
    let mut users: FxHashMap<NodeId, u32> = HashMap::default();
    let mut all: Vec<NodeId> = Vec::new();
    for kernel in kernels {
        for node in graph.reached(kernel.iter().copied(), None).lazy {
            let count = users.entry(node).or_default();
            *count += 1;
            if *count == 2 {
                all.push(node);
            }
        }
    }
    // A light one is computed again even if it is a result itself: reading it back may need its halo.
    all.retain(|&node| graph.is_operation(node) && is_heavy(graph, node));
    // Only what no other one contains.
    let below = all.iter().flat_map(|&node| graph.operands(node));
    let inner: HashSet<NodeId> = graph.reached(below, None).lazy.into_iter().collect();
    all.retain(|node| !inner.contains(node));
    all
}

/// Results that share a kernel: those of one shape and layout, and reductions of one operand.
fn kernels(graph: &Graph, roots: &[NodeId]) -> Result<Vec<Vec<NodeId>>> {
    let mut kernels: Vec<Vec<NodeId>> = Vec::new();
    for &root in roots {
        let together = |other: NodeId| -> Result<bool> {
            match (graph.is_operation(root), graph.is_operation(other)) {
                (true, true) => Ok(graph.shape(root) == graph.shape(other)
                    && graph.distribution(root)?.same_layout(&*graph.distribution(other)?)),
                (false, false) => Ok(graph.operands(root).eq(graph.operands(other))),
                _ => Ok(false),
            }
        };
        let mut found = None;
        for (k, kernel) in kernels.iter().enumerate() {
            if together(kernel[0])? {
                found = Some(k);
            }
        }
        match found {
            Some(k) => kernels[k].push(root),
            None => kernels.push(vec![root]),
        }
    }
    Ok(kernels)
}

/// Whether a node takes so many instructions that it is worth storing. It looks no further than that takes.
fn is_heavy(graph: &Graph, node: NodeId) -> bool {
    let (mut weight, mut pending) = (0, vec![node]);
    let mut seen: FxHashSet<NodeId> = HashSet::default();
    while let Some(node) = pending.pop() {
        if seen.insert(node) {
            weight += graph.weight(node);
            if weight >= WORTH_STORING {
                return true;
            }
            pending.extend(graph.operands(node));
        }
    }
    false
}
