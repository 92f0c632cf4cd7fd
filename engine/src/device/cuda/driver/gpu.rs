//! One NVIDIA GPU: opening it; its memory: ours, shared by another process, or borrowed from another
//! library; and kernels on it: entries, which the driver compiles and loads when a launch first uses them,
//! and launches, queued grid by grid as the writer schedules them.

use std::collections::BTreeSet;
use std::ffi::{CString, c_void};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use cudarc::driver::{DriverError, result, sys};
use partita_kernels::ptx::{Facts, Grid, LaunchPlan, PtxTarget, Span, emit_within};
use partita_kernels::{Launch, Verified, ptx};

use crate::config::config;
use crate::device::Stream;
use crate::device::cuda::driver::copies::Staging;
use crate::device::cuda::driver::primary::{
    During, Event, LoadedModule, OwnStream, Primary, Purpose, RetiredModules,
};
use crate::device::cuda::error::CudaError;
use crate::device::cuda::vendor;
use crate::device::driver::{Job, Opaque, own};
use crate::device::memory::{Allocation, DeviceMemory};
/// Memory of one device. Freed, closed or let go when dropped.
pub(super) struct CudaBuffer {
    primary: Arc<Primary>,
    pub address: u64,
    pub bytes: u64,
    origin: CudaOrigin,
}

/// The origin of memory, which decides how it is given back.
pub(super) enum CudaOrigin {
    /// `cuMemAlloc`.
    Allocated,
    /// `cuIpcOpenMemHandle`.
    Opened,
    /// Another owner's, kept alive by the value.
    Borrowed { _owner: Opaque },
}

/// The address of bytes that the engine knows to lie inside.
pub(super) fn within(memory: &Allocation, offset: u64) -> u64 {
    memory.own::<CudaBuffer>().address + offset
}

impl DeviceMemory for CudaBuffer {
    fn cuda_address(&self) -> Option<u64> {
        Some(self.address)
    }

    fn wire_address(&self) -> Option<usize> {
        match self.origin {
            CudaOrigin::Allocated => Some(self.address as usize),
            CudaOrigin::Opened | CudaOrigin::Borrowed { .. } => None,
        }
    }
}

impl Drop for CudaBuffer {
    fn drop(&mut self) {
        let (address, primary) = (self.address, &self.primary);
        // After a failure that loses the device its memory is gone with it; there is nothing to report.
        let _ = match &self.origin {
            CudaOrigin::Allocated => primary.with(|| {
                // SAFETY: allocated in `new_buffer`, freed once; the driver waits for work that uses it.
                unsafe { result::free_sync(address) }.during("freeing memory")
            }),
            CudaOrigin::Opened => primary.with(|| {
                // SAFETY: opened in `import_memory`, closed once.
                unsafe { sys::cuIpcCloseMemHandle(address) }.result().during("closing shared memory")
            }),
            CudaOrigin::Borrowed { .. } => Ok(()),
        };
    }
}

/// The properties of a GPU.
pub(super) struct CudaFacts {
    /// The driver's name of it.
    pub name: String,
    /// Streaming multiprocessors.
    multiprocessors: u32,
    /// True for a driver that computes on the processor, which tests use.
    pub is_simulated: bool,
    /// Whether streams wait for 64-bit words, also in graphs.
    pub has_words: bool,
    /// The target that kernels are written for.
    pub target: PtxTarget,
}

/// One GPU, opened. Work of all threads runs in the order of the calls, stream by stream.
pub(super) struct CudaDevice {
    pub primary: Arc<Primary>,
    pub facts: CudaFacts,
    pub staging: Mutex<Staging>,
    /// By stream: its end when another stream last began to wait for it.
    pub ends: [Event; 2],
    /// By stream: partial results of reductions, which work in order may share.
    pub scratch: [Mutex<Option<CudaBuffer>>; 2],
    /// Modules to be unloaded.
    pub retired: Arc<RetiredModules>,
    /// The devices whose direct access was tried already, with whatever outcome.
    reached: Mutex<BTreeSet<sys::CUdevice>>,
    /// For writes that wait for no work, once needed.
    pub release_stream: OnceLock<OwnStream>,
}

/// The number of devices that the driver shows.
pub(in crate::device) fn count() -> Result<usize, CudaError> {
    loaded()?;
    result::device::get_count().during("counting devices").map(|n| n.max(0) as usize)
}

/// Why there is no device, in words for people.
pub fn absence() -> String {
    let none = |found| CudaError::NoDevice { index: 0, found };
    count().map_or_else(|error| error.to_string(), |found| none(found).to_string())
}

/// The file that was loaded as the driver: a toolkit's stub or a container's older one may come first on the
/// library path. None without a driver, or where the system does not say.
pub fn library() -> Option<String> {
    loaded().ok()?;
    // SAFETY: the library is there and stays loaded; the symbol is not called.
    let symbol = unsafe { sys::culib().get::<unsafe extern "C" fn()>(b"cuInit") }.ok()?;
    vendor::file_of(*symbol as *const c_void)
}

