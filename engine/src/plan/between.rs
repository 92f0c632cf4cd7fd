//! Plans between any two distributions of one shape. Along each dimension, what a grid coordinate of one side
//! and one of the other have in common is found once: in closed form where both divisions are periodic, from
//! the lists where one is not. Moves are the cross products. Knows maps; knows no devices.

use std::collections::{BTreeMap, HashMap};

use super::lanes::{Common, FEW, Lane, Pairs};
use super::teeth::{Run, Teeth};
use super::{Move, MoveOp, Plan};
use crate::index::{Along, DimMap, Distribution, ErrorKind, Index, IndexError, Region, Result};

/// What one grid coordinate of the source contributes along a dimension.
struct Share {
    coordinate: usize,
    common: Common,
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
    /// shifted, pinned, exchanged, flipped dimensions of an operand, brought to where they are used, and of
    /// those in steps no more than the steps name. `axes` has one entry per dimension of `from`, and so have
    /// the boxes at the destination: along each they are packed coordinates of the dimension of `to` that it
    /// names, and coordinate 0 of pinned ones.
    pub fn aligned(
        from: &Distribution,
        to: &Distribution,
        axes: &[Along],
        near: impl Fn(usize) -> Option<usize>,
    ) -> Result<Plan> {
        let mut tables = Tables { from, to, axes, known: HashMap::new() };
        let mut moves = Vec::new();
        for part in (0..to.parts()).filter(|&part| !to.owned(part).is_empty()) {
            let at = to.grid().coordinate(part);
            let beside = near(part).map(|part| from.grid().coordinate(part));
            let keys: Vec<Key> = (0..from.rank()).map(|d| tables.key(d, &at, beside.as_ref())).collect();
            keys.iter().for_each(|key| tables.fill(*key));
            let shares: Vec<&[Share]> = keys.iter().map(|key| &tables.known[key][..]).collect();
            cross(&mut moves, from, part, &shares)?;
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
            let beside = near(part).map(|part| from.grid().coordinate(part));
            let shares = |d: usize| {
                let (map, offset) = (DimMap::even(need.extent(d), 1)?, need.start()[d]);
                let beside = beside.as_ref().filter(|_| from.map(d).has_copies()).map(|at| at[d] as usize);
                let need = Need { map: &map, coordinate: 0, offset, step: 1, periodic: from.periodic(d) };
                Ok(need.shares(from.map(d), beside))
            };
            let shares = (0..from.rank()).map(shares).collect::<Result<Vec<Vec<Share>>>>()?;
            let first = moves.len();
            cross(&mut moves, from, part, &shares.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
            for m in &mut moves[first..] {
                m.to = m.to.shift(need.start())?;
            }
        }
        Plan::new(from.parts(), needs.len(), moves)
    }
}

/// A dimension, the receiving coordinate, and the coordinate at the same member where it matters.
type Key = (usize, usize, Option<usize>);

struct Tables<'a> {
    from: &'a Distribution,
    to: &'a Distribution,
    axes: &'a [Along],
    known: HashMap<Key, Vec<Share>>,
}

impl Tables<'_> {
    fn key(&self, d: usize, at: &Index, beside: Option<&Index>) -> Key {
        let beside = beside.filter(|_| self.from.map(d).has_copies()).map(|at| at[d] as usize);
        match self.axes[d] {
            Along::Dim { dim, .. } => (d, at[dim] as usize, beside),
            Along::Pinned(_) => (d, 0, beside),
        }
    }

    fn fill(&mut self, key: Key) {
        let (d, coordinate, beside) = key;
        let (from, periodic) = (self.from.map(d), self.from.periodic(d));
        let shares = || match self.axes[d] {
            Along::Dim { dim, offset, step } => {
                let need = Need { map: self.to.map(dim), coordinate, offset, step, periodic };
                need.shares(from, beside)
            }
            Along::Pinned(at) => pinned(from, at, beside),
        };
        self.known.entry(key).or_insert_with(shares);
    }
}

/// One move for every combination of shares.
fn cross(moves: &mut Vec<Move>, from: &Distribution, to_part: usize, shares: &[&[Share]]) -> Result<()> {
    let rank = shares.len();
    let counts = Index::from_fn(rank, |d| shares[d].len() as i64);
    for choice in Region::from_shape(&counts)?.points() {
        let chosen = |d: usize| &shares[d][choice[d] as usize];
        let lane = |d: usize| {
            let Common { from, lane, .. } = &chosen(d).common;
            lane.clone().unwrap_or_else(|| Lane::whole(from.1 - from.0))
        };
        let boxes = (0..rank).all(|d| chosen(d).common.lane.is_none());
        moves.push(Move {
            from_part: from.grid().part_at(|d| chosen(d).coordinate as i64),
            to_part,
            from: Region::from_fn(rank, |d| chosen(d).common.from),
            to: Region::from_fn(rank, |d| chosen(d).common.to),
            lanes: (!boxes).then(|| (0..rank).map(lane).collect()),
            op: MoveOp::Copy,
        });
    }
    Ok(())
}

