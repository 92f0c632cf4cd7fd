//! A schedule under construction: operands are brought to where launches read them, launches follow.
//!
//! What has to be brought is collected, and departs as ONE exchange: one message per pair of ranks, whatever
//! the number of operands. Launches that read nothing of it, the *core*, may be queued before it arrives;
//! every other launch comes after.

use std::sync::Arc;

use partita_kernels::{DType, Launch, Scalar, Verified, View};

use super::deep::{self, Due, Event};
use super::exchange::{aligned_plan, fetch_plan, near};
use super::lower::{Axis, Leaf, Map, Source};
use super::node::Node;
use super::reach::{Reach, along, brought};
use super::storage::{Fresh, Storage, widened};
use super::zone::Zone;
use crate::device::{Buffer, Device, Job};
use crate::error::{Error, Result};
use crate::index::{Distribution, Index, Region};
use crate::plan::Plan;
use crate::program::{Command, Place, Schedule, execute};
use crate::team::Team;
use crate::transport::{Field, crossing};
use crate::wire::pass;

/// Where one operand can be read.
pub(crate) struct Input {
    /// Per part: the memory.
    places: Vec<Option<Place>>,
    /// Per part: the first cell, in the coordinates of the memory.
    anchors: Vec<Region>,
    arrival: Arrival,
}

/// Which launches must wait for an operand.
enum Arrival {
    /// None: everything is there.
    Nothing,
    /// Those that read beyond what the part owns: per part, how far from the ends of the launch's region,
    /// along each of its dimensions.
    Halo(Vec<(Index, Index)>),
    /// All.
    Everything,
}

impl Input {
    /// The cells of a launch's region that can be computed before anything arrives.
    pub fn core(&self, part: usize, region: &Region) -> Region {
        let margins = |lo: &dyn Fn(usize) -> i64, hi: &dyn Fn(usize) -> i64| {
            Region::from_fn(region.rank(), |d| {
                let start = (region.start()[d] + lo(d)).min(region.stop()[d]);
                (start, (region.stop()[d] - hi(d)).max(start))
            })
        };
        match &self.arrival {
            Arrival::Nothing => *region,
            Arrival::Everything => margins(&|d| region.extent(d), &|_| 0),
            Arrival::Halo(far) => margins(&|d| far[part].0[d], &|d| far[part].1[d]),
        }
    }
}

/// How far from the ends of what each part computes it reads beyond what it owns of an operand.
fn margins(map: &Map, reach: &Reach, source: &Distribution, zones: &[Zone]) -> Vec<(Index, Index)> {
    let of = |part: usize| {
        let (owned, need, region) = (source.owned(part), &reach.needs[part], zones[part].hull);
        let (mut lo, mut hi) = (Index::zeros(region.rank()), Index::zeros(region.rank()));
        for (d, axis) in map.axes().iter().enumerate() {
            let below = (owned.start()[d] - need.start()[d]).max(0);
            let above = (need.stop()[d] - owned.stop()[d]).max(0);
            match *axis {
                Axis::Along { dim, .. } => {
                    (lo[dim], hi[dim]) = (lo[dim].max(below), hi[dim].max(above));
                }
                Axis::Pinned(_) if below + above > 0 && region.rank() > 0 => lo[0] = region.extent(0),
                Axis::Pinned(_) => {}
            }
        }
        (lo, hi)
    };
    (0..zones.len()).map(of).collect()
}

/// The parameters of one part's launch: each leaf's view of what the part computes, and its memory.
pub(crate) fn bind(
    leaves: &[Leaf],
    inputs: &[Input],
    part: usize,
    rank: usize,
) -> Result<Vec<(View, Place)>> {
    leaves
        .iter()
        .zip(inputs)
        .map(|(leaf, input)| {
            let place = input.places[part].clone().ok_or_else(|| missing_part("operand"))?;
            let inner = place.view(input.anchors[part].start());
            let strides = place.strides();
            let mut view = View { offset: inner.offset, strides: vec![0; rank] };
            for (d, axis) in leaf.maps[0].axes().iter().enumerate() {
                if let Axis::Along { dim, .. } = axis {
                    view.strides[*dim] = strides[d];
                }
            }
            Ok((view, place))
        })
        .collect()
}

