//! [`Pitch`]: how far apart the rows of an array's own memory are, and where they begin. A row is the cells
//! of a part along the last dimension; along the one before where 16 bytes are a whole number of the last
//! one's extents, such as the two numbers of a complex one.
//!
//! GPUs and vector units load 16 bytes at a time where the address is a multiple of 16, and a warp's loads
//! are fastest in lines of 128. So, in arrays of one *shift*, cells of one coordinate along rows lie alike:
//! at `(coordinate + shift) * cell size`, modulo 16 bytes, in every row, whatever the halos and extents, on
//! every part. A value computed from a slice takes the shift that lets it lie as the operand's cells do.
//!
//! The memory of a part is a box in C order that may be longer than what the part stores, along its rows:
//! its *room*. What is added before the first cell and after the last is padding, which nobody reads. Rows
//! that are multiples of 16 bytes anyway get none, so whole arrays stay contiguous; nor do rows of which
//! padding would be more than 6 percent (`PARTITA_PADDING`): these lie in C order without gaps.

use crate::config::config;
use crate::index::{Distribution, Index, Region};
use partita_kernels::DType;

/// The widest load of one thread, in bytes.
const VECTOR_BYTES: i64 = 16;

/// Rows begin at multiples of the first that costs little enough.
const ROW_BYTES: [i64; 4] = [128, 64, 32, VECTOR_BYTES];

/// Rows along a dimension, of cells of `cell_bytes`.
pub(crate) struct Row {
    pub dim: usize,
    cell_bytes: i64,
}

/// The layout of an array's rows in memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Pitch {
    /// One after the other: memory of other owners, and arrays viewed in another shape.
    Packed,
    /// At multiples of 16 bytes.
    Aligned { element_bytes: u8, shift: u8 },
}

impl Pitch {
    /// The number of elements that shifts are counted modulo: a vector of the smallest.
    pub const SHIFTS: i64 = VECTOR_BYTES;

    /// That of an array which is congruent to no other one in particular.
    pub fn of(dtype: DType) -> Pitch {
        Pitch::shifted(dtype, 0)
    }

    /// That in which cells lie as those lie whose coordinates are by so much larger.
    pub fn shifted(dtype: DType, shift: i64) -> Pitch {
        match config().padding_percent {
            0 => Pitch::Packed,
            _ => Pitch::Aligned {
                element_bytes: dtype.size_bytes() as u8,
                shift: shift.rem_euclid(Pitch::SHIFTS) as u8,
            },
        }
    }

    /// The distance of its cells from where coordinates alone would have them. Other owners' memory is taken
    /// to begin at a multiple of 16 bytes.
    pub fn shift(self) -> i64 {
        match self {
            Pitch::Packed => 0,
            Pitch::Aligned { shift, .. } => i64::from(shift),
        }
    }

    /// The box that memory for these cells holds in C order.
    pub fn room(self, stored: &Region) -> Region {
        self.within(stored, config().padding_percent)
    }

    fn within(self, stored: &Region, percent: i64) -> Region {
        let Some(Row { dim, cell_bytes: size }) = self.row(&stored.extents()) else { return *stored };
        let extent = stored.extent(dim);
        let lead = (stored.start()[dim] + self.shift()).rem_euclid(VECTOR_BYTES / size);
        let row = lead + extent;
        let is_one = (0..dim).all(|d| stored.extent(d) == 1);
        let is_cheap = |width: &i64| (width - extent).saturating_mul(100) <= extent.saturating_mul(percent);
        let width = match is_one || row % (VECTOR_BYTES / size) == 0 {
            true => Some(row).filter(|width| is_one || is_cheap(width)),
            false => ROW_BYTES.map(|bytes| rounded_up(row, bytes / size)).into_iter().find(is_cheap),
        };
        let Some(width) = width else { return *stored };
        let start = stored.start()[dim] - lead;
        Region::from_fn(stored.rank(), |d| match d == dim {
            true => (start, start + width),
            false => (stored.start()[d], stored.stop()[d]),
        })
    }

    /// Which way the rows of a box go; `None` if there are none, or without pitch.
    pub fn row(self, extents: &Index) -> Option<Row> {
        let (Pitch::Aligned { element_bytes, .. }, Some(dim)) = (self, extents.rank().checked_sub(1)) else {
            return None;
        };
        let last = Row { dim, cell_bytes: i64::from(element_bytes) };
        let whole = last.cell_bytes.saturating_mul(extents[dim]);
        match extents.contains(&0) {
            true => None,
            false if dim > 0 && VECTOR_BYTES % whole == 0 => Some(Row { dim: dim - 1, cell_bytes: whole }),
            false => Some(last),
        }
    }

    /// The pitch of this memory viewed on another distribution, whose parts store the same cells in the same
    /// order; `None` if they lie otherwise.
    pub fn seen(self, from: &Distribution, to: &Distribution) -> Option<Pitch> {
        let ends = |part: usize| [from, to].map(|dist| (dist.stored(part), self.room(&dist.stored(part))));
        if (0..from.parts()).all(|part| ends(part)[0].0 == ends(part)[0].1) {
            return Some(Pitch::Packed);
        }
        // Rows that are the same: how far before the cells the room begins, and how long it is.
        let row = |(stored, room): (Region, Region)| {
            let Row { dim, .. } = self.row(&stored.extents())?;
            let inner = |region: &Region| -> Vec<i64> {
                region.extents()[dim..].iter().copied().filter(|&extent| extent != 1).collect()
            };
            Some((stored.start()[dim] - room.start()[dim], inner(&stored), inner(&room)))
        };
        (0..from.parts()).all(|part| ends(part).map(row)[0] == ends(part).map(row)[1]).then_some(self)
    }
}

fn rounded_up(cells: i64, unit: i64) -> i64 {
    (cells + unit - 1) / unit * unit
}

#[cfg(test)]
mod tests;
