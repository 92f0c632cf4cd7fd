//! [`Device`], the handle to a device, to which other modules add the verbs; and [`Driver`], the interface to what
//! is behind it: the host, CUDA or wgpu. A build leaves a kind out by having nothing that implements it.
//!
//! The device has checked ranges, ownership and the process before it calls. Values that a driver makes
//! (memory, compiled kernels, recordings, downloads, timestamps) come back only to the driver that made them.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use partita_kernels::{DType, LaunchError, Subnormals, Verified};

use crate::config::config;
use crate::device::launch::{Job, Programs};
use crate::device::memory::{ALIGN_BYTES, Allocation, DeviceMemory, Pool};
use crate::device::{check_fork, process_id};
use crate::error::{Error, Result};
/// The treatment by a driver's operation on one type of numbers below the least normal one, as far as points
/// tell at which it makes a difference. `Unspecified` are operations that also round wrongly there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SubnormalTrial {
    /// As it is written: `+`, `<`, `sqrt`.
    pub operation: &'static str,
    /// Of its operands.
    pub dtype: DType,
    /// Of such operands, where the result is none.
    pub operands: Subnormals,
    /// Of such results, where no operand is one; `Kept` where an operation has none.
    pub results: Subnormals,
}

/// The sort of device.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum DeviceKind {
    /// This process's memory and processor cores.
    Host,
    /// An NVIDIA GPU through its own driver.
    Cuda,
    /// A WebGPU adapter.
    Wgpu,
}

/// One of a device's two streams. Work of one stream runs in the order of the calls;
/// [`Device::after`](crate::Device::after) orders work of different streams.
///
/// A CUDA device has one driver stream for each; that of [`Stream::Exchange`] has the highest priority. The
/// host and wgpu devices do all work in one order: both streams are the same there, and no waits are needed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Stream {
    /// Computation, and whatever names no stream. Memory is leased and reused in the order of this stream.
    #[default]
    Compute,
    /// Communication that overlaps computation: packing, copies, unpacking, and the kernels behind them.
    Exchange,
}

impl Stream {
    /// Both.
    pub const ALL: [Stream; 2] = [Stream::Compute, Stream::Exchange];
}

/// Names memory or an event to another process of this machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IpcHandle(pub [u8; 64]);

/// Why a driver does not do what it should.
#[derive(Debug)]
pub(in crate::device) enum DriverError {
    /// Memory was refused; `limit` says by what.
    OutOfMemory { bytes: u64, limit: String },
    /// The device lacks a type or operation of a kernel.
    #[cfg_attr(not(any(feature = "cuda", feature = "wgpu")), expect(dead_code))]
    Unsupported(String),
    /// A launch that does not fit.
    Launch(LaunchError),
    /// A launch that gave up, because the program is interrupted.
    Interrupted,
    /// In the driver's words.
    Failed(String),
}

pub(in crate::device) type DriverResult<T> = Result<T, DriverError>;

/// A value that only the driver that made it reads.
pub(in crate::device) type Opaque = Box<dyn Any + Send + Sync>;

/// A driver's own type behind what it made.
pub(in crate::device) fn own<T: 'static>(value: &dyn Any) -> &T {
    value.downcast_ref().unwrap_or_else(|| unreachable!("values belong to the driver that made them"))
}

/// Work of one stream of a device, or a wait between two.
#[derive(Clone, Copy)]
#[cfg_attr(not(feature = "cuda"), expect(dead_code))]
pub(in crate::device) enum StreamWork<'a> {
    /// The arguments of [`Driver::launch`].
    Jobs { on: &'a dyn Driver, stream: Stream, jobs: &'a [Job] },
    /// The arguments of [`Driver::copy_to`].
    Copy { source: DriverPlace<'a>, target: DriverPlace<'a>, stream: Stream, bytes: u64 },
    /// The arguments of [`Driver::after`].
    Wait { first: (&'a dyn Driver, Stream), then: (&'a dyn Driver, Stream) },
}

/// A byte of a device's memory.
pub(in crate::device) type DriverPlace<'a> = (&'a dyn Driver, &'a Allocation, u64);

/// One device, opened.
pub(in crate::device) trait Driver: Any + Send + Sync {
    fn kind(&self) -> DeviceKind;

    fn name(&self) -> &str;

    /// Whether it is a program on the processor, such as lavapipe.
    fn is_software(&self) -> bool {
        false
    }

    /// Whether it has i64 and u64.
    fn has_i64(&self) -> bool {
        true
    }

    /// Its treatment of f32 operands and results below 2^-126.
    fn subnormals(&self) -> Subnormals {
        Subnormals::Kept
    }

    /// The results of a trial of the driver's own operations.
    fn subnormal_trials(&self) -> Vec<SubnormalTrial> {
        Vec::new()
    }

    /// The most arrays one kernel may bind.
    fn max_params(&self) -> usize;

