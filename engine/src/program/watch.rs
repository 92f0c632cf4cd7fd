//! [`Watched`]: the watch of a rank over steps whose messages its device sends and receives itself, and what
//! is left of them when a rank fails.
//!
//! A device whose neighbour has ended would wait for ever. A thread of each rank watches the others while its
//! device has work. Once one of them fails, it sets a word, `halt`, and then releases the device's waits.
//!
//! Each time that a stream has waited for messages, a kernel of one thread, the latch, copies `halt` to a
//! word that all kernels behind it look at first ([`GuardWord`](crate::device::GuardWord)): if it is not 0,
//! they write nothing. So no kernel runs that was given what never came, and none in part. The same word
//! goes with each message, and the receiver's latch takes it for its own: what a halted device sends is none.
//!
//! The latch also counts the waits that were true. The count says which step was the last whole one; if the
//! steps had not yet written the memory that its state was in, that is put where the arrays expect it.
//! Otherwise, and where launches cannot be guarded, the arrays are lost, and reading them raises. So it is
//! with messages by NCCL, which ends the device's waits by itself as soon as a rank has failed.

use std::collections::{BTreeSet, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use super::nccl::{GRACE, NcclLink};
use crate::device::{Allocation, Buffer, Device, Watch};
use crate::error::{Error, Result};
use crate::wire::{Ranks, job};

/// What the watch of a rank needs.
pub(super) struct Watched {
    /// Whose steps they are.
    pub name: String,
    pub ranks: Ranks,
    pub devices: Vec<WatchedDevice>,
    /// Memory that the steps write.
    pub written: Vec<Arc<Allocation>>,
    /// Of the ranks with messages to or from this one.
    pub processes: Vec<(usize, u64)>,
    /// Those with messages by NCCL, and their connection.
    pub nccl: Option<(BTreeSet<usize>, Arc<NcclLink>)>,
    /// The steps, if all their launches are guarded.
    pub guarded: OnceLock<GuardedSteps>,
    pub state: Mutex<WatchState>,
    pub change: Condvar,
}

/// One of this rank's devices.
pub(super) struct WatchedDevice {
    pub device: Device,
    /// Its memory with words, of which `halt` is the first; none without messages in shared memory.
    pub region: Option<Buffer>,
    /// The words that streams wait for.
    pub words: Vec<u64>,
    /// The count of true waits, words of the latch, and the words that guard launches.
    pub guards: Buffer,
}

impl WatchedDevice {
    pub fn new(device: &Device, region: Option<Buffer>, words: Vec<u64>) -> Result<WatchedDevice> {
        let guards = device.alloc(8 * GUARDS as u64)?;
        device.upload(guards.allocation(), 0, &[0; 8 * GUARDS])?;
        device.wait()?;
        Ok(WatchedDevice { device: device.clone(), region, words, guards })
    }

    /// Lets waits for some words pass.
    fn release(&self, words: &[u64]) {
        let memory = self.region.iter().map(Buffer::allocation);
        memory.for_each(|memory| drop(self.device.release_words(memory, words)));
    }

    /// Its words.
    fn peek(&self) -> Option<Vec<u8>> {
        let bytes = self.words.iter().max().map_or(8, |last| last + 8);
        self.device.peek(self.region.as_ref()?.allocation(), bytes).ok()
    }
}

#[derive(Default)]
pub(super) struct WatchState {
    /// Launches so far, and their steps.
    launches: u64,
    steps: u64,
    /// The launches that are known to have been whole.
    known: u64,
    /// A launch is being handed to the driver, which may wait until its queue has room.
    is_launching: bool,
    /// How many wait for its end: to wake nobody costs a call of the system.
    waiting: usize,
    /// By number: memory written behind so many steps, of which not all are known to have been whole.
    behind: HashMap<u64, (u64, Arc<OnceLock<String>>)>,
    /// A reader has found that the device was halted.
    is_halted: bool,
    is_over: bool,
    /// Why nothing is launched any more.
    failure: Option<String>,
    verdict: Option<Verdict>,
}

/// What is left after a failure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Verdict {
    /// The state after so many steps of the loop.
    Whole(u64),
    Lost,
}

/// The steps of a cycle whose launches are guarded.
pub(crate) struct GuardedSteps {
    /// The steps of the loop before the first of them.
    pub before: u64,
    pub steps: Vec<GuardedStep>,
}

