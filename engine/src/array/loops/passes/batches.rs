//! Batches: launches between transfers and waits, recorded together per device and stream, so that a replay
//! queues each recording at once.

use crate::device::{Device, Job, Recording, Stream};
use crate::error::Result;
use crate::program::{Command, Op, Schedule, run};
use crate::trace;

/// A recording, or one command between recordings.
pub(crate) enum ReplayBatch {
    Jobs(Device, Stream, Recording),
    Single(Command),
}

impl ReplayBatch {
    pub fn run(&self) -> Result<()> {
        match self {
            ReplayBatch::Jobs(device, stream, recording) => {
                let name = || "replayed step".to_owned();
                trace::on_device(device, *stream, name, || device.replay_on(*stream, recording))
            }
            ReplayBatch::Single(command) => run(command),
        }
    }

    pub fn single(&self) -> Option<&Command> {
        match self {
            ReplayBatch::Jobs(..) => None,
            ReplayBatch::Single(command) => Some(command),
        }
    }
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
    for command in schedule {
        let stream = command.stream;
        let mut launched = |device: Device, jobs: Vec<Job>| match open
            .iter_mut()
            .find(|(other, on, _)| *other == device && *on == stream)
        {
            Some((.., groups)) => groups.push(jobs),
            None => open.push((device, stream, vec![jobs])),
        };
        match command.op {
            Op::Launch { device, job } => launched(device, vec![job]),
            Op::BatchedCopy { device, jobs } => launched(device, jobs),
            op => {
                // Launches need not be queued before commands that touch no device.
                if !op.is_host_only() {
                    close(&mut open, &mut batches)?;
                }
                batches.push(ReplayBatch::Single(Command { stream, op }));
            }
        }
    }
    close(&mut open, &mut batches)?;
    Ok(batches)
}
