//! [`ArrayWindow`]: the place of a result among the cells of an array, and what each part computes of it
//! ([`ComputeRegion`]): the cells that it owns, or these and halo cells, which neighbours compute redundantly
//! instead of sending them.

use std::sync::Arc;

use crate::array::memory::storage::HaloWidths;
use crate::error::Result;
use crate::index::{Distribution, Index, Region};

/// A result's place among the cells whose parts compute it: a window of an array on `base`.
#[derive(Clone)]
pub(crate) struct ArrayWindow {
    pub base: Arc<Distribution>,
    pub window: Region,
}

/// The region that one part computes, in the result's packed coordinates. Beyond the ends of a periodic
/// dimension these go on as the part's memory does.
#[derive(Clone, Debug)]
pub(crate) struct ComputeRegion {
    /// The box around everything.
    pub bounds: Region,
    pub pieces: Vec<RegionBox>,
}

/// A box of cells, and the coordinates that its first cell has at its owner.
#[derive(Clone, Debug)]
pub(crate) struct RegionBox {
    pub cells: Region,
    pub origin: Index,
}

/// Whether memory on a distribution has room for regions of its own coordinates.
pub(crate) fn holds(dist: &Distribution, regions: &[ComputeRegion]) -> bool {
    let fits = |(part, region): (usize, &ComputeRegion)| dist.stored(part).contains_region(&region.bounds);
    regions.iter().enumerate().all(fits)
}

impl ComputeRegion {
    /// The region that each part owns.
    pub fn owned(dist: &Distribution) -> Vec<ComputeRegion> {
        (0..dist.parts()).map(|part| ComputeRegion::of(dist.owned(part))).collect()
    }

    fn of(cells: Region) -> ComputeRegion {
        ComputeRegion { bounds: cells, pieces: vec![RegionBox { cells, origin: *cells.start() }] }
    }
}

impl RegionBox {
    /// The coordinates of the first cell of a box inside.
    pub fn origin_of(&self, inside: &Region) -> Index {
        let by = |d: usize| inside.start()[d] - self.cells.start()[d];
        Index::from_fn(inside.rank(), |d| self.origin[d] + by(d))
    }
}

/// A range of the base's coordinates along one dimension that shows cells of the window, and how far its
/// cells lie from those they show.
#[derive(Clone, Copy)]
struct WindowImage {
    start: i64,
    stop: i64,
    shift: i64,
}

impl ArrayWindow {
    /// The whole of a distribution.
    pub fn whole(dist: &Arc<Distribution>) -> ArrayWindow {
        ArrayWindow { base: Arc::clone(dist), window: dist.global() }
    }

    /// Whether growing means the same in both.
    pub fn is_like(&self, other: &ArrayWindow) -> bool {
        let (a, b) = (&self.base, &other.base);
        let around = |dist: &Distribution| (0..dist.rank()).map(|d| dist.periodic(d)).collect::<Vec<bool>>();
        self.window == other.window && a.same_layout(b) && around(a) == around(b)
    }

    /// The region of the window that each part computes with `grow` more cells than it owns. `dist` is the
    /// window's own distribution; the kernel needs global coordinates along the dimensions `placed`.
    pub fn regions(
        &self,
        dist: &Distribution,
        grow: &HaloWidths,
        placed: &[bool],
    ) -> Result<Vec<ComputeRegion>> {
        (0..dist.parts()).map(|part| self.zone(dist, part, grow, placed)).collect()
    }

    fn zone(
        &self,
        dist: &Distribution,
        part: usize,
        grow: &HaloWidths,
        placed: &[bool],
    ) -> Result<ComputeRegion> {
        let owned = dist.owned(part);
        if grow.is_zero() {
            return Ok(ComputeRegion::of(owned));
        }
        let footprint = self.base.reach(part, &grow.lo, &grow.hi)?;
        let along = |d: usize| {
            let in_place = WindowImage { start: owned.start()[d], stop: owned.stop()[d], shift: 0 };
            if !self.base.map(d).is_block() { vec![in_place] } else { self.shown(d, &footprint, placed[d]) }
        };
        let mut pieces = Vec::new();
        for chosen in product(&(0..dist.rank()).map(along).collect::<Vec<_>>()) {
            let first = |d: usize| if self.base.map(d).is_block() { self.window.start()[d] } else { 0 };
            let cells =
                Region::from_fn(chosen.len(), |d| (chosen[d].start - first(d), chosen[d].stop - first(d)));
            let origin = Index::from_fn(chosen.len(), |d| cells.start()[d] - chosen[d].shift);
            pieces.push(RegionBox { cells, origin });
        }
        pieces.retain(|piece| !piece.cells.is_empty() && !footprint.is_empty());
        let nothing = Region::empty(dist.rank());
        let bounds = pieces.iter().map(|piece| piece.cells).reduce(|a, b| a.hull(&b)).unwrap_or(nothing);
        Ok(ComputeRegion { bounds, pieces })
    }

