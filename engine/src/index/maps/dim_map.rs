//! [`DimMap`]: the part that owns each coordinate of one dimension, and maps derived from it. It has no halo.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::sync::Arc;

use super::blocks::{BlockBounds, Cyclic, check_parts, check_size};
use super::custom_map::{Custom, CustomMap};
use super::unstructured::Unstructured;
use crate::index::error::{ErrorKind, IndexError, Result, check_room};
use crate::index::index_set::{IndexRange, IndexSet};
use crate::index::region::COORDINATE_LIMIT;

/// The division of one dimension over the coordinates ("parts" here) of one dimension of a process grid.
/// Every global coordinate has exactly one owner; a part may own nothing. Two of the kinds may hold copies at
/// further parts.
///
/// A part stores its coordinates one after the other, in its *local* order. Written one part after the other
/// they get their *packed* coordinates: the local coordinate plus what the parts before hold. For blocks
/// these are the global ones. In packed coordinates every map is a block map, [`DimMap::packed`].
///
/// ```
/// use partita::index::DimMap;
///
/// let map = DimMap::cyclic(10, 3, 2)?; // parts 0 0 1 1 2 2 0 0 1 1
/// assert_eq!((map.owner(7), map.to_local(7)), (Some(0), Some((0, 3))));
/// assert_eq!((map.count(0), map.count(1), map.count(2)), (4, 4, 2));
/// assert_eq!((map.owned(1), map.to_packed(8)), (4..8, Some(6)));
/// # Ok::<(), partita::index::IndexError>(())
/// ```
#[derive(Clone, Debug)]
pub enum DimMap {
    /// Every part owns one contiguous range, in the order of the parts.
    Block {
        /// The bounds of the ranges.
        bounds: BlockBounds,
    },
    /// Blocks of one size are dealt out to the parts in turn.
    Cyclic(Cyclic),
    /// Every part lists what it holds.
    Unstructured(Unstructured),
    /// Every part holds everything; part 0 owns it, the others hold copies.
    Replicated {
        /// The number of coordinates.
        size: i64,
        /// The number of parts.
        parts: usize,
    },
    /// A user's own division.
    Custom(Custom),
}

impl DimMap {
    /// `size` coordinates over `parts` parts, as evenly as possible; the extra ones go to the last parts.
    pub fn even(size: i64, parts: usize) -> Result<DimMap> {
        Ok(DimMap::Block { bounds: BlockBounds::even(size, parts)? })
    }

    /// Part `p` owns `bounds[p]..bounds[p + 1]`; the first bound is 0, the last is the size.
    pub fn irregular(bounds: &[i64]) -> Result<DimMap> {
        Ok(DimMap::Block { bounds: BlockBounds::listed(bounds)? })
    }

    /// Blocks of `block_size` coordinates dealt out in turn; the last block may be partial.
    pub fn cyclic(size: i64, parts: usize, block_size: i64) -> Result<DimMap> {
        Ok(DimMap::Cyclic(Cyclic::new(size, parts, block_size)?))
    }

    /// One list of coordinates per part; see [`Unstructured`] for coordinates that several parts list.
    pub fn unstructured(lists: &[Vec<i64>], one_to_one: bool) -> Result<DimMap> {
        Ok(DimMap::Unstructured(Unstructured::new(lists, one_to_one)?))
    }

    /// All of `size` coordinates at every part.
    pub fn replicated(size: i64, parts: usize) -> Result<DimMap> {
        check_parts("replicated map", parts)?;
        check_size("replicated map", size)?;
        if size.checked_mul(parts as i64).is_none_or(|all| all > COORDINATE_LIMIT) {
            let expected = format!("copies of at most {COORDINATE_LIMIT} coordinates in all");
            let given = format!("{size} at each of {parts} parts");
            return Err(IndexError::new(
                ErrorKind::Size,
                "replicated map",
                expected,
                given,
                "use fewer parts",
            ));
        }
        Ok(DimMap::Replicated { size, parts })
    }

    /// A user's own division.
    pub fn custom(map: Arc<dyn CustomMap>) -> Result<DimMap> {
        Ok(DimMap::Custom(Custom::new(map)?))
    }

    /// Whether a user's map has given possible answers so far.
    pub(crate) fn sound(&self) -> Result<()> {
        match self {
            DimMap::Custom(custom) => custom.sound(),
            _ => Ok(()),
        }
    }

    /// `size` coordinates, a few, all owned by this part of `parts`.
    pub(crate) fn all_at(part: usize, parts: usize, size: i64) -> DimMap {
        DimMap::Block { bounds: BlockBounds::all_at(part, parts, size) }
    }

