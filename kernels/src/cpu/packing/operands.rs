//! Launches with strided, reversed or transposed operands: they are packed, tile by tile, into contiguous
//! buffers that stay in cache, and outputs are unpacked from such buffers.
//!
//! Machine code and compiled loops then see contiguous rows. All offsets at which an operand is loaded share
//! one buffer, which has a margin as wide as the kernel's radius.

use super::copying::copy_rectangle;
use super::rectangles::Rectangle;
use crate::cpu::body::run::Run;
use crate::cpu::body::worker::{Worker, eval_tile};
use crate::cpu::jit_cache::JitCache;
use crate::cpu::launch::{Dims, HostLaunch, LaunchLayout, Memory, Tile, Tiling, advance, coordinate_dims};
use crate::cpu::loops::copy::fence;
use crate::cpu::loops::lanes::Line;
use crate::cpu::thread_pool::in_turns;
use crate::ir::{Access, Launch, MAX_RANK, View};
use crate::verify::CopiedParam;

/// Bytes of a cache line.
const LINE: usize = 64;
/// Bytes along the rows of a transposed operand that are used at a time: whole lines, and few enough that the
/// rows of a tile are many.
const TRANSPOSED_BYTES: usize = 256;
/// Lanes of a tile with a transposed operand, and of any other.
const TRANSPOSED_LANES: usize = 256;
const LANES: usize = 2048;
/// Most points of a tile, and bytes of its buffers.
const POINTS: usize = 1 << 14;
const BUFFERS: usize = 128 << 10;

/// An operand that is packed.
struct PackedOperand {
    param: usize,
    bytes: usize,
    /// The reach of its loads before and behind a point, per dimension of the layout.
    before: Dims<isize>,
    behind: Dims<isize>,
    /// Extents of the buffer of a whole tile; 1 in dimensions of stride 0.
    extents: Dims<usize>,
    /// Strides of the buffer in elements; 0 in dimensions of stride 0.
    strides: Dims<usize>,
    /// The dimension, other than the innermost, in which its stride is smallest.
    down: usize,
    /// The first cache line of its buffer.
    line: usize,
    read: bool,
    written: bool,
}

/// A copy from one parameter to another without buffers.
struct DirectCopy {
    from: usize,
    /// Bytes from the point to the element that is read.
    away: isize,
    to: usize,
    down: usize,
}

/// A launch with packed operands.
pub(in crate::cpu) struct PackedLaunch<'r> {
    task: &'r HostLaunch<'r>,
    jit: Option<&'r JitCache>,
    /// The launch on the original memory, and on the buffers.
    run: Run<'r>,
    launch: Launch,
    strides: Vec<Dims<i64>>,
    operands: Vec<PackedOperand>,
    /// Of a launch that only copies and needs no buffers.
    copies: Option<Vec<DirectCopy>>,
    tiling: Tiling,
    lines: usize,
}

// SAFETY: threads share the description of the launch; each writes its own buffers and, in the memory of the
// launch, the tiles that it alone was given. The caller of `Program::run` promises that nobody else writes
// there.
unsafe impl Sync for PackedLaunch<'_> {}

/// Whether neighbours in the innermost dimension are not contiguous.
fn is_strided(run: &Run<'_>, task: &HostLaunch<'_>, p: usize) -> bool {
    let param = &run.params[p];
    let splat = param.inner_bytes == 0 && task.kernel.params[p].access == Access::In;
    param.inner_bytes != param.element_bytes as isize && !splat
}

/// Dimensions that must not be merged with others: those in which neighbours are read, where buffers have a
/// margin, and those of coordinates.
fn unmerged_dims(task: &HostLaunch<'_>) -> Dims<bool> {
    let mut apart = coordinate_dims(task.kernel);
    (0..task.kernel.rank).for_each(|dim| apart[dim] |= task.footprint.reads_along(dim));
    apart
}

