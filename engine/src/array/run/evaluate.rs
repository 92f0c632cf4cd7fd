//! Evaluation: record -> lower -> bind -> run, as users request it ([`Array::eval`], [`eval_all`]) and as
//! the engine does. Recorded nodes become a graph, the graph becomes steps, or the cache has these; then the
//! steps run in order, and memory is released after the last one that names it ([`StepRun`]). Of a chain of
//! operations that grows too long, about half is computed.
//!
//! Invariant: kernels never wait for a rank. Everything a launch reads is on its own device before.

use std::collections::HashMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::array::bind::launch::{exchange, launch};
use crate::array::bind::schedule::{BoundStep, ScheduleBuilder, Values, missing_part};
use crate::array::lower::body::Source;
use crate::array::lower::division::lower_half;
use crate::array::lower::graph::{NodeId, RecordedGraph, Target};
use crate::array::lower::lowerer::{SharedExchange, lower};
use crate::array::lower::steps::list::{
    CopiedCells, FusedKernel, KernelLaunch, Lowered, MemoryId, ResultStorage, Step, StepList, StoredArray,
};
use crate::array::memory::storage::{Storage, widened};
use crate::array::record::node::{Array, Node};
use crate::array::recorder::recording::{BoundKernel, BoundTask, HaloRequest, OperandRead, Recorder};
use crate::array::run::cache::{CachedEvaluation, CachedWay, CommandsBuilder, find, keep};
use crate::array::run::moves::moving;
use crate::array::run::sort::sort;
use crate::error::Result;
use crate::index::Distribution;
use crate::interrupt;
use crate::program::Place;
use crate::team::{Team, evaluation};
use crate::wire::pass;
/// Computes every node that is not computed yet.
pub(crate) fn evaluate(recorder: &Recorder, roots: &[Arc<Node>]) -> Result<()> {
    pass("eval")?;
    let lazy = roots.iter().filter(|node| node.storage().is_none());
    compute_targets(recorder, lazy.map(Target::fresh).collect()).map(|_| ())
}

/// Computes targets; gives their memory in order. Those of one team are one evaluation.
pub(crate) fn compute_targets(recorder: &Recorder, targets: Vec<Target>) -> Result<Vec<Arc<Storage>>> {
    interrupt::check("an evaluation")?;
    if let Some(error) = targets.iter().find_map(|target| target.node.error()) {
        return Err(error);
    }
    let Some(team) = targets.first().map(|target| target.node.team.clone()) else { return Ok(Vec::new()) };
    if targets.iter().all(|target| target.node.team == team) {
        return evaluate_all(recorder, &team, targets);
    }
    let mut results: Vec<Option<Arc<Storage>>> = vec![None; targets.len()];
    let mut teams: Vec<(Team, Vec<usize>, Vec<Target>)> = Vec::new();
    for (at, target) in targets.into_iter().enumerate() {
        match teams.iter_mut().find(|(team, ..)| *team == target.node.team) {
            Some((_, places, members)) => {
                places.push(at);
                members.push(target);
            }
            None => teams.push((target.node.team.clone(), vec![at], vec![target])),
        }
    }
    for (team, places, members) in teams {
        for (at, storage) in places.into_iter().zip(evaluate_all(recorder, &team, members)?) {
            results[at] = Some(storage);
        }
    }
    Ok(results.into_iter().flatten().collect())
}

/// The nodes of the largest graph whose nodes are known again.
const MOST_MARKED: usize = 4096;

/// Computes targets of one team, and beside them what waits for an evaluation, and what would else be
/// computed again and again.
fn evaluate_all(recorder: &Recorder, team: &Team, mut targets: Vec<Target>) -> Result<Vec<Arc<Storage>>> {
    let wanted = targets.len();
    for node in recorder.take_deferred(|node| node.team == *team) {
        if !targets.iter().any(|target| Arc::ptr_eq(&target.node, &node)) {
            targets.push(Target::fresh(&node));
        }
    }
    let mut recorded = record_with_sources(recorder, team, &targets)?;
    // The step of a `Loop` ends with all values of its state computed.
    let repeated = if recorder.is_recording() { Vec::new() } else { recorded.repeated() };
    if !repeated.is_empty() {
        targets.extend(repeated.iter().map(Target::fresh));
        recorded = RecordedGraph::of(team, &targets)?;
    }
    // Of what is larger, nearly all is new.
    if recorded.nodes.len() <= MOST_MARKED {
        recorded.nodes.iter().for_each(|node| node.mark_repeated());
    }
    let mut results = evaluate_on(recorder, team, recorded)?;
    results.truncate(wanted);
    Ok(results)
}

