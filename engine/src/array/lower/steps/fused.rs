//! Fused kernels as steps: memory for their results, one exchange of all that they read from
//! elsewhere, and their launches. What needs nothing of the exchange, the *core*, may be computed meanwhile.
//!
//! Launches read operands in their own memory, with a halo, or as a copy.

use std::sync::Arc;

use partita_kernels::DType;

use crate::array::lower::access::{AccessMethod, OperandAccess, not_computed, reads_of};
use crate::array::lower::body::{Footprint, KernelArgument, KernelArguments, Leaf, Source, packed_box};
use crate::array::lower::compute::{Compute, ComputeKernel, Folds, KernelStore};
use crate::array::lower::graph::{MemoryState, NodeId};
use crate::array::lower::lowerer::Lowerer;
use crate::array::lower::steps::list::{
    CopiedCells, ExchangeField, FusedKernel, KernelLaunch, LaunchArgument, LaunchAxis, LaunchOperand,
    MemoryId, PartCells, PartLaunch, PlanExchange, ResultMemory, ResultStorage, Step,
};
use crate::array::memory::storage::{HaloWidths, Pitch, halo_plan, widened};
use crate::array::memory::window::{ArrayWindow, ComputeRegion, holds};
use crate::array::record::expr::{Map, Slot};
use crate::error::Result;
use crate::index::{Along, Distribution, Index, Region};
use crate::wire::hash;
/// The cells that the parts compute: their own, or more if steps of a `Loop` share an exchange and the
/// operands are valid there.
struct Extent {
    /// `None` for what each part owns.
    regions: Option<Vec<ComputeRegion>>,
    grow: HaloWidths,
    /// Of each result's memory.
    layouts: Vec<Arc<Distribution>>,
}

