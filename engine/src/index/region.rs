//! [`Index`]: up to eight coordinates kept inline. [`Region`]: a half-open N-D box, and the algebra of boxes.

use std::fmt;
use std::ops::{Deref, DerefMut};

use crate::index::error::{ErrorKind, IndexError, Result, check_rank};

/// The largest number of dimensions of an array.
pub const MAX_RANK: usize = 8;

/// One `i64` per dimension: a point, a shape, strides or widths. It lives inline and is copied freely; as a
/// slice it has exactly its rank many values. The order is lexicographic, which for points of one rank is C
/// order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Index {
    // Values beyond the rank stay zero, so that the derived comparisons and hash are right.
    values: [i64; MAX_RANK],
    rank: u8,
}

impl Index {
    /// The values of a slice, at most [`MAX_RANK`] of them.
    pub fn new(values: &[i64]) -> Result<Index> {
        if values.len() > MAX_RANK {
            return Err(IndexError::new(
                ErrorKind::Rank,
                "Index",
                format!("at most {MAX_RANK} dimensions"),
                values.len().to_string(),
                "merge dimensions or use several arrays",
            ));
        }
        Ok(Index::from_fn(values.len(), |d| values[d]))
    }

    /// The value `f(d)` in every dimension `d`.
    ///
    /// # Panics
    /// If `rank` exceeds [`MAX_RANK`].
    pub fn from_fn(rank: usize, mut f: impl FnMut(usize) -> i64) -> Index {
        assert!(rank <= MAX_RANK, "an Index has at most {MAX_RANK} dimensions, not {rank}");
        let mut values = [0; MAX_RANK];
        for (d, value) in values[..rank].iter_mut().enumerate() {
            *value = f(d);
        }
        Index { values, rank: rank as u8 }
    }

    /// The same value in every dimension; `rank` is at most [`MAX_RANK`].
    pub fn filled(rank: usize, value: i64) -> Index {
        Index::from_fn(rank, |_| value)
    }

    /// Zero in every dimension; `rank` is at most [`MAX_RANK`].
    pub fn zeros(rank: usize) -> Index {
        Index::filled(rank, 0)
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        usize::from(self.rank)
    }
}

impl Deref for Index {
    type Target = [i64];

    fn deref(&self) -> &[i64] {
        &self.values[..self.rank()]
    }
}

impl DerefMut for Index {
    fn deref_mut(&mut self) -> &mut [i64] {
        let rank = self.rank();
        &mut self.values[..rank]
    }
}

impl<const N: usize> From<[i64; N]> for Index {
    fn from(values: [i64; N]) -> Index {
        const { assert!(N <= MAX_RANK, "an Index has at most MAX_RANK dimensions") };
        Index::from_fn(N, |d| values[d])
    }
}

impl fmt::Display for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for (d, value) in self.iter().enumerate() {
            write!(f, "{}{value}", if d == 0 { "" } else { ", " })?;
        }
        f.write_str(")")
    }
}

/// Coordinates of a region lie in `-COORDINATE_LIMIT..=COORDINATE_LIMIT`, so that no extent overflows.
pub const COORDINATE_LIMIT: i64 = (1 << 62) - 1;

/// A half-open box `start..stop` of points. A box with an extent of zero is empty and still has a place.
/// Without dimensions there are two boxes: one point, and [`Region::empty`].
///
/// Operations on two regions (or a region and a point) are between equal ranks; those that cannot answer
/// otherwise panic when the ranks differ, because a caller that mixes ranks has lost track of its array.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Region {
    // start <= stop in every dimension, both within the coordinate limit and of one rank.
    start: Index,
    stop: Index,
    // Without dimensions, whether the point is missing; else false.
    lacks_point: bool,
}

