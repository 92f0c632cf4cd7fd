//! Kernels on a GPU: entries, loaded when a launch first uses them; launches, queued grid by grid as the
//! writer schedules them.

use std::ffi::{CString, c_void};
use std::sync::{Arc, OnceLock, PoisonError};

use cudarc::driver::{result, sys};
use partita_kernels::ptx::{self, Facts, Grid, LaunchPlan, Span, emit_within};
use partita_kernels::{Launch, Verified};

use super::compiler::load;
use super::gpu::{CudaBuffer, CudaDevice};
use super::modules::{LoadedModule, RetiredModules};
use super::primary::{During, Primary};
use crate::config::config;
use crate::device::Stream;
use crate::device::cuda::error::CudaError;
use crate::device::driver::own;
use crate::device::launch::Job;

/// A kernel written for one device. The driver compiles an entry when a launch first uses it.
pub(super) struct CudaProgram {
    kernel: Verified,
    module: ptx::Module,
    functions: Vec<OnceLock<Function>>,
    primary: Arc<Primary>,
    retired: Arc<RetiredModules>,
}

/// Shared memory that launches may give without asking for it first.
const SHARED_UNASKED: u32 = 48 << 10;

/// One entry, compiled: a module of its own.
pub(super) struct Function {
    handle: sys::CUfunction,
    /// Bytes of shared memory that each of its blocks is given.
    shared: u32,
    /// About what the driver has of it.
    bytes: usize,
    loaded: sys::CUmodule,
    retired: Arc<RetiredModules>,
}

// SAFETY: the driver's handles may be used from any thread.
unsafe impl Send for Function {}
// SAFETY: as for Send; driver calls are thread-safe.
unsafe impl Sync for Function {}

impl Drop for Function {
    fn drop(&mut self) {
        self.retired.retire(LoadedModule(self.loaded));
    }
}

impl CudaDevice {
    /// Writes a kernel for this device.
    pub(super) fn compiled(&self, kernel: &Verified) -> Result<CudaProgram, CudaError> {
        let module = emit_within(kernel, &self.facts.target, config().planes)?;
        let functions = module.entries.iter().map(|_| OnceLock::new()).collect();
        let (primary, retired) = (Arc::clone(&self.primary), Arc::clone(&self.retired));
        Ok(CudaProgram { kernel: kernel.clone(), module, functions, primary, retired })
    }
}

/// About what a loaded module takes in the driver, beside its code: a page of the device's memory, and
/// tables.
const MODULE_BYTES: usize = 16 << 10;

impl CudaProgram {
    /// The text of entries, and what the driver has of those that are loaded.
    pub(super) fn bytes(&self) -> usize {
        let loaded = self.functions.iter().filter_map(OnceLock::get).map(|function| function.bytes);
        self.module.text_bytes() + loaded.sum::<usize>()
    }

    /// An entry, compiled now if it was not before. If the driver refuses the PTX, the error has its log and
    /// the text. Not while a stream of this thread captures: the driver allows no loading then.
    pub(super) fn function(&self, entry: usize) -> Result<&Function, CudaError> {
        if let Some(function) = self.functions[entry].get() {
            return Ok(function);
        }
        let ptx::Entry { name, shared, .. } = &self.module.entries[entry];
        let text = self.module.text(entry);
        if config().debug >= 3 {
            eprintln!("{text}");
        }
        self.retired.unload_free();
        let retired = Arc::clone(&self.retired);
        let function = self.primary.with(|| {
            let loaded = load(name, &text)?;
            let (handle, bytes) = (std::ptr::null_mut(), text.len() + MODULE_BYTES);
            let mut function = Function { handle, shared: *shared, bytes, loaded, retired };
            let name = CString::new(name.as_str()).unwrap_or_default();
            // SAFETY: the module is loaded.
            let found = unsafe { result::module::get_function(loaded, name) };
            function.handle = found.during("finding a kernel in its module")?;
            if function.shared > SHARED_UNASKED {
                use sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
                let most = (CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, function.shared as i32);
                // SAFETY: the function was found above.
                unsafe { result::function::set_function_attribute(function.handle, most.0, most.1) }
                    .during("allowing a kernel its shared memory")?;
            }
            Ok(function)
        })?;
        // Of two threads that compile it at once one is the first.
        Ok(self.functions[entry].get_or_init(|| function))
    }
}

