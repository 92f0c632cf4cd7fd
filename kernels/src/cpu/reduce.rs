//! How the region of an exact sum is cut, and the order of its dimensions.

use super::Task;
pub(super) use super::layout::decode;
use super::layout::{Layout, by_largest_stride, coordinate_dims};
use super::place::BLOCK;
use crate::ir::MAX_RANK;

/// How the region is cut: units of one or more results over one segment of what is folded.
pub(super) struct Cut {
    /// Dimensions of the layout: `kept`, then folded ones, then the vector dimension.
    pub kept: usize,
    /// The vector dimension is folded.
    pub across: bool,
    /// Points of the kept dimensions before the vector dimension.
    pub outer: usize,
    /// Lanes of a strip of the vector dimension, and how many strips there are.
    pub strip: usize,
    pub strips: usize,
    /// Rows of folded dimensions, rows of a segment, and how many segments of rows there are.
    pub rows: usize,
    pub segment_rows: usize,
    pub segments: usize,
}

impl Cut {
    /// Cuts into segments of about `segment_points` points and strips of at most `strip` results.
    pub(super) fn new(
        layout: &Layout,
        kept: usize,
        across: bool,
        segment_points: usize,
        strip: usize,
    ) -> Cut {
        let inner = layout.inner();
        let n = layout.extents[inner];
        let outer = layout.extents[..kept].iter().product();
        let rows: usize = layout.extents[kept..inner].iter().product();
        let strip = n.min(if across { segment_points } else { strip }).max(1);
        let segment_rows = (segment_points / strip).clamp(1, rows.max(1));
        let segments = rows.div_ceil(segment_rows).max(1);
        Cut { kept, across, outer, strip, strips: n.div_ceil(strip).max(1), rows, segment_rows, segments }
    }

    /// Partial results that are combined into each result.
    pub(super) fn parts(&self) -> usize {
        self.segments * if self.across { self.strips } else { 1 }
    }

    pub(super) fn units(&self) -> usize {
        self.outer * self.strips * self.segments
    }
}

/// The layout of a reduction, the number of kept dimensions before the folded ones, and whether the
/// vector dimension is folded.
pub(super) fn arrange(task: &Task<'_>, axes: &[bool]) -> (Layout, usize, bool) {
    let coordinates = coordinate_dims(task.kernel);
    let order = by_largest_stride(task.launch, task.code.loads.iter().map(|load| load.param));
    let plain =
        Layout::new(task.launch, &order, |a, b| axes[a] == axes[b] && !coordinates[a] && !coordinates[b]);
    let mut folded = [false; MAX_RANK];
    for (dim, at) in plain.dim_of.iter().enumerate() {
        if let Some(at) = *at {
            folded[at] = axes[dim];
        }
    }
    // The best dimension for vectors: long, then contiguous in most loads, then innermost.
    let score = |k: usize| {
        let contiguous = task.code.loads.iter().filter(|load| plain.strides[load.param][k] == 1).count();
        (plain.extents[k].min(BLOCK), contiguous, k)
    };
    let vector = (0..plain.rank).max_by_key(|&k| score(k)).unwrap_or(0);
    let others = |kind: bool| (0..plain.rank).filter(move |&k| k != vector && folded[k] == kind);
    let order: Vec<usize> = others(false).chain(others(true)).chain([vector]).collect();
    (plain.permuted(&order), others(false).count(), folded[vector])
}
