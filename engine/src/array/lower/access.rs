//! [`OperandAccess`]: the way of an operand to a kernel's parts: local, or by one plan, however many views of
//! it are read. Decided from what every rank knows; nothing is moved here.
//!
//! [`computed_elsewhere`] decides where to compute: on the layout of the result, or on that of the operands,
//! whose result is moved then. Whatever moves fewer bytes between parts, counted by the plans that would
//! carry it; it matters only to kernels of which two operands or more come from other parts.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::array::lower::body::{Footprint, KernelBody, Leaf, Source, is_boxable};
use crate::array::lower::graph::{Graph, NodeId, Reached};
use crate::array::memory::storage::{HaloWidths, aligned_plan, box_plan, halo_plan, operand_plan, widened};
use crate::array::memory::window::ComputeRegion;
use crate::array::record::expr::Map;
use crate::error::{Error, Result};
use crate::index::{Along, Distribution, Index, Region};
use crate::plan::Plan;
use crate::team::Team;
/// The method by which one operand reaches its kernel.
#[derive(Clone, Debug)]
pub(crate) enum AccessMethod {
    /// Every part holds what it reads.
    Local,
    /// By a halo, of an array that has or can be given one.
    Halo(HaloWidths),
    /// A box per part, in packed coordinates of the operand, into temporary memory.
    Fetch(Vec<Region>),
    /// A box per part, in global coordinates, of an operand with non-block dimensions.
    FetchGlobal(Vec<Region>),
    /// In the order in which the launches go through it.
    Aligned,
}

/// One operand of a kernel.
#[derive(Clone)]
pub(crate) struct OperandAccess {
    pub node: NodeId,
    /// The layout of its memory, and how much of its halo is valid before the kernel.
    pub source: Arc<Distribution>,
    pub valid: HaloWidths,
    pub method: AccessMethod,
    /// The cells that the parts read; of an aligned operand, the cells before they are packed.
    pub footprint: Option<Footprint>,
}

/// The operands of kernels over one distribution.
struct KernelReads<'a> {
    graph: &'a Graph,
    leaves: &'a [Leaf],
    dist: &'a Distribution,
    /// Whether steps share an exchange: then halos hold what others would fetch.
    shares_exchange: bool,
}

impl KernelReads<'_> {
    /// The access to each leaf by the parts that compute these regions; `None` for lists and numbers.
    fn accesses(&self, regions: &[ComputeRegion]) -> Result<Vec<Option<OperandAccess>>> {
        let accesses = self.leaves.iter().map(|leaf| self.access(leaf, regions));
        let mut accesses = accesses.collect::<Result<Vec<Option<OperandAccess>>>>()?;
        for first in 0..accesses.len() {
            join(&mut accesses, first, self.dist)?;
        }
        Ok(accesses)
    }

    fn access(&self, leaf: &Leaf, regions: &[ComputeRegion]) -> Result<Option<OperandAccess>> {
        let Source::Memory(node) = leaf.source else { return Ok(None) };
        let state = self.graph.memory_state(node).ok_or_else(|| not_computed(self.graph, node))?;
        let (source, valid, dist) = (Arc::clone(&state.dist), state.valid.clone(), self.dist);
        let mut footprint = Footprint::of(&leaf.maps, &source, dist, regions)?;
        let in_steps = leaf.maps.len() == 1 && leaf.maps[0].skips();
        let method = match &footprint {
            Some(footprint) => match &footprint.halo {
                Some(halo) if halo.is_zero() => AccessMethod::Local,
                // Steps that share an exchange find in halos what others would fetch.
                Some(halo)
                    if (self.shares_exchange || footprint.halo_pays(&source)?)
                        && widened(&source, halo)?.is_some() =>
                {
                    AccessMethod::Halo(halo.clone())
                }
                // Of a view in steps only the elements of the steps are fetched.
                _ if in_steps => AccessMethod::Aligned,
                _ => AccessMethod::Fetch(footprint.needs.clone()),
            },
            None if leaf.maps.iter().all(|map| is_boxable(map, dist)) => {
                // The order of global coordinates is that of any blocks.
                let blocks = Distribution::default_partition(dist.parts(), &source.shape())?;
                footprint = Footprint::of(&leaf.maps, &blocks, dist, regions)?;
                footprint.as_ref().map_or(AccessMethod::Aligned, |footprint| {
                    AccessMethod::FetchGlobal(footprint.needs.clone())
                })
            }
            None => AccessMethod::Aligned,
        };
        Ok(Some(OperandAccess { node, source, valid, method, footprint }))
    }
}

