//! A deterministic simulation of a wire: ranks are threads of which one runs at a time, time is virtual, and
//! a seed decides who runs next, how long each message takes, and where a fault is planted. The same seed
//! gives the same run, which its trace's hash shows.
//!
//! Messages from one rank to another keep their order, as on every wire; those of different pairs do not. A
//! rank gives its turn away where it pauses, which it does wherever it waits.

use std::collections::{BTreeMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::{Broken, Outcome, Ranks, Request, Wire};

/// What goes wrong in a run, once, at a moment that the seed chooses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Plant {
    /// Nothing.
    Nothing,
    /// A rank is gone, without a word.
    Crash,
    /// A rank takes no turn any more, as if it were stopped.
    Stop,
    /// A message loses its last byte.
    Short,
    /// A message carries the bytes that the one before carried, as if memory was sent before it was written.
    Stale,
    /// A message overtakes the one before it.
    Overtaken,
    /// A message comes twice.
    Twice,
    /// A message does not come.
    Lost,
}

/// What a run was like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Trace {
    /// Of everything that happened, in its order.
    pub hash: u64,
    /// How many things happened.
    pub events: u64,
    /// How long it took, in the time of the simulation.
    pub took: Duration,
    /// Whether the moment came at which something goes wrong, and whom it befell.
    pub planted: Option<usize>,
}

/// Runs a program on so many ranks under one seed; what it returns on each, or its panic.
pub fn run<T: Send>(
    ranks: usize,
    seed: u64,
    plant: Plant,
    program: impl Fn(Ranks) -> T + Sync,
) -> (Vec<std::thread::Result<T>>, Trace) {
    let stage = Arc::new(Stage::new(ranks, seed, plant));
    let program = &program;
    let results = std::thread::scope(|scope| {
        let start = |rank| {
            let end = End { rank, stage: Arc::clone(&stage), lone: AtomicU64::new(0) };
            scope.spawn(move || program(Ranks::with_deadline(end, Duration::from_secs(30))))
        };
        let running: Vec<_> = (0..ranks).map(start).collect();
        running.into_iter().map(std::thread::ScopedJoinHandle::join).collect()
    });
    let state = stage.state();
    (
        results,
        Trace { hash: state.trace.finish(), events: state.events, took: state.now, planted: state.planted },
    )
}

struct Stage {
    state: Mutex<State>,
    turns: Vec<Condvar>,
}

/// Sender and receiver.
type Pair = (usize, usize);

struct State {
    random: u64,
    now: Duration,
    turn: usize,
    /// Who still takes turns.
    playing: Vec<bool>,
    gone: Vec<bool>,
    /// Who has looked in vain since something last changed.
    idle: Vec<bool>,
    /// By sender and receiver, with the time of arrival.
    data: BTreeMap<Pair, VecDeque<(Duration, u32, Vec<u8>)>>,
    news: BTreeMap<Pair, VecDeque<(Duration, Vec<u8>)>>,
    awaited: BTreeMap<Pair, VecDeque<u64>>,
    arrived: BTreeMap<(usize, u64), (u32, Vec<u8>)>,
    requests: u64,
    /// The last message of each pair.
    before: BTreeMap<Pair, Vec<u8>>,
    plant: Plant,
    /// Messages, or calls of a rank, until it happens.
    countdown: u64,
    planted: Option<usize>,
    trace: DefaultHasher,
    events: u64,
}

