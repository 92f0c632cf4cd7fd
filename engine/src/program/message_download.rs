//! Asynchronous downloads of staged messages: a message is copied from its devices to host memory in chunks
//! that start before the host waits for them, so that later work keeps the devices busy meanwhile.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::span::{MemorySpan, span_bytes, split_range};
use crate::device::{DeviceKind, Download, Stream};
use crate::error::Result;
use crate::wire::{MessageChunk, staged_chunks};

/// The started downloads of one message. Clones name the same.
#[derive(Clone, Default)]
pub struct MessageDownload(Arc<Mutex<DownloadState>>);

#[derive(Default)]
struct DownloadState {
    started: VecDeque<ChunkDownload>,
    /// Chunks that have not started.
    left: VecDeque<MessageChunk>,
}

/// The downloads of one chunk from its devices, and their ranges in it. Host memory is copied later.
struct ChunkDownload(Vec<(Download, Range<usize>)>);

/// How many chunks of a message are started at once: two on a CUDA stream, so that the second is in flight
/// while the first is copied and sent; many on a wgpu device, whose single queue would put later ones
/// behind the computation. Staging memory bounds them.
fn most_started(memory: &[MemorySpan]) -> usize {
    let most = |span: &MemorySpan| match span.device.kind() {
        DeviceKind::Host => 0,
        DeviceKind::Cuda => 2,
        DeviceKind::Wgpu => 64,
    };
    memory.iter().map(most).max().unwrap_or(0)
}

impl MessageDownload {
    fn state(&self) -> MutexGuard<'_, DownloadState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether any of the memory is a device's.
    pub(crate) fn is_useful(memory: &[MemorySpan]) -> bool {
        most_started(memory) > 0
    }

    /// Starts a message, behind the work queued on a stream so far.
    pub(super) fn start(&self, stream: Stream, memory: &[MemorySpan]) -> Result<()> {
        let mut left: VecDeque<MessageChunk> = staged_chunks(span_bytes(memory)).into();
        let first = left.drain(..most_started(memory).min(left.len()));
        let started = first.map(|chunk| ChunkDownload::new(stream, memory, chunk)).collect::<Result<_>>()?;
        *self.state() = DownloadState { started, left };
        Ok(())
    }

    /// Copies the next chunk of the message, which begins at `offset`, and starts another one. A message that
    /// was not started is copied now.
    pub(super) fn copy_chunk(
        &self,
        stream: Stream,
        memory: &[MemorySpan],
        offset: u64,
        out: &mut [u8],
    ) -> Result<()> {
        let mut state = self.state();
        let Some(ChunkDownload(parts)) = state.started.pop_front() else {
            return split_range(memory, offset, out.len()).try_for_each(|(span, at, range)| {
                span.device.download_on(stream, &span.allocation, at, &mut out[range])
            });
        };
        for (span, at, range) in split_range(memory, offset, out.len()) {
            if span.device.kind() == DeviceKind::Host {
                span.device.download_on(stream, &span.allocation, at, &mut out[range])?;
            }
        }
        parts.into_iter().try_for_each(|(download, range)| download.finish(&mut out[range]))?;
        if let Some(chunk) = state.left.pop_front() {
            state.started.push_back(ChunkDownload::new(stream, memory, chunk)?);
        }
        Ok(())
    }
}

impl ChunkDownload {
    fn new(stream: Stream, memory: &[MemorySpan], chunk: MessageChunk) -> Result<ChunkDownload> {
        let parts = split_range(memory, chunk.offset, chunk.bytes).filter_map(|(span, at, range)| {
            let download =
                span.device.start_download(stream, &span.allocation, at, range.len()).transpose()?;
            Some(download.map(|download| (download, range)))
        });
        Ok(ChunkDownload(parts.collect::<Result<_>>()?))
    }
}
