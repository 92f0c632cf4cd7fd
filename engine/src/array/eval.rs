//! Evaluation: from recorded expressions to a schedule, executed.
//!
//! For each group of results: lower them to one kernel, bring every operand where the kernel of
//! each part can read it (nothing to do if the part owns it; ONE halo plan however many shifted
//! reads there are; otherwise one fetch plan into temporary memory), then one launch per part. The
//! halo commands come first and the launches after them; computing the core while they travel will
//! slot in between, in [`Work`], without touching the rest.
//!
//! Invariant: kernels never communicate. Everything a launch reads is on its own device before.

use std::sync::Arc;

use partita_kernels::{Launch, Scalar, Verified, View, simplify};

use super::exchange::{aligned_plan, fetch_plan, near};
use super::lower::{Axis, Cut, Leaf, Lowering, Map, Source};
use super::node::Node;
use super::pick;
use super::reach::{Reach, along, brought};
use super::reduce;
use super::storage::{Fresh, Storage};
use crate::device::{Buffer, Job};
use crate::error::{Error, Result};
use crate::index::{Distribution, Index, Region};
use crate::plan::Plan;
use crate::program::{Command, Place, Schedule, execute};
use crate::team::Team;
use crate::transport::{Field, lower};

/// Computes every node that is not computed yet.
pub(crate) fn evaluate(roots: &[Arc<Node>]) -> Result<()> {
    let lazy: Vec<Arc<Node>> = roots.iter().filter(|node| node.storage().is_none()).cloned().collect();
    for node in &lazy {
        if let Some(error) = node.error() {
            return Err(error);
        }
        if let Some((operand, reduction, axes)) = reduce::parts_of(node) {
            node.set_ready(reduce::compute(node, &operand, reduction, &axes)?);
        } else if let Some((base, start)) = pick::scattered_window(node)? {
            node.set_ready(pick::compute(node, &base, &start)?);
        }
    }
    let pointwise: Vec<Target> = lazy
        .into_iter()
        .filter(|node| node.storage().is_none())
        .map(|node| Target { node, into: None })
        .collect();
    for group in group(pointwise)? {
        let nodes: Vec<Arc<Node>> = group.iter().map(|target| Arc::clone(&target.node)).collect();
        for (node, storage) in nodes.iter().zip(compute(&group)?) {
            node.set_ready(storage);
        }
    }
    Ok(())
}

/// One result of a kernel.
pub(crate) struct Target {
    /// What to compute.
    pub node: Arc<Node>,
    /// Write it into memory shaped like that node's, shifted by the index; otherwise into its own.
    pub into: Option<(Arc<Node>, Index)>,
}

/// Results that one kernel can compute: same team, shape and layout.
pub(crate) fn group(targets: Vec<Target>) -> Result<Vec<Vec<Target>>> {
    let mut groups: Vec<(Arc<Distribution>, Vec<Target>)> = Vec::new();
    for target in targets {
        let dist = target.distribution()?;
        let fits = |(other, members): &&mut (Arc<Distribution>, Vec<Target>)| {
            let first = &members[0].node;
            first.team == target.node.team
                && other.shape() == dist.shape()
                && other.same_layout(&dist)
                && members.iter().all(|member| !Arc::ptr_eq(&member.node, &target.node))
        };
        match groups.iter_mut().find(fits) {
            Some((_, members)) => members.push(target),
            None => groups.push((dist, vec![target])),
        }
    }
    Ok(groups.into_iter().map(|(_, members)| members).collect())
}

impl Target {
    /// Where each element is computed: on the part that keeps the result.
    fn distribution(&self) -> Result<Arc<Distribution>> {
        match &self.into {
            None => self.node.distribution(),
            Some((base, shift)) => {
                let window = Region::from_shape(&self.node.shape)?.shift(shift)?;
                Ok(Arc::new(base.distribution()?.restricted(&window)?))
            }
        }
    }

    fn allocate(&self, dist: &Arc<Distribution>) -> Result<Storage> {
        let dist = match &self.into {
            None => Arc::clone(dist),
            Some((base, _)) => base.distribution()?,
        };
        Storage::new(&self.node.team, dist, self.node.dtype)
    }

