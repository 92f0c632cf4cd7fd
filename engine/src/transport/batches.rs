//! Batching of copies and sums of boxes: independent ones share a launch, as many as a device allows. Sums of
//! different cells share one too, and the sums of one cell keep their order, so results equal those of one
//! addition after the other, bit for bit.
//!
//! The cells of a move: as nested loops over memory, which a copy kernel runs ([`CellLoops`]; loops that form
//! one stride are merged, so contiguous faces are recognised), and as sets that may overlap ([`CellSet`]).

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use partita_kernels::{DType, MAX_RANK, View};

use crate::device::{Allocation, Device, DeviceKind};
use crate::error::Result;
use crate::index::{Region, check_room};
use crate::plan::{AxisSubset, Move, MoveOp};
use crate::program::copies::{AxisOffsets, BoxCopy, copy_boxes, copy_words, word};
use crate::program::{Command, CopyMode, Place, Schedule};
/// The limits by which copies of boxes are put into launches on one device.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Batching {
    /// At most so many copies per launch.
    pub copies: usize,
    /// Whether two copies of a launch may touch different cells of one memory, if one of them writes.
    pub shared_memory: bool,
    /// Copies of at most so many bytes share a launch whatever their extents, and types of 4 and of 8 bytes
    /// among each other; 0 if there is no such launch.
    pub small_bytes: i64,
}

/// The choice for a device: as many as a kernel can have arrays. On a GPU that saves launches of a few
/// microseconds each. On the host, halos of 16 parts of 16 x 16 cells took 0.31 microseconds per face
/// rather than 0.64, and a large launch uses non-temporal stores: slabs to pencils, 8192 x 8192 f32 in 4
/// parts, went from half the speed of a copy to all of it (on two busy cores; see `exchange_speed`).
///
/// Two cells of one memory are not written by two parameters where nothing promises that this works: WebGPU
/// refuses it, and the host requires memories that do not overlap.
///
/// On CUDA copies of any shapes share a launch, up to a size where copying takes longer than launching
/// does; in a launch of their own, larger ones move 16 bytes per instruction. That size is an estimate, not
/// a measurement.
pub fn batching(device: &Device) -> Batching {
    let most = device.max_params() / 2;
    match device.kind() {
        DeviceKind::Host | DeviceKind::Wgpu => {
            Batching { copies: most.max(1), shared_memory: false, small_bytes: 0 }
        }
        DeviceKind::Cuda => Batching { copies: most, shared_memory: true, small_bytes: 4 << 20 },
    }
}

/// A box that is copied or added, and may share its launch with others.
pub(super) struct DeviceCopy {
    pub device: Device,
    pub extents: Vec<i64>,
    pub dtype: DType,
    pub copy: BoxCopy,
}

/// The number of open batches that are searched for a copy: many shapes must not take quadratic time.
const SEARCHED_BATCHES: usize = 32;

impl DeviceCopy {
    /// Whether it may share a launch with copies of other shapes.
    fn is_small(&self) -> bool {
        let bytes = self.extents.iter().product::<i64>() * self.dtype.size_bytes() as i64;
        // One more loop may be needed within its elements.
        bytes <= batching(&self.device).small_bytes && self.extents.len() < MAX_RANK
    }
}

/// The launches of independent copies or sums, as few as the devices allow.
pub(super) fn batched(copies: Vec<DeviceCopy>, op: MoveOp) -> Result<Schedule> {
    let (small, mut large): (Vec<DeviceCopy>, Vec<DeviceCopy>) =
        copies.into_iter().partition(DeviceCopy::is_small);
    // A launch that copies from one memory to many reads whole rows of it, in order.
    large.sort_by_key(|copy| copy.copy.from.0.id);
    let mut schedule = by_extents(large, op)?;
    let mut groups: Vec<(DType, Vec<DeviceCopy>)> = Vec::new();
    for copy in small {
        let joined = groups.iter_mut().find_map(|(words, group)| {
            let words_of_both = match op {
                // Bits are copied whatever they mean.
                MoveOp::Copy => word(*words, copy.dtype),
                MoveOp::Add => Some(*words).filter(|dtype| *dtype == copy.dtype),
            };
            Some((words, words_of_both.filter(|_| group[0].device == copy.device)?, group))
        });
        match joined {
            Some((words, words_of_both, group)) => {
                *words = words_of_both;
                group.push(copy);
            }
            None => groups.push((copy.dtype, vec![copy])),
        }
    }
    for (words, group) in groups {
        let first = &group[0];
        let alike = group.iter().all(|p| (&p.extents, p.dtype) == (&first.extents, first.dtype));
        // The launch for boxes that are alike copies faster.
        if alike && group.len() <= batching(&first.device).copies {
            schedule.extend(by_extents(group, op)?);
        } else {
            let boxes: Vec<_> = group.iter().map(|p| (&p.extents[..], p.dtype, &p.copy)).collect();
            let how = CopyMode { dtype: words, add: op == MoveOp::Add };
            schedule.push(copy_words(&first.device, how, &boxes)?);
        }
    }
    Ok(schedule)
}

