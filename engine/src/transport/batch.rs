//! Copies of boxes, put together into launches. Knows which memories a launch may touch; knows no plans.

use std::sync::Arc;

use partita_kernels::{DType, MAX_RANK, View};

use super::path::{Batching, batching};
use crate::device::{Allocation, Device};
use crate::error::Result;
use crate::program::copies::{BoxCopy, copy_boxes, copy_words, word};
use crate::program::{Copying, Schedule};

/// A box copy that may share its launch with others.
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

/// Copies put together into as few launches as the devices allow.
pub(super) fn batched(pieces: Vec<Piece>) -> Result<Schedule> {
    let (small, mut large): (Vec<Piece>, Vec<Piece>) = pieces.into_iter().partition(Piece::is_small);
    // A launch that copies from one memory to many reads whole rows of it, in order.
    large.sort_by_key(|piece| piece.copy.from.0.id);
    let mut schedule = by_extents(large)?;
    let mut groups: Vec<(usize, Vec<Piece>)> = Vec::new();
    for piece in small {
        let size = piece.dtype.size_bytes();
        let joined = groups.iter_mut().find_map(|(words, group)| {
            let words_of_both = word(*words, size).filter(|_| group[0].device == piece.device)?;
            Some((words, words_of_both, group))
        });
        match joined {
            Some((words, words_of_both, group)) => {
                *words = words_of_both;
                group.push(piece);
            }
            None => groups.push((size, vec![piece])),
        }
    }
    for (word, group) in groups {
        let first = &group[0];
        let alike = group.iter().all(|p| (&p.extents, p.dtype) == (&first.extents, first.dtype));
        // The launch for boxes that are alike copies faster.
        if alike && group.len() <= batching(&first.device).copies {
            schedule.extend(by_extents(group)?);
        } else {
            let boxes: Vec<_> = group.iter().map(|p| (&p.extents[..], p.dtype, &p.copy)).collect();
            schedule.push(copy_words(&first.device, word, &boxes)?);
        }
    }
    Ok(schedule)
}

/// Boxes of the same extents share a launch.
fn by_extents(pieces: Vec<Piece>) -> Result<Schedule> {
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
        copy_boxes(device, extents, &copies, Copying { dtype: *dtype, add: false })
    };
    batches.iter().map(launch).collect()
}

/// Whether neither writes memory that the other uses.
fn apart(a: &BoxCopy, b: &BoxCopy) -> bool {
    let id = |end: &(Arc<Allocation>, View)| end.0.id;
    id(&a.to) != id(&b.to) && id(&a.to) != id(&b.from) && id(&a.from) != id(&b.to)
}
