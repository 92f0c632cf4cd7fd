//! One launch on the host: its memory and sizes, how many tiles and threads it is worth, and its dimensions
//! in their simplest equal form: those of extent 1 dropped, neighbours that continue each other merged, the
//! best one for vectors last.

use super::body::compile::Code;
use super::loops::level::Level;
use super::thread_pool::Parallelism;
use crate::ir::{Kernel, Launch, MAX_RANK, Op};
use crate::verify::Footprint;

/// The memory of one parameter.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// Element 0.
    pub ptr: *mut u8,
    /// The number of elements, of the parameter's type.
    pub len: usize,
}

/// Sizes that decide how a launch is run. None shows in results.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tuning {
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
    /// Most partial results of a fold at a time.
    pub partials: usize,
    /// Lanes of a chunk whose values go through slots: few enough that slots and rows stay in the L1 cache.
    pub chunk: usize,
    /// Most values that are folded in one go, and most results that are folded side by side.
    pub fold_block: usize,
    pub fold_strip: usize,
    /// Least points of a launch whose strided operands are packed.
    pub packed_points: usize,
}

impl Tuning {
    pub(super) const DEFAULT: Tuning = Tuning {
        stream_above_bytes: 8 << 20,
        thread_steps: 1 << 16,
        waking_steps: 1 << 21,
        task_points: 1 << 17,
        segment_points: 1 << 18,
        partials: 1 << 20,
        chunk: 512,
        fold_block: 4096,
        fold_strip: 2048,
        packed_points: 1 << 10,
    };
}

/// One launch.
pub(super) struct HostLaunch<'r> {
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
    pub(super) fn ordered(&self, param: Option<usize>, apart: &Dims<bool>) -> LaunchLayout {
        let order = by_largest_stride(self.launch, param.into_iter());
        LaunchLayout::new(self.launch, &order, |a, b| !apart[a] && !apart[b])
    }

    /// The number of threads that a launch over these points is worth.
    pub(super) fn parallelism(&self, layout: &LaunchLayout) -> Parallelism {
        let steps = layout.points().saturating_mul(self.kernel.body.len());
        Parallelism {
            threads: (steps / self.tuning.thread_steps).clamp(1, self.threads),
            wakes: steps >= self.tuning.waking_steps,
        }
    }

    /// Tiles for the threads that the launch is worth.
    pub(super) fn tiling(&self, layout: &LaunchLayout) -> Tiling {
        let (most, threads) = (self.tuning.task_points, self.parallelism(layout).threads);
        // Twice as many points where planes are small: neighbouring tiles share their border planes.
        let most = if layout.plane() <= most / 2 { 2 * most } else { most };
        // A small launch, such as one tile's, is shared evenly.
        let task_points = most.min(layout.points().div_ceil(threads));
        Tiling::new(layout, usize::MAX, task_points, threads)
    }
}

/// One element (or stride, or index) per dimension of a layout.
pub(super) type Dims<T> = [T; MAX_RANK];

/// The dimensions of a launch, the innermost last; at least one.
pub(super) struct LaunchLayout {
    pub rank: usize,
    pub extents: Dims<usize>,
    /// Per parameter, in elements.
    pub strides: Vec<Dims<i64>>,
    /// Which dimension of the layout is this dimension of the launch; none if it has extent 1.
    pub dim_of: Dims<Option<usize>>,
}

impl LaunchLayout {
    /// The dimensions of `launch` in the given `order`, merged where `merge` allows it for a pair.
    pub(super) fn new(
        launch: &Launch,
        order: &Dims<usize>,
        merge: impl Fn(usize, usize) -> bool,
    ) -> LaunchLayout {
        let mut layout = LaunchLayout {
            rank: 0,
            extents: [1; MAX_RANK],
            strides: vec![[0; MAX_RANK]; launch.views.len()],
            dim_of: [None; MAX_RANK],
        };
        let mut last = None;
        for &dim in order[..launch.extents.len()].iter().filter(|&&dim| launch.extents[dim] != 1) {
            let joins = last.is_some_and(|outer| merge(outer, dim)) && layout.continues(launch, dim);
            if joins {
                layout.extents[layout.rank - 1] *= launch.extents[dim];
            } else {
                layout.extents[layout.rank] = launch.extents[dim];
                layout.rank += 1;
            }
            let at = layout.rank - 1;
            layout.dim_of[dim] = Some(at);
            for (strides, view) in layout.strides.iter_mut().zip(&launch.views) {
                strides[at] = view.strides[dim];
            }
            last = Some(dim);
        }
        layout.rank = layout.rank.max(1);
        layout
    }

    /// The same dimensions with other strides.
    pub(super) fn with_strides(&self, strides: Vec<Dims<i64>>) -> LaunchLayout {
        LaunchLayout { rank: self.rank, extents: self.extents, strides, dim_of: self.dim_of }
    }

    /// Does `dim` of the launch continue the layout's last dimension in every parameter?
    fn continues(&self, launch: &Launch, dim: usize) -> bool {
        let extent = launch.extents[dim] as i64;
        self.strides
            .iter()
            .zip(&launch.views)
            .all(|(strides, view)| Some(strides[self.rank - 1]) == view.strides[dim].checked_mul(extent))
    }

