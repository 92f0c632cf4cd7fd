//! The cells of a move: as nested loops over memory, which a copy kernel runs ([`CellLoops`]; loops that form
//! one stride are merged, so contiguous faces are recognised), and as sets that may overlap ([`CellSet`]).

use std::ops::Range;

use partita_kernels::{MAX_RANK, View};

use crate::error::Result;
use crate::index::{Region, check_room};
use crate::plan::{AxisSubset, Move};
use crate::program::Place;
use crate::program::copies::AxisOffsets;

/// One end of a move: where it begins in its memory, and the offsets of each loop.
#[derive(Clone, Debug)]
pub(super) struct MoveEnd {
    pub offset: i64,
    pub offsets: Vec<AxisOffsets>,
}

impl MoveEnd {
    pub fn source(m: &Move, place: &Place) -> Result<MoveEnd> {
        MoveEnd::of(m, place, &m.from, |pair| pair.0)
    }

    pub fn target(m: &Move, place: &Place) -> Result<MoveEnd> {
        MoveEnd::of(m, place, &m.to, |pair| pair.1)
    }

    /// Memory that has the cells one after the other, from element `first` on.
    pub fn packed(extents: &[i64], first: i64) -> MoveEnd {
        let mut step = 1;
        let mut offsets: Vec<AxisOffsets> = Vec::with_capacity(extents.len());
        for extent in extents.iter().rev() {
            offsets.push(AxisOffsets::Strided(step));
            step *= extent;
        }
        offsets.reverse();
        MoveEnd { offset: first, offsets }
    }

    fn of(m: &Move, place: &Place, region: &Region, side: impl Fn((i64, i64)) -> i64) -> Result<MoveEnd> {
        let strides = place.strides();
        let mut offsets = Vec::new();
        for (d, &stride) in strides.iter().enumerate() {
            match m.subsets.as_ref().map(|subsets| &subsets[d]) {
                None => offsets.push(AxisOffsets::Strided(stride)),
                Some(AxisSubset::Runs { from_step, to_step, .. }) => {
                    offsets.extend([
                        AxisOffsets::Strided(stride * side((*from_step, *to_step))),
                        AxisOffsets::Strided(stride),
                    ]);
                }
                Some(list @ AxisSubset::List(_)) => {
                    // A list and the shared one that is made of it.
                    check_room("a move of listed cells", 3 * list.len() * size_of::<i64>() as i64)?;
                    let listed = (0..list.len()).map(|k| stride * side(list.nth(k))).collect();
                    offsets.push(AxisOffsets::Listed(listed));
                }
            }
        }
        Ok(MoveEnd { offset: place.view(region.start()).offset, offsets })
    }

    /// The end as a view, if no loop is a list.
    pub fn view(&self) -> Option<View> {
        let step = |offsets: &AxisOffsets| match offsets {
            AxisOffsets::Strided(step) => Some(*step),
            AxisOffsets::Listed(_) => None,
        };
        Some(View { offset: self.offset, strides: self.offsets.iter().map(step).collect::<Option<_>>()? })
    }
}

/// The turns of the loops of a move, those of the first dimension outermost; its ends have as many offsets.
pub(super) fn extents(m: &Move) -> Vec<i64> {
    let Some(subsets) = &m.subsets else { return m.from.extents().to_vec() };
    let loops = |subset: &AxisSubset| match subset {
        AxisSubset::Runs { run, count, .. } => vec![*count, *run],
        AxisSubset::List(_) => vec![subset.len()],
    };
    subsets.iter().flat_map(loops).collect()
}

/// A nest of loops over the cells of both ends; the last loop is the innermost.
#[derive(Clone, Debug)]
pub(super) struct CellLoops {
    pub extents: Vec<i64>,
    pub from: MoveEnd,
    pub to: MoveEnd,
}

impl CellLoops {
    /// The shortest nest for two ends; several nests where a kernel could not have as many loops.
    pub fn between(extents: &[i64], from: MoveEnd, to: MoveEnd) -> Vec<CellLoops> {
        let mut nest = CellLoops {
            extents: Vec::new(),
            from: MoveEnd { offsets: Vec::new(), ..from },
            to: MoveEnd { offsets: Vec::new(), ..to },
        };
        for ((&extent, from), to) in extents.iter().zip(from.offsets).zip(to.offsets) {
            nest.push(extent, from, to);
        }
        nest.split()
    }

    /// One more loop, inside of all so far.
    fn push(&mut self, extent: i64, from: AxisOffsets, to: AxisOffsets) {
        if extent == 1 {
            self.from.offset += from.nth(0);
            self.to.offset += to.nth(0);
            return;
        }
        let joins = |outer: Option<&AxisOffsets>, inner: &AxisOffsets| match (outer, inner) {
            (Some(AxisOffsets::Strided(outer)), AxisOffsets::Strided(inner)) => *outer == inner * extent,
            _ => false,
        };
        match self.extents.last_mut() {
            Some(last) if joins(self.from.offsets.last(), &from) && joins(self.to.offsets.last(), &to) => {
                *last *= extent;
                self.from.offsets.pop();
                self.to.offsets.pop();
            }
            _ => self.extents.push(extent),
        }
        self.from.offsets.push(from);
        self.to.offsets.push(to);
    }

