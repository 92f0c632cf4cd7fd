//! [`Cycle`]: recorded steps, ready to be replayed for ever.
//!
//! A step is recorded as commands, and which memory its state was in before and after. What one step leaves
//! in one memory the next one finds there, so the next step is the same commands with other memory: that of
//! each array's result takes the place of the array's own. This renaming of memory, applied until everything
//! has its first name again, gives the steps of the cycle.

use std::collections::HashMap;
use std::sync::Arc;

use crate::array::Array;
use crate::array::loops::batches::{ReplayBatch, batches, together, together_with};
use crate::array::loops::passes::invariant_copies::without_invariant_copies;
use crate::array::loops::passes::tiles::tiled;
use crate::array::memory::storage::{HaloWidths, Pitch, Storage};
use crate::array::record::node::Node;
use crate::array::recorder::recording::Recorder;
use crate::config::config;
use crate::device::{Allocation, Buffer, Device, DeviceKind, Job, Recording};
use crate::error::Result;
use crate::index::Distribution;
use crate::program::{
    self, GuardedStep, GuardedSteps, MessageOffer, MessageOutline, Op, Schedule, StreamMessages,
};
use crate::team::{Team, evaluation};
use crate::trace;
use crate::wire::{Ranks, pass};

/// The longest cycle that is kept, in exchanges.
pub(crate) const LONGEST_CYCLE: usize = 16;

/// The most steps that devices are given by one call.
const MOST_TOGETHER: usize = 8;

/// One step that ran.
#[derive(Clone)]
pub(crate) struct RecordedStep {
    /// Steps since the last shared exchange: all ranks have to exchange in the same ones.
    pub phase: usize,
    /// The state's memory before and after it.
    pub before: Vec<ArrayMemory>,
    pub after: Vec<ArrayMemory>,
    pub schedule: Schedule,
    /// The memory that commands read and no command writes.
    pub uploads: Vec<Buffer>,
    /// Teams whose memory the commands use, beside that of the state.
    pub sources: Vec<Team>,
    pub messages: u64,
    /// The hash of its work; see [`StepRecord::outline`].
    pub outline: u64,
}

/// The memory of one array of the state, how it lies there, and how fresh its halos are. Holds no lease, so
/// that the recorded steps themselves can reuse the memory.
#[derive(Clone)]
pub(crate) struct ArrayMemory {
    dist: Arc<Distribution>,
    declared: Arc<Distribution>,
    pitch: Pitch,
    parts: Vec<Option<Arc<Allocation>>>,
    fresh: HaloWidths,
}

impl ArrayMemory {
    /// That of each array; computes them.
    pub fn of(state: &[Array]) -> Result<Vec<ArrayMemory>> {
        state.iter().map(|array| storage(array).map(|storage| ArrayMemory::of_storage(&storage))).collect()
    }

    fn of_storage(storage: &Storage) -> ArrayMemory {
        let parts = storage.parts.iter().map(|p| p.as_ref().map(|b| Arc::clone(b.allocation()))).collect();
        let (dist, declared) = (Arc::clone(&storage.dist), Arc::clone(&storage.declared));
        ArrayMemory { dist, declared, pitch: storage.pitch, parts, fresh: storage.valid_halo() }
    }

    /// Whether the array is in this memory, wholly or in part.
    pub fn is_in(&self, memory: &[u64]) -> bool {
        self.parts.iter().flatten().any(|part| memory.contains(&part.id))
    }

    /// Whether a step that finds one finds the other alike.
    fn is_like(&self, other: &ArrayMemory) -> bool {
        let layout =
            |memory: &ArrayMemory| (Arc::clone(&memory.dist), Arc::clone(&memory.declared), memory.pitch);
        layout(self) == layout(other) && self.fresh == other.fresh
    }
}

/// Whether steps that began with one state can begin with the other, in other memory.
pub(crate) fn are_alike(a: &[ArrayMemory], b: &[ArrayMemory]) -> bool {
    a.iter().zip(b).all(|(a, b)| a.is_like(b))
}

/// Which memory takes the place of which in the next round of the recorded steps; others keep their place.
#[derive(Clone, Default)]
struct Renaming(HashMap<u64, Arc<Allocation>>);

