//! A device's primary context and our two streams in it: made current for every call, and the one that was
//! current before restored, because other libraries of the process use the same thread. Events: points in a
//! stream's work, to wait for and to measure between.
//!
//! A thread on which no context is current has device 0 for every library of CUDA's runtime. So the context
//! of device 0 stays current there: later calls find it, and nobody can tell. Any other would change what
//! `torch.cuda.current_device()` says.
//!
//! [`RetiredModules`]: modules of programs that nobody uses any more. They are unloaded when the device has
//! done what was queued until then. Nothing waits for that: each time another module is about to be loaded,
//! and after waits, what has become free is unloaded.
//!
//! Invariant: none is unloaded while a thread of this process captures a graph, which the driver would break
//! off.

use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard};

use cudarc::driver::{DriverError, result, sys};

use crate::device::cuda::error::{CudaError, RETAINING};
use crate::device::{Stream, process_id};
/// Names the operation a driver call served.
pub(super) trait During<T> {
    fn during(self, operation: &'static str) -> Result<T, CudaError>;
}

impl<T> During<T> for Result<T, DriverError> {
    fn during(self, operation: &'static str) -> Result<T, CudaError> {
        let text = |words: Result<&std::ffi::CStr, DriverError>| {
            words.map_or("unknown".to_owned(), |words| words.to_string_lossy().into_owned())
        };
        self.map_err(|error| CudaError::Driver {
            operation,
            code: text(error.error_name()),
            text: text(error.error_string()),
        })
    }
}

/// The primary context, retained, and a stream of ours per stream.
pub(super) struct Primary {
    pub device: sys::CUdevice,
    pub handle: sys::CUcontext,
    /// By [`Stream`]; null until made.
    streams: [sys::CUstream; 2],
    process: u32,
}

// SAFETY: the driver's handles may be used from any thread.
unsafe impl Send for Primary {}
// SAFETY: as for Send; driver calls are thread-safe.
unsafe impl Sync for Primary {}

impl Primary {
    pub(super) fn retain(device: sys::CUdevice) -> Result<Primary, CudaError> {
        // SAFETY: `device` comes from the driver.
        let handle = unsafe { result::primary_ctx::retain(device) }.during(RETAINING)?;
        let process = process_id();
        let mut primary = Primary { device, handle, streams: [std::ptr::null_mut(); 2], process };
        for stream in Stream::ALL {
            primary.streams[stream as usize] = primary.with(|| primary.new_stream(stream))?;
        }
        Ok(primary)
    }

    pub(super) fn stream(&self, stream: Stream) -> sys::CUstream {
        self.streams[stream as usize]
    }

    /// A new stream for work of a stream; the context is current. What is beside the computation is short and
    /// others wait for it, so it comes first.
    pub(super) fn new_stream(&self, stream: Stream) -> Result<sys::CUstream, CudaError> {
        let operation = "creating a stream";
        let (least, greatest) = result::stream::get_priority_range().during(operation)?;
        let priority = match stream {
            Stream::Compute => least,
            Stream::Exchange => greatest,
        };
        let kind = result::stream::StreamKind::NonBlocking;
        result::stream::create_with_priority(kind, priority).during(operation)
    }

    /// Waits for a stream whose end could not be marked. A device that is lost has nothing under way.
    pub(super) fn wait_stream(&self, stream: sys::CUstream) {
        // SAFETY: streams passed here are alive and of this device.
        let _ = self.with(|| unsafe { result::stream::synchronize(stream) }.during("waiting for the device"));
    }

    /// Runs `calls` with the context current.
    pub(super) fn with<T>(&self, calls: impl FnOnce() -> Result<T, CudaError>) -> Result<T, CudaError> {
        if process_id() != self.process {
            return Err(CudaError::Forked);
        }
        let operation = "making the device current";
        let before = result::ctx::get_current().during(operation)?;
        if before == Some(self.handle) {
            return calls();
        }
        // SAFETY: retained until drop.
        unsafe { result::ctx::set_current(self.handle) }.during(operation)?;
        let outcome = calls();
        if before.is_some() || self.device != 0 {
            // SAFETY: it was current a moment ago; null means none.
            let restored = unsafe { result::ctx::set_current(before.unwrap_or(std::ptr::null_mut())) };
            restored.during(operation)?;
        }
        outcome
    }
}

impl Drop for Primary {
    fn drop(&mut self) {
        // A lost device refuses to give anything back; there is nobody to tell and nothing to save.
        for stream in self.streams.into_iter().filter(|stream| !stream.is_null()) {
            // SAFETY: created in `retain`, destroyed once.
            let _ = self.with(|| unsafe { result::stream::destroy(stream) }.during("destroying a stream"));
        }
        if process_id() == self.process {
            if matches!(result::ctx::get_current(), Ok(Some(current)) if current == self.handle) {
                // It may end now, and must not be what a later call finds and restores.
                // SAFETY: null means none.
                let _ = unsafe { result::ctx::set_current(std::ptr::null_mut()) };
            }
            // SAFETY: retained once in `retain`.
            let _ = unsafe { result::primary_ctx::release(self.device) };
        }
    }
}

/// A stream beside those of the computation and the exchanges.
pub(super) struct OwnStream {
    primary: Arc<Primary>,
    pub raw: sys::CUstream,
}

// SAFETY: the driver's handles may be used from any thread.
unsafe impl Send for OwnStream {}
// SAFETY: as for Send; driver calls are thread-safe.
unsafe impl Sync for OwnStream {}

impl OwnStream {
    pub(super) fn new(primary: &Arc<Primary>) -> Result<OwnStream, CudaError> {
        let raw = primary.with(|| primary.new_stream(Stream::Exchange))?;
        Ok(OwnStream { primary: Arc::clone(primary), raw })
    }
}

impl Drop for OwnStream {
    fn drop(&mut self) {
        // SAFETY: created in `new`, destroyed once. On a lost device there is nothing to report.
        let destroy = || unsafe { result::stream::destroy(self.raw) }.during("destroying a stream");
        let _ = self.primary.with(destroy);
    }
}

/// A point in a stream's work.
pub(super) struct Event {
    pub primary: Arc<Primary>,
    pub raw: sys::CUevent,
}

/// The purpose of an event; one that is not measured costs less.
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

