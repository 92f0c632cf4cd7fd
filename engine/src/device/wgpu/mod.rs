//! The wgpu device: Vulkan, Metal and DX12 adapters behind the engine's device verbs.
//!
//! Everything runs in the order of the calls.
//!
//! The treatment of subnormals by an adapter is found by a trial ([`Device::subnormals`](crate::Device)). Not
//! guaranteed: comparisons and rounding functions may get signs of zero, infinities and NaN wrong where the
//! driver does not offer the float controls of Vulkan 1.2; Metal and DX12 offer none. `PARTITA_CHECK=1` finds
//! what differs. docs/wgpu.md has the table.
//!
//! Invariant: `driver/` is the only home of `wgpu::`, `ash::` and `pollster::`. Nothing here knows arrays,
//! parts or pools, and nothing panics: driver failures come back as `WgpuError`.

#[cfg(not(feature = "wgpu"))]
mod absent;
#[cfg(feature = "wgpu")]
mod driver;
mod error;

#[cfg(not(feature = "wgpu"))]
use absent as driver;
pub(super) use driver::{count as adapters, open as open_adapter};
pub use error::Shrink;
