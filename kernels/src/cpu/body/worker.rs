//! Runs a compiled body on chunks of a launch: one worker per thread, with its own slots.
//!
//! A chunk is a stretch of the innermost dimension, or several whole rows of it if they are short. Contiguous
//! rows are read in place, others are copied to slots; values go from slots to memory.

use std::cell::Cell;

use super::compile::{PlaceKind, Step, Uniform};
use super::lower::lane_bits;
use super::run::{LoadKind, Run};
use crate::cpu::launch::{Dims, HostLaunch, Tile, advance};
use crate::cpu::loops::copy::{self, Row};
use crate::cpu::loops::lanes::{BLOCK, Lane, LanePointer, Line};
use crate::cpu::loops::map::MapArgs;
use crate::cpu::thread_pool::{Parallelism, share_out};

/// Lanes until an address reaches a cache line.
fn head(to: *mut u8, element_bytes: usize) -> usize {
    (to as usize).wrapping_neg() % 64 / element_bytes
}

/// Which lanes: `rows` rows of `len` lanes each from `start` of the innermost dimension.
#[derive(Clone, Copy)]
pub(in crate::cpu) struct Chunk {
    pub rows: usize,
    pub start: usize,
    pub len: usize,
}

impl Chunk {
    /// All of them.
    pub(in crate::cpu) fn lanes(self) -> usize {
        self.rows * self.len
    }
}

thread_local! {
    /// Slot memory, kept between launches.
    static LINES: Cell<Vec<Line>> = const { Cell::new(Vec::new()) };
}

/// One thread's state.
pub(in crate::cpu) struct Worker<'r> {
    run: &'r Run<'r>,
    places: Vec<LanePointer>,
    lines: Vec<Line>,
    /// Per row of the chunk and parameter, the address of the row's lane 0 of the innermost dimension.
    rows: Vec<*mut u8>,
    /// Per row, its index; only if the body uses coordinates.
    indices: Vec<Dims<usize>>,
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        LINES.set(std::mem::take(&mut self.lines));
        if self.run.stream {
            copy::fence();
        }
    }
}