/// Several leaves may be views of one array, flipped, transposed or in steps: one halo serves them all, or
/// one box if that is no larger than what they ask for together.
fn join(accesses: &mut [Option<OperandAccess>], first: usize, dist: &Distribution) -> Result<()> {
    let Some(OperandAccess { node, source, .. }) = &accesses[first] else { return Ok(()) };
    let (node, source) = (*node, Arc::clone(source));
    let kind = accesses[first].as_ref().map(OperandAccess::kind);
    let alike = |access: &&mut OperandAccess| access.node == node && Some(access.kind()) == kind;
    let mut members: Vec<&mut OperandAccess> = accesses[first..].iter_mut().flatten().filter(alike).collect();
    if members.len() < 2 {
        return Ok(());
    }
    let joined = match kind {
        Some(MergeKind::Halo) => {
            let halos = members
                .iter()
                .filter_map(|m| if let AccessMethod::Halo(halo) = &m.method { Some(halo) } else { None });
            let both = halos.cloned().reduce(|both, halo| both.max(&halo));
            let Some(both) = both else { return Ok(()) };
            if widened(&source, &both)?.is_none() {
                // The array has one halo, which is the first's.
                for member in members.iter_mut().skip(1) {
                    if let Some(footprint) = &member.footprint {
                        member.method = AccessMethod::Fetch(footprint.needs.clone());
                    }
                }
                return Ok(());
            }
            Some(AccessMethod::Halo(both))
        }
        Some(MergeKind::Box) => hulls(&members, dist)?.map(AccessMethod::Fetch),
        Some(MergeKind::Global) => hulls(&members, dist)?.map(AccessMethod::FetchGlobal),
        Some(MergeKind::Single) | None => None,
    };
    if let Some(joined) = joined {
        members.iter_mut().for_each(|member| member.method = joined.clone());
    }
    Ok(())
}

/// The kind of an operand's access; only accesses of one kind are joined.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MergeKind {
    Halo,
    /// In packed coordinates.
    Box,
    /// In global ones.
    Global,
    /// With nothing, or nothing to join.
    Single,
}

/// Per part the box around all, if what they ask for takes no less.
fn hulls(members: &[&mut OperandAccess], dist: &Distribution) -> Result<Option<Vec<Region>>> {
    let volume = |boxes: &[Region]| boxes.iter().map(Region::volume).sum::<std::result::Result<i64, _>>();
    let (mut hulls, mut apart) = (Vec::<Region>::new(), 0);
    for member in members {
        let Some(footprint) = &member.footprint else { return Ok(None) };
        apart += match &member.method {
            // Of steps no more than the steps name.
            AccessMethod::Aligned => dist.packed().global().volume()?,
            _ => volume(&footprint.needs)?,
        };
        match hulls.is_empty() {
            true => hulls = footprint.needs.clone(),
            false => hulls.iter_mut().zip(&footprint.needs).for_each(|(hull, need)| *hull = hull.hull(need)),
        }
    }
    Ok((volume(&hulls)? <= apart).then_some(hulls))
}