    fn split(self) -> Vec<CellLoops> {
        if self.extents.len() <= MAX_RANK {
            return vec![self];
        }
        let inner = |end: &MoveEnd, k: i64| MoveEnd {
            offset: end.offset + end.offsets[0].nth(k),
            offsets: end.offsets[1..].to_vec(),
        };
        let each = |k: i64| CellLoops {
            extents: self.extents[1..].to_vec(),
            from: inner(&self.from, k),
            to: inner(&self.to, k),
        };
        (0..self.extents[0]).flat_map(|k| each(k).split()).collect()
    }

    /// The number of cells.
    pub fn count(&self) -> i64 {
        self.extents.iter().product()
    }
}

/// The first element of cells that lie one after the other in C order.
pub(super) fn contiguous(extents: &[i64], end: &MoveEnd) -> Option<i64> {
    let nest = CellLoops::between(extents, end.clone(), MoveEnd::packed(extents, 0));
    let [CellLoops { from, .. }] = &nest[..] else { return None };
    match &from.offsets[..] {
        [] | [AxisOffsets::Strided(1)] => Some(from.offset),
        _ => None,
    }
}

/// Cells of a memory that something uses: of a box, in the coordinates in which the memory holds `stored`,
/// those that are listed along some dimensions.
#[derive(Clone, PartialEq)]
pub(super) struct CellSet {
    stored: Region,
    bounds: Region,
    /// By dimension, ascending; all of the bounds where there is no list.
    listed: Vec<Option<Vec<i64>>>,
}

impl CellSet {
    /// The cells that a move reads.
    pub fn source(m: &Move, place: &Place) -> CellSet {
        CellSet::of(m, place, &m.from, |pair| pair.0)
    }

    /// The cells that a move writes.
    pub fn target(m: &Move, place: &Place) -> CellSet {
        CellSet::of(m, place, &m.to, |pair| pair.1)
    }

    fn of(m: &Move, place: &Place, bounds: &Region, side: impl Fn((i64, i64)) -> i64) -> CellSet {
        let listed = |(d, subset): (usize, &AxisSubset)| match subset {
            AxisSubset::Runs { .. } => None,
            AxisSubset::List(_) => {
                let mut all: Vec<i64> =
                    (0..subset.len()).map(|k| bounds.start()[d] + side(subset.nth(k))).collect();
                all.sort_unstable();
                Some(all)
            }
        };
        let listed = m.subsets.iter().flat_map(|subsets| subsets.iter().enumerate().map(listed)).collect();
        CellSet { stored: place.stored, bounds: *bounds, listed }
    }

    /// Whether both may have a cell of one memory; an unknown set may have any.
    pub fn overlaps(one: Option<&CellSet>, other: Option<&CellSet>) -> bool {
        let (Some(one), Some(other)) = (one, other) else { return true };
        if one.stored != other.stored {
            return true;
        }
        let common = one.bounds.intersect(&other.bounds);
        !common.is_empty()
            && (0..common.rank())
                .all(|d| one.shares_coordinate(other, d, common.start()[d]..common.stop()[d]))
    }

    /// Whether both have a coordinate along a dimension, within the intersection of their bounds.
    fn shares_coordinate(&self, other: &CellSet, d: usize, common: Range<i64>) -> bool {
        let list = |cells: &CellSet| cells.listed.get(d).cloned().flatten();
        match (list(self), list(other)) {
            (None, None) => true,
            (Some(list), None) | (None, Some(list)) => list.iter().any(|at| common.contains(at)),
            (Some(one), Some(other)) => one.iter().any(|at| other.binary_search(at).is_ok()),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn steps(steps: &[i64]) -> Vec<AxisOffsets> {
        steps.iter().map(|&step| AxisOffsets::Strided(step)).collect()
    }

    #[test]
    fn loops_that_are_one_walk_are_merged() {
        let whole = MoveEnd { offset: 5, offsets: steps(&[12, 4, 1]) };
        assert_eq!(contiguous(&[2, 3, 4], &whole), Some(5));
        assert_eq!(contiguous(&[2, 3, 3], &whole), None);
        assert_eq!(contiguous(&[1, 2, 4], &whole), Some(5));
        assert_eq!(contiguous(&[2, 1, 1], &whole), None);
        let cells = CellLoops::between(&[2, 3, 3], whole, MoveEnd::packed(&[2, 3, 3], 0));
        assert_eq!((&cells[0].extents, &cells[0].to.offsets), (&vec![6, 3], &steps(&[3, 1])));
        assert_eq!(cells[0].from.offsets, steps(&[4, 1]));
    }

    #[test]
    fn a_loop_that_runs_once_is_only_a_beginning() {
        let listed =
            MoveEnd { offset: 5, offsets: vec![AxisOffsets::Listed([7].into()), AxisOffsets::Strided(1)] };
        let cells = CellLoops::between(&[1, 4], listed, MoveEnd::packed(&[1, 4], 2));
        assert_eq!((cells[0].from.offset, cells[0].to.offset, &cells[0].extents), (12, 2, &vec![4]));
    }

    #[test]
    fn more_loops_than_a_kernel_has_become_several_nests() {
        let extents = [2; 10];
        let far =
            MoveEnd { offset: 0, offsets: (0..10).map(|k| AxisOffsets::Strided(3i64.pow(k))).collect() };
        let nests = CellLoops::between(&extents, far, MoveEnd::packed(&extents, 0));
        assert_eq!((nests.len(), nests.iter().map(CellLoops::count).sum::<i64>()), (4, 1 << 10));
        assert_eq!(nests.iter().map(|nest| nest.to.offset).collect::<Vec<_>>(), [0, 256, 512, 768]);
    }
}