    /// The event is reached when all work queued on `stream` so far is done.
    pub(super) fn mark(&self, stream: sys::CUstream) -> Result<(), CudaError> {
        // SAFETY: the event is alive; streams passed here belong to its device.
        self.primary.with(|| unsafe { result::event::record(self.raw, stream) }.during("recording an event"))
    }

    /// Work queued on `stream`, of any device, from now on waits for the event.
    pub(super) fn block(&self, on: &Primary, stream: sys::CUstream) -> Result<(), CudaError> {
        use sys::CUevent_wait_flags_enum::CU_EVENT_WAIT_DEFAULT;
        // SAFETY: event and stream are alive.
        let wait = || unsafe { result::stream::wait_event(stream, self.raw, CU_EVENT_WAIT_DEFAULT) };
        on.with(|| wait().during("waiting for an event"))
    }

    /// Whether the work before it is done.
    pub(super) fn is_reached(&self) -> bool {
        // SAFETY: the event is alive.
        self.primary.with(|| unsafe { result::event::query(self.raw) }.during("asking for an event")).is_ok()
    }

    /// Seconds of device time since another event of the device that is timed, as this one is; waits for this
    /// one.
    pub(super) fn seconds_since(&self, earlier: &Event) -> Result<f64, CudaError> {
        self.wait()?;
        // SAFETY: both events are alive, timed, recorded, and of one device.
        let elapsed = || unsafe { result::event::elapsed(earlier.raw, self.raw) };
        let milliseconds = self.primary.with(|| elapsed().during("measuring between events"))?;
        Ok(f64::from(milliseconds) / 1e3)
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

/// Read by captures in progress, of all devices.
static CAPTURES: RwLock<()> = RwLock::new(());

/// Until it is dropped, no module is unloaded.
pub(super) fn capturing() -> RwLockReadGuard<'static, ()> {
    CAPTURES.read().unwrap_or_else(PoisonError::into_inner)
}

/// The modules of one device that nobody uses any more.
pub(super) struct RetiredModules {
    primary: Arc<Primary>,
    waiting: Mutex<Vec<Batch>>,
}

/// Modules that are free once the streams have reached their ends; these are marked at a quiet moment.
#[derive(Default)]
struct Batch {
    modules: Vec<LoadedModule>,
    ends: Vec<Event>,
}

/// A module's handle.
pub(super) struct LoadedModule(pub sys::CUmodule);

// SAFETY: the driver's handles may be used from any thread.
unsafe impl Send for LoadedModule {}

impl RetiredModules {
    pub(super) fn new(primary: &Arc<Primary>) -> RetiredModules {
        RetiredModules { primary: Arc::clone(primary), waiting: Mutex::default() }
    }

    /// Nobody launches the module any more. Calls no driver: this may be any thread at any time.
    pub(super) fn retire(&self, module: LoadedModule) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        match waiting.last_mut().filter(|batch| batch.ends.is_empty()) {
            Some(batch) => batch.modules.push(module),
            None => waiting.push(Batch { modules: vec![module], ends: Vec::new() }),
        }
    }

    /// Unloads what is free; waits for nothing. Not while a stream of this thread captures.
    pub(super) fn unload_free(&self) {
        let (Ok(mut waiting), Ok(_quiet)) = (self.waiting.try_lock(), CAPTURES.try_write()) else { return };
        if let Some(batch) = waiting.last_mut().filter(|batch| batch.ends.is_empty()) {
            // A device that is lost marks nothing; its modules go with it.
            batch.ends = Stream::ALL.into_iter().filter_map(|stream| self.end_of(stream).ok()).collect();
        }
        let is_free = |batch: &mut Batch| {
            batch.ends.len() == Stream::ALL.len() && batch.ends.iter().all(Event::is_reached)
        };
        let free: Vec<Batch> = waiting.extract_if(.., is_free).collect();
        free.iter().for_each(|batch| self.unload(batch));
    }

    fn end_of(&self, stream: Stream) -> Result<Event, CudaError> {
        let event = Event::new(&self.primary, Purpose::Order)?;
        event.mark(self.primary.stream(stream))?;
        Ok(event)
    }

    fn unload(&self, batch: &Batch) {
        for LoadedModule(module) in &batch.modules {
            // SAFETY: loaded once, unloaded once; no function of it is used any more.
            let unload = || unsafe { result::module::unload(*module) }.during("unloading a module");
            // On a lost device there is nothing to report.
            let _ = self.primary.with(unload);
        }
    }
}

impl Drop for RetiredModules {
    /// The device is closed.
    fn drop(&mut self) {
        let waiting = std::mem::take(self.waiting.get_mut().unwrap_or_else(PoisonError::into_inner));
        if !waiting.is_empty() {
            Stream::ALL.into_iter().for_each(|stream| self.primary.wait_stream(self.primary.stream(stream)));
        }
        waiting.iter().for_each(|batch| self.unload(batch));
    }
}
