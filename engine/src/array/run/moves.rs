//! Moves of elements between memories that are carried out at once: halos, and whole arrays.

use std::sync::Arc;

use partita_kernels::{DType, Scalar};

use crate::array::memory::storage::{HaloWidths, Storage, moving_plan};
use crate::array::recorder::recording::Recorder;
use crate::error::Result;
use crate::index::{Distribution, Region};
use crate::plan::Plan;
use crate::program::{Place, Schedule, fill_box};
use crate::team::Team;
use crate::transport::{Exchange, Field, lower_between_ranks};

/// Makes the halo current as wide as `need`.
pub(crate) fn update_halo(
    storage: &Storage,
    recorder: &Recorder,
    team: &Team,
    dtype: DType,
    need: HaloWidths,
) -> Result<()> {
    if let Some(plan) = storage.missing_halo_plan(&need, team)? {
        recorder.exchange(&lowered("halo exchange", &plan, (storage, team), (storage, team), dtype)?)?;
        storage.set_valid_halo(need);
    }
    Ok(())
}

/// Fresh memory on another distribution, of any team over the same ranks, and the commands that bring
/// elements of computed memory there: all of them, or those of a plan, to zeros. Halos are stale.
pub(crate) fn moving(
    recorder: &Recorder,
    storage: &Storage,
    (from, to): (&Team, &Team),
    (plan, dist, dtype): (Option<&Plan>, &Arc<Distribution>, DType),
) -> Result<(Storage, Schedule, Exchange)> {
    [from, to].into_iter().for_each(|team| recorder.note_team(team));
    let fresh = Storage::new(to, Arc::clone(dist), dtype)?;
    let Some(plan) = plan else {
        let plan = moving_plan(&storage.dist, dist, (from, to))?;
        let exchange = lowered("redistribution", &plan, (storage, from), (&fresh, to), dtype)?;
        return Ok((fresh, Schedule::new(), exchange));
    };
    let mut zeros = Schedule::new();
    for (part, place) in fresh.places(to).into_iter().enumerate() {
        if let Some(place) = place {
            zeros.push(fill_box(&place, &dist.owned(part), Scalar::from_i64(dtype, 0))?);
        }
    }
    let exchange = lowered("collective", plan, (storage, from), (&fresh, to), dtype)?;
    Ok((fresh, zeros, exchange))
}

/// The commands of a plan between two memories.
fn lowered(
    operation: &'static str,
    plan: &Plan,
    (from, from_team): (&Storage, &Team),
    (to, to_team): (&Storage, &Team),
    dtype: DType,
) -> Result<Exchange> {
    from_team.count_messages(plan.messages());
    let rank = plan.moves().first().map_or(0, |first| first.from.rank());
    let lifted = |places: Vec<Option<Place>>| -> Vec<Option<Place>> {
        let lift = |place: Place| Place { stored: lifted(&place.stored, rank), ..place };
        places.into_iter().map(|place| place.map(lift)).collect()
    };
    let (from, to) = (lifted(from.places(from_team)), lifted(to.places(to_team)));
    let field = Field { plan, from: &from, to: &to, dtype };
    lower_between_ranks(operation, (from_team, to_team), &[field])
}

/// The box with dimensions of extent 1 in front.
pub(crate) fn lifted(region: &Region, rank: usize) -> Region {
    let front = rank.saturating_sub(region.rank());
    Region::from_fn(front + region.rank(), |d| match d.checked_sub(front) {
        Some(e) => (region.start()[e], region.stop()[e]),
        None => (0, 1),
    })
}
