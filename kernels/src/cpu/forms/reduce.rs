//! The reduction form: which points are folded together, by which thread.
//!
//! The points of a fold are numbered in the order of [`crate::Footprint::fold_order`]. If the innermost
//! dimension of the layout is folded, consecutive values are folded across, else rows of values along. Both
//! go block by block, of 2^k values or rows from a multiple of 2^k on, which are subtrees of the definition's
//! tree; so are the segments that threads share. Results depend on no size. Machine code folds across without
//! blocks.

use super::fold::{CompiledFold, FoldBuffer, FoldLanes, MOST_ACROSS, MOST_ROWS, RowTree};
use super::fold_layout::FoldLayout;
use super::scan::RunTotals;
use super::values::{FoldedValues, Values, ValuesLaunch};
use crate::cpu::jit_cache::JitCache;
use crate::cpu::launch::{Dims, HostLaunch, decode};
use crate::cpu::loops::copy::{Row, move_row};
use crate::cpu::loops::lanes::BLOCK;
use crate::cpu::loops::level::Level;
use crate::cpu::loops::narrow::{f32_to_bf16, f32_to_f16};
use crate::cpu::thread_pool::{Interruption, in_turns};
use crate::dtype::DType;
use crate::ir::{Fold, Kernel, MAX_RANK};

/// Bytes of the values that are computed before they are folded: they stay in L1.
const VALUES_BYTES: usize = 16 << 10;
/// Most results of one thread's next piece of work.
const RESULTS: usize = 4096;
/// Points of rows between two looks at whether the launch is given up.
const POLL_POINTS: usize = 1 << 16;
/// Pieces of work per thread, where the shape allows it.
const PIECES: usize = 4;

/// The folds of a kernel, compiled, and the kernel of their values.
pub(in crate::cpu) struct Reduction {
    pub values: FoldedValues,
    axes: Vec<bool>,
    folds: Vec<CompiledFold>,
    runs: Option<RunTotals>,
}

impl Reduction {
    /// Compiles the folds.
    pub(in crate::cpu) fn new(kernel: &Kernel, axes: &[bool], folds: &[Fold], level: Level) -> Reduction {
        let dtype = |param: u32| kernel.params[param as usize].dtype;
        let compiled = folds.iter().map(|fold| CompiledFold::new(fold, dtype, level)).collect();
        let runs = RunTotals::new(kernel, axes, folds, level).filter(|_| kernel.stores_of_folds().is_empty());
        Reduction { values: FoldedValues::of(kernel, folds), axes: axes.to_vec(), folds: compiled, runs }
    }

    /// Runs a launch, whose code and `machine` are those of the values.
    ///
    /// # Safety
    /// The launch was checked against the memory; the rest is the promise of `Program::run`'s caller.
    pub(in crate::cpu) unsafe fn run(&self, task: &HostLaunch<'_>, jit: Option<&JitCache>) {
        if task.kernel.kept_points(task.launch) == 0 {
            return;
        }
        if let Some(runs) = self.runs.as_ref().filter(|runs| runs.fits(task.launch)) {
            // SAFETY: the caller's promise.
            unsafe { runs.run(task) };
            return;
        }
        let order = FoldLayout::new(task, &self.axes);
        let in_place = !order.across && ValuesLaunch::are_in_place(task, &self.values, &order.layout);
        let lanes = if order.across { order.results().min(BLOCK) } else { order.strip(task) };
        let neutral = self.folds.iter().map(|fold| FoldBuffer::neutral(fold, lanes));
        let job = Job {
            task,
            reduction: self,
            jit,
            in_place,
            neutral: neutral.collect(),
            neutral_lanes: lanes,
            results: order.results(),
            is_empty: task.launch.points() == 0,
            interruption: Interruption::new(),
            order,
        };
        // SAFETY: the caller's promise.
        unsafe {
            if job.is_empty {
                job.store_neutral();
            } else if job.order.across {
                job.across();
            } else {
                job.along();
            }
        }
    }
}

/// A reduction under way.
struct Job<'r> {
    task: &'r HostLaunch<'r>,
    reduction: &'r Reduction,
    jit: Option<&'r JitCache>,
    order: FoldLayout,
    /// Values are read where they lie.
    in_place: bool,
    /// Per fold, neutral lanes.
    neutral: Vec<FoldBuffer>,
    neutral_lanes: usize,
    results: usize,
    /// Nothing is folded.
    is_empty: bool,
    interruption: Interruption,
}

// SAFETY: threads share the description of the launch; each writes lanes and results that it alone was given.
// The caller of `Program::run` promises that nobody else writes there.
unsafe impl Sync for Job<'_> {}

