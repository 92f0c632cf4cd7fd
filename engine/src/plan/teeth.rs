//! Coordinates that repeat: what a part of a periodic division holds along a dimension, and what two such
//! have in common, in closed form. Knows maps; knows no plans.

use crate::index::DimMap;

/// Runs of `len` coordinates, one every `step`.
pub(super) struct Run {
    pub start: i64,
    pub len: i64,
    pub count: i64,
    pub step: i64,
}

/// The coordinates `g` in `lo..hi` with `(g + offset) mod period < width`; all of `lo..hi` where the width is
/// the period.
#[derive(Clone, Copy)]
pub(super) struct Teeth {
    pub lo: i64,
    pub hi: i64,
    pub offset: i64,
    pub period: i64,
    pub width: i64,
}

impl Teeth {
    /// What a part holds, if it is periodic.
    pub fn of(map: &DimMap, part: usize) -> Option<Teeth> {
        let range = |lo: i64, hi: i64| Teeth { lo, hi, offset: 0, period: 1, width: 1 };
        match map {
            DimMap::Block { .. } => {
                let owned = map.owned(part);
                Some(range(owned.start, owned.end))
            }
            DimMap::Replicated { size, .. } => Some(range(0, *size)),
            DimMap::Cyclic(cyclic) => cyclic.blocks(part).unit_step().map(|blocks| {
                let hi = if blocks.width == 0 { 0 } else { blocks.size };
                let (offset, period, width) = (blocks.offset, blocks.period, blocks.width.max(1));
                Teeth { lo: 0, hi, offset, period, width }
            }),
            DimMap::Unstructured(_) | DimMap::Custom(_) => None,
        }
    }

    /// The same with every coordinate `by` larger.
    pub fn shifted(&self, by: i64) -> Teeth {
        let offset = (self.offset - by).rem_euclid(self.period);
        Teeth { lo: self.lo + by, hi: self.hi + by, offset, ..*self }
    }

    /// Those in `0..size`.
    pub fn clipped(&self, size: i64) -> Teeth {
        Teeth { lo: self.lo.max(0), hi: self.hi.min(size), ..*self }
    }

    pub fn is_range(&self) -> bool {
        self.width >= self.period
    }

    /// About how many runs there are.
    pub fn teeth(&self) -> i64 {
        if self.is_range() { 1 } else { (self.hi - self.lo) / self.period + 2 }
    }

    /// What is left of the run around `at`, or else the next one.
    pub fn tooth(&self, at: i64) -> (i64, i64) {
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
            let (start, stop) = self.tooth(at);
            at = stop;
            (start < stop.min(to)).then_some((start, stop.min(to)))
        })
    }

    /// What two of them share. It repeats with the least common multiple of the periods, counted from the
    /// beginning of a run, so that no run is cut by a repetition.
    pub fn shared(&self, other: &Teeth) -> Vec<Run> {
        let (lo, hi) = (self.lo.max(other.lo), self.hi.min(other.hi));
        let turn = match (self.is_range(), other.is_range()) {
            (true, true) => None,
            (false, true) => Some(self.period),
            (true, false) => Some(other.period),
            (false, false) => least_common_multiple(self.period, other.period),
        };
        let combed = if self.is_range() { other } else { self };
        let anchor = combed.beginning(lo).min(hi);
        let single = |(start, stop): (i64, i64)| Run { start, len: stop - start, count: 1, step: 0 };
        let mut runs: Vec<Run> = self.overlaps(other, lo, anchor).map(single).collect();
        let Some(turn) = turn.filter(|&turn| turn < hi - anchor) else {
            runs.extend(self.overlaps(other, anchor, hi).map(single));
            return runs;
        };
        for (start, stop) in self.overlaps(other, anchor, anchor + turn) {
            let count = if stop <= hi { (hi - stop) / turn + 1 } else { 0 };
            if count > 0 {
                runs.push(Run { start, len: stop - start, count, step: turn });
            }
            let next = start + count * turn;
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
    pub fn overlaps(&self, other: &Teeth, from: i64, to: i64) -> impl Iterator<Item = (i64, i64)> {
        let (a, b, mut at) = (*self, *other, from);
        std::iter::from_fn(move || {
            while at < to {
                let (one, two) = (a.tooth(at), b.tooth(at));
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
    fn what_two_combs_share_is_what_counting_says() {
        let combs: Vec<Teeth> = (1..7)
            .flat_map(|period| (1..=period).map(move |width| (period, width)))
            .flat_map(|(period, width)| {
                [(0, 40), (3, 31), (17, 18)].map(|(lo, hi)| Teeth {
                    lo,
                    hi,
                    offset: (lo + width) % period,
                    period,
                    width,
                })
            })
            .collect();
        let inside = |comb: &Teeth, g: i64| {
            (comb.lo..comb.hi).contains(&g) && (g + comb.offset).rem_euclid(comb.period) < comb.width
        };
        for a in &combs {
            for b in &combs {
                let cells = |run: &Run| {
                    let (start, len, step) = (run.start, run.len, run.step);
                    (0..run.count).flat_map(move |k| (0..len).map(move |j| start + k * step + j))
                };
                let mut given: Vec<i64> = a.shared(b).iter().flat_map(cells).collect();
                given.sort_unstable();
                let expected: Vec<i64> = (0..60).filter(|&g| inside(a, g) && inside(b, g)).collect();
                assert_eq!(given, expected);
            }
        }
    }
}
