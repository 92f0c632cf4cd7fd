//! Fused kernels as steps: memory for their results, one exchange of all that they read from elsewhere, and
//! their launches. What needs nothing of the exchange, the *core*, may be computed meanwhile.

use std::sync::Arc;

use partita_kernels::DType;

use crate::array::lower::access::{OperandAccess, reads_of};
use crate::array::lower::body::{KernelArgument, KernelArguments, Leaf, Source};
use crate::array::lower::compute::{Compute, ComputeKernel, Folds, KernelStore};
use crate::array::lower::footprint::Footprint;
use crate::array::lower::graph::NodeId;
use crate::array::lower::lowerer::Lowerer;
use crate::array::lower::steps::list::{
    FusedKernel, KernelLaunch, LaunchArgument, LaunchAxis, LaunchOperand, MemoryId, PartCells, PartLaunch,
    PlanExchange, ResultMemory, ResultStorage, Step,
};
use crate::array::lower::steps::operands::OperandTransfers;
use crate::array::memory::storage::{HaloWidths, widened};
use crate::array::memory::window::{ArrayWindow, ComputeRegion, holds};
use crate::error::Result;
use crate::index::{Distribution, Index, Region};
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
        let mut launches = Vec::with_capacity(regions.len());
        for (part, ComputeRegion { bounds: region, pieces }) in regions.into_iter().enumerate() {
            let memory = folds.as_ref().map(|folds| folds.cells(part, &region)).unwrap_or_default();
            let finds_nothing = folds.is_some() && memory.is_empty();
            if region.is_empty() || finds_nothing {
                continue;
            }
            let core = core(part, &region);
            let arguments = arguments.on(part);
            launches.push(PartLaunch { part, region, pieces, core, arguments, memory });
        }
        let reads = accesses.into_iter().flatten().filter(|access| access.source.is_block());
        let reads = reads.filter_map(|access| Some((access.node, access.footprint?.needs))).collect();
        let (is_fold, results, grow) = (folds.is_some(), made.to_vec(), extent.grow.clone());
        let fused =
            FusedKernel { leaves, placed, results, grow, is_fold, read_bytes, written_bytes, reads, hash };
        let layout = dist;
        Ok(KernelLaunch { kernel, layout, operands, launches, fused: Some(Box::new(fused)) })
    }
}

impl KernelArguments {
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
    let (dist, dtypes): (&Distribution, Vec<DType>) = match folds {
        Some(folds) => (&folds.result, folds.results.clone()),
        None => (dist, stores.iter().map(|store| results[store.result].dtype).collect()),
    };
    let bytes: u64 = dtypes.iter().map(|dtype| dtype.size_bytes() as u64).sum();
    Ok((dist.global().volume()? as u64).saturating_mul(bytes))
}
