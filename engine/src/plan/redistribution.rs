//! Plans between any two distributions of one shape. The overlap of two grid coordinates along a dimension is
//! computed once: in closed form where both maps are periodic, else from lists. Moves are the products of the
//! overlaps.

use std::collections::{BTreeMap, HashMap};

use super::axis_subset::{AxisOverlap, AxisSubset, FEW, Pairs};
use super::moves::{Move, MoveOp, Plan};
use super::periodic_set::{PeriodicSet, RunSeries};
use crate::index::{Along, DimMap, Distribution, ErrorKind, Index, IndexError, Region, Result};

/// What one grid coordinate of the source contributes along a dimension.
struct SourceOverlap {
    coordinate: usize,
    overlap: AxisOverlap,
}

impl Plan {
    /// What the parts of `from` own becomes what the parts of `to` hold, cells that stay with their part and
    /// copies included. Both sides are packed coordinates, in which every distribution is blocks.
    ///
    /// Where several parts have a cell, its owner sends it, unless the receiving part has it itself: parts
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
        let mut tables = OverlapTables { from, to, axes, known: HashMap::new() };
        let mut moves = Vec::new();
        for part in (0..to.parts()).filter(|&part| !to.owned(part).is_empty()) {
            let at = to.grid().coordinate(part);
            let local = near(part).map(|part| from.grid().coordinate(part));
            let keys: Vec<OverlapKey> =
                (0..from.rank()).map(|d| tables.key(d, &at, local.as_ref())).collect();
            keys.iter().for_each(|key| tables.fill(*key));
            let overlaps: Vec<&[SourceOverlap]> = keys.iter().map(|key| &tables.known[key][..]).collect();
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
                let (map, offset) = (DimMap::even(need.extent(d), 1)?, need.start()[d]);
                let local = local.as_ref().filter(|_| from.map(d).has_copies()).map(|at| at[d] as usize);
                let need = Need { map: &map, coordinate: 0, offset, step: 1, periodic: from.periodic(d) };
                Ok(need.overlaps(from.map(d), local))
            };
            let overlaps = (0..from.rank()).map(overlaps).collect::<Result<Vec<Vec<SourceOverlap>>>>()?;
            let first = moves.len();
            cross(&mut moves, from, part, &overlaps.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
            for m in &mut moves[first..] {
                m.to = m.to.shift(need.start())?;
            }
        }
        Plan::new(from.parts(), needs.len(), moves)
    }
}

/// A dimension, the receiving coordinate, and the coordinate at the same member where it matters.
type OverlapKey = (usize, usize, Option<usize>);

struct OverlapTables<'a> {
    from: &'a Distribution,
    to: &'a Distribution,
    axes: &'a [Along],
    known: HashMap<OverlapKey, Vec<SourceOverlap>>,
}

impl OverlapTables<'_> {
    fn key(&self, d: usize, at: &Index, local: Option<&Index>) -> OverlapKey {
        let local = local.filter(|_| self.from.map(d).has_copies()).map(|at| at[d] as usize);
        match self.axes[d] {
            Along::Dim { dim, .. } => (d, at[dim] as usize, local),
            Along::Pinned(_) => (d, 0, local),
        }
    }

    fn fill(&mut self, key: OverlapKey) {
        let (d, coordinate, local) = key;
        let (from, periodic) = (self.from.map(d), self.from.periodic(d));
        let overlaps = || match self.axes[d] {
            Along::Dim { dim, offset, step } => {
                let need = Need { map: self.to.map(dim), coordinate, offset, step, periodic };
                need.overlaps(from, local)
            }
            Along::Pinned(at) => pinned(from, at, local),
        };
        self.known.entry(key).or_insert_with(overlaps);
    }
}

/// One move for every combination of overlaps.
fn cross(
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

/// What one grid coordinate of the destination needs: coordinate `offset + step * g` of the source for every
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
    fn overlaps(&self, from: &DimMap, local: Option<usize>) -> Vec<SourceOverlap> {
        match PeriodicSet::of(self.map, self.coordinate) {
            Some(needed) if self.step == 1 && PeriodicSet::of(from, 0).is_some() => {
                let (size, needed) = (from.size(), needed.shifted(self.offset));
                if !self.periodic || needed.lo >= needed.hi || size == 0 {
                    return self.periodic_overlaps(from, &needed.clipped(size), self.offset, local);
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
            _ => self.listed_overlaps(from, local),
        }
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
    fn listed_overlaps(&self, from: &DimMap, local: Option<usize>) -> Vec<SourceOverlap> {
        let first = self.map.owned(self.coordinate).start;
        let mut by_source: BTreeMap<usize, Pairs> = BTreeMap::new();
        for (k, global) in self.map.owned_set(self.coordinate).iter().enumerate() {
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
        by_source.into_iter().flat_map(from_source).collect()
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
