//! Memory of one device: where it is, who may use it, and the pool of what is free.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::RangeInclusive;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, OnceLock};

use crate::error::{Error, Result};

/// Allocations of all devices are multiples of this many bytes and aligned to it.
pub(in crate::device) const ALIGN_BYTES: u64 = 256;

/// The sizes of memory that serve a request for so many bytes, of a driver that hands out multiples of
/// `page_bytes`: from what holds them to what new memory has, at most a sixteenth or a page more. So arrays
/// whose sizes change little find each other's memory.
pub(in crate::device) fn size_class(bytes: u64, page_bytes: u64) -> RangeInclusive<u64> {
    let rounded = |to: u64| bytes.max(1).checked_next_multiple_of(to).unwrap_or(u64::MAX);
    let classes = bytes.checked_next_power_of_two().map_or(ALIGN_BYTES, |octave| octave / 32);
    let page = if bytes > page_bytes / 2 { page_bytes } else { ALIGN_BYTES };
    rounded(ALIGN_BYTES)..=rounded(classes.max(page).max(ALIGN_BYTES))
}

/// Memory as a driver has it; freed, closed or let go when dropped.
pub(in crate::device) trait DeviceMemory: Any + Send + Sync {
    /// Its address in this process.
    fn host_address(&self) -> Option<*mut u8> {
        None
    }

    /// Its address on a CUDA device.
    fn cuda_address(&self) -> Option<u64> {
        None
    }

    /// The address at which a wire may read and write it, with exposed provenance on the host: the host's
    /// memory, and plain allocations of CUDA, because MPI libraries may not accept others.
    fn wire_address(&self) -> Option<usize> {
        None
    }
}

impl DeviceMemory for () {}

/// The use of free memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(in crate::device) enum Reuse {
    /// Work on devices writes it.
    Work,
    /// Uploads alone write it: when a `Loop` replays work, it repeats no upload.
    Uploads,
}

/// Memory of one device. It says where the memory is; that nobody else gets it is what a `Buffer` is for.
pub struct Allocation {
    /// Unique in the process, ascending.
    pub id: u64,
    /// Its size.
    pub bytes: u64,
    /// The number of its device.
    pub(crate) device: u64,
    /// It was lent to be read.
    pub(in crate::device) read_only: bool,
    /// The work that reuses it; none for another owner's memory, which is not reused.
    pub(in crate::device) reuse: Option<Reuse>,
    /// The number of its loans: memory on loan is not leased again.
    pub(in crate::device) lent: AtomicU32,
    /// Why its contents are lost, if they are: who uses it gets that as an error.
    pub(crate) lost: Arc<OnceLock<String>>,
    pub(in crate::device) memory: Box<dyn DeviceMemory>,
}

/// Memory that a wire reads or writes in place: the host's, or CUDA memory for a wire that takes device
/// pointers. It is not leased again while it is lent, even after its last lease has ended.
///
/// Until the transfer is complete, nobody writes what is sent and nobody uses what is received: the commands
/// of an exchange wait for the devices before they lend memory, and for the transfer before they use it
/// again.
pub struct LentMemory {
    allocation: Arc<Allocation>,
    address: usize,
    bytes: usize,
}

impl LentMemory {
    /// Its first address, with exposed provenance on the host.
    pub(crate) fn address(&self) -> usize {
        self.address
    }

    /// Its length.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

impl fmt::Debug for LentMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes at {:#x}", self.bytes, self.address)
    }
}

impl Drop for LentMemory {
    fn drop(&mut self) {
        self.allocation.lent.fetch_sub(1, Ordering::Release);
    }
}

impl fmt::Debug for Allocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{} ({} bytes)", self.id, self.bytes)
    }
}

impl Allocation {
    /// Memory of the device with this number; what is not reused has another owner.
    pub(in crate::device) fn new(
        device: u64,
        bytes: u64,
        reuse: Option<Reuse>,
        memory: Box<dyn DeviceMemory>,
    ) -> Allocation {
        let (id, lent, lost) = (next_id(), AtomicU32::new(0), Arc::default());
        Allocation { id, bytes, device, read_only: false, reuse, lent, lost, memory }
    }

    /// Stands for memory in commands that get theirs before they run.
    pub(crate) fn none() -> Arc<Allocation> {
        static NONE: LazyLock<Arc<Allocation>> =
            LazyLock::new(|| Arc::new(Allocation::new(0, 0, None, Box::new(()))));
        Arc::clone(&NONE)
    }

    /// Refuses bytes that it does not have.
    pub(in crate::device) fn check_range(
        &self,
        operation: &'static str,
        offset: u64,
        bytes: u64,
    ) -> Result<()> {
        if offset.checked_add(bytes).is_some_and(|stop| stop <= self.bytes) {
            return Ok(());
        }
        let (expected, given) =
            (format!("bytes below {}", self.bytes), format!("{bytes} bytes from byte {offset}"));
        Err(Error::invalid(operation, expected, given, "stay inside the memory, or allocate more"))
    }

