//! The values that a reduction folds: an elementwise kernel with one output per folded value, whose outputs
//! are buffers that stay in L1. So reductions run the machine code and the compiled loops of elementwise
//! kernels. Where machine code folds along rows, values are in no buffer.
//!
//! In a buffer, the values of consecutive points of the layout are consecutive, as are the rows of a strip.
//! Rows that are folded lane by lane are read where they lie if the body only loads. What points store beside
//! their folds is an output like any other: no code folds then without buffers, and nothing is read in place.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::fold::{FoldLanes, MOST_ROWS};
use crate::cpu::body::run::Run;
use crate::cpu::body::worker::{Worker, eval_tile};
use crate::cpu::jit_cache::{Due, FoldTree, JitCache, JitFold, JitRows};
use crate::cpu::launch::{Dims, HostLaunch, LaunchLayout, Memory, Tile, decode};
use crate::cpu::loops::lanes::Line;
use crate::dtype::DType;
use crate::ir::{
    Access, Fold, FoldOp, Form, Inst, Kernel, Launch, MAX_RANK, Offsets, Op, Param, Store, Value, View,
};
use crate::verify::{Verified, verify};

/// A value that is folded.
struct FoldedValue {
    /// Its output of the kernel of values, and the bytes of an element.
    param: usize,
    bytes: usize,
    /// The parameter and offsets of the load, if the value is used as it was loaded.
    load: Option<(usize, Offsets)>,
}

/// The kernel of values of a reduction.
pub(in crate::cpu) struct FoldedValues {
    pub kernel: Verified,
    /// The parameters of the reduction that it reads or stores to: the first ones of the kernel of values.
    arrays: Vec<usize>,
    /// Whether points store beside their folds.
    stores: bool,
    values: Vec<FoldedValue>,
    /// Per fold, which value it folds, and which is its index.
    folds: Vec<(usize, Option<usize>)>,
    ops: Vec<(FoldOp, usize)>,
}

impl FoldedValues {
    /// Separates the values of a reduction from its folds.
    pub(in crate::cpu) fn of(kernel: &Kernel, of: &[Fold]) -> FoldedValues {
        let stored = kernel.stores_of_folds();
        let is_array = |&p: &usize| kernel.params[p].access == Access::In || kernel.stores_beside_folds(p);
        let arrays: Vec<usize> = (0..kernel.params.len()).filter(is_array).collect();
        let place = |param: u32| arrays.iter().position(|&p| p == param as usize).expect("an array") as u32;
        let params = arrays.iter().map(|&p| kernel.params[p]).collect();
        let stores = Vec::new();
        let mut separated = Separated { params, body: kernel.body.clone(), stores, values: vec![] };
        for inst in &mut separated.body {
            if let Op::Load { param, .. } = &mut inst.op {
                *param = place(*param);
            }
        }
        let compiled = of.iter().map(|fold| match *fold {
            Fold::Value { value, .. } => (separated.value(value), None),
            Fold::Arg { value, index, .. } => (separated.value(value), Some(separated.index(index))),
        });
        let folds: Vec<(usize, Option<usize>)> = compiled.collect();
        let op = |(fold, &(value, _)): (&Fold, &(usize, Option<usize>))| match fold {
            Fold::Value { op, .. } => Some((*op, value)),
            Fold::Arg { .. } => None,
        };
        let ops = of.iter().zip(&folds).map(op).collect::<Option<_>>();
        let ops = ops.filter(|_| stored.is_empty()).unwrap_or_default();
        let beside = stored.iter().map(|store| Store { param: place(store.param), ..*store });
        separated.stores.extend(beside);
        let kernel = Kernel {
            name: kernel.name.clone(),
            rank: kernel.rank,
            params: separated.params,
            arguments: kernel.arguments.clone(),
            body: separated.body,
            form: Form::Elementwise { stores: separated.stores },
        };
        let kernel = verify(kernel).expect("the body of a verified kernel");
        let stores = !stored.is_empty();
        FoldedValues { kernel, arrays, stores, values: separated.values, folds, ops }
    }

    /// The operation of each fold, and the number of its value; none where one looks for an
    /// index, or points store.
    pub(in crate::cpu) fn fold_ops(&self) -> Vec<(FoldOp, usize)> {
        self.ops.clone()
    }

    /// Bytes that all values of a point take.
    pub(super) fn bytes(&self) -> usize {
        self.values.iter().map(|value| value.bytes).sum()
    }
}

