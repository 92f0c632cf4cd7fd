//! Sums in rounds: what is added to different cells shares a launch, and what is added to one cell keeps its
//! order, so that results are those of one addition after the other, to the bit. Knows which cells a sum
//! uses; knows no plans.

use std::collections::HashMap;

use super::batch::{Piece, batched};
use crate::error::Result;
use crate::index::Region;
use crate::plan::MoveOp;
use crate::program::{Command, Place, Schedule};

/// Cells of a memory that something uses: a box, in the coordinates in which the memory holds `stored`.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Cover {
    stored: Region,
    cells: Region,
}

impl Cover {
    pub fn of(place: &Place, cells: &Region) -> Option<Cover> {
        Some(Cover { stored: place.stored, cells: *cells })
    }

    /// Whether a cell may be in both, of one memory; what is not known may be any cell.
    fn meet(one: Option<Cover>, other: Option<Cover>) -> bool {
        match (one, other) {
            (Some(one), Some(other)) if one.stored == other.stored => {
                !one.cells.intersect(&other.cells).is_empty()
            }
            _ => true,
        }
    }
}

/// What must come after what was queued before it, where both use the same memory.
pub(super) enum Next {
    /// A sum of boxes.
    Add(Box<Piece>),
    /// Anything else: after all that is before it, and before all that is after.
    Alone(Command),
}

/// The commands of a queue. Sums between two other commands go in rounds.
pub(super) fn in_rounds(queue: Vec<Next>) -> Result<Schedule> {
    let (mut schedule, mut sums) = (Schedule::new(), Vec::new());
    for next in queue {
        match next {
            Next::Add(piece) => sums.push(*piece),
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
fn rounds(sums: Vec<Piece>) -> Result<Schedule> {
    let mut rounds: Vec<Vec<Piece>> = Vec::new();
    let mut uses: HashMap<u64, Vec<Use>> = HashMap::new();
    for piece in sums {
        let ends = [(piece.copy.from.0.id, piece.reads, false), (piece.copy.to.0.id, piece.writes, true)];
        let after = |(memory, cover, writes): &(u64, Option<Cover>, bool)| {
            let earlier = uses.get(memory).into_iter().flatten();
            let met = earlier.filter(|one| (one.writes || *writes) && Cover::meet(one.cover, *cover));
            met.map(|one| one.round + 1).max().unwrap_or(0)
        };
        let round = ends.iter().map(after).max().unwrap_or(0);
        for (memory, cover, writes) in ends {
            let of_memory = uses.entry(memory).or_default();
            // The last use of the same cells stands for those before.
            match of_memory.iter_mut().find(|one| (one.cover, one.writes) == (cover, writes)) {
                Some(known) => known.round = known.round.max(round),
                None => of_memory.push(Use { cover, writes, round }),
            }
        }
        match rounds.get_mut(round) {
            Some(members) => members.push(piece),
            None => rounds.push(vec![piece]),
        }
    }
    let launches = rounds.into_iter().map(|round| batched(round, MoveOp::Add));
    Ok(launches.collect::<Result<Vec<Schedule>>>()?.into_iter().flatten().collect())
}

/// In which round cells of a memory are used.
struct Use {
    cover: Option<Cover>,
    writes: bool,
    round: usize,
}
