//! The reduction form: which points are folded together, by which thread, in which order.
//!
//! One dimension is the vector dimension. If it is folded away, its lanes are folded across
//! ("one result per row"); if it is kept, along ("one result per lane"). Long folds are cut into
//! segments whose partial results are combined in pairs. All cuts follow from the shape, never
//! from the number of threads, so a reduction gives the same bits each time.

use super::accumulate::{Accumulator, Lanes};
use super::copy::{Row, move_row};
use super::fold::Folding;
use super::layout::{Dims, Layout, Tile, advance, by_largest_stride, coordinate_dims};
use super::narrow::{f32_to_bf16, f32_to_f16};
use super::place::BLOCK;
use super::run::Run;
use super::worker::{Chunk, Worker};
use super::{Task, for_each_task};
use crate::dtype::DType;
use crate::ir::MAX_RANK;

/// Most results that are accumulated side by side: their tree stays in the second-level cache.
const STRIP: usize = 2048;

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

    /// Results in C order of the kept dimensions.
    fn results(&self, layout: &Layout) -> usize {
        self.outer * if self.across { 1 } else { layout.extents[layout.inner()] }
    }

    /// Partial results that are combined into each result.
    pub(super) fn parts(&self) -> usize {
        self.segments * if self.across { self.strips } else { 1 }
    }

    pub(super) fn units(&self) -> usize {
        self.outer * self.strips * self.segments
    }
}

/// Runs a reduction.
pub(super) unsafe fn run(task: &Task<'_>, axes: &[bool], foldings: &[Folding]) {
    if task.kernel.kept_points(task.launch) == 0 {
        return;
    }
    let (layout, kept, across) = arrange(task, axes);
    let cut = Cut::new(&layout, kept, across, task.tuning.segment_points, STRIP);
    let run = Run::new(task, layout, false);
    let results = cut.results(&run.layout);
    let parts = cut.parts();
    let partial: Vec<Lanes> =
        foldings.iter().map(|f| Lanes::new(f, if parts > 1 { parts * results } else { 0 })).collect();
    let job =
        Job { run: &run, cut: &cut, foldings, partial: &partial, results, empty: task.launch.points() == 0 };
    let points = run.layout.points();
    let units = cut.units();
    let group = (task.tuning.task_points / (points / units).max(1)).max(1);
    for_each_task(&run, task.help_for(&run.layout), units.div_ceil(group), |worker, n| {
        let mut accumulators: Vec<Accumulator> =
            foldings.iter().map(|f| Accumulator::new(f, if across { BLOCK } else { cut.strip })).collect();
        for unit in n * group..units.min((n + 1) * group) {
            // SAFETY: the caller's promise; units are disjoint parts of the region.
            unsafe { job.unit(worker, &mut accumulators, unit) };
        }
    });
    if parts > 1 {
        // SAFETY: every unit is done.
        unsafe { job.combine(parts) };
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

/// A reduction under way.
struct Job<'r> {
    run: &'r Run<'r>,
    cut: &'r Cut,
    foldings: &'r [Folding],
    /// Per fold, the results of each part, part by part; empty if there is one part.
    partial: &'r [Lanes],
    results: usize,
    /// Nothing is folded.
    empty: bool,
}

impl Job<'_> {
    /// Computes one unit: a strip of results (or one result) over one segment.
    unsafe fn unit(&self, worker: &mut Worker<'_>, accumulators: &mut [Accumulator], unit: usize) {
        let cut = self.cut;
        let segment = unit % cut.segments;
        let strip = unit / cut.segments % cut.strips;
        let outer = unit / cut.segments / cut.strips;
        for (accumulator, folding) in accumulators.iter_mut().zip(self.foldings) {
            accumulator.reset(folding);
        }
        let inner = self.run.layout.inner();
        let start = strip * cut.strip;
        let lanes = cut.strip.min(self.run.layout.extents[inner] - start);
        let first_row = segment * cut.segment_rows;
        let rows = cut.segment_rows.min(cut.rows - first_row);
        // SAFETY: rows and lanes lie in the region.
        unsafe { self.fold_rows(worker, accumulators, (outer, first_row, rows), (start, lanes)) };
        let count = if cut.across { 1 } else { lanes };
        let first = if cut.across { outer } else { outer * self.run.layout.extents[inner] + start };
        let part = segment + if cut.across { strip * cut.segments } else { 0 };
        for (n, (accumulator, folding)) in accumulators.iter_mut().zip(self.foldings).enumerate() {
            let lanes = if cut.across { accumulator.scalar(folding) } else { accumulator.lanes(folding) };
            // SAFETY: the results of this unit are nobody else's.
            unsafe {
                if cut.parts() == 1 {
                    self.store(folding, lanes, 0, first, count);
                } else {
                    copy_lanes(lanes, &self.partial[n], part * self.results + first, count);
                }
            }
        }
    }

    unsafe fn fold_rows(
        &self,
        worker: &mut Worker<'_>,
        accumulators: &mut [Accumulator],
        (outer, first_row, rows): (usize, usize, usize),
        (start, lanes): (usize, usize),
    ) {
        let layout = &self.run.layout;
        let whole = Tile { start: [0; MAX_RANK], extents: layout.extents };
        let mut index = [0; MAX_RANK];
        decode(&mut index, layout, 0, self.cut.kept, outer);
        decode(&mut index, layout, self.cut.kept, layout.inner(), first_row);
        let last = layout.inner();
        let mut left = rows;
        while left > 0 {
            worker.clear_rows();
            worker.push_row(&index);
            let together = self.rows_together(accumulators).min(left);
            let below = if together > 1 { layout.extents[last - 1] - index[last - 1] } else { 1 };
            let together = together.min(below);
            let mut done = 0;
            while done < lanes {
                let chunk = Chunk { rows: 1, start: start + done, len: self.run.chunk.min(lanes - done) };
                // SAFETY: the chunk lies in the region, as do the rows below it; the values it leaves hold
                // its lanes.
                unsafe {
                    worker.eval(chunk);
                    self.fold_chunk(worker, accumulators, together, done, chunk.len);
                }
                done += chunk.len;
            }
            if !self.cut.across {
                accumulators.iter_mut().zip(self.foldings).for_each(|(a, folding)| a.fill(folding, together));
            }
            (0..together).for_each(|_| _ = advance(&mut index, &whole, last));
            left -= together;
        }
    }

    /// How many rows, one below the other, can be folded in one go: their values have to lie in memory.
    /// Several rows are several streams of memory, and accumulators are read and written once for all.
    fn rows_together(&self, accumulators: &[Accumulator]) -> usize {
        let plain = self.run.rows_as_loaded() && self.foldings.iter().all(|folding| folding.index.is_none());
        let is_folded_below = self.cut.kept < self.run.layout.inner();
        match plain && is_folded_below && !self.cut.across {
            true => accumulators.iter().map(Accumulator::room).min().unwrap_or(1),
            false => 1,
        }
    }

    /// Folds a chunk's values, which belong to the lanes from `lane` on, and those of the rows below it.
    unsafe fn fold_chunk(
        &self,
        worker: &Worker<'_>,
        accumulators: &mut [Accumulator],
        rows: usize,
        lane: usize,
        lanes: usize,
    ) {
        let mut root = 0;
        for (accumulator, folding) in accumulators.iter_mut().zip(self.foldings) {
            let root_at = root;
            let value = worker.root(root);
            let index = if folding.index.is_some() { worker.root(root + 1) } else { value };
            root += 1 + usize::from(folding.index.is_some());
            // SAFETY: the caller's promise; a strip has accumulators for all its lanes.
            unsafe {
                if self.cut.across {
                    accumulator.across(folding, value, index, lanes);
                } else {
                    let rows = (rows, worker.bytes_down(root_at));
                    accumulator.along(folding, (value, index), rows, (lane, lanes));
                }
            }
        }
    }

    /// Combines the parts of every result in pairs, and stores them.
    unsafe fn combine(&self, parts: usize) {
        for (folding, partial) in self.foldings.iter().zip(self.partial) {
            let mut step = 1;
            while step < parts {
                for part in (0..parts - step).step_by(2 * step) {
                    partial.fold_within(
                        folding,
                        part * self.results,
                        (part + step) * self.results,
                        self.results,
                    );
                }
                step *= 2;
            }
            // SAFETY: the caller's promise.
            unsafe { self.store(folding, partial, 0, 0, self.results) };
        }
    }

    /// Stores `count` results from lane `lane` on, the first of them number `first`.
    unsafe fn store(&self, folding: &Folding, lanes: &Lanes, lane: usize, first: usize, count: usize) {
        let layout = &self.run.layout;
        let along = if self.cut.across { 1 } else { layout.extents[layout.inner()] };
        let mut done = 0;
        while done < count {
            // The results of one row of the vector dimension lie at equal distances.
            let (outer, at) = ((first + done) / along, (first + done) % along);
            let some = (along - at).min(count - done);
            let mut index = [0; MAX_RANK];
            decode(&mut index, layout, 0, self.cut.kept, outer);
            // SAFETY: the checked launch keeps results in their memory.
            unsafe {
                let to = self.result(folding.output, &index, at);
                store_values(folding.dtype, to, lanes.values(lane + done).ptr, some);
                if let Some((output, dtype)) = folding.index {
                    let to = self.result(output, &index, at);
                    store_indices(dtype, to, lanes.indices(lane + done).ptr.cast(), some, self.empty);
                }
            }
            done += some;
        }
    }

    /// The row of results of a parameter that starts at `index`, lane `lane`.
    fn result(&self, param: usize, index: &Dims<usize>, lane: usize) -> Row {
        Row {
            ptr: self.run.address(param, index, self.cut.kept, lane),
            stride_bytes: self.run.params[param].inner_bytes,
        }
    }
}

