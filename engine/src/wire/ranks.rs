//! What the engine does over a wire: agree on each new exchange, move bytes in pieces, wait with a deadline,
//! and let every rank know of a failure. Knows nothing of what the bytes are.
//!
//! Each exchange begins with [`Ranks::meet`]. All ranks must come to the same exchanges in the same order.
//! The first time they come to one they compare fingerprints, and what they have computed so far, constants
//! included; afterwards that costs no message, because the mark of each message follows from all exchanges
//! and computations so far: a rank that does something else is found by the first message it sends or by the
//! agreement it asks for.

use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::fault::pass;
use super::frame::{Piece, copied};
use super::line::{Line, Patience, locked};
use super::news::News;
use super::{InPlace, Outcome, Request, Wire};
use crate::config::config;
use crate::error::{Error, Result};

/// The ranks that run a program together, or some of them. Clones name the same.
#[derive(Clone)]
pub struct Ranks(pub(super) Arc<Circle>, Errand);

/// Whose messages are expected and received: what is expected on one errand is received on it, whatever was
/// expected on others before.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Errand(u64);

/// What all ranks are about to do: words for people, and a number that differs where anything does.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Meeting {
    /// The operation, as an error names it.
    pub operation: String,
    pub(super) fingerprint: u64,
}

impl Meeting {
    /// A meeting for an operation on `what`, whose hash is compared.
    pub fn new(operation: impl Into<String>, what: &impl Hash) -> Meeting {
        let operation = operation.into();
        let fingerprint = hash(&(&operation, hash(what)));
        Meeting { operation, fingerprint }
    }
}

/// The same in every process of one build.
pub(crate) fn hash(what: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}

pub(super) struct Circle {
    pub line: Arc<Line>,
    /// What it is called in news.
    pub name: u64,
    /// The wire's rank of each.
    pub members: Vec<usize>,
    rank: usize,
    pub state: Mutex<State>,
}

#[derive(Default)]
pub(super) struct State {
    pub step: u64,
    /// Follows from everything that was computed, constants included.
    pub computed: u64,
    history: u64,
    met: HashSet<u64>,
    /// Messages since the last meeting, by rank.
    sent: HashMap<usize, u64>,
    expected: HashMap<usize, u64>,
    open_sends: VecDeque<(usize, Request)>,
    /// By sender: what was asked for and not taken yet.
    open_receives: HashMap<usize, VecDeque<Awaited>>,
}

struct Awaited {
    errand: Errand,
    request: Request,
    mark: u32,
    piece: Piece,
}

impl PartialEq for Ranks {
    fn eq(&self, other: &Ranks) -> bool {
        Arc::ptr_eq(&self.0.line, &other.0.line) && self.0.members == other.0.members
    }
}

impl Ranks {
    /// All ranks of a wire, with the deadline that `PARTITA_DEADLINE_SECONDS` sets.
    pub fn over(wire: impl Wire + 'static) -> Ranks {
        Ranks::with_deadline(wire, config().deadline)
    }

    /// All ranks of a wire. No wait is longer than `deadline`.
    pub fn with_deadline(wire: impl Wire + 'static, deadline: Duration) -> Ranks {
        Ranks::on(&Arc::new(Line::new(wire, deadline)))
    }

    /// All ranks of a wire that may carry other circles too.
    pub(super) fn on(line: &Arc<Line>) -> Ranks {
        let (rank, members) = (line.wire.rank(), (0..line.wire.ranks()).collect());
        let mut common = locked(&line.common);
        common.circles += 1;
        let (line, name) = (Arc::clone(line), common.circles);
        drop(common);
        Ranks(Arc::new(Circle { line, name, members, rank, state: Mutex::default() }), Errand::default())
    }

    /// The same ranks on an errand of its own: what it expects may be received after what comes later.
    pub(crate) fn on_errand(&self) -> Ranks {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Ranks(Arc::clone(&self.0), Errand(1 + LAST.fetch_add(1, Ordering::Relaxed)))
    }

    /// Which errand that is.
    pub(crate) fn errand(&self) -> Errand {
        self.1
    }

    /// This rank among them.
    pub fn rank(&self) -> usize {
        self.0.rank
    }

    /// How many they are.
    pub fn count(&self) -> usize {
        self.0.members.len()
    }

    /// Held by one evaluation at a time of those that use this rank's end of the wire.
    pub(crate) fn turn(&self) -> &Mutex<()> {
        &self.0.line.turn
    }

    /// What carries their bytes.
    pub fn wire_name(&self) -> String {
        self.0.line.wire.name()
    }

