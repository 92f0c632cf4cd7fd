//! The host as a device: its memory, its launches, and the number of its process.

mod launch;
mod memory;
mod process_id;

pub(super) use launch::{launch, threads};
pub(super) use memory::{ALIGN_BYTES, HostMemory};
pub(super) use process_id::process_id;
