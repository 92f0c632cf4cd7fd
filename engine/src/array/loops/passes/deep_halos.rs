//! Deep halos: several steps per exchange. From the tasks of one step to the same tasks for each of these
//! steps, with the halo widths and compute regions that follow backwards from the result of the last one.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Weak};

use crate::array::lower::body::Footprint;
use crate::array::memory::storage::{HaloWidths, next_number, widened};
use crate::array::memory::window::{ComputeRegion, holds};
use crate::array::record::node::Node;
use crate::array::recorder::recording::{BoundKernel, BoundTask, Extension};
use crate::error::Result;
use crate::index::Distribution;

/// The tasks of one step.
pub(crate) struct StepTrace {
    tasks: Vec<BoundTask>,
    /// The state's memory before and after.
    before: Vec<u64>,
    after: Vec<u64>,
    /// Memory with a smaller number was there before the step.
    first: u64,
}

/// The plan by which `depth` steps run with one exchange.
#[derive(Debug)]
pub(crate) struct DepthPlan {
    pub depth: usize,
    /// The halo of each array of the state that the exchange makes current.
    pub state: Vec<HaloWidths>,
    /// The same for arrays that steps read and never write.
    pub constants: Vec<(Weak<Node>, HaloWidths)>,
    /// Per step, what each evaluation shall do.
    pub extensions: Vec<Vec<Extension>>,
    /// Per step, how many cells all parts compute.
    pub cells: Vec<u64>,
}

impl fmt::Display for DepthPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let halo = |halo: &HaloWidths| match halo.lo == halo.hi {
            true => halo.lo.to_string(),
            false => format!("{} and {}", halo.lo, halo.hi),
        };
        let halos = self.state.iter().map(halo).collect::<Vec<String>>().join(", ");
        let (own, all) = (self.cells.last().copied().unwrap_or(0), self.cells.iter().sum::<u64>());
        let again = 100.0 * (all as f64 / (own * self.depth as u64).max(1) as f64 - 1.0);
        write!(
            f,
            "an exchange in {} steps, of halos of {halos}; {again:.1} % of the cells are computed again",
            self.depth
        )
    }
}

/// A plan, or why there is none.
pub(crate) type DepthResult = std::result::Result<DepthPlan, String>;

/// Halos needed, by the memory's number.
type Needs = HashMap<u64, HaloWidths>;

impl StepTrace {
    /// Of a step that begins, with this memory of its state.
    pub fn begin(before: Vec<u64>) -> StepTrace {
        StepTrace { tasks: Vec::new(), before, after: Vec::new(), first: next_number() }
    }

    /// The step has done its tasks.
    pub fn end(self, tasks: Vec<BoundTask>, after: Vec<u64>) -> StepTrace {
        StepTrace { tasks, after, ..self }
    }

    /// The plan to run `depth` steps with one exchange. `layouts` are the state's.
    pub fn plan(&self, depth: usize, layouts: &[Arc<Distribution>]) -> Result<DepthResult> {
        let mut state: Vec<HaloWidths> = layouts.iter().map(|dist| HaloWidths::zero(dist.rank())).collect();
        let mut constants = HashMap::new();
        let (mut extensions, mut cells) = (Vec::new(), Vec::new());
        for _ in 0..depth {
            let mut needs = Needs::new();
            for (number, halo) in self.after.iter().zip(&state) {
                need(&mut needs, *number, halo);
            }
            let (step, computed) = match self.backwards(&mut needs)? {
                Ok(found) => found,
                Err(reason) => return Ok(Err(reason)),
            };
            extensions.push(step);
            cells.push(computed);
            let needed = |number: &u64, dist: &Arc<Distribution>| {
                needs.get(number).cloned().unwrap_or_else(|| HaloWidths::zero(dist.rank()))
            };
            state = self.before.iter().zip(layouts).map(|(number, dist)| needed(number, dist)).collect();
            match self.constants(&needs, &mut constants) {
                Ok(()) => {}
                Err(reason) => return Ok(Err(reason)),
            }
        }
        extensions.reverse();
        cells.reverse();
        let constants = constants.into_values();
        for (dist, halo) in layouts.iter().zip(&state) {
            if let Err(reason) = room(dist, halo)? {
                return Ok(Err(reason));
            }
        }
        let mut kept = Vec::new();
        for (node, dist, halo) in constants {
            if let Err(reason) = room(&dist, &halo)? {
                return Ok(Err(reason));
            }
            kept.push((node, halo));
        }
        give_room(&mut extensions);
        Ok(Ok(DepthPlan { depth, state, constants: kept, extensions, cells }))
    }

    /// The extensions of the step's evaluations by which its results are current as far as `needs` says;
    /// afterwards `needs` says the same of the step's operands.
    fn backwards(&self, needs: &mut Needs) -> Result<std::result::Result<(Vec<Extension>, u64), String>> {
        let (mut extensions, mut cells) = (Vec::new(), 0);
        for task in self.tasks.iter().rev() {
            match task {
                BoundTask::Copy { from, to } => pass_on(needs, *to, *from),
                BoundTask::Overwrite { value, whole } => pass_on(needs, *whole, *value),
                BoundTask::Compute(computed) => match computed.extension(needs)? {
                    Ok((extension, regions)) => {
                        for piece in regions.iter().flat_map(|zone| &zone.pieces) {
                            cells += piece.cells.volume()?.unsigned_abs();
                        }
                        extensions.push(extension);
                    }
                    Err(reason) => return Ok(Err(reason)),
                },
            }
        }
        extensions.reverse();
        Ok(Ok((extensions, cells)))
    }

