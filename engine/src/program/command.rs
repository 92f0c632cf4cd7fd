//! Commands: what an evaluation or an exchange does, as data, and their execution. A [`Schedule`] is built
//! completely before it runs, so it can be run, kept, and run again by a `Loop`. Commands name allocations
//! and programs, not arrays; each is queued on its device, or done by the host.

use std::sync::Arc;

use partita_kernels::{Access, Scalar};

use super::ipc::IpcMemory;
use super::message::{Message, MessageDownload};
use super::nccl::NcclLink;
use super::place::{MemorySpan, span_bytes};
use crate::device::{Allocation, CopyRegion, Device, DeviceKind, GroupedSpan, Job, Stream};
use crate::error::Result;
use crate::trace;
use crate::wire::{CollectiveSignature, Ranks, hash, pass};

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
    /// The arguments of its launches that are plain numbers of the recorded program: which argument, and
    /// which of the numbers.
    pub(crate) numbers: Option<Arc<[(usize, u32)]>>,
}

impl Command {
    /// The same operation on another stream.
    pub fn on(self, stream: Stream) -> Command {
        Command { stream, ..self }
    }

    /// The plain numbers that a job of it computes with.
    pub(crate) fn numbers_of(&self, job: &Job) -> impl Iterator<Item = Scalar> {
        self.numbers.iter().flat_map(|places| places.iter()).map(|&(at, _)| job.launch.arguments[at])
    }

    /// Puts other plain numbers in the place of those that it computes with.
    pub(crate) fn set_numbers(&mut self, numbers: &[Scalar]) {
        let Some(places) = &self.numbers else { return };
        let all = || places.iter().map(|&(at, which)| (at, numbers[which as usize]));
        match &mut self.op {
            Op::RecordHash { numbers: noted, .. } => *noted = all().map(|(_, number)| number).collect(),
            op => {
                for job in op.jobs_mut() {
                    // A launch with the same numbers is shared.
                    if all().any(|(at, number)| job.launch.arguments[at] != number) {
                        let launch = Arc::make_mut(&mut job.launch);
                        all().for_each(|(at, number)| launch.arguments[at] = number);
                    }
                }
            }
        }
    }
}

impl From<Op> for Command {
    /// On [`Stream::Compute`].
    fn from(op: Op) -> Command {
        Command { stream: Stream::Compute, op, numbers: None }
    }
}