impl<'r> PackedLaunch<'r> {
    /// `None` if every operand of the `run` is contiguous, or if the launch is too small to gain.
    pub(in crate::cpu) fn new(
        task: &'r HostLaunch<'r>,
        jit: Option<&'r JitCache>,
        run: &Run<'r>,
    ) -> Option<PackedLaunch<'r>> {
        let (layout, params) = (&run.layout, 0..run.params.len());
        let strided: Vec<usize> = params.clone().filter(|&p| is_strided(run, task, p)).collect();
        let few = layout.points() < task.tuning.packed_points || layout.extents[layout.inner()] == 1;
        if few || strided.is_empty() {
            return None;
        }
        let first = task.code.stores.first().map(|s| s.param);
        let run = Run::placed(task, task.ordered(first, &unmerged_dims(task)), run.stream);
        // Machine code uses non-temporal stores for all outputs or none, and buffers are to stay in cache.
        let is_output = |p: usize| task.kernel.params[p].access != Access::In;
        let all = run.stream && strided.iter().any(|&p| is_output(p));
        let chosen = params.filter(|&p| strided.contains(&p) || (all && is_output(p)));
        let tile = tile(task, &run.layout, &strided);
        let copies = direct_copies(task, &run, &strided);
        let mut lines = 0;
        let mut operands = Vec::new();
        for p in chosen.filter(|_| copies.is_none()) {
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
        Some(PackedLaunch { task, jit, run, launch, strides, operands, copies, tiling, lines })
    }

    /// Runs the launch.
    ///
    /// # Safety
    /// The launch was checked against the memory; the rest is the promise of `Program::run`'s caller.
    pub(in crate::cpu) unsafe fn run(&self) {
        let help = self.task.parallelism(&self.run.layout);
        let points: usize = self.tiling.tile.iter().product();
        // Neighbouring tiles go to one thread.
        let some =
            (self.task.tuning.task_points / points).clamp(1, self.tiling.count().div_ceil(help.threads));
        let tiles = |n: usize| n * some..((n + 1) * some).min(self.tiling.count());
        in_turns(help, self.tiling.count().div_ceil(some), |turns| {
            let mut memory = vec![Line::ZERO; self.lines];
            let mut tiles = turns.flat_map(tiles).map(|n| self.tiling.get(n));
            match &self.copies {
                // SAFETY: the caller's promise; each tile is given out once.
                Some(copies) => tiles.for_each(|tile| unsafe { self.copy_tile(copies, &tile) }),
                // SAFETY: as above; the memory has the lines of all buffers.
                None => unsafe { self.serve(memory.as_mut_ptr(), &mut tiles) },
            }
            if self.run.stream {
                fence();
            }
        });
    }

    /// Computes tiles with buffers in this memory.
    ///
    /// # Safety
    /// As [`PackedLaunch::run`]; `memory` is valid for the lines of all buffers and used by nobody else.
    unsafe fn serve(&self, memory: *mut Line, tiles: &mut dyn Iterator<Item = Tile>) {
        let mut buffers: Vec<Memory> = self.task.memory.to_vec();
        for operand in &self.operands {
            let ptr = memory.wrapping_add(operand.line).cast::<u8>();
            buffers[operand.param] = Memory { ptr, len: operand.lines() * LINE / operand.bytes };
        }
        let written = self.operands.iter().any(|operand| operand.written);
        let task = HostLaunch { launch: &self.launch, memory: &buffers, ..*self.task };
        let layout = self.run.layout.with_strides(self.strides.clone());
        let run = Run::new(&task, layout, self.run.stream && !written);
        let rows = self.jit.and_then(|jit| jit.rows(&run));
        let mut worker = rows.is_none().then(|| Worker::new(&run));
        let mut table = Vec::new();
        for tile in tiles {
            // SAFETY: the caller's promise; a tile lies in the region, a buffer holds its tile.
            unsafe {
                for operand in &self.operands {
                    let ptr = buffers[operand.param].ptr;
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
                    self.unpack(operand, buffers[operand.param].ptr, &tile);
                }
            }
        }
    }

    /// Copies a tile from memory to memory.
    unsafe fn copy_tile(&self, copies: &[DirectCopy], tile: &Tile) {
        for copy in copies {
            let (to, mut from) = (self.memory(copy.to, &tile.start), self.memory(copy.from, &tile.start));
            from.ptr = from.ptr.wrapping_offset(copy.away);
            let bytes = self.run.params[copy.to].element_bytes;
            // SAFETY: the check proved the elements of the tile in memory, and nobody else writes them.
            self.rectangles(to, from, copy.down, &tile.extents, |to, from, size| unsafe {
                copy_rectangle(self.task.level, to, from, size, bytes, self.run.stream);
            });
        }
    }

