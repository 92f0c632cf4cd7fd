//! Values that are put together of others, box by box: each box is computed straight into the memory of the
//! whole, with everything that its value is computed from. What all boxes read travels in ONE exchange. A
//! view that lies within one box is a view of that box's value, so nothing is put together for it.

use std::sync::Arc;

use crate::array::lower::access::computed_elsewhere;
use crate::array::lower::compute::{Compute, KernelStore};
use crate::array::lower::division::common_to;
use crate::array::lower::graph::NodeId;
use crate::array::lower::lowerer::{Body, Lowerer, kernel_task};
use crate::array::lower::steps::list::ResultMemory;
use crate::array::memory::storage::Pitch;
use crate::array::record::expr::Portion;
use crate::error::Result;
use crate::index::{Distribution, Region};

/// A box that can be computed.
struct BoxKernel {
    window: Region,
    /// That of the box's cells, on the parts that keep them.
    dist: Arc<Distribution>,
    body: Body,
    value: NodeId,
}

impl Lowerer<'_> {
    /// Computes all boxes of a joined value.
    pub fn join(&mut self, node: NodeId, boxes: &[Portion<NodeId>]) -> Result<()> {
        self.mark_unsupported("the step joins arrays");
        self.evaluate_stages(&[node])?;
        self.evaluate_common(node, boxes)?;
        let dist = self.graph.distribution(node)?;
        let kernels = boxes.iter().map(|portion| self.box_kernel(portion, &dist));
        let kernels = kernels.collect::<Result<Vec<BoxKernel>>>()?;
        let mut tasks = Vec::with_capacity(kernels.len());
        for BoxKernel { window, dist, body, value } in kernels {
            // One after the other, since one box may give an operand the halo that the next one finds.
            let accesses = self.accesses(&body.0.leaves, &dist)?;
            self.update_halos(&accesses)?;
            let stores = vec![KernelStore { result: 0, window: Some(window) }];
            tasks.push(kernel_task(body, accesses, &[self.graph.dtype(value)], (&dist, stores))?);
        }
        let dtype = self.graph.dtype(node);
        let result = ResultMemory::fresh(node, dtype, &dist, Pitch::of(dtype));
        self.push_compute(Compute { results: vec![result], kernels: tasks })
    }

    /// Computes common subexpressions of boxes first if they are costly and no larger than half of the
    /// result: those of an array that is repeated, but not of one that is rolled.
    fn evaluate_common(&mut self, node: NodeId, boxes: &[Portion<NodeId>]) -> Result<()> {
        let volume = |node: NodeId| Region::from_shape(self.graph.shape(node))?.volume();
        let values: Vec<Vec<NodeId>> = boxes.iter().map(|portion| vec![portion.value]).collect();
        let mut common = Vec::new();
        for candidate in common_to(self.graph, &values) {
            if 2 * volume(candidate)? <= volume(node)? {
                common.push(candidate);
            }
        }
        self.evaluate(&common)
    }

    /// The kernel of one box.
    fn box_kernel(&mut self, portion: &Portion<NodeId>, whole: &Arc<Distribution>) -> Result<BoxKernel> {
        let (window, value) = (self.graph.box_region(portion)?, portion.value);
        let dist = Arc::new(whole.restricted(&window)?);
        loop {
            let Ok(body) = self.attempt("joined", &[value], &dist, 1)? else { continue };
            let accesses = self.accesses(&body.0.leaves, &dist)?;
            let reads = (&body.0.leaves[..], &accesses[..]);
            match computed_elsewhere(self.graph, &[value], reads, &dist, self.team)? {
                Some(other) => self.evaluate(&[other])?,
                None => return Ok(BoxKernel { window, dist, body, value }),
            }
        }
    }
}
