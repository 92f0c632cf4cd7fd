//! The footprint of one operand: the cells that each part reads, in the operand's packed coordinates. And
//! what the parts compute ([`ComputeRegion`]): their owned cells, or these plus halo cells that neighbours
//! compute redundantly instead of sending them.

use std::sync::Arc;

use partita_kernels::MAX_RANK;

use crate::array::memory::storage::HaloWidths;
use crate::array::record::map::Map;
use crate::error::Result;
use crate::index::{Along, DimMap, Distribution, Index, Region};

/// The cells of one operand that the parts read.
#[derive(Clone)]
pub(crate) struct Footprint {
    /// Per part: the cell that the first point reads through the first map, where load offsets are anchored.
    pub anchors: Vec<Index>,
    /// Per part: the bounding box of all reads.
    pub needs: Vec<Region>,
    /// The halo that brings it within every part's stored cells; `None` if no halo does.
    pub halo: Option<HaloWidths>,
}

impl Footprint {
    /// What launches over regions of `target`, one per part, read. `None` where memory along some dimension
    /// does not lie as the launches go through it: then the operand is to be packed in their order.
    pub fn of(
        maps: &[Map],
        source: &Distribution,
        target: &Distribution,
        regions: &[ComputeRegion],
    ) -> Result<Option<Footprint>> {
        let rank = source.rank();
        let alignments = maps.iter().map(|map| alignments(map, source, target));
        let Some(alignments) = alignments.collect::<Option<Vec<Vec<Alignment>>>>() else { return Ok(None) };
        let (mut anchors, mut needs) = (Vec::new(), Vec::new());
        let mut halo = Some(HaloWidths { lo: Index::zeros(rank), hi: Index::zeros(rank), corners: false });
        for (part, zone) in regions.iter().enumerate() {
            let owned = source.owned(part);
            let reads = alignments.iter().map(|axes| read(axes, source, (target, &zone.bounds), part));
            let Some(reads) = reads.collect::<Result<Option<Vec<PartRead>>>>()? else { return Ok(None) };
            for read in reads.iter().map(|read| &read.cells).filter(|read| !read.is_empty()) {
                halo = halo.filter(|_| !owned.is_empty() && within(source, read, &owned));
                if let Some(halo) = halo.as_mut() {
                    halo.include(read, &owned);
                }
            }
            anchors.push(reads[0].first);
            needs.push(reads[1..].iter().fold(reads[0].cells, |hull, read| hull.hull(&read.cells)));
        }
        Ok(Some(Footprint { anchors, needs, halo }))
    }

    /// Whether bringing a halo takes fewer copies than bringing all that is read: flips and transpositions
    /// read from afar.
    pub fn halo_pays(&self, source: &Distribution) -> Result<bool> {
        let Some(halo) = self.halo.as_ref().filter(|halo| !halo.is_zero()) else { return Ok(true) };
        let (mut held, mut read) = (0, 0);
        for (part, need) in self.needs.iter().enumerate() {
            held += source.reach(part, &halo.lo, &halo.hi)?.volume()? - source.owned(part).volume()?;
            read += need.volume()?;
        }
        Ok(held < read)
    }
}

/// Where the parts find what they read along one dimension of an operand.
#[derive(Clone, Copy, Debug)]
enum Alignment {
    /// Blocks or everything on both sides: a step in coordinates is a step in memory.
    Strided { dim: usize, offset: i64, step: i64 },
    /// The same division from coordinate `first` on: every part reads what it holds itself.
    Own { dim: usize, first: i64 },
    /// One coordinate for everybody.
    Single(i64),
}

/// The box that a part gets of an operand that is packed in the order of the launches, in the coordinates
/// of such a plan.
pub(crate) fn packed_box(map: &Map, target: &Distribution, part: usize) -> Result<Region> {
    let (owned, rank) = (target.owned(part), map.axes().len());
    let ends = |d: usize| match map.axes()[d] {
        Along::Dim { dim, .. } => (owned.start()[dim], owned.stop()[dim]),
        Along::Pinned(_) => (0, i64::from(!owned.is_empty())),
    };
    Ok(Region::new(&Index::from_fn(rank, |d| ends(d).0), &Index::from_fn(rank, |d| ends(d).1))?)
}

/// The map without the offsets by which loads of one parameter may differ: along what is blocks here and
/// there, and of what is packed as a box. What is packed in the order of the launches is there for
/// one map alone.
pub(crate) fn without_load_offsets(map: &Map, source: &Distribution, target: &Distribution) -> Result<Map> {
    let along_blocks = |d: usize| match map.axes()[d] {
        Along::Dim { dim, .. } => {
            source.map(d).is_block() && is_contiguous(target.map(dim)) && !map.repeats(d)
        }
        Along::Pinned(_) => false,
    };
    // Along an unordered list memory may be divided alike and the cells read still be no box.
    let whole = source.is_block() && target.is_block();
    let in_place = whole || Footprint::of(&[*map], source, target, &ComputeRegion::owned(target))?.is_some();
    let shared = |d: &usize| match in_place {
        true => along_blocks(*d),
        false => is_boxable(map, target) && !map.repeats(*d),
    };
    Ok((0..source.rank()).filter(shared).fold(*map, Map::without_offset))
}

/// Whether what a part reads through the map is a box in global coordinates, and most of that box.
pub(crate) fn is_boxable(map: &Map, target: &Distribution) -> bool {
    let in_order = |along: &Along| match along {
        Along::Dim { dim, .. } => is_contiguous(target.map(*dim)),
        Along::Pinned(_) => true,
    };
    !map.skips() && map.axes().iter().all(in_order)
}

