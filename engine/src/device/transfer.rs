//! Bytes to, from and between devices, and the order of the work on their streams. Between CUDA devices the driver
//! copies; all else goes through the host. A download that is begun leaves the device's memory while the host
//! does something else: on CUDA through pinned memory, on wgpu through a mapped buffer, each through one of its
//! own.
//!
//! Waits of the host for a device and of streams for each other, and timestamps: the time between two of them
//! is that of the work queued between them. Schedules decide when streams fork and join.

use std::any::Any;
use std::time::Instant;

use crate::device::driver::{Device, DeviceKind, Opaque, Stream};
use crate::device::memory::{Allocation, zeros};
use crate::error::{Error, Result};
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

/// A point in the work queued on a device ([`Device::timestamp`]).
pub struct Timestamp {
    device: Device,
    moment: Moment,
}

enum Moment {
    /// The device's own clock.
    Device(Opaque),
    /// The host's clock when everything before was done.
    Done(Instant),
}

impl Device {
    /// Waits until all queued work is done.
    ///
    /// # Errors
    /// If the driver fails, or work queued before had failed.
    pub fn wait(&self) -> Result<()> {
        self.usable()?;
        self.driver().wait().map_err(|e| self.failed(e))
    }

    /// Waits until what is queued on a stream so far is done.
    ///
    /// # Errors
    /// If that work or the device failed.
    pub fn wait_for(&self, stream: Stream) -> Result<()> {
        self.usable()?;
        self.driver().wait_for(stream).map_err(|e| self.failed(e))
    }

    /// Whether its streams run concurrently.
    pub fn has_streams(&self) -> bool {
        self.kind() == DeviceKind::Cuda
    }

    /// Work queued on `stream` from now on runs after the work queued on another stream, of this or another
    /// device, so far. The host does not wait. Without effect unless both devices have streams: the
    /// work of others is done, or in order, when a call returns.
    ///
    /// # Errors
    /// If the driver refuses; the other stream's work is done then.
    pub fn after(&self, stream: Stream, first: &Device, first_stream: Stream) -> Result<()> {
        self.usable()?;
        self.driver().after(stream, first.driver(), first_stream).map_err(|e| self.failed(e))
    }

    /// A timestamp behind the work queued so far, as [`Device::timestamp_on`] gives on the stream `Compute`.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn timestamp(&self) -> Result<Timestamp> {
        self.timestamp_on(Stream::Compute)
    }

    /// A timestamp behind the work queued on a stream so far. On CUDA it is an event with the device's own
    /// clock, and the host does not wait. The host's work is done when this returns, and the call waits for a
    /// wgpu device; their timestamps carry the host's clock.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn timestamp_on(&self, stream: Stream) -> Result<Timestamp> {
        self.usable()?;
        let moment = match self.driver().timestamp(stream).map_err(|e| self.failed(e))? {
            Some(moment) => Moment::Device(moment),
            None => {
                self.wait()?;
                Moment::Done(Instant::now())
            }
        };
        Ok(Timestamp { device: self.clone(), moment })
    }
}

impl Timestamp {
    /// Seconds between two timestamps of one device, negative if `earlier` is the later one. Waits for both.
    ///
    /// # Errors
    /// Timestamps of two devices; work between them that failed.
    pub fn seconds_since(&self, earlier: &Timestamp) -> Result<f64> {
        let other = || {
            let (from, to) = (earlier.device.name(), self.device.name());
            Error::invalid(
                "Timestamp::seconds_since",
                "two timestamps of one device",
                format!("one of {from} and one of {to}"),
                "take both from the same device",
            )
        };
        match (&self.moment, &earlier.moment) {
            _ if self.device != earlier.device => Err(other()),
            (Moment::Device(to), Moment::Device(from)) => {
                self.device.driver().seconds_between(from, to).map_err(|e| self.device.failed(e))
            }
            (Moment::Done(to), Moment::Done(from)) => {
                let forwards = to.saturating_duration_since(*from).as_secs_f64();
                Ok(forwards - from.saturating_duration_since(*to).as_secs_f64())
            }
            (Moment::Device(_), Moment::Done(_)) | (Moment::Done(_), Moment::Device(_)) => Err(other()),
        }
    }
}
