//! [`Scope`]: of which parts a plan lists the moves, all or those of one rank. [`Recipe`]: what a plan
//! follows from, and the moves to each part. All plans are made here.
//!
//! The overlap of two grid coordinates along a dimension is computed once; moves are products of overlaps.
//! A rank finds the parts that its own parts send to from the maps, in time and memory for its neighbours
//! alone. What ranks must agree on, whichever parts they have, are numbers: how many moves there are in all,
//! whether one of them leaves its rank, and a hash of the recipe. Counting takes a moment per part, and
//! keeps nothing.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::RangeInclusive;

use crate::index::{Along, DimMap, Distribution, Index, MAX_RANK, Region, Result};
use crate::plan::moves::{AxisSubset, Move, MoveOp, Plan, WholePlan};
use crate::plan::overlaps::{
    Asked, Need, Only, PeriodicSet, SourceOverlap, box_overlaps, distinct, pinned, touched,
};

/// Of which parts a plan lists the moves.
#[derive(Clone, Copy)]
pub enum Scope<'a> {
    /// All: the whole plan.
    All,
    /// Those that a rank's parts send or receive; of the others is known how many there are.
    Rank {
        /// The rank.
        rank: usize,
        /// The rank of each part of the source.
        from: &'a dyn Fn(usize) -> usize,
        /// The rank of each part of the destination.
        to: &'a dyn Fn(usize) -> usize,
    },
}

/// The part of the source at the member that holds a part of the destination.
pub type Near<'a> = &'a dyn Fn(usize) -> Option<usize>;

/// What a plan follows from. The constructors of [`Scope`] say what each means.
pub(super) enum Recipe<'a> {
    Halo {
        dist: &'a Distribution,
        /// What the parts at a coordinate of a dimension get, and have.
        reach: &'a dyn Fn(usize, usize) -> Result<(i64, i64)>,
        /// The widest of these on either side.
        widest: (Index, Index),
        corners: bool,
    },
    Aligned {
        from: &'a Distribution,
        to: &'a Distribution,
        axes: &'a [Along],
        near: Near<'a>,
    },
    Boxes {
        from: &'a Distribution,
        needs: &'a [Region],
        near: Near<'a>,
    },
}

/// A dimension, the receiving coordinate (for boxes the part), the coordinate at the same member where it
/// matters, and whether only some sources are requested.
type OverlapKey = (usize, usize, Option<usize>, bool);

/// The overlaps that were found last, and how many there are: in all, and of the last part.
#[derive(Default)]
struct Known {
    lists: HashMap<OverlapKey, Vec<SourceOverlap>>,
    held: usize,
    last: usize,
}

/// About so many overlaps are remembered, or those of a few parts with more neighbours.
const MOST_OVERLAPS: usize = 1 << 12;