/// The largest power of two up to `n`, or 1.
fn power_of_two(n: usize) -> usize {
    1 << n.max(1).ilog2()
}

impl Job<'_> {
    fn folds(&self) -> &[CompiledFold] {
        &self.reduction.folds
    }

    /// Per fold, room for so many lanes.
    fn buffers(&self, lanes: usize) -> Vec<FoldBuffer> {
        self.folds().iter().map(|fold| FoldBuffer::new(fold, lanes)).collect()
    }

    fn values(&self, pitch: usize, room: usize, folded_points: usize) -> ValuesLaunch<'_> {
        let room = if self.in_place { 0 } else { room };
        ValuesLaunch::new(
            self.task,
            (&self.reduction.values, self.jit),
            &self.order.layout,
            (pitch, room),
            folded_points,
        )
    }

    /// The number of segments of each result in a wave: all, or a power of two, so that their partial results
    /// need little memory.
    fn wave(&self, segments: usize) -> usize {
        let most = self.task.tuning.partials / self.results;
        if segments <= most { segments } else { power_of_two(most) }
    }

    /// Per fold, trees of the results of waves.
    fn trees(&self, is_one_wave: bool) -> Vec<RowTree> {
        let folds = if is_one_wave { &[] } else { self.folds() };
        folds.iter().map(|fold| RowTree::new(fold, self.results)).collect()
    }

    /// Adds the results of a wave, the first lanes of `partial`.
    ///
    /// # Safety
    /// As [`RowTree::add`].
    unsafe fn add_wave(&self, trees: &mut [RowTree], partial: &[FoldBuffer]) {
        for ((fold, tree), partial) in self.folds().iter().zip(trees).zip(partial) {
            // SAFETY: the caller's promise.
            unsafe { tree.add(fold, &[partial.at(0)], self.results) };
        }
    }

    /// Combines all waves, and stores the results.
    ///
    /// # Safety
    /// As [`RowTree::finish`], of the first lanes of `partial`.
    unsafe fn store_waves(&self, trees: &mut [RowTree], partial: &[FoldBuffer]) {
        // SAFETY: the caller's promise.
        unsafe {
            for ((fold, tree), partial) in self.folds().iter().zip(trees).zip(partial) {
                tree.finish(fold, self.results, partial.at(0));
            }
            self.store(partial, 0, 0, self.results);
        }
    }

    /// Folds consecutive values.
    unsafe fn across(&self) {
        let (task, layout, folded) = (self.task, &self.order.layout, self.order.folded());
        let fitting = VALUES_BYTES / self.reduction.values.bytes().max(1);
        let block = power_of_two(fitting.clamp(BLOCK, MOST_ACROSS).min(task.tuning.fold_block));
        let segment = power_of_two(task.tuning.segment_points).clamp(block, block * MOST_ACROSS);
        let segments = folded.div_ceil(segment);
        let parallelism = task.parallelism(layout);
        // Short folds are several per piece of work, long ones several pieces.
        let pieces = PIECES * parallelism.threads;
        let group = (task.tuning.task_points / folded).min(self.results.div_ceil(pieces)).clamp(1, RESULTS);
        let launch = self.values(layout.extents[layout.inner()], block, segment.min(folded));
        let wave = self.wave(segments);
        let partial = self.buffers(if segments > 1 { self.results * wave } else { 0 });
        let mut trees = self.trees(segments <= wave);
        for begin in (0..segments).step_by(wave) {
            let wave = wave.min(segments - begin);
            let units = if segments > 1 { self.results * wave } else { self.results.div_ceil(group) };
            in_turns(parallelism, units, |turns| {
                launch.with(|values| {
                    let (blocks, results) = (self.buffers(segment / block), self.buffers(group));
                    let mut folding = Folding { job: self, values, blocks, block };
                    for (turn, n) in turns.enumerate() {
                        if turn > 0 && self.interruption.poll() {
                            break;
                        }
                        // SAFETY: the caller's promise; each part of the region is given out once.
                        unsafe {
                            if segments > 1 {
                                let first = (begin + n % wave) * segment;
                                let points = n / wave * folded + first;
                                folding.fold(points, segment.min(folded - first), &partial, n);
                                continue;
                            }
                            let first = n * group;
                            let some = group.min(self.results - first);
                            folding.fold_each(first, some, folded, &results);
                            self.store(&results, 0, first, some);
                        }
                    }
                });
            });
            if self.interruption.is_set() || segments == 1 {
                return;
            }
            // SAFETY: all segments of the wave are done.
            unsafe { self.combine_segments(&partial, wave, &mut trees) };
        }
        if !trees.is_empty() {
            // SAFETY: all waves are done.
            unsafe { self.store_waves(&mut trees, &partial) };
        }
    }

    /// Combines the segments of each result, which lie side by side, and stores the results, or adds them to
    /// those of other waves.
    unsafe fn combine_segments(&self, partial: &[FoldBuffer], segments: usize, trees: &mut [RowTree]) {
        for result in 0..self.results {
            let first = result * segments;
            let mut left = segments;
            // SAFETY: the lanes are those of this result, and what is written was read before.
            unsafe {
                while left > 1 {
                    let blocks = left.div_ceil(MOST_ACROSS);
                    for n in 0..blocks {
                        let some = MOST_ACROSS.min(left - n * MOST_ACROSS);
                        for (fold, partial) in self.folds().iter().zip(partial) {
                            fold.across(partial.at(first + n * MOST_ACROSS), some, partial.at(first + n));
                        }
                    }
                    left = blocks;
                }
                if trees.is_empty() {
                    self.store(partial, first, result, 1);
                    continue;
                }
                for (fold, partial) in self.folds().iter().zip(partial) {
                    fold.across(partial.at(first), 1, partial.at(result));
                }
            }
        }
        if !trees.is_empty() {
            // SAFETY: the first lanes are those of the results.
            unsafe { self.add_wave(trees, partial) };
        }
    }

    /// Folds rows of values.
    unsafe fn along(&self) {
        let (task, order) = (self.task, &self.order);
        let (outer, rows, lanes) = (order.outer(), order.folded(), order.lanes());
        let fitting = VALUES_BYTES / (MOST_ROWS * self.reduction.values.bytes().max(1));
        let strip = order.strip(task).min(if self.in_place { usize::MAX } else { fitting.max(BLOCK) });
        let strips = lanes.div_ceil(strip);
        let parallelism = task.parallelism(&order.layout);
        let pieces = PIECES * parallelism.threads;
        // Rows are cut only where there are too few strips for all threads.
        let most = task.tuning.segment_points / strip;
        let segment = power_of_two((rows * outer * strips / pieces).min(most)).max(MOST_ROWS);
        let is_cut = parallelism.threads > 1 && outer * strips < pieces && rows > segment;
        let segments = if is_cut { rows.div_ceil(segment) } else { 1 };
        let segment = if is_cut { segment } else { rows };
        let wave = self.wave(segments);
        let launch = self.values(strip, MOST_ROWS * strip, 0);
        let partial = self.buffers(if segments > 1 { self.results * wave } else { 0 });
        let mut totals = self.trees(segments <= wave);
        for begin in (0..segments).step_by(wave) {
            let wave = wave.min(segments - begin);
            let units = outer * strips * wave;
            let group = (task.tuning.task_points / (strip * segment)).min(units.div_ceil(pieces)).max(1);
            in_turns(parallelism, units.div_ceil(group), |turns| {
                launch.with(|values| {
                    let mut trees: Vec<RowTree> =
                        self.folds().iter().map(|fold| RowTree::new(fold, strip)).collect();
                    let results = self.buffers(strip);
                    for unit in turns.flat_map(|n| n * group..units.min((n + 1) * group)) {
                        if self.interruption.is_set() {
                            break;
                        }
                        let (segment_of, strip_of) = (unit % wave, unit / wave % strips);
                        let outer_of = unit / wave / strips;
                        let (first_row, first_lane) = ((begin + segment_of) * segment, strip_of * strip);
                        let (some_rows, some) =
                            (segment.min(rows - first_row), strip.min(lanes - first_lane));
                        let first = outer_of * lanes + first_lane;
                        // SAFETY: the caller's promise; each part of the region is given out once.
                        unsafe {
                            let first_row = outer_of * rows + first_row;
                            self.fold_rows(values, &mut trees, (first_row, some_rows), (first_lane, some));
                            for (n, (fold, tree)) in self.folds().iter().zip(&mut trees).enumerate() {
                                let into = match segments {
                                    1 => results[n].at(0),
                                    _ => partial[n].at(segment_of * self.results + first),
                                };
                                tree.finish(fold, some, into);
                            }
                            if segments == 1 {
                                self.store(&results, 0, first, some);
                            }
                        }
                    }
                });
            });
            if self.interruption.is_set() || segments == 1 {
                return;
            }
            // SAFETY: all segments of the wave are done.
            unsafe { self.combine_rows(&partial, wave, &mut totals) };
        }
        if !totals.is_empty() {
            // SAFETY: all waves are done.
            unsafe { self.store_waves(&mut totals, &partial) };
        }
    }

    /// Combines the segments of all results, row by row, and stores the results, or adds them to those of
    /// other waves.
    unsafe fn combine_rows(&self, partial: &[FoldBuffer], segments: usize, trees: &mut [RowTree]) {
        // SAFETY: the caller's promise; each result is read and written in its own lane.
        unsafe {
            for (fold, partial) in self.folds().iter().zip(partial) {
                let at = |segment: usize| partial.at(segment * self.results);
                let mut step = 1;
                while step < segments {
                    for n in (0..segments - step).step_by(2 * step) {
                        fold.along(&[at(n), at(n + step)], self.results, at(n));
                    }
                    step *= 2;
                }
            }
            match trees.is_empty() {
                true => self.store(partial, 0, 0, self.results),
                false => self.add_wave(trees, partial),
            }
        }
    }

    /// Folds some lanes of consecutive rows into trees.
    unsafe fn fold_rows(
        &self,
        values: &mut Values<'_>,
        trees: &mut [RowTree],
        (first_row, rows): (usize, usize),
        (first_lane, lanes): (usize, usize),
    ) {
        let mut points = 0;
        for row in (0..rows).step_by(MOST_ROWS) {
            // One block at least is in the trees.
            if points >= POLL_POINTS && self.interruption.poll() {
                return;
            }
            points = if points >= POLL_POINTS { 0 } else { points + MOST_ROWS * lanes };
            let some = MOST_ROWS.min(rows - row);
            // SAFETY: the caller's promise: the rows lie in the region.
            unsafe {
                values.rows(first_row + row..first_row + row + some, first_lane..first_lane + lanes);
                for (n, (fold, tree)) in self.folds().iter().zip(trees.iter_mut()).enumerate() {
                    // Rows missing from the last block are neutral.
                    let mut block = [self.neutral[n].at(0); MOST_ROWS];
                    (0..some).for_each(|row| block[row] = values.of(n, row));
                    tree.add(fold, &block[..some.next_power_of_two()], lanes);
                }
            }
        }
    }

    /// Combines `count` lanes with the neutral element, and stores them as results from number `first` on.
    unsafe fn store(&self, lanes: &[FoldBuffer], lane: usize, first: usize, count: usize) {
        for ((fold, lanes), neutral) in self.folds().iter().zip(lanes).zip(&self.neutral) {
            // SAFETY: the caller's promise, of these lanes and results.
            unsafe {
                for done in (0..count).step_by(self.neutral_lanes) {
                    let (some, at) = (self.neutral_lanes.min(count - done), lanes.at(lane + done));
                    fold.along(&[neutral.at(0), at], some, at);
                }
                self.store_fold(fold, |done| lanes.at(lane + done), first, count);
            }
        }
    }

    /// Stores neutral elements as all results.
    unsafe fn store_neutral(&self) {
        for (fold, neutral) in self.folds().iter().zip(&self.neutral) {
            for first in (0..self.results).step_by(self.neutral_lanes) {
                let some = self.neutral_lanes.min(self.results - first);
                // SAFETY: the caller's promise.
                unsafe { self.store_fold(fold, |done| neutral.at(done), first, some) };
            }
        }
    }

    /// Stores results from number `first` on, in C order of the kept dimensions.
    unsafe fn store_fold(
        &self,
        fold: &CompiledFold,
        lane: impl Fn(usize) -> FoldLanes,
        first: usize,
        count: usize,
    ) {
        let row = self.order.lanes();
        let mut done = 0;
        while done < count {
            // The results of one row of the innermost dimension lie at equal distances.
            let (outer, at) = ((first + done) / row, (first + done) % row);
            let some = (row - at).min(count - done);
            let mut index = [0; MAX_RANK];
            decode(&mut index, &self.order.layout, 0, self.order.kept, outer);
            let from = lane(done);
            // SAFETY: the checked launch keeps results in their memory.
            unsafe {
                store_values(fold.dtype, self.result(fold.output, &index, at), from.values, some);
                if let Some((output, dtype)) = fold.index {
                    let to = self.result(output, &index, at);
                    store_indices(dtype, to, from.indices, some, self.is_empty);
                }
            }
            done += some;
        }
    }

    /// The results of a parameter from `index` and a lane of the innermost dimension on.
    fn result(&self, param: usize, index: &Dims<usize>, lane: usize) -> Row {
        let (task, layout) = (self.task, &self.order.layout);
        let bytes = task.kernel.params[param].dtype.size_bytes() as i64;
        let strides = &layout.strides[param];
        let inner = if self.order.across { 0 } else { strides[layout.inner()] };
        let moved: i64 = strides[..self.order.kept].iter().zip(index).map(|(&s, &i)| s * i as i64).sum();
        let element = task.launch.views[param].offset + moved + inner * lane as i64;
        Row {
            ptr: task.memory[param].ptr.wrapping_offset((element * bytes) as isize),
            stride_bytes: (inner * bytes) as isize,
        }
    }
}