/// One cell.
fn pinned(from: &DimMap, at: i64, beside: Option<usize>) -> Vec<Share> {
    let place = |part: usize| Some((part, from.owned(part).start + from.local_at(part, at)?));
    let found = beside.and_then(place).or_else(|| from.owner(at).and_then(place));
    let share = |(coordinate, first)| Share { coordinate, common: Common::runs(first, 0, 1, 1, (0, 0)) };
    found.map(share).into_iter().collect()
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
    fn shares(&self, from: &DimMap, beside: Option<usize>) -> Vec<Share> {
        match Teeth::of(self.map, self.coordinate) {
            Some(needed) if self.step == 1 && Teeth::of(from, 0).is_some() => {
                let (size, needed) = (from.size(), needed.shifted(self.offset));
                if !self.periodic || needed.lo >= needed.hi || size == 0 {
                    return self.periodic_shares(from, &needed.clipped(size), self.offset, beside);
                }
                let turns = needed.lo.div_euclid(size)..=(needed.hi - 1).div_euclid(size);
                let turned = |turn: i64| {
                    let needed = needed.shifted(-turn * size).clipped(size);
                    self.periodic_shares(from, &needed, self.offset - turn * size, beside)
                };
                turns.flat_map(turned).collect()
            }
            Some(_) if self.step > 1 && !self.periodic && from.is_block() && self.map.is_block() => {
                self.stepped_shares(from)
            }
            _ => self.listed_shares(from, beside),
        }
    }

    /// Every `step`-th cell of blocks for blocks.
    fn stepped_shares(&self, from: &DimMap) -> Vec<Share> {
        let (Need { offset, step, .. }, held) = (*self, self.map.owned(self.coordinate));
        if held.is_empty() {
            return Vec::new();
        }
        let share = |coordinate: usize| {
            let owned = from.owned(coordinate);
            let before =
                |bound: i64| (bound - offset + step - 1).div_euclid(step).clamp(held.start, held.end);
            let (start, stop) = (before(owned.start), before(owned.end));
            let common = Common::runs(offset + step * start, start, 1, stop - start, (step, 1));
            (start < stop).then_some(Share { coordinate, common })
        };
        let asked = offset + step * held.start..offset + step * (held.end - 1) + 1;
        from.owners(asked).filter_map(share).collect()
    }

    /// In closed form; `needed` is what is needed in coordinates of the source, `by` larger than ours.
    fn periodic_shares(&self, from: &DimMap, needed: &Teeth, by: i64, beside: Option<usize>) -> Vec<Share> {
        let mut shares = Vec::new();
        for giver in givers(from, needed, beside) {
            let Some(given) = Teeth::of(from, giver) else { continue };
            let place = |map: &DimMap, part: usize, g: i64| {
                map.owned(part).start + map.local_at(part, g).unwrap_or_default()
            };
            let both = |g: i64| (place(from, giver, g), place(self.map, self.coordinate, g - by));
            let runs = given.shared(needed);
            let common = if runs.len() > FEW {
                let each = runs.iter().flat_map(|run| {
                    (0..run.count).flat_map(move |k| (0..run.len).map(move |j| run.start + k * run.step + j))
                });
                let (from, to) = each.map(both).unzip();
                Common::listed(Pairs { from, to })
            } else {
                let common = |run: &Run| {
                    let second = run.start + run.step * (run.count - 1).min(1);
                    let (first, second) = (both(run.start), both(second));
                    let steps = (second.0 - first.0, second.1 - first.1);
                    Common::runs(first.0, first.1, run.len, run.count, steps)
                };
                runs.iter().map(common).collect()
            };
            shares.extend(common.into_iter().map(|common| Share { coordinate: giver, common }));
        }
        shares
    }

    /// Every coordinate that is needed asks who has it.
    fn listed_shares(&self, from: &DimMap, beside: Option<usize>) -> Vec<Share> {
        let first = self.map.owned(self.coordinate).start;
        let mut by_giver: BTreeMap<usize, Pairs> = BTreeMap::new();
        for (k, global) in self.map.owned_set(self.coordinate).iter().enumerate() {
            let wanted = self.offset + self.step * global;
            let wanted = if self.periodic { wanted.rem_euclid(from.size().max(1)) } else { wanted };
            let here = beside.filter(|&part| from.local_at(part, wanted).is_some());
            let Some(giver) = here.or_else(|| from.owner(wanted)) else { continue };
            let Some(local) = from.local_at(giver, wanted) else { continue };
            let pairs = by_giver.entry(giver).or_default();
            pairs.from.push(from.owned(giver).start + local);
            pairs.to.push(first + k as i64);
        }
        let share = |(coordinate, pairs): (usize, Pairs)| {
            Common::listed(pairs).into_iter().map(move |common| Share { coordinate, common })
        };
        by_giver.into_iter().flat_map(share).collect()
    }
}

/// The coordinates of the source that may have something of what is needed. Each run asks for its owners as
/// long as there are fewer runs than parts, so that few neighbours are found in little time.
fn givers(from: &DimMap, needed: &Teeth, beside: Option<usize>) -> Vec<usize> {
    let all = 0..from.parts();
    match from {
        DimMap::Replicated { .. } => vec![beside.unwrap_or(0)],
        _ if needed.teeth() > from.parts() as i64 => all.collect(),
        DimMap::Block { .. } => {
            let owners = needed.runs(needed.lo, needed.hi).flat_map(|(start, stop)| from.owners(start..stop));
            distinct(owners.collect())
        }
        DimMap::Cyclic(cyclic) => {
            let mut owners = Vec::new();
            for (start, stop) in needed.runs(needed.lo, needed.hi) {
                let Some(turns) = cyclic.owners_within(start, stop) else { return all.collect() };
                owners.extend(turns);
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
