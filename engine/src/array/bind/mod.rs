//! Binding: steps get memory and become schedules of commands.

pub(crate) mod launch;
pub(crate) mod schedule;
