//! The distribution of a view: strided, flipped, transposed, new and dropped dimensions and diagonals. Every
//! element stays with its part.
//!
//! - A strided dimension leaves some cells of each part.
//! - A transposed grid exchanges the coordinates of the parts.
//! - A flipped dimension counts its parts from the other end.
//! - The grid coordinates of a dropped dimension are merged into those of a dimension that stays. All parts
//!   but the owner then own nothing.
//!
//! [`Formula`] is the global coordinate as arithmetic on the packed one, and a window is the position of a
//! slice in a part's memory. Kernels that need global coordinates and views of parts use them.

use super::distribution::Distribution;
use super::process_grid::ProcessGrid;
use crate::index::error::{ErrorKind, IndexError, Result, check_rank};
use crate::index::index_set::{Blocks, IndexSet};
use crate::index::maps::{Along, Dim, DimMap};
use crate::index::region::{Index, MAX_RANK, Region};

/// A dimension of the view under construction.
struct ViewDimension {
    map: DimMap,
    periodic: bool,
    /// Of the grid.
    stride: i64,
}

/// A dimension of the base that is none of the view: over how many coordinates of the grid it was spread, and
/// which of them the view's elements are at.
struct DroppedDimension {
    parts: usize,
    stride: i64,
    owner: ElementOwner,
}

enum ElementOwner {
    /// All elements at one coordinate.
    Owner(usize),
    /// On a diagonal: by this division of the dimension of the view, whose elements have owners in two.
    Diagonal(usize, DimMap),
}

impl Distribution {
    /// The distribution of the view of shape `shape` whose element at a point is the cell that `axes`, one
    /// per dimension of this distribution, say; all of them lie inside. It has no halo and no boundary, and
    /// is periodic along dimensions that are there as a whole. Every element stays with its part, except
    /// along flipped dimensions that are not blocks, which are divided evenly, and on diagonals of what is
    /// not blocks, runs backwards, or is not side by side in the grid.
    ///
    /// Without dimensions one part has the view.
    pub fn viewed(&self, shape: &[i64], axes: &[Along]) -> Result<Distribution> {
        let pinned = |d: usize| match axes[d] {
            Along::Pinned(at) => self.map(d).owner(at).unwrap_or(0),
            Along::Dim { .. } => 0,
        };
        if shape.is_empty() {
            let owner = self.grid().part_at(|d| pinned(d) as i64);
            return Ok(Distribution::lone(owner, self.parts()));
        }
        let mut factors: Vec<Option<ViewDimension>> = shape.iter().map(|_| None).collect();
        let mut dropped = Vec::new();
        if self.rank() == 0 && self.parts() > 1 {
            let owner = ElementOwner::Owner(self.grid().part_at(|_| 0));
            dropped.push(DroppedDimension { parts: self.parts(), stride: 1, owner });
        }
        for (d, along) in axes.iter().enumerate() {
            let (parts, stride) = (self.map(d).parts(), self.grid().strides()[d]);
            let owner = match *along {
                Along::Dim { dim, .. } if factors[dim].is_none() => {
                    factors[dim] = Some(self.factor(d, *along, shape[dim])?);
                    continue;
                }
                Along::Dim { dim, offset, step } => {
                    let seen = seen(self.map(d), offset, step, shape[dim])?;
                    match seen.0.is_block() && seen.1 == 1 {
                        true => ElementOwner::Diagonal(dim, seen.0),
                        false => ElementOwner::Owner(0),
                    }
                }
                Along::Pinned(_) => ElementOwner::Owner(pinned(d)),
            };
            dropped.extend((parts > 1).then_some(DroppedDimension { parts, stride, owner }));
        }
        let new =
            |extent: i64| Ok(ViewDimension { map: DimMap::even(extent, 1)?, periodic: false, stride: 0 });
        let factors =
            factors.into_iter().zip(shape).map(|(factor, &extent)| factor.map_or_else(|| new(extent), Ok));
        assembled(merged(factors.collect::<Result<_>>()?, dropped)?)
    }