impl Renaming {
    /// That of steps which leave a state `after` where they found it `before`. `None` if it is none: arrays
    /// that shared their memory do so no more, or the other way round.
    fn between(before: &[ArrayMemory], after: &[ArrayMemory]) -> Option<Renaming> {
        let (mut next, mut origins) = (HashMap::new(), HashMap::new());
        let parts = |state: &[ArrayMemory]| -> Vec<Option<Arc<Allocation>>> {
            state.iter().flat_map(|array| array.parts.iter().cloned()).collect()
        };
        for pair in parts(before).into_iter().zip(parts(after)) {
            let (from, to) = match pair {
                (Some(from), Some(to)) => (from, to),
                (None, None) => continue,
                _ => return None,
            };
            let id = |memory: &Arc<Allocation>| memory.id;
            match (next.get(&from.id).map(id), origins.get(&to.id).map(id)) {
                (None, None) => {}
                (Some(known), _) if known == to.id => continue,
                _ => return None,
            }
            origins.insert(to.id, Arc::clone(&from));
            next.insert(from.id, to);
        }
        // Memory that the steps write anew takes the place of memory that they no longer need.
        let ends: Vec<Arc<Allocation>> =
            next.values().filter(|to| !next.contains_key(&to.id)).cloned().collect();
        for end in ends {
            let mut start = &end;
            while let Some(origin) = origins.get(&start.id) {
                start = origin;
            }
            if (start.bytes, start.device) != (end.bytes, end.device) {
                return None;
            }
            next.insert(end.id, Arc::clone(start));
        }
        Some(Renaming(next))
    }

    fn of(&self, memory: &Arc<Allocation>) -> Arc<Allocation> {
        Arc::clone(self.0.get(&memory.id).unwrap_or(memory))
    }

    fn is_identity(&self) -> bool {
        self.0.iter().all(|(from, to)| *from == to.id)
    }

    /// This one, and then another.
    fn then(&self, next: &Renaming) -> Renaming {
        Renaming(self.0.iter().map(|(from, to)| (*from, next.of(to))).collect())
    }

    fn step(&self, step: &RecordedStep) -> RecordedStep {
        let mut renamed = step.clone();
        for command in &mut renamed.schedule {
            command.op.memory_mut().into_iter().for_each(|memory| *memory = self.of(memory));
        }
        for array in renamed.before.iter_mut().chain(&mut renamed.after) {
            array.parts.iter_mut().flatten().for_each(|memory| *memory = self.of(memory));
        }
        renamed
    }
}

/// Steps after which the state is back where it was. Holds every memory the steps touch.
pub(crate) struct Cycle {
    steps: Vec<ReplayStep>,
    next: usize,
    round: Option<Round>,
    /// The steps, until all have run once, and how many of them to prepare as one then. Before, nothing that
    /// they do is known to be repeated.
    first_round: Option<(Vec<RecordedStep>, usize)>,
    /// The steps, if they have messages and all have run once.
    recorded: Vec<RecordedStep>,
    /// The steps with their messages in them, if all ranks have agreed on that.
    chained: Option<ChainedSteps>,
    leases: Leases,
    /// Teams whose devices the steps use.
    teams: Vec<Team>,
}

/// Steps whose messages devices send and receive themselves.
struct ChainedSteps {
    steps: Vec<ReplayStep>,
    next: usize,
    /// Several rounds of them as one, from the first on: the number of steps.
    round: Option<(u64, ReplayStep)>,
    messages: Arc<StreamMessages>,
}

/// Whether a rank's steps can be replayed with their messages in them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Chaining {
    /// Not in this loop.
    Never,
    /// Not now.
    NotYet,
    /// Once all ranks say so.
    Ready,
    /// They are.
    Under,
}

/// Memory by the number of its allocation.
type Leases = HashMap<u64, Buffer>;

/// Several whole rounds of the steps as one.
struct Round {
    /// The step it begins with.
    first: usize,
    /// The number of steps that it takes.
    steps: u64,
    prepared: ReplayStep,
    /// The steps, if they go through the host's memory tile by tile. Otherwise devices do all of them by one
    /// call.
    tiled: Option<Vec<RecordedStep>>,
}

