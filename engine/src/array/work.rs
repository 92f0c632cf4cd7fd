//! A schedule under construction: operands are brought to where launches read them, launches follow.
//!
//! What has to be brought is collected, and departs as ONE exchange: one message per pair of ranks, whatever
//! the number of operands. Launches that read nothing of it, the *core*, may be queued before it arrives;
//! every other launch comes after.

use std::sync::Arc;

use partita_kernels::{DType, Launch, Scalar, Verified, View};

use super::deep::{self, Due, Event};
use super::exchange::{aligned_plan, box_plan, fetch_plan, halo_plan, near, operand_plan};
use super::lower::{Leaf, Source};
use super::map::Map;
use super::node::Node;
use super::reach::{Reach, brought};
use super::route::{Route, Way, routes};
use super::storage::{Fresh, Storage, widened};
use super::zone::Zone;
use crate::device::{Buffer, Device, Job, Lane};
use crate::error::{Error, Result};
use crate::index::{Along, Distribution, Index, Region};
use crate::plan::Plan;
use crate::program::{Command, Place, Schedule, execute};
use crate::team::Team;
use crate::transport::{Field, Leisure, crossing};
use crate::wire::pass;

/// Where one operand can be read.
pub(crate) struct Input {
    /// Per part: the memory.
    places: Vec<Option<Place>>,
    /// Per part: the cell of the first point, in the coordinates of the memory.
    anchors: Vec<Index>,
    order: Order,
    arrival: Arrival,
}

