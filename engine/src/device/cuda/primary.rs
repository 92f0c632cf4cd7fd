//! A device's primary context and our stream in it: made current around every call, and the one
//! that was current before restored, because other libraries of the process use the same thread.

use cudarc::driver::{result, sys};

use super::error::{CudaError, During};

/// The primary context, retained, and a stream of ours.
pub(super) struct Primary {
    device: sys::CUdevice,
    handle: sys::CUcontext,
    stream: sys::CUstream,
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
        let process = std::process::id();
        let mut primary = Primary { device, handle, stream: std::ptr::null_mut(), process };
        let kind = result::stream::StreamKind::NonBlocking;
        primary.stream = primary.with(|| result::stream::create(kind).during("creating a stream"))?;
        Ok(primary)
    }

    pub(super) fn device(&self) -> sys::CUdevice {
        self.device
    }

    pub(super) fn handle(&self) -> sys::CUcontext {
        self.handle
    }

    pub(super) fn stream(&self) -> sys::CUstream {
        self.stream
    }

    /// Waits for a stream whose end could not be marked. A device that is lost has nothing under way.
    pub(super) fn settle(&self, stream: sys::CUstream) {
        // SAFETY: streams passed here are alive and of this device.
        let _ = self.with(|| unsafe { result::stream::synchronize(stream) }.during("waiting for the device"));
    }

    /// Runs `calls` with the context current.
    pub(super) fn with<T>(&self, calls: impl FnOnce() -> Result<T, CudaError>) -> Result<T, CudaError> {
        if std::process::id() != self.process {
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
        let stream = self.stream;
        // A lost device refuses to give anything back; there is nobody to tell and nothing to save.
        if !stream.is_null() {
            // SAFETY: created in `retain`, destroyed once.
            let _ = self.with(|| unsafe { result::stream::destroy(stream) }.during("destroying a stream"));
        }
        if std::process::id() == self.process {
            // SAFETY: retained once in `retain`.
            let _ = unsafe { result::primary_ctx::release(self.device) };
        }
    }
}