/// Loads and starts the driver, in one process: in one forked from it the driver is of no use.
fn loaded() -> Result<(), CudaError> {
    static STARTED_IN: OnceLock<u32> = OnceLock::new();
    // SAFETY: looks for the library and keeps it loaded; the driver's library has no other conditions.
    if !unsafe { sys::is_culib_present() } {
        return Err(CudaError::NoDriver);
    }
    if *STARTED_IN.get_or_init(std::process::id) != std::process::id() {
        return Err(CudaError::Forked);
    }
    result::init().during("starting the driver")
}

impl CudaDevice {
    pub(super) fn open(index: usize) -> Result<CudaDevice, CudaError> {
        let found = count()?;
        if index >= found {
            return Err(CudaError::NoDevice { index, found });
        }
        let device = result::device::get(index as i32).during("opening a device")?;
        let facts = facts(device)?;
        let primary = Arc::new(Primary::retain(device)?);
        let staging = Mutex::new(Staging::new(&primary));
        let end = || Event::new(&primary, Purpose::Order);
        let ends = [end()?, end()?];
        let (scratch, reached, release_stream) = Default::default();
        let retired = Arc::new(RetiredModules::new(&primary));
        Ok(CudaDevice { primary, facts, staging, ends, scratch, retired, reached, release_stream })
    }

    pub(super) fn new_buffer(&self, bytes: u64) -> Result<CudaBuffer, CudaError> {
        // SAFETY: contents are arbitrary until written, which the engine's storage allows for.
        let allocate = || match unsafe { result::malloc_sync(bytes as usize) } {
            Err(DriverError(sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY)) => {
                Err(CudaError::OutOfMemory { bytes })
            }
            outcome => outcome.during("allocating memory"),
        };
        Ok(self.buffer(self.primary.with(allocate)?, bytes, CudaOrigin::Allocated))
    }

    pub(super) fn buffer(&self, address: u64, bytes: u64, origin: CudaOrigin) -> CudaBuffer {
        CudaBuffer { primary: Arc::clone(&self.primary), address, bytes, origin }
    }

    pub(super) fn schedule_facts(&self) -> Facts {
        Facts { multiprocessors: self.facts.multiprocessors }
    }

    /// Whether an address is memory of this device; an error if the driver has no such memory.
    pub(super) fn holds(&self, address: u64) -> Result<bool, CudaError> {
        use sys::CUpointer_attribute_enum::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL;
        let mut ordinal: i32 = -1;
        // SAFETY: the attribute is an int, and the pointer is to a local one.
        let mut ask = || unsafe {
            let out = std::ptr::from_mut(&mut ordinal).cast();
            sys::cuPointerGetAttribute(out, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address)
        };
        self.primary.with(|| ask().result().during("asking whose memory an address is"))?;
        Ok(ordinal == self.primary.device)
    }

    pub(super) fn staging(&self) -> MutexGuard<'_, Staging> {
        self.staging.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Copies bytes to another GPU, behind all work queued on the receiving one's stream so far. The caller
    /// makes the two wait for each other, as often as is needed and no more (`Driver::after`): the copies of
    /// one exchange then run side by side.
    pub(super) fn copy_between(
        &self,
        stream: Stream,
        source: u64,
        to_gpu: &CudaDevice,
        target: u64,
        bytes: usize,
    ) -> Result<(), CudaError> {
        let (giver, taker) = (&self.primary, &to_gpu.primary);
        let (to, from, stream) = (taker.handle, giver.handle, taker.stream(stream));
        // Memory of other processes that was opened here is in a context of ours too.
        let is_within = Arc::ptr_eq(taker, giver);
        if !is_within {
            to_gpu.reach(self)?;
        }
        // SAFETY: both ranges lie inside live buffers, which the engine keeps until the copy is done.
        let copy = || unsafe {
            match is_within {
                true => result::memcpy_dtod_async(target, source, bytes, stream),
                false => result::memcpy_peer_async(to, target, from, source, bytes, stream),
            }
        };
        taker.with(|| copy().during("copying between devices"))
    }

    /// Enables direct access to the other GPU's memory where there is any, once; without it the driver stages
    /// copies.
    pub(super) fn reach(&self, other: &CudaDevice) -> Result<(), CudaError> {
        let mut reached = self.reached.lock().unwrap_or_else(PoisonError::into_inner);
        if reached.contains(&other.primary.device) {
            return Ok(());
        }
        self.enable(other)?;
        reached.insert(other.primary.device);
        Ok(())
    }

    fn enable(&self, other: &CudaDevice) -> Result<(), CudaError> {
        let mut can = 0;
        // SAFETY: the pointer is to a local; both devices come from the driver.
        let mut ask =
            || unsafe { sys::cuDeviceCanAccessPeer(&mut can, self.primary.device, other.primary.device) };
        ask().result().during("asking for peer access")?;
        if can == 0 {
            return Ok(());
        }
        self.primary.with(|| {
            // SAFETY: the other context is retained.
            match unsafe { sys::cuCtxEnablePeerAccess(other.primary.handle, 0) } {
                sys::CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED => Ok(()),
                code => code.result().during("turning peer access on"),
            }
        })
    }
}

