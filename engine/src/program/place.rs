//! [`Place`]: a part's cells in memory; and ranges of memory from which a message is gathered.

use std::ops::Range;
use std::sync::Arc;

use partita_kernels::View;

use crate::device::{Allocation, Device};
use crate::index::{Index, Region};

/// The memory of one part's cells: an allocation that holds `stored` in C order.
#[derive(Clone, Debug)]
pub struct Place {
    /// The device of the allocation.
    pub device: Device,
    /// The memory.
    pub allocation: Arc<Allocation>,
    /// The cells in it, in some global coordinates; those that no part stores are padding.
    pub stored: Region,
}

impl Place {
    /// Distance in elements between neighbours, per dimension.
    pub fn strides(&self) -> Index {
        c_strides(&self.stored)
    }

    /// The view whose first point is `first`, a cell in `stored`'s coordinates.
    pub fn view(&self, first: &[i64]) -> View {
        View { offset: offset_in(&self.stored, first), strides: self.strides().to_vec() }
    }

    /// The first element of these cells, if they lie one after the other in C order.
    pub fn contiguous(&self, cells: &Region) -> Option<i64> {
        contiguous_in(&self.stored, cells)
    }
}

/// The first element of cells of a box that lie one after the other in memory that holds `within` in C order.
pub fn contiguous_in(within: &Region, cells: &Region) -> Option<i64> {
    let (here, packed) = (c_strides(within), c_strides(cells));
    let is_packed = (0..cells.rank()).all(|d| cells.extent(d) == 1 || here[d] == packed[d]);
    is_packed.then(|| offset_in(within, cells.start()))
}

/// The number of a cell in memory that holds `within` in C order.
pub fn offset_in(within: &Region, cell: &[i64]) -> i64 {
    let (start, strides) = (within.start(), c_strides(within));
    (0..cell.len()).map(|d| (cell[d] - start[d]) * strides[d]).sum()
}

/// C-order strides of a box, in elements.
pub fn c_strides(region: &Region) -> Index {
    let mut strides = Index::filled(region.rank(), 1);
    for d in (0..region.rank().saturating_sub(1)).rev() {
        strides[d] = strides[d + 1] * region.extent(d + 1).max(1);
    }
    strides
}

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
