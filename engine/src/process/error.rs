//! The error type of the crate. Every message states the operation, the expected and the given values, and a
//! remedy.

use partita_kernels::{DType, LaunchError, VerifyError};

use crate::config::SettingError;
use crate::index::{ErrorKind, IndexError};

/// The result of every fallible call.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of the engine. Cloneable, because a lazy array that cannot be computed carries it. `{:?}` shows
/// the same text as `{}`, so that `fn main() -> partita::Result<()>` and `unwrap` print it.
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Arguments that do not fit together or lie outside what is allowed.
    #[error("{operation}: expected {expected}, given {given}; {remedy}")]
    Invalid {
        /// The call.
        operation: &'static str,
        /// The requirement.
        expected: String,
        /// The given value.
        given: String,
        /// The remedy.
        remedy: &'static str,
    },
    /// A region, grid or distribution that is not well formed.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// A variable of the environment that is unknown or not understood. The first call that opens devices or
    /// makes a team gives it.
    #[error(transparent)]
    Environment(#[from] SettingError),
    /// Memory was refused, by our own budget or by the driver. Every array is still readable.
    #[error(
        "out of memory on {device}: {asked_bytes} bytes requested, {in_use_bytes} in use, {limit}; \
         free arrays, use fewer or smaller parts, or spread the team over more devices"
    )]
    OutOfMemory {
        /// The device's name.
        device: String,
        /// Bytes of the allocation that failed.
        asked_bytes: u64,
        /// Bytes that arrays and temporaries hold there.
        in_use_bytes: u64,
        /// `budget of N bytes` or what the driver said.
        limit: String,
    },
    /// A requested device does not exist.
    #[error("no {asked} device: {searched}")]
    NoDevice {
        /// The request.
        asked: String,
        /// The searched and found devices, and the remedy.
        searched: String,
    },
    /// The process was forked from the one that opened a device or connected a team, or while another thread
    /// computed.
    #[error(
        "{device}: this process was forked, and {reason}; fork first and open devices and teams afterwards, \
         or start the process anew (Python: multiprocessing's `spawn`)"
    )]
    Forked {
        /// The thing that cannot be used: a device, a team's connections, the memory of the process.
        device: String,
        /// Why not.
        reason: &'static str,
    },
    /// A device cannot run a kernel: a type or operation it lacks.
    #[error(
        "{device} cannot run this: {reason}; cast to a type it has (in Python also \
         partita.set_default_dtype(partita.float32)), or use the host device"
    )]
    Unsupported {
        /// The device's name.
        device: String,
        /// Which kernel, which type or operation.
        reason: String,
    },
    /// The device or its driver failed.
    #[error("{device}: {reason}")]
    Device {
        /// The device's name.
        device: String,
        /// The driver's words.
        reason: String,
    },
    /// The check that [`crate::interrupt::install`] installed said to stop. Every array is still readable.
    #[error("{operation}: interrupted")]
    Interrupted {
        /// The operation under way.
        operation: &'static str,
    },
    /// Among the ranks that run a program together one failed, ended, does something else than the others, or
    /// did not answer in time. Every rank gives this error then; nothing more can be computed together.
    #[error("rank {rank} failed in {operation}, step {step}: {reason}; rank {here} was in {here_in}")]
    Rank {
        /// The rank at fault.
        rank: usize,
        /// The operation of that rank, or of the rank that noticed.
        operation: String,
        /// The number of the collective operation.
        step: u64,
        /// The failure, in words.
        reason: String,
        /// The rank that gives the error.
        here: usize,
        /// Its operation.
        here_in: String,
    },
    /// A file of a saved state. All ranks give this error, and may go on.
    #[error("{operation}: {path}: {reason}; {}", .fault.remedy())]
    File {
        /// The call.
        operation: &'static str,
        /// The file.
        path: String,
        /// The fault of the file.
        fault: FileFault,
        /// In the system's words or ours.
        reason: String,
    },
    /// Under `PARTITA_CHECK`, a device computed something else than the host.
    #[error(
        "{device} computed something else than the interpreter: kernel {kernel}, parameter {param}, element \
         {element}: expected {expected}, given {given}; compute on another device (PARTITA_DEVICE) and \
         report it with what PARTITA_DEBUG=3 prints"
    )]
    Differs {
        /// The device's name.
        device: String,
        /// The kernel's name.
        kernel: String,
        /// Which of its parameters.
        param: usize,
        /// Counted from the beginning of the parameter's memory.
        element: u64,
        /// The interpreter's value.
        expected: String,
        /// The device's value.
        given: String,
    },
    /// A generated kernel broke a rule of the IR: a defect of the engine, not of the program.
    #[error("defect in a generated kernel: {0}; please report it with the program that caused it")]
    Kernel(#[from] VerifyError),
    /// A generated launch did not fit: a defect of the engine, not of the program.
    #[error("defect in a generated launch: {0}; please report it with the program that caused it")]
    Launch(#[from] LaunchError),
}

/// The fault of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileFault {
    /// There is none.
    Missing,
    /// It was cut off or changed.
    Damaged,
    /// The system refuses to read or write it.
    System,
    /// It is another program's, now or altogether.
    Taken,
}

impl FileFault {
    fn remedy(self) -> &'static str {
        match self {
            FileFault::Missing => "name a file or folder that is there",
            FileFault::Damaged => "restore the file, or start from another state",
            FileFault::System => "check the permissions and the space of the folder",
            FileFault::Taken => "name another file or folder",
        }
    }
}

impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

impl Error {
    pub(crate) fn invalid(
        operation: &'static str,
        expected: impl Into<String>,
        given: impl Into<String>,
        remedy: &'static str,
    ) -> Error {
        Error::Invalid { operation, expected: expected.into(), given: given.into(), remedy }
    }

    /// Whether only the rank it happens on knows of it: what follows from a program alone, all ranks find
    /// alike.
    pub(crate) fn is_local(&self) -> bool {
        match self {
            Error::Index(error) => error.kind == ErrorKind::Memory,
            Error::OutOfMemory { .. }
            | Error::Environment(_)
            | Error::NoDevice { .. }
            | Error::Unsupported { .. }
            | Error::Device { .. }
            | Error::Differs { .. }
            | Error::Forked { .. }
            | Error::Interrupted { .. }
            | Error::Kernel(_)
            | Error::Launch(_) => true,
            Error::Invalid { .. } | Error::Rank { .. } | Error::File { .. } => false,
        }
    }

    /// A driver's error under the device's name.
    pub(crate) fn of_driver(device: &str, error: impl std::fmt::Display) -> Error {
        Error::Device { device: device.to_owned(), reason: error.to_string() }
    }

    /// Elements that are to be read or written as another type than they are.
    pub(crate) fn element_type(operation: &'static str, is: DType, asked: DType) -> Error {
        let remedy = "use the array's type, or convert the array with `cast`";
        Error::invalid(operation, format!("elements of the array's type, {is}"), asked.to_string(), remedy)
    }

    /// Two operands whose types differ.
    pub(crate) fn dtypes(operation: &'static str, a: DType, b: DType) -> Error {
        Error::invalid(
            operation,
            "operands of one dtype",
            format!("{a} and {b}"),
            "convert one of them with `cast`",
        )
    }
}