    /// The same dimensions in another order.
    pub(super) fn permuted(&self, order: &[usize]) -> LaunchLayout {
        let from = |k: usize| order.get(k).copied().unwrap_or(k);
        let strides = self.strides.iter().map(|s| std::array::from_fn(|k| s[from(k)])).collect();
        let to = |at: usize| order.iter().position(|&k| k == at);
        LaunchLayout {
            rank: self.rank,
            extents: std::array::from_fn(|k| self.extents[from(k)]),
            strides,
            dim_of: self.dim_of.map(|at| at.and_then(to)),
        }
    }

    /// Number of the innermost dimension.
    pub(super) fn inner(&self) -> usize {
        self.rank - 1
    }

    /// Points of the region.
    pub(super) fn points(&self) -> usize {
        self.extents[..self.rank].iter().product()
    }

    /// Those of the two innermost dimensions.
    pub(super) fn plane(&self) -> usize {
        self.extents[self.rank.saturating_sub(2)..self.rank].iter().product()
    }
}

/// Marks the dimensions whose coordinates the kernel uses: they cannot be merged.
pub(super) fn coordinate_dims(kernel: &Kernel) -> Dims<bool> {
    let mut used = [false; MAX_RANK];
    for inst in &kernel.body {
        if let Op::Coord(dim) = inst.op {
            used[dim as usize] = true;
        }
    }
    used
}

/// The dimensions of the launch, sorted by decreasing distance of neighbours, in whichever of `params` it is
/// largest.
pub(super) fn by_largest_stride(launch: &Launch, params: impl Iterator<Item = usize> + Clone) -> Dims<usize> {
    let mut order = std::array::from_fn(|dim| dim);
    let largest = |dim: usize| params.clone().map(|p| launch.views[p].strides[dim].unsigned_abs()).max();
    order[..launch.extents.len()].sort_by_key(|&dim| std::cmp::Reverse(largest(dim)));
    order
}

/// A box of a layout: `start[k]..start[k] + extents[k]` in each dimension.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tile {
    pub start: Dims<usize>,
    pub extents: Dims<usize>,
}

/// A layout cut into equal boxes (smaller at the ends), numbered in C order.
pub(super) struct Tiling {
    rank: usize,
    extents: Dims<usize>,
    pub tile: Dims<usize>,
}

impl Tiling {
    /// Boxes of about `points` points, at most `inner` of them in a row; where extents allow it, `threads`
    /// threads have equally many.
    pub(super) fn new(layout: &LaunchLayout, inner: usize, points: usize, threads: usize) -> Tiling {
        let mut tile = [1; MAX_RANK];
        let mut left = points.max(1);
        for k in (0..layout.rank).rev() {
            let most = if k == layout.inner() { inner } else { usize::MAX };
            tile[k] = layout.extents[k].min(left).min(most).max(1);
            left = (left / tile[k]).max(1);
            if k != layout.inner() {
                let along = layout.extents[k].div_ceil(tile[k]);
                let along = if along > 1 { along.next_multiple_of(threads) } else { 1 };
                tile[k] = layout.extents[k].div_ceil(along).max(1);
            }
        }
        Tiling::of(layout, tile)
    }

    /// Boxes of these extents.
    pub(super) fn of(layout: &LaunchLayout, tile: Dims<usize>) -> Tiling {
        Tiling { rank: layout.rank, extents: layout.extents, tile }
    }

    /// Boxes along dimension `k`.
    fn along(&self, k: usize) -> usize {
        self.extents[k].div_ceil(self.tile[k])
    }

    /// The number of boxes.
    pub(super) fn count(&self) -> usize {
        (0..self.rank).map(|k| self.along(k)).product()
    }

    /// Box number `n`.
    pub(super) fn get(&self, n: usize) -> Tile {
        let mut tile = Tile { start: [0; MAX_RANK], extents: [1; MAX_RANK] };
        let mut rest = n;
        for k in (0..self.rank).rev() {
            let along = self.along(k);
            tile.start[k] = rest % along * self.tile[k];
            tile.extents[k] = self.tile[k].min(self.extents[k] - tile.start[k]);
            rest /= along;
        }
        tile
    }
}

/// Writes the index of point number `n` in C order of the dimensions `from..to`.
pub(super) fn decode(index: &mut Dims<usize>, layout: &LaunchLayout, from: usize, to: usize, mut n: usize) {
    for k in (from..to).rev() {
        // An empty dimension has no points; nothing is read at the index then.
        index[k] = n % layout.extents[k].max(1);
        n /= layout.extents[k].max(1);
    }
}

/// Steps an index through the box `extents` in C order over the dimensions before `rank`; false at the end.
pub(super) fn advance(index: &mut Dims<usize>, tile: &Tile, rank: usize) -> bool {
    for k in (0..rank).rev() {
        index[k] += 1;
        if index[k] < tile.start[k] + tile.extents[k] {
            return true;
        }
        index[k] = tile.start[k];
    }
    false
}
