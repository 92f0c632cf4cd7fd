//! A deterministic simulation of a wire: ranks are threads of which one runs at a time, time is virtual, and
//! a seed decides who runs next, how long each message takes, and where a fault is planted. The same seed
//! gives the same run, which its trace's hash shows.
//!
//! Messages from one rank to another keep their order, as on every wire; those of different pairs do not. A
//! rank yields its turn when it pauses, and every wait pauses.
#![allow(dead_code, missing_docs)]

use std::collections::{BTreeMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use partita::wire::{Outcome, Ranks, Request, Wire, WireError};

/// The fault of a run, which happens once, at a moment that the seed chooses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum PlantedFault {
    /// Nothing.
    #[default]
    Nothing,
    /// A rank is gone without any message.
    Crash,
    /// A rank never runs again, as if it were stopped.
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

/// A summary of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SimTrace {
    /// The hash of all events in order.
    pub hash: u64,
    /// The number of events.
    pub events: u64,
    /// The simulated time it took.
    pub took: Duration,
    /// The rank that the fault hit, if its moment came.
    pub planted: Option<usize>,
}

/// Runs a program on so many ranks under one seed; what it returns on each, or its panic.
pub fn run<T: Send>(
    ranks: usize,
    seed: u64,
    fault: PlantedFault,
    program: impl Fn(Ranks) -> T + Sync,
) -> (Vec<std::thread::Result<T>>, SimTrace) {
    let simulation = Arc::new(Simulation::new(ranks, seed, fault));
    let program = &program;
    let results = std::thread::scope(|scope| {
        let start = |rank| {
            let end = SimEndpoint {
                rank,
                simulation: Arc::clone(&simulation),
                detached_seconds: AtomicU64::new(0),
            };
            scope.spawn(move || program(Ranks::with_deadline(end, Duration::from_secs(30))))
        };
        let running: Vec<_> = (0..ranks).map(start).collect();
        running.into_iter().map(std::thread::ScopedJoinHandle::join).collect()
    });
    let state = simulation.state();
    (
        results,
        SimTrace {
            hash: state.trace.finish(),
            events: state.events,
            took: state.now,
            planted: state.planted,
        },
    )
}

struct Simulation {
    state: Mutex<SimState>,
    turns: Vec<Condvar>,
}

/// Sender and receiver.
type Pair = (usize, usize);

#[derive(Default)]
struct SimState {
    random: u64,
    now: Duration,
    turn: usize,
    /// Which ranks still run.
    running: Vec<bool>,
    gone: Vec<bool>,
    /// Which ranks have tested without success since something last changed.
    idle: Vec<bool>,
    /// By sender and receiver, with the time of arrival.
    data: BTreeMap<Pair, VecDeque<(Duration, u32, Vec<u8>)>>,
    control: BTreeMap<Pair, VecDeque<(Duration, Vec<u8>)>>,
    posted: BTreeMap<Pair, VecDeque<u64>>,
    arrived: BTreeMap<(usize, u64), (u32, Vec<u8>)>,
    requests: u64,
    /// The last message of each pair.
    before: BTreeMap<Pair, Vec<u8>>,
    fault: PlantedFault,
    /// Messages, or calls of a rank, until it happens.
    countdown: u64,
    planted: Option<usize>,
    trace: DefaultHasher,
    events: u64,
}

impl Simulation {
    fn new(ranks: usize, seed: u64, fault: PlantedFault) -> Simulation {
        let mut state = SimState {
            // Any number but 0 will do; near seeds must give far beginnings.
            random: (seed ^ 0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9) | 1,
            running: vec![true; ranks],
            gone: vec![false; ranks],
            idle: vec![false; ranks],
            fault,
            ..SimState::default()
        };
        state.turn = state.below(ranks as u64) as usize;
        state.countdown = state.below(match fault {
            PlantedFault::Crash | PlantedFault::Stop => 60,
            _ => 12,
        });
        Simulation { state: Mutex::new(state), turns: (0..ranks).map(|_| Condvar::new()).collect() }
    }

    fn state(&self) -> MutexGuard<'_, SimState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SimState {
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

