//! The cache of evaluations: the steps of graphs that were lowered, and of those that came down to launches
//! over memory of operands and results their commands, so that computing an equal graph again, of other
//! memory, is one walk over the nodes, fresh memory and the launches.
//!
//! Commands are kept only of launches on this process's devices: transfers between devices or ranks, uploads
//! and temporary memory are planned anew each time. So whether one rank finds an evaluation here and another
//! does not makes no difference to a third.

use std::any::Any;
use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use partita_kernels::DType;
use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::array::bind::schedule::{ScheduleBuilder, Values};
use crate::array::lower::body::{Leaf, Source};
use crate::array::lower::graph::{Graph, Placement, RecordedGraph, Target};
use crate::array::lower::steps::list::{Lowered, ResultMemory, Step};
use crate::array::memory::pitch::Pitch;
use crate::array::memory::storage::{HaloWidths, Storage};
use crate::array::recorder::recording::Recorder;
use crate::device::Stream;
use crate::error::Result;
use crate::index::Distribution;
use crate::program::{Command, Op};
use crate::team::Team;
use crate::wire::pass;

/// Larger graphs are lowered every time: next to what they compute that is little.
const MAX_NODES: usize = 512;

/// Nodes and commands of everything a team keeps. Beyond it everything is forgotten, which costs one lowering
/// each; a program with so many graphs in use gains little anyway.
const MAX_KEPT: usize = 1 << 15;

/// How to compute equal graphs.
pub(crate) struct CachedEvaluation {
    hash: u64,
    graph: Graph,
    pub lowered: Arc<Lowered>,
    pub commands: Option<Commands>,
}

/// What one step of kernels came down to: commands whose memory is named.
pub(crate) struct Commands {
    commands: Vec<CachedCommand>,
    /// Memory layouts, distributions and types.
    results: Vec<ResultLayout>,
    /// Operands whose halos are so wide afterwards.
    updated_halos: Vec<(usize, HaloWidths)>,
    messages: u64,
}

/// Whose memory, operands first and then results, and of which part.
type MemorySlot = (usize, usize);

/// A command whose jobs name their memory by slots, job by job, instead of holding it.
struct CachedCommand {
    command: Command,
    memory: Vec<Vec<MemorySlot>>,
}

impl Commands {
    /// The commands of a complete schedule; `None` if they are not to be kept.
    pub fn of(
        recorded: &RecordedGraph,
        lowered: &Lowered,
        (work, results): (&ScheduleBuilder, &[Arc<Storage>]),
        values: &Values,
    ) -> Option<Commands> {
        let [Step::Compute(task)] = &lowered.list.steps[..] else { return None };
        let place =
            |storage: &Arc<Storage>| recorded.memory.iter().position(|(_, at)| Arc::ptr_eq(at, storage));
        // Memory of other extents was not there when the graph was made.
        let is_recorded = |leaf: &Leaf| match leaf.source {
            Source::Memory(node) => values.storage(node).is_ok_and(|storage| place(&storage).is_some()),
            Source::List(..) | Source::Number(..) => false,
        };
        let nodes: Vec<_> = task.results.iter().map(|result| result.node).collect();
        if nodes != lowered.results || !task.kernels.iter().flat_map(|k| &k.leaves).all(is_recorded) {
            return None;
        }
        let named = recorded.memory.iter().map(|(_, storage)| storage).chain(results);
        let names = memory_slots(named)?;
        let step = |command: &Command| {
            let is_kept =
                matches!(command.op, Op::Launch { .. } | Op::BatchedCopy { .. } | Op::RecordHash { .. });
            if !is_kept || command.stream != Stream::Compute {
                return None;
            }
            let mut command = command.clone();
            let jobs = command.op.jobs_mut().iter_mut();
            let memory = jobs.map(|job| job.memory.drain(..).map(|m| names.get(&m.id).copied()).collect());
            Some(CachedCommand { memory: memory.collect::<Option<_>>()?, command })
        };
        let commands = work.commands().iter().map(step).collect::<Option<Vec<CachedCommand>>>()?;
        let updated =
            work.updated_halos().iter().map(|(storage, halo)| Some((place(storage)?, halo.clone())));
        let updated_halos = updated.collect::<Option<_>>()?;
        let result = |(storage, result): (&Arc<Storage>, &ResultMemory)| ResultLayout {
            dist: Arc::clone(&storage.dist),
            declared: Arc::clone(&storage.declared),
            pitch: storage.pitch,
            dtype: result.dtype,
        };
        let results = results.iter().zip(&task.results).map(result).collect();
        Some(Commands { commands, results, updated_halos, messages: work.messages() })
    }