/// Boxes of the same extents share a launch.
fn by_extents(copies: Vec<DeviceCopy>, op: MoveOp) -> Result<Schedule> {
    let mut batches: Vec<(Batching, Vec<DeviceCopy>)> = Vec::new();
    // Those that are not full yet.
    let mut open: Vec<usize> = Vec::new();
    for copy in copies {
        let fits = |&&at: &&usize| {
            let (batching, batch) = &batches[at];
            let DeviceCopy { device, extents, dtype, .. } = &batch[0];
            let alike = (device, extents, dtype) == (&copy.device, &copy.extents, &copy.dtype);
            alike
                && (batching.shared_memory
                    || batch.iter().all(|other| are_independent(&other.copy, &copy.copy)))
        };
        match open.iter().rev().take(SEARCHED_BATCHES).find(fits).copied() {
            Some(at) => {
                let (batching, batch) = &mut batches[at];
                batch.push(copy);
                if batch.len() == batching.copies {
                    open.retain(|&other| other != at);
                }
            }
            None => {
                let batching = batching(&copy.device);
                if batching.copies > 1 {
                    open.push(batches.len());
                }
                batches.push((batching, vec![copy]));
            }
        }
    }
    let launch = |(_, batch): &(Batching, Vec<DeviceCopy>)| {
        let copies: Vec<BoxCopy> = batch.iter().map(|copy| copy.copy.clone()).collect();
        let DeviceCopy { device, extents, dtype, .. } = &batch[0];
        copy_boxes(device, extents, &copies, CopyMode { dtype: *dtype, add: op == MoveOp::Add })
    };
    batches.iter().map(launch).collect()
}

/// Whether neither writes memory that the other uses.
fn are_independent(a: &BoxCopy, b: &BoxCopy) -> bool {
    let id = |end: &(Arc<Allocation>, View)| end.0.id;
    id(&a.to) != id(&b.to) && id(&a.to) != id(&b.from) && id(&a.from) != id(&b.to)
}

/// A sum of boxes. Listed cells are gathered into a temporary box for it.
pub(super) struct BoxSum {
    pub copy: DeviceCopy,
    /// The memories of the cells, by number, and which they are, where that is known.
    pub reads: (u64, Option<CellSet>),
    pub writes: (u64, Option<CellSet>),
    /// Gathers listed cells into boxes.
    pub before: Schedule,
    /// Scatters the sums to the listed cells.
    pub after: Schedule,
}

/// A copy that must come after earlier ones that use the same memory.
pub(super) enum OrderedCopy {
    /// A sum.
    Sum(Box<BoxSum>),
    /// Anything else: after all that is before it, and before all that is after.
    Barrier(Command),
}

/// The commands of a queue. Sums between two other commands are batched.
pub(super) fn in_order(queue: Vec<OrderedCopy>) -> Result<Schedule> {
    let (mut schedule, mut sums) = (Schedule::new(), Vec::new());
    for one in queue {
        match one {
            OrderedCopy::Sum(sum) => sums.push(*sum),
            OrderedCopy::Barrier(command) => {
                schedule.extend(batches(std::mem::take(&mut sums))?);
                schedule.push(command);
            }
        }
    }
    schedule.extend(batches(sums)?);
    Ok(schedule)
}