/// The widths of the margins of a part's region whose points read beyond the owned cells of an operand.
fn halo_margins(
    map: &Map,
    footprint: &Footprint,
    source: &Distribution,
    region: &Region,
    part: usize,
) -> (Index, Index) {
    let (owned, need) = (source.owned(part), &footprint.needs[part]);
    let (mut lo, mut hi) = (Index::zeros(region.rank()), Index::zeros(region.rank()));
    for (d, axis) in map.axes().iter().enumerate() {
        let below = (owned.start()[d] - need.start()[d]).max(0);
        let above = (need.stop()[d] - owned.stop()[d]).max(0);
        match *axis {
            Along::Dim { dim, step, .. } => {
                let [below, above] = [below, above].map(|cells| (cells + step.abs() - 1) / step.abs());
                let (first, last) = if step > 0 { (below, above) } else { (above, below) };
                (lo[dim], hi[dim]) = (lo[dim].max(first), hi[dim].max(last));
            }
            Along::Pinned(_) if below + above > 0 && region.rank() > 0 => lo[0] = region.extent(0),
            Along::Pinned(_) => {}
        }
    }
    (lo, hi)
}

impl OperandAccess {
    fn kind(&self) -> MergeKind {
        match (&self.method, &self.footprint) {
            (AccessMethod::Halo(_), _) => MergeKind::Halo,
            (AccessMethod::Fetch(_), _) | (AccessMethod::Aligned, Some(_)) => MergeKind::Box,
            (AccessMethod::FetchGlobal(_), _) => MergeKind::Global,
            (AccessMethod::Local, _) | (AccessMethod::Aligned, None) => MergeKind::Single,
        }
    }

    /// Of the region that a part computes, the cells that depend on nothing of the operand that travels. What
    /// this leaves for all operands is the *core*, which can be computed first.
    pub fn core(&self, map: &Map, region: &Region, part: usize) -> Region {
        match (&self.method, &self.footprint) {
            (AccessMethod::Local, _) => *region,
            (AccessMethod::Halo(_), Some(footprint)) => {
                let (lo, hi) = halo_margins(map, footprint, &self.source, region, part);
                Region::from_fn(region.rank(), |d| {
                    let start = (region.start()[d] + lo[d]).min(region.stop()[d]);
                    (start, (region.stop()[d] - hi[d]).max(start))
                })
            }
            _ => Region::from_fn(region.rank(), |d| (region.start()[d], region.start()[d])),
        }
    }

    /// The plan of the leaf's transfer; `None` if everything is there.
    pub fn plan(&self, leaf: &Leaf, dist: &Distribution, team: &Team) -> Result<Option<Arc<Plan>>> {
        let source = &self.source;
        match &self.method {
            AccessMethod::Local => Ok(None),
            AccessMethod::Halo(halo) if self.valid.covers(halo) && source.stores(&halo.lo, &halo.hi) => {
                Ok(None)
            }
            AccessMethod::Halo(halo) => match widened(source, halo)? {
                Some(wide) => halo_plan(&wide, halo, team).map(Some),
                None => Ok(None),
            },
            AccessMethod::Fetch(needs) => operand_plan(source, needs.clone(), team).map(Some),
            AccessMethod::FetchGlobal(needs) => box_plan(source, needs.clone(), team).map(Some),
            AccessMethod::Aligned => {
                aligned_plan(source, dist, leaf.maps[0].axes().to_vec(), (team, team)).map(Some)
            }
        }
    }
}

/// The most places that are considered for the division of a large expression.
const MOST_CANDIDATES: usize = 16;

/// The access to each leaf of kernels over `dist` whose parts compute these regions.
pub(crate) fn reads_of(
    graph: &Graph,
    leaves: &[Leaf],
    (dist, regions): (&Distribution, &[ComputeRegion]),
    shares_exchange: bool,
) -> Result<Vec<Option<OperandAccess>>> {
    KernelReads { graph, leaves, dist, shares_exchange }.accesses(regions)
}

pub(crate) fn not_computed(graph: &Graph, node: NodeId) -> Error {
    Error::invalid(
        "lowering",
        "kernels that read computed values",
        format!("a value of shape {} that is not computed", graph.shape(node)),
        "please report this defect of the engine",
    )
}