impl Stage {
    fn new(ranks: usize, seed: u64, plant: Plant) -> Stage {
        let mut state = State {
            // Any number but 0 will do; near seeds must give far beginnings.
            random: (seed ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9) | 1,
            now: Duration::ZERO,
            turn: 0,
            playing: vec![true; ranks],
            gone: vec![false; ranks],
            idle: vec![false; ranks],
            data: BTreeMap::new(),
            news: BTreeMap::new(),
            awaited: BTreeMap::new(),
            arrived: BTreeMap::new(),
            requests: 0,
            before: BTreeMap::new(),
            plant,
            countdown: 0,
            planted: None,
            trace: DefaultHasher::new(),
            events: 0,
        };
        state.turn = state.below(ranks as u64) as usize;
        state.countdown = state.below(match plant {
            Plant::Crash | Plant::Stop => 60,
            _ => 12,
        });
        Stage { state: Mutex::new(state), turns: (0..ranks).map(|_| Condvar::new()).collect() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn below(&mut self, bound: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) % bound.max(1)
    }

    fn note(&mut self, event: impl Hash) {
        (event, self.now).hash(&mut self.trace);
        self.events += 1;
    }

    /// When something sent now arrives, behind what is under way already.
    fn arrival(&mut self, last: Option<Duration>) -> Duration {
        let delay = if self.below(8) == 0 { self.below(5000) } else { self.below(50) };
        (self.now + Duration::from_micros(delay)).max(last.unwrap_or_default())
    }

    /// Whether what goes wrong goes wrong now, to this rank.
    fn is_due(&mut self, rank: usize, plants: &[Plant]) -> bool {
        if self.planted.is_some() || !plants.contains(&self.plant) {
            return false;
        }
        let due = self.countdown == 0;
        self.countdown = self.countdown.saturating_sub(1);
        if due {
            self.planted = Some(rank);
        }
        due
    }

    /// Whose turn is next: of those who may find something new; if nobody can, time passes until somebody
    /// does.
    fn pass_on(&mut self) {
        let busy = |state: &State| -> Vec<usize> {
            (0..state.playing.len()).filter(|&rank| state.playing[rank] && !state.idle[rank]).collect()
        };
        let mut next = busy(self);
        if next.is_empty() {
            let now = self.now;
            let times = self.data.values().flatten().map(|(at, ..)| *at);
            let times = times.chain(self.news.values().flatten().map(|(at, _)| *at));
            self.now = times.filter(|at| *at > now).min().unwrap_or(now + Duration::from_millis(250));
            self.idle.fill(false);
            next = busy(self);
        }
        if !next.is_empty() {
            self.turn = next[self.below(next.len() as u64) as usize];
        }
    }

    fn post(&mut self, from: usize, to: usize, mark: u32, mut bytes: Vec<u8>) {
        let whole = bytes.clone();
        let queue = self.data.entry((from, to)).or_default();
        let last = queue.back().map(|(at, ..)| *at);
        let waiting = queue.len();
        let at = self.arrival(last);
        let before = self.before.insert((from, to), whole);
        let old = before.filter(|old| old.len() == bytes.len() && *old != bytes);
        let twice = self.is_due(from, &[Plant::Twice]);
        if !bytes.is_empty() && self.is_due(from, &[Plant::Short]) {
            bytes.pop();
        }
        if let Some(old) = old
            && self.is_due(from, &[Plant::Stale])
        {
            bytes = old;
        }
        let overtakes = waiting > 0 && self.is_due(from, &[Plant::Overtaken]);
        let lost = self.is_due(from, &[Plant::Lost]);
        let Some(queue) = self.data.get_mut(&(from, to)).filter(|_| !lost && !self.gone[to]) else { return };
        match (overtakes, twice) {
            (true, _) => {
                let first = queue.len() - 1;
                queue.insert(first, (at, mark, bytes));
            }
            (_, true) => queue.extend([(at, mark, bytes.clone()), (at, mark, bytes)]),
            _ => queue.push_back((at, mark, bytes)),
        }
    }

    /// Gives what has arrived to those who asked for it, in their order.
    fn deliver(&mut self, to: usize) {
        let now = self.now;
        for ((from, _), requests) in self.awaited.iter_mut().filter(|((_, rank), _)| *rank == to) {
            let Some(queue) = self.data.get_mut(&(*from, to)) else { continue };
            while queue.front().is_some_and(|(at, ..)| *at <= now) {
                let Some(request) = requests.pop_front() else { break };
                if let Some((_, mark, bytes)) = queue.pop_front() {
                    self.arrived.insert((to, request), (mark, bytes));
                }
            }
        }
    }
}

/// One rank's end.
struct End {
    rank: usize,
    stage: Arc<Stage>,
    /// Once this rank is out of the play: its own time, in seconds, plus 1.
    lone: AtomicU64,
}

/// What a rank that is gone finds.
fn gone() -> Broken {
    Broken("this rank is gone".to_owned())
}

impl End {
    /// The state, once it is this rank's turn; `None` for a rank that is out of the play.
    fn enter(&self, what: &'static str) -> Option<MutexGuard<'_, State>> {
        if self.lone.load(Ordering::Relaxed) > 0 {
            return None;
        }
        let mut state = self.on_turn();
        state.note((self.rank, what));
        if state.is_due(self.rank, &[Plant::Crash, Plant::Stop]) {
            state.gone[self.rank] = state.plant == Plant::Crash;
            self.leave(&mut state);
            return None;
        }
        Some(state)
    }

    fn on_turn(&self) -> MutexGuard<'_, State> {
        let mut state = self.stage.state();
        while state.turn != self.rank {
            state = self.stage.turns[self.rank].wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state
    }

    fn leave(&self, state: &mut State) {
        self.lone.store(1, Ordering::Relaxed);
        state.playing[self.rank] = false;
        // Whoever waits for it may look again.
        state.idle.fill(false);
        state.pass_on();
        self.stage.turns[state.turn].notify_one();
    }
}

impl Wire for End {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.stage.turns.len()
    }

