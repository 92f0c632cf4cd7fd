//! Runs a compiled body on chunks of a launch: one worker per thread, with its own slots.
//!
//! A chunk is a stretch of the innermost dimension (or several whole rows of it, if they are
//! short). Rows that lie in memory as lanes do are read and written in place; others go through
//! slots. It does not know the forms; they say which chunks, and take the results.

use std::cell::Cell;

use super::chain::ChainArgs;
use super::compile::{PlaceKind, Splat, Step};
use super::copy::{self, Column, Row};
use super::layout::Dims;
use super::lower::lane_bits;
use super::ops::MapArgs;
use super::place::{BLOCK, Lane, Line, Place, SPLAT};
use super::run::{Access, Copied, Run};

/// Bytes of the next chunk, at most, that memory is asked for.
const MOST_ASKED: usize = 4 << 10;

/// Lanes until an address reaches a cache line.
fn head(to: *mut u8, element_bytes: usize) -> usize {
    (to as usize).wrapping_neg() % 64 / element_bytes
}

/// Which lanes: `rows` rows of `len` lanes each from `start` of the innermost dimension.
#[derive(Clone, Copy)]
pub(super) struct Chunk {
    pub rows: usize,
    pub start: usize,
    pub len: usize,
}

impl Chunk {
    /// All of them.
    pub(super) fn lanes(self) -> usize {
        self.rows * self.len
    }
}

thread_local! {
    /// Slot memory, kept between launches.
    static LINES: Cell<Vec<Line>> = const { Cell::new(Vec::new()) };
}

