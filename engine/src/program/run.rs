//! Execution of schedules: every command is queued on its device, or done by the host.

use super::command::{Command, Op, Schedule};
use super::span::span_bytes;
use crate::device::{CopyRegion, Stream};
use crate::error::Result;
use crate::trace;
use crate::wire::pass;

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
///
/// # Errors
/// The device's.
pub(crate) fn run(command: &Command) -> Result<()> {
    let stream = command.stream;
    match &command.op {
        Op::Launch { device, job } => {
            pass("launch")?;
            let name = || job.program.kernel().kernel().name.clone();
            trace::on_device(device, stream, name, || device.launch_on(stream, job))
        }
        Op::BatchedCopy { device, jobs } => {
            pass("launch")?;
            let name = || format!("{} boxes", jobs.len());
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
        Op::RecordHash { ranks, computed } => {
            ranks.record_hash(*computed);
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
            message.post_receive_in_place(stream)
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
        Op::WaitAll { ranks } => {
            trace::flush()?;
            ranks.wait_all()
        }
        Op::StreamWait { first: (first, first_stream), then: (then, stream) } => {
            then.after(*stream, first, *first_stream)
        }
    }
}