/// One step of the cycle, ready to be queued.
struct ReplayStep {
    batches: Vec<ReplayBatch>,
    messages: u64,
    after: Vec<(ArrayMemory, Vec<Option<Buffer>>)>,
}

impl Cycle {
    /// The cycle that repeats the recorded steps, from the state that they led to. `None` if they cannot be
    /// repeated, or not yet: if they write memory that somebody else has leased meanwhile, such as a clone of
    /// an earlier state, or if arrays of the state came to share their memory.
    ///
    /// After the first round, at least `tiled` steps are also prepared as one, where that suits the cache, or
    /// as many as devices do by one call.
    pub fn prepare(recorded: &[RecordedStep], state: &[Array], tiled: usize) -> Result<Option<Cycle>> {
        let (Some(first), Some(last)) = (recorded.first(), recorded.last()) else { return Ok(None) };
        let Some(renaming) = Renaming::between(&first.before, &last.after) else { return Ok(None) };
        let held = state.iter().filter_map(|array| array.node.storage()).flat_map(held);
        let kept = recorded.iter().flat_map(|step| step.uploads.iter().cloned());
        let mut leases: Leases = held.chain(kept).map(|lease| (lease.allocation().id, lease)).collect();
        let ops = || recorded.iter().flat_map(|step| &step.schedule).map(|command| &command.op);
        let touched = ops().flat_map(Op::memory).map(|(device, memory, _)| (device, memory));
        let found = state.iter().zip(&first.before).flat_map(|(array, before)| {
            let parts = before.parts.iter().enumerate();
            let here = parts.filter_map(|(part, memory)| Some((part, memory.as_ref()?)));
            here.map(|(part, memory)| (array.node.team.device(part), memory))
        });
        for (device, memory) in touched.chain(found) {
            if !leases.contains_key(&memory.id) {
                leases.extend(device.claim(memory).map(|lease| (memory.id, lease)));
            }
        }
        let written: Vec<u64> = ops().flat_map(Op::writes).map(|memory| memory.id).collect();
        let left =
            recorded.iter().flat_map(|step| &step.after).flat_map(|array| array.parts.iter().flatten());
        let mut needed = written.iter().copied().chain(left.map(|memory| memory.id));
        // Memory that a step only found in the state, or left there without writing it, may be others'.
        let is_found = |id: &u64| first.before.iter().any(|array| array.is_in(&[*id]));
        let is_free = |id: &u64| leases.contains_key(id) && (is_found(id) || written.contains(id));
        let is_moved = |(from, to): (&u64, &Arc<Allocation>)| (*from != to.id).then_some(*from);
        if !needed.all(|id| leases.contains_key(&id))
            || !renaming.0.iter().filter_map(is_moved).all(|id| is_free(&id))
        {
            return Ok(None);
        }
        let mut round = renaming.clone();
        let mut steps: Vec<RecordedStep> = Vec::new();
        loop {
            steps.extend(recorded.iter().map(|step| round.step(step)));
            if round.is_identity() {
                break;
            }
            if steps.len() >= LONGEST_CYCLE * recorded.len() {
                return Ok(None);
            }
            round = round.then(&renaming);
        }
        let teams = state.iter().map(|array| array.team());
        let teams = teams.chain(steps.iter().flat_map(|step| &step.sources)).cloned().collect();
        let prepared = replay_steps(&steps, &leases)?;
        let (first_round, recorded) = (Some((steps, tiled)), Vec::new());
        let chained = None;
        Ok(Some(Cycle {
            steps: prepared,
            next: 0,
            round: None,
            first_round,
            recorded,
            chained,
            leases,
            teams,
        }))
    }

