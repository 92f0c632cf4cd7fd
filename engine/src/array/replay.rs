//! `Loop`: a step recorded once and replayed. Knows schedules and which memory the state is in.
//!
//! The first step runs as usual, because it may do what later ones need not: give arrays their halos,
//! compute what the step captured. The next ones run while their commands are recorded. Memory reuse
//! is deterministic, so after a few steps the state is back in the memory it started in (ping-pong:
//! two steps); from then on steps are replayed: no recording, no planning, no compiling.

use std::sync::Arc;

use partita_kernels::Access;

use super::Array;
use super::node::Node;
use super::storage::{Fresh, Storage};
use crate::device::{Allocation, Arena, Buffer, Device, Job, Lane, Recording};
use crate::error::Result;
use crate::index::Distribution;
use crate::program::{Command, Schedule, execute, queue, record, run, take_kept};
use crate::team::Team;
use crate::trace;
use crate::wire::pass;

/// Steps after which a loop that has not come back to its first memory runs without replaying.
const MAX_RECORDED: usize = 16;

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
pub struct Loop<F> {
    state: Vec<Array>,
    step: F,
    arena: Arena,
    recorded: Vec<Recorded>,
    cycle: Option<Cycle>,
    done: u64,
}

/// Which memory the state is in, how it lies there, and how fresh its halos are.
type Signature = Vec<(Vec<Option<u64>>, Arc<Distribution>, Fresh)>;

/// One step that ran: the state's memory before it, its commands with what they read that no command
/// writes, and the state after it.
struct Recorded {
    before: Signature,
    schedule: Schedule,
    kept: Vec<Buffer>,
    messages: u64,
    after: Vec<Snapshot>,
}

/// An array's memory, held without a lease so that the recorded steps themselves can reuse it.
struct Snapshot {
    dist: Arc<Distribution>,
    parts: Vec<Option<Arc<Allocation>>>,
    fresh: Fresh,
}

/// Steps after which the state is back where it was. Holds every memory the steps touch.
struct Cycle {
    steps: Vec<Prepared>,
    next: usize,
    _leases: Vec<Buffer>,
}

/// One step of the cycle, ready to be queued.
struct Prepared {
    batches: Vec<Batch>,
    messages: u64,
    after: Vec<After>,
}

type After = (Arc<Distribution>, Vec<Option<Buffer>>, Fresh);

enum Batch {
    Jobs(Device, Lane, Recording),
    Single(Command),
}

impl<F: FnMut(&mut [Array]) -> Result<()>> Loop<F> {
    /// A loop over `state`; nothing runs yet. The step assigns to or replaces the arrays it is given,
    /// reads no array on the host, and does the same every time.
    pub fn new(state: Vec<Array>, step: F) -> Loop<F> {
        Loop { state, step, arena: Arena::new(), recorded: Vec::new(), cycle: None, done: 0 }
    }

    /// The state after the steps run so far.
    pub fn state(&self) -> &[Array] {
        &self.state
    }

    /// Steps run so far.
    pub fn steps(&self) -> u64 {
        self.done
    }

    /// True once steps are replayed rather than run through the step function.
    pub fn is_replaying(&self) -> bool {
        self.cycle.is_some()
    }

    /// Runs `count` steps. Work on devices may still be under way afterwards.
    ///
    /// # Errors
    /// The step's own errors, or a device's.
    pub fn run(&mut self, count: u64) -> Result<()> {
        for _ in 0..count {
            match &mut self.cycle {
                Some(cycle) => {
                    if let Some(team) = self.state.first().map(|array| array.node.team.clone()) {
                        team.together("Loop", || cycle.replay(&team, &mut self.state))?;
                    }
                }
                None if self.recorded.len() < MAX_RECORDED => self.run_and_record()?,
                None => (self.step)(&mut self.state)?,
            }
            self.done += 1;
        }
        Ok(())
    }

    fn run_and_record(&mut self) -> Result<()> {
        if let Some(array) = self.state.first() {
            array.team().together("Loop", || pass("loop-record"))?;
        }
        eval_state(&self.state)?;
        let before = signature(&self.state)?;
        let messages = sent(&self.state);
        let (state, step) = (&mut self.state, &mut self.step);
        let recorded = self.arena.within(|| {
            record(|| {
                step(state)?;
                eval_state(state)
            })
        });
        let (kept, schedule) = (take_kept(), recorded?);
        // The first step may compute or widen arrays once and for all: it is not for replaying.
        if self.done == 0 {
            return Ok(());
        }
        let messages = sent(&self.state) - messages;
        let after = self.state.iter().map(snapshot).collect::<Result<_>>()?;
        self.recorded.push(Recorded { before, schedule, kept, messages, after });
        let now = signature(&self.state)?;
        if let Some(first) = self.recorded.iter().position(|recorded| recorded.before == now) {
            let steps = self.recorded.drain(..).skip(first).collect();
            // Without a cycle, because somebody holds memory the steps write, recording begins anew.
            self.cycle = Cycle::prepare(steps, &self.state)?;
        }
        Ok(())
    }
}

