//! Kernels compiled for the host, and their launches.

use super::body::compile::{Code, StoreStep, compile};
use super::body::lower;
use super::body::run::{ParamPlace, Run};
use super::body::worker::{eval_tile, for_each_tile};
use super::forms::indexed;
use super::forms::reduce::Reduction;
use super::forms::scan::{ScanLoops, ScanSource};
use super::jit_cache::JitCache;
use super::launch::{HostLaunch, Memory, Tuning, coordinate_dims};
use super::loops::copy;
use super::loops::level::Level;
use super::packing::PackedLaunch;
use super::thread_pool::share_out;
use crate::cpu::x86::IsaLevel;
use crate::ir::{Form, Launch, Scan};
use crate::verify::{LaunchError, Verified};

/// Lanes of a stencil's row that gains from non-temporal stores.
const LONG_ROW: usize = 2048;
/// Bytes of a row that the C library copies within caches as fast as machine code, or faster: some processors
/// copy without reading what they overwrite.
const LONG_COPY: usize = 2048;

/// A kernel compiled for this CPU. Compile once, run often, from any thread.
pub struct Program {
    kernel: Verified,
    /// Of a reduction: its folds. Code and machine code are those of its values.
    reduction: Option<Reduction>,
    /// Of a scan: its loops, and the programs of what has to be computed before.
    scan: Option<Box<ScanProgram>>,
    code: Code,
    jit: Option<JitCache>,
    level: Level,
    tuning: Tuning,
}

impl Program {
    /// Compiles a kernel: to machine code where possible, to compiled loops otherwise.
    pub fn compile(kernel: &Verified) -> Program {
        Program::compile_for(kernel, Instructions::best(), Tuning::DEFAULT)
    }

    /// Compiles a kernel to compiled loops only. The results have the same bits.
    pub fn compile_loops(kernel: &Verified) -> Program {
        Program::compile_for(kernel, Instructions::loops(), Tuning::DEFAULT)
    }

    /// Compiles a kernel to machine code of this ISA level where possible, to compiled loops otherwise and
    /// where this CPU lacks the level. The results have the same bits.
    pub fn compile_at(kernel: &Verified, code: Option<IsaLevel>) -> Program {
        let instructions = code.and_then(Instructions::of_code).unwrap_or_else(Instructions::loops);
        Program::compile_for(kernel, instructions, Tuning::DEFAULT)
    }

    /// For how many shapes of launches there is machine code so far; it is written when a launch needs it.
    pub fn codes(&self) -> usize {
        self.jit.as_ref().map_or(0, JitCache::codes)
    }

    /// About how many bytes it takes, with the machine code so far, besides the kernel.
    pub fn code_bytes(&self) -> usize {
        let steps = size_of_val(&self.code.steps[..]) + size_of_val(&self.code.prologue[..]);
        let computed = self.scan.iter().flat_map(|scan| scan.starts.iter().chain(&scan.values));
        let computed = computed.map(Program::code_bytes).sum::<usize>();
        steps + computed + self.jit.as_ref().map_or(0, JitCache::bytes)
    }

    /// Compiles for an instruction set and sizes: for tests.
    pub(super) fn compile_for(kernel: &Verified, instructions: Instructions, tuning: Tuning) -> Program {
        let level = instructions.loops;
        let reduction = match &kernel.kernel().form {
            Form::Reduce { axes, folds, .. } => Some(Reduction::new(kernel.kernel(), axes, folds, level)),
            Form::Elementwise { .. } | Form::Scan(_) | Form::Gather { .. } | Form::Scatter { .. } => None,
        };
        if let Form::Scan(scan) = &kernel.kernel().form {
            return Program::compile_scan(kernel, scan, instructions, tuning);
        }
        let computed = reduction.as_ref().map_or(kernel, |reduction| &reduction.values.kernel);
        let code = compile(&lower::lower(computed.kernel(), level));
        let folds = reduction.as_ref().map_or_else(Vec::new, |reduction| reduction.values.fold_ops());
        let jit = JitCache::new(computed, instructions.code, folds);
        Program { kernel: kernel.clone(), reduction, scan: None, code, jit, level, tuning }
    }

    fn compile_scan(kernel: &Verified, scan: &Scan, instructions: Instructions, tuning: Tuning) -> Program {
        let level = instructions.loops;
        let loops = ScanLoops::new(kernel.kernel(), scan, level);
        let computed = |source: &ScanSource| match source {
            ScanSource::Computed(kernel) => Some(Program::compile_for(kernel, instructions, tuning)),
            ScanSource::Constant(_) | ScanSource::Loaded(..) => None,
        };
        let (starts, values) = (computed(&loops.starts), computed(&loops.values));
        let scan = Some(Box::new(ScanProgram { loops, starts, values }));
        let code = Code::default();
        Program { kernel: kernel.clone(), reduction: None, scan, code, jit: None, level, tuning }
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
        let (code, tuning) = (&self.code, &self.tuning);
        let (level, threads) = (self.level, threads.max(1));
        let task = HostLaunch {
            kernel,
            footprint: self.kernel.footprint(),
            code,
            tuning,
            launch,
            memory,
            level,
            threads,
        };
        // SAFETY: the launch is checked; the rest is the caller's promise.
        unsafe {
            match &kernel.form {
                Form::Elementwise { .. } => elementwise(&task, self.jit.as_ref()),
                Form::Reduce { .. } => {
                    let reduction = self.reduction.as_ref().expect("a reduction is compiled as one");
                    reduction.run(&task, self.jit.as_ref());
                }
                Form::Scan(scan) => {
                    self.scan.as_ref().expect("a scan is compiled as one").run(&task, scan.output as usize);
                }
                Form::Gather { source, output, .. } => {
                    indexed::gather(&task, *source as usize, *output as usize)
                }
                Form::Scatter { output, add, .. } => indexed::scatter(&task, *output as usize, *add),
            }
        }
        Ok(())
    }
}