/// The graph of targets whose operands on other teams are computed. Operands of these are on further teams,
/// or on this one, and so on.
fn record_with_sources(recorder: &Recorder, team: &Team, targets: &[Target]) -> Result<RecordedGraph> {
    let mut pending: Vec<Arc<Node>> = Vec::new();
    loop {
        let source = pending.last().map(Target::fresh);
        let (team, targets) = match &source {
            Some(target) => (&target.node.team, std::slice::from_ref(target)),
            None => (team, targets),
        };
        let recorded = RecordedGraph::of(team, targets)?;
        match (recorded.pending.is_empty(), source.is_some()) {
            (false, _) => pending.extend(recorded.pending),
            (true, false) => return Ok(recorded),
            (true, true) => {
                evaluate_on(recorder, team, recorded)?;
                pending.retain(|node| node.storage().is_none());
            }
        }
    }
}

fn evaluate_on(recorder: &Recorder, team: &Team, mut recorded: RecordedGraph) -> Result<Vec<Arc<Storage>>> {
    recorder.note(&recorded.graph);
    let shared = shared_exchange(recorder, &mut recorded)?;
    let is_cacheable = recorded.is_cacheable && shared.is_none();
    let cached = if is_cacheable { find(team, &recorded.graph) } else { None };
    let lowered = match cached.as_ref().map(|cached| &cached.way) {
        Some(CachedWay::Commands(commands)) => {
            return commands.repeat((team, recorder), &mut recorded);
        }
        Some(CachedWay::Steps(lowered)) => Arc::clone(lowered),
        None => Arc::new(lower(&mut recorded.graph.clone(), team, shared, false)?),
    };
    recorder.end_extensions(lowered.extended);
    pass("eval-lowered")?;
    let mut builder = (is_cacheable && cached.is_none()).then(|| CommandsBuilder::new(&recorded));
    let storages = run((team, recorder), &mut recorded, &lowered, builder.as_mut())?;
    if let Some(builder) = builder {
        let commands = builder.finish(&lowered.results);
        let way = commands.map_or(CachedWay::Steps(lowered), CachedWay::Commands);
        keep(team, CachedEvaluation::new(recorded.graph, way));
    }
    Ok(storages)
}

/// What a `Loop` prescribes, if its steps share exchanges; arrays whose halos it asks for are nodes of the
/// graph then.
fn shared_exchange(recorder: &Recorder, recorded: &mut RecordedGraph) -> Result<Option<SharedExchange>> {
    let Some(extensions) = recorder.shared_exchange() else { return Ok(None) };
    let mut halos = Vec::new();
    for HaloRequest { node, halo } in recorder.take_halo_requests() {
        let Some(storage) = node.storage() else { continue };
        match widened(&storage.dist, &halo)? {
            Some(_) => halos.push((recorded.number(&node, storage), halo)),
            None => {
                let reason = || format!("an array cannot have halos of {} and {}", halo.lo, halo.hi);
                recorder.mark_unsupported(reason);
            }
        }
    }
    Ok(Some(SharedExchange { extensions, halos }))
}