impl<F> Drop for Loop<F> {
    fn drop(&mut self) {
        self.cycle = None;
        let devices: Vec<Device> = self.state.iter().flat_map(|array| array.node.team.devices()).collect();
        self.arena.retire(&devices);
    }
}

impl Cycle {
    /// `None` if the steps write memory that somebody else has leased meanwhile, such as a clone of an
    /// earlier state.
    fn prepare(recorded: Vec<Recorded>, state: &[Array]) -> Result<Option<Cycle>> {
        let mut leases: Vec<Buffer> =
            state.iter().filter_map(|array| array.node.storage()).flat_map(held).collect();
        leases.extend(recorded.iter().flat_map(|step| step.kept.iter().cloned()));
        for (device, allocation) in recorded.iter().flat_map(|step| touched(&step.schedule)) {
            if leases.iter().all(|lease| lease.allocation().id != allocation.id) {
                leases.extend(device.claim(&allocation));
            }
        }
        let ours = |id: u64| leases.iter().any(|lease| lease.allocation().id == id);
        if !recorded.iter().flat_map(|step| written(&step.schedule)).all(ours) {
            return Ok(None);
        }
        let steps = recorded
            .into_iter()
            .map(|step| {
                let after = step.after.into_iter().map(|snapshot| snapshot.lease(&leases)).collect();
                Ok(Prepared { batches: batches(step.schedule)?, messages: step.messages, after })
            })
            .collect::<Result<Vec<Prepared>>>()?;
        Ok(Some(Cycle { steps, next: 0, _leases: leases }))
    }

    fn replay(&mut self, team: &Team, state: &mut [Array]) -> Result<()> {
        pass("loop-replay")?;
        let step = &self.steps[self.next];
        let _guard = team.evaluation();
        for array in state.iter() {
            detach(array)?;
        }
        queue(&step.batches, Batch::single, Batch::run)?;
        team.count_messages(step.messages);
        for (array, (dist, parts, fresh)) in state.iter_mut().zip(&step.after) {
            let storage = Storage::from_parts(Arc::clone(dist), parts.clone());
            storage.set_fresh(fresh.clone());
            array.node = Node::ready(array.node.dtype, &array.node.team, storage);
        }
        self.next = (self.next + 1) % self.steps.len();
        Ok(())
    }
}

impl Batch {
    fn run(&self) -> Result<()> {
        match self {
            Batch::Jobs(device, lane, recording) => {
                let name = || "replayed step".to_owned();
                trace::on_device(device, *lane, name, || device.replay_on(*lane, recording))
            }
            Batch::Single(command) => run(command),
        }
    }

    fn single(&self) -> Option<&Command> {
        match self {
            Batch::Jobs(..) => None,
            Batch::Single(command) => Some(command),
        }
    }
}

/// The messages of the state's team so far.
fn sent(state: &[Array]) -> u64 {
    state.first().map_or(0, |array| array.team().messages())
}

fn eval_state(state: &[Array]) -> Result<()> {
    super::eval_all(&state.iter().collect::<Vec<&Array>>())
}

fn storage(array: &Array) -> Result<Arc<Storage>> {
    array.eval()?;
    match array.node.storage() {
        Some(storage) => Ok(storage),
        None => unreachable!("eval computes or fails"),
    }
}

fn signature(state: &[Array]) -> Result<Signature> {
    let ids =
        |storage: &Storage| storage.parts.iter().map(|p| p.as_ref().map(|b| b.allocation().id)).collect();
    let of = |storage: Arc<Storage>| (ids(&storage), Arc::clone(&storage.dist), storage.fresh());
    state.iter().map(|array| storage(array).map(of)).collect()
}

fn snapshot(array: &Array) -> Result<Snapshot> {
    let storage = storage(array)?;
    let parts = storage.parts.iter().map(|p| p.as_ref().map(|b| Arc::clone(b.allocation()))).collect();
    Ok(Snapshot { dist: Arc::clone(&storage.dist), parts, fresh: storage.fresh() })
}

impl Snapshot {
    fn lease(self, leases: &[Buffer]) -> After {
        let find = |allocation: &Arc<Allocation>| {
            leases.iter().find(|lease| lease.allocation().id == allocation.id).cloned()
        };
        (self.dist, self.parts.iter().map(|part| part.as_ref().and_then(find)).collect(), self.fresh)
    }
}

fn held(storage: Arc<Storage>) -> Vec<Buffer> {
    storage.parts.iter().flatten().cloned().collect()
}

