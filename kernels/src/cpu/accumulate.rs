//! The accumulators of a reduction. Values are folded into many lanes, a few deep; what comes out is
//! combined in pairs, so the error of float sums is a few roundings more than the logarithm of their length.
//! The order depends on the number of values alone. It does not know which points they belong to.

use super::copy::{Row, move_row};
use super::fold::{FoldArgs, Folding, MOST_ACROSS, foldings_across};
use super::place::{BLOCK, Line, Place};

/// A buffer of accumulators: values, and for argument folds indices.
pub(super) struct Lanes {
    /// Owns the memory behind `base`.
    _lines: Vec<Line>,
    base: *mut u8,
    pub count: usize,
    size: usize,
    /// Byte where the indices start; none without.
    index_start: Option<usize>,
}

// SAFETY: `base` points into memory the buffer owns; sharing threads use disjoint lanes.
unsafe impl Send for Lanes {}
// SAFETY: as above; whoever writes through a shared buffer's places answers for the lanes.
unsafe impl Sync for Lanes {}

impl Lanes {
    pub(super) fn new(folding: &Folding, count: usize) -> Lanes {
        let size = folding.lane.size();
        let bytes = (count * size).next_multiple_of(64);
        let index_start = folding.index.map(|_| bytes);
        let total = bytes + if index_start.is_some() { count * 8 } else { 0 };
        let mut lines = vec![Line::ZERO; total.div_ceil(64)];
        let base = lines.as_mut_ptr().cast();
        Lanes { _lines: lines, base, count, size, index_start }
    }

    /// Makes every accumulator neutral. An index of `i64::MAX` loses against every other.
    pub(super) fn reset(&mut self, folding: &Folding) {
        let splat = |bits: u64, to: Place| {
            let bytes = bits.to_le_bytes();
            let from = Row { ptr: bytes.as_ptr().cast_mut(), stride_bytes: 0 };
            // SAFETY: the buffer has `count` lanes of this size.
            unsafe {
                move_row(Row { ptr: to.ptr, stride_bytes: to.step as isize }, from, self.count, to.step)
            };
        };
        splat(folding.neutral, self.values(0));
        if self.index_start.is_some() {
            splat(i64::MAX as u64, self.indices(0));
        }
    }

    /// The values from lane `start` on.
    pub(super) fn values(&self, start: usize) -> Place {
        Place { ptr: self.base.wrapping_add(start * self.size), step: self.size }
    }

    /// The indices from lane `start` on; no place without.
    pub(super) fn indices(&self, start: usize) -> Place {
        self.index_start
            .map_or(Place::NONE, |first| Place { ptr: self.base.wrapping_add(first + start * 8), step: 8 })
    }

    /// Folds `lanes` lanes from `value_lane` on into those from `lane` on. The two do not overlap.
    pub(super) fn fold_within(&self, folding: &Folding, lane: usize, value_lane: usize, lanes: usize) {
        let apart = lane + lanes <= value_lane || value_lane + lanes <= lane;
        assert!(apart && lane.max(value_lane) + lanes <= self.count, "lanes exist and do not overlap");
        let args = FoldArgs {
            into: self.values(lane),
            into_index: self.indices(lane),
            value: self.values(value_lane),
            index: self.indices(value_lane),
            lanes,
            rows: 1,
            down: 0,
        };
        // SAFETY: by the assertion.
        unsafe { folding.fold(&args) }
    }

    /// Folds the lanes of `later` into these.
    fn fold_all(&mut self, folding: &Folding, later: &Lanes) {
        assert!(self.count == later.count, "buffers of one accumulator are equally long");
        let args = FoldArgs {
            into: self.values(0),
            into_index: self.indices(0),
            value: later.values(0),
            index: later.indices(0),
            lanes: self.count,
            rows: 1,
            down: 0,
        };
        // SAFETY: two buffers of this fold's lanes, equally long by the assertion.
        unsafe { folding.fold(&args) }
    }
}

/// Foldings into a leaf of the tree before it is complete. Each rounds a sum once, so a leaf may cost a few
/// roundings more than a tree of pairs would.
const LEAF: usize = 4;