    /// The ranges inside a box, along a dimension of blocks, that show cells of the window.
    fn shown(&self, d: usize, inside: &Region, placed: bool) -> Vec<WindowImage> {
        let (start, stop) = (inside.start()[d], inside.stop()[d]);
        let (first, end) = (self.window.start()[d], self.window.stop()[d]);
        let size = self.base.map(d).size();
        let round = self.base.periodic(d);
        if round && !placed && (first, end) == (0, size) {
            return vec![WindowImage { start, stop, shift: 0 }];
        }
        // Halos are no wider than their owners' parts, so nothing is seen twice round.
        let shifts: &[i64] = if round { &[-1, 0, 1] } else { &[0] };
        let image = |times: &i64| {
            let shift = times * size;
            WindowImage { start: start.max(first + shift), stop: stop.min(end + shift), shift }
        };
        shifts.iter().map(image).filter(|shown| shown.start < shown.stop).collect()
    }

    /// The cells outside of the window, of those that a part owns and `grow` more, in coordinates of the
    /// base.
    pub fn outside(&self, part: usize, grow: &HaloWidths) -> Result<Vec<Region>> {
        let mut rest = vec![self.base.reach(part, &grow.lo, &grow.hi)?];
        let held = self.base.window(part, &self.window)?;
        let along = |d: usize| match self.base.map(d).is_block() {
            true => self.shown(d, &rest[0], false),
            false => vec![WindowImage { start: held.start()[d], stop: held.stop()[d], shift: 0 }],
        };
        for chosen in product(&(0..held.rank()).map(along).collect::<Vec<_>>()) {
            let inside = Region::from_fn(chosen.len(), |d| (chosen[d].start, chosen[d].stop));
            rest = rest.iter().flat_map(|piece| piece.subtract(&inside)).collect();
        }
        rest.retain(|piece| !piece.is_empty());
        Ok(rest)
    }

    /// The first cell of a box of the window, `hull`, in the coordinates of memory on the base.
    pub fn corner(&self, part: usize, hull: &Region) -> Result<Index> {
        let held = self.base.window(part, &self.window)?;
        let first = |d: usize| match self.base.map(d).is_block() {
            true => hull.start()[d] + self.window.start()[d],
            false => held.start()[d],
        };
        Ok(Index::from_fn(hull.rank(), first))
    }
}

/// Every choice of one entry per dimension.
fn product(choices: &[Vec<WindowImage>]) -> Vec<Vec<WindowImage>> {
    choices.iter().fold(vec![Vec::new()], |chosen, next| {
        let extended = |before: &Vec<WindowImage>, shown: &WindowImage| {
            let mut longer = before.clone();
            longer.push(*shown);
            longer
        };
        chosen.iter().flat_map(|before| next.iter().map(|shown| extended(before, shown))).collect()
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn grown(lo: i64, hi: i64) -> HaloWidths {
        HaloWidths { lo: Index::new(&[lo]).unwrap(), hi: Index::new(&[hi]).unwrap(), corners: true }
    }

    fn cells(zone: &ComputeRegion) -> Vec<(i64, i64, i64)> {
        let ends = |p: &RegionBox| (p.cells.start()[0], p.cells.stop()[0], p.origin[0]);
        zone.pieces.iter().map(ends).collect()
    }

    #[test]
    fn zones_end_at_physical_edges_and_at_the_window() {
        let base = Arc::new(Distribution::builder(&[12]).parts(3).build().unwrap());
        let window = Region::new(&[1], &[7]).unwrap();
        let dist = base.restricted(&window).unwrap();
        let frame = ArrayWindow { base, window };
        let regions = frame.regions(&dist, &grown(2, 2), &[true]).unwrap();
        // Parts own 0..4, 4..8, 8..12; of the window 1..7 they see, counted from its start:
        assert_eq!(
            regions.iter().map(cells).collect::<Vec<_>>(),
            [vec![(0, 5, 0)], vec![(1, 6, 1)], vec![(5, 6, 5)]]
        );
        let outside = |part| frame.outside(part, &grown(2, 2)).unwrap();
        assert_eq!(outside(0), [Region::new(&[0], &[1]).unwrap()]);
        assert_eq!(outside(1), [Region::new(&[7], &[10]).unwrap()]);
    }

    #[test]
    fn round_a_periodic_dimension_cells_keep_their_owners_coordinates() {
        let base = Arc::new(Distribution::builder(&[12]).parts(3).periodic(&[true]).build().unwrap());
        let whole = ArrayWindow::whole(&base);
        assert_eq!(cells(&whole.regions(&base, &grown(2, 1), &[false]).unwrap()[0]), [(-2, 5, -2)]);
        assert_eq!(cells(&whole.regions(&base, &grown(2, 1), &[true]).unwrap()[0]), [(-2, 0, 10), (0, 5, 0)]);
        let window = Region::new(&[1], &[11]).unwrap();
        let part = ArrayWindow { base: Arc::clone(&base), window };
        let dist = base.restricted(&window).unwrap();
        // Cell -1 stands for 11, which is outside of the window, and -2 for 10, its last but one.
        assert_eq!(cells(&part.regions(&dist, &grown(2, 1), &[false]).unwrap()[0]), [(-3, -2, 9), (0, 4, 0)]);
        assert_eq!(part.outside(0, &grown(2, 1)).unwrap(), [Region::new(&[-1], &[1]).unwrap()]);
    }
}
