//! [`IndexSet`]: the coordinates of one dimension that one part owns, in the shortest of three forms.

use super::index_range::IndexRange;

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
}

impl IndexSet {
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
    pub fn len(&self) -> i64 {
        self.below(self.size)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many of them lie below `limit`, which is at most the size.
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

    /// How many of `0..x` are less than the width modulo the period.
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

    /// Whether it is one of them.
    pub fn contains(&self, index: i64) -> bool {
        (0..self.size).contains(&index) && (self.offset + self.step * index) % self.period < self.width
    }

    /// The position of a coordinate.
    pub fn position(&self, index: i64) -> Option<i64> {
        self.contains(index).then(|| self.below(index))
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
            // How many steps stay within the width of the block.
            let within = (blocks.offset + blocks.step * first) % blocks.period;
            let len = ((blocks.width - 1 - within) / blocks.step + 1).min(blocks.size - first);
            position += len;
            Some(IndexRange::of_len(first, 1, len))
        })
    }
}

fn gcd(a: i64, b: i64) -> i64 {
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
