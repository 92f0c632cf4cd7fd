//! [`Move`] and [`Plan`], the list of moves between the parts of a source and those of a destination, as
//! values, as numbers and as text. [`AxisSubset`]: the cells of its two boxes that a move takes along one
//! dimension.
//!
//! Other files of this module construct and check plans; the transport of a link is chosen elsewhere.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::index::{ErrorKind, Index, IndexError, Region, Result};

/// The effect of a move on the cells that it arrives at.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum MoveOp {
    /// They are replaced.
    Copy,
    /// They are added to.
    Add,
}

/// A copy or an addition of cells from one part to another: all cells of a box, in order, or a subset along
/// each dimension.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Move {
    /// The part that has the cells.
    pub from_part: usize,
    /// The part that gets them.
    pub to_part: usize,
    /// The box around them, in packed coordinates of the source.
    pub from: Region,
    /// The box around where they go, in packed coordinates of the destination. In a periodic dimension these
    /// may lie outside the shape: a halo copied from the other end is `from` shifted by the size.
    pub to: Region,
    /// One per dimension; none if the move takes all cells of two boxes of equal extents.
    pub subsets: Option<Arc<[AxisSubset]>>,
    /// Replace or add.
    pub op: MoveOp,
}

impl Move {
    /// The number of cells it moves.
    pub fn elements(&self) -> u64 {
        match &self.subsets {
            // Plan::new refuses volumes that cannot be counted, so the other answer is for moves outside a
            // plan.
            None => self.from.volume().map_or(u64::MAX, i64::unsigned_abs),
            Some(subsets) => subsets.iter().map(|subset| subset.len().unsigned_abs()).product(),
        }
    }

    /// The number of cells that it moves along each dimension.
    pub fn counts(&self) -> Index {
        match &self.subsets {
            None => self.from.extents(),
            Some(subsets) => Index::from_fn(subsets.len(), |d| subsets[d].len()),
        }
    }

    /// Every cell that it moves, one by one: where it is and where it goes.
    pub fn cells(&self) -> impl Iterator<Item = (Index, Index)> + '_ {
        let pair = |choice: Index| {
            let distance = |d: usize| match &self.subsets {
                None => (choice[d], choice[d]),
                Some(subsets) => subsets[d].nth(choice[d]),
            };
            let from = Index::from_fn(choice.rank(), |d| self.from.start()[d] + distance(d).0);
            (from, Index::from_fn(choice.rank(), |d| self.to.start()[d] + distance(d).1))
        };
        let zeros = Index::zeros(self.from.rank());
        let all = Region::new(&zeros, &self.counts()).map(|counts| counts.points().map(pair));
        all.into_iter().flatten()
    }

    /// Whether the subsets fit into the boxes.
    fn fits(&self) -> bool {
        let Some(subsets) = &self.subsets else { return self.from.extents() == self.to.extents() };
        let within = |d: usize| subsets[d].extents() == (self.from.extent(d), self.to.extent(d));
        let ranks = (self.from.rank(), self.to.rank()) == (subsets.len(), subsets.len());
        ranks && (0..subsets.len()).all(within)
    }

    /// The order of moves in a plan.
    fn order(&self, other: &Move) -> Ordering {
        let parts = (self.to_part, self.from_part).cmp(&(other.to_part, other.from_part));
        let regions = || self.to.cmp(&other.to).then_with(|| self.from.cmp(&other.from));
        parts.then_with(regions).then_with(|| (self.op, &self.subsets).cmp(&(other.op, &other.subsets)))
    }
}

/// Moves between the parts of a source and the parts of a destination, in a fixed order: by receiving part,
/// then sending part, then region. The order of [`MoveOp::Add`] moves is the order of the additions.
///
/// A plan lists all of them, or those of one rank's parts, see [`Scope`](super::Scope). Its hash is one of
/// what it follows from: equal on all ranks, whichever moves they list.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Plan {
    pub(super) from_parts: usize,
    pub(super) to_parts: usize,
    pub(super) moves: Vec<Move>,
    /// What is known of all moves, if these are one rank's.
    pub(super) whole: Option<WholePlan>,
}

