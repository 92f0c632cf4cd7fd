//! Sets of indices of one dimension. [`IndexRange`]: an arithmetic sequence, ascending or descending.
//! [`IndexSet`]: the coordinates that one part owns, in the shortest of three forms.

use std::fmt;
use std::hash::{Hash, Hasher};

use super::region::COORDINATE_LIMIT;
use crate::index::error::{ErrorKind, IndexError, Result};

/// The integers `first, first + stride, first + 2 * stride, ...`, as many as it has. A negative stride runs
/// down. Two ranges are equal when they are the same sequence.
///
/// It is written `start:stop:stride` with `stop` left out of it, for negative strides too:
///
/// ```
/// use partita::index::IndexRange;
///
/// let down = IndexRange::new(9, 0, -3)?;
/// assert_eq!(down.iter().collect::<Vec<i64>>(), [9, 6, 3]);
/// assert_eq!((down.low(), down.high(), down.order(6)), (Some(3), Some(9), Some(1)));
/// # Ok::<(), partita::index::IndexError>(())
/// ```
#[derive(Clone, Copy)]
pub struct IndexRange {
    first: i64,
    // Never zero. The first and the last member lie within the coordinate limit.
    stride: i64,
    len: i64,
}

impl IndexRange {
    /// From `start` in steps of `stride` as long as `stop` is not reached.
    pub fn new(start: i64, stop: i64, stride: i64) -> Result<IndexRange> {
        let refuse = |kind, expected: &str, given: i64, remedy| {
            Err(IndexError::new(kind, "IndexRange", expected, given.to_string(), remedy))
        };
        if stride == 0 || stride == i64::MIN {
            return refuse(ErrorKind::Range, "a stride other than 0", stride, "use 1 to take every index");
        }
        if let Some(&far) = [start, stop].iter().find(|end| end.unsigned_abs() > COORDINATE_LIMIT as u64) {
            let expected = format!("ends between -{COORDINATE_LIMIT} and {COORDINATE_LIMIT}");
            return refuse(ErrorKind::Size, &expected, far, "use smaller ends");
        }
        let span = if stride > 0 { stop - start } else { start - stop };
        let len = if span <= 0 { 0 } else { (span - 1) / stride.abs() + 1 };
        Ok(IndexRange { first: start, stride, len })
    }

    /// `start..stop`, every index; nothing when `stop` lies below. Both lie within the coordinate limit.
    pub(crate) fn unit(start: i64, stop: i64) -> IndexRange {
        IndexRange { first: start, stride: 1, len: (stop - start).max(0) }
    }

    /// `len` indices from `first`; the caller knows that the last one lies within the coordinate limit.
    pub(crate) fn of_len(first: i64, stride: i64, len: i64) -> IndexRange {
        IndexRange { first, stride, len }
    }

    /// Its beginning, whether it has members or not.
    pub fn first(&self) -> i64 {
        self.first
    }

    /// The distance from one member to the next, never 0.
    pub fn stride(&self) -> i64 {
        self.stride
    }

    /// The number of members.
    pub fn len(&self) -> i64 {
        self.len
    }

    /// Whether it has no members.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The smallest member.
    pub fn low(&self) -> Option<i64> {
        self.nth(if self.stride > 0 { 0 } else { self.len - 1 })
    }

    /// The largest member.
    pub fn high(&self) -> Option<i64> {
        self.nth(if self.stride > 0 { self.len - 1 } else { 0 })
    }

    /// The member at a position.
    pub fn nth(&self, position: i64) -> Option<i64> {
        (0..self.len).contains(&position).then(|| self.first + position * self.stride)
    }

    /// The position of a member; none for others.
    pub fn order(&self, index: i64) -> Option<i64> {
        let distance = i128::from(index) - i128::from(self.first);
        let (position, rest) = (distance / i128::from(self.stride), distance % i128::from(self.stride));
        let position = i64::try_from(position).ok().filter(|position| (0..self.len).contains(position))?;
        (rest == 0).then_some(position)
    }

    /// Whether it is a member.
    pub fn contains(&self, index: i64) -> bool {
        self.order(index).is_some()
    }

