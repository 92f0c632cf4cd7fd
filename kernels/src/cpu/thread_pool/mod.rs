//! The threads of the CPU engine: a pool with a shared queue, and tasks that its threads take one by one.

mod pool;
mod tasks;

pub(super) use pool::Parallelism;
pub use tasks::share_tasks;
pub(super) use tasks::{in_turns, share_out};
