//! Adapters through the crate `wgpu`. `dispatch` plans a launch as pure data; `queue` encodes the plan into
//! one open command encoder, which is submitted when something must be waited for.
//!
//! Contract of the unsafe blocks in this folder:
//! - Handles of the Vulkan driver that wgpu lends (`as_hal`) are used while wgpu's object lives, and are
//!   neither
//!   kept nor destroyed; memory and buffers made by hand are destroyed once, by wgpu or on failure here.
//! - Shaders run without bounds checks: `Verified::check` proves before every launch that a kernel stays
//!   inside
//!   its memory, and the windows of `dispatch` bind all that it touches.
//! - Mapped memory is read and written by the host only under the lock of the device (`device::lock`).

mod adapter;
mod buffer;
mod dispatch;
mod exactness;
mod floats;
mod gpu;
mod program;
mod queue;
mod spirv;
mod visible;

pub use adapter::adapters;
pub(in crate::device) use buffer::{StagedDownload, WgpuBuffer};
pub(in crate::device) use gpu::WgpuDevice;
pub(in crate::device) use program::WgpuProgram;
pub(crate) use queue::DispatchRecording;
