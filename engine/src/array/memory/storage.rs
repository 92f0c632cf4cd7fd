//! Where a computed array is: one buffer per part, each holding the part's stored box in C order.
//! Knows the freshness of halos; fills them when asked. Knows no expressions.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use partita_kernels::DType;

use crate::array::host::read::bytes_of;
use crate::array::lower::compute_region::ArrayWindow;
use crate::array::memory::plans::{carry_out, halo_plan};
use crate::device::Buffer;
use crate::error::Result;
use crate::index::{Distribution, Index, Region};
use crate::plan::Plan;
use crate::program::{Copying, Place, Schedule, copy_box};
use crate::team::Team;

/// The parts of one array.
#[derive(Debug)]
pub(crate) struct Storage {
    /// How the buffers are laid out: as declared, with halos as wide as reads have needed.
    pub dist: Arc<Distribution>,
    /// The array's own distribution. Reading never changes it, whatever memory the reads take.
    pub declared: Arc<Distribution>,
    /// One per part; `None` where the part stores nothing, and for parts of other ranks.
    pub parts: Vec<Option<Buffer>>,
    /// Later ones have larger numbers.
    pub number: u64,
    fresh: Mutex<HaloWidths>,
    /// Held by everything that shows this memory.
    shown: Arc<()>,
}

static NUMBERS: AtomicU64 = AtomicU64::new(0);

/// The number that the next memory gets, or one below it.
pub(crate) fn next_number() -> u64 {
    NUMBERS.load(Ordering::Relaxed)
}

/// How wide a halo holds its owners' current values, at each part as far as the part stores it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct HaloWidths {
    pub lo: Index,
    pub hi: Index,
    pub corners: bool,
}

impl HaloWidths {
    pub fn zero(rank: usize) -> HaloWidths {
        HaloWidths { lo: Index::zeros(rank), hi: Index::zeros(rank), corners: true }
    }

    /// As wide as the wider of both.
    pub fn max(&self, other: &HaloWidths) -> HaloWidths {
        let max = |a: &Index, b: &Index| Index::from_fn(a.rank(), |d| a[d].max(b[d]));
        let corners = self.corners || other.corners;
        HaloWidths { lo: max(&self.lo, &other.lo), hi: max(&self.hi, &other.hi), corners }
    }

    /// As wide as the narrower of both.
    pub fn min(&self, other: &HaloWidths) -> HaloWidths {
        let min = |a: &Index, b: &Index| Index::from_fn(a.rank(), |d| a[d].min(b[d]));
        let corners = self.corners && other.corners;
        HaloWidths { lo: min(&self.lo, &other.lo), hi: min(&self.hi, &other.hi), corners }
    }

    pub fn covers(&self, other: &HaloWidths) -> bool {
        let wide = |a: &Index, b: &Index| a.iter().zip(b.iter()).all(|(a, b)| a >= b);
        wide(&self.lo, &other.lo) && wide(&self.hi, &other.hi) && (self.corners || !other.corners)
    }
}

impl Storage {
    /// Buffers for every part; contents are arbitrary.
    pub fn new(team: &Team, dist: Arc<Distribution>, dtype: DType) -> Result<Storage> {
        dist.sound()?;
        let mut parts = Vec::with_capacity(dist.parts());
        for part in 0..dist.parts() {
            let stored = dist.stored(part);
            parts.push(if stored.is_empty() || !team.is_here(part) {
                None
            } else {
                Some(team.device(part).alloc(bytes_of(&stored, dtype)?)?)
            });
        }
        Ok(Storage::from_parts(dist, parts))
    }

    /// Storage over buffers that exist.
    pub fn from_parts(dist: Arc<Distribution>, parts: Vec<Option<Buffer>>) -> Storage {
        let fresh = Mutex::new(HaloWidths::zero(dist.rank()));
        let number = NUMBERS.fetch_add(1, Ordering::Relaxed);
        let declared = Arc::clone(&dist);
        Storage { dist, declared, parts, number, fresh, shown: Arc::default() }
    }

    /// The same memory for an array on a distribution whose parts it has room for.
    pub fn declaring(self, declared: &Arc<Distribution>) -> Storage {
        debug_assert!(self.dist.has_room_for(declared), "{} for {declared}", self.dist);
        Storage { declared: Arc::clone(declared), ..self }
    }

    /// HaloWidths memory of the same layout, for an array on the same distribution.
    pub fn like(&self, team: &Team, dtype: DType) -> Result<Storage> {
        Ok(Storage::new(team, Arc::clone(&self.dist), dtype)?.declaring(&self.declared))
    }

    /// The same memory as parts of `dist`, which store as many cells in the same order. There are no halos.
    pub fn seen_on(&self, dist: Arc<Distribution>) -> Storage {
        Storage { shown: Arc::clone(&self.shown), ..Storage::from_parts(dist, self.parts.clone()) }
    }

    /// Whether other values are in this memory too.
    pub fn is_seen(&self) -> bool {
        Arc::strong_count(&self.shown) > 1
    }

    /// Whether its memory has room for halos.
    pub fn has_halo(&self) -> bool {
        let (lo, hi) = self.dist.halo();
        lo.iter().chain(hi.iter()).any(|&width| width > 0)
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
    pub fn valid_halo(&self) -> HaloWidths {
        self.fresh.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// States how much of the halo is current.
    pub fn set_valid_halo(&self, fresh: HaloWidths) {
        *self.fresh.lock().unwrap_or_else(PoisonError::into_inner) = fresh;
    }

    /// After owned cells changed, no halo is current.
    pub fn invalidate_halo(&self) {
        self.set_valid_halo(HaloWidths::zero(self.dist.rank()));
    }

    /// The plan that makes the halo current as wide as `need`; `None` if it is.
    pub fn missing_halo_plan(&self, need: &HaloWidths) -> Result<Option<Arc<Plan>>> {
        if self.valid_halo().covers(need) { Ok(None) } else { halo_plan(&self.dist, need).map(Some) }
    }

    /// Makes the halo current as wide as `need`.
    pub fn update_halo(&self, team: &Team, dtype: DType, need: HaloWidths) -> Result<()> {
        if let Some(plan) = self.missing_halo_plan(&need)? {
            carry_out("halo exchange", &plan, (self, team), (self, team), dtype)?.run()?;
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

    /// Commands that copy the cells outside of the frame's window to `to`, which owns the same: the owned
    /// ones and `grow` more.
    pub fn copy_outside(
        &self,
        team: &Team,
        dtype: DType,
        to: &Storage,
        (frame, grow): (&ArrayWindow, &HaloWidths),
    ) -> Result<Schedule> {
        self.copy_boxes(team, dtype, to, |part| frame.outside(part, grow))
    }

    fn copy_boxes(
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
                schedule.push(copy_box(&from, piece, &to, piece, Copying { dtype, add: false })?);
            }
        }
        Ok(schedule)
    }
}

/// The distribution with halos at least so wide; `None` if it cannot have them, or if they would need more
/// memory than the array.
pub(crate) fn widened(dist: &Arc<Distribution>, halo: &HaloWidths) -> Result<Option<Arc<Distribution>>> {
    if dist.stores(&halo.lo, &halo.hi) {
        return Ok(Some(Arc::clone(dist)));
    }
    let Ok(wide) = dist.widened(&halo.lo, &halo.hi) else { return Ok(None) };
    let cells = (0..wide.parts()).map(|p| wide.stored(p).volume()).sum::<std::result::Result<i64, _>>()?;
    Ok((cells <= 2 * wide.global().volume()?).then(|| Arc::new(wide)))
}
