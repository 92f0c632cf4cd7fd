//! [`Move`] and [`Plan`], the list of moves between the parts of a source and those of a destination. Other
//! files of this module construct, check and print plans.

use std::cmp::Ordering;
use std::sync::Arc;

use super::axis_subset::AxisSubset;
use crate::index::{ErrorKind, Index, IndexError, Region, Result};

/// What a move does to the cells it arrives at.
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

    /// How many cells it moves along each dimension.
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
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Plan {
    pub(super) from_parts: usize,
    pub(super) to_parts: usize,
    pub(super) moves: Vec<Move>,
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
        Ok(Plan { from_parts, to_parts, moves })
    }

    /// The number of parts of the source.
    pub fn from_parts(&self) -> usize {
        self.from_parts
    }

    /// The number of parts of the destination.
    pub fn to_parts(&self) -> usize {
        self.to_parts
    }

    /// All moves, in the plan's order.
    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// The moves that arrive at a part, in the plan's order.
    pub fn moves_to(&self, part: usize) -> &[Move] {
        let first = self.moves.partition_point(|m| m.to_part < part);
        let count = self.moves[first..].partition_point(|m| m.to_part == part);
        &self.moves[first..first + count]
    }

    /// The moves that leave a part, in the plan's order.
    pub fn moves_from(&self, part: usize) -> impl Iterator<Item = &Move> {
        self.moves.iter().filter(move |m| m.from_part == part)
    }

    /// How many moves go from one part to another.
    pub fn messages(&self) -> u64 {
        self.moves.iter().filter(|m| m.from_part != m.to_part).count() as u64
    }

    /// The transposed plan: every move goes back, and adds.
    ///
    /// As a matrix F, a plan of copies makes `y = F x` in a destination that is zero elsewhere; its adjoint
    /// adds `F* y` to its destination. Where source and destination are one buffer, as with a halo, F also
    /// overwrites what was in the halo: its adjoint is this plan and then zeros in the halo.
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
        Plan { from_parts: self.to_parts, to_parts: self.from_parts, moves }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn line(from_part: usize, to_part: usize, from: (i64, i64), to: (i64, i64)) -> Move {
        Move {
            from_part,
            to_part,
            from: Region::new(&[from.0], &[from.1]).unwrap(),
            to: Region::new(&[to.0], &[to.1]).unwrap(),
            subsets: None,
            op: MoveOp::Copy,
        }
    }

    #[test]
    fn impossible_moves_are_refused() {
        for m in [line(2, 0, (0, 1), (0, 1)), line(0, 1, (0, 1), (0, 1)), line(0, 0, (0, 2), (0, 1))] {
            assert_eq!(Plan::new(2, 1, vec![m]).unwrap_err().kind, ErrorKind::Plan);
        }
    }

    #[test]
    fn moves_are_ordered_and_found_by_either_end() {
        let moves = vec![
            line(1, 2, (0, 1), (5, 6)),
            line(0, 2, (0, 1), (4, 5)),
            line(1, 0, (2, 2), (2, 2)),
            line(1, 0, (3, 4), (3, 4)),
            line(1, 0, (0, 1), (0, 1)),
        ];
        let plan = Plan::new(3, 3, moves).unwrap();
        let ends: Vec<_> = plan.moves().iter().map(|m| (m.to_part, m.from_part, m.to.start()[0])).collect();
        assert_eq!(ends, [(0, 1, 0), (0, 1, 3), (2, 0, 4), (2, 1, 5)]);
        assert_eq!((plan.moves_to(0).len(), plan.moves_to(1).len(), plan.moves_to(2).len()), (2, 0, 2));
        assert_eq!((plan.moves_from(1).count(), plan.moves_from(2).count()), (3, 0));
    }

    #[test]
    fn the_adjoint_swaps_ends_and_adds() {
        let plan = Plan::new(2, 3, vec![line(1, 2, (0, 1), (5, 6))]).unwrap();
        let back = plan.adjoint();
        assert_eq!((back.from_parts(), back.to_parts()), (3, 2));
        assert_eq!(back.moves(), [Move { op: MoveOp::Add, ..line(2, 1, (5, 6), (0, 1)) }]);
        assert_eq!(back.adjoint().moves(), [Move { op: MoveOp::Add, ..line(1, 2, (0, 1), (5, 6)) }]);
    }
}
