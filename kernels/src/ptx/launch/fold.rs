//! The grids of a reduction: how threads share the values of each kept point, and in how many passes.
//!
//! Every block has an aligned run of numbers of the folded points, whose length is a power of two, so the
//! result is the definition's whatever is decided here.

use super::module::{BLOCKS_PER_MULTIPROCESSOR, Facts, Grid};
use super::region::Region;
use super::source::{Source, fill_up, leader};
use crate::ir::Kernel;
use crate::ptx::entries::combine::{partial_bytes, streams};
use crate::ptx::schedule::{FoldPlan, fold_slots};
use crate::ptx::text::{Field, Share, THREADS};

/// Lanes of a warp.
const WARP: u64 = 32;

/// Kept points side by side that fill a warp's loads.
const WIDE_ROWS: u64 = 64;

/// Points of a folded dimension within another one: with the numbers of a grid they stay below 2^32.
pub(super) const MAX_INNER_FOLD: u64 = 1 << 31;

/// How the threads of a block share the values of its kept points. All are powers of two.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct ThreadTeam {
    /// Neighbouring threads belong to one point; else they have neighbouring points.
    across: bool,
    /// Kept points of a block.
    rows: u64,
    /// Lanes of a share.
    lanes: u64,
    /// Shares of a point in a block.
    shares: u64,
    /// Groups of a share.
    groups: u64,
    /// Values of a thread in a group.
    values: u64,
}

impl ThreadTeam {
    fn run(&self) -> u64 {
        self.values * self.lanes * self.shares * self.groups
    }

    fn share(&self, share: Share) -> u64 {
        let members = self.lanes * self.shares;
        let log = |n: u64| u64::from(n.ilog2());
        match share {
            Share::Rows => self.rows,
            Share::RowShift => {
                if self.across {
                    log(members)
                } else {
                    0
                }
            }
            Share::RowMask => self.rows - 1,
            Share::MemberShift => {
                if self.across {
                    0
                } else {
                    log(self.rows)
                }
            }
            Share::MemberMask => members - 1,
            Share::Lanes => self.lanes,
            Share::LaneShift => log(self.lanes),
            Share::Shares => self.shares,
            Share::Groups => self.groups,
            _ => unreachable!("not of a team of threads"),
        }
    }

    fn threads(&self) -> [u32; 3] {
        [(self.rows * self.lanes * self.shares) as u32, 1, 1]
    }
}

/// One pass over partial results.
struct Pass {
    team: ThreadTeam,
    /// Partial results of each point before and after it.
    before: u64,
    after: u64,
}

/// All that folds into one box of kept points.
pub(in crate::ptx) struct PointFolds {
    region: Region,
    kept: u64,
    folded: u64,
    first: Option<ThreadTeam>,
    /// Numbers of the folded points of one grid and of one partial result.
    chunk: u64,
    run: u64,
    passes: Vec<Pass>,
}

impl PointFolds {
    fn segments(&self) -> u64 {
        self.folded.div_ceil(self.run)
    }

    /// Where the partial results of each pass and stream begin, and the end of the last.
    fn partials(&self, kernel: &Kernel) -> Vec<u64> {
        let mut at = vec![0];
        for pass in &self.passes {
            for stream in streams(kernel) {
                let bytes = self.kept * pass.before * partial_bytes(&stream);
                at.push(at[at.len() - 1] + bytes.next_multiple_of(256));
            }
        }
        at
    }

    pub(in crate::ptx) fn scratch_bytes(&self, kernel: &Kernel) -> u64 {
        self.partials(kernel).last().copied().unwrap_or(0)
    }
}

