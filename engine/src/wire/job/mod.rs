//! The job of this process: the endpoints that it has, its share of the machine, and how it ends.

mod process;
pub(super) mod termination_notice;

pub(crate) use process::is_stopped;
pub use process::{abort, leave, on_this_machine, share_of_this_machine};
pub(super) use process::{endpoints, is_forked, leave_at_exit, register};
