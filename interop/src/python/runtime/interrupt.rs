//! Ctrl-C during the engine's work: the engine polls, and Python's signal handlers run then, in the main
//! thread only.

use std::cell::Cell;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

thread_local! {
    /// What a handler raised in this thread, until the call that it ended returns.
    static RAISED: Cell<Option<PyErr>> = const { Cell::new(None) };
}

/// Has the engine ask.
pub fn install() {
    // A module that is initialized twice in a process finds the check of the first.
    let _ = partita::interrupt::install(|| {
        Python::attach(|py| match py.check_signals() {
            Ok(()) => false,
            Err(error) => {
                RAISED.set(Some(error));
                true
            }
        })
    });
}

/// The exception of the handler, for work that was interrupted.
pub fn raised(text: String) -> PyErr {
    RAISED.take().unwrap_or_else(|| PyKeyboardInterrupt::new_err(text))
}
