//! Calls that release the interpreter's lock, and their end when the process ends. Drivers are unloaded at
//! exit, and a daemon thread that uses one would fault.

use std::cell::Cell;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use pyo3::prelude::*;

/// Threads with a call under way.
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);
/// The thread that ends the process, from the moment it does. It alone may still begin calls.
static ENDING: OnceLock<ThreadId> = OnceLock::new();
/// How long the end waits for calls of other threads; an endless one is not to hold up the process.
const END_DEADLINE: Duration = Duration::from_secs(5);

thread_local! {
    /// Calls under way in this thread, one inside the other: a call may run Python code that calls.
    static DEPTH: Cell<usize> = const { Cell::new(0) };
}

/// Runs what may compute or wait, without the interpreter's lock.
pub fn detached<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> T {
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
    if ENDING.set(thread::current().id()).is_err() {
        return;
    }
    py.detach(|| {
        let begun = Instant::now();
        while UNDER_WAY.load(Ordering::SeqCst) > DEPTH.get().min(1) && begun.elapsed() < END_DEADLINE {
            thread::sleep(Duration::from_millis(1));
        }
    });
}
