//! Values that are put together of others, box by box: each box is computed straight into the memory of the
//! whole, with everything that its value is computed from. What all boxes read travels in ONE exchange. A
//! view that lies within one box is a view of that box's value, so nothing is put together for it.

use std::collections::HashMap;
use std::sync::Arc;

use super::deep;
use super::direction::{Reached, computed_elsewhere};
use super::divide::evaluate_stages;
use super::eval::{Onto, Target, attempt, evaluate, sketched};
use super::launches::{Fused, queue};
use super::map::Map;
use super::node::{Expr, Node, Portion, State};
use super::outline::{is_telling, nowhere, tell};
use super::route::routes;
use super::shared::needed_by_several;
use super::storage::Storage;
use super::work::{Work, missing_part};
use super::zone::{Frame, Zone};
use crate::error::Result;
use crate::index::{Along, Distribution, Index, Region};
use crate::wire::pass;

/// The boxes of a value that is put together and not computed yet.
pub(crate) fn portions(node: &Node) -> Option<Vec<Portion>> {
    match &*node.state() {
        State::Lazy { expr: Expr::Joined(portions), .. } => Some(portions.clone()),
        State::Lazy { .. } | State::Ready(_) | State::Failed(_) => None,
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
pub(crate) fn far_inside(node: &Arc<Node>) -> Vec<Arc<Node>> {
    const MOST_LEVELS: u32 = 16;
    let mut levels: HashMap<*const Node, u32> = HashMap::new();
    let mut found = Vec::new();
    // Operands come before those that use them.
    for inner in Reached::from([node], None).lazy {
        let below = inner.operands().iter().filter_map(|x| levels.get(&Arc::as_ptr(x)).copied()).max();
        let is_one = matches!(
            &*inner.state(),
            State::Lazy { expr: Expr::Joined(_) | Expr::Listed { .. } | Expr::Reshaped { .. }, .. }
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
    frame: Frame,
    /// That of the box's cells, on the parts that keep them.
    dist: Arc<Distribution>,
    fused: Fused,
}

/// Computes all boxes.
pub(crate) fn compute(node: &Arc<Node>, portions: &[Portion]) -> Result<Storage> {
    let whole = [Target { node: Arc::clone(node), onto: Onto::Own }];
    let mut sketch = sketched(&whole)?;
    if let Some(storage) =
        sketch.as_ref().map(|sketch| sketch.repeat(&node.team, &whole)).transpose()?.flatten()
    {
        return storage.into_iter().next().ok_or_else(|| missing_part("join"));
    }
    deep::refuse(|| "the step joins arrays".to_owned());
    if evaluate_stages(std::slice::from_ref(node))? {
        // What the boxes read now is memory, so that they may be prepared.
        sketch = sketched(&whole)?;
    }
    compute_shared(node, portions)?;
    let dist = node.distribution()?;
    let lower = |portion: &Portion| lower(portion, &dist);
    let (boxes, waited): (Vec<Lowered>, Vec<bool>) =
        portions.iter().map(lower).collect::<Result<Vec<_>>>()?.into_iter().unzip();
    if is_telling() {
        for Lowered { frame, dist, fused } in &boxes {
            let found = routes(&fused.leaves, dist, &Zone::owned(dist))?;
            let written = frame.window.volume()? as u64 * node.dtype.size_bytes() as u64;
            tell(fused.kernel.kernel(), &fused.leaves, &found, dist, written)?;
        }
        return Ok(nowhere(dist));
    }
    if waited.contains(&true) {
        // What the boxes read now is memory, so that they may be prepared.
        sketch = sketched(&whole)?;
    }
    pass("eval-lowered")?;
    let mut work = Work::new(&node.team);
    let result = Storage::new(&node.team, Arc::clone(&dist), node.dtype)?;
    let mut launches = Vec::new();
    for Lowered { frame, dist, fused } in &boxes {
        let zones = Zone::owned(dist);
        // One after the other, since one box may give an operand the halo that the next one finds.
        let found = routes(&fused.leaves, dist, &zones)?;
        let inputs = work.bring_by(&fused.leaves, &found, dist, &zones)?;
        launches.push(fused.launches((&node.team, &mut work), (zones, inputs), |part, zone| {
            let place = result.place(&node.team, part).ok_or_else(|| missing_part("join"))?;
            let corner = frame.corner(part, &zone.hull)?;
            Ok(vec![(place.view(&corner), place)])
        })?);
    }
    queue(&mut work, &launches)?;
    let leaves = boxes.iter().flat_map(|lowered| &lowered.fused.leaves);
    let results = std::slice::from_ref(&result);
    let prepared = sketch.and_then(|sketch| sketch.prepare(leaves, &work, results, &[node.dtype]));
    work.finish()?;
    if let Some(prepared) = prepared {
        prepared.keep(&node.team);
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
    let frame = Frame { base: Arc::clone(whole), window: portion.region()? };
    let dist = Arc::new(whole.restricted(&frame.window)?);
    let mut waited = false;
    loop {
        if let Ok((lowering, values)) = attempt("joined", &[value], &dist, 1)? {
            let found = routes(&lowering.leaves, &dist, &Zone::owned(&dist))?;
            let Some(other) = computed_elsewhere(&[value], &lowering.leaves, &found, &dist)? else {
                let fused = Fused::new(lowering, values, &[value.dtype], &dist)?;
                return Ok((Lowered { frame, dist, fused }, waited));
            };
            evaluate(&[other])?;
        }
        waited = true;
    }
}