pub(super) fn missing_part(operation: &'static str) -> Error {
    Error::invalid(
        operation,
        "a result stored by the part that computes it",
        "a part without storage",
        "please report this defect of the engine",
    )
}

/// What an exchange brings of one operand.
struct Pending {
    operation: &'static str,
    plan: Arc<Plan>,
    from: Vec<Option<Place>>,
    to: Vec<Option<Place>>,
    dtype: DType,
}

/// A schedule under construction, the leases its commands rely on, and the halos it makes current.
pub(crate) struct Work {
    team: Team,
    schedule: Schedule,
    /// What the next exchange brings.
    pending: Vec<Pending>,
    /// What is left to do of the exchange that has departed.
    arrival: Schedule,
    pub leases: Vec<Buffer>,
    refreshed: Vec<(Arc<Storage>, Fresh)>,
}

impl Work {
    pub fn new(team: &Team) -> Work {
        Work {
            team: team.clone(),
            schedule: Schedule::new(),
            pending: Vec::new(),
            arrival: Schedule::new(),
            leases: Vec::new(),
            refreshed: Vec::new(),
        }
    }

    pub fn push(&mut self, command: Command) {
        self.schedule.push(command);
    }

    pub fn extend(&mut self, schedule: Schedule) {
        self.schedule.extend(schedule);
    }

    /// The device of a part.
    pub fn device(&self, part: usize) -> Device {
        self.team.device(part).clone()
    }

    /// Sends what launches will need on its way. True if some of it comes from other ranks, so that there is
    /// time to compute something else meanwhile.
    pub fn depart(&mut self) -> Result<bool> {
        let pending = std::mem::take(&mut self.pending);
        let Some(first) = pending.first() else { return Ok(false) };
        let alike = pending.iter().all(|other| other.operation == first.operation);
        let operation = if alike { first.operation } else { "exchange of operands" };
        let fields: Vec<Field> = pending
            .iter()
            .map(|Pending { plan, from, to, dtype, .. }| Field { plan, from, to, dtype: *dtype })
            .collect();
        let exchange = crossing::lower(operation, (&self.team, &self.team), &fields, &mut self.leases)?;
        self.schedule.extend(exchange.departure);
        self.arrival.extend(exchange.arrival);
        Ok(self.arrival.iter().any(|command| matches!(command, Command::Receive { .. })))
    }

    /// What is queued from now on comes after everything that was on its way.
    pub fn arrive(&mut self) -> Result<()> {
        self.depart()?;
        self.schedule.append(&mut self.arrival);
        Ok(())
    }

    /// Queues everything; then, and only then, the halos are current.
    pub fn finish(mut self) -> Result<()> {
        self.arrive()?;
        execute(self.schedule)?;
        pass("eval-queued")?;
        for (storage, fresh) in self.refreshed {
            storage.set_fresh(fresh);
        }
        Ok(())
    }

    /// A launch over one part's region, after everything has arrived.
    pub fn launch(
        &mut self,
        kernel: &Verified,
        part: usize,
        region: &Region,
        bound: Vec<(View, Place)>,
        arguments: Vec<Scalar>,
    ) -> Result<()> {
        self.arrive()?;
        self.launch_box(kernel, part, region, (region, region.start()), &bound, arguments)
    }

    /// A launch over a box of one part's region, whose first cell has these coordinates, as soon as what was
    /// queued before is done. The views are those of the region.
    pub fn launch_box(
        &mut self,
        kernel: &Verified,
        part: usize,
        region: &Region,
        (inside, origin): (&Region, &Index),
        bound: &[(View, Place)],
        arguments: Vec<Scalar>,
    ) -> Result<()> {
        let device = self.team.device(part);
        let program = device.compile(kernel.clone())?;
        let view = |view: &View| {
            let skipped =
                (0..region.rank()).map(|d| (inside.start()[d] - region.start()[d]) * view.strides[d]);
            View { offset: view.offset + skipped.sum::<i64>(), strides: view.strides.clone() }
        };
        let launch = Launch {
            extents: inside.extents().iter().map(|&extent| extent as usize).collect(),
            origin: origin.to_vec(),
            views: bound.iter().map(|(region_view, _)| view(region_view)).collect(),
            arguments,
        };
        let memory = bound.iter().map(|(_, place)| Arc::clone(&place.allocation)).collect();
        let job = Job { program, launch: Arc::new(launch), memory };
        self.push(Command::Launch { device: device.clone(), job });
        Ok(())
    }

