//! [`Domain`]: an N-D set of indices, one strided range per dimension, and the part that has each of them
//! under a [`Distribution`]. Arrays live over domains ([`Array::over`](crate::array::Array::over)).

use std::fmt;

use super::distributions::Distribution;
use super::index_set::IndexRange;
use super::region::{Index, Region};
use crate::index::error::{ErrorKind, IndexError, Result, check_rank};
use crate::index::maps::Along;

/// A rectangular index set: every combination of members of its ranges. Its default order is C order, each
/// range in its own direction; the *position* of an index is its place in that order.
///
/// Indices count from wherever the ranges do; nothing is special about 0 or 1.
///
/// ```
/// use partita::index::{Domain, IndexRange};
///
/// let domain = Domain::new(&[IndexRange::new(1, 3, 1)?, IndexRange::new(9, 0, -4)?])?;
/// let text: Vec<String> = domain.iter().map(|index| index.to_string()).collect();
/// assert_eq!(text, ["(1, 9)", "(1, 5)", "(1, 1)", "(2, 9)", "(2, 5)", "(2, 1)"]);
/// assert_eq!(domain.index_order(&[2, 5]), Some(4));
/// # Ok::<(), partita::index::IndexError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Domain {
    ranges: Vec<IndexRange>,
}

impl Domain {
    /// The combinations of the members of `ranges`.
    pub fn new(ranges: &[IndexRange]) -> Result<Domain> {
        Index::new(&vec![0; ranges.len()])?;
        let domain = Domain { ranges: ranges.to_vec() };
        Region::from_shape(&domain.shape())?.volume()?;
        Ok(domain)
    }

    /// The points from zero up to `shape`.
    pub fn from_shape(shape: &[i64]) -> Result<Domain> {
        Ok(Domain::of_shape(&Region::from_shape(shape)?.extents()))
    }

    /// The same for the shape of something that exists.
    pub(crate) fn of_shape(shape: &Index) -> Domain {
        Domain { ranges: shape.iter().map(|&extent| IndexRange::unit(0, extent)).collect() }
    }

    /// The number of dimensions.
    pub fn rank(&self) -> usize {
        self.ranges.len()
    }

    /// The range of dimension `d`.
    ///
    /// # Panics
    /// If there is no such dimension.
    pub fn dim(&self, d: usize) -> IndexRange {
        self.ranges[d]
    }

    /// The ranges of all dimensions.
    pub fn dims(&self) -> &[IndexRange] {
        &self.ranges
    }

    /// The number of indices along every dimension.
    pub fn shape(&self) -> Index {
        Index::from_fn(self.rank(), |d| self.ranges[d].len())
    }

    /// The smallest member along every dimension; none of an empty domain.
    pub fn low(&self) -> Option<Index> {
        self.each(IndexRange::low)
    }

    /// The largest member along every dimension; none of an empty domain.
    pub fn high(&self) -> Option<Index> {
        self.each(IndexRange::high)
    }

    fn each(&self, value: impl Fn(&IndexRange) -> Option<i64>) -> Option<Index> {
        let values: Option<Vec<i64>> = self.ranges.iter().map(value).collect();
        values.map(|values| Index::from_fn(self.rank(), |d| values[d]))
    }

    /// The stride of every dimension.
    pub fn stride(&self) -> Index {
        Index::from_fn(self.rank(), |d| self.ranges[d].stride())
    }

    /// The number of indices; the largest number for a box of more than `i64` can count.
    pub fn num_indices(&self) -> i64 {
        if self.is_empty() {
            return 0;
        }
        self.shape().iter().fold(1, |product, extent| product.saturating_mul(*extent))
    }

    /// Whether it holds no index.
    pub fn is_empty(&self) -> bool {
        self.ranges.iter().any(IndexRange::is_empty)
    }

    /// Whether an index belongs to it; false when the ranks differ.
    pub fn member(&self, index: &[i64]) -> bool {
        self.places(index).is_some()
    }

