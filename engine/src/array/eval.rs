//! Evaluation: from recorded expressions to a schedule, executed.
//!
//! For each group of results: lower them to one kernel, bring every operand where the kernel of
//! each part can read it (nothing to do if the part owns it; ONE halo plan however many shifted
//! reads there are; otherwise one fetch plan into temporary memory), then one launch per part. Where
//! operands come from other ranks, or from or to CUDA devices, each part's core is computed while they
//! travel, if it can be (`transport::Leisure`), and its rim after, beside the core if that takes longer.
//!
//! Invariant: kernels never communicate. Everything a launch reads is on its own device before.

use std::sync::Arc;

use partita_kernels::{DType, Value};

use super::deep::{self, Computed, Event, Read};
use super::direction::computed_elsewhere;
use super::fused::{compute_reductions, is_pending};
use super::launches::{Fused, queue};
use super::lower::{Cut, Leaf, Lowering, Source};
use super::node::Node;
use super::outline::{is_telling, nowhere, tell};
use super::prepared::Sketch;
use super::reshape::{Settled, settle};
use super::route::routes;
use super::shared::computed_first;
use super::storage::{Fresh, Storage, widened};
use super::work::{Work, missing_part};
use super::zone::{Frame, Zone};
use super::{joined, pick, rearrange};
use crate::error::Result;
use crate::index::{Distribution, Index, Region};
use crate::team::Team;
use crate::wire::pass;