pub(crate) struct GuardedStep {
    pub writes: GuardedWrites,
    /// The memory of the state after it.
    pub after: Vec<Arc<Allocation>>,
    /// Equal for steps that leave the state alike, but for which memory it is in.
    pub layout: usize,
}

/// What a step writes, and when.
#[derive(Default)]
pub(crate) struct GuardedWrites {
    /// By device: how often it waits, for messages or for what another device was given, in it.
    pub waits: Vec<u64>,
    /// The memory that is written, with its device and the number of that one's waits before.
    pub memory: Vec<(usize, u64, u64)>,
}

impl GuardedSteps {
    /// The number of waits of a device in so many steps.
    fn waits(&self, device: usize, steps: u64) -> u64 {
        let first = |count| self.steps.iter().take(count).map(|step| step.writes.waits[device]).sum::<u64>();
        let count = self.steps.len();
        steps / count as u64 * first(count) + first(steps as usize % count)
    }

    /// Whether so many steps were whole where each device had so many true waits.
    fn are_whole(&self, steps: u64, waits: &[u64]) -> bool {
        waits.iter().enumerate().all(|(device, &waits)| waits >= self.waits(device, steps))
    }

    /// Of so many launched steps, which were not all whole, those that were.
    fn whole(&self, launched: u64, waits: &[u64]) -> u64 {
        let (mut whole, mut beyond) = (0, launched);
        while beyond - whole > 1 {
            let middle = whole.midpoint(beyond);
            if self.are_whole(middle, waits) { whole = middle } else { beyond = middle }
        }
        whole
    }

    /// Whether something was written into memory behind so many whole steps: devices may be some waits ahead.
    fn has_written(&self, memory: u64, whole: u64, waits: &[u64]) -> bool {
        let count = self.steps.len() as u64;
        (0..2 * count).any(|ahead| {
            let begun = |&(device, before, id): &(usize, u64, u64)| {
                id == memory && self.waits(device, whole + ahead) + before <= waits[device]
            };
            self.steps[((whole + ahead) % count) as usize].writes.memory.iter().any(begun)
        })
    }

    /// The step that left the state which so many steps leave.
    fn last_of(&self, steps: u64) -> &GuardedStep {
        let count = self.steps.len();
        &self.steps[(steps as usize % count + count - 1) % count]
    }
}

/// The offset of `halt`.
pub(super) const HALT: u64 = 0;

/// The number of words of a device that its latches write: the count of true waits comes first.
pub(super) const GUARDS: usize = 512;

/// The time between two looks.
const LOOK: Duration = Duration::from_millis(10);

impl Watched {
    fn state(&self) -> MutexGuard<'_, WatchState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Launches so many steps, unless a rank has failed.
    pub fn launch(&self, steps: u64, launch: impl FnOnce() -> Result<()>) -> Result<()> {
        {
            let mut state = self.state();
            if let Some(reason) = &state.failure {
                let failure = self.ranks.failure();
                return Err(failure.unwrap_or_else(|| self.error(reason)));
            }
            (state.launches, state.steps, state.is_launching) =
                (state.launches + 1, state.steps + steps, true);
        }
        // Not while the state is locked: the watch must get at it to release a device that is full of work.
        let launched = launch();
        let mut state = self.state();
        state.is_launching = false;
        if launched.is_err() {
            (state.launches, state.steps) = (state.launches - 1, state.steps - steps);
        }
        if state.waiting > 0 {
            self.change.notify_all();
        }
        launched
    }

    /// An error that no other rank reports.
    fn error(&self, reason: &str) -> Error {
        let names: Vec<&str> = self.devices.iter().map(|one| one.device.name()).collect();
        Error::of_driver(&names.join(", "), reason.to_owned())
    }

