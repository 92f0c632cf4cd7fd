//! The cache of evaluations: the steps of graphs that were lowered, and, where these can be kept, their
//! commands, so that computing an equal graph again, of other memory, is one walk over the nodes, fresh
//! memory and the commands.
//!
//! [`CachedCommands`]: what the steps of an evaluation came down to, step by step: the memory that is made,
//! the commands, which name all memory by numbers, and what is complete or free afterwards.
//!
//! Messages between ranks are kept, too: a rank that finds an evaluation sends and expects what a rank sends
//! that lowers it anew. Exported CUDA memory alone is not: it has its own life.

use std::any::Any;
use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use partita_kernels::{DType, Scalar};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use crate::array::bind::schedule::{BoundStep, Values, missing_part};
use crate::array::lower::graph::{Graph, NodeId, RecordedGraph};
use crate::array::lower::steps::list::{Lowered, MemoryId, Step, StoredArray};
use crate::array::memory::storage::{HaloWidths, Pitch, Storage};
use crate::array::record::node::Node;
use crate::array::recorder::recording::Recorder;
use crate::device::{Allocation, Buffer, Device, Program};
use crate::error::Result;
use crate::index::Distribution;
use crate::interrupt;
use crate::program::{Command, Op, Schedule};
use crate::team::Team;
use crate::wire::{Ranks, pass};
/// Larger graphs are lowered every time: next to what they compute that is little.
const MAX_NODES: usize = 512;

/// The most nodes and commands that a team keeps, of about 4 KiB each. When there are more, all are
/// forgotten, and each graph is lowered once more when it comes again. A program that assigns to element
/// after element has a graph for each. (Tests of keys need the many graphs of their random programs.)
const MAX_KEPT: usize = if cfg!(test) { 1 << 15 } else { 1 << 11 };

/// The kept evaluation of equal graphs.
pub(crate) struct CachedEvaluation {
    hash: u64,
    graph: Graph,
    pub way: CachedWay,
}

/// The shorter way where there is one.
pub(crate) enum CachedWay {
    Commands(CachedCommands),
    Steps(Arc<Lowered>),
}

impl CachedEvaluation {
    pub fn new(graph: Graph, way: CachedWay) -> CachedEvaluation {
        #[cfg(test)]
        let graph = tests::left_out(graph);
        CachedEvaluation { hash: hash_of(&graph), graph, way }
    }

    fn weight(&self) -> usize {
        let commands = if let CachedWay::Commands(commands) = &self.way { commands.len() } else { 0 };
        self.graph.nodes.len() + commands
    }

    fn is_forgotten(&self) -> bool {
        matches!(&self.way, CachedWay::Commands(commands) if commands.has_forgotten_programs())
    }
}

fn hash_of(graph: &Graph) -> u64 {
    FxBuildHasher.hash_one(graph)
}

/// The kept evaluation of an equal graph, if there is one.
pub(crate) fn find(team: &Team, graph: &Graph) -> Option<Arc<CachedEvaluation>> {
    #[cfg(test)]
    let graph = &tests::left_out(graph.clone());
    cache_of(team).find(hash_of(graph), graph)
}

/// Keeps an evaluation for the next time.
pub(crate) fn keep(team: &Team, cached: CachedEvaluation) {
    if cached.graph.nodes.len() <= MAX_NODES {
        let mut cache = cache_of(team);
        if !cached.graph.has_positions() || cache.saw(cached.hash) {
            cache.insert(cached);
        }
    }
}

/// The evaluations that a team keeps, by hash: of two graphs with one hash, the later.
#[derive(Default)]
struct EvaluationCache {
    evaluations: FxHashMap<u64, Arc<CachedEvaluation>>,
    weight: usize,
    /// Graphs with lists of positions that came once. Random lists never come again.
    seen: FxHashSet<u64>,
    /// The programs that devices had forgotten when the cache last looked.
    forgotten: u64,
    #[cfg(test)]
    found: usize,
}

impl EvaluationCache {
    fn find(&mut self, hash: u64, graph: &Graph) -> Option<Arc<CachedEvaluation>> {
        let cached = self.evaluations.get(&hash).filter(|cached| cached.graph == *graph)?;
        #[cfg(test)]
        (self.found += 1);
        Some(Arc::clone(cached))
    }

    /// Whether a graph came before; it has come now.
    fn saw(&mut self, hash: u64) -> bool {
        if self.seen.len() >= MAX_NODES {
            self.seen.clear();
        }
        !self.seen.insert(hash)
    }