impl Recipe<'_> {
    fn from(&self) -> &Distribution {
        match self {
            Recipe::Halo { dist: from, .. } | Recipe::Aligned { from, .. } | Recipe::Boxes { from, .. } => {
                from
            }
        }
    }

    fn to_parts(&self) -> usize {
        match self {
            Recipe::Halo { dist, .. } => dist.parts(),
            Recipe::Aligned { to, .. } => to.parts(),
            Recipe::Boxes { needs, .. } => needs.len(),
        }
    }

    /// In how many dimensions the cells of a move lie outside the part's own.
    fn outside(&self) -> RangeInclusive<usize> {
        match self {
            Recipe::Halo { corners: true, .. } => 1..=MAX_RANK,
            Recipe::Halo { corners: false, .. } => 1..=1,
            Recipe::Aligned { .. } | Recipe::Boxes { .. } => 0..=0,
        }
    }

    /// The names of a part's overlaps along each dimension of the source; none if the part gets nothing.
    fn keys(&self, part: usize, some: bool) -> Option<Vec<OverlapKey>> {
        let from = self.from();
        let local = |near: &Near, d: usize| {
            let local = near(part).filter(|_| from.map(d).has_copies());
            local.map(|part| from.grid().coordinate(part)[d] as usize)
        };
        let key = |d: usize| match self {
            Recipe::Halo { dist, .. } => (d, dist.grid().coordinate(part)[d] as usize, None, some),
            Recipe::Aligned { to, axes, near, .. } => {
                let at = match axes[d] {
                    Along::Dim { dim, .. } => to.grid().coordinate(part)[dim] as usize,
                    Along::Pinned(_) => 0,
                };
                (d, at, local(near, d), some)
            }
            Recipe::Boxes { near, .. } => (d, part, local(near, d), some),
        };
        let gets = match self {
            Recipe::Halo { .. } => true,
            Recipe::Aligned { to, .. } => !to.owned(part).is_empty(),
            Recipe::Boxes { needs, .. } => !needs[part].is_empty(),
        };
        gets.then(|| (0..from.rank()).map(key).collect())
    }

    fn overlaps(&self, (d, at, local, _): OverlapKey, only: Only) -> Result<Vec<SourceOverlap>> {
        let (from, asked) = (self.from(), Asked { local, only });
        match self {
            Recipe::Halo { dist, reach, .. } => {
                let (owned, reach) = (dist.dim(d).owned(at), reach(d, at)?);
                let pieces = [(reach.0, owned.0), owned, (owned.1, reach.1)];
                let mut all = Vec::new();
                for needed in pieces.into_iter().filter(|_| owned.0 < owned.1) {
                    let found = box_overlaps(dist, d, needed, asked)?;
                    all.extend(
                        found.into_iter().map(|one| SourceOverlap { is_outside: needed != owned, ..one }),
                    );
                }
                Ok(all)
            }
            Recipe::Aligned { to, axes, .. } => match axes[d] {
                Along::Dim { dim, offset, step } => {
                    let (map, periodic) = (to.map(dim), from.periodic(d));
                    Need { map, coordinate: at, offset, step, periodic }.overlaps(from.map(d), asked)
                }
                Along::Pinned(at) => Ok(pinned(from.map(d), at, asked)),
            },
            Recipe::Boxes { needs, .. } => {
                box_overlaps(from, d, (needs[at].start()[d], needs[at].stop()[d]), asked)
            }
        }
    }

    /// What a part gets along each dimension, of all sources or of `only` these coordinates; none if nothing.
    fn part<'k>(
        &self,
        known: &'k mut Known,
        part: usize,
        only: Option<&[Vec<usize>]>,
    ) -> Result<Option<Vec<&'k [SourceOverlap]>>> {
        if known.held > MOST_OVERLAPS.max(4 * known.last) {
            *known = Known::default();
        }
        let Some(keys) = self.keys(part, only.is_some()) else { return Ok(None) };
        known.last = 0;
        for key in &keys {
            if !known.lists.contains_key(key) {
                let list = self.overlaps(*key, only.map(|only| &only[key.0][..]))?;
                known.held += list.len() + 1;
                known.lists.insert(*key, list);
            }
            known.last += known.lists[key].len();
            if known.lists[key].is_empty() {
                return Ok(None);
            }
        }
        Ok(Some(keys.iter().map(|key| &known.lists[key][..]).collect()))
    }

    /// Every combination of overlaps that is a move.
    fn choices(&self, overlaps: &[&[SourceOverlap]]) -> Result<impl Iterator<Item = Index>> {
        let counts = Index::from_fn(overlaps.len(), |d| overlaps[d].len() as i64);
        let outside = self.outside();
        let is_outside = move |choice: &Index, d: usize| overlaps[d][choice[d] as usize].is_outside;
        Ok(Region::from_shape(&counts)?.points().filter(move |choice| {
            outside.contains(&(0..choice.rank()).filter(|&d| is_outside(choice, d)).count())
        }))
    }

    /// Adds the moves to a part.
    fn cross(&self, moves: &mut Vec<Move>, to_part: usize, overlaps: &[&[SourceOverlap]]) -> Result<()> {
        let rank = overlaps.len();
        for choice in self.choices(overlaps)? {
            let chosen = |d: usize| &overlaps[d][choice[d] as usize];
            let subset = |d: usize| {
                let subset = &chosen(d).overlap.subset;
                subset.clone().unwrap_or_else(|| AxisSubset::whole(chosen(d).len()))
            };
            let boxes = (0..rank).all(|d| chosen(d).overlap.subset.is_none());
            moves.push(Move {
                from_part: self.from().grid().part_at(|d| chosen(d).coordinate as i64),
                to_part,
                from: Region::from_fn(rank, |d| chosen(d).overlap.from),
                to: Region::from_fn(rank, |d| chosen(d).overlap.to),
                subsets: (!boxes).then(|| (0..rank).map(subset).collect()),
                op: MoveOp::Copy,
            });
        }
        Ok(())
    }

    pub fn plan(&self, scope: Scope) -> Result<Plan> {
        let (from_parts, to_parts) = (self.from().parts(), self.to_parts());
        let (mut known, mut moves) = (Known::default(), Vec::new());
        let mut to_each =
            |parts: &mut dyn Iterator<Item = usize>, only: Option<&[Vec<usize>]>| -> Result<()> {
                for part in parts {
                    if let Some(overlaps) = self.part(&mut known, part, only)? {
                        self.cross(&mut moves, part, &overlaps)?;
                    }
                }
                Ok(())
            };
        let Scope::Rank { rank, from, to } = scope else {
            to_each(&mut (0..to_parts), None)?;
            return Plan::new(from_parts, to_parts, moves);
        };
        let senders: Vec<usize> = (0..from_parts).filter(|&part| from(part) == rank).collect();
        let coordinates = |d: usize| senders.iter().map(move |&part| self.coordinate(part, d)).collect();
        let only: Vec<Vec<usize>> = (0..self.from().rank()).map(|d| distinct(coordinates(d))).collect();
        let others = self.receivers(&senders)?;
        to_each(&mut others.into_iter().filter(|&part| to(part) != rank), Some(&only))?;
        to_each(&mut (0..to_parts).filter(|&part| to(part) == rank), None)?;
        moves.retain(|m| from(m.from_part) == rank || to(m.to_part) == rank);
        let mut plan = Plan::new(from_parts, to_parts, moves)?;
        let mut whole = self.count()?;
        let leaves = |m: &Move| from(m.from_part) != to(m.to_part);
        whole.crosses = plan.moves.iter().any(leaves) || self.crosses((from, to))?;
        plan.whole = Some(whole);
        Ok(plan)
    }

    fn coordinate(&self, part: usize, d: usize) -> usize {
        self.from().grid().coordinate(part)[d] as usize
    }

    /// Parts that may get something of what these have, among them all that do; ascending.
    fn receivers(&self, senders: &[usize]) -> Result<Vec<usize>> {
        let grid = match self {
            Recipe::Halo { dist, .. } => dist.grid(),
            Recipe::Aligned { to, .. } => to.grid(),
            Recipe::Boxes { needs, .. } => return Ok((0..needs.len()).collect()),
        };
        let mut receivers = Vec::new();
        for &part in senders.iter().filter(|&&part| !self.from().owned(part).is_empty()) {
            let Some(along) = self.receivers_along(part, grid.rank()) else { continue };
            let along: Vec<Vec<usize>> = along
                .into_iter()
                .enumerate()
                .map(|(e, some)| some.unwrap_or_else(|| (0..grid.shape()[e] as usize).collect()))
                .collect();
            let counts = Index::from_fn(along.len(), |e| along[e].len() as i64);
            let at = |choice: Index| grid.part_at(|e| along[e][choice[e] as usize] as i64);
            receivers.extend(Region::from_shape(&counts)?.points().map(at));
            if receivers.len() > 2 * grid.parts() {
                receivers = distinct(receivers);
            }
        }
        Ok(distinct(receivers))
    }

    /// The coordinates of the destination, per dimension, at which parts may get something of what a part
    /// has: none for all. Nothing if nobody does.
    fn receivers_along(&self, part: usize, rank: usize) -> Option<Vec<Option<Vec<usize>>>> {
        let mut along: Vec<Option<Vec<usize>>> = vec![None; rank];
        for d in 0..self.from().rank() {
            let (map, source) = (self.from().map(d), self.coordinate(part, d));
            let turn = self.from().periodic(d).then(|| map.size());
            match self {
                Recipe::Halo { dist, widest: (lo, hi), .. } => {
                    let (start, stop) = dist.dim(d).owned(source);
                    let around = (start.saturating_sub(hi[d]), stop.saturating_add(lo[d]));
                    along[d] = Some(touched(map, &PeriodicSet::range(around), turn));
                }
                Recipe::Aligned { to, axes, .. } => match axes[d] {
                    Along::Dim { dim, offset, step: 1 } => {
                        let plain = |map: &DimMap| matches!(map, DimMap::Block { .. } | DimMap::Cyclic(_));
                        let given = PeriodicSet::of(map, source).filter(|_| plain(map) && plain(to.map(dim)));
                        let some = given.map(|given| touched(to.map(dim), &given.shifted(-offset), turn));
                        along[dim] = some.or(along[dim].take());
                    }
                    Along::Dim { .. } => {}
                    Along::Pinned(at) => {
                        let asked = Asked { local: Some(source), only: Some(&[source]) };
                        if pinned(map, at, asked).is_empty() {
                            return None;
                        }
                    }
                },
                Recipe::Boxes { .. } => {}
            }
        }
        Some(along)
    }

    /// How many moves and elements there are, in all and between parts. Sums over products are products of
    /// sums, for each number of dimensions in which a move lies outside.
    fn count(&self) -> Result<WholePlan> {
        let (mut known, grid) = (Known::default(), self.from().grid());
        // Moves, those within the part; elements, those within the part.
        let mut totals = [0u64; 4];
        for part in 0..self.to_parts() {
            let Some(overlaps) = self.part(&mut known, part, None)? else { continue };
            let own = (part < grid.parts()).then(|| grid.coordinate(part));
            let own = own.filter(|own| grid.part_at(|d| own[d]) == part);
            let mut sums = [[0u64; 4]; MAX_RANK + 1];
            sums[0] = [1, u64::from(own.is_some()), 1, u64::from(own.is_some())];
            for (d, list) in overlaps.iter().enumerate() {
                let mut terms = [[0u64; 4]; 2];
                for one in list.iter() {
                    let (cells, is_own) =
                        (one.len() as u64, own.is_some_and(|own| own[d] as usize == one.coordinate));
                    let each = [1, u64::from(is_own), cells, if is_own { cells } else { 0 }];
                    let term = &mut terms[usize::from(one.is_outside)];
                    (0..4).for_each(|k| term[k] = term[k].saturating_add(each[k]));
                }
                for outside in (0..=d + 1).rev() {
                    let before = if outside > 0 { sums[outside - 1] } else { [0; 4] };
                    let sum = |k: usize| {
                        let inner = sums[outside][k].saturating_mul(terms[0][k]);
                        inner.saturating_add(before[k].saturating_mul(terms[1][k]))
                    };
                    sums[outside] = std::array::from_fn(sum);
                }
            }
            for outside in self.outside().take_while(|&outside| outside <= overlaps.len()) {
                (0..4).for_each(|k| totals[k] = totals[k].saturating_add(sums[outside][k]));
            }
        }
        let [moves, within, elements, elements_within] = totals;
        let mut hasher = DefaultHasher::new();
        self.describe(&mut hasher)?;
        Ok(WholePlan {
            moves,
            messages: moves - within,
            elements: elements.saturating_sub(elements_within),
            crosses: false,
            fingerprint: hasher.finish(),
            again: None,
        })
    }

    /// Whether a move goes from one rank to another: found at once where that is usual.
    fn crosses(&self, (from, to): (&dyn Fn(usize) -> usize, &dyn Fn(usize) -> usize)) -> Result<bool> {
        let mut known = Known::default();
        for part in 0..self.to_parts() {
            let Some(overlaps) = self.part(&mut known, part, None)? else { continue };
            let source = |choice: Index, d: usize| overlaps[d][choice[d] as usize].coordinate as i64;
            let leaves = |choice| from(self.from().grid().part_at(|d| source(choice, d))) != to(part);
            if self.choices(&overlaps)?.any(leaves) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Everything that the moves follow from.
    fn describe(&self, hasher: &mut DefaultHasher) -> Result<()> {
        self.outside().hash(hasher);
        describe(self.from(), hasher)?;
        if let Recipe::Aligned { near, .. } | Recipe::Boxes { near, .. } = self
            && self.from().has_copies()
        {
            (0..self.to_parts()).for_each(|part| near(part).hash(hasher));
        }
        match self {
            Recipe::Halo { dist, reach, .. } => {
                let each = (0..dist.rank()).flat_map(|d| (0..dist.map(d).parts()).map(move |at| (d, at)));
                each.map(|(d, at)| reach(d, at)).try_for_each(|reach| reach.map(|reach| reach.hash(hasher)))
            }
            Recipe::Aligned { to, axes, .. } => {
                axes.hash(hasher);
                describe(to, hasher)
            }
            Recipe::Boxes { needs, .. } => {
                needs.hash(hasher);
                Ok(())
            }
        }
    }
}

/// Who holds what: a distribution's own hash is short, and says less.
fn describe(dist: &Distribution, hasher: &mut DefaultHasher) -> Result<()> {
    dist.grid().hash(hasher);
    for d in 0..dist.rank() {
        let map = dist.map(d);
        (dist.periodic(d), map.kind(), map.size(), map.parts()).hash(hasher);
        match map {
            DimMap::Cyclic(cyclic) => (cyclic.block_size(), cyclic.phase()).hash(hasher),
            DimMap::Block { .. } | DimMap::Replicated { .. } => {
                (0..map.parts()).for_each(|part| map.count(part).hash(hasher));
            }
            DimMap::Unstructured(_) | DimMap::Custom(_) => {
                for part in 0..map.parts() {
                    let held = map.try_owned_set(part)?;
                    held.len().hash(hasher);
                    held.iter().for_each(|global| global.hash(hasher));
                }
            }
        }
    }
    Ok(())
}
