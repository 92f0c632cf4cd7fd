//! One NVIDIA GPU: opening it, its memory, the order of its streams, and what other libraries of the process
//! need to share it.

use std::any::Any;
use std::sync::{Arc, Mutex, OnceLock};

use cudarc::driver::{DriverError, result, sys};
use partita_kernels::ptx::{Facts, PtxTarget};

use super::buffer::{CudaBuffer, CudaOrigin};
use super::event::{Event, Purpose, TimedEvent};
use super::primary::Primary;
use super::staging::Staging;
use crate::device::Stream;
use crate::device::cuda::during::During;
use crate::device::cuda::error::CudaError;

/// What a GPU is and can.
#[derive(Clone, Debug)]
pub(super) struct CudaFacts {
    /// The driver's name of it.
    pub name: String,
    /// Streaming multiprocessors.
    pub multiprocessors: u32,
    /// True for a driver that computes on the processor, which tests use.
    pub is_simulated: bool,
    /// What kernels are written for.
    pub target: PtxTarget,
}

/// One GPU, opened. Work of all threads runs in the order of the calls, stream by stream.
pub(in crate::device) struct CudaDevice {
    pub(super) primary: Arc<Primary>,
    pub(super) facts: CudaFacts,
    pub(super) staging: Mutex<Staging>,
    /// By stream: its end when another stream last began to wait for it.
    pub(super) ends: [Event; 2],
    /// By stream: partial results of reductions, which work in order may share.
    pub(super) scratch: [Mutex<Option<CudaBuffer>>; 2],
}

/// How many devices the driver shows.
///
/// # Errors
/// If there is no driver, or it does not start.
pub(in crate::device) fn count() -> Result<usize, CudaError> {
    loaded()?;
    result::device::get_count().during("counting devices").map(|n| n.max(0) as usize)
}

/// Why there is no device, in words for people.
pub fn absence() -> String {
    let none = |found| CudaError::NoDevice { index: 0, found };
    count().map_or_else(|error| error.to_string(), |found| none(found).to_string())
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
    /// Opens the n-th device the driver shows.
    ///
    /// # Errors
    /// No driver, no such device, or one too old.
    pub fn open(index: usize) -> Result<CudaDevice, CudaError> {
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
        Ok(CudaDevice { primary, facts, staging, ends, scratch: Default::default() })
    }

    /// The GPU's name.
    pub fn name(&self) -> &str {
        &self.facts.name
    }

    /// Whether its driver computes on the processor, which tests use.
    pub fn is_simulated(&self) -> bool {
        self.facts.is_simulated
    }

    /// The stream after which all work that has been queued is done, as the driver's handle: the stream
    /// `Compute`'s, because whoever uses the other joins it again.
    pub fn stream(&self) -> u64 {
        self.primary.stream(Stream::Compute) as u64
    }

    /// Whether an address is memory of this device.
    ///
    /// # Errors
    /// If the driver has no such memory.
    pub fn holds(&self, address: u64) -> Result<bool, CudaError> {
        use sys::CUpointer_attribute_enum::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL;
        let mut ordinal: i32 = -1;
        // SAFETY: the attribute is an int, and the pointer is to a local one.
        let mut ask = || unsafe {
            let out = std::ptr::from_mut(&mut ordinal).cast();
            sys::cuPointerGetAttribute(out, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address)
        };
        self.primary.with(|| ask().result().during("asking whose memory an address is"))?;
        Ok(ordinal == self.primary.device())
    }

    /// Waits until all work on the device is done, that of other libraries of this process included.
    ///
    /// # Errors
    /// If that work or the device failed.
    pub fn wait_for_all(&self) -> Result<(), CudaError> {
        self.primary.with(|| result::ctx::synchronize().during("waiting for all work on the device"))
    }

    /// Memory with arbitrary contents.
    ///
    /// # Errors
    /// If the driver has none left.
    pub fn alloc(&self, bytes: u64) -> Result<CudaBuffer, CudaError> {
        // SAFETY: contents are arbitrary until written, which the engine's storage allows for.
        let allocate = || match unsafe { result::malloc_sync(bytes as usize) } {
            Err(DriverError(sys::CUresult::CUDA_ERROR_OUT_OF_MEMORY)) => {
                Err(CudaError::OutOfMemory { bytes })
            }
            outcome => outcome.during("allocating memory"),
        };
        Ok(CudaBuffer::new(&self.primary, self.primary.with(allocate)?, bytes, CudaOrigin::Allocated))
    }

    /// Another library's memory, used in place.
    ///
    /// # Safety
    /// `address..address + bytes` is memory that this device reaches for as long as `owner` lives.
    pub unsafe fn borrow(&self, address: u64, bytes: u64, owner: Box<dyn Any + Send + Sync>) -> CudaBuffer {
        CudaBuffer::new(&self.primary, address, bytes, CudaOrigin::Borrowed { _owner: owner })
    }

    pub(super) fn schedule_facts(&self) -> Facts {
        Facts { multiprocessors: self.facts.multiprocessors }
    }

    /// Waits until all queued work is done.
    ///
    /// # Errors
    /// If that work or the device failed.
    pub fn wait(&self) -> Result<(), CudaError> {
        Stream::ALL.into_iter().try_for_each(|stream| self.wait_for(stream))
    }

    /// Waits until what is queued on a stream is done.
    ///
    /// # Errors
    /// As [`CudaDevice::wait`].
    pub fn wait_for(&self, stream: Stream) -> Result<(), CudaError> {
        let stream = self.primary.stream(stream);
        // SAFETY: the stream lives as long as `primary`.
        let wait = || unsafe { result::stream::synchronize(stream) }.during("waiting for the device");
        self.primary.with(wait)
    }

    /// A timestamp behind the work queued on a stream so far.
    ///
    /// # Errors
    /// If the driver refuses.
    pub fn timestamp(&self, stream: Stream) -> Result<TimedEvent, CudaError> {
        TimedEvent::new(&self.primary, stream)
    }

    /// What is queued on `stream` from now on comes after all that is queued on a stream of `first`, which
    /// may be this device, so far.
    ///
    /// # Errors
    /// If the driver refuses; the stream is synchronized instead, so the order still holds.
    pub fn after(&self, stream: Stream, first: &CudaDevice, first_stream: Stream) -> Result<(), CudaError> {
        // Another thread may record the event again in between: then the wait covers more, never less.
        let (end, other) = (&first.ends[first_stream as usize], first.primary.stream(first_stream));
        end.record(other)
            .and_then(|()| end.hold(&self.primary, self.primary.stream(stream)))
            .inspect_err(|_| first.primary.wait_stream(other))
    }

    /// Work queued on a stream of another library from now on waits for all work queued here so far.
    ///
    /// # Errors
    /// If the driver refuses.
    ///
    /// # Safety
    /// `stream` is a live stream of this device's primary context, or one of the driver's special ones.
    pub unsafe fn publish_to(&self, stream: u64) -> Result<(), CudaError> {
        let event = Event::new(&self.primary, Purpose::Order)?;
        event.record(self.primary.stream(Stream::Compute))?;
        event.hold(&self.primary, stream as sys::CUstream)
    }

    /// Work queued here from now on waits for all work another library has queued on its stream so far.
    ///
    /// # Errors
    /// If the driver refuses.
    ///
    /// # Safety
    /// As for [`CudaDevice::publish_to`].
    pub unsafe fn await_stream(&self, stream: u64) -> Result<(), CudaError> {
        let event = Event::new(&self.primary, Purpose::Order)?;
        event.record(stream as sys::CUstream)?;
        event.hold(&self.primary, self.primary.stream(Stream::Compute))
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