/// Folds of consecutive values on one thread.
struct Folding<'f, 'v> {
    job: &'f Job<'f>,
    values: &'f mut Values<'v>,
    /// Per fold, the results of a segment's blocks.
    blocks: Vec<FoldBuffer>,
    block: usize,
}

impl Folding<'_, '_> {
    /// Folds `count` points from number `first` of the layout on: into lane `lane`.
    unsafe fn fold(&mut self, first: usize, count: usize, into: &[FoldBuffer], lane: usize) {
        let folds = self.job.folds();
        // SAFETY: the caller's promise: the points lie in the region.
        unsafe {
            if self.values.are_folded() {
                return self.values.fold(first..first + count, false, |n| into[n].at(lane));
            }
            for (n, from) in (0..count).step_by(self.block).enumerate() {
                let some = self.block.min(count - from);
                self.values.points(first + from..first + from + some);
                for (number, fold) in folds.iter().enumerate() {
                    let into =
                        if count <= self.block { into[number].at(lane) } else { self.blocks[number].at(n) };
                    fold.across(self.values.of(number, 0), some, into);
                }
            }
            if count > self.block {
                for ((fold, blocks), into) in folds.iter().zip(&self.blocks).zip(into) {
                    fold.across(blocks.at(0), count.div_ceil(self.block), into.at(lane));
                }
            }
        }
    }