    /// Which memory held the elements before they were copied.
    fn origin(&self, number: u64) -> u64 {
        self.tasks.iter().rev().fold(number, |number, task| match task {
            BoundTask::Copy { from, to } if *to == number => *from,
            BoundTask::Copy { .. } | BoundTask::Compute(_) | BoundTask::Overwrite { .. } => number,
        })
    }

    /// Gathers the operands that are neither of the state nor results.
    fn constants(
        &self,
        needs: &Needs,
        constants: &mut HashMap<u64, (Weak<Node>, Arc<Distribution>, HaloWidths)>,
    ) -> std::result::Result<(), String> {
        let kernels = || self.tasks.iter().filter_map(BoundTask::kernel);
        let results: Vec<u64> =
            kernels().flat_map(|kernel| &kernel.results).map(|(number, _)| *number).collect();
        for read in kernels().flat_map(|kernel| &kernel.reads) {
            // A value that was only moved to memory with wider halos is the same value.
            let origin = self.origin(read.number);
            if self.before.contains(&origin) || results.contains(&origin) {
                continue;
            }
            if origin >= self.first {
                return Err("the step computes something in a way that cannot be repeated".to_owned());
            }
            let Some(halo) = needs.get(&origin).filter(|halo| !halo.is_zero()) else { continue };
            let known = constants
                .entry(origin)
                .or_insert_with(|| (read.node.clone(), Arc::clone(&read.dist), halo.clone()));
            known.2 = known.2.max(halo);
        }
        let is_known = |number: &u64| {
            let origin = self.origin(*number);
            results.contains(&origin) || origin < self.first
        };
        if self.after.iter().all(is_known) {
            return Ok(());
        }
        Err("the step replaces its state in a way that cannot be repeated".to_owned())
    }
}

impl BoundKernel {
    /// The extension of the evaluation, and its regions; its operands are added to `needs`.
    fn extension(
        &self,
        needs: &mut Needs,
    ) -> Result<std::result::Result<(Extension, Vec<ComputeRegion>), String>> {
        let nothing = HaloWidths::zero(self.dist.rank());
        let needed = self.results.iter().filter_map(|(number, _)| needs.get(number));
        let grow = needed.fold(nothing.clone(), |most, halo| most.max(halo));
        let regions = self.frame.regions(&self.dist, &grow, &self.placed)?;
        if !grow.is_zero() && !self.is_uniform {
            return Ok(Err("one evaluation writes arrays that are divided in different ways".to_owned()));
        }
        for read in &self.reads {
            let footprint = Footprint::of(&read.maps, &read.dist, &self.dist, &regions)?;
            let Some(halo) = footprint.and_then(|footprint| footprint.halo) else {
                return Ok(Err("the step reads what no halo holds".to_owned()));
            };
            need(needs, read.number, &halo);
        }
        for (number, _) in &self.kept {
            need(needs, *number, &grow);
        }
        let in_fresh_memory = self.is_temporary && !self.has_temporary_room(&grow, &regions)?;
        if !self.is_temporary {
            for (_, layout) in &self.results {
                if let Err(reason) = room(layout, &grow)? {
                    return Ok(Err(reason));
                }
            }
        }
        Ok(Ok((Extension { room: grow.clone(), grow, in_fresh_memory }, regions)))
    }

    /// Whether memory of the window's size has room for what is computed.
    fn has_temporary_room(&self, grow: &HaloWidths, regions: &[ComputeRegion]) -> Result<bool> {
        let wide = |(_, layout): &(u64, Arc<Distribution>)| widened(layout, grow);
        for layout in self.results.iter().map(wide).collect::<Result<Vec<_>>>()? {
            if !layout.is_some_and(|layout| holds(&layout, regions)) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// Every evaluation's memory has room for what any of the steps needs, so that all steps use alike memory.
fn give_room(extensions: &mut [Vec<Extension>]) {
    let count = extensions.first().map_or(0, Vec::len);
    for at in 0..count {
        let most =
            extensions.iter().map(|step| &step[at].room).fold(None, |most: Option<HaloWidths>, room| {
                Some(most.map_or_else(|| room.clone(), |most| most.max(room)))
            });
        let in_fresh_memory = extensions.iter().any(|step| step[at].in_fresh_memory);
        for step in extensions.iter_mut() {
            step[at].in_fresh_memory = in_fresh_memory;
            step[at].room = most.clone().unwrap_or_else(|| step[at].room.clone());
        }
    }
}

/// Refuses halos that the distribution cannot have.
fn room(dist: &Arc<Distribution>, halo: &HaloWidths) -> Result<std::result::Result<(), String>> {
    if widened(dist, halo)?.is_some() {
        return Ok(Ok(()));
    }
    let HaloWidths { lo, hi, .. } = halo;
    Ok(Err(format!(
        "an array of shape {} would need halos of {lo} below and {hi} above, wider than a neighbour's part \
         or larger than the array itself",
        dist.shape()
    )))
}

fn need(needs: &mut Needs, number: u64, halo: &HaloWidths) {
    let known = needs.entry(number).or_insert_with(|| halo.clone());
    *known = known.max(halo);
}

/// Adds the need of one value to that of another.
fn pass_on(needs: &mut Needs, of: u64, also_of: u64) {
    if let Some(halo) = needs.get(&of).cloned() {
        need(needs, also_of, &halo);
    }
}