    /// Fills a buffer with the elements that the tile reads.
    unsafe fn pack(&self, operand: &PackedOperand, into: *mut u8, tile: &Tile) {
        let (packed, whole, extents) = self.ends(operand, into, tile);
        // SAFETY: the check proved everything between the furthest reads of the tile in memory.
        self.rectangles(packed, whole, operand.down, &extents, |packed, whole, size| unsafe {
            copy_rectangle(self.task.level, packed, whole, size, operand.bytes, false);
        });
    }

    /// Writes a buffer's elements to the operand.
    unsafe fn unpack(&self, operand: &PackedOperand, from: *mut u8, tile: &Tile) {
        let (packed, whole, extents) = self.ends(operand, from, tile);
        // SAFETY: the check proved the tile's elements in memory, and nobody else writes them.
        self.rectangles(packed, whole, operand.down, &extents, |packed, whole, size| unsafe {
            copy_rectangle(self.task.level, whole, packed, size, operand.bytes, self.run.stream);
        });
    }

    /// A buffer, the part of the operand that it holds, and their extents.
    fn ends(&self, operand: &PackedOperand, buffer: *mut u8, tile: &Tile) -> (BoxView, BoxView, Dims<usize>) {
        let strides = operand.strides.map(|stride| (stride * operand.bytes) as isize);
        let packed = BoxView { ptr: buffer, strides };
        let mut whole = self.memory(operand.param, &tile.start);
        let before = whole.strides.iter().zip(&operand.before).map(|(stride, before)| stride * before);
        whole.ptr = whole.ptr.wrapping_offset(-before.sum::<isize>());
        let extent = |k: usize| match operand.strides[k] {
            0 => 1,
            _ => operand.extent(k, tile.extents[k]),
        };
        (packed, whole, std::array::from_fn(extent))
    }

    /// A parameter in the memory of the launch, from a point on.
    fn memory(&self, param: usize, start: &Dims<usize>) -> BoxView {
        let rank = self.run.layout.rank;
        BoxView {
            ptr: self.run.address(param, start, rank, 0),
            strides: std::array::from_fn(
                |k| if k < rank { self.run.params[param].strides_bytes[k] } else { 0 },
            ),
        }
    }

    /// Visits two boxes, rectangle by rectangle, with the rows and lanes of each.
    fn rectangles(
        &self,
        a: BoxView,
        b: BoxView,
        down: usize,
        extents: &Dims<usize>,
        mut visit: impl FnMut(Rectangle, Rectangle, (usize, usize)),
    ) {
        let (rank, inner) = (self.run.layout.rank, self.run.layout.inner());
        let (lanes, rows) = (extents[inner], if down == inner { 1 } else { extents[down] });
        let mut rectangles = Tile { start: [0; MAX_RANK], extents: *extents };
        (rectangles.extents[inner], rectangles.extents[down]) = (1, 1);
        let mut index = rectangles.start;
        loop {
            visit(a.rectangle(&index, down, inner), b.rectangle(&index, down, inner), (rows, lanes));
            if !advance(&mut index, &rectangles, rank) {
                break;
            }
        }
    }
}

/// A box of elements: the first one, and the bytes to the next along each dimension of the layout.
#[derive(Clone, Copy)]
struct BoxView {
    ptr: *mut u8,
    strides: Dims<isize>,
}

impl BoxView {
    fn rectangle(&self, index: &Dims<usize>, down: usize, inner: usize) -> Rectangle {
        let moved: isize = self.strides.iter().zip(index).map(|(stride, &i)| stride * i as isize).sum();
        let ptr = self.ptr.wrapping_offset(moved);
        Rectangle {
            ptr,
            down: if down == inner { 0 } else { self.strides[down] },
            along: self.strides[inner],
        }
    }
}

impl PackedOperand {
    /// Elements of a buffer along dimension `k` for so many points.
    fn extent(&self, k: usize, points: usize) -> usize {
        (points as isize + self.before[k] + self.behind[k]) as usize
    }

    /// Cache lines of the buffer.
    fn lines(&self) -> usize {
        let last: usize = self.extents.iter().zip(&self.strides).map(|(n, stride)| (n - 1) * stride).sum();
        ((last + 1) * self.bytes).div_ceil(LINE) + 1
    }