/// Numbers of a plan of which one rank's moves are listed.
#[derive(Clone)]
pub(super) struct WholePlan {
    pub moves: u64,
    /// Those between different parts, and their elements.
    pub messages: u64,
    pub elements: u64,
    /// Whether some go from one rank to another.
    pub crosses: bool,
    pub fingerprint: u64,
    /// Makes the whole plan.
    pub again: Option<Arc<dyn Fn() -> Result<Plan> + Send + Sync>>,
}

impl WholePlan {
    fn numbers(&self) -> [u64; 5] {
        [self.moves, self.messages, self.elements, u64::from(self.crosses), self.fingerprint]
    }
}

impl PartialEq for WholePlan {
    fn eq(&self, other: &WholePlan) -> bool {
        self.numbers() == other.numbers()
    }
}

impl Eq for WholePlan {}

impl fmt::Debug for WholePlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.numbers().fmt(f)
    }
}

impl Hash for Plan {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.from_parts, self.to_parts).hash(state);
        match &self.whole {
            Some(whole) => whole.fingerprint.hash(state),
            None => self.moves.hash(state),
        }
    }
}

impl Plan {
    /// A plan from its moves, in any order; those that move nothing are dropped.
    pub fn new(from_parts: usize, to_parts: usize, mut moves: Vec<Move>) -> Result<Plan> {
        for m in &moves {
            let fits = m.from_part < from_parts && m.to_part < to_parts;
            if !fits || !m.fits() {
                return Err(IndexError::new(
                    ErrorKind::Plan,
                    "Plan::new",
                    format!("parts below {from_parts} and {to_parts}, and regions of equal extents"),
                    format!("{} of part {} to {} of part {}", m.from, m.from_part, m.to, m.to_part),
                    "build the move from the distributions of its two ends",
                ));
            }
            m.from.volume()?;
        }
        moves.retain(|m| !m.from.is_empty());
        moves.sort_unstable_by(Move::order);
        Ok(Plan { from_parts, to_parts, moves, whole: None })
    }

    /// The number of parts of the source.
    pub fn from_parts(&self) -> usize {
        self.from_parts
    }

    /// The number of parts of the destination.
    pub fn to_parts(&self) -> usize {
        self.to_parts
    }

    /// The moves that it lists, in the plan's order.
    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// The moves that arrive at a part, in the plan's order.
    pub fn moves_to(&self, part: usize) -> &[Move] {
        let first = self.moves.partition_point(|m| m.to_part < part);
        let count = self.moves[first..].partition_point(|m| m.to_part == part);
        &self.moves[first..first + count]
    }

    /// The number of moves from one part to another, whichever are listed.
    pub fn messages(&self) -> u64 {
        self.whole.as_ref().map_or_else(|| self.between_parts().count() as u64, |whole| whole.messages)
    }

    /// The number of elements that go from one part to another, whichever moves are listed.
    pub fn elements_between_parts(&self) -> u64 {
        let listed = || self.between_parts().map(Move::elements).sum();
        self.whole.as_ref().map_or_else(listed, |whole| whole.elements)
    }

    fn between_parts(&self) -> impl Iterator<Item = &Move> {
        self.moves.iter().filter(|m| m.from_part != m.to_part)
    }

    /// Whether nothing moves, on any rank.
    pub fn is_empty(&self) -> bool {
        self.whole.as_ref().map_or(self.moves.is_empty(), |whole| whole.moves == 0)
    }

