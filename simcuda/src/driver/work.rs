//! Queued work as data: operations with their place in a stream, the bytes that they touched, captures and
//! graphs.

use super::abi::Code;
use super::order::{Clock, Mark};
use crate::machine::{Fault, Kind as Fail};
use crate::ptx::Program;
use std::ffi::c_void;
use std::ops::Range;
use std::sync::Arc;
use std::thread::ThreadId;

/// One queued operation.
pub struct Operation {
    pub mark: Arc<Mark>,
    /// The operations that it comes after, itself included.
    pub clock: Clock,
    pub work: Work,
}

/// A kernel with all it needs.
#[derive(Clone)]
pub struct Launch {
    pub program: Arc<Program>,
    pub entry: String,
    pub grid: [u32; 3],
    pub block: [u32; 3],
    /// Bytes of shared memory, beside what the entry declares.
    pub shared: u32,
    pub params: Vec<u8>,
}

/// The source of a copy's bytes.
#[derive(Clone)]
pub enum Source {
    Device(u64),
    /// Pinned memory, read when the copy runs.
    Pinned(u64),
    /// Pageable memory, read when the copy was queued.
    Staged(Vec<u8>),
}

/// The target of a copy's bytes.
#[derive(Clone, Copy)]
pub enum Target {
    Device(u64),
    Pinned(u64),
    /// Pageable memory: the call that queued the copy waits for it.
    Pageable(u64),
}

/// The work of an operation.
#[derive(Clone)]
pub enum Work {
    Kernel(Launch),
    Copy {
        target: Target,
        source: Source,
        bytes: u64,
    },
    /// Bytes that all become one value.
    Fill {
        address: u64,
        value: u8,
        bytes: u64,
    },
    /// Memory ends here.
    Release {
        address: u64,
    },
    Record {
        event: usize,
        generation: u64,
    },
    /// A wait until a word is at least a value, in the cyclic order of 64-bit numbers.
    Await {
        address: u64,
        value: u64,
    },
    /// A word gets a value.
    Put {
        address: u64,
        value: u64,
    },
    /// Work of a library beside the driver.
    Foreign(Arc<Foreign>),
    /// The beginning or end of a graph.
    Nothing,
}

/// The library's functions. A token names one execution, of which a graph makes many.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ForeignCalls {
    /// Passed to all of them.
    pub state: *mut c_void,
    /// Begins an execution; 0 if it has begun before.
    pub begin: extern "C" fn(*mut c_void, u64) -> u32,
    /// The bytes of one of the memories that it reads.
    pub send: extern "C" fn(*mut c_void, u64, usize, *const u8, usize),
    /// Whether it can end: 0 if not.
    pub poll: extern "C" fn(*mut c_void, u64) -> u32,
    /// Puts the bytes of one of the memories that it writes.
    pub receive: extern "C" fn(*mut c_void, u64, usize, *mut u8, usize),
    /// It has ended.
    pub end: extern "C" fn(*mut c_void, u64),
}

/// What the library does: the memories that it reads and writes, by address and length.
pub struct Foreign {
    pub reads: Vec<[u64; 2]>,
    pub writes: Vec<[u64; 2]>,
    pub calls: ForeignCalls,
}

// SAFETY: the library promises that its functions may be called by any thread.
unsafe impl Send for Foreign {}
// SAFETY: as above; the driver calls them one at a time.
unsafe impl Sync for Foreign {}

/// Why an operation failed.
pub struct Failed {
    pub code: Code,
    pub text: String,
    /// The address at fault.
    pub address: Option<u64>,
}

/// The byte ranges that an operation used.
#[derive(Debug, Default)]
pub struct Touched {
    pub reads: Vec<Range<u64>>,
    pub writes: Vec<Range<u64>>,
}

impl Touched {
    /// One written range.
    pub fn write(bytes: Range<u64>) -> Touched {
        Touched { reads: Vec::new(), writes: vec![bytes] }
    }

    /// All bytes together.
    pub fn bytes(&self) -> u64 {
        self.reads.iter().chain(&self.writes).map(|range| range.end - range.start).sum()
    }
}

/// Whether a copy can wait in a graph: pageable memory cannot.
pub fn replayable(work: &Work) -> bool {
    match work {
        Work::Copy { target: Target::Pageable(_), .. } | Work::Copy { source: Source::Staged(_), .. } => {
            false
        }
        Work::Release { .. } => false,
        Work::Kernel(_) | Work::Copy { .. } | Work::Fill { .. } => true,
        Work::Record { .. } | Work::Await { .. } | Work::Put { .. } | Work::Nothing => true,
        Work::Foreign(_) => true,
    }
}

/// `CUstreamCaptureMode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CaptureMode {
    Global,
    ThreadLocal,
    Relaxed,
}

impl CaptureMode {
    /// The mode of a number.
    pub fn of(number: u32) -> Result<CaptureMode, Code> {
        match number {
            0 => Ok(CaptureMode::Global),
            1 => Ok(CaptureMode::ThreadLocal),
            2 => Ok(CaptureMode::Relaxed),
            _ => Err(Code::INVALID_VALUE),
        }
    }
}

/// One captured operation.
#[derive(Clone)]
pub struct Node {
    /// The stream it was captured from.
    pub stream: usize,
    pub label: String,
    pub work: Work,
    /// The nodes it comes after, by their numbers.
    pub after: Vec<usize>,
}

/// Captured operations, each behind those it comes after.
#[derive(Clone, Default)]
pub struct Graph {
    pub nodes: Vec<Node>,
}

/// A capture in progress.
pub struct Capture {
    /// The stream where it began.
    pub origin: usize,
    pub mode: CaptureMode,
    pub thread: ThreadId,
    pub graph: Graph,
    /// Whether something forbidden happened.
    pub broken: bool,
}

/// A stream's part in a capture.
pub struct Membership {
    pub capture: usize,
    /// The nodes that its next operation comes after.
    pub nodes: Vec<usize>,
}

/// A fault of the machine as the failure of an operation.
pub fn failed(fault: &Fault) -> Failed {
    Failed { code: code_of(fault), text: fault.to_string(), address: fault.address() }
}

/// The driver's code for a kernel's fault.
pub fn code_of(fault: &Fault) -> Code {
    match fault.kind() {
        Fail::OutOfBounds | Fail::UseAfterFree | Fail::SharedOutOfBounds | Fail::ParamOutOfBounds => {
            Code::ILLEGAL_ADDRESS
        }
        Fail::Misaligned => Code::MISALIGNED_ADDRESS,
        Fail::Endless | Fail::Deadlock => Code::LAUNCH_TIMEOUT,
        Fail::Uninitialised | Fail::SharedUninitialised => Code::LAUNCH_FAILED,
        Fail::NonCoherent | Fail::Race | Fail::SharedRace => Code::LAUNCH_FAILED,
        Fail::DivisionByZero | Fail::ShuffleMask | Fail::ShuffleLane | Fail::Barrier => Code::LAUNCH_FAILED,
        Fail::Launch | Fail::OutOfMemory | Fail::Free => Code::LAUNCH_FAILED,
    }
}
