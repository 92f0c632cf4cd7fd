//! Evaluation: record -> lower -> bind -> run. Recorded nodes become a graph, the graph becomes steps, or
//! the cache has these; then the steps run in order. Of a chain of operations that grows too long, about half
//! is computed.
//!
//! Invariant: kernels never wait for a rank. Everything a launch reads is on its own device before.

use std::sync::Arc;

use crate::array::bind::schedule::Values;
use crate::array::lower::division::lower_half;
use crate::array::lower::graph::{RecordedGraph, Target};
use crate::array::lower::lowerer::{SharedExchange, lower};
use crate::array::lower::steps::list::{Lowered, MemoryId};
use crate::array::memory::storage::{Storage, widened};
use crate::array::record::node::Node;
use crate::array::recorder::recording::{HaloRequest, Recorder};
use crate::array::run::cache::commands::CommandsBuilder;
use crate::array::run::cache::{CachedEvaluation, CachedWay, find, keep};
use crate::array::run::steps::StepRun;
use crate::error::Result;
use crate::interrupt;
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

/// Computes targets of one team, and beside them what would else be computed again and again.
fn evaluate_all(recorder: &Recorder, team: &Team, mut targets: Vec<Target>) -> Result<Vec<Arc<Storage>>> {
    let mut recorded = record_with_sources(recorder, team, &targets)?;
    let wanted = targets.len();
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
        None => Arc::new(lower(&mut recorded.graph.clone(), team, shared)?),
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
