//! Launches with operands that do not lie in rows: seen in steps, backwards, transposed. Tile by tile they are
//! packed into dense memory of the thread, small enough to stay in its caches; machine code and the
//! interpreter see rows there, and outputs that do not lie in rows are unpacked from it. All offsets at which
//! an operand is read share one packed box. What is computed, and how elements are moved, is elsewhere:
//! `machine`, `worker`, `pack`.

use super::copy::fence;
use super::layout::{Dims, Layout, Tile, Tiling, advance, coordinate_dims};
use super::pack::{Packer, Sheet};
use super::place::Line;
use super::run::Run;
use super::worker::Worker;
use super::{Memory, Task, eval_tile, in_turns};
use crate::ir::{Access, Launch, MAX_RANK, Op, View};

/// Bytes of a cache line.
const LINE: usize = 64;
/// Bytes along the rows of a transposed operand that are used at a time: whole lines, and few enough that the
/// rows of a tile are many.
const TURNED_BYTES: usize = 256;
/// Lanes of a tile with a transposed operand, and of any other.
const TURNED_LANES: usize = 256;
const LANES: usize = 2048;
/// Most points of a tile, and bytes of the boxes of one.
const POINTS: usize = 1 << 14;
const BOXES: usize = 128 << 10;

/// An operand that is brought into rows.
struct Operand {
    param: usize,
    bytes: usize,
    /// How far before and behind a point it is read, per dimension of the layout: the box ends with what the
    /// check found in memory.
    before: Dims<isize>,
    behind: Dims<isize>,
    /// The box of a whole tile, 1 along what it does not change in.
    extents: Dims<usize>,
    /// From neighbour to neighbour of the box, in elements; 0 along what it does not change in.
    strides: Dims<usize>,
    /// The dimension, other than the innermost, along which its neighbours lie nearest.
    down: usize,
    /// The first line of its box.
    line: usize,
    read: bool,
    written: bool,
}

/// A launch with operands that are brought.
pub(super) struct Brought<'r> {
    task: &'r Task<'r>,
    /// As the launch is, and as it is with boxes for the operands.
    run: Run<'r>,
    launch: Launch,
    strides: Vec<Dims<i64>>,
    operands: Vec<Operand>,
    tiling: Tiling,
    lines: usize,
    packer: Packer,
}

// SAFETY: threads share what describes the launch; each writes its own boxes, and in the memory of the launch the
// tiles that were given to it alone. That nobody else writes there is promised to `Program::run`.
unsafe impl Sync for Brought<'_> {}

/// Where the elements of neighbouring lanes are not neighbours.
fn is_far(run: &Run<'_>, task: &Task<'_>, p: usize) -> bool {
    let param = &run.params[p];
    let splat = param.inner_bytes == 0 && task.kernel.params[p].access == Access::In;
    param.inner_bytes != param.element_bytes as isize && !splat
}

/// The dimensions along which the body reads operands beside the point, so that boxes have a margin there, and
/// those of coordinates: they are not merged with others.
fn kept_apart(task: &Task<'_>) -> Dims<bool> {
    let mut apart = coordinate_dims(task.kernel);
    for inst in &task.kernel.body {
        if let Op::Load { offsets, .. } = &inst.op {
            offsets.iter().zip(&mut apart).for_each(|(&by, apart)| *apart |= by != 0);
        }
    }
    apart
}

