//! Pooled, budgeted memory of one device, and memory that other libraries and processes share.
//!
//! An [`Allocation`] is memory; a [`Buffer`] is a lease on it. When the last clone of a buffer is dropped,
//! the allocation goes back to its device's pool, where the free one with the smallest number of the right
//! size is taken first: reuse is deterministic, so a step that allocates and frees the same sizes finds the
//! same memory again. A `Loop` is replayed on that condition.
//!
//! An arena keeps a step's memory apart, so that allocations of other threads do not change which memory the
//! step finds.
//!
//! Devices run the work of the stream `Compute` in order, so memory may be leased again as soon as the host
//! is done queueing work on it there. Work on another stream must wait for this one before it uses the
//! memory, and this one for that work before the lease ends.

mod allocation;
mod arena;
mod buffer;
mod sharing;

pub(super) use allocation::{ALIGN_BYTES, DeviceMemory, Pool};
pub use allocation::{Allocation, LentMemory, MemoryUse};
pub(crate) use arena::Arena;
pub use buffer::Buffer;
pub(crate) use buffer::zeros;
pub use sharing::{Foreign, IpcEvent};
