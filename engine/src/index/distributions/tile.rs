//! [`Tile`]: a distribution as a grid of boxes, which is the form of the `__partitioned__` protocol. It holds
//! no data and no locations.

use super::distribution::Distribution;
use crate::index::error::{ErrorKind, IndexError, Result};
use crate::index::maps::DimMap;
use crate::index::sets::{Index, Region};

/// What one part owns, at its place in the grid. Halos lie outside of it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Tile {
    /// The coordinate in the grid of parts.
    pub position: Index,
    /// The first cell.
    pub start: Index,
    /// The extents; empty tiles have one of 0.
    pub shape: Index,
}

impl Distribution {
    /// One tile for every grid position, in C order. Together they cover the shape exactly once.
    ///
    /// Refused are dimensions that the draft does not consider: cyclic, unstructured, replicated and users'
    /// maps, and block maps with irregular bounds. Regular are even divisions, whose extents differ by one at
    /// most, and equal extents with a shorter remainder at the end.
    pub fn tiles(&self) -> Result<Vec<Tile>> {
        for d in 0..self.rank() {
            let map = self.map(d);
            if !map.is_block() || !regular(map) {
                let what =
                    if map.is_block() { "irregular bounds".to_owned() } else { format!("a map, {map},") };
                return Err(IndexError::new(
                    ErrorKind::Unsupported,
                    "partition tiling",
                    "a regular grid of blocks",
                    format!("{what} in dimension {d}"),
                    "redistribute to even blocks first",
                ));
            }
        }
        let tile = |part: usize| {
            let owned = self.owned(part);
            Tile { position: self.grid().coordinate(part), start: *owned.start(), shape: owned.extents() }
        };
        let positions = Region::from_shape(self.grid().shape())?;
        Ok(positions.points().map(|at| tile(self.grid().part_at(|d| at[d]))).collect())
    }
}

fn regular(map: &DimMap) -> bool {
    let first = map.count(0);
    let counts = || (0..map.parts()).map(|part| map.count(part));
    let (least, most) = counts().fold((first, first), |(least, most), n| (least.min(n), most.max(n)));
    // With a remainder, the full parts come first, then the shorter one, then empty ones.
    let full = (0..map.parts()).take_while(|&part| map.count(part) == first).count();
    most - least <= 1 || (most == first && (full + 1..map.parts()).all(|part| map.count(part) == 0))
}
