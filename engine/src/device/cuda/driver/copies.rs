//! Copies between the host and a GPU, through pinned memory, and between GPUs of this process: direct where
//! the driver gives access, otherwise staged by the driver itself.

use std::sync::{Arc, MutexGuard, PoisonError};

use cudarc::driver::{result, sys};

use super::buffer::CudaBuffer;
use super::gpu::CudaDevice;
use super::staging::{PinnedDownload, Staging};
use crate::device::Stream;
use crate::device::cuda::during::During;
use crate::device::cuda::error::CudaError;

/// Copies `bytes` bytes from one GPU to another, behind all work queued on the receiving one's stream so far.
/// The caller makes the two wait for each other, as often as is needed and no more ([`CudaDevice::after`]):
/// the copies of one exchange then run side by side.
///
/// # Errors
/// Outside a buffer, or a driver failure.
pub(in crate::device) fn copy_between(
    stream: Stream,
    from_gpu: &CudaDevice,
    (from, from_offset): (&CudaBuffer, u64),
    to_gpu: &CudaDevice,
    (to, to_offset): (&CudaBuffer, u64),
    bytes: u64,
) -> Result<(), CudaError> {
    let (source, target) = (from.within(from_offset, bytes)?, to.within(to_offset, bytes)?);
    let (giver, taker) = (&from_gpu.primary, &to_gpu.primary);
    to_gpu.reach(from_gpu)?;
    // SAFETY: both ranges lie inside live buffers, which the engine keeps until the copy is done.
    let copy = || unsafe {
        let (to, from) = (taker.handle(), giver.handle());
        result::memcpy_peer_async(to, target, from, source, bytes as usize, taker.stream(stream))
    };
    taker.with(|| copy().during("copying between devices"))
}

impl CudaDevice {
    fn staging(&self) -> MutexGuard<'_, Staging> {
        self.staging.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Copies bytes to the device behind all work queued on a stream so far. `data` may be reused at once.
    ///
    /// # Errors
    /// Outside the buffer, or a driver failure.
    pub fn upload(&self, stream: Stream, to: &CudaBuffer, offset: u64, data: &[u8]) -> Result<(), CudaError> {
        let address = to.within(offset, data.len() as u64)?;
        self.staging().upload(stream, address, data)
    }

    /// Copies bytes from the device after all work queued on a stream so far; waits.
    ///
    /// # Errors
    /// Outside the buffer, a driver failure, or one of the work before.
    pub fn download(
        &self,
        stream: Stream,
        from: &CudaBuffer,
        offset: u64,
        out: &mut [u8],
    ) -> Result<(), CudaError> {
        let address = from.within(offset, out.len() as u64)?;
        self.staging().download(stream, address, out)
    }

    /// Begins to copy bytes from the device after all work queued on a stream so far; waits for nothing.
    ///
    /// # Errors
    /// Outside the buffer, or a driver failure.
    pub fn start_download(
        &self,
        stream: Stream,
        from: &CudaBuffer,
        offset: u64,
        bytes: usize,
    ) -> Result<PinnedDownload, CudaError> {
        let address = from.within(offset, bytes as u64)?;
        let download = self.staging().start_download(bytes)?;
        download.fetch(self.primary.stream(stream), address)?;
        Ok(download)
    }

    /// Waits for what was begun, and copies it out.
    ///
    /// # Errors
    /// A driver failure, or one of the work before.
    pub fn finish_download(&self, download: PinnedDownload, out: &mut [u8]) -> Result<(), CudaError> {
        download.land(out)?;
        self.staging().keep(download);
        Ok(())
    }

    /// True if this GPU reads the other's memory directly.
    ///
    /// # Errors
    /// If the driver refuses to say.
    pub fn reaches(&self, other: &CudaDevice) -> Result<bool, CudaError> {
        let mut can = 0;
        // SAFETY: the pointer is to a local; both devices come from the driver.
        let mut ask =
            || unsafe { sys::cuDeviceCanAccessPeer(&mut can, self.primary.device(), other.primary.device()) };
        ask().result().during("asking for peer access")?;
        Ok(can != 0)
    }

    /// Enables direct access where there is any; without it the driver stages copies.
    fn reach(&self, other: &CudaDevice) -> Result<(), CudaError> {
        if Arc::ptr_eq(&self.primary, &other.primary) || !self.reaches(other)? {
            return Ok(());
        }
        self.primary.with(|| {
            // SAFETY: the other context is retained.
            match unsafe { sys::cuCtxEnablePeerAccess(other.primary.handle(), 0) } {
                sys::CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED => Ok(()),
                code => code.result().during("turning peer access on"),
            }
        })
    }
}
