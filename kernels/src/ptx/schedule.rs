//! Which strategies a kernel's text offers, from its footprint alone: sizes and strides come later.

use std::collections::BTreeSet;

use super::march::March;
use super::tile;
use crate::ir::{Form, Offsets};
use crate::verify::Verified;
use crate::verify::footprint::{Footprint, LoadRow};

/// Instructions that the fast path may repeat in all: more would cost compile time, and such a kernel
/// is bound by arithmetic.
pub(super) const MAX_INSTRUCTIONS: usize = 2048;

/// Instructions of a body that is bound by memory alone. If it also reads a single row, one vector per
/// thread keeps 32 KiB of loads under way on a multiprocessor, and two are needed.
const SHORT: usize = 16;

/// Points along each side of a square of the tile entry.
pub(super) const SIDE: usize = 32;

/// Points of a square that a thread computes.
pub(super) const TURNS: usize = 4;

/// Static shared memory of a block.
const MAX_SHARED_BYTES: usize = 48 << 10;

/// Bytes of the widest load there is.
const VECTOR_BYTES: usize = 16;

/// What the text of a kernel offers beside its plain entries.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Schedule {
    pub vector: Option<Vectors>,
    /// Planes of a stencil one after the other.
    pub march: Option<March>,
    /// Transposed inputs may go through shared memory.
    pub tile: bool,
}

/// Several neighbouring points per thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Vectors {
    /// Points of a thread: the widest element type then fills 16 bytes.
    pub lanes: usize,
    /// Vectors of a thread, a block apart from each other.
    pub vectors: usize,
    pub rows: Vec<Row>,
}

/// What the points of a thread read of one row of a parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Row {
    pub param: u32,
    /// Offsets of the row; 0 in the last dimension.
    pub offsets: Offsets,
    /// Elements read, counted from the thread's first point.
    pub positions: BTreeSet<i32>,
}

impl Schedule {
    pub(super) fn of(kernel: &Verified) -> Schedule {
        let vector = Vectors::of(kernel);
        let march = vector.as_ref().and_then(|vector| March::of(kernel, vector));
        Schedule { vector, march, tile: tile(kernel) }
    }
}

/// Every input is read at the point itself, and their squares fit in shared memory.
fn tile(verified: &Verified) -> bool {
    let kernel = verified.kernel();
    matches!(kernel.form, Form::Elementwise { .. })
        && kernel.rank >= 2
        && (1..=MAX_SHARED_BYTES).contains(&tile::shared_bytes(kernel))
        && kernel.body.len() * TURNS <= MAX_INSTRUCTIONS
        && verified.footprint().is_pointwise()
}

impl Vectors {
    fn of(verified: &Verified) -> Option<Vectors> {
        let (kernel, footprint) = (verified.kernel(), verified.footprint());
        let Form::Elementwise { stores } = &kernel.form else { return None };
        if kernel.rank == 0 || stores.is_empty() {
            return None;
        }
        let used = |p: u32| footprint.is_loaded(p) || stores.iter().any(|s| s.param == p);
        let sizes = (0..kernel.params.len() as u32).filter(|&p| used(p));
        let widest = sizes.map(|p| kernel.params[p as usize].dtype.size_bytes()).max()?;
        let lanes = VECTOR_BYTES / widest;
        if lanes * kernel.body.len() > MAX_INSTRUCTIONS {
            return None;
        }
        let rows = rows(footprint, lanes);
        let vectors = if rows.len() == 1 && kernel.body.len() <= SHORT { 2 } else { 1 };
        Some(Vectors { lanes, vectors, rows })
    }

    /// Parameters of which a point reads its neighbours along the last dimension.
    pub(super) fn sideways(&self) -> impl Iterator<Item = u32> {
        let lanes = 0..self.lanes as i32;
        self.rows.iter().filter(move |r| r.positions.iter().any(|p| !lanes.contains(p))).map(|r| r.param)
    }
}

impl Row {
    /// Instructions that load it where it is aligned.
    pub(super) fn loads(&self, lanes: usize) -> usize {
        runs(&self.positions, lanes).len()
    }
}

/// The rows of a parameter and the position of each load in its row.
fn rows(footprint: &Footprint, lanes: usize) -> Vec<Row> {
    let vector = |column: i32| (0..lanes as i32).map(move |lane| lane + column);
    let row = |row: &LoadRow| Row {
        param: row.param,
        offsets: row.offsets.clone(),
        positions: row.columns.iter().flat_map(|&column| vector(column)).collect(),
    };
    footprint.rows().iter().map(row).collect()
}

/// Covers positions with runs that are aligned to their own length, as long as possible.
pub(super) fn runs(positions: &BTreeSet<i32>, lanes: usize) -> Vec<(i32, usize)> {
    let mut left = positions.clone();
    let mut runs = Vec::new();
    while let Some(&first) = left.first() {
        let mut len = lanes as i32;
        while first % len != 0 || !(first..first + len).all(|p| left.contains(&p)) {
            len /= 2;
        }
        left.retain(|p| !(first..first + len).contains(p));
        runs.push((first, len as usize));
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_are_covered_by_the_longest_aligned_runs() {
        let cover = |range: std::ops::Range<i32>| runs(&range.collect(), 4);
        assert_eq!(cover(0..4), [(0, 4)]);
        assert_eq!(cover(-1..5), [(-1, 1), (0, 4), (4, 1)]);
        assert_eq!(cover(-2..6), [(-2, 2), (0, 4), (4, 2)]);
        assert_eq!(cover(-4..8), [(-4, 4), (0, 4), (4, 4)]);
        assert_eq!(cover(1..5), [(1, 1), (2, 2), (4, 1)]);
    }
}
