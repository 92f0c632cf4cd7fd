//! [`Recorder`]: what a `Loop` collects while it runs its step, and what it prescribes to the evaluations of
//! the step.
//!
//! The function of a step is the user's and calls the array API, which has no parameter for a recorder. So
//! the recorder of the step under way is a thread-local, the only one in the engine that decides what an
//! operation does. Operations of the API read it once ([`Recorder::current`]) and hand it down; nothing
//! below them reads it.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::hash::{BuildHasher, Hash};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use rustc_hash::FxBuildHasher;

use crate::array::memory::storage::{HaloWidths, Storage};
use crate::array::memory::window::ArrayWindow;
use crate::array::record::expr::Map;
use crate::array::record::node::Node;
use crate::array::recorder::streams::StepStreams;
use crate::device::Buffer;
use crate::error::{Error, Result};
use crate::index::Distribution;
use crate::program::{self, Schedule};
use crate::team::Team;
use crate::transport::Exchange;

thread_local! {
    static CURRENT: RefCell<Recorder> = const { RefCell::new(Recorder(None)) };
}

/// The extension of one evaluation of the step, if steps share an exchange.
#[derive(Clone, Debug)]
pub(crate) struct Extension {
    /// The cells computed beyond those that the parts own.
    pub grow: HaloWidths,
    /// Halos that the result's memory needs sooner or later.
    pub room: HaloWidths,
    /// An assignment writes fresh memory, however small its window.
    pub in_fresh_memory: bool,
}

/// A halo to be made current by the step's first exchange.
pub(crate) struct HaloRequest {
    pub node: Arc<Node>,
    pub halo: HaloWidths,
}

/// An operand of an evaluation.
pub(crate) struct OperandRead {
    pub number: u64,
    pub dist: Arc<Distribution>,
    pub node: Weak<Node>,
    pub maps: Vec<Map>,
}

/// A task of a step, bound to the values that it reads and computes. Values are named by their memory's
/// number.
pub(crate) enum BoundTask {
    /// One kernel per part.
    Compute(Box<BoundKernel>),
    /// The same elements in other memory.
    Copy { from: u64, to: u64 },
    /// A window's new elements were put into memory that stays.
    Overwrite { value: u64, whole: u64 },
}

impl BoundTask {
    /// Its kernel, if it has one.
    pub fn kernel(&self) -> Option<&BoundKernel> {
        match self {
            BoundTask::Compute(kernel) => Some(kernel),
            BoundTask::Copy { .. } | BoundTask::Overwrite { .. } => None,
        }
    }
}

/// A kernel with its operands and results.
pub(crate) struct BoundKernel {
    /// That of the results.
    pub frame: ArrayWindow,
    /// That of the kernel: the window's own.
    pub dist: Arc<Distribution>,
    /// Dimensions along which the kernel needs coordinates.
    pub placed: Vec<bool>,
    pub reads: Vec<OperandRead>,
    /// Each result's number and layout.
    pub results: Vec<(u64, Arc<Distribution>)>,
    /// Whether the results are in temporary memory, no larger than the window.
    pub is_temporary: bool,
    /// Whether growing means the same for all results.
    pub is_uniform: bool,
    /// Old values, whose cells outside of the window the results keep.
    pub kept: Vec<(u64, Arc<Distribution>)>,
}

/// One step: prescriptions of the loop, and what the evaluations added.
#[derive(Default)]
pub(crate) struct StepRecord {
    /// The executed commands, if they are recorded.
    pub commands: Option<Schedule>,
    /// Uploaded memory that the recorded commands read: a replay does not repeat uploads.
    pub uploads: Vec<Buffer>,
    /// Other teams whose memory the recorded commands use.
    pub sources: Vec<Team>,
    /// Whether the step shares its exchange with others, or may come to.
    pub shares_exchange: bool,
    /// The tasks of the step, if the loop analyses them.
    pub tasks: Option<Vec<BoundTask>>,
    /// Why the step cannot be one of several between exchanges.
    pub unsupported: Option<String>,
    pub extensions: VecDeque<Extension>,
    pub halo_requests: Vec<HaloRequest>,
    /// A hash of the evaluations and assignments: the same on all ranks, and in all steps that do the same.
    pub outline: u64,
    /// The streams of random numbers that steps draw from, if it is the step of a `Loop`.
    pub streams: Option<StepStreams>,
    /// Values that the next evaluation of the step computes, too.
    pub deferred: Vec<Weak<Node>>,
    /// The number of the first memory that steps of this run made, and those of the state before.
    pub changing: (u64, Vec<u64>),
}

