//! Asynchronous downloads: bytes leave a device's memory while the host does something else. On CUDA they go
//! through pinned memory, on wgpu through a mapped buffer, each download through one of its own.

use crate::device::cuda;
use crate::device::handle::{Backend, Device};
use crate::device::memory::{Allocation, Memory};
use crate::device::streams::Stream;
use crate::device::wgpu::StagedDownload;
use crate::error::Result;

/// Bytes on their way from a device to this process. Dropping it discards them.
pub struct Download {
    device: Device,
    transit: Transit,
}

enum Transit {
    Cuda(cuda::PinnedDownload),
    Wgpu(StagedDownload),
}

impl Device {
    /// Begins to copy bytes from the device, behind all work queued on a stream so far; the host waits for
    /// nothing. `None` on the host, whose memory is here already.
    ///
    /// # Errors
    /// As [`Device::download`].
    pub(crate) fn start_download(
        &self,
        stream: Stream,
        from: &Allocation,
        offset_bytes: u64,
        bytes: usize,
    ) -> Result<Option<Download>> {
        self.usable()?;
        self.check_memory("start_download", from)?;
        from.check_range("start_download", offset_bytes, bytes as u64)?;
        let transit = match (self.backend(), &from.memory) {
            (Backend::Host, Memory::Host(_)) => return Ok(None),
            (Backend::Cuda(gpu), Memory::Cuda(buffer)) => Transit::Cuda(
                gpu.start_download(stream, buffer, offset_bytes, bytes).map_err(|e| self.failed(e))?,
            ),
            (Backend::Wgpu(gpu), Memory::Wgpu(buffer)) => {
                Transit::Wgpu(gpu.start_download(buffer, offset_bytes, bytes).map_err(|e| self.failed(e))?)
            }
            _ => unreachable!("memory belongs to the device it is used with"),
        };
        Ok(Some(Download { device: self.clone(), transit }))
    }
}

impl Download {
    /// Waits for the bytes, and for no work that was queued after them.
    ///
    /// # Errors
    /// If the driver fails, or work queued before had failed.
    pub fn finish(self, out: &mut [u8]) -> Result<()> {
        let Download { device, transit } = self;
        device.usable()?;
        match (device.backend(), transit) {
            (Backend::Cuda(gpu), Transit::Cuda(download)) => {
                gpu.finish_download(download, out).map_err(|e| device.failed(e))
            }
            (Backend::Wgpu(gpu), Transit::Wgpu(download)) => {
                gpu.finish_download(download, out).map_err(|e| device.failed(e))
            }
            _ => unreachable!("a download belongs to the device that started it"),
        }
    }
}
