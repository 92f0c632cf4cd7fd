//! Values that are put together of others, box by box: each box is computed straight into the memory of the
//! whole, with everything that its value is computed from. What all boxes read travels in ONE exchange. A
//! view that lies within one box is a view of that box's value, so nothing is put together for it.

use std::collections::HashMap;
use std::sync::Arc;

use crate::array::bind::schedule::{ScheduleBuilder, missing_part};
use crate::array::explain::outline::{is_telling, nowhere, tell};
use crate::array::loops::analysis;
use crate::array::lower::common::needed_by_several;
use crate::array::lower::compute_region::{ArrayWindow, ComputeRegion};
use crate::array::lower::locality::{Reached, computed_elsewhere};
use crate::array::lower::operand_access::operand_accesses;
use crate::array::lower::stages::evaluate_stages;
use crate::array::memory::storage::Storage;
use crate::array::record::map::Map;
use crate::array::record::node::{Expr, Node, NodeState, Portion};
use crate::array::run::evaluate::{Placement, Target, attempt, cache_lookup, evaluate};
use crate::array::run::launches::{Fused, queue};
use crate::error::Result;
use crate::index::{Along, Distribution, Index, Region};
use crate::wire::pass;

/// The boxes of a value that is put together and not computed yet.
pub(crate) fn portions(node: &Node) -> Option<Vec<Portion>> {
    match &*node.state() {
        NodeState::Lazy { expr: Expr::Joined(portions), .. } => Some(portions.clone()),
        NodeState::Lazy { .. } | NodeState::Ready(_) | NodeState::Failed(_) => None,
    }
}

/// The value of a box, and the view of it, of which a view of shape `shape` of the whole is: if it lies
/// within one box.
pub(crate) fn seen_within(base: &Arc<Node>, shape: &Index, view: &Map) -> Option<(Arc<Node>, Map)> {
    let portions = portions(base).filter(|_| !shape.contains(&0))?;
    let cells = Region::from_fn(base.rank(), |d| match view.axes()[d] {
        Along::Pinned(at) => (at, at + 1),
        Along::Dim { dim, .. } => view.axes()[d].span(0, shape[dim]),
    });
    let Portion { start, value } =
        portions.into_iter().find(|p| p.region().is_ok_and(|region| region.contains_region(&cells)))?;
    let along = |d: usize| match view.axes()[d] {
        Along::Pinned(at) => Along::Pinned(at - start[d]),
        Along::Dim { dim, offset, step } => Along::Dim { dim, offset: offset - start[d], step },
    };
    Some((value, Map::from_fn(view.axes().len(), along)))
}

/// The joined and listed values within `node` at which so many lie within each other that they are computed
/// before, the innermost first, rather than by recursion.
pub(crate) fn deeply_nested(node: &Arc<Node>) -> Vec<Arc<Node>> {
    const MOST_LEVELS: u32 = 16;
    let mut levels: HashMap<*const Node, u32> = HashMap::new();
    let mut found = Vec::new();
    // Operands come before those that use them.
    for inner in Reached::from([node], None).lazy {
        let below = inner.operands().iter().filter_map(|x| levels.get(&Arc::as_ptr(x)).copied()).max();
        let is_one = matches!(
            &*inner.state(),
            NodeState::Lazy { expr: Expr::Joined(_) | Expr::Listed { .. } | Expr::Reshaped { .. }, .. }
        );
        let level = below.unwrap_or(0) + u32::from(is_one);
        levels.insert(Arc::as_ptr(&inner), level % MOST_LEVELS);
        if is_one && level == MOST_LEVELS {
            found.push(inner);
        }
    }
    found
}

impl Portion {
    /// The cells of the whole that it is.
    pub fn region(&self) -> Result<Region> {
        Ok(Region::from_shape(&self.value.shape)?.shift(&self.start)?)
    }
}

/// A box that can be computed.
struct Lowered {
    frame: ArrayWindow,
    /// That of the box's cells, on the parts that keep them.
    dist: Arc<Distribution>,
    fused: Fused,
}

