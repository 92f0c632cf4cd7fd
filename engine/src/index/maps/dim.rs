//! [`Dim`]: the map, halo, boundary and periodicity of one dimension; "part" here is a coordinate of the
//! process grid in this dimension. [`Along`]: an affine rule from the coordinates of one array to one
//! dimension of another.

use std::sync::Arc;

use super::dim_map::DimMap;
use crate::index::error::{ErrorKind, IndexError, Result};
use crate::index::region::COORDINATE_LIMIT;

/// One dimension of a distribution.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Dim {
    pub map: DimMap,
    pub halo: Halo,
    /// Widths of the physical edge below and above; they count in the size.
    pub boundary: (i64, i64),
    pub periodic: bool,
}

/// Widths (below, above) of the copies of others' cells.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Halo {
    Uniform(i64, i64),
    PerPart(Arc<[(i64, i64)]>),
}

impl Halo {
    /// One pair per part; kept short where one pair says the same. At the two ends of a dimension that is not
    /// periodic there is nobody to copy from, so what the list says there does not matter.
    pub fn per_part(widths: &[(i64, i64)], periodic: bool) -> Halo {
        let inner = usize::from(!periodic && widths.len() > 1);
        let (los, his) = (&widths[inner..], &widths[..widths.len() - inner]);
        if los.iter().all(|w| w.0 == los[0].0) && his.iter().all(|w| w.1 == his[0].1) {
            return Halo::Uniform(los[0].0, his[0].1);
        }
        Halo::PerPart(widths.into())
    }

    pub fn widths(&self, part: usize) -> (i64, i64) {
        match self {
            Halo::Uniform(lo, hi) => (*lo, *hi),
            Halo::PerPart(widths) => widths[part],
        }
    }

    /// The widths of every part, where they differ.
    pub fn list(&self) -> Option<&[(i64, i64)]> {
        match self {
            Halo::Uniform(..) => None,
            Halo::PerPart(widths) => Some(widths),
        }
    }

    /// At least so wide at every part.
    pub fn widened(&self, lo: i64, hi: i64, periodic: bool) -> Halo {
        let wider = |&(a, b): &(i64, i64)| (a.max(lo), b.max(hi));
        match self {
            Halo::Uniform(a, b) => Halo::Uniform(lo.max(*a), hi.max(*b)),
            Halo::PerPart(widths) => {
                Halo::per_part(&widths.iter().map(wider).collect::<Vec<(i64, i64)>>(), periodic)
            }
        }
    }

    /// The widest on either side.
    pub fn widest(&self) -> (i64, i64) {
        match self {
            Halo::Uniform(lo, hi) => (*lo, *hi),
            Halo::PerPart(widths) => widths.iter().fold((0, 0), |most, w| (most.0.max(w.0), most.1.max(w.1))),
        }
    }
}

impl Dim {
    /// The packed coordinates of `part`, as (start, stop); for a block map, the global coordinates that it
    /// owns.
    pub fn owned(&self, part: usize) -> (i64, i64) {
        let owned = self.map.owned(part);
        (owned.start, owned.end)
    }

    /// The coordinates that `part` owns and copies.
    pub fn stored(&self, part: usize) -> (i64, i64) {
        let (lo, hi) = self.halo.widths(part);
        self.reach(part, lo, hi)
    }

    /// Whether every part stores so many cells beside its own, as far as there are any.
    pub fn stores(&self, lo: i64, hi: i64) -> bool {
        let inside = |(inner, outer): ((i64, i64), (i64, i64))| outer.0 <= inner.0 && inner.1 <= outer.1;
        let uniform = matches!(self.halo, Halo::Uniform(a, b) if a >= lo && b >= hi);
        uniform || (0..self.map.parts()).all(|part| inside((self.reach(part, lo, hi), self.stored(part))))
    }

    /// The coordinates of `part`, widened: past the ends if the dimension is periodic, else up to them.
    /// Nothing stays nothing.
    pub fn reach(&self, part: usize, lo: i64, hi: i64) -> (i64, i64) {
        let (start, stop) = self.owned(part);
        if start == stop {
            return (start, stop);
        }
        let (start, stop) = (start.saturating_sub(lo), stop.saturating_add(hi));
        if self.periodic { (start, stop) } else { (start.max(0), stop.min(self.map.packed_size())) }
    }

    /// The global coordinate that the packed one stands for; past the ends of a periodic dimension too.
    pub fn unpacked(&self, packed: i64) -> Option<i64> {
        let inside = if self.periodic { packed.rem_euclid(self.map.packed_size().max(1)) } else { packed };
        self.map.from_packed(inside)
    }

    /// A dimension without halo and boundary.
    pub fn plain(map: DimMap, periodic: bool) -> Dim {
        Dim { map, halo: Halo::Uniform(0, 0), boundary: (0, 0), periodic }
    }

    /// The dimension in packed coordinates: itself for a block map, and otherwise blocks without halo,
    /// boundary and periodicity, which mean nothing there.
    pub fn packed(&self) -> Dim {
        if self.map.is_block() { self.clone() } else { Dim::plain(self.map.packed(), false) }
    }

