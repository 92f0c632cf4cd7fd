//! A communicator: some ranks of a wire that run the same collective operations in the same order, and how
//! long they wait for each other. Several communicators share one [`Endpoint`]. The first time that an
//! operation is done, all ranks compare the fingerprints of what they propose.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::endpoint::{ControlMessage, Endpoint, GOODBYE_GRACE, Proposal, locked};
use super::fault::pass;
use super::interface::{MessageChunk, Outcome, Request};
use crate::error::{Error, Result};
use crate::interrupt;

/// A tag space: what is posted in one epoch is received in it, whatever was posted in others before.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Epoch(pub(super) u64);

/// The next operation of all ranks, in words, and a number that differs where anything does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CollectiveSignature {
    /// The operation, as an error names it.
    pub operation: String,
    pub(super) fingerprint: u64,
}

impl CollectiveSignature {
    /// The signature of an operation on `what`, whose hash is compared.
    pub fn new(operation: impl Into<String>, what: &impl Hash) -> CollectiveSignature {
        let operation = operation.into();
        let fingerprint = hash(&(&operation, hash(what)));
        CollectiveSignature { operation, fingerprint }
    }
}

/// The same in every process of one build.
pub(crate) fn hash(what: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}

pub(super) struct Communicator {
    pub endpoint: Arc<Endpoint>,
    /// Its number in control messages.
    pub name: u64,
    /// The wire's rank of each member.
    pub members: Vec<usize>,
    /// This process among the members.
    pub rank: usize,
    pub state: Mutex<CommunicatorState>,
}

#[derive(Default)]
pub(super) struct CommunicatorState {
    pub step: u64,
    /// A hash of everything that was computed, constants and elements included.
    pub computed: u64,
    /// A hash of the elements that all ranks passed to make arrays.
    pub elements: u64,
    pub history: u64,
    /// The signatures that all ranks have compared.
    pub agreed: HashSet<u64>,
    /// Messages since the last collective began, by rank.
    pub sent: HashMap<usize, u64>,
    pub expected: HashMap<usize, u64>,
    pub open_sends: VecDeque<(usize, Request)>,
    /// Communicators of some of the members.
    pub groups: HashMap<Vec<usize>, Arc<Communicator>>,
    /// Receives that were posted and not completed, by sender.
    pub open_receives: HashMap<usize, VecDeque<PostedReceive>>,
}

pub(super) struct PostedReceive {
    pub epoch: Epoch,
    pub request: Request,
    pub tag: u32,
    pub chunk: MessageChunk,
}

impl Communicator {
    /// The failure that was found here or reported by another rank.
    pub fn failure(&self) -> Option<Error> {
        if let Err(error) = self.endpoint.check_process() {
            return Some(error);
        }
        let failure = locked(&self.endpoint.state).failure.clone();
        failure.map(|failure| self.endpoint.error(failure))
    }

    /// Waits for a request that depends on a rank of the wire.
    pub fn wait(&self, request: Request, peer: usize) -> Result<Outcome> {
        self.endpoint.check_process()?;
        let mut deadline = Deadline::new(self);
        loop {
            match self.endpoint.wire.test(request) {
                Ok(Outcome::Pending) => {}
                Ok(outcome) => return Ok(outcome),
                Err(error) => return Err(self.endpoint.fail(peer, error.0)),
            }
            self.poll_control()?;
            self.check_for_mismatch(locked(&self.state).step)?;
            deadline.wait(peer)?;
        }
    }

    pub fn send_control(&self, to: usize, message: &ControlMessage) -> Result<()> {
        let peer = self.members[to];
        let sent = self.endpoint.wire.send_control(peer, &message.to_bytes());
        sent.map_err(|error| self.endpoint.fail(peer, error.0))
    }

    /// Handles the control messages that have arrived.
    ///
    /// # Errors
    /// The failure, once there is one.
    pub fn poll_control(&self) -> Result<()> {
        // Read before the messages: what a rank said last has arrived when its end is known.
        let lost = self.endpoint.wire.lost();
        loop {
            match self.endpoint.wire.receive_control() {
                Ok(None) => break,
                Ok(Some((sender, bytes))) => self.endpoint.handle_control(sender, &bytes),
                Err(error) => return Err(self.endpoint.fail(self.endpoint.wire.rank(), error.0)),
            }
        }
        self.failure().map_or(Ok(()), Err)?;
        match lost.into_iter().find(|(rank, _)| self.end_of(*rank).is_none()) {
            Some((rank, reason)) => Err(self.endpoint.fail(rank, reason)),
            None => Ok(()),
        }
    }

