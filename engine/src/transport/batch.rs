//! Copies of boxes, put together into launches. Knows which memories a launch may touch; knows no plans.

use std::sync::Arc;

use partita_kernels::{DType, View};

use super::path::{Batching, batching};
use crate::device::{Allocation, Device};
use crate::error::Result;
use crate::program::copies::{BoxCopy, copy_boxes};
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

/// Copies put together into as few launches as the devices allow: boxes of the same extents share one.
pub(super) fn batched(pieces: Vec<Piece>) -> Result<Schedule> {
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
