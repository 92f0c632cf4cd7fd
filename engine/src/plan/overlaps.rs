//! Overlaps: what one grid coordinate of a source has of what one coordinate of a destination needs, along
//! one dimension. In closed form where both maps are periodic, by [`PeriodicSet`]; else from lists. And the
//! other way round, the coordinates of a destination that may need something: see [`touched`].

use std::collections::BTreeMap;
use std::ops::Range;

use crate::index::{DimMap, Distribution, Result, check_room, gcd};
use crate::plan::moves::{AxisOverlap, AxisSubset, FEW, Pairs};
/// The contribution of one grid coordinate of the source along a dimension.
pub(super) struct SourceOverlap {
    pub coordinate: usize,
    pub overlap: AxisOverlap,
    /// Whether these are cells around the part's own.
    pub is_outside: bool,
}

impl SourceOverlap {
    fn new(coordinate: usize, overlap: AxisOverlap) -> SourceOverlap {
        SourceOverlap { coordinate, overlap, is_outside: false }
    }

    /// The number of cells.
    pub fn len(&self) -> i64 {
        let AxisOverlap { from, subset, .. } = &self.overlap;
        subset.as_ref().map_or(from.1 - from.0, AxisSubset::len)
    }
}

/// The coordinates of the source that are requested, ascending; none for all.
pub(super) type Only<'a> = Option<&'a [usize]>;

/// A coordinate of the source at the member that receives, where it matters, and those that are requested.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub local: Option<usize>,
    pub only: Only<'a>,
}

impl Asked<'_> {
    fn has(self, source: usize) -> bool {
        self.only.is_none_or(|only| only.binary_search(&source).is_ok())
    }
}

/// Who has the global coordinates `needed` of dimension `d`; they are at the same coordinates of the
/// destination. Past the ends of a periodic dimension they wrap around.
pub(super) fn box_overlaps(
    from: &Distribution,
    d: usize,
    needed: (i64, i64),
    asked: Asked,
) -> Result<Vec<SourceOverlap>> {
    let map = DimMap::even(needed.1 - needed.0, 1)?;
    let need = Need { map: &map, coordinate: 0, offset: needed.0, step: 1, periodic: from.periodic(d) };
    let mut overlaps = need.overlaps(from.map(d), asked)?;
    for SourceOverlap { overlap, .. } in &mut overlaps {
        overlap.to = (overlap.to.0 + needed.0, overlap.to.1 + needed.0);
    }
    Ok(overlaps)
}

/// One cell.
pub(super) fn pinned(from: &DimMap, at: i64, asked: Asked) -> Vec<SourceOverlap> {
    let place = |part: usize| Some((part, from.owned(part).start + from.local_at(part, at)?));
    let found = asked.local.and_then(place).or_else(|| from.owner(at).and_then(place));
    let one = |(source, first)| SourceOverlap::new(source, AxisOverlap::runs(first, 0, 1, 1, (0, 0)));
    found.filter(|&(source, _)| asked.has(source)).map(one).into_iter().collect()
}

/// The need of one grid coordinate of the destination: coordinate `offset + step * g` of the source for every
/// `g` that it holds.
#[derive(Clone, Copy)]
pub(super) struct Need<'a> {
    pub map: &'a DimMap,
    pub coordinate: usize,
    pub offset: i64,
    pub step: i64,
    pub periodic: bool,
}