/// Computes all boxes.
pub(crate) fn compute(node: &Arc<Node>, portions: &[Portion]) -> Result<Storage> {
    let whole = [Target { node: Arc::clone(node), placement: Placement::Fresh }];
    let mut lookup = cache_lookup(&whole)?;
    if let Some(storage) =
        lookup.as_ref().map(|lookup| lookup.repeat(&node.team, &whole)).transpose()?.flatten()
    {
        return storage.into_iter().next().ok_or_else(|| missing_part("join"));
    }
    analysis::mark_unsupported(|| "the step joins arrays".to_owned());
    if evaluate_stages(std::slice::from_ref(node))? {
        // What the boxes read now is memory, so that they may be cached.
        lookup = cache_lookup(&whole)?;
    }
    compute_shared(node, portions)?;
    let dist = node.distribution()?;
    let lower = |portion: &Portion| lower(portion, &dist);
    let (boxes, waited): (Vec<Lowered>, Vec<bool>) =
        portions.iter().map(lower).collect::<Result<Vec<_>>>()?.into_iter().unzip();
    if is_telling() {
        for Lowered { frame, dist, fused } in &boxes {
            let found = operand_accesses(&fused.leaves, dist, &ComputeRegion::owned(dist))?;
            let written = frame.window.volume()? as u64 * node.dtype.size_bytes() as u64;
            tell(fused.kernel.kernel(), &fused.leaves, &found, dist, written)?;
        }
        return Ok(nowhere(dist));
    }
    if waited.contains(&true) {
        // What the boxes read now is memory, so that they may be cached.
        lookup = cache_lookup(&whole)?;
    }
    pass("eval-lowered")?;
    let mut work = ScheduleBuilder::new(&node.team);
    let result = Storage::new(&node.team, Arc::clone(&dist), node.dtype)?;
    let mut launches = Vec::new();
    for Lowered { frame, dist, fused } in &boxes {
        let regions = ComputeRegion::owned(dist);
        // One after the other, since one box may give an operand the halo that the next one finds.
        let found = operand_accesses(&fused.leaves, dist, &regions)?;
        let inputs = work.bind_operands(&fused.leaves, &found, dist, &regions)?;
        launches.push(fused.launches((&node.team, &mut work), (regions, inputs), |part, zone| {
            let place = result.place(&node.team, part).ok_or_else(|| missing_part("join"))?;
            let corner = frame.corner(part, &zone.bounds)?;
            Ok(vec![(place.view(&corner), place)])
        })?);
    }
    queue(&mut work, &launches)?;
    let leaves = boxes.iter().flat_map(|lowered| &lowered.fused.leaves);
    let results = std::slice::from_ref(&result);
    let cached = lookup.and_then(|lookup| lookup.prepare(leaves, &work, results, &[node.dtype]));
    work.finish()?;
    if let Some(cached) = cached {
        cached.keep(&node.team);
    }
    Ok(result)
}

/// What several boxes need is computed first, if it is much to compute and no larger than half of them: of an
/// array that is repeated, but not of one that is rolled.
fn compute_shared(node: &Arc<Node>, portions: &[Portion]) -> Result<()> {
    let volume =
        |node: &Arc<Node>| Ok::<i64, crate::error::Error>(Region::from_shape(&node.shape)?.volume()?);
    let boxes: Vec<Vec<Arc<Node>>> =
        portions.iter().map(|portion| vec![Arc::clone(&portion.value)]).collect();
    let mut shared = Vec::new();
    for common in needed_by_several(&boxes) {
        if 2 * volume(&common)? <= volume(node)? {
            shared.push(common);
        }
    }
    evaluate(&shared)
}

/// The kernel of one box, and whether something else had to be computed for it.
fn lower(portion: &Portion, whole: &Arc<Distribution>) -> Result<(Lowered, bool)> {
    let value = &portion.value;
    let frame = ArrayWindow { base: Arc::clone(whole), window: portion.region()? };
    let dist = Arc::new(whole.restricted(&frame.window)?);
    let mut waited = false;
    loop {
        if let Ok((lowering, values)) = attempt("joined", &[value], &dist, 1)? {
            let found = operand_accesses(&lowering.leaves, &dist, &ComputeRegion::owned(&dist))?;
            let Some(other) = computed_elsewhere(&[value], &lowering.leaves, &found, &dist)? else {
                let fused = Fused::new(lowering, values, &[value.dtype], &dist)?;
                return Ok((Lowered { frame, dist, fused }, waited));
            };
            evaluate(&[other])?;
        }
        waited = true;
    }
}
