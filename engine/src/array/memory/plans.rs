//! Elements moved between memories: halo updates, copies, redistribution. Their plans are remembered, because
//! the same distributions ask for the same plan again and again.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use partita_kernels::DType;

use crate::array::memory::storage::{HaloWidths, Storage};
use crate::config::{config, say};
use crate::error::Result;
use crate::index::{Along, Distribution, Index, Region};
use crate::plan::Plan;
use crate::program::{CopyMode, Place, Schedule, copy_box};
use crate::team::Team;

/// The arguments that a plan follows from.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    Halo(Distribution, Index, Index, bool),
    Fetch(Distribution, Vec<Region>),
    Boxes(Distribution, Vec<Region>, Vec<Option<usize>>),
    Aligned(Distribution, Distribution, Vec<Along>, Vec<Option<usize>>),
}

impl Key {
    fn sound(&self) -> Result<()> {
        match self {
            Key::Halo(dist, ..) | Key::Fetch(dist, _) | Key::Boxes(dist, ..) => Ok(dist.sound()?),
            Key::Aligned(from, to, ..) => Ok(from.sound().and_then(|()| to.sound())?),
        }
    }

    fn build(&self) -> Result<Plan> {
        let entry = |list: &[Option<usize>], part: usize| list.get(part).copied().flatten();
        Ok(match self {
            // Memory is laid out by packed coordinates; along blocks, and only there, these have halos.
            Key::Halo(dist, lo, hi, corners) => Plan::halo_within(&dist.packed(), lo, hi, *corners)?,
            Key::Fetch(dist, needs) => Plan::fetch(dist, needs)?,
            Key::Boxes(from, needs, colocated) => Plan::boxes(from, needs, |part| entry(colocated, part))?,
            Key::Aligned(from, to, axes, colocated) => {
                Plan::aligned(from, to, axes, |part| entry(colocated, part))?
            }
        })
    }
}

/// The most plans that are remembered, and the most moves of all of them, about; beyond it all are forgotten.
const MAX_PLANS: usize = 256;
const MAX_MOVES: usize = 1 << 20;

#[derive(Default)]
struct Known {
    plans: HashMap<Key, Arc<Plan>>,
    moves: usize,
}

fn remembered(key: Key) -> Result<Arc<Plan>> {
    static KNOWN: LazyLock<Mutex<Known>> = LazyLock::new(Mutex::default);
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(plan) = known().plans.get(&key) {
        return Ok(Arc::clone(plan));
    }
    let built = key.build();
    // A user's map may be inconsistent: then the error is the map's.
    key.sound()?;
    let plan = Arc::new(built?);
    if config().debug >= 4 {
        say(format_args!("{plan}"));
    }
    let mut known = known();
    if known.plans.len() >= MAX_PLANS || known.moves + plan.moves().len() > MAX_MOVES {
        *known = Known::default();
    }
    known.moves += plan.moves().len();
    known.plans.insert(key, Arc::clone(&plan));
    Ok(plan)
}

/// The plan that makes a halo current, at each part as much of it as the part stores.
pub(crate) fn halo_plan(dist: &Distribution, need: &HaloWidths) -> Result<Arc<Plan>> {
    remembered(Key::Halo(dist.clone(), need.lo, need.hi, need.corners))
}

/// The plan that brings each part a box, see [`Plan::fetch`].
pub(crate) fn fetch_plan(dist: &Distribution, needs: Vec<Region>) -> Result<Arc<Plan>> {
    remembered(Key::Fetch(dist.clone(), needs))
}

/// The plan that brings each part a box of an operand in packed coordinates. What lies beyond the ends, which
/// rolled arrays read, wraps around, whether the distribution is periodic or not.
pub(crate) fn operand_plan(from: &Distribution, needs: Vec<Region>) -> Result<Arc<Plan>> {
    let from = from.packed();
    fetch_plan(&wrapped_around(&from, |d| reach_outside(&from, &needs, d)), needs)
}

/// The distribution, periodic along the dimensions of which something reaches past the ends.
fn wrapped_around(dist: &Distribution, past: impl Fn(usize) -> bool) -> Distribution {
    match (0..dist.rank()).any(|d| !dist.periodic(d) && past(d)) {
        true => dist.periodic_along(|d| dist.periodic(d) || past(d)),
        false => dist.clone(),
    }
}

fn reach_outside(dist: &Distribution, needs: &[Region], d: usize) -> bool {
    let outside = |need: &Region| need.start()[d] < 0 || need.stop()[d] > dist.map(d).size();
    needs.iter().any(|need| !need.is_empty() && outside(need))
}

