//! The border between Python's interpreter and the engine: calls that release the interpreter's lock, their
//! end when the process ends, interrupts, and the engine's errors as Python exceptions.
//!
//! Drivers are unloaded at exit, and a daemon thread that uses one would fault. The classes of exceptions are
//! Python's own or those of `partita.errors`; their texts have Python's names.

use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use partita::Error;
use partita::error::FileFault;
use partita::index::{ErrorKind, IndexError};
use pyo3::exceptions::{
    PyFileNotFoundError, PyIndexError, PyKeyboardInterrupt, PyNotImplementedError, PyOSError, PyValueError,
};
use pyo3::prelude::*;
use pyo3::types::PyType;

/// Threads with a call under way.
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);
/// The thread that ends the process, from the moment it does. It alone may still begin calls.
static ENDING: OnceLock<ThreadId> = OnceLock::new();
/// The time that the end waits for calls of other threads; an endless one is not to hold up the process.
const END_DEADLINE: Duration = Duration::from_secs(5);

thread_local! {
    /// The error that a handler of Ctrl-C raised in this thread, until the call that it ended returns.
    static RAISED: Cell<Option<PyErr>> = const { Cell::new(None) };
    /// Calls under way in this thread, one inside the other: a call may run Python code that calls.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Runs what may compute or wait, without the interpreter's lock.
pub fn released<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
    py.detach(|| {
        let _call = Underway::begin();
        work()
    })
}

struct Underway;

impl Underway {
    fn begin() -> Underway {
        if DEPTH.get() == 0 {
            UNDER_WAY.fetch_add(1, Ordering::SeqCst);
            if ENDING.get().is_some_and(|ending| *ending != thread::current().id()) {
                UNDER_WAY.fetch_sub(1, Ordering::SeqCst);
                loop {
                    thread::park();
                }
            }
        }
        DEPTH.set(DEPTH.get() + 1);
        Underway
    }
}

impl Drop for Underway {
    fn drop(&mut self) {
        DEPTH.set(DEPTH.get() - 1);
        if DEPTH.get() == 0 {
            UNDER_WAY.fetch_sub(1, Ordering::SeqCst);
        }
    }
}

/// For `atexit`: lets no other thread begin a call from now on, and waits for those that are under way.
#[pyfunction]
pub fn end(py: Python<'_>) {
    // Calls of other threads do not end in a process that was forked during them.
    if ENDING.set(thread::current().id()).is_err() || partita::device::check_fork().is_err() {
        return;
    }
    py.detach(|| {
        let begun = Instant::now();
        while UNDER_WAY.load(Ordering::SeqCst) > DEPTH.get().min(1) && begun.elapsed() < END_DEADLINE {
            thread::sleep(Duration::from_millis(1));
        }
    });
}

/// Has the engine poll for Ctrl-C; Python's signal handlers run then, in the main thread only.
pub fn install_interrupts() {
    // A module that is initialized twice in a process finds the check of the first.
    let _ = partita::interrupt::install(|| {
        let check = |py: Python| match py.check_signals() {
            Ok(()) => false,
            Err(error) => {
                RAISED.set(Some(error));
                true
            }
        };
        // At the end of the interpreter, where destructors may still compute, there are no signals.
        Python::try_attach(check).unwrap_or(false)
    });
}

/// Names of the engine, and the names here. Of what is not listed, only the separator of
/// names is another. What was given is the user's own text, and stays as it is.
const NAMES: &[(&str, &str)] = &[
    (
        "pass numbers that change by Loop::with_numbers and Loop::run_with",
        "pass numbers that change by Loop.run(..., numbers=f)",
    ),
    ("Array::from_slice", "asarray"),
    ("Array::from_pieces", "from_parts"),
    ("Array::from_buffers", "from_parts"),
    ("Array::coordinate", "arange"),
    ("Array::full", "full"),
    ("Region::from_shape", "shape"),
    ("Region::volume", "shape"),
    ("Team::of_members", "Partition"),
    ("Team::world", "Team"),
    ("Team::over", "Team"),
    ("Team::on", "Team"),
    ("Members::", "Partition."),
    ("ProcessGrid::balanced", "Distribution: grid"),
    ("Plan::redistribute", "redistribute"),
    ("Plan::halo", "halo exchange"),
    ("Device::all()", "partita.devices()"),
    ("`cast`", "astype"),
    ("to_vec", "numpy()"),
    ("Collective::padded", "Distribution.padded"),
    ("Collective::forward", "applying a Collective"),
    ("::", "."),
];

/// The engine's words about a call of the user's, with the names that the user knows.
fn in_python(text: &str) -> String {
    NAMES.iter().fold(text.to_owned(), |text, (engine, here)| text.replace(engine, here))
}

/// The system's number in the words of its error.
fn number_of(reason: &str) -> Option<i32> {
    reason.rsplit_once("(os error ")?.1.strip_suffix(')')?.parse().ok()
}

/// The exception that says the same.
pub fn raised(error: impl Into<Error>) -> PyErr {
    let error = error.into();
    let text = match &error {
        Error::Invalid { operation, expected, given, remedy }
        | Error::Index(IndexError { operation, expected, given, remedy, .. }) => {
            let [operation, expected, remedy] = [operation, expected.as_str(), remedy].map(in_python);
            format!("{operation}: expected {expected}, given {given}; {remedy}")
        }
        _ => error.to_string(),
    };
    let ours = |class: &str| Python::attach(|py| own(py, class, &text)).unwrap_or_else(|error| error);
    match &error {
        Error::Invalid { .. } | Error::Environment(_) => PyValueError::new_err(text),
        Error::Index(error) => match error.kind {
            ErrorKind::Range => PyIndexError::new_err(text),
            ErrorKind::Unsupported | ErrorKind::Missing => PyNotImplementedError::new_err(text),
            ErrorKind::Memory => ours("OutOfMemoryError"),
            _ => PyValueError::new_err(text),
        },
        Error::File { fault: FileFault::Missing, .. } => PyFileNotFoundError::new_err(text),
        Error::File { fault: FileFault::Damaged, .. } => PyValueError::new_err(text),
        Error::File { reason, .. } => match number_of(reason) {
            // Python chooses the class by the number.
            Some(number) => PyOSError::new_err((number, text)),
            None => PyOSError::new_err(text),
        },
        Error::OutOfMemory { .. } => ours("OutOfMemoryError"),
        Error::NoDevice { .. } => ours("NoDeviceError"),
        Error::Unsupported { .. } => ours("UnsupportedError"),
        Error::Device { .. } | Error::Forked { .. } | Error::Differs { .. } => ours("DeviceError"),
        Error::Interrupted { .. } => RAISED.take().unwrap_or_else(|| PyKeyboardInterrupt::new_err(text)),
        Error::Rank { .. } => ours("RankError"),
        _ => ours("DefectError"),
    }
}

fn own(py: Python<'_>, class: &str, text: &str) -> PyResult<PyErr> {
    let class = py.import("partita.errors")?.getattr(class)?.cast_into::<PyType>()?;
    Ok(PyErr::from_type(class, text.to_owned()))
}

/// As [`released`], for what may fail.
pub fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> partita::Result<T> + Send) -> PyResult<T> {
    released(py, work).map_err(raised)
}