/// Accumulators and the tree above them.
pub(super) struct Accumulator {
    leaf: Lanes,
    filled: usize,
    /// Level k holds the combination of 2^k leaves, if bit k of `occupied` is set.
    levels: Vec<Lanes>,
    occupied: u64,
}

impl Accumulator {
    pub(super) fn new(folding: &Folding, lanes: usize) -> Accumulator {
        let mut leaf = Lanes::new(folding, lanes);
        leaf.reset(folding);
        Accumulator { leaf, filled: 0, levels: Vec::new(), occupied: 0 }
    }

    /// Starts again from the neutral element.
    pub(super) fn reset(&mut self, folding: &Folding) {
        self.leaf.reset(folding);
        self.filled = 0;
        self.occupied = 0;
    }

    /// Folds `lanes` values across: all blocks into one block of accumulators.
    ///
    /// # Safety
    /// `value`, and `index` for an argument fold, hold the lanes.
    pub(super) unsafe fn across(&mut self, folding: &Folding, value: Place, index: Place, lanes: usize) {
        let mut done = 0;
        while done < lanes {
            let some = (lanes - done).min(MOST_ACROSS);
            let fixed = |place: Place| Place { step: 0, ..place };
            let args = FoldArgs {
                into: fixed(self.leaf.values(0)),
                into_index: fixed(self.leaf.indices(0)),
                value: Place { ptr: value.at(done), ..value },
                index: Place { ptr: index.at(done), ..index },
                lanes: some,
                rows: 1,
                down: 0,
            };
            // SAFETY: the caller's promise; the accumulators are a buffer of their own.
            unsafe { folding.fold(&args) };
            done += some;
            self.fill(folding, foldings_across(some));
        }
    }

    /// Folds `rows` rows of values along, `down` bytes from one to the next: each lane into its own
    /// accumulator.
    ///
    /// # Safety
    /// As [`Accumulator::across`], of every row; there are accumulators `lane..lane + lanes`.
    pub(super) unsafe fn along(
        &mut self,
        folding: &Folding,
        (value, index): (Place, Place),
        (rows, down): (usize, isize),
        (lane, lanes): (usize, usize),
    ) {
        let (into, into_index) = (self.leaf.values(lane), self.leaf.indices(lane));
        let args = FoldArgs { into, into_index, value, index, lanes, rows, down };
        // SAFETY: the caller's promise; the accumulators are a buffer of their own.
        unsafe { folding.fold(&args) };
    }

    /// Foldings until the leaf is complete.
    pub(super) fn room(&self) -> usize {
        LEAF - self.filled
    }

    /// Counts foldings into the leaf; completes the leaf when it is deep enough.
    pub(super) fn fill(&mut self, folding: &Folding, count: usize) {
        self.filled += count;
        if self.filled < LEAF {
            return;
        }
        let mut level = 0;
        while self.occupied >> level & 1 == 1 {
            self.levels[level].fold_all(folding, &self.leaf);
            std::mem::swap(&mut self.levels[level], &mut self.leaf);
            level += 1;
        }
        if level == self.levels.len() {
            self.levels.push(Lanes::new(folding, self.leaf.count));
        }
        std::mem::swap(&mut self.levels[level], &mut self.leaf);
        // Adding one to a binary number: the ones below the lowest zero become zero.
        self.occupied += 1;
        self.leaf.reset(folding);
        self.filled = 0;
    }

    /// Combines everything; one accumulator per lane.
    pub(super) fn lanes(&mut self, folding: &Folding) -> &Lanes {
        for level in 0..self.levels.len() {
            if self.occupied >> level & 1 == 1 {
                self.levels[level].fold_all(folding, &self.leaf);
                std::mem::swap(&mut self.levels[level], &mut self.leaf);
            }
        }
        self.occupied = 0;
        &self.leaf
    }

    /// Combines everything into lane 0.
    pub(super) fn scalar(&mut self, folding: &Folding) -> &Lanes {
        self.lanes(folding);
        assert!(self.leaf.count == BLOCK, "values are folded across into one block");
        // SAFETY: by the assertion.
        unsafe { folding.collapse(self.leaf.values(0), self.leaf.indices(0)) };
        &self.leaf
    }
}
