//! The ranks of a program as the engine uses them: each collective operation begins with an agreement, bytes
//! are sent in chunks, waits have a deadline, and every rank learns of a failure.
//!
//! A collective operation begins with [`Ranks::begin_collective`]. All ranks begin the same ones in the same
//! order. The first time they compare signatures, and a hash of what they have computed so far, constants
//! and elements included. Afterwards that costs no message, because the tag of each message is a hash of all
//! collective operations and computations so far: a rank that does something else is found by the first
//! message that it sends or by the agreement that it starts.

use std::borrow::Borrow;
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::communicator::{
    CollectiveSignature, Communicator, CommunicatorState, Deadline, Epoch, PostedReceive, hash,
};
use super::endpoint::{ControlMessage, Endpoint, FailureCall, locked};
use super::fault::pass;
use super::interface::{MessageChunk, Outcome, Request, Wire, WireError, staged_chunks};
use crate::config::config;
use crate::device::LentMemory;
use crate::error::{Error, Result};

/// The ranks that run a program together, or some of them. Clones name the same.
#[derive(Clone)]
pub struct Ranks(Arc<Communicator>, Epoch);

/// What a rank takes note of in order: the hash of what is computed, and a collective operation.
pub(crate) enum RankNote<S> {
    Computed(u64),
    Collective(S),
}

impl PartialEq for Ranks {
    fn eq(&self, other: &Ranks) -> bool {
        Arc::ptr_eq(&self.0.endpoint, &other.0.endpoint) && self.0.members == other.0.members
    }
}

impl Ranks {
    /// All ranks of a wire, with the deadline that `PARTITA_DEADLINE_SECONDS` sets.
    pub fn over(wire: impl Wire + 'static) -> Ranks {
        Ranks::with_deadline(wire, config().deadline)
    }

    /// All ranks of a wire. No wait is longer than `deadline`.
    pub fn with_deadline(wire: impl Wire + 'static, deadline: Duration) -> Ranks {
        Ranks::on(&Arc::new(Endpoint::new(wire, deadline)))
    }

    /// All ranks of a wire that may carry other communicators too.
    pub(super) fn on(endpoint: &Arc<Endpoint>) -> Ranks {
        let (rank, members) = (endpoint.wire.rank(), (0..endpoint.wire.ranks()).collect());
        let mut endpoint_state = locked(&endpoint.state);
        endpoint_state.communicators += 1;
        let (endpoint, name) = (Arc::clone(endpoint), endpoint_state.communicators);
        drop(endpoint_state);
        let state = Mutex::default();
        Ranks(Arc::new(Communicator { endpoint, name, members, rank, state }), Epoch::default())
    }

    /// The same ranks in an epoch of their own: messages posted in it may be received after later ones.
    pub(crate) fn in_new_epoch(&self) -> Ranks {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Ranks(Arc::clone(&self.0), Epoch(1 + LAST.fetch_add(1, Ordering::Relaxed)))
    }

    /// The epoch of these ranks.
    pub(crate) fn epoch(&self) -> Epoch {
        self.1
    }

    /// This rank among them.
    pub fn rank(&self) -> usize {
        self.0.rank
    }

    /// The number of ranks.
    pub fn count(&self) -> usize {
        self.0.members.len()
    }

    /// The longest that a rank waits for another.
    pub(crate) fn deadline(&self) -> Duration {
        self.0.endpoint.deadline
    }

    /// Whether a thread of its own may take note of what other ranks report ([`Ranks::poll`]).
    pub(crate) fn can_be_watched(&self) -> bool {
        self.0.endpoint.wire.takes_all_threads()
    }

    /// Takes note of what other ranks have reported.
    ///
    /// # Errors
    /// The failure, once there is one.
    pub(crate) fn poll(&self) -> Result<()> {
        // No library is called that has ended: the process does.
        if self.0.endpoint.wire.is_over() {
            self.failure().map_or(Ok(()), Err)
        } else {
            self.0.poll_control()
        }
    }

