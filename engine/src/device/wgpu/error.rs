//! Errors of wgpu devices, with everything a report needs, and the limits that tests make smaller. No driver
//! is needed here.

use partita_kernels::LaunchError;
use partita_kernels::wgsl::{DriverFaults, WgslUnsupported};

use crate::device::driver::DriverError;

/// A failure of a wgpu device.
#[derive(Clone, Debug, thiserror::Error)]
#[cfg_attr(not(feature = "wgpu"), expect(dead_code))]
pub(in crate::device) enum WgpuError {
    /// The build leaves the adapters' code out.
    #[cfg(not(feature = "wgpu"))]
    #[error("this build leaves wgpu out; build Partita with the feature `wgpu`")]
    NotBuilt,
    /// There is no adapter of this number.
    #[error("no wgpu adapter {index}: {found} found (backends searched: {searched})")]
    NoAdapter { index: usize, found: usize, searched: String },
    /// The process was forked from one that used adapters; drivers do not survive that.
    #[error("this process was forked from one that used wgpu; fork first and open devices afterwards")]
    Forked,
    /// The adapter refused to open a device.
    #[error("wgpu adapter {adapter} does not open: {reason}")]
    Open { adapter: String, reason: String },
    /// The device has no room.
    #[error("out of memory on {adapter}: {asked_bytes} bytes asked: {reason}")]
    OutOfMemory { adapter: String, asked_bytes: u64, reason: String },
    /// The device is gone; its memory is lost.
    #[error("device {adapter} is lost: {reason}")]
    Lost { adapter: String, reason: String },
    /// wgpu refused a command: a mistake of this engine.
    #[error("wgpu refused a command on {adapter}: {text}")]
    Validation { adapter: String, text: String },
    /// The adapter lacks what a kernel needs.
    #[error(transparent)]
    Unsupported(#[from] WgslUnsupported),
    /// A shader did not compile: a mistake of this engine or of the driver.
    #[error("kernel {kernel}, stage {stage}, does not compile: {log}\n{source_text}")]
    Compile { kernel: String, stage: &'static str, log: String, source_text: String },
    /// The launch does not fit the kernel or the memory.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// One point of a parameter spans more memory than a binding can.
    #[error("launch of {kernel}: one point of p{param} spans {bytes} bytes, a binding holds {limit}")]
    TooWide { kernel: String, param: usize, bytes: u64, limit: u64 },
    /// A transfer outside the buffer.
    #[error("bytes {offset}..{stop} of a buffer of {len} bytes")]
    OutOfRange { offset: u64, stop: u64, len: u64 },
}

/// Limits smaller than the adapter's, so that tests reach the code behind them.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Shrink {
    /// Bytes one binding may span.
    pub max_binding_bytes: Option<u64>,
    /// Bytes of one buffer.
    pub max_buffer_bytes: Option<u64>,
    /// Bytes of one copy to or from the device.
    pub transfer_bytes: Option<u64>,
    /// Workgroups per dimension of a dispatch.
    pub max_groups_per_dimension: Option<u32>,
    /// Take nothing for granted about the driver's float arithmetic.
    pub cautious: bool,
    /// Shaders of hardware adapters, whatever the adapter is.
    pub hardware: bool,
    /// Keep its memory out of this process's address space.
    pub hidden: bool,
    /// The faults that kernels have on purpose, as other adapters do.
    pub faults: DriverFaults,
}

impl From<WgpuError> for DriverError {
    fn from(error: WgpuError) -> DriverError {
        DriverError::Failed(error.to_string())
    }
}
