//! [`lower`]: from a graph to steps: the order in which nodes are computed, fused kernels, and nodes that one
//! list of steps computes from the memory of their base. Joined and reshaped values and reductions have files
//! of their own.

use std::collections::HashMap;
use std::sync::Arc;

use partita_kernels::{DType, Value, simplify};
use rustc_hash::FxHashMap;

use crate::array::lower::access::{OperandAccess, computed_elsewhere, not_computed, reads_of};
use crate::array::lower::body::{KernelBody, Leaf, Prerequisite, Source};
use crate::array::lower::compute::{Compute, ComputeKernel, KernelStore};
use crate::array::lower::division::{common_to_kernels, stages};
use crate::array::lower::graph::{Graph, GraphTarget, MemoryState, NodeId, Update};
use crate::array::lower::steps::list::{
    ExchangeField, Lowered, ResultMemory, ResultStorage, StepList, StoredArray,
};
use crate::array::memory::storage::{HaloWidths, Pitch, Row};
use crate::array::memory::window::{ArrayWindow, ComputeRegion};
use crate::array::record::expr::{Expr, Map, NodeLayout};
use crate::array::recorder::recording::Extension;
use crate::error::Result;
use crate::index::{Along, Distribution, Index, Region};
use crate::interrupt;
use crate::team::Team;

/// What a `Loop` prescribes whose steps share exchanges.
pub(crate) struct SharedExchange {
    /// For each of the next fused kernels.
    pub extensions: Vec<Extension>,
    /// Halos of computed nodes that the next exchange makes current.
    pub halos: Vec<(NodeId, HaloWidths)>,
}

/// The steps that compute a graph's targets. `shared` says that steps of a `Loop` share exchanges: then halos
/// hold what would be fetched otherwise. Of the launches they list this rank's, or `all`.
pub(crate) fn lower(
    graph: &mut Graph,
    team: &Team,
    shared: Option<SharedExchange>,
    all: bool,
) -> Result<Lowered> {
    let (shared, halos) = match shared {
        Some(SharedExchange { extensions, halos }) => (Some(extensions), halos),
        None => (None, Vec::new()),
    };
    let own_of = team.wire().filter(|_| !all).map(|_| team.clone());
    let (list, pending) = (StepList { own_of, ..StepList::default() }, Vec::new());
    let (targets, unsupported) = (graph.targets.clone(), None);
    let (mut roots, mut updates) = (Vec::new(), Vec::new());
    for GraphTarget { node, old } in &targets {
        match graph.update(*node, *old) {
            Some(update) => updates.push(update),
            None => roots.push(*node),
        }
    }
    let mut lowerer =
        Lowerer { graph, team, shared, list, pending, unsupported, extended: 0, roots, updates };
    halos.iter().try_for_each(|(node, halo)| lowerer.update_halo(*node, halo))?;
    lowerer.evaluate(&lowerer.roots.clone())?;
    let mut updates = lowerer.updates.clone();
    if updates.len() > 1 {
        // What one folds may be another one's value.
        let values: Vec<NodeId> = updates.iter().map(|update| update.value).collect();
        lowerer.evaluate_stages(&values)?;
        lowerer.reductions(&values)?;
    }
    updates.retain(|update| !lowerer.graph.is_memory(update.node));
    if !updates.is_empty() {
        lowerer.updates(&updates)?;
    }
    let results = targets.iter().map(|target| target.node).collect();
    let Lowerer { mut list, pending, unsupported, extended, .. } = lowerer;
    if !pending.is_empty() {
        list.exchange(pending);
    }
    // The team's cache keeps the list.
    list.own_of = None;
    Ok(Lowered { list, results, unsupported, extended })
}

/// A lowering under way. A node is memory in the graph from the step on that computes it.
pub(crate) struct Lowerer<'t> {
    pub graph: &'t mut Graph,
    pub team: &'t Team,
    pub list: StepList,
    /// The transfers of the next exchange.
    pub pending: Vec<ExchangeField>,
    pub unsupported: Option<&'static str>,
    shared: Option<Vec<Extension>>,
    /// The number of extensions that fused kernels have taken.
    extended: usize,
    /// The targets, and those of them that are updates: a pass that folds such a value may store it, too.
    pub roots: Vec<NodeId>,
    pub updates: Vec<Update>,
}

