//! Ends chains of recorded operations that grow too long: about half of one is computed.

use std::sync::Arc;

use crate::array::loops::recorder::Recorder;
use crate::array::lower::division::lower_half;
use crate::array::lower::graph::{RecordedGraph, Target};
use crate::array::record::node::Node;
use crate::array::run::evaluate::evaluate;
use crate::error::Result;
use crate::team::evaluation;

/// The longest chain of recorded operations. When one grows longer, about half of it is computed.
const LONGEST_CHAIN: u32 = 8192;

/// Whether a chain of recorded operations is so long, or nearly, that a part should be computed.
pub(crate) fn is_long(node: &Node, room: u32) -> bool {
    node.recorded().depth > LONGEST_CHAIN - room
}

/// Computes about half of what was recorded for a node: the values that cross a narrow place in its middle.
/// The node itself stays recorded, so that what it is used for next is fused with it.
pub(crate) fn shorten(node: &Arc<Node>) -> Result<()> {
    let recorder = Recorder::current();
    let _guard = evaluation(node.teams());
    // Some of it may have been computed since, for another value that needs it.
    recount(node)?;
    if !is_long(node, LONGEST_CHAIN / 2) {
        return Ok(());
    }
    node.team.together("eval", || {
        let half = {
            let RecordedGraph { graph, nodes, .. } = RecordedGraph::of(&node.team, &[Target::fresh(node)])?;
            let half = lower_half(&graph, graph.targets[0].node);
            half.into_iter().map(|at| Arc::clone(&nodes[at as usize])).collect::<Vec<Arc<Node>>>()
        };
        evaluate(&recorder, &half)?;
        recount(node)?;
        // A chain of views alone has no middle.
        if is_long(node, LONGEST_CHAIN / 4) {
            evaluate(&recorder, std::slice::from_ref(node))
        } else {
            Ok(())
        }
    })
}

/// Counts what is recorded below a node again, operands before those that use them.
fn recount(node: &Arc<Node>) -> Result<()> {
    let RecordedGraph { graph, nodes, .. } = RecordedGraph::of(&node.team, &[Target::fresh(node)])?;
    let lazy = graph.reached([graph.targets[0].node], None).lazy;
    lazy.into_iter().for_each(|at| nodes[at as usize].recount());
    Ok(())
}
