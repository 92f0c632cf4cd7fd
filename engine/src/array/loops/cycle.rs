//! Records the commands of steps until the state returns to the memory it started in, then replays them.

use std::collections::HashMap;
use std::sync::Arc;

use crate::array::Array;
use crate::array::loops::passes::batches::{ReplayBatch, batches};
use crate::array::loops::passes::invariant_copies::without_invariant_copies;
use crate::array::loops::passes::tiles::tiled;
use crate::array::memory::storage::{HaloWidths, Storage};
use crate::array::record::node::Node;
use crate::config::config;
use crate::device::{Allocation, Buffer, Device, DeviceKind, Job, Recording};
use crate::error::Result;
use crate::index::Distribution;
use crate::program::{Command, Schedule, execute, queue};
use crate::team::{Team, evaluation};
use crate::wire::pass;

/// Which memory the state is in, how it lies there, and how fresh its halos are.
pub(crate) type Signature = Vec<(Vec<Option<u64>>, Arc<Distribution>, HaloWidths)>;

/// One step that ran: the state's memory before it, its commands with what they read that no command
/// writes, and the state after it.
pub(crate) struct RecordedStep {
    /// Steps since the last shared exchange. Ranks come back to their memory after different numbers of
    /// steps, and have to exchange in the same ones.
    pub phase: usize,
    pub before: Signature,
    pub schedule: Schedule,
    pub uploads: Vec<Buffer>,
    pub sources: Vec<Team>,
    pub messages: u64,
    pub after: Vec<Snapshot>,
}

/// An array's memory, held without a lease so that the recorded steps themselves can reuse it.
pub(crate) struct Snapshot {
    layout: MemoryLayouts,
    parts: Vec<Option<Arc<Allocation>>>,
    fresh: HaloWidths,
}

/// Steps after which the state is back where it was. Holds every memory the steps touch.
pub(crate) struct Cycle {
    steps: Vec<ReplayStep>,
    next: usize,
    round: Option<TiledRound>,
    leases: Leases,
    /// Teams whose devices the steps use, beside those of the state.
    sources: Vec<Team>,
}

/// Memory by the number of its allocation.
type Leases = HashMap<u64, Buffer>;

/// Several whole rounds of the steps as one, in an order that suits the cache.
struct TiledRound {
    /// The step it begins with.
    first: usize,
    /// How many it takes.
    steps: u64,
    prepared: ReplayStep,
    recorded: Vec<RecordedStep>,
}

/// One step of the cycle, ready to be queued.
struct ReplayStep {
    batches: Vec<ReplayBatch>,
    messages: u64,
    after: Vec<StateAfter>,
}

/// That of an array's memory, and the one it declares.
type MemoryLayouts = (Arc<Distribution>, Arc<Distribution>);

type StateAfter = (MemoryLayouts, Vec<Option<Buffer>>, HaloWidths);

