//! [`lower`]: from a graph to steps: the order in which nodes are computed, fused kernels, and nodes that one
//! list of steps computes from the memory of their base. Joined and reshaped values and reductions have files
//! of their own.

use std::sync::Arc;

use partita_kernels::{DType, Value, simplify};

use crate::array::lower::access::{AccessMethod, OperandAccess, computed_elsewhere, not_computed, reads_of};
use crate::array::lower::body::{KernelBody, Leaf, Prerequisite, Source};
use crate::array::lower::division::{common_to_kernels, stages};
use crate::array::lower::graph::{Graph, GraphTarget, GraphWindow, MemoryState, NodeId, Placement};
use crate::array::lower::steps::list::{
    Compute, ComputeKernel, KernelStore, Lowered, ResultMemory, ResultStorage, Step, StepList, StoredArray,
};
use crate::array::lower::steps::listed::{gather_elements, gather_window};
use crate::array::lower::steps::scan::scan;
use crate::array::lower::steps::sort::sort;
use crate::array::memory::pitch::{Pitch, Row};
use crate::array::memory::storage::{HaloWidths, widened};
use crate::array::memory::window::ArrayWindow;
use crate::array::record::expr::{AxisScan, AxisSort, DistKey, Expr, Which};
use crate::array::record::map::Map;
use crate::error::Result;
use crate::index::{Along, Distribution, Index, Region};
use crate::interrupt;
use crate::team::Team;

/// The steps that compute a graph's targets. `shares_exchange` says that steps of a `Loop` share exchanges:
/// then halos hold what would be fetched otherwise.
pub(crate) fn lower(graph: &mut Graph, team: &Team, shares_exchange: bool) -> Result<Lowered> {
    let mut lowerer = Lowerer { graph, team, shares_exchange, list: StepList::default(), unsupported: None };
    let targets = lowerer.graph.targets.clone();
    let is_fresh = |target: &&GraphTarget| target.placement == Placement::Fresh;
    let roots: Vec<NodeId> = targets.iter().filter(is_fresh).map(|target| target.node).collect();
    lowerer.evaluate(&roots)?;
    let mut results: Vec<NodeId> = targets.iter().map(|target| target.node).collect();
    let mut placed = Vec::new();
    for (at, target) in targets.iter().enumerate().filter(|(_, target)| !is_fresh(target)) {
        results[at] = lowerer.placeholder(target.node);
        let GraphTarget { node, placement } = target.clone();
        placed.push(LowerTarget { node, placement, result: results[at], target: Some(at) });
    }
    for group in lowerer.groups(placed)? {
        lowerer.compute(&group)?;
    }
    Ok(Lowered { list: lowerer.list, results, unsupported: lowerer.unsupported })
}

/// A lowering under way. A node is memory in the graph from the step on that computes it.
pub(crate) struct Lowerer<'t> {
    pub graph: &'t mut Graph,
    pub team: &'t Team,
    pub list: StepList,
    pub unsupported: Option<&'static str>,
    shares_exchange: bool,
}

/// A result of a kernel.
#[derive(Clone)]
pub(crate) struct LowerTarget {
    pub node: NodeId,
    pub placement: Placement<GraphWindow>,
    /// The node that is memory afterwards.
    pub result: NodeId,
    pub target: Option<usize>,
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
        let fresh =
            |node: NodeId| LowerTarget { node, placement: Placement::Fresh, result: node, target: None };
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
            Expr::Listed { base, which } => self.gather_elements(node, base, &which),
            Expr::Scan { operand, scan } => self.scan(node, operand, scan),
            Expr::Sort { operand, sort } => self.sort(node, operand, sort),
            Expr::Redistributed { base } => self.redistribute(node, base),
            Expr::Moved { base } => self.move_elements(node, base),
            Expr::Butterflies(pass, operands) => self.butterflies(node, pass, &operands),
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

    pub fn mark_unsupported(&mut self, reason: &'static str) {
        self.unsupported.get_or_insert(reason);
    }

