//! [`Values`]: the memory that the nodes of a graph stand for while its tasks run.

use std::sync::{Arc, Weak};

use rustc_hash::FxHashMap;

use crate::array::lower::graph::NodeId;
use crate::array::memory::storage::Storage;
use crate::array::record::node::Node;
use crate::error::{Error, Result};

/// Recorded nodes keep their own memory; other values of the graph are kept here.
#[derive(Default)]
pub(crate) struct Values {
    nodes: FxHashMap<NodeId, Arc<Node>>,
    others: FxHashMap<NodeId, Arc<Storage>>,
}

impl Values {
    /// Has a node of the graph stand for a recorded one.
    pub fn hold(&mut self, node: NodeId, recorded: &Arc<Node>) {
        self.nodes.insert(node, Arc::clone(recorded));
    }

    /// Nobody reads the value any more.
    pub fn release(&mut self, node: NodeId) {
        self.nodes.remove(&node);
        self.others.remove(&node);
    }

    /// The memory of a computed value.
    ///
    /// # Errors
    /// None, unless tasks are out of order.
    pub fn storage(&self, node: NodeId) -> Result<Arc<Storage>> {
        let recorded = self.nodes.get(&node).and_then(|node| node.storage());
        recorded.or_else(|| self.others.get(&node).cloned()).ok_or_else(|| {
            Error::invalid(
                "an evaluation",
                "tasks that read computed values",
                format!("node {node}, which is not computed"),
                "please report this defect of the engine",
            )
        })
    }

    /// The value is computed, or is in other memory from now on.
    pub fn set(&mut self, node: NodeId, storage: Arc<Storage>) {
        match self.nodes.get(&node) {
            Some(recorded) => recorded.set_ready(storage),
            None => {
                self.others.insert(node, storage);
            }
        }
    }

    /// The recorded node, if it is one.
    pub fn recorded(&self, node: NodeId) -> Weak<Node> {
        self.nodes.get(&node).map(Arc::downgrade).unwrap_or_default()
    }
}
