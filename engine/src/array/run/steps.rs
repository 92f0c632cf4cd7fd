//! Running of steps, in order. Memory is released after the last step that names it.

use std::collections::HashMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::array::bind::launch::{exchange, launch};
use crate::array::bind::schedule::{BoundStep, ScheduleBuilder, Values, missing_part};
use crate::array::lower::body::Source;
use crate::array::lower::graph::NodeId;
use crate::array::lower::steps::list::{
    CopiedCells, FusedKernel, KernelLaunch, MemoryId, ResultStorage, Step, StepList, StoredArray,
};
use crate::array::memory::storage::Storage;
use crate::array::recorder::recording::{BoundKernel, BoundTask, OperandRead, Recorder};
use crate::array::run::cache::commands::CommandsBuilder;
use crate::array::run::moves::moving;
use crate::array::run::sort::sort;
use crate::error::Result;
use crate::index::Distribution;
use crate::interrupt;
use crate::team::Team;
use crate::wire::pass;

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
