//! Evaluation: from recorded expressions to a schedule, executed.
//!
//! For each group of results: lower them to one kernel, bring every operand where the kernel of
//! each part can read it (nothing to do if the part owns it; ONE halo plan however many shifted
//! reads there are; otherwise one fetch plan into temporary memory), then one launch per part. Where
//! operands come from other ranks, or from or to CUDA devices, each part's core is computed while they
//! travel, if it can be (`transport::Leisure`), and its rim after, beside the core if that takes longer.
//!
//! Invariant: kernels never communicate. Everything a launch reads is on its own device before.

use std::cell::Cell;
use std::sync::Arc;

use partita_kernels::{DType, Value};

use crate::array::bind::schedule::{ScheduleBuilder, missing_part};
use crate::array::explain::outline::{is_telling, nowhere, tell};
use crate::array::loops::analysis;
use crate::array::loops::analysis::{KernelEvent, OperandRead, StepEvent};
use crate::array::lower::body::{Leaf, Lowering, Prerequisite, Source};
use crate::array::lower::common::computed_first;
use crate::array::lower::compute_region::{ArrayWindow, ComputeRegion};
use crate::array::lower::locality::computed_elsewhere;
use crate::array::lower::operand_access::operand_accesses;
use crate::array::lower::reduction_groups::{compute_reductions, is_pending};
use crate::array::lower::stages::evaluate_stages;
use crate::array::memory::storage::{HaloWidths, Storage, widened};
use crate::array::record::node::Node;
use crate::array::run::cache::CacheLookup;
use crate::array::run::launches::{Fused, queue};
use crate::array::run::reshape::{Reshaping, resolve};
use crate::array::run::{elements, gather_window, joined};
use crate::error::Result;
use crate::index::{Distribution, Index, Region};
use crate::interrupt;
use crate::team::Team;
use crate::wire::pass;

thread_local! {
    static IS_EVALUATING: Cell<bool> = const { Cell::new(false) };
}

/// Marks this thread as one that evaluates, until it is dropped.
struct Evaluating {
    before: bool,
}

impl Evaluating {
    fn begin() -> Evaluating {
        Evaluating { before: IS_EVALUATING.replace(true) }
    }
}

impl Drop for Evaluating {
    fn drop(&mut self) {
        IS_EVALUATING.set(self.before);
    }
}

/// Whether this thread evaluates.
pub(crate) fn is_evaluating() -> bool {
    IS_EVALUATING.get()
}

/// Computes every node that is not computed yet.
pub(crate) fn evaluate(roots: &[Arc<Node>]) -> Result<()> {
    pass("eval")?;
    interrupt::check("an evaluation")?;
    let _evaluating = Evaluating::begin();
    let lazy: Vec<Arc<Node>> = roots.iter().filter(|node| node.storage().is_none()).cloned().collect();
    if let Some(error) = lazy.iter().find_map(|node| node.error()) {
        return Err(error);
    }
    let is_reduction = lazy.iter().any(|node| is_pending(node));
    if is_reduction {
        evaluate_stages(&lazy)?;
    }
    let common = computed_first(&lazy)?;
    if !common.is_empty() {
        evaluate(&common)?;
    }
    if is_reduction {
        compute_reductions(&lazy)?;
    }
    for node in &lazy {
        if node.storage().is_some() {
            continue;
        }
        if let Some(storage) = compute_separately(node)? {
            node.set_ready(storage);
        }
    }
    let pointwise: Vec<Target> = lazy
        .into_iter()
        .filter(|node| node.storage().is_none())
        .map(|node| Target { node, placement: Placement::Fresh })
        .collect();
    for group in group(pointwise)? {
        let nodes: Vec<Arc<Node>> = group.iter().map(|target| Arc::clone(&target.node)).collect();
        for (node, storage) in nodes.iter().zip(compute(&group)?) {
            node.set_ready(storage);
        }
    }
    Ok(())
}

/// Computes what takes more than a kernel that goes through its operands; `None` for all else.
fn compute_separately(node: &Arc<Node>) -> Result<Option<Storage>> {
    if let Some((base, start)) = gather_window::scattered_window(node)? {
        return gather_window::compute(node, &base, &start).map(Some);
    }
    if let Some(portions) = joined::portions(node) {
        return joined::compute(node, &portions).map(Some);
    }
    if let Reshaping::Memory(storage) = resolve(node)? {
        return Ok(Some(*storage));
    }
    match elements::listed(node) {
        Some((base, which)) => elements::compute(node, &base, &which).map(Some),
        None => Ok(None),
    }
}

