//! Evaluation: from recorded expressions to a schedule, executed.
//!
//! For each group of results: lower them to one kernel, bring every operand where the kernel of
//! each part can read it (nothing to do if the part owns it; ONE halo plan however many shifted
//! reads there are; otherwise one fetch plan into temporary memory), then one launch per part. Where
//! operands come from other ranks or from other CUDA devices, each part's core is computed while they
//! travel, and its rim after, beside the core if that takes longer.
//!
//! Invariant: kernels never communicate. Everything a launch reads is on its own device before.

use std::sync::Arc;

use partita_kernels::{DType, Scalar, simplify};

use super::direction::computed_elsewhere;
use super::fused::{compute_reductions, is_pending};
use super::lower::{Cut, Leaf, Lowering, Source};
use super::node::Node;
use super::outline::{is_telling, nowhere, tell};
use super::pick;
use super::prepared::Sketch;
use super::route::routes;
use super::shared::computed_first;
use super::storage::Storage;
use super::work::{Input, Work, bind, missing_part};
use crate::error::Result;
use crate::index::{Distribution, Index, Region};
use crate::wire::pass;

/// Computes every node that is not computed yet.
pub(crate) fn evaluate(roots: &[Arc<Node>]) -> Result<()> {
    pass("eval")?;
    let lazy: Vec<Arc<Node>> = roots.iter().filter(|node| node.storage().is_none()).cloned().collect();
    if let Some(error) = lazy.iter().find_map(|node| node.error()) {
        return Err(error);
    }
    let common = computed_first(&lazy)?;
    if !common.is_empty() {
        evaluate(&common)?;
    }
    if lazy.iter().any(|node| is_pending(node)) {
        compute_reductions(&lazy)?;
    }
    for node in &lazy {
        if node.storage().is_some() {
            continue;
        }
        if let Some((base, start)) = pick::scattered_window(node)? {
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
    let sketch = if is_telling() { None } else { Sketch::of(targets)? };
    if let Some(sketch) = &sketch
        && let Some(storages) = sketch.repeat(&first.team)?
    {
        return Ok(storages);
    }
    let dist = targets[0].distribution()?;
    let roots: Vec<&Arc<Node>> = targets.iter().map(|target| &target.node).collect();
    let Some((mut lowering, values)) = lower_all("fused", &roots, &dist, roots.len())? else {
        let (left, right) = targets.split_at(targets.len() / 2);
        let mut storages = compute(left)?;
        storages.extend(compute(right)?);
        return Ok(storages);
    };
    let found = routes(&lowering.leaves, &dist)?;
    if let Some(node) = computed_elsewhere(&roots, &lowering.leaves, &found, &dist)? {
        evaluate(&[node])?;
        return compute(targets);
    }
    let stores: Vec<_> =
        targets.iter().zip(values).map(|(t, value)| (lowering.builder.output(t.node.dtype), value)).collect();
    let arguments: Vec<Vec<Scalar>> = (0..dist.parts()).map(|part| lowering.arguments(part)).collect();
    let kernel = simplify(&lowering.builder.elementwise(&stores)?);
    if is_telling() {
        let cells = dist.global().volume()? as u64;
        let written = targets.iter().map(|target| target.node.dtype.size_bytes() as u64 * cells).sum();
        tell(kernel.kernel(), &lowering.leaves, &found, &dist, written)?;
        return Ok(targets.iter().map(|_| nowhere(Arc::clone(&dist))).collect());
    }
    let mut work = Work::new(&first.team);
    pass("eval-lowered")?;
    let inputs = work.bring_by(&lowering.leaves, &found, &dist)?;
    let stored = widest_like(Arc::clone(&dist), &lowering.leaves);
    let storages = targets.iter().map(|t| t.allocate(&stored)).collect::<Result<Vec<Storage>>>()?;
    let has_time = work.depart()?;
    let mut launches = Vec::new();
    for (part, arguments) in arguments.into_iter().enumerate() {
        let region = dist.owned(part);
        if region.is_empty() || !first.team.is_here(part) {
            continue;
        }
        let mut bound = bind(&lowering.leaves, &inputs, part, region.rank())?;
        for (target, storage) in targets.iter().zip(&storages) {
            let place = storage.place(&first.team, part).ok_or_else(|| missing_part("eval"))?;
            let corner = target.window(&storage.dist, part)?;
            bound.push((place.view(corner.start()), place));
        }
        launches.push((part, region, bound, arguments));
    }
    if !has_time {
        work.arrive()?;
    }
    // While operands travel, what needs nothing of them is computed; afterwards the rim around it.
    let mut rims = Vec::new();
    for (part, region, bound, arguments) in launches {
        let core = if has_time { core(&inputs, part, &region) } else { region };
        if !core.is_empty() {
            work.launch_box(&kernel, part, &region, &core, &bound, arguments.clone())?;
        }
        rims.extend(
            region
                .subtract(&core)
                .into_iter()
                .map(|rim| (part, region, rim, bound.clone(), arguments.clone())),
        );
    }
    work.land()?;
    for (part, region, rim, bound, arguments) in rims {
        work.launch_rim(&kernel, part, &region, &rim, &bound, arguments)?;
    }
    work.arrive()?;
    let dtypes: Vec<DType> = targets.iter().map(|target| target.node.dtype).collect();
    let prepared = sketch.and_then(|sketch| sketch.prepare(&lowering.leaves, &work, &storages, &dtypes));
    work.finish()?;
    if let Some(prepared) = prepared {
        prepared.keep(&first.team);
    }
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
    let max_leaves = team.max_params().saturating_sub(reserved).max(1);
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
            Some(node) => {
                let all: Vec<Arc<Node>> = roots.iter().map(|&root| Arc::clone(root)).collect();
                // Of a kernel and the reduction or the slice that it waits for, what both need.
                let both = || all.iter().chain([&node]).cloned().collect::<Vec<_>>();
                let common = if node.is_operation() { Vec::new() } else { computed_first(&both())? };
                match (common.is_empty(), is_pending(&node)) {
                    (false, _) => evaluate(&common)?,
                    // All reductions that are needed, so that those over one operand share a pass.
                    (true, true) => compute_reductions(&all)?,
                    (true, false) => evaluate(std::slice::from_ref(&node))?,
                }
            }
            None if lowering.binds_too_much() && roots.len() > 1 => return Ok(None),
            None => return Ok(Some((lowering, values))),
        }
    }
}

/// The cells of a part that need nothing that is on its way.
fn core(inputs: &[Input], part: usize, region: &Region) -> Region {
    inputs.iter().fold(*region, |core, input| core.intersect(&input.core(part, region)))
}
