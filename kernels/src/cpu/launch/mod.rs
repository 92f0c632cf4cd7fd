//! One launch on the host: its memory and sizes, and its dimensions in their simplest equal form.

mod host_launch;
pub(super) mod layout;

pub use host_launch::Memory;
pub(super) use host_launch::{HostLaunch, Tuning};