/// The operation of a command.
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
    BatchedLaunch {
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
        /// The hash of the kernel and the arguments that are no plain numbers.
        kernel: u64,
        /// The plain numbers.
        numbers: Vec<Scalar>,
    },
    /// All ranks begin the same exchange.
    BeginCollective {
        /// The ranks.
        ranks: Ranks,
        /// The signature that they compare.
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
    /// Waits for the devices whose memory the wire is about to use in place, because it does not use their
    /// queues: once for all messages of an exchange. Work queued so far comes after everything that used the
    /// memory before.
    WaitForDevices {
        /// The memory that is sent.
        sent: Vec<MemorySpan>,
        /// The memory that is received into.
        received: Vec<MemorySpan>,
    },
    /// As [`Op::PostReceive`], for a message that is received in place; for device memory after
    /// [`Op::WaitForDevices`].
    PostReceiveInPlace(Message),
    /// Starts to copy a staged message from devices to host memory; waits for nothing.
    StartDownload {
        /// The message.
        memory: Vec<MemorySpan>,
        /// The download, which [`Op::Send`] takes.
        download: MessageDownload,
    },
    /// Sends a message; does not wait for the other rank, nor for devices ([`Op::WaitForDevices`]) but for
    /// the downloads of a staged one.
    Send {
        /// The message.
        message: Message,
        /// The part of it that [`Op::StartDownload`] has started, if any.
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
    /// Queues the messages of an exchange that NCCL carries, as one operation.
    SendReceive {
        /// The ranks.
        ranks: Ranks,
        /// Their connection.
        link: Arc<NcclLink>,
        /// What is sent and received.
        spans: Vec<GroupedSpan>,
    },
    /// Waits until the device has done so.
    WaitForPeers {
        /// The ranks.
        ranks: Ranks,
        /// Their connection.
        link: Arc<NcclLink>,
        /// The other ranks.
        peers: Arc<[usize]>,
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
            Op::BatchedLaunch { jobs, .. } => jobs,
            _ => &[],
        }
    }

    /// The same, to be changed.
    pub(crate) fn jobs_mut(&mut self) -> &mut [Job] {
        match self {
            Op::Launch { job, .. } => std::slice::from_mut(job),
            Op::BatchedLaunch { jobs, .. } => jobs,
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
            Op::Launch { device, .. } | Op::BatchedLaunch { device, .. } => {
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
            Op::WaitForDevices { sent, received } => {
                [spans(sent, Access::In), spans(received, Access::Out)].concat()
            }
            Op::Send { message, .. } => spans(&message.memory, Access::In),
            Op::PostReceiveInPlace(message) | Op::Receive(message) => spans(&message.memory, Access::Out),
            Op::SendReceive { link, spans, .. } => {
                let access = |span: &GroupedSpan| if span.sends { Access::In } else { Access::Out };
                spans.iter().map(|span| (link.peers().device(), &span.allocation, access(span))).collect()
            }
            Op::RecordHash { .. }
            | Op::BeginCollective { .. }
            | Op::PostReceive { .. }
            | Op::WaitAll { .. }
            | Op::WaitForReaders { .. }
            | Op::WaitForPeers { .. }
            | Op::StreamWait { .. } => Vec::new(),
        }
    }

    /// The memory that it uses, to be exchanged for other memory.
    pub(crate) fn memory_mut(&mut self) -> Vec<&mut Arc<Allocation>> {
        match self {
            Op::Transfer { from, to, .. } => vec![from, to],
            Op::WaitForDevices { sent, received } => {
                sent.iter_mut().chain(received).map(|span| &mut span.allocation).collect()
            }
            Op::StartDownload { memory, .. }
            | Op::Send { message: Message { memory, .. }, .. }
            | Op::PostReceiveInPlace(Message { memory, .. })
            | Op::Receive(Message { memory, .. }) => {
                memory.iter_mut().map(|span| &mut span.allocation).collect()
            }
            Op::SendReceive { spans, .. } => spans.iter_mut().map(|span| &mut span.allocation).collect(),
            op => op.jobs_mut().iter_mut().flat_map(|job| &mut job.memory).collect(),
        }
    }

    /// The ranks between which it sends, receives or waits for a message.
    pub(crate) fn ranks_mut(&mut self) -> Option<&mut Ranks> {
        match self {
            Op::BeginCollective { ranks, .. }
            | Op::PostReceive { ranks, .. }
            | Op::PostReceiveInPlace(Message { ranks, .. })
            | Op::Send { message: Message { ranks, .. }, .. }
            | Op::Receive(Message { ranks, .. })
            | Op::WaitAll { ranks }
            | Op::SendReceive { ranks, .. }
            | Op::WaitForPeers { ranks, .. }
            | Op::WaitForReaders { ranks, .. } => Some(ranks),
            Op::Launch { .. }
            | Op::BatchedLaunch { .. }
            | Op::Transfer { .. }
            | Op::RecordHash { .. }
            | Op::StartDownload { .. }
            | Op::WaitForDevices { .. }
            | Op::StreamWait { .. } => None,
        }
    }

    /// Whether it names memory that ranks show each other.
    pub(crate) fn exports(&self) -> bool {
        match self {
            Op::PostReceiveInPlace(message) | Op::Send { message, .. } | Op::Receive(message) => {
                message.ipc.is_some()
            }
            Op::WaitForReaders { .. } => true,
            _ => false,
        }
    }

    /// Whether it is of messages that devices send and receive in the order of their streams.
    pub(crate) fn is_of_streams(&self) -> bool {
        self.exports() || matches!(self, Op::SendReceive { .. })
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

/// Queues every command.
///
/// # Errors
/// The first command that fails; those after it are not queued.
pub(crate) fn execute(schedule: &Schedule) -> Result<()> {
    queue(schedule, Some, run)
}

/// Queues steps, some of which are single commands. After the first failure only the waits that join streams
/// are queued, because the caller frees the memory.
///
/// # Errors
/// That of the first that fails.
pub(crate) fn queue<'a, T>(
    steps: &'a [T],
    single: impl Fn(&'a T) -> Option<&'a Command>,
    run_one: impl Fn(&'a T) -> Result<()>,
) -> Result<()> {
    let mut left = steps.iter();
    let outcome = left.by_ref().try_for_each(&run_one);
    if outcome.is_err() {
        let joins = left.filter_map(single).filter(|command| command.op.is_join());
        // The first failure is the one to report.
        joins.for_each(|join| drop(run(join)));
    }
    trace::end_evaluation();
    outcome
}

/// Queues one command.
pub(crate) fn run(command: &Command) -> Result<()> {
    let stream = command.stream;
    match &command.op {
        Op::Launch { device, job } => {
            pass("launch")?;
            let name = || job.program.kernel().kernel().name.clone();
            trace::on_device(device, stream, name, || device.launch_on(stream, job))
        }
        Op::BatchedLaunch { device, jobs } => {
            pass("launch")?;
            let kernel = |job: &Job| job.program.kernel().kernel().name.clone();
            let name = || format!("{}: {} boxes", jobs.first().map(kernel).unwrap_or_default(), jobs.len());
            trace::on_device(device, stream, name, || device.launch_boxes(stream, jobs))
        }
        Op::Transfer { from_device, from, from_offset, to_device, to, to_offset, bytes } => {
            let (from_offset, to_offset, bytes) = (*from_offset, *to_offset, *bytes);
            let region = CopyRegion { from, from_offset, to, to_offset, bytes };
            let name = || format!("{bytes} bytes of {}", from_device.name());
            trace::on_device(to_device, stream, name, || match stream {
                Stream::Compute => from_device.copy_range(to_device, region),
                Stream::Exchange => from_device.copy_on(stream, to_device, region),
            })
        }
        Op::RecordHash { ranks, kernel, numbers } => {
            ranks.record_hash(hash(&(kernel, numbers)));
            Ok(())
        }
        Op::BeginCollective { ranks, signature } => {
            trace::on_rank(ranks.rank());
            ranks.begin_collective(signature)
        }
        Op::PostReceive { ranks, from, bytes } => {
            trace::receive_posted(*from, ranks.rank());
            ranks.post_receive(*from, *bytes)
        }
        Op::PostReceiveInPlace(message) => {
            trace::receive_posted(message.peer, message.ranks.rank());
            message.post_receive_in_place()
        }
        Op::WaitForDevices { .. } => {
            let devices = command.op.devices().into_iter();
            let mut devices = devices.filter(|device| device.kind() != DeviceKind::Host);
            devices.try_for_each(|device| device.wait_for(stream))
        }
        Op::StartDownload { memory, download } => {
            let start = || download.start(stream, memory);
            let name = || format!("{} bytes leave", span_bytes(memory));
            match memory.first() {
                Some(first) => trace::on_device(&first.device, stream, name, start),
                None => start(),
            }
        }
        Op::Send { message, download } => {
            let send = || message.send(stream, download);
            trace::on_link(message.ranks.rank(), message.peer, message.send_name(), send)
        }
        Op::Receive(message) => {
            trace::on_receive(message.peer, message.ranks.rank(), || message.receive(stream))
        }
        Op::WaitForReaders { ranks, ipc } => ipc.wait_for_readers(ranks),
        Op::SendReceive { ranks, link, spans } => {
            let send_receive = || link.send_receive(stream, ranks, spans);
            let name = || "messages by NCCL".to_owned();
            trace::on_device(link.peers().device(), stream, name, send_receive)
        }
        Op::WaitForPeers { ranks, link, peers } => link.wait(ranks, peers),
        Op::WaitAll { ranks } => {
            trace::flush()?;
            ranks.wait_all()
        }
        Op::StreamWait { first: (first, first_stream), then: (then, stream) } => {
            then.after(*stream, first, *first_stream)
        }
    }
}
