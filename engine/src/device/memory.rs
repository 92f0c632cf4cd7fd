//! Pooled, budgeted memory of one device. Knows bytes, not arrays.
//!
//! An [`Allocation`] is memory; a [`Buffer`] is a lease on it. When the last clone of a buffer is
//! dropped the allocation goes back to its device's pool, where the free one with the smallest
//! number of the right size is taken first: reuse is deterministic, so a step that allocates and
//! frees the same sizes finds the same memory again, which is what lets a `Loop` be replayed.
//!
//! An arena keeps a step's memory apart, so that what other threads allocate and free meanwhile does
//! not disturb which memory the step finds.
//!
//! Devices run the work of the stream `Compute` in order, so memory may be leased again as soon as the host
//! is done queueing work on it there. Whoever uses memory on another stream has that stream wait for this one
//! before, and this one for that before the lease ends.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, MutexGuard, PoisonError};

use super::cuda;
use super::host::HostMemory;
use super::wgpu::WgpuBuffer;
use super::{Backend, Device};
use crate::config::config;
use crate::error::{Error, Result};

/// Allocations are multiples of this many bytes and aligned to it.
pub const ALIGN_BYTES: u64 = 256;

/// Memory of one device. It says where the memory is; that nobody else gets it is what a [`Buffer`] is for.
pub struct Allocation {
    /// Unique in the process, ascending.
    pub id: u64,
    /// Its size.
    pub bytes: u64,
    /// The number of its device.
    device: u64,
    /// It was lent to be read.
    read_only: bool,
    /// Where it is reused; nothing for another owner's memory, which is not.
    arena: Option<Arena>,
    /// How often it is lent: such memory is not leased again.
    lent: AtomicU32,
    pub(super) memory: Memory,
}

/// Memory that a wire uses where it lies. Even if whoever leased it is gone, nobody else gets it meanwhile.
pub(crate) struct Lent {
    allocation: Arc<Allocation>,
    address: usize,
}

impl Lent {
    /// Where it begins, for who knows the kind of memory.
    pub fn address(&self) -> usize {
        self.address
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.allocation.lent.fetch_sub(1, Ordering::Release);
    }
}

pub(super) enum Memory {
    Host(HostMemory),
    Cuda(cuda::CudaBuffer),
    Wgpu(WgpuBuffer),
}

impl fmt::Debug for Allocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{} ({} bytes)", self.id, self.bytes)
    }
}

impl Allocation {
    fn new(device: &Device, bytes: u64, arena: Option<Arena>, memory: Memory) -> Allocation {
        let (id, device, lent) = (next_id(), device.number(), AtomicU32::new(0));
        Allocation { id, bytes, device, read_only: false, arena, lent, memory }
    }

    /// Refuses bytes that it does not have.
    pub(super) fn check_range(&self, operation: &'static str, offset: u64, bytes: u64) -> Result<()> {
        if offset.checked_add(bytes).is_some_and(|stop| stop <= self.bytes) {
            return Ok(());
        }
        let (expected, given) =
            (format!("bytes below {}", self.bytes), format!("{bytes} bytes from byte {offset}"));
        Err(Error::invalid(operation, expected, given, "stay inside the memory, or allocate more"))
    }

    /// Whether it has another owner, who may not expect writes.
    pub(crate) fn is_borrowed(&self) -> bool {
        self.arena.is_none()
    }

    /// Lends some bytes to a wire; `None` if no wire can reach such memory: other kinds than the host's and
    /// CUDA's, and CUDA memory of other origin than a plain allocation, which MPI libraries may not accept.
    pub(crate) fn lend(self: &Arc<Allocation>, offset: u64, bytes: u64) -> Option<Lent> {
        let begin = match &self.memory {
            Memory::Host(block) => block.pointer().expose_provenance(),
            Memory::Cuda(buffer) => buffer.plain_address()? as usize,
            Memory::Wgpu(_) => return None,
        };
        let stop = offset.checked_add(bytes)?;
        let address = begin + offset as usize;
        (stop <= self.bytes).then(|| {
            self.lent.fetch_add(1, Ordering::Relaxed);
            Lent { allocation: Arc::clone(self), address }
        })
    }

    /// Where byte `offset` is in this process's memory; `None` for memory of another kind.
    pub(crate) fn host_address(&self, offset: usize) -> Option<NonNull<u8>> {
        let (start, bytes) = match &self.memory {
            Memory::Host(block) => (block.pointer(), block.bytes()),
            Memory::Wgpu(buffer) => {
                (std::ptr::with_exposed_provenance_mut(buffer.address()?), buffer.bytes() as usize)
            }
            Memory::Cuda(_) => return None,
        };
        NonNull::new(start.wrapping_add(offset)).filter(|_| offset < bytes)
    }
}