/// A kernel of values that grows.
struct Separated {
    params: Vec<Param>,
    body: Vec<Inst>,
    stores: Vec<Store>,
    values: Vec<FoldedValue>,
}

impl Separated {
    /// A value as it is folded: f16 and bf16 in f32.
    fn value(&mut self, value: Value) -> usize {
        match self.body[value.index()].dtype {
            DType::F16 | DType::BF16 => self.converted(Op::Cast(value), DType::F32),
            _ => self.stored(value),
        }
    }

    /// An index as i64.
    fn index(&mut self, value: Value) -> usize {
        match self.body[value.index()].dtype {
            DType::I64 => self.stored(value),
            DType::U64 => self.converted(Op::Bitcast(value), DType::I64),
            _ => self.converted(Op::Cast(value), DType::I64),
        }
    }

    fn converted(&mut self, op: Op, dtype: DType) -> usize {
        let inst = Inst { op, dtype };
        let known = self.body.iter().position(|other| *other == inst);
        let at = known.unwrap_or_else(|| {
            self.body.push(inst);
            self.body.len() - 1
        });
        self.stored(Value(at as u32))
    }

    fn stored(&mut self, value: Value) -> usize {
        if let Some(known) = self.stores.iter().position(|store| store.value == value) {
            return known;
        }
        let inst = &self.body[value.index()];
        let load = match &inst.op {
            Op::Load { param, offsets } => Some((*param as usize, offsets.clone())),
            _ => None,
        };
        let (param, bytes) = (self.params.len(), inst.dtype.size_bytes());
        self.params.push(Param { dtype: inst.dtype, access: Access::Out });
        self.stores.push(Store { param: param as u32, value });
        self.values.push(FoldedValue { param, bytes, load });
        self.values.len() - 1
    }
}

/// One launch of a kernel of values.
pub(super) struct ValuesLaunch<'r> {
    /// The launch of the reduction, whose code is that of the values.
    task: &'r HostLaunch<'r>,
    folded: &'r FoldedValues,
    jit: Option<&'r JitCache>,
    launch: Launch,
    layout: LaunchLayout,
    /// Values from one row of a buffer to the next.
    pitch: usize,
    /// Values of a buffer; none where values are read where they lie.
    room: usize,
    /// Points of a result that are folded by code, if values are folded across.
    folded_points: usize,
}

// SAFETY: threads share the description of the launch and read its inputs; each has buffers of its own.
unsafe impl Sync for ValuesLaunch<'_> {}

