//! Plans between any two distributions of one shape. The overlap of two grid coordinates along a dimension
//! is computed once: in closed form where both maps are periodic, else from lists. Moves are the products of
//! the overlaps.
//!
//! And constructors of plans for boxes that parts need: halos and fetches. Each cuts the needed box along
//! each dimension by owner and takes the product of the dimensions. No part is compared with all others.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use crate::index::{
    Along, DimMap, Distribution, ErrorKind, Index, IndexError, Region, Result, check_room, gcd,
};
use crate::plan::moves::{AxisOverlap, AxisSubset, FEW, Move, MoveOp, Pairs, Plan};
/// The contribution of one grid coordinate of the source along a dimension.
pub(super) struct SourceOverlap {
    coordinate: usize,
    overlap: AxisOverlap,
}

impl Plan {
    /// The moves from the cells that parts of `from` own to those that parts of `to` hold, copies and cells
    /// that stay included. Both sides are packed coordinates, in which every distribution is blocks.
    ///
    /// If several parts have a cell, its owner sends it, unless the receiving part has it itself: parts
    /// of one number are taken to be at one member if both sides have as many.
    pub fn redistribute(from: &Distribution, to: &Distribution) -> Result<Plan> {
        let alike = from.parts() == to.parts();
        Plan::between(from, to, |part| alike.then_some(part))
    }

    /// The same where `near(q)` is the part of `from` at the member that holds part `q` of `to`, if there is
    /// one. Which members the parts are at is otherwise the caller's business.
    pub fn between(
        from: &Distribution,
        to: &Distribution,
        near: impl Fn(usize) -> Option<usize>,
    ) -> Result<Plan> {
        if from.shape() != to.shape() {
            return Err(IndexError::new(
                ErrorKind::Size,
                "Plan::redistribute",
                format!("two distributions of one shape, {}", from.shape()),
                to.shape().to_string(),
                "slice or pad the array to the other shape first",
            ));
        }
        let axes: Vec<Along> = (0..to.rank()).map(Along::same).collect();
        Plan::aligned(from, to, &axes, near)
    }

    /// Every part of `to` gets what it needs of `from`, in the order in which it goes through it: the
    /// shifted, pinned, exchanged, flipped dimensions of an operand, at their destination; of strided ones
    /// no more than the strides select. `axes` has one entry per dimension of `from`, and so have
    /// the boxes at the destination: along each they are packed coordinates of the dimension of `to` that it
    /// names, and coordinate 0 of pinned ones.
    pub fn aligned(
        from: &Distribution,
        to: &Distribution,
        axes: &[Along],
        near: impl Fn(usize) -> Option<usize>,
    ) -> Result<Plan> {
        let mut known: HashMap<OverlapKey, Vec<SourceOverlap>> = HashMap::new();
        let mut moves = Vec::new();
        for part in (0..to.parts()).filter(|&part| !to.owned(part).is_empty()) {
            let at = to.grid().coordinate(part);
            let local = near(part).map(|part| from.grid().coordinate(part));
            let key = |d: usize| {
                let local = local.filter(|_| from.map(d).has_copies()).map(|at| at[d] as usize);
                match axes[d] {
                    Along::Dim { dim, .. } => (d, at[dim] as usize, local),
                    Along::Pinned(_) => (d, 0, local),
                }
            };
            let keys: Vec<OverlapKey> = (0..from.rank()).map(key).collect();
            for &(d, coordinate, local) in &keys {
                let overlaps = || match axes[d] {
                    Along::Dim { dim, offset, step } => {
                        let (map, periodic) = (to.map(dim), from.periodic(d));
                        Need { map, coordinate, offset, step, periodic }.overlaps(from.map(d), local)
                    }
                    Along::Pinned(at) => Ok(pinned(from.map(d), at, local)),
                };
                if let Entry::Vacant(entry) = known.entry((d, coordinate, local)) {
                    entry.insert(overlaps()?);
                }
            }
            let overlaps: Vec<&[SourceOverlap]> = keys.iter().map(|key| &known[key][..]).collect();
            cross(&mut moves, from, part, &overlaps)?;
        }
        Plan::new(from.parts(), to.parts(), moves)
    }

