//! Memory of one device: where it is, and who may use it.

use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::arena::Arena;
use crate::device::cuda;
use crate::device::host::HostMemory;
use crate::device::wgpu::WgpuBuffer;
use crate::error::{Error, Result};

/// Memory of one device. It says where the memory is; that nobody else gets it is what a `Buffer` is for.
pub struct Allocation {
    /// Unique in the process, ascending.
    pub id: u64,
    /// Its size.
    pub bytes: u64,
    /// The number of its device.
    pub(super) device: u64,
    /// It was lent to be read.
    pub(super) read_only: bool,
    /// Where it is reused; nothing for another owner's memory, which is not.
    pub(super) arena: Option<Arena>,
    /// How often it is lent: such memory is not leased again.
    pub(super) lent: AtomicU32,
    pub(in crate::device) memory: Memory,
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
    /// Where it begins, with exposed provenance on the host.
    #[cfg(feature = "mpi")]
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

pub(in crate::device) enum Memory {
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
    /// Memory of the device with this number; without an arena it has another owner.
    pub(super) fn new(device: u64, bytes: u64, arena: Option<Arena>, memory: Memory) -> Allocation {
        let (id, lent) = (next_id(), AtomicU32::new(0));
        Allocation { id, bytes, device, read_only: false, arena, lent, memory }
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
        self.arena.is_none()
    }

    /// Lends some bytes to a wire; `None` if no wire can reach such memory: other kinds than the host's and
    /// CUDA's, and CUDA memory of other origin than a plain allocation, which MPI libraries may not accept.
    pub(crate) fn lend(self: &Arc<Allocation>, offset: u64, bytes: u64) -> Option<LentMemory> {
        let begin = match &self.memory {
            Memory::Host(block) => block.pointer().expose_provenance(),
            Memory::Cuda(buffer) => buffer.plain_address()? as usize,
            Memory::Wgpu(_) => return None,
        };
        let stop = offset.checked_add(bytes)?;
        let address = begin + offset as usize;
        (stop <= self.bytes).then(|| {
            self.lent.fetch_add(1, Ordering::Relaxed);
            LentMemory { allocation: Arc::clone(self), address, bytes: bytes as usize }
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

    /// Where byte `offset` is in the memory of a CUDA device; `None` for memory of another kind.
    pub(crate) fn cuda_address(&self, offset: u64) -> Option<u64> {
        let Memory::Cuda(buffer) = &self.memory else { return None };
        Some(buffer.address() + offset).filter(|_| offset < buffer.bytes())
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