impl Cycle {
    /// `None` if the steps write memory that somebody else has leased meanwhile, such as a clone of an
    /// earlier state.
    ///
    /// At least `together` steps are also prepared as one, where that suits the cache.
    pub fn prepare(
        mut recorded: Vec<RecordedStep>,
        state: &[Array],
        together: usize,
    ) -> Result<Option<Cycle>> {
        let held = state.iter().filter_map(|array| array.node.storage()).flat_map(held);
        let kept = recorded.iter().flat_map(|step| step.uploads.iter().cloned());
        let mut leases: Leases = held.chain(kept).map(|lease| (lease.allocation().id, lease)).collect();
        for (device, allocation) in recorded.iter().flat_map(|step| touched(&step.schedule)) {
            if !leases.contains_key(&allocation.id) {
                leases.extend(device.claim(&allocation).map(|lease| (allocation.id, lease)));
            }
        }
        let is_leased = |command: &Command| command.op.writes().all(|memory| leases.contains_key(&memory.id));
        if !recorded.iter().flat_map(|step| &step.schedule).all(is_leased) {
            return Ok(None);
        }
        let schedules = recorded.iter_mut().map(|step| std::mem::take(&mut step.schedule)).collect();
        for (step, schedule) in recorded.iter_mut().zip(without_invariant_copies(schedules)) {
            step.schedule = schedule;
        }
        let steps = recorded
            .iter()
            .map(|step| {
                let after = step.after.iter().map(|snapshot| snapshot.lease(&leases)).collect();
                Ok(ReplayStep {
                    batches: batches(step.schedule.clone(), Device::record_groups)?,
                    messages: step.messages,
                    after,
                })
            })
            .collect::<Result<Vec<ReplayStep>>>()?;
        let sources = recorded.iter().flat_map(|step| step.sources.iter().cloned()).collect();
        let first = exchange(&recorded).unwrap_or(0);
        let round = if together > 1 { rounds(&recorded, first, together, &leases)? } else { None };
        let round = round.map(|(steps, prepared)| TiledRound { first, steps, prepared, recorded });
        Ok(Some(Cycle { steps, next: 0, round, leases, sources }))
    }

    /// Whether steps are done tile by tile.
    pub fn is_tiled(&self) -> bool {
        self.round.is_some()
    }

    /// Replays as many steps as it may, or one if that is more than `most`. Says how many.
    pub fn replay(&mut self, team: &Team, state: &mut [Array], most: u64) -> Result<u64> {
        pass("loop-replay")?;
        self.turn_round(most)?;
        let (steps, prepared) = match &self.round {
            Some(round) if self.next == round.first && round.steps <= most => (round.steps, &round.prepared),
            _ => (1, &self.steps[self.next]),
        };
        prepared.replay(team, &self.sources, state)?;
        if steps == 1 {
            self.next = (self.next + 1) % self.steps.len();
        }
        Ok(steps)
    }
}

impl Cycle {
    /// Has rounds begin with the next step. Rounds with messages rather begin with an exchange, so that as
    /// much as possible lies between two, if so many steps have room for one then.
    fn turn_round(&mut self, most: u64) -> Result<()> {
        let Some(round) = self.round.as_mut().filter(|round| round.steps <= most) else { return Ok(()) };
        let (next, count) = (self.next, self.steps.len());
        let steps_until = |first: usize| ((first + count - next) % count) as u64;
        let rather = exchange(&round.recorded).filter(|&first| steps_until(first) + round.steps <= most);
        let first = rather.unwrap_or(next);
        if round.first == first {
            return Ok(());
        }
        if let Some((steps, prepared)) = rounds(&round.recorded, first, round.steps as usize, &self.leases)? {
            (round.first, round.steps, round.prepared) = (first, steps, prepared);
        }
        Ok(())
    }
}

/// The first step that sends something.
fn exchange(recorded: &[RecordedStep]) -> Option<usize> {
    recorded.iter().position(|step| step.messages > 0)
}

impl ReplayStep {
    fn replay(&self, team: &Team, sources: &[Team], state: &mut [Array]) -> Result<()> {
        let teams: Vec<Team> = state.iter().map(|array| array.team()).chain(sources).cloned().collect();
        let _guard = evaluation(teams.iter());
        for array in state.iter() {
            detach(array)?;
        }
        queue(&self.batches, ReplayBatch::single, ReplayBatch::run)?;
        team.count_messages(self.messages);
        for (array, ((dist, declared), parts, fresh)) in state.iter_mut().zip(&self.after) {
            let storage = Storage::from_parts(Arc::clone(dist), parts.clone()).declaring(declared);
            storage.set_valid_halo(fresh.clone());
            array.node = Node::ready(array.node.dtype, &array.node.team, storage);
        }
        Ok(())
    }
}

