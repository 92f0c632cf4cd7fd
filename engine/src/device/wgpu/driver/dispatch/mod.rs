//! From a launch to dispatches, as pure data: windows of memory that fit the adapter's bindings, launch
//! blocks, workgroup counts, and the passes of a reduction. No wgpu, no buffers.

mod pieces;
mod planner;
mod reductions;

pub(super) use pieces::{Bound, Dispatch, LENGTH_MULTIPLE, Limits, PARTIAL_BYTES, TooWide, Work};
pub(super) use planner::{Spread, plan};