    /// Whether something moves from one rank to another, given the ranks of the source's and the
    /// destination's parts: those that it was made with, if it lists one rank's moves.
    pub fn crosses(&self, from: impl Fn(usize) -> usize, to: impl Fn(usize) -> usize) -> bool {
        let listed = || self.moves.iter().any(|m| from(m.from_part) != to(m.to_part));
        self.whole.as_ref().map_or_else(listed, |whole| whole.crosses)
    }

    /// The plan with the moves of all ranks: itself, or made anew where that is known. For people: it takes
    /// as much memory as there are moves.
    pub(crate) fn whole(&self) -> Result<Cow<'_, Plan>> {
        match self.whole.as_ref().and_then(|whole| whole.again.as_ref()) {
            Some(again) => Ok(Cow::Owned(again()?)),
            None => Ok(Cow::Borrowed(self)),
        }
    }

    /// Says how the whole plan is made.
    pub(crate) fn with_whole(mut self, again: impl Fn() -> Result<Plan> + Send + Sync + 'static) -> Plan {
        if let Some(whole) = &mut self.whole {
            whole.again = Some(Arc::new(again));
        }
        self
    }

    /// The transposed plan: every move goes back, and adds.
    ///
    /// As a matrix F, a plan of copies makes `y = F x` in a destination that is zero elsewhere; its adjoint
    /// adds `F* y` to its destination. Where source and destination are one buffer, as with a halo, F also
    /// overwrites what was in the halo: its adjoint is this plan and then zeros in the halo.
    ///
    /// Of one rank's moves it is one rank's adjoint, which equals no other plan.
    pub fn adjoint(&self) -> Plan {
        let back = |m: &Move| Move {
            from_part: m.to_part,
            to_part: m.from_part,
            from: m.to,
            to: m.from,
            subsets: m.subsets.as_ref().map(|subsets| subsets.iter().map(AxisSubset::reversed).collect()),
            op: MoveOp::Add,
        };
        let mut moves: Vec<Move> = self.moves.iter().map(back).collect();
        moves.sort_unstable_by(Move::order);
        let turned =
            |whole: &WholePlan| WholePlan { fingerprint: !whole.fingerprint, again: None, ..whole.clone() };
        let whole = self.whole.as_ref().map(turned);
        Plan { from_parts: self.to_parts, to_parts: self.from_parts, moves, whole }
    }
}

/// The cells of one dimension that a move takes, as distances from the first cell of either box.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum AxisSubset {
    /// `count` runs of `run` neighbours. What two periodic divisions share repeats with the least common
    /// multiple of their periods: one subset describes all repetitions.
    Runs {
        /// Cells per run, at least 1.
        run: i64,
        /// Runs, at least 1.
        count: i64,
        /// From the beginning of one run to that of the next, in the source.
        from_step: i64,
        /// The same in the destination.
        to_step: i64,
    },
    /// Any cells, one by one.
    List(Arc<Pairs>),
}

/// Distances that belong together: the cell at `from[k]` goes to `to[k]`. Equally long.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug, Default)]
pub struct Pairs {
    /// In the source.
    pub from: Vec<i64>,
    /// In the destination.
    pub to: Vec<i64>,
}

impl AxisSubset {
    /// All of `count` neighbours.
    pub fn whole(count: i64) -> AxisSubset {
        AxisSubset::Runs { run: count, count: 1, from_step: 0, to_step: 0 }
    }

