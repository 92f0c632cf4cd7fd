//! The CUDA driver, called through `cudarc`, which loads it at run time.
//!
//! Contract of the unsafe blocks in this folder:
//! - Driver handles (context, streams, events, modules, graphs) are created once, destroyed once by the value
//!   that owns them, and used only while it lives. The driver allows their use from any thread.
//! - Every call that needs a current context runs inside `Primary::with`.
//! - Device addresses passed to the driver lie inside live buffers: `Allocation::check_range` and
//!   `Verified::check` prove it before work is queued, and the engine keeps the memory leased until that work
//!   is done.
//! - Who may read and write memory at a time is decided by the lock of the device (`device::lock`).

mod copies;
mod gpu;
mod graph;
mod interface;
mod peers;
mod primary;
#[cfg(test)]
mod tests;
mod words;

pub(in crate::device) use gpu::count;
pub use gpu::{absence, library};
pub(in crate::device) use interface::open;
