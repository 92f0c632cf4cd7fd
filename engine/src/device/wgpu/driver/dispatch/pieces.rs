//! Cuts a launch into pieces whose memory fits the adapter's largest binding, and makes dispatches of them as
//! pure data: launch block, bindings and workgroup counts.
//!
//! All pieces come from one grid of equal boxes: the outermost dimension that can still be cut is halved
//! until the box of the grid with the widest span fits. Dimensions that fold away are put together again:
//! `reductions` cuts them where the order of the fold allows it.

use partita_kernels::wgsl::layout::Header;
use partita_kernels::wgsl::{Binding, Shader};
use partita_kernels::{DType, Form, Kernel, Launch, Verified};

/// Lengths of buffers and windows are multiples of this many bytes, the size of the largest access.
pub const LENGTH_MULTIPLE: u64 = 16;

/// The limits of one dispatch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bounds {
    /// Bytes one binding may span.
    pub max_binding_bytes: u64,
    /// Alignment of a binding's first byte, a multiple of [`LENGTH_MULTIPLE`].
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
    /// The bytes that one point of it spans.
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

/// Whether a dimension folds away, or is that of the lines of a scan.
pub(super) fn is_folded(kernel: &Kernel, dim: usize) -> bool {
    match &kernel.form {
        Form::Reduce { axes, .. } => axes[dim],
        Form::Scan(scan) => scan.axis == dim,
        Form::Elementwise { .. } | Form::Gather { .. } | Form::Scatter { .. } => false,
    }
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
        let is_whole = |dim: usize| matches!(&kernel.kernel().form, Form::Scan(scan) if scan.axis == dim);
        let dim = (0..chunk.len()).find(|&dim| chunk[dim] > 1 && !is_whole(dim)).ok_or(wide)?;
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

/// The starts of the boxes of the grid.
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
    /// The bound memory; `element` is that of the first index.
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

/// The adapter's limits, and the workgroup size that kernels were written for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Bytes one storage binding may span.
    pub max_binding_bytes: u64,
    /// Workgroups per dimension of a dispatch.
    pub max_groups: u32,
    /// Alignment of a storage binding's first byte.
    pub offset_alignment: u64,
    /// Invocations per workgroup.
    pub workgroup_size: u32,
}

/// One dispatch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dispatch {
    /// Which stage of the shader.
    pub stage: usize,
    /// Workgroups.
    pub groups: [u32; 3],
    /// The launch block.
    pub block: Vec<u32>,
    /// The bindings after the launch block.
    pub bound: Vec<Bound>,
}

/// One storage binding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// Bytes of a parameter's buffer.
    Param {
        /// Which.
        param: usize,
        /// First byte.
        first_byte: u64,
        /// Bytes.
        bytes: u64,
    },
    /// A buffer of partial results: stages take turns between side 0 and side 1.
    Partial {
        /// Which of the two.
        side: usize,
        /// Which stream.
        stream: usize,
    },
}

/// The dispatches of a launch, and the partial results each kept point needs.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Work {
    /// In order.
    pub dispatches: Vec<Dispatch>,
    /// Partial results per stream and side.
    pub partials: usize,
}

/// Bytes of room for one partial result, whatever its type.
pub const PARTIAL_BYTES: u64 = 8;

/// The numbers by which one dispatch differs from others of its piece.
pub(super) struct Pass {
    pub stage: usize,
    pub groups: [u32; 3],
    pub header: Header,
    /// Reductions: folded values between neighbours of each dimension.
    pub divisors: Vec<u32>,
    /// Sides of the partial results read and written.
    pub sides: [usize; 2],
}

pub(super) struct Planner<'a> {
    pub shader: &'a Shader,
    pub limits: &'a Limits,
}

