//! The dispatches of exact sums: their order is free, so pieces of a fold continue each other.

use partita_kernels::wgsl::Shader;
use partita_kernels::wgsl::layout::Header;
use partita_kernels::{Form, Launch};

use super::passes::{Limits, PARTIAL_BYTES, Pass, Planner, Work};
use super::windows::{Bounds, Piece};

/// Most partial results that one invocation folds in the stages after the first.
const FAN_IN: u32 = 64;
/// Invocations of a large reduction's first stage.
const BUSY: u64 = 1 << 17;
/// Most points that one invocation of the first stage folds, give or take a factor of two: lavapipe silently
/// leaves every loop after 65,535 iterations (`LP_MAX_TGSI_LOOP_ITERATIONS` in Mesa's `lp_bld_limits.h`).
const MOST_ITERATIONS: u64 = 1 << 14;
/// Fewest points worth a segment of its own.
const SEGMENT_POINTS: u64 = 64;

/// What one dispatch may touch.
pub(super) fn bounds(bounds: Bounds, shader: &Shader, limits: &Limits) -> Bounds {
    let most = |per_group: u32| bounds.max_groups.saturating_mul(u64::from(per_group)).min(1 << 30) as usize;
    // Rooms of one partial result: two of its elements fit in one if they are several.
    let rooms = shader.width.div_ceil(2) as u64;
    let max_kept =
        u64::min(most(limits.workgroup_size) as u64, limits.max_binding_bytes / (PARTIAL_BYTES * rooms));
    let max_points = most(u32::MAX).min((max_kept.min(BUSY) * MOST_ITERATIONS) as usize);
    Bounds { max_points, max_kept: max_kept as usize, ..bounds }
}

impl Planner<'_> {
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
    pub(super) fn exact_sums(&self, pieces: &[Piece], bounds: &Bounds) -> Work {
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
            pass.header.end = folded(piece) as u32;
            pass.header.partials_out = u32::from(n > 0);
            pass.divisors = self.steps(&piece.launch, segments);
            work.dispatches.push(self.dispatch(pass, &piece.launch, &piece.windows));
        }
        if longest == 0 {
            segments = 0;
        }
        let mut side = 0;
        while segments > FAN_IN {
            let mut pass = self.pass(1, kept, segments.div_ceil(FAN_IN));
            pass.header.first = segments;
            pass.sides = [side, 1 - side];
            (segments, side) = (pass.header.steps, 1 - side);
            work.dispatches.push(self.dispatch(pass, &first.launch, &first.windows));
        }
        let mut pass = self.pass(2, kept, 1);
        pass.header.first = segments;
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
            steps: segments,
            ..Header::default()
        };
        Pass { stage, groups, header, divisors: Vec::new(), sides: [0, 0] }
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
