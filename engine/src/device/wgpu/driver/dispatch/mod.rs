//! From a launch to dispatches, as pure data: windows of memory that fit the adapter's bindings, launch
//! blocks, workgroup counts, and the passes of a reduction. No wgpu, no buffers.

mod passes;
mod planner;
mod reductions;
mod spread;
mod windows;

pub(super) use passes::{Bound, Dispatch, Limits, PARTIAL_BYTES, Work};
pub(super) use planner::plan;
pub(super) use spread::Spread;
pub(super) use windows::{LENGTH_MULTIPLE, TooWide};