    /// The state while nothing is being launched.
    fn state_between_launches(&self) -> MutexGuard<'_, WatchState> {
        let mut state = self.state();
        state.waiting += 1;
        let launching = |state: &mut WatchState| state.is_launching;
        let mut state = self.change.wait_while(state, launching).unwrap_or_else(PoisonError::into_inner);
        state.waiting -= 1;
        state
    }

    /// Watches until there is nothing more to watch. If it panics, this rank has failed.
    pub fn watch(&self) {
        let Err(panic) = catch_unwind(AssertUnwindSafe(|| self.watch_ranks())) else { return };
        let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
        let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        let reason = self.error(&format!("the watch over other ranks panicked: {text}")).to_string();
        self.ranks.abort(&reason);
        if catch_unwind(AssertUnwindSafe(|| self.end(&reason))).is_err() {
            // Whatever the devices do, nobody waits for it.
            self.written.iter().for_each(|memory| drop(memory.lost.set(reason.clone())));
            let mut state = self.state();
            (state.failure, state.verdict) = (Some(reason), Some(Verdict::Lost));
            self.change.notify_all();
        }
    }

    fn watch_ranks(&self) {
        let mut done = 0;
        let (mut stopped, mut still): (Stopped, Option<Still>) = Default::default();
        let mut refused: Option<Instant> = None;
        loop {
            let (state, _) =
                self.change.wait_timeout(self.state(), LOOK).unwrap_or_else(PoisonError::into_inner);
            if state.is_over {
                return;
            }
            let (launches, is_halted, is_launching) = (state.launches, state.is_halted, state.is_launching);
            drop(state);
            if !is_halted && !is_launching && (launches == done || self.is_done()) {
                (done, stopped, still) = (launches, HashMap::new(), None);
                continue;
            }
            let failure = self.ranks.poll().err().or_else(|| self.look_for_stopped(&mut stopped));
            let failure = failure.or_else(|| self.look_for_silent(&mut still));
            if let Some(failure) = failure.or_else(|| self.look_at_peers(&mut refused)) {
                return self.end(&failure.to_string());
            }
        }
    }

    /// Whether no device has work. Devices that fail wait no more.
    fn is_done(&self) -> bool {
        self.devices.iter().all(|one| one.device.is_done().unwrap_or(true))
    }

    /// Nothing waits any more.
    pub fn end_watch(&self) {
        self.state().is_over = true;
        self.change.notify_all();
    }

    /// Ends what the device does, and says what is left.
    fn end(&self, reason: &str) {
        // From here on nothing is launched.
        self.state().failure = Some(reason.to_owned());
        // What comes from now on is not true.
        self.devices.iter().for_each(|one| one.release(&[HALT]));
        while self.state().is_launching || !self.is_done() {
            // Words that the device has passed are set back by it, so it may need this several times.
            self.devices.iter().for_each(|one| one.release(&one.words));
            std::thread::sleep(LOOK);
        }
        let (verdict, words) = self.judge(reason);
        self.ranks.remark(&words);
        self.state().verdict = Some(verdict);
        self.change.notify_all();
    }

    /// A rank has failed, and NCCL is about to let the device go on: what it does is worth nothing.
    pub fn halt(&self, reason: &str) {
        let mut state = self.state();
        let is_done = || self.devices.iter().all(|one| one.device.is_done().unwrap_or(false));
        if state.launches > 0 && state.verdict.is_none() && !is_done() {
            state.failure.get_or_insert_with(|| reason.to_owned());
            state.is_halted = true;
            self.change.notify_all();
        }
    }

    /// The failure of NCCL, once nobody has given a better reason for a moment.
    fn look_at_peers(&self, since: &mut Option<Instant>) -> Option<Error> {
        let (peers, link) = self.nccl.as_ref()?;
        let refusal = link.peers().is_ready().err()?;
        if since.get_or_insert_with(Instant::now).elapsed() < GRACE {
            return None;
        }
        Some(self.ranks.fail(peers.first().copied()?, refusal.to_string()))
    }

    /// What is left once the device has done what it was given, in words, too.
    fn judge(&self, reason: &str) -> (Verdict, String) {
        let (steps, behind) = {
            let mut state = self.state();
            (state.steps, std::mem::take(&mut state.behind))
        };
        // What was written behind steps that were all whole is what it should be.
        let waits = self.true_waits().unwrap_or_default();
        let whole = |steps: u64| {
            self.guarded.get().is_some_and(|guarded| !waits.is_empty() && guarded.are_whole(steps, &waits))
        };
        let behind: HashMap<_, _> = behind.into_iter().filter(|(_, (steps, _))| !whole(*steps)).collect();
        let found = self.restored(steps, |memory| behind.contains_key(&memory.id));
        behind.values().for_each(|(_, lost)| drop(lost.set(reason.to_owned())));
        match found {
            Ok(whole) => (Verdict::Whole(whole), format!("the arrays of {} hold step {whole}", self.name)),
            Err(why) => {
                self.written.iter().for_each(|memory| drop(memory.lost.set(reason.to_owned())));
                (Verdict::Lost, format!("the arrays of {} are lost: {why}", self.name))
            }
        }
    }

    /// Puts the state after the last whole step where that after so many launched steps would be; the number
    /// of steps of the loop until then, or why that cannot be.
    fn restored(&self, launched: u64, is_behind: impl Fn(&Allocation) -> bool) -> Result<u64, String> {
        let Some(guarded) = self.guarded.get() else {
            return Err("its launches cannot be guarded".to_owned());
        };
        let true_waits = self.true_waits().map_err(|error| error.to_string())?;
        if guarded.are_whole(launched, &true_waits) {
            return Ok(guarded.before + launched);
        }
        let whole = guarded.whole(launched, &true_waits);
        let (from, to) = (guarded.last_of(whole), guarded.last_of(launched));
        let is_overwritten = |memory: &Arc<Allocation>| guarded.has_written(memory.id, whole, &true_waits);
        let step = guarded.before + whole;
        if from.layout != to.layout || from.after.iter().any(is_overwritten) {
            return Err(format!("step {} had begun to write the memory of step {step}", step + 1));
        }
        if to.after.iter().any(|memory| is_behind(memory)) {
            return Err("they were written after the loop".to_owned());
        }
        let pairs: Vec<_> = from.after.iter().cloned().zip(to.after.iter().cloned()).collect();
        let pairs: Vec<_> = pairs.into_iter().filter(|(from, to)| from.id != to.id).collect();
        for WatchedDevice { device, .. } in &self.devices {
            let own = pairs.iter().filter(|(from, _)| from.device == device.number()).cloned();
            device.copy_contents(&own.collect::<Vec<_>>()).map_err(|error| error.to_string())?;
        }
        Ok(step)
    }

    /// By device.
    fn true_waits(&self) -> Result<Vec<u64>> {
        self.devices.iter().map(|one| one.device.read_word(one.guards.allocation(), 0)).collect()
    }

    /// Waits until the device has done what was launched.
    pub fn wait(&self) {
        let is_open = |state: MutexGuard<WatchState>| state.launches > 0 && state.verdict.is_none();
        while is_open(self.state()) && !self.is_done() {
            std::thread::sleep(Duration::from_micros(200));
        }
    }

    /// The number of steps of the loop whose state its arrays hold, once that is known; `None` if they are
    /// lost.
    pub fn last_whole(&self) -> Option<u64> {
        self.settle(true).ok()?;
        let state = self.state();
        match state.verdict {
            Some(Verdict::Whole(steps)) => Some(steps),
            Some(Verdict::Lost) => None,
            None => self.guarded.get().map(|guarded| guarded.before + state.steps),
        }
    }

    /// The failure of a rank whose device was given nothing for the longest that one waits for another, while
    /// this one's got no further.
    fn look_for_silent(&self, still: &mut Option<Still>) -> Option<Error> {
        let (now, deadline) = (self.ranks.now(), self.ranks.deadline());
        let (peer, _) = *self.processes.first()?;
        let Still { words, since, seen, announced } =
            still.get_or_insert_with(|| Still { words: Vec::new(), since: now, seen: now, announced: 0 });
        let slept = now - *seen;
        // Looked at seldom while it goes on, and often before anything is said.
        let pause = if *announced == 0 { deadline / 16 } else { LOOK };
        if slept < pause {
            return None;
        }
        let found = self.devices.iter().map(WatchedDevice::peek).collect::<Option<Vec<_>>>()?.concat();
        *seen = now;
        // Whoever was stopped itself begins anew.
        if found != *words || slept > deadline / 2 {
            (*words, *since, *announced) = (found, now, 0);
            return None;
        }
        // The second time all have heard of the first.
        let due = if now - *since > deadline / 4 * 3 { 2 } else { u32::from(now - *since > deadline / 2) };
        if due > *announced {
            *announced = due;
            self.ranks.announce_wait(peer);
        }
        (now - *since > deadline).then(|| self.ranks.fail_silent(peer, *since))
    }

    /// The failure of a rank whose process has been stopped for the longest that one waits for another.
    fn look_for_stopped(&self, stopped: &mut Stopped) -> Option<Error> {
        let now = Instant::now();
        for &(rank, process) in &self.processes {
            if !job::is_stopped(process) {
                stopped.remove(&rank);
                continue;
            }
            let deadline = self.ranks.deadline();
            let (since, last) = stopped.entry(rank).or_insert((now, now));
            // Whoever was stopped itself begins anew.
            if now - std::mem::replace(last, now) > deadline / 2 {
                *since = now;
            }
            if now - *since > deadline {
                let seconds = deadline.as_secs();
                let reason =
                    format!("its process has been stopped for {seconds} s while a device waited for it");
                return Some(self.ranks.fail(rank, reason));
            }
        }
        None
    }
}