/// Runs the steps. Gives the memory of the targets.
fn run(
    (team, recorder): (&Team, &Recorder),
    recorded: &mut RecordedGraph,
    lowered: &Lowered,
    builder: Option<&mut CommandsBuilder>,
) -> Result<Vec<Arc<Storage>>> {
    if let Some(reason) = lowered.unsupported {
        recorder.mark_unsupported(|| reason.to_owned());
    }
    let Lowered { list, results, .. } = lowered;
    let steps = StepRun { team, recorder, list, results };
    let last_uses = steps.last_uses();
    let mut values = Values::with(recorded.numbers.clone());
    // Nobody else holds what only steps in between read: it is free again after the last of them.
    for (node, recorded) in (0..).zip(std::mem::take(&mut recorded.nodes)) {
        if last_uses.contains_key(&MemoryId::Array(node)) {
            values.hold(node, recorded);
        }
    }
    steps.run(&mut values, &last_uses, builder)?;
    results.iter().map(|&node| values.storage(node)).collect()
}

/// The longest chain of recorded operations. When one grows longer, about half of it is computed.
const LONGEST_CHAIN: u32 = 8192;

/// Whether a chain of recorded operations is so long, or nearly, that a part should be computed.
pub(crate) fn is_long(node: &Node, room: u32) -> bool {
    node.depth() > LONGEST_CHAIN - room
}

/// Computes about half of what was recorded for a node: the values that cross a narrow place in its middle.
/// The node itself stays recorded, so that what it is used for next is fused with it.
pub(crate) fn shorten(node: &Arc<Node>) -> Result<()> {
    let recorder = Recorder::current();
    let _guard = evaluation(node.teams())?;
    // Some of it may have been computed since, for another value that needs it.
    recount(node)?;
    if !is_long(node, LONGEST_CHAIN / 2) {
        return Ok(());
    }
    node.team.together("eval", || {
        let half = {
            let RecordedGraph { graph, nodes, .. } = RecordedGraph::of(&node.team, &[Target::fresh(node)])?;
            let half = lower_half(&graph, graph.targets[0].node);
            half.into_iter().map(|at| Arc::clone(&nodes[at as usize])).collect::<Vec<Arc<Node>>>()
        };
        evaluate(&recorder, &half)?;
        recount(node)?;
        // A chain of views alone has no middle.
        if is_long(node, LONGEST_CHAIN / 4) {
            evaluate(&recorder, std::slice::from_ref(node))
        } else {
            Ok(())
        }
    })
}

/// Counts what is recorded below a node again, operands before those that use them.
fn recount(node: &Arc<Node>) -> Result<()> {
    let RecordedGraph { graph, nodes, .. } = RecordedGraph::of(&node.team, &[Target::fresh(node)])?;
    let lazy = graph.reached([graph.targets[0].node], None).lazy;
    lazy.into_iter().for_each(|at| nodes[at as usize].recount());
    Ok(())
}

impl Array {
    /// The array of an operation just recorded. Ends a chain that grew too long by computing half of it; an
    /// error of that is the array's.
    pub(crate) fn recording(node: Arc<Node>) -> Array {
        if !is_long(&node, 0) {
            return Array::of(node);
        }
        match shorten(&node) {
            Ok(()) => Array::of(node),
            Err(error) => Array::of(Node::failed(&node, node.dtype, error)),
        }
    }

    /// Computes the value now, if it is not computed yet. Devices may still be working afterwards;
    /// [`Team::wait`](crate::team::Team::wait) waits for them.
    ///
    /// # Errors
    /// The error the array carries; memory; a device that lacks a type. Every array keeps its value.
    #[doc = example!("let v = u.exp();" "v.eval()?;" "assert!(v.is_computed());")]
    pub fn eval(&self) -> Result<()> {
        eval_all(&[self])
    }

    /// Whether the chain of recorded operations that leads to the array has almost the length at which one
    /// more would compute a part of it. For bindings that must not compute while they hold a lock of their
    /// own.
    #[doc(hidden)]
    pub fn is_nearly_too_long(&self) -> bool {
        const ROOM: u32 = 1024;
        is_long(&self.node, ROOM)
    }

    /// Computes about half of the recorded operations that lead to the array. Collective.
    ///
    /// # Errors
    /// As [`Array::eval`].
    #[doc(hidden)]
    pub fn shorten(&self) -> Result<()> {
        shorten(&self.node)
    }