    /// The name of the kind: `block`, `cyclic`, `unstructured`, `replicated` or a user's name for it.
    pub fn kind(&self) -> &str {
        match self {
            DimMap::Block { .. } => "block",
            DimMap::Cyclic(_) => "cyclic",
            DimMap::Unstructured(_) => "unstructured",
            DimMap::Replicated { .. } => "replicated",
            DimMap::Custom(custom) => custom.map().name(),
        }
    }

    /// Whether it is a block map, whose packed coordinates are the global ones.
    pub fn is_block(&self) -> bool {
        matches!(self, DimMap::Block { .. })
    }

    /// Whether some part holds copies of what another owns.
    pub fn has_copies(&self) -> bool {
        match self {
            DimMap::Block { .. } | DimMap::Cyclic(_) | DimMap::Custom(_) => false,
            DimMap::Unstructured(lists) => lists.has_copies(),
            DimMap::Replicated { size, parts } => *size > 0 && *parts > 1,
        }
    }

    /// The number of parts.
    pub fn parts(&self) -> usize {
        match self {
            DimMap::Block { bounds } => bounds.parts(),
            DimMap::Cyclic(cyclic) => cyclic.parts(),
            DimMap::Unstructured(lists) => lists.parts(),
            DimMap::Replicated { parts, .. } => *parts,
            DimMap::Custom(custom) => custom.packed().parts(),
        }
    }

    /// The number of global coordinates.
    pub fn size(&self) -> i64 {
        match self {
            DimMap::Block { bounds } => bounds.size(),
            DimMap::Cyclic(cyclic) => cyclic.size(),
            DimMap::Unstructured(lists) => lists.size(),
            DimMap::Replicated { size, .. } => *size,
            DimMap::Custom(custom) => custom.packed().size(),
        }
    }

    /// The number of coordinates of the parts before `part`, copies included; all for the number of parts.
    fn before(&self, part: usize) -> i64 {
        match self {
            DimMap::Block { bounds } => bounds.start(part),
            DimMap::Cyclic(cyclic) => cyclic.before(part),
            DimMap::Unstructured(lists) => lists.before(part),
            DimMap::Replicated { size, .. } => size * part as i64,
            DimMap::Custom(custom) => custom.packed().start(part),
        }
    }

    fn check_part(&self, part: usize) {
        assert!(part < self.parts(), "part {part} of {}", self.parts());
    }

    /// The packed coordinates of `part`. For a block map these are the global
    /// coordinates it owns.
    ///
    /// # Panics
    /// If there is no such part.
    pub fn owned(&self, part: usize) -> Range<i64> {
        self.check_part(part);
        self.before(part)..self.before(part + 1)
    }

    /// The global coordinates that `part` holds, in its local order.
    ///
    /// # Panics
    /// If there is no such part.
    pub fn owned_set(&self, part: usize) -> IndexSet {
        self.check_part(part);
        let range = |range: Range<i64>| IndexSet::Range(IndexRange::unit(range.start, range.end));
        match self {
            DimMap::Block { .. } => range(self.owned(part)),
            DimMap::Cyclic(cyclic) => cyclic.set(part),
            DimMap::Unstructured(lists) => IndexSet::List(lists.held(part).to_vec()),
            DimMap::Replicated { size, .. } => range(0..*size),
            DimMap::Custom(custom) => custom.owned_set(part),
        }
    }

    /// [`DimMap::owned_set`], or an error where the host has no room for a list.
    pub(crate) fn try_owned_set(&self, part: usize) -> Result<IndexSet> {
        if let DimMap::Unstructured(_) | DimMap::Custom(_) = self {
            let bytes = self.count(part).saturating_mul(2 * size_of::<i64>() as i64);
            check_room("a list of coordinates", bytes)?;
        }
        Ok(self.owned_set(part))
    }

    /// The coordinates that `part` owns, without its copies of others' coordinates.
    ///
    /// # Panics
    /// If there is no such part.
    pub fn owned_once(&self, part: usize) -> IndexSet {
        let held = self.owned_set(part);
        if !self.has_copies() {
            return held;
        }
        IndexSet::List(held.iter().filter(|&global| self.owner(global) == Some(part)).collect())
    }

    /// The number of coordinates that `part` holds, copies included.
    ///
    /// # Panics
    /// If there is no such part.
    pub fn count(&self, part: usize) -> i64 {
        let owned = self.owned(part);
        owned.end - owned.start
    }

    /// The number of packed coordinates: the size, and copies.
    pub fn packed_size(&self) -> i64 {
        self.before(self.parts())
    }

    /// The part that owns `global`; none outside the dimension.
    pub fn owner(&self, global: i64) -> Option<usize> {
        match self {
            DimMap::Block { bounds } => bounds.owner(global),
            DimMap::Cyclic(cyclic) => self.inside(global).then(|| cyclic.owner(global)),
            DimMap::Unstructured(lists) => lists.to_local(global).map(|(part, _)| part),
            DimMap::Replicated { .. } => self.inside(global).then_some(0),
            DimMap::Custom(custom) => self.inside(global).then(|| custom.to_local(global).0),
        }
    }

