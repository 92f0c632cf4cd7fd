//! Operands where launches read them: in their own memory, with an updated halo, or as a copy. Halo requests
//! of all launches of a schedule become one exchange per array.

use std::sync::Arc;

use partita_kernels::{DType, View};

use crate::array::bind::schedule::{FetchedBoxes, PendingTransfer, ScheduleBuilder, Values, missing_part};
use crate::array::lower::access::{AccessMethod, OperandAccess};
use crate::array::lower::body::{Leaf, Source};
use crate::array::lower::footprint::{Footprint, packed_box};
use crate::array::lower::graph::NodeId;
use crate::array::memory::pitch::Pitch;
use crate::array::memory::plans::{aligned_plan, box_plan, colocated, halo_plan, operand_plan};
use crate::array::memory::storage::{HaloWidths, Storage, bytes_of, widened};
use crate::array::memory::window::ComputeRegion;
use crate::array::record::map::Map;
use crate::array::recorder::recording::{BoundTask, HaloRequest};
use crate::error::Result;
use crate::index::{Along, Distribution, Index, Region};
use crate::plan::Plan;
use crate::program::Place;

/// The memory that one operand is read from.
pub(crate) struct BoundOperand {
    /// Per part: the memory.
    pub(crate) places: Vec<Option<Place>>,
    /// Per part: the cell of the first point, in the coordinates of the memory.
    pub(crate) anchors: Vec<Index>,
    /// Whether it lies in memory as the launches go through it, and not as in the array.
    in_launch_order: bool,
    /// Whether some of it is on its way, and launches over more than the core have to wait.
    pub(crate) travels: bool,
}

/// The parameters of one part's launch: each leaf's view of what the part computes, and its memory.
pub(crate) fn bind(
    leaves: &[Leaf],
    inputs: &[BoundOperand],
    part: usize,
    rank: usize,
) -> Result<Vec<(View, Place)>> {
    leaves
        .iter()
        .zip(inputs)
        .map(|(leaf, input)| {
            let place = input.places[part].clone().ok_or_else(|| missing_part("operand"))?;
            let inner = place.view(&input.anchors[part]);
            let mut view = View { offset: inner.offset, strides: vec![0; rank] };
            for (along, stride) in leaf.maps[0].axes().iter().zip(inner.strides) {
                if let Along::Dim { dim, step, .. } = *along {
                    view.strides[dim] += if input.in_launch_order { stride } else { step * stride };
                }
            }
            Ok((view, place))
        })
        .collect()
}

impl ScheduleBuilder {
    /// Makes every operand readable by launches over `dist`.
    pub fn bind_operands(
        &mut self,
        values: &mut Values,
        (leaves, accesses): (&[Leaf], &[Option<OperandAccess>]),
        dist: &Distribution,
    ) -> Result<Vec<BoundOperand>> {
        let both = leaves.iter().zip(accesses);
        both.map(|(leaf, access)| self.bind_operand(values, leaf, access.as_ref(), dist)).collect()
    }

    fn bind_operand(
        &mut self,
        values: &mut Values,
        leaf: &Leaf,
        access: Option<&OperandAccess>,
        dist: &Distribution,
    ) -> Result<BoundOperand> {
        match (&leaf.source, access) {
            (Source::Memory(node), Some(access)) => match &access.footprint {
                Some(footprint) if !matches!(access.method, AccessMethod::Aligned) => {
                    self.bind_array(values, (*node, leaf.dtype), &access.method, footprint)
                }
                Some(_) | None => self.fetch_aligned(values, (*node, leaf.dtype), &leaf.maps[0], dist),
            },
            (Source::Memory(_), None) => Err(missing_part("operand")),
            (Source::List(list, dim), _) => {
                let places = list.upload(&self.team, dist, *dim, &mut self.uploads)?;
                let first = |part: usize| Index::filled(1, dist.owned(part).start()[*dim]);
                let anchors = (0..dist.parts()).map(first).collect();
                Ok(BoundOperand { places, anchors, in_launch_order: false, travels: false })
            }
            (Source::Number(numbers, which), _) => {
                let (places, anchor) = numbers.places(&self.team, *which)?;
                let anchors = vec![anchor; dist.parts()];
                Ok(BoundOperand { places, anchors, in_launch_order: false, travels: false })
            }
        }
    }