    /// The number of cells.
    pub fn len(&self) -> i64 {
        match self {
            AxisSubset::Runs { run, count, .. } => run * count,
            AxisSubset::List(pairs) => pairs.from.len() as i64,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The distances of the `k`-th cell.
    pub fn nth(&self, k: i64) -> (i64, i64) {
        match self {
            AxisSubset::Runs { run, from_step, to_step, .. } => {
                let (turn, rest) = (k / run, k % run);
                (turn * from_step + rest, turn * to_step + rest)
            }
            AxisSubset::List(pairs) => (pairs.from[k as usize], pairs.to[k as usize]),
        }
    }

    /// The reach of the cells in source and destination: one more than the largest distances.
    pub fn extents(&self) -> (i64, i64) {
        match self {
            AxisSubset::Runs { run, count, from_step, to_step } => {
                (run + (count - 1) * from_step, run + (count - 1) * to_step)
            }
            AxisSubset::List(pairs) => {
                let reach = |side: &[i64]| side.iter().max().map_or(0, |most| most + 1);
                (reach(&pairs.from), reach(&pairs.to))
            }
        }
    }

    /// The subset of the reversed move.
    pub(super) fn reversed(&self) -> AxisSubset {
        match self {
            AxisSubset::Runs { run, count, from_step, to_step } => {
                AxisSubset::Runs { run: *run, count: *count, from_step: *to_step, to_step: *from_step }
            }
            AxisSubset::List(pairs) => {
                AxisSubset::List(Arc::new(Pairs { from: pairs.to.clone(), to: pairs.from.clone() }))
            }
        }
    }
}

/// The cells along one dimension that one part has and another part needs, in packed coordinates.
#[derive(Clone, Debug)]
pub(super) struct AxisOverlap {
    pub from: (i64, i64),
    pub to: (i64, i64),
    /// None for all cells of two equally long intervals.
    pub subset: Option<AxisSubset>,
}

impl AxisOverlap {
    /// `count` runs of `run` cells.
    pub fn runs(from: i64, to: i64, run: i64, count: i64, (from_step, to_step): (i64, i64)) -> AxisOverlap {
        if count == 1 || (from_step, to_step) == (run, run) {
            let all = run * count;
            return AxisOverlap { from: (from, from + all), to: (to, to + all), subset: None };
        }
        let subset = AxisSubset::Runs { run, count, from_step, to_step };
        let (here, there) = subset.extents();
        AxisOverlap { from: (from, from + here), to: (to, to + there), subset: Some(subset) }
    }

    /// Cells listed one by one: a few boxes if they are that, a progression, or a list.
    pub fn listed(pairs: Pairs) -> Vec<AxisOverlap> {
        let Pairs { from, to } = pairs;
        let joined = |k: usize| from[k] == from[k - 1] + 1 && to[k] == to[k - 1] + 1;
        let breaks: Vec<usize> = (1..from.len()).filter(|&k| !joined(k)).take(FEW).collect();
        if breaks.len() + 1 < FEW {
            let starts = std::iter::once(0).chain(breaks.iter().copied());
            let stops = breaks.iter().copied().chain([from.len()]);
            let runs = starts.zip(stops).filter(|(start, stop)| start < stop);
            let single = |(start, stop): (usize, usize)| {
                AxisOverlap::runs(from[start], to[start], (stop - start) as i64, 1, (0, 0))
            };
            return runs.map(single).collect();
        }
        let steps = (from[1] - from[0], to[1] - to[0]);
        let even = |list: &[i64], step: i64| step > 0 && list.windows(2).all(|two| two[1] - two[0] == step);
        if even(&from, steps.0) && even(&to, steps.1) {
            return vec![AxisOverlap::runs(from[0], to[0], 1, from.len() as i64, steps)];
        }
        let low = |list: &[i64]| list.iter().copied().min().unwrap_or(0);
        let (first_from, first_to) = (low(&from), low(&to));
        let pairs = Pairs {
            from: from.iter().map(|at| at - first_from).collect(),
            to: to.iter().map(|at| at - first_to).collect(),
        };
        let subset = AxisSubset::List(Arc::new(pairs));
        let (here, there) = subset.extents();
        vec![AxisOverlap {
            from: (first_from, first_from + here),
            to: (first_to, first_to + there),
            subset: Some(subset),
        }]
    }
}

/// Up to so many subsets along one dimension are moved each on its own; more become a list. Subsets of
/// several dimensions multiply, and each is a launch or a piece of one; a list costs one index per row.
pub(super) const FEW: usize = 8;

/// Everything that one part sends to one part.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LinkTraffic {
    /// The sending part.
    pub from_part: usize,
    /// The receiving part, which may be the same.
    pub to_part: usize,
    /// The number of moves.
    pub moves: usize,
    /// The number of elements in all of them.
    pub elements: u64,
}

impl Plan {
    /// The links that carry something, by receiving part, then sending part.
    pub fn links(&self) -> Vec<LinkTraffic> {
        let same_link = |a: &Move, b: &Move| (a.to_part, a.from_part) == (b.to_part, b.from_part);
        let link = |moves: &[Move]| LinkTraffic {
            from_part: moves[0].from_part,
            to_part: moves[0].to_part,
            moves: moves.len(),
            elements: moves.iter().fold(0, |sum, m| sum.saturating_add(m.elements())),
        };
        self.moves().chunk_by(same_link).map(link).collect()
    }