/// One result of a kernel.
pub(crate) struct Target {
    /// What to compute.
    pub node: Arc<Node>,
    pub placement: Placement,
}

/// The memory of a result: fresh, unless it says whose it is.
pub(crate) enum Placement {
    /// Its own.
    Fresh,
    /// Shaped like that node's, where it is the window that starts at the index.
    WindowOfFresh(Arc<Node>, Index),
    /// That node's itself, in the same way: nobody needs the elements that are there, this result neither.
    InPlace(Arc<Node>, Index),
    /// As large as that window.
    Temporary(Arc<Node>, Index),
}

/// Results that one kernel can compute: same team, shape and layout.
pub(crate) fn group(targets: Vec<Target>) -> Result<Vec<Vec<Target>>> {
    let mut groups: Vec<(Arc<Distribution>, Vec<Target>)> = Vec::new();
    for target in targets {
        let dist = target.distribution()?;
        let fits = |(other, members): &&mut (Arc<Distribution>, Vec<Target>)| {
            let first = &members[0].node;
            first.team == target.node.team
                && other.shape() == dist.shape()
                && other.same_layout(&dist)
                && members.iter().all(|member| !Arc::ptr_eq(&member.node, &target.node))
        };
        match groups.iter_mut().find(fits) {
            Some((_, members)) => members.push(target),
            None => groups.push((dist, vec![target])),
        }
    }
    Ok(groups.into_iter().map(|(_, members)| members).collect())
}

impl Target {
    /// Where each element is computed: on the part that keeps the result.
    fn distribution(&self) -> Result<Arc<Distribution>> {
        match &self.placement {
            Placement::Fresh => self.node.distribution(),
            Placement::WindowOfFresh(base, _)
            | Placement::InPlace(base, _)
            | Placement::Temporary(base, _) => {
                Ok(Arc::new(base.distribution()?.restricted(&self.window()?)?))
            }
        }
    }

    fn window(&self) -> Result<Region> {
        let own = Region::from_shape(&self.node.shape)?;
        match &self.placement {
            Placement::Fresh => Ok(own),
            Placement::WindowOfFresh(_, start)
            | Placement::InPlace(_, start)
            | Placement::Temporary(_, start) => Ok(own.shift(start)?),
        }
    }

    /// The cells among which its own lie. `dist` is that of its elements.
    pub fn frame(&self, dist: &Arc<Distribution>) -> Result<ArrayWindow> {
        match &self.placement {
            Placement::Fresh => Ok(ArrayWindow::whole(dist)),
            Placement::WindowOfFresh(base, _)
            | Placement::InPlace(base, _)
            | Placement::Temporary(base, _) => {
                Ok(ArrayWindow { base: base.distribution()?, window: self.window()? })
            }
        }
    }

    /// The old value, if the new memory keeps some of its elements.
    fn kept(&self) -> Result<Option<Arc<Storage>>> {
        let Placement::WindowOfFresh(base, _) = &self.placement else { return Ok(None) };
        Ok(base.storage().filter(|old| self.node.shape != old.dist.shape()))
    }

    /// The memory it is computed into, if that is there already.
    fn standing(&self) -> Option<Arc<Storage>> {
        match &self.placement {
            Placement::InPlace(base, _) => base.storage(),
            Placement::Fresh | Placement::WindowOfFresh(..) | Placement::Temporary(..) => None,
        }
    }

    /// The memory it is computed into, on `dist`, for an array on `declared`.
    pub fn memory(
        &self,
        team: &Team,
        (dist, declared): (&Arc<Distribution>, &Arc<Distribution>),
        dtype: DType,
    ) -> Result<Storage> {
        let storage = match self.standing() {
            Some(there) => Storage::from_parts(Arc::clone(dist), there.parts.clone()),
            None => Storage::new(team, Arc::clone(dist), dtype)?,
        };
        Ok(storage.declaring(declared))
    }

    /// The distribution of the array that gets the memory.
    fn declared(&self) -> Result<Arc<Distribution>> {
        match &self.placement {
            Placement::Fresh | Placement::Temporary(..) => self.distribution(),
            Placement::WindowOfFresh(base, _) | Placement::InPlace(base, _) => base.distribution(),
        }
    }