    /// Whether the fault happens now, to this rank.
    fn is_due(&mut self, rank: usize, faults: &[PlantedFault]) -> bool {
        if self.planted.is_some() || !faults.contains(&self.fault) {
            return false;
        }
        let due = self.countdown == 0;
        self.countdown = self.countdown.saturating_sub(1);
        if due {
            self.planted = Some(rank);
        }
        due
    }

    /// Chooses the rank that runs next among those that may make progress. If there is none, advances the
    /// time to the next arrival.
    fn schedule_next(&mut self) {
        let busy = |state: &SimState| -> Vec<usize> {
            (0..state.running.len()).filter(|&rank| state.running[rank] && !state.idle[rank]).collect()
        };
        let mut next = busy(self);
        if next.is_empty() {
            let now = self.now;
            let times = self.data.values().flatten().map(|(at, ..)| *at);
            let times = times.chain(self.control.values().flatten().map(|(at, _)| *at));
            self.now = times.filter(|at| *at > now).min().unwrap_or(now + Duration::from_millis(250));
            self.idle.fill(false);
            next = busy(self);
        }
        if !next.is_empty() {
            self.turn = next[self.below(next.len() as u64) as usize];
        }
    }

    fn post(&mut self, from: usize, to: usize, tag: u32, mut bytes: Vec<u8>) {
        let whole = bytes.clone();
        let queue = self.data.entry((from, to)).or_default();
        let last = queue.back().map(|(at, ..)| *at);
        let waiting = queue.len();
        let at = self.arrival(last);
        let before = self.before.insert((from, to), whole);
        let old = before.filter(|old| old.len() == bytes.len() && *old != bytes);
        let twice = self.is_due(from, &[PlantedFault::Twice]);
        if !bytes.is_empty() && self.is_due(from, &[PlantedFault::Short]) {
            bytes.pop();
        }
        if let Some(old) = old
            && self.is_due(from, &[PlantedFault::Stale])
        {
            bytes = old;
        }
        let overtakes = waiting > 0 && self.is_due(from, &[PlantedFault::Overtaken]);
        let lost = self.is_due(from, &[PlantedFault::Lost]);
        let Some(queue) = self.data.get_mut(&(from, to)).filter(|_| !lost && !self.gone[to]) else { return };
        match (overtakes, twice) {
            (true, _) => {
                let first = queue.len() - 1;
                queue.insert(first, (at, tag, bytes));
            }
            (_, true) => queue.extend([(at, tag, bytes.clone()), (at, tag, bytes)]),
            _ => queue.push_back((at, tag, bytes)),
        }
    }

    /// Assigns arrived messages to the posted receives, in order.
    fn deliver(&mut self, to: usize) {
        let now = self.now;
        for ((from, _), requests) in self.posted.iter_mut().filter(|((_, rank), _)| *rank == to) {
            let Some(queue) = self.data.get_mut(&(*from, to)) else { continue };
            while queue.front().is_some_and(|(at, ..)| *at <= now) {
                let Some(request) = requests.pop_front() else { break };
                if let Some((_, tag, bytes)) = queue.pop_front() {
                    self.arrived.insert((to, request), (tag, bytes));
                }
            }
        }
    }
}

/// One rank's end.
struct SimEndpoint {
    rank: usize,
    simulation: Arc<Simulation>,
    /// Its own time in seconds, plus 1, once this rank has left the simulation; 0 before.
    detached_seconds: AtomicU64,
}

/// The error on a rank that is gone.
fn gone() -> WireError {
    WireError("this rank is gone".to_owned())
}

