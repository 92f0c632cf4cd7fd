//! Operands of fused kernels where launches read them: in their own memory, with a halo, or as a copy. What
//! travels to several kernels comes by one exchange.

use std::sync::Arc;

use crate::array::lower::access::{AccessMethod, OperandAccess, not_computed};
use crate::array::lower::body::{Leaf, Source};
use crate::array::lower::footprint::packed_box;
use crate::array::lower::graph::{MemoryState, NodeId};
use crate::array::lower::lowerer::Lowerer;
use crate::array::lower::steps::list::{
    CopiedCells, ExchangeField, LaunchAxis, LaunchOperand, MemoryId, Step,
};
use crate::array::memory::pitch::Pitch;
use crate::array::memory::plans::halo_plan;
use crate::array::memory::storage::{HaloWidths, widened};
use crate::array::record::map::Map;
use crate::error::Result;
use crate::index::{Along, Distribution, Region};

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
            (halo_plan(&wide, &need)?, self.graph.dtype(node), *self.graph.shape(node));
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
