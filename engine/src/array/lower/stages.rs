//! Divides large expressions into stages: which inner values are computed and stored first, so that no value
//! is computed again and again and no kernel grows without bound.
//!
//! A value that is read through several maps, or by several kernels, is computed for each of them. The
//! plan walks once over the recorded operations, users before operands, and counts how often each would be
//! computed. Where too much would be computed again, it cuts at the narrowest place above: all values that
//! cross the cut are stored. Time and memory are linear in the number of operations. The plan decides cost
//! only, never results, and follows from what was recorded alone, so it is the same on every rank.

use std::collections::HashMap;
use std::sync::Arc;

use crate::array::lower::common::WORTH_STORING;
use crate::array::lower::locality::Reached;
use crate::array::record::map::Map;
use crate::array::record::node::{Expr, Node, NodeState};
use crate::array::run::cache::MixBuildHasher;
use crate::array::run::evaluate::{evaluate, is_evaluating};
use crate::array::run::joined::seen_within;
use crate::error::Result;

/// Instructions of one kernel, about: a kernel of more is divided where few values cross.
const MOST_INSTRUCTIONS: u32 = 3600;

/// Kernels that wait for each other within one stage: reductions of reductions and the like.
const MOST_LEVELS: u32 = 16;

/// A value that is broadcast is read from a cache, so it does not count as computed more often than this.
const MOST_REPEATS: i64 = 16;

/// The longest chain of recorded operations. When one grows longer, about half of it is computed.
const LONGEST_CHAIN: u32 = 8192;

/// Whether a chain of recorded operations is so long, or nearly, that a part should be computed.
pub(crate) fn is_long(node: &Node, room: u32) -> bool {
    node.recorded().depth > LONGEST_CHAIN - room
}

/// Computes about half of what was recorded for a node: the values that cross a narrow place in its middle.
/// The node itself stays recorded, so that what it is used for next is fused with it.
pub(crate) fn shorten(node: &Arc<Node>) -> Result<()> {
    // What an evaluation records by itself it also computes.
    if is_evaluating() {
        return Ok(());
    }
    let _guard = node.team.evaluation();
    // Operands before those that use them.
    let recount = || Reached::from([node], None).lazy.iter().for_each(|node| node.recount());
    // Some of it may have been computed since, for another value that needs it.
    recount();
    if !is_long(node, LONGEST_CHAIN / 2) {
        return Ok(());
    }
    node.team.together("eval", || {
        evaluate(&lower_half(node))?;
        recount();
        // A chain of views alone has no middle.
        if is_long(node, LONGEST_CHAIN / 4) { evaluate(std::slice::from_ref(node)) } else { Ok(()) }
    })
}

/// Computes the inner values that are to be stored before `roots` are computed; whether there were any.
pub(crate) fn evaluate_stages(roots: &[Arc<Node>]) -> Result<bool> {
    let stages = stages(roots);
    let is_divided = !stages.is_empty();
    // A stage is forgotten as soon as it is computed: its values live as long as something reads them.
    stages.into_iter().try_for_each(|stage| evaluate(&stage))?;
    Ok(is_divided)
}

/// The inner values to compute first, stage by stage: those of a stage need only earlier stages and memory.
/// None for expressions that are as well computed at once.
fn stages(roots: &[Arc<Node>]) -> Vec<Vec<Arc<Node>>> {
    // Of so few instructions none are worth storing, even if all are computed for every reader.
    let all = roots.iter().fold(0u32, |sum, root| sum.saturating_add(root.recorded().work));
    if all <= WORTH_STORING {
        return Vec::new();
    }
    let mut order = WorkList::of(roots);
    let stored = StageScan::new(&mut order).run();
    let mut stages: Vec<Vec<Arc<Node>>> = Vec::new();
    for stage in stored.into_iter().rev().filter(|stage| !stage.is_empty()) {
        stages.push(stage.into_iter().rev().map(|at| Arc::clone(&order.items[at].node)).collect());
    }
    stages
}

