//! Memory and streams of other libraries in this process: theirs used here, ours used there, and who waits
//! for whom. The protocols by which libraries exchange memory are in the crates above.

use std::any::Any;

use super::allocation::{Allocation, Memory};
use super::buffer::Buffer;
use crate::device::cuda::{CudaDevice, CudaError};
use crate::device::handle::{Backend, Device};
use crate::device::host::HostMemory;
use crate::error::{Error, Result};

/// Memory of another owner.
pub struct Foreign {
    /// Where it is in the device's address space; on the host, a pointer.
    pub address: u64,
    /// Its size.
    pub bytes: u64,
    /// What keeps it alive.
    pub owner: Box<dyn Any + Send + Sync>,
}

impl Device {
    /// Another owner's memory, used where it is. It counts in no budget, goes to no pool, and is never
    /// written: what would write it is refused. The last clone of the buffer lets the owner go.
    ///
    /// # Errors
    /// wgpu devices; a CUDA address that is another device's; no memory at all.
    ///
    /// # Safety
    /// The bytes are readable on this device for as long as the owner lives, and nobody writes to them while
    /// anything here reads them.
    pub unsafe fn borrow(&self, foreign: Foreign) -> Result<Buffer> {
        let Foreign { address, bytes, owner } = foreign;
        let memory = match self.backend() {
            // SAFETY: as the caller says.
            Backend::Host => unsafe { HostMemory::borrowed(address, bytes, owner) }.map(Memory::Host),
            Backend::Cuda(gpu) => {
                let ours = gpu.holds(address).map_err(|e| self.failed(e))?;
                // SAFETY: the driver says that it is this device's; else as the caller says.
                ours.then(|| Memory::Cuda(unsafe { gpu.borrow(address, bytes, owner) }))
            }
            Backend::Wgpu(_) => None,
        };
        let Some(memory) = memory else {
            let expected = format!("memory that {} reads where it is", self.name());
            let given = format!("{bytes} bytes at address {address:#x}");
            return Err(Error::invalid("sharing memory", expected, given, "copy it instead"));
        };
        Ok(self.adopt(bytes, memory, true))
    }

    /// The stream on which all work is queued, as the driver's handle; `None` without streams.
    pub fn stream(&self) -> Option<u64> {
        match self.backend() {
            Backend::Cuda(gpu) => Some(gpu.stream()),
            Backend::Host | Backend::Wgpu(_) => None,
        }
    }

    /// Work on another library's stream from now on waits for all work queued here so far. Without streams
    /// there is nothing to do.
    ///
    /// # Errors
    /// If the driver refuses.
    ///
    /// # Safety
    /// `stream` is a live stream of this device's primary context, or one of the driver's special ones.
    pub unsafe fn publish_to(&self, stream: u64) -> Result<()> {
        // SAFETY: as the caller says.
        self.on_gpu(|gpu| unsafe { gpu.publish_to(stream) })
    }

    /// Work queued here from now on waits for all work on another library's stream so far.
    ///
    /// # Errors
    /// If the driver refuses.
    ///
    /// # Safety
    /// As for [`Device::publish_to`].
    pub unsafe fn await_stream(&self, stream: u64) -> Result<()> {
        // SAFETY: as the caller says.
        self.on_gpu(|gpu| unsafe { gpu.await_stream(stream) })
    }

    /// Waits until nobody in this process works on the device any more: before memory that others were lent
    /// is used again.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn wait_for_all(&self) -> Result<()> {
        self.on_gpu(CudaDevice::wait_for_all)
    }

    /// Whether this process addresses the device's memory, as it does the host's: that of adapters on which
    /// the two are one.
    pub fn is_addressable(&self) -> bool {
        match self.backend() {
            Backend::Host => true,
            Backend::Cuda(_) => false,
            Backend::Wgpu(gpu) => gpu.is_visible(),
        }
    }

    /// Waits until this process sees, at the address of an allocation, what all work queued so far wrote.
    pub(crate) fn show(&self, allocation: &Allocation) -> Result<()> {
        self.usable()?;
        match (self.backend(), &allocation.memory) {
            (Backend::Wgpu(gpu), Memory::Wgpu(buffer)) => gpu.show(buffer).map_err(|e| self.failed(e)),
            _ => Ok(()),
        }
    }

    fn on_gpu(&self, call: impl FnOnce(&CudaDevice) -> std::result::Result<(), CudaError>) -> Result<()> {
        match self.backend() {
            Backend::Cuda(gpu) => call(gpu).map_err(|e| self.failed(e)),
            Backend::Host | Backend::Wgpu(_) => Ok(()),
        }
    }
}
