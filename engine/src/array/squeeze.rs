//! Arrays on other distributions and teams; dimensions of extent 1, dropped and inserted. Of the latter the
//! parts stay where they are: the grid's coordinates of a dropped dimension go to a neighbour, where all but
//! the one that owns the cell own nothing.

use std::sync::Arc;

use super::exchange::moved;
use super::node::Node;
use super::storage::Storage;
use super::{Array, check_parts};
use crate::error::{Error, Result};
use crate::index::{DimMap, Distribution, Index};
use crate::team::Team;

impl Array {
    /// The elements on another distribution of the same shape, of whatever kinds. Computes. The very same
    /// distribution gives the same array, and moves nothing.
    ///
    /// # Errors
    /// Another shape or number of parts; memory; those of [`Array::eval`].
    pub fn redistribute(&self, dist: &Distribution) -> Result<Array> {
        self.move_to(self.team(), dist)
    }

    /// The elements on another team and distribution: the teams may share all, some or no devices. Computes.
    ///
    /// # Errors
    /// Another shape; another number of parts than `team` has members; memory; those of [`Array::eval`].
    pub fn move_to(&self, team: &Team, dist: &Distribution) -> Result<Array> {
        self.eval()?;
        let Some(storage) = self.node.storage() else { unreachable!("eval computes or fails") };
        if team == self.team() && *dist == *storage.dist {
            return Ok(self.clone());
        }
        self.copied_to(team, dist)
    }

    /// The same in memory of its own, whatever the distribution.
    fn copied_to(&self, team: &Team, dist: &Distribution) -> Result<Array> {
        check_parts("redistribute", team, dist)?;
        if dist.shape() != self.shape() {
            return Err(Error::invalid(
                "redistribute",
                format!("a distribution of shape {}", self.shape()),
                dist.shape().to_string(),
                "make it for the array's shape",
            ));
        }
        self.eval()?;
        let Some(storage) = self.node.storage() else { unreachable!("eval computes or fails") };
        let _guard = self.team().evaluation();
        if self.team().wire() != team.wire() {
            return Err(Error::invalid(
                "move_to",
                "teams over the same ranks",
                format!("{} and {team}", self.team()),
                "make both with Team::world, or one of members of the other",
            ));
        }
        let storage = self.team().together("redistribution", || {
            moved(&storage, (self.team(), team), &Arc::new(dist.clone()), self.dtype())
        })?;
        Ok(Array::of(Node::ready(self.dtype(), team, storage)))
    }

    /// The array without the dimensions `axes`, which have extent 1; at least one dimension stays unless
    /// the team has one member. Computes.
    ///
    /// # Errors
    /// Other extents; dropping all dimensions of an array of several parts.
    pub fn squeeze(&self, axes: &[usize]) -> Result<Array> {
        let mut axes = axes.to_vec();
        axes.sort_unstable();
        axes.dedup();
        let extents_fit = axes.iter().all(|&d| d < self.rank() && self.shape()[d] == 1);
        if !extents_fit || (axes.len() == self.rank() && self.team().size() > 1) {
            return Err(Error::invalid(
                "squeeze",
                "dimensions of extent 1, and one dimension that stays if there are several parts",
                format!("dimensions {axes:?} of shape {}", self.shape()),
                "drop other dimensions",
            ));
        }
        let old = self.distribution()?;
        let plain = without(&old, None)?;
        let mut dist = plain.clone();
        for &axis in axes.iter().rev() {
            dist = without(&dist, Some(axis))?;
        }
        self.relabelled(&plain, dist)
    }

    /// The array with a dimension of extent 1 inserted before each of the dimensions `before`, several where
    /// one is named several times; the rank stands for the end. Computes.
    ///
    /// # Errors
    /// Dimensions beyond the rank; too many dimensions.
    pub fn unsqueeze(&self, before: &[usize]) -> Result<Array> {
        let old = self.distribution()?;
        let plain = without(&old, None)?;
        if before.iter().any(|&d| d > self.rank()) {
            let (expected, given) = (format!("dimensions of at most {}", self.rank()), format!("{before:?}"));
            return Err(Error::invalid("unsqueeze", expected, given, "use the rank to add one at the end"));
        }
        let (mut maps, mut periodic) = (Vec::new(), Vec::new());
        for d in 0..=self.rank() {
            for _ in before.iter().filter(|&&b| b == d) {
                maps.push(DimMap::even(1, 1)?);
                periodic.push(false);
            }
            if d < self.rank() {
                maps.push(plain.map(d).clone());
                periodic.push(plain.periodic(d));
            }
        }
        self.relabelled(&plain, assembled(maps, &periodic)?)
    }

