//! Common subexpressions of several kernels of one evaluation: computed once and stored, if computing them
//! again would cost more than a trip through memory. Within one kernel nothing is computed twice anyway.

use std::collections::{HashMap, HashSet};

use crate::array::lower::graph::{Graph, MixBuildHasher, NodeId};
use crate::error::Result;

/// What is stored takes at least so many instructions: about what a large GPU does in the time of writing and
/// reading back four bytes.
pub(crate) const WORTH_STORING: u32 = 64;

/// The largest expressions that two or more of the kernels of `roots` have in common, in any order.
pub(crate) fn common_to_kernels(graph: &Graph, roots: &[NodeId]) -> Result<Vec<NodeId>> {
    Ok(common_to(graph, &kernels(graph, roots)?))
}

/// The same of kernels, each given by its results.
pub(crate) fn common_to(graph: &Graph, kernels: &[Vec<NodeId>]) -> Vec<NodeId> {
    if kernels.len() < 2 {
        return Vec::new();
    }
    let mut users: HashMap<NodeId, u32, MixBuildHasher> = HashMap::default();
    let mut all: Vec<NodeId> = Vec::new();
    for kernel in kernels {
        for node in graph.reached(kernel.iter().copied(), None).lazy {
            let count = users.entry(node).or_default();
            *count += 1;
            if *count == 2 {
                all.push(node);
            }
        }
    }
    // A light one is computed again even if it is a result itself: reading it back may need its halo.
    all.retain(|&node| graph.is_operation(node) && is_heavy(graph, node));
    // Only what no other one contains.
    let below = all.iter().flat_map(|&node| graph.operands(node));
    let inner: HashSet<NodeId> = graph.reached(below, None).lazy.into_iter().collect();
    all.retain(|node| !inner.contains(node));
    all
}

/// Results that share a kernel: those of one shape and layout, and reductions of one operand.
fn kernels(graph: &Graph, roots: &[NodeId]) -> Result<Vec<Vec<NodeId>>> {
    let mut kernels: Vec<Vec<NodeId>> = Vec::new();
    for &root in roots {
        let together = |other: NodeId| -> Result<bool> {
            match (graph.is_operation(root), graph.is_operation(other)) {
                (true, true) => Ok(graph.shape(root) == graph.shape(other)
                    && graph.distribution(root)?.same_layout(&*graph.distribution(other)?)),
                (false, false) => Ok(graph.operands(root) == graph.operands(other)),
                _ => Ok(false),
            }
        };
        let mut found = None;
        for (k, kernel) in kernels.iter().enumerate() {
            if together(kernel[0])? {
                found = Some(k);
            }
        }
        match found {
            Some(k) => kernels[k].push(root),
            None => kernels.push(vec![root]),
        }
    }
    Ok(kernels)
}

/// Whether a node takes so many instructions that it is worth storing. It looks no further than that takes.
fn is_heavy(graph: &Graph, node: NodeId) -> bool {
    let (mut weight, mut pending) = (0, vec![node]);
    let mut seen: HashSet<NodeId, MixBuildHasher> = HashSet::default();
    while let Some(node) = pending.pop() {
        if seen.insert(node) {
            weight += graph.weight(node);
            if weight >= WORTH_STORING {
                return true;
            }
            pending.extend(graph.operands(node));
        }
    }
    false
}
