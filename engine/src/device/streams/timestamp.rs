//! Timestamps in a device's work: the time between two of them is that of the work queued between them.

use std::time::Instant;

use super::stream::Stream;
use crate::device::cuda;
use crate::device::handle::{Backend, Device};
use crate::error::{Error, Result};

/// A point in the work queued on a device ([`Device::timestamp`]).
pub struct Timestamp {
    device: Device,
    moment: Moment,
}

enum Moment {
    /// An event, timed by the device.
    Cuda(cuda::TimedEvent),
    /// The host's clock when everything before was done.
    Done(Instant),
}

impl Device {
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
        let moment = match self.backend() {
            Backend::Cuda(gpu) => Moment::Cuda(gpu.timestamp(stream).map_err(|e| self.failed(e))?),
            Backend::Host | Backend::Wgpu(_) => {
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
            (Moment::Cuda(to), Moment::Cuda(from)) => {
                to.seconds_since(from).map_err(|e| Error::of_driver(self.device.name(), e))
            }
            (Moment::Done(to), Moment::Done(from)) => {
                let forwards = to.saturating_duration_since(*from).as_secs_f64();
                Ok(forwards - from.saturating_duration_since(*to).as_secs_f64())
            }
            (Moment::Cuda(_), Moment::Done(_)) | (Moment::Done(_), Moment::Cuda(_)) => Err(other()),
        }
    }
}
