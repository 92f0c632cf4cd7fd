//! [`PeriodicSet`]: the coordinates that a part of a block, cyclic or replicated map holds along one
//! dimension, and intersections of two such sets in closed form.

use crate::index::DimMap;

/// `count` runs of `len` coordinates, one every `step`.
pub(super) struct RunSeries {
    pub start: i64,
    pub len: i64,
    pub count: i64,
    pub step: i64,
}

/// The coordinates `g` in `lo..hi` with `(g + offset) mod period < width`; all of `lo..hi` where the width is
/// the period.
#[derive(Clone, Copy)]
pub(super) struct PeriodicSet {
    pub lo: i64,
    pub hi: i64,
    pub offset: i64,
    pub period: i64,
    pub width: i64,
}

impl PeriodicSet {
    /// The coordinates that a part holds, if the map is periodic.
    pub fn of(map: &DimMap, part: usize) -> Option<PeriodicSet> {
        let range = |lo: i64, hi: i64| PeriodicSet { lo, hi, offset: 0, period: 1, width: 1 };
        match map {
            DimMap::Block { .. } => {
                let owned = map.owned(part);
                Some(range(owned.start, owned.end))
            }
            DimMap::Replicated { size, .. } => Some(range(0, *size)),
            DimMap::Cyclic(cyclic) => cyclic.blocks(part).unit_step().map(|blocks| {
                let hi = if blocks.width == 0 { 0 } else { blocks.size };
                let (offset, period, width) = (blocks.offset, blocks.period, blocks.width.max(1));
                PeriodicSet { lo: 0, hi, offset, period, width }
            }),
            DimMap::Unstructured(_) | DimMap::Custom(_) => None,
        }
    }

    /// The same with every coordinate `by` larger.
    pub fn shifted(&self, by: i64) -> PeriodicSet {
        let offset = (self.offset - by).rem_euclid(self.period);
        PeriodicSet { lo: self.lo + by, hi: self.hi + by, offset, ..*self }
    }

    /// Those in `0..size`.
    pub fn clipped(&self, size: i64) -> PeriodicSet {
        PeriodicSet { lo: self.lo.max(0), hi: self.hi.min(size), ..*self }
    }

    pub fn is_range(&self) -> bool {
        self.width >= self.period
    }

    /// About how many runs there are.
    pub fn run_count(&self) -> i64 {
        if self.is_range() { 1 } else { (self.hi - self.lo) / self.period + 2 }
    }

    /// The rest of the run that contains `at`, or else the next run.
    pub fn run_at(&self, at: i64) -> (i64, i64) {
        let at = at.max(self.lo);
        if self.is_range() {
            return (at, self.hi);
        }
        let within = (at + self.offset).rem_euclid(self.period);
        let start = if within < self.width { at } else { at + self.period - within };
        let stop = start + self.width - (start + self.offset).rem_euclid(self.period);
        (start, stop.min(self.hi))
    }

    /// The runs inside `from..to`.
    pub fn runs(&self, from: i64, to: i64) -> impl Iterator<Item = (i64, i64)> + '_ {
        let mut at = from;
        std::iter::from_fn(move || {
            let (start, stop) = self.run_at(at);
            at = stop;
            (start < stop.min(to)).then_some((start, stop.min(to)))
        })
    }

    /// The intersection of two sets. It repeats with the least common multiple of the periods, counted from
    /// the beginning of a run, so that no run is cut by a repetition.
    pub fn intersect(&self, other: &PeriodicSet) -> Vec<RunSeries> {
        let (lo, hi) = (self.lo.max(other.lo), self.hi.min(other.hi));
        let repeat = match (self.is_range(), other.is_range()) {
            (true, true) => None,
            (false, true) => Some(self.period),
            (true, false) => Some(other.period),
            (false, false) => least_common_multiple(self.period, other.period),
        };
        let periodic = if self.is_range() { other } else { self };
        let anchor = periodic.beginning(lo).min(hi);
        let single = |(start, stop): (i64, i64)| RunSeries { start, len: stop - start, count: 1, step: 0 };
        let mut runs: Vec<RunSeries> = self.overlaps(other, lo, anchor).map(single).collect();
        let Some(repeat) = repeat.filter(|&repeat| repeat < hi - anchor) else {
            runs.extend(self.overlaps(other, anchor, hi).map(single));
            return runs;
        };
        for (start, stop) in self.overlaps(other, anchor, anchor + repeat) {
            let count = if stop <= hi { (hi - stop) / repeat + 1 } else { 0 };
            if count > 0 {
                runs.push(RunSeries { start, len: stop - start, count, step: repeat });
            }
            let next = start + count * repeat;
            if next < hi {
                runs.push(single((next, hi.min(next + stop - start))));
            }
        }
        runs
    }

    /// The first beginning of a run at or after `at`; `at` itself for a range.
    pub fn beginning(&self, at: i64) -> i64 {
        if self.is_range() { at } else { at + (-(at + self.offset)).rem_euclid(self.period) }
    }

    /// The runs of both inside `from..to`.
    pub fn overlaps(&self, other: &PeriodicSet, from: i64, to: i64) -> impl Iterator<Item = (i64, i64)> {
        let (a, b, mut at) = (*self, *other, from);
        std::iter::from_fn(move || {
            while at < to {
                let (one, two) = (a.run_at(at), b.run_at(at));
                let (start, stop) = (one.0.max(two.0), one.1.min(two.1).min(to));
                if one.0 >= one.1 || two.0 >= two.1 {
                    return None;
                }
                if start < stop {
                    at = stop;
                    return Some((start, stop));
                }
                at = start;
            }
            None
        })
    }
}

/// None where it is larger than any coordinate.
fn least_common_multiple(a: i64, b: i64) -> Option<i64> {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a / x).checked_mul(b)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn an_intersection_holds_the_cells_that_counting_finds() {
        let sets: Vec<PeriodicSet> = (1..7)
            .flat_map(|period| (1..=period).map(move |width| (period, width)))
            .flat_map(|(period, width)| {
                [(0, 40), (3, 31), (17, 18)].map(|(lo, hi)| PeriodicSet {
                    lo,
                    hi,
                    offset: (lo + width) % period,
                    period,
                    width,
                })
            })
            .collect();
        let inside = |set: &PeriodicSet, g: i64| {
            (set.lo..set.hi).contains(&g) && (g + set.offset).rem_euclid(set.period) < set.width
        };
        for a in &sets {
            for b in &sets {
                let cells = |run: &RunSeries| {
                    let (start, len, step) = (run.start, run.len, run.step);
                    (0..run.count).flat_map(move |k| (0..len).map(move |j| start + k * step + j))
                };
                let mut given: Vec<i64> = a.intersect(b).iter().flat_map(cells).collect();
                given.sort_unstable();
                let expected: Vec<i64> = (0..60).filter(|&g| inside(a, g) && inside(b, g)).collect();
                assert_eq!(given, expected);
            }
        }
    }
}
