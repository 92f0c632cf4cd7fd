//! Operands on their method to the launches that read them: as they lie, with a halo, or as a copy. Knows
//! operand_accesses; which one an operand takes is decided elsewhere.

use std::sync::Arc;

use crate::array::bind::bound_operand::{BoundOperand, Dependency, MemoryOrder, halo_margins};
use crate::array::bind::schedule::{PendingTransfer, ScheduleBuilder, missing_part};
use crate::array::host::read::bytes_of;
use crate::array::loops::analysis;
use crate::array::lower::body::{Leaf, Source};
use crate::array::lower::compute_region::ComputeRegion;
use crate::array::lower::footprint::{Footprint, packed_box};
use crate::array::lower::operand_access::{AccessMethod, OperandAccess, operand_accesses};
use crate::array::memory::plans::{aligned_plan, box_plan, colocated, fetch_plan, operand_plan};
use crate::array::memory::storage::Storage;
use crate::array::record::map::Map;
use crate::array::record::node::Node;
use crate::error::Result;
use crate::index::{Distribution, Index, Region};
use crate::plan::Plan;
use crate::program::Place;

/// What was fetched of an array: a box per part, and where it is.
pub(crate) type FetchedBoxes = (Arc<Node>, Vec<Region>, Vec<Option<Place>>);

impl ScheduleBuilder {
    /// Brings every operand within footprint of the launches over what each part owns of `dist`.
    pub fn bind_all(&mut self, leaves: &[Leaf], dist: &Distribution) -> Result<Vec<BoundOperand>> {
        let regions = ComputeRegion::owned(dist);
        self.bind_operands(leaves, &operand_accesses(leaves, dist, &regions)?, dist, &regions)
    }

    /// The same for launches over regions of `dist`, one per part, on operand_accesses that are known.
    pub fn bind_operands(
        &mut self,
        leaves: &[Leaf],
        operand_accesses: &[Option<OperandAccess>],
        dist: &Distribution,
        regions: &[ComputeRegion],
    ) -> Result<Vec<BoundOperand>> {
        let both = leaves.iter().zip(operand_accesses);
        both.map(|(leaf, access)| self.bind_operand(leaf, access.as_ref(), dist, regions)).collect()
    }

    fn bind_operand(
        &mut self,
        leaf: &Leaf,
        access: Option<&OperandAccess>,
        dist: &Distribution,
        regions: &[ComputeRegion],
    ) -> Result<BoundOperand> {
        match (&leaf.source, access) {
            (Source::Array(node, _), Some(access)) => match (&access.method, &access.footprint) {
                (AccessMethod::Aligned, _) | (_, None) => self.fetch_aligned(access, &leaf.maps[0], dist),
                (method, Some(footprint)) => {
                    self.bind_array(node, access, method, footprint, &leaf.maps[0], regions)
                }
            },
            (Source::Array(..), None) => Err(missing_part("operand")),
            (Source::List(list, dim), _) => {
                let places = list.upload(&self.team, dist, *dim, &mut self.leases)?;
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
        node: &Arc<Node>,
        access: &OperandAccess,
        method: &AccessMethod,
        footprint: &Footprint,
        map: &Map,
        regions: &[ComputeRegion],
    ) -> Result<BoundOperand> {
        // Another leaf may have given the array a wider halo.
        let storage = node.storage().unwrap_or_else(|| Arc::clone(&access.storage));
        let (places, dependency) = match method {
            AccessMethod::Local | AccessMethod::Aligned => (storage.places(&self.team), Dependency::None),
            AccessMethod::Halo(halo) => {
                let storage = self.with_halo(node, storage, halo)?;
                let dependency = match self.update_halo(&storage, node.dtype, halo)? {
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
                (self.fetch_once(node, &storage, method, needs)?, Dependency::All)
            }
        };
        Ok(BoundOperand { places, anchors: footprint.anchors.clone(), order: MemoryOrder::Array, dependency })
    }

    /// What another leaf has asked for is not fetched again.
    fn fetch_once(
        &mut self,
        node: &Arc<Node>,
        storage: &Storage,
        method: &AccessMethod,
        needs: &[Region],
    ) -> Result<Vec<Option<Place>>> {
        let same = |(other, boxes, _): &&FetchedBoxes| Arc::ptr_eq(other, node) && boxes == needs;
        if let Some((.., places)) = self.fetched.iter().find(same) {
            return Ok(places.clone());
        }
        let plan = match method {
            AccessMethod::FetchGlobal(_) => {
                box_plan(&storage.dist, needs.to_vec(), colocated(&self.team, &self.team))?
            }
            _ => operand_plan(&storage.dist, needs.to_vec())?,
        };
        let places = self.fetch_planned(node, storage, plan, needs)?;
        self.fetched.push((Arc::clone(node), needs.to_vec(), places.clone()));
        Ok(places)
    }

    /// Brings what each part needs of an operand on other maps into temporary memory, in the order in which
    /// the launches over `dist` go through it. Each shift along such maps is an operand of its own.
    fn fetch_aligned(
        &mut self,
        access: &OperandAccess,
        map: &Map,
        dist: &Distribution,
    ) -> Result<BoundOperand> {
        let (colocated, node) = (colocated(&self.team, &self.team), &access.node);
        let storage = node.storage().unwrap_or_else(|| Arc::clone(&access.storage));
        let plan = aligned_plan(&storage.dist, dist, map.axes().to_vec(), colocated)?;
        let boxes =
            (0..dist.parts()).map(|part| packed_box(map, dist, part)).collect::<Result<Vec<Region>>>()?;
        let places = self.fetch_planned(node, &storage, plan, &boxes)?;
        let anchors = boxes.iter().map(|region| *region.start()).collect();
        Ok(BoundOperand { places, anchors, order: MemoryOrder::Launch, dependency: Dependency::All })
    }

    /// Where each part can read the box it needs: its own memory if that holds the box, otherwise a copy.
    pub fn fetch_missing(
        &mut self,
        node: &Node,
        storage: &Storage,
        needs: &[Region],
    ) -> Result<Vec<Option<Place>>> {
        let nothing = |need: &Region| Region::from_fn(need.rank(), |_| (0, 0));
        let held = |part: usize| storage.dist.owned(part).contains_region(&needs[part]);
        let afar: Vec<Region> = (0..needs.len())
            .map(|part| if held(part) { nothing(&needs[part]) } else { needs[part] })
            .collect();
        let mut places = self.fetch(node, storage, &afar)?;
        for (part, place) in places.iter_mut().enumerate().filter(|(part, _)| held(*part)) {
            *place = storage.place(&self.team, part).filter(|_| !needs[part].is_empty());
        }
        Ok(places)
    }

    /// Copies what each part needs into temporary memory: the method for operands on other layouts.
    pub fn fetch(&mut self, node: &Node, storage: &Storage, needs: &[Region]) -> Result<Vec<Option<Place>>> {
        let plan = fetch_plan(&storage.dist.packed(), needs.to_vec())?;
        self.fetch_planned(node, storage, plan, needs)
    }

    fn fetch_planned(
        &mut self,
        node: &Node,
        storage: &Storage,
        plan: Arc<Plan>,
        needs: &[Region],
    ) -> Result<Vec<Option<Place>>> {
        if plan.messages() > 0 {
            let reason = "the step fetches what no halo holds; round the ends, halos footprint along periodic dimensions";
            analysis::mark_unsupported(|| reason.to_owned());
        }
        let dtype = node.dtype;
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
