//! Launches with operands that do not lie in rows: seen in steps (of two where code does not take them),
//! backwards, transposed. Tile by tile they are packed into dense memory of the thread, small enough to stay
//! in its caches; machine code and the interpreter see rows there, and outputs that do not lie in rows are
//! unpacked from it. All offsets at which an operand is read share one packed box. What is computed, and how
//! elements are moved, is elsewhere: `machine`, `worker`, `pack`.

use super::body::run::Run;
use super::body::worker::{Worker, eval_tile};
use super::launch::{HostLaunch, Memory, in_turns};
use super::layout::{Dims, Layout, Tile, Tiling, advance, coordinate_dims};
use super::loops::copy::fence;
use super::loops::place::Line;
use super::machine::Machine;
use super::packing::{Packer, Sheet};
use crate::footprint::CopiedParam;
use crate::ir::{Access, Launch, MAX_RANK, View};

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

/// A load that is stored as it is, from memory to memory.
struct Moved {
    from: usize,
    /// Bytes from the point to what is read.
    away: isize,
    to: usize,
    down: usize,
}

/// A launch with operands that are brought.
pub(super) struct PackedLaunch<'r> {
    task: &'r HostLaunch<'r>,
    machine: Option<&'r Machine>,
    /// As the launch is, and as it is with boxes for the operands.
    run: Run<'r>,
    launch: Launch,
    strides: Vec<Dims<i64>>,
    operands: Vec<Operand>,
    /// Of a launch that needs no boxes.
    moves: Option<Vec<Moved>>,
    tiling: Tiling,
    lines: usize,
    packer: Packer,
}

// SAFETY: threads share what describes the launch; each writes its own boxes, and in the memory of the
// launch the tiles that were given to it alone. That nobody else writes there is promised to
// `Program::run`.
unsafe impl Sync for PackedLaunch<'_> {}

/// Where the elements of neighbouring lanes are not neighbours.
fn is_far(run: &Run<'_>, task: &HostLaunch<'_>, p: usize) -> bool {
    let param = &run.params[p];
    let splat = param.inner_bytes == 0 && task.kernel.params[p].access == Access::In;
    param.inner_bytes != param.element_bytes as isize && !splat
}

/// The dimensions along which the body reads operands beside the point, so that boxes have a margin there,
/// and those of coordinates: they are not merged with others.
fn kept_apart(task: &HostLaunch<'_>) -> Dims<bool> {
    let mut apart = coordinate_dims(task.kernel);
    (0..task.kernel.rank).for_each(|dim| apart[dim] |= task.footprint.reads_along(dim));
    apart
}

impl<'r> PackedLaunch<'r> {
    /// None if every operand of the `run` lies in rows, or if it is not worth it.
    pub(super) fn new(
        task: &'r HostLaunch<'r>,
        machine: Option<&'r Machine>,
        run: &Run<'r>,
    ) -> Option<PackedLaunch<'r>> {
        let (layout, params) = (&run.layout, 0..run.params.len());
        let far: Vec<usize> = params.clone().filter(|&p| is_far(run, task, p)).collect();
        let few = layout.points() < task.tuning.packed_points || layout.extents[layout.inner()] == 1;
        if few || far.is_empty() {
            return None;
        }
        let first = task.code.stores.first().map(|s| s.param);
        let run = Run::placed(task, task.ordered(first, &kept_apart(task)), run.stream);
        // Code writes past the caches everywhere or nowhere, and boxes are to stay in them.
        let is_output = |p: usize| task.kernel.params[p].access != Access::In;
        let all = run.stream && far.iter().any(|&p| is_output(p));
        let chosen = params.filter(|&p| far.contains(&p) || (all && is_output(p)));
        let tile = tile(task, &run.layout, &far);
        let moves = moves(task, &run, &far);
        let mut lines = 0;
        let mut operands = Vec::new();
        for p in chosen.filter(|_| moves.is_none()) {
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
        Some(PackedLaunch { task, machine, run, launch, strides, operands, moves, tiling, lines, packer })
    }