    /// The first round is over: leaves out what further ones need not repeat.
    fn end_first_round(&mut self) -> Result<()> {
        let Some((mut recorded, most)) = self.first_round.take() else { return Ok(()) };
        let schedules = recorded.iter_mut().map(|step| std::mem::take(&mut step.schedule)).collect();
        for (step, schedule) in recorded.iter_mut().zip(without_invariant_copies(schedules)) {
            step.schedule = schedule;
        }
        self.steps = replay_steps(&recorded, &self.leases)?;
        let first = exchange(&recorded).unwrap_or(0);
        if recorded.iter().flat_map(|step| &step.schedule).any(|command| command.op.is_of_streams()) {
            self.recorded.clone_from(&recorded);
        }
        let tiles = if most > 1 { tiled_rounds(&recorded, first, most, &self.leases)? } else { None };
        self.round = match tiles {
            Some((steps, prepared)) => Some(Round { first, steps, prepared, tiled: Some(recorded) }),
            None => rounds_together(&recorded, &self.leases)?,
        };
        Ok(())
    }

    /// Whether steps are done tile by tile.
    pub fn is_tiled(&self) -> bool {
        self.round.as_ref().is_some_and(|round| round.tiled.is_some())
    }

    /// Whether its steps can be replayed with their messages in them, how many there would be, and which is
    /// next.
    pub fn chaining(&self) -> (Chaining, [u64; 2]) {
        match (&self.chained, &self.first_round) {
            _ if trace::is_on() || config().check => (Chaining::NotYet, [0; 2]),
            (Some(chained), _) => (Chaining::Under, [chained.steps.len() as u64, chained.next as u64]),
            (None, Some(_)) => (Chaining::NotYet, [0; 2]),
            (None, None) if self.recorded.is_empty() || self.recorded.len() > MOST_CHAINED => {
                (Chaining::Never, [0; 2])
            }
            (None, None) => (Chaining::Ready, [self.recorded.len().max(2) as u64, 0]),
        }
    }

    /// Prepares the steps of the loop of this name with their messages in them, together with all ranks;
    /// whether they all can. So many steps of the loop came before.
    pub fn chain(&mut self, name: &str, ranks: &Ranks, before: u64) -> Result<bool> {
        // From the next one on, wherever in their cycles the ranks are, and at least two, so that messages of
        // one step share nothing with those of the next.
        let steps = self.recorded.iter().cycle().skip(self.next).take(self.recorded.len().max(2));
        let steps: Vec<&RecordedStep> = steps.collect();
        let state = steps.iter().flat_map(|step| step.before.iter().chain(&step.after));
        let state = state.flat_map(|array| array.parts.iter().flatten()).map(|memory| memory.id).collect();
        let outline = MessageOutline::of(name, ranks, steps.iter().map(|step| &step.schedule[..]), &state)?;
        let offer = outline.map(MessageOffer::new).transpose()?;
        let mine = offer.as_ref().map_or(Vec::new(), MessageOffer::to_bytes);
        let offers = ranks.all_gather("messages of a Loop", &mine)?;
        let messages = match offer {
            Some(offer) if offers.iter().all(|offer| !offer.is_empty()) => offer.accept(&offers)?,
            _ => None,
        };
        // What a released device sends by words is nothing, and who receives it must know: such launches are
        // guarded. An aborted NCCL sends nothing more.
        let has_words = messages.as_ref().is_some_and(StreamMessages::has_words);
        let chained = match messages {
            Some(messages) => {
                let before = has_words.then_some(before);
                chained_steps(&steps, &Arc::new(messages), &self.leases, before)?
            }
            None => None,
        };
        // All in the same way: a rank that takes what never came for true would say so of its own steps.
        let own = [u8::from(chained.is_some()), u8::from(has_words)];
        let all = ranks.all_gather("chaining the steps of a Loop", &own)?;
        let agreed = all.iter().all(|rank| rank[..] == [1, u8::from(has_words)]);
        self.chained = chained.filter(|_| agreed);
        Ok(agreed)
    }

    /// After a failure: the number of steps of the loop whose state its arrays hold, if they hold one.
    pub fn last_whole(&self) -> Option<u64> {
        self.chained.as_ref().and_then(|chained| chained.messages.last_whole())
    }

    /// Steps are replayed with the messages apart again.
    pub fn unchain(&mut self) {
        self.chained = None;
    }

