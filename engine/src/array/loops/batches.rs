//! Recorded commands, prepared to be queued again and again by few calls.
//!
//! Commands that CUDA devices of this process do alone, copies and waits between them included, become one
//! graph: nothing is left for the host. So do messages between ranks of one machine that the devices send
//! and receive themselves, see [`StreamMessages`]; the host only notes what ranks compare. All other commands
//! become recordings per device and stream, as long as they are between the same transfers and waits.

use std::sync::Arc;

use crate::device::{CopyRegion, Device, Job, Recording, Stream, StreamGraph, StreamGraphBuilder};
use crate::error::Result;
use crate::program::{self, ChainedStep, Command, GuardedWrites, Op, Schedule, StreamMessages};
use crate::trace;
use crate::wire::{CollectiveSignature, RankNote, Ranks, hash};

/// Commands that are queued at once, or one command between such.
pub(crate) enum ReplayBatch {
    /// All that devices do, on all streams; if there are messages in it, these and the number of steps.
    Together(StreamGraph, Option<(Arc<StreamMessages>, u64)>),
    /// What the host notes for ranks to compare.
    Notes(Ranks, Vec<RankNote<Arc<CollectiveSignature>>>),
    /// Launches of one stream between transfers and waits.
    Jobs(Device, Stream, Recording),
    Single(Command),
}

impl ReplayBatch {
    pub fn run(&self) -> Result<()> {
        match self {
            ReplayBatch::Together(graph, None) => graph.launch(),
            ReplayBatch::Together(graph, Some((messages, steps))) => messages.launch(*steps, graph),
            ReplayBatch::Notes(ranks, notes) => ranks.note(notes),
            ReplayBatch::Jobs(device, stream, recording) => {
                let name = || "replayed step".to_owned();
                trace::on_device(device, *stream, name, || device.replay_on(*stream, recording))
            }
            ReplayBatch::Single(command) => program::run(command),
        }
    }

    pub fn single(&self) -> Option<&Command> {
        match self {
            ReplayBatch::Together(..) | ReplayBatch::Notes(..) | ReplayBatch::Jobs(..) => None,
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
/// the host notes. If it `guards` the launches, also what they write and when.
pub(crate) fn together_with<'s>(
    steps: impl Iterator<Item = (usize, &'s Schedule)>,
    messages: &Arc<StreamMessages>,
    guards: bool,
) -> Result<Option<(Vec<ReplayBatch>, GuardedWrites)>> {
    let steps = steps.map(|(step, schedule)| messages.step(step, schedule));
    let steps = steps.collect::<Result<Vec<ChainedStep>>>()?;
    let latches = if guards { messages.latches(&steps)? } else { Some(Vec::new()) };
    let Some(latches) = latches else { return Ok(None) };
    let (mut graph, mut batches) = (StreamGraphBuilder::default(), Vec::new());
    let mut writes = GuardedWrites { waits: vec![0; messages.devices()], memory: Vec::new() };
    let mut next = latches.iter().peekable();
    while let Some(latch) = next.peek()
        && messages.latch(&mut graph, latch, None)?
    {
        next.next();
    }
    for (number, step) in steps.iter().enumerate() {
        for (at, command) in step.commands.iter().enumerate() {
            step.wait(&mut graph, at);
            while let Some(latch) = next.peek()
                && messages.latch(&mut graph, latch, Some((number, at)))?
            {
                writes.waits[latch.device()] += 1;
                next.next();
            }
            let commands = step.copies(at).iter().chain([command]).chain(step.arrivals(at));
            for command in commands {
                if let Some(device) = command.op.devices().first().filter(|_| !command.op.jobs().is_empty())
                    && let Some(guard) = graph.guard_of(device, command.stream)
                {
                    let device = messages.number_of(device);
                    let memory = command.op.writes().map(|memory| (device, guard.number as u64, memory.id));
                    writes.memory.extend(memory);
                }
                match &command.op {
                    Op::RecordHash { ranks, kernel, numbers } => {
                        note(&mut batches, ranks, RankNote::Computed(hash(&(kernel, numbers))));
                    }
                    Op::BeginCollective { ranks, signature } => {
                        note(&mut batches, ranks, RankNote::Collective(Arc::clone(signature)));
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
            }
            step.end(&mut graph, at);
        }
    }
    let Some(graph) = graph.record()? else { return Ok(None) };
    batches.push(ReplayBatch::Together(graph, Some((Arc::clone(messages), steps.len() as u64))));
    Ok(Some((batches, writes)))
}

/// Adds what the host notes.
fn note(batches: &mut Vec<ReplayBatch>, of: &Ranks, note: RankNote<Arc<CollectiveSignature>>) {
    match batches.last_mut() {
        Some(ReplayBatch::Notes(ranks, notes)) if ranks == of => notes.push(note),
        _ => batches.push(ReplayBatch::Notes(of.clone(), vec![note])),
    }
}

/// Adds a command that devices of this process do alone; false for any other.
fn add<'c>(graph: &mut StreamGraphBuilder<'c>, command: &'c Command) -> Result<bool> {
    let Command { stream, op, .. } = command;
    match op {
        Op::Launch { device, .. } | Op::BatchedLaunch { device, .. } => {
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
        | Op::WaitForDevices { .. }
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
            Op::BatchedLaunch { device, jobs } => (device, jobs),
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
