//! Copies between GPUs of this process: direct where the driver gives access, otherwise staged by the
//! driver itself.

use std::sync::Arc;

use cudarc::driver::{result, sys};

use super::buffer::CudaBuffer;
use super::gpu::CudaDevice;
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

    /// DeviceLocks direct access on where there is any; without it the driver stages copies.
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