    /// Replays as many steps as it may, or one if that is more than `most`. Says how many.
    pub fn replay(&mut self, team: &Team, state: &mut [Array], most: u64) -> Result<u64> {
        pass("loop-replay")?;
        if let Some(ChainedSteps { steps, next, round, .. }) = &mut self.chained {
            let round = round.as_ref().filter(|(count, _)| *next == 0 && *count <= most);
            let (count, prepared) = round.map_or((1, &steps[*next]), |(count, round)| (*count, round));
            prepared.replay(team, &self.teams, state)?;
            *next = (*next + count as usize) % steps.len();
            self.next = (self.next + count as usize) % self.steps.len();
            return Ok(count);
        }
        self.turn_round(most)?;
        let (steps, prepared) = match &self.round {
            Some(round) if self.next == round.first && round.steps <= most => (round.steps, &round.prepared),
            _ => (1, &self.steps[self.next]),
        };
        prepared.replay(team, &self.teams, state)?;
        if steps == 1 {
            self.next = (self.next + 1) % self.steps.len();
            if self.next == 0 {
                self.end_first_round()?;
            }
        }
        Ok(steps)
    }

    /// Has rounds of tiles begin with the next step. Those with messages rather begin with an exchange, so
    /// that as much as possible lies between two, if `most` steps have room for a round then.
    fn turn_round(&mut self, most: u64) -> Result<()> {
        let Some(round) = self.round.as_mut().filter(|round| round.steps <= most) else { return Ok(()) };
        let (next, count) = (self.next, self.steps.len());
        let steps_until = |first: usize| ((first + count - next) % count) as u64;
        let Some(recorded) = &round.tiled else { return Ok(()) };
        let rather = exchange(recorded).filter(|&first| steps_until(first) + round.steps <= most);
        let first = rather.unwrap_or(next);
        if round.first == first {
            return Ok(());
        }
        if let Some((steps, prepared)) = tiled_rounds(recorded, first, round.steps as usize, &self.leases)? {
            (round.first, round.steps, round.prepared) = (first, steps, prepared);
        }
        Ok(())
    }
}

/// The longest cycle whose messages get memory of their own.
const MOST_CHAINED: usize = 12;

/// Steps, and several rounds of them, with their messages in them; `None` if devices do not take them so. If
/// so many steps of the loop `before` them are given, their launches are guarded.
fn chained_steps(
    recorded: &[&RecordedStep],
    messages: &Arc<StreamMessages>,
    leases: &Leases,
    before: Option<u64>,
) -> Result<Option<ChainedSteps>> {
    let schedules = || recorded.iter().map(|step| &step.schedule).enumerate();
    let (mut steps, mut guarded, guards) = (Vec::new(), Vec::new(), before.is_some());
    for (at, step) in recorded.iter().enumerate() {
        let alone = std::iter::once((at, &step.schedule));
        let Some((batches, writes)) = together_with(alone, messages, guards)? else { return Ok(None) };
        let after: Vec<_> = step.after.iter().flat_map(|array| array.parts.iter().flatten()).collect();
        let after = after.into_iter().cloned().collect();
        let layout = recorded.iter().position(|other| are_alike(&other.after, &step.after)).unwrap_or(at);
        guarded.push(GuardedStep { writes, after, layout });
        steps.push(ReplayStep { batches, messages: step.messages, after: leased(&step.after, leases) });
    }
    let rounds = MOST_TOGETHER / recorded.len();
    let (mut round, all) = (None, rounds * recorded.len());
    if let (Some(last), true) = (recorded.last(), rounds > 0)
        && let Some((batches, _)) = together_with(schedules().cycle().take(all), messages, guards)?
    {
        let sent = recorded.iter().map(|step| step.messages).sum::<u64>() * rounds as u64;
        let after = leased(&last.after, leases);
        round = Some((all as u64, ReplayStep { batches, messages: sent, after }));
    }
    if let Some(before) = before {
        messages.guarded(GuardedSteps { before, steps: guarded });
    }
    Ok(Some(ChainedSteps { steps, next: 0, round, messages: Arc::clone(messages) }))
}

fn replay_steps(recorded: &[RecordedStep], leases: &Leases) -> Result<Vec<ReplayStep>> {
    let prepare = |step: &RecordedStep| {
        let batches = match together(&step.schedule)? {
            Some(graph) => vec![graph],
            None => batches(step.schedule.clone(), Device::record_groups)?,
        };
        Ok(ReplayStep { batches, messages: step.messages, after: leased(&step.after, leases) })
    };
    recorded.iter().map(prepare).collect()
}