    /// Folds the points of `results` results from number `first` on, `folded` each: into lanes from 0 on.
    unsafe fn fold_each(&mut self, first: usize, results: usize, folded: usize, into: &[FoldBuffer]) {
        let is_row = self.job.order.kept + 1 == self.job.order.layout.rank;
        if is_row && self.values.are_folded() {
            let points = first * folded..(first + results) * folded;
            // SAFETY: the caller's promise: the points lie in the region.
            return unsafe { self.values.fold(points, true, |n| into[n].at(0)) };
        }
        let together = if self.values.are_folded() { 1 } else { (self.block / folded).max(1) };
        for from in (0..results).step_by(together) {
            let some = together.min(results - from);
            let points = (first + from) * folded;
            // SAFETY: the caller's promise: the points lie in the region.
            unsafe {
                if some == 1 {
                    self.fold(points, folded, into, from);
                    continue;
                }
                self.values.points(points..points + some * folded);
                for (number, fold) in self.job.folds().iter().enumerate() {
                    let values = self.values.of(number, 0);
                    for n in 0..some {
                        let from_here = FoldLanes {
                            values: values.values.wrapping_add(n * folded * fold.lane.size()),
                            indices: values.indices.wrapping_add(n * folded),
                        };
                        fold.across(from_here, folded, into[number].at(from + n));
                    }
                }
            }
        }
    }
}