    /// The most bytes that memory in one piece has.
    fn largest_memory(&self) -> u64 {
        u64::MAX
    }

    /// Of so many bytes it takes a multiple for larger memory, whoever asks for less.
    fn page_bytes(&self) -> u64 {
        ALIGN_BYTES
    }

    /// Whether this process addresses the device's memory.
    fn is_addressable(&self) -> bool {
        false
    }

    /// Memory with arbitrary contents.
    fn alloc(&self, bytes: u64) -> DriverResult<Box<dyn DeviceMemory>>;

    /// Another owner's memory; `None` if this device cannot use it in place.
    ///
    /// # Safety
    /// The bytes are readable on this device for as long as `owner` lives, and nobody writes to them
    /// meanwhile.
    unsafe fn borrow(&self, _: u64, _: u64, _owner: Opaque) -> DriverResult<Option<Box<dyn DeviceMemory>>> {
        Ok(None)
    }

    /// Copies bytes to the device behind the work queued on a stream so far; `data` may be reused at once.
    fn upload(&self, stream: Stream, to: &Allocation, offset: u64, data: &[u8]) -> DriverResult<()>;

    /// Copies bytes from the device after the work queued on a stream so far; waits.
    fn download(&self, stream: Stream, from: &Allocation, offset: u64, out: &mut [u8]) -> DriverResult<()>;

    /// Begins to copy bytes from the device behind the work queued on a stream so far; waits for nothing.
    /// `None` on the host, whose memory is here already.
    fn start_download(
        &self,
        _: Stream,
        _from: &Allocation,
        _offset: u64,
        _bytes: usize,
    ) -> DriverResult<Option<Box<dyn Any + Send>>> {
        Ok(None)
    }

    /// Waits for what was begun, and for nothing after it, and copies it out.
    fn finish_download(&self, _: Box<dyn Any + Send>, _: &mut [u8]) -> DriverResult<()> {
        unreachable!("downloads belong to the driver that started them")
    }

    /// Waits until this process sees, at the address of memory, what all launches so far wrote.
    fn show(&self, _: &Allocation) -> DriverResult<()> {
        Ok(())
    }

    /// Copies bytes of this device's memory to another one's, behind the work queued on a stream of the
    /// other; false if the copy must go through the host.
    fn copy_to(
        &self,
        _: Stream,
        _from: (&Allocation, u64),
        _other: &dyn Driver,
        _to: (&Allocation, u64),
        _bytes: u64,
    ) -> DriverResult<bool> {
        Ok(false)
    }

    /// A compiled kernel.
    fn compile(&self, kernel: &Verified) -> DriverResult<Opaque>;

    /// About how many bytes of memory a compiled kernel takes so far, besides the kernel.
    fn code_bytes(&self, code: &Opaque) -> usize;

    /// Queues a job on a stream, or jobs of one program over independent boxes: in as few launches as the
    /// device can.
    fn launch(&self, stream: Stream, jobs: &[Job]) -> DriverResult<()>;

    /// Groups of jobs prepared for repetition, each what `launch` takes; `None` if that gains nothing.
    /// Nothing runs.
    fn record(&self, _: &[Vec<Job>]) -> DriverResult<Option<Opaque>> {
        Ok(None)
    }

    /// Work of several streams of this device and others prepared for repetition, to be replayed on the
    /// stream `Compute` of this one; `None` if that cannot be. Nothing runs.
    fn record_streams(&self, _: &[StreamWork]) -> DriverResult<Option<Opaque>> {
        Ok(None)
    }

    /// Queues a recording's work, in its order.
    fn replay(&self, _: Stream, _recording: &Opaque) -> DriverResult<()> {
        unreachable!("recordings belong to the driver that made them")
    }

    /// Waits until all queued work is done.
    fn wait(&self) -> DriverResult<()> {
        Ok(())
    }

    /// Waits until what is queued on a stream is done.
    fn wait_for(&self, _: Stream) -> DriverResult<()> {
        self.wait()
    }

    /// Orders work queued on `stream` from now on after the work queued on a stream of `first` so far.
    fn after(&self, _: Stream, _first: &dyn Driver, _first_stream: Stream) -> DriverResult<()> {
        Ok(())
    }

    /// A timestamp behind the work queued on a stream so far; `None` if the device has no clock.
    fn timestamp(&self, _: Stream) -> DriverResult<Option<Opaque>> {
        Ok(None)
    }

    /// Seconds between two timestamps; waits for both.
    fn seconds_between(&self, _earlier: &Opaque, _later: &Opaque) -> DriverResult<f64> {
        unreachable!("timestamps belong to the driver that made them")
    }

    /// Memory and events that other libraries and processes can share.
    fn sharing(&self) -> Option<&dyn Sharing> {
        None
    }
}

/// A device that other libraries of this process and other processes of this machine share, as CUDA's are.
pub(in crate::device) trait Sharing {
    /// The stream after which all work that has been queued is done, as the driver's handle.
    fn stream(&self) -> u64;

