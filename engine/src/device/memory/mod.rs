//! Pooled, budgeted memory of one device, and memory that other libraries and processes share.
//!
//! An [`Allocation`] is memory; a [`Buffer`] is a lease on it. When the last clone of a buffer is dropped,
//! the allocation goes back to its device's pool, where the smallest free one of the size class is taken
//! first, and of several alike that with the smallest number. Memory for uploads is kept apart, because no
//! replay of recorded work repeats uploads. An allocation counts with all its bytes, those of its class.
//!
//! Devices run the work of the stream `Compute` in order, so memory may be leased again as soon as the host
//! is done queueing work on it there. Work on another stream must wait for this one before it uses the
//! memory, and this one for that work before the lease ends.

mod allocation;
mod host_vec;
mod sharing;

pub(super) use allocation::{ALIGN_BYTES, DeviceMemory, Pool, Reuse, size_class};
pub use allocation::{Allocation, LentMemory, MemoryUse};
pub use host_vec::{collect, integers, push, zeros};
pub use sharing::{Foreign, IpcEvent};
