//! The grids of a reduction: how threads share the values of each kept point, and in how many passes.
//!
//! Every block has an aligned run of numbers of the folded points, whose length is a power of two, so the
//! result is the definition's whatever is decided here.

use super::module::{Facts, LaunchPlan, Region, Source, fill_up};
use crate::ir::{Kernel, Store};
use crate::ptx::entries::fold_streams::{partial_bytes, streams};
use crate::ptx::schedule::{FoldPlan, fold_slots};
use crate::ptx::text::{FoldField, Quantity, THREADS};
use crate::verify::LoadSite;

/// Places of the entries; behind them those for aligned runs and for columns, where there are any.
const FOLD: usize = 0;
const TREE: usize = 1;

/// Blocks per multiprocessor, if there is enough to do: more than run side by side, so that a last round
/// that is not full costs little.
const BLOCKS_PER_MULTIPROCESSOR: u64 = 32;

/// The same of values of one or two bytes: a thread has several groups of these, too, over which what it does
/// once is spread.
const BLOCKS_OF_FEW_BYTES: u64 = 16;

/// The same where neighbouring threads have neighbouring kept points: each block leaves results of many.
const BLOCKS_OF_COLUMNS: u64 = 16;

/// Lanes of a warp.
const WARP: u64 = 32;

/// Kept points side by side that fill a warp's loads.
const WIDE_ROWS: u64 = 64;

/// Points of a folded dimension within another one: with the numbers of a grid they stay below 2^32.
pub(crate) const MAX_INNER_FOLD: u64 = 1 << 31;

/// The division of the values of a block's kept points among its threads. All are powers of two.
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

    fn threads(&self) -> [u64; 3] {
        [self.rows * self.lanes * self.shares, 1, 1]
    }
}

/// The numbers that the text of one grid reads.
struct FoldGrid<'a> {
    team: &'a ThreadTeam,
    kept: u64,
    folded: u64,
    runs: u64,
    first: u64,
    segments: u64,
    is_empty: bool,
    /// By streams.
    partials: &'a [u64],
    previous: &'a [u64],
    /// By slots.
    base: Vec<u64>,
    digit: Vec<u64>,
    rest: Vec<u64>,
}