/// So many rounds of the recorded steps, beginning with step `first`, that they are at least `most` steps,
/// tile by tile on the host's devices; `None` if no device does that.
fn rounds(
    recorded: &[RecordedStep],
    first: usize,
    most: usize,
    leases: &Leases,
) -> Result<Option<(u64, ReplayStep)>> {
    let count = most.div_ceil(recorded.len());
    let (begun, begins) = recorded.split_at(first);
    let round = || begins.iter().chain(begun);
    let schedule: Schedule =
        (0..count).flat_map(|_| round().flat_map(|step| step.schedule.iter().cloned())).collect();
    let mut is_tiled = false;
    let record = |device: &Device, groups: Vec<Vec<Job>>| {
        if device.kind() != DeviceKind::Host {
            return device.record_groups(groups);
        }
        let jobs: Vec<Job> = groups.iter().flatten().cloned().collect();
        match tiled(&jobs, config().tile_bytes as i64) {
            Some(stretches) => {
                is_tiled = true;
                Ok(Recording::Kept(stretches))
            }
            None => device.record_groups(groups),
        }
    };
    let batches = batches(schedule, record)?;
    let Some(last) = round().last().filter(|_| is_tiled) else { return Ok(None) };
    let after = last.after.iter().map(|snapshot| snapshot.lease(leases)).collect();
    let messages = count as u64 * recorded.iter().map(|step| step.messages).sum::<u64>();
    Ok(Some(((count * recorded.len()) as u64, ReplayStep { batches, messages, after })))
}

/// The messages of the state's team so far.
pub(crate) fn sent(state: &[Array]) -> u64 {
    state.first().map_or(0, |array| array.team().messages())
}

pub(crate) fn eval_state(state: &[Array]) -> Result<()> {
    crate::array::eval_all(&state.iter().collect::<Vec<&Array>>())
}

pub(crate) fn storage(array: &Array) -> Result<Arc<Storage>> {
    array.eval()?;
    match array.node.storage() {
        Some(storage) => Ok(storage),
        None => unreachable!("eval computes or fails"),
    }
}

pub(crate) fn signature(state: &[Array]) -> Result<Signature> {
    let ids =
        |storage: &Storage| storage.parts.iter().map(|p| p.as_ref().map(|b| b.allocation().id)).collect();
    let of = |storage: Arc<Storage>| (ids(&storage), Arc::clone(&storage.dist), storage.valid_halo());
    state.iter().map(|array| storage(array).map(of)).collect()
}

pub(crate) fn snapshot(array: &Array) -> Result<Snapshot> {
    let storage = storage(array)?;
    let parts = storage.parts.iter().map(|p| p.as_ref().map(|b| Arc::clone(b.allocation()))).collect();
    let layout = (Arc::clone(&storage.dist), Arc::clone(&storage.declared));
    Ok(Snapshot { layout, parts, fresh: storage.valid_halo() })
}

impl Snapshot {
    fn lease(&self, leases: &Leases) -> StateAfter {
        let find = |allocation: &Arc<Allocation>| leases.get(&allocation.id).cloned();
        (
            self.layout.clone(),
            self.parts.iter().map(|part| part.as_ref().and_then(find)).collect(),
            self.fresh.clone(),
        )
    }
}

fn held(storage: Arc<Storage>) -> Vec<Buffer> {
    storage.parts.iter().flatten().cloned().collect()
}

fn touched(schedule: &Schedule) -> Vec<(Device, Arc<Allocation>)> {
    let memory = schedule.iter().flat_map(|command| command.op.memory());
    memory.map(|(device, memory, _)| (device.clone(), Arc::clone(memory))).collect()
}

/// Somebody else holds this state's value: give them memory of their own, because a replay will
/// write over this one.
fn detach(array: &Array) -> Result<()> {
    if Arc::strong_count(&array.node) == 1 {
        return Ok(());
    }
    let Some(old) = array.node.storage() else { return Ok(()) };
    let node = &array.node;
    let copy = old.like(&node.team, node.dtype)?;
    execute(&old.copy_owned(&node.team, node.dtype, &copy)?)?;
    node.set_ready(Arc::new(copy));
    Ok(())
}