/// Stores lanes in memory form; f16 and bf16 are rounded here, once.
unsafe fn store_values(dtype: DType, to: Row, from: *mut u8, count: usize) {
    let size = dtype.size_bytes();
    // SAFETY: the caller promises the row and the lanes.
    unsafe {
        match dtype {
            DType::F16 | DType::BF16 => {
                for k in 0..count {
                    let value = from.cast::<f32>().add(k).read();
                    let bits = if dtype == DType::F16 { f32_to_f16(value) } else { f32_to_bf16(value) };
                    to.ptr.offset(k as isize * to.stride_bytes).cast::<u16>().write_unaligned(bits);
                }
            }
            _ => move_row(to, Row { ptr: from, stride_bytes: size as isize }, count, size),
        }
    }
}

/// Stores indices as `dtype`; where nothing was folded the index is 0.
unsafe fn store_indices(dtype: DType, to: Row, from: *const i64, count: usize, is_empty: bool) {
    for k in 0..count {
        // SAFETY: the caller promises the row and the lanes.
        unsafe {
            let index = if is_empty { 0 } else { from.add(k).read() };
            let to = to.ptr.offset(k as isize * to.stride_bytes);
            match dtype.size_bytes() {
                4 => to.cast::<i32>().write_unaligned(index as i32),
                _ => to.cast::<i64>().write_unaligned(index),
            }
        }
    }
}