    /// Part `p` gets the box `needs[p]` of global coordinates, whatever the maps of `from`: one box for all
    /// that a part reads of it. `near` as in [`Plan::between`]. As in [`Plan::fetch`], needs may reach past
    /// the ends of periodic dimensions.
    pub fn boxes(
        from: &Distribution,
        needs: &[Region],
        near: impl Fn(usize) -> Option<usize>,
    ) -> Result<Plan> {
        let mut moves = Vec::new();
        for (part, need) in needs.iter().enumerate().filter(|(_, need)| !need.is_empty()) {
            let local = near(part).map(|part| from.grid().coordinate(part));
            let overlaps = |d: usize| {
                let local = local.filter(|_| from.map(d).has_copies()).map(|at| at[d] as usize);
                box_overlaps(from, d, (need.start()[d], need.stop()[d]), local)
            };
            let overlaps = (0..from.rank()).map(overlaps).collect::<Result<Vec<Vec<SourceOverlap>>>>()?;
            cross(&mut moves, from, part, &overlaps.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
        }
        Plan::new(from.parts(), needs.len(), moves)
    }
}

/// A dimension, the receiving coordinate, and the coordinate at the same member where it matters.
type OverlapKey = (usize, usize, Option<usize>);

/// Who has the global coordinates `needed` of dimension `d`; they are at the same coordinates of the
/// destination. Past the ends of a periodic dimension they wrap around.
pub(super) fn box_overlaps(
    from: &Distribution,
    d: usize,
    needed: (i64, i64),
    local: Option<usize>,
) -> Result<Vec<SourceOverlap>> {
    let map = DimMap::even(needed.1 - needed.0, 1)?;
    let need = Need { map: &map, coordinate: 0, offset: needed.0, step: 1, periodic: from.periodic(d) };
    let mut overlaps = need.overlaps(from.map(d), local)?;
    for SourceOverlap { overlap, .. } in &mut overlaps {
        overlap.to = (overlap.to.0 + needed.0, overlap.to.1 + needed.0);
    }
    Ok(overlaps)
}

/// One move for every combination of overlaps.
pub(super) fn cross(
    moves: &mut Vec<Move>,
    from: &Distribution,
    to_part: usize,
    overlaps: &[&[SourceOverlap]],
) -> Result<()> {
    let rank = overlaps.len();
    let counts = Index::from_fn(rank, |d| overlaps[d].len() as i64);
    for choice in Region::from_shape(&counts)?.points() {
        let chosen = |d: usize| &overlaps[d][choice[d] as usize];
        let subset = |d: usize| {
            let AxisOverlap { from, subset, .. } = &chosen(d).overlap;
            subset.clone().unwrap_or_else(|| AxisSubset::whole(from.1 - from.0))
        };
        let boxes = (0..rank).all(|d| chosen(d).overlap.subset.is_none());
        moves.push(Move {
            from_part: from.grid().part_at(|d| chosen(d).coordinate as i64),
            to_part,
            from: Region::from_fn(rank, |d| chosen(d).overlap.from),
            to: Region::from_fn(rank, |d| chosen(d).overlap.to),
            subsets: (!boxes).then(|| (0..rank).map(subset).collect()),
            op: MoveOp::Copy,
        });
    }
    Ok(())
}

/// One cell.
fn pinned(from: &DimMap, at: i64, local: Option<usize>) -> Vec<SourceOverlap> {
    let place = |part: usize| Some((part, from.owned(part).start + from.local_at(part, at)?));
    let found = local.and_then(place).or_else(|| from.owner(at).and_then(place));
    let from_source = |(coordinate, first)| SourceOverlap {
        coordinate,
        overlap: AxisOverlap::runs(first, 0, 1, 1, (0, 0)),
    };
    found.map(from_source).into_iter().collect()
}

/// The need of one grid coordinate of the destination: coordinate `offset + step * g` of the source for every
/// `g` that it holds.
#[derive(Clone, Copy)]
struct Need<'a> {
    map: &'a DimMap,
    coordinate: usize,
    offset: i64,
    step: i64,
    periodic: bool,
}