/// Puts every sum into the first batch after those of all earlier sums with which it shares a written cell.
fn batches(sums: Vec<BoxSum>) -> Result<Schedule> {
    let mut batches: Vec<Vec<BoxSum>> = Vec::new();
    let mut uses: HashMap<u64, Vec<CellUse>> = HashMap::new();
    for sum in sums {
        let ends = [(&sum.reads, false), (&sum.writes, true)];
        let after = |((memory, cells), writes): &(&(u64, Option<CellSet>), bool)| {
            let earlier = uses.get(memory).into_iter().flatten();
            let conflicts = earlier.filter(|one| {
                (one.writes || *writes) && CellSet::overlaps(one.cells.as_ref(), cells.as_ref())
            });
            conflicts.map(|one| one.batch + 1).max().unwrap_or(0)
        };
        let batch = ends.iter().map(after).max().unwrap_or(0);
        for ((memory, cells), writes) in ends {
            let of_memory = uses.entry(*memory).or_default();
            // The last use of the same cells stands for those before.
            match of_memory.iter_mut().find(|one| (&one.cells, one.writes) == (cells, writes)) {
                Some(known) => known.batch = known.batch.max(batch),
                None => of_memory.push(CellUse { cells: cells.clone(), writes, batch }),
            }
        }
        match batches.get_mut(batch) {
            Some(members) => members.push(sum),
            None => batches.push(vec![sum]),
        }
    }
    let mut schedule = Schedule::new();
    for mut batch in batches {
        batch.iter_mut().for_each(|sum| schedule.append(&mut sum.before));
        let after: Schedule = batch.iter_mut().flat_map(|sum| std::mem::take(&mut sum.after)).collect();
        schedule.extend(batched(batch.into_iter().map(|sum| sum.copy).collect(), MoveOp::Add)?);
        schedule.extend(after);
    }
    Ok(schedule)
}

/// In which batch cells of a memory are used.
struct CellUse {
    cells: Option<CellSet>,
    writes: bool,
    batch: usize,
}

/// One end of a move: where it begins in its memory, and the offsets of each loop.
#[derive(Clone, Debug)]
pub(super) struct MoveEnd {
    pub offset: i64,
    pub offsets: Vec<AxisOffsets>,
}

impl MoveEnd {
    pub fn source(m: &Move, place: &Place) -> Result<MoveEnd> {
        MoveEnd::of(m, place, &m.from, |pair| pair.0)
    }

    pub fn target(m: &Move, place: &Place) -> Result<MoveEnd> {
        MoveEnd::of(m, place, &m.to, |pair| pair.1)
    }

    /// Memory that has the cells one after the other, from element `first` on.
    pub fn packed(extents: &[i64], first: i64) -> MoveEnd {
        let mut step = 1;
        let mut offsets: Vec<AxisOffsets> = Vec::with_capacity(extents.len());
        for extent in extents.iter().rev() {
            offsets.push(AxisOffsets::Strided(step));
            step *= extent;
        }
        offsets.reverse();
        MoveEnd { offset: first, offsets }
    }

    fn of(m: &Move, place: &Place, region: &Region, side: impl Fn((i64, i64)) -> i64) -> Result<MoveEnd> {
        let strides = place.strides();
        let mut offsets = Vec::new();
        for (d, &stride) in strides.iter().enumerate() {
            match m.subsets.as_ref().map(|subsets| &subsets[d]) {
                None => offsets.push(AxisOffsets::Strided(stride)),
                Some(AxisSubset::Runs { from_step, to_step, .. }) => {
                    offsets.extend([
                        AxisOffsets::Strided(stride * side((*from_step, *to_step))),
                        AxisOffsets::Strided(stride),
                    ]);
                }
                Some(list @ AxisSubset::List(_)) => {
                    // A list and the shared one that is made of it.
                    check_room("a move of listed cells", 3 * list.len() * size_of::<i64>() as i64)?;
                    let listed = (0..list.len()).map(|k| stride * side(list.nth(k))).collect();
                    offsets.push(AxisOffsets::Listed(listed));
                }
            }
        }
        Ok(MoveEnd { offset: place.view(region.start()).offset, offsets })
    }

