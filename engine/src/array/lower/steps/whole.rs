//! Operations on whole arrays as steps: which list of steps each one is, after its operands are in memory.

use std::sync::Arc;

use crate::array::lower::graph::{NodeId, OldElements};
use crate::array::lower::lowerer::Lowerer;
use crate::array::lower::steps::list::{Step, StoredArray};
use crate::array::lower::steps::listed::{compress, gather_elements, gather_window, take};
use crate::array::lower::steps::scan::scan;
use crate::array::lower::steps::sort::sort;
use crate::array::memory::storage::Pitch;
use crate::array::record::expr::{AxisScan, AxisSort, Which, WholeOp};
use crate::error::Result;
use crate::index::{Distribution, Index, Region};
use crate::plan::Plan;

impl Lowerer<'_> {
    /// Computes the result of an operation.
    pub fn whole(&mut self, node: NodeId, op: &WholeOp, operands: &[NodeId]) -> Result<()> {
        for inner in self.deeply_nested(node).into_iter().filter(|&inner| inner != node) {
            self.evaluate(&[inner])?;
        }
        if let Some(update) = self.graph.update(node, OldElements::Kept) {
            return self.updates(&[update]);
        }
        self.evaluate(operands)?;
        let base = operands[0];
        match op {
            WholeOp::Listed(which) => self.gather_elements(node, base, which),
            WholeOp::Scan(by) => self.scan(node, base, *by),
            WholeOp::Sort(by) => self.sort(node, base, *by),
            WholeOp::Redistribute => self.redistribute(node, base),
            WholeOp::Butterflies(pass) => self.butterflies(node, *pass, operands),
            WholeOp::Fourier(lines) => self.fourier(node, lines, operands),
            WholeOp::Take => self.take(node, base, operands[1]),
            WholeOp::Compress(bounds) => self.compress(node, [operands[1], operands[2], base], bounds),
            WholeOp::Update(_) => Ok(()),
        }
    }

    /// The node as an array that steps make.
    fn made(&mut self, node: NodeId, dist: Arc<Distribution>, pitch: Pitch) -> Result<StoredArray> {
        self.computed_in(node, (&dist, &dist), pitch);
        self.stored(node)
    }

    /// A window whose elements lie scattered in the base's memory.
    pub fn gather_window(&mut self, node: NodeId, base: NodeId, start: &Index) -> Result<()> {
        self.mark_unsupported("the step reads a slice along an unordered list");
        self.evaluate(&[base])?;
        let window = Region::from_shape(self.graph.shape(node))?.shift(start)?;
        let steps = Index::filled(window.rank(), 1);
        let dist = Arc::new(self.graph.distribution(base)?.strided(&window, &steps)?);
        let (base, pitch) = (self.stored(base)?, Pitch::of(self.graph.dtype(node)));
        let made = self.made(node, dist, pitch)?;
        gather_window(&mut self.list, &base, &window, &made)
    }

    /// Elements by their number in C order.
    fn gather_elements(&mut self, node: NodeId, base: NodeId, which: &Which) -> Result<()> {
        self.mark_unsupported("the step takes elements by their number in C order");
        let (base, dist) = (self.stored(base)?, self.graph.distribution(node)?);
        // By number: without gaps.
        let made = self.made(node, dist, Pitch::Packed)?;
        gather_elements((&mut self.list, self.team), &base, which, &made)
    }

    /// Elements of a line at indices.
    fn take(&mut self, node: NodeId, base: NodeId, indices: NodeId) -> Result<()> {
        self.mark_unsupported("the step takes elements by an array of indices");
        let (line, indices) = (self.stored(base)?, self.stored(indices)?);
        let made = self.made(node, self.graph.distribution(node)?, Pitch::of(line.dtype))?;
        take((&mut self.list, self.team), &line, &indices, &made)
    }

    /// Elements of a mask, by their ranks.
    fn compress(&mut self, node: NodeId, arrays: [NodeId; 3], bounds: &[i64]) -> Result<()> {
        self.mark_unsupported("the step selects elements by a mask");
        let [mask, ranks, values] = arrays.map(|array| self.stored(array));
        let made = self.made(node, self.graph.distribution(node)?, Pitch::Packed)?;
        compress(&mut self.list, [&mask?, &ranks?, &values?], bounds, &made)
    }

    /// A scan of a computed value.
    fn scan(&mut self, node: NodeId, base: NodeId, by: AxisScan) -> Result<()> {
        self.mark_unsupported("the step has a scan");
        let (base, dist) = (self.stored(base)?, self.graph.distribution(node)?);
        let made = self.made(node, dist, Pitch::of(base.dtype))?;
        scan(&mut self.list, self.team, &base, by, &made)
    }

    /// A sort of a computed value.
    fn sort(&mut self, node: NodeId, base: NodeId, by: AxisSort) -> Result<()> {
        self.mark_unsupported("the step sorts");
        let (base, dist) = (self.stored(base)?, self.graph.distribution(node)?);
        let pitch = Pitch::of(self.graph.dtype(node));
        let made = self.made(node, dist, pitch)?;
        sort(&mut self.list, self.team, &base, by, &made)
    }

    /// The elements of a computed base on another distribution.
    fn redistribute(&mut self, node: NodeId, base: NodeId) -> Result<()> {
        self.mark_unsupported("the step redistributes an array");
        let (base, dist) = (self.stored(base)?, self.graph.distribution(node)?);
        let made = self.made(node, dist, Pitch::of(base.dtype))?;
        self.list.allocate(&made);
        let ends = [(base.memory(), &*base.dist), (made.memory(), &*made.dist)];
        self.list.redistribute(self.team, "another distribution", ends, (base.dtype, base.shape))
    }

    /// Moves the elements of a base, which is evaluated before, by a plan; without a plan all of them.
    pub fn move_elements(&mut self, node: NodeId, base: NodeId, plan: Option<Arc<Plan>>) -> Result<()> {
        self.mark_unsupported("the step moves an array to another team");
        let (dist, dtype) = (self.graph.distribution(node)?, self.graph.dtype(node));
        self.list.steps.push(Step::Move { result: node, base, dist: Arc::clone(&dist), dtype, plan });
        self.computed(node, &dist);
        Ok(())
    }
}
