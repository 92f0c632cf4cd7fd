//! Recorded commands, prepared to be queued again and again by few calls.
//!
//! Commands that CUDA devices of this process do alone, copies and waits between them included, become one
//! graph: nothing is left for the host. So do messages between ranks of one machine that the devices send
//! and receive themselves, see [`StreamMessages`]; the host only notes what ranks compare. All other commands
//! become recordings per device and stream, as long as they are between the same transfers and waits.

use std::sync::Arc;

use crate::device::{CopyRegion, Device, Job, Recording, Stream, StreamGraph, StreamGraphBuilder};
use crate::error::Result;
use crate::program::{self, ChainedStep, Command, Op, Schedule, StreamMessages};
use crate::trace;

/// Commands that are queued at once, or one command between such.
pub(crate) enum ReplayBatch {
    /// All that devices do, on all streams, and the messages in it.
    Together(StreamGraph, Option<Arc<StreamMessages>>),
    /// Launches of one stream between transfers and waits.
    Jobs(Device, Stream, Recording),
    Single(Command),
}

impl ReplayBatch {
    pub fn run(&self) -> Result<()> {
        match self {
            ReplayBatch::Together(graph, messages) => {
                graph.launch()?;
                messages.iter().for_each(|messages| messages.launched());
                Ok(())
            }
            ReplayBatch::Jobs(device, stream, recording) => {
                let name = || "replayed step".to_owned();
                trace::on_device(device, *stream, name, || device.replay_on(*stream, recording))
            }
            ReplayBatch::Single(command) => program::run(command),
        }
    }

    pub fn single(&self) -> Option<&Command> {
        match self {
            ReplayBatch::Together(..) | ReplayBatch::Jobs(..) => None,
            ReplayBatch::Single(command) => Some(command),
        }
    }
}

/// All commands as one graph; `None` if something other than CUDA devices of this process takes part, or a
/// trace shall show each command.
pub(crate) fn together(schedule: &Schedule) -> Result<Option<ReplayBatch>> {
    let mut graph = StreamGraphBuilder::default();
    if trace::is_on() {
        return Ok(None);
    }
    for command in schedule {
        if !add(&mut graph, command)? {
            return Ok(None);
        }
    }
    Ok(graph.record()?.map(|graph| ReplayBatch::Together(graph, None)))
}

/// The commands of steps, each with its place in the cycle, as one graph, messages included; before it, what
/// the host notes.
pub(crate) fn together_with<'s>(
    steps: impl Iterator<Item = (usize, &'s Schedule)>,
    messages: &Arc<StreamMessages>,
) -> Result<Option<Vec<ReplayBatch>>> {
    let steps: Vec<ChainedStep> = steps.map(|(step, schedule)| messages.step(step, schedule)).collect();
    let mut graph = StreamGraphBuilder::default();
    let mut batches = Vec::new();
    for step in &steps {
        for (at, command) in step.commands.iter().enumerate() {
            step.begin(&mut graph, at)?;
            match &command.op {
                Op::RecordHash { .. } | Op::BeginCollective { .. } => {
                    batches.push(ReplayBatch::Single(command.clone()));
                }
                // What they do is in the words, and in what is around them.
                Op::Send { .. }
                | Op::Receive(_)
                | Op::PostReceive { .. }
                | Op::WaitAll { .. }
                | Op::WaitForReaders { .. }
                | Op::WaitForPeers { .. } => {}
                _ => {
                    if !add(&mut graph, command)? {
                        return Ok(None);
                    }
                }
            }
            step.end(&mut graph, at);
        }
    }
    let Some(graph) = graph.record()? else { return Ok(None) };
    batches.push(ReplayBatch::Together(graph, Some(Arc::clone(messages))));
    Ok(Some(batches))
}

/// Adds a command that devices of this process do alone; false for any other.
fn add<'c>(graph: &mut StreamGraphBuilder<'c>, command: &'c Command) -> Result<bool> {
    let Command { stream, op, .. } = command;
    match op {
        Op::Launch { device, .. } | Op::BatchedCopy { device, .. } => {
            graph.launch(device, *stream, op.jobs())?;
        }
        Op::Transfer { from_device, from, from_offset, to_device, to, to_offset, bytes } => {
            let (from_offset, to_offset, bytes) = (*from_offset, *to_offset, *bytes);
            let what = CopyRegion { from, from_offset, to, to_offset, bytes };
            let waits = *stream == Stream::Compute;
            let (one, other) = ((from_device, *stream), (to_device, *stream));
            waits.then(|| graph.wait(one, other));
            graph.copy(from_device, *stream, to_device, what)?;
            waits.then(|| graph.wait(other, one));
        }
        Op::StreamWait { first: (first, first_stream), then: (then, stream) } => {
            graph.wait((first, *first_stream), (then, *stream));
        }
        Op::SendReceive { link, spans, .. } if link.peers().is_captured() => {
            graph.group(link.peers(), *stream, spans);
        }
        Op::SendReceive { .. }
        | Op::WaitForPeers { .. }
        | Op::RecordHash { .. }
        | Op::BeginCollective { .. }
        | Op::PostReceive { .. }
        | Op::PostReceiveInPlace(_)
        | Op::StartDownload { .. }
        | Op::Send { .. }
        | Op::Receive(_)
        | Op::WaitAll { .. }
        | Op::WaitForReaders { .. } => return Ok(false),
    }
    Ok(true)
}

/// Runs of launches between transfers and waits, gathered per device and stream, and recorded as `record`
/// does. Each stream has recordings of its own, because a recording begins as a whole: with both streams in
/// it, the core would wait for the exchange as the rim does.
pub(crate) fn batches(
    schedule: Schedule,
    mut record: impl FnMut(&Device, Vec<Vec<Job>>) -> Result<Recording>,
) -> Result<Vec<ReplayBatch>> {
    let mut batches = Vec::new();
    let mut open: Vec<(Device, Stream, Vec<Vec<Job>>)> = Vec::new();
    let mut close =
        |open: &mut Vec<(Device, Stream, Vec<Vec<Job>>)>, batches: &mut Vec<ReplayBatch>| -> Result<()> {
            for (device, stream, groups) in open.drain(..) {
                let recording = record(&device, groups)?;
                batches.push(ReplayBatch::Jobs(device, stream, recording));
            }
            Ok(())
        };
    for Command { stream, op, numbers } in schedule {
        let (device, jobs) = match op {
            Op::Launch { device, job } => (device, vec![job]),
            Op::BatchedCopy { device, jobs } => (device, jobs),
            op => {
                // Launches need not be queued before commands that touch no device.
                if !op.is_host_only() {
                    close(&mut open, &mut batches)?;
                }
                batches.push(ReplayBatch::Single(Command { stream, op, numbers }));
                continue;
            }
        };
        match open.iter_mut().find(|(other, on, _)| *other == device && *on == stream) {
            Some((.., groups)) => groups.push(jobs),
            None => open.push((device, stream, vec![jobs])),
        }
    }
    close(&mut open, &mut batches)?;
    Ok(batches)
}
