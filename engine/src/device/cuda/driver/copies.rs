//! Copies between the host and a GPU through pinned chunks, so that the copy into or out of one runs while
//! others travel; pageable memory would be staged by the driver, one piece at a time. One core copies at a
//! fraction of the link's speed, so long transfers have several couriers, each a thread with two chunks.
//! Downloads that are begun and awaited apart have pinned memory of their own on their way.

use std::ffi::c_void;
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, ScopedJoinHandle};

use cudarc::driver::{result, sys};

use super::primary::{During, Event, Primary, Purpose};
use crate::config::config;
use crate::device::Stream;
use crate::device::cuda::error::CudaError;

/// Bytes that travel at once: large enough for the link's full speed, small enough to overlap.
const CHUNK_BYTES: usize = 4 << 20;

/// Threads that copy at once, of those the process may use. A core copies 10 GB/s or more; the fastest links
/// carry 50.
const COURIERS: usize = 4;

/// Chunks that are worth a courier: a thread costs as much as a fraction of one.
const CHUNKS_PER_COURIER: usize = 2;

/// The shortest pinned memory for a download that is begun: faces of alike sizes share what there is.
const LEAST_BYTES: usize = 64 << 10;

/// So much of such memory is kept for reuse.
const KEPT_BYTES: usize = 64 << 20;

/// Couriers, made when first needed, and what downloads that were begun have let go.
pub(super) struct Staging {
    primary: Arc<Primary>,
    couriers: Vec<Courier>,
    spare: Vec<Chunk>,
}

/// Two chunks that take turns.
struct Courier {
    chunks: [Chunk; 2],
    next: usize,
}

/// Pinned host memory, and the event after which it may be used again.
struct Chunk {
    primary: Arc<Primary>,
    start: *mut u8,
    bytes: usize,
    idle: Event,
}

/// Bytes on their way into pinned memory of their own.
pub(super) struct PinnedDownload {
    chunk: Chunk,
    bytes: usize,
}

// SAFETY: pinned memory is plain memory, reachable from any thread; the staging's lock guards it.
unsafe impl Send for Chunk {}

impl Chunk {
    fn new(primary: &Arc<Primary>, bytes: usize) -> Result<Chunk, CudaError> {
        let idle = Event::new(primary, Purpose::Order)?;
        // SAFETY: the memory is written before it is read. Not write-combined, which is slow to read.
        let allocate = || unsafe { result::malloc_host(bytes, sys::CU_MEMHOSTALLOC_PORTABLE) };
        let start = primary.with(|| allocate().during("allocating pinned memory"))?.cast::<u8>();
        Ok(Chunk { primary: Arc::clone(primary), start, bytes, idle })
    }

    /// Marks when what was just queued has let go of the chunk. Where that cannot be marked it is waited for:
    /// the next transfer through the chunk must not meet this one.
    fn travels(&self, stream: sys::CUstream) -> Result<(), CudaError> {
        self.idle.mark(stream).inspect_err(|_| self.primary.wait_stream(stream))
    }

    /// Begins to fill it from device memory.
    fn fetch(&self, stream: sys::CUstream, from: u64, bytes: usize) -> Result<(), CudaError> {
        debug_assert!(bytes <= self.bytes);
        // SAFETY: the range lies inside a live buffer; the chunk is not touched before `idle`.
        let fetch = || unsafe { sys::cuMemcpyDtoHAsync_v2(self.start.cast(), from, bytes, stream) };
        self.primary.with(|| fetch().result().during("downloading"))?;
        self.travels(stream)
    }

    /// Copies out what has come, after the wait for it.
    fn land(&self, piece: &mut [u8]) -> Result<(), CudaError> {
        self.idle.wait()?;
        // SAFETY: the transfer into the chunk is over; it is at least as long as the piece.
        unsafe { std::ptr::copy_nonoverlapping(self.start, piece.as_mut_ptr(), piece.len()) };
        Ok(())
    }
}

impl PinnedDownload {
    /// Waits for the bytes and copies them out.
    pub(super) fn land(&self, out: &mut [u8]) -> Result<(), CudaError> {
        self.chunk.land(&mut out[..self.bytes])
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        // Copies under way still use the memory. A lost device has none, and nothing to report.
        let _ = self.idle.wait();
        let start = self.start.cast::<c_void>();
        // SAFETY: allocated in `new`, freed once.
        let _ = self.primary.with(|| unsafe { result::free_host(start) }.during("freeing pinned memory"));
    }
}

impl Staging {
    pub(super) fn new(primary: &Arc<Primary>) -> Staging {
        Staging { primary: Arc::clone(primary), couriers: Vec::new(), spare: Vec::new() }
    }

    /// The couriers of a transfer of so many bytes.
    fn couriers(&mut self, bytes: usize) -> Result<&mut [Courier], CudaError> {
        let worthwhile = bytes.div_ceil(CHUNK_BYTES) / CHUNKS_PER_COURIER;
        let couriers = worthwhile.min(COURIERS).min(config().threads).max(1);
        while self.couriers.len() < couriers {
            let chunk = || Chunk::new(&self.primary, CHUNK_BYTES);
            self.couriers.push(Courier { chunks: [chunk()?, chunk()?], next: 0 });
        }
        Ok(&mut self.couriers[..couriers])
    }

