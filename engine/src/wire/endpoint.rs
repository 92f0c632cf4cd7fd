//! One rank's end of the wire, shared by all communicators: received control messages, the failure that ends
//! the program, and how ranks shut down together. Data messages belong to [`super::Ranks`].

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::control::{ControlMessage, Failure};
use super::fault::arm;
use super::interface::Wire;
use crate::error::{Error, Result};

/// How long a failing rank waits until the others have acknowledged its abort notice.
const LINGER: Duration = Duration::from_millis(500);

/// How long messages that a rank sent may take to arrive after its goodbye.
pub(super) const GOODBYE_GRACE: Duration = Duration::from_millis(500);

pub(super) struct Endpoint {
    /// Held by the evaluation that uses the wire.
    pub turn: Mutex<()>,
    pub wire: Box<dyn Wire>,
    pub deadline: Duration,
    pub state: Mutex<EndpointState>,
}

pub(super) type DeferredSend = Box<dyn FnOnce() -> Result<()> + Send>;

#[derive(Default)]
pub(super) struct EndpointState {
    pub inbox: VecDeque<(usize, ControlMessage)>,
    pub failure: Option<Failure>,
    /// The ranks that have acknowledged this rank's abort notice.
    acknowledged: HashSet<usize>,
    /// What this rank is doing.
    pub operation: String,
    pub step: u64,
    /// Message memory for reuse.
    pub spare: Vec<Vec<u8>>,
    /// How many communicators of all ranks there have been.
    pub communicators: u64,
    /// Sends that must start before anything else begins, in order.
    pub deferred: VecDeque<DeferredSend>,
    /// Which rank waits for which, and since when that is known here.
    waits: HashMap<usize, (usize, Duration)>,
}

impl EndpointState {
    /// Whether a rank of the wire has ended altogether.
    fn has_shut_down(&self, rank: usize) -> bool {
        let ended = |(sender, message): &(usize, ControlMessage)| {
            *sender == rank && matches!(message, ControlMessage::Shutdown { .. })
        };
        self.inbox.iter().any(ended)
    }
}

pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Endpoint {
    pub fn new(wire: impl Wire + 'static, deadline: Duration) -> Endpoint {
        arm(wire.rank());
        Endpoint { turn: Mutex::default(), wire: Box::new(wire), deadline, state: Mutex::default() }
    }

    fn others(&self) -> impl Iterator<Item = usize> + Clone {
        let rank = self.wire.rank();
        (0..self.wire.ranks()).filter(move |&other| other != rank)
    }

    /// Sends a control message to all other ranks. A rank that does not get it finds out by its deadline.
    pub fn broadcast_control(&self, message: &ControlMessage) {
        let bytes = message.to_bytes();
        self.others().for_each(|rank| drop(self.wire.send_control(rank, &bytes)));
    }

    fn poll(&self) {
        while let Ok(Some((sender, bytes))) = self.wire.receive_control() {
            self.handle_control(sender, &bytes);
        }
    }

    /// Polls control messages until a condition holds, for a limited time. Whether it holds.
    fn poll_until(&self, limit: Duration, mut condition: impl FnMut() -> bool) -> bool {
        let (begin, mut spins) = (self.wire.now(), 0);
        while self.wire.now() - begin < limit {
            self.poll();
            if condition() {
                return true;
            }
            self.wire.pause(spins);
            spins += 1;
        }
        false
    }

    /// Broadcasts that this rank is shutting down.
    pub fn announce_shutdown(&self) {
        let step = locked(&self.state).step;
        self.broadcast_control(&ControlMessage::Shutdown { step });
    }

    /// After a failure: waits a moment before this process ends, because a launcher ends all others as soon
    /// as it sees one end, and they must have printed their errors by then.
    #[cfg(feature = "mpi")]
    pub fn linger(&self) {
        self.poll_until(Duration::from_secs(1), || self.all_have_shut_down());
    }

    #[cfg(feature = "mpi")]
    fn all_have_shut_down(&self) -> bool {
        let state = locked(&self.state);
        self.others().all(|rank| state.has_shut_down(rank))
    }

    /// Waits until all others shut down too; false if one fails first or the deadline passes.
    #[cfg(feature = "mpi")]
    pub fn wait_for_shutdown(&self) -> bool {
        let has_failed = || locked(&self.state).failure.is_some();
        if !self.poll_until(self.deadline, || has_failed() || self.all_have_shut_down()) {
            self.wire.print_notice("another rank has not ended within the deadline");
            return false;
        }
        !has_failed()
    }

    pub fn handle_control(&self, sender: usize, bytes: &[u8]) {
        let mut state = locked(&self.state);
        match ControlMessage::from_bytes(bytes) {
            Some(ControlMessage::Abort(failure)) => {
                if state.failure.is_none() {
                    state.failure = Some(failure.clone());
                    drop(state);
                    self.wire.print_notice(&self.error(failure).to_string());
                }
                // The failed rank waits for this for a limited time.
                let _ = self.wire.send_control(sender, &ControlMessage::AbortAck.to_bytes());
            }
            Some(ControlMessage::AbortAck) => {
                state.acknowledged.insert(sender);
            }
            Some(ControlMessage::Waiting { peer }) => {
                state.waits.insert(sender, (peer as usize, self.wire.now()));
            }
            Some(message) => state.inbox.push_back((sender, message)),
            // Only this library sends here; an unreadable message is dropped.
            None => {}
        }
    }

    /// Follows who waits for whom since a time, beginning with `peer`: the last rank of the chain is at
    /// fault.
    pub fn at_fault(&self, peer: usize, since: Duration) -> usize {
        let state = locked(&self.state);
        let mut last = peer;
        for _ in 0..self.wire.ranks() {
            match state.waits.get(&last) {
                Some(&(next, known)) if known >= since && next != self.wire.rank() => last = next,
                _ => break,
            }
        }
        last
    }

    /// Records the failure of a rank of the wire, unless there was one before, and broadcasts it.
    pub fn fail(&self, rank: usize, reason: String) -> Error {
        let (failure, first) = {
            let mut state = locked(&self.state);
            let first = state.failure.is_none();
            let (operation, step) = (state.operation.clone(), state.step);
            let found = Failure { rank: rank as u64, step, operation, reason };
            (state.failure.get_or_insert(found).clone(), first)
        };
        let error = self.error(failure.clone());
        if first {
            self.wire.print_notice(&error.to_string());
            self.broadcast_control(&ControlMessage::Abort(failure));
            self.poll_until(LINGER, || {
                let state = locked(&self.state);
                self.others().all(|rank| state.acknowledged.contains(&rank) || state.has_shut_down(rank))
            });
        }
        error
    }

    pub fn error(&self, failure: Failure) -> Error {
        let state = locked(&self.state);
        Error::Rank {
            rank: failure.rank as usize,
            operation: failure.operation,
            step: failure.step,
            reason: failure.reason,
            here: self.wire.rank(),
            here_in: format!("{}, step {}", state.operation, state.step),
        }
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        if locked(&self.state).failure.is_none() {
            self.announce_shutdown();
        }
    }
}
