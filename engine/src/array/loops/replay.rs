//! `Loop`: a step recorded once and replayed. Knows schedules and which memory the state is in.
//!
//! The first step runs as usual, because it may do what later ones need not: give arrays their halos,
//! compute what the step captured. The next ones run while their commands are recorded. Once a step leaves
//! its state as it found it, in other memory, the steps that follow are known, see `cycle`; from then on they
//! are replayed: no recording, no planning, no compiling; on CUDA devices several by one call, see `batches`.
//!
//! Several steps may share an exchange, see `depth`.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use partita_kernels::Scalar;

use crate::array::loops::cycle::{ArrayMemory, Chaining, Cycle, LONGEST_CYCLE, RecordedStep, are_alike};
use crate::array::loops::depth::{Depth, DepthChoice, memory_numbers};
use crate::array::loops::numbers::{Constants, CurrentNumbers, Numbered, Rows, StepClock, StepFunction};
use crate::array::loops::passes::deep_halos::StepTrace;
use crate::array::memory::storage::next_number;
use crate::array::recorder::recording::{Recorder, StepRecord};
use crate::array::recorder::streams::StepStreams;
use crate::array::{Array, eval_all};
use crate::error::{Error, Result};
use crate::interrupt;
use crate::team::Team;
use crate::wire::pass;

/// A step function over a state of arrays, run again and again.
///
/// ```no_run
/// use partita::prelude::*;
/// # fn main() -> partita::Result<()> {
/// let team = Team::local(2)?;
/// let dist = Distribution::builder(&[1000]).parts(2).halo(&[1], &[1]).build()?;
/// let u = Array::zeros(&team, &dist, DType::F32)?;
/// let mut heat = Loop::new(vec![u], |state| {
///     let u = &state[0];
///     let rate = u.slice(&s![..-2]) - 2.0 * u.slice(&s![1..-1]) + u.slice(&s![2..]);
///     let next = u.slice(&s![1..-1]) + 0.1 * rate;
///     state[0].assign(&s![1..-1], &next)
/// });
/// heat.run(1000)?;
/// # Ok(()) }
/// ```
///
/// A number that changes from step to step, such as the time, is given by [`Loop::with_numbers`] and
/// [`Loop::run_with`]. Work that takes long can be ended by [`crate::interrupt`] between steps.
pub struct Loop<F> {
    /// Loops of this process are numbered from 1, for errors.
    number: u64,
    pub(super) state: Vec<Array>,
    step: F,
    recorded: Vec<RecordedStep>,
    /// The constants of the recorded steps, the first one's too.
    constants: Constants,
    /// What steps of this run change; see [`StepRecord::changing`].
    changing: (u64, Vec<u64>),
    pub(super) cycle: Option<Cycle>,
    done: u64,
    /// Whether a run is under way, or was when its step panicked.
    is_running: bool,
    /// The numbers of the steps, if they get some.
    clock: Option<StepClock>,
    /// The streams of random numbers that steps draw from.
    streams: StepStreams,
    queued: Queued,
    depth: DepthChoice,
    /// Whether steps are replayed with their messages in them, on all ranks.
    chaining: Chaining,
}

impl<F: FnMut(&mut [Array]) -> Result<()>> Loop<F> {
    /// A loop over `state`; nothing runs yet. The step assigns to or replaces the arrays it is given,
    /// reads no array on the host, and does the same every time: replayed steps repeat the plain numbers of
    /// the recorded ones. [`Loop::run`] compares the numbers of the first steps and fails where they differ.
    #[doc = example!(
        "let mut growth = Loop::new(vec![u], |state| {"
        "    state[0] *= 2;"
        "    Ok(())"
        "});"
        "growth.run(10)?;"
        "assert_eq!(growth.state()[0].get(&[0, 1])?, 1024.0.into());"
    )]
    pub fn new(state: Vec<Array>, step: F) -> Loop<F> {
        Loop::over(state, step, None)
    }
}

