//! Operands on their way to the launches that read them: as they lie, with a halo, or as a copy. Knows
//! routes; which one an operand takes is decided elsewhere.

use std::sync::Arc;

use super::input::{Arrival, Input, Order, margin};
use super::{Pending, Work, missing_part};
use crate::array::data::bytes_of;
use crate::array::deep;
use crate::array::exchange::{aligned_plan, box_plan, fetch_plan, near, operand_plan};
use crate::array::lower::{Leaf, Source};
use crate::array::map::Map;
use crate::array::node::Node;
use crate::array::reach::{Reach, brought};
use crate::array::route::{Route, Way, routes};
use crate::array::storage::Storage;
use crate::array::zone::Zone;
use crate::error::Result;
use crate::index::{Distribution, Index, Region};
use crate::plan::Plan;
use crate::program::Place;

/// What was fetched of an array: a box per part, and where it is.
pub(super) type Fetched = (Arc<Node>, Vec<Region>, Vec<Option<Place>>);

impl Work {
    /// Brings every operand within reach of the launches over what each part owns of `dist`.
    pub fn bring_all(&mut self, leaves: &[Leaf], dist: &Distribution) -> Result<Vec<Input>> {
        let zones = Zone::owned(dist);
        self.bring_by(leaves, &routes(leaves, dist, &zones)?, dist, &zones)
    }

    /// The same for launches over zones of `dist`, one per part, on routes that are known.
    pub fn bring_by(
        &mut self,
        leaves: &[Leaf],
        routes: &[Option<Route>],
        dist: &Distribution,
        zones: &[Zone],
    ) -> Result<Vec<Input>> {
        let both = leaves.iter().zip(routes);
        both.map(|(leaf, route)| self.bring(leaf, route.as_ref(), dist, zones)).collect()
    }

    fn bring(
        &mut self,
        leaf: &Leaf,
        route: Option<&Route>,
        dist: &Distribution,
        zones: &[Zone],
    ) -> Result<Input> {
        match (&leaf.source, route) {
            (Source::Array(node, _), Some(route)) => match (&route.way, &route.reach) {
                (Way::Aligned, _) | (_, None) => self.align(route, &leaf.maps[0], dist),
                (way, Some(reach)) => self.bring_array(node, route, way, reach, &leaf.maps[0], zones),
            },
            (Source::Array(..), None) => Err(missing_part("operand")),
            (Source::List(list, dim), _) => {
                let places = list.upload(&self.team, dist, *dim, &mut self.leases)?;
                let first = |part: usize| Index::filled(1, dist.owned(part).start()[*dim]);
                let anchors = (0..dist.parts()).map(first).collect();
                Ok(Input { places, anchors, order: Order::Own, arrival: Arrival::Nothing })
            }
            (Source::Number(numbers, which), _) => {
                let (places, anchor) = numbers.places(&self.team, *which)?;
                let anchors = vec![anchor; dist.parts()];
                Ok(Input { places, anchors, order: Order::Own, arrival: Arrival::Nothing })
            }
        }
    }

    fn bring_array(
        &mut self,
        node: &Arc<Node>,
        route: &Route,
        way: &Way,
        reach: &Reach,
        map: &Map,
        zones: &[Zone],
    ) -> Result<Input> {
        // Another leaf may have given the array a wider halo.
        let storage = node.storage().unwrap_or_else(|| Arc::clone(&route.storage));
        let (places, arrival) = match way {
            Way::Here | Way::Aligned => (storage.places(&self.team), Arrival::Nothing),
            Way::Halo(halo) => {
                let storage = self.with_halo(node, storage, halo)?;
                let arrival = match self.refresh(&storage, node.dtype, halo)? {
                    false => Arrival::Nothing,
                    true => {
                        let margin = |(part, zone): (usize, &Zone)| {
                            margin(map, reach, &storage.dist, &zone.hull, part)
                        };
                        Arrival::Halo(zones.iter().enumerate().map(margin).collect())
                    }
                };
                (storage.places(&self.team), arrival)
            }
            Way::Fetch(needs) | Way::Boxes(needs) => {
                (self.fetch_once(node, &storage, way, needs)?, Arrival::Everything)
            }
        };
        Ok(Input { places, anchors: reach.anchors.clone(), order: Order::Own, arrival })
    }

    /// What another leaf has asked for is not fetched again.
    fn fetch_once(
        &mut self,
        node: &Arc<Node>,
        storage: &Storage,
        way: &Way,
        needs: &[Region],
    ) -> Result<Vec<Option<Place>>> {
        let same = |(other, boxes, _): &&Fetched| Arc::ptr_eq(other, node) && boxes == needs;
        if let Some((.., places)) = self.fetched.iter().find(same) {
            return Ok(places.clone());
        }
        let plan = match way {
            Way::Boxes(_) => box_plan(&storage.dist, needs.to_vec(), near(&self.team, &self.team))?,
            _ => operand_plan(&storage.dist, needs.to_vec())?,
        };
        let places = self.fetch_planned(node, storage, plan, needs)?;
        self.fetched.push((Arc::clone(node), needs.to_vec(), places.clone()));
        Ok(places)
    }

    /// Brings what each part needs of an operand on other maps into temporary memory, in the order in which
    /// the launches over `dist` go through it. Each shift along such maps is an operand of its own.
    fn align(&mut self, route: &Route, map: &Map, dist: &Distribution) -> Result<Input> {
        let (near, node) = (near(&self.team, &self.team), &route.node);
        let storage = node.storage().unwrap_or_else(|| Arc::clone(&route.storage));
        let plan = aligned_plan(&storage.dist, dist, map.axes().to_vec(), near)?;
        let boxes =
            (0..dist.parts()).map(|part| brought(map, dist, part)).collect::<Result<Vec<Region>>>()?;
        let places = self.fetch_planned(node, &storage, plan, &boxes)?;
        let anchors = boxes.iter().map(|region| *region.start()).collect();
        Ok(Input { places, anchors, order: Order::Launched, arrival: Arrival::Everything })
    }

    /// Where each part can read the box it needs: its own memory if that holds the box, otherwise a copy.
    pub fn near(&mut self, node: &Node, storage: &Storage, needs: &[Region]) -> Result<Vec<Option<Place>>> {
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

    /// Copies what each part needs into temporary memory: the way for operands on other layouts.
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
            let reason =
                "the step fetches what no halo holds; round the ends, halos reach along periodic dimensions";
            deep::refuse(|| reason.to_owned());
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
        self.pending.push(Pending { operation: "fetch", plan, from, to, dtype, refreshes: None });
        Ok(places)
    }
}
