//! The CUDA driver, called through `cudarc`, which loads it at run time.
//!
//! Contract of the unsafe blocks in this folder:
//! - Driver handles (context, streams, events, modules, graphs) are created once, destroyed once by the value
//!   that owns them, and used only while it lives. The driver allows their use from any thread.
//! - Every call that needs a current context runs inside `Primary::with`.
//! - Device addresses passed to the driver lie inside live buffers: `CudaBuffer::within` and
//!   `Verified::check` prove it before work is queued, and the engine keeps the memory leased until that work
//!   is done.
//! - Who may read and write memory at a time is decided by the lock of the device (`device::lock`).

mod buffer;
mod copies;
mod event;
mod gpu;
mod graph;
mod ipc;
mod primary;
mod program;
mod queue;
mod staging;
#[cfg(test)]
mod tests;

pub(in crate::device) use buffer::CudaBuffer;
pub(in crate::device) use copies::copy_between;
pub(in crate::device) use event::TimedEvent;
pub use gpu::absence;
pub(in crate::device) use gpu::{CudaDevice, count};
pub(crate) use graph::GraphRecording;
pub use ipc::IpcEvent;

pub(in crate::device) use program::CudaProgram;
pub(in crate::device) use staging::PinnedDownload;
