//! From a launch to dispatches: launch blocks, bindings, workgroup counts, and the passes of a
//! reduction. Pure arithmetic: no wgpu.

use partita_kernels::wgsl::layout::Header;
use partita_kernels::wgsl::{Binding, Shader};
use partita_kernels::{Form, Kernel, Launch, Op, Verified};

use super::windows::{Bounds, Piece, TooWide, Window, index_windows, split};

/// What the adapter allows and how kernels were written for it.
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
    /// Points of a workgroup of an elementwise kernel.
    pub tile: u32,
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
    /// What is bound after the launch block.
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
/// Most partial results that one invocation folds in the stages after the first.
const FAN_IN: u32 = 64;
/// Invocations of a large reduction's first stage.
const BUSY: u64 = 1 << 17;
/// Most points that one invocation of the first stage folds, give or take a factor of two: lavapipe silently
/// leaves every loop after 65,535 iterations (`LP_MAX_TGSI_LOOP_ITERATIONS` in Mesa's `lp_bld_limits.h`).
const MOST_ITERATIONS: u64 = 1 << 14;
/// Fewest points worth a segment of its own.
const SEGMENT_POINTS: u64 = 64;

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
    let bounds = bounds(kernel, shader, limits);
    let launch = merged(kernel.kernel(), launch);
    let pieces = split(kernel, &launch, &bounds)?;
    let planner = Planner { kernel: kernel.kernel(), shader, limits };
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
        Form::Reduce { .. } => work = planner.reductions(&pieces, &bounds),
    }
    Ok(work)
}

/// What one dispatch may touch.
fn bounds(kernel: &Verified, shader: &Shader, limits: &Limits) -> Bounds {
    let capacity = u64::from(limits.max_groups).pow(3);
    let most = |per_group: u32| capacity.saturating_mul(u64::from(per_group)).min(1 << 30) as usize;
    // Rooms of one partial result: two of its elements fit in one if they are several.
    let rooms = shader.width.div_ceil(2) as u64;
    let max_kept =
        u64::min(most(limits.workgroup_size) as u64, limits.max_binding_bytes / (PARTIAL_BYTES * rooms));
    let max_points = match kernel.kernel().form {
        Form::Reduce { .. } => most(u32::MAX).min((max_kept.min(BUSY) * MOST_ITERATIONS) as usize),
        Form::Elementwise { .. } | Form::Gather { .. } | Form::Scatter { .. } => most(limits.tile),
    };
    Bounds {
        max_binding_bytes: limits.max_binding_bytes,
        offset_alignment: limits.offset_alignment,
        max_points,
        max_kept: max_kept as usize,
    }
}

