//! The CPU engine: compiles a kernel once into a [`Program`] and runs its launches on a pool of threads.
//!
//! Elementwise kernels run as machine code (`machine`, written by [`crate::x86`]) where the processor has the
//! instructions. Everything else is a list of compiled loops over chunks of rows that stay in L1. A launch goes
//! through three stages: `layout` merges dimensions and cuts the region into tiles, the thread pool gives tiles
//! to workers, a `worker` runs the loops chunk by chunk on the `run` that all workers share. Strided and
//! transposed operands are packed tile by tile (`operands`, `packing`).
//!
//! Invariants: results depend neither on the number of threads nor on the processor, and equal those of
//! [`crate::interpret`]. Pointers are valid because [`Verified::check`] has proven every element in bounds.

mod accumulate;
mod chain;
mod compile;
mod convert;
mod copy;
mod exact;
mod fold;
mod indexed;
mod layout;
mod level;
mod link;
mod lower;
mod machine;
mod narrow;
mod operands;
mod ops;
mod packing;
mod place;
mod processors;
mod reduce;
mod run;
#[cfg(test)]
mod tests;
mod thread_pool;
mod vector;
mod worker;

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::ir::{Fold, Form, Kernel, Launch};
use crate::verify::{LaunchError, Verified};
use compile::Code;
use fold::Folding;
use layout::{Dims, Layout, Tile, Tiling, advance, by_largest_stride, coordinate_dims};
use level::Level;
use machine::Machine;
use operands::PackedLaunch;
use run::Run;
use thread_pool::Parallelism;
use worker::{Chunk, Worker};

/// The memory of one parameter.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// Element 0.
    pub ptr: *mut u8,
    /// How many elements there are, of the parameter's type.
    pub len: usize,
}

/// A kernel compiled for this CPU. Compile once, run often, from any thread.
pub struct Program {
    kernel: Verified,
    code: Code,
    foldings: Vec<Folding>,
    level: Level,
    tuning: Tuning,
    machine: Option<Machine>,
}

/// Sizes that decide how a launch is run. Only `segment_points` and the chunk's lanes show in results:
/// they fix the order in which floats are summed.
#[derive(Clone, Copy, Debug)]
struct Tuning {
    /// Outputs larger than this are written past the caches: they would not be there when read again.
    stream_above_bytes: usize,
    /// Steps of a launch (instructions of all its points) for each thread that shares it: fewer cost more
    /// than they bring.
    thread_steps: usize,
    /// Steps of a launch that sleeping threads are woken for.
    waking_steps: usize,
    /// Most points of one thread's next piece of work.
    task_points: usize,
    /// Points of a fold that one thread folds in one go.
    segment_points: usize,
    /// Lanes of a chunk whose values go through slots: few enough that slots and rows stay in the L1 cache.
    chunk: usize,
    /// The same where values that cost little are folded: with each chunk reading begins anew.
    fold_chunk: usize,
    /// Least points of a launch whose strided operands are packed.
    packed_points: usize,
}

