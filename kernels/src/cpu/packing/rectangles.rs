//! Rectangles of elements in memory.

use crate::cpu::loops::copy::Row;

/// A rectangle of elements: the first one, the bytes to the row below, and to the next element of a row.
#[derive(Clone, Copy)]
pub(super) struct Rectangle {
    pub ptr: *mut u8,
    pub down: isize,
    pub along: isize,
}

impl Rectangle {
    pub(super) fn transposed(self) -> Rectangle {
        Rectangle { ptr: self.ptr, down: self.along, along: self.down }
    }

    /// The same rows of `lanes` elements from the last one on.
    pub(super) fn reversed_along(self, lanes: usize) -> Rectangle {
        let ptr = self.ptr.wrapping_offset((lanes as isize - 1) * self.along);
        Rectangle { ptr, along: -self.along, ..self }
    }

    pub(super) fn reversed_down(self, rows: usize) -> Rectangle {
        self.transposed().reversed_along(rows).transposed()
    }

    pub(super) fn row(self, n: usize) -> Row {
        Row { ptr: self.ptr.wrapping_offset(n as isize * self.down), stride_bytes: self.along }
    }
}

/// A copy from one rectangle to another: what the loops below work on.
pub(super) struct RectangleCopy {
    pub to: Rectangle,
    pub from: Rectangle,
    pub rows: usize,
    pub lanes: usize,
    /// Use non-temporal stores where whole cache lines are written.
    pub stream: bool,
}

/// Some rows and lanes of a transpose, one element after the other.
///
/// # Safety
/// As [`copy_rectangle`], of these rows and lanes.
#[inline(always)]
pub(super) unsafe fn transpose_block<T: Copy>(
    copy: &RectangleCopy,
    (row, rows): (usize, usize),
    (lane, lanes): (usize, usize),
) {
    for r in (row..row + rows).map(|r| r as isize) {
        for l in (lane..lane + lanes).map(|l| l as isize) {
            let to = copy.to.ptr.wrapping_offset(r * copy.to.down).cast::<T>().wrapping_offset(l);
            let from = copy.from.ptr.wrapping_offset(l * copy.from.along).cast::<T>().wrapping_offset(r);
            // SAFETY: the caller's promise.
            unsafe { to.write_unaligned(from.read_unaligned()) };
        }
    }
}