/// The launch with neighbouring dimensions made one wherever every memory is contiguous across
/// them, so that rows are long. Kernels that use coordinates stay as they are.
fn merged(kernel: &Kernel, launch: &Launch) -> Launch {
    let mut launch = launch.clone();
    if kernel.body.iter().any(|inst| matches!(inst.op, Op::Coord(_))) {
        return launch;
    }
    let mut into = launch.extents.len().saturating_sub(1);
    for k in (0..into).rev() {
        let inner = launch.extents[into] as i64;
        let seamless = launch.views.iter().all(|v| v.strides[k] == v.strides[into].wrapping_mul(inner));
        let alike = !matches!(&kernel.form, Form::Reduce { axes, .. } if axes[k] != axes[into]);
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

/// What distinguishes one dispatch from others of its piece.
struct Pass {
    stage: usize,
    groups: [u32; 3],
    header: Header,
    steps: Vec<u32>,
    /// Sides of the partial results read and written.
    sides: [usize; 2],
}

struct Planner<'a> {
    kernel: &'a Kernel,
    shader: &'a Shader,
    limits: &'a Limits,
}

impl Planner<'_> {
    /// Workgroup counts whose product is at least `groups`.
    fn groups(&self, groups: u64) -> [u32; 3] {
        let most = u64::from(self.limits.max_groups);
        let x = groups.clamp(1, most);
        let y = groups.div_ceil(x).clamp(1, most);
        [x as u32, y as u32, groups.div_ceil(x * y).max(1) as u32]
    }

    /// The dispatch of one piece of a pointwise kernel.
    fn tiles(&self, piece: &Piece, index: Option<(usize, super::windows::IndexWindow)>) -> Dispatch {
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
        let pass = Pass { stage: 0, groups, header, steps: Vec::new(), sides: [0, 0] };
        self.dispatch(pass, &piece.launch, &windows)
    }

    fn dispatch(&self, pass: Pass, launch: &Launch, windows: &[Option<Window>]) -> Dispatch {
        let Pass { stage, groups, header, steps, sides } = pass;
        let offsets: Vec<u32> = windows.iter().map(|w| w.map_or(0, |w| w.element)).collect();
        let block = self.shader.layout.block(&header, launch, &offsets, &steps);
        let bound = self.shader.stages[stage].bindings.iter().filter_map(|binding| match *binding {
            Binding::Launch => None,
            Binding::Param { param, .. } => {
                // A loaded parameter of an empty fold is bound but never read.
                let param = param as usize;
                let w = windows[param].unwrap_or(Window { first_byte: 0, bytes: 4, element: 0 });
                Some(Bound::Param { param, first_byte: w.first_byte, bytes: w.bytes })
            }
            Binding::PartialIn(stream) => Some(Bound::Partial { side: sides[0], stream: stream as usize }),
            Binding::PartialOut(stream) => Some(Bound::Partial { side: sides[1], stream: stream as usize }),
        });
        Dispatch { stage, groups, block, bound: bound.collect() }
    }

    fn axes(&self) -> &[bool] {
        match &self.kernel.form {
            Form::Reduce { axes, .. } => axes,
            _ => &[],
        }
    }

    fn kept_origin(&self, piece: &Piece) -> Vec<i64> {
        let kept = |(k, &folded): (usize, &bool)| (!folded).then_some(piece.launch.origin[k]);
        self.axes().iter().enumerate().filter_map(kept).collect()
    }

    /// All dispatches of a reduction.
    fn reductions(&self, pieces: &[Piece], bounds: &Bounds) -> Work {
        let mut work = Work::default();
        let same = |a: &Piece, b: &Piece| self.kept_origin(a) == self.kept_origin(b);
        pieces.chunk_by(same).for_each(|group| self.reduce(group, bounds, &mut work));
        work
    }

    /// The dispatches of all pieces of one kept box: folds that continue each other, then fewer and
    /// fewer partial results, then the stores.
    fn reduce(&self, pieces: &[Piece], bounds: &Bounds, work: &mut Work) {
        let first = &pieces[0];
        let kept = self.kernel.kept_points(&first.launch) as u64;
        let folded = |piece: &Piece| piece.launch.points() as u64 / kept;
        let longest = pieces.iter().map(folded).max().unwrap_or(0);
        let mut segments = self.segments(kept, longest, bounds);
        let rooms = self.shader.width.div_ceil(2);
        work.partials = work.partials.max((kept * u64::from(segments)) as usize * rooms);
        for (n, piece) in pieces.iter().filter(|p| p.launch.points() > 0).enumerate() {
            let mut pass = self.pass(0, kept, segments);
            pass.header.folded = folded(piece) as u32;
            pass.header.resume = n > 0;
            pass.steps = self.steps(&piece.launch, segments);
            work.dispatches.push(self.dispatch(pass, &piece.launch, &piece.windows));
        }
        if longest == 0 {
            segments = 0;
        }
        let mut side = 0;
        while segments > FAN_IN {
            let mut pass = self.pass(1, kept, segments.div_ceil(FAN_IN));
            pass.header.previous = segments;
            pass.sides = [side, 1 - side];
            (segments, side) = (pass.header.segments, 1 - side);
            work.dispatches.push(self.dispatch(pass, &first.launch, &first.windows));
        }
        let mut pass = self.pass(2, kept, 1);
        pass.header.previous = segments;
        pass.sides = [side, side];
        work.dispatches.push(self.dispatch(pass, &first.launch, &first.windows));
    }

    /// A stage of a reduction that makes this many partial results per kept point.
    fn pass(&self, stage: usize, kept: u64, segments: u32) -> Pass {
        let items = kept * u64::from(segments);
        let groups = self.groups(items.div_ceil(u64::from(self.shader.stages[stage].workgroup_size)));
        let header = Header {
            groups: [groups[0], groups[1]],
            limit: items as u32,
            kept: kept as u32,
            segments,
            ..Header::default()
        };
        Pass { stage, groups, header, steps: Vec::new(), sides: [0, 0] }
    }

    /// Partial results per kept point of the first stage: enough invocations to be busy, enough
    /// points for each, and no more than the partial results' binding and the workgroups hold.
    fn segments(&self, kept: u64, folded: u64, bounds: &Bounds) -> u32 {
        let wanted = BUSY / kept;
        let useful = folded.div_ceil(SEGMENT_POINTS);
        let room = bounds.max_kept as u64 / kept;
        wanted.min(useful).min(room).max(1) as u32
    }

    /// The number of segments as digits in the folded dimensions' extents.
    fn steps(&self, launch: &Launch, segments: u32) -> Vec<u32> {
        let mut steps = vec![0; launch.extents.len()];
        let mut rest = segments;
        let folded: Vec<usize> = (0..steps.len()).filter(|&k| self.axes()[k]).collect();
        for (position, &k) in folded.iter().enumerate().rev() {
            let extent = launch.extents[k] as u32;
            steps[k] = if position == 0 { rest } else { rest % extent };
            rest /= extent;
        }
        steps
    }
}