    /// Some of the ranks, in this order; `None` on a rank that is none of them. All of these ranks call it,
    /// at the same point of the program.
    ///
    /// # Errors
    /// Ranks that there are not, or twice.
    pub fn some(&self, ranks: &[usize]) -> Result<Option<Ranks>> {
        let distinct: HashSet<&usize> = ranks.iter().collect();
        if ranks.is_empty() || distinct.len() < ranks.len() || ranks.iter().any(|&r| r >= self.count()) {
            let expected = format!("different ranks below {}", self.count());
            return Err(Error::invalid("Ranks::some", expected, format!("{ranks:?}"), "name each rank once"));
        }
        let Some(rank) = ranks.iter().position(|&rank| rank == self.rank()) else { return Ok(None) };
        let members: Vec<usize> = ranks.iter().map(|&rank| self.0.members[rank]).collect();
        let state = locked(&self.0.state);
        let name = hash(&(self.0.name, &members));
        let (computed, history) = (state.computed, hash(&(name, state.history)));
        let state = Mutex::new(State { computed, history, ..State::default() });
        let circle = Circle { line: Arc::clone(&self.0.line), name, members, rank, state };
        Ok(Some(Ranks(Arc::new(circle), Errand::default())))
    }

    /// Names what follows, for errors.
    ///
    /// # Errors
    /// The failure, if there was one: nothing works after it.
    pub(crate) fn begin(&self, operation: &str) -> Result<()> {
        let mut common = locked(&self.0.line.common);
        operation.clone_into(&mut common.operation);
        let failed = common.failure.is_some();
        drop(common);
        if failed { self.failure().map_or(Ok(()), Err) } else { Ok(()) }
    }

    /// Leaves a part of what was begun for later: it is sent before anything else begins among ranks of this
    /// wire, because messages of one rank to another keep their order.
    pub(crate) fn postpone(&self, leave: impl FnOnce() -> Result<()> + Send + 'static) {
        locked(&self.0.line.common).postponed.push_back(Box::new(leave));
    }

    /// Sends what was postponed.
    ///
    /// # Errors
    /// The first failure; the rest stays postponed.
    pub(crate) fn catch_up(&self) -> Result<()> {
        loop {
            let Some(leave) = locked(&self.0.line.common).postponed.pop_front() else { return Ok(()) };
            leave()?;
        }
    }

    /// Begins what all ranks do next, after what was postponed.
    ///
    /// # Errors
    /// Another rank does something else, failed, or does not answer.
    pub fn meet(&self, meeting: &Meeting) -> Result<()> {
        self.catch_up()?;
        pass("meet")?;
        let new = {
            let mut state = locked(&self.0.state);
            state.step += 1;
            state.history = hash(&(state.history, meeting.fingerprint, state.computed));
            state.sent.clear();
            state.expected.clear();
            let mut common = locked(&self.0.line.common);
            common.operation.clone_from(&meeting.operation);
            common.step = state.step;
            self.0.line.wire.note(&meeting.operation, state.step);
            state.met.insert(meeting.fingerprint)
        };
        self.listen()?;
        if new { self.agree(meeting) } else { Ok(()) }
    }

    /// Begins to receive what `from` will send next.
    ///
    /// # Errors
    /// Those of the wire, of which all ranks then know.
    pub fn expect(&self, from: usize, bytes: u64) -> Result<()> {
        self.expect_pieces(from, &copied(bytes), |_| None)
    }

    /// The same for a message in pieces, as its sender cuts it too; `belongs` says where pieces are received
    /// in place.
    pub(crate) fn expect_pieces(
        &self,
        from: usize,
        pieces: &[Piece],
        belongs: impl Fn(Piece) -> Option<InPlace>,
    ) -> Result<()> {
        pass("expect")?;
        for &piece in pieces {
            let mut state = locked(&self.0.state);
            let mark = self.mark(&state, from, self.rank(), state.expected.get(&from).copied().unwrap_or(0));
            *state.expected.entry(from).or_default() += 1;
            let peer = self.0.members[from];
            let request = match belongs(piece) {
                Some(place) => self.0.line.wire.receive_into(peer, place),
                None => self.0.line.wire.receive(peer, self.spare(piece.bytes)),
            };
            let request = request.map_err(|broken| self.0.line.fail(peer, broken.0))?;
            let awaited = Awaited { errand: self.1, request, mark, piece };
            state.open_receives.entry(from).or_default().push_back(awaited);
        }
        Ok(())
    }

    /// Sends bytes that `fill` copies, piece by piece, from an offset on. Does not wait for the other rank.
    ///
    /// # Errors
    /// Those of `fill` and of the wire.
    pub fn send(&self, to: usize, bytes: u64, fill: impl FnMut(u64, &mut [u8]) -> Result<()>) -> Result<()> {
        self.send_pieces(to, &copied(bytes), |_| None, fill)
    }

