//! [`Operation`]: queued work with its place in a stream, the bytes that it touched, and the reason why it
//! failed.

use super::access_history::Mark;
use super::clock::Clock;
use crate::driver::abi::Code;
use crate::ptx::Program;
use std::ffi::c_void;
use std::ops::Range;
use std::sync::Arc;

/// One queued operation.
pub struct Operation {
    pub mark: Arc<Mark>,
    /// What it comes after, itself included.
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
    pub params: Vec<u8>,
}

/// Where a copy's bytes come from.
#[derive(Clone)]
pub enum Source {
    Device(u64),
    /// Pinned memory, read when the copy runs.
    Pinned(u64),
    /// Pageable memory, read when the copy was queued.
    Staged(Vec<u8>),
}

/// Where a copy's bytes go.
#[derive(Clone, Copy)]
pub enum Target {
    Device(u64),
    Pinned(u64),
    /// Pageable memory: the call that queued the copy waits for it.
    Pageable(u64),
}

/// `CUhostFn`.
pub type HostFn = unsafe extern "C" fn(*mut c_void);

/// What an operation does.
#[derive(Clone)]
pub enum Work {
    Kernel(Launch),
    Copy {
        target: Target,
        source: Source,
        bytes: u64,
    },
    /// `count` repetitions of a pattern.
    Fill {
        address: u64,
        pattern: Vec<u8>,
        count: u64,
    },
    /// Memory begins to be usable here.
    Reserve {
        address: u64,
    },
    /// Memory ends here.
    Release {
        address: u64,
    },
    Record {
        event: usize,
        generation: u64,
    },
    /// A function of the host; the pointer is the caller's word.
    Host {
        function: HostFn,
        data: usize,
    },
    /// Where a graph begins or ends.
    Nothing,
}

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
        Work::Reserve { .. } | Work::Release { .. } => false,
        Work::Kernel(_) | Work::Copy { .. } | Work::Fill { .. } | Work::Host { .. } => true,
        Work::Record { .. } | Work::Nothing => true,
    }
}
