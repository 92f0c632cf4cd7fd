//! Adapters through the crate `wgpu`. `dispatch` plans a launch as pure data; `queue` encodes the plan into
//! one open command encoder, which is submitted when something must be waited for.
//!
//! Contract of the unsafe blocks in this folder:
//! - Handles of the Vulkan driver that wgpu lends (`as_hal`) are used while wgpu's object lives, and are
//!   neither
//!   kept nor destroyed; memory and buffers made by hand are destroyed once, by wgpu or on failure here.
//! - Shaders run without bounds checks: `Verified::check` proves before every launch that a kernel stays
//!   inside its memory, and the windows of `dispatch` bind all that it touches.
//! - Mapped memory is read and written by the host only under the lock of the device (`device::lock`).

mod adapter;
mod buffer;
mod dispatch;
mod exactness;
mod facts;
mod gpu;
mod interface;
mod launch;
mod program;
#[cfg(not(target_vendor = "apple"))]
mod vulkan;
#[cfg(target_vendor = "apple")]
#[path = "no_vulkan.rs"]
mod vulkan;

pub(in crate::device) use adapter::count;
pub(in crate::device) use interface::open;