    /// Bytes from the buffer to where the layout's point 0 would be, for a tile that starts there.
    fn corner(&self, start: &Dims<usize>) -> isize {
        let moved = |k: usize| self.strides[k] as isize * (self.before[k] - start[k] as isize);
        (0..MAX_RANK).map(moved).sum::<isize>() * self.bytes as isize
    }
}

/// The copies of a launch that only copies. Large contiguous outputs go through buffers instead, because
/// non-temporal stores need whole rows.
fn direct_copies(task: &HostLaunch<'_>, run: &Run<'_>, strided: &[usize]) -> Option<Vec<DirectCopy>> {
    let direct = |copy: &CopiedParam| {
        let (from, to) = (copy.from.param as usize, copy.to as usize);
        let buffered = run.stream && !strided.contains(&to);
        if buffered || task.kernel.params[from].access != Access::In {
            return None;
        }
        let strides = &task.launch.views[from].strides;
        let away: i64 = strides.iter().zip(&copy.from.offsets).map(|(&s, &d)| s * i64::from(d)).sum();
        let away = away as isize * run.params[from].element_bytes as isize;
        let transposed = |p: usize| is_transposed(&run.layout, p);
        let down = nearest(&run.layout, if transposed(to) { to } else { from });
        Some(DirectCopy { from, away, to, down })
    };
    task.footprint.copies()?.iter().map(direct).collect()
}

/// Whether a parameter's stride is smaller in another dimension than in the innermost.
fn is_transposed(layout: &LaunchLayout, p: usize) -> bool {
    let (down, inner, strides) = (nearest(layout, p), layout.inner(), &layout.strides[p]);
    down != inner && strides[down] != 0 && strides[down].unsigned_abs() < strides[inner].unsigned_abs()
}

/// The dimension other than the innermost in which a parameter's stride is smallest but not 0; the one before
/// the innermost if there is none.
fn nearest(layout: &LaunchLayout, p: usize) -> usize {
    let apart = |k: &usize| layout.strides[p][*k] != 0 && layout.extents[*k] > 1;
    let outer = (0..layout.inner()).rev().filter(apart);
    outer.min_by_key(|&k| layout.strides[p][k].unsigned_abs()).unwrap_or(layout.inner().saturating_sub(1))
}

/// The extents of a tile in which all `strided` operands use the lines that they touch.
fn tile(task: &HostLaunch<'_>, layout: &LaunchLayout, strided: &[usize]) -> Dims<usize> {
    let inner = layout.inner();
    let mut tile = [1; MAX_RANK];
    let bytes: usize = strided.iter().map(|&p| task.kernel.params[p].dtype.size_bytes()).sum();
    let points = (BUFFERS / bytes).clamp(1, POINTS).min(task.tuning.task_points);
    let mut transposed = false;
    for &p in strided {
        if is_transposed(layout, p) {
            let down = nearest(layout, p);
            transposed = true;
            let rows = TRANSPOSED_BYTES / task.kernel.params[p].dtype.size_bytes();
            tile[down] = tile[down].max(rows.min(points / 16).max(1)).min(layout.extents[down]);
        }
    }
    let lanes = if transposed { TRANSPOSED_LANES } else { LANES };
    for k in (0..layout.rank).rev() {
        let left = (points / tile.iter().product::<usize>().max(1)).max(1);
        let most = if k == inner { lanes.min(left) } else { left * tile[k] };
        tile[k] = tile[k].max(most).min(layout.extents[k]);
    }
    tile
}

/// The packing of a parameter; `None` if it is read beside the point in a dimension that the layout dropped.
fn operand(
    task: &HostLaunch<'_>,
    run: &Run<'_>,
    p: usize,
    tile: &Dims<usize>,
    line: usize,
) -> Option<PackedOperand> {
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
    let mut operand = PackedOperand {
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
        if layout.strides[p][k] == 0 {
            continue;
        }
        operand.extents[k] = operand.extent(k, tile[k]);
        operand.strides[k] = stride;
        stride *= operand.extents[k];
        if k == layout.inner() {
            // An odd number of cache lines per row, so that rows do not map to the same cache sets.
            stride = stride.next_multiple_of(LINE / bytes) + LINE / bytes;
        }
    }
    Some(operand)
}