impl<'r> ValuesLaunch<'r> {
    /// Values of the reduction's layout, in buffers of `room` values and rows of `pitch`.
    pub(super) fn new(
        task: &'r HostLaunch<'r>,
        (folded, jit): (&'r FoldedValues, Option<&'r JitCache>),
        layout: &LaunchLayout,
        (pitch, room): (usize, usize),
        folded_points: usize,
    ) -> ValuesLaunch<'r> {
        let inner = layout.inner();
        let mut dense: Dims<i64> = [0; MAX_RANK];
        dense[inner] = 1;
        let mut stride = pitch as i64;
        for k in (0..inner).rev() {
            dense[k] = stride;
            stride *= layout.extents[k] as i64;
        }
        let along = |dim: usize| layout.dim_of[dim].map_or(0, |k| dense[k]);
        let buffer = View { offset: 0, strides: (0..task.launch.extents.len()).map(along).collect() };
        let arrays = folded.arrays.iter().map(|&p| task.launch.views[p].clone());
        let views = arrays.chain(folded.values.iter().map(|_| buffer.clone())).collect();
        let arrays = folded.arrays.iter().map(|&p| layout.strides[p]);
        let strides = arrays.chain(folded.values.iter().map(|_| dense)).collect();
        let launch = Launch { views, ..task.launch.clone() };
        let layout = layout.with_strides(strides);
        ValuesLaunch { task, folded, jit, launch, layout, pitch, room, folded_points }
    }

    /// Calls `fold` with values in buffers of this thread.
    pub(super) fn with(&self, fold: impl FnOnce(&mut Values<'_>)) {
        let mut lines: Vec<MaybeUninit<Line>> = Vec::new();
        let bytes = |n: usize| (self.room * self.folded.values[n].bytes).next_multiple_of(size_of::<Line>());
        let total: usize = (0..self.folded.values.len()).map(bytes).sum();
        lines.reserve_exact(total / size_of::<Line>());
        let mut next = lines.as_mut_ptr().cast::<u8>();
        let mut memory: Vec<Memory> = self.folded.arrays.iter().map(|&p| self.task.memory[p]).collect();
        for n in 0..self.folded.values.len() {
            memory.push(Memory { ptr: next, len: self.room });
            next = next.wrapping_add(bytes(n));
        }
        let kernel = &self.folded.kernel;
        let (footprint, launch) = (kernel.footprint(), &self.launch);
        let kernel = kernel.kernel();
        let task = HostLaunch { kernel, footprint, launch, memory: &memory, ..*self.task };
        let layout = self.layout.with_strides(self.layout.strides.clone());
        let in_place = self.room == 0;
        let run = Run::placed(&task, layout, false);
        let across = self.jit.filter(|_| self.folded_points > 0);
        let folding = across.and_then(|jit| jit.fold(&run));
        let tree = folding.as_ref().map(|folding| folding.tree(self.folded_points));
        let is_computed = !in_place && folding.is_none();
        let rows = self.jit.filter(|_| is_computed).and_then(|jit| jit.rows(&run));
        let chunked = (rows.is_none() && is_computed)
            .then(|| Run::new(&task, self.layout.with_strides(self.layout.strides.clone()), false));
        let mut values = Values {
            launch: self,
            run: chunked.as_ref().unwrap_or(&run),
            folding: folding.zip(tree),
            rows,
            worker: chunked.as_ref().map(Worker::new),
            table: Vec::new(),
            buffers: memory[self.folded.arrays.len()..].iter().map(|buffer| buffer.ptr).collect(),
            found: vec![[std::ptr::null_mut(); MOST_ROWS]; self.folded.values.len()],
        };
        fold(&mut values);
    }

    /// Can rows of values be read where they lie?
    pub(super) fn are_in_place(task: &HostLaunch<'_>, folded: &FoldedValues, layout: &LaunchLayout) -> bool {
        let inner = layout.inner();
        let is_aligned = |value: &FoldedValue| {
            let Some((input, _)) = value.load else { return false };
            let p = folded.arrays[input];
            layout.strides[p][inner] == 1 && (task.memory[p].ptr as usize).is_multiple_of(value.bytes)
        };
        !folded.stores && folded.values.iter().all(is_aligned)
    }
}

/// The values of a launch, on one thread.
pub(super) struct Values<'r> {
    launch: &'r ValuesLaunch<'r>,
    run: &'r Run<'r>,
    /// Code that folds values itself.
    folding: Option<(JitFold<'r>, FoldTree)>,
    rows: Option<JitRows<'r>>,
    worker: Option<Worker<'r>>,
    table: Vec<u64>,
    buffers: Vec<*mut u8>,
    /// Per value, the first element of each row.
    found: Vec<[*mut u8; MOST_ROWS]>,
}