/// About half of an expression that grew deep: the values that cross the narrowest place above its middle.
fn lower_half(root: &Arc<Node>) -> Vec<Arc<Node>> {
    let WorkList { items, .. } = WorkList::of(std::slice::from_ref(root));
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
    crossing.into_iter().map(|at| Arc::clone(&items[at].node)).collect()
}

/// An operand of an item: another item, as seen through a map. No map means the same point.
struct Edge {
    to: usize,
    map: Option<Arc<Map>>,
}

/// How an item is computed.
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
    node: Arc<Node>,
    edges: Vec<Edge>,
    /// About how many instructions it takes per element.
    weight: u32,
    kind: WorkKind,
    cells: i64,
    is_root: bool,
    is_stored: bool,
    /// The kernels that compute it, and where each reads it.
    readers: Vec<(usize, Map)>,
}

/// Where a node's elements come from.
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
    origins: HashMap<*const Node, ElementSource, MixBuildHasher>,
}

/// A node on the way down, or on the way back with what it is computed from.
enum WorkVisit {
    Enter(Arc<Node>),
    Leave(Arc<Node>, Below),
}

/// What a node is computed from.
enum Below {
    Nothing,
    View(Arc<Node>, Arc<Map>),
    Operands(Vec<Arc<Node>>, WorkKind),
}

impl WorkList {
    fn of(roots: &[Arc<Node>]) -> WorkList {
        let mut order = WorkList { items: Vec::new(), origins: HashMap::default() };
        let mut steps: Vec<WorkVisit> =
            roots.iter().rev().map(|root| WorkVisit::Enter(Arc::clone(root))).collect();
        while let Some(step) = steps.pop() {
            match step {
                WorkVisit::Enter(node) if order.origins.contains_key(&Arc::as_ptr(&node)) => {}
                WorkVisit::Enter(node) => match below(&node) {
                    Below::Nothing => {
                        order.origins.insert(Arc::as_ptr(&node), ElementSource::Given);
                    }
                    below => {
                        let at = steps.len();
                        match &below {
                            Below::Nothing => {}
                            Below::View(base, _) => steps.push(WorkVisit::Enter(Arc::clone(base))),
                            Below::Operands(operands, _) => {
                                steps.extend(operands.iter().rev().map(|o| WorkVisit::Enter(Arc::clone(o))));
                            }
                        }
                        steps.insert(at, WorkVisit::Leave(node, below));
                    }
                },
                WorkVisit::Leave(node, below) => order.leave(node, &below),
            }
        }
        for root in roots {
            if let Some(ElementSource::Item(at, _)) = order.origins.get(&Arc::as_ptr(root)) {
                order.items[*at].is_root = true;
            }
        }
        order
    }

    fn leave(&mut self, node: Arc<Node>, below: &Below) {
        if self.origins.contains_key(&Arc::as_ptr(&node)) {
            return;
        }
        let origin = match below {
            Below::Nothing => ElementSource::Given,
            Below::View(base, map) => self.seen(base, &node, map),
            Below::Operands(operands, kind) => {
                let mut edges = Vec::with_capacity(operands.len());
                for operand in operands {
                    let Some(ElementSource::Item(to, through)) = self.origins.get(&Arc::as_ptr(operand))
                    else {
                        continue;
                    };
                    let stretches = *kind == WorkKind::Pointwise && operand.shape != node.shape;
                    let map =
                        stretches.then(|| Map::identity(node.rank()).broadcast(&node.shape, &operand.shape));
                    let map = match (map, through) {
                        (Some(map), Some(through)) => Some(Arc::new(map.through(through))),
                        (map, through) => map.map(Arc::new).or_else(|| through.clone()),
                    };
                    edges.push(Edge { to: *to, map });
                }
                self.add(&node, edges, *kind)
            }
        };
        self.origins.insert(Arc::as_ptr(&node), origin);
    }

