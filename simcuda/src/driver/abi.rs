//! The numbers of the CUDA driver's binary interface that calls share: result codes with their names, handle
//! types and flags. The values are those of `cuda.h` 12.8.

use std::ffi::{CStr, c_void};

/// `CUdeviceptr`.
pub type DevicePtr = u64;
/// `CUdevice`, the ordinal.
pub type Ordinal = i32;
/// `CUcontext`, `CUstream`, `CUevent` and all other opaque handles: never followed, only looked up.
pub type Opaque = *mut c_void;

/// `CUresult` of a call that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code(pub u32);

/// Whether a call succeeded.
pub type Outcome = Result<(), Code>;

/// Every code has a constant, also those that only a wanted failure returns.
macro_rules! codes {
    ($($name:ident = $value:literal, $text:literal;)*) => {
        impl Code {
            $(
                #[doc = $text]
                #[allow(dead_code)]
                pub const $name: Code = Code($value);
            )*

            /// The name in `cuda.h`, and a sentence; none for a number that is not a result.
            pub fn text(value: u32) -> Option<(&'static CStr, &'static CStr)> {
                const fn c(text: &'static str) -> &'static CStr {
                    match CStr::from_bytes_with_nul(text.as_bytes()) {
                        Ok(text) => text,
                        Err(_) => panic!("a text with a nul inside"),
                    }
                }
                match value {
                    0 => Some((c"CUDA_SUCCESS", c"no error")),
                    $($value => Some((
                        const { c(concat!("CUDA_ERROR_", stringify!($name), "\0")) },
                        const { c(concat!($text, "\0")) },
                    )),)*
                    _ => None,
                }
            }
        }
    };
}

codes! {
    INVALID_VALUE = 1, "invalid argument";
    OUT_OF_MEMORY = 2, "out of memory";
    NOT_INITIALIZED = 3, "initialization error";
    DEINITIALIZED = 4, "driver shutting down";
    DEVICE_UNAVAILABLE = 46, "CUDA-capable device(s) is/are busy or unavailable";
    NO_DEVICE = 100, "no CUDA-capable device is detected";
    INVALID_DEVICE = 101, "invalid device ordinal";
    INVALID_IMAGE = 200, "device kernel image is invalid";
    INVALID_CONTEXT = 201, "invalid device context";
    NO_BINARY_FOR_GPU = 209, "no kernel image is available for execution on the device";
    ECC_UNCORRECTABLE = 214, "uncorrectable ECC error encountered";
    PEER_ACCESS_UNSUPPORTED = 217, "peer access is not supported between these two devices";
    INVALID_PTX = 218, "a PTX JIT compilation failed";
    UNSUPPORTED_PTX_VERSION = 222, "the provided PTX was compiled with an unsupported toolchain.";
    FILE_NOT_FOUND = 301, "file not found";
    OPERATING_SYSTEM = 304, "OS call failed or operation not supported on this OS";
    INVALID_HANDLE = 400, "invalid resource handle";
    ILLEGAL_STATE = 401, "the operation cannot be performed in the present state";
    NOT_FOUND = 500, "named symbol not found";
    NOT_READY = 600, "device not ready";
    ILLEGAL_ADDRESS = 700, "an illegal memory access was encountered";
    LAUNCH_OUT_OF_RESOURCES = 701, "too many resources requested for launch";
    LAUNCH_TIMEOUT = 702, "the launch timed out and was terminated";
    PEER_ACCESS_ALREADY_ENABLED = 704, "peer access is already enabled";
    PEER_ACCESS_NOT_ENABLED = 705, "peer access has not been enabled";
    CONTEXT_IS_DESTROYED = 709, "context is destroyed";
    HOST_MEMORY_ALREADY_REGISTERED = 712, "part or all of the requested memory range is already mapped";
    HOST_MEMORY_NOT_REGISTERED = 713, "pointer does not correspond to a registered memory region";
    ILLEGAL_INSTRUCTION = 715, "an illegal instruction was encountered";
    MISALIGNED_ADDRESS = 716, "misaligned address";
    LAUNCH_FAILED = 719, "unspecified launch failure";
    NOT_PERMITTED = 800, "operation not permitted";
    NOT_SUPPORTED = 801, "operation not supported";
    SYSTEM_NOT_READY = 802, "system not yet initialized";
    STREAM_CAPTURE_UNSUPPORTED = 900, "operation not permitted when stream is capturing";
    STREAM_CAPTURE_INVALIDATED = 901, "operation failed due to a previous error during capture";
    STREAM_CAPTURE_MERGE = 902, "operation would result in a merge of separate capture sequences";
    STREAM_CAPTURE_UNMATCHED = 903, "capture was not ended in the same stream as it began";
    STREAM_CAPTURE_UNJOINED = 904, "capturing stream has unjoined work";
    STREAM_CAPTURE_ISOLATION = 905, "dependency created on uncaptured work in another stream";
    STREAM_CAPTURE_IMPLICIT = 906, "the legacy stream would depend on a capturing stream";
    CAPTURED_EVENT = 907, "operation not permitted on an event last recorded in a capturing stream";
    STREAM_CAPTURE_WRONG_THREAD = 908, "a thread-local capture was ended by another thread";
    GRAPH_EXEC_UPDATE_FAILURE = 910, "the graph update was not performed: the graphs differ too much";
    UNKNOWN = 999, "unknown error";
}

impl Code {
    /// Whether the error stays with the device's state and is what every later call reports.
    pub fn sticky(self) -> bool {
        matches!(
            self,
            Code::ILLEGAL_ADDRESS
                | Code::LAUNCH_TIMEOUT
                | Code::ILLEGAL_INSTRUCTION
                | Code::MISALIGNED_ADDRESS
                | Code::LAUNCH_FAILED
                | Code::ECC_UNCORRECTABLE
        )
    }
}

/// The kinds of opaque handles; the number is part of the handle, so that one kind is never taken for
/// another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandleKind {
    /// `CUcontext`.
    Primary = 1,
    /// `CUstream`.
    Stream = 2,
    /// `CUevent`.
    Event = 3,
    /// `CUmodule`.
    Module = 4,
    /// `CUfunction`.
    Function = 5,
    /// `CUgraph`.
    Graph = 6,
    /// `CUgraphExec`.
    Exec = 7,
}

/// Handles lie where no program has memory, so that following one crashes at once.
const HANDLES: usize = 0x00d0_0000_0000_0000;

/// The handle of the `index`-th object of a kind.
pub fn handle(kind: HandleKind, index: usize) -> Opaque {
    (HANDLES | (kind as usize) << 40 | index << 4) as Opaque
}

/// The object a handle stands for.
pub fn index(kind: HandleKind, handle: Opaque) -> Option<usize> {
    let rest = (handle as usize).checked_sub(HANDLES | (kind as usize) << 40)?;
    (rest < 1 << 40 && rest % 16 == 0).then_some(rest >> 4)
}

/// `CU_STREAM_LEGACY`; the null handle means the same.
pub const STREAM_LEGACY: usize = 1;
/// `CU_STREAM_PER_THREAD`.
pub const STREAM_PER_THREAD: usize = 2;
/// `CU_STREAM_NON_BLOCKING`.
pub const STREAM_NON_BLOCKING: u32 = 1;
/// `CU_EVENT_DISABLE_TIMING`.
pub const EVENT_DISABLE_TIMING: u32 = 2;
/// `CU_EVENT_INTERPROCESS`.
pub const EVENT_INTERPROCESS: u32 = 4;
/// Every flag an event can have.
pub const EVENT_FLAGS: u32 = 7;
