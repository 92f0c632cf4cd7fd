//! The order of dimensions in which a reduction visits its points.

use crate::cpu::launch::{Dims, HostLaunch, LaunchLayout, by_largest_stride, coordinate_dims};
use crate::cpu::loops::lanes::BLOCK;
use crate::ir::MAX_RANK;

/// Most lanes that are folded side by side.
const STRIP: usize = 2048;

/// The layout of a reduction: kept dimensions, then the folded ones in the order of the definition, then, if
/// folds do not go across, a kept one.
pub(super) struct FoldLayout {
    pub layout: LaunchLayout,
    /// Kept dimensions before the folded ones.
    pub kept: usize,
    /// The innermost dimension is folded.
    pub across: bool,
}

impl FoldLayout {
    pub(super) fn new(task: &HostLaunch<'_>, axes: &[bool]) -> FoldLayout {
        let coordinates = coordinate_dims(task.kernel);
        let loads = task.footprint.loads().iter().map(|load| load.param as usize);
        let by_stride = by_largest_stride(task.launch, loads.clone());
        let kept = by_stride[..axes.len()].iter().copied().filter(|&dim| !axes[dim]);
        let mut order: Dims<usize> = [0; MAX_RANK];
        let dims = kept.chain(task.footprint.fold_order(task.launch));
        order.iter_mut().zip(dims).for_each(|(to, dim)| *to = dim);
        let layout = LaunchLayout::new(task.launch, &order, |a, b| {
            axes[a] == axes[b] && !coordinates[a] && !coordinates[b]
        });
        let is_kept = |k: &usize| (0..axes.len()).any(|dim| layout.dim_of[dim] == Some(*k) && !axes[dim]);
        let kept = (0..layout.rank).take_while(is_kept).count();
        // The best innermost dimension: long, then contiguous in most loads, then innermost.
        let score = |&k: &usize| {
            let contiguous = loads.clone().filter(|&p| layout.strides[p][k] == 1).count();
            (layout.extents[k].min(BLOCK), contiguous, k)
        };
        let last_folded = (kept < layout.rank).then_some(layout.rank - 1);
        let inner = (0..kept).chain(last_folded).max_by_key(score).unwrap_or(0);
        if inner >= kept {
            return FoldLayout { layout, kept, across: true };
        }
        let others = (0..layout.rank).filter(|&k| k != inner);
        let order: Vec<usize> = others.chain([inner]).collect();
        FoldLayout { layout: layout.permuted(&order), kept: kept - 1, across: false }
    }

    /// Points of the kept dimensions before the folded ones.
    pub(super) fn outer(&self) -> usize {
        self.layout.extents[..self.kept].iter().product()
    }

    /// Kept lanes of the innermost dimension.
    pub(super) fn lanes(&self) -> usize {
        if self.across { 1 } else { self.layout.extents[self.layout.inner()] }
    }

    pub(super) fn results(&self) -> usize {
        self.outer() * self.lanes()
    }

    /// Points, or rows, that are folded into one.
    pub(super) fn folded(&self) -> usize {
        let end = if self.across { self.layout.rank } else { self.layout.inner() };
        self.layout.extents[self.kept..end].iter().product()
    }

    /// Lanes that are folded side by side.
    pub(super) fn strip(&self, task: &HostLaunch<'_>) -> usize {
        let lanes = self.lanes();
        lanes.div_ceil(lanes.div_ceil(STRIP.min(task.tuning.fold_strip)).max(1)).max(1)
    }
}