    /// Brings every operand within reach of the launches over zones of `dist`, one per part.
    pub fn bring_all(&mut self, leaves: &[Leaf], dist: &Distribution, zones: &[Zone]) -> Result<Vec<Input>> {
        leaves.iter().map(|leaf| self.bring(leaf, dist, zones)).collect()
    }

    fn bring(&mut self, leaf: &Leaf, dist: &Distribution, zones: &[Zone]) -> Result<Input> {
        match &leaf.source {
            Source::Array(node, storage) => {
                let storage = node.storage().unwrap_or_else(|| Arc::clone(storage));
                match Reach::of(&leaf.maps, &storage.dist, dist, zones)? {
                    Some(reach) => self.bring_array(node, storage, &leaf.maps[0], reach, zones),
                    None => self.align(node, &storage, &leaf.maps[0], dist),
                }
            }
            Source::List(list, dim) => {
                let places = list.upload(&self.team, dist, *dim, &mut self.leases)?;
                let owned = (0..dist.parts()).map(|part| dist.owned(part));
                let line = |owned: Region| Region::new(&[owned.start()[*dim]], &[owned.stop()[*dim]]);
                let anchors = owned.map(line).collect::<std::result::Result<_, _>>()?;
                Ok(Input { places, anchors, arrival: Arrival::Nothing })
            }
        }
    }

    fn bring_array(
        &mut self,
        node: &Arc<Node>,
        storage: Arc<Storage>,
        map: &Map,
        reach: Reach,
        zones: &[Zone],
    ) -> Result<Input> {
        let (wide, halo) = match &reach.halo {
            None => (None, None),
            Some(halo) if halo.is_nothing() => {
                let places = storage.places(&self.team);
                return Ok(Input { places, anchors: reach.anchors, arrival: Arrival::Nothing });
            }
            Some(halo) => (self.with_halo(node, &storage, halo)?, Some(halo)),
        };
        let (Some(storage), Some(halo)) = (wide, halo) else {
            let places = self.fetch(node, &storage, &reach.needs)?;
            return Ok(Input { places, anchors: reach.anchors, arrival: Arrival::Everything });
        };
        let arrival = match self.refresh(&storage, node.dtype, halo)? {
            false => Arrival::Nothing,
            true => Arrival::Halo(margins(map, &reach, &storage.dist, zones)),
        };
        Ok(Input { places: storage.places(&self.team), anchors: reach.anchors, arrival })
    }

    /// Has a halo made current; false if nothing needs to be brought for that.
    fn refresh(&mut self, storage: &Arc<Storage>, dtype: DType, halo: &Fresh) -> Result<bool> {
        if halo.is_nothing() {
            return Ok(false);
        }
        let asked =
            |(other, fresh): &(Arc<Storage>, Fresh)| Arc::ptr_eq(other, storage) && fresh.covers(halo);
        if self.refreshed.iter().any(asked) {
            return Ok(true);
        }
        let Some(plan) = storage.lacking(halo)? else { return Ok(false) };
        let (from, to) = (storage.places(&self.team), storage.places(&self.team));
        self.bring_by("halo exchange", plan, from, to, dtype);
        self.refreshed.push((Arc::clone(storage), halo.clone()));
        Ok(true)
    }

    fn bring_by(
        &mut self,
        operation: &'static str,
        plan: Arc<Plan>,
        from: Vec<Option<Place>>,
        to: Vec<Option<Place>>,
        dtype: DType,
    ) {
        self.team.count_messages(plan.messages());
        self.pending.push(Pending { operation, plan, from, to, dtype });
    }

