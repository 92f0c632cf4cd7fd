//! [`BlockBounds`]: the ends of the contiguous ranges of a block map. [`Cyclic`]: blocks of one size dealt to
//! the parts in turn.

use std::sync::Arc;

use crate::index::error::{ErrorKind, IndexError, Result};
use crate::index::index_set::{Blocks, IndexRange, IndexSet};
use crate::index::region::COORDINATE_LIMIT;

/// The largest number of parts, as many as there can be MPI ranks.
pub const MAX_PARTS: usize = i32::MAX as usize;

/// The ends of contiguous ranges. An even division is a formula, and a slice of any division is a window on
/// it, so neither costs memory per part. Equal when every part owns the same range, however it is written.
#[derive(Clone, Debug)]
pub struct BlockBounds {
    base: Base,
    // The rest of the base, in its coordinates; bounds are clamped to it and count from its start.
    window: (i64, i64),
}

#[derive(Clone, PartialEq, Eq, Debug)]
enum Base {
    Even { size: i64, parts: usize },
    Listed(Arc<[i64]>),
}

impl Base {
    fn parts(&self) -> usize {
        match self {
            Base::Even { parts, .. } => *parts,
            Base::Listed(bounds) => bounds.len() - 1,
        }
    }

    /// The beginning of `part`; the size for `part == parts`.
    fn start(&self, part: usize) -> i64 {
        match self {
            Base::Even { size, parts } => {
                let (least, extra) = (size / *parts as i64, size % *parts as i64);
                let (part, plain) = (part as i64, *parts as i64 - extra);
                part * least + (part - plain).max(0)
            }
            Base::Listed(bounds) => bounds[part],
        }
    }

    /// The owner of a coordinate inside.
    fn owner(&self, global: i64) -> usize {
        match self {
            Base::Even { size, parts } => {
                let (least, extra) = (size / *parts as i64, size % *parts as i64);
                let plain = *parts as i64 - extra;
                let part = match global - plain * least {
                    beyond if beyond >= 0 => plain + beyond / (least + 1),
                    _ => global / least,
                };
                part as usize
            }
            // Of several parts that begin here, the last one is not empty.
            Base::Listed(bounds) => bounds.partition_point(|&bound| bound <= global) - 1,
        }
    }
}

impl BlockBounds {
    /// The even division; extra coordinates go to the last parts.
    pub fn even(size: i64, parts: usize) -> Result<BlockBounds> {
        check_parts("block bounds", parts)?;
        check_size("block bounds", size)?;
        Ok(BlockBounds { base: Base::Even { size, parts }, window: (0, size) })
    }

    /// Explicit bounds, one more than there are parts, ascending from 0 to the size.
    pub fn listed(bounds: &[i64]) -> Result<BlockBounds> {
        let refuse = |expected: &str, given: String| {
            let remedy = "list 0, then where each part stops, up to the size";
            Err(IndexError::new(ErrorKind::Bounds, "block bounds", expected, given, remedy))
        };
        if !(2..=MAX_PARTS + 1).contains(&bounds.len()) {
            let expected = format!("2 bounds or more, one more than parts and at most {}", MAX_PARTS + 1);
            return refuse(&expected, format!("{} bounds", bounds.len()));
        }
        if bounds[0] != 0 {
            return refuse("the first bound to be 0", bounds[0].to_string());
        }
        if let Some(p) = (1..bounds.len()).find(|&p| bounds[p - 1] > bounds[p]) {
            return refuse(
                "ascending bounds",
                format!("{} after {} as the end of part {}", bounds[p], bounds[p - 1], p - 1),
            );
        }
        let size = bounds[bounds.len() - 1];
        check_size("block bounds", size)?;
        Ok(BlockBounds { base: Base::Listed(bounds.into()), window: (0, size) })
    }

    /// `size` coordinates, all owned by this part of `parts`.
    pub(crate) fn all_at(part: usize, parts: usize, size: i64) -> BlockBounds {
        // Every part of this even division owns as many; only the owner's are in the window.
        let start = size * part as i64;
        BlockBounds { window: (start, start + size), ..BlockBounds::equal(size, parts) }
    }