    /// The position of an index in default order; none for others.
    pub fn index_order(&self, index: &[i64]) -> Option<i64> {
        let (places, shape) = (self.places(index)?, self.shape());
        Some((0..self.rank()).fold(0, |position, d| position * shape[d] + places[d]))
    }

    /// The place of an index along every dimension, counted from 0.
    ///
    /// # Errors
    /// An index that the domain does not have.
    pub fn place(&self, index: &[i64]) -> Result<Index> {
        check_rank("index", self.rank(), index.len())?;
        self.places(index).ok_or_else(|| {
            let (expected, given) =
                (format!("an index of {self}"), Index::from_fn(self.rank(), |d| index[d]));
            IndexError::new(ErrorKind::Range, "index", expected, given.to_string(), "ask `member` first")
        })
    }

    fn places(&self, index: &[i64]) -> Option<Index> {
        let mut places = Index::zeros(self.rank());
        for (d, range) in self.ranges.iter().enumerate() {
            places[d] = range.order(*index.get(d)?)?;
        }
        (index.len() == self.rank()).then_some(places)
    }

    /// The part of a distribution of this shape that owns an index.
    ///
    /// # Errors
    /// Indices that the domain does not have, distributions of another shape.
    pub fn owner(&self, dist: &Distribution, index: &[i64]) -> Result<usize> {
        self.check_shape("Domain::owner", dist)?;
        dist.owner(&self.place(index)?)
    }

    /// The leader of a loop over the domain: the pieces of the parts, which together have every index once.
    /// Of a replicated dimension one part has them.
    ///
    /// # Errors
    /// Distributions of another shape.
    pub fn chunks(&self, dist: &Distribution) -> Result<Vec<Chunk>> {
        self.check_shape("Domain::chunks", dist)?;
        let mut chunks = Vec::new();
        for part in 0..dist.parts() {
            let at = dist.grid().coordinate(part);
            let ranges: Vec<Vec<IndexRange>> =
                (0..dist.rank()).map(|d| dist.map(d).owned_once(at[d] as usize).ranges()).collect();
            let counts: Vec<i64> = ranges.iter().map(|ranges| ranges.len() as i64).collect();
            for choice in Region::from_shape(&counts)?.points() {
                let chosen: Vec<IndexRange> =
                    (0..dist.rank()).map(|d| ranges[d][choice[d] as usize]).collect();
                let places = Domain::new(&chosen)?;
                chunks.extend((!places.is_empty()).then_some(Chunk { part, places }));
            }
        }
        Ok(chunks)
    }

    fn check_shape(&self, operation: &'static str, dist: &Distribution) -> Result<()> {
        if dist.shape() == self.shape() {
            return Ok(());
        }
        let (expected, given) =
            (format!("a distribution of shape {}", self.shape()), dist.shape().to_string());
        Err(IndexError::new(ErrorKind::Size, operation, expected, given, "use Distribution::resized"))
    }

    /// The indices of a view of an array over this domain, whose dimensions take theirs along; none of a view
    /// with new or stretched dimensions, or without any.
    pub(crate) fn seen(&self, shape: &Index, axes: &[Along]) -> Option<Domain> {
        let along = |r: usize| {
            let (offset, step, range) =
                axes.iter().zip(&self.ranges).find_map(|(along, range)| match *along {
                    Along::Dim { dim, offset, step } if dim == r => Some((offset, step, range)),
                    Along::Dim { .. } | Along::Pinned(_) => None,
                })?;
            let taken = range.at(&IndexRange::of_len(offset, step, shape[r])).ok();
            // What wraps around a periodic dimension stays under its indices.
            taken.or_else(|| (range.len() == shape[r]).then_some(*range))
        };
        let ranges: Option<Vec<IndexRange>> = (0..shape.rank()).map(along).collect();
        ranges.filter(|ranges| !ranges.is_empty()).map(|ranges| Domain { ranges })
    }

    /// The index at a position.
    pub fn nth(&self, position: i64) -> Option<Index> {
        if !(0..self.num_indices()).contains(&position) {
            return None;
        }
        let (mut rest, mut index) = (position, Index::zeros(self.rank()));
        for d in (0..self.rank()).rev() {
            index[d] = self.ranges[d].nth(rest % self.ranges[d].len())?;
            rest /= self.ranges[d].len();
        }
        Some(index)
    }

