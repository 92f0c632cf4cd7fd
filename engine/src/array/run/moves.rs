//! Moves of elements between memories that are carried out at once: halos, and whole arrays; and exchanges
//! under way, which work that is queued before their end overlaps with.

use std::sync::{Arc, Mutex, PoisonError};

use partita_kernels::{DType, Scalar};

use crate::array::Array;
use crate::array::memory::storage::{HaloWidths, Storage, between_members, moving_plan};
use crate::array::recorder::recording::Recorder;
use crate::device::Buffer;
use crate::error::Result;
use crate::index::{Distribution, Region};
use crate::plan::Plan;
use crate::program::{Place, Schedule, fill_box};
use crate::team::{Team, evaluation};
use crate::transport::{Exchange, Field, lower_between_ranks};

/// Makes the halo current as wide as `need`.
pub(crate) fn update_halo(
    storage: &Storage,
    recorder: &Recorder,
    team: &Team,
    dtype: DType,
    need: HaloWidths,
) -> Result<()> {
    if let Some(plan) = storage.missing_halo_plan(&need, team)? {
        recorder.exchange(&lowered("halo exchange", &plan, (storage, team), (storage, team), dtype)?)?;
        storage.set_valid_halo(need);
    }
    Ok(())
}

/// Fresh memory on another distribution, of any team over the same ranks, and the commands that bring
/// elements of computed memory there: all of them, or those of a plan, to zeros. Halos are stale.
pub(crate) fn moving(
    recorder: &Recorder,
    storage: &Storage,
    (from, to): (&Team, &Team),
    (plan, dist, dtype): (Option<&Plan>, &Arc<Distribution>, DType),
) -> Result<(Storage, Schedule, Exchange)> {
    [from, to].into_iter().for_each(|team| recorder.note_team(team));
    let fresh = Storage::new(to, Arc::clone(dist), dtype)?;
    let Some(plan) = plan else {
        let plan = moving_plan(&storage.dist, dist, (from, to))?;
        let exchange = lowered("redistribution", &plan, (storage, from), (&fresh, to), dtype)?;
        return Ok((fresh, Schedule::new(), exchange));
    };
    let mut zeros = Schedule::new();
    for (part, place) in fresh.places(to).into_iter().enumerate() {
        if let Some(place) = place {
            zeros.push(fill_box(&place, &dist.owned(part), Scalar::from_i64(dtype, 0))?);
        }
    }
    let exchange = lowered("collective", plan, (storage, from), (&fresh, to), dtype)?;
    Ok((fresh, zeros, exchange))
}

/// The commands of a plan between two memories.
fn lowered(
    operation: &'static str,
    plan: &Plan,
    (from, from_team): (&Storage, &Team),
    (to, to_team): (&Storage, &Team),
    dtype: DType,
) -> Result<Exchange> {
    let crossing = || plan.links().into_iter().filter(between_members(from_team, to_team));
    from_team.count_messages(if from_team == to_team {
        plan.messages()
    } else {
        crossing().map(|link| link.moves as u64).sum()
    });
    let rank = plan.moves().first().map_or(0, |first| first.from.rank());
    let lifted = |places: Vec<Option<Place>>| -> Vec<Option<Place>> {
        let lift = |place: Place| Place { stored: lifted(&place.stored, rank), ..place };
        places.into_iter().map(|place| place.map(lift)).collect()
    };
    let (from, to) = (lifted(from.places(from_team)), lifted(to.places(to_team)));
    let field = Field { plan, from: &from, to: &to, dtype };
    lower_between_ranks(operation, (from_team, to_team), &[field])
}

/// The box with dimensions of extent 1 in front.
pub(crate) fn lifted(region: &Region, rank: usize) -> Region {
    let front = rank.saturating_sub(region.rank());
    Region::from_fn(front + region.rank(), |d| match d.checked_sub(front) {
        Some(e) => (region.start()[e], region.stop()[e]),
        None => (0, 1),
    })
}

/// An exchange that has begun. The array it reads may be assigned to meanwhile; what it writes has no value
/// before the end.
pub(crate) struct PendingExchange {
    source: Array,
    to: Team,
    /// The commands that the host has to wait for; none once that was done.
    dispatch: Arc<Mutex<Schedule>>,
    arrival: Schedule,
    join: Schedule,
    /// Both ends' memory, which their nodes may change for wider one, and what is used on the way.
    _leases: Vec<Buffer>,
    /// The source's memory, which others see now: a loop whose state it is goes on in other memory.
    _seen: Arc<()>,
}

/// Takes the commands that are left to dispatch.
fn taken(dispatch: &Mutex<Schedule>) -> Schedule {
    std::mem::take(&mut dispatch.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Has the rest sent on its way, once.
fn leave(recorder: &Recorder, dispatch: &Mutex<Schedule>) -> Result<()> {
    match taken(dispatch) {
        rest if rest.is_empty() => Ok(()),
        rest => recorder.execute(rest),
    }
}

impl PendingExchange {
    /// Begins an exchange from an array's memory to memory of a team, which `to` keeps.
    pub fn begin(
        (source, from): (&Array, &Storage),
        (team, to): (&Team, impl Iterator<Item = Buffer>),
        exchange: Exchange,
    ) -> Result<PendingExchange> {
        let recorder = Recorder::current();
        if recorder.is_recording() {
            recorder.keep(exchange.uploads());
        }
        let Exchange { departure, dispatch, arrival, join, mut leases, .. } = exchange.overlapped();
        leases.extend(from.parts.iter().flatten().cloned().chain(to));
        let dispatch = Arc::new(Mutex::new(dispatch));
        // Whatever fails, the streams join before the memory is freed.
        let pending = PendingExchange {
            source: source.clone(),
            to: team.clone(),
            dispatch: Arc::clone(&dispatch),
            arrival,
            join,
            _leases: leases,
            _seen: from.show(),
        };
        // Data that was not packed must not be sent.
        recorder.execute(departure).inspect_err(|_| drop(taken(&dispatch)))?;
        if let Some(ranks) = source.team().wire() {
            ranks.defer(move || leave(&recorder, &dispatch));
        }
        Ok(pending)
    }

    /// Has the rest sent on its way, and between ranks that of all others: the end sends answers, too.
    fn leave(&self) -> Result<()> {
        match self.source.team().wire() {
            Some(ranks) => ranks.flush_deferred(),
            None => leave(&Recorder::current(), &self.dispatch),
        }
    }

    /// Queues what remains to be done where things arrive.
    pub fn finish(mut self) -> Result<()> {
        let _guard = evaluation([self.source.team(), &self.to].into_iter())?;
        self.leave()?;
        let mut rest = std::mem::take(&mut self.arrival);
        rest.append(&mut self.join);
        Recorder::current().execute(rest)
    }
}

/// Without `finish`, the messages that other ranks wait for are sent all the same, and the streams join.
impl Drop for PendingExchange {
    fn drop(&mut self) {
        let Ok(_guard) = evaluation([self.source.team(), &self.to].into_iter()) else { return };
        // An error here comes again in the next operation.
        let left = self.leave().and_then(|()| Recorder::current().execute(std::mem::take(&mut self.join)));
        drop(left);
    }
}