    /// Computes the targets of an equal graph.
    pub fn repeat(
        &self,
        team: &Team,
        recorder: &Recorder,
        recorded: &RecordedGraph,
        targets: &[Target],
    ) -> Result<Option<Vec<Arc<Storage>>>> {
        pass("eval-lowered")?;
        let memory = |(target, ResultLayout { dist, declared, pitch, dtype }): (&Target, &ResultLayout)| {
            let storage = match &target.placement {
                Placement::InPlace((base, _)) => match base.storage() {
                    Some(there) => Storage::from_parts(Arc::clone(dist), there.parts.clone(), there.pitch),
                    None => unreachable!("an array that is written in place is computed"),
                },
                Placement::Fresh | Placement::WindowOfFresh(..) | Placement::Temporary(..) => {
                    Storage::pitched(team, Arc::clone(dist), *dtype, *pitch)?
                }
            };
            Ok(Arc::new(storage.declaring(declared)))
        };
        let results = targets.iter().zip(&self.results).map(memory).collect::<Result<Vec<Arc<Storage>>>>()?;
        let operands = &recorded.memory;
        let part = |&(source, part): &MemorySlot| {
            let storage = match source.checked_sub(operands.len()) {
                None => &operands[source].1,
                Some(result) => &results[result],
            };
            storage.parts[part].as_ref().map(|buffer| Arc::clone(buffer.allocation()))
        };
        let command = |cached: &CachedCommand| {
            let mut command = cached.command.clone();
            command.set_numbers(&recorded.numbers);
            for (job, memory) in command.op.jobs_mut().iter_mut().zip(&cached.memory) {
                job.memory = memory.iter().map(part).collect::<Option<_>>()?;
            }
            Some(command)
        };
        let Some(schedule) = self.commands.iter().map(command).collect() else { return Ok(None) };
        team.count_messages(self.messages);
        recorder.execute(schedule)?;
        pass("eval-queued")?;
        for (operand, halo) in &self.updated_halos {
            operands[*operand].1.set_valid_halo(halo.clone());
        }
        Ok(Some(results))
    }
}

/// The memory that a result gets.
struct ResultLayout {
    dist: Arc<Distribution>,
    declared: Arc<Distribution>,
    pitch: Pitch,
    dtype: DType,
}

/// The name of every allocation; `None` if one has two.
fn memory_slots<'a>(storages: impl Iterator<Item = &'a Arc<Storage>>) -> Option<FxHashMap<u64, MemorySlot>> {
    let mut names = HashMap::default();
    for (source, storage) in storages.enumerate() {
        for (part, buffer) in storage.parts.iter().enumerate() {
            let Some(buffer) = buffer else { continue };
            if names.insert(buffer.allocation().id, (source, part)).is_some() {
                return None;
            }
        }
    }
    Some(names)
}

impl CachedEvaluation {
    pub fn new(graph: Graph, lowered: Arc<Lowered>, commands: Option<Commands>) -> CachedEvaluation {
        #[cfg(test)]
        let graph = tests::left_out(graph);
        CachedEvaluation { hash: hash_of(&graph), graph, lowered, commands }
    }

    fn weight(&self) -> usize {
        self.graph.nodes.len() + self.commands.as_ref().map_or(0, |commands| commands.commands.len())
    }
}

fn hash_of(graph: &Graph) -> u64 {
    FxBuildHasher.hash_one(graph)
}

/// How to compute an equal graph, if it is known.
pub(crate) fn find(team: &Team, graph: &Graph) -> Option<Arc<CachedEvaluation>> {
    #[cfg(test)]
    let graph = &tests::left_out(graph.clone());
    cache_of(team).find(hash_of(graph), graph)
}

/// Keeps an evaluation for the next time.
pub(crate) fn keep(team: &Team, cached: CachedEvaluation) {
    if cached.graph.nodes.len() <= MAX_NODES {
        cache_of(team).insert(cached);
    }
}

/// What a team keeps, by hash: of two graphs with one hash, the later.
#[derive(Default)]
struct EvaluationCache {
    evaluations: FxHashMap<u64, Arc<CachedEvaluation>>,
    weight: usize,
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

    fn insert(&mut self, cached: CachedEvaluation) {
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

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