impl Region {
    /// The box from `start` up to and without `stop`.
    pub fn new(start: &[i64], stop: &[i64]) -> Result<Region> {
        let (start, stop) = (Index::new(start)?, Index::new(stop)?);
        check_rank("Region", start.len(), stop.len())?;
        for d in 0..start.len() {
            if start[d] > stop[d] {
                return Err(IndexError::new(
                    ErrorKind::Size,
                    "Region",
                    "start <= stop in every dimension",
                    format!("{}:{} in dimension {d}", start[d], stop[d]),
                    "use start == stop for an empty region",
                ));
            }
            if start[d] < -COORDINATE_LIMIT || stop[d] > COORDINATE_LIMIT {
                return Err(too_far("Region", d, format!("{}:{}", start[d], stop[d])));
            }
        }
        Ok(Region { start, stop, lacks_point: false })
    }

    /// An empty box, at zero.
    pub fn empty(rank: usize) -> Region {
        let zeros = Index::zeros(rank);
        Region { start: zeros, stop: zeros, lacks_point: rank == 0 }
    }

    /// The box from zero to `shape`.
    pub fn from_shape(shape: &[i64]) -> Result<Region> {
        if let Some(d) = shape.iter().position(|&size| size < 0) {
            return Err(IndexError::new(
                ErrorKind::Size,
                "shape",
                "sizes of at least 0",
                format!("{} in dimension {d}", shape[d]),
                "use 0 for an empty dimension",
            ));
        }
        Region::new(&Index::zeros(shape.len().min(MAX_RANK)), shape)
    }

    /// The box `f(d).0..f(d).1`; the caller guarantees the invariants of the fields.
    pub(crate) fn from_fn(rank: usize, f: impl Fn(usize) -> (i64, i64)) -> Region {
        let (start, stop) = (Index::from_fn(rank, |d| f(d).0), Index::from_fn(rank, |d| f(d).1));
        let region = Region { start, stop, lacks_point: false };
        debug_assert!(region.start.iter().zip(region.stop.iter()).all(|(start, stop)| start <= stop));
        region
    }

    /// The first point, coordinate by coordinate.
    pub fn start(&self) -> &Index {
        &self.start
    }

    /// One past the last coordinate of every dimension.
    pub fn stop(&self) -> &Index {
        &self.stop
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.start.len()
    }

    /// The number of coordinates of dimension `d`.
    ///
    /// # Panics
    /// If there is no such dimension.
    pub fn extent(&self, d: usize) -> i64 {
        self.stop[d] - self.start[d]
    }

    /// The number of coordinates of every dimension.
    pub fn extents(&self) -> Index {
        Index::from_fn(self.rank(), |d| self.extent(d))
    }

    /// Whether it holds no point.
    pub fn is_empty(&self) -> bool {
        self.lacks_point || (0..self.rank()).any(|d| self.extent(d) == 0)
    }

    /// The number of points; an error when `i64` cannot hold it.
    pub fn volume(&self) -> Result<i64> {
        if self.is_empty() {
            return Ok(0);
        }
        (0..self.rank()).try_fold(1i64, |volume, d| volume.checked_mul(self.extent(d))).ok_or_else(|| {
            IndexError::new(
                ErrorKind::Size,
                "Region::volume",
                format!("at most {} points", i64::MAX),
                self.to_string(),
                "use a smaller region",
            )
        })
    }

    /// Whether the point lies inside; false when the ranks differ.
    pub fn contains(&self, point: &[i64]) -> bool {
        point.len() == self.rank()
            && !self.lacks_point
            && (0..self.rank()).all(|d| (self.start[d]..self.stop[d]).contains(&point[d]))
    }

    /// Whether every point of `other` lies inside, as it always does when `other` is empty.
    pub fn contains_region(&self, other: &Region) -> bool {
        self.assert_same_rank(other);
        let inside = |d: usize| self.start[d] <= other.start[d] && other.stop[d] <= self.stop[d];
        other.is_empty() || !self.lacks_point && (0..self.rank()).all(inside)
    }