impl Planner<'_> {
    /// Workgroup counts whose product is at least `groups`.
    pub(super) fn groups(&self, groups: u64) -> [u32; 3] {
        let most = u64::from(self.limits.max_groups);
        let x = groups.clamp(1, most);
        let y = groups.div_ceil(x).clamp(1, most);
        [x as u32, y as u32, groups.div_ceil(x * y).max(1) as u32]
    }

    pub(super) fn dispatch(&self, pass: Pass, launch: &Launch, windows: &[Option<Window>]) -> Dispatch {
        let Pass { stage, groups, header, divisors, sides } = pass;
        let offsets: Vec<u32> = windows.iter().map(|w| w.map_or(0, |w| w.element)).collect();
        let block = self.shader.layout.block(&header, launch, &offsets, &divisors);
        let bound = self.shader.stages[stage].bindings.iter().filter_map(|binding| match *binding {
            Binding::Launch => None,
            Binding::Param { param, .. } => {
                // A loaded parameter of an empty fold is bound but never read.
                let param = param as usize;
                let w =
                    windows[param].unwrap_or(Window { first_byte: 0, bytes: LENGTH_MULTIPLE, element: 0 });
                Some(Bound::Param { param, first_byte: w.first_byte, bytes: w.bytes })
            }
            Binding::PartialIn(stream) => Some(Bound::Partial { side: sides[0], stream: stream as usize }),
            Binding::PartialOut(stream) => Some(Bound::Partial { side: sides[1], stream: stream as usize }),
        });
        Dispatch { stage, groups, block, bound: bound.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_kernels::{Builder, Fold, FoldOp, View};

    const TIGHT: Bounds = Bounds {
        max_binding_bytes: 1024,
        offset_alignment: 64,
        max_groups: 1 << 20,
        max_points: 1 << 20,
        max_kept: 1 << 20,
    };

    fn blur(rank: usize) -> Verified {
        let mut k = Builder::new("blur", rank);
        let (input, output) = (k.input(DType::F32), k.output(DType::U8));
        let mut offsets = vec![0; rank];
        offsets[0] = 1;
        let value = k.load(input, &offsets);
        let value = k.cast(value, DType::U8);
        k.elementwise(&[(output, value)]).unwrap()
    }

    fn launch(extents: &[usize], views: Vec<View>) -> Launch {
        Launch { extents: extents.to_vec(), origin: vec![7; extents.len()], views, arguments: vec![] }
    }

    fn view(offset: i64, strides: &[i64]) -> View {
        View { offset, strides: strides.to_vec() }
    }

    #[test]
    fn pieces_cover_the_region_once_and_fit() {
        let whole = launch(&[40, 30], vec![view(100, &[33, 1]), view(5, &[-31, 1])]);
        let whole = Launch { views: vec![whole.views[0].clone(), view(5 + 39 * 31, &[-31, 1])], ..whole };
        let pieces = split(&blur(2), &whole, &TIGHT).unwrap();
        assert!(pieces.len() > 4);
        let mut seen = vec![0; 40 * 30];
        for piece in &pieces {
            let start: Vec<usize> = piece.launch.origin.iter().map(|o| (o - 7) as usize).collect();
            for i in 0..piece.launch.extents[0] {
                for j in 0..piece.launch.extents[1] {
                    seen[(start[0] + i) * 30 + start[1] + j] += 1;
                }
            }
            for (p, window) in piece.windows.iter().enumerate() {
                let (window, size) = (window.unwrap(), [4, 1][p]);
                assert!(
                    window.bytes <= 1024
                        && window.bytes % LENGTH_MULTIPLE == 0
                        && window.first_byte % 64 == 0
                );
                let touched = blur(2).touched(&piece.launch)[p].unwrap();
                assert!(window.first_byte <= (touched.0 * size) as u64);
                assert!(window.first_byte + window.bytes >= ((touched.1 + 1) * size) as u64);
                let element = window.first_byte as i64 / size + i64::from(window.element as i32);
                assert_eq!(element, piece.launch.views[p].offset);
            }
        }
        assert!(seen.iter().all(|&n| n == 1));
    }

    #[test]
    fn what_fits_stays_whole_and_what_is_empty_vanishes() {
        let small = launch(&[3, 4], vec![view(0, &[4, 1]), view(0, &[4, 1])]);
        assert_eq!(split(&blur(2), &small, &TIGHT).unwrap().len(), 1);
        let empty = launch(&[3, 0], vec![view(0, &[4, 1]), view(0, &[4, 1])]);
        assert_eq!(split(&blur(2), &empty, &TIGHT).unwrap(), []);
    }

    #[test]
    fn a_single_point_that_is_too_wide_is_named() {
        let mut k = Builder::new("far", 1);
        let (input, output) = (k.input(DType::F32), k.output(DType::F32));
        let (near, far) = (k.load(input, &[0]), k.load(input, &[1]));
        let sum = k.binary(partita_kernels::BinaryOp::Add, near, far);
        let kernel = k.elementwise(&[(output, sum)]).unwrap();
        let wide = launch(&[9], vec![view(0, &[5000]), view(0, &[1])]);
        assert_eq!(split(&kernel, &wide, &TIGHT).unwrap_err().param, 0);
    }

    #[test]
    fn pieces_of_a_reduction_have_all_values_of_their_kept_points() {
        let mut k = Builder::new("columns", 2);
        let (input, output) = (k.input(DType::F64), k.output(DType::F64));
        let value = k.load(input, &[0, 0]);
        let kernel = k.reduce(&[true, false], &[Fold::Value { op: FoldOp::Sum, value, output }]).unwrap();
        let whole = launch(&[100, 300], vec![view(0, &[300, 1]), view(0, &[0, 1])]);
        let pieces = split(&kernel, &whole, &TIGHT).unwrap();
        assert!(pieces.len() > 1 && pieces.iter().all(|p| p.launch.extents[0] == 100));
        assert_eq!(pieces.iter().map(|p| p.launch.extents[1]).sum::<usize>(), 300);
        let empty = Launch { extents: vec![0, 10], ..whole };
        assert_eq!(split(&kernel, &empty, &TIGHT).unwrap().len(), 1);
    }

    #[test]
    fn index_windows_tile_the_indices() {
        for offset in [0, 3, 1000] {
            let all = index_windows(DType::U16, offset, 5000, &TIGHT);
            let mut next = 0;
            for part in &all {
                assert_eq!(part.first, next);
                assert!(part.window.bytes <= 1024);
                let element = part.window.first_byte / 2 + u64::from(part.window.element);
                assert_eq!(element, offset as u64 + part.first);
                next += u64::from(part.count);
            }
            assert_eq!(next, 5000 - offset as u64);
        }
        assert_eq!(index_windows(DType::U16, 9, 9, &TIGHT), []);
    }
}
