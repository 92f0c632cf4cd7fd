//! Binding: tasks get memory and become schedules of commands, one file per kind of task.

pub(crate) mod compute;
pub(crate) mod operands;
pub(crate) mod reduce;
pub(crate) mod scan;
pub(crate) mod scattered;
pub(crate) mod schedule;
pub(crate) mod sort;