impl Source<'_> {
    /// The boxes of kept points of a reduction, and how each is folded.
    pub(in crate::ptx) fn folds(&self, facts: Facts) -> Vec<PointFolds> {
        let mut region = Region::new(self.kernel, self.launch, self.memory);
        let mut order = self.kernel.fold_order(self.launch);
        let is_empty = region.dims.iter().any(|d| d.folded && d.extent == 0);
        if is_empty {
            order.clear();
        }
        let lead = leader(self.kernel, &region);
        region.arrange_fold(&order, lead);
        if region.points() == 0 {
            return Vec::new();
        }
        let across = is_across(&region, lead);
        let (kept, folded) = fold_slots(self.kernel);
        region.fill(kept, folded);
        // Kept points may be cut anywhere; folded points are cut by their numbers.
        let mut most: Vec<u64> = region.dims.iter().map(|d| d.extent).collect();
        fill_up(&region.dims[..kept], self.module.limits.points, &mut most[..kept]);
        for (most, dim) in most[..kept].iter_mut().zip(&region.dims) {
            if !dim.fits() {
                *most = 1;
            }
        }
        let parts = region.parts(&most).into_iter();
        parts.map(|part| self.point_folds(part, across, is_empty, facts)).collect()
    }

    /// The points of a folded dimension within another one that are too many for a grid's coordinates.
    pub(super) fn longest_inner_fold(&self) -> Option<u64> {
        let mut region = Region::new(self.kernel, self.launch, self.memory);
        region.arrange_fold(&self.kernel.fold_order(self.launch), leader(self.kernel, &region));
        let inner = region.dims.iter().filter(|d| d.folded).skip(1).map(|d| d.extent).max();
        inner.filter(|&points| points > MAX_INNER_FOLD)
    }

    fn point_folds(&self, region: Region, across: bool, is_empty: bool, facts: Facts) -> PointFolds {
        let points = |folded: bool| -> u64 {
            region.dims.iter().filter(|d| d.folded == folded).map(|d| d.extent).product()
        };
        let (kept, folded) = (points(false), if is_empty { 0 } else { points(true) });
        let limits = self.module.limits;
        let full = u64::from(THREADS);
        let blocks = BLOCKS_PER_MULTIPROCESSOR * u64::from(facts.multiprocessors);
        let values = FoldPlan::of(self.kernel).values() as u64;
        let first = (folded > 0).then(|| self.team(across, values, kept, folded, blocks * full));
        let below = |limit: u64| 1u64 << limit.ilog2();
        let run = first.map_or(1, |team| team.run());
        let chunk = below(limits.points).min(below(limits.blocks) * run);
        let run = run.min(chunk);
        let mut folds = PointFolds { region, kept, folded, first, chunk, run, passes: Vec::new() };
        let mut before = folds.segments();
        while before != 1 {
            // One block for each point, so that this pass is the last where it can be.
            let team = self.team(true, FoldPlan::TREE.values() as u64, kept, before, kept * full);
            let after = before.div_ceil(team.run()).max(1);
            folds.passes.push(Pass { team, before, after });
            before = after;
        }
        folds
    }

    /// So many threads for all points, if there is enough to do for them.
    fn team(&self, across: bool, values: u64, kept: u64, folded: u64, threads: u64) -> ThreadTeam {
        let full = u64::from(THREADS);
        let limits = self.module.limits;
        let rows = kept.next_power_of_two();
        let lanes = if across { folded.div_ceil(values).next_power_of_two().clamp(1, WARP) } else { 1 };
        let room = match (across, lanes) {
            (true, WARP) => full / WARP,
            (true, _) => 1,
            (false, _) => full / rows.min(WIDE_ROWS),
        };
        let groups = folded.div_ceil(values * lanes).max(1);
        let wanted = (threads / (lanes * kept)).max(1);
        let of_share = |shares: u64| groups.div_ceil(shares).next_power_of_two().min(limits.groups);
        let shares = groups.div_ceil(of_share(wanted)).next_power_of_two().min(room).min(limits.shares);
        let groups = of_share(wanted).max(of_share(shares * limits.blocks));
        let members = lanes * shares;
        // Shuffles name all lanes of a warp.
        let least = if across { WARP.div_ceil(members) } else { 1 };
        let rows = (full / members).min(rows).max(least);
        ThreadTeam { across, rows, lanes, shares, groups, values }
    }

    pub(in crate::ptx) fn reduction(&self, scratch: u64, facts: Facts) -> Vec<Grid> {
        self.folds(facts).iter().flat_map(|folds| self.fold_grids(folds, scratch)).collect()
    }

    fn fold_grids(&self, folds: &PointFolds, scratch: u64) -> Vec<Grid> {
        let partials: Vec<u64> = folds.partials(self.kernel).iter().map(|at| at + scratch).collect();
        let streams = streams(self.kernel).len();
        let mut grids = Vec::new();
        if let Some(team) = folds.first {
            for begin in (0..folds.folded).step_by(folds.chunk as usize) {
                let length = folds.chunk.min(folds.folded - begin);
                let (region, base) = from_number(&folds.region, begin);
                let run = FoldPlan::of(self.kernel).run as u64;
                let runs = whole_runs(&region, run, length);
                let distance = team.lanes * run;
                let blocks = [folds.kept.div_ceil(team.rows), length.div_ceil(team.run()), 1];
                grids.push(self.grid(0, &region, blocks, team.threads(), |field| match field {
                    Field::Base(slot) => base[*slot],
                    Field::Digit(slot) => digits(&region, distance)[*slot],
                    Field::Rest(slot) => digits(&region, distance + 1 - run)[*slot],
                    Field::Partials(stream) => partials.get(*stream).copied().unwrap_or(0),
                    Field::Share(Share::Kept) => folds.kept,
                    Field::Share(Share::Folded) => length,
                    Field::Share(Share::Runs) => runs,
                    Field::Share(Share::First) => begin / folds.run,
                    Field::Share(Share::Segments) => folds.segments(),
                    Field::Share(Share::Empty) => 0,
                    Field::Share(share) => team.share(*share),
                    _ => unreachable!("the region knows it"),
                }));
            }
        }
        for (n, pass) in folds.passes.iter().enumerate() {
            let team = &pass.team;
            let blocks = [folds.kept.div_ceil(team.rows), pass.after, 1];
            grids.push(self.grid(1, &folds.region, blocks, team.threads(), |field| match field {
                Field::Previous(stream) => partials[n * streams + stream],
                // The last pass has no partial results to leave.
                Field::Partials(stream) => partials.get((n + 1) * streams + stream).copied().unwrap_or(0),
                Field::Share(Share::Kept) => folds.kept,
                Field::Share(Share::Folded) => pass.before,
                Field::Share(Share::First) => 0,
                Field::Share(Share::Segments) => pass.after,
                Field::Share(Share::Empty) => u64::from(folds.folded == 0),
                Field::Share(share) => team.share(*share),
                _ => unreachable!("the region knows it"),
            }));
        }
        grids
    }
}