impl Watch for Watched {
    fn wrote(&self, memory: &Allocation) {
        let mut state = self.state();
        if state.launches > state.known && state.verdict.is_none() {
            let steps = state.steps;
            state.behind.insert(memory.id, (steps, Arc::clone(&memory.lost)));
        }
    }

    fn settle(&self, waits: bool) -> Result<()> {
        let (launches, steps) = {
            let state = self.state_between_launches();
            let is_known = state.failure.is_none() && (state.launches == state.known || !waits);
            if state.verdict.is_some() || is_known {
                return Ok(());
            }
            (state.launches, state.steps)
        };
        if let Some(guarded) = self.guarded.get() {
            let is_whole = guarded.are_whole(steps, &self.true_waits()?);
            let mut state = self.state();
            if is_whole && state.failure.is_none() {
                state.known = launches;
                if state.launches == launches {
                    state.behind.clear();
                }
                return Ok(());
            }
            state.is_halted |= !is_whole;
        } else if self.state().failure.is_none() {
            return Ok(());
        }
        self.change.notify_all();
        let limit = self.ranks.deadline() + Duration::from_secs(5);
        let is_open = |state: &mut WatchState| state.verdict.is_none();
        let waited = self.change.wait_timeout_while(self.state(), limit, is_open);
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        match state.verdict {
            Some(_) => Ok(()),
            None => Err(self.error("a rank failed, which none has named")),
        }
    }
}