    /// The end as a view, if no loop is a list.
    pub fn view(&self) -> Option<View> {
        let step = |offsets: &AxisOffsets| match offsets {
            AxisOffsets::Strided(step) => Some(*step),
            AxisOffsets::Listed(_) => None,
        };
        Some(View { offset: self.offset, strides: self.offsets.iter().map(step).collect::<Option<_>>()? })
    }
}

/// The turns of the loops of a move, those of the first dimension outermost; its ends have as many offsets.
pub(super) fn extents(m: &Move) -> Vec<i64> {
    let Some(subsets) = &m.subsets else { return m.from.extents().to_vec() };
    let loops = |subset: &AxisSubset| match subset {
        AxisSubset::Runs { run, count, .. } => vec![*count, *run],
        AxisSubset::List(_) => vec![subset.len()],
    };
    subsets.iter().flat_map(loops).collect()
}

/// A nest of loops over the cells of both ends; the last loop is the innermost.
#[derive(Clone, Debug)]
pub(super) struct CellLoops {
    pub extents: Vec<i64>,
    pub from: MoveEnd,
    pub to: MoveEnd,
}

impl CellLoops {
    /// The shortest nest for two ends; several nests where a kernel could not have as many loops.
    pub fn between(extents: &[i64], from: MoveEnd, to: MoveEnd) -> Vec<CellLoops> {
        let mut nest = CellLoops {
            extents: Vec::new(),
            from: MoveEnd { offsets: Vec::new(), ..from },
            to: MoveEnd { offsets: Vec::new(), ..to },
        };
        for ((&extent, from), to) in extents.iter().zip(from.offsets).zip(to.offsets) {
            nest.push(extent, from, to);
        }
        nest.split()
    }

    /// One more loop, inside of all so far.
    fn push(&mut self, extent: i64, from: AxisOffsets, to: AxisOffsets) {
        if extent == 1 {
            self.from.offset += from.nth(0);
            self.to.offset += to.nth(0);
            return;
        }
        let joins = |outer: Option<&AxisOffsets>, inner: &AxisOffsets| match (outer, inner) {
            (Some(AxisOffsets::Strided(outer)), AxisOffsets::Strided(inner)) => *outer == inner * extent,
            _ => false,
        };
        match self.extents.last_mut() {
            Some(last) if joins(self.from.offsets.last(), &from) && joins(self.to.offsets.last(), &to) => {
                *last *= extent;
                self.from.offsets.pop();
                self.to.offsets.pop();
            }
            _ => self.extents.push(extent),
        }
        self.from.offsets.push(from);
        self.to.offsets.push(to);
    }

    fn split(self) -> Vec<CellLoops> {
        if self.extents.len() <= MAX_RANK {
            return vec![self];
        }
        let inner = |end: &MoveEnd, k: i64| MoveEnd {
            offset: end.offset + end.offsets[0].nth(k),
            offsets: end.offsets[1..].to_vec(),
        };
        let each = |k: i64| CellLoops {
            extents: self.extents[1..].to_vec(),
            from: inner(&self.from, k),
            to: inner(&self.to, k),
        };
        (0..self.extents[0]).flat_map(|k| each(k).split()).collect()
    }

    /// The number of cells.
    pub fn count(&self) -> i64 {
        self.extents.iter().product()
    }
}

/// The first element of cells that lie one after the other in C order.
pub(super) fn contiguous(extents: &[i64], end: &MoveEnd) -> Option<i64> {
    let nest = CellLoops::between(extents, end.clone(), MoveEnd::packed(extents, 0));
    let [CellLoops { from, .. }] = &nest[..] else { return None };
    match &from.offsets[..] {
        [] | [AxisOffsets::Strided(1)] => Some(from.offset),
        _ => None,
    }
}

/// Cells of a memory that something uses: of a box, in the coordinates in which the memory holds `stored`,
/// those that are listed along some dimensions.
#[derive(Clone, PartialEq)]
pub(super) struct CellSet {
    stored: Region,
    bounds: Region,
    /// By dimension, ascending; all of the bounds where there is no list.
    listed: Vec<Option<Vec<i64>>>,
}

