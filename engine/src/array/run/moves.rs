//! Moves of elements between memories that are carried out at once: halos, and whole arrays.

use std::sync::Arc;

use partita_kernels::DType;

use crate::array::memory::plans::moving_plan;
use crate::array::memory::storage::{HaloWidths, Storage};
use crate::array::recorder::recording::Recorder;
use crate::error::Result;
use crate::index::Distribution;
use crate::plan::Plan;
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
    if let Some(plan) = storage.missing_halo_plan(&need)? {
        recorder.exchange(&lowered("halo exchange", &plan, (storage, team), (storage, team), dtype)?)?;
        storage.set_valid_halo(need);
    }
    Ok(())
}

/// Fresh memory on another distribution of the shape, of any team over the same ranks, and the commands that
/// bring the elements of computed memory there. Halos are stale.
pub(crate) fn moving(
    recorder: &Recorder,
    storage: &Storage,
    (from, to): (&Team, &Team),
    dist: &Arc<Distribution>,
    dtype: DType,
) -> Result<(Storage, Exchange)> {
    [from, to].into_iter().for_each(|team| recorder.note_team(team));
    let fresh = Storage::new(to, Arc::clone(dist), dtype)?;
    let plan = moving_plan(&storage.dist, dist, (from, to))?;
    let exchange = lowered("redistribution", &plan, (storage, from), (&fresh, to), dtype)?;
    Ok((fresh, exchange))
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
    let (from, to) = (from.places(from_team), to.places(to_team));
    let field = Field { plan, from: &from, to: &to, dtype };
    lower_between_ranks(operation, (from_team, to_team), &[field])
}
