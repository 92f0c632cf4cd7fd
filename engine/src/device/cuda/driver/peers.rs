//! [`NcclPeers`]: devices of other ranks, with which a GPU exchanges memory by NCCL, in stream order.
//!
//! Invariant: the communicator is used by one thread at a time, and by nobody once it was taken to be ended.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use cudarc::driver::sys;

use super::gpu::{CudaDevice, within};
use super::primary::{During, Event, Primary, Purpose};
use crate::device::cuda::error::CudaError;
use crate::device::cuda::vendor::{Comm, GroupPart, nccl};
use crate::device::driver::{DriverResult, GroupedSpan, PeerGroup, Stream};
use crate::device::process_id;

/// The communicator of a device with those of other ranks.
pub(super) struct NcclPeers {
    primary: Arc<Primary>,
    comm: Mutex<Option<Comm>>,
    is_captured: bool,
    /// Before and after the latest group.
    begin: Event,
    end: Event,
    process: u32,
}

/// The longest that a communicator is given to end in order.
const MOST_TO_END: Duration = Duration::from_secs(2);
/// The longest that a group is prepared while it is captured.
const MOST_TO_CAPTURE: Duration = Duration::from_secs(10);
const MOMENT: Duration = Duration::from_micros(50);

impl CudaDevice {
    /// Begins to connect with the devices of other ranks.
    pub(super) fn peers(&self, id: &[u8; 128], rank: usize, count: usize) -> Result<NcclPeers, CudaError> {
        let nccl = nccl().map_err(CudaError::Library)?;
        let begin = || Comm::begin(nccl, id, rank, count).map_err(CudaError::Library);
        let comm = Mutex::new(Some(self.primary.with(begin)?));
        let point = || Event::new(&self.primary, Purpose::Order);
        let (begin, end) = (point()?, point()?);
        let (primary, process) = (Arc::clone(&self.primary), process_id());
        let is_captured = nccl.is_captured();
        Ok(NcclPeers { primary, comm, is_captured, begin, end, process })
    }
}

impl NcclPeers {
    fn comm(&self) -> MutexGuard<'_, Option<Comm>> {
        self.comm.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls the library with a communicator that was not ended.
    fn with<T>(&self, call: impl FnOnce(&Comm) -> Result<T, String>) -> Result<T, CudaError> {
        let comm = self.comm();
        let ended = || CudaError::Library("NCCL's communicator was ended because a rank failed".to_owned());
        let comm = comm.as_ref().ok_or_else(ended)?;
        self.primary.with(|| call(comm).map_err(CudaError::Library))
    }

    fn queue(&self, stream: sys::CUstream, spans: &[GroupedSpan]) -> Result<(), CudaError> {
        let part = |span: &GroupedSpan| GroupPart {
            sends: span.sends,
            peer: span.peer,
            address: within(&span.allocation, span.offset),
            bytes: span.bytes,
        };
        let some = spans.iter().filter(|span| span.bytes > 0).map(part);
        // SAFETY: the engine has checked the ranges, and keeps the memory until the work is done.
        self.with(|comm| unsafe { comm.group(some, stream.cast()) })
    }

    /// Queues a group on a stream that is captured.
    pub(super) fn capture(&self, stream: sys::CUstream, spans: &[GroupedSpan]) -> Result<(), CudaError> {
        self.queue(stream, spans)?;
        let begin = Instant::now();
        while !self.with(Comm::is_ready)? {
            if begin.elapsed() > MOST_TO_CAPTURE {
                return Err(CudaError::Library("NCCL: a group is not ready to be captured".to_owned()));
            }
            std::thread::sleep(MOMENT);
        }
        Ok(())
    }

    /// Whether the device has come to a point in order: one that was let go on after a failure is an error.
    fn is_reached(&self, point: &Event) -> Result<bool, CudaError> {
        // SAFETY: the event is alive.
        let code = self.primary.with(|| Ok(unsafe { sys::cuEventQuery(point.raw) }))?;
        let is_reached = match code {
            sys::CUresult::CUDA_ERROR_NOT_READY => false,
            code => code.result().during("asking for messages").map(|()| true)?,
        };
        self.with(Comm::is_ready).map(|_| is_reached)
    }

    /// Takes the communicator, and ends it in a thread of its own: that may wait for graphs of this one.
    fn abandon(&self) {
        let Some(comm) = self.comm().take() else { return };
        let primary = Arc::clone(&self.primary);
        let end = move || {
            let end = || {
                comm.abort();
                Ok(())
            };
            // On a lost device there is nothing to report.
            let _ = primary.with(end);
        };
        // Without a thread it stays as it is, and so does what waits.
        let _ = std::thread::Builder::new().name("partita-abort".to_owned()).spawn(end);
    }
}

impl PeerGroup for NcclPeers {
    fn exchange(&self, stream: Stream, spans: &[GroupedSpan]) -> DriverResult<()> {
        let stream = self.primary.stream(stream);
        self.begin.mark(stream)?;
        Ok(self.queue(stream, spans)?)
    }

    fn is_ready(&self) -> DriverResult<bool> {
        Ok(self.with(Comm::is_ready)?)
    }

    fn mark(&self, stream: Stream) -> DriverResult<()> {
        Ok(self.end.mark(self.primary.stream(stream))?)
    }

    fn has_begun(&self) -> DriverResult<bool> {
        Ok(self.is_reached(&self.begin)?)
    }

    fn is_done(&self) -> DriverResult<bool> {
        Ok(self.is_reached(&self.end)?)
    }

    fn is_captured(&self) -> bool {
        self.is_captured
    }

    fn abort(&self) {
        self.abandon();
    }
}

impl Drop for NcclPeers {
    fn drop(&mut self) {
        if self.process != process_id() {
            // The library is the other process's.
            let _ = self.comm().take();
            return;
        }
        let begin = Instant::now();
        let finalized = self.with(Comm::finalize);
        let is_over = || finalized.is_ok() && self.with(Comm::is_ready).unwrap_or(false);
        while finalized.is_ok() && !is_over() && begin.elapsed() < MOST_TO_END {
            std::thread::sleep(MOMENT);
        }
        if is_over() {
            let comm = self.comm().take();
            let destroy = || {
                comm.into_iter().for_each(Comm::destroy);
                Ok(())
            };
            // On a lost device there is nothing to report.
            let _ = self.primary.with(destroy);
        } else {
            self.abandon();
        }
    }
}
