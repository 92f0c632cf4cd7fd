//! [`Storage`]: the memory of a computed array, one buffer per part, each with the part's stored box in C
//! order, and how much of its halo is valid.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use partita_kernels::DType;

use crate::array::memory::halo::HaloWidths;
use crate::device::Buffer;
use crate::error::Result;
use crate::index::{Distribution, Region};
use crate::program::Place;
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
}

/// The bytes of a box of elements; more than there can be where they are not to be counted.
pub(crate) fn bytes_of(region: &Region, dtype: DType) -> Result<u64> {
    Ok((region.volume()? as u64).saturating_mul(dtype.size_bytes() as u64))
}
