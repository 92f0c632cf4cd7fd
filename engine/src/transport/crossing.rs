//! Moves between ranks: packed on the sender's device, sent as one message from each rank to each, unpacked on
//! the receiver's. All ranks lower the same plan; each gets the commands for its own members.

use std::collections::BTreeMap;
use std::sync::Arc;

use partita_kernels::DType;

use super::local;
use crate::device::Buffer;
use crate::error::Result;
use crate::plan::{Move, MoveOp, Plan};
use crate::program::{Command, Copying, Place, Schedule, Span, copy_box, span_bytes};
use crate::team::Team;
use crate::wire::Meeting;

/// Commands that carry out a plan between members of one team, whichever rank they are on, as
/// [`local::lower`] does for one process. `operation` names it where it fails.
///
/// # Errors
/// As [`local::lower`].
pub fn lower(
    operation: &'static str,
    team: &Team,
    plan: &Plan,
    from: &[Option<Place>],
    to: &[Option<Place>],
    dtype: DType,
    leases: &mut Vec<Buffer>,
) -> Result<Schedule> {
    let Some(ranks) = team.wire() else { return local::lower(plan, from, to, dtype, leases) };
    let ends = |m: &Move| (team.rank_of(m.from_part), team.rank_of(m.to_part));
    let (within, across): (Vec<&Move>, Vec<&Move>) = plan.moves().iter().partition(|m| {
        let (from, to) = ends(m);
        from == to
    });
    let here = within.into_iter().filter(|m| team.is_here(m.from_part)).copied().collect();
    let here = Plan::new(plan.from_parts(), plan.to_parts(), here)?;
    if across.is_empty() {
        return local::lower(&here, from, to, dtype, leases);
    }
    let meeting = Meeting::new(format!("{operation} of {dtype}"), &(plan, dtype));
    let mut schedule = vec![Command::Meet { ranks: ranks.clone(), meeting: Arc::new(meeting) }];
    let mut leaving: BTreeMap<usize, Vec<Span>> = BTreeMap::new();
    let mut coming: BTreeMap<usize, Vec<Span>> = BTreeMap::new();
    let mut packing = Schedule::new();
    let mut unpacking = Schedule::new();
    for m in across {
        let (from_rank, to_rank) = ends(m);
        if let Some(source) = &from[m.from_part] {
            let (packed, span) = stage(source, m, dtype, leases)?;
            packing.push(copy_box(source, &m.from, &packed, &m.from, Copying { dtype, add: false })?);
            leaving.entry(to_rank).or_default().push(span);
        }
        if let Some(target) = &to[m.to_part] {
            let (arrived, span) = stage(target, m, dtype, leases)?;
            let how = Copying { dtype, add: m.op == MoveOp::Add };
            unpacking.push(copy_box(&arrived, &m.from, target, &m.to, how)?);
            coming.entry(from_rank).or_default().push(span);
        }
    }
    schedule.extend(coming.iter().map(|(&from, memory)| {
        let bytes = span_bytes(memory);
        Command::Expect { ranks: ranks.clone(), from, bytes }
    }));
    schedule.extend(packing);
    schedule.extend(leaving.into_iter().map(|(to, memory)| Command::Send {
        ranks: ranks.clone(),
        to,
        memory,
    }));
    schedule.extend(local::lower(&here, from, to, dtype, leases)?);
    schedule.extend(coming.into_iter().map(|(from, memory)| Command::Receive {
        ranks: ranks.clone(),
        from,
        memory,
    }));
    schedule.extend(unpacking);
    schedule.push(Command::Settle { ranks: ranks.clone() });
    Ok(schedule)
}

/// Contiguous memory for the cells of a move, near the memory of one of its ends.
fn stage(near: &Place, m: &Move, dtype: DType, leases: &mut Vec<Buffer>) -> Result<(Place, Span)> {
    let bytes = m.elements() * dtype.size_bytes() as u64;
    let buffer = near.device.alloc(bytes)?;
    let (device, allocation) = (near.device.clone(), Arc::clone(buffer.allocation()));
    leases.push(buffer);
    let span = Span { device: device.clone(), allocation: Arc::clone(&allocation), bytes };
    Ok((Place { device, allocation, stored: m.from }, span))
}
