//! Events: points in a stream's work, to wait for and to measure between.

use std::sync::Arc;

use cudarc::driver::{result, sys};

use super::super::Lane;
use super::Gpu;
use super::error::{CudaError, During};
use super::primary::Primary;

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

/// A point in a device's work, to measure from or to.
pub(in crate::device) struct Mark(Event);

impl Mark {
    /// Seconds of device time between two marks of one device; waits for the later one.
    ///
    /// # Errors
    /// If the device failed in between.
    pub fn seconds_since(&self, earlier: &Mark) -> Result<f64, CudaError> {
        self.0.wait()?;
        // SAFETY: both events are alive, timed, recorded, and of one device.
        let elapsed = || unsafe { result::event::elapsed(earlier.0.raw, self.0.raw) };
        let milliseconds = self.0.primary.with(|| elapsed().during("measuring between events"))?;
        Ok(f64::from(milliseconds) / 1e3)
    }
}

impl Gpu {
    /// Marks the work queued on a lane so far.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn mark(&self, lane: Lane) -> Result<Mark, CudaError> {
        let event = Event::new(&self.primary, Purpose::Measure)?;
        event.record(self.primary.stream(lane))?;
        Ok(Mark(event))
    }

    /// What is queued on `lane` from now on comes after all that is queued on a lane of `first`, which may be
    /// this device, so far.
    ///
    /// # Errors
    /// If the driver refuses; that work is done then, because whoever cannot be told to wait must find it so.
    pub fn after(&self, lane: Lane, first: &Gpu, first_lane: Lane) -> Result<(), CudaError> {
        // Another thread may record the event again in between: then the wait covers more, never less.
        let (end, stream) = (&first.ends[first_lane as usize], first.primary.stream(first_lane));
        end.record(stream)
            .and_then(|()| end.hold(&self.primary, self.primary.stream(lane)))
            .inspect_err(|_| first.primary.settle(stream))
    }

    /// Work queued on a stream of another library from now on waits for all work queued here so far.
    ///
    /// # Errors
    /// If the driver refuses.
    ///
    /// # Safety
    /// `stream` is a live stream of this device's primary context, or one of the driver's special ones.
    pub unsafe fn publish_to(&self, stream: u64) -> Result<(), CudaError> {
        let event = Event::new(&self.primary, Purpose::Order)?;
        event.record(self.primary.stream(Lane::Compute))?;
        event.hold(&self.primary, stream as sys::CUstream)
    }

    /// Work queued here from now on waits for all work another library has queued on its stream so far.
    ///
    /// # Errors
    /// If the driver refuses.
    ///
    /// # Safety
    /// As for [`Gpu::publish_to`].
    pub unsafe fn await_stream(&self, stream: u64) -> Result<(), CudaError> {
        let event = Event::new(&self.primary, Purpose::Order)?;
        event.record(stream as sys::CUstream)?;
        event.hold(&self.primary, self.primary.stream(Lane::Compute))
    }
}
