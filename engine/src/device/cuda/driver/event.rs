//! Events: points in a stream's work, to wait for and to measure between.

use std::sync::Arc;

use cudarc::driver::{result, sys};

use super::primary::Primary;
use crate::device::Stream;
use crate::device::cuda::during::During;
use crate::device::cuda::error::CudaError;

/// A point in a stream's work.
pub(super) struct Event {
    primary: Arc<Primary>,
    raw: sys::CUevent,
}

/// What an event is for; one that is not measured costs less.
pub(super) enum Purpose {
    /// Work waits for it.
    Order,
    /// As `Order`, and time is measured from and to it.
    Measure,
    /// As `Order`, in other processes too.
    Share,
}

// SAFETY: the driver's handles may be used from any thread.
unsafe impl Send for Event {}
// SAFETY: as for Send; driver calls are thread-safe.
unsafe impl Sync for Event {}

impl Event {
    pub(super) fn new(primary: &Arc<Primary>, purpose: Purpose) -> Result<Event, CudaError> {
        use sys::CUevent_flags_enum as Flags;
        let flags = match purpose {
            Purpose::Order => Flags::CU_EVENT_DISABLE_TIMING as u32,
            Purpose::Measure => Flags::CU_EVENT_DEFAULT as u32,
            Purpose::Share => Flags::CU_EVENT_DISABLE_TIMING as u32 | Flags::CU_EVENT_INTERPROCESS as u32,
        };
        let mut raw = std::ptr::null_mut();
        // SAFETY: the pointer is to a local.
        let mut create = || unsafe { sys::cuEventCreate(&mut raw, flags) }.result();
        primary.with(|| create().during("creating an event"))?;
        Ok(Event::opened(primary, raw))
    }

    /// An event that is already there, ours from now on.
    pub(super) fn opened(primary: &Arc<Primary>, raw: sys::CUevent) -> Event {
        Event { primary: Arc::clone(primary), raw }
    }

    pub(super) fn raw(&self) -> sys::CUevent {
        self.raw
    }

    pub(super) fn primary(&self) -> &Arc<Primary> {
        &self.primary
    }

    /// The event is reached when all work queued on `stream` so far is done.
    pub(super) fn record(&self, stream: sys::CUstream) -> Result<(), CudaError> {
        // SAFETY: the event is alive; streams passed here belong to its device.
        self.primary.with(|| unsafe { result::event::record(self.raw, stream) }.during("recording an event"))
    }

    /// Work queued on `stream`, of any device, from now on waits for the event.
    pub(super) fn hold(&self, on: &Primary, stream: sys::CUstream) -> Result<(), CudaError> {
        use sys::CUevent_wait_flags_enum::CU_EVENT_WAIT_DEFAULT;
        // SAFETY: event and stream are alive.
        let wait = || unsafe { result::stream::wait_event(stream, self.raw, CU_EVENT_WAIT_DEFAULT) };
        on.with(|| wait().during("waiting for an event"))
    }

    /// The host waits for it; at once if it was never recorded.
    pub(super) fn wait(&self) -> Result<(), CudaError> {
        // SAFETY: the event is alive.
        self.primary.with(|| unsafe { result::event::synchronize(self.raw) }.during("waiting for an event"))
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: created or opened once, destroyed once. On a lost device there is nothing to report.
        let _ =
            self.primary.with(|| unsafe { result::event::destroy(self.raw) }.during("destroying an event"));
    }
}

/// A timestamp in a device's work.
pub(in crate::device) struct TimedEvent(Event);

impl TimedEvent {
    /// A timestamp behind the work queued on a stream so far.
    pub(super) fn new(primary: &Arc<Primary>, stream: Stream) -> Result<TimedEvent, CudaError> {
        let event = Event::new(primary, Purpose::Measure)?;
        event.record(primary.stream(stream))?;
        Ok(TimedEvent(event))
    }

    /// Seconds of device time between two timestamps of one device; waits for the later one.
    ///
    /// # Errors
    /// If the device failed in between.
    pub fn seconds_since(&self, earlier: &TimedEvent) -> Result<f64, CudaError> {
        self.0.wait()?;
        // SAFETY: both events are alive, timed, recorded, and of one device.
        let elapsed = || unsafe { result::event::elapsed(earlier.0.raw, self.0.raw) };
        let milliseconds = self.0.primary.with(|| elapsed().during("measuring between events"))?;
        Ok(f64::from(milliseconds) / 1e3)
    }
}