    fn insert(&mut self, cached: CachedEvaluation) {
        // The memory of a program that a device forgets is free only once no evaluation holds it.
        let forgotten = Program::forgotten();
        if self.forgotten != forgotten {
            self.forgotten = forgotten;
            self.evaluations.retain(|_, evaluation| !evaluation.is_forgotten());
            self.weight = self.evaluations.values().map(|evaluation| evaluation.weight()).sum();
        }
        if self.weight + cached.weight() > MAX_KEPT {
            (self.evaluations, self.weight) = Default::default();
        }
        self.weight += cached.weight();
        let before = self.evaluations.insert(cached.hash, Arc::new(cached));
        self.weight -= before.map_or(0, |before| before.weight());
    }
}

fn cache_of(team: &Team) -> MutexGuard<'_, EvaluationCache> {
    let any: &(dyn Any + Send + Sync) = team.notes(|| Box::new(Mutex::<EvaluationCache>::default()));
    let Some(cache) = any.downcast_ref::<Mutex<EvaluationCache>>() else {
        unreachable!("nobody else keeps notes")
    };
    cache.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The commands of all steps, and the numbers of the results. Operands have the first numbers, in the order
/// of the graph; then comes what the steps make.
pub(crate) struct CachedCommands {
    steps: Vec<CachedStep>,
    results: Vec<usize>,
}

#[derive(Default)]
struct CachedStep {
    makes: Vec<Make>,
    commands: Vec<CachedCommand>,
    /// Arrays whose halos are so wide afterwards.
    updated_halos: Vec<(usize, HaloWidths)>,
    /// Arrays that are complete afterwards, and memory that nobody needs any more.
    complete: Vec<usize>,
    released: Vec<usize>,
    messages: u64,
}

/// Memory that a step begins with.
enum Make {
    Array {
        node: NodeId,
        layout: ArrayLayout,
        memory: ArrayMemory,
    },
    Temporary(Vec<Option<(Device, u64)>>),
    /// An index list, which stays.
    List(Buffer),
}

/// The bytes of all index lists of an evaluation that is kept.
const MOST_LISTED: u64 = 1 << 12;

struct ArrayLayout {
    dist: Arc<Distribution>,
    declared: Arc<Distribution>,
    pitch: Pitch,
}

/// Whose memory an array has.
#[derive(Clone, Copy)]
enum ArrayMemory {
    New(DType),
    /// That of an array with a number, viewed in another shape, or just that.
    Seen(usize),
    Donated(usize),
}

/// Whose memory, by its number, and of which part.
type MemorySlot = (usize, usize);

/// A command that names its memory by slots instead of holding it.
struct CachedCommand {
    command: Command,
    memory: Vec<MemorySlot>,
}

/// Memory of a repetition.
enum Made {
    Array(Arc<Storage>),
    Temporary(Vec<Option<Buffer>>),
}

impl CachedCommands {
    pub fn len(&self) -> usize {
        let lists =
            |step: &CachedStep| step.makes.iter().filter(|make| matches!(make, Make::List(_))).count();
        self.steps.iter().map(|step| step.commands.len() + lists(step)).sum()
    }

    /// Whether a device no longer keeps one of the programs.
    pub fn has_forgotten_programs(&self) -> bool {
        let commands = self.steps.iter().flat_map(|step| &step.commands);
        commands.flat_map(|cached| cached.command.op.jobs()).any(|job| job.program.is_forgotten())
    }

