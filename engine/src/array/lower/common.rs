//! What several kernels of one evaluation need: computed once and stored, if computing it again would cost
//! more than a trip through memory. Within one kernel nothing is computed twice anyway.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::array::lower::locality::Reached;
use crate::array::record::node::Node;
use crate::error::Result;

/// What is stored takes at least so many instructions: about what a large GPU does in the time of writing and
/// reading back four bytes.
pub(crate) const WORTH_STORING: u32 = 64;

/// The largest expressions that two or more of the kernels of `roots` have in common, in any order.
pub(crate) fn computed_first(roots: &[Arc<Node>]) -> Result<Vec<Arc<Node>>> {
    Ok(needed_by_several(&kernels(roots)?))
}

/// The same of kernels, each given by its results.
pub(crate) fn needed_by_several(kernels: &[Vec<Arc<Node>>]) -> Vec<Arc<Node>> {
    if kernels.len() < 2 {
        return Vec::new();
    }
    let mut users: HashMap<*const Node, u32> = HashMap::new();
    let mut all: Vec<Arc<Node>> = Vec::new();
    for kernel in kernels {
        for node in Reached::from(kernel, None).lazy {
            let count = users.entry(Arc::as_ptr(&node)).or_default();
            *count += 1;
            if *count == 2 {
                all.push(node);
            }
        }
    }
    // A light one is computed again even if it is a result itself: reading it back may need its halo.
    all.retain(|node| node.is_operation() && is_heavy(node));
    // Only what no other one contains.
    let below: Vec<Arc<Node>> = all.iter().flat_map(|node| node.operands()).collect();
    let inner: HashSet<*const Node> = Reached::from(&below, None).lazy.iter().map(Arc::as_ptr).collect();
    all.retain(|node| !inner.contains(&Arc::as_ptr(node)));
    all
}

/// Results that share a kernel: those of one shape and layout, and reductions of one operand.
fn kernels(roots: &[Arc<Node>]) -> Result<Vec<Vec<Arc<Node>>>> {
    let mut kernels: Vec<Vec<Arc<Node>>> = Vec::new();
    for root in roots {
        let together = |other: &Arc<Node>| -> Result<bool> {
            match (root.is_operation(), other.is_operation()) {
                (true, true) => {
                    Ok(root.shape == other.shape && root.distribution()?.same_layout(&*other.distribution()?))
                }
                (false, false) => {
                    let (a, b) = (root.operands(), other.operands());
                    Ok(a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| Arc::ptr_eq(a, b)))
                }
                _ => Ok(false),
            }
        };
        let mut found = None;
        for (k, kernel) in kernels.iter().enumerate() {
            if together(&kernel[0])? {
                found = Some(k);
            }
        }
        match found {
            Some(k) => kernels[k].push(Arc::clone(root)),
            None => kernels.push(vec![Arc::clone(root)]),
        }
    }
    Ok(kernels)
}

/// Whether a node takes so many instructions that it is worth storing. It looks no further than that takes.
fn is_heavy(node: &Arc<Node>) -> bool {
    if node.recorded().work < WORTH_STORING {
        return false;
    }
    let (mut weight, mut pending) = (0, vec![Arc::clone(node)]);
    let mut seen: HashSet<*const Node> = HashSet::new();
    while let Some(node) = pending.pop() {
        if seen.insert(Arc::as_ptr(&node)) {
            weight += node.weight();
            if weight >= WORTH_STORING {
                return true;
            }
            pending.extend(node.operands());
        }
    }
    false
}
