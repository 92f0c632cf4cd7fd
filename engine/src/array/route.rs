//! How the operands of a kernel come to where it reads them: what is there, ONE plan per operand however many
//! views of it are read, and what each plan moves. Decided from what every rank knows; nothing is moved here.

use std::sync::Arc;

use super::deep;
use super::exchange::{aligned_plan, box_plan, halo_plan, near, operand_plan};
use super::lower::{Leaf, Source};
use super::node::Node;
use super::reach::{Reach, is_boxable};
use super::storage::{Fresh, Storage, widened};
use super::zone::Zone;
use crate::error::Result;
use crate::index::{Distribution, Region};
use crate::plan::Plan;
use crate::team::Team;

/// How one operand comes.
#[derive(Clone, Debug)]
pub(crate) enum Way {
    /// Every part holds what it reads.
    Here,
    /// By a halo, of an array that has or can be given one.
    Halo(Fresh),
    /// A box per part, in packed coordinates of the operand, into temporary memory.
    Fetch(Vec<Region>),
    /// A box per part, in global coordinates, of an operand that is no blocks.
    Boxes(Vec<Region>),
    /// In the order in which the launches go through it.
    Aligned,
}

/// One operand of a kernel.
pub(crate) struct Route {
    pub node: Arc<Node>,
    pub storage: Arc<Storage>,
    pub way: Way,
    /// Where the parts find it; of an aligned operand this is where they get it.
    pub reach: Option<Reach>,
}

/// The routes of a kernel's leaves to the parts that compute zones of `dist`; none for lists.
pub(crate) fn routes(leaves: &[Leaf], dist: &Distribution, zones: &[Zone]) -> Result<Vec<Option<Route>>> {
    let mut routes =
        leaves.iter().map(|leaf| route(leaf, dist, zones)).collect::<Result<Vec<Option<Route>>>>()?;
    for first in 0..routes.len() {
        join(&mut routes, first, dist)?;
    }
    Ok(routes)
}

fn route(leaf: &Leaf, dist: &Distribution, zones: &[Zone]) -> Result<Option<Route>> {
    let Source::Array(node, storage) = &leaf.source else { return Ok(None) };
    let storage = node.storage().unwrap_or_else(|| Arc::clone(storage));
    let mut reach = Reach::of(&leaf.maps, &storage.dist, dist, zones)?;
    let in_steps = leaf.maps.len() == 1 && leaf.maps[0].skips();
    let way = match &reach {
        Some(reach) => match &reach.halo {
            Some(halo) if halo.is_nothing() => Way::Here,
            // Steps that share an exchange find in halos what others would fetch.
            Some(halo)
                if (deep::is_shared() || reach.halo_pays(&storage.dist)?)
                    && widened(&storage.dist, halo)?.is_some() =>
            {
                Way::Halo(halo.clone())
            }
            // In steps no more is brought than the steps name.
            _ if in_steps => Way::Aligned,
            _ => Way::Fetch(reach.needs.clone()),
        },
        None if leaf.maps.iter().all(|map| is_boxable(map, dist)) => {
            // The order of global coordinates is that of any blocks.
            let blocks = Distribution::default_partition(dist.parts(), &storage.dist.shape())?;
            reach = Reach::of(&leaf.maps, &blocks, dist, zones)?;
            reach.as_ref().map_or(Way::Aligned, |reach| Way::Boxes(reach.needs.clone()))
        }
        None => Way::Aligned,
    };
    Ok(Some(Route { node: Arc::clone(node), storage, way, reach }))
}

/// Several leaves may be views of one array, flipped, transposed or in steps: one halo serves them all, or
/// one box if that is no larger than what they ask for together.
fn join(routes: &mut [Option<Route>], first: usize, dist: &Distribution) -> Result<()> {
    let Some(Route { node, storage, .. }) = &routes[first] else { return Ok(()) };
    let (node, storage) = (Arc::clone(node), Arc::clone(storage));
    let kind = routes[first].as_ref().map(Route::kind);
    let alike = |route: &&mut Route| Arc::ptr_eq(&route.node, &node) && Some(route.kind()) == kind;
    let mut members: Vec<&mut Route> = routes[first..].iter_mut().flatten().filter(alike).collect();
    if members.len() < 2 {
        return Ok(());
    }
    let joined = match kind {
        Some(Kind::Halo) => {
            let halos =
                members.iter().filter_map(|m| if let Way::Halo(halo) = &m.way { Some(halo) } else { None });
            let both = halos.cloned().reduce(|both, halo| both.joined(&halo));
            let Some(both) = both else { return Ok(()) };
            if widened(&storage.dist, &both)?.is_none() {
                // The array has one halo, which is the first's.
                for member in members.iter_mut().skip(1) {
                    if let Some(reach) = &member.reach {
                        member.way = Way::Fetch(reach.needs.clone());
                    }
                }
                return Ok(());
            }
            Some(Way::Halo(both))
        }
        Some(Kind::Box) => hulls(&members, dist)?.map(Way::Fetch),
        Some(Kind::Global) => hulls(&members, dist)?.map(Way::Boxes),
        Some(Kind::Single) | None => None,
    };
    if let Some(joined) = joined {
        members.iter_mut().for_each(|member| member.way = joined.clone());
    }
    Ok(())
}

/// What can be joined with what.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Halo,
    /// In packed coordinates.
    Box,
    /// In global ones.
    Global,
    /// With nothing, or nothing to join.
    Single,
}

/// Per part the box around all, if what they ask for takes no less.
fn hulls(members: &[&mut Route], dist: &Distribution) -> Result<Option<Vec<Region>>> {
    let volume = |boxes: &[Region]| boxes.iter().map(Region::volume).sum::<std::result::Result<i64, _>>();
    let (mut hulls, mut apart) = (Vec::<Region>::new(), 0);
    for member in members {
        let Some(reach) = &member.reach else { return Ok(None) };
        apart += match &member.way {
            // Of steps no more than the steps name.
            Way::Aligned => dist.packed().global().volume()?,
            _ => volume(&reach.needs)?,
        };
        match hulls.is_empty() {
            true => hulls = reach.needs.clone(),
            false => hulls.iter_mut().zip(&reach.needs).for_each(|(hull, need)| *hull = hull.hull(need)),
        }
    }
    Ok((volume(&hulls)? <= apart).then_some(hulls))
}

impl Route {
    fn kind(&self) -> Kind {
        match (&self.way, &self.reach) {
            (Way::Halo(_), _) => Kind::Halo,
            (Way::Fetch(_), _) | (Way::Aligned, Some(_)) => Kind::Box,
            (Way::Boxes(_), _) => Kind::Global,
            (Way::Here, _) | (Way::Aligned, None) => Kind::Single,
        }
    }

    /// What moves for the leaf; `None` if everything is there.
    pub fn plan(&self, leaf: &Leaf, dist: &Distribution, team: &Team) -> Result<Option<Arc<Plan>>> {
        let source = &self.storage.dist;
        match &self.way {
            Way::Here => Ok(None),
            Way::Halo(halo) if self.storage.fresh().covers(halo) && source.stores(&halo.lo, &halo.hi) => {
                Ok(None)
            }
            Way::Halo(halo) => match widened(source, halo)? {
                Some(wide) => halo_plan(&wide, halo).map(Some),
                None => Ok(None),
            },
            Way::Fetch(needs) => operand_plan(source, needs.clone()).map(Some),
            Way::Boxes(needs) => box_plan(source, needs.clone(), near(team, team)).map(Some),
            Way::Aligned => {
                aligned_plan(source, dist, leaf.maps[0].axes().to_vec(), near(team, team)).map(Some)
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