fn touched(schedule: &Schedule) -> Vec<(Device, Arc<Allocation>)> {
    schedule
        .iter()
        .flat_map(|command| match command.lane().1 {
            Command::Launch { device, job } => {
                job.memory.iter().map(|memory| (device.clone(), Arc::clone(memory))).collect()
            }
            Command::Boxes { device, jobs } => {
                let memory = jobs.iter().flat_map(|job| &job.memory);
                memory.map(|memory| (device.clone(), Arc::clone(memory))).collect()
            }
            Command::Transfer { from_device, from, to_device, to, .. } => {
                vec![(from_device.clone(), Arc::clone(from)), (to_device.clone(), Arc::clone(to))]
            }
            Command::Send { memory, .. } | Command::Receive { memory, .. } => {
                memory.iter().map(|span| (span.device.clone(), Arc::clone(&span.allocation))).collect()
            }
            Command::Meet { .. }
            | Command::Expect { .. }
            | Command::ExpectInPlace { .. }
            | Command::Settle { .. }
            | Command::Reclaim { .. } => Vec::new(),
            Command::After { .. } | Command::Aside(_) => Vec::new(),
        })
        .collect()
}

/// The memory a schedule writes, by number.
fn written(schedule: &Schedule) -> Vec<u64> {
    schedule
        .iter()
        .flat_map(|command| match command.lane().1 {
            Command::Launch { job, .. } => written_by(job).collect(),
            Command::Boxes { jobs, .. } => jobs.iter().flat_map(written_by).collect(),
            Command::Transfer { to, .. } => vec![to.id],
            Command::Receive { memory, .. } => memory.iter().map(|span| span.allocation.id).collect(),
            Command::Send { .. }
            | Command::Meet { .. }
            | Command::Expect { .. }
            | Command::ExpectInPlace { .. }
            | Command::Settle { .. }
            | Command::Reclaim { .. } => Vec::new(),
            Command::After { .. } | Command::Aside(_) => Vec::new(),
        })
        .collect()
}

fn written_by(job: &Job) -> impl Iterator<Item = u64> {
    let memory = job.memory.iter().zip(&job.program.kernel().kernel().params);
    memory.filter(|(_, param)| param.access != Access::In).map(|(memory, _)| memory.id)
}

/// Runs of launches between transfers and waits, gathered per device and lane: these meet nowhere else. A
/// lane has recordings of its own, because one begins as a whole: with both lanes in it, the core would
/// wait for what the rim waits for.
fn batches(schedule: Schedule) -> Result<Vec<Batch>> {
    let mut batches = Vec::new();
    let mut open: Vec<(Device, Lane, Vec<Vec<Job>>)> = Vec::new();
    let close = |open: &mut Vec<(Device, Lane, Vec<Vec<Job>>)>, batches: &mut Vec<Batch>| -> Result<()> {
        for (device, lane, groups) in open.drain(..) {
            let recording = device.record_groups(groups)?;
            batches.push(Batch::Jobs(device, lane, recording));
        }
        Ok(())
    };
    for command in schedule {
        let lane = command.lane().0;
        let mut launched = |device: Device, jobs: Vec<Job>| match open
            .iter_mut()
            .find(|(other, on, _)| *other == device && *on == lane)
        {
            Some((.., groups)) => groups.push(jobs),
            None => open.push((device, lane, vec![jobs])),
        };
        match command.on(Lane::Compute) {
            Command::Launch { device, job } => launched(device, vec![job]),
            Command::Boxes { device, jobs } => launched(device, jobs),
            // Nothing here touches a device's memory, so launches need not end before.
            quick @ (Command::Meet { .. } | Command::Expect { .. }) => batches.push(Batch::Single(quick)),
            transfer @ (Command::Transfer { .. }
            | Command::ExpectInPlace { .. }
            | Command::Reclaim { .. }
            | Command::Send { .. }
            | Command::Receive { .. }
            | Command::Settle { .. }
            | Command::After { .. }
            | Command::Aside(_)) => {
                close(&mut open, &mut batches)?;
                batches.push(Batch::Single(transfer.on(lane)));
            }
        }
    }
    close(&mut open, &mut batches)?;
    Ok(batches)
}

/// Somebody else holds this state's value: give them memory of their own, because a replay will
/// write over this one.
fn detach(array: &Array) -> Result<()> {
    if Arc::strong_count(&array.node) == 1 {
        return Ok(());
    }
    let Some(old) = array.node.storage() else { return Ok(()) };
    let node = &array.node;
    let copy = Storage::new(&node.team, Arc::clone(&old.dist), node.dtype)?;
    execute(old.copy_owned(&node.team, node.dtype, &copy)?)?;
    node.set_ready(copy);
    Ok(())
}