    /// Runs the launch.
    ///
    /// # Safety
    /// The launch was checked against the memory; the rest is the promise of `Program::run`'s caller.
    pub(super) unsafe fn run(&self) {
        let help = self.task.help_for(&self.run.layout);
        let points: usize = self.tiling.tile.iter().product();
        // Neighbouring tiles go to one thread.
        let some =
            (self.task.tuning.task_points / points).clamp(1, self.tiling.count().div_ceil(help.threads));
        let tiles = |n: usize| n * some..((n + 1) * some).min(self.tiling.count());
        in_turns(help, self.tiling.count().div_ceil(some), |turns| {
            let mut memory = vec![Line::ZERO; self.lines];
            let mut tiles = turns.flat_map(tiles).map(|n| self.tiling.get(n));
            match &self.moves {
                // SAFETY: the caller's promise; each tile is given out once.
                Some(moves) => tiles.for_each(|tile| unsafe { self.move_tile(moves, &tile) }),
                // SAFETY: as above; the memory has the lines of all boxes.
                None => unsafe { self.serve(memory.as_mut_ptr(), &mut tiles) },
            }
            if self.run.stream {
                fence();
            }
        });
    }

    /// Computes tiles with boxes in this memory.
    ///
    /// # Safety
    /// As [`PackedLaunch::run`]; `memory` is valid for the lines of all boxes and used by nobody else.
    unsafe fn serve(&self, memory: *mut Line, tiles: &mut dyn Iterator<Item = Tile>) {
        let mut boxes: Vec<Memory> = self.task.memory.to_vec();
        for operand in &self.operands {
            let ptr = memory.wrapping_add(operand.line).cast::<u8>();
            boxes[operand.param] = Memory { ptr, len: operand.lines() * LINE / operand.bytes };
        }
        let written = self.operands.iter().any(|operand| operand.written);
        let task = HostLaunch { launch: &self.launch, memory: &boxes, ..*self.task };
        let layout = self.run.layout.with_strides(self.strides.clone());
        let run = Run::new(&task, layout, self.run.stream && !written);
        let rows = self.machine.and_then(|machine| machine.rows(&run));
        let mut worker = rows.is_none().then(|| Worker::new(&run));
        let mut table = Vec::new();
        for tile in tiles {
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
    }

    /// Moves a tile from memory to memory.
    unsafe fn move_tile(&self, moves: &[Moved], tile: &Tile) {
        for moved in moves {
            let (to, mut from) = (self.memory(moved.to, &tile.start), self.memory(moved.from, &tile.start));
            from.ptr = from.ptr.wrapping_offset(moved.away);
            let bytes = self.run.params[moved.to].element_bytes;
            // SAFETY: the check proved the elements of the tile in memory, and nobody else writes them.
            self.sheets(to, from, moved.down, &tile.extents, |to, from, size| unsafe {
                self.packer.move_sheet(to, from, size, bytes, self.run.stream);
            });
        }
    }

    /// Fills a box with what the tile reads.
    unsafe fn pack(&self, operand: &Operand, into: *mut u8, tile: &Tile) {
        let (boxed, whole, extents) = self.ends(operand, into, tile);
        // SAFETY: the check proved everything between the furthest reads of the tile in memory.
        self.sheets(boxed, whole, operand.down, &extents, |boxed, whole, size| unsafe {
            self.packer.move_sheet(boxed, whole, size, operand.bytes, false);
        });
    }

    /// Writes a box's elements to where they belong.
    unsafe fn unpack(&self, operand: &Operand, from: *mut u8, tile: &Tile) {
        let (boxed, whole, extents) = self.ends(operand, from, tile);
        // SAFETY: the check proved the tile's elements in memory, and nobody else writes them.
        self.sheets(boxed, whole, operand.down, &extents, |boxed, whole, size| unsafe {
            self.packer.move_sheet(whole, boxed, size, operand.bytes, self.run.stream);
        });
    }

    /// A box and what it stands for, and how many elements there are along each dimension.
    fn ends(&self, operand: &Operand, boxed: *mut u8, tile: &Tile) -> (End, End, Dims<usize>) {
        let strides = operand.strides.map(|stride| (stride * operand.bytes) as isize);
        let boxed = End { ptr: boxed.wrapping_add(operand.head()), strides };
        let mut whole = self.memory(operand.param, &tile.start);
        let before = whole.strides.iter().zip(&operand.before).map(|(stride, before)| stride * before);
        whole.ptr = whole.ptr.wrapping_offset(-before.sum::<isize>());
        let extent = |k: usize| match operand.strides[k] {
            0 => 1,
            _ => operand.extent(k, tile.extents[k]),
        };
        (boxed, whole, std::array::from_fn(extent))
    }

    /// A parameter in the memory of the launch, from a point on.
    fn memory(&self, param: usize, start: &Dims<usize>) -> End {
        let rank = self.run.layout.rank;
        End {
            ptr: self.run.address(param, start, rank, 0),
            strides: std::array::from_fn(
                |k| if k < rank { self.run.params[param].strides_bytes[k] } else { 0 },
            ),
        }
    }

    /// Goes through two boxes, sheet by sheet, with the rows and lanes of each sheet.
    fn sheets(
        &self,
        a: End,
        b: End,
        down: usize,
        extents: &Dims<usize>,
        mut visit: impl FnMut(Sheet, Sheet, (usize, usize)),
    ) {
        let (rank, inner) = (self.run.layout.rank, self.run.layout.inner());
        let (lanes, rows) = (extents[inner], if down == inner { 1 } else { extents[down] });
        let mut sheets = Tile { start: [0; MAX_RANK], extents: *extents };
        (sheets.extents[inner], sheets.extents[down]) = (1, 1);
        let mut index = sheets.start;
        loop {
            visit(a.sheet(&index, down, inner), b.sheet(&index, down, inner), (rows, lanes));
            if !advance(&mut index, &sheets, rank) {
                break;
            }
        }
    }
}

/// One end of a move: the first element, and the bytes to the next along each dimension of the layout.
#[derive(Clone, Copy)]
struct End {
    ptr: *mut u8,
    strides: Dims<isize>,
}

impl End {
    fn sheet(&self, index: &Dims<usize>, down: usize, inner: usize) -> Sheet {
        let moved: isize = self.strides.iter().zip(index).map(|(stride, &i)| stride * i as isize).sum();
        let ptr = self.ptr.wrapping_offset(moved);
        Sheet { ptr, down: if down == inner { 0 } else { self.strides[down] }, along: self.strides[inner] }
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

/// What the launch moves, if it does nothing else, and if boxes would not help: they let dense outputs be
/// written past the caches.
fn moves(task: &HostLaunch<'_>, run: &Run<'_>, far: &[usize]) -> Option<Vec<Moved>> {
    let moved = |copy: &CopiedParam| {
        let (from, to) = (copy.from.param as usize, copy.to as usize);
        let boxed = run.stream && !far.contains(&to);
        if boxed || task.kernel.params[from].access != Access::In {
            return None;
        }
        let strides = &task.launch.views[from].strides;
        let away: i64 = strides.iter().zip(&copy.from.offsets).map(|(&s, &d)| s * i64::from(d)).sum();
        let away = away as isize * run.params[from].element_bytes as isize;
        let turned = |p: usize| is_turned(&run.layout, p);
        let down = nearest(&run.layout, if turned(to) { to } else { from });
        Some(Moved { from, away, to, down })
    };
    task.footprint.copies()?.iter().map(moved).collect()
}

/// Do a parameter's neighbours lie nearer along another dimension than the innermost?
fn is_turned(layout: &Layout, p: usize) -> bool {
    let (down, inner, strides) = (nearest(layout, p), layout.inner(), &layout.strides[p]);
    down != inner && strides[down] != 0 && strides[down].unsigned_abs() < strides[inner].unsigned_abs()
}

/// The dimension other than the innermost along which a parameter's neighbours lie nearest; the one before
/// the innermost if there is none that they are apart in.
fn nearest(layout: &Layout, p: usize) -> usize {
    let apart = |k: &usize| layout.strides[p][*k] != 0 && layout.extents[*k] > 1;
    let outer = (0..layout.inner()).rev().filter(apart);
    outer.min_by_key(|&k| layout.strides[p][k].unsigned_abs()).unwrap_or(layout.inner().saturating_sub(1))
}

/// The extents of a tile in which all `far` operands use the lines that they touch.
fn tile(task: &HostLaunch<'_>, layout: &Layout, far: &[usize]) -> Dims<usize> {
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
fn operand(
    task: &HostLaunch<'_>,
    run: &Run<'_>,
    p: usize,
    tile: &Dims<usize>,
    line: usize,
) -> Option<Operand> {
    let layout = &run.layout;
    let bytes = run.params[p].element_bytes;
    let radius = task.footprint.params()[p].radius;
    let (mut before, mut behind) = ([0; MAX_RANK], [0; MAX_RANK]);
    for (dim, (low, high)) in radius.unwrap_or_default().into_iter().enumerate() {
        if (low, high) != (0, 0) {
            let k = layout.dim_of[dim]?;
            (before[k], behind[k]) = (-low as isize, high as isize);
        }
    }
    let mut operand = Operand {
        param: p,
        bytes,
        before,
        behind,
        extents: [1; MAX_RANK],
        strides: [0; MAX_RANK],
        down: nearest(layout, p),
        line,
        read: radius.is_some(),
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