    /// The step at which a rank of the wire ended its part in this communicator.
    fn end_of(&self, peer: usize) -> Option<u64> {
        let state = locked(&self.endpoint.state);
        state.inbox.iter().find_map(|(sender, message)| match message {
            ControlMessage::Goodbye { communicator, step }
                if *sender == peer && *communicator == self.name =>
            {
                Some(*step)
            }
            ControlMessage::Shutdown { step } if *sender == peer => Some(*step),
            _ => None,
        })
    }

    /// Whether there are several others, and all of them ended after one step.
    fn is_alone_after(&self, step: u64) -> bool {
        let mut others = self.members.iter().filter(|&&member| member != self.endpoint.wire.rank());
        self.members.len() > 2 && others.all(|&member| self.end_of(member) == Some(step))
    }
}

impl Drop for Communicator {
    fn drop(&mut self) {
        if self.failure().is_some() {
            return;
        }
        if std::thread::panicking() {
            self.endpoint.fail(self.endpoint.wire.rank(), "it panicked; its own output says why".to_owned());
            return;
        }
        let step = locked(&self.state).step;
        let message = ControlMessage::Goodbye { communicator: self.name, step }.to_bytes();
        for &member in self.members.iter().filter(|&&member| member != self.endpoint.wire.rank()) {
            // A rank that does not get it finds out by its deadline.
            let _ = self.endpoint.wire.send_control(member, &message);
        }
    }
}

/// One wait, from its beginning to its deadline.
pub(super) struct Deadline<'a> {
    communicator: &'a Communicator,
    begin: Duration,
    /// When this rank last tested, and whether it has been stopped once since the beginning.
    last: Duration,
    has_slept: bool,
    ended_since: Option<Duration>,
    /// Whether the other ranks were sent [`ControlMessage::Waiting`].
    is_announced: bool,
    spins: u32,
}

impl Deadline<'_> {
    pub fn new(communicator: &Communicator) -> Deadline<'_> {
        let begin = communicator.endpoint.wire.now();
        let (ended_since, last) = (None, begin);
        Deadline { communicator, begin, last, has_slept: false, ended_since, is_announced: false, spins: 0 }
    }

    /// Pauses between two tests while a rank of the wire may still answer.
    pub fn wait(&mut self, peer: usize) -> Result<()> {
        let endpoint = &self.communicator.endpoint;
        let now = endpoint.wire.now();
        // A process that was stopped for so long is at fault itself: what the others say of it comes first.
        let slept = now - std::mem::replace(&mut self.last, now);
        if !self.has_slept && slept > endpoint.deadline / 2 {
            (self.has_slept, self.begin) = (true, self.begin + slept);
        }
        if !self.is_announced && now - self.begin > endpoint.deadline / 2 {
            self.is_announced = true;
            endpoint.broadcast_control(&ControlMessage::Waiting { peer: peer as u64 });
        }
        if now - self.begin > endpoint.deadline {
            return Err(endpoint.fail_silent(endpoint.at_fault(peer, self.begin)));
        }
        if let Some(step) = self.communicator.end_of(peer) {
            let since = *self.ended_since.get_or_insert(now);
            if now - since > GOODBYE_GRACE {
                let (rank, own) = (endpoint.wire.rank(), locked(&self.communicator.state).step);
                // A rank alone against all others is at fault itself.
                if self.communicator.is_alone_after(step) {
                    let reason = format!("it goes on to step {own}; all other ranks ended after step {step}");
                    return Err(endpoint.fail(rank, reason));
                }
                let reason =
                    format!("it ended after step {step} while rank {rank}, in step {own}, waited for it");
                return Err(endpoint.fail(peer, reason));
            }
        }
        interrupt::check_waiting("waiting for another rank")?;
        endpoint.wire.pause(self.spins);
        self.spins = self.spins.saturating_add(1);
        Ok(())
    }
}

