//! The distribution of the same elements in C order in another shape, where no part's memory changes:
//! splitting and merging of dimensions. Halos are the caller's business.
//!
//! Both shapes fall into groups of neighbouring dimensions with equally many elements. Within a group a part
//! holds whole rows of the first dimension, and so one run of the group's elements. It holds whole rows in
//! the other shape if the ends of its run fall on them.

use std::ops::Range;

use super::distribution::Distribution;
use super::process_grid::ProcessGrid;
use crate::index::error::Result;
use crate::index::maps::{Dim, DimMap};
use crate::index::region::Index;

/// Neighbouring dimensions of a shape, and those of another that hold as many elements.
type Matched = (Range<usize>, Range<usize>);

/// The groups of two shapes, as small as possible and in order; `None` if their volumes differ, or are 0, or
/// one has no dimensions.
pub(crate) fn matched(old: &[i64], new: &[i64]) -> Option<Vec<Matched>> {
    if old.is_empty() || new.is_empty() || old.contains(&0) || new.contains(&0) {
        return None;
    }
    let mut groups: Vec<Matched> = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < old.len() && j < new.len() {
        let (first, start) = (i, j);
        let (mut a, mut b) = (old[i], new[j]);
        (i, j) = (i + 1, j + 1);
        while a != b {
            match a < b {
                true => (a, i) = (a.checked_mul(*old.get(i)?)?, i + 1),
                false => (b, j) = (b.checked_mul(*new.get(j)?)?, j + 1),
            }
        }
        groups.push((first..i, start..j));
    }
    // The remaining extents are 1, or the shapes do not match.
    if old[i..].iter().chain(&new[j..]).any(|&extent| extent != 1) {
        return None;
    }
    let last = groups.last_mut()?;
    (last.0.end, last.1.end) = (old.len(), new.len());
    Some(groups)
}

impl Distribution {
    /// The distribution of the elements in C order in another shape, if every part can hold them in the
    /// order in which it does: where within each group of dimensions only the first that has more than one
    /// cell is divided, at whole rows of both shapes. It has no halo and no boundary, and is periodic where
    /// going round means the same.
    pub(crate) fn reshaped(&self, shape: &[i64]) -> Result<Option<Distribution>> {
        let Some(groups) = matched(&self.shape(), shape) else { return Ok(None) };
        let rank = Index::new(shape)?.rank();
        let (mut parts, mut strides) = (Index::filled(rank, 1), Index::zeros(rank));
        let mut dims = Vec::with_capacity(rank);
        for (old, new) in groups {
            let Some((from, rows)) = self.rows(old) else { return Ok(None) };
            let lead = lead(shape, &new);
            let others = shape[lead + 1..new.end].iter().product();
            let Some(map) = self.map(from).in_rows(rows, others)? else { return Ok(None) };
            (parts[lead], strides[lead]) = (map.parts() as i64, self.grid().strides()[from]);
            for (d, &extent) in shape.iter().enumerate().take(new.end).skip(new.start) {
                dims.push(match d == lead {
                    true => Dim::plain(map.clone(), self.periodic(from)),
                    false => Dim::plain(DimMap::even(extent, 1)?, false),
                });
            }
        }
        Ok(Some(Distribution::from_dims(ProcessGrid::numbered(&parts, &strides)?, dims)?))
    }

    /// The dimension of a group along which parts hold rows, and the cells of a row.
    fn rows(&self, group: Range<usize>) -> Option<(usize, i64)> {
        let shape = self.shape();
        let divided = group.clone().find(|&d| self.map(d).parts() > 1);
        let from = divided.unwrap_or_else(|| lead(&shape, &group));
        let is_first = shape[group.start..from].iter().all(|&extent| extent == 1);
        let is_only = (from + 1..group.end).all(|d| self.map(d).parts() == 1 && self.map(d).is_block());
        (is_first && is_only).then(|| (from, shape[from + 1..group.end].iter().product()))
    }
}

/// The first dimension of a group that has more than one cell, if any has.
fn lead(shape: &[i64], group: &Range<usize>) -> usize {
    group.clone().find(|&d| shape[d] != 1).unwrap_or(group.start)
}

impl DimMap {
    /// The division of rows of `new` cells that gives every part the cells that it has here in rows of `old`;
    /// `None` if that cuts a row.
    fn in_rows(&self, old: i64, new: i64) -> Result<Option<DimMap>> {
        if old == new {
            return Ok(Some(self.clone()));
        }
        let scaled = |at: i64| at.checked_mul(old).filter(|cells| cells % new == 0).map(|cells| cells / new);
        let Some(size) = scaled(self.size()) else { return Ok(None) };
        match self {
            DimMap::Block { .. } => {
                let ends = (0..self.parts()).map(|part| scaled(self.owned(part).end));
                let bounds: Option<Vec<i64>> = std::iter::once(Some(0)).chain(ends).collect();
                bounds.map(|bounds| DimMap::irregular(&bounds)).transpose()
            }
            DimMap::Cyclic(cyclic) if cyclic.phase() == (0, 1) => {
                let block = scaled(cyclic.block_size());
                block.map(|block| DimMap::cyclic(size, self.parts(), block)).transpose()
            }
            DimMap::Replicated { parts, .. } => DimMap::replicated(size, *parts).map(Some),
            DimMap::Cyclic(_) | DimMap::Unstructured(_) | DimMap::Custom(_) => Ok(None),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_as_small_as_possible() {
        assert_eq!(matched(&[12, 5], &[3, 4, 5]).unwrap(), [(0..1, 0..2), (1..2, 2..3)]);
        assert_eq!(matched(&[4, 6, 7], &[8, 3, 7]).unwrap(), [(0..2, 0..2), (2..3, 2..3)]);
        assert_eq!(matched(&[4, 1, 6, 1], &[1, 24]).unwrap(), [(0..4, 0..2)]);
        assert_eq!(matched(&[4, 6], &[4, 1, 6, 1]).unwrap(), [(0..1, 0..1), (1..2, 1..4)]);
        for (old, new) in [(&[6][..], &[4][..]), (&[6], &[6, 2]), (&[0, 3], &[3, 0]), (&[], &[1])] {
            assert_eq!(matched(old, new), None, "{old:?} {new:?}");
        }
    }
}