    /// Text that lists the links with their bytes, for elements of this size.
    pub fn explain(&self, element_bytes: usize) -> Explanation {
        let members = ((0..self.from_parts()).collect(), (0..self.to_parts()).collect());
        Explanation { members, links: self.links(), element_bytes }
    }
}

impl fmt::Display for Plan {
    /// Every move on its own line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "plan of {} moves, {} parts to {}",
            self.moves().len(),
            self.from_parts(),
            self.to_parts()
        )?;
        for m in self.moves() {
            write!(f, "\n  {} {} -> {} {} {:?}", m.from_part, m.from, m.to_part, m.to, m.op)?;
            for (d, subset) in m.subsets.iter().flat_map(|subsets| subsets.iter()).enumerate() {
                write!(f, "{} dimension {d}: {subset}", if d == 0 { ";" } else { "," })?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for AxisSubset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AxisSubset::Runs { run, count: 1, .. } => write!(f, "{run} cells"),
            AxisSubset::Runs { run, count, from_step, to_step } => {
                write!(f, "{count} runs of {run}, every {from_step} to every {to_step}")
            }
            AxisSubset::List(pairs) => write!(f, "{} listed cells", pairs.from.len()),
        }
    }
}

/// The links of a plan in bytes, to be printed; made by [`Plan::explain`].
#[derive(Clone, Debug)]
pub struct Explanation {
    members: (Vec<usize>, Vec<usize>),
    links: Vec<LinkTraffic>,
    element_bytes: usize,
}

impl Explanation {
    const MOST_LINES: usize = 32;

    /// The same of parts that are these members: what stays with a member is within parts.
    pub fn of_members(self, from: &[usize], to: &[usize]) -> Explanation {
        Explanation { members: (from.to_vec(), to.to_vec()), ..self }
    }

    fn total(&self, keep: impl Fn(&LinkTraffic) -> bool) -> String {
        let (mut moves, mut bytes) = (0, 0);
        for link in self.links.iter().filter(|link| keep(link)) {
            moves += link.moves;
            bytes += self.bytes(link);
        }
        format!("{moves} moves, {bytes} bytes")
    }

    fn bytes(&self, link: &LinkTraffic) -> u128 {
        u128::from(link.elements) * self.element_bytes as u128
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (from, to) = &self.members;
        let stays = |link: &LinkTraffic| from[link.from_part] == to[link.to_part];
        write!(f, "{} parts to {}: ", from.len(), to.len())?;
        write!(f, "{} between parts", self.total(|link| !stays(link)))?;
        write!(f, ", {} within parts", self.total(stays))?;
        for link in self.links.iter().take(Self::MOST_LINES) {
            let LinkTraffic { from_part, to_part, moves, .. } = link;
            write!(f, "\n  {from_part} -> {to_part}: {moves} moves, {} bytes", self.bytes(link))?;
        }
        match self.links.len().saturating_sub(Self::MOST_LINES) {
            0 => Ok(()),
            more => write!(f, "\n  and {more} more links"),
        }
    }
}
