//! [`Section`]: the owned cells of a part, or a piece of the halo around them: what MLIR's Dist dialect calls
//! the parts of an array, in any number of dimensions.

use std::fmt;

use super::distribution::Distribution;
use crate::index::error::{ErrorKind, IndexError, Result, check_rank};
use crate::index::maps::DimMap;
use crate::index::region::{Index, Region};

/// On which side of the owned cells a section lies along one dimension.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum SectionSide {
    /// Below them: the left halo.
    Lower,
    /// Among them.
    Owned,
    /// Above them: the right halo.
    Upper,
}

/// A box of what a part stores: the owned cells, or a piece of the halo around them.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Section {
    /// Its side along every dimension.
    pub sides: Vec<SectionSide>,
    /// Its cells; any section may be empty, the owned one too.
    pub region: Region,
}

impl Section {
    /// In how many dimensions it lies outside the owned cells.
    pub fn outside(&self) -> usize {
        self.sides.iter().filter(|side| **side != SectionSide::Owned).count()
    }
}

impl fmt::Display for Section {
    /// `owned`, `face 0-`, `edge 0- 2+` or `corner 0- 1+ 2+`: the dimensions and directions it lies outside
    /// in.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.outside() {
            0 => return f.write_str("owned"),
            1 => "face",
            outside if outside == self.sides.len() => "corner",
            _ => "edge",
        })?;
        for (d, side) in self.sides.iter().enumerate() {
            match side {
                SectionSide::Lower => write!(f, " {d}-")?,
                SectionSide::Owned => {}
                SectionSide::Upper => write!(f, " {d}+")?,
            }
        }
        Ok(())
    }
}

/// The owned and halo sections of `stored` around `owned`, in C order of their sides; in one dimension left
/// halo, owned, right halo. Without dimensions there is one section.
pub fn sections(owned: &Region, stored: &Region) -> Result<Vec<Section>> {
    check_rank("sections", owned.rank(), stored.rank())?;
    let span = |d: usize, side: SectionSide| match side {
        SectionSide::Lower => (stored.start()[d].min(owned.start()[d]), owned.start()[d]),
        SectionSide::Owned => (owned.start()[d], owned.stop()[d]),
        SectionSide::Upper => (owned.stop()[d], stored.stop()[d].max(owned.stop()[d])),
    };
    let choices = Region::from_shape(&Index::filled(owned.rank(), 3))?;
    let section = |choice: Index| {
        let sides: Vec<SectionSide> = choice
            .iter()
            .map(|&c| [SectionSide::Lower, SectionSide::Owned, SectionSide::Upper][c as usize])
            .collect();
        Section { region: Region::from_fn(owned.rank(), |d| span(d, sides[d])), sides }
    };
    Ok(choices.points().map(section).collect())
}

impl Distribution {
    /// Refuses a distribution that is no regular grid of boxes: cyclic, unstructured, replicated and users'
    /// maps, and block maps with irregular bounds. Regular are even divisions, whose extents differ by one at
    /// most, and equal extents with a shorter remainder at the end. The `__partitioned__` protocol has no
    /// others.
    pub fn check_regular(&self, operation: &'static str) -> Result<()> {
        let irregular = |&d: &usize| !self.map(d).is_block() || !regular(self.map(d));
        let Some(d) = (0..self.rank()).find(irregular) else { return Ok(()) };
        let what = match self.map(d) {
            DimMap::Block { .. } => "irregular bounds".to_owned(),
            map => format!("a map, {map},"),
        };
        let (expected, given) = ("a regular grid of blocks", format!("{what} in dimension {d}"));
        let remedy = "redistribute to even blocks first";
        Err(IndexError::new(ErrorKind::Unsupported, operation, expected, given, remedy))
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
