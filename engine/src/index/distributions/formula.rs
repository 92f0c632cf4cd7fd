//! [`Formula`]: the global coordinate as arithmetic on the packed one, and the position of a slice in a
//! part's memory. Kernels that need global coordinates and views of parts use it.

use super::distribution::Distribution;
use crate::index::error::{ErrorKind, IndexError, Result, check_rank};
use crate::index::maps::DimMap;
use crate::index::sets::{Blocks, IndexSet, MAX_RANK, Region};

/// With `hit = packed + shift`, the global coordinate is
/// `hit / width * period + hit % width - offset`, all of them integers and `hit` not negative.
///
/// For a cyclic map of which nothing was cut off this says that local coordinate `l` of a part with blocks of
/// `b` is global coordinate `(l / b) * (b * parts) + part * b + l % b`.
///
/// ```
/// use partita::index::DimMap;
///
/// let map = DimMap::cyclic(23, 3, 4)?;
/// let formula = map.formula(1).unwrap();
/// assert_eq!((formula.width, formula.period), (4, 12));
/// assert!(map.owned(1).all(|packed| Some(formula.global(packed)) == map.from_packed(packed)));
/// # Ok::<(), partita::index::IndexError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Formula {
    /// Added to the packed coordinate first.
    pub shift: i64,
    /// Coordinates per block, at least 1.
    pub width: i64,
    /// From the begin of one block to that of the next.
    pub period: i64,
    /// Subtracted last.
    pub offset: i64,
}

impl Formula {
    /// The global coordinate of a packed one that the part holds.
    pub fn global(&self, packed: i64) -> i64 {
        let hit = packed + self.shift;
        hit / self.width * self.period + hit % self.width - self.offset
    }

    /// The four numbers in the order of their declaration.
    pub fn numbers(&self) -> [i64; 4] {
        [self.shift, self.width, self.period, self.offset]
    }
}

impl DimMap {
    /// How the global coordinates of what `part` holds follow from the packed ones. There is a formula for
    /// all parts or for none: lists and users' maps have none, nor have slices of block-cyclic maps whose
    /// step does not divide the distance of a part's blocks.
    pub fn formula(&self, part: usize) -> Option<Formula> {
        match self {
            DimMap::Block { .. } => Some(Formula { shift: 0, width: 1, period: 1, offset: 0 }),
            DimMap::Replicated { size, .. } => {
                Some(Formula { shift: 0, width: 1, period: 1, offset: size * part as i64 })
            }
            DimMap::Cyclic(cyclic) if cyclic.is_regular() => {
                let blocks: Blocks = cyclic.blocks(part).unit_step()?;
                let Blocks { offset, period, width, .. } = blocks;
                let shift = blocks.hits(offset) - cyclic.before(part);
                Some(Formula { shift, width: width.max(1), period, offset })
            }
            DimMap::Cyclic(_) | DimMap::Unstructured(_) | DimMap::Custom(_) => None,
        }
    }

    /// How many coordinates below `global` the part holds: where in its order a slice that begins there
    /// begins. None where that order is not ascending.
    pub fn held_below(&self, part: usize, global: i64) -> Option<i64> {
        let inside = global.clamp(0, self.size());
        let in_list =
            |list: &[i64]| list.is_sorted().then(|| list.partition_point(|&held| held < inside) as i64);
        match self {
            DimMap::Block { bounds } => {
                Some(inside.clamp(bounds.start(part), bounds.start(part + 1)) - bounds.start(part))
            }
            DimMap::Cyclic(cyclic) => Some(cyclic.blocks(part).below(inside)),
            DimMap::Replicated { .. } => Some(inside),
            DimMap::Unstructured(lists) => in_list(lists.held(part)),
            DimMap::Custom(custom) => match custom.owned_set(part) {
                IndexSet::Blocks(blocks) => Some(blocks.below(inside)),
                IndexSet::List(list) => in_list(&list),
                IndexSet::Range(range) => in_list(&range.iter().collect::<Vec<i64>>()),
            },
        }
    }

    /// The packed coordinate at which a part that needs `global` finds it: its own copy, or else the owner's.
    pub(crate) fn nearest(&self, part: usize, global: i64) -> Option<i64> {
        let local = || Some(self.owned(part).start + self.local_at(part, global)?);
        if self.is_block() { self.to_packed(global) } else { local().or_else(|| self.to_packed(global)) }
    }
}

impl Distribution {
    /// Whether what every part holds of a slice is a box of packed coordinates: along lists that are not
    /// ascending, only the whole dimension is.
    pub fn is_box(&self, slice: &Region) -> bool {
        (0..self.rank()).all(|d| self.is_box_along(d, slice))
    }

    /// The same for one dimension.
    pub(crate) fn is_box_along(&self, d: usize, slice: &Region) -> bool {
        let (map, start) = (self.map(d), slice.start()[d]);
        let orderly = match map {
            DimMap::Block { .. } | DimMap::Cyclic(_) | DimMap::Replicated { .. } => true,
            DimMap::Unstructured(_) | DimMap::Custom(_) => start <= 0 && slice.stop()[d] >= map.size(),
        };
        orderly || (0..map.parts()).all(|part| map.held_below(part, start).is_some())
    }

    /// What `part` holds of a slice, as a box of packed coordinates; refuses what is none.
    pub fn window(&self, part: usize, slice: &Region) -> Result<Region> {
        check_rank("Distribution::window", self.rank(), slice.rank())?;
        let at = self.grid().coordinate(part);
        let mut ends = [(0, 0); MAX_RANK];
        for d in 0..self.rank() {
            let (map, coordinate) = (self.map(d), at[d] as usize);
            let held = map.owned(coordinate);
            let (start, stop) = (slice.start()[d], slice.stop()[d]);
            ends[d] = if start <= 0 && stop >= map.size() {
                (held.start, held.end)
            } else {
                let below = |global: i64| map.held_below(coordinate, global);
                match (below(start), below(stop)) {
                    (Some(first), Some(end)) => (held.start + first, held.start + end.max(first)),
                    _ => return Err(not_ascending(d, coordinate)),
                }
            };
        }
        Ok(Region::from_fn(self.rank(), |d| ends[d]))
    }
}

fn not_ascending(d: usize, coordinate: usize) -> IndexError {
    IndexError::new(
        ErrorKind::Unsupported,
        "slice",
        "whole dimensions, or parts that list their coordinates in ascending order",
        format!("a part of dimension {d}, of which grid coordinate {coordinate} has an unordered list"),
        "take the dimension whole, or sort the lists",
    )
}