/// One thread's state.
pub(super) struct Worker<'r> {
    run: &'r Run<'r>,
    places: Vec<Place>,
    lines: Vec<Line>,
    /// Per row of the chunk and parameter, the address of the row's lane 0 of the innermost dimension.
    rows: Vec<*mut u8>,
    /// Per row, its index; only if the body uses coordinates.
    indices: Vec<Dims<usize>>,
    /// Per store, whether the chain wrote it in place.
    written: Vec<bool>,
    /// Rows on their way, kept from chunk to chunk.
    columns: Vec<Column>,
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
    pub(super) fn new(run: &'r Run<'r>) -> Worker<'r> {
        let code = run.code;
        let mut lines = LINES.take();
        let bytes = code.fixed_bytes + code.slot_bytes * run.slot_lanes;
        if lines.len() * 64 < bytes {
            lines.resize(bytes.div_ceil(64), Line::ZERO);
        }
        let base = lines.as_mut_ptr().cast::<u8>();
        let slots = base.wrapping_add(code.fixed_bytes);
        let places = code.places.iter().map(|kind| match *kind {
            PlaceKind::Block { offset, size } => Place { ptr: base.wrapping_add(offset), step: size },
            PlaceKind::Slot { offset, size } => {
                Place { ptr: slots.wrapping_add(offset * run.slot_lanes), step: size }
            }
            PlaceKind::Load | PlaceKind::Out => Place::NONE,
        });
        let mut worker = Worker {
            run,
            places: places.collect(),
            lines,
            rows: Vec::new(),
            indices: Vec::new(),
            written: vec![false; code.stores.len()],
            columns: Vec::new(),
        };
        worker.splat();
        worker
    }

    /// Fills the blocks of constants, arguments and what depends on them alone.
    fn splat(&mut self) {
        let code = self.run.code;
        for (splat, place, size) in &code.splats {
            let bits = match splat {
                Splat::Constant(bits) => *bits,
                Splat::Argument(n) => lane_bits(self.run.launch.arguments[*n]),
            };
            let bytes = bits.to_le_bytes();
            let from = Row { ptr: bytes.as_ptr().cast_mut(), stride_bytes: 0 };
            let to = Row { ptr: self.places[*place as usize].ptr, stride_bytes: *size as isize };
            // SAFETY: a block has room for `SPLAT` elements of its size.
            unsafe { copy::move_row(to, from, SPLAT, *size) };
        }
        for step in &code.prologue {
            // SAFETY: every operand is a block, whole and initialised.
            unsafe { self.step(step, SPLAT, 0) };
        }
        for (place, kind) in self.places.iter_mut().zip(&code.places) {
            if let PlaceKind::Block { .. } = kind {
                place.step = 0;
            }
        }
    }

    /// Forgets the rows of the last chunk.
    pub(super) fn clear_rows(&mut self) {
        self.rows.clear();
        self.indices.clear();
    }

    /// Adds the row at `index` (innermost component ignored) to the next chunk.
    pub(super) fn push_row(&mut self, index: &Dims<usize>) {
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
    pub(super) unsafe fn eval(&mut self, chunk: Chunk) {
        self.resolve_outs(chunk);
        let (code, head) = (self.run.code, self.head());
        for step in &code.steps {
            // SAFETY: the caller's promise; slots have room for a chunk.
            unsafe {
                match step {
                    Step::Load(load) => self.load(*load, chunk),
                    Step::Coord(coord) => self.coord(*coord, chunk),
                    step => self.step(step, chunk.lanes(), head),
                }
            }
        }
    }

    /// Computes and stores `rows` rows of the same lanes, one below the other, the first of them pushed.
    /// Returns how many it did: all, or one where rows need more than a step down.
    ///
    /// # Safety
    /// As [`Worker::eval`].
    pub(super) unsafe fn eval_rows(&mut self, chunk: Chunk, rows: usize) -> usize {
        // SAFETY: the caller's promise.
        unsafe {
            self.eval(chunk);
            if let Some(copies) = &self.run.copies {
                self.copy_rows(copies, chunk, rows);
                return rows;
            }
            let (Some(steps), Some(chain)) = (&self.run.steps_down, self.run.code.steps.last()) else {
                self.store(chunk);
                return 1;
            };
            for _ in 1..rows {
                for &(place, bytes) in steps {
                    let place = &mut self.places[place as usize];
                    place.ptr = place.ptr.wrapping_offset(bytes);
                }
                let head = self.head();
                self.step(chain, chunk.len, head);
            }
        }
        rows
    }

    /// Stores rows as they were loaded, all of one row before the next: what lies side by side in memory is
    /// read in one go.
    unsafe fn copy_rows(&mut self, copies: &[Copied], chunk: Chunk, rows: usize) {
        self.columns.clear();
        for &Copied { place, from_down, param, to_down } in copies {
            self.columns.push(Column {
                from: self.places[place as usize].ptr,
                from_down,
                to: self.address(param, 0, chunk.start),
                to_down,
                bytes: chunk.len * self.run.params[param].element_bytes,
            });
        }
        // SAFETY: the checked launch keeps the rows in memory.
        unsafe { copy::copy_columns(&mut self.columns, rows, self.run.stream) };
    }

    /// Lanes until the first output that a chain writes in place reaches a cache line, if that matters.
    fn head(&self) -> usize {
        if !self.run.stream {
            return 0;
        }
        let mut stores = self.run.code.stores.iter().zip(&self.written);
        let first = stores.find_map(|(store, written)| store.out.filter(|_| *written));
        first.map_or(0, |out| {
            let place = self.places[out as usize];
            head(place.ptr, place.step)
        })
    }

    /// The place of the n-th value the form uses, after [`Worker::eval`].
    pub(super) fn root(&self, n: usize) -> Place {
        self.places[self.run.code.roots[n] as usize]
    }

    /// Bytes from the n-th value the form uses to that of the row below, where rows are values as loaded.
    pub(super) fn bytes_down(&self, n: usize) -> isize {
        let place = self.run.code.roots[n];
        let mut steps = self.run.steps_down.iter().flatten();
        steps.find(|(at, _)| *at == place).map_or(0, |&(_, bytes)| bytes)
    }

    /// The address of parameter `param` at lane `lane` of the innermost dimension, in row `row` of the chunk.
    pub(super) fn address(&self, param: usize, row: usize, lane: usize) -> *mut u8 {
        let params = &self.run.params;
        self.rows[row * params.len() + param].wrapping_offset(lane as isize * params[param].inner_bytes)
    }

    /// Most lanes of a chunk that starts here, so that the next one starts on a cache line of the output.
    pub(super) fn chunk_lanes(&self, start: usize) -> usize {
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

    /// Points the outputs of chains at memory where they may write in place, else at their slots.
    fn resolve_outs(&mut self, chunk: Chunk) {
        for (n, store) in self.run.code.stores.iter().enumerate() {
            let Some(out) = store.out else { continue };
            let param = &self.run.params[store.param];
            self.written[n] = chunk.rows == 1 && param.dense;
            self.places[out as usize] = if self.written[n] {
                Place { ptr: self.address(store.param, 0, chunk.start), step: param.element_bytes }
            } else {
                self.places[store.place as usize]
            };
        }
    }

    unsafe fn step(&mut self, step: &Step, lanes: usize, head: usize) {
        match step {
            Step::Map { f, dst, args } => {
                let place = |n: Option<u32>| n.map_or(Place::NONE, |n| self.places[n as usize]);
                let [a, b, c] = args.map(place);
                let dst = self.places[*dst as usize];
                let args = MapArgs { dst, a, b, c, lanes: lanes.max(BLOCK) };
                // SAFETY: the loop was compiled for this CPU and these types; a slot never is both
                // operand and result; operands in place have at least a block of lanes.
                unsafe { f(&args) }
            }
            Step::Chain { f, code } => {
                let args = ChainArgs {
                    code: code.as_ptr(),
                    code_len: code.len(),
                    places: self.places.as_ptr(),
                    lanes,
                    head,
                    stream: self.run.stream,
                    redo: self.run.redo,
                };
                // SAFETY: the machine was compiled for this CPU; every place holds the lanes.
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
        let whole = chunk.len >= BLOCK || self.run.code.single_pass;
        if chunk.rows == 1 && source.access == Access::Direct && whole {
            let ptr = row(0);
            self.places[load.place as usize] = Place { ptr, step: size };
            if self.run.ask_ahead {
                let bytes = chunk.len * size;
                copy::ask(ptr.wrapping_add(bytes), bytes.min(MOST_ASKED));
            }
            return;
        }
        let slot = self.places[load.slot as usize].ptr;
        let splat = chunk.rows == 1 && source.access == Access::Splat;
        let count = if splat { SPLAT } else { chunk.len };
        for r in 0..chunk.rows {
            let from = Row { ptr: row(r), stride_bytes: param.inner_bytes };
            let to = Row { ptr: slot.wrapping_add(r * count * size), stride_bytes: size as isize };
            // SAFETY: the checked launch keeps the row in memory; the slot has room for the chunk.
            unsafe { copy::move_row(to, from, count, size) };
        }
        self.places[load.place as usize] = Place { ptr: slot, step: if splat { 0 } else { size } };
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

    /// Stores what the chains have not stored themselves.
    unsafe fn store(&mut self, chunk: Chunk) {
        for (n, store) in self.run.code.stores.iter().enumerate() {
            if !self.written[n] {
                // SAFETY: the caller's promise.
                unsafe { self.store_rows(store.param, self.places[store.place as usize], chunk) };
            }
        }
    }

    /// Stores a chunk of lanes in the memory form of parameter `p`.
    unsafe fn store_rows(&self, p: usize, from: Place, chunk: Chunk) {
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
