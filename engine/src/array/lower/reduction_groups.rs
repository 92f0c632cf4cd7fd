//! Which reductions are computed together: those that need no other reduction first, go over the same axes
//! and whose operands have one layout. Knows no kernels; `reduce` computes what is grouped here.

use std::collections::HashMap;
use std::sync::Arc;

use crate::array::record::node::{Expr, Node, NodeState, Reduction};
use crate::array::run::reduce;
use crate::error::Result;
use crate::index::Distribution;

/// One reduction that is not computed yet.
pub(crate) struct PendingReduction {
    pub node: Arc<Node>,
    pub operand: Arc<Node>,
    pub reduction: Reduction,
}

/// Reductions that one pass over their operands computes.
pub(crate) struct ReductionGroup {
    /// Of the operands.
    pub dist: Arc<Distribution>,
    /// What is folded away, ascending.
    pub axes: Vec<usize>,
    pub members: Vec<PendingReduction>,
}

/// Computes every reduction that `roots` are or are computed from, each group of them in one pass.
pub(crate) fn compute_reductions(roots: &[Arc<Node>]) -> Result<()> {
    loop {
        let innermost = innermost(roots);
        if innermost.is_empty() {
            return Ok(());
        }
        for group in grouped(innermost)? {
            reduce::compute(&group)?;
        }
    }
}

/// Whether a node is a reduction that is not computed yet.
pub(crate) fn is_pending(node: &Node) -> bool {
    matches!(&*node.state(), NodeState::Lazy { expr: Expr::Reduce { .. }, .. })
}

/// A node on the way down, or on the way back with the nodes it is computed from.
enum ReductionVisit {
    Enter(Arc<Node>),
    Leave(Arc<Node>, Vec<Arc<Node>>),
}

/// The reductions that need no other one first, in the order in which they are found: the same on every rank.
fn innermost(roots: &[Arc<Node>]) -> Vec<Arc<Node>> {
    // Per node: whether it is a reduction or needs one. The nodes of `roots` keep all of them alive.
    let mut needs: HashMap<*const Node, bool> = HashMap::new();
    let mut found = Vec::new();
    let mut steps: Vec<ReductionVisit> =
        roots.iter().rev().map(|root| ReductionVisit::Enter(Arc::clone(root))).collect();
    while let Some(step) = steps.pop() {
        match step {
            ReductionVisit::Enter(node) => {
                if needs.contains_key(&Arc::as_ptr(&node)) {
                    continue;
                }
                needs.insert(Arc::as_ptr(&node), false);
                let operands = node.operands();
                let below: Vec<ReductionVisit> =
                    operands.iter().rev().map(|n| ReductionVisit::Enter(Arc::clone(n))).collect();
                steps.push(ReductionVisit::Leave(node, operands));
                steps.extend(below);
            }
            ReductionVisit::Leave(node, operands) => {
                let below = operands.iter().any(|operand| needs[&Arc::as_ptr(operand)]);
                let is_reduction = is_pending(&node);
                needs.insert(Arc::as_ptr(&node), below || is_reduction);
                if is_reduction && !below {
                    found.push(node);
                }
            }
        }
    }
    found
}

fn grouped(nodes: Vec<Arc<Node>>) -> Result<Vec<ReductionGroup>> {
    let mut groups: Vec<ReductionGroup> = Vec::new();
    for node in nodes {
        let state = node.state();
        let NodeState::Lazy { expr: Expr::Reduce { operand, reduction, axes }, .. } = &*state else {
            continue;
        };
        let (operand, reduction, axes) = (Arc::clone(operand), *reduction, axes.clone());
        drop(state);
        let dist = operand.distribution()?;
        let shape = operand.shape;
        let member = PendingReduction { node, operand, reduction };
        let fits = |group: &ReductionGroup| {
            let first = &group.members[0];
            first.reduction.shares_a_pass()
                && reduction.shares_a_pass()
                && first.node.team == member.node.team
                && group.axes == axes
                && first.operand.shape == shape
                && group.dist.same_layout(&dist)
        };
        match groups.iter().position(fits) {
            Some(at) => groups[at].members.push(member),
            None => groups.push(ReductionGroup { dist, axes, members: vec![member] }),
        }
    }
    Ok(groups)
}