    fn name(&self) -> String {
        "simulation".to_owned()
    }

    fn max_mark(&self) -> u32 {
        32767
    }

    fn send(&self, to: usize, mark: u32, bytes: Vec<u8>) -> Result<Request, Broken> {
        let mut state = self.enter("send").ok_or_else(gone)?;
        state.note((to, mark, &bytes));
        state.post(self.rank, to, mark, bytes);
        state.idle[to] = false;
        state.requests += 1;
        // Even numbers were sent, odd ones are awaited.
        Ok(Request(2 * state.requests))
    }

    fn receive(&self, from: usize, _memory: Vec<u8>) -> Result<Request, Broken> {
        let mut state = self.enter("receive").ok_or_else(gone)?;
        state.requests += 1;
        let request = 2 * state.requests + 1;
        state.awaited.entry((from, self.rank)).or_default().push_back(request);
        Ok(Request(request))
    }

    fn test(&self, request: Request) -> Result<Outcome, Broken> {
        let mut state = self.enter("test").ok_or_else(gone)?;
        if request.0.is_multiple_of(2) {
            return Ok(Outcome::Sent(Vec::new()));
        }
        state.deliver(self.rank);
        let arrived = state.arrived.remove(&(self.rank, request.0));
        Ok(match arrived {
            Some((mark, bytes)) => Outcome::Arrived { mark, bytes },
            None => Outcome::Pending,
        })
    }

    fn tell(&self, to: usize, news: &[u8]) -> Result<(), Broken> {
        let mut state = self.enter("tell").ok_or_else(gone)?;
        let last = state.news.get(&(self.rank, to)).and_then(|queue| queue.back()).map(|(at, _)| *at);
        let at = state.arrival(last);
        state.news.entry((self.rank, to)).or_default().push_back((at, news.to_vec()));
        state.idle[to] = false;
        Ok(())
    }

    fn hear(&self) -> Result<Option<(usize, Vec<u8>)>, Broken> {
        let mut state = self.enter("hear").ok_or_else(gone)?;
        let now = state.now;
        let ours = state.news.iter_mut().filter(|((_, to), _)| *to == self.rank);
        let ready = ours.filter(|(_, queue)| queue.front().is_some_and(|(at, _)| *at <= now));
        let first = ready.map(|((from, _), queue)| (*from, queue)).next();
        Ok(first.and_then(|(from, queue)| queue.pop_front().map(|(_, news)| (from, news))))
    }

    fn now(&self) -> Duration {
        match self.lone.load(Ordering::Relaxed) {
            0 => self.on_turn().now,
            _ => Duration::from_secs(1_000_000 + self.lone.fetch_add(1, Ordering::Relaxed)),
        }
    }

    fn pause(&self, _looks: u32) {
        let Some(mut state) = self.enter("pause") else { return };
        let step = state.below(3);
        state.now += Duration::from_micros(step);
        state.idle[self.rank] = true;
        state.pass_on();
        let turn = state.turn;
        drop(state);
        self.stage.turns[turn].notify_one();
    }
}

impl Drop for End {
    fn drop(&mut self) {
        if let Some(mut state) = self.enter("end") {
            self.leave(&mut state);
        }
    }
}