impl FoldGrid<'_> {
    fn number(&self, field: FoldField) -> u64 {
        let team = self.team;
        let members = team.lanes * team.shares;
        let log = |n: u64| u64::from(n.ilog2());
        match field {
            FoldField::Rows => team.rows,
            FoldField::RowShift => u64::from(team.across) * log(members),
            FoldField::RowMask => team.rows - 1,
            FoldField::MemberShift => u64::from(!team.across) * log(team.rows),
            FoldField::MemberMask => members - 1,
            FoldField::Lanes => team.lanes,
            FoldField::LaneShift => log(team.lanes),
            FoldField::Shares => team.shares,
            FoldField::Groups => team.groups,
            FoldField::Kept => self.kept,
            FoldField::Folded => self.folded,
            FoldField::Runs => self.runs,
            FoldField::First => self.first,
            FoldField::Segments => self.segments,
            FoldField::Empty => u64::from(self.is_empty),
            // The last pass has no partial results to leave.
            FoldField::Partials(stream) => self.partials.get(stream).copied().unwrap_or(0),
            FoldField::Previous(stream) => self.previous[stream],
            FoldField::Base(slot) => self.base[slot],
            FoldField::Digit(slot) => self.digit[slot],
            FoldField::Rest(slot) => self.rest[slot],
        }
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
struct PointFolds {
    region: Region,
    kept: u64,
    folded: u64,
    first: Option<ThreadTeam>,
    /// The place of the first pass's entry, and its plan.
    entry: usize,
    plan: FoldPlan,
    /// Numbers of the folded points of one grid and of one partial result.
    chunk: u64,
    run: u64,
    passes: Vec<Pass>,
}

impl PointFolds {
    fn segments(&self) -> u64 {
        self.folded.div_ceil(self.run)
    }

    /// Offsets in scratch memory of the partial results of each pass and stream, and the end of the last.
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
}

impl Source<'_> {
    /// The boxes of kept points of a reduction, and how each is folded.
    fn folds(&self, facts: Facts) -> Vec<PointFolds> {
        let mut region = Region::new(self);
        let mut order = self.footprint().fold_order(self.launch);
        let is_empty = region.dims.iter().any(|d| d.folded && d.extent == 0);
        if is_empty {
            order.clear();
        }
        let lead = self.leader(&region);
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
    pub(crate) fn longest_inner_fold(&self) -> Option<u64> {
        let mut region = Region::new(self);
        region.arrange_fold(&self.footprint().fold_order(self.launch), self.leader(&region));
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
        let bytes: i64 = self.footprint().loads().iter().map(|load| self.size(load.param)).sum();
        let blocks = match (across, bytes) {
            (true, ..=2) => BLOCKS_OF_FEW_BYTES,
            (true, _) => BLOCKS_PER_MULTIPROCESSOR,
            (false, _) => BLOCKS_OF_COLUMNS,
        };
        let blocks = blocks * u64::from(facts.multiprocessors);
        let (entry, plan) = self.first(&region, across);
        let (values, threads) = (plan.values() as u64, kept / plan.columns as u64);
        let first = (folded > 0).then(|| self.team(across, values, threads, folded, blocks * full));
        let below = |limit: u64| 1u64 << limit.ilog2();
        let run = first.map_or(1, |team| team.run());
        let chunk = below(limits.points).min(below(limits.blocks) * run);
        let run = run.min(chunk);
        let mut folds =
            PointFolds { region, kept, folded, first, entry, plan, chunk, run, passes: Vec::new() };
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
        let least = WARP.div_ceil(members);
        let rows = (full / members).min(rows).max(least);
        ThreadTeam { across, rows, lanes, shares, groups, values }
    }

    /// The entry of the first pass, by its place, and its plan.
    fn first(&self, region: &Region, across: bool) -> (usize, FoldPlan) {
        let (kept, folded) = fold_slots(self.kernel);
        let plans = self.module.schedule.folds;
        let has_runs = plans.aligned.run > 1;
        if has_runs && self.are_whole(region, kept + folded - 1, plans.aligned.run) {
            return (TREE + 1, plans.aligned);
        }
        let is_beside = |n: u32| region.dims[kept - 1].steps[region.of(Quantity::Param(n))] == self.size(n);
        let fits = |plan: &FoldPlan| {
            !across
                && streams(self.kernel).iter().all(|stream| is_beside(stream.output))
                && self.are_whole(region, kept - 1, plan.columns)
        };
        match plans.columns.filter(fits) {
            Some(plan) => (TREE + 1 + usize::from(has_runs), plan),
            None => (FOLD, plans.any),
        }
    }

    /// So many neighbours along a slot, from the first on, are whole and aligned in all arrays.
    fn are_whole(&self, region: &Region, slot: usize, neighbours: usize) -> bool {
        let run = neighbours as i64;
        let whole = |bytes: i64, param: u32| bytes % (run * self.size(param)) == 0;
        let aligned = |load: &LoadSite| {
            let (param, q) = (load.param, region.of(Quantity::Param(load.param)));
            let strides = &self.launch.views[param as usize].strides;
            let offsets = strides.iter().zip(&load.offsets).map(|(&s, &d)| s.wrapping_mul(i64::from(d)));
            let others = region.dims.iter().enumerate().filter(|&(at, d)| at != slot && d.extent > 1);
            region.dims[slot].steps[q] == self.size(param)
                && whole(region.starts[q], param)
                && others.map(|(_, d)| d.steps[q]).all(|step| whole(step, param))
                && whole(offsets.fold(0, i64::wrapping_add).wrapping_mul(self.size(param)), param)
        };
        let at_point = |store: &Store| LoadSite { param: store.param, offsets: vec![0; self.kernel.rank] };
        region.dims[slot].extent.is_multiple_of(neighbours as u64)
            && self.footprint().loads().iter().all(aligned)
            && self.kernel.stores_of_folds().iter().map(at_point).all(|site| aligned(&site))
    }

    pub(crate) fn reduction(&self, facts: Facts) -> LaunchPlan {
        let boxes = self.folds(facts).into_iter().map(|folds| self.fold_plan(&folds));
        boxes.fold(LaunchPlan::default(), LaunchPlan::then)
    }

    fn fold_plan(&self, folds: &PointFolds) -> LaunchPlan {
        let partials = folds.partials(self.kernel);
        let streams = streams(self.kernel).len();
        let mut plan = LaunchPlan { scratch_bytes: partials[partials.len() - 1], grids: Vec::new() };
        let mut add = |entry: usize, region: &Region, grid: &FoldGrid, blocks: u64| {
            let shape = [[grid.kept.div_ceil(grid.team.rows), blocks, 1], grid.team.threads()];
            plan.grids.push(self.grid(entry, region, shape, 1, |field| grid.number(field)));
        };
        if let Some(team) = &folds.first {
            let FoldPlan { run, columns, .. } = folds.plan;
            let (run, columns) = (run as u64, columns as u64);
            let distance = team.lanes * run;
            for begin in (0..folds.folded).step_by(folds.chunk as usize) {
                let length = folds.chunk.min(folds.folded - begin);
                let (mut region, base) = from_number(&folds.region, begin);
                region.dims[fold_slots(self.kernel).0 - 1].group(columns);
                let grid = FoldGrid {
                    team,
                    kept: folds.kept / columns,
                    folded: length,
                    runs: whole_runs(&region, run, length),
                    first: begin / folds.run,
                    segments: folds.segments(),
                    is_empty: false,
                    partials: &partials,
                    previous: &[],
                    base,
                    digit: digits(&region, distance),
                    rest: digits(&region, distance + 1 - run),
                };
                add(folds.entry, &region, &grid, length.div_ceil(team.run()));
            }
        }
        for (n, Pass { team, before, after }) in folds.passes.iter().enumerate() {
            let grid = FoldGrid {
                team,
                kept: folds.kept,
                folded: *before,
                runs: 0,
                first: 0,
                segments: *after,
                is_empty: folds.folded == 0,
                partials: &partials[(n + 1) * streams..],
                previous: &partials[n * streams..],
                base: Vec::new(),
                digit: Vec::new(),
                rest: Vec::new(),
            };
            add(TREE, &folds.region, &grid, *after);
        }
        plan
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
