//! The threads of the CPU engine: a pool with a shared queue, and the affinity of threads that are woken.

mod affinity;
mod pool;

pub(super) use pool::{Parallelism, share};