    /// The dimension of the view that a dimension of the base becomes.
    fn factor(&self, d: usize, along: Along, count: i64) -> Result<ViewDimension> {
        let Along::Dim { offset, step, .. } = along else { unreachable!("pinned dimensions are dropped") };
        let whole = step.abs() == 1 && count == self.map(d).size();
        let (map, sign) = seen(self.map(d), offset, step, count).map_err(|error| error.in_dimension(d))?;
        Ok(ViewDimension {
            map,
            periodic: self.periodic(d) && whole,
            stride: sign * self.grid().strides()[d],
        })
    }
}

/// The division of every `step`-th coordinate from `offset` on, and -1 if its parts count from the other end.
fn seen(map: &DimMap, offset: i64, step: i64, count: i64) -> Result<(DimMap, i64)> {
    if count == 0 {
        return Ok((map.sliced(0, 0, 1)?, 1));
    }
    if step > 0 {
        return Ok((map.sliced(offset, offset + step * (count - 1) + 1, step)?, 1));
    }
    match map {
        DimMap::Block { .. } => {
            let up = map.sliced(offset + step * (count - 1), offset + 1, -step)?;
            let bounds: Vec<i64> =
                (0..up.parts()).rev().map(|part| count - up.owned(part).end).chain([count]).collect();
            Ok((DimMap::irregular(&bounds)?, -1))
        }
        DimMap::Replicated { parts, .. } => Ok((DimMap::replicated(count, *parts)?, 1)),
        DimMap::Cyclic(_) | DimMap::Unstructured(_) | DimMap::Custom(_) => {
            Ok((DimMap::even(count, map.parts())?, 1))
        }
    }
}

fn assembled(factors: Vec<ViewDimension>) -> Result<Distribution> {
    let shape = Index::new(&factors.iter().map(|factor| factor.map.parts() as i64).collect::<Vec<i64>>())?;
    let strides: Vec<i64> = factors.iter().map(|factor| factor.stride).collect();
    let grid = ProcessGrid::numbered(&shape, &strides)?;
    let dims = factors.into_iter().map(|factor| Dim::plain(factor.map, factor.periodic));
    Distribution::from_dims(grid, dims.collect())
}

/// Gives the grid coordinates of dropped dimensions to those that stay.
fn merged(mut factors: Vec<ViewDimension>, mut dropped: Vec<DroppedDimension>) -> Result<Vec<ViewDimension>> {
    while !dropped.is_empty() {
        let pair = |(k, dropped): (usize, &DroppedDimension)| Some((k, dropped.neighbour(&factors)?));
        let Some((k, (at, side))) = dropped.iter().enumerate().find_map(pair) else {
            unreachable!("part numbers of dimensions that stay are beside those of dropped ones")
        };
        let dropped = dropped.remove(k);
        factors[at] = dropped.merged_into(&factors[at], at, side)?;
    }
    Ok(factors)
}

/// Which of two merged dimensions varies more slowly.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MergeOrder {
    Outer,
    Inner,
}

impl DroppedDimension {
    /// A dimension whose part numbers are beside ours, and on which side of it we are: that of the diagonal
    /// if possible, then blocks.
    fn neighbour(&self, factors: &[ViewDimension]) -> Option<(usize, MergeOrder)> {
        let beside = |at: usize| {
            let ViewDimension { map, stride, .. } = &factors[at];
            match (self.stride.abs(), stride.abs(), map.parts()) {
                (_, _, 1) => Some((at, MergeOrder::Outer)),
                (mine, other, parts) if mine == other * parts as i64 => Some((at, MergeOrder::Outer)),
                (mine, other, _) if other == mine * self.parts as i64 => Some((at, MergeOrder::Inner)),
                _ => None,
            }
        };
        let preferred = match self.owner {
            ElementOwner::Diagonal(dim, _) => beside(dim),
            ElementOwner::Owner(_) => None,
        };
        let of_kind = |blocks: bool| {
            let mut some = (0..factors.len()).filter(move |&at| factors[at].map.is_block() == blocks);
            some.find_map(beside)
        };
        preferred.or_else(|| of_kind(true)).or_else(|| of_kind(false))
    }