impl<'r> Worker<'r> {
    /// A worker with its splatted values computed.
    pub(in crate::cpu) fn new(run: &'r Run<'r>) -> Worker<'r> {
        let code = run.code;
        let mut lines = LINES.take();
        let bytes = code.fixed_bytes + code.slot_bytes * run.slot_lanes;
        if lines.len() * 64 < bytes {
            lines.resize(bytes.div_ceil(64), Line::ZERO);
        }
        let base = lines.as_mut_ptr().cast::<u8>();
        let slots = base.wrapping_add(code.fixed_bytes);
        let places = code.places.iter().map(|kind| match *kind {
            PlaceKind::Block { offset, size } => LanePointer { ptr: base.wrapping_add(offset), step: size },
            PlaceKind::Slot { offset, size } => {
                LanePointer { ptr: slots.wrapping_add(offset * run.slot_lanes), step: size }
            }
            PlaceKind::Load => LanePointer::NONE,
        });
        let mut worker =
            Worker { run, places: places.collect(), lines, rows: Vec::new(), indices: Vec::new() };
        worker.splat();
        worker
    }

    /// Fills the blocks of constants, arguments and what depends on them alone.
    fn splat(&mut self) {
        let code = self.run.code;
        for (uniform, place, size) in &code.uniforms {
            let bits = match uniform {
                Uniform::Constant(bits) => *bits,
                Uniform::Argument(n) => lane_bits(self.run.launch.arguments[*n]),
            };
            let bytes = bits.to_le_bytes();
            let from = Row { ptr: bytes.as_ptr().cast_mut(), stride_bytes: 0 };
            let to = Row { ptr: self.places[*place as usize].ptr, stride_bytes: *size as isize };
            // SAFETY: a block has `BLOCK` elements of its size.
            unsafe { copy::move_row(to, from, BLOCK, *size) };
        }
        for step in &code.prologue {
            // SAFETY: every operand is a block, whole and initialised.
            unsafe { self.step(step, BLOCK) };
        }
        for (place, kind) in self.places.iter_mut().zip(&code.places) {
            if let PlaceKind::Block { .. } = kind {
                place.step = 0;
            }
        }
    }

    /// Forgets the rows of the last chunk.
    pub(in crate::cpu) fn clear_rows(&mut self) {
        self.rows.clear();
        self.indices.clear();
    }

    /// Adds the row at `index` (innermost component ignored) to the next chunk.
    pub(in crate::cpu) fn push_row(&mut self, index: &Dims<usize>) {
        let outer = self.run.layout.inner();
        self.rows.extend((0..self.run.params.len()).map(|param| self.run.address(param, index, outer, 0)));
        if !self.run.code.coords.is_empty() {
            self.indices.push(*index);
        }
    }

    /// Computes the body on a chunk of the rows pushed.
    ///
    /// # Safety
    /// The launch was checked against the memory, and the chunk lies in its region.
    pub(in crate::cpu) unsafe fn eval(&mut self, chunk: Chunk) {
        for step in &self.run.code.steps {
            // SAFETY: the caller's promise; slots have room for a chunk.
            unsafe {
                match step {
                    Step::Load(load) => self.load(*load, chunk),
                    Step::Coord(coord) => self.coord(*coord, chunk),
                    step => self.step(step, chunk.lanes()),
                }
            }
        }
    }

    /// The place of the n-th value the form uses, after [`Worker::eval`].
    pub(in crate::cpu) fn root(&self, n: usize) -> LanePointer {
        self.places[self.run.code.roots[n] as usize]
    }

    /// The address of parameter `param` at lane `lane` of the innermost dimension, in row `row` of the chunk.
    pub(in crate::cpu) fn address(&self, param: usize, row: usize, lane: usize) -> *mut u8 {
        let params = &self.run.params;
        self.rows[row * params.len() + param].wrapping_offset(lane as isize * params[param].inner_bytes)
    }

    /// Most lanes of a chunk that starts here, so that the next one starts on a cache line of the output.
    pub(in crate::cpu) fn chunk_lanes(&self, start: usize) -> usize {
        let most = self.run.chunk;
        match self.run.code.stores.first().filter(|_| self.run.stream) {
            Some(store) if self.run.params[store.param].dense => {
                let head =
                    head(self.address(store.param, 0, start), self.run.params[store.param].element_bytes);
                if head == 0 { most } else { most - BLOCK + head }
            }
            _ => most,
        }
    }

    unsafe fn step(&mut self, step: &Step, lanes: usize) {
        match step {
            Step::Map { f, dst, args } => {
                let place = |n: Option<u32>| n.map_or(LanePointer::NONE, |n| self.places[n as usize]);
                let [a, b, c] = args.map(place);
                let dst = self.places[*dst as usize];
                let args = MapArgs { dst, a, b, c, lanes: lanes.max(BLOCK) };
                // SAFETY: the loop was compiled for this CPU and these types; a slot never is both
                // operand and result; operands in place have at least a block of lanes.
                unsafe { f(&args) }
            }
            Step::Load(_) | Step::Coord(_) => unreachable!("sources are not operations"),
        }
    }

    /// Gives a load its place: the memory itself, one splatted element, or a slot it is copied to.
    unsafe fn load(&mut self, n: usize, chunk: Chunk) {
        let (load, source) = (&self.run.code.loads[n], &self.run.sources[n]);
        let param = &self.run.params[source.param];
        let size = param.element_bytes;
        let row =
            |row: usize| self.address(source.param, row, chunk.start).wrapping_offset(source.delta_bytes);
        if chunk.rows == 1 && source.kind == LoadKind::Direct && chunk.len >= BLOCK {
            let ptr = row(0);
            self.places[load.place as usize] = LanePointer { ptr, step: size };
            return;
        }
        let slot = self.places[load.slot as usize].ptr;
        let splat = chunk.rows == 1 && source.kind == LoadKind::Splat;
        let count = if splat { BLOCK } else { chunk.len };
        for r in 0..chunk.rows {
            let from = Row { ptr: row(r), stride_bytes: param.inner_bytes };
            let to = Row { ptr: slot.wrapping_add(r * count * size), stride_bytes: size as isize };
            // SAFETY: the checked launch keeps the row in memory; the slot has room for the chunk.
            unsafe { copy::move_row(to, from, count, size) };
        }
        self.places[load.place as usize] = LanePointer { ptr: slot, step: if splat { 0 } else { size } };
    }

    /// Fills a slot with coordinates.
    unsafe fn coord(&mut self, n: usize, chunk: Chunk) {
        let run = self.run;
        let coord = &run.code.coords[n];
        let slot = self.places[coord.place as usize].ptr;
        let dim = run.layout.dim_of[coord.dim];
        for r in 0..chunk.rows {
            let (mut first, mut step) = (run.launch.origin[coord.dim], 0);
            match dim {
                Some(dim) if dim == run.layout.inner() => {
                    first += chunk.start as i64;
                    step = 1;
                }
                Some(dim) => first += self.indices[r][dim] as i64,
                None => {}
            }
            // SAFETY: the slot has room for the chunk's lanes of this type and is aligned.
            unsafe {
                if coord.lane == Lane::I32 {
                    let lanes =
                        std::slice::from_raw_parts_mut(slot.cast::<i32>().add(r * chunk.len), chunk.len);
                    lanes
                        .iter_mut()
                        .enumerate()
                        .for_each(|(k, lane)| *lane = first as i32 + step as i32 * k as i32);
                } else {
                    let lanes =
                        std::slice::from_raw_parts_mut(slot.cast::<i64>().add(r * chunk.len), chunk.len);
                    lanes.iter_mut().enumerate().for_each(|(k, lane)| *lane = first + step * k as i64);
                }
            }
        }
    }

    /// Stores a chunk's values.
    unsafe fn store(&mut self, chunk: Chunk) {
        for store in &self.run.code.stores {
            // SAFETY: the caller's promise.
            unsafe { self.store_rows(store.param, self.places[store.place as usize], chunk) };
        }
    }

    /// Stores a chunk of lanes in the memory form of parameter `p`.
    unsafe fn store_rows(&self, p: usize, from: LanePointer, chunk: Chunk) {
        let param = &self.run.params[p];
        let size = param.element_bytes;
        for r in 0..chunk.rows {
            let to = self.address(p, r, chunk.start);
            let source = from.at(r * chunk.len);
            // SAFETY: the checked launch keeps the row in memory; the place holds the chunk's lanes.
            unsafe {
                if self.run.stream && param.inner_bytes == size as isize && from.step == size {
                    copy::stream_bytes(to, source, chunk.len * size);
                } else {
                    let to = Row { ptr: to, stride_bytes: param.inner_bytes };
                    copy::move_row(
                        to,
                        Row { ptr: source, stride_bytes: from.step as isize },
                        chunk.len,
                        size,
                    );
                }
            }
        }
    }
}

