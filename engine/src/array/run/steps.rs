//! Running of steps, in order. Memory is released after the last step that names it.

use std::collections::HashMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::array::bind::compute::compute;
use crate::array::bind::launch::{exchange, launch};
use crate::array::bind::reduce::reduce;
use crate::array::bind::schedule::{ScheduleBuilder, Values, missing_part};
use crate::array::lower::graph::{NodeId, Target};
use crate::array::lower::steps::list::{MemoryId, Step, StepList, StoredArray};
use crate::array::memory::plans::copy_boxes;
use crate::array::memory::storage::Storage;
use crate::array::recorder::recording::Recorder;
use crate::array::run::moves::moved;
use crate::array::run::sort::sort;
use crate::error::Result;
use crate::interrupt;
use crate::team::Team;

/// The steps of an evaluation, and what it is for.
pub(crate) struct StepRun<'a> {
    pub team: &'a Team,
    pub recorder: &'a Recorder,
    pub list: &'a StepList,
    pub targets: &'a [Target],
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

    /// Runs them all. `keep` sees the complete schedule of fused kernels before it is queued.
    pub fn run(
        &self,
        values: &mut Values,
        last_use: &FxHashMap<MemoryId, usize>,
        mut keep: impl FnMut(&ScheduleBuilder, &[Arc<Storage>], &Values),
    ) -> Result<()> {
        for (at, step) in self.list.steps.iter().enumerate() {
            let (reads, results) = (step.reads(), step.results());
            // Boxes that nobody has written are those of parts without cells.
            for memory in reads.iter().chain(&results) {
                if let MemoryId::Boxes(boxes) = *memory {
                    values.allocate(self.team, boxes, &self.list.boxes[boxes])?;
                }
            }
            self.step(step, values, &mut keep)?;
            let done = |memory: &MemoryId| last_use.get(memory) == Some(&at);
            reads.into_iter().chain(results).filter(done).for_each(|memory| values.release(memory));
        }
        self.results.iter().for_each(|&node| values.end(node));
        Ok(())
    }

    fn step(
        &self,
        step: &Step,
        values: &mut Values,
        keep: &mut impl FnMut(&ScheduleBuilder, &[Arc<Storage>], &Values),
    ) -> Result<()> {
        interrupt::check("an evaluation")?;
        let (team, recorder) = (self.team, self.recorder);
        match step {
            Step::Compute(step) => {
                compute(step, ScheduleBuilder::new(team, recorder), self.targets, values, keep)
            }
            Step::Reduce(step) => reduce(step, ScheduleBuilder::new(team, recorder), values),
            Step::Allocate(StoredArray { node, dtype, dist, declared, pitch, .. }) => {
                let storage = Storage::pitched(team, Arc::clone(dist), *dtype, *pitch)?;
                values.begin(*node, storage.declaring(declared));
                Ok(())
            }
            Step::Exchange(step) => recorder.exchange(&exchange(step, team, values)?),
            Step::Launch(step) => {
                let mut work = ScheduleBuilder::new(team, recorder);
                launch(step, &mut work, values)?;
                work.finish()
            }
            Step::Copy { from, to, dtype, dist } => {
                let places = (values.places(team, *from)?, values.places(team, *to)?);
                let boxes = |part: usize| Ok(vec![dist.owned(part)]);
                recorder.execute(copy_boxes((&places.0, &places.1), *dtype, boxes)?)
            }
            Step::Sort(step) => sort(step, team, values),
            Step::Move { result, base, dist, dtype } => {
                let Some(source) = values.recorded(*base).upgrade() else {
                    unreachable!("operands on other teams are recorded")
                };
                let teams = (&source.team, team);
                let storage = moved(recorder, &*values.storage(*base)?, teams, dist, *dtype)?;
                values.set(*result, Arc::new(storage));
                Ok(())
            }
            Step::Alias { result, base, dist } => {
                let mut storage = values.storage(*base)?;
                // What another owner may write is seen by no other value.
                if let Some(node) =
                    values.recorded(*base).upgrade().filter(|_| storage.is_lent_to_be_written())
                {
                    let copy = storage.like(team, node.dtype)?;
                    recorder.execute(storage.copy_owned(team, node.dtype, &copy)?)?;
                    storage = Arc::new(copy);
                }
                let seen = storage.seen_on(Arc::clone(dist));
                values.set(*result, Arc::new(seen.ok_or_else(|| missing_part("reshape"))?));
                Ok(())
            }
        }
    }
}