/// The plan that brings each part a box of an operand of any maps, see [`Plan::boxes`]; `colocated` as there,
/// and beyond the ends as [`operand_plan`].
pub(crate) fn box_plan(
    from: &Distribution,
    needs: Vec<Region>,
    colocated: Vec<Option<usize>>,
) -> Result<Arc<Plan>> {
    let colocated = if from.has_copies() { colocated } else { Vec::new() };
    remembered(Key::Boxes(wrapped_around(from, |d| reach_outside(from, &needs, d)), needs, colocated))
}

/// The plan that brings what the members of `to` need along `axes`, see [`Plan::aligned`]; `colocated` as
/// there, one entry per part, and beyond the ends as [`operand_plan`].
pub(crate) fn aligned_plan(
    from: &Distribution,
    to: &Distribution,
    axes: Vec<Along>,
    colocated: Vec<Option<usize>>,
) -> Result<Arc<Plan>> {
    // Who is colocated matters to copies alone.
    let colocated = if from.has_copies() { colocated } else { Vec::new() };
    let past = |d: usize| match axes[d] {
        Along::Dim { dim, .. } if to.map(dim).size() > 0 => {
            let (start, stop) = axes[d].span(0, to.map(dim).size());
            start < 0 || stop > from.map(d).size()
        }
        Along::Dim { .. } | Along::Pinned(_) => false,
    };
    let from = wrapped_around(from, past);
    remembered(Key::Aligned(from, to.clone(), axes, colocated))
}

/// The plan that moves all elements to another distribution, of the same team or another.
pub(crate) fn moving_plan(
    from: &Distribution,
    to: &Distribution,
    teams: (&Team, &Team),
) -> Result<Arc<Plan>> {
    aligned_plan(from, to, (0..to.rank()).map(Along::same).collect(), colocated(teams.0, teams.1))
}

/// For every member of `to`, the member of `from` that is the same: of one team, the one with its number;
/// of another, one on the same device.
pub(crate) fn colocated(from: &Team, to: &Team) -> Vec<Option<usize>> {
    if from == to {
        return (0..to.size()).map(Some).collect();
    }
    // The first of several on one device.
    let first: HashMap<(usize, u64), usize> =
        (0..from.size()).rev().map(|member| (from.device_of(member), member)).collect();
    (0..to.size()).map(|member| first.get(&to.device_of(member)).copied()).collect()
}

impl Storage {
    /// The plan that makes the halo current as wide as `need`; `None` if it is.
    pub fn missing_halo_plan(&self, need: &HaloWidths) -> Result<Option<Arc<Plan>>> {
        if self.valid_halo().covers(need) { Ok(None) } else { halo_plan(&self.dist, need).map(Some) }
    }

    /// Commands that copy all owned cells to `to`, which owns the same.
    pub fn copy_owned(&self, team: &Team, dtype: DType, to: &Storage) -> Result<Schedule> {
        self.copy_boxes(team, dtype, to, |part| Ok(vec![self.dist.owned(part)]))
    }

    /// Commands that copy all owned cells and what is current of the halos to `to`, which owns the same; says
    /// how wide its halos will be current.
    pub fn copy_current(&self, team: &Team, dtype: DType, to: &Storage) -> Result<(Schedule, HaloWidths)> {
        let fresh = Some(self.valid_halo())
            .filter(|fresh| fresh.corners)
            .unwrap_or(HaloWidths::zero(self.dist.rank()));
        let reach =
            |part| Ok(vec![self.dist.reach(part, &fresh.lo, &fresh.hi)?.intersect(&self.dist.stored(part))]);
        Ok((self.copy_boxes(team, dtype, to, reach)?, fresh))
    }

    /// Commands that copy boxes of each part to the same cells of `to`.
    pub fn copy_boxes(
        &self,
        team: &Team,
        dtype: DType,
        to: &Storage,
        boxes: impl Fn(usize) -> Result<Vec<Region>>,
    ) -> Result<Schedule> {
        copy_boxes((&self.places(team), &to.places(team)), dtype, boxes)
    }
}

/// Commands that copy boxes of each part from its place in one memory to the same cells of another.
pub(crate) fn copy_boxes(
    (from, to): (&[Option<Place>], &[Option<Place>]),
    dtype: DType,
    boxes: impl Fn(usize) -> Result<Vec<Region>>,
) -> Result<Schedule> {
    let mut schedule = Schedule::new();
    for (part, ends) in from.iter().zip(to).enumerate() {
        let (Some(from), Some(to)) = ends else { continue };
        for piece in boxes(part)?.iter().filter(|piece| !piece.is_empty()) {
            schedule.push(copy_box(from, piece, to, piece, CopyMode { dtype, add: false })?);
        }
    }
    Ok(schedule)
}