    /// The same for a message in pieces; those that `lies` knows are sent from where they lie, which must not
    /// change before [`Ranks::settle`].
    pub(crate) fn send_pieces(
        &self,
        to: usize,
        pieces: &[Piece],
        lies: impl Fn(Piece) -> Option<InPlace>,
        mut fill: impl FnMut(u64, &mut [u8]) -> Result<()>,
    ) -> Result<()> {
        pass("send")?;
        let peer = self.0.members[to];
        for &piece in pieces {
            let place = lies(piece);
            let mut memory = Vec::new();
            if place.is_none() {
                memory = self.spare(piece.bytes);
                fill(piece.offset, &mut memory)?;
            }
            pass("send-filled")?;
            let mut state = locked(&self.0.state);
            let mark = self.mark(&state, self.rank(), to, state.sent.get(&to).copied().unwrap_or(0));
            *state.sent.entry(to).or_default() += 1;
            let request = match place {
                Some(place) => self.0.line.wire.send_from(peer, mark, place),
                None => self.0.line.wire.send(peer, mark, memory),
            };
            let request = request.map_err(|broken| self.0.line.fail(peer, broken.0))?;
            state.open_sends.push_back((peer, request));
        }
        pass("send-posted")
    }

    /// Waits for what was [expected](Ranks::expect) first of what is still to be received from a rank, and
    /// hands its pieces on in order.
    ///
    /// # Errors
    /// The rank does something else, failed, or does not answer; those of `place`.
    pub fn receive(
        &self,
        from: usize,
        bytes: u64,
        place: impl FnMut(u64, &[u8]) -> Result<()>,
    ) -> Result<()> {
        self.receive_pieces(from, copied(bytes).len(), place)
    }

    /// The same for a message of so many pieces. What was received in place is not handed on.
    pub(crate) fn receive_pieces(
        &self,
        from: usize,
        pieces: usize,
        mut place: impl FnMut(u64, &[u8]) -> Result<()>,
    ) -> Result<()> {
        pass("receive")?;
        for _ in 0..pieces {
            let Some(awaited) = self.first_awaited(from) else {
                unreachable!("what is received was expected before")
            };
            let peer = self.0.members[from];
            let (mark, bytes, arrived) = match self.finish(awaited.request, peer)? {
                Outcome::Arrived { mark, bytes } => (mark, bytes.len(), Some(bytes)),
                Outcome::Landed { mark, bytes } => (mark, bytes, None),
                Outcome::Pending | Outcome::Sent(_) => unreachable!("a receive ends with an arrival"),
            };
            if mark != awaited.mark || bytes != awaited.piece.bytes {
                let reason = format!(
                    "a message of {bytes} bytes marked {mark:x} came where one of {} bytes marked {:x} \
                     belongs; rank {peer} does something else, or computes with other numbers",
                    awaited.piece.bytes, awaited.mark
                );
                return Err(self.0.line.fail(peer, reason));
            }
            pass("receive-arrived")?;
            if let Some(arrived) = arrived {
                place(awaited.piece.offset, &arrived)?;
                self.keep(arrived);
            }
        }
        pass("receive-placed")
    }

    /// What was expected first of what this errand is still to receive from a rank.
    fn first_awaited(&self, from: usize) -> Option<Awaited> {
        let mut state = locked(&self.0.state);
        let open = state.open_receives.get_mut(&from)?;
        open.remove(open.iter().position(|awaited| awaited.errand == self.1)?)
    }

    /// Waits until everything sent so far is gone.
    ///
    /// # Errors
    /// A rank failed, or does not take it.
    pub fn settle(&self) -> Result<()> {
        pass("settle")?;
        loop {
            let Some((peer, request)) = locked(&self.0.state).open_sends.pop_front() else { return Ok(()) };
            if let Outcome::Sent(memory) = self.finish(request, peer)? {
                self.keep(memory);
            }
        }
    }

    /// What every rank has, on every rank, in their order.
    ///
    /// # Errors
    /// As [`Ranks::meet`] and [`Ranks::receive`].
    pub fn share(&self, operation: &str, mine: &[u8]) -> Result<Vec<Vec<u8>>> {
        self.meet(&Meeting::new(operation, &self.count()))?;
        let others = || (0..self.count()).filter(|&rank| rank != self.rank());
        let mut lengths = vec![mine.len() as u64; self.count()];
        others().try_for_each(|rank| self.expect(rank, 8))?;
        for rank in others() {
            self.send(rank, 8, |_, out| {
                out.copy_from_slice(&(mine.len() as u64).to_le_bytes());
                Ok(())
            })?;
        }
        for rank in others() {
            self.receive(rank, 8, |_, bytes| {
                lengths[rank] = bytes.first_chunk::<8>().copied().map_or(0, u64::from_le_bytes);
                Ok(())
            })?;
        }
        others().try_for_each(|rank| self.expect(rank, lengths[rank]))?;
        for rank in others() {
            self.send(rank, mine.len() as u64, |offset, out| {
                out.copy_from_slice(&mine[offset as usize..][..out.len()]);
                Ok(())
            })?;
        }
        let mut all = vec![mine.to_vec(); self.count()];
        for rank in others() {
            all[rank].clear();
            self.receive(rank, lengths[rank], |_, bytes| {
                all[rank].extend(bytes);
                Ok(())
            })?;
        }
        self.settle()?;
        Ok(all)
    }

