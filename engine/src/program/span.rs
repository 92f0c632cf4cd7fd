//! Ranges of device memory, and messages that are gathered from several of them.

use std::ops::Range;
use std::sync::Arc;

use crate::device::{Allocation, Device};

/// A range of bytes in a device's memory.
#[derive(Clone, Debug)]
pub struct MemorySpan {
    /// The device.
    pub device: Device,
    /// Its memory.
    pub allocation: Arc<Allocation>,
    /// The first byte.
    pub offset: u64,
    /// The number of bytes.
    pub bytes: u64,
}

/// The length of a message that is gathered from these spans.
pub fn span_bytes(memory: &[MemorySpan]) -> u64 {
    memory.iter().map(|span| span.bytes).sum()
}

/// Splits a range of a message at its spans: each span, the first byte in its allocation, and the part of the
/// range that it holds, counted from the begin of the range.
pub(super) fn split_range(
    memory: &[MemorySpan],
    offset: u64,
    length: usize,
) -> impl Iterator<Item = (&MemorySpan, u64, Range<usize>)> {
    let stop = offset + length as u64;
    let places =
        memory.iter().scan(0, move |begin, span| {
            let first = *begin;
            *begin += span.bytes;
            let (from, to) = (first.max(offset), (first + span.bytes).min(stop));
            Some((from < to).then(|| {
                (span, span.offset + from - first, (from - offset) as usize..(to - offset) as usize)
            }))
        });
    places.flatten()
}