    /// Reports to all ranks that one of them does not go on.
    pub(crate) fn fail(&self, rank: usize, reason: String) -> Error {
        self.0.endpoint.fail(self.0.members[rank], reason)
    }

    /// Has a function called as soon as there is a failure, for as long as it is kept; those that came last
    /// are called first.
    pub(crate) fn on_failure(&self, call: &Arc<FailureCall>) {
        self.0.endpoint.on_failure(call);
    }

    /// Waits until something is so that depends on other ranks; if it does not come, one is at fault.
    pub(crate) fn wait_until(
        &self,
        at_fault: impl Fn() -> usize,
        mut is_so: impl FnMut() -> Result<bool>,
    ) -> Result<()> {
        let (mut deadline, mut peer) = (Deadline::new(&self.0), at_fault());
        for spins in 1usize.. {
            if is_so()? {
                break;
            }
            self.0.poll_control()?;
            // Not each time: it may read files.
            if spins.is_multiple_of(256) {
                peer = at_fault();
            }
            deadline.wait(self.0.members[peer])?;
        }
        Ok(())
    }

    /// Held by one evaluation at a time of those that use this rank's end of the wire.
    pub(crate) fn turn(&self) -> &Mutex<()> {
        &self.0.endpoint.turn
    }

    /// The name of their wire.
    pub fn wire_name(&self) -> String {
        self.0.endpoint.wire.name()
    }

    /// Some of the ranks, in this order; `None` on a rank that is not among them. The same ranks are the same
    /// communicator, whose operations go on in their order. Collective among these ranks.
    ///
    /// # Errors
    /// Unknown or repeated ranks.
    pub fn some(&self, ranks: &[usize]) -> Result<Option<Ranks>> {
        let distinct: HashSet<&usize> = ranks.iter().collect();
        if ranks.is_empty() || distinct.len() < ranks.len() || ranks.iter().any(|&r| r >= self.count()) {
            let expected = format!("different ranks below {}", self.count());
            return Err(Error::invalid("Ranks::some", expected, format!("{ranks:?}"), "name each rank once"));
        }
        let Some(rank) = ranks.iter().position(|&rank| rank == self.rank()) else { return Ok(None) };
        let members: Vec<usize> = ranks.iter().map(|&rank| self.0.members[rank]).collect();
        if members == self.0.members {
            return Ok(Some(self.clone()));
        }
        let mut own = locked(&self.0.state);
        let (computed, elements, before) = (own.computed, own.elements, own.history);
        let begun = || {
            let name = hash(&(self.0.name, &members));
            let history = hash(&(name, before));
            let state = CommunicatorState { computed, elements, history, ..CommunicatorState::default() };
            let (endpoint, members, state) =
                (Arc::clone(&self.0.endpoint), members.clone(), Mutex::new(state));
            Arc::new(Communicator { endpoint, name, members, rank, state })
        };
        let group = own.groups.entry(members.clone()).or_insert_with(begun);
        Ok(Some(Ranks(Arc::clone(group), Epoch::default())))
    }

    /// The ranks of a job that this process belongs to.
    ///
    /// # Errors
    /// [`Error::Forked`] in a process forked from the one that does.
    pub(super) fn of_job(endpoint: &Arc<Endpoint>) -> Result<Ranks> {
        endpoint.check_process().map(|()| Ranks::on(endpoint))
    }

    /// Refuses a process that was forked from the one whose ranks they are.
    pub(crate) fn check_process(&self) -> Result<()> {
        self.0.endpoint.check_process()
    }

    /// Names the operation that follows, for errors.
    ///
    /// # Errors
    /// The failure, if there was one: nothing works after it.
    pub(crate) fn begin(&self, operation: &str) -> Result<()> {
        self.check_process()?;
        let mut endpoint_state = locked(&self.0.endpoint.state);
        operation.clone_into(&mut endpoint_state.operation);
        let failed = endpoint_state.failure.is_some();
        drop(endpoint_state);
        if failed { self.failure().map_or(Ok(()), Err) } else { Ok(()) }
    }