    /// The members in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = i64> + Clone + use<> {
        let IndexRange { first, stride, len } = *self;
        (0..len).map(move |position| first + position * stride)
    }

    /// The members at the positions that `positions` lists, in its order: a range again.
    pub fn at(&self, positions: &IndexRange) -> Result<IndexRange> {
        let (low, high) = (positions.low(), positions.high());
        if low.is_some_and(|low| low < 0) || high.is_some_and(|high| high >= self.len) {
            return Err(IndexError::new(
                ErrorKind::Range,
                "IndexRange::at",
                format!("positions from 0 up to {}", self.len),
                positions.to_string(),
                "positions count from 0 at the first member",
            ));
        }
        let first = self.nth(positions.first).unwrap_or(self.first);
        // Of one member at most the stride says nothing, and might be too large to be a product.
        let stride = if positions.len > 1 { self.stride * positions.stride } else { self.stride };
        Ok(IndexRange { first, stride, len: positions.len })
    }

    /// The positions of the members of `sub`, in its order; an error if one of them is not a member here.
    pub fn positions(&self, sub: &IndexRange) -> Result<IndexRange> {
        let ends = (sub.nth(0).map(|i| self.order(i)), sub.nth(sub.len - 1).map(|i| self.order(i)));
        match ends {
            (None, _) | (_, None) => Ok(IndexRange::unit(0, 0)),
            (Some(Some(first)), Some(Some(_))) if sub.len == 1 || sub.stride % self.stride == 0 => {
                let stride = if sub.len == 1 { 1 } else { sub.stride / self.stride };
                Ok(IndexRange { first, stride, len: sub.len })
            }
            _ => Err(IndexError::new(
                ErrorKind::Range,
                "IndexRange::positions",
                format!("members of {self}"),
                sub.to_string(),
                "intersect the two first",
            )),
        }
    }

    /// The common members, in the order of `self`.
    pub fn intersect(&self, other: &IndexRange) -> IndexRange {
        let none = IndexRange { len: 0, ..*self };
        let wide = |range: &IndexRange| {
            let (low, high) = (i128::from(range.low()?), i128::from(range.high()?));
            Some((low, high, i128::from(range.stride).abs()))
        };
        let (Some((low, high, stride)), Some(theirs)) = (wide(self), wide(other)) else { return none };
        // By the Chinese remainder theorem: those at every `period`-th place of `self`, one of them `place`.
        let (gcd, inverse) = gcd_inverse(stride, theirs.2);
        let (distance, period) = (theirs.0 - low, theirs.2 / gcd);
        let place = (distance / gcd).rem_euclid(period) * inverse.rem_euclid(period) % period;
        let (start, step) = (low.max(theirs.0), stride * period);
        let lowest = start + (low + place * stride - start).rem_euclid(step);
        let len = (high.min(theirs.1) - lowest).div_euclid(step) + 1;
        if distance % gcd != 0 || len < 1 {
            return none;
        }
        let first = if self.stride > 0 { lowest } else { lowest + (len - 1) * step };
        let step = self.stride.signum() * if len == 1 { self.stride.abs() } else { step as i64 };
        IndexRange { first: first as i64, stride: step, len: len as i64 }
    }

    /// The members from place `start` to before place `stop`, which may lie beyond the ends.
    pub(crate) fn extended(&self, start: i64, stop: i64) -> Result<IndexRange> {
        let far = |place: i64| self.stride.saturating_mul(place).saturating_add(self.first);
        let (first, last) = (far(start), far(stop.saturating_sub(1).max(start)));
        IndexRange::new(first, last, self.stride)?;
        Ok(IndexRange { first, stride: self.stride, len: stop.saturating_sub(start).max(0) })
    }

    /// The `|count|` members at the high end, or at the low end for a negative count; `beyond` it, as many
    /// that would follow; all for 0.
    pub(crate) fn end(&self, count: i64, beyond: bool) -> Result<IndexRange> {
        let (many, is_last) = (count.saturating_abs(), (count > 0) == (self.stride > 0));
        if count == 0 {
            return Ok(*self);
        }
        if !beyond && many > self.len {
            let (expected, given) =
                (format!("at most the {} indices of {self}", self.len), count.to_string());
            return Err(IndexError::new(ErrorKind::Range, "Domain::interior", expected, given, "take fewer"));
        }
        let first = match (is_last, beyond) {
            (true, true) => self.len,
            (true, false) => self.len - many,
            (false, true) => -many,
            (false, false) => 0,
        };
        self.extended(first, first.saturating_add(many))
    }

    /// Every member moved by `offset`.
    pub fn shift(&self, offset: i64) -> Result<IndexRange> {
        IndexRange { first: self.first.saturating_add(offset), ..*self }.extended(0, self.len)
    }
}

