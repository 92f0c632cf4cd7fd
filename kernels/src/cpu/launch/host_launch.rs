//! One launch on the host: its memory, its dimensions, and how many tiles and threads it is worth.

use super::layout::{Dims, LaunchLayout, Tiling, by_largest_stride};
use crate::cpu::body::compile::Code;
use crate::cpu::loops::level::Level;
use crate::cpu::thread_pool::Parallelism;
use crate::ir::{Kernel, Launch};
use crate::verify::footprint::Footprint;

/// The memory of one parameter.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// Element 0.
    pub ptr: *mut u8,
    /// How many elements there are, of the parameter's type.
    pub len: usize,
}

/// Sizes that decide how a launch is run. None shows in results.
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
    /// Most values that are folded in one go, and most results that are folded side by side.
    pub fold_block: usize,
    pub fold_strip: usize,
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
        fold_block: 4096,
        fold_strip: 2048,
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
    /// The launch's dimensions, ordered for parameter `param`; those that are `apart` are not merged with
    /// others.
    pub(in crate::cpu) fn ordered(&self, param: Option<usize>, apart: &Dims<bool>) -> LaunchLayout {
        let order = by_largest_stride(self.launch, param.into_iter());
        LaunchLayout::new(self.launch, &order, |a, b| !apart[a] && !apart[b])
    }

    /// How many threads a launch over these points is worth.
    pub(in crate::cpu) fn parallelism(&self, layout: &LaunchLayout) -> Parallelism {
        let steps = layout.points().saturating_mul(self.kernel.body.len());
        Parallelism {
            threads: (steps / self.tuning.thread_steps).clamp(1, self.threads),
            wakes: steps >= self.tuning.waking_steps,
        }
    }

    /// Tiles for the threads that the launch is worth.
    pub(in crate::cpu) fn tiling(&self, layout: &LaunchLayout) -> Tiling {
        let (most, threads) = (self.tuning.task_points, self.parallelism(layout).threads);
        // Twice as many points where planes are small: neighbouring tiles share their border planes.
        let most = if layout.plane() <= most / 2 { 2 * most } else { most };
        // A small launch, such as one tile's, is shared evenly.
        let task_points = most.min(layout.points().div_ceil(threads));
        Tiling::new(layout, usize::MAX, task_points, threads)
    }
}
