//! Commands: what an evaluation or an exchange does, as data. A [`Schedule`] is built completely before it
//! runs, so it can be run, kept, and run again by a `Loop`. Commands name allocations and programs, not
//! arrays.

use std::sync::Arc;

use partita_kernels::Access;

use super::ipc::IpcMemory;
use super::message::Message;
use super::message_download::MessageDownload;
use super::span::MemorySpan;
use crate::device::{Allocation, Device, Job, Stream};
use crate::wire::{CollectiveSignature, Ranks};

/// Commands in the order they must take effect.
pub type Schedule = Vec<Command>;

/// An operation on a stream of the devices that it uses. A transfer on [`Stream::Exchange`] makes no other
/// stream wait: that needs [`Op::StreamWait`].
#[derive(Clone)]
pub struct Command {
    /// The stream.
    pub stream: Stream,
    /// The operation.
    pub op: Op,
}

impl Command {
    /// The same operation on another stream.
    pub fn on(self, stream: Stream) -> Command {
        Command { stream, ..self }
    }
}

impl From<Op> for Command {
    /// On [`Stream::Compute`].
    fn from(op: Op) -> Command {
        Command { stream: Stream::Compute, op }
    }
}

/// What a command does.
#[derive(Clone)]
pub enum Op {
    /// A kernel on one device.
    Launch {
        /// The device.
        device: Device,
        /// The kernel and its memory.
        job: Job,
    },
    /// Jobs of one program over independent boxes, in any order: one launch where the device can.
    BatchedCopy {
        /// The device.
        device: Device,
        /// The kernel and the memory of each box.
        jobs: Vec<Job>,
    },
    /// A copy between memories of different devices.
    Transfer {
        /// The device of `from`.
        from_device: Device,
        /// Source.
        from: Arc<Allocation>,
        /// The first byte in it.
        from_offset: u64,
        /// The device of `to`.
        to_device: Device,
        /// Destination.
        to: Arc<Allocation>,
        /// The first byte in it.
        to_offset: u64,
        /// The number of bytes.
        bytes: u64,
    },
    /// Records the hash of a kernel and its arguments, which the next collective operation compares.
    RecordHash {
        /// The ranks that compute the same.
        ranks: Ranks,
        /// The hash.
        computed: u64,
    },
    /// All ranks begin the same exchange.
    BeginCollective {
        /// The ranks.
        ranks: Ranks,
        /// What they compare.
        signature: Arc<CollectiveSignature>,
    },
    /// Posts the receive of a message that [`Op::Receive`] completes later.
    PostReceive {
        /// The ranks of both.
        ranks: Ranks,
        /// The sender.
        from: usize,
        /// The number of bytes on the wire.
        bytes: u64,
    },
    /// As [`Op::PostReceive`], for a message that is received in place; waits for the devices.
    PostReceiveInPlace(Message),
    /// Starts to copy a staged message from devices to host memory; waits for nothing.
    StartDownload {
        /// The message.
        memory: Vec<MemorySpan>,
        /// Where [`Op::Send`] finds it.
        download: MessageDownload,
    },
    /// Sends a message; waits for the devices and not for the other rank.
    Send {
        /// The message.
        message: Message,
        /// What [`Op::StartDownload`] has started of it, if anything.
        download: MessageDownload,
    },
    /// Waits for a message and copies it to its memory.
    Receive(Message),
    /// Waits until all sends are complete.
    WaitAll {
        /// The ranks.
        ranks: Ranks,
    },
    /// Waits until other ranks have queued their reads of exported memory; later commands come after the
    /// reads.
    WaitForReaders {
        /// The ranks.
        ranks: Ranks,
        /// The exports.
        ipc: Arc<IpcMemory>,
    },
    /// Work queued on `then` from now on comes after the work queued on `first` so far.
    StreamWait {
        /// The stream that is waited for.
        first: (Device, Stream),
        /// The stream that waits.
        then: (Device, Stream),
    },
}

impl Op {
    /// The jobs that it launches.
    pub fn jobs(&self) -> &[Job] {
        match self {
            Op::Launch { job, .. } => std::slice::from_ref(job),
            Op::BatchedCopy { jobs, .. } => jobs,
            _ => &[],
        }
    }

    /// The same, to be changed.
    pub(crate) fn jobs_mut(&mut self) -> &mut [Job] {
        match self {
            Op::Launch { job, .. } => std::slice::from_mut(job),
            Op::BatchedCopy { jobs, .. } => jobs,
            _ => &mut [],
        }
    }

    /// Every memory that it uses, with its device and how it is accessed. All other questions about the
    /// memory of an operation are answered from this.
    pub fn memory(&self) -> Vec<(&Device, &Arc<Allocation>, Access)> {
        fn spans(spans: &[MemorySpan], access: Access) -> Vec<(&Device, &Arc<Allocation>, Access)> {
            spans.iter().map(|span| (&span.device, &span.allocation, access)).collect()
        }
        match self {
            Op::Launch { device, .. } | Op::BatchedCopy { device, .. } => {
                let job = |job: &'_ Job| -> Vec<Access> {
                    job.program.kernel().kernel().params.iter().map(|param| param.access).collect()
                };
                let uses = self.jobs().iter().flat_map(|one| one.memory.iter().zip(job(one)));
                uses.map(|(memory, access)| (device, memory, access)).collect()
            }
            Op::Transfer { from_device, from, to_device, to, .. } => {
                vec![(from_device, from, Access::In), (to_device, to, Access::Out)]
            }
            Op::StartDownload { memory, .. } => spans(memory, Access::In),
            Op::Send { message, .. } => spans(&message.memory, Access::In),
            Op::PostReceiveInPlace(message) | Op::Receive(message) => spans(&message.memory, Access::Out),
            Op::RecordHash { .. }
            | Op::BeginCollective { .. }
            | Op::PostReceive { .. }
            | Op::WaitAll { .. }
            | Op::WaitForReaders { .. }
            | Op::StreamWait { .. } => Vec::new(),
        }
    }

    /// The memory that it reads.
    pub fn reads(&self) -> impl Iterator<Item = &Arc<Allocation>> {
        self.memory().into_iter().filter(|(.., access)| *access != Access::Out).map(|(_, memory, _)| memory)
    }

    /// The memory that it writes.
    pub fn writes(&self) -> impl Iterator<Item = &Arc<Allocation>> {
        self.memory().into_iter().filter(|(.., access)| *access != Access::In).map(|(_, memory, _)| memory)
    }

    /// The devices whose memory it uses, each once.
    pub fn devices(&self) -> Vec<&Device> {
        let mut devices: Vec<&Device> = Vec::new();
        for (device, ..) in self.memory() {
            if !devices.contains(&device) {
                devices.push(device);
            }
        }
        devices
    }

    /// Whether it neither uses the memory of a device nor waits for anything that does.
    pub fn is_host_only(&self) -> bool {
        matches!(self, Op::RecordHash { .. } | Op::BeginCollective { .. } | Op::PostReceive { .. })
    }

    /// Whether memory may be freed only after it: the stream by which a device orders its memory waits for
    /// another.
    pub(super) fn is_join(&self) -> bool {
        matches!(self, Op::StreamWait { then: (_, Stream::Compute), .. })
    }
}