    /// All indices in default order.
    pub fn iter(&self) -> impl Iterator<Item = Index> + '_ {
        let dense = Region::from_fn(self.rank(), |d| (0, self.ranges[d].len()));
        dense.points().map(|at| {
            Index::from_fn(self.rank(), |d| self.ranges[d].first() + at[d] * self.ranges[d].stride())
        })
    }

    /// The common indices, in the order of `self`. Slicing an array by a domain is this.
    pub fn intersect(&self, other: &Domain) -> Result<Domain> {
        self.zip("Domain::intersect", &other.ranges, |mine, theirs| Ok(mine.intersect(theirs)))
    }

    /// Every index moved by `offsets`: Chapel's `translate`.
    pub fn shift(&self, offsets: &[i64]) -> Result<Domain> {
        self.zip("Domain::shift", offsets, |range, by| range.shift(*by))
    }

    /// With `offsets[d]` indices more at both ends of dimension `d`, or fewer if that is negative.
    pub fn expand(&self, offsets: &[i64]) -> Result<Domain> {
        self.zip("Domain::expand", offsets, |range, by| {
            range.extended(by.saturating_neg(), range.len().saturating_add(*by))
        })
    }

    /// The `offsets[d]` indices inside the high end of dimension `d`; inside the low end if that is negative;
    /// all of a dimension for 0.
    pub fn interior(&self, offsets: &[i64]) -> Result<Domain> {
        self.zip("Domain::interior", offsets, |range, by| range.end(*by, false))
    }

    /// The `offsets[d]` indices beyond the high end of dimension `d`; beyond the low end if that is negative;
    /// all of a dimension for 0.
    pub fn exterior(&self, offsets: &[i64]) -> Result<Domain> {
        self.zip("Domain::exterior", offsets, |range, by| range.end(*by, true))
    }

    /// Every `strides[d]`-th index of dimension `d`, from its first one; from its last one, and down, if that
    /// is negative.
    pub fn by(&self, strides: &[i64]) -> Result<Domain> {
        self.zip("Domain::by", strides, |range, &by| {
            let (first, stop) = if by < 0 { (range.len() - 1, -1) } else { (0, range.len()) };
            range.at(&IndexRange::new(first, stop, by)?)
        })
    }

    /// The positions of the indices of `sub` along every dimension, in its order: what a loop over `sub`
    /// does, said without regard to where the whole begins and how it steps. All of `sub` belongs to `self`.
    ///
    /// `whole.densify(&whole)` counts from 0 in steps of 1.
    pub fn densify(&self, sub: &Domain) -> Result<Domain> {
        self.zip("Domain::densify", &sub.ranges, IndexRange::positions)
    }

    /// The indices at the positions `dense` along every dimension: the reverse of [`Domain::densify`].
    pub fn undensify(&self, dense: &Domain) -> Result<Domain> {
        self.zip("Domain::undensify", &dense.ranges, IndexRange::at)
    }

    fn zip<T>(
        &self,
        operation: &'static str,
        others: &[T],
        make: impl Fn(&IndexRange, &T) -> Result<IndexRange>,
    ) -> Result<Domain> {
        check_rank(operation, self.rank(), others.len())?;
        let pairs = self.ranges.iter().zip(others).enumerate();
        let ranges: Result<Vec<IndexRange>> =
            pairs.map(|(d, (range, other))| make(range, other).map_err(|e| e.in_dimension(d))).collect();
        Domain::new(&ranges?)
    }
}

/// A piece of a loop over a domain: the places along every dimension that one part takes. Places mean
/// something to every domain of the same shape, whose indices there [`Domain::undensify`], the follower,
/// gives.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Chunk {
    /// The part that the work is placed at.
    pub part: usize,
    /// The places.
    pub places: Domain,
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (d, range) in self.ranges.iter().enumerate() {
            write!(f, "{}{range}", if d == 0 { "" } else { ", " })?;
        }
        f.write_str("}")
    }
}
