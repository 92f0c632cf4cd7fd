//! Maps derived from a [`DimMap`]: of a strided range of its coordinates, and of another size.

use super::block_bounds::BlockBounds;
use super::dim_map::DimMap;
use super::unstructured::Unstructured;
use crate::index::error::{ErrorKind, IndexError, Result};

impl DimMap {
    /// The same division of the coordinates `start`, `start + step`, ... below `stop` alone, renumbered from
    /// 0. Every element stays with its part. `0 <= start <= stop <= size`, and `step` is at least 1.
    pub(crate) fn sliced(&self, start: i64, stop: i64, step: i64) -> Result<DimMap> {
        let len = if start < stop { (stop - 1 - start) / step + 1 } else { 0 };
        let kept =
            |bound: i64| if bound <= start { 0 } else { ((bound.min(stop) - 1 - start) / step + 1).min(len) };
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
                let inside = |g: &i64| (start..stop).contains(g) && (g - start) % step == 0;
                Ok(DimMap::Unstructured(lists.restricted(inside, |g| (g - start) / step)?))
            }
            DimMap::Custom(custom) => {
                let inside = |g: &i64| (start..stop).contains(g) && (g - start) % step == 0;
                let renumbered = |part: usize| {
                    let held = custom.owned_set(part);
                    held.iter().filter(inside).map(|g| (g - start) / step).collect::<Vec<i64>>()
                };
                let lists: Vec<Vec<i64>> = (0..self.parts()).map(renumbered).collect();
                custom.sound()?;
                Ok(DimMap::Unstructured(Unstructured::new(&lists, true)?))
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn counts(map: &DimMap) -> Vec<i64> {
        (0..map.parts()).map(|part| map.count(part)).collect()
    }

    #[test]
    fn windows_keep_owners() {
        let map = DimMap::even(10, 4).unwrap();
        let cut = map.sliced(3, 9, 1).unwrap().sliced(1, 5, 1).unwrap();
        assert_eq!(cut.size(), 4);
        for i in 0..4 {
            assert_eq!(cut.owner(i), map.owner(i + 4));
        }
        assert_eq!(counts(&DimMap::first_only(3)), [1, 0, 0]);
        assert_eq!(DimMap::first_only(3), DimMap::irregular(&[0, 1, 1, 1]).unwrap());
        assert_eq!(counts(&map.sliced(10, 10, 1).unwrap()), [0, 0, 0, 0]);
    }
}
