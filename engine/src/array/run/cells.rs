//! Boxes of cells between a part's memory and the host: only these cells are read or written, never padding
//! or halos around them. What is not contiguous is packed on its device; long rows of the host's memory are
//! copied one by one.

use std::ops::Range;
use std::sync::Arc;

use partita_kernels::DType;

use crate::array::memory::storage::bytes_of;
use crate::array::recorder::recording::Recorder;
use crate::device::{Buffer, DeviceKind, zeros};
use crate::error::Result;
use crate::index::{Index, Region};
use crate::program::{CopyMode, Place, contiguous_in, copy_box, offset_in};

/// The least length, in bytes, of rows of the host's memory that are read one by one.
const LONG_ROW_BYTES: usize = 512;

/// The bytes of a box of cells in C order.
pub(crate) fn download(place: &Place, cells: &Region, dtype: DType, out: &mut [u8]) -> Result<()> {
    download_into(place, cells, dtype, out, cells)
}

/// Copies the bytes of a box of cells into memory that holds `within` in C order. Where they are not
/// contiguous, long rows of the host's memory go one by one; all else is packed on its device first.
pub(crate) fn download_into(
    place: &Place,
    cells: &Region,
    dtype: DType,
    out: &mut [u8],
    within: &Region,
) -> Result<()> {
    let (size, bytes) = (dtype.size_bytes(), bytes_of(cells, dtype)? as usize);
    let read = |first: i64, out: &mut [u8]| {
        place.device.download(&place.allocation, first as u64 * size as u64, out)
    };
    let there = contiguous_in(within, cells).map(|first| first as usize * size);
    if let (Some(first), Some(there)) = (place.contiguous(cells), there) {
        return read(first, &mut out[there..there + bytes]);
    }
    if place.device.kind() == DeviceKind::Host && row_bytes(cells, size) >= LONG_ROW_BYTES {
        return each_row(cells, within, size, |cell, row| {
            read(offset_in(&place.stored, cell), &mut out[row])
        });
    }
    let (buffer, packed) = packed(place, cells, dtype)?;
    Recorder::current().execute(vec![copy_box(
        place,
        cells,
        &packed,
        cells,
        CopyMode { dtype, add: false },
    )?])?;
    let download = |out: &mut [u8]| place.device.download(buffer.allocation(), 0, out);
    if let Some(there) = there {
        return download(&mut out[there..there + bytes]);
    }
    let mut packed: Vec<u8> = zeros(bytes, &[])?;
    download(&mut packed)?;
    copy_rows(&packed, cells, out, within, size)
}

/// Writes the bytes of a box of cells in C order.
pub(crate) fn upload(place: &Place, cells: &Region, dtype: DType, bytes: &[u8]) -> Result<()> {
    if let Some(first) = place.contiguous(cells) {
        return place.device.upload(&place.allocation, first as u64 * dtype.size_bytes() as u64, bytes);
    }
    let (buffer, packed) = packed(place, cells, dtype)?;
    place.device.upload(buffer.allocation(), 0, bytes)?;
    Recorder::current().execute(vec![copy_box(&packed, cells, place, cells, CopyMode { dtype, add: false })?])
}

/// Memory of their own for a box of cells, without padding.
fn packed(place: &Place, cells: &Region, dtype: DType) -> Result<(Buffer, Place)> {
    let buffer = place.device.alloc(bytes_of(cells, dtype)?)?;
    let (device, allocation) = (place.device.clone(), Arc::clone(buffer.allocation()));
    Ok((buffer, Place { device, allocation, stored: *cells }))
}

/// Copies the cells of a box, in C order, into memory that holds `within` in C order.
pub(crate) fn copy_rows(
    from: &[u8],
    cells: &Region,
    to: &mut [u8],
    within: &Region,
    size: usize,
) -> Result<()> {
    let mut from = from.chunks_exact(row_bytes(cells, size));
    each_row(cells, within, size, |_, row| {
        from.next().into_iter().for_each(|bytes| to[row.clone()].copy_from_slice(bytes));
        Ok(())
    })
}

fn row_bytes(cells: &Region, size: usize) -> usize {
    cells.rank().checked_sub(1).map_or(size, |last| cells.extent(last) as usize * size)
}

/// Calls `row` with the first cell of each row of a box, and the row's bytes in memory that holds `within`.
fn each_row(
    cells: &Region,
    within: &Region,
    size: usize,
    mut row: impl FnMut(&Index, Range<usize>) -> Result<()>,
) -> Result<()> {
    let (rank, bytes) = (cells.rank(), row_bytes(cells, size));
    let first_only = |d: usize| if d + 1 == rank { cells.start()[d] + 1 } else { cells.stop()[d] };
    Region::from_fn(rank, |d| (cells.start()[d], first_only(d))).points().try_for_each(|cell| {
        let at = offset_in(within, &cell) as usize * size;
        row(&cell, at..at + bytes)
    })
}
