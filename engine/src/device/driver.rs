//! The interface between a [`Device`](super::Device) and what is behind it: the host, CUDA or wgpu. A build
//! leaves a kind out by having nothing that implements it. Compiled kernels, and jobs: launches that are
//! ready to run.
//!
//! The device has checked ranges, ownership and the process before it calls. Values that a driver makes
//! (memory, compiled kernels, recordings, downloads, timestamps) come back only to the driver that made
//! them.
//!
//! [`Programs`]: the compiled kernels that a device keeps for further launches, as many as their limit of
//! bytes allows; the least recently used are forgotten first. Forgetting a program drops a reference: jobs,
//! recordings and cached evaluations hold theirs.

use std::any::Any;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use partita_kernels::{DType, Launch, LaunchError, Subnormals, Verified};

use crate::device::memory::{ALIGN_BYTES, Allocation, DeviceMemory};
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

/// An operation of a stream on a 64-bit word of device memory that another process has mapped, too: a word
/// is 1 while the other side may go on, and 0 otherwise.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "cuda"), expect(dead_code))]
pub(crate) struct WordOp {
    /// The memory.
    pub memory: Arc<Allocation>,
    /// The first byte of the word in it.
    pub offset: u64,
    /// Whether it sets the word to 1, after all that its stream wrote before; otherwise it waits until the
    /// word is 1, and sets it to 0.
    pub gives: bool,
}