    /// How its memory is divided: with halos of the width of an operand's or of `room`.
    fn layout(&self, leaves: &[Leaf], room: Option<&HaloWidths>) -> Result<Arc<Distribution>> {
        if let Some(there) = self.standing() {
            return Ok(Arc::clone(&there.dist));
        }
        let dist = match &self.placement {
            Placement::Fresh => widest_like(self.distribution()?, leaves),
            Placement::WindowOfFresh(base, _) | Placement::InPlace(base, _) => base.memory_layout()?,
            Placement::Temporary(..) => self.distribution()?,
        };
        match room {
            None => Ok(dist),
            Some(room) => Ok(widened(&dist, room)?.unwrap_or(dist)),
        }
    }

    /// Where the part's memory on `dist` has the first cell of its zone.
    fn corner(&self, dist: &Arc<Distribution>, part: usize, zone: &ComputeRegion) -> Result<Index> {
        match &self.placement {
            Placement::Fresh | Placement::Temporary(..) => Ok(*zone.bounds.start()),
            Placement::WindowOfFresh(..) | Placement::InPlace(..) => {
                ArrayWindow { base: Arc::clone(dist), window: self.window()? }.corner(part, &zone.bounds)
            }
        }
    }
}

/// Where the parts compute a group: the cells they own or, in a deep loop, more of them if everything that
/// these follow from is there.
struct OutputLayout {
    regions: Vec<ComputeRegion>,
    grow: HaloWidths,
    layouts: Vec<Arc<Distribution>>,
}

impl OutputLayout {
    /// The kernel asks for coordinates along the dimensions `placed`.
    fn of(
        targets: &[Target],
        (leaves, placed): (&[Leaf], &[bool]),
        dist: &Arc<Distribution>,
        work: &ScheduleBuilder,
    ) -> Result<OutputLayout> {
        let extension = analysis::next_extension();
        let room = extension.as_ref().map(|extension| &extension.room);
        let layouts = targets.iter().map(|t| t.layout(leaves, room)).collect::<Result<Vec<_>>>()?;
        if let Some(extension) = extension.filter(|extension| !extension.grow.is_zero()) {
            let frame = targets[0].frame(dist)?;
            let regions = frame.regions(dist, &extension.grow, placed)?;
            let extent = OutputLayout { regions, grow: extension.grow, layouts };
            if extent.is_held(targets, leaves, dist, work)? {
                return Ok(extent);
            }
            analysis::mark_unsupported(|| "an evaluation lacks what its neighbours have".to_owned());
            return Ok(OutputLayout {
                regions: ComputeRegion::owned(dist),
                grow: HaloWidths::zero(dist.rank()),
                ..extent
            });
        }
        Ok(OutputLayout { regions: ComputeRegion::owned(dist), grow: HaloWidths::zero(dist.rank()), layouts })
    }

    /// Whether all that the regions need is current, and all that they give has a place.
    fn is_held(
        &self,
        targets: &[Target],
        leaves: &[Leaf],
        dist: &Arc<Distribution>,
        work: &ScheduleBuilder,
    ) -> Result<bool> {
        let frame = targets[0].frame(dist)?;
        for (target, layout) in targets.iter().zip(&self.layouts) {
            let HaloWidths { lo, hi, .. } = &self.grow;
            let kept = target
                .kept()?
                .is_none_or(|old| work.valid_halo(&old).covers(&self.grow) && old.dist.stores(lo, hi));
            let has_room = match &target.placement {
                Placement::Fresh | Placement::WindowOfFresh(..) | Placement::InPlace(..) => {
                    layout.stores(lo, hi)
                }
                Placement::Temporary(base, _) => {
                    base.memory_layout()?.stores(lo, hi) && holds(layout, &self.regions)
                }
            };
            if !kept || !has_room || !target.frame(dist)?.is_like(&frame) {
                return Ok(false);
            }
        }
        work.holds(leaves, dist, &self.regions)
    }
}

/// Whether memory on a distribution has room for regions of its own coordinates.
pub(crate) fn holds(dist: &Distribution, regions: &[ComputeRegion]) -> bool {
    let fits = |(part, zone): (usize, &ComputeRegion)| dist.stored(part).contains_region(&zone.bounds);
    regions.iter().enumerate().all(fits)
}