    fn merged_into(&self, factor: &ViewDimension, at: usize, side: MergeOrder) -> Result<ViewDimension> {
        let kept = factor.map.parts();
        let sign = if factor.stride < 0 { -1 } else { 1 };
        let inner = match side {
            MergeOrder::Inner => self.stride.abs(),
            MergeOrder::Outer if kept == 1 => self.stride.abs(),
            MergeOrder::Outer => factor.stride.abs(),
        };
        // Both count the same way in the merged dimension.
        let turned = |coordinate: usize| match self.stride * sign < 0 {
            true => self.parts - 1 - coordinate,
            false => coordinate,
        };
        let split = |merged: usize| match side {
            MergeOrder::Outer => (turned(merged / kept), merged % kept),
            MergeOrder::Inner => (turned(merged % self.parts), merged / self.parts),
        };
        let map = match &self.owner {
            ElementOwner::Diagonal(dim, other)
                if *dim == at && factor.map.is_block() && self.stride * sign > 0 =>
            {
                let shared = |merged| {
                    let (mine, kept) = split(merged);
                    let (a, b) = (factor.map.owned(kept), other.owned(mine));
                    (a.end.min(b.end) - a.start.max(b.start)).max(0)
                };
                divided(&factor.map, (0..kept * self.parts).map(shared))?
            }
            ElementOwner::Diagonal(..) => self.at_owner(0, &factor.map, split)?,
            ElementOwner::Owner(owner) => self.at_owner(*owner, &factor.map, split)?,
        };
        Ok(ViewDimension { map, periodic: factor.periodic, stride: sign * inner })
    }

    /// The map over the products of both dimensions' grid coordinates.
    fn at_owner(
        &self,
        owner: usize,
        map: &DimMap,
        split: impl Fn(usize) -> (usize, usize),
    ) -> Result<DimMap> {
        let kept = |merged: usize| {
            let (mine, kept) = split(merged);
            (mine == owner).then_some(kept)
        };
        let parts = 0..map.parts() * self.parts;
        if map.is_block() {
            return divided(map, parts.map(|merged| kept(merged).map_or(0, |part| map.count(part))));
        }
        let list = |merged| match kept(merged) {
            Some(part) => Ok(map.try_owned_set(part)?.iter().collect()),
            None => Ok(Vec::new()),
        };
        let lists = parts.map(list).collect::<Result<Vec<Vec<i64>>>>()?;
        DimMap::unstructured(&lists, !map.has_copies())
    }
}

/// Blocks of these lengths.
fn divided(map: &DimMap, counts: impl Iterator<Item = i64>) -> Result<DimMap> {
    let ends = counts.scan(0, |end, count| {
        *end += count;
        Some(*end)
    });
    let bounds: Vec<i64> = std::iter::once(0).chain(ends).collect();
    debug_assert_eq!(bounds[bounds.len() - 1], map.size());
    DimMap::irregular(&bounds)
}

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
    /// The formula from the packed coordinates of `part` to its global ones. There is a formula for
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

    /// The number of coordinates below `global` that the part holds: the beginning of a slice from there in
    /// its order. None where that order is not ascending.
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

    /// The cells of a slice that `part` holds, as a box of packed coordinates; an error if they form no box.
    pub fn window(&self, part: usize, slice: &Region) -> Result<Region> {
        check_rank("Distribution::window", self.rank(), slice.rank())?;
        if self.rank() == 0 {
            return Ok(self.owned(part));
        }
        let at = self.grid().coordinate(part);
        let mut ends = [(0, 0); MAX_RANK];
        for d in 0..self.rank() {
            let (map, coordinate) = (self.map(d), at[d] as usize);
            let held = map.owned(coordinate);
            let (start, stop) = (slice.start()[d], slice.stop()[d]);
            ends[d] = if start <= 0 && stop >= map.size() {
                (held.start, held.end)
            } else {
                let unordered = || {
                    let expected =
                        "whole dimensions, or parts that list their coordinates in ascending order";
                    let given =
                        format!("grid coordinate {coordinate} of dimension {d}, whose list is unordered");
                    let remedy = "take the dimension whole, or sort the lists";
                    IndexError::new(ErrorKind::Unsupported, "slice", expected, given, remedy)
                };
                let below = |global: i64| map.held_below(coordinate, global).ok_or_else(unordered);
                let (first, end) = (below(start)?, below(stop)?);
                (held.start + first, held.start + end.max(first))
            };
        }
        Ok(Region::from_fn(self.rank(), |d| ends[d]))
    }
}