/// Writes the index of point number `n` in C order of the dimensions `from..to`.
pub(super) fn decode(index: &mut Dims<usize>, layout: &Layout, from: usize, to: usize, mut n: usize) {
    for k in (from..to).rev() {
        // An empty dimension has no points; nothing is read at the index then.
        index[k] = n % layout.extents[k].max(1);
        n /= layout.extents[k].max(1);
    }
}

unsafe fn copy_lanes(from: &Lanes, to: &Lanes, at: usize, count: usize) {
    let bytes = count * from.values(0).step;
    // SAFETY: the caller owns lanes `at..at + count` of `to`; both buffers hold one fold's lanes.
    unsafe {
        std::ptr::copy_nonoverlapping(from.values(0).ptr, to.values(at).ptr, bytes);
        if from.indices(0).step != 0 {
            std::ptr::copy_nonoverlapping(from.indices(0).ptr, to.indices(at).ptr, count * 8);
        }
    }
}

/// Stores accumulators in memory form; f16 and bf16 are rounded here, once.
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
unsafe fn store_indices(dtype: DType, to: Row, from: *const i64, count: usize, empty: bool) {
    for k in 0..count {
        // SAFETY: the caller promises the row and the lanes.
        unsafe {
            let index = if empty { 0 } else { from.add(k).read() };
            let to = to.ptr.offset(k as isize * to.stride_bytes);
            match dtype.size_bytes() {
                4 => to.cast::<i32>().write_unaligned(index as i32),
                _ => to.cast::<i64>().write_unaligned(index),
            }
        }
    }
}
