//! Batching of box copies and sums: independent copies share a launch, as many as a device allows.

use std::sync::Arc;

use partita_kernels::{DType, MAX_RANK, View};

use super::selection::{Batching, batching};
use crate::device::{Allocation, Device};
use crate::error::Result;
use crate::plan::MoveOp;
use crate::program::copies::{BoxCopy, copy_boxes, copy_words, word};
use crate::program::{CopyMode, Schedule};

/// A box that is copied or added, and may share its launch with others.
pub(super) struct DeviceCopy {
    pub device: Device,
    pub extents: Vec<i64>,
    pub dtype: DType,
    pub copy: BoxCopy,
}

/// How many open batches are searched for a copy, so that many shapes do not take quadratic time.
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