/// A result of a kernel.
#[derive(Clone)]
pub(crate) struct LowerTarget {
    pub node: NodeId,
    pub placement: Placement,
    /// The node that is memory afterwards.
    pub result: NodeId,
}

/// The memory that a result is stored in.
#[derive(Clone)]
pub(crate) enum Placement {
    /// In memory of its own.
    Fresh,
    /// The same on this distribution, without halos.
    On(Arc<Distribution>, Pitch),
    /// In a window of fresh memory for a whole array, whose rest is copied afterwards.
    Window(BaseWindow),
    /// In a window of memory that the result has already.
    InPlace(BaseWindow),
    /// In memory of the size of a window.
    Temporary(BaseWindow),
}

/// A window of an array: its distribution, the layout of its memory, and the window's first cell.
#[derive(Clone)]
pub(crate) struct BaseWindow {
    pub base: NodeId,
    pub dist: Arc<Distribution>,
    pub memory: Arc<Distribution>,
    pub pitch: Pitch,
    pub start: Index,
}

impl Placement {
    fn window(&self) -> Option<&BaseWindow> {
        match self {
            Placement::Fresh | Placement::On(..) => None,
            Placement::Window(window) | Placement::InPlace(window) | Placement::Temporary(window) => {
                Some(window)
            }
        }
    }
}

/// Why roots are not lowered into one body.
pub(crate) enum NotLowered {
    /// Something had to be computed first, and now is.
    Retry,
    /// They are too many for one kernel of this team.
    TooLarge,
}

/// A body and its values.
pub(crate) type Body = (KernelBody, Vec<Value>);

