//! The wgpu device: Vulkan, Metal and DX12 adapters behind the engine's device verbs.
//!
//! [`adapters`] lists them, `WgpuDevice::open` opens one. Everything runs in the order of the calls.
//!
//! What is not guaranteed: subnormals may be flushed to zero, and comparisons and rounding functions may get
//! signs of zero, infinities and NaN wrong, where the driver does not offer the float controls of Vulkan 1.2
//! ([`AdapterFacts::float_controls`]); Metal and DX12 offer none. `PARTITA_CHECK=1` finds what differs.
//! docs/wgpu.md has the table.
//!
//! Invariant: `driver/` is the only home of `wgpu::`, `ash::` and `pollster::`. Without the feature `wgpu`,
//! `absent` stands in for it: a device that no value exists of. Nothing here knows arrays, parts or pools,
//! and nothing panics: driver failures come back as [`WgpuError`].

#[cfg(not(feature = "wgpu"))]
mod absent;
#[cfg(feature = "wgpu")]
mod driver;
mod error;
mod facts;

#[cfg(not(feature = "wgpu"))]
pub(crate) use absent::NoWgpu as DispatchRecording;
#[cfg(not(feature = "wgpu"))]
pub use absent::adapters;
#[cfg(not(feature = "wgpu"))]
pub(super) use absent::{
    NoWgpu as StagedDownload, NoWgpu as WgpuBuffer, NoWgpu as WgpuDevice, NoWgpu as WgpuProgram,
};
#[cfg(feature = "wgpu")]
pub(crate) use driver::DispatchRecording;
#[cfg(feature = "wgpu")]
pub use driver::adapters;
#[cfg(feature = "wgpu")]
pub(super) use driver::{StagedDownload, WgpuBuffer, WgpuDevice, WgpuProgram};
pub use error::WgpuError;
pub use facts::{AdapterFacts, AdapterKind, FloatControl, Shrink};
