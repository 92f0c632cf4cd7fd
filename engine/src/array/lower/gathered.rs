//! Nodes that one task computes from the memory of their base: scattered windows, elements by number,
//! elements of another team.

use std::sync::Arc;

use crate::array::lower::graph::NodeId;
use crate::array::lower::lowerer::Lowerer;
use crate::array::lower::tasks::Task;
use crate::error::Result;
use crate::index::{Index, Region};

impl Lowerer<'_> {
    /// A window whose elements lie scattered in the base's memory.
    pub fn gather_window(&mut self, node: NodeId, base: NodeId, start: &Index) -> Result<()> {
        self.mark_unsupported("the step reads a slice along an unordered list");
        self.evaluate(&[base])?;
        let window = Region::from_shape(self.graph.shape(node))?.shift(start)?;
        let steps = Index::filled(window.rank(), 1);
        let dist = Arc::new(self.graph.distribution(base)?.strided(&window, &steps)?);
        let dtype = self.graph.dtype(node);
        self.tasks.push(Task::GatherWindow { result: node, base, window, dist: Arc::clone(&dist), dtype });
        self.computed(node, &dist, &dist);
        Ok(())
    }

    /// Elements by their number in C order.
    pub fn gather_elements(&mut self, node: NodeId, base: NodeId, which: u32) -> Result<()> {
        self.mark_unsupported("the step takes elements by their number in C order");
        self.evaluate(&[base])?;
        let (dist, dtype) = (self.graph.distribution(node)?, self.graph.dtype(node));
        let which = self.graph.elements[which as usize].clone();
        self.tasks.push(Task::GatherElements { result: node, base, which, dist: Arc::clone(&dist), dtype });
        self.computed(node, &dist, &dist);
        Ok(())
    }

    /// The elements of a base on another team, which is computed before.
    pub fn move_elements(&mut self, node: NodeId, base: NodeId) -> Result<()> {
        self.mark_unsupported("the step reads an array of another team");
        let (dist, dtype) = (self.graph.distribution(node)?, self.graph.dtype(node));
        self.tasks.push(Task::Move { result: node, base, dist: Arc::clone(&dist), dtype });
        self.computed(node, &dist, &dist);
        Ok(())
    }
}