/// Memory kept apart: what is first allocated [`within`](Arena::within) it is reused only there, until it
/// [retires](Arena::retire).
#[derive(Clone, Debug, Default)]
pub(crate) struct Arena(Arc<AtomicU64>);

thread_local! {
    static ARENA: RefCell<Arena> = RefCell::new(Arena::default());
}

impl Arena {
    pub(crate) fn new() -> Arena {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Arena(Arc::new(AtomicU64::new(NEXT.fetch_add(1, Ordering::Relaxed))))
    }

    /// Runs `step`; what this thread allocates meanwhile comes from the arena.
    pub(crate) fn within<T>(&self, step: impl FnOnce() -> T) -> T {
        struct Restore(Arena);
        impl Drop for Restore {
            fn drop(&mut self) {
                ARENA.set(std::mem::take(&mut self.0));
            }
        }
        let _restore = Restore(ARENA.replace(self.clone()));
        step()
    }

    /// From now on its memory on `devices` is everybody's.
    pub(crate) fn retire(&self, devices: &[Device]) {
        self.0.store(0, Ordering::Relaxed);
        for device in devices {
            let mut pool = device.pool();
            for allocation in std::mem::take(&mut pool.free).into_values().flat_map(BTreeMap::into_values) {
                pool.keep(allocation);
            }
        }
    }

    fn number(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A lease on an allocation. Clones share it; the last one returns it to the pool.
#[derive(Clone, Debug)]
pub struct Buffer(Arc<Lease>);

struct Lease {
    allocation: Arc<Allocation>,
    device: Device,
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.allocation.fmt(f)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.device.pool().release(&self.allocation);
    }
}

impl Buffer {
    /// Whether other clones of the lease exist.
    pub(crate) fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    /// The memory under the lease.
    pub fn allocation(&self) -> &Arc<Allocation> {
        &self.0.allocation
    }

    /// The device it is on.
    pub fn device(&self) -> &Device {
        &self.0.device
    }
}

/// What a device's memory is used for at the moment, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MemoryUse {
    /// Held by arrays and temporaries.
    pub in_use_bytes: u64,
    /// Free, kept for reuse; given back to the driver before anything is refused.
    pub cached_bytes: u64,
    /// The most that may be held, if there is a limit of ours.
    pub budget_bytes: Option<u64>,
}

#[derive(Default)]
pub(super) struct Pool {
    /// By arena and size, then by number.
    free: BTreeMap<(u64, u64), BTreeMap<u64, Arc<Allocation>>>,
    usage: MemoryUse,
}

impl Pool {
    pub(super) fn new(budget_bytes: Option<u64>) -> Pool {
        Pool { usage: MemoryUse { budget_bytes, ..MemoryUse::default() }, ..Pool::default() }
    }

    fn release(&mut self, allocation: &Arc<Allocation>) {
        if allocation.arena.is_none() {
            return;
        }
        self.usage.in_use_bytes -= allocation.bytes;
        self.usage.cached_bytes += allocation.bytes;
        self.keep(Arc::clone(allocation));
    }

    fn keep(&mut self, allocation: Arc<Allocation>) {
        let Some(arena) = &allocation.arena else { return };
        let sized = self.free.entry((arena.number(), allocation.bytes)).or_default();
        sized.insert(allocation.id, allocation);
    }

    fn take(&mut self, arena: u64, bytes: u64) -> Option<Arc<Allocation>> {
        let sized = self.free.get_mut(&(arena, bytes))?;
        let idle = |allocation: &&Arc<Allocation>| allocation.lent.load(Ordering::Acquire) == 0;
        let number = sized.values().find(idle)?.id;
        let allocation = sized.remove(&number)?;
        self.lend(bytes);
        Some(allocation)
    }

    fn lend(&mut self, bytes: u64) {
        self.usage.cached_bytes -= bytes;
        self.usage.in_use_bytes += bytes;
    }

    fn trim(&mut self) {
        self.free.clear();
        self.usage.cached_bytes = 0;
    }
}

fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl Device {
    fn pool(&self) -> MutexGuard<'_, Pool> {
        self.0.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the memory is used for.
    pub fn memory(&self) -> MemoryUse {
        self.pool().usage
    }

    /// Limits what arrays and temporaries may hold on this device; `None` leaves it to the driver.
    pub fn set_budget(&self, budget_bytes: Option<u64>) {
        self.pool().usage.budget_bytes = budget_bytes;
    }

    /// Memory of at least `bytes` bytes, with arbitrary contents.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] if the budget or the driver refuses; nothing else changes then.
    pub fn alloc(&self, bytes: u64) -> Result<Buffer> {
        self.usable()?;
        let bytes = bytes.max(1).checked_next_multiple_of(ALIGN_BYTES).unwrap_or(u64::MAX);
        let lease = |allocation| Buffer(Arc::new(Lease { allocation, device: self.clone() }));
        let arena = ARENA.with_borrow(Arena::clone);
        if let Some(allocation) = self.pool().take(arena.number(), bytes) {
            return Ok(lease(allocation));
        }
        self.within_budget(bytes)?;
        let memory = self.with_room(|| self.raw_alloc(bytes))?;
        self.pool().usage.in_use_bytes += bytes;
        let allocation = Arc::new(Allocation::new(self, bytes, Some(arena), memory));
        if config().check {
            // Comparing looks at what nobody has written yet, too.
            self.upload(&allocation, 0, &vec![0; bytes as usize])?;
        }
        Ok(lease(allocation))
    }

    /// Another owner's memory as a buffer: it counts in no budget and goes to no pool.
    pub(super) fn adopt(&self, bytes: u64, memory: Memory, read_only: bool) -> Buffer {
        let allocation = Arc::new(Allocation { read_only, ..Allocation::new(self, bytes, None, memory) });
        Buffer(Arc::new(Lease { allocation, device: self.clone() }))
    }

    /// Refuses memory of another device.
    pub(super) fn check_memory(&self, operation: &'static str, memory: &Allocation) -> Result<()> {
        if memory.device == self.number() {
            return Ok(());
        }
        let expected = format!("memory of {}", self.name());
        let given = format!("{memory:?} of another device");
        Err(Error::invalid(operation, expected, given, "use the device that allocated it"))
    }

    /// Refuses memory of another device, and memory that was lent to be read.
    pub(super) fn check_written(&self, operation: &'static str, memory: &Allocation) -> Result<()> {
        self.check_memory(operation, memory)?;
        if !memory.read_only {
            return Ok(());
        }
        let given = format!("{memory:?}, borrowed from another owner");
        Err(Error::invalid(operation, "memory that may be written", given, "copy it first"))
    }

    /// A lease on an allocation that is free in the pool; `None` if it is not.
    pub(crate) fn claim(&self, allocation: &Arc<Allocation>) -> Option<Buffer> {
        let mut pool = self.pool();
        let key = (allocation.arena.as_ref()?.number(), allocation.bytes);
        let found = pool.free.get_mut(&key)?.remove(&allocation.id)?;
        pool.lend(found.bytes);
        drop(pool);
        Some(Buffer(Arc::new(Lease { allocation: found, device: self.clone() })))
    }

    fn within_budget(&self, bytes: u64) -> Result<()> {
        let mut pool = self.pool();
        let Some(budget) = pool.usage.budget_bytes else { return Ok(()) };
        let fits = |held: u64| held.checked_add(bytes).is_some_and(|total| total <= budget);
        if !fits(pool.usage.in_use_bytes + pool.usage.cached_bytes) {
            pool.trim();
        }
        if fits(pool.usage.in_use_bytes) {
            return Ok(());
        }
        let in_use_bytes = pool.usage.in_use_bytes;
        drop(pool);
        Err(self.out_of_memory(bytes, in_use_bytes, format!("budget of {budget} bytes")))
    }

    /// Tries once more without what the pool keeps free, if memory was refused. A call that ran out of memory
    /// has done nothing else.
    pub(super) fn with_room<T>(&self, call: impl Fn() -> Result<T>) -> Result<T> {
        call().or_else(|error| match error {
            Error::OutOfMemory { .. } => {
                self.pool().trim();
                call()
            }
            failure => Err(failure),
        })
    }

    pub(super) fn cuda_failure(&self, error: cuda::CudaError) -> Error {
        match error {
            cuda::CudaError::OutOfMemory { bytes } => {
                self.out_of_memory(bytes, self.memory().in_use_bytes, format!("driver: {error}"))
            }
            failure => Error::of_driver(self.name(), failure),
        }
    }

    fn out_of_memory(&self, asked_bytes: u64, in_use_bytes: u64, limit: String) -> Error {
        Error::OutOfMemory { device: self.name().to_owned(), asked_bytes, in_use_bytes, limit }
    }

    fn raw_alloc(&self, bytes: u64) -> Result<Memory> {
        let refused = |limit: String| self.out_of_memory(bytes, self.memory().in_use_bytes, limit);
        match &self.0.backend {
            Backend::Host => HostMemory::new(bytes)
                .map(Memory::Host)
                .ok_or_else(|| refused("the system's allocator refused".to_owned())),
            Backend::Cuda(gpu) => {
                gpu.alloc(bytes).map(Memory::Cuda).map_err(|error| self.cuda_failure(error))
            }
            Backend::Wgpu(gpu) => {
                gpu.alloc(bytes).map(Memory::Wgpu).map_err(|error| refused(format!("driver: {error}")))
            }
        }
    }
}