    /// Defers sends: they start before the next collective operation on this wire, because messages of one
    /// rank to another keep their order.
    pub(crate) fn defer(&self, sends: impl FnOnce() -> Result<()> + Send + 'static) {
        locked(&self.0.endpoint.state).deferred.push_back(Box::new(sends));
    }

    /// Starts the deferred sends.
    ///
    /// # Errors
    /// The first failure; the rest stays deferred.
    pub(crate) fn flush_deferred(&self) -> Result<()> {
        loop {
            let Some(sends) = locked(&self.0.endpoint.state).deferred.pop_front() else { return Ok(()) };
            sends()?;
        }
    }

    /// Begins the next collective operation, after the deferred sends.
    ///
    /// # Errors
    /// Another rank does something else, failed, or does not answer.
    pub fn begin_collective(&self, signature: &CollectiveSignature) -> Result<()> {
        self.note(&[RankNote::Collective(signature)])?;
        self.0.poll_control()
    }

    /// Takes note of collective operations whose messages need no host, and of what is computed between them.
    /// It does not ask whether a rank has failed: that costs a call of the system per rank.
    ///
    /// # Errors
    /// Those of [`Ranks::begin_collective`], where the ranks have not agreed on an operation before.
    pub(crate) fn note<S: Borrow<CollectiveSignature>>(&self, notes: &[RankNote<S>]) -> Result<()> {
        self.check_process()?;
        self.flush_deferred()?;
        for note in notes {
            let signature = match note {
                RankNote::Computed(hash) => {
                    self.record_hash(*hash);
                    continue;
                }
                RankNote::Collective(signature) => signature.borrow(),
            };
            pass("begin-collective")?;
            let is_new = {
                let mut state = locked(&self.0.state);
                state.step += 1;
                state.history = hash(&(state.history, signature.fingerprint, state.computed));
                state.sent.clear();
                state.expected.clear();
                let mut endpoint_state = locked(&self.0.endpoint.state);
                endpoint_state.operation.clone_from(&signature.operation);
                endpoint_state.step = state.step;
                self.0.endpoint.wire.record_progress(&signature.operation, state.step);
                state.agreed.insert(signature.fingerprint)
            };
            if is_new {
                self.0.poll_control()?;
                self.0.agree(signature)?;
            }
        }
        Ok(())
    }

    /// Posts a receive of the next message from a rank.
    ///
    /// # Errors
    /// Those of the wire, which are reported to all ranks.
    pub fn post_receive(&self, from: usize, bytes: u64) -> Result<()> {
        self.post_receive_chunks(from, &staged_chunks(bytes), |_| None)
    }

    /// As [`Ranks::post_receive`] for a message in chunks, cut as its sender does; `target` gives the memory
    /// of chunks that are received in place.
    pub(crate) fn post_receive_chunks(
        &self,
        from: usize,
        chunks: &[MessageChunk],
        target: impl Fn(MessageChunk) -> Option<LentMemory>,
    ) -> Result<()> {
        self.check_process()?;
        pass("post-receive")?;
        for &chunk in chunks {
            let mut state = locked(&self.0.state);
            let tag = self.tag(&state, from, self.rank(), state.expected.get(&from).copied().unwrap_or(0));
            *state.expected.entry(from).or_default() += 1;
            let peer = self.0.members[from];
            let request = match target(chunk) {
                Some(memory) => self.0.endpoint.wire.receive_into(peer, memory),
                None => self.0.endpoint.wire.receive(peer, self.spare(chunk.bytes)),
            };
            let request = request.map_err(|error| self.0.endpoint.fail(peer, error.0))?;
            let posted = PostedReceive { epoch: self.1, request, tag, chunk };
            state.open_receives.entry(from).or_default().push_back(posted);
        }
        Ok(())
    }

    /// Sends bytes that `fill` copies, chunk by chunk, from an offset on. Does not wait for the other rank.
    ///
    /// # Errors
    /// Those of `fill` and of the wire.
    pub fn send(&self, to: usize, bytes: u64, fill: impl FnMut(u64, &mut [u8]) -> Result<()>) -> Result<()> {
        self.send_chunks(to, &staged_chunks(bytes), |_| None, fill)
    }