impl Need<'_> {
    fn overlaps(&self, from: &DimMap, local: Option<usize>) -> Result<Vec<SourceOverlap>> {
        Ok(match PeriodicSet::of(self.map, self.coordinate) {
            Some(needed) if self.step == 1 && PeriodicSet::of(from, 0).is_some() => {
                let (size, needed) = (from.size(), needed.shifted(self.offset));
                if !self.periodic || needed.lo >= needed.hi || size == 0 {
                    return Ok(self.periodic_overlaps(from, &needed.clipped(size), self.offset, local));
                }
                let wraps = needed.lo.div_euclid(size)..=(needed.hi - 1).div_euclid(size);
                let wrapped = |wrap: i64| {
                    let needed = needed.shifted(-wrap * size).clipped(size);
                    self.periodic_overlaps(from, &needed, self.offset - wrap * size, local)
                };
                wraps.flat_map(wrapped).collect()
            }
            Some(_) if self.step > 1 && !self.periodic && from.is_block() && self.map.is_block() => {
                self.stepped_overlaps(from)
            }
            _ => self.listed_overlaps(from, local)?,
        })
    }

    /// Every `step`-th cell of blocks for blocks.
    fn stepped_overlaps(&self, from: &DimMap) -> Vec<SourceOverlap> {
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
            (start < stop).then_some(SourceOverlap { coordinate, overlap })
        };
        let asked = offset + step * held.start..offset + step * (held.end - 1) + 1;
        from.owners(asked).filter_map(from_source).collect()
    }

    /// In closed form; `needed` is what is needed in coordinates of the source, `by` larger than ours.
    fn periodic_overlaps(
        &self,
        from: &DimMap,
        needed: &PeriodicSet,
        by: i64,
        local: Option<usize>,
    ) -> Vec<SourceOverlap> {
        let mut overlaps = Vec::new();
        for source in sources(from, needed, local) {
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
            overlaps.extend(overlap.into_iter().map(|overlap| SourceOverlap { coordinate: source, overlap }));
        }
        overlaps
    }

    /// Every coordinate that is needed asks who has it.
    fn listed_overlaps(&self, from: &DimMap, local: Option<usize>) -> Result<Vec<SourceOverlap>> {
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
            let here = local.filter(|&part| from.local_at(part, wanted).is_some());
            let Some(source) = here.or_else(|| from.owner(wanted)) else { continue };
            let Some(local) = from.local_at(source, wanted) else { continue };
            let pairs = by_source.entry(source).or_default();
            pairs.from.push(from.owned(source).start + local);
            pairs.to.push(first + k as i64);
        }
        let from_source = |(coordinate, pairs): (usize, Pairs)| {
            AxisOverlap::listed(pairs).into_iter().map(move |overlap| SourceOverlap { coordinate, overlap })
        };
        Ok(by_source.into_iter().flat_map(from_source).collect())
    }
}

/// The coordinates of the source that may have something of what is needed. Each run asks for its owners as
/// long as there are fewer runs than parts, so that few neighbours are found in little time.
fn sources(from: &DimMap, needed: &PeriodicSet, local: Option<usize>) -> Vec<usize> {
    let all = 0..from.parts();
    match from {
        DimMap::Replicated { .. } => vec![local.unwrap_or(0)],
        _ if needed.run_count() > from.parts() as i64 => all.collect(),
        DimMap::Block { .. } => {
            let owners = needed.runs(needed.lo, needed.hi).flat_map(|(start, stop)| from.owners(start..stop));
            distinct(owners.collect())
        }
        DimMap::Cyclic(cyclic) => {
            let mut owners = Vec::new();
            for (start, stop) in needed.runs(needed.lo, needed.hi) {
                let Some(wraps) = cyclic.owners_within(start, stop) else { return all.collect() };
                owners.extend(wraps);
            }
            distinct(owners)
        }
        DimMap::Unstructured(_) | DimMap::Custom(_) => all.collect(),
    }
}

