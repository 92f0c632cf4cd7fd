//! From a launch to dispatches, by the form of its kernel. Pure arithmetic: no wgpu.

use partita_kernels::wgsl::Shader;
use partita_kernels::wgsl::layout::Header;
use partita_kernels::{Form, Kernel, Launch, Verified};

use super::passes::{Dispatch, Limits, Pass, Planner, Work};
use super::reductions;
use super::windows::{Bounds, IndexWindow, Piece, TooWide, index_windows, is_folded, split};

/// Plans a launch that [`Verified::check`] has passed. `lens` are the elements of each memory.
///
/// # Errors
/// If a single point is too wide for a binding.
pub fn plan(
    kernel: &Verified,
    shader: &Shader,
    launch: &Launch,
    lens: &[u64],
    limits: &Limits,
) -> Result<Work, TooWide> {
    let launch = merged(kernel, launch);
    let bounds = bounds(kernel.kernel(), &launch, shader, limits);
    let pieces = split(kernel, &launch, &bounds)?;
    let planner = Planner { shader, limits };
    let mut work = Work::default();
    match kernel.kernel().form {
        Form::Elementwise { .. } => pieces.iter().for_each(|p| work.dispatches.push(planner.tiles(p, None))),
        Form::Gather { source: indexed, .. } | Form::Scatter { output: indexed, .. } => {
            let (p, dtype) = (indexed as usize, kernel.kernel().params[indexed as usize].dtype);
            for window in index_windows(dtype, launch.views[p].offset, lens[p], &bounds) {
                for piece in &pieces {
                    work.dispatches.push(planner.tiles(piece, Some((p, window))));
                }
            }
        }
        Form::Reduce { .. } => {
            for piece in &pieces {
                reductions::plan(&planner, kernel, piece, &bounds, &mut work)?;
            }
        }
    }
    Ok(work)
}

/// What one dispatch may touch.
fn bounds(kernel: &Kernel, launch: &Launch, shader: &Shader, limits: &Limits) -> Bounds {
    let max_groups = u64::from(limits.max_groups).pow(3);
    let all = Bounds {
        max_binding_bytes: limits.max_binding_bytes,
        offset_alignment: limits.offset_alignment,
        max_groups,
        max_points: max_groups.saturating_mul(u64::from(limits.tile)).min(1 << 30) as usize,
        max_kept: usize::MAX,
    };
    match kernel.form {
        Form::Reduce { .. } => {
            let folded = (0..kernel.rank).filter(|&dim| is_folded(kernel, dim));
            let folded = folded.map(|dim| launch.extents[dim] as u64).product();
            reductions::bounds(all, folded, shader.stages[0].workgroup_size)
        }
        Form::Elementwise { .. } | Form::Gather { .. } | Form::Scatter { .. } => all,
    }
}

/// The launch with neighbouring dimensions made one wherever every memory is contiguous across
/// them, so that rows are long. Kernels that use coordinates stay as they are, and the values of a fold keep
/// their numbers.
fn merged(kernel: &Verified, launch: &Launch) -> Launch {
    let mut launch = launch.clone();
    let footprint = kernel.footprint();
    if !footprint.coords().is_empty() {
        return launch;
    }
    let mut into = launch.extents.len().saturating_sub(1);
    for k in (0..into).rev() {
        let inner = launch.extents[into] as i64;
        let seamless = launch.views.iter().all(|v| v.strides[k] == v.strides[into].wrapping_mul(inner));
        let alike = match (is_folded(kernel.kernel(), k), is_folded(kernel.kernel(), into)) {
            (true, true) => {
                let mut order = footprint.fold_order(&launch);
                order.retain(|&dim| launch.extents[dim] != 1);
                order.windows(2).any(|pair| pair == [k, into])
            }
            (k, into) => k == into,
        };
        if launch.extents[k] == 1 {
            continue;
        }
        if seamless && alike {
            launch.extents[into] *= launch.extents[k];
            launch.extents[k] = 1;
        } else {
            into = k;
        }
    }
    launch
}

impl Planner<'_> {
    /// The dispatch of one piece of a pointwise kernel.
    fn tiles(&self, piece: &Piece, index: Option<(usize, IndexWindow)>) -> Dispatch {
        let points = piece.launch.points() as u64;
        let inner = piece.launch.extents.last().copied().unwrap_or(1) as u64;
        let (rows, tile) = (points / inner, u64::from(self.limits.tile));
        let chunks = inner.div_ceil(tile);
        // Aligned rows waste the end of each row's last tile; accept a quarter of the invocations.
        let capacity = u64::from(self.limits.max_groups).pow(3);
        let aligned = inner * 4 >= chunks * tile * 3 && rows * chunks <= capacity;
        let count = if aligned { rows * chunks } else { points.div_ceil(tile) };
        let groups = self.groups(count);
        let mut header = Header {
            groups: [groups[0], groups[1]],
            limit: if aligned { inner } else { points } as u32,
            chunks: if aligned { chunks as u32 } else { 0 },
            kept: rows as u32,
            ..Header::default()
        };
        let mut windows = piece.windows.clone();
        if let Some((param, at)) = index {
            header.window_first = at.first;
            header.window_count = at.count;
            header.window_element = at.window.element;
            windows[param] = Some(at.window);
        }
        let pass = Pass { stage: 0, groups, header, divisors: Vec::new(), sides: [0, 0] };
        self.dispatch(pass, &piece.launch, &windows)
    }
}