impl Lowerer<'_> {
    /// Adds the steps that compute the results, and notes what they leave in memory.
    pub fn push_compute(&mut self, compute: Compute) -> Result<()> {
        let Compute { results, kernels } = compute;
        let extent = self.extent(&results, &kernels)?;
        for (result, layout) in results.iter().zip(&extent.layouts) {
            let (memory, valid) = ((layout, &result.declared), extent.grow.clone());
            self.graph.set_memory(result.node, memory, result.pitch, valid);
            if result.storage != ResultStorage::InPlace {
                let made = self.stored(result.node)?;
                self.list.allocate(&made);
            }
        }
        let mut transfers =
            OperandTransfers { fields: std::mem::take(&mut self.pending), fetched: Vec::new() };
        let is_alone = kernels.len() == 1;
        let launches = kernels.into_iter().map(|kernel| {
            let made = if is_alone { &results[..] } else { &[] };
            self.fused_launch(kernel, (&results, made), &extent, &mut transfers)
        });
        let launches = launches.collect::<Result<Vec<KernelLaunch>>>()?;
        match transfers.fields.is_empty() {
            true => self.list.steps.extend(launches.into_iter().map(Step::Launch)),
            false => {
                let fields = transfers.fields;
                self.list.steps.push(Step::Exchange(PlanExchange { fields, launches }));
            }
        }
        Ok(())
    }

    /// The cells that kernels compute, and the layouts of the results' memory.
    fn extent(&mut self, results: &[ResultMemory], kernels: &[ComputeKernel]) -> Result<Extent> {
        // Reductions are computed by owners alone.
        let extension = if results.is_empty() { None } else { self.next_extension() };
        let layout = |result: &ResultMemory| match (&extension, &result.storage) {
            (Some(extension), ResultStorage::Fresh | ResultStorage::Temporary(_)) => {
                let wide = widened(&result.memory, &extension.room)?;
                Ok(wide.unwrap_or_else(|| Arc::clone(&result.memory)))
            }
            (None, _) | (_, ResultStorage::InPlace) => Ok(Arc::clone(&result.memory)),
        };
        let layouts = results.iter().map(layout).collect::<Result<Vec<_>>>()?;
        let rank = kernels.first().map_or(0, |kernel| kernel.dist.rank());
        let owned = |layouts| Extent { regions: None, grow: HaloWidths::zero(rank), layouts };
        let ([kernel], Some(extension)) = (kernels, extension.filter(|one| !one.grow.is_zero())) else {
            return Ok(owned(layouts));
        };
        let regions = results[0].window.regions(&kernel.dist, &extension.grow, &kernel.placed)?;
        if self.is_held(kernel, results, (&regions, &extension.grow, &layouts))? {
            return Ok(Extent { regions: Some(regions), grow: extension.grow, layouts });
        }
        self.mark_unsupported("an evaluation lacks what its neighbours have");
        Ok(owned(layouts))
    }

    /// Whether all that the regions need is valid, and all that they give has a place.
    fn is_held(
        &self,
        kernel: &ComputeKernel,
        results: &[ResultMemory],
        (regions, grow, layouts): (&[ComputeRegion], &HaloWidths, &[Arc<Distribution>]),
    ) -> Result<bool> {
        let has = |node: NodeId, halo: &HaloWidths| {
            let state = self.graph.memory_state(node);
            state.is_some_and(|state| state.valid.covers(halo) && state.dist.stores(&halo.lo, &halo.hi))
        };
        for (result, layout) in results.iter().zip(layouts) {
            let kept = result.rest_of.is_none_or(|base| has(base, grow));
            let has_room = match &result.storage {
                ResultStorage::Fresh | ResultStorage::InPlace => layout.stores(&grow.lo, &grow.hi),
                ResultStorage::Temporary(base) => base.stores(&grow.lo, &grow.hi) && holds(layout, regions),
            };
            if !kept || !has_room || !result.window.is_like(&results[0].window) {
                return Ok(false);
            }
        }
        for leaf in &kernel.leaves {
            let Source::Memory(node) = leaf.source else { continue };
            let source = self.stored(node)?.dist;
            let footprint = Footprint::of(&leaf.maps, &source, &kernel.dist, regions)?;
            let Some(halo) = footprint.and_then(|footprint| footprint.halo) else { return Ok(false) };
            if !halo.is_zero() && !has(node, &halo) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// One kernel on all parts. `made` are the results that it computes alone.
    fn fused_launch(
        &mut self,
        kernel: ComputeKernel,
        (results, made): (&[ResultMemory], &[ResultMemory]),
        extent: &Extent,
        transfers: &mut OperandTransfers,
    ) -> Result<KernelLaunch> {
        let hash = self.team.wire().map(|_| {
            let folded = kernel.folds.as_ref().map(|_| &*kernel.dist);
            hash(&(&kernel.kernel, &kernel.arguments, folded))
        });
        let ComputeKernel { kernel, leaves, accesses, placed, arguments, dist, stores, folds } = kernel;
        let (read_bytes, written_bytes) =
            (bytes_read(&leaves, &accesses, &dist)?, bytes_written(results, &stores, folds.as_ref(), &dist)?);
        let (regions, accesses) = match &extent.regions {
            Some(regions) => (regions.clone(), reads_of(self.graph, &leaves, (&dist, regions), true)?),
            None => (ComputeRegion::owned(&dist), accesses),
        };
        let mut operands = Vec::with_capacity(kernel.kernel().params.len());
        let mut waits: Vec<bool> = Vec::with_capacity(leaves.len());
        for (leaf, access) in leaves.iter().zip(&accesses) {
            let (operand, is_travelling) = self.operand(leaf, access.as_ref(), &dist, transfers)?;
            operands.push(operand);
            waits.push(is_travelling);
        }
        for Folds { axes, memory, .. } in folds.iter() {
            let operand = |at: usize| LaunchOperand::OfLaunch { at, folded: axes.clone() };
            operands.extend((0..memory.len()).map(operand));
        }
        for KernelStore { result, window } in &stores {
            let (memory, layout) = (MemoryId::Array(results[*result].node), &extent.layouts[*result]);
            let window = window.map(|window| ArrayWindow { base: Arc::clone(layout), window });
            let corner = |(part, region): (usize, &ComputeRegion)| match &window {
                Some(window) if !region.bounds.is_empty() => window.corner(part, &region.bounds),
                Some(_) | None => Ok(*region.bounds.start()),
            };
            let first = regions.iter().enumerate().map(corner).collect::<Result<Vec<Index>>>()?;
            operands.push(LaunchOperand::Cells { memory, first, axes: LaunchAxis::same(dist.rank()) });
        }
        let core = |part: usize, region: &Region| {
            let all = leaves.iter().zip(&accesses).zip(&waits).filter(|(_, waits)| **waits);
            all.fold(*region, |core, ((leaf, access), _)| match access {
                Some(access) => core.intersect(&access.core(&leaf.maps[0], region, part)),
                None => core,
            })
        };
        let numbers = arguments.recorded();
        let mut launches = Vec::new();
        let own = regions.into_iter().enumerate().filter(|(part, _)| self.list.lists(*part));
        for (part, ComputeRegion { bounds: region, pieces }) in own {
            let memory = folds.as_ref().map(|folds| folds.cells(part, &region)).unwrap_or_default();
            let finds_nothing = folds.is_some() && memory.is_empty();
            if region.is_empty() || finds_nothing {
                continue;
            }
            let core = core(part, &region);
            let arguments = arguments.on(part);
            launches.push(PartLaunch { part, region, pieces, core, arguments, memory });
        }
        let reads = accesses.into_iter().flatten().filter(|_| self.list.own_of.is_none());
        let reads = reads.filter(|access| access.source.is_block());
        let reads = reads.filter_map(|access| Some((access.node, access.footprint?.needs))).collect();
        let (is_fold, results, grow) = (folds.is_some(), made.to_vec(), extent.grow.clone());
        let fused = FusedKernel {
            leaves,
            placed,
            results,
            grow,
            numbers,
            is_fold,
            read_bytes,
            written_bytes,
            reads,
            hash,
        };
        let layout = dist;
        Ok(KernelLaunch { kernel, layout, operands, launches, fused: Some(Box::new(fused)) })
    }
}

impl KernelArguments {
    /// Those that are plain numbers of the recorded program.
    fn recorded(&self) -> Arc<[(usize, Slot)]> {
        let recorded = |(at, argument): (usize, &KernelArgument)| match argument {
            KernelArgument::Number(slot) => Some((at, *slot)),
            KernelArgument::PerPart(_) => None,
        };
        self.iter().enumerate().filter_map(recorded).collect()
    }

    /// The arguments of the launch on a part.
    fn on(&self, part: usize) -> Vec<LaunchArgument> {
        let argument = |argument: &KernelArgument| match argument {
            KernelArgument::Number(slot) => LaunchArgument::Recorded(*slot),
            KernelArgument::PerPart(values) => LaunchArgument::Number(values[part]),
        };
        self.iter().map(argument).collect()
    }
}

impl Folds {
    /// The cells in which a part puts what it finds; none if it finds nothing.
    fn cells(&self, part: usize, region: &Region) -> Vec<PartCells> {
        let along = |d: usize| if self.axes.contains(&d) { 0 } else { region.start()[d] };
        let first = Index::from_fn(region.rank(), along);
        let memory = self.memory.iter().filter_map(|parts| parts[part]);
        memory.map(|memory| PartCells { memory, part, first }).collect()
    }
}

/// The bytes that a kernel reads at least: of each operand the cells that the parts read, each once.
fn bytes_read(leaves: &[Leaf], accesses: &[Option<OperandAccess>], dist: &Distribution) -> Result<u64> {
    let volume = |region: &Region| Ok(region.volume()? as u64);
    let mut bytes = 0u64;
    for (leaf, access) in leaves.iter().zip(accesses) {
        let Some(access) = access else { continue };
        let cells: u64 = match &access.footprint {
            Some(footprint) => footprint.needs.iter().map(volume).sum::<Result<u64>>()?,
            None => (0..dist.parts()).map(|part| volume(&dist.owned(part))).sum::<Result<u64>>()?,
        };
        bytes = cells.saturating_mul(leaf.dtype.size_bytes() as u64).saturating_add(bytes);
    }
    Ok(bytes)
}

/// The bytes of what a kernel stores.
fn bytes_written(
    results: &[ResultMemory],
    stores: &[KernelStore],
    folds: Option<&Folds>,
    dist: &Distribution,
) -> Result<u64> {
    let bytes = |dist: &Distribution, dtypes: &mut dyn Iterator<Item = DType>| -> Result<u64> {
        let bytes: u64 = dtypes.map(|dtype| dtype.size_bytes() as u64).sum();
        Ok((dist.global().volume()? as u64).saturating_mul(bytes))
    };
    let stored = bytes(dist, &mut stores.iter().map(|store| results[store.result].dtype))?;
    let folded = folds.map_or(Ok(0), |folds| bytes(&folds.result, &mut folds.results.iter().copied()))?;
    Ok(stored.saturating_add(folded))
}

/// What kernels read that is on its way to them.
pub(super) struct OperandTransfers {
    pub fields: Vec<ExchangeField>,
    /// Boxes that were fetched, and where they arrive.
    pub fetched: Vec<(NodeId, Vec<Region>, MemoryId)>,
}

impl OperandTransfers {
    /// Whether an array's halo is among it.
    fn has_halo(&self, node: NodeId) -> bool {
        let memory = MemoryId::Array(node);
        self.fields.iter().any(|field| field.halo.is_some() && field.to == memory)
    }
}

impl Lowerer<'_> {
    /// Has the halos that kernels read be current: wider memory where it is too narrow, and an exchange
    /// before the next kernel.
    pub fn update_halos(&mut self, accesses: &[Option<OperandAccess>]) -> Result<()> {
        for access in accesses.iter().flatten() {
            if let AccessMethod::Halo(halo) = &access.method {
                self.update_halo(access.node, halo)?;
            }
        }
        Ok(())
    }

    /// The same for one array. Several kernels may ask for its halo: one exchange brings what all of them
    /// need, because two would write the same cells at once.
    pub fn update_halo(&mut self, node: NodeId, halo: &HaloWidths) -> Result<()> {
        let Some(MemoryState { dist, declared, pitch, valid }) = self.graph.memory_state(node).cloned()
        else {
            return Ok(());
        };
        let Some(wide) = widened(&dist, halo)? else { return Ok(()) };
        let is_moved = !Arc::ptr_eq(&wide, &dist);
        if is_moved {
            self.widen(node, (&wide, &declared), pitch)?;
        }
        if !is_moved && valid.covers(halo) {
            return Ok(());
        }
        let memory = MemoryId::Array(node);
        let asked = self.pending.iter().position(|field| field.halo.is_some() && field.to == memory);
        let asked = asked.and_then(|at| self.pending.remove(at).halo);
        let need = asked.map_or_else(|| halo.clone(), |asked| asked.max(halo));
        let (plan, dtype, shape) =
            (halo_plan(&wide, &need, self.team)?, self.graph.dtype(node), *self.graph.shape(node));
        self.graph.set_memory(node, (&wide, &declared), pitch, need.clone());
        let (operation, what, halo) = ("halo exchange", "halo", Some(need));
        let (from, to) = (memory, memory);
        self.pending.push(ExchangeField { operation, what, plan, from, to, dtype, shape, halo });
        Ok(())
    }

    /// Moves an array to memory with room for wider halos: once, because later steps only exchange them.
    fn widen(
        &mut self,
        node: NodeId,
        (wide, declared): (&Arc<Distribution>, &Arc<Distribution>),
        pitch: Pitch,
    ) -> Result<()> {
        let moved = self.placeholder(node);
        self.computed_in(moved, (wide, declared), pitch);
        let made = self.stored(moved)?;
        self.list.allocate(&made);
        let dtype = made.dtype;
        self.list.steps.push(Step::Copy { from: node, to: moved, dtype, cells: CopiedCells::Owned });
        self.list.steps.push(Step::Donate { from: moved, to: node });
        Ok(())
    }

    /// An operand where launches over `dist` read it: in its own memory, or as a copy. Whether some of it
    /// travels, and launches over more than the core have to wait.
    pub(super) fn operand(
        &mut self,
        leaf: &Leaf,
        access: Option<&OperandAccess>,
        dist: &Arc<Distribution>,
        transfers: &mut OperandTransfers,
    ) -> Result<(LaunchOperand, bool)> {
        let node = match (&leaf.source, access) {
            (Source::List(list, dim), _) => {
                return Ok((LaunchOperand::List { list: *list, dim: *dim }, false));
            }
            (Source::Number(numbers, which), _) => {
                return Ok((LaunchOperand::StepNumber(Arc::clone(numbers), *which), false));
            }
            (Source::Memory(node), _) => *node,
        };
        let access = access.ok_or_else(|| not_computed(self.graph, node))?;
        let (memory, travels) = match &access.method {
            AccessMethod::Local => (MemoryId::Array(node), false),
            AccessMethod::Halo(_) => (MemoryId::Array(node), transfers.has_halo(node)),
            AccessMethod::Fetch(needs) | AccessMethod::FetchGlobal(needs) => {
                (self.fetch_boxes((leaf, access), dist, needs, transfers)?, true)
            }
            AccessMethod::Aligned => {
                return Ok((self.fetch_aligned((leaf, access), dist, transfers)?, true));
            }
        };
        let axes = launch_axes(&leaf.maps[0], |step| step);
        let first = access.footprint.as_ref().map_or_else(Vec::new, |footprint| footprint.anchors.clone());
        Ok((LaunchOperand::Cells { memory, first, axes }, travels))
    }

    /// Brings each part a box of an array. Boxes that another leaf needs too are fetched once.
    fn fetch_boxes(
        &mut self,
        (leaf, access): (&Leaf, &OperandAccess),
        dist: &Distribution,
        needs: &[Region],
        transfers: &mut OperandTransfers,
    ) -> Result<MemoryId> {
        let node = access.node;
        let same = transfers.fetched.iter().find(|(other, boxes, _)| *other == node && boxes == needs);
        if let Some((.., memory)) = same {
            return Ok(*memory);
        }
        let pitch = self.stored(node)?.pitch;
        let memory = self.fetch((leaf, access), dist, ("boxes", needs, pitch), transfers)?;
        transfers.fetched.push((node, needs.to_vec(), memory));
        Ok(memory)
    }

    /// Brings what each part needs of an operand on other maps into temporary memory, in the order in which
    /// the launches over `dist` go through it. Each shift along such maps is an operand of its own.
    fn fetch_aligned(
        &mut self,
        (leaf, access): (&Leaf, &OperandAccess),
        dist: &Distribution,
        transfers: &mut OperandTransfers,
    ) -> Result<LaunchOperand> {
        let map = &leaf.maps[0];
        let boxes =
            (0..dist.parts()).map(|part| packed_box(map, dist, part)).collect::<Result<Vec<Region>>>()?;
        let what = ("elements in the kernel's order", &boxes[..], Pitch::of(leaf.dtype));
        let memory = self.fetch((leaf, access), dist, what, transfers)?;
        let first = boxes.iter().map(|region| *region.start()).collect();
        Ok(LaunchOperand::Cells { memory, first, axes: launch_axes(map, |_| 1) })
    }

    fn fetch(
        &mut self,
        (leaf, access): (&Leaf, &OperandAccess),
        dist: &Distribution,
        (what, needs, pitch): (&'static str, &[Region], Pitch),
        transfers: &mut OperandTransfers,
    ) -> Result<MemoryId> {
        let node = access.node;
        let plan = access.plan(leaf, dist, self.team)?.ok_or_else(|| not_computed(self.graph, node))?;
        if plan.messages() > 0 {
            self.mark_unsupported(
                "the step fetches what no halo holds; round the ends, halos reach along periodic dimensions",
            );
        }
        let (dtype, shape) = (self.graph.dtype(node), *self.graph.shape(node));
        let room = |need: &Region| if need.is_empty() { *need } else { pitch.room(need) };
        let to = self.list.boxes(dtype, needs.iter().map(room).collect());
        let (operation, from, halo) = ("fetch", MemoryId::Array(node), None);
        transfers.fields.push(ExchangeField { operation, what, plan, from, to, dtype, shape, halo });
        Ok(to)
    }
}

/// The dimensions of a kernel along which the memory of an operand goes; `step` says how far it goes by a
/// step of the map.
fn launch_axes(map: &Map, step: impl Fn(i64) -> i64) -> Vec<LaunchAxis> {
    let axis = |(along, axis): (usize, &Along)| match *axis {
        Along::Dim { dim, step: by, .. } => Some(LaunchAxis { dim, along, step: step(by) }),
        Along::Pinned(_) => None,
    };
    map.axes().iter().enumerate().filter_map(axis).collect()
}
