//! The distribution of a view: strided, flipped, transposed, new and dropped dimensions and diagonals. Every
//! element stays with its part.
//!
//! - A strided dimension leaves some cells of each part.
//! - A transposed grid exchanges the coordinates of the parts.
//! - A flipped dimension counts its parts from the other end.
//! - The grid coordinates of a dropped dimension are merged into those of a dimension that stays. All parts
//!   but the owner then own nothing.

use super::distribution::Distribution;
use super::process_grid::ProcessGrid;
use crate::index::error::{ErrorKind, IndexError, Result};
use crate::index::maps::{Along, Dim, DimMap};
use crate::index::sets::Index;

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
    /// Refused are views without dimensions of what has several parts.
    pub fn viewed(&self, shape: &[i64], axes: &[Along]) -> Result<Distribution> {
        let mut factors: Vec<Option<ViewDimension>> = shape.iter().map(|_| None).collect();
        let mut dropped = Vec::new();
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
                Along::Pinned(at) => ElementOwner::Owner(self.map(d).owner(at).unwrap_or(0)),
            };
            dropped.extend((parts > 1).then_some(DroppedDimension { parts, stride, owner }));
        }
        let new =
            |extent: i64| Ok(ViewDimension { map: DimMap::even(extent, 1)?, periodic: false, stride: 0 });
        let factors =
            factors.into_iter().zip(shape).map(|(factor, &extent)| factor.map_or_else(|| new(extent), Ok));
        assembled(merged(factors.collect::<Result<_>>()?, dropped)?)
    }

    /// What a dimension of the base becomes.
    fn factor(&self, d: usize, along: Along, count: i64) -> Result<ViewDimension> {
        let Along::Dim { offset, step, .. } = along else { unreachable!("pinned dimensions are dropped") };
        let whole = step.abs() == 1 && count == self.map(d).size();
        let (map, sign) = seen(self.map(d), offset, step, count)?;
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
            return Err(IndexError::new(
                ErrorKind::Grid,
                "view",
                "a dimension that stays, because there are several parts",
                "a view without dimensions",
                "keep one of extent 1, or take the element with `get`",
            ));
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
        let list = |merged| kept(merged).map_or(Vec::new(), |part| map.owned_set(part).iter().collect());
        let lists: Vec<Vec<i64>> = parts.map(list).collect();
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn along(dim: usize, offset: i64, step: i64) -> Along {
        Along::Dim { dim, offset, step }
    }

    /// Every element of a view is where its cell is.
    fn stays(dist: &Distribution, shape: &[i64], axes: &[Along]) {
        let view = dist.viewed(shape, axes).unwrap();
        assert_eq!((&view.shape()[..], view.parts()), (shape, dist.parts()));
        for at in view.global().points() {
            let cell: Vec<i64> = axes.iter().map(|along| along.at(&at)).collect();
            assert_eq!(view.owner(&at).unwrap(), dist.owner(&cell).unwrap(), "{axes:?} {at:?}");
        }
    }

    #[test]
    fn elements_stay_with_their_parts() {
        for grid in [[2, 3, 2], [1, 4, 3], [12, 1, 1], [3, 1, 4]] {
            let dist = Distribution::builder(&[7, 6, 9]).grid(&grid).build().unwrap();
            // Transposed, flipped, in steps.
            stays(&dist, &[9, 7, 6], &[along(1, 0, 1), along(2, 0, 1), along(0, 0, 1)]);
            stays(&dist, &[3, 3, 3], &[along(1, 6, -3), along(2, 5, -2), along(0, 1, 3)]);
            // A view of a view: the grid's strides already count down.
            let view = dist.viewed(&[9, 6, 7], &[along(2, 6, -1), along(1, 0, 1), along(0, 8, -1)]).unwrap();
            stays(&view, &[7, 2, 5], &[along(2, 8, -2), along(1, 4, -2), along(0, 0, 1)]);
            stays(&view, &[1, 6], &[along(0, 3, 1), along(1, 5, -1), Along::Pinned(6)]);
            // Dropped and new dimensions.
            for at in 0..6 {
                stays(&dist, &[9, 1, 7], &[along(2, 6, -1), Along::Pinned(at), along(0, 0, 1)]);
                stays(&dist, &[3], &[Along::Pinned(at), Along::Pinned(5 - at), along(0, 8, -4)]);
                stays(&view, &[6, 1], &[Along::Pinned(8 - at), along(0, 5, -1), Along::Pinned(at)]);
                stays(&dist, &[1], &[Along::Pinned(at), Along::Pinned(at), Along::Pinned(at)]);
            }
            assert!(dist.viewed(&[], &[Along::Pinned(0); 3]).is_err());
        }
        let single = Distribution::builder(&[3, 4]).build().unwrap();
        assert_eq!(single.viewed(&[], &[Along::Pinned(0); 2]).unwrap().rank(), 0);
    }

    #[test]
    fn diagonals_stay_where_their_dimensions_are_beside_each_other() {
        for grid in [[3, 2], [2, 4], [1, 5], [5, 1]] {
            let dist = Distribution::builder(&[8, 11]).grid(&grid).build().unwrap();
            for offset in 0..4 {
                stays(&dist, &[8], &[along(0, 0, 1), along(0, offset, 1)]);
                stays(&dist, &[4], &[along(0, 1, 2), along(0, offset, 2)]);
            }
        }
    }

    #[test]
    fn other_maps_keep_what_they_can() {
        let maps = [
            DimMap::cyclic(10, 3, 2).unwrap(),
            DimMap::unstructured(&[vec![5, 1], vec![0, 9, 2], vec![3, 4, 6, 7, 8]], true).unwrap(),
        ];
        for map in maps {
            let dist = Distribution::builder(&[4, 10]).grid(&[2, 3]).map(1, map).build().unwrap();
            stays(&dist, &[4, 4], &[along(1, 3, -1), along(0, 0, 3)]);
            stays(&dist, &[4], &[Along::Pinned(2), along(0, 1, 2)]);
            stays(&dist, &[4], &[along(0, 3, -1), Along::Pinned(7)]);
            let flipped = dist.viewed(&[4, 10], &[along(0, 0, 1), along(1, 9, -1)]).unwrap();
            assert_eq!(*flipped.map(1), DimMap::even(10, 3).unwrap());
        }
    }
}