fn alignments(map: &Map, source: &Distribution, target: &Distribution) -> Option<Vec<Alignment>> {
    let align = |(d, along): (usize, &Along)| match *along {
        Along::Pinned(at) => Some(Alignment::Single(at)),
        Along::Dim { dim, offset, step } => {
            let (from, to) = (source.map(d), target.map(dim));
            let ends = along.span(0, to.size().max(1));
            let inside = 0 <= ends.0 && ends.1 <= from.size();
            if is_contiguous(from) && is_contiguous(to) && (from.is_block() || inside) {
                Some(Alignment::Strided { dim, offset, step })
            } else if step == 1 && same_division(from, to, offset) {
                Some(Alignment::Own { dim, first: offset })
            } else if to.size() == 1 && (0..from.size()).contains(&offset) {
                Some(Alignment::Single(offset))
            } else {
                None
            }
        }
    };
    map.axes().iter().enumerate().map(align).collect()
}

/// Whether every part holds one range of coordinates.
pub(crate) fn is_contiguous(map: &DimMap) -> bool {
    matches!(map, DimMap::Block { .. } | DimMap::Replicated { .. })
}

/// Packed coordinate minus global coordinate of what a part holds of such a map.
fn lead(map: &DimMap, coordinate: i64) -> i64 {
    if map.is_block() { 0 } else { map.owned(coordinate as usize).start }
}

/// Whether `to` divides its coordinates as `from` divides those from `first` on.
fn same_division(from: &DimMap, to: &DimMap, first: i64) -> bool {
    if first == 0 && from == to {
        return true;
    }
    let stop = first + to.size();
    let inside = 0 <= first && stop <= from.size() && from.parts() == to.parts();
    inside && from.sliced(first, stop, 1).is_ok_and(|slice| slice == *to)
}

/// What a part reads through one map: the cell of its first point, and the box around all of them; empty if
/// it computes nothing.
struct PartRead {
    first: Index,
    cells: Region,
}

/// `None` along lists without order, where the cells read are no box.
fn read(
    axes: &[Alignment],
    source: &Distribution,
    (target, region): (&Distribution, &Region),
    part: usize,
) -> Result<Option<PartRead>> {
    let zeros = Index::zeros(axes.len());
    if region.is_empty() {
        return Ok(Some(PartRead { first: zeros, cells: Region::new(&zeros, &zeros)? }));
    }
    let (here, there) = (source.grid().coordinate(part), target.grid().coordinate(part));
    let (mut start, mut stop, mut backwards) = (zeros, zeros, [false; MAX_RANK]);
    for (d, axis) in axes.iter().enumerate() {
        let map = source.map(d);
        (start[d], stop[d]) = match *axis {
            Alignment::Strided { dim, offset, step } => {
                let by = offset + lead(map, here[d]) - step * lead(target.map(dim), there[dim]);
                backwards[d] = step < 0;
                let along = Along::Dim { dim, offset: by, step };
                along.span(region.start()[dim], region.stop()[dim])
            }
            Alignment::Own { dim, first } => {
                let coordinate = there[dim] as usize;
                let whole = map.size() == target.map(dim).size();
                let below = if whole { Some(0) } else { map.held_below(coordinate, first) };
                let Some(below) = below else { return Ok(None) };
                let first = map.owned(coordinate).start + below;
                (first, first + region.extent(dim))
            }
            Alignment::Single(at) => {
                let packed = map.nearest(here[d] as usize, at).unwrap_or(at);
                (packed, packed + 1)
            }
        };
    }
    let first = Index::from_fn(axes.len(), |d| if backwards[d] { stop[d] - 1 } else { start[d] });
    Ok(Some(PartRead { first, cells: Region::new(&start, &stop)? }))
}

/// Along other maps than blocks there are no halos: what a part reads there it holds, or it must be fetched.
/// Nor are there any beyond physical edges.
fn within(source: &Distribution, read: &Region, owned: &Region) -> bool {
    let inside = |d: usize, start, stop| start <= read.start()[d] && read.stop()[d] <= stop;
    (0..source.rank()).all(|d| match source.map(d).is_block() {
        true => source.periodic(d) || inside(d, 0, source.map(d).size()),
        false => inside(d, owned.start()[d], owned.stop()[d]),
    })
}

/// A result's place among the cells whose parts compute it: a window of an array on `base`.
#[derive(Clone)]
pub(crate) struct ArrayWindow {
    pub base: Arc<Distribution>,
    pub window: Region,
}

/// What one part computes, in the result's packed coordinates. Beyond the ends of a periodic dimension these
/// go on as the part's memory does.
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
    /// What each part owns.
    pub fn owned(dist: &Distribution) -> Vec<ComputeRegion> {
        (0..dist.parts()).map(|part| ComputeRegion::of(dist.owned(part))).collect()
    }

    fn of(cells: Region) -> ComputeRegion {
        ComputeRegion { bounds: cells, pieces: vec![RegionBox { cells, origin: *cells.start() }] }
    }
}

impl RegionBox {
    /// What a box inside has as the coordinates of its first cell.
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

    /// What each part computes of the window if it computes `grow` more cells than it owns. `dist` is the
    /// window's own distribution; the kernel asks for global coordinates along the dimensions `placed`.
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
        let nothing = Region::from_fn(dist.rank(), |_| (0, 0));
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

    /// What lies outside of the window of the cells that a part owns and of `grow` more, in coordinates of
    /// the base.
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

    /// Where the cells of a window lie in memory on the base: how far from their own coordinates.
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
