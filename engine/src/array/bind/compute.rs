//! Binding of fused kernels: operands and results get memory, and the launches a schedule. What needs no
//! remote operand, the *core*, is computed while operands travel, the *rim* around it afterwards.

use std::sync::Arc;

use partita_kernels::View;

use crate::array::bind::operands::bind;
use crate::array::bind::schedule::{BoundLaunch, BoundStep, ScheduleBuilder, Values, missing_part};
use crate::array::lower::access::{KernelReads, OperandAccess};
use crate::array::lower::body::{Leaf, Source};
use crate::array::lower::graph::NodeId;
use crate::array::lower::steps::list::{Compute, ComputeKernel, Folds, ResultMemory, ResultStorage};
use crate::array::memory::storage::{HaloWidths, Storage, widened};
use crate::array::memory::window::{ArrayWindow, ComputeRegion, holds};
use crate::array::recorder::recording::{BoundKernel, BoundTask, OperandRead, Recorder};
use crate::device::DeviceKind;
use crate::error::Result;
use crate::index::{Distribution, Index, Region};
use crate::program::Place;
use crate::transport::OverlapCapability;
use crate::wire::pass;

/// The commands that compute the results of a step.
pub(crate) fn compute(task: &Compute, mut work: ScheduleBuilder, values: &mut Values) -> Result<BoundStep> {
    let (team, recorder) = (work.team.clone(), work.recorder.clone());
    pass(if task.results.is_empty() { "reduce" } else { "eval-lowered" })?;
    work.update_requested_halos()?;
    let run = ComputeRun { task, recorder: &recorder };
    let extent = run.extent(values, &work)?;
    let allocate = |(result, dist): (&ResultMemory, &Arc<Distribution>)| {
        if result.storage == ResultStorage::InPlace {
            return values.storage(result.node);
        }
        let storage = Storage::pitched(&team, Arc::clone(dist), result.dtype, result.pitch)?;
        Ok(Arc::new(storage.declaring(&result.declared)))
    };
    let storages = task.results.iter().zip(&extent.layouts).map(allocate).collect::<Result<Vec<_>>>()?;
    let mut queued = Vec::new();
    for kernel in &task.kernels {
        let (regions, accesses) = match &extent.regions {
            Some(regions) => (regions.clone(), run.accesses(kernel, values, regions)?),
            None => (ComputeRegion::owned(&kernel.dist), kernel.accesses.clone()),
        };
        let operands = (&kernel.leaves[..], &accesses[..]);
        let inputs = work.bind_operands(values, operands, &kernel.dist)?;
        work.note(kernel, &values.numbers);
        let numbers = Some(kernel.arguments.slots()).filter(|slots| !slots.is_empty());
        let core = |part: usize, region: &Region| {
            let travelling =
                inputs.iter().zip(kernel.leaves.iter().zip(&accesses)).filter(|(input, _)| input.travels);
            travelling.fold(*region, |core, (_, (leaf, access))| match access {
                Some(access) => core.intersect(&access.core(&leaf.maps[0], region, part)),
                None => core,
            })
        };
        let arguments = &kernel.arguments;
        for (part, region) in regions.into_iter().enumerate() {
            if region.bounds.is_empty() || !team.is_here(part) {
                continue;
            }
            let folds = kernel.folds.as_ref();
            if folds.is_some_and(|folds| folds.memory.iter().all(|memory| memory[part].is_none())) {
                continue;
            }
            let mut memory = bind(&kernel.leaves, &inputs, part, kernel.dist.rank())?;
            for found in folds.iter().flat_map(|folds| &folds.memory) {
                let found = found[part].map(|found| values.place(&team, found, part)).transpose()?;
                let place = found.flatten().ok_or_else(|| missing_part("reduce"))?;
                memory.push((folded_view(&place, &region.bounds, folds), place));
            }
            for store in &kernel.stores {
                let storage = &storages[store.result];
                let place = storage.place(&team, part).ok_or_else(|| missing_part("eval"))?;
                let corner = match store.window {
                    None => *region.bounds.start(),
                    Some(window) => {
                        let window = ArrayWindow { base: Arc::clone(&storage.dist), window };
                        window.corner(part, &region.bounds)?
                    }
                };
                memory.push((place.view(&corner), place));
            }
            let (kernel, bounds) = (&kernel.kernel, region.bounds);
            let (arguments, numbers) = (arguments.on(part, &values.numbers), numbers.clone());
            let launch = BoundLaunch { kernel, part, region: bounds, memory, arguments, numbers };
            let core = core(part, &bounds);
            queued.push(LaunchRegions { core, region, launch, is_fold: folds.is_some() });
        }
    }
    queue(&mut work, queued)?;
    if recorder.is_analysing() && !task.results.is_empty() {
        run.log(&storages, values)?;
    }
    let mut made = Vec::with_capacity(storages.len());
    for (result, storage) in task.results.iter().zip(storages) {
        match result.storage {
            ResultStorage::InPlace => work.updated_halos.push((storage, extent.grow.clone())),
            ResultStorage::Fresh | ResultStorage::Temporary(_) => {
                storage.set_valid_halo(extent.grow.clone());
                made.push((result.node, storage));
            }
        }
    }
    Ok(BoundStep { work, made })
}