    /// As [`Ranks::send`] for a message in chunks; chunks for which `source` gives memory are sent in place
    /// and must not change before [`Ranks::wait_all`].
    pub(crate) fn send_chunks(
        &self,
        to: usize,
        chunks: &[MessageChunk],
        source: impl Fn(MessageChunk) -> Option<LentMemory>,
        mut fill: impl FnMut(u64, &mut [u8]) -> Result<()>,
    ) -> Result<()> {
        self.check_process()?;
        pass("send")?;
        let peer = self.0.members[to];
        for &chunk in chunks {
            let in_place = source(chunk);
            let mut memory = Vec::new();
            if in_place.is_none() {
                memory = self.spare(chunk.bytes);
                fill(chunk.offset, &mut memory)?;
            }
            pass("send-filled")?;
            let mut state = locked(&self.0.state);
            let tag = self.tag(&state, self.rank(), to, state.sent.get(&to).copied().unwrap_or(0));
            *state.sent.entry(to).or_default() += 1;
            let request = match in_place {
                Some(memory) => self.0.endpoint.wire.send_from(peer, tag, memory),
                None => self.0.endpoint.wire.send(peer, tag, memory),
            };
            let request = request.map_err(|error| self.0.endpoint.fail(peer, error.0))?;
            state.open_sends.push_back((peer, request));
        }
        pass("send-posted")
    }

    /// Waits for the [posted](Ranks::post_receive) message of a rank and hands its chunks to `place` in
    /// order.
    ///
    /// # Errors
    /// The rank does something else, failed, or does not answer; those of `place`.
    pub fn receive(
        &self,
        from: usize,
        bytes: u64,
        place: impl FnMut(u64, &[u8]) -> Result<()>,
    ) -> Result<()> {
        self.receive_chunks(from, staged_chunks(bytes).len(), place)
    }

    /// As [`Ranks::receive`] for a message of so many chunks; `place` does not get those received in place.
    pub(crate) fn receive_chunks(
        &self,
        from: usize,
        chunks: usize,
        mut place: impl FnMut(u64, &[u8]) -> Result<()>,
    ) -> Result<()> {
        pass("receive")?;
        for _ in 0..chunks {
            let Some(posted) = self.take_posted(from) else { unreachable!("every receive is posted before") };
            let peer = self.0.members[from];
            let (tag, bytes, arrived) = match self.0.wait(posted.request, peer)? {
                Outcome::Arrived { tag, bytes } => (tag, bytes.len(), Some(bytes)),
                Outcome::ArrivedInPlace { tag, bytes } => (tag, bytes, None),
                Outcome::Pending | Outcome::Sent(_) => unreachable!("a receive ends with an arrival"),
            };
            if tag != posted.tag || bytes != posted.chunk.bytes {
                let reason = format!(
                    "a message of {bytes} bytes with tag {tag:x} arrived, expected {} bytes with tag {:x}; \
                     rank {peer} does something else than rank {}, computes with other numbers, or made an \
                     array of other elements (asarray, Array::from_slice)",
                    posted.chunk.bytes,
                    posted.tag,
                    self.0.endpoint.wire.rank()
                );
                return Err(self.0.endpoint.fail(peer, reason));
            }
            pass("receive-arrived")?;
            if let Some(arrived) = arrived {
                place(posted.chunk.offset, &arrived)?;
                self.recycle(arrived);
            }
        }
        pass("receive-placed")
    }

    /// The first receive from a rank that was posted in this epoch.
    fn take_posted(&self, from: usize) -> Option<PostedReceive> {
        let mut state = locked(&self.0.state);
        let open = state.open_receives.get_mut(&from)?;
        open.remove(open.iter().position(|posted| posted.epoch == self.1)?)
    }

    /// Waits until all sends are complete.
    ///
    /// # Errors
    /// A rank failed, or does not receive.
    pub fn wait_all(&self) -> Result<()> {
        pass("wait-all")?;
        loop {
            let Some((peer, request)) = locked(&self.0.state).open_sends.pop_front() else { return Ok(()) };
            if let Outcome::Sent(memory) = self.0.wait(request, peer)? {
                self.recycle(memory);
            }
        }
    }

