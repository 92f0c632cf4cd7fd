//! Binding: steps get memory and become schedules of commands.

pub(crate) mod compute;
pub(crate) mod copies;
pub(crate) mod launch;
pub(crate) mod operands;
pub(crate) mod schedule;
