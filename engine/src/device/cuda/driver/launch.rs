//! Kernels on a GPU: entries, compiled by the driver and loaded when a launch first uses them; launches, queued
//! grid by grid as the writer schedules them.
//!
//! [`RetiredModules`]: modules of programs that nobody uses any more. They are unloaded when the device has
//! done what was queued until then. Nothing waits for that: each time another module is about to be loaded,
//! and after waits, what has become free is unloaded.
//!
//! Invariant: none is unloaded while a thread of this process captures a graph, which the driver would break
//! off.

use std::ffi::{CString, c_void};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, RwLockReadGuard};

use cudarc::driver::{result, sys};
use partita_kernels::ptx::{Facts, Grid, LaunchPlan, Span, emit_within};
use partita_kernels::{Launch, Verified, ptx};

use crate::config::config;
use crate::device::Stream;
use crate::device::cuda::driver::gpu::{CudaBuffer, CudaDevice};
use crate::device::cuda::driver::primary::{During, Event, Primary, Purpose};
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
        let ptx::Entry { name, shared, .. } = &*self.module.entries[entry];
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

/// Room for what the driver's compiler says.
const LOG_BYTES: usize = 8192;

/// An entry's text as a module. The driver keeps what it compiles on disk for other processes. The device's
/// context is current.
pub(super) fn load(name: &str, text: &str) -> Result<sys::CUmodule, CudaError> {
    let (mut log, mut module) = (CompilerLog::new(), std::ptr::null_mut());
    let terminated = [text.as_bytes(), b"\0"].concat();
    let loaded = log.with_options(|count, options, values| {
        let start = terminated.as_ptr().cast();
        // SAFETY: the text ends with a zero byte; options and values are as many as stated and outlive it.
        unsafe { sys::cuModuleLoadDataEx(&mut module, start, count, options, values) }
    });
    log.tell(name, text, loaded.result().during("loading a module"))?;
    Ok(module)
}

/// The compiler's log: errors in the text; registers and spills, if somebody reads them.
struct CompilerLog {
    errors: Vec<u8>,
    facts: Vec<u8>,
    options: [sys::CUjit_option; 5],
    values: [*mut c_void; 5],
}

impl CompilerLog {
    fn new() -> CompilerLog {
        use sys::CUjit_option_enum as Choice;
        let (mut errors, mut facts) = (vec![0u8; LOG_BYTES], vec![0u8; LOG_BYTES]);
        let options = [
            Choice::CU_JIT_ERROR_LOG_BUFFER,
            Choice::CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
            Choice::CU_JIT_INFO_LOG_BUFFER,
            Choice::CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
            Choice::CU_JIT_LOG_VERBOSE,
        ];
        // The driver takes sizes and switches as a pointer's value.
        let number = std::ptr::without_provenance_mut::<c_void>;
        let (error_log, fact_log) = (errors.as_mut_ptr().cast(), facts.as_mut_ptr().cast());
        let values = [error_log, number(LOG_BYTES), fact_log, number(LOG_BYTES), number(1)];
        CompilerLog { errors, facts, options, values }
    }

    /// Passes the options to a call: those of errors, and the others if somebody reads them.
    fn with_options<T>(
        &mut self,
        call: impl FnOnce(u32, *mut sys::CUjit_option, *mut *mut c_void) -> T,
    ) -> T {
        let count = if config().debug >= 2 { self.options.len() } else { 2 };
        call(count as u32, self.options.as_mut_ptr(), self.values.as_mut_ptr())
    }

    /// Prints what the compiler says of a kernel, or adds it to its refusal.
    fn tell(&self, name: &str, text: &str, outcome: Result<(), CudaError>) -> Result<(), CudaError> {
        let read = |log: &[u8]| String::from_utf8_lossy(log).trim_end_matches('\0').trim().to_owned();
        let (said, facts) = (read(&self.errors), read(&self.facts));
        if !facts.is_empty() {
            eprintln!("[cuda] compiled {name}: {facts}");
        }
        match outcome {
            Err(CudaError::Driver { code, text: words, .. }) if !said.is_empty() || is_of_ptx(&code) => {
                let log = format!("{code} ({words}) {said}").trim_end().to_owned();
                let (kernel, source_text) = (name.to_owned(), text.to_owned());
                Err(CudaError::Compile { kernel, log, source_text })
            }
            outcome => outcome,
        }
    }
}