impl<S: FnMut(&mut [Array], &[Array]) -> Result<()>> Loop<Numbered<S>> {
    /// A loop whose step also gets numbers that differ from step to step, such as the time, the number of the
    /// step or a random seed: arrays of one element, which broadcast. [`Loop::run_with`] says what they are.
    /// The devices have the numbers of many steps in a table, and replayed steps find theirs by counting:
    /// nothing is uploaded or recorded anew for a step.
    ///
    /// ```
    /// use partita::prelude::*;
    /// # fn main() -> partita::Result<()> {
    /// let team = Team::on(&[Device::host()], 2)?;
    /// let dist = Distribution::builder(&[4]).parts(2).build()?;
    /// let u = Array::zeros(&team, &dist, DType::F64)?;
    /// let mut sum = Loop::with_numbers(vec![u], |state, numbers| {
    ///     state[0] = &state[0] + &numbers[0];
    ///     Ok(())
    /// });
    /// sum.run_with(101, |k| [k as f64])?;
    /// assert_eq!(sum.state()[0].to_vec::<f64>()?, [5050.0; 4]);
    /// # Ok(()) }
    /// ```
    pub fn with_numbers(state: Vec<Array>, step: S) -> Loop<Numbered<S>> {
        Loop::over(state, Numbered(step), Some(StepClock::default()))
    }
}

impl<F: StepFunction> Loop<F> {
    fn over(state: Vec<Array>, step: F, clock: Option<StepClock>) -> Loop<F> {
        static LOOPS: AtomicU64 = AtomicU64::new(0);
        Loop {
            number: 1 + LOOPS.fetch_add(1, Ordering::Relaxed),
            state,
            step,
            recorded: Vec::new(),
            constants: Constants::default(),
            changing: (0, Vec::new()),
            cycle: None,
            done: 0,
            is_running: false,
            clock,
            streams: StepStreams::default(),
            queued: Queued::new(),
            depth: DepthChoice::new(),
            chaining: Chaining::NotYet,
        }
    }

