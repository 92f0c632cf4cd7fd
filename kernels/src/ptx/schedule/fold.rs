//! The plan of the entry `fold`: how many values a thread takes at a time.

use crate::ir::{Form, Kernel, Op};

/// Bytes of the widest load there is.
const RUN_BYTES: usize = 16;

/// Bytes that a thread has under way at once.
const BYTES_UNDER_WAY: usize = 64;

/// Values that a thread combines by a tree in registers.
const MOST_VALUES: usize = 16;

/// Instructions that all repetitions of the body may have together.
const MAX_REPEATED: usize = 512;

/// Values of a thread in one group: `steps` runs of `run` neighbours each, both powers of two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::ptx) struct FoldPlan {
    /// Neighbours, which one load takes where they are aligned.
    pub run: usize,
    /// Runs, a run of each of the other lanes apart.
    pub steps: usize,
}

impl FoldPlan {
    /// Of partial results, which lie one after the other.
    pub(in crate::ptx) const TREE: FoldPlan = FoldPlan { run: 1, steps: 4 };

    pub(in crate::ptx) fn of(kernel: &Kernel) -> FoldPlan {
        let loads = || kernel.body.iter().filter(|inst| matches!(inst.op, Op::Load { .. }));
        let widest = loads().map(|inst| inst.dtype.size_bytes()).max().unwrap_or(4);
        let bytes: usize = loads().map(|inst| inst.dtype.size_bytes()).sum();
        let at_most = |most: usize| 1 << most.max(1).ilog2();
        let repeated = at_most(MAX_REPEATED / kernel.body.len().max(1));
        let run = (RUN_BYTES / widest).min(repeated);
        let under_way = at_most(BYTES_UNDER_WAY / (run * bytes.max(1)));
        FoldPlan { run, steps: under_way.min(MOST_VALUES / run).min(repeated / run) }
    }

    /// Values of a thread in one group.
    pub(in crate::ptx) fn values(self) -> usize {
        self.run * self.steps
    }
}

/// Kept and folded slots of a reduction: at least one of each.
pub(in crate::ptx) fn fold_slots(kernel: &Kernel) -> (usize, usize) {
    let Form::Reduce { axes, .. } = &kernel.form else { unreachable!("called for reductions") };
    let folded = axes.iter().filter(|&&a| a).count();
    ((axes.len() - folded).max(1), folded.max(1))
}
