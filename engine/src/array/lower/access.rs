//! [`OperandAccess`]: the way of an operand to a kernel's parts: local, or by one plan, however many views of
//! it are read. Decided from what every rank knows; nothing is moved here.
//!
//! [`computed_elsewhere`] decides where to compute: on the layout of the result, or on that of the operands,
//! whose result is moved then. Whatever moves fewer bytes between parts, counted by the plans that would
//! carry it; it matters only to kernels of which two operands or more come from other parts.
//!
//! [`Footprint`]: the cells of one operand that each part reads, in the operand's packed coordinates.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use partita_kernels::MAX_RANK;
use rustc_hash::FxHashMap;

use crate::array::lower::body::{KernelBody, Leaf, Source};
use crate::array::lower::graph::{Graph, NodeId, Reached};
use crate::array::memory::storage::{HaloWidths, widened};
use crate::array::memory::storage::{aligned_plan, box_plan, colocated, halo_plan, operand_plan};
use crate::array::memory::window::ComputeRegion;
use crate::array::record::expr::Map;
use crate::error::{Error, Result};
use crate::index::{Along, DimMap, Distribution, Index, Region};
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
                Some(wide) => halo_plan(&wide, halo).map(Some),
                None => Ok(None),
            },
            AccessMethod::Fetch(needs) => operand_plan(source, needs.clone()).map(Some),
            AccessMethod::FetchGlobal(needs) => {
                box_plan(source, needs.clone(), colocated(team, team)).map(Some)
            }
            AccessMethod::Aligned => {
                aligned_plan(source, dist, leaf.maps[0].axes().to_vec(), colocated(team, team)).map(Some)
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
    Ok(plan.map_or(0, |plan| {
        let between = plan.moves().iter().filter(|m| m.from_part != m.to_part);
        between.map(|m| m.elements()).sum::<u64>() * size
    }))
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

/// The cells of one operand that the parts read.
#[derive(Clone)]
pub(crate) struct Footprint {
    /// Per part: the cell that the first point reads through the first map, where load offsets are anchored.
    pub anchors: Vec<Index>,
    /// Per part: the bounding box of all reads.
    pub needs: Vec<Region>,
    /// The halo that brings it within every part's stored cells; `None` if no halo does.
    pub halo: Option<HaloWidths>,
}

impl Footprint {
    /// The cells read by launches over regions of `target`, one per part. `None` if memory along some
    /// dimension is not in the launches' order: then the operand is to be packed in that order.
    pub fn of(
        maps: &[Map],
        source: &Distribution,
        target: &Distribution,
        regions: &[ComputeRegion],
    ) -> Result<Option<Footprint>> {
        let rank = source.rank();
        let alignments = maps.iter().map(|map| alignments(map, source, target));
        let Some(alignments) = alignments.collect::<Option<Vec<Vec<Alignment>>>>() else { return Ok(None) };
        let (mut anchors, mut needs) = (Vec::new(), Vec::new());
        let mut halo = Some(HaloWidths { lo: Index::zeros(rank), hi: Index::zeros(rank), corners: false });
        for (part, zone) in regions.iter().enumerate() {
            let owned = source.owned(part);
            let reads = alignments.iter().map(|axes| read(axes, source, (target, &zone.bounds), part));
            let Some(reads) = reads.collect::<Result<Option<Vec<PartRead>>>>()? else { return Ok(None) };
            for read in reads.iter().map(|read| &read.cells).filter(|read| !read.is_empty()) {
                halo = halo.filter(|_| !owned.is_empty() && within(source, read, &owned));
                if let Some(halo) = halo.as_mut() {
                    halo.include(read, &owned);
                }
            }
            anchors.push(reads[0].first);
            needs.push(reads[1..].iter().fold(reads[0].cells, |hull, read| hull.hull(&read.cells)));
        }
        Ok(Some(Footprint { anchors, needs, halo }))
    }

    /// Whether bringing a halo takes fewer copies than bringing all that is read: flips and transpositions
    /// read from afar.
    pub fn halo_pays(&self, source: &Distribution) -> Result<bool> {
        let Some(halo) = self.halo.as_ref().filter(|halo| !halo.is_zero()) else { return Ok(true) };
        let (mut held, mut read) = (0, 0);
        for (part, need) in self.needs.iter().enumerate() {
            held += source.reach(part, &halo.lo, &halo.hi)?.volume()? - source.owned(part).volume()?;
            read += need.volume()?;
        }
        Ok(held < read)
    }
}

/// The positions of the cells that the parts read along one dimension of an operand.
#[derive(Clone, Copy, Debug)]
enum Alignment {
    /// Blocks or everything on both sides: a step in coordinates is a step in memory.
    Strided { dim: usize, offset: i64, step: i64 },
    /// The same division from coordinate `first` on: every part reads what it holds itself.
    Own { dim: usize, first: i64 },
    /// One coordinate for everybody.
    Single(i64),
}

/// The box that a part gets of an operand that is packed in the order of the launches, in the coordinates
/// of such a plan.
pub(crate) fn packed_box(map: &Map, target: &Distribution, part: usize) -> Result<Region> {
    let (owned, rank) = (target.owned(part), map.axes().len());
    let ends = |d: usize| match map.axes()[d] {
        Along::Dim { dim, .. } => (owned.start()[dim], owned.stop()[dim]),
        Along::Pinned(_) => (0, i64::from(!owned.is_empty())),
    };
    Ok(Region::new(&Index::from_fn(rank, |d| ends(d).0), &Index::from_fn(rank, |d| ends(d).1))?)
}

/// The map without the offsets by which loads of one parameter may differ: along what is blocks here and
/// there, and of what is packed as a box. What is packed in the order of the launches is there for
/// one map alone.
pub(crate) fn without_load_offsets(map: &Map, source: &Distribution, target: &Distribution) -> Result<Map> {
    let along_blocks = |d: usize| match map.axes()[d] {
        Along::Dim { dim, .. } => {
            source.map(d).is_block() && is_contiguous(target.map(dim)) && !map.repeats(d)
        }
        Along::Pinned(_) => false,
    };
    // Along an unordered list memory may be divided alike and the cells read still be no box.
    let whole = source.is_block() && target.is_block();
    let in_place = whole || Footprint::of(&[*map], source, target, &ComputeRegion::owned(target))?.is_some();
    let shared = |d: &usize| match in_place {
        true => along_blocks(*d),
        false => is_boxable(map, target) && !map.repeats(*d),
    };
    Ok((0..source.rank()).filter(shared).fold(*map, Map::without_offset))
}

/// Whether what a part reads through the map is a box in global coordinates, and most of that box.
pub(crate) fn is_boxable(map: &Map, target: &Distribution) -> bool {
    let in_order = |along: &Along| match along {
        Along::Dim { dim, .. } => is_contiguous(target.map(*dim)),
        Along::Pinned(_) => true,
    };
    !map.skips() && map.axes().iter().all(in_order)
}

fn alignments(map: &Map, source: &Distribution, target: &Distribution) -> Option<Vec<Alignment>> {
    let align = |(d, along): (usize, &Along)| match *along {
        Along::Pinned(at) => Some(Alignment::Single(at)),
        Along::Dim { dim, offset, step } => {
            let (from, to) = (source.map(d), target.map(dim));
            let ends = along.span(0, to.size().max(1));
            let inside = 0 <= ends.0 && ends.1 <= from.size();
            if is_contiguous(from) && is_contiguous(to) && (from.is_block() || inside) {
                Some(Alignment::Strided { dim, offset, step })
            } else if step == 1 && same_division(from, to, offset) {
                Some(Alignment::Own { dim, first: offset })
            } else if to.size() == 1 && (0..from.size()).contains(&offset) {
                Some(Alignment::Single(offset))
            } else {
                None
            }
        }
    };
    map.axes().iter().enumerate().map(align).collect()
}

/// Whether every part holds one range of coordinates.
pub(crate) fn is_contiguous(map: &DimMap) -> bool {
    matches!(map, DimMap::Block { .. } | DimMap::Replicated { .. })
}

/// Packed coordinate minus global coordinate of what a part holds of such a map.
fn lead(map: &DimMap, coordinate: i64) -> i64 {
    if map.is_block() { 0 } else { map.owned(coordinate as usize).start }
}

/// Whether `to` divides its coordinates as `from` divides those from `first` on.
fn same_division(from: &DimMap, to: &DimMap, first: i64) -> bool {
    if first == 0 && from == to {
        return true;
    }
    let stop = first + to.size();
    let inside = 0 <= first && stop <= from.size() && from.parts() == to.parts();
    inside && from.sliced(first, stop, 1).is_ok_and(|slice| slice == *to)
}

/// The cells that a part reads through one map: that of its first point, and the box around all of them;
/// empty if it computes nothing.
struct PartRead {
    first: Index,
    cells: Region,
}

/// `None` along lists without order, where the cells read are no box.
fn read(
    axes: &[Alignment],
    source: &Distribution,
    (target, region): (&Distribution, &Region),
    part: usize,
) -> Result<Option<PartRead>> {
    let zeros = Index::zeros(axes.len());
    if region.is_empty() {
        return Ok(Some(PartRead { first: zeros, cells: Region::new(&zeros, &zeros)? }));
    }
    let (here, there) = (source.grid().coordinate(part), target.grid().coordinate(part));
    let (mut start, mut stop, mut backwards) = (zeros, zeros, [false; MAX_RANK]);
    for (d, axis) in axes.iter().enumerate() {
        let map = source.map(d);
        (start[d], stop[d]) = match *axis {
            Alignment::Strided { dim, offset, step } => {
                let by = offset + lead(map, here[d]) - step * lead(target.map(dim), there[dim]);
                backwards[d] = step < 0;
                let along = Along::Dim { dim, offset: by, step };
                along.span(region.start()[dim], region.stop()[dim])
            }
            Alignment::Own { dim, first } => {
                let coordinate = there[dim] as usize;
                let whole = map.size() == target.map(dim).size();
                let below = if whole { Some(0) } else { map.held_below(coordinate, first) };
                let Some(below) = below else { return Ok(None) };
                let first = map.owned(coordinate).start + below;
                (first, first + region.extent(dim))
            }
            Alignment::Single(at) => {
                let packed = map.nearest(here[d] as usize, at).unwrap_or(at);
                (packed, packed + 1)
            }
        };
    }
    let first = Index::from_fn(axes.len(), |d| if backwards[d] { stop[d] - 1 } else { start[d] });
    Ok(Some(PartRead { first, cells: Region::new(&start, &stop)? }))
}

/// Along other maps than blocks there are no halos: what a part reads there it holds, or it must be fetched.
/// Nor are there any beyond physical edges.
fn within(source: &Distribution, read: &Region, owned: &Region) -> bool {
    let inside = |d: usize, start, stop| start <= read.start()[d] && read.stop()[d] <= stop;
    (0..source.rank()).all(|d| match source.map(d).is_block() {
        true => source.periodic(d) || inside(d, 0, source.map(d).size()),
        false => inside(d, owned.start()[d], owned.stop()[d]),
    })
}
