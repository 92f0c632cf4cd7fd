//! Batching of copies and sums of boxes: independent ones share a launch, as many as a device allows. Sums of
//! different cells share one too, and the sums of one cell keep their order, so results equal those of one
//! addition after the other, bit for bit.

use std::collections::HashMap;
use std::sync::Arc;

use partita_kernels::{DType, MAX_RANK, View};

use super::cell_loops::CellSet;
use crate::device::{Allocation, Device, DeviceKind};
use crate::error::Result;
use crate::plan::MoveOp;
use crate::program::copies::{BoxCopy, copy_boxes, copy_words, word};
use crate::program::{Command, CopyMode, Schedule};

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
