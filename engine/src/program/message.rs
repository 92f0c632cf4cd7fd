//! A message between ranks: its peer, its memory and its transport, and how it is posted, sent and received.
//! A staged message is copied from its devices to host memory in chunks that start before the host waits for
//! them, so that later work keeps the devices busy meanwhile.

use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::ipc::IpcMemory;
use super::place::{MemorySpan, span_bytes, split_range};
use crate::device::{DeviceKind, Download, LentMemory, Stream};
use crate::error::Result;
use crate::wire::{MessageChunk, Ranks, chunks_of, staged_chunks};

/// The transport of the moves between two parts. It is chosen from the kinds of the devices and the links
/// between the ranks, so both ends choose the same.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Transport {
    /// A copy kernel between two memories of one device.
    SameDevice,
    /// Through packed memory on one device, because source and destination are one memory.
    SameMemory,
    /// Packed, copied by the driver from GPU to GPU, unpacked.
    Peer,
    /// Packed, copied through host memory (between ranks in chunks), unpacked.
    Staged,
    /// Between ranks of one machine: the receiver maps the sender's packed memory (CUDA IPC) and copies from
    /// device to device.
    Ipc,
    /// Between ranks: packed, sent and received by NCCL from device to device.
    Nccl,
    /// Between ranks: host memory that the wire reads and writes in place.
    ZeroCopy,
    /// Between ranks: device memory that the wire reads and writes in place.
    DevicePointers,
}

impl Transport {
    /// Whether the wire reads and writes the memory in place.
    pub fn is_in_place(self) -> bool {
        matches!(self, Transport::ZeroCopy | Transport::DevicePointers)
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Transport::SameDevice => "kernel",
            Transport::SameMemory => "packed",
            Transport::Peer => "peer",
            Transport::Staged => "staged",
            Transport::Ipc => "CUDA IPC",
            Transport::Nccl => "NCCL",
            Transport::ZeroCopy => "in place",
            Transport::DevicePointers => "device pointers",
        })
    }
}

/// One message, as its sender or its receiver has it.
#[derive(Clone)]
pub struct Message {
    /// The ranks of both.
    pub ranks: Ranks,
    /// The other rank.
    pub peer: usize,
    /// The memory that is sent, or received into; spans follow each other.
    pub memory: Vec<MemorySpan>,
    /// The same on both ranks.
    pub transport: Transport,
    /// The exports and imports of this rank, for [`Transport::Ipc`] alone.
    pub ipc: Option<Arc<IpcMemory>>,
}

/// Chunks of messages in place are as long as the spans.
const UNCUT: u64 = 1 << 62;

impl Message {
    /// A message that is staged.
    pub fn staged(ranks: &Ranks, peer: usize, memory: Vec<MemorySpan>) -> Message {
        Message { ranks: ranks.clone(), peer, memory, transport: Transport::Staged, ipc: None }
    }

    /// The number of bytes that the wire carries.
    pub(crate) fn wire_bytes(&self) -> u64 {
        match self.transport {
            Transport::Ipc => IpcMemory::message_bytes(self.memory.len()),
            // It is announced only.
            Transport::Nccl => 0,
            _ => span_bytes(&self.memory),
        }
    }

    /// As a trace calls it on the sender's side.
    pub(super) fn send_name(&self) -> &'static str {
        match self.transport {
            Transport::Ipc => "export",
            Transport::Nccl => "announce",
            Transport::ZeroCopy | Transport::DevicePointers => "send in place",
            _ => "send",
        }
    }

    fn chunks_in_place(&self) -> Vec<MessageChunk> {
        let lengths: Vec<u64> = self.memory.iter().map(|span| span.bytes).collect();
        chunks_of(&lengths, UNCUT)
    }

    pub(super) fn post_receive_in_place(&self) -> Result<()> {
        self.ranks.post_receive_chunks(self.peer, &self.chunks_in_place(), |chunk| self.lent(chunk))
    }

    pub(super) fn send(&self, stream: Stream, download: &MessageDownload) -> Result<()> {
        let Message { ranks, peer, memory, .. } = self;
        let fill = |offset: u64, out: &mut [u8]| download.copy_chunk(stream, memory, offset, out);
        match &self.ipc {
            Some(ipc) if self.transport == Transport::Ipc => ipc.export(stream, ranks, *peer, memory),
            _ if self.transport.is_in_place() => {
                ranks.send_chunks(*peer, &self.chunks_in_place(), |chunk| self.lent(chunk), fill)
            }
            _ => ranks.send(*peer, self.wire_bytes(), fill),
        }
    }

    pub(super) fn receive(&self, stream: Stream) -> Result<()> {
        let Message { ranks, peer, memory, .. } = self;
        let put = |offset: u64, bytes: &[u8]| {
            split_range(memory, offset, bytes.len()).try_for_each(|(span, at, range)| {
                span.device.upload_on(stream, &span.allocation, at, &bytes[range])
            })
        };
        match &self.ipc {
            Some(ipc) if self.transport == Transport::Ipc => ipc.import(stream, ranks, *peer, memory),
            _ if self.transport.is_in_place() => {
                ranks.receive_chunks(*peer, self.chunks_in_place().len(), put)
            }
            _ => ranks.receive(*peer, self.wire_bytes(), put),
        }
    }

    /// The memory of a chunk, if that is contiguous in one allocation that has an address.
    fn lent(&self, chunk: MessageChunk) -> Option<LentMemory> {
        let mut parts = split_range(&self.memory, chunk.offset, chunk.bytes);
        let (first, begin, range) = parts.next()?;
        let mut next = begin + range.len() as u64;
        for (span, at, range) in parts {
            if span.allocation.id != first.allocation.id || at != next {
                return None;
            }
            next += range.len() as u64;
        }
        first.allocation.lend(begin, chunk.bytes as u64)
    }
}

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

/// The number of chunks of a message that are started at once: two on a CUDA stream, so that the second is in
/// flight while the first is copied and sent; many on a wgpu device, whose single queue would put later ones
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
