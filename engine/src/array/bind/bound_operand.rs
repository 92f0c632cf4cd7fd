//! A bound operand: its memory, its element order, and which part of a launch depends on a transfer.

use partita_kernels::View;

use crate::array::bind::schedule::missing_part;
use crate::array::lower::body::Leaf;
use crate::array::lower::footprint::Footprint;
use crate::array::record::map::Map;
use crate::error::Result;
use crate::index::{Along, Distribution, Index, Region};
use crate::program::Place;

/// Where one operand can be read.
pub(crate) struct BoundOperand {
    /// Per part: the memory.
    pub(crate) places: Vec<Option<Place>>,
    /// Per part: the cell of the first point, in the coordinates of the memory.
    pub(crate) anchors: Vec<Index>,
    pub(crate) order: MemoryOrder,
    pub(crate) dependency: Dependency,
}

/// How an operand lies in memory.
#[derive(Clone, Copy)]
pub(crate) enum MemoryOrder {
    /// As in the array: launches go through it in the steps of their maps.
    Array,
    /// As the launches go through it.
    Launch,
}

/// Which launches must wait for an operand.
pub(crate) enum Dependency {
    /// None: everything is there.
    None,
    /// Those that read beyond what the part owns: per part, how far from the ends of the launch's region,
    /// along each of its dimensions.
    Halo(Vec<(Index, Index)>),
    /// All.
    All,
}

impl BoundOperand {
    /// The cells of a launch's region that can be computed before anything arrives.
    pub fn core(&self, part: usize, region: &Region) -> Region {
        let margins = |lo: &dyn Fn(usize) -> i64, hi: &dyn Fn(usize) -> i64| {
            Region::from_fn(region.rank(), |d| {
                let start = (region.start()[d] + lo(d)).min(region.stop()[d]);
                (start, (region.stop()[d] - hi(d)).max(start))
            })
        };
        match &self.dependency {
            Dependency::None => *region,
            Dependency::All => margins(&|d| region.extent(d), &|_| 0),
            Dependency::Halo(far) => margins(&|d| far[part].0[d], &|d| far[part].1[d]),
        }
    }
}

/// How far from the ends of the region that a part computes it reads beyond what it owns of an operand.
pub(crate) fn halo_margins(
    map: &Map,
    footprint: &Footprint,
    source: &Distribution,
    region: &Region,
    part: usize,
) -> (Index, Index) {
    let (owned, need) = (source.owned(part), &footprint.needs[part]);
    let (mut lo, mut hi) = (Index::zeros(region.rank()), Index::zeros(region.rank()));
    for (d, axis) in map.axes().iter().enumerate() {
        let below = (owned.start()[d] - need.start()[d]).max(0);
        let above = (need.stop()[d] - owned.stop()[d]).max(0);
        match *axis {
            Along::Dim { dim, step, .. } => {
                let [below, above] = [below, above].map(|cells| (cells + step.abs() - 1) / step.abs());
                let (first, last) = if step > 0 { (below, above) } else { (above, below) };
                (lo[dim], hi[dim]) = (lo[dim].max(first), hi[dim].max(last));
            }
            Along::Pinned(_) if below + above > 0 && region.rank() > 0 => lo[0] = region.extent(0),
            Along::Pinned(_) => {}
        }
    }
    (lo, hi)
}

/// The parameters of one part's launch: each leaf's view of what the part computes, and its memory.
pub(crate) fn bind(
    leaves: &[Leaf],
    inputs: &[BoundOperand],
    part: usize,
    rank: usize,
) -> Result<Vec<(View, Place)>> {
    leaves
        .iter()
        .zip(inputs)
        .map(|(leaf, input)| {
            let place = input.places[part].clone().ok_or_else(|| missing_part("operand"))?;
            let inner = place.view(&input.anchors[part]);
            let mut view = View { offset: inner.offset, strides: vec![0; rank] };
            for (along, stride) in leaf.maps[0].axes().iter().zip(inner.strides) {
                match (*along, input.order) {
                    (Along::Dim { dim, step, .. }, MemoryOrder::Array) => view.strides[dim] += step * stride,
                    (Along::Dim { dim, .. }, MemoryOrder::Launch) => view.strides[dim] += stride,
                    (Along::Pinned(_), _) => {}
                }
            }
            Ok((view, place))
        })
        .collect()
}