struct ComputeRun<'a> {
    task: &'a Compute,
    recorder: &'a Recorder,
}

/// The cells that the parts compute: their own, or more if steps of a `Loop` share an exchange and the
/// operands are valid there.
struct Extent {
    /// `None` for what each part owns.
    regions: Option<Vec<ComputeRegion>>,
    grow: HaloWidths,
    layouts: Vec<Arc<Distribution>>,
}

impl ComputeRun<'_> {
    /// The access to a kernel's operands for regions other than the owned cells.
    fn accesses(
        &self,
        kernel: &ComputeKernel,
        values: &Values,
        regions: &[ComputeRegion],
    ) -> Result<Vec<Option<OperandAccess>>> {
        let memory = |node: NodeId| {
            let storage = values.storage(node)?;
            Ok((Arc::clone(&storage.dist), storage.valid_halo()))
        };
        let (leaves, dist) = (&kernel.leaves[..], &*kernel.dist);
        let shares_exchange = self.recorder.shared_exchange().is_some();
        KernelReads { leaves, dist, memory: &memory, shares_exchange }.accesses(regions)
    }

    /// The old value, if the new memory gets some of its elements.
    fn kept(&self, result: &ResultMemory, values: &Values) -> Result<Option<Arc<Storage>>> {
        result.rest_of.map(|base| values.storage(base)).transpose()
    }

    fn extent(&self, values: &Values, work: &ScheduleBuilder) -> Result<Extent> {
        // Reductions are computed by owners alone.
        let extends = !self.task.results.is_empty();
        let extension = extends.then(|| self.recorder.next_extension()).flatten();
        let room = extension.as_ref().map(|extension| &extension.room);
        let layout = |result: &ResultMemory| match (room, &result.storage) {
            (Some(room), ResultStorage::Fresh | ResultStorage::Temporary(_)) => {
                Ok(widened(&result.memory, room)?.unwrap_or_else(|| Arc::clone(&result.memory)))
            }
            (None, _) | (_, ResultStorage::InPlace) => Ok(Arc::clone(&result.memory)),
        };
        let layouts = self.task.results.iter().map(layout).collect::<Result<Vec<_>>>()?;
        let rank = self.task.kernels.first().map_or(0, |kernel| kernel.dist.rank());
        let owned = |layouts| Extent { regions: None, grow: HaloWidths::zero(rank), layouts };
        let [kernel] = &self.task.kernels[..] else { return Ok(owned(layouts)) };
        let Some(extension) = extension.filter(|extension| !extension.grow.is_zero()) else {
            return Ok(owned(layouts));
        };
        let window = &self.task.results[0].window;
        let regions = window.regions(&kernel.dist, &extension.grow, &kernel.placed)?;
        if self.is_held(kernel, (&regions, &extension.grow, &layouts), values, work)? {
            return Ok(Extent { regions: Some(regions), grow: extension.grow, layouts });
        }
        self.recorder.mark_unsupported(|| "an evaluation lacks what its neighbours have".to_owned());
        Ok(owned(layouts))
    }

    /// Whether all that the regions need is valid, and all that they give has a place.
    fn is_held(
        &self,
        kernel: &ComputeKernel,
        (regions, grow, layouts): (&[ComputeRegion], &HaloWidths, &[Arc<Distribution>]),
        values: &Values,
        work: &ScheduleBuilder,
    ) -> Result<bool> {
        let HaloWidths { lo, hi, .. } = grow;
        let first = &self.task.results[0].window;
        for (result, layout) in self.task.results.iter().zip(layouts) {
            let kept = self
                .kept(result, values)?
                .is_none_or(|old| work.valid_halo(&old).covers(grow) && old.dist.stores(lo, hi));
            let has_room = match &result.storage {
                ResultStorage::Fresh | ResultStorage::InPlace => layout.stores(lo, hi),
                ResultStorage::Temporary(base) => base.stores(lo, hi) && holds(layout, regions),
            };
            if !kept || !has_room || !result.window.is_like(first) {
                return Ok(false);
            }
        }
        work.holds(values, &kernel.leaves, &kernel.dist, regions)
    }

    /// The kernel, its operands and results, for the analysis of a loop step.
    fn log(&self, storages: &[Arc<Storage>], values: &Values) -> Result<()> {
        let [kernel] = &self.task.kernels[..] else { return Ok(()) };
        let results = &self.task.results;
        let kept = results.iter().map(|result| self.kept(result, values)).collect::<Result<Vec<_>>>()?;
        let kept = kept.into_iter().flatten().map(|old| (old.number, Arc::clone(&old.dist))).collect();
        let read = |leaf: &Leaf| -> Option<Result<OperandRead>> {
            let Source::Memory(node) = leaf.source else { return None };
            Some(values.storage(node).map(|storage| {
                let (number, dist) = (storage.number, Arc::clone(&storage.dist));
                OperandRead { number, dist, node: values.recorded(node), maps: leaf.maps.clone() }
            }))
        };
        let reads = kernel.leaves.iter().filter_map(read).collect::<Result<Vec<OperandRead>>>()?;
        self.recorder.note_task(|| {
            BoundTask::Compute(Box::new(BoundKernel {
                frame: results[0].window.clone(),
                dist: Arc::clone(&kernel.dist),
                placed: kernel.placed.clone(),
                reads,
                results: storages.iter().map(|new| (new.number, Arc::clone(&new.dist))).collect(),
                is_temporary: results
                    .iter()
                    .any(|result| matches!(result.storage, ResultStorage::Temporary(_))),
                is_uniform: results.iter().all(|result| result.window.is_like(&results[0].window)),
                kept,
            }))
        });
        Ok(())
    }
}

