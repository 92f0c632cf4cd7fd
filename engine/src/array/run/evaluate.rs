//! Evaluation: record -> lower -> bind -> run. Recorded nodes become a graph, the graph becomes tasks, or the
//! cache has these; then the tasks run in order.
//!
//! Invariant: kernels never communicate. Everything a launch reads is on its own device before.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;

use crate::array::bind::schedule::ScheduleBuilder;
use crate::array::bind::values::Values;
use crate::array::loops::depth::analysis;
use crate::array::lower::graph::{MixBuildHasher, NodeId};
use crate::array::lower::lowerer::lower;
use crate::array::lower::recorded::{Placement, RecordedGraph, Target};
use crate::array::lower::tasks::{Lowered, Task};
use crate::array::memory::storage::Storage;
use crate::array::record::node::Node;
use crate::array::run::cache::{CachedEvaluation, Commands, find, keep};
use crate::array::run::compute::compute;
use crate::array::run::elements::gather_elements;
use crate::array::run::gather_window::gather_window;
use crate::array::run::reduce::reduce;
use crate::error::Result;
use crate::interrupt;
use crate::team::Team;
use crate::wire::pass;

thread_local! {
    static IS_EVALUATING: Cell<bool> = const { Cell::new(false) };
}

/// Marks this thread as one that evaluates, until it is dropped.
struct Evaluating {
    before: bool,
}

impl Evaluating {
    fn begin() -> Evaluating {
        Evaluating { before: IS_EVALUATING.replace(true) }
    }
}

impl Drop for Evaluating {
    fn drop(&mut self) {
        IS_EVALUATING.set(self.before);
    }
}

/// Whether this thread evaluates.
pub(crate) fn is_evaluating() -> bool {
    IS_EVALUATING.get()
}

/// Computes every node that is not computed yet.
pub(crate) fn evaluate(roots: &[Arc<Node>]) -> Result<()> {
    pass("eval")?;
    let lazy = roots.iter().filter(|node| node.storage().is_none());
    compute_targets(lazy.map(Target::fresh).collect()).map(|_| ())
}

/// Computes targets; gives their memory in order. Those of one team are one evaluation.
pub(crate) fn compute_targets(targets: Vec<Target>) -> Result<Vec<Arc<Storage>>> {
    interrupt::check("an evaluation")?;
    if let Some(error) = targets.iter().find_map(|target| target.node.error()) {
        return Err(error);
    }
    let _evaluating = Evaluating::begin();
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
        for (at, storage) in places.into_iter().zip(evaluate_on(&team, &members)?) {
            results[at] = Some(storage);
        }
    }
    Ok(results.into_iter().flatten().collect())
}

fn evaluate_on(team: &Team, targets: &[Target]) -> Result<Vec<Arc<Storage>>> {
    let recorded = RecordedGraph::of(team, targets)?;
    let shares_exchange = analysis::shares_exchange();
    let is_cacheable = recorded.is_cacheable && !shares_exchange;
    let cached = if is_cacheable { find(team, &recorded.graph) } else { None };
    if let Some(commands) = cached.as_ref().and_then(|cached| cached.commands.as_ref())
        && let Some(storages) = commands.repeat(team, &recorded, targets)?
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
    let (storages, commands) = run(team, targets, &recorded, &lowered)?;
    if is_cacheable && cached.is_none() {
        keep(team, CachedEvaluation::new(recorded.graph, lowered, commands));
    }
    Ok(storages)
}

/// Runs tasks. Gives the memory of the targets, and what to keep of the commands.
fn run(
    team: &Team,
    targets: &[Target],
    recorded: &RecordedGraph,
    lowered: &Lowered,
) -> Result<(Vec<Arc<Storage>>, Option<Commands>)> {
    if let Some(reason) = lowered.unsupported {
        analysis::mark_unsupported(|| reason.to_owned());
    }
    let mut last_use: HashMap<NodeId, usize, MixBuildHasher> = HashMap::default();
    for (at, task) in lowered.tasks.iter().enumerate() {
        last_use.extend(task.reads().into_iter().chain(task.results()).map(|node| (node, at)));
    }
    last_use.extend(lowered.results.iter().map(|&node| (node, usize::MAX)));
    let mut values = Values::new(team);
    for &node in last_use.keys() {
        if let Some(recorded) = recorded.nodes.get(node as usize) {
            values.hold(node, recorded);
        }
    }
    let mut commands = None;
    let is_single = lowered.tasks.len() == 1;
    for (at, task) in lowered.tasks.iter().enumerate() {
        run_task(task, targets, &mut values, |work, results, values| {
            if is_single {
                commands = Commands::of(recorded, lowered, (work, results), values);
            }
        })?;
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
    targets: &[Target],
    values: &mut Values,
    keep: impl FnOnce(&ScheduleBuilder, &[Arc<Storage>], &Values),
) -> Result<()> {
    interrupt::check("an evaluation")?;
    let team = values.team().clone();
    match task {
        Task::Compute(task) => compute(task, targets, values, keep),
        Task::Reduce(task) => reduce(task, values),
        Task::GatherWindow { result, base, window, dist, dtype } => {
            let storage = gather_window((&team, *dtype), &*values.storage(*base)?, window, dist)?;
            values.set(*result, Arc::new(storage));
            Ok(())
        }
        Task::GatherElements { result, base, which, dist, dtype } => {
            let base = values.storage(*base)?;
            let from = (&base.declared.shape(), &*base);
            let storage = gather_elements((&team, *dtype), from, which, dist)?;
            values.set(*result, Arc::new(storage));
            Ok(())
        }
        Task::Alias { result, base, dist } => {
            let storage = values.storage(*base)?.seen_on(Arc::clone(dist));
            values.set(*result, Arc::new(storage));
            Ok(())
        }
    }
}
