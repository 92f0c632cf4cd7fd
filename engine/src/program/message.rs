//! A message between ranks: its peer, its memory and its transport, and how it is posted, sent and received.

use std::sync::Arc;

use super::ipc::IpcMemory;
use super::message_download::MessageDownload;
use super::span::{MemorySpan, span_bytes, split_range};
use super::transport::Transport;
use crate::device::{DeviceKind, LentMemory, Stream};
use crate::error::Result;
use crate::wire::{MessageChunk, Ranks, chunks_of};

/// One message, as its sender or its receiver has it.
#[derive(Clone)]
pub struct Message {
    /// The ranks of both.
    pub ranks: Ranks,
    /// The other rank.
    pub peer: usize,
    /// What is sent, or where it is received; spans follow each other.
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
            _ => span_bytes(&self.memory),
        }
    }

    /// As a trace calls it on the sender's side.
    pub(super) fn send_name(&self) -> &'static str {
        match self.transport {
            Transport::Ipc => "export",
            Transport::ZeroCopy | Transport::DevicePointers => "send in place",
            _ => "send",
        }
    }

    fn chunks_in_place(&self) -> Vec<MessageChunk> {
        let lengths: Vec<u64> = self.memory.iter().map(|span| span.bytes).collect();
        chunks_of(&lengths, UNCUT)
    }

    pub(super) fn post_receive_in_place(&self, stream: Stream) -> Result<()> {
        self.wait_for_devices(stream)?;
        self.ranks.post_receive_chunks(self.peer, &self.chunks_in_place(), |chunk| self.lent(chunk))
    }

    pub(super) fn send(&self, stream: Stream, download: &MessageDownload) -> Result<()> {
        let Message { ranks, peer, memory, .. } = self;
        let fill = |offset: u64, out: &mut [u8]| download.copy_chunk(stream, memory, offset, out);
        match &self.ipc {
            Some(ipc) if self.transport == Transport::Ipc => ipc.export(stream, ranks, *peer, memory),
            _ if self.transport.is_in_place() => {
                self.wait_for_devices(stream)?;
                ranks.send_chunks(*peer, &self.chunks_in_place(), |chunk| self.lent(chunk), fill)
            }
            _ => ranks.send(*peer, span_bytes(memory), fill),
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
            _ => ranks.receive(*peer, span_bytes(memory), put),
        }
    }

    /// Waits for the devices whose memory the wire is about to use, because it does not use their queues. The
    /// work that a stream has queued so far comes after everything that used the memory before.
    fn wait_for_devices(&self, stream: Stream) -> Result<()> {
        let mut waited: Vec<&MemorySpan> = Vec::new();
        for span in self.memory.iter().filter(|span| span.device.kind() != DeviceKind::Host) {
            if waited.iter().all(|other| other.device != span.device) {
                span.device.wait_for(stream)?;
                waited.push(span);
            }
        }
        Ok(())
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