    /// Gathers every rank's bytes on every rank, in the order of ranks.
    ///
    /// # Errors
    /// As [`Ranks::begin_collective`] and [`Ranks::receive`].
    pub fn all_gather(&self, operation: &str, mine: &[u8]) -> Result<Vec<Vec<u8>>> {
        self.begin_collective(&CollectiveSignature::new(operation, &self.count()))?;
        let lengths = self.exchange_bytes(&(mine.len() as u64).to_le_bytes(), |_| 8)?;
        let length = |rank: usize| lengths[rank].first_chunk::<8>().copied().map_or(0, u64::from_le_bytes);
        let all = self.exchange_bytes(mine, length)?;
        self.wait_all()?;
        Ok(all)
    }

    /// Gathers bytes, whose lengths are known, by dissemination: in each round a rank gets what another one
    /// has so far, of itself and those after it, so that it takes log2(n) messages.
    fn exchange_bytes(&self, mine: &[u8], length: impl Fn(usize) -> u64) -> Result<Vec<Vec<u8>>> {
        let (rank, count) = (self.rank(), self.count());
        let after = |by: usize| (rank + by) % count;
        let mut all = vec![mine.to_vec()];
        while all.len() < count {
            let distance = all.len();
            let some = distance.min(count - distance);
            let (to, from) = (after(count - distance), after(distance));
            let lengths: Vec<u64> = (distance..distance + some).map(|by| length(after(by))).collect();
            self.post_receive(from, lengths.iter().sum())?;
            self.send_bytes(to, &all[..some].concat())?;
            let bytes = self.receive_bytes(from, lengths.iter().sum())?;
            let mut rest = &bytes[..];
            for length in lengths {
                let (one, others) = rest.split_at(length as usize);
                all.push(one.to_vec());
                rest = others;
            }
        }
        all.rotate_right(rank);
        Ok(all)
    }

    pub(crate) fn send_bytes(&self, to: usize, bytes: &[u8]) -> Result<()> {
        self.send(to, bytes.len() as u64, |offset, out| {
            out.copy_from_slice(&bytes[offset as usize..][..out.len()]);
            Ok(())
        })
    }

    pub(crate) fn receive_bytes(&self, from: usize, length: u64) -> Result<Vec<u8>> {
        let mut all = Vec::with_capacity(length as usize);
        self.receive(from, length, |_, bytes| {
            all.extend(bytes);
            Ok(())
        })?;
        Ok(all)
    }

    /// Reports to all other ranks that this one cannot go on, and waits a moment until they acknowledge it.
    /// The first failure of all is the one that every later call returns.
    pub fn abort(&self, reason: &str) {
        self.0.endpoint.fail(self.0.endpoint.wire.rank(), reason.to_owned());
    }

    /// The time of their wire's clock.
    pub(crate) fn now(&self) -> Duration {
        self.0.endpoint.wire.now()
    }

    /// Tells all ranks that this one waits for another.
    pub(crate) fn announce_wait(&self, peer: usize) {
        let peer = self.0.members[peer] as u64;
        self.0.endpoint.broadcast_control(&ControlMessage::Waiting { peer });
    }

    /// Reports the rank for which this one and others have waited since a time: one that waits for no other,
    /// or else the last of a chain that begins with `peer`.
    pub(crate) fn fail_silent(&self, peer: usize, since: Duration) -> Error {
        let endpoint = &self.0.endpoint;
        let idle = endpoint.waits_for_nobody(&self.0.members, since);
        endpoint.fail_silent(idle.unwrap_or_else(|| endpoint.at_fault(self.0.members[peer], since)))
    }

    /// Adds to the failure what it means for this rank.
    pub(crate) fn remark(&self, words: &str) {
        let mut state = locked(&self.0.endpoint.state);
        state.failure.iter_mut().for_each(|failure| failure.reason.extend(["; ", words]));
    }

