//! Bytes to, from and between devices. Between CUDA devices the driver copies; all else goes through the
//! host. A download that is begun leaves the device's memory while the host does something else: on CUDA
//! through pinned memory, on wgpu through a mapped buffer, each through one of its own.

use std::any::Any;

use super::driver::Stream;
use super::handle::Device;
use super::memory::{Allocation, zeros};
use crate::error::Result;

/// Bytes of one device's memory, and their place in another's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CopyRegion<'a> {
    /// The source.
    pub from: &'a Allocation,
    /// The offset of the bytes in it.
    pub from_offset: u64,
    /// The destination.
    pub to: &'a Allocation,
    /// The offset in it that they go to.
    pub to_offset: u64,
    /// The number of bytes.
    pub bytes: u64,
}

/// Bytes on their way from a device to this process. Dropping it discards them.
pub struct Download {
    device: Device,
    transit: Box<dyn Any + Send>,
}

impl Device {
    /// Copies bytes to the device, behind all work queued so far.
    pub(crate) fn upload(&self, to: &Allocation, offset_bytes: u64, data: &[u8]) -> Result<()> {
        self.upload_on(Stream::Compute, to, offset_bytes, data)
    }

    /// The same on a stream.
    pub(crate) fn upload_on(
        &self,
        stream: Stream,
        to: &Allocation,
        offset_bytes: u64,
        data: &[u8],
    ) -> Result<()> {
        self.usable()?;
        self.check_written("upload", to)?;
        to.check_range("upload", offset_bytes, data.len() as u64)?;
        self.driver().upload(stream, to, offset_bytes, data).map_err(|e| self.failed(e))
    }

    /// Copies bytes from the device after all work queued so far; waits.
    pub(crate) fn download(&self, from: &Allocation, offset_bytes: u64, out: &mut [u8]) -> Result<()> {
        self.download_on(Stream::Compute, from, offset_bytes, out)
    }

    /// The same on a stream, after the work of that stream.
    pub(crate) fn download_on(
        &self,
        stream: Stream,
        from: &Allocation,
        offset_bytes: u64,
        out: &mut [u8],
    ) -> Result<()> {
        self.usable()?;
        self.check_memory("download", from)?;
        from.check_range("download", offset_bytes, out.len() as u64)?;
        self.driver().download(stream, from, offset_bytes, out).map_err(|e| self.failed(e))
    }

    /// Copies bytes of this device's memory to memory of another one, behind all work queued on both so far;
    /// later work on either waits for it.
    pub(crate) fn copy_range(&self, other: &Device, what: CopyRegion) -> Result<()> {
        other.after(Stream::Compute, self, Stream::Compute)?;
        self.copy_on(Stream::Compute, other, what)?;
        self.after(Stream::Compute, other, Stream::Compute)
    }

    /// Queues such a copy on a stream of the other device without any waits: the caller orders it with the
    /// work of this device ([`Device::after`]). A copy staged through the host is done when this returns.
    pub(crate) fn copy_on(&self, stream: Stream, other: &Device, what: CopyRegion) -> Result<()> {
        self.check_copy(other, what)?;
        let CopyRegion { from, from_offset, to, to_offset, bytes } = what;
        let (source, target) = ((from, from_offset), (to, to_offset));
        let copied = self.driver().copy_to(stream, source, other.driver(), target, bytes);
        if copied.map_err(|e| self.failed(e))? {
            return Ok(());
        }
        let mut staging: Vec<u8> = zeros(bytes as usize, std::slice::from_ref(self))?;
        self.download_on(stream, from, from_offset, &mut staging)?;
        other.upload_on(stream, to, to_offset, &staging)
    }

    /// Refuses a copy from or to memory that is not there, or may not be written.
    pub(super) fn check_copy(&self, other: &Device, what: CopyRegion) -> Result<()> {
        self.usable()?;
        let CopyRegion { from, from_offset, to, to_offset, bytes } = what;
        self.check_memory("copy", from)?;
        from.check_range("copy", from_offset, bytes)?;
        other.check_written("copy", to)?;
        to.check_range("copy", to_offset, bytes)
    }

    /// Begins to copy bytes from the device, behind all work queued on a stream so far; the host waits for
    /// nothing. `None` on the host, whose memory is here already.
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
        let transit = self.driver().start_download(stream, from, offset_bytes, bytes);
        let transit = transit.map_err(|e| self.failed(e))?;
        Ok(transit.map(|transit| Download { device: self.clone(), transit }))
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
        device.driver().finish_download(transit, out).map_err(|e| device.failed(e))
    }
}