    /// `size` coordinates for each of `parts` parts; the caller knows that the product is within the limit.
    pub(crate) fn equal(size: i64, parts: usize) -> BlockBounds {
        let size = size * parts as i64;
        BlockBounds { base: Base::Even { size, parts }, window: (0, size) }
    }

    /// Bounds that the caller knows to ascend from 0 within the limit.
    pub(crate) fn ascending(bounds: impl Iterator<Item = i64>) -> BlockBounds {
        let bounds: Arc<[i64]> = bounds.collect();
        let size = bounds[bounds.len() - 1];
        BlockBounds { base: Base::Listed(bounds), window: (0, size) }
    }

    /// Whether it is the even division, however it is written, which has a meaning for other sizes.
    pub(crate) fn is_even(&self) -> bool {
        BlockBounds::even(self.size(), self.parts()).is_ok_and(|even| *self == even)
    }

    /// The number of parts.
    pub fn parts(&self) -> usize {
        self.base.parts()
    }

    /// The number of coordinates.
    pub fn size(&self) -> i64 {
        self.window.1 - self.window.0
    }

    /// The number of coordinates of the part with the fewest: of even blocks, whole, a formula.
    pub(crate) fn fewest(&self) -> Option<i64> {
        match self.base {
            Base::Even { size, parts } if self.window == (0, size) => Some(size / parts as i64),
            _ => None,
        }
    }

    /// The beginning of `part`, at which its predecessor stops; `part` is at most the number of parts.
    pub fn start(&self, part: usize) -> i64 {
        self.base.start(part).clamp(self.window.0, self.window.1) - self.window.0
    }

    /// The part that owns `global`; none outside.
    pub fn owner(&self, global: i64) -> Option<usize> {
        (0..self.size()).contains(&global).then(|| self.base.owner(self.window.0 + global))
    }

    /// The bounds intersected with `start..stop` and shifted to begin at 0.
    pub(crate) fn restricted(&self, start: i64, stop: i64) -> BlockBounds {
        debug_assert!(0 <= start && start <= stop && stop <= self.size());
        BlockBounds { base: self.base.clone(), window: (self.window.0 + start, self.window.0 + stop) }
    }
}

impl PartialEq for BlockBounds {
    fn eq(&self, other: &BlockBounds) -> bool {
        let alike = self.parts() == other.parts() && self.size() == other.size();
        let same_words = || self.window == other.window && self.base == other.base;
        alike && (same_words() || (1..self.parts()).all(|part| self.start(part) == other.start(part)))
    }
}

impl Eq for BlockBounds {}

/// Refuses a number of parts that no process grid has.
pub(crate) fn check_parts(operation: &'static str, parts: usize) -> Result<()> {
    if (1..=MAX_PARTS).contains(&parts) {
        return Ok(());
    }
    let (expected, remedy) = (format!("1 to {MAX_PARTS} parts"), "use 1 for a dimension that is not cut");
    Err(IndexError::new(ErrorKind::Grid, operation, expected, parts.to_string(), remedy))
}

/// Refuses a size that is negative or could overflow.
pub(crate) fn check_size(operation: &'static str, size: i64) -> Result<()> {
    if (0..=COORDINATE_LIMIT).contains(&size) {
        return Ok(());
    }
    let (expected, remedy) = (format!("a size of 0 to {COORDINATE_LIMIT}"), "use 0 for an empty dimension");
    Err(IndexError::new(ErrorKind::Size, operation, expected, size.to_string(), remedy))
}

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
    // The place of coordinate 0 in a turn, and the distance of coordinate 1 from it.
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

    /// The place of coordinate 0 in a turn through all parts, and the distance of coordinate 1 from it.
    /// `(0, 1)` if nothing was cut off.
    pub fn phase(&self) -> (i64, i64) {
        (self.phase, self.step)
    }

    /// The part that owns a coordinate inside.
    pub fn owner(&self, global: i64) -> usize {
        ((self.phase + self.step * global) % self.period / self.block) as usize
    }

    /// The coordinates of `part`. Without a slice: `range(size)[start::stride]` for blocks of one coordinate.
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

    /// The number of coordinates that the parts before `part` own together; all for `part == parts`.
    pub fn before(&self, part: usize) -> i64 {
        self.window(0, self.begin(part)).len()
    }

    /// The beginning of the block of `part` in a turn.
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
