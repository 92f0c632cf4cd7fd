//! An exchange under way: what leaves is on its way when it begins, and what arrives is taken at its end, so
//! that work that is queued in between overlaps with it.

use std::sync::{Arc, Mutex, PoisonError};

use crate::array::Array;
use crate::array::memory::storage::Storage;
use crate::array::recorder::recording::Recorder;
use crate::device::Buffer;
use crate::error::Result;
use crate::program::Schedule;
use crate::team::{Team, evaluation};
use crate::transport::Exchange;

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