impl Need<'_> {
    pub fn overlaps(&self, from: &DimMap, asked: Asked) -> Result<Vec<SourceOverlap>> {
        Ok(match PeriodicSet::of(self.map, self.coordinate) {
            Some(needed) if self.step == 1 && PeriodicSet::of(from, 0).is_some() => {
                let (size, needed) = (from.size(), needed.shifted(self.offset));
                if !self.periodic || needed.lo >= needed.hi || size == 0 {
                    return Ok(self.periodic_overlaps(from, &needed.clipped(size), self.offset, asked));
                }
                let wraps = needed.lo.div_euclid(size)..=(needed.hi - 1).div_euclid(size);
                let wrapped = |wrap: i64| {
                    let needed = needed.shifted(-wrap * size).clipped(size);
                    self.periodic_overlaps(from, &needed, self.offset - wrap * size, asked)
                };
                wraps.flat_map(wrapped).collect()
            }
            Some(_) if self.step > 1 && !self.periodic && from.is_block() && self.map.is_block() => {
                self.stepped_overlaps(from, asked)
            }
            _ => self.listed_overlaps(from, asked)?,
        })
    }

    /// Every `step`-th cell of blocks for blocks.
    fn stepped_overlaps(&self, from: &DimMap, asked: Asked) -> Vec<SourceOverlap> {
        let (Need { offset, step, .. }, held) = (*self, self.map.owned(self.coordinate));
        if held.is_empty() {
            return Vec::new();
        }
        let from_source = |coordinate: usize| {
            let owned = from.owned(coordinate);
            let before =
                |bound: i64| (bound - offset + step - 1).div_euclid(step).clamp(held.start, held.end);
            let (start, stop) = (before(owned.start), before(owned.end));
            let overlap = AxisOverlap::runs(offset + step * start, start, 1, stop - start, (step, 1));
            (start < stop).then_some(SourceOverlap::new(coordinate, overlap))
        };
        let needed = offset + step * held.start..offset + step * (held.end - 1) + 1;
        from.owners(needed).filter(|&source| asked.has(source)).filter_map(from_source).collect()
    }

    /// In closed form; `needed` is what is needed in coordinates of the source, `by` larger than ours.
    fn periodic_overlaps(
        &self,
        from: &DimMap,
        needed: &PeriodicSet,
        by: i64,
        asked: Asked,
    ) -> Vec<SourceOverlap> {
        let mut overlaps = Vec::new();
        for source in sources(from, needed, asked) {
            let Some(given) = PeriodicSet::of(from, source) else { continue };
            let place = |map: &DimMap, part: usize, g: i64| {
                map.owned(part).start + map.local_at(part, g).unwrap_or_default()
            };
            let both = |g: i64| (place(from, source, g), place(self.map, self.coordinate, g - by));
            let runs = given.intersect(needed);
            let overlap = if runs.len() > FEW {
                let each = runs.iter().flat_map(|run| {
                    (0..run.count).flat_map(move |k| (0..run.len).map(move |j| run.start + k * run.step + j))
                });
                let (from, to) = each.map(both).unzip();
                AxisOverlap::listed(Pairs { from, to })
            } else {
                let overlap = |run: &RunSeries| {
                    let second = run.start + run.step * (run.count - 1).min(1);
                    let (first, second) = (both(run.start), both(second));
                    let steps = (second.0 - first.0, second.1 - first.1);
                    AxisOverlap::runs(first.0, first.1, run.len, run.count, steps)
                };
                runs.iter().map(overlap).collect()
            };
            overlaps.extend(overlap.into_iter().map(|overlap| SourceOverlap::new(source, overlap)));
        }
        overlaps
    }

    /// Every coordinate that is needed asks who has it.
    fn listed_overlaps(&self, from: &DimMap, asked: Asked) -> Result<Vec<SourceOverlap>> {
        let Range { start: first, end } = self.map.owned(self.coordinate);
        // Two lists, three times as long while they grow, and the two that stay.
        check_room(
            "a plan of listed coordinates",
            (end - first).saturating_mul(8 * size_of::<i64>() as i64),
        )?;
        let mut by_source: BTreeMap<usize, Pairs> = BTreeMap::new();
        for (k, global) in self.map.try_owned_set(self.coordinate)?.iter().enumerate() {
            let wanted = self.offset + self.step * global;
            let wanted = if self.periodic { wanted.rem_euclid(from.size().max(1)) } else { wanted };
            let here = asked.local.filter(|&part| from.local_at(part, wanted).is_some());
            let source = here.or_else(|| from.owner(wanted)).filter(|&source| asked.has(source));
            let Some(source) = source else { continue };
            let Some(local) = from.local_at(source, wanted) else { continue };
            let pairs = by_source.entry(source).or_default();
            pairs.from.push(from.owned(source).start + local);
            pairs.to.push(first + k as i64);
        }
        let from_source = |(coordinate, pairs): (usize, Pairs)| {
            AxisOverlap::listed(pairs).into_iter().map(move |overlap| SourceOverlap::new(coordinate, overlap))
        };
        Ok(by_source.into_iter().flat_map(from_source).collect())
    }
}

/// The coordinates of the source that may have something of what is needed, of those that are requested.
/// Each run asks for its owners as long as there are fewer runs than parts, so that few neighbours are found
/// in little time.
fn sources(from: &DimMap, needed: &PeriodicSet, asked: Asked) -> Vec<usize> {
    let has = |&source: &usize| asked.has(source);
    let all = || match asked.only {
        Some(only) => only.to_vec(),
        None => (0..from.parts()).collect(),
    };
    match from {
        DimMap::Replicated { .. } => [asked.local.unwrap_or(0)].into_iter().filter(has).collect(),
        _ if needed.run_count() > from.parts() as i64 => all(),
        DimMap::Block { .. } => {
            let owners = needed.runs(needed.lo, needed.hi).flat_map(|(start, stop)| from.owners(start..stop));
            distinct(owners.filter(has).collect())
        }
        DimMap::Cyclic(cyclic) => {
            let mut owners = Vec::new();
            for (start, stop) in needed.runs(needed.lo, needed.hi) {
                let Some(wraps) = cyclic.owners_within(start, stop) else { return all() };
                owners.extend(wraps.filter(has));
            }
            distinct(owners)
        }
        DimMap::Unstructured(_) | DimMap::Custom(_) => all(),
    }
}

/// The coordinates of a map of blocks or a cyclic one that may hold something of a set, which repeats after
/// every `turn`, if there is one.
pub(super) fn touched(map: &DimMap, set: &PeriodicSet, turn: Option<i64>) -> Vec<usize> {
    let size = map.size();
    if set.lo >= set.hi || size == 0 {
        return Vec::new();
    }
    let turn = turn.unwrap_or(0);
    let (first, last) = match turn {
        0 => (0, 0),
        _ => ((-set.hi).div_euclid(turn) + 1, (size - 1 - set.lo).div_euclid(turn)),
    };
    if last - first >= map.parts() as i64 {
        return (0..map.parts()).collect();
    }
    let all = Asked { local: None, only: None };
    let owners = |k: i64| sources(map, &set.shifted(k * turn).clipped(size), all);
    distinct((first..=last).flat_map(owners).collect())
}

/// In ascending order, each once.
pub(super) fn distinct(mut parts: Vec<usize>) -> Vec<usize> {
    parts.sort_unstable();
    parts.dedup();
    parts
}

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
    pub fn range((lo, hi): (i64, i64)) -> PeriodicSet {
        PeriodicSet { lo, hi, offset: 0, period: 1, width: 1 }
    }

    /// The coordinates that a part holds, if the map is periodic.
    pub fn of(map: &DimMap, part: usize) -> Option<PeriodicSet> {
        match map {
            DimMap::Block { .. } => {
                let owned = map.owned(part);
                Some(PeriodicSet::range((owned.start, owned.end)))
            }
            DimMap::Replicated { size, .. } => Some(PeriodicSet::range((0, *size))),
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
            // The least common multiple; none where it is larger than any coordinate.
            (false, false) => (self.period / gcd(self.period, other.period)).checked_mul(other.period),
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
