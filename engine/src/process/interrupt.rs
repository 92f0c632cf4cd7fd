//! Interruption of long work from outside, such as Ctrl-C in Python. A program that embeds the engine
//! installs a check, which is called between the steps of a [`crate::Loop`], between the launches of an
//! evaluation, and while one rank waits for another. If the check returns true, the work ends with
//! [`Error::Interrupted`].
//!
//! A step of a `Loop` is never interrupted, so the state of a `Loop` is that after a whole step. Of launches,
//! reductions on the host end within: they may be of more cells than any memory holds. Waits for a device are
//! not interrupted; a `Loop` queues at most about 50 ms of work. Over several ranks, the interruption of one
//! rank ends the work of all.

use std::cell::Cell;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};

/// The time between two calls of the check by one thread, at least.
const BETWEEN: Duration = Duration::from_millis(20);

static CHECK: OnceLock<fn() -> bool> = OnceLock::new();

thread_local! {
    static LAST: Cell<Option<Instant>> = const { Cell::new(None) };
    /// The number of pieces of work under way that are not to be interrupted, one inside the other.
    static UNINTERRUPTED: Cell<usize> = const { Cell::new(0) };
    /// A reduction of this thread gave up.
    static GAVE_UP: Cell<bool> = const { Cell::new(false) };
}

/// Installs the check of this process. Every thread that computes calls it, at most once in 20 ms, and
/// gives up its work with [`Error::Interrupted`] when it says true. False if there is a check already.
///
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering};
/// static STOP: AtomicBool = AtomicBool::new(false);
/// assert!(partita::interrupt::install(|| STOP.swap(false, Ordering::Relaxed)));
/// ```
pub fn install(check: fn() -> bool) -> bool {
    partita_kernels::cpu::interrupt_by(|| {
        let gives_up = self::check("a reduction").is_err();
        GAVE_UP.set(GAVE_UP.get() || gives_up);
        gives_up
    });
    CHECK.set(check).is_ok()
}

/// Whether a reduction that this thread launched gave up, since the last call.
pub(crate) fn gave_up() -> bool {
    GAVE_UP.take()
}

/// Whether there is a check.
pub(crate) fn is_installed() -> bool {
    CHECK.get().is_some()
}

/// Asks whether to go on, unless a piece of work is under way that must not be interrupted.
pub(crate) fn check(operation: &'static str) -> Result<()> {
    if UNINTERRUPTED.get() > 0 { Ok(()) } else { check_waiting(operation) }
}

/// The same for a wait, which every piece of work may need.
pub(crate) fn check_waiting(operation: &'static str) -> Result<()> {
    let Some(check) = CHECK.get() else { return Ok(()) };
    let now = Instant::now();
    if LAST.get().is_some_and(|last| now - last < BETWEEN) {
        return Ok(());
    }
    LAST.set(Some(now));
    if check() { Err(Error::Interrupted { operation }) } else { Ok(()) }
}

/// Does a piece of work that is to be interrupted in waits for other ranks alone.
pub(crate) fn uninterrupted<T>(work: impl FnOnce() -> T) -> T {
    struct End;
    impl Drop for End {
        fn drop(&mut self) {
            UNINTERRUPTED.set(UNINTERRUPTED.get() - 1);
        }
    }
    UNINTERRUPTED.set(UNINTERRUPTED.get() + 1);
    let _end = End;
    work()
}
