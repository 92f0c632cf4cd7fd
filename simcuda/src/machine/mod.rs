//! A simulated device: memory whose every access is checked, and kernels that run in it. It knows PTX
//! programs and nothing of the driver interface.

mod bits;
mod block;
mod fault;
mod launch;
mod memory;
mod shadow;
mod shared;
mod shuffle;
mod thread;

pub use fault::{Fault, Kind, Site};

use memory::Memory;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Addresses that each machine may hand out, so that those of different machines never meet.
const ADDRESSES: u64 = 1 << 44;

/// Branches that a thread may take; a block, if its threads wait for each other.
const BRANCH_LIMIT: u64 = 1 << 32;

/// The bytes that a launch read and wrote: disjoint ranges of addresses, ascending, merged where they touch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accesses {
    /// What it read.
    pub reads: Vec<Range<u64>>,
    /// What it wrote.
    pub writes: Vec<Range<u64>>,
}

/// A simulated device.
pub struct Machine {
    seed: u64,
    memory: Memory,
    /// The last phase of the launches so far.
    phase: u64,
    launches: u64,
    branch_limit: u64,
}

impl Machine {
    /// A machine whose order of blocks and threads follows from `seed`, at addresses no other machine has.
    pub fn new(seed: u64) -> Machine {
        static MACHINES: AtomicU64 = AtomicU64::new(1);
        let number = MACHINES.fetch_add(1, Ordering::Relaxed);
        // The highest addresses stay unused: no sum of an address and an offset wraps around.
        Machine::with_base(seed, (number % (1 << 18)) * ADDRESSES + (1 << 36))
    }

    /// The same, with addresses from `base` on.
    pub fn with_base(seed: u64, base: u64) -> Machine {
        let end = base.saturating_add(ADDRESSES - (1 << 36));
        Machine {
            seed,
            memory: Memory::new(seed, base..end),
            phase: 0,
            launches: 0,
            branch_limit: BRANCH_LIMIT,
        }
    }

    /// Limits the bytes that may be allocated at one time; none lifts the limit.
    pub fn set_capacity(&mut self, bytes: Option<u64>) {
        self.memory.set_capacity(bytes);
    }

    /// Sets how many branches a thread may take before its kernel counts as endless.
    pub fn set_branch_limit(&mut self, branches: u64) {
        self.branch_limit = branches.max(1);
    }

    /// Bytes allocated now.
    pub fn used(&self) -> u64 {
        self.memory.used()
    }

    /// New memory, none of it initialised, at a multiple of `align` and of 256.
    ///
    /// # Panics
    /// If there is none to have; see [`Machine::try_alloc`].
    pub fn alloc(&mut self, bytes: u64, align: u64) -> u64 {
        match self.try_alloc(bytes, align) {
            Ok(address) => address,
            Err(fault) => panic!("{fault}"),
        }
    }

    /// As [`Machine::alloc`], or why not: the capacity is used up, or the request makes no sense.
    pub fn try_alloc(&mut self, bytes: u64, align: u64) -> Result<u64, Fault> {
        Ok(self.memory.alloc(bytes, align)?)
    }

    /// Ends the allocation that begins at `address`. Its addresses are never used again.
    pub fn free(&mut self, address: u64) -> Result<(), Fault> {
        Ok(self.memory.free(address)?)
    }

    /// Writes bytes of the host.
    pub fn write(&mut self, address: u64, data: &[u8]) -> Result<(), Fault> {
        Ok(self.memory.write(address, data)?)
    }

    /// Reads bytes, all of which must be initialised.
    pub fn read(&self, address: u64, data: &mut [u8]) -> Result<(), Fault> {
        Ok(self.memory.read(address, data)?)
    }

    /// Copies bytes within the machine; those that are uninitialised are so afterwards.
    pub fn copy(&mut self, to: u64, from: u64, bytes: u64) -> Result<(), Fault> {
        Ok(self.memory.copy(to, from, bytes)?)
    }

    /// Sets `bytes` bytes to `value`.
    pub fn fill(&mut self, address: u64, value: u8, bytes: u64) -> Result<(), Fault> {
        Ok(self.memory.fill(address, value, bytes)?)
    }

    /// Makes a range uninitialised.
    pub fn poison(&mut self, range: Range<u64>) -> Result<(), Fault> {
        Ok(self.memory.poison(range)?)
    }

    /// Whether every byte of a range was written.
    pub fn is_initialised(&self, range: Range<u64>) -> Result<bool, Fault> {
        Ok(self.memory.is_initialised(range)?)
    }

    /// The allocation that holds an address: its base and its bytes.
    pub fn allocation_of(&self, address: u64) -> Option<(u64, u64)> {
        self.memory.allocation_of(address)
    }

    /// Whether an address lies in an allocation.
    pub fn contains(&self, address: u64) -> bool {
        self.allocation_of(address).is_some()
    }

    /// All allocations, ascending: base and bytes.
    pub fn allocations(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.memory.allocations()
    }
}