    fn add(&mut self, node: &Arc<Node>, edges: Vec<Edge>, kind: WorkKind) -> ElementSource {
        self.items.push(WorkItem {
            node: Arc::clone(node),
            edges,
            weight: node.weight(),
            kind,
            cells: node.shape.iter().product::<i64>().max(1),
            is_root: false,
            is_stored: false,
            readers: Vec::new(),
        });
        ElementSource::Item(self.items.len() - 1, None)
    }

    /// The origin of a view. Of a slice that is rolled the slice is computed: beside it lies something else.
    fn seen(&mut self, base: &Arc<Node>, view: &Arc<Node>, map: &Arc<Map>) -> ElementSource {
        let Some(ElementSource::Item(at, through)) = self.origins.get(&Arc::as_ptr(base)).cloned() else {
            return ElementSource::Given;
        };
        let Some(through) = through else { return ElementSource::Item(at, Some(Arc::clone(map))) };
        let item = &self.items[at].node;
        if map.leaves(&view.shape, &through, &base.shape, &item.shape) {
            let edge = Edge { to: at, map: Some(through) };
            let slice = self.add(base, vec![edge], WorkKind::Apart);
            self.origins.insert(Arc::as_ptr(base), slice);
            return ElementSource::Item(self.items.len() - 1, Some(Arc::clone(map)));
        }
        ElementSource::Item(at, Some(Arc::new(map.through(&through))))
    }
}

fn below(node: &Arc<Node>) -> Below {
    let state = node.state();
    let NodeState::Lazy { expr, .. } = &*state else { return Below::Nothing };
    match expr {
        Expr::Fill(_) | Expr::Number(..) => Below::Nothing,
        Expr::Coord(_) => Below::Operands(Vec::new(), WorkKind::Pointwise),
        Expr::Apply(_, operands) => Below::Operands(operands.as_slice().to_vec(), WorkKind::Pointwise),
        Expr::View { base, map } => match seen_within(base, &node.shape, map) {
            Some((value, within)) => Below::View(value, Arc::new(within)),
            None => Below::View(Arc::clone(base), Arc::clone(map)),
        },
        Expr::Reduce { operand, .. } => Below::Operands(vec![Arc::clone(operand)], WorkKind::Reduction),
        Expr::Listed { base, .. } | Expr::Reshaped { base } => {
            Below::Operands(vec![Arc::clone(base)], WorkKind::Apart)
        }
        Expr::Joined(portions) => {
            Below::Operands(portions.iter().map(|p| Arc::clone(&p.value)).collect(), WorkKind::Apart)
        }
    }
}

/// A kernel, as far as the plan knows it.
struct KernelEstimate {
    /// An item of the shape of its results.
    of: usize,
    is_shared: bool,
    /// How many kernels of the stage wait for this one, one for the other.
    level: u32,
}

/// A place between two items where the expression can be cut.
#[derive(Clone, Copy)]
struct CutPoint {
    /// The items below have smaller numbers.
    below: usize,
    /// The values that would have to be stored.
    width: usize,
    /// How many items were reached by then, and the stage's instructions.
    reached: usize,
    instructions: u32,
}

/// The walk over the items, the last one first.
struct StageScan<'a> {
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

impl StageScan<'_> {
    fn new(order: &mut WorkList) -> StageScan<'_> {
        StageScan {
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
        let shape = &self.items[of].node.shape;
        let is_like = |kernel: &KernelEstimate| {
            kernel.is_shared && kernel.level == level && self.items[kernel.of].node.shape == *shape
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
        let WorkItem { is_root, is_stored, kind, weight, cells, .. } = self.items[at];
        if is_root || is_stored {
            let own = (self.kernel(at, 0, true), Map::identity(self.items[at].node.rank()));
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
                let identity = || Map::identity(self.items[*to].node.rank());
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