    /// Whether it has another owner, who may not expect writes.
    pub(crate) fn is_borrowed(&self) -> bool {
        self.reuse.is_none()
    }

    /// Whether it has another owner, who may write to it and expects writes.
    pub(crate) fn is_lent_to_be_written(&self) -> bool {
        self.is_borrowed() && !self.read_only
    }

    /// The driver's own memory.
    pub(in crate::device) fn own<T: 'static>(&self) -> &T {
        let memory: &dyn Any = &*self.memory;
        memory.downcast_ref().unwrap_or_else(|| unreachable!("memory belongs to the device it is used with"))
    }

    /// Lends some bytes to a wire; `None` if no wire can reach such memory.
    pub(crate) fn lend(self: &Arc<Allocation>, offset: u64, bytes: u64) -> Option<LentMemory> {
        let address = self.memory.wire_address()? + offset as usize;
        let stop = offset.checked_add(bytes)?;
        (stop <= self.bytes).then(|| {
            self.lent.fetch_add(1, Ordering::Relaxed);
            LentMemory { allocation: Arc::clone(self), address, bytes: bytes as usize }
        })
    }

    /// The address of byte `offset` in this process's memory; `None` for memory of another kind.
    pub(crate) fn host_address(&self, offset: usize) -> Option<NonNull<u8>> {
        let start = self.memory.host_address()?;
        NonNull::new(start.wrapping_add(offset)).filter(|_| (offset as u64) < self.bytes)
    }

    /// The address of byte `offset` on a CUDA device; `None` for memory of another kind.
    pub(crate) fn cuda_address(&self, offset: u64) -> Option<u64> {
        Some(self.memory.cuda_address()? + offset).filter(|_| offset < self.bytes)
    }

    /// Whether it begins at a multiple of so many bytes. Memory that the process cannot address is ours, and
    /// does.
    pub(crate) fn is_aligned(&self, bytes: u64) -> bool {
        let host = self.host_address(0).map(|address| address.as_ptr().addr() as u64);
        host.or_else(|| self.cuda_address(0)).is_none_or(|address| address.is_multiple_of(bytes))
    }
}

fn next_id() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// The current use of a device's memory, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MemoryUse {
    /// Held by arrays and temporaries.
    pub in_use_bytes: u64,
    /// Free, kept for reuse; given back to the driver before anything is refused.
    pub cached_bytes: u64,
    /// The most that may be held, if there is a limit of ours.
    pub budget_bytes: Option<u64>,
}

/// The memory of one device that is free, and how much is in use.
#[derive(Default)]
pub(in crate::device) struct Pool {
    /// By use and size, then by number.
    free: BTreeMap<(Reuse, u64), BTreeMap<u64, Arc<Allocation>>>,
    pub(in crate::device) usage: MemoryUse,
}

impl Pool {
    pub(in crate::device) fn new(budget_bytes: Option<u64>) -> Pool {
        Pool { usage: MemoryUse { budget_bytes, ..MemoryUse::default() }, ..Pool::default() }
    }

    /// Takes back memory whose last lease ended.
    pub(in crate::device) fn release(&mut self, allocation: &Arc<Allocation>) {
        let Some(reuse) = allocation.reuse else { return };
        self.usage.in_use_bytes -= allocation.bytes;
        if allocation.lost.get().is_some() {
            return;
        }
        self.usage.cached_bytes += allocation.bytes;
        let sized = self.free.entry((reuse, allocation.bytes)).or_default();
        sized.insert(allocation.id, Arc::clone(allocation));
    }

    /// The smallest free memory of these sizes, of several alike that with the smallest number, now in use.
    pub(in crate::device) fn take(
        &mut self,
        reuse: Reuse,
        sizes: RangeInclusive<u64>,
    ) -> Option<Arc<Allocation>> {
        let (least, most) = sizes.into_inner();
        let idle = |allocation: &&Arc<Allocation>| allocation.lent.load(Ordering::Acquire) == 0;
        let mut fitting =
            self.free.range((reuse, least)..=(reuse, most)).flat_map(|(_, sized)| sized.values());
        let found = Arc::clone(fitting.find(idle)?);
        self.claim(&found)
    }

    /// This allocation, now in use; `None` if it is not free.
    pub(in crate::device) fn claim(&mut self, allocation: &Allocation) -> Option<Arc<Allocation>> {
        let key = (allocation.reuse?, allocation.bytes);
        let found = self.free.get_mut(&key)?.remove(&allocation.id)?;
        self.usage.cached_bytes -= found.bytes;
        self.usage.in_use_bytes += found.bytes;
        Some(found)
    }

    /// Gives all free memory back to the driver.
    pub(in crate::device) fn trim(&mut self) {
        self.free.clear();
        self.usage.cached_bytes = 0;
    }
}