impl Lowerer<'_> {
    /// Computes nodes into memory of their own: the driver, which all kinds of nodes share. It calls itself,
    /// because only the composition of a kernel shows which values must be memory before, and these follow
    /// the same rules. `stages` and `deeply_nested` bound how deep.
    pub fn evaluate(&mut self, roots: &[NodeId]) -> Result<()> {
        let mut lazy: Vec<NodeId> = Vec::with_capacity(roots.len());
        for &root in roots.iter().filter(|&&root| !self.graph.is_memory(root)) {
            if !lazy.contains(&root) {
                lazy.push(root);
            }
        }
        let has_reductions = lazy.iter().any(|&node| self.graph.is_reduction(node));
        if has_reductions {
            self.evaluate_stages(&lazy)?;
        }
        let common = common_to_kernels(self.graph, &lazy)?;
        if !common.is_empty() {
            self.evaluate(&common)?;
        }
        if has_reductions {
            self.reductions(&lazy)?;
        }
        self.reductions_without_axes(&lazy)?;
        for &node in &lazy {
            self.evaluate_alone(node)?;
        }
        let fresh = |node: NodeId| LowerTarget { node, placement: Placement::Fresh, result: node };
        let pointwise = lazy.into_iter().filter(|&node| !self.graph.is_memory(node)).map(fresh).collect();
        for group in self.groups(pointwise)? {
            self.compute(&group)?;
        }
        Ok(())
    }

    /// Computes a node that takes more than a kernel that goes through its operands.
    fn evaluate_alone(&mut self, node: NodeId) -> Result<()> {
        let Some(expr) = self.graph.expr(node).cloned() else { return Ok(()) };
        match expr {
            Expr::View { base, map } => match map.as_window(self.graph.rank(node)) {
                Some(start) if self.graph.is_scattered(base, self.graph.shape(node), &map)? => {
                    self.gather_window(node, base, &start)
                }
                _ => Ok(()),
            },
            Expr::Joined(boxes) => self.join(node, &boxes),
            Expr::Reshaped { base } => self.reshape(node, base),
            Expr::Moved { base, plan } => self.move_elements(node, base, plan),
            Expr::Whole(op, operands) => self.whole(node, &op, &operands),
            Expr::Fill(_) | Expr::Constant(_) | Expr::Coord(_) | Expr::Number(..) => Ok(()),
            Expr::Apply(..) | Expr::Reduce { .. } => Ok(()),
        }
    }

    /// Computes the inner values that are to be stored before `roots` are computed; whether there were any.
    pub fn evaluate_stages(&mut self, roots: &[NodeId]) -> Result<bool> {
        let stages = stages(self.graph, roots);
        let is_divided = !stages.is_empty();
        stages.into_iter().try_for_each(|stage| self.evaluate(&stage))?;
        Ok(is_divided)
    }

    /// A node for a result that is not one of the graph's own.
    pub fn placeholder(&mut self, like: NodeId) -> NodeId {
        let (shape, dtype, layout) =
            (*self.graph.shape(like), self.graph.dtype(like), self.graph.layout(like));
        self.graph.push(shape, dtype, Expr::Coord(0), layout)
    }

    /// The node is memory of its own from here on; nothing of its halo is valid.
    pub fn computed(&mut self, node: NodeId, dist: &Arc<Distribution>) {
        self.computed_in(node, (dist, dist), Pitch::of(self.graph.dtype(node)));
    }

    /// The same for memory that is laid out in some other way.
    pub fn computed_in(
        &mut self,
        node: NodeId,
        (memory, declared): (&Arc<Distribution>, &Arc<Distribution>),
        pitch: Pitch,
    ) {
        self.graph.set_memory(node, (memory, declared), pitch, HaloWidths::zero(memory.rank()));
    }

    /// Whether an update that the next kernel computes writes fresh memory, however small its window.
    pub fn next_in_fresh_memory(&self) -> bool {
        self.shared
            .as_ref()
            .and_then(|shared| shared.get(self.extended))
            .is_some_and(|one| one.in_fresh_memory)
    }

    /// The extension of the next fused kernel.
    pub fn next_extension(&mut self) -> Option<Extension> {
        let next = self.shared.as_ref().and_then(|shared| shared.get(self.extended)).cloned();
        self.extended += 1;
        next
    }

    pub fn mark_unsupported(&mut self, reason: &'static str) {
        self.unsupported.get_or_insert(reason);
    }

    /// Results that one kernel can compute: of one shape and layout.
    pub fn groups(&self, targets: Vec<LowerTarget>) -> Result<Vec<Vec<LowerTarget>>> {
        let mut groups: Vec<(Arc<Distribution>, Vec<LowerTarget>)> = Vec::new();
        for target in targets {
            let dist = self.distribution(&target)?;
            let fits = |(other, members): &&mut (Arc<Distribution>, Vec<LowerTarget>)| {
                other.shape() == dist.shape()
                    && other.same_layout(&dist)
                    && members.iter().all(|member| member.node != target.node)
            };
            match groups.iter_mut().find(fits) {
                Some((_, members)) => members.push(target),
                None => groups.push((dist, vec![target])),
            }
        }
        Ok(groups.into_iter().map(|(_, members)| members).collect())
    }

    /// Computes one group by as many kernels as it takes.
    pub fn compute(&mut self, targets: &[LowerTarget]) -> Result<()> {
        loop {
            interrupt::check("an evaluation")?;
            // Another kernel may have needed one, and it is computed.
            let is_due =
                |target: &&LowerTarget| target.node != target.result || !self.graph.is_memory(target.node);
            let targets: Vec<LowerTarget> = targets.iter().filter(is_due).cloned().collect();
            if targets.is_empty() {
                return Ok(());
            }
            let roots: Vec<NodeId> = targets.iter().map(|target| target.node).collect();
            if self.evaluate_stages(&roots)? {
                continue;
            }
            let dist = self.distribution(&targets[0])?;
            let (body, values) = match self.attempt("fused", &roots, &dist, roots.len())? {
                Ok(lowered) => lowered,
                Err(NotLowered::Retry) => continue,
                Err(NotLowered::TooLarge) => {
                    let (left, right) = targets.split_at(targets.len() / 2);
                    self.compute(left)?;
                    return self.compute(right);
                }
            };
            let accesses = self.accesses(&body.leaves, &dist)?;
            let reads = (&body.leaves[..], &accesses[..]);
            if let Some(node) = computed_elsewhere(self.graph, &roots, reads, &dist, self.team)? {
                self.evaluate(&[node])?;
                continue;
            }
            // Results get the halos that operands have from now on.
            self.update_halos(&accesses)?;
            let (results, stores) = self.results(&targets, &body.leaves)?;
            let dtypes: Vec<DType> = results.iter().map(|result| result.dtype).collect();
            let kernel = kernel_task((body, values), accesses, &dtypes, (&dist, stores))?;
            return self.push_compute(Compute { results, kernels: vec![kernel] });
        }
    }

    /// The access to a kernel's leaves by the parts, which compute what they own.
    pub fn accesses(&self, leaves: &[Leaf], dist: &Distribution) -> Result<Vec<Option<OperandAccess>>> {
        reads_of(self.graph, leaves, (dist, &ComputeRegion::owned(dist)), self.shared.is_some())
    }

    /// The distribution of the computation: each element on the part that keeps the result.
    pub fn distribution(&self, target: &LowerTarget) -> Result<Arc<Distribution>> {
        match (&target.placement, target.placement.window()) {
            (Placement::On(dist, _), _) => Ok(Arc::clone(dist)),
            (_, Some(window)) => Ok(Arc::new(window.dist.restricted(&self.window(target)?)?)),
            (_, None) => self.graph.distribution(target.node),
        }
    }

    fn window(&self, target: &LowerTarget) -> Result<Region> {
        let own = Region::from_shape(self.graph.shape(target.node))?;
        match target.placement.window() {
            None => Ok(own),
            Some(window) => Ok(own.shift(&window.start)?),
        }
    }

    /// The memory of the results of a kernel, and its stores.
    pub fn results(
        &self,
        targets: &[LowerTarget],
        leaves: &[Leaf],
    ) -> Result<(Vec<ResultMemory>, Vec<KernelStore>)> {
        let results = targets.iter().map(|target| self.result(target, leaves));
        let results = results.collect::<Result<Vec<ResultMemory>>>()?;
        let store = |(result, target): (usize, &ResultMemory)| {
            let window = match targets[result].placement {
                Placement::Fresh | Placement::On(..) | Placement::Temporary(_) => None,
                Placement::Window(_) | Placement::InPlace(_) => Some(target.window.window),
            };
            KernelStore { result, window }
        };
        let stores = results.iter().enumerate().map(store).collect();
        Ok((results, stores))
    }

    /// Whether steps of a `Loop` share exchanges.
    pub fn shares_exchanges(&self) -> bool {
        self.shared.is_some()
    }

    /// The memory of a result: with halos as wide as an operand's, because results of a stencil are the
    /// operands of the next.
    fn result(&self, target: &LowerTarget, leaves: &[Leaf]) -> Result<ResultMemory> {
        let (dist, dtype) = (self.distribution(target)?, self.graph.dtype(target.node));
        let own = || (Arc::clone(&dist), Arc::clone(&dist));
        let (storage, (memory, declared)) = match &target.placement {
            Placement::Fresh => {
                (ResultStorage::Fresh, (self.widest_like(Arc::clone(&dist), leaves), Arc::clone(&dist)))
            }
            Placement::On(..) => (ResultStorage::Fresh, own()),
            Placement::Window(BaseWindow { memory, dist, .. }) => {
                (ResultStorage::Fresh, (self.widest_like(Arc::clone(memory), leaves), Arc::clone(dist)))
            }
            Placement::InPlace(BaseWindow { memory, dist, .. }) => {
                (ResultStorage::InPlace, (Arc::clone(memory), Arc::clone(dist)))
            }
            Placement::Temporary(window) => (ResultStorage::Temporary(Arc::clone(&window.memory)), own()),
        };
        let window = match target.placement.window() {
            None => ArrayWindow::whole(&dist),
            Some(window) => ArrayWindow { base: Arc::clone(&window.dist), window: self.window(target)? },
        };
        let rest_of = match &target.placement {
            Placement::Window(at) => (window.window.extents() != at.dist.shape()).then_some(at.base),
            _ => None,
        };
        let pitch = self.pitch(target, leaves, &dist);
        Ok(ResultMemory { node: target.result, dtype, storage, memory, declared, pitch, window, rest_of })
    }

    /// The pitch of a result: that of the array that it is stored in or over, or congruent to the operands.
    fn pitch(&self, target: &LowerTarget, leaves: &[Leaf], dist: &Distribution) -> Pitch {
        let dtype = self.graph.dtype(target.node);
        match &target.placement {
            Placement::Fresh => Pitch::shifted(dtype, congruent_shift(self.graph, leaves, dtype, dist)),
            Placement::On(_, pitch) => *pitch,
            Placement::Window(window) | Placement::InPlace(window) => window.pitch,
            Placement::Temporary(window) => {
                let along = window.pitch.row(&window.memory.shape());
                let first = along.map_or(0, |row| window.start[row.dim]);
                Pitch::shifted(dtype, window.pitch.shift() + first)
            }
        }
    }

    /// The layout with the halo widths of an operand's memory that has room for it.
    fn widest_like(&self, dist: Arc<Distribution>, leaves: &[Leaf]) -> Arc<Distribution> {
        let width = |dist: &Distribution| {
            let (lo, hi) = dist.halo();
            lo.iter().chain(hi.iter()).sum::<i64>()
        };
        let memory = |leaf: &Leaf| match leaf.source {
            Source::Memory(node) => self.graph.memory(node).cloned(),
            Source::List(..) | Source::Number(..) => None,
        };
        let others = leaves.iter().filter_map(memory).filter(|other| other.has_room_for(&dist));
        others.fold(dist.clone(), |best, other| if width(&other) > width(&best) { other } else { best })
    }

    /// Several roots in one body over `dist`, with `reserved` parameters left for the caller. Computes what
    /// has to be computed first.
    pub fn attempt(
        &mut self,
        name: &str,
        roots: &[NodeId],
        dist: &Arc<Distribution>,
        reserved: usize,
    ) -> Result<std::result::Result<Body, NotLowered>> {
        let max_leaves = self.team.max_params().saturating_sub(reserved).max(1);
        let mut body = KernelBody::new(name, dist, max_leaves);
        let mut values = Vec::new();
        for &root in roots {
            match body.lower(self.graph, root)? {
                Ok(value) => values.push(value),
                Err(Prerequisite(node)) if roots.len() > 1 && roots.contains(&node) => {
                    return Ok(Err(NotLowered::TooLarge));
                }
                Err(Prerequisite(node)) => {
                    self.compute_prerequisite(roots, node)?;
                    return Ok(Err(NotLowered::Retry));
                }
            }
        }
        let is_too_large = body.binds_too_much() && roots.len() > 1;
        Ok(if is_too_large { Err(NotLowered::TooLarge) } else { Ok((body, values)) })
    }

    /// Computes those nodes that are reductions whose folded axes are dropped. They share the reductions'
    /// memory: dropping an axis of one cell leaves every element on its part.
    pub fn reductions_without_axes(&mut self, nodes: &[NodeId]) -> Result<()> {
        let graph = &*self.graph;
        let reduction = |&node: &NodeId| {
            let Some(Expr::View { base, map }) = graph.expr(node) else { return None };
            let drops = graph.is_reduction(*base) && map.drops_axes(graph.shape(*base), graph.shape(node));
            let stays =
                matches!(graph.layout(node), NodeLayout::ViewOf(of, along) if of == *base && along == *map);
            (drops && stays).then_some((node, *base))
        };
        let views: Vec<(NodeId, NodeId)> = nodes.iter().filter_map(reduction).collect();
        if views.is_empty() {
            return Ok(());
        }
        let dists = views.iter().map(|&(node, _)| graph.distribution(node)).collect::<Result<Vec<_>>>()?;
        self.evaluate(&views.iter().map(|&(_, base)| base).collect::<Vec<NodeId>>())?;
        for ((node, base), dist) in views.into_iter().zip(dists) {
            if let Some(pitch) = self.seen(base, &dist) {
                self.share_memory(node, base, (&dist, pitch));
            }
        }
        Ok(())
    }

    /// The values within `node` that steps of their own compute, nested so deeply that they are computed
    /// before, the innermost first, rather than by recursion.
    pub fn deeply_nested(&self, node: NodeId) -> Vec<NodeId> {
        const MOST_LEVELS: u32 = 16;
        let mut levels: FxHashMap<NodeId, u32> = HashMap::default();
        let mut found = Vec::new();
        // Operands come before those that use them.
        for inner in self.graph.reached([node], None).lazy {
            let below = self.graph.operands(inner).filter_map(|x| levels.get(&x).copied()).max();
            let expr = self.graph.expr(inner);
            let is_one = matches!(expr, Some(Expr::Joined(_) | Expr::Whole(..) | Expr::Reshaped { .. }));
            let level = below.unwrap_or(0) + u32::from(is_one);
            levels.insert(inner, level % MOST_LEVELS);
            if is_one && level == MOST_LEVELS {
                found.push(inner);
            }
        }
        found
    }

    /// A computed node as steps see it.
    pub fn stored(&self, node: NodeId) -> Result<StoredArray> {
        let (shape, dtype) = (*self.graph.shape(node), self.graph.dtype(node));
        let state = self.graph.memory_state(node).ok_or_else(|| not_computed(self.graph, node))?;
        let [dist, declared] = [&state.dist, &state.declared].map(|dist| Arc::clone(dist));
        Ok(StoredArray { node, shape, dtype, dist, declared, pitch: state.pitch })
    }

    /// Computes what a kernel waits for.
    fn compute_prerequisite(&mut self, roots: &[NodeId], node: NodeId) -> Result<()> {
        for inner in self.deeply_nested(node) {
            self.evaluate(&[inner])?;
        }
        if let Some(&Expr::Reshaped { base }) = self.graph.expr(node) {
            return self.reshape(node, base);
        }
        // Of a kernel and the reduction or the slice that it waits for, what both need.
        let both: Vec<NodeId> = roots.iter().copied().chain([node]).collect();
        let common = match self.graph.is_operation(node) {
            true => Vec::new(),
            false => common_to_kernels(self.graph, &both)?,
        };
        match (common.is_empty(), self.graph.is_reduction(node)) {
            (false, _) => self.evaluate(&common),
            // All reductions that are needed, so that those over one operand share a pass.
            (true, true) => self.reductions(roots),
            (true, false) => self.evaluate(&[node]),
        }
    }
}