    /// Where a part writes, in packed coordinates of the memory it writes into.
    fn window(&self, dist: &Distribution, part: usize) -> Result<Region> {
        match &self.into {
            None => Ok(dist.owned(part)),
            Some((_, shift)) => Ok(dist.window(part, &Region::from_shape(&self.node.shape)?.shift(shift)?)?),
        }
    }
}

/// Computes one group. The storages come back in the order of the targets, with stale halos; cells
/// outside a target's region have arbitrary contents.
pub(crate) fn compute(targets: &[Target]) -> Result<Vec<Storage>> {
    let first = &targets[0].node;
    let dist = targets[0].distribution()?;
    let roots: Vec<&Arc<Node>> = targets.iter().map(|target| &target.node).collect();
    let Some((mut lowering, values)) = lower_all("fused", &roots, &dist, roots.len())? else {
        let (left, right) = targets.split_at(targets.len() / 2);
        let mut storages = compute(left)?;
        storages.extend(compute(right)?);
        return Ok(storages);
    };
    let mut work = Work::new(&first.team);
    let inputs = work.bring_all(&lowering.leaves, &dist)?;
    let stored = widest_like(Arc::clone(&dist), &lowering.leaves);
    let storages = targets.iter().map(|t| t.allocate(&stored)).collect::<Result<Vec<Storage>>>()?;
    let stores: Vec<_> =
        targets.iter().zip(values).map(|(t, value)| (lowering.builder.output(t.node.dtype), value)).collect();
    let arguments: Vec<Vec<Scalar>> = (0..dist.parts()).map(|part| lowering.arguments(part)).collect();
    let kernel = simplify(&lowering.builder.elementwise(&stores)?);
    for (part, arguments) in arguments.into_iter().enumerate() {
        let region = dist.owned(part);
        if region.is_empty() {
            continue;
        }
        let mut bound = bind(&lowering.leaves, &inputs, part, region.rank())?;
        for (target, storage) in targets.iter().zip(&storages) {
            let place = storage.place(&first.team, part).ok_or_else(|| missing_part("eval"))?;
            let corner = target.window(&storage.dist, part)?;
            bound.push((place.view(corner.start()), place));
        }
        work.launch(&kernel, part, &region, bound, arguments)?;
    }
    work.finish()?;
    Ok(storages)
}

/// The given layout, with the halo widths of an operand that has the same layout: results of a
/// stencil are the operands of the next.
fn widest_like(dist: Arc<Distribution>, leaves: &[Leaf]) -> Arc<Distribution> {
    let width = |dist: &Distribution| {
        let (lo, hi) = dist.halo();
        lo.iter().chain(hi.iter()).sum::<i64>()
    };
    leaves
        .iter()
        .filter_map(|leaf| match &leaf.source {
            Source::Array(node, _) => node.storage(),
            Source::List(..) => None,
        })
        .map(|storage| Arc::clone(&storage.dist))
        .filter(|other| other.shape() == dist.shape() && other.same_layout(&dist))
        .fold(dist.clone(), |best, other| if width(&other) > width(&best) { other } else { best })
}

/// Lowers several roots into one body over `dist`, leaving room for parameters of the caller's; computes
/// what has to be computed first. `None` if they are too many for one kernel of this team.
pub(crate) fn lower_all(
    name: &str,
    roots: &[&Arc<Node>],
    dist: &Arc<Distribution>,
    reserved: usize,
) -> Result<Option<(Lowering, Vec<partita_kernels::Value>)>> {
    let team = &roots[0].team;
    let params = team.devices().iter().map(|device| device.max_params()).min().unwrap_or(8);
    let max_leaves = params.saturating_sub(reserved).max(1);
    loop {
        let mut lowering = Lowering::new(name, dist, max_leaves);
        let mut values = Vec::new();
        let mut cut = None;
        for root in roots {
            match lowering.lower(root)? {
                Ok(value) => values.push(value),
                Err(Cut(node)) => {
                    cut = Some(node);
                    break;
                }
            }
        }
        match cut {
            Some(node) if roots.len() > 1 && roots.iter().any(|root| Arc::ptr_eq(root, &node)) => {
                return Ok(None);
            }
            Some(node) => evaluate(&[node])?,
            None if lowering.leaves.len() > max_leaves && roots.len() > 1 => return Ok(None),
            None => return Ok(Some((lowering, values))),
        }
    }
}