/// Work of one stream of a device, or a wait between two.
#[derive(Clone, Copy)]
#[cfg_attr(not(feature = "cuda"), expect(dead_code))]
pub(in crate::device) enum StreamWork<'a> {
    /// The arguments of [`Driver::launch`], and the byte of the device's memory where a 64-bit word is: the
    /// kernels do nothing if it is not 0.
    Jobs { on: &'a dyn Driver, stream: Stream, jobs: &'a [Job], guard: Option<(&'a Allocation, u64)> },
    /// The arguments of [`Driver::copy_to`].
    Copy { source: DriverPlace<'a>, target: DriverPlace<'a>, stream: Stream, bytes: u64 },
    /// Operations on words of the device's memory.
    Words { on: &'a dyn Driver, stream: Stream, ops: &'a [WordOp] },
    /// The arguments of [`PeerGroup::exchange`].
    Group { on: &'a dyn Driver, stream: Stream, group: &'a Arc<dyn PeerGroup>, spans: &'a [GroupedSpan] },
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

    /// Begins to connect with the devices of other ranks.
    fn peers(&self, id: &[u8; 128], rank: usize, count: usize) -> DriverResult<Box<dyn PeerGroup>>;

    /// What no other device of any machine has.
    fn identity(&self) -> DriverResult<String>;

    /// Some bytes of memory, kept by the owner; the memory may be another GPU's that was imported.
    fn part_of(&self, memory: &Allocation, offset: u64, bytes: u64, owner: Opaque) -> Box<dyn DeviceMemory>;

    /// Whether streams wait for words of memory; prepares [`Sharing::release`].
    fn has_words(&self) -> DriverResult<bool>;

    /// Lets every wait for these words pass, once, whatever the device waits for.
    fn release(&self, words: &Allocation, offsets: &[u64]) -> DriverResult<()>;

    /// Copies words of memory to the host, whatever the device waits for.
    fn peek(&self, words: &Allocation, out: &mut [u8]) -> DriverResult<()>;

    /// Whether all work of the stream `Compute` is done; waits for nothing.
    fn is_done(&self) -> DriverResult<bool>;
}

/// Memory that goes to a device of another rank, or that is expected from it.
#[derive(Clone)]
pub struct GroupedSpan {
    /// The other rank.
    pub peer: usize,
    /// Whether it is sent.
    pub sends: bool,
    /// The memory.
    pub allocation: Arc<Allocation>,
    /// Its first byte in it.
    pub offset: u64,
    /// The number of bytes.
    pub bytes: u64,
}

/// The devices of some ranks, as one of them exchanges memory with the others.
pub(in crate::device) trait PeerGroup: Any + Send + Sync {
    /// Queues sends and receives as one operation; it may go on being prepared when this returns.
    fn exchange(&self, stream: Stream, spans: &[GroupedSpan]) -> DriverResult<()>;

    /// Whether nothing is being prepared.
    fn is_ready(&self) -> DriverResult<bool>;

    /// Marks the end of what is queued on a stream.
    fn mark(&self, stream: Stream) -> DriverResult<()>;

    /// Whether all work before the latest group is done.
    fn has_begun(&self) -> DriverResult<bool>;

    /// Whether the latest mark was reached.
    fn is_done(&self) -> DriverResult<bool>;

    /// Whether recordings may have groups in them.
    fn is_captured(&self) -> bool;

    /// Lets the device's waits for other ranks end. Nothing is exchanged afterwards.
    fn abort(&self);
}

/// A point in a device's work for which other processes can wait.
pub(in crate::device) trait SharedEvent: Send + Sync {
    fn export(&self) -> DriverResult<IpcHandle>;

    /// It is reached when all work queued on a stream so far is done.
    fn record(&self, stream: Stream) -> DriverResult<()>;

    /// Work queued on a stream from now on waits for the latest record, of any process.
    fn hold(&self, stream: Stream) -> DriverResult<()>;
}

/// A kernel compiled for one device.
pub struct Program {
    /// The number of the device.
    pub(super) device: u64,
    pub(super) kernel: Verified,
    /// As the driver has it.
    pub(in crate::device) code: Box<dyn Any + Send + Sync>,
    /// When its device gave it out last.
    pub(super) last_use: AtomicU64,
    /// Its device keeps it no longer.
    pub(super) is_forgotten: AtomicBool,
}

/// Counts the programs that devices have forgotten.
static FORGOTTEN: AtomicU64 = AtomicU64::new(0);

impl Program {
    /// The number of programs that the devices of this process have forgotten.
    pub(crate) fn forgotten() -> u64 {
        FORGOTTEN.load(Ordering::Relaxed)
    }

    /// Whether the device has forgotten it: who keeps commands for later should, too.
    pub(crate) fn is_forgotten(&self) -> bool {
        self.is_forgotten.load(Ordering::Relaxed)
    }

    pub(super) fn forget(&self) {
        self.is_forgotten.store(true, Ordering::Relaxed);
        FORGOTTEN.fetch_add(1, Ordering::Relaxed);
    }

    /// The kernel it was compiled from.
    pub fn kernel(&self) -> &Verified {
        &self.kernel
    }
}

/// One launch, ready to run: a program, where it runs over, and one memory per parameter.
#[derive(Clone)]
pub struct Job {
    /// The compiled kernel.
    pub program: Arc<Program>,
    /// The region, views and scalar arguments.
    pub launch: Arc<Launch>,
    /// One per parameter of the kernel, all of the device the program was compiled for.
    pub memory: Vec<Arc<Allocation>>,
}

/// The compiled kernels of one device.
pub(in crate::device) struct Programs {
    kept: HashMap<Verified, KeptProgram>,
    /// Some of them by what their kernels are made from.
    known: HashMap<KernelKey, Weak<Program>>,
    limit: usize,
    /// Of all programs, as they were measured last.
    bytes: usize,
    /// Counts requests.
    clock: u64,
    /// When programs were measured last.
    measured: u64,
}

struct KeptProgram {
    program: Arc<Program>,
    bytes: usize,
}

/// The key of a kernel: its name, rank, number of fields and element type.
pub(crate) type KernelKey = (&'static str, usize, usize, DType);

impl Programs {
    pub fn new(limit: usize) -> Programs {
        Programs { kept: HashMap::new(), known: HashMap::new(), limit, bytes: 0, clock: 0, measured: 0 }
    }

    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// The program of a kernel, if it is kept.
    pub fn find(&mut self, kernel: &Verified) -> Option<Arc<Program>> {
        let found = Arc::clone(&self.kept.get(kernel)?.program);
        Some(self.used(found))
    }

    /// The program of a kernel that would be made from this, if it is kept.
    pub fn find_known(&mut self, key: &KernelKey) -> Option<Arc<Program>> {
        let found = self.known.get(key)?.upgrade().filter(|program| !program.is_forgotten())?;
        Some(self.used(found))
    }

    /// Makes a program known by what its kernel was made from.
    pub fn know(&mut self, key: KernelKey, program: &Arc<Program>) {
        self.known.insert(key, Arc::downgrade(program));
    }

    fn used(&mut self, program: Arc<Program>) -> Arc<Program> {
        self.clock += 1;
        program.last_use.store(self.clock, Ordering::Relaxed);
        program
    }

    /// Keeps a program, and forgets others where all together have more bytes than the limit. Gives those.
    /// Code is written when a launch first needs it, so programs in use since the last call are measured
    /// again.
    pub fn keep(&mut self, program: &Arc<Program>, bytes: impl Fn(&Program) -> usize) -> Vec<Arc<Program>> {
        let last_use = |program: &Program| program.last_use.load(Ordering::Relaxed);
        for kept in self.kept.values_mut().filter(|kept| last_use(&kept.program) > self.measured) {
            self.bytes -= kept.bytes;
            kept.bytes = bytes(&kept.program);
            self.bytes += kept.bytes;
        }
        self.measured = self.clock;
        let kept = KeptProgram { program: self.used(Arc::clone(program)), bytes: bytes(program) };
        self.bytes += kept.bytes;
        self.kept.insert(program.kernel.clone(), kept);
        self.forget()
    }

    /// Changes the limit.
    pub fn set_limit(&mut self, limit: usize) -> Vec<Arc<Program>> {
        self.limit = limit;
        self.forget()
    }

    /// Forgets the least recently used beyond the limit, but not the program used last.
    fn forget(&mut self) -> Vec<Arc<Program>> {
        let mut forgotten = Vec::new();
        while self.bytes > self.limit && self.kept.len() > 1 {
            let oldest =
                self.kept.iter().min_by_key(|(_, kept)| kept.program.last_use.load(Ordering::Relaxed));
            let Some(oldest) = oldest.map(|(kernel, _)| kernel.clone()) else { break };
            if let Some(kept) = self.kept.remove(&oldest) {
                self.bytes -= kept.bytes;
                kept.program.forget();
                forgotten.push(kept.program);
            }
        }
        forgotten
    }
}