    /// Lets all other ranks know that this one cannot go on, and waits a moment until they do. The first
    /// failure of all is the one that every later call gives.
    pub fn abort(&self, reason: &str) {
        self.0.line.fail(self.0.line.wire.rank(), reason.to_owned());
    }

    /// The failure that was found or heard of, if there was one.
    pub fn failure(&self) -> Option<Error> {
        let failure = locked(&self.0.line.common).failure.clone();
        failure.map(|failure| self.0.line.error(failure))
    }

    fn mark(&self, state: &State, from: usize, to: usize, count: u64) -> u32 {
        let mark = hash(&(state.history, self.0.members[from], self.0.members[to], count));
        (mark % (u64::from(self.0.line.wire.max_mark()) + 1)) as u32
    }

    /// Memory for one message.
    fn spare(&self, bytes: usize) -> Vec<u8> {
        let mut memory = locked(&self.0.line.common).spare.pop().unwrap_or_default();
        memory.resize(bytes, 0);
        memory
    }

    fn keep(&self, memory: Vec<u8>) {
        let mut common = locked(&self.0.line.common);
        if memory.capacity() > 0 && common.spare.len() < 16 {
            common.spare.push(memory);
        }
    }

    /// The outcome of a request that depends on a rank of the wire.
    pub(super) fn finish(&self, request: Request, peer: usize) -> Result<Outcome> {
        let mut patience = Patience::new(self);
        loop {
            match self.0.line.wire.test(request) {
                Ok(Outcome::Pending) => {}
                Ok(outcome) => return Ok(outcome),
                Err(broken) => return Err(self.0.line.fail(peer, broken.0)),
            }
            self.listen()?;
            self.check_for_strangers(locked(&self.0.state).step)?;
            patience.wait(peer)?;
        }
    }

    pub(super) fn tell(&self, to: usize, news: &News) -> Result<()> {
        let peer = self.0.members[to];
        self.0.line.wire.tell(peer, &news.to_bytes()).map_err(|broken| self.0.line.fail(peer, broken.0))
    }

    /// Takes in what others tell.
    ///
    /// # Errors
    /// The failure, once there is one.
    pub(super) fn listen(&self) -> Result<()> {
        loop {
            match self.0.line.wire.hear() {
                Ok(None) => break,
                Ok(Some((sender, bytes))) => self.0.line.take_in(sender, &bytes),
                Err(broken) => return Err(self.0.line.fail(self.0.line.wire.rank(), broken.0)),
            }
        }
        self.failure().map_or(Ok(()), Err)
    }

    /// The step at which a rank of the wire ended its part in this circle.
    pub(super) fn left(&self, peer: usize) -> Option<u64> {
        let common = locked(&self.0.line.common);
        common.inbox.iter().find_map(|(sender, news)| match news {
            News::Bye { circle, step } if *sender == peer && *circle == self.0.name => Some(*step),
            News::Left { step } if *sender == peer => Some(*step),
            _ => None,
        })
    }

    /// The last step that this rank has begun.
    pub(super) fn step(&self) -> u64 {
        locked(&self.0.state).step
    }

    /// Whether there are several others, and all of them ended after one step.
    pub(super) fn is_alone_after(&self, step: u64) -> bool {
        let mut others = self.0.members.iter().filter(|&&member| member != self.0.line.wire.rank());
        self.count() > 2 && others.all(|&member| self.left(member) == Some(step))
    }

    /// Takes note of what is computed here, by its hash. All ranks of the circle compute the same in the same
    /// order; the next meeting compares that.
    pub(crate) fn note(&self, computed: u64) {
        let mut state = locked(&self.0.state);
        state.computed = hash(&(state.computed, computed));
    }
}

impl Drop for Circle {
    fn drop(&mut self) {
        if locked(&self.line.common).failure.is_some() {
            return;
        }
        if std::thread::panicking() {
            self.line.fail(self.line.wire.rank(), "it panicked; its own output says why".to_owned());
            return;
        }
        let step = locked(&self.state).step;
        let news = News::Bye { circle: self.name, step }.to_bytes();
        for &member in self.members.iter().filter(|&&member| member != self.line.wire.rank()) {
            // A rank that cannot be told finds out by its deadline.
            let _ = self.line.wire.tell(member, &news);
        }
    }
}