impl Communicator {
    /// Compares proposals by dissemination: in round k each rank sends the least and greatest proposal that
    /// it knows to the rank 2^k further on, so that all know the extremes of all after log2(n) rounds.
    pub(super) fn agree(&self, signature: &CollectiveSignature) -> Result<()> {
        pass("agree-begin")?;
        let (count, (step, computed, elements)) = (self.members.len(), {
            let state = locked(&self.state);
            (state.step, state.computed, state.elements)
        });
        let (fingerprint, words) = (signature.fingerprint, signature.operation.clone());
        let rank = self.members[self.rank] as u64;
        let mut least = Proposal { fingerprint, computed, elements, rank, words };
        let mut greatest = least.clone();
        let rounds = (0..).map(|k| (k, 1usize << k)).take_while(|(_, distance)| *distance < count);
        for (round, distance) in rounds {
            let [to, from] = [distance, count - distance].map(|by| (self.rank + by) % count);
            let (communicator, sent) = (self.name, (least.clone(), greatest.clone()));
            let message =
                ControlMessage::Agree { communicator, step, round, least: sent.0, greatest: sent.1 };
            self.send_control(to, &message)?;
            pass("agree-sent")?;
            let received = self.receive_proposals(from, step, round)?;
            pass("agree-received")?;
            least = least.min(received.0);
            greatest = greatest.max(received.1);
        }
        if least.fingerprint != greatest.fingerprint {
            let mine = fingerprint == least.fingerprint;
            let (ours, theirs) = if mine { (least, greatest) } else { (greatest, least) };
            let reason = format!(
                "the ranks do different things: rank {} does {} ({:016x}), rank {} does {} ({:016x})",
                ours.rank, ours.words, ours.fingerprint, theirs.rank, theirs.words, theirs.fingerprint
            );
            return Err(self.endpoint.fail(theirs.rank as usize, reason));
        }
        if least.computed != greatest.computed {
            let (ours, theirs) =
                if computed == least.computed { (least, greatest) } else { (greatest, least) };
            let (words, theirs_rank, rank) = (&ours.words, theirs.rank, ours.rank);
            let reason = match ours.elements == theirs.elements {
                true => format!(
                    "before {words}, rank {theirs_rank} computed with other numbers or operations than rank \
                     {rank}; give every rank the same program and the same constants"
                ),
                false => format!(
                    "before {words}, rank {theirs_rank} made an array of other elements than rank {rank} \
                     (asarray, Array::from_slice); give every rank the same elements (random ones: from one \
                     seed), or make the parts apart (from_parts, Array::from_pieces)"
                ),
            };
            return Err(self.endpoint.fail(theirs.rank as usize, reason));
        }
        pass("agree-done")
    }

    fn receive_proposals(&self, from: usize, step: u64, round: u64) -> Result<(Proposal, Proposal)> {
        let peer = self.members[from];
        let mut deadline = Deadline::new(self);
        loop {
            self.poll_control()?;
            let mut found = None;
            {
                let mut state = locked(&self.endpoint.state);
                let expected = (peer, self.name, step, round);
                let ours = |(sender, message): &(usize, ControlMessage)| {
                    matches!(message, ControlMessage::Agree { communicator, step, round, .. }
                        if (*sender, *communicator, *step, *round) == expected)
                };
                if let Some(at) = state.inbox.iter().position(ours) {
                    found = state.inbox.remove(at);
                }
            }
            if let Some((_, ControlMessage::Agree { least, greatest, .. })) = found {
                return Ok((least, greatest));
            }
            self.check_for_mismatch(step - 1)?;
            deadline.wait(peer)?;
        }
    }

    /// Fails if a rank proposes an operation for a step that this rank has already done: that rank does
    /// something else.
    pub(super) fn check_for_mismatch(&self, done: u64) -> Result<()> {
        let mismatch = {
            let state = locked(&self.endpoint.state);
            state.inbox.iter().find_map(|(sender, message)| match message {
                ControlMessage::Agree { communicator, step, least, .. }
                    if *communicator == self.name && *step <= done =>
                {
                    Some((*sender, *step, least.words.clone()))
                }
                _ => None,
            })
        };
        let Some((sender, step, words)) = mismatch else { return Ok(()) };
        let reason = format!("rank {sender} does {words} as step {step}, which other ranks know as another");
        Err(self.endpoint.fail(sender, reason))
    }
}
