//! The plan of the entry `vector`: how many points a thread computes, and the rows that it loads for them.

use std::collections::BTreeSet;

use crate::ir::{Form, Offsets};
use crate::verify::Verified;
use crate::verify::footprint::{Footprint, LoadRow};

/// Instructions that the fast path may repeat in all: more would cost compile time, and such a kernel
/// is bound by arithmetic.
pub(in crate::ptx) const MAX_INSTRUCTIONS: usize = 2048;

/// Instructions of a body that is bound by memory alone. If it also reads a single row, one vector per
/// thread keeps 32 KiB of loads under way on a multiprocessor, and two are needed.
const SHORT: usize = 16;

/// Bytes of the widest load there is.
const VECTOR_BYTES: usize = 16;

/// Several neighbouring points per thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::ptx) struct Vectors {
    /// Points of a thread: the widest element type then fills 16 bytes.
    pub lanes: usize,
    /// Vectors of a thread, a block apart from each other.
    pub vectors: usize,
    pub rows: Vec<VectorRow>,
}

/// What the points of a thread read of one row of a parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(in crate::ptx) struct VectorRow {
    pub param: u32,
    /// Offsets of the row; 0 in the last dimension.
    pub offsets: Offsets,
    /// Elements read, counted from the thread's first point.
    pub positions: BTreeSet<i32>,
}

impl Vectors {
    pub(in crate::ptx) fn of(verified: &Verified) -> Option<Vectors> {
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
    pub(in crate::ptx) fn sideways(&self) -> impl Iterator<Item = u32> {
        let lanes = 0..self.lanes as i32;
        self.rows.iter().filter(move |r| r.positions.iter().any(|p| !lanes.contains(p))).map(|r| r.param)
    }
}

impl VectorRow {
    /// Instructions that load it where it is aligned.
    pub(in crate::ptx) fn loads(&self, lanes: usize) -> usize {
        runs(&self.positions, lanes).len()
    }
}

/// The rows of a parameter and the position of each load in its row.
fn rows(footprint: &Footprint, lanes: usize) -> Vec<VectorRow> {
    let vector = |column: i32| (0..lanes as i32).map(move |lane| lane + column);
    let row = |row: &LoadRow| VectorRow {
        param: row.param,
        offsets: row.offsets.clone(),
        positions: row.columns.iter().flat_map(|&column| vector(column)).collect(),
    };
    footprint.rows().iter().map(row).collect()
}

/// Covers positions with runs that are aligned to their own length, as long as possible.
pub(in crate::ptx) fn runs(positions: &BTreeSet<i32>, lanes: usize) -> Vec<(i32, usize)> {
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

/// A position in the name of a register.
pub(in crate::ptx) fn place_name(position: i32) -> String {
    if position < 0 { format!("m{}", -position) } else { position.to_string() }
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