    /// Work queued on a stream of another library from now on waits for all work queued here so far.
    ///
    /// # Safety
    /// `stream` is a live stream of this device's primary context, or one of the driver's special ones.
    unsafe fn publish_to(&self, stream: u64) -> DriverResult<()>;

    /// Work queued here from now on waits for all work another library has queued on its stream so far.
    ///
    /// # Safety
    /// As for `publish_to`.
    unsafe fn await_stream(&self, stream: u64) -> DriverResult<()>;

    /// Waits until all work on the device is done, that of other libraries of this process included.
    fn wait_for_all(&self) -> DriverResult<()>;

    /// A handle by which another process opens this memory; keep it until that process has closed it.
    fn export_memory(&self, memory: &Allocation) -> DriverResult<IpcHandle>;

    /// Memory of another process; closed when dropped.
    fn import_memory(&self, handle: IpcHandle, bytes: u64) -> DriverResult<Box<dyn DeviceMemory>>;

    /// A new event that other processes can open.
    fn ipc_event(&self) -> DriverResult<Box<dyn SharedEvent>>;

    /// An event of another process.
    fn import_event(&self, handle: IpcHandle) -> DriverResult<Box<dyn SharedEvent>>;
}

/// A point in a device's work for which other processes can wait.
pub(in crate::device) trait SharedEvent: Send + Sync {
    fn export(&self) -> DriverResult<IpcHandle>;

    /// It is reached when all work queued on a stream so far is done.
    fn record(&self, stream: Stream) -> DriverResult<()>;

    /// Work queued on a stream from now on waits for the latest record, of any process.
    fn hold(&self, stream: Stream) -> DriverResult<()>;
}

/// A processor with memory of its own. Clones name the same device; equality is identity.
#[derive(Clone)]
pub struct Device(Arc<DeviceState>);

struct DeviceState {
    name: String,
    driver: Box<dyn Driver>,
    /// The process that opened it.
    process: u32,
    pool: Mutex<Pool>,
    programs: Mutex<Programs>,
    /// Held by one evaluation at a time, see [`DeviceLocks`](super::DeviceLocks).
    lock: Mutex<()>,
}

impl PartialEq for Device {
    fn eq(&self, other: &Device) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Device {}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Device {
    pub(super) fn new(name: String, driver: Box<dyn Driver>) -> Device {
        Device(Arc::new(DeviceState {
            name,
            driver,
            process: process_id(),
            pool: Mutex::new(Pool::new(config().budget_bytes)),
            programs: Mutex::new(Programs::new(config().program_bytes)),
            lock: Mutex::default(),
        }))
    }

    /// Drivers do not survive a fork, so what was opened before one is refused after it: otherwise it hangs,
    /// or changes what the parent sees. The host needs no driver, only locks that no other thread held.
    pub(super) fn usable(&self) -> Result<()> {
        check_fork()?;
        if self.kind() == DeviceKind::Host || process_id() == self.0.process {
            return Ok(());
        }
        let reason = "drivers do not survive a fork";
        Err(Error::Forked { device: self.name().to_owned(), reason })
    }

    /// The name people see.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// A number that no other device of this process has as long as this one lives.
    pub(crate) fn number(&self) -> u64 {
        Arc::as_ptr(&self.0).addr() as u64
    }

    /// The lock that an evaluation holds while it uses the device.
    pub(crate) fn lock(&self) -> &Mutex<()> {
        &self.0.lock
    }

    /// The sort of device.
    pub fn kind(&self) -> DeviceKind {
        self.0.driver.kind()
    }

    /// True for a GPU or adapter that is a program on the processor, such as lavapipe.
    pub fn is_software(&self) -> bool {
        self.0.driver.is_software()
    }

    /// Whether it has i64 and u64.
    pub(crate) fn has_i64(&self) -> bool {
        self.0.driver.has_i64()
    }

    /// Its treatment of f32 operands and results below 2^-126, found by a trial on the first call.
    /// docs/wgpu.md lists the operations.
    pub fn subnormals(&self) -> Subnormals {
        self.0.driver.subnormals()
    }

    /// The treatment of subnormals by each operation of the driver, found by a trial at every call; kernels
    /// replace operations that are not exact. Empty for the host and CUDA devices, which keep subnormals.
    pub fn subnormal_trials(&self) -> Vec<SubnormalTrial> {
        self.0.driver.subnormal_trials()
    }

    /// The most arrays one kernel may bind.
    pub fn max_params(&self) -> usize {
        self.0.driver.max_params()
    }

    pub(super) fn driver(&self) -> &dyn Driver {
        &*self.0.driver
    }

    pub(super) fn pool(&self) -> MutexGuard<'_, Pool> {
        self.0.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The compiled kernels.
    pub(super) fn programs(&self) -> MutexGuard<'_, Programs> {
        self.0.programs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
