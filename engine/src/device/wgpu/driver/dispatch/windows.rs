//! Cuts a launch into pieces whose memory fits the adapter's largest binding. Pure arithmetic: no
//! wgpu, no buffers.
//!
//! All pieces come from one grid of equal boxes: the outermost dimension that can still be cut is
//! halved until the box of the grid with the widest span fits. Dimensions that fold away are put together
//! again: `reductions` cuts them where the order of the fold allows it.

use partita_kernels::{DType, Form, Kernel, Launch, Verified};

/// Lengths of buffers and windows are multiples of this many bytes, the size of the largest element.
pub const LENGTH_MULTIPLE: u64 = 8;

/// What one dispatch may touch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// Bytes one binding may span.
    pub max_binding_bytes: u64,
    /// Alignment of a binding's first byte, a multiple of 8.
    pub offset_alignment: u64,
    /// Workgroups of one dispatch.
    pub max_groups: u64,
    /// Points of one piece.
    pub max_points: usize,
    /// Kept points of one piece of a reduction.
    pub max_kept: usize,
}

/// The bytes of a buffer that a dispatch binds, and where the region's first point is in them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Window {
    /// First byte, aligned.
    pub first_byte: u64,
    /// Bytes, a multiple of [`LENGTH_MULTIPLE`].
    pub bytes: u64,
    /// Element of the region's first point, counted from `first_byte`; modulo 2^32.
    pub element: u32,
}

/// A part of a launch, and the window of each parameter (`None`: not touched, or found by index).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Piece {
    /// The launch of this box; its views still count from the start of the memory.
    pub launch: Launch,
    /// One per parameter.
    pub windows: Vec<Option<Window>>,
}

/// A single point of this parameter spans more than a binding can.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TooWide {
    /// Which parameter.
    pub param: usize,
    /// What one point of it spans.
    pub bytes: u64,
}

impl Bounds {
    /// The window of a span of elements, first and last inclusive.
    fn window(&self, dtype: DType, span: (i64, i64), offset: i64) -> Window {
        let size = dtype.size_bytes() as i64;
        let first_byte = (span.0 * size) as u64 / self.offset_alignment * self.offset_alignment;
        let bytes = (((span.1 + 1) * size) as u64 - first_byte).next_multiple_of(LENGTH_MULTIPLE);
        let element = offset.wrapping_sub(first_byte as i64 / size) as u32;
        Window { first_byte, bytes, element }
    }
}

/// Whether a dimension folds away.
pub(super) fn is_folded(kernel: &Kernel, dim: usize) -> bool {
    matches!(&kernel.form, Form::Reduce { axes, .. } if axes[dim])
}

/// The pieces of a launch, in C order of the grid. Those of a reduction have all values of their kept points.
///
/// # Errors
/// If a single point is too wide for a binding.
pub fn split(kernel: &Verified, launch: &Launch, bounds: &Bounds) -> Result<Vec<Piece>, TooWide> {
    if kernel.kernel().kept_points(launch) == 0 {
        return Ok(Vec::new());
    }
    let mut chunk: Vec<usize> = launch.extents.iter().map(|&e| e.max(1)).collect();
    while let Some(wide) = too_big(kernel, &boxed(launch, &vec![0; chunk.len()], &chunk), bounds) {
        let dim = chunk.iter().position(|&e| e > 1).ok_or(wide)?;
        chunk[dim] = chunk[dim].div_ceil(2);
    }
    let folded = |dim: &usize| is_folded(kernel.kernel(), *dim);
    (0..chunk.len()).filter(folded).for_each(|dim| chunk[dim] = launch.extents[dim].max(1));
    Ok(starts(kernel, launch, &chunk)
        .into_iter()
        .map(|start| {
            let launch = boxed(launch, &start, &chunk);
            let windows = windows(kernel, &launch, bounds);
            Piece { launch, windows }
        })
        .collect())
}

/// The box of the launch that starts at `start` and is at most `chunk` long.
pub(super) fn boxed(launch: &Launch, start: &[usize], chunk: &[usize]) -> Launch {
    let mut piece = launch.clone();
    for (k, (&start, &chunk)) in start.iter().zip(chunk).enumerate() {
        piece.extents[k] = chunk.min(launch.extents[k] - start);
        piece.origin[k] += start as i64;
        for view in &mut piece.views {
            view.offset += start as i64 * view.strides[k];
        }
    }
    piece
}

pub(super) fn windows(kernel: &Verified, launch: &Launch, bounds: &Bounds) -> Vec<Option<Window>> {
    let spans = kernel.touched(launch);
    let params = &kernel.kernel().params;
    let one = |(p, span): (usize, Option<(i64, i64)>)| {
        let indexed = kernel.kernel().indexed_param() == Some(p as u32);
        let window = |span| bounds.window(params[p].dtype, span, launch.views[p].offset);
        span.filter(|_| !indexed).map(window)
    };
    spans.into_iter().enumerate().map(one).collect()
}

/// The reason why this box cannot be one piece. The first byte of another box of the grid may be less
/// aligned, so almost one alignment is kept in reserve.
pub(super) fn too_big(kernel: &Verified, launch: &Launch, bounds: &Bounds) -> Option<TooWide> {
    let points = launch.points() > bounds.max_points || kernel.kernel().kept_points(launch) > bounds.max_kept;
    let spans = kernel.touched(launch);
    let wide = spans.iter().enumerate().find_map(|(param, span)| {
        let (first, last) = (*span)?;
        let size = kernel.kernel().params[param].dtype.size_bytes() as u64;
        let bytes = (last - first + 1) as u64 * size + bounds.offset_alignment + LENGTH_MULTIPLE;
        (bytes > bounds.max_binding_bytes).then_some(TooWide { param, bytes })
    });
    wide.or(points.then_some(TooWide { param: 0, bytes: 0 }))
}

/// Where the boxes of the grid start.
fn starts(kernel: &Verified, launch: &Launch, chunk: &[usize]) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..chunk.len()).collect();
    order.sort_by_key(|&k| is_folded(kernel.kernel(), k));
    let mut all = vec![vec![0; chunk.len()]];
    for k in order {
        let steps: Vec<usize> = (0..launch.extents[k].max(1)).step_by(chunk[k]).collect();
        all = all
            .iter()
            .flat_map(|start| {
                steps.iter().map(|&at| {
                    let mut start = start.clone();
                    start[k] = at;
                    start
                })
            })
            .collect();
    }
    all
}

/// A stretch of a gather's source or a scatter's target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IndexWindow {
    /// First index, counted from the view's offset.
    pub first: u64,
    /// Indices.
    pub count: u32,
    /// What is bound; `element` is that of the first index.
    pub window: Window,
}

/// The windows of an indexed parameter: `len` elements of which those from `offset` on have indices.
pub fn index_windows(dtype: DType, offset: i64, len: u64, bounds: &Bounds) -> Vec<IndexWindow> {
    let size = dtype.size_bytes() as u64;
    let most = ((bounds.max_binding_bytes - bounds.offset_alignment - LENGTH_MULTIPLE) / size).min(1 << 31);
    let indices = (len as i64).saturating_sub(offset).max(0) as u64;
    (0..indices)
        .step_by(most as usize)
        .map(|first| {
            let count = most.min(indices - first);
            let start = offset + first as i64;
            let window = bounds.window(dtype, (start, start + count as i64 - 1), start);
            IndexWindow { first, count: count as u32, window }
        })
        .collect()
}

#[cfg(test)]
#[path = "windows_tests.rs"]
mod tests;