impl CudaProgram {
    /// Checks the launch against its memory; afterwards no point of it lies outside.
    fn check(&self, job: &Job) -> Result<Vec<Span>, CudaError> {
        let spans = job.memory.iter().map(|memory| memory.own::<CudaBuffer>());
        let spans: Vec<Span> =
            spans.map(|buffer| Span { address: buffer.address, bytes: buffer.bytes }).collect();
        let params = spans.iter().zip(&self.kernel.kernel().params);
        let lens: Vec<usize> =
            params.map(|(span, param)| span.bytes as usize / param.dtype.size_bytes()).collect();
        self.kernel.check(&job.launch, &lens)?;
        self.module.check(&job.launch)?;
        Ok(spans)
    }
}

/// The kernel of a job, as this driver has it.
pub(super) fn program(job: &Job) -> &CudaProgram {
    own(&*job.program.code)
}

/// The plan of a job, or of jobs of one program over boxes that have nothing to do with each other.
pub(super) fn plan_of(jobs: &[Job], facts: Facts) -> Result<LaunchPlan, CudaError> {
    let spans = jobs.iter().map(|job| program(job).check(job));
    let spans = spans.collect::<Result<Vec<Vec<Span>>, CudaError>>()?;
    if let [first, _, ..] = jobs {
        let boxes: Vec<(&Launch, &[Span])> =
            jobs.iter().zip(&spans).map(|(job, spans)| (&*job.launch, &spans[..])).collect();
        if let Some(plan) = program(first).module.plan_batch(&boxes) {
            return Ok(plan);
        }
    }
    let each =
        jobs.iter().zip(&spans).map(|(job, spans)| program(job).module.plan(&job.launch, spans, facts));
    Ok(each.fold(LaunchPlan::default(), LaunchPlan::then))
}

impl CudaDevice {
    /// Queues a job, or jobs of one program over boxes of which none writes what another uses: in as few
    /// launches as possible. A failure while a kernel runs is reported by a later call.
    pub(super) fn queue(&self, stream: Stream, jobs: &[Job]) -> Result<(), CudaError> {
        let Some(first) = jobs.first() else { return Ok(()) };
        let plan = plan_of(jobs, self.schedule_facts())?;
        // Held until everything is queued: another thread's reduction must not come in between.
        let mut scratch = self.scratch[stream as usize].lock().unwrap_or_else(PoisonError::into_inner);
        if scratch.as_ref().map_or(0, |held| held.bytes) < plan.scratch_bytes {
            // The old one is freed first; the driver waits for the work that uses it.
            *scratch = None;
            *scratch = Some(self.new_buffer(plan.scratch_bytes)?);
        }
        let grids = plan.grids(scratch.as_ref().map_or(0, |held| held.address));
        let stream = self.primary.stream(stream);
        self.primary.with(|| {
            grids.iter().try_for_each(|grid| queue(program(first).function(grid.entry)?, grid, stream))
        })
    }
}

/// Queues one grid; the device's context is current.
pub(super) fn queue(function: &Function, grid: &Grid, stream: sys::CUstream) -> Result<(), CudaError> {
    let [x, y, z] = grid.grid;
    let [bx, by, bz] = grid.block;
    let mut params = [grid.params.as_ptr().cast_mut().cast::<c_void>()];
    let (grid, block) = ((x, y, z), (bx, by, bz));
    // SAFETY: the module is loaded; its one parameter is as long as `params`, which the driver copies; the
    // launch was checked against its memory, which the engine keeps until the work is done.
    unsafe { result::launch_kernel(function.handle, grid, block, function.shared, stream, &mut params) }
        .during("launching a kernel")
}