    fn bind_array(
        &mut self,
        values: &mut Values,
        (node, dtype): (NodeId, DType),
        method: &AccessMethod,
        footprint: &Footprint,
    ) -> Result<BoundOperand> {
        // Another leaf may have given the array a wider halo.
        let storage = values.storage(node)?;
        let (places, travels) = match method {
            AccessMethod::Local | AccessMethod::Aligned => (storage.places(&self.team), false),
            AccessMethod::Halo(halo) => {
                let storage = self.with_halo(storage, dtype, halo)?;
                if !Arc::ptr_eq(&storage, &values.storage(node)?) {
                    values.set(node, Arc::clone(&storage));
                }
                (storage.places(&self.team), self.update_halo(&storage, dtype, halo)?)
            }
            AccessMethod::Fetch(needs) | AccessMethod::FetchGlobal(needs) => {
                (self.fetch_once((node, dtype), &storage, method, needs)?, true)
            }
        };
        Ok(BoundOperand { places, anchors: footprint.anchors.clone(), in_launch_order: false, travels })
    }

    /// Boxes that another leaf needs too are fetched once.
    fn fetch_once(
        &mut self,
        (node, dtype): (NodeId, DType),
        storage: &Storage,
        method: &AccessMethod,
        needs: &[Region],
    ) -> Result<Vec<Option<Place>>> {
        let same = |(other, boxes, _): &&FetchedBoxes| *other == node && boxes == needs;
        if let Some((.., places)) = self.fetched.iter().find(same) {
            return Ok(places.clone());
        }
        let plan = match method {
            AccessMethod::FetchGlobal(_) => {
                box_plan(&storage.dist, needs.to_vec(), colocated(&self.team, &self.team))?
            }
            _ => operand_plan(&storage.dist, needs.to_vec())?,
        };
        let places = self.fetch_planned((dtype, storage.pitch), storage, plan, needs)?;
        self.fetched.push((node, needs.to_vec(), places.clone()));
        Ok(places)
    }

    /// Brings what each part needs of an operand on other maps into temporary memory, in the order in which
    /// the launches over `dist` go through it. Each shift along such maps is an operand of its own.
    fn fetch_aligned(
        &mut self,
        values: &Values,
        (node, dtype): (NodeId, DType),
        map: &Map,
        dist: &Distribution,
    ) -> Result<BoundOperand> {
        let (colocated, storage) = (colocated(&self.team, &self.team), values.storage(node)?);
        let plan = aligned_plan(&storage.dist, dist, map.axes().to_vec(), colocated)?;
        let boxes =
            (0..dist.parts()).map(|part| packed_box(map, dist, part)).collect::<Result<Vec<Region>>>()?;
        let places = self.fetch_planned((dtype, Pitch::of(dtype)), &storage, plan, &boxes)?;
        let anchors = boxes.iter().map(|region| *region.start()).collect();
        Ok(BoundOperand { places, anchors, in_launch_order: true, travels: true })
    }

    fn fetch_planned(
        &mut self,
        (dtype, pitch): (DType, Pitch),
        storage: &Storage,
        plan: Arc<Plan>,
        needs: &[Region],
    ) -> Result<Vec<Option<Place>>> {
        if plan.messages() > 0 {
            let reason =
                "the step fetches what no halo holds; round the ends, halos reach along periodic dimensions";
            self.recorder.mark_unsupported(|| reason.to_owned());
        }
        let mut places: Vec<Option<Place>> = Vec::with_capacity(needs.len());
        for (part, need) in needs.iter().enumerate() {
            if need.is_empty() || !self.team.is_here(part) {
                places.push(None);
                continue;
            }
            let device = self.team.device(part).clone();
            let stored = pitch.room(need);
            let buffer = device.alloc(bytes_of(&stored, dtype)?)?;
            places.push(Some(Place { device, allocation: Arc::clone(buffer.allocation()), stored }));
            self.leases.push(buffer);
        }
        let (from, to) = (storage.places(&self.team), places.clone());
        self.pending.push(PendingTransfer { operation: "fetch", plan, from, to, dtype, updates: None });
        Ok(places)
    }
}

