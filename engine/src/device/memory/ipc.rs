//! Memory and events of one machine's processes, where the kind of device has them (CUDA does). A handle is
//! bytes to be sent to the other process; sending them is not this file's business.

use super::allocation::{Allocation, Memory};
use super::buffer::Buffer;
use crate::device::cuda::{CudaDevice, CudaError, IpcEvent, IpcHandle};
use crate::device::handle::{Backend, Device};
use crate::error::{Error, Result};

impl Device {
    /// A handle by which another process of this machine opens `memory`
    /// ([`raw::import_memory`](crate::raw::import_memory)). Waits for nothing; keep the memory leased until
    /// the other process has dropped its buffer.
    ///
    /// # Errors
    /// Other kinds than CUDA; if the driver or the system does not share memory.
    pub fn export_memory(&self, memory: &Allocation) -> Result<IpcHandle> {
        match &memory.memory {
            Memory::Cuda(buffer) => self.ipc(|_| buffer.export()),
            Memory::Host(_) | Memory::Wgpu(_) => Err(self.no_ipc()),
        }
    }

    /// Memory of `bytes` bytes, no more than it has, that another process of this machine shares. It counts
    /// in no budget; the last clone of the buffer closes it.
    ///
    /// # Errors
    /// Other kinds than CUDA; a handle the driver refuses: of this same process, or of memory that was freed.
    pub(crate) fn import_memory(&self, handle: IpcHandle, bytes: u64) -> Result<Buffer> {
        let buffer = self.ipc(|gpu| gpu.import_memory(handle, bytes))?;
        Ok(self.adopt(bytes, Memory::Cuda(buffer), false))
    }

    /// A new event that other processes of this machine can open ([`Device::import_event`]).
    ///
    /// # Errors
    /// Other kinds than CUDA; if the driver refuses.
    pub fn ipc_event(&self) -> Result<IpcEvent> {
        self.ipc(CudaDevice::ipc_event)
    }

    /// An event that another process of this machine shares.
    ///
    /// # Errors
    /// Other kinds than CUDA; a handle the driver refuses.
    pub fn import_event(&self, handle: IpcHandle) -> Result<IpcEvent> {
        self.ipc(|gpu| gpu.import_event(handle))
    }

    fn ipc<T>(&self, call: impl FnOnce(&CudaDevice) -> std::result::Result<T, CudaError>) -> Result<T> {
        self.usable()?;
        match self.backend() {
            Backend::Cuda(gpu) => call(gpu).map_err(|e| self.failed(e)),
            Backend::Host | Backend::Wgpu(_) => Err(self.no_ipc()),
        }
    }

    fn no_ipc(&self) -> Error {
        let remedy = "send the values to the other process instead";
        Error::invalid("sharing memory between processes", "a CUDA device", self.name(), remedy)
    }
}