    /// The common points.
    pub fn intersect(&self, other: &Region) -> Region {
        self.assert_same_rank(other);
        let common = Region::from_fn(self.rank(), |d| {
            let start = self.start[d].max(other.start[d]);
            (start, self.stop[d].min(other.stop[d]).max(start))
        });
        Region { lacks_point: self.lacks_point || other.lacks_point, ..common }
    }

    /// The smallest box that covers both. An empty box does not widen the other.
    pub fn hull(&self, other: &Region) -> Region {
        self.assert_same_rank(other);
        if self.is_empty() || other.is_empty() {
            return if self.is_empty() { *other } else { *self };
        }
        Region::from_fn(self.rank(), |d| (self.start[d].min(other.start[d]), self.stop[d].max(other.stop[d])))
    }

    /// The box moved by `offsets`.
    pub fn shift(&self, offsets: &[i64]) -> Result<Region> {
        check_rank("Region::shift", self.rank(), offsets.len())?;
        self.adjust("Region::shift", offsets, offsets)
    }

    /// The box widened by `lo` below and `hi` above in every dimension. Negative widths shrink it; shrunk to
    /// less than nothing, it is empty.
    pub fn grow(&self, lo: &[i64], hi: &[i64]) -> Result<Region> {
        check_rank("Region::grow", self.rank(), lo.len())?;
        check_rank("Region::grow", self.rank(), hi.len())?;
        let down = Index::from_fn(self.rank(), |d| lo[d].saturating_neg());
        self.adjust("Region::grow", &down, hi)
    }

    fn adjust(&self, operation: &'static str, to_start: &[i64], to_stop: &[i64]) -> Result<Region> {
        let (mut start, mut stop) = (self.start, self.stop);
        for d in 0..self.rank() {
            start[d] = start[d].saturating_add(to_start[d]);
            stop[d] = stop[d].saturating_add(to_stop[d]).max(start[d]);
            if start[d] < -COORDINATE_LIMIT || stop[d] > COORDINATE_LIMIT {
                return Err(too_far(operation, d, format!("{self} by {} and {}", to_start[d], to_stop[d])));
            }
        }
        Ok(Region { start, stop, ..*self })
    }

    /// The points of `self` that are not in `other`: at most two disjoint boxes per dimension, none of them
    /// empty.
    pub fn subtract(&self, other: &Region) -> Vec<Region> {
        let common = self.intersect(other);
        if common.is_empty() {
            return if self.is_empty() { Vec::new() } else { vec![*self] };
        }
        // Peel a slab off both ends of every dimension; what remains in the end is the common box.
        let mut boxes = Vec::new();
        let mut rest = *self;
        for d in 0..self.rank() {
            let mut below = rest;
            below.stop[d] = common.start[d];
            let mut above = rest;
            above.start[d] = common.stop[d];
            boxes.extend([below, above].into_iter().filter(|slab| !slab.is_empty()));
            rest.start[d] = common.start[d];
            rest.stop[d] = common.stop[d];
        }
        boxes
    }

    /// Every point, in C order.
    pub fn points(&self) -> impl Iterator<Item = Index> + Clone + use<> {
        let region = *self;
        std::iter::successors((!self.is_empty()).then_some(self.start), move |point| {
            let mut next = *point;
            for d in (0..region.rank()).rev() {
                next[d] += 1;
                if next[d] < region.stop[d] {
                    return Some(next);
                }
                next[d] = region.start[d];
            }
            None
        })
    }

    fn assert_same_rank(&self, other: &Region) {
        assert_eq!(self.rank(), other.rank(), "regions {self} and {other} differ in rank");
    }
}

fn too_far(operation: &'static str, d: usize, given: String) -> IndexError {
    IndexError::new(
        ErrorKind::Size,
        operation,
        format!("coordinates between -{COORDINATE_LIMIT} and {COORDINATE_LIMIT}"),
        format!("{given} in dimension {d}"),
        "use smaller sizes or offsets",
    )
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for d in 0..self.rank() {
            write!(f, "{}{}:{}", if d == 0 { "" } else { ", " }, self.start[d], self.stop[d])?;
        }
        f.write_str("]")
    }
}