impl ScheduleBuilder {
    /// Requests a valid halo; false if it is valid already.
    pub(crate) fn update_halo(
        &mut self,
        storage: &Arc<Storage>,
        dtype: DType,
        halo: &HaloWidths,
    ) -> Result<bool> {
        if halo.is_zero() {
            return Ok(false);
        }
        let asked =
            |(other, fresh): &(Arc<Storage>, HaloWidths)| Arc::ptr_eq(other, storage) && fresh.covers(halo);
        if self.updated_halos.iter().any(asked) {
            return Ok(true);
        }
        let Some(plan) = storage.missing_halo_plan(halo)? else { return Ok(false) };
        // One exchange for what several launches ask for: two would write the same cells at once.
        let own = |at: &usize| Arc::ptr_eq(&self.updated_halos[*at].0, storage);
        let waiting = |(n, pending): (usize, &PendingTransfer)| Some((n, pending.updates.filter(own)?));
        if let Some((n, at)) = self.pending.iter().enumerate().find_map(waiting) {
            let wider = self.updated_halos[at].1.max(halo);
            self.pending[n].plan = halo_plan(&storage.dist, &wider)?;
            self.updated_halos[at].1 = wider;
            return Ok(true);
        }
        let (from, to) = (storage.places(&self.team), storage.places(&self.team));
        let updates = Some(self.updated_halos.len());
        self.pending.push(PendingTransfer { operation: "halo exchange", plan, from, to, dtype, updates });
        self.updated_halos.push((Arc::clone(storage), halo.clone()));
        Ok(true)
    }

    /// The array's memory if its halos are wide enough, or else a copy with wider ones, if it can have them:
    /// once, because later steps only exchange them.
    pub(super) fn with_halo(
        &mut self,
        storage: Arc<Storage>,
        dtype: DType,
        halo: &HaloWidths,
    ) -> Result<Arc<Storage>> {
        let Some(dist) = widened(&storage.dist, halo)?.filter(|dist| !Arc::ptr_eq(dist, &storage.dist))
        else {
            return Ok(storage);
        };
        let wide =
            Arc::new(Storage::pitched(&self.team, dist, dtype, storage.pitch)?.declaring(&storage.declared));
        let copies = storage.copy_owned(&self.team, dtype, &wide)?;
        self.extend(copies);
        self.leases.extend(storage.parts.iter().flatten().cloned());
        self.recorder.note_task(|| BoundTask::Copy { from: storage.number, to: wide.number });
        Ok(wide)
    }

    /// Updates the halos that a `Loop` asks for before the first exchange of its step.
    pub fn update_requested_halos(&mut self) -> Result<()> {
        for HaloRequest { node, halo } in self.recorder.take_halo_requests() {
            let Some(storage) = node.storage() else { continue };
            if widened(&storage.dist, &halo)?.is_none() {
                let reason = || format!("an array cannot have halos of {} and {}", halo.lo, halo.hi);
                self.recorder.mark_unsupported(reason);
                continue;
            }
            let wide = self.with_halo(Arc::clone(&storage), node.dtype, &halo)?;
            if !Arc::ptr_eq(&wide, &storage) {
                node.set_ready(Arc::clone(&wide));
            }
            self.update_halo(&wide, node.dtype, &halo)?;
        }
        Ok(())
    }

    /// The widths of a halo that are valid by the time launches read it.
    pub fn valid_halo(&self, storage: &Arc<Storage>) -> HaloWidths {
        let own = |(other, _): &&(Arc<Storage>, HaloWidths)| Arc::ptr_eq(other, storage);
        let updated = self.updated_halos.iter().filter(own).map(|(_, halo)| halo);
        updated.fold(
            storage.valid_halo(),
            |widest, halo| if halo.covers(&widest) { halo.clone() } else { widest },
        )
    }

    /// Whether launches over these regions read nothing but what is valid.
    pub fn holds(
        &self,
        values: &Values,
        leaves: &[Leaf],
        dist: &Distribution,
        regions: &[ComputeRegion],
    ) -> Result<bool> {
        for leaf in leaves {
            let Source::Memory(node) = leaf.source else { continue };
            let storage = values.storage(node)?;
            let footprint = Footprint::of(&leaf.maps, &storage.dist, dist, regions)?;
            let Some(halo) = footprint.and_then(|footprint| footprint.halo) else { return Ok(false) };
            let is_valid =
                || self.valid_halo(&storage).covers(&halo) && storage.dist.stores(&halo.lo, &halo.hi);
            if !halo.is_zero() && !is_valid() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