impl Values<'_> {
    /// Gets the values of consecutive points, in C order of the layout.
    ///
    /// # Safety
    /// The launch was checked against the memory, the points lie in its region, and buffers have room for
    /// them.
    pub(super) unsafe fn points(&mut self, points: Range<usize>) {
        self.place(points.start);
        let run = self.run;
        for_each_box(&run.layout, points, |tile| {
            // SAFETY: the caller's promise.
            unsafe { self.compute(tile) };
        });
    }

    /// Does code fold the values itself?
    pub(super) fn are_folded(&self) -> bool {
        self.folding.is_some()
    }

    /// Folds consecutive points by code: all to one result, or each row to its own. Fold number n writes
    /// behind `results(n)`.
    ///
    /// # Safety
    /// As [`Values::points`]; there is room for the results, and there are no more points of each than the
    /// launch was made for.
    pub(super) unsafe fn fold(
        &mut self,
        points: Range<usize>,
        each_row: bool,
        results: impl Fn(usize) -> FoldLanes,
    ) {
        let (folding, tree) = self.folding.as_mut().expect("code that folds");
        (0..self.launch.folded.folds.len()).for_each(|n| folding.place(tree, n, results(n).values));
        let inner = self.run.layout.inner();
        let (mut done, all) = (0, points.len());
        for_each_box(&self.run.layout, points, |tile| {
            let rows = inner.checked_sub(1).map_or(1, |down| tile.extents[down]);
            let lanes = tile.extents[inner];
            done += rows * lanes;
            let due = match (each_row, done == all) {
                (true, _) => Due::EachRow,
                (false, true) => Due::LastRow,
                (false, false) => Due::No,
            };
            // SAFETY: the caller's promise.
            unsafe { folding.rows(tree, &tile.start, lanes, rows, due) };
        });
    }

    /// Gets the values of some lanes of consecutive rows, in C order of the dimensions before the innermost.
    ///
    /// # Safety
    /// As [`Values::points`]; there are [`MOST_ROWS`] rows at most.
    pub(super) unsafe fn rows(&mut self, rows: Range<usize>, lanes: Range<usize>) {
        if self.launch.room == 0 {
            return rows.enumerate().for_each(|(n, row)| self.find(n, row, lanes.start));
        }
        self.place(rows.start * self.launch.pitch + lanes.start);
        for (value, found) in self.launch.folded.values.iter().zip(&mut self.found) {
            for n in 1..MOST_ROWS {
                found[n] = found[n - 1].wrapping_add(self.launch.pitch * value.bytes);
            }
        }
        let run = self.run;
        for_each_plane(&run.layout, rows, lanes, |tile| {
            // SAFETY: the caller's promise.
            unsafe { self.compute(tile) };
        });
    }

    /// The values that fold number `fold` folds, of row number `row`.
    pub(super) fn of(&self, fold: usize, row: usize) -> FoldLanes {
        let (value, index) = self.launch.folded.folds[fold];
        let indices = index.map_or(std::ptr::null_mut(), |index| self.found[index][row].cast());
        FoldLanes { values: self.found[value][row], indices }
    }

    /// Makes the values from number `first` of the buffers' order on come first in the buffers.
    fn place(&mut self, first: usize) {
        let values = self.launch.folded.values.iter().zip(&self.buffers).zip(&mut self.found);
        for ((value, &buffer), found) in values {
            self.run.place(value.param, buffer.wrapping_sub(first * value.bytes));
            found[0] = buffer;
        }
    }

    /// Finds where values lie from this lane of a row on.
    fn find(&mut self, n: usize, row: usize, lane: usize) {
        let (run, inner) = (self.run, self.run.layout.inner());
        let mut index = [0; MAX_RANK];
        decode(&mut index, &run.layout, 0, inner, row);
        for (value, found) in self.launch.folded.values.iter().zip(&mut self.found) {
            let (param, offsets) = value.load.as_ref().expect("values in place are loads");
            let strides = &run.launch.views[*param].strides;
            let away: i64 = strides.iter().zip(offsets).map(|(&stride, &d)| stride * i64::from(d)).sum();
            let point = run.address(*param, &index, inner, lane);
            found[n] = point.wrapping_offset(away as isize * value.bytes as isize);
        }
    }

    /// Computes the values of a box.
    unsafe fn compute(&mut self, tile: &Tile) {
        // SAFETY: the caller's promise; the tile lies in the region.
        unsafe {
            match (&self.rows, &mut self.worker) {
                (Some(rows), _) => rows.tile(tile, &mut self.table),
                (None, Some(worker)) => eval_tile(self.run, worker, tile),
                (None, None) => unreachable!("a worker is made where there is no code"),
            }
        }
    }
}

/// Visits consecutive points, in C order of the layout, as boxes of rows that lie below each other.
fn for_each_box(layout: &LaunchLayout, points: Range<usize>, mut visit: impl FnMut(&Tile)) {
    let lanes = layout.extents[layout.inner()];
    let mut at = points.start;
    while at < points.end {
        let (row, lane, left) = (at / lanes, at % lanes, points.end - at);
        let (rows, some) =
            if lane > 0 || left < lanes { (1, left.min(lanes - lane)) } else { (left / lanes, lanes) };
        for_each_plane(layout, row..row + rows, lane..lane + some, &mut visit);
        at += rows * some;
    }
}

/// Visits some lanes of consecutive rows as boxes of rows that lie below each other.
fn for_each_plane(
    layout: &LaunchLayout,
    rows: Range<usize>,
    lanes: Range<usize>,
    mut visit: impl FnMut(&Tile),
) {
    let inner = layout.inner();
    let mut tile = Tile { start: [0; MAX_RANK], extents: [1; MAX_RANK] };
    (tile.start[inner], tile.extents[inner]) = (lanes.start, lanes.len());
    let mut row = rows.start;
    while row < rows.end {
        let mut some = 1;
        decode(&mut tile.start, layout, 0, inner, row);
        if let Some(down) = inner.checked_sub(1) {
            some = (rows.end - row).min(layout.extents[down] - tile.start[down]);
            tile.extents[down] = some;
        }
        visit(&tile);
        row += some;
    }
}