fn facts(device: sys::CUdevice) -> Result<CudaFacts, CudaError> {
    use sys::CUdevice_attribute_enum as Attribute;
    let name = result::device::get_name(device).during("asking a device's name")?;
    let attribute = |attribute| {
        // SAFETY: `device` comes from the driver.
        unsafe { result::device::get_attribute(device, attribute) }.during("asking a device's attributes")
    };
    let major = attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
    let minor = attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
    let Some(target) = PtxTarget::of(major, minor) else {
        return Err(CudaError::OldGpu { gpu: name, major, minor });
    };
    let mut driver = 0;
    // SAFETY: the pointer is to a local.
    unsafe { sys::cuDriverGetVersion(&mut driver) }.result().during("asking the driver's version")?;
    let needs = oldest_driver(target);
    if driver < needs {
        let text = |version: i32| format!("{}.{}", version / 1000, version % 1000 / 10);
        return Err(CudaError::OldDriver { gpu: name, has: text(driver), needs: text(needs) });
    }
    Ok(CudaFacts {
        is_simulated: name.contains("simulated"),
        // Graphs have them from CUDA 11.7 on, and without a setting of the kernel module from 12 on.
        has_words: driver >= 12_000
            && attribute(Attribute::CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS)? != 0,
        multiprocessors: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?.max(1) as u32,
        name,
        target,
    })
}

/// The first CUDA version whose driver reads the PTX version the writer uses for a target.
fn oldest_driver(target: PtxTarget) -> i32 {
    match target.sm {
        // Before CUDA 11.4 a driver lacks `cuGraphInstantiateWithFlags`.
        ..=80 => 11_040,
        81..=90 => 11_080,
        _ => 12_070,
    }
}

/// A kernel written for one device. The driver compiles an entry when a launch first uses it.
pub(super) struct CudaProgram {
    kernel: Verified,
    module: ptx::Module,
    functions: Vec<OnceLock<Function>>,
    /// The same entries, if they have room for a guard, and where their parameter has its address.
    guarded: Vec<OnceLock<Option<(Function, usize)>>>,
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
        // Each entry by itself, and with a table of launches.
        let entries = 2 * module.entries.len();
        let functions = (0..entries).map(|_| OnceLock::new()).collect();
        let guarded = (0..entries).map(|_| OnceLock::new()).collect();
        let (primary, retired) = (Arc::clone(&self.primary), Arc::clone(&self.retired));
        Ok(CudaProgram { kernel: kernel.clone(), module, functions, guarded, primary, retired })
    }
}

/// About what a loaded module takes in the driver, beside its code: a page of the device's memory, and
/// tables.
const MODULE_BYTES: usize = 16 << 10;

impl CudaProgram {
    /// The text of entries, and what the driver has of those that are loaded.
    pub(super) fn bytes(&self) -> usize {
        let guarded = self.guarded.iter().filter_map(|guarded| Some(&guarded.get()?.as_ref()?.0));
        let loaded = self.functions.iter().filter_map(OnceLock::get).chain(guarded);
        let loaded = loaded.map(|function| function.bytes);
        self.module.text_bytes() + loaded.sum::<usize>()
    }

    /// An entry, compiled now if it was not before. If the driver refuses the PTX, the error has its log and
    /// the text. Not while a stream of this thread captures: the driver allows no loading then.
    pub(super) fn function(&self, entry: usize) -> Result<&Function, CudaError> {
        if let Some(function) = self.functions[entry].get() {
            return Ok(function);
        }
        let function = self.load(entry, &self.module.text(entry))?;
        // Of two threads that compile it at once one is the first.
        Ok(self.functions[entry].get_or_init(|| function))
    }

    /// An entry that does nothing where a word is not 0, and where its parameter has the word's address, as
    /// [`CudaProgram::function`]; `None` if there is no room for that.
    pub(super) fn guarded(&self, entry: usize) -> Result<Option<&(Function, usize)>, CudaError> {
        if let Some(guarded) = self.guarded[entry].get() {
            return Ok(guarded.as_ref());
        }
        let text = self.module.guarded_text(entry);
        let guarded = text.map(|(text, at)| self.load(entry, &text).map(|function| (function, at)));
        let guarded = guarded.transpose()?;
        Ok(self.guarded[entry].get_or_init(|| guarded).as_ref())
    }

    fn load(&self, entry: usize, text: &str) -> Result<Function, CudaError> {
        let ptx::Entry { name, shared, .. } = self.module.entry_of(entry);
        if config().debug >= 3 {
            eprintln!("{text}");
        }
        self.retired.unload_free();
        let retired = Arc::clone(&self.retired);
        self.primary.with(|| {
            let loaded = load(name, text)?;
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
        })
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
    Ok(match jobs {
        [first, _, ..] => program(first).module.together(each),
        _ => each.fold(LaunchPlan::default(), LaunchPlan::then),
    })
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