    /// The array's memory if its halos are wide enough, or else as it is with wider ones, which later steps
    /// only exchange; `None` if it cannot have them.
    fn with_halo(
        &mut self,
        node: &Arc<Node>,
        storage: &Arc<Storage>,
        halo: &Fresh,
    ) -> Result<Option<Arc<Storage>>> {
        let Some(dist) = widened(&storage.dist, halo)? else { return Ok(None) };
        if Arc::ptr_eq(&dist, &storage.dist) {
            return Ok(Some(Arc::clone(storage)));
        }
        let wide = Storage::new(&self.team, dist, node.dtype)?;
        let copies = storage.copy_owned(&self.team, node.dtype, &wide)?;
        self.extend(copies);
        self.leases.extend(storage.parts.iter().flatten().cloned());
        node.set_ready(wide);
        let wide = node.storage();
        if let Some(to) = &wide {
            deep::tell(|| Event::Copied { from: storage.number, to: to.number });
        }
        Ok(wide)
    }

    /// Has halos that are due made current.
    pub fn bring_due(&mut self) -> Result<()> {
        for Due { node, halo } in deep::take_due() {
            let Some(storage) = node.storage() else { continue };
            match self.with_halo(&node, &storage, &halo)? {
                Some(wide) => drop(self.refresh(&wide, node.dtype, &halo)?),
                None => deep::refuse(|| format!("an array cannot have halos of {} and {}", halo.lo, halo.hi)),
            }
        }
        Ok(())
    }

    /// How much of a halo is current by the time launches read it.
    pub fn fresh(&self, storage: &Arc<Storage>) -> Fresh {
        let own = |(other, _): &&(Arc<Storage>, Fresh)| Arc::ptr_eq(other, storage);
        let refreshed = self.refreshed.iter().filter(own).map(|(_, fresh)| fresh);
        refreshed
            .fold(storage.fresh(), |widest, fresh| if fresh.covers(&widest) { fresh.clone() } else { widest })
    }

    /// Whether launches over these zones read nothing but what is current.
    pub fn holds(&self, leaves: &[Leaf], dist: &Distribution, zones: &[Zone]) -> Result<bool> {
        for leaf in leaves {
            let Source::Array(node, storage) = &leaf.source else { continue };
            let storage = node.storage().unwrap_or_else(|| Arc::clone(storage));
            let reach = Reach::of(&leaf.maps, &storage.dist, dist, zones)?;
            let Some(halo) = reach.and_then(|reach| reach.halo) else { return Ok(false) };
            if !halo.is_nothing() && !self.fresh(&storage).covers(&halo) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Brings what each part needs of an operand on other maps into temporary memory, in the order in which
    /// the launches over `dist` go through it. Each shift along such maps is an operand of its own.
    fn align(&mut self, node: &Node, storage: &Storage, map: &Map, dist: &Distribution) -> Result<Input> {
        let near = near(&self.team, &self.team);
        let plan = aligned_plan(&storage.dist, dist, along(map), near)?;
        let anchors =
            (0..dist.parts()).map(|part| brought(map, dist, part)).collect::<Result<Vec<Region>>>()?;
        let places = self.fetch_planned(node, storage, plan, &anchors)?;
        Ok(Input { places, anchors, arrival: Arrival::Everything })
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
            deep::refuse(|| "the step fetches what no halo holds".to_owned());
        }
        let dtype = node.dtype;
        let mut places: Vec<Option<Place>> = Vec::with_capacity(needs.len());
        for (part, need) in needs.iter().enumerate() {
            if need.is_empty() || !self.team.is_here(part) {
                places.push(None);
                continue;
            }
            let device = self.team.device(part).clone();
            let buffer = device.alloc(need.volume()? as u64 * dtype.size_bytes() as u64)?;
            places.push(Some(Place { device, allocation: Arc::clone(buffer.allocation()), stored: *need }));
            self.leases.push(buffer);
        }
        self.bring_by("fetch", plan, storage.places(&self.team), places.clone(), dtype);
        Ok(places)
    }
}