    fn inside(&self, global: i64) -> bool {
        (0..self.size()).contains(&global)
    }

    /// The owner of `global` and the position among what it holds.
    pub fn to_local(&self, global: i64) -> Option<(usize, i64)> {
        let part = self.owner(global)?;
        Some((part, self.local_at(part, global)?))
    }

    /// The position of `global` among what `part` holds, as owner or as a copy.
    pub fn local_at(&self, part: usize, global: i64) -> Option<i64> {
        if part >= self.parts() || !self.inside(global) {
            return None;
        }
        match self {
            DimMap::Block { bounds } => {
                (bounds.owner(global) == Some(part)).then(|| global - bounds.start(part))
            }
            DimMap::Cyclic(cyclic) => cyclic.blocks(part).position(global),
            DimMap::Unstructured(lists) => {
                lists.copies(global).find(|copy| copy.0 == part).map(|copy| copy.1)
            }
            DimMap::Replicated { .. } => Some(global),
            DimMap::Custom(custom) => {
                let (owner, local) = custom.to_local(global);
                (owner == part).then_some(local)
            }
        }
    }

    /// Every part that holds `global`, the owner first.
    pub fn holders(&self, global: i64) -> Vec<usize> {
        match self {
            DimMap::Unstructured(lists) => lists.copies(global).map(|(part, _)| part).collect(),
            DimMap::Replicated { parts, .. } if self.inside(global) => (0..*parts).collect(),
            _ => self.owner(global).into_iter().collect(),
        }
    }

    /// The coordinate at position `local` among those that `part` holds.
    pub fn to_global(&self, part: usize, local: i64) -> Option<i64> {
        if part >= self.parts() || !(0..self.count(part)).contains(&local) {
            return None;
        }
        match self {
            DimMap::Block { bounds } => Some(bounds.start(part) + local),
            DimMap::Cyclic(cyclic) => cyclic.blocks(part).nth(local),
            DimMap::Unstructured(lists) => lists.held(part).get(local as usize).copied(),
            DimMap::Replicated { .. } => Some(local),
            DimMap::Custom(custom) => Some(custom.to_global(part, local)),
        }
    }

    /// The position of `global` when the parts' coordinates are written one part after the other.
    pub fn to_packed(&self, global: i64) -> Option<i64> {
        match self {
            DimMap::Block { .. } => self.inside(global).then_some(global),
            _ => self.to_local(global).map(|(part, local)| self.before(part) + local),
        }
    }

    /// The coordinate at a packed one, found in the logarithm of the number of parts.
    pub fn from_packed(&self, packed: i64) -> Option<i64> {
        if self.is_block() {
            return self.inside(packed).then_some(packed);
        }
        let part = self.packed_part(packed)?;
        self.to_global(part, packed - self.before(part))
    }

    /// The part that holds a packed coordinate.
    fn packed_part(&self, packed: i64) -> Option<usize> {
        match self {
            DimMap::Block { bounds } => bounds.owner(packed),
            DimMap::Custom(custom) => custom.packed().owner(packed),
            _ if !(0..self.packed_size()).contains(&packed) => None,
            _ => {
                // The last part that begins at or before it: of several, the others hold nothing.
                let (mut low, mut high) = (0, self.parts() - 1);
                while low < high {
                    let middle = low + (high - low).div_ceil(2);
                    if self.before(middle) <= packed { low = middle } else { high = middle - 1 }
                }
                Some(low)
            }
        }
    }

    /// The block map of the packed coordinates; itself for a block map.
    pub fn packed(&self) -> DimMap {
        match self {
            DimMap::Block { .. } => self.clone(),
            DimMap::Custom(custom) => DimMap::Block { bounds: custom.packed().clone() },
            DimMap::Replicated { size, parts } => DimMap::Block { bounds: BlockBounds::equal(*size, *parts) },
            _ => DimMap::Block { bounds: BlockBounds::ascending((0..=self.parts()).map(|p| self.before(p))) },
        }
    }

    /// The same division as a block map, if it is one.
    pub fn as_block(&self) -> Option<DimMap> {
        match self {
            DimMap::Block { .. } => Some(self.clone()),
            DimMap::Cyclic(cyclic) if cyclic.is_block() => Some(self.packed()),
            DimMap::Replicated { parts: 1, .. } => Some(self.packed()),
            _ => None,
        }
    }

