//! One launch on the host: its memory, its dimensions, and how its tiles are shared out among threads.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::body::compile::Code;
use super::body::run::Run;
use super::body::worker::Worker;
use super::layout::{Dims, Layout, Tile, Tiling, by_largest_stride, coordinate_dims};
use super::level::Level;
use super::thread_pool::{self, Parallelism};
use crate::footprint::Footprint;
use crate::ir::{Kernel, Launch};

/// The memory of one parameter.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// Element 0.
    pub ptr: *mut u8,
    /// How many elements there are, of the parameter's type.
    pub len: usize,
}

/// Sizes that decide how a launch is run. Only `segment_points` and the chunk's lanes show in results:
/// they fix the order in which floats are summed.
#[derive(Clone, Copy, Debug)]
pub(in crate::cpu) struct Tuning {
    /// Outputs larger than this are written with non-temporal stores, because they would not stay in cache.
    pub stream_above_bytes: usize,
    /// Steps of a launch (instructions of all its points) for each thread that shares it: fewer cost more
    /// than they gain.
    pub thread_steps: usize,
    /// Steps of a launch that sleeping threads are woken for.
    pub waking_steps: usize,
    /// Most points of one thread's next piece of work.
    pub task_points: usize,
    /// Points of a fold that one thread folds in one go.
    pub segment_points: usize,
    /// Lanes of a chunk whose values go through slots: few enough that slots and rows stay in the L1 cache.
    pub chunk: usize,
    /// The same where values that cost little are folded: with each chunk reading begins anew.
    pub fold_chunk: usize,
    /// Least points of a launch whose strided operands are packed.
    pub packed_points: usize,
}

impl Tuning {
    pub(in crate::cpu) const DEFAULT: Tuning = Tuning {
        stream_above_bytes: 8 << 20,
        thread_steps: 1 << 16,
        waking_steps: 1 << 21,
        task_points: 1 << 17,
        segment_points: 1 << 18,
        chunk: 512,
        fold_chunk: 2048,
        packed_points: 1 << 10,
    };
}

/// One launch.
pub(in crate::cpu) struct HostLaunch<'r> {
    pub kernel: &'r Kernel,
    pub footprint: &'r Footprint,
    pub code: &'r Code,
    pub tuning: &'r Tuning,
    pub launch: &'r Launch,
    pub memory: &'r [Memory],
    pub level: Level,
    pub threads: usize,
}

impl<'r> HostLaunch<'r> {
    /// A run over the launch's points, ordered for parameter `param`.
    pub(in crate::cpu) fn pointwise(&self, param: Option<usize>) -> Run<'r> {
        Run::new(self, self.ordered(param, &coordinate_dims(self.kernel)), false)
    }

    /// The launch's dimensions, ordered for parameter `param`; those that are `apart` are not merged with
    /// others.
    pub(in crate::cpu) fn ordered(&self, param: Option<usize>, apart: &Dims<bool>) -> Layout {
        let order = by_largest_stride(self.launch, param.into_iter());
        Layout::new(self.launch, &order, |a, b| !apart[a] && !apart[b])
    }

    /// How many threads a launch over these points is worth.
    pub(in crate::cpu) fn help_for(&self, layout: &Layout) -> Parallelism {
        let steps = layout.points().saturating_mul(self.kernel.body.len());
        Parallelism {
            threads: (steps / self.tuning.thread_steps).clamp(1, self.threads),
            wakes: steps >= self.tuning.waking_steps,
        }
    }

    /// Cuts the region into boxes and gives them to threads.
    pub(in crate::cpu) fn for_each_tile(&self, run: &Run<'_>, work: impl Fn(&mut Worker<'_>, &Tile) + Sync) {
        let tiling = self.tiling(run);
        for_each_task(run, self.help_for(&run.layout), tiling.count(), |worker, n| {
            work(worker, &tiling.get(n))
        });
    }

    /// Tiles for the threads that the launch is worth.
    pub(in crate::cpu) fn tiling(&self, run: &Run<'_>) -> Tiling {
        let (most, threads) = (self.tuning.task_points, self.help_for(&run.layout).threads);
        // More of small planes: the neighbours of a box's first and last ones are read by others, too.
        let most = if run.layout.plane() <= most / 2 { 2 * most } else { most };
        // A small launch, such as one tile's, is shared evenly.
        let task_points = most.min(run.layout.points().div_ceil(threads));
        Tiling::new(&run.layout, usize::MAX, task_points, threads)
    }
}

/// Calls `work` once for each task below `tasks`, in turn, on the threads that help.
pub(in crate::cpu) fn for_each_task(
    run: &Run<'_>,
    help: Parallelism,
    tasks: usize,
    work: impl Fn(&mut Worker<'_>, usize) + Sync,
) {
    share_out(help, tasks, || Worker::new(run), work);
}

/// The same with a `worker` of each thread.
pub(in crate::cpu) fn share_out<W>(
    help: Parallelism,
    tasks: usize,
    worker: impl Fn() -> W + Sync,
    work: impl Fn(&mut W, usize) + Sync,
) {
    in_turns(help, tasks, |turns| {
        let mut worker = worker();
        turns.for_each(|n| work(&mut worker, n));
    });
}

/// Calls `serve` on the threads that help, each with the tasks below `tasks` that fall to it, in turn.
pub(in crate::cpu) fn in_turns(
    help: Parallelism,
    tasks: usize,
    serve: impl Fn(&mut dyn Iterator<Item = usize>) + Sync,
) {
    let next = AtomicUsize::new(0);
    let take = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&n| n < tasks);
    let serve = || serve(&mut std::iter::from_fn(take));
    thread_pool::share(Parallelism { threads: help.threads.min(tasks), ..help }, &serve);
}
