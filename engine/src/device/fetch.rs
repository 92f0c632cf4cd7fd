//! Downloads that are begun and awaited apart: bytes leave a device's memory while the host does something
//! else. Knows bytes; who wants them, and when, is the caller's business.

use super::memory::Memory;
use super::wgpu::Fetch as WgpuFetch;
use super::{Allocation, Backend, Device, Lane, cuda};
use crate::error::{Error, Result};

/// Bytes on their way from a device to this process. Dropping it forgets them.
pub struct Fetch {
    device: Device,
    flight: Flight,
}

enum Flight {
    Cuda(cuda::Fetch),
    Wgpu(WgpuFetch),
}

impl Device {
    /// Begins to copy bytes from the device, behind all work queued on a lane so far; the host waits for
    /// nothing. `None` on the host, whose memory is here already.
    ///
    /// # Errors
    /// As [`Device::download`].
    pub(crate) fn fetch_on(
        &self,
        lane: Lane,
        from: &Allocation,
        offset_bytes: u64,
        bytes: usize,
    ) -> Result<Option<Fetch>> {
        self.usable()?;
        self.check_memory("fetch", from)?;
        from.check_range("fetch", offset_bytes, bytes as u64)?;
        let flight = match (&self.0.backend, &from.memory) {
            (Backend::Host, Memory::Host(_)) => return Ok(None),
            (Backend::Cuda(gpu), Memory::Cuda(buffer)) => {
                Flight::Cuda(gpu.fetch(lane, buffer, offset_bytes, bytes).map_err(|e| self.failed(e))?)
            }
            (Backend::Wgpu(gpu), Memory::Wgpu(buffer)) => {
                Flight::Wgpu(gpu.fetch(buffer, offset_bytes, bytes).map_err(|e| self.failed(e))?)
            }
            _ => unreachable!("memory belongs to the device it is used with"),
        };
        Ok(Some(Fetch { device: self.clone(), flight }))
    }

    fn failed(&self, error: impl std::fmt::Display) -> Error {
        Error::of_driver(self.name(), error)
    }
}

impl Fetch {
    /// Waits for the bytes, as many as were asked for, and for no work that was queued after them.
    ///
    /// # Errors
    /// If the driver fails, or work queued before had failed.
    pub fn take(self, out: &mut [u8]) -> Result<()> {
        let Fetch { device, flight } = self;
        device.usable()?;
        match (&device.0.backend, flight) {
            (Backend::Cuda(gpu), Flight::Cuda(fetch)) => gpu.take(fetch, out).map_err(|e| device.failed(e)),
            (Backend::Wgpu(gpu), Flight::Wgpu(fetch)) => gpu.take(fetch, out).map_err(|e| device.failed(e)),
            _ => unreachable!("bytes are on their way from the device that was asked"),
        }
    }
}
