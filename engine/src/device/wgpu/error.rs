//! What can go wrong on a wgpu device, with everything a report needs.

use partita_kernels::LaunchError;
use partita_kernels::wgsl::WgslUnsupported;

/// A failure of a wgpu device.
#[derive(Clone, Debug, thiserror::Error)]
pub enum WgpuError {
    /// The build leaves the adapters' code out.
    #[error("this build leaves wgpu out; build Partita with the feature `wgpu`")]
    NotBuilt,
    /// There is no adapter of this number.
    #[error("no wgpu adapter {index}: {found} found (backends searched: {searched})")]
    NoAdapter {
        /// The requested number.
        index: usize,
        /// How many there are.
        found: usize,
        /// Where they were looked for.
        searched: String,
    },
    /// The process was forked from one that used adapters; drivers do not survive that.
    #[error("this process was forked from one that used wgpu; fork first and open devices afterwards")]
    Forked,
    /// The adapter refused to open a device.
    #[error("wgpu adapter {adapter} does not open: {reason}")]
    Open {
        /// The adapter's name.
        adapter: String,
        /// The driver's reason.
        reason: String,
    },
    /// The device has no room.
    #[error("out of memory on {adapter}: {asked_bytes} bytes asked: {reason}")]
    OutOfMemory {
        /// The adapter's name.
        adapter: String,
        /// The requested bytes.
        asked_bytes: u64,
        /// The limit or the driver's reason.
        reason: String,
    },
    /// The device is gone; its memory is lost.
    #[error("device {adapter} is lost: {reason}")]
    Lost {
        /// The adapter's name.
        adapter: String,
        /// The driver's reason.
        reason: String,
    },
    /// wgpu refused a command: a mistake of this engine.
    #[error("wgpu refused a command on {adapter}: {text}")]
    Validation {
        /// The adapter's name.
        adapter: String,
        /// wgpu's text.
        text: String,
    },
    /// The adapter lacks what a kernel needs.
    #[error(transparent)]
    Unsupported(#[from] WgslUnsupported),
    /// A shader did not compile: a mistake of this engine or of the driver.
    #[error("kernel {kernel}, stage {stage}, does not compile: {log}\n{source_text}")]
    Compile {
        /// The kernel's name.
        kernel: String,
        /// Which of its stages.
        stage: &'static str,
        /// What the compiler said.
        log: String,
        /// The WGSL.
        source_text: String,
    },
    /// The launch does not fit the kernel or the memory.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// One point of a parameter spans more memory than a binding can.
    #[error("launch of {kernel}: one point of p{param} spans {bytes} bytes, a binding holds {limit}")]
    TooWide {
        /// The kernel's name.
        kernel: String,
        /// Which parameter.
        param: usize,
        /// What it spans.
        bytes: u64,
        /// What the adapter allows.
        limit: u64,
    },
    /// A transfer outside the buffer.
    #[error("bytes {offset}..{stop} of a buffer of {len} bytes")]
    OutOfRange {
        /// First byte.
        offset: u64,
        /// Byte after the last.
        stop: u64,
        /// Length of the buffer.
        len: u64,
    },
}