impl Tuning {
    const DEFAULT: Tuning = Tuning {
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

/// Lanes of a row that is visited together with its neighbours, where reads are far apart.
const STRIDED_LANES: usize = 256;

impl Program {
    /// Compiles a kernel: to machine code where there can be, for the interpreter otherwise.
    pub fn compile(kernel: &Verified) -> Program {
        Program::compile_for(kernel, Level::detect(), Tuning::DEFAULT)
    }

    /// Compiles a kernel for the interpreter. The results are the same, to the bit.
    pub fn interpreted(kernel: &Verified) -> Program {
        Program::compile_for(kernel, Level::interpreter(), Tuning::DEFAULT)
    }

    /// For how many shapes of launches there is machine code so far; it is written when a launch needs it.
    pub fn codes(&self) -> usize {
        self.machine.as_ref().map_or(0, Machine::codes)
    }

    fn compile_for(kernel: &Verified, level: Level, tuning: Tuning) -> Program {
        let code = compile::compile(&lower::lower(kernel.kernel(), level), level);
        let foldings = match &kernel.kernel().form {
            Form::Reduce { folds, .. } => {
                let dtype = |param: u32| kernel.kernel().params[param as usize].dtype;
                folds.iter().filter_map(|fold| Folding::new(fold, dtype, level)).collect()
            }
            Form::Elementwise { .. } | Form::Gather { .. } | Form::Scatter { .. } => Vec::new(),
        };
        let machine = Machine::new(kernel, level);
        Program { kernel: kernel.clone(), code, foldings, level, tuning, machine }
    }

    /// Runs the program once, on up to `threads` threads; the result is there when it returns.
    ///
    /// # Errors
    /// [`Verified::check`]'s; nothing was written then.
    ///
    /// # Safety
    /// During the call each memory is valid for its `len` elements, and nobody else accesses what
    /// the kernel writes, nor writes what it reads. Memories overlap only where all are read.
    pub unsafe fn run(&self, launch: &Launch, memory: &[Memory], threads: usize) -> Result<(), LaunchError> {
        self.kernel.check_memory(launch, memory.len(), |p| memory[p].len)?;
        let kernel = self.kernel.kernel();
        let (code, tuning, machine) = (&self.code, &self.tuning, self.machine.as_ref());
        let (level, threads) = (self.level, threads.max(1));
        let task = Task { kernel, code, machine, tuning, launch, memory, level, threads };
        // SAFETY: the launch is checked; the rest is the caller's promise.
        unsafe {
            match &kernel.form {
                Form::Elementwise { .. } => task.elementwise(),
                Form::Reduce { axes, folds } => match folds[..] {
                    [Fold::Exact { value, output }] => {
                        let dtype = kernel.body[value.index()].dtype;
                        exact::run(&task, axes, dtype, output as usize, self.level);
                    }
                    _ => reduce::run(&task, axes, &self.foldings),
                },
                Form::Gather { source, output, .. } => {
                    indexed::gather(&task, *source as usize, *output as usize)
                }
                Form::Scatter { output, add, .. } => indexed::scatter(&task, *output as usize, *add),
            }
        }
        Ok(())
    }
}

/// One launch.
struct Task<'r> {
    kernel: &'r Kernel,
    code: &'r Code,
    machine: Option<&'r Machine>,
    tuning: &'r Tuning,
    launch: &'r Launch,
    memory: &'r [Memory],
    level: Level,
    threads: usize,
}

impl<'r> Task<'r> {
    /// A run over the launch's points, ordered for parameter `param`.
    fn pointwise(&self, param: Option<usize>) -> Run<'r> {
        Run::new(self, self.ordered(param, &coordinate_dims(self.kernel)), false)
    }

    /// The launch's dimensions, ordered for parameter `param`; those that are `apart` are not merged with
    /// others.
    fn ordered(&self, param: Option<usize>, apart: &Dims<bool>) -> Layout {
        let order = by_largest_stride(self.launch, param.into_iter());
        Layout::new(self.launch, &order, |a, b| !apart[a] && !apart[b])
    }

    unsafe fn elementwise(&self) {
        let points = self.launch.points();
        if points == 0 {
            return;
        }
        let written = |s: &compile::Stored| points * self.kernel.params[s.param].dtype.size_bytes();
        let large = self.code.stores.iter().map(written).sum::<usize>() > self.tuning.stream_above_bytes;
        let first = self.code.stores.first().map(|s| s.param);
        let run = Run::lying(self, self.ordered(first, &coordinate_dims(self.kernel)), large);
        if let Some(rows) = self.machine.and_then(|machine| machine.rows(&run)) {
            let tiling = self.tiling(&run, usize::MAX);
            share_out(self.help_for(&run.layout), tiling.count(), Vec::new, |table, n| {
                // SAFETY: the caller's promise; a tile lies in the region, and each is given out once.
                unsafe { rows.tile(&tiling.get(n), table) };
                if run.stream {
                    copy::fence();
                }
            });
            return;
        }
        if let Some(packed) = PackedLaunch::new(self, &run) {
            // SAFETY: the caller's promise.
            unsafe { packed.run() };
            return;
        }
        let mut run = run.interpreted(self);
        // A stencil's rows begin and end within lines.
        let stencil = self.code.loads.iter().any(|load| load.offsets.iter().any(|&d| d != 0));
        run.stream &= !stencil || run.has_long_rows();
        self.for_each_tile(&run, |worker, tile| {
            // SAFETY: the caller's promise; a tile lies in the region.
            unsafe { eval_tile(&run, worker, tile) };
        });
    }