/// The bytes that go from one part to another for one leaf.
fn bytes(
    graph: &Graph,
    (leaf, access): (&Leaf, &OperandAccess),
    dist: &Distribution,
    team: &Team,
) -> Result<u64> {
    let plan = access.plan(leaf, dist, team)?;
    let size = graph.dtype(access.node).size_bytes() as u64;
    Ok(plan.map_or(0, |plan| plan.elements_between_parts() * size))
}

/// The operation below `roots` that should be computed where its operands are before the rest is computed
/// over `dist`; `None` if the operands had better move, as `accesses` says.
pub(crate) fn computed_elsewhere(
    graph: &Graph,
    roots: &[NodeId],
    (leaves, accesses): (&[Leaf], &[Option<OperandAccess>]),
    dist: &Arc<Distribution>,
    team: &Team,
) -> Result<Option<NodeId>> {
    let is_remote = |access: &&OperandAccess| {
        matches!(access.method, AccessMethod::Fetch(_) | AccessMethod::FetchGlobal(_) | AccessMethod::Aligned)
    };
    let remote: HashSet<NodeId> = accesses.iter().flatten().filter(is_remote).map(|a| a.node).collect();
    if remote.len() < 2 {
        return Ok(None);
    }
    let mut moved: HashMap<NodeId, u64> = HashMap::new();
    for (leaf, access) in leaves.iter().zip(accesses) {
        let Some(access) = access.as_ref().filter(is_remote) else { continue };
        let (more, known) =
            (bytes(graph, (leaf, access), dist, team)?, moved.entry(access.node).or_default());
        // Views of one array share a box; in the launches' order each comes on its own.
        let is_aligned = matches!(access.method, AccessMethod::Aligned);
        *known = if is_aligned { *known + more } else { more.max(*known) };
    }
    let all = graph.reached(roots.iter().copied(), None);
    for node in candidates(graph, &all, &remote).into_iter().take(MOST_CANDIDATES) {
        if graph.distribution(node)?.same_layout(dist) && *graph.shape(node) == dist.shape() {
            continue;
        }
        let (below, others) = (graph.reached([node], None), graph.reached(roots.iter().copied(), Some(node)));
        let saved = below.memory.iter().filter(|&end| !others.memory.contains(end));
        let saved: u64 = saved.filter_map(|end| moved.get(end)).sum();
        let Some(spent) = cost(graph, node, team)? else { continue };
        if spent + graph.bytes(node)? < saved {
            return Ok(Some(node));
        }
    }
    Ok(None)
}

/// The bytes that move to compute a node on its own layout; `None` if it takes more than one kernel.
fn cost(graph: &Graph, node: NodeId, team: &Team) -> Result<Option<u64>> {
    let dist = graph.distribution(node)?;
    let mut body = KernelBody::new("elsewhere", &dist, team.max_params());
    if body.lower(graph, node)?.is_err() {
        return Ok(None);
    }
    let accesses = reads_of(graph, &body.leaves, (&dist, &ComputeRegion::owned(&dist)), false)?;
    let reads = body.leaves.iter().zip(&accesses).filter_map(|(leaf, access)| Some((leaf, access.as_ref()?)));
    reads.map(|read| bytes(graph, read, &dist, team)).sum::<Result<u64>>().map(Some)
}

/// The operations of which all operands are remote, and two at least; users before their operands.
fn candidates(graph: &Graph, all: &Reached, remote: &HashSet<NodeId>) -> Vec<NodeId> {
    let mut below: FxHashMap<NodeId, (usize, bool)> = HashMap::default();
    let mut found = Vec::new();
    for &node in &all.lazy {
        let (mut many, mut only) = (0, true);
        for operand in graph.operands(node) {
            let (count, is_all) = match all.memory.contains(&operand) {
                true => (usize::from(remote.contains(&operand)), remote.contains(&operand)),
                false => below.get(&operand).copied().unwrap_or((0, true)),
            };
            (many, only) = (many + count, only && is_all);
        }
        below.insert(node, (many, only));
        if many > 1 && only && graph.is_operation(node) {
            found.push(node);
        }
    }
    found.reverse();
    found
}