    /// The array on `plain`, and then the same memory described by `dist`, which has the same boxes up to
    /// dimensions of extent 1. Two values must not share memory, so it is fresh.
    fn relabelled(&self, plain: &Distribution, dist: Distribution) -> Result<Array> {
        let packed = self.copied_to(self.team(), plain)?;
        let Some(storage) = packed.node.storage() else { unreachable!("copies are computed") };
        let storage = Storage::from_parts(Arc::new(dist), storage.parts.clone());
        Ok(Array::of(Node::ready(self.dtype(), self.team(), storage)))
    }
}

/// The same division without halo and boundary, and without one dimension.
fn without(dist: &Distribution, axis: Option<usize>) -> Result<Distribution> {
    let stays: Vec<usize> = (0..dist.rank()).filter(|&d| Some(d) != axis).collect();
    let mut maps: Vec<DimMap> = stays.iter().map(|&d| dist.map(d).clone()).collect();
    if let (Some(axis), false) = (axis, stays.is_empty()) {
        let dropped = Dropped { parts: dist.map(axis).parts(), owner: dist.map(axis).owner(0).unwrap_or(0) };
        // The neighbour before it, so that parts keep their numbers; the first dimension has one behind.
        let at = axis.saturating_sub(1);
        maps[at] = dropped.merged_into(&maps[at], axis == 0)?;
    }
    let periodic: Vec<bool> = stays.iter().map(|&d| dist.periodic(d)).collect();
    assembled(maps, &periodic)
}

fn assembled(maps: Vec<DimMap>, periodic: &[bool]) -> Result<Distribution> {
    let shape = Index::new(&maps.iter().map(DimMap::size).collect::<Vec<i64>>())?;
    let grid: Vec<i64> = maps.iter().map(|map| map.parts() as i64).collect();
    let builder = Distribution::builder(&shape).grid(&grid).periodic(periodic);
    let builder = maps.into_iter().enumerate().fold(builder, |builder, (d, map)| builder.map(d, map));
    Ok(builder.build()?)
}

/// A dimension of one cell: over how many coordinates of the grid it was spread, and which owned the cell.
struct Dropped {
    parts: usize,
    owner: usize,
}

impl Dropped {
    /// A map over the products of both dimensions' grid coordinates, in the order of the part numbers.
    fn merged_into(&self, map: &DimMap, outer: bool) -> Result<DimMap> {
        if self.parts == 1 {
            return Ok(map.clone());
        }
        let kept = |merged: usize| {
            let (dropped, kept) = match outer {
                true => (merged / map.parts(), merged % map.parts()),
                false => (merged % self.parts, merged / self.parts),
            };
            (dropped == self.owner).then_some(kept)
        };
        let parts = 0..map.parts() * self.parts;
        if map.is_block() {
            let counts = parts.map(|merged| kept(merged).map_or(0, |part| map.count(part)));
            let ends = counts.scan(0, |end, count| {
                *end += count;
                Some(*end)
            });
            let bounds: Vec<i64> = std::iter::once(0).chain(ends).collect();
            return Ok(DimMap::irregular(&bounds)?);
        }
        let list = |merged| kept(merged).map_or(Vec::new(), |part| map.owned_set(part).iter().collect());
        let lists: Vec<Vec<i64>> = parts.map(list).collect();
        Ok(DimMap::unstructured(&lists, !map.has_copies())?)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn parts_stay_where_they_are() {
        let dist = Distribution::builder(&[6, 1, 5]).grid(&[2, 3, 2]).build().unwrap();
        for (axis, at) in [(1, [0, 0, 0]), (1, [5, 0, 4]), (1, [3, 0, 2])] {
            let squeezed = without(&dist, Some(axis)).unwrap();
            assert_eq!(squeezed.parts(), dist.parts());
            assert_eq!(squeezed.owner(&[at[0], at[2]]).unwrap(), dist.owner(&at).unwrap(), "{at:?}");
        }
        let first = Distribution::builder(&[1, 7]).grid(&[3, 2]).build().unwrap();
        let squeezed = without(&first, Some(0)).unwrap();
        for column in 0..7 {
            assert_eq!(squeezed.owner(&[column]).unwrap(), first.owner(&[0, column]).unwrap());
        }
    }
}