impl<'r> Brought<'r> {
    /// None if every operand of the `run` lies in rows, or if it is not worth it.
    pub(super) fn new(task: &'r Task<'r>, run: &Run<'r>) -> Option<Brought<'r>> {
        let (layout, params) = (&run.layout, 0..run.params.len());
        let far: Vec<usize> = params.clone().filter(|&p| is_far(run, task, p)).collect();
        let few = layout.points() < task.tuning.brought_points || layout.extents[layout.inner()] == 1;
        if few || far.is_empty() {
            return None;
        }
        let first = task.code.stores.first().map(|s| s.param);
        let run = task.pointwise_apart(first, run.stream, &kept_apart(task));
        // Code writes past the caches everywhere or nowhere, and boxes are to stay in them.
        let is_output = |p: usize| task.kernel.params[p].access != Access::In;
        let all = run.stream && far.iter().any(|&p| is_output(p));
        let chosen = params.filter(|&p| far.contains(&p) || (all && is_output(p)));
        let tile = tile(task, &run.layout, &far);
        let mut lines = 0;
        let mut operands = Vec::new();
        for p in chosen {
            let operand = operand(task, &run, p, &tile, lines)?;
            lines += operand.lines();
            operands.push(operand);
        }
        let mut launch = task.launch.clone();
        let mut strides = run.layout.strides.clone();
        for operand in &operands {
            strides[operand.param] = operand.strides.map(|stride| stride as i64);
            let along = |dim: usize| run.layout.dim_of[dim].map_or(0, |k| operand.strides[k] as i64);
            launch.views[operand.param] =
                View { offset: 0, strides: (0..launch.extents.len()).map(along).collect() };
        }
        let tiling = Tiling::of(&run.layout, tile);
        let packer = Packer::new(task.level);
        Some(Brought { task, run, launch, strides, operands, tiling, lines, packer })
    }

    /// Runs the launch.
    ///
    /// # Safety
    /// The launch was checked against the memory; the rest is the promise of `Program::run`'s caller.
    pub(super) unsafe fn run(&self) {
        let threads = self.task.threads_for(&self.run.layout);
        let points: usize = self.tiling.tile.iter().product();
        // Neighbouring tiles go to one thread.
        let some = (self.task.tuning.task_points / points).clamp(1, self.tiling.count().div_ceil(threads));
        let tiles = |n: usize| n * some..((n + 1) * some).min(self.tiling.count());
        in_turns(threads, self.tiling.count().div_ceil(some), |turns| {
            let mut memory = vec![Line::ZERO; self.lines];
            // SAFETY: the caller's promise; each tile is given out once.
            unsafe { self.serve(memory.as_mut_ptr(), &mut turns.flat_map(tiles)) }
        });
    }

    /// Computes tiles with boxes in this memory.
    ///
    /// # Safety
    /// As [`Brought::run`]; `memory` is valid for the lines of all boxes and used by nobody else.
    unsafe fn serve(&self, memory: *mut Line, tiles: &mut dyn Iterator<Item = usize>) {
        let mut boxes: Vec<Memory> = self.task.memory.to_vec();
        for operand in &self.operands {
            let ptr = memory.wrapping_add(operand.line).cast::<u8>();
            boxes[operand.param] = Memory { ptr, len: operand.lines() * LINE / operand.bytes };
        }
        let written = self.operands.iter().any(|operand| operand.written);
        let task = Task { launch: &self.launch, memory: &boxes, ..*self.task };
        let layout = self.run.layout.with_strides(self.strides.clone());
        let run = Run::new(&task, layout, self.run.stream && !written);
        let rows = task.machine.and_then(|machine| machine.rows(&run));
        let mut worker = rows.is_none().then(|| Worker::new(&run));
        let mut table = Vec::new();
        for tile in tiles.map(|n| self.tiling.get(n)) {
            // SAFETY: the caller's promise; a tile lies in the region, the box of a tile in its memory.
            unsafe {
                for operand in &self.operands {
                    let ptr = boxes[operand.param].ptr;
                    run.place(operand.param, ptr.wrapping_offset(operand.corner(&tile.start)));
                    if operand.read {
                        self.pack(operand, ptr, &tile);
                    }
                }
                match (&rows, &mut worker) {
                    (Some(rows), _) => rows.tile(&tile, &mut table),
                    (None, Some(worker)) => eval_tile(&run, worker, &tile),
                    (None, None) => unreachable!("a worker is made where there is no code"),
                }
                for operand in self.operands.iter().filter(|operand| operand.written) {
                    self.unpack(operand, boxes[operand.param].ptr, &tile);
                }
            }
        }
        if self.run.stream {
            fence();
        }
    }

    /// Fills a box with what the tile reads.
    unsafe fn pack(&self, operand: &Operand, into: *mut u8, tile: &Tile) {
        // SAFETY: the check proved everything between the furthest reads of the tile in memory.
        self.sheets(operand, into, tile, |boxed, whole, rows, lanes| unsafe {
            self.packer.move_sheet(boxed, whole, (rows, lanes), operand.bytes, false);
        });
    }

    /// Writes a box's elements to where they belong.
    unsafe fn unpack(&self, operand: &Operand, from: *mut u8, tile: &Tile) {
        // SAFETY: the check proved the tile's elements in memory, and nobody else writes them.
        self.sheets(operand, from, tile, |boxed, whole, rows, lanes| unsafe {
            self.packer.move_sheet(whole, boxed, (rows, lanes), operand.bytes, self.run.stream);
        });
    }

    /// Goes through a tile's box, sheet by sheet: in the box, in memory, rows and lanes.
    fn sheets(
        &self,
        operand: &Operand,
        boxed: *mut u8,
        tile: &Tile,
        mut visit: impl FnMut(Sheet, Sheet, usize, usize),
    ) {
        let (layout, param) = (&self.run.layout, &self.run.params[operand.param]);
        let (inner, down, bytes) = (layout.inner(), operand.down, operand.bytes as isize);
        let extent = |k: usize| match operand.strides[k] {
            0 => 1,
            _ => operand.extent(k, tile.extents[k]),
        };
        let sheet = |ptr: *mut u8, strides: &dyn Fn(usize) -> isize| Sheet {
            ptr,
            down: if down == inner { 0 } else { strides(down) },
            along: strides(inner),
        };
        let in_box = |k: usize| operand.strides[k] as isize * bytes;
        let in_memory = |k: usize| param.strides_bytes[k];
        let first = (0..layout.rank).fold(self.run.address(operand.param, &[0; MAX_RANK], 0, 0), |ptr, k| {
            ptr.wrapping_offset((tile.start[k] as isize - operand.before[k]) * in_memory(k))
        });
        let rows = if down == inner { 1 } else { extent(down) };
        let mut sheets = Tile { start: [0; MAX_RANK], extents: std::array::from_fn(extent) };
        (sheets.extents[inner], sheets.extents[down]) = (1, 1);
        let mut index = sheets.start;
        loop {
            let at = |ptr: *mut u8, strides: &dyn Fn(usize) -> isize| {
                (0..layout.rank).fold(ptr, |ptr, k| ptr.wrapping_offset(index[k] as isize * strides(k)))
            };
            let (boxed, whole) = (at(boxed.wrapping_add(operand.head()), &in_box), at(first, &in_memory));
            visit(sheet(boxed, &in_box), sheet(whole, &in_memory), rows, extent(inner));
            if !advance(&mut index, &sheets, layout.rank) {
                break;
            }
        }
    }
}

impl Operand {
    /// Bytes before the box, so that the first point begins a line.
    fn head(&self) -> usize {
        let inner = self.before.iter().zip(&self.strides).find(|(_, stride)| **stride == 1);
        let before = inner.map_or(0, |(before, _)| before * self.bytes as isize);
        (-before).rem_euclid(LINE as isize) as usize
    }

