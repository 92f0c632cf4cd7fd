//! How the operands of a kernel come to where it reads them: what is there, ONE plan per operand however many
//! views of it are read, and what each plan moves. Decided from what every rank knows; nothing is moved here.

use std::sync::Arc;

use crate::array::loops::analysis;
use crate::array::lower::body::{Leaf, Source};
use crate::array::lower::compute_region::ComputeRegion;
use crate::array::lower::footprint::{Footprint, is_boxable};
use crate::array::memory::plans::{aligned_plan, box_plan, colocated, halo_plan, operand_plan};
use crate::array::memory::storage::{HaloWidths, Storage, widened};
use crate::array::record::node::Node;
use crate::error::Result;
use crate::index::{Distribution, Region};
use crate::plan::Plan;
use crate::team::Team;

/// How one operand comes.
#[derive(Clone, Debug)]
pub(crate) enum AccessMethod {
    /// Every part holds what it reads.
    Local,
    /// By a halo, of an array that has or can be given one.
    Halo(HaloWidths),
    /// A box per part, in packed coordinates of the operand, into temporary memory.
    Fetch(Vec<Region>),
    /// A box per part, in global coordinates, of an operand that is no blocks.
    FetchGlobal(Vec<Region>),
    /// In the order in which the launches go through it.
    Aligned,
}

/// One operand of a kernel.
pub(crate) struct OperandAccess {
    pub node: Arc<Node>,
    pub storage: Arc<Storage>,
    pub method: AccessMethod,
    /// Where the parts find it; of an aligned operand this is where they get it.
    pub footprint: Option<Footprint>,
}

/// The operand_accesses of a kernel's leaves to the parts that compute regions of `dist`; none for lists.
pub(crate) fn operand_accesses(
    leaves: &[Leaf],
    dist: &Distribution,
    regions: &[ComputeRegion],
) -> Result<Vec<Option<OperandAccess>>> {
    let mut operand_accesses = leaves
        .iter()
        .map(|leaf| access(leaf, dist, regions))
        .collect::<Result<Vec<Option<OperandAccess>>>>()?;
    for first in 0..operand_accesses.len() {
        join(&mut operand_accesses, first, dist)?;
    }
    Ok(operand_accesses)
}

fn access(leaf: &Leaf, dist: &Distribution, regions: &[ComputeRegion]) -> Result<Option<OperandAccess>> {
    let Source::Array(node, storage) = &leaf.source else { return Ok(None) };
    let storage = node.storage().unwrap_or_else(|| Arc::clone(storage));
    let mut footprint = Footprint::of(&leaf.maps, &storage.dist, dist, regions)?;
    let in_steps = leaf.maps.len() == 1 && leaf.maps[0].skips();
    let method = match &footprint {
        Some(footprint) => match &footprint.halo {
            Some(halo) if halo.is_zero() => AccessMethod::Local,
            // Steps that share an exchange find in halos what others would fetch.
            Some(halo)
                if (analysis::shares_exchange() || footprint.halo_pays(&storage.dist)?)
                    && widened(&storage.dist, halo)?.is_some() =>
            {
                AccessMethod::Halo(halo.clone())
            }
            // In steps no more is brought than the steps name.
            _ if in_steps => AccessMethod::Aligned,
            _ => AccessMethod::Fetch(footprint.needs.clone()),
        },
        None if leaf.maps.iter().all(|map| is_boxable(map, dist)) => {
            // The order of global coordinates is that of any blocks.
            let blocks = Distribution::default_partition(dist.parts(), &storage.dist.shape())?;
            footprint = Footprint::of(&leaf.maps, &blocks, dist, regions)?;
            footprint
                .as_ref()
                .map_or(AccessMethod::Aligned, |footprint| AccessMethod::FetchGlobal(footprint.needs.clone()))
        }
        None => AccessMethod::Aligned,
    };
    Ok(Some(OperandAccess { node: Arc::clone(node), storage, method, footprint }))
}

/// Several leaves may be views of one array, flipped, transposed or in steps: one halo serves them all, or
/// one box if that is no larger than what they ask for together.
fn join(operand_accesses: &mut [Option<OperandAccess>], first: usize, dist: &Distribution) -> Result<()> {
    let Some(OperandAccess { node, storage, .. }) = &operand_accesses[first] else { return Ok(()) };
    let (node, storage) = (Arc::clone(node), Arc::clone(storage));
    let kind = operand_accesses[first].as_ref().map(OperandAccess::kind);
    let alike = |access: &&mut OperandAccess| Arc::ptr_eq(&access.node, &node) && Some(access.kind()) == kind;
    let mut members: Vec<&mut OperandAccess> =
        operand_accesses[first..].iter_mut().flatten().filter(alike).collect();
    if members.len() < 2 {
        return Ok(());
    }
    let joined = match kind {
        Some(MergeKind::Halo) => {
            let halos = members
                .iter()
                .filter_map(|m| if let AccessMethod::Halo(halo) = &m.method { Some(halo) } else { None });
            let both = halos.cloned().reduce(|both, halo| both.joined(&halo));
            let Some(both) = both else { return Ok(()) };
            if widened(&storage.dist, &both)?.is_none() {
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

/// What can be joined with what.
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

impl OperandAccess {
    fn kind(&self) -> MergeKind {
        match (&self.method, &self.footprint) {
            (AccessMethod::Halo(_), _) => MergeKind::Halo,
            (AccessMethod::Fetch(_), _) | (AccessMethod::Aligned, Some(_)) => MergeKind::Box,
            (AccessMethod::FetchGlobal(_), _) => MergeKind::Global,
            (AccessMethod::Local, _) | (AccessMethod::Aligned, None) => MergeKind::Single,
        }
    }

    /// What moves for the leaf; `None` if everything is there.
    pub fn plan(&self, leaf: &Leaf, dist: &Distribution, team: &Team) -> Result<Option<Arc<Plan>>> {
        let source = &self.storage.dist;
        match &self.method {
            AccessMethod::Local => Ok(None),
            AccessMethod::Halo(halo)
                if self.storage.valid_halo().covers(halo) && source.stores(&halo.lo, &halo.hi) =>
            {
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

    /// The bytes that go from one part to another.
    pub fn bytes(&self, leaf: &Leaf, dist: &Distribution, team: &Team) -> Result<u64> {
        let plan = self.plan(leaf, dist, team)?;
        let size = self.node.dtype.size_bytes() as u64;
        Ok(plan.map_or(0, |plan| {
            let between = plan.moves().iter().filter(|m| m.from_part != m.to_part);
            between.map(|m| m.elements()).sum::<u64>() * size
        }))
    }
}
