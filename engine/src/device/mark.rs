//! Points in a device's work, to measure between. Knows clocks; what runs between two marks is the caller's.

use std::time::Instant;

use super::{Backend, Device, Lane, cuda};
use crate::error::{Error, Result};

/// A point in the work queued on a device ([`Device::mark`]).
pub struct Mark {
    device: Device,
    clock: Clock,
}

enum Clock {
    /// An event, timed by the device.
    Cuda(cuda::Mark),
    /// Everything before was done at this moment.
    Done(Instant),
}

impl Device {
    /// Marks the work queued so far, as [`Device::mark_on`] does on the lane `Compute`.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn mark(&self) -> Result<Mark> {
        self.mark_on(Lane::Compute)
    }

    /// Marks the work queued on a lane so far. A CUDA device does not stop for it: the mark is an event and
    /// carries the device's own clock. The host's work is done when it returns, and a wgpu device is waited
    /// for; their marks carry the host's clock.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn mark_on(&self, lane: Lane) -> Result<Mark> {
        self.usable()?;
        let clock = match &self.0.backend {
            Backend::Cuda(gpu) => Clock::Cuda(gpu.mark(lane).map_err(|e| Error::of_driver(self.name(), e))?),
            Backend::Host | Backend::Wgpu(_) => {
                self.wait()?;
                Clock::Done(Instant::now())
            }
        };
        Ok(Mark { device: self.clone(), clock })
    }
}

impl Mark {
    /// Seconds between two marks of one device, negative if `earlier` is the later one. Waits for both.
    ///
    /// # Errors
    /// Marks of two devices; work between them that failed.
    pub fn seconds_since(&self, earlier: &Mark) -> Result<f64> {
        let other = || {
            let (from, to) = (earlier.device.name(), self.device.name());
            Error::invalid(
                "Mark::seconds_since",
                "two marks of one device",
                format!("one of {from} and one of {to}"),
                "mark the same device twice",
            )
        };
        match (&self.clock, &earlier.clock) {
            _ if self.device != earlier.device => Err(other()),
            (Clock::Cuda(to), Clock::Cuda(from)) => {
                to.seconds_since(from).map_err(|e| Error::of_driver(self.device.name(), e))
            }
            (Clock::Done(to), Clock::Done(from)) => {
                let forwards = to.saturating_duration_since(*from).as_secs_f64();
                Ok(forwards - from.saturating_duration_since(*to).as_secs_f64())
            }
            (Clock::Cuda(_), Clock::Done(_)) | (Clock::Done(_), Clock::Cuda(_)) => Err(other()),
        }
    }
}