    /// Elements of a box along dimension `k` for so many points.
    fn extent(&self, k: usize, points: usize) -> usize {
        (points as isize + self.before[k] + self.behind[k]) as usize
    }

    /// Lines that the box takes.
    fn lines(&self) -> usize {
        let last: usize = self.extents.iter().zip(&self.strides).map(|(n, stride)| (n - 1) * stride).sum();
        (self.head() + (last + 1) * self.bytes).div_ceil(LINE) + 1
    }

    /// Bytes from the box's memory to where the layout's point 0 would be, for a tile that starts there.
    fn corner(&self, start: &Dims<usize>) -> isize {
        let moved = |k: usize| self.strides[k] as isize * (self.before[k] - start[k] as isize);
        self.head() as isize + (0..MAX_RANK).map(moved).sum::<isize>() * self.bytes as isize
    }
}

/// The dimension other than the innermost along which a parameter's neighbours lie nearest; the one before the
/// innermost if there is none that they are apart in.
fn nearest(layout: &Layout, p: usize) -> usize {
    let apart = |k: &usize| layout.strides[p][*k] != 0 && layout.extents[*k] > 1;
    let outer = (0..layout.inner()).rev().filter(apart);
    outer.min_by_key(|&k| layout.strides[p][k].unsigned_abs()).unwrap_or(layout.inner().saturating_sub(1))
}

/// The extents of a tile in which all `far` operands use the lines that they touch.
fn tile(task: &Task<'_>, layout: &Layout, far: &[usize]) -> Dims<usize> {
    let inner = layout.inner();
    let mut tile = [1; MAX_RANK];
    let bytes: usize = far.iter().map(|&p| task.kernel.params[p].dtype.size_bytes()).sum();
    let points = (BOXES / bytes).clamp(1, POINTS).min(task.tuning.task_points);
    let mut turned = false;
    for &p in far {
        let (down, strides) = (nearest(layout, p), &layout.strides[p]);
        if down != inner && strides[down] != 0 && strides[down].unsigned_abs() < strides[inner].unsigned_abs()
        {
            turned = true;
            let rows = TURNED_BYTES / task.kernel.params[p].dtype.size_bytes();
            tile[down] = tile[down].max(rows.min(points / 16).max(1)).min(layout.extents[down]);
        }
    }
    let lanes = if turned { TURNED_LANES } else { LANES };
    for k in (0..layout.rank).rev() {
        let left = (points / tile.iter().product::<usize>().max(1)).max(1);
        let most = if k == inner { lanes.min(left) } else { left * tile[k] };
        tile[k] = tile[k].max(most).min(layout.extents[k]);
    }
    tile
}

/// How a parameter is brought; none if the layout has no place for what is read beside a point.
fn operand(task: &Task<'_>, run: &Run<'_>, p: usize, tile: &Dims<usize>, line: usize) -> Option<Operand> {
    let layout = &run.layout;
    let bytes = run.params[p].element_bytes;
    let mut reach: Option<(Dims<isize>, Dims<isize>)> = None;
    for inst in &task.kernel.body {
        let Op::Load { param, offsets } = &inst.op else { continue };
        if *param as usize != p {
            continue;
        }
        let mut at = [0; MAX_RANK];
        for (dim, &by) in offsets.iter().enumerate().filter(|(_, by)| **by != 0) {
            at[layout.dim_of[dim]?] = by as isize;
        }
        let (low, high) = reach.get_or_insert((at, at));
        (0..MAX_RANK).for_each(|k| (low[k], high[k]) = (low[k].min(at[k]), high[k].max(at[k])));
    }
    let read = reach.is_some();
    let (low, behind) = reach.unwrap_or_default();
    let before = low.map(|by| -by);
    let mut operand = Operand {
        param: p,
        bytes,
        before,
        behind,
        extents: [1; MAX_RANK],
        strides: [0; MAX_RANK],
        down: nearest(layout, p),
        line,
        read,
        written: task.kernel.params[p].access != Access::In,
    };
    let mut stride = 1;
    for k in (0..layout.rank).rev() {
        // One row of a box more or less must not fall on the same lines of the cache.
        if layout.strides[p][k] == 0 {
            continue;
        }
        operand.extents[k] = operand.extent(k, tile[k]);
        operand.strides[k] = stride;
        stride *= operand.extents[k];
        if k == layout.inner() {
            stride = stride.next_multiple_of(LINE / bytes) + LINE / bytes;
        }
    }
    Some(operand)
}