fn missing_part(operation: &'static str) -> Error {
    Error::invalid(
        operation,
        "a result stored by the part that computes it",
        "a part without storage",
        "please report this defect of the engine",
    )
}

/// Where one operand can be read.
pub(crate) struct Input {
    /// Per part: the memory.
    places: Vec<Option<Place>>,
    /// Per part: the first cell, in the coordinates of the memory.
    anchors: Vec<Region>,
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

/// A schedule under construction, the leases its commands rely on, and the halos it makes current.
pub(crate) struct Work {
    team: Team,
    schedule: Schedule,
    pub leases: Vec<Buffer>,
    refreshed: Vec<(Arc<Storage>, Fresh)>,
}

impl Work {
    pub fn new(team: &Team) -> Work {
        Work { team: team.clone(), schedule: Schedule::new(), leases: Vec::new(), refreshed: Vec::new() }
    }

    pub fn push(&mut self, command: Command) {
        self.schedule.push(command);
    }

    pub fn extend(&mut self, schedule: Schedule) {
        self.schedule.extend(schedule);
    }

    /// Queues everything; then, and only then, the halos are current.
    pub fn finish(self) -> Result<()> {
        execute(self.schedule)?;
        for (storage, fresh) in self.refreshed {
            storage.set_fresh(fresh);
        }
        Ok(())
    }

    /// A launch over one part's region.
    pub fn launch(
        &mut self,
        kernel: &Verified,
        part: usize,
        region: &Region,
        bound: Vec<(View, Place)>,
        arguments: Vec<Scalar>,
    ) -> Result<()> {
        let device = self.team.device(part);
        let program = device.compile(kernel.clone())?;
        let (views, places): (Vec<View>, Vec<Place>) = bound.into_iter().unzip();
        let launch = Launch {
            extents: region.extents().iter().map(|&extent| extent as usize).collect(),
            origin: region.start().to_vec(),
            views,
            arguments,
        };
        let memory = places.into_iter().map(|place| place.allocation).collect();
        let job = Job { program, launch: Arc::new(launch), memory };
        self.push(Command::Launch { device: device.clone(), job });
        Ok(())
    }

    /// Brings every operand within reach of the launches over `dist`'s owned regions.
    pub fn bring_all(&mut self, leaves: &[Leaf], dist: &Distribution) -> Result<Vec<Input>> {
        leaves.iter().map(|leaf| self.bring(leaf, dist)).collect()
    }

    fn bring(&mut self, leaf: &Leaf, dist: &Distribution) -> Result<Input> {
        match &leaf.source {
            Source::Array(node, storage) => {
                let storage = node.storage().unwrap_or_else(|| Arc::clone(storage));
                let Some(reach) = Reach::of(&leaf.maps, &storage.dist, dist)? else {
                    return self.align(node, &storage, &leaf.maps[0], dist);
                };
                let places = self.bring_array(node, storage, &reach)?;
                Ok(Input { places, anchors: reach.anchors })
            }
            Source::List(list, dim) => {
                let places = list.upload(&self.team, dist, *dim, &mut self.leases)?;
                let owned = (0..dist.parts()).map(|part| dist.owned(part));
                let line = |owned: Region| Region::new(&[owned.start()[*dim]], &[owned.stop()[*dim]]);
                let anchors = owned.map(line).collect::<std::result::Result<_, _>>()?;
                Ok(Input { places, anchors })
            }
        }
    }