fn distinct(mut parts: Vec<usize>) -> Vec<usize> {
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

impl Plan {
    /// Fills every halo cell of every part from its owner; where periodic, possibly from the part itself.
    /// Without `corners`, only cells that are outside the part's own in exactly one dimension.
    pub fn halo(dist: &Distribution, corners: bool) -> Result<Plan> {
        dist.check_block("Plan::halo")?;
        halo(dist, corners, |d, at| Ok(dist.dim(d).stored(at)))
    }

    /// The same for narrower widths `lo` and `hi` than the declared halo.
    pub fn halo_widths(dist: &Distribution, lo: &[i64], hi: &[i64], corners: bool) -> Result<Plan> {
        dist.check_block("Plan::halo_widths")?;
        if lo.len() != dist.rank() || hi.len() != dist.rank() || lo.iter().chain(hi).any(|&width| width < 0) {
            return Err(halo_error(
                format!("{} widths of at least 0 on either side", dist.rank()),
                format!("lo {lo:?}, hi {hi:?}"),
            ));
        }
        halo(dist, corners, |d, at| {
            let (stored, reach) = (dist.dim(d).stored(at), dist.dim(d).reach(at, lo[d], hi[d]));
            if stored.0 <= reach.0 && reach.1 <= stored.1 {
                return Ok(reach);
            }
            let (declared_lo, declared_hi) = dist.halo();
            Err(halo_error(
                format!("at most the declared widths, {declared_lo} and {declared_hi}"),
                format!("({}, {}) at grid coordinate {at} of dimension {d}", lo[d], hi[d]),
            ))
        })
    }

    /// The same, of each part's own halo as much as lies within these widths.
    pub(crate) fn halo_within(dist: &Distribution, lo: &[i64], hi: &[i64], corners: bool) -> Result<Plan> {
        dist.check_block("Plan::halo_within")?;
        halo(dist, corners, |d, at| {
            let (stored, reach) = (dist.dim(d).stored(at), dist.dim(d).reach(at, lo[d], hi[d]));
            Ok((stored.0.max(reach.0), stored.1.min(reach.1)))
        })
    }

    /// Part `p` gets the cells `needs[p]`, its own among them, for instance into a fresh buffer. Where a
    /// dimension is periodic, a need may reach past the ends as far as it likes.
    pub fn fetch(dist: &Distribution, needs: &[Region]) -> Result<Plan> {
        if needs.len() != dist.parts() {
            return Err(IndexError::new(
                ErrorKind::Plan,
                "Plan::fetch",
                format!("{} regions, one per part", dist.parts()),
                needs.len().to_string(),
                "use an empty region for a part that needs nothing",
            ));
        }
        fetch("Plan::fetch", dist, needs)
    }

    /// The cells of `root_region`, wherever they are owned, go to the one part of the destination.
    pub fn gather(dist: &Distribution, root_region: &Region) -> Result<Plan> {
        fetch("Plan::gather", dist, std::slice::from_ref(root_region))
    }
}

/// The halo plan for parts that reach over `reach(d, coordinate)` in dimension `d`.
fn halo(
    dist: &Distribution,
    corners: bool,
    reach: impl Fn(usize, usize) -> Result<(i64, i64)>,
) -> Result<Plan> {
    let overlaps = |d: usize, at: usize| -> Result<Vec<SourceOverlap>> {
        let (owned, reach) = (dist.dim(d).owned(at), reach(d, at)?);
        if owned.0 == owned.1 {
            return Ok(Vec::new());
        }
        let pieces = [(reach.0, owned.0), owned, (owned.1, reach.1)];
        let cut = pieces.into_iter().map(|needed| box_overlaps(dist, d, needed, None));
        Ok(cut.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect())
    };
    // Overlaps depend on one grid coordinate only, so they are found once for all parts that share it.
    let overlaps: Vec<Vec<Vec<SourceOverlap>>> = (0..dist.rank())
        .map(|d| (0..dist.map(d).parts()).map(|at| overlaps(d, at)).collect::<Result<_>>())
        .collect::<Result<_>>()?;
    let mut moves = Vec::new();
    for part in 0..dist.parts() {
        let (at, owned) = (dist.grid().coordinate(part), dist.owned(part));
        let needed: Vec<&[SourceOverlap]> =
            (0..dist.rank()).map(|d| &overlaps[d][at[d] as usize][..]).collect();
        let is_outside =
            |m: &Move, d: usize| m.to.start()[d] < owned.start()[d] || m.to.start()[d] >= owned.stop()[d];
        let mut all = Vec::new();
        cross(&mut all, dist, part, &needed)?;
        all.retain(|m| match (0..dist.rank()).filter(|&d| is_outside(m, d)).count() {
            0 => false,
            1 => true,
            _ => corners,
        });
        moves.append(&mut all);
    }
    Plan::new(dist.parts(), dist.parts(), moves)
}

fn fetch(operation: &'static str, dist: &Distribution, needs: &[Region]) -> Result<Plan> {
    dist.check_block(operation)?;
    for (part, need) in needs.iter().enumerate() {
        check_need(operation, dist, part, need)?;
    }
    Plan::boxes(dist, needs, |_| None)
}

/// Refuses a need that the array cannot satisfy.
fn check_need(operation: &'static str, dist: &Distribution, part: usize, need: &Region) -> Result<()> {
    let within = |d: usize| {
        let size = dist.map(d).size();
        let reachable = dist.periodic(d) && size > 0;
        reachable || (0 <= need.start()[d] && need.stop()[d] <= size)
    };
    if need.rank() == dist.rank() && (need.is_empty() || (0..dist.rank()).all(within)) {
        return Ok(());
    }
    Err(IndexError::new(
        ErrorKind::Range,
        operation,
        format!("regions inside {}, except along periodic dimensions", dist.global()),
        format!("{need} for part {part}"),
        "clip the region to the array",
    ))
}

fn halo_error(expected: String, given: String) -> IndexError {
    let remedy = "declare a wider halo, or use Plan::fetch into a larger buffer";
    IndexError::new(ErrorKind::Halo, "Plan::halo_widths", expected, given, remedy)
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
