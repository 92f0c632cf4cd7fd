//! [`Cyclic`]: blocks of one size dealt to the parts in turn.

use super::block_bounds::{check_parts, check_size};
use crate::index::error::{ErrorKind, IndexError, Result};
use crate::index::sets::{Blocks, COORDINATE_LIMIT, IndexRange, IndexSet};

/// Coordinates `0..size` in blocks of `block_size`, dealt out to the parts in turn; the last block may be
/// partial, and belongs to the part whose turn it is. A slice of such a map is one too: its coordinate `i` is
/// dealt like coordinate `start + step * i` of the whole.
///
/// The Distributed Array Protocol publishes a function for the number of coordinates of a part that gives the
/// partial block to the wrong part (3 coordinates in blocks of 2 over 2 parts are 2 and 1, not 3 and 0). The
/// counts here are those of its text: a part owns what the dealing gives it.
#[derive(Clone, Copy, Debug)]
pub struct Cyclic {
    parts: usize,
    block: i64,
    // A turn through all parts; not longer than can matter, so that sums with it do not overflow.
    period: i64,
    // Where in a turn coordinate 0 lies, and how far coordinate 1 is from it.
    phase: i64,
    step: i64,
    size: i64,
}

impl Cyclic {
    /// `size` coordinates in blocks of `block_size` over `parts` parts.
    pub fn new(size: i64, parts: usize, block_size: i64) -> Result<Cyclic> {
        check_parts("cyclic map", parts)?;
        check_size("cyclic map", size)?;
        if block_size < 1 {
            let (expected, remedy) = ("a block size of at least 1", "use 1 to deal single coordinates");
            let given = block_size.to_string();
            return Err(IndexError::new(ErrorKind::Bounds, "cyclic map", expected, given, remedy));
        }
        let period = block_size.saturating_mul(parts as i64).min(COORDINATE_LIMIT + 1);
        Ok(Cyclic { parts, block: block_size, period, phase: 0, step: 1, size })
    }

    /// The number of parts.
    pub fn parts(&self) -> usize {
        self.parts
    }

    /// The number of coordinates.
    pub fn size(&self) -> i64 {
        self.size
    }

    /// The size of the blocks that are dealt out, counted in coordinates of the whole.
    pub fn block_size(&self) -> i64 {
        self.block
    }

    /// Where in a turn through all parts coordinate 0 lies, and how far coordinate 1 is from it. `(0, 1)`
    /// where nothing was cut off.
    pub fn phase(&self) -> (i64, i64) {
        (self.phase, self.step)
    }

    /// The part that owns a coordinate inside.
    pub fn owner(&self, global: i64) -> usize {
        ((self.phase + self.step * global) % self.period / self.block) as usize
    }

    /// What `part` owns. Without a slice this is `range(size)[start::stride]` for blocks of one coordinate.
    pub fn set(&self, part: usize) -> IndexSet {
        let blocks = self.blocks(part);
        if blocks.width == 1 && blocks.step == 1 {
            let first = blocks.nth(0).unwrap_or(self.size);
            return IndexSet::Range(IndexRange::of_len(first, self.period, blocks.len()));
        }
        IndexSet::Blocks(blocks)
    }

    pub(crate) fn blocks(&self, part: usize) -> Blocks {
        let begin = self.begin(part);
        self.window(begin, self.begin(part + 1) - begin)
    }

    /// How many coordinates the parts before `part` own together; everything for `part == parts`.
    pub fn before(&self, part: usize) -> i64 {
        self.window(0, self.begin(part)).len()
    }

    /// Where in a turn the block of `part` begins.
    fn begin(&self, part: usize) -> i64 {
        self.block.saturating_mul(part as i64).min(self.period)
    }

    fn window(&self, begin: i64, width: i64) -> Blocks {
        let offset = (self.phase - begin).rem_euclid(self.period);
        Blocks { offset, step: self.step, period: self.period, width, size: self.size }
    }

    /// The parts that own something of `start..stop`, which lies inside and is not empty, some of them twice;
    /// none where these may be all.
    pub(crate) fn owners_within(&self, start: i64, stop: i64) -> Option<impl Iterator<Item = usize> + use<>> {
        let (first, span) = ((self.phase + self.step * start) % self.period, self.step * (stop - 1 - start));
        if span >= self.period {
            return None;
        }
        let (block, parts) = (self.block, self.parts as i64);
        let (low, high) = (first / block, (first + span).min(first + self.period - 1));
        // Past the end of a turn the first part is next, also where the last turn is cut short.
        let wrapped = if high >= self.period { (high - self.period) / block } else { -1 };
        let straight = (high.min(self.period - 1) / block).min(parts - 1);
        Some((low..=straight).chain(0..=wrapped).map(|part| part as usize))
    }

    /// The coordinates `start + step * i` for `0 <= i < size`, renumbered; they lie inside, and `step` is at
    /// least 1.
    pub(crate) fn sliced(&self, start: i64, step: i64, size: i64) -> Cyclic {
        let phase = (self.phase + self.step * start) % self.period;
        // Of one coordinate the step says nothing, and the product might be too large.
        let step = if size > 1 { self.step * step } else { 1 };
        Cyclic { phase, step, size, ..*self }
    }

    /// Whether what every part owns is blocks at equal distances, counted in steps of 1: where nothing was
    /// cut off it is, and in most slices.
    pub(crate) fn is_regular(&self) -> bool {
        self.step == 1 || self.block == 1 || self.period % self.step == 0
    }

    /// Whether every part owns a contiguous range, in the order of the parts.
    pub fn is_block(&self) -> bool {
        self.parts == 1 || self.size <= 1 || self.phase + self.step * (self.size - 1) < self.period
    }
}

impl PartialEq for Cyclic {
    /// Compares the dealing. Maps that deal alike although their blocks or steps differ are those that
    /// [`Cyclic::is_block`] tells; they are compared as blocks.
    fn eq(&self, other: &Cyclic) -> bool {
        let key = |map: &Cyclic| (map.parts, map.size, map.block, map.phase, map.step % map.period);
        key(self) == key(other)
    }
}

impl Eq for Cyclic {}