/// The regions that one part computes by one kernel.
struct LaunchRegions<'a> {
    launch: BoundLaunch<'a>,
    region: ComputeRegion,
    /// The cells that need nothing that is on its way.
    core: Region,
    /// Whether they are folded, all in one launch.
    is_fold: bool,
}

/// The view of a part's own result: one cell along each dimension that is folded.
fn folded_view(place: &Place, region: &Region, folds: Option<&Folds>) -> View {
    let axes = folds.map_or(&[][..], |folds| &folds.axes);
    let first = Index::from_fn(region.rank(), |d| if axes.contains(&d) { 0 } else { region.start()[d] });
    let mut view = place.view(&first);
    axes.iter().for_each(|&axis| view.strides[axis] = 0);
    view
}

/// Queues everything. While operands travel, what needs nothing of them is computed; afterwards the rims
/// around it. No launch reads what another one writes.
fn queue(work: &mut ScheduleBuilder, mut launches: Vec<LaunchRegions>) -> Result<()> {
    let is_fold = launches.iter().any(|launch| launch.is_fold);
    let mut overlap = work.begin_exchange()?;
    if overlap == OverlapCapability::None || is_fold {
        overlap = OverlapCapability::None;
        work.join_exchange()?;
    }
    let team = work.team.clone();
    // The host's own come last: all other devices work while the host waits for what leaves them.
    let is_host = |launch: &BoundLaunch| team.device(launch.part).kind() == DeviceKind::Host;
    launches.sort_by_key(|queued| is_host(&queued.launch));
    let mut rims = Vec::new();
    for LaunchRegions { launch, region, core, .. } in &launches {
        let core = match overlap {
            OverlapCapability::None => region.bounds,
            _ if overlap.covers(team.device(launch.part)) => *core,
            _ => Region::from_fn(core.rank(), |_| (0, 0)),
        };
        if is_host(launch) {
            work.send_staged();
        }
        for piece in &region.pieces {
            let inside = piece.cells.intersect(&core);
            if !inside.is_empty() {
                work.push(launch.over(&team, (&inside, &piece.origin_of(&inside)))?);
            }
            rims.extend(piece.cells.subtract(&inside).into_iter().map(|rim| (launch, piece, rim)));
        }
    }
    work.receive()?;
    for (launch, piece, rim) in rims {
        let command = launch.over(&team, (&rim, &piece.origin_of(&rim)))?;
        work.push(command.on(work.rim_stream(launch.part)));
    }
    work.join_exchange()
}