    pub(super) fn upload(&mut self, stream: Stream, to: u64, data: &[u8]) -> Result<(), CudaError> {
        let pieces = Mutex::new((to..).step_by(CHUNK_BYTES).zip(data.chunks(CHUNK_BYTES)));
        at_once(self.couriers(data.len())?, |courier| courier.upload(stream, &pieces))
    }

    pub(super) fn download(&mut self, stream: Stream, from: u64, out: &mut [u8]) -> Result<(), CudaError> {
        let couriers = self.couriers(out.len())?;
        let pieces = Mutex::new((from..).step_by(CHUNK_BYTES).zip(out.chunks_mut(CHUNK_BYTES)));
        at_once(couriers, |courier| courier.download(stream, &pieces))
    }

    /// Begins a download into the shortest idle memory that is long enough.
    pub(super) fn start_download(
        &mut self,
        stream: Stream,
        from: u64,
        bytes: usize,
    ) -> Result<PinnedDownload, CudaError> {
        let fitting = self.spare.iter().enumerate().filter(|(_, chunk)| chunk.bytes >= bytes);
        let chunk = match fitting.min_by_key(|(_, chunk)| chunk.bytes).map(|(at, _)| at) {
            Some(at) => self.spare.swap_remove(at),
            None => Chunk::new(&self.primary, bytes.next_power_of_two().max(LEAST_BYTES))?,
        };
        chunk.fetch(self.primary.stream(stream), from, bytes)?;
        Ok(PinnedDownload { chunk, bytes })
    }

    /// Takes back the memory of a download that has landed.
    pub(super) fn keep(&mut self, PinnedDownload { chunk, .. }: PinnedDownload) {
        let kept: usize = self.spare.iter().map(|chunk| chunk.bytes).sum();
        if kept + chunk.bytes <= KEPT_BYTES {
            self.spare.push(chunk);
        }
    }
}

/// Lets every courier work, each on a thread of its own but one; fewer threads do what is to do too.
fn at_once(
    couriers: &mut [Courier],
    work: impl Fn(&mut Courier) -> Result<(), CudaError> + Sync,
) -> Result<(), CudaError> {
    let Some((own, others)) = couriers.split_first_mut() else { return Ok(()) };
    let work = &work;
    thread::scope(|scope| {
        let start = |courier| thread::Builder::new().spawn_scoped(scope, move || work(courier)).ok();
        let started: Vec<_> = others.iter_mut().filter_map(start).collect();
        let first = work(own);
        let join = |courier: ScopedJoinHandle<_>| courier.join().unwrap_or_else(|panic| resume_unwind(panic));
        started.into_iter().map(join).fold(first, Result::and)
    })
}

/// The next piece that nobody has taken.
fn next<T>(pieces: &Mutex<impl Iterator<Item = T>>) -> Option<T> {
    pieces.lock().unwrap_or_else(PoisonError::into_inner).next()
}

impl Courier {
    /// The chunk whose turn it is, idle, and the other one.
    fn turn(&mut self) -> Result<[&Chunk; 2], CudaError> {
        self.next = 1 - self.next;
        let turn = [&self.chunks[self.next], &self.chunks[1 - self.next]];
        turn[0].idle.wait()?;
        Ok(turn)
    }

    /// Sends pieces to where they go, as long as there are any.
    fn upload<'a>(
        &mut self,
        stream: Stream,
        pieces: &Mutex<impl Iterator<Item = (u64, &'a [u8])>>,
    ) -> Result<(), CudaError> {
        while let Some((to, piece)) = next(pieces) {
            let [chunk, _] = self.turn()?;
            let stream = chunk.primary.stream(stream);
            // SAFETY: the chunk is idle, at least as long as the piece, and nobody else's.
            unsafe { std::ptr::copy_nonoverlapping(piece.as_ptr(), chunk.start, piece.len()) };
            // SAFETY: the range lies inside a live buffer; the chunk is not touched before `idle`.
            let send = || unsafe { sys::cuMemcpyHtoDAsync_v2(to, chunk.start.cast(), piece.len(), stream) };
            chunk.primary.with(|| send().result().during("uploading"))?;
            chunk.travels(stream)?;
        }
        Ok(())
    }

    /// Fetches pieces from where they are, as long as there are any.
    fn download<'a>(
        &mut self,
        stream: Stream,
        pieces: &Mutex<impl Iterator<Item = (u64, &'a mut [u8])>>,
    ) -> Result<(), CudaError> {
        let mut arriving: Option<&mut [u8]> = None;
        while let Some((from, piece)) = next(pieces) {
            let [chunk, other] = self.turn()?;
            chunk.fetch(chunk.primary.stream(stream), from, piece.len())?;
            if let Some(piece) = arriving.replace(piece) {
                other.land(piece)?;
            }
        }
        arriving.map_or(Ok(()), |piece| self.chunks[self.next].land(piece))
    }
}
