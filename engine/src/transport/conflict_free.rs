//! Conflict-free batches of additions: sums of different cells share a launch, and the sums of one cell
//! keep their order, so results equal those of one addition after the other, bit for bit.

use std::collections::HashMap;
use std::ops::Range;

use super::copy_batches::{DeviceCopy, batched};
use crate::error::Result;
use crate::index::Region;
use crate::plan::{AxisSubset, Move, MoveOp};
use crate::program::{Command, Place, Schedule};

/// Cells of a memory that something uses: of a box, in the coordinates in which the memory holds `stored`,
/// those that are listed along some dimensions.
#[derive(Clone, PartialEq)]
pub(super) struct CellSet {
    stored: Region,
    bounds: Region,
    /// By dimension, ascending; all of the bounds where there is no list.
    listed: Vec<Option<Vec<i64>>>,
}

impl CellSet {
    /// What a move reads.
    pub fn source(m: &Move, place: &Place) -> CellSet {
        CellSet::of(m, place, &m.from, |pair| pair.0)
    }

    /// What a move writes.
    pub fn target(m: &Move, place: &Place) -> CellSet {
        CellSet::of(m, place, &m.to, |pair| pair.1)
    }

    fn of(m: &Move, place: &Place, bounds: &Region, side: impl Fn((i64, i64)) -> i64) -> CellSet {
        let listed = |(d, subset): (usize, &AxisSubset)| match subset {
            AxisSubset::Runs { .. } => None,
            AxisSubset::List(_) => {
                let mut all: Vec<i64> =
                    (0..subset.len()).map(|k| bounds.start()[d] + side(subset.nth(k))).collect();
                all.sort_unstable();
                Some(all)
            }
        };
        let listed = m.subsets.iter().flat_map(|subsets| subsets.iter().enumerate().map(listed)).collect();
        CellSet { stored: place.stored, bounds: *bounds, listed }
    }

    /// Whether both may have a cell of one memory; an unknown set may have any.
    fn overlaps(one: Option<&CellSet>, other: Option<&CellSet>) -> bool {
        let (Some(one), Some(other)) = (one, other) else { return true };
        if one.stored != other.stored {
            return true;
        }
        let common = one.bounds.intersect(&other.bounds);
        !common.is_empty()
            && (0..common.rank())
                .all(|d| one.shares_coordinate(other, d, common.start()[d]..common.stop()[d]))
    }

    /// Whether both have a coordinate along a dimension, within the intersection of their bounds.
    fn shares_coordinate(&self, other: &CellSet, d: usize, common: Range<i64>) -> bool {
        let list = |cells: &CellSet| cells.listed.get(d).cloned().flatten();
        match (list(self), list(other)) {
            (None, None) => true,
            (Some(list), None) | (None, Some(list)) => list.iter().any(|at| common.contains(at)),
            (Some(one), Some(other)) => one.iter().any(|at| other.binary_search(at).is_ok()),
        }
    }
}

/// A sum of boxes. Listed cells are gathered into a temporary box for it.
pub(super) struct BoxSum {
    pub copy: DeviceCopy,
    /// The memories of the cells, by number, and which they are, where that is known.
    pub reads: (u64, Option<CellSet>),
    pub writes: (u64, Option<CellSet>),
    /// Gathers listed cells into boxes.
    pub before: Schedule,
    /// Scatters the sums to the listed cells.
    pub after: Schedule,
}

/// A copy that must come after earlier ones that use the same memory.
pub(super) enum OrderedCopy {
    /// A sum.
    Sum(Box<BoxSum>),
    /// Anything else: after all that is before it, and before all that is after.
    Barrier(Command),
}

/// The commands of a queue. Sums between two other commands are batched.
pub(super) fn in_order(queue: Vec<OrderedCopy>) -> Result<Schedule> {
    let (mut schedule, mut sums) = (Schedule::new(), Vec::new());
    for one in queue {
        match one {
            OrderedCopy::Sum(sum) => sums.push(*sum),
            OrderedCopy::Barrier(command) => {
                schedule.extend(batches(std::mem::take(&mut sums))?);
                schedule.push(command);
            }
        }
    }
    schedule.extend(batches(sums)?);
    Ok(schedule)
}

/// Puts every sum into the first batch after those of all earlier sums with which it shares a written cell.
fn batches(sums: Vec<BoxSum>) -> Result<Schedule> {
    let mut batches: Vec<Vec<BoxSum>> = Vec::new();
    let mut uses: HashMap<u64, Vec<CellUse>> = HashMap::new();
    for sum in sums {
        let ends = [(&sum.reads, false), (&sum.writes, true)];
        let after = |((memory, cells), writes): &(&(u64, Option<CellSet>), bool)| {
            let earlier = uses.get(memory).into_iter().flatten();
            let conflicts = earlier.filter(|one| {
                (one.writes || *writes) && CellSet::overlaps(one.cells.as_ref(), cells.as_ref())
            });
            conflicts.map(|one| one.batch + 1).max().unwrap_or(0)
        };
        let batch = ends.iter().map(after).max().unwrap_or(0);
        for ((memory, cells), writes) in ends {
            let of_memory = uses.entry(*memory).or_default();
            // The last use of the same cells stands for those before.
            match of_memory.iter_mut().find(|one| (&one.cells, one.writes) == (cells, writes)) {
                Some(known) => known.batch = known.batch.max(batch),
                None => of_memory.push(CellUse { cells: cells.clone(), writes, batch }),
            }
        }
        match batches.get_mut(batch) {
            Some(members) => members.push(sum),
            None => batches.push(vec![sum]),
        }
    }
    let mut schedule = Schedule::new();
    for mut batch in batches {
        batch.iter_mut().for_each(|sum| schedule.append(&mut sum.before));
        let after: Schedule = batch.iter_mut().flat_map(|sum| std::mem::take(&mut sum.after)).collect();
        schedule.extend(batched(batch.into_iter().map(|sum| sum.copy).collect(), MoveOp::Add)?);
        schedule.extend(after);
    }
    Ok(schedule)
}

/// In which batch cells of a memory are used.
struct CellUse {
    cells: Option<CellSet>,
    writes: bool,
    batch: usize,
}
