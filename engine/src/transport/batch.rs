//! Copies and sums of boxes, put together into launches. Knows which memories a launch may touch; knows no
//! plans.

use std::sync::Arc;

use partita_kernels::{DType, MAX_RANK, View};

use super::path::{Batching, batching};
use crate::device::{Allocation, Device};
use crate::error::Result;
use crate::plan::MoveOp;
use crate::program::copies::{BoxCopy, copy_boxes, copy_words, word};
use crate::program::{Copying, Schedule};

/// A box that is copied or added, and may share its launch with others.
pub(super) struct Piece {
    pub device: Device,
    pub extents: Vec<i64>,
    pub dtype: DType,
    pub copy: BoxCopy,
}

/// Among so many open batches a place is looked for, so that many shapes do not take quadratic time.
const LOOKED_AT: usize = 32;

impl Piece {
    /// Whether it may share a launch with copies of other shapes.
    fn is_small(&self) -> bool {
        let bytes = self.extents.iter().product::<i64>() * self.dtype.size_bytes() as i64;
        // One more loop may be needed within its elements.
        bytes <= batching(&self.device).small_bytes && self.extents.len() < MAX_RANK
    }
}

/// Copies, or sums, of which none writes what another uses, put together into as few launches as the devices
/// allow.
pub(super) fn batched(pieces: Vec<Piece>, op: MoveOp) -> Result<Schedule> {
    let (small, mut large): (Vec<Piece>, Vec<Piece>) = pieces.into_iter().partition(Piece::is_small);
    // A launch that copies from one memory to many reads whole rows of it, in order.
    large.sort_by_key(|piece| piece.copy.from.0.id);
    let mut schedule = by_extents(large, op)?;
    let mut groups: Vec<(DType, Vec<Piece>)> = Vec::new();
    for piece in small {
        let joined = groups.iter_mut().find_map(|(words, group)| {
            let words_of_both = match op {
                // Bits are copied whatever they mean.
                MoveOp::Copy => word(*words, piece.dtype),
                MoveOp::Add => Some(*words).filter(|dtype| *dtype == piece.dtype),
            };
            Some((words, words_of_both.filter(|_| group[0].device == piece.device)?, group))
        });
        match joined {
            Some((words, words_of_both, group)) => {
                *words = words_of_both;
                group.push(piece);
            }
            None => groups.push((piece.dtype, vec![piece])),
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
            let how = Copying { dtype: words, add: op == MoveOp::Add };
            schedule.push(copy_words(&first.device, how, &boxes)?);
        }
    }
    Ok(schedule)
}

/// Boxes of the same extents share a launch.
fn by_extents(pieces: Vec<Piece>, op: MoveOp) -> Result<Schedule> {
    let mut batches: Vec<(Batching, Vec<Piece>)> = Vec::new();
    // Those that are not full yet.
    let mut open: Vec<usize> = Vec::new();
    for piece in pieces {
        let fits = |&&at: &&usize| {
            let (batching, batch) = &batches[at];
            let Piece { device, extents, dtype, .. } = &batch[0];
            let alike = (device, extents, dtype) == (&piece.device, &piece.extents, &piece.dtype);
            alike && (batching.shared_memory || batch.iter().all(|other| apart(&other.copy, &piece.copy)))
        };
        match open.iter().rev().take(LOOKED_AT).find(fits).copied() {
            Some(at) => {
                let (batching, batch) = &mut batches[at];
                batch.push(piece);
                if batch.len() == batching.copies {
                    open.retain(|&other| other != at);
                }
            }
            None => {
                let batching = batching(&piece.device);
                if batching.copies > 1 {
                    open.push(batches.len());
                }
                batches.push((batching, vec![piece]));
            }
        }
    }
    let launch = |(_, batch): &(Batching, Vec<Piece>)| {
        let copies: Vec<BoxCopy> = batch.iter().map(|piece| piece.copy.clone()).collect();
        let Piece { device, extents, dtype, .. } = &batch[0];
        copy_boxes(device, extents, &copies, Copying { dtype: *dtype, add: op == MoveOp::Add })
    };
    batches.iter().map(launch).collect()
}

/// Whether neither writes memory that the other uses.
fn apart(a: &BoxCopy, b: &BoxCopy) -> bool {
    let id = |end: &(Arc<Allocation>, View)| end.0.id;
    id(&a.to) != id(&b.to) && id(&a.to) != id(&b.from) && id(&a.from) != id(&b.to)
}
