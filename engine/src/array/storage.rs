//! Where a computed array is: one buffer per part, each holding the part's stored box in C order.
//! Knows the freshness of halos; fills them when asked. Knows no expressions.

use std::sync::{Arc, Mutex, PoisonError};

use partita_kernels::DType;

use super::exchange::{carry_out, halo_plan};
use crate::device::Buffer;
use crate::error::Result;
use crate::index::{Distribution, Index, Region};
use crate::plan::Plan;
use crate::program::{Copying, Place, Schedule, copy_box};
use crate::team::Team;

/// The parts of one array.
#[derive(Debug)]
pub(crate) struct Storage {
    /// With the halo widths the buffers have.
    pub dist: Arc<Distribution>,
    /// One per part; `None` where the part stores nothing, and for parts of other ranks.
    pub parts: Vec<Option<Buffer>>,
    fresh: Mutex<Fresh>,
}

/// How wide a halo holds its owners' current values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Fresh {
    pub lo: Index,
    pub hi: Index,
    pub corners: bool,
}

impl Fresh {
    pub fn covers(&self, other: &Fresh) -> bool {
        let wide = |a: &Index, b: &Index| a.iter().zip(b.iter()).all(|(a, b)| a >= b);
        wide(&self.lo, &other.lo) && wide(&self.hi, &other.hi) && (self.corners || !other.corners)
    }
}

impl Storage {
    /// Buffers for every part; contents are arbitrary.
    pub fn new(team: &Team, dist: Arc<Distribution>, dtype: DType) -> Result<Storage> {
        let mut parts = Vec::with_capacity(dist.parts());
        for part in 0..dist.parts() {
            let stored = dist.stored(part);
            parts.push(if stored.is_empty() || !team.is_here(part) {
                None
            } else {
                Some(team.device(part).alloc(stored.volume()? as u64 * dtype.size_bytes() as u64)?)
            });
        }
        Ok(Storage::from_parts(dist, parts))
    }

    /// Storage over buffers that exist.
    pub fn from_parts(dist: Arc<Distribution>, parts: Vec<Option<Buffer>>) -> Storage {
        let zeros = Index::zeros(dist.rank());
        let fresh = Mutex::new(Fresh { lo: zeros, hi: zeros, corners: true });
        Storage { dist, parts, fresh }
    }

    /// Where each part is.
    pub fn places(&self, team: &Team) -> Vec<Option<Place>> {
        (0..self.parts.len()).map(|part| self.place(team, part)).collect()
    }

    /// Where one part is.
    pub fn place(&self, team: &Team, part: usize) -> Option<Place> {
        self.parts[part].as_ref().map(|buffer| Place {
            device: team.device(part).clone(),
            allocation: Arc::clone(buffer.allocation()),
            stored: self.dist.stored(part),
        })
    }

    /// How much of the halo is current.
    pub fn fresh(&self) -> Fresh {
        self.fresh.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// States how much of the halo is current.
    pub fn set_fresh(&self, fresh: Fresh) {
        *self.fresh.lock().unwrap_or_else(PoisonError::into_inner) = fresh;
    }

    /// After owned cells changed, no halo is current.
    pub fn make_stale(&self) {
        let zeros = Index::zeros(self.dist.rank());
        self.set_fresh(Fresh { lo: zeros, hi: zeros, corners: true });
    }

    /// The plan that makes the halo current as wide as `need`; `None` if it is.
    pub fn lacking(&self, need: &Fresh) -> Result<Option<Arc<Plan>>> {
        if self.fresh().covers(need) { Ok(None) } else { halo_plan(&self.dist, need).map(Some) }
    }

    /// Commands that make the halo current as wide as `need`, none if it is. Whoever executes them
    /// then calls [`Storage::set_fresh`].
    pub fn refresh(
        &self,
        team: &Team,
        dtype: DType,
        need: &Fresh,
        leases: &mut Vec<Buffer>,
    ) -> Result<Schedule> {
        let Some(plan) = self.lacking(need)? else { return Ok(Schedule::new()) };
        carry_out("halo exchange", &plan, (self, team), (self, team), dtype, leases)
    }

    /// Commands that copy all owned cells to `to`, which owns the same.
    pub fn copy_owned(&self, team: &Team, dtype: DType, to: &Storage) -> Result<Schedule> {
        self.copy_boxes(team, dtype, to, |owned, _| Ok(vec![owned]))
    }

    /// Commands that copy the owned cells outside of a window to `to`, which owns the same.
    pub fn copy_outside(&self, team: &Team, dtype: DType, to: &Storage, window: &Region) -> Result<Schedule> {
        self.copy_boxes(team, dtype, to, |owned, part| Ok(owned.subtract(&self.dist.window(part, window)?)))
    }

    fn copy_boxes(
        &self,
        team: &Team,
        dtype: DType,
        to: &Storage,
        boxes: impl Fn(Region, usize) -> Result<Vec<Region>>,
    ) -> Result<Schedule> {
        let mut schedule = Schedule::new();
        for part in 0..self.dist.parts() {
            let (Some(from), Some(to)) = (self.place(team, part), to.place(team, part)) else { continue };
            for piece in boxes(self.dist.owned(part), part)?.iter().filter(|piece| !piece.is_empty()) {
                schedule.push(copy_box(&from, piece, &to, piece, Copying { dtype, add: false })?);
            }
        }
        Ok(schedule)
    }
}
