//! One NVIDIA GPU: opening it; its memory: ours, shared by another process, or borrowed from another library; and
//! what [`Driver`] and [`Sharing`] need, as calls of the driver.

use std::any::Any;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use cudarc::driver::{result, sys};
use partita_kernels::Verified;
use partita_kernels::ptx::{Facts, PtxTarget};

use crate::device::cuda::driver::copies::{PinnedDownload, Staging};
use crate::device::cuda::driver::graph::GraphRecording;
use crate::device::cuda::driver::launch::{CudaProgram, RetiredModules};
use crate::device::cuda::driver::primary::{During, Event, Primary, Purpose};
use crate::device::cuda::error::CudaError;
use crate::device::driver::{
    DeviceKind, Driver, DriverError, DriverResult, IpcHandle, Opaque, SharedEvent, Sharing, Stream,
    StreamWork, own,
};
use crate::device::launch::Job;
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
    #[cfg(unix)]
    {
        // SAFETY: the library is there and stays loaded; the symbol is not called.
        let symbol = unsafe { sys::culib().get::<unsafe extern "C" fn()>(b"cuInit") }.ok()?;
        let mut found = libc::Dl_info {
            dli_fname: std::ptr::null(),
            dli_fbase: std::ptr::null_mut(),
            dli_sname: std::ptr::null(),
            dli_saddr: std::ptr::null_mut(),
        };
        // SAFETY: the place is a local.
        let is_found = unsafe { libc::dladdr(*symbol as *const libc::c_void, &mut found) } != 0;
        if is_found && !found.dli_fname.is_null() {
            // SAFETY: the loader's text, which stays as long as the library.
            let path = unsafe { std::ffi::CStr::from_ptr(found.dli_fname) };
            return Some(path.to_string_lossy().into_owned());
        }
    }
    None
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
        let (scratch, reached) = Default::default();
        let retired = Arc::new(RetiredModules::new(&primary));
        Ok(CudaDevice { primary, facts, staging, ends, scratch, retired, reached })
    }

    pub(super) fn new_buffer(&self, bytes: u64) -> Result<CudaBuffer, CudaError> {
        // SAFETY: contents are arbitrary until written, which the engine's storage allows for.
        let allocate = || match unsafe { result::malloc_sync(bytes as usize) } {
            Err(result::DriverError(sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY)) => {
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

/// Opens the n-th device the driver shows; an error if there is none, or it is too old.
pub(in crate::device) fn open(index: usize) -> Result<Box<dyn Driver>, CudaError> {
    CudaDevice::open(index).map(|gpu| Box::new(gpu) as _)
}

impl Driver for CudaDevice {
    fn kind(&self) -> DeviceKind {
        DeviceKind::Cuda
    }

    fn name(&self) -> &str {
        &self.facts.name
    }

    fn is_software(&self) -> bool {
        self.facts.is_simulated
    }

    fn max_params(&self) -> usize {
        // So many fit into a kernel's 4 KiB of parameters at the largest rank: D3Q19 has 38.
        40
    }

    fn page_bytes(&self) -> u64 {
        2 << 20
    }

    fn alloc(&self, bytes: u64) -> DriverResult<Box<dyn DeviceMemory>> {
        Ok(Box::new(self.new_buffer(bytes)?))
    }

    unsafe fn borrow(
        &self,
        address: u64,
        bytes: u64,
        owner: Opaque,
    ) -> DriverResult<Option<Box<dyn DeviceMemory>>> {
        let ours = self.holds(address)?;
        let origin = CudaOrigin::Borrowed { _owner: owner };
        Ok(ours.then(|| Box::new(self.buffer(address, bytes, origin)) as _))
    }

    fn upload(&self, stream: Stream, to: &Allocation, offset: u64, data: &[u8]) -> DriverResult<()> {
        Ok(self.staging().upload(stream, within(to, offset), data)?)
    }

    fn download(&self, stream: Stream, from: &Allocation, offset: u64, out: &mut [u8]) -> DriverResult<()> {
        Ok(self.staging().download(stream, within(from, offset), out)?)
    }

    fn start_download(
        &self,
        stream: Stream,
        from: &Allocation,
        offset: u64,
        bytes: usize,
    ) -> DriverResult<Option<Box<dyn Any + Send>>> {
        Ok(Some(Box::new(self.staging().start_download(stream, within(from, offset), bytes)?)))
    }

    fn finish_download(&self, download: Box<dyn Any + Send>, out: &mut [u8]) -> DriverResult<()> {
        let Ok(download) = download.downcast::<PinnedDownload>() else { unreachable!("made above") };
        download.land(out)?;
        self.staging().keep(*download);
        Ok(())
    }

    fn copy_to(
        &self,
        stream: Stream,
        (from, from_offset): (&Allocation, u64),
        other: &dyn Driver,
        (to, to_offset): (&Allocation, u64),
        bytes: u64,
    ) -> DriverResult<bool> {
        let Some(other) = CudaDevice::behind(other) else { return Ok(false) };
        let (source, target) = (within(from, from_offset), within(to, to_offset));
        self.copy_between(stream, source, other, target, bytes as usize)?;
        Ok(true)
    }

    fn compile(&self, kernel: &Verified) -> DriverResult<Opaque> {
        match self.compiled(kernel) {
            Ok(program) => Ok(Box::new(program)),
            Err(error @ CudaError::Unsupported(_)) => Err(DriverError::Unsupported(error.to_string())),
            Err(failure) => Err(failure.into()),
        }
    }

    fn code_bytes(&self, code: &Opaque) -> usize {
        own::<CudaProgram>(&**code).bytes()
    }

    fn launch(&self, stream: Stream, jobs: &[Job]) -> DriverResult<()> {
        Ok(self.queue(stream, jobs)?)
    }

    fn record(&self, groups: &[Vec<Job>]) -> DriverResult<Option<Opaque>> {
        Ok(Some(Box::new(self.recorded(groups)?)))
    }

    fn record_streams(&self, work: &[StreamWork]) -> DriverResult<Option<Opaque>> {
        Ok(self.recorded_streams(work)?.map(|graph| Box::new(graph) as _))
    }

    fn replay(&self, stream: Stream, recording: &Opaque) -> DriverResult<()> {
        Ok(own::<GraphRecording>(&**recording).launch(self.primary.stream(stream))?)
    }

    fn wait(&self) -> DriverResult<()> {
        Stream::ALL.into_iter().try_for_each(|stream| self.wait_for(stream))?;
        self.retired.unload_free();
        Ok(())
    }

    fn wait_for(&self, stream: Stream) -> DriverResult<()> {
        let stream = self.primary.stream(stream);
        // SAFETY: the stream lives as long as `primary`.
        let wait = || unsafe { result::stream::synchronize(stream) }.during("waiting for the device");
        Ok(self.primary.with(wait)?)
    }

    /// If the driver refuses, the stream is synchronized instead, so the order still holds.
    fn after(&self, stream: Stream, first: &dyn Driver, first_stream: Stream) -> DriverResult<()> {
        let Some(first) = CudaDevice::behind(first) else { return Ok(()) };
        // Another thread may record the event again in between: then the wait covers more, never less.
        let (end, other) = (&first.ends[first_stream as usize], first.primary.stream(first_stream));
        Ok(end
            .mark(other)
            .and_then(|()| end.block(&self.primary, self.primary.stream(stream)))
            .inspect_err(|_| first.primary.wait_stream(other))?)
    }

    fn timestamp(&self, stream: Stream) -> DriverResult<Option<Opaque>> {
        let event = Event::new(&self.primary, Purpose::Measure)?;
        event.mark(self.primary.stream(stream))?;
        Ok(Some(Box::new(event)))
    }

    fn seconds_between(&self, earlier: &Opaque, later: &Opaque) -> DriverResult<f64> {
        Ok(own::<Event>(&**later).seconds_since(own(&**earlier))?)
    }

    fn sharing(&self) -> Option<&dyn Sharing> {
        Some(self)
    }
}

/// Handles are those of CUDA IPC.
impl Sharing for CudaDevice {
    /// The stream `Compute`'s, because whoever uses the other joins it again.
    fn stream(&self) -> u64 {
        self.primary.stream(Stream::Compute) as u64
    }

    unsafe fn publish_to(&self, stream: u64) -> DriverResult<()> {
        let event = Event::new(&self.primary, Purpose::Order)?;
        event.mark(self.primary.stream(Stream::Compute))?;
        Ok(event.block(&self.primary, stream as sys::CUstream)?)
    }

    unsafe fn await_stream(&self, stream: u64) -> DriverResult<()> {
        let event = Event::new(&self.primary, Purpose::Order)?;
        event.mark(stream as sys::CUstream)?;
        Ok(event.block(&self.primary, self.primary.stream(Stream::Compute))?)
    }

    fn wait_for_all(&self) -> DriverResult<()> {
        let wait = || result::ctx::synchronize().during("waiting for all work on the device");
        Ok(self.primary.with(wait)?)
    }

    fn export_memory(&self, memory: &Allocation) -> DriverResult<IpcHandle> {
        let mut handle = sys::CUipcMemHandle { reserved: [0; 64] };
        // SAFETY: the handle is a local; the address is of a live allocation.
        let mut get = || unsafe { sys::cuIpcGetMemHandle(&mut handle, within(memory, 0)) }.result();
        self.primary.with(|| get().during("sharing memory with another process"))?;
        Ok(IpcHandle(handle.reserved.map(|byte| byte as u8)))
    }

    fn import_memory(&self, handle: IpcHandle, bytes: u64) -> DriverResult<Box<dyn DeviceMemory>> {
        let handle = sys::CUipcMemHandle { reserved: handle.0.map(|byte| byte as std::ffi::c_char) };
        let lazily = sys::CUipcMem_flags_enum::CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS as u32;
        let mut address = 0;
        // SAFETY: the pointer is to a local.
        let mut open = || unsafe { sys::cuIpcOpenMemHandle_v2(&mut address, handle, lazily) }.result();
        self.primary.with(|| open().during("opening another process's memory"))?;
        Ok(Box::new(self.buffer(address, bytes, CudaOrigin::Opened)))
    }

    fn ipc_event(&self) -> DriverResult<Box<dyn SharedEvent>> {
        Ok(Box::new(Event::new(&self.primary, Purpose::Share)?))
    }

    fn import_event(&self, handle: IpcHandle) -> DriverResult<Box<dyn SharedEvent>> {
        let handle = sys::CUipcEventHandle { reserved: handle.0.map(|byte| byte as std::ffi::c_char) };
        let mut raw = std::ptr::null_mut();
        // SAFETY: the pointer is to a local.
        let mut open = || unsafe { sys::cuIpcOpenEventHandle(&mut raw, handle) }.result();
        self.primary.with(|| open().during("opening another process's event"))?;
        Ok(Box::new(Event::opened(&self.primary, raw)))
    }
}

impl SharedEvent for Event {
    fn export(&self) -> DriverResult<IpcHandle> {
        let mut handle = sys::CUipcEventHandle { reserved: [0; 64] };
        // SAFETY: the handle is a local; the event is alive.
        let mut get = || unsafe { sys::cuIpcGetEventHandle(&mut handle, self.raw) }.result();
        self.primary.with(|| get().during("sharing an event with another process"))?;
        Ok(IpcHandle(handle.reserved.map(|byte| byte as u8)))
    }

    fn record(&self, stream: Stream) -> DriverResult<()> {
        Ok(self.mark(self.primary.stream(stream))?)
    }

    fn hold(&self, stream: Stream) -> DriverResult<()> {
        Ok(self.block(&self.primary, self.primary.stream(stream))?)
    }
}
