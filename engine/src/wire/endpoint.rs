//! One rank's end of the wire, shared by all communicators: control messages and their encoding in bytes, the
//! failure that ends the program, and how ranks shut down together. Data messages belong to [`super::Ranks`].

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use super::fault::arm;
use super::interface::Wire;
use crate::device::process_id;
use crate::error::{Error, Result};

/// The time that a failing rank waits until the others have acknowledged its abort notice.
const LINGER: Duration = Duration::from_millis(500);

/// The time that messages of a rank may take to arrive after its goodbye.
pub(super) const GOODBYE_GRACE: Duration = Duration::from_millis(500);

pub(super) struct Endpoint {
    /// Held by the evaluation that uses the wire.
    pub turn: Mutex<()>,
    pub wire: Box<dyn Wire>,
    pub deadline: Duration,
    pub state: Mutex<EndpointState>,
    /// The process whose messages it carries.
    process: u32,
}

pub(super) type DeferredSend = Box<dyn FnOnce() -> Result<()> + Send>;

#[derive(Default)]
pub(super) struct EndpointState {
    pub inbox: VecDeque<(usize, ControlMessage)>,
    pub failure: Option<Failure>,
    /// The ranks that have acknowledged this rank's abort notice.
    acknowledged: HashSet<usize>,
    /// The operation of this rank.
    pub operation: String,
    pub step: u64,
    /// Message memory for reuse.
    pub spare: Vec<Vec<u8>>,
    /// The number of communicators of all ranks so far.
    pub communicators: u64,
    /// Sends that must start before anything else begins, in order.
    pub deferred: VecDeque<DeferredSend>,
    /// Which rank waits for which, and since when that is known here.
    waits: HashMap<usize, (usize, Duration)>,
    /// What is done as soon as there is a failure; what came last first.
    on_failure: Vec<Weak<FailureCall>>,
}

/// A function that gets the reason of a failure. It waits for nothing, and calls no wire.
pub(crate) type FailureCall = dyn Fn(&str) + Send + Sync;

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
        let (turn, state) = Default::default();
        Endpoint { turn, wire: Box::new(wire), deadline, state, process: process_id() }
    }

    /// Refuses a forked process: it must not take messages from its parent, nor speak for it.
    pub fn check_process(&self) -> Result<()> {
        if self.process == process_id() {
            return Ok(());
        }
        let device = "the team over several ranks".to_owned();
        Err(Error::Forked { device, reason: "its messages belong to the process that made it" })
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
    pub fn linger(&self) {
        self.poll_until(Duration::from_secs(1), || self.all_have_shut_down());
    }

    fn all_have_shut_down(&self) -> bool {
        let state = locked(&self.state);
        self.others().all(|rank| state.has_shut_down(rank))
    }

    /// Waits until all others shut down too; false if one fails first or the deadline passes.
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
                    let error = self.error(failure);
                    self.tell_failure(&error);
                    self.wire.print_notice(&error.to_string());
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

    /// The first of some ranks of the wire that has not said since a time that it waits for another.
    pub fn waits_for_nobody(&self, ranks: &[usize], since: Duration) -> Option<usize> {
        let state = locked(&self.state);
        let waits = |rank: &usize| {
            *rank == self.wire.rank() || state.waits.get(rank).is_some_and(|(_, known)| *known >= since)
        };
        ranks.iter().copied().find(|rank| !waits(rank))
    }

    /// Records the failure of a rank of the wire for which others have waited until the deadline.
    pub fn fail_silent(&self, rank: usize) -> Error {
        let (seconds, here) = (self.deadline.as_secs(), self.wire.rank());
        let reason = format!(
            "no answer for {seconds} s while rank {here} waited for it; it is stopped, computes for longer \
             (then raise PARTITA_DEADLINE_SECONDS), or does something else"
        );
        self.fail(rank, reason)
    }

    /// Records the failure of a rank of the wire, unless there was one before, and broadcasts it.
    pub fn fail(&self, rank: usize, reason: String) -> Error {
        if let Err(error) = self.check_process() {
            return error;
        }
        let (failure, first) = {
            let mut state = locked(&self.state);
            let first = state.failure.is_none();
            let (operation, step) = (state.operation.clone(), state.step);
            let found = Failure { rank: rank as u64, step, operation, reason };
            (state.failure.get_or_insert(found).clone(), first)
        };
        let error = self.error(failure.clone());
        self.tell_failure(&error);
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

    /// Has a function called as soon as there is a failure, at once if there is one.
    pub fn on_failure(&self, call: &Arc<FailureCall>) {
        let failure = {
            let mut state = locked(&self.state);
            state.on_failure.retain(|other| other.strong_count() > 0);
            state.on_failure.push(Arc::downgrade(call));
            state.failure.clone()
        };
        failure.into_iter().for_each(|failure| self.tell_failure(&self.error(failure)));
    }

    fn tell_failure(&self, error: &Error) {
        let calls = std::mem::take(&mut locked(&self.state).on_failure);
        let reason = error.to_string();
        calls.iter().rev().filter_map(Weak::upgrade).for_each(|call| call(&reason));
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
        if self.check_process().is_ok() && locked(&self.state).failure.is_none() {
            self.announce_shutdown();
        }
    }
}

/// The collective operation that one rank is about to begin: its fingerprint and its name, and hashes of all
/// that the rank has computed before, and of the elements that it was given for that.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Proposal {
    pub fingerprint: u64,
    pub computed: u64,
    pub elements: u64,
    pub rank: u64,
    pub words: String,
}

