//! Bytes to, from and between devices. Between CUDA devices the driver copies; all else goes through the
//! host.

use crate::device::cuda;
use crate::device::handle::{Backend, Device};
use crate::device::memory::{Allocation, Memory, zeros};
use crate::device::streams::Stream;
use crate::error::Result;

/// Bytes of one device's memory, and their place in another's.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CopyRegion<'a> {
    /// The source.
    pub from: &'a Allocation,
    /// Where in it the bytes begin.
    pub from_offset: u64,
    /// The destination.
    pub to: &'a Allocation,
    /// Where in it they go.
    pub to_offset: u64,
    /// How many.
    pub bytes: u64,
}

impl Device {
    /// Copies bytes to the device, behind all work queued so far.
    ///
    /// # Errors
    /// Bytes outside the memory; memory of another device, or borrowed; if the driver fails.
    pub(crate) fn upload(&self, to: &Allocation, offset_bytes: u64, data: &[u8]) -> Result<()> {
        self.upload_on(Stream::Compute, to, offset_bytes, data)
    }

    /// The same on a stream.
    ///
    /// # Errors
    /// As [`Device::upload`].
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
        match (self.backend(), &to.memory) {
            (Backend::Host, Memory::Host(block)) => {
                block.write(offset_bytes as usize, data);
                Ok(())
            }
            (Backend::Cuda(gpu), Memory::Cuda(buffer)) => {
                gpu.upload(stream, buffer, offset_bytes, data).map_err(|e| self.failed(e))
            }
            (Backend::Wgpu(gpu), Memory::Wgpu(buffer)) => {
                gpu.upload(buffer, offset_bytes, data).map_err(|e| self.failed(e))
            }
            _ => unreachable!("memory belongs to the device it is used with"),
        }
    }

    /// Copies bytes from the device after all work queued so far; waits.
    ///
    /// # Errors
    /// Bytes outside the memory; memory of another device; if the driver fails, or work queued before had
    /// failed.
    pub(crate) fn download(&self, from: &Allocation, offset_bytes: u64, out: &mut [u8]) -> Result<()> {
        self.download_on(Stream::Compute, from, offset_bytes, out)
    }

    /// The same on a stream, after the work of that stream.
    ///
    /// # Errors
    /// As [`Device::download`].
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
        match (self.backend(), &from.memory) {
            (Backend::Host, Memory::Host(block)) => {
                block.read(offset_bytes as usize, out);
                Ok(())
            }
            (Backend::Cuda(gpu), Memory::Cuda(buffer)) => {
                gpu.download(stream, buffer, offset_bytes, out).map_err(|e| self.failed(e))
            }
            (Backend::Wgpu(gpu), Memory::Wgpu(buffer)) => {
                gpu.download(buffer, offset_bytes, out).map_err(|e| self.failed(e))
            }
            _ => unreachable!("memory belongs to the device it is used with"),
        }
    }

    /// Copies bytes of this device's memory to memory of another one, behind all work queued on both so far;
    /// later work on either waits for it.
    ///
    /// # Errors
    /// As [`Device::upload`] and [`Device::download`].
    pub(crate) fn copy_range(&self, other: &Device, what: CopyRegion) -> Result<()> {
        other.after(Stream::Compute, self, Stream::Compute)?;
        self.copy_on(Stream::Compute, other, what)?;
        self.after(Stream::Compute, other, Stream::Compute)
    }

    /// Queues such a copy on a stream of the other device without any waits: the caller orders it with the
    /// work of this device ([`Device::after`]). A copy staged through the host is done when this returns.
    ///
    /// # Errors
    /// As [`Device::copy_range`].
    pub(crate) fn copy_on(&self, stream: Stream, other: &Device, what: CopyRegion) -> Result<()> {
        self.usable()?;
        let CopyRegion { from, from_offset, to, to_offset, bytes } = what;
        self.check_memory("copy", from)?;
        from.check_range("copy", from_offset, bytes)?;
        other.check_written("copy", to)?;
        to.check_range("copy", to_offset, bytes)?;
        match (self.backend(), other.backend(), &from.memory, &to.memory) {
            (Backend::Cuda(gpu), Backend::Cuda(other), Memory::Cuda(from), Memory::Cuda(to)) => {
                cuda::copy_between(stream, gpu, (from, from_offset), other, (to, to_offset), bytes)
                    .map_err(|e| self.failed(e))
            }
            _ => {
                let mut staging: Vec<u8> = zeros(bytes as usize, std::slice::from_ref(self))?;
                self.download_on(stream, from, from_offset, &mut staging)?;
                other.upload_on(stream, to, to_offset, &staging)
            }
        }
    }
}
