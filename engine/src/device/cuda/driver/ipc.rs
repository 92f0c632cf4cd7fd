//! Memory and events that other processes of this machine use too (CUDA IPC). The exporter keeps what it
//! shares until the others have closed it; callers transfer the handles.

use cudarc::driver::sys;

use super::buffer::{CudaBuffer, CudaOrigin};
use super::event::{Event, Purpose};
use super::gpu::CudaDevice;
use crate::device::Stream;
use crate::device::cuda::during::During;
use crate::device::cuda::error::CudaError;
use crate::device::cuda::facts::IpcHandle;

/// A point in a device's work for which other processes can wait.
pub struct IpcEvent(Event);

impl CudaBuffer {
    /// A handle by which another process opens this memory ([`CudaDevice::import_memory`]). Keep the buffer
    /// until that process has closed it.
    ///
    /// # Errors
    /// If the driver or the system does not share memory, or the buffer is not ours.
    pub fn export(&self) -> Result<IpcHandle, CudaError> {
        let mut handle = sys::CUipcMemHandle { reserved: [0; 64] };
        // SAFETY: the handle is a local; the address is of a live allocation.
        let mut get = || unsafe { sys::cuIpcGetMemHandle(&mut handle, self.address()) }.result();
        self.primary.with(|| get().during("sharing memory with another process"))?;
        Ok(IpcHandle(handle.reserved.map(|byte| byte as u8)))
    }
}

impl IpcEvent {
    /// A handle by which another process opens the event (`CudaDevice::import_event`).
    ///
    /// # Errors
    /// If the driver does not share events, or the event was opened here.
    pub fn export(&self) -> Result<IpcHandle, CudaError> {
        let mut handle = sys::CUipcEventHandle { reserved: [0; 64] };
        // SAFETY: the handle is a local; the event is alive.
        let mut get = || unsafe { sys::cuIpcGetEventHandle(&mut handle, self.0.raw()) }.result();
        self.0.primary().with(|| get().during("sharing an event with another process"))?;
        Ok(IpcHandle(handle.reserved.map(|byte| byte as u8)))
    }

    /// The event is reached when all work queued on this process's device so far is done, of both streams.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn record(&self) -> Result<(), CudaError> {
        let primary = self.0.primary();
        let computed = Event::new(primary, Purpose::Order)?;
        computed.record(primary.stream(Stream::Compute))?;
        computed.hold(primary, primary.stream(Stream::Exchange))?;
        self.record_on(Stream::Exchange)
    }

    /// The event is reached when all work queued on a stream so far is done.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn record_on(&self, stream: Stream) -> Result<(), CudaError> {
        self.0.record(self.0.primary().stream(stream))
    }

    /// Work queued on this process's device from now on, on both streams, waits for the latest record, of any
    /// process. That record must have been called before: the driver does not wait for what is not there yet.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn hold(&self) -> Result<(), CudaError> {
        Stream::ALL.into_iter().try_for_each(|stream| self.hold_on(stream))
    }

    /// Work queued on a stream from now on waits so.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn hold_on(&self, stream: Stream) -> Result<(), CudaError> {
        self.0.hold(self.0.primary(), self.0.primary().stream(stream))
    }
}

impl CudaDevice {
    /// Memory of `bytes` bytes that another process of this machine shares; closed when dropped.
    ///
    /// # Errors
    /// If the driver refuses the handle: it comes from this same process, or its memory was freed.
    pub fn import_memory(&self, handle: IpcHandle, bytes: u64) -> Result<CudaBuffer, CudaError> {
        let handle = sys::CUipcMemHandle { reserved: handle.0.map(|byte| byte as std::ffi::c_char) };
        let lazily = sys::CUipcMem_flags_enum::CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS as u32;
        let mut address = 0;
        // SAFETY: the pointer is to a local.
        let mut open = || unsafe { sys::cuIpcOpenMemHandle_v2(&mut address, handle, lazily) }.result();
        self.primary.with(|| open().during("opening another process's memory"))?;
        Ok(CudaBuffer::new(&self.primary, address, bytes, CudaOrigin::Opened))
    }

    /// A new event that other processes can open.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn ipc_event(&self) -> Result<IpcEvent, CudaError> {
        Event::new(&self.primary, Purpose::Share).map(IpcEvent)
    }

    /// An event that another process of this machine shares.
    ///
    /// # Errors
    /// If the driver refuses the handle, for instance because it comes from this same process.
    pub fn import_event(&self, handle: IpcHandle) -> Result<IpcEvent, CudaError> {
        let handle = sys::CUipcEventHandle { reserved: handle.0.map(|byte| byte as std::ffi::c_char) };
        let mut raw = std::ptr::null_mut();
        // SAFETY: the pointer is to a local.
        let mut open = || unsafe { sys::cuIpcOpenEventHandle(&mut raw, handle) }.result();
        self.primary.with(|| open().during("opening another process's event"))?;
        Ok(IpcEvent(Event::opened(&self.primary, raw)))
    }
}
