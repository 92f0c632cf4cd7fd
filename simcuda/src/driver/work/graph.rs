//! Graphs and captures in progress, as data.

use super::operation::Work;
use crate::driver::abi::Code;
use std::cell::Cell;
use std::thread::ThreadId;

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

thread_local! {
    /// What `cuThreadExchangeStreamCaptureMode` exchanges.
    pub static THREAD_MODE: Cell<CaptureMode> = const { Cell::new(CaptureMode::Global) };
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
    /// What its next operation comes after.
    pub nodes: Vec<usize>,
}