    /// The parts of the computed array: where each one's stored cells are; `None` for empty parts and for
    /// those of other ranks.
    ///
    /// # Errors
    /// As [`Array::eval`].
    pub fn places(&self) -> Result<Vec<Option<Place>>> {
        self.eval()?;
        match self.node.storage() {
            Some(storage) => Ok(storage.places(&self.node.team)),
            None => unreachable!("eval computes or fails"),
        }
    }
}

/// Computes several arrays. Those of one shape and layout share one kernel.
///
/// # Errors
/// As [`Array::eval`].
#[doc = example!(
    "let (sum, product) = (&u + 1, &u * 2);"
    "partita::eval_all(&[&sum, &product])?; // One kernel reads `u` once."
    "assert!(sum.is_computed() && product.is_computed());"
)]
pub fn eval_all(arrays: &[&Array]) -> Result<()> {
    let Some(first) = arrays.first() else { return Ok(()) };
    let _guard = evaluation(arrays.iter().flat_map(|array| array.node.teams()))?;
    let nodes: Vec<Arc<Node>> = arrays.iter().map(|array| Arc::clone(&array.node)).collect();
    first.node.team.together("eval", || evaluate(&Recorder::current(), &nodes))
}

/// The steps of an evaluation, and what it is for.
pub(crate) struct StepRun<'a> {
    pub team: &'a Team,
    pub recorder: &'a Recorder,
    pub list: &'a StepList,
    /// The arrays that are wanted afterwards.
    pub results: &'a [NodeId],
}

impl StepRun<'_> {
    /// After which step each memory is needed no longer.
    pub fn last_uses(&self) -> FxHashMap<MemoryId, usize> {
        let mut last_use: FxHashMap<MemoryId, usize> = HashMap::default();
        for (at, step) in self.list.steps.iter().enumerate() {
            last_use.extend(step.reads().into_iter().chain(step.results()).map(|memory| (memory, at)));
        }
        last_use.extend(self.results.iter().map(|&node| (MemoryId::Array(node), usize::MAX)));
        last_use
    }

    /// Runs them all. What `builder` makes of their commands can be repeated.
    pub fn run(
        &self,
        values: &mut Values,
        last_use: &FxHashMap<MemoryId, usize>,
        mut builder: Option<&mut CommandsBuilder>,
    ) -> Result<()> {
        for (at, step) in self.list.steps.iter().enumerate() {
            interrupt::check("an evaluation")?;
            pass("step")?;
            let (reads, results) = (step.reads(), step.results());
            // Boxes that nobody has written are those of parts without cells.
            for memory in reads.iter().chain(&results) {
                if let MemoryId::Boxes(boxes) = *memory {
                    values.allocate(self.team, boxes, &self.list.boxes[boxes])?;
                }
            }
            let bound = self.bind(step, values)?;
            if let Some(builder) = &mut builder {
                builder.step(step, &bound, values);
            }
            if self.recorder.is_analysing() {
                note(self.recorder, step, values)?;
            }
            bound.work.finish(self.recorder)?;
            match step {
                Step::Sort(step) => sort(step, self.team, values)?,
                Step::Exchange(_) => pass("exchange-queued")?,
                _ => {}
            }
            for (node, storage) in bound.made {
                values.set(node, storage);
            }
            let done = |memory: &MemoryId| last_use.get(memory) == Some(&at);
            for memory in reads.into_iter().chain(results).filter(done) {
                values.release(memory);
                if let Some(builder) = &mut builder {
                    builder.release(memory);
                }
            }
        }
        self.results.iter().for_each(|&node| values.end(node));
        Ok(())
    }

    /// A step's memory and commands.
    fn bind(&self, step: &Step, values: &mut Values) -> Result<BoundStep> {
        let (team, recorder) = (self.team, self.recorder);
        let mut bound = BoundStep { work: ScheduleBuilder::new(team), made: Vec::new() };
        let BoundStep { work, made } = &mut bound;
        match step {
            Step::Allocate(StoredArray { node, dtype, dist, declared, pitch, .. }) => {
                let storage = Storage::pitched(team, Arc::clone(dist), *dtype, *pitch)?;
                values.begin(*node, Arc::new(storage.declaring(declared)));
            }
            Step::Exchange(step) => exchange(step, work, values)?,
            Step::Launch(step) => launch(step, work, values)?,
            Step::Copy { from, to, dtype, cells } => work.copy_cells(values, (*from, *to), *dtype, cells)?,
            Step::Donate { from, to } => made.push((*to, values.storage(*from)?)),
            // The host reads and writes elements once the commands before are queued.
            Step::Sort(_) => {}
            Step::Move { result, base, dist, dtype, plan } => {
                let Some(source) = values.recorded(*base).upgrade() else {
                    unreachable!("operands on other teams are recorded")
                };
                let teams = (&source.team, team);
                let moved = (plan.as_deref(), dist, *dtype);
                let (storage, zeros, exchange) = moving(recorder, &*values.storage(*base)?, teams, moved)?;
                work.extend(zeros);
                work.exchange(exchange);
                made.push((*result, Arc::new(storage)));
            }
            Step::Alias { result, base, dist } => {
                let mut storage = values.storage(*base)?;
                // Memory that another owner may write is shared with no other value.
                if let Some(node) =
                    values.recorded(*base).upgrade().filter(|_| storage.is_lent_to_be_written())
                {
                    let copy = storage.like(team, node.dtype)?;
                    work.extend(storage.copy_owned(team, node.dtype, &copy)?);
                    storage = Arc::new(copy);
                }
                let seen = storage.seen_on(Arc::clone(dist)).ok_or_else(|| missing_part("reshape"))?;
                made.push((*result, Arc::new(seen)));
            }
        }
        Ok(bound)
    }
}