/// The greatest common divisor of `a` and `b`, and `x` with `a * x = gcd` modulo `b`.
fn gcd_inverse(a: i128, b: i128) -> (i128, i128) {
    let (mut old, mut new) = ((a, 1), (b, 0));
    while new.0 != 0 {
        let quotient = old.0 / new.0;
        (old, new) = (new, (old.0 - quotient * new.0, old.1 - quotient * new.1));
    }
    old
}

impl PartialEq for IndexRange {
    fn eq(&self, other: &IndexRange) -> bool {
        self.len == other.len
            && (self.len == 0 || self.first == other.first)
            && (self.len < 2 || self.stride == other.stride)
    }
}

impl Eq for IndexRange {}

impl Hash for IndexRange {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.len, self.nth(0), self.nth(1)).hash(state);
    }
}

impl fmt::Display for IndexRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stop = self.first + (self.len - 1).max(0) * self.stride + self.stride.signum() * self.len.min(1);
        match self.stride {
            1 => write!(f, "{}:{stop}", self.first),
            stride => write!(f, "{}:{stop}:{stride}", self.first),
        }
    }
}

/// Different coordinates in the order in which a part stores them.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum IndexSet {
    /// An arithmetic sequence.
    Range(IndexRange),
    /// Blocks at equal distances.
    Blocks(Blocks),
    /// Any others, one by one.
    List(Vec<i64>),
}

impl IndexSet {
    /// The number of coordinates.
    pub fn len(&self) -> i64 {
        match self {
            IndexSet::Range(range) => range.len(),
            IndexSet::Blocks(blocks) => blocks.len(),
            IndexSet::List(list) => list.len() as i64,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The coordinate at a position.
    pub fn nth(&self, position: i64) -> Option<i64> {
        match self {
            IndexSet::Range(range) => range.nth(position),
            IndexSet::Blocks(blocks) => blocks.nth(position),
            IndexSet::List(list) => usize::try_from(position).ok().and_then(|p| list.get(p).copied()),
        }
    }

    /// The position of a coordinate; a list is searched from the front.
    pub fn position(&self, index: i64) -> Option<i64> {
        match self {
            IndexSet::Range(range) => range.order(index),
            IndexSet::Blocks(blocks) => blocks.position(index),
            IndexSet::List(list) => list.iter().position(|&i| i == index).map(|p| p as i64),
        }
    }

    /// All coordinates in order.
    pub fn iter(&self) -> impl Iterator<Item = i64> + '_ {
        (0..self.len()).filter_map(|position| self.nth(position))
    }

    /// The same coordinates as strided ranges; a list only where its neighbours happen to be one.
    pub fn ranges(&self) -> Vec<IndexRange> {
        match self {
            IndexSet::Range(range) => vec![*range],
            IndexSet::Blocks(blocks) => blocks.runs().collect(),
            IndexSet::List(list) => list
                .chunk_by(|a, b| a.checked_add(1) == Some(*b))
                .map(|run| IndexRange::of_len(run[0], 1, run.len() as i64))
                .collect(),
        }
    }

    /// The same coordinates as contiguous ranges `start..stop`.
    pub fn runs(&self) -> impl Iterator<Item = (i64, i64)> {
        self.ranges().into_iter().flat_map(|range| {
            let (pieces, len) = if range.stride() == 1 { (1, range.len()) } else { (range.len(), 1) };
            (0..pieces).filter_map(move |k| range.nth(k)).map(move |start| (start, start + len))
        })
    }
}

/// The coordinates `i` in `0..size` for which `(offset + step * i) mod period < width`: the blocks of a
/// cyclic map, in a slice of it too. Counting is a formula; with a step other than 1 it takes as long as
/// Euclid's algorithm.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Blocks {
    // 0 <= offset < period, 0 <= width <= period, 1 <= step; nothing overflows, as `Cyclic` sees to.
    pub(crate) offset: i64,
    pub(crate) step: i64,
    pub(crate) period: i64,
    pub(crate) width: i64,
    pub(crate) size: i64,
}