/// Tells a deep loop what was computed.
fn log_for_loop(
    targets: &[Target],
    storages: &[Storage],
    leaves: &[Leaf],
    placed: Vec<bool>,
    dist: &Arc<Distribution>,
) -> Result<()> {
    let frame = targets[0].frame(dist)?;
    let mut kept = Vec::new();
    let mut alike = true;
    for target in targets {
        kept.extend(target.kept()?.map(|old| (old.number, Arc::clone(&old.dist))));
        alike &= target.frame(dist)?.is_like(&frame);
    }
    let read = |leaf: &Leaf| {
        let Source::Array(node, storage) = &leaf.source else { return None };
        let storage = node.storage().unwrap_or_else(|| Arc::clone(storage));
        let (number, dist) = (storage.number, Arc::clone(&storage.dist));
        Some(OperandRead { number, dist, node: Arc::downgrade(node), maps: leaf.maps.clone() })
    };
    analysis::log(|| {
        StepEvent::Computed(Box::new(KernelEvent {
            frame,
            dist: Arc::clone(dist),
            placed,
            reads: leaves.iter().filter_map(read).collect(),
            results: storages.iter().map(|new| (new.number, Arc::clone(&new.dist))).collect(),
            aside: targets.iter().any(|target| matches!(target.placement, Placement::Temporary(..))),
            alike,
            kept,
        }))
    });
    Ok(())
}

/// Computes one group. The storages come back in the order of the targets, with halos current as far as they
/// were computed; cells outside a target's region have arbitrary contents.
pub(crate) fn compute(targets: &[Target]) -> Result<Vec<Storage>> {
    loop {
        if let Some(storages) = try_compute(targets)? {
            return Ok(storages);
        }
    }
}

/// `None` if something else was computed that had to be there before.
fn try_compute(targets: &[Target]) -> Result<Option<Vec<Storage>>> {
    interrupt::check("an evaluation")?;
    let first = &targets[0].node;
    let lookup = cache_lookup(targets)?;
    if let Some(lookup) = &lookup
        && let Some(storages) = lookup.repeat(&first.team, targets)?
    {
        return Ok(Some(storages));
    }
    let nodes: Vec<Arc<Node>> = targets.iter().map(|target| Arc::clone(&target.node)).collect();
    if evaluate_stages(&nodes)? {
        return Ok(None);
    }
    let dist = targets[0].distribution()?;
    let roots: Vec<&Arc<Node>> = nodes.iter().collect();
    let (lowering, values) = match attempt("fused", &roots, &dist, roots.len())? {
        Ok(lowered) => lowered,
        // What it reads now is memory, so that it may be cached.
        Err(NotLowered::Retry) => return Ok(None),
        Err(NotLowered::TooLarge) => {
            let (left, right) = targets.split_at(targets.len() / 2);
            let mut storages = compute(left)?;
            storages.extend(compute(right)?);
            return Ok(Some(storages));
        }
    };
    let mut found = operand_accesses(&lowering.leaves, &dist, &ComputeRegion::owned(&dist))?;
    if let Some(node) = computed_elsewhere(&roots, &lowering.leaves, &found, &dist)? {
        evaluate(&[node])?;
        return Ok(None);
    }
    let dtypes: Vec<DType> = targets.iter().map(|target| target.node.dtype).collect();
    let fused = Fused::new(lowering, values, &dtypes, &dist)?;
    if is_telling() {
        let cells = dist.global().volume()? as u64;
        let written = dtypes.iter().map(|dtype| dtype.size_bytes() as u64 * cells).sum();
        tell(fused.kernel.kernel(), &fused.leaves, &found, &dist, written)?;
        return Ok(Some(targets.iter().map(|_| nowhere(Arc::clone(&dist))).collect()));
    }
    let mut work = ScheduleBuilder::new(&first.team);
    pass("eval-lowered")?;
    work.update_requested_halos()?;
    let OutputLayout { regions, grow, layouts } =
        OutputLayout::of(targets, (&fused.leaves, &fused.placed), &dist, &work)?;
    if !grow.is_zero() {
        found = operand_accesses(&fused.leaves, &dist, &regions)?;
    }
    let inputs = work.bind_operands(&fused.leaves, &found, &dist, &regions)?;
    let allocate = |(target, dist): (&Target, &Arc<Distribution>)| {
        target.memory(&first.team, (dist, &target.declared()?), target.node.dtype)
    };
    let storages = targets.iter().zip(&layouts).map(allocate).collect::<Result<Vec<Storage>>>()?;
    let launches = fused.launches((&first.team, &mut work), (regions, inputs), |part, zone| {
        let memory = |(target, storage): (&Target, &Storage)| {
            let place = storage.place(&first.team, part).ok_or_else(|| missing_part("eval"))?;
            let corner = target.corner(&storage.dist, part, zone)?;
            Ok((place.view(&corner), place))
        };
        targets.iter().zip(&storages).map(memory).collect()
    })?;
    queue(&mut work, &[launches])?;
    let cached = lookup.and_then(|lookup| lookup.prepare(fused.leaves.iter(), &work, &storages, &dtypes));
    work.finish()?;
    storages.iter().for_each(|storage| storage.set_valid_halo(grow.clone()));
    if let Some(cached) = cached {
        cached.keep(&first.team);
    }
    if analysis::is_logging() {
        log_for_loop(targets, &storages, &fused.leaves, fused.placed, &dist)?;
    }
    Ok(Some(storages))
}