    /// Refuses widths that do not fit; `d` is the dimension's number.
    pub fn check(&self, d: usize) -> Result<()> {
        self.check_boundary(d)?;
        let (lo, hi) = self.halo.widest();
        if lo > COORDINATE_LIMIT || hi > COORDINATE_LIMIT {
            return Err(halo_error(d, format!("at most {COORDINATE_LIMIT}"), format!("({lo}, {hi})")));
        }
        match &self.map {
            _ if (lo, hi) == (0, 0) => Ok(()),
            DimMap::Block { bounds } if bounds.fewest() >= Some(lo.max(hi)) => Ok(()),
            DimMap::Block { .. } => self.check_neighbors(d),
            map => {
                let expected = format!("no halo along a dimension whose map is {}", map.kind());
                Err(halo_error(d, expected, format!("({lo}, {hi})")))
            }
        }
    }

    fn check_boundary(&self, d: usize) -> Result<()> {
        let (lo, hi) = self.boundary;
        let refuse = |expected: String, remedy| {
            let given = format!("({lo}, {hi}) in dimension {d}");
            Err(IndexError::new(ErrorKind::Halo, "boundary", expected, given, remedy))
        };
        if lo < 0 || hi < 0 {
            return refuse("widths of at least 0".into(), "use 0 where there is no boundary");
        }
        if self.periodic && (lo, hi) != (0, 0) {
            return refuse("no boundary in a periodic dimension".into(), "use a halo to see round the ends");
        }
        if lo.saturating_add(hi) > self.map.size() {
            let size = self.map.size();
            return refuse(format!("at most {size} cells in all"), "boundary cells are part of the shape");
        }
        Ok(())
    }

    /// Halo cells come from one neighbour on each side: the nearest part that owns something, which may be
    /// the part itself in a periodic dimension. It must own as many cells as are copied from it.
    fn check_neighbors(&self, d: usize) -> Result<()> {
        let filled: Vec<usize> = (0..self.map.parts()).filter(|&part| self.map.count(part) > 0).collect();
        filled.windows(2).try_for_each(|pair| self.check_pair(d, pair[0], pair[1]))?;
        match (filled.first(), filled.last()) {
            (Some(&first), Some(&last)) if self.periodic => self.check_pair(d, last, first),
            _ => Ok(()),
        }
    }

    fn check_pair(&self, d: usize, left: usize, right: usize) -> Result<()> {
        let copied = [(left, right, self.halo.widths(right).0), (right, left, self.halo.widths(left).1)];
        for (owner, receiver, width) in copied {
            let count = self.map.count(owner);
            if width > count {
                let expected = format!("at most the {count} cells that grid coordinate {owner} owns");
                return Err(halo_error(d, expected, format!("{width} at grid coordinate {receiver}")));
            }
        }
        Ok(())
    }
}

fn halo_error(d: usize, expected: String, given: String) -> IndexError {
    let remedy = "use a narrower halo, or fewer and larger parts";
    IndexError::new(ErrorKind::Halo, "halo", expected, given, remedy).in_dimension(d)
}

/// The error for negative widths.
pub(crate) fn negative_halo(given: String) -> IndexError {
    IndexError::new(ErrorKind::Halo, "halo", "widths of at least 0", given, "use 0 where there is no halo")
}

/// Which coordinate of a source's dimension a point means: the rule by which views see their base, kernels
/// their operands, and plans what they bring. One per dimension of the source.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Along {
    /// Coordinate `offset + step * point[dim]` of the source. Where the source is periodic, it wraps around.
    Dim {
        /// The dimension of the point.
        dim: usize,
        /// The coordinate at 0.
        offset: i64,
        /// The increment of the coordinate by one step; not 0.
        step: i64,
    },
    /// This coordinate, whatever the point.
    Pinned(i64),
}

impl Along {
    /// The same coordinate as the point's.
    pub fn same(dim: usize) -> Along {
        Along::Dim { dim, offset: 0, step: 1 }
    }

    /// The coordinate that a point means.
    pub fn at(self, point: &[i64]) -> i64 {
        match self {
            Along::Dim { dim, offset, step } => offset + step * point[dim],
            Along::Pinned(at) => at,
        }
    }

    /// The coordinate of a source's source: this rule gives the point that `inner` takes one coordinate of.
    pub fn then(self, inner_offset: i64, inner_step: i64) -> Along {
        match self {
            Along::Dim { dim, offset, step } => {
                Along::Dim { dim, offset: inner_offset + inner_step * offset, step: inner_step * step }
            }
            Along::Pinned(at) => Along::Pinned(inner_offset + inner_step * at),
        }
    }

    /// The lowest coordinate that points from `first` to before `last` mean, and one more than the highest;
    /// `first` is below `last`.
    pub fn span(self, first: i64, last: i64) -> (i64, i64) {
        match self {
            Along::Dim { offset, step, .. } => {
                let (a, b) = (offset + step * first, offset + step * (last - 1));
                (a.min(b), a.max(b) + 1)
            }
            Along::Pinned(at) => (at, at + 1),
        }
    }
}
