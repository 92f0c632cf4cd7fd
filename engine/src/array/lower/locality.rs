//! Where to compute: on the layout of the result, or on that of the operands, whose result is moved then.
//! Whatever moves fewer bytes between parts, counted by the plans that would carry it.
//!
//! Asked only of kernels of which two operands or more come from afar: others have no choice.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::array::lower::body::{Leaf, Lowering};
use crate::array::lower::compute_region::ComputeRegion;
use crate::array::lower::operand_access::{AccessMethod, OperandAccess, operand_accesses};
use crate::array::record::node::Node;
use crate::error::Result;
use crate::index::{Distribution, Region};

/// Of large expressions only so many places to divide them are considered.
const MOST_CANDIDATES: usize = 16;

/// The operation below `roots` that should be computed where its operands are before the rest is computed
/// over `dist`; `None` if the operands had better come, as `found` says.
pub(crate) fn computed_elsewhere(
    roots: &[&Arc<Node>],
    leaves: &[Leaf],
    found: &[Option<OperandAccess>],
    dist: &Arc<Distribution>,
) -> Result<Option<Arc<Node>>> {
    let afar = |access: &&OperandAccess| {
        matches!(access.method, AccessMethod::Fetch(_) | AccessMethod::FetchGlobal(_) | AccessMethod::Aligned)
    };
    let away: HashSet<*const Node> =
        found.iter().flatten().filter(afar).map(|r| Arc::as_ptr(&r.node)).collect();
    if away.len() < 2 {
        return Ok(None);
    }
    let team = &roots[0].team;
    let mut bytes: HashMap<*const Node, u64> = HashMap::new();
    for (leaf, access) in leaves.iter().zip(found) {
        let Some(access) = access.as_ref().filter(afar) else { continue };
        let (moved, known) =
            (access.bytes(leaf, dist, team)?, bytes.entry(Arc::as_ptr(&access.node)).or_default());
        // Views of one array share a box; in the launches' order each comes on its own.
        *known =
            if matches!(access.method, AccessMethod::Aligned) { *known + moved } else { moved.max(*known) };
    }
    let all = Reached::from(roots.iter().copied(), None);
    for node in all.candidates(&away).take(MOST_CANDIDATES) {
        if node.distribution()?.same_layout(dist) && node.shape == dist.shape() {
            continue;
        }
        let (below, others) =
            (Reached::from([&node], None), Reached::from(roots.iter().copied(), Some(&node)));
        let saved = below.ends.iter().filter(|&&end| !others.ends.contains(&end));
        let saved: u64 = saved.filter_map(|end| bytes.get(end)).sum();
        let Some(spent) = cost(&node)? else { continue };
        let moved = Region::from_shape(&node.shape)?.volume()? as u64 * node.dtype.size_bytes() as u64;
        if spent + moved < saved {
            return Ok(Some(node));
        }
    }
    Ok(None)
}

/// The bytes that move to compute a node on its own layout; `None` if it takes more than one kernel.
fn cost(node: &Arc<Node>) -> Result<Option<u64>> {
    let dist = node.distribution()?;
    let mut lowering = Lowering::new("elsewhere", &dist, node.team.max_params());
    if lowering.lower(node)?.is_err() {
        return Ok(None);
    }
    let found = operand_accesses(&lowering.leaves, &dist, &ComputeRegion::owned(&dist))?;
    let bytes =
        lowering.leaves.iter().zip(&found).filter_map(|(leaf, access)| Some((leaf, access.as_ref()?)));
    bytes.map(|(leaf, access)| access.bytes(leaf, &dist, &node.team)).sum::<Result<u64>>().map(Some)
}

/// What an expression consists of.
pub(crate) struct Reached {
    /// The nodes that are not computed yet, operands before those that use them.
    pub lazy: Vec<Arc<Node>>,
    /// The computed ones.
    ends: HashSet<*const Node>,
}

impl Reached {
    /// Everything below some nodes, without what is reached through `without` alone.
    pub fn from<'a>(roots: impl IntoIterator<Item = &'a Arc<Node>>, without: Option<&Arc<Node>>) -> Reached {
        let mut reached = Reached { lazy: Vec::new(), ends: HashSet::new() };
        let mut seen: HashSet<*const Node> = without.map(Arc::as_ptr).into_iter().collect();
        // A node is met a second time after all its operands.
        let mut pending: Vec<(Arc<Node>, bool)> =
            roots.into_iter().map(|root| (Arc::clone(root), false)).collect();
        while let Some((node, again)) = pending.pop() {
            if again {
                reached.lazy.push(node);
            } else if seen.insert(Arc::as_ptr(&node)) {
                if node.storage().is_some() {
                    reached.ends.insert(Arc::as_ptr(&node));
                    continue;
                }
                let operands = node.operands();
                pending.push((node, true));
                pending.extend(operands.into_iter().map(|operand| (operand, false)));
            }
        }
        reached
    }

    /// The operations of which all operands come from afar, and two at least; users before their operands.
    fn candidates(&self, away: &HashSet<*const Node>) -> impl Iterator<Item = Arc<Node>> {
        let mut below: HashMap<*const Node, (usize, bool)> = HashMap::new();
        let mut found = Vec::new();
        for node in &self.lazy {
            let (mut many, mut only) = (0, true);
            for operand in node.operands() {
                let end = Arc::as_ptr(&operand);
                let (count, all) = match self.ends.contains(&end) {
                    true => (usize::from(away.contains(&end)), away.contains(&end)),
                    false => below.get(&end).copied().unwrap_or((0, true)),
                };
                (many, only) = (many + count, only && all);
            }
            below.insert(Arc::as_ptr(node), (many, only));
            if many > 1 && only && node.is_operation() {
                found.push(Arc::clone(node));
            }
        }
        found.into_iter().rev()
    }
}