/// The form of what is to be computed, if such forms are kept. What a deep loop asks for is no part of one.
pub(crate) fn cache_lookup(targets: &[Target]) -> Result<Option<CacheLookup>> {
    if is_telling() || analysis::shares_exchange() { Ok(None) } else { CacheLookup::of(targets) }
}

/// The given layout, with the halo widths of an operand's memory that has room for it: results of a stencil
/// are the operands of the next.
fn widest_like(dist: Arc<Distribution>, leaves: &[Leaf]) -> Arc<Distribution> {
    let width = |dist: &Distribution| {
        let (lo, hi) = dist.halo();
        lo.iter().chain(hi.iter()).sum::<i64>()
    };
    leaves
        .iter()
        .filter_map(|leaf| match &leaf.source {
            Source::Array(node, _) => node.storage(),
            Source::List(..) | Source::Number(..) => None,
        })
        .map(|storage| Arc::clone(&storage.dist))
        .filter(|other| other.has_room_for(&dist))
        .fold(dist.clone(), |best, other| if width(&other) > width(&best) { other } else { best })
}

/// Lowers several roots into one body over `dist`, leaving room for parameters of the caller's; computes
/// what has to be computed first. `None` if they are too many for one kernel of this team.
pub(crate) fn lower_all(
    name: &str,
    roots: &[&Arc<Node>],
    dist: &Arc<Distribution>,
    reserved: usize,
) -> Result<Option<(Lowering, Vec<Value>)>> {
    loop {
        match attempt(name, roots, dist, reserved)? {
            Ok(lowered) => return Ok(Some(lowered)),
            Err(NotLowered::Retry) => {}
            Err(NotLowered::TooLarge) => return Ok(None),
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

/// As [`lower_all`], once.
pub(crate) fn attempt(
    name: &str,
    roots: &[&Arc<Node>],
    dist: &Arc<Distribution>,
    reserved: usize,
) -> Result<std::result::Result<(Lowering, Vec<Value>), NotLowered>> {
    let max_leaves = roots[0].team.max_params().saturating_sub(reserved).max(1);
    let mut lowering = Lowering::new(name, dist, max_leaves);
    let mut values = Vec::new();
    for root in roots {
        match lowering.lower(root)? {
            Ok(value) => values.push(value),
            Err(Prerequisite(node))
                if roots.len() > 1 && roots.iter().any(|root| Arc::ptr_eq(root, &node)) =>
            {
                return Ok(Err(NotLowered::TooLarge));
            }
            Err(Prerequisite(node)) => {
                compute_prerequisite(roots, &node)?;
                return Ok(Err(NotLowered::Retry));
            }
        }
    }
    let is_too_large = lowering.binds_too_much() && roots.len() > 1;
    Ok(if is_too_large { Err(NotLowered::TooLarge) } else { Ok((lowering, values)) })
}

/// Computes what a kernel waits for.
fn compute_prerequisite(roots: &[&Arc<Node>], node: &Arc<Node>) -> Result<()> {
    for inner in joined::deeply_nested(node) {
        evaluate(&[inner])?;
    }
    match resolve(node)? {
        Reshaping::Other => {}
        Reshaping::Expression => return Ok(()),
        Reshaping::Memory(storage) => {
            node.set_ready(*storage);
            return Ok(());
        }
    }
    let all: Vec<Arc<Node>> = roots.iter().map(|&root| Arc::clone(root)).collect();
    // Of a kernel and the reduction or the slice that it waits for, what both need.
    let both = || all.iter().chain([node]).cloned().collect::<Vec<_>>();
    let common = if node.is_operation() { Vec::new() } else { computed_first(&both())? };
    match (common.is_empty(), is_pending(node)) {
        (false, _) => evaluate(&common),
        // All reductions that are needed, so that those over one operand share a pass.
        (true, true) => compute_reductions(&all),
        (true, false) => evaluate(std::slice::from_ref(node)),
    }
}