impl SimEndpoint {
    /// The state, once it is this rank's turn; `None` for a rank that has left the simulation.
    fn enter(&self, what: &'static str) -> Option<MutexGuard<'_, SimState>> {
        if self.detached_seconds.load(Ordering::Relaxed) > 0 {
            return None;
        }
        let mut state = self.on_turn();
        state.note((self.rank, what));
        if state.is_due(self.rank, &[PlantedFault::Crash, PlantedFault::Stop]) {
            state.gone[self.rank] = state.fault == PlantedFault::Crash;
            self.leave(&mut state);
            return None;
        }
        Some(state)
    }

    fn on_turn(&self) -> MutexGuard<'_, SimState> {
        let mut state = self.simulation.state();
        while state.turn != self.rank {
            state = self.simulation.turns[self.rank].wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state
    }

    fn leave(&self, state: &mut SimState) {
        self.detached_seconds.store(1, Ordering::Relaxed);
        state.running[self.rank] = false;
        // Ranks that wait for it may test again.
        state.idle.fill(false);
        state.schedule_next();
        self.simulation.turns[state.turn].notify_one();
    }
}

impl Wire for SimEndpoint {
    fn rank(&self) -> usize {
        self.rank
    }

    fn ranks(&self) -> usize {
        self.simulation.turns.len()
    }

    fn name(&self) -> String {
        "simulation".to_owned()
    }

    fn max_tag(&self) -> u32 {
        32767
    }

    fn send(&self, to: usize, tag: u32, bytes: Vec<u8>) -> Result<Request, WireError> {
        let mut state = self.enter("send").ok_or_else(gone)?;
        state.note((to, tag, &bytes));
        state.post(self.rank, to, tag, bytes);
        state.idle[to] = false;
        state.requests += 1;
        // Even numbers were sent, odd ones are posted.
        Ok(Request(2 * state.requests))
    }

    fn receive(&self, from: usize, _memory: Vec<u8>) -> Result<Request, WireError> {
        let mut state = self.enter("receive").ok_or_else(gone)?;
        state.requests += 1;
        let request = 2 * state.requests + 1;
        state.posted.entry((from, self.rank)).or_default().push_back(request);
        Ok(Request(request))
    }

    fn test(&self, request: Request) -> Result<Outcome, WireError> {
        let mut state = self.enter("test").ok_or_else(gone)?;
        if request.0.is_multiple_of(2) {
            return Ok(Outcome::Sent(Vec::new()));
        }
        state.deliver(self.rank);
        let arrived = state.arrived.remove(&(self.rank, request.0));
        Ok(match arrived {
            Some((tag, bytes)) => Outcome::Arrived { tag, bytes },
            None => Outcome::Pending,
        })
    }

    fn send_control(&self, to: usize, message: &[u8]) -> Result<(), WireError> {
        let mut state = self.enter("send_control").ok_or_else(gone)?;
        let last = state.control.get(&(self.rank, to)).and_then(|queue| queue.back()).map(|(at, _)| *at);
        let at = state.arrival(last);
        state.control.entry((self.rank, to)).or_default().push_back((at, message.to_vec()));
        state.idle[to] = false;
        Ok(())
    }

    fn receive_control(&self) -> Result<Option<(usize, Vec<u8>)>, WireError> {
        let mut state = self.enter("receive_control").ok_or_else(gone)?;
        let now = state.now;
        let ours = state.control.iter_mut().filter(|((_, to), _)| *to == self.rank);
        let ready = ours.filter(|(_, queue)| queue.front().is_some_and(|(at, _)| *at <= now));
        let first = ready.map(|((from, _), queue)| (*from, queue)).next();
        Ok(first.and_then(|(from, queue)| queue.pop_front().map(|(_, message)| (from, message))))
    }

    fn now(&self) -> Duration {
        match self.detached_seconds.load(Ordering::Relaxed) {
            0 => self.on_turn().now,
            _ => Duration::from_secs(1_000_000 + self.detached_seconds.fetch_add(1, Ordering::Relaxed)),
        }
    }

    fn pause(&self, _spins: u32) {
        let Some(mut state) = self.enter("pause") else { return };
        let step = state.below(3);
        state.now += Duration::from_micros(step);
        state.idle[self.rank] = true;
        state.schedule_next();
        let turn = state.turn;
        drop(state);
        self.simulation.turns[turn].notify_one();
    }
}

impl Drop for SimEndpoint {
    fn drop(&mut self) {
        if let Some(mut state) = self.enter("end") {
            self.leave(&mut state);
        }
    }
}
