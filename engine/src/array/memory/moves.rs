//! Elements moved between memories: halo updates, copies, redistribution.

use std::sync::Arc;

use partita_kernels::DType;

use crate::array::loops::recorder::Recorder;
use crate::array::memory::halo::HaloWidths;
use crate::array::memory::plans::{halo_plan, moving_plan};
use crate::array::memory::storage::Storage;
use crate::error::Result;
use crate::index::{Distribution, Region};
use crate::plan::Plan;
use crate::program::{CopyMode, Schedule, copy_box};
use crate::team::Team;
use crate::transport::{Exchange, Field, lower_between_ranks};

impl Storage {
    /// The plan that makes the halo current as wide as `need`; `None` if it is.
    pub fn missing_halo_plan(&self, need: &HaloWidths) -> Result<Option<Arc<Plan>>> {
        if self.valid_halo().covers(need) { Ok(None) } else { halo_plan(&self.dist, need).map(Some) }
    }

    /// Makes the halo current as wide as `need`.
    pub fn update_halo(
        &self,
        recorder: &Recorder,
        team: &Team,
        dtype: DType,
        need: HaloWidths,
    ) -> Result<()> {
        if let Some(plan) = self.missing_halo_plan(&need)? {
            recorder.exchange(&lowered("halo exchange", &plan, (self, team), (self, team), dtype)?)?;
            self.set_valid_halo(need);
        }
        Ok(())
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
        let mut schedule = Schedule::new();
        for part in 0..self.dist.parts() {
            let (Some(from), Some(to)) = (self.place(team, part), to.place(team, part)) else { continue };
            for piece in boxes(part)?.iter().filter(|piece| !piece.is_empty()) {
                schedule.push(copy_box(&from, piece, &to, piece, CopyMode { dtype, add: false })?);
            }
        }
        Ok(schedule)
    }
}

/// The elements of computed memory in fresh memory on another distribution of the shape, of any team over the
/// same ranks. Halos are stale.
pub(crate) fn moved(
    recorder: &Recorder,
    storage: &Storage,
    (from, to): (&Team, &Team),
    dist: &Arc<Distribution>,
    dtype: DType,
) -> Result<Storage> {
    [from, to].into_iter().for_each(|team| recorder.note_team(team));
    let fresh = Storage::new(to, Arc::clone(dist), dtype)?;
    let plan = moving_plan(&storage.dist, dist, (from, to))?;
    recorder.exchange(&lowered("redistribution", &plan, (storage, from), (&fresh, to), dtype)?)?;
    Ok(fresh)
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