impl Blocks {
    /// The number of coordinates.
    pub(crate) fn len(&self) -> i64 {
        self.below(self.size)
    }

    /// The number of members below `limit`, which is at most the size.
    pub(crate) fn below(&self, limit: i64) -> i64 {
        if self.step == 1 {
            return self.hits(self.offset + limit) - self.hits(self.offset);
        }
        // A value is within the width exactly when it and the value `width` below are in different periods.
        let turns =
            |offset: i64| floor_sum(limit.into(), self.period.into(), self.step.into(), i128::from(offset));
        let (here, there) = (turns(self.offset), turns(self.offset + (self.period - self.width)));
        (here - there) as i64 + limit
    }

    /// The count of numbers in `0..x` that are less than the width modulo the period.
    pub(crate) fn hits(&self, x: i64) -> i64 {
        x / self.period * self.width + (x % self.period).min(self.width)
    }

    /// The same coordinates in steps of 1, where they repeat so: the step divides the period, or the blocks
    /// are single.
    pub(crate) fn unit_step(&self) -> Option<Blocks> {
        if self.step == 1 {
            return Some(*self);
        }
        if self.period % self.step == 0 {
            // Coordinate `i` lies `step * (i + whole) + rest` after the beginning of a block.
            let (whole, rest) = (self.offset / self.step, self.offset % self.step);
            let width = self.width - rest;
            let width = if width > 0 { (width - 1) / self.step + 1 } else { 0 };
            return Some(Blocks { offset: whole, step: 1, period: self.period / self.step, width, ..*self });
        }
        if self.width > 1 {
            return None;
        }
        let period = self.period / gcd(self.period, self.step);
        let (width, first) = self.nth(0).map_or((0, 0), |first| (1, first));
        Some(Blocks { offset: (-first).rem_euclid(period), step: 1, period, width, ..*self })
    }

    /// The position of a coordinate.
    pub fn position(&self, index: i64) -> Option<i64> {
        let inside = (0..self.size).contains(&index);
        (inside && (self.offset + self.step * index) % self.period < self.width).then(|| self.below(index))
    }

    /// The coordinate at a position.
    pub fn nth(&self, position: i64) -> Option<i64> {
        if !(0..self.len()).contains(&position) {
            return None;
        }
        if self.step == 1 {
            let hit = self.hits(self.offset) + position;
            return Some(hit / self.width * self.period + hit % self.width - self.offset);
        }
        let (mut low, mut high) = (0, self.size - 1);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.below(middle + 1) > position {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        Some(low)
    }

    /// One range per block, in order.
    pub fn runs(&self) -> impl Iterator<Item = IndexRange> + use<> {
        let (blocks, mut position) = (*self, 0);
        std::iter::from_fn(move || {
            let first = blocks.nth(position)?;
            // The number of steps that stay within the width of the block.
            let within = (blocks.offset + blocks.step * first) % blocks.period;
            let len = ((blocks.width - 1 - within) / blocks.step + 1).min(blocks.size - first);
            position += len;
            Some(IndexRange::of_len(first, 1, len))
        })
    }
}

/// The greatest common divisor.
pub(crate) fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The sum of `floor((a * i + b) / m)` over `0 <= i < n`; all of them not negative, `m` positive.
fn floor_sum(mut n: i128, mut m: i128, mut a: i128, mut b: i128) -> i128 {
    let mut sum = 0;
    loop {
        sum += n * (n - 1) / 2 * (a / m) + n * (b / m);
        (a, b) = (a % m, b % m);
        let last = a * n + b;
        if last < m {
            return sum;
        }
        (n, b) = (last / m, last % m);
        (a, m) = (m, a);
    }
}