/// Neighbouring threads fold if what folds is closer in memory than what stays.
fn is_across(region: &Region, lead: Option<usize>) -> bool {
    let closest = |folded: bool| {
        let dims = region.dims.iter().filter(|d| d.folded == folded);
        dims.map(|d| lead.map_or(0, |q| d.steps[q].unsigned_abs())).min()
    };
    match (closest(true), closest(false)) {
        (None, _) => false,
        (Some(_), None) => true,
        (Some(folded), Some(kept)) => folded <= kept,
    }
}

/// The outermost folded slot with several points; the last one if there is none.
fn outermost(region: &Region) -> usize {
    let last = region.dims.len() - 1;
    region.dims.iter().position(|d| d.folded && d.extent > 1).unwrap_or(last)
}

/// The region whose folded points begin at a number, and the coordinates at which it begins: of the outermost
/// slot the region itself begins there, because its coordinates may be beyond 32 bits.
fn from_number(region: &Region, number: u64) -> (Region, Vec<u64>) {
    let mut base = digits(region, number);
    let outermost = outermost(region);
    let mut first = vec![0; base.len()];
    first[outermost] = std::mem::take(&mut base[outermost]);
    let mut extents: Vec<u64> = region.dims.iter().map(|d| d.extent).collect();
    // No number of a grid reaches so far.
    extents[outermost] = (extents[outermost] - first[outermost]).min(i32::MAX as u64);
    (region.part(&first, &extents), base)
}

/// The numbers of a grid of `length` below which no run of a thread is cut by the end of a row.
fn whole_runs(region: &Region, run: u64, length: u64) -> u64 {
    let inner = region.dims.last().map_or(1, |d| d.extent);
    if inner.is_multiple_of(run) {
        u64::from(u32::MAX)
    } else if outermost(region) == region.dims.len() - 1 {
        length
    } else {
        0
    }
}

/// A number of items as digits of the folded slots; the first slot takes what is left.
fn digits(region: &Region, items: u64) -> Vec<u64> {
    let mut digits = vec![0; region.dims.len()];
    let mut rest = items;
    let first = region.dims.iter().position(|d| d.folded).unwrap_or(0);
    for slot in (first..region.dims.len()).rev() {
        digits[slot] = if slot == first { rest } else { rest % region.dims[slot].extent };
        rest /= region.dims[slot].extent;
    }
    digits
}
