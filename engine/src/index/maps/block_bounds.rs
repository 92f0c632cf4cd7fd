//! [`BlockBounds`]: the ends of the contiguous ranges of a block map.

use std::sync::Arc;

use crate::index::error::{ErrorKind, IndexError, Result};
use crate::index::sets::COORDINATE_LIMIT;

/// The largest number of parts, as many as there can be MPI ranks.
pub const MAX_PARTS: usize = i32::MAX as usize;

/// The ends of contiguous ranges. An even division is a formula, and a slice of any division is a window on
/// it, so neither costs memory per part. Equal when every part owns the same range, however it is written.
#[derive(Clone, Debug)]
pub struct BlockBounds {
    base: Base,
    // What is left of the base, in its coordinates; bounds are clamped to it and count from its start.
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

    /// Where `part` begins; the size for `part == parts`.
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

    /// One coordinate, owned by part 0 of `parts`.
    pub(crate) fn first_only(parts: usize) -> BlockBounds {
        // Every part of this even division owns one coordinate; only the first one's is in the window.
        BlockBounds { base: Base::Even { size: parts as i64, parts }, window: (0, 1) }
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

    /// Whether it is a whole even division, which has a meaning for other sizes.
    pub(crate) fn is_even(&self) -> bool {
        matches!(self.base, Base::Even { size, .. } if self.window == (0, size))
    }

    /// The number of parts.
    pub fn parts(&self) -> usize {
        self.base.parts()
    }

    /// The number of coordinates.
    pub fn size(&self) -> i64 {
        self.window.1 - self.window.0
    }

    /// Where `part` begins, and its predecessor stops; `part` is at most the number of parts.
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