/// Whether a driver's error is about what it was given to compile; it may leave the log empty.
fn is_of_ptx(code: &str) -> bool {
    let codes = ["INVALID_PTX", "UNSUPPORTED_PTX_VERSION", "NO_BINARY_FOR_GPU", "JIT_COMPILER_NOT_FOUND"];
    code.strip_prefix("CUDA_ERROR_").is_some_and(|code| codes.contains(&code))
}

/// Read by captures in progress, of all devices.
static CAPTURES: RwLock<()> = RwLock::new(());

/// Until it is dropped, no module is unloaded.
pub(super) fn capturing() -> RwLockReadGuard<'static, ()> {
    CAPTURES.read().unwrap_or_else(PoisonError::into_inner)
}

/// The modules of one device that nobody uses any more.
pub(super) struct RetiredModules {
    primary: Arc<Primary>,
    waiting: Mutex<Vec<Batch>>,
}

/// Modules that are free once the streams have reached their ends; these are marked at a quiet moment.
#[derive(Default)]
struct Batch {
    modules: Vec<LoadedModule>,
    ends: Vec<Event>,
}

/// A module's handle.
pub(super) struct LoadedModule(pub sys::CUmodule);

// SAFETY: the driver's handles may be used from any thread.
unsafe impl Send for LoadedModule {}

impl RetiredModules {
    pub(super) fn new(primary: &Arc<Primary>) -> RetiredModules {
        RetiredModules { primary: Arc::clone(primary), waiting: Mutex::default() }
    }

    /// Nobody launches the module any more. Calls no driver: this may be any thread at any time.
    pub(super) fn retire(&self, module: LoadedModule) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        match waiting.last_mut().filter(|batch| batch.ends.is_empty()) {
            Some(batch) => batch.modules.push(module),
            None => waiting.push(Batch { modules: vec![module], ends: Vec::new() }),
        }
    }

    /// Unloads what is free; waits for nothing. Not while a stream of this thread captures.
    pub(super) fn unload_free(&self) {
        let (Ok(mut waiting), Ok(_quiet)) = (self.waiting.try_lock(), CAPTURES.try_write()) else { return };
        if let Some(batch) = waiting.last_mut().filter(|batch| batch.ends.is_empty()) {
            // A device that is lost marks nothing; its modules go with it.
            batch.ends = Stream::ALL.into_iter().filter_map(|stream| self.end_of(stream).ok()).collect();
        }
        let is_free = |batch: &mut Batch| {
            batch.ends.len() == Stream::ALL.len() && batch.ends.iter().all(Event::is_reached)
        };
        let free: Vec<Batch> = waiting.extract_if(.., is_free).collect();
        free.iter().for_each(|batch| self.unload(batch));
    }

    fn end_of(&self, stream: Stream) -> Result<Event, CudaError> {
        let event = Event::new(&self.primary, Purpose::Order)?;
        event.mark(self.primary.stream(stream))?;
        Ok(event)
    }

    fn unload(&self, batch: &Batch) {
        for LoadedModule(module) in &batch.modules {
            // SAFETY: loaded once, unloaded once; no function of it is used any more.
            let unload = || unsafe { result::module::unload(*module) }.during("unloading a module");
            // On a lost device there is nothing to report.
            let _ = self.primary.with(unload);
        }
    }
}

impl Drop for RetiredModules {
    /// The device is closed.
    fn drop(&mut self) {
        let waiting = std::mem::take(self.waiting.get_mut().unwrap_or_else(PoisonError::into_inner));
        if !waiting.is_empty() {
            Stream::ALL.into_iter().for_each(|stream| self.primary.wait_stream(self.primary.stream(stream)));
        }
        waiting.iter().for_each(|batch| self.unload(batch));
    }
}
