//! Sums in rounds: what is added to different cells shares a launch, and what is added to one cell keeps its
//! order, so that results are those of one addition after the other, to the bit. Knows which cells a sum
//! uses; knows no plans.

use std::collections::HashMap;
use std::ops::Range;

use super::batch::{Piece, batched};
use crate::error::Result;
use crate::index::Region;
use crate::plan::{AxisSubset, Move, MoveOp};
use crate::program::{Command, Place, Schedule};

/// Cells of a memory that something uses: of a box, in the coordinates in which the memory holds `stored`,
/// those that are listed along some dimensions.
#[derive(Clone, PartialEq)]
pub(super) struct Cover {
    stored: Region,
    hull: Region,
    /// By dimension, ascending; all of the hull where there is no list.
    listed: Vec<Option<Vec<i64>>>,
}

impl Cover {
    /// What a move reads.
    pub fn source(m: &Move, place: &Place) -> Cover {
        Cover::of(m, place, &m.from, |pair| pair.0)
    }

    /// What a move writes.
    pub fn target(m: &Move, place: &Place) -> Cover {
        Cover::of(m, place, &m.to, |pair| pair.1)
    }

    fn of(m: &Move, place: &Place, hull: &Region, side: impl Fn((i64, i64)) -> i64) -> Cover {
        let listed = |(d, subset): (usize, &AxisSubset)| match subset {
            AxisSubset::Runs { .. } => None,
            AxisSubset::List(_) => {
                let mut all: Vec<i64> =
                    (0..subset.len()).map(|k| hull.start()[d] + side(subset.nth(k))).collect();
                all.sort_unstable();
                Some(all)
            }
        };
        let listed = m.subsets.iter().flat_map(|subsets| subsets.iter().enumerate().map(listed)).collect();
        Cover { stored: place.stored, hull: *hull, listed }
    }

    /// Whether a cell may be in both, of one memory; what is not known may be any cell.
    fn meet(one: Option<&Cover>, other: Option<&Cover>) -> bool {
        let (Some(one), Some(other)) = (one, other) else { return true };
        if one.stored != other.stored {
            return true;
        }
        let common = one.hull.intersect(&other.hull);
        !common.is_empty()
            && (0..common.rank()).all(|d| one.shares(other, d, common.start()[d]..common.stop()[d]))
    }

    /// Whether both have a coordinate along a dimension, within the range that their hulls share.
    fn shares(&self, other: &Cover, d: usize, common: Range<i64>) -> bool {
        let list = |cover: &Cover| cover.listed.get(d).cloned().flatten();
        match (list(self), list(other)) {
            (None, None) => true,
            (Some(list), None) | (None, Some(list)) => list.iter().any(|at| common.contains(at)),
            (Some(one), Some(other)) => one.iter().any(|at| other.binary_search(at).is_ok()),
        }
    }
}

/// A sum of boxes. Where cells are listed, the box holds them for the time of the sum.
pub(super) struct Sum {
    pub piece: Piece,
    /// The memories of the cells, by number, and which they are, where that is known.
    pub reads: (u64, Option<Cover>),
    pub writes: (u64, Option<Cover>),
    /// Brings listed cells into boxes.
    pub before: Schedule,
    /// Puts the sums into the listed cells.
    pub after: Schedule,
}

/// What must come after what was queued before it, where both use the same memory.
pub(super) enum Next {
    /// A sum.
    Add(Box<Sum>),
    /// Anything else: after all that is before it, and before all that is after.
    Alone(Command),
}

/// The commands of a queue. Sums between two other commands go in rounds.
pub(super) fn in_rounds(queue: Vec<Next>) -> Result<Schedule> {
    let (mut schedule, mut sums) = (Schedule::new(), Vec::new());
    for next in queue {
        match next {
            Next::Add(sum) => sums.push(*sum),
            Next::Alone(command) => {
                schedule.extend(rounds(std::mem::take(&mut sums))?);
                schedule.push(command);
            }
        }
    }
    schedule.extend(rounds(sums)?);
    Ok(schedule)
}

/// Every sum in the first round after those of all earlier ones with which it shares a cell that one writes.
fn rounds(sums: Vec<Sum>) -> Result<Schedule> {
    let mut rounds: Vec<Vec<Sum>> = Vec::new();
    let mut uses: HashMap<u64, Vec<Use>> = HashMap::new();
    for sum in sums {
        let ends = [(&sum.reads, false), (&sum.writes, true)];
        let after = |((memory, cover), writes): &(&(u64, Option<Cover>), bool)| {
            let earlier = uses.get(memory).into_iter().flatten();
            let met = earlier
                .filter(|one| (one.writes || *writes) && Cover::meet(one.cover.as_ref(), cover.as_ref()));
            met.map(|one| one.round + 1).max().unwrap_or(0)
        };
        let round = ends.iter().map(after).max().unwrap_or(0);
        for ((memory, cover), writes) in ends {
            let of_memory = uses.entry(*memory).or_default();
            // The last use of the same cells stands for those before.
            match of_memory.iter_mut().find(|one| (&one.cover, one.writes) == (cover, writes)) {
                Some(known) => known.round = known.round.max(round),
                None => of_memory.push(Use { cover: cover.clone(), writes, round }),
            }
        }
        match rounds.get_mut(round) {
            Some(members) => members.push(sum),
            None => rounds.push(vec![sum]),
        }
    }
    let mut schedule = Schedule::new();
    for mut round in rounds {
        round.iter_mut().for_each(|sum| schedule.append(&mut sum.before));
        let after: Schedule = round.iter_mut().flat_map(|sum| std::mem::take(&mut sum.after)).collect();
        schedule.extend(batched(round.into_iter().map(|sum| sum.piece).collect(), MoveOp::Add)?);
        schedule.extend(after);
    }
    Ok(schedule)
}

/// In which round cells of a memory are used.
struct Use {
    cover: Option<Cover>,
    writes: bool,
    round: usize,
}
