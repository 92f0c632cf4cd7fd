//! [`Footprint`]: the cells of one operand that each part reads, in the operand's packed coordinates.

use partita_kernels::MAX_RANK;

use crate::array::memory::storage::HaloWidths;
use crate::array::memory::window::ComputeRegion;
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
    /// The cells read by launches over regions of `target`, one per part. `None` if memory along some
    /// dimension is not in the launches' order: then the operand is to be packed in that order.
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

/// The positions of the cells that the parts read along one dimension of an operand.
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

/// The cells that a part reads through one map: that of its first point, and the box around all of them;
/// empty if it computes nothing.
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
