//! Evaluation: record -> lower -> bind -> run. Recorded nodes become a graph, the graph becomes tasks, or
//! the cache has these; then the tasks run in order. Of a chain of operations that grows too long, about half
//! is computed.
//!
//! Invariant: kernels never communicate. Everything a launch reads is on its own device before.

use std::collections::HashMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::array::bind::compute::compute;
use crate::array::bind::reduce::reduce;
use crate::array::bind::scan::scan_lines;
use crate::array::bind::scattered::{gather_elements, gather_window};
use crate::array::bind::schedule::{ScheduleBuilder, Values, missing_part};
use crate::array::bind::sort::sort_lines;
use crate::array::loops::recorder::Recorder;
use crate::array::lower::division::lower_half;
use crate::array::lower::graph::{NodeId, Placement, RecordedGraph, Target};
use crate::array::lower::lowerer::lower;
use crate::array::lower::tasks::{Lowered, Task};
use crate::array::memory::plans::moved;
use crate::array::memory::storage::Storage;
use crate::array::record::node::Node;
use crate::array::run::cache::{CachedEvaluation, Commands, find, keep};
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
        let recorded = record_with_sources(recorder, &team, &members)?;
        for (at, storage) in places.into_iter().zip(evaluate_on(recorder, &team, &members, recorded)?) {
            results[at] = Some(storage);
        }
    }
    Ok(results.into_iter().flatten().collect())
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
                evaluate_on(recorder, team, targets, recorded)?;
                pending.retain(|node| node.storage().is_none());
            }
        }
    }
}

fn evaluate_on(
    recorder: &Recorder,
    team: &Team,
    targets: &[Target],
    recorded: RecordedGraph,
) -> Result<Vec<Arc<Storage>>> {
    let shares_exchange = recorder.shares_exchange();
    let is_cacheable = recorded.is_cacheable && !shares_exchange;
    let cached = if is_cacheable { find(team, &recorded.graph) } else { None };
    if let Some(commands) = cached.as_ref().and_then(|cached| cached.commands.as_ref())
        && let Some(storages) = commands.repeat(team, recorder, &recorded, targets)?
    {
        for (target, storage) in targets.iter().zip(&storages) {
            if matches!(target.placement, Placement::Fresh) {
                target.node.set_ready(Arc::clone(storage));
            }
        }
        return Ok(storages);
    }
    let lowered = match &cached {
        Some(cached) => Arc::clone(&cached.lowered),
        None => Arc::new(lower(&mut recorded.graph.clone(), team, shares_exchange)?),
    };
    let (storages, commands) = run((team, recorder), targets, &recorded, &lowered)?;
    if is_cacheable && cached.is_none() {
        keep(team, CachedEvaluation::new(recorded.graph, lowered, commands));
    }
    Ok(storages)
}

/// Runs tasks. Gives the memory of the targets, and what to keep of the commands.
fn run(
    (team, recorder): (&Team, &Recorder),
    targets: &[Target],
    recorded: &RecordedGraph,
    lowered: &Lowered,
) -> Result<(Vec<Arc<Storage>>, Option<Commands>)> {
    if let Some(reason) = lowered.unsupported {
        recorder.mark_unsupported(|| reason.to_owned());
    }
    let mut last_use: FxHashMap<NodeId, usize> = HashMap::default();
    for (at, task) in lowered.tasks.iter().enumerate() {
        last_use.extend(task.reads().into_iter().chain(task.results()).map(|node| (node, at)));
    }
    last_use.extend(lowered.results.iter().map(|&node| (node, usize::MAX)));
    let mut values = Values::with(recorded.numbers.clone());
    for &node in last_use.keys() {
        if let Some(recorded) = recorded.nodes.get(node as usize) {
            values.hold(node, recorded);
        }
    }
    let mut commands = None;
    let is_single = lowered.tasks.len() == 1;
    for (at, task) in lowered.tasks.iter().enumerate() {
        run_task(
            task,
            ScheduleBuilder::new(team, recorder),
            targets,
            &mut values,
            |work, results, values| {
                if is_single {
                    commands = Commands::of(recorded, lowered, (work, results), values);
                }
            },
        )?;
        let done = |node: &NodeId| last_use.get(node) == Some(&at);
        for node in task.reads().into_iter().chain(task.results()).filter(done) {
            values.release(node);
        }
    }
    let storages = lowered.results.iter().map(|&node| values.storage(node)).collect::<Result<Vec<_>>>()?;
    Ok((storages, commands))
}

fn run_task(
    task: &Task,
    work: ScheduleBuilder,
    targets: &[Target],
    values: &mut Values,
    keep: impl FnOnce(&ScheduleBuilder, &[Arc<Storage>], &Values),
) -> Result<()> {
    interrupt::check("an evaluation")?;
    match task {
        Task::Compute(task) => compute(task, work, targets, values, keep),
        Task::Reduce(task) => reduce(task, work, values),
        Task::GatherWindow { result, base, window, dist, dtype } => {
            let storage = gather_window((work, *dtype), &*values.storage(*base)?, window, dist)?;
            values.set(*result, Arc::new(storage));
            Ok(())
        }
        Task::GatherElements { result, base, which, dist, dtype } => {
            let base = values.storage(*base)?;
            let from = (&base.declared.shape(), &*base);
            let storage = gather_elements((work, *dtype), from, which, dist)?;
            values.set(*result, Arc::new(storage));
            Ok(())
        }
        Task::Scan { result, base, scan, dist, dtype } => {
            let base = values.storage(*base)?;
            let storage = scan_lines((&work.team, &work.recorder), &base, *scan, dist, *dtype)?;
            values.set(*result, Arc::new(storage));
            Ok(())
        }
        Task::Sort { result, base, sort, dist, dtype } => {
            let base = values.storage(*base)?;
            let storage = sort_lines((&work.team, &work.recorder), &base, *sort, dist, *dtype)?;
            values.set(*result, Arc::new(storage));
            Ok(())
        }
        Task::Move { result, base, dist, dtype } => {
            let Some(source) = values.recorded(*base).upgrade() else {
                unreachable!("operands on other teams are recorded")
            };
            let teams = (&source.team, &work.team);
            let storage = moved(&work.recorder, &*values.storage(*base)?, teams, dist, *dtype)?;
            values.set(*result, Arc::new(storage));
            Ok(())
        }
        Task::Alias { result, base, dist } => {
            let mut storage = values.storage(*base)?;
            // What another owner may write is seen by no other value.
            if let Some(node) = values.recorded(*base).upgrade().filter(|_| storage.is_lent_to_be_written()) {
                let copy = storage.like(&work.team, node.dtype)?;
                work.recorder.execute(storage.copy_owned(&work.team, node.dtype, &copy)?)?;
                storage = Arc::new(copy);
            }
            let seen = storage.seen_on(Arc::clone(dist));
            values.set(*result, Arc::new(seen.ok_or_else(|| missing_part("reshape"))?));
            Ok(())
        }
    }
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
