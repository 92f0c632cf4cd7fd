//! Devices and what they do: allocate, upload, download, compile, launch, record, replay, wait.
//!
//! A [`Device`] has the host, CUDA or wgpu behind one trait (`driver.rs`). Work queued on one [`Stream`] of a
//! device runs in order; the host device runs it at once. This module handles bytes, kernels and launches;
//! arrays and parts belong to the modules above. Copies between regions are launches of a copy kernel, so
//! there is no copy verb.
//!
//! Invariant: only this crate moves bytes and queues work; `lock` says which thread may. All other code
//! computes with arrays, or uses [`raw`](crate::raw).
//!
//! Contract of the unsafe code in this folder: memory is an [`Allocation`], which lives as long as a job, a
//! recording or a transfer that names it. Ranges are checked before memory is used (`check_range`,
//! `Verified::check`). That two threads do not use the same memory is promised by `lock`. Borrowed memory is
//! the promise of the caller of [`Device::borrow`]. The driver folders add the rules of their drivers.

pub mod cuda;
mod discovery;
mod driver;
mod handle;
mod host;
mod launch;
mod lock;
mod memory;
mod peers;
pub(crate) mod topology;
pub mod wgpu;

pub(crate) use driver::WordOp;
pub use driver::{DeviceKind, GroupedSpan, Job, Program, Stream, SubnormalTrial};
pub use handle::{Buffer, Device, Download, Timestamp};
pub(crate) use handle::{CopyRegion, Watch};
pub use launch::compared_launches;
pub(crate) use launch::{GuardWord, RecordedWork, Recording, StreamGraph, StreamGraphBuilder, Sweep};
pub use lock::check_fork;
pub(crate) use lock::{DeviceLocks, process_id};
pub use memory::{Allocation, Foreign, LentMemory, MemoryUse};
#[doc(hidden)]
pub use memory::{collect, integers};
pub(crate) use memory::{push, zeros};
pub use partita_kernels::Subnormals;
pub(crate) use peers::DevicePeers;