/// A handle to the record of the step under way; without effect outside of steps.
#[derive(Clone, Default)]
pub(crate) struct Recorder(Option<Arc<Mutex<StepRecord>>>);

/// Refuses what a replay of a Loop's step would leave out.
pub(crate) fn check_not_recording(operation: &'static str, given: &str, remedy: &'static str) -> Result<()> {
    if !Recorder::current().is_recording() {
        return Ok(());
    }
    let expected = "a step that only computes, because a replay cannot repeat what the host does";
    Err(Error::invalid(operation, expected, given, remedy))
}

/// Runs `step` and returns the commands that it executed.
///
/// # Errors
/// The step's own; recording inside a recording.
pub fn record(step: impl FnOnce() -> Result<()>) -> Result<Schedule> {
    let recorder = Recorder::begin(StepRecord { commands: Some(Schedule::new()), ..StepRecord::default() })?;
    recorder.within(step)?;
    Ok(recorder.end().commands.unwrap_or_default())
}

/// True on a thread that runs the step of a [`Loop`](crate::array::Loop), which cannot read elements.
pub fn is_recording() -> bool {
    Recorder::current().is_recording()
}

/// Runs a function as if no step of a `Loop` were under way: no replay repeats what it does.
pub fn outside_step<T>(work: impl FnOnce() -> T) -> T {
    Recorder::default().within(work)
}

impl Recorder {
    /// That of the step whose function this thread runs.
    pub fn current() -> Recorder {
        CURRENT.with_borrow(Recorder::clone)
    }

    /// # Errors
    /// Recording inside a recording.
    pub fn begin(record: StepRecord) -> Result<Recorder> {
        if record.commands.is_some() && Recorder::current().is_recording() {
            let (expected, given) = ("a step that runs no other Loop", "a Loop inside a Loop's step");
            return Err(Error::invalid("Loop", expected, given, "run the inner steps directly"));
        }
        Ok(Recorder(Some(Arc::new(Mutex::new(record)))))
    }

    /// Runs the function of a step with this recorder as the current one.
    pub fn within<T>(&self, step: impl FnOnce() -> T) -> T {
        /// The recorder before, also when the step panics.
        struct Restore(Recorder);
        impl Drop for Restore {
            fn drop(&mut self) {
                CURRENT.set(std::mem::take(&mut self.0));
            }
        }
        let _restore = Restore(CURRENT.replace(self.clone()));
        step()
    }

    /// The complete record.
    pub fn end(&self) -> StepRecord {
        self.record().map(|mut record| std::mem::take(&mut *record)).unwrap_or_default()
    }

    fn record(&self) -> Option<MutexGuard<'_, StepRecord>> {
        self.0.as_ref().map(|record| record.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes the streams of random numbers; to be put back.
    pub fn streams(&self) -> Option<StepStreams> {
        self.record()?.streams.take()
    }

    /// Puts the streams of random numbers back.
    pub fn put_streams(&self, streams: StepStreams) {
        if let Some(mut record) = self.record() {
            record.streams = Some(streams);
        }
    }

    /// Whether commands are recorded.
    pub fn is_recording(&self) -> bool {
        self.record().is_some_and(|record| record.commands.is_some())
    }

    /// Has the next evaluation of a `Loop`'s step compute values; whether such a step is recorded.
    pub fn defer<'n>(&self, nodes: impl Iterator<Item = &'n Arc<Node>>) -> bool {
        let record = self.record().filter(|record| record.commands.is_some() && record.streams.is_some());
        record.map(|mut record| record.deferred.extend(nodes.map(Arc::downgrade))).is_some()
    }