/// Computes every node that is not computed yet.
pub(crate) fn evaluate(roots: &[Arc<Node>]) -> Result<()> {
    pass("eval")?;
    let lazy: Vec<Arc<Node>> = roots.iter().filter(|node| node.storage().is_none()).cloned().collect();
    if let Some(error) = lazy.iter().find_map(|node| node.error()) {
        return Err(error);
    }
    let common = computed_first(&lazy)?;
    if !common.is_empty() {
        evaluate(&common)?;
    }
    if lazy.iter().any(|node| is_pending(node)) {
        compute_reductions(&lazy)?;
    }
    for node in &lazy {
        if node.storage().is_some() {
            continue;
        }
        if let Some(storage) = apart(node)? {
            node.set_ready(storage);
        }
    }
    let pointwise: Vec<Target> = lazy
        .into_iter()
        .filter(|node| node.storage().is_none())
        .map(|node| Target { node, onto: Onto::Own })
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
fn apart(node: &Arc<Node>) -> Result<Option<Storage>> {
    if let Some((base, start)) = pick::scattered_window(node)? {
        return pick::compute(node, &base, &start).map(Some);
    }
    if let Some(portions) = joined::portions(node) {
        return joined::compute(node, &portions).map(Some);
    }
    if let Settled::Memory(storage) = settle(node)? {
        return Ok(Some(*storage));
    }
    match rearrange::listed(node) {
        Some((base, which)) => rearrange::compute(node, &base, &which).map(Some),
        None => Ok(None),
    }
}

/// One result of a kernel.
pub(crate) struct Target {
    /// What to compute.
    pub node: Arc<Node>,
    pub onto: Onto,
}

/// The memory of a result: fresh, unless it says whose it is.
pub(crate) enum Onto {
    /// Its own.
    Own,
    /// Shaped like that node's, where it is the window that starts at the index.
    Whole(Arc<Node>, Index),
    /// That node's itself, in the same way: nobody needs the elements that are there, this result neither.
    Over(Arc<Node>, Index),
    /// As large as that window.
    Aside(Arc<Node>, Index),
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
        match &self.onto {
            Onto::Own => self.node.distribution(),
            Onto::Whole(base, _) | Onto::Over(base, _) | Onto::Aside(base, _) => {
                Ok(Arc::new(base.distribution()?.restricted(&self.window()?)?))
            }
        }
    }

    fn window(&self) -> Result<Region> {
        let own = Region::from_shape(&self.node.shape)?;
        match &self.onto {
            Onto::Own => Ok(own),
            Onto::Whole(_, start) | Onto::Over(_, start) | Onto::Aside(_, start) => Ok(own.shift(start)?),
        }
    }

    /// The cells among which its own lie. `dist` is that of its elements.
    pub fn frame(&self, dist: &Arc<Distribution>) -> Result<Frame> {
        match &self.onto {
            Onto::Own => Ok(Frame::whole(dist)),
            Onto::Whole(base, _) | Onto::Over(base, _) | Onto::Aside(base, _) => {
                Ok(Frame { base: base.distribution()?, window: self.window()? })
            }
        }
    }

    /// The old value, if the new memory keeps some of its elements.
    fn kept(&self) -> Result<Option<Arc<Storage>>> {
        let Onto::Whole(base, _) = &self.onto else { return Ok(None) };
        Ok(base.storage().filter(|old| self.node.shape != old.dist.shape()))
    }

    /// The memory it is computed into, if that is there already.
    fn standing(&self) -> Option<Arc<Storage>> {
        match &self.onto {
            Onto::Over(base, _) => base.storage(),
            Onto::Own | Onto::Whole(..) | Onto::Aside(..) => None,
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
        match &self.onto {
            Onto::Own | Onto::Aside(..) => self.distribution(),
            Onto::Whole(base, _) | Onto::Over(base, _) => base.distribution(),
        }
    }

    /// How its memory is divided: with halos of the width of an operand's or of `room`.
    fn layout(&self, leaves: &[Leaf], room: Option<&Fresh>) -> Result<Arc<Distribution>> {
        if let Some(there) = self.standing() {
            return Ok(Arc::clone(&there.dist));
        }
        let dist = match &self.onto {
            Onto::Own => widest_like(self.distribution()?, leaves),
            Onto::Whole(base, _) | Onto::Over(base, _) => base.memory_layout()?,
            Onto::Aside(..) => self.distribution()?,
        };
        match room {
            None => Ok(dist),
            Some(room) => Ok(widened(&dist, room)?.unwrap_or(dist)),
        }
    }

    /// Where the part's memory on `dist` has the first cell of its zone.
    fn corner(&self, dist: &Arc<Distribution>, part: usize, zone: &Zone) -> Result<Index> {
        match &self.onto {
            Onto::Own | Onto::Aside(..) => Ok(*zone.hull.start()),
            Onto::Whole(..) | Onto::Over(..) => {
                Frame { base: Arc::clone(dist), window: self.window()? }.corner(part, &zone.hull)
            }
        }
    }
}

/// Where the parts compute a group: the cells they own or, in a deep loop, more of them if everything that
/// these follow from is there.
struct Extent {
    zones: Vec<Zone>,
    grow: Fresh,
    layouts: Vec<Arc<Distribution>>,
}

impl Extent {
    /// The kernel asks for coordinates along the dimensions `placed`.
    fn of(
        targets: &[Target],
        (leaves, placed): (&[Leaf], &[bool]),
        dist: &Arc<Distribution>,
        work: &Work,
    ) -> Result<Extent> {
        let wish = deep::next_wish();
        let room = wish.as_ref().map(|wish| &wish.room);
        let layouts = targets.iter().map(|t| t.layout(leaves, room)).collect::<Result<Vec<_>>>()?;
        if let Some(wish) = wish.filter(|wish| !wish.grow.is_nothing()) {
            let frame = targets[0].frame(dist)?;
            let zones = frame.zones(dist, &wish.grow, placed)?;
            let extent = Extent { zones, grow: wish.grow, layouts };
            if extent.is_held(targets, leaves, dist, work)? {
                return Ok(extent);
            }
            deep::refuse(|| "an evaluation lacks what its neighbours have".to_owned());
            return Ok(Extent { zones: Zone::owned(dist), grow: Fresh::nothing(dist.rank()), ..extent });
        }
        Ok(Extent { zones: Zone::owned(dist), grow: Fresh::nothing(dist.rank()), layouts })
    }

    /// Whether all that the zones need is current, and all that they give has a place.
    fn is_held(
        &self,
        targets: &[Target],
        leaves: &[Leaf],
        dist: &Arc<Distribution>,
        work: &Work,
    ) -> Result<bool> {
        let frame = targets[0].frame(dist)?;
        for (target, layout) in targets.iter().zip(&self.layouts) {
            let Fresh { lo, hi, .. } = &self.grow;
            let kept = target
                .kept()?
                .is_none_or(|old| work.fresh(&old).covers(&self.grow) && old.dist.stores(lo, hi));
            let has_room = match &target.onto {
                Onto::Own | Onto::Whole(..) | Onto::Over(..) => layout.stores(lo, hi),
                Onto::Aside(base, _) => base.memory_layout()?.stores(lo, hi) && holds(layout, &self.zones),
            };
            if !kept || !has_room || !target.frame(dist)?.is_like(&frame) {
                return Ok(false);
            }
        }
        work.holds(leaves, dist, &self.zones)
    }
}

/// Whether memory on a distribution has room for zones of its own coordinates.
pub(crate) fn holds(dist: &Distribution, zones: &[Zone]) -> bool {
    let fits = |(part, zone): (usize, &Zone)| dist.stored(part).contains_region(&zone.hull);
    zones.iter().enumerate().all(fits)
}

/// Tells a deep loop what was computed.
fn tell_loop(
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
        Some(Read { number, dist, node: Arc::downgrade(node), maps: leaf.maps.clone() })
    };
    deep::tell(|| {
        Event::Computed(Box::new(Computed {
            frame,
            dist: Arc::clone(dist),
            placed,
            reads: leaves.iter().filter_map(read).collect(),
            results: storages.iter().map(|new| (new.number, Arc::clone(&new.dist))).collect(),
            aside: targets.iter().any(|target| matches!(target.onto, Onto::Aside(..))),
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
    let first = &targets[0].node;
    let sketch = sketched(targets)?;
    if let Some(sketch) = &sketch
        && let Some(storages) = sketch.repeat(&first.team, targets)?
    {
        return Ok(Some(storages));
    }
    let dist = targets[0].distribution()?;
    let roots: Vec<&Arc<Node>> = targets.iter().map(|target| &target.node).collect();
    let (lowering, values) = match attempt("fused", &roots, &dist, roots.len())? {
        Ok(lowered) => lowered,
        // What it reads now is memory, so that it may be prepared.
        Err(Unready::Waited) => return Ok(None),
        Err(Unready::TooLarge) => {
            let (left, right) = targets.split_at(targets.len() / 2);
            let mut storages = compute(left)?;
            storages.extend(compute(right)?);
            return Ok(Some(storages));
        }
    };
    let mut found = routes(&lowering.leaves, &dist, &Zone::owned(&dist))?;
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
    let mut work = Work::new(&first.team);
    pass("eval-lowered")?;
    work.bring_due()?;
    let Extent { zones, grow, layouts } = Extent::of(targets, (&fused.leaves, &fused.placed), &dist, &work)?;
    if !grow.is_nothing() {
        found = routes(&fused.leaves, &dist, &zones)?;
    }
    let inputs = work.bring_by(&fused.leaves, &found, &dist, &zones)?;
    let allocate = |(target, dist): (&Target, &Arc<Distribution>)| {
        target.memory(&first.team, (dist, &target.declared()?), target.node.dtype)
    };
    let storages = targets.iter().zip(&layouts).map(allocate).collect::<Result<Vec<Storage>>>()?;
    let launches = fused.launches(&first.team, (zones, inputs), |part, zone| {
        let memory = |(target, storage): (&Target, &Storage)| {
            let place = storage.place(&first.team, part).ok_or_else(|| missing_part("eval"))?;
            let corner = target.corner(&storage.dist, part, zone)?;
            Ok((place.view(&corner), place))
        };
        targets.iter().zip(&storages).map(memory).collect()
    })?;
    queue(&mut work, &[launches])?;
    let prepared = sketch.and_then(|sketch| sketch.prepare(fused.leaves.iter(), &work, &storages, &dtypes));
    work.finish()?;
    storages.iter().for_each(|storage| storage.set_fresh(grow.clone()));
    if let Some(prepared) = prepared {
        prepared.keep(&first.team);
    }
    if deep::is_logging() {
        tell_loop(targets, &storages, &fused.leaves, fused.placed, &dist)?;
    }
    Ok(Some(storages))
}

/// The form of what is to be computed, if such forms are kept. What a deep loop asks for is no part of one.
pub(crate) fn sketched(targets: &[Target]) -> Result<Option<Sketch>> {
    if is_telling() || deep::is_shared() { Ok(None) } else { Sketch::of(targets) }
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
            Source::List(..) => None,
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
            Err(Unready::Waited) => {}
            Err(Unready::TooLarge) => return Ok(None),
        }
    }
}

/// Why roots are not lowered into one body.
pub(crate) enum Unready {
    /// Something had to be computed first, and now is.
    Waited,
    /// They are too many for one kernel of this team.
    TooLarge,
}

/// As [`lower_all`], once.
pub(crate) fn attempt(
    name: &str,
    roots: &[&Arc<Node>],
    dist: &Arc<Distribution>,
    reserved: usize,
) -> Result<std::result::Result<(Lowering, Vec<Value>), Unready>> {
    let max_leaves = roots[0].team.max_params().saturating_sub(reserved).max(1);
    let mut lowering = Lowering::new(name, dist, max_leaves);
    let mut values = Vec::new();
    for root in roots {
        match lowering.lower(root)? {
            Ok(value) => values.push(value),
            Err(Cut(node)) if roots.len() > 1 && roots.iter().any(|root| Arc::ptr_eq(root, &node)) => {
                return Ok(Err(Unready::TooLarge));
            }
            Err(Cut(node)) => {
                before(roots, &node)?;
                return Ok(Err(Unready::Waited));
            }
        }
    }
    let is_too_large = lowering.binds_too_much() && roots.len() > 1;
    Ok(if is_too_large { Err(Unready::TooLarge) } else { Ok((lowering, values)) })
}

/// Computes what a kernel waits for.
fn before(roots: &[&Arc<Node>], node: &Arc<Node>) -> Result<()> {
    for inner in joined::far_inside(node) {
        evaluate(&[inner])?;
    }
    match settle(node)? {
        Settled::Other => {}
        Settled::Expression => return Ok(()),
        Settled::Memory(storage) => {
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