/// Calls `work` once for each task below `tasks`, with a worker of each thread that joins.
pub(in crate::cpu) fn for_each_task(
    run: &Run<'_>,
    parallelism: Parallelism,
    tasks: usize,
    work: impl Fn(&mut Worker<'_>, usize) + Sync,
) {
    share_out(parallelism, tasks, || Worker::new(run), work);
}

/// Cuts the region into tiles and gives them to threads.
pub(in crate::cpu) fn for_each_tile(
    task: &HostLaunch<'_>,
    run: &Run<'_>,
    work: impl Fn(&mut Worker<'_>, &Tile) + Sync,
) {
    let tiling = task.tiling(&run.layout);
    for_each_task(run, task.parallelism(&run.layout), tiling.count(), |worker, n| {
        work(worker, &tiling.get(n))
    });
}

/// Computes and stores a box of an elementwise kernel.
///
/// # Safety
/// The launch was checked, the tile lies in its region, and nobody else writes there.
pub(in crate::cpu) unsafe fn eval_tile(run: &Run<'_>, worker: &mut Worker<'_>, tile: &Tile) {
    // SAFETY: the caller's promise.
    unsafe {
        for_each_chunk(run, worker, tile, |worker, chunk| {
            worker.eval(chunk);
            worker.store(chunk);
        });
    }
}

/// Visits the chunks of a box in C order, with the rows of each pushed.
pub(in crate::cpu) unsafe fn for_each_chunk(
    run: &Run<'_>,
    worker: &mut Worker<'_>,
    tile: &Tile,
    mut visit: impl FnMut(&mut Worker<'_>, Chunk),
) {
    let inner = run.layout.inner();
    let (first, len) = (tile.start[inner], tile.extents[inner]);
    // Short rows are computed several at a time.
    let group = if len < BLOCK { (run.slot_chunk / len).max(1) } else { 1 };
    let mut index = tile.start;
    let mut more = true;
    while more {
        worker.clear_rows();
        let mut rows = 0;
        while more && rows < group {
            worker.push_row(&index);
            rows += 1;
            more = advance(&mut index, tile, inner);
        }
        let mut start = first;
        while start < first + len {
            let most = worker.chunk_lanes(start);
            let chunk = Chunk { rows, start, len: most.min(first + len - start) };
            visit(worker, chunk);
            start += chunk.len;
        }
    }
}