    /// Some of the deferred values of which somebody still knows, and that are not computed.
    pub fn take_deferred(&self, of: impl Fn(&Node) -> bool) -> Vec<Arc<Node>> {
        let Some(mut record) = self.record() else { return Vec::new() };
        let due = std::mem::take(&mut record.deferred).into_iter().filter_map(|node| node.upgrade());
        let (taken, left): (Vec<_>, Vec<_>) =
            due.filter(|node| node.storage().is_none()).partition(|node| of(node));
        record.deferred = left.iter().map(Arc::downgrade).collect();
        taken
    }

    /// Whether a value is the same in every step: it was computed before the run and is not of the state.
    pub fn is_constant(&self, value: &Storage) -> bool {
        let is_before = |record: MutexGuard<StepRecord>| {
            value.number < record.changing.0 && !record.changing.1.contains(&value.number)
        };
        self.record().is_some_and(is_before)
    }

    /// Queues commands.
    ///
    /// # Errors
    /// The first command that fails; those after it are not queued.
    pub fn execute(&self, schedule: Schedule) -> Result<()> {
        program::execute(&schedule)?;
        if let Some(commands) = self.record().as_mut().and_then(|record| record.commands.as_mut()) {
            commands.extend(schedule);
        }
        Ok(())
    }

    /// Queues all of an exchange back to back.
    ///
    /// # Errors
    /// As [`Recorder::execute`].
    pub fn exchange(&self, exchange: &Exchange) -> Result<()> {
        if self.is_recording() {
            self.keep(exchange.uploads());
        }
        self.execute(exchange.commands().cloned().collect())
    }

    /// Keeps uploaded memory for replays.
    pub fn keep<'b>(&self, uploads: impl IntoIterator<Item = &'b Buffer>) {
        if let Some(mut record) = self.record().filter(|record| record.commands.is_some()) {
            record.uploads.extend(uploads.into_iter().cloned());
        }
    }

    /// Notes that commands use the memory of a team.
    pub fn note_team(&self, team: &Team) {
        if let Some(mut record) = self.record().filter(|record| !record.sources.contains(team)) {
            record.sources.push(team.clone());
        }
    }

    /// The next fused kernels have taken their extensions.
    pub fn end_extensions(&self, count: usize) {
        if let Some(mut record) = self.record() {
            let count = count.min(record.extensions.len());
            record.extensions.drain(..count);
        }
    }

    /// The halos that are due.
    pub fn take_halo_requests(&self) -> Vec<HaloRequest> {
        self.record().map(|mut record| std::mem::take(&mut record.halo_requests)).unwrap_or_default()
    }

    /// If a step is under way that shares its exchange with others, or may come to: the extensions of the
    /// next fused kernels.
    pub fn shared_exchange(&self) -> Option<Vec<Extension>> {
        let record = self.record().filter(|record| record.shares_exchange)?;
        Some(record.extensions.iter().cloned().collect())
    }

    /// Whether the loop analyses the tasks of the step.
    pub fn is_analysing(&self) -> bool {
        self.record().is_some_and(|record| record.tasks.is_some())
    }

    /// Notes what the step does, so that a step that does something else is known by it.
    pub fn note(&self, work: &impl Hash) {
        if let Some(mut record) = self.record().filter(|record| record.commands.is_some()) {
            record.outline = FxBuildHasher.hash_one((record.outline, FxBuildHasher.hash_one(work)));
        }
    }

    /// Adds a task, if the loop analyses them.
    pub fn note_task(&self, task: impl FnOnce() -> BoundTask) {
        if let Some(tasks) = self.record().as_mut().and_then(|record| record.tasks.as_mut()) {
            tasks.push(task());
        }
    }

    /// Notes that the step cannot be repeated beyond the cells that parts own.
    pub fn mark_unsupported(&self, reason: impl FnOnce() -> String) {
        if let Some(mut record) = self.record() {
            record.unsupported.get_or_insert_with(reason);
        }
    }
}