/// The shift with which most rows that are read lie as the rows of a result on `dist`: where the operand is
/// longer, as a slice of it is read. Of several, the one in the middle: that of a stencil's centre.
fn congruent_shift(graph: &Graph, leaves: &[Leaf], dtype: DType, dist: &Distribution) -> i64 {
    let Some(along) = Pitch::of(dtype).row(&dist.shape()) else { return 0 };
    let mut rows: Vec<(i64, NodeId, Map)> = Vec::new();
    for leaf in leaves {
        let Source::Memory(node) = leaf.source else { continue };
        let Some(MemoryState { dist: from, pitch, .. }) = graph.memory_state(node) else { continue };
        let Some(Row { dim: inner, .. }) = Pitch::of(leaf.dtype).row(&from.shape()) else { continue };
        for map in &leaf.maps {
            let Along::Dim { dim, offset, step: 1 } = map.axes()[inner] else { continue };
            let is_slice = from.shape()[inner] != dist.shape()[along.dim];
            let shift = pitch.shift() + if is_slice { offset } else { 0 };
            let row = (shift, node, map.without_offset(inner));
            if dim == along.dim && !rows.contains(&row) {
                rows.push(row);
            }
        }
    }
    let count = |shift: i64| rows.iter().filter(|row| (row.0 - shift) % Pitch::SHIFTS == 0).count();
    let most = rows.iter().map(|row| count(row.0)).max().unwrap_or(0);
    let mut best: Vec<i64> = rows.iter().map(|row| row.0).filter(|&shift| count(shift) == most).collect();
    best.sort_unstable();
    best.dedup();
    best.get(best.len().saturating_sub(1) / 2).map_or(0, |shift| shift.rem_euclid(Pitch::SHIFTS))
}

/// The kernel that stores the values of a body.
pub(crate) fn kernel_task(
    (mut body, values): Body,
    accesses: Vec<Option<OperandAccess>>,
    dtypes: &[DType],
    (dist, stores): (&Arc<Distribution>, Vec<KernelStore>),
) -> Result<ComputeKernel> {
    let placed = body.placed();
    let outputs: Vec<(u32, Value)> =
        dtypes.iter().zip(values).map(|(&dtype, value)| (body.builder.output(dtype), value)).collect();
    let kernel = simplify(&body.builder.elementwise(&outputs)?);
    let (leaves, arguments, dist) = (body.leaves, body.arguments, Arc::clone(dist));
    Ok(ComputeKernel { kernel, leaves, accesses, placed, arguments, dist, stores, folds: None })
}
