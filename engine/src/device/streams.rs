//! Waits of the host for a device and of streams for each other, and timestamps: the time between two of them
//! is that of the work queued between them. Schedules decide when streams fork and join.

use std::time::Instant;

use super::driver::{DeviceKind, Opaque, Stream};
use super::handle::Device;
use crate::error::{Error, Result};

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
