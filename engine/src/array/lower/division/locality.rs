//! Where to compute: on the layout of the result, or on that of the operands, whose result is moved then.
//! Whatever moves fewer bytes between parts, counted by the plans that would carry it.
//!
//! It matters only to kernels of which two operands or more come from other parts.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::array::lower::body::{KernelBody, Leaf};
use crate::array::lower::graph::{Graph, MixBuildHasher, NodeId, Reached};
use crate::array::lower::operands::compute_region::ComputeRegion;
use crate::array::lower::operands::operand_access::{AccessMethod, KernelReads, OperandAccess};
use crate::error::{Error, Result};
use crate::index::Distribution;
use crate::team::Team;

/// Of large expressions only so many places to divide them are considered.
const MOST_CANDIDATES: usize = 16;

/// How kernels over `dist` read their leaves, if their parts compute what they own.
pub(crate) fn reads_of(
    graph: &Graph,
    leaves: &[Leaf],
    dist: &Distribution,
    shares_exchange: bool,
) -> Result<Vec<Option<OperandAccess>>> {
    let memory = |node: NodeId| match (graph.memory(node), graph.valid_halo(node)) {
        (Some(dist), Some(valid)) => Ok((Arc::clone(dist), valid)),
        _ => Err(not_computed(graph, node)),
    };
    let reads = KernelReads { leaves, dist, memory: &memory, shares_exchange };
    reads.accesses(&ComputeRegion::owned(dist))
}

fn not_computed(graph: &Graph, node: NodeId) -> Error {
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
    let accesses = reads_of(graph, &body.leaves, &dist, false)?;
    let reads = body.leaves.iter().zip(&accesses).filter_map(|(leaf, access)| Some((leaf, access.as_ref()?)));
    reads.map(|read| bytes(graph, read, &dist, team)).sum::<Result<u64>>().map(Some)
}

/// The operations of which all operands are remote, and two at least; users before their operands.
fn candidates(graph: &Graph, all: &Reached, remote: &HashSet<NodeId>) -> Vec<NodeId> {
    let mut below: HashMap<NodeId, (usize, bool), MixBuildHasher> = HashMap::default();
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
