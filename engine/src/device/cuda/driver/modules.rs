//! [`RetiredModules`]: modules of programs that nobody uses any more. They are unloaded when the device has
//! done what was queued until then. Nothing waits for that: each time another module is about to be loaded,
//! and after waits, what has become free is unloaded.
//!
//! Invariant: none is unloaded while a thread of this process captures a graph, which the driver would break
//! off.

use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard};

use cudarc::driver::{result, sys};

use super::primary::{During, Event, Primary, Purpose};
use crate::device::Stream;
use crate::device::cuda::error::CudaError;

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