    /// Computes the targets of an equal graph.
    pub fn repeat(
        &self,
        (team, recorder): (&Team, &Recorder),
        recorded: &mut RecordedGraph,
    ) -> Result<Vec<Arc<Storage>>> {
        pass("eval-lowered")?;
        let makes = self.steps.iter().flat_map(|step| &step.makes);
        let node = |make: &Make| match make {
            Make::Array { node, .. } => recorded.nodes.get(*node as usize).cloned(),
            Make::Temporary(_) | Make::List(_) => None,
        };
        let mut nodes: Vec<Option<Arc<Node>>> = makes.map(node).collect();
        // Nobody else holds what only steps in between read.
        recorded.nodes.clear();
        let operands = recorded.memory.len();
        let mut made: Vec<Option<Made>> = Vec::with_capacity(nodes.len());
        for step in &self.steps {
            interrupt::check("an evaluation")?;
            pass("step")?;
            for make in &step.makes {
                let array = |at: usize| array(recorded, &made, at);
                let new = make.memory(team, array)?;
                made.push(Some(new));
            }
            recorder.keep(
                step.makes
                    .iter()
                    .filter_map(|make| if let Make::List(list) = make { Some(list) } else { None }),
            );
            let part = |&(at, part): &MemorySlot| {
                let buffer = match at.checked_sub(operands) {
                    None => recorded.memory[at].1.parts[part].as_ref(),
                    Some(at) => match &made[at] {
                        Some(Made::Array(storage)) => storage.parts[part].as_ref(),
                        Some(Made::Temporary(parts)) => parts[part].as_ref(),
                        None => None,
                    },
                };
                let buffer = buffer.ok_or_else(|| missing_part("eval"))?;
                Ok(Arc::clone(buffer.allocation()))
            };
            let filled = step.commands.iter().map(|cached| cached.filled(&recorded.numbers, part));
            let mut schedule = filled.collect::<Result<Schedule>>()?;
            in_new_epochs(&mut schedule);
            if step.messages > 0 {
                team.count_messages(step.messages);
            }
            for (at, halo) in &step.updated_halos {
                array(recorded, &made, *at)?.narrow_valid_halo(halo);
            }
            recorder.execute(schedule)?;
            pass("eval-queued")?;
            if step.messages > 0 {
                pass("exchange-queued")?;
            }
            for (at, halo) in &step.updated_halos {
                array(recorded, &made, *at)?.set_valid_halo(halo.clone());
            }
            for &at in &step.complete {
                if let Some(node) = nodes[at - operands].take() {
                    node.set_ready(Arc::clone(array(recorded, &made, at)?));
                }
            }
            step.released.iter().for_each(|at| made[at - operands] = None);
        }
        self.results.iter().map(|&at| array(recorded, &made, at).map(Arc::clone)).collect()
    }
}

/// The array with a number.
fn array<'m>(recorded: &'m RecordedGraph, made: &'m [Option<Made>], at: usize) -> Result<&'m Arc<Storage>> {
    match at.checked_sub(recorded.memory.len()) {
        None => Ok(&recorded.memory[at].1),
        Some(at) => match &made[at] {
            Some(Made::Array(storage)) => Ok(storage),
            Some(Made::Temporary(_)) | None => Err(missing_part("eval")),
        },
    }
}

impl Make {
    fn memory<'m>(&self, team: &Team, array: impl Fn(usize) -> Result<&'m Arc<Storage>>) -> Result<Made> {
        let (layout, memory) = match self {
            Make::Array { layout, memory, .. } => (layout, memory),
            Make::List(list) => return Ok(Made::Temporary(vec![Some(list.clone())])),
            Make::Temporary(parts) => {
                let part = |part: &Option<(Device, u64)>| {
                    part.as_ref().map(|(device, bytes)| device.alloc(*bytes)).transpose()
                };
                return Ok(Made::Temporary(parts.iter().map(part).collect::<Result<_>>()?));
            }
        };
        let ArrayLayout { dist, declared, pitch } = layout;
        let storage = match *memory {
            ArrayMemory::New(dtype) => Storage::pitched(team, Arc::clone(dist), dtype, *pitch)?,
            ArrayMemory::Donated(from) => return Ok(Made::Array(Arc::clone(array(from)?))),
            ArrayMemory::Seen(base) => array(base)?.seen_at(Arc::clone(dist), *pitch),
        };
        Ok(Made::Array(Arc::new(storage.declaring(declared))))
    }
}

impl CachedCommand {
    fn filled(
        &self,
        numbers: &[Scalar],
        part: impl Fn(&MemorySlot) -> Result<Arc<Allocation>>,
    ) -> Result<Command> {
        let mut command = self.command.clone();
        command.set_numbers(numbers);
        for (memory, slot) in command.op.memory_mut().into_iter().zip(&self.memory) {
            *memory = part(slot)?;
        }
        Ok(command)
    }
}

/// Gives the messages of each exchange an epoch of their own, as its lowering did.
fn in_new_epochs(schedule: &mut Schedule) {
    let mut epoch: Option<Ranks> = None;
    for command in schedule {
        if let Op::BeginCollective { ranks, .. } = &command.op {
            epoch = Some(ranks.in_new_epoch());
        }
        if let (Some(ranks), Some(epoch)) = (command.op.ranks_mut(), &epoch) {
            *ranks = epoch.clone();
        }
    }
}

