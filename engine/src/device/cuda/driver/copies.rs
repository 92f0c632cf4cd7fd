//! Copies between the host and a GPU through two pinned chunks, so that the copy into or out of one runs
//! while the other travels; pageable memory would be staged by the driver, one piece at a time. Downloads
//! that are begun and awaited apart have pinned memory of their own on their way.

use std::ffi::c_void;
use std::sync::Arc;

use cudarc::driver::{result, sys};

use super::primary::{During, Event, Primary, Purpose};
use crate::device::Stream;
use crate::device::cuda::error::CudaError;

/// Bytes that travel at once: large enough for the link's full speed, small enough to overlap.
const CHUNK_BYTES: usize = 4 << 20;

/// The shortest pinned memory for a download that is begun: faces of alike sizes share what there is.
const LEAST_BYTES: usize = 64 << 10;

/// So much of such memory is kept for reuse.
const KEPT_BYTES: usize = 64 << 20;

/// Two chunks, allocated when first needed, and what downloads that were begun have let go.
pub(super) struct Staging {
    primary: Arc<Primary>,
    chunks: Vec<Chunk>,
    next: usize,
    spare: Vec<Chunk>,
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
        // What travels still uses the memory. On a lost device nothing travels and nothing is to report.
        let _ = self.idle.wait();
        let start = self.start.cast::<c_void>();
        // SAFETY: allocated in `new`, freed once.
        let _ = self.primary.with(|| unsafe { result::free_host(start) }.during("freeing pinned memory"));
    }
}

impl Staging {
    pub(super) fn new(primary: &Arc<Primary>) -> Staging {
        Staging { primary: Arc::clone(primary), chunks: Vec::new(), next: 0, spare: Vec::new() }
    }

    /// The chunk whose turn it is, idle.
    fn turn(&mut self) -> Result<&Chunk, CudaError> {
        while self.chunks.len() < 2 {
            self.chunks.push(Chunk::new(&self.primary, CHUNK_BYTES)?);
        }
        self.next = 1 - self.next;
        let chunk = &self.chunks[self.next];
        chunk.idle.wait()?;
        Ok(chunk)
    }

    pub(super) fn upload(&mut self, stream: Stream, mut to: u64, data: &[u8]) -> Result<(), CudaError> {
        let stream = self.primary.stream(stream);
        for piece in data.chunks(CHUNK_BYTES) {
            let primary = Arc::clone(&self.primary);
            let chunk = self.turn()?;
            // SAFETY: the chunk is idle, at least as long as the piece, and nobody else's.
            unsafe { std::ptr::copy_nonoverlapping(piece.as_ptr(), chunk.start, piece.len()) };
            // SAFETY: the range lies inside a live buffer; the chunk is not touched before `idle`.
            let send = || unsafe { sys::cuMemcpyHtoDAsync_v2(to, chunk.start.cast(), piece.len(), stream) };
            primary.with(|| send().result().during("uploading"))?;
            chunk.travels(stream)?;
            to += piece.len() as u64;
        }
        Ok(())
    }

    pub(super) fn download(
        &mut self,
        stream: Stream,
        mut from: u64,
        out: &mut [u8],
    ) -> Result<(), CudaError> {
        let stream = self.primary.stream(stream);
        let mut arriving: Option<(usize, &mut [u8])> = None;
        for piece in out.chunks_mut(CHUNK_BYTES) {
            let len = piece.len();
            self.turn()?.fetch(stream, from, len)?;
            from += len as u64;
            if let Some((chunk, piece)) = arriving.replace((self.next, piece)) {
                self.chunks[chunk].land(piece)?;
            }
        }
        arriving.map_or(Ok(()), |(chunk, piece)| self.chunks[chunk].land(piece))
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