/// Notes a task of a `Loop`'s step under analysis, bound to the values that it reads and computes.
fn note(recorder: &Recorder, step: &Step, values: &Values) -> Result<()> {
    let launches = match step {
        Step::Launch(launch) => std::slice::from_ref(launch),
        Step::Exchange(exchange) => &exchange.launches,
        Step::Copy { from, to, cells, .. } => {
            let (from, to) = (values.storage(*from)?.number, values.storage(*to)?.number);
            match cells {
                CopiedCells::Owned | CopiedCells::Current => {
                    recorder.note_task(|| BoundTask::Copy { from, to });
                }
                CopiedCells::Window(_) => {
                    recorder.note_task(|| BoundTask::Overwrite { value: from, whole: to });
                }
                CopiedCells::Outside(_) => {}
            }
            return Ok(());
        }
        Step::Allocate(_) | Step::Sort(_) | Step::Move { .. } | Step::Alias { .. } | Step::Donate { .. } => {
            return Ok(());
        }
    };
    for KernelLaunch { fused, layout, .. } in launches {
        if let Some(fused) = fused.as_ref().filter(|fused| !fused.results.is_empty()) {
            let kernel = Box::new(bind_kernel(fused, layout, values)?);
            recorder.note_task(|| BoundTask::Compute(kernel));
        }
    }
    Ok(())
}

fn bind_kernel(fused: &FusedKernel, dist: &Arc<Distribution>, values: &Values) -> Result<BoundKernel> {
    let FusedKernel { leaves, placed, results, .. } = fused;
    let mut reads = Vec::new();
    for leaf in leaves {
        let Source::Memory(node) = leaf.source else { continue };
        let storage = values.storage(node)?;
        let (number, dist) = (storage.number, Arc::clone(&storage.dist));
        reads.push(OperandRead { number, dist, node: values.recorded(node), maps: leaf.maps.clone() });
    }
    let numbered = |node| {
        let storage = values.storage(node)?;
        Ok((storage.number, Arc::clone(&storage.dist)))
    };
    let kept = results.iter().filter_map(|result| result.rest_of).map(numbered);
    Ok(BoundKernel {
        frame: results[0].window.clone(),
        dist: Arc::clone(dist),
        placed: placed.clone(),
        reads,
        results: results.iter().map(|result| numbered(result.node)).collect::<Result<_>>()?,
        is_temporary: results.iter().any(|result| matches!(result.storage, ResultStorage::Temporary(_))),
        is_uniform: results.iter().all(|result| result.window.is_like(&results[0].window)),
        kept: kept.collect::<Result<_>>()?,
    })
}