    fn bring_array(
        &mut self,
        node: &Arc<Node>,
        storage: Arc<Storage>,
        reach: &Reach,
    ) -> Result<Vec<Option<Place>>> {
        let Some(halo) = &reach.halo else { return self.fetch(node, &storage, &reach.needs) };
        if halo.is_nothing() {
            return Ok(storage.places(&self.team));
        }
        let (lo, hi) = storage.dist.halo();
        let wide = |have: &Index, need: &Index| have.iter().zip(need.iter()).all(|(h, n)| h >= n);
        let storage = if wide(&lo, &halo.lo) && wide(&hi, &halo.hi) {
            storage
        } else {
            match self.widen(node, &storage, halo)? {
                Some(storage) => storage,
                None => return self.fetch(node, &storage, &reach.needs),
            }
        };
        let schedule = storage.refresh(&self.team, node.dtype, halo, &mut self.leases)?;
        if !schedule.is_empty() {
            self.extend(schedule);
            self.refreshed.push((Arc::clone(&storage), halo.clone()));
        }
        Ok(storage.places(&self.team))
    }

    /// Gives an array halos wide enough, once; later steps only exchange them. `None` if the
    /// distribution cannot have such halos or they would cost more memory than the array.
    fn widen(
        &mut self,
        node: &Arc<Node>,
        storage: &Arc<Storage>,
        halo: &Fresh,
    ) -> Result<Option<Arc<Storage>>> {
        let (lo, hi) = storage.dist.halo();
        let max = |a: &Index, b: &Index| Index::from_fn(a.rank(), |d| a[d].max(b[d]));
        let Ok(dist) = storage.dist.with_halo(&max(&lo, &halo.lo), &max(&hi, &halo.hi)) else {
            return Ok(None);
        };
        let cells =
            (0..dist.parts()).map(|p| dist.stored(p).volume()).sum::<std::result::Result<i64, _>>()?;
        if cells > 2 * dist.global().volume()? {
            return Ok(None);
        }
        let wide = Storage::new(&self.team, Arc::new(dist), node.dtype)?;
        let copies = storage.copy_owned(&self.team, node.dtype, &wide)?;
        self.extend(copies);
        self.leases.extend(storage.parts.iter().flatten().cloned());
        node.set_ready(wide);
        Ok(node.storage())
    }

    /// Brings what each part needs of an operand on other maps into temporary memory, in the order in which
    /// the launches over `dist` go through it. Each shift along such maps is an operand of its own.
    fn align(&mut self, node: &Node, storage: &Storage, map: &Map, dist: &Distribution) -> Result<Input> {
        let near = near(&self.team, &self.team);
        let plan = aligned_plan(&storage.dist, dist, along(map), near)?;
        let anchors =
            (0..dist.parts()).map(|part| brought(map, dist, part)).collect::<Result<Vec<Region>>>()?;
        Ok(Input { places: self.fetch_planned(node, storage, &plan, &anchors)?, anchors })
    }

    /// Copies what each part needs into temporary memory: the way for operands on other layouts.
    fn fetch(&mut self, node: &Node, storage: &Storage, needs: &[Region]) -> Result<Vec<Option<Place>>> {
        let plan = fetch_plan(&storage.dist.packed(), needs.to_vec())?;
        self.fetch_planned(node, storage, &plan, needs)
    }

    fn fetch_planned(
        &mut self,
        node: &Node,
        storage: &Storage,
        plan: &Plan,
        needs: &[Region],
    ) -> Result<Vec<Option<Place>>> {
        self.team.count_messages(plan.messages());
        let dtype = node.dtype;
        let mut places: Vec<Option<Place>> = Vec::with_capacity(needs.len());
        for (part, need) in needs.iter().enumerate() {
            if need.is_empty() {
                places.push(None);
                continue;
            }
            let device = self.team.device(part).clone();
            let buffer = device.alloc(need.volume()? as u64 * dtype.size_bytes() as u64)?;
            places.push(Some(Place { device, allocation: Arc::clone(buffer.allocation()), stored: *need }));
            self.leases.push(buffer);
        }
        let from = storage.places(&self.team);
        let field = Field { plan, from: &from, to: &places, dtype };
        let exchange = lower(&[field], &mut self.leases)?;
        self.extend(exchange.schedule());
        Ok(places)
    }
}