    /// Results that one kernel can compute: of one shape and layout.
    fn groups(&self, targets: Vec<LowerTarget>) -> Result<Vec<Vec<LowerTarget>>> {
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
        let roots: Vec<NodeId> = targets.iter().map(|target| target.node).collect();
        loop {
            interrupt::check("an evaluation")?;
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
            let results = targets.iter().map(|target| self.result(target, &body.leaves));
            let results = results.collect::<Result<Vec<ResultMemory>>>()?;
            let store = |(result, target): (usize, &ResultMemory)| {
                let window = match target.storage {
                    ResultStorage::Temporary(_) => None,
                    ResultStorage::Fresh if targets[result].placement == Placement::Fresh => None,
                    ResultStorage::Fresh | ResultStorage::InPlace => Some(target.window.window),
                };
                KernelStore { result, window }
            };
            let stores = results.iter().enumerate().map(store).collect();
            let dtypes: Vec<DType> = results.iter().map(|result| result.dtype).collect();
            let kernel = kernel_task((body, values), accesses, &dtypes, (&dist, stores))?;
            self.push_compute(Compute { results, kernels: vec![kernel] });
            return Ok(());
        }
    }

    /// Adds the step, and notes what it leaves in memory.
    pub fn push_compute(&mut self, compute: Compute) {
        for result in &compute.results {
            self.computed_in(result.node, (&result.memory, &result.declared), result.pitch);
        }
        self.list.steps.push(Step::Compute(compute));
    }

    /// Halos that are valid after the kernels with these operands: wider memory where it was too narrow.
    pub fn update_halos(&mut self, accesses: &[Option<OperandAccess>]) -> Result<()> {
        for access in accesses.iter().flatten() {
            let AccessMethod::Halo(halo) = &access.method else { continue };
            let Some(state) = self.graph.memory_state(access.node).cloned() else { continue };
            let MemoryState { dist, declared, pitch, valid } = state;
            let Some(wide) = widened(&dist, halo)? else { continue };
            let is_moved = !Arc::ptr_eq(&wide, &dist);
            if is_moved || !valid.covers(halo) {
                self.graph.set_memory(access.node, (&wide, &declared), pitch, halo.clone());
            }
        }
        Ok(())
    }

    /// How the leaves of a kernel reach the parts, which compute what they own.
    pub fn accesses(&self, leaves: &[Leaf], dist: &Distribution) -> Result<Vec<Option<OperandAccess>>> {
        reads_of(self.graph, leaves, dist, self.shares_exchange)
    }

    /// Where each element is computed: on the part that keeps the result.
    fn distribution(&self, target: &LowerTarget) -> Result<Arc<Distribution>> {
        match target.placement.window() {
            None => self.graph.distribution(target.node),
            Some(window) => Ok(Arc::new(window.dist.restricted(&self.window(target)?)?)),
        }
    }

    fn window(&self, target: &LowerTarget) -> Result<Region> {
        let own = Region::from_shape(self.graph.shape(target.node))?;
        match target.placement.window() {
            None => Ok(own),
            Some(window) => Ok(own.shift(&window.start)?),
        }
    }

    /// The memory of a result: with halos as wide as an operand's, because results of a stencil are the
    /// operands of the next.
    fn result(&self, target: &LowerTarget, leaves: &[Leaf]) -> Result<ResultMemory> {
        let (dist, dtype) = (self.distribution(target)?, self.graph.dtype(target.node));
        let base = |key: &DistKey| Arc::clone(key);
        let (storage, memory, declared) = match &target.placement {
            Placement::Fresh => {
                (ResultStorage::Fresh, self.widest_like(Arc::clone(&dist), leaves), Arc::clone(&dist))
            }
            Placement::WindowOfFresh(window) => {
                let memory = match target.target {
                    Some(_) => self.widest_like(base(&window.memory), leaves),
                    // The caller needs memory without halos.
                    None => base(&window.memory),
                };
                (ResultStorage::Fresh, memory, base(&window.dist))
            }
            Placement::InPlace(window) => (ResultStorage::InPlace, base(&window.memory), base(&window.dist)),
            Placement::Temporary(window) => {
                (ResultStorage::Temporary(base(&window.memory)), Arc::clone(&dist), Arc::clone(&dist))
            }
        };
        let window = match target.placement.window() {
            None => ArrayWindow::whole(&dist),
            Some(window) => ArrayWindow { base: base(&window.dist), window: self.window(target)? },
        };
        let pitch = self.pitch(target, leaves, &dist);
        let LowerTarget { result: node, target, .. } = *target;
        Ok(ResultMemory { node, dtype, storage, memory, declared, pitch, window, target })
    }

