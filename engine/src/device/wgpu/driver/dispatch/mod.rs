//! From a launch to dispatches, as pure data: windows of memory that fit the adapter's bindings, launch
//! blocks, workgroup counts, and the passes of a reduction. No wgpu, no buffers.

mod planner;
mod spread;
mod windows;

pub(super) use planner::{Bound, Dispatch, Limits, PARTIAL_BYTES, Work, plan};
pub(super) use spread::Spread;
pub(super) use windows::{LENGTH_MULTIPLE, TooWide};
