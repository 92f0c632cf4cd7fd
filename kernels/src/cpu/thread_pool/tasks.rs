//! Numbered tasks that the threads of the pool take one by one.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::pool::{Parallelism, share};

/// Calls `serve` on up to `threads` threads of the pool, each with the tasks below `tasks` that it takes, one
/// after the other; tasks are taken in ascending order. For work that is itself made of launches.
pub fn share_tasks(threads: usize, tasks: usize, serve: impl Fn(&mut dyn Iterator<Item = usize>) + Sync) {
    in_turns(Parallelism { threads, wakes: true }, tasks, serve);
}

/// Calls `work` once for each task below `tasks`, with a `worker` of each thread that joins.
pub(in crate::cpu) fn share_out<W>(
    parallelism: Parallelism,
    tasks: usize,
    worker: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, usize) + Sync,
) {
    in_turns(parallelism, tasks, |turns| {
        let mut worker = worker();
        turns.for_each(|n| work(&mut worker, n));
    });
}

/// Calls `serve` on the threads that join, each with the tasks below `tasks` that it takes, one after the
/// other.
pub(in crate::cpu) fn in_turns(
    parallelism: Parallelism,
    tasks: usize,
    serve: impl Fn(&mut dyn Iterator<Item = usize>) + Sync,
) {
    let next = AtomicUsize::new(0);
    let take = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&n| n < tasks);
    let serve = || serve(&mut std::iter::from_fn(take));
    share(Parallelism { threads: parallelism.threads.min(tasks), ..parallelism }, &serve);
}