/// A failure, as its finder describes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Failure {
    /// The rank at fault.
    pub rank: u64,
    pub step: u64,
    pub operation: String,
    pub reason: String,
}

/// A short message beside the data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum ControlMessage {
    /// One round of an agreement in a communicator: the least and greatest proposal that the sender knows.
    Agree { communicator: u64, step: u64, round: u64, least: Proposal, greatest: Proposal },
    /// A rank failed; nothing works after it.
    Abort(Failure),
    /// Acknowledges an abort notice.
    AbortAck,
    /// The sender has dropped a communicator, after so many steps.
    Goodbye { communicator: u64, step: u64 },
    /// The sender shuts down, after this step.
    Shutdown { step: u64 },
    /// The sender has waited for a rank for half of its deadline.
    Waiting { peer: u64 },
}

impl ControlMessage {
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Bytes(Vec::new());
        match self {
            ControlMessage::Agree { communicator, step, round, least, greatest } => {
                bytes.numbers(&[0, *communicator, *step, *round]);
                bytes.proposal(least);
                bytes.proposal(greatest);
            }
            ControlMessage::Abort(failure) => {
                bytes.numbers(&[1, failure.rank, failure.step]);
                bytes.words(&failure.operation);
                bytes.words(&failure.reason);
            }
            ControlMessage::AbortAck => bytes.numbers(&[2]),
            ControlMessage::Goodbye { communicator, step } => bytes.numbers(&[3, *communicator, *step]),
            ControlMessage::Shutdown { step } => bytes.numbers(&[4, *step]),
            ControlMessage::Waiting { peer } => bytes.numbers(&[5, *peer]),
        }
        bytes.0
    }

    /// `None` for what [`ControlMessage::to_bytes`] did not write.
    pub fn from_bytes(bytes: &[u8]) -> Option<ControlMessage> {
        let mut rest = Rest(bytes);
        let message = match rest.number()? {
            0 => {
                let [communicator, step, round] = [rest.number()?, rest.number()?, rest.number()?];
                let [least, greatest] = [rest.proposal()?, rest.proposal()?];
                ControlMessage::Agree { communicator, step, round, least, greatest }
            }
            1 => ControlMessage::Abort(Failure {
                rank: rest.number()?,
                step: rest.number()?,
                operation: rest.words()?,
                reason: rest.words()?,
            }),
            2 => ControlMessage::AbortAck,
            3 => ControlMessage::Goodbye { communicator: rest.number()?, step: rest.number()? },
            4 => ControlMessage::Shutdown { step: rest.number()? },
            5 => ControlMessage::Waiting { peer: rest.number()? },
            _ => return None,
        };
        rest.0.is_empty().then_some(message)
    }
}

struct Bytes(Vec<u8>);

impl Bytes {
    fn numbers(&mut self, numbers: &[u64]) {
        numbers.iter().for_each(|number| self.0.extend(number.to_le_bytes()));
    }

    fn words(&mut self, words: &str) {
        self.numbers(&[words.len() as u64]);
        self.0.extend(words.as_bytes());
    }

    fn proposal(&mut self, proposal: &Proposal) {
        self.numbers(&[proposal.fingerprint, proposal.computed, proposal.elements, proposal.rank]);
        self.words(&proposal.words);
    }
}

struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn number(&mut self) -> Option<u64> {
        let (number, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*number))
    }

    fn words(&mut self) -> Option<String> {
        let length = usize::try_from(self.number()?).ok()?;
        let (words, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        String::from_utf8(words.to_vec()).ok()
    }

    fn proposal(&mut self) -> Option<Proposal> {
        let [fingerprint, computed] = [self.number()?, self.number()?];
        let [elements, rank] = [self.number()?, self.number()?];
        Some(Proposal { fingerprint, computed, elements, rank, words: self.words()? })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn control_messages_are_decoded_as_they_were_encoded() {
        let proposal = |rank| Proposal {
            fingerprint: 7 << 60,
            computed: 3 << 50,
            elements: 5 << 40,
            rank,
            words: format!("sum of {rank} ü"),
        };
        let [least, greatest] = [proposal(1), proposal(2)];
        let all = [
            ControlMessage::Agree { communicator: 1, step: u64::MAX, round: 3, least, greatest },
            ControlMessage::Abort(Failure {
                rank: 3,
                step: 9,
                operation: String::new(),
                reason: "out of memory".into(),
            }),
            ControlMessage::AbortAck,
            ControlMessage::Goodbye { communicator: 0, step: 4 },
            ControlMessage::Waiting { peer: 6 },
            ControlMessage::Shutdown { step: 8 },
        ];
        for message in all {
            let bytes = message.to_bytes();
            assert_eq!(ControlMessage::from_bytes(&bytes), Some(message));
            for cut in 0..bytes.len() {
                assert_eq!(ControlMessage::from_bytes(&bytes[..cut]), None, "{cut} of {} bytes", bytes.len());
            }
            assert_eq!(ControlMessage::from_bytes(&[&bytes[..], &[0]].concat()), None);
        }
        assert_eq!(ControlMessage::from_bytes(&u64::MAX.to_le_bytes()), None);
    }
}
