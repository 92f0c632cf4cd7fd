//! Copies of rectangles of elements, to and from packed operands: contiguous, strided and reversed rows, and
//! transposes by square blocks.
//!
//! Invariant: nothing is read or written but the elements themselves.

use std::marker::PhantomData;

use super::rectangles::{Rectangle, RectangleCopy, transpose_block};
#[cfg(target_arch = "x86_64")]
use super::transpose;
use crate::cpu::loops::copy::{move_row, stream_bytes};
use crate::cpu::loops::level::{Compiled, Level, Loop, compiled};
use crate::cpu::loops::map::of_size;

/// The order of the elements of a row on both sides.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RowOrder {
    /// Contiguous on both sides.
    Contiguous,
    /// Read with this stride, in elements, and written contiguously.
    Strided(isize),
    /// Written contiguously, and contiguous across the rows where they are read.
    Transposed,
    /// Any other order.
    Single,
}

/// Copies `rows` rows of `lanes` elements of `bytes` bytes; with non-temporal stores where whole cache lines
/// are written, if `stream`.
///
/// # Safety
/// All elements of `from` are valid for reading and those of `to` for writing; they do not overlap.
pub(super) unsafe fn copy_rectangle(
    level: Level,
    to: Rectangle,
    from: Rectangle,
    (rows, lanes): (usize, usize),
    bytes: usize,
    stream: bool,
) {
    let (copy, order) = arranged(RectangleCopy { to, from, rows, lanes, stream }, bytes as isize);
    // SAFETY: the caller's promise; the loops copy the elements of these rectangles, and no others.
    unsafe {
        match order {
            RowOrder::Contiguous => {
                for n in 0..copy.rows {
                    let (to, from, length) = (copy.to.row(n), copy.from.row(n), copy.lanes * bytes);
                    match stream {
                        true => stream_bytes(to.ptr, from.ptr, length),
                        false => std::ptr::copy_nonoverlapping(from.ptr, to.ptr, length),
                    }
                }
            }
            RowOrder::Transposed => transpose_loop(level, bytes)(&copy),
            RowOrder::Strided(2) => of_size!(bytes, T => compiled::<Gather<T, 2>>(level)(&copy)),
            RowOrder::Strided(3) => of_size!(bytes, T => compiled::<Gather<T, 3>>(level)(&copy)),
            RowOrder::Strided(4) => of_size!(bytes, T => compiled::<Gather<T, 4>>(level)(&copy)),
            RowOrder::Strided(-1) => of_size!(bytes, T => compiled::<Gather<T, -1>>(level)(&copy)),
            RowOrder::Strided(-2) => of_size!(bytes, T => compiled::<Gather<T, -2>>(level)(&copy)),
            RowOrder::Strided(_) | RowOrder::Single => {
                (0..copy.rows).for_each(|n| move_row(copy.to.row(n), copy.from.row(n), copy.lanes, bytes));
            }
        }
    }
}

/// The same elements in the order that is fastest to copy, and which that is.
fn arranged(mut copy: RectangleCopy, bytes: isize) -> (RectangleCopy, RowOrder) {
    let unit = |stride: isize| stride.abs() == bytes;
    let (to, from) = (copy.to, copy.from);
    let distance = |to: isize, from: isize| to.unsigned_abs() + from.unsigned_abs();
    let transpose = copy.rows > 1
        && match (unit(to.along), unit(to.down), unit(from.along), unit(from.down)) {
            (true, _, true, _) => false,
            (true, _, _, true) => false,
            (_, true, _, true) | (_, true, true, _) => true,
            _ => distance(to.down, from.down) < distance(to.along, from.along),
        };
    if transpose {
        let (to, from) = (to.transposed(), from.transposed());
        copy = RectangleCopy { to, from, rows: copy.lanes, lanes: copy.rows, ..copy };
    }
    if copy.to.along < 0 {
        copy.to = copy.to.reversed_along(copy.lanes);
        copy.from = copy.from.reversed_along(copy.lanes);
    }
    let is_whole = |stride: isize| stride % bytes == 0;
    let order = match (copy.to.along / bytes, copy.from.along / bytes) {
        _ if !is_whole(copy.to.along) || !is_whole(copy.from.along) => RowOrder::Single,
        (1, 1) => RowOrder::Contiguous,
        (1, _) if copy.rows > 1 && unit(copy.from.down) => RowOrder::Transposed,
        (1, stride) => RowOrder::Strided(stride),
        _ => RowOrder::Single,
    };
    if order == RowOrder::Transposed && copy.from.down < 0 {
        copy.to = copy.to.reversed_down(copy.rows);
        copy.from = copy.from.reversed_down(copy.rows);
    }
    (copy, order)
}

/// Rows of elements that are `STRIDE` elements apart where they are read.
struct Gather<T, const STRIDE: isize>(PhantomData<T>);

impl<T: Copy, const STRIDE: isize> Loop for Gather<T, STRIDE> {
    type Args = RectangleCopy;

    #[inline(always)]
    unsafe fn run(copy: &RectangleCopy) {
        for row in 0..copy.rows {
            let (to, from) = (copy.to.row(row).ptr.cast::<T>(), copy.from.row(row).ptr.cast::<T>());
            for k in 0..copy.lanes as isize {
                // SAFETY: the caller's promise, of these elements.
                unsafe { to.offset(k).write_unaligned(from.offset(k * STRIDE).read_unaligned()) };
            }
        }
    }
}

/// Rows and columns exchanged by square blocks, so that whole cache lines are used while they are in cache.
struct Transpose<T>(PhantomData<T>);

/// Elements along each side of a block.
const SIDE: usize = 16;

impl<T: Copy> Loop for Transpose<T> {
    type Args = RectangleCopy;

    #[inline(always)]
    unsafe fn run(copy: &RectangleCopy) {
        for lane in (0..copy.lanes).step_by(SIDE) {
            let lanes = SIDE.min(copy.lanes - lane);
            for row in (0..copy.rows).step_by(SIDE) {
                // SAFETY: the caller's promise, of a block of its elements.
                unsafe { transpose_block::<T>(copy, (row, SIDE.min(copy.rows - row)), (lane, lanes)) };
            }
        }
    }
}

/// The fastest transpose of elements of so many bytes.
fn transpose_loop(level: Level, bytes: usize) -> Compiled<RectangleCopy> {
    #[cfg(target_arch = "x86_64")]
    if level != Level::Baseline && is_x86_feature_detected!("avx512f") {
        match bytes {
            4 => return transpose::transpose_words,
            8 => return transpose::transpose_longs,
            _ => {}
        }
    }
    of_size!(bytes, T => compiled::<Transpose<T>>(level))
}