impl CellSet {
    /// The cells that a move reads.
    pub fn source(m: &Move, place: &Place) -> CellSet {
        CellSet::of(m, place, &m.from, |pair| pair.0)
    }

    /// The cells that a move writes.
    pub fn target(m: &Move, place: &Place) -> CellSet {
        CellSet::of(m, place, &m.to, |pair| pair.1)
    }

    fn of(m: &Move, place: &Place, bounds: &Region, side: impl Fn((i64, i64)) -> i64) -> CellSet {
        let listed = |(d, subset): (usize, &AxisSubset)| match subset {
            AxisSubset::Runs { .. } => None,
            AxisSubset::List(_) => {
                let mut all: Vec<i64> =
                    (0..subset.len()).map(|k| bounds.start()[d] + side(subset.nth(k))).collect();
                all.sort_unstable();
                Some(all)
            }
        };
        let listed = m.subsets.iter().flat_map(|subsets| subsets.iter().enumerate().map(listed)).collect();
        CellSet { stored: place.stored, bounds: *bounds, listed }
    }

    /// Whether both may have a cell of one memory; an unknown set may have any.
    pub fn overlaps(one: Option<&CellSet>, other: Option<&CellSet>) -> bool {
        let (Some(one), Some(other)) = (one, other) else { return true };
        if one.stored != other.stored {
            return true;
        }
        let common = one.bounds.intersect(&other.bounds);
        !common.is_empty()
            && (0..common.rank())
                .all(|d| one.shares_coordinate(other, d, common.start()[d]..common.stop()[d]))
    }

    /// Whether both have a coordinate along a dimension, within the intersection of their bounds.
    fn shares_coordinate(&self, other: &CellSet, d: usize, common: Range<i64>) -> bool {
        let list = |cells: &CellSet| cells.listed.get(d).cloned().flatten();
        match (list(self), list(other)) {
            (None, None) => true,
            (Some(list), None) | (None, Some(list)) => list.iter().any(|at| common.contains(at)),
            (Some(one), Some(other)) => one.iter().any(|at| other.binary_search(at).is_ok()),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn steps(steps: &[i64]) -> Vec<AxisOffsets> {
        steps.iter().map(|&step| AxisOffsets::Strided(step)).collect()
    }

    #[test]
    fn loops_that_are_one_walk_are_merged() {
        let whole = MoveEnd { offset: 5, offsets: steps(&[12, 4, 1]) };
        assert_eq!(contiguous(&[2, 3, 4], &whole), Some(5));
        assert_eq!(contiguous(&[2, 3, 3], &whole), None);
        assert_eq!(contiguous(&[1, 2, 4], &whole), Some(5));
        assert_eq!(contiguous(&[2, 1, 1], &whole), None);
        let cells = CellLoops::between(&[2, 3, 3], whole, MoveEnd::packed(&[2, 3, 3], 0));
        assert_eq!((&cells[0].extents, &cells[0].to.offsets), (&vec![6, 3], &steps(&[3, 1])));
        assert_eq!(cells[0].from.offsets, steps(&[4, 1]));
    }

    #[test]
    fn a_loop_that_runs_once_is_only_a_beginning() {
        let listed =
            MoveEnd { offset: 5, offsets: vec![AxisOffsets::Listed([7].into()), AxisOffsets::Strided(1)] };
        let cells = CellLoops::between(&[1, 4], listed, MoveEnd::packed(&[1, 4], 2));
        assert_eq!((cells[0].from.offset, cells[0].to.offset, &cells[0].extents), (12, 2, &vec![4]));
    }

    #[test]
    fn more_loops_than_a_kernel_has_become_several_nests() {
        let extents = [2; 10];
        let far =
            MoveEnd { offset: 0, offsets: (0..10).map(|k| AxisOffsets::Strided(3i64.pow(k))).collect() };
        let nests = CellLoops::between(&extents, far, MoveEnd::packed(&extents, 0));
        assert_eq!((nests.len(), nests.iter().map(CellLoops::count).sum::<i64>()), (4, 1 << 10));
        assert_eq!(nests.iter().map(|nest| nest.to.offset).collect::<Vec<_>>(), [0, 256, 512, 768]);
    }
}