/// Commands that are collected while their steps run for the first time.
pub(crate) struct CommandsBuilder {
    steps: Vec<CachedStep>,
    numbers: FxHashMap<MemoryId, usize>,
    /// By the numbers of storages.
    arrays: FxHashMap<u64, usize>,
    /// By the numbers of allocations that are in use.
    slots: FxHashMap<u64, MemorySlot>,
    /// The array whose memory another one is a view of.
    seen_in: FxHashMap<usize, usize>,
    /// Memory that is free again: what is made later may be the same.
    released: FxHashSet<usize>,
    /// Arrays that several steps compute.
    begun: FxHashSet<NodeId>,
    operands: usize,
    /// Bytes of index lists.
    listed: u64,
    /// The next memory's number; `None` once something cannot be kept.
    next: Option<usize>,
}

impl CommandsBuilder {
    pub fn new(recorded: &RecordedGraph) -> CommandsBuilder {
        let mut new = CommandsBuilder {
            steps: Vec::new(),
            numbers: HashMap::default(),
            arrays: HashMap::default(),
            slots: HashMap::default(),
            seen_in: HashMap::default(),
            released: FxHashSet::default(),
            begun: FxHashSet::default(),
            operands: recorded.memory.len(),
            listed: 0,
            next: Some(0),
        };
        let mut operands = recorded.memory.iter();
        let mut operand = |(node, storage): &(NodeId, Arc<Storage>)| {
            let at = new.named(*node, storage)?;
            new.slots(at, storage.parts.iter().map(Option::as_ref))
        };
        if !operands.all(|one| operand(one).is_some()) {
            new.next = None;
        }
        new
    }

    /// Notes a step whose commands are complete, before they are queued.
    pub fn step(&mut self, step: &Step, bound: &BoundStep, values: &Values) {
        if self.next.is_some() && self.noted(step, bound, values).is_none() {
            self.next = None;
        }
    }

    /// Notes memory that nobody needs after the last step.
    pub fn release(&mut self, memory: MemoryId) {
        self.complete(memory);
        if let (Some(&at), Some(step)) = (self.numbers.get(&memory), self.steps.last_mut())
            && at >= self.operands
        {
            step.released.push(at);
            self.forget(at);
        }
    }

    /// From now on its allocations are those of the array that it is a view of, if that is still there.
    fn forget(&mut self, at: usize) {
        self.released.insert(at);
        let bases = std::iter::successors(self.seen_in.get(&at), |base| self.seen_in.get(*base));
        match bases.into_iter().find(|base| !self.released.contains(*base)) {
            Some(&base) => self.slots.values_mut().filter(|slot| slot.0 == at).for_each(|slot| slot.0 = base),
            None => self.slots.retain(|_, slot| slot.0 != at),
        }
    }

    /// All of them, with the arrays that are wanted; `None` if they cannot be kept.
    pub fn finish(mut self, results: &[NodeId]) -> Option<CachedCommands> {
        self.next?;
        results.iter().for_each(|&node| self.complete(MemoryId::Array(node)));
        let results = results.iter().map(|&node| self.numbers.get(&MemoryId::Array(node)).copied());
        Some(CachedCommands { results: results.collect::<Option<_>>()?, steps: self.steps })
    }

    /// Notes that the last of the steps that compute an array is done.
    fn complete(&mut self, memory: MemoryId) {
        if let (MemoryId::Array(node), Some(step)) = (memory, self.steps.last_mut())
            && self.begun.remove(&node)
        {
            step.complete.extend(self.numbers.get(&memory));
        }
    }