/// A scan, compiled.
struct ScanProgram {
    loops: ScanLoops,
    /// The program of the starts of lines, which runs first.
    starts: Option<Program>,
    values: Option<Program>,
}

impl ScanProgram {
    /// Computes what is not in memory, and walks the lines.
    ///
    /// # Safety
    /// As [`Program::run`], of a launch that was checked.
    unsafe fn run(&self, task: &HostLaunch<'_>, output: usize) {
        if task.launch.points() == 0 {
            return;
        }
        let compute = |program: &Program, launch: &Launch, memory: &[Memory]| {
            // SAFETY: a kernel of the same parameters, over points of the launch that was checked.
            let computed = unsafe { program.run(launch, memory, task.threads) };
            computed.expect("the launch was checked");
        };
        let size = task.kernel.params[output].dtype.size_bytes();
        let (launch, elements) = self.loops.start_launch(task.launch);
        let mut room = vec![0u64; if self.starts.is_some() { (elements * size).div_ceil(8) } else { 0 }];
        let starts = Memory { ptr: room.as_mut_ptr().cast(), len: elements };
        if let Some(program) = &self.starts {
            let mut memory = task.memory.to_vec();
            memory[output] = starts;
            compute(program, &launch, &memory);
        }
        if let Some(program) = &self.values {
            compute(program, task.launch, task.memory);
        }
        // SAFETY: the caller's promise.
        unsafe { self.loops.run(task, Some((&launch, starts))) };
    }
}

/// Computes an elementwise kernel.
unsafe fn elementwise(task: &HostLaunch<'_>, jit: Option<&JitCache>) {
    let points = task.launch.points();
    if points == 0 {
        return;
    }
    let written = |s: &StoreStep| points * task.kernel.params[s.param].dtype.size_bytes();
    let large = task.code.stores.iter().map(written).sum::<usize>() > task.tuning.stream_above_bytes;
    let first = task.code.stores.first().map(|s| s.param);
    let run = Run::placed(task, task.ordered(first, &coordinate_dims(task.kernel)), large);
    let jit = jit.filter(|_| !copies_long_rows(task, &run));
    if let Some(rows) = jit.and_then(|jit| jit.rows(&run)) {
        let tiling = task.tiling(&run.layout);
        share_out(task.parallelism(&run.layout), tiling.count(), Vec::new, |table, n| {
            // SAFETY: the caller's promise; a tile lies in the region, and each is given out once.
            unsafe { rows.tile(&tiling.get(n), table) };
            if run.stream {
                copy::fence();
            }
        });
        return;
    }
    if let Some(packed) = PackedLaunch::new(task, jit, &run) {
        // SAFETY: the caller's promise.
        unsafe { packed.run() };
        return;
    }
    let mut run = run.with_chunks(task);
    // A stencil's rows begin and end within cache lines, which non-temporal stores leave to plain ones.
    run.stream &= task.footprint.is_pointwise() || run.layout.extents[run.layout.inner()] >= LONG_ROW;
    for_each_tile(task, &run, |worker, tile| {
        // SAFETY: the caller's promise; a tile lies in the region.
        unsafe { eval_tile(&run, worker, tile) };
    });
}

/// Does a launch only copy contiguous rows, long ones that stay in cache?
fn copies_long_rows(task: &HostLaunch<'_>, run: &Run<'_>) -> bool {
    let lanes = run.layout.extents[run.layout.inner()];
    let is_long = |param: &ParamPlace| param.dense && lanes * param.element_bytes >= LONG_COPY;
    !run.stream && task.footprint.copies().is_some() && run.params.iter().all(is_long)
}

/// The instruction sets that a program is compiled to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Instructions {
    pub loops: Level,
    /// Machine code where there can be any; loops elsewhere.
    pub code: Option<IsaLevel>,
}

impl Instructions {
    /// The best of this CPU.
    pub(super) fn best() -> Instructions {
        IsaLevel::best().and_then(Instructions::of_code).unwrap_or_else(Instructions::loops)
    }

    /// The best loops of this CPU, and no machine code.
    pub(super) fn loops() -> Instructions {
        Instructions { loops: Level::best(), code: None }
    }

    /// Machine code of this level and loops of the same, if this CPU runs them.
    pub(super) fn of_code(code: IsaLevel) -> Option<Instructions> {
        code.is_available().then(|| Instructions { loops: Level::best(), code: Some(code) })
    }

    /// All that this CPU runs: loops of each level, with machine code and without.
    #[cfg(test)]
    pub(super) fn available() -> Vec<Instructions> {
        #[cfg(target_arch = "x86_64")]
        let levels = [Level::Baseline, Level::Avx2];
        #[cfg(not(target_arch = "x86_64"))]
        let levels = [Level::Baseline];
        let loops = levels.into_iter().filter(|&loops| loops <= Level::best());
        let codes = [IsaLevel::Avx2, IsaLevel::Avx512].into_iter().filter_map(Instructions::of_code);
        loops.map(|loops| Instructions { loops, code: None }).chain(codes).collect()
    }
}