/// How an operand lies in memory.
#[derive(Clone, Copy)]
enum Order {
    /// As in the array: launches go through it in the steps of their maps.
    Own,
    /// As the launches go through it.
    Launched,
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

/// How far from the ends of the region that a part computes it reads beyond what it owns of an operand.
pub(super) fn margin(
    map: &Map,
    reach: &Reach,
    source: &Distribution,
    region: &Region,
    part: usize,
) -> (Index, Index) {
    let (owned, need) = (source.owned(part), &reach.needs[part]);
    let (mut lo, mut hi) = (Index::zeros(region.rank()), Index::zeros(region.rank()));
    for (d, axis) in map.axes().iter().enumerate() {
        let below = (owned.start()[d] - need.start()[d]).max(0);
        let above = (need.stop()[d] - owned.stop()[d]).max(0);
        match *axis {
            Along::Dim { dim, step, .. } => {
                let [below, above] = [below, above].map(|cells| (cells + step.abs() - 1) / step.abs());
                let (first, last) = if step > 0 { (below, above) } else { (above, below) };
                (lo[dim], hi[dim]) = (lo[dim].max(first), hi[dim].max(last));
            }
            Along::Pinned(_) if below + above > 0 && region.rank() > 0 => lo[0] = region.extent(0),
            Along::Pinned(_) => {}
        }
    }
    (lo, hi)
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
            let inner = place.view(&input.anchors[part]);
            let mut view = View { offset: inner.offset, strides: vec![0; rank] };
            for (along, stride) in leaf.maps[0].axes().iter().zip(inner.strides) {
                match (*along, input.order) {
                    (Along::Dim { dim, step, .. }, Order::Own) => view.strides[dim] += step * stride,
                    (Along::Dim { dim, .. }, Order::Launched) => view.strides[dim] += stride,
                    (Along::Pinned(_), _) => {}
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
    /// Which of [`Work::refreshed`], if it is a halo exchange.
    refreshes: Option<usize>,
}

/// What was fetched of an array: a box per part, and where it is.
type Fetched = (Arc<Node>, Vec<Region>, Vec<Option<Place>>);

/// A schedule under construction, the leases its commands rely on, and the halos it makes current.
pub(crate) struct Work {
    team: Team,
    schedule: Schedule,
    /// What the next exchange brings.
    pending: Vec<Pending>,
    /// What the host has to wait for of the exchange that has departed.
    dispatch: Schedule,
    /// What is left to do of the exchange that has departed.
    arrival: Schedule,
    /// The waits by which it joins what is queued afterwards.
    join: Schedule,
    pub leases: Vec<Buffer>,
    refreshed: Vec<(Arc<Storage>, Fresh)>,
    fetched: Vec<Fetched>,
    messages: u64,
}

impl Work {
    pub fn new(team: &Team) -> Work {
        Work {
            team: team.clone(),
            schedule: Schedule::new(),
            pending: Vec::new(),
            dispatch: Schedule::new(),
            arrival: Schedule::new(),
            join: Schedule::new(),
            leases: Vec::new(),
            refreshed: Vec::new(),
            fetched: Vec::new(),
            messages: 0,
        }
    }

    /// What is to be done, everything that has been brought included.
    pub fn commands(&self) -> &[Command] {
        &self.schedule
    }

    /// The halos that will be current afterwards.
    pub fn refreshed(&self) -> &[(Arc<Storage>, Fresh)] {
        &self.refreshed
    }

    /// What the team has counted for it.
    pub fn messages(&self) -> u64 {
        self.messages
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

    /// Sends what launches will need on its way, as far as the host waits for nothing. Says who has time to
    /// compute something else meanwhile: the host after [`Work::dispatch`], other devices before it.
    pub fn depart(&mut self) -> Result<Leisure> {
        let pending = std::mem::take(&mut self.pending);
        let Some(first) = pending.first() else { return Ok(Leisure::Nobody) };
        let messages = pending.iter().map(|pending| pending.plan.messages()).sum();
        self.team.count_messages(messages);
        self.messages += messages;
        let alike = pending.iter().all(|other| other.operation == first.operation);
        let operation = if alike { first.operation } else { "exchange of operands" };
        let fields: Vec<Field> = pending
            .iter()
            .map(|Pending { plan, from, to, dtype, .. }| Field { plan, from, to, dtype: *dtype })
            .collect();
        let exchange = crossing::lower(operation, (&self.team, &self.team), &fields)?.aside();
        let leisure = exchange.leisure();
        self.schedule.extend(exchange.departure);
        self.dispatch.extend(exchange.dispatch);
        self.arrival.extend(exchange.arrival);
        self.join.extend(exchange.join);
        self.leases.extend(exchange.leases);
        Ok(leisure)
    }

    /// Sends the rest on its way.
    pub fn dispatch(&mut self) {
        self.schedule.append(&mut self.dispatch);
    }

    /// Rims that are queued from now on come after everything that was on its way.
    pub fn land(&mut self) -> Result<()> {
        self.depart()?;
        self.dispatch();
        self.schedule.append(&mut self.arrival);
        Ok(())
    }

    /// What is queued from now on comes after everything that was on its way.
    pub fn arrive(&mut self) -> Result<()> {
        self.land()?;
        self.schedule.append(&mut self.join);
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
        let launch = self.boxed(kernel, part, region, (inside, origin), bound, arguments)?;
        self.push(launch);
        Ok(())
    }

    /// The same as soon as what was on its way has arrived at the part, beside what is still computed there.
    pub fn launch_rim(
        &mut self,
        kernel: &Verified,
        part: usize,
        region: &Region,
        at: (&Region, &Index),
        bound: &[(View, Place)],
        arguments: Vec<Scalar>,
    ) -> Result<()> {
        let launch = self.boxed(kernel, part, region, at, bound, arguments)?;
        let device = self.team.device(part);
        let joins = |command: &Command| match command {
            Command::After { first, .. } => *first == (device.clone(), Lane::Exchange),
            _ => false,
        };
        let lane = if self.join.iter().any(joins) { Lane::Exchange } else { Lane::Compute };
        self.push(launch.on(lane));
        Ok(())
    }

    fn boxed(
        &self,
        kernel: &Verified,
        part: usize,
        region: &Region,
        (inside, origin): (&Region, &Index),
        bound: &[(View, Place)],
        arguments: Vec<Scalar>,
    ) -> Result<Command> {
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
        Ok(Command::Launch { device: device.clone(), job })
    }

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
        // One exchange for what several launches ask for: two would write the same cells at once.
        let own = |at: &usize| Arc::ptr_eq(&self.refreshed[*at].0, storage);
        let waiting = |(n, pending): (usize, &Pending)| Some((n, pending.refreshes.filter(own)?));
        if let Some((n, at)) = self.pending.iter().enumerate().find_map(waiting) {
            let wider = self.refreshed[at].1.max(halo);
            self.pending[n].plan = halo_plan(&storage.dist, &wider)?;
            self.refreshed[at].1 = wider;
            return Ok(true);
        }
        let (from, to) = (storage.places(&self.team), storage.places(&self.team));
        let refreshes = Some(self.refreshed.len());
        self.pending.push(Pending { operation: "halo exchange", plan, from, to, dtype, refreshes });
        self.refreshed.push((Arc::clone(storage), halo.clone()));
        Ok(true)
    }

    /// The array's memory if its halos are wide enough, or else as it is with wider ones, if it can have
    /// them: once, because later steps only exchange them.
    fn with_halo(&mut self, node: &Arc<Node>, storage: Arc<Storage>, halo: &Fresh) -> Result<Arc<Storage>> {
        let Some(dist) = widened(&storage.dist, halo)?.filter(|dist| !Arc::ptr_eq(dist, &storage.dist))
        else {
            return Ok(storage);
        };
        let wide = Storage::new(&self.team, dist, node.dtype)?;
        let copies = storage.copy_owned(&self.team, node.dtype, &wide)?;
        self.extend(copies);
        self.leases.extend(storage.parts.iter().flatten().cloned());
        node.set_ready(wide);
        let Some(wide) = node.storage() else { return Ok(storage) };
        deep::tell(|| Event::Copied { from: storage.number, to: wide.number });
        Ok(wide)
    }

    /// Has halos that are due made current.
    pub fn bring_due(&mut self) -> Result<()> {
        for Due { node, halo } in deep::take_due() {
            let Some(storage) = node.storage() else { continue };
            if widened(&storage.dist, &halo)?.is_none() {
                deep::refuse(|| format!("an array cannot have halos of {} and {}", halo.lo, halo.hi));
                continue;
            }
            let wide = self.with_halo(&node, storage, &halo)?;
            self.refresh(&wide, node.dtype, &halo)?;
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
            let buffer = device.alloc(need.volume()? as u64 * dtype.size_bytes() as u64)?;
            places.push(Some(Place { device, allocation: Arc::clone(buffer.allocation()), stored: *need }));
            self.leases.push(buffer);
        }
        let (from, to) = (storage.places(&self.team), places.clone());
        self.pending.push(Pending { operation: "fetch", plan, from, to, dtype, refreshes: None });
        Ok(places)
    }
}
