//! A device's primary context and our two streams in it: made current around every call, and the one
//! that was current before restored, because other libraries of the process use the same thread.

use cudarc::driver::{result, sys};

use crate::device::Stream;
use crate::device::cuda::during::During;
use crate::device::cuda::error::CudaError;
use crate::device::host::process_id;

/// The primary context, retained, and a stream of ours per stream.
pub(super) struct Primary {
    device: sys::CUdevice,
    handle: sys::CUcontext,
    /// By [`Stream`]; null until made.
    streams: [sys::CUstream; 2],
    process: u32,
}

// SAFETY: the driver's handles may be used from any thread.
unsafe impl Send for Primary {}
// SAFETY: as for Send; driver calls are thread-safe.
unsafe impl Sync for Primary {}

impl Primary {
    pub(super) fn retain(device: sys::CUdevice) -> Result<Primary, CudaError> {
        // SAFETY: `device` comes from the driver.
        let handle =
            unsafe { result::primary_ctx::retain(device) }.during("retaining the primary context")?;
        let process = process_id();
        let mut primary = Primary { device, handle, streams: [std::ptr::null_mut(); 2], process };
        for stream in Stream::ALL {
            primary.streams[stream as usize] = primary.with(|| primary.new_stream(stream))?;
        }
        Ok(primary)
    }

    pub(super) fn device(&self) -> sys::CUdevice {
        self.device
    }

    pub(super) fn handle(&self) -> sys::CUcontext {
        self.handle
    }

    pub(super) fn stream(&self, stream: Stream) -> sys::CUstream {
        self.streams[stream as usize]
    }

    /// A new stream for work of a stream; the context is current. What is beside the computation is short and
    /// others wait for it, so it comes first.
    pub(super) fn new_stream(&self, stream: Stream) -> Result<sys::CUstream, CudaError> {
        let operation = "creating a stream";
        let (least, greatest) = result::stream::get_priority_range().during(operation)?;
        let priority = match stream {
            Stream::Compute => least,
            Stream::Exchange => greatest,
        };
        let kind = result::stream::StreamKind::NonBlocking;
        result::stream::create_with_priority(kind, priority).during(operation)
    }

    /// Waits for a stream whose end could not be marked. A device that is lost has nothing under way.
    pub(super) fn wait_stream(&self, stream: sys::CUstream) {
        // SAFETY: streams passed here are alive and of this device.
        let _ = self.with(|| unsafe { result::stream::synchronize(stream) }.during("waiting for the device"));
    }

    /// Runs `calls` with the context current.
    pub(super) fn with<T>(&self, calls: impl FnOnce() -> Result<T, CudaError>) -> Result<T, CudaError> {
        if process_id() != self.process {
            return Err(CudaError::Forked);
        }
        let operation = "making the device current";
        let before = result::ctx::get_current().during(operation)?;
        if before == Some(self.handle) {
            return calls();
        }
        // SAFETY: retained until drop.
        unsafe { result::ctx::set_current(self.handle) }.during(operation)?;
        let outcome = calls();
        // SAFETY: it was current a moment ago; null means none.
        unsafe { result::ctx::set_current(before.unwrap_or(std::ptr::null_mut())) }.during(operation)?;
        outcome
    }
}

impl Drop for Primary {
    fn drop(&mut self) {
        // A lost device refuses to give anything back; there is nobody to tell and nothing to save.
        for stream in self.streams.into_iter().filter(|stream| !stream.is_null()) {
            // SAFETY: created in `retain`, destroyed once.
            let _ = self.with(|| unsafe { result::stream::destroy(stream) }.during("destroying a stream"));
        }
        if process_id() == self.process {
            // SAFETY: retained once in `retain`.
            let _ = unsafe { result::primary_ctx::release(self.device) };
        }
    }
}