fn leased(state: &[ArrayMemory], leases: &Leases) -> Vec<(ArrayMemory, Vec<Option<Buffer>>)> {
    let lease = |part: &Option<Arc<Allocation>>| leases.get(&part.as_ref()?.id).cloned();
    state.iter().map(|array| (array.clone(), array.parts.iter().map(lease).collect())).collect()
}

/// The first step that sends something.
fn exchange(recorded: &[RecordedStep]) -> Option<usize> {
    recorded.iter().position(|step| step.messages > 0)
}

impl ReplayStep {
    fn replay(&self, team: &Team, teams: &[Team], state: &mut [Array]) -> Result<()> {
        let _guard = evaluation(teams.iter())?;
        for array in state.iter() {
            detach(array)?;
        }
        program::queue(&self.batches, ReplayBatch::single, ReplayBatch::run)?;
        team.count_messages(self.messages);
        for (array, (after, parts)) in state.iter_mut().zip(&self.after) {
            let ArrayMemory { dist, declared, pitch, fresh, .. } = after;
            let storage = Storage::from_parts(Arc::clone(dist), parts.clone(), *pitch).declaring(declared);
            storage.set_valid_halo(fresh.clone());
            let domain = array.node.domain.clone();
            array.node = Node::ready(array.node.dtype, &array.node.team, storage).over(domain);
        }
        Ok(())
    }
}

/// As many rounds of the recorded steps as devices are given by one call; `None` if that is one step, or the
/// devices cannot do so.
fn rounds_together(recorded: &[RecordedStep], leases: &Leases) -> Result<Option<Round>> {
    let count = MOST_TOGETHER / recorded.len();
    let steps = count * recorded.len();
    let Some(last) = recorded.last().filter(|_| steps > 1) else { return Ok(None) };
    let (messages, schedule) = several(recorded, 0, count);
    let after = leased(&last.after, leases);
    let prepared = |graph| ReplayStep { batches: vec![graph], messages, after };
    Ok(together(&schedule)?.map(|graph| Round {
        first: 0,
        steps: steps as u64,
        prepared: prepared(graph),
        tiled: None,
    }))
}

/// The commands of `count` rounds, beginning with step `first`, and the number of messages they send.
fn several(recorded: &[RecordedStep], first: usize, count: usize) -> (u64, Schedule) {
    let (begun, begins) = recorded.split_at(first);
    let round = || begins.iter().chain(begun);
    let schedule = (0..count).flat_map(|_| round().flat_map(|step| step.schedule.iter().cloned()));
    let messages = recorded.iter().map(|step| step.messages).sum::<u64>();
    (count as u64 * messages, schedule.collect())
}

/// So many rounds of the recorded steps, beginning with step `first`, that they are at least `most` steps,
/// tile by tile on the host's devices; `None` if no device does that.
fn tiled_rounds(
    recorded: &[RecordedStep],
    first: usize,
    most: usize,
    leases: &Leases,
) -> Result<Option<(u64, ReplayStep)>> {
    let count = most.div_ceil(recorded.len());
    let (messages, schedule) = several(recorded, first, count);
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
    let before_first = (first + recorded.len() - 1) % recorded.len();
    let Some(last) = recorded.get(before_first).filter(|_| is_tiled) else { return Ok(None) };
    let prepared = ReplayStep { batches, messages, after: leased(&last.after, leases) };
    Ok(Some(((count * recorded.len()) as u64, prepared)))
}

pub(crate) fn storage(array: &Array) -> Result<Arc<Storage>> {
    array.eval()?;
    match array.node.storage() {
        Some(storage) => Ok(storage),
        None => unreachable!("eval computes or fails"),
    }
}

fn held(storage: Arc<Storage>) -> Vec<Buffer> {
    storage.parts.iter().flatten().cloned().collect()
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
    Recorder::default().execute(old.copy_owned(&node.team, node.dtype, &copy)?)?;
    node.set_ready(Arc::new(copy));
    Ok(())
}