/// Words that do not change: since when, by the wire's clock, when they were read last, and how often the
/// other ranks were notified.
struct Still {
    words: Vec<u8>,
    since: Duration,
    seen: Duration,
    announced: u32,
}

/// By rank: since when its process has been stopped, and when that was seen last.
type Stopped = HashMap<usize, (Instant, Instant)>;

#[cfg(test)]
mod tests {
    use super::*;

    fn step(waits: &[u64], memory: &[(usize, u64, u64)]) -> GuardedStep {
        let writes = GuardedWrites { waits: waits.to_vec(), memory: memory.to_vec() };
        GuardedStep { writes, after: Vec::new(), layout: 0 }
    }

    #[test]
    fn true_waits_say_which_step_was_whole() {
        let one = GuardedSteps { before: 7, steps: vec![step(&[2], &[]), step(&[0], &[]), step(&[3], &[])] };
        assert_eq!([0, 1, 2, 3, 4].map(|steps| one.waits(0, steps)), [0, 2, 2, 5, 7]);
        let whole = [0, 1, 2, 3, 4, 5, 6, 7].map(|waits| one.whole(8, &[waits]));
        assert_eq!(whole, [0, 0, 2, 2, 2, 3, 3, 5]);
        // The device that is behind says it.
        let two = GuardedSteps { before: 7, steps: vec![step(&[1, 2], &[]), step(&[1, 2], &[])] };
        assert_eq!([[3, 6], [3, 5], [2, 8], [4, 1]].map(|waits| two.whole(6, &waits)), [3, 2, 2, 0]);
    }

    #[test]
    fn memory_is_written_behind_the_waits_of_its_device() {
        let first = step(&[1, 1], &[(0, 1, 10), (1, 1, 20)]);
        let second = step(&[1, 1], &[(0, 0, 11), (1, 1, 21)]);
        let steps = GuardedSteps { before: 7, steps: vec![first, second] };
        let written =
            |waits: [u64; 2], whole: u64| [10, 20, 11, 21].map(|id| steps.has_written(id, whole, &waits));
        // After two steps: device 0 is in the fourth, device 1 in the third.
        assert_eq!(written([3, 2], 2), [true, false, true, false]);
        assert_eq!(written([2, 2], 2), [false; 4]);
        assert_eq!(written([3, 3], 2), [true, true, true, false]);
        assert_eq!(written([5, 3], 2), [true, true, true, false]);
    }
}
