//! Errors of CUDA devices, with everything a report needs.

use partita_kernels::LaunchError;
use partita_kernels::ptx::PtxUnsupported;

use crate::device::driver::DriverError;

/// A failure of a CUDA device or of its driver.
#[derive(Clone, Debug, thiserror::Error)]
#[cfg_attr(not(feature = "cuda"), expect(dead_code))]
pub(in crate::device) enum CudaError {
    /// The build leaves the driver's code out.
    #[cfg(not(feature = "cuda"))]
    #[error("this build leaves CUDA out; build Partita with the feature `cuda`")]
    NotBuilt,
    /// The driver's library is not there.
    #[error(
        "the CUDA driver (libcuda.so.1, nvcuda.dll) is not on the library path; install NVIDIA's driver, or \
         put it on LD_LIBRARY_PATH"
    )]
    NoDriver,
    /// The driver has no such device.
    #[error("no CUDA device {index}: the driver shows {found}; CUDA_VISIBLE_DEVICES may hide some")]
    NoDevice { index: usize, found: usize },
    /// The driver cannot read the PTX this GPU needs.
    #[error("the CUDA driver supports CUDA {has}, {gpu} needs {needs} or newer; update the driver")]
    OldDriver { gpu: String, has: String, needs: String },
    /// The GPU is older than any target of the PTX writer.
    #[error("{gpu} has compute capability {major}.{minor}; 7.5 or newer is needed")]
    OldGpu { gpu: String, major: i32, minor: i32 },
    /// The driver has no such memory left.
    #[error("CUDA_ERROR_OUT_OF_MEMORY for {bytes} bytes")]
    OutOfMemory { bytes: u64 },
    /// A driver call failed. What ran on the device before may have caused it.
    #[error("{operation} failed: {code} ({text}); {}", remedy(.operation, .code))]
    Driver { operation: &'static str, code: String, text: String },
    /// A library beside the driver refuses, in its words.
    #[error("{0}")]
    Library(String),
    /// The process was forked after the device had been opened; CUDA does not survive that.
    #[error(
        "this process was forked from one that used the CUDA driver; fork first and open devices afterwards"
    )]
    Forked,
    /// The kernel cannot be launched on any GPU.
    #[error(transparent)]
    Unsupported(#[from] PtxUnsupported),
    #[error("a launch has no room for the address of the word that guards it")]
    NoRoomForGuard,
    /// The driver's compiler refused the PTX: a defect of the writer or of the driver.
    #[error(
        "the driver refused the PTX of kernel {kernel}: {log}; update the driver if it is older than \
         the GPU, otherwise report this with the text:\n{source_text}"
    )]
    Compile { kernel: String, log: String, source_text: String },
    /// The launch does not fit the kernel or the memory.
    #[error(transparent)]
    Launch(#[from] LaunchError),
}

/// The operation of the driver that opens a device.
pub(super) const RETAINING: &str = "retaining the primary context";

/// The remedy for a driver's error, by the operation and the error's name.
fn remedy(operation: &str, code: &str) -> &'static str {
    match code.strip_prefix("CUDA_ERROR_").unwrap_or(code) {
        // Nothing lies on a device that is not open yet.
        "DEVICE_UNAVAILABLE" if operation == RETAINING => {
            "another process may have it for itself: its compute mode is EXCLUSIVE_PROCESS or PROHIBITED if \
             `nvidia-smi -q -d COMPUTE` says so. Give each process a GPU of its own (CUDA_VISIBLE_DEVICES), \
             start MPS (`nvidia-cuda-mps-control -d`), or allow sharing (`nvidia-smi -c DEFAULT`)"
        }
        // Of the driver's own: what a kernel or a module needs beside arrays.
        "OUT_OF_MEMORY" => "free arrays, or end other programs on this GPU",
        "NO_DEVICE"
        | "STUB_LIBRARY"
        | "SYSTEM_NOT_READY"
        | "SYSTEM_DRIVER_MISMATCH"
        | "NOT_INITIALIZED"
        | "COMPAT_NOT_SUPPORTED_ON_DEVICE" => "see what nvidia-smi says, and CUDA_VISIBLE_DEVICES",
        // Errors that stay: whatever this process asks of the device from now on fails.
        "DEVICE_UNAVAILABLE"
        | "ILLEGAL_ADDRESS"
        | "LAUNCH_FAILED"
        | "LAUNCH_TIMEOUT"
        | "MISALIGNED_ADDRESS"
        | "ILLEGAL_INSTRUCTION"
        | "INVALID_ADDRESS_SPACE"
        | "INVALID_PC"
        | "HARDWARE_STACK_ERROR"
        | "ECC_UNCORRECTABLE"
        | "CONTEXT_IS_DESTROYED"
        | "ASSERT"
        | "CONTAINED"
        | "EXTERNAL_DEVICE" => {
            "what lies on this device is lost, other devices go on; start the process anew to use it again"
        }
        _ => "other devices go on",
    }
}

impl From<CudaError> for DriverError {
    fn from(error: CudaError) -> DriverError {
        match error {
            CudaError::OutOfMemory { bytes } => {
                DriverError::OutOfMemory { bytes, limit: format!("driver: {error}") }
            }
            failure => DriverError::Failed(failure.to_string()),
        }
    }
}