    /// How many threads a launch over these points is worth.
    fn help_for(&self, layout: &Layout) -> Parallelism {
        let steps = layout.points().saturating_mul(self.kernel.body.len());
        Parallelism {
            threads: (steps / self.tuning.thread_steps).clamp(1, self.threads),
            wakes: steps >= self.tuning.waking_steps,
        }
    }

    /// Cuts the region into boxes and gives them to threads.
    fn for_each_tile(&self, run: &Run<'_>, work: impl Fn(&mut Worker<'_>, &Tile) + Sync) {
        let near = |p: usize| run.params[p].inner_bytes.unsigned_abs() <= run.params[p].element_bytes;
        let far = self.code.loads.iter().any(|load| !near(load.param));
        let tiling = self.tiling(run, if far { STRIDED_LANES } else { usize::MAX });
        for_each_task(run, self.help_for(&run.layout), tiling.count(), |worker, n| {
            work(worker, &tiling.get(n))
        });
    }

    /// Boxes with rows of at most `inner` points.
    fn tiling(&self, run: &Run<'_>, inner: usize) -> Tiling {
        let (most, threads) = (self.tuning.task_points, self.help_for(&run.layout).threads);
        // More of small planes: the neighbours of a box's first and last ones are read by others, too.
        let most = if run.layout.plane() <= most / 2 { 2 * most } else { most };
        // A small launch, such as one tile's, is shared evenly.
        let task_points = most.min(run.layout.points().div_ceil(threads));
        Tiling::new(&run.layout, inner, task_points, threads)
    }
}

/// Calls `work` once for each task below `tasks`, in turn, on the threads that help.
fn for_each_task(
    run: &Run<'_>,
    help: Parallelism,
    tasks: usize,
    work: impl Fn(&mut Worker<'_>, usize) + Sync,
) {
    share_out(help, tasks, || Worker::new(run), work);
}

/// The same with a `worker` of each thread.
fn share_out<W>(
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
fn in_turns(help: Parallelism, tasks: usize, serve: impl Fn(&mut dyn Iterator<Item = usize>) + Sync) {
    let next = AtomicUsize::new(0);
    let take = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&n| n < tasks);
    let serve = || serve(&mut std::iter::from_fn(take));
    thread_pool::share(Parallelism { threads: help.threads.min(tasks), ..help }, &serve);
}

/// Computes and stores a box of an elementwise kernel.
///
/// # Safety
/// The launch was checked, the tile lies in its region, and nobody else writes there.
unsafe fn eval_tile(run: &Run<'_>, worker: &mut Worker<'_>, tile: &Tile) {
    let inner = run.layout.inner();
    let below =
        |index: &Dims<usize>| inner.checked_sub(1).map(|k| tile.start[k] + tile.extents[k] - index[k]);
    // SAFETY: the caller's promise.
    unsafe {
        for_each_chunk(run, worker, tile, |worker, chunk, index| {
            let whole = chunk.len == tile.extents[inner];
            worker.eval_rows(chunk, below(index).filter(|_| whole).unwrap_or(1))
        });
    }
}

/// Visits the chunks of a box in C order. `visit` gets the chunk, whose rows were pushed, and the index of
/// its first row, and returns how many rows it has done: those of the chunk, or more, up to the end of
/// the dimension before the innermost.
unsafe fn for_each_chunk(
    run: &Run<'_>,
    worker: &mut Worker<'_>,
    tile: &Tile,
    mut visit: impl FnMut(&mut Worker<'_>, Chunk, &Dims<usize>) -> usize,
) {
    let inner = run.layout.inner();
    let (first, len) = (tile.start[inner], tile.extents[inner]);
    // Short rows are computed several at a time, unless one chain can step down them in place.
    let group = if len < place::BLOCK && !run.rows_in_place() { (run.slot_chunk / len).max(1) } else { 1 };
    let mut index = tile.start;
    let mut more = true;
    while more {
        let at = index;
        worker.clear_rows();
        let mut rows = 0;
        while more && rows < group {
            worker.push_row(&index);
            rows += 1;
            more = advance(&mut index, tile, inner);
        }
        let mut start = first;
        while start < first + len {
            let most = worker.chunk_lanes(start);
            let chunk = Chunk { rows, start, len: most.min(first + len - start) };
            for _ in rows..visit(worker, chunk, &at) {
                more = advance(&mut index, tile, inner);
            }
            start += chunk.len;
        }
    }
}
