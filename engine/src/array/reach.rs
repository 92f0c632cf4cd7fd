//! What the launches over a distribution read of one operand, part by part, in the operand's packed
//! coordinates. Knows maps and distributions; moves nothing.

use super::lower::{Axis, Map};
use super::storage::Fresh;
use super::zone::Zone;
use crate::error::Result;
use crate::index::{DimMap, Distribution, Index, Region};
use crate::plan::Along;

/// What is read of one operand.
pub(crate) struct Reach {
    /// Per part: the box read through the first map, where load offsets are anchored.
    pub anchors: Vec<Region>,
    /// Per part: the bounding box of all reads.
    pub needs: Vec<Region>,
    /// The halo that brings it within every part's stored cells; `None` if no halo does.
    pub halo: Option<Fresh>,
}

impl Reach {
    /// What launches over zones of `target`, one per part, read. `None` where memory along some dimension does
    /// not lie as the launches go through it: then the operand is to be brought in their order, see [`along`].
    pub fn of(
        maps: &[Map],
        source: &Distribution,
        target: &Distribution,
        zones: &[Zone],
    ) -> Result<Option<Reach>> {
        let rank = source.rank();
        let alignments = maps.iter().map(|map| alignments(map, source, target));
        let Some(alignments) = alignments.collect::<Option<Vec<Vec<Alignment>>>>() else { return Ok(None) };
        let mut halo = Some(Fresh { lo: Index::zeros(rank), hi: Index::zeros(rank), corners: false });
        let (mut anchors, mut needs) = (Vec::new(), Vec::new());
        for (part, zone) in zones.iter().enumerate() {
            let owned = source.owned(part);
            let reads = alignments.iter().map(|axes| read(axes, source, (target, &zone.hull), part));
            let Some(reads) = reads.collect::<Result<Option<Vec<Region>>>>()? else { return Ok(None) };
            for read in reads.iter().filter(|read| !read.is_empty()) {
                halo = halo.filter(|_| !owned.is_empty() && within(source, read, &owned));
                if let Some(halo) = halo.as_mut() {
                    halo.include(read, &owned);
                }
            }
            anchors.push(reads[0]);
            needs.push(reads[1..].iter().fold(reads[0], |hull, read| hull.hull(read)));
        }
        Ok(Some(Reach { anchors, needs, halo }))
    }
}

/// Where the parts find what they read along one dimension of an operand.
#[derive(Clone, Copy, Debug)]
enum Alignment {
    /// Blocks or everything on both sides: a shift in coordinates is a shift in memory.
    Shifted { dim: usize, offset: i64 },
    /// The same division from coordinate `first` on: every part reads what it holds itself.
    Own { dim: usize, first: i64 },
    /// One coordinate for everybody.
    Single(i64),
}

/// The way from the launches' coordinates to an operand's, for a plan.
pub(crate) fn along(map: &Map) -> Vec<Along> {
    let along = |axis: &Axis| match *axis {
        Axis::Along { dim, offset } => Along::Dim { dim, offset },
        Axis::Pinned(at) => Along::Pinned(at),
    };
    map.axes().iter().map(along).collect()
}

/// The box that a part gets of an operand that is brought so, in the coordinates of such a plan.
pub(crate) fn brought(map: &Map, target: &Distribution, part: usize) -> Result<Region> {
    let (owned, rank) = (target.owned(part), map.axes().len());
    let ends = |d: usize| match map.axes()[d] {
        Axis::Along { dim, .. } => (owned.start()[dim], owned.stop()[dim]),
        Axis::Pinned(_) => (0, i64::from(!owned.is_empty())),
    };
    Ok(Region::new(&Index::from_fn(rank, |d| ends(d).0), &Index::from_fn(rank, |d| ends(d).1))?)
}

fn alignments(map: &Map, source: &Distribution, target: &Distribution) -> Option<Vec<Alignment>> {
    let align = |(d, axis): (usize, &Axis)| match *axis {
        Axis::Pinned(at) => Some(Alignment::Single(at)),
        Axis::Along { dim, offset } => {
            let (from, to) = (source.map(d), target.map(dim));
            let inside = 0 <= offset && offset + to.size() <= from.size();
            if is_contiguous(from) && is_contiguous(to) && (from.is_block() || inside) {
                Some(Alignment::Shifted { dim, offset })
            } else if same_division(from, to, offset) {
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

/// The box that a part reads through one map; empty if it computes nothing. `None` along lists without order,
/// where it is no box.
fn read(
    axes: &[Alignment],
    source: &Distribution,
    (target, region): (&Distribution, &Region),
    part: usize,
) -> Result<Option<Region>> {
    if region.is_empty() {
        let zeros = Index::zeros(axes.len());
        return Ok(Some(Region::new(&zeros, &zeros)?));
    }
    let (here, there) = (source.grid().coordinate(part), target.grid().coordinate(part));
    let (mut start, mut stop) = (Index::zeros(axes.len()), Index::zeros(axes.len()));
    for (d, axis) in axes.iter().enumerate() {
        let map = source.map(d);
        (start[d], stop[d]) = match *axis {
            Alignment::Shifted { dim, offset } => {
                let by = offset + lead(map, here[d]) - lead(target.map(dim), there[dim]);
                (region.start()[dim] + by, region.stop()[dim] + by)
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
    Ok(Some(Region::new(&start, &stop)?))
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

impl Fresh {
    pub fn is_nothing(&self) -> bool {
        self.lo.iter().chain(self.hi.iter()).all(|&width| width == 0)
    }

    /// Widens to what `read` reaches beyond `owned`.
    fn include(&mut self, read: &Region, owned: &Region) {
        let mut outside = 0;
        for d in 0..owned.rank() {
            let lo = owned.start()[d] - read.start()[d];
            let hi = read.stop()[d] - owned.stop()[d];
            outside += usize::from(lo > 0 || hi > 0);
            self.lo[d] = self.lo[d].max(lo);
            self.hi[d] = self.hi[d].max(hi);
        }
        self.corners |= outside > 1;
    }
}
