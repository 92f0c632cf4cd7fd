//! Counts of a step: its launches by name, and its messages.
#![allow(clippy::unwrap_used)]

use partita::array::record;
use partita::prelude::*;
use partita::program::{Command, Op};

/// The names of the kernels that `step` launches, and the messages it takes.
pub fn counted(team: &Team, step: impl FnOnce() -> partita::Result<()>) -> (Vec<String>, u64) {
    let before = team.messages();
    let schedule = record(step).unwrap();
    let name = |command: &Command| match &command.op {
        Op::Launch { job, .. } => Some(job.program.kernel().kernel().name.clone()),
        _ => None,
    };
    (schedule.iter().filter_map(name).collect(), team.messages() - before)
}