    /// How the rows of a result lie: as those of the array that it is stored in or over, or congruent to the
    /// operands.
    fn pitch(&self, target: &LowerTarget, leaves: &[Leaf], dist: &Distribution) -> Pitch {
        let dtype = self.graph.dtype(target.node);
        match &target.placement {
            Placement::Fresh => Pitch::shifted(dtype, congruent_shift(self.graph, leaves, dtype, dist)),
            Placement::WindowOfFresh(window) | Placement::InPlace(window) => window.pitch,
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
    Ok(ComputeKernel { kernel, leaves, accesses, placed, arguments, dist, stores })
}

impl Lowerer<'_> {
    /// A computed node as steps see it.
    fn stored(&self, node: NodeId) -> Result<StoredArray> {
        let (shape, dtype) = (*self.graph.shape(node), self.graph.dtype(node));
        let state = self.graph.memory_state(node).ok_or_else(|| not_computed(self.graph, node))?;
        let [dist, declared] = [&state.dist, &state.declared].map(|dist| Arc::clone(dist));
        Ok(StoredArray { node, shape, dtype, dist, declared, pitch: state.pitch })
    }

    /// The node as an array that steps make.
    fn made(&mut self, node: NodeId, dist: Arc<Distribution>, pitch: Pitch) -> Result<StoredArray> {
        self.computed_in(node, (&dist, &dist), pitch);
        self.stored(node)
    }

    /// A window whose elements lie scattered in the base's memory.
    fn gather_window(&mut self, node: NodeId, base: NodeId, start: &Index) -> Result<()> {
        self.mark_unsupported("the step reads a slice along an unordered list");
        self.evaluate(&[base])?;
        let window = Region::from_shape(self.graph.shape(node))?.shift(start)?;
        let steps = Index::filled(window.rank(), 1);
        let dist = Arc::new(self.graph.distribution(base)?.strided(&window, &steps)?);
        let (base, pitch) = (self.stored(base)?, Pitch::of(self.graph.dtype(node)));
        let made = self.made(node, dist, pitch)?;
        gather_window(&mut self.list, &base, &window, &made)
    }

    /// Elements by their number in C order.
    fn gather_elements(&mut self, node: NodeId, base: NodeId, which: &Which) -> Result<()> {
        self.mark_unsupported("the step takes elements by their number in C order");
        self.evaluate(&[base])?;
        let (base, dist) = (self.stored(base)?, self.graph.distribution(node)?);
        // By number: without gaps.
        let made = self.made(node, dist, Pitch::Packed)?;
        gather_elements(&mut self.list, &base, which, &made)
    }

    /// A scan of a value that is computed before.
    fn scan(&mut self, node: NodeId, base: NodeId, by: AxisScan) -> Result<()> {
        self.mark_unsupported("the step has a scan");
        self.evaluate(&[base])?;
        let (base, dist) = (self.stored(base)?, self.graph.distribution(node)?);
        let made = self.made(node, dist, Pitch::of(base.dtype))?;
        scan(&mut self.list, self.team, &base, by, &made)
    }

    /// A sort of a value that is computed before.
    fn sort(&mut self, node: NodeId, base: NodeId, by: AxisSort) -> Result<()> {
        self.mark_unsupported("the step sorts");
        self.evaluate(&[base])?;
        let (base, dist) = (self.stored(base)?, self.graph.distribution(node)?);
        let pitch = Pitch::of(self.graph.dtype(node));
        let made = self.made(node, dist, pitch)?;
        sort(&mut self.list, self.team, &base, by, &made)
    }

    /// The elements of a base, which is computed before, on another distribution.
    fn redistribute(&mut self, node: NodeId, base: NodeId) -> Result<()> {
        self.mark_unsupported("the step redistributes an array");
        self.evaluate(&[base])?;
        let (base, dist) = (self.stored(base)?, self.graph.distribution(node)?);
        let made = self.made(node, dist, Pitch::of(base.dtype))?;
        self.list.allocate(&made);
        let ends = [(base.memory(), &*base.dist), (made.memory(), &*made.dist)];
        self.list.redistribute(self.team, "another distribution", ends, (base.dtype, base.shape))
    }

    /// The elements of a base on another team, which is computed before.
    fn move_elements(&mut self, node: NodeId, base: NodeId) -> Result<()> {
        self.mark_unsupported("the step reads an array of another team");
        let (dist, dtype) = (self.graph.distribution(node)?, self.graph.dtype(node));
        self.list.steps.push(Step::Move { result: node, base, dist: Arc::clone(&dist), dtype });
        self.computed(node, &dist);
        Ok(())
    }
}