    /// The failure that was found here or reported by another rank.
    pub fn failure(&self) -> Option<Error> {
        self.0.failure()
    }

    /// Records the hash of what is computed here. All ranks compute the same in the same order; the next
    /// collective operation compares that.
    pub(crate) fn record_hash(&self, computed: u64) {
        let mut state = locked(&self.0.state);
        state.computed = hash(&(state.computed, computed));
    }

    /// The same of elements that all ranks pass to make an array.
    pub(crate) fn record_elements(&self, elements: u64) {
        self.record_hash(elements);
        let mut state = locked(&self.0.state);
        state.elements = hash(&(state.elements, elements));
    }

    fn tag(&self, state: &CommunicatorState, from: usize, to: usize, count: u64) -> u32 {
        let tag = hash(&(state.history, self.0.members[from], self.0.members[to], count));
        (tag % (u64::from(self.0.endpoint.wire.max_tag()) + 1)) as u32
    }

    /// Memory for one message.
    fn spare(&self, bytes: usize) -> Vec<u8> {
        let mut memory = locked(&self.0.endpoint.state).spare.pop().unwrap_or_default();
        memory.resize(bytes, 0);
        memory
    }

    fn recycle(&self, memory: Vec<u8>) {
        let mut endpoint_state = locked(&self.0.endpoint.state);
        if memory.capacity() > 0 && endpoint_state.spare.len() < 16 {
            endpoint_state.spare.push(memory);
        }
    }
}

/// The tag of the value trial's messages; nothing else is in flight meanwhile.
const TRIAL_TAG: u32 = 1;

/// Zero-copy messages and their value trial: an error of the library is a result of the trial, not a failure
/// of the program; only a rank that does not answer is a failure.
impl Ranks {
    /// Whether the wire sends and receives this process's memory in place.
    pub(crate) fn takes_host_memory(&self) -> bool {
        self.0.endpoint.wire.takes_host_memory()
    }

    /// Whether the wire says that it takes device pointers, or the user forces it; if not, why.
    pub(crate) fn takes_device_memory(&self) -> std::result::Result<(), String> {
        self.0.endpoint.wire.takes_device_memory()
    }

    /// Sends and receives in place, to and from these ranks, which do likewise. Returns the wire's first
    /// error; the caller compares what arrived.
    ///
    /// # Errors
    /// A rank that does not answer or has failed.
    pub(crate) fn try_in_place(
        &self,
        sends: Vec<(usize, LentMemory)>,
        receives: Vec<(usize, LentMemory)>,
    ) -> Result<std::result::Result<(), String>> {
        let wire = &self.0.endpoint.wire;
        let mut complaint: Option<String> = None;
        let mut refused = |error: WireError| {
            complaint.get_or_insert(error.0);
        };
        let mut open: Vec<(usize, Request)> = Vec::new();
        for (from, memory) in receives {
            let (peer, bytes) = (self.0.members[from], memory.bytes());
            let request = wire.receive_into(peer, memory).map_err(&mut refused);
            // A refused message is received in memory of the host, so that the next one does not match it.
            let request = request.or_else(|()| wire.receive(peer, vec![0; bytes]));
            open.push((peer, request.map_err(|error| self.0.endpoint.fail(peer, error.0))?));
        }
        for (to, memory) in sends {
            let (peer, bytes) = (self.0.members[to], memory.bytes());
            let request = wire.send_from(peer, TRIAL_TAG, memory).map_err(&mut refused);
            let request = request.or_else(|()| wire.send(peer, TRIAL_TAG, vec![0; bytes]));
            open.push((peer, request.map_err(|error| self.0.endpoint.fail(peer, error.0))?));
        }
        for (peer, request) in open {
            let mut deadline = Deadline::new(&self.0);
            loop {
                match wire.test(request) {
                    Ok(Outcome::Pending) => {}
                    Ok(_) => break,
                    Err(error) => {
                        refused(error);
                        break;
                    }
                }
                self.0.poll_control()?;
                deadline.wait(peer)?;
            }
        }
        Ok(complaint.map_or(Ok(()), Err))
    }
}