    /// Exchanges halos once in `steps` steps, with halos so wide that the parts compute what they need of
    /// each other's cells themselves. The results are the same to the bit; messages are fewer and longer. On
    /// the host, so many steps also go through memory together, tile by tile, where the state exceeds the
    /// cache.
    ///
    /// [`Loop::run`] fails after two steps, whose results are right, if the step cannot be run so: halos are
    /// needed along dimensions that are not blocks, or wider than a neighbour's part; the step reduces, or
    /// fetches what no halo holds. More than 131072 steps are refused before any runs.
    #[must_use]
    #[doc = example!(
        "let mut mean = Loop::new(vec![u], |state| {"
        "    let next = (state[0].slice(&s![.., ..-2]) + state[0].slice(&s![.., 2..])) / 2;"
        "    state[0].assign(&s![.., 1..-1], &next)"
        "})"
        ".depth(2);"
        "mean.run(4)?;"
    )]
    pub fn depth(mut self, steps: usize) -> Loop<F> {
        self.depth.wanted = Depth::Steps(steps);
        self
    }

    /// As [`Loop::depth`], with as many steps as the loop's own first steps show to be fastest: some dozens
    /// of them are timed, with an exchange in each and with one in several. Where steps cannot share an
    /// exchange, each has its own; [`Loop::explain`] says why. All ranks do what rank 0 finds.
    #[must_use]
    #[doc = example!("let mut same = Loop::new(vec![u], |_| Ok(())).auto_depth();" "same.run(3)?;")]
    pub fn auto_depth(mut self) -> Loop<F> {
        self.depth.wanted = Depth::Auto;
        self
    }

    /// The state after the steps run so far.
    #[doc = example!(
        "let same = Loop::new(vec![u.clone()], |_| Ok(()));"
        "assert!(same.state()[0].is_same(&u));"
    )]
    pub fn state(&self) -> &[Array] {
        &self.state
    }

    /// Steps run so far.
    #[doc = example!(
        "let mut same = Loop::new(vec![u], |_| Ok(()));"
        "same.run(3)?;"
        "assert_eq!(same.steps(), 3);"
    )]
    pub fn steps(&self) -> u64 {
        self.done
    }

    /// True once steps are replayed rather than run through the step function.
    #[doc = example!(
        "let mut growth = Loop::new(vec![u], |state| {"
        "    state[0] += 1;"
        "    Ok(())"
        "});"
        "growth.run(20)?;"
        "assert!(growth.is_replaying());"
    )]
    pub fn is_replaying(&self) -> bool {
        self.cycle.is_some()
    }

    /// The number of steps that share an exchange from now on.
    #[doc = example!("assert_eq!(Loop::new(vec![u], |_| Ok(())).steps_per_exchange(), 1);")]
    pub fn steps_per_exchange(&self) -> usize {
        self.depth.steps_per_exchange()
    }

    /// The number of steps that share an exchange, with which halos, and why, in words.
    #[doc = example!("assert!(!Loop::new(vec![u], |_| Ok(())).explain().is_empty());")]
    pub fn explain(&self) -> String {
        let mut text = self.depth.to_string();
        if self.cycle.as_ref().is_some_and(Cycle::is_tiled) {
            text.push_str("; steps go through the host's memory tile by tile");
        }
        if self.chaining == Chaining::Under {
            text.push_str("; devices exchange messages inside the steps (CUDA IPC), and no host waits");
        }
        text
    }

    /// Runs `count` steps. Work on devices may still be under way afterwards.
    ///
    /// # Errors
    /// The step's own errors, or a device's; a depth that the step cannot have, see [`Loop::depth`]; more
    /// steps in all than a u64 counts; a plain number that was another one in an earlier step, found within
    /// the first steps, whose results are right. What a step did before it failed or panicked stays done, and
    /// a further run begins with a whole step.
    #[doc = example!(
        "let mut growth = Loop::new(vec![u], |state| {"
        "    state[0] += 1;"
        "    Ok(())"
        "});"
        "growth.run(2)?;"
        "growth.run(3)?;"
        "assert_eq!(growth.state()[0].get(&[0, 0])?, 5.0.into());"
    )]
    pub fn run(&mut self, count: u64) -> Result<()> {
        if self.clock.is_some() {
            let remedy = "say which numbers they get with run_with";
            return Err(Error::invalid("Loop::run", "a step without numbers", "one that gets some", remedy));
        }
        self.run_by(count, &mut |_| Vec::new())
    }

    /// Runs `count` steps of a loop [`with_numbers`](Loop::with_numbers): step `k` of this run, counted from
    /// 0, gets the numbers `numbers(k)`. All steps of a run get as many numbers of the same types, and all
    /// ranks pass the same. `numbers` is called for up to 1024 steps ahead.
    ///
    /// # Errors
    /// As [`Loop::run`]; numbers of other types than those of the first step; a loop without numbers.
    pub fn run_with<N>(&mut self, count: u64, mut numbers: impl FnMut(u64) -> N) -> Result<()>
    where
        N: IntoIterator<Item: Into<Scalar>>,
    {
        if self.clock.is_none() {
            let remedy = "make the loop by Loop::with_numbers, or use run";
            return Err(Error::invalid("Loop::run_with", "a step that gets numbers", "one without", remedy));
        }
        self.run_by(count, &mut |k| numbers(k).into_iter().map(Into::into).collect())
    }

    /// Runs `count` steps, and calls `callback` after every `every` of them and at the end, with the state
    /// and the number of steps that this run has done. It may read the arrays.
    ///
    /// ```no_run
    /// # fn progress(mut heat: partita::Loop<impl partita::array::StepFunction>) -> partita::Result<()> {
    /// heat.run_every(10_000, 1000, |state, done| {
    ///     println!("{done} steps: {}", state[0].max(&[]).item::<f32>()?);
    ///     Ok(())
    /// })
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Loop::run`]; the callback's, which end the run after whole steps; `every` of 0.
    pub fn run_every(
        &mut self,
        count: u64,
        every: u64,
        mut callback: impl FnMut(&[Array], u64) -> Result<()>,
    ) -> Result<()> {
        if every == 0 {
            let remedy = "call it after every step or after several";
            return Err(Error::invalid("Loop::run_every", "at least 1 step", "0", remedy));
        }
        let mut done = 0;
        while done < count {
            let steps = every.min(count - done);
            self.run(steps)?;
            done += steps;
            callback(&self.state, done)?;
        }
        Ok(())
    }

    fn run_by(&mut self, count: u64, numbers: Rows) -> Result<()> {
        let Some(end) = self.done.checked_add(count) else {
            let expected = format!("at most {} further steps after {}", u64::MAX - self.done, self.done);
            let remedy = "run fewer steps, in several runs if need be";
            return Err(Error::invalid("Loop::run", expected, count.to_string(), remedy));
        };
        self.depth.check()?;
        if self.is_running {
            self.begin_anew();
        }
        self.is_running = true;
        let mut outcome = self.run_until(end, numbers);
        if outcome.is_err() {
            if let Some(whole) = self.cycle.as_ref().and_then(Cycle::last_whole) {
                self.done = whole;
            }
            // It says by now what this rank's arrays hold.
            let failure = || self.state.first()?.node.team.wire()?.failure();
            if let (Err(Error::Rank { .. }), Some(failure)) = (&outcome, failure()) {
                outcome = Err(failure);
            }
            // The recorded steps no longer lead to the state's memory, nor are halos as wide as after them.
            self.begin_anew();
        }
        self.is_running = false;
        outcome
    }

    fn run_until(&mut self, end: u64, numbers: Rows) -> Result<()> {
        let (count, team) = (end - self.done, self.state.first().map(|array| array.node.team.clone()));
        self.queued.begin_run();
        let held = self.state.iter().filter_map(|array| Some(array.node.storage()?.number));
        self.changing = (next_number(), held.collect());
        if let (Some(clock), Some(team)) = (&mut self.clock, &team)
            && clock.begin_run(team, count, numbers)?
        {
            self.begin_anew();
        }
        self.chaining = Chaining::NotYet;
        self.agree(|| format!("Loop::run of {count} steps"))?;
        self.run_agreed(end, numbers).inspect_err(|error| {
            // The devices of other ranks may wait for this one.
            if let (Some(ranks), Chaining::Under) = (team.as_ref().and_then(Team::wire), self.chaining) {
                ranks.abort(&error.to_string());
            }
        })
    }

    fn run_agreed(&mut self, end: u64, numbers: Rows) -> Result<()> {
        let (count, team) = (end - self.done, self.state.first().map(|array| array.node.team.clone()));
        while self.done < end {
            interrupt::check("Loop::run")?;
            if self.depth.decide(&self.state)? {
                self.begin_anew();
            }
            let began = self.depth.begin_timing(&self.state)?;
            if self.chaining != Chaining::Under {
                self.forget_seen();
                let ran = count - (end - self.done);
                if self.chaining == Chaining::NotYet && ran.is_power_of_two() && ran >= FIRST_ASKED {
                    self.agree(|| format!("step {ran} of Loop::run"))?;
                }
            }
            if self.streams.begin()? {
                self.begin_anew();
            }
            let mut left = if self.depth.is_measuring() { 1 } else { end - self.done };
            if let (Some(clock), Some(team)) = (&mut self.clock, &team) {
                left = left.min(clock.refill(team, count, numbers)?);
            }
            let mut recorded = None;
            let steps = match (&mut self.cycle, &team) {
                (Some(cycle), Some(team)) => {
                    let replay = || cycle.replay(team, &mut self.state, left);
                    let steps = interrupt::uninterrupted(|| team.together("Loop", replay))?;
                    self.clock.iter_mut().for_each(|clock| clock.replayed(steps));
                    self.streams.replayed(steps);
                    self.queued.keep_few(team, steps)?;
                    steps
                }
                _ => {
                    recorded = Some(interrupt::uninterrupted(|| self.run_and_record())?);
                    1
                }
            };
            self.depth.end_timing(began, &self.state)?;
            self.depth.phase = (self.depth.phase + steps as usize) % self.steps_per_exchange();
            self.done += steps;
            if let Some(recorded) = recorded {
                self.keep(recorded)?;
            }
        }
        Ok(())
    }

    /// Values that share the state's memory cannot be moved elsewhere: steps are recorded anew.
    fn forget_seen(&mut self) {
        if self.state.iter().any(|array| array.node.storage().is_some_and(|storage| storage.is_seen())) {
            self.cycle = None;
            self.recorded.clear();
        }
    }

    /// Agrees with the other ranks whether steps are replayed with their messages in them. Where CUDA devices
    /// of several ranks share memory, every run begins so: a device would wait for ever for a rank that does
    /// something else. All ranks ask at the same steps of a run, whatever each did before.
    fn agree(&mut self, operation: impl FnOnce() -> String) -> Result<()> {
        let Some(team) = self.state.first().map(|array| array.team().clone()) else { return Ok(()) };
        let Some(ranks) = team.wire().filter(|_| team.shares_cuda_memory()) else { return Ok(()) };
        self.forget_seen();
        team.together("Loop", || {
            let (mut own, place) = self.cycle.as_ref().map_or((Chaining::NotYet, [0; 2]), Cycle::chaining);
            if own == Chaining::Ready {
                // Memory of earlier messages may be used again once no device has anything under way.
                team.wait()?;
            }
            let mine: Vec<u8> = [own as u64].iter().chain(&place).flat_map(|n| n.to_le_bytes()).collect();
            let all = ranks.all_gather(&operation(), &mine)?;
            own = match own {
                _ if all.iter().any(|rank| rank.first() == Some(&(Chaining::Never as u8))) => Chaining::Never,
                Chaining::Ready | Chaining::Under if all.iter().all(|rank| *rank == mine) => own,
                _ => Chaining::NotYet,
            };
            match (&mut self.cycle, own) {
                (Some(cycle), Chaining::Ready) => {
                    own = if cycle.chain(&format!("Loop {}", self.number), ranks, self.done)? {
                        Chaining::Under
                    } else {
                        Chaining::Never
                    };
                }
                (Some(cycle), Chaining::Never | Chaining::NotYet) => cycle.unchain(),
                _ => {}
            }
            self.chaining = own;
            Ok(())
        })
    }

    /// The next step exchanges, and steps are recorded anew.
    fn begin_anew(&mut self) {
        if self.chaining == Chaining::Under {
            self.chaining = Chaining::NotYet;
        }
        self.cycle = None;
        self.recorded.clear();
        self.constants = Constants::default();
        self.depth.phase = 0;
    }

    /// Runs the step function; gives what it recorded.
    fn run_step(&mut self) -> Result<StepRecord> {
        let streams = Some(std::mem::take(&mut self.streams));
        let changing = self.changing.clone();
        let prescribed = self.depth.prescribe(self.done, &self.state);
        let recorder = Recorder::begin(StepRecord { streams, changing, ..prescribed })?;
        let trace = match recorder.is_analysing() {
            true => Some(StepTrace::begin(memory_numbers(&self.state)?)),
            false => None,
        };
        let given = match &mut self.clock {
            Some(clock) => clock.begin_step(&recorder)?,
            None => CurrentNumbers::default(),
        };
        let (state, step) = (&mut self.state, &mut self.step);
        recorder.within(|| {
            step.take(state, &given.arrays)?;
            // Elements that it assigned to other arrays may be due, too.
            let deferred: Vec<Array> = recorder.take_deferred(|_| true).into_iter().map(Array::of).collect();
            eval_all(&state.iter().chain(&deferred).collect::<Vec<&Array>>())
        })?;
        let mut record = recorder.end();
        self.streams = record.streams.take().unwrap_or_default();
        self.streams.end()?;
        self.depth.learn(trace, &mut record, &self.state)?;
        Ok(record)
    }

    fn run_and_record(&mut self) -> Result<RecordedStep> {
        if let Some(array) = self.state.first() {
            array.team().together("Loop", || pass("loop-record"))?;
        }
        eval_state(&self.state)?;
        let sent = |state: &[Array]| state.first().map_or(0, |array| array.team().messages());
        let (before, messages) = (ArrayMemory::of(&self.state)?, sent(&self.state));
        let StepRecord { commands, uploads, sources, outline, .. } = self.run_step()?;
        let (after, messages) = (ArrayMemory::of(&self.state)?, sent(&self.state) - messages);
        let (phase, schedule) = (self.depth.phase, commands.unwrap_or_default());
        Ok(RecordedStep { phase, before, after, schedule, uploads, sources, messages, outline })
    }

    /// Keeps a step that ran, for replaying.
    fn keep(&mut self, recorded: RecordedStep) -> Result<()> {
        self.constants.compare(self.done, &recorded.schedule, &recorded.after)?;
        // The first step may compute or widen arrays once and for all: it is not for replaying.
        if self.done == 1 || self.streams.has_plain {
            return Ok(());
        }
        self.recorded.push(recorded);
        let (depth, phase) = (self.steps_per_exchange(), self.depth.phase);
        if self.recorded.len() > 2 * LONGEST_CYCLE * depth {
            self.recorded.drain(..depth);
        }
        // One step alone says nothing of what changes from step to step.
        let Some((begin, period)) = repeating(&self.recorded) else { return Ok(()) };
        let now = ArrayMemory::of(&self.state)?;
        let is_now = |step: &RecordedStep| step.phase == phase && are_alike(&step.before, &now);
        let count = self.recorded.len();
        let found = |&first: &usize| (count - first).is_multiple_of(period) && is_now(&self.recorded[first]);
        if let Some(first) = (begin..count).rev().find(found) {
            // Steps that read numbers of their own do not go through tiles together.
            let ticks = self.clock.as_ref().is_some_and(StepClock::ticks) || self.streams.is_used();
            self.cycle = Cycle::prepare(&self.recorded[first..], &self.state, if ticks { 1 } else { depth })?;
        }
        if self.cycle.is_some() {
            self.recorded.clear();
        }
        Ok(())
    }
}

/// The first step of a run before which ranks ask each other again; the next is the double, and so on.
const FIRST_ASKED: u64 = 8;

/// The first of the steps that repeat, and their period. They are at least two periods, and more than the
/// steps before them, which may differ. `None` if no steps repeat yet.
fn repeating(steps: &[RecordedStep]) -> Option<(usize, usize)> {
    (1..=steps.len() / 2).find_map(|period| {
        let differs = |at: &usize| steps[*at].outline != steps[*at - period].outline;
        let begin = (period..steps.len()).rev().find(differs).map_or(0, |at| at - period + 1);
        let count = steps.len() - begin;
        (count >= 2 * period && count > begin).then_some((begin, period))
    })
}

fn eval_state(state: &[Array]) -> Result<()> {
    eval_all(&state.iter().collect::<Vec<&Array>>())
}

/// Limits the number of queued steps, so that an interrupt takes effect soon: waits for the devices from
/// time to time.
struct Queued {
    /// Steps since the devices were waited for.
    steps: u64,
    /// The most steps, so that they take about [`AHEAD`].
    most: u64,
    since: Instant,
}

/// The time that devices work on their own.
const AHEAD: Duration = Duration::from_millis(50);

impl Queued {
    fn new() -> Queued {
        Queued { steps: 0, most: 1, since: Instant::now() }
    }

    /// A run begins: the time since the last one is not that of steps, unless some are under way.
    fn begin_run(&mut self) {
        if self.steps == 0 {
            self.since = Instant::now();
        }
    }

    /// Waits once the devices have work for long.
    fn keep_few(&mut self, team: &Team, steps: u64) -> Result<()> {
        self.steps += steps;
        if self.steps < self.most || !interrupt::is_installed() {
            return Ok(());
        }
        team.wait()?;
        let taken = self.since.elapsed().max(Duration::from_micros(1));
        let fit = self.steps as f64 * AHEAD.as_secs_f64() / taken.as_secs_f64();
        // Slowly upwards: the next steps may take longer than these.
        *self = Queued { steps: 0, most: (fit as u64).clamp(1, 2 * self.most), since: Instant::now() };
        Ok(())
    }
}