    fn noted(&mut self, step: &Step, BoundStep { work, made }: &BoundStep, values: &Values) -> Option<()> {
        // A sort by the host is no command.
        if matches!(step, Step::Sort(_)) {
            return None;
        }
        let mut new = CachedStep { messages: work.messages(), ..CachedStep::default() };
        for memory in step.reads().into_iter().chain(step.results()) {
            if let (MemoryId::Boxes(boxes), false) = (memory, self.numbers.contains_key(&memory)) {
                self.numbers.insert(memory, self.next?);
                let parts = values.boxes(boxes)?.iter();
                new.makes.push(self.temporary(parts.map(|part| part.as_ref().map(|one| &one.1)))?);
            }
        }
        if let Step::Allocate(StoredArray { node, dtype, .. }) = step {
            self.begun.insert(*node);
            self.array(*node, &*values.storage(*node).ok()?, ArrayMemory::New(*dtype), &mut new)?;
        }
        for (node, storage) in made {
            let memory = self.memory_of(step)?;
            new.complete.push(self.next?);
            self.array(*node, storage, memory, &mut new)?;
        }
        let written = work.commands().iter().flat_map(|command| command.op.writes());
        let written: FxHashSet<u64> = written.map(|memory| memory.id).collect();
        for list in &work.uploads {
            self.listed += list.allocation().bytes;
            let at = self.next.filter(|_| self.listed <= MOST_LISTED)?;
            self.next = Some(at + 1);
            self.slots(at, std::iter::once(Some(list)))?;
            new.makes.push(Make::List(list.clone()));
        }
        // After the results, as when the step ran first: so a step of a `Loop` soon finds the memory that it
        // found before.
        for lease in work.leases.iter().filter(|lease| written.contains(&lease.allocation().id)) {
            new.released.push(self.next?);
            new.makes.push(self.temporary(std::iter::once(Some(lease)))?);
        }
        for (storage, halo) in work.updated_halos() {
            new.updated_halos.push((*self.arrays.get(&storage.number)?, halo.clone()));
        }
        new.commands = work.commands().iter().map(|command| self.command(command)).collect::<Option<_>>()?;
        new.released.iter().for_each(|&lease| self.forget(lease));
        self.steps.push(new);
        Some(())
    }

    /// Whose memory an array has that a step makes; `None` where that depends on what the step finds.
    fn memory_of(&self, step: &Step) -> Option<ArrayMemory> {
        match step {
            Step::Donate { from, .. } => {
                Some(ArrayMemory::Donated(*self.numbers.get(&MemoryId::Array(*from))?))
            }
            Step::Alias { base, .. } => {
                // Operands may be lent by somebody who writes to them; then they are copied.
                let base = *self.numbers.get(&MemoryId::Array(*base))?;
                (base >= self.operands).then_some(ArrayMemory::Seen(base))
            }
            Step::Allocate(_) | Step::Exchange(_) | Step::Launch(_) | Step::Copy { .. } => None,
            Step::Sort(_) | Step::Move { .. } => None,
        }
    }

    /// Gives an array the next number.
    fn named(&mut self, node: NodeId, storage: &Storage) -> Option<usize> {
        let at = self.next?;
        self.next = Some(at + 1);
        self.numbers.insert(MemoryId::Array(node), at);
        self.arrays.insert(storage.number, at);
        Some(at)
    }

    fn array(
        &mut self,
        node: NodeId,
        storage: &Storage,
        memory: ArrayMemory,
        step: &mut CachedStep,
    ) -> Option<()> {
        let [dist, declared] = [&storage.dist, &storage.declared].map(Arc::clone);
        let layout = ArrayLayout { dist, declared, pitch: storage.pitch };
        step.makes.push(Make::Array { node, layout, memory });
        let at = self.named(node, storage)?;
        if let ArrayMemory::Seen(base) | ArrayMemory::Donated(base) = memory {
            self.seen_in.insert(at, base);
            self.slots.values_mut().filter(|slot| slot.0 == base).for_each(|slot| slot.0 = at);
            return Some(());
        }
        self.slots(at, storage.parts.iter().map(Option::as_ref))
    }

    fn temporary<'b>(&mut self, parts: impl Iterator<Item = Option<&'b Buffer>> + Clone) -> Option<Make> {
        let at = self.next?;
        self.next = Some(at + 1);
        self.slots(at, parts.clone())?;
        let part =
            |part: Option<&Buffer>| part.map(|buffer| (buffer.device().clone(), buffer.allocation().bytes));
        Some(Make::Temporary(parts.map(part).collect()))
    }

    /// Names the allocations of some memory; `None` if one has a name.
    fn slots<'b>(&mut self, at: usize, parts: impl Iterator<Item = Option<&'b Buffer>>) -> Option<()> {
        for (part, buffer) in parts.enumerate() {
            let Some(buffer) = buffer else { continue };
            if self.slots.insert(buffer.allocation().id, (at, part)).is_some() {
                return None;
            }
        }
        Some(())
    }

    fn command(&self, command: &Command) -> Option<CachedCommand> {
        if command.op.exports() {
            return None;
        }
        let mut command = command.clone();
        let mut slots = Vec::new();
        for memory in command.op.memory_mut() {
            slots.push(*self.slots.get(&memory.id)?);
            *memory = Allocation::none();
        }
        Some(CachedCommand { memory: slots, command })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
