//! Operands where launches read them: in their own memory, with an updated halo, or as a copy.

use std::sync::Arc;

use partita_kernels::DType;

use crate::array::bind::bound_operand::{BoundOperand, Dependency, MemoryOrder, halo_margins};
use crate::array::bind::schedule::{FetchedBoxes, PendingTransfer, ScheduleBuilder, missing_part};
use crate::array::bind::values::Values;
use crate::array::lower::access::{AccessMethod, OperandAccess};
use crate::array::lower::body::{Leaf, Source};
use crate::array::lower::footprint::{ComputeRegion, Footprint, packed_box};
use crate::array::lower::graph::NodeId;
use crate::array::memory::plans::{aligned_plan, box_plan, colocated, fetch_plan, operand_plan};
use crate::array::memory::storage::{Storage, bytes_of};
use crate::array::record::map::Map;
use crate::error::Result;
use crate::index::{Distribution, Index, Region};
use crate::plan::Plan;
use crate::program::Place;

impl ScheduleBuilder {
    /// Makes every operand readable by launches over regions of `dist`, one per part.
    pub fn bind_operands(
        &mut self,
        values: &mut Values,
        (leaves, accesses): (&[Leaf], &[Option<OperandAccess>]),
        dist: &Distribution,
        regions: &[ComputeRegion],
    ) -> Result<Vec<BoundOperand>> {
        let both = leaves.iter().zip(accesses);
        both.map(|(leaf, access)| self.bind_operand(values, leaf, access.as_ref(), (dist, regions))).collect()
    }

    fn bind_operand(
        &mut self,
        values: &mut Values,
        leaf: &Leaf,
        access: Option<&OperandAccess>,
        (dist, regions): (&Distribution, &[ComputeRegion]),
    ) -> Result<BoundOperand> {
        match (&leaf.source, access) {
            (Source::Memory(node), Some(access)) => match &access.footprint {
                Some(footprint) if !matches!(access.method, AccessMethod::Aligned) => {
                    self.bind_array(values, (*node, leaf.dtype), (access, footprint), &leaf.maps[0], regions)
                }
                Some(_) | None => self.fetch_aligned(values, (*node, leaf.dtype), &leaf.maps[0], dist),
            },
            (Source::Memory(_), None) => Err(missing_part("operand")),
            (Source::List(list, dim), _) => {
                let places = list.upload(&self.team, dist, *dim, &mut self.uploads)?;
                let first = |part: usize| Index::filled(1, dist.owned(part).start()[*dim]);
                let anchors = (0..dist.parts()).map(first).collect();
                Ok(BoundOperand { places, anchors, order: MemoryOrder::Array, dependency: Dependency::None })
            }
            (Source::Number(numbers, which), _) => {
                let (places, anchor) = numbers.places(&self.team, *which)?;
                let anchors = vec![anchor; dist.parts()];
                Ok(BoundOperand { places, anchors, order: MemoryOrder::Array, dependency: Dependency::None })
            }
        }
    }

    fn bind_array(
        &mut self,
        values: &mut Values,
        (node, dtype): (NodeId, DType),
        (access, footprint): (&OperandAccess, &Footprint),
        map: &Map,
        regions: &[ComputeRegion],
    ) -> Result<BoundOperand> {
        // Another leaf may have given the array a wider halo.
        let storage = values.storage(node)?;
        let method = &access.method;
        let (places, dependency) = match method {
            AccessMethod::Local | AccessMethod::Aligned => (storage.places(&self.team), Dependency::None),
            AccessMethod::Halo(halo) => {
                let storage = self.with_halo(storage, dtype, halo)?;
                if !Arc::ptr_eq(&storage, &values.storage(node)?) {
                    values.set(node, Arc::clone(&storage));
                }
                let dependency = match self.update_halo(&storage, dtype, halo)? {
                    false => Dependency::None,
                    true => {
                        let halo_margins = |(part, zone): (usize, &ComputeRegion)| {
                            halo_margins(map, footprint, &storage.dist, &zone.bounds, part)
                        };
                        Dependency::Halo(regions.iter().enumerate().map(halo_margins).collect())
                    }
                };
                (storage.places(&self.team), dependency)
            }
            AccessMethod::Fetch(needs) | AccessMethod::FetchGlobal(needs) => {
                (self.fetch_once((node, dtype), &storage, method, needs)?, Dependency::All)
            }
        };
        Ok(BoundOperand { places, anchors: footprint.anchors.clone(), order: MemoryOrder::Array, dependency })
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
        let places = self.fetch_planned(dtype, storage, plan, needs)?;
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
        let places = self.fetch_planned(dtype, &storage, plan, &boxes)?;
        let anchors = boxes.iter().map(|region| *region.start()).collect();
        Ok(BoundOperand { places, anchors, order: MemoryOrder::Launch, dependency: Dependency::All })
    }

    /// Where each part can read the box it needs: its own memory if that holds the box, otherwise a copy.
    pub fn fetch_missing(
        &mut self,
        dtype: DType,
        storage: &Storage,
        needs: &[Region],
    ) -> Result<Vec<Option<Place>>> {
        let nothing = |need: &Region| Region::from_fn(need.rank(), |_| (0, 0));
        let held = |part: usize| storage.dist.owned(part).contains_region(&needs[part]);
        let remote: Vec<Region> = (0..needs.len())
            .map(|part| if held(part) { nothing(&needs[part]) } else { needs[part] })
            .collect();
        let mut places = self.fetch(dtype, storage, &remote)?;
        for (part, place) in places.iter_mut().enumerate().filter(|(part, _)| held(*part)) {
            *place = storage.place(&self.team, part).filter(|_| !needs[part].is_empty());
        }
        Ok(places)
    }

    /// Copies what each part needs into temporary memory: the way of operands on other layouts.
    pub fn fetch(&mut self, dtype: DType, storage: &Storage, needs: &[Region]) -> Result<Vec<Option<Place>>> {
        let plan = fetch_plan(&storage.dist.packed(), needs.to_vec())?;
        self.fetch_planned(dtype, storage, plan, needs)
    }

    fn fetch_planned(
        &mut self,
        dtype: DType,
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
            let buffer = device.alloc(bytes_of(need, dtype)?)?;
            places.push(Some(Place { device, allocation: Arc::clone(buffer.allocation()), stored: *need }));
            self.leases.push(buffer);
        }
        let (from, to) = (storage.places(&self.team), places.clone());
        self.pending.push(PendingTransfer { operation: "fetch", plan, from, to, dtype, updates: None });
        Ok(places)
    }
}