    /// The parts from the owner of the first to the owner of the last packed coordinate of `packed`, as far
    /// as it lies inside. Parts that own nothing may lie between them.
    pub fn owners(&self, packed: Range<i64>) -> Range<usize> {
        let (first, last) = (packed.start.max(0), packed.end.min(self.packed_size()) - 1);
        match (first <= last).then(|| (self.packed_part(first), self.packed_part(last))) {
            Some((Some(first), Some(last))) => first..last + 1,
            _ => 0..0,
        }
    }
}

impl fmt::Display for DimMap {
    /// The kind, and the block size of a cyclic map: `cyclic 3`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DimMap::Cyclic(cyclic) => write!(f, "{} {}", self.kind(), cyclic.block_size()),
            _ => f.write_str(self.kind()),
        }
    }
}

impl PartialEq for DimMap {
    /// Whether every part owns the same coordinates in the same order, however it was described. Index lists
    /// and users' maps are only compared with their own kind.
    fn eq(&self, other: &DimMap) -> bool {
        match (self, other) {
            (DimMap::Block { bounds: a }, DimMap::Block { bounds: b }) => a == b,
            (DimMap::Unstructured(a), DimMap::Unstructured(b)) => a == b,
            (DimMap::Custom(a), DimMap::Custom(b)) => a == b,
            _ if (self.parts(), self.size()) != (other.parts(), other.size()) => false,
            (DimMap::Replicated { .. }, DimMap::Replicated { .. }) => true,
            _ => match (self.as_block(), other.as_block(), self, other) {
                (Some(a), Some(b), _, _) => a == b,
                (None, None, DimMap::Cyclic(a), DimMap::Cyclic(b)) => a == b,
                _ => false,
            },
        }
    }
}

impl Eq for DimMap {}

impl Hash for DimMap {
    /// Equal maps may be written differently, so only numbers that follow from the division are hashed.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let parts = self.parts();
        (parts, self.size(), self.count(0), self.before(parts / 2)).hash(state);
    }
}

impl DimMap {
    /// The same division of the coordinates `start`, `start + step`, ... below `stop` alone, renumbered from
    /// 0. Every element stays with its part. `0 <= start <= stop <= size`, and `step` is at least 1.
    pub(crate) fn sliced(&self, start: i64, stop: i64, step: i64) -> Result<DimMap> {
        let len = if start < stop { (stop - 1 - start) / step + 1 } else { 0 };
        let kept =
            |bound: i64| if bound <= start { 0 } else { ((bound.min(stop) - 1 - start) / step + 1).min(len) };
        let inside = |g: &i64| (start..stop).contains(g) && (g - start) % step == 0;
        match self {
            _ if step == 1 && len == self.size() => Ok(self.clone()),
            DimMap::Block { bounds } if step == 1 => {
                Ok(DimMap::Block { bounds: bounds.restricted(start, stop) })
            }
            DimMap::Block { bounds } => {
                let ends = (0..=bounds.parts()).map(|part| kept(bounds.start(part)));
                Ok(DimMap::Block { bounds: BlockBounds::ascending(ends) })
            }
            DimMap::Cyclic(cyclic) => Ok(DimMap::Cyclic(cyclic.sliced(start, step, len))),
            DimMap::Replicated { parts, .. } => DimMap::replicated(len, *parts),
            DimMap::Unstructured(lists) => {
                Ok(DimMap::Unstructured(lists.restricted(inside, |g| (g - start) / step)?))
            }
            DimMap::Custom(custom) => {
                let renumbered = |part: usize| {
                    let held = custom.owned_set(part);
                    held.iter().filter(inside).map(|g| (g - start) / step).collect::<Vec<i64>>()
                };
                let lists: Vec<Vec<i64>> = (0..self.parts()).map(renumbered).collect();
                custom.sound()?;
                DimMap::unstructured(&lists, true)
            }
        }
    }

    /// The same way of dividing another number of coordinates: even blocks, cyclic and replicated maps have
    /// one, and users' maps may.
    pub fn resized(&self, size: i64) -> Result<DimMap> {
        match self {
            _ if size == self.size() => Ok(self.clone()),
            DimMap::Block { bounds } if bounds.is_even() => DimMap::even(size, bounds.parts()),
            DimMap::Cyclic(cyclic) if cyclic.phase() == (0, 1) => {
                DimMap::cyclic(size, cyclic.parts(), cyclic.block_size())
            }
            DimMap::Replicated { parts, .. } => DimMap::replicated(size, *parts),
            DimMap::Custom(custom) => DimMap::custom(custom.map().resized(size)?),
            _ => Err(IndexError::new(
                ErrorKind::Unsupported,
                "DimMap::resized",
                "a map that is a rule for any size",
                format!("a map, {}, that lists what {} coordinates belong to", self.kind(), self.size()),
                "list the coordinates of the new size",
            )),
        }
    }
}
